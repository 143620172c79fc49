"""The rows that count, each with the number of its group, and with amounts that add up exactly."""

from __future__ import annotations

import polars as pl

from polars_prcurve.core.ground import exact_arithmetic
from polars_prcurve.core.ground.group_joins import join_groups, merge_zeros
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable, class_amounts
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.sweep.running_sum_columns import CLASS_SUMS, SQUARE_SUMS


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
