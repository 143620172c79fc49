"""The grid of prevalences that `eta=` requests, and its join with the table of groups.

A grid is a small table, in which a null represents the prevalence of a group:

    numbers -> build_number_grid  the grid, the same for each group
    a frame -> read_eta_frame     the grid, checked as far as the call can
    groups  -> join_etas          one row per population, a group at a prevalence, with the two factors
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import (
    ETA_CONFIDENCE,
    ETA_HIGH,
    ETA_LOW,
    UNCERTAIN_ETA_COLUMNS,
    EtaError,
)
from polars_prcurve.core.ground import argument_checks as arguments
from polars_prcurve.core.ground.argument_checks import is_pattern
from polars_prcurve.core.ground.column_checks import count_check
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.group_joins import join_groups
from polars_prcurve.core.ground.message_text import list_names
from polars_prcurve.core.ground.query_guards import Check, run_query, stop_if_broken
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.group_column_checks import (
    check_forgotten_groups,
    check_group_names,
    missing_row_check,
    read_group_keys,
)
from polars_prcurve.core.inputs.resolved_tables import RateTable, ResolvedTable
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.prevalence.estimated_eta import warn_of_refuted_estimates
from polars_prcurve.core.prevalence.population_column_names import Population

NEAREST_ETA = 1e-15
"""How near to 0 or 1 a prevalence may be that is put in words: a case in a million billion."""


def require_plain_etas(result_rows: pl.DataFrame) -> pl.DataFrame:
    """Return a result; raise for prevalences too near to 0 or 1 for a sentence or an axis."""
    for column_name in ("eta", ETA_LOW, ETA_HIGH):
        if column_name not in result_rows.columns:
            continue
        eta_series = result_rows.get_column(column_name)
        is_extreme = ((eta_series > 0) & (eta_series < NEAREST_ETA)) | (
            (eta_series < 1) & (eta_series > 1 - NEAREST_ETA)
        )
        if len(extreme_etas := eta_series.filter(is_extreme)):
            raise PrcError(
                "pass prevalences from 1e-15 to 1 - 1e-15 to decisions and charts; got "
                f"{extreme_etas[0]!r}, which would be printed as 0 or 1"
            )
    return result_rows


class EtaTable(NamedTuple):
    """A grid of prevalences; a null in its column eta is the prevalence of a group."""

    frame: pl.LazyFrame
    keys: Mapping[str, pl.DataType] = {}
    """The `by` columns that `frame` is joined on; without any, each group gets all prevalences."""
    carried_columns: tuple[str, ...] = ()  # other columns of a user's frame, which the result gets, too
    etas_per_group: int | None = None
    """The number of prevalences of each group; None if groups may differ in it."""
    sharing_groups: tuple[str, ...] | None = None
    """The columns of groups within which prevalences have to be equal, because models are compared
    at them; None if they may differ."""
    is_uncertain: bool = False
    """Whether prevalences are estimates: the first carried columns are UNCERTAIN_ETA_COLUMNS."""
    n_copies: int = 1  # the number of rows per prevalence, which are numbered in Population.COPY
    own_eta_column: str | None = None
    """The column of `frame` with the prevalence of a group; None if it follows from class sizes."""
    holds_own: bool | None = False
    """Whether a null represents the prevalence of a group; None if that takes a query of a LazyFrame."""
    holds_others: bool = True  # whether there may be other prevalences
    numbers: tuple[float | None, ...] | None = None
    """The prevalences of each group, None for its own, if the call passes them as numbers."""

    @property
    def may_hold_own(self) -> bool:
        """Whether a null may represent the prevalence of a group, which needs its class sizes."""
        return self.holds_own is not False

    def let_own_differ(self, *, depends_on_eta: bool) -> EtaTable:
        """Return the grid; prevalences of groups may differ if no requested metric depends on them."""
        if depends_on_eta or self.etas_per_group != 1:
            return self
        return self._replace(sharing_groups=None)

    def require_exact(self, subject_phrase: str, *, carrier_argument: str = "") -> EtaTable:
        """Return the grid; raise if its prevalences are estimates, whose error a method does not carry.

        `subject_phrase` names the method, and `carrier_argument` the argument with which it would.
        """
        # Fields carry what is known of their parts.
        if self.is_uncertain or ETA_LOW in self.carried_columns:
            carrier_text = (
                f"pass {carrier_argument}, which allows for the error of eta, or "
                if carrier_argument
                else ""
            )
            raise PrcError(
                f"{carrier_text}pass eta_low and eta_high as numbers instead of the eta= frame: "
                f"{subject_phrase} needs an exact eta"
            )
        return self


def build_number_grid(
    etas: Sequence[float | None], table: ResolvedTable, *, compares_models: bool = False
) -> EtaTable:
    """Return the grid of the same prevalences for each group; raise if a group cannot have its own."""
    if None in etas and not table.has_counts:
        raise PrcError(f"pass eta= as numbers, or pass sizes=: {_NO_OWN}")
    return EtaTable(
        pl.LazyFrame({"eta": etas}, schema={"eta": pl.Float64}),
        etas_per_group=len(etas),
        sharing_groups=_list_sharing_groups(table) if compares_models else None,
        holds_own=None in etas,
        holds_others=any(eta is not None for eta in etas),
        numbers=None if compares_models and None in etas else tuple(etas),
    )


def _list_sharing_groups(table: ResolvedTable) -> tuple[str, ...] | None:
    """Return the groups whose models have to share one prevalence; None if they need not."""
    # What is not counted is no prevalence that models could differ in.
    return tuple(table.group_columns) if table.counts_negatives else None


def read_eta_frame(
    eta_frame: pl.DataFrame | pl.LazyFrame,
    table: ResolvedTable,
    confidence: float | None,
    *,
    compares_models: bool = False,
) -> EtaTable:
    """Return the grid of a user's frame; raise for what the call can check.

    Intervals of prevalences must have the level `confidence`, too.
    """
    if table.model_column in eta_frame.lazy().collect_schema():
        raise PrcError(
            f"leave the column {table.model_column!r}, which names the models, out of the eta= "
            "frame: they are compared at one prevalence"
        )
    grid = _build_frame_grid(eta_frame, table, confidence)
    # The n of an estimate is the number of rows behind it, and no group, whatever the table has.
    is_estimate = "shift_p_value" in grid.carried_columns
    other_columns = (name for name in grid.carried_columns if not (is_estimate and name == "n"))
    check_forgotten_groups("eta", other_columns, table.schema)
    return grid._replace(sharing_groups=_list_sharing_groups(table) if compares_models else None)


_ROUNDING = 1e-12
"""Own prevalences of weighted groups that are this close, relatively, differ by rounding alone."""
# The reason why a table of rates alone has no prevalence, which errors give before what to do.
_NO_OWN = "rates= holds no counts, so the table has no prevalence of its own"


def _build_frame_grid(
    eta_frame: pl.DataFrame | pl.LazyFrame, table: ResolvedTable, confidence: float | None
) -> EtaTable:
    """Return the grid of a user's frame, with checks of its values, made at once in a DataFrame."""
    schema, dtype_by_group = eta_frame.lazy().collect_schema(), table.group_columns
    arguments.refuse_objects("the eta= frame", schema)
    _require_eta(schema)
    key_names = read_group_keys("eta", schema, dtype_by_group)
    is_uncertain = has_uncertain_eta(schema, key_names)
    carried_columns = _list_carried_columns(schema, dtype_by_group, is_uncertain=is_uncertain)
    eta_expr, row_columns = pl.col("eta"), (*key_names, "eta", *carried_columns)
    outside_phrase = "holds an eta outside [0, 1] (expected shares, not percent)"
    problems = [(eta_expr.is_nan() | ~eta_expr.is_between(0, 1), outside_phrase)]
    eta_rows = eta_frame.lazy().with_columns(eta_expr.cast(pl.Float64))
    if is_uncertain:
        eta_rows, interval_problems = add_uncertain_eta(eta_rows, schema, confidence)
        problems += interval_problems
    problems.append((pl.struct(row_columns).is_duplicated(), "repeats a group and eta"))
    if not table.has_counts:
        problems.append((eta_expr.is_null(), f"holds a null ({_NO_OWN})"))
    checks = [
        count_check(is_wrong.sum(), f"the eta= frame {problem_phrase} in ", " row(s)")
        for is_wrong, problem_phrase in problems
    ]
    eta_rows = stop_if_broken(eta_rows, checks)
    etas_per_group, holds_own = None, None
    if isinstance(eta_frame, pl.DataFrame):
        eta_rows = run_query(eta_rows).lazy()
        if "shift_p_value" in carried_columns:
            warn_of_refuted_estimates(eta_frame, list(key_names))
        etas_per_group = None if key_names else eta_frame.height
        holds_own = eta_frame["eta"].null_count() > 0
    return EtaTable(
        eta_rows,
        {name: dtype_by_group[name] for name in key_names},
        carried_columns,
        etas_per_group,
        is_uncertain=is_uncertain,
        holds_own=holds_own,
    )


def _require_eta(schema: Mapping[str, pl.DataType]) -> None:
    """Raise unless an eta frame has a numeric column eta."""
    if "eta" not in schema or not (schema["eta"].is_numeric() or schema["eta"] == pl.Null):
        schema_text = list_names(f"{name}: {dtype}" for name, dtype in schema.items())
        raise PrcError(
            f"add a numeric column 'eta' to the eta= frame; it has {schema_text} (to estimate "
            "eta from scores without labels, pass prc(frame, label=None))"
        )


def _list_carried_columns(
    schema: Iterable[str], dtype_by_group: Mapping[str, pl.DataType], *, is_uncertain: bool
) -> tuple[str, ...]:
    """Return what an eta frame has beside groups and eta, intervals first; raise for other names."""
    eta_columns = ("eta", *(UNCERTAIN_ETA_COLUMNS if is_uncertain else ()))
    carried_columns = (
        *eta_columns[1:],
        *(name for name in schema if name not in (*dtype_by_group, *eta_columns)),
    )
    for name in carried_columns:
        advice_phrase = f"rename the column {name!r} of the eta= frame"
        if is_pattern(name):
            raise PrcError(f"{advice_phrase}: Polars reads it as a pattern")
        if name in dtype_by_group or name.startswith(RESERVED):
            raise PrcError(f"{advice_phrase}: the result has a column of that name")
    return carried_columns


def check_result_columns(table: ResolvedTable, grid: EtaTable, result_columns: Sequence[str]) -> None:
    """Raise if a group, or what an eta frame carries, has the name of another column of the result."""
    check_group_names(table.by, result_columns)
    if clashing_names := [name for name in grid.carried_columns if name in result_columns]:
        raise PrcError(
            f"rename the column {clashing_names[0]!r} of the eta= frame: the result has a "
            "column of that name"
        )


# Prevalences of a frame that are estimates -----------------------------------------------------

_SAME_LEVEL = 1e-9  # levels that differ by less are one level, which was computed in two ways


def has_uncertain_eta(schema: Mapping[str, pl.DataType], key_names: Iterable[str]) -> bool:
    """Return whether an eta= frame has intervals, in no key columns; raise if it has half of one."""
    interval_columns = [
        name for name in UNCERTAIN_ETA_COLUMNS if name in schema and name not in key_names
    ]
    for name in interval_columns:
        if not (schema[name].is_numeric() or schema[name] == pl.Null):
            raise PrcError(f"column {name!r} of the eta= frame is {schema[name]}; expected numbers")
    lacking_columns = [name for name in (ETA_LOW, ETA_HIGH) if name not in interval_columns]
    if interval_columns and lacking_columns:
        raise PrcError(
            f"add the column {lacking_columns[0]!r} to the eta= frame, which has "
            f"{interval_columns[0]!r}: an interval of eta needs both ends"
        )
    return bool(interval_columns)


def add_uncertain_eta(
    eta_rows: pl.LazyFrame, schema: Mapping[str, pl.DataType], confidence: float | None
) -> tuple[pl.LazyFrame, list[tuple[pl.Expr, str]]]:
    """Return the frame with three columns, null where eta is exact, and tests with their sentences."""
    low_expr, high_expr = (pl.col(column_name).cast(pl.Float64) for column_name in (ETA_LOW, ETA_HIGH))
    level_expr = pl.lit(confidence, dtype=pl.Float64)
    if ETA_CONFIDENCE in schema:
        level_expr = pl.col(ETA_CONFIDENCE).cast(pl.Float64).fill_null(level_expr)
    has_end = low_expr.is_not_null() | high_expr.is_not_null()
    stated_level_expr = pl.when(has_end).then(level_expr)
    added_exprs = {ETA_LOW: low_expr, ETA_HIGH: high_expr, ETA_CONFIDENCE: stated_level_expr}
    eta_expr, low_expr, high_expr, level_expr = map(pl.col, ("eta", *UNCERTAIN_ETA_COLUMNS))
    has_end = low_expr.is_not_null() | high_expr.is_not_null()
    is_inside = (low_expr >= 0) & (low_expr <= eta_expr) & (eta_expr <= high_expr) & (high_expr <= 1)
    is_outside = low_expr.is_nan() | high_expr.is_nan() | ~is_inside
    ends_text = f"{ETA_LOW} and {ETA_HIGH}"
    alone_text = f"holds one of {ends_text} and not the other (null in both: eta is exact)"
    null_eta_text = f"holds {ends_text} beside a null eta (the prevalence of a group has none)"
    level_text = f"holds an {ETA_CONFIDENCE} that is no level (expected a share such as 0.95)"
    problems = [
        (low_expr.is_null() != high_expr.is_null(), alone_text),
        (has_end & eta_expr.is_null(), null_eta_text),
        (is_outside, f"does not hold 0 <= {ETA_LOW} <= eta <= {ETA_HIGH} <= 1"),
        (level_expr.is_nan() | (level_expr <= 0) | (level_expr >= 1), level_text),
    ]
    if confidence is not None:
        level_text = f"holds an {ETA_CONFIDENCE} that is not confidence={confidence} (pass one level)"
        problems.append(((level_expr - confidence).abs() > _SAME_LEVEL, level_text))
    return eta_rows.with_columns(**added_exprs), problems


# Groups at prevalences --------------------------------------------------------------------------


def join_etas(
    groups: pl.LazyFrame, grid: EtaTable, n_pos: pl.Expr, n_neg: pl.Expr, *, is_checked: bool = True
) -> pl.LazyFrame:
    """Return one row per group and prevalence, by rising eta: the group, eta and both factors."""
    # If not `is_checked`, a caller has to make the `eta_row_checks`.
    eta_rows = grid.frame.with_row_index(Population.ETA_ROW)
    if grid.keys:
        eta_rows = eta_rows.with_columns(pl.lit(True).alias(Population.HAS_ETA_ROW))
        populations = join_groups(groups, eta_rows, grid.keys, how="left")
        if is_checked:
            populations = stop_if_broken(populations, eta_row_checks(grid, pl.lit(True)))
    else:
        populations = groups.join(eta_rows, how="cross")
    eta_expr, is_own_eta = pl.col("eta"), pl.col("eta").is_null()
    own_eta_expr = (
        n_pos / (n_pos + n_neg) if grid.own_eta_column is None else pl.col(grid.own_eta_column)
    )
    if grid.sharing_groups is not None:
        least_eta_expr = (
            own_eta_expr.min().over(grid.sharing_groups) if grid.sharing_groups else own_eta_expr.min()
        )
        own_eta_expr = (
            pl.when(own_eta_expr <= least_eta_expr * (1 + _ROUNDING))
            .then(least_eta_expr)
            .otherwise(own_eta_expr)
        )
    populations = populations.with_columns(
        eta_expr.fill_null(own_eta_expr),
        *class_factors(eta_expr, is_own_eta, n_pos, n_neg),
        is_own_eta.alias(EtaError.IS_OWN),
    )
    sort_columns = [Group.NUMBER, "eta", Population.NEG_FACTOR, Population.ETA_ROW]
    if grid.n_copies > 1:
        return repeat_rows(populations, grid.n_copies).sort(*sort_columns, Population.COPY)
    return populations.sort(sort_columns)


def repeat_rows(rows: pl.LazyFrame, n_copies: int) -> pl.LazyFrame:
    """Return the rows, each as often as there are copies, which are numbered in Population.COPY."""
    copy_rows = pl.LazyFrame({Population.COPY: range(n_copies)}, schema={Population.COPY: pl.Int64})
    return rows.join(copy_rows, how="cross", maintain_order="left_right")


def eta_row_checks(grid: EtaTable, is_first_row: pl.Expr) -> list[Check]:
    """Return the check that a user's frame has a row for each group, read in first rows."""
    if not grid.keys:
        return []
    lacks_row = pl.col(Population.HAS_ETA_ROW).is_null() & is_first_row
    key_exprs = {name: pl.col(name) for name in grid.keys}
    return [missing_row_check("eta", key_exprs, lacks_row, lacks_row.sum())]


def same_eta_check(key_names: Sequence[str]) -> Check:
    """Return the check that models have one prevalence within each group of `key_names`."""
    own_eta_expr = pl.when(EtaError.IS_OWN).then("eta")
    lowest_eta, highest_eta = (
        extreme_eta.over(key_names) if key_names else extreme_eta
        for extreme_eta in (own_eta_expr.min(), own_eta_expr.max())
    )
    first_lowest_eta, first_highest_eta = (
        extreme_eta.filter(lowest_eta < highest_eta).first() for extreme_eta in (lowest_eta, highest_eta)
    )
    start_phrase = "eta=None compares models at the prevalence of each, and these differ, from "
    advice_phrase = (
        "pass eta= as a number to compare them at, or as a frame with a number for each group of by="
    )
    message_parts = (start_phrase, first_lowest_eta, " to ", first_highest_eta, f"; {advice_phrase}")
    return Check((lowest_eta < highest_eta).any(), message_parts)


def find_shared_eta(key_names: Iterable[str]) -> pl.Expr:
    """Return the prevalence that all rows of equal `key_names` share, or null if these differ."""
    least_eta, greatest_eta, key_list = pl.col("eta").min(), pl.col("eta").max(), list(key_names)
    if key_list:
        least_eta, greatest_eta = least_eta.over(key_list), greatest_eta.over(key_list)
    return pl.when(greatest_eta <= least_eta * (1 + _ROUNDING)).then(least_eta).alias("eta")


def own_eta_checks(table: ResolvedTable, grid: EtaTable, is_first_row: pl.Expr) -> list[Check]:
    """Return the check that no group of unknown size has the eta None, in first rows."""
    if not (isinstance(table, RateTable) and table.may_lack_sizes and grid.may_hold_own):
        return []
    n_unknown_etas = (pl.col(EtaError.IS_OWN) & pl.col("eta").is_null() & is_first_row).sum()
    end_phrase = (
        " group(s), so that no prevalence is known there; pass eta= as numbers, or as a frame with a "
        "prevalence per group"
    )
    return [count_check(n_unknown_etas, "sizes= are null in ", end_phrase)]


def class_factors(
    eta: pl.Expr, is_own_eta: pl.Expr, n_pos: pl.Expr, n_neg: pl.Expr
) -> tuple[pl.Expr, pl.Expr]:
    """Return the factors of positives and of negatives that bring a group to prevalence eta."""
    # Which factor is 1 depends on eta, so that neither overflows. A class without rows makes 0/0, hence
    # null, unless eta rules it out.
    odds = eta * n_neg / ((1 - eta) * n_pos)
    pos_factor = pl.when(is_own_eta | (eta >= 0.5)).then(1.0).when(eta == 0).then(0.0).otherwise(odds)
    inverse_odds = (1 - eta) * n_pos / (eta * n_neg)
    neg_factor = (
        pl.when(is_own_eta | (eta < 0.5)).then(1.0).when(eta == 1).then(0.0).otherwise(inverse_odds)
    )
    return pos_factor.alias(Population.POS_FACTOR), neg_factor.alias(Population.NEG_FACTOR)
