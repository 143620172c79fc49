"""Standard errors of curve metrics, from how much each example moves the estimate.

Each example has an *influence*. Except for terms of higher order, an estimate is the truth, plus the
mean influence of the positives in the sample, plus that of the negatives. With the variances V and W of
both kinds of influence among the examples, the variance of the estimate is V / n_pos + W / n_neg.

A constant added to all influences changes no variance. All examples of one score have equal influence,
and so have all negatives between two scores of positives. So a row of the curve stands for all examples
down to it: `rise` is the share of positives on this row, `run` that of the negatives on it, and `gap`
that of the negatives between it and the row before. Influences are a sum along each curve, from the
highest score down, less their means. To be added up exactly (see `exact_arithmetic`), they are first
divided by a power of two, their size, which none of their curve reaches.

Sources: Hampel 1974; DeLong et al. 1988; of clusters Liang and Zeger 1986; Obuchowski 1997; Wallace 1959
for Student's quantile; of parts Cochran 1977, on stratified samples, and Lumley 2004, on strata of one
example.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence.interval_inputs import EffectiveSize
from polars_prcurve.core.curves.curve_segments import CurveSegments
from polars_prcurve.core.ground.exact_arithmetic import (
    is_at_least,
    repeat_in_rows,
    round_up_to_power_of_two,
    sum_shares,
    to_whole_shares,
)
from polars_prcurve.core.ground.group_joins import join_groups
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.input_tables import ScoreTable
from polars_prcurve.core.inputs.row_columns import Group, Row
from polars_prcurve.core.metrics.curve_metric import CurveMetric, Influence, Rows
from polars_prcurve.core.metrics.segment_columns import Segment, Unseen
from polars_prcurve.core.prevalence.group_eta_columns import Pair
from polars_prcurve.core.sweep.grouped_rows import SweepTables, build_groups, build_numbered_rows
from polars_prcurve.core.sweep.sample_designs import CLASS_WEIGHTS, build_class_weights
from polars_prcurve.core.sweep.sweep_columns import SquareSegment, Sweep
from polars_prcurve.core.sweep.sweep_table import PART

CLASS_SIZE_COLUMNS = {"pos": EffectiveSize.N_POS, "neg": EffectiveSize.N_NEG}
"""The columns with the number of examples of each class; of weighted examples, the effective number."""


PLACE = f"{RESERVED}place"  # number of the row among those of its curve that have influences
IS_TIED = f"{RESERVED}is_tied"  # the column that tells whether an example has the score of a positive


class InfluenceTable(NamedTuple):
    """The influences of metrics that go by one key, less their means."""

    key: str
    """Group.NUMBER of metrics that do not depend on prevalence, Pair.NUMBER of metrics that do."""
    names: list[str]  # the names of the metrics
    # One row per key and score of positives, from the highest down, and for the last score, with
    # `<name>_pos`, `<name>_neg`, `<name>_gap`, and `<name>_pos_size` and `<name>_neg_size`.
    frame: pl.LazyFrame
    design: bool  # whether examples have weights, and add to a variance by their squares
    lanes: EtaLanes  # how many prevalences share a row: a name is in each lane


def build_influences(
    curves: CurveSegments,
    pairs: pl.LazyFrame,
    metrics: Mapping[str, CurveMetric],
    also: Sequence[str] = (),  # columns of the pairs that stay, beside those of the segments
    *,
    etas_per_group: int | None = None,  # puts prevalences in lanes
) -> Iterator[InfluenceTable]:
    """Yield the influences of metrics that do not depend on prevalence, and of metrics that do."""
    in_group = pl.col(Group.NUMBER) == pl.col(Group.NUMBER).shift(1)
    fpr_above = pl.when(in_group).then(pl.col(Segment.FPR_OR_ZERO).shift(1)).otherwise(0.0)
    # Other metrics may have asked for more rows, whose negatives are then in a gap.
    segments = curves.segments[False].filter(pl.col(Segment.RISES) | pl.col(Sweep.ENDS_GROUP))
    place = pl.int_range(pl.len()).over(Group.NUMBER)
    segments = segments.with_columns(
        (pl.col(Segment.FPR_BEFORE) - fpr_above).alias(Segment.FPR_GAP), place.alias(PLACE)
    )
    if curves.design:
        above = pl.when(in_group).then(pl.col(SquareSegment.FPR).shift(1)).otherwise(0.0)
        segments = segments.with_columns(
            (pl.col(SquareSegment.FPR_BEFORE) - above).alias(SquareSegment.FPR_GAP)
        )
    for key, depends_on_eta in ((Group.NUMBER, False), (Pair.NUMBER, True)):
        influences = {
            name: metric.recipe.influence
            for name, metric in metrics.items()
            if metric.depends_on_eta == depends_on_eta and metric.recipe.influence is not None
        }
        if influences:
            lanes = _plan_lanes(curves, influences, etas_per_group if depends_on_eta else None)
            frame = segments
            if depends_on_eta:
                # The pairs on the left, so that the join leaves each curve in order.
                columns = (*_PAIR_COLUMNS, *curves.of_pair)
                packed = lanes.pack(pairs, columns, (Group.NUMBER, Pair.NUMBER, *also))
                frame = packed.join(segments, on=Group.NUMBER, maintain_order="left_right")
            readers = (partial(lanes.read_column, lane) for lane in range(lanes.width))
            frame = add_influences(frame, list(map(curves.make_rows, readers)), key, influences)
            frame = subtract_means(frame, key, lanes.list_names(influences))
            yield InfluenceTable(key, list(influences), frame, curves.design, lanes)


def _plan_lanes(
    curves: CurveSegments, influences: Mapping[str, Influence], etas_per_group: int | None
) -> EtaLanes:
    """Return the lanes of as many prevalences; one if groups differ in their number, which is None."""
    rows = curves.make_rows(pl.col)
    sums = (name for influence in influences.values() for name in influence.sums(rows))
    return EtaLanes(etas_per_group or 1, frozenset((*_PAIR_COLUMNS, *curves.of_pair, *sums)))


def add_influences(
    frame: pl.LazyFrame, lanes: Sequence[Rows], key: str, influences: Mapping[str, Influence]
) -> pl.LazyFrame:
    """Add `<name>_pos`, `<name>_neg` and `<name>_gap` in each lane: influences of examples of a row."""
    columns: dict[str, pl.Expr] = {}
    for name, influence in influences.items():
        sums: dict[str, pl.Expr] = {}
        terms = {"pos": influence.positive, "neg": influence.negative, "gap": influence.between}
        for lane, rows in enumerate(lanes):
            sums |= {_name_in_lane(sum_name, lane): e for sum_name, e in influence.sums(rows).items()}
            columns |= {
                _name_in_lane(f"{name}_{kind}", lane): term(rows) for kind, term in terms.items()
            }
        frame = frame.with_columns(**sums).with_columns(
            # The influence sums over this score and lower ones: a constant minus the sum over higher
            # ones, and constants do not change a variance.
            pl.col(sum_name).cum_sum().shift(1, fill_value=0.0).over(key)
            for sum_name in sums
        )
    return frame.with_columns(**columns)


def subtract_means(frame: pl.LazyFrame, key: str, names: Iterable[str]) -> pl.LazyFrame:
    """Subtract from influences their means by class, and add `<name>_pos_size` and `<name>_neg_size`."""
    # A size is a power of two just above the largest influence of the class before that.
    sizes, means, centred = {}, {}, []
    for name, (side, shares) in product(names, _SHARES.items()):
        kinds, size, mean = (
            [f"{name}_{kind}" for kind in shares],
            f"{name}_{side}_size",
            f"{name}_{side}_mean",
        )
        largest = pl.max_horizontal(pl.col(kind).abs().max().over(key) for kind in kinds)
        sizes[size] = round_up_to_power_of_two(largest)
        terms = to_whole_shares(_sum_kinds(name, side, shares))
        means[mean] = sum_shares(terms).over(key) * pl.col(size)
        centred.append(pl.col(kinds) - pl.col(mean))
    return frame.with_columns(**sizes).with_columns(**means).with_columns(centred)


def compute_variances(influences: InfluenceTable) -> pl.LazyFrame:
    """Return one row per key: the variances `<name>_pos` and `<name>_neg` of the influences."""
    # Of examples with weights they are means of squares by the squares of weights, so that over an
    # effective size W**2 / (sum of w**2) they are design-based variances. A tilt is such a mean of the
    # influences themselves, which is not 0 where heavy examples are unlike light ones.
    key, names, frame, design, _ = influences
    shares = _SQUARE_SHARES if design else _SHARES
    powers = {"": 2, "_tilt": 1} if design else {"": 2}
    squares, variances = {}, {}
    for name, side, (kind, power) in product(names, _SHARES, powers.items()):
        # Less their mean, influences are at most twice as large as before.
        of_size = _sum_kinds(name, side, shares[side], power=power)
        column, size = f"{name}_{side}{kind}", pl.col(f"{name}_{side}_size").first()
        squares[column] = to_whole_shares(of_size / 4)
        variances[column] = sum_shares(pl.col(column)) * 4 * size**power
    sizes = [f"{name}_{side}_size" for name in names for side in _SHARES]
    return frame.select(key, *sizes, **squares).group_by(key).agg(**variances)


_KINDS = ("pos", "neg", "gap")  # of influences: of positives, of negatives on a row, and above it
_SHARES = {"pos": {"pos": Segment.RISE}, "neg": {"neg": Segment.RUN, "gap": Segment.FPR_GAP}}
"""The kinds of influences of each class, with the share of the class that has each on a row."""
_SQUARE_SHARES = {
    "pos": {"pos": SquareSegment.RISE},
    "neg": {"neg": SquareSegment.RUN, "gap": SquareSegment.FPR_GAP},
}
"""The same, with the share of the squared weights of the class."""


def _sum_kinds(name: str, side: str, shares: Mapping[str, str], *, power: int = 1) -> pl.Expr:
    """Return the contribution of a row to the mean of a class: of influences by size, or of squares."""
    size = pl.col(f"{name}_{side}_size")
    kinds = ((pl.col(f"{name}_{kind}"), pl.col(share)) for kind, share in shares.items())
    return pl.sum_horizontal((influence / size) ** power * share for influence, share in kinds)


def add_places(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Add PLACE, the number of scores of positives above, and whether an example IS_TIED to one."""
    scores = pl.col(Row.SCORE).filter(pl.col(Row.POS) > 0).drop_nulls().unique().sort(descending=True)
    higher = scores.search_sorted(pl.col(Row.SCORE), side="left", descending=True).cast(pl.Int64)
    # What was never scored lies below all of them, as one more score.
    below = pl.col(Row.SCORE).is_null()
    higher = pl.when(below).then(scores.len().cast(pl.Int64)).otherwise(higher)
    rows = rows.with_columns(higher.over(Group.NUMBER).alias(PLACE))
    # Scores below all positives find the null at the end; so do all scores where there are no positives.
    next_score = scores.extend_constant(None, 1).gather(pl.col(PLACE))
    is_tied = below | (next_score == pl.col(Row.SCORE)).fill_null(False)
    return rows.with_columns(is_tied.over(Group.NUMBER).alias(IS_TIED))


def join_influences(cells: pl.LazyFrame, influences: InfluenceTable) -> pl.LazyFrame:
    """Return cells of a place beside their influences, `<name>_pos` and `<name>_neg`, and both sizes."""
    kinds = (*_KINDS, "pos_size", "neg_size")
    columns = [f"{name}_{kind}" for name in influences.names for kind in kinds]
    keys = dict.fromkeys((Group.NUMBER, influences.key, PLACE))
    return cells.join(influences.frame.select(*keys, *columns), on=[Group.NUMBER, PLACE]).with_columns(
        pl.when(IS_TIED).then(f"{name}_neg").otherwise(f"{name}_gap").alias(f"{name}_neg")
        for name in influences.names
    )


def standard_error(name: str, influence: Influence) -> pl.Expr:
    """Return the standard error of a metric, over its variances and class sizes; null if infinite."""
    sizes = {side: pl.col(size) for side, size in CLASS_SIZE_COLUMNS.items()}
    sums = {side: pl.col(f"{name}_{side}") for side in sizes}
    of_pos, of_neg = (
        sums[side] / repeat_in_rows(size - influence.ddof, sums[side]) for side, size in sizes.items()
    )
    error = (of_pos + of_neg).sqrt()
    # One example does not tell how much examples differ.
    has_two_of_each = pl.all_horizontal(is_at_least(size, 2.0) for size in sizes.values())
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
"""The variance of the logit of the own prevalence of a group, among clusters."""
ROW_SIZES = {Row.POS: f"{RESERVED}n_pos_rows", Row.NEG: f"{RESERVED}n_neg_rows"}
"""The columns with the sizes of the classes if rows were independent."""
CLUSTER_COLUMNS = (STUDENT_FREEDOM, _N_CLUSTERS, CLUSTER_ETA_VARIANCE)
"""What errors of clusters read besides the sizes of the classes."""
_CLASSES = {
    Row.POS: (EffectiveSize.N_POS, EffectiveSize.N_POS_LEAST),
    Row.NEG: (EffectiveSize.N_NEG, EffectiveSize.N_NEG_LEAST),
}
"""The sizes that a class has, both of which are what its clusters count as."""


def count_cluster_cells(table: ScoreTable, sweep: SweepTables) -> pl.LazyFrame:
    """Return the share of each class, as POS and NEG, by group, cluster and place among positives."""
    rows = build_numbered_rows(table, sweep.groups, whole=True)
    placed_rows = add_places(rows).group_by(Group.NUMBER, Row.CLUSTER, PLACE, IS_TIED)
    cells = placed_rows.agg(pl.col(Row.POS, Row.NEG).sum())
    amounts = {name: pl.col(name).cast(pl.Float64) for name in _CLASSES}
    totals = {name: pl.col(name).sum().over(Group.NUMBER).cast(pl.Float64) for name in _CLASSES}
    shares = cells.with_columns(
        amounts[name] / repeat_in_rows(totals[name], amounts[name]) for name in _CLASSES
    )
    return shares.cache()  # read for the sizes, and for each kind of influences


def join_cluster_sizes(pairs: pl.LazyFrame, cells: pl.LazyFrame) -> pl.LazyFrame:
    """Set the sizes of pairs to what classes of `cells` count as, and add CLUSTER_COLUMNS."""
    shares = {name: to_whole_shares(pl.col(name).fill_nan(0.0)) for name in _CLASSES}
    clusters = cells.select(Group.NUMBER, Row.CLUSTER, **shares).group_by(Group.NUMBER, Row.CLUSTER)
    # A cluster moves the logit of the prevalence by its share of positives less that of negatives.
    squares = clusters.agg(sum_shares(pl.col(name)) for name in _CLASSES).select(
        Group.NUMBER,
        *(to_whole_shares(pl.col(name) ** 2) for name in _CLASSES),
        to_whole_shares((pl.col(Row.POS) - pl.col(Row.NEG)) ** 2).alias(CLUSTER_ETA_VARIANCE),
    )
    n_clusters = pl.len().cast(pl.Float64).alias(_N_CLUSTERS)
    sums = squares.group_by(Group.NUMBER).agg(sum_shares(pl.exclude(Group.NUMBER)), n_clusters)
    n = pl.col(_N_CLUSTERS)
    sizes = {size: name for name, names in _CLASSES.items() for size in names}
    sizes_of_groups = sums.select(
        Group.NUMBER,
        _N_CLUSTERS,
        pl.col(CLUSTER_ETA_VARIANCE) * (n / (n - 1)),
        *(pl.when(pl.col(name) > 0).then(1 / pl.col(name)).alias(size) for size, name in sizes.items()),
    )
    freedom = pl.min_horizontal(EffectiveSize.N_POS, EffectiveSize.N_NEG) - 1
    sizes_of_groups = sizes_of_groups.with_columns(freedom.alias(STUDENT_FREEDOM))
    of_rows = pairs.rename({names[0]: ROW_SIZES[name] for name, names in _CLASSES.items()})
    return of_rows.drop(*sizes, strict=False).join(
        sizes_of_groups, on=Group.NUMBER, how="left", maintain_order="left"
    )


def grow_unseen_shares(value: str) -> list[pl.Expr]:
    """Return Unseen.SHARE and MISSED_SHARE of a cluster, over the variances `<value>_pos` and `_neg`."""
    sides = (("pos", Row.POS), ("neg", Row.NEG))
    terms = (pl.col(f"{value}_{side}") / pl.col(ROW_SIZES[n]) for side, n in sides)
    of_rows = sum(terms, pl.lit(0.0))
    # One unseen row of n + 1 is a share s = 1 / (n + 1). A cluster worth d rows is d / (n + d).
    effect = (cluster_standard_error(value) ** 2 / of_rows).fill_nan(1.0).clip(lower_bound=1.0)
    return [
        (effect * pl.col(name) / (1 - pl.col(name) + effect * pl.col(name))).alias(name)
        for name in (Unseen.SHARE, Unseen.MISSED_SHARE)
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
            pl.col(f"{name}_pos") * pl.col(Row.POS).fill_nan(0.0)
            + pl.col(f"{name}_neg") * pl.col(Row.NEG).fill_nan(0.0),
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
    shares = {name: to_whole_shares(cluster_term / size) for name, (cluster_term, size) in terms.items()}
    bounds = {f"{name}_most": size for name, (_, size) in terms.items()}
    sums = (sum_shares(pl.col(name)).alias(name) for name in terms)
    clusters = cells.select(*keys, Row.CLUSTER, **shares, **bounds).group_by(*keys, Row.CLUSTER)
    powers = {"of_clusters": 2, "of_fourths": 4}
    power_terms = {
        f"{name}_{kind}": to_whole_shares(pl.col(name) ** power)
        for name in terms
        for kind, power in powers.items()
    }
    of_clusters = clusters.agg(*sums, pl.col(*bounds).first()).select(*keys, *bounds, **power_terms)
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
# One example alone does not tell how much the examples of its part differ. Its distance from the mean of
# the whole field stands in for that.

_PART_CLASSES = {
    "pos": (Row.POS, Group.N_POS, CLASS_WEIGHTS[Group.N_POS], EffectiveSize.N_POS),
    "neg": (Row.NEG, Group.N_NEG, CLASS_WEIGHTS[Group.N_NEG], EffectiveSize.N_NEG),
}  # the columns of one class: its share in a cell, examples of a part, weight, and effective size
_FIELD = f"{RESERVED}field"  # the number of a field


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
    numbered = build_groups(parts_table, [])
    fields = sweep.groups.select(
        *table.by, pl.col(Group.NUMBER).alias(_FIELD), *CLASS_SIZE_COLUMNS.values()
    )
    parts = join_groups(
        numbered.select(*parts_table.by, Group.NUMBER), build_class_weights(table), parts_table.by
    )
    parts = join_groups(parts, fields, table.by).rename({Group.NUMBER: PART, _FIELD: Group.NUMBER})
    sizes = (*CLASS_WEIGHTS.values(), *CLASS_SIZE_COLUMNS.values())
    parts = parts.select(PART, Group.NUMBER, Group.N_POS, Group.N_NEG, *sizes).cache()
    rises = (pl.col(Sweep.CUM_POS) > pl.col(Sweep.CUM_POS_ABOVE)).cast(pl.Int64)
    places = sweep.rows.select(Group.NUMBER, Row.SCORE, rises.alias(PLACE))
    places = places.with_columns(
        pl.col(PLACE).cum_sum().over(Group.NUMBER) - pl.col(PLACE), (pl.col(PLACE) > 0).alias(IS_TIED)
    )
    rows = build_numbered_rows(parts_table, numbered).rename({Group.NUMBER: PART})
    rows = rows.join(parts.select(PART, Group.NUMBER, Group.N_POS, Group.N_NEG), on=PART)
    cells = rows.join(places, on=[Group.NUMBER, Row.SCORE]).group_by(Group.NUMBER, PART, PLACE, IS_TIED)
    # Counts are whole, so that sums of floats lose nothing.
    counts = cells.agg(pl.col(Row.POS, Row.NEG).sum(), pl.col(Group.N_POS, Group.N_NEG).first())
    shares = ((pl.col(share) / pl.col(n)).alias(share) for share, n, *_ in _PART_CLASSES.values())
    return PartCells(counts.with_columns(shares).drop(Group.N_POS, Group.N_NEG).cache(), parts)


def compute_part_variances(part_cells: PartCells, influences: InfluenceTable) -> pl.LazyFrame:
    """Return one row per key: `<name>_pos` and `<name>_neg`, which `standard_error` reads."""
    # Of both classes of the field, times the effective sizes less 1.
    key, names, *_ = influences
    sizes = [f"{name}_{side}_size" for name in names for side in _PART_CLASSES]
    moments = {}
    for name, side in product(names, _PART_CLASSES):
        # Less their mean over the field, influences are at most twice the size.
        scaled = pl.col(f"{name}_{side}") / (2 * pl.col(f"{name}_{side}_size"))
        for power in (1, 2):
            part = scaled**power * pl.col(_PART_CLASSES[side][0])
            moments[f"{name}_{side}_{power}"] = to_whole_shares(part.fill_nan(0.0).fill_null(0.0))
    by_part = (
        join_influences(part_cells.cells, influences)
        .select(key, PART, *sizes, **moments)
        .group_by(key, PART)
    )
    sums = [sum_shares(pl.col(moment)).alias(moment) for moment in moments]
    parts = by_part.agg(sums + [pl.col(size).first() for size in sizes])
    parts = parts.join(part_cells.parts.drop(Group.NUMBER), on=PART)
    terms, totals = {}, {}
    for name, (side, (_, size, weight, effective)) in product(names, _PART_CLASSES.items()):
        mean, square = pl.col(f"{name}_{side}_1"), pl.col(f"{name}_{side}_2")
        n, weighed = pl.col(size), pl.col(weight)
        within = (square - mean * mean).clip(lower_bound=0.0) / (n - 1)
        variance = pl.when(n > 1).then(within).otherwise(square)
        column = f"{name}_{side}"
        terms[column] = to_whole_shares((weighed * weighed * variance).fill_nan(0.0).fill_null(0.0))
        back = 4 * pl.col(f"{column}_size").first() ** 2
        totals[column] = sum_shares(pl.col(column)) * back * (pl.col(effective).first() - 1)
    return parts.select(key, *sizes, *CLASS_SIZE_COLUMNS.values(), **terms).group_by(key).agg(**totals)


# Lanes: up to four prevalences of a group side by side in one row -------------------------------

# Errors of paired differences join every cell of examples with every prevalence, and each row of that
# join costs a match, a copy of the cell and a look-up of the sum that it is added to. With four
# prevalences to a row these are paid once in place of four times. In lane 0 a column keeps its name; in
# lane k it is called `_prc_k_<name>`. The formulas of metrics do not know of lanes: they ask for a
# column by name, and get that of the lane at hand. Values are the same to the last bit without lanes.

_PAIR_COLUMNS = ("eta", Segment.ODDS, Pair.POS_FACTOR, Pair.NEG_FACTOR)  # what formulas read of pairs
_MOST_LANES = 4  # with more, rows no longer fit the processor's cache, and the join slows down


@dataclass(frozen=True)
class EtaLanes:
    """How many prevalences share a row, and the names of columns that each of them has for itself."""

    etas_per_group: int  # the pairs of a group follow one another in the order of NUMBER
    names: frozenset[str]  # of columns of pairs, and of those that are computed from them

    @property
    def width(self) -> int:
        """The number of lanes: as many as are nearly all in use."""
        n_rows = math.ceil(self.etas_per_group / _MOST_LANES)
        return math.ceil(self.etas_per_group / n_rows)

    def read_column(self, lane: int, name: str) -> pl.Expr:
        """Return the column of a lane that formulas know by this name."""
        return pl.col(_name_in_lane(name, lane) if name in self.names else name)

    def list_names(self, names: Iterable[str]) -> list[str]:
        """Return the names that columns have in all lanes."""
        return [_name_in_lane(name, lane) for lane in range(self.width) for name in names]

    def pack(
        self, pairs: pl.LazyFrame, columns: Iterable[str], pair_columns: Iterable[str]
    ) -> pl.LazyFrame:
        """Return one row for every `width` pairs: `pair_columns` are those of the pair in lane 0."""
        # The last row of a group may have unused lanes. They hold pairs of the next group, and `unpack`
        # drops them.
        is_first = pl.col(Pair.NUMBER) % self.etas_per_group % self.width == 0
        laned = (
            pl.col(name).shift(-lane).alias(_name_in_lane(name, lane))
            for lane in range(self.width)
            for name in columns
        )
        return pairs.select(*pair_columns, *laned).filter(is_first)

    def unpack(self, totals: pl.LazyFrame, names: Iterable[str], pair: str, group: str) -> pl.LazyFrame:
        """Return a row per pair, with `names` and `group`; the number `pair` of unused lanes is null."""
        if self.width == 1:
            return totals
        number, lanes = pl.col(pair) % self.etas_per_group, range(self.width)
        is_used = [pl.when(number + lane < self.etas_per_group) for lane in lanes]
        lists = {pair: pl.concat_list(used.then(pl.col(pair) + i) for i, used in enumerate(is_used))}
        lists |= {name: pl.concat_list(_name_in_lane(name, lane) for lane in lanes) for name in names}
        return totals.select(group, **lists).explode(*lists)


def _name_in_lane(name: str, lane: int) -> str:
    """Return the name of a column in a lane; an ending such as `_pos` may be put behind either name."""
    return f"{RESERVED}{lane}_{name}" if lane else name
