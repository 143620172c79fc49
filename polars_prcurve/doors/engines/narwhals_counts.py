"""Counts made on the engine that holds the scores, through narwhals, and fewer rows of them.

    schema -> read_input      names, dtypes and arguments are checked as those of frame methods are
    table  -> _check_values   one aggregation counts the rows of each kind of value, such as NaN or -1
           -> counts          per group and score, with GROUP BY and SUM only, which every engine has
           -> fewer rows      `_merge_negative_runs` on a whole table, `_merge_at_positives` on a shard

An engine cannot run the checks of frame methods. So Polars runs them on one example per kind of value,
with its number of rows, and errors have the same words everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, Literal, NamedTuple, TypeVar

import polars as pl

from polars_prcurve.core.ground import value_checks
from polars_prcurve.core.ground.argument_checks import read_choice
from polars_prcurve.core.ground.argument_hints import hint_at_arguments
from polars_prcurve.core.ground.errors import PrcError, suggest_names
from polars_prcurve.core.ground.exact_arithmetic import LARGEST_WEIGHT
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.value_checks import Check, guard, run_query
from polars_prcurve.core.inputs.column_reader import Missing, check_group_names, list_columns
from polars_prcurve.core.inputs.input_columns import InputColumns
from polars_prcurve.core.inputs.row_column_names import Row
from polars_prcurve.core.inputs.table_reader import read_input
from polars_prcurve.core.sweep.sweep_column_names import COUNT_COLUMNS, SQUARE_COLUMNS
from polars_prcurve.doors.namespace import prc

T = TypeVar("T")  # the kind of table that comes and goes
_ROW_COUNT = f"{RESERVED}n"  # the column with the rows of each combination of kinds of value
_RUN_NUMBER = f"{RESERVED}run"  # the column with the number of each run of negatives in its group
_RUN_START = f"{RESERVED}below"  # the column with the score of a positive that is just below a run
# The integers that have the bits of floats, in whose order the next float is the next integer.
_BITS: dict[pl.DataType, pl.DataType] = {pl.Float32(): pl.Int32(), pl.Float64(): pl.Int64()}


@hint_at_arguments
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
    in Polars, every frame method takes them as `counts=("n_pos", "n_neg")`. Needs
    `pip install "narwhals>=2.10"`.

    Parameters
    ----------
    by, score, label, pos_label, weight, missing
        As in all frame methods, but columns go by name only. pandas and Dask do not distinguish NaN
        from null, so errors about either are about null.
    thresholds
        `"corners"`, for scores that nearly all differ: keep what `sweep` keeps with it. All negatives
        between two scores of positives are counted at the lowest of their scores, in at most 2 *
        positives + 2 rows per group, with the same ROC curve, the same PR curve at every prevalence and
        the same value of every curve metric. Such tables do not add up. Not for Dask.
    positives
        Like `thresholds="corners"`, but for one of several shards, in pandas, pyarrow or Polars: a table
        with the columns `by` and `score`, which holds the scores of positives in all shards, such as the
        rows of their counts where `n_pos` is not 0. A lazy one is computed at every call: collect it
        first. The result counts the examples at each of these scores, just above it, and below all of
        them. Tables of shards add up if their `positives` were the same. If a score of a positive is
        missing, its threshold is lost, and all other rows stay correct.

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
    >>> prc(counts).sweep(counts=("n_pos", "n_neg")).select("threshold", "tp", "fp").rows()
    [(0.9, 1, 1), (0.2, 2, 1), (0.1, 2, 2)]
    """
    nw, names, engine_table = (
        _load_narwhals(),
        _read_names(by, score, label, weight),
        _to_narwhals(table),
    )
    is_eager = isinstance(engine_table, nw.DataFrame)
    is_polars = is_eager or engine_table.implementation.is_polars()
    has_corners = thresholds is not None
    read_choice("missing=", missing, ["raise", "drop"])  # what was never scored has no place here
    if has_corners:
        read_choice("thresholds=", thresholds, ["corners"])
    if positives is not None and has_corners:
        raise PrcError("pass thresholds= for a whole table, or positives= for a shard, not both")
    if positives is not None and not is_polars:
        raise PrcError(
            'pass thresholds="corners" to an engine that holds the whole table: positives= is '
            "for shards in pandas, pyarrow or Polars"
        )
    if has_corners and engine_table.implementation.is_dask():
        raise PrcError(
            'call counts() on each partition, with positives=: thresholds="corners" needs '
            "running sums within groups, which Dask lacks"
        )
    if is_polars:
        polars_table = engine_table.to_polars() if is_eager else engine_table.to_native()
        arguments = {**names._asdict(), "pos_label": pos_label, "missing": missing}
        counts_per_score = prc(polars_table).counts(**arguments).lazy()
        if positives is not None:
            marks = _to_narwhals(positives).lazy().collect("polars").to_native()
            counts_per_score = _merge_at_positives(counts_per_score, names.by, marks.lazy())
        counts_per_score = nw.from_native(counts_per_score)
    else:
        counts_per_score = _count_on_engine(engine_table, names, pos_label, missing)
    if has_corners:
        counts_per_score = _merge_negative_runs(counts_per_score, names.by)
    if not is_eager:
        return counts_per_score.to_native()  # type: ignore[no-any-return]
    polars_counts = counts_per_score.collect("polars")
    return nw.from_arrow(polars_counts, backend=engine_table.implementation).to_native()  # type: ignore[no-any-return]


def _read_names(by: Any, score: Any, label: Any, weight: Any) -> ColumnNames:
    """Return the names of columns; raise if one is an expression, or anything else but a name."""
    columns_of_argument = {"score": [score], "label": [label], "weight": [weight] * (weight is not None)}
    for argument, names in {"by": list_columns("by=", by), **columns_of_argument}.items():
        for name in names:
            if not isinstance(name, str):
                raise PrcError(
                    f"compute the column first, and pass its name as {argument}=: expressions differ "
                    f"between engines; got {name!r}"
                )
    return ColumnNames(list_columns("by=", by), score, label, weight)  # type: ignore[arg-type]


def _to_narwhals(table: object) -> Any:
    try:
        return _load_narwhals().from_native(table)
    except TypeError:
        raise PrcError(
            "expected a table of pandas, pyarrow, DuckDB, PySpark, Dask, Ibis or Polars; "
            f"got {type(table).__name__}"
        ) from None


# At the scores of positives -------------------------------------------------------------------


def _merge_negative_runs(counts_per_score: Any, by: list[str]) -> Any:
    """Merge each run of negatives into one row, at its lowest score; keep each group's highest score."""
    nw = _load_narwhals()
    is_at_positive = nw.col("n_pos") > 0
    is_highest = nw.col("score").shift(-1).over(*by, order_by="score").is_null()
    marked_counts = counts_per_score.with_columns(
        nw.when(is_at_positive | is_highest).then(1).otherwise(0).alias(Row.MARK)
    )
    # A run and the marked row just below it have the same number of marks so far; MARK distinguishes
    # them.
    run_number = nw.col(Row.MARK).cum_sum().over(*by, order_by="score")
    numbered_counts = marked_counts.with_columns(run_number.alias(_RUN_NUMBER))
    schema = counts_per_score.collect_schema()
    amount_columns = _list_amounts(schema)
    key_columns = [*by, _RUN_NUMBER, Row.MARK]
    counts_per_run = _sum_counts(
        numbered_counts, key_columns, amount_columns, schema["n_pos"], nw.col("score").min()
    )
    return counts_per_run.select(*by, "score", *amount_columns)


def _list_amounts(columns: Iterable[str]) -> list[str]:
    """Return the columns of counts that add up: with weights, those of squares, too."""
    return [name for name in (*COUNT_COLUMNS[1:], *SQUARE_COLUMNS) if name in columns]


def _merge_at_positives(
    score_counts: pl.LazyFrame, by: list[str], positives: pl.LazyFrame
) -> pl.LazyFrame:
    """Merge each run of negatives into one row, at a score just above the positive below it."""
    schema = score_counts.collect_schema()
    dtype: Any = schema["score"]
    amount_names = _list_amounts(schema)
    if not (dtype.is_integer() or dtype in _BITS):
        raise PrcError(
            f"positives= takes scores that are integers or floats of 32 or 64 bits; got {dtype}"
        )
    columns = positives.collect_schema()
    for name in (*by, "score"):
        if name not in columns:
            raise PrcError(f"positives= lacks the column {name!r}; {suggest_names(name, columns)}")
    score, is_marked = pl.col("score"), pl.col(Row.MARK)
    is_known = value_checks.is_missing(score, dtype).not_()
    marks = positives.select(*by, score.cast(dtype)).filter(is_known)
    rows = pl.concat([score_counts, marks.with_columns(pl.lit(True).alias(Row.MARK))], how="diagonal")
    marked_counts = rows.group_by(*by, "score").agg(pl.col(amount_names).sum(), is_marked.any())
    below = pl.when(is_marked).then(score).forward_fill()
    runs = marked_counts.sort(*by, "score").with_columns(
        (below.over(by) if by else below).alias(_RUN_START)
    )
    # The score must not depend on the shard, so that counts of shards add up: it is the next number, or
    # below all positives the least one. The bits of floats, read as integers, count up from 0, and those
    # of negative floats count down; the start is never -0.0.
    start = pl.col(_RUN_START)
    if dtype.is_integer():
        next_score, least_score = start + 1, dtype.min()
    else:
        least_score, bits = pl.lit(float("-inf"), dtype), start.reinterpret(dtype=_BITS[dtype])
        next_score = pl.when(start < 0).then(bits - 1).otherwise(bits + 1).reinterpret(dtype=dtype)
    run_score = pl.coalesce(next_score, least_score)
    run_counts = runs.with_columns(pl.when(is_marked).then(score).otherwise(run_score))
    summed_counts = run_counts.group_by(*by, "score").agg(pl.col(amount_names).sum())
    return summed_counts.filter(pl.any_horizontal(pl.col("n_pos", "n_neg") > 0))


# On an engine ----------------------------------------------------------------------------------


class ColumnNames(NamedTuple):
    """The arguments that name columns, as names."""

    by: list[str]
    score: str
    label: str
    weight: str | None

    def value_columns(self) -> list[str]:
        """Return the names of score and label, and of the weight if there is one."""
        return [name for name in (self.score, self.label, self.weight) if name is not None]


def _load_narwhals() -> ModuleType:
    """Return the module narwhals, which reads the tables of engines; raise if it is not installed."""
    try:
        import narwhals.stable.v2 as nw
    except ImportError:
        raise PrcError(
            'install narwhals for tables of other engines: pip install "narwhals>=2.10"'
        ) from None
    return nw


def _count_on_engine(engine_table: Any, names: ColumnNames, pos_label: Any, missing: Missing) -> Any:
    """Return the `by` columns and COUNT_COLUMNS as a lazy table of narwhals; raise on bad values.

    With weights, also return SQUARE_COLUMNS.
    """
    nw, schema = _load_narwhals(), engine_table.collect_schema()
    used_names = {*names.by, *names.value_columns()}
    # Other columns may have dtypes that Polars lacks, and only their names matter.
    used_schema = nw.Schema({name: schema[name] for name in schema if name in used_names}).to_polars()
    dtypes = {name: used_schema.get(name, pl.Null()) for name in schema}
    columns = InputColumns(**names._asdict(), pos_label=pos_label, missing=missing)
    table = read_input(pl.LazyFrame(schema=dtypes), columns, may_collect=False)
    check_group_names(table.by, COUNT_COLUMNS)
    if missing == "drop":
        for name in names.value_columns():
            engine_table = engine_table.filter(~nw.col(name).is_null())
            if dtypes[name].is_float():
                engine_table = engine_table.filter(~nw.col(name).is_nan())
    label = nw.col(names.label)
    is_positive = label if dtypes[names.label] == pl.Boolean else label == 1
    if pos_label is not None:
        is_positive = label == pos_label
    kinds_of_column = _list_kinds(names, dtypes, None if pos_label is None else is_positive)
    _check_values(engine_table, kinds_of_column, list(_list_checks(names, dtypes, pos_label)))
    amount_names: list[str] = list(COUNT_COLUMNS[1:])
    score, dtype = nw.col(names.score), nw.Int64
    if dtypes[names.score].is_float():  # an engine may group -0.0 and 0.0 apart
        score = nw.when(score == 0).then(nw.lit(0.0, schema[names.score])).otherwise(score)
    values = [condition.cast(nw.Int64) for condition in (is_positive, ~is_positive)]
    if names.weight is not None:
        dtype, amount_names = nw.Float64, [*amount_names, *SQUARE_COLUMNS]
        weight, zero = nw.col(names.weight).cast(nw.Float64), nw.lit(0.0, nw.Float64)
        values = [
            nw.when(condition).then(amount).otherwise(zero)
            for amount in (weight, weight * weight)
            for condition in (is_positive, ~is_positive)
        ]
    value_of_amount = dict(zip(amount_names, values, strict=True))
    rows = engine_table.select(*names.by, score=score, **value_of_amount)
    return _sum_counts(rows, [*names.by, "score"], amount_names, dtype).select(
        *names.by, "score", *amount_names
    )


def _sum_counts(
    amount_rows: Any, key_columns: list[str], amount_columns: list[str], dtype: Any, *aggregations: Any
) -> Any:
    """Return the sums of amounts by key, with other aggregations, and without keys of weight 0."""
    nw = _load_narwhals()
    summed_counts = amount_rows.group_by(*key_columns).agg(*aggregations, nw.col(*amount_columns).sum())
    cast_counts = summed_counts.with_columns(
        nw.col(*amount_columns).cast(dtype)
    )  # DuckDB sums in 128 bits
    return cast_counts.filter((nw.col("n_pos") > 0) | (nw.col("n_neg") > 0))


# Checks of values -----------------------------------------------------------------------------


class _ValueKind(NamedTuple):
    """A kind of value: the test that it passes on the engine, and an example of it for Polars."""

    test: Any
    example: Any


def _list_kinds(
    names: ColumnNames, dtype_of_column: dict[str, pl.DataType], is_positive: Any
) -> dict[str, list[_ValueKind]]:
    """Return the kinds of value of score, label and weight; the last kind is any other value.

    `is_positive` is the test for `pos_label`, or None for labels that need no `pos_label`.
    """
    nw = _load_narwhals()

    def missing(name: str) -> list[_ValueKind]:
        value = nw.col(name)
        nan_kinds = (
            [_ValueKind(value.is_nan(), float("nan"))] if dtype_of_column[name].is_float() else []
        )
        return [_ValueKind(value.is_null(), None), *nan_kinds]

    label, null_kinds = nw.col(names.label), [_ValueKind(nw.col(names.label).is_null(), None)]
    if is_positive is not None:
        value_kinds = [_ValueKind(is_positive, True), _ValueKind(None, False)]
    elif dtype_of_column[names.label] == pl.Boolean:
        value_kinds = [_ValueKind(None, True)]
    else:
        value_kinds = [*(_ValueKind(label == valid, valid) for valid in (0, 1, -1)), _ValueKind(None, 2)]
    kinds_of_column = {
        "score": [*missing(names.score), _ValueKind(None, 0.0)],
        "label": [*null_kinds, *value_kinds],
    }
    if names.weight is not None:
        weight = nw.col(names.weight)
        is_wrong = (weight < 0) | (weight.cast(nw.Float64) > LARGEST_WEIGHT)
        kinds_of_column["weight"] = [
            *missing(names.weight),
            _ValueKind(is_wrong, -1.0),
            _ValueKind(None, 0.0),
        ]
    return kinds_of_column


def _list_checks(
    names: ColumnNames, dtype_of_column: dict[str, pl.DataType], pos_label: Any
) -> Iterator[Check]:
    """Yield the checks of frame methods, in the same order, on the table of examples."""
    score_description, label_description = (
        f"score column {names.score!r}",
        f"label column {names.label!r}",
    )
    yield from value_checks.missing_checks(
        _sum_rows, score_description, pl.col("score"), refuses_nan=True, may_rank_last=True
    )
    yield from value_checks.missing_checks(
        _sum_rows, label_description, pl.col("label"), refuses_nan=False
    )
    if pos_label is not None:
        yield from value_checks.pos_label_checks(
            _sum_rows, label_description, pl.col("label"), pos_label
        )
    elif dtype_of_column[names.label] != pl.Boolean:
        yield from value_checks.label_checks(_sum_rows, label_description, pl.col("label"))
    if names.weight is not None:
        weight_description = f"weight column {names.weight!r}"
        yield from value_checks.missing_checks(
            _sum_rows, weight_description, pl.col("weight"), refuses_nan=True
        )
        yield from value_checks.weight_checks(_sum_rows, weight_description, pl.col("weight"))


def _sum_rows(condition: pl.Expr) -> pl.Expr:
    """Return the number of rows on the engine whose kinds of value pass the test."""
    return pl.when(condition).then(pl.col(_ROW_COUNT)).otherwise(0).sum()


def _check_values(
    engine_table: Any, kinds_of_column: dict[str, list[_ValueKind]], checks: list[Check]
) -> None:
    """Count the rows of each combination of kinds, and run the checks on an example of each."""
    nw = _load_narwhals()
    kind_number_of_column = {
        name: nw.lit(len(value_kinds) - 1) for name, value_kinds in kinds_of_column.items()
    }
    for name, value_kinds in kinds_of_column.items():  # the first test that holds gives the kind
        for number, kind in reversed(list(enumerate(value_kinds[:-1]))):
            kind_number_of_column[name] = (
                nw.when(kind.test).then(nw.lit(number)).otherwise(kind_number_of_column[name])
            )
    combinations = (
        engine_table.select(**kind_number_of_column)
        .group_by(*kinds_of_column)
        .agg(nw.len().alias(_ROW_COUNT))
    )
    combinations = combinations.collect("polars").to_native()
    dtype_of_column: dict[str, Any] = {
        name: type(value_kinds[-1].example) for name, value_kinds in kinds_of_column.items()
    }
    examples = combinations.with_columns(
        pl.Series(
            name, [value_kinds[number].example for number in combinations[name]], dtype_of_column[name]
        )
        for name, value_kinds in kinds_of_column.items()
    )
    run_query(examples.lazy().select(guard(checks)), examples.height)
