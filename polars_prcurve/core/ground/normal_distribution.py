"""The normal distribution and its quantiles, in expressions."""

from __future__ import annotations

import math

import polars as pl

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
    root_of_log = pl.col(_ROOT_OF_LOG)
    quantile = pl.col(quantile_name)
    newton_step = pl.col(_NEWTON_STEP)
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
