"""What is decided of a whole table: its cases one by one, and one status above them.

request -> evidence      what the methods of the table return, see `evidence`
        -> cases         groups at prevalences, see `case`
        -> tests         how groups of one model stand, see `group_against_others`
        -> status        the one above them
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import repeat
from typing import Any

from polars_prcurve.core.judging.case import Case, list_cases
from polars_prcurve.core.judging.decision_request import DecisionRequest, DecisionTerms
from polars_prcurve.core.judging.evidence import Evidence, collect_evidence
from polars_prcurve.core.judging.group_against_others import GroupTests, test_groups
from polars_prcurve.core.judging.sample_needs import count_examples_needed
from polars_prcurve.core.judging.status_names import STATUSES, Status, combine_met


@dataclass(frozen=True, kw_only=True)
class Judgement(DecisionTerms):
    """All that is decided of a table, and all that is shown of it: the rows themselves are not kept."""

    status: Status  # the one above those of all cases
    models: tuple[Any, ...]
    """The models that the status is about; a table without models has none."""
    cases: tuple[Case, ...]
    evidence: Evidence
    group_tests: GroupTests | None
    """How groups of one model compare with all others, if there are several."""

    @property
    def met(self) -> bool | None:
        """Whether all cases meet the demand; None if that is open, or nothing is demanded."""
        return combine_met(case.met for case in self.cases)

    @property
    def has_one_model(self) -> bool:
        """Whether no case has models to compare."""
        return all(len(case.candidates) == 1 for case in self.cases)


def judge_table(request: DecisionRequest) -> Judgement:
    """Return what is decided for the table of the request."""
    evidence = collect_evidence(request)
    group_tests = test_groups(request, evidence)
    standings = repeat(None) if group_tests is None else group_tests.standings
    cases = list_cases(evidence, request, standings)
    has_enough_data = any(case.status != "too_little_data" for case in cases)
    is_test_alone = sum(case.is_group_tested for case in cases) < 2  # besides groups of too little data
    if has_enough_data and is_test_alone and not any(case.is_group_apart for case in cases):
        group_tests, cases = None, [replace(case, standing=None) for case in cases]
    status, model_names = _judge_cases(cases, has_demand=bool(request.goal.demand))
    return Judgement(
        **{term_field.name: getattr(request, term_field.name) for term_field in fields(DecisionTerms)},
        status=status,
        models=model_names,
        cases=tuple(cases),
        evidence=evidence,
        group_tests=group_tests,
    )


def _judge_cases(cases: Sequence[Case], *, has_demand: bool) -> tuple[Status, tuple[Any, ...]]:
    """Return the status of all cases, or the first one that occurs, and the models that it is about."""
    if not cases:
        return "too_little_data", ()
    if len(cases) == 1:
        return cases[0].status, cases[0].models
    is_met = combine_met(case.met for case in cases)
    if has_demand and not is_met:
        return "unsure" if is_met is None else "not_met", ()
    statuses = {case.status for case in cases}
    if has_demand:
        statuses &= {"no_winner", "winner"}
    status: Status = next((status for status in STATUSES if status in statuses), "met")
    model_names = tuple(dict.fromkeys(model_name for case in cases for model_name in case.models))
    # One model is the winner if it is in every case. That errs as seldom as each case does: if the model
    # is not the best in all of them, there is one case that must err.
    if status == "winner" and len(model_names) > 1:
        status = "no_winner"
    return status, () if status in ("too_little_data", "chance", "not_met", "unsure") else model_names


def are_alike(cases: Sequence[Case]) -> bool:
    """Return whether all cases have the same status, of the same models."""
    return len({(case.status, case.models) for case in cases}) < 2


def find_least_known(cases: Sequence[Case], test_level: float) -> Case:
    """Return the case that needs most examples, of those that are open if there are any."""
    open_cases = [case for case in cases if case.status not in ("winner", "met", "measured")]

    def rank(case: Case) -> tuple[float, float]:
        sample_need = count_examples_needed(case, test_level)
        return 0.0 if sample_need is None else sum(
            class_need.n_missing for class_need in sample_need.classes
        ), case.width

    return max(open_cases or cases, key=rank)
