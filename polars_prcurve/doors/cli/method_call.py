"""From a command line to a table and the arguments of a method on it."""

from __future__ import annotations

import argparse
import glob
import inspect
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.core.binding.argument_rules import (
    COMPARES_MODELS,
    PASSED_OVER,
    TABLE_WORDS,
    TAKES_ONE_MODEL,
    TARGET_WORDS,
)
from polars_prcurve.core.binding.bound_table import say_of_reference
from polars_prcurve.core.confidence.intervals import Intervals
from polars_prcurve.core.ground.atomic_file import is_stream
from polars_prcurve.core.ground.errors import PrcError, list_names, suggest_names
from polars_prcurve.core.inputs.column_reader import list_columns
from polars_prcurve.core.inputs.table_reader import DroppedRows, count_dropped_rows
from polars_prcurve.core.prevalence.fields import field
from polars_prcurve.core.prevalence.sampled_eta import eta_from_sample
from polars_prcurve.doors.cli import options as kinds
from polars_prcurve.doors.cli import table_files
from polars_prcurve.doors.cli.options import Option, name_flag
from polars_prcurve.doors.cli.table_files import TableFile
from polars_prcurve.doors.namespace import prc
from polars_prcurve.doors.namespace.frame import LazyFramePrc


class FilePrc(LazyFramePrc):
    """The methods of a table in files: lazy, except where one must collect half way."""

    _may_collect = True

    def describe_dropped_rows(
        self, method: str, given: Mapping[str, Any], level: float | None
    ) -> Iterator[str]:
        """Yield how many rows a method leaves out because a value is missing, if that was asked for."""
        if given.get("missing") != "drop":
            return
        is_weighing, scores = method == "reweight", given.get("score")
        unused = "score" if is_weighing else ""  # weights need no scores, unless they are named
        words = {name: given[name] for name in TABLE_WORDS if name in given and name != unused}
        # A comparison has left out the rows by then; a ranking leaves out the same ones, and later.
        counted = "ranking" if method == "compare" and isinstance(scores, list) else method
        question = self._ask(counted, words, eta=given.get("eta"), confidence=level)
        columns = {**question.columns, **({"score": scores} if is_weighing else {})}
        # Of rows without labels, or not yet with all, a missing label drops none.
        some_labels = ("estimate_prevalence", "sampling_plan", "weigh_sample")
        unlabelled = method in some_labels or columns["label"] is None
        how: dict[str, Any] = {"unlabelled": unlabelled, "weighing": is_weighing}
        dropped = count_dropped_rows(question.frame, id=columns.get("example"), **how, **columns)
        if isinstance(scores, list) and not is_weighing:
            n = len(scores)  # a row of the wide table is left out for all models, if they are compared
            wide = DroppedRows(dropped.n // n, dropped.total // n)
            of_pairs = dropped._replace(what="pairs of row and model")
            dropped = wide if method in COMPARES_MODELS else of_pairs
        if dropped.n:
            yield dropped.sentence
        reference = given.get("reference")
        if reference is not None and not isinstance(reference, float):
            frame, columns = say_of_reference(reference, given)
            known = frame.collect_schema()
            columns["by"] = [name for name in list_columns("by=", columns.get("by")) if name in known]
            if (dropped := count_dropped_rows(frame, **columns)).n:
                yield f"in --reference, {dropped.sentence}"


_NUMBERS = ("score", "label", "weight", "counts", "rates", "sizes", "cells")
"""Options that name columns of numbers; a label is none with --pos-label."""
_PLAN_ENDS = ("score_low", "score_high")


class AskedMethod(NamedTuple):
    """A table in files, and the arguments of the method that a command asks."""

    table: FilePrc
    method: str
    arguments: dict[str, Any]
    groups: list[str]  # the group columns of the result, each once, without the models that are compared
    level: float | None  # the level of intervals, or None if there are none


def read_command(args: argparse.Namespace) -> AskedMethod:
    """Return the table and the arguments of a command; raise for what needs no query to be told."""
    options: dict[str, Option] = args.options
    given = {
        name: option.kind.read(name_flag(name), words)
        for name, option in options.items()
        if name != "output" and (words := vars(args)[name]) is not None
    }
    if (path := given.pop("table", None)) is not None:
        given = {**read_table_words(path, options), **given}
    # Columns of text files without rows are numbers.
    named = {"score": "score", "label": "label", **given}
    if "pos_label" in given:
        del named["label"]
    numbers = [str(column) for name in _NUMBERS for column in _list_values(named.get(name))]
    table = table_files.scan_files(args.input, numbers)
    method = args.command.method
    parameters = inspect.signature(getattr(FilePrc, method)).parameters
    default = parameters["confidence"].default if "confidence" in parameters else None
    sure = given.get("confidence", default)
    level = sure.level if isinstance(sure, Intervals) else sure
    groups = _list_values(given.get("by"))
    if method not in COMPARES_MODELS:
        is_wide = isinstance(given.get("score"), list)
        groups += ["model"] if is_wide else _list_values(given.get("model"))
    groups = list(dict.fromkeys(groups)) + _list_values(given.get("time"))
    if budgets := _list_values(given.get("alerts")):
        given |= _read_budgets(budgets, given.get("per"))
    _read_files(options, given, [*groups, given.get("model", "model")], table.collect_schema(), level)
    if method in TAKES_ONE_MODEL:  # all targets hold together, so each is one number
        lists = {name: given[name] for name in TARGET_WORDS if isinstance(given.get(name), list)}
        given |= {name: values[0] for name, values in lists.items() if len(values) == 1}
    if given.pop("unlabelled", False):
        if "label" in given:
            raise PrcError("--unlabelled counts rows; leave out --label")
        given["label"] = None
    return AskedMethod(FilePrc(table), method, given, groups, level)


def read_table_words(path: str, options: Mapping[str, Option]) -> dict[str, Any]:
    """Return what a TOML file says of the columns, as the options of a command."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        raise PrcError("--table needs Python 3.11 or newer; say the words as options")
    try:
        with open(path, "rb") as file:
            said = tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise PrcError(f"--table {path!r} is no TOML file: {error}") from None
    found: dict[str, Any] = {}
    for name, value in said.items():
        if name not in TABLE_WORDS:
            raise PrcError(f"--table {path!r} has a word {name!r}; {suggest_names(name, TABLE_WORDS)}")
        if name in options:
            listed = [str(each) for each in value] if isinstance(value, list) else str(value)
            found[name] = options[name].kind.read(name_flag(name), listed)
        elif name not in PASSED_OVER:  # words that cannot change an answer are passed over
            raise PrcError(f"--table {path!r} has the word {name!r}, which this command does not take")
    return found


def check_output_path(args: argparse.Namespace) -> None:
    """Raise if an output would be written over one of the inputs, or over another output."""
    given = vars(args)
    read = [*list_inputs(args), *filter(None, [given.get("table")])]
    names = (name for path in read for name in (path, *glob.glob(path, recursive=True)))
    taken = dict.fromkeys(map(os.path.realpath, filter(os.path.isfile, names)), "an input")
    for name in _OUTPUTS:
        if path := given.get(name):
            target = os.path.realpath(path)
            if target in taken:
                raise PrcError(f"--{name} {path!r} is also {taken[target]}; choose another file")
            if not is_stream(Path(target)):
                taken[target] = f"--{name}"


_OUTPUTS = ("output", "report", "page", "card")
"""The options that name a file to write."""


def list_inputs(args: argparse.Namespace) -> list[str]:
    """Return the files and patterns that a command reads."""
    found = [args.input] if "input" in args else []
    for name, option in args.options.items():
        named = option.kind.numbers or option.kind in (kinds.REFERENCE, kinds.REFERENCE_OR_RATE)
        if named and (words := vars(args)[name]):
            first = words if isinstance(words, str) else words[0]
            found += [first] if table_files.find_format(first) else []
    return found


def _list_values(value: Any) -> list[Any]:
    """Return the values of an option in a list, whether it took one, several or was not given."""
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def _read_budgets(budgets: Sequence[tuple[Fraction, Fraction]], per: float | None) -> dict[str, Any]:
    """Return budgets of alerts as numbers of alerts, and the events that they are among."""
    if len({of for _, of in budgets}) > 1:
        raise PrcError(
            "--alerts must be among the same number of events; run the command once for each number"
        )
    events = budgets[0][1] if per is None else Fraction(per)
    return {"alerts": [float(n * events / of) for n, of in budgets], "per": float(events)}


# Further files, and values of columns ------------------------------------------------------------


def _read_files(
    options: Mapping[str, Option],
    given: dict[str, Any],
    groups: Sequence[str],
    schema: pl.Schema,
    level: float | None,
) -> None:
    """Replace further files by their tables, fitted to the input, and texts by values of columns."""
    named = [*groups, *_list_values(given.get("parts"))]
    dtypes_of: dict[str, pl.DataType] = {name: schema[name] for name in named if name in schema}
    if isinstance(given.get("score"), list):
        dtypes_of["model"] = pl.String()  # the names of score columns
    dtypes = {"score": schema, "label": schema}
    if "reference" in given and not isinstance(given["reference"], float):
        frame, words = _scan_other("--reference", given["reference"], dtypes_of)
        dtypes["label"] = pl.Schema({**schema, **frame.collect_schema()})  # the table may have no labels
        given["reference"] = prc(frame, **words)
    if "other" in given:
        frame, words = _scan_other("--other", given["other"], dtypes_of)
        by = [name for name in groups if name != given.get("model", "model")]
        given["other"] = prc(frame, **{"cells": ("tp", "fp", "fn", "tn"), "by": by or None, **words})
    for name, option in options.items():
        if name in given and option.kind.column:
            column = (_list_values(given.get(option.kind.column)) or [option.kind.column])[0]
            dtype = dtypes[option.kind.column].get(column)
            given[name] = _read_column_values(name_flag(name), given[name], dtypes_of, dtype)
    if isinstance(below := given.get("below"), TableFile):
        given["below"] = _scan_groups(below, dtypes_of).collect()
    parts, file = given.pop("parts", None), given.get("eta")
    if isinstance(file, TableFile):
        frame = _scan_groups(file, dtypes_of)
        known = frame.collect_schema()
        if parts is None and "eta" not in known and {"k", "n"} <= set(known):
            frame = eta_from_sample(frame, confidence=0.95 if level is None else level)
        given["eta"] = frame if parts is None else field(frame, parts)
    elif parts is not None:
        raise PrcError("--parts is for --eta as a file, with a row per part, its eta and its share")


def _scan_other(
    option: str, value: Any, groups: Mapping[str, pl.DataType]
) -> tuple[pl.LazyFrame, dict[str, Any]]:
    """Return another table, and what the words after its file say of its columns."""
    file, *words = _list_values(value)
    if [isinstance(value, TableFile) for value in (file, *words)] != [True, *[False] * len(words)]:
        raise PrcError(f"{option} takes one file, and then what its columns hold")
    return _scan_groups(file, groups), dict(words)


def _scan_groups(
    file: TableFile, groups: Mapping[str, pl.DataType], texts: Sequence[str] = ()
) -> pl.LazyFrame:
    """Return the table of a further file with group columns of the dtypes that the input has."""
    # 7 in a CSV may be text in the input, and so may 007.
    text_dtypes = (pl.String, pl.Enum, pl.Categorical)
    frame = file.scan([*texts, *(name for name, dtype in groups.items() if dtype in text_dtypes)])
    known = frame.collect_schema()
    return frame.with_columns(
        pl.col(name).cast(dtype) for name, dtype in groups.items() if name in known
    )


def _read_column_values(
    flag: str, given: Any, groups: Mapping[str, pl.DataType], dtype: pl.DataType | None
) -> Any:
    """Return thresholds, strata, or a label, as values of their column; without one as they are."""
    if not isinstance(given, TableFile):
        read = kinds.parse_value if flag == "--pos-label" else kinds.parse_threshold
        found = _list_values(given)
        found = found if dtype is None else [read(flag, word, dtype) for word in found]
        return found if isinstance(given, list) else found[0]
    is_plan = flag == "--plan"
    scores = _PLAN_ENDS if is_plan else ("threshold",)
    frame = _scan_groups(given, {} if is_plan else groups, scores).collect()
    if not is_plan and "threshold" not in frame.columns:
        raise PrcError(
            f"{flag} takes a file with a column 'threshold'; {given.path!r} has the columns "
            f"{list_names(frame.columns)}"
        )
    if dtype is None or not given.is_text:
        return frame
    # In a text file a number is the score that is printed so.
    return frame.with_columns(
        kinds.parse_threshold_column(flag, frame[name], dtype)
        for name in scores
        if name in frame.columns
    )
