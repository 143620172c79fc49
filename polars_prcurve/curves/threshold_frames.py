"""Thresholds of each group, as a frame that users pass as `threshold=`.

frame -> read_group_thresholds   checked, with each threshold as the least score that reaches it
      -> join_thresholds         one row per pair, target and threshold of its group
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import round_to_float
from polars_prcurve.errors import PrcError, list_names
from polars_prcurve.group_keys import join_groups, merge_zeros
from polars_prcurve.inputs import column_reader
from polars_prcurve.inputs.score_and_rate_tables import InputTable, ScoreTable, read_score_dtype
from polars_prcurve.inputs.threshold_values import read_threshold_list, to_least_scores
from polars_prcurve.query_checks import Check, run_query, stop_if_broken

THRESHOLD_ROW = f"{c.RESERVED}threshold_row"
"""The number of a row of the frame: the order of the thresholds of a group; null for other targets."""
GIVEN_THRESHOLD = f"{c.RESERVED}given_threshold"  # the threshold as given, as a Float64
LEAST_SCORE = f"{c.RESERVED}least_score"
"""The least score that reaches the threshold; null if there is none, or no threshold."""


@dataclass(frozen=True)
class GroupThresholds:
    """A frame of thresholds by group, with THRESHOLD_ROW, GIVEN_THRESHOLD and LEAST_SCORE."""

    frame: pl.LazyFrame
    keys: Mapping[str, pl.DataType]
    """The columns that `frame` is joined on, by internal names: of `by`, MODEL, and `eta`."""
    shown_names: Mapping[str, str]  # what users call the keys
    argument: str = "threshold"

    def join_thresholds(self, requests: pl.LazyFrame) -> pl.LazyFrame:
        """Return the requests, each repeated for every threshold of its group."""
        if self.keys:
            return join_groups(requests, self.frame, self.keys, how="left")
        # A left join on a number that all have, since a cross join would lose the requests of no row.
        name = f"{c.RESERVED}same"
        same = pl.lit(0, dtype=pl.UInt8).alias(name)
        found = requests.with_columns(same).join(self.frame.with_columns(same), on=name, how="left")
        return found.drop(name)

    def missing_row_check(self, is_request: pl.Expr) -> Check:
        """Return the check that each group has a row, over the table of requests."""
        missing = is_request & pl.col(THRESHOLD_ROW).is_null()
        one_per = c.PAIR if "eta" in self.keys else c.GROUP
        keys = {shown: pl.col(name) for name, shown in self.shown_names.items()}
        n_groups = pl.col(one_per).filter(missing).n_unique()
        droppable = "'eta', which makes them thresholds at any prevalence" if "eta" in self.keys else ""
        return column_reader.missing_row_check(self.argument, keys, missing, n_groups, droppable)


def read_group_thresholds(
    table: InputTable,
    given: pl.DataFrame | pl.LazyFrame,
    *,
    at_eta: bool,
    one_each: bool,
    argument: str = "threshold",
) -> GroupThresholds:
    """Return the thresholds of a user's frame; raise for what the call can tell.

    With `at_eta` a column `eta` of the frame is a key, too; otherwise it is ignored. With `one_each` a
    group must not have several rows. `argument` is the name of the frame in errors.
    """
    if not isinstance(table, ScoreTable):
        if read_score_dtype(table) is not None:
            raise PrcError("with cells= pass threshold= as numbers, or join the frame to the table")
        raise PrcError("rates= has no thresholds, so threshold= finds none; pass recall= or fpr=")
    schema = given.lazy().collect_schema()
    _check_schema(table, schema, argument, at_eta=at_eta)
    # What users call the group columns; names of score columns go by `model`.
    model = "model" if table.model_name == c.MODEL and "model" not in table.by else table.model_name
    named = {name: model if name == c.MODEL else name for name in table.by}
    by = {
        # Names of score columns may be any text in the frame.
        shown: schema.get(shown, pl.Null()) if name == c.MODEL == table.model_name else table.by[name]
        for name, shown in named.items()
    }
    shown_keys = column_reader.read_group_keys(argument, schema, by)
    others = (name for name in schema if name not in (*shown_keys, *_OWN_COLUMNS))
    column_reader.check_forgotten_groups(argument, others, table.schema)
    names = {name: shown for name, shown in named.items() if shown in shown_keys}
    keys = {name: table.by[name] for name in names}
    if at_eta and "eta" in schema:
        keys, names = {**keys, "eta": pl.Float64()}, {**names, "eta": "eta"}
    # A row of a score column that is not compared is one of a group that the table lacks.
    renamed = [pl.col(shown).cast(keys[n], strict=n != c.MODEL).alias(n) for n, shown in names.items()]
    frame = _add_least_scores(given, table.score_dtype, argument).select(
        *renamed, GIVEN_THRESHOLD, LEAST_SCORE, pl.int_range(pl.len()).alias(THRESHOLD_ROW)
    )
    if one_each:
        # Without keys all rows are thresholds of the same models.
        repeated = pl.struct(*keys).is_duplicated().sum() if keys else pl.len()
        why = "models are ranked at one target" if argument == "threshold" else "a run has one start"
        text = f"{why}, and the {argument}= frame holds several for a group, in "
        frame = stop_if_broken(frame, [Check(repeated > 1, (text, repeated, " row(s); filter it"))])
    if isinstance(given, pl.DataFrame):
        frame = run_query(frame).lazy()
    return GroupThresholds(frame, keys, names, argument)


def _check_schema(
    table: ScoreTable, schema: Mapping[str, pl.DataType], argument: str, *, at_eta: bool
) -> None:
    """Raise unless thresholds, and prevalences with `at_eta`, are numbers, and none is of a part."""
    dtype = schema.get("threshold", pl.String())
    if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
        shown = list_names(f"{name}: {dtype}" for name, dtype in schema.items())
        raise PrcError(f"a {argument}= frame needs a numeric column 'threshold'; it has {shown}")
    eta = schema.get("eta", pl.Null())
    if at_eta and not (eta.is_numeric() or eta == pl.Null):
        raise PrcError(f"column 'eta' of the {argument}= frame is {eta}; cast it to Float64")
    within = table.within if table.parts is None else table.parts.table.within
    if named := [name for name in schema if name in within]:
        raise PrcError(
            f"a field has one threshold for all its parts, and the {argument}= frame has a column "
            f"{named[0]!r}, with thresholds of each part: pass by= in place of field() for a result of "
            "each part, or one threshold; for the field with a threshold per part, subtract each part's "
            f"from its scores, and pass {argument}=0"
        )


_OWN_COLUMNS = ("eta", "criterion", "target", "threshold", "tp", "fp", "fn", "tn", "recall", "fpr")
"""Columns of operating points, which a user's table may have, too, without meaning a group."""


def _add_least_scores(
    given: pl.DataFrame | pl.LazyFrame, dtype: pl.DataType, argument: str
) -> pl.LazyFrame:
    """Add GIVEN_THRESHOLD and LEAST_SCORE."""
    threshold, own_dtype = pl.col("threshold"), given.lazy().collect_schema()["threshold"]
    if own_dtype in (dtype, pl.Null):
        same = threshold.cast(dtype)
        least = merge_zeros(same).cast(dtype) if dtype.is_float() else same
        columns = {GIVEN_THRESHOLD: least.cast(pl.Float64), LEAST_SCORE: least}
        nan = threshold.cast(pl.Float64).is_nan().sum()
        beyond = " row(s), and no score is at or above it"
        text = (f"{argument}= holds NaN in ", nan, beyond)
        return stop_if_broken(given.lazy().with_columns(**columns), [Check(nan > 0, text)])
    if isinstance(given, pl.LazyFrame):
        raise PrcError(
            f"the thresholds of a LazyFrame must be of the score's dtype {dtype}, and are {own_dtype}; "
            "cast them, or call .collect() on that frame, whose numbers are then compared exactly"
        )
    exact = iter(read_threshold_list(argument, given["threshold"].drop_nulls(), dtype))
    numbers = [None if value is None else next(exact) for value in given["threshold"]]
    shown = [None if number is None else round_to_float(number) for number in numbers]
    return given.lazy().with_columns(
        pl.Series(GIVEN_THRESHOLD, shown, dtype=pl.Float64),
        to_least_scores(numbers, dtype).alias(LEAST_SCORE),
    )
