"""Tables in files, whose names give the format: scanned lazily, and written whole or not at all."""

from __future__ import annotations

import glob
import io
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.core.ground.atomic_file import (
    PatientFile,
    is_stream,
    resolve_target,
    write_atomically,
)
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.query_guards import translate_errors

STDIO = "-"  # the path that represents CSV from standard input, or to standard output
_BYTES_TO_JUDGE = 1 << 16  # of a file, in which a header ends and bytes that are no text show


class FileFormat(NamedTuple):
    """The functions of Polars that scan and write files of one format."""

    scan: Callable[..., pl.LazyFrame]
    sink: Callable[..., Any]
    """Must be called with `engine="streaming"`: another default engine would hold the whole table."""
    has_header: bool = False  # whether it is a CSV, or one with tabs


_N_ROWS = 10_000  # rows that decide dtypes: by the 100 of Polars, 0 may become 0.5 too late
_SCAN_CSV = partial(pl.scan_csv, infer_schema_length=_N_ROWS)
_CSV = FileFormat(_SCAN_CSV, pl.LazyFrame.sink_csv, has_header=True)
_TSV = _CSV._replace(scan=partial(_CSV.scan, separator="\t"), sink=partial(_CSV.sink, separator="\t"))
_NDJSON = FileFormat(partial(pl.scan_ndjson, infer_schema_length=_N_ROWS), pl.LazyFrame.sink_ndjson)
_IPC = FileFormat(pl.scan_ipc, pl.LazyFrame.sink_ipc)  # what pyarrow calls Feather, too
_FORMATS = {  # by the ending of a file's name, in the order in which an error lists them
    ".parquet": FileFormat(pl.scan_parquet, pl.LazyFrame.sink_parquet),
    ".csv": _CSV,
    ".tsv": _TSV,
    **dict.fromkeys((".ndjson", ".jsonl"), _NDJSON),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), _IPC),
}
_HINT_OF_ENDING = dict.fromkeys((".txt", ".run", ""), "; a run of TREC, as INPUT, needs --qrels")
_HINT_OF_ENDING[".json"] = "; .ndjson has one JSON object per row"


def find_format(path: str) -> FileFormat | None:
    """Return the format that the name of a file ends in, or None if it is unknown."""
    return _FORMATS.get(Path(path).suffix.lower())


def _require_format(path: str) -> FileFormat:
    """Return the format that the name of a file ends in; raise if it is unknown."""
    if (file_format := find_format(path)) is None:
        hint = _HINT_OF_ENDING.get(Path(path).suffix.lower(), "")
        raise PrcError(f"file names end in {', '.join(_FORMATS)}; got {path!r}{hint}")
    return file_format


def scan_files(path: str, text_columns: Collection[str] = ()) -> pl.LazyFrame:
    """Return the table in a file, in all files that match a pattern, or on standard input.

    In a CSV `text_columns` stay as they are written, so that 007 is no number. One without rows, which
    has no dtypes, has floats.
    """
    sources: list[Any] = _list_sources(path)
    file_format = _CSV if path == STDIO else _require_format(path)
    full_sources = [source for source in sources if not file_format.has_header or _has_rows(source)]
    # Polars takes patterns, too, and would read a name with brackets as one.
    names = [glob.escape(name) if isinstance(name, str) else name for name in full_sources or sources]
    dtypes = dict.fromkeys(text_columns, pl.String) if file_format.has_header else None
    table = file_format.scan(names, **({"schema_overrides": dtypes} if dtypes else {}))
    columns = table.collect_schema().names() if file_format.has_header else []
    for name in columns:  # of two columns of one name Polars renames the second
        repeated_name = name.removesuffix("_duplicated_0")
        if repeated_name not in ("", name) and repeated_name in columns:
            raise PrcError(f"rename a column of {path!r}: its header names {repeated_name!r} twice")
    return table if full_sources else table.cast(pl.Float64)


def _list_sources(path: str) -> list[str] | list[io.BytesIO]:
    """Return the files that a path or a pattern matches, or standard input; raise if there are none."""
    if path == STDIO:
        return [io.BytesIO(sys.stdin.buffer.read())]
    if os.path.isdir(path):
        raise PrcError(f"name the files in the folder {path!r}, such as '{path}/*.parquet'")
    _require_format(path)
    if Path(path).is_fifo():  # files are opened more than once
        raise PrcError(f"pass - instead of {path!r}, which is a pipe, and redirect it to standard input")
    if paths := [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True)):
        return paths
    raise PrcError(f"there is no file {path!r}")


def _has_rows(source: str | io.BytesIO) -> bool:
    """Return whether a CSV has rows below its header; raise if it holds no text."""
    if isinstance(source, str):
        name = repr(source)
        with open(source, "rb") as file:
            first_bytes = file.read(_BYTES_TO_JUDGE)
    else:
        name, first_bytes = "standard input", source.getvalue()[:_BYTES_TO_JUDGE]
    if b"\0" in first_bytes:
        raise PrcError(f"convert {name} to a CSV in UTF-8: it holds bytes that are not text")
    if not first_bytes.strip():
        raise PrcError(f"name the columns in the first line of {name}, which is empty")
    return b"\n" in first_bytes.strip() or len(first_bytes) == _BYTES_TO_JUDGE


@contextmanager
def name_bad_files(paths: Iterable[str]) -> Iterator[None]:
    """Raise a `PrcError` that names the file, if Polars fails and one of these files cannot be read."""
    try:
        with translate_errors():  # a check in the query fails as a PrcError, which is none of a file
            yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        if isinstance(error, OSError) and (error.filename or isinstance(error, BrokenPipeError)):
            raise  # it is of no input, or names it
        for path in paths:
            if path != STDIO and (file_format := find_format(path)):  # runs of TREC are read by line
                names: list[Any] = _list_sources(path)
                for name in names:  # beside the first, which others have to be like
                    _try_to_read(dict.fromkeys([names[0], name]), file_format)
        raise


def _try_to_read(names: Iterable[str], file_format: FileFormat) -> None:
    """Read files as one table; raise if the last one is none, or is unlike the others."""
    try:
        table = file_format.scan([*map(glob.escape, names)])
        table.select(pl.all().null_count()).collect(engine="streaming")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).partition("\n")[0]
        if reason.startswith("could not parse"):
            reason += "; in text, dtypes are inferred from the first 10,000 rows"
        raise PrcError(f"cannot read {[*names][-1]!r}: {reason}") from None


def build_writer(path: str) -> Callable[[pl.LazyFrame], None]:
    """Return a function that streams the rows of a query into a file, whole or not at all."""
    # A path without a known format or folder raises here, before any query runs. A device or a pipe
    # whose name has no format gets CSV, as standard output does.
    target = resolve_target(path)
    file_format = find_format(path) or (_CSV if is_stream(target) else _require_format(path))

    def write(query: pl.LazyFrame) -> None:
        with write_atomically(target) as draft, PatientFile(draft, path) as file:
            file_format.sink(query, file, engine="streaming")
            file.raise_error()

    return write


def write_csv(query: pl.LazyFrame) -> None:
    """Stream the rows of a query to standard output, the header together with the first rows."""
    # Batches are written here and not by Polars, which reports a reader that has left as an error of the
    # query, and writes the header before the query has shown that its values are good.
    sys.stdout.flush()
    header_text = pl.DataFrame(schema=query.collect_schema()).write_csv()
    for batch in query.collect_batches(maintain_order=True, engine="streaming"):
        if batch.height:
            sys.stdout.buffer.write((header_text + batch.write_csv(include_header=False)).encode())
            header_text = ""
    sys.stdout.buffer.write(header_text.encode())
    sys.stdout.buffer.flush()
