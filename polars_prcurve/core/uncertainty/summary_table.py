"""The summary: curve metrics of each group at each prevalence, in one pass over one sweep.

sweep -> curves     segments of all groups
      -> values     one row per group and prevalence, metrics and their errors side by side
      -> summary    one row per group, prevalence and metric
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import cast

import polars as pl

from polars_prcurve.core.confidence.chance_test import ABOVE_CHANCE, measure_chance
from polars_prcurve.core.confidence.doubts import DOUBT, find_first_doubt
from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize
from polars_prcurve.core.confidence.interval_options import Intervals
from polars_prcurve.core.curves.curve_metric_values import (
    CurveSegments,
    build_binormal_curves,
    build_curves,
    number_metrics,
)
from polars_prcurve.core.curves.long_tables import has_many, long_columns, stack_metrics
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.normal_distribution import normal_quantile
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.student_distribution import normal_from_student
from polars_prcurve.core.inputs import resolved_tables as of_table
from polars_prcurve.core.inputs.column_reader import InputColumns
from polars_prcurve.core.inputs.resolved_tables import MANY, RateTable, ResolvedTable, ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.inputs.table_reader import read_input
from polars_prcurve.core.metrics.areas import roc_auc
from polars_prcurve.core.metrics.curve_metric import AtTarget, CurveMetric
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.eta_table import (
    EtaTable,
    build_number_grid,
    check_result_columns,
    repeat_rows,
)
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.group_table import class_counts, lacks_size
from polars_prcurve.core.sweep.sorted_classes import SortedClasses, sort_groups
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables
from polars_prcurve.core.sweep.sweep_table import build_sweep, check_at_end, late_checks
from polars_prcurve.core.uncertainty.analytic_intervals import CurvesWithErrors
from polars_prcurve.core.uncertainty.doubts_of_curve_metrics import list_bootstrap_doubts
from polars_prcurve.core.uncertainty.eta_error import carry_eta_errors, carry_part_eta_errors
from polars_prcurve.core.uncertainty.metrics_at_targets import add_values_at_targets, separate_targets

_LIMIT_COLUMNS = ("low", "high")  # what coarse=True adds
_ERROR_COLUMNS = ("standard_error", "low", "high", ABOVE_CHANCE, DOUBT)  # of intervals
_LEAST_CLASS_SIZE = 10  # positives or negatives: with fewer an interval is unreliable
_MOST_ETAS = 64
"""With more prevalences a plan takes less time, unless there are a hundred rows for each."""
_AREA = f"{RESERVED}area_of_chance"
"""The ROC AUC of rows that do not count alike, which is 1/2 by chance."""


def build_summary_table(
    table: ResolvedTable,
    grid: EtaTable,
    metrics: Sequence[CurveMetric],
    interval_options: Intervals | None = None,
    *,
    is_smooth: bool = False,
    is_coarse: bool = False,
    row_columns: Sequence[str] = (),
) -> pl.LazyFrame:
    """Return `by`, eta, what the eta frame carries, n_pos, n_neg, metric and value, and what is added.

    `row_columns` are further ones of populations, which the result has, too.
    """
    is_analytic = interval_options is not None and interval_options.method == "analytic"
    added_columns: tuple[str, ...] = _LIMIT_COLUMNS if is_coarse else ()
    added_columns = _ERROR_COLUMNS if interval_options is not None else added_columns
    column_names = ("eta", "n_pos", "n_neg", "metric", "value", *added_columns)
    check_result_columns(table, grid, column_names)
    for option, is_given in (
        ("smooth=", is_smooth),
        ('method="bootstrap"', interval_options and not is_analytic),
    ):
        grid = grid.require_exact(option) if is_given else grid
    is_plain = interval_options is None and not (is_smooth or is_coarse or row_columns)
    array_summary = _build_array_summary(table, grid, metrics) if is_plain else None
    if array_summary is not None:
        return array_summary.lazy()
    # Replicates are of the first ones, and not of a given threshold, whose intervals have a formula.
    metrics_by_name = number_metrics(sorted(metrics, key=lambda metric: metric.is_at_threshold))
    population_values = _build_population_values(
        table,
        grid,
        metrics_by_name,
        interval_options=interval_options,
        is_smooth=is_smooth,
        is_coarse=is_coarse,
    )
    index_by_metric = {metric.name: metric_index for metric_index, metric in enumerate(metrics)}
    sorted_items = sorted(metrics_by_name.items(), key=lambda item: index_by_metric[item[1].name])
    key_columns = [*table.by, "eta", *grid.carried_columns]
    metric_rows = _list_metric_rows(
        population_values,
        dict(sorted_items),
        added_columns,
        [*key_columns, "n_pos", "n_neg", *row_columns],
    )
    return metric_rows.select(*key_columns, *column_names[1:], *row_columns)


def _build_array_summary(
    table: ResolvedTable, grid: EtaTable, metrics: Sequence[CurveMetric]
) -> pl.DataFrame | None:
    """Return the summary of a few groups of examples in memory; None if that takes more rows."""
    has_other_metrics = not all(metric.recipe.is_sum_of_rises for metric in metrics)
    if grid.numbers is None or not metrics or has_other_metrics:
        return None
    sorted_groups = sort_groups(table)
    if sorted_groups is None:
        return None
    key_series, classes_of_groups = sorted_groups
    etas_of_groups = [_list_etas(classes, grid.numbers) for classes in classes_of_groups]
    n_examples = sum(sum(classes.sizes) for classes in classes_of_groups)
    max_n_etas = _MOST_ETAS + n_examples / (100 * len(classes_of_groups))
    # The prevalence of the group and a number that is equal have an order.
    if len(grid.numbers) > max_n_etas or any(len(set(etas)) < len(etas) for etas in etas_of_groups):
        return None
    value_list: list[float] = []
    with np.errstate(all="ignore"):
        for classes, etas in zip(classes_of_groups, etas_of_groups, strict=True):
            value_arrays = [metric.compute_values(classes.curve, np.array(etas)) for metric in metrics]
            value_list += np.stack(value_arrays, axis=-1).ravel().tolist()
    n_rows_per_group = len(grid.numbers) * len(metrics)  # of a group
    group_numbers = np.arange(len(value_list)) // n_rows_per_group
    n_pos, n_neg = np.array([classes.sizes for classes in classes_of_groups])[group_numbers].T
    return pl.DataFrame(
        {
            **{series.name: series[group_numbers] for series in key_series},
            "eta": [eta for etas in etas_of_groups for eta in etas for _ in metrics],
            "n_pos": n_pos,
            "n_neg": n_neg,
            "metric": [metric.name for metric in metrics] * (len(value_list) // len(metrics)),
            "value": pl.Series(value_list, dtype=pl.Float64).fill_nan(None),
        },
        schema_overrides={"n_pos": pl.Int64, "n_neg": pl.Int64},
    )


def _list_etas(classes: SortedClasses, requested_etas: Sequence[float | None]) -> list[float]:
    """Return prevalences of a group, by rising value, of which None is its own one."""
    n_pos, n_neg = classes.sizes
    return sorted(n_pos / (n_pos + n_neg) if eta is None else eta for eta in requested_etas)


def _build_population_values(
    table: ResolvedTable,
    grid: EtaTable,
    metrics_by_name: Mapping[str, CurveMetric],
    *,
    interval_options: Intervals | None,
    is_smooth: bool,
    is_coarse: bool,
) -> pl.LazyFrame:
    """Return one row per group and prevalence, with the columns of each metric side by side."""
    is_analytic = interval_options is not None and interval_options.method == "analytic"
    # Replicates, fitted curves and limits have no rows that a target may find.
    finds_rows = not (is_smooth or is_coarse or (interval_options is not None and not is_analytic))
    target_metrics_by_name, areas_by_name = separate_targets(metrics_by_name, finds_rows=finds_rows)
    limits_by_name = _name_limits(metrics_by_name) if is_coarse else {}
    needed_metrics_by_name = areas_by_name | limits_by_name
    doubtful_metrics_by_name = _list_doubtful(table, areas_by_name) if is_analytic else {}
    segment_metrics = [
        *needed_metrics_by_name.values(),
        *_name_limits(doubtful_metrics_by_name).values(),
    ]
    sweep = build_sweep(table, with_sizes=is_analytic)
    if is_analytic and of_table.is_field(table):  # the parts read it, too
        sweep = sweep._replace(rows=sweep.rows.cache())
    if is_smooth and isinstance(table, ScoreTable):
        curves = build_binormal_curves(table, sweep)
    else:  # influences also need the negatives below all positives, which only the last row has
        curves = build_curves(table, sweep, segment_metrics, with_last_rows=is_analytic)
    populations, checks = curves.build_populations(grid), late_checks(table, grid)
    if interval_options is not None and is_analytic:
        confidence = interval_options.level
        population_values = _build_values_with_errors(
            table, sweep, curves, populations, areas_by_name, grid=grid, confidence=confidence
        )
    elif needed_metrics_by_name:
        population_values = curves.compute_values(populations, needed_metrics_by_name)
    else:
        population_values = populations
    population_values = add_values_at_targets(
        population_values, table, grid, target_metrics_by_name, interval_options
    )
    if interval_options is not None:
        population_values = _add_chance(population_values, table, curves, interval_options.level)
    population_values = check_at_end(table, population_values.sort(Population.NUMBER), *checks)
    if areas_by_name and interval_options is not None and not is_analytic:
        score_table = cast("ScoreTable", table)  # rates with confidence= were refused
        population_values = add_bootstrap_intervals(
            score_table, [*areas_by_name.values()], interval_options, sweep, population_values
        )
    return population_values.with_columns(*class_counts(table), pl.col("eta").fill_nan(None))


def _list_metric_rows(
    population_values: pl.LazyFrame,
    metrics_by_name: Mapping[str, CurveMetric],
    endings: Sequence[str],
    population_columns: Sequence[str],
) -> pl.LazyFrame:
    """Return one row per group, prevalence and metric, with its value and columns of these kinds."""
    exprs_by_ending = {
        ending: [pl.col(f"{name}_{ending}") for name in metrics_by_name]
        for ending in endings
        if ending != ABOVE_CHANCE  # which is of the group
    }
    exprs_by_ending |= {"value": [pl.col(name) for name in metrics_by_name]}
    metric_names = [metric.name for metric in metrics_by_name.values()]
    if has_many(metric_names):
        kept_columns = {Population.NUMBER, *population_columns} | ({ABOVE_CHANCE} & {*endings})
        stacked_rows = stack_metrics(
            population_values, exprs_by_ending, metric_names, [*kept_columns - {Population.COPY}]
        )
        return stacked_rows.sort(Population.NUMBER, Population.COPY)
    metric_rows = repeat_rows(population_values.sort(Population.NUMBER), len(metric_names))
    return metric_rows.with_columns(long_columns(exprs_by_ending, metric_names))


def _add_chance(
    population_values: pl.LazyFrame, table: ResolvedTable, curves: CurveSegments, confidence: float
) -> pl.LazyFrame:
    """Add ABOVE_CHANCE to the values of each population; null in fields, and where no error is known."""
    chance_test_name = table.sample.chance_test if table.counts_negatives else None
    if chance_test_name == "ranks":
        chance_rows = measure_chance(
            curves.segments_by_hull[False], curves.groups, curves.sizes, confidence
        )
        return population_values.join(chance_rows, on=Group.NUMBER, how="left")
    is_above_chance = pl.lit(None, dtype=pl.Boolean)
    column_names = population_values.collect_schema().names() if chance_test_name == "area" else []
    if f"{_AREA}_low" in column_names:
        # A few rows with large weights, or clusters, may carry the error, and then it is hardly known.
        smaller_size = pl.min_horizontal(EffectiveSize.N_POS, EffectiveSize.N_NEG)
        freedom = pl.col(f"{_AREA}_freedom") if f"{_AREA}_freedom" in column_names else smaller_size - 1
        deviation = (pl.col(_AREA) - 0.5) / pl.col(f"{_AREA}_standard_error")
        deviation = normal_from_student(deviation, freedom)
        # An area of 1 has no standard error: by chance none of n is on the wrong side in 2**-n.
        is_separated = (pl.col(_AREA) == 1) & (smaller_size > math.log2(1 / (1 - confidence)))
        is_above_chance = pl.coalesce(deviation >= normal_quantile(confidence), is_separated)
        is_above_chance = (is_above_chance & (smaller_size >= _LEAST_CLASS_SIZE)).fill_null(False)
        is_above_chance = pl.when(pl.col(_AREA).is_not_null()).then(is_above_chance)
    return population_values.with_columns(is_above_chance.alias(ABOVE_CHANCE))


def _name_limits(metrics_by_name: Mapping[str, CurveMetric]) -> dict[str, CurveMetric]:
    """Return the limits of each metric, under its name with the ending of their column."""
    return {
        f"{name}_{ending}": limit_metric
        for name, metric in metrics_by_name.items()
        for ending, limit_metric in zip(_LIMIT_COLUMNS, metric.build_limits(), strict=True)
    }


def _list_doubtful(
    table: ResolvedTable, metrics_by_name: Mapping[str, CurveMetric]
) -> dict[str, CurveMetric]:
    """Return the metrics of published points that depend on what lies between two points."""
    if not isinstance(table, RateTable):
        return {}
    return {name: metric for name, metric in metrics_by_name.items() if metric.recipe.limits is not None}


def _build_values_with_errors(
    table: ResolvedTable,
    sweep: SweepTables,
    curves: CurveSegments,
    populations: pl.LazyFrame,
    metrics_by_name: Mapping[str, CurveMetric],
    *,
    grid: EtaTable,
    confidence: float,
) -> pl.LazyFrame:
    """Return the metrics, and the area if chance is tested by it, with errors that carry that of eta."""
    doubtful_metrics_by_name = _list_doubtful(table, metrics_by_name)
    if table.sample.chance_test == "area":
        metrics_by_name = {**metrics_by_name, _AREA: roc_auc}
    curves_with_errors = CurvesWithErrors.read(table, sweep, curves, confidence)
    population_values = curves_with_errors.compute_values(populations, metrics_by_name)
    if of_table.is_field(table):
        return carry_part_eta_errors(
            population_values, populations, metrics_by_name, table, sweep, confidence=confidence
        )
    if grid.is_uncertain:
        population_values = carry_eta_errors(
            population_values, populations, metrics_by_name, curves_with_errors
        )
    if isinstance(table, RateTable):
        population_values = population_values.with_columns(
            _doubt_points(name, metric) for name, metric in metrics_by_name.items()
        )
    if not doubtful_metrics_by_name:
        return population_values
    limit_rows = curves.compute_values(populations, _name_limits(doubtful_metrics_by_name))
    names_and_ends = product(doubtful_metrics_by_name, _LIMIT_COLUMNS)
    limit_column_by_end = {
        f"{name}_{end}": f"{RESERVED}{name}_limit_{end}" for name, end in names_and_ends
    }
    limit_rows = limit_rows.select(Population.NUMBER, *limit_column_by_end).rename(limit_column_by_end)
    population_values = population_values.join(limit_rows, on=Population.NUMBER, how="left")
    doubt_exprs = []
    for name in doubtful_metrics_by_name:
        # The least and the greatest value, over all that may lie between the points, are further apart
        # than half of the interval: the gaps matter more than the sample does.
        gap = pl.col(limit_column_by_end[f"{name}_high"]) - pl.col(limit_column_by_end[f"{name}_low"])
        half_width = (pl.col(f"{name}_high") - pl.col(f"{name}_low")) / 2
        coarse_doubt = pl.when(gap > half_width).then(pl.lit("few points"))
        doubt_exprs.append(pl.coalesce(f"{name}_{DOUBT}", coarse_doubt).alias(f"{name}_{DOUBT}"))
    return population_values.with_columns(doubt_exprs)


def _doubt_points(value_name: str, metric: CurveMetric) -> pl.Expr:
    """Return the doubt of a metric of published points, whose sizes may be unknown."""
    doubt: pl.Expr = pl.col(f"{value_name}_{DOUBT}")
    if metric.recipe.influence is None:  # and points cannot be resampled
        doubt = pl.lit("few points")
    return pl.when(lacks_size()).then(pl.lit("no sizes")).otherwise(doubt).alias(f"{value_name}_{DOUBT}")


def add_bootstrap_intervals(
    table: ScoreTable,
    metrics: Sequence[CurveMetric],
    interval_options: Intervals,
    sweep: SweepTables,
    population_values: pl.LazyFrame,
) -> pl.LazyFrame:
    """Add `<name>_standard_error`, `_low`, `_high`, `_doubt` to the metrics, from replicates."""
    from polars_prcurve.core.uncertainty.bootstrap import Bootstrap

    collected_values, error_rows, size_rows = Bootstrap(table, metrics, interval_options).measure(
        sweep,
        population_values,
        key_column=Group.NUMBER,
        read_block=lambda block_populations, replicate_values: (
            {Population.NUMBER: block_populations[Population.NUMBER]},
            replicate_values,
        ),
    )
    population_values = (
        collected_values.lazy()
        .join(error_rows, on=Population.NUMBER, how="left")
        .sort(Population.NUMBER)
    )
    population_values = population_values.join(size_rows, on=Group.NUMBER, maintain_order="left")
    doubt_exprs = {
        f"{name}_{DOUBT}": find_first_doubt(
            list_bootstrap_doubts(name, metric), pl.col(f"{name}_low").is_not_null()
        )
        for name, metric in number_metrics(metrics).items()
    }
    return population_values.with_columns(**doubt_exprs)


# Which metrics can be computed where negatives are not counted ---------------------------------

# It is found by trial: of a table with more negatives below all scores, precision and average precision
# stay, and specificity and ROC AUC change. So it is known of a user's own metric, too.

# Scores with labels, of which none is missing.
_SCORED_ROWS = pl.DataFrame({"score": [9, 8, 7, 6, 5, 4, 3, 2], "label": [1, 0, 1, 1, 0, 0, 1, 0]})
_N_NEG_BELOW = (0, 50, MANY)  # numbers of negatives below all of them: none, some, and very many
# No lone number, which Polars would repeat in a query: none may run at import.
_CELL_ROWS = pl.DataFrame(
    {"tp": [7.0] * 3, "fn": [3.0] * 3, "fp": [2.0] * 3, "tn": [float(n) for n in _N_NEG_BELOW]}
)


def check_negatives(metrics: Iterable[CurveMetric | PointMetric]) -> None:
    """Raise for a metric that needs the number of negatives, which is not known."""
    if refused_metrics := list(filter(needs_negatives, metrics)):
        raise PrcError(
            "pass both numbers as below=, or metrics that need no negatives, such as "
            "precision, recall, f1 and average_precision: negatives are not counted, and "
            f"{refused_metrics[0].name} needs their number"
        )


@lru_cache(maxsize=1000)
def needs_negatives(metric: CurveMetric | PointMetric) -> bool:
    """Return whether the value of a metric changes with the number of negatives below all scores."""
    if isinstance(metric, CurveMetric) and metric.is_at_threshold:
        metric = cast("AtTarget", metric.recipe.at_target).metric
    if isinstance(metric, PointMetric):  # at equal alerts, among more and more negatives
        tp, fn, fp, tn = map(pl.col, _CELL_ROWS.columns)
        recall, fpr, eta = tp / (tp + fn), fp / (fp + tn), (tp + fn) / (tp + fn + fp + tn)
        value_expr = metric.from_counts([tp, fn, fp, tn], (pl.lit(1.0), pl.lit(1.0)), (recall, fpr), eta)
        values = _CELL_ROWS.select(value=value_expr)["value"].to_list()
    else:
        values = []
        for n_neg in _N_NEG_BELOW:
            table = read_input(_SCORED_ROWS, InputColumns(below=(2, n_neg)), may_collect=True)
            summary = build_summary_table(table, build_number_grid([None], table), [metric])
            values.append(table.collect(summary, metric.name)["value"].item())
    if None in values:  # undefined with any number, as at a recall that is not found, it needs none
        return any(value is not None for value in values)
    return any(not math.isclose(values[0], other_value, rel_tol=1e-9) for other_value in values[1:])
