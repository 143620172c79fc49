"""The grid of prevalences that `eta=` requests, and its join with the table of groups.

A grid is a small table, in which a null represents the prevalence of a group:

    numbers -> build_number_grid  the grid, the same for each group
    a frame -> read_eta_frame     the grid, checked as far as the call can
    groups  -> join_etas          one row per population, a group at a prevalence, with the two factors
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

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
    find_repeats,
    hint_at_arguments,
    is_pattern,
    refuse_kind,
)
from polars_prcurve.core.ground.errors import PrcError, describe_value, list_names
from polars_prcurve.core.ground.group_keys import join_groups
from polars_prcurve.core.ground.lazy_modules import fractions
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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from polars_prcurve.core.prevalence.eta_of_fields_and_class_mixes import ClassMix, Field


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
                f"pass prevalences from 1e-15 to 1 - 1e-15 to decisions and charts, got "
                f"{extreme_etas[0]!r}: its text would be 0 or 1; tables, such as summary(), take any"
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
            end_names = "eta_low and eta_high"
            remedy = f"pass its ends as two eta (the eta= frame has {end_names}, whose error it does "
            remedy += "not carry)"
            if carrier:
                remedy = f"pass {carrier}, which carries the error of {end_names} in the eta= frame, or "
                remedy += "pass these ends as two eta"
            raise PrcError(f"{what} works at an eta; {remedy}")
        return self


def build_number_grid(
    etas: Sequence[float | None], table: ResolvedTable, *, compares_models: bool = False
) -> EtaTable:
    """Return the grid of the same prevalences for each group; raise if a group cannot have its own."""
    if None in etas and not table.has_counts:
        raise PrcError(f"{_NO_OWN}; pass eta= as numbers, or sizes=")
    return EtaTable(
        pl.LazyFrame({"eta": etas}, schema={"eta": pl.Float64}),
        etas_per_group=len(etas),
        sharing_groups=_list_sharing_groups(table) if compares_models else None,
        holds_own=None in etas,
        holds_others=any(eta is not None for eta in etas),
        numbers=None if compares_models else tuple(etas),
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
    if table.model_name in eta_frame.lazy().collect_schema():
        raise PrcError(
            f"models are compared at one prevalence; leave the column {table.model_name!r}, which "
            "names them, out of the eta= frame"
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
_NO_OWN = "rates= holds no counts, so there is no prevalence of its own"


def _build_frame_grid(
    eta_frame: pl.DataFrame | pl.LazyFrame, table: ResolvedTable, confidence: float | None
) -> EtaTable:
    """Return the grid of a user's frame, with checks of its values, made at once in a DataFrame."""
    schema, by = eta_frame.lazy().collect_schema(), table.group_columns
    arguments.refuse_objects("the eta= frame", schema)
    if "eta" not in schema or not (schema["eta"].is_numeric() or schema["eta"] == pl.Null):
        schema_text = list_names(f"{name}: {dtype}" for name, dtype in schema.items())
        raise PrcError(
            f"an eta= frame needs a numeric column 'eta'; it has {schema_text}; a table of scores "
            "without labels is bound with label=None first"
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
        beginning = f"the eta= frame carries a column {name!r}"
        if is_pattern(name):
            raise PrcError(f"{beginning}, which Polars reads as a pattern; rename it")
        if name in by or name.startswith(RESERVED):
            raise PrcError(f"{beginning}, and the result has a column of that name; rename it")
    return carried_names


def check_result_columns(table: ResolvedTable, grid: EtaTable, columns: Sequence[str]) -> None:
    """Raise if a group, or what an eta frame carries, has the name of another column of the result."""
    check_group_names(table.by, columns)
    if clashing_names := [name for name in grid.carried_columns if name in columns]:
        raise PrcError(
            f"the eta= frame carries a column {clashing_names[0]!r}, and the result has a column of "
            "that name; rename it"
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
            f"the eta= frame has a column {names[0]!r} and no {lacking_names[0]!r}; an eta that is an "
            f"estimate needs both ends, {ETA_LOW!r} and {ETA_HIGH!r}"
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
        " group(s), which have no prevalence of their own; pass eta= as numbers, or as a frame with a "
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


# Prevalences as users write them: numbers, ratios, and grids ------------------------------------


class UnlabelledTable(Protocol):
    """A bound table without labels, `prc(month, label=None)`, whose prevalence is to be estimated."""

    def estimate_prevalence(self, *arguments: Any, **keyword_arguments: Any) -> Any:
        """Return the prevalence of each of its groups."""


Eta: TypeAlias = (
    "float | str | Sequence[float | str | None] | NDArray[np.float64] | pl.Series"
    " | pl.DataFrame | pl.LazyFrame | Field | ClassMix | UnlabelledTable | None"
)
"""The argument eta=: a prevalence, several, a frame with a column eta, a field of several parts, or a
bound table without labels.

None is the prevalence of the group.
"""


@hint_at_arguments
def eta_grid(low: float = 1e-6, high: float = 0.5, n: int = 50) -> list[float]:
    """Return a grid of `n` prevalences, evenly spaced in log, and the powers of ten between them.

    Parameters
    ----------
    low, high
        Ends of the grid, which are part of it; 0 < low < high <= 1.
    n
        Number of log-spaced values, at least 2. Powers of ten that are not among them are added.

    Examples
    --------
    >>> eta_grid(0.001, 0.5, n=3)
    [0.001, 0.01, 0.022360679774997894, 0.1, 0.5]
    """
    low, high = arguments.read_pair("low, high", (low, high), "two prevalences")
    n = arguments.read_whole_number("n=", n, 0, most=arguments.MOST_REPEATS)
    if not 0 < low < high <= 1:
        raise PrcError(f"eta_grid needs 0 < low < high <= 1; got low={low}, high={high}")
    if n < 2:
        raise PrcError(f"eta_grid needs n >= 2; got {n}")
    log_step = math.log(high / low) / (n - 1)
    inner_etas = [low * math.exp(log_step * i) for i in range(1, n - 1)]
    powers_of_ten = [float(f"1e{exponent}") for exponent in range(math.ceil(math.log10(low)) - 1, 1)]
    inner_powers = [ten for ten in powers_of_ten if low < ten < high]
    # A power of ten replaces a log-spaced value that differs from it by rounding only.
    spaced_etas = [
        eta
        for eta in inner_etas
        if not any(math.isclose(eta, ten, rel_tol=1e-12) for ten in inner_powers)
    ]
    return sorted({float(low), *spaced_etas, *inner_powers, float(high)})


def end_at_negatives(points: pl.DataFrame) -> pl.DataFrame:
    """Return the rows at prevalences down to the power of ten below 1 in as many as the negatives are.

    Among fewer negatives than one positive has beside it, false positives are hardly seen.
    """
    n_negatives = points["n_neg"] if "n_neg" in points.columns else points["fp"] + points["tn"]
    greatest_n = n_negatives.drop_nulls().max()
    if not isinstance(greatest_n, int | float) or greatest_n < 1:
        return points
    least_eta = 10.0 ** math.floor(-math.log10(greatest_n) + 1e-9)
    return points.filter(pl.col("eta").is_null() | (pl.col("eta") >= least_eta * (1 - 1e-9)))


@hint_at_arguments
def eta_from_ratio(ratio: str | float) -> float:
    """Return the prevalence at a ratio r of positives to negatives, `r / (1 + r)`.

    Parameters
    ----------
    ratio
        `"1:100"`, which is one positive to a hundred negatives, or the number 0.01. The texts `"1/100"`
        and `"1 in 100"` are shares of all, not ratios, and raise an error: pass them as `eta=`.

    Examples
    --------
    >>> eta_from_ratio("1:99")
    0.01
    >>> eta_from_ratio(1.0)
    0.5
    """
    if isinstance(ratio, str) and ":" not in ratio and _SHARE.search(ratio):
        raise PrcError(
            f"a ratio is positives to negatives; {describe_value(ratio)} is a share of all, which eta= "
            "takes as it stands"
        )
    try:
        if isinstance(ratio, str):
            return read_share_text(ratio if ":" in ratio else f"{ratio}:1")
        number = arguments.read_number("ratio", ratio, "a number")
        return 1.0 if number == math.inf else read_share_text(f"{number!r}:1")
    except (ValueError, TypeError):
        raise PrcError(
            f'a ratio is positives to negatives, such as "1:100" or 0.01; got {describe_value(ratio)}'
        ) from None


_SHARE = re.compile(r"/|\bin\b")  # between both numbers of 1/1000, and of 1 in 1000


def read_share_text(text: str) -> float:
    """Return the prevalence in a text, such as 1/1000, 0.1% or 1:999; raise a `ValueError` if none."""
    try:
        if ":" in text:
            n_pos, n_neg = map(_read_plain, text.split(":", 1))
            if n_pos < 0 or n_neg < 0:
                raise ValueError(f"a number is negative: {text}")
            return float(n_pos / (n_pos + n_neg))
        if text.endswith("%"):
            return float(_read_plain(text[:-1]) / 100)
        part_text, separator, whole_text = _SHARE.sub("/", text).partition("/")
        return float(_read_plain(part_text) / (_read_plain(whole_text) if separator else 1))
    except (ZeroDivisionError, OverflowError):
        raise ValueError(f"no share: {text}") from None


def read_share(
    argument: str, value: object, expected: str, holds: Callable[[float], bool] | None = None
) -> float:
    """Return the share that a number or a text gives; raise unless `holds` is true of it."""
    try:
        number = read_share_text(value) if isinstance(value, str) else value
        return arguments.read_number(argument, number, expected, holds)
    except ValueError:
        raise refuse_kind(argument, expected, value) from None


def _read_plain(text: str) -> fractions.Fraction:
    """Return the number in a text, which may have a blank or a comma between thousands: `1,000`."""
    if "/" in (text := text.strip()):
        raise ValueError(f"not one number: {text}")
    return read_fraction(re.sub(_BETWEEN_THOUSANDS, "", text) if _THOUSANDS.fullmatch(text) else text)


_BETWEEN_THOUSANDS = "[ ,_\u00a0\u2009\u202f]"
"""What is written between thousands: a blank, plain, unbreakable, thin or narrow; a comma; or a `_`."""
_THOUSANDS = re.compile(rf"[1-9]\d{{0,2}}(?:{_BETWEEN_THOUSANDS}\d{{3}})+")  # so that 0,001 is none


def read_fraction(text: str) -> fractions.Fraction:
    """Return the number in a text exactly; raise a `ValueError` unless it is one of a sane size."""
    # Fraction("1e99999999") would write out a hundred million digits.
    exponents = _EXPONENT.findall(text.replace("_", ""))
    if any(len(digits) > _MAX_EXPONENT_DIGITS for digits in exponents):
        raise ValueError(f"the exponent is too large: {text}")
    return fractions.Fraction(text.strip())


_EXPONENT = re.compile(r"[eE][+-]?0*(\d+)")  # the digits that give its size
_MAX_EXPONENT_DIGITS = 4  # enough for all floats, whose exponents have 3, and too few to fill memory


@hint_at_arguments
def ratio_from_eta(eta: float) -> float:
    """Return the positives per negative at a prevalence, `eta / (1 - eta)`; infinite at 1.

    Examples
    --------
    >>> ratio_from_eta(0.5)
    1.0
    """
    eta = check_eta(eta)
    return eta / (1 - eta) if eta < 1 else math.inf


def read_eta_list(eta: object) -> list[float | None]:
    """Return one prevalence or several as a list, in which None is the prevalence of a group."""
    expected = "a number, a sequence, a frame with a column eta, or None"
    eta_values: list[Any] = [None]
    if isinstance(eta, Mapping):
        raise PrcError(
            "eta= takes no mapping: pass class_mix({...}) for the shares of classes, or a frame with "
            "the group columns and eta"
        )
    if eta is not None:
        eta_values = arguments.read_list("eta=", eta, expected, single_type=(Real, str))
    etas = [None if value is None else check_eta(value) for value in eta_values]
    if not etas:
        raise PrcError("eta= holds no prevalence; pass None for the prevalence of each group")
    if repeated_etas := find_repeats(etas):
        raise PrcError(f"eta= holds {repeated_etas[0]} more than once; leave the repeats out")
    return etas


def check_eta(value: object) -> float:
    """Return a prevalence as a float; raise unless it is a number in [0, 1], or a text of one."""
    if isinstance(value, str):
        try:
            number = read_share_text(value)
        except ValueError:
            raise PrcError(
                'eta= takes numbers in [0, 1], or texts such as "0.1%", "1 in 1000" and "1:999"; '
                f"got {describe_value(value)} (a column? pass a frame, or in expressions "
                "pl.col(...).first())"
            ) from None
        return check_eta(number)
    if isinstance(value, bool) or not isinstance(value, Real):
        raise PrcError(f"eta= takes numbers in [0, 1]; got {describe_value(value)}")
    eta = arguments.round_to_float(value)
    if not 0 <= eta <= 1:
        raise PrcError(
            f'eta= must be a share in [0, 1], such as 0.5 or "50%"; got {describe_value(value)}'
        )
    return eta
