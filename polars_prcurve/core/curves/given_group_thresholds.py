"""Thresholds of each group, as a frame that users pass as `threshold=`.

frame -> read_group_thresholds   checked, with each threshold as the least score that reaches it
      -> join_thresholds         one row per population, target and threshold
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.ground.argument_checks import round_to_float
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.group_joins import join_groups, merge_zeros
from polars_prcurve.core.ground.message_text import list_names
from polars_prcurve.core.ground.query_guards import Check, run_query, stop_if_broken
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.exact_thresholds import read_threshold_list, to_least_scores
from polars_prcurve.core.inputs.group_column_checks import (
    check_forgotten_groups,
    missing_row_check,
    read_group_keys,
)
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable, read_score_dtype
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.prevalence.population_column_names import Population

THRESHOLD_ROW = f"{RESERVED}threshold_row"
"""The number of a row of the frame: the order of the thresholds of a group; null for other targets."""
GIVEN_THRESHOLD = f"{RESERVED}given_threshold"  # the threshold as given, as a Float64
LEAST_SCORE = f"{RESERVED}least_score"
"""The least score that reaches the threshold; null if there is none, or no threshold."""


class GroupThresholds(NamedTuple):
    """A frame of thresholds by group, with THRESHOLD_ROW, GIVEN_THRESHOLD and LEAST_SCORE."""

    threshold_rows: pl.LazyFrame
    dtype_of_key: Mapping[str, pl.DataType]
    """The columns that `threshold_rows` are joined on, by internal names: `by`, Row.MODEL, and `eta`."""
    label_by_key: Mapping[str, str]  # what users call the keys
    argument: str = "threshold"

    def join_thresholds(self, request_rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the requests, each repeated for every threshold of its group."""
        if self.dtype_of_key:
            return join_groups(request_rows, self.threshold_rows, self.dtype_of_key, how="left")
        # A left join on a number that all have, since a cross join would lose the requests of no row.
        key_column = f"{RESERVED}same"
        common_key = pl.lit(0, dtype=pl.UInt8).alias(key_column)
        repeated_rows = request_rows.with_columns(common_key).join(
            self.threshold_rows.with_columns(common_key), on=key_column, how="left"
        )
        return repeated_rows.drop(key_column)

    def missing_row_check(self, is_request: pl.Expr) -> Check:
        """Return the check that each group has a row, over the table of requests."""
        lacks_row = is_request & pl.col(THRESHOLD_ROW).is_null()
        number_column = Population.NUMBER if "eta" in self.dtype_of_key else Group.NUMBER
        key_exprs = {label: pl.col(key) for key, label in self.label_by_key.items()}
        n_groups = pl.col(number_column).filter(lacks_row).n_unique()
        drop_hint = (
            "'eta', which makes them thresholds at any prevalence" if "eta" in self.dtype_of_key else ""
        )
        return missing_row_check(self.argument, key_exprs, lacks_row, n_groups, drop_hint)


def read_group_thresholds(
    table: ResolvedTable,
    thresholds: pl.DataFrame | pl.LazyFrame,
    *,
    at_eta: bool,
    one_each: bool,
    argument_name: str = "threshold",
) -> GroupThresholds:
    """Return the thresholds of a user's frame; raise for what the call can check.

    With `at_eta` a column `eta` of the frame is a key, too; otherwise it is ignored. With `one_each` a
    group must not have several rows. `argument_name` is the name of the frame in errors.
    """
    if not isinstance(table, ScoreTable):
        if read_score_dtype(table) is not None:
            raise PrcError("pass threshold= as numbers with cells=, or join the frame to the table")
        raise PrcError("pass recall= or fpr=: rates= has no thresholds, so threshold= finds none")
    schema = thresholds.lazy().collect_schema()
    _check_schema(table, schema, argument_name, at_eta=at_eta)
    label_by_name = _label_groups(table)
    dtype_by_label = {
        # Names of score columns may be any text in the frame.
        label: schema.get(label, pl.Null())
        if name == Row.MODEL == table.model_column
        else table.by[name]
        for name, label in label_by_name.items()
    }
    shown_keys = read_group_keys(argument_name, schema, dtype_by_label)
    other_columns = (name for name in schema if name not in (*shown_keys, *_OWN_COLUMNS))
    check_forgotten_groups(argument_name, other_columns, table.schema)
    label_by_key = {name: label for name, label in label_by_name.items() if label in shown_keys}
    dtype_of_key = {name: table.by[name] for name in label_by_key}
    if at_eta and "eta" in schema:
        dtype_of_key["eta"], label_by_key["eta"] = pl.Float64(), "eta"
    # A row of a score column that is not compared is one of a group that the table lacks.
    key_exprs = (
        pl.col(label).cast(dtype_of_key[name], strict=name != Row.MODEL).alias(name)
        for name, label in label_by_key.items()
    )
    threshold_rows = _add_least_scores(thresholds, table.score_dtype, argument_name).select(
        *key_exprs, GIVEN_THRESHOLD, LEAST_SCORE, pl.int_range(pl.len()).alias(THRESHOLD_ROW)
    )
    if one_each:
        # Without keys all rows are thresholds of the same models.
        n_repeated = pl.struct(*dtype_of_key).is_duplicated().sum() if dtype_of_key else pl.len()
        is_target = argument_name == "threshold"
        reason = "models are ranked at one target" if is_target else "a run has one start"
        sentence_start = f"{reason}, and the {argument_name}= frame holds several for a group, in "
        sentence_parts = (sentence_start, n_repeated, " row(s); filter it")
        threshold_rows = stop_if_broken(threshold_rows, [Check(n_repeated > 1, sentence_parts)])
    if isinstance(thresholds, pl.DataFrame):
        threshold_rows = run_query(threshold_rows).lazy()
    return GroupThresholds(threshold_rows, dtype_of_key, label_by_key, argument_name)


def _label_groups(table: ScoreTable) -> dict[str, str]:
    """Return what users call the group columns; names of score columns go by `model`."""
    label_by_name = {name: table.name_by_inner.get(name, name) for name in table.by}
    may_say_model = table.model_column == Row.MODEL and "model" not in table.by
    if Row.MODEL in table.by:
        label_by_name[Row.MODEL] = "model" if may_say_model else table.model_column
    return label_by_name


def _check_schema(
    table: ScoreTable, schema: Mapping[str, pl.DataType], argument_name: str, *, at_eta: bool
) -> None:
    """Raise unless thresholds, and prevalences with `at_eta`, are numbers, and none is of a part."""
    threshold_dtype = schema.get("threshold", pl.Binary())
    if not (threshold_dtype.is_numeric() or threshold_dtype in (pl.Boolean, pl.String, pl.Null)):
        columns_text = list_names(f"{name}: {dtype}" for name, dtype in schema.items())
        raise PrcError(
            f"add a numeric column 'threshold' to the {argument_name}= frame; it has {columns_text}"
        )
    eta_dtype = schema.get("eta", pl.Null())
    if at_eta and not (eta_dtype.is_numeric() or eta_dtype == pl.Null):
        raise PrcError(f"cast column 'eta' of the {argument_name}= frame to Float64; it is {eta_dtype}")
    within_columns = table.within if table.parts is None else table.parts.table.within
    if part_columns := [name for name in schema if name in within_columns]:
        raise PrcError(
            f"pass one {argument_name}= for all parts, or by= instead of field(): the {argument_name}= "
            f"frame has a column of parts, {part_columns[0]!r} (for a threshold per part, "
            f"subtract it from the scores and pass {argument_name}=0)"
        )


_OWN_COLUMNS = ("eta", "criterion", "target", "threshold", "tp", "fp", "fn", "tn", "recall", "fpr")
"""Columns of operating points, which a user's table may have, too, without meaning a group."""


def _add_least_scores(
    thresholds: pl.DataFrame | pl.LazyFrame, score_dtype: pl.DataType, argument_name: str
) -> pl.LazyFrame:
    """Add GIVEN_THRESHOLD and LEAST_SCORE."""
    threshold_expr = pl.col("threshold")
    threshold_dtype = thresholds.lazy().collect_schema()["threshold"]
    if threshold_dtype in (score_dtype, pl.Null):
        cast_threshold = threshold_expr.cast(score_dtype)
        is_float = score_dtype.is_float()
        least_score = merge_zeros(cast_threshold).cast(score_dtype) if is_float else cast_threshold
        threshold_exprs = {GIVEN_THRESHOLD: least_score.cast(pl.Float64), LEAST_SCORE: least_score}
        n_nan = threshold_expr.cast(pl.Float64).is_nan().sum()
        sentence_end = " row(s), and no score is at or above it"
        check = Check(n_nan > 0, (f"{argument_name}= holds NaN in ", n_nan, sentence_end))
        return stop_if_broken(thresholds.lazy().with_columns(**threshold_exprs), [check])
    if isinstance(thresholds, pl.LazyFrame):
        raise PrcError(
            f"cast the thresholds of the LazyFrame from {threshold_dtype} to the score's "
            f"{score_dtype}, or call .collect() on it: numbers of a DataFrame are compared exactly"
        )
    next_thresholds = iter(
        read_threshold_list(argument_name, thresholds["threshold"].drop_nulls(), score_dtype)
    )
    exact_thresholds = [
        None if value is None else next(next_thresholds) for value in thresholds["threshold"]
    ]
    shown_thresholds = [None if value is None else round_to_float(value) for value in exact_thresholds]
    return thresholds.lazy().with_columns(
        pl.Series(GIVEN_THRESHOLD, shown_thresholds, dtype=pl.Float64),
        to_least_scores(exact_thresholds, score_dtype).alias(LEAST_SCORE),
    )
