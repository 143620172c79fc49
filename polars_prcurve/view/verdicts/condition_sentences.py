"""What a verdict rests on, in words: the prevalence, the threshold, and the classes of the test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polars_prcurve.core.ground.message_text import format_count, join_words, name_groups
from polars_prcurve.core.ground.visible_names import find_lookalikes
from polars_prcurve.core.judging.case import Case
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.judging.judgement import Judgement
from polars_prcurve.view.verdicts.target_phrases import describe_thresholds
from polars_prcurve.view.words.number_words import glue_numbers, say_cases, say_eta, say_etas
from polars_prcurve.view.words.shown_names import name_value, start_sentence

_AS_IN_TEST = "assuming positives and negatives score as in the test set"  # as every verdict does


def describe_conditions(judgement: Judgement, cases: Sequence[Case]) -> str:
    """Return what a verdict rests on: the prevalence, the threshold, and the classes of the test."""
    etas = sorted({case.eta for case in cases if case.eta is not None}, reverse=True)
    goal, phrases = judgement.goal, []
    if len(etas) == 1:
        phrases.append(f"prevalence {say_eta(etas[0])}")
    elif etas:
        highest_eta_text, *_, lowest_eta_text = say_etas(etas)  # in one unit with those of the cases
        both_etas_text = f"{lowest_eta_text} and {highest_eta_text}"
        etas_text = both_etas_text if len(etas) == 2 else f"from {lowest_eta_text} to {highest_eta_text}"
        phrases.append(f"prevalences {etas_text}")
    if goal.mean_over:
        phrases += _describe_mean(goal, cases, has_common_eta=bool(etas))
        return glue_numbers(start_sentence("; ".join(phrases)))
    n_thresholds = sum(len(case.candidates) for case in cases)
    are_points_shown = goal.is_at_threshold or any(case.qualifiers for case in cases)
    if are_points_shown:  # or no threshold meets the targets
        phrases += filter(None, [describe_thresholds(goal, is_plural=n_thresholds > 1)])
    # Tables of several cases have no alerts unless `per` is passed; a budget is named with its `per`.
    is_table_shown = len(cases) == 1 or (judgement.has_one_model and goal.per is not None)
    are_alerts_shown = are_points_shown and not goal.is_of_curve and is_table_shown
    if are_alerts_shown and "alerts" not in goal.all_limits:
        phrases.append(f"alerts {say_cases(cases[0].per)}")
    if judgement.has_classes and judgement.group_tests is not None and len(cases) > 1:
        phrases.append("classes are tested as if they shared no examples")
    if judgement.weight is not None:
        counted_text = (
            "rows, cases and alerts" if are_points_shown and not goal.is_of_curve else "rows and cases"
        )
        weight_text = f" by {name_value(judgement.weight)}" if judgement.weight else ""
        phrases.append(f"{counted_text} are weighted{weight_text}")
    phrases += [_AS_IN_TEST, *_list_lookalikes(cases)]
    return glue_numbers(start_sentence("; ".join(phrases)))


def _describe_mean(goal: Goal, cases: Sequence[Case], *, has_common_eta: bool) -> Iterator[str]:
    """Yield phrases on a mean over groups: their prevalences, how many there are, and of which kind."""
    group_noun, plural_group_noun = name_groups(goal.mean_over)
    if not has_common_eta and any(case.n_neg for case in cases):  # so that prevalences are counted
        yield f"each {group_noun} at its own prevalence"
    group_counts = sorted({size for case in cases for size in case.sizes.values()})
    counts_text = " to ".join(dict.fromkeys(map(format_count, (group_counts[0], group_counts[-1]))))
    mean_phrase = f"the mean of {counts_text} {group_noun if counts_text == '1' else plural_group_noun}"
    if n_left_out := max(case.n_groups_left_out for case in cases):
        is_everywhere = all(case.n_groups_left_out == n_left_out for case in cases)
        n_text = f"{'' if is_everywhere else 'up to '}{format_count(n_left_out)}"
        mean_phrase += f", leaving out {n_text} without a value"
    yield mean_phrase
    yield f"{plural_group_noun} as in the test set"


def _list_lookalikes(cases: Sequence[Case]) -> list[str]:
    """Return phrases on models, and on values of one column of groups, that look alike."""
    model_names = [candidate.model for case in cases for candidate in case.candidates]
    values_of_each_column = [model_names, *zip(*(case.groups.values() for case in cases), strict=True)]
    return [
        f"{join_words(like_names)} are different names"
        for values in values_of_each_column
        for like_names in find_lookalikes(value for value in values if isinstance(value, str))
    ]
