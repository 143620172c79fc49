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
et al. 2024, (H) Hoiem et al. 2012, (M) McClish 1989.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import NormalDist
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve import baselines
from polars_prcurve import point_metrics as point
from polars_prcurve.baselines import atanh_rest
from polars_prcurve.columns import (
    AUC,
    ENVELOPE,
    FPR,
    FPR_BEFORE,
    N_NEG_EFFECTIVE,
    ODDS,
    RATIO,
    RECALL_BEFORE,
    RESERVED,
    RISE,
    RUN,
    SHIFT,
    SLOPE,
)
from polars_prcurve.errors import PrcError
from polars_prcurve.exact import SHARE, from_whole, normal_cdf, whole, whole_shares
from polars_prcurve.point_metrics import PointMetric

__all__ = [
    "CurveMetric",
    "auprg",
    "auprg_clipped",
    "auprg_hull",
    "average_precision",
    "average_precision_interpolated",
    "best",
    "boyd_pr_auc",
    "integrated",
    "integrated_average_precision",
    "marginal_average_precision",
    "min_max_average_precision",
    "normalized_average_precision",
    "partial_roc_auc",
    "partial_roc_auc_mcclish",
    "pr_auc",
    "pr_auc_hull",
    "pr_auc_trapezoid",
    "precision_at_recall",
    "random_average_precision",
    "recall_at_precision",
    "roc_auc",
    "roc_auc_hull",
    "worst_average_precision",
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
    short: bool = False
    """Along each segment both rates grow by SHORT of theirs or less."""
    unit: float = 1.0
    """What a rise is multiplied by."""

    @property
    def recall(self) -> pl.Expr:
        return self.column("recall")

    @property
    def fpr(self) -> pl.Expr:
        """0 in a curve without negatives."""
        return self.column(FPR)

    @property
    def recall_before(self) -> pl.Expr:
        return self.column(RECALL_BEFORE)

    @property
    def fpr_before(self) -> pl.Expr:
        return self.column(FPR_BEFORE)

    @property
    def rise(self) -> pl.Expr:
        """From `recall_before` to `recall`, times `unit`."""
        return self.column(RISE) if self.unit == 1 else self.column(RISE) * self.unit

    @property
    def run(self) -> pl.Expr:
        """From `fpr_before` to `fpr`."""
        return self.column(RUN)

    @property
    def odds(self) -> pl.Expr:
        """Negatives to one positive, `(1 - eta) / eta`."""
        return self.column(ODDS)

    @property
    def ratio(self) -> pl.Expr:
        """`fpr / recall`, for what is asked at many prevalences."""
        return self.column(RATIO)

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
    n_pos: pl.Expr
    """Examples; null where they have weights, or where rates came in their place."""
    n_neg: pl.Expr


class Average(NamedTuple):
    """A metric, prevalences, and a weight for each; the weights sum to 1."""

    of: CurveMetric
    etas: list[float]
    weights: list[float]


Term: TypeAlias = Callable[[Rows], pl.Expr]
Step: TypeAlias = Callable[[Rows], dict[str, pl.Expr]]


class Influence(NamedTuple):
    """How much an example moves the estimate, but for a constant; see `influence`."""

    positive: Term
    """Of the positives of a row."""
    negative: Term
    """Of its negatives."""
    between: Term
    """Of negatives that score less than the row before and more than this one."""
    sums: Step
    """What all three read as sums over the rows above."""
    ddof: int
    """By how much the number of examples is less, where a variance is divided by it."""


class Fitted(NamedTuple):
    """What a node of a fitted curve contributes; see `binormal`."""

    term: Term
    steps: tuple[Step, ...] = ()


Needs: TypeAlias = Literal["rises", "corners", "all"]
"""Which rows can matter: those on which recall rises; those up to the first false positive, too, since
at eta = 0 much is undefined without one; or any."""


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
    once: Step | None = field(default=None, repr=False)
    """What is bound by name first: it reads neither eta nor odds."""
    steps: tuple[Step, ...] = field(default=(), repr=False)
    """What is bound by name before the term, one step after another."""
    needs: Needs = field(default="rises", repr=False)
    by_rise: bool = field(default=False, repr=False)
    """The term is `Rows.rise` times what does not read this."""
    minds_length: bool = field(default=False, repr=False)
    """Its formula is shorter for short segments, see `Rows.short`."""
    ends_only: bool = field(default=False, repr=False)
    """It reads neither `Rows.fpr_before` nor `Rows.run`."""
    looks_ahead: bool = field(default=False, repr=False)
    """Reads `Rows.envelope`."""
    on_hull: bool = field(default=False, repr=False)
    """Its rows are the vertices of the convex hull of the ROC curve."""
    averages: Average | None = field(default=None, repr=False)
    """Has no rows of its own: the weighted mean of another metric."""
    influence: Influence | None = field(default=None, repr=False)
    """What its standard error is made from."""
    cautious: CurveMetric | None = field(default=None, repr=False)
    """The same of a curve with half a false positive more at every threshold."""
    at_recall: float | None = field(default=None, repr=False)
    """It is precision at this recall."""
    fitted: Fitted | None = field(default=None, repr=False)
    """The same of a curve that has a model in place of rows."""

    def alias(self, name: str) -> CurveMetric:
        """The same metric under another name."""
        return replace(self, name=name)

    def prepared(self, rows: Rows) -> pl.Expr:
        """The term, as it is added up."""
        if self.total != "sum":
            return self.term(rows)
        if self.by_rise:  # the rise is multiplied, once for all prevalences, and not the term
            return whole(self.term(replace(rows, unit=SHARE)))
        return whole_shares(self.term(rows))

    def reduced(self, terms: pl.Expr) -> pl.Expr:
        """One total from the prepared terms, or from totals of some of them."""
        return {"sum": terms.sum, "max": terms.max, "min": terms.min}[self.total]()

    def restored(self, total: pl.Expr) -> pl.Expr:
        """A total as a number, of terms that were `prepared`."""
        return from_whole(total) if self.total == "sum" else total


# Where a metric is defined --------------------------------------------------------------------


def _with_both_classes(value: pl.Expr, curve: Curve) -> pl.Expr:
    return pl.when(curve.has_positives & curve.has_negatives).then(value)


def _where_precision_is(value: pl.Expr, curve: Curve) -> pl.Expr:
    """Precision needs no negatives at eta = 1, and false positives at eta = 0."""
    at_0 = (curve.eta > 0) | (curve.least_fpr > 0)
    known = curve.has_negatives | (curve.eta == 1)
    return pl.when(curve.has_positives & known & at_0).then(value)


_LEAST_ETA = 2.0**-69


def _where_gains_are(value: pl.Expr, curve: Curve) -> pl.Expr:
    """Recall gain is undefined at eta = 1, and the area has no limit at eta = 0.

    It may be as low as -1 / eta: too far below 0 for the sum where eta is below 2**-69.
    """
    inside = (curve.eta >= _LEAST_ETA) & (curve.eta < 1)
    area = value / _gain_unit(curve.eta)
    return pl.when(curve.has_positives & curve.has_negatives & inside).then(area)


def _gain_unit(eta: pl.Expr) -> pl.Expr:
    """What areas of gain are multiplied by, to be at most 1 or at least -2**9."""
    return eta.clip(lower_bound=2.0**-60)


# Areas under the precision-recall curve -------------------------------------------------------


def odds_against(eta: pl.Expr) -> pl.Expr:
    """Negatives to one positive.

    Infinite at 0 alone: else an fpr of 0, times these, would be undefined.
    """
    return pl.when(eta == 0).then(math.inf).otherwise((1 - eta) / eta.clip(lower_bound=1e-300))


def _precision(recall: pl.Expr, fpr: pl.Expr, odds: pl.Expr) -> pl.Expr:
    return recall / (recall + odds * fpr)


def _average_precision(rows: Rows) -> pl.Expr:
    return rows.rise / (1 + rows.odds * rows.ratio)


# A fitted curve has no steps: all areas under its PR curve are one.
_SMOOTH_AREA = Fitted(_average_precision)


# One more positive at a row takes the precision there, and adds to the alarms of all rows below; one
# more negative adds to those only. With p the precision, the recall of a row counts as
# p (1 - p) / recall and its fpr as p (1 - p) / fpr, each times the rise. No negative is at or above a
# row of fpr 0. At eta = 0, p is 0 whatever the sample.

_OF_RECALL, _OF_FPR = f"{RESERVED}of_recall", f"{RESERVED}of_fpr"


def _alarm_sums(rows: Rows) -> dict[str, pl.Expr]:
    alarms = rows.recall + rows.odds * rows.fpr
    lost = rows.rise * (rows.recall / alarms) * (rows.odds * rows.fpr / alarms)
    counts = (rows.rise > 0) & (rows.fpr > 0) & rows.odds.is_finite()
    return {
        name: pl.when(counts).then(lost / rate).otherwise(0.0)
        for name, rate in ((_OF_RECALL, rows.recall), (_OF_FPR, rows.fpr))
    }


def _of_positive(rows: Rows) -> pl.Expr:
    precision = _precision(rows.recall, rows.fpr, rows.odds)
    return pl.when(rows.rise > 0).then(precision - rows.column(_OF_RECALL)).otherwise(0.0)


_OF_AVERAGE_PRECISION = Influence(
    _of_positive,
    lambda rows: rows.column(_OF_FPR),
    lambda rows: rows.column(_OF_FPR),
    _alarm_sums,
    ddof=0,
)


def _average_precision_interpolated(rows: Rows) -> pl.Expr:
    return rows.rise / (1 + rows.odds * rows.envelope)


# The mean of precision along a segment, over which alarms D = recall + odds fpr grow from D0 to D1,
# is (recall_before g1(u) + rise g2(u)) / D0 with u = (D1 - D0) / D0,
#     g1(u) = log1p(u) / u    and    g2(u) = (u - log1p(u)) / u^2.
# With v = u / (2 + u) = (D1 - D0) / (D1 + D0) and the series of atanh,
#     s = (atanh(v) / v - 1) / v^2 = 1/3 + v^2/5 + v^4/7 + ...
#     g1 = (1 - v) (1 + v^2 s)    and    g2 = (1 - v) (1 - (1 - v) v s) / 2,
# in which nothing cancels. The same two functions give means over prevalences.


def _growth(prefix: str, start: Term, end: Term, gain: Term) -> tuple[Step, ...]:
    """Bind the growth of a quantity from `start` to `end`, by `gain`, and v, 1 - v and s of it."""
    d, e, g, v, rest, s = (f"{prefix}_{name}" for name in ("start", "end", "gain", "v", "rest", "s"))

    def of_v(rows: Rows) -> dict[str, pl.Expr]:
        both = rows.column(d) + rows.column(e)
        return {v: rows.column(g) / both, rest: 2 * rows.column(d) / both}

    def of_s(rows: Rows) -> dict[str, pl.Expr]:
        # s is the same for v and -v; u of a quantity that falls to nearly 0 would have lost its digits
        less = pl.min_horizontal(rows.column(d), rows.column(e)).clip(lower_bound=1e-300)
        return {s: atanh_rest(rows.column(g).abs() / less, rows.column(v).abs())}

    return lambda rows: {d: start(rows), e: end(rows), g: gain(rows)}, of_v, of_s


def _g1(rows: Rows, prefix: str) -> pl.Expr:
    v, rest, s = (rows.column(f"{prefix}_{name}") for name in ("v", "rest", "s"))
    return rest * (1 + v * v * s)


def _g2(rows: Rows, prefix: str) -> pl.Expr:
    v, rest, s = (rows.column(f"{prefix}_{name}") for name in ("v", "rest", "s"))
    return rest * (1 - rest * v * s) / 2


# With both g's put in, the mean is (1 + w v s) / m, where 1 / m is precision in the middle of the
# segment, and v is w and the share that the rise has in both recalls. Odds come last:
#     m = 1 + odds (fpr_before + fpr) / (recall_before + recall)
#     w = odds bend / m,  bend = 2 (run recall_before - rise fpr_before) / (recall_before + recall)^2.
# A ray from the origin has no bend. 1 + w v s is above 0.89: nothing cancels here either. Along a
# segment on which both rates grow by SHORT of theirs or less the share and v are below SHORT / 2, so
# |w| is, and two terms of s are enough: the third, v^4 / 7, adds less than 2^-53 to w v s.

SHORT = 0.006
_MIDDLE, _SHARE, _BEND = (f"{RESERVED}{name}" for name in ("middle", "share", "bend"))
_M, _W, _VS = (f"{RESERVED}{name}" for name in ("m", "w", "vs"))


def _of_segment(rows: Rows) -> dict[str, pl.Expr]:
    both = rows.recall_before + rows.recall
    share = rows.rise / both
    bend = rows.run * (rows.recall_before / both) - share * rows.fpr_before
    return {_MIDDLE: (rows.fpr_before + rows.fpr) / both, _SHARE: share, _BEND: 2 * bend / both}


def _vs(rows: Rows) -> dict[str, pl.Expr]:
    share = rows.column(_SHARE)
    v = share + rows.column(_W)
    short = v * (1 / 3 + v * v * (1 / 5))
    if rows.short:
        return {_VS: short}
    start = rows.recall_before + rows.odds * rows.fpr_before
    gain = rows.rise + rows.odds * rows.run
    exact = gain / (2 * start + gain)  # v, of which digits are lost above where w is near -share
    long = exact * atanh_rest(gain / start, exact)
    long = pl.when(start == 0).then(0.0).otherwise(long)
    is_short = (share < SHORT / 2) & (v.abs() < SHORT / 2)
    return {_VS: pl.when(is_short).then(short).otherwise(long)}


def _pr_auc(rows: Rows) -> pl.Expr:
    return rows.rise * ((1 + rows.column(_W) * rows.column(_VS)) / rows.column(_M))


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
        here = _precision(rows.recall, rows.fpr, rows.odds)
        before = _precision(rows.recall_before, rows.fpr_before, rows.odds)
        # "none": the opposite of what is here, so that the mean is 0
        at_0 = {"first": here, "one": pl.lit(1.0), "none": -here}[anchor]
        undefined = (rows.recall_before == 0) & ((rows.fpr_before == 0) | (rows.odds == 0))
        mean = (here + pl.when(undefined).then(at_0).otherwise(before)) / 2
        return rows.rise * mean

    return CurveMetric(
        f'pr_auc_trapezoid("{anchor}")',
        term,
        finish=_where_precision_is,
        source="linear interpolation",
        fitted=_SMOOTH_AREA,
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
    fpr = rows.fpr_before + rows.run * share
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


# The share of negatives below a positive, and of positives above a negative, ties by halves
# (DeLong et al. 1988).
_OF_ROC_AUC = Influence(
    lambda rows: -(rows.fpr_before + rows.fpr) / 2,
    lambda rows: (rows.recall_before + rows.recall) / 2,
    lambda rows: rows.recall_before,
    lambda rows: {},
    ddof=1,
)


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
        depends_on_eta=of.depends_on_eta,
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
        ends_only=True,
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
        fpr = rows.fpr_before + rows.run * share
        hit = (rows.recall_before < recall - tolerance) & (rows.recall >= recall - tolerance)
        return pl.when(hit).then(_precision(pl.lit(recall), fpr, rows.odds)).fill_nan(None)

    # Eq. 7 of Brodersen et al. 2010, whose print lacks the outer Phi.
    z = -NormalDist().inv_cdf(recall) if recall < 1 else -math.inf

    def of_model(rows: Rows) -> pl.Expr:
        fpr = normal_cdf(-(rows.column(SLOPE) * z + rows.column(SHIFT)))
        return _precision(pl.lit(recall), fpr, rows.odds).fill_nan(None)

    return CurveMetric(
        f"precision_at_recall({recall:g})",
        term,
        total="max",
        finish=_where_known,
        source="W 2, DG",
        at_recall=float(recall),
        fitted=Fitted(of_model),
    )


def _where_known(value: pl.Expr, curve: Curve) -> pl.Expr:
    """As for an area, but a single precision may be defined at eta = 0 though others are not."""
    known = curve.has_negatives | (curve.eta == 1)
    return pl.when(curve.has_positives & known).then(value)


# Averages over prevalence ---------------------------------------------------------------------


Prior: TypeAlias = 'Literal["uniform", "log", "logit"] | tuple[Literal["beta"], float, float]'


def integrated_average_precision(
    low: float, high: float, prior: Literal["uniform", "log", "logit"] = "uniform"
) -> CurveMetric:
    """Average precision, averaged over prevalences from `low` to `high` in closed form.

    `prior` says on which scale all prevalences weigh the same: eta itself, its logarithm, or its
    logit. With "log" `low` is above 0; with "logit" `high` is below 1, too.
    """
    if prior not in ("uniform", "log", "logit"):
        raise PrcError(
            f'prior= is "uniform", "log" or "logit"; got {prior!r} (others: metrics.integrated)'
        )
    _exponents("integrated_average_precision", low, high, prior)
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

    steps = _growth(
        name,
        lambda rows: (1 - low) * rows.fpr + low * rows.recall,
        lambda rows: (1 - high) * rows.fpr + high * rows.recall,
        lambda rows: span * (rows.recall - rows.fpr),
    )
    return CurveMetric(
        f'integrated_average_precision({low:g}, {high:g}, "{prior}")',
        term,
        depends_on_eta=False,
        finish=_with_both_classes,
        source="Landgrebe et al. 2006",
        steps=steps,
        fitted=Fitted(term, steps),
    )


def integrated(
    metric: str | CurveMetric, low: float, high: float, prior: Prior = "uniform"
) -> CurveMetric:
    """A curve metric, averaged over prevalences from `low` to `high` by Gauss's rule in logit eta.

    `prior` is as for `integrated_average_precision`, or `("beta", a, b)` for the beta
    distribution, cut off at `low` and `high`. Null where the metric is null in between. Good to
    1e-12 for areas under the PR curve; to four digits or five for what has corners in eta, where
    another row takes over (`auprg`, `best(f1)`), to two or three for what jumps there
    (`recall_at_precision`). It costs as much as the metric at 60 to 300
    prevalences; there is no expression for it.
    """
    import numpy as np

    [of] = curve_metrics(metric)
    if not of.depends_on_eta:
        raise PrcError(f"{of.name} does not depend on prevalence, so there is nothing to average")
    a, b = _exponents("integrated", low, high, prior)
    # Past 40 / a no more than exp(-40) of the weight is left.
    start = math.log(low / (1 - low)) if low > 0 else -40 / a
    end = math.log(high / (1 - high)) if high < 1 else 40 / b
    places, weights = np.polynomial.legendre.leggauss(24 + math.ceil(3 * (end - start)))
    x = (start + end) / 2 + places * (end - start) / 2
    # The density of a logit: eta**a (1 - eta)**b, eta = 1 / (1 + exp(-x)), up to a factor.
    mass = weights * np.exp(-a * np.logaddexp(0, -x) - b * np.logaddexp(0, x))
    # Prevalences that floats cannot tell from 0 or 1, or no sum can tell apart, move a little inside.
    etas = np.clip(1 / (1 + np.exp(-x)), _LEAST_ETA, 1 - 2.0**-53)
    averages = Average(of, etas.tolist(), (mass / mass.sum()).tolist())
    return replace(
        of,
        name=f"integrated({of.name}, {low:g}, {high:g}, {json.dumps(prior)})",
        depends_on_eta=False,
        source="Landgrebe et al. 2006",
        averages=averages,
        influence=None,
        cautious=None,
        at_recall=None,
    )


def _exponents(name: str, low: float, high: float, prior: Prior) -> tuple[float, float]:
    """The a and b of a beta distribution; 0 for one that has no mass at that end."""
    known = {"uniform": (1.0, 1.0), "log": (0.0, 1.0), "logit": (0.0, 0.0)}
    if isinstance(prior, str) and prior in known:
        a, b = known[prior]
    elif isinstance(prior, tuple) and len(prior) == 3 and prior[0] == "beta" and min(prior[1:]) > 0:
        a, b = map(float, prior[1:])
    else:
        raise PrcError(
            f'prior= is "uniform", "log", "logit" or ("beta", a, b) with a and b above 0; got {prior!r}'
        )
    # A beta distribution may lie so near an end that no prevalence is left to stand for it.
    open_low, open_high = a < 0.1, b < 0.1
    if not (0 <= low < high <= 1) or (open_low and low == 0) or (open_high and high == 1):
        ends = f"0 {'<' if open_low else '<='} low < high {'<' if open_high else '<='} 1"
        raise PrcError(f"{name} with prior={prior!r} needs {ends}; got {low}, {high}")
    return a, b


# Transforms and baselines ---------------------------------------------------------------------


def _transformed(change: Callable[[pl.Expr, pl.Expr], pl.Expr]) -> Callable[[pl.Expr, Curve], pl.Expr]:
    return lambda area, curve: _where_precision_is(change(area, curve.eta), curve).fill_nan(None)


def _baseline(value: Callable[[Curve], pl.Expr]) -> Callable[[pl.Expr, Curve], pl.Expr]:
    """What does not depend on the rows, where precision may be defined."""
    return lambda _, curve: _where_known(value(curve), curve)


def _of_examples(value: Callable[[Curve], pl.Expr]) -> Callable[[pl.Expr, Curve], pl.Expr]:
    """The same, of numbers of examples."""
    return _baseline(lambda curve: pl.when(curve.n_pos.is_not_null()).then(value(curve)))


def _random(curve: Curve) -> pl.Expr:
    mean = baselines.random_average_precision(curve.n_pos, curve.n_neg, odds_against(curve.eta))
    return pl.when(curve.eta == 1).then(1.0).otherwise(mean)


def _above(least: Callable[[pl.Expr], pl.Expr]) -> Callable[[pl.Expr, Curve], pl.Expr]:
    """The share of what there is above the least that can be had; at eta = 1 there is nothing."""

    def finish(area: pl.Expr, curve: Curve) -> pl.Expr:
        low = least(curve.eta)
        return _where_precision_is(pl.when(curve.eta < 1).then((area - low) / (1 - low)), curve)

    return finish


def _cautious_average_precision(rows: Rows) -> pl.Expr:
    fpr = rows.fpr + 0.5 / rows.column(N_NEG_EFFECTIVE)
    return rows.rise * _precision(rows.recall, fpr, rows.odds)


average_precision = CurveMetric(
    "average_precision",
    _average_precision,
    by_rise=True,
    ends_only=True,
    finish=_where_precision_is,
    source="W 2, step sum",
    influence=_OF_AVERAGE_PRECISION,
    cautious=CurveMetric("cautious_average_precision", _cautious_average_precision),
    fitted=_SMOOTH_AREA,
)
"""The sum over thresholds of precision times the rise in recall, as in scikit-learn."""
average_precision_interpolated = CurveMetric(
    "average_precision_interpolated",
    _average_precision_interpolated,
    by_rise=True,
    ends_only=True,
    finish=_where_precision_is,
    source="H",
    looks_ahead=True,
)
"""The same with the best precision of this and all lower thresholds."""
pr_auc = CurveMetric(
    "pr_auc",
    _pr_auc,
    finish=_where_precision_is,
    source="DG",
    once=_of_segment,
    steps=(
        lambda rows: {_M: 1 + rows.odds * rows.column(_MIDDLE)},
        lambda rows: {_W: rows.odds * rows.column(_BEND) / rows.column(_M)},
        _vs,
    ),
    by_rise=True,
    minds_length=True,
    fitted=_SMOOTH_AREA,
)
"""The area under what choosing between neighbouring thresholds at random achieves."""
auprg = CurveMetric(
    "auprg",
    _auprg,
    range=(-math.inf, 1.0),
    finish=_where_gains_are,
    source="W 8-9, FK",
    steps=(_gain_start, _gain_ends),
)
"""The area under precision gain by recall gain, from recall gain 0 on, below 0 where precision is
less than eta."""
auprg_clipped = CurveMetric(
    "auprg_clipped",
    _auprg_clipped,
    finish=_where_gains_are,
    source="W 8-9, FK",
    steps=(_gain_start, _gain_ends),
)
"""The same with precision gain at least 0."""
roc_auc = CurveMetric(
    "roc_auc",
    _roc_auc,
    depends_on_eta=False,
    finish=_with_both_classes,
    source="R Fig. 4",
    influence=_OF_ROC_AUC,
    fitted=Fitted(lambda rows: rows.column(AUC)),
)
"""The share of pairs in which the positive scores higher than the negative, ties by halves."""
_transform = partial(replace, average_precision, source="R Fig. 6", influence=None, cautious=None)
marginal_average_precision = _transform(
    name="marginal_average_precision",
    range=(-1.0, 1.0),
    finish=_transformed(lambda area, eta: area - eta),
)
"""`average_precision - eta`."""
normalized_average_precision = _transform(
    name="normalized_average_precision",
    range=(0.0, math.inf),
    finish=_transformed(lambda area, eta: area / eta),
)
"""`average_precision / eta`."""
min_max_average_precision = _transform(
    name="min_max_average_precision",
    range=(-math.inf, 1.0),
    finish=_above(lambda eta: eta),
)
"""`(average_precision - eta) / (1 - eta)`."""
boyd_pr_auc = replace(
    pr_auc,
    name="boyd_pr_auc",
    range=(-math.inf, 1.0),
    finish=_above(baselines.worst_pr_auc),
    source="Boyd et al. 2012, DG",
    fitted=None,
)
"""`(pr_auc - worst_pr_auc) / (1 - worst_pr_auc)`."""
_of_no_row = partial(
    CurveMetric, term=lambda rows: rows.recall, total="max", ends_only=True, direction="none"
)
random_average_precision = _of_no_row(
    name="random_average_precision", finish=_of_examples(_random), source="mean over all rankings"
)
"""The mean `average_precision` of all orders of as many examples."""
worst_average_precision = _of_no_row(
    name="worst_average_precision",
    finish=_of_examples(
        lambda curve: baselines.worst_average_precision(curve.n_pos, odds_against(curve.eta))
    ),
    source="W 2, step sum",
)
"""The `average_precision` of all negatives before the first positive."""
worst_pr_auc = _of_no_row(
    name="worst_pr_auc",
    finish=_baseline(lambda curve: baselines.worst_pr_auc(curve.eta)),
    source="Boyd et al. 2012",
)
"""The `pr_auc` of all negatives before the first positive."""
pr_auc_hull = replace(pr_auc, name="pr_auc_hull", on_hull=True, fitted=None)
"""`pr_auc` of the convex hull of the ROC curve."""
auprg_hull = replace(auprg, name="auprg_hull", on_hull=True)
"""`auprg` of the convex hull of the ROC curve."""
roc_auc_hull = replace(roc_auc, name="roc_auc_hull", on_hull=True, influence=None, fitted=None)
"""`roc_auc` of the convex hull of the ROC curve."""

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
    "integrated",
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
