"""How many examples the positives, the negatives and the false positives of a row count as.

Errors are those of rates of so many independent examples. A `Design` answers for one kind of sample.

Let a part of a field have the share w of a class, and n examples of this class. A rate of the field is a
sum of rates of the parts, times w. If these rates are equal, its variance is that of a rate of

    1 / sum(w**2 / n)

examples: no more than the class has, and fewer where a part has few examples for its share. At a
threshold the false positives count as (sum of weights)**2 / (sum of squared weights) examples: all of
them if they weigh alike, and fewer where one part has the weight.

Source: Kish 1965.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize, EtaError
from polars_prcurve.core.ground.exact_arithmetic import (
    NEAR_ONE,
    SQUARES_NEAR_ONE,
    repeat_in_rows,
    sum_shares,
    to_whole_shares,
)
from polars_prcurve.core.ground.group_joins import aggregate_by, join_groups
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.inputs.sample_kinds import (
    CLUSTERED,
    IN_PARTS,
    INDEPENDENT,
    STRATIFIED,
    WEIGHTED,
    WEIGHTED_CLUSTERS,
    SampleKind,
)
from polars_prcurve.core.metrics.segment_column_names import Segment, Unseen
from polars_prcurve.core.prevalence.population_column_names import Part
from polars_prcurve.core.sweep import effective_clusters as clusters
from polars_prcurve.core.sweep import effective_strata as strata
from polars_prcurve.core.sweep import effective_weights as weights
from polars_prcurve.core.sweep.running_sum_columns import CLASS_SUMS, SQUARE_SUMS, to_counts
from polars_prcurve.core.sweep.sorted_group_rows import SortedRows
from polars_prcurve.core.sweep.sweep_column_names import FIELD_COLUMNS, ClusterSize, StratumLabels, Sweep

CLASS_WEIGHTS = {Group.N_POS: f"{RESERVED}pos_weight", Group.N_NEG: f"{RESERVED}neg_weight"}
"""The columns with the share that a part has of the positives, and of the negatives, of its field."""
_SIZES = {Group.N_POS: EffectiveSize.N_POS, Group.N_NEG: EffectiveSize.N_NEG}
"""The column with the effective size of a class, by that of its total."""
_SQUARES = (Row.POS_SQUARES, Row.NEG_SQUARES)
"""The amounts of a row beside its weight, from which errors of weighted rows are computed."""


@dataclass(frozen=True, eq=False)
class Design:
    """What the classes of a table count as: here the examples that they have, which count alike."""

    table: ResolvedTable
    with_sizes: bool  # whether sizes are requested; otherwise the group table has none
    summed_columns: ClassVar[tuple[str, ...]] = ()
    """The amounts of a row that are added up beside Row.POS and Row.NEG."""
    carried_columns: ClassVar[tuple[str, ...]] = ()  # the columns of rows that `add_sums` reads
    temporary_columns: ClassVar[tuple[str, ...]] = ()
    """The columns that `add_sums` makes, and `measure_rows` replaces."""
    row_columns: ClassVar[tuple[str, ...]] = ()  # what bands read of a row besides the sizes
    group_columns: ClassVar[tuple[str, ...]] = ()
    """Those of `row_columns` that are equal on all rows of a group."""
    has_varying_sizes: ClassVar[bool] = False  # whether sizes differ between the thresholds of a group
    has_square_shares: ClassVar[bool] = False  # whether rows have shares of squared weights
    weighs_rows: ClassVar[bool] = False  # whether its sums are needed for counts alone, too
    is_for_thresholds_only: ClassVar[bool] = False
    """Whether only errors at thresholds read it, because those of areas add up units by themselves."""

    def list_totals(self) -> list[pl.Expr]:
        """Return what is aggregated per group beside the totals of the classes."""
        return []

    def add_sums(self, sorted_rows: SortedRows) -> SortedRows:
        """Add `temporary_columns` to sorted rows."""
        return sorted_rows

    def measure_rows(self, running_sums: pl.LazyFrame) -> pl.LazyFrame:
        """Put what bands read instead of `temporary_columns`."""
        return running_sums

    def add_group_sizes(self, groups: pl.LazyFrame) -> pl.LazyFrame:
        """Add the sizes of the classes, if they are requested, to a group table with their totals."""
        return groups.with_columns(
            list_plain_sizes(pl.col(Group.N_POS).cast(pl.Float64), pl.col(Group.N_NEG).cast(pl.Float64))
        )

    def add_counts(self, running_sums: pl.LazyFrame) -> pl.LazyFrame:
        """Add SWEEP_COLUMNS, rates before a row, and sizes to running sums joined with their groups."""
        if not isinstance(self.table, ScoreTable):
            return running_sums  # points have rates, and counts if these are known
        sum_exprs_of_classes: list[dict[str, pl.Expr]] = []
        for sum_columns, flagged_column, silent_column, before_column in (
            (CLASS_SUMS[0], "tp", "fn", Segment.RECALL_BEFORE),
            (CLASS_SUMS[1], "fp", "tn", Segment.FPR_BEFORE),
        ):
            n_flagged = sum_columns.sum_so_far
            n_silent = pl.col(sum_columns.total) - n_flagged
            # Divide by `tp + fn`, not by the joined total: with a single group Polars may hold that as
            # one number, and it multiplies by the reciprocal of a number. 49 * (1 / 49) is not 1.
            sum_exprs = {flagged_column: n_flagged, silent_column: n_silent}
            sum_exprs |= {sum_columns.total: n_flagged + n_silent, before_column: sum_columns.sum_above}
            sum_exprs_of_classes.append(sum_exprs)
        count_exprs = to_counts(self.table, *sum_exprs_of_classes)
        return running_sums.with_columns(
            pl.col(Row.SCORE).alias("threshold"), *count_exprs
        ).with_columns(
            # The total of an empty class is null, so that its rates are null; its counts are 0.
            pl.col("fn", "tn").fill_null(0),
            (pl.col("tp") / pl.col(Group.N_POS)).alias("recall"),
            (pl.col("fp") / pl.col(Group.N_NEG)).alias("fpr"),
            pl.col(Segment.RECALL_BEFORE) / pl.col(Group.N_POS),
            pl.col(Segment.FPR_BEFORE) / pl.col(Group.N_NEG),
        )

    def add_area_columns(self, points: pl.LazyFrame) -> pl.LazyFrame:
        """Add what errors of areas read besides."""
        return points

    def sizes_without_alerts(self) -> dict[str, pl.Expr]:
        """Return the sizes at a threshold above all scores, over columns of the group table."""
        return {}


@dataclass(frozen=True, eq=False)
class WeightedDesign(Design):
    """Examples with weights; fewer where these differ, at each threshold: see `effective_weights`."""

    table: ScoreTable
    summed_columns = _SQUARES
    has_varying_sizes = True
    has_square_shares = True

    def list_totals(self) -> list[pl.Expr]:
        return weights.list_totals(self.table)

    def add_group_sizes(self, groups: pl.LazyFrame) -> pl.LazyFrame:
        return groups.with_columns(weights.group_design_columns(self.table))

    def add_counts(self, running_sums: pl.LazyFrame) -> pl.LazyFrame:
        return weights.set_design_sizes(self.table, super().add_counts(running_sums))

    def add_area_columns(self, points: pl.LazyFrame) -> pl.LazyFrame:
        return weights.add_design_shares(self.table, points)

    def sizes_without_alerts(self) -> dict[str, pl.Expr]:
        return weights.sizes_without_alerts(self.table)


class StratifiedDesign(WeightedDesign):
    """Examples drawn by strata; fewer where one has few labels for its rows: see `effective_strata`."""

    carried_columns = (Row.STRATUM, Row.STRATUM_WEIGHT)
    temporary_columns = strata.STRATA_SUMS
    row_columns = (EffectiveSize.RATE_CORRELATION, StratumLabels.N_ABOVE)
    add_sums = staticmethod(strata.add_strata_sums)
    measure_rows = staticmethod(strata.measure_strata)

    def add_group_sizes(self, groups: pl.LazyFrame) -> pl.LazyFrame:
        # The effective sizes are those of weights; strata give the rest for all rows of a group.
        size_exprs = weights.group_design_columns(self.table)[: len(_SIZES)]
        return strata.join_strata(self.table, groups).with_columns(size_exprs)

    def add_counts(self, running_sums: pl.LazyFrame) -> pl.LazyFrame:
        return strata.set_strata_sizes(super().add_counts(running_sums))

    def sizes_without_alerts(self) -> dict[str, pl.Expr]:
        return clusters.SIZES_UNREACHED


class ClusteredDesign(Design):
    """Examples in clusters; fewer where rows of one are alike: see `effective_clusters`."""

    carried_columns = (Row.CLUSTER,)
    temporary_columns = clusters.CLUSTER_SUMS
    row_columns = clusters.CLUSTER_COLUMNS
    group_columns = clusters.OF_GROUP
    has_varying_sizes = True
    is_for_thresholds_only = True
    add_sums = staticmethod(clusters.add_cluster_sums)
    measure_rows = staticmethod(clusters.measure_cluster_sizes)

    def add_group_sizes(self, groups: pl.LazyFrame) -> pl.LazyFrame:
        # Rows have a variance of their own.
        return super().add_group_sizes(groups).drop(EtaError.VARIANCE, strict=False)

    def add_counts(self, running_sums: pl.LazyFrame) -> pl.LazyFrame:
        # A row that no score reaches has no sums of its own. There none is flagged.
        points = super().add_counts(running_sums)
        points = points.with_columns(pl.col(self.group_columns).max().over(Group.NUMBER))
        return points.with_columns(
            pl.coalesce(ClusterSize.N_POS, ClusterSize.N_POS_UNREACHED).alias(EffectiveSize.N_POS),
            pl.coalesce(ClusterSize.N_NEG, ClusterSize.N_NEG_UNREACHED).alias(EffectiveSize.N_NEG),
            pl.col(EffectiveSize.RATE_CORRELATION).fill_null(0.0),
        )

    def sizes_without_alerts(self) -> dict[str, pl.Expr]:
        return clusters.SIZES_UNREACHED


class PartsDesign(Design):
    """Fields of several parts, whose rows are weighted so that each part has its share."""

    table: ScoreTable
    summed_columns = _SQUARES
    weighs_rows = True

    def add_group_sizes(self, groups: pl.LazyFrame) -> pl.LazyFrame:
        # The variance of a rate r that all parts have is r (1 - r) times the sum of weight^2 / n.
        rate_variance_exprs = (
            (pl.col(weight_column) * pl.col(weight_column) / pl.col(total_column)).fill_nan(0.0)
            for total_column, weight_column in CLASS_WEIGHTS.items()
        )
        weighted_parts = build_class_weights(self.table).with_columns(
            map(to_whole_shares, rate_variance_exprs)
        )
        by = self.table.by
        size_sum_exprs = [
            sum_shares(pl.col(CLASS_WEIGHTS[total_column])).alias(size_column)
            for total_column, size_column in _SIZES.items()
        ]
        group_sizes = aggregate_by(weighted_parts, by, size_sum_exprs).with_columns(
            pl.when(pl.col(size_column) > 0).then(1 / pl.col(size_column)).alias(size_column)
            for size_column in _SIZES.values()
        )
        groups = join_groups(groups, group_sizes, by, how="left", keep_order=True)
        return groups.with_columns(list_plain_sizes(*map(pl.col, _SIZES.values())))

    def add_counts(self, running_sums: pl.LazyFrame) -> pl.LazyFrame:
        weight_and_square_sums = [
            (pl.col(sum_columns.total), pl.col(square_columns.total))
            for sum_columns, square_columns in zip(CLASS_SUMS, SQUARE_SUMS, strict=True)
        ]
        weight_and_square_sums.append((CLASS_SUMS[1].sum_so_far, SQUARE_SUMS[1].sum_so_far))
        finite_column = pl.col(Sweep.CUM_NEG).cast(pl.Float64)
        size_exprs = {}
        for size_column, (weight_total, square_total) in zip(
            FIELD_COLUMNS, weight_and_square_sums, strict=True
        ):
            weight_sum = weight_total.fill_null(0).cast(pl.Float64) * NEAR_ONE
            # Kish 1965: (sum of w)^2 / (sum of w^2).
            square_sum = repeat_in_rows(square_total.cast(pl.Float64) * SQUARES_NEAR_ONE, finite_column)
            effective_size = weight_sum * weight_sum / square_sum
            size_exprs[size_column] = pl.when(weight_sum > 0).then(effective_size).otherwise(0.0)
        return super().add_counts(running_sums.with_columns(**size_exprs))


DESIGNS: dict[SampleKind, type[Design]] = {
    INDEPENDENT: Design,
    WEIGHTED: WeightedDesign,
    STRATIFIED: StratifiedDesign,
    CLUSTERED: ClusteredDesign,
    WEIGHTED_CLUSTERS: WeightedDesign,  # of areas: rates at a threshold have no errors
    IN_PARTS: PartsDesign,
}
"""The design of each kind of sample."""


def choose_design(table: ResolvedTable, *, with_sizes: bool, for_thresholds: bool = False) -> Design:
    """Return the design of a table; sizes matter only if `with_sizes`, for areas or `for_thresholds`."""
    design_class = DESIGNS[table.sample]
    uses_sizes = with_sizes and (for_thresholds or not design_class.is_for_thresholds_only)
    return (design_class if uses_sizes or design_class.weighs_rows else Design)(table, with_sizes)


def list_plain_sizes(n_pos: pl.Expr, n_neg: pl.Expr) -> list[pl.Expr]:
    """Return the columns of sizes, Unseen.SHARE and EtaError.VARIANCE of n_pos and n_neg examples."""
    size_exprs = {EffectiveSize.N_POS: n_pos, EffectiveSize.N_NEG: n_neg, Segment.N_NEG_LOCAL: n_neg}
    size_exprs |= {EffectiveSize.N_POS_LEAST: n_pos, EffectiveSize.N_NEG_LEAST: n_neg}
    size_exprs |= {Unseen.SHARE: 1 / (n_pos + 1), Unseen.MISSED_SHARE: 1 / (n_pos + 1)}
    # Of the logit, ln n_pos - ln n_neg. One example more would be a share 1 / (n + 1) of its class.
    size_exprs |= {EtaError.VARIANCE: 1 / n_pos + 1 / n_neg}
    return [size_expr.alias(size_column) for size_column, size_expr in size_exprs.items()]


def build_class_weights(table: ScoreTable) -> pl.LazyFrame:
    """Return the parts of a field that have a share, with CLASS_WEIGHTS, 0 for a class without any."""
    assert table.parts is not None
    part_eta = pl.col(Part.ETA)
    part_rows = table.parts.part_rows.filter(pl.col(Part.SHARE) > 0).with_columns(
        (pl.col(Part.SHARE) * part_eta).fill_null(0.0).alias(CLASS_WEIGHTS[Group.N_POS]),
        (pl.col(Part.SHARE) * (1 - part_eta)).fill_null(0.0).alias(CLASS_WEIGHTS[Group.N_NEG]),
    )
    share_sum_exprs = (
        sum_shares(to_whole_shares(pl.col(name))).alias(name) for name in CLASS_WEIGHTS.values()
    )
    total_by_weight_column = {name: f"{name}_total" for name in CLASS_WEIGHTS.values()}
    part_rows = join_groups(
        part_rows,
        aggregate_by(part_rows, table.by, share_sum_exprs).rename(total_by_weight_column),
        table.by,
    )
    return part_rows.with_columns(
        (pl.col(name) / repeat_in_rows(pl.col(total), pl.col(name))).fill_nan(0.0).alias(name)
        for name, total in total_by_weight_column.items()
    ).drop(total_by_weight_column.values())
