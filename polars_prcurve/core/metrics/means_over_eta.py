"""Curve metrics that are means of another one over prevalences."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Literal, TypeAlias

from polars_prcurve.core.ground.argument_checks import read_choice, read_pair, refuse_kind
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.metrics.curve_metric import (
    LEAST_ETA,
    Average,
    CurveMetric,
    Fitted,
    Recipe,
    SegmentValues,
    Step,
    require_both_classes,
)
from polars_prcurve.core.metrics.curve_metrics_at_one_threshold import find_none_as_zero
from polars_prcurve.core.metrics.metric_base import declare_factory, write_parameter
from polars_prcurve.core.metrics.metric_lookup import find_curve_metric
from polars_prcurve.core.metrics.point_metric import (
    Amount,
    atanh_rest,
    choose_where,
    log1p,
    maximum,
    minimum,
)

# How prevalences between two ends are weighted: on a scale, or by a beta distribution
Prior: TypeAlias = 'Literal["uniform", "log", "logit"] | tuple[Literal["beta"], float, float]'


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
