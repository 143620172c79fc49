"""Caveats beside a verdict, its `reasons`: what else the data show, and what weakens an interval.

judged case -> caveats     what each states, and of which models, doubts or values
            -> sentences   each caveat once, with where it holds, see `write_caveats`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from polars_prcurve.core.confidence.confidence_that_limit_holds import CERTAINTY
from polars_prcurve.core.confidence.doubts import DOUBT, EQUAL_SCORES
from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.ground.message_text import add_noun, join_words
from polars_prcurve.core.judging.candidate import Candidate
from polars_prcurve.core.judging.case_status import Case
from polars_prcurve.core.judging.evidence import EvidenceColumn
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
    MINUS,
    format_level,
    glue_numbers,
    say_share,
    say_threshold,
    write_apart,
)

_Details: TypeAlias = Literal["models", "doubts", "number", "values", "comparison"]
"""What a caveat is of. Where that differs between cases, models and doubts are named with their cases,
and of many numbers the ends; values are left out, and comparisons with their caveat: a picture or a
table has them."""


class Caveat(NamedTuple):
    """A caveat of one case, before it is a sentence."""

    statement: str  # caveats of several cases with the same statement are one sentence
    details: Sequence[str] = ()  # what stands behind a colon
    kind: _Details = "values"
    number: float = 0.0  # what sorts numbers
    condition: str = ""  # where numbers are, if only some cases have them


def list_caveats(case: Case) -> Iterator[Caveat]:
    """Yield the caveats of a case."""
    status, goal = case.status, case.goal
    if case.candidates[0].is_of_alerts and status != "too_little_data":
        yield Caveat("all examples are flagged: if others were left out, recall is unknown")
    elif status != "chance" or not case.has_one_score:
        yield from map(_describe_few_scores, case.models_of_few_scores)
    if status == "no_winner":
        yield from _compare_rivals(case)
    if candidates := case.clear_misses:
        level = "" if goal.guarantee is None else f" with {format_level(goal.guarantee)} confidence"
        statement = (
            f"no threshold of {list_names(candidates)} meets the {name_targets(goal.limits)}{level}"
        )
        yield Caveat(statement, [best] if (best := describe_best(candidates)) else [])
    suspects = [name_model(candidate) for candidate in case.qualifiers if candidate.may_be_chance]
    if status in ("winner", "no_winner", "met") and suspects:
        yield Caveat("not significantly better than chance", suspects, "models")
    backward_models = [candidate for candidate in case.candidates if candidate.is_reversed]
    if backward_models and not case.is_reversed:  # or the verdict itself states it
        names = list_names(backward_models)
        verb = "ranks" if len(backward_models) == 1 else "rank"
        yield Caveat(f"scores are reversed: {names} {verb} negatives above positives; negate them")
    losers = [candidate for candidate in case.qualifiers if not candidate.may_be_best]
    if losers and status == "no_winner":
        yield Caveat("significantly worse", [_list_losers(case, losers)], "comparison")
    if status == "unsure" and goal.is_gate and (certainty := case.candidates[0].row[CERTAINTY]):
        met_phrase = "target is met" if len(goal.demand) == 1 else "targets are met"
        statement = f"one-sided confidence that the {met_phrase}"
        yield Caveat(statement, [say_share(certainty)], "number", certainty, ", where undecided")
    rests_on_interval = status != "chance" or (goal.is_of_point and not case.flags_all)
    if rests_on_interval and (doubts := case.interval_doubts):
        yield Caveat("intervals may be too narrow", doubts, "doubts")
    if doubts := _list_lead_doubts(case):
        yield Caveat("the comparison of models is in doubt", doubts, "doubts")
    if case.has_estimated_eta:
        value_text = write_value("precision", Estimate(case.eta, *case.eta_limits))
        kind: _Details = "number" if case.groups else "values"  # cases are named by their prevalences
        yield Caveat("the prevalence is an estimate", [value_text], kind, case.eta or 0.0)
    if case.compares_intervals and len(case.qualifiers) > 1:
        yield Caveat("models are compared by their separate intervals, without a paired test")


def write_caveats(cases: Sequence[Case], names: Sequence[str]) -> tuple[str, ...]:
    """Return the caveats of cases as sentences, each with where it holds unless that is in all."""
    caveats_by_statement: dict[str, list[tuple[str, Caveat]]] = {}
    for case, name in zip(cases, names, strict=True):
        for caveat in list_caveats(case):
            caveats_by_statement.setdefault(caveat.statement, []).append((name, caveat))
    sentences = (_write_caveat(named_caveats, cases) for named_caveats in caveats_by_statement.values())
    return tuple(glue_numbers(sentence) for sentence in sentences if sentence)


def _write_caveat(named_caveats: Sequence[tuple[str, Caveat]], cases: Sequence[Case]) -> str:
    """Return the sentence of caveats with one statement, each with its case; it may be left out."""
    names, (first, *_) = [name for name, _ in named_caveats], [caveat for _, caveat in named_caveats]
    statement, list_details = first.statement, list_texts if first.kind == "models" else join_words
    if all(caveat.details == first.details for _, caveat in named_caveats):
        text = f"{statement}: {list_details(first.details)}" if first.details else statement
        return _place(text, names, cases)
    if first.kind == "comparison":
        return ""
    if first.kind == "values":
        return _place(statement, names, cases)
    names_of_detail: dict[str, list[str]] = {}
    for name, caveat in named_caveats:
        for detail in caveat.details:
            names_of_detail.setdefault(detail, []).append(name)
    details = [*names_of_detail]
    if first.kind == "number":
        number_of_detail = {caveat.details[0]: caveat.number for _, caveat in named_caveats}
        details.sort(key=number_of_detail.__getitem__)
        statement += first.condition if len(names) < len(cases) else ""
    texts = [_place(detail, names_of_detail[detail], cases) for detail in details]
    if first.kind == "number" and len(texts) > MOST_NAMES:
        return f"{statement}: from {texts[0]} to {texts[-1]}"
    return f"{statement}: {list_details(texts)}"


def _place(text: str, names: Sequence[str], cases: Sequence[Case]) -> str:
    """Return a text with the cases where it holds: in brackets, unless there are brackets already."""
    if len(names) == len(cases):
        return text
    names_text = join_words(names) if len(names) <= MOST_NAMES else f"{len(names)} of {len(cases)}"
    has_brackets = "(" in names_text or text.endswith(")")
    return f"{text} {join_places(cases, [names_text]) if has_brackets else f'({names_text})'}"


def _describe_few_scores(candidate: Candidate) -> Caveat:
    """Return which scores a model has that may be decisions, and what to pass instead."""
    scores = [say_threshold(score) for score in candidate.row[EvidenceColumn.FEW_SCORES]]
    owner = "" if candidate.model is None else f" of {name_model(candidate)}"
    if len(scores) == 1:
        return Caveat(f"all scores{owner} are {scores[0]}, so they rank nothing")
    values = join_words(scores, "or")
    advice = "pass scores or probabilities, not predicted labels"
    return Caveat(f"the scores{owner} are {values}: {advice}")


# Models without a clear winner --------------------------------------------------------------------


def _compare_rivals(case: Case) -> Iterator[Caveat]:
    """Yield what is known of the first two models beside their intervals, if none is the winner."""
    if case.has_equal_rivals:
        counts = "" if case.goal.is_of_curve else " and the same counts at the target"
        yield Caveat(
            f"the same average precision{counts} for {list_names(case.rivals[:2])}: if they rank all "
            "examples alike, there is no difference"
        )
    elif difference := describe_difference(case):
        yield Caveat(f"difference in {name_merit(case)}", [difference], "comparison")
    yield from _compare_areas(case)
    if not _explains_difference(case.rivals[:2], case.lead) and (
        where := describe_comparison(case.goal)
    ):
        yield Caveat(
            f"each interval is for one threshold; models are compared{where}, which is less certain"
        )


def _explains_difference(rivals: Sequence[Candidate], lead: Estimate) -> bool:
    """Return whether two intervals allow all values of the interval of their difference."""
    spans = [rival.merit.span for rival in rivals if rival.merit.span is not None]
    if len(spans) < 2 or (gap_span := lead.span) is None:
        return True
    (low, high), (other_low, other_high) = spans
    is_apart = _find_order(spans) is not None  # and yet there is no clear winner
    return not is_apart and low - other_high <= gap_span[0] and gap_span[1] <= high - other_low


def _compare_areas(case: Case) -> Iterator[Caveat]:
    """Yield which of the first two models has the higher area, if their intervals do not overlap."""
    rivals = [] if case.goal.is_of_curve else case.rivals[:2]
    areas = [rival.read(EvidenceColumn.AREA) for rival in rivals]
    if order := _find_order([area.span for area in areas]):
        lower, higher = order
        low_text, high_text = (write_value("average_precision", areas[side]) for side in order)
        yield Caveat(
            "no significant difference at the target, but "
            f"{name_model(rivals[higher])} has the higher average precision",
            [f"{high_text}, against {low_text} for {name_model(rivals[lower])}"],
        )


def _list_losers(case: Case, losers: Sequence[Candidate]) -> str:
    """Return the names of models that are worse at the target, and of one with the highest area."""
    areas = [(candidate.read(EvidenceColumn.AREA), candidate) for candidate in case.qualifiers]
    known_areas = [(area, candidate) for area, candidate in areas if area.value is not None]
    names = list_names(losers)
    if case.goal.is_of_curve or not known_areas:
        return names
    area, candidate = max(known_areas, key=lambda pair: float(pair[0].value))
    if candidate not in losers:
        return names
    highest = f"has the highest average precision, {write_value('average_precision', area)}"
    return f"{names}, though {'it' if len(losers) == 1 else name_model(candidate)} {highest}"


def _find_order(spans: Sequence[tuple[float, float] | None]) -> tuple[int, int] | None:
    """Return which of two intervals is the lower one and which the higher; None if they overlap."""
    known_spans = [span for span in spans if span is not None]
    if len(known_spans) < 2:
        return None
    (low, high), (other_low, other_high) = known_spans
    return (0, 1) if high < other_low else (1, 0) if other_high < low else None


def _list_lead_doubts(case: Case) -> list[str]:
    """Return why differences to the best other model may be unreliable, where nothing else states it."""
    if case.status not in ("winner", "no_winner"):
        return []
    doubts = {candidate.row.get(EvidenceColumn.LEAD_DOUBT) for candidate in case.qualifiers}
    doubts -= {rival.row[DOUBT] for rival in case.rivals}
    doubts -= {case.doubt_of_lead} if describe_difference(case) else set()
    return sorted(doubt for doubt in doubts if doubt)


def _describe_equal_scores(case: Case) -> str:
    """Return in plain words why models with many equal scores are hard to compare; else empty."""
    if case.doubt_of_lead != EQUAL_SCORES:
        return ""
    columns = [TARGET_KINDS[word].column for word in case.goal.limits]
    values = [format_metric(rival, column)[0] for rival in case.rivals[:2] for column in columns]
    start = "many cases share a score"
    if len(columns) != 1 or len(set(values)) == 1:
        return start
    [word] = case.goal.limits
    return f"{start}, and no threshold gives both models the same {name_metric_of_target(word)}"


def describe_difference(case: Case) -> str:
    """Return how far the first model may be ahead of the best other one, or behind it; or no text."""
    models = case.qualifiers if case.status == "winner" else case.rivals
    if len(models) < 2 or case.goal.guarantee is not None:  # the difference is at the target itself
        return ""
    lead = case.lead
    if lead.value is None or lead.span is None:
        return ""
    (low, high), is_rate = lead.span, case.goal.is_of_rate
    values = [100 * value if is_rate else value for value in (lead.value, low, high)]
    lead_text, low_text, high_text = write_apart(values)
    lead_text, gain_text = (
        add_noun(text, "point") if is_rate else text for text in (lead_text, high_text)
    )
    first = name_model(models[0])
    pair = f"between {first} and the best of the others " if len(case.candidates) > 2 else ""
    text = f"{lead_text} {pair}({low_text} to {high_text})"
    if doubt := case.doubt_of_lead:
        return f"{text}, which is in doubt: {_describe_equal_scores(case) or doubt}"
    if low >= 0 or high <= 0:
        return text
    gain, loss = f"up to {gain_text} better", f"{low_text.removeprefix(MINUS)} worse"
    return f"{text}, so {first} may be {gain}, or {loss}"
