"""Standard errors of curve metrics, from how much each example moves the estimate.

Each example has an *influence*. Except for terms of higher order, an estimate is the true value, plus
the mean influence of the positives in the sample, plus that of the negatives. With the variances V and W
of both kinds of influence among the examples, the variance of the estimate is V / n_pos + W / n_neg.

A constant added to all influences changes no variance. All examples of one score have equal influence,
and so have all negatives between two scores of positives. So a row of the curve represents all examples
down to it: `rise` is the fraction of positives on this row, `run` that of the negatives on it, and `gap`
that of the negatives between it and the row before. Influences are a sum along each curve, from the
highest score down, less their means. To be added up exactly (see `exact_arithmetic`), they are first
divided by a power of two, their scale, which none of their curve reaches.

Sources: Hampel 1974; DeLong et al. 1988; of clusters Liang and Zeger 1986; Obuchowski 1997; Wallace 1959
for Student's quantile; of parts Cochran 1977, on stratified samples, and Lumley 2004, on strata of one
example.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize
from polars_prcurve.core.curves.curve_metric_values import CurveSegments
from polars_prcurve.core.ground.exact_arithmetic import (
    is_at_least,
    repeat_in_rows,
    round_up_to_power_of_two,
    sum_shares,
    to_whole_shares,
)
from polars_prcurve.core.ground.group_keys import join_groups
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.curve_metric import CurveMetric, Influence, SegmentValues
from polars_prcurve.core.metrics.segment_column_names import Segment, Unseen
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.group_table import build_groups
from polars_prcurve.core.sweep.numbered_rows import build_numbered_rows
from polars_prcurve.core.sweep.sampling_designs import CLASS_WEIGHTS, build_class_weights
from polars_prcurve.core.sweep.sweep_column_names import SquareSegment, Sweep
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables
from polars_prcurve.core.sweep.sweep_table import PART

CLASS_SIZE_COLUMNS = {"pos": EffectiveSize.N_POS, "neg": EffectiveSize.N_NEG}
"""The columns with the number of examples of each class; of weighted examples, the effective number."""


PLACE = f"{RESERVED}place"  # number of the row among those of its curve that have influences
IS_TIED = f"{RESERVED}is_tied"  # the column with whether an example has the score of a positive


class InfluenceTable(NamedTuple):
    """The influences of metrics that go by one key, less their means."""

    key: str
    """Group.NUMBER of metrics that do not depend on prevalence, Population.NUMBER of metrics that do."""
    names: list[str]  # the names of the metrics
    # One row per key and score of positives, from the highest down, and for the last score, with
    # `<name>_pos`, `<name>_neg`, `<name>_gap`, and `<name>_pos_scale` and `<name>_neg_scale`.
    score_rows: pl.LazyFrame
    is_weighted: bool  # whether examples have weights, and add to a variance by their squares


def build_influences(
    curves: CurveSegments,
    populations: pl.LazyFrame,
    metrics_by_name: Mapping[str, CurveMetric],
    extra_columns: Sequence[
        str
    ] = (),  # columns of the populations that stay, beside those of the segments
) -> Iterator[InfluenceTable]:
    """Yield the influences of metrics that do not depend on prevalence, and of metrics that do."""
    is_same_group = pl.col(Group.NUMBER) == pl.col(Group.NUMBER).shift(1)
    fpr_above = pl.when(is_same_group).then(pl.col(Segment.FPR_OR_ZERO).shift(1)).otherwise(0.0)
    # Other metrics may have requested more rows, whose negatives are then in a gap.
    segments = curves.segments_by_hull[False].filter(pl.col(Segment.RISES) | pl.col(Sweep.ENDS_GROUP))
    place = pl.int_range(pl.len()).over(Group.NUMBER)
    segments = segments.with_columns(
        (pl.col(Segment.FPR_BEFORE) - fpr_above).alias(Segment.FPR_GAP), place.alias(PLACE)
    )
    if curves.has_square_shares:
        square_fpr_above = pl.when(is_same_group).then(pl.col(SquareSegment.FPR).shift(1)).otherwise(0.0)
        segments = segments.with_columns(
            (pl.col(SquareSegment.FPR_BEFORE) - square_fpr_above).alias(SquareSegment.FPR_GAP)
        )
    for key_column, depends_on_eta in ((Group.NUMBER, False), (Population.NUMBER, True)):
        influence_by_name = {
            name: metric.recipe.influence
            for name, metric in metrics_by_name.items()
            if metric.depends_on_eta == depends_on_eta and metric.recipe.influence is not None
        }
        if influence_by_name:
            influence_rows = segments
            if depends_on_eta:
                # The populations on the left, so that the join leaves each curve in order.
                influence_rows = curves.select_populations(populations, *extra_columns).join(
                    segments, on=Group.NUMBER, maintain_order="left_right"
                )
            segment = curves.make_segment_values(pl.col)
            influence_rows = add_influences(influence_rows, segment, key_column, influence_by_name)
            influence_rows = subtract_means(influence_rows, key_column, influence_by_name)
            yield InfluenceTable(
                key_column, list(influence_by_name), influence_rows, curves.has_square_shares
            )


def add_influences(
    influence_rows: pl.LazyFrame,
    segment: SegmentValues,
    key_column: str,
    influence_by_name: Mapping[str, Influence],
) -> pl.LazyFrame:
    """Add `<name>_pos`, `<name>_neg` and `<name>_gap`: influences of examples of a row."""
    sum_exprs: dict[str, pl.Expr] = {}
    influence_exprs: dict[str, pl.Expr] = {}
    for name, influence in influence_by_name.items():
        sum_exprs |= influence.sums(segment)
        kind_functions = (influence.positive, influence.negative, influence.between)
        influence_exprs |= {
            f"{name}_{kind}": kind_function(segment)
            for kind, kind_function in zip(_KINDS, kind_functions, strict=True)
        }
    # The influence sums over this score and lower ones: a constant minus the sum over higher ones, and
    # constants do not change a variance. One shift over all curves takes a tenth of one within each.
    is_in_curve = pl.col(key_column) == pl.col(key_column).shift(1)  # and not its first row
    sum_above_exprs = (
        pl.when(is_in_curve).then(pl.col(name).shift(1)).otherwise(0.0).alias(name) for name in sum_exprs
    )
    influence_rows = influence_rows.with_columns(**sum_exprs)
    running_sum_exprs = (pl.col(name).cum_sum().over(key_column) for name in sum_exprs)
    influence_rows = influence_rows.with_columns(running_sum_exprs)
    return influence_rows.with_columns(sum_above_exprs).with_columns(**influence_exprs)


def subtract_means(
    influence_rows: pl.LazyFrame, key_column: str, metric_names: Iterable[str]
) -> pl.LazyFrame:
    """Subtract from influences their means by class, and add `<name>_pos_scale` and `_neg_scale`."""
    # A scale is a power of two just above the largest influence of the class before that.
    scale_exprs, mean_exprs, centred_exprs = {}, {}, []
    for name, (class_name, share_column_by_kind) in product(metric_names, _CLASS_SHARES.items()):
        kind_columns = [f"{name}_{kind}" for kind in share_column_by_kind]
        scale_column, mean_column = f"{name}_{class_name}_scale", f"{name}_{class_name}_mean"
        largest_influence = pl.max_horizontal(pl.col(kind_columns).abs()).max().over(key_column)
        scale_exprs[scale_column] = round_up_to_power_of_two(largest_influence)
        mean_terms = to_whole_shares(_sum_kinds(name, class_name, share_column_by_kind))
        mean_exprs[mean_column] = sum_shares(mean_terms).over(key_column) * pl.col(scale_column)
        centred_exprs.append(pl.col(kind_columns) - pl.col(mean_column))
    influence_rows = influence_rows.with_columns(**scale_exprs).with_columns(**mean_exprs)
    return influence_rows.with_columns(centred_exprs)


def compute_variances(influence_table: InfluenceTable) -> pl.LazyFrame:
    """Return one row per key: the variances `<name>_pos` and `<name>_neg` of the influences."""
    # Of examples with weights they are means of squares by the squares of weights, so that over an
    # effective size W**2 / (sum of w**2) they are design-based variances. A tilt is such a mean of the
    # influences themselves, which is not 0 where heavy examples are unlike light ones.
    key_column, metric_names, score_rows, is_weighted = influence_table
    share_columns_of_class = _SQUARE_SHARES if is_weighted else _CLASS_SHARES
    power_by_ending = {"": 2, "_tilt": 1} if is_weighted else {"": 2}
    term_exprs, variance_exprs = {}, {}
    for name, class_name, (ending, power) in product(
        metric_names, _CLASS_SHARES, power_by_ending.items()
    ):
        # Less their mean, influences are at most twice as large as before.
        power_term = _sum_kinds(name, class_name, share_columns_of_class[class_name], power=power)
        variance_column, scale = (
            f"{name}_{class_name}{ending}",
            pl.col(f"{name}_{class_name}_scale").first(),
        )
        term_exprs[variance_column] = to_whole_shares(power_term / 4)
        variance_exprs[variance_column] = sum_shares(pl.col(variance_column)) * 4 * scale**power
    scale_columns = [
        f"{name}_{class_name}_scale" for name in metric_names for class_name in _CLASS_SHARES
    ]
    return (
        score_rows.select(key_column, *scale_columns, **term_exprs)
        .group_by(key_column)
        .agg(**variance_exprs)
    )


_KINDS = ("pos", "neg", "gap")  # of influences: of positives, of negatives on a row, and above it
_CLASS_SHARES = {"pos": {"pos": Segment.RISE}, "neg": {"neg": Segment.RUN, "gap": Segment.FPR_GAP}}
"""The kinds of influences of each class, with the share of the class that has each on a row."""
_SQUARE_SHARES = {
    "pos": {"pos": SquareSegment.RISE},
    "neg": {"neg": SquareSegment.RUN, "gap": SquareSegment.FPR_GAP},
}
"""The same, with the share of the squared weights of the class."""


def _sum_kinds(
    value_name: str, class_name: str, share_column_by_kind: Mapping[str, str], *, power: int = 1
) -> pl.Expr:
    """Return the contribution of a row to the mean of a class: of influences by scale, or of squares."""
    scale = pl.col(f"{value_name}_{class_name}_scale")
    influences_and_shares = (
        (pl.col(f"{value_name}_{kind}"), pl.col(share_column))
        for kind, share_column in share_column_by_kind.items()
    )
    return pl.sum_horizontal(
        (influence / scale) ** power * share for influence, share in influences_and_shares
    )


def add_places(example_rows: pl.LazyFrame) -> pl.LazyFrame:
    """Add PLACE, the number of scores of positives above, and whether an example IS_TIED to one."""
    scores = pl.col(Row.SCORE).filter(pl.col(Row.POS) > 0).drop_nulls().unique().sort(descending=True)
    n_higher = scores.search_sorted(pl.col(Row.SCORE), side="left", descending=True).cast(pl.Int64)
    # What was never scored lies below all of them, as one more score.
    is_unscored = pl.col(Row.SCORE).is_null()
    n_higher = pl.when(is_unscored).then(scores.len().cast(pl.Int64)).otherwise(n_higher)
    example_rows = example_rows.with_columns(n_higher.over(Group.NUMBER).alias(PLACE))
    # Scores below all positives find the null at the end; so do all scores where there are no positives.
    next_score = scores.extend_constant(None, 1).gather(pl.col(PLACE))
    is_tied = is_unscored | (next_score == pl.col(Row.SCORE)).fill_null(False)
    return example_rows.with_columns(is_tied.over(Group.NUMBER).alias(IS_TIED))


def join_influences(cells: pl.LazyFrame, influence_table: InfluenceTable) -> pl.LazyFrame:
    """Return cells of a place beside their influences, `<name>_pos` and `_neg`, and both scales."""
    endings = (*_KINDS, "pos_scale", "neg_scale")
    influence_columns = [f"{name}_{ending}" for name in influence_table.names for ending in endings]
    key_columns = dict.fromkeys((Group.NUMBER, influence_table.key, PLACE))
    return cells.join(
        influence_table.score_rows.select(*key_columns, *influence_columns), on=[Group.NUMBER, PLACE]
    ).with_columns(
        pl.when(IS_TIED).then(f"{name}_neg").otherwise(f"{name}_gap").alias(f"{name}_neg")
        for name in influence_table.names
    )


def standard_error(
    value_name: str, influence: Influence, least_variance: pl.Expr | None = None
) -> pl.Expr:
    """Return the standard error of a metric, over its variances and class sizes; null if infinite.

    The part of the negatives is at least `least_variance`.
    """
    size_by_class = {name: pl.col(column) for name, column in CLASS_SIZE_COLUMNS.items()}
    variance_by_class = {
        class_name: pl.col(f"{value_name}_{class_name}") for class_name in size_by_class
    }
    pos_variance, neg_variance = (
        variance_by_class[class_name]
        / repeat_in_rows(size - influence.ddof, variance_by_class[class_name])
        for class_name, size in size_by_class.items()
    )
    if least_variance is not None:
        neg_variance = pl.max_horizontal(neg_variance, least_variance)
    error = (pos_variance + neg_variance).sqrt()
    # One example does not show how much examples differ.
    has_two_of_each = pl.all_horizontal(is_at_least(size, 2.0) for size in size_by_class.values())
    return pl.when(has_two_of_each & error.is_finite()).then(error)


# Rows that come in clusters, such as the images of one patient ---------------------------------

# Influences of the rows of one cluster, of both classes, are added up first: what they have in common
# does not cancel out. With u the influence of a row over the number of rows of its class (of weights,
# times its weight over their total), and G clusters, the variance of an area is
#
#     G / (G - 1) * (sum over clusters of (sum of u)**2)
#
# A class with n rows in a cluster counts as (sum of n)**2 / (sum of n**2) examples: as the number of its
# clusters, if they are of one size. That many choose the quantile of Student's distribution, and decide
# whether the interval is reliable. Where few clusters carry the error there are fewer degrees of
# freedom: with U the sum of u in a cluster and m = (sum of U**2)**2 / (sum of U**4), the clusters that
# carry it, they are 2 / (1 / m - 1 / G) (Satterthwaite 1946, with the fourth moment of the sample).
#
# A cluster that the sample lacks is worth as many rows as V is times the variance of independent rows:
# Unseen.SHARE and Unseen.MISSED_SHARE are theirs, and move the ends of an interval as in `analytic`.

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
        amount, total = (
            pl.col(class_column).cast(pl.Float64),
            pl.col(class_column).sum().over(Group.NUMBER),
        )
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


# Fields of several parts -----------------------------------------------------------------------

# Recall and fpr of a field are sums of those of its parts, with weights w that eta and share fix. So an
# example of a part moves an area of the field by its influence on the field, less the mean of these
# influences among the examples of its part and class: how many of them come from which part is no
# chance. With n examples of a class in a part, and the variance V of their influences, the variance of
# the area is
#
#     sum over parts and classes of w**2 V / n
#
# One example alone does not show how much the examples of its part differ. Its distance from the mean of
# the whole field stands in for that.

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
