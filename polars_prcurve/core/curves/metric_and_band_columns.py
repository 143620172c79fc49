"""The columns of point metrics and their bands, for rows such as a curve or operating points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import polars as pl

from polars_prcurve.core.confidence.band_options import FixedBands
from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize
from polars_prcurve.core.confidence.point_intervals import add_bands
from polars_prcurve.core.curves.bands_and_guarantees_of_parts import add_field_bands
from polars_prcurve.core.curves.long_tables import long_columns, stack_metrics
from polars_prcurve.core.ground.argument_checks import read_flag
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable, has_unscored, is_field
from polars_prcurve.core.metrics.curve_metric import SegmentValues
from polars_prcurve.core.metrics.point_metric import POINT_METRICS, PointMetric
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.sweep_column_names import SWEEP_COLUMNS


def check_metric_names(result_columns: Iterable[str], metrics: Sequence[PointMetric]) -> None:
    """Raise if a metric would bear the name of another column of the result, or none."""
    # The metrics recall and fpr may be requested: their columns are in the result already.
    column_names = list(result_columns)
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
    return [column for column in column_names if column not in SWEEP_COLUMNS]


def fit_bands(
    bands: FixedBands, grid: EtaTable, table: ResolvedTable, metrics: Sequence[PointMetric]
) -> FixedBands:
    """Return the options of bands of a table, at the prevalences of a grid: estimates, or counted."""
    bands = replace(bands, sample=table.sample)
    bands = bands.carry_estimates() if grid.is_uncertain else bands
    if not grid.may_hold_own or is_field(table):
        return bands
    has_only_own_etas, is_known = not grid.holds_others, grid.holds_own is not None
    return bands.carry_counts(metrics, are_all_counted=has_only_own_etas, is_known=is_known)


def add_metrics(
    points: pl.LazyFrame,
    metrics: Sequence[PointMetric],
    table: ResolvedTable,
    bands: FixedBands | None,
    *,
    long: bool,
    is_from_counts: bool = True,
    row_columns: Sequence[str] | None = None,
    groups: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """Add the columns of `list_metric_columns` to rows, which come repeated if the table is long.

    With `row_columns` the long table is made here, of rows that come once: in no order, with these
    columns beside the metrics. Rows without the `by` columns need `groups`, which have them.
    """
    metric_names = [metric.name for metric in metrics]
    if long:
        # The names of metrics become values; their columns on the way get names that nothing else has.
        metrics = [
            replace(metric, name=f"{RESERVED}metric_{metric_number}")
            for metric_number, metric in enumerate(metrics)
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
        points = add_field_bands(points, metrics, bands, table, groups)
    else:
        points = add_bands(points, metrics, bands, table)
    if not long:
        return points
    suffix_by_kind = {"value": "", **{value_kind: f"_{value_kind}" for value_kind in bands.list_kinds()}}
    exprs_by_column = {
        value_kind: [pl.col(metric.name + suffix) for metric in metrics]
        for value_kind, suffix in suffix_by_kind.items()
    }
    if row_columns is not None:
        return stack_metrics(points, exprs_by_column, metric_names, row_columns)
    return points.with_columns(long_columns(exprs_by_column, metric_names))


def metric_values(
    metrics: Sequence[PointMetric],
    table: ResolvedTable | None,
    find_column: Callable[[str], pl.Expr] = pl.col,
) -> list[pl.Expr]:
    """Return the metrics from counts, or from rates without a table of scores; undefined is null."""
    recall, fpr, eta = map(find_column, ("recall", "fpr", "eta"))
    if table is None or not table.has_cells:
        return [metric.from_columns(recall, fpr, eta) for metric in metrics]
    cell_exprs = [find_column(cell_name).cast(pl.Float64) for cell_name in ("tp", "fn", "fp", "tn")]
    if isinstance(table, ScoreTable) and table.has_float_sums:
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
