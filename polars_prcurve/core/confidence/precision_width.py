"""How well precision can be known at any prevalence, from how well recall and fpr are known (B 5).

Let U and L be the greatest and the least ratio of recall to fpr that their intervals allow. Then the
widest gap between upper and lower precision over all prevalences is

    Delta = (sqrt(U) - sqrt(L)) / (sqrt(U) + sqrt(L))    at    eta = 1 / (1 + sqrt(U L)).

Delta is a mean of the relative half-widths of both intervals, so it is at most the larger (B Theorem 1).
Delta is the width of the whole band: precision plus or minus Delta is about twice too wide.

Sources: (B) Brabec et al. 2020.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve.core.confidence.intervals import (
    RateMethod,
    check_confidence,
    check_rate_method,
    compute_limits,
    z_value,
)
from polars_prcurve.core.confidence.point_intervals import find_corners
from polars_prcurve.core.ground import argument_checks as arguments
from polars_prcurve.core.ground.argument_checks import hint_at_arguments
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_numpy import numpy as np
from polars_prcurve.core.metrics.metric_lookup import find_point_metric
from polars_prcurve.core.metrics.point_metric import PointMetric, null_if_nan

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


Interval: TypeAlias = tuple[float, float]  # the low and the high end of what is known of a rate


class PrecisionInterval(NamedTuple):
    """The low and the high end of a metric: floats, arrays or expressions, as eta was."""

    low: Any
    high: Any


class Width(NamedTuple):
    """The widest band over all prevalences."""

    delta: float
    """The width of the band: upper minus lower precision."""
    eta: float
    """The prevalence at which the band is widest; 0 or 1 if the width is only approached there, NaN if
    the band has this width everywhere."""
    bound: float
    """The larger of both `(high - low) / (high + low)`, which delta does not exceed (B Theorem 1)."""
    up: float
    """The largest possible distance of precision above its estimate, at any prevalence."""
    down: float
    """The largest possible distance of precision below its estimate, at any prevalence."""


@hint_at_arguments
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
    """Return the least and the greatest precision that intervals of recall and fpr allow.

    The formulas are from Brabec et al. 2020.

    Parameters
    ----------
    recall, fpr
        The estimates.
    eta
        The prevalence: a number, an array or an expression.
    recall_half_width, fpr_half_width
        The intervals are `recall - recall_half_width` to `recall + recall_half_width`, cut to [0, 1].
    recall_cv, fpr_cv
        Half-widths as shares of the estimates (coefficients of variation), in place of absolute ones.
    recall_interval, fpr_interval
        The low and high end of each interval, such as `rate_interval` gives, in place of half-widths.
    metric
        A point metric other than precision.

    Returns
    -------
    `(low, high)`. It takes both intervals to hold at once: if each has level L, the result has at least
    the level `L * L`.

    Examples
    --------
    >>> low, high = precision_interval(0.6, 0.001, 0.01, 0.06, 0.0005)
    >>> round(low, 4), round(high, 4)
    (0.7843, 0.9302)
    """
    compute: Any = find_point_metric(metric)
    intervals = (
        _read_ends(
            "recall", recall, half_width=recall_half_width, cv=recall_cv, interval=recall_interval
        ),
        _read_ends("fpr", fpr, half_width=fpr_half_width, cv=fpr_cv, interval=fpr_interval),
    )
    recalls, fprs = ((max(low, 0.0), min(high, 1.0)) for low, high in intervals)
    corners = ((recalls[t], fprs[f]) for t, f in find_corners(compute))
    if isinstance(eta, pl.Expr):
        return PrecisionInterval(*(compute(pl.lit(t), pl.lit(f), eta) for t, f in corners))
    return PrecisionInterval(*(compute(t, f, eta) for t, f in corners))


@hint_at_arguments
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
    """Return the widest band of precision over all prevalences, and the prevalence where it is widest.

    Parameters are as for `precision_interval`. An upper end above 1 is not cut to 1; a cut could
    only make delta smaller.

    Examples
    --------
    >>> width = max_width(0.6, 0.001, 0.06, 0.0005)
    >>> round(width.delta, 7), round(width.eta, 7), width.bound
    (0.3138593, 0.0014485, 0.5)
    """
    low, high = _read_ends(
        "recall", recall, half_width=recall_half_width, cv=recall_cv, interval=recall_interval
    )
    fpr_low, fpr_high = _read_ends(
        "fpr", fpr, half_width=fpr_half_width, cv=fpr_cv, interval=fpr_interval
    )
    low, fpr_low = max(low, 0.0), max(fpr_low, 0.0)
    # Recall / fpr is infinite if only fpr is 0, and NaN if both are.
    least, ratio, greatest = (
        t / f if f > 0 else math.inf if t > 0 else math.nan
        for t, f in ((low, fpr_high), (recall, fpr), (high, fpr_low))
    )
    ends = ((low, high), (fpr_low, fpr_high))
    bound = max((most - least) / (most + least) if most > 0 else 1.0 for least, most in ends)
    if least == 0 and math.isinf(greatest):
        eta = math.nan
    elif least == 0:
        eta = 1.0
    else:
        eta = 1 / (1 + math.sqrt(greatest) * math.sqrt(least))  # the product itself could overflow
    return Width(
        delta=_widest_gap(least, greatest),
        eta=eta,
        bound=bound,
        up=_widest_gap(ratio, greatest),
        down=_widest_gap(least, ratio),
    )


def _widest_gap(low: float, high: float) -> float:
    """Return the widest gap, over all prevalences, between the precisions of two ratios recall / fpr."""
    if math.isinf(high):
        return 0.0 if math.isinf(low) else 1.0
    # Precision is L o / (1 + L o), with odds o of eta and L = recall / fpr. Two are farthest apart where
    # o^2 = 1 / (L_low L_high): there they are sqrt(L) / (sqrt(L_low) + sqrt(L_high)).
    low, high = math.sqrt(low), math.sqrt(high)
    return (high - low) / (high + low) if high > 0 else 0.0


def _read_ends(
    name: str, value: float, *, half_width: float | None, cv: float | None, interval: Interval | None
) -> Interval:
    """Return the ends of an interval from the one argument that tells them; they may leave [0, 1]."""
    if sum(argument is None for argument in (half_width, cv, interval)) != 2:
        raise PrcError(f"pass one of {name}_half_width=, {name}_cv= and {name}_interval=")
    value = arguments.read_number(name, value, "a number in [0, 1]", lambda rate: 0 <= rate <= 1)
    if interval is not None:
        low, high = arguments.read_pair(f"{name}_interval=", interval, "a low and a high end")
    else:
        argument, size = ("half_width", half_width) if cv is None else ("cv", cv)
        half = arguments.read_number(f"{name}_{argument}=", size, "a number")
        half *= 1 if cv is None else value
        low, high = value - half, value + half
    if not low <= value <= high:
        raise PrcError(f"the interval of {name} must contain {value}; got {low} to {high}")
    return low, high


@hint_at_arguments
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
    """Return the level that a rectangle band really has, if the interval of each rate has `confidence`.

    The guaranteed level is only the product, `confidence**2`. The real one is higher, because both rates
    are seldom wrong at once and in opposite ways. It is the same at every prevalence.

    Parameters
    ----------
    recall, fpr
        The true rates.
    n_pos, n_neg
        Positives and negatives in the test set.
    confidence, method
        The interval of either rate; see `rate_interval`.
    n_draws
        The number of test sets to draw; the result is the share of them whose band holds the truth.
        Without it, the result is the normal approximation, which does not depend on `method`:
        `2 Phi(z (a + b) / sqrt(a**2 + b**2)) - 1` with a and b the standard errors over the rates.
    seed
        The seed of the draws.

    Examples
    --------
    >>> round(rectangle_level(0.6, 0.01, 500, 50_000), 4)
    0.9942
    """
    z = z_value(check_confidence(confidence))
    check_rate_method(method)
    recall, fpr = (
        arguments.read_number(
            name, rate, "a true rate above 0 and at most 1", lambda rate: 0 < rate <= 1
        )
        for name, rate in (("recall", recall), ("fpr", fpr))
    )
    n_pos = arguments.read_whole_number("n_pos=", n_pos, 1)
    n_neg, seed = arguments.read_whole_number("n_neg=", n_neg, 1), arguments.read_seed(seed)
    if n_draws is None:
        a, b = (math.sqrt((1 - rate) / (rate * n)) for rate, n in ((recall, n_pos), (fpr, n_neg)))
        return math.erf(z * (a + b) / math.hypot(a, b) / math.sqrt(2)) if a + b > 0 else 1.0
    n_draws = arguments.read_whole_number("n_draws=", n_draws, 1, most=arguments.MOST_REPEATS)
    rng = np.random.default_rng(seed)
    samples = (
        (rng.binomial(n, rate, n_draws).astype(float), float(n))
        for rate, n in ((recall, n_pos), (fpr, n_neg))
    )
    with np.errstate(all="ignore"):
        recalls, fprs = (compute_limits(hits, n, confidence, method) for hits, n in samples)
    # At every prevalence precision rises with recall / fpr, so the band holds the true precision if the
    # ratios at its corners enclose the true ratio. Products compare ratios without dividing by 0.
    holds = (recalls[0] * fpr <= recall * fprs[1]) & (recalls[1] * fpr >= recall * fprs[0])
    return float(np.mean(holds))


def check_delta(delta: float) -> float:
    """Return delta as a float; raise unless it lies between 0 and 1."""
    return arguments.read_number("delta=", delta, "a width between 0 and 1", lambda width: 0 < width < 1)


def smallest_eta(least: pl.Expr, inverse: pl.Expr, *, delta: float) -> pl.Expr:
    """Return the least eta above which no band is wider than `delta`: 0 if none is, null if all are."""
    delta = check_delta(delta)
    # `least` is the low end L of the ratio recall / fpr, and `inverse` is 1 / U of its high end. With
    # the odds r = eta / (1 - eta) the width is delta where r U / (1 + r U) - r L / (1 + r L) = delta.
    # This is a quadratic in r, of which the larger root counts.
    product = least * inverse
    half = (1 - product) - delta * (1 + product)
    square = half * half - 4 * delta * delta * product
    # eta = r / (1 + r), of the root (half + sqrt(square)) / (2 delta L)
    numerator = half + square.sqrt()
    eta = numerator / (numerator + 2 * delta * least)
    is_never_wider = (square < 0) | (half < 0)
    return null_if_nan(pl.when(is_never_wider).then(0.0).when(least > 0).then(eta))
