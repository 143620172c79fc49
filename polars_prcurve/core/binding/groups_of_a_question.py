"""Which columns are groups of a question: those of a field, of means, of models and of wide tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from polars_prcurve.core.binding import argument_rules
from polars_prcurve.core.binding.eta_argument import EtaClassMix
from polars_prcurve.core.binding.question import Question
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.inputs.column_reader import Column, ColumnReader, InputColumns, list_columns
from polars_prcurve.core.inputs.row_column_names import Row
from polars_prcurve.core.inputs.wide_tables import stack_classes, stack_models
from polars_prcurve.core.uncertainty.means_over_groups import MeanGroups


def set_parts(
    question: Question, part_columns: Sequence[Column], call_arguments: Mapping[str, Any]
) -> Question:
    """Return the question of a field, whose parts are no groups: bound ones leave `by` and `model`.

    `call_arguments` are those that the call itself passes.
    """
    input_columns = question.columns._replace(parts=list(part_columns))
    part_column_names = {name_column(part_column) for part_column in part_columns}
    if input_columns.by is not None:
        grouping_columns = _leave_parts_out("by", input_columns.by, part_column_names, call_arguments)
        input_columns = input_columns._replace(by=grouping_columns or None)
    if input_columns.model is not None and not _leave_parts_out(
        "model", input_columns.model, part_column_names, call_arguments
    ):
        input_columns = input_columns._replace(model=None)
    return question._replace(columns=input_columns)


def set_means(
    question: Question,
    mean_columns: Sequence[Column],
    call_arguments: Mapping[str, Any],
    *,
    share_examples: bool,
) -> Question:
    """Return the question of means over groups, which are also groups of the table.

    With `share_examples` the groups are classes that share examples.
    """
    mean_column_names = [name_column(mean_column) for mean_column in mean_columns]
    call_grouping_columns: list[Column] = list_columns("by=", call_arguments.get("by"))
    repeated_names = [
        name for name in map(name_column, call_grouping_columns) if name in mean_column_names
    ]
    if repeated_names:
        raise PrcError(f"name the column {repeated_names[0]!r} in by= or in mean_over=, not in both")
    grouping_columns: list[Column] = list_columns("by=", question.columns.by)
    column_by_name = {
        name_column(grouping_column): grouping_column for grouping_column in grouping_columns
    }
    # Bound groups keep their place, so that a table is read once, whether means are taken or not.
    # Classes of a wide table are among them, a group that no column of the user's holds.
    column_by_name |= {
        name: mean_column
        for name, mean_column in zip(mean_column_names, mean_columns, strict=True)
        if name not in column_by_name
    }
    reader = ColumnReader(question.frame, "raise", may_collect=False, user_table=question.user_table)
    reader.read_by([column_by_name[name] for name in mean_column_names], "mean_over")
    input_columns = question.columns._replace(by=[*column_by_name.values()])
    mean_groups = MeanGroups(
        tuple(mean_column_names), share_examples=share_examples and "class" in mean_column_names
    )
    return question._replace(columns=input_columns, mean_groups=mean_groups)


def _leave_parts_out(
    word: str, argument_value: Any, part_column_names: Collection[str], call_arguments: Mapping[str, Any]
) -> list[Column]:
    """Return the columns of `by` or `model` that distinguish no parts; raise for one that was passed."""
    grouping_columns: list[Column] = list_columns(f"{word}=", argument_value)
    grouping_column_names = [name_column(grouping_column) for grouping_column in grouping_columns]
    repeated_names = [name for name in grouping_column_names if name in part_column_names]
    if repeated_names and call_arguments.get(word) is not None:
        raise PrcError(
            f"leave out {word}= for one result over the whole field, or pass eta= without "
            f"field() for one per part: {word}= and parts= both hold {repeated_names[0]!r}"
        )
    return [
        grouping_column
        for grouping_column, name in zip(grouping_columns, grouping_column_names, strict=True)
        if name not in part_column_names
    ]


def set_groups(question: Question) -> Question:
    """Return the question with the column of models where it is read: alone, or as a last group."""
    input_columns, method_name = question.columns, question.method
    model_column = input_columns.model
    grouping_columns: list[Column] = list_columns("by=", input_columns.by)
    if method_name in argument_rules.TAKES_ONE_MODEL and model_column is None:
        frame_columns = set(question.frame.lazy().collect_schema().names())
        frame_columns -= set(map(name_column, list_columns("parts=", input_columns.parts)))
        scored_columns = input_columns.score, input_columns.label
        frame_columns -= {column for column in scored_columns if isinstance(column, str)}
        if question.names_no_model or "model" not in frame_columns:
            return question._replace(columns=input_columns._replace(id=None))
    if method_name in argument_rules.COMPARES_MODELS:
        model_column = "model" if model_column is None else model_column
        input_columns = input_columns._replace(
            by=leave_out(model_column, grouping_columns), model=model_column
        )
        return question._replace(columns=input_columns)
    if model_column is not None:
        ColumnReader(question.frame, "raise", may_collect=False).read_column("model", model_column)
        input_columns = input_columns._replace(
            by=[*leave_out(model_column, grouping_columns), model_column], model=None
        )
    return question._replace(columns=input_columns._replace(id=None))


def make_long(question: Question, *, paired: bool) -> Question:
    """Return the question of a table with a row for each example and model, or class."""
    input_columns, method_name = question.columns, question.method
    score_columns = input_columns.score
    new_group_name = "class" if isinstance(score_columns, Mapping) else "model"
    if "by" not in argument_rules.USES[method_name]:
        raise PrcError(
            f"call {method_name}() once for each {new_group_name}: it takes one column as score="
        )
    _check_rivals(input_columns, new_group_name)
    grouping_columns: list[Column] = list_columns("by=", input_columns.by)
    if new_group_name in map(name_column, grouping_columns):
        raise PrcError(
            f"leave the column {new_group_name!r} out of by=: score= already adds a group column of "
            "that name"
        )
    if new_group_name == "class":
        return _stack_classes(question, [*grouping_columns, pl.col(Row.CLASS).alias("class")])
    if method_name == "compare" and not paired:
        raise PrcError(
            "leave paired= out: paired=False is for models with their own examples, and the "
            "models of a wide table share its rows"
        )
    stacked_table = stack_models(question.frame.lazy(), score_columns)
    if paired and len(score_columns) < 2:
        raise PrcError(f"compare() takes two models or more; got score={list(score_columns)}")
    input_columns = input_columns._replace(score=stacked_table.score_name)
    model_expr = pl.col(stacked_table.group_name).cast(pl.String).alias("model")
    if paired:
        input_columns = input_columns._replace(
            model=stacked_table.group_name, id=stacked_table.example_name, is_matched=True
        )
    elif method_name in argument_rules.COMPARES_MODELS:
        input_columns = input_columns._replace(model=model_expr, id=stacked_table.example_name)
    else:
        input_columns = input_columns._replace(by=[*grouping_columns, model_expr])
    return question._replace(
        frame=stacked_table.long_rows, columns=input_columns, wide_scores=score_columns
    )


def _check_rivals(input_columns: InputColumns, new_group_name: str) -> None:
    """Raise for words beside several score columns that do not go with them."""
    rival_words: tuple[str, ...] = ("pos_label", "id") if new_group_name == "class" else ("model", "id")
    for word in (*rival_words, "counts", "rates", "cells"):
        if getattr(input_columns, word) is not None:
            raise PrcError(f"leave out {word}=: score= names a column for each {new_group_name}")
    score_columns, pos_label = input_columns.score, input_columns.pos_label
    is_of_class = isinstance(pos_label, str) and pos_label in map(name_column, score_columns)
    if is_of_class and len(score_columns) > 1:
        raise PrcError(
            f"pass score={pos_label!r} for one class, or score={{class: column, ...}} for all: a list "
            f"holds models, and pos_label={pos_label!r} names one of them"
        )


def _stack_classes(question: Question, grouping_columns: list[Column]) -> Question:
    """Return the question of a table with a row for each example and class; classes are a group."""
    wide_rows, model_column = question.frame.lazy(), question.columns.model
    if model_column is not None and name_column(model_column) == "class":
        raise PrcError(
            "leave out model=, or compare the classes with df.prc.unpivot_scores(score, "
            "label=...).prc(model='class'): score= as a mapping makes the classes groups, not models"
        )
    label_name = question.columns.label
    score_column_by_class = question.columns.score
    stacked_table = stack_classes(wide_rows, label_name, score_column_by_class)
    input_columns = question.columns._replace(
        score=stacked_table.score_name, label=stacked_table.label_name, by=grouping_columns
    )
    question = question._replace(wide_scores=dict(score_column_by_class))
    if isinstance(question.eta, EtaClassMix):
        assert isinstance(label_name, str)  # `stack_classes` takes no other
        eta_field, part_expr = question.eta.build_field(
            label_name, wide_rows.collect_schema()[label_name], score_column_by_class
        )
        question = question._replace(eta=eta_field)
        input_columns = input_columns._replace(parts=[part_expr])
    return set_groups(question._replace(frame=stacked_table.long_rows, columns=input_columns))


def leave_out(column: Column, grouping_columns: list[Column]) -> list[Column]:
    """Return the group columns without one that may be among them under its name."""
    return [
        grouping_column
        for grouping_column in grouping_columns
        if name_column(grouping_column) != name_column(column)
    ]


def name_column(name_or_expr: Column) -> str:
    """Return the name of a group column."""
    if isinstance(name_or_expr, pl.Expr):
        return name_or_expr.meta.output_name(raise_if_undetermined=False) or ""
    # What is no column is refused where it is read.
    return name_or_expr if isinstance(name_or_expr, str) else ""
