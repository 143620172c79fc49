"""Keys: numbers for groups, bits of floats, and joins on group columns, where null and NaN are values.

The sweep sorts all rows at once, by the number of their group, which follows from the `by` columns, or,
if these can take too many values, from a list of the groups in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

import polars as pl

from polars_prcurve.core.ground.reserved_prefix import RESERVED

Span: TypeAlias = tuple[int, int]
"""The least and the greatest physical value of a column."""

# All that a narrow dtype can hold; floats and texts have no span, and WIDE_DTYPES one that is too wide.
_SPANS: dict[Any, Span] = {
    pl.Boolean: (0, 1),
    pl.Int8: (-(2**7), 2**7 - 1),
    pl.Int16: (-(2**15), 2**15 - 1),
    pl.UInt8: (0, 2**8 - 1),
    pl.UInt16: (0, 2**16 - 1),
}
WIDE_DTYPES = (pl.Int32, pl.Int64, pl.UInt32, pl.UInt64, pl.Date, pl.Datetime, pl.Duration, pl.Time)
"""A key of one of these dtypes becomes a number only if its span in the data is known."""


def group_number(
    keys: Mapping[str, pl.DataType], spans: Mapping[str, Span] | None = None
) -> pl.Expr | None:
    """Return a UInt32 that rises in the order of the groups; None for over 2**32 combinations of keys.

    The span of a key follows from its dtype, or, for WIDE_DTYPES, is in `spans`.
    """
    # A key is a digit of the number, 0 for null, and the last key is the lowest digit.
    digits: list[pl.Expr] = []
    size = 1  # the number of combinations of the keys so far, by which the next digit is multiplied
    for name, dtype in reversed(list(keys.items())):
        dtype_span = _SPANS.get(dtype.base_type())
        dtype_span = (0, len(dtype.categories)) if isinstance(dtype, pl.Enum) else dtype_span
        span = (spans or {}).get(name) or dtype_span
        if span is None:
            return None
        low, high = span
        key = pl.col(name).to_physical()
        if dtype == pl.UInt64:  # may exceed an Int64 before `low` is subtracted
            offset = (key - pl.lit(low, dtype=dtype)).cast(pl.Int64) + 1
        else:
            offset = key.cast(pl.Int64) + (1 - low)
        digits.append(offset.fill_null(0) * size)
        size *= high - low + 2  # all values from low to high, and null
    if size > 2**32:
        return None
    return (pl.sum_horizontal(digits) if digits else pl.lit(0)).cast(pl.UInt32)


def join_groups(
    left: pl.LazyFrame,
    right: pl.LazyFrame,
    keys: Mapping[str, pl.DataType],
    how: Literal["inner", "left"] = "inner",
    *,
    keep_order: bool = False,
) -> pl.LazyFrame:
    """Join two tables on their group columns, in which null and NaN match themselves."""
    order: Literal["left", "none"] = "left" if keep_order else "none"
    if not keys:
        return left.join(right, how="cross", maintain_order=order)
    # Floats are joined by their bits: in memory, the NaN of a table of one row finds no partner.
    floats = [name for name, dtype in keys.items() if dtype.is_float()]
    bits_of_keys = {name: f"{RESERVED}bits_{name}" for name in floats}
    columns = [bits_of_keys.get(name, name) for name in keys]
    # NaN has many patterns of bits. All become -1, the bits of one of them, which no number has.
    bits = [
        pl.when(pl.col(name).is_nan()).then(-1).otherwise(float_bits(pl.col(name))).alias(bits_name)
        for name, bits_name in bits_of_keys.items()
    ]
    right = right.with_columns(bits).drop(floats)
    joined = left.with_columns(bits).join(
        right, on=columns, how=how, nulls_equal=True, maintain_order=order
    )
    return joined.drop(bits_of_keys.values())


def aggregate_by(rows: pl.LazyFrame, by: Iterable[str], aggregates: Iterable[pl.Expr]) -> pl.LazyFrame:
    """Return one row per group with the aggregates; without group columns, one row for the table."""
    keys = [*by]
    return rows.group_by(keys).agg(aggregates) if keys else rows.select(aggregates)


def float_bits(value: pl.Expr) -> pl.Expr:
    """Return the bits of a float as an Int64, which is the same for 0.0 and -0.0."""
    return merge_zeros(value.cast(pl.Float64)).reinterpret(dtype=pl.Int64)


def merge_zeros(value: pl.Expr) -> pl.Expr:
    """Return a float with 0.0 in place of -0.0."""
    # The two zeros are equal, but have different bits. `value + 0.0` would do, if Polars kept it.
    return pl.when(value == 0).then(0.0).otherwise(value)
