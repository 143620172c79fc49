"""Counts on a lazy engine, through narwhals.

    schema -> _read_dtypes    names, dtypes and arguments are checked as those of frame methods are
    table  -> _check_values   one aggregation counts the rows of each kind of value, such as NaN or -1
           -> sum_counts      the query for the counts, which is not run here

An engine cannot run the checks of frame methods. So Polars runs them on one example per kind of value,
with its number of rows, and errors have the same words everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs import value_checks
from polars_prcurve.inputs.column_reader import Missing
from polars_prcurve.inputs.table_arguments import read_input
from polars_prcurve.query_checks import Check, guard, translate_errors

_ROW_COUNT = f"{c.RESERVED}n"


class ColumnNames(NamedTuple):
    """The arguments that name columns, as names."""

    by: list[str]
    score: str
    label: str
    weight: str | None

    def value_columns(self) -> list[str]:
        """Return the names of score and label, and of the weight if there is one."""
        return [name for name in (self.score, self.label, self.weight) if name is not None]


def load_narwhals() -> ModuleType:
    """Return the module narwhals, which reads the tables of engines; raise if it is not installed."""
    try:
        import narwhals.stable.v2 as nw
    except ImportError:
        raise PrcError('tables of other engines need narwhals: pip install "narwhals>=2.10"') from None
    return nw


def count_scores_on_engine(frame: Any, names: ColumnNames, pos_label: Any, missing: Missing) -> Any:
    """Return the `by` columns and COUNT_COLUMNS as a lazy table of narwhals; raise on bad values.

    With weights, also return SQUARE_COLUMNS.
    """
    nw = load_narwhals()
    dtypes = _read_dtypes(frame, names, pos_label, missing)
    if missing == "drop":
        for name in names.value_columns():
            frame = frame.filter(~nw.col(name).is_null())
            frame = frame.filter(~nw.col(name).is_nan()) if dtypes[name].is_float() else frame
    label = nw.col(names.label)
    positive = label if dtypes[names.label] == pl.Boolean else label == 1
    if pos_label is not None:
        positive = label == pos_label
    kinds = _list_kinds(names, dtypes, None if pos_label is None else positive)
    _check_values(frame, kinds, list(_list_checks(names, dtypes, pos_label)))
    rows = frame.select(*names.by, **_row_contributions(frame, names, dtypes, positive))
    dtype = nw.Int64 if names.weight is None else nw.Float64
    amounts = [*c.COUNT_COLUMNS[1:], *(() if names.weight is None else c.SQUARE_COLUMNS)]
    return sum_counts(rows, [*names.by, "score"], amounts, dtype).select(*names.by, "score", *amounts)


def _read_dtypes(
    frame: Any, names: ColumnNames, pos_label: Any, missing: Missing
) -> dict[str, pl.DataType]:
    """Return the dtypes of the columns in Polars; raise unless names, dtypes and arguments are right."""
    used = {*names.by, *names.value_columns()}
    schema = frame.collect_schema()
    # Other columns may have dtypes that Polars lacks, and only their names matter.
    known = load_narwhals().Schema({name: schema[name] for name in schema if name in used}).to_polars()
    dtypes = {name: known.get(name, pl.Null()) for name in schema}
    arguments = {**names._asdict(), "pos_label": pos_label, "missing": missing}
    read_input(pl.LazyFrame(schema=dtypes), makes=c.COUNT_COLUMNS, may_collect=False, **arguments)
    return dtypes


def _row_contributions(
    frame: Any, names: ColumnNames, dtypes: dict[str, pl.DataType], positive: Any
) -> dict[str, Any]:
    """Return the contribution of each row to the columns of COUNT_COLUMNS, and to SQUARE_COLUMNS."""
    nw = load_narwhals()
    score = nw.col(names.score)
    if dtypes[names.score].is_float():  # an engine may group -0.0 and 0.0 apart
        zero = nw.lit(0.0, frame.collect_schema()[names.score])
        score = nw.when(score == 0).then(zero).otherwise(score)
    if names.weight is None:
        amounts = positive.cast(nw.Int64), (~positive).cast(nw.Int64)
    else:
        weight, zero = nw.col(names.weight).cast(nw.Float64), nw.lit(0.0, nw.Float64)
        amounts = tuple(
            nw.when(test).then(amount).otherwise(zero)
            for amount in (weight, weight * weight)
            for test in (positive, ~positive)
        )
    return dict(zip((*c.COUNT_COLUMNS, *c.SQUARE_COLUMNS), (score, *amounts), strict=False))


def sum_counts(rows: Any, keys: list[str], amounts: list[str], dtype: Any, *more: Any) -> Any:
    """Return the sums of `amounts` by key, with `more` aggregations, and without keys of weight 0."""
    nw = load_narwhals()
    sums = rows.group_by(*keys).agg(*more, nw.col(*amounts).sum())
    counted = sums.with_columns(nw.col(*amounts).cast(dtype))  # DuckDB sums in 128 bits
    return counted.filter((nw.col("n_pos") > 0) | (nw.col("n_neg") > 0))


# Checks of values -----------------------------------------------------------------------------


class _ValueKind(NamedTuple):
    """A kind of value: the test that it passes on the engine, and an example of it for Polars."""

    test: Any
    example: Any


def _list_kinds(
    names: ColumnNames, dtypes: dict[str, pl.DataType], positive: Any
) -> dict[str, list[_ValueKind]]:
    """Return the kinds of value of score, label and weight; the last kind is any other value.

    `positive` is the test for `pos_label`, or None for labels that need no `pos_label`.
    """
    nw = load_narwhals()

    def missing(name: str) -> list[_ValueKind]:
        value = nw.col(name)
        nan = [_ValueKind(value.is_nan(), float("nan"))] if dtypes[name].is_float() else []
        return [_ValueKind(value.is_null(), None), *nan]

    label, absent = nw.col(names.label), [_ValueKind(nw.col(names.label).is_null(), None)]
    if positive is not None:
        labels = [_ValueKind(positive, True), _ValueKind(None, False)]
    elif dtypes[names.label] == pl.Boolean:
        labels = [_ValueKind(None, True)]
    else:
        labels = [*(_ValueKind(label == valid, valid) for valid in (0, 1, -1)), _ValueKind(None, 2)]
    kinds = {"score": [*missing(names.score), _ValueKind(None, 0.0)], "label": [*absent, *labels]}
    if names.weight is not None:
        weight = nw.col(names.weight)
        wrong = (weight < 0) | (weight.cast(nw.Float64) == float("inf"))
        kinds["weight"] = [*missing(names.weight), _ValueKind(wrong, -1.0), _ValueKind(None, 0.0)]
    return kinds


def _list_checks(names: ColumnNames, dtypes: dict[str, pl.DataType], pos_label: Any) -> Iterator[Check]:
    """Yield the checks of frame methods, in the same order, on the table of examples."""
    score, label = f"score column {names.score!r}", f"label column {names.label!r}"
    yield from value_checks.missing_checks(_sum_rows, score, pl.col("score"), nan=True)
    yield from value_checks.missing_checks(_sum_rows, label, pl.col("label"), nan=False)
    if pos_label is not None:
        yield from value_checks.pos_label_checks(_sum_rows, label, pl.col("label"), pos_label)
    elif dtypes[names.label] != pl.Boolean:
        yield from value_checks.label_checks(_sum_rows, label, pl.col("label"))
    if names.weight is not None:
        weight = f"weight column {names.weight!r}"
        yield from value_checks.missing_checks(_sum_rows, weight, pl.col("weight"), nan=True)
        yield from value_checks.amount_checks(_sum_rows, weight, pl.col("weight"))


def _sum_rows(test: pl.Expr) -> pl.Expr:
    """Return the number of rows on the engine whose kinds of value pass the test."""
    return pl.when(test).then(pl.col(_ROW_COUNT)).otherwise(0).sum()


def _check_values(frame: Any, kinds: dict[str, list[_ValueKind]], checks: list[Check]) -> None:
    """Count the rows of each combination of kinds, and run the checks on an example of each."""
    nw = load_narwhals()
    kind_numbers = {name: _first_match([kind.test for kind in kinds[name]]) for name in kinds}
    row_counts = (
        frame.select(**kind_numbers)
        .group_by(*kinds)
        .agg(nw.len().alias(_ROW_COUNT))
        .collect("polars")
        .to_native()
    )
    examples = row_counts.with_columns(_pick_examples(row_counts[name], kinds[name]) for name in kinds)
    with translate_errors():
        examples.select(guard(checks))


def _pick_examples(numbers: pl.Series, kinds: list[_ValueKind]) -> pl.Series:
    """Return the example of each kind of value, given by number."""
    dtype: Any = type(kinds[-1].example)
    return pl.Series(numbers.name, [kinds[number].example for number in numbers], dtype=dtype)


def _first_match(tests: list[Any]) -> Any:
    """Return the number of the first test that holds; the last one is taken to hold."""
    nw = load_narwhals()
    number = nw.lit(len(tests) - 1)
    for i, test in reversed(list(enumerate(tests[:-1]))):
        number = nw.when(test).then(nw.lit(i)).otherwise(number)
    return number
