"""Prevalence: what a user may pass as `eta`, and what it does to counts.

Counts are measured once. To read them at another prevalence, positives and negatives get one
factor each, so that the four cells stand in the proportions of that prevalence; at a group's
own prevalence both factors are exactly 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from polars_prcurve.columns import COPY, FOUND, GROUP, NEG_FACTOR, OWN, POS_FACTOR, RESERVED
from polars_prcurve.errors import Check, PrcError, guard, raised_eagerly, sentence
from polars_prcurve.grouping import join_groups

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Eta", "Grid", "eta_from_ratio", "eta_grid", "ratio_from_eta", "read_eta"]

EtaFrame: TypeAlias = pl.DataFrame | pl.LazyFrame
Eta: TypeAlias = "float | Sequence[float | None] | NDArray[np.float64] | pl.Series | EtaFrame | None"


def eta_grid(low: float = 1e-6, high: float = 0.5, n: int = 50) -> list[float]:
    """`n` prevalences from `low` to `high`, evenly spaced in log, and the powers of ten between.

    Parameters
    ----------
    low, high
        Ends of the grid, both in it; 0 < low < high <= 1.
    n
        Number of log-spaced values, at least 2. Powers of ten that are not among them are added.

    Examples
    --------
    >>> eta_grid(0.001, 0.5, n=3)
    [0.001, 0.01, 0.022360679774997894, 0.1, 0.5]
    """
    if not 0 < low < high <= 1:
        raise PrcError(f"eta_grid needs 0 < low < high <= 1; got low={low}, high={high}")
    if n < 2:
        raise PrcError(f"eta_grid needs n >= 2; got {n}")
    step = math.log(high / low) / (n - 1)
    inner = [low * math.exp(step * k) for k in range(1, n - 1)]
    tens = [float(f"1e{k}") for k in range(math.ceil(math.log10(low)) - 1, 1)]
    powers = [ten for ten in tens if low < ten < high]
    # A log-spaced value that is a power of ten but for rounding gives way to it.
    spaced = [x for x in inner if not any(math.isclose(x, ten, rel_tol=1e-12) for ten in powers)]
    return sorted({float(low), *spaced, *powers, float(high)})


def eta_from_ratio(ratio: str | float) -> float:
    """Prevalence from positives to negatives: `r / (1 + r)`.

    Parameters
    ----------
    ratio
        `"1:100"`, one positive to a hundred negatives, or the number 0.01.

    Examples
    --------
    >>> eta_from_ratio("1:99")
    0.01
    >>> eta_from_ratio(1.0)
    0.5
    """
    try:
        if isinstance(ratio, str):
            positives, colon, negatives = ratio.partition(":")
            pos, neg = Fraction(positives.strip()), Fraction(negatives.strip() if colon else "1")
        elif math.isinf(ratio) and ratio > 0:
            return 1.0
        else:
            pos, neg = Fraction(ratio), Fraction(1)
        if pos < 0 or neg < 0:
            raise ValueError
        return float(pos / (pos + neg))
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise PrcError(
            f'a ratio is positives to negatives, such as "1:100" or 0.01; got {ratio!r}'
        ) from None


def ratio_from_eta(eta: float) -> float:
    """Positives per negative at a prevalence: `eta / (1 - eta)`; infinite at 1.

    Examples
    --------
    >>> ratio_from_eta(0.5)
    1.0
    """
    eta = one_eta(eta)
    return eta / (1 - eta) if eta < 1 else math.inf


@dataclass(frozen=True)
class Grid:
    """The prevalences asked for; null in `frame["eta"]` means the group's own."""

    frame: pl.LazyFrame
    keys: Mapping[str, pl.DataType] = field(default_factory=dict)
    """`by` columns that `frame` is joined on; none of them: the same for every group."""
    carried: tuple[str, ...] = ()
    """Further columns of a user's frame that go along into the result."""
    count: int | None = None
    """Prevalences of each group, if that is known and the same for all."""
    shared: bool = False
    """Groups that have their own prevalence must all have the same."""
    copies: int = 1
    """How often each prevalence is repeated, numbered in COPY."""

    @property
    def single(self) -> bool:
        """There is one row per group."""
        return self.count == 1 and self.copies == 1


def read_eta(
    eta: Eta,
    by: Mapping[str, pl.DataType],
    makes: Iterable[str],
    *,
    has_own: bool = True,
    shared: bool = False,
    table: pl.LazyFrame | None = None,
) -> Grid:
    """Check the prevalences as far as the call can tell.

    Without `has_own` a group has no prevalence of its own: published rates bring no counts. Where they
    are `shared`, models are to be compared, and those of different groups are one. A frame carries no
    column of the `table` that holds the scores.
    """
    if isinstance(eta, pl.DataFrame | pl.LazyFrame):
        grid = _read_frame(eta, by, set(makes), has_own)
        if table is not None:
            _refuse_forgotten(grid.carried, table)
        return replace(grid, shared=shared)
    values = eta_list(eta)
    if None in values and not has_own:
        raise PrcError(f"{_NO_OWN}; pass eta= as numbers")
    frame = pl.LazyFrame({"eta": values}, schema={"eta": pl.Float64})
    return Grid(frame, count=len(values), shared=shared)


_NO_OWN = "rates= holds no counts, so there is no prevalence of its own"


def eta_list(eta: object) -> list[float | None]:
    """One prevalence or several, as a list; None in it means own."""
    if eta is None or isinstance(eta, Real | str):
        given: list[object] = [eta]
    elif isinstance(eta, pl.Series):
        given = eta.to_list()
    elif isinstance(eta, Iterable) and not isinstance(eta, Mapping):
        given = list(eta)
    else:
        raise PrcError(
            f"eta= takes a number, a sequence, a frame with a column eta, or None; got {eta!r}"
        )
    values = [None if value is None else one_eta(value) for value in given]
    if not values:
        raise PrcError("eta= holds no prevalence; pass None for each group's own")
    if len(set(values)) < len(values):
        twice = next(value for value in values if values.count(value) > 1)
        raise PrcError(f"eta= holds {twice} more than once; leave the repeats out")
    return values


def one_eta(value: object) -> float:
    if isinstance(value, str):
        raise PrcError(
            f"eta= takes numbers in [0, 1]; got {value!r} (a ratio? use "
            "eta_from_ratio; a column? pass a frame, or in expressions pl.col(...).first())"
        )
    if isinstance(value, bool) or not isinstance(value, Real):
        raise PrcError(f"eta= takes numbers in [0, 1]; got {value!r}")
    if not 0 <= float(value) <= 1:
        raise PrcError(f"eta= must lie in [0, 1], a share and not a percentage; got {value}")
    return float(value)


def _read_frame(
    eta: pl.DataFrame | pl.LazyFrame,
    by: Mapping[str, pl.DataType],
    makes: set[str],
    has_own: bool,
) -> Grid:
    schema = eta.lazy().collect_schema()
    if "eta" not in schema or not (schema["eta"].is_numeric() or schema["eta"] == pl.Null):
        raise PrcError(f"an eta= frame needs a numeric column 'eta'; it has {dict(schema)}")
    keys = tuple(name for name in schema if name in by)
    for name in keys:
        if schema[name] != by[name]:
            raise PrcError(
                f"column {name!r} is {schema[name]} in the eta= frame and {by[name]} in the table; "
                "cast one to the other"
            )
    carried = tuple(name for name in schema if name not in by and name != "eta")
    for name in carried:
        if name in makes or name.startswith(RESERVED):
            raise PrcError(
                f"the eta= frame carries a column {name!r}, which the result has itself; rename it"
            )
    checked = eta.lazy().with_columns(pl.col("eta").cast(pl.Float64))
    checked = checked.filter(guard(_frame_checks(keys, has_own)) == 0)
    count = None
    if isinstance(eta, pl.DataFrame):
        with raised_eagerly():
            checked = checked.collect().lazy()
        count = None if keys else eta.height
    return Grid(checked, {name: by[name] for name in keys}, carried, count)


def _refuse_forgotten(carried: tuple[str, ...], table: pl.LazyFrame) -> None:
    """A column of both is a group that `by=` leaves out: all rows would pass for those of each group."""
    schema = table.collect_schema()
    for name in carried:
        if name in schema:
            raise PrcError(
                f"the eta= frame and the table both have a column {name!r}, and it is not a group: "
                f"pass by={name!r}, or leave it out of the eta= frame"
            )


def _frame_checks(keys: tuple[str, ...], has_own: bool) -> list[Check]:
    value = pl.col("eta")
    troubles = [
        (value.is_nan() | ~value.is_between(0, 1), "is outside [0, 1] (expected shares, not percent)"),
        (pl.struct(*keys, "eta").is_duplicated(), "repeats a group and eta"),
    ]
    if not has_own:
        troubles.append((value.is_null(), f"is null ({_NO_OWN})"))
    return [
        Check(
            rows.sum() > 0, sentence(f"the eta= frame {what} in ", rows.sum().cast(pl.String), " row(s)")
        )
        for rows, what in troubles
    ]


def at_each_eta(
    groups: pl.LazyFrame, grid: Grid, n_pos: pl.Expr, n_neg: pl.Expr, *, checked: bool = True
) -> pl.LazyFrame:
    """The group table times its prevalences: eta filled in, factors, sorted by group and eta.

    If not `checked`, the column FOUND is left for `every_group_has_eta`.
    """
    if grid.keys:
        asked = grid.frame.with_columns(pl.lit(True).alias(FOUND))
        pairs = join_groups(groups, asked, grid.keys, how="left")
        if checked:
            pairs = pairs.filter(guard(every_group_has_eta(grid, pl.lit(True))) == 0)
    else:
        pairs = groups.join(grid.frame, how="cross")
    eta, own = pl.col("eta"), pl.col("eta").is_null()
    pairs = pairs.with_columns(
        eta.fill_null(n_pos / (n_pos + n_neg)), *factors(eta, own, n_pos, n_neg), own.alias(OWN)
    )
    if grid.copies > 1:
        pairs = pairs.join(pl.LazyFrame({COPY: range(grid.copies)}), how="cross")
        return pairs.sort(GROUP, "eta", NEG_FACTOR, COPY)
    return pairs.sort(GROUP, "eta", NEG_FACTOR)


def every_group_has_eta(grid: Grid, first: pl.Expr) -> list[Check]:
    """That a frame of prevalences has a row for each group, counted at its first row."""
    return [_without_row(grid, pl.col(FOUND).is_null() & first)] if grid.keys else []


def one_prevalence() -> Check:
    """That groups which have their own prevalence all have the same, to compare models at."""
    eta = pl.when(OWN).then("eta")
    low, high = eta.min(), eta.max()
    text = sentence(
        "eta=None compares each group at its own prevalence, and those differ, from ",
        low.cast(pl.String),
        " to ",
        high.cast(pl.String),
        "; pass eta= as numbers, or as a frame with a prevalence per group",
    )
    return Check(low < high, text)


def _without_row(grid: Grid, missing: pl.Expr) -> Check:
    parts: list[str | pl.Expr] = []
    for name in grid.keys:
        value = pl.col(name).filter(missing).first().cast(pl.String).fill_null("null")
        parts += [", " if parts else "", f"{name} = ", value]
    groups = missing.sum()
    return Check(
        groups > 0,
        sentence(
            "the eta= frame has no row for ", groups.cast(pl.String), " group(s), such as ", *parts
        ),
    )


def factors(eta: pl.Expr, own: pl.Expr, n_pos: pl.Expr, n_neg: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """What positives and negatives are multiplied by, to stand in the proportions of eta.

    The smaller factor carries the whole change, `eta/(1-eta) * n_neg/n_pos` or its inverse, so
    neither overflows. A class without a row makes 0/0, hence null, unless eta rules it out.
    """
    odds = eta * n_neg / ((1 - eta) * n_pos)
    positive = pl.when(own | (eta >= 0.5)).then(1.0).when(eta == 0).then(0.0).otherwise(odds)
    inverse = (1 - eta) * n_pos / (eta * n_neg)
    negative = pl.when(own | (eta < 0.5)).then(1.0).when(eta == 1).then(0.0).otherwise(inverse)
    return positive.alias(POS_FACTOR), negative.alias(NEG_FACTOR)
