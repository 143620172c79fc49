"""Local levels: how sure each interval of a rate must be so that all thresholds hold at once.

Let U(1) < ... < U(n) be the rates of a population at the n scores of a class in a test set. They are
distributed as n sorted uniform numbers, whatever the population. A local level a makes all thresholds
hold with probability L if

    P(a <= F_i(U(i)) <= 1 - a for every i) = L,

where F_i is the beta distribution of U(i), with parameters i and n - i + 1. Then the interval from the
quantile a of Beta(k, n - k + 1) to the quantile 1 - a of Beta(k + 1, n - k) holds the true rate at every
threshold at once, of which k examples are flagged. Where scores tie, the level is at least L.

The probability is exact. U(1), ..., U(n) are the times of a Poisson process with n events in [0, 1]. The
walk goes through the sorted ends of all intervals and carries the chances of each number of events so
far. At the quantile a of U(i) there are fewer than i events, and at the quantile 1 - a there are i.

Sources: Berk and Jones 1979; Gontscharuk, Landwehr and Finner 2016; Moscovich and Nadler 2017.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from polars_prcurve.core.confidence.intervals import compute_beta_limits, load_scipy_special

_NEGLIGIBLE = 1e-15  # chances that are smaller than this, relative to the greatest one, are dropped
_SIZES = (*range(1, 21), 30, 50, 70, 100, 140, 200, 300, 500, 700, 1000, 1400, 2000)
"""The sizes for which a level is solved; those between are interpolated."""
_TABLE_LEVEL = math.sqrt(0.95)
"""The level of each rate in a rectangle of level 0.95: such levels are in the table."""
# Local levels of large classes at that level, by size: `solve_local_level` takes minutes there.
_TABLE = {
    2_000: 2.0663062e-4,
    3_000: 1.8961529e-4,
    5_000: 1.7149043e-4,
    10_000: 1.5143605e-4,
    20_000: 1.3529176e-4,
    50_000: 1.1828962e-4,
    100_000: 1.0786045e-4,
    200_000: 9.9017636e-5,
    400_000: 9.137e-5,
}
_STEEPEST = 34.0
"""The growth of the number of parts per unit of log(n) above the table; within it the growth is 31."""


def compute_simultaneous_limits(k: Any, n: Any, level: float) -> tuple[Any, Any]:
    """Return intervals of k of n that hold at all thresholds at once with the probability `level`."""
    sizes, places = np.unique(n, return_inverse=True)
    local_levels = np.array([find_local_level(size, level) for size in sizes.tolist()], dtype=float)
    tails = local_levels[places.reshape(np.shape(n))]
    return compute_beta_limits(k, n, tail=tails, prior_hits=0.0)


def find_local_level(n: float, level: float) -> float:
    """Return the local level for n examples, exact for few; NaN without examples."""
    if not n >= 1:
        return math.nan
    # In how many parts a class splits the probability to miss, `(1 - level) / local level`, is nearly a
    # straight line over log(n), and lies below its chords: between sizes the level is rather too small.
    if n > _SIZES[-1]:
        parts = _interpolate(n, _TABLE_PARTS)
        if not math.isclose(level, _TABLE_LEVEL, rel_tol=1e-12):
            # At another level there are more or fewer parts, by a ratio that grows or falls ever more
            # slowly. A growth goes on as between 500 and 2 000 examples; a fall is ignored. Both give a
            # smaller local level than the exact one.
            before, ratio = (_split(size, level) / _split(size, _TABLE_LEVEL) for size in (500, 2000))
            growth = max(0.0, ratio - before) / math.log(2000 / 500)
            parts *= ratio + growth * math.log(n / 2000)
    else:
        place = bisect_left(_SIZES, n)
        neighbours = _SIZES[place : place + 1] if n == _SIZES[place] else _SIZES[place - 1 : place + 1]
        parts = _interpolate(n, {size: _split(size, level) for size in neighbours})
    return (1 - level) / parts


def _split(n: int, level: float) -> float:
    """Return the number of parts in which n examples split the probability to miss."""
    return (1 - level) / solve_local_level(n, level)


def _interpolate(n: float, parts: dict[int, float]) -> float:
    """Return the number of parts at n, by straight lines over log(n)."""
    sizes = list(parts)
    for low, high in pairwise(sizes):
        if n <= high:
            share = math.log(n / low) / math.log(high / low)
            return parts[low] + share * (parts[high] - parts[low])
    return parts[sizes[-1]] + max(0.0, math.log(n / sizes[-1])) * _STEEPEST


# What `_split` would return for the sizes of the table
_TABLE_PARTS = {n: (1 - _TABLE_LEVEL) / a for n, a in _TABLE.items()}


def probability_at_all(n: int, local_level: float) -> float:
    """Return how surely intervals that miss by `local_level` on a side hold at all thresholds."""
    special = load_scipy_special()
    ranks = np.arange(1, n + 1)
    # By symmetry the quantile 1 - a of U(i) is 1 minus the quantile a of U(n + 1 - i).
    lows = special.betaincinv(ranks, n - ranks + 1.0, local_level)
    times = np.concatenate([lows, 1 - lows[::-1]])
    order = np.argsort(times, kind="stable")
    means = n * np.diff(times[order], prepend=0.0)
    factorials = special.gammaln(np.arange(n + 2) + 1.0)
    chances, first, log_scale = np.ones(1), 0, 0.0  # of `first`, `first` + 1, ... events so far
    for event, mean in zip(order.tolist(), means.tolist(), strict=True):
        if mean > 0:
            # The chances of 0, 1, 2, ... events, up to a number that is hardly ever exceeded.
            numbers = np.arange(min(math.ceil(mean + 9 * math.sqrt(mean) + 16), n + 1) + 1)
            new_chances = np.exp(numbers * math.log(mean) - mean - factorials[numbers])
            chances = np.convolve(chances, new_chances)
        if event < n:  # a low end: at most `event` events, since ranks begin with 1
            chances = chances[: event - first + 1]
        else:
            n_least = event - n + 1
            chances, first = chances[max(n_least - first, 0) : n - first + 1], max(first, n_least)
        greatest = float(chances.max(initial=0.0))
        if greatest == 0:
            return 0.0
        log_scale += math.log(greatest)
        chances = chances / greatest
        (places,) = np.nonzero(chances > _NEGLIGIBLE)
        chances, first = chances[places[0] : places[-1] + 1], first + int(places[0])
    # Reach n events at the end, and divide by the chance of n events in all.
    missing = n - first - np.arange(len(chances))
    rest = max(n * (1 - float(times[order[-1]])), 1e-300)
    logs = missing * math.log(rest) - rest - factorials[missing]
    log_all = n * math.log(n) - n - float(factorials[n])
    return float(np.sum(chances * np.exp(logs + log_scale - log_all)))


@cache
def solve_local_level(n: int, level: float) -> float:
    """Return the local level at which all thresholds hold at once with the probability `level`."""
    goal = math.log1p(-level)

    def excess(log_a: float) -> float:
        return math.log(1 - probability_at_all(n, math.exp(log_a))) - goal

    # One interval of n misses least, and n of them miss n times as often at most. On logarithms the
    # probability is nearly a straight line.
    log_a = goal - math.log(2 + 15 * math.log(n))
    before, step = log_a, 0.01
    value_before, log_a = excess(before), before + step
    for _ in range(30):
        value = excess(log_a)
        if value == value_before or abs(value) < 1e-14:
            break
        step = -value * (log_a - before) / (value - value_before)
        before, value_before, log_a = log_a, value, log_a + step
        if abs(step) < 1e-14:
            break
    return math.exp(log_a)
