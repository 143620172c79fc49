"""Watching a rate: the evidence and the interval by their definitions, and when a call is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from polars_prcurve import PrcError, charts, intervals, metrics, prc
from polars_prcurve.core.comparison.monitoring import (
    FALLS,
    TILTS,
    PeriodCells,
    bet_on_precision,
    bet_on_rate,
    bound_rate,
    bound_ratio,
    find_nearest_recall,
)

CELLS = ("tp", "fp", "fn", "tn")
RATES: dict[str, tuple[str, str]] = {
    "precision": ("tp", "fp"),
    "recall": ("tp", "fn"),
    "fpr": ("fp", "tn"),
}
ASKED = [("precision", None), ("recall", None), ("fpr", None), ("precision", 0.1)]


def draw(seed: int, weeks: int = 8, change: int = 5) -> pl.DataFrame:
    """Return rows of some weeks, whose scores tell less from a week on, some periods without a class."""
    rng = np.random.default_rng(seed)
    n = 60 * weeks
    week = rng.integers(1, weeks + 1, n)
    label = (rng.random(n) < 0.3) & (week != 3)
    score = (rng.normal(size=n) + np.where(week < change, 2.0, 0.3) * label).round(1)
    return pl.DataFrame({"week": week, "score": score, "label": label, "site": rng.integers(0, 2, n)})


def last_year(seed: int, n: int = 400) -> pl.DataFrame:
    return draw(seed + 100, n // 60, 99).drop("week")


# By definition --------------------------------------------------------------------------------


def tail(k: int, n: int, p: float) -> float:
    """The probability of at least k of n."""
    return math.fsum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))


def find_bound(k: int, n: int, alpha: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        p = (low + high) / 2
        low, high = (p, high) if tail(k, n, p) < alpha else (low, p)
    return low


def lower(rate: float, fall: float) -> float:
    """A rate whose log odds are lower."""
    odds = rate / (1 - rate) * math.exp(-fall)
    return odds / (1 + odds)


def log_likelihood(cells: Sequence[int], recall: float, fpr: float) -> float:
    tp, fp, fn, tn = cells
    return (
        tp * math.log(recall) + fn * math.log(1 - recall) + fp * math.log(fpr) + tn * math.log(1 - fpr)
    )


def find_null(recall: float, fpr: float, n_pos: int, n_neg: int, ratio: float) -> float:
    """The recall, with fpr `ratio` times it, that is likeliest where both rates are expected."""

    def likelihood(r: float) -> float:
        return log_likelihood(
            (n_pos * recall, n_neg * fpr, n_pos * (1 - recall), n_neg * (1 - fpr)), r, ratio * r
        )  # type: ignore[arg-type]

    low, high = 0.0, min(1.0, 1 / ratio)
    for _ in range(200):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (a, high) if likelihood(a) < likelihood(b) else (low, b)
    return (low + high) / 2


def bets_by_definition(
    weeks: list[tuple[int, ...]], of: tuple[int, ...], ratio: float
) -> list[list[float]]:
    found = []
    tp, fp, fn, tn = of
    for cells in weeks:
        n_pos, n_neg = cells[0] + cells[2], cells[1] + cells[3]
        bets = [0.0] * (2 * len(FALLS))
        if n_pos and n_neg and tp + fn and fp + tn:
            recall, fpr = (tp + 0.5) / (tp + fn + 1), (fp + 0.5) / (fp + tn + 1)
            pairs = [(fpr / (ratio * math.exp(f)), fpr) for f in FALLS]
            pairs += [(recall, recall * ratio * math.exp(f)) for f in FALLS]
            for i, (r, f) in enumerate(
                (min(max(r, 1e-6), 1 - 1e-6), min(max(f, 1e-6), 1 - 1e-6)) for r, f in pairs
            ):
                if f > ratio * r:
                    null = find_null(r, f, n_pos, n_neg, ratio)
                    bets[i] = log_likelihood(cells, r, f) - log_likelihood(cells, null, ratio * null)
        found.append(bets)
        tp, fp, fn, tn = (a + b for a, b in zip((tp, fp, fn, tn), cells, strict=True))
    return found


def evidence_by_definition(bets: list[list[float]]) -> list[float]:
    """Sum over starts v of 1 / v(v + 1) times the mean of the products since v, plus the rest."""
    found = []
    for w in range(1, len(bets) + 1):
        total = 1 / (w + 1)
        for v in range(1, w + 1):
            products = [
                math.exp(math.fsum(bets[u][j] for u in range(v - 1, w))) for j in range(len(bets[0]))
            ]
            total += math.fsum(products) / len(products) / (v * (v + 1))
        found.append(total)
    return found


def count(frame: pl.DataFrame, threshold: float) -> tuple[int, ...]:
    flagged, positive = pl.col("score") >= threshold, pl.col("label")
    found = frame.select(
        tp=flagged & positive, fp=flagged & ~positive, fn=~flagged & positive, tn=~flagged & ~positive
    )
    return tuple(int(found[name].sum()) for name in CELLS)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("is_table", [True, False])
@pytest.mark.parametrize(("metric", "eta"), ASKED)
def test_the_table_is_what_its_definition_says(metric: str, eta: float | None, is_table: bool) -> None:
    for seed in range(3):
        df, year = draw(seed), last_year(seed)
        given: Any = prc(year) if is_table else {"precision": 0.7, "recall": 0.8, "fpr": 0.1}[metric]
        found = df.prc.monitor(
            "week", reference=given, threshold=1.0, metrics=metric, eta=eta, columns="all"
        )
        weeks = [count(part, 1.0) for part in df.sort("week").partition_by("week", maintain_order=True)]
        assert found.select(CELLS).rows() == weeks
        assert found["week"].to_list() == sorted(set(df["week"]))
        of = count(year, 1.0) if is_table else (0, 0, 0, 0)
        alpha = 0.05 * 0.8
        first, second = RATES[metric]
        if eta is not None:
            odds = eta / (1 - eta)
            if is_table:
                recall, fpr = of[0] / (of[0] + of[2]), of[1] / (of[1] + of[3])
                down = math.log(recall / find_bound(of[0], of[0] + of[2], alpha))
                up = math.log((1 - find_bound(of[3], of[1] + of[3], alpha)) / fpr)
                bound = 1 / (1 + fpr / recall * math.exp(math.hypot(down, up)) / odds)
            else:
                bound = given
            bets = bets_by_definition(weeks, of, odds * (1 - bound) / bound)
        else:
            k, n = (dict(zip(CELLS, of, strict=True))[name] for name in RATES[metric])
            if is_table and metric == "fpr":
                bound = 1 - find_bound(n, k + n, alpha)
            else:
                bound = find_bound(k, k + n, alpha) if is_table else given
            bets = []
            for cells in weeks:
                named = dict(zip(CELLS, cells, strict=True))
                good, bad = named[first], named[second]
                kept = bound
                if metric == "fpr":
                    good, bad, kept = bad, good, 1 - bound
                bets.append(
                    [
                        good * math.log(lower(kept, f) / kept)
                        + bad * math.log((1 - lower(kept, f)) / (1 - kept))
                        for f in FALLS
                    ]
                )
        assert found["bound"].to_list() == pytest.approx([bound] * len(weeks), rel=1e-6)
        expected = evidence_by_definition(bets)
        assert found["evidence"].to_list() == pytest.approx(expected, rel=2e-4)
        needed = 1 / (0.05 * 0.2) if is_table else 1 / 0.05
        assert found["needed"].unique().to_list() == [round(needed)]
        alarms = [max(expected[: w + 1]) >= needed for w in range(len(weeks))]
        assert found["alarm"].to_list() == alarms
        assert found["since"].is_null().to_list() == [not alarm for alarm in alarms]


def test_the_start_of_a_fall_does_not_lean_towards_the_first_period() -> None:
    rng, errors = np.random.default_rng(2), []
    for _ in range(40):
        tp = rng.binomial(50, np.where(np.arange(40) < 20, 0.9, 0.8))
        series = pl.DataFrame({"day": range(40), "score": 1, "tp": tp, "fp": 50 - tp, "fn": 0, "tn": 0})
        found = prc(series, cells=CELLS).monitor("day", reference=0.9, threshold=1)
        errors += [start - 20 for start in found["since"].tail(1).drop_nulls()]
    assert len(errors) >= 35
    assert np.abs(errors).mean() < 2, "3.1 if each start had the share that the evidence gives it"


def test_a_change_is_found_and_where_it_began() -> None:
    weeks = pl.DataFrame({"week": range(1, 13), "score": 1, "tp": [80] * 6 + [60] * 6})
    weeks = weeks.with_columns(fp=100 - pl.col("tp"), fn=0, tn=0)
    year = pl.DataFrame({"score": [1], "tp": [1_600], "fp": [400], "fn": [0], "tn": [0]})
    found = prc(weeks, cells=CELLS).monitor(
        "week", reference=prc(year, cells=CELLS), threshold=1, columns="all"
    )
    assert found["alarm"].to_list() == [False] * 7 + [True] * 5
    assert set(found["since"].drop_nulls()) == {7}
    back = weeks.with_columns(tp=pl.when(pl.col("week") > 9).then(100).otherwise("tp"))
    again = prc(back, cells=CELLS).monitor(
        "week", reference=prc(year, cells=CELLS), threshold=1, columns="all"
    )
    assert again["alarm"].to_list() == found["alarm"].to_list(), "an alarm is for ever"
    better = weeks.with_columns(tp=pl.lit(95), fp=pl.lit(5))
    assert (
        not prc(better, cells=CELLS)
        .monitor("week", reference=0.8, threshold=1, columns="all")["alarm"]
        .any()
    )
    worse = prc(better, cells=CELLS).monitor(
        "week", reference=0.01, threshold=1, metrics="fpr", columns="all"
    )
    assert worse["alarm"].to_list() == [True] * 12, "a rise of fpr is what is bad"


# What makes it hold ---------------------------------------------------------------------------


def test_no_bet_is_expected_to_gain_without_a_fall() -> None:
    """By sums over all draws, at rates at the bound and better than that."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        ratio = math.exp(rng.uniform(-5, 1))
        recall = rng.uniform(0, min(1, 1 / ratio))
        fpr = ratio * recall * (1 if rng.random() < 0.7 else rng.random())
        n_pos, n_neg = (int(n) for n in rng.integers(1, 8, 2))
        before = PeriodCells(*rng.integers(0, 30, 4))
        total = np.zeros(2 * len(FALLS))
        for tp, fp in product(range(n_pos + 1), range(n_neg + 1)):
            cells = PeriodCells(*(np.array([n]) for n in (tp, fp, n_pos - tp, n_neg - fp)))
            chance = math.comb(n_pos, tp) * recall**tp * (1 - recall) ** (n_pos - tp)
            chance *= math.comb(n_neg, fp) * fpr**fp * (1 - fpr) ** (n_neg - fp)
            total += chance * np.exp(bet_on_precision(cells, before, ratio)[0])
        assert total.max() <= 1 + 1e-9
        bound, n = rng.uniform(0.01, 0.99), int(rng.integers(1, 12))
        rate = rng.uniform(bound, 1)
        gains = np.exp(bet_on_rate(np.arange(n + 1), np.full(n + 1, n), bound))
        chances = [math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]
        assert (np.array(chances) @ gains).max() <= 1 + 1e-9


def test_the_rates_nearest_to_a_fall_are_those_of_greatest_likelihood() -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        recall, fpr = rng.uniform(0.01, 0.99, 2)
        n_pos, n_neg, ratio = rng.integers(1, 200), rng.integers(1, 5_000), math.exp(rng.uniform(-6, 1))
        numbers = (np.array(x, dtype=float) for x in (recall, fpr, n_pos, n_neg))
        found = find_nearest_recall(*numbers, ratio)  # type: ignore[arg-type]
        assert float(found) == pytest.approx(find_null(recall, fpr, n_pos, n_neg, ratio), rel=1e-5)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("k", "n", "alpha"),
    [(1, 1, 0.04), (1, 10, 0.008), (10, 10, 0.04), (7, 9, 0.008), (45, 60, 0.04), (300, 1_000, 0.008)],
)
def test_the_bound_of_a_rate_is_the_exact_one(k: int, n: int, alpha: float) -> None:
    found = bound_rate(k, n, alpha)
    assert found == pytest.approx(find_bound(k, n, alpha), rel=1e-5)
    assert tail(k, n, found) <= alpha * (1 + 1e-9)
    assert bound_rate(0, n, alpha) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("n_pos", "n_neg"), [(20, 60), (40, 150)])
def test_the_bound_of_precision_fails_no_more_often_than_it_may(n_pos: int, n_neg: int) -> None:
    """Summed over all draws, so that there is no chance in it."""
    bounds = {
        (tp, fp): bound_ratio(PeriodCells(tp, fp, n_pos - tp, n_neg - fp), 0.04)
        for tp, fp in product(range(n_pos + 1), range(n_neg + 1))
    }
    for recall, fpr in product((0.3, 0.8, 0.95), (0.02, 0.2, 0.6)):
        pos = [math.comb(n_pos, k) * recall**k * (1 - recall) ** (n_pos - k) for k in range(n_pos + 1)]
        neg = [math.comb(n_neg, k) * fpr**k * (1 - fpr) ** (n_neg - k) for k in range(n_neg + 1)]
        failed = math.fsum(
            pos[tp] * neg[fp] for (tp, fp), bound in bounds.items() if bound < fpr / recall
        )
        assert failed <= 0.04


@pytest.mark.parametrize(("metric", "eta"), ASKED)
def test_the_interval_is_where_the_mixture_is_small(metric: str, eta: float | None) -> None:
    found = draw(7).prc.monitor(
        "week", reference=0.5, threshold=1.0, metrics=metric, eta=eta, columns="all"
    )
    total = found.select(pl.col(CELLS).cum_sum())
    alpha = 0.05 if eta is None else 0.025

    def mixture(k: int, n: int, p: float) -> float:
        logs = [t * k - n * math.log(1 - p + p * math.exp(t)) for t in TILTS]
        return math.fsum(map(math.exp, logs)) / len(TILTS)

    def find_end(k: int, n: int, end: float) -> float:
        inner, outer = k / n, end
        for _ in range(60):
            p = (inner + outer) / 2
            inner, outer = (p, outer) if mixture(k, n, p) < 1 / alpha else (inner, p)
        return outer

    for row, sums in zip(found.iter_rows(named=True), total.iter_rows(named=True), strict=True):
        if eta is None:
            k, n = sums[RATES[metric][0]], sums[RATES[metric][0]] + sums[RATES[metric][1]]
            low, high = find_end(k, n, 0), find_end(k, n, 1)
        else:
            ends = {}
            for rate, (one, other) in (("recall", ("tp", "fn")), ("fpr", ("fp", "tn"))):
                k, n = sums[one], sums[one] + sums[other]
                ends[rate] = find_end(k, n, 0), find_end(k, n, 1)
            low = (
                1 / (1 + (1 - eta) / eta * ends["fpr"][1] / ends["recall"][0])
                if ends["recall"][0]
                else 0
            )
            high = 1 / (1 + (1 - eta) / eta * ends["fpr"][0] / ends["recall"][1])
        assert (row["overall_low"], row["overall_high"]) == pytest.approx((low, high), abs=1e-9)
        assert row["overall_low"] <= row["overall"] <= row["overall_high"]


@pytest.mark.parametrize(("metric", "eta"), [("precision", None), ("precision", 0.02), ("fpr", None)])
def test_the_rate_since_a_change_is_that_of_a_series_that_starts_there(
    metric: str, eta: float | None
) -> None:
    rng = np.random.default_rng(4)
    week, later = np.repeat(np.arange(20), 3_000), np.repeat(np.arange(20) > 8, 3_000)
    label = rng.random(week.size) < 0.05
    score = rng.random(week.size) < np.where(label, 0.8, np.where(later, 0.05, 0.02))
    df = pl.DataFrame({"week": week, "label": label, "score": score * 1.0})
    kept = {"precision": 0.6, "fpr": 0.025} if eta is None else {"precision": 0.4}
    options: dict[str, Any] = {
        "reference": kept[metric],
        "threshold": 1.0,
        "metrics": metric,
        "eta": eta,
    }
    watched = df.prc.monitor("week", **options, columns="all")
    first_alarm = watched.filter("alarm")["week"][0]
    since = ["overall_since", "overall_since_low", "overall_since_high"]
    assert (
        watched.filter(pl.col("week") < first_alarm).select(since).null_count().row(0)
        == (first_alarm,) * 3
    )
    alone = df.filter(pl.col("week") >= watched["since"][-1]).prc.monitor(
        "week", **options, columns="all"
    )
    overall = alone.filter(pl.col("week") >= first_alarm).select(
        "overall", "overall_low", "overall_high"
    )
    assert_frame_equal(
        watched.filter("alarm").select(since),
        overall.rename(dict(zip(overall.columns, since, strict=True))),
    )


# Tables ---------------------------------------------------------------------------------------


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("metric", "eta"), ASKED)
def test_every_engine_gives_the_same_table_in_the_same_order(metric: str, eta: float | None) -> None:
    df, year = draw(1), last_year(1).drop("site")
    asked: dict[str, Any] = {"threshold": 1.0, "metrics": metric, "eta": eta}
    expected = df.prc.monitor("week", reference=prc(year), by="site", columns="all", **asked)
    assert_frame_equal(expected, expected.sort("site", "week"))
    shuffled = df.sample(fraction=1, shuffle=True, seed=3)
    counts = shuffled.prc.counts(by=["site", "week"])
    bound_counts = prc(year).counts()
    for table, reference in (
        (prc(df.lazy()), prc(year.lazy())),
        (prc(shuffled), prc(year, by=None)),
        (prc(counts, counts=("n_pos", "n_neg")), prc(bound_counts, counts=("n_pos", "n_neg"))),
        (prc(counts.lazy(), counts=("n_pos", "n_neg")), prc(year)),
        (prc(shuffled, by="site"), prc(year, by=None)),
    ):
        found = table.monitor("week", reference=reference, columns="all", **{"by": "site", **asked})
        assert_frame_equal(found, expected, check_exact=True)
    for engine in ("streaming", "in-memory"):
        with pl.Config():
            pl.Config.set_engine_affinity(engine)
            again = shuffled.lazy().prc.monitor(
                "week", reference=prc(year), by="site", columns="all", **asked
            )
        assert_frame_equal(again, expected, check_exact=True)
    for site in (0, 1):
        alone = df.filter(site=site).prc.monitor("week", reference=prc(year), columns="all", **asked)
        assert_frame_equal(alone, expected.filter(site=site).drop("site"), check_exact=True)


def test_groups_of_the_reference_meet_those_of_the_table() -> None:
    df, year = draw(2), last_year(2)
    found = df.prc.monitor(
        "week", reference=prc(year, by="site"), threshold=1.0, by="site", columns="all"
    )
    for site in (0, 1):
        alone = df.filter(site=site).prc.monitor(
            "week", reference=prc(year.filter(site=site)), threshold=1.0, columns="all"
        )
        assert_frame_equal(found.filter(site=site).drop("site"), alone, check_exact=True)
    thresholds = pl.DataFrame({"site": [1, 0], "threshold": [0.5, 1.5]})
    each = df.prc.monitor("week", reference=prc(year), threshold=thresholds, by="site", columns="all")
    assert each.group_by("site", maintain_order=True).first()["threshold"].to_list() == [1.5, 0.5]
    wide = df.with_columns(second=pl.col("score") - 0.5)
    both = wide.prc(score=["score", "second"]).monitor(
        "week",
        reference=prc(year.with_columns(second=pl.col("score") - 0.5)),
        threshold=1.0,
        columns="all",
    )
    assert both.columns[:2] == ["model", "week"]
    first = both.filter(model="score").drop("model")
    assert_frame_equal(first, df.prc.monitor("week", reference=prc(year), threshold=1.0, columns="all"))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("metric", "eta"), ASKED)
@pytest.mark.parametrize("is_table", [True, False])
def test_one_error_may_be_that_of_all_groups(metric: str, eta: float | None, is_table: bool) -> None:
    df, reference = draw(5), prc(last_year(5)) if is_table else 0.5
    asked: dict[str, Any] = {"reference": reference, "threshold": 1.0, "metrics": metric, "eta": eta}
    asked |= {"time": "week", "columns": "all", "confidence": 0.9}
    groups = df.with_columns(wing=pl.col("score").hash() % 3).prc(by=["site", "wing"])
    n_groups = groups.monitor(**asked).select("site", "wing").n_unique()
    assert n_groups == 6
    together = groups.monitor(adjust="all", **asked)
    expected = groups.monitor(**asked | {"confidence": 1 - 0.1 / 6})
    assert_frame_equal(together, expected, rel_tol=1e-9)
    assert (together["needed"] == round(6 / (0.1 * (0.2 if is_table else 1)), 9)).all()
    one = df.prc.monitor(adjust="all", **asked)
    assert_frame_equal(one, df.prc.monitor(**asked), check_exact=True)
    assert not df.clear().prc.monitor(adjust="all", by="site", **asked | {"reference": 0.5}).height


def test_a_chart_may_have_one_error_of_all_groups() -> None:
    df = draw(1, weeks=12, change=7)
    asked: dict[str, Any] = {"reference": 0.65, "threshold": 1.0, "by": "site"}
    chart = df.prc.plot.monitor("week", adjust="all", **asked)
    rows = df.prc.monitor("week", adjust="all", columns="all", **asked)
    assert chart.to_dict() == charts.monitor(rows, confidence=0.95).to_dict()


def test_time_is_any_column_that_has_an_order() -> None:
    df = draw(3).with_columns(day=date(2026, 1, 1) + pl.duration(days=7 * pl.col("week")))
    expected = df.prc.monitor("week", reference=0.5, threshold=1.0, columns="all")
    found = df.prc.monitor(
        pl.col("day").dt.truncate("1w").alias("since_monday"),
        reference=0.5,
        threshold=1.0,
        columns="all",
    )
    assert found.columns[0] == "since_monday"
    assert found["since_monday"].is_sorted()
    assert_frame_equal(found.drop("since_monday", "since"), expected.drop("week", "since"))
    assert found.schema["since"] == pl.Date
    level = pl.Enum(["early", "late"])
    named = df.with_columns(
        half=pl.when(pl.col("week") < 5).then(pl.lit("early")).otherwise(pl.lit("late")).cast(level)
    )
    assert named.prc.monitor("half", reference=0.5, threshold=1.0, columns="all")["half"].to_list() == [
        "early",
        "late",
    ]


def test_what_is_undefined_is_null() -> None:
    none = pl.DataFrame({"week": [1, 2], "score": 1, "tp": [0, 5], "fp": [0, 5], "fn": 1, "tn": 1})
    found = prc(none, cells=CELLS).monitor("week", reference=0.5, threshold=1, columns="all")
    assert found["value"].to_list() == [None, 0.5]
    assert found["overall"].to_list() == [None, 0.5]
    assert found["overall_low"].is_null().to_list() == [True, False]
    assert found["evidence"].is_not_null().all()
    assert found["alarm"].to_list() == [False, False]
    empty = pl.DataFrame({"score": [1], "tp": [0], "fp": [9], "fn": [0], "tn": [0]})
    for metric, eta in ASKED:
        nothing = empty.with_columns(tp=pl.lit(0)) if metric != "fpr" else empty
        found = prc(none, cells=CELLS).monitor(
            "week",
            reference=prc(nothing, cells=CELLS),
            threshold=1,
            metrics=metric,
            eta=eta,
            columns="all",
        )
        assert found.select("bound", "evidence", "alarm", "since").null_count().row(0) == (2, 2, 2, 2)
    found = (
        draw(0)
        .clear()
        .prc.monitor("week", reference=prc(last_year(0)), threshold=1.0, by="site", columns="all")
    )
    assert found.is_empty()
    assert (
        found.schema
        == draw(0).prc.monitor("week", reference=0.5, threshold=1.0, by="site", columns="all").schema
    )


def test_much_evidence_is_finite() -> None:
    weeks = pl.DataFrame(
        {"week": [1, 2], "score": 1, "tp": [10, 10], "fp": [10**6, 10**6], "fn": 0, "tn": 0}
    )
    found = prc(weeks, cells=CELLS).monitor("week", reference=0.9, threshold=1, columns="all")
    assert found["evidence"].is_finite().all()
    assert found["alarm"].all()


PERFECT = pl.DataFrame({"score": [1.0, 0.0], "tp": 100, "fp": [0, 10**6], "fn": 0, "tn": [10**6, 0]})


@pytest.mark.parametrize("eta", [1e-15, 0.1, 1 - 1e-15])
@pytest.mark.parametrize("reference", [1e-15, 1 - 1e-15, prc(last_year(0)), prc(PERFECT, cells=CELLS)])
@pytest.mark.filterwarnings("error")
def test_evidence_at_extreme_prevalences_is_finite_or_null(eta: float, reference: Any) -> None:
    for threshold in (0.0, 1.0):
        found = draw(0).prc.monitor("week", eta, reference=reference, threshold=threshold, columns="all")
        assert found["evidence"].drop_nulls().is_finite().all()
        has_bound = found["bound"].is_between(0, 1, closed="none")
        assert (found["evidence"].is_not_null() == has_bound.fill_null(False)).all()


# Refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"reference": 1.5}, "reference= takes a bound table with labels, .* got 1.5"),
        ({"reference": None}, "reference= takes a bound table with labels"),
        ({"reference": last_year(0)}, "reference= takes a bound table with labels"),
        ({"metrics": "f1"}, "metrics= takes one of precision, recall and fpr per call; got 'f1'"),
        ({"metrics": ["recall", "fpr"]}, "metrics= takes one of precision, recall and fpr"),
        ({"metrics": "roc_auc"}, "compare two periods by roc_auc with compare.paired=False"),
        ({"metrics": "recall", "eta": 0.1}, "leave out eta=: recall does not depend on the prevalence"),
        *(
            ({"eta": eta}, "eta= must be from 1e-15 to 1 - 1e-15, where precision can fall")
            for eta in (0.0, 5e-324, 1e-310, 1 - 1e-16, 1.0)
        ),
        *(
            ({"reference": rate, "eta": 0.1}, "or a rate from 1e-15 to 1 - 1e-15")
            for rate in (5e-324, 1e-310, 1 - 1e-16)
        ),
        ({"eta": [0.1, 0.2]}, "eta= takes numbers"),
        ({"threshold": [0.5, 1.0]}, "threshold= takes one threshold"),
        ({"threshold": None}, "threshold="),
        (
            {"threshold": pl.DataFrame({"threshold": [0.5, 1.0]})},
            "pass one threshold for each group",
        ),
        ({"time": "month"}, "column 'month'"),
        (
            {"time": pl.when(pl.col("week") > 2).then("week").alias("w")},
            r"time= holds null or NaN in \d+ row",
        ),
        ({"by": "week"}, "leave the column 'week' out of by="),
        ({"confidence": None}, r"pass confidence=.*: monitor.. needs it"),
        ({"confidence": intervals(0.95, method="bootstrap", seed=1)}, "bootstrap"),
        ({"weight": "score"}, "leave out weight=, which monitor.. does not take"),
        ({"adjust": "holm"}, 'adjust= takes "all"; got'),
        ({"cluster": "site"}, "leave out cluster=, which monitor.. does not take; make each"),
        ({"reference": prc(last_year(0), by="site")}, "the reference= table is grouped by site"),
        (
            {"reference": prc(last_year(0).drop("label"))},
            "in the reference= table, there is no column 'label'",
        ),
    ],
)
def test_bad_input_raises_at_the_call(given: dict[str, Any], sentence: str) -> None:
    asked = {"time": "week", "reference": 0.5, "threshold": 1.0, **given}
    if "by" not in given and isinstance(given.get("reference"), type(prc(last_year(0)))):
        asked["by"] = None
    for frame in (draw(0), draw(0).lazy()):
        with pytest.raises(PrcError, match=sentence):
            prc(frame).monitor(columns="all", **asked)


def test_bound_clusters_are_not_passed_over() -> None:
    with pytest.raises(PrcError, match="leave out cluster="):
        draw(0).prc(cluster="site").monitor("week", reference=0.5, threshold=1.0, columns="all")


def test_a_reference_without_a_group_raises() -> None:
    df, year = draw(2), last_year(2)
    with pytest.raises(PrcError, match="add rows of site 1 to the reference= table"):
        df.prc.monitor(
            "week",
            reference=prc(year.filter(site=0), by="site"),
            threshold=1.0,
            by="site",
            columns="all",
        )
    text = year.with_columns(pl.col("site").cast(pl.String))
    with pytest.raises(PrcError, match="'site' to one dtype: it is String in the reference= table"):
        df.prc.monitor("week", reference=prc(text, by="site"), threshold=1.0, by="site", columns="all")


def test_a_metric_may_be_a_value() -> None:
    df = draw(4)
    named = df.prc.monitor("week", reference=0.5, threshold=1.0, metrics="recall", columns="all")
    assert_frame_equal(
        df.prc.monitor("week", reference=0.5, threshold=1.0, metrics=metrics.recall, columns="all"),
        named,
    )


# Periods --------------------------------------------------------------------------------------

WEEKS = draw(5)


def watch(week: pl.Expr | pl.Series, **options: Any) -> pl.DataFrame:
    """Return the series of WEEKS with other periods."""
    rows = WEEKS.with_columns(week=week)
    return prc(rows).monitor("week", reference=0.5, threshold=1.0, **options)


@pytest.mark.parametrize("by", [None, "site"])
@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32, pl.Int64, pl.String, pl.Date])
@pytest.mark.parametrize("value", [None, math.nan])
def test_a_row_of_no_period_is_refused(value: float | None, dtype: Any, by: str | None) -> None:
    if value is not None and not dtype.is_float():
        return
    last_weeks = pl.col("week") > 6
    week = pl.when(last_weeks).then(pl.lit(value, dtype)).otherwise(pl.col("week").cast(dtype))
    n = WEEKS.filter(last_weeks).height
    with pytest.raises(
        PrcError, match=rf"holds null or NaN in {n} rows?; leave out rows that belong to no period"
    ):
        watch(week, by=by)
    with pytest.raises(PrcError, match="that belong to no period"):
        WEEKS.with_columns(week=week).prc.plot.monitor("week", reference=0.5, threshold=1.0)


OUT_OF_ORDER = {
    "numbers": (["1", "2", "10"], "'10' before '2'"),
    "words": (["week 9", "week 10"], "'week 10' before 'week 9'"),
    "weeks of years": (["2025-W52", "2026-W5", "2026-W11"], "'2026-W11' before '2026-W5'"),
    "decimals": (["0.5", "0.25"], "'0.25' before '0.5'"),
    "days": (["9/30/2026", "10/1/2026"], "'10/1/2026' before '9/30/2026'"),
}


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical])
@pytest.mark.parametrize(("periods", "words"), OUT_OF_ORDER.values(), ids=OUT_OF_ORDER)
def test_text_that_sorts_otherwise_than_it_reads_is_refused(
    periods: list[str], words: str, dtype: Any
) -> None:
    number = pl.col("week") % len(periods)
    week = number.replace_strict(dict(enumerate(periods)), return_dtype=pl.String)
    with pytest.raises(PrcError, match=re.escape(words)):
        watch(week.cast(dtype))
    columns = ["tp", "fn", "evidence", "alarm"]
    in_order = watch(week.cast(pl.Enum(periods)), columns="all")
    assert in_order["week"].to_list() == periods
    assert_frame_equal(in_order.select(columns), watch(number, columns="all").select(columns))


@pytest.mark.parametrize("periods", [["1", "2", "3"], ["01", "02", "10"], ["W05", "W11"], ["a", "b 2"]])
def test_text_that_sorts_as_it_reads_is_taken(periods: list[str]) -> None:
    week = (pl.col("week") % len(periods)).replace_strict(dict(enumerate(periods)))
    assert watch(week)["week"].to_list() == periods
