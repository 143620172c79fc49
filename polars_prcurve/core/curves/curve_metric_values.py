"""The values of curve metrics, from the segments of all groups.

    segments -> × eta     joined with the small table of groups and prevalences
             -> values    one row per group and prevalence, metrics side by side

Metrics that do not depend on prevalence are reduced before the join, and repeated after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product, zip_longest
from typing import NamedTuple, cast

import polars as pl

from polars_prcurve.core.curves.binormal import build_nodes, fit_binormal
from polars_prcurve.core.curves.curve_segments import build_hulls, build_segments, weighs_examples
from polars_prcurve.core.curves.metric_and_band_columns import build_metric_rows
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows, sum_shares, to_whole_shares
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import RateTable, ResolvedTable, ScoreTable, has_unscored
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.metrics.curve_metric import (
    Average,
    CurveFacts,
    CurveMetric,
    SegmentValues,
    Step,
    odds_against,
)
from polars_prcurve.core.metrics.point_metric import null_if_nan
from polars_prcurve.core.metrics.segment_column_names import Segment
from polars_prcurve.core.prevalence.eta_table import EtaTable, join_etas
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.group_table import class_sizes, has_class
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables
from polars_prcurve.core.sweep.sweep_table import build_sweep, check_at_end, late_checks

_WEIGHT = f"{RESERVED}weight"  # of a prevalence in the mean over several
_COLUMNS_OF_POPULATIONS = (
    Group.NUMBER,
    Population.NUMBER,
    "eta",
    Segment.ODDS,
    Population.POS_FACTOR,
    Population.NEG_FACTOR,
)
"""The columns of populations that formulas of segments read, and by which both are joined."""


class CurveSegments(NamedTuple):
    """The curves of all groups, each cut into segments that an area adds up."""

    groups: pl.LazyFrame
    segments_by_hull: Mapping[bool, pl.LazyFrame]
    """Rows of the curves (False), and of their convex hulls (True) if a metric needs them."""
    sizes: tuple[pl.Expr, pl.Expr]  # positives and negatives of a group
    facts: CurveFacts
    make_segment_values: Callable[[Callable[[str], pl.Expr]], SegmentValues]
    """From a function that finds a column by its name, to what formulas read."""
    has_square_shares: bool = False
    """Whether segments have shares of squared weights, SquareSegment.RISE and so on."""
    has_unscored: bool = False
    """Whether the last segment of a curve may be of examples that were never scored: SCORE is null."""
    columns_of_populations: tuple[str, ...] = ()
    """Columns that formulas read from populations, where segments have none."""

    def read_from_populations(self, *column_names: str) -> CurveSegments:
        """Return the curves, of which formulas read these columns at each prevalence."""
        segments_by_hull = {
            is_on_hull: segment_rows.drop(column_names, strict=False)
            for is_on_hull, segment_rows in self.segments_by_hull.items()
        }
        return self._replace(segments_by_hull=segments_by_hull, columns_of_populations=column_names)

    def select_populations(self, populations: pl.LazyFrame, *column_names: str) -> pl.LazyFrame:
        """Return what formulas of segments read of the populations, and these columns."""
        return populations.select(*_COLUMNS_OF_POPULATIONS, *self.columns_of_populations, *column_names)

    def build_populations(self, grid: EtaTable) -> pl.LazyFrame:
        """Return one row per group and prevalence, numbered in Population.NUMBER."""
        populations = join_etas(self.groups, grid, *self.sizes, is_checked=False)
        return populations.with_row_index(Population.NUMBER).with_columns(
            odds_against(pl.col("eta")).alias(Segment.ODDS)
        )

    def compute_values(
        self, populations: pl.LazyFrame, metric_by_name: Mapping[str, CurveMetric]
    ) -> pl.LazyFrame:
        """Add the value of each metric to the populations, under its name in `metric_by_name`."""
        averaged_metric_by_name: dict[str, CurveMetric] = {}
        summed_metric_by_name: dict[str, CurveMetric] = {}
        for metric_name, metric in metric_by_name.items():
            is_averaged = metric.recipe.averages is not None
            (averaged_metric_by_name if is_averaged else summed_metric_by_name)[metric_name] = metric
        fpr_of_rise = pl.when(pl.col(Segment.RISE) > 0).then(pl.col(Segment.FPR_OR_ZERO))
        least_fpr_rows = self.segments_by_hull[False].select(
            Group.NUMBER, fpr_of_rise.alias(Segment.LEAST_FPR)
        )
        population_values = populations.join(
            least_fpr_rows.group_by(Group.NUMBER).min(), on=Group.NUMBER, how="left"
        )
        # Metrics that read the same rows by the same key are reduced together, in one pass.
        for is_on_hull, depends_on_eta in product((False, True), repeat=2):
            hull_and_eta_flags = is_on_hull, depends_on_eta
            alike_metric_by_name = {
                metric_name: metric
                for metric_name, metric in summed_metric_by_name.items()
                if (metric.recipe.on_hull, metric.depends_on_eta) == hull_and_eta_flags
            }
            if alike_metric_by_name:
                key_column, eta_populations = (
                    (Population.NUMBER, populations) if depends_on_eta else (Group.NUMBER, None)
                )
                population_values = population_values.join(
                    self._sum_terms(alike_metric_by_name, is_on_hull, eta_populations),
                    on=key_column,
                    how="left",
                )
        population_values = population_values.with_columns(
            null_if_nan(metric.recipe.finish(pl.col(metric_name), self.facts)).alias(metric_name)
            for metric_name, metric in summed_metric_by_name.items()
        )
        for metric_name, metric in averaged_metric_by_name.items():
            group_means = self._average_over_etas(metric_name, metric)
            population_values = population_values.join(group_means, on=Group.NUMBER, how="left")
        return population_values

    def _average_over_etas(self, metric_name: str, metric: CurveMetric) -> pl.LazyFrame:
        """Return the mean of a metric over prevalences by group, null where one value is null."""
        averaged_metric, etas, weights = average = cast("Average", metric.recipe.averages)
        eta_frame = pl.LazyFrame({"eta": etas, _WEIGHT: weights})
        # No mean reads columns of populations, and its populations have none.
        plain_curves = self._replace(columns_of_populations=())
        node_values = plain_curves.compute_values(
            plain_curves.build_populations(EtaTable(eta_frame)), {metric_name: averaged_metric}
        )
        weighted_value = to_whole_shares(pl.col(metric_name) * (pl.col(_WEIGHT) * average.value_factor))
        node_values = node_values.select(
            Group.NUMBER, weighted_value.alias(metric_name), pl.col(metric_name).is_null().alias(_WEIGHT)
        )
        mean_value = sum_shares(pl.col(metric_name)) * (1 / average.value_factor)
        mean_value = mean_value.clip(*averaged_metric.range)  # rounding can push it just out of range
        mean_or_null = pl.when(~pl.col(_WEIGHT).any()).then(mean_value)
        return node_values.group_by(Group.NUMBER).agg(mean_or_null.alias(metric_name))

    def _sum_terms(
        self,
        metric_by_name: Mapping[str, CurveMetric],
        is_on_hull: bool,
        populations: pl.LazyFrame | None,
    ) -> pl.LazyFrame:
        """Return the totals of metrics over segments, by population; without populations, by group."""
        key_column = Group.NUMBER if populations is None else Population.NUMBER
        recipes = [metric.recipe for metric in metric_by_name.values()]
        segment_values = self.make_segment_values(pl.col)
        segment_rows = self.segments_by_hull[is_on_hull]
        if all(recipe.needs == "rises" for recipe in recipes):
            # Other metrics may have requested more rows.
            segment_rows = segment_rows.filter(pl.col(Segment.RISE) > 0)
        once_exprs = compute_columns((recipe.once for recipe in recipes), segment_values)
        segment_rows = segment_rows.with_columns(**once_exprs)
        if populations is not None:
            segment_rows = segment_rows.join(self.select_populations(populations), on=Group.NUMBER)
        for steps in zip_longest(*(recipe.steps for recipe in recipes)):
            segment_rows = segment_rows.with_columns(**compute_columns(steps, segment_values))
        term_by_name = {
            name: metric.prepare_term(segment_values) for name, metric in metric_by_name.items()
        }
        if self.has_unscored:
            for metric_name, metric in metric_by_name.items():
                term_by_name[metric_name] = metric.recipe.leave_out_unscored(term_by_name[metric_name])
        term_rows = segment_rows.select(key_column, **term_by_name)
        total_rows = term_rows.group_by(key_column).agg(
            **{name: metric.reduce_terms(pl.col(name)) for name, metric in metric_by_name.items()}
        )
        return total_rows.with_columns(
            **{name: metric.restore_total(pl.col(name)) for name, metric in metric_by_name.items()}
        )


def compute_columns(steps: Iterable[Step | None], segment_values: SegmentValues) -> dict[str, pl.Expr]:
    """Return the columns of all steps."""
    return {name: expr for step in steps if step for name, expr in step(segment_values).items()}


def number_metrics(metrics: Sequence[CurveMetric]) -> dict[str, CurveMetric]:
    """Return the metrics by the names of their columns here."""
    return {f"{RESERVED}value_{metric_number}": metric for metric_number, metric in enumerate(metrics)}


def build_curves(
    table: ResolvedTable,
    sweep_tables: SweepTables,
    metrics: Sequence[CurveMetric],
    *,
    with_last_rows: bool = False,
) -> CurveSegments:
    """Return the curves of a table, with the rows that metrics need, `with_last_rows` the last, too."""
    segment_rows = build_segments(table, sweep_tables, metrics, with_last_rows=with_last_rows)
    # Used twice or more, and Polars would compute them anew for each use.
    segments_by_hull = {
        is_on_hull: hull_rows.cache()
        for is_on_hull, hull_rows in build_hulls(table, segment_rows, metrics).items()
    }
    return _assemble_curves(table, sweep_tables.groups, segments_by_hull)._replace(
        has_square_shares=sweep_tables.has_square_shares
    )


def _assemble_curves(
    table: ResolvedTable, groups: pl.LazyFrame, segments_by_hull: Mapping[bool, pl.LazyFrame]
) -> CurveSegments:
    has_positives, has_negatives = has_class(table, Group.N_POS), has_class(table, Group.N_NEG)
    n_pos = n_neg = None
    if table.has_counts and not weighs_examples(table):
        n_pos, n_neg = pl.col(Group.N_POS).cast(pl.Float64), pl.col(Group.N_NEG).cast(pl.Float64)
        if isinstance(table, RateTable) and table.may_lack_sizes:
            # Of an empty class the number is 0 there, and not null.
            n_pos, n_neg = pl.when(has_positives).then(n_pos), pl.when(has_negatives).then(n_neg)
    eta = repeat_in_rows(pl.col("eta"), pl.col(Population.NUMBER))
    curve_facts = CurveFacts(eta, has_positives, has_negatives, pl.col(Segment.LEAST_FPR), n_pos, n_neg)
    score_table = table if isinstance(table, ScoreTable) else None  # points may end without counts

    def make_segment_values(find_column: Callable[[str], pl.Expr]) -> SegmentValues:
        segment_values = build_metric_rows(score_table, find_column)
        return replace(segment_values, has_added_end=isinstance(table, RateTable))

    size_exprs, may_lack_scores = class_sizes(table), has_unscored(table)
    return CurveSegments(
        groups,
        segments_by_hull,
        size_exprs,
        curve_facts,
        make_segment_values,
        has_unscored=may_lack_scores,
    )


def collect_curves(table: ResolvedTable, metrics: Sequence[CurveMetric]) -> CurveSegments:
    """Build, check and collect the curves, for callers that evaluate them many times."""
    sweep_tables = build_sweep(table)
    checks = late_checks(table, EtaTable(pl.LazyFrame()))
    groups = table.collect(
        check_at_end(table, sweep_tables.groups.sort(Group.NUMBER), *checks), "", n_etas=1
    )
    segment_rows = table.collect(build_segments(table, sweep_tables, metrics), "", n_etas=1).lazy()
    segments_by_hull = {
        is_on_hull: table.collect(hull_rows, "", n_etas=1).lazy()
        for is_on_hull, hull_rows in build_hulls(table, segment_rows, metrics).items()
    }
    return _assemble_curves(table, groups.lazy(), segments_by_hull)


def build_binormal_curves(table: ScoreTable, sweep_tables: SweepTables) -> CurveSegments:
    """Build the curves of the model that is fitted to each group, with nodes instead of segments."""
    nodes_by_hull = {False: build_nodes(fit_binormal(table, sweep_tables)).cache()}
    curves = _assemble_curves(table, sweep_tables.groups, nodes_by_hull)
    # Precision of a model is 0 at eta = 0.
    return curves._replace(facts=curves.facts._replace(least_fpr=pl.lit(1.0)))
