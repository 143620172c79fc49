"""Values and names in words: `52% (45 to 58)`, `a, b and 4 more`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.ground.message_text import add_noun, join_words
from polars_prcurve.core.judging.candidate import Candidate
from polars_prcurve.core.judging.case import Case
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.judging.status_names import Outcome
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS
from polars_prcurve.view.verdicts.status_labels import STATUS_TABLE
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
from polars_prcurve.view.words.shown_names import name_metric, name_value

NO_VALUE = "–"  # of what is undefined, or of a model that does not meet the targets
MOST_NAMES = 3  # names, at most, that a sentence lists, and values beside them
_MOST_DIGITS_OF_COUNT = 4  # of an expected number that is not whole, at most, as in `say_count`
_STANDINGS: Mapping[str, str] = {"worse": "worse", "open": "not significant", "better": "better"}
"""How a group compares with all others, in words."""
SHARES = {kind.metric.name for kind in TARGET_KINDS.values() if kind.value_kind == "share"}
"""The metrics that are written in per cent; others, such as areas, are plain numbers."""


# Values and intervals -----------------------------------------------------------------------------


def format_estimate(metric_name: str, estimate: Estimate, *other_numbers: float) -> tuple[str, str]:
    """Return a value, and its interval as `45 to 58` or empty; a share has its sign at the value.

    All have two digits, and more if two different numbers would read alike. `other_numbers`
    stand beside them, such as the limit of a target. What is undefined is a dash.
    """
    if estimate.value is None:
        return NO_VALUE, ""
    number_texts, percent_sign = _write_numbers(metric_name, estimate, *other_numbers)
    return number_texts[
        0
    ] + percent_sign, f"{number_texts[1]} to {number_texts[2]}" if estimate.span else ""


def format_ends(metric_name: str, estimate: Estimate) -> tuple[str, str]:
    """Return both ends of an interval, as they stand beside the value; each has its sign."""
    (_, low_text, high_text), percent_sign = _write_numbers(metric_name, estimate)
    return low_text + percent_sign, high_text + percent_sign


def _write_numbers(metric_name: str, estimate: Estimate, *other_numbers: float) -> tuple[list[str], str]:
    """Return a value, the ends of its interval and the others in digits, and the sign of all."""
    numbers = [float(estimate.value), *map(float, estimate.span or ()), *other_numbers]
    if metric_name not in SHARES:
        return write_apart(numbers), ""
    return write_percents(numbers), "%"


def write_value(metric_name: str, estimate: Estimate, *other_numbers: float) -> str:
    """Return a value and its interval: `52% (45 to 58)`."""
    return join_value(*format_estimate(metric_name, estimate, *other_numbers))


def write_threshold(candidate: Candidate) -> str:
    """Return the threshold of a model, rounded down, so that all that it flags stays flagged."""
    return say_threshold(candidate.row.get("threshold"))


def write_merit(candidate: Candidate) -> str:
    """Return the value by which a model is judged, and its interval."""
    return write_metric(candidate, candidate.goal.merit_column)


def write_metric(candidate: Candidate, metric_column: str) -> str:
    """Return a value of the row of a model, and its interval."""
    return join_value(*format_row_value(candidate, metric_column))


def format_row_value(candidate: Candidate, metric_column: str) -> tuple[str, str]:
    """Return a value of the row of a model, and its interval or an empty text."""
    limit_of_column, estimate = candidate.goal.limit_of_column, candidate.read(metric_column)
    other_limits = (
        [limit_of_column[metric_column]]
        if metric_column in limit_of_column
        else _find_hidden_targets(candidate.goal, metric_column, estimate)
    )
    return format_estimate(metric_column, estimate, *other_limits)


def _find_hidden_targets(goal: Goal, metric_column: str, estimate: Estimate) -> list[float]:
    """Return the target of a share that is within its interval, if an end of that would read as it."""
    metric_limits = [
        limit
        for target_name, limit in goal.limits.items()
        if TARGET_KINDS[target_name].column == metric_column
    ]
    if metric_column not in SHARES or estimate.span is None:
        return []
    low, high = estimate.span
    end_texts = format_ends(metric_column, estimate)
    return [limit for limit in metric_limits if low < limit < high and say_target(limit) in end_texts]


def format_size(size: float, *, is_rate: bool) -> str:
    """Return a difference, or half a width, in two digits: of rates in points."""
    if not is_rate:
        return write_apart([size])[0]
    return add_noun(f"{float(f'{100 * size:.2g}'):.10g}", "point")


def say_about(number: float) -> str:
    """Return a number in two digits, rounded up."""
    return say_count(round_up(number))


def round_up(number: float) -> float:
    """Return the next number of two digits."""
    rounding_unit = 10.0 ** max(math.floor(math.log10(max(number, 1))) - 1, 0)
    return math.ceil(number / rounding_unit - 1e-9) * rounding_unit


class PositivesOfBudget(NamedTuple):
    """How many of the positives among the cases of a budget a model finds and misses, in words."""

    total_text: str
    hits_text: str
    misses_text: str


def count_hits(case: Case, candidate: Candidate) -> PositivesOfBudget | None:
    """Return the positives of a budget of alerts; None without one, or at an estimated prevalence.

    They are expected numbers which add up to the total, that of both models that are shown.
    """
    recall, eta = candidate.read("recall").value, case.eta
    if "alerts" not in case.goal.all_limits or recall is None or case.has_estimated_eta or not eta:
        return None
    total = eta * case.per
    recalls = [leader.read("recall").value or 0.0 for leader in case.leaders]
    # The smallest of all parts has one digit, and the larger one of its model has two.
    parts = [sorted((total * share, total * (1 - share))) for share in (recall, *recalls)]
    n_decimals = max(max(-find_magnitude(low), 1 - find_magnitude(high)) for low, high in parts)
    n_decimals = max(min(n_decimals, _MOST_DIGITS_OF_COUNT - 1 - find_magnitude(total)), 0)
    total, n_hits = round(total, n_decimals), round(total * recall, n_decimals)
    count_texts = (f"{n_positives:,.{n_decimals}f}" for n_positives in (n_hits, total - n_hits))
    return PositivesOfBudget(f"{total:,.10g}", *count_texts)


# Icons ------------------------------------------------------------------------------------------


def is_rarely_right(case: Case) -> bool:
    """Return whether icons are the alerts that one true one takes: precision of all models is small."""
    precision_estimates = [candidate.precision for candidate in case.candidates]
    precision_estimates = [precision for precision in precision_estimates if precision.value is not None]
    interval_highs = [precision.high or 0.0 for precision in precision_estimates]
    return are_rarely_right(
        [float(precision.value) for precision in precision_estimates], interval_highs
    )


def describe_icons(precision: Estimate) -> str:
    """Return what icons show: `67% of alerts are true (54 to 78)`."""
    value_text, span_text = format_estimate("precision", precision)
    return join_value(f"{value_text} of alerts are true", span_text)


# Names ------------------------------------------------------------------------------------------


def name_model(candidate: Candidate) -> str:
    return name_value(candidate.model)


def list_model_names(candidates: Sequence[Candidate]) -> str:
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
    prefix = "best " if case.goal.maximized is not None else ""
    return f"{prefix}{name_metric(case.goal.merit_column)}"


def list_metrics(goal: Goal) -> list[str]:
    """Return the columns that stand beside each other: what models are judged by, and the rest."""
    if goal.is_of_curve:
        return [goal.merit_column]
    metric_columns = [goal.merit_column, *goal.columns_of_limits, "precision", "recall"]
    return [*dict.fromkeys(column for column in metric_columns if column != "alerts"), "alerts"]
