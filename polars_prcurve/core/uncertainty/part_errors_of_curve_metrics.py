"""Errors of curve metrics in fields of several parts.

Recall and fpr of a field are sums of those of its parts, with weights w that eta and share fix. So an
example of a part moves an area of the field by its influence on the field, less the mean of these
influences among the examples of its part and class: how many of them come from which part is no
chance. With n examples of a class in a part, and the variance V of their influences, the variance of
the area is

    sum over parts and classes of w**2 V / n

One example alone does not show how much the examples of its part differ. Its distance from the mean of
the whole field stands in for that.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize
from polars_prcurve.core.ground.exact_arithmetic import sum_shares, to_whole_shares
from polars_prcurve.core.ground.group_joins import join_groups
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.sweep.group_table import build_groups
from polars_prcurve.core.sweep.rows_with_group_numbers import build_numbered_rows
from polars_prcurve.core.sweep.sampling_designs import CLASS_WEIGHTS, build_class_weights
from polars_prcurve.core.sweep.sweep_column_names import Sweep
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables
from polars_prcurve.core.sweep.sweep_table import PART
from polars_prcurve.core.uncertainty.influence import (
    CLASS_SIZE_COLUMNS,
    IS_TIED,
    PLACE,
    InfluenceTable,
    join_influences,
)

_PART_CLASS_COLUMNS = {
    "pos": (Row.POS, Group.N_POS, CLASS_WEIGHTS[Group.N_POS], EffectiveSize.N_POS),
    "neg": (Row.NEG, Group.N_NEG, CLASS_WEIGHTS[Group.N_NEG], EffectiveSize.N_NEG),
}  # the columns of one class: its share in a cell, examples of a part, weight, and effective size
_FIELD_NUMBER = f"{RESERVED}field"  # the number of a field


class PartCells(NamedTuple):
    """The examples of the parts of all fields, by their place among the scores of positives."""

    cells: pl.LazyFrame
    """By Group.NUMBER of a field, PART, PLACE and IS_TIED, with the shares of both classes."""
    parts: pl.LazyFrame
    """By PART: Group.N_POS, Group.N_NEG, CLASS_WEIGHTS, and the effective sizes of the field."""


def count_part_cells(table: ScoreTable, sweep: SweepTables) -> PartCells:
    """Return the cells of fields, whose sweep has `effective` sizes and all of its rows."""
    assert table.parts is not None
    parts_table = table.parts.table
    part_groups = build_groups(parts_table, [])
    field_rows = sweep.groups.select(
        *table.by, pl.col(Group.NUMBER).alias(_FIELD_NUMBER), *CLASS_SIZE_COLUMNS.values()
    )
    part_rows = join_groups(
        part_groups.select(*parts_table.by, Group.NUMBER), build_class_weights(table), parts_table.by
    )
    part_rows = join_groups(part_rows, field_rows, table.by).rename(
        {Group.NUMBER: PART, _FIELD_NUMBER: Group.NUMBER}
    )
    size_columns = (*CLASS_WEIGHTS.values(), *CLASS_SIZE_COLUMNS.values())
    part_rows = part_rows.select(PART, Group.NUMBER, Group.N_POS, Group.N_NEG, *size_columns).cache()
    n_rises = (pl.col(Sweep.CUM_POS) > pl.col(Sweep.CUM_POS_ABOVE)).cast(pl.Int64)
    score_places = sweep.rows.select(Group.NUMBER, Row.SCORE, n_rises.alias(PLACE))
    score_places = score_places.with_columns(
        pl.col(PLACE).cum_sum().over(Group.NUMBER) - pl.col(PLACE), (pl.col(PLACE) > 0).alias(IS_TIED)
    )
    example_rows = build_numbered_rows(parts_table, part_groups).rename({Group.NUMBER: PART})
    part_sizes = part_rows.select(PART, Group.NUMBER, Group.N_POS, Group.N_NEG)
    example_rows = example_rows.join(part_sizes, on=PART)
    cell_groups = example_rows.join(score_places, on=[Group.NUMBER, Row.SCORE]).group_by(
        Group.NUMBER, PART, PLACE, IS_TIED
    )
    # Counts are whole, so that sums of floats lose nothing.
    cell_counts = cell_groups.agg(
        pl.col(Row.POS, Row.NEG).sum(), pl.col(Group.N_POS, Group.N_NEG).first()
    )
    share_exprs = (
        (pl.col(share_column) / pl.col(class_size_column)).alias(share_column)
        for share_column, class_size_column, *_ in _PART_CLASS_COLUMNS.values()
    )
    return PartCells(
        cell_counts.with_columns(share_exprs).drop(Group.N_POS, Group.N_NEG).cache(), part_rows
    )


def compute_part_variances(part_cells: PartCells, influence_table: InfluenceTable) -> pl.LazyFrame:
    """Return one row per key: `<name>_pos` and `<name>_neg`, which `standard_error` reads."""
    # Of both classes of the field, times the effective sizes less 1.
    key_column, metric_names, *_ = influence_table
    scale_columns = [
        f"{name}_{class_name}_scale" for name in metric_names for class_name in _PART_CLASS_COLUMNS
    ]
    moment_exprs = {}
    for name, class_name in product(metric_names, _PART_CLASS_COLUMNS):
        # Less their mean over the field, influences are at most twice the scale.
        scaled_influence = pl.col(f"{name}_{class_name}") / (2 * pl.col(f"{name}_{class_name}_scale"))
        for power in (1, 2):
            moment_term = scaled_influence**power * pl.col(_PART_CLASS_COLUMNS[class_name][0])
            moment_term = moment_term.fill_nan(0.0).fill_null(0.0)
            moment_exprs[f"{name}_{class_name}_{power}"] = to_whole_shares(moment_term)
    cell_rows = join_influences(part_cells.cells, influence_table)
    part_groups = cell_rows.select(key_column, PART, *scale_columns, **moment_exprs).group_by(
        key_column, PART
    )
    sum_exprs = [sum_shares(pl.col(moment)).alias(moment) for moment in moment_exprs]
    part_rows = part_groups.agg(
        sum_exprs + [pl.col(scale_column).first() for scale_column in scale_columns]
    )
    part_rows = part_rows.join(part_cells.parts.drop(Group.NUMBER), on=PART)
    term_exprs, total_exprs = {}, {}
    for name, (class_name, (_, size_column, weight_column, effective_column)) in product(
        metric_names, _PART_CLASS_COLUMNS.items()
    ):
        mean, mean_square = pl.col(f"{name}_{class_name}_1"), pl.col(f"{name}_{class_name}_2")
        n_examples, weight = pl.col(size_column), pl.col(weight_column)
        variance_within = (mean_square - mean * mean).clip(lower_bound=0.0) / (n_examples - 1)
        variance = pl.when(n_examples > 1).then(variance_within).otherwise(mean_square)
        influence_column = f"{name}_{class_name}"
        term_exprs[influence_column] = to_whole_shares(
            (weight * weight * variance).fill_nan(0.0).fill_null(0.0)
        )
        squared_scale = 4 * pl.col(f"{influence_column}_scale").first() ** 2
        total_exprs[influence_column] = (
            sum_shares(pl.col(influence_column)) * squared_scale * (pl.col(effective_column).first() - 1)
        )
    term_rows = part_rows.select(key_column, *scale_columns, *CLASS_SIZE_COLUMNS.values(), **term_exprs)
    return term_rows.group_by(key_column).agg(**total_exprs)
