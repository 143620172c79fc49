"""The curve: the sweep with point metrics beside it, at every prevalence asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import polars as pl

from polars_prcurve.columns import COPY, NEG_FACTOR, POS_FACTOR, SWEEP, UNIT
from polars_prcurve.inputs import Input, ScoreTable
from polars_prcurve.point_metrics import PointMetric
from polars_prcurve.prevalence import Grid
from polars_prcurve.sweep import Thresholds, sweep_at

__all__ = ["added_by_curve", "by_turn", "curve_table", "metric_values", "stacked"]


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
    recall, fpr, eta = pl.col("recall"), pl.col("fpr"), pl.col("eta")
    if not isinstance(table, ScoreTable):
        return [_of_rates(metric, recall, fpr, eta) for metric in metrics]
    cells = [pl.col(name).cast(pl.Float64) for name in ("tp", "fn", "fp", "tn")]
    if table.float_sums:
        cells = [cell * pl.col(UNIT) for cell in cells]
    factors = pl.col(POS_FACTOR), pl.col(NEG_FACTOR)
    return [metric.of_counts(cells, factors, (recall, fpr), eta) for metric in metrics]


def _of_rates(metric: PointMetric, recall: pl.Expr, fpr: pl.Expr, eta: pl.Expr) -> pl.Expr:
    at = metric.prevalence(eta)
    value: pl.Expr = metric.of_rates(recall, fpr, at if isinstance(at, pl.Expr) else pl.lit(at))
    return value.fill_nan(None).alias(metric.name)


def stacked(values: Sequence[pl.Expr], names: Sequence[str]) -> list[pl.Expr]:
    """The columns metric and value, of the metric whose turn it is by COPY."""
    if len(names) == 1:
        return [pl.lit(names[0]).alias("metric"), values[0].alias("value")]
    name = by_turn(COPY, map(pl.lit, names), pl.lit(None, dtype=pl.String))
    value = by_turn(COPY, values, pl.lit(None, dtype=pl.Float64))
    return [name.alias("metric"), value.alias("value")]


def by_turn(turn: str, values: Iterable[pl.Expr | None], otherwise: pl.Expr) -> pl.Expr:
    """The value whose number stands in the column `turn`; `otherwise` where it is None."""
    for number, value in enumerate(values):
        if value is not None:
            otherwise = pl.when(pl.col(turn) == number).then(value).otherwise(otherwise)
    return otherwise
