"""The binormal model: fits against fractions, and areas against brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.special import ndtr, ndtri

from polars_prcurve import metrics, prc
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS
from tests.support import oracle
from tests.support.comparing import assert_same
from tests.support.profiles import examples
from tests.support.strategies import MODERATE, Table, etas, tables

FIT = ["mu_pos", "sigma_pos", "mu_neg", "sigma_neg"]
AREAS = ["average_precision", "pr_auc", *(metrics.pr_auc_trapezoid(a) for a in ("first", "one", "none"))]
TRANSFORMS = ["marginal_average_precision", "normalized_average_precision", "min_max_average_precision"]

Model = tuple[float, float, float, float]


# Fits -----------------------------------------------------------------------------------------


def moments(rows: list[tuple[Any, Fraction]], ddof: int) -> tuple[Fraction, float] | None:
    """Mean and standard deviation of scores that have weights; NaN if hardly more than ddof do."""
    rows = [(score, weight) for score, weight in rows if weight > 0]
    halves = [float(score) * 0.5 for score, _ in rows]
    if not rows or min(halves) == max(halves) or not all(map(math.isfinite, halves)):
        return None
    scores = [Fraction(float(score)) for score, _ in rows]
    weights = [weight for _, weight in rows]
    total = sum(weights)
    mean = sum(map(Fraction.__mul__, weights, scores)) / total
    variance = sum(w * (s - mean) ** 2 for w, s in zip(weights, scores, strict=True)) / total
    n = total**2 / sum(w * w for w in weights)
    if n == ddof or n <= ddof - 1e-9:
        return None
    if n < ddof + 1e-3:
        return mean, math.nan
    variance *= n / (n - ddof)
    digits = 10**400  # of a root that no float can overflow
    return mean, float(Fraction(math.isqrt(int(variance * digits**2)), digits))


def assert_fits(found: dict[str, Any], group: oracle.Group, ddof: int) -> None:
    for kind, place in (("pos", 1), ("neg", 2)):
        expected = moments([(row[0], row[place]) for row in group.rows], ddof)
        mu, sigma = found[f"mu_{kind}"], found[f"sigma_{kind}"]
        if expected is not None and math.isnan(expected[1]):
            continue
        if expected is None:
            assert mu is None
            assert sigma is None
            continue
        largest = max(abs(float(row[0])) for row in group.rows if row[place] > 0)
        assert abs(Fraction(mu) - expected[0]) <= Fraction(largest) / 2**50 + Fraction(1e-322)
        assert math.isclose(sigma, expected[1], rel_tol=1e-13, abs_tol=1e-322)


@examples(150)
@given(tables(weights=MODERATE), st.sampled_from([0, 0, 1, 2]))
def test_fit(table: Table, ddof: int) -> None:
    found = prc(table.frame).binormal(ddof, **table.package)
    groups = oracle.groups(table.rows, **table.oracle)
    columns = [*FIT, "alpha", "n_pos", "n_neg", "roc_auc", "p_value_pos", "p_value_neg"]
    assert found.columns == [*table.by, *columns]
    assert found.height == len(groups)
    count = pl.Int64 if table.weight is None else pl.Float64
    assert found.schema["n_pos"] == found.schema["n_neg"] == count
    for row, group in zip(found.iter_rows(named=True), groups, strict=True):
        assert_fits(row, group, ddof)
        total = group.n_pos + group.n_neg
        assert math.isclose(row["n_pos"], group.n_pos, rel_tol=1e-14)
        if total == 0:
            assert row["alpha"] is None
        else:
            assert math.isclose(row["alpha"], group.prevalence, rel_tol=1e-14)
        if row["mu_pos"] is None or row["mu_neg"] is None:
            assert row["roc_auc"] is None
        else:
            apart = Fraction(row["mu_pos"]) - Fraction(row["mu_neg"])
            spread = math.hypot(row["sigma_pos"], row["sigma_neg"])
            assert math.isclose(row["roc_auc"], ndtr(float(apart / Fraction(spread))), rel_tol=1e-13)


def test_counts_and_repeated_rows_fit_alike() -> None:
    rng = np.random.default_rng(0)
    score = rng.integers(0, 40, 250_000)
    df = pl.DataFrame({"score": score / 7, "label": rng.random(250_000) < score / 80})
    of_counts = df.prc.counts().prc.binormal(1, counts=("n_pos", "n_neg"))
    assert_same(df.prc.binormal(1), of_counts)
    assert_same(df.lazy().prc.binormal(1).collect(), of_counts)


@pytest.mark.parametrize(("place", "scale"), [(1e9, 1.0), (0.0, 1e-200), (0.0, 1e200), (0.0, 1e-300)])
def test_scores_far_from_0_or_from_1_fit(place: float, scale: float) -> None:
    rng = np.random.default_rng(0)
    score = place + scale * (rng.normal(size=200) + np.arange(200) % 2)
    rows = [(s, Fraction(1)) for s in score[1::2]]
    found = pl.DataFrame({"score": score, "label": np.arange(200) % 2}).prc.binormal()
    mean, deviation = moments(rows, 0)  # type: ignore[misc]
    assert math.isclose(found["mu_pos"].item(), mean, rel_tol=1e-14)
    assert math.isclose(found["sigma_pos"].item(), deviation, rel_tol=1e-14)


@pytest.mark.parametrize(
    "score", [[math.inf, 0.0, 1.0], [-math.inf, 0.0, 1.0], [1.5e308, -1.5e308, 1.4e308]]
)
def test_what_is_not_finite_is_null(score: list[float]) -> None:
    df = pl.DataFrame({"score": [*score, 1.0, 2.0], "label": [1, 1, 1, 0, 0]})
    [row] = df.prc.binormal(2).rows(named=True)
    assert row["mu_pos"] is row["sigma_pos"] is row["roc_auc"] is None
    [row] = df.prc.binormal().rows(named=True)
    assert (row["mu_neg"], row["sigma_neg"], row["alpha"]) == (1.5, 0.5, 0.6)


def test_weights_may_be_of_any_unit() -> None:
    rng = np.random.default_rng(1)
    df = pl.DataFrame({"score": rng.normal(size=50), "label": [0, 1] * 25, "w": rng.random(50)})
    scaled = df.with_columns(pl.col("w") * 2.0**40)
    of_both = [frame.prc.binormal(1, weight="w").drop("n_pos", "n_neg") for frame in (df, scaled)]
    assert_same(*of_both)


# The test of normality ------------------------------------------------------------------------


def measure_distance(sample: np.ndarray) -> float:
    """The statistic of Anderson and Darling by its sum over ranks, corrected for n."""
    y, n = np.sort(sample), len(sample)
    z = ndtr((y - y.mean()) / y.std(ddof=1))
    odd = 2 * np.arange(1, n + 1) - 1
    statistic = -n - np.mean(odd * (np.log(z) + np.log1p(-z[::-1])))
    return float(statistic * (1 + 0.75 / n + 2.25 / n**2))


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("n", [8, 40, 700])
def test_p_values_are_those_of_anderson_and_darling(n: int, ddof: int) -> None:
    random = np.random.default_rng(4)
    samples = [random.normal(size=n), random.exponential(size=n), random.normal(size=n).round(1)]
    samples += [ndtri((np.arange(n) + 0.5) / n), random.uniform(size=n)]
    frames = [
        pl.DataFrame({"score": np.r_[y, -y], "label": np.arange(2 * n) < n, "g": [number] * 2 * n})
        for number, y in enumerate(samples)
    ]
    df = pl.concat(frames)
    found = df.prc.binormal(ddof, by="g")
    for y, of_class in zip(samples, found["p_value_pos"], strict=True):
        a = min(measure_distance(y), 10)
        if a >= 0.6:
            expected = math.exp(1.2937 - 5.709 * a + 0.0186 * a**2)
        elif a >= 0.34:
            expected = math.exp(0.9177 - 4.279 * a - 1.38 * a**2)
        elif a >= 0.2:
            expected = 1 - math.exp(-8.318 + 42.796 * a - 59.938 * a**2)
        else:
            expected = 1 - math.exp(-13.436 + 101.14 * a - 223.73 * a**2)
        assert of_class == pytest.approx(expected, rel=1e-9)
    assert found["p_value_neg"].to_list() == pytest.approx(found["p_value_pos"].to_list(), rel=1e-9)


def test_p_values_reject_as_often_as_they_say() -> None:
    random = np.random.default_rng(4)
    score, group = random.normal(size=60_000), np.arange(60_000) // 60
    df = pl.DataFrame({"score": score, "label": True, "g": group})
    rejected = (df.prc.binormal(by="g")["p_value_pos"] < 0.05).sum()
    assert 25 <= rejected <= 80, "of 1,000 normal samples"
    ties = pl.DataFrame({"score": [1, 2, 3], "n_pos": [100, 200, 100], "n_neg": [0, 0, 0]})
    p_values = ties.prc.binormal(counts=("n_pos", "n_neg"))["p_value_pos"]
    assert p_values.item() < 1e-20, "three values are no normal distribution"


def test_p_values_are_null_where_the_test_is_none() -> None:
    df = pl.DataFrame({"score": [*range(8), *range(7)], "label": [1] * 8 + [0] * 7})
    [row] = df.prc.binormal().rows(named=True)
    assert row["p_value_pos"] > 0.5
    assert row["p_value_neg"] is None, "seven scores"
    for other in (
        df.prc.binormal(weight=pl.lit(2.0)),
        df.with_columns(score=pl.lit(0.5)).prc.binormal(),
        df.with_columns(score=pl.lit(math.inf)).prc.binormal(),
    ):
        assert other["p_value_pos"].dtype == pl.Float64
        assert other["p_value_pos"].item() is None


# Areas ----------------------------------------------------------------------------------------


def model_table(models: list[Model], n_pos: int = 1, n_neg: int = 1) -> pl.DataFrame:
    """A table of counts, a group for each model, whose fit it is: two scores for each class."""
    rows = [
        (number, mu + side * sigma, pos, neg)
        for number, (mu_pos, sigma_pos, mu_neg, sigma_neg) in enumerate(models)
        for mu, sigma, pos, neg in ((mu_pos, sigma_pos, n_pos, 0), (mu_neg, sigma_neg, 0, n_neg))
        for side in (-1, 1)
    ]
    return pl.DataFrame(rows, schema=["g", "score", "pos", "neg"], orient="row")


COUNTS: dict[str, Any] = {"by": "g", "counts": ("pos", "neg")}


def brute_area(model: Model, eta: float) -> float:
    """The trapezoidal rule in z, with as many nodes as it takes."""
    mu_pos, sigma_pos, mu_neg, sigma_neg = model
    steps = 8192 * 2 ** max(0, math.ceil(math.log2(sigma_pos / (8 * sigma_neg))))
    z = np.linspace(-9, 11, steps + 1)
    recall, fpr = ndtr(-z), ndtr((mu_neg - mu_pos - sigma_pos * z) / sigma_neg)
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return float(np.sum(density * eta * recall / (eta * recall + (1 - eta) * fpr)) * 20 / steps)


@pytest.mark.slow
def test_areas_are_those_of_brute_force() -> None:
    models = [
        (apart * max(1.0, ratio if wide else 1.0), ratio, 0.0, 1.0)
        for ratio in (0.02, 0.3, 1.0, 1.3, 2.0, 8.0, 100.0, 1000.0)
        for apart in (-6.0, -1.0, 0.0, 0.5, 3.0, 12.0)
        for wide in (False, True)
    ]
    grid = [1e-6, 1e-3, 0.1, 0.5, 0.999]
    found = model_table(models).prc.summary(
        grid, metrics=AREAS, smooth="binormal", columns="all", **COUNTS
    )
    fits = model_table(models).prc.binormal(**COUNTS).select(FIT).rows()
    for (number, eta), rows in found.group_by("g", "eta"):
        expected = brute_area(fits[number], eta)
        assert rows["value"].n_unique() == 1
        assert math.isclose(rows["value"][0], expected, rel_tol=2e-14), (fits[number], eta)


@pytest.mark.parametrize(
    ("model", "eta", "expected"),
    [
        ((0.0, 1e6, 0.0, 1.0), 1e-6, 0.4999984284720524),
        ((3e6, 1e6, 0.0, 1.0), 0.01, 0.9986635820162157),
        ((-4e6, 1e6, 0.0, 1.0), 1e-6, 3.217036807396894e-05),
        ((-4e6, 1e6, 0.0, 1.0), 0.999, 0.9931165103511483),
        ((8e3, 1e4, 0.0, 1.0), 1e-6, 0.788006052300814),
        ((-1.0, 0.02, 0.0, 1.0), 1e-6, 5.92411387102328e-07),
        ((-20.0, 5.0, 0.0, 1.0), 0.01, 0.005016860046713546),
    ],
)
def test_areas_of_very_unequal_spreads(model: Model, eta: float, expected: float) -> None:
    """Of quadrature with 30 digits."""
    found = model_table([model]).prc.summary(
        eta, metrics="average_precision", smooth="binormal", columns="all", **COUNTS
    )
    assert math.isclose(found["value"].item(), expected, rel_tol=1e-14)


@examples()
@given(tables(weights=MODERATE, scores=[pl.Float64(), pl.Int8(), pl.Boolean()]), etas)
def test_summary(table: Table, eta: list[float | None]) -> None:
    asked = [*AREAS, *TRANSFORMS, "roc_auc", metrics.precision_at_recall(0.3)]
    found = prc(table.frame).summary(
        eta, metrics=asked, smooth="binormal", columns="all", **table.package
    )
    plain = prc(table.frame).summary(eta, metrics=asked, columns="all", **table.package)
    assert_same(found.drop("value"), plain.drop("value"))
    assert found["value"].is_nan().sum() == 0
    fits = prc(table.frame).binormal(**table.package)
    fits = fits.with_columns(group=pl.int_range(pl.len()))
    width = len(asked) * len(eta)
    for number, fit in enumerate(fits.iter_rows(named=True)):
        block = found[number * width : (number + 1) * width]
        for start in range(0, width, len(asked)):
            check_block(block[start : start + len(asked)], fit)
    assert found.height == width * fits.height


def check_block(block: pl.DataFrame, fit: dict[str, Any]) -> None:
    """All metrics of one group at one prevalence."""
    area, *others = block["value"].to_list()
    eta = block["eta"][0]
    if fit["roc_auc"] is None:
        assert block["value"].null_count() == block.height
        return
    assert others[:4] == [area] * 4
    marginal, normalized, min_max, roc_auc, precision = others[4:]
    assert roc_auc == fit["roc_auc"]
    assert 0 <= area <= 1
    assert math.isclose(marginal, area - eta, abs_tol=1e-15)
    if 0 < eta < 1:
        assert math.isclose(normalized, area / eta, rel_tol=1e-14)
        assert math.isclose(min_max, (area - eta) / (1 - eta), abs_tol=1e-13 / (1 - eta))
    threshold = fit["mu_pos"] - fit["sigma_pos"] * ndtri(0.3)
    with np.errstate(over="ignore"):
        fpr = ndtr((np.float64(fit["mu_neg"]) - threshold) / fit["sigma_neg"])
    expected = eta * 0.3 / (eta * 0.3 + (1 - eta) * fpr) if eta > 0 or fpr > 0 else None
    moderate = abs(threshold) < 1e6 * fit["sigma_neg"]
    if expected is None:
        assert precision is None
    elif moderate:
        assert math.isclose(precision, expected, rel_tol=1e-7, abs_tol=1e-12)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("prior", ["uniform", "log", "logit"])
def test_means_over_prevalence_agree(prior: Any) -> None:
    models = [(2.0, 1.0, 0.0, 1.0), (0.5, 3.0, 0.0, 1.0), (9.0, 0.3, 0.0, 1.0), (100.0, 90.0, 0.0, 1.0)]
    asked = [
        metrics.integrated_average_precision(0.001, 0.5, prior),
        metrics.integrated("average_precision", 0.001, 0.5, prior),
        metrics.integrated("pr_auc", 0.001, 0.5, prior),
    ]
    found = model_table(models).prc.summary(metrics=asked, smooth="binormal", columns="all", **COUNTS)
    for _, rows in found.group_by("g"):
        assert rows["value"].max() == pytest.approx(rows["value"].min(), abs=1e-12)
    if prior == "uniform":
        mean = np.mean(
            [brute_area(models[0], eta) for eta in 0.001 + 0.499 * (np.arange(400) + 0.5) / 400]
        )
        assert found["value"][0] == pytest.approx(mean, abs=1e-5)


def test_at_prevalence_0_and_1() -> None:
    models = [(2.0, 1.0, 0.0, 1.0), (100.0, 1.0, 0.0, 1.0)]
    found = model_table(models).prc.summary(
        [0.0, 1.0], metrics=AREAS, smooth="binormal", columns="all", **COUNTS
    )
    assert found["value"].to_list() == [0.0] * 5 + [1.0] * 5 + [0.0] * 5 + [1.0] * 5


def test_metrics_without_a_model_are_refused() -> None:
    known = {"average_precision", "pr_auc", "roc_auc", *TRANSFORMS}
    assert {name for name, metric in CURVE_METRICS.items() if metric.recipe.fitted is not None} == known


def test_another_name_of_a_metric() -> None:
    asked = [metrics.average_precision.alias("ap"), metrics.roc_auc.alias("auc")]
    found = model_table([(1.0, 1.0, 0.0, 1.0)]).prc.summary(
        metrics=asked, smooth="binormal", columns="all", **COUNTS
    )
    assert found["metric"].to_list() == ["ap", "auc"]


# Curves ---------------------------------------------------------------------------------------


@examples()
@given(
    tables(weights=MODERATE),
    etas,
    st.sampled_from([{}, {"thresholds": "corners"}, {"thresholds": 3}]),
)
def test_curve(table: Table, eta: list[float | None], rows: dict[str, Any]) -> None:
    asked = ["precision", "f1", "npv"]
    found = prc(table.frame).curve(eta, metrics=asked, smooth="binormal", **rows, **table.package)
    plain = prc(table.frame).curve(eta, metrics=asked, **rows, **table.package)
    assert found.schema == plain.schema
    assert_same(found.select(*table.by, "eta", "threshold"), plain.select(*table.by, "eta", "threshold"))
    assert found.select("tp", "fp", "fn", "tn").null_count().row(0) == (found.height,) * 4
    fits = prc(table.frame).binormal(**table.package)
    joined = (
        found.join(fits, on=table.by, nulls_equal=True) if table.by else found.join(fits, how="cross")
    )
    for row in joined.iter_rows(named=True):
        for rate, kind in (("recall", "pos"), ("fpr", "neg")):
            mu, sigma = row[f"mu_{kind}"], row[f"sigma_{kind}"]
            if mu is None:
                assert row[rate] is None
            else:
                with np.errstate(over="ignore"):
                    expected = ndtr((np.float64(mu) - float(row["threshold"])) / sigma)
                assert math.isclose(row[rate], expected, rel_tol=1e-9, abs_tol=1e-300)
    for name in asked:
        recomputed = getattr(metrics, name)(pl.col("recall"), pl.col("fpr"), pl.col("eta"))
        assert_same(found.select(name), found.select(recomputed.alias(name)))


def test_listed_thresholds_and_long_rows() -> None:
    df = model_table([(1.0, 2.0, 0.0, 1.0)])
    asked = {
        "metrics": ["precision", "recall"],
        "smooth": "binormal",
        "thresholds": [-9.0, 0.5],
        **COUNTS,
    }
    wide, long = (df.prc.curve(0.1, long=is_long, **asked) for is_long in (False, True))
    assert wide["threshold"].to_list() == [0.5, -9.0]
    assert long["value"].to_list() == [*wide["precision"], *wide["recall"]]
    assert wide["recall"].to_list() == pytest.approx([ndtr(0.25), ndtr(5.0)], rel=1e-14)


def test_the_area_under_the_curve_is_the_area() -> None:
    df = model_table([(1.0, 2.0, 0.0, 1.0)])
    at = np.linspace(-12.0, 20.0, 20_001).tolist()
    curve = df.prc.curve(0.1, smooth="binormal", thresholds=at, **COUNTS)
    area = df.prc.summary(0.1, metrics="average_precision", smooth="binormal", columns="all", **COUNTS)[
        "value"
    ].item()
    assert trapezoid(curve["precision"], curve["recall"]) == pytest.approx(area, abs=1e-6)


@pytest.mark.parametrize("apart", [3, 10, 30, 38, 100, 1e6])
@pytest.mark.parametrize("prior", ["uniform", "log"])
def test_means_over_prevalences_of_classes_far_apart(apart: float, prior: str) -> None:
    """Their fpr underflows along the curve, and a mean over prevalences divides by it."""
    scores = [0.0, 1.0, 2.0, apart, apart + 1, apart + 2]
    df = pl.DataFrame({"score": scores, "label": [0, 0, 0, 1, 1, 1]})
    low = 0.0 if prior == "uniform" else 1e-4
    asked = [metrics.integrated_average_precision(low, 0.5, prior), "average_precision"]
    mean, at_half = df.prc.summary(0.5, metrics=asked, smooth="binormal", columns="all")["value"]
    assert 0.5 < mean <= at_half <= 1
    if apart >= 30:
        assert mean == pytest.approx(1, abs=1e-3)
