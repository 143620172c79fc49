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


def _find_dtype(name: str) -> pl.DataType:
    """Return what a column of a table with a row per metric holds, where no metric determines it."""
    return pl.String() if name == DOUBT else pl.Boolean() if name in _FLAGS else pl.Float64()


def long_columns(
    values_of_column: Mapping[str, Sequence[pl.Expr]], metric_names: Sequence[str]
) -> list[pl.Expr]:
    """Return `metric` and other columns: copy i of a row gets the name and values of metric i."""
    if len(metric_names) == 1:  # there may be no Population.COPY to pick by
        return [
            pl.lit(metric_names[0]).alias("metric"),
            *(value_exprs[0].alias(name) for name, value_exprs in values_of_column.items()),
        ]
    metric = pick_by_number(Population.COPY, metric_names, pl.lit(None, dtype=pl.String)).alias("metric")
    columns = [metric]
    for name, value_exprs in values_of_column.items():
        no_value = None if value_exprs else pl.lit(None, _find_dtype(name))
        columns.append(pick_by_number(Population.COPY, value_exprs, no_value).alias(name))
    return columns


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
    metric_columns = {}
    for number, metric_name in enumerate(metric_names):
        value_exprs = [
            exprs[number].cast(_find_dtype(name)).alias(name) for name, exprs in values_of_column.items()
        ]
        copy_number = pl.lit(number, dtype=pl.Int64).alias(Population.COPY)
        metric_columns[f"{RESERVED}stack_{number}"] = pl.struct(
            copy_number, pl.lit(metric_name).alias("metric"), *value_exprs
        )
    wide_rows = rows.select(*row_columns, **metric_columns)
    stacked_rows = wide_rows.unpivot(
        on=[*metric_columns], index=row_columns, variable_name=_STACK_NAME, value_name=_STACK
    )
    return stacked_rows.drop(_STACK_NAME).unnest(_STACK)


def join_values(values: Sequence[Any]) -> pl.Series:
    """Return a Series of numbers or texts, or of the one that each Series holds; null for None."""
    one_value = next((value for value in values if isinstance(value, pl.Series)), None)
    if one_value is None:
        return pl.Series(values)
    return pl.concat(one_value.clear(1) if value is None else value for value in values)


def pick_by_number(number_column: str, values: Iterable[Any], default: pl.Expr | None = None) -> pl.Expr:
    """Return value i where `number_column` is i, or `default` where value i is None or missing.

    A value is a number, text, an expression, or a Series of one value in its own dtype. Each different
    expression is computed on all rows, so let there be few; values may be as many as the rows.
    """
    number, value_of_number = pl.col(number_column), pl.lit(None) if default is None else default
    known_values: list[Any] = []
    places_of_expr: dict[
        int, tuple[pl.Expr, list[int]]
    ] = {}  # by the id, since an expression has no hash
    for place, value in enumerate(values):
        is_expr = isinstance(value, pl.Expr)
        known_values.append(None if is_expr else value)
        if is_expr:
            places_of_expr.setdefault(id(value), (value, []))[1].append(place)
    if any(value is not None for value in known_values):
        # The streaming engine gathers values as they come, where it collects what it replaces.
        place_or_null = number.cast(pl.UInt32, strict=False)  # below 0 it would count from the end
        gathered_value = pl.lit(join_values(known_values)).gather(place_or_null, null_on_oob=True)
        value_of_number = gathered_value if default is None else gathered_value.fill_null(default)
    for expr, places in places_of_expr.values():
        value_of_number = pl.when(number.is_in(places)).then(expr).otherwise(value_of_number)
    return value_of_number
