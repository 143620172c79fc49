"""Run all plans of a folder to files, and print the numbers of those that used the disk for it.

It is a program of its own, which imports Polars alone: a plan must run where the package is not.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl


@contextmanager
def watch(folder: Path) -> Iterator[set[Path]]:
    """The files that are seen in a folder meanwhile."""
    seen: set[Path] = set()
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.004):
            seen.update(path for path in folder.rglob("*") if path.is_file())

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield seen
    finally:
        done.set()
        watcher.join()


def sink_plans(folder: Path, spilled: Path) -> list[str]:
    used = []
    for plan in folder.glob("*.plan"):
        with watch(spilled) as files:
            pl.LazyFrame.deserialize(plan).sink_parquet(plan.with_suffix(".parquet"))
        if files:
            used.append(plan.stem)
    return used


if __name__ == "__main__":
    print(json.dumps(sink_plans(Path(sys.argv[1]), Path(os.environ["POLARS_OOC_SPILL_DIR"]))))
    assert "polars_prcurve" not in sys.modules
