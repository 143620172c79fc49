"""A user's table, read into a `ScoreTable`, with labels or without, or into a `RateTable`.

Every column is resolved and typed here. What names and dtypes show raises at once. What only values show
becomes a check that the query carries with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.core.ground import column_checks
from polars_prcurve.core.ground.argument_checks import read_list, read_whole_number, refuse_kind
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.message_text import join_words
from polars_prcurve.core.ground.name_hints import suggest_names
from polars_prcurve.core.ground.query_guards import Check
from polars_prcurve.core.inputs.column_reader import (
    Cells,
    Column,
    ColumnReader,
    Columns,
    InputColumns,
    TypedColumn,
    TypedExpr,
    list_columns,
    list_known_columns,
)
from polars_prcurve.core.inputs.never_scored import add_never_scored
from polars_prcurve.core.inputs.resolved_tables import (
    RateTable,
    ResolvedTable,
    ScoreTable,
    Tallies,
    breaks_checks,
)
from polars_prcurve.core.inputs.row_column_names import Row
from polars_prcurve.core.inputs.sample_kinds import COLUMN_OF_WORD


def read_input(
    input_rows: pl.DataFrame | pl.LazyFrame,
    input_columns: InputColumns,
    *,
    may_collect: bool,
    user_table: pl.DataFrame | pl.LazyFrame | None = None,
    wide_score_names: Sequence[str] = (),
    are_posteriors: bool = False,
) -> ScoreTable | RateTable:
    """Return the table with every column resolved and typed.

    `user_table` is given if `input_rows` are another table with the same groups. Examples with an
    `id` are left out as a whole if a value is missing in one of their rows, unless rows are matched.
    Scores that `are_posteriors` lie in [0, 1]. `wide_score_names` are the columns that they came from.
    """
    reader = ColumnReader(
        input_rows,
        input_columns.missing,
        may_collect=may_collect,
        user_table=user_table,
        wide_score_names=wide_score_names,
    )
    model_column, part_columns = _read_groups(reader, input_columns)
    if input_columns.points is not None or input_columns.sizes is not None:
        point_exprs, table_fields = _read_points(reader, input_columns)
        return RateTable(
            **reader.build_table_fields(point_exprs), **table_fields, model_column=model_column
        )
    model_dtype = reader.by.get(Row.MODEL) if input_columns.is_matched else None
    wide_model_names = model_dtype.categories.to_list() if isinstance(model_dtype, pl.Enum) else []
    typed_score_column = _read_score(
        reader, input_columns.score, wide_model_names, are_posteriors=are_posteriors
    )
    has_count_columns = input_columns.counts is not None
    typed_exprs = (
        _read_counts(reader, input_columns) if has_count_columns else _read_labels(reader, input_columns)
    )
    id_exprs = _read_ids(reader, input_columns)
    table = _build_score_table(
        reader, typed_score_column, typed_exprs, id_exprs, is_weighted=input_columns.weight is not None
    )
    table = replace(table, model_column=model_column, within=tuple(part_columns))
    if input_columns.below is not None or reader.lets_null_scores:
        table = add_never_scored(table, input_columns.below, has_unscored_rows=reader.lets_null_scores)
    return table.aggregate_scores() if _scores_repeat(table, input_rows) else _list_examples(table)


def read_unlabelled(
    input_rows: pl.DataFrame | pl.LazyFrame,
    input_columns: InputColumns,
    *,
    may_collect: bool,
    are_posteriors: bool = False,
) -> ScoreTable:
    """Return a table without labels, all of whose rows stand as negatives; posteriors become Float64."""
    reader = ColumnReader(input_rows, input_columns.missing, may_collect=may_collect)
    reader.read_by(input_columns.by)
    typed_score_column = _read_score(reader, input_columns.score)
    if are_posteriors:
        posterior_expr = typed_score_column.expr.cast(pl.Float64)
        reader.check(column_checks.unlabelled_checks, typed_score_column.subject_phrase, posterior_expr)
        typed_score_column = typed_score_column._replace(expr=posterior_expr, dtype=pl.Float64())
    typed_exprs = _read_row_counts(reader, input_columns.counts)
    return _build_score_table(reader, typed_score_column, typed_exprs, {}, is_weighted=False)


def _read_groups(reader: ColumnReader, input_columns: InputColumns) -> tuple[str, list[str]]:
    """Add the group columns, and return the names of that of models, or "", and of those of parts."""
    reader.read_by(input_columns.by)
    model_column = "" if input_columns.model is None else _read_model(reader, input_columns.model)
    return model_column, [] if input_columns.parts is None else _read_parts(reader, input_columns.parts)


def _read_ids(reader: ColumnReader, input_columns: InputColumns) -> dict[str, pl.Expr]:
    """Return the columns of kinds of samples, and Row.EXAMPLE, as far as a table has them."""
    id_exprs = {
        row_column: reader.read_values(word, getattr(input_columns, word)).expr
        for word, row_column in COLUMN_OF_WORD.items()
        if getattr(input_columns, word) is not None
    }
    if Row.STRATUM in id_exprs and input_columns.weight is not None:
        id_exprs[Row.STRATUM_WEIGHT] = _read_stratum_weight(
            reader, id_exprs[Row.STRATUM], input_columns.weight
        )
    example_key_exprs = [
        reader.read_values("id", name_or_expr).expr
        for name_or_expr in list_columns("id=", input_columns.id)
    ]
    if not example_key_exprs:
        return id_exprs
    # Their own names may be equal.
    named_key_exprs = [
        key_expr.alias(str(key_number)) for key_number, key_expr in enumerate(example_key_exprs)
    ]
    has_one_key = len(named_key_exprs) == 1
    id_exprs[Row.EXAMPLE] = example_key_exprs[0] if has_one_key else pl.struct(named_key_exprs)
    if not input_columns.is_matched:
        n_group_columns = len(reader.by_exprs) - (input_columns.model is not None)
        reader.example_key_exprs = [*reader.by_exprs[:n_group_columns], *example_key_exprs]
    return id_exprs


def _build_score_table(
    reader: ColumnReader,
    typed_score_column: TypedColumn,
    typed_exprs: Mapping[str, TypedExpr],
    id_exprs: Mapping[str, pl.Expr],
    *,
    is_weighted: bool,
) -> ScoreTable:
    """Return the table of a score, of what a row adds to both classes, and of what it belongs to."""
    has_float_dtype = any(dtype == pl.Float64 for _, dtype in typed_exprs.values())
    has_floats = has_float_dtype or Row.POS_SQUARES in typed_exprs
    amount_exprs = {
        name: amount_expr.cast(pl.Float64) if has_floats else amount_expr
        for name, (amount_expr, _) in typed_exprs.items()
    }
    return ScoreTable(
        **reader.build_table_fields({Row.SCORE: typed_score_column.expr, **amount_exprs, **id_exprs}),
        score_dtype=typed_score_column.dtype,
        has_float_sums=has_floats,
        count_dtype=pl.Float64() if has_floats or is_weighted else pl.Int64(),
        is_weighted=is_weighted,
    )


def _read_model(reader: ColumnReader, name_or_expr: Any) -> str:
    """Add the column of models to the group columns, and return its name."""
    typed_model_column = reader.read_column("model", name_or_expr)
    if typed_model_column.name in reader.by:
        raise PrcError(f"leave the column {typed_model_column.name!r} out of by=: model= holds it, too")
    reader.by[Row.MODEL] = typed_model_column.dtype
    reader.by_exprs.append(typed_model_column.expr.alias(Row.MODEL))
    return typed_model_column.name


class DroppedRows(NamedTuple):
    """How many rows of a table are left out because a value is missing, and how many it has."""

    n_dropped: int
    n_rows: int
    n_pos: int | None = None  # how many of those dropped are positive; None if that is not known
    may_rank_last: bool = False
    """Whether missing="below" takes all that is missing: scores that are null."""

    def divide(self, n_models: int) -> DroppedRows:
        """Return the rows of a wide table, each of which has been left out for so many models."""
        n_pos = None if self.n_pos is None else self.n_pos // n_models
        return self._replace(
            n_dropped=self.n_dropped // n_models, n_rows=self.n_rows // n_models, n_pos=n_pos
        )


def count_dropped_rows(
    user_table: pl.DataFrame | pl.LazyFrame,
    input_columns: InputColumns,
    *,
    has_no_labels: bool = False,
    is_weighing: bool = False,
) -> DroppedRows:
    """Return how many rows missing="drop" leaves out of a table.

    With `id` models are compared, and an example is left out as a whole. What makes weights
    (`is_weighing`) needs no scores.
    """
    input_columns = input_columns._replace(missing="drop", below=None)
    table: ResolvedTable
    if has_no_labels:
        table = read_unlabelled(user_table, input_columns, may_collect=True)
    elif is_weighing:
        table, _ = read_parts(user_table, input_columns, may_collect=True)
    else:
        model_column = None if input_columns.id is None else input_columns.model
        input_columns = input_columns._replace(model=model_column, parts=None, is_matched=False)
        table = read_input(user_table, input_columns, may_collect=True)
    if table.row_counts is None:
        return DroppedRows(0, 0)
    count_by_name = table.collect(table.row_counts, "the number of rows left out").row(0, named=True)
    has_labels = count_by_name["all_positive"] is not None
    n_pos = count_by_name["all_positive"] - count_by_name["kept_positive"] if has_labels else None
    may_rank_last = count_by_name["without_score"] > 0 and not count_by_name["refused"]
    return DroppedRows(
        count_by_name["all"] - count_by_name["kept"],
        count_by_name["all"],
        n_pos,
        may_rank_last=may_rank_last,
    )


def _scores_repeat(table: ScoreTable, input_rows: pl.DataFrame | pl.LazyFrame) -> bool:
    """Return whether rows of equal score may be added up, and are ten on average."""
    # Rows of clusters, and of examples under several models, have to stay apart.
    has_single_rows = table.sample.column is None and Row.EXAMPLE not in table.columns
    if Row.LABEL not in table.columns or not has_single_rows:
        return False
    has_few_values = table.score_dtype in (pl.Boolean, pl.Int8, pl.UInt8)  # 256 values at most
    if has_few_values or isinstance(input_rows, pl.LazyFrame) or input_rows.height < 200_000:
        return has_few_values
    n_sampled_rows = 8_192
    sampled_rows = input_rows.sample(n_sampled_rows, with_replacement=True, seed=0)
    key_exprs = (*table.by_exprs, table.columns[Row.SCORE].alias(Row.SCORE))
    n_distinct_rows = sampled_rows.select(key_exprs).n_unique()
    # If each score occurs 10 times, two drawn rows have equal scores with chance 10 / height. So of the
    # size**2 / 2 pairs in the sample 5 * size**2 / height are equal, about the number of repeats.
    return (n_sampled_rows - n_distinct_rows) * input_rows.height > 5 * n_sampled_rows**2


_MOST_EXAMPLES = 2
"""As many examples of a row of counts, on average, take less time as rows of their own."""


def _list_examples(table: ScoreTable) -> ScoreTable:
    """Return a table of counts in memory with a row per example, if they are few; any other as it is.

    A table that fails a check stays as it is, too: the query of its rows reports that.
    """
    has_only_counts = set(table.columns) == {Row.SCORE, Row.POS, Row.NEG} and table.unscored is None
    if not (has_only_counts and table.is_in_memory) or table.has_float_sums or table.is_weighted:
        return table
    count_rows = table.collect(table.all_rows, "", n_etas=0)
    n_examples = sum(count_rows[name].sum() for name in (Row.POS, Row.NEG))
    if not 0 < n_examples <= _MOST_EXAMPLES * count_rows.height:
        return table
    if (count_rows[Row.POS] + count_rows[Row.NEG]).min() == 0:  # a group may have no other rows
        return table
    if breaks_checks(table):
        return table
    # Narrow counts are filtered in half the time.
    count_rows = count_rows.cast({Row.POS: pl.UInt32, Row.NEG: pl.UInt32})
    example_rows = pl.concat(
        _repeat_rows(count_rows, count_column).select(
            *table.by, Row.SCORE, pl.lit(is_positive).alias(Row.LABEL)
        )
        for count_column, is_positive in ((Row.POS, True), (Row.NEG, False))
    )
    return replace(
        table,
        frame=example_rows.lazy(),
        by_exprs=[pl.col(name) for name in table.by],
        columns={name: pl.col(name) for name in (Row.SCORE, Row.LABEL)},
        tallies=Tallies(),
    )


def _repeat_rows(count_rows: pl.DataFrame, count_column: str) -> pl.DataFrame:
    """Return rows as many times as they count."""
    counted_rows = count_rows.filter(pl.col(count_column) > 0)
    # Most count once, and need no second look.
    further_rows = counted_rows.filter(pl.col(count_column) > 1)
    n_further = further_rows[count_column].to_numpy() - 1
    return pl.concat([counted_rows, further_rows[np.repeat(np.arange(further_rows.height), n_further)]])


def read_parts(
    user_table: pl.DataFrame | pl.LazyFrame, input_columns: InputColumns, *, may_collect: bool = False
) -> tuple[ResolvedTable, list[str]]:
    """Return a table whose groups are the parts of each `by` group, and the names of their columns.

    Weights of parts need no scores: of those that are named, no value may be missing.
    """
    reader = ColumnReader(user_table, input_columns.missing, may_collect=may_collect)
    reader.read_by(input_columns.by)
    part_columns = _read_parts(reader, input_columns.parts)
    for name_or_expr in list_columns("score=", input_columns.score):
        _read_score(reader, name_or_expr)
    typed_exprs = _read_labels(reader, input_columns)
    amount_exprs = {name: amount_expr for name, (amount_expr, _) in typed_exprs.items()}
    return ResolvedTable(**reader.build_table_fields(amount_exprs)), part_columns


def _read_parts(reader: ColumnReader, names_or_exprs: Columns) -> list[str]:
    """Add the columns that distinguish parts to the group columns, and return their names."""
    dtype_of_part = reader.read_by(names_or_exprs, "parts")
    if len(reader.by_exprs) != len(reader.by):
        raise PrcError("write one expression for each column: by= and parts= take one each")
    return list(dtype_of_part)


def read_part_labelled(
    user_table: pl.DataFrame | pl.LazyFrame, input_columns: InputColumns
) -> tuple[ScoreTable, ScoreTable | None]:
    """Return all rows of a table, as without labels, and those with a label that is not null, if any."""
    table = read_unlabelled(user_table, input_columns, may_collect=True)
    if input_columns.label is None:
        return table, None
    reader = ColumnReader(user_table, input_columns.missing, may_collect=True)
    typed_label_column = reader.read_column("label", input_columns.label)
    if typed_label_column.dtype == pl.Null:
        return table, None
    labelled_table = read_input(
        user_table.filter(typed_label_column.expr.is_not_null()), input_columns, may_collect=True
    )
    assert isinstance(labelled_table, ScoreTable)
    return table, labelled_table


def read_reference(reference: pl.DataFrame | pl.LazyFrame, input_columns: InputColumns) -> ScoreTable:
    """Return a table with labels that stands beside one without; its groups may distinguish fewer."""
    if not isinstance(reference, pl.DataFrame | pl.LazyFrame):
        raise refuse_kind("reference=", "a DataFrame or a LazyFrame with labels", reference)
    input_columns = input_columns._replace(by=list_known_columns(input_columns.by, reference))
    try:
        labelled_table = read_input(reference, input_columns, may_collect=True)
    except PrcError as error:
        raise PrcError(f"in the reference= table, {error}") from None
    assert isinstance(labelled_table, ScoreTable)
    if labelled_table.has_float_sums:
        raise PrcError(
            "cast counts= of the reference to integers if they are numbers of examples; got floats"
        )
    return labelled_table


def _read_stratum_weight(reader: ColumnReader, stratum_expr: pl.Expr, weight: Column) -> pl.Expr:
    """Return Row.STRATUM_WEIGHT, with checks that the rows of a stratum have one weight."""
    typed_weight_column = reader.read_column("weight", weight)
    row_weight_expr = typed_weight_column.expr.cast(pl.Float64)
    # A window, which no sum per group may hold: so it is a column of the table.
    greatest_weight_expr = pl.when(row_weight_expr.is_finite()).then(row_weight_expr).max()
    greatest_weight_expr = greatest_weight_expr.over(*reader.by_exprs, stratum_expr)
    reader.input_rows = reader.input_rows.with_columns(greatest_weight_expr.alias(Row.STRATUM_WEIGHT))
    stratum_weight_expr = pl.col(Row.STRATUM_WEIGHT)
    reader.check(
        column_checks.stratum_weight_checks, typed_weight_column.subject_phrase, row_weight_expr
    )
    reader.check(
        column_checks.equal_weight_checks,
        typed_weight_column.subject_phrase,
        row_weight_expr,
        stratum_weight_expr,
    )
    return stratum_weight_expr


def _read_score(
    reader: ColumnReader,
    name_or_expr: Column,
    wide_model_names: Sequence[str] = (),
    *,
    are_posteriors: bool = False,
) -> TypedColumn:
    """Return the scores; of models that were columns of a wide table, with checks of each column."""
    typed_score_column = reader.read_column("score", name_or_expr)
    column_checks.SCORE_DTYPES.require(typed_score_column.subject_phrase, typed_score_column.dtype)
    if not reader.lets_null_scores:
        reader.handle_missing(typed_score_column, wide_model_names, is_score=True)
    elif typed_score_column.dtype.is_float():  # NaN is no score either
        typed_score_column = typed_score_column._replace(expr=typed_score_column.expr.fill_nan(None))
    reader.tallies.n_score_tests = len(reader.tallies.test_exprs)
    if are_posteriors:
        posterior_expr = typed_score_column.expr.cast(pl.Float64)
        reader.check_scores(column_checks.posterior_checks, typed_score_column, posterior_expr)
    return typed_score_column


def _read_row_counts(reader: ColumnReader, name_or_expr: Any) -> dict[str, TypedExpr]:
    """Return Row.LABEL, false in each row without a label; of counts Row.POS, which is 0, and NEG."""
    if name_or_expr is None:
        return {Row.LABEL: (pl.lit(False), pl.Boolean())}
    amount_expr, dtype = _read_amount(reader, "counts", name_or_expr, "counts")
    if dtype == pl.Float64:
        raise PrcError("cast counts= to integers if they are numbers of rows; got floats")
    _check_sum(reader, amount_expr)
    return {Row.POS: (pl.lit(0, dtype=dtype), dtype), Row.NEG: (amount_expr, dtype)}


def _read_counts(reader: ColumnReader, input_columns: InputColumns) -> dict[str, TypedExpr]:
    """Return Row.POS and Row.NEG, the counts of a row, and their squares if known."""
    # Words of a call are rivals already; a table of counts as reference= has the others' pos_label.
    if input_columns.pos_label is not None:
        raise PrcError("leave out pos_label=: counts= replaces labels and weights")
    has_squares = gives_squares(input_columns.counts)
    squares_phrase = "or four with sums of squared weights"
    if has_squares:
        squares_phrase = "and of their squared weights"
    columns_phrase = f"columns, of positives and of negatives, {squares_phrase}"
    names_or_exprs = list_named_columns(
        "counts", input_columns.counts, 4 if has_squares else 2, columns_phrase
    )
    kind_by_column = {Row.POS: "counts", Row.NEG: "counts"}
    kind_by_column |= {Row.POS_SQUARES: "squares", Row.NEG_SQUARES: "squares"}
    typed_exprs = {
        name: _read_amount(reader, "counts", name_or_expr, kind)
        for name_or_expr, (name, kind) in zip(names_or_exprs, kind_by_column.items(), strict=False)
    }
    amount_exprs = [amount_expr for amount_expr, _ in typed_exprs.values()]
    for sum_expr, squares_expr, name_or_expr in zip(
        amount_exprs, amount_exprs[2:], names_or_exprs[2:], strict=False
    ):
        subject_phrase = (
            f"counts column {name_or_expr!r}" if isinstance(name_or_expr, str) else "counts="
        )
        float_exprs = sum_expr.cast(pl.Float64), squares_expr.cast(pl.Float64)
        reader.check(column_checks.square_checks, subject_phrase, *float_exprs)
    for amount_expr, dtype in typed_exprs.values():
        if dtype.is_integer():
            _check_sum(reader, amount_expr)
    return typed_exprs


def _read_labels(reader: ColumnReader, input_columns: InputColumns) -> dict[str, TypedExpr]:
    """Return Row.LABEL; with weights return Row.POS and Row.NEG, of which one is 0 in each row."""
    typed_label_column = reader.read_column("label", input_columns.label)
    pos_label = input_columns.pos_label
    label_expr, dtype, _, subject_phrase = typed_label_column
    column_checks.label_dtypes(pos_label).require(subject_phrase, dtype)
    reader.handle_missing(typed_label_column)
    if pos_label is not None:
        is_positive = column_checks.equals_label(label_expr, pos_label)
        if not isinstance(dtype, pl.Enum):
            reader.check(column_checks.pos_label_checks, subject_phrase, is_positive, pos_label)
        elif pos_label not in (categories := dtype.categories.to_list()):
            hint = suggest_names(str(pos_label), categories)
            raise PrcError(f"{subject_phrase} has no category {pos_label!r}; {hint}")
    elif dtype == pl.Boolean:
        is_positive = label_expr
    else:
        is_positive = label_expr == 1
        reader.check(column_checks.label_checks, subject_phrase, label_expr)
    if input_columns.weight is None:
        return {Row.LABEL: (is_positive, pl.Boolean())}
    amount_expr, amount_dtype = _read_amount(reader, "weight", input_columns.weight, "weights")
    zero_expr = pl.lit(0, dtype=amount_dtype)
    return {
        Row.POS: (pl.when(is_positive).then(amount_expr).otherwise(zero_expr), amount_dtype),
        Row.NEG: (pl.when(is_positive).then(zero_expr).otherwise(amount_expr), amount_dtype),
    }


def gives_squares(counts: Any) -> bool:
    """Return whether counts hold sums of squared weights, too."""
    return isinstance(counts, list | tuple) and len(counts) == 4


def _check_sum(reader: ColumnReader, count_expr: pl.Expr) -> None:
    """Add a check that integer counts of a group add up to no more than an Int64."""
    total_expr = reader.tallies.count(count_expr, is_per_group=True)
    message = "counts= add up to more than 2**63 - 1 in a group; cast them to Float64"
    reader.tallies.checks.append(Check(total_expr.max() >= 2**63, (message,)))


def _read_amount(
    reader: ColumnReader, argument_name: str, name_or_expr: Column, amount_kind: str
) -> TypedExpr:
    """Return a weight or a count, as an Int128 if it is an integer, and as a Float64 otherwise."""
    amount_expr, dtype, _, subject_phrase = reader.read_values(
        argument_name, name_or_expr, column_checks.AMOUNT_DTYPES
    )
    make_checks = column_checks.amount_checks_by_kind[amount_kind, dtype.is_integer()]
    reader.check(make_checks, subject_phrase, amount_expr)
    # Sums in the user's dtype could overflow. What no Int128 holds is refused by the check.
    wide_dtype: pl.DataType = pl.Int128() if dtype.is_integer() else pl.Float64()
    return amount_expr.cast(wide_dtype, wrap_numerical=True), wide_dtype


# Published points: rates, with or without sizes, and cumulative counts --------------------------

# A row is a point of a ROC curve: what is flagged at one threshold. Rates are the share of each class
# that it is. The four cells are how many, and tools that count report one row of them per threshold.

_SPECIFICITY_NAMES = ("specificity", "spec", "tnr")
"""Names of columns that hold 1 - fpr, and are taken for fpr."""


def _read_points(
    reader: ColumnReader, input_columns: InputColumns
) -> tuple[dict[str, pl.Expr], dict[str, Any]]:
    """Return the columns of points, of `cells=` or `rates=`, and the other fields of a `RateTable`."""
    if input_columns.cells is not None:
        return _read_cells(reader, input_columns.cells, input_columns.score)
    if input_columns.rates is None:
        raise PrcError("pass rates= as well: sizes= are the numbers of examples behind them")
    point_exprs = {}
    rate_columns = list_named_columns("rates", input_columns.rates, 2, "columns, of recall and of fpr")
    _check_order("rates", ("recall", "fpr"), rate_columns)
    fpr_column = rate_columns[1]
    if isinstance(fpr_column, str) and fpr_column.lower() in _SPECIFICITY_NAMES:
        raise PrcError(
            f"name a column that holds fpr, or pass 1 - pl.col({fpr_column!r}), as the second of "
            "rates=: specificity is 1 - fpr"
        )
    for name, name_or_expr in zip(("recall", "fpr"), rate_columns, strict=True):
        typed_rate_column = reader.read_values("rates", name_or_expr, column_checks.RATE_DTYPES)
        reader.check(column_checks.rate_checks, typed_rate_column.subject_phrase, typed_rate_column.expr)
        point_exprs[name] = typed_rate_column.expr.cast(pl.Float64)
    if input_columns.sizes is None:
        return point_exprs, {}
    expected_phrase = "columns or whole numbers, of positives and of negatives"
    sizes = list_named_columns("sizes", input_columns.sizes, 2, expected_phrase)
    n_pos, n_neg = (_read_count(reader, "sizes", size, may_be_null=True) for size in sizes)
    # These are not rounded.
    point_exprs |= {"tp": point_exprs["recall"] * n_pos, "fp": point_exprs["fpr"] * n_neg}
    point_exprs |= {"fn": n_pos - point_exprs["tp"], "tn": n_neg - point_exprs["fp"]}
    return point_exprs, {"count_dtype": pl.Float64()}


def list_named_columns(
    argument_name: str, argument_value: Any, n_columns: int, columns_phrase: str
) -> list[Any]:
    """Return the columns that an argument lists; raise if there are not as many as it takes."""
    expected_phrase = f"{('two', 'four')[n_columns == 4]} {columns_phrase}"
    listed_columns = read_list(f"{argument_name}=", argument_value, expected_phrase)
    if len(listed_columns) != n_columns:
        raise refuse_kind(f"{argument_name}=", expected_phrase, argument_value)
    return listed_columns


def _check_order(
    argument_name: str, expected_names: Sequence[str], names_or_exprs: Sequence[Column]
) -> None:
    """Raise for a column whose name is that of another one of those listed."""
    for name, name_or_expr in zip(expected_names, names_or_exprs, strict=True):
        if (
            isinstance(name_or_expr, str)
            and name_or_expr.lower() in expected_names
            and name_or_expr.lower() != name
        ):
            raise PrcError(
                f"pass {join_words(expected_names)} in this order to {argument_name}=; got "
                f"{name_or_expr!r} in the place of {name}"
            )


def _read_cells(
    reader: ColumnReader, cells: Cells, score: Column
) -> tuple[dict[str, pl.Expr], dict[str, Any]]:
    """Return the columns recall, fpr, tp, fp, fn, tn, and SCORE if there is a score; and the fields."""
    cell_columns = list_named_columns("cells", cells, 4, "columns, of tp, fp, fn and tn")
    _check_order("cells", ("tp", "fp", "fn", "tn"), cell_columns)
    count_exprs = {
        name: _read_count(reader, "cells", name_or_expr).cast(pl.Int64, wrap_numerical=True)
        for name, name_or_expr in zip(("tp", "fp", "fn", "tn"), cell_columns, strict=True)
    }
    point_exprs = {
        # A class without examples makes 0/0, and its rate is null.
        "recall": (count_exprs["tp"] / (count_exprs["tp"] + count_exprs["fn"])).fill_nan(None),
        "fpr": (count_exprs["fp"] / (count_exprs["fp"] + count_exprs["tn"])).fill_nan(None),
        **count_exprs,
    }
    table_fields = {"has_cells": True, "count_dtype": pl.Int64()}
    if isinstance(score, str) and score == "score" and score not in reader.schema:
        return point_exprs, table_fields  # the default, of a table that has no thresholds
    typed_score_column = reader.read_column("score", score)
    column_checks.SCORE_DTYPES.require(typed_score_column.subject_phrase, typed_score_column.dtype)
    point_exprs[Row.SCORE] = typed_score_column.expr
    return point_exprs, {**table_fields, "score_dtype": typed_score_column.dtype}


def _read_count(
    reader: ColumnReader, argument_name: str, size_or_column: Any, *, may_be_null: bool = False
) -> pl.Expr:
    """Return a column of whole numbers; it `may_be_null`, as a Float64, where a number is not known."""
    if may_be_null and not isinstance(size_or_column, str | pl.Expr):  # one number for all rows
        return pl.lit(float(read_whole_number(f"{argument_name}=", size_or_column, 0)))
    typed_count_column = reader.read_column(argument_name, size_or_column)
    count_expr = typed_count_column.expr
    if may_be_null:
        count_expr = count_expr.cast(pl.Float64)
        if typed_count_column.dtype == pl.Null:
            return count_expr
        count_expr = count_expr.fill_nan(None)
    if not typed_count_column.dtype.is_numeric():
        raise PrcError(
            f"{typed_count_column.subject_phrase} is {typed_count_column.dtype}; expected whole numbers "
            ">= 0"
        )
    if not may_be_null:
        reader.handle_missing(typed_count_column)
    reader.check(column_checks.amount_checks, typed_count_column.subject_phrase, count_expr)
    reader.check(
        column_checks.whole_checks, typed_count_column.subject_phrase, count_expr.cast(pl.Float64)
    )
    return count_expr
