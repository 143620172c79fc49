"""The commands: the method that each calls, and what it writes: rows, a table for people, documents."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from itertools import chain
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import polars as pl

from polars_prcurve.core.binding.shared_arguments import TABLE_WORDS, TARGET_WORDS
from polars_prcurve.core.ground.errors import PrcError, suggest_names
from polars_prcurve.core.ground.message_text import make_visible, shorten_name
from polars_prcurve.core.ground.progress import show_seconds
from polars_prcurve.core.ground.terminal_text import fill_lines
from polars_prcurve.core.ground.value_checks import run_query
from polars_prcurve.core.judging.status_names import STATUSES
from polars_prcurve.core.prevalence.estimated_eta import describe_refuted_estimates
from polars_prcurve.doors.cli import table_files
from polars_prcurve.doors.cli.method_call import MethodCall, as_list, read_command
from polars_prcurve.doors.cli.parser import Command, build_parser
from polars_prcurve.doors.cli.terminal_table import (
    Layout,
    collect_shown_rows,
    print_lines,
    print_note,
    print_progress,
    print_rows,
)

if TYPE_CHECKING:
    from polars_prcurve.view.report.decision_result import Decision


_MOST_SENTENCES = 5  # rows without a threshold, at most, that have a sentence each


def describe_unmet_promises(points: pl.DataFrame, by: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for the first rows of operating points that have no threshold, and a count."""
    unmet_rows = points.filter(pl.col("threshold").is_null())
    unmet_rows = unmet_rows.unique([*by, "eta", "criterion", "target"], maintain_order=True)
    for row in unmet_rows.head(_MOST_SENTENCES).to_dicts():
        place = "".join(f"{name} = {row[name]}, " for name in by) + f"eta {row['eta']:g}"
        target = row["criterion"] + ("" if row["target"] is None else f" {row['target']:g}")
        sizes = {"positives": row["n_pos_needed"], "negatives": row["n_neg_needed"]}
        needed = " and ".join(f"{size:,.0f} {name}" for name, size in sizes.items() if size is not None)
        remedy = f"; even perfect scores need {needed}" if needed else ""
        remedy = "; no test set could prove it" if math.inf in sizes.values() else remedy
        yield f"{place}: no threshold keeps {target} with a guarantee of {row['guarantee']:g}{remedy}"
    if unmet_rows.height > _MOST_SENTENCES:
        yield f"{unmet_rows.height - _MOST_SENTENCES} more rows have no threshold either"


# What commands write -----------------------------------------------------------------------------


def write_table(args: argparse.Namespace) -> int:
    """Run a command that makes a table, and write its rows; return 1 if --fail-unless is not so."""
    write, shown_rows = _choose_output(args.output), None
    with _show_work(args) as call:
        if "columns" in args.command.parameters:
            call.arguments.setdefault("columns", "short" if write is None else "all")
        flags = as_list(call.arguments.pop("fail_unless", None))
        query = _call_method(call)
        query = run_query(query).lazy() if flags else query
        has_passed = not flags or _hold_all(query, flags)
        if write is None:
            shown_rows = collect_shown_rows(query)
        else:
            write(query)
    if shown_rows is not None:
        _show_rows(call, shown_rows, args.command.columns)
    elif args.output not in (None, table_files.STDIO):
        print_progress(f"wrote {args.output}")
    return 0 if has_passed else 1


def _hold_all(query: pl.LazyFrame, names: Sequence[str]) -> bool:
    """Return whether all of these columns are true in every row, and print in how many each is."""
    schema = query.collect_schema()
    for name in names:
        if schema.get(name) != pl.Boolean:
            raise PrcError(f"--fail-unless takes not_worse, with --margin, or significant; got {name}")
    flags = run_query(query.select(pl.col(names).fill_null(False)))
    for column in flags:
        print_note(f"{column.name} is true in {column.sum()} of {flags.height} rows")
    return all(column.all() for column in flags)


def _call_method(call: MethodCall) -> pl.LazyFrame:
    """Return the rows of the method, and print notes on those that are not what was requested."""
    result = getattr(call.table, call.method)(**call.arguments)
    sentences: Iterator[str] = iter(())
    if "guarantee" in call.arguments:  # these rows are few, and read twice
        result = run_query(result.lazy())
        sentences = describe_unmet_promises(result, call.groups)
    if isinstance(result, pl.DataFrame) and "shift_p_value" in result.columns:
        sentences = chain(sentences, describe_refuted_estimates(result, call.groups))
    for sentence in sentences:
        print_note(sentence)
    joined_lists = pl.selectors.by_dtype(pl.List).cast(pl.List(pl.String)).list.join(",")
    rows: pl.LazyFrame = result.lazy().with_columns(joined_lists)  # a list of models is one word
    return rows


_ARGUMENTS_WITH_TESTS = {"confidence", "coarse", "rates", "cells"}
"""Arguments with which a table of leads has a test or limits, or rests on points that have no test."""


def _show_rows(call: MethodCall, rows: tuple[pl.DataFrame, int], answers: tuple[str, ...]) -> None:
    """Print a table on a terminal, below the verdict that answers the same question."""
    arguments, width = call.arguments, get_terminal_size().columns
    if sentence := _find_verdict(call):
        print_lines([*fill_lines(f"{sentence}.", width), ""])
    if arguments.get("solve_for") == "eta":
        answers = ("eta", *answers)
    print_rows(*rows, Layout(call.groups, answers, call.level))
    if call.method in ("ranking", "crossings") and not _ARGUMENTS_WITH_TESTS & arguments.keys():
        command = "" if call.method == "ranking" else "ranking "
        hint = f"No lead was tested; {command}--confidence 95% shows which models may be best."
        print_lines(fill_lines(hint, width))


_OF_MODELS = ("compare", "ranking")  # methods whose question about models `decide` answers, too


def _find_verdict(call: MethodCall) -> str:
    """Return the sentence of the decision on the question of a command; empty if there is none."""
    shared_words = {*TABLE_WORDS, *TARGET_WORDS, "eta", "guarantee"}
    words = {name: value for name, value in call.arguments.items() if name in shared_words}
    is_wide = isinstance(words.get("score"), list)
    names_models = call.method == "operating_points" and (is_wide or "model" in words)
    has_other_words = call.arguments.keys() - words.keys() - {"confidence", "columns"}
    if call.level is None or has_other_words or not (names_models or call.method in _OF_MODELS):
        return ""
    if not is_wide:
        words.setdefault("model", "model")
    try:
        return str(call.table.decide(**words, confidence=call.level).verdict.sentence)
    except PrcError:  # such as several values of a target
        return ""


def write_report(args: argparse.Namespace) -> None:
    """Write the report on a table in files."""
    with _show_work(args) as call:
        path = call.table.report(args.output, **call.arguments)
    print_progress(f"wrote {path}")


def write_decision(args: argparse.Namespace) -> int:
    """Print a decision, or write its rows, and documents; return 1 if it is none of --fail-unless."""
    from polars_prcurve.view.report.html_and_svg import check_page_path

    write = None if args.output is None else _choose_output(args.output)
    with _show_work(args) as call:
        statuses = as_list(call.arguments.pop("fail_unless", None))
        texts = {name: call.arguments.pop(name, None) for name in ("title", "date", "notes")}
        report_path, page_path = (call.arguments.pop(name, None) for name in ("report", "page"))
        for path in filter(None, (report_path, page_path)):
            check_page_path(path)
        decision = call.table.decide(**call.arguments)
        has_passed = not statuses or _passes(decision, statuses)
        paths = [] if report_path is None else [decision.report(report_path, **texts)]
        texts.pop("notes")
        paths += [] if page_path is None else [decision.page(page_path, **texts)]
    if write is not None:
        write(decision.table.lazy())
        print_note(decision.verdict.sentence)
    else:
        print_lines(decision.say(hint="; -o FILE writes every column").split("\n"))
    for path in paths:
        print_progress(f"wrote {path}")
    return 0 if has_passed else 1


def _passes(decision: Decision, statuses: Sequence[str]) -> bool:
    """Return whether a verdict has one of these statuses; `met` is that of the demand."""
    for status in statuses:
        if status not in STATUSES:
            names = suggest_names(status, STATUSES)
            raise PrcError(f"--fail-unless takes statuses, such as met or winner; {names}")
    if "met" in statuses and not decision.has_demand:
        raise PrcError(
            "pass a target, such as --precision, with --threshold (the one in use) or with "
            "--guarantee: --fail-unless met tests whether such a threshold meets its targets"
        )
    verdict = decision.verdict
    return verdict.status in {*statuses} - {"met"} or ("met" in statuses and verdict.met is True)


@contextmanager
def _show_work(args: argparse.Namespace) -> Iterator[MethodCall]:
    """Return the call of a command, and show its seconds, unless its rows go to the same terminal."""
    is_mixed = args.output == table_files.STDIO and sys.stdout.isatty()
    label = f"{args.command.name} of {shorten_name(make_visible(args.input), 40)}"
    with nullcontext() if is_mixed else show_seconds(label):
        call = read_command(args)
        for sentence in call.describe_dropped_rows():
            print_note(sentence)
        yield call


def _choose_output(path: str | None) -> Callable[[pl.LazyFrame], None] | None:
    """Return the function that writes rows to a path, or None for a table on a terminal."""
    if path is None and sys.stdout.isatty():
        return None
    if path is None or path == table_files.STDIO:
        return table_files.write_csv
    return table_files.build_writer(path)  # raises at once if it cannot be written


# The commands -----------------------------------------------------------------------------------

_DOCUMENT_OPTIONS = ("report", "page", "title", "date", "notes")  # documents, and texts in them
COMMANDS = [  # in the order of help, with the columns that a terminal shows first
    Command("decide", write_decision, own_options=("fail_unless", *_DOCUMENT_OPTIONS)),
    Command("curve", write_table, ("threshold", "value")),
    Command("summary", write_table, ("value", "doubt")),
    Command(
        "operating_points",
        write_table,
        ("threshold", "precision", "value", "recall", "alerts", "true_alerts", "missed"),
    ),
    Command("decision_curve", write_table, ("threshold_probability", "net_benefit", "treat_all")),
    Command(
        "compare",
        write_table,
        ("difference", "p_value", "p_adjusted", "significant", "not_worse", "doubt"),
        own_options=("fail_unless",),
    ),
    Command("ranking", write_table, ("rank", "value", "behind", "may_be_best", "doubt")),
    Command(
        "crossings", write_table, ("eta", "value", "fpr", "recall", "model", "dominates", "on_hull")
    ),
    Command("sample_size", write_table, ("n_pos_needed", "n_neg_needed", "threshold")),
    Command("sampling_plan", write_table, ("stratum", "n_next", "n", "n_labelled", "positive_share")),
    Command("estimate_prevalence", write_table, ("eta", "n", "shift_p_value", "converged")),
    Command("monitor", write_table, ("value", "overall", "reference", "evidence", "alarm", "since")),
    Command("reweight", write_table, ("stratum", "weight")),
    Command("counts", write_table, ("score", "n_pos", "n_neg", "n"), own_options=("unlabelled",)),
    Command("report", write_report, output="report.html"),
]


@cache
def get_parser(asked_name: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of all commands, with the options of the one that is called, or of all."""
    return build_parser(COMMANDS, asked_name)
