"""The command line: `polars-prcurve`, and `python -m polars_prcurve`.

    words -> arguments   see `commands` and `options`; an option that is not given is not passed
          -> a method    of `.prc`, on the scanned files: it sets defaults and refuses bad input
          -> rows        to a file, to standard output, or as a table on a terminal

An option is named after the argument that it becomes, so that errors of the library can be put in
terms of options: see `messages`.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import polars as pl

from polars_prcurve.cli.commands import build_parser
from polars_prcurve.cli.messages import name_options, translate_message
from polars_prcurve.cli.notes import PROGRAM, print_note
from polars_prcurve.cli.read_command import list_inputs
from polars_prcurve.cli.stop_signals import catch_stop_signals
from polars_prcurve.cli.table_files import name_bad_files
from polars_prcurve.errors import PrcError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0, or 2 after one line about an error, or 128 and the signal's number."""
    with catch_stop_signals() as stop:
        try:
            return _run_command(argv)
        except KeyboardInterrupt:
            print(f"{PROGRAM}: interrupted", file=sys.stderr)
            return stop.exit_status


def _run_command(argv: Sequence[str] | None) -> int:
    """Run one command; return its exit status."""
    args = argparse.Namespace()
    try:
        build_parser().parse_args(argv, args)
        with name_bad_files(list_inputs(args)), warnings.catch_warnings():
            warnings.showwarning = _print_warning
            args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, has read enough. Python would fail again as it flushes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (PrcError, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        # Polars prints the plan of the query below the first line.
        message = str(error) if isinstance(error, PrcError) else str(error).partition("\n")[0]
        message = translate_message(message, name_options(getattr(args, "parser", None)))
        print(f"{PROGRAM}: error: {PrcError(message)}", file=sys.stderr)  # short and visible
        return 2
    return 0


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print_note(f"warning: {message}")
