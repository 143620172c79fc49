"""How certain sums of weights are: effective sizes at each threshold, from sums of squared weights.

A weight is the inverse of the probability with which a row was sampled. With the weights w of a class,
their total W, and the rate r of those above a threshold, the design-based variance of r is

    V = ((1 - r)**2 * (sum of w**2 above) + r**2 * (sum of w**2 below)) / W**2

and the class counts there as r * (1 - r) / V examples. Where weights do not depend on the score this is
W**2 / (sum of w**2), and with equal weights the number of examples.

What was not found may weigh more than what was. If labels are bought by score, a few positives below a
cut represent many, and a sample may miss them all. The rows of both classes on one side of a threshold
give what a row weighs there: m = (sum of w**2) / (sum of w), their mean weight.

- Either sum of w**2 counts as m**2 at least, one row of that weight; but as no more than it would be if
  all rows of the class on that side had this weight. For equal weights this changes nothing.
- Where none of a class is on one side, V is 0. The class counts as W / m examples.

Weights may go by class, too: those of a field in which few are positive are small for positives and
large for negatives. Where a class has no row on one side, the weight of the other class there is then
multiplied by how many times as much a row of the class weighs, on the side with rows of both. That is
done where it makes m half as large again or more: a table does not show whether weights go by class or
by score, and by score this factor differs from 1 by chance.

Sources: Hajek 1971; Sarndal, Swensson and Wretman 1992; Kish 1965.
"""

from __future__ import annotations

from functools import reduce

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize, EtaError
from polars_prcurve.core.ground import exact_arithmetic
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ScoreTable, class_amounts
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.inputs.sample_kinds import name_moment
from polars_prcurve.core.metrics.segment_column_names import CELLS, Segment, Unseen
from polars_prcurve.core.sweep.effective_alerts import Sums, add_alert_sizes
from polars_prcurve.core.sweep.sorted_group_rows import CLASS_SUMS, SQUARE_SUMS
from polars_prcurve.core.sweep.sweep_column_names import SquareSegment

_CELLS_OF_SIDE = {"above": ("tp", "fp"), "below": ("fn", "tn")}
"""The counts of positives and of negatives on either side of a threshold."""
_MEAN_OF_SIDE = {side: f"{RESERVED}mean_{side}" for side in _CELLS_OF_SIDE}
"""The mean weight of the rows of both classes on one side."""
_MEAN_OF_CELL = {cell: f"{RESERVED}mean_{cell}" for cells in _CELLS_OF_SIDE.values() for cell in cells}
"""The mean weight of the rows behind one count; null where there are none."""
_LARGEST_NEG = f"{RESERVED}largest_neg"  # the largest weight of a negative
_N_HEAVY_NEG = f"{RESERVED}n_heavy_neg"
"""The sum of squares of the negatives over the square of the heaviest one."""
_LEAST_FACTOR = 1.5
"""How much larger the weight of an unseen row must be by class than by score to be taken for it."""


def list_totals(table: ScoreTable) -> list[pl.Expr]:
    """Return what is aggregated per group beside totals and squares of weights."""
    weight = class_amounts(table.columns)[Row.NEG].cast(pl.Float64)
    if Row.NEG_SQUARES in table.columns:  # of counts, that of the rows behind a score on average
        weight = (table.columns[Row.NEG_SQUARES].cast(pl.Float64) / weight).fill_nan(None)
    return [weight.max().alias(_LARGEST_NEG)]


def _count_heavy(table: ScoreTable) -> pl.Expr:
    """Return as how many of the heaviest negative the squares of the negatives count."""
    largest = pl.col(_LARGEST_NEG)
    if table.has_float_sums:
        largest = exact_arithmetic.to_integer(largest, pl.col(Group.NEG_EXPONENT))
    squares = _near_one(table, pl.col(SQUARE_SUMS[1].total), squares=True)
    return squares / _near_one(table, largest) ** 2


def group_design_columns(table: ScoreTable) -> list[pl.Expr]:
    """Return effective and least sizes of the classes, Unseen.SHARE and VARIANCE, from totals."""
    (n_pos, pos_squares), (n_neg, neg_squares) = _read_totals(table)
    mean_weight = (pos_squares + neg_squares) / (n_pos + n_neg)
    # A positive that was not sampled has the mean weight of its class, or of all rows if that is more.
    unseen_weight = pl.max_horizontal(mean_weight, pos_squares / n_pos)
    pos_size, neg_size = n_pos * n_pos / pos_squares, n_neg * n_neg / neg_squares
    # A sample without a heavy positive looks as if none was heavy. So the least size, which flags of
    # reliability read, takes the mean weight of the other class, if that is fewer examples. A class that
    # is subsampled keeps its mean weight, so no size grows when rows are left out.
    pos_size_if_heavy, neg_size_if_heavy = n_pos * n_neg / neg_squares, n_neg * n_pos / pos_squares
    return [
        # Squares that are given as counts may be 0: then nothing is known.
        pl.when(pos_squares > 0).then(pos_size).alias(EffectiveSize.N_POS),
        pl.when(neg_squares > 0).then(neg_size).alias(EffectiveSize.N_NEG),
        pl.min_horizontal(pos_size, pos_size_if_heavy).alias(EffectiveSize.N_POS_LEAST),
        pl.min_horizontal(neg_size, neg_size_if_heavy).alias(EffectiveSize.N_NEG_LEAST),
        (unseen_weight / (n_pos + unseen_weight)).alias(Unseen.SHARE),
        (unseen_weight / (n_pos + unseen_weight)).alias(Unseen.MISSED_SHARE),
        (1 / pos_size + 1 / neg_size).alias(EtaError.VARIANCE),
        _count_heavy(table).alias(_N_HEAVY_NEG),
    ]


def sizes_without_alerts(table: ScoreTable) -> dict[str, pl.Expr]:
    """Return the effective sizes at a threshold above all scores, over columns of the group table."""
    (n_pos, pos_squares), (n_neg, neg_squares) = _read_totals(table)
    mean_weight = (pos_squares + neg_squares) / (n_pos + n_neg)
    return {
        EffectiveSize.N_POS: n_pos / _choose_weight(mean_weight, pos_squares / n_pos),
        EffectiveSize.N_NEG: n_neg / _choose_weight(mean_weight, neg_squares / n_neg),
    }


def set_design_sizes(table: ScoreTable, points: pl.LazyFrame) -> pl.LazyFrame:
    """Set the sizes of rows with counts to those at their thresholds; add moments and ALERT_SIZES."""
    squares_above = [sum_names.sum_so_far for sum_names in SQUARE_SUMS]
    squares_below = [
        pl.col(sum_names.total) - flagged
        for sum_names, flagged in zip(SQUARE_SUMS, squares_above, strict=True)
    ]
    all_squares = sum(_scale_all_squares(table), pl.lit(0.0))
    mean_weight = all_squares / _add_counts("tp", "fn", "fp", "tn")
    mean_exprs: dict[str, pl.Expr] = {}
    moment_exprs: dict[str, pl.Expr] = {}  # an example is in one cell, so there are none of two cells
    for (side, cells), square_exprs in zip(
        _CELLS_OF_SIDE.items(), (squares_above, squares_below), strict=True
    ):
        class_square_exprs, n_rows = _scale_squares(table, *square_exprs), _add_counts(*cells)
        mean = pl.when(n_rows > 0).then(sum(class_square_exprs, pl.lit(0.0)) / n_rows)
        mean_exprs[_MEAN_OF_SIDE[side]] = mean.otherwise(mean_weight)
        for cell, cell_squares in zip(cells, class_square_exprs, strict=True):
            n_in_cell = _add_counts(cell)
            mean_exprs[_MEAN_OF_CELL[cell]] = pl.when(n_in_cell > 0).then(cell_squares / n_in_cell)
            moment_exprs[name_moment(cell, cell)] = cell_squares
    share_exprs = {
        name: _divide(flagged, pl.col(sum_names.total))
        for name, sum_names, flagged in zip(
            (SquareSegment.RECALL, SquareSegment.FPR), SQUARE_SUMS, squares_above, strict=True
        )
    }
    points = points.with_columns(**share_exprs, **mean_exprs, **moment_exprs)
    points = _add_alert_sizes(table, points)
    return points.with_columns(_measure_sizes(table)).drop(*mean_exprs)


# If weights do not go with the score, rows with large weights are as frequent above a threshold as
# elsewhere. Of few negatives above, a sample usually lacks the heaviest ones, and V and the fpr are too
# small. With lognormal weights, whose logs have a deviation of 1.3, an fpr was missed in up to 13% of
# tests. By the weights of all negatives these count as fpr W**2 / (sum of w**2). With fewer than 4 an
# interval is in doubt, if V counts more, and if a few rows have the squares of the class. Of two or
# three levels of weight, which go with the score as a rule, many rows have the highest.
_LEAST_FALSE = 4.0
_LESS = 1.2  # how many times as many negatives count by V, so that rounding and chance are no doubt
_MOST_HEAVY_ROWS, _FEW_HEAVY_ROWS = 25.0, 8.0
"""Of so many heavy negatives there is no doubt, and from so few on more are needed above. Of 2,000 rows
with lognormal weights there are about 8, and 200 if their logs have a deviation of 0.4."""


def find_missing_weights() -> pl.Expr:
    """Return whether heavy negatives may be missing above a threshold, over points with moments."""
    squares = pl.sum_horizontal(name_moment(cell, cell) for cell in ("fp", "tn"))
    size, n_heavy = _add_counts("fp", "tn") ** 2 / squares, pl.col(_N_HEAVY_NEG)
    n_false = pl.col("fpr") * size * (n_heavy * (1 / _FEW_HEAVY_ROWS)).clip(upper_bound=1.0)
    is_certain = pl.col(EffectiveSize.N_NEG) <= size * _LESS
    return (n_heavy < _MOST_HEAVY_ROWS) & (n_false < _LEAST_FALSE) & ~is_certain


def _add_alert_sizes(table: ScoreTable, points: pl.LazyFrame) -> pl.LazyFrame:
    """Add ALERT_SIZES, from the counts and the moments of the cells."""
    sums_of_cell = {cell: Sums(_add_counts(cell), pl.col(name_moment(cell, cell))) for cell in CELLS}

    def add_cells(*cells: str) -> Sums:
        return reduce(Sums.__add__, (sums_of_cell[cell] for cell in cells))

    # The next negative weighs as those at this score, or else at the next one below, or above.
    neg_weight = _near_one(table, CLASS_SUMS[1].sum_at_score) * _find_unit_ratios(table)[1]
    squares_at_score = (sum_names.sum_at_score for sum_names in SQUARE_SUMS)
    negative_sums = Sums(neg_weight, _scale_squares(table, *squares_at_score)[1])
    next_negative = negative_sums.mean.backward_fill().forward_fill().over(Group.NUMBER)
    # And a positive below the threshold, by class or by score.
    tp_weight, fp_weight, _, tn_weight = (sums_of_cell[cell].mean for cell in CELLS)
    weight_by_class = pl.coalesce(tp_weight * (tn_weight / fp_weight), tp_weight, pl.lit(0.0))
    weight_by_score = pl.coalesce(add_cells("fn", "tn").mean, add_cells(*CELLS).mean)
    return add_alert_sizes(
        points,
        add_cells,
        unseen_alert=next_negative,
        unseen_miss=_choose_weight(weight_by_score, weight_by_class),
    )


def _measure_sizes(table: ScoreTable) -> list[pl.Expr]:
    """Return the effective size of each class at the threshold of a row."""
    size_exprs = []
    square_exprs = _scale_all_squares(table)
    columns_of_classes = (
        (EffectiveSize.N_POS, "recall", SquareSegment.RECALL),
        (EffectiveSize.N_NEG, "fpr", SquareSegment.FPR),
    )
    for class_number, (size_column, rate_column, share_column) in enumerate(columns_of_classes):
        rate, rest = pl.col(rate_column), 1 - pl.col(rate_column)
        share_of_side = {"above": pl.col(share_column), "below": 1 - pl.col(share_column)}
        unseen_of_side = {}
        for side, opposite in (("above", "below"), ("below", "above")):
            mean_weight = pl.col(_MEAN_OF_SIDE[side])
            n_rows = _add_counts(_CELLS_OF_SIDE[side][class_number])
            # The share of squares is at least that of one row of the mean weight, and not raised above
            # what the class would have if all its rows on this side had that weight.
            least_share = pl.min_horizontal(n_rows * mean_weight, mean_weight * mean_weight)
            least_share = least_share / repeat_in_rows(square_exprs[class_number], share_of_side[side])
            # With equal weights both may be the square of one row, apart from rounding.
            is_below = least_share > share_of_side[side] * (1 + 1e-6)
            share_of_side[side] = pl.when(is_below).then(least_share).otherwise(share_of_side[side])
            # What a row would weigh where the class has none on this side: as the other class here,
            # times how many times as much this class weighs as the other one on the opposite side.
            weight = pl.col(_MEAN_OF_CELL[_CELLS_OF_SIDE[opposite][class_number]])
            other_weight, other_opposite_weight = (
                pl.col(_MEAN_OF_CELL[_CELLS_OF_SIDE[other_side][1 - class_number]])
                for other_side in (side, opposite)
            )
            weight_by_class = pl.coalesce(other_weight * (weight / other_opposite_weight), weight)
            unseen_of_side[side] = _choose_weight(mean_weight, weight_by_class)
        # Exactly 1 where the shares of squares equal the rates, as those of equal weights do.
        design_effect = rest * (share_of_side["above"] / rate) + rate * (share_of_side["below"] / rest)
        total = _add_counts(*(counts[class_number] for counts in _CELLS_OF_SIDE.values()))
        unseen = pl.when(rate == 0).then(unseen_of_side["above"]).otherwise(unseen_of_side["below"])
        is_inside = (rate > 0) & (rate < 1)
        size = pl.when(is_inside).then(pl.col(size_column) / design_effect).otherwise(total / unseen)
        size_exprs.append(size.alias(size_column))
    return size_exprs


def _choose_weight(weight_by_score: pl.Expr, weight_by_class: pl.Expr) -> pl.Expr:
    """Return the weight of an unseen row if weights go by score, or by class if that is far larger."""
    is_by_class = weight_by_class > weight_by_score * _LEAST_FACTOR
    return pl.when(is_by_class).then(weight_by_class).otherwise(weight_by_score)


def add_design_shares(table: ScoreTable, points: pl.LazyFrame) -> pl.LazyFrame:
    """Add what areas read besides: the shares of squared weights before a row, and N_NEG_LOCAL."""
    n_neg, neg_squares = CLASS_SUMS[1].sum_at_score, SQUARE_SUMS[1].sum_at_score
    mean_weight = _near_one(table, neg_squares, squares=True) / _near_one(table, n_neg)
    share_exprs = {
        name: _divide(sum_names.sum_above, pl.col(sum_names.total))
        for name, sum_names in zip(
            (SquareSegment.RECALL_BEFORE, SquareSegment.FPR_BEFORE), SQUARE_SUMS, strict=True
        )
    }
    local_weight = pl.when(n_neg > 0).then(mean_weight * _find_unit_ratios(table)[1])
    points = points.with_columns(local_weight.alias(Segment.N_NEG_LOCAL), **share_exprs)
    # The weight of the negatives at a score, or else at the next one below; at the end, above.
    nearest_weight = pl.col(Segment.N_NEG_LOCAL).backward_fill().forward_fill().over(Group.NUMBER)
    return points.with_columns((_add_counts("fp", "tn") / nearest_weight).alias(Segment.N_NEG_LOCAL))


def _read_totals(table: ScoreTable) -> list[tuple[pl.Expr, pl.Expr]]:
    """Return the total weight of each class and that of squares, in the unit of both classes."""
    return [
        (_near_one(table, pl.col(sum_names.total).fill_null(0)) * ratio, class_squares)
        for sum_names, ratio, class_squares in zip(
            CLASS_SUMS, _find_unit_ratios(table), _scale_all_squares(table), strict=True
        )
    ]


def _find_unit_ratios(table: ScoreTable) -> tuple[pl.Expr, pl.Expr]:
    """Return the factors from the unit of the weights of each class to that of both classes."""
    if not table.has_float_sums:
        return pl.lit(1.0), pl.lit(1.0)
    exponents = pl.col(Group.POS_EXPONENT), pl.col(Group.NEG_EXPONENT)
    ratio_of_pos = exact_arithmetic.exponent_ratio(*exponents)
    return ratio_of_pos, exact_arithmetic.exponent_ratio(*reversed(exponents))


def _near_one(table: ScoreTable, integer_sum: pl.Expr, *, squares: bool = False) -> pl.Expr:
    """Return a sum of integers as a float, in the unit of its class."""
    unit = exact_arithmetic.SQUARES_NEAR_ONE if squares else exact_arithmetic.NEAR_ONE
    return integer_sum.cast(pl.Float64) * unit if table.has_float_sums else integer_sum.cast(pl.Float64)


def _divide(part: pl.Expr, total: pl.Expr) -> pl.Expr:
    """Return the quotient of two integers, null where the total is 0."""
    part = part.cast(pl.Float64)
    return pl.when(total > 0).then(part / repeat_in_rows(total.cast(pl.Float64), part))


def _scale_squares(table: ScoreTable, pos_squares: pl.Expr, neg_squares: pl.Expr) -> list[pl.Expr]:
    """Return the sum of squares of each class, in the unit of both."""
    return [
        _near_one(table, total, squares=True) * (ratio * ratio)
        for total, ratio in zip((pos_squares, neg_squares), _find_unit_ratios(table), strict=True)
    ]


def _scale_all_squares(table: ScoreTable) -> list[pl.Expr]:
    """Return the sum of squares of all rows of each class, in the unit of both."""
    return _scale_squares(table, *(pl.col(sum_names.total) for sum_names in SQUARE_SUMS))


def _add_counts(*names: str) -> pl.Expr:
    """Return a sum of counts that users see, in the unit of both classes."""
    count = pl.sum_horizontal(pl.col(name).cast(pl.Float64) for name in names)
    return count * pl.col(EffectiveSize.WEIGHT_UNIT)
