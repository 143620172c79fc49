"""Curve metrics: one number for a whole curve at a prevalence, each a sum or a maximum over rows.

A sweep is a chain of segments of the ROC curve, from `(recall_before, fpr_before)` to
`(recall, fpr)`, and it starts at the origin. All areas are sums over the segments on which recall
rises, so that a formula says what one segment adds. Sums do not depend on the order of the rows:
see `exact.sum_of_shares`. What a formula mentions more than once it binds first, in `steps`:
Polars would compute it again for each mention, and mentions within mentions multiply.

>>> from polars_prcurve import metrics
>>> metrics.average_precision.range
(0.0, 1.0)
>>> metrics.best(metrics.f1).name
'best(f1)'

Sources: (W) Williams 2021, (DG) Davis and Goadrich 2006, (FK) Flach and Kull 2015, (R) Richardson
et al. 2024, (H) Hoiem et al. 2012, (M) McClish 1989, (B) Boyd et al. 2012.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve import point_metrics as point
from polars_prcurve.columns import ENVELOPE, FPR_BEFORE, RECALL_BEFORE, RESERVED
from polars_prcurve.errors import PrcError
from polars_prcurve.exact import sum_of_shares, whole_shares
from polars_prcurve.point_metrics import PointMetric

__all__ = [
    "CurveMetric",
    "auprg",
    "auprg_clipped",
    "average_precision",
    "average_precision_interpolated",
    "best",
    "integrated_average_precision",
    "marginal_average_precision",
    "min_max_average_precision",
    "normalized_average_precision",
    "partial_roc_auc",
    "partial_roc_auc_mcclish",
    "pr_auc",
    "pr_auc_trapezoid",
    "precision_at_recall",
    "recall_at_precision",
    "roc_auc",
    "worst_pr_auc",
]


@dataclass(frozen=True)
class Rows:
    """The rows of one curve at one prevalence, as expressions."""

    column: Callable[[str], pl.Expr]
    """A column of them, or what a step has bound, by its name."""
    eta: pl.Expr
    value: Callable[[PointMetric], pl.Expr]
    """A point metric of the rows; null where undefined."""

    @property
    def recall(self) -> pl.Expr:
        return self.column("recall")

    @property
    def fpr(self) -> pl.Expr:
        """0 in a curve without negatives."""
        return self.column("fpr").fill_null(0.0)

    @property
    def recall_before(self) -> pl.Expr:
        return self.column(RECALL_BEFORE)

    @property
    def fpr_before(self) -> pl.Expr:
        return self.column(FPR_BEFORE)

    @property
    def rise(self) -> pl.Expr:
        return self.recall - self.recall_before

    @property
    def envelope(self) -> pl.Expr:
        """The least `fpr / recall` of this row and those of lower threshold."""
        return self.column(ENVELOPE)


class Curve(NamedTuple):
    """What is known of a curve as a whole, as expressions."""

    eta: pl.Expr
    has_positives: pl.Expr
    has_negatives: pl.Expr
    least_fpr: pl.Expr
    """Of the rows on which recall rises."""


Term: TypeAlias = Callable[[Rows], pl.Expr]
Step: TypeAlias = Callable[[Rows], dict[str, pl.Expr]]
Needs: TypeAlias = Literal["rises", "corners", "all"]
"""Which rows can matter: those on which recall rises, the first of each curve too, or any."""


@dataclass(frozen=True)
class CurveMetric:
    """A metric of a whole curve, at a prevalence `eta`.

    Pass it, or its name, to `summary` or to the expression `.prc.summary`. Undefined is null.

    Attributes
    ----------
    name
        What stands in the column `metric`, e.g. `average_precision` or `best(f1)`.
    range
        Lowest and highest value.
    direction
        `"maximize"`, `"minimize"` or `"none"`: what better means.
    depends_on_eta
        Whether the value changes with prevalence while the ROC curve stays.
    source
        Where the formula is from.
    """

    name: str
    term: Term = field(repr=False)
    """What a row contributes."""
    range: tuple[float, float] = (0.0, 1.0)
    direction: str = "maximize"
    depends_on_eta: bool = True
    source: str = field(default="", repr=False)
    finish: Callable[[pl.Expr, Curve], pl.Expr] = field(default=lambda value, curve: value, repr=False)
    """From the total to the metric."""
    total: Literal["sum", "max", "min"] = field(default="sum", repr=False)
    """What becomes of the terms. A sum is one of shares: at most 1."""
    steps: tuple[Step, ...] = field(default=(), repr=False)
    """What is bound by name before the term, one step after another."""
    needs: Needs = field(default="rises", repr=False)
    looks_ahead: bool = field(default=False, repr=False)
    """Reads `Rows.envelope`."""

    def alias(self, name: str) -> CurveMetric:
        """The same metric under another name."""
        return replace(self, name=name)

    def prepared(self, rows: Rows) -> pl.Expr:
        """The term, as it is added up."""
        return whole_shares(self.term(rows)) if self.total == "sum" else self.term(rows)

    def reduced(self, terms: pl.Expr) -> pl.Expr:
        """One value from the prepared terms."""
        if self.total == "sum":
            return sum_of_shares(terms)
        return terms.max() if self.total == "max" else terms.min()


# Where a metric is defined --------------------------------------------------------------------


def _with_both_classes(value: pl.Expr, curve: Curve) -> pl.Expr:
    return pl.when(curve.has_positives & curve.has_negatives).then(value)


def _where_precision_is(value: pl.Expr, curve: Curve) -> pl.Expr:
    """Precision needs no negatives at eta = 1, and false positives at eta = 0."""
    at_0 = (curve.eta > 0) | (curve.least_fpr > 0)
    known = curve.has_negatives | (curve.eta == 1)
    return pl.when(curve.has_positives & known & at_0).then(value)


def _where_gains_are(value: pl.Expr, curve: Curve) -> pl.Expr:
    """Recall gain is undefined at eta = 1, and the area has no limit at eta = 0.

    It may be as low as -1 / eta: too far below 0 for the sum where eta is below 2**-69.
    """
    inside = (curve.eta >= 2.0**-69) & (curve.eta < 1)
    area = value / _gain_unit(curve.eta)
    return pl.when(curve.has_positives & curve.has_negatives & inside).then(area)


def _gain_unit(eta: pl.Expr) -> pl.Expr:
    """What areas of gain are multiplied by, to be at most 1 or at least -2**9."""
    return eta.clip(lower_bound=2.0**-60)


# Areas under the precision-recall curve -------------------------------------------------------


def _precision(recall: pl.Expr, fpr: pl.Expr, eta: pl.Expr) -> pl.Expr:
    alarms = eta * recall
    return alarms / (alarms + (1 - eta) * fpr)


def _average_precision(rows: Rows) -> pl.Expr:
    return rows.rise * _precision(rows.recall, rows.fpr, rows.eta)


def _average_precision_interpolated(rows: Rows) -> pl.Expr:
    return rows.rise * (rows.eta / (rows.eta + (1 - rows.eta) * rows.envelope))


# The mean of precision along a segment, over which alarms D = eta recall + (1-eta) fpr grow from
# D0 to D1, is eta (recall_before g1(u) + rise g2(u)) / D0 with u = (D1 - D0) / D0,
#     g1(u) = log1p(u) / u    and    g2(u) = (u - log1p(u)) / u^2.
# With v = u / (2 + u) = (D1 - D0) / (D1 + D0) and the series of atanh,
#     s = (atanh(v) / v - 1) / v^2 = 1/3 + v^2/5 + v^4/7 + ...
#     g1 = (1 - v) (1 + v^2 s)    and    g2 = (1 - v) (1 - (1 - v) v s) / 2,
# in which nothing cancels. The same two functions give means over prevalences.


def _growth(prefix: str, start: Term, gain: Term) -> tuple[Step, ...]:
    """Bind the growth of a quantity from `start` by `gain`, and then v, 1 - v and s."""
    d, g, v, rest, s = (f"{prefix}_{name}" for name in ("start", "gain", "v", "rest", "s"))

    def of_v(rows: Rows) -> dict[str, pl.Expr]:
        ends = rows.column(g) + 2 * rows.column(d)
        return {v: rows.column(g) / ends, rest: 2 * rows.column(d) / ends}

    def of_s(rows: Rows) -> dict[str, pl.Expr]:
        w = rows.column(v) * rows.column(v)
        series = 1 / 3 + w * (1 / 5 + w * (1 / 7 + w * (1 / 9)))
        atanh = (rows.column(g) / rows.column(d)).log1p() / 2
        closed = (atanh / rows.column(v) - 1) / w
        return {s: pl.when(rows.column(v).abs() < 0.01).then(series).otherwise(closed)}

    return lambda rows: {d: start(rows), g: gain(rows)}, of_v, of_s


def _g1(rows: Rows, prefix: str) -> pl.Expr:
    v, rest, s = (rows.column(f"{prefix}_{name}") for name in ("v", "rest", "s"))
    return rest * (1 + v * v * s)


def _g2(rows: Rows, prefix: str) -> pl.Expr:
    v, rest, s = (rows.column(f"{prefix}_{name}") for name in ("v", "rest", "s"))
    return rest * (1 - rest * v * s) / 2


_ALARMS = f"{RESERVED}alarms"


def _alarms(recall: pl.Expr, fpr: pl.Expr, eta: pl.Expr) -> pl.Expr:
    return eta * recall + (1 - eta) * fpr


def _pr_auc(rows: Rows) -> pl.Expr:
    start, rest = rows.column(f"{_ALARMS}_start"), rows.column(f"{_ALARMS}_rest")
    sums = rows.recall_before * _g1(rows, _ALARMS) + rows.rise * _g2(rows, _ALARMS)
    # From the origin precision is the same all along.
    constant = _precision(rows.recall, rows.fpr, rows.eta)
    from_origin = (start == 0) | (rest == 0)
    return rows.rise * pl.when(from_origin).then(constant).otherwise(rows.eta * sums / start)


def pr_auc_trapezoid(anchor: Literal["first", "one", "none"] = "first") -> CurveMetric:
    """The area under the PR curve with its points joined by straight lines.

    Such lines are not achievable (DG); for comparison with other software only. At recall 0,
    where precision is undefined, `anchor` puts the first defined precision ("first") or 1 ("one",
    as scikit-learn's `auc(recall, precision)` and yardstick), or there is no area to the left of
    the first recall ("none", as nci_eval).
    """
    if anchor not in ("first", "one", "none"):
        raise PrcError(f'anchor= is "first", "one" or "none"; got {anchor!r}')

    def term(rows: Rows) -> pl.Expr:
        eta = rows.eta
        here = _precision(rows.recall, rows.fpr, eta)
        before = _precision(rows.recall_before, rows.fpr_before, eta)
        # "none": the opposite of what is here, so that the mean is 0
        at_0 = {"first": here, "one": pl.lit(1.0), "none": -here}[anchor]
        undefined = (rows.recall_before == 0) & ((rows.fpr_before == 0) | (eta == 1))
        mean = (here + pl.when(undefined).then(at_0).otherwise(before)) / 2
        return rows.rise * mean

    return CurveMetric(
        f'pr_auc_trapezoid("{anchor}")',
        term,
        finish=_where_precision_is,
        source="linear interpolation",
    )


# Areas under the precision-recall-gain curve --------------------------------------------------


_START, _WIDTH = f"{RESERVED}gain_start", f"{RESERVED}gain_width"
_GAIN_BEFORE, _GAIN = f"{RESERVED}gain_before", f"{RESERVED}gain"


def _gain_start(rows: Rows) -> dict[str, pl.Expr]:
    """Recall gain is 0 where recall is eta: only what is right of it counts."""
    return {_START: pl.max_horizontal(rows.recall_before, rows.eta)}


def _gain_ends(rows: Rows) -> dict[str, pl.Expr]:
    """Of that part of a segment: its width, in a unit that bounds the sum, and precision gain at
    its ends."""
    eta, start = rows.eta, rows.column(_START)
    share = (start - rows.recall_before) / rows.rise
    fpr = rows.fpr_before + (rows.fpr - rows.fpr_before) * share
    width = _gain_unit(eta) * (eta / (1 - eta)) * (rows.recall - start) / (start * rows.recall)
    return {
        _WIDTH: pl.when(rows.recall > start).then(width).otherwise(0.0),
        _GAIN_BEFORE: 1 - fpr / start,
        _GAIN: 1 - rows.fpr / rows.recall,
    }


def _auprg(rows: Rows) -> pl.Expr:
    width = rows.column(_WIDTH)
    mean = (rows.column(_GAIN_BEFORE) + rows.column(_GAIN)) / 2
    return pl.when(width > 0).then(width * mean).otherwise(0.0)


def _auprg_clipped(rows: Rows) -> pl.Expr:
    width, start, end = map(rows.column, (_WIDTH, _GAIN_BEFORE, _GAIN))
    high, low = pl.max_horizontal(start, end), pl.min_horizontal(start, end)
    triangle = high * high / (2 * (high - low))
    mean = pl.when(low >= 0).then((start + end) / 2).when(high <= 0).then(0.0).otherwise(triangle)
    return pl.when(width > 0).then(width * mean).otherwise(0.0)


# Areas under the ROC curve, along its recall axis ---------------------------------------------


def _roc_auc(rows: Rows) -> pl.Expr:
    return rows.rise * ((1 - rows.fpr_before) + (1 - rows.fpr)) / 2


def _area_up_to(max_fpr: float) -> Term:
    def term(rows: Rows) -> pl.Expr:
        start, end = max_fpr - rows.fpr_before, max_fpr - rows.fpr
        # Of a segment that crosses max_fpr only the part before it counts.
        mean = pl.when(end >= 0).then((start + end) / 2).otherwise(start * start / (start - end) / 2)
        return pl.when(start > 0).then(rows.rise * mean).otherwise(0.0)

    return term


def _max_fpr(max_fpr: float) -> float:
    if not 0 < max_fpr <= 1:
        raise PrcError(f"max_fpr must lie in (0, 1]; got {max_fpr}")
    return float(max_fpr)


def partial_roc_auc(max_fpr: float) -> CurveMetric:
    """The area under the ROC curve left of `max_fpr`, not standardized: at most `max_fpr`."""
    limit = _max_fpr(max_fpr)
    return CurveMetric(
        f"partial_roc_auc({limit:g})",
        _area_up_to(limit),
        range=(0.0, limit),
        depends_on_eta=False,
        finish=_with_both_classes,
        source="M",
    )


def partial_roc_auc_mcclish(max_fpr: float) -> CurveMetric:
    """The same area on a scale of 1/2 for random and 1 for perfect (M).

    It is what scikit-learn's `roc_auc_score(max_fpr=)` returns.
    """
    limit = _max_fpr(max_fpr)
    random = limit * limit / 2

    def finish(area: pl.Expr, curve: Curve) -> pl.Expr:
        return _with_both_classes((1 + (area - random) * (1 / (limit - random))) / 2, curve)

    return CurveMetric(
        f"partial_roc_auc_mcclish({limit:g})",
        _area_up_to(limit),
        range=((1 - random / (limit - random)) / 2, 1.0),
        depends_on_eta=False,
        finish=finish,
        source="M",
    )


# At a point of the curve ----------------------------------------------------------------------


def best(metric: str | PointMetric) -> CurveMetric:
    """The best value of a point metric over all thresholds; its threshold is `operating_points`'.

    The least one where less is better.
    """
    [of] = point.point_metrics(metric)
    return CurveMetric(
        f"best({of.name})",
        lambda rows: rows.value(of),
        total="max" if of.is_best_at_its_greatest() else "min",
        range=of.range,
        direction=of.direction,
        depends_on_eta=of.depends_on_eta and of.eta is None,
        source=of.source,
        needs="corners" if of.falls_with_fpr else "all",
    )


def recall_at_precision(precision: float) -> CurveMetric:
    """The highest recall among thresholds of at least this precision; 0 if there are none."""
    if not 0 <= precision <= 1:
        raise PrcError(f"precision must lie in [0, 1]; got {precision}")

    def term(rows: Rows) -> pl.Expr:
        enough = rows.value(point.precision) >= precision
        return pl.when(enough).then(rows.recall).otherwise(0.0)

    return CurveMetric(
        f"recall_at_precision({precision:g})",
        term,
        total="max",
        finish=_where_precision_is,
        source="recall",
    )


def precision_at_recall(recall: float) -> CurveMetric:
    """Precision where recall first reaches a value, on the ROC curve joined by straight lines (DG).

    A recall between two thresholds is achieved by choosing between them at random.
    """
    if not 0 < recall <= 1:
        raise PrcError(f"recall must lie in (0, 1]; got {recall}")
    tolerance = 1e-12

    def term(rows: Rows) -> pl.Expr:
        share = ((recall - rows.recall_before) / rows.rise).clip(upper_bound=1.0)
        fpr = rows.fpr_before + (rows.fpr - rows.fpr_before) * share
        hit = (rows.recall_before < recall - tolerance) & (rows.recall >= recall - tolerance)
        return pl.when(hit).then(_precision(pl.lit(recall), fpr, rows.eta)).fill_nan(None)

    return CurveMetric(
        f"precision_at_recall({recall:g})",
        term,
        total="max",
        finish=_where_known,
        source="W 2, DG",
    )


def _where_known(value: pl.Expr, curve: Curve) -> pl.Expr:
    """As for an area, but a single precision may be defined at eta = 0 though others are not."""
    known = curve.has_negatives | (curve.eta == 1)
    return pl.when(curve.has_positives & known).then(value)


# Averages over prevalence ---------------------------------------------------------------------


def integrated_average_precision(
    low: float, high: float, prior: Literal["uniform", "log", "logit"] = "uniform"
) -> CurveMetric:
    """Average precision, averaged over prevalences from `low` to `high` in closed form.

    `prior` says on which scale all prevalences weigh the same: eta itself, its logarithm, or its
    logit. With "log" `low` is above 0; with "logit" `high` is below 1, too.
    """
    if prior not in ("uniform", "log", "logit"):
        raise PrcError(f'prior= is "uniform", "log" or "logit"; got {prior!r}')
    open_low, open_high = prior != "uniform", prior == "logit"
    if not (0 <= low < high <= 1) or (open_low and low == 0) or (open_high and high == 1):
        ends = f"0 {'<' if open_low else '<='} low < high {'<' if open_high else '<='} 1"
        raise PrcError(
            f"integrated_average_precision with prior={prior!r} needs {ends}; got {low}, {high}"
        )

    span, name = high - low, f"{RESERVED}{prior}_{low!r}_{high!r}"
    odds = math.inf if high == 1 else high / (1 - high)
    odds_low = low / (1 - low)

    def term(rows: Rows) -> pl.Expr:
        recall, fpr = rows.recall, rows.fpr
        if prior == "logit":
            ratio = (odds - odds_low) * recall / (fpr + odds_low * recall)
            mean = ratio.log1p() * (1 / math.log(odds / odds_low))
        else:
            factor = recall / rows.column(f"{name}_start")
            mean = factor * (low * _g1(rows, name) + span * _g2(rows, name))
            if prior == "log":
                mean = factor * (span / math.log(high / low)) * _g1(rows, name)
        return rows.rise * pl.when(fpr == 0).then(1.0).otherwise(mean)

    def start(rows: Rows) -> pl.Expr:
        return (1 - low) * rows.fpr + low * rows.recall

    return CurveMetric(
        f'integrated_average_precision({low:g}, {high:g}, "{prior}")',
        term,
        depends_on_eta=False,
        finish=_with_both_classes,
        source="Landgrebe et al. 2006",
        steps=_growth(name, start, lambda rows: span * (rows.recall - rows.fpr)),
    )


# Transforms and baselines ---------------------------------------------------------------------


def _transformed(change: Callable[[pl.Expr, pl.Expr], pl.Expr]) -> Callable[[pl.Expr, Curve], pl.Expr]:
    return lambda area, curve: _where_precision_is(change(area, curve.eta), curve).fill_nan(None)


def _worst_pr_auc(_: pl.Expr, curve: Curve) -> pl.Expr:
    eta = curve.eta
    small: pl.Expr = pl.lit(0.0)
    for k in range(8, 0, -1):  # the formula is the sum of eta^k / (k (k + 1)) over k >= 1
        small = eta * (1 / (k * (k + 1)) + small)
    value = (
        pl.when(eta < 1e-2)
        .then(small)
        .when(eta == 1)
        .then(1.0)
        .otherwise(1 + (1 - eta) / eta * (-eta).log1p())
    )
    return pl.when(curve.has_positives & (curve.has_negatives | (eta == 1))).then(value)


average_precision = CurveMetric(
    "average_precision", _average_precision, finish=_where_precision_is, source="W 2, step sum"
)
average_precision_interpolated = CurveMetric(
    "average_precision_interpolated",
    _average_precision_interpolated,
    finish=_where_precision_is,
    source="H",
    looks_ahead=True,
)
pr_auc = CurveMetric(
    "pr_auc",
    _pr_auc,
    finish=_where_precision_is,
    source="DG",
    steps=_growth(
        _ALARMS,
        lambda rows: _alarms(rows.recall_before, rows.fpr_before, rows.eta),
        lambda rows: _alarms(rows.rise, rows.fpr - rows.fpr_before, rows.eta),
    ),
)
auprg = CurveMetric(
    "auprg",
    _auprg,
    range=(-math.inf, 1.0),
    finish=_where_gains_are,
    source="W 8-9, FK",
    steps=(_gain_start, _gain_ends),
)
auprg_clipped = CurveMetric(
    "auprg_clipped",
    _auprg_clipped,
    finish=_where_gains_are,
    source="W 8-9, FK",
    steps=(_gain_start, _gain_ends),
)
roc_auc = CurveMetric(
    "roc_auc", _roc_auc, depends_on_eta=False, finish=_with_both_classes, source="R Fig. 4"
)
marginal_average_precision = CurveMetric(
    "marginal_average_precision",
    _average_precision,
    range=(-1.0, 1.0),
    finish=_transformed(lambda area, eta: area - eta),
    source="R Fig. 6",
)
normalized_average_precision = CurveMetric(
    "normalized_average_precision",
    _average_precision,
    range=(0.0, math.inf),
    finish=_transformed(lambda area, eta: area / eta),
    source="R Fig. 6",
)
min_max_average_precision = CurveMetric(
    "min_max_average_precision",
    _average_precision,
    range=(-math.inf, 1.0),
    finish=_transformed(lambda area, eta: (area - eta) / (1 - eta)),
    source="R Fig. 6",
)
worst_pr_auc = CurveMetric(
    "worst_pr_auc",
    lambda rows: rows.recall,
    total="max",
    finish=_worst_pr_auc,
    direction="none",
    source="B",
)

CURVE_METRICS: dict[str, CurveMetric] = {
    value.name: value for value in list(globals().values()) if isinstance(value, CurveMetric)
}
"""Every metric that a string may name, by that name."""

_ALSO_CALLED = {
    "ap": "average_precision",
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "auc_roc": "roc_auc",
    "auprc": "pr_auc",
    "aupr": "pr_auc",
    "auc_pr": "pr_auc",
    "average_precision_score": "average_precision",
    "roc_auc_score": "roc_auc",
}
_WITH_PARAMETERS = (
    "best",
    "integrated_average_precision",
    "partial_roc_auc",
    "partial_roc_auc_mcclish",
    "pr_auc_trapezoid",
    "precision_at_recall",
    "recall_at_precision",
)


def curve_metrics(metrics: str | CurveMetric | Iterable[str | CurveMetric]) -> list[CurveMetric]:
    """The metrics asked for, in the order asked; unknown names and duplicates raise."""
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        metrics = [metrics]
    found = [_curve_metric(metric) for metric in metrics]
    point.refuse_repeats([metric.name for metric in found])
    return found


def _curve_metric(metric: object) -> CurveMetric:
    if isinstance(metric, CurveMetric):
        return metric
    if isinstance(metric, PointMetric) or metric in point.POINT_METRICS:
        name = metric.name if isinstance(metric, PointMetric) else metric
        raise PrcError(
            f"{name!r} has a value at each threshold; pass metrics.best(...) of it, "
            "metrics.precision_at_recall(...), or ask operating_points for it"
        )
    if not isinstance(metric, str):
        raise PrcError(f"a metric is a name or a CurveMetric; got {metric!r}")
    return point.look_up(metric, CURVE_METRICS, _ALSO_CALLED, _WITH_PARAMETERS)
