"""A user's table, read into a `ScoreTable`, with labels or without, or into a `RateTable`.

Every column is resolved and typed here. What names and dtypes tell raises at once. What only values tell
becomes a check that the query carries with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.core.ground import value_checks
from polars_prcurve.core.ground.argument_checks import read_list, read_whole_number, refuse_kind
from polars_prcurve.core.ground.errors import PrcError, suggest_names
from polars_prcurve.core.ground.value_checks import Check
from polars_prcurve.core.inputs.column_reader import (
    Column,
    ColumnReader,
    Columns,
    ReadColumn,
    TypedExpr,
    list_columns,
    list_known_columns,
)
from polars_prcurve.core.inputs.input_columns import Cells, InputColumns
from polars_prcurve.core.inputs.input_tables import InputTable, RateTable, ScoreTable
from polars_prcurve.core.inputs.never_scored import add_never_scored
from polars_prcurve.core.inputs.row_columns import Row


def read_input(
    frame: pl.DataFrame | pl.LazyFrame,
    columns: InputColumns,
    *,
    may_collect: bool,
    made_from: pl.DataFrame | pl.LazyFrame | None = None,
    posteriors: bool = False,
) -> ScoreTable | RateTable:
    """Return the table with every column resolved and typed.

    `made_from` is the user's table, if `frame` is another one with the same groups. Examples with an
    `id` are left out as a whole if a value is missing in one of their rows, unless rows are matched.
    Scores that are `posteriors` lie in [0, 1].
    """
    reader = ColumnReader(frame, columns.missing, may_collect=may_collect, made_from=made_from)
    model_name, part_names = _read_groups(reader, columns)
    if columns.points is not None or columns.sizes is not None:
        points, fields = _read_points(reader, columns)
        return RateTable(**reader.input_fields(points), **fields, model_name=model_name)
    models = reader.by.get(Row.MODEL) if columns.is_matched else None
    wide = models.categories.to_list() if isinstance(models, pl.Enum) else []
    score = _read_score(reader, columns.score, wide, posteriors=posteriors)
    is_counted = columns.counts is not None
    amounts = _read_counts(reader, columns) if is_counted else _read_labels(reader, columns)
    ids = _read_ids(reader, columns)
    table = _build_score_table(reader, score, amounts, ids, weighted=columns.weight is not None)
    table = replace(table, model_name=model_name, within=tuple(part_names))
    if columns.below is not None or reader.lets_null_scores:
        table = add_never_scored(table, columns.below, in_rows=reader.lets_null_scores)
    return table.aggregate_scores() if _scores_repeat(table, frame) else table


def read_unlabelled(
    frame: pl.DataFrame | pl.LazyFrame,
    columns: InputColumns,
    *,
    may_collect: bool,
    posteriors: bool = False,
) -> ScoreTable:
    """Return a table without labels, all of whose rows stand as negatives; posteriors become Float64."""
    reader = ColumnReader(frame, columns.missing, may_collect=may_collect)
    reader.read_by(columns.by)
    score = _read_score(reader, columns.score)
    if posteriors:
        value = score.value.cast(pl.Float64)
        reader.check(value_checks.unlabelled_checks, score.what, value)
        score = score._replace(value=value, dtype=pl.Float64())
    amounts = _read_numbers_of_rows(reader, columns.counts)
    return _build_score_table(reader, score, amounts, {}, weighted=False)


def _read_groups(reader: ColumnReader, columns: InputColumns) -> tuple[str, list[str]]:
    """Add the group columns, and return the names of that of models, or "", and of those of parts."""
    reader.read_by(columns.by)
    model_name = "" if columns.model is None else _read_model(reader, columns.model)
    return model_name, [] if columns.parts is None else _read_parts(reader, columns.parts)


def _read_ids(reader: ColumnReader, columns: InputColumns) -> dict[str, pl.Expr]:
    """Return Row.CLUSTER, Row.STRATUM and its weight, and Row.EXAMPLE, as far as a table has them."""
    ids = {}
    if columns.cluster is not None:
        ids[Row.CLUSTER] = reader.read_values("cluster", columns.cluster).value
    if columns.stratum is not None and columns.weight is not None:
        ids |= _read_strata(reader, columns.stratum, columns.weight)
    examples = [reader.read_values("id", column).value for column in list_columns("id=", columns.id)]
    if not examples:
        return ids
    named = [value.alias(str(i)) for i, value in enumerate(examples)]  # whose own names may be equal
    ids[Row.EXAMPLE] = examples[0] if len(named) == 1 else pl.struct(named)
    if not columns.is_matched:
        n_groups = len(reader.by_exprs) - (columns.model is not None)
        reader.example_keys = [*reader.by_exprs[:n_groups], *examples]
    return ids


def _build_score_table(
    reader: ColumnReader,
    score: ReadColumn,
    amounts: Mapping[str, TypedExpr],
    ids: Mapping[str, pl.Expr],
    *,
    weighted: bool,
) -> ScoreTable:
    """Return the table of a score, of what a row adds to both classes, and of what it belongs to."""
    has_floats = Row.POS_SQUARES in amounts or any(dtype == pl.Float64 for _, dtype in amounts.values())
    cast = {name: e.cast(pl.Float64) if has_floats else e for name, (e, _) in amounts.items()}
    return ScoreTable(
        **reader.input_fields({Row.SCORE: score.value, **cast, **ids}),
        score_dtype=score.dtype,
        float_sums=has_floats,
        count_dtype=pl.Float64() if has_floats or weighted else pl.Int64(),
        weighted=weighted,
    )


def _read_model(reader: ColumnReader, model: Any) -> str:
    """Add the column of models to the group columns, and return its name."""
    models = reader.read_column("model", model)
    if models.name in reader.by:
        raise PrcError(f"by= and model= both hold the column {models.name!r}; leave it out of by=")
    reader.by[Row.MODEL] = models.dtype
    reader.by_exprs.append(models.value.alias(Row.MODEL))
    return models.name


class DroppedRows(NamedTuple):
    """How many rows of a table are left out because a value is missing, and how many it has."""

    n: int
    total: int
    what: str = "rows"


def count_dropped_rows(
    frame: pl.DataFrame | pl.LazyFrame,
    columns: InputColumns,
    *,
    unlabelled: bool = False,
    weighing: bool = False,
) -> DroppedRows:
    """Return how many rows missing="drop" leaves out of a table.

    With `id` models are compared, and an example is left out as a whole. What makes weights (`weighing`)
    needs no scores.
    """
    columns = replace(columns, missing="drop", below=None)
    table: InputTable
    if unlabelled:
        table = read_unlabelled(frame, columns, may_collect=True)
    elif weighing:
        table, _ = read_parts(frame, columns, may_collect=True)
    else:
        model = None if columns.id is None else columns.model
        columns = replace(columns, model=model, parts=None, is_matched=False)
        table = read_input(frame, columns, may_collect=True)
    if table.row_counts is None:
        return DroppedRows(0, 0)
    total, n_kept = table.collect(table.row_counts, "the number of rows left out").row(0)
    return DroppedRows(total - n_kept, total)


def _scores_repeat(table: ScoreTable, frame: pl.DataFrame | pl.LazyFrame) -> bool:
    """Return whether rows of equal score may be added up, and are ten on average."""
    # Rows of clusters, and of examples under several models, have to stay apart.
    is_alone = table.sample.column is None and Row.EXAMPLE not in table.columns
    if Row.LABEL not in table.columns or not is_alone:
        return False
    few = table.score_dtype in (pl.Boolean, pl.Int8, pl.UInt8)  # 256 values at most
    if few or isinstance(frame, pl.LazyFrame) or frame.height < 200_000:
        return few
    size = 8_192
    sample = frame.sample(size, with_replacement=True, seed=0)
    distinct = sample.select(*table.by_exprs, table.columns[Row.SCORE].alias(Row.SCORE)).n_unique()
    # If each score occurs 10 times, two drawn rows have equal scores with chance 10 / height. So of the
    # size**2 / 2 pairs in the sample 5 * size**2 / height are equal, about the number of repeats.
    return (size - distinct) * frame.height > 5 * size**2


def read_parts(
    frame: pl.DataFrame | pl.LazyFrame, columns: InputColumns, *, may_collect: bool = False
) -> tuple[InputTable, list[str]]:
    """Return a table whose groups are the parts of each `by` group, and the names of their columns.

    Weights of parts need no scores: of those that are named, no value may be missing.
    """
    reader = ColumnReader(frame, columns.missing, may_collect=may_collect)
    reader.read_by(columns.by)
    part_names = _read_parts(reader, columns.parts)
    for column in list_columns("score=", columns.score):
        _read_score(reader, column)
    amounts = _read_labels(reader, columns)
    values = {name: amount for name, (amount, _) in amounts.items()}
    return InputTable(**reader.input_fields(values)), part_names


def _read_parts(reader: ColumnReader, parts: Columns) -> list[str]:
    """Add the columns that tell parts apart to the group columns, and return their names."""
    part_dtypes = reader.read_by(parts, "parts")
    if len(reader.by_exprs) != len(reader.by):
        raise PrcError("by= and parts= take one column each; write one expression for each column")
    return list(part_dtypes)


def read_part_labelled(
    frame: pl.DataFrame | pl.LazyFrame, columns: InputColumns
) -> tuple[ScoreTable, ScoreTable | None]:
    """Return all rows of a table, as without labels, and those with a label that is not null, if any."""
    table = read_unlabelled(frame, columns, may_collect=True)
    if columns.label is None:
        return table, None
    reader = ColumnReader(frame, columns.missing, may_collect=True)
    labels = reader.read_column("label", columns.label)
    if labels.dtype == pl.Null:
        return table, None
    labelled = read_input(frame.filter(labels.value.is_not_null()), columns, may_collect=True)
    assert isinstance(labelled, ScoreTable)
    return table, labelled


def read_reference(
    reference: pl.DataFrame | pl.LazyFrame, columns: InputColumns, table: ScoreTable
) -> ScoreTable:
    """Return a table with labels that stands beside one without; its groups may tell fewer apart."""
    if not isinstance(reference, pl.DataFrame | pl.LazyFrame):
        raise refuse_kind("reference=", "a DataFrame or a LazyFrame with labels", reference)
    columns = replace(columns, by=list_known_columns(columns.by, reference))
    try:
        labelled = read_input(reference, columns, may_collect=True)
    except PrcError as error:
        raise PrcError(f"in the reference= table, {error}") from None
    assert isinstance(labelled, ScoreTable)
    if labelled.float_sums:
        raise PrcError(
            "counts= of the reference holds floats, and takes numbers of examples; cast them to "
            "integers if that is what they are"
        )
    for name, dtype in labelled.by.items():
        if table.by.get(name) != dtype:
            raise PrcError(
                f"group column {name!r} is {dtype} in the reference= table and {table.by.get(name)} in "
                "the other; cast one to the other"
            )
    return labelled


def _read_strata(reader: ColumnReader, stratum: Column, weight: Column) -> dict[str, pl.Expr]:
    """Return Row.STRATUM and STRATUM_WEIGHT, with checks that the rows of a stratum have one weight."""
    key, amount = reader.read_values("stratum", stratum).value, reader.read_column("weight", weight)
    number = amount.value.cast(pl.Float64)
    # A window, which no sum per group may hold: so it is a column of the table.
    most = pl.when(number.is_finite()).then(number).max().over(*reader.by_exprs, key)
    reader.frame = reader.frame.with_columns(most.alias(Row.STRATUM_WEIGHT))
    stands_for = pl.col(Row.STRATUM_WEIGHT)
    reader.check(value_checks.stratum_weight_checks, amount.what, number)
    reader.check(value_checks.equal_weight_checks, amount.what, number, stands_for)
    return {Row.STRATUM: key, Row.STRATUM_WEIGHT: stands_for}


def _read_score(
    reader: ColumnReader, column: Column, wide: Sequence[str] = (), *, posteriors: bool = False
) -> ReadColumn:
    """Return the scores; of models that were columns of a `wide` table, with checks of each column."""
    score = reader.read_column("score", column)
    value_checks.SCORE_DTYPES.require(score.what, score.dtype)
    reader.handle_missing(score, wide, may_be_null=reader.lets_null_scores)
    reader.tallies.n_score_tests = len(reader.tallies.tests)
    if posteriors:
        reader.check(value_checks.posterior_checks, score.what, score.value.cast(pl.Float64))
    return score


def _read_numbers_of_rows(reader: ColumnReader, counts: Any) -> dict[str, TypedExpr]:
    """Return Row.LABEL, false in each row without a label; of counts Row.POS, which is 0, and NEG."""
    if counts is None:
        return {Row.LABEL: (pl.lit(False), pl.Boolean())}
    amount, dtype = _read_amount(reader, "counts", counts)
    if dtype == pl.Float64:
        raise PrcError(
            "counts= holds floats, and takes numbers of rows; cast them to integers if that is what "
            "they are"
        )
    _check_sum(reader, amount)
    return {Row.POS: (pl.lit(0, dtype=dtype), dtype), Row.NEG: (amount, dtype)}


def _read_counts(reader: ColumnReader, columns: InputColumns) -> dict[str, TypedExpr]:
    """Return Row.POS and Row.NEG, the counts of a row, and their squares if known."""
    # Words of a call are rivals already; a table of counts as reference= has the others' pos_label.
    if columns.pos_label is not None:
        raise PrcError("counts= stands in place of labels and weights; leave out pos_label=")
    has_squares, what = gives_squares(None, columns.counts), "columns, of positives and of negatives"
    others = "and of their squared weights" if has_squares else "or four with sums of squared weights"
    listed = list_parts("counts", columns.counts, 4 if has_squares else 2, f"{what}, {others}")
    amounts = {
        name: _read_amount(reader, "counts", column)
        for name, column in zip(
            (Row.POS, Row.NEG, Row.POS_SQUARES, Row.NEG_SQUARES), listed, strict=False
        )
    }
    values = [value for value, _ in amounts.values()]
    for total, squares, column in zip(values, values[2:], listed[2:], strict=False):
        what = f"counts column {column!r}" if isinstance(column, str) else "counts="
        sums = total.cast(pl.Float64), squares.cast(pl.Float64)
        reader.check(value_checks.square_checks, what, *sums)
    for value, dtype in amounts.values():
        if dtype.is_integer():
            _check_sum(reader, value)
    return amounts


def _read_labels(reader: ColumnReader, columns: InputColumns) -> dict[str, TypedExpr]:
    """Return Row.LABEL; with weights return Row.POS and Row.NEG, of which one is 0 in each row."""
    labels, pos_label = reader.read_column("label", columns.label), columns.pos_label
    value, dtype, _, what = labels
    value_checks.label_dtypes(pos_label).require(what, dtype)
    reader.handle_missing(labels)
    if pos_label is not None:
        if isinstance(dtype, pl.Enum) and pos_label not in (categories := dtype.categories.to_list()):
            hint = suggest_names(str(pos_label), categories)
            raise PrcError(f"{what} has no category {pos_label!r}; {hint}")
        positive = value_checks.equals_label(value, pos_label)
        reader.check(value_checks.pos_label_checks, what, positive, pos_label)
    elif dtype == pl.Boolean:
        positive = value
    else:
        positive = value == 1
        reader.check(value_checks.label_checks, what, value)
    if columns.weight is None:
        return {Row.LABEL: (positive, pl.Boolean())}
    amount, amount_dtype = _read_amount(reader, "weight", columns.weight)
    zero = pl.lit(0, dtype=amount_dtype)
    return {
        Row.POS: (pl.when(positive).then(amount).otherwise(zero), amount_dtype),
        Row.NEG: (pl.when(positive).then(zero).otherwise(amount), amount_dtype),
    }


def gives_squares(weight: object, counts: Any) -> bool:
    """Return whether sums of squared weights are known of a table: of weights, or of such counts."""
    return weight is not None or (isinstance(counts, list | tuple) and len(counts) == 4)


def _check_sum(reader: ColumnReader, count: pl.Expr) -> None:
    """Add a check that integer counts of a group add up to no more than an Int64."""
    # The multiples of 2**32 and the rest: sums of both fit into an Int64.
    parts = (count // 2**32, count % 2**32)
    high, low = (reader.tallies.count(part, per_group=True) for part in parts)
    total = high.cast(pl.Int128) * 2**32 + low
    text = "counts= add up to more than 2**63 - 1 in a group; cast them to Float64"
    reader.tallies.checks.append(Check(total.max() >= 2**63, (text,)))


def _read_amount(reader: ColumnReader, argument: str, column: Column) -> TypedExpr:
    """Return a weight or a count, as an Int128 if it is an integer, and as a Float64 otherwise."""
    value, dtype, _, what = reader.read_values(argument, column, value_checks.AMOUNT_DTYPES)
    reader.check(value_checks.amount_checks, what, value)
    # Sums in the user's dtype could overflow.
    wide: pl.DataType = pl.Int128() if dtype.is_integer() else pl.Float64()
    return value.cast(wide), wide


# Published points: rates, with or without sizes, and cumulative counts --------------------------

# A row is a point of a ROC curve: what is flagged at one threshold. Rates say which share of each class
# it is. The four cells say how many, and tools that count report one row of them per threshold.


def _read_points(
    reader: ColumnReader, columns: InputColumns
) -> tuple[dict[str, pl.Expr], dict[str, Any]]:
    """Return the columns of points, of `cells=` or `rates=`, and the other fields of a `RateTable`."""
    if columns.cells is not None:
        return _read_cells(reader, columns.cells, columns.score)
    if columns.rates is None:
        raise PrcError("sizes= are the numbers of examples behind rates=; pass rates=, too")
    points = {}
    pair = list_parts("rates", columns.rates, 2, "columns, of recall and of fpr")
    for name, column in zip(("recall", "fpr"), pair, strict=True):
        rate = reader.read_values("rates", column, value_checks.RATE_DTYPES)
        reader.check(value_checks.rate_checks, rate.what, rate.value)
        points[name] = rate.value.cast(pl.Float64)
    if columns.sizes is None:
        return points, {}
    listed = list_parts(
        "sizes", columns.sizes, 2, "columns or whole numbers, of positives and of negatives"
    )
    n_pos, n_neg = (_read_count(reader, "sizes", size, may_be_null=True) for size in listed)
    points |= {"tp": points["recall"] * n_pos, "fp": points["fpr"] * n_neg}  # which are not rounded
    points |= {"fn": n_pos - points["tp"], "tn": n_neg - points["fp"]}
    return points, {"count_dtype": pl.Float64()}


def list_parts(argument: str, value: Any, number: int, what: str) -> list[Any]:
    """Return the columns that an argument lists; raise if there are not as many as it takes."""
    expected = f"{('two', 'four')[number == 4]} {what}"
    parts = read_list(f"{argument}=", value, expected)
    if len(parts) != number:
        raise refuse_kind(f"{argument}=", expected, value)
    return parts


def _read_cells(
    reader: ColumnReader, cells: Cells, score: Column
) -> tuple[dict[str, pl.Expr], dict[str, Any]]:
    """Return the columns recall, fpr, tp, fp, fn, tn, and SCORE if there is a score; and the fields."""
    listed = list_parts("cells", cells, 4, "columns, of tp, fp, fn and tn")
    counts = {
        name: _read_count(reader, "cells", column).cast(pl.Int64, wrap_numerical=True)
        for name, column in zip(("tp", "fp", "fn", "tn"), listed, strict=True)
    }
    points = {
        # A class without examples makes 0/0, and its rate is null.
        "recall": (counts["tp"] / (counts["tp"] + counts["fn"])).fill_nan(None),
        "fpr": (counts["fp"] / (counts["fp"] + counts["tn"])).fill_nan(None),
        **counts,
    }
    fields = {"has_cells": True, "count_dtype": pl.Int64()}
    if isinstance(score, str) and score == "score" and score not in reader.schema:
        return points, fields  # the default, of a table that has no thresholds
    thresholds = reader.read_column("score", score)
    value_checks.SCORE_DTYPES.require(thresholds.what, thresholds.dtype)
    return points | {Row.SCORE: thresholds.value}, fields | {"score_dtype": thresholds.dtype}


def _read_count(
    reader: ColumnReader, argument: str, column: Any, *, may_be_null: bool = False
) -> pl.Expr:
    """Return a column of whole numbers; it `may_be_null`, as a Float64, where a number is not known."""
    if may_be_null and not isinstance(column, str | pl.Expr):  # one number for all rows
        return pl.lit(float(read_whole_number(f"{argument}=", column, 0)))
    counts = reader.read_column(argument, column)
    value = counts.value
    if may_be_null:
        value = value.cast(pl.Float64)
        if counts.dtype == pl.Null:
            return value
        value = value.fill_nan(None)
    if not counts.dtype.is_numeric():
        raise PrcError(f"{counts.what} is {counts.dtype}; expected whole numbers >= 0")
    if not may_be_null:
        reader.handle_missing(counts)
    reader.check(value_checks.amount_checks, counts.what, value)
    reader.check(value_checks.whole_checks, counts.what, value.cast(pl.Float64))
    return value
