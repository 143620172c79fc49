"""The prevalence at which a metric of an operating point has a given value.

Source: Williams 2021, eq. 2 solved for eta.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

import polars as pl

from polars_prcurve.argument_checks import hint_at_arguments
from polars_prcurve.metrics.point_metric import choose_where, evaluate
from polars_prcurve.metrics.point_metrics import f_beta

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
    What prevalence do I need for 90 % precision, with recall 0.6 at fpr 0.001?

    >>> round(eta_for_precision(0.6, 0.001, 0.9), 6)
    0.014778
    """

    def solve(recall: Any, fpr: Any, precision: Any) -> Any:
        above = precision * fpr
        return above / (above + (1 - precision) * recall)

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
    b = float(beta) ** 2

    # F-beta in shares is (1 + b) eta recall / (eta (recall + b) + (1 - eta) fpr). Solved for the odds
    # eta / (1 - eta), it is above / below.
    def solve(recall: Any, fpr: Any, value: Any) -> Any:
        above = value * fpr
        below = (1 + b) * recall - value * (recall + b)
        return choose_where(below > 0, above / (above + below), math.nan)

    return evaluate("eta_for_f_beta", solve, {"recall": recall, "fpr": fpr, "value": value})
