"""The order of names, which decides their colours in all charts and documents of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl


def number_names(names: pl.Series) -> pl.Series:
    """Return the number of each name among the different ones in their order, whichever rows repeat it.

    Names of an Enum have its order; others are sorted, with null first.
    """
    sorted_frame = pl.DataFrame({"name": names}).with_row_index("row").sort("name", maintain_order=True)
    return sorted_frame.with_columns(number=pl.col("name").rle_id()).sort("row")["number"]


def keep_call_order(frame: pl.DataFrame, names_by_column: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    """Return rows whose columns of names are an Enum in the order of the call that named them."""
    return frame.with_columns(
        pl.col(column).cast(pl.Enum(names), strict=False)
        for column, names in names_by_column.items()
        if frame.schema.get(column) == pl.String and all(isinstance(name, str) for name in names)
    )
