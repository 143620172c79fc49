"""The verdict of a case in words: its sentence, and the reasons beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.ground.message_text import format_count, join_words, name_groups
from polars_prcurve.core.judging.candidate import Candidate
from polars_prcurve.core.judging.case import LEAST_OF_CLASS, Case
from polars_prcurve.core.judging.evidence_columns import EvidenceColumn
from polars_prcurve.core.judging.judgement import Judgement
from polars_prcurve.core.judging.sample_needs import find_short_class, find_vaguest, rests_on_eta
from polars_prcurve.core.judging.status_names import Status
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS
from polars_prcurve.view.verdicts.case_places import name_all_places, name_places
from polars_prcurve.view.verdicts.caveat_sentences import write_caveats
from polars_prcurve.view.verdicts.condition_sentences import describe_conditions
from polars_prcurve.view.verdicts.need_sentences import say_need
from polars_prcurve.view.verdicts.status_labels import STATUS_TABLE
from polars_prcurve.view.verdicts.target_phrases import describe_best, describe_targets, name_limited
from polars_prcurve.view.verdicts.value_phrases import (
    MOST_NAMES,
    format_ends,
    list_metrics,
    list_model_names,
    name_merit,
    name_model,
    write_merit,
    write_metric,
    write_threshold,
    write_value,
)
from polars_prcurve.view.verdicts.verdict import Verdict
from polars_prcurve.view.words.number_words import format_level, glue_numbers, say_share, say_threshold
from polars_prcurve.view.words.shown_names import name_metric, start_sentence

ClaimAndNumbers: TypeAlias = tuple[str, str]
"""What a sentence states of all cases with one status and the same models, and its numbers, which are of
one case; either may be empty. Without a claim, that is the status."""


def write_verdict(judgement: Judgement, case: Case) -> Verdict:
    """Return the verdict of a case: its status, its models, and the sentences on them."""
    claim, numbers_text = _WRITERS[case.status](case)
    sentence = ": ".join(filter(None, [claim, numbers_text]))
    return Verdict(
        case.status,
        case.models,
        sentence=glue_numbers(sentence if claim else start_sentence(sentence)),
        met=case.met,
        reasons=write_caveats([case]),
        would_settle=glue_numbers(say_need(case, judgement.evidence.test_level)),
        conditions=describe_conditions(judgement, [case]),
    )


def write_sentence_of_alike(cases: Sequence[Case]) -> str:
    """Return the sentence of cases with one status and the same models: numbers are of the first."""
    claim, numbers_text = _WRITERS[cases[0].status](cases[0])
    claim = claim or start_sentence(STATUS_TABLE[cases[0].status].label)
    first_sentence = numbers_text and f". {start_sentence(name_places(cases[:1]))}: {numbers_text}"
    return f"{claim} {name_all_places(cases, claim)}{first_sentence}"


def _write_winner(case: Case) -> ClaimAndNumbers:
    winner, n_models = case.finalists[0], len(case.candidates)
    other_candidates = [candidate for candidate in case.qualifiers if candidate is not winner]
    if not other_candidates:
        return f"Only {name_model(winner)} meets the targets", _write_merit_and_rest(case, winner)
    claim = f"{name_model(winner)} is {'better' if n_models == 2 else f'the best of {n_models} models'}"
    return claim, (
        f"{name_merit(case)} {write_merit(winner)}, against {write_merit(other_candidates[0])} for "
        f"{name_model(other_candidates[0])}"
    )


def _write_no_winner(case: Case) -> ClaimAndNumbers:
    rivals, metric_name = case.finalists, name_merit(case)
    first_name, first_value_text = name_model(rivals[0]), write_merit(rivals[0])
    if len(rivals) == 1:  # the others are behind it, and it is not significantly above chance
        claim = (
            f"{first_name} has the highest {metric_name}, but is not significantly better than chance"
        )
        return claim, first_value_text
    if unqualified_rivals := [candidate for candidate in rivals if not candidate.meets_targets]:
        verb = "misses" if len(unqualified_rivals) == 1 else "miss"
        return "", (
            f"on this test set, {list_model_names(unqualified_rivals)} {verb} the targets, but not "
            f"significantly; {first_name} has {metric_name} {first_value_text}"
        )
    preposition = "between" if len(rivals) == 2 else "among"
    values_text = join_words(map(write_merit, rivals))
    if len(rivals) > MOST_NAMES:
        values_text = f"from {write_merit(rivals[-1])} to {first_value_text}"
    return f"No clear winner {preposition} {list_model_names(rivals)}", f"{metric_name} {values_text}"


def _write_chance(case: Case) -> ClaimAndNumbers:
    candidates = case.candidates
    # The prevalence is in one unit with precision.
    eta_text = write_value("precision", Estimate(case.eta or 0.0, None, None))
    if case.goal.is_of_point:
        predicate = "flags all examples" if case.flags_all else "is no better than chance"
        precision_text = write_value("precision", candidates[0].precision)
        return (
            f"This point {predicate}",
            f"precision is {precision_text}; the prevalence is {eta_text}",
        )
    has_names = candidates[0].model is not None
    names_text = list_model_names(candidates) if has_names else "The scores"
    is_singular = has_names and len(candidates) == 1
    if case.is_reversed:
        return f"{names_text} {'ranks' if is_singular else 'rank'} negatives above positives", ""
    if case.has_one_score and not case.goal.mean_over:
        score_text = say_threshold(candidates[0].row[EvidenceColumn.FEW_SCORES][0])
        model_phrase = f" of {names_text}" if has_names else ""
        return f"All scores{model_phrase} are {score_text}, so they rank nothing", ""
    claim = f"{names_text} {'is' if is_singular else 'are'} no better than chance"
    if case.goal.mean_over:
        values_text = join_words([write_merit(candidate) for candidate in candidates[:MOST_NAMES]])
        chance_text = f"{case.chance_precision:.2g}"
        return claim, f"{name_merit(case)} is {values_text}; random scores have {chance_text}"
    # A threshold of 50% recall is in the table, with an interval of its own.
    is_in_table = {**case.goal.targets} == {"recall": 0.5}
    precision_estimates = [
        candidate.precision if is_in_table else candidate.precision_at_half
        for candidate in candidates[:MOST_NAMES]
    ]
    values_text = join_words([write_value("precision", estimate) for estimate in precision_estimates])
    place_phrase = f"at {say_share(0.5)} recall, precision"
    return claim, f"{place_phrase} is {values_text}; the prevalence is {eta_text}"


def _write_too_little(case: Case) -> ClaimAndNumbers:
    n_examples, class_name = find_short_class(case)
    if n_examples == 0:
        return "", f"the test set has no {class_name}"
    if case.lacks_scores:
        return "", "no row has a score"
    examples_text = _describe_cause(case, n_examples, class_name)
    vaguest_candidate, metric_column, estimate = find_vaguest(case)
    half_phrase = f" at {say_share(0.5)} recall" if metric_column == EvidenceColumn.AT_HALF else ""
    metric_column = "precision" if half_phrase else metric_column
    metric_name = name_metric(metric_column)
    if estimate.span is None:
        return "", f"with {examples_text}, there is no interval for {metric_name}{half_phrase}"
    ends_text = " to ".join(format_ends(metric_column, estimate))
    model_phrase = f" of {name_model(vaguest_candidate)}" if len(case.candidates) > 1 else ""
    value_name = f"{metric_name}{model_phrase}{half_phrase}"
    return "", f"with {examples_text}, {value_name} could be anything from {ends_text}"


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


def _write_not_met(case: Case) -> ClaimAndNumbers:
    if case.goal.targets and not case.goal.is_at_threshold:
        return _write_no_threshold(case)
    if not case.qualifiers and case.goal.is_at_threshold:
        return f"No score reaches the threshold {write_threshold(case.candidates[0])}", ""
    return _write_gate(case)


def _write_unsure(case: Case) -> ClaimAndNumbers:
    if case.lacks_threshold:
        return "No threshold was passed", ""
    if case.goal.is_gate:
        return _write_gate(case)
    if case.goal.guarantee is None:
        return _write_no_threshold(case, " on this test set, but one may on new data")
    return _write_no_threshold(case, f" with {format_level(case.goal.guarantee)} confidence")


def _write_no_threshold(case: Case, limit_phrase: str = "") -> ClaimAndNumbers:
    """Return that no threshold meets the targets, and the best value of the last one."""
    targets_text = describe_targets(case.goal.targets, case.goal.per)
    return f"No threshold meets {targets_text}{limit_phrase}", describe_best(case.candidates)


def _write_met(case: Case) -> ClaimAndNumbers:
    goal, candidate = case.goal, (case.finalists or case.candidates)[0]
    if goal.is_gate:
        return _write_gate(case)
    model_phrase = f" of {name_model(candidate)}" if len(case.candidates) > 1 else ""
    return "", (
        f"threshold {write_threshold(candidate)}{model_phrase} meets "
        f"{describe_targets(goal.targets, goal.per)} with {format_level(goal.guarantee or 0)} "
        f"confidence: {_write_merit_and_rest(case, candidate)}"
    )


_OUTCOME_VERBS = {False: "misses", None: "may or may not meet", True: "meets"}
"""What a threshold does of a target, by the result of its test; what decides comes first."""


def _write_gate(case: Case) -> ClaimAndNumbers:
    """Return what a threshold does of what is demanded, with the intervals at which it is tested."""
    [candidate] = case.candidates
    known_targets = [
        target_name
        for target_name in case.goal.demand
        if candidate.read(TARGET_KINDS[target_name].column).value is not None
    ]
    clauses = []
    for is_met, verb in _OUTCOME_VERBS.items():
        target_names = [name for name in known_targets if candidate.test_limit(name) is is_met]
        if target_names:
            limits = {target_name: case.goal.demand[target_name] for target_name in target_names}
            limits_text = describe_targets(limits, case.goal.per)
            clauses.append(f"{verb} {limits_text}: {_write_limited(case, target_names)}")
    subject = "this point" if case.goal.is_of_point else f"threshold {write_threshold(candidate)}"
    return "", f"{subject} {'; it '.join(clauses)}"


def _write_limited(case: Case, target_names: Sequence[str]) -> str:
    """Return the values that some limits of a demand are of, with intervals; several by their names."""
    [candidate] = case.candidates
    value_texts = [
        write_metric(candidate, TARGET_KINDS[target_name].column) for target_name in target_names
    ]
    if len(value_texts) == 1:  # the limit has just named it
        return value_texts[0]
    return join_words(
        name_limited(target_name, value_text, case)
        for target_name, value_text in zip(target_names, value_texts, strict=True)
    )


def _write_merit_and_rest(case: Case, candidate: Candidate) -> str:
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


def _write_measured(case: Case) -> ClaimAndNumbers:
    [candidate] = case.candidates
    return "" if candidate.model is None else name_model(candidate), _write_merit_and_rest(
        case, candidate
    )


_WRITERS: Mapping[Status, Callable[[Case], ClaimAndNumbers]] = {
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
