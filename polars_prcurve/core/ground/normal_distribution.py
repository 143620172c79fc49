"""The normal distribution and its quantiles, and those of Student's distribution, in expressions."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

import polars as pl

from polars_prcurve.core.ground.lazy_numpy import numpy as np
from polars_prcurve.core.ground.reserved_prefix import RESERVED

# The columns of `add_normal_quantile`, while it works
_SHARE = f"{RESERVED}quantile_share"  # the share that is asked for
_T = f"{RESERVED}quantile_t"  # sqrt(-2 ln(share)), of which the start is a function
_OFF = f"{RESERVED}quantile_off"  # a Newton step, of which Halley's is made


def normal_cdf(x: pl.Expr) -> pl.Expr:
    """Return the share of a standard normal distribution below x."""
    # By erfc, because 1 + erf would lose all digits in the lower tail.
    return (x * -math.sqrt(0.5)).erfc() * 0.5


def add_normal_quantile(frame: pl.LazyFrame, share: pl.Expr, name: str) -> pl.LazyFrame:
    """Add, as `name`, the x below which a `share` of a standard normal distribution lies, below 1/2."""
    # The start is good to 5e-4 (Hastings 1955). Each step of Halley's method cubes the error. Each is a
    # column of its own, because one expression of all would hold the start hundreds of times.
    t, quantile, newton_step = pl.col(_T), pl.col(name), pl.col(_OFF)
    frame = frame.with_columns(share.alias(_SHARE))
    frame = frame.with_columns((pl.col(_SHARE).log() * -2).sqrt().alias(_T))
    numerator = 2.515517 + t * (0.802853 + t * 0.010328)
    start = numerator / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t
    frame = frame.with_columns(start.alias(name))
    for _ in range(2):
        density = (quantile * quantile / -2).exp() * (1 / math.sqrt(2 * math.pi))
        excess = normal_cdf(quantile) - pl.col(_SHARE)
        frame = frame.with_columns((excess / density).alias(_OFF))
        halley_step = newton_step / (1 + quantile * newton_step / 2)
        frame = frame.with_columns((quantile - halley_step).alias(name))
    return frame.drop(_SHARE, _T, _OFF)


def student_quantile(z: float | pl.Expr, freedom: pl.Expr) -> pl.Expr:
    """Return the deviate as far out in Student's distribution as z is in the normal one."""
    # The inverse of `normal_from_student`. From 4 degrees of freedom on it is good to 1 %.
    freedom = freedom.clip(lower_bound=1.0)
    # No division by z: of a column of one row Polars divides, and otherwise it takes the reciprocal.
    scaled = z / _shrink_deviation(freedom)
    return ((scaled * scaled / freedom).exp() - 1).sqrt() * freedom.sqrt()


def normal_from_student(t: pl.Expr, freedom: pl.Expr) -> pl.Expr:
    """Return the normal deviate as far out as t is in Student's distribution (Wallace 1959)."""
    freedom = freedom.clip(lower_bound=1.0)
    # sqrt(f ln(1 + t**2 / f)) (8 f + 1) / (8 f + 3)
    deviation = (freedom * (t * t / freedom).log1p()).sqrt() * _shrink_deviation(freedom)
    return pl.when(t < 0).then(-deviation).otherwise(deviation)


def _shrink_deviation(freedom: pl.Expr) -> pl.Expr:
    return (8 * freedom + 1) / (8 * freedom + 3)


@cache
def list_range_deviations(confidence: float) -> tuple[float, ...]:
    """Return by how many standard errors the farthest two of several equal means may differ.

    Item K is that of K means, up to 4000, so that all their differences hold at once with this
    confidence (Tukey 1953).
    """
    # The quantile of the studentised range over the root of 2: exact up to 12 means, and from there on
    # linear in ln K between exact ones.
    grid = np.linspace(-9.0, 9.0, 9001)
    shares_below = np.array([math.erfc(-deviate / math.sqrt(2)) / 2 for deviate in grid])
    nodes = grid[::25]
    densities = np.exp(-nodes * nodes / 2) / math.sqrt(2 * math.pi) * (nodes[1] - nodes[0])
    knots = np.array([*range(2, 13), 15, 20, 25, 30, 40, 50, 70, 100, 200, 500, 1000, 4000])
    low, high = np.zeros(len(knots)), np.full(len(knots), 20.0)
    for _ in range(50):  # to within 2e-14
        middle = (low + high) / 2
        # The share of ranges up to `middle`, by the place of the greatest mean.
        shares = shares_below[::25] - np.interp(nodes - middle[:, None], grid, shares_below)
        is_enough = knots * (shares ** (knots[:, None] - 1) @ densities) >= confidence
        low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
    numbers = np.arange(2, int(knots[-1]) + 1)
    deviations = np.interp(np.log(numbers), np.log(knots), high / math.sqrt(2))
    # Of two means there is one difference.
    return (0.0, 0.0, NormalDist().inv_cdf((1 + confidence) / 2), *deviations[1:].tolist())
