"""Intervals: of a rate, how `confidence=` requests them, and in which columns they stand.

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
from collections.abc import Callable, Collection, Mapping
from dataclasses import astuple, dataclass, fields, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import polars as pl

from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.confidence.interval_input_columns import ETA_HIGH, ETA_LOW, EtaError
from polars_prcurve.core.ground import argument_checks as arguments
from polars_prcurve.core.ground.argument_checks import hint_at_arguments
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_numpy import numpy as np
from polars_prcurve.core.metrics.point_metric import choose_where

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


RateMethod: TypeAlias = Literal["wilson", "clopper_pearson", "jeffreys", "hoeffding"]
"""The interval of a rate; the module describes each."""
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
        the effective sample size `sum(w)**2 / sum(w**2)`.
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
        hits_column, trials_column = (
            value.cast(pl.Float64)
            if isinstance(value, pl.Expr)
            else pl.lit(arguments.read_number("rate_interval", value, "numbers or expressions"))
            for value in (k, n)
        )
        # An expression cannot raise, so impossible counts give null.
        is_possible = (hits_column >= 0) & (hits_column <= trials_column) & trials_column.is_finite()
        check_rate_method(method)
        interval_ends = compute_limits(hits_column, trials_column, level, method)
        return RateInterval(*(pl.when(is_possible).then(end.fill_nan(None)) for end in interval_ends))
    hits, trials = np.broadcast_arrays(arguments.read_numbers("k", k), arguments.read_numbers("n", n))
    if n_wrong := int(np.sum((hits < 0) | (hits > trials) | np.isinf(trials))):
        raise PrcError(
            f"rate_interval needs 0 <= k <= n, finite; {n_wrong} of the pairs given do not satisfy this"
        )
    check_rate_method(method)
    with np.errstate(all="ignore"):
        low, high = compute_limits(hits, trials, level, method)
    return RateInterval(*(float(end) if np.ndim(end) == 0 else end for end in (low, high)))


def check_confidence(confidence: float, argument_name: str = "confidence=") -> float:
    """Return `confidence` as a float; raise unless it lies in [0.5, 1)."""
    expected_words = "a level between 0 and 1, such as 0.95"
    level = arguments.read_number(argument_name, confidence, expected_words, lambda level: 0 < level < 1)
    if level < 0.5:
        raise PrcError(
            f"pass {argument_name}{1 - level:.10g} instead of {level:.10g}: it is how often intervals "
            "contain the true value, not how often they miss it"
        )
    return level


@cache
def z_value(confidence: float) -> float:
    """Return z such that a normal variable is within z standard deviations with this probability."""
    from statistics import NormalDist

    # The lower tail: 1 minus a small number would round.
    return -NormalDist().inv_cdf((1 - confidence) / 2)


def compute_limits(
    hits: Numeric, trials: Numeric, confidence: float, method: str, *, is_recall: bool = False
) -> tuple[Numeric, Numeric]:
    """Return the low and the high end of an interval, that of recall in a band; undefined is NaN."""
    if method in BETA_METHODS and isinstance(hits, pl.Expr):
        raise PrcError(
            f'Polars has no expression for "{method}" (beta quantiles): collect the table first, or '
            'use "wilson" or "hoeffding"'
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
    means_of_fewer = (_find_poisson_mean(number, 1 - confidence) for number in (1, 2, 3))
    means_at_ends = [pl.lit(0.0), *map(pl.lit, means_of_fewer), mean_of_four]
    # Through these means goes a convex line, which is the greatest of its parts. Where it is not convex,
    # at low levels, Wilson's interval is wider.
    line_parts = [
        mean + (next_mean - mean) * (n_missed - place)
        for place, (mean, next_mean) in enumerate(pairwise(means_at_ends))
    ]
    least_high = pl.max_horizontal(high, 1 - pl.max_horizontal(line_parts) / trials)
    return low, pl.when((n_missed < 4) & (trials >= 8)).then(least_high).otherwise(high)


@cache
def _find_poisson_mean(hits: int, tail: float) -> float:
    """Return the mean at which a Poisson variable is at least `hits` with this probability."""
    low_mean, high_mean = 0.0, 20.0
    for _ in range(60):
        middle_mean = (low_mean + high_mean) / 2
        tail_terms = math.fsum(
            middle_mean**n_events / math.factorial(n_events) for n_events in range(hits, hits + 80)
        )
        if tail_terms * math.exp(-middle_mean) < tail:
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
    rate, spread = hits / trials, z * z / trials
    half_width = z * ((rate * (1 - rate) + spread / 4) / trials) ** 0.5
    high = (rate + spread / 2 + half_width) / (1 + spread)
    # The product of both ends is rate**2 / (1 + spread). The direct formula for the low end subtracts
    # two nearly equal numbers if the rate is small.
    low = rate * rate / ((1 + spread) * high)
    return low, choose_where(hits == trials, 1.0 + 0 * rate, high)


def _hoeffding_limits(hits: Numeric, trials: Numeric, confidence: float) -> tuple[Numeric, Numeric]:
    # A rate is off by h or more with a probability of at most 2 exp(-2 n h**2).
    rate, half_width = hits / trials, (math.log(2 / (1 - confidence)) / (2 * trials)) ** 0.5
    low, high = rate - half_width, rate + half_width
    return choose_where(low < 0, 0 * rate, low), choose_where(high > 1, 1.0 + 0 * rate, high)


def compute_beta_limits(
    hits: Numeric, trials: Numeric, tail: Numeric, prior_hits: float
) -> tuple[Numeric, Numeric]:
    """Return both ends of an interval, each of which misses the rate with this probability."""
    # With h for `prior_hits`, the low end is a quantile of Beta(k + h, n - k + 1 - h), and the high end
    # of Beta(k + 1 - h, n - k + h): h is 0 for Clopper-Pearson, 1/2 for Jeffreys.
    low = load_scipy_special().betaincinv(hits + prior_hits, trials - hits + (1 - prior_hits), tail)
    low = np.where(hits == 0, 0.0, low) + np.where(trials > 0, 0.0, np.nan)
    return low, compute_upper_limits(hits, trials, tail, prior_hits)


def compute_upper_limits(
    hits: Numeric, trials: Numeric, tail: Numeric, prior_hits: float = 0.0
) -> Numeric:
    """Return the high ends alone of `compute_beta_limits`; NaN without trials."""
    # The complement: 1 - tail would round if the tail is small.
    high = load_scipy_special().betainccinv(hits + (1 - prior_hits), trials - hits + prior_hits, tail)
    return np.where(hits == trials, 1.0, high) + np.where(trials > 0, 0.0, np.nan)


def load_scipy_special() -> Any:
    """Import `scipy.special` where it is first needed, since SciPy is an extra."""
    try:
        from scipy import special  # type: ignore[import-untyped]
    except ImportError:
        raise PrcError(
            'beta quantiles come from SciPy, which is not installed: pip install "scipy>=1.12"'
        ) from None
    return special


# The interval of each method, from k, n and the level
_LIMITS_OF_METHOD: dict[str, Callable[[Numeric, Numeric, float], tuple[Numeric, Numeric]]] = {
    "wilson": lambda hits, trials, level: find_wilson_ends(hits, trials, z_value(level)),
    "clopper_pearson": lambda hits, trials, level: compute_beta_limits(
        hits, trials, tail=(1 - level) / 2, prior_hits=0.0
    ),
    "jeffreys": lambda hits, trials, level: compute_beta_limits(
        hits, trials, tail=(1 - level) / 2, prior_hits=0.5
    ),
    "hoeffding": _hoeffding_limits,
}
BETA_METHODS = ("clopper_pearson", "jeffreys")
"""The methods that compute beta quantiles, for which Polars has no expression."""


# What `confidence=` takes -----------------------------------------------------------------------

IntervalMethod: TypeAlias = Literal["analytic", "rectangle", "bootstrap"]
"""Where intervals come from: a formula, the corners of two intervals, or resampled examples."""

_RESAMPLES = 1000
"""Enough that the ends at a level of 0.95 are quantiles with 25 replicates beyond them."""


@dataclass(frozen=True, repr=False)
class Intervals:
    """How intervals are made; `intervals()` returns it, and `confidence=` takes it."""

    level: float
    method: IntervalMethod = "analytic"
    rate: RateMethod = "wilson"
    simultaneous: bool = False
    resamples: int = _RESAMPLES
    """The number of replicates of the bootstrap."""
    seed: int | None = None
    """The seed of the bootstrap; None draws anew at each call."""

    def __repr__(self) -> str:
        option_names = [option.name for option in fields(self) if option.name != "level"]
        default_of_option, value_of_option = vars(Intervals(self.level)), vars(self)
        option_words = (
            f"{name}={value_of_option[name]!r}"
            for name in option_names
            if value_of_option[name] != default_of_option[name]
        )
        return f"intervals({', '.join([repr(self.level), *option_words])})"


Confidence: TypeAlias = float | Intervals | None
"""The argument confidence=: a level, `intervals(...)`, or None for no intervals."""


@hint_at_arguments
def intervals(
    level: float = 0.95,
    *,
    method: IntervalMethod = "analytic",
    rate: RateMethod = "wilson",
    simultaneous: bool = False,
    resamples: int = _RESAMPLES,
    seed: int | None = None,
) -> Intervals:
    """Return how intervals are made, for `confidence=`, where a level is not enough.

    `confidence=0.95` means `confidence=intervals(0.95)`.

    Parameters
    ----------
    level
        The share of test sets in which an interval contains the true value, such as 0.95.
    method
        `"analytic"` is a formula for each metric. `"rectangle"`, for point metrics, uses the corners of
        the intervals of recall and fpr: it has at least the level, but is wider. `"bootstrap"` resamples
        the examples of each class; it has intervals of all curve metrics, and needs a DataFrame.
    rate
        The interval of recall and of fpr; see `rate_interval`. `"clopper_pearson"` and `"jeffreys"`
        need a DataFrame.
    simultaneous
        True: intervals that hold at all thresholds and prevalences simultaneously, with at least the
        level (Berk and Jones 1979), and so at any chosen threshold. They are wider, need a DataFrame and
        SciPy, and do not take weights. An interval that is not simultaneous holds at each threshold by
        itself: in 22 to 86% of test sets it holds at all of them.
    resamples, seed
        For the bootstrap: the number of replicates, and a seed that makes them repeatable.

    Examples
    --------
    >>> intervals(0.9, method="bootstrap", seed=1)
    intervals(0.9, method='bootstrap', seed=1)
    >>> intervals(0.95) == intervals(0.95, method="analytic")
    True
    """
    options = Intervals(
        check_confidence(level, "level="),
        method=arguments.read_choice("method=", method, get_args(IntervalMethod)),  # type: ignore[arg-type]
        rate=rate,
        simultaneous=arguments.read_flag("simultaneous=", simultaneous),
        resamples=arguments.read_whole_number("resamples=", resamples, 2, most=arguments.MOST_REPEATS),
        seed=arguments.read_seed(seed),
    )
    check_rate_method(rate, "rate=")
    if method != "bootstrap" and (options.seed is not None or options.resamples != _RESAMPLES):
        raise PrcError('resamples= and seed= are for method="bootstrap"; pass that, or leave them out')
    if method == "bootstrap" and (rate != "wilson" or simultaneous):
        raise PrcError(
            'method="bootstrap" resamples examples, and takes neither rate= nor simultaneous=; leave '
            "them out"
        )
    if simultaneous and (method != "analytic" or rate != "wilson"):
        raise PrcError(
            "simultaneous=True has intervals of rates of its own; leave out method= and rate="
        )
    return options


def read_certainty(
    confidence: float | Intervals,
    asker_name: str,
    methods: Collection[str] = ("analytic",),
    *,
    takes_rate: bool = False,
) -> Intervals:
    """Return what `confidence=` holds; raise for an interval that the caller does not have."""
    if isinstance(confidence, str) and confidence in methods:
        raise PrcError(
            f'pass confidence=intervals(0.95, method="{confidence}"), which also sets the level'
        )
    if not isinstance(confidence, Intervals):
        return Intervals(check_confidence(confidence))
    if confidence.method not in methods:
        method_words = " or ".join(f'"{name}"' for name in methods)
        raise PrcError(
            f'{asker_name} has no intervals by method="{confidence.method}"; pass {method_words}'
        )
    # Of `methods`, "rectangle" represents all intervals of point metrics.
    if confidence.simultaneous and "rectangle" not in methods:
        raise PrcError(f"{asker_name} has no simultaneous intervals; leave out simultaneous=")
    if confidence.rate != "wilson" and not takes_rate:
        raise PrcError(
            f'{asker_name} takes rate="wilson" only; got rate="{confidence.rate}"; leave it out'
        )
    return confidence


# The columns of a value and its interval ---------------------------------------------------------


@dataclass(frozen=True)
class Estimate:
    """A value and its interval: the names of their columns, or what a row has there."""

    value: Any
    low: Any = None
    high: Any = None
    corrected: Any = None  # the value without the optimism of a maximum
    doubt: Any = None  # why the interval may not hold

    @property
    def span(self) -> tuple[Any, Any] | None:
        """Both ends of the interval; None if one is missing."""
        return None if self.low is None or self.high is None else (self.low, self.high)


LONG = Estimate(value="value", low="low", high="high", corrected="corrected", doubt=DOUBT)
"""The columns of a table with a row for each value."""


def name_estimate(name: str) -> Estimate:
    """Return the columns of one of several values in a row: `precision`, `precision_low`, ..."""
    return Estimate(
        name, low=f"{name}_low", high=f"{name}_high", corrected=f"{name}_corrected", doubt=DOUBT
    )


def find_estimate(column_names: Collection[str], name: str) -> Estimate:
    """Return the columns of a value and of what a table has beside it; None for what it has not."""
    # In a table with a row for each value, or difference, `low` and `high` are of that one.
    estimate_columns = name_estimate(name)
    value_names = (column for column in ("difference", "behind", "value") if column in column_names)
    only_value = next(value_names, None)
    if estimate_columns.low not in column_names and name == only_value:
        estimate_columns = replace(LONG, value=name)
    columns = (column if column in column_names else None for column in astuple(estimate_columns))
    return Estimate(*columns)


def read_estimate(value_of_column: Mapping[str, Any], name: str) -> Estimate:
    """Return the value of a row and what is known of it; None where the row has nothing."""
    columns = astuple(find_estimate(value_of_column, name))
    return Estimate(*(None if column is None else value_of_column[column] for column in columns))


def add_eta_limits(points: pl.LazyFrame) -> pl.LazyFrame:
    """Add EtaError.LIMITS to rows of eta and its interval: eta itself, where it is exact."""
    # An end at 0 or 1 is taken just inside, where every metric has its limit, or near it.
    low, high = pl.col(ETA_LOW), pl.col(ETA_HIGH)
    limit_columns = (
        pl.when(low == 0).then(high * 2.0**-69).otherwise(low),
        pl.when((high == 1) & (low < 1)).then(1 - 2.0**-53).otherwise(high),
    )
    return points.with_columns(
        limit.fill_null(pl.col("eta")).alias(limit_name)
        for limit_name, limit in zip(EtaError.LIMITS, limit_columns, strict=True)
    )
