"""The error of a prevalence that is itself an estimate, in the intervals of curve metrics.

The metrics and their intervals are computed three times, at eta and at both ends of its interval. The
error of the sample is the interval at eta. That of eta is how far the value moves to either end. Both
are added in quadrature, on a scale where the metric is unbounded, as in the bands of point metrics.

Source: Zou and Donner 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.confidence import point_intervals
from polars_prcurve.confidence.intervals import z_value
from polars_prcurve.curves.curve_segments import CurveSegments
from polars_prcurve.exact_sums import sum_shares, to_whole_shares
from polars_prcurve.metrics.curve_metric import CurveMetric, odds_against
from polars_prcurve.prevalence.eta_argument import class_factors
from polars_prcurve.uncertainty.analytic import has_analytic_interval
from polars_prcurve.uncertainty.influence import CLASS_SIZE_COLUMNS, build_influences

BuildValues: TypeAlias = Callable[[pl.LazyFrame, Mapping[str, CurveMetric]], pl.LazyFrame]
"""From pairs and metrics to a row of values for each pair."""
ETA_ENDS = ("at_low", "at_high")
"""What follows the name of a metric in the columns of its values at both ends of eta."""
_MIDDLE, _LEAST, _MOST = (f"{c.RESERVED}scaled{kind}" for kind in ("", "_low", "_high"))
_SLOPE = f"{c.RESERVED}slope_"
_SCALED_ENDS = [f"{c.RESERVED}scaled_{end}" for end in ETA_ENDS]


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
    known: list[str] | None = None
    if c.ETA_REFERENCE in pairs.collect_schema():  # eta was estimated with the table itself
        shared = _build_shared_errors(curves, pairs, named)
        known, values = shared.collect_schema().names(), values.join(shared, on=c.PAIR, how="left")
    moved = {n: of for n, of in named.items() if of.depends_on_eta and has_analytic_interval(of)}
    values = add_values_at_ends(
        *(values, pairs, moved, ("", "_low", "_high")), sizes=curves.sizes, build_values=build_values
    )
    for name, metric in moved.items():
        at_ends = [pl.col(f"{name}_{end}") for end in ETA_ENDS]
        values = values.with_columns(
            point_intervals.to_unbounded(at_end, metric.range).alias(scaled)
            for scaled, at_end in zip(_SCALED_ENDS, at_ends, strict=True)
        )
        distances = (
            *point_intervals.measure_distances(pl.col(_MIDDLE), [pl.col(end) for end in _SCALED_ENDS]),
            # The ends of eta are 2 z standard errors apart.
            (at_ends[1] - at_ends[0]) * (0.5 / z_value(confidence)),
        )
        corners = [(pl.col(f"{name}_{end}_low"), pl.col(f"{name}_{end}_high")) for end in ETA_ENDS]
        common = [] if known is None else [_correlate_with_eta(name, known, at_ends)]
        values = widen_intervals(values, name, metric, distances, corners, shared=common)
    return values


def add_values_at_ends(
    values: pl.LazyFrame,
    pairs: pl.LazyFrame,
    metrics: Mapping[str, CurveMetric],
    kinds: Sequence[str],
    *,
    sizes: tuple[pl.Expr, pl.Expr],
    build_values: BuildValues,
) -> pl.LazyFrame:
    """Add each `<name><kind>` at both ends of eta, as `<name>_<end><kind>` with an end of ETA_ENDS."""
    pairs = point_intervals.add_eta_limits(pairs)
    for limit, end in zip(c.ETA_LIMITS, ETA_ENDS, strict=True):
        moved = pairs.with_columns(pl.col(limit).alias("eta"))
        moved = moved.with_columns(
            *class_factors(pl.col("eta"), pl.col(c.IS_OWN_ETA), *sizes),
            odds_against(pl.col("eta")).alias(c.ODDS),
        )
        at_end = build_values(moved, metrics).select(
            c.PAIR, *(pl.col(f"{n}{kind}").alias(f"{n}_{end}{kind}") for n in metrics for kind in kinds)
        )
        values = values.join(at_end, on=c.PAIR, how="left")
    return values


def _build_shared_errors(
    curves: CurveSegments, pairs: pl.LazyFrame, named: Mapping[str, CurveMetric]
) -> pl.LazyFrame:
    """Return by PAIR what errors of metrics share with that of eta: sums of influence times slope."""
    moved = {name: of for name, of in named.items() if of.depends_on_eta and of.recipe.influence}
    scale = pl.col(c.ETA_REFERENCE).struct.field(point_intervals.SLOPE_SCALE)
    shared = pairs.select(c.PAIR)
    recall, fpr = pl.col(c.RECALL_BEFORE), pl.col(c.FPR_BEFORE)
    stretches = {
        "pos": ("pos", recall, recall + pl.col(c.RISE)),
        "neg": ("neg", fpr, fpr + pl.col(c.RUN)),
        "gap": ("neg", fpr - pl.col(c.FPR_GAP), fpr),
    }
    for influences in build_influences(curves, pairs, moved, [c.ETA_REFERENCE]):
        slopes, terms, sums = {}, {}, {}
        for kind, (of, start, end) in stretches.items():
            slope = point_intervals.sum_slopes(of, end) - point_intervals.sum_slopes(of, start)
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
        found = frame.select(c.PAIR, **terms).group_by(c.PAIR).agg(**sums)
        shared = shared.join(found, on=c.PAIR, how="left")
    return shared


def _correlate_with_eta(name: str, known: Sequence[str], at_ends: Sequence[pl.Expr]) -> pl.Expr:
    """Return the correlation of how the errors of the sample and of eta move a metric; 1 if unknown."""
    columns = [f"{name}_{side}_with_eta" for side in CLASS_SIZE_COLUMNS]
    if columns[0] not in known:
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
        point_intervals.to_unbounded(column, metric.range).alias(scaled)
        for scaled, column in zip((_MIDDLE, _LEAST, _MOST), (value, low, high), strict=True)
    )
    of_below, of_above, of_error = distances
    middle, least, most = map(pl.col, (_MIDDLE, _LEAST, _MOST))
    ends = {
        "low": middle - point_intervals.combine_distances([middle - least, of_below], shared=shared),
        "high": middle + point_intervals.combine_distances([most - middle, of_above], shared=shared),
    }
    # A value at a bound is infinitely far on the scale: its ends are the outermost of `corners`.
    inside = middle.is_finite()
    error = pl.col(f"{name}_standard_error")
    changed = {"standard_error": point_intervals.combine_distances([error, of_error], shared=shared)}
    outermost = pl.min_horizontal, pl.max_horizontal
    for (side, end), of_side, choose in zip(
        ends.items(), zip(*corners, strict=True), outermost, strict=True
    ):
        known = pl.all_horizontal(at.is_not_null() for at in (value, *of_side))
        corner = pl.when(known).then(choose(value, *of_side))
        moved = point_intervals.from_unbounded(end, metric.range)
        changed[side] = pl.when(inside).then(moved).otherwise(corner)
    has_interval = changed["low"].is_not_null() | changed["high"].is_not_null()
    at_bound = has_interval & pl.col(f"{name}_reliable").is_null()
    changed["reliable"] = pl.coalesce(f"{name}_reliable", pl.when(at_bound).then(False))
    changed["why"] = pl.coalesce(f"{name}_why", pl.when(at_bound).then(pl.lit("eta at 0 or 1")))
    is_exact = pl.col(c.ETA_LOW).is_null()
    return frame.with_columns(
        pl.when(is_exact).then(f"{name}_{kind}").otherwise(expr).alias(f"{name}_{kind}")
        for kind, expr in changed.items()
    )
