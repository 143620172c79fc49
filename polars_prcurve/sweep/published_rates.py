"""Published ROC points, put in order and checked, in the shape of a sweep that is counted from scores.

    rate table -> groups  one row per group, with the number of points at which recall falls
               -> rows    one row per point, each with the point before it

Points without counts leave counts null, and points without a score leave thresholds null.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.inputs.score_and_rate_tables import RateTable
from polars_prcurve.query_checks import Check, count_check
from polars_prcurve.sweep.effective_sizes import list_plain_sizes
from polars_prcurve.sweep.grouped_rows import SweepTables, build_groups, check_groups, join_group_numbers


def build_points(table: RateTable, *, checked: bool = True) -> SweepTables:
    """Return the points of each group by rising fpr, then rising recall, and the group table."""
    aggregates: list[pl.Expr] = []
    if table.has_counts:
        columns = table.columns
        n_pos, n_neg = columns["tp"] + columns["fn"], columns["fp"] + columns["tn"]
        # Sizes that are one number are as long as the table this way.
        both = [size + 0 * columns["recall"].is_null() for size in (n_pos, n_neg)]
        differ = pl.any_horizontal(
            (n.max() != n.min()) | (n.is_null().any() & n.is_not_null().any()) for n in both
        )
        aggregates = [n.max().alias(name) for n, name in zip(both, (c.N_POS, c.N_NEG), strict=True)]
        aggregates.append(differ.fill_null(False).cast(pl.Int64).alias(c.SIZES_DIFFER))
    groups = build_groups(table, aggregates).with_columns(pl.lit(1.0).alias(c.WEIGHT_UNIT))
    if table.has_counts:
        # A class without examples has no interval, as one of unknown size.
        sizes = (pl.when(pl.col(n) > 0).then(pl.col(n).cast(pl.Float64)) for n in (c.N_POS, c.N_NEG))
        groups = groups.with_columns(list_plain_sizes(*sizes))
    rows = join_group_numbers(table, table.rows, groups)
    order = [c.GROUP, "fpr", "recall", *([] if table.score_dtype is None else [c.SCORE])]
    rows = rows.sort(
        order, descending=[name == c.SCORE for name in order], nulls_last=[False] * len(order)
    )
    unknown = dict.fromkeys([] if table.has_counts else c.CELLS, pl.lit(None, dtype=pl.Int64))
    no_score = pl.lit(None, dtype=pl.Float64)
    # Recall stands in for running sums where these only tell whether recall grows.
    rows = add_row_before(rows).with_columns(
        pl.col("recall").alias(c.CUM_POS),
        (no_score if table.score_dtype is None else pl.col(c.SCORE)).alias("threshold"),
        **unknown,
    )
    falls = (pl.col("recall") < pl.col(c.RECALL_BEFORE)).sum().alias(c.RECALL_FALLS)
    count = rows.group_by(c.GROUP).agg(falls)
    groups = groups.join(count, on=c.GROUP, how="left", maintain_order="left")
    if checked:
        # Checked last: an error ahead of a group_by can lock the streaming engine.
        groups = check_groups(table, groups, *point_checks(table, lambda name: pl.col(name).sum()))
        groups = groups.drop(c.RECALL_FALLS, c.SIZES_DIFFER, strict=False)
    return SweepTables(rows, groups)


def add_row_before(points: pl.LazyFrame) -> pl.LazyFrame:
    """Add to sorted ROC points the point before each, first the origin."""
    same = pl.col(c.GROUP) == pl.col(c.GROUP).shift(1)
    starts = {c.RECALL_BEFORE: "recall", c.FPR_BEFORE: "fpr"}
    return points.with_columns(
        pl.when(same).then(pl.col(end).shift(1)).otherwise(0.0).alias(start)
        for start, end in starts.items()
    )


def point_checks(table: RateTable, count: Callable[[str], pl.Expr]) -> list[Check]:
    """Return the checks that recall never falls, and of one size per class, over sums by `count`."""
    are_rates = table.argument == "rates"
    text = (
        " point(s) at which tpr falls while fpr rises; is it the specificity? Pass 1 minus it, "
        "such as 1 - pl.col('specificity'); does the table hold several curves? Pass by="
        if are_rates
        else " row(s) at which tp falls while fp rises; does the table hold several curves? Pass by="
    )
    falling = count_check(count(c.RECALL_FALLS), f"{table.argument}= holds ", text)
    if not table.has_counts:
        return [falling]
    what = "sizes= differ" if are_rates else "tp + fn, or fp + tn, of cells= differ"
    text = " group(s); one curve is of one test set: pass by=, or check the columns"
    text += "; what is not known is null in all rows of a group" if are_rates else ""
    return [count_check(count(c.SIZES_DIFFER), f"{what} between the rows of ", text), falling]
