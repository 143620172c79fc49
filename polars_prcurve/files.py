"""Tables in files: scanned lazily, and written whole or not at all. The name says the format."""

from __future__ import annotations

import glob
import io
import os
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.drafts import draft_of, in_a_folder
from polars_prcurve.errors import PrcError

__all__ = ["STDIO", "format_of", "scan", "write_csv", "writer"]

STDIO = "-"
"""In place of a path: CSV from standard input, or to standard output."""
_ROWS_TO_INFER = 10_000


class Format(NamedTuple):
    """How Polars reads and writes one."""

    scan: Callable[..., pl.LazyFrame]
    sink: Callable[..., Any]
    """To be told to stream: another engine may be the default, and would hold the whole table."""


_CSV = Format(partial(pl.scan_csv, infer_schema_length=_ROWS_TO_INFER), pl.LazyFrame.sink_csv)
_NDJSON = Format(partial(pl.scan_ndjson, infer_schema_length=_ROWS_TO_INFER), pl.LazyFrame.sink_ndjson)
_IPC = Format(pl.scan_ipc, pl.LazyFrame.sink_ipc)
_FORMATS = {
    ".parquet": Format(pl.scan_parquet, pl.LazyFrame.sink_parquet),
    ".csv": _CSV,
    ".tsv": Format(partial(_CSV.scan, separator="\t"), partial(_CSV.sink, separator="\t")),
    ".ndjson": _NDJSON,
    ".jsonl": _NDJSON,
    ".arrow": _IPC,
    ".feather": _IPC,
    ".ipc": _IPC,
}


def format_of(path: str) -> Format | None:
    """The format that a name ends in, if it is one of those known."""
    return _FORMATS.get(Path(path).suffix.lower())


def _known_format(path: str) -> Format:
    found = format_of(path)
    if found is None:
        raise PrcError(f"the name of a file tells its format, {', '.join(_FORMATS)}; got {path!r}")
    return found


def scan(path: str) -> pl.LazyFrame:
    """The table in a file, in all files that a pattern matches, or on standard input."""
    if path == STDIO:
        return _CSV.scan(io.BytesIO(sys.stdin.buffer.read()))
    if os.path.isdir(path):
        raise PrcError(f"{path!r} is a folder; name the files in it, such as '{path}/*.parquet'")
    form = _known_format(path)
    found = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
    if not found:
        raise PrcError(f"there is no file {path!r}")
    return form.scan([glob.escape(name) for name in found])


def found(paths: Iterable[str]) -> set[str]:
    """The files that these paths and patterns stand for, links followed."""
    names = (name for path in paths for name in (path, *glob.glob(path, recursive=True)))
    return {os.path.realpath(name) for name in names if os.path.isfile(name)}


def writer(path: str) -> Callable[[pl.LazyFrame], None]:
    """What streams the rows of a query into a file, which takes its place when it is complete.

    That the file has a format and a folder is found before any work is done.
    """
    form = _known_format(path)
    target = in_a_folder(path)

    def write(query: pl.LazyFrame) -> None:
        with draft_of(target) as draft:
            form.sink(query, draft, engine="streaming")

    return write


def write_csv(query: pl.LazyFrame) -> None:
    """Stream the rows of a query to standard output."""
    sys.stdout.flush()
    _CSV.sink(query, sys.stdout.buffer, engine="streaming")
    sys.stdout.buffer.flush()
