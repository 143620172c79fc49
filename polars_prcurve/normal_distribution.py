"""The normal distribution and its quantiles, and those of Student's distribution, in expressions."""

from __future__ import annotations

import math

import polars as pl


def normal_cdf(x: pl.Expr) -> pl.Expr:
    """Return the share of a standard normal distribution below x."""
    # By erfc, because 1 + erf would lose all digits in the lower tail.
    return (x * -math.sqrt(0.5)).erfc() * 0.5


def normal_quantile(share: pl.Expr) -> pl.Expr:
    """Return the x below which a share of a standard normal distribution lies, for a share below 1/2.

    The start is good to 5e-4 (Hastings 1955). Each step of Halley's method cubes the error.
    """
    t = (share.log() * -2).sqrt()
    above = 2.515517 + t * (0.802853 + t * 0.010328)
    x = above / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t
    for _ in range(2):
        density = (x * x / -2).exp() * (1 / math.sqrt(2 * math.pi))
        off = (normal_cdf(x) - share) / density
        x = x - off / (1 + x * off / 2)
    return x


def student_quantile(z: float | pl.Expr, freedom: pl.Expr) -> pl.Expr:
    """Return what is as far out in Student's distribution as z is in the normal one.

    The inverse of `normal_from_student`. From 4 degrees of freedom on it is good to 1 %.
    """
    freedom = freedom.clip(lower_bound=1.0)
    # No division by z: of a column of one row Polars divides, and otherwise it takes the reciprocal.
    scaled = z / _shrink_deviation(freedom)
    return ((scaled * scaled / freedom).exp() - 1).sqrt() * freedom.sqrt()


def normal_from_student(t: pl.Expr, freedom: pl.Expr) -> pl.Expr:
    """Return the normal deviate as far out as t is in Student's distribution (Wallace 1959).

    Below 1 degree of freedom it stays as at 1.
    """
    freedom = freedom.clip(lower_bound=1.0)
    deviation = (freedom * (t * t / freedom).log1p()).sqrt() * _shrink_deviation(freedom)
    return pl.when(t < 0).then(-deviation).otherwise(deviation)


def _shrink_deviation(freedom: pl.Expr) -> pl.Expr:
    return (8 * freedom + 1) / (8 * freedom + 3)
