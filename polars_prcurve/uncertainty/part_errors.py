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

from typing import NamedTuple

import polars as pl

from polars_prcurve.column_names import (
    CUM_POS,
    CUM_POS_ABOVE,
    GROUP,
    N_NEG,
    N_NEG_EFFECTIVE,
    N_POS,
    N_POS_EFFECTIVE,
    NEG,
    PLACE,
    POS,
    RESERVED,
    SCORE,
)
from polars_prcurve.exact_sums import sum_shares, to_whole_shares
from polars_prcurve.group_numbers import join_groups
from polars_prcurve.inputs.score_table import ScoreTable
from polars_prcurve.sweep.effective_sizes import CLASS_WEIGHTS, build_class_weights
from polars_prcurve.sweep.group_table import SweepTables, build_groups, build_numbered_rows
from polars_prcurve.sweep.part_counts import PART
from polars_prcurve.uncertainty.influence import IS_TIED, InfluenceTable, pick_influence


class _ClassColumns(NamedTuple):
    """The columns of one class: the share of it in a cell, examples of a part, and so on."""

    share: str
    n: str
    weight: str
    effective: str


_CLASSES = {
    "pos": _ClassColumns(POS, N_POS, CLASS_WEIGHTS[N_POS], N_POS_EFFECTIVE),
    "neg": _ClassColumns(NEG, N_NEG, CLASS_WEIGHTS[N_NEG], N_NEG_EFFECTIVE),
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
    fields = sweep.groups.select(*table.by, pl.col(GROUP).alias(_FIELD), *sizes)
    parts = join_groups(numbered.select(*of.by, GROUP), build_class_weights(table), of.by)
    parts = join_groups(parts, fields, table.by).rename({GROUP: PART, _FIELD: GROUP})
    parts = parts.select(PART, GROUP, N_POS, N_NEG, *CLASS_WEIGHTS.values(), *sizes).cache()
    rises = (pl.col(CUM_POS) > pl.col(CUM_POS_ABOVE)).cast(pl.Int64)
    places = sweep.rows.select(GROUP, SCORE, rises.alias(PLACE))
    places = places.with_columns(
        pl.col(PLACE).cum_sum().over(GROUP) - pl.col(PLACE), (pl.col(PLACE) > 0).alias(IS_TIED)
    )
    rows = build_numbered_rows(of, numbered).rename({GROUP: PART})
    rows = rows.join(parts.select(PART, GROUP, N_POS, N_NEG), on=PART)
    cells = rows.join(places, on=[GROUP, SCORE]).group_by(GROUP, PART, PLACE, IS_TIED)
    # Counts are whole, so that sums of floats lose nothing.
    counted = cells.agg(pl.col(POS, NEG).sum(), pl.col(N_POS, N_NEG).first())
    shares = ((pl.col(c.share) / pl.col(c.n)).alias(c.share) for c in _CLASSES.values())
    return PartCells(counted.with_columns(shares).drop(N_POS, N_NEG).cache(), parts)


_FIELD = f"{RESERVED}field"


def compute_part_variances(of: PartCells, influences: InfluenceTable) -> pl.LazyFrame:
    """Return one row per key: `<name>_pos` and `<name>_neg`, which `standard_error` reads.

    They are variances of both classes of the field, times the effective sizes less 1.
    """
    key, names, frame, *_ = influences
    sizes = [f"{name}_{side}_size" for name in names for side in _CLASSES]
    kinds = [f"{name}_{kind}" for name in names for kind in ("pos", "neg", "gap")]
    frame = frame.select(*dict.fromkeys((GROUP, key, PLACE)), *kinds, *sizes)
    joined = of.cells.join(frame, on=[GROUP, PLACE])
    moments = {
        f"{name}_{side}_{power}": _build_moment(name, side, power)
        for name in names
        for side in _CLASSES
        for power in (1, 2)
    }
    by_part = joined.select(key, PART, *sizes, **moments).group_by(key, PART)
    sums = [sum_shares(pl.col(moment)).alias(moment) for moment in moments]
    parts = by_part.agg(sums + [pl.col(size).first() for size in sizes])
    parts = parts.join(of.parts.drop(GROUP), on=PART)
    terms = {f"{name}_{side}": _build_term(name, side) for name in names for side in _CLASSES}
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


def _build_moment(name: str, side: str, power: int) -> pl.Expr:
    """Return the contribution of a cell to the mean, or mean square, of influences by twice their size.

    Less their mean over the field, influences are at most twice the size.
    """
    scaled = pick_influence(name, side) / (2 * pl.col(f"{name}_{side}_size"))
    return to_whole_shares((scaled**power * pl.col(_CLASSES[side].share)).fill_nan(0.0).fill_null(0.0))


def _build_term(name: str, side: str) -> pl.Expr:
    """Return the contribution of a part to the variance of its field, as a whole share."""
    mean, square = pl.col(f"{name}_{side}_1"), pl.col(f"{name}_{side}_2")
    n, weight = pl.col(_CLASSES[side].n), pl.col(_CLASSES[side].weight)
    within = (square - mean * mean).clip(lower_bound=0.0) / (n - 1)
    variance = pl.when(n > 1).then(within).otherwise(square)
    return to_whole_shares((weight * weight * variance).fill_nan(0.0).fill_null(0.0))
