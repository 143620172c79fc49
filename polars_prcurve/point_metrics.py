"""Point metrics: one formula each, on four cells, for numbers, arrays and expressions.

The four cells are true positives, false negatives, false positives and true negatives in a
population of prevalence eta: `eta*recall`, `eta*(1-recall)`, `(1-eta)*fpr`, `(1-eta)*(1-fpr)`,
or counts in the same proportions. Every built-in formula is free of scale, so both give the
same value, and at a test set's own prevalence the plain counts serve: precision there is
`tp / (tp + fp)` to the last bit.

>>> from polars_prcurve import metrics
>>> round(metrics.precision(0.6, 0.001, 0.001), 6)
0.375235
>>> metrics.f_beta(2).name
'f_beta(2)'

Sources: (W) Williams 2021, (B) Brabec et al. 2020, (FK) Flach and Kull 2015.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

import polars as pl

from polars_prcurve.errors import Check, PrcError, did_you_mean, guard, sentence

if TYPE_CHECKING:  # NumPy is imported when numbers are first computed with
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "PointMetric",
    "accuracy",
    "balanced_accuracy",
    "balanced_precision",
    "cohen_kappa",
    "diagnostic_odds_ratio",
    "f1",
    "f_beta",
    "f_gain",
    "false_omission_rate",
    "fdr",
    "fnr",
    "fowlkes_mallows",
    "fpr",
    "g_mean",
    "informedness",
    "jaccard",
    "lift",
    "lr_neg",
    "lr_pos",
    "markedness",
    "mcc",
    "net_benefit",
    "npv",
    "point",
    "precision",
    "precision_gain",
    "predicted_positive_rate",
    "recall",
    "recall_gain",
    "specificity",
]

Cell: TypeAlias = Any  # a float array or a pl.Expr; formulas use what the two share
Formula: TypeAlias = Callable[[Cell, Cell, Cell, Cell], Cell]
Point: TypeAlias = tuple[float, float]  # recall and fpr
Array: TypeAlias = "NDArray[np.float64]"


@dataclass(frozen=True)
class PointMetric:
    """A metric of one operating point, from `(recall, fpr, eta)` or from four cells.

    Call it with numbers (gives a float), arrays (an array) or expressions (an expression).
    Undefined (0/0) is NaN from numbers and arrays and null from expressions and in tables.

    Attributes
    ----------
    name
        The column that holds it, e.g. `precision` or `f_beta(2)`.
    range
        Lowest and highest value.
    direction
        `"maximize"`, `"minimize"` or `"none"`: what better means.
    depends_on_eta
        Whether the value changes with prevalence while recall and fpr stay.
    source
        Where the formula is from.
    """

    name: str
    formula: Formula = field(repr=False)
    range: tuple[float, float] = (0.0, 1.0)
    direction: str = "maximize"
    depends_on_eta: bool = True
    source: str = field(default="", repr=False)
    falls_with_fpr: bool = True
    """At the same recall a point of lower fpr is at least as good."""
    ties: Callable[[Point, Point], list[float]] | None = field(default=lambda a, b: [], repr=False)
    """The odds `eta / (1 - eta)` at which two points have the same value, unless always; None if no
    equation says."""
    eta: float | None = None
    """A prevalence the metric is tied to, whatever the table says (`balanced_precision`)."""
    limit_at_0: Callable[[Cell, Cell], Cell] | None = field(default=None, repr=False)
    """From recall and fpr to the value at eta = 0, if it needs recall: there the cells of the
    positives are 0 and do not tell it."""

    def alias(self, name: str) -> PointMetric:
        """The same metric under another column name."""
        return replace(self, name=name)

    @overload
    def __call__(self, recall: pl.Expr, fpr: pl.Expr, eta: pl.Expr | float | None = None) -> pl.Expr: ...
    @overload
    def __call__(self, recall: float, fpr: float, eta: float | None = None) -> float: ...
    @overload
    def __call__(
        self, recall: ArrayLike, fpr: ArrayLike, eta: ArrayLike | None = None
    ) -> float | Array: ...

    def __call__(self, recall: Any, fpr: Any, eta: Any = None) -> Any:
        """The value at a point `(recall, fpr)` of the ROC plane and a prevalence `eta`.

        Rates and prevalences outside [0, 1] raise, expressions when the query runs.
        `eta` may be left out where the metric does not depend on it.
        """
        given = {"recall": recall, "fpr": fpr, "eta": self.prevalence(eta)}
        if given["eta"] is None:
            raise PrcError(f"{self.name} depends on the prevalence: pass eta")
        return evaluate(self.name, self.of_rates, given)

    def prevalence(self, eta: Any) -> Any:
        """The prevalence to use where `eta` is asked for."""
        if self.eta is not None:
            return self.eta
        return eta if self.depends_on_eta else 0.5  # any: it cancels

    def of_rates(self, recall: Cell, fpr: Cell, eta: Cell) -> Cell:
        """The value from rates and a prevalence, undefined as NaN."""
        return self.of_cells(cells_of_rates(recall, fpr, eta), recall, fpr, eta)

    def of_columns(self, recall: pl.Expr, fpr: pl.Expr, eta: pl.Expr) -> pl.Expr:
        """The value from columns of rates and prevalences, null where undefined."""
        at = self.prevalence(eta)
        value: pl.Expr = self.of_rates(recall, fpr, at if isinstance(at, pl.Expr) else pl.lit(at))
        return value.fill_nan(None).alias(self.name)

    def of_counts(
        self,
        cells: Iterable[pl.Expr],
        factors: tuple[pl.Expr, pl.Expr] | None,
        rates: tuple[pl.Expr, pl.Expr],
        eta: pl.Expr,
    ) -> pl.Expr:
        """The value from the counts tp, fn, fp, tn, null where undefined.

        `factors` bring positives and negatives into the proportions of eta; None: they are.
        """
        if self.eta is not None:
            value: pl.Expr = self.of_rates(*rates, pl.lit(self.eta))
        else:
            tp, fn, fp, tn = cells
            if self.depends_on_eta and factors is not None:
                pos, neg = factors
                tp, fn, fp, tn = tp * pos, fn * pos, fp * neg, tn * neg
            value = self.of_cells((tp, fn, fp, tn), *rates, eta)
        return value.fill_nan(None).alias(self.name)

    def is_best_at_its_greatest(self) -> bool:
        """Or at its least; a metric without a direction raises."""
        if self.direction == "none":
            raise PrcError(f"{self.name} has no direction, so no threshold is best")
        return self.direction == "maximize"

    def of_cells(self, cells: Iterable[Cell], recall: Cell, fpr: Cell, eta: Cell) -> Cell:
        """The value from the cells tp, fn, fp, tn in the proportions of eta; undefined is NaN."""
        value = self.formula(*cells)
        if self.limit_at_0 is None:
            return value
        return where(eta == 0, self.limit_at_0(recall, fpr), value)


def evaluate(name: str, formula: Callable[..., Cell], given: dict[str, Any]) -> Any:
    """A formula of shares, for numbers and arrays (undefined is NaN) or expressions (null)."""
    if any(isinstance(value, pl.Expr) for value in given.values()):
        return _of_expressions(name, formula, given)
    return _of_numbers(formula, given)


def _of_numbers(formula: Callable[..., Cell], given: dict[str, ArrayLike]) -> float | Array:
    import numpy as np

    values = {name: np.asarray(value, dtype=np.float64) for name, value in given.items()}
    for name, value in values.items():
        undefined = np.isnan(value) & (name != "eta")
        wrong = value[~((value >= 0) & (value <= 1) | undefined)]
        if wrong.size > 0:
            raise PrcError(f"{name} must lie in [0, 1]; got {wrong.flat[0]}")
    with np.errstate(all="ignore"):
        out = np.asarray(formula(*values.values()), dtype=np.float64)
    return float(out) if out.ndim == 0 else out


def _of_expressions(
    name: str, formula: Callable[..., Cell], given: dict[str, pl.Expr | float]
) -> pl.Expr:
    values = {n: v if isinstance(v, pl.Expr) else pl.lit(float(v)) for n, v in given.items()}
    checks = []
    for argument, value in values.items():
        outside = (value.is_nan() | ~value.is_between(0, 1)).sum()
        text = sentence(f"{argument} must lie in [0, 1]; ", outside.cast(pl.String), " values do not")
        checks.append(Check(outside > 0, text))
    out: pl.Expr = formula(*values.values()) + guard(checks)
    return out.fill_nan(None).alias(name)


T = TypeVar("T", "NDArray[np.float64]", pl.Expr)


def cells_of_rates(recall: T, fpr: T, eta: T) -> tuple[T, T, T, T]:
    """The share of each cell in a population of prevalence eta: tp, fn, fp, tn (they sum to 1)."""
    return eta * recall, eta * (1 - recall), (1 - eta) * fpr, (1 - eta) * (1 - fpr)


def where(condition: Cell, then: Cell, otherwise: Cell) -> Cell:
    if isinstance(condition, pl.Expr):
        return pl.when(condition).then(then).otherwise(otherwise)
    import numpy as np

    return np.where(condition, then, otherwise)


# Where two points tie -------------------------------------------------------------------------


def _over(above: float, below: float) -> list[float]:
    return [above / below] if below != 0 else []


def _accuracy_ties(a: Point, b: Point) -> list[float]:
    return _over(a[1] - b[1], a[0] - b[0])


def _f_ties(b_squared: float) -> Callable[[Point, Point], list[float]]:
    return lambda a, b: _over(b[0] * a[1] - a[0] * b[1], b_squared * (a[0] - b[0]))


def _f_gain_ties(b_squared: float) -> Callable[[Point, Point], list[float]]:
    def ties(a: Point, b: Point) -> list[float]:
        if a[0] == 0 or b[0] == 0:
            return []
        return _over(b[1] / b[0] - a[1] / a[0], b_squared * (1 / a[0] - 1 / b[0]))

    return ties


def _fowlkes_mallows_ties(a: Point, b: Point) -> list[float]:
    return _over(b[0] ** 2 * a[1] - a[0] ** 2 * b[1], a[0] * b[0] * (a[0] - b[0]))


def _kappa_ties(a: Point, b: Point) -> list[float]:
    j_a, j_b = a[0] - a[1], b[0] - b[1]
    above = j_b * a[1] - j_a * b[1]
    return _over(above, j_a * (1 - 2 * b[1]) - j_b * (1 - 2 * a[1]) - above)


def _mcc_ties(a: Point, b: Point) -> list[float]:
    j_a, j_b = a[0] - a[1], b[0] - b[1]
    if j_a * j_b <= 0:
        return []  # of different sign at every prevalence
    above = j_b**2 * a[1] * (1 - a[1]) - j_a**2 * b[1] * (1 - b[1])
    return _over(above, j_a * j_b * (j_a * (1 - 2 * b[1]) - j_b * (1 - 2 * a[1])) - above)


def _markedness_ties(a: Point, b: Point) -> list[float]:
    j_a, j_b = a[0] - a[1], b[0] - b[1]
    # x eta^2 + y eta + z = 0, times (1 + odds)^2
    x, y = j_a * j_b * (j_a - j_b), 2 * j_a * j_b * (a[1] - b[1])
    z = j_a * b[1] * (1 - b[1]) - j_b * a[1] * (1 - a[1])
    x, y = x + y + z, y + 2 * z
    if x == 0:
        return _over(-z, y)
    root = y * y - 4 * x * z
    if root < 0:
        return []
    q = -(y + math.copysign(math.sqrt(root), y)) / 2
    return [*_over(q, x), *_over(z, q)]


def _ratio(of: Cell, to: Cell) -> Cell:
    """`of / (of + to)`: the shape of most metrics."""
    return of / (of + to)


def f_beta(beta: float) -> PointMetric:
    """F-beta, the weighted harmonic mean of precision and recall (W 4-6).

    `(1 + beta^2) tp / ((1 + beta^2) tp + beta^2 fn + fp)`. It is 0 where recall is 0, since
    the curve needs a value there, and grows with eta.

    >>> round(f_beta(1)(0.6, 0.001, 0.01), 6)
    0.706298
    """
    if not 0 < beta < float("inf"):
        raise PrcError(f"beta must be a positive number; got {beta}")
    b = float(beta) ** 2
    return PointMetric(
        f"f_beta({beta:g})",
        lambda tp, fn, fp, tn: (1 + b) * tp / ((1 + b) * tp + b * fn + fp),
        source="W 4-6",
        ties=_f_ties(b),
    )


def net_benefit(threshold_probability: float) -> PointMetric:
    """Net benefit at a threshold probability `p`: `eta*recall - (1-eta)*fpr * p/(1-p)`.

    In units of true positives per event; `p` is the risk at which a user is indifferent.
    """
    p = float(threshold_probability)
    if not 0 <= p < 1:
        raise PrcError(f"threshold_probability must lie in [0, 1); got {p}")
    return PointMetric(
        f"net_benefit({p:g})",
        lambda tp, fn, fp, tn: (tp - fp * (p / (1 - p))) / (tp + fn + fp + tn),
        range=(float("-inf"), 1.0),
        source="Vickers and Elkin 2006",
        ties=lambda a, b: [r * p / (1 - p) for r in _accuracy_ties(a, b)],
    )


def f_gain(beta: float) -> PointMetric:
    """F-beta gain, the weighted mean of precision gain and recall gain (FK)."""
    if not 0 < beta < float("inf"):
        raise PrcError(f"beta must be a positive number; got {beta}")
    of_precision, of_recall = 1 / (1 + float(beta) ** 2), float(beta) ** 2 / (1 + float(beta) ** 2)
    return PointMetric(
        f"f_gain({beta:g})",
        lambda *c: of_precision * _precision_gain(*c) + of_recall * _recall_gain(*c),
        limit_at_0=lambda recall, fpr: of_precision * (1 - fpr / recall) + of_recall * recall / recall,
        range=(float("-inf"), 1.0),
        source="FK",
        ties=_f_gain_ties(float(beta) ** 2),
    )


def point(
    name: str,
    formula: Formula,
    *,
    range: tuple[float, float] = (float("-inf"), float("inf")),
    direction: str = "maximize",
) -> PointMetric:
    """A metric of your own, from the prevalence-weighted cells `tp, fn, fp, tn`.

    The cells are shares of all events and sum to 1, in tables and calls alike. The formula
    may use arithmetic that NumPy arrays and Polars expressions share.

    >>> cost = point("cost", lambda tp, fn, fp, tn: 5 * fn + fp, direction="minimize")
    >>> round(cost(0.6, 0.001, 0.01), 5)
    0.02099
    """

    def of_shares(tp: Cell, fn: Cell, fp: Cell, tn: Cell) -> Cell:
        n = tp + fn + fp + tn
        return formula(tp / n, fn / n, fp / n, tn / n)

    return PointMetric(
        name,
        of_shares,
        range=range,
        direction=direction,
        source="user",
        falls_with_fpr=False,
        ties=None,
    )


def _precision_gain(tp: Cell, fn: Cell, fp: Cell, tn: Cell) -> Cell:
    return 1 - (fp / (fp + tn)) / (tp / (tp + fn))


def _recall_gain(tp: Cell, fn: Cell, fp: Cell, tn: Cell) -> Cell:
    negatives = fp + tn  # none of them at eta = 1, where gains are undefined
    return where(negatives == 0, float("nan"), 1 - (tp + fn) / negatives * (fn / tp))


def _mcc(tp: Cell, fn: Cell, fp: Cell, tn: Cell) -> Cell:
    # Four roots, since a product of four cells underflows at eta = 1e-100.
    margins = [(m) ** 0.5 for m in (tp + fp, tn + fn, tp + fn, tn + fp)]
    value = (
        (tp / margins[0] * tn / margins[1] - fp / margins[0] * fn / margins[1]) / margins[2] / margins[3]
    )
    constant = ((tp + fp) * (tn + fn) == 0) & (tp + fn > 0) & (tn + fp > 0)
    return where(constant, 0.0, value)


INF = float("inf")
_free: dict[str, Any] = {"depends_on_eta": False}
_less: dict[str, Any] = {"direction": "minimize"}

precision = PointMetric("precision", lambda tp, fn, fp, tn: _ratio(tp, fp), source="W 2, B 4/8/11")
fdr = PointMetric("fdr", lambda tp, fn, fp, tn: _ratio(fp, tp), **_less, source="1 - precision")
npv = PointMetric("npv", lambda tp, fn, fp, tn: _ratio(tn, fn), source="Bayes' rule")
false_omission_rate = PointMetric(
    "false_omission_rate", lambda tp, fn, fp, tn: _ratio(fn, tn), **_less, source="1 - npv"
)
recall = PointMetric("recall", lambda tp, fn, fp, tn: _ratio(tp, fn), **_free, source="B 6")
fnr = PointMetric("fnr", lambda tp, fn, fp, tn: _ratio(fn, tp), **_less, **_free, source="1 - recall")
specificity = PointMetric(
    "specificity", lambda tp, fn, fp, tn: _ratio(tn, fp), **_free, source="1 - fpr"
)
fpr = PointMetric("fpr", lambda tp, fn, fp, tn: _ratio(fp, tn), **_less, **_free, source="B 7")
accuracy = PointMetric(
    "accuracy",
    lambda tp, fn, fp, tn: (tp + tn) / (tp + fn + fp + tn),
    source="eta*recall + (1-eta)*specificity",
    ties=_accuracy_ties,
)
balanced_accuracy = PointMetric(
    "balanced_accuracy",
    lambda tp, fn, fp, tn: (_ratio(tp, fn) + _ratio(tn, fp)) / 2,
    **_free,
    source="(recall + specificity) / 2",
)
g_mean = PointMetric(
    "g_mean",
    lambda tp, fn, fp, tn: (_ratio(tp, fn) * _ratio(tn, fp)) ** 0.5,
    **_free,
    source="sqrt(recall * specificity)",
)
f1 = f_beta(1).alias("f1")
jaccard = PointMetric(
    "jaccard", lambda tp, fn, fp, tn: tp / (tp + fn + fp), source="f1 / (2 - f1)", ties=_f_ties(1)
)
fowlkes_mallows = PointMetric(
    "fowlkes_mallows",
    lambda tp, fn, fp, tn: (_ratio(tp, fp) * _ratio(tp, fn)) ** 0.5,
    source="sqrt(precision * recall)",
    ties=_fowlkes_mallows_ties,
    limit_at_0=lambda recall, fpr: 0 * (recall / fpr),
)
mcc = PointMetric("mcc", _mcc, range=(-1.0, 1.0), source="Matthews 1975", ties=_mcc_ties)
cohen_kappa = PointMetric(
    "cohen_kappa",
    lambda tp, fn, fp, tn: 2 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn)),
    range=(-1.0, 1.0),
    source="Cohen 1960",
    ties=_kappa_ties,
)
informedness = PointMetric(
    "informedness",
    lambda tp, fn, fp, tn: _ratio(tp, fn) - _ratio(fp, tn),
    range=(-1.0, 1.0),
    **_free,
    source="recall - fpr",
)
markedness = PointMetric(
    "markedness",
    lambda tp, fn, fp, tn: _ratio(tp, fp) - _ratio(fn, tn),
    range=(-1.0, 1.0),
    source="precision + npv - 1",
    ties=_markedness_ties,
)
lift = PointMetric(
    "lift",
    lambda tp, fn, fp, tn: _ratio(tp, fn) / ((tp + fp) / (tp + fn + fp + tn)),
    range=(0.0, INF),
    source="precision / eta",
    limit_at_0=lambda recall, fpr: recall / fpr * (fpr / fpr),
)
predicted_positive_rate = PointMetric(
    "predicted_positive_rate",
    lambda tp, fn, fp, tn: (tp + fp) / (tp + fn + fp + tn),
    direction="none",
    source="eta*recall + (1-eta)*fpr",
    ties=lambda a, b: _over(b[1] - a[1], a[0] - b[0]),
)
lr_pos = PointMetric(
    "lr_pos",
    lambda tp, fn, fp, tn: _ratio(tp, fn) / _ratio(fp, tn),
    range=(0.0, INF),
    **_free,
    source="recall / fpr",
)
lr_neg = PointMetric(
    "lr_neg",
    lambda tp, fn, fp, tn: _ratio(fn, tp) / _ratio(tn, fp),
    range=(0.0, INF),
    **_less,
    **_free,
    source="(1-recall) / (1-fpr)",
)
diagnostic_odds_ratio = PointMetric(
    "diagnostic_odds_ratio",
    lambda tp, fn, fp, tn: (tp * tn) / (fn * fp),
    range=(0.0, INF),
    **_free,
    source="lr_pos / lr_neg",
)
precision_gain = PointMetric(
    "precision_gain", _precision_gain, range=(-INF, 1.0), **_free, source="W 8, FK"
)
recall_gain = PointMetric(
    "recall_gain",
    _recall_gain,
    range=(-INF, 1.0),
    source="W 9, FK",
    limit_at_0=lambda recall, fpr: recall / recall + 0 * fpr,
)
balanced_precision = PointMetric(
    "balanced_precision",
    lambda tp, fn, fp, tn: _ratio(tp, fp),
    eta=0.5,
    **_free,
    source="precision at eta = 1/2",
)

POINT_METRICS: dict[str, PointMetric] = {
    value.name: value for value in list(globals().values()) if isinstance(value, PointMetric)
}
"""Every metric that a string may name, by that name."""

_ALSO_CALLED = {
    "ppv": "precision",
    "positive_predictive_value": "precision",
    "negative_predictive_value": "npv",
    "sensitivity": "recall",
    "tpr": "recall",
    "hit_rate": "recall",
    "true_negative_rate": "specificity",
    "tnr": "specificity",
    "false_positive_rate": "fpr",
    "fall_out": "fpr",
    "miss_rate": "fnr",
    "false_discovery_rate": "fdr",
    "critical_success_index": "jaccard",
    "threat_score": "jaccard",
    "youden_j": "informedness",
    "kappa": "cohen_kappa",
    "matthews_corrcoef": "mcc",
    "alert_rate": "predicted_positive_rate",
    "f1_score": "f1",
}


def point_metrics(metrics: str | PointMetric | Iterable[str | PointMetric]) -> list[PointMetric]:
    """The metrics asked for, in the order asked; unknown names and duplicates raise."""
    asked = [metrics] if isinstance(metrics, str | PointMetric) else list(metrics)
    found = [_point_metric(metric) for metric in asked]
    refuse_repeats([metric.name for metric in found])
    return found


def refuse_repeats(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise PrcError(f"metrics= asks for {name!r} twice; rename one with .alias(...)")


def _point_metric(metric: str | PointMetric) -> PointMetric:
    if isinstance(metric, PointMetric):
        return metric
    if not isinstance(metric, str):
        raise PrcError(f"a metric is a name or a PointMetric; got {metric!r}")
    return look_up(metric, POINT_METRICS, _ALSO_CALLED, ("f_beta", "f_gain", "net_benefit"))


M = TypeVar("M")


def look_up(
    name: str, known: Mapping[str, M], also_called: Mapping[str, str], with_parameters: Iterable[str]
) -> M:
    """The metric of this name; what else it may be meant for is said."""
    if name in known:
        return known[name]
    if name in also_called:
        raise PrcError(f"no metric is named {name!r}; did you mean {also_called[name]!r}?")
    if name.partition("(")[0] in with_parameters:
        raise PrcError(f"{name!r} takes a parameter: pass the value metrics.{name}, not a string")
    with_more = (f"metrics.{other}(...)" for other in with_parameters)
    raise PrcError(f"no metric is named {name!r}; {did_you_mean(name, [*known, *with_more])}")
