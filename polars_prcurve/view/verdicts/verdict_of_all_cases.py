"""The verdict above several cases in words: what holds in all of them, and what in which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from polars_prcurve.core.ground.message_text import format_count, join_words, name_groups
from polars_prcurve.core.ground.visible_names import find_lookalikes
from polars_prcurve.core.judging.case_status import Case
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
    phrases = []
    if len(etas) == 1:
        phrases.append(f"prevalence {say_eta(etas[0])}")
    elif etas:
        highest_text, *_, lowest_text = say_etas(etas)  # in one unit with those of the cases
        both = f"prevalences {lowest_text} and {highest_text}"
        phrases.append(both if len(etas) == 2 else f"prevalences from {lowest_text} to {highest_text}")
    goal = judgement.goal
    if goal.mean_over:
        group_name, group_plural = name_groups(goal.mean_over)
        has_etas = any(case.n_neg for case in cases)  # that are counted
        phrases += [] if etas or not has_etas else [f"each {group_name} at its own prevalence"]
        group_counts = sorted({size for case in cases for size in case.sizes.values()})
        counts_text = " to ".join(dict.fromkeys(map(format_count, (group_counts[0], group_counts[-1]))))
        phrases.append(f"the mean of {counts_text} {group_name if counts_text == '1' else group_plural}")
        return glue_numbers(start_sentence("; ".join([*phrases, f"{group_plural} as in the test set"])))
    n_thresholds = sum(len(case.candidates) for case in cases)
    has_points = goal.is_at_threshold or any(case.qualifiers for case in cases)
    if has_points:  # or no threshold meets the targets
        phrases += filter(None, [describe_thresholds(goal, is_plural=n_thresholds > 1)])
    # Tables of several cases have no alerts unless `per` is passed; a budget is named with its `per`.
    has_table = len(cases) == 1 or (judgement.has_one_model and goal.per is not None)
    has_alerts = has_points and not goal.is_of_curve and has_table
    if has_alerts and "alerts" not in goal.all_limits:
        phrases.append(f"alerts {say_cases(cases[0].per)}")
    if judgement.has_classes and judgement.group_tests is not None and len(cases) > 1:
        phrases.append("classes are tested as if they shared no examples")
    if judgement.weight is not None:
        counted_text = (
            "rows, cases and alerts" if has_points and not goal.is_of_curve else "rows and cases"
        )
        weight_text = f" by {name_value(judgement.weight)}" if judgement.weight else ""
        phrases.append(f"{counted_text} are weighted{weight_text}")
    phrases += [_AS_IN_TEST, *_list_lookalikes(cases)]
    return glue_numbers(start_sentence("; ".join(phrases)))


def _list_lookalikes(cases: Sequence[Case]) -> list[str]:
    """Return phrases on models, and on values of one column of groups, that look alike."""
    models = [candidate.model for case in cases for candidate in case.candidates]
    values_of_columns = [models, *zip(*(case.groups.values() for case in cases), strict=True)]
    return [
        f"{join_words(like_names)} are different names"
        for values in values_of_columns
        for like_names in find_lookalikes(value for value in values if isinstance(value, str))
    ]


def say_status(judgement: TableJudgement) -> str:
    """Return the status as people read it; of several cases, in how many it holds. May be empty."""
    cases, n_cases = judgement.cases, len(judgement.cases)
    n_won = sum(case.status == "winner" for case in cases)
    n_unknown = sum(case.outcome == "too_little_data" for case in cases)
    unknown_label = STATUS_TABLE["too_little_data"].label
    if n_unknown == n_cases:
        return unknown_label
    if judgement.group_tests is not None:
        n_apart = sum(case.is_group_apart for case in cases)
        n_tested = sum(case.is_group_tested for case in cases)
        return f"{n_apart} of {n_tested} {'differs' if n_apart == 1 else 'differ'}"
    if 0 < n_won < n_cases and not judgement.goal.demand:
        return f"clear winner in {n_won} of {n_cases}"
    if judgement.status == "no_winner" and n_won == n_cases:
        return f"no single winner in {n_cases} {name_unit(cases)}"
    label = STATUS_TABLE[judgement.status].label
    n_alike = sum(case.status == judgement.status for case in cases)
    if 0 < n_alike < n_cases and not judgement.goal.demand:
        return f"{label} in {n_alike} of {n_cases}"
    return label


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


def _name(cases: Sequence[WordedCase]) -> str:
    return list_texts([case.short_name for case in cases])


def _count_demand(judgement: TableJudgement, cases: Sequence[WordedCase]) -> str:
    """Return how many cases meet the demand, and which ones do not."""
    goal = judgement.goal
    misses = [case for case in cases if case.met is False]
    vague_cases = [case for case in cases if case.met is None and case.status == "too_little_data"]
    undecided_cases = [case for case in cases if case.met is None and case.status != "too_little_data"]
    untested_cases = [case for case in undecided_cases if case.lacks_threshold]
    open_cases = [case for case in undecided_cases if not case.lacks_threshold]
    n_met, n_cases = sum(case.met is True for case in cases), len(cases)
    target, verbs = describe_targets(goal.demand, goal.per), choose_verbs(goal.demand)
    for verb, n_alike in {verbs["meet"]: n_met, verbs["miss"]: len(misses)}.items():
        if n_alike == n_cases:
            return f"{'Both' if n_cases == 2 else f'All {n_cases}'} {name_unit(cases)} {verb} {target}"
    clauses = []
    if n_met:
        verb = verbs["meets" if n_met == 1 else "meet"]
        clauses.append(f"{n_met} of {n_cases} {name_unit(cases)} {verb} {target}")
    elif not misses:
        none = f"None of the {n_cases} {name_unit(cases)}"
        none = f"Neither {name_unit(cases, is_plural=False)}" if n_cases == 2 else none
        clauses.append(f"{none} is shown to {verbs['meet']} {target}")
    if misses:
        clauses.append(_write_misses(goal, misses, "it" if clauses else target))
    if open_cases:
        clauses.append(f"not sure for {_name(open_cases)}")
    if vague_cases:
        clauses.append(f"too little data for {_name(vague_cases)}")
    if untested_cases:
        clauses.append(f"no threshold for {_name(untested_cases)}")
    return "; ".join(clauses)


def _write_misses(goal: Goal, misses: Sequence[WordedCase], target: str) -> str:
    """Return which cases miss the demand; if all of them miss some of several limits, which."""
    missed_words = {tuple(_list_missed(goal, case)) for case in misses}
    words = [*missed_words.pop()] if len(missed_words) == 1 else [*goal.demand]
    if 0 < len(words) < len(goal.demand):
        target = describe_targets({word: goal.demand[word] for word in words}, goal.per)
    verb = choose_verbs(words)["misses" if len(misses) == 1 else "miss"]
    return f"{_name(misses)} {verb} {target}"


def _list_missed(goal: Goal, case: Case) -> list[str]:
    """Return the limits that the threshold of a case misses."""
    if not goal.is_gate:
        return []
    return [word for word in goal.demand if case.candidates[0].test_limit(word) is False]


def _write_groups(cases: Sequence[WordedCase]) -> str:
    """Return which groups differ significantly from all others together."""
    unit = name_unit(cases, is_plural=False)
    better_cases, worse_cases = (
        sorted((case for case in cases if case.outcome == outcome), key=_read_value, reverse=True)
        for outcome in ("better", "worse")
    )
    # Of many that are worse the worst ones are named.
    named_worse_cases = worse_cases[:: -1 if len(worse_cases) > MOST_NAMES else 1]
    open_cases = sorted((case for case in cases if case.outcome == "open"), key=_read_value)
    vague_cases = [case for case in cases if case.outcome == "too_little_data"]
    metric = name_merit(cases[0])
    if len(vague_cases) == len(cases):
        return f"No {unit} can be compared with the rest"
    if not better_cases and not worse_cases:
        headline = f"No {unit} differs significantly from the rest"
        if len(open_cases) == 1:
            headline += f": {metric} {_write_end(open_cases[0])}"
        elif open_cases:
            headline += f": {metric} from {_write_end(open_cases[0])} to {_write_end(open_cases[-1])}"
    else:
        comparisons = [
            f"{_name(group_cases)} {'is' if len(group_cases) == 1 else 'are'} {word}"
            for word, group_cases in (("better", better_cases), ("worse", named_worse_cases))
            if group_cases
        ]
        comparisons[0] += " than the rest"
        headline = ", and ".join(comparisons)
        cases_apart = [*better_cases, *worse_cases]
        if len(cases_apart) <= MOST_NAMES:
            values = join_words([write_merit(case.candidates[0]) for case in cases_apart])
            headline += f": {metric} {values}"
        else:
            headline += f": {metric} from {_write_end(cases_apart[-1])} to {_write_end(cases_apart[0])}"
        if open_cases:
            others = f"other {len(open_cases)} do" if len(open_cases) > 1 else "other one does"
            headline += f"; the {others} not differ significantly"
            headline += _write_beyond(open_cases, cases_apart) if better_cases and worse_cases else ""
    lone_cases = [case for case in cases if not case.is_group_tested and case not in vague_cases]
    headline += f"; nothing to compare {_name(lone_cases)} with" if lone_cases else ""
    return f"{headline}; too little data for {_name(vague_cases)}" if vague_cases else headline


def _write_beyond(open_cases: Sequence[WordedCase], cases_apart: Sequence[WordedCase]) -> str:
    """Return the first and the last of the open cases, if they are beyond the range of the others."""
    values = [*map(_read_value, cases_apart)]
    first_case, last_case = open_cases[0], open_cases[-1]
    beyond_cases = [first_case] if _read_value(first_case) < min(values) else []
    beyond_cases += [last_case] if _read_value(last_case) > max(values) else []
    texts = [f"{case.short_name} at {write_merit(case.candidates[0])}" for case in beyond_cases]
    return f", among them {join_words(texts)}" if texts else ""


def _read_value(case: Case) -> float:
    """Return the value by which the best model of a case is judged; 0 if it has none."""
    return float(case.candidates[0].merit.value or 0.0)


def _write_everywhere(cases: Sequence[WordedCase]) -> str:
    """Return the one verdict that holds in all cases, with the numbers of the first case."""
    first_place = start_sentence(join_places(cases, [cases[0].short_name]))
    return write_sentence(cases[0], f" {say_places(cases, 'all')}", f". {first_place}: ")


def _write_range(cases: Sequence[WordedCase]) -> str:
    """Return the lowest and the highest value of one model, and the cases that have none."""
    measured_cases = sorted((case for case in cases if case.status == "measured"), key=_read_value)
    other_cases: dict[str, list[WordedCase]] = {}
    for case in cases:
        if case.status != "measured":
            other_cases.setdefault(name_outcome(case.outcome), []).append(case)
    clauses = [
        f"{outcome_name} {join_places(cases, [_name(same_cases)])}"
        for outcome_name, same_cases in other_cases.items()
    ]
    if len(measured_cases) == 1:
        clauses.insert(0, f"{name_merit(cases[0])} {_write_end(measured_cases[0])}")
    elif measured_cases:
        low_text, high_text = _write_end(measured_cases[0]), _write_end(measured_cases[-1])
        values = f"ranges from {low_text} to {high_text}"
        values = f"is {low_text} and {high_text}" if len(measured_cases) == 2 else values
        clauses.insert(0, f"{name_merit(cases[0])} {values}")
    return start_sentence("; ".join(clauses))


def _write_end(case: WordedCase) -> str:
    preposition = "for" if case.groups else "at"  # groups may be classes, which nothing is "in"
    return f"{write_merit(case.candidates[0])} {preposition} {case.short_name}"


def _write_differing(cases: Sequence[WordedCase]) -> str:
    """Return which model is better in which cases, and where there is no clear winner."""
    cases_by_verdict: dict[str, list[WordedCase]] = {}
    for case in sorted(cases, key=lambda case: case.status != "winner"):
        cases_by_verdict.setdefault(say_short(case), []).append(case)
    groups = sorted(
        cases_by_verdict.items(), key=lambda entry: (entry[1][0].status != "winner", -len(entry[1]))
    )
    n_winners = sum(same_cases[0].status == "winner" for _, same_cases in groups)
    clauses = []
    for verdict_text, same_cases in groups:
        places_text = join_places(same_cases, [_name(same_cases)])
        if len(same_cases) == len(cases) > MOST_NAMES:
            places_text = say_places(cases, "any of the")
        elif same_cases[0].status == "winner" and len(same_cases) > MOST_NAMES:
            places_text = say_places(cases, f"{len(same_cases)} of")
        clauses.append(f"{verdict_text} {places_text}")
    if all(case.status == "no_winner" for case in cases):
        rivals = [
            candidate
            for candidate in cases[0].finalists
            if all(candidate.model in case.models for case in cases)
        ]
        if rivals:
            clauses.append(f"{list_names(rivals)} may be best {say_places(cases, 'all')}")
    opening = f"Which model is better depends on the {name_unit(cases, is_plural=False)}: "
    text = f"{opening if n_winners > 1 else ''}{'; '.join(clauses)}"
    return text if n_winners == 1 else start_sentence(text)  # the name of a model stays as it is


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
        least_known = find_least_known(open_cases, test_level)
        need = least_known.verdict.would_settle
        yield _say_need([case for case in open_cases if case.verdict.would_settle == need], cases)
    misses = [case for case in cases if case.met is False]
    mended = [(case, threshold) for case in misses if (threshold := find_other_threshold(case))]
    if len(mended) == 1:
        yield _say_need([mended[0][0]], cases)
    elif mended:
        places = list_texts(
            [f"{text} {join_places([case], [case.short_name])}" for case, text in mended]
        )
        targets = name_targets(judgement.goal.demand)
        yield (
            f"On this test set, other thresholds meet the {targets}: {places}. Test them on other data"
        )


def _say_need(alike: Sequence[WordedCase], cases: Sequence[WordedCase]) -> str:
    """Return what would settle each of some cases, and where that is unless it is the same in all."""
    need_sentence = alike[0].verdict.would_settle
    if need_sentence and any(other_case.verdict.would_settle != need_sentence for other_case in cases):
        place = alike[0].place
        if len(alike) > 1:
            place = join_places(alike, [list_texts([case.short_name for case in alike])])
        need_sentence = f"{start_sentence(place)}: {need_sentence[:1].lower()}{need_sentence[1:]}"
    return need_sentence


def _explain_open_groups(judgement: TableJudgement, cases: Sequence[WordedCase]) -> Iterator[str]:
    """Yield why groups whose intervals exclude the overall value may not differ significantly."""
    overall = None if judgement.group_tests is None else judgement.group_tests.overall_value
    spans = [case.candidates[0].merit.span for case in cases if case.outcome == "open"]
    if overall is not None and any(span and not span[0] <= overall <= span[1] for span in spans):
        yield (
            f"an interval that excludes the overall {name_merit(cases[0])} does not by itself show a "
            f"difference: groups are compared{describe_comparison(judgement.goal)}, with one error "
            "rate for all comparisons"
        )
