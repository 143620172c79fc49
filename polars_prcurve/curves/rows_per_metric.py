"""Long tables: a row per metric in place of a column per metric.

Each row of a wide table is first repeated once per metric, numbered in COPY.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from polars_prcurve.column_names import COPY


def long_columns(columns: Mapping[str, Sequence[pl.Expr]], names: Sequence[str]) -> list[pl.Expr]:
    """Columns of a long table: copy i of a row gets the name and values of metric i.

    `columns` holds the values of each metric, in the order of `names`, for each column beside `metric`.
    """
    if len(names) == 1:  # there may be no COPY to pick by
        only = {column: values[0] for column, values in columns.items()}
        return [pl.lit(names[0]).alias("metric"), *(value.alias(c) for c, value in only.items())]
    metric = pick_by_number(COPY, map(pl.lit, names), pl.lit(None, dtype=pl.String))
    picked = {c: pick_by_number(COPY, values, pl.lit(None)) for c, values in columns.items()}
    return [metric.alias("metric"), *(value.alias(c) for c, value in picked.items())]


def pick_by_number(number_column: str, values: Iterable[pl.Expr | None], otherwise: pl.Expr) -> pl.Expr:
    """Return value i where `number_column` is i, or `otherwise` where value i is None or missing."""
    for number, value in enumerate(values):
        if value is not None:
            otherwise = pl.when(pl.col(number_column) == number).then(value).otherwise(otherwise)
    return otherwise
