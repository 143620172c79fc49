"""Runs of a search in the files of TREC: `from_trec` makes runs and their judgements a bound table.

run    query Q0 document rank score name   what a system returned, a line per document
qrels  query 0 document relevance          what was judged

A relevant document that was not returned is a row without a score, which no threshold finds. Documents
that are neither returned nor relevant are not counted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from polars_prcurve.core.ground.argument_checks import read_whole_number, refuse_kind
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.ground.visible_names import shorten_name
from polars_prcurve.doors.namespace.frame import DataFramePrc

FilePath: TypeAlias = str | os.PathLike[str]
_RUN = {
    "query": pl.String,
    "Q0": None,
    "doc": pl.String,
    "rank": None,
    "score": pl.Float64,
    "run": pl.String,
}
"""The columns of a run, with the dtypes of those that are read: trec_eval orders by score, too."""
_QRELS = {"query": pl.String, "0": None, "doc": pl.String, "relevance": pl.Int64}  # those of judgements
_KEYS = ["query", "doc"]  # a document of a query


@hint_at_arguments
def from_trec(
    run: FilePath | Sequence[FilePath], qrels: FilePath, *, least_relevance: int = 1
) -> DataFramePrc:
    """Return search runs and their judgements, from files in trec_eval's format, as a bound table.

    Parameters
    ----------
    run
        A file, or a list of files, of lines `query Q0 document rank score name`. Documents are ordered
        by score, as by trec_eval, and the rank is not read. Equal scores are ties, of which trec_eval
        puts the last name first.
    qrels
        A file of lines `query 0 document relevance`. What was not judged is not relevant.
    least_relevance
        The lowest relevance that counts as relevant, trec_eval's `-l`.

    Returns
    -------
    A bound table with a row for each document that a run returned or that is relevant: `query`, `doc`,
    `label`: Boolean, `score`: Float64, null if it was not returned, `run`: Enum, in the order of files.
    It is by `query`, and with several runs `run` is the model. Queries without judgements are left
    out. A run that returned nothing for a query has average precision 0 there, as in `trec_eval -c`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from polars_prcurve import from_trec
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run, qrels = Path(folder, "bm25.txt"), Path(folder, "qrels.txt")
    ...     _ = run.write_text("7 Q0 a 1 3.1 bm25\\n7 Q0 b 2 2.2 bm25\\n7 Q0 c 3 0.4 bm25\\n")
    ...     _ = qrels.write_text("7 0 a 1\\n7 0 c 0\\n7 0 d 2\\n")
    ...     test = from_trec(run, qrels)
    >>> test.summary(metrics="average_precision").select("query", "n_pos", "value").rows()
    [('7', 2, 0.5)]
    """
    min_relevance = read_whole_number("least_relevance=", least_relevance, 0)
    paths = [run] if isinstance(run, str | os.PathLike) else run
    if not isinstance(paths, list | tuple) or not paths:
        raise refuse_kind("run=", "a path, or a list of paths", run)
    run_rows = pl.concat([_read_file("run=", path, _RUN) for path in paths])
    _check_once(run_rows, ["run", *_KEYS], "run=")
    judgement_rows = _read_file("qrels=", qrels, _QRELS)
    _check_once(judgement_rows, _KEYS, "qrels=")
    asked_query = run_rows["query"][0]
    run_rows = run_rows.join(judgement_rows.select("query"), on="query", how="semi")
    if not run_rows.height:
        raise PrcError(
            f"run= and qrels= have no query in common: run= has {asked_query!r}, and qrels= has "
            f"{judgement_rows['query'][0]!r}"
        )
    relevant_rows = judgement_rows.filter(pl.col("relevance") >= min_relevance).select(
        *_KEYS, label=True
    )
    document_rows = pl.concat([run_rows.select(_KEYS), relevant_rows.select(_KEYS)]).unique(
        maintain_order=True
    )
    run_names = run_rows["run"].unique(maintain_order=True)
    test_rows = document_rows.join(run_names.to_frame(), how="cross", maintain_order="left_right")
    test_rows = test_rows.join(relevant_rows, on=_KEYS, how="left", maintain_order="left")
    test_rows = test_rows.join(run_rows, on=["run", *_KEYS], how="left", maintain_order="left")
    run_expr = pl.col("run").cast(pl.Enum(run_names))  # so that models come in the order of the files
    test_rows = test_rows.select(*_KEYS, pl.col("label").fill_null(False), "score", run_expr)
    table_arguments: dict[str, Any] = {"by": "query", "missing": "below", "below": (0, None)}
    if len(run_names) > 1:
        table_arguments |= {"model": "run", "id": "doc"}
    return DataFramePrc(test_rows, table_arguments, run_names.to_list())


def _read_file(argument: str, path: FilePath, dtype_by_column: dict[str, Any]) -> pl.DataFrame:
    """Return the columns of a file with a dtype; raise for a line that has others."""
    if not isinstance(path, str | os.PathLike):
        raise refuse_kind(
            argument, "a path, or a list of paths" if dtype_by_column is _RUN else "a path", path
        )
    try:
        file_text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise PrcError(f"convert {argument} {os.fspath(path)!r} to UTF-8 first") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PrcError(f"{argument} {os.fspath(path)!r} cannot be read: {reason}") from None
    line_frame = pl.DataFrame({"line": file_text.split("\n")}).with_row_index("number", offset=1)
    line_frame = line_frame.filter(pl.col("line").str.contains(r"\S"))
    word_patterns = [
        rf"(?P<column_{column_number}>\S+)" for column_number in range(len(dtype_by_column))
    ]
    line_pattern = r"^\s*" + r"\s+".join(word_patterns) + r"\s*$"
    value_frame = line_frame.with_columns(pl.col("line").str.extract_groups(line_pattern)).unnest("line")
    expr_by_column = {
        name: pl.col(f"column_{column_number}").cast(dtype, strict=False)
        for column_number, (name, dtype) in enumerate(dtype_by_column.items())
        if dtype is not None
    }
    value_frame = value_frame.select("number", **expr_by_column)
    is_bad_expr = pl.any_horizontal(pl.col(*expr_by_column).is_null())
    if (bad_rows := value_frame.filter(is_bad_expr)).height:
        line_number = bad_rows["number"][0]
        bad_line = shorten_name(line_frame.filter(number=line_number)["line"][0].strip())
        raise PrcError(
            f"{argument} takes lines `{' '.join(dtype_by_column)}`, and line {line_number} of "
            f"{os.fspath(path)!r} is {bad_line!r}"
        )
    if not value_frame.height:
        raise PrcError(f"{argument} {os.fspath(path)!r} is empty")
    return value_frame.drop("number")


def _check_once(frame: pl.DataFrame, key_columns: list[str], argument: str) -> None:
    """Raise if a document of a query comes twice."""
    if (repeated_rows := frame.filter(frame.select(key_columns).is_duplicated())).height:
        *run_names, query_name, document_name = repeated_rows.select(key_columns).row(0)
        sentence = f"{argument} has document {document_name!r} of query {query_name!r} twice"
        raise PrcError(
            "leave out the repeats, or give each run a name of its own, the last word of its lines: "
            f"{sentence} in the run {run_names[0]!r}"
            if run_names
            else sentence
        )
