"""The verdict of a case in words: its sentence, and the reasons beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.ground.message_text import format_count, join_words, name_groups
from polars_prcurve.core.judging.candidate import Candidate
from polars_prcurve.core.judging.case import LEAST_OF_CLASS, Case
from polars_prcurve.core.judging.evidence_columns import EvidenceColumn
from polars_prcurve.core.judging.sample_needs import find_short_class, find_vaguest, rests_on_eta
from polars_prcurve.core.judging.status_names import Status
from polars_prcurve.core.metrics.target_definitions import TARGET_KINDS
from polars_prcurve.view.verdicts.caveat_sentences import write_caveats
from polars_prcurve.view.verdicts.need_sentences import say_need
from polars_prcurve.view.verdicts.status_labels import STATUS_TABLE
from polars_prcurve.view.verdicts.target_phrases import (
    choose_verbs,
    describe_best,
    describe_targets,
    name_limited,
)
from polars_prcurve.view.verdicts.value_phrases import (
    MOST_NAMES,
    format_ends,
    format_metric,
    list_metrics,
    list_names,
    name_merit,
    name_model,
    write_merit,
    write_metric,
    write_threshold,
    write_value,
)
from polars_prcurve.view.verdicts.verdict import Verdict
from polars_prcurve.view.words.names_in_sentences import name_metric, start_sentence
from polars_prcurve.view.words.number_words import format_level, glue_numbers, say_share, say_threshold


def write_verdict(case: Case, test_level: float, conditions: str) -> Verdict:
    """Return the verdict of a case: its status, its models, and the sentences on them."""
    return Verdict(
        case.status,
        case.models,
        sentence=glue_numbers(write_sentence(case)),
        met=case.met,
        reasons=write_caveats([case], [""]),
        would_settle=glue_numbers(say_need(case, test_level)),
        conditions=conditions,
    )


class Connectives(NamedTuple):
    """What a sentence on several cases like one has: where it holds, and whose numbers follow."""

    places_phrase: str = ""  # such as ` at both prevalences`
    colon: str = ": "  # or `. At 1 in 50: `
    semicolon: str = "; "

    @property
    def opening(self) -> str:
        """What stands before values: where they hold, and a colon."""
        return f"{self.places_phrase}{self.colon}"


def write_sentence(case: Case, places_phrase: str = "", opening: str = "") -> str:
    """Return the sentence of a case; of several like it with where it holds, and whose numbers follow.

    `places_phrase` are such as ` at both prevalences`, and `opening` such as `. At 1 in 50: `.
    """
    return _WRITERS[case.status](case, Connectives(places_phrase, opening or ": ", opening or "; "))


def _write_of_one(
    case: Case, connectives: Connectives, opening_words: str, rest_of_sentence: str
) -> str:
    """Return a sentence that is all about one case, after the status of all."""
    if not connectives.places_phrase:
        return f"{opening_words}{rest_of_sentence}"
    status_label = start_sentence(STATUS_TABLE[case.status].label)
    return f"{status_label}{connectives.opening}{opening_words.lower()}{rest_of_sentence}"


def _write_winner(case: Case, connectives: Connectives) -> str:
    winning_candidate, n_models = case.finalists[0], len(case.candidates)
    other_candidates = [candidate for candidate in case.qualifiers if candidate is not winning_candidate]
    winner_name = name_model(winning_candidate)
    metric_name = name_merit(case)
    winner_value_text = write_merit(winning_candidate)
    if not other_candidates:
        return (
            f"Only {winner_name} meets the "
            f"targets{connectives.opening}{_write_values(case, winning_candidate)}"
        )
    second_name, second_value_text = name_model(other_candidates[0]), write_merit(other_candidates[0])
    if n_models == 2:
        return (
            f"{winner_name} is better{connectives.opening}{metric_name} {winner_value_text}, "
            f"against {second_value_text} for {second_name}"
        )
    return (
        f"{winner_name} is the best of {n_models} models{connectives.opening}{metric_name} "
        f"{winner_value_text}; the next is {second_name}, {second_value_text}"
    )


def _write_no_winner(case: Case, connectives: Connectives) -> str:
    rivals, n_models, metric_name = case.finalists, len(case.candidates), name_merit(case)
    first_name, first_value_text = name_model(rivals[0]), write_merit(rivals[0])
    if len(rivals) == 1:  # the others are behind it, and it is not significantly above chance
        highest_phrase = f"{first_name} has the highest {metric_name}, {first_value_text}"
        return (
            f"{highest_phrase}, but is not significantly better than chance{connectives.places_phrase}"
        )
    if unqualified_rivals := [candidate for candidate in rivals if not candidate.meets_targets]:
        miss_phrase = (
            f"{list_names(unqualified_rivals)} "
            f"{'misses' if len(unqualified_rivals) == 1 else 'miss'} the targets"
        )
        rest_of_sentence = (
            f" has {metric_name} {first_value_text}; {miss_phrase} on this test set, "
            "but not significantly"
        )
        return _write_of_one(case, connectives, "", f"{first_name}{rest_of_sentence}")
    if n_models == 2:
        values_text = join_words([write_merit(rival) for rival in rivals])
        names_text = f"{first_name} and {name_model(rivals[1])}"
        return f"No clear winner between {names_text}{connectives.opening}{metric_name} {values_text}"
    opening_words = (
        f"{len(rivals)} of {n_models} models may be best{connectives.places_phrase}: "
        f"{list_names(rivals)}"
    )
    last_rival, metric_column = rivals[-1], case.goal.merit_column
    values_text = (
        f"from {write_merit(last_rival)} for {name_model(last_rival)} to "
        f"{first_value_text} for {first_name}"
    )
    (first_text, _), (last_text, _) = (
        format_metric(rival, metric_column) for rival in (rivals[0], last_rival)
    )
    if first_text == last_text:  # from 18% to 18% would be no range
        values_text = (
            join_words([first_value_text, write_merit(last_rival)])
            if len(rivals) == 2
            else f"{first_text} for each"
        )
    return f"{opening_words}{connectives.semicolon}{metric_name} {values_text}"


def _write_chance(case: Case, connectives: Connectives) -> str:
    candidates = case.candidates
    if case.goal.is_of_point:
        predicate = "flags all examples" if case.flags_all else "is no better than chance"
        precision_text, eta_text = write_value("precision", candidates[0].precision), _write_eta(case)
        return (
            f"This point {predicate}{connectives.opening}precision is {precision_text}; the "
            f"prevalence is {eta_text}"
        )
    has_names = candidates[0].model is not None
    names_text = list_names(candidates) if has_names else "The scores"
    is_singular = has_names and len(candidates) == 1
    if case.is_reversed:
        return (
            f"{names_text} {'ranks' if is_singular else 'rank'} negatives above "
            f"positives{connectives.places_phrase}"
        )
    opening_words = (
        f"{names_text} {'is' if is_singular else 'are'} no better than chance{connectives.opening}"
    )
    if case.goal.mean_over:
        values_text = join_words([write_merit(candidate) for candidate in candidates[:MOST_NAMES]])
        chance_text = f"{case.chance_precision:.2g}"
        return f"{opening_words}{name_merit(case)} is {values_text}; random scores have {chance_text}"
    if case.has_one_score:
        score_text = say_threshold(candidates[0].row[EvidenceColumn.FEW_SCORES][0])
        model_phrase = f" of {names_text}" if has_names else ""
        return (
            f"All scores{model_phrase} are {score_text}, so they rank nothing{connectives.places_phrase}"
        )
    # A threshold of 50% recall is in the table, with an interval of its own.
    is_in_table = {**case.goal.targets} == {"recall": 0.5}
    precision_estimates = [
        candidate.precision if is_in_table else candidate.precision_at_half
        for candidate in candidates[:MOST_NAMES]
    ]
    values_text = join_words([write_value("precision", estimate) for estimate in precision_estimates])
    place_phrase = f"at {say_share(0.5)} recall, precision"
    return f"{opening_words}{place_phrase} is {values_text}; the prevalence is {_write_eta(case)}"


def _write_eta(case: Case) -> str:
    """Return the prevalence in one unit with precision."""
    return write_value("precision", Estimate(case.eta or 0.0, None, None))


def _write_too_little(case: Case, connectives: Connectives) -> str:
    n_examples, class_name = find_short_class(case)
    if n_examples == 0:
        return _write_of_one(case, connectives, "The", f" test set has no {class_name}")
    if case.lacks_scores:
        return f"No row has a score{connectives.places_phrase}"
    examples_text = _describe_cause(case, n_examples, class_name)
    vaguest_candidate, metric_column, estimate = find_vaguest(case)
    half_phrase = f" at {say_share(0.5)} recall" if metric_column == EvidenceColumn.AT_HALF else ""
    metric_column = "precision" if half_phrase else metric_column
    metric_name = name_metric(metric_column)
    if estimate.span is None:
        fact_phrase = f"there is no interval for {metric_name}{half_phrase}"
        return _write_of_one(case, connectives, "With", f" {examples_text}, {fact_phrase}")
    ends_text = " to ".join(format_ends(metric_column, estimate))
    model_phrase = f" of {name_model(vaguest_candidate)}" if len(case.candidates) > 1 else ""
    fact_phrase = f"{metric_name}{model_phrase}{half_phrase} could be anything from {ends_text}"
    return _write_of_one(case, connectives, "With", f" {examples_text}, {fact_phrase}")


def _describe_cause(case: Case, n_examples: float, class_name: str) -> str:
    """Return what leaves an interval wide: few examples, large weights, or an unsure prevalence."""
    if n_examples >= LEAST_OF_CLASS and rests_on_eta(case):
        low_text, high_text = format_ends("precision", Estimate(case.eta, *case.eta_limits))
        return f"a prevalence of {low_text} to {high_text}"
    singular_noun = class_name.removesuffix("s")
    if case.goal.mean_over:
        singular_noun, _ = name_groups(case.goal.mean_over)
    examples_text = f"{format_count(n_examples)} {singular_noun if n_examples == 1 else class_name}"
    if case.overweight_class is None:
        return examples_text
    return f"{examples_text} that count as {case.size_by_weight[class_name]:.2g} by their weights"


def _write_not_met(case: Case, connectives: Connectives) -> str:
    goal = case.goal
    if goal.targets and not goal.is_at_threshold:
        return _write_no_threshold(case, connectives)
    if not case.qualifiers and goal.is_at_threshold:
        return (
            "No score reaches the threshold "
            f"{write_threshold(case.candidates[0])}{connectives.places_phrase}"
        )
    return _write_gate(case, connectives, "misses")


def _write_unsure(case: Case, connectives: Connectives) -> str:
    goal = case.goal
    if case.lacks_threshold:
        return f"No threshold was passed{connectives.places_phrase}"
    if goal.is_gate:
        return _write_gate(case, connectives, "meet", "may or may not ")
    if goal.guarantee is None:
        return _write_no_threshold(case, connectives, " on this test set, but one may on new data")
    return _write_no_threshold(case, connectives, f" with {format_level(goal.guarantee)} confidence")


def _write_no_threshold(case: Case, connectives: Connectives, limit_phrase: str = "") -> str:
    """Return that no threshold meets the targets, and the best value of the last one."""
    best_text = describe_best(case.candidates)
    targets_text = describe_targets(case.goal.targets, case.goal.per)
    meets_verb = choose_verbs(case.goal.targets)["meets"]
    return (
        f"No threshold {meets_verb} "
        f"{targets_text}{limit_phrase}{connectives.places_phrase}{best_text and f'; {best_text}'}"
    )


def _write_met(case: Case, connectives: Connectives) -> str:
    goal, candidate = case.goal, (case.finalists or case.candidates)[0]
    if goal.is_gate:
        return _write_gate(case, connectives, "meets")
    model_phrase = f" of {name_model(candidate)}" if len(case.candidates) > 1 else ""
    targets_text = describe_targets(goal.targets, goal.per)
    predicate = f"{choose_verbs(goal.targets)['meets']} {targets_text}"
    level_phrase = f"with {format_level(goal.guarantee or 0)} confidence"
    return (
        f"Threshold {write_threshold(candidate)}{model_phrase} {predicate} "
        f"{level_phrase}{connectives.opening}{_write_values(case, candidate)}"
    )


def _write_gate(case: Case, connectives: Connectives, usual_verb: str, doubt_phrase: str = "") -> str:
    """Return what a threshold does of what is demanded, with the intervals at which it is tested."""
    [candidate] = case.candidates
    is_met_by_target = {
        target_name: candidate.test_limit(target_name)
        for target_name in case.goal.demand
        if candidate.read(TARGET_KINDS[target_name].column).value is not None
    }
    deciding_target_names = [
        target_name for target_name, is_met in is_met_by_target.items() if is_met is case.met
    ]
    deciding_target_names = deciding_target_names or [*is_met_by_target]
    predicate = (
        f"{doubt_phrase}{choose_verbs(deciding_target_names)[usual_verb]} "
        f"{_write_limits(case, deciding_target_names)}"
    )
    tail_phrases = []
    for is_met in (None, True):
        other_target_names = [
            target_name for target_name in is_met_by_target if target_name not in deciding_target_names
        ]
        if other_target_names := [
            target_name for target_name in other_target_names if is_met_by_target[target_name] is is_met
        ]:
            verb_of_usual = choose_verbs(other_target_names)
            other_predicate = (
                verb_of_usual["meets"] if is_met else f"may or may not {verb_of_usual['meet']}"
            )
            tail_phrases.append(
                f"; it {other_predicate} {_write_limits(case, other_target_names)}: "
                f"{_write_limited(case, other_target_names)}"
            )
    subject = "This point" if case.goal.is_of_point else f"Threshold {write_threshold(candidate)}"
    values_text = _write_limited(case, deciding_target_names) + "".join(tail_phrases)
    return f"{subject} {predicate}{connectives.opening}{values_text}"


def _write_limits(case: Case, target_names: Sequence[str]) -> str:
    """Return some limits of a demand: `30% recall and 10% precision`."""
    return describe_targets(
        {target_name: case.goal.demand[target_name] for target_name in target_names}, case.goal.per
    )


def _write_limited(case: Case, target_names: Sequence[str]) -> str:
    """Return the values that some limits of a demand are of, with intervals; several by their names."""
    [candidate] = case.candidates
    value_text_by_target = {
        target_name: write_metric(candidate, TARGET_KINDS[target_name].column)
        for target_name in target_names
    }
    if len(value_text_by_target) == 1:  # the limit has just named it
        return value_text_by_target.popitem()[1]
    return join_words(
        name_limited(target_name, value_text, case)
        for target_name, value_text in value_text_by_target.items()
    )


def _write_values(case: Case, candidate: Candidate) -> str:
    """Return what a model does: its merit, and what else counts at its threshold."""
    phrases = []
    for metric_column in list_metrics(case.goal):
        if metric_column != "alerts" and candidate.read(metric_column).value is not None:
            metric_title = (
                name_merit(case)
                if metric_column == case.goal.merit_column
                else name_metric(metric_column)
            )
            phrases.append(f"{metric_title} {write_metric(candidate, metric_column)}")
    return join_words(phrases)


def _write_measured(case: Case, connectives: Connectives) -> str:
    [candidate] = case.candidates
    values_text = _write_values(case, candidate)
    if candidate.model is None:
        return start_sentence(values_text)
    return f"{name_model(candidate)}: {values_text}"


_WRITERS: Mapping[Status, Callable[[Case, Connectives], str]] = {
    "too_little_data": _write_too_little,
    "chance": _write_chance,
    "not_met": _write_not_met,
    "unsure": _write_unsure,
    "no_winner": _write_no_winner,
    "winner": _write_winner,
    "met": _write_met,
    "measured": _write_measured,
}
"""What writes the sentence of each status."""
