"""The most memory that a process has held, on Linux."""

from __future__ import annotations

from pathlib import Path

__all__ = ["forget_peak", "peak_kilobytes"]


def forget_peak() -> None:
    """From now on the peak is what is resident now."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_kilobytes() -> int:
    # Not ru_maxrss, in which a new process inherits what its parent held.
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])
