"""Values of a decision in words: how many of 100 alerts are right, and how many examples it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from polars_prcurve.core.confidence.intervals import Estimate
from polars_prcurve.core.ground.safe_text import format_count
from polars_prcurve.core.judging.case_status import Candidate, Case
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.judging.status_names import Outcome
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS, TargetKind
from polars_prcurve.view.words.number_words import (
    RARELY_RIGHT,
    say_cases,
    say_count,
    say_estimate,
    say_eta,
    say_part,
    say_share,
)
from polars_prcurve.view.words.value_names import join_words, name_metric, name_value

MOST_NAMES = 4  # names of models, at most, that a sentence lists, and values beside them
NO_THRESHOLD = "no threshold within the targets"  # what is said of a model that keeps no target
_STANDINGS: Mapping[str, str] = {
    "worse": "worse than the others",
    "open": "not told apart",
    "better": "better than the others",
}
"""How a group stands beside all others, in words; a status is a word itself."""


def is_rarely_right(case: Case) -> bool:
    """Return whether all values of precision are said as `1 in 83` in a case: all models' are small."""
    precisions = [candidate.precision for candidate in case.candidates]
    precisions = [precision for precision in precisions if precision.value is not None]
    highest_value = max((float(precision.value) for precision in precisions), default=0.0)
    return 0 < highest_value < RARELY_RIGHT and all(
        (precision.high or 0.0) <= 0.5 for precision in precisions
    )


def say_right(shares: Sequence[float], *, is_rare: bool | None = None) -> list[str]:
    """Return how many of 100 alerts are right, or of how many alerts one is, in one unit for all.

    `is_rare` is that of their case: a number has one form wherever it stands.
    """
    if max(shares) < RARELY_RIGHT if is_rare is None else is_rare:
        return [say_eta(share) if share > 0 else "none" for share in shares]
    return [
        say_points(share) if share < 0.001 else say_share(share).removesuffix("%") for share in shares
    ]


def say_precision(case: Case, precision: Estimate) -> tuple[str, str]:
    """Return how many alerts are right, and the interval or an empty text, in the form of the case."""
    value_text, *end_texts = say_right(
        [precision.value, *(precision.span or ())], is_rare=is_rarely_right(case)
    )
    return value_text, " to ".join(end_texts)


def say_alerts_right(case: Case, precision: Estimate) -> str:
    """Return `67 of 100 alerts are right (54 to 78)` or `1 in 83 alerts is right`."""
    value_text, span_text = say_precision(case, precision)
    return join_within(f"{value_text} {end_precision(case)}", span_text)


def say_merit(candidate: Candidate) -> tuple[str, str]:
    """Return the value by which a model is judged, and its interval, in two digits."""
    estimate = candidate.merit
    return say_within(Estimate(candidate.value, estimate.low, estimate.high), say_two_digits)


def say_of_100(candidate: Candidate) -> tuple[str, str]:
    """Return how many of 100 alerts of a model are right, and the interval, each in two digits."""
    return say_within(candidate.precision, lambda share: say_right([share], is_rare=False)[0])


def say_alerts(candidate: Candidate) -> tuple[str, str]:
    """Return how many alerts a model gives, and the interval: `380`, `13,000`, `0.42`."""
    return say_within(candidate.read("alerts"), lambda number: say_count(float(f"{number:.2g}")))


def say_found(candidate: Candidate) -> tuple[str, str]:
    """Return how many positives a model finds, and the interval, unless that is what was asked for."""
    recall_estimate = candidate.read("recall")
    is_recall_target = set(candidate.goal.targets) == {"recall"}
    return say_estimate(
        recall_estimate.value,
        *((None, None) if is_recall_target else (recall_estimate.low, recall_estimate.high)),
    )


def end_precision(case: Case) -> str:
    """Return how a sentence goes on behind a number of right alerts."""
    return "alerts is right" if is_rarely_right(case) else "of 100 alerts are right"


def name_precision(case: Case) -> str:
    """Return what stands beside a number of right alerts."""
    return "alerts right" if is_rarely_right(case) else "of 100 alerts right"


def say_points(share: float) -> str:
    """Return a share as a number in 100, in two digits."""
    return f"{float(f'{100 * share:.2g}'):.10g}"


def say_two_digits(value: float) -> str:
    """Return a value of a metric in two significant digits."""
    return f"{value:#.2g}".rstrip(".")


def say_within(estimate: Estimate, say: Callable[[Any], str]) -> tuple[str, str]:
    """Return a value, and its interval as `54 to 78` or empty."""
    value_text, *end_texts = map(say, [estimate.value, *(estimate.span or ())])
    return value_text, " to ".join(end_texts)


def join_within(value_text: str, span_text: str) -> str:
    """Return a value with its interval in brackets behind it."""
    return f"{value_text} ({span_text})" if span_text else value_text


def say_about(number: float) -> str:
    """Return a number in two digits, rounded up."""
    rounding_unit = 10.0 ** max(math.floor(math.log10(max(number, 1))) - 1, 0)
    return say_count(math.ceil(number / rounding_unit - 1e-9) * rounding_unit)


def start_sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def name_model(candidate: Candidate) -> str:
    return name_value(candidate.model)


def list_names(candidates: Sequence[Candidate]) -> str:
    """Return the names of models in a sentence; of many, the first ones and how many more."""
    model_names = [name_model(candidate) for candidate in candidates]
    if len(model_names) > MOST_NAMES:
        model_names = [*model_names[: MOST_NAMES - 1], f"{len(model_names) - MOST_NAMES + 1} others"]
    return join_words(model_names)


def name_outcome(outcome: Outcome) -> str:
    """Return what is known of a case in two or three words."""
    return _STANDINGS.get(outcome, outcome)


# What is wanted ---------------------------------------------------------------------------------


def describe_goal(goal: Goal) -> str:
    """Return what is wanted as the end of a sentence: `to find half of the positives`."""
    if goal.is_of_curve:
        return "at any score"
    if goal.is_of_point:
        return "at the point given"
    if goal.maximized is not None:
        return f"at the best {name_metric(goal.maximized.name)}"
    if "threshold" in goal.targets:
        return "at the threshold given"
    value_of_target = dict(goal.targets)
    recall = value_of_target.pop("recall", None)
    phrases = [] if recall is None else [f"to find {say_part(recall)} of the positives"]
    if limit_phrases := [
        describe_limit(word, value, goal.per) for word, value in value_of_target.items()
    ]:
        phrases.append(f"with {join_words(limit_phrases)}")
    return " ".join(phrases)


def describe_limit(word: str, value: Any, per: float | None) -> str:
    """Return a target as what a threshold has to keep: `at most 600 alerts per million cases`."""
    if word == "alerts":
        return f"at most {say_count(value)} alerts {say_cases(per or 1)}"
    if word == "maximize":
        return f"the best {name_metric(value)}"
    if word == "lift":
        return f"alerts right {format_count(value)} times as often as by lot"
    share_text = say_share(value)
    phrase_of_word = {
        "recall": f"{say_part(value)} of the positives found",
        "precision": f"at least {share_text} of the alerts right",
        "fdr": f"at most {share_text} of the alerts false",
        "fpr": f"at most {share_text} of the negatives flagged",
        "npv": f"at least {share_text} of the rest negative",
        "predicted_positive_rate": f"at most {share_text} of all cases flagged",
    }
    return phrase_of_word.get(word) or _describe_limit_of_metric(TARGET_KINDS[word], value)


def _describe_limit_of_metric(kind: TargetKind, value: float) -> str:
    """Return a target of which nothing is said but the name of its metric."""
    value_text = say_share(value) if kind.values == "share" else format_count(value)
    bound_phrase = "at most" if kind.is_at_most else "at least"
    return f"the {name_metric(kind.metric.name)} {bound_phrase} {value_text}"
