"""The one sentence of a verdict, and the reasons and needs beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polars_prcurve.decision.cases import LEAST_OF_CLASS, WIDE, Candidate, Case
from polars_prcurve.decision.goal import describe_limit
from polars_prcurve.decision.needs import find_limit, say_need
from polars_prcurve.decision.value_words import (
    MOST_NAMES,
    list_names,
    name_model,
    say_alerts_right,
    say_right,
    say_two_digits,
)
from polars_prcurve.decision.verdict import Status, Verdict
from polars_prcurve.name_words import join_words, name_metric
from polars_prcurve.number_words import (
    RARELY_RIGHT,
    format_count,
    glue_numbers,
    say_eta,
    say_part,
    say_share,
)


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
    models = tuple(candidate.model for candidate in named if candidate.model is not None)
    return Verdict(
        status,
        models,
        glue_numbers(write(case, named)),
        tuple(map(glue_numbers, _list_reasons(case, status))),
        glue_numbers(say_need(case, status, confidence)),
    )


def _is_of_precision(case: Case) -> bool:
    return case.goal.merit == "precision"


# Sentences ----------------------------------------------------------------------------------------


def _say_settled(case: Case, named: Sequence[Candidate]) -> str:
    best, others = named[0], [other for other in case.met if other is not named[0]]
    if not others:
        return _say_alone(case, best)
    second = others[0]
    who = name_model(best)
    than = {1: "", 2: " than both others"}.get(len(others), f" than all {len(others)} others")
    better = f"{who} is better{than}"
    next_one = name_model(second) if len(others) == 1 else f"the next, {name_model(second)},"
    mine, theirs = (candidate.value for candidate in (best, second))
    if case.goal.merit == "precision":
        ours, other = say_right([mine, theirs], is_rare=case.is_rare)
        theirs_of = f"{name_model(second)}’s{'' if len(others) == 1 else ', the next'}"
        if case.is_rare:
            return f"{better}: {ours} of its alerts is right, {other} of {theirs_of}"
        return f"{better}: {ours} of its 100 alerts are right, {other} of {theirs_of}"
    if case.goal.merit == "recall":
        return f"{better}: it finds {say_share(mine)} of the positives, {next_one} {say_share(theirs)}"
    ours, other = _say_values(case, [mine, theirs])
    return f"{better}: {_name_merit(case)} {ours}, {next_one} {other}"


def _name_merit(case: Case) -> str:
    best = "best " if case.goal.maximized is not None else ""
    return f"{best}{name_metric(case.goal.merit)}"


def _say_values(case: Case, values: Sequence[float]) -> list[str]:
    return [say_two_digits(value) for value in values]


def _say_alone(case: Case, best: Candidate) -> str:
    """Return what the only model does."""
    who = "" if best.model is None else f"{name_model(best)}: "
    if case.goal.merit not in ("precision", "recall"):
        value, low, high = _say_values(case, [best.value, best.merit.low, best.merit.high])
        start = who or ("The scores are better than chance: " if case.goal.is_of_curve else "")
        said = f"{start}{_name_merit(case)} {value} ({low} to {high})"
        return said[:1].upper() + said[1:]
    precision, recall = best.precision, best.read("recall")
    right = say_alerts_right([precision.value, *(precision.span or ())], is_rare=case.is_rare)
    found = f"{say_part(recall.value)} of the positives are found"
    if _is_of_precision(case):
        return f"{who}{right}, and {found}"
    ends = "" if recall.span is None else f" ({say_share(recall.low)} to {say_share(recall.high)})"
    return f"{who}{found}{ends}, and {say_alerts_right([precision.value], is_rare=case.is_rare)}"


def _say_untold(case: Case, named: Sequence[Candidate]) -> str:
    start = f"{list_names(named)} are not told apart"
    if len(named) == 1:  # the others are behind it, and it is not shown to be above chance
        return f"{list_names(named)} leads no model that is shown to be above chance"
    missed = [candidate for candidate in named if not candidate.is_met]
    if missed:
        return f"{start}: {_say_best(case, named[0])}, and {_say_missed(case, missed)}"
    values = [candidate.value for candidate in named]
    if len(named) > MOST_NAMES:
        values = [max(values), min(values)]
    if _is_of_precision(case):
        said = say_right(values, is_rare=case.is_rare)
        if case.is_rare:
            return f"{start}: {_join_values(said, named)} alerts is right"
        return f"{start}: of 100 alerts {_join_values(said, named)} are right"
    if case.goal.merit == "recall":
        said = [say_share(value) for value in values]
        return f"{start}: they find {_join_values(said, named)} of the positives"
    return f"{start}: {_name_merit(case)} {_join_values(_say_values(case, values), named)}"


def _say_best(case: Case, best: Candidate) -> str:
    """Return what the best model that keeps the targets does in this test."""
    if case.goal.merit == "recall":
        return f"{name_model(best)} finds {say_share(best.value)} of the positives"
    return f"with {name_model(best)} {say_alerts_right([best.value], is_rare=case.is_rare)}"


def _say_missed(case: Case, missed: Sequence[Candidate]) -> str:
    keeps = "can be promised to keep" if case.goal.guarantee is not None else "keeps"
    return f"no threshold of {list_names(missed)} {keeps} the targets in this test"


def _join_values(said: Sequence[str], named: Sequence[Candidate]) -> str:
    return f"{said[1]} to {said[0]}" if len(named) > MOST_NAMES else join_words(said)


def _say_chance(case: Case, _: Sequence[Candidate]) -> str:
    who = list_names(case.candidates) if case.candidates[0].model is not None else "The scores"
    is_one = case.candidates[0].model is not None and len(case.candidates) == 1
    start = f"{who} {'is' if is_one else 'are'} no better than chance"
    if case.is_reversed:
        start = f"{who} rank{'s' if is_one else ''} negatives above positives"
    values = [candidate.precision_at_half.value for candidate in case.candidates]
    lot, *theirs = say_right([case.eta or 0.0, *values[:MOST_NAMES]])
    said = join_words(theirs) if len(values) <= MOST_NAMES else theirs[0]
    if max(case.eta or 0.0, *values) < RARELY_RIGHT:
        return f"{start}: {lot} alerts drawn by lot is right, of theirs {said}"
    return f"{start}: {lot} of 100 alerts drawn by lot are right, of theirs {said}"


def _say_little(case: Case, _: Sequence[Candidate]) -> str:
    start = "Too little data: "
    fewest = min(case.n_pos, case.n_neg)
    what = "positive" if case.n_pos <= case.n_neg else "negative"
    if fewest == 0:
        return f"{start}the test has no {what}s"
    of = case.met or case.candidates
    if fewest >= LEAST_OF_CLASS and find_limit(case) == "negatives":
        fewest, what = case.n_neg, "negative"
    how_many = f"{format_count(fewest)} {what}{'' if fewest == 1 else 's'}"
    known = [candidate.merit for candidate in of if candidate.merit.span is not None]
    if not known:
        return f"{start}{how_many} cannot say how good {'a model' if len(of) > 1 else 'the model'} is"
    low, high = min(merit.low for merit in known), max(merit.high for merit in known)
    if case.goal.merit == "recall" and high - low <= WIDE and low > 0:
        spans = [candidate.precision for candidate in of if candidate.precision.span is not None]
        low, high = min(span.low for span in spans), max(span.high for span in spans)
        return f"{start}{how_many} cannot say if {_say_right_span(case, low, high)}"
    return f"{start}{how_many} cannot say if {_say_span(case, low, high)}"


def _say_span(case: Case, low: float, high: float) -> str:
    if _is_of_precision(case):
        return _say_right_span(case, low, high)
    if case.goal.merit == "recall":
        return f"{say_share(low)} or {say_share(high)} of the positives are found"
    return f"{_name_merit(case)} is {' or '.join(_say_values(case, [low, high]))}"


def _say_right_span(case: Case, low: float, high: float) -> str:
    ends = say_right([low, high], is_rare=case.is_rare)
    if case.is_rare:
        return f"{' or '.join(ends)} alerts is right"
    return f"{' or '.join(ends)} of 100 alerts are right"


def _say_unmet(case: Case, _: Sequence[Candidate]) -> str:
    if "threshold" in case.goal.targets:
        return f"No example reaches the threshold {case.goal.targets['threshold']}"
    wanted = say_wanted(case)
    if case.goal.guarantee is not None:
        return f"No threshold can be promised to keep what is asked for: {wanted}"
    return f"No threshold keeps what is asked for: {wanted}"


def say_wanted(case: Case) -> str:
    """Return the targets as what a threshold has to keep."""
    goal = case.goal
    return join_words([describe_limit(word, value, goal.per) for word, value in goal.targets.items()])


# Reasons ------------------------------------------------------------------------------------------


def _list_reasons(case: Case, status: Status) -> Iterator[str]:
    """Yield what else is known of the models, and what the verdict rests on."""
    missed = case.rivals_that_miss if status == "not told apart" else []
    unmet = [one for one in case.candidates if not one.is_met and one not in missed]
    if unmet and case.met:
        yield f"no threshold within the targets: {list_names(unmet)}"
    chance = [candidate for candidate in case.met if candidate.may_be_chance]
    if chance and status in ("settled", "not told apart"):
        yield f"not shown to be better than chance: {list_names(chance)}"
    reversed_ones = [candidate for candidate in case.candidates if candidate.is_reversed]
    if reversed_ones:
        of = f" of {list_names(reversed_ones)}" if reversed_ones[0].model is not None else ""
        yield f"the scores{of} rank the wrong way round: pass -score"
    behind = [candidate for candidate in case.met if not candidate.may_be_best]
    if behind and status == "not told apart":
        yield f"behind: {list_names(behind)}"
    doubts = {str(candidate.row["why"]) for candidate in case.rivals if candidate.row["why"]}
    if doubts and status != "no better than chance":
        yield f"intervals may be too narrow: {join_words(sorted(doubts))}"
    if case.key.get("eta_low") is not None:
        yield (
            f"the prevalence is an estimate, {say_eta(case.key['eta_low'])} to "
            f"{say_eta(case.key['eta_high'])}"
        )
    if case.takes_apart and len(case.met) > 1:
        yield "models are compared by their intervals, each of which is of one model"
