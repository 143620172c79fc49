"""What published numbers tell of their error, where the scores behind them are not at hand.

With the scores, ask `summary(confidence=)` or `operating_points(confidence=)`, which know more. All
three intervals are on the logit scale.

Sources: Boyd et al. 2013; Hanley and McNeil 1982; the delta method for precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from polars_prcurve.errors import PrcError
from polars_prcurve.intervals import one_confidence, z_of
from polars_prcurve.point_metrics import precision

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Estimate", "published_average_precision", "published_precision", "published_roc_auc"]

Value = Any  # a float or a float array


class Estimate(NamedTuple):
    """A value and what is known of it; NaN where that is nothing."""

    value: Value
    standard_error: Value
    low: Value
    high: Value


def published_precision(
    tp: ArrayLike,
    n_pos: ArrayLike,
    fp: ArrayLike,
    n_neg: ArrayLike,
    eta: ArrayLike,
    *,
    confidence: float = 0.95,
) -> Estimate:
    """Precision at another prevalence from a published confusion matrix.

    At a fixed threshold the logit of precision has the variance `(1 - recall) / tp + (1 - fpr) / fp`,
    whatever the prevalence. NaN without true or without false positives, where it has none.

    Examples
    --------
    >>> found = published_precision(tp=60, n_pos=100, fp=10, n_neg=10_000, eta=0.01)
    >>> [round(number, 4) for number in found]
    [0.8584, 0.0397, 0.7617, 0.9199]
    """
    import numpy as np

    hits, positives, alarms, negatives = (np.asarray(n, float) for n in (tp, n_pos, fp, n_neg))
    within = (hits >= 0) & (hits <= positives) & (alarms >= 0) & (alarms <= negatives)
    _possible(
        within & (positives > 0) & (negatives > 0), "0 <= tp <= n_pos and 0 <= fp <= n_neg, both > 0"
    )
    with np.errstate(all="ignore"):
        recall, fpr = hits / positives, alarms / negatives
        variance = (1 - recall) / hits + (1 - fpr) / alarms
        value = np.asarray(precision(recall, fpr, np.asarray(eta, float)))
        deviation = np.where((hits > 0) & (alarms > 0), variance, np.nan) ** 0.5
    return _on_logit_scale(value, deviation, confidence)


def published_average_precision(
    average_precision: ArrayLike, n_pos: ArrayLike, *, confidence: float = 0.95
) -> Estimate:
    """Average precision as a share of so many positives (Boyd et al. 2013).

    It does not see the negatives, whose part grows as prevalence falls; for the prevalence at which
    it was measured only.

    Examples
    --------
    >>> [round(number, 4) for number in published_average_precision(0.8, n_pos=50)]
    [0.8, 0.0566, 0.6667, 0.8889]
    """
    import numpy as np

    value, n = np.asarray(average_precision, float), np.asarray(n_pos, float)
    _possible((value >= 0) & (value <= 1) & (n > 0), "an average precision in [0, 1] and n_pos > 0")
    with np.errstate(all="ignore"):
        return _on_logit_scale(value, 1 / np.sqrt(n * value * (1 - value)), confidence)


def published_roc_auc(
    roc_auc: ArrayLike, n_pos: ArrayLike, n_neg: ArrayLike, *, confidence: float = 0.95
) -> Estimate:
    """The area under the ROC curve from two exponential distributions (Hanley and McNeil 1982).

    Examples
    --------
    >>> [round(number, 4) for number in published_roc_auc(0.9, n_pos=50, n_neg=500)]
    [0.9, 0.0295, 0.8256, 0.9448]
    """
    import numpy as np

    value, pos, neg = (np.asarray(number, float) for number in (roc_auc, n_pos, n_neg))
    possible = (value >= 0) & (value <= 1) & (pos > 0) & (neg > 0)
    _possible(possible, "an area in [0, 1], n_pos > 0 and n_neg > 0")
    with np.errstate(all="ignore"):
        two_pos = value / (2 - value) - value**2  # covariances of two positives, of two negatives
        two_neg = 2 * value**2 / (1 + value) - value**2
        variance = (value * (1 - value) + (pos - 1) * two_pos + (neg - 1) * two_neg) / (pos * neg)
        return _on_logit_scale(value, np.sqrt(variance) / (value * (1 - value)), confidence)


def _possible(holds: Any, expected: str) -> None:
    import numpy as np

    if wrong := int(np.sum(~np.asarray(holds))):
        raise PrcError(f"expected {expected}; {wrong} of those given are not so")


def _on_logit_scale(value: Any, deviation: Any, confidence: float) -> Estimate:
    """From a value and the standard deviation of its logit."""
    import numpy as np

    half = z_of(one_confidence(confidence)) * deviation
    with np.errstate(all="ignore"):
        middle = np.log(value / (1 - value))
        low, high = (1 / (1 + np.exp(-end)) for end in (middle - half, middle + half))
        inside = np.where((value > 0) & (value < 1), 0.0, np.nan)
        found = (value, value * (1 - value) * deviation + inside, low + inside, high + inside)
    return Estimate(*(float(each) if np.ndim(each) == 0 else each for each in found))
