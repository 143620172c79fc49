"""What would settle it, in words: how many more examples, for a difference that matters."""

from __future__ import annotations

from collections.abc import Sequence

from polars_prcurve.core.confidence.doubts import DOUBT, EQUAL_SCORES
from polars_prcurve.core.ground.message_text import format_count, join_words
from polars_prcurve.core.judging.case import LEAST_OF_CLASS, Case
from polars_prcurve.core.judging.evidence_columns import EvidenceColumn
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
from polars_prcurve.view.verdicts.target_phrases import name_targets
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
    sample_need = count_examples_needed(case, test_level)
    lacks_test = case.goal.guarantee is not None or case.lacks_threshold
    if case.status in ("winner", "met", "measured"):
        need_sentence = _say_narrower(case, sample_need)
    elif case.status == "not_met" or (case.status == "unsure" and lacks_test):
        need_sentence = _say_promise(case)
    elif case.status == "chance":
        need_sentence = _say_hopeless(case)
    elif case.has_equal_rivals and len(case.rivals) == 2:  # more examples show no difference either
        need_sentence = ""
    elif case.doubt_of_lead == EQUAL_SCORES:
        need_sentence = "Finer scores would help; more cases with these scores may not"
    else:
        need_sentence = _say_no_size(case) if sample_need is None else _say_sizes(case, sample_need)
    return need_sentence


def _say_sizes(case: Case, sample_need: SampleNeed) -> str:
    """Return how many examples it takes, and what they would show."""
    if sample_need.is_met:
        return _say_enough(case)
    aim_phrase = f"For ±{_format_difference(case, sample_need.size)}"
    if case.status == "no_winner":
        aim_phrase = (
            f"To detect a difference of {_format_difference(case, sample_need.size)} with "
            f"{_POWER_TEXT} power"
        )
    elif case.status == "unsure":
        target_noun = name_targets(case.goal.demand or case.goal.limits)
        subject = "it" if case.goal.is_gate else "a threshold"
        aim_phrase = f"To decide whether {subject} meets the {target_noun}, with {_POWER_TEXT} power,"
    is_rough = case.status == "no_winner" and any(
        rival.row.get(EvidenceColumn.LEAD_DOUBT) for rival in case.rivals
    )
    return f"{aim_phrase} you need {format_sizes(sample_need, is_rough=is_rough)}"


def format_sizes(sample_need: SampleNeed, *, is_rough: bool = False) -> str:
    """Return how many examples it takes, and how many more: `about 400 positives (80 more)`.

    It `is_rough` if the error that it follows from is in doubt.
    """
    phrases = [
        f"{say_about(class_need.n_needed)} {class_need.class_name} ({_format_missing(class_need)})"
        for class_need in sample_need.classes
    ]
    about_word = "very roughly" if is_rough else "about"
    return f"{'at least' if sample_need.is_least else about_word} {join_words(phrases)}"


def _format_missing(class_need: ClassNeed) -> str:
    """Return how many examples are missing to the number in words; if nearly all, how many there are."""
    if class_need.is_met:
        return "as now"
    n_needed = round_up(class_need.n_needed)
    if class_need.n_tested < n_needed / 100:
        return f"the test set has {format_count(class_need.n_tested)}"
    return f"{format_count(n_needed - class_need.n_tested)} more"


def _format_difference(case: Case, difference: float) -> str:
    """Return a difference, or half a width, of what models are judged by."""
    is_at_half = case.status == "too_little_data" and not case.goal.mean_over
    is_rate = case.goal.is_of_rate or is_at_half
    difference_text = format_size(difference, is_rate=is_rate)
    return difference_text if is_rate else f"{difference_text} in {name_merit(case)}"


def _say_no_size(case: Case) -> str:
    """Return why no size can be named that would settle a case."""
    if advice := _say_other_cause(case):
        return advice
    if min(case.sizes.values()) < LEAST_OF_CLASS:
        class_noun = next(iter(case.sizes)) if case.goal.mean_over else "examples of each class"
        # Folds of one table, or the classes that there are, are no sample of others.
        alternative_phrase = (
            f"; if there are no others, decide without a mean over {class_noun}"
            if case.goal.mean_over
            else ""
        )
        return (
            f"At least {LEAST_OF_CLASS} {class_noun} are needed, and usually many "
            f"more{alternative_phrase}"
        )
    if is_out_of_reach(case):
        n_hits_text = format_count(case.n_hits)
        return f"Only {n_hits_text} true positives at the targets: too few to estimate the size needed"
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
    is_difference_shown = len(case.rivals) == 2 and case.goal.guarantee is None
    if not is_difference_shown or (lead_span := case.lead.span) is None:
        return ""
    size_text = _format_difference(case, max(map(abs, lead_span)))
    return f"More data are not needed if a difference of {size_text} does not matter"


def _say_hopeless(case: Case) -> str:
    """Return why more data will not help scores that are no better than chance."""
    if case.flags_all:
        return "More data will not help: flag fewer examples"
    if case.candidates[0].row[DOUBT] == "recall below fpr":
        return "Recall is below fpr: check which cell is which, or whether specificity was passed as fpr"
    if case.is_reversed and not case.goal.is_of_point:
        return "Pass the scores with a minus sign"
    if case.has_one_score and not (case.goal.is_of_point or case.goal.mean_over):
        return "More data will not help: check the scores"
    useful_precision, [(noun, n_examples), *_] = case.useful_precision, case.sizes.items()
    limit_phrase = f"a precision above {say_share(useful_precision)}"
    if not case.goal.is_of_point:
        limit_phrase += f" at {say_share(0.5)} recall"
    if case.goal.mean_over:
        limit_phrase = f"a {name_merit(case)} above {useful_precision:.2g}"
    return (
        f"More data will not help: {format_count(n_examples)} {noun} rule out {limit_phrase}. Check "
        "the features and the labels"
    )


def say_group_need(cases: Sequence[Case], confidence: float) -> str:
    """Return how many positives a group takes to differ from the others, if some do not."""
    class_need = count_group_need(cases, confidence)
    if class_need is None or class_need.is_met:
        return ""
    return (
        f"To detect a difference of {format_size(RELEVANT_GAP, is_rate=True)} from the rest with "
        f"{_POWER_TEXT} power, a group needs about {say_about(class_need.n_needed)} positives; a "
        f"group of middle size that does not differ has {format_count(class_need.n_tested)}"
    )


def _say_narrower(case: Case, sample_need: SampleNeed | None) -> str:
    """Return how wide the interval of the only or best model is, and what it takes to narrow it."""
    half_width = measure_half_width(case.rivals[:1])
    if half_width is None:
        return ""
    if rests_on_eta(case):
        return _COUNT_CASES
    if sample_need is None or sample_need.is_met or half_width <= sample_need.size:
        return ""
    width_text, size_text = (
        format_size(2 * size, is_rate=case.goal.is_of_rate) for size in (half_width, sample_need.size)
    )
    if width_text == size_text:  # as far as one reads
        return ""
    model_phrase = f" of {name_model(case.rivals[0])}" if len(case.candidates) > 1 else ""
    # An interval may reach farther to one side, so no number stands behind ±.
    width_sentence = f"The interval of {name_merit(case)}{model_phrase} is {width_text} wide"
    return f"{width_sentence}. For {size_text} you need {format_sizes(sample_need)}"


def find_other_threshold(case: Case) -> str:
    """Return another threshold, which meets what is demanded on the same data; empty without one."""
    return say_threshold(case.candidates[0].row.get(f"{EvidenceColumn.OTHER}threshold"))


def _say_promise(case: Case) -> str:
    """Return what it takes to meet the targets, or to guarantee that."""
    if case.goal.is_at_threshold or case.goal.is_of_point:
        if threshold_text := find_other_threshold(case):
            meets_phrase = f"threshold {threshold_text} meets the {name_targets(case.goal.demand)}"
            return f"On this test set, {meets_phrase}. Test it on other data"
        advice = "Pass a threshold" if case.lacks_threshold else "Pass a lower threshold"
        return "" if case.qualifiers else advice
    class_needs = find_promise_needs(case)
    unmet_needs = [class_need for class_need in class_needs if not class_need.is_met]
    if not unmet_needs:
        alternative_phrase = "" if case.status == "not_met" else ", or a larger test set"
        return f"Better scores are needed, or lower targets{alternative_phrase}"
    if any(class_need.n_needed == float("inf") for class_need in class_needs):
        return "No test set could give this guarantee"
    size_texts = [
        f"{say_about(class_need.n_needed)} {class_need.class_name}" for class_need in unmet_needs
    ]
    examples_text = f"about {join_words(size_texts)}"
    return f"Even a perfect classifier needs {examples_text} in the test set for this guarantee"
