"""The tables that a bound table has read, for further questions in which the same arguments hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.core.ground.argument_checks import take_frame
from polars_prcurve.core.inputs.input_columns import InputColumns
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable

_MOST_TABLES = 4
"""As many tables stay in memory: a page of several charts reads about as many columns at a time."""


class _ReadTable(NamedTuple):
    """A table beside the arguments that it was read by."""

    arguments: Sequence[Any]
    table: ResolvedTable


class ReadTables:
    """The last tables that were read of one frame; the last one used stands last."""

    def __init__(self) -> None:
        self._tables: Sequence[_ReadTable] = ()

    def __len__(self) -> int:
        return len(self._tables)

    def find(self, input_columns: InputColumns, *table_options: Any) -> ResolvedTable | None:
        """Return the table that was read by these columns and options; None if none was."""
        named_values = _list_arguments(input_columns, table_options)
        for cached_table in self._tables:
            if _is_same(cached_table.arguments, named_values):
                other_cached_tables = [
                    other_cached_table
                    for other_cached_table in self._tables
                    if other_cached_table is not cached_table
                ]
                self._tables = [*other_cached_tables, cached_table]
                return cached_table.table
        return None

    def add(self, table: ResolvedTable, input_columns: InputColumns, *table_options: Any) -> None:
        """Add a table; what it was read by is copied, so that a later change of a list is seen."""
        named_values = _copy(_list_arguments(input_columns, table_options))
        # A new list each time: other threads may be reading the one before.
        self._tables = [*self._tables, _ReadTable(named_values, table)][-_MOST_TABLES:]


def _list_arguments(input_columns: InputColumns, table_options: Sequence[Any]) -> list[tuple[str, Any]]:
    """Return what a table is read by, each value that is there beside its name."""
    value_by_name = input_columns._asdict()
    value_by_name |= {
        f"option {option_number}": option for option_number, option in enumerate(table_options)
    }
    return [(name, take_frame(value)) for name, value in value_by_name.items() if value is not None]


def _copy(value: Any) -> Any:
    """Return a value that stays as it is when its owner changes the one that was passed."""
    if isinstance(value, pl.DataFrame):
        return value.clone()
    if isinstance(value, list | tuple):
        return type(value)(map(_copy, value))
    return dict(value) if isinstance(value, Mapping) else value


def _is_same(value: Any, other_value: Any) -> bool:
    """Return whether two arguments mean the same, by their values."""
    # A LazyFrame may read other values now.
    if type(value) is not type(other_value) or isinstance(value, pl.LazyFrame):
        return False
    if isinstance(value, pl.Expr):
        return value is other_value or value.meta.eq(other_value)
    if isinstance(value, pl.DataFrame):
        return value.schema == other_value.schema and value.equals(other_value)
    if isinstance(value, Mapping):
        value, other_value = list(value.items()), list(other_value.items())
    if isinstance(value, list | tuple):
        return len(value) == len(other_value) and all(map(_is_same, value, other_value))
    return value is other_value or bool(value == other_value)
