"""The verdict of a case in words: its sentence, and the reasons beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.ground.message_text import format_count, join_words, name_groups
from polars_prcurve.core.judging.candidate import Candidate
from polars_prcurve.core.judging.case_status import LEAST_OF_CLASS, Case
from polars_prcurve.core.judging.evidence import EvidenceColumn
from polars_prcurve.core.judging.sample_needs import find_short_class, find_vaguest, rests_on_eta
from polars_prcurve.core.judging.status_names import Status
from polars_prcurve.core.metrics.target_definitions import TARGET_KINDS
from polars_prcurve.view.verdicts.caveat_sentences import write_caveats
from polars_prcurve.view.verdicts.need_sentences import say_need
from polars_prcurve.view.verdicts.status_labels import STATUS_TABLE
from polars_prcurve.view.verdicts.target_phrases import (
    choose_verbs,
    describe_best,
    describe_targets,
    name_limited,
)
from polars_prcurve.view.verdicts.value_phrases import (
    MOST_NAMES,
    format_ends,
    format_metric,
    list_metrics,
    list_names,
    name_merit,
    name_model,
    write_merit,
    write_metric,
    write_threshold,
    write_value,
)
from polars_prcurve.view.verdicts.verdict import Verdict
from polars_prcurve.view.words.names_in_sentences import name_metric, start_sentence
from polars_prcurve.view.words.number_words import format_level, glue_numbers, say_share, say_threshold


def write_verdict(case: Case, test_level: float, conditions: str) -> Verdict:
    """Return the verdict of a case: its status, its models, and the sentences on them."""
    return Verdict(
        case.status,
        case.models,
        sentence=glue_numbers(write_sentence(case)),
        met=case.met,
        reasons=write_caveats([case], [""]),
        would_settle=glue_numbers(say_need(case, test_level)),
        conditions=conditions,
    )


class Breaks(NamedTuple):
    """What a sentence on several cases like one has: where it holds, and whose numbers follow."""

    places: str = ""  # such as ` at both prevalences`
    colon: str = ": "  # or `. At 1 in 50: `
    semicolon: str = "; "

    @property
    def opening(self) -> str:
        """What stands before values: where they hold, and a colon."""
        return f"{self.places}{self.colon}"


def write_sentence(case: Case, places: str = "", opening: str = "") -> str:
    """Return the sentence of a case; of several like it with where it holds, and whose numbers follow.

    `places` are such as ` at both prevalences`, and `opening` such as `. At 1 in 50: `.
    """
    return _WRITERS[case.status](case, Breaks(places, opening or ": ", opening or "; "))


def _write_of_one(case: Case, breaks: Breaks, start: str, sentence: str) -> str:
    """Return a sentence that is all about one case, after the status of all."""
    if not breaks.places:
        return f"{start}{sentence}"
    label = start_sentence(STATUS_TABLE[case.status].label)
    return f"{label}{breaks.opening}{start.lower()}{sentence}"


def _write_winner(case: Case, breaks: Breaks) -> str:
    leader, n_models = case.finalists[0], len(case.candidates)
    others = [candidate for candidate in case.qualifiers if candidate is not leader]
    first, metric, value = name_model(leader), name_merit(case), write_merit(leader)
    if not others:
        return f"Only {first} meets the targets{breaks.opening}{_write_values(case, leader)}"
    second, next_value = name_model(others[0]), write_merit(others[0])
    if n_models == 2:
        return f"{first} is better{breaks.opening}{metric} {value}, against {next_value} for {second}"
    return (
        f"{first} is the best of {n_models} models{breaks.opening}{metric} {value}; the next is "
        f"{second}, {next_value}"
    )


def _write_no_winner(case: Case, breaks: Breaks) -> str:
    rivals, n_models, metric = case.finalists, len(case.candidates), name_merit(case)
    first, value = name_model(rivals[0]), write_merit(rivals[0])
    if len(rivals) == 1:  # the others are behind it, and it is not significantly above chance
        highest = f"{first} has the highest {metric}, {value}"
        return f"{highest}, but is not significantly better than chance{breaks.places}"
    if misses := [candidate for candidate in rivals if not candidate.meets_targets]:
        miss = f"{list_names(misses)} {'misses' if len(misses) == 1 else 'miss'} the targets"
        sentence = f" has {metric} {value}; {miss} on this test set, but not significantly"
        return _write_of_one(case, breaks, "", f"{first}{sentence}")
    if n_models == 2:
        values = join_words([write_merit(rival) for rival in rivals])
        names = f"{first} and {name_model(rivals[1])}"
        return f"No clear winner between {names}{breaks.opening}{metric} {values}"
    start = f"{len(rivals)} of {n_models} models may be best{breaks.places}: {list_names(rivals)}"
    last, column = rivals[-1], case.goal.merit_column
    values = f"from {write_merit(last)} for {name_model(last)} to {value} for {first}"
    (first_text, _), (last_text, _) = (format_metric(rival, column) for rival in (rivals[0], last))
    if first_text == last_text:  # from 18% to 18% would be no range
        values = join_words([value, write_merit(last)]) if len(rivals) == 2 else f"{first_text} for each"
    return f"{start}{breaks.semicolon}{metric} {values}"


def _write_chance(case: Case, breaks: Breaks) -> str:
    candidates = case.candidates
    if case.goal.is_of_point:
        act = "flags all examples" if case.flags_all else "is no better than chance"
        precision, eta = write_value("precision", candidates[0].precision), _write_eta(case)
        return f"This point {act}{breaks.opening}precision is {precision}; the prevalence is {eta}"
    has_names = candidates[0].model is not None
    names = list_names(candidates) if has_names else "The scores"
    is_one = has_names and len(candidates) == 1
    if case.is_reversed:
        return f"{names} {'ranks' if is_one else 'rank'} negatives above positives{breaks.places}"
    start = f"{names} {'is' if is_one else 'are'} no better than chance{breaks.opening}"
    if case.goal.mean_over:
        values = join_words([write_merit(candidate) for candidate in candidates[:MOST_NAMES]])
        by_chance = f"{case.chance_precision:.2g}"
        return f"{start}{name_merit(case)} is {values}; random scores have {by_chance}"
    if case.has_one_score:
        score = say_threshold(candidates[0].row[EvidenceColumn.FEW_SCORES][0])
        of_model = f" of {names}" if has_names else ""
        return f"All scores{of_model} are {score}, so they rank nothing{breaks.places}"
    # A threshold of 50% recall is in the table, with an interval of its own.
    is_in_table = {**case.goal.targets} == {"recall": 0.5}
    estimates = [
        candidate.precision if is_in_table else candidate.precision_at_half
        for candidate in candidates[:MOST_NAMES]
    ]
    values = join_words([write_value("precision", estimate) for estimate in estimates])
    place = f"at {say_share(0.5)} recall, precision"
    return f"{start}{place} is {values}; the prevalence is {_write_eta(case)}"


def _write_eta(case: Case) -> str:
    """Return the prevalence in one unit with precision."""
    return write_value("precision", Estimate(case.eta or 0.0, None, None))


def _write_too_little(case: Case, breaks: Breaks) -> str:
    n_examples, class_name = find_short_class(case)
    if n_examples == 0:
        return _write_of_one(case, breaks, "The", f" test set has no {class_name}")
    if case.lacks_scores:
        return f"No row has a score{breaks.places}"
    examples = _describe_cause(case, n_examples, class_name)
    candidate, column, estimate = find_vaguest(case)
    at_half = f" at {say_share(0.5)} recall" if column == EvidenceColumn.AT_HALF else ""
    column = "precision" if at_half else column
    metric = name_metric(column)
    if estimate.span is None:
        fact = f"there is no interval for {metric}{at_half}"
        return _write_of_one(case, breaks, "With", f" {examples}, {fact}")
    ends = " to ".join(format_ends(column, estimate))
    of_model = f" of {name_model(candidate)}" if len(case.candidates) > 1 else ""
    fact = f"{metric}{of_model}{at_half} could be anything from {ends}"
    return _write_of_one(case, breaks, "With", f" {examples}, {fact}")


def _describe_cause(case: Case, n_examples: float, class_name: str) -> str:
    """Return what leaves an interval wide: few examples, large weights, or an unsure prevalence."""
    if n_examples >= LEAST_OF_CLASS and rests_on_eta(case):
        low_text, high_text = format_ends("precision", Estimate(case.eta, *case.eta_limits))
        return f"a prevalence of {low_text} to {high_text}"
    noun = class_name.removesuffix("s")
    if case.goal.mean_over:
        noun, _ = name_groups(case.goal.mean_over)
    examples_text = f"{format_count(n_examples)} {noun if n_examples == 1 else class_name}"
    if case.overweight_class is None:
        return examples_text
    return f"{examples_text} that count as {case.size_by_weight[class_name]:.2g} by their weights"


def _write_not_met(case: Case, breaks: Breaks) -> str:
    goal = case.goal
    if goal.targets and not goal.is_at_threshold:
        return _write_no_threshold(case, breaks)
    if not case.qualifiers and goal.is_at_threshold:
        return f"No score reaches the threshold {write_threshold(case.candidates[0])}{breaks.places}"
    return _write_gate(case, breaks, "misses")


def _write_unsure(case: Case, breaks: Breaks) -> str:
    goal = case.goal
    if case.lacks_threshold:
        return f"No threshold was passed{breaks.places}"
    if goal.is_gate:
        return _write_gate(case, breaks, "meet", "may or may not ")
    if goal.guarantee is None:
        return _write_no_threshold(case, breaks, " on this test set, but one may on new data")
    return _write_no_threshold(case, breaks, f" with {format_level(goal.guarantee)} confidence")


def _write_no_threshold(case: Case, breaks: Breaks, limit: str = "") -> str:
    """Return that no threshold meets the targets, and the best value of the last one."""
    best = describe_best(case.candidates)
    target = describe_targets(case.goal.targets, case.goal.per)
    meets = choose_verbs(case.goal.targets)["meets"]
    return f"No threshold {meets} {target}{limit}{breaks.places}{best and f'; {best}'}"


def _write_met(case: Case, breaks: Breaks) -> str:
    goal, candidate = case.goal, (case.finalists or case.candidates)[0]
    if goal.is_gate:
        return _write_gate(case, breaks, "meets")
    of_model = f" of {name_model(candidate)}" if len(case.candidates) > 1 else ""
    target = describe_targets(goal.targets, goal.per)
    meets = f"{choose_verbs(goal.targets)['meets']} {target}"
    level = f"with {format_level(goal.guarantee or 0)} confidence"
    return (
        f"Threshold {write_threshold(candidate)}{of_model} {meets} {level}{breaks.opening}"
        f"{_write_values(case, candidate)}"
    )


def _write_gate(case: Case, breaks: Breaks, verb: str, doubt: str = "") -> str:
    """Return what a threshold does of what is demanded, with the intervals at which it is tested."""
    [candidate] = case.candidates
    result_of_word = {
        word: candidate.test_limit(word)
        for word in case.goal.demand
        if candidate.read(TARGET_KINDS[word].column).value is not None
    }
    deciding_words = [word for word, is_met in result_of_word.items() if is_met is case.met]
    deciding_words = deciding_words or [*result_of_word]
    act = f"{doubt}{choose_verbs(deciding_words)[verb]} {_write_limits(case, deciding_words)}"
    tails = []
    for is_met in (None, True):
        words = [word for word in result_of_word if word not in deciding_words]
        if words := [word for word in words if result_of_word[word] is is_met]:
            verbs = choose_verbs(words)
            own_act = verbs["meets"] if is_met else f"may or may not {verbs['meet']}"
            tails.append(f"; it {own_act} {_write_limits(case, words)}: {_write_limited(case, words)}")
    subject = "This point" if case.goal.is_of_point else f"Threshold {write_threshold(candidate)}"
    values = _write_limited(case, deciding_words) + "".join(tails)
    return f"{subject} {act}{breaks.opening}{values}"


def _write_limits(case: Case, words: Sequence[str]) -> str:
    """Return some limits of a demand: `30% recall and 10% precision`."""
    return describe_targets({word: case.goal.demand[word] for word in words}, case.goal.per)


def _write_limited(case: Case, words: Sequence[str]) -> str:
    """Return the values that some limits of a demand are of, with intervals; several by their names."""
    [candidate] = case.candidates
    values = {word: write_metric(candidate, TARGET_KINDS[word].column) for word in words}
    if len(values) == 1:  # the limit has just named it
        return values.popitem()[1]
    return join_words(name_limited(word, value, case) for word, value in values.items())


def _write_values(case: Case, candidate: Candidate) -> str:
    """Return what a model does: its merit, and what else counts at its threshold."""
    phrases = []
    for name in list_metrics(case.goal):
        if name != "alerts" and candidate.read(name).value is not None:
            title = name_merit(case) if name == case.goal.merit_column else name_metric(name)
            phrases.append(f"{title} {write_metric(candidate, name)}")
    return join_words(phrases)


def _write_measured(case: Case, breaks: Breaks) -> str:
    [candidate] = case.candidates
    values = _write_values(case, candidate)
    if candidate.model is None:
        return start_sentence(values)
    return f"{name_model(candidate)}: {values}"


_WRITERS: Mapping[Status, Callable[[Case, Breaks], str]] = {
    "too_little_data": _write_too_little,
    "chance": _write_chance,
    "not_met": _write_not_met,
    "unsure": _write_unsure,
    "no_winner": _write_no_winner,
    "winner": _write_winner,
    "met": _write_met,
    "measured": _write_measured,
}
"""What writes the sentence of each status."""
