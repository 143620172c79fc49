"""Joining on group columns, where a null is a group like any other, and so is NaN."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import polars as pl

from polars_prcurve.columns import RESERVED
from polars_prcurve.exact import float_bits

__all__ = ["join_groups"]


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
