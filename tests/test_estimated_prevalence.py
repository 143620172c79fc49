"""The prevalence of rows without labels: beside a labelled reference, as counts, and with intervals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy import optimize, stats

from polars_prcurve import PrcError, prc
from polars_prcurve.core.prevalence import prevalence_by_em as estimate
from polars_prcurve.core.sweep.prevalence_by_mixture import (
    LevelCounts,
    chi_squared_tail,
    estimate_by_mixture,
)
from tests.support.profiles import examples

Z2 = stats.norm.ppf(0.975) ** 2


def test_an_estimate_is_an_eta_frame_of_any_table() -> None:
    """Its column `n` is no group, though the table may have one of that name, too."""
    field = pl.DataFrame({"score": [0.9, 0.8, 0.6, 0.4, 0.2, 0.1]})
    table = pl.DataFrame({"score": [1, 0], "n_pos": [90, 10], "n_neg": [10, 90], "n": [100, 100]})
    for confidence in (None, 0.95):
        eta = field.prc.estimate_prevalence(0.5, confidence=confidence)
        found = table.prc.curve(eta, counts=("n_pos", "n_neg"), confidence=0.95)
        assert found["n"].to_list() == [6, 6]


def reference_of(positives: list[int], negatives: list[int]) -> pl.DataFrame:
    """Counts by level, the highest score first."""
    scores = list(range(len(positives), 0, -1))
    return pl.DataFrame({"score": scores, "n_pos": positives, "n_neg": negatives})


def by_levels(positives: list[int], negatives: list[int], n: list[int], **given: Any) -> pl.DataFrame:
    reference = reference_of(positives, negatives)
    field = pl.DataFrame({"score": reference["score"], "n": n})
    bound = reference.prc(counts=("n_pos", "n_neg"))
    return field.prc.estimate_prevalence(reference=bound, counts="n", **given)


# The mixture ----------------------------------------------------------------------------------

# Worked with an EM over both classes and a likelihood-ratio interval, in a program of its own:
# positives, negatives and unlabelled rows by level; estimate, limits at 95%, statistic of the test.
WORKED = (
    (
        (30, 15, 5),
        (20, 180, 800),
        (60, 210, 730),
        0.0758609344332,
        0.0442657662306,
        0.116275336482,
        1.40687853288,
    ),
    (
        (40, 30, 20, 10),
        (10, 40, 150, 800),
        (55, 90, 205, 650),
        0.165301734054,
        0.119550700286,
        0.217735796316,
        9.49552326919,
    ),
    ((8, 2), (5, 95), (20, 180), 0.0666666666667, 0, 0.163179753051, None),
    ((9, 1), (10, 90), (8, 92), 0, 0, 0.0788236148665, None),
)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("case", WORKED)
def test_worked_cases(case: Any) -> None:
    *tables, eta, low, high, statistic = case
    found = by_levels(*map(list, tables), confidence=0.95).row(0, named=True)
    p_value = None if statistic is None else stats.chi2.sf(statistic, len(tables[0]) - 2)
    expected = {"eta": eta, "eta_low": low, "eta_high": high, "shift_p_value": p_value}
    for name, value in expected.items():
        if value is None:
            assert found[name] is None
        else:
            assert found[name] == pytest.approx(value, rel=2e-12, abs=1e-12), name
    assert found["n"] == sum(tables[2])
    assert (found["eta_confidence"], found["iterations"], found["converged"]) == (0.95, None, True)


def profile(a: Any, n: Any, u: Any, eta: float) -> float:
    """The greatest likelihood at eta, by an EM of the shares, which starts from the labelled rows."""
    alpha, beta = (a + 0.5) / (a + 0.5).sum(), (n + 0.5) / (n + 0.5).sum()
    value = -math.inf
    for _ in range(20_000):
        w = eta * alpha / (eta * alpha + (1 - eta) * beta)
        alpha, beta = a + u * w, n + u * (1 - w)
        alpha, beta = alpha / alpha.sum(), beta / beta.sum()
        before, value = value, log_likelihood((a, alpha), (n, beta), (u, eta * alpha + (1 - eta) * beta))
        if value - before < 1e-13 * abs(value):
            break
    return value


def log_likelihood(*pairs: tuple[Any, Any]) -> float:
    """The sum of count times log of share, of counts and shares."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(sum(np.where(k > 0, k * np.log(share), 0.0).sum() for k, share in pairs))


@st.composite
def three_tables(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """Counts of both classes and of unlabelled rows, at two to six levels."""
    size = draw(st.integers(2, 6))
    counts = st.lists(st.integers(0, 60), min_size=size, max_size=size).filter(any)
    a, n, u = (np.array(draw(counts), dtype=np.float64) for _ in range(3))
    held = (a + n) > 0  # a level is cut from labelled rows
    u = np.where(held, u, 0.0)
    u[held.argmax()] += 1
    return a, n, u


@examples(60)
@given(three_tables())
def test_the_estimate_is_the_best_and_the_limits_are_where_the_likelihood_says(tables: Any) -> None:
    a, n, u = tables
    found = estimate_by_mixture(LevelCounts(*(counts[None] for counts in tables)), 0.95)
    eta, low, high = (float(values[0]) for values in (found.eta, found.low, found.high))
    assert 0 <= low <= eta <= high <= 1
    best = profile(a, n, u, eta)
    tolerance = 1e-7 * max(1.0, abs(best))
    for other in np.linspace(0, 1, 41):
        assert profile(a, n, u, other) <= best + tolerance
    for end, limit in ((0.0, low), (1.0, high)):
        drop = best - profile(a, n, u, limit)
        if limit == end:
            assert drop <= Z2 / 2 + tolerance
        else:
            assert drop == pytest.approx(Z2 / 2, abs=1e-5 + tolerance)
            assert best - profile(a, n, u, end) > Z2 / 2 - tolerance


@pytest.mark.parametrize("freedom", range(1, 12))
def test_the_tail_of_chi_squared(freedom: int) -> None:
    for x in (0.0, 1e-9, 0.3, 1.0, 7.3, 40.0, 200.0):
        assert chi_squared_tail(x, freedom) == pytest.approx(stats.chi2.sf(x, freedom), rel=1e-12)
    assert math.isnan(chi_squared_tail(1.0, 0))


def test_levels_are_cut_where_the_labelled_scores_say() -> None:
    # 60 positives and 40 negatives that all differ: eight levels of 40 / 5, each of the same weight.
    labels = [(i * 7) % 10 < 6 for i in range(100)]
    reference = pl.DataFrame({"score": [100.0 - i for i in range(100)], "label": labels})
    weight = np.where(labels, 0.5 / 60, 0.5 / 40)
    level = np.floor(8 * (np.cumsum(weight) - weight / 2) + 1e-12).astype(int)
    assert len(set(level)) == 8
    field = pl.DataFrame({"score": [i * 0.37 - 8 for i in range(300)]})  # some below and above all
    edges = [100.0 - np.flatnonzero(level == k).max() for k in range(7)]
    places = np.digitize(-field["score"].to_numpy(), -np.array(edges), right=True)
    counts = [
        np.bincount(level[np.array(labels) == kind], minlength=8).astype(float) for kind in (True, False)
    ]
    counts.append(np.bincount(places, minlength=8).astype(float))
    expected = estimate_by_mixture(LevelCounts(*(c[None] for c in counts)), 0.9)
    found = field.prc.estimate_prevalence(reference=reference, confidence=0.9)
    assert found["eta"].item() == pytest.approx(float(expected.eta[0]), rel=1e-12)
    assert expected.high is not None
    assert found["eta_high"].item() == pytest.approx(float(expected.high[0]), rel=1e-12)
    assert found["shift_p_value"].item() == pytest.approx(float(expected.shift_p_value[0]), rel=1e-9)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 0.99])
def test_two_scores_make_two_levels_however_rare_one_is(share: float) -> None:
    high, low = round(1000 * share), round(1000 * (1 - share))
    found = by_levels([high, low], [high // 2, low + high - high // 2], [high, low])
    assert found["eta"].item() == pytest.approx(1.0)  # the field looks as positives do
    assert found["shift_p_value"].item() is None


KEYS = {"market": pl.String, "x": pl.Float64}
KIND = {True: "sick", False: "well"}


def markets(rng: np.random.Generator, eta: float, n: int) -> pl.DataFrame:
    label = rng.random(n) < eta
    return pl.DataFrame(
        {
            "market": rng.choice(["de", "fr", None], n).tolist(),
            "x": rng.choice([1.0, float("nan"), None], n).tolist(),
            "score": (rng.normal(size=n) + 2 * label).round(2),
            "label": label,
        },
        schema_overrides=KEYS,
    )


RNG = np.random.default_rng(7)
REFERENCE, FIELD = markets(RNG, 0.3, 3_000), markets(RNG, 0.1, 4_000)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("shared", [["market", "x"], ["market"], []])
def test_each_group_is_as_alone_and_a_reference_may_tell_fewer_apart(shared: list[str]) -> None:
    by = ["market", "x"]
    reference = REFERENCE.drop([name for name in by if name not in shared])
    found = FIELD.prc.estimate_prevalence(reference=reference, by=by, confidence=0.9)
    assert found.select(by).equals(FIELD.select(by).unique().sort(by))
    for row in found.iter_rows(named=True):
        alone, its_reference = FIELD, reference
        for name in by:
            same = pl.col(name).eq_missing(pl.lit(row[name], KEYS[name]))
            alone = alone.filter(same)
            if name in shared:
                its_reference = its_reference.filter(same)
        one = alone.drop(by).prc.estimate_prevalence(reference=its_reference, confidence=0.9)
        expected = found.filter(*(pl.col(name).eq_missing(pl.lit(row[name], KEYS[name])) for name in by))
        assert_frame_equal(one, expected.drop(by), rel_tol=1e-12)


def test_rows_counts_and_doors_give_the_same() -> None:
    expected = FIELD.prc.estimate_prevalence(reference=REFERENCE, by="market")
    counted = REFERENCE.prc.counts(by="market")
    by_counts = {"reference": prc(counted, counts=("n_pos", "n_neg")), "counts": "n"}
    renamed = REFERENCE.select(p="score", country="market", kind=pl.col("label").replace_strict(KIND))
    words: dict[str, Any] = {"score": "p", "label": "kind", "pos_label": "sick"}
    bound = prc(renamed, by=pl.col("country").alias("market"), id="p", cluster="p", **words)
    days = [part.prc.counts(label=None, by="market") for part in (FIELD[:1500], FIELD[1500:])]
    tables: list[tuple[Any, dict[str, Any]]] = [
        (FIELD.drop("label").lazy(), {"reference": REFERENCE.lazy()}),
        (FIELD.sample(fraction=1, shuffle=True, seed=1), {"reference": REFERENCE.reverse()}),
        (FIELD, {"reference": bound}),
        (FIELD, {"reference": REFERENCE.prc(model="market")}),
        (FIELD, {"reference": REFERENCE.lazy().prc(by="market", model="market")}),
        (pl.concat(days), by_counts),
        (pl.concat(days).lazy(), by_counts),
    ]
    for table, more in tables:
        found = table.prc.estimate_prevalence(by="market", **more)
        assert_frame_equal(found, expected, check_exact=True)
        bound = table.prc(by="market", **{name: more[name] for name in more if name == "counts"})
        assert_frame_equal(
            bound.estimate_prevalence(reference=more["reference"]), expected, check_exact=True
        )


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.UInt64, pl.Int128, pl.Decimal(20, 2), pl.Float32, pl.Boolean]
)
def test_scores_of_any_dtype(dtype: Any) -> None:
    cast = pl.col("score").clip(0).round().cast(dtype)
    if dtype == pl.Boolean:
        cast = pl.col("score") > 1
    tables = [table.with_columns(score=cast) for table in (FIELD, REFERENCE)]
    numbers = [table.with_columns(score=pl.col("score").cast(pl.Float64)) for table in tables]
    found, expected = (a.prc.estimate_prevalence(reference=b) for a, b in (tables, numbers))
    assert_frame_equal(found, expected, check_exact=True)


def test_an_empty_field_has_no_row_and_rows_counted_0_are_not_there() -> None:
    for field in (FIELD.clear(), FIELD.clear().lazy()):
        for by in (None, "market"):
            found = field.prc.estimate_prevalence(reference=REFERENCE, by=by)
            assert found.is_empty()
    counts = FIELD.prc.counts(label=None, by="market")
    more = pl.concat([counts, pl.DataFrame({"market": ["uk"], "score": [1.0], "n": [0]})])
    expected = FIELD.prc.estimate_prevalence(reference=REFERENCE.drop("market"), by="market")
    found = more.prc.estimate_prevalence(reference=REFERENCE.drop("market"), by="market", counts="n")
    assert_frame_equal(found, expected, check_exact=True)


# Posteriors -----------------------------------------------------------------------------------

POSTERIORS = FIELD.with_columns(score=1 / (1 + (2 - 2 * pl.col("score")).exp()))


def test_the_interval_of_posteriors_is_where_their_likelihood_says() -> None:
    found = POSTERIORS.prc.estimate_prevalence(0.5, by="market", confidence=0.9)
    for row in found.iter_rows(named=True):
        p = POSTERIORS.filter(pl.col("market").eq_missing(pl.lit(row["market"], pl.String)))[
            "score"
        ].to_numpy()

        def drop(eta: float, p: Any = p, best: float = row["eta"]) -> float:
            sums = [np.log(at * p + (1 - at) * (1 - p)).sum() for at in (best, eta)]
            return float(sums[0] - sums[1]) - stats.chi2.ppf(0.9, 1) / 2

        assert row["eta_low"] == pytest.approx(
            optimize.brentq(drop, 1e-9, row["eta"], xtol=1e-14), rel=1e-9
        )
        assert row["eta_high"] == pytest.approx(
            optimize.brentq(drop, row["eta"], 1, xtol=1e-14), rel=1e-9
        )
        assert row["eta_confidence"] == 0.9
        assert row["shift_p_value"] is None


def test_scores_that_are_no_posteriors_lead_to_the_mixture() -> None:
    df = pl.DataFrame({"score": [1.3, -2.0, 0.5]})
    words = r"outside \[0, 1\].*; if scores are not probabilities, pass reference=, a labelled table"
    with pytest.raises(PrcError, match=words):
        df.prc.estimate_prevalence(0.1)
    words = r"^calibrate the scores first: .*; expected probabilities of the positive class$"
    with pytest.raises(PrcError, match=words):
        df.with_columns(label=1).prc.decision_curve(columns="all")


def test_counts_of_posteriors_are_as_rows() -> None:
    parts = [part.prc.counts(label=None, by="x") for part in (POSTERIORS[:999], POSTERIORS[999:])]
    given: dict[str, Any] = {"eta_train": 0.5, "confidence": 0.95, "by": "x"}
    expected = POSTERIORS.prc.estimate_prevalence(**given)
    for counts in (pl.concat(parts), pl.concat(parts).reverse().lazy()):
        assert_frame_equal(
            counts.prc.estimate_prevalence(counts="n", **given), expected, check_exact=True
        )


@pytest.mark.parametrize(
    ("ps", "low", "high"), [([0.0] * 4, 0.0, None), ([1.0] * 4, None, 1.0), ([0.5] * 3, 0.0, 1.0)]
)
def test_limits_at_the_ends(ps: list[float], low: float | None, high: float | None) -> None:
    found = pl.DataFrame({"score": ps}).prc.estimate_prevalence(0.5, confidence=0.95).row(0, named=True)
    # Four sure rows of one class: (1 - eta)^4 falls to the limit at 1 - exp(-z^2 / 8).
    reach = 1 - math.exp(-Z2 / 8)
    assert found["eta_low"] == pytest.approx(1 - reach if low is None else low, rel=1e-12)
    assert found["eta_high"] == pytest.approx(reach if high is None else high, rel=1e-12)


def test_a_group_that_stopped_early_has_its_estimate_in_its_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(estimate, "_MAX_ITERATIONS", 1)
    found = POSTERIORS.prc.estimate_prevalence(0.5, confidence=0.5).row(0, named=True)
    assert not found["converged"]
    assert found["eta_low"] <= found["eta"] <= found["eta_high"]


@pytest.mark.parametrize("confidence", [0.5, 1 - 1e-9])
def test_limits_enclose_the_estimate_at_any_level(confidence: float) -> None:
    how: dict[str, Any] = {"by": ["market", "x"], "confidence": confidence}
    mixture = FIELD.prc.estimate_prevalence(reference=REFERENCE.drop("x"), **how)
    for found in (mixture, POSTERIORS.prc.estimate_prevalence(0.5, **how)):
        assert (found["eta_low"] <= found["eta"]).all()
        assert (found["eta"] <= found["eta_high"]).all()


def test_an_estimate_is_an_eta_frame() -> None:
    etas = FIELD.prc.estimate_prevalence(reference=REFERENCE, by="market", confidence=0.95)
    points = REFERENCE.prc.operating_points(etas, by="market", recall=0.8, columns="all")
    assert points["eta"].to_list() == etas["eta"].to_list()


# Counts without labels ------------------------------------------------------------------------


def test_counts_without_labels() -> None:
    zeros = pl.DataFrame({"score": [0.0, -0.0, 1.5, 1.5, -2.0], "g": ["a", "a", "a", "b", "b"]})
    expected = {"score": [1.5, 0.0, 1.5, -2.0], "n": [1, 2, 1, 1]}
    found = zeros.prc.counts(label=None, by="g")
    assert found.schema == {"g": pl.String, "score": pl.Float64, "n": pl.Int64}
    assert found.drop("g").to_dict(as_series=False) == expected
    assert_frame_equal(zeros.lazy().prc.counts(label=None, by="g").collect(), found)
    labelled = FIELD.prc.counts(by=["market", "x"])
    sums = labelled.select("market", "x", "score", n=pl.col("n_pos") + pl.col("n_neg"))
    assert_frame_equal(FIELD.drop("label").prc.counts(label=None, by=["market", "x"]), sums)


# Errors ---------------------------------------------------------------------------------------

GOOD: dict[str, Any] = {"reference": REFERENCE}
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "neither": ({}, r"^pass either eta_train=, .*, or reference="),
    "both": ({**GOOD, "eta_train": 0.5}, r"^pass either eta_train=, .*, or reference="),
    "pos_label of posteriors": (
        {"eta_train": 0.5, "pos_label": 1},
        "leave out pos_label=, or pass reference=, whose labels it describes",
    ),
    "several scores": (
        {**GOOD, "score": ["score", "x"]},
        "once for each score column: reference= takes one",
    ),
    "weights of the reference": (
        {"reference": REFERENCE.prc(weight="x")},
        "in the reference= table, leave out weight=, which .* does not take",
    ),
    "points as the reference": (
        {"reference": REFERENCE.prc(rates=("x", "x"))},
        "in the reference= table, leave out rates=, which .* does not take",
    ),
    "reference of another kind": (
        {**GOOD, "reference": 3},
        "reference= takes a DataFrame or a LazyFrame",
    ),
    "confidence in percent": ({**GOOD, "confidence": 95}, "a level between 0 and 1"),
    "score of another dtype": (
        {**GOOD, "reference": REFERENCE.with_columns(pl.col("score").cast(pl.Float32))},
        "Float64 where labels are missing, Float32 in the reference= table",
    ),
    "group of another dtype": (
        {**GOOD, "reference": REFERENCE.with_columns(market=1), "by": "market"},
        "'market' to one dtype: it is Int32 in the reference= table and String",
    ),
    "no label": (
        {**GOOD, "reference": REFERENCE.drop("label")},
        "in the reference= table, there is no column 'label' for label=",
    ),
    "float counts": ({**GOOD, "counts": "score"}, "cast counts= .*got floats"),
    "float counts of the reference": (
        {"reference": REFERENCE.filter(pl.col("score") >= 0).prc(counts=("score", "score"))},
        "cast counts= of the reference to integers",
    ),
    "no positives": (
        {**GOOD, "reference": REFERENCE.filter(~pl.col("label"))},
        "there are no positives",
    ),
    "no negatives in a group": (
        {
            **GOOD,
            "reference": REFERENCE.filter(pl.col("label") | (pl.col("market") != "de")),
            "by": "market",
        },
        "there are no negatives where market = ",
    ),
    "no rows": ({**GOOD, "reference": REFERENCE.clear()}, "the reference= table has no rows"),
    "one score": (
        {**GOOD, "reference": REFERENCE.with_columns(score=0.5)},
        "all scores are equal; positives and negatives must have",
    ),
    "null label": (
        {**GOOD, "reference": REFERENCE.with_columns(label=pl.lit(None, pl.Boolean))},
        "in the reference= table, label column 'label' is null in 3000 row",
    ),
    "no such group": (
        {**GOOD, "reference": REFERENCE.filter(pl.col("market") == "de"), "by": "market"},
        "the reference= frame has no row for 2 group.*, such as market = null",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    given, words = REFUSED[case]
    for door in (FIELD.prc, FIELD.lazy().prc):
        with pytest.raises(PrcError, match=words):
            door.estimate_prevalence(**given)


@pytest.mark.parametrize("given", [{"weight": "score"}, {"counts": ("a", "b")}, {"pos_label": 1}])
def test_counts_without_labels_take_no_labels(given: Any) -> None:
    with pytest.raises(PrcError, match=r"^leave out .*: label=None counts rows"):
        FIELD.prc.counts(label=None, **given)
