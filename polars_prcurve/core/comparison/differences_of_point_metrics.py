"""Differences of point metrics between models at one target.

The lower end of a - b is as far from it as the root of (a - low of a)**2 + (high of b - b)**2, and the
upper end likewise. There is no standard error, since the two distances differ. For several pairs both
distances are stretched by the ratio of normal quantiles.

Of models that share their examples both values err together: see `correlation_of_points`. Of examples
that were drawn by strata it is not known how much both values share at given thresholds, nor of those in
clusters at any: their errors are taken as independent, which is wider.

Source: Zou and Donner 2008.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import polars as pl

from polars_prcurve.core.comparison import difference_limits, model_checks, model_pairs, paired_errors
from polars_prcurve.core.comparison.comparison_request import Comparison
from polars_prcurve.core.comparison.correlation_of_points import CORRELATION, add_correlation
from polars_prcurve.core.comparison.difference_flags import SPARE
from polars_prcurve.core.comparison.model_pairs import BASE_GROUP, ETA_NUMBER, METRIC_NUMBER, SIDES, A, B
from polars_prcurve.core.confidence import point_intervals
from polars_prcurve.core.confidence.band_kinds import MOVE_NAMES, ComparedBands, ModelBands
from polars_prcurve.core.confidence.doubts import DOUBT, doubt_missing_ends
from polars_prcurve.core.confidence.interval_input_columns import EtaError
from polars_prcurve.core.confidence.point_intervals import combine_distances
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.curves.operating_points import build_points_table
from polars_prcurve.core.curves.targets import Target
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.value_checks import stop_if_broken
from polars_prcurve.core.inputs import resolved_tables as of_table
from polars_prcurve.core.inputs.resolved_tables import ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.metric_base import DECLARED_BY_NAME
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.eta_table import find_shared_eta
from polars_prcurve.core.uncertainty.metrics_at_targets import refuse_weighted_clusters

_DISTANCE_BELOW = f"{RESERVED}below"  # the distance from a difference to its low end
_DISTANCE_ABOVE = f"{RESERVED}above"  # that to its high end


def _check_has_intervals(comparison: Comparison) -> None:
    """Raise if no interval is known for the difference of a point metric between models."""
    refuse_weighted_clusters(comparison.table.sample)
    for metric in cast("Sequence[PointMetric]", comparison.metrics):
        curve_hint = hint_at_curve_metric(metric, comparison.target)
        if comparison.interval_options.method != "analytic":
            raise PrcError(
                f'{curve_hint or "leave out"} method="bootstrap": the difference of {metric.name} '
                "at a target has no bootstrap"
            )
        point_intervals.find_corners(metric)  # raises if the metric has no band


def hint_at_curve_metric(metric: PointMetric, target: Target | None) -> str:
    """Return how to request the curve metric that a point metric at a target is; or an empty text."""
    curve_metric_name = "" if target is None else f"{metric.name}_at_{target.criterion}"
    if target is None or curve_metric_name not in DECLARED_BY_NAME:
        return ""
    argument_text = f"{target.value}" + (", per" if target.criterion == "alerts" else "")
    return f"leave out {target.criterion}=, and pass metrics.{curve_metric_name}({argument_text}) with"


def subtract_point_metrics(comparison: Comparison) -> pl.LazyFrame:
    """Return the rows of a comparison at a target, and more columns."""
    _check_has_intervals(comparison)
    metrics = cast("Sequence[PointMetric]", comparison.metrics)
    is_paired = comparison.pairing != "apart" and not comparison.table.sample.joins_rows
    has_moving_threshold = cast("Target", comparison.target).is_found_in_sample
    step_dtypes = {ETA_NUMBER: pl.UInt32(), METRIC_NUMBER: pl.Int64()}
    adjusted_level = difference_limits.adjust_level(comparison, [BASE_GROUP, *step_dtypes])
    by = comparison.table.group_columns
    point_rows = _number_points(comparison, metrics, by, has_moving_threshold=has_moving_threshold)
    has_counted_eta = comparison.grid.may_hold_own and not of_table.is_field(comparison.table)
    move_columns = [
        move_column
        for source, move_column in MOVE_NAMES.items()
        if has_moving_threshold and (has_counted_eta or source != "eta")
    ]
    side_group_columns = [side + Group.NUMBER for side in SIDES]
    point_pairs = _join_points(comparison, point_rows, step_dtypes, move_columns)
    point_pairs = point_pairs.sort(BASE_GROUP, *step_dtypes, *side_group_columns)
    point_pairs = adjusted_level.add_quantile(point_pairs, ["difference"])
    correlation = None
    # What two models share at given thresholds cancels out less where strata took away its larger part.
    if is_paired and (has_moving_threshold or comparison.table.sample.shares_errors):
        table = cast("ScoreTable", comparison.table)
        first_metric_points = point_rows.filter(pl.col(METRIC_NUMBER) == 0)
        discordant_counts = paired_errors.count_discordant(table, first_metric_points, by)
        point_pairs = point_pairs.join(
            discordant_counts, on=[*side_group_columns, ETA_NUMBER], how="left", maintain_order="left"
        )
        point_pairs = add_correlation(
            point_pairs,
            metrics,
            has_moving_threshold=has_moving_threshold,
            has_weights=comparison.has_weights,
            has_counted_eta=has_counted_eta,
        )
        correlation = pl.col(CORRELATION)
    differences = _add_limits(point_pairs, adjusted_level, correlation)
    if is_paired and not has_moving_threshold and not comparison.has_weights:
        differences = paired_errors.replace_weighted_sums(differences, metrics, adjusted_level)
    return differences.with_columns(model_pairs.name_models(is_wide=comparison.pairing == "wide"))


def _join_points(
    comparison: Comparison,
    point_rows: pl.LazyFrame,
    step_dtypes: Mapping[str, pl.DataType],
    move_columns: Sequence[str],
) -> pl.LazyFrame:
    """Return the points of both models of each pair side by side, with their difference."""
    model_columns = [Row.MODEL, Group.NUMBER, "value", "low", "high", DOUBT]
    model_columns += [EtaError.STANDARD_ERROR, *move_columns]
    # A model without examples may lack a prevalence.
    key_dtypes = {**comparison.table.group_columns, **step_dtypes, "eta": pl.Float64()}
    shared_columns = [BASE_GROUP, *comparison.grid.carried_columns, "metric"]
    point_pairs = model_pairs.join_sides(point_rows, key_dtypes, model_columns, shared_columns)
    difference = pl.col(A + "value") - pl.col(B + "value")
    return point_pairs.with_columns(difference.alias("difference"))


def _number_points(
    comparison: Comparison,
    metrics: Sequence[PointMetric],
    by: Iterable[str],
    *,
    has_moving_threshold: bool,
) -> pl.LazyFrame:
    """Return the points of all models, numbered: Group.NUMBER by model, BASE_GROUP by `by` group."""
    table = comparison.table
    bands = (ModelBands if has_moving_threshold else ComparedBands)(
        comparison.interval_options.level, "wilson", "mover"
    )
    target = cast("Target", comparison.target)
    points = build_points_table(table, comparison.grid, [target], metrics, bands=bands, long=True)
    metric_number = pl.coalesce(  # `replace_strict` would not stream
        pl.when(pl.col("metric") == metric.name).then(pl.lit(metric_index, dtype=pl.Int64))
        for metric_index, metric in enumerate(metrics)
    )
    least_group_number = pl.col(Group.NUMBER).min()
    numbered_points = points.with_row_index(Group.NUMBER).with_columns(
        model_pairs.number_within([*by, Row.MODEL, "metric"]).cast(pl.UInt32).alias(ETA_NUMBER),
        metric_number.alias(METRIC_NUMBER),
        least_group_number.over(*by, Row.MODEL),
        (least_group_number.over(*by) if by else pl.lit(0, dtype=pl.UInt32)).alias(BASE_GROUP),
    )
    if comparison.grid.sharing_groups is None:  # models of different prevalences are compared, too
        numbered_points = numbered_points.with_columns(find_shared_eta([BASE_GROUP]))
    if comparison.needs_pairs:
        numbered_points = stop_if_broken(numbered_points, [model_checks.two_models_check()])
    if comparison.pairing == "by id":
        numbered_points = model_checks.check_matching(cast("ScoreTable", table), numbered_points)
    # Each model is paired with others, and its thresholds are compared, too.
    return numbered_points.cache()


def _add_limits(
    point_pairs: pl.LazyFrame,
    adjusted_level: difference_limits.AdjustedLevel,
    correlation: pl.Expr | None = None,
) -> pl.LazyFrame:
    """Add limits and doubts to rows of both models, whose values may have a `correlation`."""
    value_by_side, low_of_side, high_of_side = (
        {side: pl.col(side + name) for side in SIDES} for name in ("value", "low", "high")
    )
    distance_below = combine_distances(
        [value_by_side[A] - low_of_side[A], high_of_side[B] - value_by_side[B]], correlation
    )
    distance_above = combine_distances(
        [high_of_side[A] - value_by_side[A], value_by_side[B] - low_of_side[B]], correlation
    )
    point_pairs = point_pairs.with_columns(
        distance_below.alias(_DISTANCE_BELOW), distance_above.alias(_DISTANCE_ABOVE)
    )
    difference, z = pl.col("difference"), z_value(adjusted_level.confidence)
    stretch_factor = (
        pl.lit(1.0) if adjusted_level.adjust is None else adjusted_level.n_deviations * (1 / z)
    )
    null_float = pl.lit(None, dtype=pl.Float64)
    doubt = model_pairs.join_doubts(DOUBT, "value")
    point_pairs = point_pairs.with_columns(
        standard_error=null_float,
        p_value=null_float,
        p_adjusted=null_float,
        low=difference - pl.col(_DISTANCE_BELOW) * stretch_factor,
        high=difference + pl.col(_DISTANCE_ABOVE) * stretch_factor,
        **{DOUBT: doubt, SPARE: pl.when(doubt.is_null()).then(0.0).otherwise(1.0)},
    )
    return point_pairs.with_columns(doubt=doubt_missing_ends(DOUBT, ["low", "high"]))
