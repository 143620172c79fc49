"""Cases of a parametrized test, sorted into the tiers quick and slow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def slow_unless(quick: Callable[[Any], bool], values: Iterable[Any]) -> list[Any]:
    """Return all values, to parametrize a test with; those that are not quick are marked slow."""
    return [value if quick(value) else pytest.param(value, marks=pytest.mark.slow) for value in values]


__all__ = ["slow_unless"]
