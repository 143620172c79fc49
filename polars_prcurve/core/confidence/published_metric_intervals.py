"""Standard errors and intervals of published numbers, where the scores behind them are not available.

If you have the scores, use `summary(confidence=)` or `operating_points(confidence=)`, which know more.
All three intervals are symmetric on the logit scale, so they stay within [0, 1].

Sources: Boyd et al. 2013; Hanley and McNeil 1982; the delta method for precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from polars_prcurve.core.confidence.rate_intervals import check_confidence, refuse_rates, z_value
from polars_prcurve.core.ground.argument_checks import read_numbers
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.metrics.point_formulas import precision

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


FloatOrArray = Any  # a float or a float array


class PublishedEstimate(NamedTuple):
    """A value with its standard error and interval, which are NaN where nothing is known of them."""

    value: FloatOrArray
    standard_error: FloatOrArray
    low: FloatOrArray
    high: FloatOrArray


@hint_at_arguments
def published_precision(
    tp: ArrayLike,
    n_pos: ArrayLike,
    fp: ArrayLike,
    n_neg: ArrayLike,
    eta: ArrayLike,
    *,
    confidence: float = 0.95,
) -> PublishedEstimate:
    """Estimate precision at another prevalence from a published confusion matrix.

    At a fixed threshold the logit of precision has the variance `(1 - recall) / tp + (1 - fpr) / fp`,
    whatever the prevalence. Without true or without false positives it is unknown, and standard error
    and interval are NaN.

    Examples
    --------
    >>> estimate = published_precision(tp=60, n_pos=100, fp=10, n_neg=10_000, eta=0.01)
    >>> [round(number, 4) for number in estimate]
    [0.8584, 0.0397, 0.7617, 0.9199]
    """
    count_by_name = {"tp": tp, "n_pos": n_pos, "fp": fp, "n_neg": n_neg}
    counts_by_name = {name: read_numbers(name, count) for name, count in count_by_name.items()}
    for name, size_name in (("tp", "n_pos"), ("fp", "n_neg")):
        refuse_rates(name, counts_by_name[name], size_name, counts_by_name[size_name])
    true_positives, positives, false_positives, negatives = counts_by_name.values()
    is_possible = (true_positives >= 0) & (true_positives <= positives) & (positives > 0)
    is_possible &= (false_positives >= 0) & (false_positives <= negatives) & (negatives > 0)
    _check_all(is_possible, "0 <= tp <= n_pos and 0 <= fp <= n_neg, both > 0")
    with np.errstate(all="ignore"):
        recall, fpr = true_positives / positives, false_positives / negatives
        variance = (1 - recall) / true_positives + (1 - fpr) / false_positives
        value = np.asarray(precision(recall, fpr, read_numbers("eta", eta)))
        logit_error = np.where((true_positives > 0) & (false_positives > 0), variance, np.nan) ** 0.5
    return _build_logit_estimate(value, logit_error, confidence)


@hint_at_arguments
def published_average_precision(
    average_precision: ArrayLike, n_pos: ArrayLike, *, confidence: float = 0.95
) -> PublishedEstimate:
    """Estimate the error of an average precision as if it were a share of n_pos trials.

    The formula, from Boyd et al. 2013, holds only at the prevalence at which the average precision was
    measured. It ignores the negatives, whose part in the error grows as prevalence falls.

    Examples
    --------
    >>> [round(number, 4) for number in published_average_precision(0.8, n_pos=50)]
    [0.8, 0.0566, 0.6667, 0.8889]
    """
    value = read_numbers("average_precision", average_precision)
    n_positives = read_numbers("n_pos", n_pos)
    _check_all(
        (value >= 0) & (value <= 1) & (n_positives > 0), "an average precision in [0, 1] and n_pos > 0"
    )
    with np.errstate(all="ignore"):
        # The variance p (1 - p) / n of a share p, over the square of p (1 - p), is that of its logit.
        return _build_logit_estimate(value, 1 / np.sqrt(n_positives * value * (1 - value)), confidence)


@hint_at_arguments
def published_roc_auc(
    roc_auc: ArrayLike, n_pos: ArrayLike, n_neg: ArrayLike, *, confidence: float = 0.95
) -> PublishedEstimate:
    """Estimate the error of an area under the ROC curve (Hanley and McNeil 1982).

    The scores of both classes are assumed to be exponentially distributed.

    Examples
    --------
    >>> [round(number, 4) for number in published_roc_auc(0.9, n_pos=50, n_neg=500)]
    [0.9, 0.0295, 0.8256, 0.9448]
    """
    value_by_argument = {"roc_auc": roc_auc, "n_pos": n_pos, "n_neg": n_neg}
    value, n_positives, n_negatives = (
        read_numbers(name, argument) for name, argument in value_by_argument.items()
    )
    is_possible = (value >= 0) & (value <= 1) & (n_positives > 0) & (n_negatives > 0)
    _check_all(is_possible, "an area in [0, 1], n_pos > 0 and n_neg > 0")
    with np.errstate(all="ignore"):
        # Covariance of two comparisons that share a negative (two positives), or share a positive.
        covariance_of_two_pos = value / (2 - value) - value**2
        covariance_of_two_neg = 2 * value**2 / (1 + value) - value**2
        variance = (
            value * (1 - value)
            + (n_positives - 1) * covariance_of_two_pos
            + (n_negatives - 1) * covariance_of_two_neg
        ) / (n_positives * n_negatives)
        # The delta method: an error e of the area A is an error e / (A (1 - A)) of its logit.
        return _build_logit_estimate(value, np.sqrt(variance) / (value * (1 - value)), confidence)


def _check_all(are_possible: Any, expected_phrase: str) -> None:
    """Raise unless a condition holds for all values; the words describe it."""
    if n_wrong := int(np.sum(~np.asarray(are_possible))):
        raise PrcError(f"expected {expected_phrase}; {n_wrong} of the values given do not satisfy this")


def _build_logit_estimate(value: Any, logit_error: Any, confidence: float) -> PublishedEstimate:
    """Return the estimate of a value from the standard deviation of its logit."""
    half_width = z_value(check_confidence(confidence)) * logit_error
    with np.errstate(all="ignore"):
        logit = np.log(value / (1 - value))
        low, high = (
            1 / (1 + np.exp(-logit_end)) for logit_end in (logit - half_width, logit + half_width)
        )
        nan_at_ends = np.where((value > 0) & (value < 1), 0.0, np.nan)  # 0 and 1 have no logit
        value_error = value * (1 - value) * logit_error  # the delta method, back from the logit
        field_values = (value, *(field_value + nan_at_ends for field_value in (value_error, low, high)))
    return PublishedEstimate(
        *(
            float(field_value) if np.ndim(field_value) == 0 else field_value
            for field_value in field_values
        )
    )
