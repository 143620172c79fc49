"""From a command line to a table and the arguments of a method on it."""

from __future__ import annotations

import argparse
import inspect
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.cli import table_files
from polars_prcurve.cli.file_methods import FilePrc
from polars_prcurve.cli.messages import name_options
from polars_prcurve.cli.notes import print_note
from polars_prcurve.cli.option_values import Budget, count_alerts, parse_threshold_column
from polars_prcurve.cli.options import TARGETS, Option
from polars_prcurve.cli.table_files import TableFile
from polars_prcurve.column_names import EXAMPLE, MODEL, SCORE
from polars_prcurve.errors import PrcError, list_names, suggest_names
from polars_prcurve.inputs.table_arguments import DroppedRows, count_dropped_rows
from polars_prcurve.prevalence.uncertain_eta import eta_from_sample

_NUMBERS = ("score", "scores", "label", "weight", "counts", "rates", "sizes", "cells")
"""Options that name columns of numbers; a label is none with --pos-label."""
FILE_OPTIONS = ("eta", "reference", "threshold", "start")
"""Options that may name a file of a table."""


class AskedMethod(NamedTuple):
    """A table in files, and the arguments of the method that a command asks."""

    table: pl.LazyFrame
    arguments: dict[str, Any]
    level: float | None
    """The level of intervals, or None if there are none."""
    is_wide: bool = False
    """Whether the table was made from one with a column of scores per model."""
    is_unlabelled: bool = False
    is_weighing: bool = False
    """Whether the method makes weights, for which a table needs no scores."""


def read_command(args: argparse.Namespace) -> AskedMethod:
    """Return the table and the arguments of a command; raise for what needs no query to be told."""
    options: dict[str, Option] = args.options
    words = {o.name: vars(args)[o.name] for o in options.values() if vars(args)[o.name] is not None}
    parameters = inspect.signature(args.ask).parameters
    defaults = {name: p.default for name, p in parameters.items() if p.default not in (p.empty, None)}
    _check_effects(args, {**defaults, **words}, words)
    given = {
        name: option.read_value(words[name])
        for option in options.values()
        if (name := option.name) in words and name != "output"
    }
    table = _scan_table(args.input, given)
    table = _make_long(table, given, parameters)
    schema = table.collect_schema()
    if (model := given.get("model")) and model not in schema:  # else it would be called --by
        raise PrcError(
            f"--model names the column {model!r}, which is not in the table; "
            f"{suggest_names(model, schema)}"
        )
    if "by" in parameters:
        _read_groups(given, takes_model="model" in parameters)
    level = given.get("confidence", defaults.get("confidence"))
    _read_budgets(given)
    _read_frames(options, given, schema, level)
    _read_column_values(options, given, schema)
    if given.pop("unlabelled", False):
        given["label"] = None
    # Not yet, in part: a missing label is no reason to drop a row then.
    is_unlabelled = bool({"reference", "budget"} & set(parameters))
    is_unlabelled |= "label" in given and given["label"] is None
    is_wide = "scores" in words and "scores" not in given
    return AskedMethod(table, given, level, is_wide, is_unlabelled, args.ask is FilePrc.reweight)


def _check_effects(args: argparse.Namespace, given: Mapping[str, Any], words: Mapping[str, Any]) -> None:
    """Raise if an option is given that has no effect beside the others."""
    flags = name_options(args.parser, {})
    for option in args.options.values():
        if option.name in words and option.find_need and (needed := option.find_need(given)):
            raise PrcError(f"{flags[option.name]} needs {needed}")


def check_output_path(args: argparse.Namespace) -> None:
    """Raise if the output would be written over one of the inputs."""
    given = vars(args)
    inputs = [args.input, *(word for name in FILE_OPTIONS for word in list_words(given.get(name)))]
    if args.output and os.path.realpath(args.output) in table_files.find_files(inputs):
        raise PrcError(f"--output {args.output!r} is also an input; choose another file")


def list_words(words: Any) -> list[str]:
    """Return the words of an option in a list, whether it takes one, several or was not given."""
    return [words] if isinstance(words, str) else words or []


def _scan_table(path: str, given: Mapping[str, Any]) -> pl.LazyFrame:
    """Return the table in the input files; columns of text files without rows are numbers."""
    named = {"score": "score", "label": "label", **given}
    if "pos_label" in given:
        del named["label"]
    numbers: list[str] = []
    for name in _NUMBERS:
        columns = named.get(name) or []
        numbers += [columns] if isinstance(columns, str) else map(str, columns)
    return table_files.scan_files(path, numbers)


def _make_long(
    table: pl.LazyFrame, given: dict[str, Any], parameters: Mapping[str, inspect.Parameter]
) -> pl.LazyFrame:
    """Return a table with a row per example and model, if --scores names a column for each model.

    The columns `model` and `score` are new. Models of one table scored the same examples, so that a
    method that compares models is told so.
    """
    scores, is_paired = given.get("scores"), "paired" not in given
    if scores is None or ("scores" in parameters and is_paired):
        return table
    listed = [value if isinstance(value, list) else [value] for value in given.values()]
    used = {name for names in listed for name in names if isinstance(name, str)}
    schema = table.collect_schema()
    taken = [n for n in ("model", "score") if n in schema and n not in scores and n not in used]
    long = FilePrc(table.drop(taken)).unpivot_scores(given.pop("scores"), row=EXAMPLE)
    given["model"] = "model"
    if "id" in parameters and "counts" not in given and is_paired:
        # A ranking has no use for it without intervals, and at a target none of pairs in clusters.
        takes_target = not (TARGETS & given.keys() and "cluster" in given)
        has_pairs = "confidence" in given and takes_target
        given |= {"id": EXAMPLE} if has_pairs or "metric" not in parameters else {}
    return long


def _read_groups(given: dict[str, Any], *, takes_model: bool) -> None:
    """Name each group column once in `by`; the model is the last one, unless the method takes it."""
    model = given.get("model")
    groups = dict.fromkeys(given.get("by", []))
    if model is not None and takes_model:
        groups.pop(model, None)
    elif model is not None:
        groups[given.pop("model")] = None
    given["by"] = list(groups)


def _read_budgets(given: dict[str, Any]) -> None:
    """Replace budgets of alerts by numbers of alerts, and the events that they are among."""
    if "alerts" in given:
        budgets = given["alerts"]
        is_single = isinstance(budgets, Budget)
        alerts, given["per"] = count_alerts([budgets] if is_single else budgets, given.get("per"))
        given["alerts"] = alerts[0] if is_single else alerts


def _read_frames(
    options: Mapping[str, Option], given: dict[str, Any], schema: pl.Schema, level: float | None
) -> None:
    """Replace further files by their tables, fitted to the input."""
    names = [*given.get("by", []), *given.get("within", []), *filter(None, [given.get("model")])]
    groups = {name: schema[name] for name in names if name in schema}
    if "scores" in given and "model" not in groups:
        groups["model"] = pl.String()  # the names of score columns that are compared
    for option in options.values():
        file = given.get(option.name)
        if not isinstance(file, TableFile):
            continue
        if option.parse_by_dtype is not None:
            dtype = _find_dtype(option, given, schema)
            given[option.name] = _read_thresholds(option, file, groups, dtype)
        else:
            frame = _scan_groups(file, groups)
            known = frame.collect_schema()
            if option.name == "eta" and "eta" not in known and {"k", "n"} <= set(known):
                if "confidence" not in {o.name for o in options.values()}:
                    raise PrcError(
                        "a weight cannot carry the error of k positives among n examples: pass this "
                        "file with --within to the command curve, points or summary, or one with eta"
                    )
                frame = eta_from_sample(frame, confidence=0.95 if level is None else level)
            given[option.name] = frame


def _scan_groups(
    file: TableFile, groups: Mapping[str, pl.DataType], texts: Sequence[str] = ()
) -> pl.LazyFrame:
    """Return the table of a further file with group columns of the dtypes that the input has.

    7 in a CSV may be text in the input, and so may 007.
    """
    text_dtypes = (pl.String, pl.Enum, pl.Categorical)
    frame = file.scan([*texts, *(name for name, dtype in groups.items() if dtype in text_dtypes)])
    known = frame.collect_schema()
    return frame.with_columns(
        pl.col(name).cast(dtype) for name, dtype in groups.items() if name in known
    )


def _read_thresholds(
    option: Option, file: TableFile, groups: Mapping[str, pl.DataType], dtype: pl.DataType | None
) -> pl.DataFrame:
    """Return the thresholds of each group; in a text file a number is the score that is printed so."""
    frame = _scan_groups(file, groups, ["threshold"]).collect()
    if "threshold" not in frame.columns:
        raise PrcError(
            f"{option.flag} takes a file with a column 'threshold'; {file.path!r} has the columns "
            f"{list_names(frame.columns)}"
        )
    if dtype is None or not file.is_text:
        return frame
    return frame.with_columns(parse_threshold_column(option.flag, frame["threshold"], dtype))


def _find_dtype(option: Option, given: Mapping[str, Any], schema: pl.Schema) -> pl.DataType | None:
    """Return the dtype of the column whose values an option holds, or None if there is none."""
    if option.column == "label" and isinstance(given.get("reference"), pl.LazyFrame):
        schema = given["reference"].collect_schema()  # the table has no labels
    if option.column == "score" and "scores" in given:
        scores = pl.LazyFrame(schema={n: schema[n] for n in given["scores"] if n in schema})
        return scores.unpivot().collect_schema().get("value")
    return schema.get(given.get(option.column, option.column))


def _read_column_values(options: Mapping[str, Option], given: dict[str, Any], schema: pl.Schema) -> None:
    """Read values of columns, such as thresholds, as the dtype of the column tells."""
    for option in options.values():
        words = given.get(option.name)
        if option.parse_by_dtype is None or words is None or isinstance(words, pl.DataFrame):
            continue
        dtype = _find_dtype(option, given, schema)
        if dtype is not None:
            values = [option.parse_by_dtype(option.flag, word, dtype) for word in list_words(words)]
            given[option.name] = values if option.is_list else values[0]


# Rows left out -----------------------------------------------------------------------------------


def report_dropped_rows(asked: AskedMethod) -> None:
    """Print how many rows are left out because a value is missing, if that was asked for."""
    given = asked.arguments
    if given.get("missing") != "drop":
        return
    dropped = _count_dropped_examples(asked) if "scores" in given else _count_dropped_rows(asked)
    if dropped.n:
        print_note(dropped.sentence)
    if (reference := given.get("reference")) is not None:
        names = reference.collect_schema()
        columns: dict[str, Any] = {n: given[n] for n in ("score", "label", "pos_label") if n in given}
        columns |= {
            "by": [n for n in given["by"] if n in names],
            "counts": given.get("reference_counts"),
        }
        if (dropped := count_dropped_rows(reference, **columns)).n:
            print_note(f"in --reference, {dropped.sentence}")


def _count_dropped_rows(asked: AskedMethod) -> DroppedRows:
    dropped = count_dropped_rows(
        asked.table,
        unlabelled=asked.is_unlabelled,
        weighing=asked.is_weighing,
        **asked.arguments,
    )
    return dropped._replace(what="pairs of row and model") if asked.is_wide else dropped


def _count_dropped_examples(asked: AskedMethod) -> DroppedRows:
    """Return how many rows of a wide table are left out for all models."""
    scores = asked.arguments["scores"]
    long = FilePrc(asked.table).unpivot_scores(scores, name=MODEL, score=SCORE, row=EXAMPLE)
    columns = {**asked.arguments, "score": SCORE, "model": MODEL, "id": EXAMPLE}
    dropped = count_dropped_rows(long, **columns)
    return DroppedRows(dropped.n // len(scores), dropped.total // len(scores))
