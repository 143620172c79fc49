"""The studentised range: how far apart the farthest two of several equal means lie by chance."""

from __future__ import annotations

import math
from functools import cache

from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.normal_distribution import normal_quantile


@cache
def list_range_deviations(confidence: float) -> tuple[float, ...]:
    """Return by how many standard errors the farthest two of several equal means may differ.

    Item K is that of K means, up to 4000, so that all their differences hold at once with this
    confidence (Tukey 1953).
    """
    # The quantile of the studentised range over the root of 2: exact up to 12 means, and from there on
    # linear in ln K between exact ones.
    deviates = np.linspace(-9.0, 9.0, 9001)
    shares_below = np.array([math.erfc(-deviate / math.sqrt(2)) / 2 for deviate in deviates])
    coarse_deviates = deviates[::25]
    densities = np.exp(-coarse_deviates * coarse_deviates / 2) / math.sqrt(2 * math.pi)
    densities = densities * (coarse_deviates[1] - coarse_deviates[0])
    exact_mean_counts = np.array([*range(2, 13), 15, 20, 25, 30, 40, 50, 70, 100, 200, 500, 1000, 4000])
    low_ranges, high_ranges = np.zeros(len(exact_mean_counts)), np.full(len(exact_mean_counts), 20.0)
    for _ in range(50):  # to within 2e-14
        middle_ranges = (low_ranges + high_ranges) / 2
        # The share of ranges up to `middles`, by the place of the greatest mean.
        shares_of_ranges = shares_below[::25] - np.interp(
            coarse_deviates - middle_ranges[:, None], deviates, shares_below
        )
        powers_of_shares = shares_of_ranges ** (exact_mean_counts[:, None] - 1)
        reaches_confidence = exact_mean_counts * (powers_of_shares @ densities) >= confidence
        low_ranges = np.where(reaches_confidence, low_ranges, middle_ranges)
        high_ranges = np.where(reaches_confidence, middle_ranges, high_ranges)
    mean_counts = np.arange(2, int(exact_mean_counts[-1]) + 1)
    deviations = np.interp(np.log(mean_counts), np.log(exact_mean_counts), high_ranges / math.sqrt(2))
    # Of two means there is one difference.
    return (0.0, 0.0, normal_quantile((1 + confidence) / 2), *deviations[1:].tolist())
