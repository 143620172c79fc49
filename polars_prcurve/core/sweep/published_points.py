"""Published ROC points, in the shape of running sums.

    rate table -> groups  one row per group, with the number of points at which recall falls
               -> rows    one row per point, each with the point before it

Points without counts leave counts null, and points without a score leave thresholds null.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize
from polars_prcurve.core.ground.column_checks import count_check
from polars_prcurve.core.ground.query_guards import Check
from polars_prcurve.core.inputs.resolved_tables import RateTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.segment_column_names import CELLS, Segment
from polars_prcurve.core.sweep import group_table
from polars_prcurve.core.sweep.rows_with_group_numbers import join_group_numbers
from polars_prcurve.core.sweep.running_sum_columns import CLASS_SUMS
from polars_prcurve.core.sweep.sampling_designs import list_plain_sizes
from polars_prcurve.core.sweep.sweep_column_names import GroupSums, Sweep
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables


def build_points(table: RateTable, *, is_checked: bool = True) -> SweepTables:
    """Return the points of each group by rising fpr, then rising recall, and the group table."""
    size_aggregate_exprs = _aggregate_sizes(table) if table.has_counts else []
    groups = group_table.build_groups(table, size_aggregate_exprs).with_columns(
        pl.lit(1.0).alias(EffectiveSize.WEIGHT_UNIT)
    )
    if table.has_counts:
        # A class without examples has no interval, as one of unknown size.
        n_pos, n_neg = (
            pl.when(pl.col(sum_columns.total) > 0).then(sum_columns.total) for sum_columns in CLASS_SUMS
        )
        groups = groups.with_columns(list_plain_sizes(n_pos.cast(pl.Float64), n_neg.cast(pl.Float64)))
    rows = join_group_numbers(table, table.rows, groups)
    sort_columns = [Group.NUMBER, "fpr", "recall", *([] if table.score_dtype is None else [Row.SCORE])]
    rows = rows.sort(sort_columns, descending=[name == Row.SCORE for name in sort_columns])
    null_count_exprs = dict.fromkeys([] if table.has_counts else CELLS, pl.lit(None, dtype=pl.Int64))
    null_score = pl.lit(None, dtype=pl.Float64)
    # Recall stands in for running sums where these only show whether recall grows.
    rows = add_row_before(rows).with_columns(
        pl.col("recall").alias(Sweep.CUM_POS),
        (null_score if table.score_dtype is None else pl.col(Row.SCORE)).alias("threshold"),
        **null_count_exprs,
    )
    n_falls = (pl.col("recall") < pl.col(Segment.RECALL_BEFORE)).sum()
    fall_counts = rows.group_by(Group.NUMBER).agg(n_falls.alias(GroupSums.RECALL_FALLS))
    groups = groups.join(fall_counts, on=Group.NUMBER, how="left", maintain_order="left")
    if is_checked:
        # Checked last: an error ahead of a group_by can lock the streaming engine.
        groups = group_table.check_tallies(
            table, groups, *point_checks(table, lambda name: pl.col(name).sum())
        )
        groups = groups.drop(GroupSums.RECALL_FALLS, GroupSums.SIZES_DIFFER, strict=False)
    return SweepTables(rows, groups)


def _aggregate_sizes(table: RateTable) -> list[pl.Expr]:
    """Return the sizes of both classes of a group, and whether they differ between its rows."""
    column_exprs = table.columns
    n_pos, n_neg = column_exprs["tp"] + column_exprs["fn"], column_exprs["fp"] + column_exprs["tn"]
    # Sizes that are one number are as long as the table this way.
    size_exprs = [size_expr + 0 * column_exprs["recall"].is_null() for size_expr in (n_pos, n_neg)]
    is_size_different = pl.any_horizontal(
        (size_expr.max() != size_expr.min())
        | (size_expr.is_null().any() & size_expr.is_not_null().any())
        for size_expr in size_exprs
    )
    return [
        size_exprs[0].max().alias(Group.N_POS),
        size_exprs[1].max().alias(Group.N_NEG),
        is_size_different.fill_null(False).cast(pl.Int64).alias(GroupSums.SIZES_DIFFER),
    ]


def add_row_before(points: pl.LazyFrame) -> pl.LazyFrame:
    """Add to sorted ROC points the point before each, first the origin."""
    has_row_before = pl.col(Group.NUMBER) == pl.col(Group.NUMBER).shift(1)
    end_column_by_start = {Segment.RECALL_BEFORE: "recall", Segment.FPR_BEFORE: "fpr"}
    return points.with_columns(
        pl.when(has_row_before).then(pl.col(end_column).shift(1)).otherwise(0.0).alias(start_column)
        for start_column, end_column in end_column_by_start.items()
    )


def point_checks(table: RateTable, sum_column: Callable[[str], pl.Expr]) -> list[Check]:
    """Return the checks that recall never falls, and of one size per class, summed by `sum_column`."""
    has_rates_only = not table.has_cells
    fall_text = (
        " point(s) at which tpr falls while fpr rises; is it the specificity? Pass 1 minus it, "
        "such as 1 - pl.col('specificity'); does the table hold several curves? Pass by="
        if has_rates_only
        else " row(s) at which tp falls while fp rises; does the table hold several curves? Pass by="
    )
    falling_check = count_check(
        sum_column(GroupSums.RECALL_FALLS), f"{table.argument}= holds ", fall_text
    )
    if not table.has_counts:
        return [falling_check]
    subject_text = "sizes= differ" if has_rates_only else "tp + fn, or fp + tn, of cells= differ"
    difference_text = " group(s); a curve belongs to one test set: pass by=, or check the columns"
    difference_text += "; what is not known is null in all rows of a group" if has_rates_only else ""
    return [
        count_check(
            sum_column(GroupSums.SIZES_DIFFER), f"{subject_text} between the rows of ", difference_text
        ),
        falling_check,
    ]
