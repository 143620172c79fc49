"""Rows of pairs of models: each model of a group beside each later one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import polars as pl

from polars_prcurve.core.comparison.comparison_request import Comparison
from polars_prcurve.core.ground.group_joins import aggregate_by, join_groups
from polars_prcurve.core.ground.query_guards import Check, stop_if_broken
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.group_table import keep_counted_groups
from polars_prcurve.core.sweep.rows_with_group_numbers import build_numbered_rows
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables
from polars_prcurve.core.sweep.sweep_table import build_sweep, check_at_end, check_first, late_checks

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


def keep_first_model(compare_frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `compare` with the first of all models, which no group has in second place."""
    is_first = pl.col("model_a").is_in(pl.col("model_b").implode()).not_()
    return compare_frame.filter(pl.col("model_a") == pl.col("model_a").filter(is_first).min())


def find_lacking_groups(
    compare_frame: pl.DataFrame, first_model_rows: pl.DataFrame, group_columns: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the groups of `compare` without a row of `keep_first_model`."""
    if not group_columns:
        return []
    groups = compare_frame.select(group_columns).unique(maintain_order=True)
    lacking_groups = groups.join(first_model_rows, on=group_columns, how="anti", nulls_equal=True)
    return lacking_groups.to_dicts()


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


# Checks of models to compare: some group has two, and by id= they have the same examples -------


_N_GROUP_MODELS = f"{RESERVED}models"  # of a `by` group
_N_EXAMPLE_ROWS, _N_EXAMPLE_MODELS = f"{RESERVED}rows", f"{RESERVED}own_models"  # of one example
_N_UNMATCHED = f"{RESERVED}unmatched"  # how many examples have not just one row per model
_IS_UNEQUAL = f"{RESERVED}is_unequal"  # whether an example differs between models
_N_UNEQUAL = f"{RESERVED}unequal"  # how many examples do


def check_models(
    comparison: Comparison, sweep: SweepTables, populations: pl.LazyFrame, model_values: pl.LazyFrame
) -> pl.LazyFrame:
    """Return `model_values`, a row per model and prevalence; stop if a check of the table fails."""
    table = cast("ScoreTable", comparison.table)
    checks = [
        *late_checks(table, comparison.grid),
        *([two_models_check()] if comparison.needs_pairs else []),
    ]
    if comparison.pairing != "by id":
        return check_at_end(table, model_values.sort(Population.NUMBER), *checks)
    count_row, matching_checks = _count_unmatched(table, sweep), _matching_checks()
    # Many rows of one id would be joined in pairs. Of a table in memory they are counted before that.
    if table.is_in_memory:
        check_first(table, populations.join(count_row, how="cross"), *checks, *matching_checks)
        return check_at_end(table, model_values.sort(Population.NUMBER), *checks)
    return check_at_end(
        table,
        model_values.join(count_row, how="cross").sort(Population.NUMBER),
        *checks,
        *matching_checks,
    )


def two_models_check() -> Check:
    """Return the check that some `by` group has two models."""
    n_groups, n_models = pl.col(BASE_GROUP).n_unique(), pl.col(Group.NUMBER).n_unique()
    message = "models are compared in pairs, and no group has two; check model=, and leave it out of by="
    return Check((n_models > 0) & (n_models == n_groups), (message,))


def check_matching(table: ScoreTable, points: pl.LazyFrame) -> pl.LazyFrame:
    """Return `points`; the query stops if examples, by id=, do not match between models."""
    count_row = _count_unmatched(table, build_sweep(table))
    checked_points = stop_if_broken(points.join(count_row, how="cross"), _matching_checks())
    return checked_points.drop(_N_UNMATCHED, _N_UNEQUAL)


def _count_unmatched(table: ScoreTable, sweep: SweepTables) -> pl.LazyFrame:
    """Return one row: the number of examples without just one row per model, and of unequal examples."""
    by, group_rows = table.group_columns, keep_counted_groups(table, sweep.groups)
    # An example is unequal if its label, weight, stratum or cluster differs between models.
    is_unequal_exprs = [
        (pl.col(class_column).min() != pl.col(class_column).max()) for class_column in (Row.POS, Row.NEG)
    ]
    if (sample_column := table.sample.column) is not None:
        is_unequal_exprs.append(pl.col(sample_column).n_unique() > 1)
    count_exprs = (
        pl.len().alias(_N_EXAMPLE_ROWS),
        pl.col(Group.NUMBER).n_unique().alias(_N_EXAMPLE_MODELS),
    )
    example_groups = build_numbered_rows(table, group_rows).group_by(*by, Row.EXAMPLE)
    is_unequal = pl.any_horizontal(*is_unequal_exprs).alias(_IS_UNEQUAL)
    model_counts = aggregate_by(group_rows, by, [pl.len().alias(_N_GROUP_MODELS)])
    example_rows = join_groups(example_groups.agg(*count_exprs, is_unequal), model_counts, by)
    is_matched = pl.all_horizontal(pl.col(_N_EXAMPLE_ROWS, _N_EXAMPLE_MODELS) == pl.col(_N_GROUP_MODELS))
    return example_rows.select(
        (~is_matched).sum().cast(pl.Int64).alias(_N_UNMATCHED),
        pl.col(_IS_UNEQUAL).sum().cast(pl.Int64).alias(_N_UNEQUAL),
    )


def _matching_checks() -> list[Check]:
    """Return the checks over the counts of `_count_unmatched`."""
    n_unmatched, n_unequal = pl.col(_N_UNMATCHED).max(), pl.col(_N_UNEQUAL).max()
    unmatched_message_parts = (
        "each value of id= needs exactly one row per model, but a row is missing or repeated for ",
        n_unmatched,
        " example(s); if an id has several examples, such as the "
        'images of a patient, pass more columns, such as id=["patient", "image"]; otherwise '
        'filter these examples out: missing="drop" drops what has no value in a row',
    )
    unequal_message_parts = (
        "the label, weight, stratum or cluster is different in another model for ",
        n_unequal,
        " example(s), by id=; correct these, or filter them out",
    )
    return [Check(n_unmatched > 0, unmatched_message_parts), Check(n_unequal > 0, unequal_message_parts)]
