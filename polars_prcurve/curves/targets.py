"""Targets: the conditions that an operating point must meet, and how its row is found.

A target is met by the first or the last row of some kind, or by the row of the greatest value. Each is
the maximum of an integer per row, its choice, whose low bits tell the row. So one group_by finds the
rows of all targets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve.argument_kinds import read_list, read_number
from polars_prcurve.column_names import RESERVED, SCORE
from polars_prcurve.curves.group_thresholds import (
    GIVEN_THRESHOLD,
    LEAST_SCORE,
    GroupThresholds,
    read_group_thresholds,
)
from polars_prcurve.errors import PrcError
from polars_prcurve.float_bits import is_at_least, is_at_most
from polars_prcurve.inputs.score_table import InputTable, read_score_dtype
from polars_prcurve.inputs.threshold_values import read_threshold_list, round_to_float, to_least_scores
from polars_prcurve.metrics import point_metrics as point
from polars_prcurve.metrics.best_and_at_target import best
from polars_prcurve.metrics.curve_metric import CurveMetric, Rows
from polars_prcurve.metrics.names import find_metric, find_point_metrics
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.sweep.sort_key import rising_code

TargetValues: TypeAlias = float | Sequence[float] | None
RowChoice: TypeAlias = Callable[[Rows], pl.Expr]
ROW_NUMBER = f"{RESERVED}row"
"""The number of a row; within a curve it rises with recall."""


@dataclass(frozen=True)
class Target:
    """A condition that an operating point must meet, such as recall 0.8."""

    criterion: str
    value: float | pl.Expr | None
    """The value to reach; None for the best value of a metric."""
    choice: RowChoice
    """Return an integer that is greatest at the row to choose, and null where a row does not qualify.
    Its low 64 bits are the number of the row, negated where the first row is wanted."""
    depends_on_eta: bool = False
    least_score: pl.Expr | None = None
    """The least score that reaches the threshold, or null, if the target is a threshold."""
    maximized: PointMetric | None = None
    """The metric whose best value is the target, if that is what it is."""
    thresholds: GroupThresholds | None = None
    """The thresholds of each group, if they are the target; `value` then reads one, and there may be
    several for a group."""


def read_targets(
    table: InputTable | None,
    *,
    threshold: Any = None,
    recall: TargetValues = None,
    fpr: TargetValues = None,
    precision: TargetValues = None,
    predicted_positive_rate: TargetValues = None,
    alerts: TargetValues = None,
    per: float | None = None,
    maximize: Any = None,
    at_eta: bool = True,
    one_each: bool = False,
) -> list[Target]:
    """Return the targets of all arguments, in the order of the arguments; raise if there is none.

    `per` is the number of events that `alerts` are among. `at_eta` and `one_each` are as in
    `read_group_thresholds`.
    """
    if isinstance(threshold, pl.DataFrame | pl.LazyFrame) and table is not None:
        of_groups = read_group_thresholds(table, threshold, at_eta=at_eta, one_each=one_each)
        targets = [_build_frame_target(of_groups)]
    else:
        targets = [
            _build_threshold_target(value, least)
            for value, least in _read_threshold_list(table, threshold)
        ]
    targets += [
        Target("recall", v, _choose_first(_recall_at_least(v))) for v in _check_shares("recall", recall)
    ]
    targets += [Target("fpr", v, _choose_last(_fpr_at_most(v))) for v in _check_shares("fpr", fpr)]
    for value in _check_shares("precision", precision):
        targets.append(Target("precision", value, _choose_last(_precision_at_least(value)), True))
    for value in _check_shares("predicted_positive_rate", predicted_positive_rate):
        targets.append(
            Target("predicted_positive_rate", value, _choose_last(_alerts_at_most(value)), True)
        )
    for value, rate in _read_alerts(alerts, per):
        targets.append(Target("alerts", value, _choose_last(_alerts_at_most(rate)), True))
    for metric in [] if maximize is None else find_point_metrics(maximize, "maximize="):
        targets.append(_build_best_target(metric))
    if not targets:
        raise PrcError(
            "an operating point needs a target: recall=, fpr=, precision=, "
            "alerts=, or maximize=; operating_points takes threshold=, too"
        )
    return targets


class RankingMetric(NamedTuple):
    """The metric that ranks models, and the target at which a point metric is taken."""

    metric: CurveMetric | PointMetric
    targets: list[Target]
    """One target for a point metric, none for a curve metric."""


def read_ranking_metric(
    metric: str | PointMetric | CurveMetric, table: InputTable, *, at_eta: bool = True, **targets: Any
) -> RankingMetric:
    """Return a curve metric, or a point metric with its target.

    A point metric without a target stands for its best value. `at_eta` is as in `read_targets`.
    """
    check_per_has_alerts(targets.get("alerts"), targets.get("per"))
    no_target = all(value is None for value in targets.values())
    given = [] if no_target else read_targets(table, **targets, at_eta=at_eta, one_each=True)
    if len(given) > 1:
        raise PrcError(
            f"expected at most one target (recall=, fpr=, ...); got {len(given)}; call once for each"
        )
    found = find_metric(metric)
    if isinstance(found, PointMetric):
        return RankingMetric(found if given else best(found), given)
    if given:
        raise PrcError(f"{found.name} is of a whole curve; leave out {given[0].criterion}=")
    return RankingMetric(found, given)


def direction_sign(metric: CurveMetric | PointMetric) -> float:
    """Return 1.0 if larger values are better, -1.0 if smaller ones are; raise if neither is."""
    if metric.direction == "none":
        raise PrcError(f"{metric.name} has no direction, so no model is better by it")
    return 1.0 if metric.direction == "maximize" else -1.0


def _choose_first(test: RowChoice) -> RowChoice:
    """Return the choice of the first row that passes a test: the least number, negated."""
    return lambda rows: pl.when(test(rows)).then(-rows.column(ROW_NUMBER))


def _choose_last(test: RowChoice) -> RowChoice:
    """Return the choice of the last row that passes a test: the greatest number."""
    return lambda rows: pl.when(test(rows)).then(rows.column(ROW_NUMBER))


def _build_threshold_target(value: float, least_score: pl.Expr) -> Target:
    choice = _choose_last(lambda rows: rows.column(SCORE) >= least_score)
    return Target("threshold", value, choice, least_score=least_score)


def _build_frame_target(thresholds: GroupThresholds) -> Target:
    """Return the target of the thresholds of each group, which are joined to the rows."""
    target = _build_threshold_target(0.0, pl.col(LEAST_SCORE))
    return replace(target, value=pl.col(GIVEN_THRESHOLD), thresholds=thresholds)


def _recall_at_least(value: float) -> RowChoice:
    return lambda rows: is_at_least(rows.column("recall"), value)


def _fpr_at_most(value: float) -> RowChoice:
    return lambda rows: is_at_most(rows.column("fpr"), value)


def _precision_at_least(value: float) -> RowChoice:
    return lambda rows: is_at_least(rows.value(point.precision), value)


def _alerts_at_most(value: float) -> RowChoice:
    return lambda rows: is_at_most(rows.value(point.predicted_positive_rate), value)


def _build_best_target(metric: PointMetric) -> Target:
    """Return the target of the best value of a metric; among equal values the first row wins."""
    sign = 1.0 if metric.higher_is_better() else -1.0

    def choice(rows: Rows) -> pl.Expr:
        # The bits of the value stand above 64 bits for the row, so equal values are compared by row.
        value: pl.Expr = rows.value(metric)
        code: pl.Expr = rising_code(value * sign).cast(pl.Int128) * 2**64 - rows.column(ROW_NUMBER)
        return code

    name = f"maximize({metric.name})"
    return Target(name, None, choice, metric.depends_on_eta, maximized=metric)


def _to_list(name: str, given: Any) -> list[Any]:
    """Return a list of what an argument holds: nothing, one value or several."""
    if given is None:
        return []
    if isinstance(given, str) or not isinstance(given, Iterable):
        return [given]
    return read_list(f"{name}=", given, "a value or a list of values")


def _check_shares(name: str, given: Any) -> list[float]:
    """Return the values of an argument as floats; raise unless all are numbers in [0, 1]."""
    return [
        read_number(f"{name}=", value, "numbers in [0, 1]", lambda share: 0 <= share <= 1)
        for value in _to_list(name, given)
    ]


def read_events(per: object) -> float:
    """Return a number of events as a float; raise unless it is a finite number above 0."""
    return read_number("per=", per, "a number of events above 0", lambda events: 0 < events < math.inf)


def check_per_has_alerts(alerts: object, per: object) -> None:
    """Raise if events are given without a budget of alerts, where they serve nothing else."""
    if per is not None and alerts is None:
        raise PrcError("per= is the number of events that alerts= are among; pass alerts=, too")


def _read_alerts(alerts: Any, per: Any) -> list[tuple[float, float]]:
    """Return each number of alerts, and the rate that it is of `per` events; raise unless it is one."""
    budgets = [
        read_number("alerts=", value, "numbers of alerts") for value in _to_list("alerts", alerts)
    ]
    if budgets and per is None:
        raise PrcError("alerts= needs per=, the number of events that the alerts are among")
    events = read_events(per) if budgets else 1.0
    for budget in budgets:
        if not 0 <= budget <= events:
            raise PrcError(f"alerts= takes numbers from 0 to per={per!r}; got {budget!r}")
    # Not alerts <= rate * per, whose product may round to just above a budget that is met exactly.
    return [(budget, budget / events) for budget in budgets]


def _read_threshold_list(table: InputTable | None, given: Any) -> Iterable[tuple[float, pl.Expr]]:
    """Return each threshold as a float, and as a literal in the score's dtype."""
    if given is None:
        return []
    if table is None or (score_dtype := read_score_dtype(table)) is None:
        raise PrcError("rates= has no thresholds, so threshold= finds none; pass recall= or fpr=")
    numbers = read_threshold_list("threshold", _to_list("threshold", given), score_dtype)
    scores = to_least_scores(numbers, score_dtype)
    # A literal made from a Series keeps the dtype, such as Float32; one made from the value would not.
    literals = (pl.lit(scores[i : i + 1]).first() for i in range(len(scores)))
    return zip(map(round_to_float, numbers), literals, strict=True)


def chosen_row(greatest: pl.Expr) -> pl.Expr:
    """Row number of the greatest choice; null where no row meets the target.

    The cast keeps the low 64 bits, and the sign, which tells first from last rows, is dropped.
    """
    return greatest.cast(pl.Int64, wrap_numerical=True).abs()
