"""Differences between models: of curve metrics, or of point metrics at a target; of all pairs or one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.comparison.compare_table import Comparison, Examples, build_compare_table
from polars_prcurve.comparison.model_pairs import number_within
from polars_prcurve.comparison.point_differences import (
    PointComparison,
    build_point_differences,
    check_has_point_intervals,
)
from polars_prcurve.comparison.verdicts import P_VALUE, Adjust
from polars_prcurve.curves.targets import Target, build_only_point_target, direction_sign
from polars_prcurve.errors import PrcError
from polars_prcurve.float_bits import merge_zeros
from polars_prcurve.inputs.score_table import InputTable, RateTable, ScoreTable
from polars_prcurve.metrics.names import find_curve_metrics, find_point_metrics
from polars_prcurve.prevalence.eta_table import EtaTable
from polars_prcurve.uncertainty.options import UncertaintyOptions

_NUMBER, _ROW, _DISTANCE, _FARTHEST = (
    f"{c.RESERVED}{name}" for name in ("step", "row", "distance", "farthest")
)
_LEADS = f"{c.RESERVED}leads"


class DifferenceOptions(NamedTuple):
    """What differences are computed from and said of."""

    uncertainty: UncertaintyOptions
    examples: Examples
    adjust: Adjust
    """How levels are adjusted for several pairs of models."""
    worst: bool
    """Whether only the best and the worst model of a group are compared."""


def build_differences(
    table: InputTable,
    grid: EtaTable,
    metrics: Any,
    targets: Sequence[Target],
    options: DifferenceOptions,
) -> pl.LazyFrame:
    """Return the result of `compare`: of point metrics if there is a target, or of curve metrics.

    `metrics` are those asked for, or None.
    """
    uncertainty, examples, adjust, worst = options
    if isinstance(table, RateTable):
        targets = [_read_point_target(table, targets)]
    if targets:
        grid.require_exact("a comparison at a target")
        points = find_point_metrics("precision" if metrics is None else metrics)
        for metric in points:
            check_has_point_intervals(table, metric, targets[0], uncertainty, examples)
        signs = {metric.name: direction_sign(metric) for metric in points} if worst else {}
        depends_on_eta = any(metric.depends_on_eta for metric in points)
        grid = grid.let_own_differ(depends_on_eta=depends_on_eta or targets[0].depends_on_eta)
        of_points = PointComparison(
            table, grid, targets[0], points, uncertainty.confidence, examples, adjust
        )
        differences = build_point_differences(of_points)
    else:
        grid = grid if uncertainty.method == "analytic" else grid.require_exact('method="bootstrap"')
        asked = ("average_precision", "roc_auc") if metrics is None else metrics
        curves = find_curve_metrics(asked, takes_target=True)
        grid = grid.let_own_differ(depends_on_eta=any(metric.depends_on_eta for metric in curves))
        signs = {metric.name: direction_sign(metric) for metric in curves} if worst else {}
        rows = cast("ScoreTable", table)
        differences = build_compare_table(Comparison(rows, grid, curves, uncertainty, examples, adjust))
    differences = differences.drop(P_VALUE)
    return _choose_farthest(differences, table, signs) if worst else differences


def _read_point_target(table: RateTable, targets: Sequence[Target]) -> Target:
    """Return the target at which published points are compared: a threshold, or their only point."""
    if not table.has_counts:
        raise PrcError(
            'differences have intervals, and rates= holds no counts; pass sizes=("n_pos", "n_neg"), the '
            "numbers of examples behind the rates"
        )
    if not targets:
        return build_only_point_target(table)
    if targets[0].is_found_in_sample:
        raise PrcError(
            f"{table.argument}= holds points, and those that meet {targets[0].criterion}= may be far "
            "apart; keep one row for each model and leave the target out, or pass threshold="
        )
    return targets[0]


def _choose_farthest(
    differences: pl.LazyFrame, table: InputTable, signs: Mapping[str, float]
) -> pl.LazyFrame:
    """Return the pair of the best and the worst model, of all pairs of a group, prevalence and metric.

    Model a is the best one. `signs` are 1 for metrics of which greater values are better, otherwise -1.
    Among equal pairs the first is returned, and models without a value are neither best nor worst.
    """
    pair, by = ("model_a", "model_b"), [*table.group_columns, "eta", "metric"]
    falling = [name for name, sign in signs.items() if sign < 0]
    difference = pl.col("difference")
    lead = pl.when(pl.col("metric").is_in(falling)).then(-difference).otherwise(difference)
    numbered = differences.with_row_index(_ROW).with_columns(
        number_within([*by, *pair]).alias(_NUMBER),
        (lead >= 0).fill_null(True).alias(_LEADS),
    )
    # Polars 2.0 streams no `sort_by` within groups, so the first of the farthest pairs takes two steps.
    numbered = numbered.with_columns(difference.abs().fill_null(-1.0).alias(_DISTANCE))
    farthest = pl.col(_DISTANCE) == pl.col(_DISTANCE).max().over(*by, _NUMBER)
    numbered = numbered.with_columns(pl.when(farthest).then(_ROW).alias(_FARTHEST))
    numbered = numbered.with_columns(pl.col(_FARTHEST).min().over(*by, _NUMBER))
    chosen = numbered.filter(pl.col(_ROW) == pl.col(_FARTHEST)).sort(_ROW)
    turned = {
        "model_a": pl.col("model_b"),
        "model_b": pl.col("model_a"),
        "difference": -difference,
        "low": merge_zeros(-pl.col("high")),
        "high": merge_zeros(-pl.col("low")),
    }
    leads = (pl.when(_LEADS).then(name).otherwise(other).alias(name) for name, other in turned.items())
    return chosen.with_columns(leads).drop(_ROW, _NUMBER, _LEADS, _DISTANCE, _FARTHEST)
