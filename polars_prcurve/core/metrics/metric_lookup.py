"""The lookup of metrics by name, with hints for wrong names.

A name is what tables call a metric: `f1`, or with parameters `f_beta(2)` or `best(f1)`. Names with
parameters are parsed as Python, but never evaluated.
"""

from __future__ import annotations

import ast
import inspect
from collections import ChainMap
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, TypeVar, cast

from polars_prcurve.core.ground.argument_checks import find_repeats, read_list, refuse_kind
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.name_hints import METRIC_OF_SYNONYM, suggest_names
from polars_prcurve.core.ground.visible_names import shorten_name
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS, CurveMetric
from polars_prcurve.core.metrics.metric_base import (
    DECLARED_BY_NAME,
    EXAMPLE_OF_FACTORY,
    Metric,
    list_factories,
)
from polars_prcurve.core.metrics.point_metric import POINT_METRICS, PointMetric

M = TypeVar("M", bound=Metric)  # the kind of metric that a caller requests

# All metrics that a name without parameters represents
_METRIC_OF_NAME: Mapping[str, Metric] = ChainMap(POINT_METRICS, CURVE_METRICS)  # type: ignore[arg-type]

_AT_THRESHOLD = "_at_threshold"  # after the name of a point metric: this metric at a threshold


def find_metrics(
    names_or_metrics_argument: Any,
    metric_class: type[M],
    argument_name: str = "metrics=",
    *,
    takes_target: bool = False,
) -> list[M]:
    """Return metrics of one kind from names or values, in order; raise for unknown names and duplicates.

    Where curve metrics are requested, point metrics may be taken, too, at a target.
    """
    names_or_metrics = read_list(
        argument_name, names_or_metrics_argument, "names or metrics", single_type=(str, Metric)
    )
    metrics_of_class = [
        _find_metric(name_or_metric, argument_name, metric_class, takes_target)
        for name_or_metric in names_or_metrics
    ]
    if repeated_names := find_repeats(metric.name for metric in metrics_of_class):
        raise PrcError(
            f"leave out or rename one with .alias(...): {argument_name} has {repeated_names[0]!r} twice"
        )
    return metrics_of_class


def find_point_metric(name_or_metric: Any) -> PointMetric:
    """Return one point metric from its name or value; raise if there is no such metric."""
    return _find_metric(name_or_metric, "metric=", PointMetric)


def find_curve_metric(name_or_metric: Any) -> CurveMetric:
    """Return one curve metric from its name or value; raise if there is no such metric."""
    return _find_metric(name_or_metric, "metric=", CurveMetric)


def find_metric(name_or_metric: Any) -> PointMetric | CurveMetric:
    """Return a metric of either kind from its name or value; raise if there is no such metric."""
    return cast("PointMetric | CurveMetric", _find_metric(name_or_metric, "metric=", Metric))


def parse_metric(metric_text: str) -> Metric | None:
    """Return the metric of a name with parameters, such as `best(f1)`; None for other text."""
    try:
        call_node = ast.parse(metric_text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # of thousands of brackets
        return None
    if not isinstance(call_node, ast.Call) or not isinstance(call_node.func, ast.Name):
        return None
    factory_name, first_parameters = call_node.func.id, []
    if factory_name.endswith(_AT_THRESHOLD):
        first_parameters, factory_name = [factory_name.removesuffix(_AT_THRESHOLD)], "at_threshold"
    if factory_name not in EXAMPLE_OF_FACTORY:
        return None
    try:
        if call_node.keywords:
            raise TypeError
        parameters = map(_read_parameter, call_node.args)
        metric: Metric = DECLARED_BY_NAME[factory_name](*first_parameters, *parameters)
        return metric
    except PrcError:
        raise
    except (TypeError, ValueError):
        parameter_names = ", ".join(inspect.signature(DECLARED_BY_NAME[factory_name]).parameters)
        raise PrcError(
            f"expected {factory_name}({parameter_names}), such as {_write_example_call(factory_name)}; "
            f"got {metric_text}"
        ) from None


def default_curve_metric(*published_points: object) -> str:
    """Return the curve metric that represents a curve, a published one if points are not None."""
    # Between two published points only the line of the ROC curve is known. The area `pr_auc` follows
    # that line, so it does not depend on how many of its points are given. `average_precision` adds up
    # steps, and gets better with each further point.
    return "average_precision" if all(point is None for point in published_points) else "pr_auc"


def default_curve_metrics(*published_points: object, is_analytic: bool = False) -> list[str]:
    """Return the default metrics of a summary; if `is_analytic`, only those with an analytic error."""
    metric_names = dict.fromkeys([default_curve_metric(*published_points), "pr_auc", "roc_auc"])
    return [name for name in metric_names if not (is_analytic and name == "pr_auc")]


def _find_metric(
    name_or_metric: Any, argument_name: str, metric_class: type[M], takes_target: bool = False
) -> M:
    """Return the metric of a name or a value; raise if there is none, or if it is of the other kind."""
    metric = name_or_metric
    if isinstance(name_or_metric, str):
        metric = _METRIC_OF_NAME.get(name_or_metric) or parse_metric(name_or_metric)
        if metric is None:
            raise PrcError(describe_unknown(name_or_metric, metric_class))
    if isinstance(metric, metric_class):
        return metric
    if isinstance(metric, CurveMetric):
        raise PrcError(
            f"use .prc.summary(metrics={metric.name!r}): {metric.name!r} has one value for a whole curve"
        )
    if not isinstance(metric, PointMetric):
        expected_phrase = "a name or a metric" if argument_name == "metric=" else "names or metrics"
        raise refuse_kind(argument_name, expected_phrase, name_or_metric)
    metric_name = metric.name
    best_value_hint = (
        f"for its best value, pass 'best({metric_name})'" if metric.direction != "none" else ""
    )
    if takes_target:
        advice_phrase = "pass one, by threshold= or a target such as recall=0.8"
        advice_phrase += f"; {best_value_hint}" if best_value_hint else ""
    else:
        advice_phrase = f"write '{metric_name}_at_threshold(0.8)', or call operating_points()"
        advice_phrase += f"; {best_value_hint}" if best_value_hint else ""
    raise PrcError(f"{advice_phrase}: {metric_name!r} needs a threshold")


def describe_unknown(name: str, metric_class: type[Metric] = CurveMetric) -> str:
    """Return that no metric has a name, or which two have it, with a hint at what may be meant."""
    name_here, name = METRIC_OF_SYNONYM.get(name.lower()), shorten_name(name)
    if name_here == "pr_auc":
        return (
            f"{name!r} is used for two metrics: pass 'average_precision', a sum of steps as in "
            "scikit-learn, or 'pr_auc', interpolated between thresholds"
        )
    if name_here is not None:
        return f"no metric is named {name!r}; did you mean {name_here!r}?"
    factory_name = "at_threshold" if name.endswith(_AT_THRESHOLD) else name
    if factory_name in EXAMPLE_OF_FACTORY:
        return f"{name!r} takes parameters, such as {_write_example_call(factory_name)!r}"
    return f"no metric is named {name!r}; {_suggest_metrics(name, metric_class)}"


def _suggest_metrics(wrong_name: str, metric_class: type[Metric]) -> str:
    """Return a hint at the metrics that a wrong name may mean; of both kinds at those of curves."""
    function_name = wrong_name.partition("(")[0]
    if metric_class is PointMetric:
        if similar_names := get_close_matches(function_name, CURVE_METRICS, n=1, cutoff=0.85):
            [name] = similar_names
            return f"did you mean {name!r}? It has one value for a whole curve; use .prc.summary()"
        metric_names, factory_names = [*POINT_METRICS], list_factories(PointMetric)
    else:
        metric_names, factory_names = [*CURVE_METRICS], list_factories(CurveMetric)
        call_by_name = {
            f"{name}{_AT_THRESHOLD}": f"{name}{_AT_THRESHOLD}(0.8)" for name in POINT_METRICS
        }
        # A metric at a target, such as precision_at_recall, is less alike than 0.8.
        if get_close_matches(function_name, call_by_name, cutoff=0.85):
            return suggest_names(function_name, call_by_name, call_by_name)
        point_names = get_close_matches(function_name, POINT_METRICS, n=1, cutoff=0.85)
        if point_names and not get_close_matches(function_name, CURVE_METRICS, cutoff=0.85):
            [name] = point_names
            return f"did you mean {name!r}? It needs a threshold, as in '{name}{_AT_THRESHOLD}(0.8)'"
    call_by_name = {name: _write_example_call(name) for name in factory_names}
    return suggest_names(function_name, [*metric_names, *factory_names], call_by_name)


def _write_example_call(factory_name: str) -> str:
    """Return a call of a function that makes metrics."""
    return f"{factory_name}({EXAMPLE_OF_FACTORY[factory_name]})"


def _read_parameter(syntax_node: ast.expr) -> Any:
    """Return a parameter: a number, a text, a tuple, or another metric by its name."""
    if isinstance(syntax_node, ast.List | ast.Tuple):
        return tuple(map(_read_parameter, syntax_node.elts))
    if isinstance(syntax_node, ast.Name | ast.Call):
        return ast.unparse(syntax_node)
    return ast.literal_eval(syntax_node)
