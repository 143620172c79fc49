"""Metrics: values to call, to name and to pass.

A `PointMetric` has a value at each operating point, `(recall, fpr, eta)`. A `CurveMetric` has one value
for a whole curve. Wherever a method takes metrics, pass names or values. A metric with a parameter is
passed as a value, such as `metrics.f_beta(2)` or `metrics.best(metrics.f1)`. At a threshold, the name of
a point metric comes first: `metrics.precision_at_threshold(0.8)`, `metrics.f1_at_threshold(3)`.
"""

# ruff: noqa: F403, F405, PLE0604, PLC0414
# A metric is declared once, by a decorator over its formula in one of the modules below. The names that
# strings may use, `__all__` and this namespace all follow from that. The order of the modules is the
# order of metrics in the reference and in error messages.
# isort: off
from collections.abc import Callable
from functools import partial

from polars_prcurve.core.ground.name_hints import METRIC_OF_SYNONYM
from polars_prcurve.core.ground.name_hints import suggest_names
from polars_prcurve.core.metrics.metric_base import DECLARED_BY_NAME
from polars_prcurve.core.metrics.point_metric import POINT_METRICS, PointMetric as PointMetric
from polars_prcurve.core.metrics.curve_metric import CurveMetric as CurveMetric
from polars_prcurve.core.metrics.point_formulas import *
from polars_prcurve.core.metrics.areas import *
from polars_prcurve.core.metrics.curve_metrics_at_one_threshold import *
from polars_prcurve.core.metrics.means_over_eta import *
from polars_prcurve.core.metrics.metric_lookup import describe_unknown
# isort: on

__all__ = ["CurveMetric", "PointMetric", *sorted(DECLARED_BY_NAME)]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Callable[[float], CurveMetric]:
    """Return the function of a threshold that makes `at_threshold` of a point metric."""
    metric_name = name.removesuffix("_at_threshold")
    if metric_name == name or metric_name not in POINT_METRICS:
        is_synonym = name.lower() in METRIC_OF_SYNONYM
        hint_text = describe_unknown(name) if is_synonym else suggest_names(name, __all__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; {hint_text}")
    return partial(at_threshold, metric_name)


def __dir__() -> list[str]:
    return list(__all__)
