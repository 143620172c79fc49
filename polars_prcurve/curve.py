"""The curve: the sweep with point metrics beside it, at every prevalence asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import polars as pl

from polars_prcurve.bands import Bands, Collect, with_bands
from polars_prcurve.binormal import with_rates
from polars_prcurve.columns import COPY, NEG_FACTOR, POS_FACTOR, RESERVED, SWEEP, UNIT
from polars_prcurve.curve_metrics import Rows
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs import Input, ScoreTable
from polars_prcurve.point_metrics import POINT_METRICS, PointMetric
from polars_prcurve.prevalence import Grid
from polars_prcurve.sweep import Thresholds, sweep_at

__all__ = [
    "added_by_curve",
    "added_by_metrics",
    "by_turn",
    "curve_table",
    "metric_values",
    "refuse_clashes",
    "rows_of",
    "stacked",
    "with_metrics",
]


def added_by_curve(
    metrics: Sequence[PointMetric], *, long: bool, bands: bool = False
) -> tuple[str, ...]:
    """The columns that a curve adds to `by` (and to what an eta frame carries)."""
    columns = ("eta", *SWEEP, *added_by_metrics(metrics, long=long, bands=bands))
    refuse_clashes(columns, [] if long else metrics)
    return columns


def refuse_clashes(columns: Iterable[str], metrics: Sequence[PointMetric]) -> None:
    """Each column of the result has one meaning; recall and fpr alone may be asked for again."""
    named = list(columns)
    for metric in metrics:
        own = metric.name in ("recall", "fpr") and metric == POINT_METRICS[metric.name]
        if metric.name == "" or named.count(metric.name) > 1 or (metric.name in SWEEP and not own):
            raise PrcError(
                f"a metric is called {metric.name!r}, and the result has a column of that name; "
                "give it another by .alias(...)"
            )


def added_by_metrics(metrics: Sequence[PointMetric], *, long: bool, bands: bool) -> list[str]:
    """The columns of metrics: one for each that the sweep has not, and the ends of its band."""
    if long:
        return ["metric", "value", *(["low", "high"] if bands else [])]
    ends = ["", "_low", "_high"] if bands else [""]
    names = (f"{metric.name}{end}" for metric in metrics for end in ends)
    return [name for name in names if name not in SWEEP]


def curve_table(
    table: Input,
    grid: Grid,
    metrics: Sequence[PointMetric],
    *,
    collect: Collect,
    drop_intermediate: bool = False,
    thresholds: Thresholds = None,
    bands: Bands | None = None,
    smooth: bool = False,
    long: bool = False,
) -> pl.LazyFrame:
    """`by`, eta, what the eta frame carries, SWEEP, then a column or a row per metric.

    With `smooth` recall and fpr are those of a binormal model, and have no counts.
    """
    if long:
        grid = replace(grid, copies=len(metrics))
    frame = sweep_at(
        grid,
        table,
        drop_intermediate=drop_intermediate,
        thresholds=thresholds,
        effective=bands is not None,
    )
    if smooth and isinstance(table, ScoreTable):
        frame = with_rates(frame, table)
    counted = None if smooth else table
    frame = with_metrics(frame, metrics, counted, bands, collect=collect, long=long)
    eta, *others = added_by_curve(metrics, long=long, bands=bands is not None)
    return frame.select(*table.by, eta, *grid.carried, *others)


def with_metrics(
    frame: pl.LazyFrame,
    metrics: Sequence[PointMetric],
    table: Input | None,
    bands: Bands | None,
    *,
    collect: Collect,
    long: bool,
) -> pl.LazyFrame:
    """Add `added_by_metrics` to rows of `sweep_at`, repeated for each metric where `long`.

    Without a table they are of rates alone.
    """
    names = [metric.name for metric in metrics]
    if long:  # in columns that no other can be called like
        metrics = [metric.alias(f"{RESERVED}metric_{i}") for i, metric in enumerate(metrics)]
    values = metric_values(metrics, table)
    if bands is None:
        return frame.with_columns(stacked({"value": values}, names) if long else values)
    frame = with_bands(frame.with_columns(values), metrics, bands, collect)
    if not long:
        return frame
    ends = {"value": "", "low": "_low", "high": "_high"}
    columns = {kind: [pl.col(m.name + end) for m in metrics] for kind, end in ends.items()}
    return frame.with_columns(stacked(columns, names))


def metric_values(
    metrics: Sequence[PointMetric], table: Input | None, column: Callable[[str], pl.Expr] = pl.col
) -> list[pl.Expr]:
    """The metrics as expressions over the columns of `sweep_at`; undefined is null."""
    recall, fpr, eta = map(column, ("recall", "fpr", "eta"))
    if not isinstance(table, ScoreTable):
        return [metric.of_columns(recall, fpr, eta) for metric in metrics]
    cells = [column(name).cast(pl.Float64) for name in ("tp", "fn", "fp", "tn")]
    if table.float_sums:
        cells = [cell * column(UNIT) for cell in cells]
    factors = column(POS_FACTOR), column(NEG_FACTOR)
    return [metric.of_counts(cells, factors, (recall, fpr), eta) for metric in metrics]


def rows_of(table: Input | None, column: Callable[[str], pl.Expr] = pl.col) -> Rows:
    """What the metrics of a curve read, from the columns of `sweep_at` by name.

    Without a table point metrics are of rates alone.
    """
    return Rows(column, column("eta"), lambda metric: metric_values([metric], table, column)[0])


def stacked(columns: Mapping[str, Sequence[pl.Expr]], names: Sequence[str]) -> list[pl.Expr]:
    """The column metric, and others, of the metric whose turn it is by COPY."""
    if len(names) == 1:
        return [pl.lit(names[0]).alias("metric"), *(e[0].alias(name) for name, e in columns.items())]
    name = by_turn(COPY, map(pl.lit, names), pl.lit(None, dtype=pl.String))
    nothing = pl.lit(None)
    values = (by_turn(COPY, e, nothing).alias(name) for name, e in columns.items())
    return [name.alias("metric"), *values]


def by_turn(turn: str, values: Iterable[pl.Expr | None], otherwise: pl.Expr) -> pl.Expr:
    """The value whose number stands in the column `turn`; `otherwise` where it is None."""
    for number, value in enumerate(values):
        if value is not None:
            otherwise = pl.when(pl.col(turn) == number).then(value).otherwise(otherwise)
    return otherwise
