"""Groups and the rows in them: one row per group, and the rows to count, with the number of theirs.

    score table -> groups           number, totals (or exponents of weights) and tallies
                -> checked groups   a broken check stops the query
                -> numbered rows    amounts as integers that add up exactly

The number of a group, Group.NUMBER, rises in the order of the `by` columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize
from polars_prcurve.core.ground import exact_arithmetic
from polars_prcurve.core.ground.group_keys import join_groups, merge_zeros
from polars_prcurve.core.ground.value_checks import Check, stop_if_broken
from polars_prcurve.core.inputs.resolved_tables import (
    TOTALS,
    RateTable,
    ResolvedTable,
    ScoreTable,
    class_amounts,
)
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.sweep.sweep_column_names import GroupSums, Sweep


class SumColumns(NamedTuple):
    """The columns of one sum of what rows add: of a class, or of the squares of its weights."""

    amount: str  # of a row
    total: str  # of a group
    before: str  # of all groups before
    cum: str
    """Of the rows at this score and above, and of all groups before; `above` is without this score."""
    above: str
    exponent: str  # weights are added as integers, times this power of two

    @property
    def sum_so_far(self) -> pl.Expr:
        """What the rows of the group add at this score and above."""
        # Running sums go on from one group to the next; subtract the totals of earlier groups.
        return pl.col(self.cum) - pl.col(self.before)

    @property
    def sum_above(self) -> pl.Expr:
        """What the rows of the group add above this score."""
        return pl.col(self.above) - pl.col(self.before)

    @property
    def sum_at_score(self) -> pl.Expr:
        """What the rows at this score add."""
        return pl.col(self.cum) - pl.col(self.above)

    def name_squares(self, amount_column: str) -> SumColumns:
        """Return the columns of the sum of squared weights, of which a row has `amount_column`."""
        total_column, before_column, cum_column, above_column = (f"{name}_squares" for name in self[1:5])
        return SumColumns(
            amount_column, total_column, before_column, cum_column, above_column, self.exponent
        )


CLASS_SUMS = (
    SumColumns(
        amount=Row.POS,
        total=Group.N_POS,
        before=GroupSums.POS_BEFORE_GROUP,
        cum=Sweep.CUM_POS,
        above=Sweep.CUM_POS_ABOVE,
        exponent=Group.POS_EXPONENT,
    ),
    SumColumns(
        amount=Row.NEG,
        total=Group.N_NEG,
        before=GroupSums.NEG_BEFORE_GROUP,
        cum=Sweep.CUM_NEG,
        above=Sweep.CUM_NEG_ABOVE,
        exponent=Group.NEG_EXPONENT,
    ),
)
"""The sums of the positives and of the negatives, which every sweep has."""
SQUARE_SUMS = tuple(
    class_sums.name_squares(amount)
    for class_sums, amount in zip(CLASS_SUMS, (Row.POS_SQUARES, Row.NEG_SQUARES), strict=True)
)
"""Those of the squares of their weights, in the same order, if errors of weighted rows are requested."""


class SweepTables(NamedTuple):
    """The two tables of a sweep: `rows`, one per threshold, and `groups`, one per group."""

    rows: pl.LazyFrame
    """By NUMBER and falling score: SCORE, CUM_POS, CUM_NEG, CUM_POS_ABOVE, CUM_NEG_ABOVE. In published
    rates, by NUMBER and rising fpr: the rates, RECALL_BEFORE, FPR_BEFORE, and recall as CUM_POS."""
    groups: pl.LazyFrame
    """By NUMBER: the `by` columns and WEIGHT_UNIT; with scores also POS_BEFORE_GROUP, NEG_BEFORE_GROUP,
    and Group.N_POS and N_NEG, which are null if zero; in published points they are null if not known."""
    has_square_shares: bool = False
    """Whether rows have what errors of weighted examples are computed from; see `effective_weights`."""


def class_sizes(table: ResolvedTable) -> tuple[pl.Expr, pl.Expr]:
    """Positives and negatives of a group as floats, times WEIGHT_UNIT; null in rates of unknown size."""
    n_pos, n_neg = (
        count.cast(pl.Float64) * pl.col(EffectiveSize.WEIGHT_UNIT) for count in class_counts(table)
    )
    return n_pos, n_neg


def class_counts(table: ResolvedTable) -> tuple[pl.Expr, pl.Expr]:
    """Positives and negatives of a group as users see them; null in rates of unknown size."""
    n_pos, n_neg = pl.col(Group.N_POS), pl.col(Group.N_NEG)
    if isinstance(table, ScoreTable):
        n_pos, n_neg = (n.fill_null(0) for n in (n_pos, n_neg))
        n_pos, n_neg = to_counts(table, {"n_pos": n_pos}, {"n_neg": n_neg})
    elif table.count_dtype is not None:
        n_pos, n_neg = n_pos.cast(table.count_dtype), n_neg.cast(table.count_dtype)
    else:
        n_pos = n_neg = pl.lit(None, dtype=pl.Int64)
    return n_pos.alias("n_pos"), n_neg.alias("n_neg")


def has_class(table: ResolvedTable, total_column: str) -> pl.Expr:
    """Return whether a group has examples of a class with this total; rates imply that it has some."""
    if isinstance(table, RateTable):
        return (pl.col(total_column) > 0).fill_null(True) if table.has_counts else pl.lit(True)
    return pl.col(total_column).is_not_null()


def lacks_size() -> pl.Expr:
    """Return whether the size of a class is unknown, as that of published rates may be."""
    return pl.any_horizontal(pl.col(Group.N_POS, Group.N_NEG).is_null())


def class_totals(table: ScoreTable, *, with_squares: bool) -> list[pl.Expr]:
    """Return what is aggregated per group: totals, also of squares, or the exponents of weights."""
    amount_exprs = class_amounts(table.columns)
    if unscored := table.unscored:
        is_unscored = table.columns[Row.SCORE].is_null() if unscored.has_rows else pl.lit(False)
        total_exprs = []
        amounts_and_unscored = zip(amount_exprs.values(), (unscored.n_pos, unscored.n_neg), strict=True)
        for amount, n_unscored in amounts_and_unscored:
            unscored_amount = pl.when(is_unscored).then(amount).otherwise(0)
            total_exprs += [amount.sum() + n_unscored, unscored_amount.sum() + n_unscored]
        return [
            total.alias(total_column) for total, total_column in zip(total_exprs, TOTALS, strict=True)
        ]
    if Row.LABEL in table.columns:
        n_pos = amount_exprs[Row.POS].sum()
        return [n_pos.alias(Group.N_POS), (pl.len().cast(pl.Int64) - n_pos).alias(Group.N_NEG)]
    if table.has_float_sums:  # only the largest weight of a group sets the scale of its integers
        return [
            exact_arithmetic.weight_exponent(amount_exprs[sum_columns.amount].max()).alias(
                sum_columns.exponent
            )
            for sum_columns in CLASS_SUMS
        ]
    amount_by_total_column = {
        sum_columns.total: amount_exprs[sum_columns.amount] for sum_columns in CLASS_SUMS
    }
    for sum_columns, square_columns in zip(
        CLASS_SUMS, SQUARE_SUMS if with_squares else (), strict=False
    ):
        amount_by_total_column[square_columns.total] = exact_arithmetic.square_integer(
            amount_exprs[sum_columns.amount], is_scaled=False
        )
    return [amount.sum().alias(total_column) for total_column, amount in amount_by_total_column.items()]


def build_groups(table: ResolvedTable, aggregate_exprs: Iterable[pl.Expr]) -> pl.LazyFrame:
    """Return one row per group in the order of `by`, with Group.NUMBER, the aggregates and tallies."""
    groups = table.aggregate_groups(aggregate_exprs).with_row_index(Group.NUMBER)
    return groups.with_columns(pl.col(Group.NUMBER).cast(pl.UInt32))


def join_group_numbers(
    table: ResolvedTable, rows: pl.LazyFrame, groups: pl.LazyFrame, *value_columns: str
) -> pl.LazyFrame:
    """Add the group number, and `value_columns` of the group table."""
    if not table.by and not value_columns:
        return rows.with_columns(pl.lit(0, dtype=pl.UInt32).alias(Group.NUMBER))
    return join_groups(rows, groups.select(*table.by, Group.NUMBER, *value_columns), table.by)


def build_numbered_rows(
    table: ScoreTable, groups: pl.LazyFrame, *, as_integers: bool = False
) -> pl.LazyFrame:
    """Return the rows that count, scored or not, with Group.NUMBER, and with Row.POS and NEG as floats.

    With `as_integers`, Row.POS and NEG are integers that add up exactly, for weights in a unit of
    their own.
    """
    if as_integers:
        rows = prepare_rows(table, groups, with_unscored=True)
    else:
        rows = join_group_numbers(table, table.all_rows, groups)
    amount_exprs = class_amounts({name: pl.col(name) for name in table.columns})
    rows = rows.with_columns(
        (amount if as_integers else amount.cast(pl.Float64)).alias(name)
        for name, amount in amount_exprs.items()
    )
    rows = rows.filter((pl.col(Row.POS) > 0) | (pl.col(Row.NEG) > 0))
    if table.score_dtype.is_float():  # equal scores have equal bits
        rows = rows.with_columns(merge_zeros(pl.col(Row.SCORE)).alias(Row.SCORE))
    return rows


def check_groups(table: ResolvedTable, groups: pl.LazyFrame, *other_checks: Check) -> pl.LazyFrame:
    """Return the groups that count, without tallies; the query stops if a check of the table fails."""
    # Every result is joined with this table, so no check can be optimized away.
    checks = [*table.tallies.checks, *other_checks]
    checked_groups = stop_if_broken(groups, checks).drop(*table.tallies.test_exprs)
    return keep_counted_groups(table, checked_groups)


def keep_counted_groups(table: ResolvedTable, groups: pl.LazyFrame) -> pl.LazyFrame:
    """Leave out groups whose rows all have weight 0, once their tallies have been checked."""
    if not isinstance(table, ScoreTable) or (Row.LABEL in table.columns and table.unscored is None):
        return groups
    return groups.filter((pl.col(Group.N_POS).fill_null(0) > 0) | (pl.col(Group.N_NEG).fill_null(0) > 0))


def prepare_rows(
    table: ScoreTable,
    groups: pl.LazyFrame,
    *,
    without_column: str = "",
    with_squares: bool = False,
    with_unscored: bool = False,
) -> pl.LazyFrame:
    """Return the rows that count, with Group.NUMBER, and with weights as integers that add up exactly.

    Drop `without_column`, add squares of the weights if `with_squares`, and keep unscored rows if
    `with_unscored`.
    """
    rows = table.all_rows if with_unscored else table.rows
    rows = rows.select(pl.exclude(without_column)) if without_column else rows
    exponent_columns = (
        [sum_columns.exponent for sum_columns in CLASS_SUMS] if table.has_float_sums else []
    )
    rows = join_group_numbers(table, rows, groups, *exponent_columns)
    if Row.LABEL in table.columns:
        return rows
    # A row whose amounts are both 0 would make a threshold.
    rows = rows.filter((pl.col(Row.POS) != 0) | (pl.col(Row.NEG) != 0))
    rows = rows.with_columns(_WHOLE_WEIGHTS) if table.has_float_sums else rows
    if not with_squares:
        return rows
    if Row.POS_SQUARES in table.columns:  # sums that counts come with
        return rows.with_columns(_WHOLE_SQUARES)
    return rows.with_columns(
        exact_arithmetic.square_integer(
            pl.col(sum_columns.amount), is_scaled=table.has_float_sums
        ).alias(square_columns.amount)
        for sum_columns, square_columns in zip(CLASS_SUMS, SQUARE_SUMS, strict=True)
    )


# Weights as integers in the unit of their group; built once, since expressions cost time
_WHOLE_WEIGHTS = [
    exact_arithmetic.to_integer(pl.col(names.amount), pl.col(names.exponent)) for names in CLASS_SUMS
]
# The sums of squares that a table of counts comes with, likewise
_WHOLE_SQUARES = [
    exact_arithmetic.sum_to_square_integer(pl.col(names.amount), pl.col(names.exponent))
    for names in SQUARE_SUMS
]


def to_counts(
    table: ScoreTable, pos_sum_exprs: Mapping[str, pl.Expr], neg_sum_exprs: Mapping[str, pl.Expr]
) -> list[pl.Expr]:
    """Return the counts that users see, by name, from integers of the running sums of both classes."""
    count_exprs: list[pl.Expr] = []
    for sum_exprs, sum_columns in zip((pos_sum_exprs, neg_sum_exprs), CLASS_SUMS, strict=True):
        if table.has_float_sums:
            class_count_exprs = exact_arithmetic.from_integers(
                sum_exprs.values(), pl.col(sum_columns.exponent)
            )
        else:
            # A count too large for Int64 stops the query by a check, which no other error may forestall.
            class_count_exprs = [
                value.cast(table.count_dtype, wrap_numerical=True) for value in sum_exprs.values()
            ]
        count_exprs += [
            value.alias(name) for name, value in zip(sum_exprs, class_count_exprs, strict=True)
        ]
    return count_exprs
