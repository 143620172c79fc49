"""Point metrics at a given threshold in a summary: each number is that of `operating_points`."""

from __future__ import annotations

import pickle
from typing import Any

import polars as pl
import pytest
from hypothesis import given

from polars_prcurve import PrcError, class_mix, eta_from_sample, field, intervals, metrics, prc, scorer
from polars_prcurve.core.metrics.metric_lookup import find_curve_metric
from polars_prcurve.core.metrics.point_metric import POINT_METRICS
from tests.support.all_metrics import ALL_POINT_METRICS
from tests.support.comparing import assert_same
from tests.support.profiles import examples
from tests.support.strategies import MODERATE, Table, etas, tables

DF = pl.DataFrame(
    {
        "score": [9, 8, 8, 7, 6, 6, 6, 5, 4, 4, 3, 2, 2, 1, 0],
        "label": [0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0],
        "id": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7],
        "w": [1, 2, 1, 3, 1, 1, 2, 1, 1, 5, 1, 1, 2, 1, 1],
    }
)
WIDE = DF.with_columns(part=pl.Series([*"ab"] * 7 + ["a"]), own=pl.Series([0, 1] * 7 + [1]))
POINTS = DF.prc.sweep()[[1, 3, 5]]
ABOVE_ALL, BELOW_ALL = 1000.0, -1000
THRESHOLDS = (5, 2.5, ABOVE_ALL, BELOW_ALL)
COLUMNS = ("value", "low", "high", "doubt")


def ask_points(table: Any, eta: Any, thresholds: Any, **words: Any) -> pl.DataFrame:
    """Return the operating points of all thresholds, with a row per metric."""
    points = prc(table).operating_points(
        eta, threshold=[*thresholds], metrics=METRICS, long=True, columns="all", **words
    )
    return points.lazy().collect()  # type: ignore[no-any-return]


def assert_equals_points(table: Any, eta: Any, thresholds: Any = THRESHOLDS, **words: Any) -> None:
    """Raise unless a summary has the numbers of operating points, in every digit, beside areas."""
    chosen = [metrics.at_threshold(metric, threshold) for threshold in thresholds for metric in METRICS]
    mixed = [chosen[0], "average_precision", *chosen[1:], "precision_at_recall(0.5)"]
    summary = prc(table).summary(eta, metrics=mixed, **words).lazy().collect()
    mixed_names = [metric if isinstance(metric, str) else metric.name for metric in mixed]
    assert summary["metric"].to_list() == mixed_names * (summary.height // len(mixed))
    points = ask_points(table, eta, thresholds, **words)
    columns = [name for name in COLUMNS if name in points.columns]
    for metric in chosen:
        at_target = metric.recipe.at_target
        assert at_target is not None
        found = summary.filter(metric=metric.name)
        expected = points.filter(metric=at_target.metric.name, target=float(at_target.value))
        assert_same(found.select(columns), expected.select(columns))
    areas = prc(table).summary(eta, metrics=[mixed[1], mixed[-1]], **words)
    names = [mixed[1], mixed[-1]]
    assert_same(summary.filter(pl.col("metric").is_in(names)), areas.lazy().collect())


METRICS = ["precision", "recall", "fpr", "f1", "npv", metrics.f_beta(2)]
DESIGNS: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "plain": (DF, {}),
    "groups": (WIDE, {"by": "part"}),
    "weights": (DF, {"weight": "w"}),
    "clusters": (DF, {"cluster": "id"}),
    "never scored": (DF, {"below": (2, 5)}),
    "counts": (DF.prc.counts(), {"counts": ("n_pos", "n_neg")}),
    "cells": (POINTS, {"cells": ("tp", "fp", "fn", "tn"), "score": "threshold"}),
    "two scores": (WIDE, {"score": ["score", "own"]}),
}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", DESIGNS)
def test_the_numbers_are_those_of_operating_points(name: str) -> None:
    table, words = DESIGNS[name]
    assert_equals_points(table, [0.01, 0.3, None], confidence=0.9, **words)
    confidence = {"confidence": 0.9} if "cluster" in words else {}
    assert_equals_points(table.lazy(), [0.01, None], **confidence, **words)


def test_strata_fields_and_estimated_prevalences_too() -> None:
    drawn = WIDE.with_columns(w=pl.when(pl.col("score") > 4).then(1.0).otherwise(3.0))
    drawn = drawn.with_columns(stratum=pl.col("w") > 2)
    assert_equals_points(drawn, 0.1, weight="w", stratum="stratum", confidence=0.9)
    assert_equals_points(DF, eta_from_sample(30, 1000), confidence=0.95)
    shares = pl.DataFrame({"part": ["a", "b"], "eta": [0.1, 0.2], "share": [0.75, 0.25]})
    scores = {"a": "score", "b": "own"}
    halves = WIDE.with_columns(half=pl.int_range(pl.len()) < 8)
    for words in ({}, {"confidence": 0.9}):
        assert_equals_points(WIDE, field(shares, parts="part"), **words)
        assert_equals_points(halves, field(shares, parts="part"), by="half", **words)
        mix = class_mix({"a": 0.3, "b": 0.7})
        assert_equals_points(WIDE, mix, (5, ABOVE_ALL), score=scores, label="part", **words)
    # A group may be called like what is computed on the way.
    found = [
        halves.rename({"half": name}).prc.summary(
            field(shares, parts="part"), by=name, metrics="precision_at_threshold(5)", confidence=0.9
        )
        for name in ("half", "tp")
    ]
    assert found[0].rename({"half": "tp"}).equals(found[1])


@examples(30)
@given(tables(weights=MODERATE), etas)
def test_so_it_is_of_any_table(table: Table, eta: Any) -> None:
    assert_equals_points(table.frame, eta, (0.5, 1), **table.package)
    assert_equals_points(table.frame, eta, (0.5, 1), confidence=0.8, **table.package)


def test_beside_replicates_the_interval_is_by_its_formula() -> None:
    drawn = intervals(0.9, method="bootstrap", resamples=50, seed=1)
    asked = ["precision_at_threshold(5)", "average_precision", "recall_at_threshold(2.5)", "best(f1)"]
    found = DF.prc.summary([0.01, 0.3], metrics=asked, confidence=drawn, columns="all")
    alone = DF.prc.summary([0.01, 0.3], metrics=asked[1::2], confidence=drawn, columns="all")
    assert_same(found.filter(pl.col("metric").is_in(asked[1::2])), alone)
    by_formula = DF.prc.summary([0.01, 0.3], metrics=asked[::2], confidence=0.9)
    assert_same(found.filter(pl.col("metric").is_in(asked[::2])).select(by_formula.columns), by_formula)
    only = DF.prc.summary([0.01, 0.3], metrics=asked[::2], confidence=drawn)
    assert_same(only, by_formula)


def test_thresholds_are_compared_exactly() -> None:
    for dtype, values, threshold in (
        (pl.Float32, [0.1, 0.7, 0.2], 0.7),  # the score is below, by half a digit
        (pl.Int64, [2**53, 2**53 + 1, 2**53 + 2], 2**53 + 1),
        (pl.UInt8, [0, 1, 2], 1 / 3),
    ):
        table = pl.DataFrame({"score": pl.Series(values, dtype=dtype), "label": [1, 1, 0]})
        metric = metrics.at_threshold("recall", threshold)
        exact = prc(table).operating_points(threshold=threshold, metrics=["recall"])["recall"]
        assert prc(table).summary(metrics=metric)["value"].to_list() == exact.to_list()


def test_models_are_compared_and_ranked_as_at_the_threshold() -> None:
    two = {"score": ["score", "w"]}
    asked: dict[str, Any] = {"eta": [0.01, 0.3], "confidence": 0.9, "columns": "all", **two}
    names = ["average_precision", "recall_at_threshold(3)", "precision_at_threshold(3)"]
    found = prc(DF).compare(metrics=names, **asked)
    assert found["metric"].to_list() == names * 2
    for name, metric in zip(names[1:], ("recall", "precision"), strict=True):
        at_threshold = prc(DF).compare(metrics=metric, threshold=3, **asked)
        assert_same(found.filter(metric=name).drop("metric"), at_threshold.drop("metric"))
        ranking = prc(DF).ranking(metric=name, **asked)
        assert_same(ranking, prc(DF).ranking(metric=metric, threshold=3, **asked))
        bare = prc(DF).ranking([0.01, 0.3], metric=name, **two)
        assert_same(bare, prc(DF).ranking([0.01, 0.3], metric=metric, threshold=3, **two))
    means = WIDE.prc.summary(0.1, metrics="precision_at_threshold(3)", mean_over="part")
    groups = WIDE.prc.operating_points(0.1, threshold=3, metrics="precision", by="part")
    assert means["value"].item() == groups["precision"].mean()


@pytest.mark.parametrize("metric", ALL_POINT_METRICS, ids=str)
def test_a_name_is_read_as_the_metric(metric: metrics.PointMetric) -> None:
    at_threshold = metrics.at_threshold(metric, 0.25)
    equal_metrics = [find_curve_metric(at_threshold.name)]
    if metric.name in POINT_METRICS:
        equal_metrics.append(getattr(metrics, f"{metric.name}_at_threshold")(0.25))
    for equal in equal_metrics:
        assert (equal.name, equal.recipe.at_target) == (at_threshold.name, at_threshold.recipe.at_target)
    assert pickle.loads(pickle.dumps(at_threshold)) == at_threshold
    assert (at_threshold.range, at_threshold.direction) == (metric.range, metric.direction)


REFUSED = {
    "nope_at_threshold(1)": "no metric is named 'nope'",
    "sensitivity_at_threshold(1)": "did you mean 'recall'",
    "precision_at_threshold": "takes parameters, such as .at_threshold",
    "precision_at_threshold(1, 2)": r"expected at_threshold\(metric, threshold\)",
    "precision_at_threshold('a')": "takes a finite number",
    "precision_at_threshold(True)": "takes a finite number",
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_names_are_refused(name: str) -> None:
    with pytest.raises(PrcError, match=REFUSED[name]):
        DF.prc.summary(metrics=name)


def test_where_a_threshold_has_no_scores_the_error_says_what_to_pass() -> None:
    name = "recall_at_threshold(5)"
    metric = metrics.at_threshold("recall", 5)
    with pytest.raises(PrcError, match="rates= has no thresholds"):
        POINTS.prc.summary(0.1, metrics=name, rates=("recall", "fpr"))
    with pytest.raises(PrcError, match="coarse=True has limits of"):
        DF.prc.summary(0.1, metrics=name, coarse=True)
    with pytest.raises(PrcError, match="smooth="):
        DF.prc.summary(0.1, metrics=name, smooth="binormal")
    with pytest.raises(PrcError, match="leave out weight="):
        DF.prc.summary(0.1, metrics=name, cluster="id", weight="w", confidence=0.9)
    with pytest.raises(PrcError, match='leave out method="bootstrap"'):
        DF.prc.compare(
            0.1, metrics=name, score=["score", "w"], confidence=intervals(0.9, method="bootstrap")
        )
    refused = [
        lambda: metric([0.5, 1], [0.5, 1], 0.1),
        lambda: scorer(metric, 0.1).score(DF["label"], DF["score"]),
        lambda: DF.select(pl.col("score").prc.summary(metric, "label", 0.1)),
        lambda: DF.prc.crossings(score=["score", "w"], metric="precision_at_threshold(5)"),
        lambda: DF.prc.summary(metrics=metrics.integrated("precision_at_threshold(5)", 0.1, 0.2)),
    ]
    for call in refused:
        with pytest.raises(PrcError, match="it needs scores"):
            call()


def test_negatives_that_are_not_counted_matter_as_to_the_point_metric() -> None:
    table = DF.filter(pl.col("score") > 3)
    found = table.prc.summary(metrics="recall_at_threshold(5)", below=(2, None))["value"]
    points = table.prc.operating_points(threshold=5, metrics="recall", below=(2, None))
    assert found.to_list() == points["recall"].to_list()
    with pytest.raises(PrcError, match="needs their number"):
        table.prc.summary(None, metrics="fpr_at_threshold(5)", below=(2, None))
