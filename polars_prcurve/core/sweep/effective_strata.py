"""How certain rates are where rows were drawn by strata, such as ranges of the score.

From a stratum of N rows n were drawn at random, and each of them represents w = N / n. Let x of them be
in a cell: tp, fp, fn or tn at some threshold. The rows behind all strata are a sample, too, of where the
model runs. So the variance of the total of a cell, and the covariance of two of them, are

    V(a) = sum of w x(a) + (w - 1) (w x(a) - w x(a) (x(a) - 1) / (n - 1))
    C(a, b) = -(sum of w (w - 1) x(a) x(b) / (n - 1))

over strata (Neyman 1938): within a stratum w squared n / (n - 1) times a sum of squared deviations, less
what is known of its N rows; between strata as N rows that were drawn. A stratum of which one row was
drawn does not show how rows differ; it counts as if the row had been drawn alone, with the weight w.

What was not found may weigh more than what was. A stratum of 10,000 rows of which 100 were drawn, all of
them negative, may hold 100 positives or more. So a positive of a cell weighs as much as it would if one
row more of either class had been found in each stratum, on either side of the threshold: x becomes
(x + 1) m / (m + 2), of m rows on that side, and the unit of a cell is

    u(a) = V(a) / (sum of w x(a))    of these x

With it, V(a) is u(a) times the total of the cell, and a class counts as

    P / ((1 - r) u(tp) + r u(fn) - 2 C(tp, fn) / P)

examples for its rate r. Without a row on one side, the unit there is the weight of an unseen row. Where
all strata are weighed alike and w is 1, all units are 1, and nothing changes.

If no stratum holds both classes, and yet some negatives score higher than some positives, rows were
drawn by their labels. Then a stratum is not thought to hold the other class: all x stay as they are.

Sources: Neyman 1938 (two phases), Cochran 1977; Fay and Feuer 1997 (a sum of weights with one more).
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize, EtaError
from polars_prcurve.core.ground.exact_arithmetic import (
    from_whole,
    round_up_to_power_of_two,
    to_whole_shares,
)
from polars_prcurve.core.ground.group_joins import aggregate_by, join_groups
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.inputs.sample_kinds import name_moment, name_unit
from polars_prcurve.core.metrics.segment_column_names import CELLS, Unseen
from polars_prcurve.core.sweep.sorted_group_rows import SortedRows
from polars_prcurve.core.sweep.sweep_column_names import ClusterSize, StratumLabels

_CELLS_OF_SIDES = (("tp", "fp"), ("fn", "tn"))  # the cells above a threshold, and below it
_CELLS_OF_CLASS = {"pos": ("tp", "fn"), "neg": ("fp", "tn")}  # the cells of a class, above and below
# All pairs of two cells
_CELL_PAIRS = [(cell, other_cell) for i, cell in enumerate(CELLS) for other_cell in CELLS[i + 1 :]]


def _name(suffix: str) -> str:
    return f"{RESERVED}strata_{suffix}"


_TOTAL_OF_CELL = {cell: _name(f"sum_{cell}") for cell in CELLS}  # sums of w x
_VARIANCE_OF_CELL = {cell: _name(f"square_{cell}") for cell in CELLS}  # V
_COVARIANCE_OF_PAIR = {pair: name_moment(*pair) for pair in _CELL_PAIRS}  # C
_SCALE = _name("scale")  # a power of two that no sum of a group exceeds
_N_POS = _name("n_pos")  # the rows of a stratum that were drawn and are positive
_N_NEG = _name("n_neg")  # those that are negative
_N_DRAWN = _name("n")  # all that were drawn
_IS_POS = _name("is_pos")  # 1 for a positive row
_IS_AT_TOP = _name("at_top")  # whether a stratum has the highest score of its group
_HIGHEST = _name("highest")  # the score of a negative
_LOWEST = _name("lowest")  # the score of a positive
_WEIGHT_OF_CLASS = {"pos": _name("pos"), "neg": _name("neg")}  # the total weight of a class
# All sums over strata
_SUM_COLUMNS = (*_TOTAL_OF_CELL.values(), *_VARIANCE_OF_CELL.values(), *_COVARIANCE_OF_PAIR.values())
STRATA_SUMS = (*_SUM_COLUMNS, _SCALE, StratumLabels.N_ABOVE)
"""What `add_strata_sums` adds to rows, and `measure_strata` reads."""
_UNSEEN_OF_CELL = {cell: _name(f"unseen_{cell}") for cell in CELLS}
"""What an unseen row of a cell weighs where its side of the threshold is empty."""


def _list_state_terms(count_above_by_class: Mapping[str, pl.Expr]) -> dict[str, pl.Expr]:
    """Return what a stratum adds to each of the sums, from the numbers of its rows above a threshold."""
    w, n_drawn = pl.col(Row.STRATUM_WEIGHT), pl.col(_N_DRAWN).cast(pl.Float64)
    count_by_cell = {"tp": count_above_by_class["pos"], "fp": count_above_by_class["neg"]}
    count_by_cell |= {
        "fn": pl.col(_N_POS) - count_above_by_class["pos"],
        "tn": pl.col(_N_NEG) - count_above_by_class["neg"],
    }
    pair_weight = pl.when(n_drawn > 1).then(w * (w - 1) / (n_drawn - 1)).otherwise(0.0)
    state_exprs: dict[str, pl.Expr] = {}
    for side_cells in _CELLS_OF_SIDES:
        n_on_side = count_by_cell[side_cells[0]] + count_by_cell[side_cells[1]]
        for cell in side_cells:
            count_with_unseen = (count_by_cell[cell] + 1) * (n_on_side / (n_on_side + 2))
            x = pl.when(StratumLabels.BY_CLASS).then(count_by_cell[cell]).otherwise(count_with_unseen)
            state_exprs[_TOTAL_OF_CELL[cell]] = w * x
            n_pairs = (x * (x - 1)).clip(lower_bound=0.0)
            state_exprs[_VARIANCE_OF_CELL[cell]] = w * w * x - pair_weight * n_pairs
    for first_cell, other_cell in _CELL_PAIRS:
        state_exprs[_COVARIANCE_OF_PAIR[first_cell, other_cell]] = (
            -pair_weight * count_by_cell[first_cell] * count_by_cell[other_cell]
        )
    return state_exprs


def _to_whole(state_exprs: Mapping[str, pl.Expr]) -> list[pl.Expr]:
    """Return whole shares of _SCALE, which no sum over strata exceeds: they add up in any order."""
    return [to_whole_shares(value / pl.col(_SCALE)).alias(name) for name, value in state_exprs.items()]


def add_strata_sums(sorted_rows: SortedRows) -> SortedRows:
    """Add STRATA_SUMS to sorted rows: sums over the strata of a group, in their states at this row."""
    stratum_columns = (Group.NUMBER, Row.STRATUM)
    is_positive = sorted_rows.amount_exprs[Row.POS] > 0
    is_negative = sorted_rows.amount_exprs[Row.NEG] > 0
    rows = sorted_rows.frame.with_columns(
        sorted_rows.group_number.alias(Group.NUMBER),
        sorted_rows.threshold.alias(_name("score")),
        is_positive.cast(pl.Int64).alias(_IS_POS),
        (is_positive | is_negative).cast(pl.Int64).alias(_N_DRAWN),
    )
    is_pos, is_row, score = pl.col(_IS_POS), pl.col(_N_DRAWN), pl.col(_name("score"))
    greatest_weight = pl.col(Row.STRATUM_WEIGHT).max()
    scale = round_up_to_power_of_two(is_row.sum().cast(pl.Float64) * greatest_weight * greatest_weight)
    rows = rows.with_columns(
        is_row.cum_sum().over(Group.NUMBER).alias(StratumLabels.N_ABOVE),
        is_row.cum_sum().over(stratum_columns).alias(_name("so_far")),
        is_pos.cum_sum().over(stratum_columns).alias(_name("pos_so_far")),
        is_row.sum().over(stratum_columns).alias(_N_DRAWN),
        is_pos.sum().over(stratum_columns).alias(_N_POS),
        scale.over(Group.NUMBER).alias(_SCALE),
        pl.when((is_row > 0) & (is_pos == 0)).then(score).alias(_HIGHEST),
        pl.when(is_pos > 0).then(score).alias(_LOWEST),
    )
    rows = rows.with_columns((pl.col(_N_DRAWN) - pl.col(_N_POS)).alias(_N_NEG))
    rows = rows.with_columns(_are_by_class().over(Group.NUMBER).alias(StratumLabels.BY_CLASS))
    n_so_far, n_pos_so_far = pl.col(_name("so_far")), pl.col(_name("pos_so_far"))
    is_first_row, zero = n_so_far == 1, pl.lit(0.0)
    start_exprs, base_exprs = _list_state_terms({"pos": zero, "neg": zero}), {}
    for name, state_expr in zip(start_exprs, _to_whole(start_exprs), strict=True):
        base_exprs[name] = pl.when(is_first_row).then(state_expr).sum().over(Group.NUMBER)
        start_exprs[name] = state_expr
    rows = rows.with_columns(
        *_to_whole(_list_state_terms({"pos": n_pos_so_far, "neg": n_so_far - n_pos_so_far}))
    )
    sum_exprs = {}
    for name in _SUM_COLUMNS:
        previous_state = pl.col(name).shift(1).over(stratum_columns)
        state_before = pl.when(is_first_row).then(start_exprs[name]).otherwise(previous_state)
        change = (pl.col(name) - state_before).fill_null(0)
        sum_exprs[name] = base_exprs[name] + change.cum_sum().over(Group.NUMBER)
    return sorted_rows._replace(frame=rows.with_columns(**sum_exprs))


def measure_strata(running_sums: pl.LazyFrame) -> pl.LazyFrame:
    """Replace STRATA_SUMS, except N_ABOVE, by the units of cells and the covariances of their totals."""
    column_exprs = {
        name: from_whole(pl.col(name)) * pl.col(_SCALE) for name in _COVARIANCE_OF_PAIR.values()
    }
    for cell in CELLS:
        cell_total, cell_variance = pl.col(_TOTAL_OF_CELL[cell]), pl.col(_VARIANCE_OF_CELL[cell])
        cell_unit = from_whole(cell_variance) / from_whole(cell_total)
        column_exprs[name_unit(cell)] = pl.when(cell_total > 0).then(cell_unit)
    return running_sums.with_columns(**column_exprs).drop(
        *_TOTAL_OF_CELL.values(), *_VARIANCE_OF_CELL.values(), _SCALE
    )


def set_strata_sizes(points: pl.LazyFrame) -> pl.LazyFrame:
    """Set the sizes of rows with counts to those at their thresholds; add moments and correlation."""
    unit_factor = pl.col(EffectiveSize.WEIGHT_UNIT)
    points = points.with_columns(
        pl.coalesce(name_unit(cell), _UNSEEN_OF_CELL[cell]).alias(name_unit(cell)) for cell in CELLS
    )
    total_by_cell = {cell: pl.col(cell).cast(pl.Float64) for cell in CELLS}
    size_exprs, variance_exprs, slopes_of_rate = {}, [], {}
    for rate_column, size_column, (cell_above, cell_below) in zip(
        ("recall", "fpr"),
        (EffectiveSize.N_POS, EffectiveSize.N_NEG),
        _CELLS_OF_CLASS.values(),
        strict=True,
    ):
        r, class_total = pl.col(rate_column), total_by_cell[cell_above] + total_by_cell[cell_below]
        covariance = pl.col(_COVARIANCE_OF_PAIR[cell_above, cell_below]) / class_total
        size_exprs[size_column] = class_total / (
            (1 - r) * pl.col(name_unit(cell_above)) + r * pl.col(name_unit(cell_below)) - 2 * covariance
        )
        variance_exprs.append(r * (1 - r) / size_exprs[size_column])
        slopes_of_rate[rate_column] = {cell_above: (1 - r) / class_total, cell_below: -r / class_total}
    rate_covariance: pl.Expr = pl.lit(0.0)
    for pos_cell, pos_slope in slopes_of_rate["recall"].items():
        for neg_cell, neg_slope in slopes_of_rate["fpr"].items():
            rate_covariance += pos_slope * neg_slope * pl.col(name_moment(pos_cell, neg_cell))
    deviation_product = (variance_exprs[0] * variance_exprs[1]).sqrt()
    correlation = (
        pl.when(deviation_product > 0)
        .then((rate_covariance / deviation_product).clip(-1.0, 1.0))
        .otherwise(0.0)
    )
    moment_exprs = {
        name_moment(cell, cell): total_by_cell[cell] * pl.col(name_unit(cell)) * unit_factor**2
        for cell in CELLS
    }
    moment_exprs |= {name: pl.col(name) * unit_factor**2 for name in _COVARIANCE_OF_PAIR.values()}
    moment_exprs |= {name_unit(cell): pl.col(name_unit(cell)) * unit_factor for cell in CELLS}
    return points.with_columns(
        **size_exprs, **moment_exprs, **{EffectiveSize.RATE_CORRELATION: correlation}
    )


def join_strata(table: ScoreTable, groups: pl.LazyFrame) -> pl.LazyFrame:
    """Add to a group table what its strata give for all its rows, whatever the threshold.

    StratumLabels.N_ALONE is the number of strata of which one row was drawn.
    """
    group_sums = _sum_strata(table)
    total_by_class = {class_name: pl.col(name) for class_name, name in _WEIGHT_OF_CLASS.items()}
    unit_by_class = {
        class_name: pl.col(_VARIANCE_OF_CELL[cell]) / pl.col(_TOTAL_OF_CELL[cell])
        for class_name, (cell, _) in _CELLS_OF_CLASS.items()
    }
    covariance = pl.col(_COVARIANCE_OF_PAIR["tp", "fp"]) / (
        total_by_class["pos"] * total_by_class["neg"]
    )
    unseen_bottom_weight, unseen_top_weight = (pl.col(_UNSEEN_OF_CELL[cell]) for cell in ("fn", "tp"))
    column_exprs = {
        EffectiveSize.N_POS_LEAST: total_by_class["pos"] / unit_by_class["pos"],
        EffectiveSize.N_NEG_LEAST: total_by_class["neg"] / unit_by_class["neg"],
        EtaError.VARIANCE: unit_by_class["pos"] / total_by_class["pos"]
        + unit_by_class["neg"] / total_by_class["neg"]
        - 2 * covariance,
        ClusterSize.N_POS_UNREACHED: total_by_class["pos"] / unseen_top_weight,
        ClusterSize.N_NEG_UNREACHED: total_by_class["neg"] / pl.col(_UNSEEN_OF_CELL["fp"]),
        Unseen.MISSED_SHARE: unseen_bottom_weight / (total_by_class["pos"] + unseen_bottom_weight),
        Unseen.SHARE: unseen_top_weight / (total_by_class["pos"] + unseen_top_weight),
    }
    label_columns = (StratumLabels.POS, StratumLabels.NEG, StratumLabels.N_ALONE, StratumLabels.BY_CLASS)
    group_sums = group_sums.select(*table.by, *label_columns, *_UNSEEN_OF_CELL.values(), **column_exprs)
    return join_groups(groups, group_sums, table.by, how="left", keep_order=True)


def _sum_strata(table: ScoreTable) -> pl.LazyFrame:
    """Return one row per group: sums of the states of strata with all rows above; _UNSEEN_OF_CELL."""
    by, is_pos, score = [*table.by], pl.col(Row.POS) > 0, pl.col(Row.SCORE)
    rows = table.rows.filter(is_pos | (pl.col(Row.NEG) > 0))
    strata_rows = rows.group_by(*by, Row.STRATUM).agg(
        pl.len().cast(pl.Int64).alias(_N_DRAWN),
        is_pos.sum().cast(pl.Int64).alias(_N_POS),
        (~is_pos).sum().cast(pl.Int64).alias(_N_NEG),
        pl.col(Row.STRATUM_WEIGHT, Row.SCORE).max(),
        score.filter(~is_pos).max().alias(_HIGHEST),
        score.filter(is_pos).min().alias(_LOWEST),
    )
    w, n_rows_of_class = pl.col(Row.STRATUM_WEIGHT), {"pos": pl.col(_N_POS), "neg": pl.col(_N_NEG)}
    scale = round_up_to_power_of_two(pl.col(_N_DRAWN).sum().cast(pl.Float64) * w.max() * w.max())
    group_exprs = {
        StratumLabels.BY_CLASS: _are_by_class(),
        _SCALE: scale,
        _IS_AT_TOP: score == score.max(),
    }
    strata_rows = strata_rows.with_columns(
        (value.over(by) if by else value).alias(name) for name, value in group_exprs.items()
    )
    state_exprs = _list_state_terms(n_rows_of_class) | {
        _WEIGHT_OF_CLASS[class_name]: w * n_rows for class_name, n_rows in n_rows_of_class.items()
    }
    greatest_weight, weight_at_top = w.max(), w.filter(_IS_AT_TOP).max()
    is_by_class = pl.col(StratumLabels.BY_CLASS).first()
    aggregate_exprs = [
        is_by_class,
        pl.col(*state_exprs).sum(),
        pl.col(_SCALE).first(),
        n_rows_of_class["pos"].sum().alias(StratumLabels.POS),
        n_rows_of_class["neg"].sum().alias(StratumLabels.NEG),
        ((pl.col(_N_DRAWN) == 1) & (w > 1)).sum().cast(pl.Int64).alias(StratumLabels.N_ALONE),
    ]
    for class_name, cells in _CELLS_OF_CLASS.items():
        greatest_class_weight = w.filter(n_rows_of_class[class_name] > 0).max()
        for cell, weight in zip(cells, (weight_at_top, greatest_weight), strict=True):
            unseen_weight = pl.when(is_by_class).then(greatest_class_weight).otherwise(weight)
            aggregate_exprs.append(unseen_weight.alias(_UNSEEN_OF_CELL[cell]))
    group_sums = aggregate_by(strata_rows.with_columns(_to_whole(state_exprs)), by, aggregate_exprs)
    return group_sums.with_columns(from_whole(pl.col(name)) * pl.col(_SCALE) for name in state_exprs)


def _are_by_class() -> pl.Expr:
    """Return whether rows were drawn by their labels, over the strata of a group."""
    has_mixed_stratum = ((pl.col(_N_POS) > 0) & (pl.col(_N_NEG) > 0)).any()
    has_crossed_scores = pl.col(_HIGHEST).max() > pl.col(_LOWEST).min()
    return ~has_mixed_stratum & has_crossed_scores.fill_null(False)
