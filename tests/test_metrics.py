"""Every point metric of the registry keeps every promise; nobody is left out."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polars_prcurve import metrics
from polars_prcurve.metrics import PointMetric
from polars_prcurve.point_metrics import POINT_METRICS

PARAMETRIC = [metrics.f_beta(0.5), metrics.f_beta(2), metrics.f_gain(1), metrics.net_benefit(0.2)]
USERS = metrics.point("cost", lambda tp, fn, fp, tn: 5 * fn + fp, direction="minimize")
ALL = [*POINT_METRICS.values(), *PARAMETRIC, USERS]
EDGES = [0.0, 1e-12, 0.001, 0.3, 0.5, 0.9, 1.0]
every_metric = pytest.mark.parametrize("metric", ALL, ids=lambda m: m.name)


def _sqrt(x: Fraction | None) -> float | None:
    return None if x is None else math.sqrt(x)


def _div(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    return None if a is None or b is None or b == 0 else a / b


def _minus(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    return None if a is None or b is None else a - b


# The textbook, in fractions: tpr t, fpr f, prevalence e, precision p, npv n.
TEXTBOOK: dict[str, Any] = {
    "precision": lambda t, f, e, p, n: p,
    "fdr": lambda t, f, e, p, n: _minus(Fraction(1), p),
    "npv": lambda t, f, e, p, n: n,
    "false_omission_rate": lambda t, f, e, p, n: _minus(Fraction(1), n),
    "recall": lambda t, f, e, p, n: t,
    "fnr": lambda t, f, e, p, n: 1 - t,
    "specificity": lambda t, f, e, p, n: 1 - f,
    "fpr": lambda t, f, e, p, n: f,
    "accuracy": lambda t, f, e, p, n: e * t + (1 - e) * (1 - f),
    "balanced_accuracy": lambda t, f, e, p, n: (t + 1 - f) / 2,
    "g_mean": lambda t, f, e, p, n: _sqrt(t * (1 - f)),
    "f1": lambda t, f, e, p, n: _div(2 * e * t, e * t + e + (1 - e) * f),
    "f_beta(0.5)": lambda t, f, e, p, n: _div(5 * e * t / 4, e * t + e / 4 + (1 - e) * f),
    "f_beta(2)": lambda t, f, e, p, n: _div(5 * e * t, e * t + 4 * e + (1 - e) * f),
    "jaccard": lambda t, f, e, p, n: _div(e * t, e + (1 - e) * f),
    "informedness": lambda t, f, e, p, n: t - f,
    "markedness": lambda t, f, e, p, n: None if p is None or n is None else p + n - 1,
    "predicted_positive_rate": lambda t, f, e, p, n: e * t + (1 - e) * f,
    "balanced_precision": lambda t, f, e, p, n: _div(t, t + f),
    "net_benefit(0.2)": lambda t, f, e, p, n: e * t - (1 - e) * f / 4,
    "cost": lambda t, f, e, p, n: 5 * e * (1 - t) + (1 - e) * f,
    "cohen_kappa": lambda t, f, e, p, n: _div(
        2 * e * (1 - e) * (t - f), e + (e * t + (1 - e) * f) - 2 * e * (e * t + (1 - e) * f)
    ),
}
# Where the textbook form is defined and finite.
PARTLY: dict[str, Any] = {
    "fowlkes_mallows": lambda t, f, e, p, n: None if p is None else _sqrt(p * t),
    "lift": lambda t, f, e, p, n: _div(t, e * t + (1 - e) * f),
    "lr_pos": lambda t, f, e, p, n: _div(t, f),
    "lr_neg": lambda t, f, e, p, n: _div(1 - t, 1 - f),
    "diagnostic_odds_ratio": lambda t, f, e, p, n: _div(t * (1 - f), f * (1 - t)),
    "precision_gain": lambda t, f, e, p, n: None if t == 0 else 1 - f / t,
    "recall_gain": lambda t, f, e, p, n: None if t == 0 or e == 1 else 1 - e / (1 - e) * (1 - t) / t,
    "f_gain(1)": lambda t, f, e, p, n: (
        None if t == 0 or e == 1 else (1 - f / t + 1 - e / (1 - e) * (1 - t) / t) / 2
    ),
    "mcc": lambda t, f, e, p, n: (
        None
        if (q := e * t + (1 - e) * f) * (1 - q) * e * (1 - e) == 0
        else float(t - f) * math.sqrt(e * (1 - e) / (q * (1 - q)))
    ),
}


def test_every_metric_has_a_textbook_form() -> None:
    assert {m.name for m in ALL} == set(TEXTBOOK) | set(PARTLY)


def textbook(metric: PointMetric, *at: float) -> float | None:
    t, f, e = map(Fraction, at)
    p = _div(e * t, e * t + (1 - e) * f)
    n = _div((1 - e) * (1 - f), (1 - e) * (1 - f) + e * (1 - t))
    form = TEXTBOOK.get(metric.name) or PARTLY[metric.name]
    value = form(t, f, e, p, n)
    return None if value is None else float(value)


def check(metric: PointMetric, *at: float) -> None:
    value, expected = metric(*at), textbook(metric, *at)
    if expected is not None:
        # 1 - x and differences of shares lose what is below 1e-16 of the whole.
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-13), at
    elif metric.name in TEXTBOOK:
        assert math.isnan(value), at
    else:
        assert not math.isfinite(value) or metric.name == "mcc", at


@every_metric
def test_at_edges_a_metric_is_what_the_textbook_says(metric: PointMetric) -> None:
    for recall in EDGES:
        for fpr in EDGES:
            for eta in EDGES:
                check(metric, recall, fpr, eta)


@every_metric
@settings(deadline=None)
@given(at=st.tuples(*[st.floats(1e-6, 1 - 1e-6)] * 3))
def test_inside_a_metric_is_what_the_textbook_says(
    metric: PointMetric, at: tuple[float, float, float]
) -> None:
    check(metric, *at)


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
    assert (values >= low - 1e-12).all()
    assert (values <= high + 1e-12).all()


@every_metric
def test_depends_on_eta_says_the_truth(metric: PointMetric) -> None:
    moved = {round(metric(0.7, 0.2, eta), 12) for eta in (0.01, 0.3, 0.8)}
    assert (len(moved) > 1) == metric.depends_on_eta
    if not metric.depends_on_eta:
        assert metric(0.7, 0.2) == metric(0.7, 0.2, 0.123)


@every_metric
def test_direction_says_the_truth(metric: PointMetric) -> None:
    assert metric.direction in ("maximize", "minimize", "none")
    better, worse = metric(0.9, 0.05, 0.2), metric(0.6, 0.3, 0.2)
    if metric.direction == "maximize":
        assert better > worse
    elif metric.direction == "minimize":
        assert better < worse


@every_metric
def test_a_metric_says_what_it_is(metric: PointMetric) -> None:
    assert metric.name in repr(metric)
    assert metric.source
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
