"""The sweep of one curve from arrays of labels and scores, for loops that need no table.

label, score, weight -> rows      checked, sorted once by falling score
                     -> points    running sums at the last row of each score
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from polars_prcurve.core.ground.argument_hints import hint_at_arguments
from polars_prcurve.core.ground.errors import PrcError, describe_value, suggest_names
from polars_prcurve.core.ground.exact_arithmetic import LARGEST_WEIGHT, WEIGHT_BITS
from polars_prcurve.core.ground.lazy_numpy import Floats
from polars_prcurve.core.ground.lazy_numpy import numpy as np
from polars_prcurve.core.ground.message_text import add_noun

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# In quotes, so that NumPy need not be imported
Booleans: TypeAlias = "NDArray[np.bool_]"


class RocPoints(NamedTuple):
    """The points of a ROC curve, one per distinct score, by falling threshold."""

    threshold: NDArray[Any]
    """The scores, each once, in their own dtype."""
    recall: Floats
    """The fraction of positives that score at or above the threshold; NaN without positives."""
    fpr: Floats
    """The share of negatives that score at or above the threshold; NaN without negatives."""
    tp: NDArray[Any]
    """The number of these positives: Int64, or Float64 with weights."""
    fp: NDArray[Any]
    """The number of these negatives, likewise."""


@hint_at_arguments
def roc_points(label: ArrayLike, score: ArrayLike, weight: ArrayLike | None = None) -> RocPoints:
    """Count true and false positives at every distinct score, from arrays.

    The rows are those of `sweep`: an example is predicted positive if `score >= threshold`, and equal
    scores move together. So the first point is the highest score, which flags at least one example, and
    the last point has recall 1 and fpr 1. Unlike in scikit-learn's `roc_curve`, the point (0, 0) is not
    listed. Metrics such as `metrics.average_precision(recall, fpr, eta)` begin at (0, 0) by themselves.

    Parameters
    ----------
    label
        Booleans, or numbers: 0 and 1, or -1 and 1.
    score
        Numbers; larger means more positive. Infinities are allowed, and NaN raises an error.
    weight
        Numbers >= 0. Rows of weight 0 are ignored.

    Examples
    --------
    >>> from polars_prcurve import metrics, roc_points
    >>> points = roc_points([1, 0, 1, 0], [0.9, 0.9, 0.2, 0.1])
    >>> points.threshold.tolist(), points.tp.tolist(), points.fp.tolist()
    ([0.9, 0.2, 0.1], [1, 2, 2], [1, 1, 2])
    >>> round(metrics.average_precision(points.recall, points.fpr, 0.01), 4)
    0.0149
    """
    is_positive = _read_classes(label)
    counts = count_arrays(is_positive, score, weight)
    tp, fp = counts.tp, counts.fp
    if counts.exponents is not None:
        tp, fp = (
            np.ldexp(sums, -exponent) for sums, exponent in zip((tp, fp), counts.exponents, strict=True)
        )
    return RocPoints(counts.threshold, recall=_divide(counts.tp), fpr=_divide(counts.fp), tp=tp, fp=fp)


class ArrayCounts(NamedTuple):
    """The counts at each point of a curve, by falling threshold."""

    threshold: NDArray[Any]
    tp: NDArray[Any]
    fn: NDArray[Any]
    fp: NDArray[Any]
    tn: NDArray[Any]
    exponents: tuple[int, int] | None
    """The sums of weights of either class are times two to these; None without weights."""

    are_whole: bool = True  # whether they count examples, or are sums of integer weights

    def list_cells(self) -> dict[str, Floats]:
        """Return the counts of both classes in one unit, as floats; sums of float weights are near 1."""
        pos_exponent, neg_exponent = self.exponents or (0, 0)
        unit = 0 if self.are_whole else min(pos_exponent, neg_exponent) - WEIGHT_BITS
        sums_and_exponents = {
            "tp": (self.tp, pos_exponent),
            "fn": (self.fn, pos_exponent),
            "fp": (self.fp, neg_exponent),
            "tn": (self.tn, neg_exponent),
        }
        return {
            name: np.ldexp(sums.astype(np.float64), unit - exponent)
            for name, (sums, exponent) in sums_and_exponents.items()
        }


def count_arrays(is_positive: Booleans, score: ArrayLike, weight: ArrayLike | None) -> ArrayCounts:
    """Return the counts at every distinct score, from arrays; raise for what is no score or weight."""
    scores = read_array("score", score, "biuf", "numbers")
    if scores.dtype.kind == "f" and (n_missing := int(np.isnan(scores).sum())):
        raise PrcError(f"score is NaN in {add_noun(n_missing, 'row')}; leave those rows out")
    weights, are_whole = None, True
    if weight is not None:
        user_weights = read_array("weight", weight, "biuf", "numbers >= 0")
        weights, are_whole = user_weights.astype(np.float64), user_weights.dtype.kind != "f"
        is_valid = (weights >= 0) & (weights <= LARGEST_WEIGHT)
        if not is_valid.all():
            raise PrcError(f"weight takes numbers from 0 to 1e100; got {weights[~is_valid][0]}")
    check_lengths(label=is_positive, score=scores, weight=weights)
    if weights is not None and not (weights > 0).all():
        has_weight = weights > 0
        is_positive, scores, weights = is_positive[has_weight], scores[has_weight], weights[has_weight]
    sort_order = np.argsort(scores)[::-1]
    scores, is_positive = scores[sort_order], is_positive[sort_order]
    is_last = scores[1:] != scores[:-1]
    last_rows = np.append(np.flatnonzero(is_last), np.arange(len(scores))[-1:])
    threshold = scores[last_rows]
    if threshold.dtype.kind == "f":
        threshold += 0.0  # -0.0 and 0.0 are one threshold
    if weights is None:
        tp = np.cumsum(is_positive, dtype=np.int64)[last_rows]
        fp = last_rows + 1 - tp
        fn, tn = tp[-1:] - tp, fp[-1:] - fp
        return ArrayCounts(threshold, tp=tp, fn=fn, fp=fp, tn=tn, exponents=None)
    sums, exponents = [], []
    for is_class in (is_positive, ~is_positive):
        class_weights = np.where(is_class, weights[sort_order], 0.0)
        sums_above, exponent = sum_along(class_weights)
        sums_below = np.append(sum_along(class_weights[::-1])[0][::-1][1:], 0.0)
        sums += [sums_above[last_rows], sums_below[last_rows]]
        exponents.append(exponent)
    tp, fn, fp, tn = sums
    class_exponents = exponents[0], exponents[1]
    return ArrayCounts(
        threshold, tp=tp, fn=fn, fp=fp, tn=tn, exponents=class_exponents, are_whole=are_whole
    )


def sum_along(weights: Floats) -> tuple[Floats, int]:
    """Return the running sums of an array of weights, times 2**exponent, and that exponent."""
    # Weights are cut as `to_integer` cuts them. Each sum is rounded once, so that no order of the
    # weights above it matters.
    exponent = WEIGHT_BITS + 1 - int(np.frexp(weights.max(initial=0.0))[1])
    rest_numbers = np.trunc(np.ldexp(weights, exponent))
    digit_sums = []  # of 30 bits, so that sums of 2**33 of them fit an Int64
    for n_bits in (60, 30, 0):
        digit = np.floor(np.ldexp(rest_numbers, -n_bits))
        rest_numbers = rest_numbers - np.ldexp(digit, n_bits)
        digit_sums.append(np.cumsum(digit.astype(np.int64)))
    high, middle, low = digit_sums
    middle += low >> 30
    high += middle >> 30
    lower = (middle % 2**30 << 30) + low % 2**30
    return np.ldexp(high.astype(np.float64), 60) + lower.astype(np.float64), exponent


def _divide(counts: NDArray[Any]) -> Floats:
    """Return running counts as shares of the last one; NaN if that is 0."""
    with np.errstate(invalid="ignore"):
        return np.asarray(counts / counts[-1:], dtype=np.float64)


def read_array(argument: str, values: ArrayLike, kinds: str, expected_phrase: str) -> NDArray[Any]:
    """Return values as an array of one dimension, of one of the kinds of dtype."""
    try:
        array = np.asarray(values)
    except Exception:  # what an object raises that cannot become an array
        raise PrcError(f"{argument} takes {expected_phrase}; got {describe_value(values)}") from None
    if array.size == 0 and isinstance(values, list | tuple):
        array = array.astype(np.float64)
    if array.dtype.kind not in kinds:
        raise PrcError(f"{argument} takes {expected_phrase}; got an array of dtype {array.dtype}")
    if array.ndim != 1:
        raise PrcError(f"{argument} takes one array, a value per example; got shape {array.shape}")
    return array


def read_labels(label: ArrayLike, pos_label: Any = None) -> Booleans:
    """Return which examples are positive: labels equal to `pos_label`, or 1 of {0, 1} or {-1, 1}."""
    if pos_label is None:
        return _read_classes(label, ", or any labels with pos_label=")
    labels = read_array("label", label, "biufcSUOMm", "labels")
    # NaN does not equal itself, and whether pandas' NA does is NA again.
    equality_texts = [str(value == value) for value in labels.tolist() if value is not None]  # noqa: PLR0124
    if n_missing := len(labels) - equality_texts.count("True"):
        raise PrcError(f"label is missing in {add_noun(n_missing, 'row')}; leave those rows out")
    # NumPy answers with one False where dtypes cannot be compared.
    is_positive: Booleans = np.broadcast_to(np.asarray(labels == pos_label, dtype=bool), labels.shape)
    if not is_positive.any() and len(other_labels := sorted(set(map(str, labels.tolist())))) > 1:
        raise PrcError(
            f"no label equals pos_label={pos_label!r}; {suggest_names(str(pos_label), other_labels)}"
        )
    return is_positive


def _read_classes(label: ArrayLike, other_kinds: str = "") -> Booleans:
    """Return which labels are 1 or True; an error lists `other_kinds` that the caller takes."""
    expected_phrase = (
        f'Booleans, or numbers in {{0, 1}} or {{-1, 1}}, such as label == "spam"{other_kinds}'
    )
    labels = read_array("label", label, "biuf", expected_phrase)
    if labels.dtype.kind == "b":
        return labels
    is_positive: Booleans = labels == 1
    if not any((is_positive | (labels == negative)).all() for negative in (0, -1)):
        wrong_labels = labels[~(is_positive | (labels == (-1 if (labels == -1).any() else 0)))]
        raise PrcError(f"label takes {expected_phrase}; got {wrong_labels[0]}")
    return is_positive


def check_lengths(**arrays: NDArray[Any] | None) -> None:
    """Raise unless all arrays are as long as each other."""
    length_of_name = {name: len(array) for name, array in arrays.items() if array is not None}
    if len(set(length_of_name.values())) > 1:
        text = ", ".join(f"{name} has {n}" for name, n in length_of_name.items())
        raise PrcError(f"every array takes one value per example; {text}")
