"""Thresholds that keep a promise: worked numbers, a reference with exact tails, null rules, errors."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy import special

from polars_prcurve import PrcError, eta_from_sample, metrics, prc
from polars_prcurve.core.confidence.binomial_tails import is_tail_at_most, tail_quantile
from polars_prcurve.core.curves import guarantees
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS, RunTest
from tests.support.profiles import examples

K, N, ODDS = pl.col("k"), pl.col("n"), pl.col("odds")
STRETCH = ["threshold", "holds_from", "holds_to"]
RUNS = ("precision", "fdr", "lift", "npv")

# Worked numbers -------------------------------------------------------------------------------

# eta, precision, P, N, tp, fp; fpr per recall, share of false positives, tail, z, alerts at the start
WORKED = [
    (0.1, 0.8, 100, 1000, 40, 3, 0.0277777777778, 0.217391304348, 0.00918150673829, -2.35944398512, 26),
    (
        0.01,
        0.5,
        200,
        10_000,
        90,
        20,
        0.010101010101,
        0.335570469799,
        0.000259295020152,
        -3.47118316782,
        31,
    ),
    (0.5, 0.95, 50, 1000, 12, 0, 0.0526315789474, 0.512820512821, 0.00017875900437, None, 11),
    (
        0.001,
        0.5,
        1000,
        20_000,
        300,
        1,
        0.001001001001,
        0.0196270853778,
        0.0180091130483,
        -2.09893335185,
        256,
    ),
]


@pytest.mark.parametrize("case", WORKED)
def test_worked_tests(case: tuple[Any, ...]) -> None:
    eta, target, n_pos, n_neg, tp, fp, ratio, share, tail, z, at_start = case
    test = TARGET_KINDS["precision"].promise_test
    assert isinstance(test, RunTest)
    rates_ratio = pl.select(test.find_ratio(target, pl.lit(eta))).item()
    assert rates_ratio == pytest.approx(ratio, rel=1e-11)
    odds = n_neg * rates_ratio / n_pos
    assert odds / (1 + odds) == pytest.approx(share, rel=1e-11)
    assert special.bdtr(fp, tp + fp, odds / (1 + odds)) == pytest.approx(tail, rel=1e-11)
    found = pl.DataFrame({"k": [float(fp)], "n": [float(tp + fp)], "odds": [odds]})
    if z is not None:
        assert found.select(tail_quantile(K, N, ODDS)).item() == pytest.approx(z, rel=1e-11)
    assert found.select(is_tail_at_most(0.05, K, N, ODDS)).item() == (tail <= 0.05)
    start = guarantees.count_alerts_at_start(pl.lit(n_pos), pl.lit(n_neg), pl.lit(odds), 0.05)
    assert pl.select(start).item() == at_start


SWEEP = pl.DataFrame({"label": [*map(int, "1111110111011001" + "01"), *[0] * 30]}).with_columns(
    score=-pl.int_range(pl.len())
)
"""Labels by falling score: P 13, N 35."""


@pytest.mark.parametrize(
    ("target", "cells", "start"), [(0.5, (13, 17), 5), (0.8, (6, 0), 6)], ids=["half", "four fifths"]
)
def test_worked_runs(target: float, cells: tuple[int, int], start: int) -> None:
    found = SWEEP.prc.operating_points(0.5, precision=target, guarantee=0.95, columns="all")
    assert found.select("tp", "fp").row(0) == cells
    assert found.select(STRETCH).row(0) == (1 - sum(cells), 1 - sum(cells), 1 - start)
    assert SWEEP["label"].sum() == 13


RATES = [
    ("recall", 100, 0.9, 96, 0.0237110826635, 29),
    ("recall", 50, 0.8, 45, 0.0480272193707, 14),
    ("recall", 1000, 0.95, 962, 0.0433481906069, 59),
    ("recall", 20, 0.9, None, None, 29),
    ("fpr", 1000, 0.01, 4, 0.028686399999, 299),
    ("fpr", 10_000, 0.001, 4, 0.0291959501582, 2995),
    ("fpr", 3000, 0.001, 0, 0.049712393998, 2995),
    ("fpr", 200, 0.01, None, None, 299),
]


@pytest.mark.parametrize("case", RATES)
def test_worked_rates(case: tuple[Any, ...]) -> None:
    """The examples of the class are at scores of their own, and there is one of the other class."""
    rate, n, target, k, tail, needed = case
    positive = rate == "recall"
    table = pl.DataFrame(
        {"score": range(2 * n + 1), "label": [not positive, positive] * n + [not positive]}
    )
    table = table.filter((pl.col("label") == positive) | (pl.col("score") == (0 if positive else 2 * n)))
    found = table.prc.operating_points(0.5, columns="all", **{rate: target}, guarantee=0.95).row(
        0, named=True
    )
    assert found["n_pos_needed" if positive else "n_neg_needed"] == needed
    assert found["n_neg_needed" if positive else "n_pos_needed"] is None
    assert found["tp" if positive else "fp"] == k
    if k is not None:
        exact = special.bdtr(n - k, n, 1 - target) if positive else special.bdtr(k, n, target)
        assert exact == pytest.approx(tail, rel=1e-11)


def test_tails_decide_as_exact_ones_do() -> None:
    """Except within 0.5% of an alpha of 0.05 and more, and 2% of 0.01."""
    rng = np.random.default_rng(1)
    for alpha, room in [(0.4, 0.005), (0.1, 0.005), (0.05, 0.005), (0.01, 0.02)]:
        n = np.floor(10 ** rng.uniform(0, 5, 40_000))
        share = special.expit(rng.uniform(-10, 6, n.size))
        spread = np.sqrt(n * share * (1 - share))
        k = np.clip(np.round(n * share + special.ndtri(alpha) * spread + rng.normal(size=n.size)), 0, n)
        exact = special.bdtr(k, n.astype(int), share)
        table = pl.DataFrame({"k": k, "n": n, "odds": share / (1 - share)})
        found = table.select(is_tail_at_most(alpha, K, N, ODDS)).to_series().to_numpy()
        clear = np.abs(exact / alpha - 1) > room
        assert clear.mean() > 0.9
        assert np.array_equal(found[clear], exact[clear] <= alpha)


# A reference with exact tails -----------------------------------------------------------------


def ratio_of(criterion: str, value: float, eta: float) -> float:
    """Return the fpr per recall, or for npv fnr per specificity, at which a target is just met."""
    with np.errstate(all="ignore"):
        eta, value = np.float64(eta), np.float64(value)
        if criterion == "npv":
            eta = 1 - eta
        if criterion == "lift":
            return max(0.0, float((1 - eta * value) / ((1 - eta) * value)))
        precision = 1 - value if criterion == "fdr" else value
        return float(eta * (1 - precision) / ((1 - eta) * precision))


def is_kept(good: int, bad: int, odds: float, alpha: float) -> bool:
    share = 1 if odds == math.inf else odds / (1 + odds)
    return good > 0 and (share == 1 or special.bdtr(bad, good + bad, share) <= alpha)


def run_reference(
    rows: list[dict[str, Any]], target: tuple[str, float], eta: float, alpha: float, start: Any
) -> tuple[Any, Any, Any]:
    """Return threshold, holds_from and holds_to of one curve: the definition, row by row."""
    criterion, value = target
    n_pos, n_neg = rows[0]["tp"] + rows[0]["fn"], rows[0]["fp"] + rows[0]["tn"]
    down = criterion != "npv"
    good, bad = ("tp", "fp") if down else ("tn", "fn")
    n_good, n_bad = (n_pos, n_neg) if down else (n_neg, n_pos)
    if n_good == 0 or n_bad == 0:
        return None, None, None
    ratio = ratio_of(criterion, value, eta)
    ratio = math.inf if math.isnan(ratio) else ratio
    odds, order = n_bad * ratio / n_good, rows if down else rows[::-1]
    if odds == 0:
        return None, None, None
    if start is None:
        least = math.ceil(-math.log(alpha) / math.log1p(odds))
        most = min(n_good + n_bad * ratio, n_good + n_bad)
        m = math.ceil(max(least, min(2 * least, most / 4), most / 10))
        share = 1 if odds == math.inf else odds / (1 + odds)
        z = special.ndtri(alpha)
        k = m * share + math.sqrt(m * share * (1 - share)) * z + (z * z - 1) * (1 - 2 * share) / 6
        k = max(0, math.floor(k - 0.5))
        enough = {
            n: n >= m or (share < 1 and k < n and special.bdtr(k, n, share) <= alpha)
            for n in (row[good] + row[bad] for row in rows)
        }
        run = [row for row in order if enough[row[good] + row[bad]]]
    else:
        at = [row for row in rows if row["threshold"] >= start]
        run = [at[-1], *(r for r in rows if r["threshold"] < start)] if down and at else at[::-1]
    found = None
    for row in run:
        if not is_kept(row[good], row[bad], odds, alpha):
            break
        found = row["threshold"]
    end = run[0]["threshold"] if run and start is None else start
    if found is None:
        return None, None, None
    return (found, found, end) if down else (found, end, found)


@st.composite
def sorted_tables(draw: st.DrawFn) -> tuple[pl.DataFrame, list[float | None]]:
    """Draw a table of groups with many ties or none, better and worse scores, and prevalences."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.sampled_from([1, 5, 60, 400]))
    label = rng.random(n) < draw(st.sampled_from([0.02, 0.1, 0.5, 0.9]))
    score = rng.normal(size=n) + draw(st.sampled_from([0.0, 1.0, 2.0, 4.0])) * label
    decimals = draw(st.sampled_from([0, 1, 9]))
    frame = pl.DataFrame({"g": rng.integers(0, 3, n), "score": score.round(decimals), "label": label})
    etas = st.sampled_from([None, 0.5, 0.1, 0.01, 0.9, 0.0, 1.0])
    return frame, draw(st.lists(etas, min_size=1, max_size=3, unique=True))


@examples(300)
@given(
    sorted_tables(),
    st.sampled_from(RUNS),
    st.sampled_from([0.0, 0.2, 0.5, 0.8, 0.95, 1.0]),
    st.sampled_from([0.9, 0.95, 0.99]),
    st.sampled_from([None, None, 1.5, 0.0, -9.0, 99.0]),
)
def test_runs(
    drawn: tuple[pl.DataFrame, list[float | None]],
    criterion: str,
    value: float,
    level: float,
    start: float | None,
) -> None:
    frame, etas = drawn
    value = 4 * value if criterion == "lift" else value
    asked: dict[str, Any] = {criterion: value, "guarantee": level, "start": start}
    found = prc(frame).operating_points(etas, by="g", columns="all", **asked)
    sweeps = prc(frame).sweep(by="g").partition_by("g", as_dict=True)
    for point in found.to_dicts():
        rows, eta = sweeps[(point["g"],)].to_dicts(), point["eta"]
        # Where an exact tail is next to alpha, expressions may decide otherwise.
        near = {
            run_reference(rows, (criterion, value), eta, (1 - level) * room, start)
            for room in (0.98, 1.02)
        }
        expected = run_reference(rows, (criterion, value), eta, 1 - level, start)
        if near == {expected}:
            assert tuple(point[name] for name in STRETCH) == expected, (point, expected)
    for eta in etas:
        threshold = pl.col("score").prc.threshold("label", eta, **asked)
        one = prc(frame).operating_points(eta, by="g", columns="all", **asked).select("g", "threshold")
        assert_frame_equal(frame.group_by("g").agg(threshold=threshold).sort("g"), one, check_exact=True)


@examples(100)
@given(sorted_tables(), st.sampled_from(["recall", "fpr"]), st.sampled_from([0.0, 0.05, 0.5, 0.9, 1.0]))
def test_rates(drawn: tuple[pl.DataFrame, list[float | None]], rate: str, value: float) -> None:
    frame, _ = drawn
    found = prc(frame).operating_points(0.1, by="g", columns="all", **{rate: value}, guarantee=0.95)
    sweeps = prc(frame).sweep(by="g").partition_by("g", as_dict=True)
    for point in found.to_dicts():
        rows = sweeps[(point["g"],)].to_dicts()
        k, rest, share = ("fn", "tp", 1 - value) if rate == "recall" else ("fp", "tn", value)
        n = rows[0][k] + rows[0][rest]
        alpha = 0.05 * (1 + 1e-12)  # one positive, and a recall of 0.05: the tail is alpha itself
        passing = [r for r in rows if n and (share == 1 or special.bdtr(r[k], n, share) <= alpha)]
        chosen = (passing[0] if rate == "recall" else passing[-1])["threshold"] if passing else None
        ends = (rows[-1]["threshold"], chosen) if rate == "recall" else (chosen, rows[0]["threshold"])
        expected = (chosen, *ends) if passing else (None, None, None)
        assert tuple(point[name] for name in STRETCH) == expected
    threshold = pl.col("score").prc.threshold("label", **{rate: value}, guarantee=0.95)
    grouped = frame.group_by("g").agg(threshold=threshold).sort("g")
    assert_frame_equal(grouped, found.select("g", "threshold"), check_exact=True)


@examples(60)
@given(sorted_tables(), st.sampled_from([0.0, 0.05, 0.3, 0.9]))
def test_budgets(drawn: tuple[pl.DataFrame, list[float | None]], rate: float) -> None:
    """The lowest threshold whose upper limit of the rate of alerts is within the budget."""
    frame, etas = drawn
    found = prc(frame).operating_points(
        etas,
        by="g",
        alerts=rate * 40,
        per=40,
        predicted_positive_rate=rate,
        guarantee=0.95,
        columns="all",
    )
    sweeps = prc(frame).sweep(by="g").partition_by("g", as_dict=True)
    for point in found.to_dicts():
        rows, eta = sweeps[(point["g"],)].to_dicts(), point["eta"]
        passing = []
        for row in rows:
            spread = estimate = 0.0
            for k, rest, share in (("tp", "fn", eta), ("fp", "tn", 1 - eta)):
                n = row[k] + row[rest]
                value = row[k] / n if n else math.nan
                high = 1.0 if row[rest] == 0 else special.betainccinv(row[k] + 1, row[rest], 0.05)
                estimate += share * value
                spread += (share * (high - value)) ** 2
            if estimate + math.sqrt(spread) <= rate * (1 + 2**-50):
                passing.append(row["threshold"])
        expected = (passing[-1], passing[-1], rows[0]["threshold"]) if passing else (None,) * 3
        assert tuple(point[name] for name in STRETCH) == expected
        assert point["n_pos_needed"] is None
        assert point["n_neg_needed"] is None


def test_the_promise_is_kept_where_every_threshold_just_misses_it() -> None:
    """The hardest curve is a line: precision is the same everywhere, and the best guess breaks it."""
    rng, sets, n_pos, n_neg, ratio = np.random.default_rng(3), 400, 100, 1000, 0.05
    above = np.concatenate([ratio * rng.random((sets, n_pos)), rng.random((sets, n_neg))], axis=1)
    table = pl.DataFrame(
        {
            "set": np.repeat(np.arange(sets), n_pos + n_neg),
            "score": -above.ravel(),
            "label": np.tile(np.arange(n_pos + n_neg) < n_pos, sets),
        }
    )
    target = metrics.precision(1, ratio, 0.1) * 1.0001
    broken = [
        table.prc.operating_points(0.1, precision=target, by="set", columns="all", **more)[
            "threshold"
        ].count()
        / sets
        for more in ({}, {"guarantee": 0.95}, {"guarantee": 0.8})
    ]
    assert broken[0] > 0.9
    assert broken[1] < 0.05 + 3 * (0.05 * 0.95 / sets) ** 0.5
    assert 0.02 < broken[2] < 0.2 + 3 * (0.2 * 0.8 / sets) ** 0.5


# Rules ----------------------------------------------------------------------------------------


def test_as_many_as_needed_prove_it() -> None:
    """With perfect scores a threshold is found from n_neg_needed negatives on, and with no fewer."""
    for n_pos, target, eta in [(20, 0.8, 0.1), (5, 0.5, 0.5), (300, 0.9, 0.001), (1, 0.5, 0.5)]:
        asked = {"precision": target, "guarantee": 0.95, "start": 2, "counts": ("n_pos", "n_neg")}
        for more in (0, -1):
            few = pl.DataFrame({"score": [2, 1], "n_pos": [n_pos, 0], "n_neg": [0, 1]})
            needed = few.prc.operating_points(eta, columns="all", **asked)["n_neg_needed"].item()
            table = few.with_columns(n_neg=pl.Series([0, int(needed) + more]))
            found = table.prc.operating_points(eta, columns="all", **asked)
            assert found["threshold"].item() == (2 if more == 0 else None)
            assert found["n_neg_needed"].item() == needed


def test_needed_numbers() -> None:
    points = SWEEP.prc.operating_points(
        [0.1, 0.0, 1.0], precision=[0.8, 1.0], npv=0.9, fdr=0.2, lift=8, guarantee=0.9, columns="all"
    )
    found = {(p["eta"], p["criterion"], p["target"]): p for p in points.to_dicts()}

    def perfect(n: int, ratio: float) -> float:
        return math.ceil(n * (0.1 ** (-1 / n) - 1) / ratio)

    at = 0.1
    assert found[at, "precision", 0.8]["n_neg_needed"] == perfect(13, at * 0.2 / (0.9 * 0.8))
    assert found[at, "fdr", 0.2]["n_neg_needed"] == perfect(13, at * 0.2 / (0.9 * 0.8))
    assert found[at, "lift", 8.0]["n_neg_needed"] == perfect(13, at * 0.2 / (0.9 * 0.8))
    assert found[at, "npv", 0.9]["n_pos_needed"] == perfect(35, 0.9 * 0.1 / (at * 0.9))
    assert found[at, "precision", 1.0]["n_neg_needed"] == math.inf
    assert found[0.0, "precision", 0.8]["n_neg_needed"] == math.inf
    assert found[1.0, "npv", 0.9]["n_pos_needed"] == math.inf
    assert found[1.0, "precision", 0.8]["n_neg_needed"] == 0
    limits = {"npv": "n_neg_needed", "precision": "n_pos_needed", "fdr": "n_pos_needed"}
    for (_, criterion, _), point in found.items():
        assert point[limits.get(criterion, "n_pos_needed")] is None


def test_columns_and_nulls() -> None:
    found = SWEEP.prc.operating_points(
        0.5, precision=[0.5, 1.0], guarantee=0.95, confidence=0.9, columns="all"
    )
    assert found.columns[:10] == [
        *("eta", "criterion", "target", "threshold", "guarantee"),
        *("holds_from", "holds_to", "n_pos_needed", "n_neg_needed", "tp"),
    ]
    assert found["guarantee"].to_list() == [0.95, 0.95]
    assert found["criterion"].to_list() == ["precision"] * 2
    kept = ("eta", "criterion", "target", "guarantee", "n_neg_needed", "above_chance", "doubt")
    assert found["doubt"].to_list()[1] == "target not met"
    assert all(value is None for name, value in found.row(1, named=True).items() if name not in kept)
    assert found["precision_low"].item(0) < found["precision"].item(0)
    long = SWEEP.prc.operating_points(0.5, precision=0.5, guarantee=0.95, long=True, columns="all")
    assert long["threshold"].n_unique() == 1
    assert long["holds_to"].to_list() == [-4] * 2


@pytest.mark.parametrize("label", [[1, 1, 1], [0, 0, 0]])
def test_one_class_proves_nothing(label: list[int]) -> None:
    table = pl.DataFrame({"score": [1, 2, 3], "label": label})
    for eta in (None, 0.0, 0.5, 1.0):
        found = table.prc.operating_points(
            eta, precision=0.5, npv=0.5, lift=1, alerts=1, per=9, guarantee=0.6, columns="all"
        )
        assert found["threshold"].null_count() == 4, eta


@pytest.mark.parametrize(
    "dtype", [pl.Boolean, pl.Int8, pl.UInt64, pl.Float32, pl.Decimal(9, 2), pl.Int128]
)
def test_stretches_have_the_dtype_of_the_score(dtype: Any) -> None:
    table = pl.DataFrame({"score": [1] * 60 + [0] * 60, "label": [1] * 60 + [0] * 60})
    table = table.with_columns(pl.col("score").cast(dtype))
    found = table.prc.operating_points(
        0.5, precision=0.5, npv=0.5, recall=0.5, guarantee=0.95, start=0.5, columns="all"
    )
    assert found.select(STRETCH).dtypes == [table.schema["score"]] * 3
    values = found.select(pl.col(STRETCH).cast(pl.Float64)).rows()
    half = 1.0 if not table.schema["score"].is_float() and dtype != pl.Decimal(9, 2) else 0.5
    assert values == [(1.0, 0.0, 1.0), (1.0, 1.0, half), (1.0, half, 1.0)]


def test_start_of_each_group() -> None:
    table = pl.concat([SWEEP.with_columns(g=pl.lit("a")), SWEEP.with_columns(g=pl.lit("b"))])
    starts = pl.DataFrame(
        {"g": ["a", "b"], "threshold": [-5, None]}, schema_overrides={"threshold": pl.Int64}
    )
    asked: dict[str, Any] = {"precision": 0.5, "npv": 0.9, "by": "g", "guarantee": 0.95}
    found = table.prc.operating_points(0.5, start=starts, columns="all", **asked)
    one = SWEEP.prc.operating_points(0.5, start=-5, columns="all", **{**asked, "by": None})
    assert found.filter(g="a").drop("g").equals(one)
    assert found.filter(g="b")["threshold"].null_count() == 2
    with pytest.raises(PrcError, match=r"the start= frame has no row for 1 group, such as g = b"):
        table.prc.operating_points(0.5, start=starts.head(1), columns="all", **asked)
    with pytest.raises(PrcError, match="a run has one start, and the start= frame holds several"):
        table.prc.operating_points(0.5, start=pl.concat([starts, starts]), columns="all", **asked)


def test_counts_are_tested_as_examples_are() -> None:
    asked: dict[str, Any] = {"precision": 0.5, "recall": 0.3, "guarantee": 0.95}
    counted = SWEEP.prc.counts().prc.operating_points(
        0.3, counts=("n_pos", "n_neg"), columns="all", **asked
    )
    assert counted.equals(SWEEP.prc.operating_points(0.3, columns="all", **asked))


WITH_WEIGHT = SWEEP.with_columns(w=1, tpr=0.5, fpr=0.5)


def test_a_kind_of_target_that_has_no_test_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TARGET_KINDS, "fdr", replace(TARGET_KINDS["fdr"], promise_test=None))
    with pytest.raises(
        PrcError, match=r"^pass precision=.* with guarantee=, not fdr: it has no test yet"
    ):
        SWEEP.prc.operating_points(0.1, fdr=0.2, guarantee=0.95, columns="all")


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"precision": 0.5, "guarantee": 95}, "a level such as 0.95; got 95"),
        ({"precision": 0.5, "guarantee": 0.5}, "a level such as 0.95; got 0.5"),
        (
            {"recall": 0.5, "guarantee": 0.95, "rates": ("tpr", "fpr"), "eta": 0.1},
            "every distinct score",
        ),
        ({"maximize": "f1", "guarantee": 0.95}, r"not maximize.f1.: .* no natural order"),
        ({"threshold": 3, "guarantee": 0.95}, "pass confidence= instead of guarantee="),
        ({"precision": 0.5, "start": 3}, "pass guarantee= as well"),
        (
            {"recall": 0.5, "guarantee": 0.95, "start": 3},
            r"^leave out start=: only .* have a start",
        ),
        ({"precision": 0.5, "guarantee": 0.95, "start": math.nan}, "start="),
        ({"lift": -1}, "lift= takes numbers of at least 0; got -1"),
        ({"npv": 1.1}, r"npv= takes numbers in \[0, 1\]"),
        (
            {"npv": 0.5, "guarantee": 0.95, "eta": 0.1, "counts": ("w", "fpr")},
            r"^cast counts= to integers.*guarantee= cannot use floats alone",
        ),
    ],
)
def test_refused(options: dict[str, Any], hint: str) -> None:
    with pytest.raises(PrcError, match=hint):
        WITH_WEIGHT.prc.operating_points(columns="all", **options)
    if not options.keys() & {"rates", "counts", "threshold"}:
        with pytest.raises(PrcError, match=hint):
            pl.col("score").prc.threshold("label", **options)


def test_an_expression_promises_no_weights() -> None:
    with pytest.raises(PrcError, match=r"use the method .prc.operating_points\(weight=...\)"):
        pl.col("score").prc.threshold("label", precision=0.5, guarantee=0.95, weight="w")


def test_budgets_need_a_data_frame() -> None:
    with pytest.raises(PrcError, match=r"^call .collect\(\) first.*needs a DataFrame"):
        SWEEP.lazy().prc.operating_points(alerts=1, per=9, guarantee=0.95, columns="all")
    with pytest.raises(PrcError, match=r"use \.prc\.operating_points on a DataFrame"):
        pl.col("score").prc.threshold("label", alerts=1, per=9, guarantee=0.95)


# Prevalences that are estimates ----------------------------------------------------------------


def estimates(*rows: tuple[float, float | None, float | None, float | None]) -> pl.DataFrame:
    names = ("eta", "eta_low", "eta_high", "eta_confidence")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Float64), orient="row")


SAFE_ENDS = [
    *(("precision", 0.6, "low"), ("fdr", 0.3, "low"), ("lift", 0.5, "low"), ("lift", 1.4, "high")),
    *(("npv", 0.6, "high"), ("recall", 0.3, "low"), ("fpr", 0.4, "low")),
]


@examples(60)
@given(
    sorted_tables(),
    st.sampled_from(SAFE_ENDS),
    st.sampled_from([0.95, 0.98, 0.999]),
    st.sampled_from([(0.1, 0.02, 0.3), (0.5, 0.3, 0.6), (0.01, 0.0, 0.2), (0.9, 0.7, 1.0)]),
)
def test_an_uncertain_eta_is_tested_at_its_safe_end(
    drawn: tuple[pl.DataFrame, Any], asked: tuple[str, float, str], level: float, ends: Any
) -> None:
    """What the interval may miss on one side is taken from what the test may."""
    criterion, value, end = asked
    frame, (eta, low, high) = drawn[0], ends
    field = estimates((eta, low, high, level), (eta, None, None, None))
    target = {criterion: value, "by": "g"}
    found = prc(frame).operating_points(field, columns="all", **target, guarantee=0.95)
    spent = 0 if criterion in ("recall", "fpr") else (1 - level) / 2
    at_end = prc(frame).operating_points(
        low if end == "low" else high, columns="all", **target, guarantee=0.95 + spent
    )
    columns = ["g", *STRETCH, "n_pos_needed", "n_neg_needed", "tp", "fp", "recall"]
    assert_frame_equal(found.filter(pl.col("eta_low").is_not_null()).select(columns), at_end[columns])
    exact = prc(frame).operating_points(eta, columns="all", **target, guarantee=0.95)
    assert_frame_equal(found.filter(pl.col("eta_low").is_null()).select(columns), exact[columns])


@examples(40)
@given(sorted_tables(), st.sampled_from([0.05, 0.3, 0.7]))
def test_budgets_hold_at_both_ends_of_eta(drawn: tuple[pl.DataFrame, Any], rate: float) -> None:
    frame, asked = drawn[0], {"alerts": rate, "per": 1, "by": "g"}
    field = estimates((0.1, 0.05, 0.3, 0.98), (0.1, 0.06, 0.2, 0.96), (0.1, None, None, None))
    found = prc(frame).operating_points(field, columns="all", **asked, guarantee=0.95)
    etas, levels = [[0.05, 0.3], [0.06, 0.2], [0.1]], [0.96, 0.97, 0.95]
    for row, (ends, level) in enumerate(zip(etas, levels, strict=True)):
        thresholds = [
            prc(frame).operating_points(end, columns="all", **asked, guarantee=level)["threshold"]
            for end in ends
        ]
        # Where both ends allow one, the higher of both.
        pairs = list(zip(*thresholds, strict=True))
        expected = [None if None in pair else max(pair) for pair in pairs]
        of_row = found.filter(pl.int_range(pl.len()).over("g") == row)
        assert of_row["threshold"].to_list() == pytest.approx(expected)


def test_an_interval_of_eta_may_leave_no_room() -> None:
    asked: dict[str, Any] = {"precision": 0.5, "guarantee": 0.95}
    for level in (0.9, 0.5):
        with pytest.raises(PrcError, match=f"of {level} leaves no room .* with a level above 0.9$"):
            SWEEP.prc.operating_points(estimates((0.3, 0.2, 0.4, level)), columns="all", **asked)
    unknown = estimates((0.6, 0.5, 0.7, None))
    with pytest.raises(PrcError, match="add a column eta_confidence to the eta= frame"):
        SWEEP.prc.operating_points(unknown, columns="all", **asked)
    assert (
        SWEEP.prc.operating_points(unknown, confidence=0.95, columns="all", **asked)["threshold"].item()
        is not None
    )
    # Neither recall nor fpr reads eta, so its interval costs them nothing.
    found = SWEEP.prc.operating_points(unknown, recall=0.3, guarantee=0.95, columns="all")
    assert (
        found["threshold"].item()
        == SWEEP.prc.operating_points(recall=0.3, guarantee=0.95, columns="all")["threshold"].item()
    )


def test_the_error_of_eta_is_paid_for() -> None:
    """With eta from 300 events taken as exact, the promise is broken much more often than in 5%."""
    rng, sets, n_pos, n_neg, true = np.random.default_rng(8), 200, 500, 2000, 0.1
    score = rng.normal(size=(sets, n_pos + n_neg)) + 2.5 * (np.arange(n_pos + n_neg) < n_pos)
    number = np.repeat(np.arange(sets), n_pos + n_neg)
    table = pl.DataFrame({"set": number, "score": score.ravel()}).with_columns(
        label=pl.Series(np.tile(np.arange(n_pos + n_neg) < n_pos, sets))
    )
    sample = eta_from_sample(rng.binomial(300, true, sets), 300, confidence=0.98)
    sample = sample.with_columns(set=pl.int_range(pl.len()))
    broken = []
    for eta in (sample.select("set", "eta"), sample):
        found = table.prc.operating_points(eta, precision=0.7, guarantee=0.95, by="set", columns="all")[
            "threshold"
        ]
        at = found.drop_nulls().to_numpy()
        assert len(at) > 0.95 * sets
        rates = special.ndtr(2.5 - at), special.ndtr(-at)
        broken.append(float((metrics.precision(*rates, true) < 0.7).sum() / sets))
    assert broken[0] > 0.1
    assert broken[1] < 0.05 + 2 * (0.05 * 0.95 / sets) ** 0.5
