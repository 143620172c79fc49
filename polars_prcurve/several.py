"""Expressions of several columns, told apart.

`pl.col("a", "b")` stands for an expression each. Polars makes them where it knows the table, but
spreads them over the arguments of one sort or one struct; ours hold such. So they are made here,
in the one form in which an expression can be read.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

from polars_prcurve.errors import PrcError

__all__ = ["for_each"]


def for_each(expr: pl.Expr, value: Callable[[pl.Expr], pl.Expr]) -> pl.Expr:
    """A value of the expression, or of each column that it names."""
    values = [value(one) for one in one_by_one(expr)]
    return values[0] if len(values) == 1 else pl.struct(*values).struct.field("*")


def one_by_one(expr: pl.Expr) -> list[pl.Expr]:
    """The expression for each column that it names."""
    if not expr.meta.has_multiple_outputs():
        return [expr]
    tree = json.loads(expr.meta.serialize(format="json"))
    first, *others = _selections(tree)
    if first is None or any(names != first for names in others):
        raise PrcError(
            f'{expr} is columns that only the table can tell; name the scores, as in pl.col("a", "b")'
        )
    trees = (json.dumps(_of_column(tree, name)) for name in first)
    return [pl.Expr.deserialize(io.StringIO(single), format="json") for single in trees]


def _selections(tree: Any) -> Iterator[list[str] | None]:
    """The names in each selection of columns; None where it is not by name."""
    if isinstance(tree, dict) and "Selector" in tree:
        selector = tree["Selector"]
        yield selector["ByName"]["names"] if "ByName" in selector else None
    elif isinstance(tree, dict | list):
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from _selections(part)


def _of_column(tree: Any, name: str) -> Any:
    """The tree with this column in place of all selections."""
    if isinstance(tree, list):
        return [_of_column(part, name) for part in tree]
    if not isinstance(tree, dict):
        return tree
    if "Selector" in tree:
        return {"Column": name}
    return {key: _of_column(part, name) for key, part in tree.items()}
