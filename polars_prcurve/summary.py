"""The summary: curve metrics of each group at each prevalence, in one pass over one sweep.

    sweep -> segments     the rows that can matter, each with the row before it
          -> × eta        joined with the small table of groups and prevalences
          -> values       one row per group and prevalence, metrics side by side
          -> summary      one row per metric

Metrics that do not depend on prevalence are reduced before the join, and repeated after it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product, zip_longest
from typing import NamedTuple, cast

import polars as pl

from polars_prcurve.bands import Collect
from polars_prcurve.columns import (
    COPY,
    ENVELOPE,
    FPR,
    FPR_BEFORE,
    GROUP,
    N_NEG,
    N_POS,
    NEG_BEFORE,
    NEG_FACTOR,
    ODDS,
    PAIR,
    POS_BEFORE,
    POS_FACTOR,
    RECALL_BEFORE,
    RESERVED,
    RISE,
    RUN,
    RUN_POS,
    START_NEG,
    START_POS,
)
from polars_prcurve.curve import metric_values, stacked
from polars_prcurve.curve_metrics import Average, Curve, CurveMetric, Rows, odds_against
from polars_prcurve.exact import float_bits, sum_of_shares, whole_shares
from polars_prcurve.hull import upper_hull
from polars_prcurve.inputs import Input, ScoreTable
from polars_prcurve.prevalence import Grid, at_each_eta
from polars_prcurve.sweep import (
    checked_last,
    class_counts,
    class_sizes,
    counted,
    from_row_before,
    late_checks,
)

__all__ = ["SUMMARY", "summary_table"]

SUMMARY = ("eta", "n_pos", "n_neg", "metric", "value")
_LEAST_FPR = f"{RESERVED}least_fpr"
_WEIGHT = f"{RESERVED}weight"


def summary_table(
    table: Input,
    grid: Grid,
    metrics: Sequence[CurveMetric],
    *,
    collect: Collect,
) -> pl.LazyFrame:
    """`by`, eta, what the eta frame carries, and the rest of SUMMARY."""
    named = {f"{RESERVED}value_{i}": metric for i, metric in enumerate(metrics)}
    frame, groups = counted(table)
    segments = {False: _segments(table, frame, groups, metrics)}
    if names := [metric.name for metric in metrics if metric.on_hull]:
        found = collect(segments[False], f"{', '.join(names)}, of a convex hull")
        hull = _extents(from_row_before(upper_hull(found).lazy()))
        segments = {False: found.lazy(), True: hull}
    # Used twice or more, and Polars would compute them anew for each use.
    curves = _Curves(table, groups, {of_hull: frame.cache() for of_hull, frame in segments.items()})
    values = curves.values(curves.at(grid), named)
    values = checked_last(table, values.sort(PAIR), *late_checks(table, grid))
    values = values.with_columns(*class_counts(table), pl.col("eta").fill_nan(None))
    long = values.join(pl.LazyFrame({COPY: range(len(metrics))}), how="cross").sort(PAIR, COPY)
    columns = stacked({"value": [pl.col(name) for name in named]}, [m.name for m in metrics])
    eta, *others = SUMMARY
    return long.with_columns(columns).select(*table.by, eta, *grid.carried, *others)


class _Curves(NamedTuple):
    """The curves of all groups, as segments."""

    table: Input
    groups: pl.LazyFrame
    segments: Mapping[bool, pl.LazyFrame]
    """Of the curves themselves (False), and of their convex hulls (True) if a metric asks for them."""

    def at(self, grid: Grid) -> pl.LazyFrame:
        """One row per group and prevalence."""
        pairs = at_each_eta(self.groups, grid, *class_sizes(self.table), checked=False)
        return pairs.with_row_index(PAIR).with_columns(odds_against(pl.col("eta")).alias(ODDS))

    def values(self, pairs: pl.LazyFrame, named: Mapping[str, CurveMetric]) -> pl.LazyFrame:
        """The metrics at each pair, under their names here."""
        averaged = {name: m for name, m in named.items() if m.averages is not None}
        summed = {name: m for name, m in named.items() if m.averages is None}
        values = pairs.join(self._least_fpr(), on=GROUP, how="left")
        for on_hull, on_eta in product((False, True), repeat=2):
            chosen = {
                n: m for n, m in summed.items() if (m.on_hull, m.depends_on_eta) == (on_hull, on_eta)
            }
            if chosen:
                key = PAIR if on_eta else GROUP
                reduced = self._reduced(pairs, chosen, key, on_hull)
                values = values.join(reduced, on=key, how="left")
        values = values.with_columns(
            metric.finish(pl.col(name), _curve(self.table)).fill_nan(None).alias(name)
            for name, metric in summed.items()
        )
        for name, metric in averaged.items():
            values = values.join(self._averaged(name, metric), on=GROUP, how="left")
        return values

    def _least_fpr(self) -> pl.LazyFrame:
        rises = pl.when(pl.col(RISE) > 0).then(pl.col(FPR))
        return self.segments[False].select(GROUP, rises.alias(_LEAST_FPR)).group_by(GROUP).min()

    def _reduced(
        self, pairs: pl.LazyFrame, metrics: Mapping[str, CurveMetric], key: str, on_hull: bool
    ) -> pl.LazyFrame:
        """One total per key and metric."""
        frame = self.segments[on_hull]
        if key == PAIR:
            at_eta = pairs.select(GROUP, PAIR, "eta", ODDS, POS_FACTOR, NEG_FACTOR)
            frame = frame.join(at_eta, on=GROUP)
        rows = Rows(pl.col, pl.col("eta"), lambda metric: metric_values([metric], self.table)[0])
        for steps in zip_longest(*(metric.steps for metric in metrics.values())):
            bound = {name: e for step in steps if step is not None for name, e in step(rows).items()}
            frame = frame.with_columns(**bound)
        terms = {name: metric.prepared(rows) for name, metric in metrics.items()}
        totals = (metric.reduced(pl.col(name)).alias(name) for name, metric in metrics.items())
        return frame.select(key, **terms).group_by(key).agg(*totals)

    def _averaged(self, name: str, metric: CurveMetric) -> pl.LazyFrame:
        """The mean over prevalences, null where the metric is null at one of them."""
        of, etas, weights = cast("Average", metric.averages)
        nodes = pl.LazyFrame({"eta": etas, _WEIGHT: weights})
        at_nodes = self.values(self.at(Grid(nodes)), {name: of})
        # A metric without a bound needs a unit in which the sum is one of shares.
        unit = 1.0 if all(map(math.isfinite, of.range)) else 2.0**-60
        share = whole_shares(pl.col(name) * (pl.col(_WEIGHT) * unit))
        at_nodes = at_nodes.select(GROUP, share.alias(name), pl.col(name).is_null().alias(_WEIGHT))
        mean = (sum_of_shares(pl.col(name)) * (1 / unit)).clip(*of.range)  # but for rounding it is
        known = pl.when(~pl.col(_WEIGHT).any()).then(mean)
        return at_nodes.group_by(GROUP).agg(known.alias(name))


def _curve(table: Input) -> Curve:
    examples = isinstance(table, ScoreTable) and not table.float_sums
    sizes = (pl.col(name).cast(pl.Float64) if examples else pl.lit(None) for name in (N_POS, N_NEG))
    return Curve(
        # A column even if all are one number, by whose reciprocal Polars would multiply.
        pl.col("eta") + pl.col(PAIR) * 0.0,
        pl.col(N_POS).is_not_null() if isinstance(table, ScoreTable) else pl.lit(True),
        pl.col(N_NEG).is_not_null() if isinstance(table, ScoreTable) else pl.lit(True),
        pl.col(_LEAST_FPR),
        *sizes,
    )


def _segments(
    table: Input, frame: pl.LazyFrame, groups: pl.LazyFrame, metrics: Sequence[CurveMetric]
) -> pl.LazyFrame:
    """The rows that the metrics need, each with the end of the segment before it."""
    if isinstance(table, ScoreTable):
        # In terms of running sums, so that the filter is moved ahead of all that is made of them.
        rises = pl.col(RUN_POS) > pl.col(START_POS)
        first = (pl.col(START_POS) == pl.col(POS_BEFORE)) & (pl.col(START_NEG) == pl.col(NEG_BEFORE))
    else:
        # Areas end at (1, 1); where it is listed, the segment added has no extent.
        corner = groups.select(GROUP, pl.lit(1.0).alias("recall"), pl.lit(1.0).alias("fpr"))
        frame = from_row_before(pl.concat([frame.select(GROUP, "recall", "fpr"), corner]))
        rises = pl.col("recall") > pl.col(RECALL_BEFORE)
        first = pl.col(GROUP).ne_missing(pl.col(GROUP).shift(1))
    needs = {metric.needs for metric in metrics}
    if "all" not in needs:
        frame = frame.filter(rises | first if "corners" in needs else rises)
    frame = _extents(frame)
    return _with_envelope(frame) if any(metric.looks_ahead for metric in metrics) else frame


def _extents(segments: pl.LazyFrame) -> pl.LazyFrame:
    """Add what a segment covers; without negatives it covers no fpr."""
    segments = segments.with_columns(
        pl.col("fpr").fill_null(0.0).alias(FPR), pl.col(FPR_BEFORE).fill_null(0.0)
    )
    return segments.with_columns(
        (pl.col("recall") - pl.col(RECALL_BEFORE)).alias(RISE),
        (pl.col(FPR) - pl.col(FPR_BEFORE)).alias(RUN),
    )


def _with_envelope(segments: pl.LazyFrame) -> pl.LazyFrame:
    """Add the least `fpr / recall` from each row to the end of its group.

    From the last row up, group numbers fall; packed above the bits of the ratio, they make a
    running minimum start anew at each group.
    """
    row = f"{RESERVED}row"
    ratio = (pl.col(FPR) / pl.col("recall")).fill_nan(None).fill_null(float("inf"))
    packed = pl.col(GROUP).cast(pl.Int128) * 2**64 + float_bits(ratio)
    least = packed.cum_min().cast(pl.Int64, wrap_numerical=True).reinterpret(dtype=pl.Float64)
    return segments.with_row_index(row).sort(row, descending=True).with_columns(least.alias(ENVELOPE))
