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

from polars_prcurve.core.confidence.rate_intervals import compute_beta_limits, load_scipy_special

_NEGLIGIBLE_CHANCE = 1e-15  # smaller chances, relative to the greatest one, are dropped
_SIZES = (*range(1, 21), 30, 50, 70, 100, 140, 200, 300, 500, 700, 1000, 1400, 2000)
"""The sizes for which a level is solved; those between are interpolated."""
_TABLE_LEVEL = math.sqrt(0.95)
"""The level of each rate in a rectangle of level 0.95: such levels are in the table."""
# Local levels of large classes at that level, by size: `solve_local_level` takes minutes there.
_LOCAL_LEVEL_OF_SIZE = {
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
_STEEPEST_GROWTH = 34.0
"""The growth of the number of parts per unit of log(n) above the table; within it the growth is 31."""


def compute_simultaneous_limits(hits: Any, trials: Any, level: float) -> tuple[Any, Any]:
    """Return intervals of k of n that hold at all thresholds at once with the probability `level`."""
    sizes, size_numbers = np.unique(trials, return_inverse=True)
    local_levels = np.array([find_local_level(size, level) for size in sizes.tolist()], dtype=float)
    tail_probabilities = local_levels[size_numbers.reshape(np.shape(trials))]
    return compute_beta_limits(hits, trials, tail_probability=tail_probabilities, prior_hits=0.0)


def find_local_level(n_examples: float, level: float) -> float:
    """Return the local level for n examples, exact for few; NaN without examples."""
    if not n_examples >= 1:
        return math.nan
    # In how many parts a class splits the probability to miss, `(1 - level) / local level`, is nearly a
    # straight line over log(n), and lies below its chords: between sizes the level is rather too small.
    if n_examples > _SIZES[-1]:
        n_parts = _interpolate(n_examples, _PARTS_OF_SIZE)
        if not math.isclose(level, _TABLE_LEVEL, rel_tol=1e-12):
            # At another level there are more or fewer parts, by a ratio that grows or falls ever more
            # slowly. A growth goes on as between 500 and 2,000 examples; a fall is ignored. Both give a
            # smaller local level than the exact one.
            ratio_before, ratio = (_split(n, level) / _split(n, _TABLE_LEVEL) for n in (500, 2000))
            ratio_growth = max(0.0, ratio - ratio_before) / math.log(2000 / 500)
            n_parts *= ratio + ratio_growth * math.log(n_examples / 2000)
    else:
        size_index = bisect_left(_SIZES, n_examples)
        first_size_index = size_index if n_examples == _SIZES[size_index] else size_index - 1
        neighbour_sizes = _SIZES[first_size_index : size_index + 1]
        n_parts = _interpolate(n_examples, {size: _split(size, level) for size in neighbour_sizes})
    return (1 - level) / n_parts


def _split(n_examples: int, level: float) -> float:
    """Return the number of parts in which n examples split the probability to miss."""
    return (1 - level) / solve_local_level(n_examples, level)


def _interpolate(n_examples: float, n_parts_by_size: dict[int, float]) -> float:
    """Return the number of parts at n, by straight lines over log(n)."""
    sizes = list(n_parts_by_size)
    for low_size, high_size in pairwise(sizes):
        if n_examples <= high_size:
            share = math.log(n_examples / low_size) / math.log(high_size / low_size)
            return n_parts_by_size[low_size] + share * (
                n_parts_by_size[high_size] - n_parts_by_size[low_size]
            )
    return n_parts_by_size[sizes[-1]] + max(0.0, math.log(n_examples / sizes[-1])) * _STEEPEST_GROWTH


# What `_split` would return for the sizes of the table
_PARTS_OF_SIZE = {n: (1 - _TABLE_LEVEL) / a for n, a in _LOCAL_LEVEL_OF_SIZE.items()}


def probability_at_all(n: int, local_level: float) -> float:
    """Return the joint level of intervals that miss by `local_level` on a side at each threshold."""
    scipy_special = load_scipy_special()
    ranks = np.arange(1, n + 1)
    # By symmetry the quantile 1 - a of U(i) is 1 minus the quantile a of U(n + 1 - i).
    low_ends = scipy_special.betaincinv(ranks, n - ranks + 1.0, local_level)
    event_times = np.concatenate([low_ends, 1 - low_ends[::-1]])
    time_order = np.argsort(event_times, kind="stable")
    mean_counts = n * np.diff(event_times[time_order], prepend=0.0)
    log_factorials = scipy_special.gammaln(np.arange(n + 2) + 1.0)
    chances, n_before, log_scale = np.ones(1), 0, 0.0  # of `n_before` events so far, and of more
    for event_index, mean_count in zip(time_order.tolist(), mean_counts.tolist(), strict=True):
        if mean_count > 0:
            # The chances of 0, 1, 2, ... events, up to a number that is hardly ever exceeded.
            event_counts = np.arange(
                min(math.ceil(mean_count + 9 * math.sqrt(mean_count) + 16), n + 1) + 1
            )
            new_chances = np.exp(
                event_counts * math.log(mean_count) - mean_count - log_factorials[event_counts]
            )
            chances = np.convolve(chances, new_chances)
        if event_index < n:  # a low end: at most `event` events, since ranks begin with 1
            chances = chances[: event_index - n_before + 1]
        else:
            n_needed = event_index - n + 1
            chances = chances[max(n_needed - n_before, 0) : n - n_before + 1]
            n_before = max(n_before, n_needed)
        greatest_chance = float(chances.max(initial=0.0))
        if greatest_chance == 0:
            return 0.0
        log_scale += math.log(greatest_chance)
        chances = chances / greatest_chance
        (kept_indices,) = np.nonzero(chances > _NEGLIGIBLE_CHANCE)
        chances = chances[kept_indices[0] : kept_indices[-1] + 1]
        n_before += int(kept_indices[0])
    # Reach n events at the end, and divide by the chance of n events in all.
    n_missing = n - n_before - np.arange(len(chances))
    mean_missing = max(n * (1 - float(event_times[time_order[-1]])), 1e-300)
    log_chances = n_missing * math.log(mean_missing) - mean_missing - log_factorials[n_missing]
    log_total_chance = n * math.log(n) - n - float(log_factorials[n])
    return float(np.sum(chances * np.exp(log_chances + log_scale - log_total_chance)))


@cache
def solve_local_level(n_examples: int, level: float) -> float:
    """Return the local level at which all thresholds hold at once with the probability `level`."""
    log_miss = math.log1p(-level)

    def find_excess(log_level: float) -> float:
        return math.log(1 - probability_at_all(n_examples, math.exp(log_level))) - log_miss

    # One interval of n misses least, and n of them miss n times as often at most. On logarithms the
    # probability is nearly a straight line.
    log_level = log_miss - math.log(2 + 15 * math.log(n_examples))
    log_level_before, step = log_level, 0.01
    excess_before, log_level = find_excess(log_level_before), log_level_before + step
    for _ in range(30):
        log_excess = find_excess(log_level)
        if log_excess == excess_before or abs(log_excess) < 1e-14:
            break
        step = -log_excess * (log_level - log_level_before) / (log_excess - excess_before)
        log_level_before, excess_before, log_level = log_level, log_excess, log_level + step
        if abs(step) < 1e-14:
            break
    return math.exp(log_level)
