"""Targets in words, and what a threshold does of them: `70% recall`, `stays within a budget`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.ground.message_text import add_noun, join_words
from polars_prcurve.core.judging.candidate import Candidate, find_open_target
from polars_prcurve.core.judging.case import Case
from polars_prcurve.core.judging.evidence_at_targets import LEAST_ALERTS
from polars_prcurve.core.judging.evidence_columns import EvidenceColumn
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS
from polars_prcurve.view.verdicts.value_phrases import name_model, write_value
from polars_prcurve.view.words.number_words import (
    format_level,
    say_cases,
    say_exactly,
    say_target,
    say_threshold,
)
from polars_prcurve.view.words.shown_names import name_metric, name_metric_of_target


def describe_thresholds(goal: Goal, *, is_plural: bool) -> str:
    """Return which thresholds the values are of: `thresholds for 70% recall`; empty if of all."""
    noun = "thresholds" if is_plural else "threshold"
    if goal.is_of_curve:
        return ""
    if goal.is_of_point:
        return "the point as given"
    if goal.maximized is not None:
        extreme_adjective = "highest" if goal.sign > 0 else "lowest"
        return f"{noun} for the {extreme_adjective} {name_metric(goal.maximized.name)}"
    if goal.is_at_threshold:
        threshold = goal.targets["threshold"]
        is_frame = isinstance(threshold, pl.DataFrame | pl.LazyFrame)
        threshold_text = "thresholds as passed" if is_frame else f"threshold {say_threshold(threshold)}"
        return f"{threshold_text}, chosen on other data" if goal.is_gate else threshold_text
    level_phrase = (
        "" if goal.guarantee is None else f", met with {format_level(goal.guarantee)} confidence"
    )
    return f"{noun} for {describe_targets(goal.targets, goal.per)}{level_phrase}"


def describe_comparison(goal: Goal) -> str:
    """Return where models are compared: ` at the same true recall`; empty if at no single target."""
    if goal.is_of_curve or goal.is_joint or goal.is_at_threshold or goal.maximized is not None:
        return ""
    [target_name] = goal.targets
    return f" at the same true {name_metric_of_target(target_name)}"


def describe_targets(targets: Mapping[str, Any], per: float | None) -> str:
    """Return targets as what a threshold meets: `50% recall and a budget of 6 alerts per 100 cases`."""
    return join_words(
        [describe_limit(target_name, limit, per) for target_name, limit in targets.items()]
    )


def name_targets(target_names: Collection[str]) -> str:
    """Return what targets are called together: `target` or `targets`."""
    return "target" if len(target_names) == 1 else "targets"


def describe_best(candidates: Sequence[Candidate]) -> str:
    """Return the best value that models reach of a target, among thresholds that meet the others.

    With a guarantee it is the best by the end of its interval, which decides. It is such as `with 70%
    recall the highest precision is 31% (27 to 36) for a`, and empty if unknown.
    """
    if (candidate_and_target := find_open_target(candidates)) is None:
        return ""
    best_candidate, target_name = candidate_and_target
    goal, best_column = best_candidate.goal, f"{EvidenceColumn.BEST}{target_name}"
    target_kind = TARGET_KINDS[target_name]
    extreme_adjective = "lowest" if target_kind.is_at_most else "highest"
    other_limits = {
        metric_name: limit for metric_name, limit in goal.limits.items() if metric_name != target_name
    }
    phrases = [describe_targets(other_limits, goal.per)] if other_limits else []
    if best_candidate.row.get(f"{EvidenceColumn.HAS_RARER}{target_name}"):
        phrases.append(f"at least {LEAST_ALERTS} flagged examples")
    condition_phrase = f"with {join_words(phrases)} " if phrases else ""
    owner_phrase = f" for {name_model(best_candidate)}" if len(candidates) > 1 else ""
    metric_name = name_metric_of_target(target_name)
    value_text = write_limited_value(best_candidate, target_name, best_column, goal.per or 1)
    if goal.guarantee is None:
        return f"{condition_phrase}the {extreme_adjective} {metric_name} is {value_text}{owner_phrase}"
    end_adjective = "upper" if target_kind.is_at_most else "lower"
    return (
        f"{condition_phrase}the {metric_name} with the {extreme_adjective} {end_adjective} limit "
        f"is {value_text}{owner_phrase}"
    )


def write_limited_value(candidate: Candidate, target_name: str, column: str, per: float) -> str:
    """Return a value that a target limits, of a column of rates: of alerts their number."""
    estimate, metric_name = candidate.read(column), TARGET_KINDS[target_name].metric.name
    if target_name == "alerts":
        low, high = estimate.span or (None, None)
        metric_name = target_name
        estimate = Estimate(*(end and end * per for end in (estimate.value, low, high)))
    limit = candidate.goal.all_limits[target_name]
    return write_value(metric_name, estimate, limit)


def describe_limit(target_name: str, limit: float, per: float | None) -> str:
    """Return a target as what a threshold meets."""
    if target_name == "alerts":
        return f"a budget of {add_noun(say_exactly(limit), 'alert')} {say_cases(per or 1)}"
    target_kind = TARGET_KINDS[target_name]
    limit_text = say_target(limit) if target_kind.value_kind == "share" else say_exactly(limit)
    if target_name in ("recall", "precision"):
        return f"{limit_text} {target_name}"
    bound_phrase = "at most" if target_kind.is_at_most else "at least"
    metric_name = name_metric(target_kind.metric.name)
    # As people read it: an FDR.
    article = "an" if re.match("[AEIOUFHLMNRSX](?=[A-Z]|$)|[aeiou]", metric_name) else "a"
    return f"{article} {metric_name} of {bound_phrase} {limit_text}"


def name_limited(target_name: str, value_text: str, case: Case) -> str:
    """Return what a target limits and its value: `recall 70%`, or `250 alerts per 10,000 cases`."""
    if target_name == "alerts":
        return f"{value_text} alerts {say_cases(case.per)}"
    return f"{name_metric(TARGET_KINDS[target_name].column)} {value_text}"
