"""Decide: ask a table once, judge each case, and say one verdict above them.

bound table -> evidence   what its methods say, see `evidence`
            -> cases      groups at prevalences, see `cases`
            -> verdicts   one for each case, see `verdict_sentences`
            -> verdict    the one above them
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from polars_prcurve.core.judging.cases import (
    STATUSES,
    Case,
    JudgedCase,
    Status,
    Verdict,
    list_cases,
)
from polars_prcurve.core.judging.evidence import (
    BINDING,
    IS_REVERSED,
    Asked,
    Evidence,
    GroupTests,
    collect_evidence,
    test_groups,
)
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.view.verdicts.verdict_phrases import list_names, name_model, start_sentence
from polars_prcurve.view.verdicts.verdict_sentences import say_group_need, write_verdict
from polars_prcurve.view.words.number_words import glue_numbers, say_eta, say_where
from polars_prcurve.view.words.value_names import join_words, name_group

_MOST_PLACES = 3
_MOST_VERDICTS = 4  # verdicts, at most, that the sentence above many cases tells one by one


@dataclass(frozen=True)
class Findings:
    """All that is decided of a table, and all that is shown of it: the rows themselves are not kept."""

    verdict: Verdict  # the verdict above those of all cases
    cases: tuple[JudgedCase, ...]
    evidence: Evidence
    goal: Goal
    confidence: float
    model: str | None
    dropped: str  # how many rows were left out, as a sentence; empty if none was
    group_tests: GroupTests | None = None
    """How groups of one model stand beside all others, if there are several."""

    @property
    def status(self) -> str:
        """The status as people read it; of several cases, in how many it is settled or told apart."""
        n = len(self.cases)
        if self.group_tests is not None:
            return f"{sum(case.is_told_apart for case in self.cases)} of {n} told apart"
        settled = sum(case.verdict.status == "settled" for case in self.cases)
        return f"settled in {settled} of {n}" if 0 < settled < n else self.verdict.status

    @property
    def has_one_model(self) -> bool:
        """Whether no case has models to compare."""
        return all(len(case.candidates) == 1 for case in self.cases)

    @property
    def groups(self) -> list[str]:
        """The columns of groups, without that of models."""
        return self.evidence.keys[: self.evidence.keys.index("eta")]


def decide(asked: Asked) -> Findings:
    """Return what is decided of the table that is asked."""
    evidence = collect_evidence(asked)
    cases, tests = list_cases(evidence, asked), test_groups(asked, evidence)
    standings = [None] * len(cases) if tests is None else tests.standings
    judged = tuple(
        JudgedCase(
            **vars(case), verdict=write_verdict(case, evidence.test_level), name=name, standing=of
        )
        for case, name, of in zip(cases, name_cases(cases), standings, strict=True)
    )
    verdict = sum_up(judged)
    if tests is not None:
        need = say_group_need(judged, asked.confidence)
        status = _find_first("settled" if case.is_told_apart else case.status for case in judged)
        verdict = replace(verdict, status=status, sentence=say_groups(judged), would_settle=need)
    return Findings(
        verdict, judged, evidence, asked.goal, asked.confidence, asked.model, asked.dropped, tests
    )


def build_table(findings: Findings) -> pl.DataFrame:
    """Return one row per case and model, in the order of the evidence: what people are shown."""
    hidden = () if findings.goal.is_of_curve else ("criterion", "target")
    return findings.evidence.rows.drop(*hidden, BINDING, IS_REVERSED, strict=False)


def build_verdicts(findings: Findings) -> pl.DataFrame:
    """Return one row per case: its key, and its verdict."""
    schema, model = findings.evidence.rows.schema, findings.model
    columns = {
        **{name: schema[name] for name in findings.evidence.keys},
        "status": pl.String(),
        "models": pl.List(pl.String() if model is None else schema[model]),
        "sentence": pl.String(),
        "reasons": pl.List(pl.String),
        "would_settle": pl.String(),
    }
    return pl.DataFrame([{**case.key, **vars(case.verdict)} for case in findings.cases], schema=columns)


def say_groups(judged: Sequence[JudgedCase]) -> str:
    """Return how many groups are told apart from all others together."""
    known = [case.standing for case in judged if case.verdict.status != "too little data"]
    n_little = len(judged) - len(known)
    worse, better, still_open = (known.count(of) for of in ("worse", "better", "open"))
    said, rest = f"No group is told apart from all others together, of {len(known)}", []
    if told := [(n, what) for n, what in ((worse, "worse"), (better, "better")) if n]:
        (n, what), *more = told
        first = f"{n} {'group is' if n == 1 else 'groups are'} {what}"
        said = (
            f"{join_words([first, *(f'{n} {what}' for n, what in more)])} than all other groups together"
        )
        if still_open:
            rest.append(f"{still_open} {'is' if still_open == 1 else 'are'} not told apart from them")
    if n_little:
        rest.append(f"{n_little} {'has' if n_little == 1 else 'have'} too little data")
    return "; ".join([said, ", ".join(rest)]) if rest else said


# The verdict above all -----------------------------------------------------------------------------


def _find_first(found: Iterable[str]) -> Status:
    """Return the first of the statuses that occur, in their order."""
    occurring = set(found)
    return next(status for status in STATUSES if status in occurring)


def sum_up(judged: Sequence[JudgedCase]) -> Verdict:
    """Return the one verdict of several cases: the status of all, or the first one that occurs."""
    if not judged:
        return Verdict("too little data", (), "Too little data: the table has no rows")
    if len(judged) == 1:
        return judged[0].verdict
    verdicts = [case.verdict for case in judged]
    status = _find_first(verdict.status for verdict in verdicts)
    named = {model: None for verdict in verdicts for model in verdict.models}
    # A model is settled if it is in every case. That errs as seldom as each case does: if the model is
    # not the best in all of them, there is one case that must err.
    if status == "settled" and len(named) > 1:
        status = "not told apart"
    agree = all((v.status, v.models) == (verdicts[0].status, verdicts[0].models) for v in verdicts)
    models = tuple(named) if status in ("settled", "not told apart") else ()
    sentence = "" if agree else _say_differing(judged)
    if agree:
        everywhere = say_places(judged, all_of="all")
        head, colon, rest = verdicts[0].sentence.partition(": ")
        if not colon or (status == "settled" and len(judged[0].candidates) == 1):
            head, rest = "Better than chance", verdicts[0].sentence
        sentence = f"{head} {everywhere}; {say_place(judged[0])}: {rest}"
    least_known = pick_open(judged)
    need = least_known.verdict.would_settle
    if need and any(verdict.would_settle != need for verdict in verdicts):
        need = f"{start_sentence(say_place(least_known))}: {need[:1].lower()}{need[1:]}"
    reasons = _join_reasons(verdicts)
    return Verdict(status, models, glue_numbers(sentence), reasons, glue_numbers(need))


def pick_open(judged: Sequence[JudgedCase]) -> JudgedCase:
    """Return the case of which least is known, of those that are not settled if there are any."""
    still_open = [case for case in judged if case.verdict.status != "settled"]
    return max(still_open or judged, key=lambda case: case.width)


def _join_reasons(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return the reasons of all cases, those that start alike together, and in how many they hold."""
    tails: dict[str, dict[str, None]] = {}
    number: Counter[str] = Counter()
    for verdict in verdicts:
        heads = {reason.partition(": ")[0] for reason in verdict.reasons}
        number.update(heads)
        for reason in verdict.reasons:
            head, _, tail = reason.partition(": ")
            tails.setdefault(head, {})[tail] = None
    said = []
    for head, each in tails.items():
        # Who is behind in one group may lead in another: a picture or a table tells.
        if head == "behind" and len(each) > 1:
            continue
        tail = join_words([tail for tail in each if tail] or [""])
        where = "" if number[head] == len(verdicts) else f" ({number[head]} of {len(verdicts)})"
        said.append(f"{head}{': ' if tail else ''}{tail}{where}")
    return tuple(said)


def _say_differing(judged: Sequence[JudgedCase]) -> str:
    """Return which verdicts there are, and where each of them holds; of many the most frequent ones."""
    if {case.verdict.status for case in judged} == {"not told apart"}:
        everywhere = say_places(judged, all_of="any of")
        every = {each.model: each for case in judged for each in case.candidates}
        if len(every) > 2:
            return f"Which of {len(every)} models is best is not settled {everywhere}"
        names = list_names(sorted(every.values(), key=lambda candidate: str(candidate.model)))
        return f"{names} are not told apart {everywhere}"
    by_verdict: dict[str, list[JudgedCase]] = {}
    for case in judged:
        by_verdict.setdefault(say_short(case), []).append(case)
    n_groups = len({tuple(case.groups.values()) for case in judged})
    n_etas = len({case.eta for case in judged})
    what = "prevalence" if n_groups == 1 else "group"
    found = sorted(by_verdict.items(), key=lambda item: -len(item[1]))
    if len(found) > _MOST_VERDICTS:
        rest = found[_MOST_VERDICTS - 1 :]
        more = [case for _, cases in rest for case in cases]
        found[_MOST_VERDICTS - 1 :] = [(f"{len(rest)} other verdicts", more)]
    said = []
    for words, cases in found:
        where = join_words([say_place(case, with_eta=n_etas > 1) for case in cases])
        if len(cases) > _MOST_PLACES:
            where = f"{'at' if what == 'prevalence' else 'in'} {len(cases)} {what}s"
        said.append(f"{words} {where}")
    return f"It depends on the {what}: {'; '.join(said)}"


def say_short(case: JudgedCase) -> str:
    """Return a verdict in a few words."""
    if case.standing is not None:
        return case.status
    status, models = case.verdict.status, case.verdict.models
    named = [candidate for candidate in case.candidates if candidate.model in models]
    if status == "settled":
        return f"{list_names(named)} is better" if len(case.candidates) > 1 else "better than chance"
    if len(named) > 2:
        return f"{len(named)} models are not told apart"
    named.sort(key=lambda candidate: str(candidate.model))  # whichever is first by chance
    return f"{list_names(named)} are not told apart" if named else status


def say_places(cases: Sequence[Case], all_of: str = "") -> str:
    """Return where several cases are: in so many groups, at so many prevalences."""
    n, n_groups = len(cases), len({tuple(case.groups.values()) for case in cases})
    number = "both" if n == 2 and all_of == "all" else f"{all_of} {n}".strip()
    if n_groups == 1:
        return f"at {number} prevalences"
    return f"in {number} groups" if n_groups == n else f"in {number} groups and prevalences"


def say_place(case: Case, *, with_eta: bool = True) -> str:
    """Return where a case is: its group, and its prevalence."""
    groups = [name_group(*pair) for pair in case.groups.items()]
    place = [f"in {', '.join(groups)}"] if groups else []
    if with_eta and case.eta is not None:
        place.append(say_where(case.eta))
    return " ".join(place)


def name_cases(cases: Sequence[Case]) -> list[str]:
    """Return the names of cases where they stand below each other: `Algeria, 1 in 15`."""
    has_etas = len({case.eta for case in cases}) > 1
    names = []
    for case in cases:
        parts = [name_group(*pair) for pair in case.groups.items()]
        names.append(", ".join([*parts, *([say_eta(case.eta)] if has_etas and case.eta else [])]))
    return names


def list_all_names(findings: Findings) -> set[str]:
    """Return the names of all models and groups, as sentences have them."""
    models = {name_model(each) for case in findings.cases for each in case.candidates if each.model}
    groups = {name_group(*pair) for case in findings.cases for pair in case.groups.items()}
    return models | groups
