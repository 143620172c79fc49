"""The curve: the sweep with point metrics beside it, at every prevalence asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import polars as pl

from polars_prcurve.columns import COPY, NEG_FACTOR, POS_FACTOR, SWEEP
from polars_prcurve.inputs import Input, ScoreTable
from polars_prcurve.metrics import PointMetric, cells_of_rates
from polars_prcurve.prevalence import Grid
from polars_prcurve.sweep import Thresholds, sweep_at

__all__ = ["added_by_curve", "curve_table", "metric_values"]


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
    values = metric_values(metrics, counts=isinstance(table, ScoreTable))
    frame = frame.with_columns(_stacked(values, metrics) if long else values)
    eta, *others = added_by_curve(metrics, long=long)
    return frame.select(*table.by, eta, *grid.carried, *others)


def metric_values(metrics: Iterable[PointMetric], *, counts: bool) -> list[pl.Expr]:
    """The metrics as expressions over the columns of `sweep_at`."""
    return [_metric_value(metric, counts) for metric in metrics]


def _metric_value(metric: PointMetric, counts: bool) -> pl.Expr:
    if metric.eta is not None or not counts:
        eta = pl.col("eta") if metric.eta is None else pl.lit(metric.eta)
        return metric.of_cells(*cells_of_rates(pl.col("recall"), pl.col("fpr"), eta))
    cells = [pl.col(name).cast(pl.Float64) for name in ("tp", "fn", "fp", "tn")]
    if metric.depends_on_eta:
        factors = (POS_FACTOR, POS_FACTOR, NEG_FACTOR, NEG_FACTOR)
        cells = [cell * pl.col(factor) for cell, factor in zip(cells, factors, strict=True)]
    return metric.of_cells(*cells)


def _stacked(values: Sequence[pl.Expr], metrics: Sequence[PointMetric]) -> list[pl.Expr]:
    """One metric per repetition of the prevalence, in the order asked."""
    if len(metrics) == 1:
        return [pl.lit(metrics[0].name).alias("metric"), values[0].alias("value")]
    name: pl.Expr = pl.lit(None, dtype=pl.String)
    value: pl.Expr = pl.lit(None, dtype=pl.Float64)
    for number, (metric, expr) in enumerate(zip(metrics, values, strict=True)):
        turn = pl.col(COPY) == number
        name = pl.when(turn).then(pl.lit(metric.name)).otherwise(name)
        value = pl.when(turn).then(expr).otherwise(value)
    return [name.alias("metric"), value.alias("value")]
