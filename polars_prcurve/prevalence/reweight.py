"""Weights that give the parts of a field their prevalences and their shares; see `field_parts`."""

from __future__ import annotations

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import read_name
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.score_table import InputTable
from polars_prcurve.prevalence.field_parts import (
    build_factors,
    join_factors,
    number_keys,
    weigh_amounts,
)


def build_reweighted_table(
    table: InputTable, within: list[str], eta: pl.DataFrame | pl.LazyFrame, *, name: str
) -> pl.LazyFrame:
    """Return the table, in its order, with the column `name` of weights.

    `table` has the `by` and `within` columns as its groups, and labels or weighted labels.
    """
    if c.is_pattern(read_name("name=", name)) or name in table.schema or name.startswith(c.RESERVED):
        raise PrcError(f"name= is {name!r}, which the table has already, or no column can have; rename")
    keys = number_keys(table, within)
    factors = build_factors(table, keys, eta, "share").frame
    factors = factors.select(*keys.names.values(), c.POS_FACTOR, c.NEG_FACTOR)
    joined = join_factors(table, factors, keys, keep_order=True)
    amounts = weigh_amounts(table)  # one of both is 0
    return joined.select(
        *map(c.select_column, table.schema), (amounts[c.POS] + amounts[c.NEG]).alias(name)
    )
