"""Counts on a lazy engine, through narwhals: what it is asked for, and what it is asked first.

What values must be is counted by kinds of values in one aggregation, and Polars checks an example of
each kind, by the checks of all frame methods and in their words.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve import checks
from polars_prcurve.columns import COUNTS, RESERVED
from polars_prcurve.errors import Check, PrcError, guard, raised_eagerly
from polars_prcurve.inputs import Missing, read_input

__all__ = ["Names", "count_scores_on_engine", "load_narwhals", "summed"]

_N = f"{RESERVED}n"


class Names(NamedTuple):
    """The arguments that name columns."""

    by: list[str]
    score: str
    label: str
    weight: str | None

    def of_values(self) -> list[str]:
        """Score, label and weight, if there is one."""
        return [name for name in (self.score, self.label, self.weight) if name is not None]


def load_narwhals() -> ModuleType:
    """The extra that tables of other engines are read by."""
    try:
        import narwhals.stable.v2 as nw
    except ImportError:
        raise PrcError(
            'tables of other engines are read by narwhals: pip install "polars-prcurve[engines]"'
        ) from None
    return nw


def count_scores_on_engine(frame: Any, names: Names, pos_label: Any, missing: Missing) -> Any:
    """`by`, then the columns of COUNTS, as a lazy table of narwhals; bad values raise at once."""
    nw = load_narwhals()
    dtypes = _dtypes(frame, names, pos_label, missing)
    if missing == "drop":
        for name in names.of_values():
            frame = frame.filter(~_missing(nw.col(name), dtypes[name]))
    label = nw.col(names.label)
    positive = label if dtypes[names.label] == pl.Boolean else label == 1
    if pos_label is not None:
        positive = label == pos_label
    kinds = _kinds(names, dtypes, None if pos_label is None else positive)
    _refuse(frame, kinds, list(_checks(names, dtypes, pos_label)))
    rows = frame.select(*names.by, **_parts(frame, names, dtypes, positive))
    dtype = nw.Int64 if names.weight is None else nw.Float64
    return summed(rows, [*names.by, "score"], dtype).select(*names.by, *COUNTS)


def _dtypes(frame: Any, names: Names, pos_label: Any, missing: Missing) -> dict[str, pl.DataType]:
    """What the columns are, once names, dtypes and arguments are found to be right."""
    asked = {*names.by, *names.of_values()}
    schema = frame.collect_schema()
    known = load_narwhals().Schema({name: schema[name] for name in schema if name in asked}).to_polars()
    dtypes = {name: known.get(name, pl.Null()) for name in schema}
    how = {**names._asdict(), "pos_label": pos_label, "missing": missing}
    read_input(pl.LazyFrame(schema=dtypes), makes=COUNTS, **how)
    return dtypes


def _missing(value: Any, dtype: pl.DataType) -> Any:
    return value.is_null() | value.is_nan() if dtype.is_float() else value.is_null()


def _parts(frame: Any, names: Names, dtypes: dict[str, pl.DataType], positive: Any) -> dict[str, Any]:
    """The columns of COUNTS, as each row adds to them."""
    nw = load_narwhals()
    score = nw.col(names.score)
    if dtypes[names.score].is_float():  # an engine may group -0.0 and 0.0 apart
        zero = nw.lit(0.0, frame.collect_schema()[names.score])
        score = nw.when(score == 0).then(zero).otherwise(score)
    if names.weight is None:
        amounts = positive.cast(nw.Int64), (~positive).cast(nw.Int64)
    else:
        weight, nothing = nw.col(names.weight).cast(nw.Float64), nw.lit(0.0, nw.Float64)
        amounts = tuple(nw.when(one).then(weight).otherwise(nothing) for one in (positive, ~positive))
    return dict(zip(COUNTS, (score, *amounts), strict=True))


def summed(rows: Any, keys: list[str], dtype: Any, *more: Any) -> Any:
    """Counts by key, without keys of no weight."""
    nw = load_narwhals()
    added = rows.group_by(*keys).agg(*more, nw.col("n_pos", "n_neg").sum())
    counted = added.with_columns(nw.col("n_pos", "n_neg").cast(dtype))  # DuckDB adds up in 128 bits
    return counted.filter((nw.col("n_pos") > 0) | (nw.col("n_neg") > 0))


# What values must be --------------------------------------------------------------------------


class _Kind(NamedTuple):
    """A kind of value: the test that tells it, and an example of it."""

    test: Any
    example: Any


def _kinds(names: Names, dtypes: dict[str, pl.DataType], positive: Any) -> dict[str, list[_Kind]]:
    """For score, label and weight the kinds of value; the last kind is all the rest."""
    nw = load_narwhals()

    def missing(name: str) -> list[_Kind]:
        value = nw.col(name)
        nan = [_Kind(value.is_nan(), float("nan"))] if dtypes[name].is_float() else []
        return [_Kind(value.is_null(), None), *nan]

    label, absent = nw.col(names.label), [_Kind(nw.col(names.label).is_null(), None)]
    if positive is not None:
        labels = [_Kind(positive, True), _Kind(None, False)]
    elif dtypes[names.label] == pl.Boolean:
        labels = [_Kind(None, True)]
    else:
        labels = [*(_Kind(label == valid, valid) for valid in (0, 1, -1)), _Kind(None, 2)]
    kinds = {"score": [*missing(names.score), _Kind(None, 0.0)], "label": [*absent, *labels]}
    if names.weight is not None:
        weight = nw.col(names.weight)
        wrong = (weight < 0) | (weight.cast(nw.Float64) == float("inf"))
        kinds["weight"] = [*missing(names.weight), _Kind(wrong, -1.0), _Kind(None, 0.0)]
    return kinds


def _checks(names: Names, dtypes: dict[str, pl.DataType], pos_label: Any) -> Iterator[Check]:
    """Those of a frame method, in its order."""
    score, label = f"score column {names.score!r}", f"label column {names.label!r}"
    yield from checks.missing_checks(_rows, score, pl.col("score"), nan=True)
    yield from checks.missing_checks(_rows, label, pl.col("label"), nan=False)
    if pos_label is not None:
        yield from checks.pos_label_check(_rows, label, pl.col("label"), pos_label)
    elif dtypes[names.label] != pl.Boolean:
        yield from checks.label_checks(_rows, label, pl.col("label"))
    if names.weight is not None:
        weight = f"weight column {names.weight!r}"
        yield from checks.missing_checks(_rows, weight, pl.col("weight"), nan=True)
        yield from checks.amount_checks(_rows, weight, pl.col("weight"))


def _rows(test: pl.Expr) -> pl.Expr:
    return pl.when(test).then(pl.col(_N)).otherwise(0).sum()


def _refuse(frame: Any, kinds: dict[str, list[_Kind]], found: list[Check]) -> None:
    """Count the rows of each kind in one aggregation, and let Polars check an example of each."""
    nw = load_narwhals()
    kind_of = {name: _first_of([kind.test for kind in kinds[name]]) for name in kinds}
    seen = frame.select(**kind_of).group_by(*kinds).agg(nw.len().alias(_N)).collect("polars").to_native()
    examples = seen.with_columns(_examples(seen[name], kinds[name]) for name in kinds)
    with raised_eagerly():
        examples.select(guard(found))


def _examples(numbers: pl.Series, kinds: list[_Kind]) -> pl.Series:
    dtype: Any = type(kinds[-1].example)
    return pl.Series(numbers.name, [kinds[number].example for number in numbers], dtype=dtype)


def _first_of(tests: list[Any]) -> Any:
    """The number of the first test that holds, or of the last."""
    nw = load_narwhals()
    number = nw.lit(len(tests) - 1)
    for i, test in reversed(list(enumerate(tests[:-1]))):
        number = nw.when(test).then(nw.lit(i)).otherwise(number)
    return number
