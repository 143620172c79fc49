"""Errors of areas in a field of several parts.

Recall and fpr of a field are sums of those of its parts, with weights w that eta and share fix. So an
example of a part moves an area of the field by its influence on the field, less the mean of these
influences among the examples of its part and class: how many of them come from which part is no chance.
With n examples of a class in a part, and the variance V of their influences, the variance of the area is

    sum over parts and classes of w**2 V / n

One example alone does not tell how much the examples of its part differ. Its distance from the mean of
the whole field stands in for that.

Sources: Hampel 1974; Cochran 1977, on stratified samples; Lumley 2004, on strata of one example.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import NamedTuple

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.confidence.intervals import z_value
from polars_prcurve.confidence.point_intervals import add_eta_limits, measure_distances, to_unbounded
from polars_prcurve.curves.curve_segments import CurveSegments, add_extents
from polars_prcurve.curves.curve_table import build_metric_rows
from polars_prcurve.curves.rates_over_parts import (
    RATES_AT_ETAS,
    add_moved_etas,
    add_part_rates,
    add_squares,
)
from polars_prcurve.exact_sums import sum_shares, to_whole_shares
from polars_prcurve.float_bits import repeat_in_rows
from polars_prcurve.group_numbers import join_groups
from polars_prcurve.inputs.score_and_rate_tables import ScoreTable
from polars_prcurve.metrics.curve_metric import CurveFacts, CurveMetric, odds_against
from polars_prcurve.sweep.effective_sizes import CLASS_WEIGHTS, build_class_weights
from polars_prcurve.sweep.group_table import SweepTables, build_groups, build_numbered_rows
from polars_prcurve.sweep.published_rates import add_row_before
from polars_prcurve.sweep.sweep_table import PART, build_part_counts
from polars_prcurve.uncertainty.analytic import from_logit, to_logit
from polars_prcurve.uncertainty.eta_error import widen_intervals
from polars_prcurve.uncertainty.influence import IS_TIED, InfluenceTable, join_influences

_CLASSES = {
    "pos": (c.POS, c.N_POS, CLASS_WEIGHTS[c.N_POS], c.N_POS_EFFECTIVE),
    "neg": (c.NEG, c.N_NEG, CLASS_WEIGHTS[c.N_NEG], c.N_NEG_EFFECTIVE),
}  # the columns of one class: its share in a cell, examples of a part, weight, and effective size
_EFFECTIVE = [effective for *_, effective in _CLASSES.values()]
_FIELD, _END = f"{c.RESERVED}field", f"{c.RESERVED}end"  # number of a field, and of an end of eta
_RATES, _SIDES = ("recall", "fpr", "eta"), ("eta_below", "eta_above", "eta_error")


class PartCells(NamedTuple):
    """The examples of the parts of all fields, by their place among the scores of positives."""

    cells: pl.LazyFrame  # by GROUP of a field, PART, PLACE and IS_TIED, with the shares of both classes
    parts: pl.LazyFrame  # by PART: N_POS, N_NEG, CLASS_WEIGHTS, and the effective sizes of the field


def count_part_cells(table: ScoreTable, sweep: SweepTables) -> PartCells:
    """Return the cells of fields, whose sweep has `effective` sizes and all of its rows."""
    assert table.parts is not None
    of = table.parts.table
    numbered = build_groups(of, [])
    fields = sweep.groups.select(*table.by, pl.col(c.GROUP).alias(_FIELD), *_EFFECTIVE)
    parts = join_groups(numbered.select(*of.by, c.GROUP), build_class_weights(table), of.by)
    parts = join_groups(parts, fields, table.by).rename({c.GROUP: PART, _FIELD: c.GROUP})
    parts = parts.select(PART, c.GROUP, c.N_POS, c.N_NEG, *CLASS_WEIGHTS.values(), *_EFFECTIVE).cache()
    rises = (pl.col(c.CUM_POS) > pl.col(c.CUM_POS_ABOVE)).cast(pl.Int64)
    places = sweep.rows.select(c.GROUP, c.SCORE, rises.alias(c.PLACE))
    places = places.with_columns(
        pl.col(c.PLACE).cum_sum().over(c.GROUP) - pl.col(c.PLACE), (pl.col(c.PLACE) > 0).alias(IS_TIED)
    )
    rows = build_numbered_rows(of, numbered).rename({c.GROUP: PART})
    rows = rows.join(parts.select(PART, c.GROUP, c.N_POS, c.N_NEG), on=PART)
    cells = rows.join(places, on=[c.GROUP, c.SCORE]).group_by(c.GROUP, PART, c.PLACE, IS_TIED)
    # Counts are whole, so that sums of floats lose nothing.
    counted = cells.agg(pl.col(c.POS, c.NEG).sum(), pl.col(c.N_POS, c.N_NEG).first())
    shares = ((pl.col(share) / pl.col(n)).alias(share) for share, n, *_ in _CLASSES.values())
    return PartCells(counted.with_columns(shares).drop(c.N_POS, c.N_NEG).cache(), parts)


def compute_part_variances(of: PartCells, influences: InfluenceTable) -> pl.LazyFrame:
    """Return one row per key: `<name>_pos` and `<name>_neg`, which `standard_error` reads."""
    # Of both classes of the field, times the effective sizes less 1.
    key, names, *_ = influences
    sizes = [f"{name}_{side}_size" for name in names for side in _CLASSES]
    moments = {}
    for name, side in product(names, _CLASSES):
        # Less their mean over the field, influences are at most twice the size.
        scaled = pl.col(f"{name}_{side}") / (2 * pl.col(f"{name}_{side}_size"))
        for power in (1, 2):
            part = scaled**power * pl.col(_CLASSES[side][0])
            moments[f"{name}_{side}_{power}"] = to_whole_shares(part.fill_nan(0.0).fill_null(0.0))
    by_part = (
        join_influences(of.cells, influences).select(key, PART, *sizes, **moments).group_by(key, PART)
    )
    sums = [sum_shares(pl.col(moment)).alias(moment) for moment in moments]
    parts = by_part.agg(sums + [pl.col(size).first() for size in sizes])
    parts = parts.join(of.parts.drop(c.GROUP), on=PART)
    terms, totals = {}, {}
    for name, (side, (_, size, weight, effective)) in product(names, _CLASSES.items()):
        mean, square = pl.col(f"{name}_{side}_1"), pl.col(f"{name}_{side}_2")
        n, weighed = pl.col(size), pl.col(weight)
        within = (square - mean * mean).clip(lower_bound=0.0) / (n - 1)
        variance = pl.when(n > 1).then(within).otherwise(square)
        column = f"{name}_{side}"
        terms[column] = to_whole_shares((weighed * weighed * variance).fill_nan(0.0).fill_null(0.0))
        back = 4 * pl.col(f"{column}_size").first() ** 2
        totals[column] = sum_shares(pl.col(column)) * back * (pl.col(effective).first() - 1)
    return parts.select(key, *sizes, *_EFFECTIVE, **terms).group_by(key).agg(**totals)


# The error of the prevalences of the parts ------------------------------------------------------

# If the prevalence of one part moves, so does the curve of the field: recall and fpr are sums over
# parts, by their prevalences. So areas are computed of two more curves for each part, with its
# prevalence at either end of its interval. How far the area moves is one distance per part. All are
# added in quadrature to that of the sample, on a scale where the area is unbounded (Zou and Donner
# 2008).


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
    moved = {name: metric for name, metric in named.items() if metric.recipe.influence is not None}
    if not (moved and table.parts.uncertain_eta):
        return values
    values = values.cache()  # also what values at other prevalences are measured from
    columns = [pl.col(name).alias(f"{name}_of_field") for name in moved]
    at_ends = _compute_moved_values(table, sweep, pairs.select(c.GROUP, "eta"), moved)
    at_ends = at_ends.join(values.select(c.GROUP, *columns), on=c.GROUP)
    at_ends = at_ends.with_columns(
        to_unbounded(pl.col(f"{name}_{place}"), metric.range).alias(f"{name}_{place}_scaled")
        for name, metric in moved.items()
        for place in ("of_field", "at_0", "at_1")
    )
    squares = {}  # of distances below and above, and of errors: columns, so that each is computed once
    for name in moved:
        middle, *ends = (pl.col(f"{name}_{at}_scaled") for at in ("of_field", "at_0", "at_1"))
        error = (pl.col(f"{name}_at_1") - pl.col(f"{name}_at_0")) * (0.5 / z_value(confidence))
        for side, distance in zip(_SIDES, (*measure_distances(middle, ends), error), strict=True):
            squares[f"{name}_{side}"] = distance * distance
    sums = (
        at_ends.select(c.GROUP, **squares)
        .group_by(c.GROUP)
        .agg(add_squares(pl.col(column)).alias(column) for column in squares)
    )
    values = add_eta_limits(values.join(sums, on=c.GROUP, how="left"))
    for name, metric in moved.items():
        distances = [pl.col(f"{name}_{side}").sqrt() for side in _SIDES]
        # At a bound no distance is known. The logit of a mean of precisions moves no more than that of
        # eta does.
        eta, moved_by = to_logit(pl.col("eta")), [pl.lit(0.0)] * 2
        if metric.depends_on_eta:
            moved_by = [to_logit(pl.col(end)) - eta for end in c.ETA_LIMITS]
        low, high = (to_logit(pl.col(f"{name}_{end}")) for end in ("low", "high"))
        corners = [(from_logit(low + by), from_logit(high + by)) for by in moved_by]
        values = widen_intervals(values, name, metric, distances, corners)
    return values


def _compute_moved_values(
    table: ScoreTable, sweep: SweepTables, etas: pl.LazyFrame, moved: Mapping[str, CurveMetric]
) -> pl.LazyFrame:
    """Return one row per field and part, with the value of each metric at both ends of the eta."""
    # Points of a field on which recall rises, and those before, from the highest score down.
    rises = pl.col(c.CUM_POS) > pl.col(c.CUM_POS_ABOVE)
    kept = sweep.rows.filter(rises | rises.shift(-1).fill_null(value=False))
    of_field = kept.select(*table.by, c.GROUP, c.SCORE, "recall", "fpr")
    parts = of_field.drop(table.by).join(build_part_counts(table, of_field), on=[c.GROUP, c.SCORE])
    parts = add_moved_etas(add_part_rates(parts.join(etas, on=c.GROUP)))
    keys = (pl.col(c.GROUP).alias(_FIELD), PART, c.SCORE)
    ends = (
        parts.select(
            *keys, pl.lit(end).alias(_END), **dict(zip(_RATES, map(pl.col, at_end), strict=True))
        )
        for end, at_end in enumerate(RATES_AT_ETAS)
    )
    number = (pl.col(PART) * 2 + pl.col(_END)).cast(pl.UInt32).alias(c.GROUP)
    points = pl.concat(ends).with_columns(number).sort(c.GROUP, c.SCORE, descending=[False, True])
    points = points.cache()
    groups = points.group_by(c.GROUP).agg(pl.col(_FIELD, PART, _END, "eta").first()).sort(c.GROUP)
    segments = add_extents(add_row_before(points.select(c.GROUP, "recall", "fpr")))
    eta, no_size = pl.col("eta"), pl.lit(None, dtype=pl.Float64)
    has_curve = pl.lit(True), eta.is_not_null()
    facts = CurveFacts(repeat_in_rows(eta, pl.col(c.PAIR)), *has_curve, pl.col(c.LEAST_FPR), None, None)
    build_rows = partial(build_metric_rows, None)
    curves = CurveSegments(groups, {False: segments.cache()}, (no_size, no_size), facts, build_rows)
    # The factors are of counts, and there are none.
    factors = (pl.lit(1.0).alias(name) for name in (c.POS_FACTOR, c.NEG_FACTOR))
    pairs = groups.with_row_index(c.PAIR).with_columns(odds_against(eta).alias(c.ODDS), *factors)
    values = curves.compute_values(pairs, moved)
    at_ends = (
        pl.col(name).filter(pl.col(_END) == end).first().alias(f"{name}_at_{end}")
        for name, end in product(moved, (0, 1))
    )
    return values.group_by(_FIELD, PART).agg(at_ends).rename({_FIELD: c.GROUP})
