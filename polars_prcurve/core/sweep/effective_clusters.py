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
from polars_prcurve.core.sweep.effective_alerts import WeightSums, add_alert_sizes
from polars_prcurve.core.sweep.sorted_group_rows import SortedRows
from polars_prcurve.core.sweep.sweep_column_names import ClusterSize

_FORCE = 3  # the number of rows that the design effect half way represents
_OTHER_OF_CLASS = {Row.POS: Row.NEG, Row.NEG: Row.POS}  # either class, and the other one
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


_CLASS_SUM_NAMES = (
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
    *(f"{class_column}_{sum_name}" for class_column in _OTHER_OF_CLASS for sum_name in _CLASS_SUM_NAMES),
    _PRODUCTS,
    _ALL_PRODUCTS,
)
"""What `add_cluster_sums` adds to rows, and `measure_cluster_sizes` reads."""


def add_cluster_sums(sorted_rows: SortedRows) -> SortedRows:
    """Add CLUSTER_SUMS, whole numbers, to sorted rows: running sums and totals within each group."""
    rows = sorted_rows.frame.with_columns(
        sorted_rows.group_number.alias(Group.NUMBER),
        sorted_rows.amount_exprs[Row.POS].cast(pl.Int64).alias(Row.POS),
        sorted_rows.amount_exprs[Row.NEG].cast(pl.Int64).alias(Row.NEG),
        sorted_rows.is_last.alias(_IS_LAST),
    )
    above_suffix, total_suffix = f"{RESERVED}cluster_above", f"{RESERVED}cluster_total"
    rows = rows.with_columns(
        count.over(Group.NUMBER, Row.CLUSTER).alias(f"{column}_{sum_name}")
        for column in _OTHER_OF_CLASS
        for sum_name, count in (
            (above_suffix, pl.col(column).cum_sum()),
            (total_suffix, pl.col(column).sum()),
        )
    )
    running_term_exprs: dict[str, pl.Expr] = {}
    total_term_exprs = {_ALL_PRODUCTS: pl.col(Row.POS) * pl.col(f"{Row.NEG}_{total_suffix}")}
    for class_column, other_class_column in _OTHER_OF_CLASS.items():
        amount, n_above = pl.col(class_column), pl.col(f"{class_column}_{above_suffix}")
        n_in_cluster = pl.col(f"{class_column}_{total_suffix}")
        running_term_exprs |= {
            f"{class_column}_{_COUNT}": amount,
            f"{class_column}_{_SQUARES}": amount * (2 * n_above - amount),
            f"{class_column}_{_SIZES}": amount * n_in_cluster,
            f"{class_column}_{_CROSSED}": amount * pl.col(f"{other_class_column}_{total_suffix}"),
        }
        total_term_exprs |= {
            f"{class_column}_{_TOTAL}": amount,
            f"{class_column}_{_ALL}": amount * n_in_cluster,
        }
    # A row is of one class, so the product grows by what the cluster has of the other one.
    pos_above, neg_above = (pl.col(f"{column}_{above_suffix}") for column in _OTHER_OF_CLASS)
    running_term_exprs[_PRODUCTS] = pl.col(Row.POS) * neg_above + pl.col(Row.NEG) * pos_above
    rows = rows.with_columns(
        *(term.cum_sum().over(Group.NUMBER).alias(name) for name, term in running_term_exprs.items()),
        *(term.sum().over(Group.NUMBER).alias(name) for name, term in total_term_exprs.items()),
    )
    return sorted_rows._replace(frame=rows.with_columns(**_list_sums_at_half()))


def _list_sums_at_half() -> dict[str, pl.Expr]:
    """Return the sums of each class at the last threshold that at most half of it is above."""
    half_sum_exprs: dict[str, pl.Expr] = {}  # sums never fall: this threshold has the greatest
    for class_column in _OTHER_OF_CLASS:
        is_at_most_half = 2 * pl.col(f"{class_column}_{_COUNT}") <= pl.col(f"{class_column}_{_TOTAL}")
        for sum_name in (_COUNT, _SQUARES, _SIZES):
            sum_at_half = pl.when(pl.col(_IS_LAST) & is_at_most_half).then(f"{class_column}_{sum_name}")
            half_sum_exprs[f"{class_column}_{_HALF}{sum_name}"] = sum_at_half.max().over(Group.NUMBER)
    return half_sum_exprs


def measure_cluster_sizes(running_sums: pl.LazyFrame) -> pl.LazyFrame:
    """Replace CLUSTER_SUMS by what bands and guarantees read: sizes, freedom, moments, correlation."""
    column_exprs: dict[str, pl.Expr] = {}
    for class_column, (size_column, unreached_column, freedom_column) in _SIZE_NAMES.items():
        n_rows, n_clusters = _read_sum(class_column, _TOTAL), _count_equal_clusters(class_column)
        when_several = pl.when(n_clusters > 1)
        # The examples that a class counts as if its design effect is 1.
        greatest_size = n_rows * ((n_clusters - 1) / n_clusters)
        # The design effect half way: V over r (1 - r) / X, the variance of independent examples; without
        # such a threshold the greatest one.
        n_flagged = _read_sum(class_column, _HALF + _COUNT)
        design_effect = _divide_by_positive(
            _sum_squared_deviations(class_column, _HALF), n_rows * n_flagged * (n_rows - n_flagged)
        )
        design_effect_at_half = pl.max_horizontal(design_effect.fill_null(n_rows / n_clusters), 1.0)
        n_flagged, n_silent = _read_sum(class_column, _COUNT), n_rows - _read_sum(class_column, _COUNT)
        n_on_smaller_side = pl.min_horizontal(n_flagged, n_silent)
        # The design effect at the threshold itself, times the fewer rows.
        smaller_side_effect = _divide_by_positive(
            _sum_squared_deviations(class_column) * n_on_smaller_side, n_rows * n_flagged * n_silent
        ).fill_null(0.0)
        size_at_threshold = (
            greatest_size
            * (n_on_smaller_side + _FORCE)
            / (smaller_side_effect + design_effect_at_half * _FORCE)
        )
        column_exprs |= {
            size_column: when_several.then(size_at_threshold),
            unreached_column: when_several.then(greatest_size / design_effect_at_half),
            freedom_column: when_several.then(n_clusters - 1),
        }
    # The variance of the logit of the prevalence, ln X - ln Y: the sum of (X(c) / X - Y(c) / Y)**2.
    n_pos, n_neg = (_read_sum(class_column, _TOTAL) for class_column in _OTHER_OF_CLASS)
    pos_square_sum, neg_square_sum = (_read_sum(class_column, _ALL) for class_column in _OTHER_OF_CLASS)
    all_product_sum = pl.col(_ALL_PRODUCTS).cast(pl.Float64)
    column_exprs[EtaError.VARIANCE] = (
        pos_square_sum / n_pos**2 + neg_square_sum / n_neg**2 - 2 * all_product_sum / (n_pos * n_neg)
    )
    points = _add_sizes_of_alerts(running_sums.with_columns(*_list_moments(), **column_exprs))
    return points.with_columns(_correlate_rates().alias(EffectiveSize.RATE_CORRELATION)).drop(
        CLUSTER_SUMS
    )


def _list_moments() -> list[pl.Expr]:
    """Return MOMENTS, from CLUSTER_SUMS: with x of the X rows of a cluster flagged, X - x are not."""
    moment_exprs: dict[str, pl.Expr] = {}
    product_sum, all_product_sum = (pl.col(name).cast(pl.Float64) for name in (_PRODUCTS, _ALL_PRODUCTS))
    crossed_sum_by_class = {column: _read_sum(column, _CROSSED) for column in _OTHER_OF_CLASS}
    for class_column, flagged_cell, silent_cell in ((Row.POS, "tp", "fn"), (Row.NEG, "fp", "tn")):
        square_sum, size_sum, all_square_sum = (
            _read_sum(class_column, sum_name) for sum_name in (_SQUARES, _SIZES, _ALL)
        )
        moment_exprs |= {
            name_moment(flagged_cell, flagged_cell): square_sum,
            name_moment(flagged_cell, silent_cell): size_sum - square_sum,
            name_moment(silent_cell, silent_cell): all_square_sum - 2 * size_sum + square_sum,
        }
    moment_exprs |= {
        name_moment("tp", "fp"): product_sum,
        name_moment("tp", "tn"): crossed_sum_by_class[Row.POS] - product_sum,
        name_moment("fp", "fn"): crossed_sum_by_class[Row.NEG] - product_sum,
        name_moment("fn", "tn"): all_product_sum
        - crossed_sum_by_class[Row.POS]
        - crossed_sum_by_class[Row.NEG]
        + product_sum,
    }
    return [moment.alias(name) for name, moment in moment_exprs.items()]


def _add_sizes_of_alerts(points: pl.LazyFrame) -> pl.LazyFrame:
    """Add ALERT_SIZES, for which both classes of a cluster are one."""
    (tp, n_pos), (fp, n_neg) = (
        (_read_sum(column, _COUNT), _read_sum(column, _TOTAL)) for column in _OTHER_OF_CLASS
    )
    count_by_cell = {"tp": tp, "fp": fp, "fn": n_pos - tp, "tn": n_neg - fp}

    def sum_cells(*cell_names: str) -> WeightSums:
        unit_slope_by_cell = dict.fromkeys(cell_names, pl.lit(1.0))
        return WeightSums(
            pl.sum_horizontal(count_by_cell[cell] for cell in cell_names),
            sum_moments(unit_slope_by_cell, unit_slope_by_cell),
        )

    pos_sums = sum_cells("tp", "fn")
    neg_sums = sum_cells("fp", "tn")
    all_product_sum = pl.col(_ALL_PRODUCTS).cast(pl.Float64)
    # How many rows of either class the cluster of a row has on average, by the class of the row.
    cluster_size_of_pos, cluster_size_of_neg = (
        (sums.squares + all_product_sum) / sums.weight for sums in (pos_sums, neg_sums)
    )
    alert_factor = pl.max_horizontal(1.0, cluster_size_of_neg / cluster_size_of_pos)
    unseen_alert_weight = sum_cells("tp", "fp").mean * alert_factor
    miss_factor = pl.max_horizontal(1.0, cluster_size_of_pos / cluster_size_of_neg)
    unseen_miss_weight = sum_cells("fn", "tn").mean * miss_factor
    return add_alert_sizes(
        points,
        sum_cells,
        unseen_alert_weight=pl.min_horizontal(unseen_alert_weight, neg_sums.mean),
        unseen_miss_weight=pl.min_horizontal(unseen_miss_weight, pos_sums.mean),
    )


def _sum_squared_deviations(class_column: str, prefix: str = "") -> pl.Expr:
    """Return X**2 times the sum of squared deviations of clusters, X**4 V, computed exactly.

    With the `prefix` _HALF they are those at the threshold half way.
    """
    n_rows, n_flagged, square_sum, size_sum, all_square_sum = (
        pl.col(f"{class_column}_{sum_name}").cast(pl.Int128)
        for sum_name in (_TOTAL, prefix + _COUNT, prefix + _SQUARES, prefix + _SIZES, _ALL)
    )
    deviation_sum = (
        n_rows * n_rows * square_sum
        - 2 * n_rows * n_flagged * size_sum
        + n_flagged * n_flagged * all_square_sum
    )
    return deviation_sum.cast(pl.Float64)


def _correlate_rates() -> pl.Expr:
    """Return the correlation of both rates, as the variances of their effective sizes leave it."""
    tp, fp, n_pos, n_neg = (
        pl.col(f"{column}_{sum_name}").cast(pl.Int128)
        for sum_name in (_COUNT, _TOTAL)
        for column in _OTHER_OF_CLASS
    )
    crossed_sums = [pl.col(f"{column}_{_CROSSED}").cast(pl.Int128) for column in _OTHER_OF_CLASS]
    product_sum, all_product_sum = (pl.col(name).cast(pl.Int128) for name in (_PRODUCTS, _ALL_PRODUCTS))
    # (X Y)**2 C, in whole numbers, whose sum is exact.
    product_difference = (
        n_pos * n_neg * product_sum - fp * n_pos * crossed_sums[0] - tp * n_neg * crossed_sums[1]
    )
    covariance = (product_difference + tp * fp * all_product_sum).cast(pl.Float64)
    variance_product: pl.Expr = pl.lit(1.0)
    for class_column, (size_column, _, _) in _SIZE_NAMES.items():
        n_rows, n_flagged = (_read_sum(class_column, sum_name) for sum_name in (_TOTAL, _COUNT))
        n_clusters = _count_equal_clusters(class_column)
        variance = n_flagged * (n_rows - n_flagged) / pl.col(size_column)
        variance_product = variance_product * (
            variance * n_rows * n_rows * ((n_clusters - 1) / n_clusters)
        )
    return _divide_by_positive(covariance, variance_product.sqrt()).clip(-1.0, 1.0).fill_null(0.0)


def _count_equal_clusters(class_column: str) -> pl.Expr:
    """Return the number of clusters that a class counts as: of one size, if they are."""
    n_rows = _read_sum(class_column, _TOTAL)
    return _divide_by_positive(n_rows * n_rows, _read_sum(class_column, _ALL))


def _read_sum(class_column: str, sum_name: str) -> pl.Expr:
    return pl.col(f"{class_column}_{sum_name}").cast(pl.Float64)


def _divide_by_positive(part: pl.Expr, total: pl.Expr) -> pl.Expr:
    """Return the quotient, null where the total is not above 0."""
    return pl.when(total > 0).then(part / total)  # NaN is above 0, so a total must not be NaN
