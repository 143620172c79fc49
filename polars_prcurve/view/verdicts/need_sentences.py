"""What would settle it, in words: how many more examples, for a difference that matters."""

from __future__ import annotations

from collections.abc import Sequence

from polars_prcurve.core.confidence.intervals import Estimate
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
    say_about,
    say_alerts_right,
    say_points,
)

_COUNT_CASES = "Most of that doubt is about the prevalence: count more cases where the model will run"
"""What to do where a prevalence is an estimate, and examples of the test would tell nothing of it."""
_GAP_IN_100 = say_points(RELEVANT_GAP)  # the difference that matters, as sentences say it


def say_need(case: JudgedCase, test_level: float) -> str:
    """Return what more data would tell, and how many positives that takes."""
    need = count_examples_needed(case, test_level)
    if case.status == "settled":
        return _say_narrower(case, need)
    if case.status == "not met":
        return _say_promise(case)
    if case.status == "no better than chance":
        return _say_hopeless(case)
    if case.status == "too little data":
        return _say_larger_test(case, need)
    if need is None:
        return ""
    unit_name = "alerts" if case.goal.merit_column == "precision" else "positives"
    condition_phrase = f"is found (4 times in 5) with {say_examples(need)}"
    if need.is_met:
        condition_phrase = "would have been found here (4 times in 5): what is left is smaller"
    return f"A difference of {_GAP_IN_100} in 100 {unit_name} {condition_phrase}"


def say_examples(need: SampleNeed) -> str:
    """Return how many examples it takes, and how many more that is: `about 400 positives, 80 more`."""
    return f"about {say_about(need.number)} {need.class_name}, {say_about(need.n_missing)} more"


def _say_hopeless(case: Case) -> str:
    """Return why more data will not help scores that are no better than chance."""
    if case.is_reversed:
        return "It takes the scores with the other sign"
    useful_alerts_phrase = say_alerts_right(case, Estimate(min(1.0, USEFUL_LIFT * (case.eta or 0.0))))
    return (
        f"More data will not help: {format_count(case.n_pos)} positives already rule out that "
        f"{useful_alerts_phrase}. Look for other features, or for an error in the labels"
    )


def _say_larger_test(case: Case, need: SampleNeed | None) -> str:
    """Return what a test takes to say anything."""
    if rests_on_eta(case):
        return _COUNT_CASES
    if need is not None:
        negatives_clause = ", and negatives in proportion" if need.class_name == "positives" else ""
        return (
            f"To know it to {_GAP_IN_100} in 100 either way takes {say_examples(need)}{negatives_clause}"
        )
    n_pos_found = case.qualifiers[0].row.get("tp") if case.qualifiers else None
    if n_pos_found is not None and min(case.n_pos, case.n_neg) >= LEAST_OF_CLASS:
        return f"It takes more positives within the targets than the {format_count(n_pos_found)} here"
    return f"It takes at least {LEAST_OF_CLASS} examples of each class, and mostly many more"


def say_group_need(cases: Sequence[JudgedCase], confidence: float) -> str:
    """Return how many positives a group takes to be told apart from the others, if some are not."""
    need = count_group_need(cases, confidence)
    if need is None:
        return ""
    if need.is_met:
        return f"A gap of {_GAP_IN_100} in 100 to the others would mostly have been found here"
    n_pos_text = format_count(need.n_tested)
    return (
        f"The group in the middle of those that are not told apart has {n_pos_text} positives. "
        f"A gap of {_GAP_IN_100} in 100 to the others is found (4 times in 5) with about "
        f"{say_about(need.number)} in a group"
    )


def _say_narrower(case: Case, need: SampleNeed | None) -> str:
    """Return how well the value of a settled model is known, and what it takes to know it better."""
    order_sentence = "More data will not change the order" if len(case.qualifiers) > 1 else ""
    half_width, is_of_eta = measure_half_width(case.rivals[:1]), rests_on_eta(case)
    if half_width is None or (need is None and not is_of_eta):
        return order_sentence
    subject_phrase = (
        "How many alerts are right" if case.goal.merit_column == "precision" else "What is found"
    )
    width_sentence = f"{subject_phrase} is known to {say_points(half_width)} in 100 either way"
    if not is_of_eta and need is not None and not need.is_met:
        width_sentence += f"; to know it to {say_points(WELL_KNOWN)} takes {say_examples(need)}"
    # A right alert among hundreds is not counted in 100: its interval says how well it is known.
    sentences = [
        order_sentence,
        "" if is_rarely_right(case) else width_sentence,
        _COUNT_CASES if is_of_eta else "",
    ]
    return ". ".join(filter(None, sentences))


def _say_promise(case: Case) -> str:
    """Return what it takes to keep the targets, or to promise that."""
    if "threshold" in case.goal.targets:
        return "It takes a lower threshold"
    need = find_promise_need(case)
    if need is None:
        larger_test_clause = ", a larger test" if case.goal.guarantee is not None else ""
        return f"It takes better scores{larger_test_clause}, or targets that ask for less"
    if need.number == float("inf"):
        return "No test could prove it"
    examples = f"{say_about(need.number)} {need.class_name}"
    if need.is_met:
        return (
            f"Perfect scores would need {examples}, which the test has: it takes better scores, or a "
            "larger test"
        )
    return f"Even perfect scores would need {examples} in the test"
