"""The few rows of a sweep that targets can find, of one group in memory, from its sorted classes.

A recall, an fpr, a share of alerts and a threshold change in one direction along the sweep. So a target
of one of them is met from some row on, or up to it, and binary search finds the rows beside that place.
Precision goes up and down, but the best precision of a row and all rows below it only falls. With these
rows alone a search has the answer that it has with all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from polars_prcurve.core.curves.long_tables import join_values
from polars_prcurve.core.curves.targets import Target
from polars_prcurve.core.ground.lazy_numpy import numpy as np
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
    is_known = all(
        target.promise is None and target.thresholds is None and target.criterion in _LIST_SCORES
        for target in targets
    )
    if grid.numbers is None or not is_known:
        return None
    classes = sort_classes(table)
    if classes is None:
        return None
    n_pos, n_neg = classes.sizes
    etas = [n_pos / (n_pos + n_neg) if eta is None else eta for eta in grid.numbers]
    n_searches = sum(len(etas) if target.depends_on_eta else 1 for target in targets)
    has_tiny_eta = any(0 < eta < _LEAST_ETA for eta in etas)
    if has_tiny_eta or _ROWS_OF_SEARCH * n_searches > _ROWS_OF_PLAN + n_pos + n_neg:
        return None
    targets_of_word: dict[str, list[Target]] = {}
    for target in targets:
        targets_of_word.setdefault(target.criterion, []).append(target)
    score_arrays: list[Scores] = []
    for word, word_targets in targets_of_word.items():
        limits = join_values([*map(_read_limit, word_targets)]).drop_nulls()
        with np.errstate(all="ignore"):  # an infinite ratio is one that all rows keep to
            near_scores = _LIST_SCORES[word](classes, limits.to_numpy(), np.array(etas))
        if near_scores is None:
            return None
        score_arrays.append(np.unique(near_scores))
    scores = np.unique(np.concatenate(score_arrays))
    return None if len(scores) > _MOST_ROWS else classes.list_rows(scores[::-1]).lazy()


def _read_limit(target: Target) -> Any:
    """Return what rates are compared with, or scores, in their own dtype."""
    if isinstance(target.least_score, pl.Series):
        return target.least_score
    return target.value if target.rate is None else target.rate


def _list_for_recall(classes: SortedClasses, shares: Floats, etas: Floats) -> Scores | None:
    """Return the scores of the positives with which each recall is reached, or nearly."""
    n_hits = _list_numbers(*_widen(shares), classes.sizes[0])
    if n_hits is None:
        return None
    # A recall of 0 is reached at the highest score of all.
    return np.append(classes.positives.pick(-n_hits[n_hits > 0]), classes.highest)


def _list_for_fpr(classes: SortedClasses, shares: Floats, etas: Floats) -> Scores | None:
    """Return the lowest scores with no more false positives than each fpr allows, or nearly."""
    n_false = _list_numbers(*_widen(shares), classes.sizes[1])
    return None if n_false is None else np.append(_list_above(classes, n_false), classes.lowest)


def _list_for_precision(classes: SortedClasses, precisions: Floats, etas: Floats) -> Scores | None:
    """Return the scores from the lowest that may have each precision to the lowest that does."""
    least, greatest = _widen(precisions)
    return _list_for_false_positives(classes, (1 - greatest) / greatest, (1 - least) / least, etas)


def _list_for_fdr(classes: SortedClasses, shares: Floats, etas: Floats) -> Scores | None:
    """Return the scores from the lowest that may keep to each fdr to the lowest that does."""
    least, greatest = _widen(shares)
    any_number = np.where(greatest < 1, greatest / (1 - greatest), np.inf)
    return _list_for_false_positives(classes, least / (1 - least), any_number, etas)


def _list_for_false_positives(
    classes: SortedClasses, sure: Floats, greatest: Floats, etas: Floats
) -> Scores | None:
    """Return the scores from the lowest with `greatest` false positives per true one to `sure` ones."""
    curve, n_neg = classes.curve, classes.sizes[1]
    if curve is None or n_neg == 0:
        return None
    odds = np.repeat(odds_against(etas), len(sure))
    sure_ratios, greatest_ratios = (
        np.where((odds == 0) | np.isinf(limits), np.inf, np.maximum(limits, 0) / odds)
        for limits in (np.tile(sure, len(etas)), np.tile(greatest, len(etas)))
    )
    # The least ratio of a row and of those below rises with every score, so it falls in `ratios`.
    ratios = curve.columns[Segment.ENVELOPE]
    starts, sure_places = (
        np.searchsorted(-ratios, -limits) for limits in (greatest_ratios, sure_ratios)
    )
    ends = np.minimum(sure_places + 1, len(ratios))
    rows = _list_integers(starts, ends)
    if rows is None:
        return None
    # The rows below a positive, up to the next one, have its recall, and ever more false positives.
    recall, pairs = (curve.columns["recall"][rows], np.repeat(np.arange(len(starts)), ends - starts))
    n_false = _list_numbers(sure_ratios[pairs] * recall, greatest_ratios[pairs] * recall, n_neg)
    return None if n_false is None else np.append(_list_above(classes, n_false), classes.lowest)


def _list_above(classes: SortedClasses, n_false: Integers) -> Scores:
    """Return the lowest scores with at most each number of false positives; none if all are allowed."""
    # One more than is allowed is at the next lower negative; any score above it has no more.
    limits = classes.negatives.pick(-1 - n_false[n_false < classes.sizes[1]])
    return classes.list_next(limits, above=True)


def _widen(limits: Floats) -> tuple[Floats, Floats]:
    """Return the limits between which a rate is left to the search."""
    return limits * (1 - _ROOM), limits * (1 + _ROOM)


def _list_numbers(least_shares: Floats, greatest_shares: Floats, n: int) -> Integers | None:
    """Return the numbers of `n` from below each least share of it to above each greatest one."""
    starts, ends = (
        np.floor(np.minimum(shares, 1.0) * n).astype(np.intp)
        for shares in (least_shares, greatest_shares)
    )
    return _list_integers(starts, np.minimum(ends + 1, n) + 1)


def _list_for_threshold(classes: SortedClasses, least_scores: Scores, etas: Floats) -> Scores | None:
    """Return the lowest scores that reach each threshold."""
    return classes.list_next(least_scores)


def _list_for_alerts(classes: SortedClasses, shares: Floats, etas: Floats) -> Scores | None:
    """Return the scores from the lowest one that may keep to each share to the lowest that does."""
    eta, limit = np.repeat(etas, len(shares)), np.tile(shares, len(etas))
    n_pos, n_neg = (max(size, 1) for size in classes.sizes)

    def find_first(scores: Scores, greatest_rates: Floats) -> Integers:
        """Return the place of the first score with a low enough rate of alerts, for each pair."""
        starts, ends = np.zeros(len(eta), dtype=np.intp), np.full(len(eta), len(scores))
        while np.any(starts < ends):
            middles = (starts + ends) // 2
            n_hits, n_false = classes.count_from(scores[np.minimum(middles, len(scores) - 1)])
            is_kept = eta * (n_hits / n_pos) + (1 - eta) * (n_false / n_neg) <= greatest_rates
            is_kept |= starts == ends
            starts, ends = np.where(is_kept, starts, middles + 1), np.where(is_kept, middles, ends)
        return starts

    score_arrays = []
    for scores in (classes.pos_scores, classes.neg_scores):
        first_places, sure_places = (find_first(scores, limit * (1 + side * _ROOM)) for side in (1, -1))
        score_numbers = _list_integers(first_places, np.minimum(sure_places + 1, len(scores)))
        if score_numbers is None:
            return None
        score_arrays.append(scores[score_numbers])
    return np.concatenate(score_arrays)


def _list_integers(starts: Integers, ends: Integers) -> Integers | None:
    """Return the integers from each start up to its end; None if they are too many."""
    lengths = ends - starts
    if (n_integers := int(lengths.sum())) > _MOST_ROWS:
        return None
    ends_in_list = np.cumsum(lengths)
    return np.repeat(starts - ends_in_list + lengths, lengths) + np.arange(n_integers)


_LIST_SCORES: dict[str, Callable[[SortedClasses, Any, Floats], Scores | None]] = {
    "threshold": _list_for_threshold,
    "recall": _list_for_recall,
    "fpr": _list_for_fpr,
    "precision": _list_for_precision,
    "fdr": _list_for_fdr,
    "alerts": _list_for_alerts,
    "predicted_positive_rate": _list_for_alerts,
}
"""The targets of which few rows can be the answer, and the scores that each may find."""
