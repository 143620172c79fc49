"""From the words of a command to a table and the arguments of a method on it."""

from __future__ import annotations

import argparse
import glob
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.core.binding.argument_rules import COMPARES_MODELS, PASSED_OVER
from polars_prcurve.core.binding.bound_table import read_reference_columns
from polars_prcurve.core.binding.shared_arguments import TABLE_WORDS
from polars_prcurve.core.confidence.rate_intervals import Intervals
from polars_prcurve.core.ground.atomic_file import is_stream
from polars_prcurve.core.ground.errors import PrcError, describe_value, list_names, suggest_names
from polars_prcurve.core.inputs.column_reader import list_known_columns
from polars_prcurve.core.inputs.table_reader import count_dropped_rows
from polars_prcurve.core.judging.decision_request import count_rows_left_out
from polars_prcurve.core.prevalence.estimated_eta import eta_from_sample
from polars_prcurve.core.prevalence.eta_of_fields_and_class_mixes import field
from polars_prcurve.doors.cli.options import TableFile, pick_one
from polars_prcurve.doors.cli.table_files import find_format, scan_files
from polars_prcurve.doors.namespace import prc
from polars_prcurve.doors.namespace.frame import LazyFramePrc
from polars_prcurve.doors.retrieval_runs import from_trec
from polars_prcurve.view.words.number_words import MINUS, say_dropped_rows


class FilePrc(LazyFramePrc):
    """The methods of a table in files: lazy, except where one must collect half way."""

    _may_collect = True


class MethodCall(NamedTuple):
    """A table in files, and the arguments of the method that a command calls."""

    table: FilePrc
    method: str
    arguments: dict[str, Any]
    groups: list[str]  # the group columns of the result, each once, without the models that are compared
    level: float | None  # the level of intervals, or None if there are none

    def describe_dropped_rows(self) -> Iterator[str]:
        """Yield how many rows the method leaves out because a value is missing, if it drops them."""
        arguments, method = self.arguments, self.method
        if arguments.get("missing") != "drop":
            return
        is_for_weights = method == "reweight" and "plan" not in arguments
        scores = arguments.get("score")
        words = {name: arguments[name] for name in TABLE_WORDS if name in arguments}
        if is_for_weights:  # which need no scores, unless they are named
            words.pop("score", None)
        # A comparison has left out the rows by then; a ranking leaves out the same ones, and later.
        method = "ranking" if method == "compare" and isinstance(scores, list) else method
        question = self.table._ask(method, words, eta=arguments.get("eta"), confidence=self.level)
        if is_for_weights:
            question = question._replace(columns=question.columns._replace(score=scores))
        # Of rows without labels, or not yet with all, a missing label drops none.
        is_part_labelled = "plan" in arguments or method in ("estimate_prevalence", "sampling_plan")
        has_no_labels = is_part_labelled or question.columns.label is None
        options = {"has_no_labels": has_no_labels, "is_weighing": is_for_weights}
        if dropped_rows := count_rows_left_out(question, **options):
            yield say_dropped_rows(dropped_rows)
        reference = arguments.get("reference")
        if isinstance(reference, LazyFramePrc):
            rows, columns = read_reference_columns(reference, question.columns)
            columns = columns._replace(by=list_known_columns(columns.by, rows))
            if (dropped_rows := count_dropped_rows(rows, columns)).n:
                yield f"in --reference, {say_dropped_rows(dropped_rows)}"


_COLUMNS_OF_NUMBERS = ("score", "label", "weight", "counts", "rates", "sizes", "cells")
"""Words that name columns of numbers; a label is none with --pos-label."""


def read_command(args: argparse.Namespace) -> MethodCall:
    """Return the table and the arguments of a command; raise for what can be checked without a query."""
    method, kind_of_option = args.command.method, args.command.kind_of_option
    arguments = {} if args.table is None else read_table_words(args.table, kind_of_option)
    arguments |= {
        name: kind.read(words)
        for name, kind in kind_of_option.items()
        if name not in ("table", "qrels", "output") and (words := vars(args)[name]) is not None
    }
    column_words = {"score": "score", "label": "label", **arguments}
    if "pos_label" in arguments:
        del column_words["label"]
    number_columns = [name for word in _COLUMNS_OF_NUMBERS for name in as_list(column_words.get(word))]
    table_words: Mapping[str, Any] = {}
    if qrels := vars(args).get("qrels"):
        table, table_words = _read_runs(args.input, qrels)
    else:
        table = scan_files(args.input, number_columns)
    default = getattr(args.command.parameters.get("confidence"), "default", None)
    confidence = arguments.get("confidence", default)
    level = confidence.level if isinstance(confidence, Intervals) else confidence
    groups = as_list(arguments.get("by", table_words.get("by")))
    groups = [name for name in groups if name not in as_list(arguments.get("mean_over"))]
    if method not in COMPARES_MODELS:
        is_wide = isinstance(arguments.get("score"), list)
        groups += ["model"] if is_wide else as_list(arguments.get("model"))
    groups = list(dict.fromkeys(groups)) + as_list(arguments.get("time"))
    if budgets := as_list(arguments.get("alerts")):
        arguments |= _read_budgets(budgets, arguments.get("per"))
    _read_files(args, arguments, groups, table.collect_schema(), level)
    if arguments.pop("unlabelled", False):
        if "label" in arguments:
            raise PrcError("--unlabelled counts rows; leave out --label")
        arguments["label"] = None
    return MethodCall(FilePrc(table, table_words), method, arguments, groups, level)


def _read_runs(path: str, qrels: str) -> tuple[pl.LazyFrame, Mapping[str, Any]]:
    """Return the runs of a file, or of all that match a pattern, and the words about their table."""
    paths = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
    try:
        test = from_trec(paths or [path], qrels)
    except PrcError as error:
        raise PrcError(re.sub("^run=", "INPUT", re.sub("^qrels=", "--qrels", str(error)))) from None
    return pl.DataFrame(test).lazy(), test._words


def as_list(value: Any) -> list[Any]:
    """Return the values of an option in a list, whether it took one, several or was not given."""
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def _read_budgets(budgets: Sequence[Any], per: Any) -> dict[str, Any]:
    """Return budgets of alerts as numbers of alerts, and the events that they are among."""
    for budget in budgets:
        is_pair = len(budget) == 2 and not any(isinstance(number, str | None) for number in budget)
        if not is_pair or not 0 <= budget[0] <= budget[1] or budget[1] == 0:
            text = "/".join(map(str, budget))
            raise PrcError(f"--alerts takes ALERTS/EVENTS, such as 500/2000000; got {text!r}")
    if len({n_events for _, n_events in budgets}) > 1:
        raise PrcError(
            "--alerts must be among the same number of events; run the command once for each number"
        )
    per = budgets[0][1] if per is None else per
    n_events = 1 if isinstance(per, str) else per  # a text is refused by the method
    return {"alerts": pick_one([n_alerts * n_events / n for n_alerts, n in budgets]), "per": per}


# Files of words, and those that are read or written ---------------------------------------------


def read_table_words(path: str, option_names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments in a TOML file; those that cannot change an answer are passed over."""
    words = _read_toml(path)
    for word in words:
        if word not in TABLE_WORDS:
            hint = suggest_names(word, TABLE_WORDS)
            raise PrcError(f"--table {path!r} has no argument {word!r}; {hint}")
        if word not in option_names and word not in PASSED_OVER:
            raise PrcError(
                f"--table {path!r} has the argument {word!r}, which this command does not take"
            )
        if word in option_names and not all(
            isinstance(item, str | int | float) for item in as_list(words[word])
        ):
            value_text = describe_value(words[word])
            raise PrcError(f"--table {path!r}: {word} takes text or a list of texts; got {value_text}")
    if isinstance(words.get("below"), str):
        words["below"] = TableFile(words["below"])
    return {word: value for word, value in words.items() if word in option_names}


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


def list_inputs(args: argparse.Namespace) -> list[str]:
    """Return the files and patterns that a command reads."""
    qrels = vars(args).get("qrels")
    paths = [args.input, *([qrels] if qrels else [])]
    for name, kind in args.command.kind_of_option.items():
        if kind.may_be_file and (words := vars(args)[name]):
            path = words if isinstance(words, str) else words[0]
            paths += [path] if find_format(path) else []
    return paths


def check_output_paths(args: argparse.Namespace) -> None:
    """Raise if an output would be written over one of the inputs, or over another output."""
    paths = [*list_inputs(args), *as_list(args.table)]
    input_paths = (name for path in paths for name in (path, *glob.glob(path, recursive=True)))
    use_of_path = dict.fromkeys(map(os.path.realpath, filter(os.path.isfile, input_paths)), "an input")
    for name in ("output", "report", "page"):
        if path := vars(args).get(name):
            target = os.path.realpath(path)
            if target in use_of_path:
                raise PrcError(f"--{name} {path!r} is also {use_of_path[target]}; choose another file")
            if not is_stream(Path(target)):
                use_of_path[target] = f"--{name}"


# Further files, and values of columns ------------------------------------------------------------

_TEXT_DTYPES = (pl.String, pl.Enum, pl.Categorical)  # which read 007 as it is written
_TRUTH_VALUES = {"true": True, "false": False}
"""Values of a Boolean column, as text files have them."""


def _read_files(
    args: argparse.Namespace,
    arguments: dict[str, Any],
    groups: Sequence[str],
    schema: pl.Schema,
    level: float | None,
) -> None:
    """Replace further files by their tables, fitted to the input, and texts by values of columns."""
    model, parts = arguments.get("model", "model"), arguments.pop("parts", None)
    dtypes = {
        name: schema[name] for name in [*groups, *as_list(model), *as_list(parts)] if name in schema
    }
    if isinstance(arguments.get("score"), list):
        dtypes["model"] = pl.String()  # the names of score columns
    for name in ("reference", "other"):
        if isinstance(value := arguments.get(name), tuple | TableFile):
            file, words = value if isinstance(value, tuple) else (value, {})
            rows = _scan_fitted(file, dtypes)
            if name == "other":
                by = [group for group in groups if group != model]
                words = {"cells": ("tp", "fp", "fn", "tn"), "by": by or None, **words}
            else:  # the table may have no labels
                schema = pl.Schema({**rows.collect_schema(), **schema})
            arguments[name] = prc(rows, **words)
    for name, kind in args.command.kind_of_option.items():
        if name in arguments and kind.column:
            column = (as_list(arguments.get(kind.column)) or [kind.column])[0]
            arguments[name] = _read_values(name, arguments[name], dtypes, schema.get(column))
    if isinstance(file := arguments.get("below"), TableFile):
        arguments["below"] = _scan_fitted(file, dtypes).collect()
    if isinstance(file := arguments.get("eta"), TableFile):
        rows = _scan_fitted(file, dtypes)
        columns = rows.collect_schema().names()
        if parts is None and "eta" not in columns and {"k", "n"} <= {*columns}:
            rows = eta_from_sample(rows, confidence=0.95 if level is None else level)
        arguments["eta"] = rows if parts is None else field(rows, parts)
    elif parts is not None:
        raise PrcError("--parts is for --eta as a file, with a row per part, its eta and its share")


def _scan_fitted(file: str, dtypes: Mapping[str, Any], text_columns: Sequence[str] = ()) -> pl.LazyFrame:
    """Return the table of a further file with group columns of the dtypes that the input has."""
    texts = [*text_columns, *(name for name, dtype in dtypes.items() if dtype in _TEXT_DTYPES)]
    table = scan_files(file, text_columns=texts)
    names = table.collect_schema().names()
    return table.with_columns(pl.col(name).cast(dtypes[name]) for name in dtypes if name in names)


def _read_values(name: str, value: Any, dtypes: Mapping[str, Any], dtype: Any) -> Any:
    """Return thresholds, strata, or a label, as values of their column; without one as they are."""
    if not isinstance(value, TableFile):
        is_read = dtype is None or not all(isinstance(text, str) for text in as_list(value))
        values = as_list(value) if is_read else read_texts(name, as_list(value), dtype).to_list()
        return values if isinstance(value, list) else values[0]
    score_columns = ("score_low", "score_high") if name == "plan" else ("threshold",)
    rows = _scan_fitted(value, {} if name == "plan" else dtypes, score_columns).collect()
    if dtype is None or not getattr(find_format(value), "is_text", False):
        return rows
    # In a text file a number is the score that is printed so.
    columns = [rows[column].cast(pl.String) for column in score_columns if column in rows.columns]
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
