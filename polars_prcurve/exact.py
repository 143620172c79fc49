"""Sums of weights that do not depend on the order of the rows.

Float addition rounds at every step, and engines add in different orders. Here the weights of
a class in a group are multiplied by the power of two that brings the largest to just below
2**90, cut to whole numbers and added as 128-bit integers: 2**37 rows fit, and all 53 bits of a
weight count down to 2**-37 of the largest one. What is below 2**-89 of it adds nothing. The
sum is rounded once, when it is turned back.
"""

from __future__ import annotations

import math

import polars as pl

__all__ = [
    "SHARE",
    "effective_size",
    "exponent",
    "float_bits",
    "from_integer",
    "from_whole",
    "normal_cdf",
    "one_zero",
    "sum_of_shares",
    "to_integer",
    "unit",
    "whole",
    "whole_shares",
]

SHARE = 2.0**118
"""Shares, which are at most 1 together, are added up in units of its inverse."""
_BITS = 89


def exponent(largest: pl.Expr) -> pl.Expr:
    """The power of two for a group whose largest weight this is."""
    floor_log2 = largest.reinterpret(dtype=pl.Int64) // 2**52 - 1023  # the bits of a float >= 0
    return _BITS - floor_log2


def to_integer(weight: pl.Expr, exponent: pl.Expr) -> pl.Expr:
    """The weight times 2**exponent, an Int128."""
    return whole(_scaled(weight, exponent))  # what does not fit is refused elsewhere


def from_integer(total: pl.Expr, exponent: pl.Expr) -> pl.Expr:
    """The Float64 nearest to a sum of such integers."""
    return _scaled(total.cast(pl.Float64), -exponent)


def effective_size(weight: pl.Expr, *, scaled: bool) -> pl.Expr:
    """How many equal weights would tell as much, `sum(w)**2 / sum(w**2)`.

    Of integers, which `to_integer` has `scaled` or not.
    """
    if scaled:
        share = weight.cast(pl.Float64) * 2.0**-_BITS  # the largest is between 1 and 2
        squares = whole(share * share * 2.0**80).sum().cast(pl.Float64) * 2.0**-80
        total = weight.sum().cast(pl.Float64) * 2.0**-_BITS
    else:
        rounded = weight.cast(pl.Float64)  # where the sum of squares would not fit
        exact = (weight * weight).sum().cast(pl.Float64)
        squares = pl.when(weight.max() < 2**50).then(exact).otherwise((rounded * rounded).sum())
        total = weight.sum().cast(pl.Float64)
    return total * total / squares


def unit(exponent: pl.Expr) -> pl.Expr:
    """A power of two that brings the weights of a group near 1."""
    return _power_of_two((exponent - _BITS).clip(-1000, 1000))


def whole_shares(terms: pl.Expr) -> pl.Expr:
    """Terms that are at most 1 together, in units of 1 / SHARE: whole numbers."""
    return whole(terms * SHARE)


def whole(terms: pl.Expr) -> pl.Expr:
    """Floats cut to whole numbers, and NaN to 0; those of 2**127 and more do not fit."""
    return terms.cast(pl.Int128, wrap_numerical=True)


def sum_of_shares(terms: pl.Expr) -> pl.Expr:
    """The sum of such terms: the same whatever their order, and rounded once."""
    return from_whole(terms.sum())


def from_whole(total: pl.Expr) -> pl.Expr:
    """The Float64 nearest to a sum of such terms."""
    return total.cast(pl.Float64) * (1 / SHARE)


def _scaled(value: pl.Expr, exponent: pl.Expr) -> pl.Expr:
    half = exponent // 2  # in two steps, since 2**1112 is no float
    return value * _power_of_two(half) * _power_of_two(exponent - half)


def _power_of_two(exponent: pl.Expr) -> pl.Expr:
    return ((exponent + 1023) * 2**52).reinterpret(dtype=pl.Float64)


def float_bits(value: pl.Expr) -> pl.Expr:
    """The bits of a float of any width, as an Int64 that is the same for both zeros."""
    return one_zero(value.cast(pl.Float64)).reinterpret(dtype=pl.Int64)


def one_zero(value: pl.Expr) -> pl.Expr:
    """A float with 0.0 in place of -0.0, whose bits are others; `+ 0.0` is optimized away."""
    return pl.when(value == 0).then(0.0).otherwise(value)


def normal_cdf(x: pl.Expr) -> pl.Expr:
    """The share of a standard normal distribution below x, without loss in either tail."""
    return (x * -math.sqrt(0.5)).erfc() * 0.5
