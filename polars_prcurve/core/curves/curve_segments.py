"""Curves of all groups as segments, and the values of curve metrics over them.

    sweep -> segments     the rows that can matter, each with the row before it
          -> × eta        joined with the small table of groups and prevalences
          -> values       one row per group and prevalence, metrics side by side

Metrics that do not depend on prevalence are reduced before the join, and repeated after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product, zip_longest
from typing import NamedTuple, cast

import polars as pl

from polars_prcurve.core.confidence.interval_inputs import EffectiveSize
from polars_prcurve.core.curves.binormal import build_nodes, fit_binormal
from polars_prcurve.core.curves.curve_table import build_metric_rows
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows, sum_shares, to_whole_shares
from polars_prcurve.core.ground.group_joins import float_bits
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.input_tables import (
    InputTable,
    RateTable,
    ScoreTable,
    has_unscored,
)
from polars_prcurve.core.inputs.row_columns import Group, Row
from polars_prcurve.core.metrics.curve_metric import (
    SHORT,
    Average,
    CurveFacts,
    CurveMetric,
    Rows,
    find_vertices,
    odds_against,
)
from polars_prcurve.core.metrics.point_metric import null_if_nan
from polars_prcurve.core.metrics.segment_columns import Segment, Unseen
from polars_prcurve.core.prevalence.eta_grid import EtaTable, join_etas
from polars_prcurve.core.prevalence.group_eta_columns import Pair
from polars_prcurve.core.sweep.grouped_rows import SweepTables, class_sizes, has_class
from polars_prcurve.core.sweep.sweep_columns import GroupSums, SquareSegment, Sweep
from polars_prcurve.core.sweep.sweep_table import add_row_before, build_sweep, check_at_end, late_checks

_WEIGHT = f"{RESERVED}weight"  # of a prevalence in the mean over several


class CurveSegments(NamedTuple):
    """The curves of all groups, each cut into segments that an area adds up."""

    groups: pl.LazyFrame
    segments: Mapping[bool, pl.LazyFrame]
    """Rows of the curves (False), and of their convex hulls (True) if a metric needs them."""
    sizes: tuple[pl.Expr, pl.Expr]  # positives and negatives of a group
    facts: CurveFacts
    make_rows: Callable[[Callable[[str], pl.Expr]], Rows]
    """From a function that finds a column by its name, to what formulas read."""
    design: bool = False  # whether segments have shares of squared weights, SquareSegment.RISE and so on
    has_unscored: bool = False
    """Whether the last segment of a curve may be of examples that were never scored: SCORE is null."""
    of_pair: tuple[str, ...] = ()
    """Columns that formulas read from the pairs, where segments have none; see `read_from_pairs`."""

    def read_from_pairs(self, *names: str) -> CurveSegments:
        """Return the curves, of which formulas read these columns at each prevalence."""
        segments = {on_hull: frame.drop(names, strict=False) for on_hull, frame in self.segments.items()}
        return self._replace(segments=segments, of_pair=names)

    def build_pairs(self, grid: EtaTable) -> pl.LazyFrame:
        """Return one row per group and prevalence, numbered in Pair.NUMBER."""
        pairs = join_etas(self.groups, grid, *self.sizes, checked=False)
        return pairs.with_row_index(Pair.NUMBER).with_columns(
            odds_against(pl.col("eta")).alias(Segment.ODDS)
        )

    def compute_values(self, pairs: pl.LazyFrame, named: Mapping[str, CurveMetric]) -> pl.LazyFrame:
        """Add the value of each metric to the pairs, under its name in `named`."""
        averaged = {name: m for name, m in named.items() if m.recipe.averages is not None}
        summed = {name: m for name, m in named.items() if m.recipe.averages is None}
        rises = pl.when(pl.col(Segment.RISE) > 0).then(pl.col(Segment.FPR_OR_ZERO))
        fprs = self.segments[False].select(Group.NUMBER, rises.alias(Segment.LEAST_FPR))
        values = pairs.join(fprs.group_by(Group.NUMBER).min(), on=Group.NUMBER, how="left")
        # Metrics that read the same rows by the same key are reduced together, in one pass.
        for on_hull, on_eta in product((False, True), repeat=2):
            kind = on_hull, on_eta
            alike = {n: m for n, m in summed.items() if (m.recipe.on_hull, m.depends_on_eta) == kind}
            if alike:
                key, own_pairs = (Pair.NUMBER, pairs) if on_eta else (Group.NUMBER, None)
                values = values.join(self._reduce(alike, on_hull, own_pairs), on=key, how="left")
        values = values.with_columns(
            null_if_nan(metric.recipe.finish(pl.col(name), self.facts)).alias(name)
            for name, metric in summed.items()
        )
        for name, metric in averaged.items():  # means over prevalences, null where one value is null
            averaged_metric, etas, weights = average = cast("Average", metric.recipe.averages)
            nodes = pl.LazyFrame({"eta": etas, _WEIGHT: weights})
            curves = self._replace(of_pair=())  # no mean reads those columns, and its pairs have none
            at_nodes = curves.compute_values(
                curves.build_pairs(EtaTable(nodes)), {name: averaged_metric}
            )
            share = to_whole_shares(pl.col(name) * (pl.col(_WEIGHT) * average.unit))
            at_nodes = at_nodes.select(
                Group.NUMBER, share.alias(name), pl.col(name).is_null().alias(_WEIGHT)
            )
            mean = sum_shares(pl.col(name)) * (1 / average.unit)
            mean = mean.clip(*averaged_metric.range)  # rounding can push it just out of range
            mean_or_null = pl.when(~pl.col(_WEIGHT).any()).then(mean)
            means = at_nodes.group_by(Group.NUMBER).agg(mean_or_null.alias(name))
            values = values.join(means, on=Group.NUMBER, how="left")
        return values

    def _reduce(
        self, metrics: Mapping[str, CurveMetric], on_hull: bool, pairs: pl.LazyFrame | None
    ) -> pl.LazyFrame:
        """Return the totals of metrics over segments, by pair, or by group if `pairs` is None."""
        key = Group.NUMBER if pairs is None else Pair.NUMBER
        columns = (
            Group.NUMBER,
            Pair.NUMBER,
            "eta",
            Segment.ODDS,
            Pair.POS_FACTOR,
            Pair.NEG_FACTOR,
            *self.of_pair,
        )
        segments, recipes = self.segments[on_hull], [metric.recipe for metric in metrics.values()]
        if all(recipe.needs == "rises" for recipe in recipes):
            # Other metrics may have asked for more rows.
            segments = segments.filter(pl.col(Segment.RISE) > 0)
        rows = self.make_rows(pl.col)
        once = (recipe.once(rows).items() for recipe in recipes if recipe.once is not None)
        segments = segments.with_columns(**{name: e for items in once for name, e in items})
        parts = [(segments, False)]
        if any(recipe.has_short_form for recipe in recipes):
            # Logarithms of nearly equal numbers cancel, so short segments have a formula of their own.
            rises_little = pl.col(Segment.RISE) <= pl.col(Segment.RECALL_BEFORE) * SHORT
            short = (
                rises_little & (pl.col(Segment.RUN) <= pl.col(Segment.FPR_BEFORE) * SHORT)
            ).fill_null(False)
            parts = [(segments.filter(~short), False), (segments.filter(short), True)]
        terms = []
        for part, is_short in parts:
            frame = part if pairs is None else part.join(pairs.select(columns), on=Group.NUMBER)
            rows = replace(rows, short=is_short)
            for steps in zip_longest(*(recipe.steps for recipe in recipes)):
                bound = (step(rows).items() for step in steps if step is not None)
                frame = frame.with_columns(**{name: e for items in bound for name, e in items})
            values = {n: m.prepare_term(rows) for n, m in metrics.items()}
            if self.has_unscored:
                values = {n: metrics[n].recipe.leave_out_unscored(v) for n, v in values.items()}
            terms.append(frame.select(key, **values))
        totals = {name: metric.reduce_terms(pl.col(name)) for name, metric in metrics.items()}
        sums = [part.group_by(key).agg(**totals) for part in terms]
        reduced = pl.concat(sums).group_by(key).agg(**totals) if len(sums) > 1 else sums[0]
        return reduced.with_columns(**{n: m.restore_total(pl.col(n)) for n, m in metrics.items()})


def number_metrics(metrics: Sequence[CurveMetric]) -> dict[str, CurveMetric]:
    """Return the metrics by the names of their columns here."""
    return {f"{RESERVED}value_{i}": metric for i, metric in enumerate(metrics)}


def build_curves(
    table: InputTable, sweep: SweepTables, metrics: Sequence[CurveMetric], *, with_last: bool = False
) -> CurveSegments:
    """Return the curves of a table, with the rows that the metrics need, `with_last` the last ones."""
    rows = build_segments(table, sweep, metrics, with_last=with_last)
    # Used twice or more, and Polars would compute them anew for each use.
    segments = {on_hull: frame.cache() for on_hull, frame in build_hulls(table, rows, metrics).items()}
    return _assemble_curves(table, sweep.groups, segments)._replace(design=sweep.design)


def _has_weights(table: InputTable) -> bool:
    """Return whether examples do not count as one each."""
    return isinstance(table, ScoreTable) and (table.float_sums or table.weighted)


def _assemble_curves(
    table: InputTable, groups: pl.LazyFrame, segments: Mapping[bool, pl.LazyFrame]
) -> CurveSegments:
    has_positives, has_negatives = (has_class(table, name) for name in (Group.N_POS, Group.N_NEG))
    n_pos = n_neg = None
    if table.has_counts and not _has_weights(table):
        n_pos, n_neg = (pl.col(name).cast(pl.Float64) for name in (Group.N_POS, Group.N_NEG))
        if isinstance(table, RateTable) and table.may_lack_sizes:
            # Of an empty class the number is 0 there, and not null.
            n_pos, n_neg = pl.when(has_positives).then(n_pos), pl.when(has_negatives).then(n_neg)
    eta = repeat_in_rows(pl.col("eta"), pl.col(Pair.NUMBER))
    facts = CurveFacts(eta, has_positives, has_negatives, pl.col(Segment.LEAST_FPR), n_pos, n_neg)
    scores = table if isinstance(table, ScoreTable) else None  # points may end in one without counts
    make_rows, sizes, below = partial(build_metric_rows, scores), class_sizes(table), has_unscored(table)
    return CurveSegments(groups, segments, sizes, facts, make_rows, has_unscored=below)


def collect_curves(table: InputTable, metrics: Sequence[CurveMetric]) -> CurveSegments:
    """Build, check and collect the curves, for callers that evaluate them many times."""
    sweep = build_sweep(table)
    checks = late_checks(table, EtaTable(pl.LazyFrame()))
    groups = table.collect(check_at_end(table, sweep.groups.sort(Group.NUMBER), *checks), "", n_etas=1)
    rows = table.collect(build_segments(table, sweep, metrics), "", n_etas=1).lazy()
    hulls = build_hulls(table, rows, metrics).items()
    segments = {on_hull: table.collect(frame, "", n_etas=1).lazy() for on_hull, frame in hulls}
    return _assemble_curves(table, groups.lazy(), segments)


def build_binormal_curves(table: ScoreTable, sweep: SweepTables) -> CurveSegments:
    """Build the curves of the model that is fitted to each group, with nodes in place of segments."""
    segments = {False: build_nodes(fit_binormal(table, sweep)).cache()}
    curves = _assemble_curves(table, sweep.groups, segments)
    # Precision of a model is 0 at eta = 0.
    return curves._replace(facts=curves.facts._replace(least_fpr=pl.lit(1.0)))


def build_hulls(
    table: InputTable, segments: pl.LazyFrame, metrics: Sequence[CurveMetric]
) -> dict[bool, pl.LazyFrame]:
    """Return segments of the curves (False), and of their convex hulls (True) if a metric needs them."""
    names = [metric.name for metric in metrics if metric.recipe.on_hull]
    if not names:
        return {False: segments}
    if has_unscored(table):
        raise PrcError(
            f"{', '.join(names)}, of a convex hull, is not known where examples were never scored; "
            'leave it out, or leave out below= and missing="below"'
        )
    hull_rows = table.collect(segments, f"{', '.join(names)}, of a convex hull", n_etas=1)
    return {
        False: hull_rows.lazy(),
        True: add_extents(add_row_before(find_upper_hull(hull_rows).lazy())),
    }


def find_upper_hull(points: pl.DataFrame) -> pl.DataFrame:
    """Return the vertices of the hull of each group, with recall and fpr, sorted, without the origin."""
    # Whether a point is a vertex depends on which of its neighbours are, so Polars has no expression for
    # the hull: tables become arrays here.
    points = points.select(Group.NUMBER, "recall", fpr=Segment.FPR_OR_ZERO).filter(pl.col("recall") > 0)
    origin = points.select(pl.col(Group.NUMBER).unique(), recall=pl.lit(0.0), fpr=pl.lit(0.0))
    points = pl.concat([origin, points]).unique().sort(Group.NUMBER, "fpr", "recall")
    vertices = find_vertices(*(points[name].to_numpy() for name in (Group.NUMBER, "recall", "fpr")))
    return points[vertices].filter(pl.col("recall") > 0)


def build_segments(
    table: InputTable, sweep: SweepTables, metrics: Sequence[CurveMetric], *, with_last: bool = False
) -> pl.LazyFrame:
    """Return the rows that the metrics need, `with_last` the last ones, and where segments start."""
    frame = sweep.rows
    if isinstance(table, ScoreTable):
        # In terms of running sums, so that the filter is moved ahead of all that is made of them.
        rises = pl.col(Sweep.CUM_POS) > pl.col(Sweep.CUM_POS_ABOVE)
        early = pl.col(Sweep.CUM_NEG_ABOVE) == pl.col(GroupSums.NEG_BEFORE_GROUP)
    else:
        # Areas end at (1, 1); where it is listed, the segment added has no extent.
        corner = sweep.groups.select(Group.NUMBER, pl.lit(1.0).alias("recall"), pl.lit(1.0).alias("fpr"))
        points = pl.concat([frame.select(Group.NUMBER, "recall", "fpr"), corner])
        frame = add_row_before(points.sort(Group.NUMBER, "fpr", "recall"))
        at_corner = (pl.col("recall") == 1) & (pl.col("fpr") == 1)
        frame = frame.with_columns(at_corner.alias(Sweep.ENDS_GROUP))
        if table.has_counts:
            sizes = (EffectiveSize.N_POS, EffectiveSize.N_NEG, Segment.N_NEG_LOCAL, Unseen.SHARE)
            of_group = sweep.groups.select(Group.NUMBER, *sizes)
            frame = frame.join(of_group, on=Group.NUMBER, maintain_order="left")
        rises = pl.col("recall") > pl.col(Segment.RECALL_BEFORE)
        early = pl.col(Segment.FPR_BEFORE) == 0
    needs = {metric.recipe.needs for metric in metrics}
    if "all" not in needs:
        is_kept = rises | early if "corners" in needs else rises
        if with_last:
            is_kept |= pl.col(Sweep.ENDS_GROUP)
        frame = frame.filter(is_kept)
    frame = frame.with_columns(rises.alias(Segment.RISES))
    if any(metric.recipe.reads_half_positive for metric in metrics):
        is_counted = isinstance(table, ScoreTable) and not _has_weights(table)
        half = 0.5 / pl.col(Group.N_POS) if is_counted else pl.lit(0.0)
        frame = frame.with_columns(half.alias(Segment.HALF_POSITIVE))
    frame = add_extents(frame, metrics, unscored=has_unscored(table))
    if not sweep.design:
        return frame
    # Shares of squared weights; 0 if a group has no negatives.
    return frame.with_columns(
        pl.col(SquareSegment.FPR, SquareSegment.FPR_BEFORE).fill_null(0.0)
    ).with_columns(
        (pl.col(SquareSegment.RECALL) - pl.col(SquareSegment.RECALL_BEFORE)).alias(SquareSegment.RISE),
        (pl.col(SquareSegment.FPR) - pl.col(SquareSegment.FPR_BEFORE)).alias(SquareSegment.RUN),
    )


def add_extents(
    segments: pl.LazyFrame, metrics: Sequence[CurveMetric] = (), *, unscored: bool = False
) -> pl.LazyFrame:
    """Add what formulas read of a segment: Segment.RISE, RUN, and ENVELOPE if a metric reads it."""
    segments = segments.with_columns(
        pl.col("fpr").fill_null(0.0).alias(Segment.FPR_OR_ZERO),
        pl.col(Segment.FPR_BEFORE).fill_null(0.0),
    )
    segments = segments.with_columns(
        (pl.col("recall") - pl.col(Segment.RECALL_BEFORE)).alias(Segment.RISE),
        (pl.col(Segment.FPR_OR_ZERO) - pl.col(Segment.FPR_BEFORE)).alias(Segment.RUN),
        (pl.col(Segment.FPR_OR_ZERO) / pl.col("recall")).alias(Segment.FPR_RECALL_RATIO),
    )
    if not any(metric.recipe.reads_envelope for metric in metrics):
        return segments
    # The least ratio from each row to the end of its group. Seen from the last row up, group numbers
    # fall: packed above the bits of the ratio, they make one running minimum over the whole table start
    # anew at each group. Bits of floats >= 0 rise with them.
    row = f"{RESERVED}row"
    ratio = pl.col(Segment.FPR_RECALL_RATIO).fill_nan(None)
    if unscored:  # no threshold has the precision of all examples
        ratio = pl.when(pl.col(Row.SCORE).is_not_null()).then(ratio)
    ratio = ratio.fill_null(float("inf"))
    packed = pl.col(Group.NUMBER).cast(pl.Int128) * 2**64 + float_bits(ratio)
    lowest = packed.cum_min().cast(pl.Int64, wrap_numerical=True).reinterpret(dtype=pl.Float64)
    turned = segments.with_row_index(row).sort(row, descending=True)
    return turned.with_columns(lowest.alias(Segment.ENVELOPE)).sort(row)
