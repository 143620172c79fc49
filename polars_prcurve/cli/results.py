"""Write what commands make: a table to a file, a pipe or a terminal, or a report."""

from __future__ import annotations

import argparse
import inspect
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from shutil import get_terminal_size

import polars as pl

from polars_prcurve.atomic_file import resolve_target
from polars_prcurve.binding.shared_arguments import COMPARES_MODELS, TABLE_WORDS, TARGET_WORDS
from polars_prcurve.cli import command_errors, table_files
from polars_prcurve.cli.method_call import AskedMethod, check_output_path, read_command
from polars_prcurve.cli.terminal_table import Layout, collect_shown_rows, print_lines, print_rows
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.table_reader import gives_squares
from polars_prcurve.namespace import prc
from polars_prcurve.prevalence.field_and_class_mix import Field
from polars_prcurve.prevalence.uncertain_eta import describe_refuted_estimates
from polars_prcurve.progress import is_watched, show_seconds
from polars_prcurve.query_guards import run_query
from polars_prcurve.visible_text import fill_lines, make_visible, shorten_name


def write_table(args: argparse.Namespace) -> None:
    """Run a command that makes a table, and write its rows."""
    check_output_path(args)
    started, write, shown = time.monotonic(), _choose_output(args.output), None
    with _read_at_work(args) as asked:
        query = _ask_method(asked)
        if write is None:
            shown = collect_shown_rows(query)
        else:
            write(query)
    if shown is not None:
        if sentence := _find_verdict(asked):
            print_lines([*fill_lines(f"{sentence}.", get_terminal_size().columns), ""])
        given = asked.arguments
        weighted = isinstance(given.get("eta"), Field)
        weighted = weighted or gives_squares(given.get("weight"), given.get("counts"))
        at_any_eta = asked.method == "sample_size" and "eta" not in given
        above = "at any prevalence (at one, --eta, fewer will do)" if at_any_eta else ""
        print_rows(shown, Layout(asked.groups, args.command.columns, asked.level, weighted, above))
        if asked.method in _NAME_LEADS and not _TESTED_OTHERWISE & asked.arguments.keys():
            ask = "" if asked.method == "ranking" else "ranking "
            told = f"No lead was tested; {ask}--confidence 95% tells which models may be best."
            print_lines(fill_lines(told, get_terminal_size().columns))
    elif args.output not in (None, table_files.STDIO) and is_watched():
        n_rows = table_files.scan_files(args.output).select(pl.len()).collect().item()
        seconds = time.monotonic() - started
        command_errors.print_progress(f"wrote {n_rows} rows to {args.output} in {seconds:.1f} s")


_NAME_LEADS = ("ranking", "leaders", "crossings")
_TESTED_OTHERWISE = {"confidence", "coarse", "rates", "cells"}
_SAY_VERDICT = ("operating_points", "compare", "ranking")
_OTHER_QUESTIONS = {"metrics", "metric", "other", "match", "paired", "worst", "together", "coarse"}


def _find_verdict(asked: AskedMethod) -> str:
    """Return the sentence of the decision that asks what a command asks; empty if none does."""
    given = asked.arguments
    if asked.method not in _SAY_VERDICT or asked.level is None or _OTHER_QUESTIONS & given.keys():
        return ""
    words = {*TABLE_WORDS, *TARGET_WORDS, "eta", "guarantee"} & given.keys()
    asking = {name: given[name] for name in words}
    if not isinstance(given.get("score"), list) and "model" not in given:
        if asked.method not in COMPARES_MODELS:
            return ""  # of groups each row tells of its own
        asking["model"] = "model"
    try:
        verdict = asked.table.decide(**asking, confidence=asked.level).verdict
    except PrcError:  # such as several values of a target
        return ""
    return str(verdict.sentence)


def write_report(args: argparse.Namespace) -> None:
    """Write the report on a table in files."""
    check_output_path(args)
    with _read_at_work(args) as asked:
        path = asked.table.report(args.output, **asked.arguments)
    command_errors.print_progress(f"wrote {path}")


def write_decision(args: argparse.Namespace) -> None:
    """Print a decision, or write its rows, and the documents that are asked for."""
    from polars_prcurve.report.markup import check_page_path

    check_output_path(args)
    write = None if args.output is None else _choose_output(args.output)
    with _read_at_work(args) as asked:
        words = {name: asked.arguments.pop(name, None) for name in ("title", "date", "notes")}
        paths = {kind: asked.arguments.pop(kind, None) for kind in ("report", "page", "card")}
        for kind, path in paths.items():
            if path is not None:
                (resolve_target if kind == "card" else check_page_path)(path)
        decision = asked.table.decide(**asked.arguments)
        found = {
            "report": lambda path: decision.report(path, **words),
            "page": lambda path: decision.page(path, title=words["title"], date=words["date"]),
            "card": lambda path: decision.card(path, date=words["date"]),
        }
        written = [found[kind](path) for kind, path in paths.items() if path is not None]
    if write is not None:
        write(decision.table.lazy())
        command_errors.print_note(decision.verdict.sentence)
    else:
        print_lines(decision.say(hint="; -o FILE has all").split("\n"))
    for path in written:
        command_errors.print_progress(f"wrote {path}")


def write_demo(args: argparse.Namespace) -> None:
    """Write a report on two classifiers that are trained here and now."""
    from polars_prcurve.report.markup import check_page_path

    try:
        from polars_prcurve.cli.demo_digits import ETAS, NOTES, TITLE, build_digits_table
    except ImportError:
        raise PrcError('the demo needs scikit-learn: pip install "scikit-learn>=1.5"') from None
    check_page_path(args.output)
    with show_seconds("training two classifiers"):
        table = build_digits_table()
    with show_seconds("report"):
        path = prc(table).report(
            args.output, ETAS, model="model", id="scan", recall=0.8, title=TITLE, notes=NOTES
        )
    command_errors.print_progress(f"wrote {path}")


@contextmanager
def _read_at_work(args: argparse.Namespace) -> Iterator[AskedMethod]:
    """Return what a command asks, and show how long it runs, unless its rows go to the same terminal."""
    is_mixed = args.output == table_files.STDIO and sys.stdout.isatty()
    what = f"{args.parser.prog.rpartition(' ')[2]} of {shorten_name(make_visible(args.input), 40)}"
    with nullcontext() if is_mixed else show_seconds(what):
        asked = read_command(args)
        for sentence in asked.table.describe_dropped_rows(asked.method, asked.arguments, asked.level):
            command_errors.print_note(sentence)
        yield asked


def _choose_output(path: str | None) -> Callable[[pl.LazyFrame], None] | None:
    """Return the function that writes rows to a path, or None for a table on a terminal."""
    if path is None and sys.stdout.isatty():
        return None
    if path is None or path == table_files.STDIO:
        return table_files.write_csv
    return table_files.build_writer(path)  # raises at once if it cannot be written


def _ask_method(asked: AskedMethod) -> pl.LazyFrame:
    """Return the rows of the method, and print notes on those that are not what was asked for."""
    ask, given, by = getattr(asked.table, asked.method), asked.arguments, asked.groups
    table, is_size = ask(**given), asked.method == "sample_size"
    if "guarantee" in given or is_size:  # these rows are few, and read twice
        table = run_query(table.lazy())
    notes: list[str] = []
    if "guarantee" in given:
        notes += command_errors.describe_unmet_promises(table, by)
    if is_size:
        delta = given.get("delta", inspect.signature(ask).parameters["delta"].default)
        notes += command_errors.describe_needed_sizes(table, None if "relative" in given else delta)
    if isinstance(table, pl.DataFrame) and "shift_p_value" in table.columns:
        notes += describe_refuted_estimates(table, by)
    for sentence in notes:
        command_errors.print_note(sentence)
    rows: pl.LazyFrame = table.lazy()
    return rows
