"""The command line: `polars-prcurve`, and `python -m polars_prcurve`.

words -> arguments   see `options`; an option that is not given is not passed
      -> a method    of `.prc`, on the scanned files: it sets defaults and refuses bad input
      -> rows        to a file, to standard output, or as a table on a terminal
      -> errors      the sentences of the library
"""

from __future__ import annotations

import errno
import signal
import sys
import warnings
from collections.abc import Sequence

import polars as pl

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.progress import print_beside
from polars_prcurve.doors.cli.command_output import run_command
from polars_prcurve.doors.cli.method_call import check_output_paths, read_options
from polars_prcurve.doors.cli.options import TableFile, parse_words
from polars_prcurve.doors.cli.printing import ANSWERS_OF_METHOD, PROGRAM, print_note
from polars_prcurve.doors.cli.streams_and_signals import (
    drop_unwritten_text,
    end_at_signals,
    open_closed_streams,
)
from polars_prcurve.doors.cli.table_files import name_bad_files

_TEXT_ERRORS = (PrcError, UnicodeDecodeError)  # of the library, and of @FILE in another encoding


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0, 1 if --fail-unless fails, 2 after an error, or 130 if interrupted."""
    open_closed_streams()
    watcher = None if argv is not None else end_at_signals()  # other callers handle signals themselves
    try:
        status = _run_command(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:  # of Polars, too, which looks out for it during a query
        if watcher is not None:
            watcher.join()  # until it ends the program
        print_beside(f"{PROGRAM}: interrupted")
        status = 128 + signal.SIGINT
    drop_unwritten_text(sys.stdout)
    drop_unwritten_text(sys.stderr)
    return status


def _run_command(words: Sequence[str]) -> int:
    """Run one command; return its exit status."""
    has_passed = True
    try:
        args = parse_words(ANSWERS_OF_METHOD, words)
        options = read_options(args)
        tables = [args.input, *(file.path for file in options.values() if isinstance(file, TableFile))]
        check_output_paths(options, tables)
        with name_bad_files(tables), warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: print_note(f"warning: {message}")
            has_passed = run_command(args, options)
        sys.stdout.flush()
    except BrokenPipeError:
        pass  # the reader, such as `head`, has read enough
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, *_TEXT_ERRORS) as error:
        # An error of Polars ends with the plan of its query.
        text = str(error) if isinstance(error, PrcError) else str(error).partition("\n")[0]
        if isinstance(error, OSError) and error.errno == errno.EBADF:
            text = "standard output is closed, or standard input of INPUT -; -o FILE writes to a file"
        print_note(f"error: {PrcError(text)}")  # short and visible
        return 2
    return 0 if has_passed else 1
