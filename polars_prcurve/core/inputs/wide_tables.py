"""Wide tables made long: a column of scores for each model, or for each class, becomes rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl
from polars import selectors

from polars_prcurve.core.ground import argument_checks as arguments
from polars_prcurve.core.ground.argument_checks import select_column
from polars_prcurve.core.ground.errors import PrcError, describe_value, suggest_names
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.value_checks import (
    SCORE_DTYPES,
    Check,
    is_missing,
    show_value,
    stop_if_broken,
)
from polars_prcurve.core.inputs.row_columns import Row

_SCORE_COLUMNS = "column names, as a list"  # what errors say of other values
_WEIGHT = f"{RESERVED}weight"  # the share of a class in the field over that in the table
_ROWS = f"{RESERVED}rows"  # the number of rows of a class


def unpivot_scores(
    frame: pl.LazyFrame, scores: Sequence[str], *, name: str, score: str, row: str | None
) -> pl.LazyFrame:
    """Return a row for each row and score column: `name`, its name, `score`, and the number `row`."""
    columns = arguments.read_list("scores=", scores, _SCORE_COLUMNS, single_type=str)
    _check_new_names(name=name, score=score, row=row)
    others = _find_other_columns(frame.collect_schema(), "scores", columns, [name, score, row])
    labels = pl.Series(name, columns, dtype=pl.String)
    return _stack_columns(frame, score, columns, labels, others=others, row=row)


class StackedTable(NamedTuple):
    """A long table that was made from a wide one, and the names of its columns."""

    frame: pl.LazyFrame
    score: str
    name: str  # the column that names the model, an Enum in the order given, or the class
    example: str = Row.EXAMPLE  # the column with the row number of the wide table
    label: str = ""  # of classes: the column that tells whether the row is of the class


def stack_models(frame: pl.LazyFrame, scores: Any, *, drop: bool) -> StackedTable:
    """Return a row per model and row; with `drop` none of a row in which one score is missing."""
    scores = arguments.read_list("score=", scores, _SCORE_COLUMNS, single_type=str)
    schema = frame.collect_schema()
    _check_known(schema, "score", scores)
    score = " or ".join(scores)
    if drop:
        missing = (is_missing(select_column(n), schema[n]) for n in scores)
        frame = frame.filter(~pl.any_horizontal(missing))
    # One model keeps the name of its column.
    new = [Row.MODEL, None if score in schema else score, Row.EXAMPLE]
    others = _find_other_columns(schema, "score", scores, new)
    # All rows of the first model, then all of the next: ten times as fast as in the order of rows.
    rows, names = _number_rows(frame, Row.EXAMPLE), pl.Enum(scores)
    shared_columns = [pl.col(Row.EXAMPLE), *map(select_column, others)]
    models = (
        rows.select(
            *shared_columns, pl.lit(name, dtype=names).alias(Row.MODEL), select_column(name).alias(score)
        )
        for name in scores
    )
    return StackedTable(pl.concat(models), score, Row.MODEL)


def stack_classes(frame: pl.LazyFrame, label: Any, scores: Mapping[Any, str]) -> StackedTable:
    """Return a row for each class and row of a table with one score column per class."""
    schema = frame.collect_schema()
    if not isinstance(label, str):
        raise arguments.refuse_kind(
            "label=", "the name of the column of classes, beside score= as a mapping", label
        )
    _check_known(schema, "label", [label])
    if nested := [value for value in scores.values() if isinstance(value, Mapping)]:
        raise PrcError(
            f"score= maps each class to one column; got {describe_value(nested[0])}; for the classes of "
            "several models call .prc.unpivot_scores({...}) for each model, and concatenate with a "
            "column model"
        )
    columns = list(scores.values())
    score, is_class = " or ".join(map(str, columns)), f"{label} (one class)"
    new = [None if score in schema else score, is_class]
    others = _find_other_columns(schema, "score", columns, new)
    classes = read_classes(label, schema[label], list(scores)).alias(Row.CLASS)
    frame = _check_all_occur(frame, label, classes, "score")
    long = _stack_columns(frame, score, columns, classes, others=others, row=Row.EXAMPLE)
    long = long.with_columns((select_column(label) == pl.col(Row.CLASS)).alias(is_class))
    return StackedTable(long, score, Row.CLASS, label=is_class)


def one_vs_rest(
    frame: pl.LazyFrame,
    *,
    label: str,
    scores: Mapping[Any, str],
    name: str,
    score: str,
    row: str | None,
    mix: Mapping[Any, float] | None,
) -> pl.LazyFrame:
    """Return a row for each row and class of a table, with a Boolean `label`: is the row of that class?

    The column `name` holds the class. With `mix`, the share of each class in the field, `weight` brings
    the classes of the table to these shares.
    """
    schema = frame.collect_schema()
    _check_known(schema, "label", [label])
    _check_new_names(name=name, score=score, row=row)
    columns = list(scores.values())
    new = [name, score, row, "label" if label != "label" else None, None if mix is None else "weight"]
    others = _find_other_columns(schema, "scores", columns, new)
    classes = read_classes(label, schema[label], list(scores)).alias(name)
    frame = _check_all_occur(frame, label, classes, "scores")
    if mix is not None:
        frame = _join_class_weights(frame, label, schema[label], mix, classes)
        others = [*others, _WEIGHT]
    long = _stack_columns(frame, score, columns, classes, others=others, row=row)
    long = long.with_columns((select_column(label) == select_column(name)).alias("label"))
    return long if mix is None else long.select(pl.exclude(_WEIGHT), pl.col(_WEIGHT).alias("weight"))


def _join_class_weights(
    frame: pl.LazyFrame, label: str, dtype: pl.DataType, mix: object, classes: pl.Series
) -> pl.LazyFrame:
    """Add _WEIGHT, the share of the class of a row in the field, by `mix`, over that in the table."""
    shares_by_class = arguments.read_shares("mix=", mix)
    shared_classes = read_classes(label, dtype, list(shares_by_class))
    if lacking := [value for value in classes.to_list() if value not in shared_classes.to_list()]:
        raise PrcError(f"mix= needs a share for every class; it has none for {lacking[0]!r}")
    shares = pl.Series(_WEIGHT, [*shares_by_class.values()], dtype=pl.Float64)
    field = pl.LazyFrame([shared_classes.alias(label), shares / math.fsum(shares)])
    n, weight = pl.col(_ROWS), pl.col(_WEIGHT)
    rows = frame.filter(select_column(label).is_not_null())
    counts = rows.group_by(label).agg(pl.len().alias(_ROWS))
    no_rows = n.is_null() & (weight > 0) & (n.sum() > 0)
    checks = [
        _class_check(n.is_not_null() & weight.is_null(), label, "mix= has no share for"),
        _class_check(no_rows, label, "no row of the table is of"),
    ]
    counts_and_shares = stop_if_broken(counts.join(field, on=label, how="full", coalesce=True), checks)
    weights = counts_and_shares.filter(n.is_not_null()).select(
        label, (weight * (n.sum() / n)).alias(_WEIGHT)
    )
    frame = frame.join(weights, on=label, how="left", maintain_order="left")
    return frame.with_columns(weight.fill_null(1.0))


def _class_check(test: pl.Expr, label: str, trouble: str) -> Check:
    """Return the check that no class, one per row, satisfies a test."""
    example = show_value(select_column(label).filter(test).sort().first())
    todo = f", a class of label column {label!r}; mix= names each of its classes once"
    return Check(test.any(), (f"{trouble} ", example, todo))


def _check_new_names(*, name: object, score: object, row: object) -> None:
    """Raise unless the names of new columns are texts; `row` may be None."""
    for argument, new in (("name=", name), ("score=", score), *([] if row is None else [("row=", row)])):
        if arguments.is_pattern(arguments.read_name(argument, new)):
            raise PrcError(
                f"{argument} is {new!r}, which Polars reads as a pattern; choose another name"
            )


def _stack_columns(
    frame: pl.LazyFrame,
    score: str,
    columns: list[str],
    names: pl.Series,
    *,
    others: list[str],
    row: str | None,
) -> pl.LazyFrame:
    """Return a row for each row and each of `names`, with `others`, and a `score` of `columns`."""
    if row is not None:
        frame, others = _number_rows(frame, row), [row, *others]
    name = pl.lit(names.implode()).first().alias(names.name)
    values = pl.concat_list(*map(select_column, columns)).alias(score)
    shared_columns = map(select_column, others)
    return frame.select(*shared_columns, name, values).explode(selectors.by_name(names.name, score))


def _number_rows(frame: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """Add the numbers of rows, from 0 up, as a column `name`."""
    return frame.with_row_index(name).with_columns(select_column(name).cast(pl.Int64))


def _find_other_columns(
    schema: pl.Schema, argument: str, columns: list[str], new: list[str | None]
) -> list[str]:
    """Return the columns that are repeated; raise if score columns differ, or one of `new` is there."""
    if not columns:
        raise PrcError(f"{argument}= needs at least one score column; got none")
    _check_known(schema, argument, columns)
    if len(set(columns)) < len(columns):
        raise PrcError(f"a score column is named twice: {columns}")
    dtypes = {column: schema[column] for column in columns}
    for column, dtype in dtypes.items():
        SCORE_DTYPES.require(f"score column {column!r}", dtype)
    if len(set(dtypes.values())) > 1:
        raise PrcError(
            f"the score columns differ in dtype: {dtypes}; cast them to one dtype, so that none is "
            "rounded"
        )
    others = [column for column in schema if column not in columns]
    for column in (name for name in new if name is not None):
        if column in others or new.count(column) > 1:
            raise PrcError(f"the result would have two columns {column!r}; rename one")
    return others


def _check_known(schema: pl.Schema, argument: str, columns: list[str]) -> None:
    """Raise unless all `columns` are names of columns in the table."""
    for column in columns:
        if not isinstance(column, str):
            raise arguments.refuse_kind(f"{argument}=", "column names", column)
        if column not in schema:
            hint = suggest_names(column, schema)
            raise PrcError(f"{argument}= names the column {column!r}, which is not in the table; {hint}")


def read_classes(label: str, dtype: pl.DataType, classes: list[Any]) -> pl.Series:
    """Return the classes in the dtype of the label column; raise if it cannot hold them."""
    arguments.refuse_objects("label=", {label: dtype})
    try:
        values = pl.Series(classes, dtype=dtype)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        values = pl.Series([None] * len(classes), dtype=dtype)
    if values.null_count() > 0 or values.to_list() != classes:
        raise PrcError(
            f"the classes {classes} are not all values of label column {label!r}, which is {dtype}; "
            "write them as they stand there"
        )
    return values


def _check_all_occur(frame: pl.LazyFrame, label: str, classes: pl.Series, argument: str) -> pl.LazyFrame:
    """Return the table with a guard: the query stops if it has labels, and none of a class."""
    n_labels = f"{RESERVED}labels"
    class_of = {f"{RESERVED}class_{i}": value for i, value in enumerate(classes.to_list())}
    sums = ((select_column(label) == value).sum().alias(name) for name, value in class_of.items())
    totals = frame.select(select_column(label).count().alias(n_labels), *sums)
    labels, checks = pl.col(n_labels).sum(), []
    beginning = f"label column {label!r} holds ", labels
    for name, value in class_of.items():
        text = f" label(s) and none is {value!r}; check the spelling, or leave that class out of "
        absent = (labels > 0) & (pl.col(name).sum() == 0)
        checks.append(Check(absent, (*beginning, f"{text}{argument}=")))
    present = stop_if_broken(totals, checks).select(n_labels)
    return frame.join(present, how="cross", maintain_order="left")
