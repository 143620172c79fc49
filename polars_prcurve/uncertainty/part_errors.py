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

from itertools import product
from typing import NamedTuple

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.exact_sums import sum_shares, to_whole_shares
from polars_prcurve.group_numbers import join_groups
from polars_prcurve.inputs.score_table import ScoreTable
from polars_prcurve.sweep.group_table import SweepTables, build_groups, build_numbered_rows
from polars_prcurve.sweep.part_counts import PART
from polars_prcurve.sweep.sample_design import CLASS_WEIGHTS, build_class_weights
from polars_prcurve.uncertainty.influence import IS_TIED, InfluenceTable, pick_influence


class _ClassColumns(NamedTuple):
    """The columns of one class: the share of it in a cell, examples of a part, and so on."""

    share: str
    n: str
    weight: str
    effective: str


_CLASSES = {
    "pos": _ClassColumns(c.POS, c.N_POS, CLASS_WEIGHTS[c.N_POS], c.N_POS_EFFECTIVE),
    "neg": _ClassColumns(c.NEG, c.N_NEG, CLASS_WEIGHTS[c.N_NEG], c.N_NEG_EFFECTIVE),
}


class PartCells(NamedTuple):
    """The examples of the parts of all fields, by their place among the scores of positives."""

    cells: pl.LazyFrame
    """One row per GROUP of a field, PART, PLACE and IS_TIED, with the shares of both classes."""
    parts: pl.LazyFrame
    """One row per PART: N_POS and N_NEG, CLASS_WEIGHTS, and the effective sizes of the field."""


def count_part_cells(table: ScoreTable, sweep: SweepTables) -> PartCells:
    """Return the cells of fields, whose sweep has `effective` sizes and all of its rows."""
    assert table.parts is not None
    of = table.parts.table
    numbered = build_groups(of, [])
    sizes = [columns.effective for columns in _CLASSES.values()]
    fields = sweep.groups.select(*table.by, pl.col(c.GROUP).alias(_FIELD), *sizes)
    parts = join_groups(numbered.select(*of.by, c.GROUP), build_class_weights(table), of.by)
    parts = join_groups(parts, fields, table.by).rename({c.GROUP: PART, _FIELD: c.GROUP})
    parts = parts.select(PART, c.GROUP, c.N_POS, c.N_NEG, *CLASS_WEIGHTS.values(), *sizes).cache()
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
    shares = (
        (pl.col(columns.share) / pl.col(columns.n)).alias(columns.share) for columns in _CLASSES.values()
    )
    return PartCells(counted.with_columns(shares).drop(c.N_POS, c.N_NEG).cache(), parts)


_FIELD = f"{c.RESERVED}field"


def compute_part_variances(of: PartCells, influences: InfluenceTable) -> pl.LazyFrame:
    """Return one row per key: `<name>_pos` and `<name>_neg`, which `standard_error` reads.

    They are variances of both classes of the field, times the effective sizes less 1.
    """
    key, names, frame, *_ = influences
    sizes = [f"{name}_{side}_size" for name in names for side in _CLASSES]
    kinds = [f"{name}_{kind}" for name in names for kind in ("pos", "neg", "gap")]
    frame = frame.select(*dict.fromkeys((c.GROUP, key, c.PLACE)), *kinds, *sizes)
    joined = of.cells.join(frame, on=[c.GROUP, c.PLACE])
    moments = {}
    for name, side in product(names, _CLASSES):
        # Less their mean over the field, influences are at most twice the size.
        scaled = pick_influence(name, side) / (2 * pl.col(f"{name}_{side}_size"))
        for power in (1, 2):
            part = scaled**power * pl.col(_CLASSES[side].share)
            moments[f"{name}_{side}_{power}"] = to_whole_shares(part.fill_nan(0.0).fill_null(0.0))
    by_part = joined.select(key, PART, *sizes, **moments).group_by(key, PART)
    sums = [sum_shares(pl.col(moment)).alias(moment) for moment in moments]
    parts = by_part.agg(sums + [pl.col(size).first() for size in sizes])
    parts = parts.join(of.parts.drop(c.GROUP), on=PART)
    terms = {}
    for name, (side, columns) in product(names, _CLASSES.items()):
        mean, square = pl.col(f"{name}_{side}_1"), pl.col(f"{name}_{side}_2")
        n, weight = pl.col(columns.n), pl.col(columns.weight)
        within = (square - mean * mean).clip(lower_bound=0.0) / (n - 1)
        variance = pl.when(n > 1).then(within).otherwise(square)
        term = weight * weight * variance
        terms[f"{name}_{side}"] = to_whole_shares(term.fill_nan(0.0).fill_null(0.0))
    effective = [columns.effective for columns in _CLASSES.values()]
    totals = [
        (
            sum_shares(pl.col(f"{name}_{side}"))
            * (4 * pl.col(f"{name}_{side}_size").first() ** 2)
            * (pl.col(columns.effective).first() - 1)
        ).alias(f"{name}_{side}")
        for name in names
        for side, columns in _CLASSES.items()
    ]
    return parts.select(key, *sizes, *effective, **terms).group_by(key).agg(totals)
