"""Wide tables made long: a column of scores per model, or per class, becomes rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polars_prcurve.checks import is_missing
from polars_prcurve.columns import EXAMPLE, MODEL, RESERVED
from polars_prcurve.errors import Check, PrcError, did_you_mean, guard, sentence

__all__ = ["one_vs_rest", "paired_scores", "unpivot_scores"]


def unpivot_scores(
    frame: pl.LazyFrame, scores: Sequence[str], *, name: str, score: str, row: str | None
) -> pl.LazyFrame:
    """Each row once per score column, in the order of the columns; other columns are repeated."""
    columns = [scores] if isinstance(scores, str) else list(scores)
    others = _others(frame.collect_schema(), columns, [name, score, *_given(row)])
    labels = pl.Series(name, columns, dtype=pl.String)
    return _stacked(frame, {score: columns}, labels, others, row)


def paired_scores(frame: pl.LazyFrame, scores: Sequence[str], *, drop: bool) -> tuple[pl.LazyFrame, str]:
    """The same for a comparison: names in the order given, rows numbered; and what scores are called.

    With `drop` a row that lacks one score leaves as a whole.
    """
    if not isinstance(scores, Sequence):
        raise PrcError(f"scores= names columns, as a list; a prevalence is eta=; got {scores!r}")
    if isinstance(scores, str) or len(scores) < 2:
        raise PrcError(f"scores= names the columns of two models or more; got {scores!r}")
    score = " or ".join(map(str, scores))
    if drop:
        schema = frame.collect_schema()
        _known(schema, "scores", list(scores))
        frame = frame.filter(~pl.any_horizontal(is_missing(pl.col(n), schema[n]) for n in scores))
    frame = unpivot_scores(frame, scores, name=MODEL, score=score, row=EXAMPLE)
    return frame.with_columns(pl.col(MODEL).cast(pl.Enum(scores))), score


def one_vs_rest(
    frame: pl.LazyFrame,
    *,
    label: str,
    scores: Mapping[Any, str],
    name: str,
    score: str,
    row: str | None,
) -> pl.LazyFrame:
    """Each row once per class; `label` becomes Boolean: is the row of that class?"""
    schema = frame.collect_schema()
    _known(schema, "label", [label])
    columns = list(scores.values())
    made = [name, score, *_given(row), *(["label"] if label != "label" else [])]
    others = _others(schema, columns, made)
    classes = _classes(label, schema[label], list(scores)).alias(name)
    frame = frame.join(_all_occur(frame, label, classes), how="cross", maintain_order="left")
    long = _stacked(frame, {score: columns}, classes, others, row)
    return long.with_columns((pl.col(label) == pl.col(name)).alias("label"))


def _stacked(
    frame: pl.LazyFrame,
    listed: dict[str, list[str]],
    names: pl.Series,
    others: list[str],
    row: str | None,
) -> pl.LazyFrame:
    """One row per row and column: `others`, the column's name, its value."""
    if row is not None:
        frame = frame.with_row_index(row).with_columns(pl.col(row).cast(pl.Int64))
    name = pl.lit(names.implode()).first().alias(names.name)
    values = [pl.concat_list(*columns).alias(made) for made, columns in listed.items()]
    return frame.select(*_given(row), *others, name, *values).explode(names.name, *listed)


def _given(row: str | None) -> list[str]:
    return [] if row is None else [row]


def _others(schema: pl.Schema, columns: list[str], made: list[str]) -> list[str]:
    """The columns that stay, if the score columns fit together and no name is made twice."""
    if not columns:
        raise PrcError("name at least one score column")
    _known(schema, "scores", columns)
    if len(set(columns)) < len(columns):
        raise PrcError(f"a score column is named twice: {columns}")
    dtypes = {column: schema[column] for column in columns}
    if len(set(dtypes.values())) > 1:
        raise PrcError(
            f"the score columns differ in dtype: {dtypes}; cast them to one, so that none is rounded"
        )
    others = [column for column in schema if column not in columns]
    for column in made:
        if column in others or made.count(column) > 1:
            raise PrcError(f"the result would have two columns {column!r}; rename one")
    return others


def _known(schema: pl.Schema, argument: str, columns: list[str]) -> None:
    for column in columns:
        if not isinstance(column, str):
            raise PrcError(f"{argument}= takes column names; got {column!r}")
        if column not in schema:
            hint = did_you_mean(column, schema)
            raise PrcError(f"{argument}= names the column {column!r}, which is not in the table; {hint}")


def _classes(label: str, dtype: pl.DataType, classes: list[Any]) -> pl.Series:
    try:
        values = pl.Series(classes, dtype=dtype)
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as error:
        raise PrcError(
            f"the classes {classes} are not all of label column {label!r}, which is {dtype}; {error}"
        ) from None
    if values.null_count() > 0 or values.to_list() != classes:
        raise PrcError(
            f"the classes {classes} are not all values of label column {label!r}, which is {dtype}"
        )
    return values


def _all_occur(frame: pl.LazyFrame, label: str, classes: pl.Series) -> pl.LazyFrame:
    """One row, if no class is absent from a table that has labels."""
    values = classes.to_list()
    labels = f"{RESERVED}labels"
    found = [f"{RESERVED}class_{number}" for number in range(len(values))]
    sums = ((pl.col(label) == v).sum().alias(name) for v, name in zip(values, found, strict=True))
    counted = frame.select(pl.col(label).count().alias(labels), *sums)
    checks = []
    for value, name in zip(values, found, strict=True):
        text = f" labels and none is {value!r}; check the spelling, or leave that class out of scores="
        said = sentence(f"label column {label!r} holds ", pl.col(labels).sum().cast(pl.String), text)
        checks.append(Check((pl.col(labels).sum() > 0) & (pl.col(name).sum() == 0), said))
    return counted.filter(guard(checks) == 0).select(labels)
