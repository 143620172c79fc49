"""The summary: curve metrics of each group at each prevalence, in one pass over one sweep.

    sweep -> segments     the rows that can matter, each with the row before it
          -> × eta        joined with the small table of groups and prevalences
          -> values       one row per group and prevalence, metrics side by side
          -> summary      one row per metric

Metrics that do not depend on prevalence are reduced before the join, and repeated after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

import polars as pl

from polars_prcurve.columns import (
    COPY,
    ENVELOPE,
    FIRST,
    FPR_BEFORE,
    GROUP,
    N_NEG,
    N_POS,
    NEG_FACTOR,
    PAIR,
    POS_FACTOR,
    RECALL_BEFORE,
    RESERVED,
)
from polars_prcurve.curve import metric_values, stacked
from polars_prcurve.curve_metrics import Curve, CurveMetric, Rows
from polars_prcurve.exact import float_bits
from polars_prcurve.inputs import Input, ScoreTable
from polars_prcurve.prevalence import Grid, at_each_eta
from polars_prcurve.sweep import checked_last, class_counts, class_sizes, counted, late_checks

__all__ = ["SUMMARY", "summary_table"]

SUMMARY = ("eta", "n_pos", "n_neg", "metric", "value")
_LEAST_FPR = f"{RESERVED}least_fpr"


def summary_table(table: Input, grid: Grid, metrics: Sequence[CurveMetric]) -> pl.LazyFrame:
    """`by`, eta, what the eta frame carries, and the rest of SUMMARY."""
    frame, groups = counted(table)
    # Both are used twice or more, and Polars would compute them anew for each use.
    groups, segments = groups.cache(), _segments(table, frame, groups, metrics).cache()
    pairs = at_each_eta(groups, grid, *class_sizes(table), checked=False).with_row_index(PAIR)
    rows = _rows(table)
    named = {f"{RESERVED}value_{i}": metric for i, metric in enumerate(metrics)}

    free = {name: m for name, m in named.items() if not m.depends_on_eta}
    bound = {name: m for name, m in named.items() if m.depends_on_eta}
    rises = pl.when(rows.recall > rows.recall_before).then(rows.fpr)
    with_least = segments.with_columns(rises.alias(_LEAST_FPR))
    values = pairs.join(_reduced(with_least, GROUP, free, rows, _LEAST_FPR), on=GROUP, how="left")
    if bound:
        at_eta = pairs.select(GROUP, PAIR, "eta", POS_FACTOR, NEG_FACTOR)
        reduced = _reduced(segments.join(at_eta, on=GROUP), PAIR, bound, rows)
        values = values.join(reduced, on=PAIR, how="left")

    counts = class_counts(table)
    curve = Curve(
        # A column even if all are one number, by whose reciprocal Polars would multiply.
        pl.col("eta") + pl.col(PAIR) * 0.0,
        pl.col(N_POS).is_not_null() if isinstance(table, ScoreTable) else pl.lit(True),
        pl.col(N_NEG).is_not_null() if isinstance(table, ScoreTable) else pl.lit(True),
        pl.col(_LEAST_FPR),
    )
    finished = [
        metric.finish(pl.col(name), curve).fill_nan(None).alias(name) for name, metric in named.items()
    ]
    values = checked_last(table, values.sort(PAIR), *late_checks(table, grid))
    wide = values.with_columns(*finished, *counts, pl.col("eta").fill_nan(None))
    long = wide.join(pl.LazyFrame({COPY: range(len(metrics))}), how="cross").sort(PAIR, COPY)
    columns = stacked([pl.col(name) for name in named], [m.name for m in metrics])
    eta, *others = SUMMARY
    return long.with_columns(columns).select(*table.by, eta, *grid.carried, *others)


def _reduced(
    frame: pl.LazyFrame, key: str, metrics: Mapping[str, CurveMetric], rows: Rows, *least: str
) -> pl.LazyFrame:
    """One value per key and metric, and the least of the columns named."""
    for steps in zip_longest(*(metric.steps for metric in metrics.values())):
        named = {name: e for step in steps if step is not None for name, e in step(rows).items()}
        frame = frame.with_columns(**named)
    terms = {name: metric.prepared(rows) for name, metric in metrics.items()}
    totals = (metric.reduced(pl.col(name)).alias(name) for name, metric in metrics.items())
    return frame.select(key, *least, **terms).group_by(key).agg(*totals, pl.col(least).min())


def _rows(table: Input) -> Rows:
    return Rows(
        pl.col,
        pl.col("eta"),
        lambda metric: metric_values([metric], table)[0],
    )


def _segments(
    table: Input, frame: pl.LazyFrame, groups: pl.LazyFrame, metrics: Sequence[CurveMetric]
) -> pl.LazyFrame:
    """The rows that the metrics need, each with the end of the segment before it."""
    if not isinstance(table, ScoreTable):
        # Areas end at (1, 1); where it is listed, the segment added has no extent.
        corner = groups.select(GROUP, pl.lit(1.0).alias("recall"), pl.lit(1.0).alias("fpr"))
        frame = pl.concat([frame.select(GROUP, "recall", "fpr"), corner]).sort(GROUP, "fpr", "recall")
    first = pl.col(GROUP).ne_missing(pl.col(GROUP).shift(1))
    before = ((name, pl.col(column).shift(1).fill_null(0.0)) for name, column in _BEFORE.items())
    frame = frame.with_columns(
        *(pl.when(first).then(0.0).otherwise(value).alias(name) for name, value in before),
        first.alias(FIRST),
    )
    rises = pl.col("recall") > pl.col(RECALL_BEFORE)
    needs = {metric.needs for metric in metrics}
    if "all" not in needs:
        frame = frame.filter(rises | pl.col(FIRST) if "corners" in needs else rises)
    frame = frame.drop(FIRST)
    return _with_envelope(frame) if any(metric.looks_ahead for metric in metrics) else frame


_BEFORE = {RECALL_BEFORE: "recall", FPR_BEFORE: "fpr"}


def _with_envelope(segments: pl.LazyFrame) -> pl.LazyFrame:
    """Add the least `fpr / recall` from each row to the end of its group.

    From the last row up, group numbers fall; packed above the bits of the ratio, they make a
    running minimum start anew at each group.
    """
    row = f"{RESERVED}row"
    ratio = (pl.col("fpr").fill_null(0.0) / pl.col("recall")).fill_nan(None).fill_null(float("inf"))
    packed = pl.col(GROUP).cast(pl.Int128) * 2**64 + float_bits(ratio)
    least = packed.cum_min().cast(pl.Int64, wrap_numerical=True).reinterpret(dtype=pl.Float64)
    return segments.with_row_index(row).sort(row, descending=True).with_columns(least.alias(ENVELOPE))
