"""What would settle it, in words: how many more examples, for a difference that matters."""

from __future__ import annotations

from collections.abc import Sequence

from polars_prcurve.core.ground.safe_text import format_count
from polars_prcurve.core.judging.case_status import LEAST_OF_CLASS, USEFUL_LIFT, Case, JudgedCase
from polars_prcurve.core.judging.sample_needs import (
    RELEVANT_GAP,
    WELL_KNOWN,
    SampleNeed,
    count_examples_needed,
    count_group_need,
    find_promise_need,
    measure_half_width,
    rests_on_eta,
)
from polars_prcurve.view.verdicts.value_phrases import (
    is_rarely_right,
    name_merit,
    say_about,
    say_points,
    start_sentence,
)
from polars_prcurve.view.words.number_words import say_share

_COUNT_CASES = "Most of that uncertainty is of the prevalence: count more cases where the model will run"
"""What to do where a prevalence is an estimate, and more examples in the test set would not help."""
_GAP = say_points(RELEVANT_GAP)  # the difference that matters, as sentences say it


def say_need(case: JudgedCase, test_level: float) -> str:
    """Return what more data would show, and how many examples that takes."""
    need = count_examples_needed(case, test_level)
    if case.status in ("winner", "met", "measured"):
        return _say_narrower(case, need)
    if case.status == "not_met" or (case.status == "unsure" and not case.goal.is_gate):
        return _say_promise(case)
    if case.status == "chance":
        return _say_hopeless(case)
    if case.status in ("too_little_data", "unsure"):
        return _say_larger_test(case, need)
    if need is None or need.is_met:
        return ""
    return (
        f"To detect a difference of {_GAP} points with 80% power you need {say_examples(need)}, and "
        "negatives in the same ratio"
    )


def say_examples(need: SampleNeed) -> str:
    """Return how many examples it takes, and how many more that is: `about 400 positives (80 more)`."""
    return f"about {say_about(need.number)} {need.class_name} ({say_about(need.n_missing)} more)"


def _say_hopeless(case: Case) -> str:
    """Return why more data will not help scores that are no better than chance."""
    if case.is_reversed:
        return "Pass the scores with the other sign"
    useful = say_share(min(1.0, USEFUL_LIFT * (case.eta or 0.0)))
    return (
        f"More data will not help: {format_count(case.n_pos)} positives rule out a precision above "
        f"{useful}. Check the features and the labels"
    )


def _say_larger_test(case: Case, need: SampleNeed | None) -> str:
    """Return what a test takes to say anything."""
    if rests_on_eta(case):
        return _COUNT_CASES
    if need is not None:
        negatives_clause = ", and negatives in the same ratio" if need.class_name == "positives" else ""
        return f"For ±{_GAP} points you need {say_examples(need)}{negatives_clause}"
    n_pos_found = case.qualifiers[0].row.get("tp") if case.qualifiers else None
    if n_pos_found is not None and min(case.n_pos, case.n_neg) >= LEAST_OF_CLASS:
        return f"The targets need more true positives than the {format_count(n_pos_found)} here"
    return f"At least {LEAST_OF_CLASS} examples of each class are needed, and usually many more"


def say_group_need(cases: Sequence[JudgedCase], confidence: float) -> str:
    """Return how many positives a group takes to be told apart from the others, if some are not."""
    need = count_group_need(cases, confidence)
    if need is None:
        return ""
    if need.is_met:
        return ""
    return (
        f"To detect a difference of {_GAP} points to the others with 80% power, a group needs about "
        f"{say_about(need.number)} positives; the middle one of those that do not differ has "
        f"{format_count(need.n_tested)}"
    )


def _say_narrower(case: Case, need: SampleNeed | None) -> str:
    """Return how wide the interval of the only or best model is, and what it takes to narrow it."""
    order_sentence = "More data will not change the winner" if len(case.qualifiers) > 1 else ""
    half_width, is_of_eta = measure_half_width(case.rivals[:1]), rests_on_eta(case)
    if half_width is None or (need is None and not is_of_eta):
        return order_sentence
    metric_name = start_sentence(name_merit(case))
    width_sentence = f"{metric_name} is known to ±{say_points(half_width)} points"
    if not is_of_eta and need is not None and not need.is_met:
        width_sentence += f". For ±{say_points(WELL_KNOWN)} points you need {say_examples(need)}"
    sentences = [
        order_sentence,
        "" if is_rarely_right(case) else width_sentence,
        _COUNT_CASES if is_of_eta else "",
    ]
    return ". ".join(filter(None, sentences))


def _say_promise(case: Case) -> str:
    """Return what it takes to meet the targets, or to guarantee that."""
    if case.goal.is_at_threshold or case.goal.is_of_point:
        return "" if case.qualifiers else "Pass a lower threshold"
    need = find_promise_need(case)
    if need is None:
        return "Better scores are needed, or targets that ask for less"
    if need.number == float("inf"):
        return "No test set could give this guarantee"
    examples = f"about {say_about(need.number)} {need.class_name}"
    if need.is_met:
        return (
            f"A perfect classifier needs {examples}, which the test set has: better scores are needed, "
            "or a larger test set"
        )
    return f"Even a perfect classifier needs {examples} in the test set for this guarantee"
