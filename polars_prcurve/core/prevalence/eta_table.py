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
from polars_prcurve.core.ground.argument_checks import (
    is_pattern,
)
from polars_prcurve.core.ground.errors import PrcError, list_names
from polars_prcurve.core.ground.group_keys import join_groups
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.value_checks import Check, count_check, run_query, stop_if_broken
from polars_prcurve.core.inputs.column_reader import (
    check_forgotten_groups,
    check_group_names,
    missing_row_check,
    read_group_keys,
)
from polars_prcurve.core.inputs.resolved_tables import RateTable, ResolvedTable
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.prevalence.estimated_eta import warn_of_refuted_estimates
from polars_prcurve.core.prevalence.population_column_names import Population

_NEAREST_ETA = 1e-15
"""How near to 0 or 1 a prevalence may be that is put in words: a case in a million billion."""


def require_plain_etas(result: pl.DataFrame) -> pl.DataFrame:
    """Return a result; raise for prevalences too near to 0 or 1 for a sentence or an axis."""
    for name in ("eta", ETA_LOW, ETA_HIGH):
        if name not in result.columns:
            continue
        etas = result.get_column(name)
        is_extreme = ((etas > 0) & (etas < _NEAREST_ETA)) | ((etas < 1) & (etas > 1 - _NEAREST_ETA))
        if len(extreme_etas := etas.filter(is_extreme)):
            raise PrcError(
                "pass prevalences from 1e-15 to 1 - 1e-15 to decisions and charts; got "
                f"{extreme_etas[0]!r}, which would be printed as 0 or 1"
            )
    return result


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

    def require_exact(self, what: str, *, carrier: str = "") -> EtaTable:
        """Return the grid; raise if its prevalences are estimates, whose error `what` does not carry.

        `carrier` is the argument with which it would.
        """
        # Fields carry what is known of their parts.
        if self.is_uncertain or ETA_LOW in self.carried_columns:
            carrier_text = f"pass {carrier}, which allows for the error of eta, or " if carrier else ""
            raise PrcError(
                f"{carrier_text}pass eta_low and eta_high as numbers instead of the eta= frame: {what} "
                "needs an exact eta"
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
    other_names = (name for name in grid.carried_columns if not (is_estimate and name == "n"))
    check_forgotten_groups("eta", other_names, table.schema)
    return grid._replace(sharing_groups=_list_sharing_groups(table) if compares_models else None)


_ROUNDING = 1e-12
"""Own prevalences of weighted groups that are this close, relatively, differ by rounding alone."""
# The reason why a table of rates alone has no prevalence, which errors give before what to do.
_NO_OWN = "rates= holds no counts, so the table has no prevalence of its own"


def _build_frame_grid(
    eta_frame: pl.DataFrame | pl.LazyFrame, table: ResolvedTable, confidence: float | None
) -> EtaTable:
    """Return the grid of a user's frame, with checks of its values, made at once in a DataFrame."""
    schema, by = eta_frame.lazy().collect_schema(), table.group_columns
    arguments.refuse_objects("the eta= frame", schema)
    if "eta" not in schema or not (schema["eta"].is_numeric() or schema["eta"] == pl.Null):
        schema_text = list_names(f"{name}: {dtype}" for name, dtype in schema.items())
        raise PrcError(
            f"add a numeric column 'eta' to the eta= frame; it has {schema_text} (to estimate "
            "eta from scores without labels, pass prc(frame, label=None))"
        )
    key_names = read_group_keys("eta", schema, by)
    is_uncertain = has_uncertain_eta(schema, key_names)
    carried_names = _list_carried_columns(schema, by, is_uncertain=is_uncertain)
    eta, row_names = pl.col("eta"), (*key_names, "eta", *carried_names)
    outside_text = "holds an eta outside [0, 1] (expected shares, not percent)"
    troubles = [(eta.is_nan() | ~eta.is_between(0, 1), outside_text)]
    rows = eta_frame.lazy().with_columns(eta.cast(pl.Float64))
    if is_uncertain:
        rows, more_troubles = add_uncertain_eta(rows, schema, confidence)
        troubles += more_troubles
    troubles.append((pl.struct(row_names).is_duplicated(), "repeats a group and eta"))
    if not table.has_counts:
        troubles.append((eta.is_null(), f"holds a null ({_NO_OWN})"))
    checks = [
        count_check(test.sum(), f"the eta= frame {text} in ", " row(s)") for test, text in troubles
    ]
    rows = stop_if_broken(rows, checks)
    etas_per_group, holds_own = None, None
    if isinstance(eta_frame, pl.DataFrame):
        rows = run_query(rows).lazy()
        if "shift_p_value" in carried_names:
            warn_of_refuted_estimates(eta_frame, list(key_names))
        etas_per_group = None if key_names else eta_frame.height
        holds_own = eta_frame["eta"].null_count() > 0
    return EtaTable(
        rows,
        {name: by[name] for name in key_names},
        carried_names,
        etas_per_group,
        is_uncertain=is_uncertain,
        holds_own=holds_own,
    )


def _list_carried_columns(
    schema: Iterable[str], by: Mapping[str, pl.DataType], *, is_uncertain: bool
) -> tuple[str, ...]:
    """Return what an eta frame has beside groups and eta, intervals first; raise for other names."""
    eta_names = ("eta", *(UNCERTAIN_ETA_COLUMNS if is_uncertain else ()))
    carried_names = (*eta_names[1:], *(name for name in schema if name not in (*by, *eta_names)))
    for name in carried_names:
        advice = f"rename the column {name!r} of the eta= frame"
        if is_pattern(name):
            raise PrcError(f"{advice}: Polars reads it as a pattern")
        if name in by or name.startswith(RESERVED):
            raise PrcError(f"{advice}: the result has a column of that name")
    return carried_names


def check_result_columns(table: ResolvedTable, grid: EtaTable, columns: Sequence[str]) -> None:
    """Raise if a group, or what an eta frame carries, has the name of another column of the result."""
    check_group_names(table.by, columns)
    if clashing_names := [name for name in grid.carried_columns if name in columns]:
        raise PrcError(
            f"rename the column {clashing_names[0]!r} of the eta= frame: the result has a "
            "column of that name"
        )


# Prevalences of a frame that are estimates -----------------------------------------------------

_SAME_LEVEL = 1e-9  # levels that differ by less are one level, which was computed in two ways


def has_uncertain_eta(schema: Mapping[str, pl.DataType], key_names: Iterable[str]) -> bool:
    """Return whether an eta= frame has intervals, in no key columns; raise if it has half of one."""
    names = [name for name in UNCERTAIN_ETA_COLUMNS if name in schema and name not in key_names]
    for name in names:
        if not (schema[name].is_numeric() or schema[name] == pl.Null):
            raise PrcError(f"column {name!r} of the eta= frame is {schema[name]}; expected numbers")
    lacking_names = [name for name in (ETA_LOW, ETA_HIGH) if name not in names]
    if names and lacking_names:
        raise PrcError(
            f"add the column {lacking_names[0]!r} to the eta= frame, which has {names[0]!r}: an "
            "interval of eta needs both ends"
        )
    return bool(names)


def add_uncertain_eta(
    eta_rows: pl.LazyFrame, schema: Mapping[str, pl.DataType], confidence: float | None
) -> tuple[pl.LazyFrame, list[tuple[pl.Expr, str]]]:
    """Return the frame with three columns, null where eta is exact, and tests with their sentences."""
    low, high = (pl.col(name).cast(pl.Float64) for name in (ETA_LOW, ETA_HIGH))
    level = pl.lit(confidence, dtype=pl.Float64)
    if ETA_CONFIDENCE in schema:
        level = pl.col(ETA_CONFIDENCE).cast(pl.Float64).fill_null(level)
    has_end = low.is_not_null() | high.is_not_null()
    stated_level = pl.when(has_end).then(level)
    added_exprs = {ETA_LOW: low, ETA_HIGH: high, ETA_CONFIDENCE: stated_level}
    eta, low, high, level = map(pl.col, ("eta", *UNCERTAIN_ETA_COLUMNS))
    has_end = low.is_not_null() | high.is_not_null()
    is_inside = (low >= 0) & (low <= eta) & (eta <= high) & (high <= 1)
    is_outside = low.is_nan() | high.is_nan() | ~is_inside
    end_names = f"{ETA_LOW} and {ETA_HIGH}"
    alone_text = f"holds one of {end_names} and not the other (null in both: eta is exact)"
    null_eta_text = f"holds {end_names} beside a null eta (the prevalence of a group has none)"
    level_text = f"holds an {ETA_CONFIDENCE} that is no level (expected a share such as 0.95)"
    troubles = [
        (low.is_null() != high.is_null(), alone_text),
        (has_end & eta.is_null(), null_eta_text),
        (is_outside, f"does not hold 0 <= {ETA_LOW} <= eta <= {ETA_HIGH} <= 1"),
        (level.is_nan() | (level <= 0) | (level >= 1), level_text),
    ]
    if confidence is not None:
        level_text = f"holds an {ETA_CONFIDENCE} that is not confidence={confidence} (pass one level)"
        troubles.append(((level - confidence).abs() > _SAME_LEVEL, level_text))
    return eta_rows.with_columns(**added_exprs), troubles


# Groups at prevalences --------------------------------------------------------------------------


def join_etas(
    groups: pl.LazyFrame, grid: EtaTable, n_pos: pl.Expr, n_neg: pl.Expr, *, checked: bool = True
) -> pl.LazyFrame:
    """Return one row per group and prevalence, by rising eta: the group, eta and both factors."""
    # If not `checked`, a caller has to make the `eta_row_checks`.
    eta_rows = grid.frame.with_row_index(Population.ETA_ROW)
    if grid.keys:
        eta_rows = eta_rows.with_columns(pl.lit(True).alias(Population.HAS_ETA_ROW))
        populations = join_groups(groups, eta_rows, grid.keys, how="left")
        if checked:
            populations = stop_if_broken(populations, eta_row_checks(grid, pl.lit(True)))
    else:
        populations = groups.join(eta_rows, how="cross")
    eta, is_own = pl.col("eta"), pl.col("eta").is_null()
    own_eta = n_pos / (n_pos + n_neg) if grid.own_eta_column is None else pl.col(grid.own_eta_column)
    if grid.sharing_groups is not None:
        least_eta = own_eta.min().over(grid.sharing_groups) if grid.sharing_groups else own_eta.min()
        own_eta = pl.when(own_eta <= least_eta * (1 + _ROUNDING)).then(least_eta).otherwise(own_eta)
    populations = populations.with_columns(
        eta.fill_null(own_eta), *class_factors(eta, is_own, n_pos, n_neg), is_own.alias(EtaError.IS_OWN)
    )
    sort_names = [Group.NUMBER, "eta", Population.NEG_FACTOR, Population.ETA_ROW]
    if grid.n_copies > 1:
        return repeat_rows(populations, grid.n_copies).sort(*sort_names, Population.COPY)
    return populations.sort(sort_names)


def repeat_rows(rows: pl.LazyFrame, n_copies: int) -> pl.LazyFrame:
    """Return the rows, each as often as there are copies, which are numbered in Population.COPY."""
    copies = pl.LazyFrame({Population.COPY: range(n_copies)}, schema={Population.COPY: pl.Int64})
    return rows.join(copies, how="cross", maintain_order="left_right")


def eta_row_checks(grid: EtaTable, is_first: pl.Expr) -> list[Check]:
    """Return the check that a user's frame has a row for each group, read where `is_first` is true."""
    if not grid.keys:
        return []
    lacks_row = pl.col(Population.HAS_ETA_ROW).is_null() & is_first
    key_exprs = {name: pl.col(name) for name in grid.keys}
    return [missing_row_check("eta", key_exprs, lacks_row, lacks_row.sum())]


def same_eta_check(key_names: Sequence[str]) -> Check:
    """Return the check that models have one prevalence within each group of `key_names`."""
    eta = pl.when(EtaError.IS_OWN).then("eta")
    lowest, highest = (
        extreme.over(key_names) if key_names else extreme for extreme in (eta.min(), eta.max())
    )
    first_low, first_high = (extreme.filter(lowest < highest).first() for extreme in (lowest, highest))
    beginning = "eta=None compares models at the prevalence of each, and these differ, from "
    advice = (
        "pass eta= as a number to compare them at, or as a frame with a number for each group of by="
    )
    message_parts = (beginning, first_low, " to ", first_high, f"; {advice}")
    return Check((lowest < highest).any(), message_parts)


def find_shared_eta(key_names: Iterable[str]) -> pl.Expr:
    """Return the prevalence that all rows of equal `key_names` share, or null if these differ."""
    least_eta, greatest_eta, name_list = pl.col("eta").min(), pl.col("eta").max(), list(key_names)
    if name_list:
        least_eta, greatest_eta = least_eta.over(name_list), greatest_eta.over(name_list)
    return pl.when(greatest_eta <= least_eta * (1 + _ROUNDING)).then(least_eta).alias("eta")


def own_eta_checks(table: ResolvedTable, grid: EtaTable, is_first: pl.Expr) -> list[Check]:
    """Return the check that no group of unknown size has the eta None, in first rows."""
    if not (isinstance(table, RateTable) and table.may_lack_sizes and grid.may_hold_own):
        return []
    n_unknown = (pl.col(EtaError.IS_OWN) & pl.col("eta").is_null() & is_first).sum()
    ending = (
        " group(s), so that no prevalence is known there; pass eta= as numbers, or as a frame with a "
        "prevalence per group"
    )
    return [count_check(n_unknown, "sizes= are null in ", ending)]


def class_factors(
    eta: pl.Expr, is_own: pl.Expr, n_pos: pl.Expr, n_neg: pl.Expr
) -> tuple[pl.Expr, pl.Expr]:
    """Return the factors of positives and of negatives that bring a group to prevalence eta."""
    # Which factor is 1 depends on eta, so that neither overflows. A class without rows makes 0/0, hence
    # null, unless eta rules it out.
    odds = eta * n_neg / ((1 - eta) * n_pos)
    pos_factor = pl.when(is_own | (eta >= 0.5)).then(1.0).when(eta == 0).then(0.0).otherwise(odds)
    inverse_odds = (1 - eta) * n_pos / (eta * n_neg)
    neg_factor = pl.when(is_own | (eta < 0.5)).then(1.0).when(eta == 1).then(0.0).otherwise(inverse_odds)
    return pos_factor.alias(Population.POS_FACTOR), neg_factor.alias(Population.NEG_FACTOR)
