"""Groups: one row each, with its number and totals.

    score table -> groups           number, totals (or exponents of weights) and tallies
                -> checked groups   a broken check stops the query
                -> numbered rows    amounts as integers that add up; see `rows_with_group_numbers`

The number of a group, Group.NUMBER, rises in the order of the `by` columns.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize
from polars_prcurve.core.ground import exact_arithmetic
from polars_prcurve.core.ground.query_guards import Check, stop_if_broken
from polars_prcurve.core.inputs.resolved_tables import (
    TOTALS,
    RateTable,
    ResolvedTable,
    ScoreTable,
    class_amounts,
)
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.sweep.running_sum_columns import CLASS_SUMS, SQUARE_SUMS, to_counts


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


def check_tallies(table: ResolvedTable, groups: pl.LazyFrame, *other_checks: Check) -> pl.LazyFrame:
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
