"""Curve metrics at a target: the point metrics of the rows that the targets find, with intervals.

An interval is of the model at its target: another sample would have another threshold there. The rows,
and those to which they move, are found as `operating_points` finds rows; see `curves.row_search`.

    metrics -> targets  those that differ
            -> points   one row per pair and target
            -> values   one row per pair, metrics side by side
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence.doubts import DOUBT, doubt_missing_ends
from polars_prcurve.core.confidence.point_intervals import BandOptions
from polars_prcurve.core.curves.operating_points import build_numbered_points
from polars_prcurve.core.curves.targets import TARGET_NUMBER, build_target_of_metric
from polars_prcurve.core.inputs import score_and_rate_tables as of_table
from polars_prcurve.core.inputs.score_and_rate_tables import ResolvedTable, ScoreTable
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.prevalence.eta_grid import EtaTable
from polars_prcurve.core.prevalence.pair_and_part_column_names import Pair


class SplitMetrics(NamedTuple):
    """Metrics by the names of their columns: those at targets, with intervals there, and the others."""

    at_targets: dict[str, CurveMetric]
    others: dict[str, CurveMetric]


def separate_targets(metrics_by_name: Mapping[str, CurveMetric], table: ResolvedTable) -> SplitMetrics:
    """Return the metrics at targets whose intervals are known in this table, and all others."""
    # A threshold that moves is not known in a field, nor between published points.
    is_known = isinstance(table, ScoreTable) and not of_table.is_field(table)
    is_known &= table.sample.has_rate_errors
    split = SplitMetrics({}, {})
    for name, metric in metrics_by_name.items():
        is_at_target = is_known and metric.recipe.at_target is not None
        split[0 if is_at_target else 1][name] = metric
    return split


def build_values_at_targets(
    table: ResolvedTable, grid: EtaTable, metrics_by_name: Mapping[str, CurveMetric], confidence: float
) -> pl.LazyFrame:
    """Return a row per pair, by Pair.NUMBER: of each metric `<name>`, and what `plan_interval` names.

    The standard error is null, since both ends of the interval are computed by themselves.
    """
    at_target_of_name = {
        name: metric.recipe.at_target
        for name, metric in metrics_by_name.items()
        if metric.recipe.at_target is not None
    }
    # Metrics of one target share its rows.
    targets = {
        (at_target.word, at_target.value, at_target.per): build_target_of_metric(at_target)
        for at_target in at_target_of_name.values()
    }
    point_metrics = {at_target.metric.name: at_target.metric for at_target in at_target_of_name.values()}
    bands = BandOptions(confidence, "wilson", "mover", moving=True, shown_with="differences")
    points = build_numbered_points(
        table, grid, [*targets.values()], [*point_metrics.values()], bands=bands
    )
    number_of_target = {key: number for number, key in enumerate(targets)}
    value_exprs: dict[str, pl.Expr] = {}
    for name, (metric, word, value, per) in at_target_of_name.items():
        is_of_target = pl.col(TARGET_NUMBER).eq(number_of_target[word, value, per])
        ends = [f"{metric.name}_low", f"{metric.name}_high"]
        # Precision may be defined without positives, and a metric of a curve is not.
        known_value = pl.when(pl.col("recall").is_not_null()).then(metric.name)
        expr_of_kind = {
            "": known_value,
            "_standard_error": pl.lit(None, dtype=pl.Float64),
            **{end: pl.col(f"{metric.name}{end}") for end in ("_low", "_high")},
            f"_{DOUBT}": doubt_missing_ends(DOUBT, ends),
        }
        value_exprs |= {
            name + kind: expr.filter(is_of_target).first() for kind, expr in expr_of_kind.items()
        }
    return points.group_by(Pair.NUMBER).agg(**value_exprs)
