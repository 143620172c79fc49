"""The verdict of a case in words: its sentence, and the reasons beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from polars_prcurve.core.confidence.rate_intervals import Estimate
from polars_prcurve.core.ground.message_text import format_count, join_words, name_groups
from polars_prcurve.core.judging.case_status import Candidate, Case
from polars_prcurve.core.judging.evidence import EvidenceColumn
from polars_prcurve.core.judging.sample_needs import find_short_class, find_vaguest
from polars_prcurve.core.judging.status_names import Status
from polars_prcurve.core.metrics.target_definitions import TARGET_KINDS
from polars_prcurve.view.verdicts.need_sentences import say_need
from polars_prcurve.view.verdicts.reason_sentences import write_reasons
from polars_prcurve.view.verdicts.status_sentences import STATUS_TABLE
from polars_prcurve.view.verdicts.value_phrases import (
    MOST_NAMES,
    choose_verbs,
    describe_best,
    describe_targets,
    format_ends,
    list_metrics,
    list_names,
    name_limited,
    name_merit,
    name_model,
    start_sentence,
    write_merit,
    write_metric,
    write_threshold,
    write_value,
)
from polars_prcurve.view.verdicts.verdict import Verdict
from polars_prcurve.view.words.display_names import name_metric
from polars_prcurve.view.words.number_words import (
    format_level,
    glue_numbers,
    say_share,
    say_threshold,
)


def write_verdict(case: Case, test_level: float, conditions: str) -> Verdict:
    """Return the verdict of a case: its status, its models, and the sentences on them."""
    return Verdict(
        case.status,
        case.models,
        sentence=glue_numbers(write_sentence(case)),
        met=case.met,
        reasons=write_reasons([case], [""]),
        would_settle=glue_numbers(say_need(case, test_level)),
        conditions=conditions,
    )


def write_sentence(case: Case, places: str = "", opening: str = "") -> str:
    """Return the sentence of a case; of several like it with where it holds, and whose numbers follow.

    `places` are such as ` at both prevalences`, and `opening` such as `. At 1 in 50: `.
    """
    kind, values = _DESCRIPTIONS[case.status](case)
    label, _, templates = STATUS_TABLE[case.status]
    template = templates[kind]
    if places and "{places}" not in template:  # it is all about the one case
        template = f"{start_sentence(label)}{{places}}{{colon}}{template[:1].lower()}{template[1:]}"
    breaks = {"places": places, "colon": opening or ": ", "semicolon": opening or "; "}
    return template.format(**values, **breaks)


_Description = tuple[str, Mapping[str, Any]]
"""The kind of a sentence in the table of statuses, and the values that it names."""


def _describe_winner(case: Case) -> _Description:
    best_candidate = case.finalists[0]
    others = [candidate for candidate in case.qualifiers if candidate is not best_candidate]
    if not others:
        return "alone", {
            "first": name_model(best_candidate),
            "values": _write_values(case, best_candidate),
        }
    return "two" if len(case.candidates) == 2 else "several", {
        "first": name_model(best_candidate),
        "second": name_model(others[0]),
        "metric": name_merit(case),
        "value": write_merit(best_candidate),
        "next_value": write_merit(others[0]),
        "n_models": len(case.candidates),
    }


def _describe_no_winner(case: Case) -> _Description:
    rivals = case.finalists
    first, values = rivals[0], {"first": name_model(rivals[0]), "metric": name_merit(case)}
    values["value"] = write_merit(first)
    if len(rivals) == 1:  # the others are behind it, and it is not significantly above chance
        return "chance", values
    if misses := [candidate for candidate in rivals if not candidate.meets_targets]:
        values |= {"others": list_names(misses), "miss": "misses" if len(misses) == 1 else "miss"}
        return "one misses", values
    if len(case.candidates) == 2:
        values["second"] = name_model(rivals[1])
        return "two", {**values, "values": join_words([write_merit(rival) for rival in rivals])}
    last = rivals[-1]
    numbers = {"n_named": len(rivals), "n_models": len(case.candidates), "names": list_names(rivals)}
    ends = {
        end: f"{write_merit(rival)} for {name_model(rival)}"
        for end, rival in (("lowest", last), ("highest", first))
    }
    return "several", {**values, **numbers, **ends}


def _describe_chance(case: Case) -> _Description:
    candidates = case.candidates
    has_names = candidates[0].model is not None
    names = list_names(candidates) if has_names else "The scores"
    is_one = has_names and len(candidates) == 1
    if case.is_reversed:
        return "reversed", {
            "models": names,
            "rank": "ranks" if is_one else "rank",
        }
    if case.goal.mean_over:
        return "mean", {
            "models": names,
            "are": "is" if is_one else "are",
            "metric": name_merit(case),
            "values": join_words([write_merit(candidate) for candidate in candidates[:MOST_NAMES]]),
            "by_chance": f"{case.chance_precision:.2g}",
        }
    if case.has_one_score:
        [score] = candidates[0].row[EvidenceColumn.FEW_SCORES]
        of_model = f" of {names}" if has_names else ""
        return "constant", {"score": say_threshold(score), "of_model": of_model}
    # A threshold of 50% recall is in the table, with an interval of its own.
    is_in_table = {**case.goal.targets} == {"recall": 0.5}
    estimates = [
        candidate.precision if is_in_table else candidate.precision_at_half
        for candidate in candidates[:MOST_NAMES]
    ]
    return "scores", {
        "models": names,
        "are": "is" if is_one else "are",
        "half": say_share(0.5),
        "values": join_words([write_value("precision", estimate) for estimate in estimates]),
        "eta": write_value("precision", Estimate(case.eta or 0.0, None, None)),  # in one unit with it
    }


def _describe_too_little(case: Case) -> _Description:
    n_examples, class_name = find_short_class(case)
    if n_examples == 0:
        return "no class", {"class_name": class_name}
    singular_name = class_name.removesuffix("s")
    if case.goal.mean_over:
        singular_name, _ = name_groups(case.goal.mean_over)
    examples = f"{format_count(n_examples)} {singular_name if n_examples == 1 else class_name}"
    candidate, metric_name, estimate = find_vaguest(case)
    is_at_half = case.goal.is_of_curve and metric_name == "precision"
    values = {
        "examples": examples,
        "metric": name_metric(metric_name),
        "at_half": f" at {say_share(0.5)} recall" if is_at_half else "",
    }
    if estimate.span is None:
        return "no interval", values
    if case.goal.mean_over:  # whose interval by Student's distribution may leave the range of the metric
        estimate = replace(estimate, low=max(estimate.low, 0.0), high=min(estimate.high, 1.0))
    low_text, high_text = format_ends(metric_name, estimate)
    has_names = len(case.candidates) > 1
    values["of_model"] = f" of {name_model(candidate)}" if has_names else ""
    return "interval", {**values, "low": low_text, "high": high_text}


def _describe_not_met(case: Case) -> _Description:
    goal = case.goal
    if goal.targets and not goal.is_at_threshold:
        return "no threshold", _describe_targets(case)
    if not case.qualifiers and goal.is_at_threshold:
        return "no score", {"threshold": write_threshold(case.candidates[0])}
    return _describe_gate(case)


def _describe_unsure(case: Case) -> _Description:
    goal = case.goal
    if goal.is_gate:
        return _describe_gate(case)
    values = _describe_targets(case)
    if goal.guarantee is None:
        return "no threshold", values
    return "guarantee", {**values, "level": format_level(goal.guarantee)}


def _describe_targets(case: Case) -> dict[str, str]:
    """Return the targets that no threshold meets, and the best value of the last one."""
    best = describe_best(case.candidates)
    target = describe_targets(case.goal.targets, case.goal.per)
    return {"target": target, "best": best and f"; {best}", **choose_verbs(case.goal.targets)}


def _describe_met(case: Case) -> _Description:
    goal, candidate = case.goal, (case.finalists or case.candidates)[0]
    if goal.is_gate:
        return _describe_gate(case)
    return "guarantee", {
        "threshold": write_threshold(candidate),
        "of_model": f" of {name_model(candidate)}" if len(case.candidates) > 1 else "",
        "target": describe_targets(goal.targets, goal.per),
        "level": format_level(goal.guarantee or 0),
        "values": _write_values(case, candidate),
        **choose_verbs(goal.targets),
    }


def _describe_gate(case: Case) -> _Description:
    """Return what a threshold does of what is demanded, with the intervals at which it is tested."""
    [candidate] = case.candidates
    result_of_word = {
        word: case.goal.test_limit(candidate.row, word)
        for word in case.goal.demand
        if candidate.read(TARGET_KINDS[word].column).value is not None
    }
    deciding_words = [word for word, is_met in result_of_word.items() if is_met is case.met]
    deciding_words = deciding_words or [*result_of_word]
    tails = []
    for is_met in (None, True):
        words = [word for word in result_of_word if word not in deciding_words]
        if words := [word for word in words if result_of_word[word] is is_met]:
            verbs = choose_verbs(words)
            verb = verbs["meets"] if is_met else f"may or may not {verbs['meet']}"
            tails.append(f"; it {verb} {_write_limits(case, words)}: {_write_limited(case, words)}")
    return "point" if case.goal.is_of_point else "threshold", {
        "threshold": write_threshold(candidate),
        "target": _write_limits(case, deciding_words),
        "values": _write_limited(case, deciding_words) + "".join(tails),
        **choose_verbs(deciding_words),
    }


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


def _describe_measured(case: Case) -> _Description:
    [candidate] = case.candidates
    values = _write_values(case, candidate)
    if candidate.model is None:
        return "values", {"opening": "", "values": start_sentence(values)}
    return "values", {"opening": f"{name_model(candidate)}: ", "values": values}


_DESCRIPTIONS: Mapping[Status, Callable[[Case], _Description]] = {
    "too_little_data": _describe_too_little,
    "chance": _describe_chance,
    "not_met": _describe_not_met,
    "unsure": _describe_unsure,
    "no_winner": _describe_no_winner,
    "winner": _describe_winner,
    "met": _describe_met,
    "measured": _describe_measured,
}
"""What fills in the sentence of each status."""
