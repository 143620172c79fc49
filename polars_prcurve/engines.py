"""Counts made where the scores are: DuckDB, Spark, Dask, Ibis, pandas, pyarrow, through narwhals.

`(group, score) -> (n_pos, n_neg)` needs GROUP BY and SUM only, and tables of shards, days and files add
up. So an engine reduces its scores to counts, and all else is done from those by `counts=`.
"""

from __future__ import annotations

from typing import Any, TypeVar

import polars as pl

from polars_prcurve import checks
from polars_prcurve.columns import COUNTS, MARK, RESERVED
from polars_prcurve.engine_counts import Names, count_scores_on_engine, load_narwhals, summed
from polars_prcurve.errors import PrcError, did_you_mean
from polars_prcurve.inputs import Missing, listed
from polars_prcurve.namespace import prc

__all__ = ["counts"]

T = TypeVar("T")
_RUN = f"{RESERVED}run"
_BITS: dict[pl.DataType, pl.DataType] = {pl.Float32(): pl.Int32(), pl.Float64(): pl.Int64()}


def counts(
    table: T,
    *,
    by: str | list[str] | None = None,
    score: str = "score",
    label: str = "label",
    pos_label: Any = None,
    weight: str | None = None,
    missing: Missing = "raise",
    drop_intermediate: bool = False,
    positives: object | None = None,
) -> T:
    """Count positives and negatives at each distinct score, on the engine that holds the table.

    What `.prc.counts` returns, from a table of DuckDB, PySpark, Dask, Ibis, pandas, pyarrow or Polars,
    as a table of the same kind: lazy where the engine is. Every frame method takes it by
    `counts=("n_pos", "n_neg")`, once it is in Polars. Needs `pip install "polars-prcurve[engines]"`.

    Parameters
    ----------
    by, score, label, pos_label, weight, missing
        As in all frame methods, but columns go by name only. pandas and Dask do not tell NaN from null;
        there it is called null.
    drop_intermediate
        For scores that nearly all differ: keep what `sweep(drop_intermediate=True)` keeps. Of the
        negatives between two scores that positives have, all go by the lowest score. At most
        2 * positives + 2 rows per group, for the same ROC curve, the same PR curve at every prevalence
        and the same value of every metric of a curve. Such tables do not add up. Not for Dask.
    positives
        The same for one shard of several, in pandas, pyarrow or Polars: a table with the columns `by`
        and `score`, which holds the scores of positives in all shards, such as the rows of their
        counts where `n_pos` is not 0. A lazy one is computed at every call: collect it first. What is
        counted is what lies at each of these scores, just above it, and below all of them; tables of
        shards that were given the same `positives` add up. A score that is not in it costs a threshold,
        and makes no other row wrong.

    Returns
    -------
    One row per `by` group and distinct score, in no order:

    - `score`: as in the table; -0.0 is 0.0
    - `n_pos`, `n_neg`: Int64, or Float64 with weights

    On a lazy engine one aggregation over the table looks for bad values before this returns, so that
    they raise `PrcError` and none is missing from the counts. A Polars LazyFrame is not read: there the
    check is part of the query.

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
    nw, names, frame = load_narwhals(), _names(by, score, label, weight), _frame(table)
    eager = isinstance(frame, nw.DataFrame)
    in_polars = eager or frame.implementation.is_polars()
    _fit(frame, drop_intermediate, positives, in_polars=in_polars)
    if in_polars:
        own = frame.to_polars() if eager else frame.to_native()
        how = {**names._asdict(), "pos_label": pos_label, "missing": missing}
        counted = prc(own).counts(**how).lazy()
        if positives is not None:
            counted = _at_positives(counted, names.by, _in_polars(positives))
        counted = nw.from_native(counted)
    else:
        counted = count_scores_on_engine(frame, names, pos_label, missing)
    if drop_intermediate:
        counted = _without_intermediate(counted, names.by)
    if not eager:
        return counted.to_native()  # type: ignore[no-any-return]
    collected = counted.collect("polars")
    return nw.from_arrow(collected, backend=frame.implementation).to_native()  # type: ignore[no-any-return]


def _names(by: Any, score: Any, label: Any, weight: Any) -> Names:
    given = {"score": [score], "label": [label], "weight": [weight] * (weight is not None)}
    for argument, names in {"by": listed(by), **given}.items():
        for name in names:
            if not isinstance(name, str):
                raise PrcError(
                    f"{argument}= takes names of columns here, which every engine knows; got {name!r}; "
                    "compute the column first"
                )
    return Names(listed(by), score, label, weight)  # type: ignore[arg-type]


def _frame(table: object) -> Any:
    try:
        return load_narwhals().from_native(table)
    except TypeError:
        raise PrcError(
            "expected a table of pandas, pyarrow, DuckDB, PySpark, Dask, Ibis or Polars; "
            f"got {type(table).__name__}"
        ) from None


def _fit(frame: Any, drop_intermediate: bool, positives: object, *, in_polars: bool) -> None:
    if positives is not None and drop_intermediate:
        raise PrcError("drop_intermediate= is for a whole table, and positives= for a shard; pass one")
    if positives is not None and not in_polars:
        raise PrcError(
            "positives= is for shards in pandas, pyarrow or Polars; an engine that holds the whole "
            "table takes drop_intermediate=True"
        )
    if drop_intermediate and frame.implementation.is_dask():
        raise PrcError(
            "drop_intermediate= takes running sums, which Dask does not have in groups; apply counts() "
            "to each partition, with positives="
        )


# At the scores of positives -------------------------------------------------------------------


def _without_intermediate(counted: Any, by: list[str]) -> Any:
    """Each run of negatives in one row, under its lowest score; and the highest score of each group."""
    nw = load_narwhals()
    alone = nw.col("n_pos") > 0
    top = nw.col("score").shift(-1).over(*by, order_by="score").is_null()
    marked = counted.with_columns(nw.when(alone | top).then(1).otherwise(0).alias(MARK))
    # A run goes by the number of marks up to here; MARK parts it from the one that it lies above.
    runs = marked.with_columns(nw.col(MARK).cum_sum().over(*by, order_by="score").alias(_RUN))
    dtype = counted.collect_schema()["n_pos"]
    return summed(runs, [*by, _RUN, MARK], dtype, nw.col("score").min()).select(*by, *COUNTS)


def _at_positives(counted: pl.LazyFrame, by: list[str], positives: pl.LazyFrame) -> pl.LazyFrame:
    """Each run of negatives in one row, under a score just above the positive below it."""
    dtype = counted.collect_schema()["score"]
    if not (dtype.is_integer() or dtype in _BITS):
        raise PrcError(
            f"positives= takes scores that are integers or floats of 32 or 64 bits; got {dtype}"
        )
    for name in (*by, "score"):
        if name not in (columns := positives.collect_schema()):
            raise PrcError(f"positives= lacks the column {name!r}; {did_you_mean(name, columns)}")
    score, mark = pl.col("score"), pl.col(MARK)
    known = positives.select(*by, score.cast(dtype)).filter(checks.is_missing(score, dtype).not_())
    both = pl.concat([counted, known.with_columns(pl.lit(True).alias(MARK))], how="diagonal")
    merged = both.group_by(*by, "score").agg(pl.col("n_pos", "n_neg").sum(), mark.any())
    below = pl.when(mark).then(score).forward_fill()
    runs = merged.sort(*by, "score").with_columns((below.over(by) if by else below).alias(_RUN))
    above = pl.coalesce(_just_above(pl.col(_RUN), dtype), _least(dtype))
    named = runs.with_columns(pl.when(mark).then(score).otherwise(above))
    sums = named.group_by(*by, "score").agg(pl.col("n_pos", "n_neg").sum())
    return sums.filter(pl.any_horizontal(pl.col("n_pos", "n_neg") > 0))


def _just_above(score: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """The next number of the dtype. -0.0 is not among the scores."""
    if dtype.is_integer():
        return score + 1
    bits = score.reinterpret(dtype=_BITS[dtype])
    return pl.when(score < 0).then(bits - 1).otherwise(bits + 1).reinterpret(dtype=dtype)


def _least(dtype: Any) -> pl.Expr:
    least: pl.Expr = pl.lit(float("-inf"), dtype) if dtype.is_float() else dtype.min()
    return least


def _in_polars(table: object) -> pl.LazyFrame:
    frame = _frame(table)
    known: pl.LazyFrame = frame.lazy().collect("polars").to_native().lazy()
    return known
