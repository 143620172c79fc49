"""The prevalence at which an operating point has a given precision or F-beta."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

import polars as pl

from polars_prcurve.point_metrics import evaluate, f_beta, where

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["eta_for_f_beta", "eta_for_precision"]


@overload
def eta_for_precision(recall: pl.Expr, fpr: pl.Expr, precision: pl.Expr | float) -> pl.Expr: ...
@overload
def eta_for_precision(recall: float, fpr: float, precision: float) -> float: ...
@overload
def eta_for_precision(
    recall: ArrayLike, fpr: ArrayLike, precision: ArrayLike
) -> float | NDArray[np.float64]: ...


def eta_for_precision(recall: Any, fpr: Any, precision: Any) -> Any:
    """The prevalence at which an operating point has this precision.

    `p fpr / (p fpr + (1 - p) recall)`, the inverse of Williams 2021, eq. 2. NaN, or null from
    expressions, where no prevalence or every one gives it (0/0).

    Examples
    --------
    What prevalence do I need for 90 % precision, with recall 0.6 at fpr 0.001?

    >>> round(eta_for_precision(0.6, 0.001, 0.9), 6)
    0.014778
    """

    def solved(recall: Any, fpr: Any, precision: Any) -> Any:
        above = precision * fpr
        return above / (above + (1 - precision) * recall)

    return evaluate("eta_for_precision", solved, {"recall": recall, "fpr": fpr, "precision": precision})


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


def eta_for_f_beta(recall: Any, fpr: Any, value: Any, beta: float = 1) -> Any:
    """The prevalence at which an operating point has this F-beta.

    NaN, or null from expressions, where it has it at no prevalence: F-beta at most reaches
    `(1 + beta^2) recall / (recall + beta^2)`, at prevalence 1.

    Examples
    --------
    >>> round(eta_for_f_beta(0.6, 0.001, 0.5), 6)
    0.001248
    """
    f_beta(beta)  # refuses a beta that is not positive
    b = float(beta) ** 2

    def solved(recall: Any, fpr: Any, value: Any) -> Any:
        above = value * fpr
        below = (1 + b) * recall - value * (recall + b)
        return where(below > 0, above / (above + below), math.nan)

    return evaluate("eta_for_f_beta", solved, {"recall": recall, "fpr": fpr, "value": value})
