"""Intervals of a rate.

Half of the error that `confidence` allows falls on either side of the interval of a rate, which is k
successes in n independent trials.

    wilson           from the normal approximation of the rate; covers the level on average
    jeffreys         quantiles of the beta distribution after half a success and half a failure
    clopper_pearson  from the binomial distribution; never covers less than the level
    hoeffding        from Hoeffding's inequality; covers at least the level, at all thresholds at once

Sources: Wilson 1927; Clopper and Pearson 1934; Brown, Cai and DasGupta 2001;
Hoeffding 1963; Massart 1990.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

import polars as pl

from polars_prcurve.core.ground import argument_checks as arguments
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.ground.normal_distribution import normal_quantile
from polars_prcurve.core.ground.share_texts import read_share
from polars_prcurve.core.metrics.point_metric import choose_where

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


RateMethod: TypeAlias = Literal["wilson", "clopper_pearson", "jeffreys", "hoeffding"]
"""The interval of a rate; the module describes each."""
T = TypeVar("T")  # a number as text, or an expression of it
Numeric: TypeAlias = Any  # a float, a float array or a pl.Expr


class RateInterval(NamedTuple):
    """The low and the high end of an interval: floats, arrays or expressions, as the counts were."""

    low: Numeric
    high: Numeric


@hint_at_arguments
def rate_interval(
    k: float | ArrayLike | pl.Expr,
    n: float | ArrayLike | pl.Expr,
    confidence: float = 0.95,
    method: RateMethod = "wilson",
) -> RateInterval:
    """Return the interval of a rate, from `k` successes in `n` trials.

    Parameters
    ----------
    k, n
        Numbers, arrays or expressions; 0 <= k <= n. With weights they are sums, scaled so that n is
        the effective sample size `sum(w)**2 / sum(w**2)`. A k between 0 and 1 beside a whole n above 1
        is refused as a rate.
    confidence
        The level, between 0 and 1.
    method
        `"wilson"`, `"clopper_pearson"`, `"jeffreys"` or `"hoeffding"`. The second and third need SciPy
        (`pip install "scipy>=1.12"`) and numbers or arrays: Polars has no beta quantiles.

    Returns
    -------
    `(low, high)` within [0, 1]; low is 0 if k = 0, high is 1 if k = n. Without trials both are NaN.
    Expressions give null instead, also where 0 <= k <= n does not hold.

    Rows that depend on each other, such as several rows of one patient or card, make every interval of
    this kind too narrow.

    Examples
    --------
    >>> low, high = rate_interval(3, 10)
    >>> round(low, 6), round(high, 6)
    (0.107791, 0.603222)
    """
    level = check_confidence(confidence)
    if isinstance(k, pl.Expr) or isinstance(n, pl.Expr):
        hits_expr, trials_expr = (
            value.cast(pl.Float64)
            if isinstance(value, pl.Expr)
            else pl.lit(arguments.read_number("rate_interval", value, "numbers or expressions"))
            for value in (k, n)
        )
        # An expression cannot raise, so impossible counts give null.
        is_possible = (hits_expr >= 0) & (hits_expr <= trials_expr) & trials_expr.is_finite()
        check_rate_method(method)
        interval_ends = compute_limits(hits_expr, trials_expr, level, method)
        return RateInterval(*(pl.when(is_possible).then(end.fill_nan(None)) for end in interval_ends))
    hits, trials = np.broadcast_arrays(arguments.read_numbers("k", k), arguments.read_numbers("n", n))
    refuse_rates("k", hits, "n", trials)
    if n_wrong := int(np.sum((hits < 0) | (hits > trials) | np.isinf(trials))):
        raise PrcError(
            f"rate_interval takes finite numbers 0 <= k <= n; {n_wrong} of the pairs passed break this"
        )
    check_rate_method(method)
    with np.errstate(all="ignore"):
        low, high = compute_limits(hits, trials, level, method)
    return RateInterval(*(float(end) if np.ndim(end) == 0 else end for end in (low, high)))


def are_rates(counts: Numeric, sizes: Numeric) -> Numeric:
    """Return where a count is a rate, beside a whole number of examples."""
    # Weighted counts may be below 1, but their effective sizes are hardly ever whole.
    return (counts > 0) & (counts < 1) & (sizes > 1) & (sizes % 1 == 0)


def refuse_rates(name: str, counts: ArrayLike, size_name: str, sizes: ArrayLike) -> None:
    """Raise for a number that should count some of a class, and is a rate."""
    count_array, size_array = np.broadcast_arrays(counts, sizes)
    with np.errstate(invalid="ignore"):
        is_rate = are_rates(count_array, size_array)
    if is_rate.any():
        parts = (f"{number:.10g}" for number in (count_array[is_rate][0], size_array[is_rate][0]))
        raise PrcError("".join(describe_rate(name, size_name, *parts)))


def describe_rate(name: str, size_name: str, rate: T, size: T) -> tuple[str | T, ...]:
    """Return the parts of the sentence about a rate that should be a count."""
    text = f": {name} counts examples, and "
    return (
        f"multiply {name} by {size_name}, {name}=",
        rate,
        " * ",
        size,
        text,
        rate,
        " looks like a rate",
    )


def check_confidence(confidence: object, argument_name: str = "confidence=") -> float:
    """Return `confidence` as a float; raise unless it lies in [0.5, 1)."""
    expected_phrase = "a level between 0 and 1, such as 0.95"
    level = read_share(argument_name, confidence, expected_phrase, lambda level: 0 < level < 1)
    if level < 0.5:
        raise PrcError(
            f"pass {argument_name}{1 - level:.10g} instead of {level:.10g}: it is how often intervals "
            "contain the true value, not how often they miss it"
        )
    return level


@cache
def z_value(confidence: float) -> float:
    """Return z such that a normal variable is within z standard deviations with this probability."""
    # The lower tail: 1 minus a small number would round.
    return -normal_quantile((1 - confidence) / 2)


def compute_limits(
    hits: Numeric, trials: Numeric, confidence: float, method: str, *, is_recall: bool = False
) -> tuple[Numeric, Numeric]:
    """Return the low and the high end of an interval, that of recall in a band; undefined is NaN."""
    if method in BETA_METHODS and isinstance(hits, pl.Expr):
        raise PrcError(
            'collect the table first, or use "wilson" or "hoeffding": Polars has no expression '
            f'for "{method}" (beta quantiles)'
        )
    low, high = _LIMITS_OF_METHOD[method](hits, trials, confidence)
    if not is_recall or method != "wilson":
        return low, high
    # Wilson's high end is too low if few are missed: one missed positive leaves out a recall at which
    # every sixth sample misses one. So of 1 to 3 missed among at least 8, the high end is at least the
    # recall at which so many or more are missed with a chance of `1 - confidence` (Brown, Cai and
    # DasGupta 2001, section 4.1.1). Of effective sizes the missed need not be whole: between whole
    # numbers the end is interpolated.
    n_missed, z_squared = trials - hits, z_value(confidence) ** 2
    # The expected number of missed ones at the end: of 1 to 3 by the Poisson distribution, which is that
    # of rare misses, and of 4 by Wilson's low end, times n.
    wilson_root = (z_squared * (4 + z_squared / 4 - 16 / trials)).sqrt()
    mean_of_four = (4 + z_squared / 2 - wilson_root) / (1 + z_squared / trials)
    means_of_fewer = (_find_poisson_mean(n_hits, 1 - confidence) for n_hits in (1, 2, 3))
    means_at_ends = [pl.lit(0.0), *map(pl.lit, means_of_fewer), mean_of_four]
    # Through these means goes a convex line, which is the greatest of its parts. Where it is not convex,
    # at low levels, Wilson's interval is wider.
    line_parts = [
        mean + (next_mean - mean) * (n_missed - n_at_end)
        for n_at_end, (mean, next_mean) in enumerate(pairwise(means_at_ends))
    ]
    least_high = pl.max_horizontal(high, 1 - pl.max_horizontal(line_parts) / trials)
    return low, pl.when((n_missed < 4) & (trials >= 8)).then(least_high).otherwise(high)


@cache
def _find_poisson_mean(hits: int, tail_probability: float) -> float:
    """Return the mean at which a Poisson variable is at least `hits` with this probability."""
    low_mean, high_mean = 0.0, 20.0
    for _ in range(60):
        middle_mean = (low_mean + high_mean) / 2
        tail_sum = math.fsum(
            middle_mean**n_events / math.factorial(n_events) for n_events in range(hits, hits + 80)
        )
        if tail_sum * math.exp(-middle_mean) < tail_probability:
            low_mean = middle_mean
        else:
            high_mean = middle_mean
    return (low_mean + high_mean) / 2


def check_rate_method(method: str, argument_name: str = "method=") -> None:
    """Raise unless `method` names an interval of a rate."""
    arguments.read_choice(argument_name, method, _LIMITS_OF_METHOD)


def find_wilson_ends(hits: Numeric, trials: Numeric, z: Numeric) -> tuple[Numeric, Numeric]:
    """Return the rates from which k of n is z standard errors away."""
    # The ends p solve (k / n - p)**2 = z**2 p (1 - p) / n, a quadratic equation.
    rate, z_squared_per_trial = hits / trials, z * z / trials
    half_width = z * ((rate * (1 - rate) + z_squared_per_trial / 4) / trials) ** 0.5
    high = (rate + z_squared_per_trial / 2 + half_width) / (1 + z_squared_per_trial)
    # The product of both ends is rate**2 / (1 + spread). The direct formula for the low end subtracts
    # two nearly equal numbers if the rate is small.
    low = rate * rate / ((1 + z_squared_per_trial) * high)
    return low, choose_where(hits == trials, 1.0 + 0 * rate, high)


def _hoeffding_limits(hits: Numeric, trials: Numeric, confidence: float) -> tuple[Numeric, Numeric]:
    # A rate is off by h or more with a probability of at most 2 exp(-2 n h**2).
    rate, half_width = hits / trials, (math.log(2 / (1 - confidence)) / (2 * trials)) ** 0.5
    low, high = rate - half_width, rate + half_width
    return choose_where(low < 0, 0 * rate, low), choose_where(high > 1, 1.0 + 0 * rate, high)


def compute_beta_limits(
    hits: Numeric, trials: Numeric, tail_probability: Numeric, prior_hits: float
) -> tuple[Numeric, Numeric]:
    """Return both ends of an interval, each of which misses the rate with this probability."""
    # With h for `prior_hits`, the low end is a quantile of Beta(k + h, n - k + 1 - h), and the high end
    # of Beta(k + 1 - h, n - k + h): h is 0 for Clopper-Pearson, 1/2 for Jeffreys.
    low = load_scipy_special().betaincinv(
        hits + prior_hits, trials - hits + (1 - prior_hits), tail_probability
    )
    low = np.where(hits == 0, 0.0, low) + np.where(trials > 0, 0.0, np.nan)
    return low, compute_upper_limits(hits, trials, tail_probability, prior_hits)


def compute_upper_limits(
    hits: Numeric, trials: Numeric, tail_probability: Numeric, prior_hits: float = 0.0
) -> Numeric:
    """Return the high ends alone of `compute_beta_limits`; NaN without trials."""
    # The complement: 1 - tail would round if the tail is small.
    high = load_scipy_special().betainccinv(
        hits + (1 - prior_hits), trials - hits + prior_hits, tail_probability
    )
    return np.where(hits == trials, 1.0, high) + np.where(trials > 0, 0.0, np.nan)


def load_scipy_special() -> Any:
    """Import `scipy.special` where it is first needed, since SciPy is an extra."""
    try:
        from scipy import special  # type: ignore[import-untyped]
    except ImportError:
        raise PrcError('install SciPy, which has beta quantiles: pip install "scipy>=1.12"') from None
    return special


# The interval of each method, from k, n and the level
_LIMITS_OF_METHOD: dict[str, Callable[[Numeric, Numeric, float], tuple[Numeric, Numeric]]] = {
    "wilson": lambda hits, trials, level: find_wilson_ends(hits, trials, z_value(level)),
    "clopper_pearson": lambda hits, trials, level: compute_beta_limits(
        hits, trials, tail_probability=(1 - level) / 2, prior_hits=0.0
    ),
    "jeffreys": lambda hits, trials, level: compute_beta_limits(
        hits, trials, tail_probability=(1 - level) / 2, prior_hits=0.5
    ),
    "hoeffding": _hoeffding_limits,
}
BETA_METHODS = ("clopper_pearson", "jeffreys")
"""The methods that compute beta quantiles, for which Polars has no expression."""
