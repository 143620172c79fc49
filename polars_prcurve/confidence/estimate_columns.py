"""What is known of a value: the value, both ends of its interval, and whether that is known to hold.

An `Estimate` names the columns of a table, and holds the values of a row. What people see, in charts,
reports and terminals, is read by these names: how columns are spelled is written here alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import astuple, dataclass
from typing import Any, TypeAlias

import polars as pl


@dataclass(frozen=True)
class Estimate:
    """A value and its interval: the names of their columns, or what a row has there."""

    value: Any
    low: Any = None
    high: Any = None
    corrected: Any = None  # the value without the optimism of a maximum
    reliable: Any = None  # whether the interval is known to hold
    why: Any = None  # why it is not

    @property
    def span(self) -> tuple[Any, Any] | None:
        """Both ends of the interval; None if one is missing."""
        return None if self.low is None or self.high is None else (self.low, self.high)


LONG = Estimate("value", "low", "high", "corrected", "reliable", "why")
"""The columns of a table with a row for each value."""


def name_estimate(name: str) -> Estimate:
    """Return the columns of one of several values in a row: `precision`, `precision_low`, ..."""
    return Estimate(name, f"{name}_low", f"{name}_high", f"{name}_corrected", "reliable", "why")


def find_estimate(columns: Collection[str], name: str) -> Estimate:
    """Return the columns of a value and of what a table has beside it; None for what it has not."""
    # In a table with a row for each value, or difference, `low` and `high` are of that one.
    own = name_estimate(name)
    only = next((n for n in ("difference", "behind", "value") if n in columns), None)
    if own.low not in columns and name == only:
        own = Estimate(name, *astuple(LONG)[1:])
    return Estimate(*(column if column in columns else None for column in astuple(own)))


def read_estimate(row: Mapping[str, Any], name: str) -> Estimate:
    """Return the value of a row and what is known of it; None where the row has nothing."""
    return Estimate(
        *(None if column is None else row[column] for column in astuple(find_estimate(row, name)))
    )


# Doubts -----------------------------------------------------------------------------------------

Doubts: TypeAlias = Mapping[str, pl.Expr]
"""Reasons why an interval is not reliable, in the order in which they are told, and where they hold."""


def tell_doubts(doubts: Doubts, known: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Return whether there is no doubt, and the first one, both null where no interval is known."""
    why = pl.lit(None, dtype=pl.String)
    for reason, holds in reversed([*doubts.items()]):
        why = pl.when(holds.fill_null(True)).then(pl.lit(reason)).otherwise(why)
    return pl.when(known).then(why.is_null()), pl.when(known).then(why)
