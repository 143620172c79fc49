"""Caveats beside a verdict, its `reasons`: what else the data show, and what weakens an interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from polars_prcurve.core.confidence.confidence_that_limit_holds import CERTAINTY
from polars_prcurve.core.confidence.doubts import DOUBT, EQUAL_SCORES, TAIL_NOT_SEEN
from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.ground.message_text import join_words
from polars_prcurve.core.judging.candidate import Candidate
from polars_prcurve.core.judging.case import Case
from polars_prcurve.core.judging.evidence_columns import EvidenceColumn
from polars_prcurve.view.verdicts.case_places import name_places
from polars_prcurve.view.verdicts.target_phrases import describe_best, describe_comparison, name_targets
from polars_prcurve.view.verdicts.value_phrases import (
    list_model_names,
    name_merit,
    name_model,
    write_value,
)
from polars_prcurve.view.words.number_words import (
    format_level,
    glue_numbers,
    say_lead,
    say_share,
    say_threshold,
)


class Caveat(NamedTuple):
    """A caveat of one case, before it is a sentence."""

    statement: str  # of several cases with the same statement one sentence names all
    detail: str = ""
    """What stands behind a colon, unless it differs between cases: their table has it. Without a
    statement it is a sentence on one case, and several have none."""


def write_caveats(cases: Sequence[Case]) -> tuple[str, ...]:
    """Return the caveats of cases as sentences, each with where it holds unless that is in all."""
    details_and_cases: dict[str, list[tuple[str, Case]]] = {}
    for case in cases:
        for statement, detail in list_caveats(case):
            if statement or len(cases) == 1:
                details_and_cases.setdefault(statement or detail, []).append((detail, case))
    sentences = []
    for statement, details_of_cases in details_and_cases.items():
        details = {detail for detail, _ in details_of_cases} - {"", statement}
        sentence = f"{statement}: {details.pop()}" if len(details) == 1 else statement
        if len(details_of_cases) < len(cases):
            sentence = f"{name_places([case for _, case in details_of_cases])}, {sentence}"
        sentences.append(glue_numbers(sentence))
    return tuple(sentences)


def list_caveats(case: Case) -> Iterator[Caveat]:
    """Yield the caveats of a case."""
    status, goal = case.status, case.goal
    if case.candidates[0].is_of_alerts and status != "too_little_data":
        yield Caveat("all examples are flagged: if others were left out, recall is unknown")
    elif status != "chance" or not case.has_one_score:
        yield from map(_describe_few_scores, case.models_of_few_scores)
    if status == "no_winner":
        yield from _compare_rivals(case)
    yield from _list_caveats_of_models(case)
    if status == "unsure" and goal.is_gate and (certainty := case.candidates[0].row[CERTAINTY]):
        met_phrase = "target is met" if len(goal.demand) == 1 else "targets are met"
        yield Caveat("", f"one-sided confidence that the {met_phrase}: {say_share(certainty)}")
    if status != "chance" or (goal.is_of_point and not case.flags_all):
        for doubt_text in case.interval_doubts:
            if doubt_text == TAIL_NOT_SEEN:
                yield Caveat("values may be too high: few negatives for the prevalence")
            else:
                yield Caveat(f"intervals may be too narrow: {doubt_text}")
    for doubt_text in _list_lead_doubts(case):
        yield Caveat(f"the comparison of models is in doubt: {doubt_text}")
    if case.has_estimated_eta:
        eta_text = write_value("precision", Estimate(case.eta, *case.eta_limits))
        yield Caveat("the prevalence is an estimate", eta_text)
    if case.compares_intervals and len(case.qualifiers) > 1:
        yield Caveat("models are compared by their separate intervals, without a paired test")


def _list_caveats_of_models(case: Case) -> Iterator[Caveat]:
    """Yield which models miss the targets, may be chance, are reversed, or are worse than the best."""
    status, goal = case.status, case.goal
    if unqualified_candidates := case.clear_misses:
        level_phrase = (
            "" if goal.guarantee is None else f" with {format_level(goal.guarantee)} confidence"
        )
        yield Caveat(
            f"no threshold of {list_model_names(unqualified_candidates)} meets the "
            f"{name_targets(goal.limits)}{level_phrase}",
            describe_best(unqualified_candidates),
        )
    suspects = [candidate for candidate in case.qualifiers if candidate.may_be_chance]
    if status in ("winner", "no_winner", "met") and suspects:
        yield Caveat(f"not significantly better than chance: {list_model_names(suspects)}")
    reversed_candidates = [candidate for candidate in case.candidates if candidate.is_reversed]
    if reversed_candidates and not case.is_reversed:  # or the verdict itself states it
        verb = "ranks" if len(reversed_candidates) == 1 else "rank"
        yield Caveat(
            f"scores are reversed: {list_model_names(reversed_candidates)} {verb} negatives above "
            "positives; negate them"
        )
    worse_candidates = [candidate for candidate in case.qualifiers if not candidate.may_be_best]
    if worse_candidates and status == "no_winner":
        yield Caveat("", f"significantly worse: {list_model_names(worse_candidates)}")


def _describe_few_scores(candidate: Candidate) -> Caveat:
    """Return which scores a model has that may be decisions, and what to pass instead."""
    score_texts = [say_threshold(score) for score in candidate.row[EvidenceColumn.FEW_SCORES]]
    owner_phrase = "" if candidate.model is None else f" of {name_model(candidate)}"
    if len(score_texts) == 1:
        return Caveat(f"all scores{owner_phrase} are {score_texts[0]}, so they rank nothing")
    joined_scores = join_words(score_texts, "or")
    advice = "pass scores or probabilities, not predicted labels"
    return Caveat(f"the scores{owner_phrase} are {joined_scores}: {advice}")


# Models without a clear winner --------------------------------------------------------------------


def _compare_rivals(case: Case) -> Iterator[Caveat]:
    """Yield what is known of the first two models beside their intervals, if none is the winner."""
    if case.has_equal_rivals:
        counts_phrase = "" if case.goal.is_of_curve else " and the same counts at the target"
        yield Caveat(
            f"the same average precision{counts_phrase} for {list_model_names(case.rivals[:2])}: if "
            "they rank all examples alike, there is no difference"
        )
    elif difference_text := describe_difference(case):
        yield Caveat("", f"difference in {name_merit(case)}: {difference_text}")
    yield from _compare_areas(case)
    comparison_phrase = describe_comparison(case.goal)
    if comparison_phrase and not _explains_difference(case.rivals[:2], case.lead):
        yield Caveat(
            f"each interval is for one threshold; models are compared{comparison_phrase}, which is "
            "less certain"
        )


def _explains_difference(rivals: Sequence[Candidate], lead_estimate: Estimate) -> bool:
    """Return whether two intervals allow all values of the interval of their difference."""
    merit_spans = [rival.merit.span for rival in rivals if rival.merit.span is not None]
    if len(merit_spans) < 2 or (lead_span := lead_estimate.span) is None:
        return True
    (low, high), (other_low, other_high) = merit_spans
    are_spans_apart = _order_spans(merit_spans) is not None  # and yet there is no clear winner
    return not are_spans_apart and low - other_high <= lead_span[0] and lead_span[1] <= high - other_low


def _compare_areas(case: Case) -> Iterator[Caveat]:
    """Yield which of the first two models has the higher area, if their intervals do not overlap."""
    first_rivals = [] if case.goal.is_of_curve else case.rivals[:2]
    area_estimates = [rival.read(EvidenceColumn.AREA) for rival in first_rivals]
    if span_order := _order_spans([area.span for area in area_estimates]):
        lower_index, higher_index = span_order
        low_text, high_text = (
            write_value("average_precision", area_estimates[index]) for index in span_order
        )
        yield Caveat(
            "no significant difference at the target, but "
            f"{name_model(first_rivals[higher_index])} has the higher average precision",
            f"{high_text}, against {low_text} for {name_model(first_rivals[lower_index])}",
        )


def _order_spans(spans: Sequence[tuple[float, float] | None]) -> tuple[int, int] | None:
    """Return which of two intervals is the lower one and which the higher; None if they overlap."""
    known_spans = [span for span in spans if span is not None]
    if len(known_spans) < 2:
        return None
    (first_low, first_high), (other_low, other_high) = known_spans
    return (0, 1) if first_high < other_low else (1, 0) if other_high < first_low else None


def _list_lead_doubts(case: Case) -> list[str]:
    """Return why differences to the best other model may be unreliable, where nothing else states it."""
    if case.status not in ("winner", "no_winner"):
        return []
    doubt_texts = {candidate.row.get(EvidenceColumn.LEAD_DOUBT) for candidate in case.qualifiers}
    doubt_texts -= {rival.row[DOUBT] for rival in case.rivals}
    doubt_texts -= {case.doubt_of_lead} if describe_difference(case) else set()
    return sorted(doubt_text for doubt_text in doubt_texts if doubt_text)


def describe_difference(case: Case) -> str:
    """Return how far the first model may be ahead of the best other one, or behind it; or no text."""
    compared_candidates = case.qualifiers if case.status == "winner" else case.rivals
    # With a guarantee the difference is at the target itself.
    if len(compared_candidates) < 2 or case.goal.guarantee is not None:
        return ""
    if case.lead.value is None or case.lead.span is None:
        return ""
    has_equal_scores = case.doubt_of_lead == EQUAL_SCORES
    return say_lead(
        (case.lead.value, *case.lead.span),
        name_model(compared_candidates[0]),
        len(case.candidates),
        "many cases share a score" if has_equal_scores else case.doubt_of_lead,
        is_rate=case.goal.is_of_rate,
    )
