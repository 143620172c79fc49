"""Arrays: `roc_points` is the sweep, and a metric called with arrays is the summary."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve import PrcError, metrics, prc, roc_points, scorer
from polars_prcurve.core.sweep.array_sweep import sum_along
from polars_prcurve.metrics import CurveMetric
from tests.support.all_metrics import ALL_CURVE_METRICS
from tests.support.importable import cost
from tests.support.profiles import examples
from tests.support.strategies import SCORES, WEIGHTS, Table, tables

NATIVE = [dtype for dtype in SCORES if dtype != pl.Int128 and not dtype.is_decimal()]
ETAS = [0.0, 1e-15, 1e-6, 0.01, 0.3, 0.9, 1 - 1e-12, 1.0]
every_metric = pytest.mark.parametrize("metric", ALL_CURVE_METRICS, ids=lambda metric: metric.name)
COUNTED = ("random_average_precision", "worst_average_precision")
"""Metrics that need the numbers of examples, which rates do not tell."""


def points_of(table: Table) -> Any:
    frame = table.frame
    weight = None if table.weight is None else frame[table.weight].cast(pl.Float64)
    return roc_points(frame.select(table.positive).to_series(), frame["score"], weight)


def as_array(column: pl.Series) -> Any:
    return column.cast(pl.Float64).fill_null(math.nan).to_numpy()


def assert_close(found: Any, expected: Any, tolerance: float) -> None:
    """Raise unless values are equal, or as near as the tolerance says, relatively; NaN equals NaN."""
    with np.errstate(invalid="ignore"):  # inf - inf
        near = np.abs(found - expected) <= tolerance * np.abs(expected)
    assert (near | (found == expected) | (np.isnan(found) & np.isnan(expected))).all(), (found, expected)


# roc_points -----------------------------------------------------------------------------------


@examples(400)
@given(tables(keys=["none"], scores=NATIVE, weights=["", *WEIGHTS]))
def test_points_are_the_rows_of_the_sweep(table: Table) -> None:
    sweep = prc(table.frame).sweep(**table.package)
    points = points_of(table)
    assert points.threshold.tolist() == sweep["threshold"].to_list()
    for name in ("recall", "fpr", "tp", "fp"):
        assert_close(getattr(points, name), as_array(sweep[name]), 3e-16)
    if table.weight is None:
        assert points.tp.dtype == points.fp.dtype == np.int64
        assert points.tp.tolist() == sweep["tp"].to_list()


def test_the_first_point_is_the_highest_score() -> None:
    """Worked by hand: two scores tie at the top, and no point stands for the origin."""
    points = roc_points([True, False, True, False], [0.9, 0.9, 0.2, 0.1])
    assert points.threshold.tolist() == [0.9, 0.2, 0.1]
    assert points.tp.tolist() == [1, 2, 2]
    assert points.fp.tolist() == [1, 1, 2]
    assert points.recall.tolist() == [0.5, 1.0, 1.0]
    assert points.fpr.tolist() == [0.5, 0.5, 1.0]
    assert math.copysign(1, roc_points([1, 0], [-0.0, 0.0]).threshold[0]) == 1


def test_labels_and_scores_of_any_kind() -> None:
    expected = roc_points([1, 0, 1], [3, 2, 1])
    kinds: list[Any] = [
        [True, False, True],
        (1.0, 0.0, 1.0),
        np.array([1, -1, 1]),
        pl.Series([1, 0, 1]),
        pl.Series([True, False, True]),
    ]
    for label in kinds:
        assert roc_points(label, [3, 2, 1]).tp.tolist() == expected.tp.tolist()
    assert roc_points([], []).recall.tolist() == []
    assert roc_points([1], [math.inf]).threshold.tolist() == [math.inf]
    assert roc_points([1, 0], [2, 1], [0, 1]).threshold.tolist() == [1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((["spam", "ham"], [1, 2]), r'label takes Booleans, .* such as label == "spam"; got an array'),
        (([2, 0], [1, 2]), r"label takes Booleans, or numbers in .*; got 2"),
        (([-1, 0, 1], [1, 2, 3]), "label takes .*; got 0"),
        (([1.0, math.nan], [1, 2]), "label takes .*; got nan"),
        (([1, 0], [1.0, math.nan]), r"score is NaN in 1 row"),
        (([1, 0], ["a", "b"]), "score takes numbers; got an array of dtype"),
        (([1, 0], [[1, 2]]), r"score takes one array, .*; got shape \(1, 2\)"),
        (([1, 0], [1]), "every array takes one value per example; label has 2, score has 1"),
        (([1, 0], [1, 2], [1]), "weight has 1"),
        (([1, 0], [1, 2], [1, -1]), r"weight takes numbers from 0 to 1e100; got -1\.0"),
        (([1, 0], [1, 2], [1, math.inf]), "weight takes numbers from 0 to 1e100; got inf"),
        (([1, 0], [1, 2], [1, 1e101]), "weight takes numbers from 0 to 1e100; got 1e.101"),
    ],
)
def test_what_points_refuse(given: Any, words: str) -> None:
    with pytest.raises(PrcError, match=words):
        roc_points(*given)


@examples(100)
@given(st.lists(st.floats(0, 1e300, allow_subnormal=True), max_size=60), st.randoms())
def test_running_sums_of_weights_do_not_depend_on_the_order(weights: list[float], random: Any) -> None:
    sums, exponent = sum_along(np.array(weights))
    shuffled = list(weights)
    random.shuffle(shuffled)
    again, _ = sum_along(np.array(shuffled))
    assert sums[-1:].tolist() == again[-1:].tolist()
    exact = [math.ldexp(math.fsum(w * 2.0**-20 for w in weights[: i + 1]), 20) for i in range(len(sums))]
    if max(weights, default=0) < 2**37 * min(weights, default=0):  # no bit of a weight is cut off
        assert_close(np.ldexp(sums, -exponent), np.array(exact), 3e-16)


# Metrics --------------------------------------------------------------------------------------


def assert_equal_summaries(table: Table, asked: list[CurveMetric]) -> None:
    """Raise unless metrics of the points equal the summary of the table and that of the rates."""
    points = points_of(table)
    one_class = np.isnan(points.recall).any() or np.isnan(points.fpr).any()
    summary = prc(table.frame).summary(ETAS, metrics=asked, columns="all", **table.package)
    rates = pl.DataFrame({"tpr": points.recall, "fpr": points.fpr})
    by_rates = None
    if not one_class and len(rates) > 0:
        by_rates = rates.prc.summary(ETAS, metrics=asked, rates=("tpr", "fpr"), columns="all")
    for metric in asked:
        found = metric(points.recall, points.fpr, ETAS)
        assert isinstance(found, np.ndarray)
        if by_rates is not None:
            assert_nearly_equal(metric, found, as_array(by_rates.filter(metric=metric.name)["value"]))
        if metric.name not in COUNTED and len(rates) > 0:
            expected = as_array(summary.filter(metric=metric.name)["value"])
            if metric.name.startswith(("best(", "recall_at")):
                # Tables count there, and arrays have rates: what is subtracted is rounded apart.
                assert (np.isnan(found) == np.isnan(expected)).all(), (metric.name, found, expected)
                assert np.allclose(found, expected, rtol=1e-13, atol=1e-13, equal_nan=True)
            else:
                assert_nearly_equal(metric, found, expected)


def assert_nearly_equal(metric: CurveMetric, found: Any, expected: Any) -> None:
    """Raise unless values are equal to 1e-15; areas of logarithms to 4e-15 of 1.

    NumPy and Polars round a logarithm apart in some versions, and areas less a baseline cancel.
    """
    if metric.recipe.has_short_form:
        assert np.allclose(found, expected, rtol=4e-15, atol=4e-16, equal_nan=True), (found, expected)
    else:
        assert_close(found, expected, 1e-15)


@pytest.mark.quick_cases(14)
@every_metric
@examples(60)
@given(table=tables(keys=["none"], scores=[pl.Int8(), pl.Float64()], weights=["", "small integers"]))
def test_a_metric_of_arrays_is_that_of_the_table(metric: CurveMetric, table: Table) -> None:
    assert_equal_summaries(table, [metric])


SCORED = [metric for metric in ALL_CURVE_METRICS if metric.direction != "none"]


def assert_scores_are_the_summary(table: Table, etas: list[float | None]) -> None:
    """Raise unless scorers and `summary` have the same bits, for every metric and prevalence."""
    weight = None if table.weight is None else table.frame[table.weight]
    if weight is not None and weight.dtype.is_decimal():
        weight = weight.cast(pl.Float64)
    label = table.frame.select(table.positive).to_series().to_numpy()
    for eta in etas:
        options = {**table.package, "columns": "all"}
        values = as_array(prc(table.frame).summary(eta, metrics=SCORED, **options)["value"])
        if len(values) == 0:  # a table without rows has no row for a metric
            values = np.full(len(SCORED), math.nan)
        scores = [scorer(metric, eta).score(label, table.frame["score"], weight) for metric in SCORED]
        assert np.array_equal(scores, values, equal_nan=True), [
            (metric.name, eta, score, value)
            for metric, score, value in zip(SCORED, scores, values, strict=True)
            if score != value and not (math.isnan(score) and math.isnan(value))
        ]


@examples(200)
@given(
    tables(keys=["none"], scores=[pl.Int8(), pl.Float64()], weights=["", *WEIGHTS]),
    st.sampled_from([None, 0.0, 1e-100, 1e-6, 0.01, 0.3, 0.5, 0.9, 0.999999, 1.0]),
)
def test_a_scorer_is_the_summary_to_the_last_bit(table: Table, eta: float | None) -> None:
    assert_scores_are_the_summary(table, [eta])


def test_a_scorer_is_the_summary_to_the_last_bit_of_random_tables() -> None:
    rng = np.random.default_rng(4)
    for number in range(12):
        n = int(rng.integers(1, 60))
        label, score = rng.random(n) < 0.4, rng.normal(size=n).round(int(rng.integers(0, 3)))
        frame = pl.DataFrame({"score": score, "label": label, "w": rng.lognormal(size=n)})
        table = Table(frame, [], weight="w" if number % 3 == 0 else None)
        assert_scores_are_the_summary(table, [None, float(rng.choice([0.5, 0.1, 0.003]))])


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "labels",
    [[1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1], [0, 0, 0, 0], [1], [0]],
    ids=str,
)
@pytest.mark.parametrize("tied", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_metrics_of_arrays_at_the_ends(labels: list[int], tied: bool) -> None:
    """Perfect and reversed rankings, ties, and curves of one class."""
    scores = [min(i, 1) if tied else i for i in range(len(labels), 0, -1)]
    assert_equal_summaries(
        Table(pl.DataFrame({"score": scores, "label": labels}), []), ALL_CURVE_METRICS
    )


def test_metrics_of_the_arrays_of_a_large_table() -> None:
    rng = np.random.default_rng(8)
    label = rng.random(4_000) < 0.15
    score = (rng.normal(size=4_000) + 1.2 * label).round(3)
    frame = pl.DataFrame({"score": score, "label": label})
    assert_equal_summaries(Table(frame, []), ALL_CURVE_METRICS)


def test_average_precision_of_arrays_by_hand() -> None:
    """At eta = 1/5 the odds are 4: precisions 1 and 1 / (1 + 4 * 0.5) = 1/3, half the recall each."""
    recall, fpr = [0.5, 0.5, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0]
    assert metrics.average_precision(recall, fpr, 0.2) == pytest.approx(2 / 3, rel=1e-15)
    assert metrics.roc_auc(recall, fpr) == 0.75
    assert metrics.best("f1")(recall, fpr, 0.2) == pytest.approx(2 / 3, rel=1e-15)


def test_the_ends_of_a_curve_may_be_listed_and_points_come_in_any_order() -> None:
    recall, fpr = np.array([0.2, 0.5, 0.9]), np.array([0.0, 0.1, 0.4])
    for metric in ALL_CURVE_METRICS:
        expected = metric(recall, fpr, 0.1)
        assert isinstance(expected, float)
        with_ends = metric(np.array([0, *recall, 1]), np.array([0, *fpr, 1]), 0.1)
        backwards = metric(recall[::-1], fpr[::-1], 0.1)
        assert_close(np.array([with_ends, backwards]), np.array([expected, expected]), 0.0)


def test_one_prevalence_or_many() -> None:
    curve = [0.5, 1.0], [0.1, 0.6]
    grid = np.array([[0.1, 0.2], [0.3, 0.4]])
    found = metrics.pr_auc(*curve, grid)
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [[metrics.pr_auc(*curve, eta) for eta in row] for row in grid.tolist()]
    assert metrics.roc_auc(*curve, [0.1, 0.2]).tolist() == [metrics.roc_auc(*curve)] * 2  # type: ignore[union-attr]
    assert isinstance(metrics.roc_auc(*curve), float)


def test_without_points_or_positives_a_metric_is_nan() -> None:
    nothing, unknown = np.array([]), np.array([math.nan, math.nan])
    for metric in ALL_CURVE_METRICS:
        assert math.isnan(metric(nothing, nothing, 0.1))
        assert math.isnan(metric(unknown, np.array([0.5, 1.0]), 0.1))


def test_a_metric_of_your_own_is_a_function_of_arrays() -> None:
    best = metrics.best(metrics.point("cost", cost, direction="minimize"))
    frame = pl.DataFrame({"score": [4, 3, 2, 1], "label": [1, 0, 1, 0]})
    points = roc_points(frame["label"], frame["score"])
    assert (
        best(points.recall, points.fpr, 0.2)
        == frame.prc.summary(0.2, metrics=best, columns="all")["value"].item()
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (([0.5], [0.1]), "pass eta: average_precision depends on the prevalence"),
        (([0.5], [0.1], 1.5), r"eta must lie in \[0, 1\]; got 1\.5"),
        (([0.5], [0.1], math.nan), r"eta must lie in \[0, 1\]; got nan"),
        (([0.5, 50], [0.1, 1], 0.5), r"recall must lie in \[0, 1\]; got 50"),
        (([0.5, math.nan], [0.1, 1], 0.5), r"recall must lie in \[0, 1\]; got nan"),
        (
            ([0.5, 0.4], [0.1, 0.2], 0.5),
            "falls where fpr rises, at 1 point; labels and scores become points by roc_points",
        ),
        ((0.5, 0.1, 0.5), r"recall takes one array, a number per point; got shape \(\)"),
        (([0.5], [0.1, 1], 0.5), "one number per point; got 1 and 2"),
        ((pl.col("recall"), pl.col("fpr"), 0.5), "recall takes numbers"),
    ],
)
def test_what_a_metric_of_arrays_refuses(given: Any, words: str) -> None:
    with pytest.raises(PrcError, match=words):
        metrics.average_precision(*given)
