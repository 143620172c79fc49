"""What is wanted: targets that a threshold has to meet, and by what models are judged there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from polars_prcurve.core.binding.question import Question
from polars_prcurve.core.confidence.estimates import read_estimate
from polars_prcurve.core.curves.target_arguments import read_targets
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import describe_value
from polars_prcurve.core.ground.share_texts import read_share, read_share_texts
from polars_prcurve.core.inputs.resolved_tables import refuse_points
from polars_prcurve.core.metrics.metric_base import direction_sign
from polars_prcurve.core.metrics.metric_lookup import default_curve_metric, find_metrics
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.metrics.target_kinds import (
    ALERT_WORDS,
    SHARE_WORDS,
    TARGET_KINDS,
    read_per,
)

FLOORS = tuple(word for word, kind in TARGET_KINDS.items() if kind.limits_misses)
"""Targets that limit how many positives may be missed: models are judged by the precision there."""
CAPS = tuple(word for word, kind in TARGET_KINDS.items() if not kind.limits_misses)
"""Targets that limit how many examples a threshold may flag: models are judged by the recall there."""
_ORDER = list(dict.fromkeys([*FLOORS, *reversed(ALERT_WORDS), *CAPS, "threshold", "maximize"]))
"""The order in which targets are written: what is to be found, then how many alerts, then the rest."""

_MEAN = "mean_"  # before the name of a metric: the column of its mean over groups


@dataclass(frozen=True)
class Goal:
    """What a model has to achieve, one number for each target; all of them have to hold together."""

    targets: Mapping[str, Any]
    """What chooses a threshold, by its words without `per`; empty if whole curves are judged."""
    merit_column: str  # the column of values by which models are judged
    per: float | None  # the number of cases among which alerts are counted; None if it was not passed
    guarantee: float | None
    maximized: PointMetric | None = None  # the metric whose best value is sought
    is_of_point: bool = False  # whether each group is one point, which needs no target
    mean_over: tuple[str, ...] = ()
    """The columns of the groups over which the curves of models are averaged, such as topics."""
    demand: Mapping[str, float] = field(default_factory=dict)
    """The targets that are tested: those beside `threshold=`, or those of a guarantee; may be empty."""

    @property
    def is_gate(self) -> bool:
        """Whether a threshold from elsewhere is tested against targets."""
        return bool(self.demand) and self.guarantee is None

    @property
    def limit_of_column(self) -> dict[str, float]:
        """The limits that a threshold from elsewhere is tested against, by the columns of points."""
        demand = self.demand if self.is_gate else {}
        return {TARGET_KINDS[word].column: limit for word, limit in demand.items()}

    def test_point(self) -> Goal:
        """Return the demand on the only point of each group, instead of targets that choose one."""
        if self.maximized is not None:
            raise PrcError(
                "leave out maximize=: each group has one point, so there is nothing to choose"
            )
        return replace(self, targets={}, demand=self.targets, merit_column="precision", is_of_point=True)

    @property
    def is_of_curve(self) -> bool:
        """Whether models are judged by their whole curves, and no threshold is sought."""
        return not self.targets and not self.is_of_point

    @property
    def curve_metric(self) -> str:
        """The metric of whole curves by which models are judged."""
        return self.merit_column.removeprefix(_MEAN) if self.mean_over else self.merit_column

    @property
    def is_at_threshold(self) -> bool:
        """Whether the threshold is passed, and not chosen on the table."""
        return "threshold" in self.targets

    @property
    def is_joint(self) -> bool:
        """Whether a threshold has to meet several targets together."""
        return len(self.targets) > 1

    @property
    def caps(self) -> list[str]:
        """The targets that limit how many examples a threshold flags."""
        return [word for word in self.targets if word in CAPS]

    @property
    def limits(self) -> dict[str, float]:
        """The targets that a value is compared with: all but a threshold and what is maximized."""
        return {word: limit for word, limit in self.targets.items() if word in TARGET_KINDS}

    @property
    def all_limits(self) -> dict[str, float]:
        """The limits of targets and of the demand."""
        return {**self.limits, **self.demand}

    @property
    def columns_of_limits(self) -> list[str]:
        """The columns of points whose values are limited by targets or by the demand."""
        return [TARGET_KINDS[word].column for word in self.all_limits]

    @property
    def sign(self) -> float:
        """1 if a greater merit is better, otherwise -1."""
        return 1.0 if self.maximized is None else direction_sign(self.maximized)

    @property
    def is_of_rate(self) -> bool:
        """Whether models are judged by what is right of 100 alerts, or found of 100 positives."""
        return self.merit_column in ("precision", "recall")

    def scale_limit(self, word: str) -> float:
        """Return the limit of a target in the unit of its metric: of alerts as a share of all cases."""
        limit: float = self.all_limits[word]
        return limit / (self.per or 1) if word == "alerts" else limit

    def test_limit(self, row: Mapping[str, Any], word: str) -> bool | None:
        """Return whether the interval of a row is within a limit of the demand; None if it holds it."""
        target_kind, limit = TARGET_KINDS[word], self.demand[word]
        span = read_estimate(row, target_kind.column).span
        if span is None:
            return None
        low, high = span
        if target_kind.is_at_most:
            return True if high <= limit else False if low > limit else None
        return True if low >= limit else False if high < limit else None

    def find_decisive_end(self, word: str) -> str:
        """Return what decides between thresholds that miss a target: with a guarantee, an end."""
        if self.guarantee is None:
            return ""
        return "_high" if TARGET_KINDS[word].is_at_most else "_low"

    def build_arguments(self, *words: str) -> dict[str, Any]:
        """Return the arguments that request these targets, or for all; `per` goes with alerts."""
        arguments = {word: self.targets[word] for word in words or self.targets}
        if "alerts" in arguments and self.per is not None:
            arguments["per"] = self.per
        return arguments


def read_goal(question: Question, guarantee: object) -> Goal:
    """Return the goal; raise if targets make no sense together."""
    value_by_target, per = _read_targets(question.targets), question.targets.get("per")
    per = None if per is None else read_per(per)
    is_of_points = question.columns.points is not None
    if question.mean_groups is not None:
        if question.mean_groups.share_examples:
            raise PrcError(
                "leave out mean_over=, or call summary(mean_over=...): the mean over classes that "
                "share examples has no interval to decide by"
            )
        mean_columns, merit_column = question.mean_groups.columns, f"{_MEAN}{default_curve_metric()}"
        return Goal({}, merit_column, per=None, guarantee=None, mean_over=mean_columns)
    if not value_by_target and per is not None and not is_of_points:
        raise PrcError("pass a target as well, such as recall=0.8: per= counts the alerts at a target")
    _check_targets(value_by_target)
    guarantee_level = None if guarantee is None else _read_guarantee(value_by_target, guarantee)
    if "maximize" in value_by_target:
        [metric] = find_metrics(value_by_target["maximize"], PointMetric)
        return Goal(value_by_target, metric.name, per=per, guarantee=guarantee_level, maximized=metric)
    value_by_limit = {word: value for word, value in value_by_target.items() if word != "threshold"}
    if value_by_limit:
        read_targets(None, **value_by_limit, per=per)  # raises for what is no value of a target
    if "threshold" in value_by_target:
        threshold_target = {"threshold": value_by_target["threshold"]}
        return Goal(threshold_target, "precision", per=per, guarantee=None, demand=value_by_limit)
    if len(value_by_limit) > 1 and set(value_by_limit) <= set(FLOORS) and not is_of_points:
        raise PrcError(
            f"pass only one of {'= and '.join(value_by_limit)}=, or add a limit on alerts, such as "
            "precision=0.2: these targets limit only missed positives"
        )
    merit_column = "recall" if any(word in CAPS for word in value_by_limit) else "precision"
    if not value_by_limit and not is_of_points:
        merit_column = default_curve_metric()
    goal = Goal(value_by_limit, merit_column, per=per, guarantee=guarantee_level)
    demand = {} if guarantee_level is None else value_by_limit
    return replace(goal, is_of_point=is_of_points and not value_by_limit, demand=demand)


def _read_targets(value_by_target: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of targets that are set, in order; texts of shares are numbers."""
    set_words = (word for word, value in value_by_target.items() if value is not None and word != "per")
    return {
        word: read_share_texts(value_by_target[word]) if word in SHARE_WORDS else value_by_target[word]
        for word in sorted(set_words, key=_ORDER.index)
    }


def _check_targets(value_by_target: Mapping[str, Any]) -> None:
    """Raise for several values of a target, and for targets beside the one that chooses by itself."""
    for word, value in value_by_target.items():
        is_frame = word == "threshold" and isinstance(value, pl.DataFrame | pl.LazyFrame)
        if isinstance(value, Iterable) and not isinstance(value, str) and not is_frame:
            raise PrcError(
                f"decide() takes one value of {word}=, since all targets have to hold together; got "
                f"{describe_value(value)}"
            )
    if "maximize" in value_by_target and len(value_by_target) > 1:
        other_word = next(word for word in value_by_target if word != "maximize")
        raise PrcError(f"leave out {other_word}=: maximize= chooses a threshold by itself")


def _read_guarantee(value_by_target: Mapping[str, Any], guarantee: object) -> float:
    """Return the level of a guarantee; raise without a target that it could be of."""
    if not value_by_target:
        raise PrcError(
            "pass a target, such as recall=0.8: guarantee= is the confidence that a target is met"
        )
    return read_share("guarantee=", guarantee, "a level such as 0.95", lambda level: 0.5 < level < 1)


def check_names_of_groups(table: Any) -> None:
    """Raise for groups and models that no sentence can name."""
    for dtype in table.by.values():
        if dtype.is_nested():
            raise PrcError(
                "cast the group or model column to a plain dtype: decide() names each value, and "
                f"cannot name {dtype.base_type()}"
            )


def check_goal(question: Question, goal: Goal) -> None:
    """Raise for what cannot be decided: at such a prevalence, or of such models."""
    for eta in question.eta.find_numbers():
        if eta in (0, 1):
            raise PrcError(
                f"pass prevalences between 0 and 1; got eta={eta!r}, at which all alerts are true, "
                "or none is"
            )
    if question.columns.model is None:
        return
    if "threshold" in goal.targets:
        raise PrcError(
            "pass a target, such as recall=, instead of threshold=, or a single model: each model has "
            "its own threshold"
        )
    if question.columns.points is not None:
        argument_name = "rates" if question.columns.cells is None else "cells"
        other_remedy = "pass by= instead of model= for a verdict on each, or "
        raise refuse_points(argument_name, "a comparison in decide()", other_remedy)
    if question.eta.is_estimated:
        raise PrcError(
            "pass a prevalence estimated with one model, "
            "month.estimate_prevalence(reference=..., score=...): eta= would be estimated "
            "separately for each model"
        )
