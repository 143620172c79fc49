"""Groups as numbers, and joins on group columns; a null is a group like any other, and so is NaN."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import polars as pl

from polars_prcurve.columns import RESERVED
from polars_prcurve.exact import float_bits

__all__ = ["Span", "group_number", "join_groups", "wide_keys"]

Span: TypeAlias = tuple[int, int]
"""The least and the greatest physical value."""

_SPANS: dict[Any, Span] = {
    pl.Boolean: (0, 1),
    pl.Int8: (-(2**7), 2**7 - 1),
    pl.Int16: (-(2**15), 2**15 - 1),
    pl.UInt8: (0, 2**8 - 1),
    pl.UInt16: (0, 2**16 - 1),
}
_WIDE = (pl.Int32, pl.Int64, pl.UInt32, pl.UInt64, pl.Date, pl.Datetime, pl.Duration, pl.Time)


def group_number(
    keys: Mapping[str, pl.DataType], spans: Mapping[str, Span] | None = None
) -> pl.Expr | None:
    """A UInt32 that rises in the order of the groups, from the key columns alone.

    None if they may take more values than that: then groups have to be numbered by a join.
    Of wide keys the dtype does not tell the span; who knows the data may.
    """
    numbers: list[pl.Expr] = []
    size = 1
    for name, dtype in reversed(list(keys.items())):
        span = (spans or {}).get(name) or _span(dtype)
        if span is None:
            return None
        low, high = span
        key = pl.col(name).to_physical()
        if dtype == pl.UInt64:
            offset = (key - pl.lit(low, dtype=dtype)).cast(pl.Int64) + 1
        else:
            offset = key.cast(pl.Int64) + (1 - low)
        numbers.append(offset.fill_null(0) * size)
        size *= high - low + 2  # and null
    if size > 2**32:
        return None
    return (pl.sum_horizontal(numbers) if numbers else pl.lit(0)).cast(pl.UInt32)


def _span(dtype: pl.DataType) -> Span | None:
    if isinstance(dtype, pl.Enum):
        return 0, len(dtype.categories)
    return _SPANS.get(dtype.base_type())


def wide_keys(keys: Mapping[str, pl.DataType]) -> list[str]:
    """The keys whose span would be of use to `group_number`."""
    return [name for name, dtype in keys.items() if dtype in _WIDE]


def join_groups(
    left: pl.LazyFrame,
    right: pl.LazyFrame,
    keys: Mapping[str, pl.DataType],
    how: Literal["inner", "left"] = "inner",
) -> pl.LazyFrame:
    """Join two tables on their group columns.

    Floats are joined by their bits: in memory, the NaN of a table of one row finds no partner.
    """
    floats = [name for name, dtype in keys.items() if dtype.is_float()]
    on = [f"{RESERVED}bits_{name}" if name in floats else name for name in keys]
    bits = [_bits(pl.col(name)).alias(f"{RESERVED}bits_{name}") for name in floats]
    right = right.with_columns(bits).drop(floats)
    joined = left.with_columns(bits).join(right, on=on, how=how, nulls_equal=True)
    return joined.drop(f"{RESERVED}bits_{name}" for name in floats)


def _bits(key: pl.Expr) -> pl.Expr:
    return pl.when(key.is_nan()).then(-1).otherwise(float_bits(key))
