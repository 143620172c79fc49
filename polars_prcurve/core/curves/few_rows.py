"""The few rows of a sweep that targets can find, of one group in memory, from its sorted classes.

A recall, an fpr, a share of alerts and a threshold change in one direction along the sweep. So a target
of one of them is met from some row on, or up to it, and binary search finds the rows beside that place.
With these rows alone a search has the answer that it has with all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_prcurve.core.curves.targets import Target
from polars_prcurve.core.ground.lazy_numpy import numpy as np
from polars_prcurve.core.inputs.score_and_rate_tables import ResolvedTable
from polars_prcurve.core.prevalence.eta_grid import EtaTable
from polars_prcurve.core.sweep.sorted_classes import SortedClasses, sort_classes

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROOM = 1e-9
"""Rows with a rate this close to a limit, relatively, are left to the search: rounding errs by less."""
_LEAST_ETA = 1e-200  # at lower prevalences products underflow
_ROWS_OF_PLAN = 20_000
"""As many rows are swept in the time by which the plan of a sweep is longer."""
_MOST_ROWS = 10_000
"""With more rows all are swept: prevalences are many, or so small that rates hardly differ."""


def find_few_rows(
    table: ResolvedTable, grid: EtaTable, targets: Sequence[Target]
) -> pl.LazyFrame | None:
    """Return the running sums of the rows that targets may find; None where that takes a sweep."""
    is_monotone = all(
        target.promise is None and target.thresholds is None and target.criterion in _LIST_SCORES
        for target in targets
    )
    if grid.numbers is None or not is_monotone:
        return None
    classes = sort_classes(table)
    if classes is None:
        return None
    n_pos, n_neg = len(classes.pos_scores), len(classes.neg_scores)
    etas = [n_pos / (n_pos + n_neg) if eta is None else eta for eta in grid.numbers]
    n_rows_swept = sum(
        _ROWS_OF_SEARCH[target.criterion] * (len(etas) if target.depends_on_eta else 1)
        for target in targets
    )
    has_tiny_eta = any(0 < eta < _LEAST_ETA for eta in etas)
    if has_tiny_eta or n_rows_swept > _ROWS_OF_PLAN + n_pos + n_neg:
        return None
    scores: set[Any] = set()
    for target in targets:
        for eta in etas if target.depends_on_eta else etas[:1]:
            near_scores = _LIST_SCORES[target.criterion](classes, target, eta)
            if near_scores is None or len(scores) + len(near_scores) > _MOST_ROWS:
                return None
            scores.update(near_scores)
    return classes.list_rows(sorted(scores, reverse=True)).lazy()


def _list_for_recall(classes: SortedClasses, target: Target, eta: float) -> list[Any] | None:
    """Return the scores of the positives with which a recall is reached, or nearly."""
    n_pos = len(classes.pos_scores)
    numbers = _list_numbers_near(target.value, n_pos)
    if numbers is None:
        return None
    # A recall of 0 is reached at the highest score of all.
    return [classes.highest if n == 0 else classes.pos_scores[n_pos - n] for n in numbers]


def _list_for_fpr(classes: SortedClasses, target: Target, eta: float) -> list[Any] | None:
    """Return the lowest scores with no more false positives than an fpr allows, or nearly."""
    n_neg = len(classes.neg_scores)
    numbers = _list_numbers_near(target.value, n_neg)
    if numbers is None:
        return None
    # One more than is allowed is at the next lower negative; any score above it has no more.
    limits = [classes.neg_scores[n_neg - n - 1] for n in numbers if n < n_neg]
    next_scores = [classes.find_next(limit, above=True) for limit in limits]
    return [score for score in (*next_scores, classes.lowest) if score is not None]


def _list_numbers_near(share: Any, n: int) -> range | None:
    """Return the numbers of `n` whose share is near one that is given, and one more on either side."""
    least, greatest = int(share * (1 - _ROOM) * n) - 1, int(share * (1 + _ROOM) * n) + 2
    numbers = range(max(least, 0), min(greatest, n) + 1)
    return numbers if len(numbers) <= _MOST_ROWS else None


def _list_for_threshold(classes: SortedClasses, target: Target, eta: float) -> list[Any] | None:
    """Return the lowest score that reaches a threshold, if there is one."""
    assert isinstance(target.least_score, pl.Series)
    least_score = target.least_score.item()
    score = None if least_score is None else classes.find_next(least_score)
    return [] if score is None else [score]


def _list_for_alerts(classes: SortedClasses, target: Target, eta: float) -> list[Any] | None:
    """Return the scores from the lowest one that certainly keeps to a budget to the lowest that may."""
    limit = target.rate
    if limit is None:  # of a share of alerts, it is the value
        return None
    n_pos, n_neg = max(len(classes.pos_scores), 1), max(len(classes.neg_scores), 1)

    def rate(score: Any) -> float:
        n_hits, n_false = classes.count_from(score)
        return eta * (n_hits / n_pos) + (1 - eta) * (n_false / n_neg)

    def find_lowest(greatest_rate: float) -> Any:
        lowest_scores = [
            scores[place]
            for scores in (classes.pos_scores, classes.neg_scores)
            if (place := _bisect(scores, lambda score: rate(score) <= greatest_rate)) < len(scores)
        ]
        return min(lowest_scores, default=None)

    possible, sure = (find_lowest(limit * (1 + side * _ROOM)) for side in (1, -1))
    if possible is None:
        return []
    near_scores: list[Any] = []
    for scores in (classes.pos_scores, classes.neg_scores):
        start = np.searchsorted(scores, possible)
        end = len(scores) if sure is None else np.searchsorted(scores, sure, side="right")
        if end - start > _MOST_ROWS:
            return None
        near_scores += list(scores[start:end])
    return near_scores


def _bisect(scores: NDArray[Any], holds: Callable[[Any], bool]) -> int:
    """Return the place of the first score for which a condition holds, as for all above it."""
    low, high = 0, len(scores)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(scores[middle]) else (middle + 1, high)
    return low


_LIST_SCORES: dict[str, Callable[[SortedClasses, Target, float], list[Any] | None]] = {
    "threshold": _list_for_threshold,
    "recall": _list_for_recall,
    "fpr": _list_for_fpr,
    "alerts": _list_for_alerts,
    "predicted_positive_rate": _list_for_alerts,
}
"""The targets that change in one direction along the sweep, and the scores that each may find."""
_ROWS_OF_SEARCH = {
    "threshold": 50,
    "recall": 50,
    "fpr": 200,
    "alerts": 2_000,
    "predicted_positive_rate": 2_000,
}
"""As many rows are swept in the time that the search for one of these targets takes."""
