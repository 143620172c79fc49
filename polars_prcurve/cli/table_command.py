"""Commands that make a table: the method is asked, and its rows go to a file, a pipe or a terminal."""

from __future__ import annotations

import argparse
import inspect
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import polars as pl

from polars_prcurve.cli import table_files
from polars_prcurve.cli.file_methods import FilePrc
from polars_prcurve.cli.notes import (
    describe_needed_sizes,
    describe_refuted_estimates,
    describe_unmet_promises,
    print_note,
    print_progress,
)
from polars_prcurve.cli.read_command import (
    AskedMethod,
    check_output_path,
    read_command,
    report_dropped_rows,
)
from polars_prcurve.cli.terminal_table import Layout, collect_shown_rows, print_rows
from polars_prcurve.inputs.table_arguments import gives_squares
from polars_prcurve.progress import show_seconds
from polars_prcurve.query_checks import run_query
from polars_prcurve.visible_text import make_visible, shorten_name


def write_table(args: argparse.Namespace) -> None:
    """Run a command that makes a table, and write its rows."""
    check_output_path(args)
    started, write, shown = time.monotonic(), _choose_output(args.output), None
    with show_work(args):
        asked = read_command(args)
        report_dropped_rows(asked)
        query = _ask_method(args, asked)
        if write is None:
            shown = collect_shown_rows(query)
        else:
            write(query)
    if shown is not None:
        print_rows(shown, _build_layout(args, asked))
    elif args.output not in (None, table_files.STDIO) and sys.stderr.isatty():
        rows, seconds = _count_rows(table_files.scan_files(args.output)), time.monotonic() - started
        print_progress(f"wrote {rows} rows to {args.output} in {seconds:.1f} s")


def _build_layout(args: argparse.Namespace, asked: AskedMethod) -> Layout:
    """Return how a terminal shows the table of a command."""
    given = asked.arguments
    weighted = "within" in given or gives_squares(given.get("weight"), given.get("counts"))
    at_any_eta = args.ask is FilePrc.sample_size and "eta" not in given
    above = "at any prevalence (at one, --eta, fewer will do)" if at_any_eta else ""
    return Layout(given.get("by", []), args.columns, asked.level, weighted, above)


def _ask_method(args: argparse.Namespace, asked: AskedMethod) -> pl.LazyFrame:
    """Return the rows of the method, and print notes on those that are not what was asked for."""
    table, given = args.ask(FilePrc(asked.table), **asked.arguments), asked.arguments
    by, is_size = given.get("by", []), args.ask is FilePrc.sample_size
    if "guarantee" in given or is_size:  # these rows are few, and read twice
        table = run_query(table.lazy())
    notes: list[str] = []
    if "guarantee" in given:
        notes += describe_unmet_promises(table, by)
    if is_size:
        delta = given.get("delta", inspect.signature(args.ask).parameters["delta"].default)
        notes += describe_needed_sizes(table, None if "relative" in given else delta)
    if isinstance(table, pl.DataFrame) and "shift_p_value" in table.columns:
        notes += describe_refuted_estimates(table, by)
    for sentence in notes:
        print_note(sentence)
    rows: pl.LazyFrame = table.lazy()
    return rows


def _choose_output(path: str | None) -> Callable[[pl.LazyFrame], None] | None:
    """Return the function that writes rows to a path, or None for a table on a terminal.

    A path that cannot be written raises at once.
    """
    if path is None and sys.stdout.isatty():
        return None
    if path is None or path == table_files.STDIO:
        return table_files.write_csv
    return table_files.build_writer(path)


def show_work(args: argparse.Namespace) -> AbstractContextManager[None]:
    """Show for how long a command runs, unless its rows go to the same terminal."""
    if args.output == table_files.STDIO and sys.stdout.isatty():
        return nullcontext()
    name = shorten_name(make_visible(args.input), 40)
    return show_seconds(f"{args.parser.prog.rpartition(' ')[2]} of {name}")


def _count_rows(table: pl.LazyFrame) -> int:
    return int(table.select(pl.len()).collect().item())
