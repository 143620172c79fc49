"""Long tables, of a row per metric: each row comes repeated, numbered in Population.COPY."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from polars_prcurve.core.confidence.chance_test import ABOVE_CHANCE
from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.prevalence.population_column_names import Population

_STACK, _STACK_NAME = f"{RESERVED}stack", f"{RESERVED}stack_name"
"""The columns of a metric as a struct, and the name of that struct."""
_FLAGS = (ABOVE_CHANCE, "significant", "not_worse")  # columns of true and false, of a row per metric


def _find_dtype(column: str) -> pl.DataType:
    """Return what a column of a table with a row per metric holds, where no metric determines it."""
    return pl.String() if column == DOUBT else pl.Boolean() if column in _FLAGS else pl.Float64()


def long_columns(
    values_of_column: Mapping[str, Sequence[pl.Expr]], metric_names: Sequence[str]
) -> list[pl.Expr]:
    """Return `metric` and other columns: copy i of a row gets the name and values of metric i."""
    if len(metric_names) == 1:  # there may be no Population.COPY to pick by
        return [
            pl.lit(metric_names[0]).alias("metric"),
            *(value_exprs[0].alias(column) for column, value_exprs in values_of_column.items()),
        ]
    metric_expr = pick_by_number(Population.COPY, metric_names, pl.lit(None, dtype=pl.String)).alias(
        "metric"
    )
    column_exprs = [metric_expr]
    for column, value_exprs in values_of_column.items():
        null_expr = None if value_exprs else pl.lit(None, _find_dtype(column))
        column_exprs.append(pick_by_number(Population.COPY, value_exprs, null_expr).alias(column))
    return column_exprs


_MANY, _MANY_WITH_BANDS = 24, 4
"""From so many metrics on it takes less time to compute each once and to sort the rows. Bands take ten
times as long to compute."""


def has_many(metrics: Sequence[Any], *, has_bands: bool = False) -> bool:
    """Return whether a long table is stacked, metric by metric, and its rows are not repeated.

    Each repeated row computes all metrics to pick one: the cost grows with the square of their number.
    """
    return len(metrics) >= (_MANY_WITH_BANDS if has_bands else _MANY)


def stack_metrics(
    rows: pl.LazyFrame,
    values_of_column: Mapping[str, Sequence[pl.Expr]],
    metric_names: Sequence[str],
    row_columns: Sequence[str],
) -> pl.LazyFrame:
    """Return a row per metric of each row, numbered in Population.COPY: what `long_columns` adds.

    The rows come in no order, with their `row_columns` alone.
    """
    metric_struct_exprs = {}
    for metric_number, metric_name in enumerate(metric_names):
        value_exprs = [
            column_exprs[metric_number].cast(_find_dtype(column)).alias(column)
            for column, column_exprs in values_of_column.items()
        ]
        copy_number_expr = pl.lit(metric_number, dtype=pl.Int64).alias(Population.COPY)
        metric_struct_exprs[f"{RESERVED}stack_{metric_number}"] = pl.struct(
            copy_number_expr, pl.lit(metric_name).alias("metric"), *value_exprs
        )
    wide_rows = rows.select(*row_columns, **metric_struct_exprs)
    stacked_rows = wide_rows.unpivot(
        on=[*metric_struct_exprs], index=row_columns, variable_name=_STACK_NAME, value_name=_STACK
    )
    return stacked_rows.drop(_STACK_NAME).unnest(_STACK)


def join_values(values: Sequence[Any]) -> pl.Series:
    """Return a Series of numbers or texts, or of the one that each Series holds; null for None."""
    series_value = next((value for value in values if isinstance(value, pl.Series)), None)
    if series_value is None:
        return pl.Series(values)
    return pl.concat(series_value.clear(1) if value is None else value for value in values)


def pick_by_number(
    number_column: str, values: Iterable[Any], default_expr: pl.Expr | None = None
) -> pl.Expr:
    """Return value i where `number_column` is i, or `default_expr` where value i is None or missing.

    A value is a number, text, an expression, or a Series of one value in its own dtype. Each different
    expression is computed on all rows, so let there be few; values may be as many as the rows.
    """
    number_expr = pl.col(number_column)
    picked_expr = pl.lit(None) if default_expr is None else default_expr
    literal_values: list[Any] = []
    numbers_by_expr: dict[
        int, tuple[pl.Expr, list[int]]
    ] = {}  # by the id, since an expression has no hash
    for value_number, value in enumerate(values):
        is_expr = isinstance(value, pl.Expr)
        literal_values.append(None if is_expr else value)
        if is_expr:
            numbers_by_expr.setdefault(id(value), (value, []))[1].append(value_number)
    if any(value is not None for value in literal_values):
        # The streaming engine gathers values as they come, where it collects what it replaces.
        number_or_null = number_expr.cast(pl.UInt32, strict=False)  # below 0 it would count from the end
        gathered_value = pl.lit(join_values(literal_values)).gather(number_or_null, null_on_oob=True)
        picked_expr = gathered_value if default_expr is None else gathered_value.fill_null(default_expr)
    for expr, value_numbers in numbers_by_expr.values():
        picked_expr = pl.when(number_expr.is_in(value_numbers)).then(expr).otherwise(picked_expr)
    return picked_expr
