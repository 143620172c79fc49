"""Standard errors and intervals of curve metrics without resampling.

    average precision  from influences; on the logit scale, with what the sample lacks
    ROC AUC            from influences (DeLong et al. 1988); the same

An interval can be trusted where no doubt of `doubts_of_curve_metrics` holds.

Sources: DeLong et al. 1988; Clopper and Pearson 1934.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence.doubts import DOUBT, Doubts, find_first_doubt
from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize, EtaError
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.ground.student_distribution import student_quantile
from polars_prcurve.core.inputs.sampling_kinds import SampleKind
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.segment_column_names import Segment
from polars_prcurve.core.uncertainty import influence
from polars_prcurve.core.uncertainty.doubts_of_curve_metrics import (
    AT_BOUND_OF_ETA,
    ONE_CLASS,
    blame_clusters,
    list_doubts,
)
from polars_prcurve.core.uncertainty.influence import cluster_standard_error, standard_error
from polars_prcurve.core.uncertainty.unseen_examples import (
    CAUTIOUS,
    LOSS,
    bind_extended,
    bind_extended_area,
    counts_unseen,
    find_ends,
)

SLOPE = "slope"  # the helper of a metric that is its derivative by logit(eta)


class IntervalPlan(NamedTuple):
    """How the interval of a metric is computed."""

    helpers: dict[str, CurveMetric]  # other metrics that it is computed from, by name
    # Columns to add, one mapping after the other, since Polars computes an expression again for each
    # use. The last ones are `<name>_standard_error`, `_low`, `_high`, `_doubt`.
    steps: Sequence[Mapping[str, pl.Expr]]


def plan_interval(
    value_name: str, metric: CurveMetric, confidence: float, sample_kind: SampleKind
) -> IntervalPlan:
    """Return how the interval of a metric is computed, over its variances."""
    recipe = metric.recipe
    helpers = {f"{value_name}_{kind}": helper_metric for kind, helper_metric in recipe.helpers.items()}
    value, error = pl.col(value_name), pl.col(f"{value_name}_error")
    if recipe.influence is None:
        null_float = pl.lit(None, dtype=pl.Float64)
        freedom_exprs = (
            {f"{value_name}_freedom": pl.col(influence.STUDENT_FREEDOM)}
            if sample_kind.joins_rows
            else {}
        )
        eta_doubts = AT_BOUND_OF_ETA if metric.depends_on_eta else {}
        doubts = ONE_CLASS | eta_doubts | {"no formula: method='bootstrap'": pl.lit(True)}
        null_exprs = _name_interval(value_name, [null_float] * 3, doubts, pl.lit(False))
        return IntervalPlan(helpers, [freedom_exprs, null_exprs])
    error_exprs = _list_errors(value_name, metric, sample_kind)
    if sample_kind.joins_rows:
        error_exprs |= influence.find_freedom(value_name)
    z = z_value(confidence)
    n_deviations = student_quantile(z, pl.col(f"{value_name}_freedom")) if sample_kind.joins_rows else z
    is_known, is_inside = value.is_not_null() & error.is_not_null(), (value > 0) & (value < 1)
    column_steps: list[Mapping[str, pl.Expr]] = [error_exprs]
    is_varying = pl.lit(True)
    if counts_unseen(metric):
        column_steps.append(bind_extended(value_name, metric))
        # At eta = 0 and 1 it is certain.
        is_varying = (pl.col(Segment.ODDS) > 0) & pl.col(Segment.ODDS).is_finite()
    else:
        column_steps.append(bind_extended_area(value_name))
    interval_ends = find_ends(value_name, n_deviations, is_gain_by_chance=counts_unseen(metric))
    known_ends = [pl.when(is_known & is_varying).then(end) for end in interval_ends]
    error_and_ends = [pl.when(is_known & (is_inside | ~is_varying)).then(error), *known_ends]
    doubts = blame_clusters(list_doubts(value_name, metric, n_deviations, sample_kind), sample_kind)
    column_steps.append(_name_interval(value_name, error_and_ends, doubts, is_known))
    return IntervalPlan(helpers, column_steps)


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
            added_variance = (
                _add_counted_eta(value_name, slope) if sample_kind.correlates_eta else added_variance
            )
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
        error = cluster_standard_error(value_name)
        return error if least_variance is None else pl.max_horizontal(error, least_variance.sqrt())
    return standard_error(value_name, metric.recipe.influence, least_variance)
