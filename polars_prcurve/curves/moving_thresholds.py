"""Thresholds that move: where a target is met if the rates are as far off as their intervals reach.

A threshold that is found in a sample, as by recall=0.8, is another one in another sample. If in truth
fewer positives are above each score, then the score that finds 80 % of them is lower, and more negatives
are above it. So an end of the interval of a rate counts twice: for the rate, and for the threshold.

    rows of the curve -> limits         both ends of the intervals of recall and of fpr, on each row
    target            -> moved targets  four, each of which reads one of these ends in place of the rate
                      -> MOVED_RATES    recall and fpr on the rows that meet them, one of them an end

A prevalence that was counted, or is an estimate, has an interval, too. A target that depends on it, such
as a precision, is met elsewhere at its ends.

A band adds up the distances from a value to its values there; see `confidence.point_intervals`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.confidence.point_intervals import (
    LIMIT_COLUMNS,
    MOVED_RATES,
    SIZE_COLUMNS,
    STEPS,
    BandOptions,
    add_limits_of_etas,
)
from polars_prcurve.curves.curve_table import pick_by_number
from polars_prcurve.curves.row_search import RowSearch
from polars_prcurve.curves.targets import ROW_NUMBER, TARGET_NUMBER, Target, choose_row
from polars_prcurve.float_exactness import repeat_in_rows
from polars_prcurve.metrics.curve_metric import Rows

COARSENESS = f"{c.RESERVED}coarseness"
"""The step of a rate at the score of a row, or of the next, as a share of the interval of the rate: the
greater one of recall and fpr. Where many examples have one score, a threshold cannot move a little."""
_LIMITS = [(rate, limit) for rate, limits in LIMIT_COLUMNS.items() for limit in limits]
_ETA_ENDS = [("eta", limit) for limit in c.ETA_LIMITS]
_END, _BEYOND = f"{c.RESERVED}moved_end", f"{c.RESERVED}rate_beyond"


def add_row_limits(rows: pl.LazyFrame, sizes: Mapping[str, str], bands: BandOptions) -> pl.LazyFrame:
    """Add LIMIT_COLUMNS, STEPS and COARSENESS to curves; `sizes` are effective ones, by SIZE_COLUMNS."""
    # A step is that of a rate at the score of its row, or at the next one if it is greater, and at most
    # half as wide as the interval of the rate.
    classes = {"recall": pl.col("tp") + pl.col("fn"), "fpr": pl.col("fp") + pl.col("tn")}
    classes |= {rate: pl.col(sizes[size]) for rate, size in SIZE_COLUMNS.items() if sizes}
    rows = rows.with_columns(
        end.fill_nan(None).alias(name)
        for rate, size in classes.items()
        for name, end in bands.limits_by_name(rate, pl.col(rate), repeat_in_rows(size, pl.col(rate)))
    )
    begins, ends = (pl.col(c.GROUP).ne_missing(pl.col(c.GROUP).shift(by)) for by in (1, -1))
    rows = rows.with_columns(
        (pl.col(rate) - pl.when(~begins).then(pl.col(rate).shift(1)).otherwise(0.0)).alias(step)
        for rate, step in STEPS.items()
    )
    rows = rows.with_columns(
        pl.max_horizontal(step, pl.when(~ends).then(pl.col(step).shift(-1))) for step in STEPS.values()
    )
    widths = {STEPS[rate]: pl.col(high) - pl.col(low) for rate, (low, high) in LIMIT_COLUMNS.items()}
    coarseness = pl.max_horizontal(pl.col(step) / width for step, width in widths.items())
    shortened = (pl.min_horizontal(step, width * 0.5).alias(step) for step, width in widths.items())
    return rows.with_columns(coarseness.alias(COARSENESS), *shortened)


def add_eta_ends(pairs: pl.LazyFrame, rows: pl.LazyFrame, bands: BandOptions) -> pl.LazyFrame:
    """Add ETA_LIMITS to the pairs, the interval of a prevalence that was counted or is an estimate."""
    is_joined = bands.counts_eta and bands.clustered
    if is_joined:  # the variance of eta is on the rows of a group
        of_groups = rows.group_by(c.GROUP).agg(pl.col(c.ETA_VARIANCE).first())
        pairs = pairs.join(of_groups, on=c.GROUP, how="left", maintain_order="left")
    pairs = add_limits_of_etas(pairs, bands)
    return pairs.drop(c.ETA_VARIANCE) if is_joined else pairs


def add_moved_rates(
    points: pl.LazyFrame, search: RowSearch, targets: Mapping[int, Target], bands: BandOptions
) -> pl.LazyFrame:
    """Add MOVED_RATES to the points of targets, by their numbers, from rows that have rate limits."""
    depends_on_eta = any(of.depends_on_eta for of in targets.values())
    of_eta = _ETA_ENDS if bands.moves_with_eta and depends_on_eta else []
    ends = [*_LIMITS, *of_eta]
    moved = [_move_target(of, *limit) for of in targets.values() for limit in ends]
    rates = search.rows.select(ROW_NUMBER, *LIMIT_COLUMNS, *(limit for _, limit in _LIMITS))
    # Where no row meets a moved target, the threshold is beyond all scores: below them if the first row
    # that meets the target is taken, otherwise above them.
    beyond = (1.0 if target.takes_first else 0.0 for target in targets.values())
    # A moved target has a number for its end of a rate in that of its target.
    number, place = pl.col(TARGET_NUMBER), pl.col(TARGET_NUMBER) // len(ends)
    found = search.choose_rows(moved).join(rates, on=ROW_NUMBER, how="left")
    found = found.with_columns((number % len(ends)).alias(_END), place).with_columns(
        pick_by_number(TARGET_NUMBER, beyond).alias(_BEYOND)
    )
    columns, reached = [], pl.col(_BEYOND).first()
    for end, (rate, limit) in enumerate(ends):
        for name, column in MOVED_RATES[limit].items():
            is_end = name == rate
            rate_there = pl.col(limit if is_end else name).filter(pl.col(_END) == end).first()
            there = reached
            if is_end:
                size = pl.col(SIZE_COLUMNS[rate]).first()
                there = dict(bands.limits_by_name(rate, repeat_in_rows(reached, size), size))[limit]
            columns.append(rate_there.fill_null(there).alias(column))
    found = found.group_by(c.PAIR, TARGET_NUMBER).agg(columns)
    numbers = pick_by_number(TARGET_NUMBER, targets).cast(pl.Int64)
    found = found.with_columns(numbers.alias(TARGET_NUMBER))
    points = points.join(found, on=[c.PAIR, TARGET_NUMBER], how="left")
    if not bands.moves_with_eta or of_eta:
        return points
    # A target that does not depend on eta is met on the same row whatever it is.
    same = {column: name for limit in c.ETA_LIMITS for name, column in MOVED_RATES[limit].items()}
    return points.with_columns(pl.col(name).alias(column) for column, name in same.items())


def _move_target(target: Target, source: str, limit: str) -> Target:
    """Return the target of rows whose rate, or prevalence, is an end of its interval."""
    assert target.test is not None  # the target is sought anew in each sample
    test = target.test

    def test_at_limit(rows: Rows) -> pl.Expr:
        def column(name: str) -> pl.Expr:
            found: pl.Expr = rows.column(limit if name == source else name)
            return found

        rates = column("recall"), column("fpr")
        eta = column("eta") if source == "eta" else rows.eta
        return test(Rows(column, eta, lambda metric: metric.from_columns(*rates, eta)))

    return replace(target, search=choose_row(test_at_limit, first=target.takes_first))
