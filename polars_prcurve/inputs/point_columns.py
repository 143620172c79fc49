"""The columns of published points: rates, with or without sizes, and cumulative counts.

A row is a point of a ROC curve: what is flagged at one threshold. Rates say which share of each class
it is. The four cells say how many, and tools that count report one row of them per threshold.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import read_list, read_whole_number, refuse_kind
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs import value_checks
from polars_prcurve.inputs.column_reader import Column, ColumnReader, ReadColumn

Cells: TypeAlias = tuple[Column, Column, Column, Column]
"""The columns of tp, fp, fn and tn."""

Sizes: TypeAlias = tuple[Column | int, Column | int]
"""The numbers of positives and of negatives behind rates, as columns or as two numbers.

They are null in the rows of a group of which a number is not known.
"""


class Points(NamedTuple):
    """The columns of a table of points, and the other fields of a `RateTable`."""

    columns: dict[str, pl.Expr]
    fields: dict[str, Any]


def read_points(
    reader: ColumnReader,
    *,
    rates: tuple[Column, Column] | None,
    sizes: Sizes | None,
    cells: Cells | None,
    score: Column,
) -> Points:
    """Return the points of `cells=` or `rates=`, of which one is given."""
    if cells is not None:
        columns, score_dtype = _read_cells(reader, cells, score)
        fields = {"argument": "cells", "count_dtype": pl.Int64(), "score_dtype": score_dtype}
        return Points(columns, fields)
    if rates is None:
        raise PrcError("sizes= are the numbers of examples behind rates=; pass rates=, too")
    dtype = None if sizes is None else pl.Float64()
    return Points(_read_rates(reader, rates, sizes), {"count_dtype": dtype})


def list_parts(argument: str, given: Any, number: int, what: str) -> list[Any]:
    """Return the columns that an argument lists; raise if there are not as many as it takes."""
    expected = f"{('two', 'four')[number == 4]} {what}"
    parts = read_list(f"{argument}=", given, expected)
    if len(parts) != number:
        raise refuse_kind(f"{argument}=", expected, given)
    return parts


def _read_rates(
    reader: ColumnReader, rates: tuple[Column, Column], sizes: Sizes | None
) -> dict[str, pl.Expr]:
    """Return the columns recall and fpr; with sizes also tp, fp, fn and tn, which are not rounded."""
    points = {}
    pair = list_parts("rates", rates, 2, "columns, of recall and of fpr")
    for name, column in zip(("recall", "fpr"), pair, strict=True):
        given = reader.read_column("rates", column)
        value_checks.RATE_DTYPES.require(given.what, given.dtype)
        reader.handle_missing(given)
        reader.check(value_checks.rate_checks, given.what, given.value)
        points[name] = given.value.cast(pl.Float64)
    if sizes is None:
        return points
    listed = list_parts("sizes", sizes, 2, "columns or whole numbers, of positives and of negatives")
    n_pos, n_neg = (_read_size(reader, size) for size in listed)
    recall, fpr = points["recall"], points["fpr"]
    cells = {"tp": recall * n_pos, "fp": fpr * n_neg}
    return {**points, **cells, "fn": n_pos - cells["tp"], "tn": n_neg - cells["fp"]}


def _read_size(reader: ColumnReader, size: Any) -> pl.Expr:
    """Return the number of examples of a class, as a float; null where it is not known."""
    if not isinstance(size, str | pl.Expr):
        return pl.lit(float(read_whole_number("sizes=", size, 0)))
    given = reader.read_column("sizes", size)
    value = given.value.cast(pl.Float64)
    if given.dtype == pl.Null:
        return value
    _require_numbers(given)
    value = value.fill_nan(None)
    _check_counts(reader, given.what, value)
    return value


def _read_cells(
    reader: ColumnReader, cells: Cells, score: Column
) -> tuple[dict[str, pl.Expr], pl.DataType | None]:
    """Return the columns recall, fpr, tp, fp, fn, tn, and SCORE with its dtype if there is a score."""
    listed = list_parts("cells", cells, 4, "columns, of tp, fp, fn and tn")
    counts = {
        name: _read_count(reader, column).cast(pl.Int64, wrap_numerical=True)
        for name, column in zip(("tp", "fp", "fn", "tn"), listed, strict=True)
    }
    points = {
        # A class without examples makes 0/0, and its rate is null.
        "recall": (counts["tp"] / (counts["tp"] + counts["fn"])).fill_nan(None),
        "fpr": (counts["fp"] / (counts["fp"] + counts["tn"])).fill_nan(None),
        **counts,
    }
    if isinstance(score, str) and score == "score" and score not in reader.schema:
        return points, None  # the default, of a table that has no thresholds
    given = reader.read_column("score", score)
    value_checks.SCORE_DTYPES.require(given.what, given.dtype)
    return {**points, c.SCORE: given.value}, given.dtype


def _read_count(reader: ColumnReader, column: Column) -> pl.Expr:
    """Return a column of whole numbers without a null; floats have to be whole, too."""
    given = reader.read_column("cells", column)
    _require_numbers(given)
    reader.handle_missing(given)
    _check_counts(reader, given.what, given.value)
    return given.value


def _require_numbers(given: ReadColumn) -> None:
    """Raise unless a column is of numbers."""
    if not given.dtype.is_numeric():
        raise PrcError(f"{given.what} is {given.dtype}; expected whole numbers >= 0")


def _check_counts(reader: ColumnReader, what: str, value: pl.Expr) -> None:
    """Add checks that the values of a column, as far as there are any, are whole numbers >= 0."""
    reader.check(value_checks.amount_checks, what, value)
    reader.check(value_checks.whole_checks, what, value)
