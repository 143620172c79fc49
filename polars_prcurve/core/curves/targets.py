"""Targets: the conditions that an operating point must meet.

Several targets may be met together. Without a guarantee each row has whether it meets all of them.
With one, each target has a stretch of rows for which its guarantee holds, and the stretches have rows in
common, or none:

    target   ->  first and last row of its stretch
    targets  ->  the rows from the last of the first ones to the first of the last ones

The lowest threshold of those has the most recall.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import zip_longest
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve.core.curves.curve_metric_values import compute_columns
from polars_prcurve.core.curves.given_group_thresholds import GroupThresholds
from polars_prcurve.core.curves.long_tables import join_values, pick_by_number
from polars_prcurve.core.curves.search_by_extremes import (
    LIMIT_ROWS,
    ROW_NUMBER,
    Extreme,
    ExtremeReader,
    LimitRows,
    Search,
    choose_row,
)
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.metrics.curve_metric import SegmentValues, Step
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.metrics.target_kinds import TargetKind

Measure: TypeAlias = Callable[[SegmentValues], Any]  # a function from rows to a value of each of them
TARGET_NUMBER = f"{RESERVED}turn"  # the place of a target among those of a call
END = f"{RESERVED}end"  # the score at the other end of the stretch of a guarantee
END_ROW = f"{RESERVED}end_row"  # the number of its row, where several guarantees share a stretch


class ClassSizes(NamedTuple):
    """The examples of a group, and as how many independent ones each class counts."""

    n_pos: pl.Expr
    n_neg: pl.Expr
    pos_size: pl.Expr
    neg_size: pl.Expr


CountNeeded: TypeAlias = Callable[[ClassSizes, pl.Expr], pl.Expr]
"""The number of examples of a class without which nothing is proven, from both classes and eta."""


class Promise(NamedTuple):
    """The stretch of thresholds for which a guarantee holds, and how many examples it takes."""

    level: float
    alpha: float  # the probability with which the guarantee may be broken
    find_end: Callable[[SegmentValues], Extreme] | None
    """Return the score at the other end of the stretch, as seen from the threshold; None if the search
    has the number of its row."""
    holds_above: bool  # whether the stretch begins at the threshold and rises; otherwise it ends there
    starts: GroupThresholds | None = None
    has_sizes: bool = False  # whether examples have weights or come in clusters, and so effective sizes
    run_start: str | None = None
    """The name of the extreme that is the number of the row at the other end; None if the stretch goes
    on to the end of the curve."""
    changes_once_in_block: bool = True  # whether, among rows of equal recall, a test goes one way
    count_pos_needed: CountNeeded | None = None
    count_neg_needed: CountNeeded | None = None


class Limit(NamedTuple):
    """The test of a row by itself: whether a value of it is at least a limit."""

    measure: Measure  # equal for targets that compare the same value
    least: float | pl.Series  # one score in its own dtype; null if no score is enough

    @property
    def can_be_met(self) -> bool:
        """Whether there is such a value."""
        return not (isinstance(self.least, pl.Series) and self.least.has_nulls())

    def passes(self, row_values: SegmentValues) -> pl.Expr:
        """Return whether each row passes."""
        # A literal of a Series keeps its dtype, such as Float32; one of a number would not.
        least = pl.lit(self.least).first() if isinstance(self.least, pl.Series) else self.least
        is_enough: pl.Expr = self.measure(row_values) >= least
        return is_enough


@dataclass(eq=False)  # not frozen, which takes twice as long: a call may have thousands
class Target:
    """A condition that an operating point must meet, such as recall 0.8."""

    criterion: str
    value: float | pl.Expr | None  # to reach; None for the best value of a metric
    depends_on_eta: bool = False
    kind: TargetKind | None = None  # what its word means, if the word has one value to compare with
    takes_first: bool = False  # whether the first row that passes the test is taken, not the last one
    least_score: pl.Series | pl.Expr | None = None
    """The least score that reaches the threshold, or null, if the target is a threshold."""
    maximized: PointMetric | None = None
    thresholds: GroupThresholds | None = None
    """The thresholds of each group, maybe several, if they are the target; `value` then reads one."""
    rate: float | None = None  # the share of alerts that is allowed, if the target is one
    limit: Limit | None = None  # whether a row meets the target, if each row decides that by itself
    search_without_limit: Search | None = None  # how its row is found, if not by its limit
    promise: Promise | None = None
    is_joined: bool = False  # whether it is several targets, which are met together

    @cached_property
    def search(self) -> Search:
        """How its row is found."""
        if self.search_without_limit is not None:
            return self.search_without_limit
        assert self.limit is not None
        return choose_row(self.limit.passes, takes_first=self.takes_first)

    @property
    def is_found_in_sample(self) -> bool:
        """Whether the threshold is found in the sample, and would be another one in another sample."""
        return self.least_score is None and self.criterion != POINT_CRITERION

    @property
    def changes_once_in_block(self) -> bool:
        """Whether, among rows of equal recall, what the search reads goes one way with fpr."""
        # So do the tests of all metrics that can be a target, and those of guarantees, except where
        # limits of parts add up in quadrature, or alerts count as fewer than they are.
        if self.maximized is not None:
            return self.maximized.falls_with_fpr
        return self.promise is None or self.promise.changes_once_in_block


def merge_steps(targets: Iterable[Target]) -> list[Step]:
    """Return the steps of the searches of all targets: the first ones as one, then the second ones."""
    steps_in_turn = zip_longest(*(target.search.steps for target in targets))
    return [partial(compute_columns, steps) for steps in steps_in_turn]


def find_greatest_rate(targets: Iterable[Target]) -> float | None:
    """Return the greatest share of alerts among the targets, or None if no target is one."""
    return max((target.rate for target in targets if target.rate is not None), default=None)


def search_limits(targets: Sequence[Target]) -> Search:
    """Return the search for the rows of many targets that compare the same value: lists of numbers."""
    limits = [target.limit for target in targets if target.limit is not None]
    least_values = join_values([limit.least for limit in limits])
    measure, takes_first = limits[0].measure, targets[0].takes_first
    null_lists = pl.lit([None] * len(limits), dtype=pl.List(pl.Int64))
    return Search(
        lambda row_values: {LIMIT_ROWS: LimitRows(measure(row_values), least_values, takes_first)},
        lambda extreme_of: extreme_of(LIMIT_ROWS).fill_null(null_lists),
    )


POINT_CRITERION = "point"  # the criterion of the only point of a group
ONLY_POINT = Target(
    POINT_CRITERION, None, search_without_limit=choose_row(lambda rows: rows.column(ROW_NUMBER) >= 0)
)
"""The target that every row meets: the point of a 2x2 table, or of a published pair of rates."""


# Several targets that one threshold must meet -------------------------------------------------


def join_targets(targets: Sequence[Target]) -> Target:
    """Return the target that is met where all are; guaranteed if they are guaranteed."""
    promises = [target.promise for target in targets if target.promise is not None]
    row_tests = [target.limit.passes for target in targets if target.limit is not None]

    def count_most(optional_counters: Iterable[CountNeeded | None]) -> CountNeeded | None:
        counters = [count for count in optional_counters if count is not None]
        if not counters:
            return None
        return lambda sizes, eta: pl.max_horizontal(count(sizes, eta) for count in counters)

    promise = None
    search = choose_row(lambda rows: pl.all_horizontal(test(rows) for test in row_tests))
    if promises:
        search = _join_searches(targets, promises)
        count_pos = count_most(target_promise.count_pos_needed for target_promise in promises)
        count_neg = count_most(target_promise.count_neg_needed for target_promise in promises)
        promise = promises[0]._replace(
            find_end=None,
            holds_above=True,
            run_start=None,
            count_pos_needed=count_pos,
            count_neg_needed=count_neg,
        )
    return Target(
        " & ".join(target.criterion for target in targets),
        None,
        any(target.depends_on_eta for target in targets),
        rate=next((target.rate for target in targets if target.rate is not None), None),
        search_without_limit=search,
        promise=promise,
        is_joined=True,
    )


def _join_searches(targets: Sequence[Target], promises: Sequence[Promise]) -> Search:
    """Return the search for the last row of the stretch that all targets have in common."""

    def find_extremes(row_values: SegmentValues) -> dict[str, Extreme | LimitRows]:
        row_number = row_values.column(ROW_NUMBER)
        extreme_by_name: dict[str, Extreme | LimitRows] = {
            "first_row": Extreme(row_number, False),
            "last_row": Extreme(row_number),
        }
        for target_number, target in enumerate(targets):
            target_extremes = target.search.find_extremes(row_values)
            extreme_by_name |= {
                f"{name}_{target_number}": extreme for name, extreme in target_extremes.items()
            }
        return extreme_by_name

    def find_stretch(extreme_of: ExtremeReader) -> tuple[pl.Expr, pl.Expr]:
        first_numbers, last_numbers = [extreme_of("first_row")], [extreme_of("last_row")]
        for target_number, (target, promise) in enumerate(zip(targets, promises, strict=True)):

            def target_extreme(extreme_name: str, target_number: int = target_number) -> pl.Expr:
                return extreme_of(f"{extreme_name}_{target_number}")

            run_end_numbers, run_start_numbers = (
                (last_numbers, first_numbers) if promise.holds_above else (first_numbers, last_numbers)
            )
            run_end_numbers.append(target.search.read_row(target_extreme))
            if promise.run_start is not None:
                run_start_numbers.append(target_extreme(promise.run_start))
        # max_horizontal skips nulls, and a target that no row meets is one.
        is_met = pl.all_horizontal(number.is_not_null() for number in (*first_numbers, *last_numbers))
        first_shared, last_shared = pl.max_horizontal(first_numbers), pl.min_horizontal(last_numbers)
        is_shared = is_met & (first_shared <= last_shared)
        return pl.when(is_shared).then(first_shared), pl.when(is_shared).then(last_shared)

    return Search(
        find_extremes,
        lambda extreme_of: find_stretch(extreme_of)[1],
        merge_steps(targets),
        lambda extreme_of: find_stretch(extreme_of)[0],
    )


pick_by_target = partial(pick_by_number, TARGET_NUMBER)
"""Return value i in rows of target i, or a default where it is None; see `pick_by_number`."""
