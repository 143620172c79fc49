"""The number of independent examples that alerts count as, where rows have weights or come in clusters.

Let W(g) be the weight that the alerts of a cluster g have together; a row without a cluster is one of
its own. An alert then weighs (sum of W(g)**2) / (sum of W(g)) on average, and all alerts count as their
sum over this mean weight. Without weights and clusters that is the number of alerts.

The alerts of a cluster count as if they were all of one class, so that no correlation is estimated. But
false positives may be heavier than true ones: if one negative in 20 was sampled, or if healthy patients
have 20 images each. Then a few of them decide, and a test set may lack them. So an alert weighs at least
what a false one does on average, with one more false positive added that was not seen.

- Of weights, it weighs as the next negative at this score or below.
- Of clusters, it brings as many rows as the clusters of alerts so far, times how many times larger the
  clusters of negatives are than those of positives; but no more than they have negatives.

So it is for the rows that are not flagged, of which positives are the false ones, and for both rates.

At a prevalence that is a number, precision is made of recall and fpr, whose totals are estimates, too.
Then an alert weighs at least as much as makes either rate err as it does, with one more row on the other
side of the threshold that was not seen. At the test set's prevalence totals do not matter.

Source: Kish 1965 (the size; the false positives are ours).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.metrics.segment_column_names import CELLS
from polars_prcurve.core.sweep.sweep_column_names import AlertSize

RUN_SIZES = (AlertSize.FLAGGED, AlertSize.SILENT, AlertSize.FLAGGED_AT_ETA, AlertSize.SILENT_AT_ETA)
"""The sizes of the rows on one side of a threshold."""
ALERT_SIZES = (
    *RUN_SIZES,
    AlertSize.RECALL,
    AlertSize.FPR,
    AlertSize.POS,
    AlertSize.NEG,
    AlertSize.TABLE,
)
"""The sizes of a row, from its sums; the last three are equal on all rows of a group."""
GREATEST_SIZES = {name: f"{name}_so_far" for name in RUN_SIZES}
"""The greatest size along a run, which goes down for alerts, and up for rows that are not flagged."""


@dataclass(frozen=True, eq=False)
class WeightSums:
    """The weight of some rows, and the sum of the squared weights of their clusters."""

    weight: pl.Expr
    squares: pl.Expr

    def __add__(self, other: WeightSums) -> WeightSums:
        """Return the sums of rows that share no cluster."""
        return WeightSums(self.weight + other.weight, self.squares + other.squares)

    @property
    def mean(self) -> pl.Expr:
        """The weight of a row, or of its cluster, on average; null without rows."""
        return pl.when(self.weight > 0).then(self.squares / self.weight)

    def measure_size(self, *least_weight_exprs: pl.Expr) -> pl.Expr:
        """Return as how many rows they count, if one weighs at least so much; 0 without rows."""
        return (self.weight / pl.max_horizontal(self.mean, *least_weight_exprs)).fill_null(0.0)

    def add_unseen(self, unseen_weight: pl.Expr) -> pl.Expr:
        """Return the mean weight with one more row, or cluster, of this weight."""
        return (self.squares + unseen_weight * unseen_weight) / (self.weight + unseen_weight)


def add_alert_sizes(
    points: pl.LazyFrame,
    sum_cells: Callable[..., WeightSums],
    unseen_alert_weight: pl.Expr,
    unseen_miss_weight: pl.Expr,
) -> pl.LazyFrame:
    """Add ALERT_SIZES, by the sums of cells, and the weights of a false positive and a miss not seen."""
    # What is used more than once is bound to a column first.
    unseen_columns = f"{RESERVED}unseen_alert", f"{RESERVED}unseen_miss"
    column_exprs = dict(zip(unseen_columns, (unseen_alert_weight, unseen_miss_weight), strict=True))
    unseen_alert_weight, unseen_miss_weight = map(pl.col, unseen_columns)
    cell_sums: list[WeightSums] = []
    cell_pairs = (("tp", "fp"), ("fn", "tn"), ("tp", "fn"), ("fp", "tn"))
    for cell_names in (*((cell,) for cell in CELLS), *cell_pairs, CELLS):
        weight_column, squares_column = (
            f"{RESERVED}{sum_name}_{'_'.join(cell_names)}" for sum_name in ("weight", "squares")
        )
        weight_sums = sum_cells(*cell_names)
        column_exprs |= {weight_column: weight_sums.weight, squares_column: weight_sums.squares}
        cell_sums.append(WeightSums(pl.col(weight_column), pl.col(squares_column)))
    tp_sums, fp_sums, fn_sums, tn_sums, flagged_sums, silent_sums, pos_sums, neg_sums, all_sums = (
        cell_sums
    )
    # What a false positive, and a miss, weighs on average, with one that was not seen.
    false_alert_weight = fp_sums.add_unseen(unseen_alert_weight)
    miss_weight = fn_sums.add_unseen(unseen_miss_weight)
    zero_weight = pl.lit(0.0)
    alert_weights_at_eta = (
        _weigh_rate(tp_sums, fn_sums, mean_weight=tp_sums.mean, unseen_weight=unseen_miss_weight),
        _weigh_rate(fp_sums, tn_sums, mean_weight=false_alert_weight, unseen_weight=zero_weight),
    )
    miss_weights_at_eta = (
        _weigh_rate(tn_sums, fp_sums, mean_weight=tn_sums.mean, unseen_weight=unseen_alert_weight),
        _weigh_rate(fn_sums, tp_sums, mean_weight=miss_weight, unseen_weight=zero_weight),
    )
    size_exprs = {
        AlertSize.FLAGGED: flagged_sums.measure_size(false_alert_weight),
        AlertSize.SILENT: silent_sums.measure_size(miss_weight),
        AlertSize.FLAGGED_AT_ETA: flagged_sums.measure_size(false_alert_weight, *alert_weights_at_eta),
        AlertSize.SILENT_AT_ETA: silent_sums.measure_size(miss_weight, *miss_weights_at_eta),
        AlertSize.RECALL: pos_sums.measure_size(miss_weight),
        AlertSize.FPR: neg_sums.measure_size(false_alert_weight),
        AlertSize.POS: pos_sums.measure_size(),
        AlertSize.NEG: neg_sums.measure_size(),
        AlertSize.TABLE: all_sums.measure_size(),
    }
    return points.with_columns(**column_exprs).with_columns(**size_exprs).drop(column_exprs)


def _weigh_rate(
    side_sums: WeightSums, rest_sums: WeightSums, *, mean_weight: pl.Expr, unseen_weight: pl.Expr
) -> pl.Expr:
    """Return what each row weighs, if all weigh alike, where their rate errs as that of a side does."""
    # The rows on this side weigh `mean_weight` on average, and the rest of the class has one more row,
    # of the weight `unseen_weight`. The relative variance of the rate r is that of the weight on this
    # side, times (1 - r)**2, and that of the rest, (sum of squares) / W**2, with the total weight W.
    total_weight = side_sums.weight + rest_sums.weight
    rate = side_sums.weight / total_weight
    return (1 - rate) ** 2 * mean_weight + rate * (
        (rest_sums.squares + unseen_weight * unseen_weight) / total_weight
    )


def add_greatest_sizes(points: pl.LazyFrame) -> pl.LazyFrame:
    """Add the greatest size of the alerts so far, and of the rows that are not flagged from here on."""
    # A size falls where a row with a large weight or a large cluster joins the alerts. A run that has
    # started goes on.
    upward_columns = (AlertSize.SILENT, AlertSize.SILENT_AT_ETA)
    return points.with_columns(
        pl.col(size_column)
        .cum_max(reverse=size_column in upward_columns)
        .over(Group.NUMBER)
        .alias(greatest_column)
        for size_column, greatest_column in GREATEST_SIZES.items()
    )
