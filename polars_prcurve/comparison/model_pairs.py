"""Rows of model pairs: each model of a group beside each later one, at each prevalence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.group_numbers import join_groups

ETA_NUMBER = f"{c.RESERVED}step"  # number of the prevalence in its group
BASE_GROUP = f"{c.RESERVED}base"  # a number that models of one `by` group share
SIDES = ("a", "b")


def number_pairs(pairs: pl.LazyFrame, by: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """Add ETA_NUMBER and BASE_GROUP to rows of groups and prevalences; `by` is without MODEL."""
    least = pl.col(c.GROUP).min().over(*by) if by else pl.lit(0, dtype=pl.UInt32)
    return pairs.with_columns(
        (pl.col(c.PAIR) - pl.col(c.PAIR).min().over(c.GROUP)).alias(ETA_NUMBER), least.alias(BASE_GROUP)
    )


def side_name(name: str, side: str) -> str:
    """Return the name of a column of model a or b in a row of both."""
    return f"{c.RESERVED}{side}_{name}"


def read_side(side: str, name: str) -> pl.Expr:
    """Return the column of model a or b in a row of both."""
    return pl.col(side_name(name, side))


def is_ordered_pair() -> pl.Expr:
    """Return whether model a comes before model b: each pair once, and no model with itself."""
    return read_side("a", c.GROUP) < read_side("b", c.GROUP)


def join_models(
    values: pl.LazyFrame, by: Mapping[str, pl.DataType], names: Sequence[str], carried: Sequence[str]
) -> pl.LazyFrame:
    """Return one row per model pair, prevalence and group, from rows of single models.

    The columns `names`, MODEL, GROUP and PAIR of either model are called by `side_name`; of those that
    are `carried`, and BASE_GROUP, there is one.
    """
    own = [c.MODEL, c.GROUP, c.PAIR, *names]
    a, b = (
        values.select(*by, ETA_NUMBER, *others, *(pl.col(n).alias(side_name(n, side)) for n in own))
        for side, others in zip(SIDES, ((BASE_GROUP, *carried), ()), strict=True)
    )
    return join_groups(a, b, {**by, ETA_NUMBER: pl.UInt32()}).filter(is_ordered_pair())


def name_models(*, wide: bool) -> list[pl.Expr]:
    """Return `model_a` and `model_b`, the names of both models.

    Those of a `wide` table are names of score columns, which are an Enum to keep their order.
    """
    models = [read_side(side, c.MODEL).alias(f"model_{side}") for side in SIDES]
    return [model.cast(pl.String) for model in models] if wide else models


def number_within(keys: Sequence[str]) -> pl.Expr:
    """Return the numbers of rows with equal keys, from 0 up: several rows may have one prevalence."""
    return pl.int_range(pl.len()).over(keys)
