"""From the options of a command to a table and the arguments of a method on it."""

from __future__ import annotations

import argparse
import glob
import os
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import polars as pl

from polars_prcurve.core.binding.question import Question
from polars_prcurve.core.confidence.rate_intervals import check_confidence
from polars_prcurve.core.ground.atomic_file import is_stream
from polars_prcurve.core.ground.errors import PrcError, list_names
from polars_prcurve.core.judging.decision_request import count_rows_left_out
from polars_prcurve.core.prevalence.estimated_eta import eta_from_sample
from polars_prcurve.core.prevalence.field_and_class_mix import field
from polars_prcurve.doors.cli.options import TableFile, list_kinds, list_parameters
from polars_prcurve.doors.cli.table_files import scan_files
from polars_prcurve.doors.cli.terminal_table import ANSWERS_OF_METHOD, Layout, print_note
from polars_prcurve.doors.namespace import prc
from polars_prcurve.doors.namespace.frame import LazyFramePrc
from polars_prcurve.doors.retrieval_runs import from_trec
from polars_prcurve.view.words.number_words import MINUS, say_dropped_rows


class FilePrc(LazyFramePrc):
    """The methods of a table in files: lazy, except where one must collect half way."""

    _may_collect = True

    def _ask(self, method: str, words: Mapping[str, Any], **options: Any) -> Question:
        """Return the question of a call, and print how many rows it leaves out, if any."""
        question = super()._ask(method, words, **options)
        if method != "reweight":  # which returns the rows themselves
            # Of rows without labels, or not yet with all, a missing label drops none.
            is_part_labelled = method in ("estimate_prevalence", "sampling_plan")
            has_no_labels = is_part_labelled or question.columns.label is None
            if dropped_rows := count_rows_left_out(question, has_no_labels=has_no_labels):
                print_note(say_dropped_rows(dropped_rows))
        return question


def read_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return what the options of a command mean, as far as that needs no file."""
    kinds = list_kinds(args.method).items()
    return {name: kind.read(getattr(args, name)) for name, kind in kinds if name in args}


def open_tables(
    args: argparse.Namespace, options: Mapping[str, Any]
) -> tuple[FilePrc, dict[str, Any], Layout]:
    """Return the table and the arguments of a command, and how to show the result."""
    parameters, table = list_parameters(args.method), _open_input(args.input, options)
    arguments = {name: value for name, value in options.items() if name in parameters}
    parameter = parameters.get("confidence")
    words = {"confidence": parameter and parameter.default, **table._words, **arguments}
    level = getattr(words["confidence"], "level", words["confidence"])
    level = None if level is None else check_confidence(level)
    group_names = (words.get("by"), words.get("model", "model"), words.get("time"))
    groups = list(dict.fromkeys(name for names in group_names for name in as_list(names)))
    schema = dict(table._frame.collect_schema())
    parts = options.get("parts")
    dtypes = {name: schema[name] for name in (*groups, *as_list(parts)) if name in schema}
    if isinstance(words.get("score"), list):
        dtypes["model"] = pl.String()  # the names of score columns
    point_words = {"cells": ("tp", "fp", "fn", "tn"), "by": words.get("by")}
    words_of_table: dict[str, Any] = {"reference": {}, "other": point_words}
    kinds = {name: list_kinds(args.method)[name] for name in arguments}
    for name, file in arguments.items():
        if isinstance(file, TableFile):
            rows = _scan_fitted(file.path, dtypes, _SCORE_COLUMNS if kinds[name].column else ())
            schema = {**rows.collect_schema(), **schema}  # INPUT may have no labels
            is_bound = name in words_of_table
            arguments[name] = prc(rows, **{**words_of_table[name], **file.words}) if is_bound else rows
    for name, kind in kinds.items():
        if kind.column:
            column = next(iter(as_list(words.get(kind.column))), kind.column)
            arguments[name] = _read_values(name, arguments[name], schema.get(column))
    _read_eta(arguments, parts, level)
    if "unlabelled" in options:
        arguments["label"] = None
    return table, arguments, Layout(groups, ANSWERS_OF_METHOD[args.method].split(), level)


def _open_input(path: str, options: Mapping[str, Any]) -> FilePrc:
    """Return the table of INPUT: runs of a search with the judgements of --qrels, or rows."""
    if "qrels" not in options:
        return FilePrc(scan_files(path))
    paths = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True)) or [path]
    runs = from_trec(paths, options["qrels"])
    return FilePrc(pl.DataFrame(runs).lazy(), runs._words)


def as_list(value: Any) -> list[Any]:
    """Return the values of an option in a list, whether it took one, several or was not given."""
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def list_tables(args: argparse.Namespace, options: Mapping[str, Any]) -> list[str]:
    """Return the files and patterns of tables that a command reads."""
    return [args.input, *(file.path for file in options.values() if isinstance(file, TableFile))]


def check_output_paths(options: Mapping[str, Any], tables: Sequence[str]) -> None:
    """Raise if an output would be written over one of the inputs, or over another output."""
    patterns = [*tables, *as_list(options.get("qrels"))]
    input_paths = (name for path in patterns for name in (path, *glob.glob(path, recursive=True)))
    use_of_path = dict.fromkeys(map(os.path.realpath, filter(os.path.isfile, input_paths)), "an input")
    for name in ("output", "report", "page"):
        if path := options.get(name):
            target = os.path.realpath(path)
            if target in use_of_path:
                raise PrcError(
                    f"choose another file for --{name}: {path!r} is also {use_of_path[target]}"
                )
            if not is_stream(Path(target)):
                use_of_path[target] = f"--{name}"


_TEXT_DTYPES = (pl.String, pl.Enum, pl.Categorical)  # which read 007 as it is written
_SCORE_COLUMNS = ("threshold", "score_low", "score_high")  # of files of thresholds, and of a plan
_TRUTH_VALUES = {"true": "1", "false": "0"}
"""Values of a Boolean column, as text files have them."""


def _scan_fitted(path: str, dtypes: Mapping[str, Any], text_columns: Sequence[str]) -> pl.LazyFrame:
    """Return the table of a further file with group columns of the dtypes that the input has."""
    texts = [*text_columns, *(name for name, dtype in dtypes.items() if dtype in _TEXT_DTYPES)]
    table = scan_files(path, texts)
    names = table.collect_schema().names()
    return table.with_columns(pl.col(name).cast(dtypes[name]) for name in dtypes if name in names)


def _read_eta(arguments: dict[str, Any], parts: Any, level: float | None) -> None:
    """Make a file of prevalences the field of its parts, and samples into estimates."""
    rows = arguments.get("eta")
    if not isinstance(rows, pl.LazyFrame):
        if parts is not None:
            raise PrcError("pass --eta as a file with --parts, a row per part, its eta and its share")
        return
    columns = {*rows.collect_schema().names()}
    if parts is not None:
        arguments["eta"] = field(rows, parts)
    elif "eta" not in columns and columns >= {"k", "n"}:
        arguments["eta"] = eta_from_sample(rows, confidence=0.95 if level is None else level)


def _read_values(name: str, value: Any, dtype: Any) -> Any:
    """Return thresholds, strata, or a label, as values of their column; without one as they are."""
    if dtype is None:
        return value
    if isinstance(value, pl.LazyFrame):  # where a number is the score that is written so
        rows = value.collect()
        texts = rows.select(pl.col(c).cast(pl.String) for c in _SCORE_COLUMNS if c in rows.columns)
        return rows.with_columns(
            read_texts(name, column.to_list(), dtype).alias(column.name) for column in texts
        )
    values = read_texts(name, as_list(value), dtype).to_list()
    return values if isinstance(value, list) else values[0]


def read_texts(name: str, texts: Sequence[str | None], dtype: Any) -> pl.Series:
    """Return values of a column from texts; for scores that are no floats, numbers with all digits."""
    if dtype.is_numeric():  # such as a threshold that is copied from where a verdict is printed
        texts = [text and text.replace(MINUS, "-") for text in texts]
    try:
        if dtype == pl.Boolean:
            texts = [text and _TRUTH_VALUES.get(text.lower(), text) for text in texts]
        if name == "pos_label" or dtype.is_float():
            return pl.Series(texts, dtype=pl.String).cast(pl.Int8 if dtype == pl.Boolean else dtype)
        numbers = [text if text is None else Decimal(text) for text in texts]
        if all(number is None or number.is_finite() for number in numbers):
            return pl.Series(numbers)
    except (InvalidOperation, RuntimeError, pl.exceptions.PolarsError):  # of too many digits
        pass
    raise PrcError(
        f"{name}= takes values of the dtype of its column, {dtype}; got {list_names(map(repr, texts))}"
    )
