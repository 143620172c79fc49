"""The error of a prevalence that is itself an estimate, in the intervals of curve metrics.

The metrics and their intervals are computed three times, at eta and at both ends of its interval. The
error of the sample is the interval at eta. That of eta is how far the value moves to either end. Both
are added in quadrature, on a scale where the metric is unbounded, as in the bands of point metrics.

Source: Zou and Donner 2008.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import product

import polars as pl

from polars_prcurve.core.confidence.estimates import add_eta_limits
from polars_prcurve.core.confidence.interval_input_columns import ETA_LOW, EtaError
from polars_prcurve.core.confidence.point_intervals import (
    SLOPE_SCALE,
    combine_distances,
    from_unbounded,
    measure_distances,
    sum_slopes,
    to_unbounded,
)
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.curves.bands_and_guarantees_of_parts import (
    RATES_AT_ETAS,
    add_moved_etas,
    add_part_rates,
    add_squares,
)
from polars_prcurve.core.curves.curve_metric_values import CurveSegments
from polars_prcurve.core.curves.curve_segments import add_extents
from polars_prcurve.core.curves.metric_and_band_columns import build_metric_rows
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows, sum_shares, to_whole_shares
from polars_prcurve.core.ground.logit import from_logit, to_logit
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.curve_metric import CurveFacts, CurveMetric, odds_against
from polars_prcurve.core.metrics.segment_column_names import Segment
from polars_prcurve.core.prevalence.eta_table import class_factors
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.published_points import add_row_before
from polars_prcurve.core.sweep.sweep_column_names import Sweep
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables
from polars_prcurve.core.sweep.sweep_table import PART, build_part_counts
from polars_prcurve.core.uncertainty.analytic_intervals import CurvesWithErrors
from polars_prcurve.core.uncertainty.influence import CLASS_SIZE_COLUMNS, build_influences

ETA_ENDS = ("at_low", "at_high")
"""What follows the name of a metric in the columns of its values at both ends of eta."""
# Columns with a value and both ends of its interval, on the scale where it is unbounded.
_SCALED_VALUE, _SCALED_LOW, _SCALED_HIGH = (f"{RESERVED}scaled{kind}" for kind in ("", "_low", "_high"))
# What a column with a mean slope begins with, before a kind of influence.
_SLOPE_PREFIX = f"{RESERVED}slope_"
_SCALED_ENDS = [f"{RESERVED}scaled_{end}" for end in ETA_ENDS]  # the values at both ends, on it


def carry_eta_errors(
    population_values: pl.LazyFrame,
    populations: pl.LazyFrame,
    metrics_by_name: Mapping[str, CurveMetric],
    curves: CurvesWithErrors,
) -> pl.LazyFrame:
    """Let the intervals of metrics carry the error of eta; an exact one changes not the last bit."""
    moved_metrics_by_name = {
        name: metric
        for name, metric in metrics_by_name.items()
        if metric.depends_on_eta and metric.recipe.influence is not None
    }
    shared_columns: list[str] | None = None
    if EtaError.REFERENCE in populations.collect_schema():  # eta was estimated with the table itself
        shared_rows = _build_shared_errors(curves.curves, populations, moved_metrics_by_name)
        shared_columns = shared_rows.collect_schema().names()
        population_values = population_values.join(shared_rows, on=Population.NUMBER, how="left")
    endings = ("", "_low", "_high")
    population_values = add_values_at_ends(
        population_values, populations, moved_metrics_by_name, endings, curves
    )
    for name, metric in moved_metrics_by_name.items():
        values_at_ends = [pl.col(f"{name}_{end}") for end in ETA_ENDS]
        population_values = population_values.with_columns(
            to_unbounded(value_at_end, metric.range).alias(scaled_column)
            for scaled_column, value_at_end in zip(_SCALED_ENDS, values_at_ends, strict=True)
        )
        distances = (
            *measure_distances(pl.col(_SCALED_VALUE), [pl.col(end) for end in _SCALED_ENDS]),
            # The ends of eta are 2 z standard errors apart.
            (values_at_ends[1] - values_at_ends[0]) * (0.5 / z_value(curves.confidence)),
        )
        ends_at_etas = [(pl.col(f"{name}_{end}_low"), pl.col(f"{name}_{end}_high")) for end in ETA_ENDS]
        correlations = []
        if shared_columns is not None:
            correlations = [_correlate_with_eta(name, shared_columns, values_at_ends)]
        population_values = widen_intervals(
            population_values, name, metric, distances, ends_at_etas, shared_errors=correlations
        )
    return population_values


def add_values_at_ends(
    population_values: pl.LazyFrame,
    populations: pl.LazyFrame,
    metrics_by_name: Mapping[str, CurveMetric],
    endings: Sequence[str],
    curves: CurveSegments | CurvesWithErrors,
) -> pl.LazyFrame:
    """Add each `<name><kind>` at both ends of eta, as `<name>_<end><kind>` with an end of ETA_ENDS."""
    populations = add_eta_limits(populations)
    sizes = curves.curves.sizes if isinstance(curves, CurvesWithErrors) else curves.sizes
    for limit_column, eta_end in zip(EtaError.LIMITS, ETA_ENDS, strict=True):
        moved_populations = populations.with_columns(pl.col(limit_column).alias("eta"))
        moved_populations = moved_populations.with_columns(
            *class_factors(pl.col("eta"), pl.col(EtaError.IS_OWN), *sizes),
            odds_against(pl.col("eta")).alias(Segment.ODDS),
        )
        end_values = curves.compute_values(moved_populations, metrics_by_name)
        end_exprs = (
            pl.col(f"{name}{ending}").alias(f"{name}_{eta_end}{ending}")
            for name, ending in product(metrics_by_name, endings)
        )
        end_rows = end_values.select(Population.NUMBER, *end_exprs)
        population_values = population_values.join(end_rows, on=Population.NUMBER, how="left")
    return population_values


def _build_shared_errors(
    curves: CurveSegments, populations: pl.LazyFrame, moved_metrics_by_name: Mapping[str, CurveMetric]
) -> pl.LazyFrame:
    """Return by NUMBER what errors of metrics share with that of eta: sums of influence times slope."""
    slope_scale = pl.col(EtaError.REFERENCE).struct.field(SLOPE_SCALE)
    shared_rows = populations.select(Population.NUMBER)
    recall, fpr = pl.col(Segment.RECALL_BEFORE), pl.col(Segment.FPR_BEFORE)
    class_and_ends_by_kind = {
        "pos": ("pos", recall, recall + pl.col(Segment.RISE)),
        "neg": ("neg", fpr, fpr + pl.col(Segment.RUN)),
        "gap": ("neg", fpr - pl.col(Segment.FPR_GAP), fpr),
    }
    for influence_table in build_influences(
        curves, populations, moved_metrics_by_name, [EtaError.REFERENCE]
    ):
        slope_exprs, term_exprs, sum_exprs = {}, {}, {}
        for kind, (class_name, start, end) in class_and_ends_by_kind.items():
            slope = sum_slopes(class_name, end) - sum_slopes(class_name, start)
            slope_exprs[_SLOPE_PREFIX + kind] = slope / slope_scale
        for name in influence_table.names:
            for class_name, kinds in (("pos", ["pos"]), ("neg", ["neg", "gap"])):
                # Less their mean, influences are at most twice their scale, and so are their sums.
                scale_column, column = f"{name}_{class_name}_scale", f"{name}_{class_name}_with_eta"
                product_exprs = (
                    pl.col(f"{name}_{kind}") * pl.col(f"{_SLOPE_PREFIX}{kind}") for kind in kinds
                )
                term_exprs[column] = to_whole_shares(
                    sum(product_exprs, pl.lit(0.0)) / pl.col(scale_column) * 0.25
                )
                term_exprs[scale_column] = pl.col(scale_column) * slope_scale * 4
                sum_exprs[column] = sum_shares(pl.col(column)) * pl.col(scale_column).first()
        influence_rows = influence_table.score_rows.with_columns(**slope_exprs)
        term_rows = influence_rows.select(Population.NUMBER, **term_exprs)
        population_sums = term_rows.group_by(Population.NUMBER).agg(**sum_exprs)
        shared_rows = shared_rows.join(population_sums, on=Population.NUMBER, how="left")
    return shared_rows


def _correlate_with_eta(
    value_name: str, shared_columns: Sequence[str], values_at_ends: Sequence[pl.Expr]
) -> pl.Expr:
    """Return the correlation of how the errors of the sample and of eta move a metric; 1 if unknown."""
    error_columns = [f"{value_name}_{class_name}_with_eta" for class_name in CLASS_SIZE_COLUMNS]
    if error_columns[0] not in shared_columns:
        return pl.lit(1.0)
    names_and_sizes = zip(error_columns, CLASS_SIZE_COLUMNS.values(), strict=True)
    shared_error = sum(
        (
            pl.col(error_column) / pl.col(size_column).sqrt()
            for error_column, size_column in names_and_sizes
        ),
        pl.lit(0.0),
    )
    direction = (values_at_ends[1] - values_at_ends[0]).sign()
    correlation = (shared_error / pl.col(f"{value_name}_error")).clip(-1.0, 1.0) * direction
    return correlation.fill_nan(None).fill_null(1.0)


def widen_intervals(
    population_values: pl.LazyFrame,
    value_name: str,
    metric: CurveMetric,
    distances: Sequence[pl.Expr],
    interval_ends: Sequence[tuple[pl.Expr, pl.Expr]],
    *,
    shared_errors: Sequence[pl.Expr] = (),
) -> pl.LazyFrame:
    """Add distances below, above, and of the error, to an interval in quadrature unless eta is exact."""
    value, low, high = pl.col(value_name), pl.col(f"{value_name}_low"), pl.col(f"{value_name}_high")
    population_values = population_values.with_columns(
        to_unbounded(expr, metric.range).alias(scaled_column)
        for scaled_column, expr in zip(
            (_SCALED_VALUE, _SCALED_LOW, _SCALED_HIGH), (value, low, high), strict=True
        )
    )
    distance_below, distance_above, error_distance = distances
    scaled_value, scaled_low, scaled_high = map(pl.col, (_SCALED_VALUE, _SCALED_LOW, _SCALED_HIGH))
    scaled_ends = {
        "low": scaled_value
        - combine_distances([scaled_value - scaled_low, distance_below], shared_errors=shared_errors),
        "high": scaled_value
        + combine_distances([scaled_high - scaled_value, distance_above], shared_errors=shared_errors),
    }
    # A value at a bound is infinitely far on the scale: its ends are the outermost of `interval_ends`.
    is_inside = scaled_value.is_finite()
    error = pl.col(f"{value_name}_standard_error")
    changed_exprs = {
        "standard_error": combine_distances([error, error_distance], shared_errors=shared_errors)
    }
    outermost_functions = pl.min_horizontal, pl.max_horizontal
    for (side, scaled_end), side_ends, find_outermost in zip(
        scaled_ends.items(), zip(*interval_ends, strict=True), outermost_functions, strict=True
    ):
        has_ends = pl.all_horizontal(end_value.is_not_null() for end_value in (value, *side_ends))
        outermost_value = pl.when(has_ends).then(find_outermost(value, *side_ends))
        moved_end = from_unbounded(scaled_end, metric.range)
        changed_exprs[side] = pl.when(is_inside).then(moved_end).otherwise(outermost_value)
    is_exact = pl.col(ETA_LOW).is_null()
    return population_values.with_columns(
        pl.when(is_exact)
        .then(f"{value_name}_{kind}")
        .otherwise(changed_expr)
        .alias(f"{value_name}_{kind}")
        for kind, changed_expr in changed_exprs.items()
    )


# The prevalences of the parts of a field -------------------------------------------------------

# If the prevalence of one part moves, so does the curve of the field: recall and fpr are sums over
# parts, by their prevalences. So areas are computed of two more curves for each part, with its
# prevalence at either end of its interval. How far the area moves is one distance per part. All are
# added in quadrature to that of the sample, on a scale where the area is unbounded (Zou and Donner
# 2008).

_FIELD_NUMBER = f"{RESERVED}field"  # the number of a field
_END_NUMBER = f"{RESERVED}end"  # 0 for the low end of an eta, 1 for the high one
_RATE_COLUMNS = ("recall", "fpr", "eta")  # what a column of RATES_AT_ETAS holds
_VALUE_ENDINGS = (
    "of_field",
    "at_0",
    "at_1",
)  # endings of columns with values at eta, and at both ends of it
_ETA_ENDINGS = ("eta_below", "eta_above", "eta_error")  # endings of columns with what prevalences add


def carry_part_eta_errors(
    population_values: pl.LazyFrame,
    populations: pl.LazyFrame,
    metrics_by_name: Mapping[str, CurveMetric],
    table: ScoreTable,
    sweep: SweepTables,
    *,
    confidence: float,
) -> pl.LazyFrame:
    """Let the intervals of areas of fields carry the errors of the prevalences of their parts."""
    # Areas that do not depend on one prevalence depend on how parts differ in it.
    assert table.parts is not None
    moved_metrics_by_name = {
        name: metric for name, metric in metrics_by_name.items() if metric.recipe.influence is not None
    }
    if not (moved_metrics_by_name and table.parts.uncertain_eta):
        return population_values
    population_values = population_values.cache()  # from which values at other etas are measured, too
    field_exprs = [pl.col(name).alias(f"{name}_of_field") for name in moved_metrics_by_name]
    part_rows = _compute_moved_values(
        table, sweep, populations.select(Group.NUMBER, "eta"), moved_metrics_by_name
    )
    part_rows = part_rows.join(population_values.select(Group.NUMBER, *field_exprs), on=Group.NUMBER)
    part_rows = part_rows.with_columns(
        to_unbounded(pl.col(f"{name}_{ending}"), metric.range).alias(f"{name}_{ending}_scaled")
        for name, metric in moved_metrics_by_name.items()
        for ending in _VALUE_ENDINGS
    )
    square_exprs = _square_distances(moved_metrics_by_name, confidence)
    square_sum_exprs = (add_squares(pl.col(column)).alias(column) for column in square_exprs)
    field_rows = (
        part_rows.select(Group.NUMBER, **square_exprs).group_by(Group.NUMBER).agg(square_sum_exprs)
    )
    population_values = add_eta_limits(population_values.join(field_rows, on=Group.NUMBER, how="left"))
    for name, metric in moved_metrics_by_name.items():
        distances = [pl.col(f"{name}_{ending}").sqrt() for ending in _ETA_ENDINGS]
        # At a bound no distance is known. The logit of a mean of precisions moves no more than that of
        # eta does.
        eta_logit, eta_shifts = to_logit(pl.col("eta")), [pl.lit(0.0)] * 2
        if metric.depends_on_eta:
            eta_shifts = [to_logit(pl.col(end)) - eta_logit for end in EtaError.LIMITS]
        low_logit, high_logit = (to_logit(pl.col(f"{name}_{end}")) for end in ("low", "high"))
        interval_ends = [
            (from_logit(low_logit + eta_shift), from_logit(high_logit + eta_shift))
            for eta_shift in eta_shifts
        ]
        population_values = widen_intervals(population_values, name, metric, distances, interval_ends)
    return population_values


def _square_distances(metric_names: Iterable[str], confidence: float) -> dict[str, pl.Expr]:
    """Return the squares of how far one part moves a metric down and up, and of its error, by column."""
    # Columns, so that each is computed once.
    square_exprs = {}
    for name in metric_names:
        scaled_value, *scaled_ends = (pl.col(f"{name}_{ending}_scaled") for ending in _VALUE_ENDINGS)
        error = (pl.col(f"{name}_at_1") - pl.col(f"{name}_at_0")) * (0.5 / z_value(confidence))
        distances_and_error = *measure_distances(scaled_value, scaled_ends), error
        for ending, distance in zip(_ETA_ENDINGS, distances_and_error, strict=True):
            square_exprs[f"{name}_{ending}"] = distance * distance
    return square_exprs


def _compute_moved_values(
    table: ScoreTable, sweep: SweepTables, eta_rows: pl.LazyFrame, metrics: Mapping[str, CurveMetric]
) -> pl.LazyFrame:
    """Return one row per field and part, with the value of each metric at both ends of the eta."""
    moved_points = _move_points(table, sweep, eta_rows)
    curve_exprs = pl.col(_FIELD_NUMBER, PART, _END_NUMBER, "eta")
    curve_rows = moved_points.group_by(Group.NUMBER).agg(curve_exprs.first()).sort(Group.NUMBER)
    segments = add_extents(add_row_before(moved_points.select(Group.NUMBER, "recall", "fpr")))
    eta, null_size = pl.col("eta"), pl.lit(None, dtype=pl.Float64)
    has_classes = pl.lit(True), eta.is_not_null()
    facts = CurveFacts(
        repeat_in_rows(eta, pl.col(Population.NUMBER)),
        *has_classes,
        pl.col(Segment.LEAST_FPR),
        None,
        None,
    )
    build_rows = partial(build_metric_rows, None)
    curves = CurveSegments(
        curve_rows, {False: segments.cache()}, (null_size, null_size), facts, build_rows
    )
    # The factors are of counts, and there are none.
    factor_exprs = (pl.lit(1.0).alias(name) for name in (Population.POS_FACTOR, Population.NEG_FACTOR))
    populations = curve_rows.with_row_index(Population.NUMBER).with_columns(
        odds_against(eta).alias(Segment.ODDS), *factor_exprs
    )
    population_values = curves.compute_values(populations, metrics)
    end_exprs = (
        pl.col(name).filter(pl.col(_END_NUMBER) == end_number).first().alias(f"{name}_at_{end_number}")
        for name, end_number in product(metrics, (0, 1))
    )
    part_rows = population_values.group_by(_FIELD_NUMBER, PART).agg(end_exprs)
    return part_rows.rename({_FIELD_NUMBER: Group.NUMBER})


def _move_points(table: ScoreTable, sweep: SweepTables, eta_rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the points of the curves of fields, with each part at both ends of its eta."""
    # Points of a field on which recall rises, and those before, from the highest score down.
    is_rise = pl.col(Sweep.CUM_POS) > pl.col(Sweep.CUM_POS_ABOVE)
    curve_points = sweep.rows.filter(is_rise | is_rise.shift(-1).fill_null(value=False))
    field_points = curve_points.select(*table.by, Group.NUMBER, Row.SCORE, "recall", "fpr")
    part_points = field_points.drop(table.by).join(
        build_part_counts(table, field_points), on=[Group.NUMBER, Row.SCORE]
    )
    part_points = add_moved_etas(add_part_rates(part_points.join(eta_rows, on=Group.NUMBER)))
    key_exprs = (pl.col(Group.NUMBER).alias(_FIELD_NUMBER), PART, Row.SCORE)
    end_points = (
        part_points.select(
            *key_exprs,
            pl.lit(end_number).alias(_END_NUMBER),
            **dict(zip(_RATE_COLUMNS, map(pl.col, rate_columns), strict=True)),
        )
        for end_number, rate_columns in enumerate(RATES_AT_ETAS)
    )
    curve_number = (pl.col(PART) * 2 + pl.col(_END_NUMBER)).cast(pl.UInt32).alias(Group.NUMBER)
    moved_points = pl.concat(end_points).with_columns(curve_number)
    return moved_points.sort(Group.NUMBER, Row.SCORE, descending=[False, True]).cache()
