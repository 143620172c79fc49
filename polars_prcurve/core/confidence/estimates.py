"""A value and its interval: the columns that hold them, and what a row has there."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import astuple, dataclass, replace
from typing import Any

import polars as pl

from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.confidence.interval_input_columns import ETA_HIGH, ETA_LOW, EtaError


@dataclass(frozen=True)
class Estimate:
    """A value and its interval: the names of their columns, or what a row has there."""

    value: Any
    low: Any = None
    high: Any = None
    corrected: Any = None  # the value without the optimism of a maximum
    doubt: Any = None  # why the interval may not hold

    @property
    def span(self) -> tuple[Any, Any] | None:
        """Both ends of the interval; None if one is missing."""
        return None if self.low is None or self.high is None else (self.low, self.high)


LONG = Estimate(value="value", low="low", high="high", corrected="corrected", doubt=DOUBT)
"""The columns of a table with a row for each value."""


def name_estimate(value_name: str) -> Estimate:
    """Return the columns of one of several values in a row: `precision`, `precision_low`, ..."""
    return Estimate(
        value_name,
        low=f"{value_name}_low",
        high=f"{value_name}_high",
        corrected=f"{value_name}_corrected",
        doubt=DOUBT,
    )


def find_estimate(column_names: Collection[str], value_name: str) -> Estimate:
    """Return the columns of a value and of what a table has beside it; None for what it has not."""
    # In a table with a row for each value, or difference, `low` and `high` are of that one.
    estimate_columns = name_estimate(value_name)
    value_columns = (column for column in ("difference", "behind", "value") if column in column_names)
    sole_value_column = next(value_columns, None)
    if estimate_columns.low not in column_names and value_name == sole_value_column:
        estimate_columns = replace(LONG, value=value_name)
    column_or_none = (column if column in column_names else None for column in astuple(estimate_columns))
    return Estimate(*column_or_none)


def read_estimate(value_by_column: Mapping[str, Any], value_name: str) -> Estimate:
    """Return the value of a row and what is known of it; None where the row has nothing."""
    columns = astuple(find_estimate(value_by_column, value_name))
    return Estimate(*(None if column is None else value_by_column[column] for column in columns))


def cut_to_ranges(
    rows: pl.LazyFrame, range_by_metric: Mapping[str, tuple[float, float]]
) -> pl.LazyFrame:
    """Cut `low` and `high` of rows with a `metric` at the ends of its range."""
    metric_names_by_range: dict[tuple[float, float], list[str]] = {}
    for name, metric_range in range_by_metric.items():
        metric_names_by_range.setdefault(metric_range, []).append(name)
    least_value, greatest_value = pl.lit(-math.inf), pl.lit(math.inf)
    for (range_low, range_high), metric_names in metric_names_by_range.items():
        when_in_range = pl.when(pl.col("metric").is_in(metric_names))
        least_value = when_in_range.then(range_low).otherwise(least_value)
        greatest_value = when_in_range.then(range_high).otherwise(greatest_value)
    return rows.with_columns(pl.col("low", "high").clip(least_value, greatest_value))


def add_eta_limits(points: pl.LazyFrame) -> pl.LazyFrame:
    """Add EtaError.LIMITS to rows of eta and its interval: eta itself, where it is exact."""
    # An end at 0 or 1 is taken just inside, where every metric has its limit, or near it.
    low, high = pl.col(ETA_LOW), pl.col(ETA_HIGH)
    limit_exprs = (
        pl.when(low == 0).then(high * 2.0**-69).otherwise(low),
        pl.when((high == 1) & (low < 1)).then(1 - 2.0**-53).otherwise(high),
    )
    return points.with_columns(
        limit_expr.fill_null(pl.col("eta")).alias(limit_column)
        for limit_column, limit_expr in zip(EtaError.LIMITS, limit_exprs, strict=True)
    )
