"""Values, targets and names in words: `52% (45 to 58)`, `70% recall`, `a, b and 4 more`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import polars as pl

from polars_prcurve.core.confidence.intervals import Estimate
from polars_prcurve.core.ground.safe_text import format_count, join_words
from polars_prcurve.core.judging.case_status import Candidate, Case
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.judging.status_names import Outcome
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS
from polars_prcurve.view.verdicts.status_table import STATUS_TABLE
from polars_prcurve.view.words.number_words import (
    RARELY_RIGHT,
    format_level,
    say_cases,
    say_count,
    say_share,
    say_threshold,
)
from polars_prcurve.view.words.value_names import name_metric, name_value

MOST_NAMES = 3  # names, at most, that a sentence lists, and values beside them
_MOST_DIGITS = 6  # significant digits, at most, of a value and the ends of its interval
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
        return "–", ""
    texts, unit = _write_numbers(metric_name, estimate, *others)
    return texts[0] + unit, f"{texts[1]} to {texts[2]}" if estimate.span else ""


def format_ends(metric_name: str, estimate: Estimate) -> tuple[str, str]:
    """Return both ends of an interval, as they stand beside the value; each has its sign."""
    (_, low_text, high_text), unit = _write_numbers(metric_name, estimate)
    return low_text + unit, high_text + unit


def _write_numbers(metric_name: str, estimate: Estimate, *others: float) -> tuple[list[str], str]:
    """Return a value, the ends of its interval and the others in digits, and the sign of all."""
    is_share = metric_name in _SHARES
    write = _write_percent if is_share else _write_count if metric_name == "alerts" else _write_number
    numbers = [float(estimate.value), *map(float, estimate.span or ()), *others]
    return _write_apart(numbers, write), "%" if is_share else ""


def join_value(value_text: str, span_text: str) -> str:
    """Return a value with its interval in brackets behind it."""
    return f"{value_text} ({span_text})" if span_text else value_text


def write_value(metric_name: str, estimate: Estimate, *others: float) -> str:
    """Return a value and its interval: `52% (45 to 58)`."""
    return join_value(*format_value(metric_name, estimate, *others))


def write_merit(candidate: Candidate) -> str:
    """Return the value by which a model is judged, and its interval."""
    return write_metric(candidate, candidate.goal.merit_column)


def write_metric(candidate: Candidate, name: str) -> str:
    """Return a value of the row of a model, and its interval."""
    return join_value(*format_metric(candidate, name))


def format_metric(candidate: Candidate, name: str) -> tuple[str, str]:
    """Return a value of the row of a model, and its interval or an empty text."""
    limits = candidate.goal.limit_of_column
    return format_value(name, candidate.read(name), *([limits[name]] if name in limits else []))


def _write_apart(numbers: Sequence[float], write: Callable[[float, int], str]) -> list[str]:
    """Return the numbers in as few digits, two or more, as distinguish those that differ."""
    texts: list[str] = []
    n_different = len({f"{number:.9g}" for number in numbers})
    for n_digits in range(2, _MOST_DIGITS + 1):
        texts = [write(number, n_digits) for number in numbers]
        if len(set(texts)) >= n_different:
            break
    return texts


def _write_percent(share: float, n_digits: int) -> str:
    """Return a share in per cent without the sign; one below 1 never reads as 100."""
    percent = 100 * share
    if not 0 < percent < 100:
        return f"{percent:g}"
    if percent <= 95:
        return f"{Decimal(f'{percent:#.{n_digits}g}'):f}"
    n_decimals = n_digits - 2 - math.floor(math.log10(100 - percent))  # what counts there is the rest
    text = f"{percent:.{max(n_decimals, n_digits - 2)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _write_number(value: float, n_digits: int) -> str:
    """Return a value of a metric, such as an area."""
    return f"{value:#.{n_digits}g}".rstrip(".")


def _write_count(number: float, n_digits: int) -> str:
    """Return an expected number: `380`, `13,000`, `0.42`."""
    return say_count(float(f"{number:.{n_digits}g}"), 6)


def say_points(share: float) -> str:
    """Return a difference of shares in points, in two digits."""
    return f"{float(f'{100 * share:.2g}'):.10g}"


def say_about(number: float) -> str:
    """Return a number in two digits, rounded up."""
    rounding_unit = 10.0 ** max(math.floor(math.log10(max(number, 1))) - 1, 0)
    return say_count(math.ceil(number / rounding_unit - 1e-9) * rounding_unit)


# Icons ------------------------------------------------------------------------------------------


def is_rarely_right(case: Case) -> bool:
    """Return whether icons are the alerts that one true one takes: precision of all models is small."""
    precisions = [candidate.precision for candidate in case.candidates]
    precisions = [precision for precision in precisions if precision.value is not None]
    highest_value = max((float(precision.value) for precision in precisions), default=0.0)
    return 0 < highest_value < RARELY_RIGHT and all(
        (precision.high or 0.0) <= 0.5 for precision in precisions
    )


def describe_icons(precision: Estimate) -> str:
    """Return what icons show: `67% of alerts are true (54 to 78)`."""
    value_text, span_text = format_value("precision", precision)
    return join_value(f"{value_text} of alerts are true", span_text)


# Names ------------------------------------------------------------------------------------------


def start_sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


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
        return "the point as published"
    if goal.maximized is not None:
        return f"{noun} for the highest {name_metric(goal.maximized.name)}"
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
    name = "number of alerts" if word == "alerts" else name_metric(TARGET_KINDS[word].metric.name)
    return f" at the same true {name}"


def list_metrics(goal: Goal) -> list[str]:
    """Return the columns that stand beside each other: what models are judged by, and the rest."""
    if goal.is_of_curve:
        return [goal.merit_column]
    columns = [goal.merit_column, *goal.limit_of_column, "precision", "recall"]
    return [*dict.fromkeys(column for column in columns if column != "alerts"), "alerts"]


def choose_drawn_column(goal: Goal) -> str:
    """Return the column that a picture of cases has: the first share that is demanded, or the merit."""
    return next(iter(find_drawn_limits(goal)), goal.merit_column)


def find_drawn_limits(goal: Goal) -> dict[str, float]:
    """Return the limits of shares that are demanded of a threshold, by their columns."""
    return {column: limit for column, limit in goal.limit_of_column.items() if column in _SHARES}


def describe_targets(targets: Mapping[str, Any], per: float | None) -> str:
    """Return targets as what a threshold meets: `50% recall and at most 600 alerts per 1,000 cases`."""
    return join_words([describe_limit(word, value, per) for word, value in targets.items()])


def describe_limit(word: str, value: float, per: float | None) -> str:
    """Return a target as what a threshold meets."""
    if word == "alerts":
        return f"at most {say_count(value)} alerts {say_cases(per or 1)}"
    kind = TARGET_KINDS[word]
    value_text = say_share(value) if kind.values == "share" else format_count(value)
    if word in ("recall", "precision"):
        return f"{value_text} {word}"
    bound_phrase = "at most" if kind.is_at_most else "at least"
    name = name_metric(kind.metric.name)
    article = "an" if re.match("[AEIOUFHLMNRSX](?=[A-Z]|$)|[aeiou]", name) else "a"  # as people read it
    return f"{article} {name} of {bound_phrase} {value_text}"


def name_limited(word: str, case: Case) -> str:
    """Return the name of what a target limits."""
    return (
        f"alerts {say_cases(case.per)}" if word == "alerts" else name_metric(TARGET_KINDS[word].column)
    )
