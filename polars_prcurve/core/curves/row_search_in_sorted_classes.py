"""The few rows of a sweep that targets can find, of one group in memory, from its sorted classes.

A recall, an fpr, a share of alerts and a threshold change in one direction along the sweep. So a target
of one of them is met from some row on, or up to it, and binary search finds the rows beside that place.
Precision goes up and down, but the best precision of a row and all rows below it only falls. With these
rows alone a search has the answer that it has with all. Targets that bound fpr need no lower scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from polars_prcurve.core.curves.long_tables import join_values
from polars_prcurve.core.curves.targets import Target
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable
from polars_prcurve.core.metrics.curve_metric import odds_against
from polars_prcurve.core.metrics.segment_column_names import Segment
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.core.sweep.sorted_classes import SortedClasses, sort_classes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.intp]
    Scores: TypeAlias = NDArray[Any]  # of the dtype that the table has

_ROOM = 1e-9
"""Rows with a rate this close to a limit, relatively, are left to the search: rounding errs by less."""
_LEAST_ETA = 1e-200  # at lower prevalences products underflow
_ROWS_OF_PLAN = 20_000
"""As many rows are swept in the time by which the plan of a sweep is longer."""
_ROWS_OF_SEARCH = 20  # as many rows are swept in the time that the search for one target takes
_MOST_ROWS = 10_000
"""With more rows all are swept: prevalences are many, or so small that rates hardly differ."""


def find_few_rows(
    table: ResolvedTable, grid: EtaTable, targets: Sequence[Target]
) -> pl.LazyFrame | None:
    """Return the running sums of the rows that targets may find; None where that takes a sweep."""
    can_be_listed = all(
        target.promise is None and target.thresholds is None and target.criterion in _LIST_SCORES
        for target in targets
    )
    if grid.numbers is None or not can_be_listed:
        return None
    sorted_classes = sort_classes(table)
    if sorted_classes is None:
        return None
    n_pos, n_neg = sorted_classes.sizes
    etas = [n_pos / (n_pos + n_neg) if eta is None else eta for eta in grid.numbers]
    n_searches = sum(len(etas) if target.depends_on_eta else 1 for target in targets)
    has_tiny_eta = any(0 < eta < _LEAST_ETA for eta in etas)
    if has_tiny_eta or _ROWS_OF_SEARCH * n_searches > _ROWS_OF_PLAN + n_pos + n_neg:
        return None
    targets_by_word: dict[str, list[Target]] = {}
    for target in targets:
        targets_by_word.setdefault(target.criterion, []).append(target)
    limits_by_word = {
        word: join_values([*map(_read_limit, word_targets)]).drop_nulls().to_numpy()
        for word, word_targets in targets_by_word.items()
    }
    with np.errstate(all="ignore"):  # an infinite ratio is one that all rows keep to
        return _list_rows(sorted_classes, limits_by_word, np.array(etas))


def _list_rows(
    sorted_classes: SortedClasses, limits_by_word: Mapping[str, Any], etas: Floats
) -> pl.LazyFrame | None:
    """Return the running sums of the rows near the limits of each word; None if they are too many."""
    greatest_fprs = [_find_greatest_fpr(*item, etas.max()) for item in limits_by_word.items()]
    upper_classes = sorted_classes.cut_below(float(np.max(greatest_fprs)))
    score_arrays: list[Scores] = []
    for word, word_limits in limits_by_word.items():
        near_scores = _LIST_SCORES[word](upper_classes, word_limits, etas)
        if near_scores is None:
            return None
        score_arrays.append(np.unique(near_scores))
    scores = np.unique(np.concatenate(score_arrays))
    return None if len(scores) > _MOST_ROWS else upper_classes.list_rows(scores[::-1]).lazy()


def _read_limit(target: Target) -> Any:
    """Return what rates are compared with, or scores, in their own dtype."""
    if isinstance(target.least_score, pl.Series):
        return target.least_score
    return target.value if target.rate is None else target.rate


def _find_greatest_fpr(word: str, limits: Any, highest_eta: float) -> float:
    """Return an fpr above which no row meets any of the targets; infinite where there is none."""
    if word in ("threshold", "recall"):
        return math.inf
    fpr_limits = np.array(_widen(limits))
    if word in _RATIOS:  # of recall and fpr, of which recall is at most 1
        fpr_limits = _RATIOS[word](fpr_limits) / odds_against(highest_eta)
    elif word != "fpr":  # alerts, of which some are false
        fpr_limits /= 1 - highest_eta
    return float(np.max(fpr_limits, initial=0.0))


def _list_for_recall(sorted_classes: SortedClasses, recalls: Floats, etas: Floats) -> Scores | None:
    """Return the scores of the positives with which each recall is reached, or nearly."""
    n_hits = _list_counts(*_widen(recalls), sorted_classes.sizes[0])
    if n_hits is None:
        return None
    # A recall of 0 is reached at the highest score of all.
    return np.append(sorted_classes.positives.pick(-n_hits[n_hits > 0]), sorted_classes.highest)


def _list_for_fpr(sorted_classes: SortedClasses, fprs: Floats, etas: Floats) -> Scores | None:
    """Return the lowest scores with no more false positives than each fpr allows, or nearly."""
    n_false = _list_counts(*_widen(fprs), sorted_classes.sizes[1])
    return None if n_false is None else _list_above(sorted_classes, n_false)


def _list_for_ratios(
    find_ratios: Callable[[Floats], Floats], sorted_classes: SortedClasses, limits: Floats, etas: Floats
) -> Scores | None:
    """Return the scores from the lowest that may keep to each ratio to the lowest that does."""
    sure_limits, greatest_limits = np.sort([find_ratios(widened) for widened in _widen(limits)], axis=0)
    curve, n_neg = sorted_classes.curve, sorted_classes.sizes[1]
    if curve is None or n_neg == 0:
        return None
    odds = np.repeat(odds_against(etas), len(sure_limits))
    sure_ratios, greatest_ratios = (
        np.where((odds == 0) | np.isinf(ratio_limits), np.inf, np.maximum(ratio_limits, 0) / odds)
        for ratio_limits in (np.tile(sure_limits, len(etas)), np.tile(greatest_limits, len(etas)))
    )
    # The least ratio of a row and of those below rises with every score, so it falls in `ratios`.
    envelope_ratios = curve.columns[Segment.ENVELOPE]
    start_rows, sure_rows = (
        np.searchsorted(-envelope_ratios, -ratio_limits)
        for ratio_limits in (greatest_ratios, sure_ratios)
    )
    end_rows = np.minimum(sure_rows + 1, len(envelope_ratios))
    row_numbers = _list_integers(start_rows, end_rows)
    if row_numbers is None:
        return None
    # The rows below a positive, up to the next one, have its recall, and ever more false positives.
    recalls = curve.columns["recall"][row_numbers]
    pair_numbers = np.repeat(np.arange(len(start_rows)), end_rows - start_rows)
    sure_fprs, greatest_fprs = (
        ratios[pair_numbers] * recalls for ratios in (sure_ratios, greatest_ratios)
    )
    n_false = _list_counts(sure_fprs, greatest_fprs, n_neg)
    return None if n_false is None else _list_above(sorted_classes, n_false)


def _list_above(sorted_classes: SortedClasses, n_false: Integers) -> Scores:
    """Return the lowest scores with at most each number of false positives, and the lowest of all."""
    # One more than is allowed is at the next lower negative; any score above it has no more.
    negatives = sorted_classes.negatives
    score_limits = negatives.pick(-1 - n_false[n_false < len(negatives.scores)])
    return np.append(sorted_classes.list_next(score_limits, only_above=True), sorted_classes.lowest)


def _widen(rate_limits: Floats) -> tuple[Floats, Floats]:
    """Return the limits between which a rate is left to the search."""
    return rate_limits * (1 - _ROOM), rate_limits * (1 + _ROOM)


def _list_counts(least_shares: Floats, greatest_shares: Floats, class_size: int) -> Integers | None:
    """Return the counts from below each least share of a class to above each greatest one."""
    first_counts, last_counts = (
        np.floor(np.minimum(shares, 1.0) * class_size).astype(np.intp)
        for shares in (least_shares, greatest_shares)
    )
    return _list_integers(first_counts, np.minimum(last_counts + 1, class_size) + 1)


def _list_for_alerts(sorted_classes: SortedClasses, alert_rates: Floats, etas: Floats) -> Scores | None:
    """Return the scores from the lowest one that may keep to each share to the lowest that does."""
    pair_etas, pair_limits = np.repeat(etas, len(alert_rates)), np.tile(alert_rates, len(etas))
    n_pos, n_neg = (max(n_of_class, 1) for n_of_class in sorted_classes.sizes)

    def find_first(scores: Scores, greatest_rates: Floats) -> Integers:
        """Return the place of the first score with a low enough rate of alerts, for each pair."""
        starts, ends = np.zeros(len(pair_etas), dtype=np.intp), np.full(len(pair_etas), len(scores))
        while np.any(starts < ends):
            middles = (starts + ends) // 2
            n_hits, n_false = sorted_classes.count_from(scores[np.minimum(middles, len(scores) - 1)])
            rates = pair_etas * (n_hits / n_pos) + (1 - pair_etas) * (n_false / n_neg)
            is_within_rate = (rates <= greatest_rates) | (starts == ends)
            starts = np.where(is_within_rate, starts, middles + 1)
            ends = np.where(is_within_rate, middles, ends)
        return starts

    score_arrays = []
    for scores in (sorted_classes.pos_scores, sorted_classes.neg_scores):
        first_positions, sure_positions = (
            find_first(scores, pair_limits * (1 + sign * _ROOM)) for sign in (1, -1)
        )
        score_positions = _list_integers(first_positions, np.minimum(sure_positions + 1, len(scores)))
        if score_positions is None:
            return None
        score_arrays.append(scores[score_positions])
    return np.concatenate(score_arrays)


def _list_integers(starts: Integers, ends: Integers) -> Integers | None:
    """Return the integers from each start up to its end; None if they are too many."""
    lengths = ends - starts
    if (n_integers := int(lengths.sum())) > _MOST_ROWS:
        return None
    ends_in_list = np.cumsum(lengths)
    return np.repeat(starts - ends_in_list + lengths, lengths) + np.arange(n_integers)


_RATIOS: dict[str, Callable[[Floats], Floats]] = {
    "precision": lambda precisions: (1 - precisions) / precisions,
    "fdr": lambda fdrs: np.where(fdrs < 1, fdrs / (1 - fdrs), np.inf),
}
"""The false positives per true one that targets of two words allow."""
_LIST_SCORES: dict[str, Callable[[SortedClasses, Any, Floats], Scores | None]] = {
    "threshold": lambda sorted_classes, least_scores, _etas: sorted_classes.list_next(least_scores),
    "recall": _list_for_recall,
    "fpr": _list_for_fpr,
    **{word: partial(_list_for_ratios, find_ratios) for word, find_ratios in _RATIOS.items()},
    "alerts": _list_for_alerts,
    "predicted_positive_rate": _list_for_alerts,
}
"""The targets of which few rows can be the answer, and the scores that each may find."""
