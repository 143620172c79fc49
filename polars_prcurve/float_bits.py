"""Floats to the last bit, in expressions: bits as integers, one zero in place of two, quotients that do
not depend on the engine, and room for rounding."""

from __future__ import annotations

from typing import Any

import polars as pl

ROUNDING = 2.0**-50
"""What the arithmetic of a metric may cost a value, relative: eight times the rounding of one step."""


def float_bits(value: pl.Expr) -> pl.Expr:
    """Return the bits of a float as an Int64, which is the same for 0.0 and -0.0."""
    return merge_zeros(value.cast(pl.Float64)).reinterpret(dtype=pl.Int64)


def merge_zeros(value: pl.Expr) -> pl.Expr:
    """Return a float with 0.0 in place of -0.0."""
    # The two zeros are equal, but have different bits. `value + 0.0` would do, if Polars kept it.
    return pl.when(value == 0).then(0.0).otherwise(value)


def round_up_to_power_of_two(value: pl.Expr) -> pl.Expr:
    """Return the least power of two above a float >= 0: division by it is exact, in any engine."""
    # The exponent is in the bits above the lowest 52. One engine divides by a column of one value as it
    # stands, another multiplies by its reciprocal, which is exact for powers of two alone.
    return ((value.reinterpret(dtype=pl.Int64) // 2**52 + 1) * 2**52).reinterpret(dtype=pl.Float64)


def repeat_in_rows(number: pl.Expr, rows: pl.Expr) -> pl.Expr:
    """Return a number of each row, even if it is one and the same, so that division by it is exact.

    `rows` is a column of finite numbers, null at most where the result may be.
    """
    # By a number that all rows share, Polars divides as it multiplies by the reciprocal, which rounds
    # once more; and one engine may know that it is shared where another does not.
    return number + rows * 0.0


def is_at_least(value: Any, target: float) -> Any:
    """Whether a value, an expression or an array, reaches a target, or would if it were not rounded."""
    # Without this room a precision that is 0.8 by the counts misses a target of 0.8 by its last bit.
    return value >= target * (1 - ROUNDING)


def is_at_most(value: Any, target: float) -> Any:
    """Whether a value, an expression or an array, stays within a target, or would without rounding."""
    return value <= target * (1 + ROUNDING)
