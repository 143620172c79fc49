"""Targets: the conditions that an operating point must meet, and how its row is found.

A target is met by the first or the last row of some kind, or by the row of the greatest value. Each is
the maximum of an integer per row, whose low bits tell the row. A promise (see `guarantee_searches`)
reads a few such extremes. So one group_by finds the rows of all targets.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import read_list, read_number, round_to_float, take_frame
from polars_prcurve.curves import threshold_frames
from polars_prcurve.errors import PrcError
from polars_prcurve.exact_arithmetic import is_at_least, is_at_most
from polars_prcurve.inputs.score_and_rate_tables import InputTable, RateTable, read_score_dtype
from polars_prcurve.inputs.threshold_values import read_threshold_list, to_least_scores
from polars_prcurve.metrics import point_metrics as point
from polars_prcurve.metrics.best_and_integrated import best
from polars_prcurve.metrics.curve_metric import CurveMetric, Rows, Step
from polars_prcurve.metrics.names import find_metric, find_point_metrics
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.query_checks import Check
from polars_prcurve.sweep.grouped_rows import rising_code

TargetValues: TypeAlias = float | Sequence[float] | None
RowTest: TypeAlias = Callable[[Rows], pl.Expr]
ROW_NUMBER = f"{c.RESERVED}row"  # the number of a row; within a curve it rises with recall
TARGET_NUMBER = f"{c.RESERVED}turn"
END = "end"  # the name of the extreme that is the score at the other end of a stretch


class ClassSizes(NamedTuple):
    """The examples of a group, and as how many independent ones each class counts."""

    n_pos: pl.Expr
    n_neg: pl.Expr
    pos_size: pl.Expr
    neg_size: pl.Expr


Needed: TypeAlias = Callable[[ClassSizes, pl.Expr], pl.Expr]
"""The number of examples of a class without which nothing is proven, from both classes and eta."""


class Extreme(NamedTuple):
    """A value per row, of which a search reads the greatest or the least; null does not count."""

    value: pl.Expr
    is_greatest: bool = True
    row_of: Callable[[pl.Expr], pl.Expr] | None = None
    """Return the number of the row that has the extreme; None if that is the first or the last row of a
    block (see `row_search`), or the row of another extreme."""

    def reduce(self, column: pl.Expr) -> pl.Expr:
        """Return the greatest or the least value of a column."""
        return column.max() if self.is_greatest else column.min()


Found: TypeAlias = Callable[[str], pl.Expr]  # a function from the name of an extreme to its value


class Search(NamedTuple):
    """How the row of a target is found: from extremes over the rows of a curve."""

    extremes: Callable[[Rows], Mapping[str, Extreme]]
    row: Callable[[Found], pl.Expr]  # the number of the row; null where no row meets the target
    steps: Sequence[Step] = ()
    """Columns that are added first, each step from those before it, and that the extremes may read."""
    end_row: Callable[[Found], pl.Expr] | None = None
    """Return the number of the row at the other end of a stretch, if several promises share one."""


class Promise(NamedTuple):
    """The stretch of thresholds for which a guarantee holds, and how many examples it takes."""

    level: float
    alpha: float  # the probability with which the promise may be broken
    end: Callable[[Rows], Extreme] | None
    """Return the score at the other end of the stretch, as seen from the threshold; None if the search
    has the number of its row."""
    holds_above: bool  # whether the stretch begins at the threshold and rises; otherwise it ends there
    starts: threshold_frames.GroupThresholds | None = None
    run_start: str | None = None
    """The name of the extreme that is the number of the row at the other end; None if the stretch goes
    on to the end of the curve."""
    changes_once_in_block: bool = True  # whether, among rows of equal recall, a test goes one way
    n_pos_needed: Needed | None = None
    n_neg_needed: Needed | None = None


@dataclass(frozen=True)
class Target:
    """A condition that an operating point must meet, such as recall 0.8."""

    criterion: str
    value: float | pl.Expr | None  # to reach; None for the best value of a metric
    search: Search
    depends_on_eta: bool = False
    least_score: pl.Expr | None = None
    """The least score that reaches the threshold, or null, if the target is a threshold."""
    maximized: PointMetric | None = None
    thresholds: threshold_frames.GroupThresholds | None = None
    """The thresholds of each group, maybe several, if they are the target; `value` then reads one."""
    rate: float | None = None  # the share of alerts that is allowed, if the target is one
    test: RowTest | None = None  # whether a row meets the target, if each row tells that by itself
    takes_first: bool = False  # of the rows that pass the test; otherwise the last one is taken
    promise: Promise | None = None
    is_joined: bool = False  # whether it is several targets, which are met together

    @property
    def is_found_in_sample(self) -> bool:
        """Whether the threshold is found in the sample, and would be another one in another sample."""
        return self.least_score is None and self.criterion != _ONLY_POINT

    @property
    def changes_once_in_block(self) -> bool:
        """Whether, among rows of equal recall, what the search reads goes one way with fpr."""
        # So do the tests of all metrics that can be a target, and those of promises, except where limits
        # of parts add up in quadrature, or alerts count as fewer than they are.
        if self.maximized is not None:
            return self.maximized.falls_with_fpr
        return self.promise is None or self.promise.changes_once_in_block


def merge_steps(targets: Iterable[Target]) -> list[Step]:
    """Return the steps of the searches of all targets: the first ones as one, then the second ones."""

    def merge(steps: Sequence[Step | None], rows: Rows) -> dict[str, pl.Expr]:
        return {name: value for step in steps if step for name, value in step(rows).items()}

    return [partial(merge, each) for each in zip_longest(*(target.search.steps for target in targets))]


def find_greatest_rate(targets: Iterable[Target]) -> float | None:
    """Return the greatest share of alerts among the targets, or None if no target is one."""
    return max((target.rate for target in targets if target.rate is not None), default=None)


def read_targets(
    table: InputTable | None, *, at_eta: bool = True, one_each: bool = False, **given: Any
) -> list[Target]:
    """Return the targets of all words `given`, in the order of `_METRIC_TARGETS`; raise if none is."""
    given = {name: value for name, value in given.items() if value is not None}
    targets = _build_threshold_targets(table, given.get("threshold"), at_eta=at_eta, one_each=one_each)
    targets += [
        _build_target(name, value, value)
        for name in _METRIC_TARGETS
        if name in given and name != "alerts"
        for value in _read_values(name, given[name])
    ]
    alerts, per = _to_list("alerts", given.get("alerts")), given.get("per")
    budgets = [read_number("alerts=", value, "numbers of alerts") for value in alerts]
    if budgets and per is None:
        raise PrcError("alerts= needs per=, the number of events that the alerts are among")
    events = read_events(per) if budgets else 1.0
    for budget in budgets:
        if not 0 <= budget <= events:
            raise PrcError(f"alerts= takes numbers from 0 to per={per!r}; got {budget!r}")
    # Not alerts <= rate * per, whose product may round to just above a budget that is met exactly.
    targets += [_build_target("alerts", budget, budget / events) for budget in budgets]
    if "maximize" in given:
        targets += map(_build_best_target, find_point_metrics(given["maximize"], "maximize="))
    if not targets:
        taken = "recall=, fpr=, precision=, alerts=, or maximize="
        taken += "; operating_points takes threshold=, too"
        taken = taken if at_eta else "pass threshold=, recall= or fpr="
        raise PrcError(f"an operating point needs a target: {taken}")
    return targets


def _build_threshold_targets(
    table: InputTable | None, given: Any, *, at_eta: bool, one_each: bool
) -> list[Target]:
    """Return a target for each threshold, or one for a frame of thresholds of each group."""

    def build(value: float | pl.Expr, least_score: pl.Expr) -> Target:
        search = choose_row(lambda rows: rows.column(c.SCORE) >= least_score)
        return Target("threshold", value, search, least_score=least_score)

    given = take_frame(given)
    if given is None:
        return []
    if isinstance(given, pl.DataFrame | pl.LazyFrame) and table is not None:
        of_groups = threshold_frames.read_group_thresholds(
            table, given, at_eta=at_eta, one_each=one_each
        )
        # Its columns are joined to the rows, where the search and `value` read them.
        return [
            replace(
                build(pl.col(threshold_frames.GIVEN_THRESHOLD), pl.col(threshold_frames.LEAST_SCORE)),
                thresholds=of_groups,
            )
        ]
    if table is None or (score_dtype := read_score_dtype(table)) is None:
        raise PrcError("rates= has no thresholds, so threshold= finds none; pass recall= or fpr=")
    numbers = read_threshold_list("threshold", _to_list("threshold", given), score_dtype)
    scores = to_least_scores(numbers, score_dtype)
    # A literal made from a Series keeps the dtype, such as Float32; one made from the value would not.
    literals = (pl.lit(scores[i : i + 1]).first() for i in range(len(scores)))
    return [build(round_to_float(n), least) for n, least in zip(numbers, literals, strict=True)]


def build_only_point_target(table: RateTable) -> Target:
    """Return the target of published points, one for each model; the query stops if one has several."""
    # A literal would be one row, however long the table is.
    point_of_row = table.columns["recall"].is_null().cast(pl.Int64) * 0 + 1
    several = (table.tallies.count(point_of_row, per_group=True) > 1).sum()
    sentence = (
        "points are compared one by one, and ",
        several,
        " model(s) have several points; keep one row for each, or pass threshold=, if score= names the "
        "thresholds of the points",
    )
    table.tallies.checks.append(Check(several > 0, sentence))
    return Target(_ONLY_POINT, None, choose_row(lambda rows: rows.column(ROW_NUMBER) >= 0))


_ONLY_POINT = "the only point"


class RankingMetric(NamedTuple):
    """The metric that ranks models, and the target at which a point metric is taken."""

    metric: CurveMetric | PointMetric
    targets: list[Target]  # one for a point metric, none for a curve metric


def read_ranking_metric(
    metric: str | PointMetric | CurveMetric, table: InputTable, *, at_eta: bool = True, **targets: Any
) -> RankingMetric:
    """Return a curve metric, or a point metric with its target; without one, its best value."""
    given = read_one_target(table, **targets, at_eta=at_eta)
    found = find_metric(metric)
    if isinstance(found, PointMetric):
        return RankingMetric(found if given else best(found), given)
    if given:
        raise PrcError(f"{found.name} is of a whole curve; leave out {given[0].criterion}=")
    return RankingMetric(found, given)


def read_one_target(table: InputTable, *, at_eta: bool = True, **targets: Any) -> list[Target]:
    """Return the target of all arguments in a list, empty if there is none; raise for several."""
    check_per_has_alerts(targets.get("alerts"), targets.get("per"))
    no_target = all(value is None for value in targets.values())
    given = [] if no_target else read_targets(table, **targets, at_eta=at_eta, one_each=True)
    if len(given) > 1:
        raise PrcError(
            f"expected at most one target (recall=, fpr=, ...); got {len(given)}; call once for each"
        )
    return given


def direction_sign(metric: CurveMetric | PointMetric) -> float:
    """Return 1.0 if larger values are better, -1.0 if smaller ones are; raise if neither is."""
    if metric.direction == "none":
        raise PrcError(f"{metric.name} has no direction, so no model is better by it")
    return 1.0 if metric.direction == "maximize" else -1.0


def choose_row(test: RowTest, *, first: bool = False) -> Search:
    """Return the search for the last row that passes a test, or the first."""
    return Search(
        lambda rows: {_ROW: number_where(test(rows), rows, greatest=not first)},
        lambda found: found(_ROW),
    )


def number_where(passes: pl.Expr, rows: Rows, *, greatest: bool) -> Extreme:
    """Return the greatest or the least number of the rows that pass a test."""
    number = pl.when(passes).then(rows.column(ROW_NUMBER))
    return Extreme(number, greatest, row_of=lambda found: found)


_ROW = "row"
_METRIC_TARGETS = {
    "recall": (point.recall, False, True),
    "fpr": (point.fpr, True, False),
    "precision": (point.precision, False, False),
    "npv": (point.npv, False, True),
    "fdr": (point.fdr, True, False),
    "lift": (point.lift, False, False),
    "predicted_positive_rate": (point.predicted_positive_rate, True, False),
    "alerts": (point.predicted_positive_rate, True, False),
}
"""The metric of a target, whether it is to be at most the value, and whether the first row is taken."""


def _build_target(criterion: str, value: float, limit: float) -> Target:
    """Return the target of a metric that is to be at least a limit, or at most."""
    # The limit is the value that is shown, except that alerts are a number, and their limit is a rate.
    metric, at_most, takes_first = _METRIC_TARGETS[criterion]
    compare = is_at_most if at_most else is_at_least

    def passes(rows: Rows) -> pl.Expr:
        # Recall and fpr are columns of every sweep.
        found = rows.value(metric) if metric.of_rates is None else rows.column(metric.name)
        passed: pl.Expr = compare(found, limit)
        return passed

    return Target(
        criterion,
        value,
        choose_row(passes, first=takes_first),
        metric.depends_on_eta,
        rate=limit if metric is point.predicted_positive_rate else None,
        test=passes,
        takes_first=takes_first,
    )


def _build_best_target(metric: PointMetric) -> Target:
    """Return the target of the best value of a metric; among equal values the first row wins."""
    sign = 1.0 if metric.higher_is_better() else -1.0

    def find_best(rows: Rows) -> dict[str, Extreme]:
        # The bits of the value stand above 64 bits for the row, so equal values are compared by row.
        value: pl.Expr = rows.value(metric)
        code = rising_code(value * sign).cast(pl.Int128)
        return {_ROW: Extreme(code * 2**64 - rows.column(ROW_NUMBER))}

    # The cast keeps the low 64 bits, which are the number, negated.
    search = Search(find_best, lambda found: -found(_ROW).cast(pl.Int64, wrap_numerical=True))
    name = f"maximize({metric.name})"
    return Target(name, None, search, metric.depends_on_eta, maximized=metric)


def _to_list(name: str, given: Any) -> list[Any]:
    """Return a list of what an argument holds: nothing, one value or several."""
    if given is None:
        return []
    if isinstance(given, str) or not isinstance(given, Iterable):
        return [given]
    return read_list(f"{name}=", given, "a value or a list of values")


def _read_values(name: str, given: Any) -> list[float]:
    """Return the values of an argument as floats; raise unless all are shares, or lifts."""
    words, most = "numbers in [0, 1]", 1.0
    if name == "lift":
        words, most = "numbers of at least 0", sys.float_info.max
    numbers = _to_list(name, given)
    return [read_number(f"{name}=", number, words, lambda of: 0 <= of <= most) for number in numbers]


def read_events(per: object) -> float:
    """Return a number of events as a float; raise unless it is a finite number above 0."""
    return read_number("per=", per, "a number of events above 0", lambda events: 0 < events < math.inf)


def check_per_has_alerts(alerts: object, per: object) -> None:
    """Raise if events are given without a budget of alerts, where they serve nothing else."""
    if per is not None and alerts is None:
        raise PrcError("per= is the number of events that alerts= are among; pass alerts=, too")
