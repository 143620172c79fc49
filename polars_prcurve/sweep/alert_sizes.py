"""As how many independent examples alerts count, where rows have weights or come in clusters.

Let W(g) be the weight that the alerts of a cluster g have together; a row without a cluster is one of
its own. Then the alerts count as

    (sum of W(g))**2 / (sum of W(g)**2)

independent ones: all of them if they weigh alike and no two share a cluster. The alerts of a cluster
count as if they were all of one class, which is the worst that they can be, so that no correlation has
to be estimated. So it is for the rows that are not flagged, for either class, and for the whole table.

Source: Kish 1965.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.inputs.score_table import InputTable, ScoreTable, is_clustered

ALERT_SIZES = (c.FLAGGED_SIZE, c.SILENT_SIZE, c.POS_SIZE, c.NEG_SIZE, c.TABLE_SIZE)
"""The sizes of a row, from its sums; those of the classes and of the table are equal in a group."""


def has_alert_sizes(table: InputTable) -> bool:
    """Return whether alerts may count as fewer examples than they are."""
    return isinstance(table, ScoreTable) and (table.has_squares or is_clustered(table))


def list_alert_sizes(sums: Mapping[str, tuple[pl.Expr, pl.Expr]]) -> list[pl.Expr]:
    """Return ALERT_SIZES from the weight of each, and the sum of the squared weights of its clusters."""
    return [measure_size(*sums[name]).alias(name) for name in ALERT_SIZES]


def measure_size(weight: pl.Expr, squares: pl.Expr) -> pl.Expr:
    """Return the number of independent examples; 0 without any."""
    weight = weight.cast(pl.Float64)
    # In this order, because a quotient of 1 is exact where each example is one.
    return pl.when(weight > 0).then(weight / (squares.cast(pl.Float64) / weight)).otherwise(0.0)


def add_greatest_sizes(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Add the greatest size of the alerts so far, and of the rows that are not flagged from here on.

    A size falls where a heavy row or a large cluster joins the alerts. A run that has started goes on.
    """
    return rows.with_columns(
        pl.col(c.FLAGGED_SIZE).cum_max().over(c.GROUP).alias(c.MOST_FLAGGED),
        pl.col(c.SILENT_SIZE).cum_max(reverse=True).over(c.GROUP).alias(c.MOST_SILENT),
    )
