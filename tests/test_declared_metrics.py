"""Every declared metric: one name, a docstring, a round trip through pickle, and true promises."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve import PrcError, crossing, metrics, prc
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS, PROMISES
from polars_prcurve.core.metrics.metric_base import (
    DECLARED_BY_NAME,
    EXAMPLE_OF_FACTORY,
    declare_factory,
    write_parameter,
)
from polars_prcurve.core.metrics.metric_lookup import find_metric
from polars_prcurve.core.metrics.point_metric import POINT_METRICS, Point
from polars_prcurve.metrics import CurveMetric, PointMetric
from tests.support.comparing import assert_same
from tests.support.importable import cost
from tests.support.profiles import examples
from tests.support.strategies import Table, tables

# At least one call of every function that makes a metric.
MADE: dict[str, list[Callable[[], Any]]] = {
    "f_beta": [lambda: metrics.f_beta(2), lambda: metrics.f_beta(beta=0.5)],
    "f_gain": [lambda: metrics.f_gain(1)],
    "net_benefit": [lambda: metrics.net_benefit(0.2)],
    "point": [lambda: metrics.point("cost", cost, direction="minimize")],
    "at_threshold": [
        lambda: metrics.at_threshold("precision", 4),
        lambda: metrics.at_threshold(metrics.f_beta(2), 4.5),
    ],
    "best": [
        lambda: metrics.best("mcc"),
        lambda: metrics.best(metrics.f1),
        lambda: metrics.best(metrics.f_beta(2).alias("f2")),
        lambda: metrics.best(metrics.point("cost", cost, direction="minimize")),
    ],
    "integrated": [
        lambda: metrics.integrated("pr_auc", 0.01, 0.5),
        lambda: metrics.integrated(metrics.best("f1"), 0.01, 0.5, ("beta", 2, 3)),
    ],
    "integrated_average_precision": [lambda: metrics.integrated_average_precision(0.01, 0.5, "log")],
    "partial_roc_auc": [lambda: metrics.partial_roc_auc(0.1)],
    "partial_roc_auc_mcclish": [lambda: metrics.partial_roc_auc_mcclish(0.1)],
    "pr_auc_trapezoid": [metrics.pr_auc_trapezoid, lambda: metrics.pr_auc_trapezoid("one")],
    "precision_at_alerts": [lambda: metrics.precision_at_alerts(20, 100)],
    "precision_at_fpr": [lambda: metrics.precision_at_fpr(0.3)],
    "precision_at_recall": [lambda: metrics.precision_at_recall(0.5)],
    "recall_at_alerts": [lambda: metrics.recall_at_alerts(20, 100)],
    "recall_at_fpr": [lambda: metrics.recall_at_fpr(0.3)],
    "recall_at_precision": [lambda: metrics.recall_at_precision(0.3)],
}
WITH_PARAMETERS = [make() for calls in MADE.values() for make in calls]
WITHOUT = [*POINT_METRICS.values(), *CURVE_METRICS.values()]
ALL = [*WITHOUT, *WITH_PARAMETERS]
every_metric = pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
SCORES = pl.DataFrame({"score": [9, 8, 7, 7, 6, 5, 4, 3, 3, 1], "label": [1, 0, 1, 0, 1, 0, 0, 1, 0, 0]})


def values(metric: PointMetric | CurveMetric) -> pl.DataFrame:
    if isinstance(metric, PointMetric):
        return SCORES.prc.curve([0.01, 0.4], metrics=metric)
    return SCORES.prc.summary([0.01, 0.4], metrics=metric, columns="all")


# Names ----------------------------------------------------------------------------------------


def test_every_function_that_makes_a_metric_is_tried_here() -> None:
    factories = set(DECLARED_BY_NAME) - {metric.name for metric in WITHOUT}
    assert factories == set(MADE), (
        f"give each of {sorted(factories ^ set(MADE))} a call in MADE of this file, if it makes metrics"
    )


SHARES = st.floats(0.0, 1.0, exclude_min=True, exclude_max=True, allow_subnormal=False)
POSITIVE = st.floats(1e-9, 1e9)
PARAMETERS: dict[str, st.SearchStrategy[tuple[Any, ...]]] = {
    "at_threshold": st.tuples(
        st.sampled_from(["precision", "f_beta(0.3)"]), st.floats(-1e300, 1e300) | st.integers()
    ),
    "best": st.tuples(st.sampled_from(["f1", "net_benefit(0.12345678)"])),
    "f_beta": st.tuples(POSITIVE),
    "f_gain": st.tuples(POSITIVE),
    "integrated": st.tuples(
        st.just("pr_auc"),
        st.floats(1e-6, 0.4),
        st.floats(0.5, 1 - 1e-6),
        st.sampled_from(["logit", ("beta", 2, 3.3)]),
    ),
    "integrated_average_precision": st.tuples(
        st.floats(1e-6, 0.4), st.floats(0.5, 1 - 1e-6), st.sampled_from(["uniform", "log"])
    ),
    "net_benefit": st.tuples(SHARES),
    "partial_roc_auc": st.tuples(SHARES),
    "partial_roc_auc_mcclish": st.tuples(SHARES),
    "pr_auc_trapezoid": st.tuples(st.sampled_from(["first", "one", "none"])),
    **dict.fromkeys(["precision_at_alerts", "recall_at_alerts"], st.tuples(SHARES, POSITIVE)),
    **dict.fromkeys(["precision_at_fpr", "precision_at_recall"], st.tuples(SHARES)),
    **dict.fromkeys(["recall_at_fpr", "recall_at_precision"], st.tuples(SHARES)),
}
"""Parameters of all functions that make a metric, but for `point`, which takes a formula."""


@pytest.mark.parametrize("function_name", sorted({*MADE} - {"point"}))
@given(data=st.data())
@examples(300)
def test_a_name_with_parameters_means_the_metric_that_has_it(
    function_name: str, data: st.DataObject
) -> None:
    parameters = data.draw(PARAMETERS[function_name])
    if function_name.endswith("_alerts"):  # a share of the events
        parameters = parameters[0] * parameters[1], parameters[1]
    metric = DECLARED_BY_NAME[function_name](*parameters)
    assert find_metric(metric.name) == metric


def test_names_have_parameters_as_people_write_them() -> None:
    assert [write_parameter(number) for number in (0.8, 1e3, 1e-5, 2, -4.5, 1 - 1e-7, 0.12345678)] == [
        *("0.8", "1000", "1e-05", "2", "-4.5", "0.9999999", "0.12345678")
    ]
    close_metrics = [metrics.precision_at_recall(recall) for recall in (1 - 1e-7, 1.0)]
    assert SCORES.prc.summary(0.1, metrics=close_metrics)["metric"].to_list() == [
        *("precision_at_recall(0.9999999)", "precision_at_recall(1)")
    ]


def test_a_misspelt_name_of_a_new_function_has_its_example() -> None:
    def recall_twice(factor: float) -> PointMetric:
        """Recall, some times."""
        return metrics.point("recall_twice", lambda tp, fn, fp, tn: factor * tp / (tp + fn))

    try:
        declare_factory("2")(recall_twice)
        with pytest.raises(PrcError, match=r"recall_twice\(2\)"):
            SCORES.prc.curve(0.1, metrics="recall_twic")
    finally:
        del DECLARED_BY_NAME["recall_twice"], EXAMPLE_OF_FACTORY["recall_twice"]


def test_the_namespace_is_what_is_declared() -> None:
    assert set(metrics.__all__) == {*DECLARED_BY_NAME, "PointMetric", "CurveMetric"}
    assert dir(metrics) == sorted(metrics.__all__)
    assert all(getattr(metrics, name) is value for name, value in DECLARED_BY_NAME.items())
    assert all(DECLARED_BY_NAME[metric.name] is metric for metric in WITHOUT)


@pytest.mark.parametrize("metric", WITHOUT, ids=lambda metric: metric.name)
def test_a_metric_has_a_docstring_of_its_own(metric: PointMetric | CurveMetric) -> None:
    assert metric.__doc__ != type(metric).__doc__, f"give the function of {metric.name} a docstring"
    assert metric.alias("other").__doc__ == metric.__doc__


# Copies ---------------------------------------------------------------------------------------


@pytest.mark.quick_cases(22)
@every_metric
def test_a_metric_pickles(metric: Any) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(metric, protocol))
        assert again == metric
        assert hash(again) == hash(metric)
    assert values(again).equals(values(metric))
    assert again.__doc__ == metric.__doc__


@pytest.mark.quick_cases(22)
@every_metric
def test_a_metric_under_another_name_pickles(metric: Any) -> None:
    other = metric.alias("other")
    again = pickle.loads(pickle.dumps(other))
    assert again == other
    assert again.name == "other"
    assert again != metric
    assert values(again).equals(values(other))


@pytest.mark.slow
@every_metric
def test_copies_are_equal(metric: Any) -> None:
    for again in (copy.copy(metric), copy.deepcopy(metric)):
        assert again == metric
        assert values(again).equals(values(metric))


def test_metrics_are_equal_if_they_are_made_alike() -> None:
    assert all(make() == make() for calls in MADE.values() for make in calls)
    assert metrics.pr_auc_trapezoid() == metrics.pr_auc_trapezoid(anchor="first")
    assert all(a != b for a, b in pairwise(sorted(ALL, key=lambda metric: metric.name)))
    assert metrics.precision != "precision"


def test_a_changed_metric_is_not_the_declared_one() -> None:
    assert replace(metrics.precision, range=(0.0, 2.0)) != metrics.precision
    changed = metrics.average_precision.change_recipe(needs="all")
    assert changed != metrics.average_precision
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(changed)


def test_a_metric_of_a_lambda_does_not_pickle() -> None:
    own = metrics.point("cost", lambda tp, fn, fp, tn: 5 * fn + fp)
    for metric in (own, metrics.best(own)):
        with pytest.raises((pickle.PicklingError, AttributeError), match="pickle"):
            pickle.dumps(metric)


# Promises -------------------------------------------------------------------------------------

CURVES = [metric for metric in ALL if isinstance(metric, CurveMetric)]
PROMISED = [
    pytest.param(metric, promise, id=f"{metric.name} {promise}")
    for metric in CURVES
    for promise, nothing in PROMISES.items()
    if metric.recipe.averages is None and getattr(metric.recipe, promise) != nothing
]


def assert_promise_is_true(
    df: pl.DataFrame, metric: CurveMetric, promise: str, eta: Any, **given: Any
) -> None:
    """Raise unless the values are those of the metric without the promise, which is slower."""
    changed = {promise: PROMISES[promise]}
    if promise == "once":
        changed["steps"] = metric.recipe.all_steps()
    without = metric.change_recipe(**changed)
    # Of one group arrays would do, which need no promise.
    given = {"by": pl.lit(1).alias("all"), **{key: part for key, part in given.items() if part}}
    assert_same(
        prc(df).summary(eta, metrics=metric, columns="all", **given),
        prc(df).summary(eta, metrics=without, columns="all", **given),
    )


@pytest.mark.quick_cases(15)
@pytest.mark.parametrize(("metric", "promise"), PROMISED)
def test_a_promise_changes_no_value(metric: CurveMetric, promise: str) -> None:
    rng = np.random.default_rng(11)
    n = 3_000
    label = rng.random(n) < 0.3
    score = rng.normal(size=n) + label
    df = pl.DataFrame({"g": rng.integers(0, 30, n) ** 2 // 30, "s": score.round(1), "y": label})
    df = pl.concat([df, pl.DataFrame({"g": np.full(n, 30), "s": score.round(4), "y": label})])
    table: dict[str, Any] = {"by": "g", "score": "s", "label": "y"}
    assert_promise_is_true(df, metric, promise, [0.0, 1e-9, 0.01, 0.3, 0.999, 1.0], **table)


@examples(60)
@given(tables(), st.sampled_from(PROMISED), st.sampled_from([0.0, 1e-6, 0.3, 1.0]))
def test_a_promise_changes_no_value_of_any_table(table: Table, case: Any, eta: float) -> None:
    metric, promise = case.values
    of_table = {"by": table.by, "pos_label": table.pos_label, "weight": table.weight}
    assert_promise_is_true(table.frame, metric, promise, eta, **of_table)


@pytest.mark.parametrize(
    ("promise", "broken"),
    [
        ("needs", metrics.best("lr_neg").change_recipe(needs="rises", total="max")),
        ("by_rise", metrics.auprg.change_recipe(by_rise=True)),
    ],
)
def test_a_false_promise_is_found(promise: str, broken: CurveMetric) -> None:
    with pytest.raises((AssertionError, pl.exceptions.PolarsError)):
        assert_promise_is_true(SCORES, broken, promise, [0.01, 0.4])


# Ties -----------------------------------------------------------------------------------------


def test_without_an_equation_ties_are_not_ruled_out() -> None:
    declared = PointMetric("cost", cost, direction="minimize", range=(0.0, 5.0), source="a test")
    assert declared.ties is None
    with pytest.raises(PrcError, match="closed form"):
        crossing((0.9, 0.3), (0.6, 0.01), declared)
    assert PointMetric("tpr", metrics.recall.formula, depends_on_eta=False).ties is not None


@pytest.mark.parametrize("metric", POINT_METRICS.values(), ids=lambda metric: metric.name)
def test_points_tie_where_their_difference_changes_sign(metric: PointMetric) -> None:
    assert metric.ties is not None, (
        f"{metric.name} does not say where two points tie: give @declare_point a ties=, never_tie or an "
        "equation like those in polars_prcurve/core/metrics/point_formulas.py"
    )
    eta = 1 / (1 + np.exp(-np.linspace(-15, 15, 6_001)))
    for a, b in (((0.9, 0.3), (0.6, 0.01)), ((0.5, 0.2), (0.8, 0.5)), ((0.7, 0.1), (0.4, 0.05))):
        gap = np.broadcast_to(metric(*a, eta) - metric(*b, eta), eta.shape)
        odds = eta / (1 - eta)
        changes = np.flatnonzero(np.sign(gap[1:]) * np.sign(gap[:-1]) < 0)
        changes = changes[np.abs(gap[changes]) + np.abs(gap[changes + 1]) > 1e-12]
        ties = [r for r in metric.ties(Point(*a), Point(*b)) if odds[0] < r < odds[-1]]
        for i in changes:
            assert any(odds[i] * (1 - 1e-9) <= r <= odds[i + 1] * (1 + 1e-9) for r in ties), (
                f"{metric.name} of {a} and of {b} is equal between odds {odds[i]} and {odds[i + 1]}, "
                f"and ties= names {ties}: mend its equation"
            )
        for r in ties:
            at = r / (1 + r)
            assert math.isclose(metric(*a, at), metric(*b, at), rel_tol=1e-9, abs_tol=1e-12), (
                f"{metric.name} of {a} and of {b} differs at odds of {r}, which ties= names: mend its "
                "equation"
            )
