"""The verdict above several cases in words: what holds in all of them, and what in which."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from polars_prcurve.core.ground.message_text import join_words
from polars_prcurve.core.judging.case import Case
from polars_prcurve.core.judging.judgement import Judgement, are_alike, find_least_known
from polars_prcurve.core.judging.sample_needs import count_examples_needed
from polars_prcurve.view.verdicts.case_places import (
    join_by_place,
    name_all,
    name_cases,
    name_in_sentence,
    name_places,
)
from polars_prcurve.view.verdicts.caveat_sentences import write_caveats
from polars_prcurve.view.verdicts.condition_sentences import describe_conditions
from polars_prcurve.view.verdicts.need_sentences import find_other_threshold, say_group_need, say_need
from polars_prcurve.view.verdicts.status_labels import STATUS_TABLE
from polars_prcurve.view.verdicts.target_phrases import (
    describe_comparison,
    describe_targets,
    name_targets,
)
from polars_prcurve.view.verdicts.value_phrases import (
    MOST_NAMES,
    list_model_names,
    list_texts,
    name_merit,
    name_outcome,
    write_merit,
)
from polars_prcurve.view.verdicts.verdict import Verdict
from polars_prcurve.view.verdicts.verdict_sentences import write_sentence_of_alike, write_verdict
from polars_prcurve.view.words.number_words import glue_numbers
from polars_prcurve.view.words.shown_names import start_sentence


def sum_up(judgement: Judgement) -> Verdict:
    """Return the one verdict of all cases of a table."""
    cases = judgement.cases
    if not cases:
        return Verdict(judgement.status, judgement.models, "The table has no rows")
    if len(cases) == 1:
        return write_verdict(judgement, cases[0])
    return Verdict(
        judgement.status,
        judgement.models,
        sentence=glue_numbers(_write_headline(judgement)),
        met=judgement.met,
        reasons=(*write_caveats(cases), *_explain_group_tests(judgement)),
        would_settle=glue_numbers(". ".join(filter(None, _list_needs(judgement)))),
        conditions=describe_conditions(judgement, cases),
    )


def say_status(judgement: Judgement) -> str:
    """Return the status as people read it; of several cases, in how many it holds. May be empty."""
    cases, n_cases = judgement.cases, len(judgement.cases)
    if all(case.outcome == "too_little_data" for case in cases):
        return STATUS_TABLE["too_little_data"].label
    if judgement.group_tests is not None:
        n_groups_apart = sum(case.is_group_apart for case in cases)
        n_groups_tested = sum(case.is_group_tested for case in cases)
        return f"{n_groups_apart} of {n_groups_tested} {'differs' if n_groups_apart == 1 else 'differ'}"
    n_with_winner = sum(case.status == "winner" for case in cases)
    if judgement.status == "no_winner" and n_with_winner == n_cases:
        return f"no single winner in {n_cases} {name_cases(cases)}"
    status = "winner" if n_with_winner and not judgement.goal.demand else judgement.status
    n_alike = sum(case.status == status for case in cases)
    is_counted = 0 < n_alike < n_cases and not judgement.goal.demand
    return f"{STATUS_TABLE[status].label}{f' in {n_alike} of {n_cases}' if is_counted else ''}"


def say_short(case: Case) -> str:
    """Return a verdict in a few words."""
    if case.standing is None and case.status == "winner":
        return f"{list_model_names(case.finalists)} is better"
    return name_outcome(case.outcome)


# Headlines ----------------------------------------------------------------------------------------


def _write_headline(judgement: Judgement) -> str:
    """Return the sentence above several cases."""
    cases = judgement.cases
    if judgement.goal.demand and judgement.has_one_model:
        return _count_demand(judgement)
    if judgement.group_tests is not None:
        return _write_groups(cases)
    if are_alike(cases) and cases[0].status != "measured":
        return write_sentence_of_alike(cases)
    if judgement.has_one_model:
        measured_cases = sorted((case for case in cases if case.status == "measured"), key=_read_merit)
        other_cases = [case for case in cases if case.status != "measured"]
        clauses = [join_by_place(_split_by_text(other_cases, say_short), cases)] if other_cases else []
        if measured_cases:
            verb = "is" if len(measured_cases) < 3 else "ranges"
            clauses.insert(0, f"{name_merit(cases[0])} {verb} {_write_values(measured_cases)}")
        return start_sentence("; ".join(clauses))
    cases_by_text = _split_by_text(sorted(cases, key=lambda case: case.status != "winner"), say_short)
    headline = join_by_place(cases_by_text, cases)
    has_winner = any(case.status == "winner" for case in cases)  # whose name stays as it is
    return headline if has_winner else start_sentence(headline)


def _split_by_text(cases: Sequence[Case], say: Callable[[Case], str]) -> dict[str, list[Case]]:
    """Return the cases by a text on each, in the order of the first ones."""
    cases_by_text: dict[str, list[Case]] = {}
    for case in cases:
        cases_by_text.setdefault(say(case), []).append(case)
    return cases_by_text


def _count_demand(judgement: Judgement) -> str:
    """Return how many cases meet the demand, and what holds of the others."""
    cases, n_cases, goal = judgement.cases, len(judgement.cases), judgement.goal
    n_met = sum(case.met is True for case in cases)
    targets_text = describe_targets(goal.demand, goal.per)
    for verb, is_met in (("meet", True), ("miss", False)):
        if all(case.met is is_met for case in cases):
            return f"{start_sentence(name_all(cases))} {verb} {targets_text}"
    count_text = f"{n_met} of {n_cases} {name_cases(cases)} {'meets' if n_met == 1 else 'meet'}"
    if n_met == 0:
        count_text = f"No {name_cases(cases, is_plural=False)} is shown to meet"

    def say_result(case: Case) -> str:
        return "no threshold" if case.lacks_threshold else name_outcome(case.status)

    others_text = join_by_place(
        _split_by_text([case for case in cases if not case.met], say_result), cases
    )
    return f"{count_text} {targets_text}; {others_text}"


def _write_groups(cases: Sequence[Case]) -> str:
    """Return which groups differ significantly from all others together."""
    unit_noun = name_cases(cases, is_plural=False)
    better_cases, worse_cases, open_cases = (
        sorted((case for case in cases if case.outcome == outcome), key=_read_merit)
        for outcome in ("better", "worse", "open")
    )
    clauses = []
    for comparative, cases_apart in (("better", better_cases[::-1]), ("worse", worse_cases)):
        if cases_apart:
            names_text = list_texts([*map(name_in_sentence, cases_apart)])
            verb = "is" if len(cases_apart) == 1 else "are"
            values_text = f"{name_merit(cases[0])} {_list_values(cases_apart)}"
            clauses.append(f"{names_text} {verb} {comparative} than the rest: {values_text}")
    other_cases = [case for case in cases if not case.is_group_apart]
    if not clauses and open_cases:
        values_text = _write_values(open_cases)
        clauses = [
            f"No {unit_noun} differs significantly from the rest: {name_merit(cases[0])} {values_text}"
        ]
        other_cases = [case for case in other_cases if case.outcome != "open"]
    elif len(open_cases) > MOST_NAMES + 1:  # as `list_texts` cuts names
        clauses.append(f"no significant difference for {len(open_cases)} others")
        other_cases = [case for case in other_cases if case.outcome != "open"]
    if not clauses:
        return f"No {unit_noun} can be compared with the rest"

    def say_result(case: Case) -> str:
        if case.status == "too_little_data":
            return name_outcome(case.status)
        return "no significant difference" if case.outcome == "open" else "nothing to compare with"

    others_text = join_by_place(_split_by_text(other_cases, say_result), cases)
    return "; ".join(filter(None, [*clauses, others_text]))


def _read_merit(case: Case) -> float:
    """Return the value by which the best model of a case is judged; 0 if it has none."""
    return float(case.candidates[0].merit.value or 0.0)


def _list_values(cases: Sequence[Case]) -> str:
    """Return the values of cases that a sentence has just named; of many the first and the last."""
    value_texts = [write_merit(case.candidates[0]) for case in cases]
    if len(value_texts) <= MOST_NAMES:
        return join_words(value_texts)
    return f"from {value_texts[0]} to {value_texts[-1]}"


def _write_values(cases: Sequence[Case]) -> str:
    """Return the values of cases in order, each with its case; of many the first and the last."""
    ends = cases if len(cases) < 3 else [cases[0], cases[-1]]
    value_texts = [f"{write_merit(case.candidates[0])} {name_places([case])}" for case in ends]
    return join_words(value_texts) if len(cases) < 3 else f"from {' to '.join(value_texts)}"


# Beside the headline ------------------------------------------------------------------------------


def _list_needs(judgement: Judgement) -> Iterator[str]:
    """Yield what would settle the case of which least is known, and what mends those that miss."""
    cases, test_level = judgement.cases, judgement.evidence.test_level
    open_cases = [case for case in cases if case.met is not False]
    if judgement.group_tests is not None:
        yield say_group_need(cases, judgement.confidence)
        open_cases = [case for case in cases if case.outcome == "too_little_data"]
    if open_cases:
        least_known_case = find_least_known(open_cases, test_level)
        need_sentence = say_need(least_known_case, test_level)
        same_cases = [case for case in open_cases if say_need(case, test_level) == need_sentence]
        if need_sentence and len(same_cases) < len(cases):
            place_phrase = start_sentence(name_places(same_cases))
            if len(same_cases) < len(open_cases) and count_examples_needed(least_known_case, test_level):
                place_phrase += ", where most examples are needed"
            need_sentence = f"{place_phrase}: {need_sentence[:1].lower()}{need_sentence[1:]}"
        yield need_sentence
    other_thresholds = [
        f"{threshold_text} {name_places([case])}"
        for case in cases
        if case.met is False and (threshold_text := find_other_threshold(case))
    ]
    if other_thresholds:
        yield (
            f"On this test set, other thresholds meet the {name_targets(judgement.goal.demand)}: "
            f"{list_texts(other_thresholds)}. Test them on other data"
        )


def _explain_group_tests(judgement: Judgement) -> Iterator[str]:
    """Yield why intervals of groups that seem to differ do not show that."""
    if any(case.outcome == "open" for case in judgement.cases):
        yield (
            f"each interval is for one group; groups are compared{describe_comparison(judgement.goal)}, "
            "with one error rate for all comparisons"
        )
