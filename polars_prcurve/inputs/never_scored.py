"""Examples that exist and were never scored: they lie below every score.

    below=           how many of each class, in each group; `n_neg` may be unknown
    missing="below"  rows with a label and without a score

They count among the examples of their group, and no threshold flags them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import (
    MOST_EXAMPLES,
    read_list,
    read_whole_number,
    refuse_kind,
    take_frame,
)
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.column_reader import check_forgotten_groups, read_group_keys
from polars_prcurve.inputs.score_table import MANY, TOTALS, NeverScored, ScoreTable
from polars_prcurve.query_checks import Check, compose_sentence, run_query, stop_if_broken

Below: TypeAlias = tuple[int, int | None] | pl.DataFrame | pl.LazyFrame
"""Positives and negatives that were never scored: two numbers, or a frame with a row per group."""

_COUNTS = dict(zip(("n_pos", "n_neg"), (TOTALS[:2], TOTALS[2:]), strict=True))
_EXPECTED = "two whole numbers, of positives and of negatives (None if not known), or a frame of them"


def tells_negatives(below: Any) -> bool:
    """Return whether `below=` says how many negatives were never scored; raise if it says nothing."""
    below = take_frame(below)
    if not isinstance(below, pl.DataFrame | pl.LazyFrame):
        return _read_numbers(below)[1] is not None
    schema = below.lazy().collect_schema()
    if "n_pos" not in schema:
        raise PrcError(
            "a below= frame has the group columns, n_pos and n_neg; it has " + ", ".join(schema)
        )
    if schema.get("n_neg", pl.Null()) == pl.Null:
        return False
    return not isinstance(below, pl.DataFrame) or below["n_neg"].null_count() < max(below.height, 1)


def read_never_scored(below: Any, table: ScoreTable, *, in_rows: bool) -> NeverScored:
    """Return the examples below all scores; `in_rows` says whether rows without a score are."""
    if below is None:
        return NeverScored(in_rows=in_rows)
    found = NeverScored(in_rows=in_rows, counts_negatives=tells_negatives(below))
    below = take_frame(below)
    if isinstance(below, pl.DataFrame | pl.LazyFrame):
        frame = _read_frame(below, table, counted=found.counts_negatives)
        return replace(found, frame=frame)
    n_pos, n_neg = _read_numbers(below)
    n_neg = MANY if n_neg is None else n_neg
    if table.by:
        return replace(found, n_pos=n_pos, n_neg=n_neg)
    # An empty table has no row, and one group all the same.
    amounts = {"n_pos": n_pos, "n_neg": n_neg}
    return replace(found, frame=pl.LazyFrame(amounts).select(_name_totals()))


def _read_numbers(below: Any) -> tuple[int, int | None]:
    """Return the two numbers of `below=`, of which that of negatives may be None."""
    if isinstance(below, str) or not isinstance(below, Sequence):
        raise refuse_kind("below=", _EXPECTED, below)
    given = read_list("below=", below, _EXPECTED)
    if len(given) != len(_COUNTS):
        raise refuse_kind("below=", _EXPECTED, below)
    n_pos = read_whole_number("below=, of positives,", given[0], 0)
    n_neg = None if given[1] is None else read_whole_number("below=, of negatives,", given[1], 0)
    return n_pos, n_neg


def _name_totals() -> list[pl.Expr]:
    return [pl.col(of).cast(pl.Int64).alias(name) for of, names in _COUNTS.items() for name in names]


def _read_frame(below: pl.DataFrame | pl.LazyFrame, table: ScoreTable, *, counted: bool) -> pl.LazyFrame:
    """Return the frame of `below=` with its `by` columns and TOTALS; a DataFrame is checked at once."""
    frame, by = below.lazy(), table.by
    # Of a wide table the names of score columns are its models.
    model_name = "model" if table.model_name == c.MODEL else table.model_name
    if c.MODEL in by and model_name in frame.collect_schema():
        frame = frame.rename({model_name: c.MODEL}).with_columns(pl.col(c.MODEL).cast(by[c.MODEL]))
    if not counted:
        frame = frame.with_columns(pl.lit(MANY, dtype=pl.Int64).alias("n_neg"))
    columns = frame.collect_schema()
    keys = read_group_keys("below", columns, by)
    if lacking := [name for name in by if name not in keys]:
        name = model_name if lacking[0] == c.MODEL else lacking[0]
        raise PrcError(f"the below= frame has a row per group, and lacks the group column {name!r}")
    others = [name for name in columns if name not in (*keys, *_COUNTS)]
    check_forgotten_groups("below", others, table.schema)
    if others and "n_neg" not in below.lazy().collect_schema():
        raise PrcError(
            f"the below= frame has no n_neg, and a column {others[0]!r}; call it n_neg if it holds the "
            "negatives, or leave it out"
        )
    for name in _COUNTS:
        if not columns[name].is_integer():
            raise PrcError(
                f"column {name!r} of the below= frame is {columns[name]}; expected whole numbers: cast "
                "them to integers"
            )
    frame = stop_if_broken(frame.select(*keys, *_COUNTS), _list_checks(keys))
    checked = run_query(frame).lazy() if isinstance(below, pl.DataFrame) else frame
    return checked.select(*keys, *_name_totals())


def _list_checks(keys: Sequence[str]) -> list[Check]:
    """Return the checks of the values in a frame of `below=`."""
    is_there = pl.col("n_pos").is_not_null()
    repeats = pl.struct(keys).is_duplicated() if keys else is_there & (pl.len() > 1)
    outside = pl.any_horizontal(~pl.col(name).is_between(0, MOST_EXAMPLES) for name in _COUNTS)
    unknown = "; n_neg is null in all rows, or in none: ask the groups in which it is not known apart"
    troubles = [
        (~is_there, "has a null n_pos", ""),
        (pl.col("n_neg").is_null(), "has a null n_neg", unknown),
        (outside.fill_null(False), "has a number below 0 or above 2**53", ""),
        (repeats, "repeats a group", "; it has one row per group"),
    ]
    return [
        Check(
            rows.sum() > 0,
            compose_sentence(
                f"the below= frame {what} in ", rows.sum().cast(pl.String), f" row(s){advice}"
            ),
        )
        for rows, what, advice in troubles
    ]
