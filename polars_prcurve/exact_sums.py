"""Sums of weights that do not depend on the order of the rows.

Float addition rounds at every step, and engines add in different orders. Integer addition is exact,
so floats are added as 128-bit integers, and the sum is rounded once, when it becomes a float again.

- *Weights* of a class in a group are multiplied by the power of two that brings the largest one to
  just below 2**90, and cut to whole numbers. Sums of 2**37 rows fit. A weight keeps all its 53 bits
  if it is at least 2**-37 of the largest one, and counts as 0 below 2**-89 of it.
- *Shares* of an area sum to at most 1, so they have one fixed scale, SHARE_SCALE.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHARE_SCALE = 2.0**118
"""Shares are added as whole multiples of 1 / SHARE_SCALE."""

_BITS = 89
"""The largest weight of a group becomes an integer between 2**_BITS and 2**(_BITS + 1)."""
_SQUARE_BITS = 80
"""The square of the largest weight becomes one between 2**_SQUARE_BITS and 2**(_SQUARE_BITS + 2)."""


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
    [nearest] = from_integers([total], exponent)
    return nearest


def from_integers(totals: Iterable[pl.Expr], exponent: pl.Expr) -> list[pl.Expr]:
    """Return the Float64 nearest to each of the sums that have one exponent."""
    first, second = _split_power_of_two(-exponent)
    return [total.cast(pl.Float64) * first * second for total in totals]


def square_integer(weight: pl.Expr, *, scaled: bool) -> pl.Expr:
    """Return the square of an integer weight, maybe one that `to_integer` scaled, as an Int128."""
    if not scaled:
        return weight * weight
    # In units of 2**-_SQUARE_BITS, where the largest weight is between 1 and 2.
    share = weight.cast(pl.Float64) * 2.0**-_BITS
    return to_whole(share * share * 2.0**_SQUARE_BITS)


def sum_to_square_integer(square: pl.Expr, exponent: pl.Expr) -> pl.Expr:
    """Return a sum of squares of weights in the units of `square_integer`."""
    return to_whole(_scale(square, 2 * exponent - 2 * _BITS) * 2.0**_SQUARE_BITS)


def square_from_integer(total: pl.Expr, exponent: pl.Expr) -> pl.Expr:
    """Return a sum of squares of weights, from integers that `square_integer` made of scaled weights."""
    return _scale(total.cast(pl.Float64) * 2.0**-_SQUARE_BITS, 2 * _BITS - 2 * exponent)


def scale_near_one(total: pl.Expr, *, squares: bool = False) -> pl.Expr:
    """Return a sum of scaled weights, or of their squares, if the largest weight is between 1 and 2."""
    return total.cast(pl.Float64) * 2.0 ** -(_SQUARE_BITS if squares else _BITS)


def exponent_ratio(exponent: pl.Expr, other: pl.Expr) -> pl.Expr:
    """Return by how much weights near 1 of one class shrink in the unit of both classes."""
    return _power_of_two((pl.min_horizontal(exponent, other) - exponent).clip(-500, 0))


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
    first, second = _split_power_of_two(exponent)
    return value * first * second


def _split_power_of_two(exponent: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Return two factors of 2**exponent, because an exponent may be 1112 and 2**1112 is no float."""
    half = exponent // 2
    return _power_of_two(half), _power_of_two(exponent - half)


def _power_of_two(exponent: pl.Expr) -> pl.Expr:
    """Return 2**exponent, exactly, by setting the exponent bits of a float."""
    return ((exponent + 1023) * 2**52).reinterpret(dtype=pl.Float64)


def sum_along(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Return the running sums of an array of weights, times 2**exponent, and that exponent."""
    import numpy as np

    # Weights are cut as `to_integer` cuts them. Each sum is rounded once, so that no order of the
    # weights above it matters.
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
