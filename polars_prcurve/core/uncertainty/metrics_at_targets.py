"""Curve metrics at a target: the point metrics of the rows that the targets find, with intervals.

An interval is of the model at its target: another sample would have another threshold there. The rows,
and those to which they move, are found as `operating_points` finds rows; see `curves.row_search`. Of a
given threshold value, interval and doubt are those of `operating_points`.

    metrics -> targets  those that differ
            -> points   one row per population and target
            -> values   one row per population, metrics side by side
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence.band_options import ChosenBands, FixedBands, ModelBands
from polars_prcurve.core.confidence.doubts import (
    DOUBT,
    EQUAL_SCORES,
    doubt_missing_ends,
    find_first_doubt,
)
from polars_prcurve.core.confidence.interval_options import Intervals
from polars_prcurve.core.confidence.point_intervals import SIZE_COLUMNS
from polars_prcurve.core.curves.target_arguments import build_target_of_metric
from polars_prcurve.core.curves.targets import TARGET_NUMBER, Target
from polars_prcurve.core.curves.thresholds_moved_by_sample import GREATEST_STEPS
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs import resolved_tables as of_table
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.inputs.sample_kinds import SampleKind
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.metrics.target_kinds import ALERT_WORDS
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.group_table import has_class, lacks_size


class SplitMetrics(NamedTuple):
    """Metrics by the names of their columns: those at targets, and the others."""

    at_targets: dict[str, CurveMetric]
    others: dict[str, CurveMetric]


def separate_targets(metrics_by_name: Mapping[str, CurveMetric], *, finds_rows: bool) -> SplitMetrics:
    """Return the metrics at targets, and all others; only those at thresholds if no rows are found."""
    split_metrics = SplitMetrics({}, {})
    for name, metric in metrics_by_name.items():
        is_at_target = metric.is_at_threshold or (finds_rows and metric.recipe.at_target is not None)
        split_metrics[0 if is_at_target else 1][name] = metric
    return split_metrics


def refuse_weighted_clusters(sample_kind: SampleKind) -> None:
    """Raise where the errors of rates at a threshold are not known, as of weighted rows in clusters."""
    if sample_kind.joins_rows and sample_kind.is_weighted:
        raise PrcError(
            f"leave out weight= or {sample_kind.word}=, or call summary(): with both, only areas have "
            'intervals and, with method="bootstrap", metrics such as precision_at_recall(0.8)'
        )


def has_intervals_at_targets(table: ResolvedTable) -> bool:
    """Return whether it is known how thresholds move: not in a field, nor between published points."""
    is_of_examples = isinstance(table, ScoreTable) and not of_table.is_field(table)
    return is_of_examples and table.sample.has_rate_errors


def add_values_at_targets(
    population_values: pl.LazyFrame,
    table: ResolvedTable,
    grid: EtaTable,
    metrics_by_name: Mapping[str, CurveMetric],
    interval_options: Intervals | None,
) -> pl.LazyFrame:
    """Add each metric as `<name>` to populations and, with intervals, what intervals have.

    The standard error is null, since both ends of an interval are computed by themselves.
    """
    for has_threshold in (False, True):
        chosen_metrics_by_name = {
            name: metric
            for name, metric in metrics_by_name.items()
            if metric.is_at_threshold == has_threshold
        }
        if chosen_metrics_by_name:
            bands = _choose_bands(table, interval_options, has_threshold=has_threshold)
            has_intervals = interval_options is not None
            value_rows = _find_values(
                table, grid, chosen_metrics_by_name, bands, has_intervals=has_intervals
            )
            population_values = population_values.join(value_rows, on=Population.NUMBER, how="left")
    return population_values


def _choose_bands(
    table: ResolvedTable, interval_options: Intervals | None, *, has_threshold: bool
) -> FixedBands | None:
    """Return the bands of metrics at targets, or at thresholds; None where no interval is known."""
    if interval_options is None:
        return None
    if has_threshold:
        refuse_weighted_clusters(table.sample)
        return ChosenBands(interval_options.level, "wilson", "mover")
    if not has_intervals_at_targets(table):
        return None
    return ModelBands(interval_options.level, "wilson", "mover")


def _find_values(
    table: ResolvedTable,
    grid: EtaTable,
    metrics_by_name: Mapping[str, CurveMetric],
    bands: FixedBands | None,
    *,
    has_intervals: bool,
) -> pl.LazyFrame:
    """Return a row per population with what `add_values_at_targets` adds of metrics of one band."""
    from polars_prcurve.core.curves.operating_points import build_numbered_points

    at_target_by_name = {
        name: metric.recipe.at_target
        for name, metric in metrics_by_name.items()
        if metric.recipe.at_target is not None
    }
    # Metrics of one target share its rows. Its key is what follows the metric.
    target_by_key = {
        at_target[1:]: build_target_of_metric(at_target, table)
        for at_target in at_target_by_name.values()
    }
    metric_by_name = {metric.name: metric for metric, *_ in at_target_by_name.values()}
    point_metrics = [*metric_by_name.values()]
    points = build_numbered_points(table, grid, [*target_by_key.values()], point_metrics, bands=bands)
    if isinstance(bands, ModelBands):
        points = _finish_intervals(points, point_metrics, target_by_key.values())
    endings = ["", "_standard_error", "_low", "_high", f"_{DOUBT}"] if has_intervals else [""]
    exprs_by_metric = {
        name: _list_exprs(name, table, bands, has_intervals=has_intervals) for name in metric_by_name
    }
    point_exprs = (
        expr.alias(f"{RESERVED}{name}{ending}")
        for name, exprs in exprs_by_metric.items()
        for ending, expr in zip(endings, exprs, strict=True)
    )
    points = points.select(Population.NUMBER, TARGET_NUMBER, *point_exprs)
    index_by_key = {target_key: index for index, target_key in enumerate(target_by_key)}
    # Each population has all targets, as lists in their order: the streaming engine sorts first.
    points = points.sort(Population.NUMBER, TARGET_NUMBER).drop(TARGET_NUMBER)
    population_groups = points.group_by(Population.NUMBER, maintain_order=True)
    list_rows = population_groups.agg(pl.exclude(Population.NUMBER))
    value_exprs = {
        name + ending: pl.col(f"{RESERVED}{at_target.metric.name}{ending}").list.get(
            index_by_key[at_target[1:]]
        )
        for name, at_target in at_target_by_name.items()
        for ending in endings
    }
    return list_rows.select(Population.NUMBER, **value_exprs)


def _finish_intervals(
    points: pl.LazyFrame, metrics: Sequence[PointMetric], targets: Iterable[Target]
) -> pl.LazyFrame:
    """Add `<metric>_doubt`, and mend the ends of metrics at budgets of alerts."""
    if any(target.rate is not None for target in targets):
        return _doubt_steps(_spend_budgets(points, metrics), metrics)
    return points.with_columns(pl.col(DOUBT).alias(f"{metric.name}_{DOUBT}") for metric in metrics)


def _spend_budgets(points: pl.LazyFrame, metrics: Iterable[PointMetric]) -> pl.LazyFrame:
    """Move both ends of metrics at a budget of alerts to allow for the part of it that no alert takes.

    A budget is met by the last row within it; the rest would flag a part of the next example. A positive
    takes a = eta / n_pos of it, a negative b = (1 - eta) / n_neg. With a positive in a share p of the
    alerts there, of all cases, the rest would find on average

        p (1 - (p a + (1 - p) b) / (2 a))  positives, at most p (1 - p / 2), and so at most 1/2,

    by Wald's identity and the mean length of the step across a limit, and likewise at most half a
    negative. Every sample lacks these alike, so they are no error to be added in quadrature: the end of
    more recall moves by what half a positive more would change, that of a higher fpr by half a negative.
    A difference of two models needs neither, since both lack them.
    """
    is_budget = pl.col("criterion").is_in(ALERT_WORDS)
    n_added = pl.when(is_budget).then(0.5).otherwise(0.0)
    rate_exprs = {name: pl.col(name) for name in ("recall", "fpr", "eta")}
    end_exprs = []
    for metric in metrics:
        value, value_changes = metric.from_columns(**rate_exprs), []
        for rate_name, size_column in SIZE_COLUMNS.items():
            greater_rate = (pl.col(rate_name) + n_added / pl.col(size_column)).clip(upper_bound=1.0)
            value_changes.append(metric.from_columns(**rate_exprs | {rate_name: greater_rate}) - value)
        low_end, high_end = (pl.col(f"{metric.name}_{end}") for end in ("low", "high"))
        least_value, greatest_value = metric.range
        end_exprs += [
            (low_end + pl.min_horizontal(*value_changes, 0.0)).clip(lower_bound=least_value),
            (high_end + pl.max_horizontal(*value_changes, 0.0)).clip(upper_bound=greatest_value),
        ]
    return points.with_columns(end_exprs)


def _doubt_steps(points: pl.LazyFrame, metrics: Iterable[PointMetric]) -> pl.LazyFrame:
    """Add `<metric>_doubt`, which at a budget of alerts is also of scores that many examples share.

    A budget may end above such a score in one sample and below it in the next, and a metric may differ
    by more than the errors of rates. So no score at the row found, at the rows to which both rates move
    it, or just below these, may change a metric by more than a third of its interval.
    """
    is_budget = pl.col("criterion").is_in(ALERT_WORDS)
    rate_exprs = {name: pl.col(name) for name in (*GREATEST_STEPS, "eta")}
    rates_below = rate_exprs | {
        rate_name: rate_exprs[rate_name] + pl.col(step_column)
        for rate_name, step_column in GREATEST_STEPS.items()
    }
    doubt_exprs = []
    for metric in metrics:
        value_step = (metric.from_columns(**rates_below) - metric.from_columns(**rate_exprs)).abs()
        width = pl.col(f"{metric.name}_high") - pl.col(f"{metric.name}_low")
        is_coarse = is_budget & (3 * value_step > width)
        doubt = pl.coalesce(DOUBT, pl.when(is_coarse).then(pl.lit(EQUAL_SCORES)))
        doubt_exprs.append(doubt.alias(f"{metric.name}_{DOUBT}"))
    return points.with_columns(doubt_exprs)


def _list_exprs(
    metric_name: str, table: ResolvedTable, bands: FixedBands | None, *, has_intervals: bool
) -> list[pl.Expr]:
    """Return the value of a point metric and, with intervals, standard error, both ends and doubt."""
    # Precision may be defined without positives, and a metric of a curve is not.
    is_defined = pl.col("recall").is_not_null() | (pl.col("criterion") == "threshold")
    value, null_float = pl.when(is_defined).then(metric_name), pl.lit(None, dtype=pl.Float64)
    if not has_intervals:
        return [value]
    if bands is None:
        return [value, null_float, null_float, null_float, _doubt_all(table)]
    end_columns = [f"{metric_name}_low", f"{metric_name}_high"]
    doubt_column = f"{metric_name}_{DOUBT}" if isinstance(bands, ModelBands) else DOUBT
    return [value, null_float, *map(pl.col, end_columns), doubt_missing_ends(doubt_column, end_columns)]


def _doubt_all(table: ResolvedTable) -> pl.Expr:
    """Return the doubt of metrics at targets in a table where their intervals are not known."""
    if not isinstance(table, ScoreTable):  # and points cannot be resampled
        return pl.when(lacks_size()).then(pl.lit("no sizes")).otherwise(pl.lit("few points"))
    has_both = has_class(table, Group.N_POS) & has_class(table, Group.N_NEG)
    condition_by_reason = {"one class": ~has_both, "no formula: method='bootstrap'": pl.lit(True)}
    return find_first_doubt(condition_by_reason, pl.lit(False))
