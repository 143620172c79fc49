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


def sum_up(table: JudgedTable, cases: Sequence[WordedCase]) -> Verdict:
    """Return the one verdict of all cases of a table."""
    if not cases:
        return Verdict(table.status, table.models, "Too little data: the table has no rows")
    if len(cases) == 1:
        return cases[0].verdict
    reasons = _join_reasons([case.verdict for case in cases])
    if table.group_tests is not None:
        sentence, need = _say_groups(table), say_group_need(cases, table.confidence)
    else:
        sentence = _say_everywhere(table, cases[0]) if are_alike(cases) else _say_differing(cases)
        sentence, need = glue_numbers(sentence), glue_numbers(_say_need_of_least_known(cases))
    return Verdict(table.status, table.models, sentence=sentence, reasons=reasons, would_settle=need)


def say_status(table: JudgedTable) -> str:
    """Return the status as people read it; of several cases, in how many it is settled or told apart."""
    n = len(table.cases)
    if table.group_tests is not None:
        return f"{table.n_groups_apart} of {n} told apart"
    return f"settled in {table.n_settled} of {n}" if 0 < table.n_settled < n else table.status


def _say_groups(table: JudgedTable) -> str:
    """Return how many groups are told apart from all others together."""
    counts = Counter(case.outcome for case in table.cases)
    n_little, n_open = counts["too little data"], counts["open"]
    lead = f"No group is told apart from all others together, of {len(table.cases) - n_little}"
    ends: tuple[GroupStanding, ...] = ("worse", "better")
    if standings := [standing for standing in ends if counts[standing]]:
        numbers = [f"{counts[standing]} {standing}" for standing in standings]
        n = counts[standings[0]]
        numbers[0] = f"{n} {'group is' if n == 1 else 'groups are'} {standings[0]}"
        lead = f"{join_words(numbers)} than all other groups together"
    clauses = []
    if standings and n_open:
        clauses.append(f"{n_open} {'is' if n_open == 1 else 'are'} not told apart from them")
    if n_little:
        clauses.append(f"{n_little} {'has' if n_little == 1 else 'have'} too little data")
    return "; ".join([lead, ", ".join(clauses)]) if clauses else lead


def _say_everywhere(table: JudgedTable, case: WordedCase) -> str:
    """Return the one verdict that holds in all cases, with the numbers of the first case."""
    start, colon, end = case.verdict.sentence.partition(": ")
    if not colon or (case.status == "settled" and len(case.candidates) == 1):
        start, end = "Better than chance", case.verdict.sentence
    return f"{start} {say_places(table.cases, 'all')}; {say_place(case)}: {end}"


def _say_need_of_least_known(cases: Sequence[WordedCase]) -> str:
    """Return what would settle the case of which least is known, and where that is."""
    case = find_least_known(cases)
    need = case.verdict.would_settle
    if need and any(other.verdict.would_settle != need for other in cases):
        need = f"{start_sentence(say_place(case))}: {need[:1].lower()}{need[1:]}"
    return need


def _join_reasons(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return the reasons of all cases, those that start alike together, and in how many they hold."""
    tails_by_head: dict[str, dict[str, None]] = {}
    number: Counter[str] = Counter()
    for verdict in verdicts:
        number.update({reason.partition(": ")[0] for reason in verdict.reasons})
        for reason in verdict.reasons:
            head, _, tail = reason.partition(": ")
            tails_by_head.setdefault(head, {})[tail] = None
    reasons = []
    for head, tails in tails_by_head.items():
        # Who is behind in one group may lead in another: a picture or a table tells.
        if head == "behind" and len(tails) > 1:
            continue
        tail = join_words([tail for tail in tails if tail] or [""])
        places = "" if number[head] == len(verdicts) else f" ({number[head]} of {len(verdicts)})"
        reasons.append(f"{head}{': ' if tail else ''}{tail}{places}")
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
    unit = "prevalence" if n_groups == 1 else "group"
    verdicts = sorted(cases_by_verdict.items(), key=lambda item: -len(item[1]))
    if len(verdicts) > _MOST_VERDICTS:
        rare_verdicts = verdicts[_MOST_VERDICTS - 1 :]
        rare_cases = [case for _, same_cases in rare_verdicts for case in same_cases]
        verdicts[_MOST_VERDICTS - 1 :] = [(f"{len(rare_verdicts)} other verdicts", rare_cases)]
    clauses = []
    for words, same_cases in verdicts:
        places = join_words([say_place(case, with_eta=n_etas > 1) for case in same_cases])
        if len(same_cases) > _MOST_PLACES:
            places = f"{'at' if unit == 'prevalence' else 'in'} {len(same_cases)} {unit}s"
        clauses.append(f"{words} {places}")
    return f"It depends on the {unit}: {'; '.join(clauses)}"


def _say_nowhere_settled(cases: Sequence[Case]) -> str:
    """Return that models are told apart in none of the cases, where not all have the same rivals."""
    places = say_places(cases, "any of")
    models = {model.model: model for case in cases for model in case.candidates}
    if len(models) > 2:
        return f"Which of {len(models)} models is best is not settled {places}"
    names = list_names(sorted(models.values(), key=lambda candidate: str(candidate.model)))
    return f"{names} are not told apart {places}"


def say_short(case: JudgedCase) -> str:
    """Return a verdict in a few words."""
    if case.standing is not None:
        return name_outcome(case.outcome)
    models = [candidate for candidate in case.candidates if candidate.model in case.models]
    if case.status == "settled":
        return f"{list_names(models)} is better" if len(case.candidates) > 1 else "better than chance"
    if len(models) > 2:
        return f"{len(models)} models are not told apart"
    models.sort(key=lambda candidate: str(candidate.model))  # whichever is first by chance
    return f"{list_names(models)} are not told apart" if models else case.status
