"""Wide tables made long: a column of scores for each model, or for each class, becomes rows."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import polars as pl
from polars import selectors

from polars_prcurve.core.ground import argument_checks as arguments
from polars_prcurve.core.ground.argument_checks import select_column
from polars_prcurve.core.ground.column_checks import SCORE_DTYPES, is_missing
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import describe_value
from polars_prcurve.core.ground.name_hints import suggest_names
from polars_prcurve.core.ground.query_guards import Check, show_value, stop_if_broken
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.visible_names import shorten_name
from polars_prcurve.core.inputs.column_reader import Column
from polars_prcurve.core.inputs.row_column_names import Row

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)
_SCORE_COLUMNS_TEXT = "column names, as a list"  # what errors write for other values
_WEIGHT = f"{RESERVED}weight"  # the share of a class by the mix over that in the table
_N_ROWS = f"{RESERVED}rows"  # the number of rows of a class
_MOST_EXACT: Mapping[Any, int] = {pl.Float32: 2**24, pl.Float64: 2**53}
"""Up to which number a dtype holds every integer."""
_BITS_OF_NARROW_INTEGERS: Mapping[Any, int] = {
    pl.Int8: 8,
    pl.UInt8: 8,
    pl.Int16: 16,
    pl.UInt16: 16,
    pl.Int32: 32,
    pl.UInt32: 32,
}


def unpivot_scores(
    wide_rows: pl.LazyFrame, scores: Sequence[str], *, name: str, score: str, row: str | None
) -> pl.LazyFrame:
    """Return a row for each row and score column: `name`, its name, `score`, and the number `row`."""
    score_columns = arguments.read_list("scores=", scores, _SCORE_COLUMNS_TEXT, single_type=str)
    wide_rows = _cast_rule_scores(wide_rows, score_columns)
    _check_new_names(name=name, score=score, row=row)
    schema = wide_rows.collect_schema()
    shared_columns = _find_shared_columns(schema, "scores", score_columns, [name, score, row])
    name_values = pl.Series(name, score_columns, dtype=pl.String)
    return _stack_columns(
        wide_rows, score, score_columns, name_values, shared_columns=shared_columns, row_number_name=row
    )


class StackedTable(NamedTuple):
    """A long table that was made from a wide one, and the names of its columns."""

    long_rows: pl.LazyFrame
    score_name: str
    group_name: str  # the column that names the model, an Enum in the order given, or the class
    example_name: str = Row.EXAMPLE  # the column with the row number of the wide table
    label_name: str = ""  # of classes: the column with whether the row is of the class


def empty_incomplete(
    frame: FrameT, score_columns: Sequence[Any], example_keys: Sequence[Column] | None = None
) -> FrameT:
    """Return a table in which an example has no score at all if a model has none for it.

    `missing="drop"` then leaves it out for all models, or classes, whichever method reads the table.
    The scores of an example are in one row, or in the rows with equal `example_keys`.
    """
    schema = frame.collect_schema()
    if not all(isinstance(column, str) and column in schema for column in score_columns):
        return frame  # what is wrong with them is reported where they are read
    missing_test_exprs = [is_missing(select_column(column), schema[column]) for column in score_columns]
    is_incomplete = pl.any_horizontal(missing_test_exprs)
    if example_keys is not None:
        is_incomplete = is_incomplete.any().over(example_keys)
    return frame.with_columns(
        pl.when(~is_incomplete | is_missing_here).then(select_column(column)).alias(column)
        for column, is_missing_here in zip(score_columns, missing_test_exprs, strict=True)
    )


def stack_models(wide_rows: pl.LazyFrame, score_columns: Any) -> StackedTable:
    """Return a row per model and row."""
    score_columns = arguments.read_list("score=", score_columns, _SCORE_COLUMNS_TEXT, single_type=str)
    wide_rows = _cast_rule_scores(wide_rows, score_columns)
    schema = wide_rows.collect_schema()
    _check_known(schema, "score", score_columns)
    score_name = _name_scores(score_columns, schema)
    # One model keeps the name of its column.
    new_names = [Row.MODEL, None if score_name in schema else score_name, Row.EXAMPLE]
    shared_columns = _find_shared_columns(schema, "score", score_columns, new_names)
    # All rows of the first model, then all of the next: ten times as fast as in the order of rows.
    numbered_rows, model_dtype = _number_rows(wide_rows, Row.EXAMPLE), pl.Enum(score_columns)
    shared_exprs = [pl.col(Row.EXAMPLE), *map(select_column, shared_columns)]
    model_frames = (
        numbered_rows.select(
            *shared_exprs,
            pl.lit(model_name, dtype=model_dtype).alias(Row.MODEL),
            select_column(model_name).alias(score_name),
        )
        for model_name in score_columns
    )
    return StackedTable(pl.concat(model_frames), score_name, Row.MODEL)


def _cast_rule_scores(wide_rows: pl.LazyFrame, score_columns: Sequence[str]) -> pl.LazyFrame:
    """Return the table with integers and Booleans, such as a rule, in the dtype of all other scores.

    The query stops at an integer that would lose a digit.
    """
    schema = wide_rows.collect_schema()
    # What is no name of a column is refused later, in its turn.
    score_names = [name for name in score_columns if isinstance(name, str) and name in schema]
    dtype_by_score = {name: schema[name] for name in score_names}
    rule_columns = [
        name for name, dtype in dtype_by_score.items() if dtype.is_integer() or dtype == pl.Boolean
    ]
    other_dtypes = {dtype_by_score[name] for name in dtype_by_score if name not in rule_columns}
    float_dtype: Any = next(iter(other_dtypes), None)
    if not rule_columns or len(other_dtypes) != 1 or float_dtype not in _MOST_EXACT:
        return wide_rows
    most_exact = _MOST_EXACT[float_dtype]
    checks = []
    for name in rule_columns:
        rule_dtype = dtype_by_score[name]
        if rule_dtype == pl.Boolean or 2 ** _BITS_OF_NARROW_INTEGERS.get(rule_dtype, 128) <= most_exact:
            continue
        is_lost = ~select_column(name).is_between(-most_exact, most_exact)
        start_phrase = f"score column {name!r} is {rule_dtype} beside {float_dtype}, which has no "
        lost_value_expr = show_value(select_column(name).filter(is_lost).first())
        checks.append(
            Check(is_lost.any(), (start_phrase, lost_value_expr, "; cast the columns to one dtype"))
        )
    if checks:
        # A check ahead of a group_by can lock the streaming engine, so a row joins all others.
        checked_rows = stop_if_broken(wide_rows.select(map(select_column, rule_columns)), checks)
        checked_row = checked_rows.select(pl.len().alias(_N_ROWS))
        wide_rows = wide_rows.join(checked_row, how="cross", maintain_order="left").drop(_N_ROWS)
    return wide_rows.with_columns(select_column(name).cast(float_dtype) for name in rule_columns)


def stack_classes(wide_rows: pl.LazyFrame, label: Any, scores: Mapping[Any, str]) -> StackedTable:
    """Return a row for each class and row of a table with one score column per class."""
    schema = wide_rows.collect_schema()
    if not isinstance(label, str):
        raise arguments.refuse_kind(
            "label=", "the name of the column of classes, beside score= as a mapping", label
        )
    _check_known(schema, "label", [label])
    if nested_mappings := [value for value in scores.values() if isinstance(value, Mapping)]:
        raise PrcError(
            f"score= maps each class to one column; got {describe_value(nested_mappings[0])} "
            f"(for several models, call .prc.unpivot_scores({{...}}) for each, and stack them)"
        )
    score_columns = list(scores.values())
    score_name = _name_scores(score_columns, schema)
    label_name = _name_apart(f"{label} (one class)", schema)
    new_names = [None if score_name in schema else score_name, label_name]
    shared_columns = _find_shared_columns(schema, "score", score_columns, new_names)
    class_values = read_classes(label, schema[label], list(scores)).alias(Row.CLASS)
    wide_rows = _check_all_occur(wide_rows, label, class_values, "score")
    long_rows = _stack_columns(
        wide_rows,
        score_name,
        score_columns,
        class_values,
        shared_columns=shared_columns,
        row_number_name=Row.EXAMPLE,
    )
    long_rows = long_rows.with_columns((select_column(label) == pl.col(Row.CLASS)).alias(label_name))
    return StackedTable(long_rows, score_name, Row.CLASS, label_name=label_name)


def _name_scores(score_columns: Sequence[Any], column_names: Collection[str]) -> str:
    """Return what the scores of several columns are called, or of one column its name."""
    score_name = " or ".join(map(str, score_columns))
    return score_name if score_name in score_columns else _name_apart(score_name, column_names)


def _name_apart(name: str, column_names: Collection[str]) -> str:
    """Return a name, with as many underscores behind it that no column of a table is called like it."""
    while name in column_names:
        name += "_"
    return name


def one_vs_rest(
    wide_rows: pl.LazyFrame,
    *,
    label: str,
    scores: Mapping[Any, str],
    name: str,
    score: str,
    row: str | None,
    mix: Mapping[Any, float] | None,
) -> pl.LazyFrame:
    """Return a row for each row and class of a table, with a Boolean `label`: is the row of that class?

    The column `name` holds the class. With `mix`, the share of each class in the `field`, `weight`
    brings the classes of the table to these shares.
    """
    schema = wide_rows.collect_schema()
    _check_known(schema, "label", [label])
    _check_new_names(name=name, score=score, row=row)
    score_columns = list(scores.values())
    label_and_weight_names = None if label == "label" else "label", None if mix is None else "weight"
    new_names = [name, score, row, *label_and_weight_names]
    shared_columns = _find_shared_columns(schema, "scores", score_columns, new_names)
    class_values = read_classes(label, schema[label], list(scores)).alias(name)
    wide_rows = _check_all_occur(wide_rows, label, class_values, "scores")
    if mix is not None:
        wide_rows = _join_class_weights(wide_rows, label, schema[label], mix, class_values)
        shared_columns = [*shared_columns, _WEIGHT]
    long_rows = _stack_columns(
        wide_rows, score, score_columns, class_values, shared_columns=shared_columns, row_number_name=row
    )
    long_rows = long_rows.with_columns((select_column(label) == select_column(name)).alias("label"))
    if mix is None:
        return long_rows
    return long_rows.select(pl.exclude(_WEIGHT), pl.col(_WEIGHT).alias("weight"))


def _join_class_weights(
    wide_rows: pl.LazyFrame, label_name: str, dtype: pl.DataType, mix: object, class_values: pl.Series
) -> pl.LazyFrame:
    """Add _WEIGHT, the share of the class of a row by `mix` over that in the table."""
    shares_by_class = arguments.read_shares("mix=", mix)
    mix_classes = read_classes(label_name, dtype, list(shares_by_class))
    mix_class_list = mix_classes.to_list()
    if lacking_classes := [value for value in class_values.to_list() if value not in mix_class_list]:
        raise PrcError(
            f"add a share for {lacking_classes[0]!r} to mix=, which needs one for every class"
        )
    class_shares = pl.Series(_WEIGHT, [*shares_by_class.values()], dtype=pl.Float64)
    class_share_rows = pl.LazyFrame(
        [mix_classes.alias(label_name), class_shares / math.fsum(class_shares)]
    )
    n_rows, weight_expr = pl.col(_N_ROWS), pl.col(_WEIGHT)
    labelled_rows = wide_rows.filter(select_column(label_name).is_not_null())
    class_count_rows = labelled_rows.group_by(label_name).agg(pl.len().alias(_N_ROWS))
    is_class_lacking = n_rows.is_null() & (weight_expr > 0) & (n_rows.sum() > 0)
    checks = [
        _class_check(n_rows.is_not_null() & weight_expr.is_null(), label_name, "mix= has no share for"),
        _class_check(is_class_lacking, label_name, "no row of the table belongs to"),
    ]
    count_and_share_rows = class_count_rows.join(
        class_share_rows, on=label_name, how="full", coalesce=True
    )
    table_class_rows = stop_if_broken(count_and_share_rows, checks).filter(n_rows.is_not_null())
    class_weight_expr = (weight_expr * (n_rows.sum() / n_rows)).alias(_WEIGHT)
    class_weight_rows = table_class_rows.select(label_name, class_weight_expr)
    wide_rows = wide_rows.join(class_weight_rows, on=label_name, how="left", maintain_order="left")
    return wide_rows.with_columns(weight_expr.fill_null(1.0))


def _class_check(test_expr: pl.Expr, label_name: str, problem_phrase: str) -> Check:
    """Return the check that no class, one per row, satisfies a test."""
    class_text_expr = show_value(select_column(label_name).filter(test_expr).sort().first())
    remedy_phrase = f", a class of label column {label_name!r}; mix= names each of its classes once"
    return Check(test_expr.any(), (f"{problem_phrase} ", class_text_expr, remedy_phrase))


def _check_new_names(*, name: object, score: object, row: object) -> None:
    """Raise unless the names of new columns are texts; `row` may be None."""
    row_name_of_argument = {} if row is None else {"row=": row}
    for argument, new_name in {"name=": name, "score=": score, **row_name_of_argument}.items():
        if arguments.is_pattern(arguments.read_name(argument, new_name)):
            raise PrcError(f"choose another name for {argument}: Polars reads {new_name!r} as a pattern")


def _stack_columns(
    wide_rows: pl.LazyFrame,
    score_name: str,
    score_columns: list[str],
    name_values: pl.Series,
    *,
    shared_columns: list[str],
    row_number_name: str | None,
) -> pl.LazyFrame:
    """Return a row for each row and each of `name_values`, with `shared_columns`, and a `score_name`."""
    if row_number_name is not None:
        wide_rows = _number_rows(wide_rows, row_number_name)
        shared_columns = [row_number_name, *shared_columns]
    name_expr = pl.lit(name_values.implode()).first().alias(name_values.name)
    score_list_expr = pl.concat_list(*map(select_column, score_columns)).alias(score_name)
    shared_exprs = map(select_column, shared_columns)
    return wide_rows.select(*shared_exprs, name_expr, score_list_expr).explode(
        selectors.by_name(name_values.name, score_name), empty_as_null=False
    )


def _number_rows(rows: pl.LazyFrame, number_name: str) -> pl.LazyFrame:
    """Add the numbers of rows, from 0 up, as a column `number_name`."""
    return rows.with_row_index(number_name).with_columns(select_column(number_name).cast(pl.Int64))


def _find_shared_columns(
    schema: pl.Schema, argument_name: str, score_columns: list[str], new_names: list[str | None]
) -> list[str]:
    """Return the columns that are repeated; raise if score columns differ, or a new name is there."""
    if not score_columns:
        raise PrcError(f"pass at least one score column as {argument_name}=; got none")
    _check_known(schema, argument_name, score_columns)
    if len(set(score_columns)) < len(score_columns):
        raise PrcError(f"name each score column once; got {score_columns}")
    dtype_by_column = {column: schema[column] for column in score_columns}
    for column, dtype in dtype_by_column.items():
        SCORE_DTYPES.require(f"score column {column!r}", dtype)
    if len(set(dtype_by_column.values())) > 1:
        raise PrcError(
            "cast the score columns to one dtype, so that none is rounded: they differ in "
            f"dtype, {dtype_by_column}"
        )
    shared_columns = [column for column in schema if column not in score_columns]
    for column in (name for name in new_names if name is not None):
        if column in shared_columns or new_names.count(column) > 1:
            raise PrcError(f"rename a column: the result would have two columns {column!r}")
    return shared_columns


def _check_known(schema: pl.Schema, argument_name: str, column_names: list[str]) -> None:
    """Raise unless all of these are names of columns in the table."""
    for column_name in column_names:
        if not isinstance(column_name, str):
            raise arguments.refuse_kind(f"{argument_name}=", "column names", column_name)
        if column_name not in schema:
            hint = suggest_names(column_name, schema)
            shown_name = shorten_name(column_name)
            raise PrcError(f"there is no column {shown_name!r} for {argument_name}=; {hint}")


def read_classes(label_name: str, dtype: pl.DataType, class_list: list[Any]) -> pl.Series:
    """Return the classes in the dtype of the label column; raise if it cannot hold them."""
    arguments.refuse_objects("label=", {label_name: dtype})
    try:
        class_values = pl.Series(class_list, dtype=dtype)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        class_values = pl.Series([None] * len(class_list), dtype=dtype)
    if class_values.null_count() > 0 or class_values.to_list() != class_list:
        raise PrcError(
            f"write the classes as in the label column {label_name!r}, of dtype {dtype}; got "
            f"{class_list}"
        )
    return class_values


def _check_all_occur(
    wide_rows: pl.LazyFrame, label_name: str, class_values: pl.Series, argument_name: str
) -> pl.LazyFrame:
    """Return the table with a guard: the query stops if it has labels, and none of a class.

    The categories of an Enum cannot be misspelt, and may be absent.
    """
    if isinstance(class_values.dtype, pl.Enum):
        return wide_rows
    label_count_column = f"{RESERVED}labels"
    class_by_column = {
        f"{RESERVED}class_{i}": class_value for i, class_value in enumerate(class_values.to_list())
    }
    sum_exprs = (
        (select_column(label_name) == class_value).sum().alias(name)
        for name, class_value in class_by_column.items()
    )
    label_count_row = wide_rows.select(
        select_column(label_name).count().alias(label_count_column), *sum_exprs
    )
    n_labels, checks = pl.col(label_count_column).sum(), []
    message_start_parts = f"label column {label_name!r} holds ", n_labels
    for name, class_value in class_by_column.items():
        end_phrase = (
            f" label(s) and none is {class_value!r}; check the spelling, leave that class out of "
            f"{argument_name}=, or cast the labels to a pl.Enum of all classes"
        )
        is_absent = (n_labels > 0) & (pl.col(name).sum() == 0)
        checks.append(Check(is_absent, (*message_start_parts, end_phrase)))
    checked_label_count_row = stop_if_broken(label_count_row, checks).select(label_count_column)
    return wide_rows.join(checked_label_count_row, how="cross", maintain_order="left")
