"""Thresholds that move: where a target is met if the rates are as far off as their intervals reach.

A threshold that is found in a sample, as by recall=0.8, is another one in another sample. If in truth
fewer positives are above each score, then the score that finds 80 % of them is lower, and more negatives
are above it. So an end of the interval of a rate counts twice: for the rate, and for the threshold.

    rows of the curve -> limits         both ends of the intervals of recall and of fpr, on each row
    target            -> moved targets  four, each of which reads one of these ends in place of the rate
                      -> MOVED_RATES    recall and fpr on the rows that meet them, one of them an end

A band adds up the distances from a value to its values there; see `intervals.bands`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import polars as pl

from polars_prcurve.column_names import GROUP, RESERVED
from polars_prcurve.curves.targets import RowTest, Target, choose_first, choose_last
from polars_prcurve.float_bits import repeat_in_rows
from polars_prcurve.intervals.bands import (
    LIMIT_COLUMNS,
    MOVED_RATES,
    SIZE_COLUMNS,
    STEPS,
    BandOptions,
)
from polars_prcurve.metrics.curve_metric import Rows
from polars_prcurve.metrics.point_metric import PointMetric

COARSENESS = f"{RESERVED}coarseness"
"""The step of a rate at the score of a row, or of the next, as a share of the interval of the rate: the
greater one of recall and fpr. Where many examples have one score, a threshold cannot move a little."""


def add_row_limits(rows: pl.LazyFrame, sizes: Mapping[str, pl.Expr], bands: BandOptions) -> pl.LazyFrame:
    """Add LIMIT_COLUMNS, STEPS and COARSENESS to the rows of curves, by group and rising recall.

    `sizes` are those of the class of each rate. A step is that of a rate at the score of its row, or at
    the next one if it is greater, and at most half as wide as the interval of the rate.
    """
    rows = rows.with_columns(
        end.fill_nan(None).alias(name)
        for rate, size in sizes.items()
        for name, end in bands.limits_by_name(rate, pl.col(rate), repeat_in_rows(size, pl.col(rate)))
    )
    begins, ends = (pl.col(GROUP).ne_missing(pl.col(GROUP).shift(by)) for by in (1, -1))
    rows = rows.with_columns(
        (pl.col(rate) - pl.when(~begins).then(pl.col(rate).shift(1)).otherwise(0.0)).alias(step)
        for rate, step in STEPS.items()
    )
    rows = rows.with_columns(
        pl.max_horizontal(step, pl.when(~ends).then(pl.col(step).shift(-1))) for step in STEPS.values()
    )
    widths = {
        step: pl.col(high) - pl.col(low)
        for step, (low, high) in zip(STEPS.values(), LIMIT_COLUMNS.values(), strict=True)
    }
    coarseness = pl.max_horizontal(pl.col(step) / width for step, width in widths.items())
    shortened = (pl.min_horizontal(step, width * 0.5).alias(step) for step, width in widths.items())
    return rows.with_columns(coarseness.alias(COARSENESS), *shortened)


def build_moved_targets(target: Target) -> list[Target]:
    """Return a target for each key of MOVED_RATES, in their order, that reads this end of a rate."""
    assert target.test is not None
    choose = choose_first if target.takes_first else choose_last
    return [
        replace(target, search=choose(_read_limit(target.test, rate, limit)))
        for rate, limit in _list_limits()
    ]


def _list_limits() -> Iterator[tuple[str, str]]:
    """Yield each end of an interval, with the name of its rate before."""
    for rate, limits in LIMIT_COLUMNS.items():
        for limit in limits:
            yield rate, limit


def _read_limit(test: RowTest, rate: str, limit: str) -> RowTest:
    """Return the test of rows whose `rate` is an end of its interval."""

    def test_at_limit(rows: Rows) -> pl.Expr:
        def column(name: str) -> pl.Expr:
            found: pl.Expr = rows.column(limit if name == rate else name)
            return found

        def value(metric: PointMetric) -> pl.Expr:
            return metric.from_columns(column("recall"), column("fpr"), rows.eta)

        return test(Rows(column, rows.eta, value))

    return test_at_limit


def list_moved_rates(target: Target, is_of_target: list[pl.Expr], bands: BandOptions) -> list[pl.Expr]:
    """Return MOVED_RATES as aggregates over the rows that meet the moved targets.

    `is_of_target` tells which rows meet each. Where none does, the threshold is beyond all scores: below
    them if the first row that meets the target is taken, otherwise above them.
    """
    beyond = 1.0 if target.takes_first else 0.0
    moved = []
    for (rate, limit), is_row in zip(_list_limits(), is_of_target, strict=True):
        size = pl.col(SIZE_COLUMNS[rate]).first()
        at_end = dict(bands.limits_by_name(rate, pl.lit(beyond) + size * 0, size))[limit]
        for name, column in MOVED_RATES[limit].items():
            own = name == rate
            found = pl.col(limit if own else name).filter(is_row).first()
            moved.append(found.fill_null(at_end if own else beyond).alias(column))
    return moved
