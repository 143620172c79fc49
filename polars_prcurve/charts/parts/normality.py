"""The test of Anderson and Darling: are these scores drawn from a normal distribution?

Mean and deviation are estimated from the scores. Sources: Anderson and Darling 1952; Stephens 1974;
D'Agostino and Stephens 1986, table 4.9.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from numpy.typing import NDArray

_LEVEL = 0.05
_FEWEST = 8
"""Scores of a class without which the test says nothing."""
_TAILS = (
    (0.6, (1.2937, -5.709, 0.0186), False),
    (0.34, (0.9177, -4.279, -1.38), False),
    (0.2, (-8.318, 42.796, -59.938), True),
    (-math.inf, (-13.436, 101.14, -223.73), True),
)
"""From which value on the logarithm of the p-value, or of 1 less it, is this polynomial."""


def find_bent_classes(points: pl.DataFrame) -> dict[int, bool]:
    """Return whether the scores `y` of each curve are shown not to be normal; without those of few.

    `rise` is the share of the class at a score, and `n` the number of its scores.
    """
    p_values: dict[int, float] = {}
    for (curve,), own in points.group_by("curve", maintain_order=True):
        n = float(own["n"][0])
        if n >= _FEWEST and own["y"].n_unique() > 1:
            y, share = own["y"].to_numpy()[::-1], own["rise"].to_numpy()[::-1]
            p_values[curve] = compute_normal_p_value(y, share, n)
    return {curve: p < _LEVEL / len(p_values) for curve, p in p_values.items()}


def compute_normal_p_value(y: NDArray[np.float64], share: NDArray[np.float64], n: float) -> float:
    """Return the p-value of n scores, of which these shares are at the rising values y."""
    share = share / share.sum()
    mean = share @ y
    deviation = math.sqrt(share @ (y - mean) ** 2 * n / (n - 1))
    quantiles = (y - mean) / (deviation * math.sqrt(2))
    u = np.clip([math.erfc(-z) / 2 for z in quantiles.tolist()], 1e-300, 1 - 1e-16)
    # The squared distance of both distributions, over u (1 - u), in closed form between two scores: ties
    # are one step, as they are in the data.
    a, b, c = np.append(0, u), np.append(u, 1), np.append(0, np.cumsum(share))
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(c > 0, c * c * np.log(b / a), 0.0)
        right = np.where(c < 1 - 1e-12, (1 - c) ** 2 * (np.log1p(-b) - np.log1p(-a)), 0.0)
    statistic = n * float(np.sum(left - right - (b - a)))
    statistic *= 1 + 0.75 / n + 2.25 / (n * n)
    if statistic > 10:
        return 0.0
    _, (one, two, three), is_rest = next(row for row in _TAILS if statistic >= row[0])
    tail = math.exp(one + two * statistic + three * statistic**2)
    return 1 - tail if is_rest else tail
