"""Rows of pairs of models: each model of a group beside each later one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from polars_prcurve.core.ground.group_keys import join_groups
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.prevalence.population_column_names import Population

METRIC_NUMBER = f"{RESERVED}metric_number"  # the place of a metric among those of the call
ETA_NUMBER = f"{RESERVED}step"  # number of the prevalence in its group
BASE_GROUP = f"{RESERVED}base"  # a number that models of one `by` group share
A, B = SIDES = f"{RESERVED}a_", f"{RESERVED}b_"
"""What the columns of model a and of model b begin with, in a row of both."""
IS_ORDERED = pl.col(A + Group.NUMBER) < pl.col(B + Group.NUMBER)
"""Whether a row of both is the one that counts: each pair once, and no model with itself."""


def number_populations(populations: pl.LazyFrame, by: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """Add ETA_NUMBER and BASE_GROUP to rows of groups and prevalences; `by` is without Row.MODEL."""
    least_group_number = pl.col(Group.NUMBER).min().over(*by) if by else pl.lit(0, dtype=pl.UInt32)
    return populations.with_columns(
        (pl.col(Population.NUMBER) - pl.col(Population.NUMBER).min().over(Group.NUMBER)).alias(
            ETA_NUMBER
        ),
        least_group_number.alias(BASE_GROUP),
    )


def join_sides(
    model_rows: pl.LazyFrame,
    key_dtypes: Mapping[str, pl.DataType],
    side_columns: Sequence[str],
    shared_columns: Sequence[str],
) -> pl.LazyFrame:
    """Return one row per model pair, with `side_columns` of either under A or B, and shared ones."""
    rows_of_a, rows_of_b = (
        model_rows.select(
            *key_dtypes, *columns_of_both, *(pl.col(name).alias(side + name) for name in side_columns)
        )
        for side, columns_of_both in zip(SIDES, (shared_columns, ()), strict=True)
    )
    return join_groups(rows_of_a, rows_of_b, key_dtypes).filter(IS_ORDERED)


def name_models(*, is_wide: bool) -> list[pl.Expr]:
    """Return `model_a` and `model_b`, the names of both models."""
    # Those of a wide table are names of score columns, which are an Enum to keep their order.
    model_exprs = [pl.col(A + Row.MODEL).alias("model_a"), pl.col(B + Row.MODEL).alias("model_b")]
    return [model_expr.cast(pl.String) for model_expr in model_exprs] if is_wide else model_exprs


def keep_first_model(compare_frame: pl.DataFrame, group_columns: Sequence[str]) -> pl.DataFrame:
    """Return the rows of `compare` in which the first model of a group is compared with another one."""
    first_model = pl.col("model_a").first()
    first_of_group = first_model.over(group_columns) if group_columns else first_model
    return compare_frame.filter(pl.col("model_a") == first_of_group)


def join_doubts(doubt_column: str, value_column: str) -> pl.Expr:
    """Return the doubt of one of both models: of the one that has no value, if there is one."""
    doubt_of_a, doubt_of_b = (pl.col(side + doubt_column) for side in SIDES)
    return (
        pl.when(pl.col(B + value_column).is_null())
        .then(doubt_of_b)
        .otherwise(pl.coalesce(doubt_of_a, doubt_of_b))
    )


def number_within(key_columns: Sequence[str]) -> pl.Expr:
    """Return the numbers of rows with equal keys, from 0 up: several rows may have one prevalence."""
    return pl.int_range(pl.len()).over(key_columns)
