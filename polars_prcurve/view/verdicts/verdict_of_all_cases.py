"""The verdict above several cases in words: what holds in all of them, and what in which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from polars_prcurve.core.judging.case_status import Case, JudgedCase
from polars_prcurve.core.judging.overall_status import JudgedTable, are_alike, find_least_known
from polars_prcurve.core.judging.status_names import GroupStanding
from polars_prcurve.view.verdicts.case_places import say_place, say_places
from polars_prcurve.view.verdicts.need_sentences import say_group_need
from polars_prcurve.view.verdicts.value_phrases import list_names, name_outcome, start_sentence
from polars_prcurve.view.verdicts.verdict import Verdict
from polars_prcurve.view.words.number_words import glue_numbers
from polars_prcurve.view.words.value_names import join_words

_MOST_PLACES = 3  # places, at most, that a sentence names; of more it says how many
_MOST_VERDICTS = 4  # verdicts, at most, that the sentence above many cases tells one by one


@dataclass(frozen=True)
class WordedCase(JudgedCase):
    """A judged case, and its verdict in words."""

    verdict: Verdict
    name: str  # its name where all cases stand below each other: `Algeria, 1 in 15`


def sum_up(judged_table: JudgedTable, cases: Sequence[WordedCase]) -> Verdict:
    """Return the one verdict of all cases of a table."""
    if not cases:
        return Verdict(
            judged_table.status, judged_table.models, "Too little data: the table has no rows"
        )
    if len(cases) == 1:
        return cases[0].verdict
    reasons = _join_reasons([case.verdict for case in cases])
    if judged_table.group_tests is not None:
        sentence, need_sentence = (
            _say_groups(judged_table),
            say_group_need(cases, judged_table.confidence),
        )
    else:
        sentence = _say_everywhere(judged_table, cases[0]) if are_alike(cases) else _say_differing(cases)
        sentence, need_sentence = glue_numbers(sentence), glue_numbers(_say_need_of_least_known(cases))
    return Verdict(
        judged_table.status,
        judged_table.models,
        sentence=sentence,
        reasons=reasons,
        would_settle=need_sentence,
    )


def say_status(judged_table: JudgedTable) -> str:
    """Return the status as people read it; of several cases, in how many it is settled or told apart."""
    n_cases = len(judged_table.cases)
    if judged_table.group_tests is not None:
        return f"{judged_table.n_groups_apart} of {n_cases} told apart"
    return (
        f"settled in {judged_table.n_settled} of {n_cases}"
        if 0 < judged_table.n_settled < n_cases
        else judged_table.status
    )


def _say_groups(judged_table: JudgedTable) -> str:
    """Return how many groups are told apart from all others together."""
    n_cases_by_outcome = Counter(case.outcome for case in judged_table.cases)
    n_little_known, n_open = n_cases_by_outcome["too little data"], n_cases_by_outcome["open"]
    n_judged = len(judged_table.cases) - n_little_known
    lead_clause = f"No group is told apart from all others together, of {n_judged}"
    tested_standings: tuple[GroupStanding, ...] = ("worse", "better")
    if standings := [standing for standing in tested_standings if n_cases_by_outcome[standing]]:
        count_phrases = [f"{n_cases_by_outcome[standing]} {standing}" for standing in standings]
        n_first = n_cases_by_outcome[standings[0]]
        count_phrases[0] = f"{n_first} {'group is' if n_first == 1 else 'groups are'} {standings[0]}"
        lead_clause = f"{join_words(count_phrases)} than all other groups together"
    clauses = []
    if standings and n_open:
        clauses.append(f"{n_open} {'is' if n_open == 1 else 'are'} not told apart from them")
    if n_little_known:
        clauses.append(f"{n_little_known} {'has' if n_little_known == 1 else 'have'} too little data")
    return "; ".join([lead_clause, ", ".join(clauses)]) if clauses else lead_clause


def _say_everywhere(judged_table: JudgedTable, case: WordedCase) -> str:
    """Return the one verdict that holds in all cases, with the numbers of the first case."""
    opening, colon, value_clause = case.verdict.sentence.partition(": ")
    if not colon or (case.status == "settled" and len(case.candidates) == 1):
        opening, value_clause = "Better than chance", case.verdict.sentence
    return f"{opening} {say_places(judged_table.cases, 'all')}; {say_place(case)}: {value_clause}"


def _say_need_of_least_known(cases: Sequence[WordedCase]) -> str:
    """Return what would settle the case of which least is known, and where that is."""
    case = find_least_known(cases)
    need_sentence = case.verdict.would_settle
    if need_sentence and any(other_case.verdict.would_settle != need_sentence for other_case in cases):
        need_sentence = (
            f"{start_sentence(say_place(case))}: {need_sentence[:1].lower()}{need_sentence[1:]}"
        )
    return need_sentence


def _join_reasons(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return the reasons of all cases, those that start alike together, and in how many they hold."""
    tails_by_head: dict[str, dict[str, None]] = {}
    n_cases_by_head: Counter[str] = Counter()
    for verdict in verdicts:
        n_cases_by_head.update({reason.partition(": ")[0] for reason in verdict.reasons})
        for reason in verdict.reasons:
            head, _, tail = reason.partition(": ")
            tails_by_head.setdefault(head, {})[tail] = None
    reasons = []
    for head, tails in tails_by_head.items():
        # Who is behind in one group may lead in another: a picture or a table tells.
        if head == "behind" and len(tails) > 1:
            continue
        tail = join_words([tail for tail in tails if tail] or [""])
        share_note = (
            ""
            if n_cases_by_head[head] == len(verdicts)
            else f" ({n_cases_by_head[head]} of {len(verdicts)})"
        )
        reasons.append(f"{head}{': ' if tail else ''}{tail}{share_note}")
    return tuple(reasons)


def _say_differing(cases: Sequence[JudgedCase]) -> str:
    """Return which verdicts there are, and where each of them holds; of many the most frequent ones."""
    if {case.status for case in cases} == {"not told apart"}:
        return _say_nowhere_settled(cases)
    cases_by_verdict: dict[str, list[JudgedCase]] = {}
    for case in cases:
        cases_by_verdict.setdefault(say_short(case), []).append(case)
    n_groups = len({tuple(case.groups.values()) for case in cases})
    n_etas = len({case.eta for case in cases})
    unit_name = "prevalence" if n_groups == 1 else "group"
    cases_of_verdicts = sorted(
        cases_by_verdict.items(), key=lambda verdict_and_cases: -len(verdict_and_cases[1])
    )
    if len(cases_of_verdicts) > _MOST_VERDICTS:
        rare_verdicts = cases_of_verdicts[_MOST_VERDICTS - 1 :]
        rare_cases = [case for _, same_cases in rare_verdicts for case in same_cases]
        cases_of_verdicts[_MOST_VERDICTS - 1 :] = [(f"{len(rare_verdicts)} other verdicts", rare_cases)]
    clauses = []
    for verdict_text, same_cases in cases_of_verdicts:
        places_phrase = join_words([say_place(case, has_eta=n_etas > 1) for case in same_cases])
        if len(same_cases) > _MOST_PLACES:
            places_phrase = (
                f"{'at' if unit_name == 'prevalence' else 'in'} {len(same_cases)} {unit_name}s"
            )
        clauses.append(f"{verdict_text} {places_phrase}")
    return f"It depends on the {unit_name}: {'; '.join(clauses)}"


def _say_nowhere_settled(cases: Sequence[Case]) -> str:
    """Return that models are told apart in none of the cases, where not all have the same rivals."""
    places_phrase = say_places(cases, "any of")
    candidate_by_model = {candidate.model: candidate for case in cases for candidate in case.candidates}
    if len(candidate_by_model) > 2:
        return f"Which of {len(candidate_by_model)} models is best is not settled {places_phrase}"
    names_phrase = list_names(
        sorted(candidate_by_model.values(), key=lambda candidate: str(candidate.model))
    )
    return f"{names_phrase} are not told apart {places_phrase}"


def say_short(case: JudgedCase) -> str:
    """Return a verdict in a few words."""
    if case.standing is not None:
        return name_outcome(case.outcome)
    verdict_candidates = [candidate for candidate in case.candidates if candidate.model in case.models]
    if case.status == "settled":
        return (
            f"{list_names(verdict_candidates)} is better"
            if len(case.candidates) > 1
            else "better than chance"
        )
    if len(verdict_candidates) > 2:
        return f"{len(verdict_candidates)} models are not told apart"
    verdict_candidates.sort(key=lambda candidate: str(candidate.model))  # whichever is first by chance
    return f"{list_names(verdict_candidates)} are not told apart" if verdict_candidates else case.status
