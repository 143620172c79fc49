"""From the options of a command to a table and the arguments of a method on it."""

from __future__ import annotations

import argparse
import glob
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from polars_prcurve.core.binding.question import Question
from polars_prcurve.core.confidence.rate_intervals import check_confidence
from polars_prcurve.core.ground.atomic_file import is_stream
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.prevalence.estimated_eta import eta_from_sample
from polars_prcurve.core.prevalence.eta_by_parts_or_classes import field
from polars_prcurve.doors.cli.options import TableFile, list_kinds, list_parameters
from polars_prcurve.doors.cli.printing import ANSWERS_OF_METHOD, print_note
from polars_prcurve.doors.cli.table_files import scan_files
from polars_prcurve.doors.namespace import prc
from polars_prcurve.doors.namespace.frame import LazyFramePrc
from polars_prcurve.doors.retrieval_runs import from_trec
from polars_prcurve.view.report.result_text import Layout
from polars_prcurve.view.words.number_words import say_dropped_rows


class FilePrc(LazyFramePrc):
    """The methods of a table in files: lazy, except where one must collect half way."""

    _may_collect = True

    def _ask(self, method_name: str, arguments: Mapping[str, Any], **method_arguments: Any) -> Question:
        """Return the question of a call, and print how many rows it leaves out, if any."""
        question = super()._ask(method_name, arguments, **method_arguments)
        if method_name != "reweight":  # which returns the rows themselves
            # Of rows without labels, or not yet with all, a missing label drops none.
            is_part_labelled = method_name in ("estimate_prevalence", "sampling_plan")
            has_no_labels = is_part_labelled or question.columns.label is None
            if dropped_rows := question.count_rows_left_out(has_no_labels=has_no_labels):
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
    words_by_table: dict[str, Any] = {"reference": {}, "other": point_words}
    kinds = {name: list_kinds(args.method)[name] for name in arguments}
    for name, file in arguments.items():
        if isinstance(file, TableFile):
            rows = _scan_fitted(file.path, dtypes, _SCORE_COLUMNS if kinds[name].is_score else ())
            schema = {**rows.collect_schema(), **schema}  # INPUT may have no labels
            is_bound = name in words_by_table
            arguments[name] = prc(rows, **{**words_by_table[name], **file.words}) if is_bound else rows
            if kinds[name].is_score:  # texts are compared exactly, as numbers of a DataFrame are
                arguments[name] = rows.collect()
    if "pos_label" in arguments and (label := words.get("label", "label")) in schema:
        arguments["pos_label"] = _read_label(arguments["pos_label"], schema[label])
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


def check_output_paths(options: Mapping[str, Any], tables: Sequence[str]) -> None:
    """Raise if an output would be written over one of the inputs, or over another output."""
    patterns = [*tables, *as_list(options.get("qrels"))]
    input_paths = (name for path in patterns for name in (path, *glob.glob(path, recursive=True)))
    use_by_path = dict.fromkeys(map(os.path.realpath, filter(os.path.isfile, input_paths)), "an input")
    for name in ("output", "report", "page"):
        if path := options.get(name):
            target = os.path.realpath(path)
            if target in use_by_path:
                raise PrcError(
                    f"choose another file for --{name}: {path!r} is also {use_by_path[target]}"
                )
            if not is_stream(Path(target)):
                use_by_path[target] = f"--{name}"


_TEXT_DTYPES = (pl.String, pl.Enum, pl.Categorical)  # which read 007 as it is written
_SCORE_COLUMNS = ("threshold", "score_low", "score_high")  # of files of thresholds, and of a plan


def _scan_fitted(path: str, dtypes: Mapping[str, Any], text_columns: Sequence[str]) -> pl.LazyFrame:
    """Return the table of a further file with group columns of the dtypes that the input has."""
    dtypes = {**dtypes, **dict.fromkeys(text_columns, pl.String())}
    table = scan_files(path, [name for name, dtype in dtypes.items() if dtype in _TEXT_DTYPES])
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


def _read_label(text: str, dtype: Any) -> Any:
    """Return a label as a value of its column; of Booleans 1 and 0, as methods take them."""
    is_bool = dtype == pl.Boolean
    text = {"true": "1", "false": "0"}.get(text.lower(), text) if is_bool else text
    try:
        return pl.Series([text]).cast(pl.Int8 if is_bool else dtype).item()
    except pl.exceptions.PolarsError:
        raise PrcError(f"pos_label= takes values of dtype {dtype}; got {text!r}") from None
