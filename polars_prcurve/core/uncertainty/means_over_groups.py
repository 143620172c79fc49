"""Means over groups, such as topics, classes, folds or sites: the groups are the sample.

values of groups -> means      one row per `by` group without these, prevalence and metric
                 -> intervals  by the deviation of the values, and Student's distribution
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence.doubts import DOUBT, find_first_doubt
from polars_prcurve.core.confidence.estimates import cut_to_ranges
from polars_prcurve.core.confidence.interval_input_columns import EtaError
from polars_prcurve.core.confidence.interval_options import Intervals
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.group_joins import aggregate_by
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.student_distribution import add_student_quantile
from polars_prcurve.core.inputs.group_column_checks import check_group_names
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.uncertainty.summary_table import build_summary_table

N_GROUPS = "n_groups"  # how many groups a mean is over
STANDARD_ERROR = "standard_error"  # of the mean
_FEW_GROUPS = 10
"""With 5 groups of skewed values, intervals of a mean held in 89% (docs/coverage.md), with 10 in 93%."""
FREEDOM = (pl.col(N_GROUPS) - 1).clip(lower_bound=1)
"""The degrees of freedom of a mean; of a single group, whose error is null, any do."""
_QUANTILE = f"{RESERVED}student_quantile"  # of Student's distribution, at which an interval ends


class MeanGroups(NamedTuple):
    """The groups that a mean is over."""

    columns: tuple[str, ...]  # the group columns that distinguish them
    share_examples: bool  # whether a row counts in several, as the classes of a wide table do

    def list_keys(self, table: ResolvedTable) -> dict[str, pl.DataType]:
        """Return the other group columns, within which means are taken."""
        return {name: dtype for name, dtype in table.by.items() if name not in self.columns}


def build_group_values(
    table: ResolvedTable,
    grid: EtaTable,
    metrics: Sequence[CurveMetric],
    mean_groups: MeanGroups,
    *,
    is_smooth: bool = False,
) -> pl.LazyFrame:
    """Return the summary of each group, with numbers of rows; eta is null where it is a group's own."""
    grid = grid.require_exact("mean_over=")
    check_group_names(mean_groups.columns, [N_GROUPS])
    if key_names := [name for name in mean_groups.columns if name in grid.keys]:
        raise PrcError(
            f"leave the column {key_names[0]!r} out of the eta= frame: a mean over its groups "
            "needs one prevalence (or eta=None, each group's own)"
        )
    row_columns = [Population.NUMBER, Population.ETA_ROW, Population.COPY, Group.NUMBER, EtaError.IS_OWN]
    group_values = build_summary_table(
        table, grid, metrics, is_smooth=is_smooth, row_columns=row_columns
    )
    return group_values.with_columns(pl.when(~pl.col(EtaError.IS_OWN)).then("eta").alias("eta"))


def list_row_keys(key_dtypes: Mapping[str, pl.DataType], grid: EtaTable) -> list[str]:
    """Return the columns within which a mean is taken: of groups, prevalences and metrics."""
    return [*key_dtypes, "eta", Population.ETA_ROW, *grid.carried_columns, Population.COPY, "metric"]


def build_mean_summary(
    table: ResolvedTable,
    grid: EtaTable,
    metrics: Sequence[CurveMetric],
    mean_groups: MeanGroups,
    interval_options: Intervals | None,
    *,
    is_smooth: bool = False,
) -> pl.LazyFrame:
    """Return the result of `summary(mean_over=)`, one row per group, prevalence and metric."""
    key_dtypes, error_columns = mean_groups.list_keys(table), [STANDARD_ERROR, "low", "high", DOUBT]
    check_group_names(key_dtypes, [N_GROUPS, *error_columns])
    row_key_columns = list_row_keys(key_dtypes, grid)
    group_values = build_group_values(table, grid, metrics, mean_groups, is_smooth=is_smooth)
    size_exprs = [
        pl.when(pl.col(name).is_null().any()).then(None).otherwise(pl.col(name).sum()).alias(name)
        for name in ("n_pos", "n_neg")
    ]
    mean_rows = average_values(group_values, row_key_columns, "value", size_exprs)
    mean_rows = mean_rows.sort(*key_dtypes, "eta", Population.ETA_ROW, Population.COPY)
    column_names = ["n_pos", "n_neg", N_GROUPS, "metric", "value"]
    if interval_options is not None:
        mean_rows = add_intervals(
            mean_rows, "value", pl.lit(z_value(interval_options.level)), mean_groups
        )
        mean_rows = cut_to_ranges(mean_rows, {metric.name: metric.range for metric in metrics})
        column_names += error_columns
    return mean_rows.select(*key_dtypes, "eta", *grid.carried_columns, *column_names)


def average_values(
    rows: pl.LazyFrame,
    key_columns: Sequence[str],
    value_column: str,
    aggregate_exprs: Sequence[pl.Expr] = (),
) -> pl.LazyFrame:
    """Return the mean of a column over rows of equal keys that have a value, its error, and N_GROUPS.

    The result has the columns of `aggregate_exprs`, too.
    """
    mean_rows = aggregate_by(rows, key_columns, [*aggregate_exprs, pl.col(value_column).drop_nulls()])
    # A sorted list, because the order in which groups come must not change a bit of a sum.
    mean_rows = mean_rows.with_columns(pl.col(value_column).list.sort())
    value_lists, n_groups = pl.col(value_column).list, pl.col(value_column).list.len().cast(pl.Int64)
    return mean_rows.with_columns(
        value_lists.mean().alias(value_column),
        (value_lists.std() / n_groups.cast(pl.Float64).sqrt()).alias(STANDARD_ERROR),
        n_groups.alias(N_GROUPS),
    )


def add_intervals(
    mean_rows: pl.LazyFrame, value_column: str, n_deviations: pl.Expr, mean_groups: MeanGroups
) -> pl.LazyFrame:
    """Add `low`, `high` and DOUBT to means: as many errors to either side as of a normal mean.

    Where groups share examples their values do not give the error, which is null.
    """
    if mean_groups.share_examples:
        mean_rows = mean_rows.with_columns(pl.lit(None, dtype=pl.Float64).alias(STANDARD_ERROR))
    mean_rows = add_student_quantile(mean_rows, n_deviations, FREEDOM, _QUANTILE)
    half_width, error = pl.col(_QUANTILE) * pl.col(STANDARD_ERROR), pl.col(STANDARD_ERROR)
    condition_by_reason = {"few groups": pl.col(N_GROUPS) < _FEW_GROUPS}
    if mean_groups.share_examples:
        condition_by_reason = {"groups share examples": pl.lit(True)}
    return mean_rows.with_columns(
        low=pl.col(value_column) - half_width,
        high=pl.col(value_column) + half_width,
        doubt=find_first_doubt(condition_by_reason, error.is_not_null()),
    )
