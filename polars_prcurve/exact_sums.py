"""Sums of weights that do not depend on the order of the rows.

Float addition rounds at every step, and engines add in different orders. Integer addition is exact,
so floats are added as 128-bit integers, and the sum is rounded once, when it becomes a float again.

- *Weights* of a class in a group are multiplied by the power of two that brings the largest one to
  just below 2**90, and cut to whole numbers. Sums of 2**37 rows fit. A weight keeps all its 53 bits
  if it is at least 2**-37 of the largest one, and counts as 0 below 2**-89 of it.
- *Shares* of an area sum to at most 1, so they have one fixed scale, SHARE_SCALE.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHARE_SCALE = 2.0**118
"""Shares are added as whole multiples of 1 / SHARE_SCALE."""

_BITS = 89
"""The largest weight of a group becomes an integer between 2**_BITS and 2**(_BITS + 1)."""


def weight_exponent(largest: pl.Expr) -> pl.Expr:
    """Return the exponent that `to_integer` needs in a group whose largest weight is `largest`."""
    # A float >= 0 holds its binary exponent, plus 1023, in the bits above the lowest 52. Reading these
    # bits is exact, where a logarithm could round to the wrong side of a power of two.
    floor_log2 = largest.reinterpret(dtype=pl.Int64) // 2**52 - 1023
    return _BITS - floor_log2


def to_integer(weight: pl.Expr, exponent: pl.Expr) -> pl.Expr:
    """Return the weight times 2**exponent, cut to a whole number, as an Int128."""
    return to_whole(_scale(weight, exponent))  # infinite and NaN weights are refused by a check


def from_integer(total: pl.Expr, exponent: pl.Expr) -> pl.Expr:
    """Return the Float64 nearest to a sum of integers that `to_integer` made."""
    return _scale(total.cast(pl.Float64), -exponent)


def effective_size(weight: pl.Expr, *, scaled: bool) -> pl.Expr:
    """Return the effective size of integer weights, `sum(w)**2 / sum(w**2)`.

    It is the number of equal weights that would determine a mean equally well. `scaled` weights are
    those that `to_integer` made.
    """
    if scaled:
        share = weight.cast(pl.Float64) * 2.0**-_BITS  # the largest is between 1 and 2
        # The squares are added as integers too, or the order of rows would matter.
        squares = to_whole(share * share * 2.0**80).sum().cast(pl.Float64) * 2.0**-80
        total = weight.sum().cast(pl.Float64) * 2.0**-_BITS
    else:
        rounded = weight.cast(pl.Float64)  # used where the sum of squares might overflow
        exact = (weight * weight).sum().cast(pl.Float64)
        squares = pl.when(weight.max() < 2**50).then(exact).otherwise((rounded * rounded).sum())
        total = weight.sum().cast(pl.Float64)
    return total * total / squares


def weight_unit(exponent: pl.Expr) -> pl.Expr:
    """Return the power of two that brings the weights of a group with this exponent near 1."""
    # Clipped, because exponent bits alone cannot write powers below 2**-1022.
    return _power_of_two((exponent - _BITS).clip(-1000, 1000))


def to_whole_shares(terms: pl.Expr) -> pl.Expr:
    """Return terms that sum to at most 1 as whole multiples of 1 / SHARE_SCALE."""
    return to_whole(terms * SHARE_SCALE)


def to_whole(terms: pl.Expr) -> pl.Expr:
    """Return floats cut to whole numbers, and NaN as 0; only floats below 2**127 fit."""
    return terms.cast(pl.Int128, wrap_numerical=True)


def sum_shares(terms: pl.Expr) -> pl.Expr:
    """Return the sum of whole shares as a Float64, rounded once, whatever the order of rows."""
    return from_whole(terms.sum())


def from_whole(total: pl.Expr) -> pl.Expr:
    """Return the Float64 nearest to a sum of whole shares."""
    return total.cast(pl.Float64) * (1 / SHARE_SCALE)


def _scale(value: pl.Expr, exponent: pl.Expr) -> pl.Expr:
    """Return the value times 2**exponent."""
    half = exponent // 2  # in two steps, because an exponent may be 1112 and 2**1112 is no float
    return value * _power_of_two(half) * _power_of_two(exponent - half)


def _power_of_two(exponent: pl.Expr) -> pl.Expr:
    """Return 2**exponent, exactly, by setting the exponent bits of a float."""
    return ((exponent + 1023) * 2**52).reinterpret(dtype=pl.Float64)


def sum_along(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Return the running sums of an array of weights, times 2**exponent, and that exponent.

    Weights are cut as `to_integer` cuts them. Each sum is rounded once, so that no order of the weights
    above it matters.
    """
    import numpy as np

    exponent = _BITS + 1 - int(np.frexp(weights.max(initial=0.0))[1])
    rest = np.trunc(np.ldexp(weights, exponent))
    digits = []  # of 30 bits, so that sums of 2**33 of them fit an Int64
    for place in (60, 30, 0):
        digit = np.floor(np.ldexp(rest, -place))
        rest = rest - np.ldexp(digit, place)
        digits.append(np.cumsum(digit.astype(np.int64)))
    high, middle, low = digits
    middle += low >> 30
    high += middle >> 30
    lower = (middle % 2**30 << 30) + low % 2**30
    return np.ldexp(high.astype(np.float64), 60) + lower.astype(np.float64), exponent
