"""The prevalence at which a metric of an operating point has a given value, or that of another point.

Source: Williams 2021, eq. 2 solved for eta.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

import polars as pl

from polars_prcurve.core.ground.argument_checks import read_pair
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.metrics.metric_lookup import find_point_metric
from polars_prcurve.core.metrics.point_formulas import f_beta
from polars_prcurve.core.metrics.point_metric import Point, PointMetric, choose_where, evaluate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


@overload
def eta_for_precision(recall: pl.Expr, fpr: pl.Expr, precision: pl.Expr | float) -> pl.Expr: ...
@overload
def eta_for_precision(recall: float, fpr: float, precision: float) -> float: ...
@overload
def eta_for_precision(
    recall: ArrayLike, fpr: ArrayLike, precision: ArrayLike
) -> float | NDArray[np.float64]: ...


@hint_at_arguments
def eta_for_precision(recall: Any, fpr: Any, precision: Any) -> Any:
    """Return the prevalence at which an operating point has this precision.

    The prevalence is `p fpr / (p fpr + (1 - p) recall)` for a precision p, which is Williams 2021,
    eq. 2, solved for eta. It is NaN, or null from expressions, where no prevalence or every prevalence
    gives this precision (0/0).

    Examples
    --------
    What prevalence do I need for 90% precision, with recall 0.6 at fpr 0.001?

    >>> round(eta_for_precision(0.6, 0.001, 0.9), 6)
    0.014778
    """

    def solve(recall: Any, fpr: Any, precision: Any) -> Any:
        numerator = precision * fpr
        return numerator / (numerator + (1 - precision) * recall)

    return evaluate("eta_for_precision", solve, {"recall": recall, "fpr": fpr, "precision": precision})


@overload
def eta_for_f_beta(
    recall: pl.Expr, fpr: pl.Expr, value: pl.Expr | float, beta: float = 1
) -> pl.Expr: ...
@overload
def eta_for_f_beta(recall: float, fpr: float, value: float, beta: float = 1) -> float: ...
@overload
def eta_for_f_beta(
    recall: ArrayLike, fpr: ArrayLike, value: ArrayLike, beta: float = 1
) -> float | NDArray[np.float64]: ...


@hint_at_arguments
def eta_for_f_beta(recall: Any, fpr: Any, value: Any, beta: float = 1) -> Any:
    """Return the prevalence at which an operating point has this F-beta.

    It is NaN, or null from expressions, if there is no such prevalence: F-beta is greatest at
    prevalence 1, where it is `(1 + beta^2) recall / (recall + beta^2)`.

    Examples
    --------
    What prevalence do I need for an F1 of 0.5, with recall 0.6 at fpr 0.001?

    >>> round(eta_for_f_beta(0.6, 0.001, 0.5), 6)
    0.001248
    """
    f_beta(beta)  # raises if beta is not positive
    beta_squared = float(beta) ** 2

    # F-beta in shares is (1 + b) eta recall / (eta (recall + b) + (1 - eta) fpr), with b the square of
    # beta. Solved for the odds eta / (1 - eta), it is numerator / denominator.
    def solve(recall: Any, fpr: Any, value: Any) -> Any:
        numerator = value * fpr
        denominator = (1 + beta_squared) * recall - value * (recall + beta_squared)
        return choose_where(denominator > 0, numerator / (numerator + denominator), math.nan)

    return evaluate("eta_for_f_beta", solve, {"recall": recall, "fpr": fpr, "value": value})


@hint_at_arguments
def crossing(a: tuple[float, float], b: tuple[float, float], metric: str | PointMetric) -> float | None:
    """The prevalence at which two operating points change places on a metric; None if never.

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
    first_point, second_point = (
        read_pair("a point", point, "(recall, fpr), both in [0, 1]") for point in (a, b)
    )
    for rate in (*first_point, *second_point):
        if not 0 <= rate <= 1:
            raise PrcError(
                f"a point is (recall, fpr), both in [0, 1]; got {first_point} and {second_point}"
            )
    if point_metric.ties is None:
        raise PrcError(
            "use df.prc.crossings(metric=...), which searches: crossing() has no closed form "
            f"for your metric {point_metric.name!r}"
        )
    all_odds = point_metric.ties(Point(*first_point), Point(*second_point))
    etas = sorted({odds / (1 + odds) for odds in all_odds if 0 < odds < math.inf})
    if len(etas) > 1:
        etas_text = " and ".join(f"{eta:.6g}" for eta in etas)
        raise PrcError(
            f"pass another metric: by {point_metric.name} the points change places more than "
            f"once, at eta {etas_text}"
        )
    return etas[0] if etas else None
