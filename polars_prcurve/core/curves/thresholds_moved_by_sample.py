"""Thresholds that vary with the sample in which they are found.

A threshold that is found in a sample, as by recall=0.8, is another one in another sample: it varies. If
fewer positives are above each score in the population, then the score that finds 80% of them is lower,
and more negatives are above it. So an end of the interval of a rate counts twice: for the rate, and for
the threshold.

    rows of the curve -> limits         both ends of the intervals of recall and of fpr, on each row
    target            -> moved targets  four, each of which reads one of these ends instead of the rate
                      -> MOVED_RATES    recall and fpr on the rows that meet them, one of them an end

A prevalence that was counted, or is an estimate, has an interval, too. A target that depends on it, such
as a precision, is met elsewhere at its ends. A band adds up the distances from a value to its values
there; see `confidence.point_intervals`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import polars as pl

from polars_prcurve.core.confidence.band_options import LIMIT_COLUMNS, ModelBands
from polars_prcurve.core.confidence.interval_input_columns import EtaError
from polars_prcurve.core.confidence.point_intervals import (
    MOVED_RATES,
    SIZE_COLUMNS,
    STEP_COLUMNS,
    add_lazy_limits,
    add_limits_of_etas,
)
from polars_prcurve.core.curves.row_search import RowSearch
from polars_prcurve.core.curves.search_by_extremes import ROW_NUMBER
from polars_prcurve.core.curves.targets import TARGET_NUMBER, Measure, Target, pick_by_target
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.metrics.curve_metric import SegmentValues
from polars_prcurve.core.prevalence.population_column_names import Population

COARSENESS = f"{RESERVED}coarseness"
"""The step of a rate at the score of a row, or of the next, as a share of the interval of the rate: the
greater one of recall and fpr. Where many examples have one score, a threshold cannot move a little."""
GREATEST_STEPS = {rate: f"{RESERVED}greatest_step_of_{rate}" for rate in LIMIT_COLUMNS}
"""The greatest steps of both rates at a row, or the next, and at those to which its target moves."""
_LIMITS = [(rate, limit) for rate, limits in LIMIT_COLUMNS.items() for limit in limits]
"""The ends of both rates: the column that a target reads, and that which it reads once it is moved."""
_ETA_ENDS = [("eta", limit) for limit in EtaError.LIMITS]  # those of eta
_RISES = f"{RESERVED}recall_rises"  # whether a row may be the first that reaches a recall
_END = f"{RESERVED}moved_end"  # the place of an end in the list of ends
_AT_ENDS = "_at_ends"  # the ending of what is read from the rows of moved targets
_BEYOND = f"{RESERVED}rate_beyond"  # both rates where no row meets a moved target


def add_row_limits(
    sweep_rows: pl.LazyFrame,
    own_size_columns: Mapping[str, str],
    bands: ModelBands,
    *,
    keeps_rises: bool,
) -> pl.LazyFrame:
    """Add LIMIT_COLUMNS and what steps of curves are; `own_size_columns` are those of SIZE_COLUMNS.

    If `keeps_rises`, only rows on which recall rises are kept.
    """
    # A step is that of a rate at the score of its row, or at the next one if it is greater, and at most
    # half as wide as the interval of the rate.
    size_by_rate = {"recall": pl.col("tp") + pl.col("fn"), "fpr": pl.col("fp") + pl.col("tn")}
    size_by_rate |= {
        rate_column: pl.col(own_size_columns[size_column])
        for rate_column, size_column in SIZE_COLUMNS.items()
        if own_size_columns
    }
    is_first, is_last = (
        pl.col(Group.NUMBER).ne_missing(pl.col(Group.NUMBER).shift(offset)) for offset in (1, -1)
    )
    sweep_rows = sweep_rows.with_columns(
        (
            pl.col(rate_column) - pl.when(~is_first).then(pl.col(rate_column).shift(1)).otherwise(0.0)
        ).alias(step_column)
        for rate_column, step_column in STEP_COLUMNS.items()
    )
    recall_rises = pl.col(STEP_COLUMNS["recall"]) > 0 if keeps_rises else pl.lit(True)
    step_exprs = (
        pl.max_horizontal(step_column, pl.when(~is_last).then(pl.col(step_column).shift(-1)))
        for step_column in STEP_COLUMNS.values()
    )
    sweep_rows = sweep_rows.with_columns(*step_exprs, recall_rises.alias(_RISES)).filter(_RISES)
    rate_and_size = {
        rate_column: (rate_column, size_column) for rate_column, size_column in size_by_rate.items()
    }
    sweep_rows = add_lazy_limits(sweep_rows, rate_and_size, bands)
    width_by_step = {
        STEP_COLUMNS[rate_column]: pl.col(high_column) - pl.col(low_column)
        for rate_column, (low_column, high_column) in LIMIT_COLUMNS.items()
    }
    coarseness = pl.max_horizontal(
        pl.col(step_column) / width for step_column, width in width_by_step.items()
    )
    short_step_exprs = (
        pl.min_horizontal(step_column, width * 0.5).alias(step_column)
        for step_column, width in width_by_step.items()
    )
    whole_step_exprs = (
        pl.col(STEP_COLUMNS[rate_column]).alias(name) for rate_column, name in GREATEST_STEPS.items()
    )
    return sweep_rows.with_columns(coarseness.alias(COARSENESS), *short_step_exprs, *whole_step_exprs)


def add_eta_ends(populations: pl.LazyFrame, sweep_rows: pl.LazyFrame, bands: ModelBands) -> pl.LazyFrame:
    """Add LIMITS to the populations, the interval of a prevalence that was counted or is an estimate."""
    is_joined = bands.counts_eta and bands.sample.joins_rows
    if is_joined:  # the variance of eta is on the rows of a group
        group_variances = sweep_rows.group_by(Group.NUMBER).agg(pl.col(EtaError.VARIANCE).first())
        populations = populations.join(
            group_variances, on=Group.NUMBER, how="left", maintain_order="left"
        )
    populations = add_limits_of_etas(populations, bands)
    return populations.drop(EtaError.VARIANCE) if is_joined else populations


def add_moved_rates(
    points: pl.LazyFrame, search: RowSearch, targets: Sequence[Target], bands: ModelBands
) -> pl.LazyFrame:
    """Add MOVED_RATES to the points of targets from rows that have rate limits, and GREATEST_STEPS."""
    rate_ends, moved_targets = _list_ends(targets, bands), move_targets(targets, bands)
    step_columns = [*GREATEST_STEPS.values()]
    limit_columns = (limit_column for _, limit_column in _LIMITS)
    rate_rows = search.sweep_rows.select(ROW_NUMBER, *LIMIT_COLUMNS, *limit_columns, *step_columns)
    # Where no row meets a moved target, the threshold is beyond all scores: below them if the first row
    # that meets the target is taken, otherwise above them.
    values_beyond = (1.0 if target.takes_first else 0.0 for target in targets)
    # A moved target has a number for its end of a rate in that of its target.
    moved_number, n_ends = pl.col(TARGET_NUMBER), len(rate_ends)
    moved_points = search.choose_rows(moved_targets).join(rate_rows, on=ROW_NUMBER, how="left")
    moved_points = moved_points.with_columns(
        (moved_number % n_ends).alias(_END), moved_number // n_ends
    ).with_columns(pick_by_target(values_beyond).alias(_BEYOND))
    moved_rate_exprs, rate_beyond = [], pl.col(_BEYOND).first()
    limits_beyond: dict[str, pl.Expr] = {}
    for rate_column, size_column in SIZE_COLUMNS.items():
        size = pl.col(size_column).first()
        limits_beyond |= dict(bands.limits_by_name(rate_column, repeat_in_rows(rate_beyond, size), size))
    for end_number, (rate_column, limit_column) in enumerate(rate_ends):
        for source_column, moved_rate_column in MOVED_RATES[limit_column].items():
            moved_column, beyond_value = (source_column, rate_beyond)
            if source_column == rate_column:
                moved_column, beyond_value = limit_column, limits_beyond[limit_column]
            value_at_end = pl.col(moved_column).filter(pl.col(_END) == end_number).first()
            moved_rate_exprs.append(value_at_end.fill_null(beyond_value).alias(moved_rate_column))
    key_columns = [Population.NUMBER, TARGET_NUMBER]
    moved_points = moved_points.group_by(key_columns).agg(
        *moved_rate_exprs, pl.col(step_columns).max().name.suffix(_AT_ENDS)
    )
    points = points.join(moved_points, on=key_columns, how="left").with_columns(
        pl.max_horizontal(step, step + _AT_ENDS).alias(step) for step in step_columns
    )
    if not bands.has_eta_limits or len(rate_ends) > len(_LIMITS):
        return points
    # A target that does not depend on eta is met on the same row whatever it is.
    source_by_moved = {
        moved: source for limit in EtaError.LIMITS for source, moved in MOVED_RATES[limit].items()
    }
    return points.with_columns(pl.col(source).alias(moved) for moved, source in source_by_moved.items())


def _list_ends(targets: Sequence[Target], bands: ModelBands) -> list[tuple[str, str]]:
    """Return the ends of the intervals that move targets: of both rates, and of eta if one reads it."""
    has_eta_ends = bands.has_eta_limits and any(target.depends_on_eta for target in targets)
    return [*_LIMITS, *_ETA_ENDS] if has_eta_ends else _LIMITS


def move_targets(targets: Sequence[Target], bands: ModelBands) -> list[Target]:
    """Return each target at each of these ends, of rows that have the end instead of the value."""
    moved_targets = []
    for target, interval_end in product(targets, _list_ends(targets, bands)):
        assert target.limit is not None  # the target is sought anew in each sample
        measure = _MeasureAtEnd(target.limit.measure, *interval_end)
        moved_targets.append(replace(target, limit=target.limit._replace(measure=measure)))
    return moved_targets


@dataclass(frozen=True, eq=False)
class _MeasureAtEnd:
    """The value of rows whose rate, or prevalence, is an end of its interval."""

    measure: Measure
    source_column: str
    limit_column: str

    def __call__(self, row_values: SegmentValues) -> Any:
        def column(column_name: str) -> pl.Expr:
            column_expr: pl.Expr = row_values.column(
                self.limit_column if column_name == self.source_column else column_name
            )
            return column_expr

        eta = column("eta") if self.source_column == "eta" else row_values.eta
        return self.measure(
            SegmentValues(
                column, eta, lambda metric: metric.from_columns(column("recall"), column("fpr"), eta)
            )
        )
