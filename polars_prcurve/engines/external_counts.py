"""Counts made on the engine that holds the scores, through narwhals, and fewer rows of them.

    table -> counts         per group and score, with GROUP BY and SUM only, which every engine has
          -> fewer rows     `_merge_negative_runs` on a whole table, `_merge_at_positives` on a shard

Counts of shards, days and files add up, and all methods take them by `counts=`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeVar

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import read_choice
from polars_prcurve.engines.narwhals_counts import (
    ColumnNames,
    count_scores_on_engine,
    load_narwhals,
    sum_counts,
)
from polars_prcurve.errors import PrcError, suggest_names
from polars_prcurve.inputs import value_checks
from polars_prcurve.inputs.column_reader import list_columns
from polars_prcurve.namespace import prc

T = TypeVar("T")
_RUN_NUMBER = f"{c.RESERVED}run"
_RUN_START = f"{c.RESERVED}below"
_BITS: dict[pl.DataType, pl.DataType] = {pl.Float32(): pl.Int32(), pl.Float64(): pl.Int64()}


def counts(
    table: T,
    *,
    by: str | list[str] | None = None,
    score: str = "score",
    label: str = "label",
    pos_label: Any = None,
    weight: str | None = None,
    missing: Literal["raise", "drop"] = "raise",
    thresholds: Literal["corners"] | None = None,
    positives: object | None = None,
) -> T:
    """Count positives and negatives at each distinct score, on the engine that holds the table.

    The counts are those of `.prc.counts`, from a table of DuckDB, PySpark, Dask, Ibis, pandas, pyarrow
    or Polars. They come as a table of the same kind, which is lazy if the engine is lazy. Once they are
    in Polars, every frame method takes them by `counts=("n_pos", "n_neg")`. Needs
    `pip install "narwhals>=2.10"`.

    Parameters
    ----------
    by, score, label, pos_label, weight, missing
        As in all frame methods, but columns go by name only. pandas and Dask do not tell NaN from null,
        so that errors about either say null.
    thresholds
        `"corners"`, for scores that nearly all differ: keep what `sweep` keeps with it. All negatives
        between two scores of positives are counted at the lowest of their scores. There are at most
        2 * positives + 2 rows per group, with the same ROC curve, the same PR curve at every prevalence
        and the same value of every curve metric. Such tables do not add up. Not for Dask.
    positives
        Like `thresholds="corners"`, but for one of several shards, in pandas, pyarrow or Polars. This is
        a table with the columns `by` and `score`, which holds the scores of positives in all shards,
        such as the rows of their counts where `n_pos` is not 0. A lazy table is computed at every call:
        collect it first. The result counts the examples at each of these scores, just above it, and
        below all of them. Tables of shards add up if their `positives` were the same. If a score of a
        positive is missing, its threshold is lost, and all other rows stay right.

    Returns
    -------
    One row per `by` group and distinct score, in no order:

    - `score`: as in the table; -0.0 is 0.0
    - `n_pos`, `n_neg`: Int64, or Float64 with weights
    - with weights, `n_pos_squares`, `n_neg_squares`: Float64, sums of squared weights

    On a lazy engine one aggregation over the table looks for bad values before this returns, and raises
    `PrcError` if there are any. A Polars LazyFrame is not read: its check is part of the query.

    Examples
    --------
    >>> from polars_prcurve import engines
    >>> scores = pl.DataFrame({"score": [0.9, 0.9, 0.2, 0.1], "label": [1, 0, 1, 0]}).to_arrow()
    >>> counts = engines.counts(scores)
    >>> type(counts).__name__
    'Table'
    >>> prc(counts).sweep(counts=("n_pos", "n_neg"))
    shape: (3, 7)
    ┌───────────┬─────┬─────┬─────┬─────┬────────┬─────┐
    │ threshold ┆ tp  ┆ fp  ┆ fn  ┆ tn  ┆ recall ┆ fpr │
    │ ---       ┆ --- ┆ --- ┆ --- ┆ --- ┆ ---    ┆ --- │
    │ f64       ┆ i64 ┆ i64 ┆ i64 ┆ i64 ┆ f64    ┆ f64 │
    ╞═══════════╪═════╪═════╪═════╪═════╪════════╪═════╡
    │ 0.9       ┆ 1   ┆ 1   ┆ 1   ┆ 1   ┆ 0.5    ┆ 0.5 │
    │ 0.2       ┆ 2   ┆ 1   ┆ 0   ┆ 1   ┆ 1.0    ┆ 0.5 │
    │ 0.1       ┆ 2   ┆ 2   ┆ 0   ┆ 0   ┆ 1.0    ┆ 1.0 │
    └───────────┴─────┴─────┴─────┴─────┴────────┴─────┘
    """
    nw, names, frame = load_narwhals(), _read_names(by, score, label, weight), _to_narwhals(table)
    eager = isinstance(frame, nw.DataFrame)
    in_polars = eager or frame.implementation.is_polars()
    corners = thresholds is not None
    read_choice("missing=", missing, ["raise", "drop"])  # what was never scored has no place here
    if corners:
        read_choice("thresholds=", thresholds, ["corners"])
    _check_options(frame, positives, corners=corners, in_polars=in_polars)
    if in_polars:
        polars_frame = frame.to_polars() if eager else frame.to_native()
        arguments = {**names._asdict(), "pos_label": pos_label, "missing": missing}
        counted = prc(polars_frame).counts(**arguments).lazy()
        if positives is not None:
            counted = _merge_at_positives(counted, names.by, _to_polars(positives))
        counted = nw.from_native(counted)
    else:
        counted = count_scores_on_engine(frame, names, pos_label, missing)
    if corners:
        counted = _merge_negative_runs(counted, names.by)
    if not eager:
        return counted.to_native()  # type: ignore[no-any-return]
    collected = counted.collect("polars")
    return nw.from_arrow(collected, backend=frame.implementation).to_native()  # type: ignore[no-any-return]


def _read_names(by: Any, score: Any, label: Any, weight: Any) -> ColumnNames:
    """Return the names of columns; raise if one is an expression, or anything else but a name."""
    given = {"score": [score], "label": [label], "weight": [weight] * (weight is not None)}
    for argument, names in {"by": list_columns("by=", by), **given}.items():
        for name in names:
            if not isinstance(name, str):
                raise PrcError(
                    f"{argument}= takes names of columns here, since engines differ in expressions; "
                    f"got {name!r}; compute the column first"
                )
    return ColumnNames(list_columns("by=", by), score, label, weight)  # type: ignore[arg-type]


def _to_narwhals(table: object) -> Any:
    try:
        return load_narwhals().from_native(table)
    except TypeError:
        raise PrcError(
            "expected a table of pandas, pyarrow, DuckDB, PySpark, Dask, Ibis or Polars; "
            f"got {type(table).__name__}"
        ) from None


def _check_options(frame: Any, positives: object, *, corners: bool, in_polars: bool) -> None:
    """Raise unless the engine can make the counts that are asked for."""
    if positives is not None and corners:
        raise PrcError("thresholds= is for a whole table, and positives= for a shard; pass one")
    if positives is not None and not in_polars:
        raise PrcError(
            "positives= is for shards in pandas, pyarrow or Polars; an engine that holds the whole "
            'table takes thresholds="corners"'
        )
    if corners and frame.implementation.is_dask():
        raise PrcError(
            'thresholds="corners" takes running sums, which Dask does not have in groups; call counts() '
            "on each partition, with positives="
        )


# At the scores of positives -------------------------------------------------------------------


def _merge_negative_runs(counted: Any, by: list[str]) -> Any:
    """Merge each run of negatives into one row, at its lowest score; keep each group's highest score."""
    nw = load_narwhals()
    has_positives = nw.col("n_pos") > 0
    is_highest = nw.col("score").shift(-1).over(*by, order_by="score").is_null()
    marked = counted.with_columns(nw.when(has_positives | is_highest).then(1).otherwise(0).alias(c.MARK))
    # A run and the marked row just below it have the same number of marks so far; MARK tells them apart.
    runs = marked.with_columns(nw.col(c.MARK).cum_sum().over(*by, order_by="score").alias(_RUN_NUMBER))
    schema = counted.collect_schema()
    amounts = _list_amounts(schema)
    keys = [*by, _RUN_NUMBER, c.MARK]
    merged = sum_counts(runs, keys, amounts, schema["n_pos"], nw.col("score").min())
    return merged.select(*by, "score", *amounts)


def _list_amounts(columns: Iterable[str]) -> list[str]:
    """Return the columns of counts that add up: with weights, those of squares, too."""
    return [name for name in (*c.COUNT_COLUMNS[1:], *c.SQUARE_COLUMNS) if name in columns]


def _merge_at_positives(counted: pl.LazyFrame, by: list[str], positives: pl.LazyFrame) -> pl.LazyFrame:
    """Merge each run of negatives into one row, at a score just above the positive below it."""
    schema = counted.collect_schema()
    dtype, amounts = schema["score"], _list_amounts(schema)
    if not (dtype.is_integer() or dtype in _BITS):
        raise PrcError(
            f"positives= takes scores that are integers or floats of 32 or 64 bits; got {dtype}"
        )
    columns = positives.collect_schema()
    for name in (*by, "score"):
        if name not in columns:
            raise PrcError(f"positives= lacks the column {name!r}; {suggest_names(name, columns)}")
    score, mark = pl.col("score"), pl.col(c.MARK)
    marks = positives.select(*by, score.cast(dtype)).filter(value_checks.is_missing(score, dtype).not_())
    rows = pl.concat([counted, marks.with_columns(pl.lit(True).alias(c.MARK))], how="diagonal")
    scores = rows.group_by(*by, "score").agg(pl.col(amounts).sum(), mark.any())
    below = pl.when(mark).then(score).forward_fill()
    runs = scores.sort(*by, "score").with_columns((below.over(by) if by else below).alias(_RUN_START))
    # The score must not depend on the shard, so that counts of shards add up.
    run_score = pl.coalesce(_next_number(pl.col(_RUN_START), dtype), _least_number(dtype))
    renamed = runs.with_columns(pl.when(mark).then(score).otherwise(run_score))
    sums = renamed.group_by(*by, "score").agg(pl.col(amounts).sum())
    return sums.filter(pl.any_horizontal(pl.col("n_pos", "n_neg") > 0))


def _next_number(score: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return the least number of the dtype above a score, which is never -0.0."""
    if dtype.is_integer():
        return score + 1
    # The bits of floats, read as integers, count up from 0, and those of negative floats count down.
    bits = score.reinterpret(dtype=_BITS[dtype])
    return pl.when(score < 0).then(bits - 1).otherwise(bits + 1).reinterpret(dtype=dtype)


def _least_number(dtype: Any) -> pl.Expr:
    """Return the least number of the dtype."""
    least: pl.Expr = pl.lit(float("-inf"), dtype) if dtype.is_float() else dtype.min()
    return least


def _to_polars(table: object) -> pl.LazyFrame:
    collected = _to_narwhals(table).lazy().collect("polars")
    frame: pl.LazyFrame = collected.to_native().lazy()
    return frame
