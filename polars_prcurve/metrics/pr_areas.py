"""The areas under the precision-recall curve, their transforms, and the areas of rankings without skill.

Sources: (W) Williams 2021, (DG) Davis and Goadrich 2006, (R) Richardson et al. 2024, (H) Hoiem et al.
2012.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Literal

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import read_choice
from polars_prcurve.metrics.curve_metric import (
    SHORT,
    CurveFacts,
    CurveMetric,
    Fitted,
    Influence,
    Limits,
    Recipe,
    Rows,
    declare_curve,
    declare_like,
    odds_against,
    precision_at,
    require_all_precisions,
    require_one_precision,
)
from polars_prcurve.metrics.elementwise import (
    Cell,
    atanh_rest,
    choose_where,
    keep_where,
    log1p,
    minimum,
)
from polars_prcurve.metrics.metric import declare_factory

# Areas of rankings without skill: of a random ranking, and of the worst one ---------------------

# All are expressions of the numbers of positives and negatives and of eta, or of the odds
# `(1 - eta) / eta`, and work in any context.


def least_pr_auc(eta: Cell) -> Cell:
    """Return the least PR AUC, `1 + (1 - eta) / eta * log(1 - eta)` (Boyd et al. 2012)."""
    # The formula cancels for a small eta. It is the sum of eta**k / (k (k + 1)) over k >= 1.
    small = 0.0
    for k in range(8, 0, -1):
        small = eta * (1 / (k * (k + 1)) + small)
    large = 1 + (1 - eta) / eta * log1p(-eta)
    return choose_where(eta < 1e-2, small, choose_where(eta == 1, 1.0, large))


def least_average_precision(n_pos: pl.Expr, odds: pl.Expr) -> pl.Expr:
    """Return the average precision of the worst ranking, in which all positives come last."""
    # It is the mean of i / (i + a) over i = 1 .. n_pos, with a = odds * n_pos. The first ten terms are
    # added, and the others come from the formula of Euler and Maclaurin: an integral and corrections.
    a = odds * n_pos
    terms = (pl.when(n_pos >= i).then(i / (i + a)).otherwise(0.0) for i in range(1, 11))
    first = sum(terms, pl.lit(0.0))
    rest = (n_pos - 10).clip(lower_bound=0)
    low = 10 + a
    high = low + rest
    v = rest / (low + high)
    # The integral is rest - a log1p(rest / low), written so that nothing cancels.
    area = v * (20 + rest) - 2 * a * v * v * v * atanh_rest(rest / low, v)
    ends = a * rest / (low * high)  # the summand at the upper end, minus the summand at the lower end
    bernoulli = {2: 1 / 12, 4: -1 / 120, 6: 1 / 252, 8: -1 / 240, 10: 1 / 132}
    slopes = sum((b * (a / high**k - a / low**k) for k, b in bernoulli.items()), pl.lit(0.0))
    mean = (first + area + ends / 2 + slopes) / n_pos
    return pl.when(odds.is_infinite()).then(0.0).otherwise(mean)


# The mean average precision of all rankings, as an integral. The i-th positive of a ranking, with j
# negatives above it, has precision i / (i + k j), where k = odds P / N. This is the integral of
# i exp(-s (i + k j)) over s > 0. In a random ranking a positive has a place u, uniform from 0 to 1, and
# each of the P - 1 other positives and of the N negatives is above it with chance u. With
# a = 1 - exp(-s) and b = 1 - exp(-k s) the mean over i and j is
#
#     integral over u and s of  exp(-s) (1 - u a)^(P-2) (1 - u a + (P-1) u exp(-s)) (1 - u b)^N,
#
# in which nothing cancels. Both integrals are sums over nodes of Gauss's rule:
# - s: beyond s = _REACH / (1 + k) only j = 0 matters, so b is held there. The rest of the integrand is
#   then a derivative in s, and its integral takes one more node. Below, s is a function of a node that
#   grows from linear to exponential.
# - u: nothing is left beyond _REACH / ((P-1) a + N b).
# Nodes are drawn towards 0. Their numbers and the pull were found by trial, for a relative error below
# 1e-13.
_REACH = 36.0


@cache
def _nodes(n: int, pull: float) -> tuple[list[float], list[float]]:
    """Return `n` nodes between 0 and 1, drawn towards 0 by `pull`, and their weights."""
    import numpy as np

    t, weights = np.polynomial.legendre.leggauss(n)
    t = (1 + t) / 2
    # Of x = t / (1 + pull (1 - t)), which has the slope (1 + pull) / (1 + pull (1 - t))^2.
    bent = 1 + pull * (1 - t)
    return (t / bent).tolist(), (weights / 2 * (1 + pull) / bent**2).tolist()


def mean_random_average_precision(n_pos: pl.Expr, n_neg: pl.Expr, odds: pl.Expr) -> pl.Expr:
    """Return the mean average precision of all orders of n_pos positives and n_neg negatives."""
    k = odds * n_pos / n_neg
    least = 15 / (1 + k + n_pos + k * n_neg)
    growth = (1 + _REACH / (1 + k) / least).log()
    fields = {"n_pos": n_pos, "n_neg": n_neg, "k": k, "least": least, "growth": growth}
    # A list of one struct, so that the numbers of each row are combined with all nodes.
    row = pl.concat_list(pl.struct(value.alias(name) for name, value in fields.items()))
    mean = row.list.agg(_integrate_u().struct.field("value").sum())
    return pl.when(k.is_not_null()).then(mean)  # a sum of nulls is 0


def _integrate_u() -> pl.Expr:
    """Return a struct for each node in s, whose field `value` is the integral over u times a weight."""
    # What is used more than once becomes a field first: Polars would compute it again for each use.
    places, weights = _nodes(64, 0.15)
    fields = ("n_pos", "n_neg", "k", "least", "growth")
    n_pos, n_neg, k, least, growth = (pl.element().struct.field(name).first() for name in fields)
    stretch = (pl.lit(pl.Series([*places, 1.0])) * growth).exp()
    steps = pl.lit(pl.Series([*weights, 0.0])) * growth * least * stretch
    last = pl.lit(pl.Series([0.0] * len(places) + [1.0]))
    nodes = pl.struct(P=n_pos, N=n_neg, k=k, s=least * (stretch - 1), step=steps, last=last)
    s, k = pl.field("s"), pl.field("k")
    # 1 - exp(-s) without loss for a small s: Polars has no expm1.
    half_a, half_b = (s / 2).tanh(), (s * k / 2).tanh()
    nodes = nodes.struct.with_fields(
        a=2 * half_a / (1 + half_a), b=2 * half_b / (1 + half_b), down=(-s).exp()
    )
    steepness = (pl.field("P") - 1) * pl.field("a") + pl.field("N") * pl.field("b")
    nodes = nodes.struct.with_fields(span=pl.min_horizontal(1.0, _REACH / steepness))
    others, n_neg, a, b = pl.field("P") - 1, pl.field("N"), pl.field("a"), pl.field("b")
    total: pl.Expr = pl.lit(0.0)
    for share, weight in zip(*_nodes(14, 0.7), strict=True):
        u = pl.field("span") * share
        rest = 1 - u * a
        chance = ((others - 1) * (-u * a).log1p() + n_neg * (-u * b).log1p()).exp()
        inner = pl.field("step") * (rest + others * u * pl.field("down"))
        total = total + chance * (inner + pl.field("last") * rest) * weight
    return nodes.struct.with_fields(value=total * pl.field("span") * pl.field("down"))


# Average precision ----------------------------------------------------------------------------


# How much an example moves average precision. One more positive at a row counts with the precision p of
# that row, and raises the precision of this row and of all rows below by p (1 - p) / recall. One more
# negative lowers these precisions by p (1 - p) / fpr. Each row has its rise as weight. A sum over this
# row and the rows below is a constant minus the sum over the rows above. The functions here read sums
# over rows above, which is why they have the opposite signs. A row of fpr 0 has no negative above it. At
# eta = 0, p is 0 whatever the sample.


def _build_influence(name: str, change: Callable[[Rows], Rows]) -> Influence:
    """Return the influences on average precision, of changed rows; `name` begins those of sums."""
    of_recall, of_fpr = f"{c.RESERVED}{name}_of_recall", f"{c.RESERVED}{name}_of_fpr"

    def bind_sensitivity(given: Rows) -> dict[str, Cell]:
        rows = change(given)  # how much the precision of a row moves with both rates, times the rise
        alerts = rows.recall + rows.odds * rows.fpr
        lost = rows.rise * (rows.recall / alerts) * (rows.odds * rows.fpr / alerts)
        matters = (rows.rise > 0) & (rows.fpr > 0) & rows.odds.is_finite()
        return {
            sums: pl.when(matters).then(lost / rate).otherwise(0.0)
            for sums, rate in ((of_recall, rows.recall), (of_fpr, rows.fpr))
        }

    def positive(given: Rows) -> Cell:
        """Return the precision at a row, minus what the rows above would gain from one more positive."""
        rows = change(given)
        own = precision_at(rows.recall, rows.fpr, rows.odds)
        if rows.has_unscored:  # a positive that is never found adds nothing
            own = pl.when(rows.column(c.SCORE).is_null()).then(0.0).otherwise(own)
        return pl.when(rows.rise > 0).then(own - rows.column(of_recall)).otherwise(0.0)

    def negative(rows: Rows) -> Cell:
        return rows.column(of_fpr)

    return Influence(positive, negative, negative, bind_sensitivity, ddof=0)


def _add_false_positive(rows: Rows) -> Rows:
    """Return the rows with one false positive more at every threshold, of the weight of those there."""

    def read(name: str) -> Cell:
        column = rows.column(name)
        return column + 1 / rows.column(c.N_NEG_LOCAL) if name == c.FPR_OR_ZERO else column

    return replace(rows, column=read)


def _cautious_term(given: Rows) -> Cell:
    rows = _add_false_positive(given)
    return rows.rise * precision_at(rows.recall, rows.fpr, rows.odds)


def _hopeful_term(rows: Rows) -> Cell:
    """Return the term of the mean precision of all positives but one, which is above them."""
    share = rows.column(c.UNSEEN_SHARE)
    return rows.rise * precision_at(share + (1 - share) * rows.recall, rows.fpr, rows.odds)


def _slope_term(rows: Rows) -> Cell:
    """Return the term of how much average precision grows with the logit of the prevalence."""
    alerts = 1 + rows.odds * rows.ratio
    return rows.rise * (rows.odds * rows.ratio / alerts) / alerts


_HELPERS = {
    "cautious": CurveMetric(
        "average precision with one false positive more",
        Recipe(_cautious_term, influence=_build_influence("cautious", _add_false_positive)),
    ),
    "hopeful": CurveMetric(
        "mean precision below one positive more", Recipe(_hopeful_term, ends_only=True)
    ),
    "slope": CurveMetric("average precision by logit(eta)", Recipe(_slope_term, ends_only=True)),
}


def _step_term(rows: Rows) -> Cell:
    """Return precision times the rise in recall."""
    return rows.rise / (1 + rows.odds * rows.ratio)


# Limits of coarse scores. While fpr stays, the mean of recall / (recall + odds fpr) from recall x to y
# is (x + y - 2 a v^2 s) / (x + y + 2 a), with a = odds fpr, v = (y - x) / (x + y + 2 a), and s of
# `atanh_rest`. Nothing cancels, since 2 a v^2 s is at most (y - x) v s.


def _rise_at(rows: Rows, fpr: Cell, shift: Cell = 0.0) -> Cell:
    """Return the rise times mean precision at one fpr, with all recalls greater by `shift`."""
    start, end = rows.recall_before + shift, rows.recall + shift
    a = rows.odds * fpr
    v = (end - start) / (start + end + 2 * a)
    rest = 2 * a * v * v * atanh_rest((end - start) / (start + a), v)
    return rows.rise * ((start + end - choose_where(a > 0, rest, 0.0)) / (start + end + 2 * a))


_STEP_LIMITS = Limits(
    # At worst the negatives come first and then one positive after the other. Precision is a concave
    # function of recall then, so its mean over one positive is at most its value in the middle.
    lambda rows: _rise_at(rows, rows.fpr, rows.column(c.HALF_POSITIVE)),
    # At best all positives come first. If they share a score, all have the precision of the last one.
    lambda rows: rows.rise * precision_at(rows.recall, rows.fpr_before, rows.odds),
)
_AREA_LIMITS = Limits(
    lambda rows: _rise_at(rows, rows.fpr), lambda rows: _rise_at(rows, rows.fpr_before)
)

# A fitted curve has no steps: all areas under its PR curve are one.
_SMOOTH_AREA = Fitted(_step_term)


@declare_curve(
    source="W 2, step sum",
    finish=require_all_precisions,
    by_rise=True,
    ends_only=True,
    influence=_build_influence("plain", lambda rows: rows),
    helpers=_HELPERS,
    fitted=_SMOOTH_AREA,
    limits=_STEP_LIMITS,
)
def average_precision(rows: Rows) -> Cell:
    """The sum over thresholds of precision times the rise in recall, as in scikit-learn."""
    return _step_term(rows)


@declare_curve(
    source="H", finish=require_all_precisions, by_rise=True, ends_only=True, reads_envelope=True
)
def average_precision_interpolated(rows: Rows) -> Cell:
    """Average precision with the best precision of this and all lower thresholds."""
    return rows.rise / (1 + rows.odds * rows.envelope)


# The area by Davis and Goadrich ---------------------------------------------------------------


# The mean of precision along a segment follows from g1 and g2 of `atanh_rest`. It is
# (1 + w v s) / m, where 1 / m is precision in the middle of the segment, and
# v = w + rise / (recall_before + recall). The odds come in last:
#     m = 1 + odds (fpr_before + fpr) / (recall_before + recall)
#     w = odds bend / m,  bend = 2 (run recall_before - rise fpr_before) / (recall_before + recall)^2.
# A segment on a ray from the origin has no bend. 1 + w v s is above 0.89, so nothing cancels here
# either. On a short segment, along which both rates grow by at most SHORT of their start, the share
# rise / (recall_before + recall) and v are below SHORT / 2, and so is |w|. Two terms of s are enough
# then: the third, v^4 / 7, adds less than 2^-53 to w v s.

_MIDDLE, _SHARE, _BEND = (f"{c.RESERVED}{name}" for name in ("middle", "share", "bend"))
_M, _W, _VS = (f"{c.RESERVED}{name}" for name in ("m", "w", "vs"))


def _bind_segment(rows: Rows) -> dict[str, Cell]:
    """Bind what does not depend on the odds."""
    recalls = rows.recall_before + rows.recall
    share = rows.rise / recalls
    bend = rows.run * (rows.recall_before / recalls) - share * rows.fpr_before
    return {_MIDDLE: (rows.fpr_before + rows.fpr) / recalls, _SHARE: share, _BEND: 2 * bend / recalls}


def _bind_vs(rows: Rows) -> dict[str, Cell]:
    """Bind v s, by two terms of the series where that is exact."""
    share = rows.column(_SHARE)
    v = share + rows.column(_W)
    short = v * (1 / 3 + v * v * (1 / 5))
    if rows.short:
        return {_VS: short}
    start = rows.recall_before + rows.odds * rows.fpr_before
    gain = rows.rise + rows.odds * rows.run
    exact = gain / (2 * start + gain)  # also v, but share + w loses digits where w is near -share
    # At a recall of 1e-300 the growth overflows, though w makes nothing of its logarithm.
    growth = minimum(gain / start, 1e300)
    long = choose_where(start == 0, 0.0, exact * atanh_rest(growth, exact))
    is_short = (share < SHORT / 2) & (abs(v) < SHORT / 2)
    return {_VS: choose_where(is_short, short, long)}


@declare_curve(
    source="DG",
    finish=require_all_precisions,
    once=_bind_segment,
    steps=(
        lambda rows: {_M: 1 + rows.odds * rows.column(_MIDDLE)},
        lambda rows: {_W: rows.odds * rows.column(_BEND) / rows.column(_M)},
        _bind_vs,
    ),
    by_rise=True,
    has_short_form=True,
    fitted=_SMOOTH_AREA,
    limits=_AREA_LIMITS,
)
def pr_auc(rows: Rows) -> Cell:
    """The area under what choosing between neighbouring thresholds at random achieves."""
    return rows.rise * ((1 + rows.column(_W) * rows.column(_VS)) / rows.column(_M))


@declare_like(pr_auc, on_hull=True, fitted=None, limits=None)
def pr_auc_hull(area: Cell, facts: CurveFacts) -> Cell:
    """The area `pr_auc` of the convex hull of the ROC curve."""
    return require_all_precisions(area, facts)


@declare_factory
def pr_auc_trapezoid(anchor: Literal["first", "one", "none"] = "first") -> CurveMetric:
    """The area under the PR curve with its points joined by straight lines.

    Such lines are not achievable (DG), so use this area only to compare with other software. Precision
    is undefined at recall 0. There `anchor="first"` puts the first defined precision, and `"one"` puts
    1, as scikit-learn's `auc(recall, precision)` and yardstick do. With `"none"` there is no area to the
    left of the first recall, as in nci_eval.
    """
    read_choice("anchor=", anchor, ("first", "one", "none"))

    def term(rows: Rows) -> Cell:
        here = precision_at(rows.recall, rows.fpr, rows.odds)
        before = precision_at(rows.recall_before, rows.fpr_before, rows.odds)
        # "none" puts the negative of this precision, so that their mean is 0
        at_0 = {"first": here, "one": 1.0, "none": -here}[anchor]
        undefined = (rows.recall_before == 0) & ((rows.fpr_before == 0) | (rows.odds == 0))
        mean = (here + choose_where(undefined, at_0, before)) / 2
        return rows.rise * mean

    return CurveMetric(
        f'pr_auc_trapezoid("{anchor}")',
        Recipe(term, require_all_precisions, fitted=_SMOOTH_AREA),
        source="linear interpolation",
    )


# Transforms -----------------------------------------------------------------------------------


_of_average_precision = partial(
    declare_like, average_precision, source="R Fig. 6", influence=None, helpers={}
)


@_of_average_precision(range=(-1.0, 1.0))
def marginal_average_precision(area: Cell, facts: CurveFacts) -> Cell:
    """The difference `average_precision - eta`."""
    return require_all_precisions(area - facts.eta, facts)


@_of_average_precision(range=(0.0, math.inf))
def normalized_average_precision(area: Cell, facts: CurveFacts) -> Cell:
    """The ratio `average_precision / eta`."""
    return require_all_precisions(area / facts.eta, facts)


@_of_average_precision(range=(-math.inf, 1.0))
def min_max_average_precision(area: Cell, facts: CurveFacts) -> Cell:
    """Average precision, rescaled to `(average_precision - eta) / (1 - eta)`."""
    return _rescale(area, facts.eta, facts)


@declare_like(pr_auc, source="Boyd et al. 2012, DG", range=(-math.inf, 1.0), fitted=None)
def boyd_pr_auc(area: Cell, facts: CurveFacts) -> Cell:
    """The area `pr_auc`, rescaled to `(pr_auc - worst_pr_auc) / (1 - worst_pr_auc)`."""
    return _rescale(area, least_pr_auc(facts.eta), facts)


def _rescale(area: Cell, least: Cell, facts: CurveFacts) -> Cell:
    """Return an area as a share of the way from the `least` one to 1; at eta = 1 it is undefined."""
    share = keep_where(facts.eta < 1, (area - least) / (1 - least))
    return require_all_precisions(share, facts)


# Baselines, for which the rows do not matter --------------------------------------------------


# One row is as good as any, since `finish` leaves out the total.
_BASELINE = CurveMetric(
    "baseline", Recipe(lambda rows: rows.recall, total="max", ends_only=True), direction="none"
)


@declare_like(_BASELINE, source="mean over all rankings")
def random_average_precision(_: Cell, facts: CurveFacts) -> Cell:
    """The mean average precision of all orders of the examples."""
    mean: Cell = math.nan
    if facts.n_pos is not None and facts.n_neg is not None:
        mean = mean_random_average_precision(facts.n_pos, facts.n_neg, odds_against(facts.eta))
        mean = choose_where(facts.eta == 1, 1.0, mean)
    return require_one_precision(mean, facts)


@declare_like(_BASELINE, source="W 2, step sum")
def worst_average_precision(_: Cell, facts: CurveFacts) -> Cell:
    """The average precision of a ranking with all negatives before the first positive."""
    known = facts.n_pos is not None
    least = least_average_precision(facts.n_pos, odds_against(facts.eta)) if known else math.nan
    return require_one_precision(least, facts)


@declare_like(_BASELINE, source="Boyd et al. 2012")
def worst_pr_auc(_: Cell, facts: CurveFacts) -> Cell:
    """The area `pr_auc` of a ranking with all negatives before the first positive."""
    return require_one_precision(least_pr_auc(facts.eta), facts)
