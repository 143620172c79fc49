"""Standard errors and intervals of curve metrics without resampling.

    average precision  from influences; on the logit scale, with what the sample lacks
    ROC AUC            from influences (DeLong et al. 1988); the same

An interval can be trusted where no doubt of `list_doubts` holds.

Sources: DeLong et al. 1988; Clopper and Pearson 1934.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence.doubts import DOUBT, Doubts, find_first_doubt
from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize, EtaError
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.curves.curve_metric_values import CurveSegments
from polars_prcurve.core.ground.student_distribution import student_quantile
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable, is_field
from polars_prcurve.core.inputs.sample_kinds import SampleKind
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.segment_column_names import Segment, Unseen
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables
from polars_prcurve.core.uncertainty import cluster_errors_of_curve_metrics as cluster_errors
from polars_prcurve.core.uncertainty import influence
from polars_prcurve.core.uncertainty.doubts_of_curve_metrics import (
    AT_BOUND_OF_ETA,
    ONE_CLASS,
    blame_clusters,
    list_doubts,
)
from polars_prcurve.core.uncertainty.influence import standard_error
from polars_prcurve.core.uncertainty.part_errors_of_curve_metrics import (
    PartCells,
    compute_part_variances,
    count_part_cells,
)
from polars_prcurve.core.uncertainty.unseen_examples import (
    CAUTIOUS,
    LOSS,
    bind_extended,
    bind_extended_area,
    counts_unseen,
    find_ends,
)

SLOPE = "slope"  # the helper of a metric that is its derivative by logit(eta)


class CurvesWithErrors(NamedTuple):
    """The curves of a table whose metrics have errors from influences: by example, cluster, or part."""

    curves: CurveSegments
    confidence: float
    sample_kind: SampleKind
    cluster_cells: pl.LazyFrame | None
    part_cells: PartCells | None

    @classmethod
    def read(
        cls, table: ResolvedTable, sweep: SweepTables, curves: CurveSegments, confidence: float
    ) -> CurvesWithErrors:
        """Return the curves of a table, with the cells of its clusters or of the parts of its fields."""
        cluster_cells, part_cells = None, None
        if isinstance(table, ScoreTable) and table.sample.joins_rows:
            cluster_cells = cluster_errors.count_cluster_cells(table, sweep)
        if is_field(table):
            part_cells = count_part_cells(table, sweep)
        return cls(curves, confidence, table.sample, cluster_cells, part_cells)

    def compute_values(
        self, populations: pl.LazyFrame, metrics_by_name: Mapping[str, CurveMetric]
    ) -> pl.LazyFrame:
        """Return metrics with `<name>_standard_error`, `_low`, `_high` and `_doubt`, by population."""
        curves, cluster_cells = self.curves, self.cluster_cells
        populations = self._add_eta_variance(populations)
        variances_by_key = self._measure_variances(populations, metrics_by_name)
        names_with_unseen = [name for name, metric in metrics_by_name.items() if counts_unseen(metric)]
        if cluster_cells is not None and names_with_unseen:
            population_columns = populations.collect_schema().names()
            unseen_share_exprs = cluster_errors.grow_unseen_shares(names_with_unseen[0])
            populations = populations.join(
                variances_by_key[Population.NUMBER], on=Population.NUMBER, how="left"
            )
            populations = populations.with_columns(unseen_share_exprs).select(population_columns)
            curves = curves.read_from_populations(Unseen.SHARE)
        helper_metrics_by_name = {
            f"{name}_{kind}": helper_metric
            for name, metric in metrics_by_name.items()
            for kind, helper_metric in metric.recipe.helpers.items()
        }
        population_values = curves.compute_values(
            populations, {**metrics_by_name, **helper_metrics_by_name}
        )
        for key_column, key_variances in variances_by_key.items():
            population_values = population_values.join(key_variances, on=key_column, how="left")
        for name, metric in metrics_by_name.items():
            population_values = _add_interval(
                population_values, name, metric, self.confidence, self.sample_kind
            )
        return population_values

    def _add_eta_variance(self, populations: pl.LazyFrame) -> pl.LazyFrame:
        """Add EtaError.VARIANCE and MISSED_PRECISION; of clusters also the sizes that errors read."""
        # A prevalence that was counted in the table is as uncertain as both class sizes, and its error
        # is not correlated with those of recall and fpr: given the class sizes, either rate has the
        # same mean. One that was passed is exact.
        eta_variance = pl.lit(0.0)
        if self.part_cells is None:
            has_clusters = self.cluster_cells is not None
            eta_variance = pl.col(
                cluster_errors.CLUSTER_ETA_VARIANCE if has_clusters else EtaError.VARIANCE
            )
            eta_variance = pl.when(EtaError.IS_OWN).then(eta_variance).otherwise(0.0).fill_null(0.0)
        if self.cluster_cells is not None:
            populations = cluster_errors.join_cluster_sizes(populations, self.cluster_cells)
        missed_precision = pl.lit(0.0) if self.curves.has_unscored else pl.col("eta")
        return populations.with_columns(
            eta_variance.alias(EtaError.VARIANCE), missed_precision.alias(Unseen.MISSED_PRECISION)
        )

    def _measure_variances(
        self, populations: pl.LazyFrame, metrics_by_name: Mapping[str, CurveMetric]
    ) -> dict[str, pl.LazyFrame]:
        """Return the variances of influences, by the key column of each kind of metrics."""
        variances_by_key = {}
        influenced_metrics_by_name = list_influenced(metrics_by_name)
        for table in influence.build_influences(self.curves, populations, influenced_metrics_by_name):
            if self.part_cells is None:
                key_variances = influence.compute_variances(table)
            else:
                key_variances = compute_part_variances(self.part_cells, table)
            if self.cluster_cells is not None:
                cluster_variances = cluster_errors.compute_cluster_variances(self.cluster_cells, table)
                key_variances = key_variances.join(cluster_variances, on=table.key)
            variances_by_key[table.key] = key_variances
        return variances_by_key


def _add_interval(
    population_values: pl.LazyFrame,
    value_name: str,
    metric: CurveMetric,
    confidence: float,
    sample_kind: SampleKind,
) -> pl.LazyFrame:
    """Add the error of a metric, both ends and the first doubt, over its variances and helpers."""
    # One step after the other, since Polars computes an expression again for each use.
    if metric.recipe.influence is None:
        freedom = {f"{value_name}_freedom": pl.col(cluster_errors.STUDENT_FREEDOM)}
        eta_doubts = AT_BOUND_OF_ETA if metric.depends_on_eta else {}
        doubts = ONE_CLASS | eta_doubts | {"no formula: method='bootstrap'": pl.lit(True)}
        null_ends = [pl.lit(None, dtype=pl.Float64)] * 3
        return population_values.with_columns(
            **(freedom if sample_kind.joins_rows else {}),
            **_name_interval(value_name, null_ends, doubts, pl.lit(False)),
        )
    value, error = pl.col(value_name), pl.col(f"{value_name}_error")
    error_exprs = _list_errors(value_name, metric, sample_kind)
    n_deviations: float | pl.Expr = z_value(confidence)
    if sample_kind.joins_rows:
        error_exprs |= cluster_errors.find_freedom(value_name)
        n_deviations = student_quantile(z_value(confidence), pl.col(f"{value_name}_freedom"))
    is_known, is_inside = value.is_not_null() & error.is_not_null(), (value > 0) & (value < 1)
    is_varying = pl.lit(True)
    if counts_unseen(metric):
        extended_exprs = bind_extended(value_name, metric)
        # At eta = 0 and 1 it is certain.
        is_varying = (pl.col(Segment.ODDS) > 0) & pl.col(Segment.ODDS).is_finite()
    else:
        extended_exprs = bind_extended_area(value_name)
    interval_ends = find_ends(value_name, n_deviations, is_gain_by_chance=counts_unseen(metric))
    known_ends = [pl.when(is_known & is_varying).then(end) for end in interval_ends]
    error_and_ends = [pl.when(is_known & (is_inside | ~is_varying)).then(error), *known_ends]
    doubts = blame_clusters(list_doubts(value_name, metric, n_deviations, sample_kind), sample_kind)
    population_values = population_values.with_columns(**error_exprs).with_columns(**extended_exprs)
    return population_values.with_columns(**_name_interval(value_name, error_and_ends, doubts, is_known))


def _list_errors(name: str, metric: CurveMetric, sample_kind: SampleKind) -> dict[str, pl.Expr]:
    """Return the errors of a metric and of its cautious values, with that of a counted prevalence."""
    error_exprs = {}
    for value_name, influenced_metric in list_influenced({name: metric}).items():
        least_variance = None
        if value_name != name and LOSS in metric.recipe.helpers:
            # Where no negative was seen near the top, that of the half a false positive.
            least_variance = pl.col(f"{name}_{LOSS}") ** 2
        error = find_standard_error(value_name, influenced_metric, sample_kind, least_variance)
        if SLOPE in metric.recipe.helpers:
            slope = pl.col(f"{name}_{SLOPE}")
            added_variance = slope**2 * pl.col(EtaError.VARIANCE)
            if sample_kind.correlates_eta:
                added_variance = _add_counted_eta(value_name, slope)
            error = (error * error + added_variance).clip(lower_bound=0.0).sqrt()
        error_exprs[f"{value_name}_error"] = error
    return error_exprs


def _name_interval(
    value_name: str, error_and_ends: Sequence[pl.Expr], doubts: Doubts, is_known: pl.Expr
) -> dict[str, pl.Expr]:
    """Return the columns of standard error, low and high end, and the first doubt of them."""
    endings = ("standard_error", "low", "high")
    interval_exprs = {
        f"{value_name}_{ending}": interval_expr
        for ending, interval_expr in zip(endings, error_and_ends, strict=True)
    }
    return interval_exprs | {f"{value_name}_{DOUBT}": find_first_doubt(doubts, is_known)}


def _add_counted_eta(value_name: str, slope: pl.Expr) -> pl.Expr:
    """Return what the count of a prevalence adds to the variance of a value, where rows have weights."""
    # Rows with large weights move both. A positive far below lowers the value and raises the prevalence,
    # so the sum is usually less than that of both errors: it is that of influences with the slope added
    # to those of positives, and taken from those of negatives.
    sizes = pl.col(EffectiveSize.N_POS), pl.col(EffectiveSize.N_NEG)
    class_terms = (("pos", slope, sizes[0]), ("neg", -slope, sizes[1]))
    variance_terms = (
        (slope * slope + 2 * signed_slope * pl.col(f"{value_name}_{class_name}_tilt")) / size
        for class_name, signed_slope, size in class_terms
    )
    return pl.when(pl.col(EtaError.VARIANCE) > 0).then(sum(variance_terms, pl.lit(0.0))).otherwise(0.0)


def list_influenced(metrics_by_name: Mapping[str, CurveMetric]) -> dict[str, CurveMetric]:
    """Return the metrics that have influences, and their cautious values, by name."""
    influenced_metrics_by_name = {
        name: metric for name, metric in metrics_by_name.items() if metric.recipe.influence is not None
    }
    return influenced_metrics_by_name | {
        f"{name}_{CAUTIOUS}": metric.recipe.helpers[CAUTIOUS]
        for name, metric in influenced_metrics_by_name.items()
        if counts_unseen(metric)
    }


def find_standard_error(
    value_name: str, metric: CurveMetric, sample_kind: SampleKind, least_variance: pl.Expr | None = None
) -> pl.Expr:
    """Return the standard error of a metric from variances of influences, of examples or of units.

    That of the negatives is at least `least_variance`; of units, the sum of both classes is.
    """
    if metric.recipe.influence is None:
        return pl.lit(None, dtype=pl.Float64)
    if sample_kind.joins_rows:
        error = cluster_errors.cluster_standard_error(value_name)
        return error if least_variance is None else pl.max_horizontal(error, least_variance.sqrt())
    return standard_error(value_name, metric.recipe.influence, least_variance)
