"""Running sums over the sorted rows of all groups, with one sort for the whole table.

    rows (and marks) -> sorted    by group and falling score
                     -> sums      over the whole table, one sum per class
                     -> kept      the last row of each score, or the marks; group and score decoded

The sums never start anew at a group, so their cost does not depend on the number of groups. `build`
joins the rows with their groups and subtracts the totals of earlier groups. Sums of integers lose
nothing by this detour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve import exact_sums
from polars_prcurve.inputs.score_table import ScoreTable
from polars_prcurve.sweep.group_table import (
    SweepTables,
    build_float_totals,
    build_groups,
    check_groups,
    class_totals,
    prepare_rows,
)
from polars_prcurve.sweep.sample_design import Design
from polars_prcurve.sweep.sort_key import SortedRows, sort_rows

_IS_KEPT = f"{c.RESERVED}kept"
_BEFORE_GROUP = {c.N_POS: c.POS_BEFORE_GROUP, c.N_NEG: c.NEG_BEFORE_GROUP}
_SQUARES_BEFORE_GROUP = {
    c.N_POS_SQUARES: c.POS_SQUARES_BEFORE_GROUP,
    c.N_NEG_SQUARES: c.NEG_SQUARES_BEFORE_GROUP,
}
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
    key = type(design), design.effective, ends_only
    if key not in table.kept:
        made = _sum_rows(table, None, design, None, checked=checked, ends_only=ends_only)
        rows, groups = (table.collect(frame, "", n_etas=1) for frame in (made.rows, made.groups))
        table.kept[key] = SweepTables(rows.lazy(), groups.lazy(), made.design)
    found: SweepTables = table.kept[key]
    return found


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
    columns = [(pl.col(total).cum_sum() - pl.col(total)).alias(name) for total, name in before.items()]
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


def _build_marks(groups: pl.LazyFrame, listed: pl.Series) -> pl.LazyFrame:
    """Return a mark for every group and listed threshold: a row that adds nothing to either class."""
    return groups.select(c.GROUP).join(_add_zero_amounts(pl.LazyFrame({c.SCORE: listed})), how="cross")


def _add_zero_amounts(frame: pl.LazyFrame) -> pl.LazyFrame:
    zero = pl.lit(0, dtype=pl.Int128)
    return frame.with_columns(zero.alias(name) for name in (c.POS, c.NEG, *_CUM_SQUARES))
