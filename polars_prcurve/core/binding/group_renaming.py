"""Groups with the names of columns on the way to a result, which have other names until it is finished.

A group may be called `recall`. The result of `summary` has no such column, but the points of published
rates have: the stage reads a table whose group has an inner name, and the result gets the name back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import polars as pl

from polars_prcurve.core.binding.shown_columns import SHORT_COLUMNS
from polars_prcurve.core.comparison.comparison_request import (
    COMPARE_COLUMNS,
    CROSSING_COLUMNS,
    LEADER_COLUMNS,
)
from polars_prcurve.core.confidence.chance_test import ABOVE_CHANCE
from polars_prcurve.core.ground.reserved_prefix import USER_NAME
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, is_field
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.core.sweep.sweep_column_names import FIELD_COLUMNS, SWEEP_COLUMNS

TableT = TypeVar("TableT", bound=ResolvedTable)
_RESULT_COLUMNS = {
    "summary": {*SHORT_COLUMNS["summary"], "standard_error", ABOVE_CHANCE},
    "compare": {*COMPARE_COLUMNS},
    "ranking": {*SHORT_COLUMNS["ranking"]},
    "crossings": {*CROSSING_COLUMNS, *LEADER_COLUMNS},
}
"""The columns of the methods that have others on the way; a group of such a name is refused."""
_INNER_COLUMNS = {
    *SWEEP_COLUMNS,
    *FIELD_COLUMNS,
    *SHORT_COLUMNS["operating_points"],
    *_RESULT_COLUMNS["summary"],
    *_RESULT_COLUMNS["compare"],
}
"""The columns of results that others are made from."""


def list_hidden(method_name: str, table: ResolvedTable, grid: EtaTable) -> dict[str, str]:
    """Return inner names for those groups and carried columns that rows on the way to a result have."""
    hidden_names = _INNER_COLUMNS - _RESULT_COLUMNS.get(method_name, _INNER_COLUMNS)
    return {
        name: USER_NAME + name for name in (*table.by, *grid.carried_columns) if name in hidden_names
    }


def hide_groups(table: TableT, inner_name_by_column: Mapping[str, str]) -> TableT:
    """Return the table with inner names for its groups; `ResolvedTable.name_by_inner` has their own."""
    by_exprs = table.by_exprs
    if len(by_exprs) < len(table.by):  # one expression may be several groups
        by_exprs = [pl.struct(by_exprs).struct.field(name) for name in table.by]
    names_and_exprs = zip(table.by, by_exprs, strict=True)
    changed_field_values: dict[str, Any] = {
        "by": {inner_name_by_column.get(name, name): dtype for name, dtype in table.by.items()},
        "by_exprs": [expr.alias(inner_name_by_column.get(name, name)) for name, expr in names_and_exprs],
        "counts": None,  # what was counted has them, too
        "name_by_inner": {inner_name: name for name, inner_name in inner_name_by_column.items()},
    }
    if table.unscored is not None and table.unscored.group_rows is not None:
        group_rows = _rename(table.unscored.group_rows, inner_name_by_column)
        changed_field_values["unscored"] = table.unscored._replace(group_rows=group_rows)
    if is_field(table) and table.parts is not None:
        changed_field_values["parts"] = table.parts._replace(
            table=hide_groups(table.parts.table, inner_name_by_column),
            part_rows=_rename(table.parts.part_rows, inner_name_by_column),
            etas=_rename(table.parts.etas, inner_name_by_column),
        )
    return replace(table, **changed_field_values)


def hide_columns(grid: EtaTable, inner_name_by_column: Mapping[str, str]) -> EtaTable:
    """Return the grid with inner names for groups and carried columns."""
    sharing_groups = grid.sharing_groups
    if sharing_groups is not None:
        sharing_groups = tuple(inner_name_by_column.get(name, name) for name in sharing_groups)
    return grid._replace(
        frame=_rename(grid.frame, inner_name_by_column),
        keys={inner_name_by_column.get(name, name): dtype for name, dtype in grid.keys.items()},
        carried_columns=tuple(inner_name_by_column.get(name, name) for name in grid.carried_columns),
        sharing_groups=sharing_groups,
    )


def _rename(frame: pl.LazyFrame, inner_name_by_column: Mapping[str, str]) -> pl.LazyFrame:
    """Return a frame of groups with inner names for those of its columns that have one."""
    return frame.rename(inner_name_by_column, strict=False)
