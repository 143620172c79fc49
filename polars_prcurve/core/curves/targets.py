"""Targets: the conditions that an operating point must meet, and how its row is found.

A target is met by the first or the last row of some kind, or by the row of the greatest value. Each is
the maximum of an integer per row, whose low bits number the row. A guarantee (see `guarantees`)
reads a few such extremes. So one group_by finds the rows of all targets.

Several targets may be met together. Without a guarantee each row has whether it meets all of them.
With one, each target has a stretch of rows for which its guarantee holds, and the stretches have rows in
common, or none:

    target   ->  first and last row of its stretch
    targets  ->  the rows from the last of the first ones to the first of the last ones

The lowest threshold of those has the most recall.

A target may be a frame of thresholds of each group: see `group_thresholds`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import zip_longest
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve.core.curves.curve_metric_values import compute_columns
from polars_prcurve.core.curves.group_thresholds import (
    GIVEN_THRESHOLD,
    LEAST_SCORE,
    GroupThresholds,
    read_group_thresholds,
)
from polars_prcurve.core.curves.long_tables import join_values, pick_by_number
from polars_prcurve.core.ground.argument_checks import read_list, read_number, round_to_float, take_frame
from polars_prcurve.core.ground.errors import PrcError, warn_caller
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.share_texts import read_share_texts
from polars_prcurve.core.ground.value_checks import Check, run_query
from polars_prcurve.core.inputs import column_reader
from polars_prcurve.core.inputs.exact_thresholds import read_threshold_list, to_least_scores
from polars_prcurve.core.inputs.resolved_tables import RateTable, ResolvedTable, read_score_dtype
from polars_prcurve.core.inputs.row_column_names import Row
from polars_prcurve.core.metrics.curve_metric import AtTarget, CurveMetric, SegmentValues, Step
from polars_prcurve.core.metrics.metric_lookup import find_metric, find_metrics
from polars_prcurve.core.metrics.metrics_at_thresholds_and_means_over_eta import best
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.metrics.target_definitions import (
    TARGET_KINDS,
    TargetKind,
    read_budget,
    read_per,
)
from polars_prcurve.core.sweep.sorted_group_rows import rising_code

RowTest: TypeAlias = Callable[[SegmentValues], pl.Expr]
"""A function from rows to whether each of them passes."""
Measure: TypeAlias = Callable[[SegmentValues], Any]  # a function from rows to a value of each of them
ROW_NUMBER = f"{RESERVED}row"  # the number of a row; within a curve it rises with recall
TARGET_NUMBER = f"{RESERVED}turn"  # the place of a target among those of a call
LIMIT_ROWS = "rows"  # the name of the list of rows of many limits
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


class Extreme(NamedTuple):
    """A value per row, of which a search reads the greatest or the least; null does not count."""

    value: pl.Expr
    is_greatest: bool = True
    read_row: Callable[[pl.Expr], pl.Expr] | None = None
    """Return the number of the row that has the extreme; None if that is the first or the last row of a
    block (see `row_search`), or the row of another extreme."""

    def reduce(self, column_expr: pl.Expr) -> pl.Expr:
        """Return the greatest or the least value of a column."""
        return column_expr.max() if self.is_greatest else column_expr.min()

    def merge(self, corner_expr: pl.Expr, near_expr: pl.Expr) -> pl.Expr:
        """Return the extreme over all rows, from corners and from the blocks that they identify."""
        both_exprs = (corner_expr, near_expr)
        return pl.max_horizontal(both_exprs) if self.is_greatest else pl.min_horizontal(both_exprs)


class LimitRows(NamedTuple):
    """A value per row that is compared with many limits, of which the rows are read as a list."""

    value: pl.Expr  # null does not count
    least_values: pl.Series
    takes_first: bool

    def reduce(self, column_expr: pl.Expr) -> pl.Expr:
        """Return the number of the first row, or the last, that reaches each limit, or null."""
        # From one row to the next the greatest value so far never falls.
        row_numbers, is_last = pl.col(ROW_NUMBER).filter(column_expr.is_not_null()), not self.takes_first
        greatest_values = column_expr.drop_nulls().sort_by(row_numbers, descending=is_last).cum_max()
        positions = greatest_values.search_sorted(pl.lit(self.least_values))
        # A null follows, for limits that no row reaches: Polars 2.0 gathers none beyond the end of a
        # group. Of an empty table nulls are gathered without a dtype, which a sum has.
        return row_numbers.sort(descending=is_last).extend_constant(None, 1).gather(positions) + 0

    def merge(self, corner_expr: pl.Expr, near_expr: pl.Expr) -> pl.Expr:
        """Return the rows, from those among corners and those in the blocks that these identify."""
        return pl.coalesce(near_expr, corner_expr)

    def read_row(self, row_number_lists: pl.Expr) -> pl.Expr:
        """Return the numbers of the rows."""
        return row_number_lists


ExtremeReader: TypeAlias = Callable[[str], pl.Expr]
"""A function from the name of an extreme to its value."""


class Search(NamedTuple):
    """How the row of a target is found: from extremes over the rows of a curve."""

    find_extremes: Callable[[SegmentValues], Mapping[str, Extreme | LimitRows]]
    read_row: Callable[[ExtremeReader], pl.Expr]
    """Return the number of the row; null where no row meets the target."""
    steps: Sequence[Step] = ()
    """Columns that are added first, each step from those before it, and that the extremes may read."""
    read_end_row: Callable[[ExtremeReader], pl.Expr] | None = None
    """Return the number of the row at the other end of a stretch, if several guarantees share one."""


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
    def takes_first(self) -> bool:
        """Whether the first of the rows that pass the test is taken; otherwise the last one is."""
        return self.kind is not None and self.kind.takes_first

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


def read_targets(
    table: ResolvedTable | None, *, at_eta: bool = True, one_each: bool = False, **value_by_word: Any
) -> list[Target]:
    """Return the targets of all words with values, in the order of TARGET_KINDS.

    Without any, a table of points has the only point of each group as its target; others raise.
    """
    value_by_word = {word: value for word, value in value_by_word.items() if value is not None}
    targets = _build_threshold_targets(
        table, value_by_word.get("threshold"), at_eta=at_eta, one_each=one_each
    )
    targets += [
        _build_target(target_kind, value, value)
        for word, target_kind in TARGET_KINDS.items()
        if word in value_by_word and target_kind.value_kind != "number"
        for value in _read_values(target_kind, value_by_word[word])
    ]
    alert_values, per = _to_list("alerts", value_by_word.get("alerts")), value_by_word.get("per")
    budgets = [read_budget(value, per) for value in alert_values]
    n_cases = read_per(per) if budgets else 1.0
    # Not alerts <= rate * per, whose product may round to just above a budget that is met exactly.
    targets += [_build_target(TARGET_KINDS["alerts"], budget, budget / n_cases) for budget in budgets]
    if "maximize" in value_by_word:
        targets += map(
            _build_best_target, find_metrics(value_by_word["maximize"], PointMetric, "maximize=")
        )
    if not targets and isinstance(table, RateTable):
        return [ONLY_POINT]
    if not targets:
        words_text = "threshold=, recall=, fpr=, precision=, alerts= or maximize="
        words_text = words_text if at_eta else "threshold=, recall= or fpr="
        raise PrcError(f"pass a target or a threshold: {words_text}")
    return targets


def _build_threshold_targets(
    table: ResolvedTable | None, thresholds: Any, *, at_eta: bool, one_each: bool
) -> list[Target]:
    """Return a target for each threshold, or one for a frame of thresholds of each group."""

    thresholds = take_frame(thresholds)
    if thresholds is None:
        return []
    if isinstance(thresholds, pl.DataFrame | pl.LazyFrame) and table is not None:
        group_thresholds = read_group_thresholds(table, thresholds, at_eta=at_eta, one_each=one_each)
        # Its columns are joined to the rows, where the search and `value` read them.
        least_score_expr = pl.col(LEAST_SCORE)
        search = choose_row(lambda row_values: _read_score(row_values) >= least_score_expr)
        target = Target("threshold", pl.col(GIVEN_THRESHOLD), search_without_limit=search)
        return [replace(target, least_score=least_score_expr, thresholds=group_thresholds)]
    if table is None or (score_dtype := read_score_dtype(table)) is None:
        raise PrcError("pass recall= or fpr=: rates= has no thresholds, so threshold= finds none")
    exact_thresholds = read_threshold_list("threshold", _to_list("threshold", thresholds), score_dtype)
    least_scores = to_least_scores(exact_thresholds, score_dtype)
    targets = []
    for target_number, exact_threshold in enumerate(exact_thresholds):
        shown_threshold = round_to_float(exact_threshold)
        least_score = least_scores.slice(target_number, 1)
        limit = Limit(_read_score, least_score)
        targets.append(Target("threshold", shown_threshold, least_score=least_score, limit=limit))
    return targets


def _read_score(row_values: SegmentValues) -> Any:
    return row_values.column(Row.SCORE)


def require_one_point(
    table: ResolvedTable, targets: Iterable[Target], remedy_text: str
) -> ResolvedTable:
    """Return the table, whose queries stop if the only point is a target, and a group has several."""
    if ONLY_POINT not in targets:
        return table
    if table.is_in_memory:
        _warn_below_fpr(table)
    tallies = replace(
        table.tallies, test_exprs={**table.tallies.test_exprs}, checks=[*table.tallies.checks]
    )
    # A literal would be one row, however long the table is.
    point_of_row = table.columns["recall"].is_null().cast(pl.Int64) * 0 + 1
    has_several = tallies.count(point_of_row, is_per_group=True) > 1
    key_exprs = {table.model_column if key == Row.MODEL else key: pl.col(key) for key in table.by}
    group_texts = column_reader.list_key_phrases(key_exprs, has_several)
    sentence_parts = (
        "one point needs no target; there are several in ",
        has_several.sum(),
        " group(s)",
        *((", such as ", *group_texts) if group_texts else ()),
        f"; keep one row for each, or {remedy_text}",
    )
    tallies.checks.append(Check(has_several.any(), sentence_parts))
    return replace(table, tallies=tallies)


def _warn_below_fpr(table: ResolvedTable) -> None:
    """Warn of a point that is worse than chance; where its sizes are known, `doubt` shows it."""
    recall, fpr = table.columns["recall"], table.columns["fpr"]
    has_no_size = table.columns.get("tp", pl.lit(None)).is_null()
    low_points = table.frame.filter(has_no_size & (recall < fpr) & (fpr <= 1))
    for point in run_query(low_points.select(recall=recall, fpr=fpr).head(1), 1).rows(named=True):
        warn_caller(
            f"check the rates: recall {point['recall']:.10g} is below fpr {point['fpr']:.10g}, as if "
            "specificity were passed as fpr, or the classes were swapped"
        )


class RankingMetric(NamedTuple):
    """The metric that ranks models, and the target at which a point metric is taken."""

    metric: CurveMetric | PointMetric
    targets: list[Target]  # one for a point metric, none for a curve metric


def read_ranking_metric(
    metric: str | PointMetric | CurveMetric, table: ResolvedTable, *, at_eta: bool = True, **targets: Any
) -> RankingMetric:
    """Return a curve metric, or a point metric with its target; without one, its best value."""
    ranking_targets = read_one_target(table, **targets, at_eta=at_eta)
    known_metric = find_metric(metric)
    if isinstance(known_metric, PointMetric):
        return RankingMetric(known_metric if ranking_targets else best(known_metric), ranking_targets)
    if ranking_targets:
        raise PrcError(
            f"leave out {ranking_targets[0].criterion}=: {known_metric.name} describes a whole curve"
        )
    return RankingMetric(known_metric, ranking_targets)


def read_one_target(table: ResolvedTable, *, at_eta: bool = True, **targets: Any) -> list[Target]:
    """Return the target of all arguments in a list, empty if there is none; raise for several."""
    check_per_has_alerts(targets.get("alerts"), targets.get("per"))
    has_no_target = all(value is None for value in targets.values())
    target_list = [] if has_no_target else read_targets(table, **targets, at_eta=at_eta, one_each=True)
    if len(target_list) > 1:
        raise PrcError(
            "call once for each target: at most one (recall=, fpr=, ...) is allowed; got "
            f"{len(target_list)}"
        )
    return target_list


def direction_sign(metric: CurveMetric | PointMetric) -> float:
    """Return 1.0 if larger values are better, -1.0 if smaller ones are; raise if neither is."""
    if metric.direction == "none":
        raise PrcError(
            f"pass a metric with a direction: {metric.name} has none, so no model is better by it"
        )
    return 1.0 if metric.direction == "maximize" else -1.0


def choose_row(row_test: RowTest, *, takes_first: bool = False) -> Search:
    """Return the search for the last row that passes a test, or the first."""
    return Search(
        lambda rows: {_ROW: number_where(row_test(rows), rows, is_greatest=not takes_first)},
        lambda extreme_of: extreme_of(_ROW),
    )


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


def number_where(is_match: pl.Expr, row_values: SegmentValues, *, is_greatest: bool) -> Extreme:
    """Return the greatest or the least number of the rows that pass a test."""
    row_number_expr = pl.when(is_match).then(row_values.column(ROW_NUMBER))
    return Extreme(row_number_expr, is_greatest, read_row=lambda extreme: extreme)


_ROW = "row"  # the name of the extreme that identifies the row
POINT_CRITERION = "point"  # the criterion of the only point of a group
ONLY_POINT = Target(
    POINT_CRITERION, None, search_without_limit=choose_row(lambda rows: rows.column(ROW_NUMBER) >= 0)
)
"""The target that every row meets: the point of a 2x2 table, or of a published pair of rates."""


def _build_target(target_kind: TargetKind, target_value: float, limit: float) -> Target:
    """Return the target of a metric that is to be at least a limit, or at most."""
    # The limit is the value that is shown, except that alerts are a number, and their limit is a rate.
    return Target(
        target_kind.word,
        target_value,
        target_kind.metric.depends_on_eta,
        kind=target_kind,
        rate=limit if target_kind.promise_test == "alerts" else None,
        limit=Limit(target_kind.measure, target_kind.find_least(limit)),
    )


def build_target_of_metric(at_target: AtTarget, table: ResolvedTable) -> Target:
    """Return the target of a curve metric that has its value on the row found for one."""
    if at_target.word == "threshold":
        return read_targets(table, threshold=at_target.value)[0]
    limit = at_target.value / at_target.per
    return _build_target(TARGET_KINDS[at_target.word], at_target.value, limit)


def _build_best_target(metric: PointMetric) -> Target:
    """Return the target of the best value of a metric; among equal values the first row wins."""
    sign = 1.0 if metric.higher_is_better() else -1.0

    def find_best(row_values: SegmentValues) -> dict[str, Extreme]:
        # The bits of the value stand above 64 bits for the row, so equal values are compared by row.
        value: pl.Expr = row_values.value(metric)
        value_code = rising_code(value * sign).cast(pl.Int128)
        return {_ROW: Extreme(value_code * 2**64 - row_values.column(ROW_NUMBER))}

    # The cast keeps the low 64 bits, which are the number, negated.
    search = Search(find_best, lambda extreme_of: -extreme_of(_ROW).cast(pl.Int64, wrap_numerical=True))
    criterion = f"maximize({metric.name})"
    return Target(criterion, None, metric.depends_on_eta, maximized=metric, search_without_limit=search)


def _to_list(argument_name: str, argument_value: Any) -> list[Any]:
    """Return a list of what an argument holds: nothing, one value or several."""
    if argument_value is None:
        return []
    if isinstance(argument_value, str) or not isinstance(argument_value, Iterable):
        return [argument_value]
    expected_phrase = "a value or a list of values"
    if argument_name == "threshold":
        expected_phrase = "a value, a list of values, or a frame with a threshold of each group"
    return read_list(f"{argument_name}=", argument_value, expected_phrase)


def _read_values(target_kind: TargetKind, argument_values: Any) -> list[float]:
    """Return the values of an argument as floats; raise unless all are shares, or factors."""
    expected_phrase, greatest_value = 'numbers in [0, 1], such as 0.8 or "80%"', 1.0
    if target_kind.value_kind == "factor":
        expected_phrase, greatest_value = "numbers of at least 0", sys.float_info.max
    numbers = _to_list(target_kind.word, argument_values)
    numbers = read_share_texts(numbers) if target_kind.value_kind == "share" else numbers
    return [
        read_number(f"{target_kind.word}=", number, expected_phrase, lambda x: 0 <= x <= greatest_value)
        for number in numbers
    ]


def check_per_has_alerts(alerts: object, per: object) -> None:
    """Raise if `per` is passed without a budget of alerts, where they serve nothing else."""
    if per is not None and alerts is None:
        raise PrcError(
            "pass alerts= as well: per= is the number of cases among which alerts are counted"
        )


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

    promise, search = (
        None,
        choose_row(lambda rows: pl.all_horizontal(test(rows) for test in row_tests)),
    )
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

            near_numbers, far_numbers = (
                (last_numbers, first_numbers) if promise.holds_above else (first_numbers, last_numbers)
            )
            near_numbers.append(target.search.read_row(target_extreme))
            if promise.run_start is not None:
                far_numbers.append(target_extreme(promise.run_start))
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


def pick_by_target(values: Iterable[Any], default_expr: pl.Expr | None = None) -> pl.Expr:
    """Return value i in rows of target i, or `default_expr` where it is None; see `pick_by_number`."""
    return pick_by_number(TARGET_NUMBER, values, default_expr)
