"""The grid of prevalences that `eta=` asks for, and its join with the table of groups.

A grid is a small table, in which a null stands for the own prevalence of a group:

    eta=   -> read_eta   the grid, checked as far as the call can tell
    groups -> join_etas  one row per pair, a group at a prevalence, with the two factors
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import refuse_objects, take_frame
from polars_prcurve.errors import PrcError, list_names
from polars_prcurve.group_numbers import join_groups
from polars_prcurve.inputs.group_frames import (
    check_forgotten_groups,
    missing_row_check,
    read_group_keys,
)
from polars_prcurve.inputs.score_table import InputTable, RateTable
from polars_prcurve.prevalence.eta_values import Eta, read_eta_list
from polars_prcurve.prevalence.refuted_estimates import warn_of_refuted_estimates
from polars_prcurve.prevalence.uncertain_eta import (
    UNCERTAIN_ETA_COLUMNS,
    add_uncertain_eta,
    has_uncertain_eta,
    uncertain_eta_troubles,
)
from polars_prcurve.query_checks import Check, compose_sentence, run_query, stop_if_broken


@dataclass(frozen=True)
class EtaTable:
    """A grid of prevalences; a null in its column eta is the own prevalence of a group."""

    frame: pl.LazyFrame
    keys: Mapping[str, pl.DataType] = field(default_factory=dict)
    """The `by` columns that `frame` is joined on; without any, each group gets all prevalences."""
    carried: tuple[str, ...] = ()
    """Other columns of a user's frame, which the result gets, too."""
    etas_per_group: int | None = None
    """The number of prevalences of each group; None if groups may differ in it."""
    shared: tuple[str, ...] | None = None
    """The columns of groups within which own prevalences have to be equal, because models are compared
    at them; None if they may differ."""
    uncertain: bool = False
    """Whether prevalences are estimates: the first carried columns are UNCERTAIN_ETA_COLUMNS."""
    copies: int = 1
    """The number of rows per prevalence, which are numbered in COPY."""
    own_eta: str | None = None
    """The column of `frame` with the own prevalence of a group; None if it follows from class sizes."""
    holds_own: bool | None = False
    """Whether a null stands for the own prevalence of a group; None if a LazyFrame will tell."""
    holds_others: bool = True
    """Whether there may be other prevalences."""

    @property
    def may_hold_own(self) -> bool:
        """Whether a null may stand for the own prevalence of a group, which needs its class sizes."""
        return self.holds_own is not False

    @property
    def has_one_row_per_group(self) -> bool:
        """Whether each group gets one row, because there is one prevalence and one copy."""
        return self.etas_per_group == 1 and self.copies == 1

    def let_own_differ(self, *, depends_on_eta: bool) -> EtaTable:
        """Return the grid, in which own prevalences may differ if nothing asked depends on them."""
        if depends_on_eta or self.etas_per_group != 1:
            return self
        return replace(self, shared=None)

    def require_exact(self, what: str, *, carrier: str = "") -> EtaTable:
        """Return the grid; raise if its prevalences are estimates, whose error `what` does not carry.

        `carrier` is the argument with which it would.
        """
        if self.uncertain or c.ETA_LOW in self.carried:  # fields carry what is known of their parts
            if carrier:
                raise PrcError(
                    f"{what} works at an eta; pass {carrier}, which carries the error of eta_low and "
                    "eta_high in the eta= frame, or pass these ends as two eta"
                )
            raise PrcError(
                f"{what} works at an eta; pass its ends as two eta (the eta= frame has eta_low and "
                "eta_high, whose error it does not carry)"
            )
        return self


def read_eta(
    eta: Eta,
    table: InputTable,
    makes: Iterable[str],
    *,
    compares_models: bool = False,
    confidence: float | None = None,
) -> EtaTable:
    """Return the grid that `eta=` asks for; raise for what the call can tell.

    `makes` are the names of the columns of the result, which a frame may not carry. Published rates have
    no own prevalence, because they hold no counts. If it `compares_models`, those of a group must
    share theirs. `confidence` is the level of its intervals, which those of prevalences must have, too.
    """
    has_own, eta = table.has_counts, take_frame(eta)
    shared = tuple(table.group_columns) if compares_models else None
    if isinstance(eta, pl.DataFrame | pl.LazyFrame):
        if table.model_name in eta.lazy().collect_schema():
            raise PrcError(
                f"models are compared at one prevalence; leave the column {table.model_name!r}, which "
                "names them, out of the eta= frame"
            )
        grid = _read_eta_frame(eta, table.group_columns, set(makes), has_own, confidence)
        # The n of an estimate is the number of rows behind it, and no group, whatever the table has.
        is_estimate = "shift_p_value" in grid.carried
        others = (name for name in grid.carried if not (is_estimate and name == "n"))
        check_forgotten_groups("eta", others, table.schema)
        return replace(grid, shared=shared)
    values = read_eta_list(eta)
    if None in values and not has_own:
        raise PrcError(f"{_NO_OWN}; pass eta= as numbers, or sizes=")
    frame = pl.LazyFrame({"eta": values}, schema={"eta": pl.Float64})
    return EtaTable(
        frame,
        etas_per_group=len(values),
        shared=shared,
        holds_own=None in values,
        holds_others=any(value is not None for value in values),
    )


_ROUNDING = 1e-12
"""Own prevalences of weighted groups that are this close, relatively, differ by rounding alone."""
_NO_OWN = "rates= holds no counts, so there is no prevalence of its own"


def _read_eta_frame(
    eta: pl.DataFrame | pl.LazyFrame,
    by: Mapping[str, pl.DataType],
    makes: set[str],
    has_own: bool,
    confidence: float | None,
) -> EtaTable:
    """Return the grid of a user's frame, with checks of its values, made at once in a DataFrame."""
    schema = eta.lazy().collect_schema()
    refuse_objects("the eta= frame", schema)
    if "eta" not in schema or not (schema["eta"].is_numeric() or schema["eta"] == pl.Null):
        described = list_names(f"{name}: {dtype}" for name, dtype in schema.items())
        raise PrcError(
            f"an eta= frame needs a numeric column 'eta'; it has {described}; scores of rows without "
            "labels are passed as prc(frame, label=None)"
        )
    keys = read_group_keys("eta", schema, by)
    uncertain = has_uncertain_eta(schema, keys)
    own_names = ("eta", *(UNCERTAIN_ETA_COLUMNS if uncertain else ()))
    carried = (*own_names[1:], *(name for name in schema if name not in (*by, *own_names)))
    for name in carried:
        if c.is_pattern(name):
            raise PrcError(
                f"the eta= frame carries a column {name!r}, which Polars reads as a pattern; rename it"
            )
        if name in makes or name in by or name.startswith(c.RESERVED):
            raise PrcError(
                f"the eta= frame carries a column {name!r}, and the result has a column of that name; "
                "rename it"
            )
    checked = eta.lazy().with_columns(pl.col("eta").cast(pl.Float64))
    troubles = uncertain_eta_troubles(confidence) if uncertain else []
    if uncertain:
        checked = add_uncertain_eta(checked, schema, confidence)
    checked = stop_if_broken(checked, _eta_frame_checks((*keys, "eta", *carried), has_own, troubles))
    etas_per_group, holds_own = None, None
    if isinstance(eta, pl.DataFrame):
        checked = run_query(checked).lazy()
        if "shift_p_value" in carried:
            warn_of_refuted_estimates(eta, list(keys))
        etas_per_group = None if keys else eta.height
        holds_own = eta["eta"].null_count() > 0
    grid = EtaTable(checked, {name: by[name] for name in keys}, carried, etas_per_group)
    return replace(grid, uncertain=uncertain, holds_own=holds_own)


def _eta_frame_checks(
    columns: tuple[str, ...], has_own: bool, others: Iterable[tuple[pl.Expr, str]]
) -> list[Check]:
    """Return the checks of the values in a user's frame: of eta, of its rows, and the `others`.

    Rows that differ in any of the `columns` are not repeats: each has a result of its own.
    """
    value = pl.col("eta")
    outside = value.is_nan() | ~value.is_between(0, 1)
    troubles = [
        (outside, "holds an eta outside [0, 1] (expected shares, not percent)"),
        *others,
        (pl.struct(columns).is_duplicated(), "repeats a group and eta"),
    ]
    if not has_own:
        troubles.append((value.is_null(), f"holds a null ({_NO_OWN})"))
    return [
        Check(
            rows.sum() > 0,
            compose_sentence(f"the eta= frame {what} in ", rows.sum().cast(pl.String), " row(s)"),
        )
        for rows, what in troubles
    ]


def join_etas(
    groups: pl.LazyFrame, grid: EtaTable, n_pos: pl.Expr, n_neg: pl.Expr, *, checked: bool = True
) -> pl.LazyFrame:
    """Return one row per group and prevalence, by rising eta: the group, eta and both factors.

    Equal prevalences of a group come in the order of the grid. If not `checked`, a caller has to make
    the `eta_row_checks`, for which HAS_ETA_ROW is there.
    """
    etas = grid.frame.with_row_index(c.ETA_ROW)
    if grid.keys:
        etas = etas.with_columns(pl.lit(True).alias(c.HAS_ETA_ROW))
        pairs = join_groups(groups, etas, grid.keys, how="left")
        if checked:
            pairs = stop_if_broken(pairs, eta_row_checks(grid, pl.lit(True)))
    else:
        pairs = groups.join(etas, how="cross")
    eta, own = pl.col("eta"), pl.col("eta").is_null()
    own_eta = n_pos / (n_pos + n_neg) if grid.own_eta is None else pl.col(grid.own_eta)
    if grid.shared is not None:
        least = own_eta.min().over(grid.shared) if grid.shared else own_eta.min()
        own_eta = pl.when(own_eta <= least * (1 + _ROUNDING)).then(least).otherwise(own_eta)
    pairs = pairs.with_columns(
        eta.fill_null(own_eta),
        *class_factors(eta, own, n_pos, n_neg),
        own.alias(c.IS_OWN_ETA),
    )
    order = [c.GROUP, "eta", c.NEG_FACTOR, c.ETA_ROW]
    if grid.copies > 1:
        pairs = pairs.join(pl.LazyFrame({c.COPY: range(grid.copies)}), how="cross")
        return pairs.sort(*order, c.COPY)
    return pairs.sort(order)


def eta_row_checks(grid: EtaTable, first: pl.Expr) -> list[Check]:
    """Return the check that a user's frame has a row for each group, read where `first` is true."""
    if not grid.keys:
        return []
    missing = pl.col(c.HAS_ETA_ROW).is_null() & first
    keys = {name: pl.col(name) for name in grid.keys}
    return [missing_row_check("eta", keys, missing, missing.sum())]


def same_eta_check(keys: Sequence[str]) -> Check:
    """Return the check that models have one own prevalence within each group of `keys`."""
    eta = pl.when(c.IS_OWN_ETA).then("eta")
    low, high = (of.over(keys) if keys else of for of in (eta.min(), eta.max()))
    text = compose_sentence(
        "eta=None compares models at their own prevalence, and those differ, from ",
        low.filter(low < high).first().cast(pl.String),
        " to ",
        high.filter(low < high).first().cast(pl.String),
        "; pass eta= as a number to compare them at, or as a frame with a number for each group of by=",
    )
    return Check((low < high).any(), text)


def find_shared_eta(keys: Iterable[str]) -> pl.Expr:
    """Return the prevalence that all rows of equal `keys` share, or null if they have different ones."""
    least, most, names = pl.col("eta").min(), pl.col("eta").max(), list(keys)
    if names:
        least, most = least.over(names), most.over(names)
    return pl.when(most <= least * (1 + _ROUNDING)).then(least).alias("eta")


def own_eta_checks(table: InputTable, grid: EtaTable, first: pl.Expr) -> list[Check]:
    """Return the check that no group of points is asked for its own prevalence without class sizes.

    It is read where `first` is true.
    """
    if not (isinstance(table, RateTable) and table.may_lack_sizes and grid.may_hold_own):
        return []
    unknown = (pl.col(c.IS_OWN_ETA) & pl.col("eta").is_null() & first).sum()
    text = (
        " group(s), which have no prevalence of their own; pass eta= as numbers, or as a frame with a "
        "prevalence per group"
    )
    return [Check(unknown > 0, compose_sentence("sizes= are null in ", unknown.cast(pl.String), text))]


def class_factors(eta: pl.Expr, own: pl.Expr, n_pos: pl.Expr, n_neg: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Return the factors of positives and of negatives that bring a group to prevalence eta.

    One factor is 1, and the other `eta/(1-eta) * n_neg/n_pos` or its inverse. Which one is 1 depends on
    eta, so that neither overflows. Both are 1 at the own prevalence. A class without rows makes 0/0,
    hence null, unless eta rules it out.
    """
    odds = eta * n_neg / ((1 - eta) * n_pos)
    positive = pl.when(own | (eta >= 0.5)).then(1.0).when(eta == 0).then(0.0).otherwise(odds)
    inverse = (1 - eta) * n_pos / (eta * n_neg)
    negative = pl.when(own | (eta < 0.5)).then(1.0).when(eta == 1).then(0.0).otherwise(inverse)
    return positive.alias(c.POS_FACTOR), negative.alias(c.NEG_FACTOR)
