"""Standard errors and intervals of curve metrics without resampling.

    average precision    from influences; on the logit scale, with what the sample lacks
    ROC AUC              from influences (DeLong et al. 1988); on the logit scale
    precision at recall  from the error of fpr and the error of the threshold, in quadrature

An interval is reliable where no doubt of `list_doubts` holds. Their limits were read off the simulations
of `benchmarks/coverage.py`.

Sources: DeLong et al. 1988; Zou and Donner 2008; Woodruff 1952; Clopper and Pearson 1934.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence.interval_column_names import EffectiveSize, EtaError
from polars_prcurve.core.confidence.intervals import Doubts, compute_limits, tell_doubts, z_value
from polars_prcurve.core.confidence.point_intervals import combine_distances
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.ground.normal_distribution import student_quantile
from polars_prcurve.core.inputs.sample_kinds import SampleKind
from polars_prcurve.core.inputs.score_and_rate_tables import ResolvedTable
from polars_prcurve.core.metrics.curve_metric import CurveMetric, Recipe, SegmentValues
from polars_prcurve.core.metrics.point_metric import null_if_nan
from polars_prcurve.core.metrics.segment_column_names import Segment, Unseen
from polars_prcurve.core.uncertainty import influence
from polars_prcurve.core.uncertainty.influence import cluster_standard_error, standard_error

_Z_95 = z_value(0.95)  # standard errors of recall at which helpers of any level of confidence are taken
# The sizes of both classes by their own weights.
_N_POS, _N_NEG = pl.col(EffectiveSize.N_POS), pl.col(EffectiveSize.N_NEG)
# Those by the weights of the other class.
_LEAST_POS, _LEAST_NEG = pl.col(EffectiveSize.N_POS_LEAST), pl.col(EffectiveSize.N_NEG_LEAST)
SLOPE = "slope"  # the helper of a metric that is its derivative by logit(eta)
CAUTIOUS, HOPEFUL = "cautious", "hopeful"
"""The helpers of a metric with one false positive more, and of the positives below one more."""
LEAST_ENDING, MOST_ENDING = "least", "most"
"""What follows the name of a metric in its values on both extended curves."""


def has_analytic_interval(metric: CurveMetric) -> bool:
    """Return whether the interval of a metric is known without resampling."""
    return metric.recipe.influence is not None or find_recall(metric) is not None


def find_recall(metric: CurveMetric) -> float | None:
    """Return the recall if a metric is precision at one."""
    at_target = metric.recipe.at_target
    return at_target.value if at_target is not None and at_target.word == "recall" else None


def reads_rate_sizes(table: ResolvedTable, metrics: Iterable[CurveMetric]) -> bool:
    """Return whether the intervals of metrics read the effective sizes of classes at a threshold."""
    has_recall_metric = any(find_recall(metric) is not None for metric in metrics)
    return has_recall_metric and table.sample.has_rate_errors


class IntervalPlan(NamedTuple):
    """How the interval of a metric is computed."""

    helpers: dict[str, CurveMetric]  # other metrics that it is computed from, by name
    # Columns to add, one mapping after the other, since Polars computes an expression again for each
    # use. The last ones are `<name>_standard_error`, `_low`, `_high`, `_reliable`, `_why`.
    steps: Sequence[Mapping[str, pl.Expr]]


def plan_interval(name: str, metric: CurveMetric, confidence: float, sample: SampleKind) -> IntervalPlan:
    """Return how the interval of a metric is computed, over its variances and the columns of pairs."""
    recipe = metric.recipe
    if (recall := find_recall(metric)) is not None and sample.has_rate_errors:
        return _plan_at_recall(name, recall, confidence, sample)
    helpers = {f"{name}_{kind}": helper for kind, helper in recipe.helpers.items()}
    value, error = pl.col(name), pl.col(f"{name}_error")
    if recipe.influence is None:
        no_number = pl.lit(None, dtype=pl.Float64)
        freedom = {f"{name}_freedom": pl.col(influence.STUDENT_FREEDOM)} if sample.joins_rows else {}
        empty_interval = _name_interval(name, [no_number] * 3, {}, pl.lit(False))
        return IntervalPlan(helpers, [freedom, empty_interval])
    error_columns = _list_errors(name, metric, sample)
    if sample.joins_rows:
        error_columns |= influence.find_freedom(name)
    if recipe.least_if_perfect is not None:
        error_columns[f"{name}_if_perfect"] = recipe.least_if_perfect(_N_POS, _N_NEG, 1 - confidence)
    z = z_value(confidence)
    quantile = student_quantile(z, pl.col(f"{name}_freedom")) if sample.joins_rows else z
    is_known, is_inside = value.is_not_null() & error.is_not_null(), (value > 0) & (value < 1)
    column_steps: list[Mapping[str, pl.Expr]] = [error_columns]
    interval_ends: Sequence[pl.Expr]
    if counts_unseen(metric):
        column_steps.append(bind_extended(name))
        # At eta = 0 and 1 it is certain.
        is_varying = (pl.col(Segment.ODDS) > 0) & pl.col(Segment.ODDS).is_finite()
        interval_ends = find_ends(name, quantile)
    else:
        is_varying, interval_ends = pl.lit(True), _find_logit_ends(name, quantile)
    known_ends = [pl.when(is_known & is_varying).then(end) for end in interval_ends]
    error_and_ends = [pl.when(is_known & (is_inside | ~is_varying)).then(error), *known_ends]
    doubts = list_doubts(name, metric, quantile, sample)
    column_steps.append(_name_interval(name, error_and_ends, doubts, is_known))
    return IntervalPlan(helpers, column_steps)


def _list_errors(name: str, metric: CurveMetric, sample: SampleKind) -> dict[str, pl.Expr]:
    """Return the errors of a metric and of its cautious values, with that of a counted prevalence."""
    error_columns = {}
    for column, influenced_metric in list_influenced({name: metric}).items():
        error = find_standard_error(column, influenced_metric, sample)
        if SLOPE in metric.recipe.helpers:
            slope = pl.col(f"{name}_{SLOPE}")
            added_variance = slope**2 * pl.col(EtaError.VARIANCE)
            added_variance = _add_counted_eta(column, slope) if sample.correlates_eta else added_variance
            error = (error * error + added_variance).clip(lower_bound=0.0).sqrt()
        error_columns[f"{column}_error"] = error
    return error_columns


def _name_interval(
    name: str, error_and_ends: Sequence[pl.Expr], doubts: Doubts, is_known: pl.Expr
) -> dict[str, pl.Expr]:
    """Return the columns of standard error, low and high end, and of what makes them unreliable."""
    kinds = ("standard_error", "low", "high", "reliable", "why")
    kinds_and_columns = zip(kinds, (*error_and_ends, *tell_doubts(doubts, is_known)), strict=True)
    return {f"{name}_{kind}": column for kind, column in kinds_and_columns}


def _add_counted_eta(name: str, slope: pl.Expr) -> pl.Expr:
    """Return what the count of a prevalence adds to the variance of a value, where rows have weights."""
    # Heavy rows move both. A positive far below lowers the value and raises the prevalence, so the sum
    # is mostly less than that of both errors: it is that of influences with the slope added to those of
    # positives, and taken from those of negatives.
    sides = (("pos", slope, _N_POS), ("neg", -slope, _N_NEG))
    terms = (
        (slope * slope + 2 * shift * pl.col(f"{name}_{side}_tilt")) / size for side, shift, size in sides
    )
    return pl.when(pl.col(EtaError.VARIANCE) > 0).then(sum(terms, pl.lit(0.0))).otherwise(0.0)


def list_influenced(metrics_by_name: Mapping[str, CurveMetric]) -> dict[str, CurveMetric]:
    """Return the metrics that have influences, and their cautious values, by name."""
    influenced_metrics = {
        name: metric for name, metric in metrics_by_name.items() if metric.recipe.influence is not None
    }
    return influenced_metrics | {
        f"{name}_{CAUTIOUS}": metric.recipe.helpers[CAUTIOUS]
        for name, metric in influenced_metrics.items()
        if counts_unseen(metric)
    }


def find_standard_error(name: str, metric: CurveMetric, sample: SampleKind) -> pl.Expr:
    """Return the standard error of a metric from variances of influences, of examples or of units."""
    if metric.recipe.influence is None:
        return pl.lit(None, dtype=pl.Float64)
    if sample.joins_rows:
        return cluster_standard_error(name)
    return standard_error(name, metric.recipe.influence)


def _find_logit_ends(name: str, quantile: float | pl.Expr) -> list[pl.Expr]:
    """Return both ends of a ROC AUC, on the logit scale."""
    value, least_value = pl.col(name), pl.col(f"{name}_if_perfect")
    # Delta method: the derivative of to_logit(p) is 1 / (p (1 - p)).
    half_width = quantile * pl.col(f"{name}_error") / (value * (1 - value))
    # At 1 and at 0 all positives score higher, or all lower, than all negatives, so influences see no
    # uncertainty. One end is certain there, and the other is the least value, or as far away from 0.
    ends_at_bounds = ((least_value, 0.0, -half_width), (1.0, 1 - least_value, half_width))
    logit, when_1 = to_logit(value), pl.when(value == 1)
    return [
        when_1.then(end_at_1).when(value == 0).then(end_at_0).otherwise(from_logit(logit + shift))
        for end_at_1, end_at_0, shift in ends_at_bounds
    ]


def list_doubts(name: str, metric: CurveMetric, quantile: float | pl.Expr, sample: SampleKind) -> Doubts:
    """Return why the interval of a metric from influences may not be calibrated."""
    # Of average precision, what the test could not see must matter less than chance; of ROC AUC, the
    # smaller class times 1 - AUC must be at least 12. Of weighted rows each class must be large enough
    # for what it may not show. Strata show that: of each its weight is known, and least sizes count one
    # row more of either class in it.
    pos_size, neg_size = (_LEAST_POS, _LEAST_NEG) if sample.knows_weights else (_N_POS, _N_NEG)
    class_doubts = {"few positives": pos_size < 10, "few negatives": neg_size < 10}
    if counts_unseen(metric):
        eta_doubt = {"eta at 0 or 1": (pl.col(Segment.ODDS) == 0) | pl.col(Segment.ODDS).is_infinite()}
        if sample.knows_weights:
            return eta_doubt | class_doubts
        if sample.joins_rows:
            class_doubts[f"few {sample.units}"] = pl.col(f"{name}_carried") < 30
        tail_doubt = {"tail not seen": ~(measure_unseen(name, quantile) <= 1)}
        weight_doubt = {"heavy weights": ~_shows_weights(_N_POS, _LEAST_POS)}
        return eta_doubt | class_doubts | tail_doubt | weight_doubt
    sizes_of_classes = ((_N_POS, _LEAST_POS), (_N_NEG, _LEAST_NEG))
    # Without heavy examples 1 - AUC is too small, and this ratio of sizes is as much too large.
    counted_sizes = [
        least_size if sample.knows_weights else size * (size / least_size)
        for size, least_size in sizes_of_classes
    ]
    auc_doubts = {
        f"few {class_name}": (size * (1 - pl.col(name)) < 12) | (pl.col(name) == 0)
        for class_name, size in zip(("positives", "negatives"), counted_sizes, strict=True)
    }
    if sample.knows_weights:
        return class_doubts | auc_doubts
    # About least**2 / size rows of a class weigh as much as those of the other class do on average.
    # Almost all of the error is theirs, and 20 are needed, times the share by which both differ.
    has_shown_weights = pl.all_horizontal(
        *(_shows_weights(*sizes) for sizes in sizes_of_classes),
        *(least_size**2 / size >= 20 * (1 - least_size / size) for size, least_size in sizes_of_classes),
    )
    return auc_doubts | {"heavy weights": ~has_shown_weights}


def _shows_weights(size: pl.Expr, least_size: pl.Expr) -> pl.Expr:
    """Return whether a class is large enough for its heavy examples to be in the sample as expected."""
    # It counts as `size` examples by its own weights, and as `least` by those of the other class. If a
    # few heavy ones are missing, `size` is too large and `least` too small, and a metric is wrong. So
    # the flag reads their product, which hardly changes: it must be 6000 times the share by which they
    # differ. Equal weights are always shown.
    return size * least_size >= 6000 * (1 - least_size / size)


def list_bootstrap_doubts(name: str, metric: CurveMetric, side: str = "") -> Doubts:
    """Return why the bootstrap interval of a metric, of a `side` of a pair, may not be calibrated."""
    has_few_pos = _N_POS < 100
    if metric.range[1] == 1:
        has_few_pos |= _N_POS * (1 - pl.col(side + name)) < 12
    doubts = {"few positives": has_few_pos, "few negatives": _N_NEG < 100}
    if (at_target := metric.recipe.at_target) is not None and at_target.word == "fpr":
        # Where an fpr allows one negative, intervals of recall at it held the truth as rarely as 73 %.
        doubts["few false alerts"] = at_target.value * _N_NEG < 10
    if metric.depends_on_eta:
        # A sample without negatives above its highest positives has no replicate that has one. By their
        # odds the negatives stand for n_neg / odds positives, and 500 are needed: with 100, intervals
        # were seen to hold the truth as rarely as 86 %.
        doubts["tail not seen"] = 500 * pl.col(Segment.ODDS) > _N_NEG
    return doubts


def _build_helpers_at_recall(name: str, recall: float, sample: SampleKind) -> dict[str, CurveMetric]:
    """Return the metrics that the interval of precision at a recall is computed from, by name."""

    def find_column(column: str) -> CurveMetric:
        """Return a metric: the value of a column, above -1, on the row on which recall reaches it."""

        def term(rows: SegmentValues) -> pl.Expr:
            recall_level = recall - 1e-12
            is_first_reach = (rows.recall >= recall_level) & (rows.recall_before < recall_level)
            return pl.when(is_first_reach).then(rows.column(column)).otherwise(-1.0)

        return CurveMetric(f"{column} at {recall}", Recipe(term, total="max"), depends_on_eta=False)

    def find_fpr(deviations: float) -> CurveMetric:
        """Return a metric: the fpr at which recall is that many of its errors farther on."""

        def term(rows: SegmentValues) -> pl.Expr:
            # Of weighted examples the error of recall differs between rows: each row has its own level.
            n_pos = rows.column(EffectiveSize.N_POS)
            recall_level = recall + deviations * (recall * (1 - recall) / n_pos).sqrt()
            recall_level = pl.max_horizontal(pl.min_horizontal(recall_level, 1.0), 1 / n_pos)
            # As the value is: on the ROC curve joined by straight lines, which matters under ties.
            share_of_run = ((recall_level - rows.recall_before) / rows.rise).clip(0.0, 1.0)
            # Level and recall are both rounded, and recall may equal the level.
            return pl.when(rows.recall >= recall_level - 1e-12).then(
                rows.fpr_before + rows.run * share_of_run
            )

        return CurveMetric(f"fpr at {recall}", Recipe(term, total="min"), depends_on_eta=False)

    size_columns = {"n_pos": EffectiveSize.N_POS, "n_neg": EffectiveSize.N_NEG}
    size_columns |= {"correlation": EffectiveSize.RATE_CORRELATION} if sample.correlates_rates else {}
    metric_by_kind = {kind: find_column(column) for kind, column in size_columns.items()}
    # Less recall is reached above the threshold, more recall below it.
    metric_by_kind |= {"middle": find_fpr(0.0), "above": find_fpr(-_Z_95), "below": find_fpr(_Z_95)}
    return {f"{name}_{kind}": metric for kind, metric in metric_by_kind.items()}


def _plan_at_recall(name: str, recall: float, confidence: float, sample: SampleKind) -> IntervalPlan:
    """Return how the interval of precision at a recall is computed: from fpr, and a counted eta."""
    z, helpers = z_value(confidence), _build_helpers_at_recall(name, recall, sample)
    value, fpr = pl.col(name), pl.col(f"{name}_middle")
    size = repeat_in_rows(pl.col(f"{name}_n_neg"), fpr)
    # The helpers know no confidence: they are fpr at 1.96 standard errors of recall.
    size_columns = {"size": size, "size_of_limits": size, "stretch": pl.lit(z / _Z_95)}
    if sample.joins_rows:
        # Student's quantiles, of as many units as either class has, in place of normal ones.
        quantile_of_recall, quantile_of_fpr = (student_quantile(z, n - 1) for n in (_N_POS, _N_NEG))
        size_columns["size_of_limits"] = size * (z / quantile_of_fpr) ** 2
        size_columns["stretch"] = quantile_of_recall * (1 / _Z_95)
        size_columns["freedom"] = pl.col(influence.STUDENT_FREEDOM)
    correlation = pl.col(f"{name}_correlation") if sample.correlates_rates else None
    end_columns, interval_ends = _find_ends_at_recall(name, recall, confidence, correlation)
    size = pl.col(f"{name}_size")
    threshold_error = (pl.col(f"{name}_below") - pl.col(f"{name}_above")) * (0.5 / _Z_95)
    fpr_error = combine_distances([(fpr * (1 - fpr) / size).sqrt(), threshold_error], correlation)
    # Delta method: the derivative of precision p by log(fpr) is -p (1 - p).
    error = value * (1 - value) * fpr_error / repeat_in_rows(fpr, value)
    error = (error**2 + (value * (1 - value)) ** 2 * pl.col(EtaError.VARIANCE)).sqrt()
    is_known = (
        value.is_not_null()
        & fpr.is_not_null()
        & (pl.col(Segment.ODDS) > 0)
        & pl.col(Segment.ODDS).is_finite()
    )
    is_known &= _N_POS.is_not_null() & _N_NEG.is_not_null()  # sizes of published points may be unknown
    is_known &= pl.col(f"{name}_below").is_not_null()  # recall may end before it, at the last score
    low, high = (pl.when(is_known).then(null_if_nan(end)) for end in interval_ends)
    # `min_horizontal` skips nulls: without a limit the value must not stand in for it.
    lower_end = pl.min_horizontal(low, pl.when(low.is_not_null()).then(value))
    upper_end = pl.max_horizontal(high, pl.when(high.is_not_null()).then(value))
    n_pos = pl.min_horizontal(f"{name}_n_pos", _N_POS)
    doubts = {"few positives": n_pos * (recall * (1 - recall)) < 8, "few false alerts": fpr * size < 5}
    if not sample.knows_weights:
        doubts["heavy weights"] = ~_shows_weights(_N_POS, _LEAST_POS)
    interval_columns = _name_interval(
        name, [pl.when(is_known & (fpr > 0)).then(error), lower_end, upper_end], doubts, is_known
    )
    named_sizes = {f"{name}_{kind}": column for kind, column in size_columns.items()}
    return IntervalPlan(helpers, [named_sizes, end_columns, interval_columns])


def _find_ends_at_recall(
    name: str, recall: float, confidence: float, correlation: pl.Expr | None
) -> tuple[dict[str, pl.Expr], list[pl.Expr]]:
    """Return columns to bind, and from them both ends of precision at a recall."""
    # Fpr has two errors. One is that of a rate at a fixed threshold: Wilson's interval. The other is
    # that of the threshold, which moves with the sample: fpr at the two ends of an interval of recall
    # (Woodruff 1952). Squared distances from the estimate to both limits add up (Zou and Donner 2008),
    # here on the logarithm of fpr. Clusters that hold both classes make both errors go together; what
    # they share cancels out.
    fpr, fpr_above, fpr_below, size, stretch = (
        pl.col(f"{name}_{kind}") for kind in ("middle", "above", "below", "size_of_limits", "stretch")
    )

    def log_distance(limit: pl.Expr, moved_fpr: pl.Expr) -> pl.Expr:
        return combine_distances([(limit / fpr).log(), (moved_fpr / fpr).log() * stretch], correlation)

    low, high = compute_limits(fpr * size, size, confidence, "wilson")
    # An fpr of 0 has no logarithm: then the upper limit is Wilson's, at the lower threshold.
    high_below = compute_limits(fpr_below * size, size, confidence, "wilson")[1]
    least_fpr = (
        pl.when((fpr > 0) & (fpr_above > 0))
        .then(fpr * (-log_distance(low, fpr_above)).exp())
        .otherwise(0.0)
    )
    most_fpr = pl.when(fpr > 0).then(fpr * log_distance(high, fpr_below).exp()).otherwise(high_below)
    # The logit of precision is that of eta plus a number, and so distances add up in quadrature there.
    # The limits of an eta that was counted in the table are those of a share of as many examples as
    # EtaError.VARIANCE tells (Wilson).
    value, eta, variance = pl.col(name), pl.col("eta"), pl.col(EtaError.VARIANCE)
    eta_size, interval_ends = 1 / (variance * eta * (1 - eta)), []
    bound_columns = {f"{name}_least_fpr": least_fpr, f"{name}_most_fpr": most_fpr}
    eta_limits = compute_limits(eta * eta_size, eta_size, confidence, "wilson")
    for sign, kind, limit in zip((-1, 1), ("most", "least"), eta_limits, strict=True):
        limit_fpr, shift = (
            pl.col(f"{name}_{kind}_fpr").clip(upper_bound=1.0),
            pl.col(f"{name}_{kind}_shift"),
        )
        bound_columns[f"{name}_{kind}_shift"] = to_logit(limit) - to_logit(eta)
        end_at_eta = recall / (recall + pl.col(Segment.ODDS) * limit_fpr)
        distance = combine_distances([to_logit(value) - to_logit(end_at_eta), shift])
        # From a precision of 1 no distance is known, and both errors add up.
        logit_end = (
            pl.when(value < 1)
            .then(to_logit(value) + sign * distance)
            .otherwise(to_logit(end_at_eta) + shift)
        )
        interval_ends.append(pl.when(variance > 0).then(from_logit(logit_end)).otherwise(end_at_eta))
    return bound_columns, interval_ends


# Examples that the sample lacks -----------------------------------------------------------------

# A variance tells of examples that were seen. Three that may be missing move average precision by more
# than their share of it:
#
#     a false positive above all positives    at small prevalences it costs almost everything
#     a positive below all negatives          of few positives it is a large share
#     a positive above all negatives          at small prevalences it is worth more than all others
#
# So the lower end of an interval is that of a curve with one false positive more at every threshold, and
# with one more positive below all others, whose precision is eta, or 0 where examples were never scored.
# The upper end is that of a curve with one more positive at the top. Either is the plain end where that
# is farther away. As in the interval of a rate by Clopper and Pearson (1934), both ends are of other
# counts than the estimate, so the interval is rather too wide.
#
# A positive more is a share of all positives: Unseen.SHARE above them, and MISSED_SHARE below them.
# Where rows come in clusters, one cluster is. Of rows that were drawn by strata it weighs as rows do
# there.


def counts_unseen(metric: CurveMetric) -> bool:
    """Return whether the interval of a metric allows for examples that the sample lacks."""
    return CAUTIOUS in metric.recipe.helpers


def bind_extended(name: str) -> dict[str, pl.Expr]:
    """Return the values of both extended curves and their errors, by column."""
    missed_share, top_share, least_precision = map(
        pl.col, (Unseen.MISSED_SHARE, Unseen.SHARE, Unseen.MISSED_PRECISION)
    )
    # A mean over one positive more: below all others it has the least precision, and on top 1.
    least_value = (1 - missed_share) * pl.col(f"{name}_{CAUTIOUS}") + missed_share * least_precision
    most_value = top_share + (1 - top_share) * pl.col(f"{name}_{HOPEFUL}")
    errors = (
        (1 - missed_share) * pl.col(f"{name}_{CAUTIOUS}_error"),
        (1 - top_share) * pl.col(f"{name}_error"),
    )
    # The influence of that positive: its share, times how far its precision is from the mean.
    jumps = missed_share * (least_value - least_precision), top_share * (1 - most_value)
    extended_columns: dict[str, pl.Expr] = {}
    for ending, value, error, jump in zip(
        (LEAST_ENDING, MOST_ENDING), (least_value, most_value), errors, jumps, strict=True
    ):
        extended_error = (error * error + jump * jump).sqrt()
        extended_columns |= {
            f"{name}_{ending}": value,
            f"{name}_{ending}_jump": jump,
            f"{name}_{ending}_error": extended_error,
        }
    return extended_columns


EXTENDED = (
    "",
    *(f"_{end}{ending}" for end in (LEAST_ENDING, MOST_ENDING) for ending in ("", "_jump", "_error")),
    "_error",
)
"""What follows the name of a metric in the columns that `find_ends` and `find_gap` read."""


def find_ends(name: str, deviations: float | pl.Expr, side: str = "") -> tuple[pl.Expr, pl.Expr]:
    """Return both ends of the interval that reaches `deviations` standard errors to either side."""
    value = pl.col(side + name)

    def reach(ending: str, sign: int) -> pl.Expr:
        middle, error = pl.col(f"{side}{name}{ending}"), pl.col(f"{side}{name}{ending}_error")
        # Delta method: the derivative of to_logit(p) is 1 / (p (1 - p)).
        return from_logit(to_logit(middle) + deviations * error / (middle * (1 - middle)) * sign)

    # A value of 1 has no plain end, and neither has one of 0, where no positive was found.
    low, high = reach(f"_{LEAST_ENDING}", -1), reach(f"_{MOST_ENDING}", 1)
    when_inside, when_0 = pl.when((value > 0) & (value < 1)), pl.when(value == 0)
    return (
        when_inside.then(pl.min_horizontal(low, reach("", -1))).otherwise(
            when_0.then(0.0).otherwise(low)
        ),
        when_inside.then(pl.max_horizontal(high, reach("", 1))).otherwise(
            when_0.then(high).otherwise(1.0)
        ),
    )


def find_gap(name: str, error: pl.Expr, deviations: float | pl.Expr, better: str, worse: str) -> pl.Expr:
    """Return how far a difference may lie below what was seen, by unseen examples and by chance."""
    # The side that is `better` has its lower curve, and that which is `worse` its upper one.
    lower_name, upper_name = f"{better}{name}_{LEAST_ENDING}", f"{worse}{name}_{MOST_ENDING}"
    loss_below, gain_above = (
        pl.col(better + name) - pl.col(lower_name),
        pl.col(upper_name) - pl.col(worse + name),
    )
    jumps = (pl.col(f"{curve_name}_jump") for curve_name in (lower_name, upper_name))
    spread = sum((jump * jump for jump in jumps), error * error).sqrt()
    return pl.max_horizontal(loss_below, 0.0) + pl.max_horizontal(gain_above, 0.0) + deviations * spread


def measure_unseen(name: str, deviations: float | pl.Expr) -> pl.Expr:
    """Return how far unseen examples move the value, in halves of the plain interval."""
    logit, least_logit, most_logit = (
        to_logit(pl.col(f"{name}{ending}")) for ending in ("", f"_{LEAST_ENDING}", f"_{MOST_ENDING}")
    )
    half_width = deviations * pl.col(f"{name}_error") / (pl.col(name) * (1 - pl.col(name)))
    return pl.max_horizontal(logit - least_logit, most_logit - logit) / half_width


def to_logit(value: pl.Expr) -> pl.Expr:
    """Return ln(value / (1 - value))."""
    return (value / (1 - value)).log()


def from_logit(value: pl.Expr) -> pl.Expr:
    """Return the inverse of `to_logit`."""
    return 1 / (1 + (-value).exp())
