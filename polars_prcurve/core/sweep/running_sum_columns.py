"""Columns of running sums of classes and of squared weights, and the counts that they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.ground import exact_arithmetic
from polars_prcurve.core.inputs.resolved_tables import ScoreTable
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
