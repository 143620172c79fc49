"""Frames that users pass beside their table, with a value for each group: prevalences or thresholds.

Such a frame is joined with the groups on the columns that are among those of `by=`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from polars_prcurve.errors import PrcError
from polars_prcurve.query_checks import Check, compose_sentence, show_value


def read_group_keys(
    argument: str, schema: Mapping[str, pl.DataType], by: Mapping[str, pl.DataType]
) -> tuple[str, ...]:
    """Return the group columns that a frame has; raise if one is of another dtype than in the table."""
    keys = tuple(name for name in schema if name in by)
    for name in keys:
        if schema[name] != by[name]:
            raise PrcError(
                f"column {name!r} is {schema[name]} in the {argument}= frame and {by[name]} in the "
                "table; cast one to the other"
            )
    return keys


def check_forgotten_groups(
    argument: str, others: Iterable[str], table_schema: Mapping[str, pl.DataType]
) -> None:
    """Raise if one of the `others`, which are no groups, is a column of the table: surely a group.

    Without it in `by=`, the values of all groups would be taken for those of each group.
    """
    for name in others:
        if name in table_schema:
            raise PrcError(
                f"the {argument}= frame and the table both have a column {name!r}, and it is not a "
                f"group: pass by={name!r}, or leave it out of the {argument}= frame"
            )


def missing_row_check(
    argument: str,
    keys: Mapping[str, pl.Expr],
    missing: pl.Expr,
    n_groups: pl.Expr,
    droppable: str = "",
) -> Check:
    """Return the check that no row is `missing`, with the keys of the first one in its sentence.

    `keys` holds what users call each key, and its value. The sentence says that the frame may do without
    the `droppable` column.
    """
    parts: list[str | pl.Expr] = []
    for name, key in keys.items():
        value = show_value(key.filter(missing).first()).fill_null("null")
        parts += [", " if parts else "", f"{name} = ", value]
    text = compose_sentence(
        f"the {argument}= frame has no row for ",
        n_groups.cast(pl.String),
        " group(s), such as ",
        *parts,
        "; add it, or leave out ",
        f"the column {droppable}" if droppable else "a column by which its rows need not differ",
    )
    return Check(n_groups > 0, text)
