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

from polars_prcurve.core.ground import column_checks
from polars_prcurve.core.ground.argument_checks import read_choice
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import LARGEST_WEIGHT
from polars_prcurve.core.ground.name_hints import hint_at_arguments, suggest_names
from polars_prcurve.core.ground.query_guards import Check, guard, run_query
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.column_reader import InputColumns, Missing, list_columns
from polars_prcurve.core.inputs.group_column_checks import check_group_names
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
    nw, column_names = _load_narwhals(), _read_names(by, score, label, weight)
    engine_table = _to_narwhals(table)
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
        arguments = {**column_names._asdict(), "pos_label": pos_label, "missing": missing}
        counts_per_score = prc(polars_table).counts(**arguments).lazy()
        if positives is not None:
            positive_rows = _to_narwhals(positives).lazy().collect("polars").to_native()
            counts_per_score = _merge_at_positives(
                counts_per_score, column_names.by, positive_rows.lazy()
            )
        counts_per_score = nw.from_native(counts_per_score)
    else:
        counts_per_score = _count_on_engine(engine_table, column_names, pos_label, missing)
    if has_corners:
        counts_per_score = _merge_negative_runs(counts_per_score, column_names.by)
    if not is_eager:
        return counts_per_score.to_native()  # type: ignore[no-any-return]
    polars_counts = counts_per_score.collect("polars")
    return nw.from_arrow(polars_counts, backend=engine_table.implementation).to_native()  # type: ignore[no-any-return]


def _read_names(by: Any, score: Any, label: Any, weight: Any) -> ColumnNames:
    """Return the names of columns; raise if one is an expression, or anything else but a name."""
    columns_by_argument = {"score": [score], "label": [label], "weight": [weight] * (weight is not None)}
    for argument, column_names in {"by": list_columns("by=", by), **columns_by_argument}.items():
        for column_name in column_names:
            if not isinstance(column_name, str):
                raise PrcError(
                    f"compute the column first, and pass its name as {argument}=: expressions differ "
                    f"between engines; got {column_name!r}"
                )
    return ColumnNames(list_columns("by=", by), score, label, weight)  # type: ignore[arg-type]


def _to_narwhals(native_table: object) -> Any:
    try:
        return _load_narwhals().from_native(native_table)
    except TypeError:
        raise PrcError(
            "expected a table of pandas, pyarrow, DuckDB, PySpark, Dask, Ibis or Polars; "
            f"got {type(native_table).__name__}"
        ) from None


# At the scores of positives -------------------------------------------------------------------


def _merge_negative_runs(score_table: Any, group_columns: list[str]) -> Any:
    """Merge each run of negatives into one row, at its lowest score; keep each group's highest score."""
    nw = _load_narwhals()
    is_at_positive_expr = nw.col("n_pos") > 0
    is_highest_expr = nw.col("score").shift(-1).over(*group_columns, order_by="score").is_null()
    marked_table = score_table.with_columns(
        nw.when(is_at_positive_expr | is_highest_expr).then(1).otherwise(0).alias(Row.MARK)
    )
    # A run and the marked row just below it have the same number of marks so far; MARK distinguishes
    # them.
    run_number_expr = nw.col(Row.MARK).cum_sum().over(*group_columns, order_by="score")
    numbered_table = marked_table.with_columns(run_number_expr.alias(_RUN_NUMBER))
    schema = score_table.collect_schema()
    count_columns = _list_count_columns(schema)
    key_columns = [*group_columns, _RUN_NUMBER, Row.MARK]
    run_table = _sum_counts(
        numbered_table, key_columns, count_columns, schema["n_pos"], nw.col("score").min()
    )
    return run_table.select(*group_columns, "score", *count_columns)


def _list_count_columns(column_names: Iterable[str]) -> list[str]:
    """Return the columns of counts that add up: with weights, those of squares, too."""
    return [name for name in (*COUNT_COLUMNS[1:], *SQUARE_COLUMNS) if name in column_names]


def _merge_at_positives(
    score_rows: pl.LazyFrame, group_columns: list[str], positive_rows: pl.LazyFrame
) -> pl.LazyFrame:
    """Merge each run of negatives into one row, at a score just above the positive below it."""
    schema = score_rows.collect_schema()
    score_dtype: Any = schema["score"]
    count_columns = _list_count_columns(schema)
    score_expr, is_marked_expr = pl.col("score"), pl.col(Row.MARK)
    mark_rows = _read_mark_rows(positive_rows, group_columns, score_dtype)
    counted_and_mark_rows = pl.concat([score_rows, mark_rows], how="diagonal")
    marked_rows = counted_and_mark_rows.group_by(*group_columns, "score").agg(
        pl.col(count_columns).sum(), is_marked_expr.any()
    )
    score_below_expr = pl.when(is_marked_expr).then(score_expr).forward_fill()
    run_rows = marked_rows.sort(*group_columns, "score").with_columns(
        (score_below_expr.over(group_columns) if group_columns else score_below_expr).alias(_RUN_START)
    )
    run_score_expr = _build_run_score(score_dtype)
    scored_run_rows = run_rows.with_columns(
        pl.when(is_marked_expr).then(score_expr).otherwise(run_score_expr)
    )
    summed_rows = scored_run_rows.group_by(*group_columns, "score").agg(pl.col(count_columns).sum())
    return summed_rows.filter(pl.any_horizontal(pl.col("n_pos", "n_neg") > 0))


def _read_mark_rows(
    positive_rows: pl.LazyFrame, group_columns: list[str], score_dtype: Any
) -> pl.LazyFrame:
    """Return the scores of positives, each as a mark; raise if they cannot be those of the counts."""
    if not (score_dtype.is_integer() or score_dtype in _BITS):
        raise PrcError(
            f"positives= takes scores that are integers or floats of 32 or 64 bits; got {score_dtype}"
        )
    schema = positive_rows.collect_schema()
    for name in (*group_columns, "score"):
        if name not in schema:
            raise PrcError(f"positives= lacks the column {name!r}; {suggest_names(name, schema)}")
    score_expr = pl.col("score")
    is_known_expr = column_checks.is_missing(score_expr, score_dtype).not_()
    mark_rows = positive_rows.select(*group_columns, score_expr.cast(score_dtype)).filter(is_known_expr)
    return mark_rows.with_columns(pl.lit(True).alias(Row.MARK))


def _build_run_score(score_dtype: Any) -> pl.Expr:
    """Return the score of a run of negatives: just above the positive below it, or else the least."""
    # The score must not depend on the shard, so that counts of shards add up: it is the next number, or
    # below all positives the least one. The bits of floats, read as integers, count up from 0, and those
    # of negative floats count down; the start is never -0.0.
    run_start_expr = pl.col(_RUN_START)
    if score_dtype.is_integer():
        return pl.coalesce(run_start_expr + 1, score_dtype.min())
    bits_expr = run_start_expr.reinterpret(dtype=_BITS[score_dtype])
    next_bits_expr = pl.when(run_start_expr < 0).then(bits_expr - 1).otherwise(bits_expr + 1)
    least_score_expr = pl.lit(float("-inf"), score_dtype)
    return pl.coalesce(next_bits_expr.reinterpret(dtype=score_dtype), least_score_expr)


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


def _count_on_engine(
    engine_table: Any, column_names: ColumnNames, pos_label: Any, missing: Missing
) -> Any:
    """Return the `by` columns and COUNT_COLUMNS as a lazy table of narwhals; raise on bad values.

    With weights, also return SQUARE_COLUMNS.
    """
    nw, schema = _load_narwhals(), engine_table.collect_schema()
    used_names = {*column_names.by, *column_names.value_columns()}
    # Other columns may have dtypes that Polars lacks, and only their names matter.
    used_schema = nw.Schema({name: schema[name] for name in schema if name in used_names}).to_polars()
    dtype_by_column = {name: used_schema.get(name, pl.Null()) for name in schema}
    input_columns = InputColumns(**column_names._asdict(), pos_label=pos_label, missing=missing)
    resolved_table = read_input(pl.LazyFrame(schema=dtype_by_column), input_columns, may_collect=False)
    check_group_names(resolved_table.by, COUNT_COLUMNS)
    if missing == "drop":
        for name in column_names.value_columns():
            engine_table = engine_table.filter(~nw.col(name).is_null())
            if dtype_by_column[name].is_float():
                engine_table = engine_table.filter(~nw.col(name).is_nan())
    label_expr = nw.col(column_names.label)
    is_positive_expr = (
        label_expr if dtype_by_column[column_names.label] == pl.Boolean else label_expr == 1
    )
    if pos_label is not None:
        is_positive_expr = label_expr == pos_label
    kinds_by_column = _list_kinds(
        column_names, dtype_by_column, None if pos_label is None else is_positive_expr
    )
    _check_values(
        engine_table, kinds_by_column, list(_list_checks(column_names, dtype_by_column, pos_label))
    )
    score_expr = nw.col(column_names.score)
    if dtype_by_column[column_names.score].is_float():  # an engine may group -0.0 and 0.0 apart
        zero_expr = nw.lit(0.0, schema[column_names.score])
        score_expr = nw.when(score_expr == 0).then(zero_expr).otherwise(score_expr)
    return _count_classes(engine_table, column_names, score_expr, is_positive_expr)


def _count_classes(
    engine_table: Any, column_names: ColumnNames, score_expr: Any, is_positive_expr: Any
) -> Any:
    """Return the sums of both classes, or of their weights and squared weights, by group and score."""
    nw = _load_narwhals()
    count_columns: list[str] = list(COUNT_COLUMNS[1:])
    count_dtype = nw.Int64
    count_exprs = [
        condition_expr.cast(nw.Int64) for condition_expr in (is_positive_expr, ~is_positive_expr)
    ]
    if column_names.weight is not None:
        count_dtype, count_columns = nw.Float64, [*count_columns, *SQUARE_COLUMNS]
        weight_expr, zero_expr = nw.col(column_names.weight).cast(nw.Float64), nw.lit(0.0, nw.Float64)
        count_exprs = [
            nw.when(condition_expr).then(weight_power_expr).otherwise(zero_expr)
            for weight_power_expr in (weight_expr, weight_expr * weight_expr)
            for condition_expr in (is_positive_expr, ~is_positive_expr)
        ]
    expr_by_count_column = dict(zip(count_columns, count_exprs, strict=True))
    example_table = engine_table.select(*column_names.by, score=score_expr, **expr_by_count_column)
    return _sum_counts(example_table, [*column_names.by, "score"], count_columns, count_dtype).select(
        *column_names.by, "score", *count_columns
    )


def _sum_counts(
    example_table: Any,
    key_columns: list[str],
    count_columns: list[str],
    count_dtype: Any,
    *other_exprs: Any,
) -> Any:
    """Return the sums of amounts by key, with other aggregations, and without keys of weight 0."""
    nw = _load_narwhals()
    summed_table = example_table.group_by(*key_columns).agg(*other_exprs, nw.col(*count_columns).sum())
    # DuckDB sums in 128 bits.
    cast_table = summed_table.with_columns(nw.col(*count_columns).cast(count_dtype))
    return cast_table.filter((nw.col("n_pos") > 0) | (nw.col("n_neg") > 0))


# Checks of values -----------------------------------------------------------------------------


class _ValueKind(NamedTuple):
    """A kind of value: the test that it passes on the engine, and an example of it for Polars."""

    test: Any
    example: Any


def _list_kinds(
    column_names: ColumnNames, dtype_by_column: dict[str, pl.DataType], is_positive_expr: Any
) -> dict[str, list[_ValueKind]]:
    """Return the kinds of value of score, label and weight; the last kind is any other value.

    `is_positive_expr` is the test for `pos_label`, or None for labels that need no `pos_label`.
    """
    nw = _load_narwhals()

    def list_missing_kinds(name: str) -> list[_ValueKind]:
        value_expr = nw.col(name)
        nan_kinds = (
            [_ValueKind(value_expr.is_nan(), float("nan"))] if dtype_by_column[name].is_float() else []
        )
        return [_ValueKind(value_expr.is_null(), None), *nan_kinds]

    label_expr = nw.col(column_names.label)
    null_kinds = [_ValueKind(nw.col(column_names.label).is_null(), None)]
    if is_positive_expr is not None:
        label_kinds = [_ValueKind(is_positive_expr, True), _ValueKind(None, False)]
    elif dtype_by_column[column_names.label] == pl.Boolean:
        label_kinds = [_ValueKind(None, True)]
    else:
        label_kinds = [
            *(_ValueKind(label_expr == valid_label, valid_label) for valid_label in (0, 1, -1)),
            _ValueKind(None, 2),
        ]
    kinds_by_column = {
        "score": [*list_missing_kinds(column_names.score), _ValueKind(None, 0.0)],
        "label": [*null_kinds, *label_kinds],
    }
    if column_names.weight is not None:
        weight_expr = nw.col(column_names.weight)
        is_wrong_expr = (weight_expr < 0) | (weight_expr.cast(nw.Float64) > LARGEST_WEIGHT)
        kinds_by_column["weight"] = [
            *list_missing_kinds(column_names.weight),
            _ValueKind(is_wrong_expr, -1.0),
            _ValueKind(None, 0.0),
        ]
    return kinds_by_column


def _list_checks(
    column_names: ColumnNames, dtype_by_column: dict[str, pl.DataType], pos_label: Any
) -> Iterator[Check]:
    """Yield the checks of frame methods, in the same order, on the table of examples."""
    score_description = f"score column {column_names.score!r}"
    label_description = f"label column {column_names.label!r}"
    yield from column_checks.missing_checks(
        _count_rows_where, score_description, pl.col("score"), refuses_nan=True, may_rank_last=True
    )
    yield from column_checks.missing_checks(
        _count_rows_where, label_description, pl.col("label"), refuses_nan=False
    )
    if pos_label is not None:
        yield from column_checks.pos_label_checks(
            _count_rows_where, label_description, pl.col("label"), pos_label
        )
    elif dtype_by_column[column_names.label] != pl.Boolean:
        yield from column_checks.label_checks(_count_rows_where, label_description, pl.col("label"))
    if column_names.weight is not None:
        weight_description = f"weight column {column_names.weight!r}"
        yield from column_checks.missing_checks(
            _count_rows_where, weight_description, pl.col("weight"), refuses_nan=True
        )
        yield from column_checks.weight_checks(_count_rows_where, weight_description, pl.col("weight"))


def _count_rows_where(condition: pl.Expr) -> pl.Expr:
    """Return the number of rows on the engine whose kinds of value pass the test."""
    return pl.when(condition).then(pl.col(_ROW_COUNT)).otherwise(0).sum()


def _check_values(
    engine_table: Any, kinds_by_column: dict[str, list[_ValueKind]], checks: list[Check]
) -> None:
    """Count the rows of each combination of kinds, and run the checks on an example of each."""
    nw = _load_narwhals()
    kind_number_expr_by_column = {
        name: nw.lit(len(value_kinds) - 1) for name, value_kinds in kinds_by_column.items()
    }
    for name, value_kinds in kinds_by_column.items():  # the first test that holds gives the kind
        for kind_number, value_kind in reversed(list(enumerate(value_kinds[:-1]))):
            kind_number_expr_by_column[name] = (
                nw.when(value_kind.test)
                .then(nw.lit(kind_number))
                .otherwise(kind_number_expr_by_column[name])
            )
    combination_table = (
        engine_table.select(**kind_number_expr_by_column)
        .group_by(*kinds_by_column)
        .agg(nw.len().alias(_ROW_COUNT))
    )
    combination_table = combination_table.collect("polars").to_native()
    type_by_column: dict[str, Any] = {
        name: type(value_kinds[-1].example) for name, value_kinds in kinds_by_column.items()
    }
    example_frame = combination_table.with_columns(
        pl.Series(
            name,
            [value_kinds[kind_number].example for kind_number in combination_table[name]],
            type_by_column[name],
        )
        for name, value_kinds in kinds_by_column.items()
    )
    run_query(example_frame.lazy().select(guard(checks)), example_frame.height)
