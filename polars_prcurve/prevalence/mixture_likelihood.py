"""The likelihood of a prevalence, from counts of both classes and of unlabelled rows by level of score.

If only the prevalence differs, the shares of unlabelled rows at the levels are a mixture of those of the
two classes, `q = eta alpha + (1 - eta) beta`. All three tables are multinomial, so

    l(eta) = max over alpha, beta of  sum a ln(alpha) + sum n ln(beta) + sum u ln(q)

with a, n and u the counts of positives, negatives and unlabelled rows at a level. Of an unlabelled row
at a level w = eta alpha / q is the probability that it is positive, and W the expected positives among
them. At the maximum alpha = (a + u w) / (A + W) and beta = (n + u (1 - w)) / (N + U - W), so w solves a
quadratic equation at each level once W is known, and W is where the sum of u w meets W. That sum falls
in W less W itself, so there is one solution, and no iteration that may stop too early.

Sources: Saerens, Latinne and Decaestecker 2002 (the mixture); Wilks 1938 (the interval and the test).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from polars_prcurve.confidence.rates import z_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

_GRID_STEPS = 64
_BISECTIONS = 56
_NEWTON_STEPS = 60
_SETTLED = 4e-15
"""A change of W, relative to it, that is as small as rounding."""


@dataclass(frozen=True)
class LevelCounts:
    """Counts of groups (rows) at levels of score (columns); a group with fewer levels has zeros."""

    positives: Floats
    negatives: Floats
    unlabelled: Floats

    @cached_property
    def totals(self) -> tuple[Floats, Floats, Floats]:
        """Return the positives, negatives and unlabelled rows of each group."""
        a, n, u = self.positives.sum(axis=1), self.negatives.sum(axis=1), self.unlabelled.sum(axis=1)
        return a, n, u


@dataclass(frozen=True)
class MixtureEstimate:
    """The estimate of each group, its limits if asked for, and the test that only prevalence differs."""

    eta: Floats
    low: Floats | None
    high: Floats | None
    shift_p_value: Floats
    """NaN where two levels leave no degree of freedom."""


def estimate_by_mixture(counts: LevelCounts, confidence: float | None) -> MixtureEstimate:
    """Return the prevalences of greatest likelihood, their intervals and tests, of all groups at once.

    The interval is `{eta: 2 (l_max - l(eta)) <= z^2}`. The test compares l_max with the likelihood of
    three tables of their own: the statistic is chi-squared, with levels less 2 degrees of freedom.
    """
    grid = np.concatenate([[0.0], 1 / (1 + np.exp(-np.linspace(-14, 14, _GRID_STEPS - 1))), [1.0]])
    n_groups = len(counts.unlabelled)
    values = np.stack([_profile(counts, np.full(n_groups, eta))[0] for eta in grid], axis=1)
    eta, best = _maximize(counts, grid, values)
    low = high = None
    if confidence is not None:
        limit = best - z_value(confidence) ** 2 / 2
        low = _find_limit(counts, grid, values, eta, limit)
        mirrored = LevelCounts(counts.negatives, counts.positives, counts.unlabelled)
        above = _find_limit(mirrored, 1 - grid[::-1], values[:, ::-1], 1 - eta, limit)
        high = np.maximum(1 - above, eta)  # 1 - (1 - eta) may round to less than eta
    tables = (counts.positives, counts.negatives, counts.unlabelled)
    freedom = (np.sum(tables, axis=0) > 0).sum(axis=1) - 2  # levels without rows do not count
    with np.errstate(invalid="ignore"):
        parts = [_times_log(table, table / table.sum(axis=1, keepdims=True)) for table in tables]
    statistic = 2 * (np.sum(parts, axis=(0, 2)) - best)
    p_values = [chi_squared_tail(max(x, 0.0), int(k)) for x, k in zip(statistic, freedom, strict=True)]
    return MixtureEstimate(eta, low, high, np.array(p_values, dtype=np.float64))


def _maximize(counts: LevelCounts, grid: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return the prevalence of greatest likelihood of each group, and that likelihood."""
    # The likelihood has its maximum where W is eta U: it rises as long as W is more.
    top = values.argmax(axis=1)
    low, high = grid[np.maximum(top - 1, 0)], grid[np.minimum(top + 1, len(grid) - 1)]
    unlabelled = counts.unlabelled.sum(axis=1)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        rises = _profile(counts, middle)[1] > middle * unlabelled
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    # Where the likelihood never rises, or always does, the maximum is the end of [0, 1].
    eta = np.where(low == 0, 0.0, np.where(high == 1, 1.0, (low + high) / 2))
    return eta, _profile(counts, eta)[0]


def _find_limit(counts: LevelCounts, grid: Floats, values: Floats, eta: Floats, limit: Floats) -> Floats:
    """Return the least prevalence whose likelihood reaches the limit: 0, if that of 0 does."""
    reaches = (values >= limit[:, None]) | (grid >= eta[:, None])
    first = reaches.argmax(axis=1)  # the estimate itself reaches the limit, so there is one
    low, high = grid[np.maximum(first - 1, 0)], np.minimum(grid[first], eta)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        above = _profile(counts, middle)[0] >= limit
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.where(values[:, 0] >= limit, 0.0, high)


def _profile(counts: LevelCounts, eta: Floats) -> tuple[Floats, Floats]:
    """Return the greatest likelihood at each group's eta, and W, the expected unlabelled positives."""
    a, n, u = counts.positives, counts.negatives, counts.unlabelled
    n_pos, n_neg, n_rows = counts.totals
    low, high = np.zeros_like(n_rows), n_rows.copy()
    total = n_rows * eta
    for _ in range(_NEWTON_STEPS):
        w, slope = _posteriors(counts, eta, total)
        surplus = (u * w).sum(axis=1) - total
        low, high = np.where(surplus > 0, total, low), np.where(surplus > 0, high, total)
        with np.errstate(invalid="ignore"):
            step = total + surplus / (1 - slope)
        # Newton's step, or half way where it leaves what is left to search. The ends are allowed: a
        # group that has arrived stays, while others go on.
        step = np.where((step >= low) & (step <= high), step, (low + high) / 2)
        settled = np.abs(step - total) <= _SETTLED * total
        total = step
        if settled.all():
            break
    w, _ = _posteriors(counts, eta, total)
    column = eta[:, None]
    alpha = (a + u * w) / (n_pos + total)[:, None]
    beta = (n + u * (1 - w)) / (n_neg + n_rows - total)[:, None]
    mixed = column * alpha + (1 - column) * beta
    parts = _times_log(a, alpha) + _times_log(n, beta) + _times_log(u, mixed)
    return parts.sum(axis=1), total


def _posteriors(counts: LevelCounts, eta: Floats, total: Floats) -> tuple[Floats, Floats]:
    """Return w at each level if W is `total`, and how fast the sum of u w grows with W."""
    a, n, u = counts.positives, counts.negatives, counts.unlabelled
    n_pos, n_neg, n_rows = counts.totals
    positive, negative = n_pos + total, n_neg + n_rows - total
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # The root in [0, 1] of u (k-1) w^2 + (n + u + k (a-u)) w - k a, with k the odds of eta times
        # (N + U - W) / (A + W).
        k = (eta * negative / ((1 - eta) * positive))[:, None]
        square, linear = u * (k - 1), n + u + k * (a - u)
        root = np.sqrt(np.maximum(linear * linear + 4 * square * k * a, 0))
        # Of the two forms of the root, the one that adds numbers of one sign.
        w = np.where(linear >= 0, 2 * k * a / (linear + root), (root - linear) / (2 * square))
        w = np.where(np.isfinite(k), w, 1.0)  # at eta = 1
        w = np.clip(np.where(np.isnan(w), 0.0, w), 0, 1)  # a level without rows
        slope = -(1 - w) * (a + u * w) / root * k * (1 / negative + 1 / positive)[:, None]
    slope = np.where(np.isfinite(slope), slope, 0.0)
    return w, (u * slope).sum(axis=1)


def _times_log(count: Floats, share: Floats) -> Floats:
    """Return `count ln(share)`, which is 0 where the count is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(count > 0, count * np.log(share), 0.0)


def chi_squared_tail(x: float, freedom: int) -> float:
    """Return the chance that a chi-squared variable exceeds x; NaN without degrees of freedom."""
    if freedom < 1:
        return math.nan
    # Whole degrees of freedom have a finite series, and all its terms are positive.
    # With h = x / 2 and k even: exp(-h) times the sum of h^i / i! for i < k / 2. With k odd:
    # erfc(sqrt h) plus exp(-h) times the sum of h^(i - 1/2) / gamma(i + 1/2) for 1 <= i < k / 2.
    half = x / 2
    odd = freedom % 2
    tail = math.erfc(math.sqrt(half)) if odd else math.exp(-half)
    term = math.exp(-half) * (math.sqrt(half / math.pi) * 2 if odd else half)
    for i in range(1, (freedom - odd) // 2 + odd):
        tail += term
        term *= half / (i + (0.5 if odd else 1))
    return tail
