"""Counts made where the scores are: DuckDB, Spark, Dask, Ibis, pandas, pyarrow, through narwhals.

`(group, score) -> (n_pos, n_neg)` needs GROUP BY and SUM only, and tables of shards, days and files add
up. So an engine reduces its scores to counts, and all else is done from those by `counts=`.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import polars as pl

from polars_prcurve import checks
from polars_prcurve.columns import COUNTS, MARK, RESERVED
from polars_prcurve.errors import Check, PrcError, did_you_mean, guard, raised_eagerly
from polars_prcurve.inputs import Missing, listed, read_input
from polars_prcurve.namespace import prc

__all__ = ["counts"]

T = TypeVar("T")
_RUN = f"{RESERVED}run"
_N = f"{RESERVED}n"
_BITS: dict[pl.DataType, pl.DataType] = {pl.Float32(): pl.Int32(), pl.Float64(): pl.Int64()}


class _Names(NamedTuple):
    """The arguments that name columns."""

    by: list[str]
    score: str
    label: str
    weight: str | None

    def of_values(self) -> list[str]:
        """Score, label and weight, if there is one."""
        return [name for name in (self.score, self.label, self.weight) if name is not None]


class _Kind(NamedTuple):
    """A kind of value: the test that tells it, and an example of it."""

    test: Any
    example: Any


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

    What `.prc.counts` returns, from a table of pandas, pyarrow, DuckDB, PySpark, Dask, Ibis or Polars, as a
    table of the same kind: lazy where the engine is. Collect it as a Polars DataFrame, and every frame
    method takes it by `counts=("n_pos", "n_neg")`. Needs `pip install "polars-prcurve[engines]"`.

    Parameters
    ----------
    by, score, label, pos_label, weight, missing
        As in all frame methods, but columns go by name only. pandas and Dask do not tell NaN from null;
        it is called null.
    drop_intermediate
        Where nearly all scores differ: what `sweep(drop_intermediate=True)` keeps, counted by the engine. Of
        the negatives between two scores that positives have, all go by the lowest score. At most
        2 * positives + 2 rows per group, for the same ROC curve, the same PR curve at every prevalence, and
        the same value of every metric of a curve. Such tables do not add up. Not for Dask.
    positives
        The same for one shard of several, in pandas, pyarrow or Polars: a table with the columns `by` and
        `score` that holds all scores of positives in any shard, such as the rows of all shards' counts where
        `n_pos` is not 0. Counts are then made at each of these scores, just above it, and below all of them,
        so that tables of shards that were given the same `positives` add up.

    Returns
    -------
    One row per `by` group and distinct score, in no order:

    - `score`: as in the table; -0.0 is 0.0
    - `n_pos`, `n_neg`: Int64, or Float64 with weights

    What values must be is looked up before this returns, by one aggregation of its own over the table,
    so that a `PrcError` names what is wrong, and nothing is missing from the counts. A Polars LazyFrame is
    not read: there the check is part of the query.

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
    nw, names, frame = _narwhals(), _names(by, score, label, weight), _frame(table)
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
        counted = _counted(frame, names, pos_label, missing)
    if drop_intermediate:
        counted = _without_intermediate(counted, names.by)
    if not eager:
        return counted.to_native()  # type: ignore[no-any-return]
    collected = counted.collect("polars")
    return nw.from_arrow(collected, backend=frame.implementation).to_native()  # type: ignore[no-any-return]


def _narwhals() -> ModuleType:
    try:
        import narwhals.stable.v2 as nw
    except ImportError:
        raise PrcError(
            'tables of other engines are read by narwhals: pip install "polars-prcurve[engines]"'
        ) from None
    return nw


def _names(by: Any, score: Any, label: Any, weight: Any) -> _Names:
    given = {"score": [score], "label": [label], "weight": [weight] * (weight is not None)}
    for argument, names in {"by": listed(by), **given}.items():
        for name in names:
            if not isinstance(name, str):
                raise PrcError(
                    f"{argument}= takes names of columns here, which every engine knows; got {name!r}; "
                    "compute the column first"
                )
    return _Names(listed(by), score, label, weight)  # type: ignore[arg-type]


def _frame(table: object) -> Any:
    try:
        return _narwhals().from_native(table)
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
            "positives= is for shards in pandas, pyarrow or Polars; an engine that holds all of them takes "
            "drop_intermediate=True"
        )
    if drop_intermediate and frame.implementation.is_dask():
        raise PrcError(
            "drop_intermediate= takes running sums, which Dask does not have in groups; apply counts() to "
            "each partition, with positives="
        )


# At the scores of positives -------------------------------------------------------------------


def _without_intermediate(counted: Any, by: list[str]) -> Any:
    """Each run of negatives in one row, under its lowest score; and the highest score of each group."""
    nw = _narwhals()
    alone = nw.col("n_pos") > 0
    top = nw.col("score").shift(-1).over(*by, order_by="score").is_null()
    marked = counted.with_columns(nw.when(alone | top).then(1).otherwise(0).alias(MARK))
    # A run goes by the number of marks up to here; MARK parts it from the one that it lies above.
    runs = marked.with_columns(nw.col(MARK).cum_sum().over(*by, order_by="score").alias(_RUN))
    dtype = counted.collect_schema()["n_pos"]
    return _summed(runs, [*by, _RUN, MARK], dtype, nw.col("score").min()).select(*by, *COUNTS)


def _at_positives(counted: pl.LazyFrame, by: list[str], positives: pl.LazyFrame) -> pl.LazyFrame:
    """Each run of negatives in one row, under a score just above the positive below it."""
    dtype = counted.collect_schema()["score"]
    if not (dtype.is_integer() or dtype in _BITS):
        raise PrcError(f"positives= takes scores that are integers or floats of 32 or 64 bits; got {dtype}")
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


# On a lazy engine -----------------------------------------------------------------------------


def _counted(frame: Any, names: _Names, pos_label: Any, missing: Missing) -> Any:
    nw = _narwhals()
    dtypes = _dtypes(frame, names, pos_label, missing)
    if missing == "drop":
        for name in names.of_values():
            frame = frame.filter(~_missing(nw.col(name), dtypes[name]))
    label = nw.col(names.label)
    positive = label if dtypes[names.label] == pl.Boolean else label == 1
    if pos_label is not None:
        positive = label == pos_label
    kinds = _kinds(names, dtypes, None if pos_label is None else positive)
    _refuse(frame, kinds, list(_checks(names, dtypes, pos_label)))
    rows = frame.select(*names.by, **_parts(frame, names, dtypes, positive))
    dtype = nw.Int64 if names.weight is None else nw.Float64
    return _summed(rows, [*names.by, "score"], dtype).select(*names.by, *COUNTS)


def _dtypes(frame: Any, names: _Names, pos_label: Any, missing: Missing) -> dict[str, pl.DataType]:
    """What the columns are, once names, dtypes and arguments are found to be right."""
    asked = {*names.by, *names.of_values()}
    schema = frame.collect_schema()
    known = _narwhals().Schema({name: schema[name] for name in schema if name in asked}).to_polars()
    dtypes = {name: known.get(name, pl.Null()) for name in schema}
    how = {**names._asdict(), "pos_label": pos_label, "missing": missing}
    read_input(pl.LazyFrame(schema=dtypes), makes=COUNTS, **how)
    return dtypes


def _missing(value: Any, dtype: pl.DataType) -> Any:
    return value.is_null() | value.is_nan() if dtype.is_float() else value.is_null()


def _parts(
    frame: Any, names: _Names, dtypes: dict[str, pl.DataType], positive: Any
) -> dict[str, Any]:
    """The columns of COUNTS, as each row adds to them."""
    nw = _narwhals()
    score = nw.col(names.score)
    if dtypes[names.score].is_float():  # an engine may group -0.0 and 0.0 apart
        zero = nw.lit(0.0, frame.collect_schema()[names.score])
        score = nw.when(score == 0).then(zero).otherwise(score)
    if names.weight is None:
        amounts = positive.cast(nw.Int64), (~positive).cast(nw.Int64)
    else:
        weight, nothing = nw.col(names.weight).cast(nw.Float64), nw.lit(0.0, nw.Float64)
        amounts = tuple(nw.when(one).then(weight).otherwise(nothing) for one in (positive, ~positive))
    return dict(zip(COUNTS, (score, *amounts), strict=True))


def _summed(rows: Any, keys: list[str], dtype: Any, *more: Any) -> Any:
    """Counts by key, without keys of no weight."""
    nw = _narwhals()
    added = rows.group_by(*keys).agg(*more, nw.col("n_pos", "n_neg").sum())
    counted = added.with_columns(nw.col("n_pos", "n_neg").cast(dtype))  # DuckDB adds up in 128 bits
    return counted.filter((nw.col("n_pos") > 0) | (nw.col("n_neg") > 0))


# What values must be --------------------------------------------------------------------------


def _kinds(names: _Names, dtypes: dict[str, pl.DataType], positive: Any) -> dict[str, list[_Kind]]:
    """For score, label and weight the kinds of value; the last kind is all the rest."""
    nw = _narwhals()

    def missing(name: str) -> list[_Kind]:
        value = nw.col(name)
        nan = [_Kind(value.is_nan(), float("nan"))] if dtypes[name].is_float() else []
        return [_Kind(value.is_null(), None), *nan]

    label, absent = nw.col(names.label), [_Kind(nw.col(names.label).is_null(), None)]
    if positive is not None:
        labels = [_Kind(positive, True), _Kind(None, False)]
    elif dtypes[names.label] == pl.Boolean:
        labels = [_Kind(None, True)]
    else:
        labels = [*(_Kind(label == valid, valid) for valid in (0, 1, -1)), _Kind(None, 2)]
    kinds = {"score": [*missing(names.score), _Kind(None, 0.0)], "label": [*absent, *labels]}
    if names.weight is not None:
        weight = nw.col(names.weight)
        wrong = (weight < 0) | (weight.cast(nw.Float64) == float("inf"))
        kinds["weight"] = [*missing(names.weight), _Kind(wrong, -1.0), _Kind(None, 0.0)]
    return kinds


def _checks(names: _Names, dtypes: dict[str, pl.DataType], pos_label: Any) -> Iterator[Check]:
    """Those of a frame method, in its order."""
    score, label = f"score column {names.score!r}", f"label column {names.label!r}"
    yield from checks.missing_checks(_rows, score, pl.col("score"), nan=True)
    yield from checks.missing_checks(_rows, label, pl.col("label"), nan=False)
    if pos_label is not None:
        yield from checks.pos_label_check(_rows, label, pl.col("label"), pos_label)
    elif dtypes[names.label] != pl.Boolean:
        yield from checks.label_checks(_rows, label, pl.col("label"))
    if names.weight is not None:
        weight = f"weight column {names.weight!r}"
        yield from checks.missing_checks(_rows, weight, pl.col("weight"), nan=True)
        yield from checks.amount_checks(_rows, weight, pl.col("weight"))


def _rows(test: pl.Expr) -> pl.Expr:
    return pl.when(test).then(pl.col(_N)).otherwise(0).sum()


def _refuse(frame: Any, kinds: dict[str, list[_Kind]], found: list[Check]) -> None:
    """Count the rows of each kind in one aggregation, and let Polars check an example of each."""
    nw = _narwhals()
    kind_of = {name: _first_of([kind.test for kind in kinds[name]]) for name in kinds}
    seen = frame.select(**kind_of).group_by(*kinds).agg(nw.len().alias(_N)).collect("polars").to_native()
    examples = {
        name: pl.Series([kinds[name][number].example for number in seen[name]], dtype=type(kinds[name][-1].example))
        for name in kinds
    }
    with raised_eagerly():
        seen.with_columns(**examples).select(guard(found))


def _first_of(tests: list[Any]) -> Any:
    """The number of the first test that holds, or of the last."""
    nw = _narwhals()
    number = nw.lit(len(tests) - 1)
    for i, test in reversed(list(enumerate(tests[:-1]))):
        number = nw.when(test).then(nw.lit(i)).otherwise(number)
    return number
