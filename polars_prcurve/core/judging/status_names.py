"""Statuses: all that a verdict may be, and how a group compares with all others together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

Status: TypeAlias = Literal[
    "too_little_data", "chance", "not_met", "unsure", "no_winner", "winner", "met", "measured"
]
STATUSES: tuple[Status, ...] = get_args(Status)
"""All that a verdict may be, in the order in which they are tried: the first that holds counts."""

GroupStanding: TypeAlias = Literal["worse", "open", "better"]
"""All that a test of a group beside all others may show; `open` does not differ significantly."""

Outcome: TypeAlias = Status | GroupStanding
"""The result of a case: how its group compares where that is tested, otherwise its status."""


def combine_met(met_values: Iterable[bool | None]) -> bool | None:
    """Return whether all parts meet a demand: false if one does not, None if that is open."""
    distinct_values = {*met_values}
    if False in distinct_values:
        return False
    return True if distinct_values == {True} else None
