"""The areas under the precision-recall, precision-recall-gain and ROC curve, and transforms of them.

Sources: (W) Williams 2021, (DG) Davis and Goadrich 2006, (R) Richardson et al. 2024, (H) Hoiem et al.
2012, (FK) Flach and Kull 2015, (M) McClish 1989.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Literal

import polars as pl

from polars_prcurve.core.ground.argument_checks import read_choice, read_number
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.metrics.curve_metric import (
    LEAST_ETA,
    SHORT,
    CurveFacts,
    CurveMetric,
    Finish,
    Fitted,
    Influence,
    Limits,
    Recipe,
    SegmentValues,
    Term,
    declare_curve,
    declare_like,
    odds_against,
    precision_at,
    require_all_precisions,
    require_both_classes,
    require_one_precision,
)
from polars_prcurve.core.metrics.metric_base import declare_factory, write_parameter
from polars_prcurve.core.metrics.point_metric import (
    Amount,
    atanh_rest,
    choose_where,
    keep_where,
    log1p,
    maximum,
    minimum,
)
from polars_prcurve.core.metrics.segment_column_names import BinormalModel, Segment, Unseen

# Average precision ----------------------------------------------------------------------------


# How much an example moves average precision. One more positive at a row counts with the precision p of
# that row, and raises the precision of this row and of all rows below by p (1 - p) / recall. One more
# negative lowers these precisions by p (1 - p) / fpr. Each row has its rise as weight. A sum over this
# row and the rows below is a constant minus the sum over the rows above. The functions here read sums
# over rows above, which is why they have the opposite signs. A row of fpr 0 has no negative above it. At
# eta = 0, p is 0 whatever the sample.


def _build_influence(
    sum_name_prefix: str, change_segment: Callable[[SegmentValues], SegmentValues]
) -> Influence:
    """Return the influences on average precision of changed rows; the prefix begins names of sums."""
    recall_sum_name = f"{RESERVED}{sum_name_prefix}_of_recall"
    fpr_sum_name = f"{RESERVED}{sum_name_prefix}_of_fpr"

    def bind_sensitivity(segment: SegmentValues) -> dict[str, Amount]:
        """Bind how much the precision of a row moves with both rates, times the rise."""
        segment = change_segment(segment)
        alerts_per_positive = segment.recall + segment.odds * segment.fpr
        precision_loss = (
            segment.rise
            * (segment.recall / alerts_per_positive)
            * (segment.odds * segment.fpr / alerts_per_positive)
        )
        has_loss = (segment.rise > 0) & (segment.fpr > 0) & segment.odds.is_finite()
        return {
            sum_name: pl.when(has_loss).then(precision_loss / rate).otherwise(0.0)
            for sum_name, rate in ((recall_sum_name, segment.recall), (fpr_sum_name, segment.fpr))
        }

    def find_positive_influence(segment: SegmentValues) -> Amount:
        """Return the precision at a row, minus what the rows above would gain from one more positive."""
        segment = change_segment(segment)
        precision = precision_at(segment.recall, segment.fpr, segment.odds)
        if segment.has_unscored:  # a positive that is never found adds nothing
            is_unscored = segment.column(Segment.SCORE).is_null()
            precision = pl.when(is_unscored).then(0.0).otherwise(precision)
        return pl.when(segment.rise > 0).then(precision - segment.column(recall_sum_name)).otherwise(0.0)

    def find_negative_influence(segment: SegmentValues) -> Amount:
        return segment.column(fpr_sum_name)

    return Influence(
        find_positive_influence,
        find_negative_influence,
        between=find_negative_influence,
        sums=bind_sensitivity,
        ddof=0,
    )


def _add_false_positives(n_added: float) -> Callable[[SegmentValues], SegmentValues]:
    """Return what adds false positives at every threshold to rows, as heavy as those near it."""

    def change_segment(segment: SegmentValues) -> SegmentValues:
        def read(column_name: str) -> Amount:
            column_values = segment.column(column_name)
            return (
                column_values + n_added / segment.column(Segment.N_NEG_LOCAL)
                if column_name == Segment.FPR_OR_ZERO
                else column_values
            )

        return replace(segment, column=read)

    return change_segment


def _build_hopeful_term(n_unseen: float) -> Term:
    """Return the term of the mean precision of all positives but `n_unseen`, which are above them."""

    def term(segment: SegmentValues) -> Amount:
        # A share s = 1 / (P + 1) of one positive is n s / (1 - s + n s) of n unseen ones.
        # A number of each row, since Polars may divide otherwise by one that all rows share.
        share_of_one = repeat_in_rows(segment.column(Unseen.SHARE), segment.recall)
        unseen_share = share_of_one
        if n_unseen != 1:
            unseen_share = n_unseen * share_of_one / (1 - (1 - n_unseen) * share_of_one)
        return segment.rise * precision_at(
            unseen_share + (1 - unseen_share) * segment.recall, segment.fpr, segment.odds
        )

    return term


def _loss_term(segment: SegmentValues) -> Amount:
    """Return the term of what half a false positive costs, by the slope where it has been added."""
    precision = precision_at(segment.recall, _add_false_positives(0.5)(segment).fpr, segment.odds)
    # The slope of precision by fpr is precision (1 - precision) / fpr.
    n_fp = segment.fpr * segment.column(Segment.N_NEG_LOCAL) + 0.5
    return segment.rise * precision * (1 - precision) * (0.5 / n_fp)


def _slope_term(segment: SegmentValues) -> Amount:
    """Return the term of how much average precision grows with the logit of the prevalence."""
    alerts_per_hit = 1 + segment.odds * segment.ratio
    return segment.rise * (segment.odds * segment.ratio / alerts_per_hit) / alerts_per_hit


def _build_helper_metrics(n_unseen: float) -> dict[str, CurveMetric]:
    """Return what ends of intervals of average precision are computed from, with unseen examples."""
    change_segment = _add_false_positives(n_unseen)
    cautious_recipe = Recipe(
        lambda segment: (
            segment.rise * precision_at(segment.recall, change_segment(segment).fpr, segment.odds)
        ),
        influence=_build_influence("cautious", change_segment),
    )
    return {
        "cautious": CurveMetric("average precision with false positives more", cautious_recipe),
        "hopeful": CurveMetric(
            "mean precision below positives more", Recipe(_build_hopeful_term(n_unseen))
        ),
        "slope": CurveMetric("average precision by logit(eta)", Recipe(_slope_term)),
    }


def _step_term(segment: SegmentValues) -> Amount:
    """Return precision times the rise in recall."""
    return segment.rise / (1 + segment.odds * segment.ratio)


# Limits of coarse scores. While fpr stays, the mean of recall / (recall + odds fpr) from recall x to y
# is (x + y - 2 a v^2 s) / (x + y + 2 a), with a = odds fpr, the false positives per positive,
# v = (y - x) / (x + y + 2 a), and s of `atanh_rest`. Nothing cancels, since 2 a v^2 s is at most
# (y - x) v s.


def _area_at_fpr(segment: SegmentValues, fpr: Amount, recall_shift: Amount = 0.0) -> Amount:
    """Return the rise times mean precision at one fpr, with all recalls greater by `recall_shift`."""
    recall_at_start, recall_at_end = segment.recall_before + recall_shift, segment.recall + recall_shift
    fp_per_positive = segment.odds * fpr
    v = (recall_at_end - recall_at_start) / (recall_at_start + recall_at_end + 2 * fp_per_positive)
    s = atanh_rest((recall_at_end - recall_at_start) / (recall_at_start + fp_per_positive), v)
    log_correction = 2 * fp_per_positive * v * v * s
    return segment.rise * (
        (recall_at_start + recall_at_end - choose_where(fp_per_positive > 0, log_correction, 0.0))
        / (recall_at_start + recall_at_end + 2 * fp_per_positive)
    )


# Of the step sum
_STEP_LIMITS = Limits(
    # At worst the negatives come first and then one positive after the other. Precision is a concave
    # function of recall then, so its mean over one positive is at most its value in the middle.
    low=lambda segment: _area_at_fpr(segment, segment.fpr, segment.column(Segment.HALF_POSITIVE)),
    # At best all positives come first. If they share a score, all have the precision of the last one.
    high=lambda segment: segment.rise * precision_at(segment.recall, segment.fpr_before, segment.odds),
)
# Of the area under all points between the corners, too
_AREA_LIMITS = Limits(
    low=lambda segment: _area_at_fpr(segment, segment.fpr),
    high=lambda segment: _area_at_fpr(segment, segment.fpr_before),
)

# A fitted curve has no steps: all areas under its PR curve are one.
_FITTED_AREA = Fitted(_step_term)


@declare_curve(
    source="W 2, step sum",
    finish=require_all_precisions,
    by_rise=True,
    influence=_build_influence("plain", lambda segment: segment),
    helpers=_build_helper_metrics(0.5)
    | {"loss": CurveMetric("average precision lost", Recipe(_loss_term))},
    helpers_by_pairs=_build_helper_metrics(1),
    fitted=_FITTED_AREA,
    limits=_STEP_LIMITS,
)
def average_precision(segment: SegmentValues) -> Amount:
    """The sum over thresholds of precision times the rise in recall, as in scikit-learn."""
    return _step_term(segment)


@declare_curve(source="H", finish=require_all_precisions, by_rise=True, reads_envelope=True)
def average_precision_interpolated(segment: SegmentValues) -> Amount:
    """Average precision with the best precision of this and all lower thresholds."""
    return segment.rise / (1 + segment.odds * segment.envelope)


# The area by Davis and Goadrich ---------------------------------------------------------------


# Along a segment the alerts D = recall + odds fpr grow from D0 to D1. With u = (D1 - D0) / D0 the mean
# of precision is (recall_before g1(u) + rise g2(u)) / D0, by g1 and g2 of `atanh_rest`. That is (1 + w
# v s) / m, where 1 / m is precision in the middle of the segment, and v = w + rise / (recall_before +
# recall). The odds come in last:
#     m = 1 + odds (fpr_before + fpr) / (recall_before + recall)
#     w = odds bend / m,  bend = 2 (run recall_before - rise fpr_before) / (recall_before + recall)^2.
# A segment on a ray from the origin has no bend. 1 + w v s is above 0.89, so nothing cancels here
# either. On a short segment, along which both rates grow by at most SHORT of their start, the share
# rise / (recall_before + recall) and v are below SHORT / 2, and so is |w|. Two terms of s are enough
# then: the third, v^4 / 7, adds less than 2^-53 to w v s.

# The columns that steps bind
_MIDDLE_RATIO = f"{RESERVED}middle"  # (m - 1) / odds
_RISE_SHARE = f"{RESERVED}share"  # rise / (recall_before + recall)
_BEND = f"{RESERVED}bend"  # `bend`, by which precision turns along the segment
_INVERSE_PRECISION = f"{RESERVED}m"  # m, by which precision in the middle is 1 / m
_SCALED_BEND = f"{RESERVED}w"  # w, which is v without the share
_V_TIMES_S = f"{RESERVED}vs"  # v s, the product


def _bind_segment(segment: SegmentValues) -> dict[str, Amount]:
    """Bind what does not depend on the odds."""
    recall_sum = segment.recall_before + segment.recall
    rise_share = segment.rise / recall_sum
    bend = segment.run * (segment.recall_before / recall_sum) - rise_share * segment.fpr_before
    return {
        _MIDDLE_RATIO: (segment.fpr_before + segment.fpr) / recall_sum,
        _RISE_SHARE: rise_share,
        _BEND: 2 * bend / recall_sum,
    }


def _bind_v_times_s(segment: SegmentValues) -> dict[str, Amount]:
    """Bind v s, by two terms of the series where that is exact."""
    rise_share = segment.column(_RISE_SHARE)
    v = rise_share + segment.column(_SCALED_BEND)
    product_by_series = v * (1 / 3 + v * v * (1 / 5))
    if segment.is_short:
        return {_V_TIMES_S: product_by_series}
    alerts_at_start = segment.recall_before + segment.odds * segment.fpr_before
    alerts_growth = segment.rise + segment.odds * segment.run
    # The sum of the share and w loses digits where w is near minus the share.
    exact_v = alerts_growth / (2 * alerts_at_start + alerts_growth)
    # At a recall of 1e-300 the growth overflows, though w makes nothing of its logarithm.
    relative_growth = minimum(alerts_growth / alerts_at_start, 1e300)
    product_by_formula = choose_where(
        alerts_at_start == 0, 0.0, exact_v * atanh_rest(relative_growth, exact_v)
    )
    is_short = (rise_share < SHORT / 2) & (abs(v) < SHORT / 2)
    return {_V_TIMES_S: choose_where(is_short, product_by_series, product_by_formula)}


@declare_curve(
    source="DG",
    finish=require_all_precisions,
    once=_bind_segment,
    steps=(
        lambda segment: {_INVERSE_PRECISION: 1 + segment.odds * segment.column(_MIDDLE_RATIO)},
        lambda segment: {
            _SCALED_BEND: segment.odds * segment.column(_BEND) / segment.column(_INVERSE_PRECISION)
        },
        _bind_v_times_s,
    ),
    by_rise=True,
    has_short_form=True,
    fitted=_FITTED_AREA,
    limits=_AREA_LIMITS,
)
def pr_auc(segment: SegmentValues) -> Amount:
    """The area under what choosing between neighbouring thresholds at random achieves."""
    return segment.rise * (
        (1 + segment.column(_SCALED_BEND) * segment.column(_V_TIMES_S))
        / segment.column(_INVERSE_PRECISION)
    )


@declare_like(pr_auc, on_hull=True, fitted=None, limits=None)
def pr_auc_hull(area: Amount, curve_facts: CurveFacts) -> Amount:
    """The area `pr_auc` of the convex hull of the ROC curve."""
    return require_all_precisions(area, curve_facts)


@declare_factory('"first"')
def pr_auc_trapezoid(anchor: Literal["first", "one", "none"] = "first") -> CurveMetric:
    """The area under the PR curve with its points joined by straight lines.

    Such lines are not achievable (DG), so use this area only to compare with other software. Precision
    is undefined at recall 0. There `anchor="first"` puts the first defined precision, and `"one"` puts
    1, as scikit-learn's `auc(recall, precision)` and yardstick do. With `"none"` there is no area to the
    left of the first recall, as in nci_eval.
    """
    read_choice("anchor=", anchor, ("first", "one", "none"))

    def term(segment: SegmentValues) -> Amount:
        precision_at_end = precision_at(segment.recall, segment.fpr, segment.odds)
        precision_at_start = precision_at(segment.recall_before, segment.fpr_before, segment.odds)
        # "none" puts the negative of the precision at the end, so that their mean is 0.
        precision_at_0 = {"first": precision_at_end, "one": 1.0, "none": -precision_at_end}[anchor]
        is_undefined = (segment.recall_before == 0) & ((segment.fpr_before == 0) | (segment.odds == 0))
        mean_precision = (
            precision_at_end + choose_where(is_undefined, precision_at_0, precision_at_start)
        ) / 2
        return segment.rise * mean_precision

    return CurveMetric(
        f'pr_auc_trapezoid("{anchor}")',
        Recipe(term, require_all_precisions, fitted=_FITTED_AREA),
        source="linear interpolation",
    )


# Transforms -----------------------------------------------------------------------------------


# All these share the rows and the term of average precision, but not its interval.
_declare_like_average_precision = partial(
    declare_like, average_precision, source="R Fig. 6", influence=None, helpers={}, helpers_by_pairs={}
)


@_declare_like_average_precision(range=(-1.0, 1.0))
def marginal_average_precision(area: Amount, curve_facts: CurveFacts) -> Amount:
    """The difference `average_precision - eta`."""
    return require_all_precisions(area - curve_facts.eta, curve_facts)


@_declare_like_average_precision(range=(0.0, math.inf))
def normalized_average_precision(area: Amount, curve_facts: CurveFacts) -> Amount:
    """The ratio `average_precision / eta`."""
    return require_all_precisions(area / curve_facts.eta, curve_facts)


@_declare_like_average_precision(range=(-math.inf, 1.0))
def min_max_average_precision(area: Amount, curve_facts: CurveFacts) -> Amount:
    """Average precision, rescaled to `(average_precision - eta) / (1 - eta)`."""
    return _rescale(area, curve_facts.eta, curve_facts)


@declare_like(pr_auc, source="Boyd et al. 2012, DG", range=(-math.inf, 1.0), fitted=None)
def boyd_pr_auc(area: Amount, curve_facts: CurveFacts) -> Amount:
    """The area `pr_auc`, rescaled to `(pr_auc - worst_pr_auc) / (1 - worst_pr_auc)`."""
    return _rescale(area, least_pr_auc(curve_facts.eta), curve_facts)


def _rescale(area: Amount, least_area: Amount, curve_facts: CurveFacts) -> Amount:
    """Return an area as a share of the way from the least one to 1; at eta = 1 it is undefined."""
    rescaled_area = keep_where(curve_facts.eta < 1, (area - least_area) / (1 - least_area))
    return require_all_precisions(rescaled_area, curve_facts)


# Baselines, for which the rows do not matter --------------------------------------------------


# One row is as good as any, since `finish` leaves out the total.
_BASELINE = CurveMetric(
    "baseline", Recipe(lambda segment: segment.recall, total="max"), direction="none"
)


@declare_like(_BASELINE, source="mean over all rankings")
def random_average_precision(_: Amount, curve_facts: CurveFacts) -> Amount:
    """The mean average precision of all orders of the examples."""
    mean_area: Amount = math.nan
    if curve_facts.n_pos is not None and curve_facts.n_neg is not None:
        mean_area = mean_random_average_precision(
            curve_facts.n_pos, curve_facts.n_neg, odds_against(curve_facts.eta)
        )
        mean_area = choose_where(curve_facts.eta == 1, 1.0, mean_area)
    return require_one_precision(mean_area, curve_facts)


@declare_like(_BASELINE, source="W 2, step sum")
def worst_average_precision(_: Amount, curve_facts: CurveFacts) -> Amount:
    """The average precision of a ranking with all negatives before the first positive."""
    least_area: Amount = math.nan
    if curve_facts.n_pos is not None:
        least_area = least_average_precision(curve_facts.n_pos, odds_against(curve_facts.eta))
    return require_one_precision(least_area, curve_facts)


@declare_like(_BASELINE, source="Boyd et al. 2012")
def worst_pr_auc(_: Amount, curve_facts: CurveFacts) -> Amount:
    """The area `pr_auc` of a ranking with all negatives before the first positive."""
    return require_one_precision(least_pr_auc(curve_facts.eta), curve_facts)


# Under the precision-recall-gain curve ----------------------------------------------------------

# Recall gain is 0 where recall is eta. So a segment counts from there on, and its width is its step in
# recall gain, `eta / (1 - eta) * (1 / start - 1 / recall)`.


def _require_gains(scaled_area: Amount, curve_facts: CurveFacts) -> Amount:
    """Return the area, or null where it is undefined: at eta = 1, as recall gain, and near eta = 0."""
    # An area may be as low as -1 / eta, which is too far below 0 for the sum if eta is below LEAST_ETA.
    is_eta_inside = (curve_facts.eta >= LEAST_ETA) & (curve_facts.eta < 1)
    area = scaled_area / _gain_scale(curve_facts.eta)
    return keep_where(curve_facts.has_positives & curve_facts.has_negatives & is_eta_inside, area)


def _gain_scale(eta: Amount) -> Amount:
    """Return the factor that keeps sums of areas between -2**9 and 1, so that they fit."""
    return maximum(eta, 2.0**-60)


# The columns that steps bind, all of the part of a segment that counts
_START_RECALL = f"{RESERVED}gain_start"  # recall where it starts
_GAIN_WIDTH = f"{RESERVED}gain_width"  # its step in recall gain, times `_gain_scale`
_GAIN_AT_START = f"{RESERVED}gain_before"  # precision gain where it starts
_GAIN_AT_END = f"{RESERVED}gain"  # precision gain where it ends


def _bind_gains(segment: SegmentValues) -> dict[str, Amount]:
    """Bind the width of the part of a segment that counts, and precision gain at both its ends."""
    eta, recall_at_start = segment.eta, segment.column(_START_RECALL)
    skipped_share = (recall_at_start - segment.recall_before) / segment.rise  # which does not count
    fpr_at_start = segment.fpr_before + segment.run * skipped_share
    gain_width = (
        _gain_scale(eta)
        * (eta / (1 - eta))
        * (segment.recall - recall_at_start)
        / (recall_at_start * segment.recall)
    )
    return {
        _GAIN_WIDTH: choose_where(segment.recall > recall_at_start, gain_width, 0.0),
        _GAIN_AT_START: 1 - fpr_at_start / recall_at_start,
        _GAIN_AT_END: 1 - segment.fpr / segment.recall,
    }


# What starts the part of a segment that counts is recall, or eta where recall is still below.
_GAIN_STEPS = (lambda segment: {_START_RECALL: maximum(segment.recall_before, segment.eta)}, _bind_gains)


@declare_curve(source="W 8-9, FK", range=(-math.inf, 1.0), finish=_require_gains, steps=_GAIN_STEPS)
def auprg(segment: SegmentValues) -> Amount:
    """The area under precision gain by recall gain, from recall gain 0 on; negative gains subtract."""
    gain_width = segment.column(_GAIN_WIDTH)
    mean_gain = (segment.column(_GAIN_AT_START) + segment.column(_GAIN_AT_END)) / 2
    return choose_where(gain_width > 0, gain_width * mean_gain, 0.0)


@declare_curve(source="W 8-9, FK", finish=_require_gains, steps=_GAIN_STEPS)
def auprg_clipped(segment: SegmentValues) -> Amount:
    """The area `auprg` with 0 for negative precision gains."""
    gain_width, gain_at_start, gain_at_end = map(
        segment.column, (_GAIN_WIDTH, _GAIN_AT_START, _GAIN_AT_END)
    )
    greater_gain, lesser_gain = maximum(gain_at_start, gain_at_end), minimum(gain_at_start, gain_at_end)
    # The mean gain of a segment that crosses 0
    mean_gain_if_crossing = greater_gain * greater_gain / (2 * (greater_gain - lesser_gain))
    mean_gain = choose_where(
        lesser_gain >= 0,
        (gain_at_start + gain_at_end) / 2,
        choose_where(greater_gain <= 0, 0.0, mean_gain_if_crossing),
    )
    return choose_where(gain_width > 0, gain_width * mean_gain, 0.0)


@declare_like(auprg, on_hull=True)
def auprg_hull(area: Amount, curve_facts: CurveFacts) -> Amount:
    """The area `auprg` of the convex hull of the ROC curve."""
    return _require_gains(area, curve_facts)


# Under the ROC curve, added up along the recall axis ---------------------------------------------


@declare_curve(
    source="R Fig. 4",
    depends_on_eta=False,
    finish=require_both_classes,
    below="ties",
    # The influence of a positive is the fraction of negatives below it, and that of a negative the
    # fraction of positives above it, where ties count by halves (DeLong et al. 1988).
    influence=Influence(
        positive=lambda segment: -(segment.fpr_before + segment.fpr) / 2,
        negative=lambda segment: (segment.recall_before + segment.recall) / 2,
        between=lambda segment: segment.recall_before,
        sums=lambda segment: {},
        ddof=1,
    ),
    fitted=Fitted(lambda segment: segment.column(BinormalModel.AUC)),
    limits=Limits(
        low=lambda segment: segment.rise * (1 - segment.fpr),
        high=lambda segment: segment.rise * (1 - segment.fpr_before),
    ),
)
def roc_auc(segment: SegmentValues) -> Amount:
    """The share of pairs in which the positive scores higher than the negative; ties count half."""
    return segment.rise * ((1 - segment.fpr_before) + (1 - segment.fpr)) / 2


@declare_like(roc_auc, on_hull=True, influence=None, fitted=None, limits=None)
def roc_auc_hull(area: Amount, curve_facts: CurveFacts) -> Amount:
    """The area `roc_auc` of the convex hull of the ROC curve."""
    return require_both_classes(area, curve_facts)


def _build_partial_roc_auc(
    metric_name: str, fpr_limit: float, finish: Finish, range: tuple[float, float]
) -> CurveMetric:
    """Return the area between the curve and a vertical line at an fpr of `fpr_limit`, after `finish`."""

    def term(segment: SegmentValues) -> Amount:
        fpr_width_at_start, fpr_width_at_end = fpr_limit - segment.fpr_before, fpr_limit - segment.fpr
        # If a segment crosses the line, only its part before the line counts: a triangle.
        mean_fpr_width = choose_where(
            fpr_width_at_end >= 0,
            (fpr_width_at_start + fpr_width_at_end) / 2,
            fpr_width_at_start * fpr_width_at_start / (fpr_width_at_start - fpr_width_at_end) / 2,
        )
        return choose_where(fpr_width_at_start > 0, segment.rise * mean_fpr_width, 0.0)

    area_limits = Limits(
        low=lambda segment: segment.rise * maximum(fpr_limit - segment.fpr, 0.0),
        high=lambda segment: segment.rise * maximum(fpr_limit - segment.fpr_before, 0.0),
    )
    recipe = Recipe(term, finish, below="ties", limits=area_limits)
    return CurveMetric(
        f"{metric_name}({write_parameter(fpr_limit)})",
        recipe,
        range=range,
        depends_on_eta=False,
        source="M",
    )


def _read_max_fpr(max_fpr: float) -> float:
    return read_number("max_fpr", max_fpr, "a number in (0, 1]", lambda number: 0 < number <= 1)


@declare_factory("0.1")
def partial_roc_auc(max_fpr: float) -> CurveMetric:
    """The area under the ROC curve left of `max_fpr`, not standardized: at most `max_fpr`."""
    fpr_limit = _read_max_fpr(max_fpr)
    return _build_partial_roc_auc("partial_roc_auc", fpr_limit, require_both_classes, (0.0, fpr_limit))


@declare_factory("0.1")
def partial_roc_auc_mcclish(max_fpr: float) -> CurveMetric:
    """The partial area left of `max_fpr`, on a scale of 1/2 for random and 1 for perfect rankings (M).

    scikit-learn's `roc_auc_score(max_fpr=)` returns this value.
    """
    fpr_limit = _read_max_fpr(max_fpr)
    # The triangle below the diagonal; perfect rankings have all of `fpr_limit`
    random_area = fpr_limit * fpr_limit / 2

    def finish(area: Amount, curve_facts: CurveFacts) -> Amount:
        return require_both_classes(
            (1 + (area - random_area) * (1 / (fpr_limit - random_area))) / 2, curve_facts
        )

    least_value = (1 - random_area / (fpr_limit - random_area)) / 2
    return _build_partial_roc_auc("partial_roc_auc_mcclish", fpr_limit, finish, (least_value, 1.0))


# Rankings without skill: a random one, and the worst one ---------------------------------------

# All are expressions of the numbers of positives and negatives and of eta, or of the odds
# `(1 - eta) / eta`, and work in any context.


def least_pr_auc(eta: Amount) -> Amount:
    """Return the least PR AUC, `1 + (1 - eta) / eta * log(1 - eta)` (Boyd et al. 2012)."""
    # The formula cancels for a small eta. It is the sum of eta**k / (k (k + 1)) over k >= 1.
    series_sum = 0.0
    for order in range(8, 0, -1):
        series_sum = eta * (1 / (order * (order + 1)) + series_sum)
    closed_form = 1 + (1 - eta) / eta * log1p(-eta)
    return choose_where(eta < 1e-2, series_sum, choose_where(eta == 1, 1.0, closed_form))


def least_average_precision(n_pos: pl.Expr, odds: pl.Expr) -> pl.Expr:
    """Return the average precision of the worst ranking, in which all positives come last."""
    # It is the mean of i / (i + a) over i = 1 .. n_pos, with a = odds * n_pos. The first ten terms are
    # added, and the others come from the formula of Euler and Maclaurin: an integral and corrections.
    # What is used more than once becomes a field first: Polars would compute it again for each use.
    n, a, rest, low, high, v = map(pl.field, ("n", "a", "rest", "low", "high", "v"))
    # A list of one struct, since a struct of aggregates takes no more fields.
    row_struct_expr = pl.concat_list(pl.struct(n=n_pos, a=odds * n_pos, odds=odds))
    element_struct_expr = pl.element().struct.with_fields(rest=(n - 10).clip(lower_bound=0), low=10 + a)
    element_struct_expr = element_struct_expr.struct.with_fields(high=low + rest, growth=rest / low)
    element_struct_expr = element_struct_expr.struct.with_fields(v=rest / (low + high))
    element_struct_expr = element_struct_expr.struct.with_fields(s=atanh_rest(pl.field("growth"), v))
    first_terms = (pl.when(n >= rank).then(rank / (rank + a)).otherwise(0.0) for rank in range(1, 11))
    first_sum = sum(first_terms, pl.lit(0.0))
    # The integral is rest - a log1p(rest / low), written so that nothing cancels.
    integral = v * (20 + rest) - 2 * a * v * v * v * pl.field("s")
    # The summand at the upper end, minus the summand at the lower end
    end_correction = a * rest / (low * high)
    # Bernoulli's numbers B_k over k: of the k! below B_k the derivative of order k - 1 cancels (k - 1)!.
    factor_by_order = {2: 1 / 12, 4: -1 / 120, 6: 1 / 252, 8: -1 / 240, 10: 1 / 132}
    slope_correction = sum(
        (factor * (a / high**order - a / low**order) for order, factor in factor_by_order.items()),
        pl.lit(0.0),
    )
    mean_precision = (first_sum + integral + end_correction / 2 + slope_correction) / n
    mean_precision = pl.when(pl.field("odds").is_infinite()).then(0.0).otherwise(mean_precision)
    return row_struct_expr.list.agg(
        element_struct_expr.struct.with_fields(mean=mean_precision).struct.field("mean").first()
    )


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
"""Where a factor exp(-x) of the integrand no longer matters: exp(-36) is 2e-16."""


@cache
def _gauss_nodes(n_nodes: int, pull: float) -> tuple[list[float], list[float]]:
    """Return nodes of Gauss's rule between 0 and 1, drawn towards 0 by `pull`, and their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    nodes = (1 + nodes) / 2
    # Of x = t / (1 + pull (1 - t)), which has the slope (1 + pull) / (1 + pull (1 - t))^2.
    denominator = 1 + pull * (1 - nodes)
    return (nodes / denominator).tolist(), (weights / 2 * (1 + pull) / denominator**2).tolist()


def mean_random_average_precision(n_pos: pl.Expr, n_neg: pl.Expr, odds: pl.Expr) -> pl.Expr:
    """Return the mean average precision of all orders of n_pos positives and n_neg negatives."""
    neg_weight = odds * n_pos / n_neg
    is_defined = neg_weight.is_not_null()
    s_scale = 15 / (1 + neg_weight + n_pos + neg_weight * n_neg)
    s_growth = (1 + _REACH / (1 + neg_weight) / s_scale).log()
    expr_by_field = {"n_pos": n_pos, "n_neg": n_neg, "k": neg_weight}
    expr_by_field |= {"scale": s_scale, "growth": s_growth}
    # A list of one struct, so that the numbers of each row are combined with all nodes.
    row_struct_expr = pl.concat_list(
        pl.struct(expr.alias(field_name) for field_name, expr in expr_by_field.items())
    )
    # What is used more than once becomes a field first: Polars would compute it again for each use.
    nodes, weights = _gauss_nodes(64, 0.15)
    n_pos, n_neg, neg_weight, s_scale, s_growth = (
        pl.element().struct.field(field_name).first() for field_name in expr_by_field
    )
    s_stretch = (pl.lit(pl.Series([*nodes, 1.0])) * s_growth).exp()
    s_weights = pl.lit(pl.Series([*weights, 0.0])) * s_growth * s_scale * s_stretch
    last_node_weight = pl.lit(pl.Series([0.0] * len(nodes) + [1.0]))
    node_struct_expr = pl.struct(
        P=n_pos,
        N=n_neg,
        k=neg_weight,
        s=s_scale * (s_stretch - 1),
        step=s_weights,
        last=last_node_weight,
    )
    s, neg_weight = pl.field("s"), pl.field("k")
    # 1 - exp(-s) without loss for a small s: Polars has no expm1.
    tanh_half_s, tanh_half_ks = (s / 2).tanh(), (s * neg_weight / 2).tanh()
    node_struct_expr = node_struct_expr.struct.with_fields(
        a=2 * tanh_half_s / (1 + tanh_half_s), b=2 * tanh_half_ks / (1 + tanh_half_ks), down=(-s).exp()
    )
    steepness = (pl.field("P") - 1) * pl.field("a") + pl.field("N") * pl.field("b")
    node_struct_expr = node_struct_expr.struct.with_fields(
        span=pl.min_horizontal(1.0, _REACH / steepness)
    )
    # A struct for each node in s, whose field `value` is the integral over u times a weight
    node_struct_expr = node_struct_expr.struct.with_fields(value=_integrate_over_places())
    mean_precision = row_struct_expr.list.agg(node_struct_expr.struct.field("value").sum())
    return pl.when(is_defined).then(mean_precision)  # a sum of nulls is 0


def _integrate_over_places() -> pl.Expr:
    """Return the integral over the place u at a node in s, from the fields of that node."""
    n_other_pos, n_neg, a, b = pl.field("P") - 1, pl.field("N"), pl.field("a"), pl.field("b")
    integral: pl.Expr = pl.lit(0.0)
    for node, node_weight in zip(*_gauss_nodes(14, 0.7), strict=True):
        u = pl.field("span") * node
        one_less_ua = 1 - u * a
        chance = ((n_other_pos - 1) * (-u * a).log1p() + n_neg * (-u * b).log1p()).exp()
        inner_sum = pl.field("step") * (one_less_ua + n_other_pos * u * pl.field("down"))
        integral = integral + chance * (inner_sum + pl.field("last") * one_less_ua) * node_weight
    return integral * pl.field("span") * pl.field("down")
