"""The group table, one row per group, and the rows of a score table with the number of their group.

    score table -> groups           number, totals (or exponents of weights) and tallies
                -> checked groups   a broken check stops the query
                -> numbered rows    amounts as integers that add up exactly

The number of a group, GROUP, rises in the order of the `by` columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve import exact_arithmetic
from polars_prcurve.group_keys import join_groups, merge_zeros
from polars_prcurve.inputs.score_and_rate_tables import (
    TOTALS,
    InputTable,
    RateTable,
    ScoreTable,
    class_amounts,
)
from polars_prcurve.query_checks import Check, stop_if_broken


class SumColumns(NamedTuple):
    """The columns of one sum of what rows add: of a class, or of the squares of its weights."""

    amount: str  # of a row
    total: str  # of a group
    before: str  # of all groups before
    cum: str
    """Of the rows at this score and above, and of all groups before; `above` is without this score."""
    above: str
    exponent: str  # weights are added as integers, times this power of two


CLASS_SUMS = (
    SumColumns(c.POS, c.N_POS, c.POS_BEFORE_GROUP, c.CUM_POS, c.CUM_POS_ABOVE, c.POS_EXPONENT),
    SumColumns(c.NEG, c.N_NEG, c.NEG_BEFORE_GROUP, c.CUM_NEG, c.CUM_NEG_ABOVE, c.NEG_EXPONENT),
)
SQUARE_SUMS = (
    SumColumns(
        *(c.POS_SQUARES, c.N_POS_SQUARES, c.POS_SQUARES_BEFORE_GROUP),
        *(c.CUM_POS_SQUARES, c.CUM_POS_SQUARES_ABOVE, c.POS_EXPONENT),
    ),
    SumColumns(
        *(c.NEG_SQUARES, c.N_NEG_SQUARES, c.NEG_SQUARES_BEFORE_GROUP),
        *(c.CUM_NEG_SQUARES, c.CUM_NEG_SQUARES_ABOVE, c.NEG_EXPONENT),
    ),
)


class SweepTables(NamedTuple):
    """The two tables of a sweep: `rows`, one per threshold, and `groups`, one per group."""

    rows: pl.LazyFrame
    """By GROUP and falling score: SCORE, CUM_POS, CUM_NEG, CUM_POS_ABOVE, CUM_NEG_ABOVE. In published
    rates, by GROUP and rising fpr: the rates, RECALL_BEFORE, FPR_BEFORE, and recall as CUM_POS."""
    groups: pl.LazyFrame
    """By GROUP: the `by` columns and WEIGHT_UNIT; with scores also POS_BEFORE_GROUP, NEG_BEFORE_GROUP,
    and N_POS and N_NEG, which are null if zero; in published points they are null if not known."""
    design: bool = False
    """Whether rows have what the errors of weighted examples are computed from; see `weighted_sizes`."""


def class_sizes(table: InputTable) -> tuple[pl.Expr, pl.Expr]:
    """Positives and negatives of a group as floats, times WEIGHT_UNIT; null in rates of unknown size."""
    pos, neg = (count.cast(pl.Float64) * pl.col(c.WEIGHT_UNIT) for count in class_counts(table))
    return pos, neg


def class_counts(table: InputTable) -> tuple[pl.Expr, pl.Expr]:
    """Positives and negatives of a group as users see them; null in rates of unknown size."""
    n_pos, n_neg = pl.col(c.N_POS), pl.col(c.N_NEG)
    if isinstance(table, ScoreTable):
        n_pos, n_neg = (n.fill_null(0) for n in (n_pos, n_neg))
        n_pos, n_neg = to_counts(table, {"n_pos": n_pos}, {"n_neg": n_neg})
    elif table.count_dtype is not None:
        n_pos, n_neg = n_pos.cast(table.count_dtype), n_neg.cast(table.count_dtype)
    else:
        n_pos = n_neg = pl.lit(None, dtype=pl.Int64)
    return n_pos.alias("n_pos"), n_neg.alias("n_neg")


def has_class(table: InputTable, total: str) -> pl.Expr:
    """Return whether a group has examples of a class with this total; rates tell that it has some."""
    if isinstance(table, RateTable):
        return (pl.col(total) > 0).fill_null(True) if table.has_counts else pl.lit(True)
    return pl.col(total).is_not_null()


def class_totals(table: ScoreTable, *, squares: bool) -> list[pl.Expr]:
    """Return what is aggregated per group: totals, also of squares, or the exponents of weights."""
    amounts = class_amounts(table.columns)
    if unscored := table.unscored:
        is_below = table.columns[c.SCORE].is_null() if unscored.in_rows else pl.lit(False)
        totals = []
        for of_class, added in zip(amounts.values(), (unscored.n_pos, unscored.n_neg), strict=True):
            below = pl.when(is_below).then(of_class).otherwise(0)
            totals += [of_class.sum() + added, below.sum() + added]
        return [total.alias(name) for total, name in zip(totals, TOTALS, strict=True)]
    if c.LABEL in table.columns:
        n_pos = amounts[c.POS].sum()
        return [n_pos.alias(c.N_POS), (pl.len().cast(pl.Int64) - n_pos).alias(c.N_NEG)]
    if table.float_sums:  # only the largest weight of a group tells the scale of its integers
        return [
            exact_arithmetic.weight_exponent(amounts[s.amount].max()).alias(s.exponent)
            for s in CLASS_SUMS
        ]
    sums = {s.total: amounts[s.amount] for s in CLASS_SUMS}
    for s, of in zip(CLASS_SUMS, SQUARE_SUMS if squares else (), strict=False):
        sums[of.total] = exact_arithmetic.square_integer(amounts[s.amount], scaled=False)
    return [amount.sum().alias(name) for name, amount in sums.items()]


def build_groups(table: InputTable, aggregates: Iterable[pl.Expr]) -> pl.LazyFrame:
    """Return one row per group in the order of `by`, with GROUP, `aggregates` and tallies."""
    groups = table.aggregate_groups(aggregates)
    if table.group_expr is not None:
        return groups.with_columns(table.group_expr.alias(c.GROUP))
    return groups.with_row_index(c.GROUP).with_columns(pl.col(c.GROUP).cast(pl.UInt32))


def join_group_numbers(
    table: InputTable, rows: pl.LazyFrame, groups: pl.LazyFrame, *values: str
) -> pl.LazyFrame:
    """Add GROUP, and columns `values` of the group table, to `rows`; by a join if no expression does."""
    if table.group_expr is None:
        return join_groups(rows, groups.select(*table.by, c.GROUP, *values), table.by)
    rows = rows.with_columns(table.group_expr.alias(c.GROUP))
    return rows.join(groups.select(c.GROUP, *values), on=c.GROUP) if values else rows


def build_numbered_rows(table: ScoreTable, groups: pl.LazyFrame, *, whole: bool = False) -> pl.LazyFrame:
    """Return the rows that count, scored or not, with GROUP, and with POS and NEG as floats.

    With `whole`, POS and NEG are integers that add up exactly, in a unit of their own for weights.
    """
    if whole:
        rows = prepare_rows(table, groups, unscored=True)
    else:
        rows = join_group_numbers(table, table.all_rows, groups)
    amounts = class_amounts({name: pl.col(name) for name in table.columns})
    rows = rows.with_columns(
        (amount if whole else amount.cast(pl.Float64)).alias(name) for name, amount in amounts.items()
    )
    rows = rows.filter((pl.col(c.POS) > 0) | (pl.col(c.NEG) > 0))
    if table.score_dtype.is_float():  # equal scores have equal bits
        rows = rows.with_columns(merge_zeros(pl.col(c.SCORE)).alias(c.SCORE))
    return rows


def check_groups(table: InputTable, groups: pl.LazyFrame, *others: Check) -> pl.LazyFrame:
    """Return the groups that count, without tallies; the query stops if a check of the table fails."""
    # Every result is joined with this table, so no check can be optimized away.
    checks = [*table.tallies.checks, *others]
    checked = stop_if_broken(groups, checks).drop(*table.tallies.tests)
    return keep_counted_groups(table, checked)


def keep_counted_groups(table: InputTable, frame: pl.LazyFrame) -> pl.LazyFrame:
    """Leave out groups whose rows all have weight 0, once their tallies have been checked."""
    if not isinstance(table, ScoreTable) or (c.LABEL in table.columns and table.unscored is None):
        return frame
    return frame.filter((pl.col(c.N_POS).fill_null(0) > 0) | (pl.col(c.N_NEG).fill_null(0) > 0))


def prepare_rows(
    table: ScoreTable,
    groups: pl.LazyFrame,
    *,
    without: str = "",
    squares: bool = False,
    unscored: bool = False,
) -> pl.LazyFrame:
    """Return the rows that count, with GROUP, and with weights as integers that add up exactly.

    Drop the column `without`, add `squares` of the weights, and keep `unscored` rows.
    """
    rows = table.all_rows if unscored else table.rows
    rows = rows.select(pl.exclude(without)) if without else rows
    sums = CLASS_SUMS if table.float_sums else ()
    rows = join_group_numbers(table, rows, groups, *(s.exponent for s in sums))
    if c.LABEL in table.columns:
        return rows
    # A row whose amounts are both 0 would make a threshold.
    rows = rows.filter((pl.col(c.POS) != 0) | (pl.col(c.NEG) != 0))
    rows = rows.with_columns(
        exact_arithmetic.to_integer(pl.col(s.amount), pl.col(s.exponent)) for s in sums
    )
    if not squares:
        return rows
    if c.POS_SQUARES in table.columns:  # sums that counts come with
        return rows.with_columns(
            exact_arithmetic.sum_to_square_integer(pl.col(s.amount), pl.col(s.exponent)).alias(s.amount)
            for s in SQUARE_SUMS
        )
    return rows.with_columns(
        exact_arithmetic.square_integer(pl.col(s.amount), scaled=table.float_sums).alias(of.amount)
        for s, of in zip(CLASS_SUMS, SQUARE_SUMS, strict=True)
    )


def to_counts(
    table: ScoreTable, pos: Mapping[str, pl.Expr], neg: Mapping[str, pl.Expr]
) -> list[pl.Expr]:
    """Return the counts that users see, by name, from integers of the running sums of both classes."""
    counts: list[pl.Expr] = []
    for sums, of in zip((pos, neg), CLASS_SUMS, strict=True):
        if table.float_sums:
            values = exact_arithmetic.from_integers(sums.values(), pl.col(of.exponent))
        else:
            # A count too large for Int64 stops the query by a check, which no other error may forestall.
            values = [value.cast(table.count_dtype, wrap_numerical=True) for value in sums.values()]
        counts += [value.alias(name) for name, value in zip(sums, values, strict=True)]
    return counts


def add_counts(table: InputTable, frame: pl.LazyFrame) -> pl.LazyFrame:
    """Add SWEEP_COLUMNS, and the rates before a row, to running sums joined with their groups."""
    if not isinstance(table, ScoreTable):
        return frame  # points have rates, and counts if these are known
    of_classes: list[dict[str, pl.Expr]] = []
    names = (("tp", "fn", c.RECALL_BEFORE), ("fp", "tn", c.FPR_BEFORE))
    for s, (above, below, before) in zip(CLASS_SUMS, names, strict=True):
        # Running sums go on from one group to the next; subtract the totals of earlier groups.
        flagged = pl.col(s.cum) - pl.col(s.before)
        silent = pl.col(s.total) - flagged
        # Divide by `tp + fn`, not by the joined total: with a single group Polars may hold that total as
        # one number, and it multiplies by the reciprocal of a number. 49 * (1 / 49) is not 1.
        sums = {above: flagged, below: silent, s.total: flagged + silent}
        of_classes.append({**sums, before: pl.col(s.above) - pl.col(s.before)})
    columns = to_counts(table, *of_classes)
    return frame.with_columns(pl.col(c.SCORE).alias("threshold"), *columns).with_columns(
        # The total of an empty class is null, so that its rates are null; its counts are 0.
        pl.col("fn", "tn").fill_null(0),
        (pl.col("tp") / pl.col(c.N_POS)).alias("recall"),
        (pl.col("fp") / pl.col(c.N_NEG)).alias("fpr"),
        pl.col(c.RECALL_BEFORE) / pl.col(c.N_POS),
        pl.col(c.FPR_BEFORE) / pl.col(c.N_NEG),
    )
