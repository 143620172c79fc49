"""Values and names in words: `52% (45 to 58)`, `a, b and 4 more`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.ground.message_text import add_noun, join_words
from polars_prcurve.core.judging.candidate import Candidate
from polars_prcurve.core.judging.case_status import Case
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.judging.status_names import Outcome
from polars_prcurve.core.metrics.target_definitions import TARGET_KINDS
from polars_prcurve.view.verdicts.status_labels import STATUS_TABLE
from polars_prcurve.view.words.names_in_sentences import name_metric, name_value
from polars_prcurve.view.words.number_words import (
    are_rarely_right,
    find_magnitude,
    join_value,
    say_count,
    say_target,
    say_threshold,
    write_apart,
    write_percents,
)

NO_VALUE = "–"  # of what is undefined, or of a model that does not meet the targets
MOST_NAMES = 3  # names, at most, that a sentence lists, and values beside them
_MOST_DIGITS_OF_COUNT = 4  # of an expected number that is not whole, at most, as in `say_count`
_STANDINGS: Mapping[str, str] = {"worse": "worse", "open": "not significant", "better": "better"}
"""How a group compares with all others, in words."""
SHARES = {kind.metric.name for kind in TARGET_KINDS.values() if kind.value_kind == "share"}
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
    if metric_name not in SHARES:
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
    if name not in SHARES or estimate.span is None:
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


def list_metrics(goal: Goal) -> list[str]:
    """Return the columns that stand beside each other: what models are judged by, and the rest."""
    if goal.is_of_curve:
        return [goal.merit_column]
    columns = [goal.merit_column, *goal.columns_of_limits, "precision", "recall"]
    return [*dict.fromkeys(column for column in columns if column != "alerts"), "alerts"]
