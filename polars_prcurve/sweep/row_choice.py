"""Which rows of a sweep are kept: ends of runs of negatives, steps of recall, or listed thresholds.

Corners and steps of recall filter rows that are already counted. Listed thresholds are
read here, and join the sort as marks (see `running_sums`).
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Literal, TypeAlias, cast

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import read_choice, read_list, read_whole_number
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.score_table import InputTable, RateTable, ScoreTable
from polars_prcurve.inputs.threshold_values import read_threshold_list, to_least_scores

Thresholds: TypeAlias = int | Literal["corners"] | Sequence[Any] | pl.Series | None
CORNERS = 0
"""Stands for a number of recall steps, if the corners of the ROC curve are kept in their place."""


def drop_inner_negatives(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Leave out rows inside runs of negatives, whose neighbours in the group both have their recall."""
    begins = begin_block(c.CUM_POS)
    return rows.filter(begins | end_block(begins))


def begin_block(level: str) -> pl.Expr:
    """Return whether a row is the first of its block: of the rows of a group that share a level."""
    # A first row has no neighbour: ne_missing makes its comparison true, not null.
    group, value = pl.col(c.GROUP), pl.col(level)
    return group.ne_missing(group.shift(1)) | value.ne_missing(value.shift(1))


def end_block(begins: pl.Expr) -> pl.Expr:
    """Return whether a row is the last of its block, since the next one `begins` another."""
    return begins.shift(-1, fill_value=True)


def keep_recall_steps(frame: pl.LazyFrame, steps: int) -> pl.LazyFrame:
    """Keep the rows at which recall first reaches one or more of 1/steps, 2/steps, ..., 1."""

    def count_steps_reached(recall: pl.Expr) -> pl.Expr:
        # The product may round up or down to a whole number, so the steps on both sides of it are
        # compared with recall as k / steps, which is the float that users compare with.
        step = (recall * steps).floor()
        divisor = step * 0 + steps  # a column: Polars would multiply by the reciprocal of a number
        too_many = (recall < step / divisor).cast(pl.Int64)
        too_few = (recall >= (step + 1) / divisor).cast(pl.Int64)
        return step - too_many + too_few

    reached, reached_before = map(count_steps_reached, (pl.col("recall"), pl.col(c.RECALL_BEFORE)))
    return frame.filter(reached > reached_before)


def read_thresholds(thresholds: Thresholds, table: InputTable) -> tuple[int | None, pl.Series | None]:
    """Return the number of recall steps, or CORNERS, and the listed thresholds.

    At least one of the two is None. Thresholds are values of the score's dtype. A null stands for
    thresholds that no score of this dtype reaches.
    """
    if thresholds is None:
        return None, None
    if isinstance(thresholds, str):
        read_choice("thresholds=", thresholds, ["corners"])
        return CORNERS, None
    if isinstance(thresholds, Integral) and not isinstance(thresholds, bool):
        return read_whole_number("thresholds=, a number of recall steps,", thresholds, 1), None
    if not isinstance(table, ScoreTable):
        argument = cast("RateTable", table).argument
        raise PrcError(
            f"{argument}= has no thresholds to look up; pass thresholds= as a number of recall steps"
        )
    scores = read_list("thresholds=", thresholds, "a whole number or a list of scores")
    numbers = read_threshold_list("thresholds", scores, table.score_dtype)
    return None, to_least_scores(numbers, table.score_dtype).unique()
