"""Streams that are closed, text that nobody reads, and signals that end a command."""

from __future__ import annotations

import os
import signal
import sys
from threading import Thread
from typing import TextIO

from polars_prcurve.core.ground.atomic_file import delete_drafts
from polars_prcurve.core.ground.progress import print_beside
from polars_prcurve.doors.cli.printing import PROGRAM


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


def end_at_signals() -> Thread | None:
    """End the program at SIGINT, SIGTERM and SIGHUP, unless they are ignored; no draft stays."""
    # Python runs handlers only between its own steps, and a query can run for minutes in between. So a
    # thread reads the pipe into which Python writes the number of each signal at once.
    if not hasattr(signal, "SIGHUP"):  # on Windows, where Polars looks out for Ctrl-C
        return None
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        is_ignored = signal.getsignal(number) == signal.SIG_IGN  # as SIGINT of `command &` in a script
        # It is ignored again, since Polars looks out for Ctrl-C from its import on.
        signal.signal(number, signal.SIG_IGN if is_ignored else lambda *_: None)
    thread = Thread(target=_end_program, args=(read_end,), daemon=True)
    thread.start()
    return thread


def _end_program(read_end: int) -> None:
    """Wait for a signal, and end the program with the status by which shells recognise it."""
    number = os.read(read_end, 1)[0]
    delete_drafts()
    print_beside(f"{PROGRAM}: interrupted")
    os._exit(128 + number)
