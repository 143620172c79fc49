"""The error of a prevalence that is itself an estimate, in the intervals of curve metrics.

The metrics and their intervals are computed three times, at eta and at both ends of its interval. The
error of the sample is the interval at eta. That of eta is how far the value moves to either end. Both
are added in quadrature, on a scale where the metric is unbounded, as in the bands of point metrics.

Source: Zou and Donner 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.confidence.bands import (
    add_eta_limits,
    combine_distances,
    from_unbounded,
    measure_distances,
    to_unbounded,
)
from polars_prcurve.confidence.rates import z_value
from polars_prcurve.confidence.reference_slopes import SLOPE_SCALE, sum_slopes
from polars_prcurve.curves.segment_sums import CurveSegments
from polars_prcurve.exact_sums import sum_shares, to_whole_shares
from polars_prcurve.metrics.curve_metric import CurveMetric, odds_against
from polars_prcurve.prevalence.eta_table import class_factors
from polars_prcurve.uncertainty.analytic import has_analytic_interval
from polars_prcurve.uncertainty.influence import CLASS_SIZE_COLUMNS, build_influences

ETA_ENDS = ("at_low", "at_high")
"""What follows the name of a metric in the columns of its values at both ends of eta."""
_MIDDLE, _LEAST, _MOST = (f"{c.RESERVED}scaled{kind}" for kind in ("", "_low", "_high"))
_SLOPE = f"{c.RESERVED}slope_"
_SCALED_ENDS = [f"{c.RESERVED}scaled_{end}" for end in ETA_ENDS]


def carry_eta_errors(
    values: pl.LazyFrame,
    pairs: pl.LazyFrame,
    named: Mapping[str, CurveMetric],
    *,
    sizes: tuple[pl.Expr, pl.Expr],
    build_values: Callable[[pl.LazyFrame, Mapping[str, CurveMetric]], pl.LazyFrame],
    confidence: float,
    shared: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """Let the intervals of metrics carry the error of eta; an exact one changes not even the last bit.

    `values` has one row per pair, and `build_values` makes such rows of pairs at other prevalences: the
    metrics, and `<name>_standard_error`, `_low`, `_high`, `_reliable`. `sizes` are the positives and
    negatives of a group. Where a value is at a bound, which is infinitely far on the scale, the end of
    the interval is the outermost of those at the ends of eta. If eta was estimated with the table
    itself, `shared` has its correlation with metrics for each pair. Where that of a metric is not known,
    both distances add up.
    """
    z = z_value(confidence)
    known = [] if shared is None else shared.collect_schema().names()
    values = values if shared is None else values.join(shared, on=c.PAIR, how="left")
    moved = {
        name: metric
        for name, metric in named.items()
        if metric.depends_on_eta and has_analytic_interval(metric)
    }
    kinds = ("", "_low", "_high")
    values = add_values_at_ends(values, pairs, moved, kinds, sizes=sizes, build_values=build_values)
    for name, metric in moved.items():
        middle, at_ends = pl.col(name), [pl.col(f"{name}_{end}") for end in ETA_ENDS]
        values = values.with_columns(
            to_unbounded(column, metric.range).alias(scaled)
            for scaled, column in zip((_MIDDLE, *_SCALED_ENDS), (middle, *at_ends), strict=True)
        )
        distances = EtaDistances(
            *measure_distances(pl.col(_MIDDLE), [pl.col(scaled) for scaled in _SCALED_ENDS]),
            # The ends of eta are 2 z standard errors apart.
            (at_ends[1] - at_ends[0]) * (0.5 / z),
            None if shared is None else _correlate_with_eta(name, known, at_ends),
        )
        corners = [(pl.col(f"{name}_{end}_low"), pl.col(f"{name}_{end}_high")) for end in ETA_ENDS]
        values = widen_intervals(values, name, metric, distances, corners)
    return values


def add_values_at_ends(
    values: pl.LazyFrame,
    pairs: pl.LazyFrame,
    metrics: Mapping[str, CurveMetric],
    kinds: Sequence[str],
    *,
    sizes: tuple[pl.Expr, pl.Expr],
    build_values: Callable[[pl.LazyFrame, Mapping[str, CurveMetric]], pl.LazyFrame],
) -> pl.LazyFrame:
    """Add each `<name><kind>` at both ends of eta, as `<name>_<end><kind>` with an end of ETA_ENDS."""
    pairs = add_eta_limits(pairs)
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


def build_shared_errors(
    curves: CurveSegments, pairs: pl.LazyFrame, named: Mapping[str, CurveMetric]
) -> pl.LazyFrame:
    """Return one row per pair: what the errors of metrics with influences share with that of eta.

    The pairs have ETA_REFERENCE. Columns are `<name>_pos_with_eta` and `_neg_with_eta`, sums over the
    shares of examples of influence times slope.
    """
    moved = {name: of for name, of in named.items() if of.depends_on_eta and of.recipe.influence}
    shared, scale = pairs.select(c.PAIR), pl.col(c.ETA_REFERENCE).struct.field(SLOPE_SCALE)
    recall, fpr = pl.col(c.RECALL_BEFORE), pl.col(c.FPR_BEFORE)
    stretches = {
        "pos": ("pos", recall, recall + pl.col(c.RISE)),
        "neg": ("neg", fpr, fpr + pl.col(c.RUN)),
        "gap": ("neg", fpr - pl.col(c.FPR_GAP), fpr),
    }
    for influences in build_influences(curves, pairs, moved, [c.ETA_REFERENCE]):
        frame = influences.frame.with_columns(
            ((sum_slopes(of, end) - sum_slopes(of, start)) / scale).alias(f"{_SLOPE}{kind}")
            for kind, (of, start, end) in stretches.items()
        )
        terms, sums = {}, {}
        for name in influences.names:
            for side, kinds in (("pos", ["pos"]), ("neg", ["neg", "gap"])):
                # Less their mean, influences are at most twice their size, and so are their sums.
                size, column = f"{name}_{side}_size", f"{name}_{side}_with_eta"
                products = (pl.col(f"{name}_{kind}") * pl.col(f"{_SLOPE}{kind}") for kind in kinds)
                terms[column] = to_whole_shares(sum(products, pl.lit(0.0)) / pl.col(size) * 0.25)
                terms[size] = pl.col(size) * scale * 4
                sums[column] = sum_shares(pl.col(column)) * pl.col(size).first()
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


class EtaDistances(NamedTuple):
    """How far a value moves with prevalence: below and above on its scale, and its standard error."""

    below: pl.Expr
    above: pl.Expr
    error: pl.Expr
    correlation: pl.Expr | None = None
    """That of how the errors of the sample and of eta move the value; None where they are apart."""


def widen_intervals(
    frame: pl.LazyFrame,
    name: str,
    metric: CurveMetric,
    distances: EtaDistances,
    corners: Sequence[tuple[pl.Expr, pl.Expr]],
) -> pl.LazyFrame:
    """Add distances to the interval of a metric in quadrature; leave it as it is where eta is exact.

    `corners` are intervals at the ends of eta, for a value at a bound.
    """
    value, low, high = pl.col(name), pl.col(f"{name}_low"), pl.col(f"{name}_high")
    columns = zip((_MIDDLE, _LEAST, _MOST), (value, low, high), strict=True)
    frame = frame.with_columns(
        to_unbounded(column, metric.range).alias(scaled) for scaled, column in columns
    )
    shared = [] if distances.correlation is None else [distances.correlation]
    middle, least, most = map(pl.col, (_MIDDLE, _LEAST, _MOST))
    ends = {
        "low": middle - combine_distances([middle - least, distances.below], shared=shared),
        "high": middle + combine_distances([most - middle, distances.above], shared=shared),
    }
    inside = middle.is_finite()
    error = pl.col(f"{name}_standard_error")
    changed = {"standard_error": combine_distances([error, distances.error], shared=shared)}
    for side, of_side, outermost in (
        ("low", [corner[0] for corner in corners], pl.min_horizontal),
        ("high", [corner[1] for corner in corners], pl.max_horizontal),
    ):
        known = pl.all_horizontal(end.is_not_null() for end in (value, *of_side))
        corner = pl.when(known).then(outermost(value, *of_side))
        changed[side] = pl.when(inside).then(from_unbounded(ends[side], metric.range)).otherwise(corner)
    has_interval = changed["low"].is_not_null() | changed["high"].is_not_null()
    at_bound = has_interval & pl.col(f"{name}_reliable").is_null()
    changed["reliable"] = pl.coalesce(f"{name}_reliable", pl.when(at_bound).then(False))
    changed["why"] = pl.coalesce(f"{name}_why", pl.when(at_bound).then(pl.lit("eta at 0 or 1")))
    is_exact = pl.col(c.ETA_LOW).is_null()
    return frame.with_columns(
        pl.when(is_exact).then(f"{name}_{kind}").otherwise(expr).alias(f"{name}_{kind}")
        for kind, expr in changed.items()
    )
