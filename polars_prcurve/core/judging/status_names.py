"""Statuses: all that a verdict may be, and how a group stands beside all others together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

Status: TypeAlias = Literal[
    "too little data", "no better than chance", "not met", "not told apart", "settled"
]
STATUSES: tuple[Status, ...] = get_args(Status)
"""All that a verdict may be, in the order in which they are tried."""

GroupStanding: TypeAlias = Literal["worse", "open", "better"]
STANDINGS: tuple[GroupStanding, ...] = get_args(GroupStanding)
"""All that a test of a group beside all others may show: `open` is not told apart from them."""

Outcome: TypeAlias = Status | GroupStanding
"""What is known of a case: how its group stands where that is tested, otherwise its status."""


def find_first_status(statuses: Iterable[Status]) -> Status:
    """Return the first status that occurs, in the order in which they are tried."""
    occurring = set(statuses)
    return next(status for status in STATUSES if status in occurring)
