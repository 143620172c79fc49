"""What is wanted: targets that a threshold has to meet, and by what models are judged there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from polars_prcurve.core.binding.bound_table import Question
from polars_prcurve.core.curves.targets import direction_sign, read_targets
from polars_prcurve.core.ground.argument_checks import read_number
from polars_prcurve.core.ground.errors import PrcError, describe_value
from polars_prcurve.core.metrics.metric_lookup import default_curve_metric, find_metrics
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.metrics.target_kinds import ALERT_WORDS, TARGET_KINDS, read_events

FLOORS = tuple(word for word, kind in TARGET_KINDS.items() if kind.limits_misses)
"""Targets that limit how many positives may be missed: models are judged by the precision there."""
CAPS = tuple(word for word, kind in TARGET_KINDS.items() if not kind.limits_misses)
"""Targets that limit how many examples a threshold may flag: models are judged by the recall there."""
_ORDER = list(dict.fromkeys([*FLOORS, *reversed(ALERT_WORDS), *CAPS, "threshold", "maximize"]))
"""The order in which targets are said: what is to be found, then how many alerts, then the rest."""


@dataclass(frozen=True)
class Goal:
    """What is asked of a model, one number for each target; all of them have to hold together."""

    targets: Mapping[str, Any]  # values by their words, without `per`; empty if whole curves are judged
    merit_column: str  # the column of values by which models are judged
    per: float | None  # the number of cases among which alerts are counted; None if it was not said
    guarantee: float | None
    maximized: PointMetric | None = None  # the metric whose best value is sought
    is_of_point: bool = False  # whether each group is one point, which needs no target

    @property
    def is_of_curve(self) -> bool:
        """Whether models are judged by their whole curves, and no threshold is sought."""
        return not self.targets and not self.is_of_point

    @property
    def is_joint(self) -> bool:
        """Whether several targets have to hold together."""
        return len(self.targets) > 1

    @property
    def caps(self) -> list[str]:
        """The targets that limit how many examples a threshold flags."""
        return [word for word in self.targets if word in CAPS]

    @property
    def sign(self) -> float:
        """1 if a greater merit is better, otherwise -1."""
        return 1.0 if self.maximized is None else direction_sign(self.maximized)

    @property
    def is_of_rate(self) -> bool:
        """Whether models are judged by what is right of 100 alerts, or found of 100 positives."""
        return self.merit_column in ("precision", "recall")

    def build_arguments(self, *words: str) -> dict[str, Any]:
        """Return the arguments that ask for these targets, or for all; `per` goes with alerts."""
        arguments = {word: self.targets[word] for word in words or self.targets}
        if "alerts" in arguments and self.per is not None:
            arguments["per"] = self.per
        return arguments


def read_goal(question: Question, guarantee: object) -> Goal:
    """Return what is wanted; raise if targets make no sense together."""
    value_of_target = question.targets
    words = (word for word, value in value_of_target.items() if value is not None and word != "per")
    value_of_word = {word: value_of_target[word] for word in sorted(words, key=_ORDER.index)}
    per = None if value_of_target.get("per") is None else read_events(value_of_target["per"])
    for word, value in value_of_word.items():
        if isinstance(value, Iterable) and not isinstance(value, str) and word != "threshold":
            raise PrcError(
                f"decide() takes one number for each target, and all have to hold together; got "
                f"{word}= as {describe_value(value)}; call once for each"
            )
    for choosing_word in ("threshold", "maximize"):
        if choosing_word in value_of_word and len(value_of_word) > 1:
            word_beside = next(word for word in value_of_word if word != choosing_word)
            raise PrcError(f"{choosing_word}= chooses a threshold by itself; leave out {word_beside}=")
    promise_level = None
    is_of_point = not value_of_word and question.columns.points is not None
    if not value_of_word and per is not None and not is_of_point:
        raise PrcError("per= counts the alerts at a target; pass a target, too, such as recall=0.8")
    if guarantee is not None:
        if not value_of_word:
            raise PrcError("guarantee= promises that a target is met; pass a target, such as recall=0.8")
        promise_level = read_number(
            "guarantee=", guarantee, "a level such as 0.95", lambda x: 0.5 < x < 1
        )
    if "maximize" in value_of_word:
        [metric] = find_metrics(value_of_word["maximize"], PointMetric)
        return Goal(value_of_word, metric.name, per=per, guarantee=promise_level, maximized=metric)
    if value_of_word and "threshold" not in value_of_word:
        read_targets(None, **value_of_word, per=per)  # raises for what is no value of a target
    if len(value_of_word) > 1 and set(value_of_word) <= set(FLOORS):
        raise PrcError(
            f"{'= and '.join(value_of_word)}= both limit how many positives are missed; pass one of "
            "them, or add what limits the alerts, such as precision=0.2"
        )
    merit_column = "recall" if any(word in CAPS for word in value_of_word) else "precision"
    if not value_of_word and not is_of_point:
        merit_column = default_curve_metric()
    return Goal(value_of_word, merit_column, per=per, guarantee=promise_level, is_of_point=is_of_point)


def check_groups(table: Any) -> None:
    """Raise for groups and models that no sentence can name."""
    for dtype in table.by.values():
        if dtype.is_nested():
            raise PrcError(
                "decide() names groups and models, and takes no column of them of dtype "
                f"{dtype.base_type()}; pass what tells them apart as plain columns"
            )


def check_goal(question: Question, goal: Goal) -> None:
    """Raise for what cannot be decided: at such a prevalence, or of such models."""
    for eta in question.eta.find_numbers():
        if eta in (0, 1):
            raise PrcError(
                "decide() takes prevalences between 0 and 1, where alerts may be right or false; got "
                f"eta={eta!r}"
            )
    if question.columns.model is None:
        return
    if "threshold" in goal.targets:
        raise PrcError(
            "threshold= is of one model; of several, name what counts: recall=, alerts=, precision= or "
            "another target, at which they are compared"
        )
    if question.columns.points is not None:
        raise PrcError(
            "decide() compares models by their examples, and published points have none; decide each "
            'model alone, or compare(other=prc(points, cells=...), match="recall") one with examples'
        )
    if question.eta.is_estimated:
        raise PrcError(
            "eta= is estimated with the scores of each model, so each would have a prevalence of its "
            "own; pass that of one model: month.estimate_prevalence(reference=..., score=...)"
        )
