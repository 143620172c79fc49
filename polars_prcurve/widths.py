"""How well rates are known says how well precision can be known, at whatever prevalence (B 5).

With U and L the greatest and the least ratio of recall to fpr that their intervals allow, the widest
gap between upper and lower precision over all prevalences is

    Delta = (sqrt(U) - sqrt(L)) / (sqrt(U) + sqrt(L))    at    eta = 1 / (1 + sqrt(U L)).

It is a mean of both relative half-widths, so at most the larger (B Theorem 1). Delta is the width of the
whole band: precision plus or minus Delta is about twice too wide.

Sources: (B) Brabec et al. 2020.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast, overload

import polars as pl

from polars_prcurve.bands import corners
from polars_prcurve.errors import PrcError
from polars_prcurve.intervals import RateMethod, known_method, limits, one_confidence, z_of
from polars_prcurve.point_metrics import PointMetric, point_metrics, where

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "PrecisionInterval",
    "Width",
    "max_width",
    "precision_interval",
    "rectangle_level",
    "sample_size",
    "smallest_eta",
]


Interval: TypeAlias = tuple[float, float]
SizeMethod: TypeAlias = Literal["wilson", "clopper_pearson", "jeffreys", "hoeffding", "wald", "chernoff"]


class PrecisionInterval(NamedTuple):
    """Both ends, of what kind eta was."""

    low: Any
    high: Any


class Width(NamedTuple):
    """The widest band over all prevalences."""

    delta: float
    """Upper less lower precision."""
    eta: float
    """Where that is; 0 or 1 if it is approached there, NaN if it is everywhere."""
    bound: float
    """The larger of both `(high - low) / (high + low)`, which delta does not exceed (B Theorem 1)."""
    up: float
    """The most by which precision may be above its estimate, at any prevalence."""
    down: float
    """And below."""


def precision_interval(
    recall: float,
    fpr: float,
    eta: float | ArrayLike | pl.Expr,
    recall_half_width: float | None = None,
    fpr_half_width: float | None = None,
    *,
    recall_cv: float | None = None,
    fpr_cv: float | None = None,
    recall_interval: Interval | None = None,
    fpr_interval: Interval | None = None,
    metric: str | PointMetric = "precision",
) -> PrecisionInterval:
    """The least and the greatest precision that intervals of recall and fpr allow (Brabec et al. 2020).

    Parameters
    ----------
    recall, fpr
        The estimates.
    eta
        The prevalence: a number, an array or an expression.
    recall_half_width, fpr_half_width
        The intervals are `recall - recall_half_width` to `recall + recall_half_width`, cut to [0, 1].
    recall_cv, fpr_cv
        The same as shares of the estimates, coefficients of variation, in place of half-widths.
    recall_interval, fpr_interval
        Or both ends of each, such as `rate_interval` gives.
    metric
        Another point metric than precision.

    Returns
    -------
    `(low, high)`. It holds both rates' intervals at once: each of level L gives at least `L * L`.

    Examples
    --------
    >>> low, high = precision_interval(0.6, 0.001, 0.01, 0.06, 0.0005)
    >>> round(low, 4), round(high, 4)
    (0.7843, 0.9302)
    """
    asked = point_metrics(metric)
    if len(asked) != 1:
        raise PrcError(f"precision_interval is of one metric; got {len(asked)}")
    of = asked[0]
    recalls = _cut(_ends("recall", recall, recall_half_width, recall_cv, recall_interval))
    fprs = _cut(_ends("fpr", fpr, fpr_half_width, fpr_cv, fpr_interval))
    at: Any = eta
    rates = ((recalls[t], fprs[f]) for t, f in corners(of))
    if isinstance(eta, pl.Expr):
        return PrecisionInterval(*(of(pl.lit(t), pl.lit(f), at) for t, f in rates))
    return PrecisionInterval(*(of(t, f, at) for t, f in rates))


def max_width(
    recall: float,
    fpr: float,
    recall_half_width: float | None = None,
    fpr_half_width: float | None = None,
    *,
    recall_cv: float | None = None,
    fpr_cv: float | None = None,
    recall_interval: Interval | None = None,
    fpr_interval: Interval | None = None,
) -> Width:
    """The widest band of precision over all prevalences, and where it is.

    Parameters are as for `precision_interval`. An upper end above 1 is not cut; cutting it could
    only make delta smaller.

    Examples
    --------
    >>> width = max_width(0.6, 0.001, 0.06, 0.0005)
    >>> round(width.delta, 7), round(width.eta, 7), width.bound
    (0.3138593, 0.0014485, 0.5)
    """
    low, high = _ends("recall", recall, recall_half_width, recall_cv, recall_interval)
    fpr_low, fpr_high = _ends("fpr", fpr, fpr_half_width, fpr_cv, fpr_interval)
    return _width((max(low, 0.0), recall, high), (max(fpr_low, 0.0), fpr, fpr_high))


def _width(recall: tuple[float, float, float], fpr: tuple[float, float, float]) -> Width:
    """From the lower end, the estimate and the upper end of both."""
    least, ratio, greatest = (_ratio(t, f) for t, f in zip(recall, reversed(fpr), strict=True))
    bound = max((high - low) / (high + low) if high > 0 else 1.0 for low, _, high in (recall, fpr))
    if least == 0 and math.isinf(greatest):
        eta = math.nan
    elif least == 0:
        eta = 1.0
    else:
        eta = 1 / (1 + math.sqrt(greatest) * math.sqrt(least))
    return Width(_gap(least, greatest), eta, bound, _gap(ratio, greatest), _gap(least, ratio))


def _ratio(recall: float, fpr: float) -> float:
    if fpr > 0:
        return recall / fpr
    return math.inf if recall > 0 else math.nan


def _gap(low: float, high: float) -> float:
    """The widest gap between the precisions of two ratios of recall to fpr."""
    if math.isinf(high):
        return 0.0 if math.isinf(low) else 1.0
    low, high = math.sqrt(low), math.sqrt(high)
    return (high - low) / (high + low) if high > 0 else 0.0


def _ends(
    name: str,
    value: float,
    half_width: float | None,
    cv: float | None,
    interval: Interval | None,
) -> Interval:
    if [half_width, cv, interval].count(None) != 2:
        raise PrcError(f"pass one of {name}_half_width=, {name}_cv= and {name}_interval=")
    if not 0 <= value <= 1:
        raise PrcError(f"{name} must lie in [0, 1]; got {value}")
    if interval is not None:
        low, high = interval
    else:
        half = value * cv if cv is not None else float(half_width or 0.0)
        low, high = value - half, value + half
    if not low <= value <= high:
        raise PrcError(f"the interval of {name} holds it; got {low} to {high} for {value}")
    return low, high


def _cut(ends: Interval) -> Interval:
    return max(ends[0], 0.0), min(ends[1], 1.0)


def rectangle_level(
    recall: float,
    fpr: float,
    n_pos: int,
    n_neg: int,
    *,
    confidence: float = 0.95,
    method: RateMethod = "wilson",
    n_draws: int | None = None,
    seed: int | None = None,
) -> float:
    """The level that a band from both rates' intervals really has, if each is of level `confidence`.

    Both are seldom wrong at once and in opposite ways, so it is more than the product that is
    guaranteed, `confidence**2`. It is the same at every prevalence.

    Parameters
    ----------
    recall, fpr
        The true rates.
    n_pos, n_neg
        Positives and negatives in the test set.
    confidence, method
        The interval of either rate; see `rate_interval`.
    n_draws
        Draw so many test sets, count how often the band holds the truth, and return the share.
        Without it the normal approximation, which knows no method:
        `2 Phi(z (a + b) / sqrt(a**2 + b**2)) - 1` with a and b the standard errors over the rates.
    seed
        Of the draws.

    Examples
    --------
    >>> round(rectangle_level(0.6, 0.01, 500, 50_000), 4)
    0.9942
    """
    z = z_of(one_confidence(confidence))
    known_method(method)
    if not (0 < recall <= 1 and 0 < fpr <= 1):
        raise PrcError(f"rectangle_level needs true rates above 0 and at most 1; got {recall}, {fpr}")
    if min(n_pos, n_neg) < 1 or (n_draws is not None and n_draws < 1):
        raise PrcError("rectangle_level needs positives, negatives and, if any, draws")
    if n_draws is None:
        a, b = (math.sqrt((1 - rate) / (rate * n)) for rate, n in ((recall, n_pos), (fpr, n_neg)))
        return math.erf(z * (a + b) / math.hypot(a, b) / math.sqrt(2)) if a + b > 0 else 1.0
    import numpy as np

    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        recalls, fprs = (
            limits(rng.binomial(n, rate, n_draws).astype(float), float(n), confidence, method)
            for rate, n in ((recall, n_pos), (fpr, n_neg))
        )
    # Precision rises with the ratio of recall to fpr, at every prevalence alike.
    holds = (recalls[0] * fpr <= recall * fprs[1]) & (recalls[1] * fpr >= recall * fprs[0])
    return float(np.mean(holds))


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise PrcError(f"delta= lies between 0 and 1; got {delta!r}")


def smallest_eta(
    recall_low: pl.Expr, recall_high: pl.Expr, fpr_low: pl.Expr, fpr_high: pl.Expr, *, delta: float
) -> pl.Expr:
    """The prevalence from which on the band of precision is nowhere wider than `delta`.

    With odds r = eta / (1 - eta) it is as wide where r U / (1 + r U) - r L / (1 + r L) = delta: at the
    larger root of a quadratic. 0 where it is never wider, and null where it is as wide up to eta = 1.
    """
    _check_delta(delta)
    least, inverse = recall_low / fpr_high, fpr_low / recall_high  # L and 1 / U
    product = least * inverse
    half = (1 - product) - delta * (1 + product)
    square = half * half - 4 * delta * delta * product
    # eta = r / (1 + r), of the root (half + sqrt(square)) / (2 delta L)
    above = half + square.sqrt()
    eta = above / (above + 2 * delta * least)
    never_wider = (square < 0) | (half < 0)
    found = pl.when(never_wider).then(0.0).when(recall_low > 0).then(eta)
    return found.fill_nan(None)


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


def sample_size(
    rate: Any, delta: float = 0.1, confidence: float = 0.95, method: SizeMethod = "wilson"
) -> Any:
    """How many examples of a class tell its rate so well that precision is known to `delta`.

    With as many positives for recall, and negatives for fpr, the band of precision between both
    intervals is nowhere wider than `delta` (Brabec et al. 2020, section 5): the upper end of either
    is at most `(1 + delta) / (1 - delta)` times the lower.

    Parameters
    ----------
    rate
        The recall, or the fpr, that is expected, above 0: a number, an array or an expression.
    delta
        The width of the whole band.
    confidence, method
        The interval; see `rate_interval`. Besides these there are `"wald"`, whose rule is
        `(z / delta)**2` false positives, and `"chernoff"`.

    Returns
    -------
    A number of examples, rounded up: an int from a number, else Float64; null where an expression is 0.

    Examples
    --------
    >>> sample_size(0.6), sample_size(0.001)
    (254, 380880)
    """
    _check_delta(delta)
    level, size = one_confidence(confidence), _SIZES.get(method)
    if isinstance(rate, pl.Expr):
        if size is None:
            limits(rate, rate, level, method)  # which says why there is no expression
        return pl.when(rate > 0).then(cast("Any", size)(rate, delta, level).ceil())
    import numpy as np

    rates = np.asarray(rate, dtype=float)
    if not ((rates > 0) & (rates <= 1)).all():
        raise PrcError(f"sample_size needs rates above 0 and at most 1; got {rate!r}")
    found = size(rates, delta, level) if size else _by_halving(rates, delta, level, method)
    return math.ceil(found) if rates.ndim == 0 else np.ceil(found)


def _by_halving(rate: Any, delta: float, confidence: float, method: str) -> Any:
    """The least number of trials, as a real number, at which the interval is narrow enough."""
    import numpy as np

    apart = (1 + delta) / (1 - delta)

    def is_enough(n: Any) -> Any:
        low, high = limits(rate * n, n, confidence, method)
        return high <= apart * low

    few, enough = np.ones_like(rate), np.full_like(rate, 2.0)
    while not (done := is_enough(enough)).all():
        few, enough = np.where(done, few, enough), np.where(done, enough, 2 * enough)
    while (enough - few > 1e-9 * enough).any():
        middle = (few + enough) / 2
        done = is_enough(middle)
        few, enough = np.where(done, few, middle), np.where(done, middle, enough)
    return few


def _wilson_size(rate: Any, delta: float, confidence: float) -> Any:
    """Where the half-width of Wilson's interval is delta times its centre."""
    square = delta**2
    kappa = rate * (1 - rate) - square * rate
    root = (kappa**2 + (1 - square) * square * rate**2) ** 0.5
    # 2 (root - kappa) / (1 - delta**2), by its conjugate where the difference would cancel
    u = where(kappa > 0, 2 * square * rate**2 / (root + kappa), (root - kappa) * (2 / (1 - square)))
    return z_of(confidence) ** 2 / u


def _log(confidence: float) -> float:
    return math.log(2 / (1 - confidence))


_SIZES: dict[str, Callable[[Any, float, float], Any]] = {
    "wilson": _wilson_size,
    "hoeffding": lambda p, delta, level: _log(level) / 2 / (delta * p) ** 2,
    "chernoff": lambda p, delta, level: 3 * _log(level) / delta**2 / p,
    "wald": lambda p, delta, level: (z_of(level) / delta) ** 2 * (1 - p) / p,
}
"""Those with a closed form."""
