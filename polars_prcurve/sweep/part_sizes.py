"""How many examples each class of a field of several parts counts as.

Let a part have the share w of a class of the field, and n examples of this class. A rate of the field is
a sum of rates of the parts, times w. If these rates are equal, its variance is that of a rate of

    1 / sum(w**2 / n)

examples. So many does the class count as: no more than its examples, and fewer where a part has few
examples for its share.

At a threshold the false alerts count as (sum of weights)**2 / (sum of squared weights) examples: all of
them if they weigh alike, and fewer where one part has the weight.

Source: Kish 1965.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve.column_names import (
    CUM_NEG,
    CUM_NEG_SQUARES,
    FIELD_COLUMNS,
    N_NEG,
    N_NEG_EFFECTIVE,
    N_NEG_SQUARES,
    N_POS,
    N_POS_EFFECTIVE,
    N_POS_SQUARES,
    NEG_BEFORE_GROUP,
    NEG_SQUARES_BEFORE_GROUP,
    PART_ETA,
    PART_SHARE,
    RESERVED,
)
from polars_prcurve.exact_sums import scale_near_one, sum_shares, to_whole_shares
from polars_prcurve.float_bits import repeat_in_rows
from polars_prcurve.group_numbers import aggregate_by, join_groups
from polars_prcurve.inputs.score_table import ScoreTable

CLASS_WEIGHTS = {N_POS: f"{RESERVED}pos_weight", N_NEG: f"{RESERVED}neg_weight"}
"""The columns with the share that a part has of the positives, and of the negatives, of its field."""
_SIZES = {N_POS: N_POS_EFFECTIVE, N_NEG: N_NEG_EFFECTIVE}


def build_class_weights(table: ScoreTable) -> pl.LazyFrame:
    """Return the parts of a field that have a share, with CLASS_WEIGHTS, 0 for a class without any."""
    assert table.parts is not None
    eta = pl.col(PART_ETA)
    amounts = {N_POS: pl.col(PART_SHARE) * eta, N_NEG: pl.col(PART_SHARE) * (1 - eta)}
    parts = table.parts.frame.filter(pl.col(PART_SHARE) > 0)
    parts = parts.with_columns(
        amount.fill_null(0.0).alias(CLASS_WEIGHTS[n]) for n, amount in amounts.items()
    )
    totals = (sum_shares(to_whole_shares(pl.col(name))).alias(name) for name in CLASS_WEIGHTS.values())
    whole = {name: f"{name}_total" for name in CLASS_WEIGHTS.values()}
    parts = join_groups(parts, aggregate_by(parts, table.by, totals).rename(whole), table.by)
    return parts.with_columns(
        (pl.col(name) / repeat_in_rows(pl.col(total), pl.col(name))).fill_nan(0.0).alias(name)
        for name, total in whole.items()
    ).drop(whole.values())


def join_part_sizes(table: ScoreTable, groups: pl.LazyFrame) -> pl.LazyFrame:
    """Add to a group table of fields N_POS_EFFECTIVE and N_NEG_EFFECTIVE; null without examples."""
    parts = build_class_weights(table).with_columns(
        to_whole_shares((pl.col(weight) * pl.col(weight) / pl.col(n)).fill_nan(0.0)).alias(weight)
        for n, weight in CLASS_WEIGHTS.items()
    )
    sums = [sum_shares(pl.col(CLASS_WEIGHTS[n])).alias(size) for n, size in _SIZES.items()]
    sizes = aggregate_by(parts, table.by, sums).with_columns(
        pl.when(pl.col(size) > 0).then(1 / pl.col(size)).alias(size) for size in _SIZES.values()
    )
    return join_groups(groups, sizes, table.by, how="left", keep_order=True)


def add_effective_counts(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Add FIELD_COLUMNS to rows with the integer sums of weights, and of their squares, of fields."""
    false = pl.col(CUM_NEG) - pl.col(NEG_BEFORE_GROUP)
    false_squares = pl.col(CUM_NEG_SQUARES) - pl.col(NEG_SQUARES_BEFORE_GROUP)
    sums = (pl.col(N_POS), pl.col(N_POS_SQUARES)), (pl.col(N_NEG), pl.col(N_NEG_SQUARES))
    pairs = (*sums, (false, false_squares))
    return frame.with_columns(
        _count_effective(*pair).alias(name) for name, pair in zip(FIELD_COLUMNS, pairs, strict=True)
    )


def _count_effective(total: pl.Expr, squares: pl.Expr) -> pl.Expr:
    """Return how many equal weights are known as well as those of these sums; 0 of none."""
    size = scale_near_one(total.fill_null(0))
    rows = pl.col(CUM_NEG).cast(pl.Float64)
    square = repeat_in_rows(scale_near_one(squares, squares=True), rows)
    return pl.when(size > 0).then(size * size / square).otherwise(0.0)
