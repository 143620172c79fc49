"""Wide tables made long: a column of scores for each model, or for each class, becomes rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl
from polars import selectors

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import read_list, read_name, read_shares, refuse_kind, refuse_objects
from polars_prcurve.errors import PrcError, describe_value, suggest_names
from polars_prcurve.inputs.value_checks import SCORE_DTYPES, is_missing
from polars_prcurve.query_checks import Check, compose_sentence, show_value, stop_if_broken


def unpivot_scores(
    frame: pl.LazyFrame, scores: Sequence[str], *, name: str, score: str, row: str | None
) -> pl.LazyFrame:
    """Return a row for each row and score column of a table; other columns are repeated.

    The column `name` holds the name of the score column, `score` the score, and `row` the row number.
    """
    columns = _read_score_columns(scores)
    _check_new_names(name=name, score=score, row=row)
    new = [name, score, *_optional_name(row)]
    others = _find_other_columns(frame.collect_schema(), "scores", columns, new)
    labels = pl.Series(name, columns, dtype=pl.String)
    return _stack_columns(frame, {score: columns}, labels, others, row)


class StackedTable(NamedTuple):
    """A long table that was made from a wide one, and the names of its columns."""

    frame: pl.LazyFrame
    score: str
    name: str
    """The column that names the model, an Enum in the order given, or the class."""
    example: str = c.EXAMPLE
    """The column with the row number of the wide table."""
    label: str = ""
    """Of classes: the column that tells whether the row is of the class."""


def stack_models(frame: pl.LazyFrame, scores: Any, *, drop: bool) -> StackedTable:
    """Return a row for each model and row of a table with one score column per model.

    With `drop` a row is left out for all models if one score is missing.
    """
    scores = _read_score_columns(scores, "score=")
    schema = frame.collect_schema()
    _check_known(schema, "score", scores)
    score = " or ".join(scores)
    if drop:
        frame = frame.filter(
            ~pl.any_horizontal(is_missing(c.select_column(n), schema[n]) for n in scores)
        )
    new = [c.MODEL, *_name_new(score, schema), c.EXAMPLE]
    others = _find_other_columns(schema, "score", scores, new)
    # All rows of the first model, then all of the next: ten times as fast as in the order of rows.
    rows, names = _number_rows(frame, c.EXAMPLE), pl.Enum(scores)
    kept = [pl.col(c.EXAMPLE), *map(c.select_column, others)]
    models = (
        rows.select(*kept, pl.lit(name, dtype=names).alias(c.MODEL), c.select_column(name).alias(score))
        for name in scores
    )
    return StackedTable(pl.concat(models), score, c.MODEL)


def _name_new(score: str, schema: pl.Schema) -> list[str]:
    """Return the name of stacked scores if it is a new one; one model keeps that of its column."""
    return [] if score in schema else [score]


def stack_classes(frame: pl.LazyFrame, label: Any, scores: Mapping[Any, str]) -> StackedTable:
    """Return a row for each class and row of a table with one score column per class."""
    schema = frame.collect_schema()
    if not isinstance(label, str):
        raise refuse_kind(
            "label=", "the name of the column of classes, beside score= as a mapping", label
        )
    _check_known(schema, "label", [label])
    if nested := [value for value in scores.values() if isinstance(value, Mapping)]:
        raise PrcError(
            f"score= maps each class to one column; got {describe_value(nested[0])}; for the classes of "
            "several models call .prc.one_vs_rest() for each model, and concatenate with a column model"
        )
    columns = list(scores.values())
    score, is_class = " or ".join(map(str, columns)), f"{label} (one class)"
    others = _find_other_columns(schema, "score", columns, [*_name_new(score, schema), is_class])
    classes = read_classes(label, schema[label], list(scores)).alias(c.CLASS)
    present = _check_all_occur(frame, label, classes, "score")
    frame = frame.join(present, how="cross", maintain_order="left")
    long = _stack_columns(frame, {score: columns}, classes, others, c.EXAMPLE)
    long = long.with_columns((c.select_column(label) == pl.col(c.CLASS)).alias(is_class))
    return StackedTable(long, score, c.CLASS, label=is_class)


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

    `scores` holds the score column of each class. The column `name` holds the class. With `mix`, the
    share of each class in the field, `weight` brings the classes of the table to these shares.
    """
    schema = frame.collect_schema()
    _check_known(schema, "label", [label])
    if not isinstance(scores, Mapping):
        raise refuse_kind("scores=", "a mapping from each class to its score column", scores)
    _check_new_names(name=name, score=score, row=row)
    columns = list(scores.values())
    new = [name, score, *_optional_name(row), *(["label"] if label != "label" else [])]
    new += [] if mix is None else ["weight"]
    others = _find_other_columns(schema, "scores", columns, new)
    classes = read_classes(label, schema[label], list(scores)).alias(name)
    present = _check_all_occur(frame, label, classes, "scores")
    frame = frame.join(present, how="cross", maintain_order="left")
    if mix is not None:
        shares = _read_mix(label, schema[label], mix, classes)
        frame = frame.join(
            _build_class_weights(frame, label, shares), on=label, how="left", maintain_order="left"
        )
        frame, others = frame.with_columns(pl.col(_WEIGHT).fill_null(1.0)), [*others, _WEIGHT]
    long = _stack_columns(frame, {score: columns}, classes, others, row)
    long = long.with_columns((c.select_column(label) == c.select_column(name)).alias("label"))
    return long if mix is None else long.select(pl.exclude(_WEIGHT), pl.col(_WEIGHT).alias("weight"))


_WEIGHT = f"{c.RESERVED}weight"


def _read_mix(label: str, dtype: pl.DataType, mix: object, classes: pl.Series) -> pl.DataFrame:
    """Return the classes of `mix=`, as a column `label`, and their shares of the whole in _WEIGHT."""
    given = read_shares("mix=", mix)
    known = read_classes(label, dtype, list(given))
    if lacking := [value for value in classes.to_list() if value not in known.to_list()]:
        raise PrcError(f"mix= needs a share for every class; it has none for {lacking[0]!r}")
    shares = pl.Series(_WEIGHT, [*given.values()], dtype=pl.Float64)
    return pl.DataFrame([known.alias(label), shares / math.fsum(shares)])


def _build_class_weights(frame: pl.LazyFrame, label: str, shares: pl.DataFrame) -> pl.LazyFrame:
    """Return one row per class with its share in the field over its share in the table, as _WEIGHT.

    The query stops if a class of the table has no share, or a class with a share has no rows.
    """
    n, of_class = pl.col(_ROWS), c.select_column(label)
    counts = frame.filter(of_class.is_not_null()).group_by(label).agg(pl.len().alias(_ROWS))
    both = counts.join(shares.lazy(), on=label, how="full", coalesce=True)
    checks = [
        _class_check(n.is_not_null() & pl.col(_WEIGHT).is_null(), label, "mix= has no share for"),
        _class_check(
            n.is_null() & (pl.col(_WEIGHT) > 0) & (n.sum() > 0), label, "no row of the table is of"
        ),
    ]
    weight = pl.col(_WEIGHT) * (n.sum() / n)
    return stop_if_broken(both, checks).filter(n.is_not_null()).select(label, weight.alias(_WEIGHT))


_ROWS = f"{c.RESERVED}rows"


def _class_check(test: pl.Expr, label: str, trouble: str) -> Check:
    """Return the check that no class, one per row, satisfies a test."""
    example = show_value(c.select_column(label).filter(test).sort().first())
    text = compose_sentence(
        f"{trouble} ",
        example,
        f", a class of label column {label!r}; mix= names each of its classes once",
    )
    return Check(test.any(), text)


def _read_score_columns(scores: Any, argument: str = "scores=") -> list[Any]:
    """Return the names of score columns as a list."""
    return read_list(argument, scores, "column names, as a list", single=str)


def _check_new_names(*, name: object, score: object, row: object) -> None:
    """Raise unless the names of new columns are texts; `row` may be None."""
    for argument, new in (("name=", name), ("score=", score), *([] if row is None else [("row=", row)])):
        if c.is_pattern(read_name(argument, new)):
            raise PrcError(
                f"{argument} is {new!r}, which Polars reads as a pattern; choose another name"
            )


def _stack_columns(
    frame: pl.LazyFrame,
    listed: dict[str, list[str]],
    names: pl.Series,
    others: list[str],
    row: str | None,
) -> pl.LazyFrame:
    """Return a row for each row and each of `names`, with `others` and the values of `listed`.

    `listed` holds for each new column the columns that it takes its values from, one per name.
    """
    if row is not None:
        frame = _number_rows(frame, row)
    name = pl.lit(names.implode()).first().alias(names.name)
    values = [
        pl.concat_list(*map(c.select_column, columns)).alias(new) for new, columns in listed.items()
    ]
    kept = map(c.select_column, [*_optional_name(row), *others])
    return frame.select(*kept, name, *values).explode(selectors.by_name(names.name, *listed))


def _number_rows(frame: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """Add the numbers of rows, from 0 up, as a column `name`."""
    return frame.with_row_index(name).with_columns(c.select_column(name).cast(pl.Int64))


def _optional_name(row: str | None) -> list[str]:
    return [] if row is None else [row]


def _find_other_columns(
    schema: pl.Schema, argument: str, columns: list[str], new: list[str]
) -> list[str]:
    """Return the columns other than score columns, which are repeated; `argument` names these.

    Raise if the score columns do not fit together, or one of the `new` columns is there already.
    """
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
    for column in new:
        if column in others or new.count(column) > 1:
            raise PrcError(f"the result would have two columns {column!r}; rename one")
    return others


def _check_known(schema: pl.Schema, argument: str, columns: list[str]) -> None:
    """Raise unless all `columns` are names of columns in the table."""
    for column in columns:
        if not isinstance(column, str):
            raise refuse_kind(f"{argument}=", "column names", column)
        if column not in schema:
            hint = suggest_names(column, schema)
            raise PrcError(f"{argument}= names the column {column!r}, which is not in the table; {hint}")


def read_classes(label: str, dtype: pl.DataType, classes: list[Any]) -> pl.Series:
    """Return the classes in the dtype of the label column; raise if it cannot hold them."""
    refuse_objects("label=", {label: dtype})
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
    """Return one row with a guard: the query stops if a class is absent from a table that has labels.

    The `argument` is the one that names the classes.
    """
    n_labels = f"{c.RESERVED}labels"
    class_of = {f"{c.RESERVED}class_{i}": value for i, value in enumerate(classes.to_list())}
    sums = ((c.select_column(label) == value).sum().alias(name) for name, value in class_of.items())
    totals = frame.select(c.select_column(label).count().alias(n_labels), *sums)
    labels, checks = pl.col(n_labels).sum(), []
    for name, value in class_of.items():
        text = f" label(s) and none is {value!r}; check the spelling, or leave that class out of "
        sentence = compose_sentence(
            f"label column {label!r} holds ", labels.cast(pl.String), f"{text}{argument}="
        )
        checks.append(Check((labels > 0) & (pl.col(name).sum() == 0), sentence))
    return stop_if_broken(totals, checks).select(n_labels)
