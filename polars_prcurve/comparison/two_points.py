"""The prevalence at which two operating points trade places, from the equation of a metric."""

from __future__ import annotations

import math

from polars_prcurve.argument_checks import hint_at_arguments, read_pair
from polars_prcurve.errors import PrcError
from polars_prcurve.metrics.names import find_point_metric
from polars_prcurve.metrics.point_metric import PointMetric


@hint_at_arguments
def crossing(a: tuple[float, float], b: tuple[float, float], metric: str | PointMetric) -> float | None:
    """The prevalence at which two operating points trade places on a metric; None if never.

    A point is `(recall, fpr)`. Below the prevalence one point is better, above it the other.
    Metrics that do not depend on prevalence never cross. Nor do precision, fdr and lift, which
    order points by `recall / fpr` at every prevalence, nor npv and false_omission_rate, which
    order them by `(1 - recall) / (1 - fpr)`.

    Examples
    --------
    >>> round(crossing((0.9, 0.01), (0.6, 0.001), "f1"), 6)
    0.016716
    >>> crossing((0.9, 0.01), (0.6, 0.001), "precision") is None
    True
    """
    point_metric = find_point_metric(metric)
    a, b = (read_pair("a point", point, "(recall, fpr), both in [0, 1]") for point in (a, b))
    for rate in (*a, *b):
        if not 0 <= rate <= 1:
            raise PrcError(f"a point is (recall, fpr), both in [0, 1]; got {a} and {b}")
    if point_metric.ties is None:
        raise PrcError(
            f"crossing() has no closed form for your metric {point_metric.name!r}; "
            "df.prc.crossings(metric=...) searches for it"
        )
    etas = sorted({r / (1 + r) for r in point_metric.ties(a, b) if 0 < r < math.inf})
    if len(etas) > 1:
        values = " and ".join(f"{eta:.6g}" for eta in etas)
        raise PrcError(f"the points trade places on {point_metric.name} more than once, at eta {values}")
    return etas[0] if etas else None
