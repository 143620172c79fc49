"""A user's table, read into a `ScoreTable`, with labels or without, or into a `RateTable`.

Every column is resolved and typed here. What names and dtypes show raises at once. What only values show
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
from polars_prcurve.core.ground.message_text import join_words
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
from polars_prcurve.core.inputs.never_scored import add_never_scored
from polars_prcurve.core.inputs.resolved_tables import RateTable, ResolvedTable, ScoreTable
from polars_prcurve.core.inputs.row_column_names import Row


def read_input(
    input_rows: pl.DataFrame | pl.LazyFrame,
    columns: InputColumns,
    *,
    may_collect: bool,
    user_table: pl.DataFrame | pl.LazyFrame | None = None,
    wide_scores: Sequence[str] = (),
    posteriors: bool = False,
) -> ScoreTable | RateTable:
    """Return the table with every column resolved and typed.

    `user_table` is given if `input_rows` are another table with the same groups. Examples with an
    `id` are left out as a whole if a value is missing in one of their rows, unless rows are matched.
    Scores that are `posteriors` lie in [0, 1]. `wide_scores` are the columns that they came from.
    """
    reader = ColumnReader(
        input_rows,
        columns.missing,
        may_collect=may_collect,
        user_table=user_table,
        wide_scores=wide_scores,
    )
    model_name, part_names = _read_groups(reader, columns)
    if columns.points is not None or columns.sizes is not None:
        point_exprs, table_fields = _read_points(reader, columns)
        return RateTable(**reader.input_fields(point_exprs), **table_fields, model_name=model_name)
    model_dtype = reader.by.get(Row.MODEL) if columns.is_matched else None
    wide_models = model_dtype.categories.to_list() if isinstance(model_dtype, pl.Enum) else []
    score_column = _read_score(reader, columns.score, wide_models, posteriors=posteriors)
    is_counted = columns.counts is not None
    typed_amounts = _read_counts(reader, columns) if is_counted else _read_labels(reader, columns)
    id_exprs = _read_ids(reader, columns)
    table = _build_score_table(
        reader, score_column, typed_amounts, id_exprs, weighted=columns.weight is not None
    )
    table = replace(table, model_name=model_name, within=tuple(part_names))
    if columns.below is not None or reader.lets_null_scores:
        table = add_never_scored(table, columns.below, in_rows=reader.lets_null_scores)
    return table.aggregate_scores() if _scores_repeat(table, input_rows) else table


def read_unlabelled(
    input_rows: pl.DataFrame | pl.LazyFrame,
    columns: InputColumns,
    *,
    may_collect: bool,
    posteriors: bool = False,
) -> ScoreTable:
    """Return a table without labels, all of whose rows stand as negatives; posteriors become Float64."""
    reader = ColumnReader(input_rows, columns.missing, may_collect=may_collect)
    reader.read_by(columns.by)
    score_column = _read_score(reader, columns.score)
    if posteriors:
        posterior = score_column.value.cast(pl.Float64)
        reader.check(value_checks.unlabelled_checks, score_column.what, posterior)
        score_column = score_column._replace(value=posterior, dtype=pl.Float64())
    typed_amounts = _read_numbers_of_rows(reader, columns.counts)
    return _build_score_table(reader, score_column, typed_amounts, {}, weighted=False)


def _read_groups(reader: ColumnReader, columns: InputColumns) -> tuple[str, list[str]]:
    """Add the group columns, and return the names of that of models, or "", and of those of parts."""
    reader.read_by(columns.by)
    model_name = "" if columns.model is None else _read_model(reader, columns.model)
    return model_name, [] if columns.parts is None else _read_parts(reader, columns.parts)


def _read_ids(reader: ColumnReader, columns: InputColumns) -> dict[str, pl.Expr]:
    """Return Row.CLUSTER, Row.STRATUM and its weight, and Row.EXAMPLE, as far as a table has them."""
    id_exprs = {}
    if columns.cluster is not None:
        id_exprs[Row.CLUSTER] = reader.read_values("cluster", columns.cluster).value
    if columns.stratum is not None and columns.weight is not None:
        id_exprs |= _read_strata(reader, columns.stratum, columns.weight)
    example_key_exprs = [
        reader.read_values("id", column).value for column in list_columns("id=", columns.id)
    ]
    if not example_key_exprs:
        return id_exprs
    # Their own names may be equal.
    named_key_exprs = [key.alias(str(number)) for number, key in enumerate(example_key_exprs)]
    is_single = len(named_key_exprs) == 1
    id_exprs[Row.EXAMPLE] = example_key_exprs[0] if is_single else pl.struct(named_key_exprs)
    if not columns.is_matched:
        n_groups = len(reader.by_exprs) - (columns.model is not None)
        reader.example_keys = [*reader.by_exprs[:n_groups], *example_key_exprs]
    return id_exprs


def _build_score_table(
    reader: ColumnReader,
    score_column: ReadColumn,
    typed_amounts: Mapping[str, TypedExpr],
    id_columns: Mapping[str, pl.Expr],
    *,
    weighted: bool,
) -> ScoreTable:
    """Return the table of a score, of what a row adds to both classes, and of what it belongs to."""
    has_float_dtype = any(dtype == pl.Float64 for _, dtype in typed_amounts.values())
    has_floats = has_float_dtype or Row.POS_SQUARES in typed_amounts
    amount_exprs = {
        name: amount.cast(pl.Float64) if has_floats else amount
        for name, (amount, _) in typed_amounts.items()
    }
    return ScoreTable(
        **reader.input_fields({Row.SCORE: score_column.value, **amount_exprs, **id_columns}),
        score_dtype=score_column.dtype,
        float_sums=has_floats,
        count_dtype=pl.Float64() if has_floats or weighted else pl.Int64(),
        weighted=weighted,
    )


def _read_model(reader: ColumnReader, model: Any) -> str:
    """Add the column of models to the group columns, and return its name."""
    model_column = reader.read_column("model", model)
    if model_column.name in reader.by:
        raise PrcError(f"leave the column {model_column.name!r} out of by=: model= holds it, too")
    reader.by[Row.MODEL] = model_column.dtype
    reader.by_exprs.append(model_column.value.alias(Row.MODEL))
    return model_column.name


class DroppedRows(NamedTuple):
    """How many rows of a table are left out because a value is missing, and how many it has."""

    n: int
    total: int
    n_pos: int | None = None  # how many of them are positive; None if that is not known
    what: str = "rows"
    may_rank_last: bool = False
    """Whether missing="below" takes all that is missing: scores that are null."""

    def divide(self, n_models: int) -> DroppedRows:
        """Return the rows of a wide table, each of which has been left out for so many models."""
        n_pos = None if self.n_pos is None else self.n_pos // n_models
        return self._replace(n=self.n // n_models, total=self.total // n_models, n_pos=n_pos)


def count_dropped_rows(
    user_table: pl.DataFrame | pl.LazyFrame,
    columns: InputColumns,
    *,
    has_no_labels: bool = False,
    is_weighing: bool = False,
) -> DroppedRows:
    """Return how many rows missing="drop" leaves out of a table.

    With `id` models are compared, and an example is left out as a whole. What makes weights
    (`is_weighing`) needs no scores.
    """
    columns = columns._replace(missing="drop", below=None)
    table: ResolvedTable
    if has_no_labels:
        table = read_unlabelled(user_table, columns, may_collect=True)
    elif is_weighing:
        table, _ = read_parts(user_table, columns, may_collect=True)
    else:
        model = None if columns.id is None else columns.model
        columns = columns._replace(model=model, parts=None, is_matched=False)
        table = read_input(user_table, columns, may_collect=True)
    if table.row_counts is None:
        return DroppedRows(0, 0)
    counts = table.collect(table.row_counts, "the number of rows left out").row(0, named=True)
    has_labels = Row.LABEL in table.columns
    n_pos = counts["all_positive"] - counts["kept_positive"] if has_labels else None
    may_rank_last = counts["without_score"] > 0 and not counts["refused"]
    return DroppedRows(counts["all"] - counts["kept"], counts["all"], n_pos, may_rank_last=may_rank_last)


def _scores_repeat(table: ScoreTable, input_rows: pl.DataFrame | pl.LazyFrame) -> bool:
    """Return whether rows of equal score may be added up, and are ten on average."""
    # Rows of clusters, and of examples under several models, have to stay apart.
    is_alone = table.sample.column is None and Row.EXAMPLE not in table.columns
    if Row.LABEL not in table.columns or not is_alone:
        return False
    has_few_values = table.score_dtype in (pl.Boolean, pl.Int8, pl.UInt8)  # 256 values at most
    if has_few_values or isinstance(input_rows, pl.LazyFrame) or input_rows.height < 200_000:
        return has_few_values
    n_sampled = 8_192
    sampled_rows = input_rows.sample(n_sampled, with_replacement=True, seed=0)
    keys = (*table.by_exprs, table.columns[Row.SCORE].alias(Row.SCORE))
    n_distinct = sampled_rows.select(keys).n_unique()
    # If each score occurs 10 times, two drawn rows have equal scores with chance 10 / height. So of the
    # size**2 / 2 pairs in the sample 5 * size**2 / height are equal, about the number of repeats.
    return (n_sampled - n_distinct) * input_rows.height > 5 * n_sampled**2


def read_parts(
    user_table: pl.DataFrame | pl.LazyFrame, columns: InputColumns, *, may_collect: bool = False
) -> tuple[ResolvedTable, list[str]]:
    """Return a table whose groups are the parts of each `by` group, and the names of their columns.

    Weights of parts need no scores: of those that are named, no value may be missing.
    """
    reader = ColumnReader(user_table, columns.missing, may_collect=may_collect)
    reader.read_by(columns.by)
    part_names = _read_parts(reader, columns.parts)
    for column in list_columns("score=", columns.score):
        _read_score(reader, column)
    typed_amounts = _read_labels(reader, columns)
    amount_exprs = {name: amount for name, (amount, _) in typed_amounts.items()}
    return ResolvedTable(**reader.input_fields(amount_exprs)), part_names


def _read_parts(reader: ColumnReader, parts: Columns) -> list[str]:
    """Add the columns that distinguish parts to the group columns, and return their names."""
    dtype_of_part = reader.read_by(parts, "parts")
    if len(reader.by_exprs) != len(reader.by):
        raise PrcError("write one expression for each column: by= and parts= take one each")
    return list(dtype_of_part)


def read_part_labelled(
    user_table: pl.DataFrame | pl.LazyFrame, columns: InputColumns
) -> tuple[ScoreTable, ScoreTable | None]:
    """Return all rows of a table, as without labels, and those with a label that is not null, if any."""
    table = read_unlabelled(user_table, columns, may_collect=True)
    if columns.label is None:
        return table, None
    reader = ColumnReader(user_table, columns.missing, may_collect=True)
    label_column = reader.read_column("label", columns.label)
    if label_column.dtype == pl.Null:
        return table, None
    labelled_table = read_input(
        user_table.filter(label_column.value.is_not_null()), columns, may_collect=True
    )
    assert isinstance(labelled_table, ScoreTable)
    return table, labelled_table


def read_reference(
    reference: pl.DataFrame | pl.LazyFrame, columns: InputColumns, table: ScoreTable
) -> ScoreTable:
    """Return a table with labels that stands beside one without; its groups may distinguish fewer."""
    if not isinstance(reference, pl.DataFrame | pl.LazyFrame):
        raise refuse_kind("reference=", "a DataFrame or a LazyFrame with labels", reference)
    columns = columns._replace(by=list_known_columns(columns.by, reference))
    try:
        labelled_table = read_input(reference, columns, may_collect=True)
    except PrcError as error:
        raise PrcError(f"in the reference= table, {error}") from None
    assert isinstance(labelled_table, ScoreTable)
    if labelled_table.float_sums:
        raise PrcError(
            "cast counts= of the reference to integers if they are numbers of examples; got floats"
        )
    for name, dtype in labelled_table.by.items():
        if table.by.get(name) != dtype:
            raise PrcError(
                f"cast the group column {name!r} to one dtype: it is {dtype} in the reference= "
                f"table and {table.by.get(name)} in the other"
            )
    return labelled_table


def _read_strata(reader: ColumnReader, stratum: Column, weight: Column) -> dict[str, pl.Expr]:
    """Return Row.STRATUM and STRATUM_WEIGHT, with checks that the rows of a stratum have one weight."""
    stratum_key = reader.read_values("stratum", stratum).value
    weight_column = reader.read_column("weight", weight)
    row_weight = weight_column.value.cast(pl.Float64)
    # A window, which no sum per group may hold: so it is a column of the table.
    greatest_weight = pl.when(row_weight.is_finite()).then(row_weight).max()
    greatest_weight = greatest_weight.over(*reader.by_exprs, stratum_key)
    reader.input_rows = reader.input_rows.with_columns(greatest_weight.alias(Row.STRATUM_WEIGHT))
    stratum_weight = pl.col(Row.STRATUM_WEIGHT)
    reader.check(value_checks.stratum_weight_checks, weight_column.what, row_weight)
    reader.check(value_checks.equal_weight_checks, weight_column.what, row_weight, stratum_weight)
    return {Row.STRATUM: stratum_key, Row.STRATUM_WEIGHT: stratum_weight}


def _read_score(
    reader: ColumnReader, column: Column, wide_models: Sequence[str] = (), *, posteriors: bool = False
) -> ReadColumn:
    """Return the scores; of models that were columns of a wide table, with checks of each column."""
    score_column = reader.read_column("score", column)
    value_checks.SCORE_DTYPES.require(score_column.what, score_column.dtype)
    if not reader.lets_null_scores:
        reader.handle_missing(score_column, wide_models, is_score=True)
    elif score_column.dtype.is_float():  # NaN is no score either
        score_column = score_column._replace(value=score_column.value.fill_nan(None))
    reader.tallies.n_score_tests = len(reader.tallies.tests)
    if posteriors:
        posterior = score_column.value.cast(pl.Float64)
        reader.check_scores(value_checks.posterior_checks, score_column, posterior)
    return score_column


def _read_numbers_of_rows(reader: ColumnReader, counts: Any) -> dict[str, TypedExpr]:
    """Return Row.LABEL, false in each row without a label; of counts Row.POS, which is 0, and NEG."""
    if counts is None:
        return {Row.LABEL: (pl.lit(False), pl.Boolean())}
    amount, dtype = _read_amount(reader, "counts", counts, "counts")
    if dtype == pl.Float64:
        raise PrcError("cast counts= to integers if they are numbers of rows; got floats")
    _check_sum(reader, amount)
    return {Row.POS: (pl.lit(0, dtype=dtype), dtype), Row.NEG: (amount, dtype)}


def _read_counts(reader: ColumnReader, columns: InputColumns) -> dict[str, TypedExpr]:
    """Return Row.POS and Row.NEG, the counts of a row, and their squares if known."""
    # Words of a call are rivals already; a table of counts as reference= has the others' pos_label.
    if columns.pos_label is not None:
        raise PrcError("leave out pos_label=: counts= replaces labels and weights")
    has_squares = gives_squares(columns.counts)
    others_text = "or four with sums of squared weights"
    if has_squares:
        others_text = "and of their squared weights"
    columns_text = f"columns, of positives and of negatives, {others_text}"
    listed_columns = list_parts("counts", columns.counts, 4 if has_squares else 2, columns_text)
    kind_of_amount = {Row.POS: "counts", Row.NEG: "counts"}
    kind_of_amount |= {Row.POS_SQUARES: "squares", Row.NEG_SQUARES: "squares"}
    typed_amounts = {
        name: _read_amount(reader, "counts", column, kind)
        for column, (name, kind) in zip(listed_columns, kind_of_amount.items(), strict=False)
    }
    amount_exprs = [value for value, _ in typed_amounts.values()]
    for total, squares, column in zip(amount_exprs, amount_exprs[2:], listed_columns[2:], strict=False):
        subject = f"counts column {column!r}" if isinstance(column, str) else "counts="
        float_exprs = total.cast(pl.Float64), squares.cast(pl.Float64)
        reader.check(value_checks.square_checks, subject, *float_exprs)
    for value, dtype in typed_amounts.values():
        if dtype.is_integer():
            _check_sum(reader, value)
    return typed_amounts


def _read_labels(reader: ColumnReader, columns: InputColumns) -> dict[str, TypedExpr]:
    """Return Row.LABEL; with weights return Row.POS and Row.NEG, of which one is 0 in each row."""
    label_column, pos_label = reader.read_column("label", columns.label), columns.pos_label
    label_value, dtype, _, subject = label_column
    value_checks.label_dtypes(pos_label).require(subject, dtype)
    reader.handle_missing(label_column)
    if pos_label is not None:
        is_positive = value_checks.equals_label(label_value, pos_label)
        if not isinstance(dtype, pl.Enum):
            reader.check(value_checks.pos_label_checks, subject, is_positive, pos_label)
        elif pos_label not in (categories := dtype.categories.to_list()):
            hint = suggest_names(str(pos_label), categories)
            raise PrcError(f"{subject} has no category {pos_label!r}; {hint}")
    elif dtype == pl.Boolean:
        is_positive = label_value
    else:
        is_positive = label_value == 1
        reader.check(value_checks.label_checks, subject, label_value)
    if columns.weight is None:
        return {Row.LABEL: (is_positive, pl.Boolean())}
    amount, amount_dtype = _read_amount(reader, "weight", columns.weight, "weights")
    zero = pl.lit(0, dtype=amount_dtype)
    return {
        Row.POS: (pl.when(is_positive).then(amount).otherwise(zero), amount_dtype),
        Row.NEG: (pl.when(is_positive).then(zero).otherwise(amount), amount_dtype),
    }


def gives_squares(counts: Any) -> bool:
    """Return whether counts hold sums of squared weights, too."""
    return isinstance(counts, list | tuple) and len(counts) == 4


def _check_sum(reader: ColumnReader, count: pl.Expr) -> None:
    """Add a check that integer counts of a group add up to no more than an Int64."""
    # The multiples of 2**32 and the rest: sums of both fit into an Int64.
    count_part_exprs = (count // 2**32, count % 2**32)
    high_sum, low_sum = (reader.tallies.count(part, per_group=True) for part in count_part_exprs)
    total_sum = high_sum.cast(pl.Int128) * 2**32 + low_sum
    message = "counts= add up to more than 2**63 - 1 in a group; cast them to Float64"
    reader.tallies.checks.append(Check(total_sum.max() >= 2**63, (message,)))


def _read_amount(reader: ColumnReader, argument: str, column: Column, kind: str) -> TypedExpr:
    """Return a weight or a count, as an Int128 if it is an integer, and as a Float64 otherwise."""
    value, dtype, _, subject = reader.read_values(argument, column, value_checks.AMOUNT_DTYPES)
    amount_checks = value_checks.amount_checks_of_kind[kind, dtype.is_integer()]
    reader.check(amount_checks, subject, value)
    # Sums in the user's dtype could overflow. What no Int128 holds is refused by the check.
    wide_dtype: pl.DataType = pl.Int128() if dtype.is_integer() else pl.Float64()
    return value.cast(wide_dtype, wrap_numerical=True), wide_dtype


# Published points: rates, with or without sizes, and cumulative counts --------------------------

# A row is a point of a ROC curve: what is flagged at one threshold. Rates are the share of each class
# that it is. The four cells are how many, and tools that count report one row of them per threshold.

_SPECIFICITY_NAMES = ("specificity", "spec", "tnr")
"""Names of columns that hold 1 - fpr, and are taken for fpr."""


def _read_points(
    reader: ColumnReader, columns: InputColumns
) -> tuple[dict[str, pl.Expr], dict[str, Any]]:
    """Return the columns of points, of `cells=` or `rates=`, and the other fields of a `RateTable`."""
    if columns.cells is not None:
        return _read_cells(reader, columns.cells, columns.score)
    if columns.rates is None:
        raise PrcError("pass rates= as well: sizes= are the numbers of examples behind them")
    point_exprs = {}
    rate_columns = list_parts("rates", columns.rates, 2, "columns, of recall and of fpr")
    _check_order("rates", ("recall", "fpr"), rate_columns)
    fpr_column = rate_columns[1]
    if isinstance(fpr_column, str) and fpr_column.lower() in _SPECIFICITY_NAMES:
        raise PrcError(f"pass 1 - pl.col({fpr_column!r}) as the fpr of rates=: specificity is 1 - fpr")
    for name, column in zip(("recall", "fpr"), rate_columns, strict=True):
        rate = reader.read_values("rates", column, value_checks.RATE_DTYPES)
        reader.check(value_checks.rate_checks, rate.what, rate.value)
        point_exprs[name] = rate.value.cast(pl.Float64)
    if columns.sizes is None:
        return point_exprs, {}
    expected_phrase = "columns or whole numbers, of positives and of negatives"
    size_columns = list_parts("sizes", columns.sizes, 2, expected_phrase)
    n_pos, n_neg = (_read_count(reader, "sizes", size, may_be_null=True) for size in size_columns)
    # These are not rounded.
    point_exprs |= {"tp": point_exprs["recall"] * n_pos, "fp": point_exprs["fpr"] * n_neg}
    point_exprs |= {"fn": n_pos - point_exprs["tp"], "tn": n_neg - point_exprs["fp"]}
    return point_exprs, {"count_dtype": pl.Float64()}


def list_parts(argument: str, value: Any, n_parts: int, columns_text: str) -> list[Any]:
    """Return the columns that an argument lists; raise if there are not as many as it takes."""
    expected_phrase = f"{('two', 'four')[n_parts == 4]} {columns_text}"
    listed_columns = read_list(f"{argument}=", value, expected_phrase)
    if len(listed_columns) != n_parts:
        raise refuse_kind(f"{argument}=", expected_phrase, value)
    return listed_columns


def _check_order(argument: str, names: Sequence[str], columns: Sequence[Column]) -> None:
    """Raise for a column whose name is that of another one of those listed."""
    for name, column in zip(names, columns, strict=True):
        if isinstance(column, str) and column.lower() in names and column.lower() != name:
            raise PrcError(
                f"pass {join_words(names)} in this order to {argument}=; got {column!r} in the place of "
                f"{name}"
            )


def _read_cells(
    reader: ColumnReader, cells: Cells, score: Column
) -> tuple[dict[str, pl.Expr], dict[str, Any]]:
    """Return the columns recall, fpr, tp, fp, fn, tn, and SCORE if there is a score; and the fields."""
    cell_columns = list_parts("cells", cells, 4, "columns, of tp, fp, fn and tn")
    _check_order("cells", ("tp", "fp", "fn", "tn"), cell_columns)
    count_exprs = {
        name: _read_count(reader, "cells", column).cast(pl.Int64, wrap_numerical=True)
        for name, column in zip(("tp", "fp", "fn", "tn"), cell_columns, strict=True)
    }
    point_exprs = {
        # A class without examples makes 0/0, and its rate is null.
        "recall": (count_exprs["tp"] / (count_exprs["tp"] + count_exprs["fn"])).fill_nan(None),
        "fpr": (count_exprs["fp"] / (count_exprs["fp"] + count_exprs["tn"])).fill_nan(None),
        **count_exprs,
    }
    table_fields = {"has_cells": True, "count_dtype": pl.Int64()}
    if isinstance(score, str) and score == "score" and score not in reader.schema:
        return point_exprs, table_fields  # the default, of a table that has no thresholds
    threshold_column = reader.read_column("score", score)
    value_checks.SCORE_DTYPES.require(threshold_column.what, threshold_column.dtype)
    point_exprs[Row.SCORE] = threshold_column.value
    return point_exprs, {**table_fields, "score_dtype": threshold_column.dtype}


def _read_count(
    reader: ColumnReader, argument: str, column: Any, *, may_be_null: bool = False
) -> pl.Expr:
    """Return a column of whole numbers; it `may_be_null`, as a Float64, where a number is not known."""
    if may_be_null and not isinstance(column, str | pl.Expr):  # one number for all rows
        return pl.lit(float(read_whole_number(f"{argument}=", column, 0)))
    count_column = reader.read_column(argument, column)
    count = count_column.value
    if may_be_null:
        count = count.cast(pl.Float64)
        if count_column.dtype == pl.Null:
            return count
        count = count.fill_nan(None)
    if not count_column.dtype.is_numeric():
        raise PrcError(f"{count_column.what} is {count_column.dtype}; expected whole numbers >= 0")
    if not may_be_null:
        reader.handle_missing(count_column)
    reader.check(value_checks.amount_checks, count_column.what, count)
    reader.check(value_checks.whole_checks, count_column.what, count.cast(pl.Float64))
    return count
