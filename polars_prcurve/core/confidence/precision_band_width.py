"""How well precision can be known at any prevalence, from how well recall and fpr are known (B 5).

Let U and L be the greatest and the least ratio of recall to fpr that their intervals allow. Then the
widest gap between upper and lower precision over all prevalences is

    Delta = (sqrt(U) - sqrt(L)) / (sqrt(U) + sqrt(L))    at    eta = 1 / (1 + sqrt(U L)).

Delta is a mean of the relative half-widths of both intervals, so it is at most the larger (B Theorem 1).
Delta is the width of the whole band: precision plus or minus Delta is about twice too wide.

Sources: (B) Brabec et al. 2020; Zou and Donner 2008.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve.core.confidence.point_intervals import find_corners
from polars_prcurve.core.confidence.rate_intervals import (
    RateMethod,
    check_confidence,
    check_rate_method,
    compute_limits,
    z_value,
)
from polars_prcurve.core.ground import argument_checks as arguments
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.ground.share_texts import read_share
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
        Half-widths as shares of the estimates (coefficients of variation), instead of absolute ones.
    recall_interval, fpr_interval
        The low and high end of each interval, such as `rate_interval` gives, instead of half-widths.
    metric
        A point metric other than precision.

    Returns
    -------
    `(low, high)`. It assumes that both intervals hold: if each has level L, the result has at least the
    level `L * L`.

    Examples
    --------
    >>> low, high = precision_interval(0.6, 0.001, 0.01, 0.06, 0.0005)
    >>> round(low, 4), round(high, 4)
    (0.7843, 0.9302)
    """
    point_metric: Any = find_point_metric(metric)
    intervals = (
        _read_ends(
            "recall", recall, half_width=recall_half_width, cv=recall_cv, interval=recall_interval
        ),
        _read_ends("fpr", fpr, half_width=fpr_half_width, cv=fpr_cv, interval=fpr_interval),
    )
    recall_ends, fpr_ends = ((max(low, 0.0), min(high, 1.0)) for low, high in intervals)
    corner_points: Iterable[tuple[Any, ...]] = (
        (recall_ends[recall_index], fpr_ends[fpr_index])
        for recall_index, fpr_index in find_corners(point_metric)
    )
    if isinstance(eta, pl.Expr):
        corner_points = (tuple(map(pl.lit, corner)) for corner in corner_points)
    return PrecisionInterval(*(point_metric(*corner, eta) for corner in corner_points))


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
    recall_low, recall_high = _read_ends(
        "recall", recall, half_width=recall_half_width, cv=recall_cv, interval=recall_interval
    )
    fpr_low, fpr_high = _read_ends(
        "fpr", fpr, half_width=fpr_half_width, cv=fpr_cv, interval=fpr_interval
    )
    recall_low, fpr_low = max(recall_low, 0.0), max(fpr_low, 0.0)
    # Recall / fpr is infinite if only fpr is 0, and NaN if both are.
    least_ratio, ratio, greatest_ratio = (
        numerator / denominator if denominator > 0 else math.inf if numerator > 0 else math.nan
        for numerator, denominator in ((recall_low, fpr_high), (recall, fpr), (recall_high, fpr_low))
    )
    interval_ends = ((recall_low, recall_high), (fpr_low, fpr_high))
    bound = max(
        (high_end - least_ratio) / (high_end + least_ratio) if high_end > 0 else 1.0
        for least_ratio, high_end in interval_ends
    )
    if least_ratio == 0 and math.isinf(greatest_ratio):
        eta = math.nan
    elif least_ratio == 0:
        eta = 1.0
    else:
        # The product itself could overflow.
        eta = 1 / (1 + math.sqrt(greatest_ratio) * math.sqrt(least_ratio))
    return Width(
        delta=_widest_gap(least_ratio, greatest_ratio),
        eta=eta,
        bound=bound,
        up=_widest_gap(ratio, greatest_ratio),
        down=_widest_gap(least_ratio, ratio),
    )


def _widest_gap(low_ratio: float, high_ratio: float) -> float:
    """Return the widest gap, over all prevalences, between the precisions of two ratios recall / fpr."""
    if math.isinf(high_ratio):
        return 0.0 if math.isinf(low_ratio) else 1.0
    # Precision is L o / (1 + L o), with odds o of eta and L = recall / fpr. Two are farthest apart where
    # o^2 = 1 / (L_low L_high): there they are sqrt(L) / (sqrt(L_low) + sqrt(L_high)).
    low_ratio, high_ratio = math.sqrt(low_ratio), math.sqrt(high_ratio)
    return (high_ratio - low_ratio) / (high_ratio + low_ratio) if high_ratio > 0 else 0.0


def _read_ends(
    rate_name: str,
    value: float,
    *,
    half_width: float | None,
    cv: float | None,
    interval: Interval | None,
) -> Interval:
    """Return the ends of an interval from the one argument that gives them; they may leave [0, 1]."""
    if sum(argument_name is None for argument_name in (half_width, cv, interval)) != 2:
        raise PrcError(
            f"pass exactly one of {rate_name}_half_width=, {rate_name}_cv= and {rate_name}_interval="
        )
    value = arguments.read_number(rate_name, value, "a number in [0, 1]", lambda rate: 0 <= rate <= 1)
    if interval is not None:
        low, high = arguments.read_pair(f"{rate_name}_interval=", interval, "a low and a high end")
    else:
        argument_name, size_argument = ("half_width", half_width) if cv is None else ("cv", cv)
        half_length = arguments.read_number(f"{rate_name}_{argument_name}=", size_argument, "a number")
        half_length *= 1 if cv is None else value
        low, high = value - half_length, value + half_length
    if not low <= value <= high:
        raise PrcError(f"the interval of {rate_name} must contain {value}; got {low} to {high}")
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
    """Return the actual level of a rectangle band, if the interval of each rate has `confidence`.

    The guaranteed level is only the product, `confidence**2`. The actual one is higher, because both
    rates are seldom wrong at once and in opposite directions. It is the same at every prevalence.

    Parameters
    ----------
    recall, fpr
        The true rates.
    n_pos, n_neg
        Positives and negatives in the test set.
    confidence, method
        The interval of either rate; see `rate_interval`.
    n_draws
        The number of test sets to draw; the result is the share of them whose band covers the true
        value. Without it, the result is the normal approximation, which does not depend on `method`:
        `2 Phi(z (a + b) / sqrt(a**2 + b**2)) - 1` with a and b the standard errors divided by the rates.
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
        recall_error, fpr_error = (
            math.sqrt((1 - rate) / (rate * class_size))
            for rate, class_size in ((recall, n_pos), (fpr, n_neg))
        )
        if recall_error + fpr_error == 0:
            return 1.0
        deviation = z * (recall_error + fpr_error) / math.hypot(recall_error, fpr_error)
        return math.erf(deviation / math.sqrt(2))
    n_draws = arguments.read_whole_number("n_draws=", n_draws, 1, greatest_number=arguments.MOST_REPEATS)
    random_generator = np.random.default_rng(seed)
    hits_and_sizes = (
        (random_generator.binomial(class_size, rate, n_draws).astype(float), float(class_size))
        for rate, class_size in ((recall, n_pos), (fpr, n_neg))
    )
    with np.errstate(all="ignore"):
        recall_ends, fpr_ends = (
            compute_limits(hits, class_size, confidence, method) for hits, class_size in hits_and_sizes
        )
    # At every prevalence precision rises with recall / fpr, so the band holds the true precision if the
    # ratios at its corners enclose the true ratio. Products compare ratios without dividing by 0.
    is_covered = (recall_ends[0] * fpr <= recall * fpr_ends[1]) & (
        recall_ends[1] * fpr >= recall * fpr_ends[0]
    )
    return float(np.mean(is_covered))


def check_delta(delta: object) -> float:
    """Return delta as a float; raise unless it lies between 0 and 1."""
    return read_share("delta=", delta, "a width between 0 and 1", lambda width: 0 < width < 1)


def smallest_eta(least_ratio: pl.Expr, inverse_of_greatest: pl.Expr, *, delta: float | str) -> pl.Expr:
    """Return the least eta above which no band is wider than `delta`: 0 if none is, null if all are."""
    delta = check_delta(delta)
    # The least ratio recall / fpr is L, and the inverse of the greatest one is 1 / U. With
    # the odds r = eta / (1 - eta) the width is delta where r U / (1 + r U) - r L / (1 + r L) = delta.
    # This is a quadratic in r, of which the larger root counts.
    ratio_of_ratios = least_ratio * inverse_of_greatest
    half_coefficient = (1 - ratio_of_ratios) - delta * (1 + ratio_of_ratios)
    discriminant = half_coefficient * half_coefficient - 4 * delta * delta * ratio_of_ratios
    # eta = r / (1 + r), of the root (half + sqrt(discriminant)) / (2 delta L)
    numerator = half_coefficient + discriminant.sqrt()
    eta = numerator / (numerator + 2 * delta * least_ratio)
    is_never_wider = (discriminant < 0) | (half_coefficient < 0)
    return null_if_nan(pl.when(is_never_wider).then(0.0).when(least_ratio > 0).then(eta))
