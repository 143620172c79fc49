"""Differences of means over groups: paired by group, as of topics that all models have answered.

values of groups -> differences  of both models in each group
                 -> means        with Student's distribution, one row per pair of models
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polars_prcurve.core.comparison.comparison_request import Adjust, Comparison, list_compare_columns
from polars_prcurve.core.comparison.differences import find_compared_metrics
from polars_prcurve.core.comparison.limits_and_p_values import (
    AdjustedLevel,
    adjust_p_values,
    cut_to_range,
)
from polars_prcurve.core.comparison.model_pairs import (
    A,
    B,
    join_sides,
    number_populations,
    two_models_check,
)
from polars_prcurve.core.comparison.significance_and_margin import SPARE, judge_sign
from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.ground.query_guards import stop_if_broken
from polars_prcurve.core.ground.student_distribution import add_student_share
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.metric_base import Metric
from polars_prcurve.core.prevalence.eta_table import EtaTable, check_result_columns
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.uncertainty.means_over_groups import (
    FREEDOM,
    STANDARD_ERROR,
    MeanGroups,
    add_intervals,
    average_values,
    build_group_values,
    list_row_keys,
)
from polars_prcurve.core.uncertainty.summary_table import check_negatives


def build_mean_compare_table(
    comparison: Comparison, metrics: Any, mean_groups: MeanGroups, *, is_wide: bool
) -> pl.LazyFrame:
    """Return the result of `compare(mean_over=)`."""
    table, grid, adjust = comparison.table, comparison.grid, comparison.adjust
    check_result_columns(table, grid, list_compare_columns(adjust, is_mean=True))
    compared_metrics = find_compared_metrics(table, metrics)
    if not table.counts_negatives:
        check_negatives(compared_metrics)
    depends_on_eta = any(metric.depends_on_eta for metric in compared_metrics)
    grid = grid.let_own_differ(depends_on_eta=depends_on_eta)
    model_values = build_model_values(table, grid, compared_metrics, mean_groups, needs_pairs=True)
    differences = build_mean_differences(
        table,
        grid,
        model_values,
        mean_groups,
        compared_metrics,
        confidence=comparison.interval_options.level,
        adjust=adjust,
    )
    if not is_wide:
        return differences
    return differences.with_columns(pl.col("model_a", "model_b").cast(pl.String))


def build_model_values(
    table: ResolvedTable,
    grid: EtaTable,
    metrics: Sequence[CurveMetric],
    mean_groups: MeanGroups,
    *,
    needs_pairs: bool,
    needs_all_models: bool = False,
) -> pl.LazyFrame:
    """Return the values of all models in each group; null where one is missing, if all are needed."""
    model_values = build_group_values(table, grid, metrics, mean_groups)
    if needs_pairs:
        model_values = stop_if_broken(
            number_populations(model_values, table.group_columns), [two_models_check()]
        )
    if not needs_all_models:
        return model_values
    outer_columns = [name for name in mean_groups.list_keys(table) if name != Row.MODEL]
    row_key_columns = [*outer_columns, *mean_groups.columns, *list_row_keys({}, grid)]
    n_models = pl.col(Row.MODEL).n_unique()
    n_models = n_models.over(outer_columns) if outer_columns else n_models
    has_all_models = pl.col("value").count().over(row_key_columns) == n_models
    return model_values.with_columns(pl.when(has_all_models).then("value").alias("value"))


def build_mean_differences(
    table: ResolvedTable,
    grid: EtaTable,
    model_values: pl.LazyFrame,
    mean_groups: MeanGroups,
    metrics: Sequence[Metric],
    *,
    confidence: float,
    adjust: Adjust,
) -> pl.LazyFrame:
    """Return the differences of means of model pairs, from the values of `build_model_values`."""
    outer_dtypes = {
        name: dtype for name, dtype in mean_groups.list_keys(table).items() if name != Row.MODEL
    }
    differences = _subtract_means(table, grid, model_values, mean_groups, outer_dtypes)
    step_columns = list_row_keys({}, grid)
    adjusted_level = AdjustedLevel(confidence, adjust, [*outer_dtypes, *step_columns])
    differences = adjusted_level.add_quantile(differences, ["difference"])
    differences = add_intervals(differences, "difference", adjusted_level.n_deviations, mean_groups)
    difference, error = pl.col("difference"), pl.col(STANDARD_ERROR)
    differences = add_student_share(differences, difference / error, FREEDOM, "p_value")
    differences = differences.with_columns(
        pl.when(error > 0).then("p_value").alias("p_value"),
        pl.when(pl.col(DOUBT).is_null()).then(0.0).otherwise(1.0).alias(SPARE),
    )
    differences = differences.with_columns(significant=judge_sign())
    if adjust is not None:
        p_adjusted = adjust_p_values(pl.col("p_value"), adjusted_level.family_columns)
        differences = differences.with_columns(p_adjusted.alias("p_adjusted"))
    sort_columns = [*outer_dtypes, "eta", Population.ETA_ROW, Population.COPY, "model_a", "model_b"]
    differences = cut_to_range(differences, metrics).sort(sort_columns)
    eta_column, *other_columns = list_compare_columns(adjust, is_mean=True)
    return differences.select(*outer_dtypes, eta_column, *grid.carried_columns, *other_columns, SPARE)


def _subtract_means(
    table: ResolvedTable,
    grid: EtaTable,
    model_values: pl.LazyFrame,
    mean_groups: MeanGroups,
    outer_dtypes: Mapping[str, pl.DataType],
) -> pl.LazyFrame:
    """Return the mean difference of each pair of models, its error, and the number of groups."""
    inner_dtypes = {name: table.by[name] for name in mean_groups.columns}
    step_dtypes = {Population.ETA_ROW: pl.UInt32(), Population.COPY: pl.Int64()}
    value_pairs = join_sides(
        model_values,
        {**outer_dtypes, **inner_dtypes, **step_dtypes},
        [Row.MODEL, Group.NUMBER, "value"],
        ["eta", *grid.carried_columns, "metric"],
    )
    value_pairs = value_pairs.with_columns(
        pl.col(A + Row.MODEL).alias("model_a"),
        pl.col(B + Row.MODEL).alias("model_b"),
        difference=pl.col(A + "value") - pl.col(B + "value"),
    )
    row_key_columns = [*list_row_keys(outer_dtypes, grid), "model_a", "model_b"]
    return average_values(value_pairs, row_key_columns, "difference")
