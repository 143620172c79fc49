"""From a command line to a table and the arguments of a method on it."""

from __future__ import annotations

import argparse
import glob
import inspect
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.core.binding.argument_rules import COMPARES_MODELS, PASSED_OVER, TAKES_ONE_MODEL
from polars_prcurve.core.binding.bound_table import read_reference_columns
from polars_prcurve.core.binding.word_groups import TABLE_WORDS, TARGET_WORDS
from polars_prcurve.core.confidence.intervals import Intervals
from polars_prcurve.core.ground.atomic_file import is_stream
from polars_prcurve.core.ground.errors import PrcError, describe_value, list_names, suggest_names
from polars_prcurve.core.inputs.column_reader import list_known_columns
from polars_prcurve.core.inputs.table_reader import DroppedRows, count_dropped_rows
from polars_prcurve.core.prevalence.fields_and_class_mixes import field
from polars_prcurve.core.prevalence.sampled_eta import eta_from_sample
from polars_prcurve.doors.cli import options as kinds
from polars_prcurve.doors.cli import table_files
from polars_prcurve.doors.cli.options import Kind, Option, name_flag
from polars_prcurve.doors.cli.table_files import TableFile
from polars_prcurve.doors.namespace import prc
from polars_prcurve.doors.namespace.frame import LazyFramePrc
from polars_prcurve.view.words.number_words import say_dropped_rows


class FilePrc(LazyFramePrc):
    """The methods of a table in files: lazy, except where one must collect half way."""

    _may_collect = True

    def describe_dropped_rows(
        self, method: str, arguments: Mapping[str, Any], level: float | None
    ) -> Iterator[str]:
        """Yield how many rows a method leaves out because a value is missing, if that was asked for."""
        if arguments.get("missing") != "drop":
            return
        is_sample = method == "reweight" and "plan" in arguments
        is_for_weights, score_columns = method == "reweight" and not is_sample, arguments.get("score")
        unused_word = "score" if is_for_weights else ""  # weights need no scores, unless they are named
        word_names = [name for name in TABLE_WORDS if name in arguments and name != unused_word]
        table_words = {name: arguments[name] for name in word_names}
        # A comparison has left out the rows by then; a ranking leaves out the same ones, and later.
        counting_method = (
            "ranking" if method == "compare" and isinstance(score_columns, list) else method
        )
        question = self._ask(counting_method, table_words, eta=arguments.get("eta"), confidence=level)
        columns = replace(question.columns, score=score_columns) if is_for_weights else question.columns
        # Of rows without labels, or not yet with all, a missing label drops none.
        is_part_labelled = is_sample or method in ("estimate_prevalence", "sampling_plan")
        has_no_labels = is_part_labelled or columns.label is None
        dropped_rows = count_dropped_rows(
            question.frame, columns, has_no_labels=has_no_labels, is_weighing=is_for_weights
        )
        if isinstance(score_columns, list) and not is_for_weights:
            dropped_rows = dropped_rows.divide(len(score_columns))  # a row goes for all models
        if dropped_rows.n:
            yield _describe_dropped(dropped_rows)
        reference = arguments.get("reference")
        if reference is not None and not isinstance(reference, float):
            reference_table, columns = read_reference_columns(reference, question.columns)
            columns = replace(columns, by=list_known_columns(columns.by, reference_table))
            if (dropped_rows := count_dropped_rows(reference_table, columns)).n:
                yield f"in --reference, {_describe_dropped(dropped_rows)}"


def _describe_dropped(dropped_rows: DroppedRows) -> str:
    """Return how many rows are left out, with options in place of arguments."""
    return say_dropped_rows(dropped_rows).replace('missing="below"', "--missing below")


_OPTIONS_OF_NUMBERS = ("score", "label", "weight", "counts", "rates", "sizes", "cells")
"""Options that name columns of numbers; a label is none with --pos-label."""
_PLAN_SCORE_COLUMNS = ("score_low", "score_high")
"""The columns of a sampling plan that hold scores, and so are read as scores are."""


class MethodCall(NamedTuple):
    """A table in files, and the arguments of the method that a command asks."""

    table: FilePrc
    method: str
    arguments: dict[str, Any]
    groups: list[str]  # the group columns of the result, each once, without the models that are compared
    level: float | None  # the level of intervals, or None if there are none


def read_command(args: argparse.Namespace) -> MethodCall:
    """Return the table and the arguments of a command; raise for what needs no query to be told."""
    options: dict[str, Option] = args.options
    arguments = {
        name: option.kind.read(name_flag(name), option_words)
        for name, option in options.items()
        if name != "output" and (option_words := vars(args)[name]) is not None
    }
    if (words_path := arguments.pop("table", None)) is not None:
        arguments = {**read_table_words(words_path, options), **arguments}
    # Columns of text files without rows are numbers.
    columns = {"score": "score", "label": "label", **arguments}
    if "pos_label" in arguments:
        del columns["label"]
    number_columns = [
        str(column) for name in _OPTIONS_OF_NUMBERS for column in _list_values(columns.get(name))
    ]
    table = table_files.scan_files(args.input, number_columns)
    method = args.command.method
    parameters = inspect.signature(getattr(FilePrc, method)).parameters
    default = parameters["confidence"].default if "confidence" in parameters else None
    confidence = arguments.get("confidence", default)
    level = confidence.level if isinstance(confidence, Intervals) else confidence
    group_columns = _list_values(arguments.get("by"))
    if method not in COMPARES_MODELS:
        is_wide = isinstance(arguments.get("score"), list)
        group_columns += ["model"] if is_wide else _list_values(arguments.get("model"))
    group_columns = list(dict.fromkeys(group_columns)) + _list_values(arguments.get("time"))
    if budgets := _list_values(arguments.get("alerts")):
        arguments |= _read_budgets(budgets, arguments.get("per"))
    key_columns, schema = [*group_columns, arguments.get("model", "model")], table.collect_schema()
    _read_files(options, arguments, key_columns, schema, level)
    if method in TAKES_ONE_MODEL:  # all targets hold together, so each is one number
        values_of_target = {name: _list_values(arguments.get(name)) for name in TARGET_WORDS}
        arguments |= {name: values[0] for name, values in values_of_target.items() if len(values) == 1}
    if arguments.pop("unlabelled", False):
        if "label" in arguments:
            raise PrcError("--unlabelled counts rows; leave out --label")
        arguments["label"] = None
    return MethodCall(FilePrc(table), method, arguments, group_columns, level)


def read_table_words(path: str, options: Mapping[str, Option]) -> dict[str, Any]:
    """Return what a TOML file says of the columns, as the options of a command."""
    value_of_word: dict[str, Any] = {}
    for word, value in _read_toml(path).items():
        if word not in TABLE_WORDS:
            raise PrcError(
                f"--table {path!r} has no argument {word!r}; {suggest_names(word, TABLE_WORDS)}"
            )
        if word in options:
            texts = _write_as_texts(f"--table {path!r}", word, value, options[word].kind)
            value_of_word[word] = options[word].kind.read(name_flag(word), texts)
        elif word not in PASSED_OVER:  # words that cannot change an answer are passed over
            raise PrcError(
                f"--table {path!r} has the argument {word!r}, which this command does not take"
            )
    return value_of_word


def _read_toml(path: str) -> dict[str, Any]:
    """Return the entries of a TOML file; raise for a file that cannot be read, or is none."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        raise PrcError("pass the arguments as options: --table needs Python 3.11 or newer")
    try:
        return tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise PrcError(f"--table {path!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise PrcError(f"--table {path!r} is no text in UTF-8; save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise PrcError(f"--table {path!r} is no TOML file: {error}") from None


def _write_as_texts(subject: str, word: str, value: Any, kind: Kind) -> str | list[str]:
    """Return what a TOML file says of a word as texts, such as an option takes."""
    items = value if isinstance(value, list) else [value]
    if word == "below" and len(items) == 2 and all(map(_is_whole_or_text, items)):
        return "/".join(map(str, items))
    if word == "pos_label" and not isinstance(value, list | dict):
        return str(value).lower() if isinstance(value, bool) else str(value)
    is_right = _is_whole_or_text if word == "sizes" else _is_text
    is_single = isinstance(kind.metavar, str) and not kind.takes_several
    is_of_wrong_length = is_single and len(items) != 1
    if word == "pos_label" or is_of_wrong_length or not all(map(is_right, items)):
        expected = _TOML_VALUES.get(word, "text" if is_single else "text, or a list of texts")
        raise PrcError(f"{subject}: {word} takes {expected}; got {describe_value(value)}")
    return [str(item) for item in items] if isinstance(value, list) else str(value)


_TOML_VALUES = {
    "pos_label": "one value of the label",
    "below": "two whole numbers, such as [12, 340], or the name of one file",
    "sizes": "two whole numbers, or the names of their columns",
}
"""What words of a TOML file take that are more than names of columns."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole_or_text(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def check_output_path(args: argparse.Namespace) -> None:
    """Raise if an output would be written over one of the inputs, or over another output."""
    value_of_option = vars(args)
    inputs = [*list_inputs(args), *filter(None, [value_of_option.get("table")])]
    input_paths = (name for path in inputs for name in (path, *glob.glob(path, recursive=True)))
    use_of_path = dict.fromkeys(map(os.path.realpath, filter(os.path.isfile, input_paths)), "an input")
    for name in _OUTPUT_OPTIONS:
        if path := value_of_option.get(name):
            target = os.path.realpath(path)
            if target in use_of_path:
                raise PrcError(f"--{name} {path!r} is also {use_of_path[target]}; choose another file")
            if not is_stream(Path(target)):
                use_of_path[target] = f"--{name}"


_OUTPUT_OPTIONS = ("output", "report", "page")
"""The options that name a file to write."""


def list_inputs(args: argparse.Namespace) -> list[str]:
    """Return the files and patterns that a command reads."""
    paths = [args.input] if "input" in args else []
    for name, option in args.options.items():
        may_be_file = option.kind.number_columns or option.kind in (
            kinds.REFERENCE,
            kinds.REFERENCE_OR_RATE,
            kinds.OTHER,
        )
        if may_be_file and (option_words := vars(args)[name]):
            first_word = option_words if isinstance(option_words, str) else option_words[0]
            paths += [first_word] if table_files.find_format(first_word) else []
    return paths


def _list_values(value: Any) -> list[Any]:
    """Return the values of an option in a list, whether it took one, several or was not given."""
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def _read_budgets(budgets: Sequence[tuple[Fraction, Fraction]], per: float | None) -> dict[str, Any]:
    """Return budgets of alerts as numbers of alerts, and the events that they are among."""
    if len({n_events for _, n_events in budgets}) > 1:
        raise PrcError(
            "--alerts must be among the same number of events; run the command once for each number"
        )
    per_events = budgets[0][1] if per is None else Fraction(per)
    return {
        "alerts": [float(n_alerts * per_events / n_events) for n_alerts, n_events in budgets],
        "per": float(per_events),
    }


# Further files, and values of columns ------------------------------------------------------------


def _read_files(
    options: Mapping[str, Option],
    arguments: dict[str, Any],
    groups: Sequence[str],
    schema: pl.Schema,
    level: float | None,
) -> None:
    """Replace further files by their tables, fitted to the input, and texts by values of columns."""
    group_names = [*groups, *_list_values(arguments.get("parts"))]
    dtype_of_group: dict[str, pl.DataType] = {
        name: schema[name] for name in group_names if name in schema
    }
    if isinstance(arguments.get("score"), list):
        dtype_of_group["model"] = pl.String()  # the names of score columns
    schema_of_argument = {"score": schema, "label": schema}
    if "reference" in arguments and not isinstance(arguments["reference"], float):
        other_rows, other_words = _scan_other("--reference", arguments["reference"], dtype_of_group)
        schema_of_argument["label"] = pl.Schema(
            {**schema, **other_rows.collect_schema()}
        )  # the table may have no labels
        arguments["reference"] = prc(other_rows, **other_words)
    if "other" in arguments:
        other_rows, other_words = _scan_other("--other", arguments["other"], dtype_of_group)
        other_groups = [name for name in groups if name != arguments.get("model", "model")]
        arguments["other"] = prc(
            other_rows, **{"cells": ("tp", "fp", "fn", "tn"), "by": other_groups or None, **other_words}
        )
    for name, option in options.items():
        if name in arguments and option.kind.column:
            column = (_list_values(arguments.get(option.kind.column)) or [option.kind.column])[0]
            dtype = schema_of_argument[option.kind.column].get(column)
            arguments[name] = _read_column_values(
                name_flag(name), arguments[name], dtype_of_group, dtype
            )
    if isinstance(below_file := arguments.get("below"), TableFile):
        arguments["below"] = _scan_groups(below_file, dtype_of_group).collect()
    part_columns, eta_file = arguments.pop("parts", None), arguments.get("eta")
    if isinstance(eta_file, TableFile):
        other_rows = _scan_groups(eta_file, dtype_of_group)
        eta_schema = other_rows.collect_schema()
        if part_columns is None and "eta" not in eta_schema and {"k", "n"} <= set(eta_schema):
            other_rows = eta_from_sample(other_rows, confidence=0.95 if level is None else level)
        arguments["eta"] = other_rows if part_columns is None else field(other_rows, part_columns)
    elif part_columns is not None:
        raise PrcError("--parts is for --eta as a file, with a row per part, its eta and its share")


def _scan_other(
    option: str, value: Any, dtype_of_group: Mapping[str, pl.DataType]
) -> tuple[pl.LazyFrame, dict[str, Any]]:
    """Return another table, and what the words after its file say of its columns."""
    file, *words = _list_values(value)
    if [isinstance(value, TableFile) for value in (file, *words)] != [True, *[False] * len(words)]:
        raise PrcError(f"{option} takes one file, and then what its columns hold")
    return _scan_groups(file, dtype_of_group), dict(words)


def _scan_groups(
    file: TableFile, dtype_of_group: Mapping[str, pl.DataType], text_columns: Sequence[str] = ()
) -> pl.LazyFrame:
    """Return the table of a further file with group columns of the dtypes that the input has."""
    # 7 in a CSV may be text in the input, and so may 007.
    text_dtypes = (pl.String, pl.Enum, pl.Categorical)
    table = file.scan(
        [*text_columns, *(name for name, dtype in dtype_of_group.items() if dtype in text_dtypes)]
    )
    schema = table.collect_schema()
    return table.with_columns(
        pl.col(name).cast(dtype) for name, dtype in dtype_of_group.items() if name in schema
    )


def _read_column_values(
    flag: str, value: Any, dtype_of_group: Mapping[str, pl.DataType], dtype: pl.DataType | None
) -> Any:
    """Return thresholds, strata, or a label, as values of their column; without one as they are."""
    if not isinstance(value, TableFile):
        parse = kinds.parse_value if flag == "--pos-label" else kinds.parse_threshold
        values = _list_values(value)
        values = values if dtype is None else [parse(flag, word, dtype) for word in values]
        return values if isinstance(value, list) else values[0]
    is_plan = flag == "--plan"
    score_columns = _PLAN_SCORE_COLUMNS if is_plan else ("threshold",)
    value_rows = _scan_groups(value, {} if is_plan else dtype_of_group, score_columns).collect()
    if not is_plan and "threshold" not in value_rows.columns:
        raise PrcError(
            f"{flag} takes a file with a column 'threshold'; {value.path!r} has the columns "
            f"{list_names(value_rows.columns)}"
        )
    if dtype is None or not value.is_text:
        return value_rows
    # In a text file a number is the score that is printed so.
    return value_rows.with_columns(
        kinds.parse_threshold_column(flag, value_rows[name], dtype)
        for name in score_columns
        if name in value_rows.columns
    )
