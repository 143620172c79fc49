"""Curve metrics made of other metrics: the value at one threshold, or the mean over prevalences.

Sources: (W) Williams 2021, (DG) Davis and Goadrich 2006.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from numbers import Integral
from typing import Any, Literal, TypeAlias

import polars as pl

from polars_prcurve.core.ground.argument_checks import read_choice, read_number, read_pair, refuse_kind
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import is_at_least, is_at_most
from polars_prcurve.core.ground.lazy_numpy import numpy as np
from polars_prcurve.core.ground.normal_distribution import normal_cdf, normal_quantile
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.metrics.curve_metric import (
    LEAST_ETA,
    AtTarget,
    Average,
    CurveFacts,
    CurveMetric,
    Fitted,
    Limits,
    Needs,
    Recipe,
    SegmentValues,
    Step,
    Term,
    precision_at,
    require_both_classes,
    require_one_precision,
    require_positives,
)
from polars_prcurve.core.metrics.metric_base import declare_factory, write_parameter
from polars_prcurve.core.metrics.metric_lookup import find_curve_metric, find_point_metric
from polars_prcurve.core.metrics.point_formulas import precision as precision_of_rows
from polars_prcurve.core.metrics.point_formulas import recall as recall_of_rows
from polars_prcurve.core.metrics.point_metric import (
    POINT_METRICS,
    Amount,
    PointMetric,
    atanh_rest,
    choose_where,
    keep_where,
    log1p,
    maximum,
    minimum,
)
from polars_prcurve.core.metrics.segment_column_names import BinormalModel, Segment
from polars_prcurve.core.metrics.target_definitions import TARGET_KINDS, read_budget, read_per

# How prevalences between two ends are weighted: on a scale, or by a beta distribution
Prior: TypeAlias = 'Literal["uniform", "log", "logit"] | tuple[Literal["beta"], float, float]'

# The value at one threshold: at the best one, or at a target ------------------------------------


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


# Means over prevalences, by a formula or by Gauss's rule ----------------------------------------


@declare_factory("0.01, 0.5")
def integrated_average_precision(
    low: float, high: float, prior: Literal["uniform", "log", "logit"] = "uniform"
) -> CurveMetric:
    """The mean of average precision over prevalences from `low` to `high`, in closed form.

    `prior` is the scale on which all prevalences have equal weight: eta itself, its logarithm, or its
    logit. With "log" and "logit", `low` must be above 0; with "logit", `high` must be below 1.
    """
    read_choice("prior=", prior, ("uniform", "log", "logit"))
    low, high = read_pair("low, high", (low, high), "two prevalences")
    _read_exponents("integrated_average_precision", low, high, prior)
    name_prefix = f"{RESERVED}{prior}_{low!r}_{high!r}"
    start_alerts_name, v_name, complement_name, s_name = (
        f"{name_prefix}_{suffix}" for suffix in ("start", "v", "rest", "s")
    )
    odds_at_high = math.inf if high == 1 else high / (1 - high)
    odds_at_low = low / (1 - low)

    def term(segment: SegmentValues) -> Amount:
        recall, fpr = segment.recall, segment.fpr
        # With o = eta / (1 - eta), precision is o recall / (o recall + fpr), and its integral over ln o
        # is ln(o recall + fpr). Over eta the alerts grow linearly; g1 and g2 are those of `atanh_rest`.
        if prior == "logit":
            relative_growth = (odds_at_high - odds_at_low) * recall / (fpr + odds_at_low * recall)
            mean_precision = log1p(relative_growth) * (1 / math.log(odds_at_high / odds_at_low))
        else:
            v, complement, s = map(segment.column, (v_name, complement_name, s_name))
            precision_scale = recall / segment.column(start_alerts_name)
            g1 = complement * (1 + v * v * s)
            g2 = complement * (1 - complement * v * s) / 2
            mean_precision = precision_scale * (low * g1 + (high - low) * g2)
            if prior == "log":
                mean_precision = precision_scale * ((high - low) / math.log(high / low)) * g1
        return segment.rise * choose_where(fpr == 0, 1.0, mean_precision)

    steps = _bind_alerts(name_prefix, low, high)
    return CurveMetric(
        f'integrated_average_precision({write_parameter(low)}, {write_parameter(high)}, "{prior}")',
        Recipe(term, require_both_classes, steps=steps, fitted=Fitted(term, steps)),
        depends_on_eta=False,
        source="Landgrebe et al. 2006",
    )


def _bind_alerts(name_prefix: str, low: float, high: float) -> tuple[Step, ...]:
    """Return steps that bind v, 1 - v and s of `atanh_rest`, of alerts that grow with prevalence."""
    name_suffixes = ("start", "end", "gain", "v", "rest", "s")
    start_alerts_name, end_alerts_name, growth_name, v_name, complement_name, s_name = (
        f"{name_prefix}_{suffix}" for suffix in name_suffixes
    )

    def bind_alerts_at_ends(segment: SegmentValues) -> dict[str, Amount]:
        alerts_at_low, alerts_at_high = (
            (1 - eta) * segment.fpr + eta * segment.recall for eta in (low, high)
        )
        return {
            start_alerts_name: alerts_at_low,
            end_alerts_name: alerts_at_high,
            growth_name: (high - low) * (segment.recall - segment.fpr),
        }

    def bind_v(segment: SegmentValues) -> dict[str, Amount]:
        alerts_sum = segment.column(start_alerts_name) + segment.column(end_alerts_name)
        return {
            v_name: segment.column(growth_name) / alerts_sum,
            complement_name: 2 * segment.column(start_alerts_name) / alerts_sum,
        }

    def bind_s(segment: SegmentValues) -> dict[str, Amount]:
        # s is equal for v and -v. The u of alerts that fall to nearly 0 has lost its digits, and so
        # growth is measured from the lower end.
        lesser_alerts = maximum(
            minimum(segment.column(start_alerts_name), segment.column(end_alerts_name)), 1e-300
        )
        return {
            s_name: atanh_rest(
                abs(segment.column(growth_name)) / lesser_alerts, abs(segment.column(v_name))
            )
        }

    return bind_alerts_at_ends, bind_v, bind_s


@declare_factory('"average_precision", 0.01, 0.5')
def integrated(
    metric: str | CurveMetric, low: float, high: float, prior: Prior = "uniform"
) -> CurveMetric:
    """The mean of a curve metric over prevalences from `low` to `high`, by Gauss's rule in logit eta.

    `prior` is as for `integrated_average_precision`, or `("beta", a, b)` for the beta distribution, cut
    off at `low` and `high`. The mean is null where the metric is null at a prevalence in between, except
    that recall counts as 0 where no threshold meets its target. Areas under the PR curve are good to
    1e-12. Metrics with corners in eta, where another row takes over, are good to four or five digits
    (`auprg`, `best(f1)`), and metrics that jump there to two or three (`recall_at_precision`). It takes
    as long as the metric at 60 to 300 prevalences. There is no expression for it.
    """
    curve_metric = find_curve_metric(metric)
    if not curve_metric.depends_on_eta:
        raise PrcError(
            f"pass {curve_metric.name} itself: it does not depend on prevalence, so there is "
            "nothing to average"
        )
    low, high = read_pair("low, high", (low, high), "two prevalences")
    exponent_at_0, exponent_at_1 = _read_exponents("integrated", low, high, prior)
    # At eta = 0 and 1 the logit is infinite. Beyond 40 / a only exp(-40) of the weight is left.
    start_logit = math.log(low / (1 - low)) if low > 0 else -40 / exponent_at_0
    end_logit = math.log(high / (1 - high)) if high < 1 else 40 / exponent_at_1
    nodes, node_weights = np.polynomial.legendre.leggauss(24 + math.ceil(3 * (end_logit - start_logit)))
    logits = (start_logit + end_logit) / 2 + nodes * (end_logit - start_logit) / 2
    # The density of a logit: eta**a (1 - eta)**b, eta = 1 / (1 + exp(-logit)), up to a factor.
    prior_masses = node_weights * np.exp(
        -exponent_at_0 * np.logaddexp(0, -logits) - exponent_at_1 * np.logaddexp(0, logits)
    )
    # Prevalences that floats cannot distinguish from 1, or sums of shares from 0, are moved a little
    # inside.
    etas = np.clip(1 / (1 + np.exp(-logits)), LEAST_ETA, 1 - 2.0**-53)
    end_texts = map(write_parameter, (low, high))
    average = Average(
        find_none_as_zero(curve_metric),
        etas=etas.tolist(),
        weights=(prior_masses / prior_masses.sum()).tolist(),
    )
    return replace(
        curve_metric,
        name=f"integrated({', '.join([curve_metric.name, *end_texts, json.dumps(prior)])})",
        depends_on_eta=False,
        source="Landgrebe et al. 2006",
        recipe=curve_metric.recipe._replace(
            averages=average,
            influence=None,
            helpers={},
            helpers_by_pairs={},
            at_target=None,
            limits=None,
        ),
    )


def _read_exponents(function_name: str, low: float, high: float, prior: Prior) -> tuple[float, float]:
    """Return a and b of a prior as a beta distribution; with 0 it cannot reach the end at 0 or at 1."""
    exponents_by_prior = {"uniform": (1.0, 1.0), "log": (0.0, 1.0), "logit": (0.0, 0.0)}
    if isinstance(prior, str) and prior in exponents_by_prior:
        exponent_at_0, exponent_at_1 = exponents_by_prior[prior]
    else:
        expected_phrase = '"uniform", "log", "logit" or ("beta", a, b) with a and b above 0'
        if not (isinstance(prior, tuple) and len(prior) == 3 and isinstance(prior[0], str)):
            raise refuse_kind("prior=", expected_phrase, prior)
        prior_name, exponent_at_0, exponent_at_1 = (
            prior[0],
            *read_pair("prior=", prior[1:], expected_phrase),
        )
        if prior_name != "beta" or not min(exponent_at_0, exponent_at_1) > 0:
            raise refuse_kind("prior=", expected_phrase, prior)
    # With a small a or b the distribution lies so near that end that no prevalence inside represents it.
    is_0_excluded, is_1_excluded = exponent_at_0 < 0.1, exponent_at_1 < 0.1
    if not (0 <= low < high <= 1) or (is_0_excluded and low == 0) or (is_1_excluded and high == 1):
        condition_text = (
            f"0 {'<' if is_0_excluded else '<='} low < high {'<' if is_1_excluded else '<='} 1"
        )
        raise PrcError(f"{function_name} with prior={prior!r} needs {condition_text}; got {low}, {high}")
    return exponent_at_0, exponent_at_1
