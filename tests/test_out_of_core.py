"""From a file to a file with no memory to spare: everything that can be put on disk is, and the rows
are those of a run in memory, in the same order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from tests.support.comparing import assert_same
from tests.support.queries import POINTS, QUERIES

ROOT = Path(__file__).parent.parent


@contextmanager
def spilled(folder: Path) -> Iterator[set[Path]]:
    """The files that are seen in a folder meanwhile."""
    seen: set[Path] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.001):
            seen.update(path for path in folder.rglob("*") if path.is_file())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        done.set()
        watcher.join()


def sink_all(folder: Path) -> list[str]:
    """Run every query from Parquet to Parquet; return the names of those that used the disk for it."""
    used = []
    for number, (name, (df, call)) in enumerate(QUERIES.items()):
        df.write_parquet(folder / "rows.parquet", row_group_size=1_000)
        with spilled(Path(os.environ["POLARS_OOC_SPILL_DIR"])) as files:
            call(pl.scan_parquet(folder / "rows.parquet").prc).sink_parquet(folder / f"{number}.parquet")
        if files:
            used.append(name)
    return used


@pytest.mark.slow
def test_every_query_runs_in_no_memory_at_all(tmp_path: Path) -> None:
    (tmp_path / "spilled").mkdir()
    limits = {
        "POLARS_OOC_MEMORY_BUDGET_MB": "0",
        "POLARS_OOC_SPILL_MIN_BYTES": "10000",
        "POLARS_OOC_SPILL_DIR": str(tmp_path / "spilled"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.test_out_of_core", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, **limits},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for number, (df, call) in enumerate(QUERIES.values()):
        assert_same(pl.read_parquet(tmp_path / f"{number}.parquet"), call(df.prc))
    # Files of a moment may be missed; a table of three rows has no need of them.
    tables = [name for name, (df, _) in QUERIES.items() if df is not POINTS]
    assert len(json.loads(done.stdout)) >= 0.85 * len(tables)


if __name__ == "__main__":
    print(json.dumps(sink_all(Path(sys.argv[1]))))
