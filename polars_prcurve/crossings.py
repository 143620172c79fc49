"""Prevalences at which something happens to an operating point, or between two of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

import polars as pl

from polars_prcurve.errors import PrcError
from polars_prcurve.point_metrics import PointMetric, evaluate, f_beta, point_metrics, where

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["crossing", "eta_for_f_beta", "eta_for_precision"]


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
    [asked] = point_metrics(metric)
    for rate in (*a, *b):
        if not 0 <= rate <= 1:
            raise PrcError(f"a point is (recall, fpr), both in [0, 1]; got {a} and {b}")
    found = sorted(set(_inside(asked.ties(a, b))))
    if len(found) > 1:
        values = " and ".join(f"{eta:.6g}" for eta in found)
        raise PrcError(f"the points trade places on {asked.name} more than once, at eta {values}")
    return found[0] if found else None


def _inside(odds: Iterable[float]) -> Iterable[float]:
    return (r / (1 + r) for r in odds if 0 < r < math.inf)
