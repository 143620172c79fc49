"""The sweep: cumulative counts at every distinct score of every group, by one sort.

    score table -> groups        one row per group: number, totals, checks
                -> running sums  one row per distinct score: sums over the whole table
                -> sweep         both joined; the totals of earlier groups are subtracted

No step works group by group, so ten groups and a hundred thousand groups cost much the same. Sums of
weights are exact: a power of two per group makes integers of the weights (see `exact_sums`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import polars as pl

from polars_prcurve.argument_kinds import read_flag
from polars_prcurve.column_names import (
    COUNT_COLUMNS,
    CUM_NEG,
    CUM_NEG_ABOVE,
    CUM_NEG_SQUARES,
    CUM_NEG_SQUARES_ABOVE,
    CUM_POS,
    CUM_POS_ABOVE,
    CUM_POS_SQUARES,
    CUM_POS_SQUARES_ABOVE,
    FPR_BEFORE,
    GROUP,
    N_NEG,
    N_POS,
    NEG_BEFORE_GROUP,
    NEG_EXPONENT,
    POS_BEFORE_GROUP,
    POS_EXPONENT,
    RECALL_BEFORE,
    SCORE,
    SQUARE_COLUMNS,
    SWEEP_COLUMNS,
)
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.score_table import InputTable, RateTable, ScoreTable, is_field
from polars_prcurve.prevalence.eta_table import EtaTable, join_etas, own_eta_checks
from polars_prcurve.query_checks import stop_if_broken
from polars_prcurve.sweep.cluster_sizes import set_cluster_sizes
from polars_prcurve.sweep.design_sizes import add_design_shares, set_design_sizes
from polars_prcurve.sweep.group_table import SweepTables, class_sizes, to_count, to_square_sum
from polars_prcurve.sweep.part_sizes import add_effective_counts
from polars_prcurve.sweep.published_rates import build_points
from polars_prcurve.sweep.row_choice import (
    Thresholds,
    drop_inner_negatives,
    keep_recall_steps,
    read_thresholds,
)
from polars_prcurve.sweep.running_sums import build_running_sums


def build_sweep_table(
    table: InputTable, *, drop_intermediate: bool = False, thresholds: Thresholds = None
) -> pl.LazyFrame:
    """Return the result of `sweep`: the `by` columns, then SWEEP_COLUMNS."""
    frame = build_eta_sweep(None, table, drop_intermediate=drop_intermediate, thresholds=thresholds)
    return frame.select(*table.by, *SWEEP_COLUMNS)


def build_eta_sweep(
    grid: EtaTable | None,
    table: InputTable,
    *,
    drop_intermediate: bool = False,
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
    if read_flag("drop_intermediate=", drop_intermediate) and thresholds is not None:
        raise PrcError("drop_intermediate= and thresholds= both choose rows; pass one of them")
    steps, read = read_thresholds(thresholds, table)
    if isinstance(table, ScoreTable):
        marks = read if listed is None else listed
        rows, groups, design = build_running_sums(
            table, marks, effective=effective, squares=is_field(table), clusters=clusters
        )
    else:
        rows, groups, design = build_points(cast("RateTable", table))
    if drop_intermediate:
        rows = drop_inner_negatives(rows)
    if steps is not None:  # before they are repeated at each prevalence, which does not change them
        counted = _join_counts(table, rows, groups)
        rows = keep_recall_steps(counted, steps).select(rows.collect_schema().names())
    if grid is None:
        frame = rows.join(groups, on=GROUP, maintain_order="left")
    else:
        groups = join_etas(groups, grid, *class_sizes(table))
        if checks := own_eta_checks(table, grid, pl.lit(True)):
            groups = stop_if_broken(groups, checks)
        if grid.has_one_row_per_group:
            frame = rows.join(groups, on=GROUP, maintain_order="left")
        else:
            # With the groups on the left, the join itself puts the rows in order.
            frame = groups.join(rows, on=GROUP, maintain_order="left_right")
    frame = add_effective_counts(frame) if is_field(table) else frame
    frame = add_counts(table, frame) if isinstance(table, ScoreTable) else frame
    frame = set_design_sizes(cast("ScoreTable", table), frame) if design else frame
    return set_cluster_sizes(frame) if clusters else frame


def build_sweep(
    table: InputTable, *, effective: bool = False, clusters: bool = False, ends_only: bool = False
) -> SweepTables:
    """Return the sweep with its internal columns, and the group table, both unchecked.

    Callers that add up the rows check their result with `check_at_end`, because an error ahead of a
    group_by can lock the streaming engine. With `ends_only`, scores that no positive has may be missing,
    and CUM_NEG_ABOVE may be null: for metrics that read only the ends of segments. For `clusters`, see
    `build_eta_sweep`.
    """
    if isinstance(table, ScoreTable):
        rows, groups, design = build_running_sums(
            table,
            None,
            checked=False,
            effective=effective,
            clusters=clusters,
            ends_only=ends_only,
        )
    else:
        rows, groups, design = build_points(cast("RateTable", table), checked=False)
    groups = groups.cache()
    frame = _join_counts(table, rows, groups)
    if design:
        scores = cast("ScoreTable", table)
        frame = add_design_shares(scores, set_design_sizes(scores, frame))
    frame = set_cluster_sizes(frame) if clusters else frame
    return SweepTables(frame, groups, design)


def count_scores(table: InputTable, columns: Sequence[str] = COUNT_COLUMNS) -> pl.LazyFrame:
    """Return the result of `counts`: the `by` columns, then `columns` for each distinct score.

    Of weights there are SQUARE_COLUMNS, too.
    Of a table without labels, whose rows stand as negatives, these are UNLABELLED_COLUMNS.
    """
    if not isinstance(table, ScoreTable):
        raise PrcError("rates= holds no counts of scores; counts() needs scores and labels")
    rows, groups, design = build_running_sums(table, None, effective=table.has_squares)
    own_sums = {CUM_POS: CUM_POS_ABOVE, CUM_NEG: CUM_NEG_ABOVE}
    if design:
        own_sums |= {CUM_POS_SQUARES: CUM_POS_SQUARES_ABOVE, CUM_NEG_SQUARES: CUM_NEG_SQUARES_ABOVE}
    own_counts = rows.with_columns(pl.col(cum) - pl.col(above) for cum, above in own_sums.items())
    frame = own_counts.join(groups, on=GROUP, maintain_order="left")
    n_pos, n_neg = to_count(table, pl.col(CUM_POS)), to_count(table, pl.col(CUM_NEG), NEG_EXPONENT)
    values = {"score": pl.col(SCORE), "n_pos": n_pos, "n_neg": n_neg, "n": n_neg}
    if design:
        squares = ((CUM_POS_SQUARES, POS_EXPONENT), (CUM_NEG_SQUARES, NEG_EXPONENT))
        sums = (to_square_sum(table, pl.col(name), exponent) for name, exponent in squares)
        values |= dict(zip(SQUARE_COLUMNS, sums, strict=True))
        columns = (*columns, *SQUARE_COLUMNS)
    return frame.select(*table.by, *(values[name].alias(name) for name in columns))


def _join_counts(table: InputTable, rows: pl.LazyFrame, groups: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows of a sweep beside their groups, with counts and rates."""
    frame = rows.join(groups, on=GROUP, maintain_order="left")
    return add_counts(table, frame) if isinstance(table, ScoreTable) else frame


def add_counts(table: ScoreTable, frame: pl.LazyFrame) -> pl.LazyFrame:
    """Add SWEEP_COLUMNS to running sums that are joined with their groups, and the rates before a row.

    The rates divide what users see as counts, so the last recall of a curve is exactly 1.
    """
    # Running sums go on from one group to the next; subtract the totals of earlier groups.
    tp, fp = pl.col(CUM_POS) - pl.col(POS_BEFORE_GROUP), pl.col(CUM_NEG) - pl.col(NEG_BEFORE_GROUP)
    fn, tn = pl.col(N_POS) - tp, pl.col(N_NEG) - fp
    # Divide by `tp + fn`, not by the joined total: with a single group Polars may hold that total as one
    # number, and it multiplies by the reciprocal of a number. 49 * (1 / 49) is not 1.
    of_pos = {
        "tp": tp,
        "fn": fn,
        N_POS: tp + fn,
        RECALL_BEFORE: pl.col(CUM_POS_ABOVE) - pl.col(POS_BEFORE_GROUP),
    }
    of_neg = {
        "fp": fp,
        "tn": tn,
        N_NEG: fp + tn,
        FPR_BEFORE: pl.col(CUM_NEG_ABOVE) - pl.col(NEG_BEFORE_GROUP),
    }
    with_counts = frame.with_columns(
        pl.col(SCORE).alias("threshold"),
        *(to_count(table, value).alias(name) for name, value in of_pos.items()),
        *(to_count(table, value, NEG_EXPONENT).alias(name) for name, value in of_neg.items()),
    )
    return with_counts.with_columns(
        # The total of an empty class is null, so that its rates are null; its counts are 0.
        pl.col("fn", "tn").fill_null(0),
        (pl.col("tp") / pl.col(N_POS)).alias("recall"),
        (pl.col("fp") / pl.col(N_NEG)).alias("fpr"),
        pl.col(RECALL_BEFORE) / pl.col(N_POS),
        pl.col(FPR_BEFORE) / pl.col(N_NEG),
    )
