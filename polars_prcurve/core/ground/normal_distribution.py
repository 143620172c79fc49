"""The normal distribution and its quantiles, in expressions, and the range of several normal values."""

from __future__ import annotations

import math
from functools import cache

import polars as pl

from polars_prcurve.core.ground.lazy_numpy import numpy as np
from polars_prcurve.core.ground.reserved_prefix import RESERVED

# The columns of `add_normal_quantile`, while it works
_SHARE = f"{RESERVED}quantile_share"  # the share that is requested
_ROOT_OF_LOG = f"{RESERVED}quantile_t"  # sqrt(-2 ln(share)), of which the start is a function
_NEWTON_STEP = f"{RESERVED}quantile_off"  # a Newton step, of which Halley's is made


def normal_cdf(x: pl.Expr) -> pl.Expr:
    """Return the share of a standard normal distribution below x."""
    # By erfc, because 1 + erf would lose all digits in the lower tail.
    return (x * -math.sqrt(0.5)).erfc() * 0.5


def normal_quantile(share: float) -> float:
    """Return the x below which a share of a standard normal distribution lies."""
    from statistics import NormalDist  # most queries need none

    return NormalDist().inv_cdf(share)


def add_normal_quantile(frame: pl.LazyFrame, share_expr: pl.Expr, quantile_name: str) -> pl.LazyFrame:
    """Add the x below which a share, below 1/2, of a standard normal distribution lies."""
    # The first guess is good to 5e-4 (Hastings 1955). Each step of Halley's method cubes the error. Each
    # is a column of its own, because one expression of all would hold the guess hundreds of times.
    root_of_log, quantile, newton_step = (
        pl.col(_ROOT_OF_LOG),
        pl.col(quantile_name),
        pl.col(_NEWTON_STEP),
    )
    frame = frame.with_columns(share_expr.alias(_SHARE))
    frame = frame.with_columns((pl.col(_SHARE).log() * -2).sqrt().alias(_ROOT_OF_LOG))
    numerator = 2.515517 + root_of_log * (0.802853 + root_of_log * 0.010328)
    first_guess = (
        numerator / (1 + root_of_log * (1.432788 + root_of_log * (0.189269 + root_of_log * 0.001308)))
        - root_of_log
    )
    frame = frame.with_columns(first_guess.alias(quantile_name))
    for _ in range(2):
        normal_density = (quantile * quantile / -2).exp() * (1 / math.sqrt(2 * math.pi))
        excess_share = normal_cdf(quantile) - pl.col(_SHARE)
        frame = frame.with_columns((excess_share / normal_density).alias(_NEWTON_STEP))
        halley_step = newton_step / (1 + quantile * newton_step / 2)
        frame = frame.with_columns((quantile - halley_step).alias(quantile_name))
    return frame.drop(_SHARE, _ROOT_OF_LOG, _NEWTON_STEP)


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
        low_ranges, high_ranges = (
            np.where(reaches_confidence, low_ranges, middle_ranges),
            np.where(reaches_confidence, middle_ranges, high_ranges),
        )
    mean_counts = np.arange(2, int(exact_mean_counts[-1]) + 1)
    deviations = np.interp(np.log(mean_counts), np.log(exact_mean_counts), high_ranges / math.sqrt(2))
    # Of two means there is one difference.
    return (0.0, 0.0, normal_quantile((1 + confidence) / 2), *deviations[1:].tolist())
