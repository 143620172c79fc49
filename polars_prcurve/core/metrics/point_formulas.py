"""The point metrics, each of which is declared here by its formula of the four cells.

The decorator makes a function a `PointMetric` of its name and docstring; `declare_point` lists what you
must pass.

Sources: (W) Williams 2021, (B) Brabec et al. 2020, (FK) Flach and Kull 2015.
"""

from __future__ import annotations

import math

from polars_prcurve.core.ground.argument_checks import (
    read_choice,
    read_flag,
    read_name,
    read_number,
    read_pair,
    refuse_kind,
)
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.metrics.metric_base import declare_factory, write_parameter
from polars_prcurve.core.metrics.point_metric import (
    Amount,
    Formula,
    Point,
    PointMetric,
    Ties,
    choose_where,
    declare_point,
    never_tie,
)

INF = math.inf  # the end of ranges that have none


# Where two points tie -------------------------------------------------------------------------

# At two fixed points a metric is a function of the odds eta / (1 - eta). Each function below solves the
# equation "value at the first = value at the second" for these odds. Negative solutions mean nothing,
# and callers drop them. An equation that holds at all odds, or at none, would divide by 0, and has no
# solution here.
# In comments o are the odds, r and f recall and fpr, and J = r - f. The cells are then tp = o r,
# fn = o (1 - r), fp = f and tn = 1 - f.


def _solve_odds(numerator: float, denominator: float) -> list[float]:
    """Return the one solution of `odds * denominator = numerator`, if there is one."""
    return [numerator / denominator] if denominator != 0 else []


def _tie_accuracy(point_a: Point, point_b: Point) -> list[float]:
    # Accuracy is (o r + 1 - f) / (o + 1).
    return _solve_odds(point_a.fpr - point_b.fpr, point_a.recall - point_b.recall)


def _tie_f(beta_squared: float) -> Ties:
    # With b = beta**2, (1 + b) / F is 1 + (b o + f) / (o r).
    return lambda point_a, point_b: _solve_odds(
        point_b.recall * point_a.fpr - point_a.recall * point_b.fpr,
        beta_squared * (point_a.recall - point_b.recall),
    )


def _tie_kappa(point_a: Point, point_b: Point) -> list[float]:
    youden_a, youden_b = point_a.recall - point_a.fpr, point_b.recall - point_b.fpr
    # Kappa is 2 o J / (f + o (1 + J) + o^2 (1 - r)), which is 1 at o = -1 whatever the point. So that is
    # one root of the quadratic equation, and the other one follows from their product.
    numerator = youden_b * point_a.fpr - youden_a * point_b.fpr
    return _solve_odds(
        numerator, youden_a * (1 - 2 * point_b.fpr) - youden_b * (1 - 2 * point_a.fpr) - numerator
    )


def _tie_mcc(point_a: Point, point_b: Point) -> list[float]:
    youden_a, youden_b = point_a.recall - point_a.fpr, point_b.recall - point_b.fpr
    if youden_a * youden_b <= 0:
        return []  # the metric has a different sign at the two points, at every prevalence
    # Its square is o J^2 / ((o r + f) (o (1 - r) + 1 - f)), which is 1 at o = -1, too.
    numerator = youden_b**2 * point_a.fpr * (1 - point_a.fpr)
    numerator -= youden_a**2 * point_b.fpr * (1 - point_b.fpr)
    youden_product = youden_a * youden_b
    return _solve_odds(
        numerator,
        youden_product * (youden_a * (1 - 2 * point_b.fpr) - youden_b * (1 - 2 * point_a.fpr))
        - numerator,
    )


def _tie_markedness(point_a: Point, point_b: Point) -> list[float]:
    youden_a, youden_b = point_a.recall - point_a.fpr, point_b.recall - point_b.fpr
    # Markedness is J eta (1 - eta) / (q (1 - q)), of the share q = f + eta J that is flagged. So points
    # tie where x eta^2 + y eta + z = 0, here times (1 + o)^2.
    x = youden_a * youden_b * (youden_a - youden_b)
    y = 2 * youden_a * youden_b * (point_a.fpr - point_b.fpr)
    z = youden_a * point_b.fpr * (1 - point_b.fpr) - youden_b * point_a.fpr * (1 - point_a.fpr)
    x, y = x + y + z, y + 2 * z
    if x == 0:
        return _solve_odds(-z, y)
    discriminant = y * y - 4 * x * z
    if discriminant < 0:
        return []
    # Nothing cancels in q; the roots are q/x and z/q.
    q = -(y + math.copysign(math.sqrt(discriminant), y)) / 2
    return [*_solve_odds(q, x), *_solve_odds(z, q)]


# Limits at eta = 0: there the cells of the positives are 0, so that a formula is 0/0 although recall
# gives its limit. Factors such as `fpr / fpr` are 1, and make the limit undefined where fpr is 0, and
# terms such as `0 * fpr` are 0, and make it undefined without negatives.

# With a parameter -----------------------------------------------------------------------------


@declare_factory("2")
def f_beta(beta: float) -> PointMetric:
    """F-beta, the weighted harmonic mean of precision and recall (W 4-6).

    `(1 + beta^2) tp / ((1 + beta^2) tp + beta^2 fn + fp)`. It is 0 where recall is 0, because
    the curve needs a value there. It grows with eta.

    >>> round(f_beta(1)(0.6, 0.001, 0.01), 6)
    0.706298
    """
    beta = read_number("beta", beta, "a positive number", lambda number: 0 < number < INF)
    beta_squared = beta**2
    return PointMetric(
        f"f_beta({write_parameter(beta)})",
        lambda tp, fn, fp, tn: (
            (1 + beta_squared) * tp / ((1 + beta_squared) * tp + beta_squared * fn + fp)
        ),
        source="W 4-6",
        ties=_tie_f(beta_squared),
    )


@declare_factory("0.1")
def net_benefit(threshold_probability: float) -> PointMetric:
    """Net benefit at a threshold probability `p`: `eta*recall - (1-eta)*fpr * p/(1-p)`.

    The unit is true positives per example. `p` is the risk at which a user is indifferent.
    """
    expected_phrase = "a number in [0, 1)"
    probability = read_number(
        "threshold_probability", threshold_probability, expected_phrase, lambda number: 0 <= number < 1
    )
    return build_net_benefit(
        f"net_benefit({write_parameter(probability)})", probability / (1 - probability)
    )


def build_net_benefit(metric_name: str, fp_cost: Amount) -> PointMetric:
    """Return the net benefit where a false positive costs `fp_cost` true ones, a number or a column."""
    return PointMetric(
        metric_name,
        lambda tp, fn, fp, tn: (tp - fp * fp_cost) / (tp + fn + fp + tn),
        range=(-INF, 1.0),
        source="Vickers and Elkin 2006",
        ties=lambda point_a, point_b: [odds * fp_cost for odds in _tie_accuracy(point_a, point_b)],
        difference_of=("tp", "fp"),
        is_linear=True,
    )


@declare_factory("1")
def f_gain(beta: float) -> PointMetric:
    """F-beta gain, the weighted mean of precision gain and recall gain (FK)."""
    beta = read_number("beta", beta, "a positive number", lambda number: 0 < number < INF)
    beta_squared = beta**2
    precision_weight, recall_weight = 1 / (1 + beta_squared), beta_squared / (1 + beta_squared)

    def formula(*cells: Amount) -> Amount:
        precision_gain_part = precision_weight * precision_gain.formula(*cells)
        return precision_gain_part + recall_weight * recall_gain.formula(*cells)

    # With b = beta**2, F-beta gain is 1 - (f / r + b o (1 - r) / r) / (1 + b).
    def ties(point_a: Point, point_b: Point) -> list[float]:
        if point_a.recall == 0 or point_b.recall == 0:
            return []
        return _solve_odds(
            point_b.fpr / point_b.recall - point_a.fpr / point_a.recall,
            beta_squared * (1 / point_a.recall - 1 / point_b.recall),
        )

    return PointMetric(
        f"f_gain({write_parameter(beta)})",
        formula,
        limit_at_0=lambda recall, fpr: (
            precision_weight * (1 - fpr / recall) + recall_weight * recall / recall
        ),
        range=(-INF, 1.0),
        source="FK",
        ties=ties,
    )


@declare_factory(None)
def point(
    name: str,
    formula: Formula,
    *,
    range: tuple[float, float] = (-INF, INF),
    direction: str = "maximize",
    monotone: bool = False,
) -> PointMetric:
    """A custom metric, from the prevalence-weighted cells `tp, fn, fp, tn`.

    The cells are shares of all examples and sum to 1, in tables and calls alike. The formula
    may use arithmetic that NumPy arrays and Polars expressions both have.

    If more recall and a lower fpr never make it worse, pass `monotone=True`: its intervals then have a
    formula, which `decide` needs.

    >>> cost = point("cost", lambda tp, fn, fp, tn: 5 * fn + fp, direction="minimize", monotone=True)
    >>> round(cost(0.6, 0.001, 0.01), 5)
    0.02099
    """
    read_name("name=", name)
    if not callable(formula):
        raise refuse_kind("formula=", "a function of the cells tp, fn, fp, tn", formula)
    read_choice("direction=", direction, ("maximize", "minimize", "none"))
    range_ends = read_pair("range=", range, "two numbers, the least and the greatest value")

    def apply_to_shares(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
        cell_sum = tp + fn + fp + tn
        return formula(tp / cell_sum, fn / cell_sum, fp / cell_sum, tn / cell_sum)

    # No equation for `ties` is known of a formula that anyone may write.
    metric = PointMetric(
        name,
        apply_to_shares,
        range=range_ends,
        direction=direction,
        source="user",
        falls_with_fpr=read_flag("monotone=", monotone),
    )
    if metric.falls_with_fpr:
        _check_monotone(metric)
    return metric


def _check_monotone(metric: PointMetric) -> None:
    """Raise if a step of a grid shows that more recall, or a lower fpr, makes a metric worse."""
    sign = 1 if metric.higher_is_better() else -1
    rates = np.linspace(0, 1, 21)
    for eta in (0.001, 0.1, 0.5, 0.9):
        signed_values = sign * np.asarray(metric(rates[:, None], rates, eta))
        signed_values[~np.isfinite(signed_values)] = math.nan  # which no test holds for
        tolerance = 1e-9 * np.nanmax(np.abs(signed_values), initial=0)
        recall_steps, fpr_steps = np.diff(signed_values, axis=0), np.diff(signed_values, axis=1)
        steps_by_change = {"more recall": recall_steps, "a lower fpr": -fpr_steps}
        for change_phrase, value_steps in steps_by_change.items():
            if (value_steps < -tolerance).any():
                raise PrcError(
                    f"leave out monotone=True: {change_phrase} can make {metric.name} worse, for "
                    f"example at a prevalence of {eta:g}"
                )


# Without a parameter, in the order of the reference -------------------------------------------


@declare_point(
    source="W 2, B 4/8/11", ties=never_tie, if_all_flagged=lambda eta: eta, share_of=(("tp",), ("fp",))
)
def precision(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The share of flagged examples that are positive."""
    return tp / (tp + fp)


@declare_point(source="1 - precision", direction="minimize", ties=never_tie, share_of=(("fp",), ("tp",)))
def fdr(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The share of flagged examples that are negative."""
    return fp / (fp + tp)


@declare_point(source="Bayes' rule", ties=never_tie, share_of=(("tn",), ("fn",)))
def npv(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The share of examples not flagged that are negative."""
    return tn / (tn + fn)


@declare_point(source="1 - npv", direction="minimize", ties=never_tie, share_of=(("fn",), ("tn",)))
def false_omission_rate(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The share of examples not flagged that are positive."""
    return fn / (fn + tn)


@declare_point(source="B 6", depends_on_eta=False, of_rates=lambda recall, fpr: recall)
def recall(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The fraction of positives that are flagged."""
    return tp / (tp + fn)


@declare_point(source="1 - recall", direction="minimize", depends_on_eta=False)
def fnr(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The fraction of positives that are not flagged."""
    return fn / (fn + tp)


@declare_point(source="1 - fpr", depends_on_eta=False)
def specificity(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The share of negatives that are not flagged."""
    return tn / (tn + fp)


@declare_point(
    source="B 7", direction="minimize", depends_on_eta=False, of_rates=lambda recall, fpr: fpr
)
def fpr(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The share of negatives that are flagged."""
    return fp / (fp + tn)


@declare_point(
    source="eta*recall + (1-eta)*specificity", ties=_tie_accuracy, share_of=(("tp", "tn"), ("fp", "fn"))
)
def accuracy(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The share of examples that are classified correctly."""
    return (tp + tn) / (tp + fn + fp + tn)


@declare_point(source="(recall + specificity) / 2", depends_on_eta=False)
def balanced_accuracy(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The mean of recall and specificity."""
    return (tp / (tp + fn) + tn / (tn + fp)) / 2


@declare_point(source="sqrt(recall * specificity)", depends_on_eta=False)
def g_mean(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The geometric mean of recall and specificity."""
    return (tp / (tp + fn) * (tn / (tn + fp))) ** 0.5


@declare_point(source="W 4-6", ties=_tie_f(1), share_of=(("tp",), ("fp", "fn")))
def f1(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The harmonic mean of precision and recall, `f_beta(1)`."""
    return 2 * tp / (2 * tp + fn + fp)


@declare_point(source="f1 / (2 - f1)", ties=_tie_f(1), share_of=(("tp",), ("fp", "fn")))
def jaccard(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """True positives among all examples that are positive or flagged."""
    return tp / (tp + fn + fp)


@declare_point(
    source="sqrt(precision * recall)",
    ties=lambda a, b: _solve_odds(b[0] ** 2 * a[1] - a[0] ** 2 * b[1], a[0] * b[0] * (a[0] - b[0])),
    limit_at_0=lambda recall, fpr: 0 * (recall / fpr),
)
def fowlkes_mallows(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The geometric mean of precision and recall."""
    return (tp / (tp + fp) * (tp / (tp + fn))) ** 0.5


@declare_point(source="Matthews 1975", range=(-1.0, 1.0), ties=_tie_mcc)
def mcc(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """Matthews' correlation coefficient; 0 where all examples are flagged, or none."""
    # Four roots, because the product of the four sums underflows at eta = 1e-100.
    margin_roots = [margin**0.5 for margin in (tp + fp, tn + fn, tp + fn, tn + fp)]
    right_product = tp / margin_roots[0] * tn / margin_roots[1]
    wrong_product = fp / margin_roots[0] * fn / margin_roots[1]
    correlation = (right_product - wrong_product) / margin_roots[2] / margin_roots[3]
    is_constant = ((tp + fp) * (tn + fn) == 0) & (tp + fn > 0) & (tn + fp > 0)
    return choose_where(is_constant, 0.0, correlation)


@declare_point(source="Cohen 1960", range=(-1.0, 1.0), ties=_tie_kappa)
def cohen_kappa(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """Cohen's kappa: agreement with the labels beyond chance."""
    return 2 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))


@declare_point(source="recall - fpr", range=(-1.0, 1.0), depends_on_eta=False)
def informedness(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """Recall less fpr, also called Youden's J."""
    return tp / (tp + fn) - fp / (fp + tn)


@declare_point(source="precision + npv - 1", range=(-1.0, 1.0), ties=_tie_markedness)
def markedness(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """Precision plus npv, less 1."""
    return tp / (tp + fp) - fn / (fn + tn)


@declare_point(
    source="precision / eta",
    range=(0.0, INF),
    ties=never_tie,
    limit_at_0=lambda recall, fpr: recall / fpr * (fpr / fpr),
)
def lift(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """Precision relative to the prevalence."""
    return tp / (tp + fn) / ((tp + fp) / (tp + fn + fp + tn))


@declare_point(
    source="eta*recall + (1-eta)*fpr",
    direction="none",
    ties=lambda a, b: _solve_odds(b[1] - a[1], a[0] - b[0]),
    share_of=(("tp", "fp"), ("fn", "tn")),
)
def predicted_positive_rate(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The share of examples that are flagged."""
    return (tp + fp) / (tp + fn + fp + tn)


@declare_point(source="recall / fpr", range=(0.0, INF), depends_on_eta=False)
def lr_pos(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The likelihood ratio of being flagged."""
    return tp / (tp + fn) / (fp / (fp + tn))


@declare_point(
    source="(1-recall) / (1-fpr)", range=(0.0, INF), direction="minimize", depends_on_eta=False
)
def lr_neg(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The likelihood ratio of not being flagged."""
    return fn / (fn + tp) / (tn / (tn + fp))


@declare_point(source="lr_pos / lr_neg", range=(0.0, INF), depends_on_eta=False)
def diagnostic_odds_ratio(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """The odds of being flagged: positives relative to negatives."""
    return (tp * tn) / (fn * fp)


@declare_point(source="W 8, FK", range=(-INF, 1.0), depends_on_eta=False)
def precision_gain(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """Precision rescaled, 0 where it is eta: `1 - fpr / recall`."""
    return 1 - (fp / (fp + tn)) / (tp / (tp + fn))


@declare_point(
    source="W 9, FK",
    range=(-INF, 1.0),
    ties=never_tie,
    limit_at_0=lambda recall, fpr: recall / recall + 0 * fpr,
)
def recall_gain(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """Recall on a scale where eta is 0; undefined at eta = 1."""
    n_neg = fp + tn
    return choose_where(n_neg == 0, float("nan"), 1 - (tp + fn) / n_neg * (fn / tp))


@declare_point(source="precision at eta = 1/2", fixed_eta=0.5, depends_on_eta=False)
def balanced_precision(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    """Precision at a prevalence of 1/2, whatever eta is."""
    return tp / (tp + fp)
