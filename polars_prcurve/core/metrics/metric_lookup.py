"""The lookup of metrics by name, with hints for wrong names.

A name is what tables call a metric: `f1`, or with parameters `f_beta(2)` or `best(f1)`. Names with
parameters are parsed as Python, but never evaluated.
"""

from __future__ import annotations

import ast
import inspect
from collections import ChainMap
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from polars_prcurve.core.ground.argument_checks import (
    METRIC_OF_SYNONYM,
    find_repeats,
    read_list,
    refuse_kind,
)
from polars_prcurve.core.ground.errors import PrcError, suggest_names
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS, CurveMetric
from polars_prcurve.core.metrics.metric_base import DECLARED, Metric, list_factories
from polars_prcurve.core.metrics.point_metric import POINT_METRICS, PointMetric

M = TypeVar("M", bound=Metric)  # the kind of metric that a caller asks for

# All metrics that a name without parameters stands for
_METRICS: Mapping[str, Metric] = ChainMap(POINT_METRICS, CURVE_METRICS)  # type: ignore[arg-type]

_EXAMPLES = {
    "best": '"f1"',
    "f_beta": "2",
    "f_gain": "1",
    "integrated": '"average_precision", 0.01, 0.5',
    "integrated_average_precision": "0.01, 0.5",
    "net_benefit": "0.1",
    "partial_roc_auc": "0.1",
    "partial_roc_auc_mcclish": "0.1",
    "pr_auc_trapezoid": '"first"',
    "precision_at_recall": "0.8",
    "recall_at_fpr": "0.01",
    "recall_at_precision": "0.9",
}
"""Parameters for the functions that make metrics, so that a hint can be run as it stands."""


def find_metrics(
    metrics: Any, kind: type[M], argument: str = "metrics=", *, takes_target: bool = False
) -> list[M]:
    """Return metrics of one kind from names or values, in order; raise for unknown names and duplicates.

    Where curve metrics are asked for, point metrics may be taken, too, at a target.
    """
    names_or_metrics = read_list(argument, metrics, "names or metrics", single_type=(str, Metric))
    values = [_find_metric(value, argument, kind, takes_target) for value in names_or_metrics]
    if repeats := find_repeats(metric.name for metric in values):
        raise PrcError(f"metrics= asks for {repeats[0]!r} twice; rename one with .alias(...)")
    return values


def find_point_metric(metric: Any) -> PointMetric:
    """Return one point metric from its name or value; raise if there is no such metric."""
    return _find_metric(metric, "metric=", PointMetric)


def find_curve_metric(metric: Any) -> CurveMetric:
    """Return one curve metric from its name or value; raise if there is no such metric."""
    return _find_metric(metric, "metric=", CurveMetric)


def find_metric(metric: Any) -> PointMetric | CurveMetric:
    """Return a metric of either kind from its name or value; raise if there is no such metric."""
    return cast("PointMetric | CurveMetric", _find_metric(metric, "metric=", Metric))


def parse_metric(text: str) -> Metric | None:
    """Return the metric of a name with parameters, such as `best(f1)`; None for other text."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # of thousands of brackets
        return None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    if (name := call.func.id) not in _EXAMPLES:
        return None
    try:
        if call.keywords:
            raise TypeError
        metric: Metric = DECLARED[name](*map(_read_parameter, call.args))
        return metric
    except PrcError:
        raise
    except (TypeError, ValueError):
        signature = format_signature(name)
        raise PrcError(f"expected {signature}, such as {_example(name)}; got {text}") from None


def format_signature(name: str) -> str:
    """Return a function that makes metrics with its parameters, such as `f_beta(beta)`."""
    return f"{name}({', '.join(inspect.signature(DECLARED[name]).parameters)})"


def default_curve_metric(*points: object) -> str:
    """Return the curve metric that stands for a curve, of published `points` if one is not None."""
    # Between two published points only the line of the ROC curve is known. The area `pr_auc` follows
    # that line, so it does not depend on how many of its points are given. `average_precision` adds up
    # steps, and gets better with each further point.
    return "average_precision" if all(point is None for point in points) else "pr_auc"


def default_curve_metrics(*points: object, analytic: bool = False) -> list[str]:
    """Return the default metrics of a summary; if `analytic`, only those with an analytic error."""
    names = dict.fromkeys([default_curve_metric(*points), "pr_auc", "roc_auc"])
    return [name for name in names if not (analytic and name == "pr_auc")]


def _find_metric(name_or_metric: Any, argument: str, kind: type[M], takes_target: bool = False) -> M:
    """Return the metric of a name or a value; raise if there is none, or if it is of the other kind."""
    metric = name_or_metric
    if isinstance(name_or_metric, str):
        metric = _METRICS.get(name_or_metric) or _parse_name(name_or_metric, kind)
    if isinstance(metric, kind):
        return metric
    if isinstance(metric, CurveMetric):
        raise PrcError(
            f"{metric.name!r} has one value for a whole curve; "
            f"ask for it with .prc.summary(metrics={metric.name!r})"
        )
    if not isinstance(metric, PointMetric):
        expected = "a name or a metric" if argument == "metric=" else "names or metrics"
        raise refuse_kind(argument, expected, name_or_metric)
    name = metric.name
    best = f"metrics.best({name!r}) is its best value" if metric.direction != "none" else ""
    if takes_target:
        advice = "pass the one to take, by threshold= or a target such as recall=0.8"
        advice += f"; {best}" if best else ""
    else:
        advice = f"{best}, and " if best else ""
        advice += f".prc.operating_points(recall=0.8, metrics={name!r}) has its value at one"
    raise PrcError(f"{name!r} has a value at each threshold; {advice}")


def _parse_name(name: str, kind: type[Metric]) -> Metric:
    """Return the metric of a name with parameters; raise with a hint at what may be meant."""
    if (metric := parse_metric(name)) is not None:
        return metric
    if (our_name := METRIC_OF_SYNONYM.get(name.lower())) is not None:
        raise PrcError(f"no metric is named {name!r}; did you mean {our_name!r}?")
    if name in _EXAMPLES:
        raise PrcError(f"{name!r} takes parameters, such as metrics.{_example(name)}")
    is_point = kind is PointMetric  # where both kinds are taken, the hint is at curve metrics
    registry: Mapping[str, Metric] = POINT_METRICS if is_point else CURVE_METRICS
    factories = list_factories(PointMetric if is_point else CurveMetric)
    with_parameters = [f"metrics.{_example(other)}" for other in factories]
    raise PrcError(f"no metric is named {name!r}; {suggest_names(name, [*registry, *with_parameters])}")


def _example(name: str) -> str:
    """Return a call of a function that makes metrics."""
    return f"{name}({_EXAMPLES[name]})"


def _read_parameter(node: ast.expr) -> Any:
    """Return a parameter: a number, a text, a tuple, or another metric by its name."""
    if isinstance(node, ast.List | ast.Tuple):
        return tuple(map(_read_parameter, node.elts))
    if isinstance(node, ast.Name | ast.Call):
        return ast.unparse(node)
    return ast.literal_eval(node)
