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
    best = case.named_candidates[0]
    others = [candidate for candidate in case.qualifiers if candidate is not best]
    if not others:
        return _say_only_model(case, best)
    merit, runner_up = case.goal.merit, name_model(others[0])
    than = {1: "", 2: " than both others"}.get(len(others), f" than all {len(others)} others")
    better = f"{name_model(best)} is better{than}"
    value, other_value = _say_values(case, merit, [best.value, others[0].value])
    if merit == "precision":
        right = "of its alerts is right" if is_rarely_right(case) else "of its 100 alerts are right"
        rank = "" if len(others) == 1 else ", the next"
        return f"{better}: {value} {right}, {other_value} of {runner_up}’s{rank}"
    subject = runner_up if len(others) == 1 else f"the next, {runner_up},"
    if merit == "recall":
        return f"{better}: it finds {value} of the positives, {subject} {other_value}"
    return f"{better}: {_name_merit(case)} {value}, {subject} {other_value}"


def _say_only_model(case: Case, candidate: Candidate) -> str:
    """Return what the only model does."""
    start = "" if candidate.model is None else f"{name_model(candidate)}: "
    merit, precision, recall = candidate.merit, candidate.precision, candidate.read("recall")
    if not case.goal.is_of_rate:
        value, low, high = map(say_two_digits, (candidate.value, merit.low, merit.high))
        if not start and case.goal.is_of_curve:
            start = "The scores are better than chance: "
        return start_sentence(f"{start}{_name_merit(case)} {value} ({low} to {high})")
    positives = f"{say_part(recall.value)} of the positives are found"
    if case.goal.merit == "precision":
        return f"{start}{say_alerts_right(case, precision)}, and {positives}"
    ends = "" if recall.span is None else f" ({say_share(recall.low)} to {say_share(recall.high)})"
    return f"{start}{positives}{ends}, and {say_alerts_right(case, Estimate(precision.value))}"


def _say_values(case: Case, metric: str, values: Sequence[float]) -> list[str]:
    """Return values of what models are judged by: of 100 alerts, of the positives, or of a metric."""
    if metric == "precision":
        return say_right(values, is_rare=is_rarely_right(case))
    return [say_share(value) if metric == "recall" else say_two_digits(value) for value in values]


def _name_merit(case: Case) -> str:
    best = "best " if case.goal.maximized is not None else ""
    return f"{best}{name_metric(case.goal.merit)}"


def _say_not_told_apart(case: JudgedCase) -> str:
    rivals, merit = case.named_candidates, case.goal.merit
    best, start = rivals[0], f"{list_names(rivals)} are not told apart"
    if len(rivals) == 1:  # the others are behind it, and it is not shown to be above chance
        return f"{list_names(rivals)} leads no model that is shown to be above chance"
    if misses := [candidate for candidate in rivals if not candidate.meets_targets]:
        lead = f"with {name_model(best)} {say_alerts_right(case, Estimate(best.value))}"
        if merit == "recall":
            lead = f"{name_model(best)} finds {say_share(best.value)} of the positives"
        keeps = "can be promised to keep" if case.goal.guarantee is not None else "keeps"
        no_threshold = f"no threshold of {list_names(misses)} {keeps} the targets in this test"
        return f"{start}: {lead}, and {no_threshold}"
    values = [candidate.value for candidate in rivals]
    all_values = join_words(_say_values(case, merit, values))
    if len(rivals) > MOST_NAMES:
        all_values = " to ".join(_say_values(case, merit, [min(values), max(values)]))
    if merit == "precision":
        return (
            f"{start}: {all_values} alerts is right"
            if is_rarely_right(case)
            else f"{start}: of 100 alerts {all_values} are right"
        )
    if merit == "recall":
        return f"{start}: they find {all_values} of the positives"
    return f"{start}: {_name_merit(case)} {all_values}"


def _say_chance(case: JudgedCase) -> str:
    models, has_names = case.candidates, case.candidates[0].model is not None
    subject, is_singular = (
        list_names(models) if has_names else "The scores",
        has_names and len(models) == 1,
    )
    start = f"{subject} {'is' if is_singular else 'are'} no better than chance"
    if case.is_reversed:
        start = f"{subject} rank{'s' if is_singular else ''} negatives above positives"
    values = [case.eta or 0.0, *(candidate.precision_at_half.value for candidate in models)]
    by_lot, *precisions = say_right(values[: MOST_NAMES + 1])
    of_models = join_words(precisions) if len(models) <= MOST_NAMES else precisions[0]
    if max(values) < RARELY_RIGHT:
        return f"{start}: {by_lot} alerts drawn by lot is right, of theirs {of_models}"
    return f"{start}: {by_lot} of 100 alerts drawn by lot are right, of theirs {of_models}"


def _say_too_little(case: JudgedCase) -> str:
    start, (size, class_name) = "Too little data:", find_scarce_class(case)
    if size == 0:
        return f"{start} the test has no {class_name}"
    examples = f"{format_count(size)} {class_name.removesuffix('s') if size == 1 else class_name}"
    start = f"{start} {examples} cannot say"
    open_range = find_open_range(case)
    if open_range is None:
        n_models = len(case.qualifiers or case.candidates)
        return f"{start} how good {'a model' if n_models > 1 else 'the model'} is"
    metric, low, high = open_range
    ends = " or ".join(_say_values(case, metric, [low, high]))
    if metric == "precision":
        return f"{start} if {ends} {end_precision(case)}"
    if metric == "recall":
        return f"{start} if {ends} of the positives are found"
    return f"{start} if {_name_merit(case)} is {ends}"


def _say_not_met(case: JudgedCase) -> str:
    goal = case.goal
    if "threshold" in goal.targets:
        return f"No example reaches the threshold {goal.targets['threshold']}"
    limits = join_words([describe_limit(word, value, goal.per) for word, value in goal.targets.items()])
    keeps = "keeps" if goal.guarantee is None else "can be promised to keep"
    return f"No threshold {keeps} what is asked for: {limits}"


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
    if models := case.clear_misses:
        yield f"{NO_THRESHOLD}: {list_names(models)}"
    if status in ("settled", "not told apart") and (models := case.chance_suspects):
        yield f"not shown to be better than chance: {list_names(models)}"
    if models := case.backward_models:
        names = f" of {list_names(models)}" if models[0].model is not None else ""
        yield f"the scores{names} rank the wrong way round: pass -score"
    if status == "not told apart" and (models := case.losers):
        yield f"behind: {list_names(models)}"
    if status != "no better than chance" and (doubts := case.interval_doubts):
        yield f"intervals may be too narrow: {join_words(doubts)}"
    if case.key.get("eta_low") is not None:
        low, high = say_eta(case.key["eta_low"]), say_eta(case.key["eta_high"])
        yield f"the prevalence is an estimate, {low} to {high}"
    if case.compares_intervals and len(case.qualifiers) > 1:
        yield "models are compared by their intervals, each of which is of one model"
