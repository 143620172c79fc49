"""Errors of curve metrics where rows come in clusters, such as the images of one patient.

Influences of the rows of one cluster, of both classes, are added up first: what they have in common
does not cancel out. With u the influence of a row over the number of rows of its class (of weights,
times its weight over their total), and G clusters, the variance of an area is

    G / (G - 1) * (sum over clusters of (sum of u)**2)

A class with n rows in a cluster counts as (sum of n)**2 / (sum of n**2) examples: as the number of its
clusters, if they are of one size. That many choose the quantile of Student's distribution, and decide
whether the interval is reliable. Where few clusters carry the error there are fewer degrees of
freedom: with U the sum of u in a cluster and m = (sum of U**2)**2 / (sum of U**4), the clusters that
carry it, they are 2 / (1 / m - 1 / G) (Satterthwaite 1946, with the fourth moment of the sample).

A cluster that the sample lacks is worth as many rows as V is times the variance of independent rows:
Unseen.SHARE and Unseen.MISSED_SHARE are theirs, and move ends of intervals as in `unseen_examples`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows, sum_shares, to_whole_shares
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.segment_column_names import Unseen
from polars_prcurve.core.sweep.rows_with_group_numbers import build_numbered_rows
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables
from polars_prcurve.core.uncertainty.influence import (
    IS_TIED,
    PLACE,
    InfluenceTable,
    add_places,
    join_influences,
)

STUDENT_FREEDOM = f"{RESERVED}freedom"  # the column with the degrees of freedom of an interval
_N_CLUSTERS = f"{RESERVED}n_clusters"  # the number of clusters of a group
CLUSTER_ETA_VARIANCE = f"{RESERVED}cluster_eta_variance"
"""The variance of the logit of the prevalence of a group, among clusters."""
ROW_SIZES = {Row.POS: f"{RESERVED}n_pos_rows", Row.NEG: f"{RESERVED}n_neg_rows"}
"""The columns with the sizes of the classes if rows were independent."""
CLUSTER_COLUMNS = (STUDENT_FREEDOM, _N_CLUSTERS, CLUSTER_ETA_VARIANCE)
"""What errors of clusters read besides the sizes of the classes."""
_SIZES_OF_CLASSES = {
    Row.POS: (EffectiveSize.N_POS, EffectiveSize.N_POS_LEAST),
    Row.NEG: (EffectiveSize.N_NEG, EffectiveSize.N_NEG_LEAST),
}
"""The sizes that a class has, both of which are what its clusters count as."""


def count_cluster_cells(table: ScoreTable, sweep: SweepTables) -> pl.LazyFrame:
    """Return the share of each class, as POS and NEG, by group, cluster and place among positives."""
    example_rows = build_numbered_rows(table, sweep.groups, as_integers=True)
    cell_groups = add_places(example_rows).group_by(Group.NUMBER, Row.CLUSTER, PLACE, IS_TIED)
    cells = cell_groups.agg(pl.col(Row.POS, Row.NEG).sum())
    share_exprs = []
    for class_column in _SIZES_OF_CLASSES:
        amount = pl.col(class_column).cast(pl.Float64)
        total = pl.col(class_column).sum().over(Group.NUMBER)
        share_exprs.append(amount / repeat_in_rows(total.cast(pl.Float64), amount))
    return cells.with_columns(share_exprs).cache()  # read for the sizes, and for each kind of influences


def join_cluster_sizes(populations: pl.LazyFrame, cells: pl.LazyFrame) -> pl.LazyFrame:
    """Set the sizes of populations to what classes of `cells` count as, and add CLUSTER_COLUMNS."""
    share_exprs = {
        class_column: to_whole_shares(pl.col(class_column).fill_nan(0.0))
        for class_column in _SIZES_OF_CLASSES
    }
    share_rows = cells.select(Group.NUMBER, Row.CLUSTER, **share_exprs)
    cluster_groups = share_rows.group_by(Group.NUMBER, Row.CLUSTER)
    # A cluster moves the logit of the prevalence by its fraction of positives less that of negatives.
    cluster_square_rows = cluster_groups.agg(
        sum_shares(pl.col(class_column)) for class_column in _SIZES_OF_CLASSES
    ).select(
        Group.NUMBER,
        *(to_whole_shares(pl.col(class_column) ** 2) for class_column in _SIZES_OF_CLASSES),
        to_whole_shares((pl.col(Row.POS) - pl.col(Row.NEG)) ** 2).alias(CLUSTER_ETA_VARIANCE),
    )
    group_sums = cluster_square_rows.group_by(Group.NUMBER).agg(
        sum_shares(pl.exclude(Group.NUMBER)), pl.len().cast(pl.Float64).alias(_N_CLUSTERS)
    )
    n_clusters = pl.col(_N_CLUSTERS)
    class_column_by_size = {
        size_column: class_column
        for class_column, size_columns in _SIZES_OF_CLASSES.items()
        for size_column in size_columns
    }
    example_count_exprs = (
        pl.when(pl.col(class_column) > 0).then(1 / pl.col(class_column)).alias(size_column)
        for size_column, class_column in class_column_by_size.items()
    )
    eta_variance = pl.col(CLUSTER_ETA_VARIANCE) * (n_clusters / (n_clusters - 1))
    group_sizes = group_sums.select(Group.NUMBER, _N_CLUSTERS, eta_variance, *example_count_exprs)
    freedom = pl.min_horizontal(EffectiveSize.N_POS, EffectiveSize.N_NEG) - 1
    group_sizes = group_sizes.with_columns(freedom.alias(STUDENT_FREEDOM))
    renamed_populations = populations.rename(
        {
            size_columns[0]: ROW_SIZES[class_column]
            for class_column, size_columns in _SIZES_OF_CLASSES.items()
        }
    )
    return renamed_populations.drop(*class_column_by_size, strict=False).join(
        group_sizes, on=Group.NUMBER, how="left", maintain_order="left"
    )


def grow_unseen_shares(value_name: str) -> list[pl.Expr]:
    """Return Unseen.SHARE and MISSED_SHARE of a cluster, over the variances of a value by class."""
    row_variance = pl.lit(0.0)
    for class_name, class_column in (("pos", Row.POS), ("neg", Row.NEG)):
        variance, size = pl.col(f"{value_name}_{class_name}"), pl.col(ROW_SIZES[class_column])
        row_variance = row_variance + variance / repeat_in_rows(size, variance)
    # One unseen row of n + 1 is a share s = 1 / (n + 1). A cluster worth d rows is d / (n + d).
    design_effect = (cluster_standard_error(value_name) ** 2 / row_variance).fill_nan(1.0)
    design_effect = design_effect.clip(lower_bound=1.0)
    return [
        (
            design_effect
            * pl.col(share_column)
            / (1 - pl.col(share_column) + design_effect * pl.col(share_column))
        ).alias(share_column)
        for share_column in (Unseen.SHARE, Unseen.MISSED_SHARE)
    ]


def find_freedom(value_name: str) -> dict[str, pl.Expr]:
    """Return `<name>_freedom`, the degrees of freedom of an error, for Student's quantile."""
    n_carrying_clusters = pl.col(f"{value_name}_of_clusters") ** 2 / pl.col(f"{value_name}_of_fourths")
    freedom = 2 / (1 / n_carrying_clusters - 1 / pl.col(_N_CLUSTERS))
    freedom = pl.min_horizontal(freedom.fill_nan(None), STUDENT_FREEDOM).clip(lower_bound=1.0)
    return {f"{value_name}_freedom": freedom}


def compute_cluster_variances(cells: pl.LazyFrame, influence_table: InfluenceTable) -> pl.LazyFrame:
    """Return one row per key: what `add_up_clusters` has, the variances apart from G / (G - 1)."""
    # Less their means, influences are at most twice the scale. So shares of both classes add up to 1.
    term_and_scale_by_name = {
        name: (
            pl.col(f"{name}_pos") * pl.col(Row.POS).fill_nan(0.0)
            + pl.col(f"{name}_neg") * pl.col(Row.NEG).fill_nan(0.0),
            4 * pl.max_horizontal(f"{name}_pos_scale", f"{name}_neg_scale"),
        )
        for name in influence_table.names
    }
    return add_up_clusters(
        join_influences(cells, influence_table), [influence_table.key], term_and_scale_by_name
    )


def add_up_clusters(
    cells: pl.LazyFrame,
    key_columns: Sequence[str],
    term_and_scale_by_name: Mapping[str, tuple[pl.Expr, pl.Expr]],
) -> pl.LazyFrame:
    """Return `<name>_of_clusters` and `_of_fourths`, sums of powers of terms that a cluster adds up."""
    # Beside a term stands a power of two that no such sum exceeds, equal on all rows of a key.
    share_exprs = {
        name: to_whole_shares(cluster_term / scale)
        for name, (cluster_term, scale) in term_and_scale_by_name.items()
    }
    bound_exprs = {f"{name}_most": scale for name, (_, scale) in term_and_scale_by_name.items()}
    sum_exprs = (sum_shares(pl.col(name)).alias(name) for name in term_and_scale_by_name)
    share_rows = cells.select(*key_columns, Row.CLUSTER, **share_exprs, **bound_exprs)
    cluster_groups = share_rows.group_by(*key_columns, Row.CLUSTER)
    power_by_ending = {"of_clusters": 2, "of_fourths": 4}
    power_exprs = {
        f"{name}_{ending}": to_whole_shares(pl.col(name) ** power)
        for name in term_and_scale_by_name
        for ending, power in power_by_ending.items()
    }
    cluster_power_rows = cluster_groups.agg(*sum_exprs, pl.col(*bound_exprs).first()).select(
        *key_columns, *bound_exprs, **power_exprs
    )
    return cluster_power_rows.group_by(key_columns).agg(
        sum_shares(pl.col(f"{name}_{ending}")) * pl.col(f"{name}_most").first() ** power
        for name in term_and_scale_by_name
        for ending, power in power_by_ending.items()
    )


def cluster_standard_error(value_name: str) -> pl.Expr:
    """Return the standard error of a metric, null unless several clusters have rows of each class."""
    n_clusters = pl.col(_N_CLUSTERS)
    error = (pl.col(f"{value_name}_of_clusters") * (n_clusters / (n_clusters - 1))).sqrt()
    # Rounded sums of shares may leave the size of two clusters just below 2.
    has_two_of_each = pl.min_horizontal(EffectiveSize.N_POS, EffectiveSize.N_NEG) > 1 + 1e-9
    return pl.when(has_two_of_each & error.is_finite()).then(error)
