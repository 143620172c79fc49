"""Tables of others: cumulative counts and rates of known sizes give what the scores behind them give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars import selectors
from polars.testing import assert_frame_equal
from sklearn import metrics as sklearn_metrics

from polars_prcurve import PrcError, intervals, metrics, prc
from tests.support.all_metrics import ALL_CURVE_METRICS
from tests.support.profiles import examples
from tests.support.strategies import Table, tables

CELLS = ("tp", "fp", "fn", "tn")
RATES = ("recall", "fpr")
OWN: dict[str, Any] = {"cells": CELLS, "score": "threshold"}
ETAS = [None, 0.01, 0.6]
N = 900
rng = np.random.default_rng(12)
LABEL = rng.random(N) < 0.2
DF = pl.DataFrame(
    {
        "g": rng.choice(["a", "b"], N),
        "score": (rng.normal(size=N) + 1.5 * LABEL).round(1),
        "label": LABEL,
    }
)
CUMULATIVE = DF.prc.sweep(by="g")

QUERIES: dict[str, Callable[..., Any]] = {
    "sweep": lambda p, **k: p.sweep(by="g", **k),
    "reduced": lambda p, **k: p.sweep(by="g", thresholds="corners", **k),
    "steps": lambda p, **k: p.sweep(by="g", thresholds=7, **k),
    "curve": lambda p, **k: p.curve(ETAS, by="g", metrics=["precision", "mcc"], **k),
    "band": lambda p, **k: p.curve(ETAS, by="g", metrics=["precision", "npv"], confidence=0.9, **k),
    "long": lambda p, **k: p.curve(
        0.1, by="g", confidence=intervals(0.9, method="rectangle"), long=True, **k
    ),
    "points": lambda p, **k: p.operating_points(
        ETAS,
        by="g",
        threshold=[0.5, 1.7],
        recall=0.8,
        fpr=0.1,
        precision=0.3,
        maximize="f1",
        columns="all",
        **k,
    ),
    "sure points": lambda p, **k: p.operating_points(
        ETAS,
        by="g",
        threshold=[0.5, 1.7],
        confidence=intervals(0.9, rate="clopper_pearson"),
        columns="all",
        **k,
    ),
    "points sure at once": lambda p, **k: p.operating_points(
        0.1,
        by="g",
        recall=0.8,
        alerts=5,
        per=100,
        confidence=intervals(0.9, simultaneous=True),
        columns="all",
        **k,
    ),
    "summary": lambda p, **k: p.summary(ETAS, by="g", metrics=ALL_CURVE_METRICS, columns="all", **k),
    "sure summary": lambda p, **k: p.summary(
        ETAS, by="g", metrics=["average_precision", "roc_auc"], confidence=0.95, columns="all", **k
    ),
    "ranking": lambda p, **k: p.ranking(
        ETAS[1:], model="g", metric="average_precision", columns="all", **k
    ),
    "crossings": lambda p, **k: p.crossings(model="g", metric="pr_auc", **k),
    "leaders": lambda p, **k: p.crossings(model="g", metric="pr_auc", **k, leaders=True),
    "dominance": lambda p, **k: p.crossings(model="g", **k, of="roc", leaders=True),
    "roc_crossings": lambda p, **k: p.crossings(of="roc", model="g", **k),
    "sample_size": lambda p, **k: p.sample_size(recall=[0.5, 0.8], threshold=0.5, by="g", **k),
    "resolution": lambda p, **k: p.sample_size(recall=[0.5, 0.8], by="g", **k, solve_for="eta"),
}


AT_TARGETS: dict[str, Callable[..., Any]] = {
    name: lambda p, at=confidence, **k: p.operating_points(
        ETAS, by="g", recall=0.8, alerts=5, per=100, confidence=at, columns="all", **k
    )
    for name, confidence in (
        ("points at targets", 0.9),
        ("exact points at targets", intervals(0.9, rate="clopper_pearson")),
    )
}
"""Where scores are known, intervals at targets are of the model; of points they are of the point."""


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("name", QUERIES)
def test_every_threshold_listed_is_as_good_as_the_scores(name: str) -> None:
    """Where a cumulative table lists all scores, in any order, it holds what the scores hold."""
    shuffled = CUMULATIVE.sample(fraction=1, shuffle=True, seed=3)
    expected = QUERIES[name](DF.prc)
    assert_frame_equal(QUERIES[name](shuffled.prc, **OWN), expected, rel_tol=1e-11, abs_tol=1e-13)


@examples(150)
@given(tables(keys=["none", "String"], weights=[""], labels=False), st.sampled_from(ETAS))
def test_cells_of_any_table(table: Table, eta: float | None) -> None:
    sweep = prc(table.frame).sweep(**table.package)
    asked: dict[str, Any] = {"metrics": ["precision", "npv", "f1", "mcc"]}
    expected = prc(table.frame).curve(eta, **asked, **table.package)
    found = prc(sweep).curve(eta, by=table.by or None, **asked, **OWN)
    assert_frame_equal(found, expected, check_exact=True)
    one = {"metrics": ["average_precision", "pr_auc", "roc_auc", "auprg"]}
    expected = prc(table.frame).summary(eta, columns="all", **one, **table.package)
    found = prc(sweep).summary(eta, by=table.by or None, columns="all", **one, **OWN)
    assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-14)


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize(
    "name", sorted({*QUERIES, *AT_TARGETS} - {"sure summary", "summary", "ranking", "crossings"})
)
def test_rates_of_known_sizes_are_cells(name: str) -> None:
    """Thresholds are not known there, and counts are products."""
    by_group = CUMULATIVE.with_columns(
        n_pos=pl.col("tp") + pl.col("fn"), n_neg=pl.col("fp") + pl.col("tn")
    )
    ask = {**QUERIES, **AT_TARGETS}[name]
    if name in ("points", "sure points", "sample_size"):
        with pytest.raises(PrcError, match=r"rates= has no thresholds, so threshold= finds none"):
            ask(by_group.prc, rates=RATES, sizes=("n_pos", "n_neg"))
        return
    found = ask(by_group.prc, rates=RATES, sizes=("n_pos", "n_neg"))
    expected = ask(CUMULATIVE.prc, **OWN)
    if "threshold" in found:
        assert found["threshold"].null_count() == found.height
    same = [column for column in expected.columns if column != "threshold"]
    counts = selectors.integer().cast(pl.Float64)
    found, expected = (frame.select(same).with_columns(counts) for frame in (found, expected))
    assert_frame_equal(found, expected, rel_tol=1e-9, abs_tol=1e-12)


def test_sizes_may_be_two_numbers() -> None:
    points = pl.DataFrame({"tpr": [0.6, 0.9], "fpr": [0.01, 0.2]})
    found = points.prc.curve([None, 0.01], rates=("tpr", "fpr"), sizes=(50, 1_000), confidence=0.95)
    assert found["eta"].to_list() == pytest.approx([0.01, 0.01, 50 / 1_050, 50 / 1_050])
    assert found["tp"].to_list() == pytest.approx([30, 45, 30, 45])
    assert found["tp"].dtype == pl.Float64
    columns = points.with_columns(p=50, n=1_000)
    assert_frame_equal(
        found, columns.prc.curve([None, 0.01], rates=("tpr", "fpr"), sizes=("p", "n"), confidence=0.95)
    )


PAPERS = pl.DataFrame(
    {
        "paper": ["A", "A", "B", "B", "C"],
        "tpr": [0.35, 0.8, 0.45, 0.85, 0.9],
        "fpr": [0.0005, 0.06, 0.002, 0.05, 0.01],
        "ill": [120, 120, None, None, 100],
        "well": [6_000, 6_000, None, None, 4_000],
    }
)
BETA, AT_ONCE_90 = intervals(0.9, rate="clopper_pearson"), intervals(0.9, simultaneous=True)
PUBLISHED: dict[str, Any] = {"rates": ("tpr", "fpr"), "sizes": ("ill", "well")}


def split_unknown(table: pl.DataFrame, key: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows of papers of known sizes, and those of the paper without."""
    return table.filter(pl.col(key) != "B"), table.filter(pl.col(key) == "B")


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("name", "missing"),
    [
        *(("curve", "drop"), ("beta", "raise"), ("simultaneous", "drop")),
        *(("points", "raise"), ("summary", "drop"), ("resolution", "raise")),
    ],
)
def test_a_paper_of_unknown_sizes_has_values_and_no_intervals(name: str, missing: str) -> None:
    """The others are as without it, and its values are those of rates alone."""
    calls: dict[str, Callable[..., pl.DataFrame]] = {
        "curve": lambda p, **k: p.curve(0.01, by="paper", metrics=["precision", "fpr", "npv"], **k),
        "beta": lambda p, **k: p.curve(0.01, by="paper", **k | {"confidence": BETA}),
        "simultaneous": lambda p, **k: p.curve(0.01, by="paper", **k | {"confidence": AT_ONCE_90}),
        "points": lambda p, **k: p.operating_points(
            0.01, by="paper", recall=0.8, per=100, columns="all", **k
        ),
        "summary": lambda p, **k: p.summary(
            0.01, by="paper", metrics=ALL_CURVE_METRICS, columns="all", **k
        ),
        "resolution": lambda p, **k: p.sample_size(by="paper", recall=0.8, **k, solve_for="eta"),
    }
    how: dict[str, Any] = {"confidence": 0.9, "missing": missing, **PUBLISHED}
    known, unknown = split_unknown(calls[name](PAPERS.prc, **how), "paper")
    expected = calls[name](PAPERS.drop_nulls().prc, **how)
    assert_frame_equal(known, expected, rel_tol=1e-12)
    ends = unknown.select(selectors.ends_with("low", "high", "standard_error"))
    assert ends.null_count().row(0) == (unknown.height,) * ends.width
    assert name == "resolution" or ends.width
    if name == "resolution":
        assert unknown["eta"].to_list() == [None]
    if name in ("beta", "simultaneous", "resolution"):
        return
    plain = {"confidence": None, "rates": ("tpr", "fpr")}
    alone = calls[name](PAPERS.filter(paper="B").prc, **plain)
    counts = {"tp", "fp", "fn", "tn", "n_pos", "n_neg"}
    values = [column for column in alone.columns if column not in counts]
    assert_frame_equal(unknown.select(values), alone.select(values))
    assert all(unknown[column].is_null().all() for column in counts & set(unknown.columns))


def test_no_paper_leaves_a_ranking_because_its_sizes_are_unknown() -> None:
    for missing in ("raise", "drop"):
        how: dict[str, Any] = {"model": "paper", "missing": missing}
        for call in (
            lambda p, **k: p.ranking(0.001, columns="all", **k),
            lambda p, **k: p.crossings(**k, leaders=True),
            lambda p, **k: p.crossings(metric="precision", recall=0.5, **k, leaders=True),
            lambda p, **k: p.crossings(**k),
            lambda p, **k: p.crossings(**k, of="roc", leaders=True),
            lambda p, **k: p.crossings(of="roc", **k),
        ):
            assert_frame_equal(
                call(PAPERS.prc, **how, **PUBLISHED), call(PAPERS.prc, rates=("tpr", "fpr"), **how)
            )


def test_one_class_of_unknown_size() -> None:
    """What reads the known class alone has an interval. NaN, as pandas has it, is unknown, too."""
    half = PAPERS.with_columns(ill=100, well=pl.col("well").cast(pl.Float64).fill_null(float("nan")))
    asked: dict[str, Any] = {"metrics": ["recall", "fpr", "precision"], "confidence": 0.9}
    _, found = split_unknown(half.prc.curve(0.01, by="paper", **asked, **PUBLISHED), "paper")
    assert found["tp"].to_list() == pytest.approx([45, 85])
    assert found["recall_low"].is_not_null().all()
    assert (
        found.select("fp", "tn", "fpr_low", "precision_low", "precision_high").null_count().row(0)
        == (2,) * 5
    )
    perfect = pl.DataFrame({"tpr": [1.0], "fpr": [0.0], "ill": [50], "well": [None]})
    summary = perfect.prc.summary(0.01, metrics=["roc_auc"], confidence=0.9, columns="all", **PUBLISHED)
    assert summary.select("value", "low", "high").row(0) == (1.0, None, None)
    no_positives = PAPERS.with_columns(pl.col("ill").fill_null(0))
    _, found = split_unknown(
        no_positives.prc.summary(0.1, by="paper", columns="all", **PUBLISHED), "paper"
    )
    assert found["value"].to_list() == [None, None]
    assert found["n_pos"].to_list() == [0, 0]


def test_papers_of_unknown_sizes_have_no_prevalence_of_their_own() -> None:
    etas = pl.DataFrame({"paper": ["A", "B", "C"], "eta": [None, 0.1, None]})
    found = PAPERS.prc.curve(etas, by="paper", **PUBLISHED).unique("paper", maintain_order=True)
    assert found["eta"].to_list() == pytest.approx([120 / 6_120, 0.1, 100 / 4_100])
    words = r"sizes= are null in 1 group, so that no prevalence is known there"
    for call in (
        lambda p: p.curve(by="paper", **PUBLISHED),
        lambda p: p.summary([0.1, None], by="paper", columns="all", **PUBLISHED),
        lambda p: p.operating_points(by="paper", recall=0.5, columns="all", **PUBLISHED),
        lambda p: p.summary(etas.with_columns(eta=None), by="paper", columns="all", **PUBLISHED),
    ):
        with pytest.raises(PrcError, match=words):
            call(PAPERS.prc)


# One table of a paper -------------------------------------------------------------------------


def test_a_table_of_two_by_two() -> None:
    """Worked by hand: of 100 ill 90 are found, and 40 of 1,000 others are flagged."""
    paper = pl.DataFrame({"tp": [90], "fp": [40], "fn": [10], "tn": [960]})
    found = paper.prc.curve([None, 0.01], cells=CELLS, confidence=0.95).to_dicts()
    assert [row["threshold"] for row in found] == [None, None]
    assert found[1]["precision"] == 90 / 130
    assert found[0]["precision"] == pytest.approx(0.009 / (0.009 + 0.0396), rel=1e-15)
    scores = pl.DataFrame({"score": [1, 0], "n_pos": [90, 10], "n_neg": [40, 960]})
    same = scores.prc.curve([None, 0.01], counts=("n_pos", "n_neg"), confidence=0.95)
    for row, other in zip(found, same.filter(threshold=1).to_dicts(), strict=True):
        assert all(row[name] == value for name, value in other.items() if name != "threshold")
    assert paper.prc.sample_size(recall=0.5, cells=CELLS)["n_pos"].item() == 100


TWO_BY_TWO = pl.DataFrame(
    {"m": ["net", "reader"], "tp": [170, 90], "fp": [150, 40], "fn": [30, 10], "tn": [4850, 960]}
)


@pytest.mark.parametrize("asked", [{"eta": 0.01}, {"eta": [0.1, 0.5], "worst": True}], ids=str)
def test_tables_of_two_by_two_are_compared_as_their_counts_are(asked: dict[str, Any]) -> None:
    """One point for each model: a score of 1 or 0, and the threshold 1."""
    how: dict[str, Any] = {"model": "m", "paired": False, "metrics": ["precision", "recall", "fpr"]}
    how |= asked
    rows = [("m", 1, "tp", "fp"), ("m", 0, "fn", "tn")]
    counts = pl.concat(
        TWO_BY_TWO.select(m, score=pl.lit(score), n_pos=pos, n_neg=neg) for m, score, pos, neg in rows
    )
    expected = counts.prc.compare(threshold=1, counts=("n_pos", "n_neg"), columns="all", **how)
    assert_frame_equal(TWO_BY_TWO.prc.compare(cells=CELLS, columns="all", **how), expected)
    n_pos, n_neg = pl.col("tp") + pl.col("fn"), pl.col("fp") + pl.col("tn")
    rates = TWO_BY_TWO.select("m", n_pos, n_neg, tpr=pl.col("tp") / n_pos, fpr=pl.col("fp") / n_neg)
    rates = rates.rename({"tp": "P", "fp": "N"})
    found = rates.prc.compare(rates=("tpr", "fpr"), sizes=("P", "N"), columns="all", **how)
    assert_frame_equal(found, expected)
    both = pl.concat([TWO_BY_TWO.with_columns(t=1), TWO_BY_TWO.with_columns(t=0, tp="fn", fn="tp")])
    listed = both.filter((pl.col("t") == 1) | (pl.col("m") == "reader"))
    listed = listed.with_columns(
        pl.when(t=1).then(c).otherwise(pl.lit(total)).alias(c)
        for c, total in (("tp", 100), ("fn", 0), ("fp", 1000), ("tn", 0))
    )
    assert_frame_equal(
        listed.prc.compare(threshold=1, cells=CELLS, score="t", columns="all", **how), expected
    )


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"recall": 0.5}, r"^keep one row per model.* that meet recall= may be far apart"),
        ({"metrics": "roc_auc"}, "'roc_auc' has one value for a whole curve"),
        ({"paired": True, "id": "tp"}, "pass paired=False with model=: cells= cannot show"),
        ({"cells": None, "rates": ("tpr", "fpr")}, "intervals of differences need counts, and rates="),
    ],
)
def test_points_that_are_not_compared(asked: dict[str, Any], words: str) -> None:
    table = TWO_BY_TWO.with_columns(tpr=0.5, fpr=0.1)
    how: dict[str, Any] = {"eta": 0.1, "model": "m", "paired": False, "cells": CELLS}
    with pytest.raises(PrcError, match=words):
        table.prc.compare(columns="all", **how | asked)


def test_a_model_of_several_points_is_compared_at_none() -> None:
    several = pl.concat([TWO_BY_TWO, TWO_BY_TWO[:1]])
    how: dict[str, Any] = {"eta": 0.1, "model": "m", "paired": False, "cells": CELLS}
    words = r"one point needs no target; there are several in 1 group, such as m = \w+; keep one"
    with pytest.raises(PrcError, match=words):
        several.prc.compare(columns="all", **how)
    with pytest.raises(pl.exceptions.InvalidOperationError, match=words):
        several.lazy().prc.compare(columns="all", **how).collect()


def test_points_at_the_ends_stay_rows() -> None:
    table = pl.DataFrame(
        {"tp": [0, 3, 3, 4], "fp": [0, 1, 1, 5], "fn": [4, 1, 1, 0], "tn": [5, 4, 4, 0]}
    )
    found = table.prc.curve(cells=CELLS)
    assert found["tp"].to_list() == [0, 3, 3, 4]
    assert found["precision"].to_list() == [None, 0.75, 0.75, 4 / 9]


def test_a_class_without_examples_is_null() -> None:
    table = pl.DataFrame({"g": ["p", "n"], "tp": [2, 0], "fp": [0, 1], "fn": [1, 0], "tn": [0, 2]})
    found = table.prc.sweep(by="g", cells=CELLS)
    assert found.select("g", "recall", "fpr").rows() == [("n", None, 1 / 3), ("p", 2 / 3, None)]
    summary = table.prc.summary(0.1, by="g", cells=CELLS, confidence=0.9, columns="all")
    assert summary["value"].to_list() == [None, None]
    assert table.head(0).prc.summary(0.1, by="g", cells=CELLS, columns="all").height == 0


def test_a_model_without_a_class_has_no_curve() -> None:
    table = pl.DataFrame(
        {"m": ["a", "b", "c"], "tp": [2, 3, 2], "fp": [1, 2, 0], "fn": [2, 1, 2], "tn": [4, 3, 0]}
    )
    found = table.prc.crossings(model="m", cells=CELLS, of="roc", leaders=True)
    same = table.filter(pl.col("m") != "c").prc.crossings(model="m", cells=CELLS, of="roc", leaders=True)
    assert found.filter(pl.col("model") != "c").rows() == same.rows()
    assert found.filter(model="c")["on_hull"].item() is None


def test_only_listed_thresholds_are_known() -> None:
    found = CUMULATIVE.prc.operating_points(0.1, by="g", threshold=[0.5, 0.55, 99], columns="all", **OWN)
    known = found.filter(pl.col("threshold").is_not_null())
    assert known["target"].unique().to_list() == [0.5]
    unknown = found.filter(pl.col("threshold").is_null())
    assert unknown.height == 4
    assert unknown.select("tp", "recall", "precision").null_count().row(0) == (4, 4, 4)


def test_whole_floats_are_counts() -> None:
    floats = CUMULATIVE.with_columns(pl.col(*CELLS).cast(pl.Float64))
    assert_frame_equal(floats.prc.sweep(by="g", **OWN), CUMULATIVE.prc.sweep(by="g", **OWN))


def test_the_default_metric_is_that_of_points() -> None:
    found = CUMULATIVE.prc.summary(0.1, by="g", columns="all", **OWN)
    assert found["metric"].unique().sort().to_list() == ["pr_auc", "roc_auc"]
    ranked = CUMULATIVE.prc.ranking(0.1, model="g", columns="all", **OWN)
    assert_frame_equal(
        ranked, CUMULATIVE.prc.ranking(0.1, model="g", metric="pr_auc", columns="all", **OWN)
    )


# What is refused ------------------------------------------------------------------------------


BOOTSTRAP = intervals(0.9, method="bootstrap")
AT_ONCE: dict[str, tuple[Callable[[Any], Any], str]] = {
    "three cells": (lambda p: p.sweep(cells=("tp", "fp", "fn")), "cells= takes four columns"),
    "text": (lambda p: p.sweep(cells="tp"), "cells= takes four columns"),
    "no column": (
        lambda p: p.sweep(cells=("tp", "fp", "fn", "tm")),
        "there is no column 'tm' for cells=",
    ),
    "a word": (lambda p: p.sweep(cells=("g", "fp", "fn", "tn")), "is String; expected whole numbers"),
    "weight": (
        lambda p: p.sweep(cells=CELLS, weight="tp"),
        "pass only one of weight= and cells=: both define the examples",
    ),
    "rates": (
        lambda p: p.sweep(cells=CELLS, rates=RATES),
        "pass only one of rates= and cells=: both define the examples",
    ),
    "sizes": (lambda p: p.sweep(cells=CELLS, sizes=(1, 2)), "pass only one of sizes= and cells="),
    "sizes alone": (lambda p: p.sweep(sizes=(1, 2)), "pass rates= as well"),
    "one size": (lambda p: p.sweep(rates=RATES, sizes=(1,)), "sizes= takes two"),
    "size below 0": (
        lambda p: p.sweep(rates=RATES, sizes=(1, -2)),
        "whole number of at least 0; got -2",
    ),
    "score": (lambda p: p.sweep(cells=CELLS, score="treshold"), "did you mean 'threshold'"),
    "no score": (
        lambda p: p.operating_points(0.1, cells=CELLS, threshold=0.5, columns="all"),
        "^pass score=.*the table of cells= has no thresholds",
    ),
    "thresholds": (lambda p: p.sweep(**OWN, thresholds=[0.5]), "cells= has no thresholds to look up"),
    "frame": (
        lambda p: p.operating_points(
            0.1, columns="all", **OWN, threshold=pl.DataFrame({"threshold": [0.5]})
        ),
        "pass threshold= as numbers",
    ),
    "bootstrap": (
        lambda p: p.summary(0.1, columns="all", **OWN, confidence=BOOTSTRAP),
        'method="bootstrap" draws examples',
    ),
    "optimism": (
        lambda p: p.operating_points(0.1, columns="all", **OWN, maximize="f1", confidence=BOOTSTRAP),
        'method="bootstrap" draws examples',
    ),
    "smooth": (lambda p: p.curve(0.1, **OWN, smooth="binormal"), "leave out smooth="),
    "sure ranking": (
        lambda p: p.ranking(0.1, model="g", columns="all", **OWN, confidence=0.9),
        r"compare\(paired=False.*coarse=True.*confidence= needs examples, and cells= holds points",
    ),
    "no sizes": (lambda p: p.curve(0.1, rates=RATES, confidence=0.9), "pass sizes=\\("),
}
LATE: dict[str, tuple[pl.DataFrame, dict[str, Any], str]] = {
    "two test sets": (CUMULATIVE, {"cells": CELLS}, r"cells= differ between the rows of 1 group"),
    "wrong column": (
        CUMULATIVE,
        {"by": "g", "cells": ("tp", "fp", pl.col("tp"), "tn")},
        r"cells= differ between the rows of 2 groups; a curve belongs to one test set",
    ),
    "sizes": (
        CUMULATIVE,
        {"by": "g", "rates": RATES, "sizes": ("tp", "fp")},
        r"sizes= differ between the rows of 2 groups",
    ),
    "sizes in some rows": (
        PAPERS.with_columns(ill=pl.when(pl.col("tpr") > 0.4).then("ill")),
        {"by": "paper", **PUBLISHED},
        r"sizes= differ between the rows of 1 group.* is null in all rows of a group",
    ),
    "shares": (CUMULATIVE, {"cells": (*RATES, "fn", "tn")}, "is no whole number below"),
    "negative": (
        CUMULATIVE.with_columns(pl.col("tp") - 5),
        {"cells": CELLS},
        "cells column 'tp' is negative, infinite or NaN",
    ),
    "null": (
        CUMULATIVE.with_columns(pl.when(pl.col("tp") > 5).then("tp")),
        {"cells": CELLS},
        "cells column 'tp' is null",
    ),
    "falling": (
        pl.DataFrame({"tp": [3, 2], "fp": [1, 2], "fn": [0, 1], "tn": [1, 0]}),
        {"cells": CELLS},
        r"cells= holds 1 row at which tp falls while fp rises",
    ),
}


@pytest.mark.parametrize("case", AT_ONCE)
def test_what_fails_at_the_call(case: str) -> None:
    call, words = AT_ONCE[case]
    for frame in (CUMULATIVE, CUMULATIVE.lazy()):
        with pytest.raises(PrcError, match=words):
            call(prc(frame))


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("case", LATE)
def test_what_fails_when_the_query_runs(case: str) -> None:
    table, how, words = LATE[case]
    for call in (lambda p: p.curve(0.1, **how), lambda p: p.summary(0.1, columns="all", **how)):
        with pytest.raises(PrcError, match=words):
            call(prc(table))
        with pytest.raises(pl.exceptions.InvalidOperationError, match=words):
            call(prc(table.lazy())).collect()


def test_intervals_of_areas_are_those_of_scores_in_classes() -> None:
    """What lies between two thresholds counts as tied, so the coverage is that of coarse scores."""
    few = DF.prc.sweep(by="g", thresholds=[2.0, 1.1, 0.4, -0.3, -4.0])
    steps = pl.DataFrame({"score": [-9.0, -4.0, -0.3, 0.4, 1.1, 2.0]}).with_columns(step="score")
    coarse = DF.sort("score").join_asof(steps, on="score", strategy="backward")
    asked: dict[str, Any] = {
        "by": "g",
        "metrics": ["average_precision", "roc_auc", "pr_auc"],
        "confidence": 0.95,
    }
    expected = coarse.prc.summary(ETAS, score="step", columns="all", **asked)
    assert expected["standard_error"].is_not_null().any()
    found = few.prc.summary(ETAS, columns="all", **asked, **OWN)
    assert_frame_equal(found.drop("doubt"), expected.drop("doubt"), rel_tol=1e-11, abs_tol=1e-13)
    # What lies between the points may be anything, and scores in classes are what they are.
    assert (found["doubt"].is_null() <= expected["doubt"].is_null()).all()


# The tables of others -------------------------------------------------------------------------


def test_the_table_of_scikit_learn() -> None:
    if not hasattr(sklearn_metrics, "confusion_matrix_at_thresholds"):
        pytest.skip("scikit-learn has this function from 1.8 on")
    count_at_thresholds = sklearn_metrics.confusion_matrix_at_thresholds
    tn, fp, fn, tp, thresholds = count_at_thresholds(LABEL, DF["score"].to_numpy())
    table = pl.DataFrame({"tp": tp, "fp": fp, "fn": fn, "tn": tn, "threshold": thresholds})
    assert_frame_equal(
        table.prc.curve(ETAS, confidence=0.95, **OWN), DF.prc.curve(ETAS, confidence=0.95)
    )


def test_points_that_a_tool_leaves_out_cost_area_alone() -> None:
    few = DF.prc.sweep(thresholds=5)
    asked = ["average_precision", "roc_auc", metrics.pr_auc_hull]
    found = few.prc.summary(0.01, metrics=asked, columns="all", **OWN)["value"]
    assert (found <= DF.prc.summary(0.01, metrics=asked, columns="all")["value"] + 1e-12).all()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"cells": ("tn", "fp", "fn", "tp")}, "in this order to cells=; got 'tn' in the place of tp"),
        ({"cells": ("TP", "FN", "FP", "TN")}, "in this order to cells=; got 'FN' in the place of fp"),
        ({"rates": ("fpr", "recall")}, "in this order to rates=; got 'fpr' in the place of recall"),
    ],
)
def test_columns_in_another_order_than_their_names_are_refused(words: dict[str, Any], says: str) -> None:
    """`confusion_matrix` of scikit-learn has tn first."""
    names = ("tp", "fp", "fn", "tn", "TP", "FP", "FN", "TN", "recall", "fpr")
    frame = pl.DataFrame({name: [1] for name in names})
    with pytest.raises(PrcError, match=says):
        frame.prc(**words).operating_points(0.1)
