"""Every point metric of the registry keeps every promise; nobody is left out."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve import metrics
from polars_prcurve.core.metrics.point_metric import POINT_METRICS
from polars_prcurve.metrics import PointMetric
from tests.support import oracle
from tests.support.profiles import examples

PARAMETRIC = [metrics.f_beta(0.5), metrics.f_beta(2), metrics.f_gain(1), metrics.net_benefit(0.2)]
USERS = metrics.point("cost", lambda tp, fn, fp, tn: 5 * fn + fp, direction="minimize")
ALL = [*POINT_METRICS.values(), *PARAMETRIC, USERS]
EDGES = [0.0, 1e-12, 0.001, 0.3, 0.5, 0.9, 1.0]
every_metric = pytest.mark.parametrize("metric", ALL, ids=lambda m: m.name)


def by_definition(metric: PointMetric, *point: float) -> Any:
    """The value in exact fractions; None where it is undefined."""
    recall, fpr, eta = map(Fraction, point)
    if metric is USERS:
        return 5 * eta * (1 - recall) + (1 - eta) * fpr
    return oracle.metric(metric.name, recall, fpr, eta)


def check(metric: PointMetric, *point: float) -> None:
    value, expected = metric(*point), by_definition(metric, *point)
    place = f"at (recall, fpr, eta) = {point}, the formula gave {value}"
    if expected is None:
        assert math.isnan(value), f"{metric.name} is by definition undefined {place}"
    else:  # 1 - x and differences of shares lose what is below 1e-16 of the whole
        number = float(expected)
        is_right = value == pytest.approx(number, rel=1e-9, abs=1e-13)
        assert is_right, f"{metric.name} is by definition {number} {place}"


@every_metric
def test_a_metric_at_the_edges_is_what_the_definition_says(metric: PointMetric) -> None:
    for recall in EDGES:
        for fpr in EDGES:
            for eta in EDGES:
                check(metric, recall, fpr, eta)


@every_metric
@examples(100)
@given(point=st.tuples(*[st.floats(1e-6, 1 - 1e-6)] * 3))
def test_a_metric_inside_is_what_the_definition_says(
    metric: PointMetric, point: tuple[float, float, float]
) -> None:
    check(metric, *point)


@every_metric
def test_numbers_arrays_and_expressions_agree(metric: PointMetric) -> None:
    grid = np.array([(t, f, e) for t in EDGES for f in EDGES for e in EDGES])
    of_arrays = metric(*grid.T)
    of_numbers = [metric(*map(float, at)) for at in grid]
    frame = pl.DataFrame(grid, schema=["t", "f", "e"])
    of_expressions = frame.select(metric(pl.col("t"), pl.col("f"), pl.col("e"))).to_series()
    assert isinstance(of_numbers[0], float)
    assert isinstance(of_arrays, np.ndarray)
    np.testing.assert_array_equal(of_arrays, np.array(of_numbers))
    assert of_expressions.name == metric.name
    assert of_expressions.is_nan().sum() == 0
    assert of_expressions.is_null().to_list() == np.isnan(of_arrays).tolist()
    np.testing.assert_allclose(of_expressions.fill_null(np.nan).to_numpy(), of_arrays, rtol=1e-14)


@every_metric
def test_values_lie_in_the_range_the_metric_states(metric: PointMetric) -> None:
    low, high = metric.range
    grid = np.array([(t, f, e) for t in EDGES for f in EDGES for e in EDGES])
    values = np.asarray(metric(*grid.T))
    values = values[~np.isnan(values)]
    least, greatest = values.min(), values.max()
    assert low - 1e-12 <= least <= greatest <= high + 1e-12, (
        f"{metric.name} has range={metric.range}, and values from {least} to {greatest}"
    )


@every_metric
def test_depends_on_eta_says_the_truth(metric: PointMetric) -> None:
    values = {eta: round(metric(0.7, 0.2, eta), 12) for eta in (0.01, 0.3, 0.8)}
    assert (len({*values.values()}) > 1) == metric.depends_on_eta, (
        f"{metric.name} has depends_on_eta={metric.depends_on_eta}, and at one point by eta: {values}"
    )
    if not metric.depends_on_eta:
        assert metric(0.7, 0.2) == metric(0.7, 0.2, 0.123)


@every_metric
def test_direction_says_the_truth(metric: PointMetric) -> None:
    if metric.direction == "none":
        assert metric.name in oracle.WITHOUT_DIRECTION, (
            f'{metric.name} has direction="none": give it one, or name it in WITHOUT_DIRECTION of '
            "tests/support/oracle.py"
        )
    else:
        better, worse = metric(0.9, 0.05, 0.2), metric(0.6, 0.3, 0.2)
        assert better != worse, f"{metric.name} is {better} at a point and at a worse one, too"
        assert metric.direction == ("maximize" if better > worse else "minimize"), (
            f'{metric.name} has direction="{metric.direction}", and is {better} at a point, and {worse} '
            "at a worse one"
        )


@every_metric
def test_a_metric_says_what_it_is(metric: PointMetric) -> None:
    assert metric.name in repr(metric)
    assert metric.source, f"{metric.name} has no source=: name a paper, or a formula of other metrics"
    assert metric.alias("other").name == "other"
    assert metric.alias("other")(0.7, 0.2, 0.1) == metric(0.7, 0.2, 0.1)


@every_metric
def test_tables_give_what_the_function_gives(metric: PointMetric) -> None:
    df = pl.DataFrame({"score": [9, 8, 7, 6, 5, 4, 3, 2, 1, 1], "label": [1, 0, 1, 1, 0, 1, 0, 0, 1, 0]})
    curve = df.prc.curve([0.0, 1e-6, 0.02, 0.5, 0.97, 1.0], metrics=metric)
    given = (curve[name].to_numpy() for name in ("recall", "fpr", "eta"))
    expected = np.asarray(metric(*given))
    values = curve[metric.name].fill_null(np.nan).to_numpy()
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-13)
    own = df.prc.curve(metrics=metric)
    np.testing.assert_allclose(
        own[metric.name].fill_null(np.nan).to_numpy(),
        np.asarray(metric(own["recall"].to_numpy(), own["fpr"].to_numpy(), own["eta"].to_numpy())),
        rtol=1e-12,
        atol=1e-13,
    )


def test_strings_name_every_metric_without_a_parameter() -> None:
    assert all(isinstance(getattr(metrics, name), PointMetric) for name in POINT_METRICS)
    assert set(POINT_METRICS) <= set(metrics.__all__)
    df = pl.DataFrame({"score": [2, 1], "label": [1, 0]})
    assert set(df.prc.curve(0.1, metrics=list(POINT_METRICS)).columns) >= set(POINT_METRICS)


def test_shapes_broadcast_as_in_numpy() -> None:
    table = metrics.precision(np.array([[0.5], [0.9]]), 0.01, np.array([0.1, 0.01, 0.001]))
    assert np.shape(table) == (2, 3)


def test_undefined_rates_stay_undefined() -> None:
    assert math.isnan(metrics.precision(float("nan"), 0.1, 0.1))
    null = pl.select(metrics.precision(pl.lit(None, dtype=pl.Float64), pl.lit(0.1), 0.1)).item()
    assert null is None
