"""Wide tables made long: a column of scores for each model, or for each class, becomes rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import polars as pl
from polars import selectors

from polars_prcurve.argument_kinds import read_list, read_text, refuse_kind
from polars_prcurve.column_names import EXAMPLE, MODEL, RESERVED, is_pattern, select_column
from polars_prcurve.errors import PrcError, describe_value, suggest_names
from polars_prcurve.inputs.column_reader import Column, Columns, list_columns
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
    others = _find_other_columns(frame.collect_schema(), columns, [name, score, *_optional_name(row)])
    labels = pl.Series(name, columns, dtype=pl.String)
    return _stack_columns(frame, {score: columns}, labels, others, row)


def pair_scores(frame: pl.LazyFrame, scores: Sequence[str], *, drop: bool) -> tuple[pl.LazyFrame, str]:
    """Return a long table of models to compare, and the name of its score column.

    MODEL is an Enum of the score columns in the order given, and EXAMPLE is the row number. With `drop`
    a row is left out for all models if one score is missing.
    """
    scores = read_list("scores=", scores, f"{_SCORE_COLUMNS}; a prevalence is eta=", single=str)
    if len(scores) < 2:
        raise PrcError(f"scores= takes the columns of two models or more; got {scores!r}")
    schema = frame.collect_schema()
    _check_known(schema, "scores", scores)
    score = " or ".join(scores)
    if drop:
        frame = frame.filter(~pl.any_horizontal(is_missing(select_column(n), schema[n]) for n in scores))
    others = _find_other_columns(schema, scores, [MODEL, score, EXAMPLE])
    # All rows of the first model, then all of the next: ten times as fast as in the order of rows.
    rows, names = _number_rows(frame, EXAMPLE), pl.Enum(scores)
    kept = [pl.col(EXAMPLE), *map(select_column, others)]
    models = (
        rows.select(*kept, pl.lit(name, dtype=names).alias(MODEL), select_column(name).alias(score))
        for name in scores
    )
    return pl.concat(models), score


class ModelTable(NamedTuple):
    """A long table of models, with one row per example and model, and its columns."""

    frame: pl.DataFrame | pl.LazyFrame
    score: Column
    model: Column
    example: Columns
    matched: bool
    """Every example surely has one row of each model, because the table was made from a wide one."""


def read_model_table(
    frame: pl.DataFrame | pl.LazyFrame,
    scores: Sequence[str] | None,
    *,
    score: Column,
    model: Column | None,
    id: Columns,
    paired: bool,
    drop: bool,
) -> ModelTable:
    """Return the table of models as given, or made from the score columns `scores`; raise if unclear."""
    if not paired:
        if scores is not None or model is None or list_columns("id=", id):
            raise PrcError(
                "paired=False is for models that have examples of their own; pass model=, the column "
                "that names them, and leave out scores= and id="
            )
        return ModelTable(frame, score, model, None, matched=False)
    if scores is None:
        if model is None or not list_columns("id=", id):
            raise PrcError(
                "pass scores=, two columns or more; or model= and id= of a long table; or model= and "
                "paired=False if the models did not score the same examples"
            )
        return ModelTable(frame, score, model, id, matched=False)
    long, score_name = pair_scores(frame.lazy(), scores, drop=drop)
    default_score = isinstance(score, str) and score == "score"  # an expression has no truth value
    if model is not None or list_columns("id=", id) or not default_score:
        raise PrcError("scores= names the models; leave out model=, id= and score=")
    return ModelTable(long, score_name, MODEL, EXAMPLE, matched=True)


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
    others = _find_other_columns(schema, columns, new)
    classes = _read_classes(label, schema[label], list(scores)).alias(name)
    frame = frame.join(_check_all_occur(frame, label, classes), how="cross", maintain_order="left")
    if mix is not None:
        shares = _read_mix(label, schema[label], mix, classes)
        frame = frame.join(
            _build_class_weights(frame, label, shares), on=label, how="left", maintain_order="left"
        )
        frame, others = frame.with_columns(pl.col(_WEIGHT).fill_null(1.0)), [*others, _WEIGHT]
    long = _stack_columns(frame, {score: columns}, classes, others, row)
    long = long.with_columns((select_column(label) == select_column(name)).alias("label"))
    return long if mix is None else long.select(pl.exclude(_WEIGHT), pl.col(_WEIGHT).alias("weight"))


_WEIGHT = f"{RESERVED}weight"


def _read_mix(label: str, dtype: pl.DataType, mix: object, classes: pl.Series) -> pl.DataFrame:
    """Return the classes of `mix=`, as a column `label`, and their shares of the whole in _WEIGHT."""
    if not isinstance(mix, Mapping):
        raise PrcError(f"mix= maps each class to its share in the field; got {describe_value(mix)}")
    for value, share in mix.items():
        if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= float(share) < math.inf:
            raise PrcError(f"mix= takes shares, numbers >= 0; got {describe_value(share)} for {value!r}")
    known = _read_classes(label, dtype, list(mix))
    if lacking := [value for value in classes.to_list() if value not in known.to_list()]:
        raise PrcError(f"mix= needs a share for every class; it has none for {lacking[0]!r}")
    shares = pl.Series(_WEIGHT, [float(share) for share in mix.values()], dtype=pl.Float64)
    total = math.fsum(shares)
    if not 0 < total < math.inf:
        raise PrcError(f"the shares of mix= need a finite sum above 0; got {dict(mix)}")
    return pl.DataFrame([known.alias(label), shares / total])


def _build_class_weights(frame: pl.LazyFrame, label: str, shares: pl.DataFrame) -> pl.LazyFrame:
    """Return one row per class with its share in the field over its share in the table, as _WEIGHT.

    The query stops if a class of the table has no share, or a class with a share has no rows.
    """
    n, of_class = pl.col(_ROWS), select_column(label)
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


_ROWS = f"{RESERVED}rows"


def _class_check(test: pl.Expr, label: str, trouble: str) -> Check:
    """Return the check that no class, one per row, satisfies a test."""
    example = show_value(select_column(label).filter(test).sort().first())
    text = compose_sentence(
        f"{trouble} ",
        example,
        f", a class of label column {label!r}; mix= names each of its classes once",
    )
    return Check(test.any(), text)


_SCORE_COLUMNS = "column names, as a list"


def _read_score_columns(scores: Any) -> list[Any]:
    """Return the names of score columns as a list."""
    return read_list("scores=", scores, _SCORE_COLUMNS, single=str)


def _check_new_names(*, name: object, score: object, row: object) -> None:
    """Raise unless the names of new columns are texts; `row` may be None."""
    for argument, new in (("name=", name), ("score=", score), *([] if row is None else [("row=", row)])):
        if is_pattern(read_text(argument, new)):
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
    values = [pl.concat_list(*map(select_column, columns)).alias(new) for new, columns in listed.items()]
    kept = map(select_column, [*_optional_name(row), *others])
    return frame.select(*kept, name, *values).explode(selectors.by_name(names.name, *listed))


def _number_rows(frame: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """Add the numbers of rows, from 0 up, as a column `name`."""
    return frame.with_row_index(name).with_columns(select_column(name).cast(pl.Int64))


def _optional_name(row: str | None) -> list[str]:
    return [] if row is None else [row]


def _find_other_columns(schema: pl.Schema, columns: list[str], new: list[str]) -> list[str]:
    """Return the columns other than score columns, which are repeated.

    Raise if the score columns do not fit together, or one of the `new` columns is there already.
    """
    if not columns:
        raise PrcError("scores= takes at least one score column; it is empty")
    _check_known(schema, "scores", columns)
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


def _read_classes(label: str, dtype: pl.DataType, classes: list[Any]) -> pl.Series:
    """Return the classes in the dtype of the label column; raise if it cannot hold them."""
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


def _check_all_occur(frame: pl.LazyFrame, label: str, classes: pl.Series) -> pl.LazyFrame:
    """Return one row with a guard: the query stops if a class is absent from a table that has labels."""
    n_labels = f"{RESERVED}labels"
    class_of = {f"{RESERVED}class_{i}": value for i, value in enumerate(classes.to_list())}
    sums = ((select_column(label) == value).sum().alias(name) for name, value in class_of.items())
    totals = frame.select(select_column(label).count().alias(n_labels), *sums)
    labels, checks = pl.col(n_labels).sum(), []
    for name, value in class_of.items():
        text = f" labels and none is {value!r}; check the spelling, or leave that class out of scores="
        sentence = compose_sentence(f"label column {label!r} holds ", labels.cast(pl.String), text)
        checks.append(Check((labels > 0) & (pl.col(name).sum() == 0), sentence))
    return stop_if_broken(totals, checks).select(n_labels)
