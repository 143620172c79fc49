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
from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize, EtaError
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.inputs.sample_kinds import name_moment
from polars_prcurve.core.sweep.effective_alerts import Sums, add_alert_sizes
from polars_prcurve.core.sweep.sorted_group_rows import SortedRows
from polars_prcurve.core.sweep.sweep_column_names import ClusterSize

_FORCE = 3  # the number of rows that the design effect half way represents
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
CLUSTER_SUMS = (*(f"{side}_{kind}" for side in _SIDES for kind in _KINDS), _PRODUCTS, _ALL_PRODUCTS)
"""What `add_cluster_sums` adds to rows, and `measure_cluster_sizes` reads."""


def add_cluster_sums(sorted_rows: SortedRows) -> SortedRows:
    """Add CLUSTER_SUMS, whole numbers, to sorted rows: running sums and totals within each group."""
    rows = sorted_rows.frame.with_columns(
        sorted_rows.group.alias(Group.NUMBER),
        sorted_rows.amounts[Row.POS].cast(pl.Int64).alias(Row.POS),
        sorted_rows.amounts[Row.NEG].cast(pl.Int64).alias(Row.NEG),
        sorted_rows.is_last.alias(_IS_LAST),
    )
    above_name, total_name = f"{RESERVED}cluster_above", f"{RESERVED}cluster_total"
    rows = rows.with_columns(
        count.over(Group.NUMBER, Row.CLUSTER).alias(f"{side}_{kind}")
        for side in _SIDES
        for kind, count in ((above_name, pl.col(side).cum_sum()), (total_name, pl.col(side).sum()))
    )
    term_exprs: dict[str, pl.Expr] = {}
    total_exprs = {_ALL_PRODUCTS: pl.col(Row.POS) * pl.col(f"{Row.NEG}_{total_name}")}
    for side, other in _SIDES.items():
        amount, x, size = pl.col(side), pl.col(f"{side}_{above_name}"), pl.col(f"{side}_{total_name}")
        term_exprs |= {
            f"{side}_{_COUNT}": amount,
            f"{side}_{_SQUARES}": amount * (2 * x - amount),
            f"{side}_{_SIZES}": amount * size,
            f"{side}_{_CROSSED}": amount * pl.col(f"{other}_{total_name}"),
        }
        total_exprs |= {f"{side}_{_TOTAL}": amount, f"{side}_{_ALL}": amount * size}
    # A row is of one class, so the product grows by what the cluster has of the other one.
    pos_above, neg_above = (pl.col(f"{side}_{above_name}") for side in _SIDES)
    term_exprs[_PRODUCTS] = pl.col(Row.POS) * neg_above + pl.col(Row.NEG) * pos_above
    rows = rows.with_columns(
        *(term.cum_sum().over(Group.NUMBER).alias(name) for name, term in term_exprs.items()),
        *(term.sum().over(Group.NUMBER).alias(name) for name, term in total_exprs.items()),
    )
    # At the last threshold that at most half of a class is above; sums never fall: it has the greatest.
    half_sum_exprs: dict[str, pl.Expr] = {}
    for side in _SIDES:
        is_at_most_half = 2 * pl.col(f"{side}_{_COUNT}") <= pl.col(f"{side}_{_TOTAL}")
        for kind in (_COUNT, _SQUARES, _SIZES):
            value = pl.when(pl.col(_IS_LAST) & is_at_most_half).then(f"{side}_{kind}")
            half_sum_exprs[f"{side}_{_HALF}{kind}"] = value.max().over(Group.NUMBER)
    return sorted_rows._replace(frame=rows.with_columns(**half_sum_exprs))


def measure_cluster_sizes(running_sums: pl.LazyFrame) -> pl.LazyFrame:
    """Replace CLUSTER_SUMS by what bands and guarantees read: sizes, freedom, moments, correlation."""
    column_exprs: dict[str, pl.Expr] = {}
    for side, (size_column, unreached_column, freedom_column) in _SIZE_NAMES.items():
        n_rows, n_clusters = _float(side, _TOTAL), _count_clusters(side)
        if_several = pl.when(n_clusters > 1)
        # The examples that a class counts as if its design effect is 1.
        greatest_size = n_rows * ((n_clusters - 1) / n_clusters)
        # The design effect half way: V over r (1 - r) / X, the variance of independent examples; without
        # such a threshold the greatest one.
        n_flagged = _float(side, _HALF + _COUNT)
        effect = _divide(_read_deviations(side, _HALF), n_rows * n_flagged * (n_rows - n_flagged))
        effect_at_half = pl.max_horizontal(effect.fill_null(n_rows / n_clusters), 1.0)
        n_flagged, n_silent = _float(side, _COUNT), n_rows - _float(side, _COUNT)
        n_fewer = pl.min_horizontal(n_flagged, n_silent)
        # The design effect at the threshold itself, times the fewer rows.
        effect_of_fewer = _divide(
            _read_deviations(side) * n_fewer, n_rows * n_flagged * n_silent
        ).fill_null(0.0)
        size_here = greatest_size * (n_fewer + _FORCE) / (effect_of_fewer + effect_at_half * _FORCE)
        column_exprs |= {
            size_column: if_several.then(size_here),
            unreached_column: if_several.then(greatest_size / effect_at_half),
            freedom_column: if_several.then(n_clusters - 1),
        }
    # The variance of the logit of the prevalence, ln X - ln Y: the sum of (X(c) / X - Y(c) / Y)**2.
    n_pos, n_neg = (_float(side, _TOTAL) for side in _SIDES)
    pos_squares, neg_squares = (_float(side, _ALL) for side in _SIDES)
    products = pl.col(_ALL_PRODUCTS).cast(pl.Float64)
    column_exprs[EtaError.VARIANCE] = (
        pos_squares / n_pos**2 + neg_squares / n_neg**2 - 2 * products / (n_pos * n_neg)
    )
    points = _add_alert_sizes(running_sums.with_columns(*_list_moments(), **column_exprs))
    return points.with_columns(_correlate_rates().alias(EffectiveSize.RATE_CORRELATION)).drop(
        CLUSTER_SUMS
    )


def _list_moments() -> list[pl.Expr]:
    """Return MOMENTS, from CLUSTER_SUMS: with x of the X rows of a cluster flagged, X - x are not."""
    moment_exprs: dict[str, pl.Expr] = {}
    products, all_products = (pl.col(name).cast(pl.Float64) for name in (_PRODUCTS, _ALL_PRODUCTS))
    crossed_of_side = {side: _float(side, _CROSSED) for side in _SIDES}
    for side, flagged_cell, silent_cell in ((Row.POS, "tp", "fn"), (Row.NEG, "fp", "tn")):
        squares, sizes, all_squares = (_float(side, kind) for kind in (_SQUARES, _SIZES, _ALL))
        moment_exprs |= {
            name_moment(flagged_cell, flagged_cell): squares,
            name_moment(flagged_cell, silent_cell): sizes - squares,
            name_moment(silent_cell, silent_cell): all_squares - 2 * sizes + squares,
        }
    moment_exprs |= {
        name_moment("tp", "fp"): products,
        name_moment("tp", "tn"): crossed_of_side[Row.POS] - products,
        name_moment("fp", "fn"): crossed_of_side[Row.NEG] - products,
        name_moment("fn", "tn"): all_products
        - crossed_of_side[Row.POS]
        - crossed_of_side[Row.NEG]
        + products,
    }
    return [moment.alias(name) for name, moment in moment_exprs.items()]


def _add_alert_sizes(points: pl.LazyFrame) -> pl.LazyFrame:
    """Add ALERT_SIZES, for which both classes of a cluster are one."""
    (tp, n_pos), (fp, n_neg) = ((_float(side, _COUNT), _float(side, _TOTAL)) for side in _SIDES)
    count_of_cell = {"tp": tp, "fp": fp, "fn": n_pos - tp, "tn": n_neg - fp}

    def add(*cells: str) -> Sums:
        unit_slope_of_cell = dict.fromkeys(cells, pl.lit(1.0))
        return Sums(
            pl.sum_horizontal(count_of_cell[cell] for cell in cells),
            sum_moments(unit_slope_of_cell, unit_slope_of_cell),
        )

    pos_sums = add("tp", "fn")
    neg_sums = add("fp", "tn")
    all_products = pl.col(_ALL_PRODUCTS).cast(pl.Float64)
    # How many rows of either class the cluster of a row has on average, by the class of the row.
    rows_of_pos, rows_of_neg = (
        (sums.squares + all_products) / sums.weight for sums in (pos_sums, neg_sums)
    )
    alert_weight = add("tp", "fp").mean * pl.max_horizontal(1.0, rows_of_neg / rows_of_pos)
    unseen_miss_weight = add("fn", "tn").mean * pl.max_horizontal(1.0, rows_of_pos / rows_of_neg)
    return add_alert_sizes(
        points,
        add,
        unseen_alert=pl.min_horizontal(alert_weight, neg_sums.mean),
        unseen_miss=pl.min_horizontal(unseen_miss_weight, pos_sums.mean),
    )


def _read_deviations(side: str, prefix: str = "") -> pl.Expr:
    """Return X**2 times the sum of squared deviations of clusters, X**4 V, computed exactly.

    With the `prefix` _HALF they are those at the threshold half way.
    """
    n_rows, n_flagged, squares, sizes, all_squares = (
        pl.col(f"{side}_{kind}").cast(pl.Int128)
        for kind in (_TOTAL, prefix + _COUNT, prefix + _SQUARES, prefix + _SIZES, _ALL)
    )
    deviations = (
        n_rows * n_rows * squares - 2 * n_rows * n_flagged * sizes + n_flagged * n_flagged * all_squares
    )
    return deviations.cast(pl.Float64)


def _correlate_rates() -> pl.Expr:
    """Return the correlation of both rates, as the variances of their effective sizes leave it."""
    tp, fp, n_pos, n_neg = (
        pl.col(f"{side}_{kind}").cast(pl.Int128) for kind in (_COUNT, _TOTAL) for side in _SIDES
    )
    crossed_exprs = [pl.col(f"{side}_{_CROSSED}").cast(pl.Int128) for side in _SIDES]
    products, all_products = (pl.col(name).cast(pl.Int128) for name in (_PRODUCTS, _ALL_PRODUCTS))
    # (X Y)**2 C, in whole numbers, whose sum is exact.
    difference = n_pos * n_neg * products - fp * n_pos * crossed_exprs[0] - tp * n_neg * crossed_exprs[1]
    covariance = (difference + tp * fp * all_products).cast(pl.Float64)
    scale: pl.Expr = pl.lit(1.0)
    for side, (size_column, _, _) in _SIZE_NAMES.items():
        n_rows, n_flagged, n_clusters = _float(side, _TOTAL), _float(side, _COUNT), _count_clusters(side)
        variance = n_flagged * (n_rows - n_flagged) / pl.col(size_column)
        scale = scale * (variance * n_rows * n_rows * ((n_clusters - 1) / n_clusters))
    return _divide(covariance, scale.sqrt()).clip(-1.0, 1.0).fill_null(0.0)


def _count_clusters(side: str) -> pl.Expr:
    """Return the number of clusters that a class counts as: of one size, if they are."""
    n_rows = _float(side, _TOTAL)
    return _divide(n_rows * n_rows, _float(side, _ALL))


def _float(side: str, kind: str) -> pl.Expr:
    return pl.col(f"{side}_{kind}").cast(pl.Float64)


def _divide(part: pl.Expr, total: pl.Expr) -> pl.Expr:
    """Return the quotient, null where the total is not above 0."""
    return pl.when(total > 0).then(part / total)  # NaN is above 0, so a total must not be NaN
