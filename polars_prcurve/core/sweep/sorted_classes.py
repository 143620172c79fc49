"""The scores of both classes of a group, each sorted by itself: curves without a sort of all rows.

    score table -> sorted classes   two arrays of each group, of its positives and of its negatives
                -> curve            the rows on which recall rises; negatives above each by binary search

Where an area is a sum over positives, no more is needed of the negatives. Arrays also cost no plan,
which takes milliseconds; but those of a group take a quarter of one, so that many small groups are
swept. The sums are exact, so both ways agree to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable, breaks_checks
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.curve_arrays import CurveArrays
from polars_prcurve.core.metrics.segment_column_names import Segment
from polars_prcurve.core.sweep.running_sum_columns import CLASS_SUMS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KEY = "sorted classes"  # by which a table stores them for further calls
_POS_SCORES, _NEG_SCORES = f"{RESERVED}pos_scores", f"{RESERVED}neg_scores"  # lists, one per group
_DTYPES = [pl.Float32, pl.Float64, pl.Int16, pl.Int32, pl.Int64, pl.UInt16, pl.UInt32, pl.UInt64]
"""The dtypes of scores that NumPy sorts as they are; those of 8 bits are counted and not sorted."""


@dataclass(eq=False)
class ClassScores:
    """The scores of a class, in any order until a question needs all of them in order."""

    scores: NDArray[Any]
    is_sorted: bool = False

    def sort(self) -> NDArray[Any]:
        """Sort the scores, if they are not, and return them by rising value."""
        if not self.is_sorted:
            self.scores = np.sort(self.scores)
            self.is_sorted = True  # last, because another thread may read both at this time
        return self.scores

    def _needs_order(self, n_lookups: int) -> bool:
        """Return whether so many places are looked up in sorted scores, and not by a pass for each."""
        return self.is_sorted or n_lookups > _MOST_PASSES

    def pick(self, sorted_positions: NDArray[np.intp]) -> NDArray[Any]:
        """Return the scores at some places of the rising ones."""
        if self._needs_order(len(sorted_positions)):
            return self.sort()[sorted_positions]
        picked_scores: NDArray[Any] = np.partition(self.scores, sorted_positions)[sorted_positions]
        return picked_scores

    def count_below(self, score_limits: NDArray[Any], *, or_equal: bool = False) -> NDArray[np.intp]:
        """Return how many scores are below each key, or equal to it."""
        if self._needs_order(len(score_limits)):
            return np.searchsorted(self.sort(), score_limits, side="right" if or_equal else "left")
        compare = np.less_equal if or_equal else np.less
        return np.array(
            [np.count_nonzero(compare(self.scores, limit)) for limit in score_limits], dtype=np.intp
        )

    def list_next(self, score_limits: NDArray[Any], *, only_above: bool) -> NDArray[Any]:
        """Return the lowest score that is at least each limit, or above it; none where none is."""
        if self._needs_order(len(score_limits)):
            next_positions = self.count_below(score_limits, or_equal=only_above)
            return self.sort()[next_positions[next_positions < len(self.scores)]]
        compare = np.greater if only_above else np.greater_equal
        reached_scores = (self.scores[compare(self.scores, limit)] for limit in score_limits)
        lowest_scores = [scores.min() for scores in reached_scores if len(scores)]
        return np.array(lowest_scores, dtype=self.scores.dtype)


@dataclass(frozen=True, eq=False)
class SortedClasses:
    """The scores of each class, sorted once that takes less time; there is at least one example."""

    positives: ClassScores
    negatives: ClassScores
    dtype: pl.DataType  # of the scores
    sizes: tuple[int, int]  # the numbers of positives and of negatives, at lower scores, too

    @property
    def pos_scores(self) -> NDArray[Any]:
        """The scores of positives, by rising value."""
        return self.positives.sort()

    @property
    def neg_scores(self) -> NDArray[Any]:
        """The scores of negatives, by rising value."""
        return self.negatives.sort()

    @property
    def lowest(self) -> Any:
        """The lowest score of all."""
        return min(scores.min() for scores in self._list_values())

    @property
    def highest(self) -> Any:
        """The highest score of all."""
        return max(scores.max() for scores in self._list_values())

    def _list_values(self) -> list[NDArray[Any]]:
        return [
            class_scores.scores
            for class_scores in (self.positives, self.negatives)
            if len(class_scores.scores)
        ]

    def cut_below(self, greatest_fpr: float) -> SortedClasses:
        """Return those with up to this fpr, and a few more; all where these are half, or sorted."""
        n_neg = self.sizes[1]
        if self.negatives.is_sorted or not greatest_fpr * n_neg + 2 < n_neg / 2:  # NaN takes all, too
            return self
        (lowest,) = self.negatives.pick(np.array([-2 - int(greatest_fpr * n_neg)]))
        positives, negatives = (
            ClassScores(class_scores.scores[class_scores.scores >= lowest])
            for class_scores in (self.positives, self.negatives)
        )
        return SortedClasses(positives, negatives, self.dtype, self.sizes)

    def list_next(self, score_limits: NDArray[Any], *, only_above: bool = False) -> NDArray[Any]:
        """Return the lowest score of each class that is at least each limit, or above it."""
        both_classes = (self.positives, self.negatives)
        return np.concatenate(
            [
                class_scores.list_next(score_limits, only_above=only_above)
                for class_scores in both_classes
            ]
        )

    def count_from(self, scores: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the numbers of positives and of negatives of at least each score."""
        n_hits, n_false = (
            len(class_scores.scores) - class_scores.count_below(scores)
            for class_scores in (self.positives, self.negatives)
        )
        return n_hits, n_false

    def list_rows(self, scores: NDArray[Any]) -> pl.DataFrame:
        """Return the running sums of some falling scores, each of which is in the table."""
        thresholds = scores + 0.0 if self.dtype.is_float() else scores  # -0.0 and 0.0 are one score
        count_columns = {}
        for class_scores, sum_columns in zip((self.positives, self.negatives), CLASS_SUMS, strict=True):
            for cum_column, or_equal in ((sum_columns.cum, False), (sum_columns.above, True)):
                n_below = class_scores.count_below(thresholds, or_equal=or_equal)
                count_columns[cum_column] = (len(class_scores.scores) - n_below).astype(np.int64)
        group_numbers = pl.repeat(0, len(thresholds), dtype=pl.UInt32, eager=True)
        return pl.DataFrame(
            {
                Group.NUMBER: group_numbers,
                Row.SCORE: pl.Series(thresholds, dtype=self.dtype),
                **count_columns,
            }
        )

    @cached_property
    def curve(self) -> CurveArrays | None:
        """The rows on which recall rises, by rising score; None without positives."""
        if len(self.pos_scores) == 0:
            return None
        rising_rows = _RisingRows(self.pos_scores, self.neg_scores, self.sizes)
        fprs = rising_rows[Segment.FPR_OR_ZERO]
        return CurveArrays(rising_rows, self.sizes[1] > 0, least_fpr=float(fprs[-1]))


class _RisingRows(dict[str, Any]):
    """The columns of rows on which recall rises, by rising score, each computed when first read."""

    # No column refers to the whole: such a circle stays in memory until Python looks for circles.
    def __init__(
        self, pos_scores: NDArray[Any], neg_scores: NDArray[Any], sizes: tuple[int, int]
    ) -> None:
        super().__init__()
        self.pos_scores, self.neg_scores, self.sizes = pos_scores, neg_scores, sizes
        is_first = np.append(True, pos_scores[1:] != pos_scores[:-1])
        self.is_first = None if is_first.all() else is_first

    def __missing__(self, column_name: str) -> NDArray[Any]:
        """Return a column that is read for the first time."""
        column_values: NDArray[Any] = _MAKER_OF_COLUMN[column_name](self)
        self[column_name] = column_values
        return column_values

    def leave_out_repeats(self, values_of_positives: NDArray[Any]) -> NDArray[Any]:
        """Return the values of positives, and of those that share a score only that of the first."""
        return values_of_positives if self.is_first is None else values_of_positives[self.is_first]

    def share_negatives(self, *, only_above: bool) -> NDArray[np.float64]:
        """Return the share of negatives at or above each score, or above it; 0 without any."""
        n_below = np.searchsorted(
            self.neg_scores, self.pos_scores, side="right" if only_above else "left"
        )
        n_from = len(self.neg_scores) - self.leave_out_repeats(n_below)
        shares: NDArray[np.float64] = n_from / max(self.sizes[1], 1)
        return shares

    def share_positives(self) -> NDArray[np.float64]:
        """Return the fraction of positives at or above each score."""
        n_from = self.leave_out_repeats(np.arange(len(self.pos_scores), 0, -1))
        shares: NDArray[np.float64] = n_from / self.sizes[0]
        return shares


_MAKER_OF_COLUMN: dict[str, Callable[[_RisingRows], NDArray[Any]]] = {
    "recall": _RisingRows.share_positives,
    "fpr": lambda rows: rows[Segment.FPR_OR_ZERO] / (rows.sizes[1] > 0),
    Segment.RECALL_BEFORE: lambda rows: np.append(rows["recall"][1:], 0.0),
    Segment.FPR_OR_ZERO: lambda rows: rows.share_negatives(only_above=False),
    Segment.FPR_BEFORE: lambda rows: rows.share_negatives(only_above=True),
    Segment.IS_ADDED: lambda rows: np.zeros(len(rows["recall"]), dtype=bool),
    Segment.RISE: lambda rows: rows["recall"] - rows[Segment.RECALL_BEFORE],
    Segment.RUN: lambda rows: rows[Segment.FPR_OR_ZERO] - rows[Segment.FPR_BEFORE],
    Segment.FPR_RECALL_RATIO: lambda rows: rows[Segment.FPR_OR_ZERO] / rows["recall"],
    Segment.ENVELOPE: lambda rows: np.fmin.accumulate(rows[Segment.FPR_RECALL_RATIO]),
}
"""The columns that formulas read, by their names; fpr is NaN without negatives."""
_LEAST_ROWS = 5_000
"""As many rows groups have on average, or a plan of all groups takes less time than arrays of each."""
_MOST_PASSES = 8
"""As many passes over the scores of a class take less time than to sort them."""
_FIRST_ROWS = 10_000  # among which groups are counted, so that too many are seen before all are read


class SortedGroups(NamedTuple):
    """The sorted classes of some groups, in order, and the `by` columns, with one value per group."""

    columns: list[pl.Series]
    classes: list[SortedClasses]


def sort_classes(table: ResolvedTable) -> SortedClasses | None:
    """Return the sorted classes of a table; None where it is not one group in memory.

    None is returned of a table that fails a check, too, which the query of its rows reports.
    """
    if table.by or not _can_be_sorted(table):
        return None
    stored_by_key = {} if table.kept_counts is None else table.kept_counts
    if _KEY not in stored_by_key:
        if breaks_checks(table):
            return None
        sorted_classes = _read_class_scores(table)
        if sorted_classes is not None and table.kept_counts is not None:  # further questions search them
            sorted_classes.positives.sort()
            sorted_classes.negatives.sort()
        stored_by_key[_KEY] = sorted_classes
    stored_classes: SortedClasses | None = stored_by_key[_KEY]
    return stored_classes


def _read_class_scores(table: ResolvedTable) -> SortedClasses | None:
    """Return the scores of the classes of a group; None if it has no examples."""
    rows = table.collect(table.frame.select(**table.columns), "", n_etas=0)  # faster in memory
    if rows.is_empty():
        return None
    scores, label = rows[Row.SCORE], rows[Row.LABEL]
    return _take_scores(scores.filter(label), scores.filter(~label))


def sort_groups(table: ResolvedTable) -> SortedGroups | None:
    """Return the sorted classes of each group; None if groups are small, or where no class is sorted."""
    if not table.by:
        sorted_classes = sort_classes(table)
        return None if sorted_classes is None else SortedGroups([], [sorted_classes])
    if not _can_be_sorted(table):
        return None
    stored_by_key = {} if table.kept_counts is None else table.kept_counts
    if _KEY not in stored_by_key:
        score_lists = _list_scores(table)
        if score_lists is None:
            return None
        key_columns = [score_lists[name] for name in table.by]
        class_score_lists = zip(score_lists[_POS_SCORES], score_lists[_NEG_SCORES], strict=True)
        stored_by_key[_KEY] = SortedGroups(
            key_columns, [_take_scores(*pair) for pair in class_score_lists]
        )
    sorted_groups: SortedGroups = stored_by_key[_KEY]
    return sorted_groups


def _can_be_sorted(table: ResolvedTable) -> bool:
    """Return whether a table holds examples in memory, with scores that NumPy sorts."""
    if not isinstance(table, ScoreTable) or not table.is_in_memory or table.unscored is not None:
        return False
    has_examples_only = set(table.columns) - {Row.EXAMPLE} == {Row.SCORE, Row.LABEL}
    return has_examples_only and table.score_dtype in _DTYPES


def _list_scores(table: ResolvedTable) -> pl.DataFrame | None:
    """Return one row per group, with the scores of each class as a list; None if groups are small."""
    first_rows = table.frame.head(_FIRST_ROWS)
    first_group_count = first_rows.select(pl.struct(table.by_exprs).n_unique())
    max_groups = (table.n_rows or 0) / _LEAST_ROWS
    if table.collect(first_group_count, "", n_etas=0).item() > max_groups:
        return None
    scores, label = table.columns[Row.SCORE], table.columns[Row.LABEL]
    score_list_exprs = (
        scores.filter(label).alias(_POS_SCORES),
        scores.filter(~label).alias(_NEG_SCORES),
    )
    groups = table.collect(table.aggregate_groups(score_list_exprs), "", n_etas=0)
    if groups.is_empty() or groups.height > max_groups:
        return None
    return None if groups.select(table.tallies.is_broken).item() else groups


def _take_scores(pos_scores: pl.Series, neg_scores: pl.Series) -> SortedClasses:
    positives, negatives = (ClassScores(scores.to_numpy()) for scores in (pos_scores, neg_scores))
    return SortedClasses(positives, negatives, pos_scores.dtype, (len(pos_scores), len(neg_scores)))
