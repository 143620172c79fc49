"""Checks of a query that adds up rows, made on its result.

An error ahead of a group_by can lock the streaming engine. So tallies travel along with the groups, and
the query stops at its end.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.inputs.score_table import InputTable, RateTable
from polars_prcurve.prevalence.eta_table import (
    EtaTable,
    eta_row_checks,
    own_eta_checks,
    same_eta_check,
)
from polars_prcurve.query_checks import Check, stop_if_broken
from polars_prcurve.sweep.group_table import keep_counted_groups
from polars_prcurve.sweep.published_rates import point_checks


def check_at_end(table: InputTable, frame: pl.LazyFrame, *others: Check) -> pl.LazyFrame:
    """Return `frame` without groups that do not count; the query stops if a check fails.

    First come the checks of all tallies, then those of `others`, which see only groups that count. The
    rows are in the order of GROUP. `others` may read FIRST_IN_GROUP, which is added.
    """
    # A join repeated the tallies of a group in all its rows: count those of the first row.
    first = pl.col(c.GROUP).ne_missing(pl.col(c.GROUP).shift(1))
    frame = frame.with_columns(first.alias(c.FIRST_IN_GROUP))
    once = (
        pl.when(c.FIRST_IN_GROUP).then(name).otherwise(0).alias(name) for name in table.tallies.tests
    )
    frame = stop_if_broken(frame.with_columns(once), table.tallies.checks)
    frame = keep_counted_groups(table, frame)
    return stop_if_broken(frame, others) if others else frame


def check_first(table: InputTable, pairs: pl.LazyFrame, *others: Check) -> None:
    """Run the checks of `check_at_end` now if the table is in memory, ahead of seconds of work.

    `pairs` are rows of groups, which need no sort of the table. Of a LazyFrame nothing is collected, and
    the checks are made at the end alone.
    """
    if table.is_in_memory:
        checked = check_at_end(table, pairs.sort(c.PAIR), *others).select(c.GROUP)
        table.collect(checked, "", n_etas=1)


def late_checks(table: InputTable, grid: EtaTable) -> list[Check]:
    """Return the checks for `check_at_end` besides tallies: prevalences, and recall that falls."""
    first = pl.col(c.FIRST_IN_GROUP)
    checks = [*eta_row_checks(grid, first), *own_eta_checks(table, grid, first)]
    if grid.shared is not None:
        checks.append(same_eta_check(grid.shared))
    if isinstance(table, RateTable):
        checks += point_checks(table, lambda name: pl.when(first).then(name).otherwise(0).sum())
    return checks
