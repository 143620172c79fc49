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

A target may be a frame of thresholds of each group:

    frame -> read_group_thresholds   checked, with each threshold as the least score that reaches it
          -> join_thresholds         one row per population, target and threshold
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
from polars_prcurve.core.curves.long_tables import join_values, pick_by_number
from polars_prcurve.core.ground.argument_checks import read_list, read_number, round_to_float, take_frame
from polars_prcurve.core.ground.errors import PrcError, list_names, warn_caller
from polars_prcurve.core.ground.group_keys import join_groups, merge_zeros
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.share_texts import read_share_texts
from polars_prcurve.core.ground.value_checks import Check, run_query, stop_if_broken
from polars_prcurve.core.inputs import column_reader
from polars_prcurve.core.inputs.exact_thresholds import read_threshold_list, to_least_scores
from polars_prcurve.core.inputs.resolved_tables import (
    RateTable,
    ResolvedTable,
    ScoreTable,
    read_score_dtype,
)
from polars_prcurve.core.inputs.row_column_names import Group, Row
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
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.sorted_group_rows import rising_code

RowTest: TypeAlias = Callable[[SegmentValues], pl.Expr]
"""A function from rows to whether each of them passes."""
Measure: TypeAlias = Callable[[SegmentValues], Any]  # a function from rows to a value of each of them
ROW_NUMBER = f"{RESERVED}row"  # the number of a row; within a curve it rises with recall
TARGET_NUMBER = f"{RESERVED}turn"  # the place of a target among those of a call
LIMIT_ROWS = "rows"  # the name of the list of rows of many limits
END = f"{RESERVED}end"  # the score at the other end of the stretch of a guarantee
END_ROW = f"{RESERVED}end_row"  # the number of its row, where several guarantees share a stretch
THRESHOLD_ROW = f"{RESERVED}threshold_row"
"""The number of a row of the frame: the order of the thresholds of a group; null for other targets."""
GIVEN_THRESHOLD = f"{RESERVED}given_threshold"  # the threshold as given, as a Float64
LEAST_SCORE = f"{RESERVED}least_score"
"""The least score that reaches the threshold; null if there is none, or no threshold."""


class GroupThresholds(NamedTuple):
    """A frame of thresholds by group, with THRESHOLD_ROW, GIVEN_THRESHOLD and LEAST_SCORE."""

    threshold_rows: pl.LazyFrame
    dtype_of_key: Mapping[str, pl.DataType]
    """The columns that `threshold_rows` are joined on, by internal names: `by`, Row.MODEL, and `eta`."""
    label_by_key: Mapping[str, str]  # what users call the keys
    argument: str = "threshold"

    def join_thresholds(self, request_rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the requests, each repeated for every threshold of its group."""
        if self.dtype_of_key:
            return join_groups(request_rows, self.threshold_rows, self.dtype_of_key, how="left")
        # A left join on a number that all have, since a cross join would lose the requests of no row.
        key_column = f"{RESERVED}same"
        common_key = pl.lit(0, dtype=pl.UInt8).alias(key_column)
        repeated_rows = request_rows.with_columns(common_key).join(
            self.threshold_rows.with_columns(common_key), on=key_column, how="left"
        )
        return repeated_rows.drop(key_column)

    def missing_row_check(self, is_request: pl.Expr) -> Check:
        """Return the check that each group has a row, over the table of requests."""
        lacks_row = is_request & pl.col(THRESHOLD_ROW).is_null()
        number_column = Population.NUMBER if "eta" in self.dtype_of_key else Group.NUMBER
        key_exprs = {label: pl.col(key) for key, label in self.label_by_key.items()}
        n_groups = pl.col(number_column).filter(lacks_row).n_unique()
        drop_hint = (
            "'eta', which makes them thresholds at any prevalence" if "eta" in self.dtype_of_key else ""
        )
        return column_reader.missing_row_check(self.argument, key_exprs, lacks_row, n_groups, drop_hint)


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


# Thresholds of each group, as a frame that users pass as `threshold=` ------------------------------


def read_group_thresholds(
    table: ResolvedTable,
    thresholds: pl.DataFrame | pl.LazyFrame,
    *,
    at_eta: bool,
    one_each: bool,
    argument_name: str = "threshold",
) -> GroupThresholds:
    """Return the thresholds of a user's frame; raise for what the call can check.

    With `at_eta` a column `eta` of the frame is a key, too; otherwise it is ignored. With `one_each` a
    group must not have several rows. `argument_name` is the name of the frame in errors.
    """
    if not isinstance(table, ScoreTable):
        if read_score_dtype(table) is not None:
            raise PrcError("pass threshold= as numbers with cells=, or join the frame to the table")
        raise PrcError("pass recall= or fpr=: rates= has no thresholds, so threshold= finds none")
    schema = thresholds.lazy().collect_schema()
    _check_schema(table, schema, argument_name, at_eta=at_eta)
    label_by_name = _label_groups(table)
    dtype_by_label = {
        # Names of score columns may be any text in the frame.
        label: schema.get(label, pl.Null())
        if name == Row.MODEL == table.model_column
        else table.by[name]
        for name, label in label_by_name.items()
    }
    shown_keys = column_reader.read_group_keys(argument_name, schema, dtype_by_label)
    other_columns = (name for name in schema if name not in (*shown_keys, *_OWN_COLUMNS))
    column_reader.check_forgotten_groups(argument_name, other_columns, table.schema)
    label_by_key = {name: label for name, label in label_by_name.items() if label in shown_keys}
    dtype_of_key = {name: table.by[name] for name in label_by_key}
    if at_eta and "eta" in schema:
        dtype_of_key["eta"], label_by_key["eta"] = pl.Float64(), "eta"
    # A row of a score column that is not compared is one of a group that the table lacks.
    key_exprs = (
        pl.col(label).cast(dtype_of_key[name], strict=name != Row.MODEL).alias(name)
        for name, label in label_by_key.items()
    )
    threshold_rows = _add_least_scores(thresholds, table.score_dtype, argument_name).select(
        *key_exprs, GIVEN_THRESHOLD, LEAST_SCORE, pl.int_range(pl.len()).alias(THRESHOLD_ROW)
    )
    if one_each:
        # Without keys all rows are thresholds of the same models.
        n_repeated = pl.struct(*dtype_of_key).is_duplicated().sum() if dtype_of_key else pl.len()
        is_target = argument_name == "threshold"
        reason = "models are ranked at one target" if is_target else "a run has one start"
        sentence_start = f"{reason}, and the {argument_name}= frame holds several for a group, in "
        sentence_parts = (sentence_start, n_repeated, " row(s); filter it")
        threshold_rows = stop_if_broken(threshold_rows, [Check(n_repeated > 1, sentence_parts)])
    if isinstance(thresholds, pl.DataFrame):
        threshold_rows = run_query(threshold_rows).lazy()
    return GroupThresholds(threshold_rows, dtype_of_key, label_by_key, argument_name)


def _label_groups(table: ScoreTable) -> dict[str, str]:
    """Return what users call the group columns; names of score columns go by `model`."""
    label_by_name = {name: table.name_by_inner.get(name, name) for name in table.by}
    may_say_model = table.model_column == Row.MODEL and "model" not in table.by
    if Row.MODEL in table.by:
        label_by_name[Row.MODEL] = "model" if may_say_model else table.model_column
    return label_by_name


def _check_schema(
    table: ScoreTable, schema: Mapping[str, pl.DataType], argument_name: str, *, at_eta: bool
) -> None:
    """Raise unless thresholds, and prevalences with `at_eta`, are numbers, and none is of a part."""
    threshold_dtype = schema.get("threshold", pl.Binary())
    if not (threshold_dtype.is_numeric() or threshold_dtype in (pl.Boolean, pl.String, pl.Null)):
        columns_text = list_names(f"{name}: {dtype}" for name, dtype in schema.items())
        raise PrcError(
            f"add a numeric column 'threshold' to the {argument_name}= frame; it has {columns_text}"
        )
    eta_dtype = schema.get("eta", pl.Null())
    if at_eta and not (eta_dtype.is_numeric() or eta_dtype == pl.Null):
        raise PrcError(f"cast column 'eta' of the {argument_name}= frame to Float64; it is {eta_dtype}")
    within_columns = table.within if table.parts is None else table.parts.table.within
    if part_columns := [name for name in schema if name in within_columns]:
        raise PrcError(
            f"pass one {argument_name}= for all parts, or by= instead of field(): the {argument_name}= "
            f"frame has a column of parts, {part_columns[0]!r} (for a threshold per part, "
            f"subtract it from the scores and pass {argument_name}=0)"
        )


_OWN_COLUMNS = ("eta", "criterion", "target", "threshold", "tp", "fp", "fn", "tn", "recall", "fpr")
"""Columns of operating points, which a user's table may have, too, without meaning a group."""


def _add_least_scores(
    thresholds: pl.DataFrame | pl.LazyFrame, score_dtype: pl.DataType, argument_name: str
) -> pl.LazyFrame:
    """Add GIVEN_THRESHOLD and LEAST_SCORE."""
    threshold_expr = pl.col("threshold")
    threshold_dtype = thresholds.lazy().collect_schema()["threshold"]
    if threshold_dtype in (score_dtype, pl.Null):
        cast_threshold = threshold_expr.cast(score_dtype)
        is_float = score_dtype.is_float()
        least_score = merge_zeros(cast_threshold).cast(score_dtype) if is_float else cast_threshold
        threshold_exprs = {GIVEN_THRESHOLD: least_score.cast(pl.Float64), LEAST_SCORE: least_score}
        n_nan = threshold_expr.cast(pl.Float64).is_nan().sum()
        sentence_end = " row(s), and no score is at or above it"
        check = Check(n_nan > 0, (f"{argument_name}= holds NaN in ", n_nan, sentence_end))
        return stop_if_broken(thresholds.lazy().with_columns(**threshold_exprs), [check])
    if isinstance(thresholds, pl.LazyFrame):
        raise PrcError(
            f"cast the thresholds of the LazyFrame from {threshold_dtype} to the score's "
            f"{score_dtype}, or call .collect() on it: numbers of a DataFrame are compared exactly"
        )
    next_thresholds = iter(
        read_threshold_list(argument_name, thresholds["threshold"].drop_nulls(), score_dtype)
    )
    exact_thresholds = [
        None if value is None else next(next_thresholds) for value in thresholds["threshold"]
    ]
    shown_thresholds = [None if value is None else round_to_float(value) for value in exact_thresholds]
    return thresholds.lazy().with_columns(
        pl.Series(GIVEN_THRESHOLD, shown_thresholds, dtype=pl.Float64),
        to_least_scores(exact_thresholds, score_dtype).alias(LEAST_SCORE),
    )


def pick_by_target(values: Iterable[Any], default_expr: pl.Expr | None = None) -> pl.Expr:
    """Return value i in rows of target i, or `default_expr` where it is None; see `pick_by_number`."""
    return pick_by_number(TARGET_NUMBER, values, default_expr)
