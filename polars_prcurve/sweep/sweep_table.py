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

from polars_prcurve import column_names as c
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.score_table import InputTable, RateTable, ScoreTable
from polars_prcurve.prevalence.eta_table import EtaTable, join_etas, own_eta_checks
from polars_prcurve.query_checks import stop_if_broken
from polars_prcurve.sweep.group_table import SweepTables, class_sizes, to_count, to_square_sum
from polars_prcurve.sweep.published_rates import build_points
from polars_prcurve.sweep.row_choice import (
    CORNERS,
    Thresholds,
    drop_inner_negatives,
    keep_recall_steps,
    read_thresholds,
)
from polars_prcurve.sweep.running_sums import build_running_sums
from polars_prcurve.sweep.sample_design import Design, choose_design


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
    table: InputTable, *, effective: bool = False, clusters: bool = False, ends_only: bool = False
) -> SweepTables:
    """Return the sweep with its internal columns, and the group table, both unchecked.

    Callers that add up the rows check their result with `check_at_end`, because an error ahead of a
    group_by can lock the streaming engine. With `ends_only`, scores that no positive has may be missing,
    and CUM_NEG_ABOVE may be null: for metrics that read only the ends of segments. For `clusters`, see
    `build_eta_sweep`.
    """
    design = choose_design(table, effective=effective, clustered=clusters)
    if isinstance(table, ScoreTable):
        rows, groups, _ = build_running_sums(
            table, None, checked=False, design=design, ends_only=ends_only
        )
    else:
        rows, groups, _ = build_points(cast("RateTable", table), checked=False)
    groups = groups.cache()
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
    own_sums = {c.CUM_POS: c.CUM_POS_ABOVE, c.CUM_NEG: c.CUM_NEG_ABOVE}
    if weighted:
        own_sums |= {
            c.CUM_POS_SQUARES: c.CUM_POS_SQUARES_ABOVE,
            c.CUM_NEG_SQUARES: c.CUM_NEG_SQUARES_ABOVE,
        }
    own_counts = rows.with_columns(pl.col(cum) - pl.col(above) for cum, above in own_sums.items())
    frame = own_counts.join(groups, on=c.GROUP, maintain_order="left")
    n_pos, n_neg = to_count(table, pl.col(c.CUM_POS)), to_count(table, pl.col(c.CUM_NEG), c.NEG_EXPONENT)
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
        *(to_count(table, value).alias(name) for name, value in of_pos.items()),
        *(to_count(table, value, c.NEG_EXPONENT).alias(name) for name, value in of_neg.items()),
    )
    return with_counts.with_columns(
        # The total of an empty class is null, so that its rates are null; its counts are 0.
        pl.col("fn", "tn").fill_null(0),
        (pl.col("tp") / pl.col(c.N_POS)).alias("recall"),
        (pl.col("fp") / pl.col(c.N_NEG)).alias("fpr"),
        pl.col(c.RECALL_BEFORE) / pl.col(c.N_POS),
        pl.col(c.FPR_BEFORE) / pl.col(c.N_NEG),
    )
