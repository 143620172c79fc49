"""How certain rates are where rows come in clusters, such as the images of one patient.

A cluster c has X(c) of the X rows of a class, and x(c) of them are above a threshold. The rate r is the
ratio of the sums of both. Its variance among the clusters, and the covariance with the rate s of the
other class, which has y(c) of Y(c), are

    V = (sum of (x(c) - r X(c))**2) / X**2
    C = (sum of (x(c) - r X(c)) (y(c) - s Y(c))) / (X Y)

A class counts as G = X**2 / (sum of X(c)**2) clusters. V and C are raised by G / (G - 1), and
d = V X / (r (1 - r)) is the design effect: the class counts there as X / d examples.

Where few rows are on one side of a threshold, hardly any two of them share a cluster, and d comes out
near 1 whatever clusters do. So d is drawn, with the force of three rows, towards the design effect half
way: at the last threshold that flags at most half of the class, and at least 1. Where no row is on one
side, this is all that is known. If the highest score alone holds more than half of a class, the greatest
design effect, X / G, takes its place.

No table of clusters times thresholds is made. Row by row the sum of x(c)**2 grows by 2 x(c) - 1, that of
x(c) X(c) by X(c), and that of x(c) y(c) by what the cluster has of the other class above the row.

Sources: Cochran 1977 (ratios of clusters); Kish 1965; Korn and Graubard 1998 (effective sizes, with
Student's quantile).
"""

from __future__ import annotations

import polars as pl

from polars_prcurve.core.confidence.cohort_intervals import sum_moments
from polars_prcurve.core.confidence.interval_inputs import EffectiveSize, EtaError
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.row_columns import Group, Row
from polars_prcurve.core.inputs.sample_kinds import name_moment
from polars_prcurve.core.sweep.effective_alerts import Sums, add_alert_sizes
from polars_prcurve.core.sweep.grouped_rows import SortedRows
from polars_prcurve.core.sweep.sweep_columns import ClusterSize

_FORCE = 3  # the number of rows that the design effect half way stands for
_SIDES = {Row.POS: Row.NEG, Row.NEG: Row.POS}  # either class, and the other one
_IS_LAST = f"{RESERVED}is_last"  # whether a row is the last one of its score
# What follows a class in the names of sums, and of two sums of both classes the names
_COUNT = "count"  # rows of a class above the threshold
_TOTAL = "total"  # all rows of the class
_SQUARES = "squares"  # sum of x(c)**2
_SIZES = "sizes"  # sum of x(c) X(c)
_ALL = "all"  # sum of X(c)**2
_CROSSED = "crossed"  # sum of x(c) Y(c)
_PRODUCTS = f"{RESERVED}products"  # sum of x(c) y(c)
_ALL_PRODUCTS = f"{RESERVED}all_products"  # sum of X(c) Y(c)
_HALF = "half_"  # stands before these names at the threshold half way

# The columns of each class: its size, that above all scores, and degrees of freedom
_SIZE_NAMES = {
    Row.POS: (ClusterSize.N_POS, ClusterSize.N_POS_UNREACHED, EffectiveSize.POS_FREEDOM),
    Row.NEG: (ClusterSize.N_NEG, ClusterSize.N_NEG_UNREACHED, EffectiveSize.NEG_FREEDOM),
}
OF_GROUP = (
    ClusterSize.N_POS_UNREACHED,
    ClusterSize.N_NEG_UNREACHED,
    EffectiveSize.POS_FREEDOM,
    EffectiveSize.NEG_FREEDOM,
    EtaError.VARIANCE,
)
"""The columns that are equal on all rows of a group."""
CLUSTER_COLUMNS = (*OF_GROUP, EffectiveSize.RATE_CORRELATION)
"""What bands of rows in clusters read besides the effective sizes."""
SIZES_UNREACHED = {
    EffectiveSize.N_POS: pl.col(ClusterSize.N_POS_UNREACHED),
    EffectiveSize.N_NEG: pl.col(ClusterSize.N_NEG_UNREACHED),
}
"""The effective sizes at a threshold above all scores."""


_KINDS = (
    _COUNT,
    _TOTAL,
    _SQUARES,
    _SIZES,
    _ALL,
    _CROSSED,
    _HALF + _COUNT,
    _HALF + _SQUARES,
    _HALF + _SIZES,
)
"""The sums of each class."""
CLUSTER_SUMS = (
    *(f"{side}_{kind}" for side in _SIDES for kind in _KINDS),
    _PRODUCTS,
    _ALL_PRODUCTS,
)
"""What `add_cluster_sums` adds to rows, and `measure_cluster_sizes` reads."""


def add_cluster_sums(ordered: SortedRows) -> SortedRows:
    """Add CLUSTER_SUMS, whole numbers, to sorted rows: running sums and totals within each group."""
    frame = ordered.frame.with_columns(
        ordered.group.alias(Group.NUMBER),
        ordered.amounts[Row.POS].cast(pl.Int64).alias(Row.POS),
        ordered.amounts[Row.NEG].cast(pl.Int64).alias(Row.NEG),
        ordered.is_last.alias(_IS_LAST),
    )
    above, whole = f"{RESERVED}cluster_above", f"{RESERVED}cluster_total"
    frame = frame.with_columns(
        count.over(Group.NUMBER, Row.CLUSTER).alias(f"{side}_{kind}")
        for side in _SIDES
        for kind, count in ((above, pl.col(side).cum_sum()), (whole, pl.col(side).sum()))
    )
    terms: dict[str, pl.Expr] = {}
    totals = {_ALL_PRODUCTS: pl.col(Row.POS) * pl.col(f"{Row.NEG}_{whole}")}
    for side, other in _SIDES.items():
        row, x, size = pl.col(side), pl.col(f"{side}_{above}"), pl.col(f"{side}_{whole}")
        terms |= {
            f"{side}_{_COUNT}": row,
            f"{side}_{_SQUARES}": row * (2 * x - row),
            f"{side}_{_SIZES}": row * size,
            f"{side}_{_CROSSED}": row * pl.col(f"{other}_{whole}"),
        }
        totals |= {f"{side}_{_TOTAL}": row, f"{side}_{_ALL}": row * size}
    # A row is of one class, so the product grows by what the cluster has of the other one.
    pos_above, neg_above = (pl.col(f"{side}_{above}") for side in _SIDES)
    terms[_PRODUCTS] = pl.col(Row.POS) * neg_above + pl.col(Row.NEG) * pos_above
    frame = frame.with_columns(
        *(term.cum_sum().over(Group.NUMBER).alias(name) for name, term in terms.items()),
        *(term.sum().over(Group.NUMBER).alias(name) for name, term in totals.items()),
    )
    # At the last threshold that at most half of a class is above; sums never fall: it has the greatest.
    half_sums: dict[str, pl.Expr] = {}
    for side in _SIDES:
        is_at_most_half = 2 * pl.col(f"{side}_{_COUNT}") <= pl.col(f"{side}_{_TOTAL}")
        for kind in (_COUNT, _SQUARES, _SIZES):
            value = pl.when(pl.col(_IS_LAST) & is_at_most_half).then(f"{side}_{kind}")
            half_sums[f"{side}_{_HALF}{kind}"] = value.max().over(Group.NUMBER)
    return ordered._replace(frame=frame.with_columns(**half_sums))


def measure_cluster_sizes(running: pl.LazyFrame) -> pl.LazyFrame:
    """Replace CLUSTER_SUMS by what bands and promises read: sizes, freedom, moments, correlation."""
    columns: dict[str, pl.Expr] = {}
    for side, (size, unreached, freedom) in _SIZE_NAMES.items():
        total, n_clusters = _float(side, _TOTAL), _count_clusters(side)
        several_clusters = pl.when(n_clusters > 1)
        # The examples that a class counts as if its design effect is 1.
        greatest_size = total * ((n_clusters - 1) / n_clusters)
        # The design effect half way: V over r (1 - r) / X, the variance of independent examples; without
        # such a threshold the greatest one.
        count = _float(side, _HALF + _COUNT)
        effect = _divide(_read_deviations(side, _HALF), total * count * (total - count))
        half_effect = pl.max_horizontal(effect.fill_null(total / n_clusters), 1.0)
        count, rest = _float(side, _COUNT), total - _float(side, _COUNT)
        fewer = pl.min_horizontal(count, rest)
        # The design effect at the threshold itself, times the fewer rows.
        effect_of_fewer = _divide(_read_deviations(side) * fewer, total * count * rest).fill_null(0.0)
        size_here = greatest_size * (fewer + _FORCE) / (effect_of_fewer + half_effect * _FORCE)
        columns |= {
            size: several_clusters.then(size_here),
            unreached: several_clusters.then(greatest_size / half_effect),
            freedom: several_clusters.then(n_clusters - 1),
        }
    # The variance of the logit of the prevalence, ln X - ln Y: the sum of (X(c) / X - Y(c) / Y)**2.
    n_pos, n_neg = (_float(side, _TOTAL) for side in _SIDES)
    pos, neg = (_float(side, _ALL) for side in _SIDES)
    products = pl.col(_ALL_PRODUCTS).cast(pl.Float64)
    columns[EtaError.VARIANCE] = pos / n_pos**2 + neg / n_neg**2 - 2 * products / (n_pos * n_neg)
    frame = _add_alert_sizes(running.with_columns(*_list_moments(), **columns))
    return frame.with_columns(_correlate_rates().alias(EffectiveSize.RATE_CORRELATION)).drop(
        CLUSTER_SUMS
    )


def _list_moments() -> list[pl.Expr]:
    """Return MOMENTS, from CLUSTER_SUMS: with x of the X rows of a cluster flagged, X - x are not."""
    moments: dict[str, pl.Expr] = {}
    products, all_products = (pl.col(name).cast(pl.Float64) for name in (_PRODUCTS, _ALL_PRODUCTS))
    crossed = {side: _float(side, _CROSSED) for side in _SIDES}
    for side, flagged, silent in ((Row.POS, "tp", "fn"), (Row.NEG, "fp", "tn")):
        squares, sizes, all_squares = (_float(side, kind) for kind in (_SQUARES, _SIZES, _ALL))
        moments |= {
            name_moment(flagged, flagged): squares,
            name_moment(flagged, silent): sizes - squares,
            name_moment(silent, silent): all_squares - 2 * sizes + squares,
        }
    moments |= {
        name_moment("tp", "fp"): products,
        name_moment("tp", "tn"): crossed[Row.POS] - products,
        name_moment("fp", "fn"): crossed[Row.NEG] - products,
        name_moment("fn", "tn"): all_products - crossed[Row.POS] - crossed[Row.NEG] + products,
    }
    return [moment.alias(name) for name, moment in moments.items()]


def _add_alert_sizes(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Add ALERT_SIZES, for which both classes of a cluster are one."""
    counts = dict(zip(("tp", "fp"), (_float(side, _COUNT) for side in _SIDES), strict=True))
    totals = [_float(side, _TOTAL) for side in _SIDES]
    counts |= {"fn": totals[0] - counts["tp"], "tn": totals[1] - counts["fp"]}

    def add(*cells: str) -> Sums:
        ones = dict.fromkeys(cells, pl.lit(1.0))
        return Sums(pl.sum_horizontal(counts[cell] for cell in cells), sum_moments(ones, ones))

    pos, neg, all_products = (add("tp", "fn"), add("fp", "tn"), pl.col(_ALL_PRODUCTS).cast(pl.Float64))
    # How many rows of either class the cluster of a row has on average, by the class of the row.
    rows_of_pos, rows_of_neg = ((sums.squares + all_products) / sums.weight for sums in (pos, neg))
    alert = add("tp", "fp").mean * pl.max_horizontal(1.0, rows_of_neg / rows_of_pos)
    miss = add("fn", "tn").mean * pl.max_horizontal(1.0, rows_of_pos / rows_of_neg)
    return add_alert_sizes(
        frame,
        add,
        unseen_alert=pl.min_horizontal(alert, neg.mean),
        unseen_miss=pl.min_horizontal(miss, pos.mean),
    )


def _read_deviations(side: str, prefix: str = "") -> pl.Expr:
    """Return X**2 times the sum of squared deviations of clusters, X**4 V, computed exactly.

    With the `prefix` _HALF they are those at the threshold half way.
    """
    total, count, squares, sizes, all_squares = (
        pl.col(f"{side}_{kind}").cast(pl.Int128)
        for kind in (_TOTAL, prefix + _COUNT, prefix + _SQUARES, prefix + _SIZES, _ALL)
    )
    deviations = total * total * squares - 2 * total * count * sizes + count * count * all_squares
    return deviations.cast(pl.Float64)


def _correlate_rates() -> pl.Expr:
    """Return the correlation of both rates, as the variances of their effective sizes leave it."""
    pos, neg, n_pos, n_neg = (
        pl.col(f"{side}_{kind}").cast(pl.Int128) for kind in (_COUNT, _TOTAL) for side in _SIDES
    )
    crossed = [pl.col(f"{side}_{_CROSSED}").cast(pl.Int128) for side in _SIDES]
    products, all_products = (pl.col(name).cast(pl.Int128) for name in (_PRODUCTS, _ALL_PRODUCTS))
    # (X Y)**2 C, in whole numbers, whose sum is exact.
    difference = n_pos * n_neg * products - neg * n_pos * crossed[0] - pos * n_neg * crossed[1]
    covariance = (difference + pos * neg * all_products).cast(pl.Float64)
    scale: pl.Expr = pl.lit(1.0)
    for side, (size, _, _) in _SIZE_NAMES.items():
        total, count, n_clusters = _float(side, _TOTAL), _float(side, _COUNT), _count_clusters(side)
        variance = count * (total - count) / pl.col(size)
        scale = scale * (variance * total * total * ((n_clusters - 1) / n_clusters))
    return _divide(covariance, scale.sqrt()).clip(-1.0, 1.0).fill_null(0.0)


def _count_clusters(side: str) -> pl.Expr:
    """Return the number of clusters that a class counts as: of one size, if they are."""
    total = _float(side, _TOTAL)
    return _divide(total * total, _float(side, _ALL))


def _float(side: str, kind: str) -> pl.Expr:
    return pl.col(f"{side}_{kind}").cast(pl.Float64)


def _divide(part: pl.Expr, total: pl.Expr) -> pl.Expr:
    """Return the quotient, null where the total is not above 0."""
    return pl.when(total > 0).then(part / total)  # NaN is above 0, so a total must not be NaN
