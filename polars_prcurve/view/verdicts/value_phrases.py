"""Values, targets and names in words: `52% (45 to 58)`, `70% recall`, `a, b and 4 more`."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.ground.message_text import add_noun, join_words
from polars_prcurve.core.judging.case_status import Candidate, Case, find_open_target
from polars_prcurve.core.judging.evidence import LEAST_ALERTS, EvidenceColumn
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.judging.status_names import Outcome
from polars_prcurve.core.metrics.target_definitions import TARGET_KINDS
from polars_prcurve.view.verdicts.status_labels import STATUS_TABLE
from polars_prcurve.view.words.names_in_sentences import name_metric, name_metric_of_target, name_value
from polars_prcurve.view.words.number_words import (
    are_rarely_right,
    find_magnitude,
    format_level,
    join_value,
    say_cases,
    say_count,
    say_exactly,
    say_target,
    say_threshold,
    write_apart,
    write_percents,
)

NO_VALUE = "–"  # of what is undefined, or of a model that does not meet the targets
MOST_NAMES = 3  # names, at most, that a sentence lists, and values beside them
_MOST_DIGITS_OF_COUNT = 4  # of an expected number that is not whole, at most, as in `say_count`
_STANDINGS: Mapping[str, str] = {
    "worse": "worse",
    "open": "not significant",
    "better": "better",
}
"""How a group compares with all others, in words."""
_SHARES = {kind.metric.name for kind in TARGET_KINDS.values() if kind.values == "share"}
"""The metrics that are written in per cent; others, such as areas, are plain numbers."""


# Values and intervals -----------------------------------------------------------------------------


def format_value(metric_name: str, estimate: Estimate, *others: float) -> tuple[str, str]:
    """Return a value, and its interval as `45 to 58` or empty; a share has its sign at the value.

    All have two digits, and more if two different numbers would read alike. `others` are numbers that
    stand beside them, such as the limit of a target. What is undefined is a dash.
    """
    if estimate.value is None:
        return NO_VALUE, ""
    texts, unit = _write_numbers(metric_name, estimate, *others)
    return texts[0] + unit, f"{texts[1]} to {texts[2]}" if estimate.span else ""


def format_ends(metric_name: str, estimate: Estimate) -> tuple[str, str]:
    """Return both ends of an interval, as they stand beside the value; each has its sign."""
    (_, low_text, high_text), unit = _write_numbers(metric_name, estimate)
    return low_text + unit, high_text + unit


def _write_numbers(metric_name: str, estimate: Estimate, *others: float) -> tuple[list[str], str]:
    """Return a value, the ends of its interval and the others in digits, and the sign of all."""
    numbers = [float(estimate.value), *map(float, estimate.span or ()), *others]
    if metric_name not in _SHARES:
        return write_apart(numbers), ""
    return write_percents(numbers), "%"


def write_value(metric_name: str, estimate: Estimate, *others: float) -> str:
    """Return a value and its interval: `52% (45 to 58)`."""
    return join_value(*format_value(metric_name, estimate, *others))


def write_threshold(candidate: Candidate) -> str:
    """Return the threshold of a model, rounded down, so that all that it flags stays flagged."""
    return say_threshold(candidate.row.get("threshold"))


def write_merit(candidate: Candidate) -> str:
    """Return the value by which a model is judged, and its interval."""
    return write_metric(candidate, candidate.goal.merit_column)


def write_metric(candidate: Candidate, name: str) -> str:
    """Return a value of the row of a model, and its interval."""
    return join_value(*format_metric(candidate, name))


def format_metric(candidate: Candidate, name: str) -> tuple[str, str]:
    """Return a value of the row of a model, and its interval or an empty text."""
    limits, estimate = candidate.goal.limit_of_column, candidate.read(name)
    others = [limits[name]] if name in limits else _find_hidden_targets(candidate.goal, name, estimate)
    return format_value(name, estimate, *others)


def _find_hidden_targets(goal: Goal, name: str, estimate: Estimate) -> list[float]:
    """Return the target of a share that is within its interval, if an end of that would read as it."""
    targets = [limit for word, limit in goal.limits.items() if TARGET_KINDS[word].column == name]
    if name not in _SHARES or estimate.span is None:
        return []
    low, high = estimate.span
    ends = format_ends(name, estimate)
    return [target for target in targets if low < target < high and say_target(target) in ends]


def format_size(size: float, *, is_rate: bool, has_unit: bool = True) -> str:
    """Return a difference, or half a width, in two digits: of rates in points."""
    if not is_rate:
        return write_apart([size])[0]
    text = f"{float(f'{100 * size:.2g}'):.10g}"
    return add_noun(text, "point") if has_unit else text


def say_about(number: float) -> str:
    """Return a number in two digits, rounded up."""
    return say_count(round_up(number))


def round_up(number: float) -> float:
    """Return the next number of two digits."""
    rounding_unit = 10.0 ** max(math.floor(math.log10(max(number, 1))) - 1, 0)
    return math.ceil(number / rounding_unit - 1e-9) * rounding_unit


class PositivesOfBudget(NamedTuple):
    """How many of the positives among the cases of a budget a model finds and misses, in words."""

    total: str
    hits: str
    misses: str


def count_hits(case: Case, candidate: Candidate) -> PositivesOfBudget | None:
    """Return the positives of a budget of alerts; None without one, or at an estimated prevalence.

    They are expected numbers which add up to the total, that of both models that are shown.
    """
    recall, eta = candidate.read("recall").value, case.eta
    if "alerts" not in case.goal.all_limits or recall is None or case.has_estimated_eta or not eta:
        return None
    total = eta * case.per
    n_decimals, *others = (
        _count_decimals(total, model.read("recall").value or 0.0) for model in (candidate, *case.leaders)
    )
    if round(total, max(others)) != round(total, n_decimals):
        n_decimals = max(others)
    total, hits = round(total, n_decimals), round(total * recall, n_decimals)
    texts = (f"{number:,.{n_decimals}f}" for number in (hits, total - hits))
    return PositivesOfBudget(f"{total:,.10g}", *texts)


def _count_decimals(total: float, recall: float) -> int:
    """Return as few decimals as leave two digits of the larger part of a total and one of the other."""
    smaller, larger = map(find_magnitude, sorted((total * recall, total * (1 - recall))))
    most_decimals = _MOST_DIGITS_OF_COUNT - 1 - find_magnitude(total)
    return max(min(max(1 - larger, -smaller), most_decimals), 0)


# Icons ------------------------------------------------------------------------------------------


def is_rarely_right(case: Case) -> bool:
    """Return whether icons are the alerts that one true one takes: precision of all models is small."""
    precisions = [candidate.precision for candidate in case.candidates]
    precisions = [precision for precision in precisions if precision.value is not None]
    highs = [precision.high or 0.0 for precision in precisions]
    return are_rarely_right([float(precision.value) for precision in precisions], highs)


def describe_icons(precision: Estimate) -> str:
    """Return what icons show: `67% of alerts are true (54 to 78)`."""
    value_text, span_text = format_value("precision", precision)
    return join_value(f"{value_text} of alerts are true", span_text)


# Names ------------------------------------------------------------------------------------------


def name_model(candidate: Candidate) -> str:
    return name_value(candidate.model)


def list_names(candidates: Sequence[Candidate]) -> str:
    """Return the names of models in a sentence; of many, the first ones and how many more."""
    return list_texts([name_model(candidate) for candidate in candidates])


def list_texts(names: Sequence[str]) -> str:
    """Return names as a list in a sentence; of many, the first and how many more: never `1 more`."""
    if len(names) > MOST_NAMES + 1:
        names = [*names[:MOST_NAMES], f"{len(names) - MOST_NAMES} more"]
    return join_words(names)


def name_outcome(outcome: Outcome) -> str:
    """Return the result of a case in two or three words."""
    return _STANDINGS[outcome] if outcome in _STANDINGS else STATUS_TABLE[outcome].label  # type: ignore[index]


def name_merit(case: Case) -> str:
    """Return the name of the metric by which models are judged."""
    best_prefix = "best " if case.goal.maximized is not None else ""
    return f"{best_prefix}{name_metric(case.goal.merit_column)}"


# What is wanted ---------------------------------------------------------------------------------


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


def list_metrics(goal: Goal) -> list[str]:
    """Return the columns that stand beside each other: what models are judged by, and the rest."""
    if goal.is_of_curve:
        return [goal.merit_column]
    columns = [goal.merit_column, *goal.columns_of_limits, "precision", "recall"]
    return [*dict.fromkeys(column for column in columns if column != "alerts"), "alerts"]


def choose_drawn_column(goal: Goal) -> str:
    """Return the column that a picture of cases has: the first share that is demanded, or the merit."""
    return next(iter(find_drawn_limits(goal)), goal.merit_column)


def find_drawn_limits(goal: Goal) -> dict[str, float]:
    """Return the limits of shares that are demanded of a threshold, by their columns."""
    return {column: limit for column, limit in goal.limit_of_column.items() if column in _SHARES}


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
    name, value = name_metric_of_target(word), write_limited(best, word, column, goal.per or 1)
    if goal.guarantee is None:
        return f"{opening}the {extreme} {name} is {value}{owner}"
    end = "upper" if kind.is_at_most else "lower"
    return f"{opening}the {name} with the {extreme} {end} limit is {value}{owner}"


def write_limited(candidate: Candidate, word: str, column: str, per: float) -> str:
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
    value_text = say_target(value) if kind.values == "share" else say_exactly(value)
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
