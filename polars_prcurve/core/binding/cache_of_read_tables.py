"""The tables that a bound table has read, for further questions in which the same arguments hold."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import polars as pl

from polars_prcurve.core.inputs.resolved_tables import ResolvedTable

_MOST_TABLES = 4
"""As many tables stay in memory: a page of several charts reads about as many columns at a time."""


class ReadTables:
    """The last tables that were read of one frame, by what they were read by; the latest stands last."""

    def __init__(self) -> None:
        self._table_by_key: dict[Hashable, ResolvedTable] = {}

    def __len__(self) -> int:
        return len(self._table_by_key)

    def find(
        self, arguments: Mapping[str, Any], read_table: Callable[[], ResolvedTable]
    ) -> ResolvedTable:
        """Return the table of these arguments; one that is not there is read."""
        key = tuple((name, _freeze(value)) for name, value in arguments.items() if value is not None)
        tables = self._table_by_key
        table = tables[key] if key in tables else read_table()
        other_items = [item for item in tables.items() if item[0] != key]
        # A new mapping each time: other threads may be reading the one before.
        self._table_by_key = dict([*other_items, (key, table)][-_MOST_TABLES:])
        return table


def _freeze(value: Any) -> Hashable:
    """Return a key that is equal for arguments of equal value, also when their owner changes one."""
    try:
        if isinstance(value, pl.Expr):
            return value.meta.serialize()
        if isinstance(value, pl.DataFrame):
            return value.serialize()
    except pl.exceptions.ComputeError:  # of objects and of functions, which are as good as new
        return object()
    if isinstance(value, Mapping):
        value = tuple(value.items())
    if isinstance(value, list | tuple):
        return type(value), *map(_freeze, value)
    # A LazyFrame may read other values next time, and frames of others change.
    is_key = isinstance(value, Hashable) and not isinstance(value, pl.LazyFrame)
    return (type(value), value) if is_key else object()
