"""Wide tables made long: a column of scores per model, or per class, becomes rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polars_prcurve.columns import RESERVED
from polars_prcurve.errors import Check, PrcError, did_you_mean, guard, sentence

__all__ = ["one_vs_rest", "unpivot_scores"]



def unpivot_scores(
    frame: pl.LazyFrame, scores: Sequence[str], *, name: str, score: str, row: str | None
) -> pl.LazyFrame:
    """Each row once per score column, in the order of the columns; other columns are repeated."""
    columns = [scores] if isinstance(scores, str) else list(scores)
    schema = frame.collect_schema()
    made = [made for made in (name, score, row) if made is not None]
    others = _others(schema, columns, made)
    return _stacked(frame, schema, columns, pl.Series(columns, dtype=pl.String), others, name, score, row)


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
    made = [made for made in (name, score, row, "label") if made is not None and made != label]
    others = _others(schema, columns, made)
    classes = _classes(label, schema[label], list(scores))
    frame = frame.join(_all_occur(frame, label, classes), how="cross", maintain_order="left")
    long = _stacked(frame, schema, columns, classes, others, name, score, row)
    return long.with_columns((pl.col(label) == pl.col(name)).alias("label"))


def _stacked(
    frame: pl.LazyFrame,
    schema: pl.Schema,
    columns: list[str],
    values: pl.Series,
    others: list[str],
    name: str,
    score: str,
    row: str | None,
) -> pl.LazyFrame:
    dtypes = {column: schema[column] for column in columns}
    if len(set(dtypes.values())) > 1:
        raise PrcError(f"the score columns differ in dtype: {dtypes}; cast them to one, so that none is rounded")
    if row is not None:
        frame = frame.with_row_index(row)
    listed = pl.concat_list(*columns).alias(score)
    kept = others if row is None else [row, *others]
    return frame.select(*kept, pl.lit(values.implode()).first().alias(name), listed).explode(name, score)


def _others(schema: pl.Schema, columns: list[str], made: list[str]) -> list[str]:
    """The columns that stay, if all names are there and none is made twice."""
    if not columns:
        raise PrcError("name at least one score column")
    _known(schema, "scores", columns)
    if len(set(columns)) < len(columns):
        raise PrcError(f"a score column is named twice: {columns}")
    others = [column for column in schema if column not in columns]
    for column in made:
        if column in others or made.count(column) > 1:
            raise PrcError(f"the result would have two columns {column!r}; rename one")
    return others


def _known(schema: pl.Schema, argument: str, columns: list[str]) -> None:
    for column in columns:
        if column not in schema:
            raise PrcError(
                f"{argument}= names the column {column!r}, which is not in the table; {did_you_mean(column, schema)}"
            )


def _classes(label: str, dtype: pl.DataType, classes: list[Any]) -> pl.Series:
    try:
        values = pl.Series(classes, dtype=dtype)
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as error:
        raise PrcError(f"the classes {classes} are not all of label column {label!r}, which is {dtype}; {error}") from None
    if values.null_count() > 0 or values.to_list() != classes:
        raise PrcError(f"the classes {classes} are not all values of label column {label!r}, which is {dtype}")
    return values


def _all_occur(frame: pl.LazyFrame, label: str, classes: pl.Series) -> pl.LazyFrame:
    """One row without columns to keep, if no class is absent from a table that has labels."""
    rows = pl.col(label).count()
    checks = []
    for value in classes.to_list():
        text = f" labels and none is {value!r}; check the spelling, or leave that class out of scores="
        absent = (pl.col(label) == value).sum() == 0
        checks.append(
            Check((rows > 0) & absent, sentence(f"label column {label!r} holds ", rows.cast(pl.String), text))
        )
    return frame.select(guard(checks).alias(f"{RESERVED}checked"))
