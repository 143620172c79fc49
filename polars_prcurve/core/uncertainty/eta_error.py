"""The error of a prevalence that is itself an estimate, in the intervals of curve metrics.

The metrics and their intervals are computed three times, at eta and at both ends of its interval. The
error of the sample is the interval at eta. That of eta is how far the value moves to either end. Both
are added in quadrature, on a scale where the metric is unbounded, as in the bands of point metrics.

Source: Zou and Donner 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import TypeAlias

import polars as pl

from polars_prcurve.core.confidence.interval_inputs import ETA_LOW, EtaError
from polars_prcurve.core.confidence.intervals import add_eta_limits, z_value
from polars_prcurve.core.confidence.point_intervals import (
    SLOPE_SCALE,
    combine_distances,
    from_unbounded,
    measure_distances,
    sum_slopes,
    to_unbounded,
)
from polars_prcurve.core.curves.curve_segments import CurveSegments, add_extents
from polars_prcurve.core.curves.curve_table import build_metric_rows
from polars_prcurve.core.curves.field_intervals import (
    RATES_AT_ETAS,
    add_moved_etas,
    add_part_rates,
    add_squares,
)
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows, sum_shares, to_whole_shares
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.input_tables import ScoreTable
from polars_prcurve.core.inputs.row_columns import Group, Row
from polars_prcurve.core.metrics.curve_metric import CurveFacts, CurveMetric, odds_against
from polars_prcurve.core.metrics.segment_columns import Segment
from polars_prcurve.core.prevalence.eta_grid import class_factors
from polars_prcurve.core.prevalence.group_eta_columns import Pair
from polars_prcurve.core.sweep.grouped_rows import SweepTables
from polars_prcurve.core.sweep.sweep_columns import Sweep
from polars_prcurve.core.sweep.sweep_table import PART, add_row_before, build_part_counts
from polars_prcurve.core.uncertainty.analytic import from_logit, has_analytic_interval, to_logit
from polars_prcurve.core.uncertainty.influence import CLASS_SIZE_COLUMNS, build_influences

BuildValues: TypeAlias = Callable[[pl.LazyFrame, Mapping[str, CurveMetric]], pl.LazyFrame]
"""From pairs and metrics to a row of values for each pair."""
ETA_ENDS = ("at_low", "at_high")
"""What follows the name of a metric in the columns of its values at both ends of eta."""
# Columns with a value and both ends of its interval, on the scale where it is unbounded.
_MIDDLE, _LEAST, _MOST = (f"{RESERVED}scaled{kind}" for kind in ("", "_low", "_high"))
_SLOPE = f"{RESERVED}slope_"  # what a column with a mean slope begins with, before a kind of influence
_SCALED_ENDS = [f"{RESERVED}scaled_{end}" for end in ETA_ENDS]  # the values at both ends, on it


def carry_eta_errors(
    values: pl.LazyFrame,
    curves: CurveSegments,
    pairs: pl.LazyFrame,
    named: Mapping[str, CurveMetric],
    *,
    build_values: BuildValues,
    confidence: float,
) -> pl.LazyFrame:
    """Let the intervals of metrics carry the error of eta; an exact one changes not the last bit."""
    shared_columns: list[str] | None = None
    if EtaError.REFERENCE in pairs.collect_schema():  # eta was estimated with the table itself
        shared = _build_shared_errors(curves, pairs, named)
        shared_columns, values = (
            shared.collect_schema().names(),
            values.join(shared, on=Pair.NUMBER, how="left"),
        )
    moved_metrics = {
        n: metric
        for n, metric in named.items()
        if metric.depends_on_eta and has_analytic_interval(metric)
    }
    kinds = ("", "_low", "_high")
    values = add_values_at_ends(values, pairs, moved_metrics, kinds, curves, build_values=build_values)
    for name, metric in moved_metrics.items():
        at_ends = [pl.col(f"{name}_{end}") for end in ETA_ENDS]
        values = values.with_columns(
            to_unbounded(at_end, metric.range).alias(scaled)
            for scaled, at_end in zip(_SCALED_ENDS, at_ends, strict=True)
        )
        distances = (
            *measure_distances(pl.col(_MIDDLE), [pl.col(end) for end in _SCALED_ENDS]),
            # The ends of eta are 2 z standard errors apart.
            (at_ends[1] - at_ends[0]) * (0.5 / z_value(confidence)),
        )
        corners = [(pl.col(f"{name}_{end}_low"), pl.col(f"{name}_{end}_high")) for end in ETA_ENDS]
        common = [] if shared_columns is None else [_correlate_with_eta(name, shared_columns, at_ends)]
        values = widen_intervals(values, name, metric, distances, corners, shared=common)
    return values


def add_values_at_ends(
    values: pl.LazyFrame,
    pairs: pl.LazyFrame,
    metrics: Mapping[str, CurveMetric],
    kinds: Sequence[str],
    curves: CurveSegments,
    *,
    build_values: BuildValues | None = None,
) -> pl.LazyFrame:
    """Add each `<name><kind>` at both ends of eta, as `<name>_<end><kind>` with an end of ETA_ENDS."""
    pairs = add_eta_limits(pairs)
    for limit, end in zip(EtaError.LIMITS, ETA_ENDS, strict=True):
        moved_pairs = pairs.with_columns(pl.col(limit).alias("eta"))
        moved_pairs = moved_pairs.with_columns(
            *class_factors(pl.col("eta"), pl.col(EtaError.IS_OWN), *curves.sizes),
            odds_against(pl.col("eta")).alias(Segment.ODDS),
        )
        at_end = (build_values or curves.compute_values)(moved_pairs, metrics).select(
            Pair.NUMBER,
            *(pl.col(f"{n}{kind}").alias(f"{n}_{end}{kind}") for n in metrics for kind in kinds),
        )
        values = values.join(at_end, on=Pair.NUMBER, how="left")
    return values


def _build_shared_errors(
    curves: CurveSegments, pairs: pl.LazyFrame, named: Mapping[str, CurveMetric]
) -> pl.LazyFrame:
    """Return by NUMBER what errors of metrics share with that of eta: sums of influence times slope."""
    moved_metrics = {
        name: metric
        for name, metric in named.items()
        if metric.depends_on_eta and metric.recipe.influence
    }
    scale = pl.col(EtaError.REFERENCE).struct.field(SLOPE_SCALE)
    shared = pairs.select(Pair.NUMBER)
    recall, fpr = pl.col(Segment.RECALL_BEFORE), pl.col(Segment.FPR_BEFORE)
    stretches = {
        "pos": ("pos", recall, recall + pl.col(Segment.RISE)),
        "neg": ("neg", fpr, fpr + pl.col(Segment.RUN)),
        "gap": ("neg", fpr - pl.col(Segment.FPR_GAP), fpr),
    }
    for influences in build_influences(curves, pairs, moved_metrics, [EtaError.REFERENCE]):
        slopes, terms, sums = {}, {}, {}
        for kind, (class_side, start, end) in stretches.items():
            slope = sum_slopes(class_side, end) - sum_slopes(class_side, start)
            slopes[_SLOPE + kind] = slope / scale
        for name in influences.names:
            for side, kinds in (("pos", ["pos"]), ("neg", ["neg", "gap"])):
                # Less their mean, influences are at most twice their size, and so are their sums.
                size, column = f"{name}_{side}_size", f"{name}_{side}_with_eta"
                products = (pl.col(f"{name}_{kind}") * pl.col(f"{_SLOPE}{kind}") for kind in kinds)
                terms[column] = to_whole_shares(sum(products, pl.lit(0.0)) / pl.col(size) * 0.25)
                terms[size] = pl.col(size) * scale * 4
                sums[column] = sum_shares(pl.col(column)) * pl.col(size).first()
        frame = influences.frame.with_columns(**slopes)
        pair_sums = frame.select(Pair.NUMBER, **terms).group_by(Pair.NUMBER).agg(**sums)
        shared = shared.join(pair_sums, on=Pair.NUMBER, how="left")
    return shared


def _correlate_with_eta(name: str, shared_columns: Sequence[str], at_ends: Sequence[pl.Expr]) -> pl.Expr:
    """Return the correlation of how the errors of the sample and of eta move a metric; 1 if unknown."""
    columns = [f"{name}_{side}_with_eta" for side in CLASS_SIZE_COLUMNS]
    if columns[0] not in shared_columns:
        return pl.lit(1.0)
    of_classes = zip(columns, CLASS_SIZE_COLUMNS.values(), strict=True)
    shared = sum((pl.col(column) / pl.col(size).sqrt() for column, size in of_classes), pl.lit(0.0))
    moves = (at_ends[1] - at_ends[0]).sign()
    correlation = (shared / pl.col(f"{name}_error")).clip(-1.0, 1.0) * moves
    return correlation.fill_nan(None).fill_null(1.0)


def widen_intervals(
    frame: pl.LazyFrame,
    name: str,
    metric: CurveMetric,
    distances: Sequence[pl.Expr],
    corners: Sequence[tuple[pl.Expr, pl.Expr]],
    *,
    shared: Sequence[pl.Expr] = (),
) -> pl.LazyFrame:
    """Add distances below, above, and of the error, to an interval in quadrature unless eta is exact."""
    value, low, high = pl.col(name), pl.col(f"{name}_low"), pl.col(f"{name}_high")
    frame = frame.with_columns(
        to_unbounded(column, metric.range).alias(scaled)
        for scaled, column in zip((_MIDDLE, _LEAST, _MOST), (value, low, high), strict=True)
    )
    of_below, of_above, of_error = distances
    middle, lowest, highest = map(pl.col, (_MIDDLE, _LEAST, _MOST))
    ends = {
        "low": middle - combine_distances([middle - lowest, of_below], shared=shared),
        "high": middle + combine_distances([highest - middle, of_above], shared=shared),
    }
    # A value at a bound is infinitely far on the scale: its ends are the outermost of `corners`.
    inside = middle.is_finite()
    error = pl.col(f"{name}_standard_error")
    changed = {"standard_error": combine_distances([error, of_error], shared=shared)}
    outermost = pl.min_horizontal, pl.max_horizontal
    for (side, end), of_side, choose in zip(
        ends.items(), zip(*corners, strict=True), outermost, strict=True
    ):
        has_ends = pl.all_horizontal(end_value.is_not_null() for end_value in (value, *of_side))
        corner = pl.when(has_ends).then(choose(value, *of_side))
        moved_end = from_unbounded(end, metric.range)
        changed[side] = pl.when(inside).then(moved_end).otherwise(corner)
    has_interval = changed["low"].is_not_null() | changed["high"].is_not_null()
    at_bound = has_interval & pl.col(f"{name}_reliable").is_null()
    changed["reliable"] = pl.coalesce(f"{name}_reliable", pl.when(at_bound).then(False))
    changed["why"] = pl.coalesce(f"{name}_why", pl.when(at_bound).then(pl.lit("eta at 0 or 1")))
    is_exact = pl.col(ETA_LOW).is_null()
    return frame.with_columns(
        pl.when(is_exact).then(f"{name}_{kind}").otherwise(expr).alias(f"{name}_{kind}")
        for kind, expr in changed.items()
    )


# The prevalences of the parts of a field -------------------------------------------------------

# If the prevalence of one part moves, so does the curve of the field: recall and fpr are sums over
# parts, by their prevalences. So areas are computed of two more curves for each part, with its
# prevalence at either end of its interval. How far the area moves is one distance per part. All are
# added in quadrature to that of the sample, on a scale where the area is unbounded (Zou and Donner
# 2008).

_FIELD, _END = f"{RESERVED}field", f"{RESERVED}end"  # number of a field, and of an end of eta
_RATES = ("recall", "fpr", "eta")  # what a column of RATES_AT_ETAS holds
_SIDES = ("eta_below", "eta_above", "eta_error")  # endings of columns with what prevalences add


def carry_part_eta_errors(
    values: pl.LazyFrame,
    pairs: pl.LazyFrame,
    named: Mapping[str, CurveMetric],
    table: ScoreTable,
    sweep: SweepTables,
    *,
    confidence: float,
) -> pl.LazyFrame:
    """Let the intervals of areas of fields carry the errors of the prevalences of their parts."""
    # Areas that do not depend on one prevalence depend on how parts differ in it.
    assert table.parts is not None
    moved_metrics = {
        name: metric for name, metric in named.items() if metric.recipe.influence is not None
    }
    if not (moved_metrics and table.parts.uncertain_eta):
        return values
    values = values.cache()  # also what values at other prevalences are measured from
    columns = [pl.col(name).alias(f"{name}_of_field") for name in moved_metrics]
    at_ends = _compute_moved_values(table, sweep, pairs.select(Group.NUMBER, "eta"), moved_metrics)
    at_ends = at_ends.join(values.select(Group.NUMBER, *columns), on=Group.NUMBER)
    at_ends = at_ends.with_columns(
        to_unbounded(pl.col(f"{name}_{place}"), metric.range).alias(f"{name}_{place}_scaled")
        for name, metric in moved_metrics.items()
        for place in ("of_field", "at_0", "at_1")
    )
    squares = {}  # of distances below and above, and of errors: columns, so that each is computed once
    for name in moved_metrics:
        middle, *ends = (pl.col(f"{name}_{place}_scaled") for place in ("of_field", "at_0", "at_1"))
        error = (pl.col(f"{name}_at_1") - pl.col(f"{name}_at_0")) * (0.5 / z_value(confidence))
        for side, distance in zip(_SIDES, (*measure_distances(middle, ends), error), strict=True):
            squares[f"{name}_{side}"] = distance * distance
    sums = (add_squares(pl.col(column)).alias(column) for column in squares)
    of_fields = at_ends.select(Group.NUMBER, **squares).group_by(Group.NUMBER).agg(sums)
    values = add_eta_limits(values.join(of_fields, on=Group.NUMBER, how="left"))
    for name, metric in moved_metrics.items():
        distances = [pl.col(f"{name}_{side}").sqrt() for side in _SIDES]
        # At a bound no distance is known. The logit of a mean of precisions moves no more than that of
        # eta does.
        eta, moved_by = to_logit(pl.col("eta")), [pl.lit(0.0)] * 2
        if metric.depends_on_eta:
            moved_by = [to_logit(pl.col(end)) - eta for end in EtaError.LIMITS]
        low, high = (to_logit(pl.col(f"{name}_{end}")) for end in ("low", "high"))
        corners = [(from_logit(low + by), from_logit(high + by)) for by in moved_by]
        values = widen_intervals(values, name, metric, distances, corners)
    return values


def _compute_moved_values(
    table: ScoreTable, sweep: SweepTables, etas: pl.LazyFrame, metrics: Mapping[str, CurveMetric]
) -> pl.LazyFrame:
    """Return one row per field and part, with the value of each metric at both ends of the eta."""
    # Points of a field on which recall rises, and those before, from the highest score down.
    rises = pl.col(Sweep.CUM_POS) > pl.col(Sweep.CUM_POS_ABOVE)
    curve_points = sweep.rows.filter(rises | rises.shift(-1).fill_null(value=False))
    of_field = curve_points.select(*table.by, Group.NUMBER, Row.SCORE, "recall", "fpr")
    parts = of_field.drop(table.by).join(
        build_part_counts(table, of_field), on=[Group.NUMBER, Row.SCORE]
    )
    parts = add_moved_etas(add_part_rates(parts.join(etas, on=Group.NUMBER)))
    keys = (pl.col(Group.NUMBER).alias(_FIELD), PART, Row.SCORE)
    ends = (
        parts.select(
            *keys, pl.lit(end).alias(_END), **dict(zip(_RATES, map(pl.col, at_end), strict=True))
        )
        for end, at_end in enumerate(RATES_AT_ETAS)
    )
    number = (pl.col(PART) * 2 + pl.col(_END)).cast(pl.UInt32).alias(Group.NUMBER)
    points = pl.concat(ends).with_columns(number).sort(Group.NUMBER, Row.SCORE, descending=[False, True])
    points = points.cache()
    groups = (
        points.group_by(Group.NUMBER).agg(pl.col(_FIELD, PART, _END, "eta").first()).sort(Group.NUMBER)
    )
    segments = add_extents(add_row_before(points.select(Group.NUMBER, "recall", "fpr")))
    eta, no_size = pl.col("eta"), pl.lit(None, dtype=pl.Float64)
    has_curve = pl.lit(True), eta.is_not_null()
    facts = CurveFacts(
        repeat_in_rows(eta, pl.col(Pair.NUMBER)), *has_curve, pl.col(Segment.LEAST_FPR), None, None
    )
    build_rows = partial(build_metric_rows, None)
    curves = CurveSegments(groups, {False: segments.cache()}, (no_size, no_size), facts, build_rows)
    # The factors are of counts, and there are none.
    factors = (pl.lit(1.0).alias(name) for name in (Pair.POS_FACTOR, Pair.NEG_FACTOR))
    pairs = groups.with_row_index(Pair.NUMBER).with_columns(
        odds_against(eta).alias(Segment.ODDS), *factors
    )
    values = curves.compute_values(pairs, metrics)
    at_ends = (
        pl.col(name).filter(pl.col(_END) == end).first().alias(f"{name}_at_{end}")
        for name, end in product(metrics, (0, 1))
    )
    return values.group_by(_FIELD, PART).agg(at_ends).rename({_FIELD: Group.NUMBER})
