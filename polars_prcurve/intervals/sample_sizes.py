"""Sample sizes: the numbers of positives and negatives at which precision is known to a given width.

The interval of a rate is narrow enough if its upper end is at most (1 + delta) / (1 - delta) times the
lower end. Four methods have a closed form for that; the others are solved by halving.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args, overload

import polars as pl

from polars_prcurve.argument_kinds import read_choice, read_numbers
from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.errors import PrcError
from polars_prcurve.intervals.precision_width import check_delta
from polars_prcurve.intervals.rates import check_confidence, compute_limits, z_value
from polars_prcurve.metrics.point_metric import choose_where

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


SizeMethod: TypeAlias = Literal["wilson", "clopper_pearson", "jeffreys", "hoeffding", "wald", "chernoff"]


@overload
def sample_size(
    rate: float, delta: float = 0.1, confidence: float = 0.95, method: SizeMethod = "wilson"
) -> int: ...


@overload
def sample_size(
    rate: pl.Expr, delta: float = 0.1, confidence: float = 0.95, method: SizeMethod = "wilson"
) -> pl.Expr: ...


@overload
def sample_size(
    rate: ArrayLike, delta: float = 0.1, confidence: float = 0.95, method: SizeMethod = "wilson"
) -> Any: ...


@hint_at_arguments
def sample_size(
    rate: Any, delta: float = 0.1, confidence: float = 0.95, method: SizeMethod = "wilson"
) -> Any:
    """Return the number of examples of a class that its rate needs for precision to be known to `delta`.

    Take that number of positives for recall, and of negatives for fpr. Then the band of precision
    between both intervals is nowhere wider than `delta` (Brabec et al. 2020, section 5), because the
    upper end of either interval is at most `(1 + delta) / (1 - delta)` times the lower end. To know the
    rate itself to a width takes another number, which `rate_interval` tells.

    Parameters
    ----------
    rate
        The recall, or the fpr, that is expected, above 0: a number, an array or an expression.
    delta
        The width of the whole band.
    confidence, method
        The interval; see `rate_interval`. There are also `"wald"`, whose rule is `(z / delta)**2`
        false positives, and `"chernoff"`.

    Returns
    -------
    A number of examples, rounded up: an int from a number, otherwise Float64; null where an expression
    is 0.

    Examples
    --------
    >>> sample_size(0.6), sample_size(0.001)
    (254, 380880)
    """
    check_delta(delta)
    read_choice("method=", method, get_args(SizeMethod))
    level, size = check_confidence(confidence), _SIZE_FORMULAS.get(method)
    if isinstance(rate, pl.Expr):
        if size is None:
            compute_limits(rate, rate, level, method)  # raises, and says why there is no expression
        return pl.when(rate > 0).then(cast("Any", size)(rate, delta, level).ceil())
    import numpy as np

    rates = read_numbers("rate", rate)
    if not ((rates > 0) & (rates <= 1)).all():
        raise PrcError(f"sample_size needs rates above 0 and at most 1; got {rate!r}")
    numbers = size(rates, delta, level) if size else _solve_by_halving(rates, delta, level, method)
    return math.ceil(numbers) if rates.ndim == 0 else np.ceil(numbers)


def _solve_by_halving(rate: Any, delta: float, confidence: float, method: str) -> Any:
    """Return the least number of trials, as a real number, at which the interval is narrow enough."""
    import numpy as np

    max_ratio = (1 + delta) / (1 - delta)

    def is_enough(n: Any) -> Any:
        low, high = compute_limits(rate * n, n, confidence, method)
        return high <= max_ratio * low

    few, enough = np.ones_like(rate), np.full_like(rate, 2.0)
    while not (suffices := is_enough(enough)).all():
        few, enough = np.where(suffices, few, enough), np.where(suffices, enough, 2 * enough)
    while (enough - few > 1e-9 * enough).any():
        middle = (few + enough) / 2
        suffices = is_enough(middle)
        few, enough = np.where(suffices, few, middle), np.where(suffices, middle, enough)
    return few  # the caller rounds up, and `enough` may be just above a whole number that suffices


def _wilson_size(rate: Any, delta: float, confidence: float) -> Any:
    """Return n at which the half-width of Wilson's interval is delta times its centre.

    With u = z**2 / n that is (1 - delta**2) u**2 / 4 + kappa u - delta**2 rate**2 = 0.
    """
    square = delta**2
    kappa = rate * (1 - rate) - square * rate
    root = (kappa**2 + (1 - square) * square * rate**2) ** 0.5
    # u = 2 (root - kappa) / (1 - delta**2). If kappa > 0 the difference would cancel, so
    # numerator and denominator are multiplied by root + kappa.
    u = choose_where(
        kappa > 0, 2 * square * rate**2 / (root + kappa), (root - kappa) * (2 / (1 - square))
    )
    return z_value(confidence) ** 2 / u


def _log_tail(confidence: float) -> float:
    """Return log(2 / (1 - confidence)), which bounds of Hoeffding and Chernoff share."""
    return math.log(2 / (1 - confidence))


_SIZE_FORMULAS: dict[str, Callable[[Any, float, float], Any]] = {
    "wilson": _wilson_size,
    "hoeffding": lambda p, delta, level: _log_tail(level) / 2 / (delta * p) ** 2,
    "chernoff": lambda p, delta, level: 3 * _log_tail(level) / delta**2 / p,
    "wald": lambda p, delta, level: (z_value(level) / delta) ** 2 * (1 - p) / p,
}
"""The methods with a closed form, as functions of rate, delta and confidence."""
