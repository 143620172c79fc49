"""Errors of areas where rows come in clusters, such as the images of one patient.

Influences of the rows of one cluster, of both classes, are added up first: what they have in common does
not cancel out. With u the influence of a row over the number of rows of its class (of weights, times its
weight over their total), and G clusters, the variance of an area is

    G / (G - 1) * (sum over clusters of (sum of u)**2)

A class with n rows in a cluster counts as (sum of n)**2 / (sum of n**2) examples: as the number of its
clusters, if they are of one size. That many choose the quantile of Student's distribution, and decide
whether the interval is reliable. Where few clusters carry the error there are fewer degrees of freedom:
with U the sum of u in a cluster and m = (sum of U**2)**2 / (sum of U**4), the clusters that carry it,
they are 2 / (1 / m - 1 / G) (Satterthwaite 1946, with the fourth moment of the sample).

A cluster that the sample lacks is worth as many rows as V is times the variance of independent rows:
UNSEEN_SHARE and MISSED_SHARE are theirs, and move the ends of an interval as in `analytic`.

Sources: Liang and Zeger 1986; Obuchowski 1997; Wallace 1959 for Student's quantile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.exact_sums import sum_shares, to_whole_shares
from polars_prcurve.float_bits import repeat_in_rows
from polars_prcurve.inputs.score_and_rate_tables import ScoreTable
from polars_prcurve.sweep.group_table import SweepTables, build_numbered_rows
from polars_prcurve.uncertainty.influence import IS_TIED, InfluenceTable, add_places, join_influences

STUDENT_FREEDOM = f"{c.RESERVED}freedom"  # the column with the degrees of freedom of an interval
_N_CLUSTERS = f"{c.RESERVED}n_clusters"
CLUSTER_ETA_VARIANCE = f"{c.RESERVED}cluster_eta_variance"
"""The variance of the logit of the own prevalence of a group, among clusters."""
ROW_SIZES = {c.POS: f"{c.RESERVED}n_pos_rows", c.NEG: f"{c.RESERVED}n_neg_rows"}
"""The columns with the sizes of the classes if rows were independent."""
CLUSTER_COLUMNS = (STUDENT_FREEDOM, _N_CLUSTERS, CLUSTER_ETA_VARIANCE)
"""What errors of clusters read besides the sizes of the classes."""
_CLASSES = {c.POS: (c.N_POS_EFFECTIVE, c.N_POS_LEAST), c.NEG: (c.N_NEG_EFFECTIVE, c.N_NEG_LEAST)}


def count_cluster_cells(table: ScoreTable, sweep: SweepTables) -> pl.LazyFrame:
    """Return the share of each class, as POS and NEG, by group, cluster and place among positives."""
    rows = build_numbered_rows(table, sweep.groups, whole=True)
    placed = add_places(rows).group_by(c.GROUP, c.CLUSTER, c.PLACE, IS_TIED)
    cells = placed.agg(pl.col(c.POS, c.NEG).sum())
    amounts = {name: pl.col(name).cast(pl.Float64) for name in _CLASSES}
    totals = {name: pl.col(name).sum().over(c.GROUP).cast(pl.Float64) for name in _CLASSES}
    shares = cells.with_columns(
        amounts[name] / repeat_in_rows(totals[name], amounts[name]) for name in _CLASSES
    )
    return shares.cache()  # read for the sizes, and for each kind of influences


def join_cluster_sizes(pairs: pl.LazyFrame, cells: pl.LazyFrame) -> pl.LazyFrame:
    """Set the sizes of pairs to what classes of `cells` count as, and add CLUSTER_COLUMNS."""
    shares = {name: to_whole_shares(pl.col(name).fill_nan(0.0)) for name in _CLASSES}
    clusters = cells.select(c.GROUP, c.CLUSTER, **shares).group_by(c.GROUP, c.CLUSTER)
    # A cluster moves the logit of the prevalence by its share of positives less that of negatives.
    squares = clusters.agg(sum_shares(pl.col(name)) for name in _CLASSES).select(
        c.GROUP,
        *(to_whole_shares(pl.col(name) ** 2) for name in _CLASSES),
        to_whole_shares((pl.col(c.POS) - pl.col(c.NEG)) ** 2).alias(CLUSTER_ETA_VARIANCE),
    )
    n_clusters = pl.len().cast(pl.Float64).alias(_N_CLUSTERS)
    sums = squares.group_by(c.GROUP).agg(sum_shares(pl.exclude(c.GROUP)), n_clusters)
    n = pl.col(_N_CLUSTERS)
    sizes = {size: name for name, names in _CLASSES.items() for size in names}
    counted = sums.with_columns(
        pl.col(CLUSTER_ETA_VARIANCE) * (n / (n - 1)),
        *(pl.when(pl.col(name) > 0).then(1 / pl.col(name)).alias(size) for size, name in sizes.items()),
    )
    freedom = pl.min_horizontal(c.N_POS_EFFECTIVE, c.N_NEG_EFFECTIVE) - 1
    counted = counted.drop(c.POS, c.NEG).with_columns(freedom.alias(STUDENT_FREEDOM))
    of_rows = pairs.rename({names[0]: ROW_SIZES[name] for name, names in _CLASSES.items()})
    of_rows = of_rows.drop(set(sizes) & set(of_rows.collect_schema()))
    return of_rows.join(counted, on=c.GROUP, how="left", maintain_order="left")


def grow_unseen_shares(value: str) -> list[pl.Expr]:
    """Return UNSEEN_SHARE and MISSED_SHARE of a cluster, over the variances `<value>_pos` and `_neg`."""
    sides = (("pos", c.POS), ("neg", c.NEG))
    terms = (pl.col(f"{value}_{side}") / pl.col(ROW_SIZES[n]) for side, n in sides)
    of_rows = sum(terms, pl.lit(0.0))
    # One unseen row of n + 1 is a share s = 1 / (n + 1). A cluster worth d rows is d / (n + d).
    effect = (cluster_standard_error(value) ** 2 / of_rows).fill_nan(1.0).clip(lower_bound=1.0)
    return [
        (effect * pl.col(name) / (1 - pl.col(name) + effect * pl.col(name))).alias(name)
        for name in (c.UNSEEN_SHARE, c.MISSED_SHARE)
    ]


def find_freedom(name: str) -> dict[str, pl.Expr]:
    """Return `<name>_carried`, how many clusters carry an error, and `<name>_freedom`, for Student."""
    carried = pl.col(f"{name}_of_clusters") ** 2 / pl.col(f"{name}_of_fourths")
    freedom = 2 / (1 / carried - 1 / pl.col(_N_CLUSTERS))
    freedom = pl.min_horizontal(freedom.fill_nan(None), STUDENT_FREEDOM).clip(lower_bound=1.0)
    return {f"{name}_carried": carried.fill_nan(None), f"{name}_freedom": freedom}


def compute_cluster_variances(cells: pl.LazyFrame, influences: InfluenceTable) -> pl.LazyFrame:
    """Return one row per key: what `add_up_clusters` has, the variances apart from G / (G - 1)."""
    # Less their means, influences are at most twice the size. So shares of both classes add up to 1.
    terms = {
        name: (
            pl.col(f"{name}_pos") * pl.col(c.POS).fill_nan(0.0)
            + pl.col(f"{name}_neg") * pl.col(c.NEG).fill_nan(0.0),
            4 * pl.max_horizontal(f"{name}_pos_size", f"{name}_neg_size"),
        )
        for name in influences.names
    }
    return add_up_clusters(join_influences(cells, influences), [influences.key], terms)


def add_up_clusters(
    cells: pl.LazyFrame, keys: Sequence[str], terms: Mapping[str, tuple[pl.Expr, pl.Expr]]
) -> pl.LazyFrame:
    """Return `<name>_of_clusters` and `_of_fourths`, sums of powers of terms that a cluster adds up."""
    # Beside a term stands a power of two that no such sum exceeds, equal on all rows of a key.
    shares = {name: to_whole_shares(moved / size) for name, (moved, size) in terms.items()}
    most = {f"{name}_most": size for name, (_, size) in terms.items()}
    sums = (sum_shares(pl.col(name)).alias(name) for name in terms)
    clusters = cells.select(*keys, c.CLUSTER, **shares, **most).group_by(*keys, c.CLUSTER)
    powers = {"of_clusters": 2, "of_fourths": 4}
    raised = {
        f"{name}_{kind}": to_whole_shares(pl.col(name) ** power)
        for name in terms
        for kind, power in powers.items()
    }
    of_clusters = clusters.agg(*sums, pl.col(*most).first()).select(*keys, *most, **raised)
    return of_clusters.group_by(keys).agg(
        sum_shares(pl.col(f"{name}_{kind}")) * pl.col(f"{name}_most").first() ** power
        for name in terms
        for kind, power in powers.items()
    )


def cluster_standard_error(name: str) -> pl.Expr:
    """Return the standard error of a metric, null unless several clusters have rows of each class."""
    n = pl.col(_N_CLUSTERS)
    error = (pl.col(f"{name}_of_clusters") * (n / (n - 1))).sqrt()
    # Rounded sums of shares may leave the size of two clusters just below 2.
    has_two_of_each = pl.min_horizontal(c.N_POS_EFFECTIVE, c.N_NEG_EFFECTIVE) > 1 + 1e-9
    return pl.when(has_two_of_each & error.is_finite()).then(error)
