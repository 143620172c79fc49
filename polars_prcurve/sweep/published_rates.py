"""Published ROC points, put in order and checked, in the shape of a sweep that is counted from scores.

    rate table -> groups  one row per group, with the number of points at which recall falls
               -> rows    one row per point, each with the point before it

Points without counts leave thresholds and counts null.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve.column_names import (
    CUM_POS,
    FPR_BEFORE,
    GROUP,
    RECALL_BEFORE,
    RECALL_FALLS,
    WEIGHT_UNIT,
)
from polars_prcurve.inputs.score_table import InputTable
from polars_prcurve.query_checks import Check, compose_sentence
from polars_prcurve.sweep.group_table import (
    SweepTables,
    build_groups,
    check_groups,
    join_group_numbers,
)


def build_points(table: InputTable, *, checked: bool = True) -> SweepTables:
    """Return the points of each group by rising fpr, then rising recall, and the group table."""
    groups = build_groups(table, []).with_columns(pl.lit(1.0).alias(WEIGHT_UNIT))
    rows = with_row_before(join_group_numbers(table, table.rows, groups).select(GROUP, "recall", "fpr"))
    # Recall stands in for running sums where these only tell whether recall grows.
    rows = rows.with_columns(pl.col("recall").alias(CUM_POS))
    falls = pl.col("recall") < pl.col(RECALL_BEFORE)
    count = rows.select(GROUP, falls.alias(RECALL_FALLS)).group_by(GROUP).agg(pl.col(RECALL_FALLS).sum())
    groups = groups.join(count, on=GROUP, how="left", maintain_order="left")
    if checked:
        # Checked last: an error ahead of a group_by can lock the streaming engine.
        groups = check_groups(table, groups, falling_check(pl.col(RECALL_FALLS).sum())).drop(
            RECALL_FALLS
        )
    return SweepTables(rows, groups)


def with_row_before(points: pl.LazyFrame) -> pl.LazyFrame:
    """Sort ROC points along their curves, and add the point before each, first the origin."""
    points = points.sort(GROUP, "fpr", "recall")
    same = pl.col(GROUP) == pl.col(GROUP).shift(1)
    starts = {RECALL_BEFORE: "recall", FPR_BEFORE: "fpr"}
    return points.with_columns(
        pl.when(same).then(pl.col(end).shift(1)).otherwise(0.0).alias(start)
        for start, end in starts.items()
    )


def falling_check(falls: pl.Expr) -> Check:
    """Return the check that fails if recall falls at any point; `falls` is the number of such points."""
    text = compose_sentence(
        "rates= holds ", falls.cast(pl.String), " points whose tpr falls while fpr rises"
    )
    return Check(falls > 0, text)


def with_null_counts(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Add the thresholds and counts of published rates, which are all null."""
    return frame.with_columns(
        pl.lit(None, dtype=pl.Float64).alias("threshold"),
        *(pl.lit(None, dtype=pl.Int64).alias(name) for name in ("tp", "fp", "fn", "tn")),
    )
