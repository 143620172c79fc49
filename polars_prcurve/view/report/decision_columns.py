"""The tables of a decision, as columns of text: a row for each model, or for each case.

A terminal lays them out, a page and the card of a model have them in their own signs.
"""

from __future__ import annotations

from collections.abc import Sequence

from polars_prcurve.core.ground.message_text import add_noun
from polars_prcurve.core.ground.terminal_text import TextColumn
from polars_prcurve.core.judging.candidate import Candidate
from polars_prcurve.core.judging.case import Case
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.judging.judgement import Judgement
from polars_prcurve.view.report.decision_notes import name_interval
from polars_prcurve.view.verdicts.case_places import name_eta, name_in_table, name_own_group
from polars_prcurve.view.verdicts.value_phrases import (
    NO_VALUE,
    count_hits,
    format_row_value,
    list_metrics,
    name_model,
    write_threshold,
)
from polars_prcurve.view.verdicts.verdict_of_all_cases import say_short
from polars_prcurve.view.words import number_words
from polars_prcurve.view.words.shown_names import name_metric

MOST_MODELS = 50  # of an only case, at most: more scroll off a terminal


def list_text_columns(judgement: Judgement, cases: Sequence[Case]) -> list[TextColumn]:
    """Return the columns of the models of an only case, or of several cases; none if all are dashes."""
    candidates = [candidate for case in cases for candidate in case.candidates]
    lacks_scores = all(case.lacks_scores for case in cases)
    if lacks_scores or not any(candidate.meets_targets for candidate in candidates):
        return []
    if len(cases) > 1:
        return list_case_columns(judgement, cases)
    return list_model_columns(judgement, cases[0], candidates[:MOST_MODELS])


# Models of a case ---------------------------------------------------------------------------------


def list_model_columns(
    judgement: Judgement, case: Case, candidates: Sequence[Candidate]
) -> list[TextColumn]:
    """Return the columns of models of a case: name, threshold and values, the one that decides first."""
    goal, text_columns = case.goal, []
    if any(candidate.model is not None for candidate in candidates):
        text_columns.append(build_name_column(candidates))
    first_metric_column, *other_metric_columns = list_metrics(goal)
    text_columns += list_thresholds(goal, candidates)
    text_columns.append(list_values(candidates, first_metric_column, level_text=_head_level(judgement)))
    text_columns += [list_values(candidates, metric_column) for metric_column in other_metric_columns]
    if goal.is_of_curve and not goal.mean_over:  # how many alerts are true is no area
        half_recall_head = f"precision at {number_words.say_share(0.5)} true recall"
        text_columns.append(list_values(candidates, "precision", half_recall_head))
    return text_columns


def build_name_column(candidates: Sequence[Candidate]) -> TextColumn:
    """Return the column of the names of models."""
    return TextColumn("model", [*map(name_model, candidates)], is_text=True, shown_names=["model"])


def list_values(
    candidates: Sequence[Candidate | None], metric_column: str, head: str = "", level_text: str = ""
) -> TextColumn:
    """Return the column of a metric of some models; a dash where no threshold meets the targets."""
    value_and_span_texts = [
        format_row_value(candidate, metric_column)
        if candidate and candidate.has_values
        else (NO_VALUE, "")
        for candidate in candidates
    ]
    column = build_value_column(head or name_metric(metric_column), value_and_span_texts)
    return column._replace(shown_names=[metric_column], level=level_text)


def build_value_column(head: str, value_and_span_texts: Sequence[tuple[str, str]]) -> TextColumn:
    """Return the column of values and their intervals, which are in brackets."""
    span_texts = [span_text and f"({span_text})" for _, span_text in value_and_span_texts]
    return TextColumn(head, [value_text for value_text, _ in value_and_span_texts], spans=span_texts)


def list_positives(case: Case, candidates: Sequence[Candidate]) -> list[TextColumn]:
    """Return the column of the positives that each model finds and misses; none without a budget."""
    positives_of_models = [count_hits(case, candidate) for candidate in candidates]
    total_text = next((positives.total_text for positives in positives_of_models if positives), "")
    if not total_text:
        return []
    head = f"of {add_noun(total_text, 'positive')} {number_words.say_cases(case.per)}"
    hits_texts, misses_texts = zip(
        *(
            (f"{positives.hits_text} found", f"({positives.misses_text} missed)")
            if positives
            else (NO_VALUE, "")
            for positives in positives_of_models
        ),
        strict=True,
    )
    return [TextColumn(head, [*hits_texts], spans=misses_texts)]


def list_thresholds(goal: Goal, candidates: Sequence[Candidate]) -> list[TextColumn]:
    """Return the column of thresholds; none if no model has one."""
    threshold_texts = [write_threshold(candidate) or NO_VALUE for candidate in candidates]
    if goal.is_of_curve or {*threshold_texts} <= {NO_VALUE}:
        return []
    return [TextColumn("threshold", threshold_texts, shown_names=["threshold"])]


def _head_level(judgement: Judgement) -> str:
    """Return what is behind the head of the first column of values: `(95% CI)`, or `(CI)`."""
    return f"({name_interval(judgement, 'CI')})"


# Cases --------------------------------------------------------------------------------------------


def list_case_columns(judgement: Judgement, cases: Sequence[Case]) -> list[TextColumn]:
    """Return the columns of cases: name, threshold and values of one model, or a value of each model."""
    first_metric_column, *other_metric_columns = choose_value_columns(judgement.goal)
    verdict_texts = [say_short(case) for case in cases]
    verdict_column = TextColumn("verdict", verdict_texts, is_text=True, shown_names=["verdict"])
    if judgement.has_one_model:
        candidates = [case.candidates[0] for case in cases]
        return [
            *_list_places(cases),
            *list_thresholds(judgement.goal, candidates),
            list_values(candidates, first_metric_column, level_text=_head_level(judgement)),
            *(list_values(candidates, metric_column) for metric_column in other_metric_columns),
            *([verdict_column] if any(verdict_texts) else []),
        ]
    name_by_model = {candidate.model: name_model(candidate) for candidate in cases[0].candidates}
    return [
        *_list_places(cases, f"{name_metric(first_metric_column)} {_head_level(judgement)}"),
        *(
            list_values(
                [case.find_candidate(model) for case in cases], first_metric_column, name_by_model[model]
            )
            for model in sorted(name_by_model, key=str)
        ),
        *([verdict_column] if len(set(verdict_texts)) > 1 else []),
    ]


def list_pair_columns(judgement: Judgement, cases: Sequence[Case]) -> list[TextColumn]:
    """Return the columns of the two models of each case that a document draws, one below the other."""
    first_metric_column, *_ = choose_value_columns(judgement.goal)
    leaders_of_cases = [case.leaders for case in cases]
    candidates = [candidate for leaders in leaders_of_cases for candidate in leaders]
    place_columns = [
        column._replace(
            cells=[
                cell if model_number == 0 else ""
                for cell, leaders in zip(column.cells, leaders_of_cases, strict=True)
                for model_number in range(len(leaders))
            ]
        )
        for column in _list_places(cases)
    ]
    return [
        *place_columns,
        build_name_column(candidates),
        list_values(candidates, first_metric_column, level_text=_head_level(judgement)),
    ]


def name_absent_columns(goal: Goal) -> list[str]:
    """Return what is not beside cases of several models, of which each has one value there."""
    return [] if goal.is_of_curve else ["threshold"]


def name_absent_models(cases: Sequence[Case]) -> list[str]:
    """Return how many models are not among the first two of each case: `3 of 5 models`, or nothing."""
    n_models = max(len(case.candidates) for case in cases)
    n_absent = max(len(case.candidates) - len(case.leaders) for case in cases)
    return [f"{n_absent} of {n_models} models"] if n_absent else []


def _list_places(cases: Sequence[Case], head: str = "where") -> list[TextColumn]:
    """Return the column of groups, and that of prevalences if they have several of both."""
    group_names, eta_texts = [name_own_group(case) for case in cases], [*map(name_eta, cases)]
    if not all(group_names) or not any(eta_texts):
        return [TextColumn(head, [*map(name_in_table, cases)], is_text=True)]
    return [
        TextColumn(head, group_names, is_text=True),
        TextColumn("prevalence", eta_texts, shown_names=["eta"]),
    ]


def sort_cases(judgement: Judgement) -> Sequence[Case]:
    """Return the cases, those of groups of one model by their values, the highest first."""
    has_groups = len({tuple(case.groups.values()) for case in judgement.cases}) == len(judgement.cases)
    if not has_groups or not judgement.has_one_model:
        return judgement.cases
    first_metric_column, *_ = choose_value_columns(judgement.goal)

    def read_value(case: Case) -> float:
        return case.candidates[0].read(first_metric_column).value or 0.0 if case.qualifiers else -1.0

    return sorted(judgement.cases, key=read_value, reverse=True)


def choose_value_columns(goal: Goal) -> list[str]:
    """Return the columns whose values stand beside cases: all that is limited, or first the merit.

    With `per` the alerts are among them.
    """
    metric_columns = [] if goal.is_gate else [goal.merit_column]
    metric_columns += [*goal.columns_of_limits, *([] if goal.per is None else ["alerts"])]
    return [*dict.fromkeys(metric_columns)]
