"""Differences between the models of a group: of curve metrics, or of point metrics at a target.

    comparison -> parts        its metrics of whole curves, and those at each target
               -> differences  of each part, by the module of its kind of metric
               -> result       one after another, or those of the best and the worst model alone

The parts number their groups in the same order, each in its own way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import polars as pl

from polars_prcurve.core.comparison import model_pairs
from polars_prcurve.core.comparison.comparison_request import Comparison, list_compare_columns
from polars_prcurve.core.comparison.differences_of_curve_metrics import subtract_curve_metrics
from polars_prcurve.core.comparison.differences_of_point_metrics import subtract_point_metrics
from polars_prcurve.core.comparison.limits_and_p_values import cut_to_range
from polars_prcurve.core.comparison.model_pairs import BASE_GROUP, ETA_NUMBER, METRIC_NUMBER
from polars_prcurve.core.comparison.significance_and_margin import SPARE, judge_sign
from polars_prcurve.core.curves.target_arguments import build_target_of_metric, require_one_point
from polars_prcurve.core.curves.targets import ONLY_POINT, Target
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.group_joins import merge_zeros
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import RateTable, ResolvedTable
from polars_prcurve.core.metrics import point_formulas
from polars_prcurve.core.metrics.curve_metric import AtTarget, CurveMetric
from polars_prcurve.core.metrics.metric_base import direction_sign
from polars_prcurve.core.metrics.metric_lookup import find_metrics
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.eta_table import check_result_columns
from polars_prcurve.core.uncertainty.metrics_at_targets import has_intervals_at_targets, separate_targets
from polars_prcurve.core.uncertainty.summary_table import check_negatives

# The place among equal prevalences, the number of a row, and that of a farthest pair.
_STEP_NUMBER, _ROW_NUMBER, _FARTHEST_ROW = (f"{RESERVED}{name}" for name in ("step", "row", "farthest"))


def build_compare_table(
    comparison: Comparison, metrics: Any, targets: Sequence[Target], *, worst_only: bool
) -> pl.LazyFrame:
    """Return the result of `compare`; or of the best and the worst model of a group alone."""
    target = targets[0] if targets else None
    if isinstance(comparison.table, RateTable):
        if not comparison.table.has_counts:
            raise PrcError(
                'pass sizes=("n_pos", "n_neg"), the numbers of examples behind the rates: '
                "intervals of differences need counts, and rates= holds none"
            )
        if target is not None and target.is_found_in_sample:
            raise PrcError(
                "keep one row per model and leave out the target, or pass threshold=: the points "
                f"of {comparison.table.argument}= that meet {target.criterion}= may be far apart"
            )
        target = target or ONLY_POINT
        remedy = "pass threshold=, if score= names the thresholds of the points"
        comparison = comparison._replace(table=require_one_point(comparison.table, [target], remedy))
    if target is not None:
        compared_metrics: Any = find_metrics("precision" if metrics is None else metrics, PointMetric)
    else:
        compared_metrics = find_compared_metrics(comparison.table, metrics)
    if not comparison.table.counts_negatives:
        check_negatives(compared_metrics)
    depends_on_eta = any(source.depends_on_eta for source in (*compared_metrics, *targets))
    grid = comparison.grid.let_own_differ(depends_on_eta=depends_on_eta)
    comparison = comparison._replace(metrics=compared_metrics, target=target, grid=grid)
    _, differences = build_values_and_differences(comparison)
    if not worst_only:
        return differences
    # Metrics without a direction have no best model, which is an error here.
    sign_by_metric = {metric.name: direction_sign(metric) for metric in compared_metrics}
    return _choose_farthest(differences, comparison.table, sign_by_metric)


def find_compared_metrics(table: ResolvedTable, metrics: Any) -> list[CurveMetric]:
    """Return the curve metrics that `metrics=` names, or by which models are compared without it."""
    default_metrics = ("average_precision", *(["roc_auc"] if table.counts_negatives else []))
    return find_metrics(default_metrics if metrics is None else metrics, CurveMetric, takes_target=True)


def build_values_and_differences(comparison: Comparison) -> tuple[pl.LazyFrame | None, pl.LazyFrame]:
    """Return the metrics of whole curves of each model, if there are any, and the differences.

    These have `by` without Row.MODEL, eta, what the eta frame carries, and the columns of `compare`.
    """
    eta_column, *other_columns = list_compare_columns(comparison.adjust)
    check_result_columns(comparison.table, comparison.grid, [eta_column, *other_columns, "p_adjusted"])
    comparison.table.require_example_counts()
    part_comparisons = _separate_targets(comparison)
    if any(part_comparison.target is not None for part_comparison in part_comparisons):
        comparison.grid.require_exact("a comparison at a target")
    elif comparison.interval_options.method != "analytic":
        comparison.grid.require_exact('method="bootstrap"')
    model_values, differences_of_parts = None, []
    for part_comparison in part_comparisons:
        if part_comparison.target is None:
            model_values, part_differences = subtract_curve_metrics(part_comparison)
        else:
            part_differences = subtract_point_metrics(part_comparison)
        part_differences = part_differences.with_columns(significant=judge_sign())
        differences_of_parts.append(cut_to_range(part_differences, part_comparison.metrics))
    key_columns = (*comparison.table.group_columns, eta_column, *comparison.grid.carried_columns)
    result_columns = (*key_columns, *other_columns, SPARE)
    if len(part_comparisons) == 1:
        return model_values, differences_of_parts[0].select(result_columns)
    metric_names = [metric.name for metric in comparison.metrics]
    order_exprs = (
        pl.col(BASE_GROUP).ne_missing(pl.col(BASE_GROUP).shift(1)).cum_sum().alias(BASE_GROUP),
        pl.col(ETA_NUMBER),
        pl.col("metric").cast(pl.Enum(metric_names)).alias(METRIC_NUMBER),
    )
    numbered_frames = (
        rows.with_row_index(_ROW_NUMBER).select(*result_columns, *order_exprs, _ROW_NUMBER)
        for rows in differences_of_parts
    )
    sort_columns = [BASE_GROUP, ETA_NUMBER, METRIC_NUMBER, _ROW_NUMBER]
    sorted_differences = pl.concat(numbered_frames).sort(sort_columns)
    return model_values, sorted_differences.select(result_columns)


def _separate_targets(comparison: Comparison) -> list[Comparison]:
    """Return the comparison of metrics of whole curves, and one for each target of those at targets.

    Precision at a recall is compared as precision is at the target of that recall.
    """
    if comparison.target is not None or not comparison.metrics:
        return [comparison]
    is_analytic = comparison.interval_options.method == "analytic"
    split_metrics = separate_targets(
        {metric.name: cast("CurveMetric", metric) for metric in comparison.metrics},
        finds_rows=is_analytic and has_intervals_at_targets(comparison.table),
    )
    part_comparisons = (
        [comparison._replace(metrics=[*split_metrics.others.values()])] if split_metrics.others else []
    )
    metrics_by_target: dict[AtTarget, list[PointMetric]] = {}
    for name, metric in split_metrics.at_targets.items():
        at_target = cast("AtTarget", metric.recipe.at_target)
        target_key = at_target._replace(metric=point_formulas.recall)
        metrics_by_target.setdefault(target_key, []).append(at_target.metric.alias(name))
    return part_comparisons + [
        comparison._replace(metrics=metrics, target=build_target_of_metric(at_target, comparison.table))
        for at_target, metrics in metrics_by_target.items()
    ]


def _choose_farthest(
    differences: pl.LazyFrame, table: ResolvedTable, sign_by_metric: Mapping[str, float]
) -> pl.LazyFrame:
    """Return the pair of the best and the worst model, as a and b, by group, prevalence and metric."""
    key_columns, difference = [*table.group_columns, "eta", "metric", _STEP_NUMBER], pl.col("difference")
    falling_metric_names = [name for name, sign in sign_by_metric.items() if sign < 0]
    lead = pl.when(pl.col("metric").is_in(falling_metric_names)).then(-difference).otherwise(difference)
    step_number = model_pairs.number_within([*key_columns[:-1], "model_a", "model_b"])
    numbered_differences = differences.with_row_index(_ROW_NUMBER).with_columns(
        step_number.alias(_STEP_NUMBER)
    )
    # Polars 2.0 streams no `sort_by` within groups, so the first of the farthest pairs takes two steps.
    # Among equal pairs the first counts, and models without a value are neither best nor worst.
    distance = difference.abs().fill_null(-1.0)
    is_farthest = distance == distance.max().over(key_columns)
    numbered_differences = numbered_differences.with_columns(
        pl.when(is_farthest).then(_ROW_NUMBER).alias(_FARTHEST_ROW)
    )
    farthest_pairs = numbered_differences.filter(
        pl.col(_ROW_NUMBER) == pl.col(_FARTHEST_ROW).min().over(key_columns)
    ).sort(_ROW_NUMBER)
    turned_exprs = {
        "model_a": pl.col("model_b"),
        "model_b": pl.col("model_a"),
        "difference": -difference,
        "low": merge_zeros(-pl.col("high")),
        "high": merge_zeros(-pl.col("low")),
    }
    when_behind = pl.when((lead < 0).fill_null(False))
    farthest_pairs = farthest_pairs.with_columns(
        when_behind.then(turned_expr).otherwise(name).alias(name)
        for name, turned_expr in turned_exprs.items()
    )
    return farthest_pairs.drop(_ROW_NUMBER, _STEP_NUMBER, _FARTHEST_ROW)
