"""What would settle it, in words: how many more examples, for a difference that matters."""

from __future__ import annotations

from collections.abc import Sequence

from polars_prcurve.core.confidence.doubts import DOUBT, EQUAL_SCORES
from polars_prcurve.core.ground.message_text import format_count, join_words
from polars_prcurve.core.judging.case_status import LEAST_OF_CLASS, Case
from polars_prcurve.core.judging.evidence import EvidenceColumn
from polars_prcurve.core.judging.sample_needs import (
    POWER,
    RELEVANT_GAP,
    ClassNeed,
    SampleNeed,
    count_examples_needed,
    count_group_need,
    find_promise_needs,
    find_short_class,
    is_out_of_reach,
    measure_half_width,
    rests_on_eta,
)
from polars_prcurve.core.metrics.target_definitions import TARGET_KINDS
from polars_prcurve.view.verdicts.target_phrases import name_limited, name_targets, write_limited_value
from polars_prcurve.view.verdicts.value_phrases import (
    format_size,
    name_merit,
    name_model,
    round_up,
    say_about,
)
from polars_prcurve.view.words.number_words import say_share, say_threshold

_COUNT_CASES = (
    "Most of that uncertainty comes from the prevalence: count more cases where the model will run"
)
"""What to do where a prevalence is an estimate, and more examples in the test set would not help."""
_POWER_TEXT = say_share(POWER)  # of the sizes that are named


def say_need(case: Case, test_level: float) -> str:
    """Return what more data would show, and how many examples that takes."""
    need = count_examples_needed(case, test_level)
    lacks_test = case.goal.guarantee is not None or case.lacks_threshold
    if case.status in ("winner", "met", "measured"):
        text = _say_narrower(case, need)
    elif case.status == "not_met" or (case.status == "unsure" and lacks_test):
        text = _say_promise(case)
    elif case.status == "chance":
        text = _say_hopeless(case)
    elif case.has_equal_rivals and len(case.rivals) == 2:  # more examples show no difference either
        text = ""
    elif case.doubt_of_lead == EQUAL_SCORES:
        text = "Finer scores would help; more cases with these scores may not"
    else:
        text = _say_no_size(case) if need is None else _say_sizes(case, need)
    return text


def _say_sizes(case: Case, need: SampleNeed) -> str:
    """Return how many examples it takes, and what they would show."""
    if need.is_met:
        return _say_enough(case)
    aim = f"For ±{_format_difference(case, need.size)}"
    if case.status == "no_winner":
        aim = f"To detect a difference of {_format_difference(case, need.size)} with {_POWER_TEXT} power"
    elif case.status == "unsure":
        targets = name_targets(case.goal.demand or case.goal.limits)
        subject = "it" if case.goal.is_gate else "a threshold"
        aim = f"To decide whether {subject} meets the {targets}, with {_POWER_TEXT} power,"
    return f"{aim} you need {format_sizes(need)}"


def format_sizes(need: SampleNeed) -> str:
    """Return how many examples it takes, and how many more: `about 400 positives (80 more)`."""
    phrases = [
        f"{say_about(size.n_needed)} {size.class_name} ({_format_missing(size)})"
        for size in need.classes
    ]
    return f"{'at least' if need.is_least else 'about'} {join_words(phrases)}"


def _format_missing(size: ClassNeed) -> str:
    """Return how many examples are missing to the number in words; if nearly all, how many there are."""
    if size.is_met:
        return "as now"
    n_needed = round_up(size.n_needed)
    if size.n_tested < n_needed / 100:
        return f"the test set has {format_count(size.n_tested)}"
    return f"{format_count(n_needed - size.n_tested)} more"


def _format_difference(case: Case, difference: float) -> str:
    """Return a difference, or half a width, of what models are judged by."""
    is_at_half = case.status == "too_little_data" and not case.goal.mean_over
    is_rate = case.goal.is_of_rate or is_at_half
    text = format_size(difference, is_rate=is_rate)
    return text if is_rate else f"{text} in {name_merit(case)}"


def _say_no_size(case: Case) -> str:
    """Return why no size can be named that would settle a case."""
    if advice := _say_other_cause(case):
        return advice
    if min(case.sizes.values()) < LEAST_OF_CLASS:
        noun = next(iter(case.sizes)) if case.goal.mean_over else "examples of each class"
        # Folds of one table, or the classes that there are, are no sample of others.
        rest = (
            f"; if there are no others, decide without a mean over {noun}" if case.goal.mean_over else ""
        )
        return f"At least {LEAST_OF_CLASS} {noun} are needed, and usually many more{rest}"
    if is_out_of_reach(case):
        n_hits = format_count(case.n_hits)
        return f"Only {n_hits} true positives at the targets: too few to estimate the size needed"
    if case.status == "unsure":
        return "The value is so close to the target that no test set of a realistic size could settle it"
    if case.status == "too_little_data":
        n_examples, class_name = find_short_class(case)
        return f"{format_count(n_examples)} {class_name} are too few to estimate the size needed"
    return ""


def _say_other_cause(case: Case) -> str:
    """Return what to do where more examples would not help; empty if they may."""
    if case.overweight_class is not None:
        return f"Check the weights: a few {case.overweight_class} have nearly all the weight"
    if case.lacks_scores and min(case.sizes.values()) > 0:  # a group of one class has none either
        return "Pass a column of scores"
    return _COUNT_CASES if rests_on_eta(case) else ""


def _say_enough(case: Case) -> str:
    """Return how far apart two models may be at most, where the test set is as large as is needed.

    With a guarantee that is not the difference of the values shown, but that at the target itself.
    """
    is_shown = len(case.rivals) == 2 and case.goal.guarantee is None
    if not is_shown or (span := case.lead.span) is None:
        return ""
    size_text = _format_difference(case, max(map(abs, span)))
    return f"More data are not needed if a difference of {size_text} does not matter"


def _say_hopeless(case: Case) -> str:
    """Return why more data will not help scores that are no better than chance."""
    if case.flags_all:
        return "More data will not help: flag fewer examples"
    if case.candidates[0].row[DOUBT] == "recall below fpr":
        return "Recall is below fpr: check which cell is which, or whether specificity was passed as fpr"
    if case.is_reversed and not case.goal.is_of_point:
        return "Pass the scores with a minus sign"
    useful, [(noun, n_cases), *_] = case.useful_precision, case.sizes.items()
    limit = f"a precision above {say_share(useful)}"
    if not case.goal.is_of_point:
        limit += f" at {say_share(0.5)} recall"
    if case.goal.mean_over:
        limit = f"a {name_merit(case)} above {useful:.2g}"
    return (
        f"More data will not help: {format_count(n_cases)} {noun} rule out {limit}. Check the features "
        "and the labels"
    )


def say_group_need(cases: Sequence[Case], confidence: float) -> str:
    """Return how many positives a group takes to differ from the others, if some do not."""
    need = count_group_need(cases, confidence)
    if need is None or need.is_met:
        return ""
    return (
        f"To detect a difference of {format_size(RELEVANT_GAP, is_rate=True)} from the rest with "
        f"{_POWER_TEXT} power, a group needs about {say_about(need.n_needed)} positives; a group of "
        f"middle size that does not differ has {format_count(need.n_tested)}"
    )


def _say_narrower(case: Case, need: SampleNeed | None) -> str:
    """Return how wide the interval of the only or best model is, and what it takes to narrow it."""
    half_width = measure_half_width(case.rivals[:1])
    if half_width is None:
        return ""
    if rests_on_eta(case):
        return _COUNT_CASES
    if need is None or need.is_met or half_width <= need.size:
        return ""
    width_text, size_text = (
        format_size(2 * size, is_rate=case.goal.is_of_rate) for size in (half_width, need.size)
    )
    if width_text == size_text:  # as far as one reads
        return ""
    of_model = f" of {name_model(case.rivals[0])}" if len(case.candidates) > 1 else ""
    # An interval may reach farther to one side, so no number stands behind ±.
    width_sentence = f"The interval of {name_merit(case)}{of_model} is {width_text} wide"
    return f"{width_sentence}. For {size_text} you need {format_sizes(need)}"


def find_other_threshold(case: Case) -> str:
    """Return another threshold, which meets what is demanded on the same data; empty without one."""
    return say_threshold(case.candidates[0].row.get(f"{EvidenceColumn.OTHER}threshold"))


def _say_other_threshold(case: Case) -> str:
    """Return which other threshold meets what is demanded, on the same data; empty without one."""
    if not (threshold := find_other_threshold(case)):
        return ""
    [candidate] = case.candidates
    phrases = [
        name_limited(word, write_limited_value(candidate, word, column, case.per), case)
        for word, column in (
            (word, f"{EvidenceColumn.OTHER}{TARGET_KINDS[word].metric.name}")
            for word in case.goal.demand
        )
    ]
    return (
        f"On this test set, threshold {threshold} meets the {name_targets(phrases)}: "
        f"{join_words(phrases)}. Test it on other data"
    )


def _say_promise(case: Case) -> str:
    """Return what it takes to meet the targets, or to guarantee that."""
    if case.goal.is_at_threshold or case.goal.is_of_point:
        advice = "Pass a threshold" if case.lacks_threshold else "Pass a lower threshold"
        return _say_other_threshold(case) or ("" if case.qualifiers else advice)
    needs = find_promise_needs(case)
    is_large = all(need.is_met for need in needs)
    if is_large and (case.status == "not_met" or not needs):
        return "Better scores are needed, or lower targets"
    if any(need.n_needed == float("inf") for need in needs):
        return "No test set could give this guarantee"
    short_needs = [need for need in needs if not need.is_met]
    sizes = [f"{say_about(need.n_needed)} {need.class_name}" for need in short_needs or needs]
    examples = f"about {join_words(sizes)}"
    if is_large:
        return (
            f"The test set is large enough for a perfect classifier ({examples}): this one needs better "
            "scores, or a larger test set"
        )
    return f"Even a perfect classifier needs {examples} in the test set for this guarantee"
