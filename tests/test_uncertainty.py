"""Intervals of rates, bands of point metrics, and how wide they can be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from polars_prcurve import (
    PrcError,
    intervals,
    max_width,
    metrics,
    prc,
    precision_interval,
    published_average_precision,
    published_precision,
    published_roc_auc,
    rate_interval,
    rectangle_level,
    sample_size,
)
from tests.support import oracle
from tests.support.all_metrics import ALL_POINT_METRICS
from tests.support.comparing import assert_same
from tests.support.oracle_errors import raise_end_of_recall, size_at
from tests.support.profiles import examples
from tests.support.strategies import Table, several, tables
from tests.support.tiers import slow_unless

METHODS = ["wilson", "hoeffding", "clopper_pearson", "jeffreys"]
METRICS = [metric for metric in ALL_POINT_METRICS if metric.falls_with_fpr]
rates: Any = st.sampled_from(METHODS)
methods: Any = st.sampled_from(["analytic", "rectangle"])
etas = several(1e-6, 0.01, 0.3, 0.9) | several(None, 0.5)

ONE_METHOD = 'takes "wilson", "clopper_pearson", "jeffreys"'


def in_quadrature(metric: metrics.PointMetric, recall: Any, fpr: Any, eta: float) -> tuple[float, float]:
    """The band from (low, estimate, high) of both rates, by numbers: the definition."""
    low, high = (-math.inf, math.inf) if metric.is_linear else metric.range

    def scaled(value: float) -> float:
        if metric.is_linear:
            return value
        if high - value < 1e-12:  # what rounding may have left
            return math.inf
        if value == low or (low == -1 and value + 1 < 1e-12):
            return -math.inf
        if math.isinf(high):
            return math.log(value)
        if math.isinf(low):
            return -math.log(1 - value)
        return math.log((value - low) / (high - value))

    def back(value: float) -> float:
        if metric.is_linear:
            return value
        if math.isinf(high):
            return math.exp(value)
        if math.isinf(low):
            return 1 - math.exp(-value)
        return low + (high - low) / (1 + math.exp(-value)) if value > -700 else low

    def at(t: int, f: int) -> float:
        return float(metric(recall[t], fpr[f], eta))

    better = metric.direction != "minimize"
    t, f = (0, 2) if better else (2, 0)
    if metric.direction == "none":
        f = 0
    estimate, ends = scaled(at(1, 1)), []
    for sign, i, j in ((-1, t, f), (1, 2 - t, 2 - f)):
        one, other = scaled(at(i, 1)), scaled(at(1, j))
        if math.isinf(estimate) or math.isnan(one) or math.isnan(other):
            ends.append(at(i, j))
        else:
            ends.append(back(estimate + sign * math.hypot(estimate - one, estimate - other)))
    return ends[0], ends[1]


# Rates ----------------------------------------------------------------------------------------


@examples(200)
@given(rates, st.integers(0, 60), st.integers(0, 60), st.sampled_from([0.5, 0.95, 0.999]))
def test_intervals_of_rates(method: Any, hits: int, misses: int, level: float) -> None:
    n = hits + misses
    low, high = rate_interval(hits, n, level, method)
    if n == 0:
        assert math.isnan(low)
        assert math.isnan(high)
        return
    assert 0 <= low <= hits / n <= high <= 1
    assert (low == 0) if hits == 0 else (hits < n or high == 1)
    mirrored = rate_interval(misses, n, level, method)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((low, high), abs=1e-14)
    wider = rate_interval(hits, n, (1 + level) / 2, method)
    assert wider.low <= low
    assert wider.high >= high
    arrays = rate_interval(np.array([hits, hits]), n, level, method)
    assert arrays.low.tolist() == [low, low]
    assert arrays.high.tolist() == [high, high]


@pytest.mark.parametrize("method", ["wilson", "hoeffding"])
def test_intervals_as_expressions(method: Any) -> None:
    df = pl.DataFrame({"k": [0, 3, 10, 0], "n": [10, 10, 10, 0]})
    wrong = pl.DataFrame({"k": [-1.0, 5.0, 10.001, 3.0, None], "n": [3.0, 4.0, 10.0, math.inf, 2.0]})
    for end in rate_interval(pl.col("k"), pl.col("n"), 0.9, method):
        assert wrong.select(end).to_series().to_list() == [None] * 5
    low, high = rate_interval(pl.col("k"), pl.col("n"), 0.9, method)
    found = df.select(low=low, high=high)
    expected = rate_interval(df["k"].to_numpy(), df["n"].to_numpy(), 0.9, method)
    for name, ends in zip(("low", "high"), expected, strict=True):
        assert found[name].to_list() == [None if math.isnan(x) else pytest.approx(x) for x in ends]


def test_clopper_pearson_never_covers_less() -> None:
    n = 40
    k = np.arange(n + 1)
    low, high = rate_interval(k, n, 0.9, "clopper_pearson")
    for rate in np.linspace(0.01, 0.99, 99):
        chance = [math.comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in k]
        assert sum(c for c, a, b in zip(chance, low, high, strict=True) if a <= rate <= b) >= 0.9


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: rate_interval(3, 2), "takes finite numbers 0 <= k <= n"),
        (lambda: rate_interval(-1, 2), "takes finite numbers 0 <= k <= n"),
        (lambda: rate_interval(1, 2, 95), "confidence= takes a level between 0 and 1"),
        (lambda: rate_interval(1, 2, method="wald"), ONE_METHOD),
        (lambda: rate_interval(pl.col("k"), pl.col("n"), method="jeffreys"), "collect the table"),
        (lambda: max_width(0.5, 0.1, 0.1), "pass exactly one of fpr_half_width=, fpr_cv="),
        (lambda: max_width(0.5, 0.1, 0.1, 0.1, fpr_cv=0.1), "pass exactly one of"),
        (lambda: max_width(1.5, 0.1, 0.1, 0.1), r"recall takes a number in \[0, 1\]"),
        (lambda: max_width(0.5, 0.1, -0.1, 0.1), "the interval of recall must contain 0.5"),
        (
            lambda: max_width(0.5, 0.1, 0.1, fpr_interval=(0.2, 0.3)),
            "the interval of fpr must contain 0.1",
        ),
        (lambda: rate_interval(3, math.inf), "finite"),
        (lambda: rectangle_level(0, 0.1, 10, 10), "a true rate above 0"),
        (lambda: rectangle_level(0.5, 1.1, 10, 10), "a true rate above 0"),
        (lambda: rectangle_level(0.5, 0.1, 0, 10), "n_pos= takes a whole number of at least 1"),
        (lambda: rectangle_level(0.5, 0.1, 10, 10, n_draws=0), "n_draws= takes a whole number"),
        (
            lambda: rectangle_level(0.5, 0.1, 10, 10, method="guess"),
            ONE_METHOD,
        ),
        (
            lambda: precision_interval(0.5, 0.1, 0.1, 0.1, 0.1, metric=["f1", "npv"]),
            "takes a name or a metric",
        ),
        (lambda: sample_size(0), "rates above 0"),
        (lambda: sample_size([0.5, 1.5]), "rates above 0"),
        (lambda: sample_size(0.5, 1), "delta= takes a width between 0 and 1"),
        (lambda: sample_size(pl.col("p"), method="jeffreys"), "collect the table"),
        (lambda: sample_size(0.1, method="guess"), ONE_METHOD),
        (
            lambda: precision_interval(
                0.5, 0.1, 0.1, 0.1, 0.1, metric=metrics.point("c", lambda *c: c[0])
            ),
            "pass monotone=True to metrics.point",
        ),
    ],
)
def test_what_is_refused(call: Any, hint: str) -> None:
    with pytest.raises(PrcError, match=hint):
        call()


# Bands ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_metric_moves_one_way(metric: metrics.PointMetric) -> None:
    """With recall and with fpr, at every prevalence: what bands rely on."""
    grid = np.linspace(0.001, 0.999, 40)
    recall, fpr = np.meshgrid(grid, grid, indexing="ij")
    for eta in (1e-6, 0.01, 0.3, 0.5, 0.9, 0.999):
        values = np.asarray(metric(recall, fpr, np.full_like(recall, eta)))
        values = values if metric.direction != "minimize" else -values
        slack = 1e-12 * np.abs(values).max()
        assert (np.diff(values, axis=0) >= -slack).all()
        falls = -np.diff(values, axis=1) if metric.direction != "none" else np.diff(values, axis=1)
        assert (falls >= -slack).all()


some_metrics = st.lists(st.sampled_from(METRICS), min_size=1, max_size=4, unique_by=lambda m: m.name)
few_tables = tables(
    keys=["none", "String"], weights=["", "small integers", "narrow floats"], max_size=12
)


@examples(200)
@given(few_tables, etas, rates, methods, some_metrics)
def test_bands(table: Table, eta: Any, rate: Any, method: Any, asked_for: Any) -> None:
    options = {"by": table.by, "pos_label": table.pos_label, "weight": table.weight}
    said = [value for value in eta if value is not None] if isinstance(eta, list) else [eta]
    assume(said and said != [None])  # for a prevalence that was counted see test_cohorts.py
    eta = said
    curve = prc(table.frame).curve(eta, metrics=asked_for, **options)
    asked = {"metrics": asked_for, "confidence": intervals(0.9, method=method, rate=rate)}
    found = prc(table.frame).curve(eta, **asked, **options)
    shared = [name for name in curve.columns if name in found.columns]
    assert_same(found.select(shared), curve.select(shared))
    groups = {tuple(g.by.values()): g for g in oracle.groups(table.rows, **table.oracle)}
    level = 0.9 if method == "analytic" else math.sqrt(0.9)
    for row in found.to_dicts():
        key = tuple(row[name] for name in table.by)
        ends = {}
        for side, name in enumerate(("recall", "fpr")):
            if row[name] is not None:
                weighted = table.weight is not None
                n = float(size_at(groups[key], side, row["threshold"], weighted=weighted))
                low, high = rate_interval(row[name] * n, n, level, rate)
                if name == "recall" and rate == "wilson":
                    high = raise_end_of_recall(row[name] * n, n, high, level)
                ends[name] = (low, row[name], high)
        for metric in asked_for:
            low, value, high = (row[f"{metric.name}{end}"] for end in ("_low", "", "_high"))
            assert value is not None or (low is None and high is None)
            if value is None or len(ends) < 2 or row["eta"] in (0, 1) or math.isinf(value):
                continue
            expected = expected_band(metric, ends, row["eta"], method)
            for end, bound in zip((low, high), expected, strict=True):
                assert close_to(end, bound, value), (metric.name, row, expected)
            assert low is None or low <= value
            assert high is None or value <= high


def test_few_missed_positives_reach_further_up() -> None:
    """Wilson's interval of recall would miss it in 15% of samples where 0.16 missed are expected."""
    missed = range(7)
    for n in (8, 50, 1000):
        df = pl.DataFrame(
            {
                "g": [g for g in missed for _ in (0, 1)],
                "score": [1, 0] * 7,
                "n_pos": [k for g in missed for k in (n - g, g)],
                "n_neg": [10, 90] * 7,
            }
        )
        asked: Any = {"by": "g", "counts": ("n_pos", "n_neg"), "threshold": 1, "confidence": 0.95}
        found = df.prc.operating_points(0.1, metrics=["recall", "fpr", "npv"], columns="all", **asked)
        for g, row in enumerate(found.to_dicts()):
            low, high = rate_interval(n - g, n)
            assert row["recall_low"] == pytest.approx(low)
            assert [row["fpr_low"], row["fpr_high"]] == pytest.approx(rate_interval(10, 100))
            if g in (1, 2, 3):
                # So many or more are missed in 5% of samples.
                mean = (1 - row["recall_high"]) * n
                fewer = sum(mean**k / math.factorial(k) for k in range(g)) * math.exp(-mean)
                assert row["recall_high"] > high
                assert fewer == pytest.approx(0.95) or row["recall_high"] == pytest.approx(high)
            else:
                assert row["recall_high"] == pytest.approx(high)
        asked["confidence"] = intervals(0.95, method="rectangle")
        rectangle = df.prc.operating_points(0.1, metrics="recall", columns="all", **asked)
        assert (rectangle["recall_high"] >= found["recall_high"]).all()


def expected_band(metric: Any, ends: dict[str, Any], eta: float, method: str) -> Any:
    recall, fpr = ends["recall"], ends["fpr"]
    if method == "analytic":
        return in_quadrature(metric, recall, fpr, eta)
    low, high = (0, 2), (2, 0)
    if metric.direction != "maximize":
        low, high = ((2, 0), (0, 2)) if metric.direction == "minimize" else ((0, 0), (2, 2))
    return tuple(float(metric(recall[t], fpr[f], eta)) for t, f in (low, high))


def test_an_end_where_the_metric_is_undefined_at_a_limit() -> None:
    """By Hoeffding a recall of 1 in 2 may be 0, where the root of precision * recall is 0/0."""
    df = pl.DataFrame({"score": [0.9, 0.1, 0.1], "label": [1, 1, 0]})
    confidence = intervals(0.95, rate="hoeffding")
    curve = prc(df).curve(1e-6, metrics="fowlkes_mallows", confidence=confidence)
    assert curve["fowlkes_mallows_low"][0] == metrics.fowlkes_mallows(0, 1, 1e-6) == 0


def close_to(end: float | None, bound: float, value: float) -> bool:
    """To 1e-9; an undefined end is null, and none is past the estimate."""
    if math.isnan(bound):
        return end is None
    return end is not None and (end == bound or math.isclose(end, bound, rel_tol=1e-9, abs_tol=1e-9))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("rate", METHODS)
@pytest.mark.parametrize("method", slow_unless(lambda m: m == "analytic", ["analytic", "rectangle"]))
@pytest.mark.parametrize("long", slow_unless(lambda long: not long, [False, True]))
def test_every_way_to_compute_bands(rate: Any, method: Any, long: bool) -> None:
    rng = np.random.default_rng(4)
    n = 500
    scores = {"score": rng.normal(size=n).round(1), "label": rng.random(n) < 0.3, "w": rng.random(n)}
    df = pl.DataFrame(scores).with_columns(g=rng.integers(0, 4, n))
    options: Any = {
        "by": "g",
        "metrics": ["precision", "recall", "mcc"],
        "confidence": intervals(0.95, method=method, rate=rate),
        "long": long,
    }
    targets: Any = {"recall": [0.5, 0.9], "precision": 0.99}
    calls: list[Any] = [
        lambda p: p.curve([0.01, 0.2] if method == "rectangle" else [0.01, None], **options),
        lambda p: p.curve(0.2, thresholds=[0.5, 1.0], **options),
        lambda p: p.operating_points([0.01, 0.3], columns="all", **targets, **options),
        lambda p: p.curve(0.1, weight="w", **options),
    ]
    for call in calls:
        if rate not in ("clopper_pearson", "jeffreys"):
            continue  # queries of `test_plans` have these rates, in any order and engine
        with pytest.raises(PrcError, match=f'rate="{rate}" needs a DataFrame'):
            call(prc(df.lazy()))
        assert_same(call(prc(df.sample(fraction=1, shuffle=True, seed=1))), call(prc(df)))


def test_bands_of_long_and_wide_are_the_same() -> None:
    df = pl.DataFrame({"score": range(40), "label": [i * 7 % 5 < 2 for i in range(40)]})
    asked: Any = {"metrics": ["precision", "f1"], "confidence": 0.9}
    wide = df.prc.operating_points([0.1, 0.5], fpr=[0.2, 0.5], columns="all", **asked)
    long = df.prc.operating_points([0.1, 0.5], fpr=[0.2, 0.5], long=True, columns="all", **asked)
    assert long.columns[-6:] == [*("metric", "value", "low", "high", "above_chance", "doubt")]
    for name in asked["metrics"]:
        part = long.filter(metric=name)
        for column, end in (("value", ""), ("low", "_low"), ("high", "_high")):
            assert part[column].to_list() == wide[name + end].to_list()


MONOTONE: dict[str, tuple[Any, Any]] = {
    "precision": (lambda tp, fn, fp, tn: tp / (tp + fp), {"range": (0, 1)}),
    "fdr": (lambda tp, fn, fp, tn: fp / (tp + fp), {"range": (0, 1), "direction": "minimize"}),
    "net_benefit(0.2)": (lambda tp, fn, fp, tn: tp - 0.25 * fp, {}),
}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", MONOTONE)
def test_a_monotone_metric_of_a_user_has_the_band_of_ours(name: str) -> None:
    formula, options = MONOTONE[name]
    own = metrics.point("own", formula, monotone=True, **options)
    rng = np.random.default_rng(3)
    label = rng.random(600) < 0.3
    df = pl.DataFrame({"score": (rng.normal(size=600) + 2 * label).round(1), "label": label})
    asked: Any = {"confidence": 0.9, "columns": "all"}
    for words in ({"recall": [0.2, 0.5]}, {"threshold": 1.0}, {"maximize": [name, own]}):
        targets = {word: value[0] if word == "maximize" else value for word, value in words.items()}
        ours = df.prc.operating_points(0.05, metrics=name, **targets, **asked)
        targets = {word: value[1] if word == "maximize" else value for word, value in words.items()}
        found = df.prc.operating_points(0.05, metrics=own, **targets, **asked)
        assert found["own_low"].null_count() == 0
        for end in ("", "_low", "_high"):
            assert found[f"own{end}"].to_list() == pytest.approx(ours[f"{name}{end}"].to_list())


def test_a_metric_that_does_not_move_one_way_is_not_monotone() -> None:
    refused: list[tuple[Any, dict[str, Any], str]] = [
        (lambda tp, fn, fp, tn: 5 * fn + fp, {}, "more recall can make own worse"),
        (lambda tp, fn, fp, tn: tp + fp, {}, "a lower fpr can make own worse"),
        (lambda tp, fn, fp, tn: (tp - 0.3) ** 2, {}, "at a prevalence of 0.001"),
        (lambda tp, fn, fp, tn: tp + fp, {"direction": "none"}, "pass a metric with a direction"),
    ]
    for formula, options, hint in refused:
        with pytest.raises(PrcError, match=hint):
            metrics.point("own", formula, monotone=True, **options)


def test_what_has_no_bands() -> None:
    df = pl.DataFrame({"score": [1, 2], "label": [0, 1], "p": [0.5, 1.0], "q": [1.0, 0.0]})
    own = metrics.point("cost", lambda tp, fn, fp, tn: 5 * fn + fp, direction="minimize")
    refused: list[tuple[Any, str]] = [
        ({"metrics": ["precision", metrics.f1.alias("precision_low")]}, "'precision_low'"),
        *(
            ({"metrics": metrics.f1.alias(name), "confidence": level}, f"rename the metric '{name}'")
            for name in ("recall", "fpr", "tp", "threshold", "eta")
            for level in (None, 0.9)
        ),
        ({"metrics": metrics.f1.alias("")}, "without a name it has no column"),
        ({"metrics": own}, r"pass monotone=True .* or pass metrics.best\(cost\) to summary\(\)"),
        (
            {"confidence": intervals(0.95, method="bootstrap")},
            r'pass "analytic" or "rectangle": curve\(\) has no intervals by method="bootstrap"',
        ),
        ({"confidence": 95}, "confidence= takes a level between 0 and 1"),
        ({"rates": ("p", "q"), "eta": 0.1}, "and rates= holds none"),
        ({"counts": ("p", "q")}, "cast counts= to integers"),
        ({"by": pl.col("p").alias("precision_low")}, "precision_low"),
    ]
    for options, hint in refused:
        with pytest.raises(PrcError, match=hint):
            df.prc.curve(**{"confidence": 0.95, **options})
    with pytest.raises(PrcError, match="rename the metric 'alerts'"):
        df.prc.operating_points(recall=0.5, metrics=metrics.f1.alias("alerts"), per=10, columns="all")


def test_names_of_metrics_in_long_tables_are_free() -> None:
    df = pl.DataFrame({"score": [3, 2, 1], "label": [1, 0, 1], "recall_low": ["a"] * 3, "f1": ["b"] * 3})
    asked: Any = {"by": ["recall_low", "f1"], "confidence": 0.9}
    named = [metrics.precision.alias("recall"), "f1", metrics.fdr.alias("eta")]
    found = df.prc.curve(0.1, metrics=named, long=True, **asked)
    assert found["recall_low"].unique().to_list() == ["a"]
    assert found["f1"].unique().to_list() == ["b"]
    same = df.prc.curve(0.1, metrics=["precision", "f1", "fdr"], long=True, **asked)
    assert_same(found.drop("metric"), same.drop("metric"))
    assert found["metric"].unique(maintain_order=True).to_list() == ["recall", "f1", "eta"]


def test_bands_hold_what_they_promise() -> None:
    """Of the true precision, over many test sets with a fixed threshold."""
    rng = np.random.default_rng(7)
    draws, eta = 4_000, 0.01
    for recall, fpr, n_pos, n_neg in ((0.6, 0.02, 100, 5_000), (0.9, 0.005, 400, 4_000)):
        hits, alarms = rng.binomial(n_pos, recall, draws), rng.binomial(n_neg, fpr, draws)
        above = pl.DataFrame({"draw": range(draws), "score": 1, "n_pos": hits, "n_neg": alarms})
        below = above.with_columns(score=0, n_pos=n_pos - pl.col("n_pos"), n_neg=n_neg - pl.col("n_neg"))
        table = pl.concat([above, below])
        options: Any = {"by": "draw", "counts": ("n_pos", "n_neg"), "threshold": 1}
        truth = metrics.precision(recall, fpr, eta)
        covered = {}
        for method in ("analytic", "rectangle"):
            level: Any = intervals(0.95, method=method)  # type: ignore[arg-type]
            found = table.prc.operating_points(eta, confidence=level, columns="all", **options)
            holds = (found["precision_low"] <= truth) & (truth <= found["precision_high"])
            covered[method] = holds.mean()
        assert 0.935 <= covered["analytic"] <= 0.965
        assert covered["rectangle"] >= 0.95


# Widths ---------------------------------------------------------------------------------------


@examples(100)
@given(st.floats(0.01, 0.99), st.floats(1e-4, 0.99), st.floats(0.001, 0.99), st.floats(0.001, 0.99))
def test_the_widest_band_is_nowhere_exceeded(recall: float, fpr: float, a: float, b: float) -> None:
    width = max_width(recall, fpr, recall_cv=a, fpr_cv=b)
    eta = np.append(np.geomspace(1e-9, 1 - 1e-9, 4_001), width.eta)
    upper = 1 / (1 + (1 - eta) / eta * fpr * (1 - b) / (recall * (1 + a)))
    lower = 1 / (1 + (1 - eta) / eta * fpr * (1 + b) / (recall * (1 - a)))
    middle = 1 / (1 + (1 - eta) / eta * fpr / recall)
    assert (upper - lower)[-1] == pytest.approx(width.delta, rel=1e-9)
    assert (upper - lower).max() <= width.delta + 1e-12
    assert (upper - middle).max() <= width.up + 1e-12
    assert (middle - lower).max() <= width.down + 1e-12
    assert min(a, b) - 1e-12 <= width.delta <= width.bound + 1e-12
    assert width.bound == pytest.approx(max(a, b))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weight", [None, "w"])
def test_resolution(method: Any, weight: str | None) -> None:
    """On a grid of prevalences the band is wider below, and nowhere above."""
    rng = np.random.default_rng(9)
    df = pl.DataFrame({"score": rng.normal(size=3_000), "label": rng.random(3_000) < 0.3})
    df = df.with_columns(score=pl.col("score") + 2 * pl.col("label"), w=rng.lognormal(size=3_000))
    asked: Any = {"recall": [0.05, 0.5, 0.9], "fpr": [0.0, 0.2], "threshold": 99.0, "weight": weight}
    grid = np.geomspace(1e-9, 1 - 1e-9, 2_001)
    level, above_all = intervals(0.9, rate=method), 99.0
    chosen = df.prc.operating_points(metrics="precision", columns="all", **asked)
    targets = {at: above_all if at is None else at for at in chosen["threshold"].unique()}
    bands = df.prc.operating_points(
        grid.tolist(),
        metrics="precision",
        threshold=sorted(targets.values()),
        confidence=level,
        weight=weight,
        columns="all",
    ).with_columns(width=pl.col("precision_high") - pl.col("precision_low"))
    points = {at: bands.filter(target=target) for at, target in targets.items()}
    assert all(points[at].height == len(grid) for at in targets)
    for delta in (0.05, 0.3, 0.9):
        found = df.prc.sample_size(delta, confidence=level, **asked, solve_for="eta")
        assert found["threshold"].to_list() == chosen["threshold"].to_list()
        for row in found.to_dicts():
            of_target = points[row["threshold"]]
            wide, eta = of_target["width"].to_numpy() > delta, row["eta"]
            if eta is None:
                assert of_target["precision_low"].fill_null(0).max() == 0
            elif eta == 0:
                assert not wide.any()
            else:
                assert not wide[grid > eta * (1 + 1e-9)].any()
                assert wide[(grid > 0.9 * eta) & (grid < eta * (1 - 1e-9))].all()
    with pytest.raises(PrcError, match="delta= takes a width between"):
        df.prc.sample_size(1.5, recall=0.5, solve_for="eta")


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("method", METHODS)
def test_bands_and_sizes_of_an_empty_table(method: Any) -> None:
    df = pl.DataFrame(schema={"score": pl.Float64, "label": pl.Boolean, "g": pl.String})
    full = pl.DataFrame({"score": [1.0, 2.0], "label": [True, False], "g": ["a", "b"]})
    calls: list[Any] = [
        lambda p: p.curve(0.1, by="g", confidence=intervals(0.9, rate=method)),
        lambda p: p.sample_size(recall=0.5, by="g", confidence=intervals(0.95, rate=method)),
    ]
    for call in calls:
        found = call(prc(df))
        assert found.height == 0
        assert found.schema == call(prc(full)).schema


def test_widths_at_the_ends() -> None:
    assert max_width(0.5, 0.0, 0.1, 0.1)[:2] == (1.0, 0.0)
    assert max_width(0.0, 0.1, 0.1, 0.01)[:2] == (1.0, 1.0)
    both = max_width(0.0, 0.0, 0.1, 0.1)
    assert both.delta == 1
    assert math.isnan(both.eta)
    assert precision_interval(0.6, 0.001, 0.01, 0.0, 0.0).low == metrics.precision(0.6, 0.001, 0.01)
    assert precision_interval(0.6, 0.0, 0.01, 0.06, 0.01).high == 1.0
    frame = pl.DataFrame({"eta": [0.01, 0.1]})
    ends = precision_interval(0.6, 0.001, pl.col("eta"), recall_cv=0.1, fpr_cv=0.5)
    arrays = precision_interval(0.6, 0.001, frame["eta"].to_numpy(), recall_cv=0.1, fpr_cv=0.5)
    found = frame.select(low=ends.low, high=ends.high)
    for name in ("low", "high"):
        assert found[name].to_list() == pytest.approx(getattr(arrays, name).tolist(), rel=1e-15)


def test_the_level_of_a_rectangle() -> None:
    design: Any = {"recall": 0.6, "fpr": 0.02, "n_pos": 200, "n_neg": 10_000}
    simulated = rectangle_level(**design, n_draws=40_000, seed=3)
    assert simulated == rectangle_level(**design, n_draws=40_000, seed=3)
    assert simulated == pytest.approx(rectangle_level(**design), abs=0.004)
    assert rectangle_level(**design, method="clopper_pearson", n_draws=20_000, seed=3) >= simulated


@pytest.mark.parametrize("method", [*METHODS, "wald", "chernoff"])
def test_sizes_of_numbers_arrays_and_columns(method: Any) -> None:
    rates = [0.001, 0.6, 1.0]
    one_by_one = [sample_size(rate, 0.2, 0.9, method) for rate in rates]
    assert all(isinstance(n, int) for n in one_by_one)
    assert sample_size(rates, 0.2, 0.9, method).tolist() == one_by_one
    if method not in ("jeffreys", "clopper_pearson"):
        df = pl.DataFrame({"p": [*rates, 0.0, None]})
        found = df.select(sample_size(pl.col("p"), 0.2, 0.9, method)).to_series().to_list()
        assert found == [*one_by_one, None, None]


@pytest.mark.parametrize("method", [*METHODS, "wald"])
@pytest.mark.parametrize(("rate", "delta"), [(0.6, 0.1), (0.01, 0.2), (0.99, 0.05)])
def test_a_sample_of_that_size_is_enough(method: Any, rate: float, delta: float) -> None:
    n = sample_size(rate, delta, 0.9, method)
    assert n > 0
    if method in ("wald", "hoeffding"):  # of half-widths before they are cut
        return
    for size, enough in ((n, True), (0.97 * n, False)):
        low, high = rate_interval(rate * size, size, 0.9, method)
        assert (high * (1 - delta) <= low * (1 + delta) * (1 + 1e-9)) is enough


# Published numbers ----------------------------------------------------------------------------


def test_published_numbers_are_numbers_or_arrays() -> None:
    tp, fp = np.array([0, 60, 100]), np.array([10, 10, 0])
    found = published_precision(tp, 100, fp, 10_000, [0.01, 0.01, 0.5])
    one = published_precision(60, 100, 10, 10_000, 0.01)
    assert isinstance(one.low, float)
    assert one == pytest.approx([each[1] for each in found], rel=1e-15)
    # Without true or without false positives the logit has no error to tell.
    assert [list(np.isnan(each)) for each in found[1:]] == [[True, False, True]] * 3
    assert list(found.value) == pytest.approx([0, metrics.precision(0.6, 0.001, 0.01), 1])
    for area in (published_average_precision([0, 0.8, 1], 50), published_roc_auc([0, 0.8, 1], 50, 99)):
        assert [list(np.isnan(each)) for each in area[1:]] == [[True, False, True]] * 3
        assert area.low[1] < 0.8 < area.high[1]
    wide, narrow = (published_roc_auc(0.8, 50, 99, confidence=level) for level in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: published_precision(60, 50, 1, 10, 0.1), "0 <= tp <= n_pos"),
        (lambda: published_precision(0, 0, 1, 10, 0.1), "both > 0"),
        (lambda: published_average_precision(1.1, 5), r"\[0, 1\]"),
        (lambda: published_roc_auc(0.5, 0, 5), "n_pos > 0"),
        (lambda: published_roc_auc(0.5, 3, 5, confidence=95), "confidence="),
    ],
)
def test_published_numbers_that_cannot_be(call: Any, words: str) -> None:
    with pytest.raises(PrcError, match=words):
        call()
