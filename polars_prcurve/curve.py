"""The curve: the sweep with point metrics beside it, at every prevalence asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from polars_prcurve.columns import COPY, NEG_FACTOR, POS_FACTOR, SWEEP, UNIT
from polars_prcurve.inputs import Input, ScoreTable
from polars_prcurve.point_metrics import PointMetric
from polars_prcurve.prevalence import Grid
from polars_prcurve.sweep import Thresholds, sweep_at

__all__ = ["added_by_curve", "curve_table", "metric_values", "stacked"]


def added_by_curve(metrics: Sequence[PointMetric], *, long: bool) -> tuple[str, ...]:
    """The columns that a curve adds to `by` (and to what an eta frame carries)."""
    if long:
        return ("eta", *SWEEP, "metric", "value")
    return ("eta", *SWEEP, *(m.name for m in metrics if m.name not in SWEEP))


def curve_table(
    table: Input,
    grid: Grid,
    metrics: Sequence[PointMetric],
    *,
    drop_intermediate: bool = False,
    thresholds: Thresholds = None,
    long: bool = False,
) -> pl.LazyFrame:
    """`by`, eta, what the eta frame carries, SWEEP, then a column or a row per metric."""
    if long:
        grid = replace(grid, copies=len(metrics), single=grid.single and len(metrics) == 1)
    frame = sweep_at(grid, table, drop_intermediate=drop_intermediate, thresholds=thresholds)
    values = metric_values(metrics, table)
    frame = frame.with_columns(stacked(values, [m.name for m in metrics]) if long else values)
    eta, *others = added_by_curve(metrics, long=long)
    return frame.select(*table.by, eta, *grid.carried, *others)


def metric_values(metrics: Sequence[PointMetric], table: Input) -> list[pl.Expr]:
    """The metrics as expressions over the columns of `sweep_at`; undefined is null."""
    values = (_of_counts(m, table) if isinstance(table, ScoreTable) else _of_rates(m) for m in metrics)
    return [value.fill_nan(None).alias(m.name) for value, m in zip(values, metrics, strict=True)]


_RATES = pl.col("recall"), pl.col("fpr")


def _of_rates(metric: PointMetric) -> pl.Expr:
    eta = metric.prevalence(pl.col("eta"))
    value: pl.Expr = metric.of_rates(*_RATES, eta if isinstance(eta, pl.Expr) else pl.lit(eta))
    return value


def _of_counts(metric: PointMetric, table: ScoreTable) -> pl.Expr:
    """Of counts in the proportions of eta, or of plain ones where that changes nothing."""
    if metric.eta is not None:
        return _of_rates(metric)
    tp, fn, fp, tn = (pl.col(name).cast(pl.Float64) for name in ("tp", "fn", "fp", "tn"))
    if table.float_sums:
        tp, fn, fp, tn = (cell * pl.col(UNIT) for cell in (tp, fn, fp, tn))
    if metric.depends_on_eta:
        pos, neg = pl.col(POS_FACTOR), pl.col(NEG_FACTOR)
        tp, fn, fp, tn = tp * pos, fn * pos, fp * neg, tn * neg
    value: pl.Expr = metric.of_cells((tp, fn, fp, tn), *_RATES, pl.col("eta"))
    return value


def stacked(values: Sequence[pl.Expr], names: Sequence[str]) -> list[pl.Expr]:
    """The columns metric and value, of the metric whose turn it is by COPY."""
    if len(names) == 1:
        return [pl.lit(names[0]).alias("metric"), values[0].alias("value")]
    name: pl.Expr = pl.lit(None, dtype=pl.String)
    value: pl.Expr = pl.lit(None, dtype=pl.Float64)
    for number, (text, expr) in enumerate(zip(names, values, strict=True)):
        turn = pl.col(COPY) == number
        name = pl.when(turn).then(pl.lit(text)).otherwise(name)
        value = pl.when(turn).then(expr).otherwise(value)
    return [name.alias("metric"), value.alias("value")]
