"""The verdict above several cases in words: what holds in all of them, and what in which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from polars_prcurve.core.ground.message_text import format_count, join_words, name_groups
from polars_prcurve.core.ground.visible_names import find_lookalikes
from polars_prcurve.core.judging.case import Case
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.judging.table_judgement import TableJudgement, are_alike, find_least_known
from polars_prcurve.view.verdicts.case_places import join_places, name_case, name_unit, say_places
from polars_prcurve.view.verdicts.caveat_sentences import write_caveats
from polars_prcurve.view.verdicts.need_sentences import find_other_threshold, say_group_need
from polars_prcurve.view.verdicts.status_labels import STATUS_TABLE
from polars_prcurve.view.verdicts.target_phrases import (
    choose_verbs,
    describe_comparison,
    describe_targets,
    describe_thresholds,
    name_targets,
)
from polars_prcurve.view.verdicts.value_phrases import (
    MOST_NAMES,
    list_names,
    list_texts,
    name_merit,
    name_outcome,
    write_merit,
)
from polars_prcurve.view.verdicts.verdict import Verdict
from polars_prcurve.view.verdicts.verdict_sentences import write_sentence
from polars_prcurve.view.words.names_in_sentences import name_value, start_sentence
from polars_prcurve.view.words.number_words import glue_numbers, say_cases, say_eta, say_etas

_AS_IN_TEST = "assuming positives and negatives score as in the test set"  # as every verdict does


@dataclass(frozen=True)
class WordedCase(Case):
    """A judged case, and its verdict in words."""

    verdict: Verdict
    eta_text: str  # its prevalence in words; empty if all cases have the same
    short_name: str  # its name in a sentence, with its prevalence where its group has several cases

    @property
    def name(self) -> str:
        """Its name where all cases stand below each other: `Algeria, 1 in 15`."""
        return name_case(self, self.eta_text)

    @property
    def place(self) -> str:
        """Which of all cases it is: `for Cork`, `at a prevalence of 1 in 50`."""
        return f"{'for' if self.groups else 'at a prevalence of'} {self.short_name}"


def sum_up(judgement: TableJudgement, cases: Sequence[WordedCase]) -> Verdict:
    """Return the one verdict of all cases of a table."""
    if not cases:
        return Verdict(judgement.status, judgement.models, "The table has no rows")
    if len(cases) == 1:
        return cases[0].verdict
    return Verdict(
        judgement.status,
        judgement.models,
        sentence=glue_numbers(_write_headline(judgement, cases)),
        met=judgement.met,
        reasons=(
            *write_caveats(cases, [case.short_name for case in cases]),
            *_explain_open_groups(judgement, cases),
        ),
        would_settle=glue_numbers(". ".join(filter(None, _list_needs(judgement, cases)))),
        conditions=describe_conditions(judgement, cases),
    )


def describe_conditions(judgement: TableJudgement, cases: Sequence[Case]) -> str:
    """Return what a verdict rests on: the prevalence, the threshold, and the classes of the test."""
    etas = sorted({case.eta for case in cases if case.eta is not None}, reverse=True)
    goal, phrases = judgement.goal, []
    if len(etas) == 1:
        phrases.append(f"prevalence {say_eta(etas[0])}")
    elif etas:
        highest_eta_text, *_, lowest_eta_text = say_etas(etas)  # in one unit with those of the cases
        both_etas_text = f"{lowest_eta_text} and {highest_eta_text}"
        etas_text = both_etas_text if len(etas) == 2 else f"from {lowest_eta_text} to {highest_eta_text}"
        phrases.append(f"prevalences {etas_text}")
    if goal.mean_over:
        phrases += _describe_mean(goal, cases, has_common_eta=bool(etas))
        return glue_numbers(start_sentence("; ".join(phrases)))
    n_thresholds = sum(len(case.candidates) for case in cases)
    are_points_shown = goal.is_at_threshold or any(case.qualifiers for case in cases)
    if are_points_shown:  # or no threshold meets the targets
        phrases += filter(None, [describe_thresholds(goal, is_plural=n_thresholds > 1)])
    # Tables of several cases have no alerts unless `per` is passed; a budget is named with its `per`.
    is_table_shown = len(cases) == 1 or (judgement.has_one_model and goal.per is not None)
    are_alerts_shown = are_points_shown and not goal.is_of_curve and is_table_shown
    if are_alerts_shown and "alerts" not in goal.all_limits:
        phrases.append(f"alerts {say_cases(cases[0].per)}")
    if judgement.has_classes and judgement.group_tests is not None and len(cases) > 1:
        phrases.append("classes are tested as if they shared no examples")
    if judgement.weight is not None:
        counted_text = (
            "rows, cases and alerts" if are_points_shown and not goal.is_of_curve else "rows and cases"
        )
        weight_text = f" by {name_value(judgement.weight)}" if judgement.weight else ""
        phrases.append(f"{counted_text} are weighted{weight_text}")
    phrases += [_AS_IN_TEST, *_list_lookalikes(cases)]
    return glue_numbers(start_sentence("; ".join(phrases)))


def _describe_mean(goal: Goal, cases: Sequence[Case], *, has_common_eta: bool) -> Iterator[str]:
    """Yield phrases on a mean over groups: their prevalences, how many there are, and of which kind."""
    group_noun, plural_group_noun = name_groups(goal.mean_over)
    if not has_common_eta and any(case.n_neg for case in cases):  # so that prevalences are counted
        yield f"each {group_noun} at its own prevalence"
    group_counts = sorted({size for case in cases for size in case.sizes.values()})
    counts_text = " to ".join(dict.fromkeys(map(format_count, (group_counts[0], group_counts[-1]))))
    mean_phrase = f"the mean of {counts_text} {group_noun if counts_text == '1' else plural_group_noun}"
    if n_left_out := max(case.n_groups_left_out for case in cases):
        is_everywhere = all(case.n_groups_left_out == n_left_out for case in cases)
        n_text = f"{'' if is_everywhere else 'up to '}{format_count(n_left_out)}"
        mean_phrase += f", leaving out {n_text} without a value"
    yield mean_phrase
    yield f"{plural_group_noun} as in the test set"


def _list_lookalikes(cases: Sequence[Case]) -> list[str]:
    """Return phrases on models, and on values of one column of groups, that look alike."""
    model_names = [candidate.model for case in cases for candidate in case.candidates]
    values_of_each_column = [model_names, *zip(*(case.groups.values() for case in cases), strict=True)]
    return [
        f"{join_words(like_names)} are different names"
        for values in values_of_each_column
        for like_names in find_lookalikes(value for value in values if isinstance(value, str))
    ]


def say_status(judgement: TableJudgement) -> str:
    """Return the status as people read it; of several cases, in how many it holds. May be empty."""
    cases, n_cases = judgement.cases, len(judgement.cases)
    n_with_winner = sum(case.status == "winner" for case in cases)
    n_unknown = sum(case.outcome == "too_little_data" for case in cases)
    unknown_label = STATUS_TABLE["too_little_data"].label
    if n_unknown == n_cases:
        return unknown_label
    if judgement.group_tests is not None:
        n_groups_apart = sum(case.is_group_apart for case in cases)
        n_groups_tested = sum(case.is_group_tested for case in cases)
        return f"{n_groups_apart} of {n_groups_tested} {'differs' if n_groups_apart == 1 else 'differ'}"
    if 0 < n_with_winner < n_cases and not judgement.goal.demand:
        return f"clear winner in {n_with_winner} of {n_cases}"
    if judgement.status == "no_winner" and n_with_winner == n_cases:
        return f"no single winner in {n_cases} {name_unit(cases)}"
    status_label = STATUS_TABLE[judgement.status].label
    n_alike = sum(case.status == judgement.status for case in cases)
    if 0 < n_alike < n_cases and not judgement.goal.demand:
        return f"{status_label} in {n_alike} of {n_cases}"
    return status_label


# Headlines ----------------------------------------------------------------------------------------


def _write_headline(judgement: TableJudgement, cases: Sequence[WordedCase]) -> str:
    """Return the sentence above several cases."""
    if judgement.goal.demand and judgement.has_one_model:
        return _count_demand(judgement, cases)
    if judgement.group_tests is not None:
        return _write_groups(cases)
    if are_alike(cases) and cases[0].status != "measured":
        return _write_everywhere(cases)
    if judgement.has_one_model:
        return _write_range(cases)
    return _write_differing(cases)


def _name_cases(cases: Sequence[WordedCase]) -> str:
    return list_texts([case.short_name for case in cases])


def _count_demand(judgement: TableJudgement, cases: Sequence[WordedCase]) -> str:
    """Return how many cases meet the demand, and which ones do not."""
    goal = judgement.goal
    failing_cases = [case for case in cases if case.met is False]
    vague_cases = [case for case in cases if case.met is None and case.status == "too_little_data"]
    undecided_cases = [case for case in cases if case.met is None and case.status != "too_little_data"]
    untested_cases = [case for case in undecided_cases if case.lacks_threshold]
    open_cases = [case for case in undecided_cases if not case.lacks_threshold]
    n_met, n_cases = sum(case.met is True for case in cases), len(cases)
    targets_text, verb_of_usual = describe_targets(goal.demand, goal.per), choose_verbs(goal.demand)
    for verb, n_alike in {
        verb_of_usual["meet"]: n_met,
        verb_of_usual["miss"]: len(failing_cases),
    }.items():
        if n_alike == n_cases:
            return (
                f"{'Both' if n_cases == 2 else f'All {n_cases}'} {name_unit(cases)} {verb} "
                f"{targets_text}"
            )
    clauses = []
    if n_met:
        verb = verb_of_usual["meets" if n_met == 1 else "meet"]
        clauses.append(f"{n_met} of {n_cases} {name_unit(cases)} {verb} {targets_text}")
    elif not failing_cases:
        none_phrase = f"None of the {n_cases} {name_unit(cases)}"
        none_phrase = f"Neither {name_unit(cases, is_plural=False)}" if n_cases == 2 else none_phrase
        clauses.append(f"{none_phrase} is shown to {verb_of_usual['meet']} {targets_text}")
    if failing_cases:
        clauses.append(_write_failing_cases(goal, failing_cases, "it" if clauses else targets_text))
    if open_cases:
        clauses.append(f"not sure for {_name_cases(open_cases)}")
    if vague_cases:
        clauses.append(f"too little data for {_name_cases(vague_cases)}")
    if untested_cases:
        clauses.append(f"no threshold for {_name_cases(untested_cases)}")
    return "; ".join(clauses)


def _write_failing_cases(goal: Goal, failing_cases: Sequence[WordedCase], targets_text: str) -> str:
    """Return which cases miss the demand; if all of them miss some of several limits, which."""
    missed_targets_of_cases = {tuple(_list_missed_targets(goal, case)) for case in failing_cases}
    missed_targets = (
        [*missed_targets_of_cases.pop()] if len(missed_targets_of_cases) == 1 else [*goal.demand]
    )
    if 0 < len(missed_targets) < len(goal.demand):
        targets_text = describe_targets(
            {target_name: goal.demand[target_name] for target_name in missed_targets}, goal.per
        )
    verb = choose_verbs(missed_targets)["misses" if len(failing_cases) == 1 else "miss"]
    return f"{_name_cases(failing_cases)} {verb} {targets_text}"


def _list_missed_targets(goal: Goal, case: Case) -> list[str]:
    """Return the limits that the threshold of a case misses."""
    if not goal.is_gate:
        return []
    return [
        target_name for target_name in goal.demand if case.candidates[0].test_limit(target_name) is False
    ]


def _write_groups(cases: Sequence[WordedCase]) -> str:
    """Return which groups differ significantly from all others together."""
    unit_noun = name_unit(cases, is_plural=False)
    better_cases, worse_cases = (
        sorted((case for case in cases if case.outcome == outcome), key=_read_merit, reverse=True)
        for outcome in ("better", "worse")
    )
    # Of many that are worse the worst ones are named.
    named_worse_cases = worse_cases[:: -1 if len(worse_cases) > MOST_NAMES else 1]
    open_cases = sorted((case for case in cases if case.outcome == "open"), key=_read_merit)
    vague_cases = [case for case in cases if case.outcome == "too_little_data"]
    metric_name = name_merit(cases[0])
    if len(vague_cases) == len(cases):
        return f"No {unit_noun} can be compared with the rest"
    if not better_cases and not worse_cases:
        headline = f"No {unit_noun} differs significantly from the rest"
        if len(open_cases) == 1:
            headline += f": {metric_name} {_write_end(open_cases[0])}"
        elif open_cases:
            headline += f": {metric_name} {_write_ends(open_cases)}"
    else:
        comparison_phrases = [
            f"{_name_cases(compared_cases)} {'is' if len(compared_cases) == 1 else 'are'} {comparative}"
            for comparative, compared_cases in (("better", better_cases), ("worse", named_worse_cases))
            if compared_cases
        ]
        comparison_phrases[0] += " than the rest"
        headline = ", and ".join(comparison_phrases)
        cases_apart = [*better_cases, *worse_cases]
        if len(cases_apart) <= MOST_NAMES:
            values_text = join_words([write_merit(case.candidates[0]) for case in cases_apart])
            headline += f": {metric_name} {values_text}"
        else:
            headline += f": {metric_name} {_write_ends(cases_apart[::-1])}"
        if open_cases:
            others_phrase = f"other {len(open_cases)} do" if len(open_cases) > 1 else "other one does"
            headline += f"; the {others_phrase} not differ significantly"
            headline += _write_beyond(open_cases, cases_apart) if better_cases and worse_cases else ""
    lone_cases = [case for case in cases if not case.is_group_tested and case not in vague_cases]
    headline += f"; nothing to compare {_name_cases(lone_cases)} with" if lone_cases else ""
    return f"{headline}; too little data for {_name_cases(vague_cases)}" if vague_cases else headline


def _write_beyond(open_cases: Sequence[WordedCase], cases_apart: Sequence[WordedCase]) -> str:
    """Return the first and the last of the open cases, if they are beyond the range of the others."""
    merit_values = [*map(_read_merit, cases_apart)]
    first_case, last_case = open_cases[0], open_cases[-1]
    beyond_cases = [first_case] if _read_merit(first_case) < min(merit_values) else []
    beyond_cases += [last_case] if _read_merit(last_case) > max(merit_values) else []
    case_texts = [f"{case.short_name} at {write_merit(case.candidates[0])}" for case in beyond_cases]
    return f", among them {join_words(case_texts)}" if case_texts else ""


def _read_merit(case: Case) -> float:
    """Return the value by which the best model of a case is judged; 0 if it has none."""
    return float(case.candidates[0].merit.value or 0.0)


def _write_everywhere(cases: Sequence[WordedCase]) -> str:
    """Return the one verdict that holds in all cases, with the numbers of the first case."""
    first_place_phrase = start_sentence(join_places(cases, [cases[0].short_name]))
    return write_sentence(cases[0], f" {say_places(cases, 'all')}", f". {first_place_phrase}: ")


def _write_range(cases: Sequence[WordedCase]) -> str:
    """Return the lowest and the highest value of one model, and the cases that have none."""
    measured_cases = sorted((case for case in cases if case.status == "measured"), key=_read_merit)
    cases_by_outcome_name: dict[str, list[WordedCase]] = {}
    for case in cases:
        if case.status != "measured":
            cases_by_outcome_name.setdefault(name_outcome(case.outcome), []).append(case)
    clauses = [
        f"{outcome_name} {join_places(cases, [_name_cases(same_cases)])}"
        for outcome_name, same_cases in cases_by_outcome_name.items()
    ]
    if len(measured_cases) == 1:
        clauses.insert(0, f"{name_merit(cases[0])} {_write_end(measured_cases[0])}")
    elif measured_cases:
        low_text, high_text = _write_end(measured_cases[0]), _write_end(measured_cases[-1])
        range_phrase = f"ranges from {low_text} to {high_text}"
        range_phrase = f"is {low_text} and {high_text}" if len(measured_cases) == 2 else range_phrase
        clauses.insert(0, f"{name_merit(cases[0])} {range_phrase}")
    return start_sentence("; ".join(clauses))


def _write_ends(cases: Sequence[WordedCase]) -> str:
    return f"from {_write_end(cases[0])} to {_write_end(cases[-1])}"


def _write_end(case: WordedCase) -> str:
    preposition = "for" if case.groups else "at"  # groups may be classes, which nothing is "in"
    return f"{write_merit(case.candidates[0])} {preposition} {case.short_name}"


def _write_differing(cases: Sequence[WordedCase]) -> str:
    """Return which model is better in which cases, and where there is no clear winner."""
    cases_by_verdict_text: dict[str, list[WordedCase]] = {}
    for case in sorted(cases, key=lambda case: case.status != "winner"):
        cases_by_verdict_text.setdefault(say_short(case), []).append(case)
    verdicts_with_cases = sorted(
        cases_by_verdict_text.items(),
        key=lambda text_and_cases: (text_and_cases[1][0].status != "winner", -len(text_and_cases[1])),
    )
    n_winners = sum(same_cases[0].status == "winner" for _, same_cases in verdicts_with_cases)
    clauses = []
    for verdict_text, same_cases in verdicts_with_cases:
        places_text = join_places(same_cases, [_name_cases(same_cases)])
        if len(same_cases) == len(cases) > MOST_NAMES:
            places_text = say_places(cases, "any of the")
        elif same_cases[0].status == "winner" and len(same_cases) > MOST_NAMES:
            places_text = say_places(cases, f"{len(same_cases)} of")
        clauses.append(f"{verdict_text} {places_text}")
    if all(case.status == "no_winner" for case in cases):
        common_rivals = [
            candidate
            for candidate in cases[0].finalists
            if all(candidate.model in case.models for case in cases)
        ]
        if common_rivals:
            clauses.append(f"{list_names(common_rivals)} may be best {say_places(cases, 'all')}")
    opening = f"Which model is better depends on the {name_unit(cases, is_plural=False)}: "
    headline = f"{opening if n_winners > 1 else ''}{'; '.join(clauses)}"
    return headline if n_winners == 1 else start_sentence(headline)  # the name of a model stays as it is


def say_short(case: Case) -> str:
    """Return a verdict in a few words."""
    if case.standing is None and case.status == "winner":
        return f"{list_names(case.finalists)} is better"
    return name_outcome(case.outcome)


def _list_needs(judgement: TableJudgement, cases: Sequence[WordedCase]) -> Iterator[str]:
    """Yield what would settle the case of which least is known, and what mends those that miss."""
    test_level = judgement.evidence.test_level
    open_cases = [case for case in cases if case.met is not False]
    if judgement.group_tests is not None:
        yield say_group_need(cases, judgement.confidence)
        open_cases = [case for case in cases if case.outcome == "too_little_data"]
    if open_cases:
        least_known_case = find_least_known(open_cases, test_level)
        need_sentence = least_known_case.verdict.would_settle
        yield _say_need(
            [case for case in open_cases if case.verdict.would_settle == need_sentence], cases
        )
    failing_cases = [case for case in cases if case.met is False]
    cases_with_thresholds = [
        (case, threshold_text)
        for case in failing_cases
        if (threshold_text := find_other_threshold(case))
    ]
    if len(cases_with_thresholds) == 1:
        yield _say_need([cases_with_thresholds[0][0]], cases)
    elif cases_with_thresholds:
        places_text = list_texts(
            [
                f"{other_threshold_text} {join_places([case], [case.short_name])}"
                for case, other_threshold_text in cases_with_thresholds
            ]
        )
        target_noun = name_targets(judgement.goal.demand)
        yield (
            f"On this test set, other thresholds meet the {target_noun}: {places_text}. Test them on "
            "other data"
        )


def _say_need(like_cases: Sequence[WordedCase], cases: Sequence[WordedCase]) -> str:
    """Return what would settle each of some cases, and where that is unless it is the same in all."""
    need_sentence = like_cases[0].verdict.would_settle
    if need_sentence and any(other_case.verdict.would_settle != need_sentence for other_case in cases):
        place_phrase = like_cases[0].place
        if len(like_cases) > 1:
            place_phrase = join_places(
                like_cases, [list_texts([case.short_name for case in like_cases])]
            )
        need_sentence = f"{start_sentence(place_phrase)}: {need_sentence[:1].lower()}{need_sentence[1:]}"
    return need_sentence


def _explain_open_groups(judgement: TableJudgement, cases: Sequence[WordedCase]) -> Iterator[str]:
    """Yield why groups whose intervals exclude the overall value may not differ significantly."""
    overall_value = None if judgement.group_tests is None else judgement.group_tests.overall_value
    merit_spans = [case.candidates[0].merit.span for case in cases if case.outcome == "open"]
    if overall_value is not None and any(
        span and not span[0] <= overall_value <= span[1] for span in merit_spans
    ):
        yield (
            f"an interval that excludes the overall {name_merit(cases[0])} does not by itself show a "
            f"difference: groups are compared{describe_comparison(judgement.goal)}, with one error "
            "rate for all comparisons"
        )
