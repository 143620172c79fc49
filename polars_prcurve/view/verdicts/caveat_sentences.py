"""Caveats beside a verdict, its `reasons`: what else the data show, and what weakens an interval.

judged case -> caveats     what each states, and of which models, doubts or values
            -> sentences   each caveat once, with where it holds, see `write_caveats`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from polars_prcurve.core.confidence.doubts import DOUBT, EQUAL_SCORES, TAIL_NOT_SEEN
from polars_prcurve.core.confidence.estimates import CERTAINTY, Estimate
from polars_prcurve.core.ground.message_text import join_words
from polars_prcurve.core.judging.candidate import Candidate
from polars_prcurve.core.judging.case import Case
from polars_prcurve.core.judging.evidence_columns import EvidenceColumn
from polars_prcurve.core.metrics.target_definitions import TARGET_KINDS
from polars_prcurve.view.verdicts.case_places import join_places
from polars_prcurve.view.verdicts.target_phrases import describe_best, describe_comparison, name_targets
from polars_prcurve.view.verdicts.value_phrases import (
    MOST_NAMES,
    format_metric,
    list_names,
    list_texts,
    name_merit,
    name_model,
    write_value,
)
from polars_prcurve.view.words.names_in_sentences import name_metric_of_target
from polars_prcurve.view.words.number_words import (
    format_level,
    glue_numbers,
    say_lead,
    say_share,
    say_threshold,
)

_Details: TypeAlias = Literal["models", "doubts", "number", "values", "comparison"]
"""What a caveat is of. Where that differs between cases, models and doubts are named with their cases,
and of many numbers the ends; values are left out, and comparisons with their caveat: a picture or a
table has them."""


class Caveat(NamedTuple):
    """A caveat of one case, before it is a sentence."""

    statement: str  # caveats of several cases with the same statement are one sentence
    detail_texts: Sequence[str] = ()  # what stands behind a colon
    kind_of_details: _Details = "values"
    sort_value: float = 0.0  # of details that are numbers
    condition_phrase: str = ""  # where numbers are, if only some cases have them


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
        statement_text = f"one-sided confidence that the {met_phrase}"
        yield Caveat(statement_text, [say_share(certainty)], "number", certainty, ", where undecided")
    rests_on_interval = status != "chance" or (goal.is_of_point and not case.flags_all)
    if rests_on_interval and (doubt_texts := case.interval_doubts):
        yield from _describe_doubts(doubt_texts)
    if doubt_texts := _list_lead_doubts(case):
        yield Caveat("the comparison of models is in doubt", doubt_texts, "doubts")
    if case.has_estimated_eta:
        eta_text = write_value("precision", Estimate(case.eta, *case.eta_limits))
        # Without groups, cases are named by their prevalences.
        kind_of_details: _Details = "number" if case.groups else "values"
        yield Caveat("the prevalence is an estimate", [eta_text], kind_of_details, case.eta or 0.0)
    if case.compares_intervals and len(case.qualifiers) > 1:
        yield Caveat("models are compared by their separate intervals, without a paired test")


def _list_caveats_of_models(case: Case) -> Iterator[Caveat]:
    """Yield which models miss the targets, may be chance, are reversed, or are worse than the best."""
    status, goal = case.status, case.goal
    if unqualified_candidates := case.clear_misses:
        level_phrase = (
            "" if goal.guarantee is None else f" with {format_level(goal.guarantee)} confidence"
        )
        statement_text = (
            f"no threshold of {list_names(unqualified_candidates)} meets the "
            f"{name_targets(goal.limits)}{level_phrase}"
        )
        yield Caveat(
            statement_text, [best_text] if (best_text := describe_best(unqualified_candidates)) else []
        )
    suspect_names = [name_model(candidate) for candidate in case.qualifiers if candidate.may_be_chance]
    if status in ("winner", "no_winner", "met") and suspect_names:
        yield Caveat("not significantly better than chance", suspect_names, "models")
    reversed_candidates = [candidate for candidate in case.candidates if candidate.is_reversed]
    if reversed_candidates and not case.is_reversed:  # or the verdict itself states it
        reversed_names = list_names(reversed_candidates)
        verb = "ranks" if len(reversed_candidates) == 1 else "rank"
        yield Caveat(
            f"scores are reversed: {reversed_names} {verb} negatives above positives; negate them"
        )
    worse_candidates = [candidate for candidate in case.qualifiers if not candidate.may_be_best]
    if worse_candidates and status == "no_winner":
        yield Caveat("significantly worse", [_name_worse(case, worse_candidates)], "comparison")


def write_caveats(cases: Sequence[Case], case_names: Sequence[str]) -> tuple[str, ...]:
    """Return the caveats of cases as sentences, each with where it holds unless that is in all."""
    named_caveats_by_statement: dict[str, list[tuple[str, Caveat]]] = {}
    for case, case_name in zip(cases, case_names, strict=True):
        for caveat in list_caveats(case):
            named_caveats_by_statement.setdefault(caveat.statement, []).append((case_name, caveat))
    sentences = (
        _write_caveat(named_caveats, cases) for named_caveats in named_caveats_by_statement.values()
    )
    return tuple(glue_numbers(sentence) for sentence in sentences if sentence)


def _write_caveat(named_caveats: Sequence[tuple[str, Caveat]], cases: Sequence[Case]) -> str:
    """Return the sentence of caveats with one statement, each with its case; it may be left out."""
    case_names, first_caveat = [case_name for case_name, _ in named_caveats], named_caveats[0][1]
    statement, kind_of_details = first_caveat.statement, first_caveat.kind_of_details
    join_details = list_texts if kind_of_details == "models" else join_words
    if all(caveat.detail_texts == first_caveat.detail_texts for _, caveat in named_caveats):
        caveat_text = (
            f"{statement}: {join_details(first_caveat.detail_texts)}"
            if first_caveat.detail_texts
            else statement
        )
        return _add_places(caveat_text, case_names, cases)
    if kind_of_details == "comparison":
        return ""
    if kind_of_details == "values":
        return _add_places(statement, case_names, cases)
    case_names_by_detail: dict[str, list[str]] = {}
    for case_name, caveat in named_caveats:
        for detail in caveat.detail_texts:
            case_names_by_detail.setdefault(detail, []).append(case_name)
    distinct_details = [*case_names_by_detail]
    if kind_of_details == "number":
        sort_value_by_detail = {caveat.detail_texts[0]: caveat.sort_value for _, caveat in named_caveats}
        distinct_details.sort(key=sort_value_by_detail.__getitem__)
        statement += first_caveat.condition_phrase if len(case_names) < len(cases) else ""
    detail_texts = [
        _add_places(detail, case_names_by_detail[detail], cases) for detail in distinct_details
    ]
    if kind_of_details == "number" and len(detail_texts) > MOST_NAMES:
        return f"{statement}: from {detail_texts[0]} to {detail_texts[-1]}"
    return f"{statement}: {join_details(detail_texts)}"


def _add_places(caveat_text: str, case_names: Sequence[str], cases: Sequence[Case]) -> str:
    """Return a text with the cases where it holds: in brackets, unless there are brackets already."""
    if len(case_names) == len(cases):
        return caveat_text
    places_text = (
        join_words(case_names) if len(case_names) <= MOST_NAMES else f"{len(case_names)} of {len(cases)}"
    )
    has_brackets = "(" in places_text or caveat_text.endswith(")")
    return f"{caveat_text} {join_places(cases, [places_text]) if has_brackets else f'({places_text})'}"


def _describe_doubts(doubt_texts: Sequence[str]) -> Iterator[Caveat]:
    """Yield why intervals may be too narrow, and whether values may be too high."""
    if narrow_texts := [doubt_text for doubt_text in doubt_texts if doubt_text != TAIL_NOT_SEEN]:
        yield Caveat("intervals may be too narrow", narrow_texts, "doubts")
    if TAIL_NOT_SEEN in doubt_texts:
        yield Caveat("values may be too high: few negatives for the prevalence")


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
            f"the same average precision{counts_phrase} for {list_names(case.rivals[:2])}: if they "
            "rank all examples alike, there is no difference"
        )
    elif difference_text := describe_difference(case):
        yield Caveat(f"difference in {name_merit(case)}", [difference_text], "comparison")
    yield from _compare_areas(case)
    if not _explains_difference(case.rivals[:2], case.lead) and (
        comparison_phrase := describe_comparison(case.goal)
    ):
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
            [f"{high_text}, against {low_text} for {name_model(first_rivals[lower_index])}"],
        )


def _name_worse(case: Case, worse_candidates: Sequence[Candidate]) -> str:
    """Return the names of models that are worse at the target, and of one with the highest area."""
    area_pairs = [(candidate.read(EvidenceColumn.AREA), candidate) for candidate in case.qualifiers]
    known_area_pairs = [
        (area_estimate, candidate)
        for area_estimate, candidate in area_pairs
        if area_estimate.value is not None
    ]
    worse_names = list_names(worse_candidates)
    if case.goal.is_of_curve or not known_area_pairs:
        return worse_names
    area_estimate, candidate = max(known_area_pairs, key=lambda pair: float(pair[0].value))
    if candidate not in worse_candidates:
        return worse_names
    highest_phrase = (
        f"has the highest average precision, {write_value('average_precision', area_estimate)}"
    )
    return (
        f"{worse_names}, though {'it' if len(worse_candidates) == 1 else name_model(candidate)} "
        f"{highest_phrase}"
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


def _describe_equal_scores(case: Case) -> str:
    """Return in plain words why models with many equal scores are hard to compare; else empty."""
    if case.doubt_of_lead != EQUAL_SCORES:
        return ""
    limit_columns = [TARGET_KINDS[target_name].column for target_name in case.goal.limits]
    value_texts = [
        format_metric(rival, column)[0] for rival in case.rivals[:2] for column in limit_columns
    ]
    reason_text = "many cases share a score"
    if len(limit_columns) != 1 or len(set(value_texts)) == 1:
        return reason_text
    [target_name] = case.goal.limits
    return (
        f"{reason_text}, and no threshold gives both models the same "
        f"{name_metric_of_target(target_name)}"
    )


def describe_difference(case: Case) -> str:
    """Return how far the first model may be ahead of the best other one, or behind it; or no text."""
    compared_candidates = case.qualifiers if case.status == "winner" else case.rivals
    # With a guarantee the difference is at the target itself.
    if len(compared_candidates) < 2 or case.goal.guarantee is not None:
        return ""
    lead_estimate = case.lead
    if lead_estimate.value is None or lead_estimate.span is None:
        return ""
    return say_lead(
        (lead_estimate.value, *lead_estimate.span),
        name_model(compared_candidates[0]),
        len(case.candidates),
        _describe_equal_scores(case) or case.doubt_of_lead,
        is_rate=case.goal.is_of_rate,
    )
