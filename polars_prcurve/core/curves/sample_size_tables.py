"""How many examples a precision at a target needs, or from which eta up these are enough."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_prcurve.core.confidence.band_options import FixedBands
from polars_prcurve.core.confidence.precision_band_width import smallest_eta
from polars_prcurve.core.confidence.rate_intervals import BETA_METHODS
from polars_prcurve.core.confidence.sample_sizes import SIZES_NEEDED, SizeOptions, add_needed_sizes
from polars_prcurve.core.curves.operating_points import build_points_table
from polars_prcurve.core.curves.targets import Target
from polars_prcurve.core.inputs.group_column_checks import check_group_names
from polars_prcurve.core.inputs.resolved_tables import RateTable, ResolvedTable
from polars_prcurve.core.metrics import point_formulas as point
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.eta_table import EtaTable, check_result_columns

_COUNTED_COLUMNS = ("criterion", "target", "threshold", "recall", "fpr", "n_pos", "n_neg")
"""The columns of a point that has no metrics, only counts."""
SAMPLE_SIZE_COLUMNS = (*_COUNTED_COLUMNS, *SIZES_NEEDED)  # of `sample_size`
RESOLUTION_COLUMNS = (*_COUNTED_COLUMNS, "eta")  # of `sample_size(solve_for="eta")`


def build_sample_size_table(
    table: ResolvedTable, grid: EtaTable | None, targets: Sequence[Target], size_options: SizeOptions
) -> pl.LazyFrame:
    """Return the result of `sample_size`: `by`, (eta), then SAMPLE_SIZE_COLUMNS, one row per target."""
    eta_columns = [] if grid is None else ["eta", *grid.carried_columns]
    check_result_columns(table, grid or _ANY_ETA, [*eta_columns[:1], *SAMPLE_SIZE_COLUMNS])
    points = build_counted_points(table, targets, grid=grid or _ANY_ETA)
    has_numbers = isinstance(table, RateTable) or table.count_dtype == pl.Int64
    if size_options.rate_method in BETA_METHODS or table.is_in_memory:
        # In memory, because Polars takes longer to read a query of all halvings than to run them.
        collected_points = table.collect(points, f'rate="{size_options.rate_method}"')
        points = add_needed_sizes(collected_points, size_options, has_numbers=has_numbers).lazy()
    else:
        points = add_needed_sizes(points, size_options, has_numbers=has_numbers)
    return points.select(*table.by, *eta_columns, *SAMPLE_SIZE_COLUMNS)


def build_resolution_table(
    table: ResolvedTable, targets: Sequence[Target], delta: float | str, bands: FixedBands
) -> pl.LazyFrame:
    """Return from which eta up these examples are enough: `by` and RESOLUTION_COLUMNS, by target."""
    check_group_names(table.by, RESOLUTION_COLUMNS)
    # The band of recall / fpr has the ends that the band of precision has at every prevalence.
    points = build_counted_points(table, targets, [point.lr_pos], bands=bands)
    least_eta = smallest_eta(pl.col("lr_pos_low"), 1 / pl.col("lr_pos_high"), delta=delta)
    return points.with_columns(eta=least_eta).select(*table.by, *RESOLUTION_COLUMNS)


# Points are built at some prevalence, also where they do not depend on it.
_ANY_ETA = EtaTable(pl.LazyFrame({"eta": [0.5]}), etas_per_group=1)


def build_counted_points(
    table: ResolvedTable,
    targets: Sequence[Target],
    metrics: Sequence[PointMetric] = (),
    *,
    grid: EtaTable = _ANY_ETA,
    bands: FixedBands | None = None,
) -> pl.LazyFrame:
    """Return operating points with n_pos and n_neg; without a grid nothing may depend on eta."""
    points = build_points_table(table, grid, targets, metrics, bands=bands)
    return points.with_columns(n_pos=pl.col("tp") + pl.col("fn"), n_neg=pl.col("fp") + pl.col("tn"))
