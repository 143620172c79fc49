"""Curves of all groups, and their hulls, as segments: rows that can matter, each with the one before."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.group_joins import float_bits
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable, has_unscored
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.curve_arrays import find_vertices
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.segment_column_names import Segment, Unseen
from polars_prcurve.core.sweep.published_points import add_row_before
from polars_prcurve.core.sweep.sweep_column_names import GroupSums, SquareSegment, Sweep
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables


def weighs_examples(table: ResolvedTable) -> bool:
    """Return whether examples do not count as one each."""
    return isinstance(table, ScoreTable) and (table.has_float_sums or table.is_weighted)


def build_hulls(
    table: ResolvedTable, segment_rows: pl.LazyFrame, metrics: Sequence[CurveMetric]
) -> dict[bool, pl.LazyFrame]:
    """Return segments of the curves (False), and of their convex hulls (True) if a metric needs them."""
    hull_metric_names = [metric.name for metric in metrics if metric.recipe.on_hull]
    if not hull_metric_names:
        return {False: segment_rows}
    if has_unscored(table):
        raise PrcError(
            f"leave out {', '.join(hull_metric_names)}, or below= and "
            'missing="below": a convex hull is not known where examples were never scored'
        )
    hull_rows = table.collect(
        segment_rows, f"{', '.join(hull_metric_names)}, of a convex hull", n_etas=1
    )
    return {
        False: hull_rows.lazy(),
        True: add_extents(add_row_before(find_upper_hull(hull_rows).lazy())),
    }


def find_upper_hull(points: pl.DataFrame) -> pl.DataFrame:
    """Return the vertices of the hull of each group, with recall and fpr, sorted, without the origin."""
    # Whether a point is a vertex depends on which of its neighbours are, so Polars has no expression for
    # the hull: tables become arrays here.
    points = points.select(Group.NUMBER, "recall", fpr=Segment.FPR_OR_ZERO).filter(pl.col("recall") > 0)
    origins = points.select(pl.col(Group.NUMBER).unique(), recall=pl.lit(0.0), fpr=pl.lit(0.0))
    points = pl.concat([origins, points]).unique().sort(Group.NUMBER, "fpr", "recall")
    vertex_numbers = find_vertices(
        *(points[name].to_numpy() for name in (Group.NUMBER, "recall", "fpr"))
    )
    return points[vertex_numbers].filter(pl.col("recall") > 0)


def build_segments(
    table: ResolvedTable,
    sweep_tables: SweepTables,
    metrics: Sequence[CurveMetric],
    *,
    with_last_rows: bool = False,
) -> pl.LazyFrame:
    """Return the rows that metrics need, `with_last_rows` the last, too, and where segments start."""
    segment_rows = sweep_tables.rows
    if isinstance(table, ScoreTable):
        # In terms of running sums, so that the filter is moved ahead of all that is made of them.
        is_rise = pl.col(Sweep.CUM_POS) > pl.col(Sweep.CUM_POS_ABOVE)
        is_before_negatives = pl.col(Sweep.CUM_NEG_ABOVE) == pl.col(GroupSums.NEG_BEFORE_GROUP)
    else:
        segment_rows = _join_published_points(table, sweep_tables)
        is_rise = pl.col("recall") > pl.col(Segment.RECALL_BEFORE)
        is_before_negatives = pl.col(Segment.FPR_BEFORE) == 0
    needed_row_kinds = {metric.recipe.needs for metric in metrics}
    if "all" not in needed_row_kinds:
        is_kept = is_rise | is_before_negatives if "corners" in needed_row_kinds else is_rise
        if with_last_rows:
            is_kept |= pl.col(Sweep.ENDS_GROUP)
        segment_rows = segment_rows.filter(is_kept)
    segment_rows = segment_rows.with_columns(is_rise.alias(Segment.RISES))
    if any(metric.recipe.reads_half_positive for metric in metrics):
        has_example_counts = isinstance(table, ScoreTable) and not weighs_examples(table)
        half_positive = 0.5 / pl.col(Group.N_POS) if has_example_counts else pl.lit(0.0)
        segment_rows = segment_rows.with_columns(half_positive.alias(Segment.HALF_POSITIVE))
    segment_rows = add_extents(segment_rows, metrics, has_unscored_rows=has_unscored(table))
    if not sweep_tables.has_square_shares:
        return segment_rows
    # Shares of squared weights; 0 if a group has no negatives.
    return segment_rows.with_columns(
        pl.col(SquareSegment.FPR, SquareSegment.FPR_BEFORE).fill_null(0.0)
    ).with_columns(
        (pl.col(SquareSegment.RECALL) - pl.col(SquareSegment.RECALL_BEFORE)).alias(SquareSegment.RISE),
        (pl.col(SquareSegment.FPR) - pl.col(SquareSegment.FPR_BEFORE)).alias(SquareSegment.RUN),
    )


def _join_published_points(table: ResolvedTable, sweep_tables: SweepTables) -> pl.LazyFrame:
    """Return the points of published curves and their ends (1, 1), each with the point before it."""
    # Areas end at (1, 1); where it is listed, the segment added has no extent.
    is_added_exprs = [pl.lit(is_end).alias(Segment.IS_ADDED) for is_end in (False, True)]
    rate_exprs_of_all = pl.lit(1.0).alias("recall"), pl.lit(1.0).alias("fpr")
    end_points = sweep_tables.groups.select(Group.NUMBER, *rate_exprs_of_all, is_added_exprs[1])
    points = pl.concat(
        [sweep_tables.rows.select(Group.NUMBER, "recall", "fpr", is_added_exprs[0]), end_points]
    )
    segment_rows = add_row_before(points.sort(Group.NUMBER, "fpr", "recall", Segment.IS_ADDED))
    is_end_point = (pl.col("recall") == 1) & (pl.col("fpr") == 1)
    segment_rows = segment_rows.with_columns(is_end_point.alias(Sweep.ENDS_GROUP))
    if not table.has_counts:
        return segment_rows
    size_columns = (EffectiveSize.N_POS, EffectiveSize.N_NEG, Segment.N_NEG_LOCAL, Unseen.SHARE)
    group_sizes = sweep_tables.groups.select(Group.NUMBER, *size_columns)
    return segment_rows.join(group_sizes, on=Group.NUMBER, maintain_order="left")


def add_extents(
    segment_rows: pl.LazyFrame, metrics: Sequence[CurveMetric] = (), *, has_unscored_rows: bool = False
) -> pl.LazyFrame:
    """Add what formulas read of a segment: Segment.RISE, RUN, and ENVELOPE if a metric reads it."""
    segment_rows = segment_rows.with_columns(
        pl.col("fpr").fill_null(0.0).alias(Segment.FPR_OR_ZERO),
        pl.col(Segment.FPR_BEFORE).fill_null(0.0),
    )
    segment_rows = segment_rows.with_columns(
        (pl.col("recall") - pl.col(Segment.RECALL_BEFORE)).alias(Segment.RISE),
        (pl.col(Segment.FPR_OR_ZERO) - pl.col(Segment.FPR_BEFORE)).alias(Segment.RUN),
        (pl.col(Segment.FPR_OR_ZERO) / pl.col("recall")).alias(Segment.FPR_RECALL_RATIO),
    )
    if not any(metric.recipe.reads_envelope for metric in metrics):
        return segment_rows
    # The least ratio from each row to the end of its group. Seen from the last row up, group numbers
    # fall: packed above the bits of the ratio, they make one running minimum over the whole table start
    # anew at each group. Bits of floats >= 0 rise with them.
    row_number_column = f"{RESERVED}row"
    ratio = pl.col(Segment.FPR_RECALL_RATIO).fill_nan(None)
    if has_unscored_rows:  # no threshold has the precision of all examples
        ratio = pl.when(pl.col(Row.SCORE).is_not_null()).then(ratio)
    ratio = ratio.fill_null(float("inf"))
    packed_ratio = pl.col(Group.NUMBER).cast(pl.Int128) * 2**64 + float_bits(ratio)
    least_ratio_expr = (
        packed_ratio.cum_min().cast(pl.Int64, wrap_numerical=True).reinterpret(dtype=pl.Float64)
    )
    reversed_rows = segment_rows.with_row_index(row_number_column).sort(
        row_number_column, descending=True
    )
    return reversed_rows.with_columns(least_ratio_expr.alias(Segment.ENVELOPE)).sort(row_number_column)
