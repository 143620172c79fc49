"""Differences of point metrics between models at one target.

The lower end of a - b is as far from it as the root of (a - low of a)**2 + (high of b - b)**2, and the
upper end likewise. There is no standard error, since the two distances differ. For several pairs both
distances are stretched by the ratio of normal quantiles.

Of models that share their examples both values err together: see `add_correlation`. Of examples
that were drawn by strata it is not known how much both values share at given thresholds, nor of those in
clusters at any: their errors are taken as independent, which is wider.

Sources: Zou and Donner 2008; McNemar 1947; Agresti and Min 2005 for what is added to discordant
examples; Vickers and Elkin 2006 for net benefit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import polars as pl

from polars_prcurve.core.comparison import model_pairs
from polars_prcurve.core.comparison.comparison_request import Comparison
from polars_prcurve.core.comparison.limits_and_p_values import AdjustedLevel, adjust_p_values
from polars_prcurve.core.comparison.model_pairs import (
    BASE_GROUP,
    ETA_NUMBER,
    METRIC_NUMBER,
    SIDES,
    A,
    B,
    join_sides,
)
from polars_prcurve.core.comparison.significance_and_margin import SPARE
from polars_prcurve.core.confidence import point_intervals
from polars_prcurve.core.confidence.band_options import MOVE_NAMES, ComparedBands, ModelBands
from polars_prcurve.core.confidence.doubts import DOUBT, doubt_missing_ends, find_first_doubt
from polars_prcurve.core.confidence.interval_input_columns import EtaError
from polars_prcurve.core.confidence.point_intervals import combine_distances
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.curves.long_tables import pick_by_number
from polars_prcurve.core.curves.operating_points import build_points_table
from polars_prcurve.core.curves.targets import Target
from polars_prcurve.core.ground import exact_arithmetic
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.ground.group_joins import join_groups
from polars_prcurve.core.ground.normal_distribution import normal_cdf
from polars_prcurve.core.ground.query_guards import stop_if_broken
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs import resolved_tables as of_table
from polars_prcurve.core.inputs.resolved_tables import ScoreTable, class_amounts
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
    adjusted_level = AdjustedLevel(
        comparison.interval_options.level, comparison.adjust, [BASE_GROUP, *step_dtypes]
    )
    by = comparison.table.group_columns
    point_rows = _number_points(comparison, metrics, by, has_moving_threshold=has_moving_threshold)
    has_counted_eta = comparison.grid.may_hold_own and not of_table.is_field(comparison.table)
    move_columns = [
        move_column
        for source, move_column in MOVE_NAMES.items()
        if has_moving_threshold and (has_counted_eta or source != "eta")
    ]
    side_group_columns = [side + Group.NUMBER for side in SIDES]
    point_pairs = _join_models(comparison, point_rows, step_dtypes, move_columns)
    point_pairs = point_pairs.sort(BASE_GROUP, *step_dtypes, *side_group_columns)
    point_pairs = adjusted_level.add_quantile(point_pairs, ["difference"])
    correlation = None
    # What two models share at given thresholds cancels out less where strata took away its larger part.
    if is_paired and (has_moving_threshold or comparison.table.sample.shares_errors):
        first_points = point_rows.filter(pl.col(METRIC_NUMBER) == 0)
        discordant_counts = count_discordant(cast("ScoreTable", comparison.table), first_points, by)
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
    differences = _add_limits_and_doubts(point_pairs, adjusted_level, correlation)
    if is_paired and not has_moving_threshold and not comparison.has_weights:
        differences = replace_weighted_sums(differences, metrics, adjusted_level)
    return differences.with_columns(model_pairs.name_models(is_wide=comparison.pairing == "wide"))


def _join_models(
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
        numbered_points = stop_if_broken(numbered_points, [model_pairs.two_models_check()])
    if comparison.pairing == "by id":
        numbered_points = model_pairs.check_matching(cast("ScoreTable", table), numbered_points)
    # Each model is paired with others, and its thresholds are compared, too.
    return numbered_points.cache()


def _add_limits_and_doubts(
    point_pairs: pl.LazyFrame,
    adjusted_level: AdjustedLevel,
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


# Weighted sums of rates, from discordant examples ----------------------------------------------

# A metric that is a weighted sum of recall and fpr, such as net benefit, has a difference that is one of
# differences of rates, at given thresholds. A difference of rates is (b - c) / n, with b of n examples
# flagged by model a alone and c by model b alone. Its variance is that of a number that is 1, -1 or 0
# per example, after half an example is added to b and to c: a sample without discordant examples proves
# nothing.
#
# An interval is reliable if b times c is at least 25 in each class that counts. Chance moves the product
# and b - c independently, to the first order. The sum b + c goes along with b - c where one model finds
# nearly all of both: it would mark just the samples whose difference is too large.

AMOUNTS = {"pos": Row.POS, "neg": Row.NEG}  # the column of what a row adds to a class, by class
BOTH_PREFIX, ALL_PREFIX = f"{RESERVED}both_", f"{RESERVED}n_"
"""What the columns with the examples of a class begin with that both models flag, and with all examples;
those that one model alone flags begin with A or B."""
_AMOUNT_SUMS = pl.col(*AMOUNTS.values()).sum()  # of the amounts of both classes
_SQUARED_ENDING = "_squared"  # what the name of an amount ends with, if it is the sum of its squares
# The number of the highest threshold that flags an example, whether a row is a threshold, and the lowest
# threshold of a model.
_LEVEL_NUMBER, _IS_MARK, _LEAST_SCORE = (f"{RESERVED}{name}" for name in ("level", "is_mark", "least"))
_SIDE_GROUPS = [side + Group.NUMBER for side in SIDES]  # the groups of both models
_SIDE_LEVELS = [side + _LEVEL_NUMBER for side in SIDES]  # the levels of an example in both
_LEAST_LEVELS = [f"{name}_least" for name in _SIDE_LEVELS]  # the least levels that thresholds flag
_WEIGHT_COLUMNS = {name: f"{RESERVED}weight_{name}" for name in AMOUNTS}  # of rates
_IS_SUM = f"{RESERVED}is_sum"  # whether the metric of a row is a weighted sum of rates
_SUM_ERROR = f"{RESERVED}error_of_sum"  # the standard error of such a difference
_LEAST_PRODUCT = 25
"""Of the discordant examples of either kind in a class. From it on, intervals covered the true value in
at least 93% of the samples that are marked, wherever these are 5% of all (docs/which-model.md)."""


def is_weighted_sum(metric: PointMetric) -> bool:
    """Return whether a metric is a weighted sum of recall and fpr, at each prevalence."""
    return metric.is_linear or metric.of_rates is not None


def count_discordant(
    table: ScoreTable, point_rows: pl.LazyFrame, by: Mapping[str, pl.DataType]
) -> pl.LazyFrame:
    """Return how many examples one model alone flags, or both, and all, by class, pair, ETA_NUMBER."""
    # Only examples that both models flag are joined, which usually are few: what one model alone flags
    # is what it flags less what both flag. Examples between two thresholds are flagged alike, so they
    # are counted together, once for all steps.
    example_rows, flagged_rows, threshold_rows = _read_examples(table, point_rows, by)
    example_dtypes = {**by, Row.EXAMPLE: table.all_rows.collect_schema()[Row.EXAMPLE]}
    level_columns, amount_columns = [Group.NUMBER, _LEVEL_NUMBER], list(AMOUNTS.values())
    jointly_flagged_groups = join_sides(
        flagged_rows, example_dtypes, level_columns, amount_columns
    ).group_by(*_SIDE_GROUPS, *_SIDE_LEVELS)
    step_rows = join_sides(threshold_rows, {**by, ETA_NUMBER: pl.UInt32()}, level_columns, [])
    step_rows = step_rows.rename(dict(zip(_SIDE_LEVELS, _LEAST_LEVELS, strict=True)))
    count_frames = [
        _count_flagged(
            step_rows,
            jointly_flagged_groups.agg(_AMOUNT_SUMS.name.prefix(BOTH_PREFIX)),
            SIDES,
            BOTH_PREFIX,
        )
    ]
    flagged_counts = flagged_rows.group_by(Group.NUMBER, _LEVEL_NUMBER).agg(_AMOUNT_SUMS)
    counts_by_side = {side: flagged_counts.select(pl.all().name.prefix(side)) for side in SIDES}
    count_frames += [
        _count_flagged(step_rows, cell_rows, (side,), side) for side, cell_rows in counts_by_side.items()
    ]
    # Of weighted examples a class counts as sum(w)**2 / sum(w**2) in all (Kish 1965).
    square_exprs = pl.col(*amount_columns)  # a row that represents several examples is no heavy example
    if table.has_squares:
        square_exprs = exact_arithmetic.square_integer(square_exprs, is_scaled=table.has_float_sums)
    total_rows = example_rows.group_by(Group.NUMBER).agg(
        _AMOUNT_SUMS.name.prefix(ALL_PREFIX), square_exprs.sum().name.suffix(_SQUARED_ENDING)
    )
    pair_rows = step_rows.select(*_SIDE_GROUPS, ETA_NUMBER)
    pair_rows = pair_rows.join(total_rows, left_on=A + Group.NUMBER, right_on=Group.NUMBER, how="left")
    for count_rows in count_frames:
        pair_rows = pair_rows.join(count_rows, on=[*_SIDE_GROUPS, ETA_NUMBER], how="left")
    return pair_rows.select(*_SIDE_GROUPS, ETA_NUMBER, **_build_counts(table))


def _build_counts(table: ScoreTable) -> dict[str, pl.Expr]:
    """Return the numbers of examples of each kind and class, by column, from sums of amounts."""
    count_exprs: dict[str, pl.Expr] = {}
    for class_name, amount_column in AMOUNTS.items():
        n_both, square_sum = pl.col(BOTH_PREFIX + amount_column), pl.col(amount_column + _SQUARED_ENDING)
        count_by_prefix = {side: pl.col(side + amount_column) - n_both for side in SIDES}
        count_by_prefix |= {BOTH_PREFIX: n_both, ALL_PREFIX: pl.col(ALL_PREFIX + amount_column)}
        if table.has_float_sums:
            count_by_prefix = {
                prefix: count.cast(pl.Float64) * exact_arithmetic.NEAR_ONE
                for prefix, count in count_by_prefix.items()
            }
            square_sum = square_sum.cast(pl.Float64) * exact_arithmetic.SQUARES_NEAR_ONE
        # What a weight of 1 counts as.
        unit_count = (
            pl.when(square_sum > 0).then(count_by_prefix[ALL_PREFIX] / square_sum).otherwise(1.0)
        )
        count_exprs |= {
            prefix + class_name: count.cast(pl.Float64) * unit_count
            for prefix, count in count_by_prefix.items()
        }
    return count_exprs


def _count_flagged(
    step_rows: pl.LazyFrame, cell_rows: pl.LazyFrame, sides: Sequence[str], amount_prefix: str
) -> pl.LazyFrame:
    """Return one row per step and model pair, with the amounts in cells that models of `sides` flag."""
    is_reached_exprs = (
        pl.col(side + _LEVEL_NUMBER) >= pl.col(f"{side}{_LEVEL_NUMBER}_least") for side in sides
    )
    amount_exprs = pl.col(*(amount_prefix + amount for amount in AMOUNTS.values()))
    step_cells = step_rows.join(cell_rows, on=[side + Group.NUMBER for side in sides], how="left")
    is_flagged = pl.all_horizontal(is_reached_exprs)
    return step_cells.group_by(*_SIDE_GROUPS, ETA_NUMBER).agg(amount_exprs.filter(is_flagged).sum())


def _read_examples(
    table: ScoreTable, point_rows: pl.LazyFrame, by: Mapping[str, pl.DataType]
) -> tuple[pl.LazyFrame, pl.LazyFrame, pl.LazyFrame]:
    """Return examples with whole AMOUNTS of all models, and those flagged and thresholds with levels."""
    amount_columns = [Row.LABEL] if Row.LABEL in table.columns else list(AMOUNTS.values())
    amount_expr_of_name = class_amounts({name: pl.col(name) for name in amount_columns})
    whole_amount_exprs = [
        amount_expr.cast(pl.Int128).alias(name) for name, amount_expr in amount_expr_of_name.items()
    ]
    if table.has_float_sums:  # the models of a table have the same weights, and so the same scale
        largest_amount_exprs = (
            amount_expr.max().over(Group.NUMBER) for amount_expr in amount_expr_of_name.values()
        )
        exponents = map(exact_arithmetic.weight_exponent, largest_amount_exprs)
        whole_amount_exprs = list(
            map(exact_arithmetic.to_integer, amount_expr_of_name.values(), exponents)
        )
    model_dtypes: dict[str, pl.DataType] = {**by, Row.MODEL: table.by[Row.MODEL]}
    threshold_rows = point_rows.select(
        *model_dtypes, Group.NUMBER, ETA_NUMBER, "tp", pl.col("threshold").alias(Row.SCORE)
    )
    group_rows = threshold_rows.select(*model_dtypes, Group.NUMBER).unique()
    example_rows = table.all_rows.select(*model_dtypes, Row.EXAMPLE, Row.SCORE, *amount_columns)
    example_rows = join_groups(example_rows, group_rows, model_dtypes)
    # Rows are added up, and those flagged are joined: each model with others.
    example_rows = example_rows.select(
        pl.exclude(Row.MODEL, *amount_columns), *whole_amount_exprs
    ).cache()
    group_thresholds = threshold_rows.select(Group.NUMBER, Row.SCORE).drop_nulls().unique()
    group_thresholds = group_thresholds.sort(Group.NUMBER, Row.SCORE)
    flagged_rows = _number_levels(example_rows, group_thresholds)
    # Flagged are levels from that of the threshold on: of none, it is beyond all; of no threshold, null.
    level_beyond_all = pl.when(pl.col("tp").is_not_null()).then(pl.lit(2**32 - 1, dtype=pl.UInt32))
    level_rows = group_thresholds.with_row_index(_LEVEL_NUMBER, offset=1)
    threshold_rows = threshold_rows.drop(Row.MODEL).join(
        level_rows, on=[Group.NUMBER, Row.SCORE], how="left"
    )
    level_expr = pl.coalesce(_LEVEL_NUMBER, level_beyond_all).alias(_LEVEL_NUMBER)
    threshold_rows = threshold_rows.select(pl.exclude(Row.SCORE, "tp", _LEVEL_NUMBER), level_expr)
    return example_rows, flagged_rows, threshold_rows


def _number_levels(example_rows: pl.LazyFrame, group_thresholds: pl.LazyFrame) -> pl.LazyFrame:
    """Return the examples that the lowest threshold flags, with the number of the highest that does."""
    least_score_rows = group_thresholds.group_by(Group.NUMBER).agg(
        pl.col(Row.SCORE).min().alias(_LEAST_SCORE)
    )
    # What was never scored has no score that is as high.
    rows_with_least = example_rows.join(least_score_rows, on=Group.NUMBER)
    flagged_rows = rows_with_least.filter(pl.col(Row.SCORE) >= pl.col(_LEAST_SCORE)).drop(_LEAST_SCORE)
    mark_rows = group_thresholds.with_columns(pl.lit(True).alias(_IS_MARK))
    # A score that equals a threshold comes after it.
    ordered_rows = pl.concat([flagged_rows, mark_rows], how="diagonal")
    ordered_rows = ordered_rows.sort(Group.NUMBER, Row.SCORE, _IS_MARK, nulls_last=True)
    numbered_rows = ordered_rows.with_columns(
        pl.col(_IS_MARK).is_not_null().cum_sum().alias(_LEVEL_NUMBER)
    )
    return numbered_rows.filter(pl.col(_IS_MARK).is_null()).drop(_IS_MARK).cache()


def replace_weighted_sums(
    point_pairs: pl.LazyFrame, metrics: Sequence[PointMetric], adjusted_level: AdjustedLevel
) -> pl.LazyFrame:
    """Replace errors, limits and doubts of differences of metrics that are such sums."""
    are_weighted_sums = [is_weighted_sum(metric) for metric in metrics]
    difference = pl.col("difference")
    is_sum = pick_by_number(METRIC_NUMBER, map(pl.lit, are_weighted_sums), pl.lit(False))
    point_pairs, variance, has_enough_exprs = _measure_sums(point_pairs, metrics, are_weighted_sums)
    point_pairs = point_pairs.with_columns(
        pl.when(difference.is_not_null()).then(variance.sqrt()).alias(_SUM_ERROR), is_sum.alias(_IS_SUM)
    )
    error, half_width = pl.col(_SUM_ERROR), adjusted_level.n_deviations * pl.col(_SUM_ERROR)
    is_known, is_reliable = error.is_not_null(), pl.all_horizontal(has_enough_exprs)
    low, high = difference - half_width, difference + half_width
    p_value = pl.when(error > 0).then(normal_cdf(-(difference / error).abs()) * 2)
    sum_exprs = {
        "standard_error": error,
        "low": low,
        "high": high,
        "p_value": p_value,
        SPARE: pl.when(is_reliable).then(0.0).otherwise(1.0),
        DOUBT: find_first_doubt({"few discordant examples": ~is_reliable}, is_known),
    }
    point_pairs = point_pairs.with_columns(
        pl.when(_IS_SUM).then(sum_expr).otherwise(name).alias(name)
        for name, sum_expr in sum_exprs.items()
    )
    if adjusted_level.adjust is None:
        return point_pairs
    return point_pairs.with_columns(
        adjust_p_values(pl.col("p_value"), adjusted_level.family_columns).alias("p_adjusted")
    )


def _measure_sums(
    point_pairs: pl.LazyFrame, metrics: Sequence[PointMetric], are_weighted_sums: Sequence[bool]
) -> tuple[pl.LazyFrame, pl.Expr, list[pl.Expr]]:
    """Return the variance of the difference of weighted sums, and which classes have enough examples."""
    weights_of_metrics: list[Mapping[str, pl.Expr]] = []
    slopes: list[pl.Expr | None] = []
    eta, null_float = pl.col("eta"), pl.lit(None, dtype=pl.Float64)
    rate_gap_by_class = {
        class_name: (pl.col(A + class_name) - pl.col(B + class_name)) / pl.col(ALL_PREFIX + class_name)
        for class_name in AMOUNTS
    }
    for metric, is_sum in zip(metrics, are_weighted_sums, strict=True):
        weights_of_metrics.append(_find_weights(metric, eta) if is_sum else {})
        # A difference is linear in the prevalence, too; this is its growth with the logit.
        weights_at_ends = [_find_weights(metric, pl.lit(end)) for end in ((0.0, 1.0) if is_sum else ())]
        values_at_ends = [
            sum(
                (gap * weights[class_name] for class_name, gap in rate_gap_by_class.items()), pl.lit(0.0)
            )
            for weights in weights_at_ends
        ]
        slopes.append(eta * (1 - eta) * (values_at_ends[1] - values_at_ends[0]) if is_sum else None)
    weights_by_column = {
        column: [weights.get(class_name) for weights in weights_of_metrics]
        for class_name, column in _WEIGHT_COLUMNS.items()
    }
    point_pairs = point_pairs.with_columns(
        pick_by_number(METRIC_NUMBER, class_weights, null_float).alias(column)
        for column, class_weights in weights_by_column.items()
    )
    variance_terms, has_enough_exprs = [], []
    for class_name, column in _WEIGHT_COLUMNS.items():
        weight = pl.col(column)
        n_a_alone, n_b_alone, n_examples = (pl.col(kind + class_name) for kind in (A, B, ALL_PREFIX))
        # See the module for why the product shows whether enough examples are discordant.
        has_enough_exprs.append((weight == 0) | (n_a_alone * n_b_alone >= _LEAST_PRODUCT))
        n_a_alone, n_b_alone, n_examples = n_a_alone + 0.5, n_b_alone + 0.5, n_examples + 1
        rate_gap = (n_a_alone - n_b_alone) / n_examples
        rate_variance = ((n_a_alone + n_b_alone) / n_examples - rate_gap**2) / n_examples
        variance_terms.append(pl.when(weight == 0).then(0.0).otherwise(weight**2 * rate_variance))
    eta_error = pl.col(A + EtaError.STANDARD_ERROR)
    eta_variance = (pick_by_number(METRIC_NUMBER, slopes, null_float) * eta_error) ** 2
    variance_terms.append(pl.when(eta_error > 0).then(eta_variance).otherwise(0.0))
    return point_pairs, sum(variance_terms, pl.lit(0.0)), has_enough_exprs


def _find_weights(metric: PointMetric, eta: pl.Expr) -> dict[str, pl.Expr]:
    """Return the weights of recall and of fpr, by class, in a metric that is a weighted sum of both."""
    zero, one = pl.lit(0.0), pl.lit(1.0)
    rates_by_class = {"pos": (one, zero), "neg": (zero, one)}
    value_at_zero = metric.from_columns(zero, zero, eta)
    return {
        class_name: metric.from_columns(*rates, eta) - value_at_zero
        for class_name, rates in rates_by_class.items()
    }


# The correlation of the errors of two models, in point metrics of the same examples ------------

# The value of a metric is moved by the errors of recall and of fpr, which are independent. So the
# correlation of two values is a sum over both classes: the correlation of being flagged by either
# model, times the share that the class has in the error of either value. A prevalence that was counted
# is one for both models: its error has a share, too, with a correlation of 1. With d and e from both
# values to the ends of their intervals, the end of the difference is as far from it as the root of d**2
# + e**2 - 2 R d e, where R is this correlation.
#
# All of it is of rates with half an example added to what either model flags alone, as in
# weighted sums of rates: so every rate is inside 0 and 1 (Newcombe 1998). Examples count by their
# weights. Where thresholds move with the sample, the moves of a value are those of its band.

CORRELATION = f"{RESERVED}correlation"  # of the values of both models
_AGREEMENT_COLUMNS = {name: f"{RESERVED}agreement_{name}" for name in AMOUNTS}
"""The correlation, among examples of a class, of being flagged by either model."""
_RATE_COLUMNS = {name: f"{RESERVED}{name}_rate" for name in AMOUNTS}
"""The rate of a class, half an example added."""
_MOVE_COLUMNS = dict(zip(AMOUNTS, (MOVE_NAMES["recall"], MOVE_NAMES["fpr"]), strict=True))
"""How far the rate of a class moves the value of a model."""


def add_correlation(
    point_pairs: pl.LazyFrame,
    metrics: Sequence[PointMetric],
    *,
    has_moving_threshold: bool,
    has_weights: bool,
    has_counted_eta: bool,
) -> pl.LazyFrame:
    """Add CORRELATION, that of the values of both models, to rows with the discordant examples."""
    rate_exprs, agreement_exprs = {}, {}
    for class_name in AMOUNTS:
        n_both = pl.col(BOTH_PREFIX + class_name)
        n_examples = repeat_in_rows(pl.col(ALL_PREFIX + class_name) + 1, n_both)
        for side in SIDES:
            rate_exprs[side + _RATE_COLUMNS[class_name]] = (
                n_both + pl.col(side + class_name) + 0.5
            ) / n_examples
        rate_of_a, rate_of_b = (pl.col(side + _RATE_COLUMNS[class_name]) for side in SIDES)
        # Of two indicators: (P(both) - a b) / sqrt(a (1 - a) b (1 - b)).
        covariance = n_both / n_examples - rate_of_a * rate_of_b
        variance_product = (rate_of_a * (1 - rate_of_a)) * (rate_of_b * (1 - rate_of_b))
        agreement_exprs[_AGREEMENT_COLUMNS[class_name]] = covariance / variance_product.sqrt()
    point_pairs = point_pairs.with_columns(**rate_exprs).with_columns(**agreement_exprs)
    if not has_moving_threshold:
        unsummed_metrics = [
            metric if has_weights or not is_weighted_sum(metric) else None for metric in metrics
        ]
        point_pairs = _add_moves(point_pairs, unsummed_metrics, has_counted_eta=has_counted_eta)
    agreement_by_move_column = {
        _MOVE_COLUMNS[class_name]: pl.col(column) for class_name, column in _AGREEMENT_COLUMNS.items()
    }
    agreement_by_move_column |= {MOVE_NAMES["eta"]: pl.lit(1.0)} if has_counted_eta else {}
    # With moves m and agreements g: sum of g m_A m_B, over the roots of the sums of m_A^2 and m_B^2.
    error_squares = [
        sum((pl.col(side + move_column) ** 2 for move_column in agreement_by_move_column), pl.lit(0.0))
        for side in SIDES
    ]
    shared_error_exprs = (
        agreement * pl.col(A + move_column) * pl.col(B + move_column)
        for move_column, agreement in agreement_by_move_column.items()
    )
    correlation = sum(shared_error_exprs, pl.lit(0.0)) / (error_squares[0] * error_squares[1]).sqrt()
    # A value that no rate moves, such as precision at prevalence 1, shares no error.
    return point_pairs.with_columns(correlation.fill_nan(0.0).alias(CORRELATION))


def _add_moves(
    point_pairs: pl.LazyFrame, metrics: Sequence[PointMetric | None], *, has_counted_eta: bool
) -> pl.LazyFrame:
    """Add how far one standard error of a rate, half to either side, moves values at a threshold."""

    def evaluate(rates_and_eta: Mapping[str, pl.Expr]) -> pl.Expr:
        """Return the metric of a row on its scale, at these rates and prevalence."""
        values = (
            metric
            and point_intervals.to_unbounded(
                metric.from_columns(*rates_and_eta.values()), point_intervals.scale_bounds(metric)
            )
            for metric in metrics
        )
        return pick_by_number(METRIC_NUMBER, values, pl.lit(None, dtype=pl.Float64))

    eta, eta_error = pl.col("eta"), pl.col(A + EtaError.STANDARD_ERROR)
    end_exprs: dict[str, pl.Expr] = {}
    move_exprs: dict[str, pl.Expr] = {}
    for side in SIDES:
        estimate_by_name = {
            class_name: pl.col(side + rate_column) for class_name, rate_column in _RATE_COLUMNS.items()
        } | {"eta": eta}
        for class_name in AMOUNTS:
            variance = estimate_by_name[class_name] * (1 - estimate_by_name[class_name])
            error = (variance / repeat_in_rows(pl.col(ALL_PREFIX + class_name) + 1, variance)).sqrt()
            end_exprs |= {
                f"{side}{class_name}_{sign}": estimate_by_name[class_name] + sign * error
                for sign in (-0.5, 0.5)
            }
            low_value, high_value = (
                evaluate(estimate_by_name | {class_name: pl.col(f"{side}{class_name}_{sign}")})
                for sign in (-0.5, 0.5)
            )
            move_exprs[side + _MOVE_COLUMNS[class_name]] = (high_value - low_value).abs()
        if has_counted_eta:
            # The logit of eta, less and plus half its error.
            eta_ends = (1 / (1 + (sign * eta_error / 2).exp() / (eta / (1 - eta))) for sign in (1, -1))
            low_value, high_value = (
                evaluate(estimate_by_name | {"eta": eta_end}) for eta_end in eta_ends
            )
            move_exprs[side + MOVE_NAMES["eta"]] = (
                pl.when(eta_error > 0).then(high_value - low_value).otherwise(0.0)
            )
    return point_pairs.with_columns(**end_exprs).with_columns(**move_exprs)
