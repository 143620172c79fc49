"""The sweep: cumulative counts at every distinct score of every group, by one sort.

score table -> groups        one row per group: number, totals, checks
            -> running sums  one row per distinct score: sums over the whole table
            -> sweep         both joined; the totals of earlier groups are subtracted
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, Literal, TypeAlias

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize, EtaError
from polars_prcurve.core.ground import exact_arithmetic
from polars_prcurve.core.ground.argument_checks import read_choice, read_list, read_whole_number
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.group_joins import join_groups
from polars_prcurve.core.ground.query_guards import Check, stop_if_broken
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.exact_thresholds import read_threshold_list, to_least_scores
from polars_prcurve.core.inputs.group_column_checks import check_group_names
from polars_prcurve.core.inputs.resolved_tables import RateTable, ResolvedTable, ScoreTable, has_unscored
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.segment_column_names import Segment
from polars_prcurve.core.prevalence import eta_table
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.core.prevalence.population_column_names import Part, Population
from polars_prcurve.core.sweep import group_table
from polars_prcurve.core.sweep.published_points import build_points, point_checks
from polars_prcurve.core.sweep.rows_with_group_numbers import prepare_rows
from polars_prcurve.core.sweep.running_sum_columns import CLASS_SUMS, SQUARE_SUMS, SumColumns, to_counts
from polars_prcurve.core.sweep.sampling_designs import Design, choose_design
from polars_prcurve.core.sweep.sorted_group_rows import SortedRows, sort_rows
from polars_prcurve.core.sweep.sweep_column_names import (
    COUNT_COLUMNS,
    SQUARE_COLUMNS,
    SWEEP_COLUMNS,
    Sweep,
)
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables


def build_sweep_table(table: ResolvedTable, *, thresholds: Thresholds = None) -> pl.LazyFrame:
    """Return the result of `sweep`: the `by` columns, then SWEEP_COLUMNS."""
    check_group_names(table.by, SWEEP_COLUMNS)
    return build_eta_sweep(None, table, thresholds=thresholds).select(*table.by, *SWEEP_COLUMNS)


def build_eta_sweep(
    grid: EtaTable | None,
    table: ResolvedTable,
    *,
    thresholds: Thresholds = None,
    listed_thresholds: pl.Series | None = None,
    with_sizes: bool = False,
) -> pl.LazyFrame:
    """Return the checked sweep, repeated at each prevalence of `grid`, if any, with eta and its factors.

    With `with_sizes`, the effective sizes of both classes are beside it, and what else errors read.
    `listed_thresholds` are thresholds instead of `thresholds`: different values of the score's dtype.
    """
    n_recall_steps, threshold_scores = read_thresholds(thresholds, table)
    design = choose_design(table, with_sizes=with_sizes, for_thresholds=True)
    rows, groups, _ = build_running_sums(
        table, threshold_scores if listed_thresholds is None else listed_thresholds, design=design
    )
    if n_recall_steps == CORNERS:
        rows = drop_inner_negatives(rows)
    elif n_recall_steps is not None:
        # Before they are repeated at each prevalence, which does not change them.
        step_points = rows.join(groups, on=Group.NUMBER, maintain_order="left")
        step_points = keep_recall_steps(
            Design(table, with_sizes=False).add_counts(step_points), n_recall_steps
        )
        rows = step_points.select(rows.collect_schema().names())
    if grid is None:
        group_rows = rows.join(groups, on=Group.NUMBER, maintain_order="left")
    else:
        groups = eta_table.join_etas(groups, grid, *group_table.class_sizes(table))
        if checks := eta_table.own_eta_checks(table, grid, pl.lit(True)):
            groups = stop_if_broken(groups, checks)
        if grid.etas_per_group == 1 and grid.n_copies == 1:
            group_rows = rows.join(groups, on=Group.NUMBER, maintain_order="left")
        else:
            # With the groups on the left, the join itself puts the rows in order.
            group_rows = groups.join(rows, on=Group.NUMBER, maintain_order="left_right")
    return design.add_counts(group_rows)


def build_sweep(
    table: ResolvedTable,
    *,
    with_sizes: bool = False,
    design: Design | None = None,
    with_unscored: bool = True,
    known_sums: pl.LazyFrame | None = None,
) -> SweepTables:
    """Return the sweep with its internal columns, and the group table, both unchecked.

    Callers that add up the rows check their result with `check_at_end`. Examples that were never scored
    are a last row of their group, without a score; who looks for a threshold leaves these rows out, by
    `with_unscored`. `known_sums` are running sums that are known, instead of those of all scores.
    """
    design = design or choose_design(table, with_sizes=with_sizes)
    if known_sums is None:
        rows, groups, _ = build_running_sums(table, None, is_checked=False, design=design)
    else:
        assert isinstance(table, ScoreTable)
        groups = group_table.build_groups(table, group_table.class_totals(table, with_squares=False))
        rows, groups = known_sums, groups.with_columns(_list_group_exprs(table, CLASS_SUMS))
    groups = groups.cache()
    if with_unscored and has_unscored(table):
        rows = add_unscored_rows(rows, groups)
    points = rows.join(groups, on=Group.NUMBER, maintain_order="left")
    points = design.add_area_columns(design.add_counts(points))
    return SweepTables(points, groups, design.has_square_shares)


def count_scores(table: ResolvedTable, column_names: Sequence[str] = COUNT_COLUMNS) -> pl.LazyFrame:
    """Return the result of `counts`: the `by` columns, then `column_names` for each distinct score."""
    if not isinstance(table, ScoreTable):
        raise PrcError("pass scores and labels to counts(): rates= holds no counts of scores")
    check_group_names(table.by, (*column_names, *(SQUARE_COLUMNS if table.has_squares else ())))
    design = choose_design(table, with_sizes=table.has_squares)
    rows, groups, has_squares = build_running_sums(table, None, design=design)
    rows = add_unscored_rows(rows, groups) if has_unscored(table) else rows
    sum_column_sets = (*CLASS_SUMS, *(SQUARE_SUMS if has_squares else ()))
    score_counts = rows.with_columns(
        pl.col(columns.cum) - pl.col(columns.above) for columns in sum_column_sets
    )
    score_rows = score_counts.join(groups, on=Group.NUMBER, maintain_order="left")
    n_pos, n_neg = (pl.col(columns.cum) for columns in CLASS_SUMS)
    n_pos, n_neg = to_counts(table, {"n_pos": n_pos}, {"n_neg": n_neg})
    result_exprs = {"score": pl.col(Row.SCORE), "n_pos": n_pos, "n_neg": n_neg, "n": n_neg}
    if has_squares:
        for column_name, sum_columns in zip(SQUARE_COLUMNS, SQUARE_SUMS, strict=True):
            square_sum, exponent = pl.col(sum_columns.cum), pl.col(sum_columns.exponent)
            result_exprs[column_name] = square_sum.cast(pl.Float64)
            if table.has_float_sums:
                result_exprs[column_name] = exact_arithmetic.square_from_integer(square_sum, exponent)
        column_names = (*column_names, *SQUARE_COLUMNS)
    return score_rows.select(
        *table.by, *(result_exprs[column_name].alias(column_name) for column_name in column_names)
    )


# Which rows of a sweep are kept -----------------------------------------------------------------

# Corners and steps of recall filter rows that are already counted. Listed thresholds are
# read here, and join the sort as marks (see `_sum_rows`).

# The argument thresholds=: a number of recall steps, the corners, a list of scores, or all
Thresholds: TypeAlias = int | Literal["corners"] | Sequence[Any] | pl.Series | None
CORNERS = 0
"""Stands for a number of recall steps, if the corners of the ROC curve are kept in their place."""


def drop_inner_negatives(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Leave out rows inside runs of negatives, whose neighbours in the group both have their recall."""
    begins_block = begin_block(Sweep.CUM_POS)
    return rows.filter(begins_block | end_block(begins_block))


def begin_block(level_column: str) -> pl.Expr:
    """Return whether a row is the first of its block: of the rows of a group that share a level."""
    # A first row has no neighbour: ne_missing makes its comparison true, not null.
    group_number, level = pl.col(Group.NUMBER), pl.col(level_column)
    return group_number.ne_missing(group_number.shift(1)) | level.ne_missing(level.shift(1))


def end_block(begins_block: pl.Expr) -> pl.Expr:
    """Return whether a row is the last of its block, since the next one begins another."""
    return begins_block.shift(-1, fill_value=True)


def mark_blocks(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Add the number of each row's block, and whether it is a corner; see `curves.row_search`."""
    begins_block = pl.col(Sweep.IS_CORNER)
    # Where fp = 0 much is undefined at eta = 0, and the row after it is the first that has a value.
    follows_zero_fpr = (pl.col("fpr").shift(1) == 0).fill_null(False)
    return rows.with_columns(begin_block("recall").alias(Sweep.IS_CORNER)).with_columns(
        begins_block.cast(pl.UInt32).cum_sum().alias(Sweep.BLOCK),
        (begins_block | end_block(begins_block) | follows_zero_fpr).alias(Sweep.IS_CORNER),
    )


def keep_recall_steps(points: pl.LazyFrame, n_steps: int) -> pl.LazyFrame:
    """Keep the rows at which recall first reaches one or more of 1/steps, 2/steps, ..., 1."""

    def count_steps_reached(recall: pl.Expr) -> pl.Expr:
        # The product may round up or down to a whole number, so the steps on both sides of it are
        # compared with recall as k / steps, which is the float that users compare with.
        rounded_steps = (recall * n_steps).floor()
        # A column: Polars would multiply by the reciprocal of a number.
        divisor = rounded_steps * 0 + n_steps
        n_too_many = (recall < rounded_steps / divisor).cast(pl.Int64)
        n_too_few = (recall >= (rounded_steps + 1) / divisor).cast(pl.Int64)
        return rounded_steps - n_too_many + n_too_few

    recall_exprs = (pl.col("recall"), pl.col(Segment.RECALL_BEFORE))
    n_steps_reached, n_steps_before = map(count_steps_reached, recall_exprs)
    return points.filter(n_steps_reached > n_steps_before)


def read_thresholds(thresholds: Thresholds, table: ResolvedTable) -> tuple[int | None, pl.Series | None]:
    """Return the number of recall steps, or CORNERS, and the listed thresholds; None if not passed.

    Thresholds are values of the score's dtype; null represents those that no score reaches.
    """
    if thresholds is None:
        return None, None
    if isinstance(thresholds, str):
        read_choice("thresholds=", thresholds, ["corners"])
        return CORNERS, None
    if isinstance(thresholds, Integral) and not isinstance(thresholds, bool):
        return read_whole_number("thresholds=, a number of recall steps,", thresholds, 1), None
    if not isinstance(table, ScoreTable):
        argument_name = table.argument if isinstance(table, RateTable) else ""
        raise PrcError(
            f"pass thresholds= as a number of recall steps: {argument_name}= has no thresholds "
            "to look up"
        )
    user_thresholds = read_list("thresholds=", thresholds, "a whole number or a list of scores")
    exact_thresholds = read_threshold_list("thresholds", user_thresholds, table.score_dtype)
    return None, to_least_scores(exact_thresholds, table.score_dtype).unique()


# Running sums over the sorted rows of all groups ------------------------------------------------

#     rows (and marks) -> sorted    by group and falling score
#                      -> sums      over the whole table, one sum per class
#                      -> kept      the last row of each score, or the marks; group and score decoded
#
# The sums never start anew at a group, so ten groups and a hundred thousand cost much the same. Integers
# lose nothing when the totals of earlier groups are subtracted, and weights become integers (see
# `exact_arithmetic`).

_IS_KEPT = f"{RESERVED}kept"  # whether a row is the last one of its score, or a mark
# The total of the examples below all scores, by that of their class
_BELOW_OF_SIZE = {Group.N_POS: Group.POS_BELOW, Group.N_NEG: Group.NEG_BELOW}


def build_running_sums(
    table: ResolvedTable,
    listed_thresholds: pl.Series | None,
    *,
    list_marks: Callable[[pl.LazyFrame], pl.LazyFrame] | None = None,
    is_checked: bool = True,
    design: Design | None = None,
) -> SweepTables:
    """Return the running sums of each group and score, or published points, and the group table.

    A table that keeps its counts is sorted once for all questions that need no rows of their own.
    """
    if isinstance(table, RateTable):
        return build_points(table, is_checked=is_checked)
    assert isinstance(table, ScoreTable)
    design = design or Design(table, with_sizes=False)
    stored_by_key = table.kept_counts
    has_marks = listed_thresholds is not None or list_marks is not None
    if stored_by_key is None or has_marks or design.carried_columns:
        return _sum_rows(table, listed_thresholds, design, list_marks, is_checked=is_checked)
    # Rows are the same whether sizes are requested or not. Groups are few, and have them always.
    row_key, group_key = ("rows", type(design)), ("groups", type(design))
    if not {row_key, group_key} <= set(stored_by_key):
        sweep_tables = _sum_rows(
            table, None, replace(design, with_sizes=True), None, is_checked=is_checked
        )
        store(table, row_key, sweep_tables.rows)
        store(table, group_key, sweep_tables.groups)
    return SweepTables(stored_by_key[row_key], stored_by_key[group_key], design.has_square_shares)


def store(table: ResolvedTable, storage_key: Any, query: pl.LazyFrame) -> pl.LazyFrame:
    """Return a query as it is, or its result, by a name, of a table that keeps what it has counted."""
    stored_by_key = table.kept_counts
    if stored_by_key is None:
        return query
    if storage_key not in stored_by_key:
        stored_by_key[storage_key] = table.collect(query, "", n_etas=1).lazy()
    stored_query: pl.LazyFrame = stored_by_key[storage_key]
    return stored_query


MANY_ROWS = 100_000  # from this many rows on it saves time to search among corners alone


def keep_blocks(table: ResolvedTable) -> pl.Expr | None:
    """Add BLOCK to rows that an earlier question has stored, if many, and return the test of corners."""
    row_key, stored_by_key = ("rows", Design), table.kept_counts or {}
    if row_key not in stored_by_key or (table.n_rows or 0) < MANY_ROWS:
        return None
    rows = stored_by_key[row_key]  # read once: another thread may add Sweep.BLOCK at this time
    if Sweep.BLOCK not in rows.collect_schema():
        marked_rows = mark_blocks(build_sweep(table, with_unscored=False).rows)
        block_frame = table.collect(marked_rows.select(Sweep.BLOCK, Sweep.IS_CORNER), "")
        stored_by_key[row_key] = table.collect(rows, "").hstack(block_frame).lazy()
    return pl.col(Sweep.IS_CORNER)


def _sum_rows(
    table: ScoreTable,
    listed_thresholds: pl.Series | None,
    design: Design,
    list_marks: Callable[[pl.LazyFrame], pl.LazyFrame] | None,
    *,
    is_checked: bool,
) -> SweepTables:
    """Return the running sums of each group and score, and the group table; see `build_running_sums`.

    With `listed_thresholds`, there is one row per group and threshold instead of one per score. So it
    is with those that `list_marks` returns from the group table: Group.NUMBER and Row.SCORE.
    """
    with_squares = bool(design.summed_columns)
    sum_column_sets = (*CLASS_SUMS, *(SQUARE_SUMS if with_squares else ()))
    total_exprs = group_table.class_totals(table, with_squares=with_squares)
    total_exprs = [*total_exprs, *design.list_totals()]
    groups = group_table.build_groups(table, total_exprs).cache()  # joined twice
    if is_checked and not table.has_float_sums:
        groups = group_table.check_tallies(table, groups)
    rows = prepare_rows(table, groups, with_squares=with_squares)
    if table.has_float_sums:
        # Prepared a second time, without scores: rows shared with the sort would be held in memory.
        weight_rows = prepare_rows(table, groups, without_column=Row.SCORE, with_squares=with_squares)
        sum_exprs = {columns.total: pl.col(columns.amount).sum() for columns in sum_column_sets}
        group_totals = weight_rows.group_by(Group.NUMBER).agg(**sum_exprs)
        groups = groups.join(group_totals, on=Group.NUMBER, how="left", maintain_order="left")
        # A group whose weights are all 0 has no rows to add up.
        groups = groups.with_columns(pl.col(list(sum_exprs)).fill_null(0))
        # Checked last: an error ahead of a group_by can lock the streaming engine.
        groups = group_table.check_tallies(table, groups) if is_checked else groups
    mark_rows = None if list_marks is None else list_marks(groups)
    if listed_thresholds is not None:
        listed_rows = pl.LazyFrame({Row.SCORE: listed_thresholds.drop_nulls()})
        mark_rows = groups.select(Group.NUMBER).join(listed_rows, how="cross")
    if mark_rows is not None:  # a mark adds nothing to either class
        amount_columns = [columns.amount for columns in (*CLASS_SUMS, *SQUARE_SUMS)]
        mark_rows = mark_rows.with_columns(
            pl.lit(0, dtype=pl.Int128).alias(column) for column in amount_columns
        )
    sorted_rows = sort_rows(rows, table, mark_rows, design.summed_columns, design.carried_columns)
    sorted_rows = design.add_sums(sorted_rows) if design.temporary_columns else sorted_rows
    running_sums = _add_up_rows(
        sorted_rows, sum_column_sets, design.temporary_columns, has_marks=mark_rows is not None
    )
    running_sums = design.measure_rows(running_sums) if design.temporary_columns else running_sums
    groups = design.add_group_sizes(groups) if design.with_sizes else groups
    groups = groups.with_columns(_list_group_exprs(table, sum_column_sets))
    if listed_thresholds is not None and listed_thresholds.null_count() > 0:
        running_sums = _add_unreached_rows(running_sums, groups, sum_column_sets)
    return SweepTables(running_sums, groups, design.has_square_shares)


def _add_unreached_rows(
    running_sums: pl.LazyFrame, groups: pl.LazyFrame, sum_column_sets: Sequence[SumColumns]
) -> pl.LazyFrame:
    """Add a first row to each group, with a null score that no score reaches: none is flagged there."""
    start_exprs = {
        column: pl.col(columns.before)
        for columns in sum_column_sets
        for column in (columns.cum, columns.above)
    }
    first_rows = groups.select(Group.NUMBER, **start_exprs)
    all_rows = pl.concat([running_sums, first_rows], how="diagonal_relaxed")
    return all_rows.sort(Group.NUMBER, Row.SCORE, descending=[False, True])


def _list_group_exprs(table: ScoreTable, sum_column_sets: Sequence[SumColumns]) -> list[pl.Expr]:
    """Return what is added to the group table: totals of the groups before, and WEIGHT_UNIT."""
    column_exprs = []
    for sum_columns in sum_column_sets:
        total = pl.col(sum_columns.total)
        if table.unscored is not None and sum_columns.total in _BELOW_OF_SIZE:
            # Running sums add up what has a score.
            total = total - pl.col(_BELOW_OF_SIZE[sum_columns.total])
        column_exprs.append((total.cum_sum() - total).alias(sum_columns.before))
    # A null total makes every rate of an empty class null, without a test per row.
    column_exprs += [pl.when(pl.col(columns.total) > 0).then(columns.total) for columns in CLASS_SUMS]
    unit_expr: pl.Expr = pl.lit(1.0)
    if table.has_float_sums:
        unit_expr = exact_arithmetic.weight_unit(
            pl.min_horizontal(Group.POS_EXPONENT, Group.NEG_EXPONENT)
        )
    return [*column_exprs, unit_expr.alias(EffectiveSize.WEIGHT_UNIT)]


def _add_up_rows(
    sorted_rows: SortedRows,
    sum_column_sets: Sequence[SumColumns],
    other_sum_columns: Sequence[str],
    *,
    has_marks: bool,
) -> pl.LazyFrame:
    """Return the last row of each score, or each mark: its running sums, and those of the row before."""
    sum_exprs = {
        columns.cum: sorted_rows.amount_exprs[columns.amount].cum_sum() for columns in sum_column_sets
    }
    sum_exprs |= {name: pl.col(name) for name in other_sum_columns}
    sum_exprs[Sweep.ENDS_GROUP] = sorted_rows.ends_group
    sum_exprs[_IS_KEPT] = sorted_rows.is_mark if has_marks else sorted_rows.is_last
    running_sums = sorted_rows.frame.select(*sorted_rows.key_columns, **sum_exprs)
    # For the first row of a group the row before belongs to the group before, and its sums are the
    # totals of all earlier groups: just where this curve starts. With marks this is not read.
    above_exprs = {
        columns.above: pl.col(columns.cum).shift(1, fill_value=0) for columns in sum_column_sets
    }
    # The shift comes before group and score are decoded, so that Polars moves a later filter on
    # Sweep.CUM_POS and Sweep.CUM_POS_ABOVE (such as "recall rises") ahead of the decoding.
    running_sums = running_sums.filter(_IS_KEPT).with_columns(**above_exprs)
    group_number = sorted_rows.group_number.alias(Group.NUMBER)
    threshold = sorted_rows.threshold.alias(Row.SCORE)
    cum_columns = [columns.cum for columns in sum_column_sets]
    return running_sums.select(
        group_number, threshold, *cum_columns, *above_exprs, *other_sum_columns, Sweep.ENDS_GROUP
    )


def add_unscored_rows(running_sums: pl.LazyFrame, groups: pl.LazyFrame) -> pl.LazyFrame:
    """Add a last row to each group that has examples below all scores; its score is null."""
    groups_with_unscored = groups.filter((pl.col(Group.POS_BELOW) > 0) | (pl.col(Group.NEG_BELOW) > 0))
    end_exprs: dict[str, pl.Expr] = {}
    for sum_columns in CLASS_SUMS:
        sum_at_end = pl.col(sum_columns.before) + pl.col(sum_columns.total).fill_null(0)
        end_exprs |= {
            sum_columns.cum: sum_at_end,
            sum_columns.above: sum_at_end - pl.col(_BELOW_OF_SIZE[sum_columns.total]),
        }
    last_rows = groups_with_unscored.select(Group.NUMBER, **end_exprs)
    rows = pl.concat([running_sums, last_rows], how="diagonal_relaxed").sort(
        Group.NUMBER, maintain_order=True
    )
    ends_group = pl.col(Group.NUMBER).ne_missing(pl.col(Group.NUMBER).shift(-1))
    return rows.with_columns(ends_group.alias(Sweep.ENDS_GROUP))


# Counts of the parts of a field at its thresholds ----------------------------------------------

# A field has one threshold for all its parts, and a part need not have an example with that score. So
# the thresholds of the field join the rows of every part as marks.

_FIELD = f"{RESERVED}field"  # the number of a field, where Group.NUMBER is that of a part
PART = f"{RESERVED}part"  # the number of a part, over all groups
PART_COUNTS = tuple(f"{RESERVED}part_{name}" for name in ("tp", "n_pos", "fp", "n_neg"))
"""The positives at or above a threshold, all positives, and the same of the negatives, as floats."""


def build_part_counts(table: ScoreTable, field_points: pl.LazyFrame) -> pl.LazyFrame:
    """Return a row per threshold of a field and part with a share: NUMBER, SCORE, PART and PART_COUNTS.

    `field_points` are thresholds of the fields, with the `by` columns, NUMBER and SCORE; a null score is
    above all.
    """
    field_parts = table.parts
    assert field_parts is not None
    field_points = field_points.select(*table.by, Group.NUMBER, Row.SCORE).unique(
        [Group.NUMBER, Row.SCORE]
    )
    field_thresholds = field_points.rename({Group.NUMBER: _FIELD})

    def list_marks(groups: pl.LazyFrame) -> pl.LazyFrame:
        scored_thresholds = field_thresholds.filter(pl.col(Row.SCORE).is_not_null())
        mark_rows = join_groups(groups.select(*table.by, Group.NUMBER), scored_thresholds, table.by)
        return mark_rows.select(Group.NUMBER, Row.SCORE)

    rows, groups, _ = build_running_sums(
        field_parts.table, None, list_marks=list_marks, is_checked=False
    )
    part_points = Design(field_parts.table, with_sizes=False).add_counts(
        rows.join(groups, on=Group.NUMBER)
    )
    zero_count, null_score = pl.lit(0), pl.lit(None, dtype=table.score_dtype)
    points_without_alerts = groups.select(
        Group.NUMBER, Group.N_POS, Group.N_NEG, tp=zero_count, fp=zero_count
    ).with_columns(null_score.alias(Row.SCORE))
    column_pairs = zip(("tp", Group.N_POS, "fp", Group.N_NEG), PART_COUNTS, strict=True)
    count_exprs = [
        pl.col(count).cast(pl.Float64).fill_null(0.0).alias(name) for count, name in column_pairs
    ]
    part_number = pl.col(Group.NUMBER).alias(PART)
    point_frames = (part_points, points_without_alerts)
    part_counts = pl.concat(frame.select(part_number, Row.SCORE, *count_exprs) for frame in point_frames)
    part_shares = join_groups(
        groups.select(*field_parts.table.by, Group.NUMBER), field_parts.part_rows, field_parts.table.by
    )
    part_shares = join_groups(
        part_shares, field_thresholds.select(*table.by, _FIELD).unique(_FIELD), table.by
    )
    part_shares = part_shares.filter(pl.col(Part.SHARE) > 0)
    field_number = pl.col(_FIELD).alias(Group.NUMBER)
    part_shares = part_shares.select(part_number, field_number, Part.ETA, Part.SHARE, *EtaError.LIMITS)
    return part_counts.join(part_shares, on=PART)


# Checks of a query that adds up rows, made on its result ----------------------------------------

# An error ahead of a group_by can lock the streaming engine. So tallies travel along with the groups,
# and the query stops at its end.


def check_at_end(table: ResolvedTable, rows: pl.LazyFrame, *other_checks: Check) -> pl.LazyFrame:
    """Return `rows` without groups that do not count; the query stops if a check fails.

    First come the checks of all tallies, then `other_checks`, which see only groups that count, and
    may read Sweep.FIRST_IN_GROUP, which is added. The rows are in the order of Group.NUMBER.
    """
    # A join repeated the tallies of a group in all its rows: count those of the first row.
    is_first_in_group = pl.col(Group.NUMBER).ne_missing(pl.col(Group.NUMBER).shift(1))
    rows = rows.with_columns(is_first_in_group.alias(Sweep.FIRST_IN_GROUP))
    tally_exprs = (
        pl.when(Sweep.FIRST_IN_GROUP).then(name).otherwise(0).alias(name)
        for name in table.tallies.test_exprs
    )
    rows = stop_if_broken(rows.with_columns(tally_exprs), table.tallies.checks)
    rows = group_table.keep_counted_groups(table, rows)
    return stop_if_broken(rows, other_checks) if other_checks else rows


def check_first(table: ResolvedTable, populations: pl.LazyFrame, *other_checks: Check) -> None:
    """Run the checks of `check_at_end` now, over rows of groups, of a table in memory."""
    checked_populations = check_at_end(table, populations.sort(Population.NUMBER), *other_checks)
    table.collect(checked_populations.select(Group.NUMBER), "", n_etas=1)


def late_checks(table: ResolvedTable, grid: EtaTable) -> list[Check]:
    """Return the checks for `check_at_end` besides tallies: prevalences, and recall that falls."""
    is_first_in_group = pl.col(Sweep.FIRST_IN_GROUP)
    checks = [
        *eta_table.eta_row_checks(grid, is_first_in_group),
        *eta_table.own_eta_checks(table, grid, is_first_in_group),
    ]
    if grid.sharing_groups is not None:
        checks.append(eta_table.same_eta_check(grid.sharing_groups))
    if isinstance(table, RateTable):
        checks += point_checks(
            table, lambda name: pl.when(is_first_in_group).then(name).otherwise(0).sum()
        )
    return checks
