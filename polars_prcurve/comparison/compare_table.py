"""Differences between the models of a group: of curve metrics, or of point metrics at a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.comparison.area_differences import subtract_curve_metrics
from polars_prcurve.comparison.model_pairs import Comparison, list_compare_columns, number_within
from polars_prcurve.comparison.point_differences import subtract_point_metrics
from polars_prcurve.curves.targets import Target, build_only_point_target, direction_sign
from polars_prcurve.errors import PrcError
from polars_prcurve.group_keys import merge_zeros
from polars_prcurve.inputs.score_and_rate_tables import InputTable, RateTable, counts_negatives
from polars_prcurve.metrics.names import find_curve_metrics, find_point_metrics
from polars_prcurve.uncertainty.metrics_without_negatives import check_negatives

_NUMBER, _ROW, _DISTANCE, _FARTHEST = (
    f"{c.RESERVED}{name}" for name in ("step", "row", "distance", "farthest")
)
_LEADS = f"{c.RESERVED}leads"


def build_compare_table(
    asked: Comparison, metrics: Any, targets: Sequence[Target], *, worst: bool
) -> pl.LazyFrame:
    """Return the result of `compare`; with `worst`, of the best and the worst model of a group alone."""
    target = targets[0] if targets else None
    if isinstance(asked.table, RateTable):
        if not asked.table.has_counts:
            raise PrcError(
                'differences have intervals, and rates= holds no counts; pass sizes=("n_pos", "n_neg"), '
                "the numbers of examples behind the rates"
            )
        if target is not None and target.is_found_in_sample:
            raise PrcError(
                f"{asked.table.argument}= holds points, and those that meet {target.criterion}= may be "
                "far apart; keep one row for each model and leave the target out, or pass threshold="
            )
        target = target or build_only_point_target(asked.table)
    if target is not None:
        found: Any = find_point_metrics("precision" if metrics is None else metrics)
    else:
        defaults = ("average_precision", *(["roc_auc"] if counts_negatives(asked.table) else []))
        found = find_curve_metrics(defaults if metrics is None else metrics, takes_target=True)
    comparison = asked._replace(metrics=found, target=target)
    check_negatives(asked.table, found)
    depends_on_eta = any(of.depends_on_eta for of in (*found, *([target] if target else [])))
    comparison = comparison._replace(grid=comparison.grid.let_own_differ(depends_on_eta=depends_on_eta))
    differences = build_differences(comparison)
    if not worst:
        return differences
    # Metrics without a direction have no best model, which is an error here.
    signs = {metric.name: direction_sign(metric) for metric in found}
    return _choose_farthest(differences, asked.table, signs)


def build_differences(comparison: Comparison) -> pl.LazyFrame:
    """Return `by` without MODEL, eta, what the eta frame carries, and its columns."""
    comparison.table.require_example_counts()
    at_target = comparison.target is not None
    if at_target:
        comparison.grid.require_exact("a comparison at a target")
    elif comparison.certainty.method != "analytic":
        comparison.grid.require_exact('method="bootstrap"')
    subtract = subtract_point_metrics if at_target else subtract_curve_metrics
    eta, *others = list_compare_columns(comparison.adjust)
    keys = (*comparison.table.group_columns, eta, *comparison.grid.carried)
    return subtract(comparison).select(*keys, *others)


def _choose_farthest(
    differences: pl.LazyFrame, table: InputTable, signs: Mapping[str, float]
) -> pl.LazyFrame:
    """Return the pair of the best and the worst model, as a and b, by group, prevalence and metric."""
    by, difference = [*table.group_columns, "eta", "metric"], pl.col("difference")
    falling = [name for name, sign in signs.items() if sign < 0]
    lead = pl.when(pl.col("metric").is_in(falling)).then(-difference).otherwise(difference)
    numbered = differences.with_row_index(_ROW).with_columns(
        number_within([*by, "model_a", "model_b"]).alias(_NUMBER),
        (lead >= 0).fill_null(True).alias(_LEADS),
        difference.abs().fill_null(-1.0).alias(_DISTANCE),
    )
    # Polars 2.0 streams no `sort_by` within groups, so the first of the farthest pairs takes two steps.
    # Among equal pairs the first counts, and models without a value are neither best nor worst.
    is_farthest = pl.col(_DISTANCE) == pl.col(_DISTANCE).max().over(*by, _NUMBER)
    numbered = numbered.with_columns(pl.when(is_farthest).then(_ROW).alias(_FARTHEST))
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
