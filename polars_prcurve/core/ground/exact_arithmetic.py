"""Arithmetic to the last bit: sums that no order of rows changes, quotients that no engine changes.

Float addition rounds at every step, and engines add in different orders. Integer addition is exact,
so floats are added as 128-bit integers, and the sum is rounded once, when it becomes a float again.

- *Weights* of a class in a group are multiplied by the power of two that brings the largest one to
  just below 2**90, and cut to whole numbers. Sums of 2**37 rows fit. A weight keeps all its 53 bits
  if it is at least 2**-37 of the largest one, and counts as 0 below 2**-89 of it.
- *Shares* of an area sum to at most 1, so they have one fixed scale, SHARE_SCALE.

Casts to integers cut floats, which fit below 2**127, and make 0 of NaN.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

SHARE_SCALE = 2.0**118
"""Shares are added as whole multiples of 1 / SHARE_SCALE."""

WEIGHT_BITS = 89
"""The largest weight of a group becomes an integer between 2**WEIGHT_BITS and 2**(WEIGHT_BITS + 1)."""
SQUARE_BITS = 80
"""The square of the largest weight becomes one between 2**SQUARE_BITS and 2**(SQUARE_BITS + 2)."""
NEAR_ONE = 2.0**-WEIGHT_BITS
"""The factor that brings the integers of weights to where the largest is near 1."""
SQUARES_NEAR_ONE = 2.0**-SQUARE_BITS
"""The same factor of the integers of their squares."""
LARGEST_WEIGHT = 1e100
"""Weights up to this, and their squares, add up to a finite float, of more rows than any table has."""
MAX_ROUNDING_ERROR = 2.0**-50
"""The greatest relative error of a metric by rounding that is expected: eight times that of one step."""


def weight_exponent(largest_weight_expr: pl.Expr) -> pl.Expr:
    """Return the exponent that `to_integer` needs in a group with this largest weight."""
    # A float >= 0 holds its binary exponent, plus 1023, in the bits above the lowest 52. Reading these
    # bits is exact, where a logarithm could round to the wrong side of a power of two.
    floor_log2 = largest_weight_expr.reinterpret(dtype=pl.Int64) // 2**52 - 1023
    return WEIGHT_BITS - floor_log2


def to_integer(weight_expr: pl.Expr, exponent_expr: pl.Expr) -> pl.Expr:
    """Return the weight times 2**exponent, cut to a whole number, as an Int128."""
    first_factor, second_factor = _split_power_of_two(exponent_expr)
    # Infinite and NaN weights are refused by a check.
    return to_whole(weight_expr * first_factor * second_factor)


def from_integer(integer_total_expr: pl.Expr, exponent_expr: pl.Expr) -> pl.Expr:
    """Return the Float64 nearest to a sum of integers that `to_integer` made."""
    [nearest_float_expr] = from_integers([integer_total_expr], exponent_expr)
    return nearest_float_expr


def from_integers(integer_total_exprs: Iterable[pl.Expr], exponent_expr: pl.Expr) -> list[pl.Expr]:
    """Return the Float64 nearest to each of the sums that have one exponent."""
    first_factor, second_factor = _split_power_of_two(-exponent_expr)
    return [
        integer_total_expr.cast(pl.Float64) * first_factor * second_factor
        for integer_total_expr in integer_total_exprs
    ]


def square_integer(integer_weight_expr: pl.Expr, *, is_scaled: bool) -> pl.Expr:
    """Return the square of an integer weight, maybe one that `to_integer` scaled, as an Int128."""
    if not is_scaled:
        return integer_weight_expr * integer_weight_expr
    # In units of 2**-SQUARE_BITS, where the largest weight is between 1 and 2.
    weight_near_one = integer_weight_expr.cast(pl.Float64) * NEAR_ONE
    return to_whole(weight_near_one * weight_near_one * 2.0**SQUARE_BITS)


def sum_to_square_integer(square_sum_expr: pl.Expr, exponent_expr: pl.Expr) -> pl.Expr:
    """Return a sum of squares of weights in the units of `square_integer`."""
    power_of_two = _power_of_two(exponent_expr - WEIGHT_BITS)
    return to_whole(square_sum_expr * power_of_two * power_of_two * 2.0**SQUARE_BITS)


def square_from_integer(integer_total_expr: pl.Expr, exponent_expr: pl.Expr) -> pl.Expr:
    """Return a sum of squares of weights, from integers that `square_integer` made of scaled weights."""
    power_of_two = _power_of_two(WEIGHT_BITS - exponent_expr)
    return integer_total_expr.cast(pl.Float64) * SQUARES_NEAR_ONE * power_of_two * power_of_two


def exponent_ratio(exponent_expr: pl.Expr, other_exponent_expr: pl.Expr) -> pl.Expr:
    """Return by how much weights near 1 of one class shrink in the unit of both classes."""
    return _power_of_two(
        (pl.min_horizontal(exponent_expr, other_exponent_expr) - exponent_expr).clip(-500, 0)
    )


def weight_unit(exponent_expr: pl.Expr) -> pl.Expr:
    """Return the power of two that brings the weights of a group with this exponent near 1."""
    # Clipped, because exponent bits alone cannot write powers below 2**-1022.
    return _power_of_two((exponent_expr - WEIGHT_BITS).clip(-1000, 1000))


def _split_power_of_two(exponent_expr: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Return two factors of 2**exponent, because an exponent may be 1112 and 2**1112 is no float."""
    half_exponent = exponent_expr // 2
    return _power_of_two(half_exponent), _power_of_two(exponent_expr - half_exponent)


def _power_of_two(exponent_expr: pl.Expr) -> pl.Expr:
    """Return 2**exponent, exactly, by setting the exponent bits of a float."""
    return ((exponent_expr + 1023) * 2**52).reinterpret(dtype=pl.Float64)


def to_whole_shares(share_terms: pl.Expr) -> pl.Expr:
    """Return terms that sum to at most 1 as whole multiples of 1 / SHARE_SCALE."""
    return to_whole(share_terms * SHARE_SCALE)


def to_whole(float_expr: pl.Expr) -> pl.Expr:
    """Return floats cut to whole numbers."""
    return float_expr.cast(pl.Int128, wrap_numerical=True)


def sum_shares(whole_shares: pl.Expr) -> pl.Expr:
    """Return the sum of whole shares as a Float64, rounded once, whatever the order of rows."""
    return from_whole(whole_shares.sum())


def from_whole(whole_total_expr: pl.Expr) -> pl.Expr:
    """Return the Float64 nearest to a sum of whole shares."""
    return whole_total_expr.cast(pl.Float64) * (1 / SHARE_SCALE)


def round_up_to_power_of_two(float_expr: pl.Expr) -> pl.Expr:
    """Return the least power of two above a float >= 0: division by it is exact, in any engine."""
    # The exponent is in the bits above the lowest 52. One engine divides by a column of one value as it
    # stands, another multiplies by its reciprocal, which is exact for powers of two alone.
    return ((float_expr.reinterpret(dtype=pl.Int64) // 2**52 + 1) * 2**52).reinterpret(dtype=pl.Float64)


def repeat_in_rows(number_expr: pl.Expr, finite_expr: pl.Expr) -> pl.Expr:
    """Return a number of each row, even if it is one and the same, so that division by it is exact.

    `finite_expr` holds finite numbers, null at most where the result may be.
    """
    # By a number that all rows share, Polars divides as it multiplies by the reciprocal, which rounds
    # once more; and one engine may know that it is shared where another does not.
    return number_expr + finite_expr * 0.0


def is_at_least(value: Any, target: float) -> Any:
    """Whether a value, an expression or an array, reaches a target, or would if it were not rounded."""
    return value >= find_least(target)


def is_at_most(value: Any, target: float) -> Any:
    """Whether a value, an expression or an array, stays within a target, or would without rounding."""
    return value <= find_greatest(target)


def find_least(target: float) -> float:
    """Return the least value that reaches a target, or would if it were not rounded."""
    # Without this room a precision that is 0.8 by the counts misses a target of 0.8 by its last bit.
    return target * (1 - MAX_ROUNDING_ERROR)


def find_greatest(target: float) -> float:
    """Return the greatest value that stays within a target, or would if it were not rounded."""
    return target * (1 + MAX_ROUNDING_ERROR)
