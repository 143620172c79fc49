"""The tables of a decision, as columns of text: a row for each model, or for each case.

A terminal lays them out, a page and the card of a model have them in their own signs.
"""

from __future__ import annotations

from collections.abc import Sequence

from polars_prcurve.core.ground.terminal_text import TextColumn
from polars_prcurve.core.judging.candidate import Candidate
from polars_prcurve.core.judging.case_status import Case
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.view.report.decision_notes import name_interval
from polars_prcurve.view.verdicts.case_places import name_own_group
from polars_prcurve.view.verdicts.value_phrases import (
    NO_VALUE,
    format_metric,
    list_metrics,
    name_model,
    write_threshold,
)
from polars_prcurve.view.verdicts.verdict_of_all_cases import WordedCase, say_short
from polars_prcurve.view.verdicts.worded_judgement import WordedJudgement
from polars_prcurve.view.words import number_words
from polars_prcurve.view.words.names_in_sentences import name_metric

# Models of a case ---------------------------------------------------------------------------------


def list_model_columns(
    judgement: WordedJudgement, case: Case, candidates: Sequence[Candidate]
) -> list[TextColumn]:
    """Return the columns of models of a case: name, threshold and values, the one that decides first."""
    goal, columns = case.goal, []
    if any(candidate.model is not None for candidate in candidates):
        columns.append(name_models(candidates))
    first_name, *names = list_metrics(goal)
    columns += list_thresholds(goal, candidates)
    columns.append(list_values(candidates, first_name, level=_head_level(judgement)))
    columns += [list_values(candidates, name) for name in names]
    if goal.is_of_curve and not goal.mean_over:  # how many alerts are true is no area
        half_text = f"precision at {number_words.say_share(0.5)} true recall"
        columns.append(list_values(candidates, "precision", half_text))
    return columns


def name_models(candidates: Sequence[Candidate]) -> TextColumn:
    """Return the column of the names of models."""
    return TextColumn("model", [*map(name_model, candidates)], is_text=True, shown_names=["model"])


def list_values(
    candidates: Sequence[Candidate | None], name: str, head: str = "", level: str = ""
) -> TextColumn:
    """Return the column of a metric of some models; a dash where no threshold meets the targets."""
    pairs = [
        format_metric(candidate, name) if candidate and candidate.has_values else (NO_VALUE, "")
        for candidate in candidates
    ]
    spans = [span and f"({span})" for _, span in pairs]
    cells = [value for value, _ in pairs]
    return TextColumn(head or name_metric(name), cells, False, [name], spans, level)


def list_thresholds(goal: Goal, candidates: Sequence[Candidate]) -> list[TextColumn]:
    """Return the column of thresholds; none if no model has one."""
    cells = [write_threshold(candidate) or NO_VALUE for candidate in candidates]
    if goal.is_of_curve or {*cells} <= {NO_VALUE}:
        return []
    return [TextColumn("threshold", cells, shown_names=["threshold"])]


def _head_level(judgement: WordedJudgement) -> str:
    """Return what is behind the head of the first column of values: `(95% CI)`, or `(CI)`."""
    return f"({name_interval(judgement, 'CI')})"


# Cases --------------------------------------------------------------------------------------------


def list_case_columns(judgement: WordedJudgement, cases: Sequence[WordedCase]) -> list[TextColumn]:
    """Return the columns of cases: name, threshold and values of one model, or a value of each model."""
    name, *other_names = choose_columns(judgement.goal)
    verdicts = [say_short(case) for case in cases]
    verdict_column = TextColumn("verdict", verdicts, is_text=True, shown_names=["verdict"])
    if judgement.has_one_model:
        candidates = [case.candidates[0] for case in cases]
        return [
            *_list_places(cases),
            *list_thresholds(judgement.goal, candidates),
            list_values(candidates, name, level=_head_level(judgement)),
            *(list_values(candidates, other_name) for other_name in other_names),
            *([verdict_column] if any(verdicts) else []),
        ]
    name_of_model = {candidate.model: name_model(candidate) for candidate in cases[0].candidates}
    return [
        *_list_places(cases, f"{name_metric(name)} {_head_level(judgement)}"),
        *(
            list_values([case.find_candidate(model) for case in cases], name, name_of_model[model])
            for model in sorted(name_of_model, key=str)
        ),
        *([verdict_column] if len(set(verdicts)) > 1 else []),
    ]


def list_pair_columns(judgement: WordedJudgement, cases: Sequence[WordedCase]) -> list[TextColumn]:
    """Return the columns of the two models of each case that a document draws, one below the other."""
    name, *_ = choose_columns(judgement.goal)
    pairs = [case.leaders for case in cases]
    candidates = [candidate for pair in pairs for candidate in pair]
    place_columns = [
        column._replace(
            cells=[
                cell if model_number == 0 else ""
                for cell, pair in zip(column.cells, pairs, strict=True)
                for model_number in range(len(pair))
            ]
        )
        for column in _list_places(cases)
    ]
    return [
        *place_columns,
        name_models(candidates),
        list_values(candidates, name, level=_head_level(judgement)),
    ]


def name_columns_of_one(goal: Goal) -> list[str]:
    """Return the heads of columns that stand beside cases of one model alone.

    Recall and precision are left out: they are about as large as their targets.
    """
    names = [name for name in choose_columns(goal)[1:] if name not in ("recall", "precision")]
    return [*([] if goal.is_of_curve else ["threshold"]), *map(name_metric, names)]


def name_absent_models(cases: Sequence[Case]) -> list[str]:
    """Return how many models are not among the first two of each case: `3 of 5 models`, or nothing."""
    n_models = max(len(case.candidates) for case in cases)
    n_absent = max(len(case.candidates) - len(case.leaders) for case in cases)
    return [f"{n_absent} of {n_models} models"] if n_absent else []


def _list_places(cases: Sequence[WordedCase], head: str = "where") -> list[TextColumn]:
    """Return the column of groups, and that of prevalences if they have several of both."""
    groups, etas = [name_own_group(case) for case in cases], [case.eta_text for case in cases]
    if not all(groups) or not any(etas):
        return [TextColumn(head, [case.name for case in cases], is_text=True)]
    return [TextColumn(head, groups, is_text=True), TextColumn("prevalence", etas, shown_names=["eta"])]


def sort_cases(judgement: WordedJudgement) -> Sequence[WordedCase]:
    """Return the cases, those of groups of one model by their values, the highest first."""
    has_groups = len({tuple(case.groups.values()) for case in judgement.cases}) == len(judgement.cases)
    if not has_groups or not judgement.has_one_model:
        return judgement.cases
    name, *_ = choose_columns(judgement.goal)

    def read_value(case: Case) -> float:
        return case.candidates[0].read(name).value or 0.0 if case.qualifiers else -1.0

    return sorted(judgement.cases, key=read_value, reverse=True)


def choose_columns(goal: Goal) -> list[str]:
    """Return the columns whose values stand beside cases: all that is limited, or first the merit.

    With `per` the alerts are among them.
    """
    columns = [] if goal.is_gate else [goal.merit_column]
    columns += [*goal.columns_of_limits, *([] if goal.per is None else ["alerts"])]
    return [*dict.fromkeys(columns)]
