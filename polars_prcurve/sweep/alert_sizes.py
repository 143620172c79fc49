"""The number of independent examples that alerts count as, where rows have weights or come in clusters.

Let W(g) be the weight that the alerts of a cluster g have together; a row without a cluster is one of
its own. An alert then weighs (sum of W(g)**2) / (sum of W(g)) on average, and all alerts count as their
sum over this mean weight. Without weights and clusters that is the number of alerts.

The alerts of a cluster count as if they were all of one class, so that no correlation is estimated. But
false alerts may be heavier than true ones: if one negative in 20 was sampled, or if healthy patients
have 20 images each. Then a few of them decide, and a test set may lack them. So an alert weighs at least
what a false one does on average, with one more false alert added that was not seen.

- Of weights, it weighs as the next negative at this score or below.
- Of clusters, it brings as many rows as the clusters of alerts so far, times how many times larger the
  clusters of negatives are than those of positives; but no more than they have negatives.

So it is for the rows that are not flagged, of which positives are the false ones, and for both rates.

Source: Kish 1965 (the size; the false alerts are ours).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.inputs.score_table import InputTable, ScoreTable, is_clustered

ALERT_SIZES = (
    *(c.FLAGGED_SIZE, c.SILENT_SIZE, c.RECALL_SIZE, c.FPR_SIZE),
    *(c.POS_SIZE, c.NEG_SIZE, c.TABLE_SIZE),
)
"""The sizes of a row, from its sums; the last three are equal on all rows of a group."""


@dataclass(frozen=True)
class Sums:
    """The weight of some rows, and the sum of the squared weights of their clusters."""

    weight: pl.Expr
    squares: pl.Expr

    def __add__(self, other: Sums) -> Sums:
        """Return the sums of rows that share no cluster."""
        return Sums(self.weight + other.weight, self.squares + other.squares)

    @property
    def mean(self) -> pl.Expr:
        """The weight of a row, or of its cluster, on average; null without rows."""
        return pl.when(self.weight > 0).then(self.squares / self.weight)

    def measure_size(self, least: pl.Expr | None = None) -> pl.Expr:
        """Return as how many rows they count, if one weighs at least so much; 0 without rows."""
        mean = self.mean if least is None else pl.max_horizontal(self.mean, least)
        return (self.weight / mean).fill_null(0.0)

    def add_unseen(self, weight: pl.Expr) -> pl.Expr:
        """Return the mean weight with one more row, or cluster, of this weight."""
        return (self.squares + weight * weight) / (self.weight + weight)


class SideSums(NamedTuple):
    """The sums of both classes together on either side of a threshold, and of what is false there."""

    flagged: Sums
    silent: Sums
    false_alerts: Sums
    missed: Sums
    pos: Sums
    neg: Sums
    every: Sums


def has_alert_sizes(table: InputTable) -> bool:
    """Return whether alerts may count as fewer examples than they are."""
    return isinstance(table, ScoreTable) and (table.has_squares or is_clustered(table))


def list_alert_sizes(sums: SideSums, unseen_alert: pl.Expr, unseen_miss: pl.Expr) -> list[pl.Expr]:
    """Return ALERT_SIZES, from the weights of a false alert and of a missed row that were not seen."""
    false = sums.false_alerts.add_unseen(unseen_alert)
    missed = sums.missed.add_unseen(unseen_miss)
    sizes = (
        *(sums.flagged.measure_size(false), sums.silent.measure_size(missed)),
        *(sums.pos.measure_size(missed), sums.neg.measure_size(false)),
        *(sums.pos.measure_size(), sums.neg.measure_size(), sums.every.measure_size()),
    )
    return [size.alias(name) for name, size in zip(ALERT_SIZES, sizes, strict=True)]


def add_greatest_sizes(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Add the greatest size of the alerts so far, and of the rows that are not flagged from here on.

    A size falls where a heavy row or a large cluster joins the alerts. A run that has started goes on.
    """
    return rows.with_columns(
        pl.col(c.FLAGGED_SIZE).cum_max().over(c.GROUP).alias(c.MOST_FLAGGED),
        pl.col(c.SILENT_SIZE).cum_max(reverse=True).over(c.GROUP).alias(c.MOST_SILENT),
    )
