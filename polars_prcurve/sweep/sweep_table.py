"""The sweep: cumulative counts at every distinct score of every group, by one sort.

    score table -> groups        one row per group: number, totals, checks
                -> running sums  one row per distinct score: sums over the whole table
                -> sweep         both joined; the totals of earlier groups are subtracted

No step works group by group, so ten groups and a hundred thousand groups cost much the same. Sums of
weights are exact: a power of two per group makes integers of the weights (see `exact_sums`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, TypeAlias, cast

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve import exact_sums
from polars_prcurve.argument_kinds import read_choice, read_list, read_whole_number
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.score_table import InputTable, RateTable, ScoreTable, has_unscored
from polars_prcurve.inputs.threshold_values import read_threshold_list, to_least_scores
from polars_prcurve.prevalence.eta_table import (
    EtaTable,
    eta_row_checks,
    join_etas,
    own_eta_checks,
    same_eta_check,
)
from polars_prcurve.query_checks import Check, stop_if_broken
from polars_prcurve.sweep.group_table import (
    SweepTables,
    build_float_totals,
    build_groups,
    check_groups,
    class_sizes,
    class_totals,
    keep_counted_groups,
    prepare_rows,
    to_counts,
    to_square_sum,
)
from polars_prcurve.sweep.published_rates import build_points, point_checks
from polars_prcurve.sweep.sample_design import Design, choose_design
from polars_prcurve.sweep.sort_key import SortedRows, sort_rows


def build_sweep_table(table: InputTable, *, thresholds: Thresholds = None) -> pl.LazyFrame:
    """Return the result of `sweep`: the `by` columns, then SWEEP_COLUMNS."""
    frame = build_eta_sweep(None, table, thresholds=thresholds)
    return frame.select(*table.by, *c.SWEEP_COLUMNS)


def build_eta_sweep(
    grid: EtaTable | None,
    table: InputTable,
    *,
    thresholds: Thresholds = None,
    listed: pl.Series | None = None,
    effective: bool = False,
    clusters: bool = False,
) -> pl.LazyFrame:
    """Return the checked sweep, repeated at each prevalence of `grid`, with eta and its factors.

    Without a grid there is no eta. With `effective`, the effective sizes of both classes are beside it;
    with `clusters`, they are those of rows in clusters, and RATE_CORRELATION is there, too. Rows of a
    field have FIELD_COLUMNS.
    `listed` are thresholds that are different values of the score's dtype, in place of `thresholds`.
    """
    steps, read = read_thresholds(thresholds, table)
    design = choose_design(table, effective=effective, clustered=clusters)
    if isinstance(table, ScoreTable):
        marks = read if listed is None else listed
        rows, groups, _ = build_running_sums(table, marks, design=design)
    else:
        rows, groups, _ = build_points(cast("RateTable", table))
    if steps == CORNERS:
        rows = drop_inner_negatives(rows)
    elif steps is not None:  # before they are repeated at each prevalence, which does not change them
        counted = rows.join(groups, on=c.GROUP, maintain_order="left")
        counted = add_counts(table, counted) if isinstance(table, ScoreTable) else counted
        rows = keep_recall_steps(counted, steps).select(rows.collect_schema().names())
    if grid is None:
        frame = rows.join(groups, on=c.GROUP, maintain_order="left")
    else:
        groups = join_etas(groups, grid, *class_sizes(table))
        if checks := own_eta_checks(table, grid, pl.lit(True)):
            groups = stop_if_broken(groups, checks)
        if grid.has_one_row_per_group:
            frame = rows.join(groups, on=c.GROUP, maintain_order="left")
        else:
            # With the groups on the left, the join itself puts the rows in order.
            frame = groups.join(rows, on=c.GROUP, maintain_order="left_right")
    return _finish_rows(table, design, frame)


def build_sweep(
    table: InputTable,
    *,
    effective: bool = False,
    clusters: bool = False,
    ends_only: bool = False,
    unscored: bool = True,
) -> SweepTables:
    """Return the sweep with its internal columns, and the group table, both unchecked.

    Callers that add up the rows check their result with `check_at_end`, because an error ahead of a
    group_by can lock the streaming engine. With `ends_only`, scores that no positive has may be missing,
    and CUM_NEG_ABOVE may be null: for metrics that read only the ends of segments. For `clusters`, see
    `build_eta_sweep`. Examples that were never scored are a last row of their group, without a score; no
    threshold flags them, so who looks for one leaves these rows out, by `unscored`.
    """
    design = choose_design(table, effective=effective, clustered=clusters)
    if isinstance(table, ScoreTable):
        rows, groups, _ = build_running_sums(
            table, None, checked=False, design=design, ends_only=ends_only
        )
    else:
        rows, groups, _ = build_points(cast("RateTable", table), checked=False)
    groups = groups.cache()
    if unscored and has_unscored(table):
        rows = add_unscored_rows(rows, groups)
    frame = rows.join(groups, on=c.GROUP, maintain_order="left")
    frame = design.add_area_columns(_finish_rows(table, design, frame))
    return SweepTables(frame, groups, design.weighted)


def count_scores(table: InputTable, columns: Sequence[str] = c.COUNT_COLUMNS) -> pl.LazyFrame:
    """Return the result of `counts`: the `by` columns, then `columns` for each distinct score.

    Of weights there are SQUARE_COLUMNS, too.
    Of a table without labels, whose rows stand as negatives, these are UNLABELLED_COLUMNS.
    """
    if not isinstance(table, ScoreTable):
        raise PrcError("rates= holds no counts of scores; counts() needs scores and labels")
    design = choose_design(table, effective=table.has_squares)
    rows, groups, weighted = build_running_sums(table, None, design=design)
    rows = add_unscored_rows(rows, groups) if has_unscored(table) else rows
    own_sums = {c.CUM_POS: c.CUM_POS_ABOVE, c.CUM_NEG: c.CUM_NEG_ABOVE}
    if weighted:
        own_sums |= {
            c.CUM_POS_SQUARES: c.CUM_POS_SQUARES_ABOVE,
            c.CUM_NEG_SQUARES: c.CUM_NEG_SQUARES_ABOVE,
        }
    own_counts = rows.with_columns(pl.col(cum) - pl.col(above) for cum, above in own_sums.items())
    frame = own_counts.join(groups, on=c.GROUP, maintain_order="left")
    [n_pos] = to_counts(table, {"n_pos": pl.col(c.CUM_POS)})
    [n_neg] = to_counts(table, {"n_neg": pl.col(c.CUM_NEG)}, c.NEG_EXPONENT)
    values = {"score": pl.col(c.SCORE), "n_pos": n_pos, "n_neg": n_neg, "n": n_neg}
    if weighted:
        squares = ((c.CUM_POS_SQUARES, c.POS_EXPONENT), (c.CUM_NEG_SQUARES, c.NEG_EXPONENT))
        sums = (to_square_sum(table, pl.col(name), exponent) for name, exponent in squares)
        values |= dict(zip(c.SQUARE_COLUMNS, sums, strict=True))
        columns = (*columns, *c.SQUARE_COLUMNS)
    return frame.select(*table.by, *(values[name].alias(name) for name in columns))


def _finish_rows(table: InputTable, design: Design, frame: pl.LazyFrame) -> pl.LazyFrame:
    """Add counts, rates and effective sizes to rows of a sweep that are joined with their groups."""
    frame = design.count_false_alerts(frame)
    return design.set_row_sizes(add_counts(table, frame) if isinstance(table, ScoreTable) else frame)


def add_counts(table: ScoreTable, frame: pl.LazyFrame) -> pl.LazyFrame:
    """Add SWEEP_COLUMNS to running sums that are joined with their groups, and the rates before a row.

    The rates divide what users see as counts, so the last recall of a curve is exactly 1.
    """
    # Running sums go on from one group to the next; subtract the totals of earlier groups.
    tp, fp = (
        pl.col(c.CUM_POS) - pl.col(c.POS_BEFORE_GROUP),
        pl.col(c.CUM_NEG) - pl.col(c.NEG_BEFORE_GROUP),
    )
    fn, tn = pl.col(c.N_POS) - tp, pl.col(c.N_NEG) - fp
    # Divide by `tp + fn`, not by the joined total: with a single group Polars may hold that total as one
    # number, and it multiplies by the reciprocal of a number. 49 * (1 / 49) is not 1.
    of_pos = {
        "tp": tp,
        "fn": fn,
        c.N_POS: tp + fn,
        c.RECALL_BEFORE: pl.col(c.CUM_POS_ABOVE) - pl.col(c.POS_BEFORE_GROUP),
    }
    of_neg = {
        "fp": fp,
        "tn": tn,
        c.N_NEG: fp + tn,
        c.FPR_BEFORE: pl.col(c.CUM_NEG_ABOVE) - pl.col(c.NEG_BEFORE_GROUP),
    }
    with_counts = frame.with_columns(
        pl.col(c.SCORE).alias("threshold"),
        *to_counts(table, of_pos),
        *to_counts(table, of_neg, c.NEG_EXPONENT),
    )
    return with_counts.with_columns(
        # The total of an empty class is null, so that its rates are null; its counts are 0.
        pl.col("fn", "tn").fill_null(0),
        (pl.col("tp") / pl.col(c.N_POS)).alias("recall"),
        (pl.col("fp") / pl.col(c.N_NEG)).alias("fpr"),
        pl.col(c.RECALL_BEFORE) / pl.col(c.N_POS),
        pl.col(c.FPR_BEFORE) / pl.col(c.N_NEG),
    )


# Which rows of a sweep are kept -----------------------------------------------------------------

# Corners and steps of recall filter rows that are already counted. Listed thresholds are
# read here, and join the sort as marks (see `_sum_rows`).

Thresholds: TypeAlias = int | Literal["corners"] | Sequence[Any] | pl.Series | None
CORNERS = 0
"""Stands for a number of recall steps, if the corners of the ROC curve are kept in their place."""


def drop_inner_negatives(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Leave out rows inside runs of negatives, whose neighbours in the group both have their recall."""
    begins = begin_block(c.CUM_POS)
    return rows.filter(begins | end_block(begins))


def begin_block(level: str) -> pl.Expr:
    """Return whether a row is the first of its block: of the rows of a group that share a level."""
    # A first row has no neighbour: ne_missing makes its comparison true, not null.
    group, value = pl.col(c.GROUP), pl.col(level)
    return group.ne_missing(group.shift(1)) | value.ne_missing(value.shift(1))


def end_block(begins: pl.Expr) -> pl.Expr:
    """Return whether a row is the last of its block, since the next one `begins` another."""
    return begins.shift(-1, fill_value=True)


def keep_recall_steps(frame: pl.LazyFrame, steps: int) -> pl.LazyFrame:
    """Keep the rows at which recall first reaches one or more of 1/steps, 2/steps, ..., 1."""

    def count_steps_reached(recall: pl.Expr) -> pl.Expr:
        # The product may round up or down to a whole number, so the steps on both sides of it are
        # compared with recall as k / steps, which is the float that users compare with.
        step = (recall * steps).floor()
        divisor = step * 0 + steps  # a column: Polars would multiply by the reciprocal of a number
        too_many = (recall < step / divisor).cast(pl.Int64)
        too_few = (recall >= (step + 1) / divisor).cast(pl.Int64)
        return step - too_many + too_few

    reached, reached_before = map(count_steps_reached, (pl.col("recall"), pl.col(c.RECALL_BEFORE)))
    return frame.filter(reached > reached_before)


def read_thresholds(thresholds: Thresholds, table: InputTable) -> tuple[int | None, pl.Series | None]:
    """Return the number of recall steps, or CORNERS, and the listed thresholds.

    At least one of the two is None. Thresholds are values of the score's dtype. A null stands for
    thresholds that no score of this dtype reaches.
    """
    if thresholds is None:
        return None, None
    if isinstance(thresholds, str):
        read_choice("thresholds=", thresholds, ["corners"])
        return CORNERS, None
    if isinstance(thresholds, Integral) and not isinstance(thresholds, bool):
        return read_whole_number("thresholds=, a number of recall steps,", thresholds, 1), None
    if not isinstance(table, ScoreTable):
        argument = cast("RateTable", table).argument
        raise PrcError(
            f"{argument}= has no thresholds to look up; pass thresholds= as a number of recall steps"
        )
    scores = read_list("thresholds=", thresholds, "a whole number or a list of scores")
    numbers = read_threshold_list("thresholds", scores, table.score_dtype)
    return None, to_least_scores(numbers, table.score_dtype).unique()


# Running sums over the sorted rows of all groups ------------------------------------------------

#     rows (and marks) -> sorted    by group and falling score
#                      -> sums      over the whole table, one sum per class
#                      -> kept      the last row of each score, or the marks; group and score decoded
#
# The sums never start anew at a group, so their cost does not depend on the number of groups. A sweep
# joins the rows with their groups and subtracts the totals of earlier groups. Sums of integers lose
# nothing by this detour.

_IS_KEPT = f"{c.RESERVED}kept"
_BEFORE_GROUP = {c.N_POS: c.POS_BEFORE_GROUP, c.N_NEG: c.NEG_BEFORE_GROUP}
_BELOW = {c.N_POS: c.POS_BELOW, c.N_NEG: c.NEG_BELOW}
_SQUARES_BEFORE_GROUP = {
    c.N_POS_SQUARES: c.POS_SQUARES_BEFORE_GROUP,
    c.N_NEG_SQUARES: c.NEG_SQUARES_BEFORE_GROUP,
}
_CUM_SUMS = (c.CUM_POS, c.CUM_POS_ABOVE), (c.CUM_NEG, c.CUM_NEG_ABOVE)
_CUM_SQUARES = {
    c.POS_SQUARES: (c.CUM_POS_SQUARES, c.CUM_POS_SQUARES_ABOVE),
    c.NEG_SQUARES: (c.CUM_NEG_SQUARES, c.CUM_NEG_SQUARES_ABOVE),
}


def build_running_sums(
    table: ScoreTable,
    listed: pl.Series | None,
    *,
    asked: Callable[[pl.LazyFrame], pl.LazyFrame] | None = None,
    checked: bool = True,
    design: Design | None = None,
    ends_only: bool = False,
) -> SweepTables:
    """Return the running sums of each group and score, and the group table; see `_sum_rows`.

    A table that keeps its counts is sorted once for all questions that need no rows of their own.
    """
    design = design or Design(table, effective=False)
    if table.kept is None or listed is not None or asked is not None or design.carried:
        return _sum_rows(table, listed, design, asked, checked=checked, ends_only=ends_only)
    # Rows are the same whether sizes are asked for or not; groups are few, and have those of the design.
    keys = ("rows", type(design), ends_only), ("groups", type(design), design.effective)
    if not set(keys) <= set(table.kept):
        made = _sum_rows(table, None, design, None, checked=checked, ends_only=ends_only)
        for key, frame in zip(keys, (made.rows, made.groups), strict=True):
            if key not in table.kept:
                table.kept[key] = table.collect(frame, "", n_etas=1).lazy()
    rows, groups = (table.kept[key] for key in keys)
    return SweepTables(rows, groups, design.weighted)


def _sum_rows(
    table: ScoreTable,
    listed: pl.Series | None,
    design: Design,
    asked: Callable[[pl.LazyFrame], pl.LazyFrame] | None,
    *,
    checked: bool,
    ends_only: bool,
) -> SweepTables:
    """Return the running sums of each group and score, and the group table.

    With thresholds `listed`, there is one row per group and threshold in place of one per score. So it
    is with those that the function `asked` returns, from the group table: GROUP and SCORE. Rows and
    groups hold what the `design` needs for effective sizes. For `ends_only`, see `build_sweep`.
    """
    squares = bool(design.summed)
    # Cached because the rows and the sweep both join it; Polars would aggregate the table twice.
    groups = build_groups(table, class_totals(table, squares=squares)).cache()
    if checked and not table.float_sums:
        groups = check_groups(table, groups)
    rows = prepare_rows(table, groups, squares=squares)
    before = _BEFORE_GROUP | (_SQUARES_BEFORE_GROUP if squares else {})
    if table.float_sums:
        groups = groups.join(
            build_float_totals(table, groups, squares=squares),
            on=c.GROUP,
            how="left",
            maintain_order="left",
        )
        # A group whose weights are all 0 has no rows to add up.
        groups = groups.with_columns(pl.col(*before).fill_null(0))
        # Checked last: an error ahead of a group_by can lock the streaming engine.
        groups = check_groups(table, groups) if checked else groups
    marks = None if listed is None else _build_marks(groups, listed.drop_nulls())
    if asked is not None:
        marks = _add_zero_amounts(asked(groups))
    more, carried = design.summed, design.carried
    ordered = sort_rows(
        rows, table.score_dtype, labelled=table.labelled, marks=marks, more=more, carried=carried
    )
    ordered = design.add_sums(ordered)
    if ends_only and ordered.negatives_first:
        running = _sum_at_positives(ordered)
    else:
        kept = ordered.is_last if marks is None else ordered.is_mark
        running = _sum_at_scores(ordered, kept, design.sums)
    running = design.measure_rows(running)
    columns = [*_group_columns(table, before), *design.list_group_sizes()]
    groups = design.join_sizes(groups).with_columns(columns)
    if listed is not None and listed.null_count() > 0:
        running = _add_unreached_rows(running, groups, squares=squares)
    return SweepTables(running, groups, design.weighted)


def _group_columns(table: ScoreTable, before: Mapping[str, str]) -> list[pl.Expr]:
    """Return what is added to the group table: totals of the groups before, and WEIGHT_UNIT."""
    # Running sums add up what has a score.
    below = {} if table.unscored is None else _BELOW
    scored = {n: pl.col(n) - pl.col(below[n]) if n in below else pl.col(n) for n in before}
    columns = [(scored[n].cum_sum() - scored[n]).alias(name) for n, name in before.items()]
    # A null total makes every rate of an empty class null, without a test per row.
    columns += [pl.when(pl.col(total) > 0).then(total) for total in (c.N_POS, c.N_NEG)]
    unit: pl.Expr = pl.lit(1.0)
    if table.float_sums:
        unit = exact_sums.weight_unit(pl.min_horizontal(c.POS_EXPONENT, c.NEG_EXPONENT))
    return [*columns, unit.alias(c.WEIGHT_UNIT)]


def _sum_at_scores(ordered: SortedRows, kept: pl.Expr, also: Sequence[str] = ()) -> pl.LazyFrame:
    """Return the running sums of the rows where `kept` is true, with those of the kept row before.

    The columns `also` stay as they are.
    """
    sums = ordered.pos.cum_sum().alias(c.CUM_POS), ordered.neg.cum_sum().alias(c.CUM_NEG)
    squares = (pl.col(name).cum_sum().alias(_CUM_SQUARES[name][0]) for name in ordered.more)
    ends = ordered.ends_group.alias(c.ENDS_GROUP)
    running = ordered.frame.select(*ordered.columns, *sums, *squares, *also, ends, kept.alias(_IS_KEPT))
    return _decode_rows(
        ordered, running, pl.col(c.CUM_NEG).shift(1, fill_value=0), (*also, c.ENDS_GROUP)
    )


def _sum_at_positives(ordered: SortedRows) -> pl.LazyFrame:
    """Return the running sums at the scores of positives, with CUM_NEG_ABOVE null.

    Row numbers take the place of sums: nothing is added up, and no column of amounts is held in memory.
    Among equal scores negatives come first. So before positive number i (from 0) in row r there are i
    positives and r - i negatives, and no negative of its score comes after it.
    """
    positives = ordered.frame.with_row_index(c.CUM_NEG).filter(ordered.pos > 0).with_row_index(c.CUM_POS)
    pos_before = pl.col(c.CUM_POS).cast(pl.Int64)
    neg_before = pl.col(c.CUM_NEG).cast(pl.Int64) - pos_before
    sums = (pos_before + 1).alias(c.CUM_POS), neg_before.alias(c.CUM_NEG)
    # Among positives alone, `is_last` still finds the last row of each score that a positive has.
    running = positives.select(*ordered.columns, *sums, ordered.is_last.alias(_IS_KEPT))
    return _decode_rows(ordered, running, pl.lit(None, dtype=pl.Int64))


def _decode_rows(
    ordered: SortedRows, running: pl.LazyFrame, neg_above: pl.Expr, also: Sequence[str] = ()
) -> pl.LazyFrame:
    """Return the kept rows with group, score, their sums, and the sums of the kept row before.

    For the first row of a group that row belongs to the group before, and its sums are the totals of
    all earlier groups: just where this curve starts. With marks this need not hold, nor is it read.
    """
    above = {c.CUM_POS_ABOVE: pl.col(c.CUM_POS).shift(1, fill_value=0), c.CUM_NEG_ABOVE: neg_above}
    squares = [_CUM_SQUARES[name] for name in ordered.more]
    above |= {name: pl.col(cum).shift(1, fill_value=0) for cum, name in squares}
    # The shift comes before group and score are decoded, so that Polars moves a later filter on
    # CUM_POS and CUM_POS_ABOVE (such as "recall rises") ahead of the decoding.
    running = running.filter(_IS_KEPT).with_columns(**above)
    group, threshold = ordered.group.alias(c.GROUP), ordered.threshold.alias(c.SCORE)
    sums = (c.CUM_POS, c.CUM_NEG, *(cum for cum, _ in squares), *above)
    return running.select(group, threshold, *sums, *also)


def _add_unreached_rows(running: pl.LazyFrame, groups: pl.LazyFrame, *, squares: bool) -> pl.LazyFrame:
    """Add a first row to each group, with a null score that no score reaches: nothing is flagged there.

    A running sum starts at the totals of the groups before.
    """
    sums = {
        c.POS_BEFORE_GROUP: (c.CUM_POS, c.CUM_POS_ABOVE),
        c.NEG_BEFORE_GROUP: (c.CUM_NEG, c.CUM_NEG_ABOVE),
    }
    if squares:
        sums |= dict(zip(_SQUARES_BEFORE_GROUP.values(), _CUM_SQUARES.values(), strict=True))
    unreached = groups.select(
        c.GROUP, *(pl.col(before).alias(name) for before, names in sums.items() for name in names)
    )
    return pl.concat([running, unreached], how="diagonal_relaxed").sort(
        c.GROUP, c.SCORE, descending=[False, True]
    )


def add_unscored_rows(running: pl.LazyFrame, groups: pl.LazyFrame) -> pl.LazyFrame:
    """Add a last row to each group that has examples below all scores; its score is null."""
    has_some = groups.filter((pl.col(c.POS_BELOW) > 0) | (pl.col(c.NEG_BELOW) > 0))
    sums: dict[str, pl.Expr] = {}
    for total, (cum, above) in zip(_BELOW, _CUM_SUMS, strict=True):
        last = pl.col(_BEFORE_GROUP[total]) + pl.col(total).fill_null(0)
        sums |= {cum: last, above: last - pl.col(_BELOW[total])}
    below = has_some.select(c.GROUP, **sums)
    both = pl.concat([running, below], how="diagonal_relaxed").sort(c.GROUP, maintain_order=True)
    if c.ENDS_GROUP not in running.collect_schema():
        return both
    ends = pl.col(c.GROUP).ne_missing(pl.col(c.GROUP).shift(-1))
    return both.with_columns(ends.alias(c.ENDS_GROUP))


def _build_marks(groups: pl.LazyFrame, listed: pl.Series) -> pl.LazyFrame:
    """Return a mark for every group and listed threshold: a row that adds nothing to either class."""
    return groups.select(c.GROUP).join(_add_zero_amounts(pl.LazyFrame({c.SCORE: listed})), how="cross")


def _add_zero_amounts(frame: pl.LazyFrame) -> pl.LazyFrame:
    zero = pl.lit(0, dtype=pl.Int128)
    return frame.with_columns(zero.alias(name) for name in (c.POS, c.NEG, *_CUM_SQUARES))


# Checks of a query that adds up rows, made on its result ----------------------------------------

# An error ahead of a group_by can lock the streaming engine. So tallies travel along with the groups,
# and the query stops at its end.


def check_at_end(table: InputTable, frame: pl.LazyFrame, *others: Check) -> pl.LazyFrame:
    """Return `frame` without groups that do not count; the query stops if a check fails.

    First come the checks of all tallies, then those of `others`, which see only groups that count. The
    rows are in the order of GROUP. `others` may read FIRST_IN_GROUP, which is added.
    """
    # A join repeated the tallies of a group in all its rows: count those of the first row.
    first = pl.col(c.GROUP).ne_missing(pl.col(c.GROUP).shift(1))
    frame = frame.with_columns(first.alias(c.FIRST_IN_GROUP))
    once = (
        pl.when(c.FIRST_IN_GROUP).then(name).otherwise(0).alias(name) for name in table.tallies.tests
    )
    frame = stop_if_broken(frame.with_columns(once), table.tallies.checks)
    frame = keep_counted_groups(table, frame)
    return stop_if_broken(frame, others) if others else frame


def check_first(table: InputTable, pairs: pl.LazyFrame, *others: Check) -> None:
    """Run the checks of `check_at_end` now if the table is in memory, ahead of seconds of work.

    `pairs` are rows of groups, which need no sort of the table. Of a LazyFrame nothing is collected, and
    the checks are made at the end alone.
    """
    if table.is_in_memory:
        checked = check_at_end(table, pairs.sort(c.PAIR), *others).select(c.GROUP)
        table.collect(checked, "", n_etas=1)


def late_checks(table: InputTable, grid: EtaTable) -> list[Check]:
    """Return the checks for `check_at_end` besides tallies: prevalences, and recall that falls."""
    first = pl.col(c.FIRST_IN_GROUP)
    checks = [*eta_row_checks(grid, first), *own_eta_checks(table, grid, first)]
    if grid.shared is not None:
        checks.append(same_eta_check(grid.shared))
    if isinstance(table, RateTable):
        checks += point_checks(table, lambda name: pl.when(first).then(name).otherwise(0).sum())
    return checks
