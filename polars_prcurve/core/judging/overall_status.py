"""What is decided of a whole table: its cases one by one, and one status above them.

request -> evidence      what the methods of the table say, see `evidence`
        -> cases         groups at prevalences, see `case_status`
        -> judged cases  a status each, and how groups of one model stand, see `group_against_others`
        -> status        the one above them
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from polars_prcurve.core.inputs.table_reader import DroppedRows
from polars_prcurve.core.judging.case_status import JudgedCase, list_cases
from polars_prcurve.core.judging.decision_request import DecisionRequest
from polars_prcurve.core.judging.evidence import Evidence, collect_evidence
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.judging.group_against_others import GroupTests, test_groups
from polars_prcurve.core.judging.status_names import Status, find_first_status


@dataclass(frozen=True)
class JudgedTable:
    """All that is decided of a table, and all that is shown of it: the rows themselves are not kept."""

    status: Status  # the one above those of all cases
    models: tuple[Any, ...]
    """The models that the status is about; a table without models has none."""
    cases: tuple[JudgedCase, ...]
    evidence: Evidence
    goal: Goal
    confidence: float
    model: str | None  # the column of models in results
    dropped_rows: DroppedRows | None  # the rows that were left out; None if none was
    group_tests: GroupTests | None
    """How groups of one model stand beside all others, if there are several."""

    @property
    def n_groups_apart(self) -> int:
        """The number of groups that are told apart from all others."""
        return sum(case.is_group_apart for case in self.cases)

    @property
    def n_settled(self) -> int:
        """The number of cases that are settled."""
        return sum(case.status == "settled" for case in self.cases)

    @property
    def has_one_model(self) -> bool:
        """Whether no case has models to compare."""
        return all(len(case.candidates) == 1 for case in self.cases)

    @property
    def group_columns(self) -> list[str]:
        """The columns of groups, without that of models."""
        return self.evidence.group_columns


def judge_table(request: DecisionRequest) -> JudgedTable:
    """Return what is decided of the table that is asked."""
    evidence = collect_evidence(request)
    cases, tests_of_groups = list_cases(evidence, request), test_groups(request, evidence)
    standings = [None] * len(cases) if tests_of_groups is None else tests_of_groups.standings
    judged_cases = []
    for case, standing in zip(cases, standings, strict=True):
        status, candidates = case.judge()
        judged_cases.append(
            JudgedCase(**vars(case), status=status, named_candidates=candidates, standing=standing)
        )
    status, models = _judge_cases(judged_cases)
    if tests_of_groups is not None:
        status = find_first_status(_judge_group(case) for case in judged_cases)
    return JudgedTable(
        status=status,
        models=models,
        cases=tuple(judged_cases),
        evidence=evidence,
        goal=request.goal,
        confidence=request.confidence,
        model=request.model,
        dropped_rows=request.dropped_rows,
        group_tests=tests_of_groups,
    )


def _judge_cases(cases: Sequence[JudgedCase]) -> tuple[Status, tuple[Any, ...]]:
    """Return the status of all cases, or the first one that occurs, and the models that it is about."""
    if not cases:
        return "too little data", ()
    if len(cases) == 1:
        return cases[0].status, cases[0].models
    status = find_first_status(case.status for case in cases)
    models = tuple(dict.fromkeys(model for case in cases for model in case.models))
    # A model is settled if it is in every case. That errs as seldom as each case does: if the model is
    # not the best in all of them, there is one case that must err.
    if status == "settled" and len(models) > 1:
        status = "not told apart"
    return status, models if status in ("settled", "not told apart") else ()


def _judge_group(case: JudgedCase) -> Status:
    """Return the status of a case whose group is tested beside all others."""
    if case.status == "too little data":
        return case.status
    return "settled" if case.is_group_apart else "not told apart"


def are_alike(cases: Sequence[JudgedCase]) -> bool:
    """Return whether all cases have the same status, of the same models."""
    return len({(case.status, case.models) for case in cases}) < 2


CaseT = TypeVar("CaseT", bound=JudgedCase)  # of cases with a verdict in words one of these comes back


def find_least_known(cases: Sequence[CaseT]) -> CaseT:
    """Return the case of which least is known, of those that are not settled if there are any."""
    open_cases = [case for case in cases if case.status != "settled"]
    return max(open_cases or cases, key=lambda case: case.width)
