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
_SPAN_OF_DTYPE: dict[Any, Span] = {
    pl.Boolean: (0, 1),
    pl.Int8: (-(2**7), 2**7 - 1),
    pl.Int16: (-(2**15), 2**15 - 1),
    pl.UInt8: (0, 2**8 - 1),
    pl.UInt16: (0, 2**16 - 1),
}
WIDE_DTYPES = (pl.Int32, pl.Int64, pl.UInt32, pl.UInt64, pl.Date, pl.Datetime, pl.Duration, pl.Time)
"""A key of one of these dtypes becomes a number only if its span in the data is known."""


def group_number(
    dtype_of_key: Mapping[str, pl.DataType], span_of_key: Mapping[str, Span] | None = None
) -> pl.Expr | None:
    """Return a UInt32 that rises in the order of the groups; None for over 2**28 combinations of keys.

    The span of a key follows from its dtype, or, for WIDE_DTYPES, is in `span_of_key`.
    """
    # A key is a digit of the number, 0 for null, and the last key is the lowest digit.
    digits: list[pl.Expr] = []
    n_combinations = 1  # of the keys so far, by which the next digit is multiplied
    for key_name, dtype in reversed(list(dtype_of_key.items())):
        dtype_span = _SPAN_OF_DTYPE.get(dtype.base_type())
        dtype_span = (0, len(dtype.categories)) if isinstance(dtype, pl.Enum) else dtype_span
        span = (span_of_key or {}).get(key_name) or dtype_span
        if span is None:
            return None
        least_value, greatest_value = span
        key_column = pl.col(key_name).to_physical()
        if dtype == pl.UInt64:  # may exceed an Int64 before the least is subtracted
            digit = (key_column - pl.lit(least_value, dtype=dtype)).cast(pl.Int64) + 1
        else:
            digit = key_column.cast(pl.Int64) + (1 - least_value)
        digits.append(digit.fill_null(0) * n_combinations)
        n_combinations *= greatest_value - least_value + 2  # all values of the span, and null
    if n_combinations > 2**28:  # more do not fit into a narrow key; see `sweep.sorted_group_rows`
        return None
    return (pl.sum_horizontal(digits) if digits else pl.lit(0)).cast(pl.UInt32)


def join_groups(
    left_frame: pl.LazyFrame,
    right_frame: pl.LazyFrame,
    dtype_of_key: Mapping[str, pl.DataType],
    how: Literal["inner", "left"] = "inner",
    *,
    keep_order: bool = False,
) -> pl.LazyFrame:
    """Join two tables on their group columns, in which null and NaN match themselves."""
    row_order: Literal["left", "none"] = "left" if keep_order else "none"
    if not dtype_of_key:
        return left_frame.join(right_frame, how="cross", maintain_order=row_order)
    # Floats are joined by their bits: in memory, the NaN of a table of one row finds no partner.
    float_keys = [key_name for key_name, dtype in dtype_of_key.items() if dtype.is_float()]
    bits_name_of_key = {key_name: f"{RESERVED}bits_{key_name}" for key_name in float_keys}
    join_names = [bits_name_of_key.get(key_name, key_name) for key_name in dtype_of_key]
    # NaN has many patterns of bits. All become -1, the bits of one of them, which no number has.
    bit_exprs = []
    for key_name, bits_name in bits_name_of_key.items():
        key = pl.col(key_name)
        bit_exprs.append(pl.when(key.is_nan()).then(-1).otherwise(float_bits(key)).alias(bits_name))
    right_frame = right_frame.with_columns(bit_exprs).drop(float_keys)
    joined_frame = left_frame.with_columns(bit_exprs).join(
        right_frame, on=join_names, how=how, nulls_equal=True, maintain_order=row_order
    )
    return joined_frame.drop(bits_name_of_key.values())


def aggregate_by(
    rows: pl.LazyFrame, by: Iterable[str], aggregate_exprs: Iterable[pl.Expr]
) -> pl.LazyFrame:
    """Return one row per group with the aggregates; without group columns, one row for the table."""
    if group_names := [*by]:
        return rows.group_by(group_names).agg(aggregate_exprs)
    return rows.select(aggregate_exprs)


def float_bits(float_column: pl.Expr) -> pl.Expr:
    """Return the bits of a float as an Int64, which is the same for 0.0 and -0.0."""
    return merge_zeros(float_column.cast(pl.Float64)).reinterpret(dtype=pl.Int64)


def merge_zeros(float_column: pl.Expr) -> pl.Expr:
    """Return a float with 0.0 instead of -0.0."""
    # The two zeros are equal, but have different bits. `value + 0.0` would do, if Polars kept it.
    return pl.when(float_column == 0).then(0.0).otherwise(float_column)
