"""Standard errors and intervals of curve metrics without resampling.

    average precision  from influences; on the logit scale, with what the sample lacks
    ROC AUC            from influences (DeLong et al. 1988); the same

An interval can be trusted where no doubt of `list_doubts` holds. Their limits were read off the
simulations of `benchmarks/coverage.py`.

Sources: DeLong et al. 1988; Clopper and Pearson 1934.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence.doubts import DOUBT, Doubts, find_first_doubt
from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize, EtaError
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.ground.student_distribution import student_quantile
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.inputs.sample_kinds import SampleKind
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.segment_column_names import Segment, Unseen
from polars_prcurve.core.uncertainty import influence
from polars_prcurve.core.uncertainty.influence import cluster_standard_error, standard_error

# The sizes of both classes by their own weights.
_N_POS, _N_NEG = pl.col(EffectiveSize.N_POS), pl.col(EffectiveSize.N_NEG)
# Those by the weights of the other class.
_LEAST_POS, _LEAST_NEG = pl.col(EffectiveSize.N_POS_LEAST), pl.col(EffectiveSize.N_NEG_LEAST)
_AT_BOUND_OF_ETA = {"eta at 0 or 1": (pl.col(Segment.ODDS) == 0) | pl.col(Segment.ODDS).is_infinite()}
# Sizes of empty classes are null, and null counts as true.
_ONE_CLASS = {"one class": ~((_N_POS > 0) & (_N_NEG > 0))}
_SIZES_OF_CLASSES = ((_N_POS, _LEAST_POS), (_N_NEG, _LEAST_NEG))  # both sizes of either class
SLOPE = "slope"  # the helper of a metric that is its derivative by logit(eta)
CAUTIOUS, HOPEFUL = "cautious", "hopeful"
"""The helpers of a metric with false positives more, and of the positives below others more."""
LOSS = "loss"  # the helper with what the false positives cost, at the slope where they are
LEAST_ENDING, MOST_ENDING = "least", "most"
"""What follows the name of a metric in its values on both extended curves."""


class IntervalPlan(NamedTuple):
    """How the interval of a metric is computed."""

    helpers: dict[str, CurveMetric]  # other metrics that it is computed from, by name
    # Columns to add, one mapping after the other, since Polars computes an expression again for each
    # use. The last ones are `<name>_standard_error`, `_low`, `_high`, `_doubt`.
    steps: Sequence[Mapping[str, pl.Expr]]


def plan_interval(name: str, metric: CurveMetric, confidence: float, sample: SampleKind) -> IntervalPlan:
    """Return how the interval of a metric is computed, over its variances."""
    recipe = metric.recipe
    helpers = {f"{name}_{kind}": helper for kind, helper in recipe.helpers.items()}
    value, error = pl.col(name), pl.col(f"{name}_error")
    if recipe.influence is None:
        no_number = pl.lit(None, dtype=pl.Float64)
        freedom = {f"{name}_freedom": pl.col(influence.STUDENT_FREEDOM)} if sample.joins_rows else {}
        eta_doubt = _AT_BOUND_OF_ETA if metric.depends_on_eta else {}
        doubts = _ONE_CLASS | eta_doubt | {"no formula: method='bootstrap'": pl.lit(True)}
        empty_interval = _name_interval(name, [no_number] * 3, doubts, pl.lit(False))
        return IntervalPlan(helpers, [freedom, empty_interval])
    error_columns = _list_errors(name, metric, sample)
    if sample.joins_rows:
        error_columns |= influence.find_freedom(name)
    z = z_value(confidence)
    deviations = student_quantile(z, pl.col(f"{name}_freedom")) if sample.joins_rows else z
    is_known, is_inside = value.is_not_null() & error.is_not_null(), (value > 0) & (value < 1)
    column_steps: list[Mapping[str, pl.Expr]] = [error_columns]
    is_varying = pl.lit(True)
    if counts_unseen(metric):
        column_steps.append(bind_extended(name, metric))
        # At eta = 0 and 1 it is certain.
        is_varying = (pl.col(Segment.ODDS) > 0) & pl.col(Segment.ODDS).is_finite()
    else:
        column_steps.append(_bind_extended_area(name))
    interval_ends = find_ends(name, deviations)
    known_ends = [pl.when(is_known & is_varying).then(end) for end in interval_ends]
    error_and_ends = [pl.when(is_known & (is_inside | ~is_varying)).then(error), *known_ends]
    doubts = _find_few_units(list_doubts(name, metric, deviations, sample), sample)
    column_steps.append(_name_interval(name, error_and_ends, doubts, is_known))
    return IntervalPlan(helpers, column_steps)


def _list_errors(name: str, metric: CurveMetric, sample: SampleKind) -> dict[str, pl.Expr]:
    """Return the errors of a metric and of its cautious values, with that of a counted prevalence."""
    error_columns = {}
    for column, influenced_metric in list_influenced({name: metric}).items():
        least_variance = None
        if column != name and LOSS in metric.recipe.helpers:
            # Where no negative was seen near the top, that of the half a false positive.
            least_variance = pl.col(f"{name}_{LOSS}") ** 2
        error = find_standard_error(column, influenced_metric, sample, least_variance)
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
    """Return the columns of standard error, low and high end, and the first doubt of them."""
    kinds = ("standard_error", "low", "high")
    columns = {f"{name}_{kind}": end for kind, end in zip(kinds, error_and_ends, strict=True)}
    return columns | {f"{name}_{DOUBT}": find_first_doubt(doubts, is_known)}


def _add_counted_eta(name: str, slope: pl.Expr) -> pl.Expr:
    """Return what the count of a prevalence adds to the variance of a value, where rows have weights."""
    # Rows with large weights move both. A positive far below lowers the value and raises the prevalence,
    # so the sum is usually less than that of both errors: it is that of influences with the slope added
    # to those of positives, and taken from those of negatives.
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


def find_standard_error(
    name: str, metric: CurveMetric, sample: SampleKind, least_variance: pl.Expr | None = None
) -> pl.Expr:
    """Return the standard error of a metric from variances of influences, of examples or of units.

    That of the negatives is at least `least_variance`; of units, the sum of both classes is.
    """
    if metric.recipe.influence is None:
        return pl.lit(None, dtype=pl.Float64)
    if sample.joins_rows:
        error = cluster_standard_error(name)
        return error if least_variance is None else pl.max_horizontal(error, least_variance.sqrt())
    return standard_error(name, metric.recipe.influence, least_variance)


def list_doubts(
    name: str, metric: CurveMetric, deviations: float | pl.Expr, sample: SampleKind
) -> dict[str, pl.Expr]:
    """Return why the interval of a metric from influences may not be calibrated."""
    # Of average precision each class must have 10 examples, or 100 clusters: with fewer, intervals hold
    # where clusters are alike, and how many carry the error does not matter, since that number is large
    # where heavy ones are missing. ROC AUC needs two; its differences that the smaller class times
    # 1 - AUC is at least 12. Of weighted rows each class must be large enough for what it may not show.
    # Strata show that: of each its weight is known, and least sizes count one row more of either class.
    pos_size, neg_size = (_LEAST_POS, _LEAST_NEG) if sample.knows_weights else (_N_POS, _N_NEG)
    least_size = 100 if sample.joins_rows else 10
    if not (counts_unseen(metric) or sample.knows_weights):
        least_size = 2
    class_doubts = _ONE_CLASS | {
        "few positives": pos_size < least_size,
        "few negatives": neg_size < least_size,
    }
    if counts_unseen(metric):
        class_doubts |= _AT_BOUND_OF_ETA
        if sample.knows_weights:
            return class_doubts
        if metric.recipe.is_compared:  # models of different shape differ most in what was not seen
            half_width = deviations * pl.col(f"{name}_error") / (pl.col(name) * (1 - pl.col(name)))
            class_doubts["tail not seen"] = ~(pl.max_horizontal(measure_unseen(name)) / half_width <= 1)
        return class_doubts | {"heavy weights": ~_shows_weights(_N_POS, _LEAST_POS)}
    if metric.recipe.is_compared:
        class_doubts |= _list_doubts_of_difference(name, sample)
    if sample.knows_weights:
        return class_doubts
    # About least**2 / size rows of a class weigh as much as those of the other class do on average.
    # Almost all of the error is theirs, and 20 are needed, times the share by which both differ.
    has_enough_heavy = (
        least_size**2 / size >= 20 * (1 - least_size / size) for size, least_size in _SIZES_OF_CLASSES
    )
    has_shown_weights = pl.all_horizontal(
        *(_shows_weights(*sizes) for sizes in _SIZES_OF_CLASSES), *has_enough_heavy
    )
    return class_doubts | {"heavy weights": ~has_shown_weights}


def _list_doubts_of_difference(name: str, sample: SampleKind) -> dict[str, pl.Expr]:
    """Return why a difference of ROC AUC, whose interval has no extended ends, may not be calibrated."""
    # Without heavy examples 1 - AUC is too small, and this ratio of sizes is as much too large.
    counted_sizes = [
        least_size if sample.knows_weights else size * (size / least_size)
        for size, least_size in _SIZES_OF_CLASSES
    ]
    return {
        f"few {class_name}": (size * (1 - pl.col(name)) < 12) | (pl.col(name) == 0)
        for class_name, size in zip(("positives", "negatives"), counted_sizes, strict=True)
    }


def _shows_weights(size: pl.Expr, least_size: pl.Expr) -> pl.Expr:
    """Return whether a class is large enough for its heavy examples to be in the sample as expected."""
    # It counts as `size` examples by its own weights, and as `least` by those of the other class. If a
    # few heavy ones are missing, `size` is too large and `least` too small, and a metric is wrong. So
    # the flag reads their product, which hardly changes: it must be 6000 times the share by which they
    # differ. Equal weights are always shown.
    return size * least_size >= 6000 * (1 - least_size / size)


def _find_few_units(doubts: dict[str, pl.Expr], sample: SampleKind) -> dict[str, pl.Expr]:
    """Return doubts that blame clusters where there are enough examples, in too few of them."""
    if not sample.joins_rows:
        return doubts
    totals = {"few positives": Group.N_POS, "few negatives": Group.N_NEG}
    is_few = pl.any_horizontal(doubts[reason] for reason in doubts if reason.startswith("few "))
    other_doubts = {name: doubt for name, doubt in doubts.items() if not name.startswith("few ")}
    if not sample.is_weighted:
        other_doubts |= {name: is_few & (pl.col(total) < 10) for name, total in totals.items()}
    return other_doubts | {"few clusters": is_few}


def list_bootstrap_doubts(name: str, metric: CurveMetric, side: str = "") -> Doubts:
    """Return why the bootstrap interval of a metric, of a `side` of a pair, may not be calibrated."""
    has_few_pos = _N_POS < 100
    if metric.range[1] == 1:
        has_few_pos |= _N_POS * (1 - pl.col(side + name)) < 12
    has_no_value = pl.col(side + name).is_null()
    doubts = _ONE_CLASS | {"few positives": has_few_pos, "few negatives": _N_NEG < 100}
    doubts["no value"] = has_no_value
    if metric.depends_on_eta:
        doubts |= {reason: has_no_value & doubt for reason, doubt in _AT_BOUND_OF_ETA.items()}
    if (at_target := metric.recipe.at_target) is not None and at_target.word == "fpr":
        # Where an fpr allows one negative, intervals of recall at it covered the true value as rarely as
        # 73%.
        doubts["few false positives"] = at_target.value * _N_NEG < 10
    if metric.depends_on_eta:
        # A sample without negatives above its highest positives has no replicate that has one. By their
        # odds the negatives represent n_neg / odds positives, and 500 are needed: with 100, intervals
        # were seen to cover the true value as rarely as 86%.
        doubts["tail not seen"] = 500 * pl.col(Segment.ODDS) > _N_NEG
    return doubts


# Examples that the sample lacks -----------------------------------------------------------------

# A variance is that of examples that were seen. Three that may be missing move average precision by more
# than their share of it:
#
#     a false positive above all positives    at small prevalences it costs almost everything
#     a positive below all negatives          of few positives it is a large share
#     a positive above all negatives          at small prevalences it is worth more than all others
#
# So the lower end of an interval is that of a curve with more false positives at every threshold, and
# with one more positive below all others, whose precision is eta, or 0 where examples were never scored.
# The upper end is that of a curve with more positives at the top. Either is the plain end where that is
# farther away.
#
# Of a false positive and of a positive at the top, half an example does. The logarithm of their number
# counts, and of a number k half an example more, with 1.96 errors of it, is near the limit of a Poisson
# count: of k = 0, 1, 2 and 5 the limit is 3.7, 5.6, 7.2 and 11.7, and this is 3.5, 5.5, 7.6 and 12.2.
# The error of k = 0 is that of the half, which LOSS gives. A positive below all others counts as a
# share, and one with its error is 3 of them. Differences of models read the curves of whole examples.
#
# A positive more is a share of all positives: Unseen.SHARE above them, and MISSED_SHARE below them.
# Where rows come in clusters, one cluster is. Of rows that were drawn by strata it weighs as rows do
# there.
#
# ROC AUC is lowered by half an example of each class on the wrong side of all others, and raised by half
# a one on the right side.


def counts_unseen(metric: CurveMetric) -> bool:
    """Return whether the interval of a metric allows for examples that the sample lacks."""
    return CAUTIOUS in metric.recipe.helpers


def bind_extended(name: str, metric: CurveMetric) -> dict[str, pl.Expr]:
    """Return the values of both extended curves and their errors, by column."""
    missed_share, top_share, least_precision = map(
        pl.col, (Unseen.MISSED_SHARE, Unseen.SHARE, Unseen.MISSED_PRECISION)
    )
    if not metric.recipe.is_compared:  # half a positive
        top_share = repeat_in_rows(top_share, pl.col(name))
        top_share = top_share / (2 - top_share)
    # A mean over one positive more: below all others it has the least precision, and on top 1.
    least_value = (1 - missed_share) * pl.col(f"{name}_{CAUTIOUS}") + missed_share * least_precision
    most_value = top_share + (1 - top_share) * pl.col(f"{name}_{HOPEFUL}")
    least_error = (1 - missed_share) * pl.col(f"{name}_{CAUTIOUS}_error")
    most_error = (1 - top_share) * pl.col(f"{name}_error")
    # The influence of that positive: its share, times how far its precision is from the mean.
    least_jump, most_jump = missed_share * (least_value - least_precision), top_share * (1 - most_value)
    extended_columns: dict[str, pl.Expr] = {}
    for ending, value, error, jump in (
        (LEAST_ENDING, least_value, least_error, least_jump),
        (MOST_ENDING, most_value, most_error, most_jump),
    ):
        extended_error = (error * error + jump * jump).sqrt()
        extended_columns |= {
            f"{name}_{ending}": value,
            f"{name}_{ending}_jump": jump,
            f"{name}_{ending}_error": extended_error,
        }
    return extended_columns


def _bind_extended_area(name: str) -> dict[str, pl.Expr]:
    """Return a ROC AUC with half an example more of each class, at worst and at best, and the errors."""
    value, error = pl.col(name), pl.col(f"{name}_error")
    sizes = [repeat_in_rows(size, value) for size in (_N_POS, _N_NEG)]
    seen_shares = [size / (size + 0.5) for size in sizes]
    seen_share, smaller_share = seen_shares[0] * seen_shares[1], pl.min_horizontal(seen_shares)
    unseen_squares = sum(((1 - share) ** 2 for share in seen_shares), pl.lit(0.0))

    def find_error(distance: pl.Expr) -> pl.Expr:
        return ((error * smaller_share) ** 2 + unseen_squares * distance**2).sqrt()

    return {
        f"{name}_{LEAST_ENDING}": value * seen_share,
        f"{name}_{LEAST_ENDING}_error": find_error(value),
        f"{name}_{MOST_ENDING}": 1 - (1 - value) * seen_share,
        f"{name}_{MOST_ENDING}_error": find_error(1 - value),
    }


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
    low_outside, high_outside = when_0.then(0.0).otherwise(low), when_0.then(high).otherwise(1.0)
    return (
        when_inside.then(pl.min_horizontal(low, reach("", -1))).otherwise(low_outside),
        when_inside.then(pl.max_horizontal(high, reach("", 1))).otherwise(high_outside),
    )


def find_gap(name: str, error: pl.Expr, deviations: float | pl.Expr, better: str, worse: str) -> pl.Expr:
    """Return how far a difference may lie below what was seen, by unseen examples and by chance."""
    # The side that is `better` has its lower curve, and that which is `worse` its upper one.
    lower_of_better, upper_of_worse = f"{better}{name}_{LEAST_ENDING}", f"{worse}{name}_{MOST_ENDING}"
    loss_below = pl.col(better + name) - pl.col(lower_of_better)
    gain_above = pl.col(upper_of_worse) - pl.col(worse + name)
    jumps = (pl.col(f"{curve_name}_jump") for curve_name in (lower_of_better, upper_of_worse))
    spread = sum((jump * jump for jump in jumps), error * error).sqrt()
    return pl.max_horizontal(loss_below, 0.0) + pl.max_horizontal(gain_above, 0.0) + deviations * spread


def measure_unseen(name: str) -> tuple[pl.Expr, pl.Expr]:
    """Return by how much unseen examples may lower the logit of a value, and raise it."""
    logit, least_logit, most_logit = (
        to_logit(pl.col(f"{name}{ending}")) for ending in ("", f"_{LEAST_ENDING}", f"_{MOST_ENDING}")
    )
    return logit - least_logit, most_logit - logit


def to_logit(value: pl.Expr) -> pl.Expr:
    """Return ln(value / (1 - value))."""
    return (value / (1 - value)).log()


def from_logit(value: pl.Expr) -> pl.Expr:
    """Return the inverse of `to_logit`."""
    return 1 / (1 + (-value).exp())
