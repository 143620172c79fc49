"""One line on a terminal about work that takes more than two seconds, which is erased when all is done.

Nothing is written into a pipe, a file or a notebook. Work inside other work takes the line over.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from shutil import get_terminal_size
from threading import Event, Lock, Thread
from time import monotonic
from typing import ClassVar

from polars_prcurve.core.ground.terminal_text import cut_text, measure_width, pad_text

_DELAY_SECONDS = 2.0
"""Seconds that pass before the line appears."""
_WRITE_LOCK = Lock()  # of what is written: `show_seconds` writes from a thread of its own


def is_watched() -> bool:
    """Return whether standard error is a terminal: it may be closed, and a service has none."""
    # What programs put in its place may have no more than `write`.
    is_closed = getattr(sys.stderr, "closed", False)
    return hasattr(sys.stderr, "isatty") and not is_closed and sys.stderr.isatty()


def print_beside(text: str, line_end: str = "\n") -> None:
    """Print on standard error; if that is closed or full, the work goes on without the text."""
    if sys.stderr is not None:  # `print` would take standard output in its place
        with suppress(OSError, ValueError, AttributeError):  # what has no `flush` has it by then
            print(text, end=line_end, file=sys.stderr, flush=True)


class _ProgressLine:
    """A line of progress; of several that are open, the last one may write."""

    open_lines: ClassVar[list[_ProgressLine]] = []

    def __init__(self) -> None:
        self.start_seconds = monotonic()
        self.width = 0
        with _WRITE_LOCK:
            self.open_lines.append(self)

    def write(self, text: str) -> None:
        """Write the text over what the line shows, if it is time, and if a person watches."""
        with _WRITE_LOCK:
            is_due = monotonic() - self.start_seconds >= _DELAY_SECONDS and self.open_lines[-1] is self
            if is_due and is_watched():
                text = cut_text(text, get_terminal_size().columns - 1)  # a second line would stay
                self.width = max(self.width, measure_width(text))
                print_beside(f"\r{pad_text(text, self.width, is_right=False)}", line_end="")

    def erase(self) -> None:
        """Erase what the line shows; the caller holds the lock."""
        if self.width:
            print_beside(f"\r{'':<{self.width}}\r", line_end="")
            self.width = 0

    def close(self) -> None:
        """Erase what the line shows, and let the line before it write."""
        with _WRITE_LOCK:
            self.open_lines.remove(self)
            self.erase()


def clear_line() -> None:
    """Erase the line of progress, so that other text can be written; the next step brings it back."""
    with _WRITE_LOCK:
        for progress_line in _ProgressLine.open_lines:
            progress_line.erase()


@contextmanager
def show_share(task_name: str, total_amount: int) -> Iterator[Callable[[int], None]]:
    """Show which share of the total is complete; yield a function that takes how much was added."""
    progress_line, amount_so_far = _ProgressLine(), 0

    def advance(added_amount: int) -> None:
        nonlocal amount_so_far
        amount_so_far += added_amount
        progress_line.write(f"{task_name}: {amount_so_far / total_amount:4.0%}")

    try:
        yield advance
    finally:
        progress_line.close()


@contextmanager
def show_seconds(task_name: str) -> Iterator[None]:
    """Show for how many seconds the work goes on, from a thread of its own."""
    if not is_watched():
        yield
        return
    progress_line, end_event = _ProgressLine(), Event()

    def tick() -> None:
        while not end_event.wait(min(1.0, _DELAY_SECONDS / 2)):
            progress_line.write(f"{task_name}: {monotonic() - progress_line.start_seconds:.0f} s")

    thread = Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        end_event.set()
        thread.join()
        progress_line.close()
