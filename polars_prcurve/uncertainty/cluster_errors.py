"""Errors of areas where rows come in clusters, such as the images of one patient.

Influences of the rows of one cluster, of both classes, are added up first: what they have in common does
not cancel out. With u the influence of a row over the number of rows of its class (of weights, times its
weight over their total), and G clusters, the variance of an area is

    G / (G - 1) * (sum over clusters of (sum of u)**2)

A class with n rows in a cluster counts as (sum of n)**2 / (sum of n**2) examples: as the number of its
clusters, if they are of one size. That many examples choose the quantile of Student's distribution, and
decide whether the interval is reliable.

The variance of a difference between models that scored the same examples is that of differences of
influences: see `paired_errors`.

Sources: Liang and Zeger 1986; Obuchowski 1997; Wallace 1959 for Student's quantile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from polars_prcurve.column_names import (
    CLUSTER,
    GROUP,
    N_NEG_EFFECTIVE,
    N_NEG_LEAST,
    N_POS_EFFECTIVE,
    N_POS_LEAST,
    NEG,
    PLACE,
    POS,
    RESERVED,
)
from polars_prcurve.exact_sums import sum_shares, to_whole_shares
from polars_prcurve.inputs.score_table import ScoreTable
from polars_prcurve.sweep.group_table import SweepTables, build_numbered_rows
from polars_prcurve.uncertainty.influence import IS_TIED, InfluenceTable, find_place, pick_influence

STUDENT_FREEDOM = f"{RESERVED}freedom"
"""The column with the degrees of freedom of an interval."""
_N_CLUSTERS = f"{RESERVED}n_clusters"
CLUSTER_COLUMNS = (STUDENT_FREEDOM, _N_CLUSTERS)
"""What errors of clusters read besides the sizes of the classes."""
_CLASSES = {POS: (N_POS_EFFECTIVE, N_POS_LEAST), NEG: (N_NEG_EFFECTIVE, N_NEG_LEAST)}


def count_cluster_cells(table: ScoreTable, sweep: SweepTables) -> pl.LazyFrame:
    """Return the share of each class, as POS and NEG, by group, cluster and place among positives."""
    rows = build_numbered_rows(table, sweep.groups, whole=True)
    rows = rows.with_columns(value.over(GROUP).alias(name) for name, value in find_place().items())
    # Cached because it is read for the sizes, and for each kind of influences.
    return _count_shares(rows, [GROUP, CLUSTER, PLACE, IS_TIED]).cache()


def count_cluster_shares(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the share of each class, as POS and NEG, by group and cluster."""
    return _count_shares(rows, [GROUP, CLUSTER])


def _count_shares(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    return (
        rows.group_by(keys)
        .agg(pl.col(POS, NEG).sum())
        .with_columns(
            pl.col(name).cast(pl.Float64) / pl.col(name).sum().over(GROUP).cast(pl.Float64)
            for name in _CLASSES
        )
    )


def count_cluster_sizes(cells: pl.LazyFrame) -> pl.LazyFrame:
    """Return by GROUP the number of examples that each class counts as, and STUDENT_FREEDOM."""
    shares = cells.select(
        GROUP, CLUSTER, *(to_whole_shares(pl.col(name).fill_nan(0.0)).alias(name) for name in _CLASSES)
    )
    clusters = shares.group_by(GROUP, CLUSTER).agg(sum_shares(pl.col(name)) for name in _CLASSES)
    squares = clusters.select(GROUP, *(to_whole_shares(pl.col(name) ** 2) for name in _CLASSES))
    sums = squares.group_by(GROUP).agg(
        *(sum_shares(pl.col(name)) for name in _CLASSES), pl.len().cast(pl.Float64).alias(_N_CLUSTERS)
    )
    sizes = sums.with_columns(
        pl.when(pl.col(name) > 0).then(1 / pl.col(name)).alias(size)
        for name, names in _CLASSES.items()
        for size in names
    )
    freedom = pl.min_horizontal(N_POS_EFFECTIVE, N_NEG_EFFECTIVE) - 1
    return sizes.drop(POS, NEG).with_columns(freedom.alias(STUDENT_FREEDOM))


def join_cluster_sizes(pairs: pl.LazyFrame, cells: pl.LazyFrame) -> pl.LazyFrame:
    """Put what classes of `cells` count as in place of the sizes of pairs, and add CLUSTER_COLUMNS."""
    sizes = [size for names in _CLASSES.values() for size in names]
    return pairs.drop(sizes).join(
        count_cluster_sizes(cells), on=GROUP, how="left", maintain_order="left"
    )


def compute_cluster_variances(cells: pl.LazyFrame, influences: InfluenceTable) -> pl.LazyFrame:
    """Return one row per key: the variances `<name>_of_clusters`, apart from the factor G / (G - 1)."""
    key, names, frame, _ = influences
    kinds = ("pos", "neg", "gap", "pos_size", "neg_size")
    columns = [f"{name}_{kind}" for name in names for kind in kinds]
    joined = cells.join(frame.select(*dict.fromkeys((GROUP, key, PLACE)), *columns), on=[GROUP, PLACE])
    # Less their means, influences are at most twice the size. So shares of both classes add up to 1.
    terms = {
        name: ClusterTerm(
            pick_influence(name, "pos"),
            pick_influence(name, "neg"),
            most=4 * pl.max_horizontal(f"{name}_pos_size", f"{name}_neg_size"),
        )
        for name in names
    }
    return add_up_clusters(joined, [key], terms)


class ClusterTerm(NamedTuple):
    """The influences of the positives and of the negatives of a row on an estimate."""

    pos: pl.Expr
    neg: pl.Expr
    most: pl.Expr
    """A power of two that no sum of influences times shares exceeds, equal on all rows of a key."""


def add_up_clusters(
    cells: pl.LazyFrame, keys: Sequence[str], terms: Mapping[str, ClusterTerm]
) -> pl.LazyFrame:
    """Return one row per value of `keys`, with `<name>_of_clusters` of each term.

    It is the sum over clusters of the squared sum, within a cluster, of influences times shares.
    """
    shares, most = {}, {}
    for name, term in terms.items():
        share = term.pos * pl.col(POS).fill_nan(0.0) + term.neg * pl.col(NEG).fill_nan(0.0)
        shares[name], most[f"{name}_most"] = to_whole_shares(share / term.most), term.most
    sums = (sum_shares(pl.col(name)).alias(name) for name in terms)
    clusters = cells.select(*keys, CLUSTER, **shares, **most).group_by(*keys, CLUSTER)
    squares = {name: to_whole_shares(pl.col(name) ** 2) for name in terms}
    return (
        clusters.agg(*sums, pl.col(*most).first())
        .select(*keys, *most, **squares)
        .group_by(keys)
        .agg(
            (sum_shares(pl.col(name)) * pl.col(f"{name}_most").first() ** 2).alias(f"{name}_of_clusters")
            for name in terms
        )
    )


def cluster_standard_error(name: str) -> pl.Expr:
    """Return the standard error of a metric, null unless several clusters have rows of each class."""
    n = pl.col(_N_CLUSTERS)
    error = (pl.col(f"{name}_of_clusters") * (n / (n - 1))).sqrt()
    # Rounded sums of shares may leave the size of two clusters just below 2.
    several = pl.min_horizontal(N_POS_EFFECTIVE, N_NEG_EFFECTIVE) > 1 + 1e-9
    return pl.when(several & error.is_finite()).then(error)
