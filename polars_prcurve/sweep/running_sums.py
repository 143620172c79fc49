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

from polars_prcurve import exact_sums
from polars_prcurve.column_names import (
    CLUSTER,
    CUM_NEG,
    CUM_NEG_ABOVE,
    CUM_NEG_SQUARES,
    CUM_NEG_SQUARES_ABOVE,
    CUM_POS,
    CUM_POS_ABOVE,
    CUM_POS_SQUARES,
    CUM_POS_SQUARES_ABOVE,
    ENDS_GROUP,
    GROUP,
    N_NEG,
    N_NEG_EFFECTIVE,
    N_NEG_SQUARES,
    N_POS,
    N_POS_EFFECTIVE,
    N_POS_SQUARES,
    NEG,
    NEG_BEFORE_GROUP,
    NEG_EXPONENT,
    NEG_SQUARES,
    NEG_SQUARES_BEFORE_GROUP,
    POS,
    POS_BEFORE_GROUP,
    POS_EXPONENT,
    POS_SQUARES,
    POS_SQUARES_BEFORE_GROUP,
    RESERVED,
    SCORE,
    WEIGHT_UNIT,
)
from polars_prcurve.inputs.score_table import ScoreTable
from polars_prcurve.sweep.cluster_sizes import (
    CLUSTER_SUMS,
    add_cluster_sums,
    measure_cluster_sizes,
)
from polars_prcurve.sweep.design_sizes import group_design_columns, plain_design_columns
from polars_prcurve.sweep.group_table import (
    SweepTables,
    build_float_totals,
    build_groups,
    check_groups,
    class_totals,
    prepare_rows,
)
from polars_prcurve.sweep.part_sizes import join_part_sizes
from polars_prcurve.sweep.sort_key import SortedRows, sort_rows

_IS_KEPT = f"{RESERVED}kept"
_BEFORE_GROUP = {N_POS: POS_BEFORE_GROUP, N_NEG: NEG_BEFORE_GROUP}
_SQUARES_BEFORE_GROUP = {
    N_POS_SQUARES: POS_SQUARES_BEFORE_GROUP,
    N_NEG_SQUARES: NEG_SQUARES_BEFORE_GROUP,
}
_CUM_SQUARES = {
    POS_SQUARES: (CUM_POS_SQUARES, CUM_POS_SQUARES_ABOVE),
    NEG_SQUARES: (CUM_NEG_SQUARES, CUM_NEG_SQUARES_ABOVE),
}


def build_running_sums(
    table: ScoreTable,
    listed: pl.Series | None,
    *,
    asked: Callable[[pl.LazyFrame], pl.LazyFrame] | None = None,
    checked: bool = True,
    effective: bool = False,
    squares: bool = False,
    clusters: bool = False,
    ends_only: bool = False,
) -> SweepTables:
    """Return the running sums of each group and score, and the group table.

    With thresholds `listed`, there is one row per group and threshold in place of one per score. So it
    is with those that the function `asked` returns, from the group table: GROUP and SCORE. With
    `effective`, the group table holds effective sizes, and rows of weights hold sums of their squares,
    as rows of parts do with `squares`.
    With `clusters`, rows hold what `measure_cluster_sizes` adds.
    For `ends_only`, see `build_sweep`.
    """
    design = effective and table.has_squares
    squares = squares or design
    # Cached because the rows and the sweep both join it; Polars would aggregate the table twice.
    groups = build_groups(table, class_totals(table, squares=squares)).cache()
    if checked and not table.float_sums:
        groups = check_groups(table, groups)
    rows = prepare_rows(table, groups, squares=squares)
    before = _BEFORE_GROUP | (_SQUARES_BEFORE_GROUP if squares else {})
    if table.float_sums:
        groups = groups.join(
            build_float_totals(table, groups, squares=squares),
            on=GROUP,
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
    more, carried = tuple(_CUM_SQUARES) if squares else (), (CLUSTER,) if clusters else ()
    ordered = sort_rows(
        rows, table.score_dtype, labelled=table.labelled, marks=marks, more=more, carried=carried
    )
    if clusters:
        ordered = ordered._replace(frame=add_cluster_sums(ordered))
    if ends_only and ordered.negatives_first:
        running = _sum_at_positives(ordered)
    else:
        kept = ordered.is_last if marks is None else ordered.is_mark
        running = _sum_at_scores(ordered, kept, CLUSTER_SUMS if clusters else ())
    running = measure_cluster_sizes(running) if clusters else running
    if effective and table.parts is not None:
        groups = join_part_sizes(table, groups)
    groups = groups.with_columns(_group_columns(table, before, effective=effective))
    if listed is not None and listed.null_count() > 0:
        running = _add_unreached_rows(running, groups, squares=squares)
    return SweepTables(running, groups, design)


def _group_columns(table: ScoreTable, before: Mapping[str, str], *, effective: bool) -> list[pl.Expr]:
    """Return what is added to the group table: totals of the groups before, and sizes if `effective`."""
    columns = [(pl.col(total).cum_sum() - pl.col(total)).alias(name) for total, name in before.items()]
    # A null total makes every rate of an empty class null, without a test per row.
    columns += [pl.when(pl.col(total) > 0).then(total) for total in (N_POS, N_NEG)]
    unit: pl.Expr = pl.lit(1.0)
    if table.float_sums:
        unit = exact_sums.weight_unit(pl.min_horizontal(POS_EXPONENT, NEG_EXPONENT))
    columns.append(unit.alias(WEIGHT_UNIT))
    if not effective:
        return columns
    if table.has_squares:
        return [*columns, *group_design_columns(table)]
    if table.parts is not None:
        return [*columns, *plain_design_columns(pl.col(N_POS_EFFECTIVE), pl.col(N_NEG_EFFECTIVE))]
    # Without weights the effective sizes are the totals.
    n_pos, n_neg = (pl.col(total).cast(pl.Float64) for total in (N_POS, N_NEG))
    return [*columns, *plain_design_columns(n_pos, n_neg)]


def _sum_at_scores(ordered: SortedRows, kept: pl.Expr, also: Sequence[str] = ()) -> pl.LazyFrame:
    """Return the running sums of the rows where `kept` is true, with those of the kept row before.

    The columns `also` stay as they are.
    """
    sums = ordered.pos.cum_sum().alias(CUM_POS), ordered.neg.cum_sum().alias(CUM_NEG)
    squares = (pl.col(name).cum_sum().alias(_CUM_SQUARES[name][0]) for name in ordered.more)
    ends = ordered.ends_group.alias(ENDS_GROUP)
    running = ordered.frame.select(*ordered.columns, *sums, *squares, *also, ends, kept.alias(_IS_KEPT))
    return _decode_rows(ordered, running, pl.col(CUM_NEG).shift(1, fill_value=0), (*also, ENDS_GROUP))


def _sum_at_positives(ordered: SortedRows) -> pl.LazyFrame:
    """Return the running sums at the scores of positives, with CUM_NEG_ABOVE null.

    Row numbers take the place of sums: nothing is added up, and no column of amounts is held in memory.
    Among equal scores negatives come first. So before positive number i (from 0) in row r there are i
    positives and r - i negatives, and no negative of its score comes after it.
    """
    positives = ordered.frame.with_row_index(CUM_NEG).filter(ordered.pos > 0).with_row_index(CUM_POS)
    pos_before = pl.col(CUM_POS).cast(pl.Int64)
    neg_before = pl.col(CUM_NEG).cast(pl.Int64) - pos_before
    sums = (pos_before + 1).alias(CUM_POS), neg_before.alias(CUM_NEG)
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
    above = {CUM_POS_ABOVE: pl.col(CUM_POS).shift(1, fill_value=0), CUM_NEG_ABOVE: neg_above}
    squares = [_CUM_SQUARES[name] for name in ordered.more]
    above |= {name: pl.col(cum).shift(1, fill_value=0) for cum, name in squares}
    # The shift comes before group and score are decoded, so that Polars moves a later filter on
    # CUM_POS and CUM_POS_ABOVE (such as "recall rises") ahead of the decoding.
    running = running.filter(_IS_KEPT).with_columns(**above)
    group, threshold = ordered.group.alias(GROUP), ordered.threshold.alias(SCORE)
    sums = (CUM_POS, CUM_NEG, *(cum for cum, _ in squares), *above)
    return running.select(group, threshold, *sums, *also)


def _add_unreached_rows(running: pl.LazyFrame, groups: pl.LazyFrame, *, squares: bool) -> pl.LazyFrame:
    """Add a first row to each group, with a null score that no score reaches: nothing is flagged there.

    A running sum starts at the totals of the groups before.
    """
    sums = {POS_BEFORE_GROUP: (CUM_POS, CUM_POS_ABOVE), NEG_BEFORE_GROUP: (CUM_NEG, CUM_NEG_ABOVE)}
    if squares:
        sums |= dict(zip(_SQUARES_BEFORE_GROUP.values(), _CUM_SQUARES.values(), strict=True))
    unreached = groups.select(
        GROUP, *(pl.col(before).alias(name) for before, names in sums.items() for name in names)
    )
    return pl.concat([running, unreached], how="diagonal_relaxed").sort(
        GROUP, SCORE, descending=[False, True]
    )


def _build_marks(groups: pl.LazyFrame, listed: pl.Series) -> pl.LazyFrame:
    """Return a mark for every group and listed threshold: a row that adds nothing to either class."""
    return groups.select(GROUP).join(_add_zero_amounts(pl.LazyFrame({SCORE: listed})), how="cross")


def _add_zero_amounts(frame: pl.LazyFrame) -> pl.LazyFrame:
    zero = pl.lit(0, dtype=pl.Int128)
    return frame.with_columns(zero.alias(name) for name in (POS, NEG, *_CUM_SQUARES))
