"""From the words of a command to a table and the arguments of a method on it."""

from __future__ import annotations

import argparse
import glob
import os
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.core.binding.question import Question
from polars_prcurve.core.ground.atomic_file import is_stream
from polars_prcurve.core.ground.errors import PrcError, list_names
from polars_prcurve.core.judging.decision_request import count_rows_left_out
from polars_prcurve.core.prevalence.estimated_eta import eta_from_sample
from polars_prcurve.core.prevalence.field_and_class_mix import field
from polars_prcurve.doors.cli.options import FILE, TableFile, pick_one
from polars_prcurve.doors.cli.table_files import find_format, scan_files
from polars_prcurve.doors.cli.terminal_table import print_note
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


class MethodCall(NamedTuple):
    """A table in files, and the arguments of the method that a command calls."""

    table: FilePrc
    arguments: dict[str, Any]
    groups: list[str]  # columns that may distinguish rows of the result
    level: float | None  # the level of intervals, or None if there are none


def read_command(args: argparse.Namespace) -> MethodCall:
    """Return the table and the arguments of a command; raise for what can be checked without a query."""
    kind_of_option = args.command.kind_of_option
    arguments = {
        name: kind.read(words)
        for name, kind in kind_of_option.items()
        if kind is not FILE and (words := vars(args)[name]) is not None
    }
    table = _open_table(args, arguments)
    words = {"confidence": args.command.find_default("confidence"), **table._words, **arguments}
    if words.get("missing") == "below":  # a file may have no other word for null
        table = FilePrc(table._frame.with_columns(pl.selectors.float().fill_nan(None)), table._words)
    level = getattr(words["confidence"], "level", words["confidence"])
    group_names = (words.get("by"), words.get("model", "model"), words.get("time"))
    groups = list(dict.fromkeys(name for names in group_names for name in as_list(names)))
    if budgets := as_list(arguments.get("alerts")):
        arguments |= _read_budgets(budgets, arguments.get("per"))
    schema = dict(table._frame.collect_schema())
    dtypes = {name: schema[name] for name in (*groups, *as_list(words.get("parts"))) if name in schema}
    if isinstance(words.get("score"), list):
        dtypes["model"] = pl.String()  # the names of score columns
    point_words = {"cells": ("tp", "fp", "fn", "tn"), "by": words.get("by")}
    for name, table_words in {"reference": {}, "other": point_words}.items():
        if isinstance(value := arguments.get(name), tuple | TableFile):
            file, file_words = value if isinstance(value, tuple) else (value, {})
            other_rows = _scan_fitted(file, dtypes)
            schema = {**other_rows.collect_schema(), **schema}  # the table may have no labels
            arguments[name] = prc(other_rows, **{**table_words, **file_words})
    for name, value in arguments.items():
        if word := kind_of_option[name].column:
            column = (as_list(words.get(word)) or [word])[0]
            arguments[name] = _read_values(name, value, dtypes, schema.get(column))
        elif isinstance(value, TableFile):
            arguments[name] = _scan_fitted(value, dtypes)
    _read_fields(arguments, level)
    if arguments.pop("unlabelled", False):
        if "label" in arguments:
            raise PrcError("leave out --label or --unlabelled, which is for rows without labels")
        arguments["label"] = None
    return MethodCall(table, arguments, groups, level)


def _open_table(args: argparse.Namespace, arguments: Mapping[str, Any]) -> FilePrc:
    """Return the table of INPUT, with arguments of --qrels and --table that no option overrides."""
    if qrels := vars(args).get("qrels"):
        paths = [args.input] if os.path.exists(args.input) else glob.glob(args.input, recursive=True)
        runs = from_trec(sorted(paths) or [args.input], qrels)
        table = FilePrc(pl.DataFrame(runs).lazy(), runs._words)
    else:
        table = FilePrc(scan_files(args.input))
    try:
        words = _read_toml(args.table) if args.table else {}
        return table(**{word: words[word] for word in words if word not in arguments})
    except TypeError as error:  # a word that no table has
        raise PrcError(f"--table {args.table!r}: {error}") from None


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
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise PrcError(f"--table {path!r} is not a TOML file in UTF-8: {error}") from None


def _read_budgets(budgets: Sequence[Any], per: Any) -> dict[str, Any]:
    """Return budgets of alerts as numbers of alerts, and the cases that they are among."""
    for budget in budgets:
        is_pair = len(budget) == 2 and not any(isinstance(number, str | None) for number in budget)
        if not is_pair or not 0 <= budget[0] <= budget[1] or budget[1] == 0:
            text = "/".join(map(str, budget))
            raise PrcError(f"--alerts takes ALERTS/CASES, such as 500/2000000; got {text!r}")
    if len({n_events for _, n_events in budgets}) > 1:
        raise PrcError("run the command once for each number of cases in --alerts")
    per = budgets[0][1] if per is None else per
    n_events = 1 if isinstance(per, str) else per  # a text is refused by the method
    return {"alerts": pick_one([n_alerts * n_events / n for n_alerts, n in budgets]), "per": per}


def as_list(value: Any) -> list[Any]:
    """Return the values of an option in a list, whether it took one, several or was not given."""
    return list(value) if isinstance(value, list) else [] if value is None else [value]


# Files that are read and written -----------------------------------------------------------------


def list_inputs(args: argparse.Namespace) -> list[str]:
    """Return the files and patterns that a command reads."""
    kinds = args.command.kind_of_option.items()
    first_words = [as_list(vars(args)[name])[:1] for name, kind in kinds if kind.may_be_file]
    files = [word for words in first_words for word in words if find_format(word)]
    return [args.input, *as_list(vars(args).get("qrels")), *files]


def check_output_paths(args: argparse.Namespace, inputs: Sequence[str]) -> None:
    """Raise if an output would be written over one of the inputs, or over another output."""
    patterns = [*inputs, *as_list(args.table)]
    input_paths = (name for path in patterns for name in (path, *glob.glob(path, recursive=True)))
    use_of_path = dict.fromkeys(map(os.path.realpath, filter(os.path.isfile, input_paths)), "an input")
    for name in ("output", "report", "page"):
        if path := vars(args).get(name):
            target = os.path.realpath(path)
            if target in use_of_path:
                raise PrcError(
                    f"choose another file for --{name}: {path!r} is also {use_of_path[target]}"
                )
            if not is_stream(Path(target)):
                use_of_path[target] = f"--{name}"


# Further files, and values of columns ------------------------------------------------------------

_TEXT_DTYPES = (pl.String, pl.Enum, pl.Categorical)  # which read 007 as it is written
_SCORE_COLUMNS = ("threshold", "score_low", "score_high")  # of files of thresholds, and of a plan
_TRUTH_VALUES = {"true": True, "false": False}
"""Values of a Boolean column, as text files have them."""


def _scan_fitted(file: str, dtypes: Mapping[str, Any], text_columns: Sequence[str] = ()) -> pl.LazyFrame:
    """Return the table of a further file with group columns of the dtypes that the input has."""
    texts = [*text_columns, *(name for name, dtype in dtypes.items() if dtype in _TEXT_DTYPES)]
    table = scan_files(file, texts)
    names = table.collect_schema().names()
    return table.with_columns(pl.col(name).cast(dtypes[name]) for name in dtypes if name in names)


def _read_fields(arguments: dict[str, Any], level: float | None) -> None:
    """Make a file of prevalences the field of its parts, and samples into estimates."""
    rows, parts = arguments.get("eta"), arguments.pop("parts", None)
    if isinstance(rows, pl.LazyFrame):
        columns = {*rows.collect_schema().names()}
        if parts is not None:
            arguments["eta"] = field(rows, parts)
        elif "eta" not in columns and columns >= {"k", "n"}:
            arguments["eta"] = eta_from_sample(rows, confidence=0.95 if level is None else level)
    elif parts is not None:
        raise PrcError("pass --eta as a file with --parts, a row per part, its eta and its share")


def _read_values(name: str, value: Any, dtypes: Mapping[str, Any], dtype: Any) -> Any:
    """Return thresholds, strata, or a label, as values of their column; without one as they are."""
    if not isinstance(value, TableFile):
        values = as_list(value) if dtype is None else read_texts(name, as_list(value), dtype).to_list()
        return values if isinstance(value, list) else values[0]
    rows = _scan_fitted(value, dtypes, _SCORE_COLUMNS).collect()
    if dtype is None or not getattr(find_format(value), "is_text", False):
        return rows
    # In a text file a number is the score that is printed so.
    columns = [rows[column].cast(pl.String) for column in _SCORE_COLUMNS if column in rows.columns]
    return rows.with_columns(
        read_texts(name, column.to_list(), dtype).alias(column.name) for column in columns
    )


def read_texts(name: str, texts: Sequence[str | None], dtype: Any) -> pl.Series:
    """Return values of a column from texts; for scores that are no floats, numbers with all digits."""
    if dtype.is_numeric():  # such as a threshold that is copied from where a verdict is printed
        texts = [text and text.replace(MINUS, "-") for text in texts]
    try:
        if name == "pos_label" and dtype == pl.Boolean:
            return pl.Series([_TRUTH_VALUES[str(text).lower()] for text in texts])
        if name == "pos_label" or dtype.is_float():
            return pl.Series(texts, dtype=pl.String).cast(dtype)
        numbers = [
            text if text is None else Decimal(_TRUTH_VALUES.get(text.lower(), text)) for text in texts
        ]
        if all(number is None or number.is_finite() for number in numbers):
            return pl.Series(numbers)
    except (KeyError, InvalidOperation, RuntimeError, pl.exceptions.PolarsError):  # of too many digits
        pass
    raise PrcError(
        f"{name}= takes values as its column holds, of dtype {dtype}; got {list_names(map(repr, texts))}"
    )
