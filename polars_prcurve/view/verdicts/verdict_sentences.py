"""The verdict of a case in words: its sentence, and the reasons beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from polars_prcurve.core.confidence.intervals import Estimate
from polars_prcurve.core.ground.safe_text import format_count
from polars_prcurve.core.judging.case_status import Candidate, Case, JudgedCase
from polars_prcurve.core.judging.sample_needs import find_open_range, find_scarce_class
from polars_prcurve.core.judging.status_names import Status
from polars_prcurve.view.verdicts.need_sentences import say_need
from polars_prcurve.view.verdicts.value_phrases import (
    MOST_NAMES,
    NO_THRESHOLD,
    describe_limit,
    end_precision,
    is_rarely_right,
    list_names,
    name_model,
    say_alerts_right,
    say_right,
    say_two_digits,
    start_sentence,
)
from polars_prcurve.view.verdicts.verdict import Verdict
from polars_prcurve.view.words.number_words import (
    RARELY_RIGHT,
    glue_numbers,
    say_eta,
    say_part,
    say_share,
)
from polars_prcurve.view.words.value_names import join_words, name_metric


def write_verdict(case: JudgedCase, test_level: float) -> Verdict:
    """Return the verdict of a case: its status, its models, and what is said of them."""
    return Verdict(
        case.status,
        case.models,
        sentence=glue_numbers(_SENTENCES[case.status](case)),
        reasons=tuple(map(glue_numbers, _list_reasons(case))),
        would_settle=glue_numbers(say_need(case, test_level)),
    )


def _say_settled(case: JudgedCase) -> str:
    best_candidate = case.named_candidates[0]
    other_candidates = [candidate for candidate in case.qualifiers if candidate is not best_candidate]
    if not other_candidates:
        return _say_only_model(case, best_candidate)
    metric_name, runner_up_name = case.goal.merit_column, name_model(other_candidates[0])
    rivals_phrase = {1: "", 2: " than both others"}.get(
        len(other_candidates), f" than all {len(other_candidates)} others"
    )
    lead_phrase = f"{name_model(best_candidate)} is better{rivals_phrase}"
    value_text, next_value_text = _say_values(
        case, metric_name, [best_candidate.value, other_candidates[0].value]
    )
    if metric_name == "precision":
        right_phrase = (
            "of its alerts is right" if is_rarely_right(case) else "of its 100 alerts are right"
        )
        rank_phrase = "" if len(other_candidates) == 1 else ", the next"
        return (
            f"{lead_phrase}: {value_text} {right_phrase}, "
            f"{next_value_text} of {runner_up_name}’s{rank_phrase}"
        )
    next_name = runner_up_name if len(other_candidates) == 1 else f"the next, {runner_up_name},"
    if metric_name == "recall":
        return f"{lead_phrase}: it finds {value_text} of the positives, {next_name} {next_value_text}"
    return f"{lead_phrase}: {_name_merit(case)} {value_text}, {next_name} {next_value_text}"


def _say_only_model(case: Case, candidate: Candidate) -> str:
    """Return what the only model does."""
    opening = "" if candidate.model is None else f"{name_model(candidate)}: "
    estimate, precision, recall_estimate = candidate.merit, candidate.precision, candidate.read("recall")
    if not case.goal.is_of_rate:
        value_text, low_text, high_text = map(
            say_two_digits, (candidate.value, estimate.low, estimate.high)
        )
        if not opening and case.goal.is_of_curve:
            opening = "The scores are better than chance: "
        return start_sentence(f"{opening}{_name_merit(case)} {value_text} ({low_text} to {high_text})")
    found_phrase = f"{say_part(recall_estimate.value)} of the positives are found"
    if case.goal.merit_column == "precision":
        return f"{opening}{say_alerts_right(case, precision)}, and {found_phrase}"
    span_text = (
        ""
        if recall_estimate.span is None
        else f" ({say_share(recall_estimate.low)} to {say_share(recall_estimate.high)})"
    )
    return f"{opening}{found_phrase}{span_text}, and {say_alerts_right(case, Estimate(precision.value))}"


def _say_values(case: Case, metric_name: str, values: Sequence[float]) -> list[str]:
    """Return values of what models are judged by: of 100 alerts, of the positives, or of a metric."""
    if metric_name == "precision":
        return say_right(values, is_rare=is_rarely_right(case))
    return [say_share(value) if metric_name == "recall" else say_two_digits(value) for value in values]


def _name_merit(case: Case) -> str:
    best_prefix = "best " if case.goal.maximized is not None else ""
    return f"{best_prefix}{name_metric(case.goal.merit_column)}"


def _say_not_told_apart(case: JudgedCase) -> str:
    rivals, metric_name = case.named_candidates, case.goal.merit_column
    best_rival, opening = rivals[0], f"{list_names(rivals)} are not told apart"
    if len(rivals) == 1:  # the others are behind it, and it is not shown to be above chance
        return f"{list_names(rivals)} leads no model that is shown to be above chance"
    if rivals_off_target := [candidate for candidate in rivals if not candidate.meets_targets]:
        lead_clause = (
            f"with {name_model(best_rival)} {say_alerts_right(case, Estimate(best_rival.value))}"
        )
        if metric_name == "recall":
            lead_clause = (
                f"{name_model(best_rival)} finds {say_share(best_rival.value)} of the positives"
            )
        verb_phrase = "can be promised to keep" if case.goal.guarantee is not None else "keeps"
        no_threshold_clause = (
            f"no threshold of {list_names(rivals_off_target)} {verb_phrase} the targets in this test"
        )
        return f"{opening}: {lead_clause}, and {no_threshold_clause}"
    rival_values = [candidate.value for candidate in rivals]
    values_phrase = join_words(_say_values(case, metric_name, rival_values))
    if len(rivals) > MOST_NAMES:
        values_phrase = " to ".join(
            _say_values(case, metric_name, [min(rival_values), max(rival_values)])
        )
    if metric_name == "precision":
        return (
            f"{opening}: {values_phrase} alerts is right"
            if is_rarely_right(case)
            else f"{opening}: of 100 alerts {values_phrase} are right"
        )
    if metric_name == "recall":
        return f"{opening}: they find {values_phrase} of the positives"
    return f"{opening}: {_name_merit(case)} {values_phrase}"


def _say_chance(case: JudgedCase) -> str:
    candidates, has_names = case.candidates, case.candidates[0].model is not None
    subject_phrase, is_singular = (
        list_names(candidates) if has_names else "The scores",
        has_names and len(candidates) == 1,
    )
    opening = f"{subject_phrase} {'is' if is_singular else 'are'} no better than chance"
    if case.is_reversed:
        opening = f"{subject_phrase} rank{'s' if is_singular else ''} negatives above positives"
    precision_values = [
        case.eta or 0.0,
        *(candidate.precision_at_half.value for candidate in candidates),
    ]
    chance_text, *precision_texts = say_right(precision_values[: MOST_NAMES + 1])
    models_phrase = join_words(precision_texts) if len(candidates) <= MOST_NAMES else precision_texts[0]
    if max(precision_values) < RARELY_RIGHT:
        return f"{opening}: {chance_text} alerts drawn by lot is right, of theirs {models_phrase}"
    return f"{opening}: {chance_text} of 100 alerts drawn by lot are right, of theirs {models_phrase}"


def _say_too_little(case: JudgedCase) -> str:
    opening, (n_examples, class_name) = "Too little data:", find_scarce_class(case)
    if n_examples == 0:
        return f"{opening} the test has no {class_name}"
    examples_phrase = (
        f"{format_count(n_examples)} {class_name.removesuffix('s') if n_examples == 1 else class_name}"
    )
    opening = f"{opening} {examples_phrase} cannot say"
    open_range = find_open_range(case)
    if open_range is None:
        n_models = len(case.qualifiers or case.candidates)
        return f"{opening} how good {'a model' if n_models > 1 else 'the model'} is"
    metric_name, low_value, high_value = open_range
    ends_phrase = " or ".join(_say_values(case, metric_name, [low_value, high_value]))
    if metric_name == "precision":
        return f"{opening} if {ends_phrase} {end_precision(case)}"
    if metric_name == "recall":
        return f"{opening} if {ends_phrase} of the positives are found"
    return f"{opening} if {_name_merit(case)} is {ends_phrase}"


def _say_not_met(case: JudgedCase) -> str:
    goal = case.goal
    if "threshold" in goal.targets:
        return f"No example reaches the threshold {goal.targets['threshold']}"
    limits_phrase = join_words(
        [describe_limit(word, value, goal.per) for word, value in goal.targets.items()]
    )
    verb_phrase = "keeps" if goal.guarantee is None else "can be promised to keep"
    return f"No threshold {verb_phrase} what is asked for: {limits_phrase}"


_SENTENCES: Mapping[Status, Callable[[JudgedCase], str]] = {
    "too little data": _say_too_little,
    "no better than chance": _say_chance,
    "not met": _say_not_met,
    "not told apart": _say_not_told_apart,
    "settled": _say_settled,
}
"""What says the sentence of each status."""


def _list_reasons(case: JudgedCase) -> Iterator[str]:
    """Yield what else is known of the models, and what the verdict rests on."""
    status = case.status
    if candidates := case.clear_misses:
        yield f"{NO_THRESHOLD}: {list_names(candidates)}"
    if status in ("settled", "not told apart") and (candidates := case.chance_suspects):
        yield f"not shown to be better than chance: {list_names(candidates)}"
    if candidates := case.backward_models:
        names_phrase = f" of {list_names(candidates)}" if candidates[0].model is not None else ""
        yield f"the scores{names_phrase} rank the wrong way round: pass -score"
    if status == "not told apart" and (candidates := case.losers):
        yield f"behind: {list_names(candidates)}"
    if status != "no better than chance" and (doubts := case.interval_doubts):
        yield f"intervals may be too narrow: {join_words(doubts)}"
    if case.key_values.get("eta_low") is not None:
        low_text, high_text = say_eta(case.key_values["eta_low"]), say_eta(case.key_values["eta_high"])
        yield f"the prevalence is an estimate, {low_text} to {high_text}"
    if case.compares_intervals and len(case.qualifiers) > 1:
        yield "models are compared by their intervals, each of which is of one model"
