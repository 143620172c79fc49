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
from polars_prcurve.core.sweep.effective_alerts import WeightSums, add_alert_sizes
from polars_prcurve.core.sweep.running_sum_columns import CLASS_SUMS, SQUARE_SUMS
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
    neg_weight = class_amounts(table.columns)[Row.NEG].cast(pl.Float64)
    if Row.NEG_SQUARES in table.columns:  # of counts, that of the rows behind a score on average
        neg_weight = (table.columns[Row.NEG_SQUARES].cast(pl.Float64) / neg_weight).fill_nan(None)
    return [neg_weight.max().alias(_LARGEST_NEG)]


def _count_heavy(table: ScoreTable) -> pl.Expr:
    """Return as how many of the heaviest negative the squares of the negatives count."""
    largest_weight = pl.col(_LARGEST_NEG)
    if table.has_float_sums:
        largest_weight = exact_arithmetic.to_integer(largest_weight, pl.col(Group.NEG_EXPONENT))
    square_sum = _near_one(table, pl.col(SQUARE_SUMS[1].total), is_square_sum=True)
    return square_sum / _near_one(table, largest_weight) ** 2


def group_design_columns(table: ScoreTable) -> list[pl.Expr]:
    """Return effective and least sizes of the classes, Unseen.SHARE and VARIANCE, from totals."""
    (n_pos, pos_square_sum), (n_neg, neg_square_sum) = _read_totals(table)
    mean_weight = (pos_square_sum + neg_square_sum) / (n_pos + n_neg)
    # A positive that was not sampled has the mean weight of its class, or of all rows if that is more.
    unseen_weight = pl.max_horizontal(mean_weight, pos_square_sum / n_pos)
    pos_size, neg_size = n_pos * n_pos / pos_square_sum, n_neg * n_neg / neg_square_sum
    # A sample without a heavy positive looks as if none was heavy. So the least size, which flags of
    # reliability read, takes the mean weight of the other class, if that is fewer examples. A class that
    # is subsampled keeps its mean weight, so no size grows when rows are left out.
    pos_size_if_heavy, neg_size_if_heavy = n_pos * n_neg / neg_square_sum, n_neg * n_pos / pos_square_sum
    return [
        # Squares that are given as counts may be 0: then nothing is known.
        pl.when(pos_square_sum > 0).then(pos_size).alias(EffectiveSize.N_POS),
        pl.when(neg_square_sum > 0).then(neg_size).alias(EffectiveSize.N_NEG),
        pl.min_horizontal(pos_size, pos_size_if_heavy).alias(EffectiveSize.N_POS_LEAST),
        pl.min_horizontal(neg_size, neg_size_if_heavy).alias(EffectiveSize.N_NEG_LEAST),
        (unseen_weight / (n_pos + unseen_weight)).alias(Unseen.SHARE),
        (unseen_weight / (n_pos + unseen_weight)).alias(Unseen.MISSED_SHARE),
        (1 / pos_size + 1 / neg_size).alias(EtaError.VARIANCE),
        _count_heavy(table).alias(_N_HEAVY_NEG),
    ]


def sizes_without_alerts(table: ScoreTable) -> dict[str, pl.Expr]:
    """Return the effective sizes at a threshold above all scores, over columns of the group table."""
    (n_pos, pos_square_sum), (n_neg, neg_square_sum) = _read_totals(table)
    mean_weight = (pos_square_sum + neg_square_sum) / (n_pos + n_neg)
    return {
        EffectiveSize.N_POS: n_pos / _choose_weight(mean_weight, pos_square_sum / n_pos),
        EffectiveSize.N_NEG: n_neg / _choose_weight(mean_weight, neg_square_sum / n_neg),
    }


def set_design_sizes(table: ScoreTable, points: pl.LazyFrame) -> pl.LazyFrame:
    """Set the sizes of rows with counts to those at their thresholds; add moments and ALERT_SIZES."""
    square_sums_above = [sum_columns.sum_so_far for sum_columns in SQUARE_SUMS]
    square_sums_below = [
        pl.col(sum_columns.total) - squares_flagged
        for sum_columns, squares_flagged in zip(SQUARE_SUMS, square_sums_above, strict=True)
    ]
    total_squares = sum(_scale_all_squares(table), pl.lit(0.0))
    mean_weight = total_squares / _sum_amounts("tp", "fn", "fp", "tn")
    mean_exprs: dict[str, pl.Expr] = {}
    moment_exprs: dict[str, pl.Expr] = {}  # an example is in one cell, so there are none of two cells
    for (side, cell_names), side_square_sums in zip(
        _CELLS_OF_SIDE.items(), (square_sums_above, square_sums_below), strict=True
    ):
        class_square_sums, n_rows = _scale_squares(table, *side_square_sums), _sum_amounts(*cell_names)
        mean_weight_of_side = pl.when(n_rows > 0).then(sum(class_square_sums, pl.lit(0.0)) / n_rows)
        mean_exprs[_MEAN_OF_SIDE[side]] = mean_weight_of_side.otherwise(mean_weight)
        for cell, cell_square_sum in zip(cell_names, class_square_sums, strict=True):
            n_in_cell = _sum_amounts(cell)
            mean_exprs[_MEAN_OF_CELL[cell]] = pl.when(n_in_cell > 0).then(cell_square_sum / n_in_cell)
            moment_exprs[name_moment(cell, cell)] = cell_square_sum
    share_exprs = {
        share_column: _divide(squares_flagged, pl.col(sum_columns.total))
        for share_column, sum_columns, squares_flagged in zip(
            (SquareSegment.RECALL, SquareSegment.FPR), SQUARE_SUMS, square_sums_above, strict=True
        )
    }
    points = points.with_columns(**share_exprs, **mean_exprs, **moment_exprs)
    points = _add_sizes_of_alerts(table, points)
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
    square_sum = pl.sum_horizontal(name_moment(cell, cell) for cell in ("fp", "tn"))
    neg_size, n_heavy = _sum_amounts("fp", "tn") ** 2 / square_sum, pl.col(_N_HEAVY_NEG)
    n_effective_fp = pl.col("fpr") * neg_size * (n_heavy * (1 / _FEW_HEAVY_ROWS)).clip(upper_bound=1.0)
    is_certain = pl.col(EffectiveSize.N_NEG) <= neg_size * _LESS
    return (n_heavy < _MOST_HEAVY_ROWS) & (n_effective_fp < _LEAST_FALSE) & ~is_certain


def _add_sizes_of_alerts(table: ScoreTable, points: pl.LazyFrame) -> pl.LazyFrame:
    """Add ALERT_SIZES, from the counts and the moments of the cells."""
    sums_by_cell = {
        cell: WeightSums(_sum_amounts(cell), pl.col(name_moment(cell, cell))) for cell in CELLS
    }

    def sum_cells(*cell_names: str) -> WeightSums:
        return reduce(WeightSums.__add__, (sums_by_cell[cell] for cell in cell_names))

    # The next negative weighs as those at this score, or else at the next one below, or above.
    neg_weight_at_score = _near_one(table, CLASS_SUMS[1].sum_at_score) * _find_unit_ratios(table)[1]
    square_sums_at_score = (sum_columns.sum_at_score for sum_columns in SQUARE_SUMS)
    neg_sums_at_score = WeightSums(neg_weight_at_score, _scale_squares(table, *square_sums_at_score)[1])
    next_neg_weight = neg_sums_at_score.mean.backward_fill().forward_fill().over(Group.NUMBER)
    # And a positive below the threshold, by class or by score.
    tp_weight, fp_weight, _, tn_weight = (sums_by_cell[cell].mean for cell in CELLS)
    weight_by_class = pl.coalesce(tp_weight * (tn_weight / fp_weight), tp_weight, pl.lit(0.0))
    weight_by_score = pl.coalesce(sum_cells("fn", "tn").mean, sum_cells(*CELLS).mean)
    return add_alert_sizes(
        points,
        sum_cells,
        unseen_alert_weight=next_neg_weight,
        unseen_miss_weight=_choose_weight(weight_by_score, weight_by_class),
    )


def _measure_sizes(table: ScoreTable) -> list[pl.Expr]:
    """Return the effective size of each class at the threshold of a row."""
    size_exprs = []
    columns_of_classes = (
        (EffectiveSize.N_POS, "recall", SquareSegment.RECALL),
        (EffectiveSize.N_NEG, "fpr", SquareSegment.FPR),
    )
    for class_number, (square_sum, (size_column, rate_column, share_column)) in enumerate(
        zip(_scale_all_squares(table), columns_of_classes, strict=True)
    ):
        rate, complement = pl.col(rate_column), 1 - pl.col(rate_column)
        share_above = _raise_share("above", class_number, pl.col(share_column), square_sum)
        share_below = _raise_share("below", class_number, 1 - pl.col(share_column), square_sum)
        # Exactly 1 where the shares of squares equal the rates, as those of equal weights do.
        design_effect = complement * (share_above / rate) + rate * (share_below / complement)
        class_total = _sum_amounts(*(cells[class_number] for cells in _CELLS_OF_SIDE.values()))
        weight_above, weight_below = (_weigh_unseen(side, class_number) for side in _CELLS_OF_SIDE)
        unseen_weight = pl.when(rate == 0).then(weight_above).otherwise(weight_below)
        when_on_both_sides = pl.when((rate > 0) & (rate < 1))
        effective_size = when_on_both_sides.then(pl.col(size_column) / design_effect)
        size_exprs.append(effective_size.otherwise(class_total / unseen_weight).alias(size_column))
    return size_exprs


def _raise_share(side: str, class_number: int, square_share: pl.Expr, square_sum: pl.Expr) -> pl.Expr:
    """Return the share of a class's squares on a side of the threshold, at least that of one row."""
    # That row has the mean weight; but the share is not raised above what the class would have if all
    # its rows on this side had that weight.
    mean_weight = pl.col(_MEAN_OF_SIDE[side])
    n_rows = _sum_amounts(_CELLS_OF_SIDE[side][class_number])
    least_squares = pl.min_horizontal(n_rows * mean_weight, mean_weight * mean_weight)
    least_share = least_squares / repeat_in_rows(square_sum, square_share)
    # With equal weights both may be the square of one row, apart from rounding.
    is_too_small = least_share > square_share * (1 + 1e-6)
    return pl.when(is_too_small).then(least_share).otherwise(square_share)


def _weigh_unseen(side: str, class_number: int) -> pl.Expr:
    """Return what a row would weigh where a class has none on this side of the threshold."""
    # As the other class here, times how many times as much this class weighs as the other one on the
    # opposite side.
    opposite_side = "below" if side == "above" else "above"
    opposite_weight = pl.col(_MEAN_OF_CELL[_CELLS_OF_SIDE[opposite_side][class_number]])
    other_class_weight, other_class_opposite_weight = (
        pl.col(_MEAN_OF_CELL[_CELLS_OF_SIDE[other_side][1 - class_number]])
        for other_side in (side, opposite_side)
    )
    weight_by_class = pl.coalesce(
        other_class_weight * (opposite_weight / other_class_opposite_weight), opposite_weight
    )
    return _choose_weight(pl.col(_MEAN_OF_SIDE[side]), weight_by_class)


def _choose_weight(weight_by_score: pl.Expr, weight_by_class: pl.Expr) -> pl.Expr:
    """Return the weight of an unseen row if weights go by score, or by class if that is far larger."""
    is_by_class = weight_by_class > weight_by_score * _LEAST_FACTOR
    return pl.when(is_by_class).then(weight_by_class).otherwise(weight_by_score)


def add_design_shares(table: ScoreTable, points: pl.LazyFrame) -> pl.LazyFrame:
    """Add what areas read besides: the shares of squared weights before a row, and N_NEG_LOCAL."""
    n_neg_at_score, neg_squares_at_score = CLASS_SUMS[1].sum_at_score, SQUARE_SUMS[1].sum_at_score
    mean_weight = _near_one(table, neg_squares_at_score, is_square_sum=True) / _near_one(
        table, n_neg_at_score
    )
    share_exprs = {
        share_column: _divide(sum_columns.sum_above, pl.col(sum_columns.total))
        for share_column, sum_columns in zip(
            (SquareSegment.RECALL_BEFORE, SquareSegment.FPR_BEFORE), SQUARE_SUMS, strict=True
        )
    }
    local_weight = pl.when(n_neg_at_score > 0).then(mean_weight * _find_unit_ratios(table)[1])
    points = points.with_columns(local_weight.alias(Segment.N_NEG_LOCAL), **share_exprs)
    # The weight of the negatives at a score, or else at the next one below; at the end, above.
    nearest_weight = pl.col(Segment.N_NEG_LOCAL).backward_fill().forward_fill().over(Group.NUMBER)
    return points.with_columns((_sum_amounts("fp", "tn") / nearest_weight).alias(Segment.N_NEG_LOCAL))


def _read_totals(table: ScoreTable) -> list[tuple[pl.Expr, pl.Expr]]:
    """Return the total weight of each class and that of squares, in the unit of both classes."""
    return [
        (_near_one(table, pl.col(sum_columns.total).fill_null(0)) * ratio, class_square_sum)
        for sum_columns, ratio, class_square_sum in zip(
            CLASS_SUMS, _find_unit_ratios(table), _scale_all_squares(table), strict=True
        )
    ]


def _find_unit_ratios(table: ScoreTable) -> tuple[pl.Expr, pl.Expr]:
    """Return the factors from the unit of the weights of each class to that of both classes."""
    if not table.has_float_sums:
        return pl.lit(1.0), pl.lit(1.0)
    exponent_exprs = pl.col(Group.POS_EXPONENT), pl.col(Group.NEG_EXPONENT)
    pos_ratio = exact_arithmetic.exponent_ratio(*exponent_exprs)
    return pos_ratio, exact_arithmetic.exponent_ratio(*reversed(exponent_exprs))


def _near_one(table: ScoreTable, integer_sum: pl.Expr, *, is_square_sum: bool = False) -> pl.Expr:
    """Return a sum of integers as a float, in the unit of its class."""
    unit_factor = exact_arithmetic.SQUARES_NEAR_ONE if is_square_sum else exact_arithmetic.NEAR_ONE
    return (
        integer_sum.cast(pl.Float64) * unit_factor
        if table.has_float_sums
        else integer_sum.cast(pl.Float64)
    )


def _divide(part: pl.Expr, total: pl.Expr) -> pl.Expr:
    """Return the quotient of two integers, null where the total is 0."""
    part = part.cast(pl.Float64)
    return pl.when(total > 0).then(part / repeat_in_rows(total.cast(pl.Float64), part))


def _scale_squares(table: ScoreTable, pos_square_sum: pl.Expr, neg_square_sum: pl.Expr) -> list[pl.Expr]:
    """Return the sum of squares of each class, in the unit of both."""
    return [
        _near_one(table, class_square_sum, is_square_sum=True) * (ratio * ratio)
        for class_square_sum, ratio in zip(
            (pos_square_sum, neg_square_sum), _find_unit_ratios(table), strict=True
        )
    ]


def _scale_all_squares(table: ScoreTable) -> list[pl.Expr]:
    """Return the sum of squares of all rows of each class, in the unit of both."""
    return _scale_squares(table, *(pl.col(sum_columns.total) for sum_columns in SQUARE_SUMS))


def _sum_amounts(*cell_names: str) -> pl.Expr:
    """Return a sum of counts that users see, in the unit of both classes."""
    count = pl.sum_horizontal(pl.col(name).cast(pl.Float64) for name in cell_names)
    return count * pl.col(EffectiveSize.WEIGHT_UNIT)
