"""Checks of group columns: their names and dtypes, and the rows that another table lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.query_guards import Check, show_value
from polars_prcurve.core.ground.reserved_prefix import USER_NAME
from polars_prcurve.core.inputs.row_column_names import Row


def check_group_names(
    group_names: Iterable[str], result_columns: Iterable[str], argument_name: str = "by"
) -> None:
    """Raise if a group column has the name of a column that the result has beside it."""
    if clashing_names := sorted(set(group_names) & set(result_columns)):
        name = clashing_names[0]
        raise PrcError(
            f"rename the column {name!r} of {argument_name}=, e.g. "
            f"{argument_name}=pl.col({name!r}).alias({name + '_group'!r}): the result has a column "
            "of that name"
        )


def read_group_keys(
    argument_name: str, schema: Mapping[str, pl.DataType], dtype_by_group: Mapping[str, pl.DataType]
) -> tuple[str, ...]:
    """Return the group columns that a frame has; raise if one is of another dtype than in the table."""
    dtype_by_key = {name: dtype for name, dtype in schema.items() if name in dtype_by_group}
    check_group_dtypes(dtype_by_key, dtype_by_group, f"in the {argument_name}= frame", "in the table")
    return tuple(dtype_by_key)


def check_group_dtypes(
    dtype_by_group: Mapping[str, pl.DataType],
    other_dtype_by_group: Mapping[str, pl.DataType],
    place_phrase: str,
    other_place_phrase: str,
) -> None:
    """Raise unless the groups of one table have the dtypes that they have in another, by two phrases."""
    for name, dtype in dtype_by_group.items():
        if dtype != other_dtype_by_group[name]:
            raise PrcError(
                f"cast the group column {name!r} to one dtype: it is {dtype} {place_phrase} and "
                f"{other_dtype_by_group[name]} {other_place_phrase}"
            )


def check_forgotten_groups(
    argument_name: str, other_names: Iterable[str], table_schema: Mapping[str, pl.DataType]
) -> None:
    """Raise if one of `other_names`, which are no groups, is a column of the table, and so a group."""
    # Without it in by=, the values of all groups would be taken for those of each group.
    for name in other_names:
        if name in table_schema:
            raise PrcError(
                f"pass by={name!r}, or leave {name!r} out of the {argument_name}= frame: the table has "
                "this column too, and by= does not name it"
            )


def missing_row_check(
    argument_name: str,
    key_exprs: Mapping[str, pl.Expr],
    lacks_row: pl.Expr,
    n_groups: pl.Expr,
    droppable_column: str = "",
) -> Check:
    """Return the check that no row `lacks_row`, with the keys of the first one in its sentence.

    `key_exprs` holds what users call each key, and its value. The sentence writes that
    the frame may do without the column `droppable_column`.
    """
    message_start_parts = f"the {argument_name}= frame has no row for ", n_groups, " group(s), such as "
    remedy_phrase = f"; add one, or drop the group column if {argument_name}= is the same for all groups"
    if droppable_column:
        remedy_phrase = f"; add one, or drop the column {droppable_column}"
    return Check(
        n_groups > 0, (*message_start_parts, *list_key_phrases(key_exprs, lacks_row), remedy_phrase)
    )


def list_key_phrases(key_exprs: Mapping[str, pl.Expr], is_wrong: pl.Expr) -> list[str | pl.Expr]:
    """Return the parts of a sentence that name the keys of the first row by its keys that `is_wrong`."""
    sentence_parts: list[str | pl.Expr] = []
    wrong_key_exprs = {key_name: key_expr.filter(is_wrong) for key_name, key_expr in key_exprs.items()}
    for key_name, key_expr in wrong_key_exprs.items():
        # Rows of groups may come in any order, but one mistake has one message.
        value_text_expr = show_value(key_expr.sort_by([*wrong_key_exprs.values()]).first()).fill_null(
            "null"
        )
        shown_name = "model" if key_name == Row.MODEL else key_name.removeprefix(USER_NAME)
        sentence_parts += [", " if sentence_parts else "", f"{shown_name} = ", value_text_expr]
    return sentence_parts
