"""Signals that ask a command to stop, turned into one `KeyboardInterrupt`, so that drafts are deleted.

Python runs handlers of signals only between its own steps, and a query can run for minutes in between.
Polars looks out for SIGINT alone. So a thread, which Python wakes at each signal, sends a SIGINT after
each SIGTERM and SIGHUP.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_WITHOUT_POLARS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals to stop that Polars does not look out for; Windows has no SIGHUP."""


class StopSignal:
    """The signal that asked a command to stop."""

    def __init__(self, *, ignores_interrupts: bool = False) -> None:
        self.number: int = signal.SIGINT
        self._ignores_interrupts = ignores_interrupts

    @property
    def exit_status(self) -> int:
        """The exit status by which shells tell that a signal ended a command."""
        return 128 + self.number

    def interrupt(self, *_: object) -> None:
        """Raise, unless Polars has raised already for the same SIGINT, or the user's are ignored."""
        is_raised = isinstance(sys.exc_info()[1], KeyboardInterrupt)
        if not is_raised and not (self._ignores_interrupts and self.number == signal.SIGINT):
            raise KeyboardInterrupt

    def send_interrupts(self, listen: int, numbers: set[int]) -> None:
        """Send a SIGINT to the main thread for each of these signals, until the pipe is closed."""
        main_thread = threading.main_thread().ident
        while received := os.read(listen, 1):
            if received[0] in numbers and main_thread is not None:
                self.number = received[0]
                signal.pthread_kill(main_thread, signal.SIGINT)


@contextmanager
def catch_stop_signals() -> Iterator[StopSignal]:
    """Raise `KeyboardInterrupt` at each signal to stop; signals that were ignored stay ignored."""
    before = signal.getsignal(signal.SIGINT)  # a shell script ignores it for commands that end in &
    stop = StopSignal(ignores_interrupts=before == signal.SIG_IGN)
    caught = [s for s in _WITHOUT_POLARS if signal.getsignal(s) == signal.SIG_DFL]
    is_ours = before in (signal.default_int_handler, signal.SIG_IGN) and caught
    if not is_ours or threading.current_thread() is not threading.main_thread():
        yield stop  # a program that calls `main` handles signals itself
        return
    listen, wake = os.pipe()
    os.set_blocking(wake, False)
    wake_before = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    thread = threading.Thread(target=stop.send_interrupts, args=(listen, set(caught)), daemon=True)
    thread.start()
    try:
        for number in caught:
            signal.signal(number, lambda *_: None)  # the thread acts on it
        signal.signal(signal.SIGINT, stop.interrupt)
        yield stop
    finally:
        for number in caught:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, before)
        signal.set_wakeup_fd(wake_before)
        os.close(wake)  # ends the thread
        thread.join()
        os.close(listen)
