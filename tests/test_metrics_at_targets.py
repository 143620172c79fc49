"""Curve metrics at a target: their value is that of the row which `operating_points` finds for it."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given

from polars_prcurve import PrcError, metrics, prc, roc_points, scorer
from polars_prcurve.core.metrics.metric_base import DECLARED_BY_NAME
from polars_prcurve.metrics import CurveMetric
from tests.support.comparing import assert_same
from tests.support.profiles import examples
from tests.support.strategies import MODERATE, Table, etas, tables

AT_TARGETS = [
    *(metrics.precision_at_recall(recall) for recall in (0.2, 0.5, 1)),
    *(metrics.recall_at_precision(precision) for precision in (0, 0.4, 0.9)),
    *(make(fpr) for make in (metrics.recall_at_fpr, metrics.precision_at_fpr) for fpr in (0, 0.3, 1)),
    *(
        make(alerts, 100)
        for make in (metrics.recall_at_alerts, metrics.precision_at_alerts)
        for alerts in (0, 20, 100)
    ),
]
every_metric = pytest.mark.parametrize("metric", AT_TARGETS, ids=str)


def ask_points(table: Any, metric: CurveMetric, eta: Any, **words: Any) -> pl.DataFrame:
    """Return the operating points of the target of a metric, with its value as `value`."""
    at_target = metric.recipe.at_target
    assert at_target is not None
    target = {at_target.word: at_target.value}
    target |= {"per": at_target.per} if at_target.word == "alerts" else {}
    points = prc(table).operating_points(eta, metrics=at_target.metric, columns="all", **target, **words)
    return points.rename({at_target.metric.name: "value"})


def assert_value_of_row(table: Any, metric: CurveMetric, eta: Any, **words: Any) -> None:
    """Raise unless a metric has the value of the row, to the last bit; it has none without positives."""
    summary = prc(table).summary(eta, metrics=metric, columns="all", **words)
    points = ask_points(table, metric, eta, **words)
    has_positives = pl.Series([n is None or n > 0 for n in summary["n_pos"]], dtype=pl.Boolean)
    columns = [name for name in summary.columns if name in points.columns]
    assert_same(
        summary.select(columns).filter(has_positives), points.select(columns).filter(has_positives)
    )
    assert summary.filter(~has_positives)["value"].null_count() == (~has_positives).sum()


def test_every_metric_at_a_target_is_tried_here() -> None:
    made = {name for name in DECLARED_BY_NAME if "_at_" in name and name not in ("precision_at",)}
    assert made == {metric.name.partition("(")[0] for metric in AT_TARGETS}


@examples(60)
@given(tables(weights=MODERATE), etas)
def test_the_value_is_that_of_the_row_found(table: Table, eta: Any) -> None:
    for metric in AT_TARGETS:
        assert_value_of_row(table.frame, metric, eta, **table.package)


DF = pl.DataFrame(
    {
        "score": [9, 8, 8, 7, 6, 6, 6, 5, 4, 4, 3, 2, 2, 1, 0],
        "label": [0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0],
        "id": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7],
        "w": [1, 2, 1, 3, 1, 1, 2, 1, 1, 5, 1, 1, 2, 1, 1],
    }
)
POINTS = DF.prc.sweep()[[1, 3, 5]]
DESIGNS: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "plain": (DF, {}),
    "weights": (DF, {"weight": "w"}),
    "never scored": (DF, {"below": (2, 5)}),
    "counts": (DF.prc.counts(), {"counts": ("n_pos", "n_neg")}),
    "rates": (POINTS, {"rates": ("recall", "fpr")}),
    "cells": (POINTS, {"cells": ("tp", "fp", "fn", "tn")}),
}


@pytest.mark.quick_cases(37)
@pytest.mark.parametrize("name", DESIGNS)
@every_metric
def test_so_it_is_of_every_design(name: str, metric: CurveMetric) -> None:
    table, words = DESIGNS[name]
    assert_value_of_row(table, metric, [0.01, 0.3] if name == "rates" else [0.01, 0.3, None], **words)


@pytest.mark.quick_cases(5)
@every_metric
def test_so_it_is_of_expressions_arrays_and_scorers(metric: CurveMetric) -> None:
    points = roc_points(DF["label"], DF["score"])
    for eta, value in ask_points(DF, metric, [0.01, 0.3]).select("eta", "value").rows():
        assert DF.select(prc(pl.col("score")).summary(metric, "label", eta)).item() == value
        for found in (
            metric(points.recall, points.fpr, eta),
            scorer(metric, eta).score(DF["label"], DF["score"]),
        ):
            assert found == pytest.approx(math.nan if value is None else value, rel=1e-15, nan_ok=True)


CONFIDENT = {"plain": {}, "weights": {"weight": "w"}, "clusters": {"cluster": "id"}}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", CONFIDENT)
def test_values_with_intervals_are_those_without(name: str) -> None:
    words: dict[str, Any] = CONFIDENT[name]
    found = DF.prc.summary([0.01, None], metrics=AT_TARGETS, confidence=0.9, columns="all", **words)
    words = {word: column for word, column in words.items() if word != "cluster"}
    plain = DF.prc.summary([0.01, None], metrics=AT_TARGETS, columns="all", **words)
    assert_same(found.select(plain.columns), plain)


def test_models_are_compared_by_them_as_at_the_target() -> None:
    asked: dict[str, Any] = {"score": ["score", "w"], "eta": [0.01, 0.3], "confidence": 0.9}
    metrics_asked = [AT_TARGETS[0], "roc_auc", *AT_TARGETS[1:], "average_precision"]
    found = prc(DF).compare(metrics=metrics_asked, columns="all", **asked)
    names = [metric if isinstance(metric, str) else metric.name for metric in metrics_asked]
    assert found["metric"].to_list() == names * 2
    for metric in AT_TARGETS[1::3]:  # one of each kind
        at_target = metric.recipe.at_target
        target = {at_target.word: at_target.value}
        target |= {"per": at_target.per} if at_target.word == "alerts" else {}
        of_points = prc(DF).compare(metrics=at_target.metric, columns="all", **target, **asked)
        assert_same(found.filter(metric=metric.name).drop("metric"), of_points.drop("metric"))
        ranking = prc(DF).ranking(metric=metric, columns="all", **asked)
        of_points = prc(DF).ranking(metric=at_target.metric, columns="all", **target, **asked)
        assert_same(ranking, of_points)


def test_where_no_interval_is_known() -> None:
    asked: dict[str, Any] = {"metrics": AT_TARGETS, "confidence": 0.9, "eta": 0.1}
    for table, words, doubt in (
        (POINTS, {"cells": ("tp", "fp", "fn", "tn")}, "few points"),
        (DF, {"cluster": "id", "weight": "w"}, "no formula: method='bootstrap'"),
    ):
        found = prc(table).summary(columns="all", **asked, **words)
        assert found["low"].null_count() == found["high"].null_count() == found.height
        assert found["value"].null_count() < found.height
        assert set(found["doubt"]) == {doubt}


def test_a_line_between_two_thresholds_is_no_threshold() -> None:
    """Of scores in whole numbers the row that reaches a recall may flag many more."""
    table = pl.DataFrame({"score": [2] * 10 + [1] * 90, "label": [1] * 4 + [0] * 6 + [1] * 6 + [0] * 84})
    assert (
        table.prc.summary(metrics=metrics.precision_at_recall(0.5), columns="all")["value"].item() == 0.1
    )
    assert (
        table.prc.summary(metrics=metrics.precision_at_recall(0.4), columns="all")["value"].item() == 0.4
    )


def test_a_budget_is_read_as_it_is_of_targets() -> None:
    assert metrics.recall_at_alerts(12345678, 1e9).name == "recall_at_alerts(12345678, 1000000000)"
    found = DF.prc.summary(metrics="precision_at_alerts(20, 100)", columns="all")
    assert_same(found, DF.prc.summary(metrics=metrics.precision_at_alerts(20, 100), columns="all"))
    for alerts, per, message in ((20, 10, "from 0 to per=10"), (1, 0, "per="), (-1, 5, "from 0 to")):
        with pytest.raises(PrcError, match=message):
            metrics.recall_at_alerts(alerts, per)


def draw_sets(n_pos: int, n_neg: int, shift: float) -> pl.DataFrame:
    """Return 400 test sets with normal scores."""
    label = np.tile(np.arange(n_pos + n_neg) < n_pos, 400)
    score = np.random.default_rng(1).normal(size=label.size) + shift * label
    return pl.DataFrame(
        {"set": np.arange(label.size) // (n_pos + n_neg), "label": label, "score": score}
    )


def test_the_rest_of_a_budget_may_find_more() -> None:
    """Where nearly all alerts are right, recall within a budget is short of that at the whole one."""
    recall = 0.5855178  # where the mean of recall and fpr is 0.3
    asked: dict[str, Any] = {"metrics": metrics.recall_at_alerts(0.3, 1), "confidence": 0.95}
    found = draw_sets(100, 400, 2.4).prc(by="set").summary(0.5, **asked)
    assert found.select((recall > pl.col("high")).mean()).item() < 0.025


def test_the_rest_of_a_budget_may_be_false() -> None:
    """Where a negative stands for many events, precision within a budget is above that at the whole."""
    precision = 0.0687682  # where 0.003 recall + 0.997 fpr is 0.03
    asked: dict[str, Any] = {"metrics": metrics.precision_at_alerts(0.03, 1), "confidence": 0.95}
    found = draw_sets(90, 450, 2.4).prc(by="set").summary(0.003, **asked)
    assert found["doubt"].null_count() == found.height
    assert found.select((precision < pl.col("low")).mean()).item() < 0.04


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("n_tied", "first", "is_doubtful"),
    [(1, 0, False), (5, 0, False), (10, 0, True), (20, 5, True), (10, -30, True)],
)
def test_a_score_that_many_share_near_the_end_of_a_budget_is_a_doubt(
    n_tied: int, first: int, is_doubtful: bool
) -> None:
    """Rows where it may end in another sample are read, too."""
    scores = {
        label: [NormalDist(shift).inv_cdf((i + 0.5) / n) for i in range(n)]
        for label, shift, n in ((True, 2.2, 350), (False, 0, 1_400))
    }
    rows = pl.concat(pl.DataFrame({"score": of, "label": label}) for label, of in scores.items())
    rows = rows.sort("score", descending=True)
    events = pl.when("label").then(0.4 / 350).otherwise(0.6 / 1_400).cum_sum()
    start = rows.select((events <= 0.25).sum()).item() + first
    shared = rows["score"][start + n_tied - 1]
    rows = rows.with_columns(
        pl.when(pl.int_range(pl.len()).is_between(start, start + n_tied - 1))
        .then(shared)
        .otherwise("score")
        .alias("score")
    )
    asked = [metrics.recall_at_alerts(0.25, 1), metrics.precision_at_recall(0.55)]
    found = rows.prc.summary(0.4, metrics=asked, confidence=0.95)
    assert found["doubt"].to_list() == ["equal scores" if is_doubtful else None, None]
