"""The command line: `polars-prcurve`, and `python -m polars_prcurve`.

words -> arguments   see `commands` and `options`; an option that is not given is not passed
      -> a method    of `.prc`, on the scanned files: it sets defaults and refuses bad input
      -> rows        to a file, to standard output, or as a table on a terminal
      -> errors      of the library, which `command_errors` puts in terms of options
"""

from __future__ import annotations

import argparse
import errno
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

import polars as pl

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.progress import print_beside
from polars_prcurve.doors.cli.command_errors import (
    PROGRAM,
    name_options,
    print_note,
    print_sentence,
    translate_message,
)
from polars_prcurve.doors.cli.commands import build_parser
from polars_prcurve.doors.cli.method_call import list_inputs
from polars_prcurve.doors.cli.table_files import name_bad_files


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0, 1 if --fail-unless fails, 2 after an error, or 128 + a signal."""
    open_closed_streams()
    with catch_stop_signals() as stop_signal:
        try:
            status = _run_command(argv)
        except KeyboardInterrupt:
            print_beside(f"{PROGRAM}: interrupted")
            status = 128 + stop_signal.number  # by which shells tell that a signal ended a command
    drop_unwritten_text(sys.stdout)
    drop_unwritten_text(sys.stderr)
    return status


def _run_command(argv: Sequence[str] | None) -> int:
    """Run one command; return its exit status."""
    args, status = argparse.Namespace(), 0
    try:
        build_parser().parse_args(argv, args)
        with name_bad_files(list_inputs(args)), warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: print_note(f"warning: {message}")
            status = args.run(args) or 0
        sys.stdout.flush()
    except BrokenPipeError:
        pass  # the reader, such as `head`, has read enough
    except (PrcError, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        # An error of Polars ends with the plan of its query.
        error_text = str(error) if isinstance(error, PrcError) else str(error).partition("\n")[0]
        if isinstance(error, OSError) and error.errno == errno.EBADF:
            error_text = (
                "standard output is closed, or standard input of INPUT -; -o FILE writes to a file"
            )
        message = translate_message(error_text, name_options(getattr(args, "parser", None)))
        print_sentence(f"{PROGRAM}: error: {PrcError(message)}")  # short and visible
        return 2
    return status


# Standard streams that are closed or full --------------------------------------------------------


def open_closed_streams() -> None:
    """Give each standard stream that is closed a descriptor, which fails whoever needs the stream."""
    # Otherwise the next file to be opened gets its number, and what was meant for the stream.
    modes = {"stdin": os.O_WRONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}
    for name, mode in modes.items():  # by number, since the system gives the lowest that is free
        if getattr(sys, name) is None:
            stream = os.fdopen(os.open(os.devnull, mode), "r" if name == "stdin" else "w")
            setattr(sys, name, stream)


def drop_unwritten_text(stream: TextIO) -> None:
    """Drop text that a stream cannot take: Python would try again at its end, and fail."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


# Signals that ask a command to stop, turned into one KeyboardInterrupt --------------------------

# Python runs handlers of signals only between its own steps, and a query can run for minutes in between.
# Polars looks out for SIGINT alone. So a thread, which Python wakes at each signal, sends a SIGINT after
# each SIGTERM and SIGHUP.

_WITHOUT_POLARS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals to stop that Polars does not look out for; Windows has no SIGHUP."""


@dataclass
class StopSignal:
    """The signal that asked a command to stop."""

    ignores_interrupts: bool
    number: int = signal.SIGINT

    def interrupt(self, *_: object) -> None:
        """Raise, unless Polars has raised already for the same SIGINT, or the user's are ignored."""
        is_raised = isinstance(sys.exc_info()[1], KeyboardInterrupt)
        if not is_raised and not (self.ignores_interrupts and self.number == signal.SIGINT):
            raise KeyboardInterrupt

    def send_interrupts(self, read_end: int, signal_numbers: set[int]) -> None:
        """Send a SIGINT to the main thread for each of these signals, until the pipe is closed."""
        main_thread = threading.main_thread().ident
        while signal_byte := os.read(read_end, 1):
            if signal_byte[0] in signal_numbers and main_thread is not None:
                self.number = signal_byte[0]
                signal.pthread_kill(main_thread, signal.SIGINT)


@contextmanager
def catch_stop_signals() -> Iterator[StopSignal]:
    """Raise `KeyboardInterrupt` at each signal to stop; signals that were ignored stay ignored."""
    old_handler = signal.getsignal(signal.SIGINT)  # a shell script ignores it for commands that end in &
    stop_signal = StopSignal(old_handler == signal.SIG_IGN)
    watched_signals = [
        signal_number
        for signal_number in _WITHOUT_POLARS
        if signal.getsignal(signal_number) == signal.SIG_DFL
    ]
    is_ours = old_handler in (signal.default_int_handler, signal.SIG_IGN) and watched_signals
    if not is_ours or threading.current_thread() is not threading.main_thread():
        yield stop_signal  # a program that calls `main` handles signals itself
        return
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    old_write_end = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    signal_numbers = set(watched_signals)
    thread = threading.Thread(
        target=stop_signal.send_interrupts, args=(read_end, signal_numbers), daemon=True
    )
    thread.start()
    try:
        for signal_number in watched_signals:
            signal.signal(signal_number, lambda *_: None)  # the thread acts on it
        signal.signal(signal.SIGINT, stop_signal.interrupt)
        yield stop_signal
    finally:
        for signal_number in watched_signals:
            signal.signal(signal_number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, old_handler)
        signal.set_wakeup_fd(old_write_end)
        os.close(write_end)  # ends the thread
        thread.join()
        os.close(read_end)
