"""The command line: `polars-prcurve`, and `python -m polars_prcurve`.

words -> arguments   see `parser` and `options`; an option that is not given is not passed
      -> a method    of `.prc`, on the scanned files: it sets defaults and refuses bad input
      -> rows        to a file, to standard output, or as a table on a terminal
      -> errors      the sentences of the library
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
from functools import partial
from typing import TextIO

import polars as pl

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.progress import print_beside
from polars_prcurve.doors.cli.commands import get_parser
from polars_prcurve.doors.cli.method_call import check_output_paths, list_inputs
from polars_prcurve.doors.cli.parser import PROGRAM
from polars_prcurve.doors.cli.table_files import name_bad_files
from polars_prcurve.doors.cli.terminal_table import print_note, print_sentence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0, 1 if --fail-unless fails, 2 after an error, or 128 + a signal."""
    open_closed_streams()
    with catch_stop_signals() as signal_numbers:
        try:
            status = _run_command(argv)
        except KeyboardInterrupt:
            print_beside(f"{PROGRAM}: interrupted")
            status = 128 + signal_numbers[-1]  # by which shells recognise that a signal ended a command
    drop_unwritten_text(sys.stdout)
    drop_unwritten_text(sys.stderr)
    return status


def _run_command(argv: Sequence[str] | None) -> int:
    """Run one command; return its exit status."""
    args, status = argparse.Namespace(), 0
    words = sys.argv[1:] if argv is None else argv
    try:
        get_parser(words[0] if words else "").parse_args(words, args)
        check_output_paths(args)
        with name_bad_files(list_inputs(args)), warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: print_note(f"warning: {message}")
            status = args.run(args) or 0
        sys.stdout.flush()
    except BrokenPipeError:
        pass  # the reader, such as `head`, has read enough
    except (PrcError, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        # An error of Polars ends with the plan of its query.
        text = str(error) if isinstance(error, PrcError) else str(error).partition("\n")[0]
        if isinstance(error, OSError) and error.errno == errno.EBADF:
            text = "standard output is closed, or standard input of INPUT -; -o FILE writes to a file"
        print_sentence(f"{PROGRAM}: error: {PrcError(text)}")  # short and visible
        return 2
    return status


# Standard streams that are closed or full --------------------------------------------------------


def open_closed_streams() -> None:
    """Give each standard stream that is closed a descriptor, which fails whoever needs the stream."""
    # Otherwise the next file to be opened gets its number, and the text for the stream.
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


# Signals that stop a command, turned into one KeyboardInterrupt --------------------------

# Python runs handlers of signals only between its own steps, and a query can run for minutes in between.
# Polars looks out for SIGINT alone. So a thread, which Python wakes at each signal, sends a SIGINT after
# each SIGTERM and SIGHUP, of which Windows has not the last.

_WITHOUT_POLARS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


def _interrupt(signal_numbers: list[int], *_: object, ignores_interrupts: bool) -> None:
    """Raise, unless Polars has raised already for the same SIGINT, or the user's are ignored."""
    is_raised = isinstance(sys.exc_info()[1], KeyboardInterrupt)
    if not is_raised and not (ignores_interrupts and len(signal_numbers) == 1):
        raise KeyboardInterrupt


def _send_interrupts(read_end: int, watched_numbers: list[int], signal_numbers: list[int]) -> None:
    """Send a SIGINT to the main thread for each of these signals, until the pipe is closed."""
    main_thread = threading.main_thread().ident
    while signal_byte := os.read(read_end, 1):
        if signal_byte[0] in watched_numbers and main_thread is not None:
            signal_numbers.append(signal_byte[0])
            signal.pthread_kill(main_thread, signal.SIGINT)


@contextmanager
def catch_stop_signals() -> Iterator[list[int]]:
    """Raise `KeyboardInterrupt` at each signal to stop, and list it; ignored signals stay ignored."""
    old_handler = signal.getsignal(signal.SIGINT)  # a shell script ignores it for commands that end in &
    numbers = [number for number in _WITHOUT_POLARS if signal.getsignal(number) == signal.SIG_DFL]
    signal_numbers = [int(signal.SIGINT)]
    is_ours = old_handler in (signal.default_int_handler, signal.SIG_IGN) and numbers
    has_kill = hasattr(signal, "pthread_kill")  # not on Windows
    if not (is_ours and has_kill) or threading.current_thread() is not threading.main_thread():
        yield signal_numbers  # a program that calls `main` handles signals itself
        return
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    old_write_end = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    thread_arguments = (read_end, numbers, signal_numbers)
    thread = threading.Thread(target=_send_interrupts, args=thread_arguments, daemon=True)
    thread.start()
    ignores_interrupts = old_handler == signal.SIG_IGN
    try:
        for number in numbers:
            signal.signal(number, lambda *_: None)  # the thread acts on it
        handler = partial(_interrupt, signal_numbers, ignores_interrupts=ignores_interrupts)
        signal.signal(signal.SIGINT, handler)
        yield signal_numbers
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, old_handler)
        signal.set_wakeup_fd(old_write_end)
        os.close(write_end)  # ends the thread
        thread.join()
        os.close(read_end)
