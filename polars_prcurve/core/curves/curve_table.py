"""The curve: the sweep at each prevalence of a grid, with point metrics and their bands beside it.

    sweep at each eta -> (rates of a model) -> metrics -> (bands) -> columns of the result

Other tables, such as operating points, add metrics to their rows here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from polars_prcurve.core.confidence.bands_by_threshold_choice import FixedBands
from polars_prcurve.core.confidence.chance_test import ABOVE_CHANCE
from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize
from polars_prcurve.core.confidence.point_intervals import add_bands
from polars_prcurve.core.curves.binormal import replace_by_binormal_rates
from polars_prcurve.core.curves.field_bands_and_tests import add_field_bands
from polars_prcurve.core.ground.argument_checks import read_flag
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import (
    ResolvedTable,
    ScoreTable,
    has_unscored,
    is_field,
)
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.metrics.curve_metric import SegmentValues
from polars_prcurve.core.metrics.point_metric import POINT_METRICS, PointMetric
from polars_prcurve.core.prevalence.eta_table import EtaTable, check_result_columns
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.sweep_column_names import FIELD_COLUMNS, SWEEP_COLUMNS
from polars_prcurve.core.sweep.sweep_table import Thresholds, build_eta_sweep


def list_curve_columns(
    metrics: Sequence[PointMetric],
    *,
    long: bool,
    bands: FixedBands | None = None,
    in_field: bool = False,
) -> tuple[str, ...]:
    """Return the columns that a curve adds to `by` (and to what an eta frame carries)."""
    field_columns = FIELD_COLUMNS if in_field else ()
    metric_columns = list_metric_columns(metrics, long=long, bands=bands)
    columns = ("eta", *SWEEP_COLUMNS, *metric_columns, *field_columns)
    check_metric_names(columns, [] if long else metrics)
    return columns


def check_metric_names(columns: Iterable[str], metrics: Sequence[PointMetric]) -> None:
    """Raise if a metric would bear the name of another column of the result, or none."""
    # The metrics recall and fpr may be requested: their columns are in the result already.
    column_names = list(columns)
    for metric in metrics:
        is_sweep_rate = metric.name in ("recall", "fpr") and metric == POINT_METRICS[metric.name]
        if not metric.name:
            raise PrcError("name the metric with .alias(...): without a name it has no column")
        if column_names.count(metric.name) > 1 or (metric.name in SWEEP_COLUMNS and not is_sweep_rate):
            raise PrcError(
                f"rename the metric {metric.name!r} with .alias(...): another column of the result "
                "has that name"
            )


def list_metric_columns(
    metrics: Sequence[PointMetric], *, long: bool, bands: FixedBands | None
) -> list[str]:
    """Return the columns of metrics and of their bands, without those that a sweep has."""
    band_kinds = [] if bands is None else bands.list_kinds()
    if read_flag("long=", long):
        return ["metric", "value", *band_kinds]
    suffixes = ["", *(f"_{kind}" for kind in band_kinds)]
    column_names = (f"{metric.name}{suffix}" for metric in metrics for suffix in suffixes)
    return [name for name in column_names if name not in SWEEP_COLUMNS]


def build_curve_table(
    table: ResolvedTable,
    grid: EtaTable,
    metrics: Sequence[PointMetric],
    *,
    thresholds: Thresholds = None,
    bands: FixedBands | None = None,
    smooth: bool = False,
    long: bool = False,
) -> pl.LazyFrame:
    """Return the result of `curve`: `by`, eta, what the eta frame carries, and the other columns."""
    eta_column, *other_columns = list_curve_columns(
        metrics, long=long, bands=bands, in_field=is_field(table)
    )
    check_result_columns(table, grid, [eta_column, *other_columns])
    if smooth:
        grid = grid.require_exact("smooth=")
    is_stacked = long and has_many(metrics, has_bands=bands is not None)
    if long and not is_stacked:
        grid = grid._replace(n_copies=len(metrics))
    if bands is not None:
        bands = fit_bands(bands, grid, table, metrics)
    points = build_eta_sweep(grid, table, thresholds=thresholds, effective=bands is not None)
    if smooth and isinstance(table, ScoreTable):
        points = replace_by_binormal_rates(points, table)
    result_columns = [*table.by, eta_column, *grid.carried_columns, *other_columns]
    row_columns = None
    if is_stacked:
        points = _add_places(points, len(metrics))
        value_columns = list_metric_columns(metrics, long=True, bands=bands)
        row_columns = [*(name for name in result_columns if name not in value_columns), _PLACE]
    points = add_metrics(
        points,
        metrics,
        table,
        bands,
        is_from_counts=not smooth,
        long=long,
        row_columns=row_columns,
    )
    if is_stacked:
        points = points.sort(pl.col(_PLACE) + pl.col(Population.COPY).cast(pl.UInt64) * _MOST_ROWS)
    return points.select(result_columns)


def _add_places(points: pl.LazyFrame, n_metrics: int) -> pl.LazyFrame:
    """Add the place of each row among those of all metrics, of each group and prevalence in turn."""
    # One integer is sorted twice as fast as three.
    population_keys = map(pl.col, (Group.NUMBER, Population.ETA_ROW))
    begins_population = pl.any_horizontal(key.ne_missing(key.shift(1)) for key in population_keys)
    first_metric = begins_population.cast(pl.UInt64).cum_sum() * n_metrics
    place = first_metric * _MOST_ROWS + pl.col(_PLACE)
    return points.with_row_index(_PLACE).with_columns(place.alias(_PLACE))


def fit_bands(
    bands: FixedBands, grid: EtaTable, table: ResolvedTable, metrics: Sequence[PointMetric]
) -> FixedBands:
    """Return the options of bands of a table, at the prevalences of a grid: estimates, or counted."""
    bands = replace(bands, sample=table.sample)
    bands = bands.carry_estimates() if grid.is_uncertain else bands
    if not grid.may_hold_own or is_field(table):
        return bands
    has_own_alone, is_known = not grid.holds_others, grid.holds_own is not None
    return bands.carry_counts(metrics, are_all=has_own_alone, is_known=is_known)


def add_metrics(
    points: pl.LazyFrame,
    metrics: Sequence[PointMetric],
    table: ResolvedTable,
    bands: FixedBands | None,
    *,
    long: bool,
    is_from_counts: bool = True,
    row_columns: Sequence[str] | None = None,
) -> pl.LazyFrame:
    """Add the columns of `list_metric_columns` to rows, which come repeated if the table is long.

    With `row_columns` the long table is made here, of rows that come once: in no order, with these
    columns beside the metrics.
    """
    metric_names = [metric.name for metric in metrics]
    if long:
        # The names of metrics become values; their columns on the way get names that nothing else has.
        metrics = [
            replace(metric, name=f"{RESERVED}metric_{number}") for number, metric in enumerate(metrics)
        ]
    value_exprs = metric_values(metrics, table if is_from_counts else None)
    if bands is None and row_columns is not None:
        return stack_metrics(points, {"value": value_exprs}, metric_names, row_columns)
    if bands is None:
        return points.with_columns(
            long_columns({"value": value_exprs}, metric_names) if long else value_exprs
        )
    points = points.with_columns(value_exprs)
    if is_field(table):
        points = add_field_bands(points, metrics, bands, table)
    else:
        points = add_bands(points, metrics, bands, table)
    if not long:
        return points
    suffix_of_kind = {"value": "", **{kind: f"_{kind}" for kind in bands.list_kinds()}}
    exprs_of_column = {
        kind: [pl.col(metric.name + suffix) for metric in metrics]
        for kind, suffix in suffix_of_kind.items()
    }
    if row_columns is not None:
        return stack_metrics(points, exprs_of_column, metric_names, row_columns)
    return points.with_columns(long_columns(exprs_of_column, metric_names))


def metric_values(
    metrics: Sequence[PointMetric],
    table: ResolvedTable | None,
    find_column: Callable[[str], pl.Expr] = pl.col,
) -> list[pl.Expr]:
    """Return the metrics from counts, or from rates without a table of scores; undefined is null."""
    recall, fpr, eta = map(find_column, ("recall", "fpr", "eta"))
    if table is None or not table.has_cells:
        return [metric.from_columns(recall, fpr, eta) for metric in metrics]
    cell_exprs = [find_column(name).cast(pl.Float64) for name in ("tp", "fn", "fp", "tn")]
    if isinstance(table, ScoreTable) and table.float_sums:
        # Bring weights near 1, so that products of them neither overflow nor vanish.
        cell_exprs = [cell * find_column(EffectiveSize.WEIGHT_UNIT) for cell in cell_exprs]
    class_factor_exprs = find_column(Population.POS_FACTOR), find_column(Population.NEG_FACTOR)
    return [metric.from_counts(cell_exprs, class_factor_exprs, (recall, fpr), eta) for metric in metrics]


def build_metric_rows(
    table: ResolvedTable | None, find_column: Callable[[str], pl.Expr] = pl.col
) -> SegmentValues:
    """Return what metrics of a curve read, from the columns of `build_eta_sweep` by name."""
    return SegmentValues(
        find_column,
        find_column("eta"),
        lambda metric: metric_values([metric], table, find_column)[0],
        has_unscored=table is not None and has_unscored(table),
    )


# Long tables, of a row per metric: each row comes repeated, numbered in Population.COPY ---------------


_PLACE = f"{RESERVED}place"  # of a row, before metrics are stacked
_MOST_ROWS = 2**33  # of a curve, which leaves 2**31 for metrics at prevalences of groups
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
