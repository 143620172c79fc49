"""Which cases of a parametrized test run: quick ones, a few, or each value once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")


def slow_unless(quick: Callable[[Any], bool], values: Iterable[Any]) -> list[Any]:
    """Return all values, to parametrize a test with; those that are not quick are marked slow."""
    return [value if quick(value) else pytest.param(value, marks=pytest.mark.slow) for value in values]


def spread(cases: Sequence[Case], n: int) -> list[Case]:
    """Return at most n of the cases at equal distances: the first, and if n is 2 or more, the last."""
    if len(cases) <= n:
        return list(cases)
    return [cases[i * (len(cases) - 1) // max(n - 1, 1)] for i in range(n)]


def pair_each(*lists: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return tuples, as many as the longest list has values: each value of each list stands in one.

    Shorter lists start again, each time a place later, so that lists of 6 and 3 values make 6 pairs.
    """
    values = [list(each) for each in lists]
    longest = max(map(len, values))
    return [
        tuple(
            each[(i + i // len(each)) % len(each)] if len(each) < longest else each[i] for each in values
        )
        for i in range(longest)
    ]


__all__ = ["pair_each", "slow_unless", "spread"]
