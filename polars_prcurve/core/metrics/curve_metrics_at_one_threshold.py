"""Curve metrics that are the value of a point metric at one threshold.

Sources: (W) Williams 2021, (DG) Davis and Goadrich 2006.
"""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any, Literal

import polars as pl

from polars_prcurve.core.ground.argument_checks import read_number
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import is_at_least, is_at_most
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.normal_distribution import normal_cdf, normal_quantile
from polars_prcurve.core.metrics.curve_metric import (
    AtTarget,
    CurveFacts,
    CurveMetric,
    Fitted,
    Limits,
    Needs,
    Recipe,
    SegmentValues,
    Term,
    precision_at,
    require_both_classes,
    require_one_precision,
    require_positives,
)
from polars_prcurve.core.metrics.metric_base import declare_factory, write_parameter
from polars_prcurve.core.metrics.metric_lookup import find_point_metric
from polars_prcurve.core.metrics.point_formulas import precision as precision_of_rows
from polars_prcurve.core.metrics.point_formulas import recall as recall_of_rows
from polars_prcurve.core.metrics.point_metric import (
    POINT_METRICS,
    Amount,
    PointMetric,
    choose_where,
    keep_where,
    minimum,
)
from polars_prcurve.core.metrics.segment_column_names import BinormalModel, Segment
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS, read_budget, read_per


@declare_factory('"f1"')
def best(metric: str | PointMetric) -> CurveMetric:
    """The best value of a point metric over all thresholds.

    It is the greatest value, or the least if lower is better. The method `operating_points` returns its
    threshold.
    """
    point_metric = find_point_metric(metric)
    total_name: Literal["max", "min"] = "max" if point_metric.higher_is_better() else "min"
    needed_rows: Needs = "corners" if point_metric.falls_with_fpr else "all"
    return CurveMetric(
        f"best({point_metric.name})",
        Recipe(
            lambda segment: segment.value(point_metric),
            require_positives,
            total=total_name,
            needs=needed_rows,
        ),
        range=point_metric.range,
        direction=point_metric.direction,
        depends_on_eta=point_metric.depends_on_eta,
        source=point_metric.source,
    )


def _build_metric_at_target(metric_name: str, target: AtTarget, **recipe_changes: Any) -> CurveMetric:
    """Return the value of a point metric on the row that `operating_points` finds for a target."""
    metric, target_kind = target.metric, TARGET_KINDS[target.word]
    least_measure = target_kind.find_least(target.value / target.per)

    def is_met(segment: SegmentValues) -> Amount:
        is_target_met = target_kind.measure(segment) >= least_measure
        return (
            is_target_met & ~segment.column(Segment.IS_ADDED) if segment.has_added_end else is_target_met
        )

    # Recall is the same all along a block of rows, and rises at the first row that reaches a recall.
    needed_rows: Needs = "corners" if metric == recall_of_rows else "all"
    recipe = Recipe(
        lambda segment: segment.value(metric),
        require_positives,
        total="first" if target_kind.takes_first else "last",
        is_met=is_met,
        needs="rises" if target_kind.takes_first else needed_rows,
        at_target=target,
    )
    return CurveMetric(
        metric_name,
        recipe._replace(**recipe_changes),
        depends_on_eta=metric.depends_on_eta or target_kind.metric.depends_on_eta,
        source=metric.source,
    )


def find_none_as_zero(metric: CurveMetric) -> CurveMetric:
    """Return a metric that is 0, not undefined, if it is recall at a target that no threshold meets.

    Averages, replicates and curves over prevalences have gaps otherwise: a threshold above all scores
    meets such a target, and finds nothing.
    """
    target = metric.recipe.at_target
    if target is None or metric.is_at_threshold or target.metric != recall_of_rows:
        return metric
    # A target that is undefined without negatives is neither met nor missed.
    has_rate_target = TARGET_KINDS[target.word].metric.of_rates is not None
    require_classes = require_both_classes if has_rate_target else require_one_precision

    def finish(total: Amount, curve_facts: CurveFacts) -> Amount:
        recall = total.fill_null(0.0) if isinstance(total, pl.Expr) else np.nan_to_num(total)
        return require_classes(recall, curve_facts)

    return metric.change_recipe(finish=finish)


def _limit_recall(is_met: Term, may_be_met: Term) -> Limits:
    """Return the limits of the highest recall where a test is met, or may be met by finer scores."""
    return Limits(
        low=lambda segment: choose_where(is_met(segment), segment.recall, 0.0),
        high=lambda segment: choose_where(may_be_met(segment), segment.recall, 0.0),
    )


@declare_factory("0.9")
def recall_at_precision(precision: float) -> CurveMetric:
    """The highest recall among thresholds with at least this precision; null if there is none."""
    precision = _read_share("precision", precision)

    def is_met(segment: SegmentValues) -> Amount:
        return is_at_least(segment.value(precision_of_rows), precision)

    def may_be_met(segment: SegmentValues) -> Amount:
        corner_precision = precision_at(segment.recall, _least_fpr(segment), segment.odds)
        return is_met(segment) | is_at_least(corner_precision, precision)

    return _build_metric_at_target(
        f"recall_at_precision({write_parameter(precision)})",
        AtTarget(recall_of_rows, "precision", precision),
        limits=_limit_recall(is_met, may_be_met),
    )


@declare_factory("0.01")
def recall_at_fpr(fpr: float) -> CurveMetric:
    """The highest recall among thresholds with at most this fpr; null if there is none."""
    fpr = _read_share("fpr", fpr)
    limits = _limit_recall(
        is_met=lambda segment: is_at_most(segment.fpr, fpr),
        may_be_met=lambda segment: is_at_most(segment.fpr_before, fpr),
    )
    target = AtTarget(recall_of_rows, "fpr", fpr)
    return _build_metric_at_target(f"recall_at_fpr({write_parameter(fpr)})", target, limits=limits)


@declare_factory("0.01")
def precision_at_fpr(fpr: float) -> CurveMetric:
    """Precision at the lowest threshold with at most this fpr; null if there is none."""
    fpr = _read_share("fpr", fpr)
    return _build_metric_at_target(
        f"precision_at_fpr({write_parameter(fpr)})", AtTarget(precision_of_rows, "fpr", fpr)
    )


@declare_factory("20, 1000")
def recall_at_alerts(alerts: float, per: float) -> CurveMetric:
    """Recall at the lowest threshold with at most this many alerts among `per`; null if none is."""
    return _build_metric_at_budget("recall_at_alerts", recall_of_rows, alerts, per)


@declare_factory("20, 1000")
def precision_at_alerts(alerts: float, per: float) -> CurveMetric:
    """Precision at the lowest threshold with at most this many alerts among `per`; null if none is."""
    return _build_metric_at_budget("precision_at_alerts", precision_of_rows, alerts, per)


def _build_metric_at_budget(
    function_name: str, metric: PointMetric, alerts: float, per: float
) -> CurveMetric:
    budget, n_cases = read_budget(alerts, per), read_per(per)
    metric_name = f"{function_name}({write_parameter(budget)}, {write_parameter(n_cases)})"
    return _build_metric_at_target(metric_name, AtTarget(metric, "alerts", budget, n_cases))


@declare_factory("0.8")
def precision_at_recall(recall: float) -> CurveMetric:
    """Precision at the highest threshold that reaches a recall; null if none does."""
    recall = read_number("recall", recall, "a number in (0, 1]", lambda number: 0 < number <= 1)

    def keep_at_reach(segment: SegmentValues, value: Amount) -> Amount:
        is_reached = is_at_least(segment.recall, recall) & ~is_at_least(segment.recall_before, recall)
        return keep_where(is_reached, value)

    def find_least(segment: SegmentValues) -> Amount:
        # At worst all negatives of the score come before the positive with which recall is reached. How
        # large a step of one positive is, is not known of weighted examples.
        recall_step = 2 * segment.column(Segment.HALF_POSITIVE)
        n_steps = ((recall - segment.recall_before) / recall_step - 1e-9).ceil()
        least_recall = choose_where(
            recall_step > 0, segment.recall_before + n_steps * recall_step, recall
        )
        least_recall = minimum(least_recall, segment.recall)
        return keep_at_reach(segment, precision_at(least_recall, segment.fpr, segment.odds))

    def find_greatest(segment: SegmentValues) -> Amount:
        return keep_at_reach(segment, precision_at(segment.recall, _least_fpr(segment), segment.odds))

    # Brodersen et al. 2010, eq. 7; the outer Phi is missing there in print.
    z = -normal_quantile(recall) if recall < 1 else -math.inf

    def term_of_model(segment: SegmentValues) -> Amount:
        fpr = normal_cdf(
            -(segment.column(BinormalModel.SLOPE) * z + segment.column(BinormalModel.SHIFT))
        )
        return precision_at(recall, fpr, segment.odds)

    return _build_metric_at_target(
        f"precision_at_recall({write_parameter(recall)})",
        AtTarget(precision_of_rows, "recall", recall),
        fitted=Fitted(term_of_model),
        limits=Limits(find_least, find_greatest),
    )


@declare_factory('"precision", 0.8')
def at_threshold(metric: str | PointMetric, threshold: float) -> CurveMetric:
    """A point metric at a given threshold, as in `operating_points(threshold=)`.

    A text may name it by its metric, such as "precision_at_threshold(0.8)". It is a metric of tables
    with scores: of `summary`, `compare` and `ranking`.
    """
    point_metric = find_point_metric(metric)
    threshold_float = read_number("threshold", threshold, "a finite number", math.isfinite)
    # An integer may have more digits than a float.
    threshold = int(threshold) if isinstance(threshold, Integral) else threshold_float
    threshold_text = write_parameter(threshold)
    metric_name = f"{point_metric.name}_at_threshold({threshold_text})"
    if point_metric.name not in POINT_METRICS:
        metric_name = f"at_threshold({point_metric.name}, {threshold_text})"

    def refuse(_segment: SegmentValues) -> Amount:
        raise PrcError(
            f"call {metric_name} through summary(), compare() or ranking(), or evaluate "
            f"{point_metric.name!r} at a point of roc_points(): it needs scores"
        )

    return CurveMetric(
        metric_name,
        Recipe(refuse, at_target=AtTarget(point_metric, "threshold", threshold)),
        range=point_metric.range,
        direction=point_metric.direction,
        depends_on_eta=point_metric.depends_on_eta,
        source=point_metric.source,
    )


def _read_share(argument_name: str, value: float) -> float:
    return read_number(argument_name, value, "a number in [0, 1]", lambda number: 0 <= number <= 1)


def _least_fpr(segment: SegmentValues) -> Amount:
    """Return the least fpr at which finer scores may reach the recall of a row."""
    is_eta_0 = segment.odds == math.inf  # precision is 0 there, or undefined
    return choose_where(is_eta_0, segment.fpr, segment.fpr_before)
