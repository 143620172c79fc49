"""The one sentence of a verdict, and the reasons and needs beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polars_prcurve.confidence.intervals import Estimate
from polars_prcurve.decision.goal import describe_limit
from polars_prcurve.decision.judged_groups import LEAST_OF_CLASS, WIDE, Candidate, Case, Status, Verdict
from polars_prcurve.decision.needs import find_errors, say_need
from polars_prcurve.decision.value_words import (
    MOST_NAMES,
    list_names,
    name_model,
    say_alerts_right,
    say_right,
    say_two_digits,
    start_sentence,
)
from polars_prcurve.number_words import (
    RARELY_RIGHT,
    format_count,
    glue_numbers,
    say_eta,
    say_part,
    say_share,
)
from polars_prcurve.visible_text import join_words, name_metric


def write_verdict(case: Case, confidence: float) -> Verdict:
    """Return the verdict of a case: its status, its models, and what is said of them."""
    status, named = case.judge()
    write = {
        "too little data": _say_little,
        "no better than chance": _say_chance,
        "not met": _say_unmet,
        "not told apart": _say_untold,
        "settled": _say_settled,
    }[status]
    return Verdict(
        status,
        tuple(candidate.model for candidate in named if candidate.model is not None),
        glue_numbers(write(case, named)),
        tuple(map(glue_numbers, _list_reasons(case, status))),
        glue_numbers(say_need(case, status, confidence)),
    )


def _say_settled(case: Case, named: Sequence[Candidate]) -> str:
    best, others = named[0], [other for other in case.met if other is not named[0]]
    if not others:
        return _say_alone(case, best)
    second = name_model(others[0])
    than = {1: "", 2: " than both others"}.get(len(others), f" than all {len(others)} others")
    better = f"{name_model(best)} is better{than}"
    next_one = second if len(others) == 1 else f"the next, {second},"
    ours, theirs = _say_values(case, case.goal.merit, [best.value, others[0].value])
    if case.goal.merit == "precision":
        right = "of its alerts is right" if case.is_rare else "of its 100 alerts are right"
        return (
            f"{better}: {ours} {right}, {theirs} of {second}’s{'' if len(others) == 1 else ', the next'}"
        )
    if case.goal.merit == "recall":
        return f"{better}: it finds {ours} of the positives, {next_one} {theirs}"
    return f"{better}: {_name_merit(case)} {ours}, {next_one} {theirs}"


def _say_values(case: Case, merit: str, values: Sequence[float]) -> list[str]:
    """Return values of what models are judged by: of 100 alerts, of the positives, or of a metric."""
    if merit == "precision":
        return say_right(values, is_rare=case.is_rare)
    return [say_share(value) if merit == "recall" else say_two_digits(value) for value in values]


def _name_merit(case: Case) -> str:
    best = "best " if case.goal.maximized is not None else ""
    return f"{best}{name_metric(case.goal.merit)}"


def _say_alone(case: Case, best: Candidate) -> str:
    """Return what the only model does."""
    who = "" if best.model is None else f"{name_model(best)}: "
    if case.goal.merit not in ("precision", "recall"):
        value, low, high = map(say_two_digits, (best.value, best.merit.low, best.merit.high))
        start = who or ("The scores are better than chance: " if case.goal.is_of_curve else "")
        return start_sentence(f"{start}{_name_merit(case)} {value} ({low} to {high})")
    precision, recall = best.precision, best.read("recall")
    found = f"{say_part(recall.value)} of the positives are found"
    if case.goal.merit == "precision":
        return f"{who}{say_alerts_right(case, precision)}, and {found}"
    ends = "" if recall.span is None else f" ({say_share(recall.low)} to {say_share(recall.high)})"
    return f"{who}{found}{ends}, and {say_alerts_right(case, Estimate(precision.value))}"


def _say_untold(case: Case, named: Sequence[Candidate]) -> str:
    start, merit = f"{list_names(named)} are not told apart", case.goal.merit
    if len(named) == 1:  # the others are behind it, and it is not shown to be above chance
        return f"{list_names(named)} leads no model that is shown to be above chance"
    if missed := [candidate for candidate in named if not candidate.is_met]:
        best = f"with {name_model(named[0])} {say_alerts_right(case, Estimate(named[0].value))}"
        if merit == "recall":
            best = f"{name_model(named[0])} finds {say_share(named[0].value)} of the positives"
        keeps = "can be promised to keep" if case.goal.guarantee is not None else "keeps"
        no_threshold = f"no threshold of {list_names(missed)} {keeps} the targets in this test"
        return f"{start}: {best}, and {no_threshold}"
    values = [candidate.value for candidate in named]
    all_values = join_words(_say_values(case, merit, values))
    if len(named) > MOST_NAMES:
        all_values = " to ".join(_say_values(case, merit, [min(values), max(values)]))
    if merit == "precision":
        return (
            f"{start}: {all_values} alerts is right"
            if case.is_rare
            else f"{start}: of 100 alerts {all_values} are right"
        )
    if merit == "recall":
        return f"{start}: they find {all_values} of the positives"
    return f"{start}: {_name_merit(case)} {all_values}"


def _say_chance(case: Case, _: Sequence[Candidate]) -> str:
    has_models = case.candidates[0].model is not None
    who, is_one = list_names(case.candidates) if has_models else "The scores", len(case.candidates) == 1
    start = f"{who} {'is' if has_models and is_one else 'are'} no better than chance"
    if case.is_reversed:
        start = f"{who} rank{'s' if has_models and is_one else ''} negatives above positives"
    values = [case.eta or 0.0, *(candidate.precision_at_half.value for candidate in case.candidates)]
    lot, *theirs = say_right(values[: MOST_NAMES + 1])
    said = join_words(theirs) if len(case.candidates) <= MOST_NAMES else theirs[0]
    if max(values) < RARELY_RIGHT:
        return f"{start}: {lot} alerts drawn by lot is right, of theirs {said}"
    return f"{start}: {lot} of 100 alerts drawn by lot are right, of theirs {said}"


def _say_little(case: Case, _: Sequence[Candidate]) -> str:
    start, merit = "Too little data: ", case.goal.merit
    fewest, what = min((case.n_pos, "positive"), (case.n_neg, "negative"), key=lambda pair: pair[0])
    if fewest == 0:
        return f"{start}the test has no {what}s"
    of = case.met or case.candidates
    errors = find_errors(case)
    if fewest >= LEAST_OF_CLASS and errors is not None and errors[0] < errors[1]:
        fewest, what = case.n_neg, "negative"
    start += f"{format_count(fewest)} {what}{'' if fewest == 1 else 's'} cannot say"
    known = [candidate.merit for candidate in of if candidate.merit.span is not None]
    if not known:
        return f"{start} how good {'a model' if len(of) > 1 else 'the model'} is"
    low, high = min(each.low for each in known), max(each.high for each in known)
    if merit == "recall" and high - low <= WIDE and low > 0:  # how many alerts are right is not known
        spans = [candidate.precision for candidate in of if candidate.precision.span is not None]
        low, high, merit = min(s.low for s in spans), max(s.high for s in spans), "precision"
    ends = " or ".join(_say_values(case, merit, [low, high]))
    if merit == "precision":
        return f"{start} if {ends} {'alerts is' if case.is_rare else 'of 100 alerts are'} right"
    if merit == "recall":
        return f"{start} if {ends} of the positives are found"
    return f"{start} if {_name_merit(case)} is {ends}"


def _say_unmet(case: Case, _: Sequence[Candidate]) -> str:
    goal = case.goal
    if "threshold" in goal.targets:
        return f"No example reaches the threshold {goal.targets['threshold']}"
    wanted = join_words([describe_limit(word, value, goal.per) for word, value in goal.targets.items()])
    keeps = "keeps" if goal.guarantee is None else "can be promised to keep"
    return f"No threshold {keeps} what is asked for: {wanted}"


def _list_reasons(case: Case, status: Status) -> Iterator[str]:
    """Yield what else is known of the models, and what the verdict rests on."""
    is_ranked = status in ("settled", "not told apart")
    missed = case.rivals_that_miss if status == "not told apart" else []
    unmet = [one for one in case.candidates if not one.is_met and one not in missed]
    if unmet and case.met:
        yield f"no threshold within the targets: {list_names(unmet)}"
    chance = [candidate for candidate in case.met if candidate.may_be_chance]
    if chance and is_ranked:
        yield f"not shown to be better than chance: {list_names(chance)}"
    if turned := [candidate for candidate in case.candidates if candidate.is_reversed]:
        of = f" of {list_names(turned)}" if turned[0].model is not None else ""
        yield f"the scores{of} rank the wrong way round: pass -score"
    behind = [candidate for candidate in case.met if not candidate.may_be_best]
    if behind and status == "not told apart":
        yield f"behind: {list_names(behind)}"
    doubts = {str(candidate.row["why"]) for candidate in case.rivals if candidate.row["why"]}
    if doubts and status != "no better than chance":
        yield f"intervals may be too narrow: {join_words(sorted(doubts))}"
    if case.key.get("eta_low") is not None:
        low, high = say_eta(case.key["eta_low"]), say_eta(case.key["eta_high"])
        yield f"the prevalence is an estimate, {low} to {high}"
    if case.takes_apart and len(case.met) > 1:
        yield "models are compared by their intervals, each of which is of one model"
