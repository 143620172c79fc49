"""Curves of all groups as segments, and the values of curve metrics over them.

    sweep -> segments     the rows that can matter, each with the row before it
          -> × eta        joined with the small table of groups and prevalences
          -> values       one row per group and prevalence, metrics side by side

Metrics that do not depend on prevalence are reduced before the join, and repeated after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product, zip_longest
from typing import NamedTuple, cast

import polars as pl

from polars_prcurve.bands import Collect
from polars_prcurve.binormal import fitted, nodes
from polars_prcurve.columns import (
    ENVELOPE,
    FPR,
    FPR_BEFORE,
    GAP,
    GROUP,
    LEAST_FPR,
    N_NEG,
    N_POS,
    NEG_BEFORE,
    ODDS,
    PAIR,
    RATIO,
    RECALL_BEFORE,
    RESERVED,
    RISE,
    RUN,
    RUN_POS,
    START_NEG,
    START_POS,
)
from polars_prcurve.curve import rows_of
from polars_prcurve.curve_metrics import SHORT, Average, Curve, CurveMetric, Rows, Step, odds_against
from polars_prcurve.exact import float_bits, sum_of_shares, whole_shares
from polars_prcurve.hull import upper_hull
from polars_prcurve.influence import centred, with_influences
from polars_prcurve.inputs import Input, ScoreTable
from polars_prcurve.lanes import Lanes, lanes_of
from polars_prcurve.prevalence import Grid, at_each_eta
from polars_prcurve.sweep import (
    Parts,
    checked_last,
    class_sizes,
    counted,
    from_row_before,
    late_checks,
)

__all__ = [
    "Curves",
    "curves_in_memory",
    "curves_of",
    "curves_of_model",
    "extents",
    "numbered",
    "segments_of",
    "with_hulls",
]

_WEIGHT = f"{RESERVED}weight"


class Curves(NamedTuple):
    """The curves of all groups, as segments."""

    groups: pl.LazyFrame
    segments: Mapping[bool, pl.LazyFrame]
    """Of the curves themselves (False), and of their convex hulls (True) if a metric asks for them."""
    sizes: tuple[pl.Expr, pl.Expr]
    """Positives and negatives of a group."""
    whole: Curve
    rows: Callable[[Callable[[str], pl.Expr]], Rows]
    """The segments, from their columns by name."""

    def at(self, grid: Grid) -> pl.LazyFrame:
        """One row per group and prevalence."""
        pairs = at_each_eta(self.groups, grid, *self.sizes, checked=False)
        return pairs.with_row_index(PAIR).with_columns(odds_against(pl.col("eta")).alias(ODDS))

    def values(
        self, pairs: pl.LazyFrame, named: Mapping[str, CurveMetric], *, each: int | None = None
    ) -> pl.LazyFrame:
        """The metrics at each pair, under their names here.

        It is faster to know that pairs are in order, and how many there are of `each` group.
        """
        averaged = {name: m for name, m in named.items() if m.averages is not None}
        summed = {name: m for name, m in named.items() if m.averages is None}
        values = pairs.join(self._least_fpr(), on=GROUP, how="left")
        for on_hull, on_eta in product((False, True), repeat=2):
            chosen = {
                n: m for n, m in summed.items() if (m.on_hull, m.depends_on_eta) == (on_hull, on_eta)
            }
            if chosen:
                key = PAIR if on_eta else GROUP
                reduced = self._reduced(pairs, chosen, key, on_hull, each)
                values = values.join(reduced, on=key, how="left")
        values = values.with_columns(
            metric.finish(pl.col(name), self.whole).fill_nan(None).alias(name)
            for name, metric in summed.items()
        )
        for name, metric in averaged.items():
            values = values.join(self._averaged(name, metric), on=GROUP, how="left")
        return values

    def _least_fpr(self) -> pl.LazyFrame:
        rises = pl.when(pl.col(RISE) > 0).then(pl.col(FPR))
        return self.segments[False].select(GROUP, rises.alias(LEAST_FPR)).group_by(GROUP).min()

    def _reduced(
        self,
        pairs: pl.LazyFrame,
        metrics: Mapping[str, CurveMetric],
        key: str,
        on_hull: bool,
        each: int | None,
    ) -> pl.LazyFrame:
        """One total per key and metric."""
        frame = self.segments[on_hull]
        if all(metric.needs == "rises" for metric in metrics.values()):
            frame = frame.filter(pl.col(RISE) > 0)  # there may be others for others' sake
        frame = frame.with_columns(**_bound([m.once for m in metrics.values()], self.rows(pl.col)))
        lanes = lanes_of(each if key == PAIR else None)
        at_eta = lanes.abreast(pairs) if key == PAIR else None
        parts = []
        for part, short in _by_length(frame, metrics.values()):
            at = part if at_eta is None else part.join(at_eta, on=GROUP)
            rows = [replace(self.rows(column), short=short) for column in lanes.columns()]
            for steps in zip_longest(*(metric.steps for metric in metrics.values())):
                at = at.with_columns(**lanes.made(partial(_bound, steps), rows))
            terms = lanes.made(lambda of: {name: m.prepared(of) for name, m in metrics.items()}, rows)
            parts.append(at.select(key, **terms))
        totals = _of_each(CurveMetric.reduced, metrics, lanes)
        parts = [part.group_by(key).agg(**totals) for part in parts]
        reduced = pl.concat(parts).group_by(key).agg(**totals) if len(parts) > 1 else parts[0]
        values = reduced.with_columns(**_of_each(CurveMetric.restored, metrics, lanes))
        return lanes.in_turn(values, list(metrics))

    def influences(
        self, pairs: pl.LazyFrame, named: Mapping[str, CurveMetric]
    ) -> Iterator[tuple[str, list[str], pl.LazyFrame]]:
        """For each key, GROUP or PAIR, the metrics that have influences by it, and those, centred."""
        same = pl.col(GROUP) == pl.col(GROUP).shift(1)
        above = pl.when(same).then(pl.col(FPR).shift(1)).otherwise(0.0)
        rows = self.segments[False].with_columns((pl.col(FPR_BEFORE) - above).alias(GAP))
        for key, on_eta in ((GROUP, False), (PAIR, True)):
            chosen = {
                name: metric.influence
                for name, metric in named.items()
                if metric.depends_on_eta == on_eta and metric.influence is not None
            }
            if chosen:
                # The pairs on the left, so that the join leaves each curve in order.
                at_eta = pairs.select(GROUP, PAIR, "eta", ODDS)
                frame = at_eta.join(rows, on=GROUP, maintain_order="left_right") if on_eta else rows
                frame = centred(with_influences(frame, self.rows(pl.col), key, chosen), key, chosen)
                yield key, list(chosen), frame

    def _averaged(self, name: str, metric: CurveMetric) -> pl.LazyFrame:
        """The mean over prevalences, null where the metric is null at one of them."""
        of, etas, weights = cast("Average", metric.averages)
        nodes = pl.LazyFrame({"eta": etas, _WEIGHT: weights})
        at_nodes = self.values(self.at(Grid(nodes)), {name: of}, each=len(etas))
        # A metric without a bound needs a unit in which the sum is one of shares.
        unit = 1.0 if all(map(math.isfinite, of.range)) else 2.0**-60
        share = whole_shares(pl.col(name) * (pl.col(_WEIGHT) * unit))
        at_nodes = at_nodes.select(GROUP, share.alias(name), pl.col(name).is_null().alias(_WEIGHT))
        mean = (sum_of_shares(pl.col(name)) * (1 / unit)).clip(*of.range)  # but for rounding it is
        known = pl.when(~pl.col(_WEIGHT).any()).then(mean)
        return at_nodes.group_by(GROUP).agg(known.alias(name))


def numbered(metrics: Sequence[CurveMetric]) -> dict[str, CurveMetric]:
    """The metrics by what their columns are called here."""
    return {f"{RESERVED}value_{i}": metric for i, metric in enumerate(metrics)}


def curves_of(
    table: Input,
    found: Parts,
    metrics: Sequence[CurveMetric],
    *,
    collect: Collect,
    with_last: bool = False,
) -> Curves:
    """The curves of a table, of the rows that the metrics need (and `with_last` the last of each)."""
    rows = segments_of(table, found, metrics, with_last=with_last)
    # Used twice or more, and Polars would compute them anew for each use.
    segments = {on: frame.cache() for on, frame in with_hulls(rows, metrics, collect).items()}
    return _curves(table, found.groups, segments)


def _curves(table: Input, groups: pl.LazyFrame, segments: Mapping[bool, pl.LazyFrame]) -> Curves:
    return Curves(groups, segments, class_sizes(table), _whole(table), partial(rows_of, table))


def curves_in_memory(table: Input, metrics: Sequence[CurveMetric], *, collect: Collect) -> Curves:
    """The same, checked and collected, for who asks again and again."""
    found = counted(table)
    checks = late_checks(table, Grid(pl.LazyFrame()))
    groups = collect(checked_last(table, found.groups.sort(GROUP), *checks), "")
    rows = collect(segments_of(table, found, metrics), "").lazy()
    segments = {
        on: collect(frame, "").lazy() for on, frame in with_hulls(rows, metrics, collect).items()
    }
    return _curves(table, groups.lazy(), segments)


def curves_of_model(table: ScoreTable, found: Parts) -> Curves:
    """The curves of the model that is fitted to each group, with nodes in place of segments."""
    segments = {False: nodes(fitted(table, found)).cache()}
    curves = _curves(table, found.groups, segments)
    # Precision of a model is 0 at eta = 0.
    return curves._replace(whole=curves.whole._replace(least_fpr=pl.lit(1.0)))


def with_hulls(
    segments: pl.LazyFrame, metrics: Sequence[CurveMetric], collect: Collect
) -> dict[bool, pl.LazyFrame]:
    """Segments of the curves (False), and of their convex hulls (True) if a metric asks for them."""
    names = [metric.name for metric in metrics if metric.on_hull]
    if not names:
        return {False: segments}
    found = collect(segments, f"{', '.join(names)}, of a convex hull")
    return {False: found.lazy(), True: extents(from_row_before(upper_hull(found).lazy()))}


def _of_each(
    change: Callable[[CurveMetric, pl.Expr], pl.Expr], metrics: Mapping[str, CurveMetric], lanes: Lanes
) -> dict[str, pl.Expr]:
    """The metrics' columns, in all lanes, changed."""
    return lanes.made(
        lambda column: {name: change(metric, column(name)) for name, metric in metrics.items()},
        lanes.columns(),
    )


def _by_length(
    segments: pl.LazyFrame, metrics: Iterable[CurveMetric]
) -> list[tuple[pl.LazyFrame, bool]]:
    """The segments in parts, and whether those of a part are short."""
    if not any(metric.minds_length for metric in metrics):
        return [(segments, False)]
    rises_little = pl.col(RISE) <= pl.col(RECALL_BEFORE) * SHORT
    short = (rises_little & (pl.col(RUN) <= pl.col(FPR_BEFORE) * SHORT)).fill_null(False)
    return [(segments.filter(~short), False), (segments.filter(short), True)]


def _bound(steps: Sequence[Step | None], rows: Rows) -> dict[str, pl.Expr]:
    return {name: e for step in steps if step is not None for name, e in step(rows).items()}


def _whole(table: Input) -> Curve:
    examples = isinstance(table, ScoreTable) and not table.float_sums
    sizes = (pl.col(name).cast(pl.Float64) if examples else pl.lit(None) for name in (N_POS, N_NEG))
    return Curve(
        # A column even if all are one number, by whose reciprocal Polars would multiply.
        pl.col("eta") + pl.col(PAIR) * 0.0,
        pl.col(N_POS).is_not_null() if isinstance(table, ScoreTable) else pl.lit(True),
        pl.col(N_NEG).is_not_null() if isinstance(table, ScoreTable) else pl.lit(True),
        pl.col(LEAST_FPR),
        *sizes,
    )


def segments_of(
    table: Input, found: Parts, metrics: Sequence[CurveMetric], *, with_last: bool = False
) -> pl.LazyFrame:
    """The rows that the metrics need, each with the end of the segment before it.

    And `with_last` the last of each curve.
    """
    frame = found.rows
    if isinstance(table, ScoreTable):
        # In terms of running sums, so that the filter is moved ahead of all that is made of them.
        rises = pl.col(RUN_POS) > pl.col(START_POS)
        early = pl.col(START_NEG) == pl.col(NEG_BEFORE)
    else:
        # Areas end at (1, 1); where it is listed, the segment added has no extent.
        corner = found.groups.select(GROUP, pl.lit(1.0).alias("recall"), pl.lit(1.0).alias("fpr"))
        frame = from_row_before(pl.concat([frame.select(GROUP, "recall", "fpr"), corner]))
        rises = pl.col("recall") > pl.col(RECALL_BEFORE)
        early = pl.col(FPR_BEFORE) == 0
    needs = {metric.needs for metric in metrics}
    if "all" not in needs:
        kept = rises | early if "corners" in needs else rises
        if with_last:
            # Not by totals, which are in the unit of the weights, and not in that of running sums.
            kept |= (pl.col("fn") == 0) & (pl.col("tn") == 0)
        frame = frame.filter(kept)
    return extents(frame, metrics)


def extents(segments: pl.LazyFrame, metrics: Sequence[CurveMetric] = ()) -> pl.LazyFrame:
    """Add what a segment covers, without negatives no fpr, and what the metrics look ahead for."""
    segments = segments.with_columns(
        pl.col("fpr").fill_null(0.0).alias(FPR), pl.col(FPR_BEFORE).fill_null(0.0)
    )
    segments = segments.with_columns(
        (pl.col("recall") - pl.col(RECALL_BEFORE)).alias(RISE),
        (pl.col(FPR) - pl.col(FPR_BEFORE)).alias(RUN),
        (pl.col(FPR) / pl.col("recall")).alias(RATIO),
    )
    return _with_envelope(segments) if any(m.looks_ahead for m in metrics) else segments


def _with_envelope(segments: pl.LazyFrame) -> pl.LazyFrame:
    """Add the least `fpr / recall` from each row to the end of its group.

    From the last row up, group numbers fall; packed above the bits of the ratio, they make a
    running minimum start anew at each group.
    """
    row = f"{RESERVED}row"
    ratio = pl.col(RATIO).fill_nan(None).fill_null(float("inf"))
    packed = pl.col(GROUP).cast(pl.Int128) * 2**64 + float_bits(ratio)
    least = packed.cum_min().cast(pl.Int64, wrap_numerical=True).reinterpret(dtype=pl.Float64)
    turned = segments.with_row_index(row).sort(row, descending=True)
    return turned.with_columns(least.alias(ENVELOPE)).sort(row)
