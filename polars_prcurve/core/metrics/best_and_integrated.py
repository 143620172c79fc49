"""Curve metrics made of other metrics: the value at one threshold, or the mean over prevalences.

Sources: (W) Williams 2021, (DG) Davis and Goadrich 2006.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from statistics import NormalDist
from typing import Literal, TypeAlias

from polars_prcurve.core.ground.argument_checks import read_choice, read_number, read_pair, refuse_kind
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import is_at_least, is_at_most
from polars_prcurve.core.ground.lazy_numpy import numpy as np
from polars_prcurve.core.ground.normal_distribution import normal_cdf
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.metrics.curve_metric import (
    LEAST_ETA,
    Average,
    CurveMetric,
    Finish,
    Fitted,
    Limits,
    Needs,
    Recipe,
    Rows,
    Step,
    Term,
    precision_at,
    require_all_precisions,
    require_both_classes,
    require_one_precision,
    require_positives,
)
from polars_prcurve.core.metrics.metric_base import declare_factory
from polars_prcurve.core.metrics.metric_lookup import find_curve_metric, find_point_metric
from polars_prcurve.core.metrics.point_formulas import precision as precision_of_rows
from polars_prcurve.core.metrics.point_metric import (
    Cell,
    PointMetric,
    atanh_rest,
    choose_where,
    keep_where,
    log1p,
    maximum,
    minimum,
)
from polars_prcurve.core.metrics.segment_columns import BinormalModel

# How prevalences between two ends are weighted: on a scale, or by a beta distribution
Prior: TypeAlias = 'Literal["uniform", "log", "logit"] | tuple[Literal["beta"], float, float]'

# The value at one threshold: at the best one, or at a target ------------------------------------


@declare_factory
def best(metric: str | PointMetric) -> CurveMetric:
    """The best value of a point metric over all thresholds.

    It is the greatest value, or the least if lower is better. The method `operating_points` returns its
    threshold.
    """
    point_metric = find_point_metric(metric)
    total: Literal["max", "min"] = "max" if point_metric.higher_is_better() else "min"
    needs: Needs = "corners" if point_metric.falls_with_fpr else "all"
    return CurveMetric(
        f"best({point_metric.name})",
        Recipe(lambda rows: rows.value(point_metric), require_positives, total=total, needs=needs),
        range=point_metric.range,
        direction=point_metric.direction,
        depends_on_eta=point_metric.depends_on_eta,
        source=point_metric.source,
    )


def _highest_recall(
    is_met: Term, may_be_met: Term, finish: Finish, at_fpr: float | None = None
) -> Recipe:
    """Return the recipe of the highest recall where a test is met, or may be met by finer scores."""
    limits = Limits(
        low=lambda rows: choose_where(is_met(rows), rows.recall, 0.0),
        high=lambda rows: choose_where(may_be_met(rows), rows.recall, 0.0),
    )
    return Recipe(
        limits.low,
        finish,
        total="max",
        below="zero",
        ends_only=True,
        at_fpr=at_fpr,
        limits=limits,
    )


@declare_factory
def recall_at_precision(precision: float) -> CurveMetric:
    """The highest recall among thresholds of at least this precision; 0 if there is none."""
    precision = read_number("precision", precision, "a number in [0, 1]", lambda share: 0 <= share <= 1)

    def is_met(rows: Rows) -> Cell:
        return is_at_least(rows.value(precision_of_rows), precision)

    def may_be_met(rows: Rows) -> Cell:
        corner_precision = precision_at(rows.recall, _least_fpr(rows), rows.odds)
        return is_met(rows) | is_at_least(corner_precision, precision)

    recipe = _highest_recall(is_met, may_be_met, require_all_precisions)
    return CurveMetric(f"recall_at_precision({precision:g})", recipe, source="recall")


@declare_factory
def recall_at_fpr(fpr: float) -> CurveMetric:
    """The highest recall among thresholds of at most this fpr; 0 if there is none."""
    fpr = read_number("fpr", fpr, "a number in [0, 1]", lambda share: 0 <= share <= 1)
    recipe = _highest_recall(
        is_met=lambda rows: is_at_most(rows.fpr, fpr),
        may_be_met=lambda rows: is_at_most(rows.fpr_before, fpr),
        finish=require_both_classes,
        at_fpr=fpr,
    )
    return CurveMetric(f"recall_at_fpr({fpr:g})", recipe, depends_on_eta=False, source="recall")


@declare_factory
def precision_at_recall(recall: float) -> CurveMetric:
    """Precision where recall first reaches a value, on the ROC curve joined by straight lines (DG).

    A recall between two thresholds is achieved by choosing between them at random.
    """
    recall = read_number("recall", recall, "a number in (0, 1]", lambda share: 0 < share <= 1)

    def precision_if_hit(rows: Rows, fpr: Cell) -> Cell:
        is_hit = is_at_least(rows.recall, recall) & ~is_at_least(rows.recall_before, recall)
        return keep_where(is_hit, precision_at(recall, fpr, rows.odds))

    def term(rows: Rows) -> Cell:
        share = minimum((recall - rows.recall_before) / rows.rise, 1.0)
        return precision_if_hit(rows, rows.fpr_before + rows.run * share)

    # Brodersen et al. 2010, eq. 7; the outer Phi is missing there in print.
    z = -NormalDist().inv_cdf(recall) if recall < 1 else -math.inf

    def term_of_model(rows: Rows) -> Cell:
        fpr = normal_cdf(-(rows.column(BinormalModel.SLOPE) * z + rows.column(BinormalModel.SHIFT)))
        return precision_at(recall, fpr, rows.odds)

    return CurveMetric(
        f"precision_at_recall({recall:g})",
        Recipe(
            term,
            require_one_precision,
            total="max",
            at_recall=recall,
            fitted=Fitted(term_of_model),
            limits=Limits(
                low=lambda rows: precision_if_hit(rows, rows.fpr),
                high=lambda rows: precision_if_hit(rows, _least_fpr(rows)),
            ),
        ),
        source="W 2, DG",
    )


def _least_fpr(rows: Rows) -> Cell:
    """Return the least fpr at which finer scores may reach the recall of a row."""
    is_eta_0 = rows.odds == math.inf  # precision is 0 there, or undefined
    return choose_where(is_eta_0, rows.fpr, rows.fpr_before)


# Means over prevalences, by a formula or by Gauss's rule ----------------------------------------


@declare_factory
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
    name = f"{RESERVED}{prior}_{low!r}_{high!r}"
    start_name, v_name, rest_name, s_name = (f"{name}_{part}" for part in ("start", "v", "rest", "s"))
    odds = math.inf if high == 1 else high / (1 - high)
    odds_low = low / (1 - low)

    def term(rows: Rows) -> Cell:
        recall, fpr = rows.recall, rows.fpr
        # With o = eta / (1 - eta), precision is o recall / (o recall + fpr), and its integral over ln o
        # is ln(o recall + fpr). Over eta the alerts grow linearly; g1 and g2 are those of `atanh_rest`.
        if prior == "logit":
            ratio = (odds - odds_low) * recall / (fpr + odds_low * recall)
            mean = log1p(ratio) * (1 / math.log(odds / odds_low))
        else:
            v, rest, s = map(rows.column, (v_name, rest_name, s_name))
            factor, g1 = recall / rows.column(start_name), rest * (1 + v * v * s)
            g2 = rest * (1 - rest * v * s) / 2
            mean = factor * (low * g1 + (high - low) * g2)
            if prior == "log":
                mean = factor * ((high - low) / math.log(high / low)) * g1
        return rows.rise * choose_where(fpr == 0, 1.0, mean)

    steps = _bind_alerts(name, low, high)
    return CurveMetric(
        f'integrated_average_precision({low:g}, {high:g}, "{prior}")',
        Recipe(term, require_both_classes, steps=steps, fitted=Fitted(term, steps)),
        depends_on_eta=False,
        source="Landgrebe et al. 2006",
    )


def _bind_alerts(name: str, low: float, high: float) -> tuple[Step, ...]:
    """Return steps that bind v, 1 - v and s of `atanh_rest`, of alerts that grow with prevalence."""
    names = ("start", "end", "gain", "v", "rest", "s")
    start, end, gain, v, rest, s = (f"{name}_{part}" for part in names)

    def bind_ends(rows: Rows) -> dict[str, Cell]:
        alerts_at_low, alerts_at_high = ((1 - eta) * rows.fpr + eta * rows.recall for eta in (low, high))
        return {start: alerts_at_low, end: alerts_at_high, gain: (high - low) * (rows.recall - rows.fpr)}

    def bind_v(rows: Rows) -> dict[str, Cell]:
        total = rows.column(start) + rows.column(end)
        return {v: rows.column(gain) / total, rest: 2 * rows.column(start) / total}

    def bind_s(rows: Rows) -> dict[str, Cell]:
        # s is equal for v and -v. The u of alerts that fall to nearly 0 has lost its digits, and so
        # growth is measured from the lower end.
        lower = maximum(minimum(rows.column(start), rows.column(end)), 1e-300)
        return {s: atanh_rest(abs(rows.column(gain)) / lower, abs(rows.column(v)))}

    return bind_ends, bind_v, bind_s


@declare_factory
def integrated(
    metric: str | CurveMetric, low: float, high: float, prior: Prior = "uniform"
) -> CurveMetric:
    """The mean of a curve metric over prevalences from `low` to `high`, by Gauss's rule in logit eta.

    `prior` is as for `integrated_average_precision`, or `("beta", a, b)` for the beta distribution, cut
    off at `low` and `high`. The mean is null where the metric is null at a prevalence in between. Areas
    under the PR curve are good to 1e-12. Metrics with corners in eta, where another row takes over, are
    good to four or five digits (`auprg`, `best(f1)`), and metrics that jump there to two or three
    (`recall_at_precision`). It takes as long as the metric at 60 to 300 prevalences. There is no
    expression for it.
    """
    curve_metric = find_curve_metric(metric)
    if not curve_metric.depends_on_eta:
        raise PrcError(
            f"{curve_metric.name} does not depend on prevalence, so there is nothing to average"
        )
    low, high = read_pair("low, high", (low, high), "two prevalences")
    a, b = _read_exponents("integrated", low, high, prior)
    # At eta = 0 and 1 the logit is infinite. Beyond 40 / a only exp(-40) of the weight is left.
    start = math.log(low / (1 - low)) if low > 0 else -40 / a
    end = math.log(high / (1 - high)) if high < 1 else 40 / b
    places, weights = np.polynomial.legendre.leggauss(24 + math.ceil(3 * (end - start)))
    logits = (start + end) / 2 + places * (end - start) / 2
    # The density of a logit: eta**a (1 - eta)**b, eta = 1 / (1 + exp(-logit)), up to a factor.
    masses = weights * np.exp(-a * np.logaddexp(0, -logits) - b * np.logaddexp(0, logits))
    # Prevalences that floats cannot tell from 1, or sums of shares from 0, are moved a little inside.
    etas = np.clip(1 / (1 + np.exp(-logits)), LEAST_ETA, 1 - 2.0**-53)
    averages = Average(curve_metric, etas=etas.tolist(), weights=(masses / masses.sum()).tolist())
    return replace(
        curve_metric,
        name=f"integrated({curve_metric.name}, {low:g}, {high:g}, {json.dumps(prior)})",
        depends_on_eta=False,
        source="Landgrebe et al. 2006",
        recipe=replace(
            curve_metric.recipe,
            averages=averages,
            influence=None,
            helpers={},
            at_recall=None,
            limits=None,
        ),
    )


def _read_exponents(name: str, low: float, high: float, prior: Prior) -> tuple[float, float]:
    """Return a and b of a prior as a beta distribution; with 0 it cannot reach the end at 0 or at 1."""
    exponents = {"uniform": (1.0, 1.0), "log": (0.0, 1.0), "logit": (0.0, 0.0)}
    if isinstance(prior, str) and prior in exponents:
        a, b = exponents[prior]
    else:
        expected = '"uniform", "log", "logit" or ("beta", a, b) with a and b above 0'
        if not (isinstance(prior, tuple) and len(prior) == 3 and isinstance(prior[0], str)):
            raise refuse_kind("prior=", expected, prior)
        kind, a, b = prior[0], *read_pair("prior=", prior[1:], expected)
        if kind != "beta" or not min(a, b) > 0:
            raise refuse_kind("prior=", expected, prior)
    # With a small a or b the distribution lies so near that end that no prevalence inside stands for it.
    open_low, open_high = a < 0.1, b < 0.1
    if not (0 <= low < high <= 1) or (open_low and low == 0) or (open_high and high == 1):
        ends = f"0 {'<' if open_low else '<='} low < high {'<' if open_high else '<='} 1"
        raise PrcError(f"{name} with prior={prior!r} needs {ends}; got {low}, {high}")
    return a, b
