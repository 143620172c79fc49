"""Errors of areas where rows come in clusters, such as the images of one patient.

Influences of the rows of one cluster, of both classes, are added up first: what they have in common does
not cancel out. With u the influence of a row over the number of rows of its class (of weights, times its
weight over their total), and G clusters, the variance of an area is

    G / (G - 1) * (sum over clusters of (sum of u)**2)

A class with n rows in a cluster counts as (sum of n)**2 / (sum of n**2) examples: as the number of its
clusters, if they are of one size. That many examples choose the quantile of Student's distribution, and
decide whether the interval is reliable.

The variance of a difference between models that scored the same examples is that of differences of
influences: see `paired_errors`. Its cautious value has half a false positive more at every threshold.
False positives come in clusters, too, so it is half of what one cluster has at the top: as many as each
negative there has in its cluster, on average, where fpr is eta / (1 - eta). So many negatives are worth
all positives, and a few of them decide. To favour no model, the greatest number of all models counts.

Sources: Liang and Zeger 1986; Obuchowski 1997; Wallace 1959 for Student's quantile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.exact_sums import from_whole, sum_shares, to_whole_shares
from polars_prcurve.float_bits import repeat_in_rows
from polars_prcurve.inputs.score_table import ScoreTable
from polars_prcurve.sweep.group_table import SweepTables, build_numbered_rows
from polars_prcurve.uncertainty.influence import IS_TIED, InfluenceTable, add_places, pick_influence

STUDENT_FREEDOM = f"{c.RESERVED}freedom"
"""The column with the degrees of freedom of an interval."""
_N_CLUSTERS = f"{c.RESERVED}n_clusters"
_BEFORE, _TOP, _SHARE, _SQUARE = (f"{c.RESERVED}{name}" for name in ("before", "top", "share", "square"))
CLUSTER_COLUMNS = (STUDENT_FREEDOM, _N_CLUSTERS)
"""What errors of clusters read besides the sizes of the classes."""
_CLASSES = {c.POS: (c.N_POS_EFFECTIVE, c.N_POS_LEAST), c.NEG: (c.N_NEG_EFFECTIVE, c.N_NEG_LEAST)}


def count_cluster_cells(table: ScoreTable, sweep: SweepTables) -> pl.LazyFrame:
    """Return the share of each class, as POS and NEG, by group, cluster and place among positives."""
    rows = build_numbered_rows(table, sweep.groups, whole=True)
    cells = (
        add_places(rows).group_by(c.GROUP, c.CLUSTER, c.PLACE, IS_TIED).agg(pl.col(c.POS, c.NEG).sum())
    )
    amounts = {name: pl.col(name).cast(pl.Float64) for name in _CLASSES}
    totals = {name: pl.col(name).sum().over(c.GROUP).cast(pl.Float64) for name in _CLASSES}
    shares = cells.with_columns(
        amounts[name] / repeat_in_rows(totals[name], amounts[name]) for name in _CLASSES
    )
    return shares.cache()  # read for the sizes, and for each kind of influences


def count_cluster_sizes(cells: pl.LazyFrame) -> pl.LazyFrame:
    """Return by GROUP the number of examples that each class counts as, and STUDENT_FREEDOM."""
    shares = cells.select(
        c.GROUP,
        c.CLUSTER,
        *(to_whole_shares(pl.col(name).fill_nan(0.0)).alias(name) for name in _CLASSES),
    )
    clusters = shares.group_by(c.GROUP, c.CLUSTER).agg(sum_shares(pl.col(name)) for name in _CLASSES)
    squares = clusters.select(c.GROUP, *(to_whole_shares(pl.col(name) ** 2) for name in _CLASSES))
    sums = squares.group_by(c.GROUP).agg(
        *(sum_shares(pl.col(name)) for name in _CLASSES), pl.len().cast(pl.Float64).alias(_N_CLUSTERS)
    )
    sizes = sums.with_columns(
        pl.when(pl.col(name) > 0).then(1 / pl.col(name)).alias(size)
        for name, names in _CLASSES.items()
        for size in names
    )
    freedom = pl.min_horizontal(c.N_POS_EFFECTIVE, c.N_NEG_EFFECTIVE) - 1
    return sizes.drop(c.POS, c.NEG).with_columns(freedom.alias(STUDENT_FREEDOM))


def join_cluster_sizes(pairs: pl.LazyFrame, cells: pl.LazyFrame) -> pl.LazyFrame:
    """Put what classes of `cells` count as in place of the sizes of pairs, and add CLUSTER_COLUMNS."""
    sizes = [size for names in _CLASSES.values() for size in names]
    return pairs.drop(sizes).join(
        count_cluster_sizes(cells), on=c.GROUP, how="left", maintain_order="left"
    )


def join_negatives_at_once(
    pairs: pl.LazyFrame, cells: pl.LazyFrame, keys: Sequence[str]
) -> pl.LazyFrame:
    """Set N_NEG_LOCAL of pairs to the class size in units of what a cluster has of it at the top.

    The top of a model at a prevalence are the fewest places, from the highest score down, that hold
    a share of the negatives of eta / (1 - eta). Pairs of the same `keys` get the least of theirs.
    """
    of_neg = to_whole_shares(pl.col(c.NEG).fill_nan(0.0)).alias(c.NEG)
    cells = cells.select(c.GROUP, c.CLUSTER, c.PLACE, of_neg)
    places = cells.group_by(c.GROUP, c.PLACE).agg(pl.col(c.NEG).sum()).sort(c.GROUP, c.PLACE)
    before = pl.col(c.NEG).cum_sum().over(c.GROUP) - pl.col(c.NEG)
    places = places.select(c.GROUP, c.PLACE, from_whole(before).alias(_BEFORE))
    at_eta = pairs.select(c.GROUP, c.PAIR, (1 / pl.col(c.ODDS)).alias(_TOP))
    # Above the first place there is nothing, and at eta = 0 it alone is the top.
    is_top = (pl.col(_BEFORE) < pl.col(_TOP)) | (pl.col(_BEFORE) == 0)
    last = at_eta.join(places, on=c.GROUP).filter(is_top)
    last = last.group_by(c.GROUP, c.PAIR).agg(pl.col(c.PLACE).max().alias(_TOP))
    top = last.join(cells, on=c.GROUP).filter(pl.col(c.PLACE) <= pl.col(_TOP))
    clusters = top.group_by(c.PAIR, c.CLUSTER).agg(sum_shares(pl.col(c.NEG)))
    squares = clusters.select(
        c.PAIR, *(to_whole_shares(pl.col(c.NEG) ** n).alias(f"{_TOP}{n}") for n in (1, 2))
    )
    sums = squares.group_by(c.PAIR).agg(sum_shares(pl.all()))
    times = pl.when(pl.col(f"{_TOP}2") > 0).then(pl.col(f"{_TOP}1") / pl.col(f"{_TOP}2"))
    sums = sums.select(c.PAIR, times.alias(c.N_NEG_LOCAL))
    pairs = pairs.drop(c.N_NEG_LOCAL, strict=False)
    pairs = pairs.join(sums, on=c.PAIR, how="left", maintain_order="left")
    return pairs.with_columns(pl.col(c.N_NEG_LOCAL).min().over(keys))


def compute_cluster_variances(cells: pl.LazyFrame, influences: InfluenceTable) -> pl.LazyFrame:
    """Return one row per key: the variances `<name>_of_clusters`, apart from the factor G / (G - 1)."""
    key, names, frame, *_ = influences
    kinds = ("pos", "neg", "gap", "pos_size", "neg_size")
    columns = [f"{name}_{kind}" for name in names for kind in kinds]
    joined = cells.join(
        frame.select(*dict.fromkeys((c.GROUP, key, c.PLACE)), *columns), on=[c.GROUP, c.PLACE]
    )
    # Less their means, influences are at most twice the size. So shares of both classes add up to 1.
    terms = {
        name: ClusterTerm(
            pick_influence(name, "pos") * pl.col(c.POS).fill_nan(0.0)
            + pick_influence(name, "neg") * pl.col(c.NEG).fill_nan(0.0),
            most=4 * pl.max_horizontal(f"{name}_pos_size", f"{name}_neg_size"),
        )
        for name in names
    }
    return add_up_clusters(joined, [key], terms)


class ClusterTerm(NamedTuple):
    """How much a row moves an estimate."""

    moved: pl.Expr
    """The sum of influences times shares."""
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
        shares[name], most[f"{name}_most"] = to_whole_shares(term.moved / term.most), term.most
    sums = (sum_shares(pl.col(name)).alias(name) for name in terms)
    clusters = cells.select(*keys, c.CLUSTER, **shares, **most).group_by(*keys, c.CLUSTER)
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
    has_two_of_each = pl.min_horizontal(c.N_POS_EFFECTIVE, c.N_NEG_EFFECTIVE) > 1 + 1e-9
    return pl.when(has_two_of_each & error.is_finite()).then(error)
