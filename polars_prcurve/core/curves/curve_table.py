"""The curve: the sweep at each prevalence of a grid, with point metrics and their bands beside it.

sweep at each eta -> (rates of a model) -> metrics -> (bands) -> columns of the result
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_prcurve.core.confidence.band_options import FixedBands
from polars_prcurve.core.curves.binormal import replace_by_binormal_rates
from polars_prcurve.core.curves.long_tables import has_many
from polars_prcurve.core.curves.metric_and_band_columns import (
    add_metrics,
    check_metric_names,
    fit_bands,
    list_metric_columns,
)
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable, is_field
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.eta_table import EtaTable, check_result_columns
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.sweep_column_names import FIELD_COLUMNS, SWEEP_COLUMNS
from polars_prcurve.core.sweep.sweep_table import Thresholds, build_eta_sweep

_STACKED_NUMBER = f"{RESERVED}place"  # of a row, before metrics are stacked
_MOST_ROWS = 2**33  # of a curve, which leaves 2**31 for metrics at prevalences of groups


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
    curve_columns = ("eta", *SWEEP_COLUMNS, *metric_columns, *field_columns)
    check_metric_names(curve_columns, [] if long else metrics)
    return curve_columns


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
    points = build_eta_sweep(grid, table, thresholds=thresholds, with_sizes=bands is not None)
    if smooth and isinstance(table, ScoreTable):
        points = replace_by_binormal_rates(points, table)
    result_columns = [*table.by, eta_column, *grid.carried_columns, *other_columns]
    row_columns = None
    if is_stacked:
        points = _number_stacked_rows(points, len(metrics))
        value_columns = list_metric_columns(metrics, long=True, bands=bands)
        row_columns = [*(name for name in result_columns if name not in value_columns), _STACKED_NUMBER]
    points = add_metrics(
        points, metrics, table, bands, is_from_counts=not smooth, long=long, row_columns=row_columns
    )
    if is_stacked:
        points = points.sort(
            pl.col(_STACKED_NUMBER) + pl.col(Population.COPY).cast(pl.UInt64) * _MOST_ROWS
        )
    return points.select(result_columns)


def _number_stacked_rows(points: pl.LazyFrame, n_metrics: int) -> pl.LazyFrame:
    """Add the place of each row among those of all metrics, of each group and prevalence in turn."""
    # One integer is sorted twice as fast as three.
    population_keys = map(pl.col, (Group.NUMBER, Population.ETA_ROW))
    begins_population = pl.any_horizontal(key.ne_missing(key.shift(1)) for key in population_keys)
    first_copy_number = begins_population.cast(pl.UInt64).cum_sum() * n_metrics
    stacked_number = first_copy_number * _MOST_ROWS + pl.col(_STACKED_NUMBER)
    return points.with_row_index(_STACKED_NUMBER).with_columns(stacked_number.alias(_STACKED_NUMBER))
