"""Targets in words, and what a threshold does of them: `70% recall`, `stays within a budget`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.ground.message_text import add_noun, join_words
from polars_prcurve.core.judging.candidate import Candidate, find_open_target
from polars_prcurve.core.judging.case_status import Case
from polars_prcurve.core.judging.evidence import LEAST_ALERTS, EvidenceColumn
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.metrics.target_definitions import TARGET_KINDS
from polars_prcurve.view.verdicts.value_phrases import name_model, write_value
from polars_prcurve.view.words.names_in_sentences import name_metric, name_metric_of_target
from polars_prcurve.view.words.number_words import (
    format_level,
    say_cases,
    say_exactly,
    say_target,
    say_threshold,
)


def describe_thresholds(goal: Goal, *, is_plural: bool) -> str:
    """Return which thresholds the values are of: `thresholds for 70% recall`; empty if of all."""
    noun = "thresholds" if is_plural else "threshold"
    if goal.is_of_curve:
        return ""
    if goal.is_of_point:
        return "the point as given"
    if goal.maximized is not None:
        extreme = "highest" if goal.sign > 0 else "lowest"
        return f"{noun} for the {extreme} {name_metric(goal.maximized.name)}"
    if goal.is_at_threshold:
        threshold = goal.targets["threshold"]
        is_frame = isinstance(threshold, pl.DataFrame | pl.LazyFrame)
        text = "thresholds as passed" if is_frame else f"threshold {say_threshold(threshold)}"
        return f"{text}, chosen on other data" if goal.is_gate else text
    level = "" if goal.guarantee is None else f", met with {format_level(goal.guarantee)} confidence"
    return f"{noun} for {describe_targets(goal.targets, goal.per)}{level}"


def describe_comparison(goal: Goal) -> str:
    """Return where models are compared: ` at the same true recall`; empty if at no single target."""
    if goal.is_of_curve or goal.is_joint or goal.is_at_threshold or goal.maximized is not None:
        return ""
    [word] = goal.targets
    return f" at the same true {name_metric_of_target(word)}"


def describe_targets(targets: Mapping[str, Any], per: float | None) -> str:
    """Return targets as what a threshold meets: `50% recall and a budget of 6 alerts per 100 cases`."""
    return join_words([describe_limit(word, value, per) for word, value in targets.items()])


def name_targets(targets: Collection[str]) -> str:
    """Return what targets are called together: `target` or `targets`."""
    return "target" if len(targets) == 1 else "targets"


_VERBS = ("meets", "meet", "misses", "miss")  # what a threshold does of its targets
_BUDGET_VERBS = ("stays within", "stay within", "overruns", "overrun")  # what it does of a budget


def choose_verbs(words: Iterable[str]) -> dict[str, str]:
    """Return the verbs for targets by the usual ones: one stays within a budget, or overruns it."""
    is_budget = {*words} == {"alerts"}
    return dict(zip(_VERBS, _BUDGET_VERBS if is_budget else _VERBS, strict=True))


def describe_best(candidates: Sequence[Candidate]) -> str:
    """Return the best value that models reach of a target, among thresholds that meet the others.

    With a guarantee it is the best by the end of its interval, which decides. It is such as `with 70%
    recall the highest precision is 31% (27 to 36) for a`, and empty if unknown.
    """
    if (open_target := find_open_target(candidates)) is None:
        return ""
    best, word = open_target
    goal, column = best.goal, f"{EvidenceColumn.BEST}{word}"
    kind = TARGET_KINDS[word]
    extreme = "lowest" if kind.is_at_most else "highest"
    others = {name: limit for name, limit in goal.limits.items() if name != word}
    phrases = [describe_targets(others, goal.per)] if others else []
    if best.row.get(f"{EvidenceColumn.HAS_RARER}{word}"):
        phrases.append(f"at least {LEAST_ALERTS} flagged examples")
    opening = f"with {join_words(phrases)} " if phrases else ""
    owner = f" for {name_model(best)}" if len(candidates) > 1 else ""
    name, value = name_metric_of_target(word), write_limited_value(best, word, column, goal.per or 1)
    if goal.guarantee is None:
        return f"{opening}the {extreme} {name} is {value}{owner}"
    end = "upper" if kind.is_at_most else "lower"
    return f"{opening}the {name} with the {extreme} {end} limit is {value}{owner}"


def write_limited_value(candidate: Candidate, word: str, column: str, per: float) -> str:
    """Return a value that a target limits, of a column of rates: of alerts their number."""
    estimate, name = candidate.read(column), TARGET_KINDS[word].metric.name
    if word == "alerts":
        low, high = estimate.span or (None, None)
        name, estimate = word, Estimate(*(end and end * per for end in (estimate.value, low, high)))
    limit = candidate.goal.all_limits[word]
    return write_value(name, estimate, limit)


def describe_limit(word: str, value: float, per: float | None) -> str:
    """Return a target as what a threshold meets."""
    if word == "alerts":
        return f"a budget of {add_noun(say_exactly(value), 'alert')} {say_cases(per or 1)}"
    kind = TARGET_KINDS[word]
    value_text = say_target(value) if kind.value_kind == "share" else say_exactly(value)
    if word in ("recall", "precision"):
        return f"{value_text} {word}"
    bound_phrase = "at most" if kind.is_at_most else "at least"
    name = name_metric(kind.metric.name)
    article = "an" if re.match("[AEIOUFHLMNRSX](?=[A-Z]|$)|[aeiou]", name) else "a"  # as people read it
    return f"{article} {name} of {bound_phrase} {value_text}"


def name_limited(word: str, value: str, case: Case) -> str:
    """Return what a target limits and its value: `recall 70%`, or `250 alerts per 10,000 cases`."""
    if word == "alerts":
        return f"{value} alerts {say_cases(case.per)}"
    return f"{name_metric(TARGET_KINDS[word].column)} {value}"
