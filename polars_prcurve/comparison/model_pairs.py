"""Rows of model pairs: each model of a group beside each later one, at each prevalence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.group_numbers import join_groups

ETA_NUMBER = f"{c.RESERVED}step"  # number of the prevalence in its group
BASE_GROUP = f"{c.RESERVED}base"  # a number that models of one `by` group share
A, B = SIDES = f"{c.RESERVED}a_", f"{c.RESERVED}b_"
"""What the columns of model a and of model b begin with, in a row of both."""


def number_pairs(pairs: pl.LazyFrame, by: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """Add ETA_NUMBER and BASE_GROUP to rows of groups and prevalences; `by` is without MODEL."""
    least = pl.col(c.GROUP).min().over(*by) if by else pl.lit(0, dtype=pl.UInt32)
    return pairs.with_columns(
        (pl.col(c.PAIR) - pl.col(c.PAIR).min().over(c.GROUP)).alias(ETA_NUMBER), least.alias(BASE_GROUP)
    )


def is_ordered_pair() -> pl.Expr:
    """Return whether model a comes before model b: each pair once, and no model with itself."""
    return pl.col(A + c.GROUP) < pl.col(B + c.GROUP)


def join_models(
    values: pl.LazyFrame,
    by: Mapping[str, pl.DataType],
    names: Sequence[str],
    carried: Sequence[str],
    step: Mapping[str, pl.DataType],
) -> pl.LazyFrame:
    """Return one row per model pair and group, and value of `step`, from rows of single models.

    The columns `names`, MODEL and GROUP of either model begin with A or B; of those that are `carried`,
    and BASE_GROUP, there is one.
    """
    own = [c.MODEL, c.GROUP, *names]
    a, b = (
        values.select(*by, *step, *others, *(pl.col(name).alias(side + name) for name in own))
        for side, others in zip(SIDES, ((BASE_GROUP, *carried), ()), strict=True)
    )
    return join_groups(a, b, {**by, **step}).filter(is_ordered_pair())


def name_models(*, wide: bool) -> list[pl.Expr]:
    """Return `model_a` and `model_b`, the names of both models.

    Those of a `wide` table are names of score columns, which are an Enum to keep their order.
    """
    models = [pl.col(A + c.MODEL).alias("model_a"), pl.col(B + c.MODEL).alias("model_b")]
    return [model.cast(pl.String) for model in models] if wide else models


def number_within(keys: Sequence[str]) -> pl.Expr:
    """Return the numbers of rows with equal keys, from 0 up: several rows may have one prevalence."""
    return pl.int_range(pl.len()).over(keys)
