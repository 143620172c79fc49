"""Intervals of rates, and what they leave of precision.

A rate is k successes of n independent trials. Its interval has two sides, each missed with half of
what `confidence` leaves.

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
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve.errors import PrcError
from polars_prcurve.point_metrics import where

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "EXACT",
    "RateInterval",
    "RateMethod",
    "known_method",
    "limits",
    "one_confidence",
    "rate_interval",
    "z_of",
]

RateMethod: TypeAlias = Literal["wilson", "clopper_pearson", "jeffreys", "hoeffding"]
Value: TypeAlias = Any  # a float, a float array or a pl.Expr


class RateInterval(NamedTuple):
    """Both ends, of what kind the counts were."""

    low: Value
    high: Value


def rate_interval(
    k: float | ArrayLike | pl.Expr,
    n: float | ArrayLike | pl.Expr,
    confidence: float = 0.95,
    method: RateMethod = "wilson",
) -> RateInterval:
    """The interval of a rate from `k` successes in `n` trials.

    Parameters
    ----------
    k, n
        Numbers, arrays or expressions; 0 <= k <= n. With weights they are sums, scaled so that n is
        the effective sample size `sum(w)**2 / sum(w**2)`.
    confidence
        The level, between 0 and 1.
    method
        `"wilson"`, `"clopper_pearson"`, `"jeffreys"` or `"hoeffding"`. The second and third need SciPy
        (`pip install "polars-prcurve[exact]"`) and numbers or arrays: Polars has no beta quantiles.

    Returns
    -------
    `(low, high)` within [0, 1]; low is 0 if k = 0, high is 1 if k = n. Without trials NaN; null from
    expressions, also where k and n are no such counts.

    Rows that depend on each other, several of a patient or a card, make every interval of this kind too
    narrow.

    Examples
    --------
    >>> low, high = rate_interval(3, 10)
    >>> round(low, 6), round(high, 6)
    (0.107791, 0.603222)
    """
    level = one_confidence(confidence)
    if isinstance(k, pl.Expr) or isinstance(n, pl.Expr):
        return _of_expressions(_expr(k), _expr(n), level, method)
    import numpy as np

    hits, trials = np.broadcast_arrays(np.asarray(k, dtype=float), np.asarray(n, dtype=float))
    if wrong := int(np.sum((hits < 0) | (hits > trials) | np.isinf(trials))):
        raise PrcError(f"rate_interval needs 0 <= k <= n, finite; {wrong} of the pairs given are not")
    with np.errstate(all="ignore"):
        low, high = limits(hits, trials, level, method)
    return RateInterval(*(float(end) if np.ndim(end) == 0 else end for end in (low, high)))


def _of_expressions(k: pl.Expr, n: pl.Expr, level: float, method: str) -> RateInterval:
    possible = (k >= 0) & (k <= n) & n.is_finite()
    ends = limits(k, n, level, method)
    return RateInterval(*(pl.when(possible).then(end.fill_nan(None)) for end in ends))


def _expr(value: Any) -> pl.Expr:
    return (value if isinstance(value, pl.Expr) else pl.lit(value)).cast(pl.Float64)


def one_confidence(confidence: float) -> float:
    """A level as given, if it is one."""
    if not isinstance(confidence, Real) or not 0 < float(confidence) < 1:
        raise PrcError(f"confidence= lies between 0 and 1, such as 0.95; got {confidence!r}")
    return float(confidence)


def z_of(confidence: float) -> float:
    """How many standard deviations hold this share of a normal distribution."""
    from statistics import NormalDist

    return -NormalDist().inv_cdf((1 - confidence) / 2)


def limits(k: Value, n: Value, confidence: float, method: str) -> tuple[Value, Value]:
    """Both ends, undefined as NaN."""
    known_method(method)
    if method in EXACT and isinstance(k, pl.Expr):
        raise PrcError(
            f'Polars has no expression for "{method}" (beta quantiles): collect the table first, or '
            'take "wilson" or "hoeffding"'
        )
    return _METHODS[method](k, n, confidence)


def known_method(method: str) -> None:
    """Raises, if there is no such interval."""
    if method not in _METHODS:
        known = ", ".join(map(repr, _METHODS))
        raise PrcError(f"an interval of a rate is one of {known}; got {method!r}")


def _wilson(k: Value, n: Value, confidence: float) -> tuple[Value, Value]:
    z = z_of(confidence)
    rate, spread = k / n, z * z / n
    half = z * ((rate * (1 - rate) + spread / 4) / n) ** 0.5
    high = (rate + spread / 2 + half) / (1 + spread)
    low = rate * rate / ((1 + spread) * high)  # the product of both ends is rate**2 / (1 + spread)
    return low, where(k == n, 1.0 + 0 * rate, high)


def _hoeffding(k: Value, n: Value, confidence: float) -> tuple[Value, Value]:
    rate, half = k / n, (math.log(2 / (1 - confidence)) / (2 * n)) ** 0.5
    low, high = rate - half, rate + half
    return where(low < 0, 0 * rate, low), where(high > 1, 1.0 + 0 * rate, high)


def _of_beta(more: float) -> Callable[[Value, Value, float], tuple[Value, Value]]:
    """From quantiles of the beta distribution, with so much added to either count."""

    def ends(k: Value, n: Value, confidence: float) -> tuple[Value, Value]:
        import numpy as np

        tail = (1 - confidence) / 2
        special = _scipy_special()
        low = special.betaincinv(k + more, n - k + (1 - more), tail)
        high = special.betainccinv(k + (1 - more), n - k + more, tail)
        known = np.where(n > 0, 0.0, np.nan)
        return np.where(k == 0, 0.0, low) + known, np.where(k == n, 1.0, high) + known

    return ends


def _scipy_special() -> Any:
    try:
        from scipy import special  # type: ignore[import-untyped]
    except ImportError:
        raise PrcError(
            'beta quantiles come from SciPy, which is not installed: pip install "polars-prcurve[exact]"'
        ) from None
    return special


_METHODS: dict[str, Callable[[Value, Value, float], tuple[Value, Value]]] = {
    "wilson": _wilson,
    "clopper_pearson": _of_beta(0.0),
    "jeffreys": _of_beta(0.5),
    "hoeffding": _hoeffding,
}
EXACT = ("clopper_pearson", "jeffreys")
"""Those of beta quantiles."""
