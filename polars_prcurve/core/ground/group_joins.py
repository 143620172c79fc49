"""Joins on group columns, where null and NaN are values, and the bits of floats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import polars as pl

from polars_prcurve.core.ground.reserved_prefix import RESERVED


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
    float_key_names = [key_name for key_name, dtype in dtype_of_key.items() if dtype.is_float()]
    bits_name_by_key = {key_name: f"{RESERVED}bits_{key_name}" for key_name in float_key_names}
    join_columns = [bits_name_by_key.get(key_name, key_name) for key_name in dtype_of_key]
    # NaN has many patterns of bits. All become -1, the bits of one of them, which no number has.
    bit_exprs = []
    for key_name, bits_name in bits_name_by_key.items():
        key_expr = pl.col(key_name)
        bit_exprs.append(
            pl.when(key_expr.is_nan()).then(-1).otherwise(float_bits(key_expr)).alias(bits_name)
        )
    right_frame = right_frame.with_columns(bit_exprs).drop(float_key_names)
    joined_frame = left_frame.with_columns(bit_exprs).join(
        right_frame, on=join_columns, how=how, nulls_equal=True, maintain_order=row_order
    )
    return joined_frame.drop(bits_name_by_key.values())


def aggregate_by(
    rows: pl.LazyFrame, by: Iterable[str], aggregate_exprs: Iterable[pl.Expr]
) -> pl.LazyFrame:
    """Return one row per group with the aggregates; without group columns, one row for the table."""
    if group_names := [*by]:
        return rows.group_by(group_names).agg(aggregate_exprs)
    return rows.select(aggregate_exprs)


def float_bits(float_expr: pl.Expr) -> pl.Expr:
    """Return the bits of a float as an Int64, which is the same for 0.0 and -0.0."""
    return merge_zeros(float_expr.cast(pl.Float64)).reinterpret(dtype=pl.Int64)


def merge_zeros(float_expr: pl.Expr) -> pl.Expr:
    """Return a float with 0.0 instead of -0.0."""
    # The two zeros are equal, but have different bits. `value + 0.0` would do, if Polars kept it.
    return pl.when(float_expr == 0).then(0.0).otherwise(float_expr)
