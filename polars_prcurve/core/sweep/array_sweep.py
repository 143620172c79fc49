"""The sweep of one curve from arrays of labels and scores, for loops that need no table.

label, score, weight -> rows      checked, sorted once by falling score
                     -> points    running sums at the last row of each score
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import LARGEST_WEIGHT, WEIGHT_BITS
from polars_prcurve.core.ground.lazy_modules import Floats
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.message_text import add_noun, describe_value
from polars_prcurve.core.ground.name_hints import hint_at_arguments, suggest_names

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
    is_positive = _read_positives(label)
    array_counts = count_arrays(is_positive, score, weight)
    tp, fp = array_counts.tp, array_counts.fp
    if array_counts.exponents is not None:
        tp, fp = (
            np.ldexp(sums, -exponent)
            for sums, exponent in zip((tp, fp), array_counts.exponents, strict=True)
        )
    return RocPoints(
        array_counts.threshold,
        recall=_divide_by_last(array_counts.tp),
        fpr=_divide_by_last(array_counts.fp),
        tp=tp,
        fp=fp,
    )


class ArrayCounts(NamedTuple):
    """The counts at each point of a curve, by falling threshold."""

    threshold: NDArray[Any]
    tp: NDArray[Any]
    fn: NDArray[Any]
    fp: NDArray[Any]
    tn: NDArray[Any]
    exponents: tuple[int, int] | None
    """The sums of weights of either class are times two to these; None without weights."""

    has_whole_counts: bool = True  # whether they count examples, or are sums of integer weights

    def list_cells(self) -> dict[str, Floats]:
        """Return the counts of both classes in one unit, as floats; sums of float weights are near 1."""
        pos_exponent, neg_exponent = self.exponents or (0, 0)
        unit_exponent = 0 if self.has_whole_counts else min(pos_exponent, neg_exponent) - WEIGHT_BITS
        sum_and_exponent_by_cell = {
            "tp": (self.tp, pos_exponent),
            "fn": (self.fn, pos_exponent),
            "fp": (self.fp, neg_exponent),
            "tn": (self.tn, neg_exponent),
        }
        return {
            cell: np.ldexp(sums.astype(np.float64), unit_exponent - exponent)
            for cell, (sums, exponent) in sum_and_exponent_by_cell.items()
        }


def count_arrays(is_positive: Booleans, score: ArrayLike, weight: ArrayLike | None) -> ArrayCounts:
    """Return the counts at every distinct score, from arrays; raise for what is no score or weight."""
    scores = read_array("score", score, "biuf", "numbers")
    if scores.dtype.kind == "f" and (n_missing := int(np.isnan(scores).sum())):
        raise PrcError(f"score is NaN in {add_noun(n_missing, 'row')}; leave those rows out")
    weights, has_whole_counts = None, True
    if weight is not None:
        user_weights = read_array("weight", weight, "biuf", "numbers >= 0")
        weights, has_whole_counts = user_weights.astype(np.float64), user_weights.dtype.kind != "f"
        is_valid_weight = (weights >= 0) & (weights <= LARGEST_WEIGHT)
        if not is_valid_weight.all():
            raise PrcError(f"weight takes numbers from 0 to 1e100; got {weights[~is_valid_weight][0]}")
    check_lengths(label=is_positive, score=scores, weight=weights)
    if weights is not None and not (weights > 0).all():
        has_weight = weights > 0
        is_positive, scores, weights = is_positive[has_weight], scores[has_weight], weights[has_weight]
    sort_order = np.argsort(scores)[::-1]
    scores, is_positive = scores[sort_order], is_positive[sort_order]
    is_last_of_score = scores[1:] != scores[:-1]
    last_row_numbers = np.append(np.flatnonzero(is_last_of_score), np.arange(len(scores))[-1:])
    thresholds = scores[last_row_numbers]
    if thresholds.dtype.kind == "f":
        thresholds += 0.0  # -0.0 and 0.0 are one threshold
    if weights is None:
        tp = np.cumsum(is_positive, dtype=np.int64)[last_row_numbers]
        fp = last_row_numbers + 1 - tp
        fn, tn = tp[-1:] - tp, fp[-1:] - fp
        return ArrayCounts(thresholds, tp=tp, fn=fn, fp=fp, tn=tn, exponents=None)
    cell_sums, exponent_list = [], []
    for is_in_class in (is_positive, ~is_positive):
        class_weights = np.where(is_in_class, weights[sort_order], 0.0)
        sums_above, exponent = sum_along(class_weights)
        sums_below = np.append(sum_along(class_weights[::-1])[0][::-1][1:], 0.0)
        cell_sums += [sums_above[last_row_numbers], sums_below[last_row_numbers]]
        exponent_list.append(exponent)
    tp, fn, fp, tn = cell_sums
    class_exponents = exponent_list[0], exponent_list[1]
    return ArrayCounts(thresholds, tp, fn, fp, tn, class_exponents, has_whole_counts)


def sum_along(weights: Floats) -> tuple[Floats, int]:
    """Return the running sums of an array of weights, times 2**exponent, and that exponent."""
    # Weights are cut as `to_integer` cuts them. Each sum is rounded once, so that no order of the
    # weights above it matters.
    exponent = WEIGHT_BITS + 1 - int(np.frexp(weights.max(initial=0.0))[1])
    remainders = np.trunc(np.ldexp(weights, exponent))
    digit_sums = []  # of 30 bits, so that sums of 2**33 of them fit an Int64
    for n_bits in (60, 30, 0):
        digits = np.floor(np.ldexp(remainders, -n_bits))
        remainders = remainders - np.ldexp(digits, n_bits)
        digit_sums.append(np.cumsum(digits.astype(np.int64)))
    high_sums, middle_sums, low_sums = digit_sums
    middle_sums += low_sums >> 30
    high_sums += middle_sums >> 30
    lower_sums = (middle_sums % 2**30 << 30) + low_sums % 2**30
    return np.ldexp(high_sums.astype(np.float64), 60) + lower_sums.astype(np.float64), exponent


def _divide_by_last(running_counts: NDArray[Any]) -> Floats:
    """Return running counts as shares of the last one; NaN if that is 0."""
    with np.errstate(invalid="ignore"):
        return np.asarray(running_counts / running_counts[-1:], dtype=np.float64)


def read_array(
    argument_name: str, values: ArrayLike, dtype_kinds: str, expected_phrase: str
) -> NDArray[Any]:
    """Return values as an array of one dimension, of one of the kinds of dtype."""
    try:
        array = np.asarray(values)
    except Exception:  # what an object raises that cannot become an array
        raise PrcError(
            f"{argument_name} takes {expected_phrase}; got {describe_value(values)}"
        ) from None
    if array.size == 0 and isinstance(values, list | tuple):
        array = array.astype(np.float64)
    if array.dtype.kind not in dtype_kinds:
        raise PrcError(f"{argument_name} takes {expected_phrase}; got an array of dtype {array.dtype}")
    if array.ndim != 1:
        raise PrcError(f"{argument_name} takes one array, a value per example; got shape {array.shape}")
    return array


def read_labels(label: ArrayLike, pos_label: Any = None) -> Booleans:
    """Return which examples are positive: labels equal to `pos_label`, or 1 of {0, 1} or {-1, 1}."""
    if pos_label is None:
        return _read_positives(label, ", or any labels with pos_label=")
    labels = read_array("label", label, "biufcSUOMm", "labels")
    # NaN does not equal itself, and whether pandas' NA does is NA again.
    equality_texts = [str(value == value) for value in labels.tolist() if value is not None]  # noqa: PLR0124
    if n_missing := len(labels) - equality_texts.count("True"):
        raise PrcError(f"label is missing in {add_noun(n_missing, 'row')}; leave those rows out")
    # NumPy answers with one False where dtypes cannot be compared.
    is_positive: Booleans = np.broadcast_to(np.asarray(labels == pos_label, dtype=bool), labels.shape)
    if not is_positive.any() and len(label_texts := sorted(set(map(str, labels.tolist())))) > 1:
        raise PrcError(
            f"no label equals pos_label={pos_label!r}; {suggest_names(str(pos_label), label_texts)}"
        )
    return is_positive


def _read_positives(label: ArrayLike, other_kinds_text: str = "") -> Booleans:
    """Return which labels are 1 or True; an error lists `other_kinds_text` that the caller takes."""
    expected_phrase = (
        f'Booleans, or numbers in {{0, 1}} or {{-1, 1}}, such as label == "spam"{other_kinds_text}'
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
    length_by_name = {name: len(array) for name, array in arrays.items() if array is not None}
    if len(set(length_by_name.values())) > 1:
        lengths_text = ", ".join(f"{name} has {n}" for name, n in length_by_name.items())
        raise PrcError(f"every array takes one value per example; {lengths_text}")
