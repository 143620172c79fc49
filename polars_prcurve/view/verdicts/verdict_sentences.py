"""The verdict of a case in words: its sentence, the reasons beside it, and what would settle it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import Literal, NamedTuple

from polars_prcurve.core.confidence.intervals import Estimate, z_value
from polars_prcurve.core.ground.message_text import format_count
from polars_prcurve.core.judging.cases import (
    LEAST_OF_CLASS,
    USEFUL_LIFT,
    WIDE,
    Candidate,
    Case,
    JudgedCase,
    Status,
    Verdict,
)
from polars_prcurve.view.verdicts.verdict_phrases import (
    MOST_NAMES,
    describe_limit,
    is_rarely_right,
    list_names,
    name_model,
    say_about,
    say_alerts_right,
    say_points,
    say_right,
    say_two_digits,
    start_sentence,
)
from polars_prcurve.view.words.number_words import (
    RARELY_RIGHT,
    glue_numbers,
    say_eta,
    say_part,
    say_share,
)
from polars_prcurve.view.words.value_names import join_words, name_metric


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
    merit = case.goal.merit
    if not others:  # what the only model does
        who = "" if best.model is None else f"{name_model(best)}: "
        if merit not in ("precision", "recall"):
            value, low, high = map(say_two_digits, (best.value, best.merit.low, best.merit.high))
            start = who or ("The scores are better than chance: " if case.goal.is_of_curve else "")
            return start_sentence(f"{start}{_name_merit(case)} {value} ({low} to {high})")
        precision, recall = best.precision, best.read("recall")
        found = f"{say_part(recall.value)} of the positives are found"
        if merit == "precision":
            return f"{who}{say_alerts_right(case, precision)}, and {found}"
        ends = "" if recall.span is None else f" ({say_share(recall.low)} to {say_share(recall.high)})"
        return f"{who}{found}{ends}, and {say_alerts_right(case, Estimate(precision.value))}"
    second = name_model(others[0])
    than = {1: "", 2: " than both others"}.get(len(others), f" than all {len(others)} others")
    better = f"{name_model(best)} is better{than}"
    next_one = second if len(others) == 1 else f"the next, {second},"
    ours, theirs = _say_values(case, merit, [best.value, others[0].value])
    if merit == "precision":
        right = "of its alerts is right" if is_rarely_right(case) else "of its 100 alerts are right"
        return (
            f"{better}: {ours} {right}, {theirs} of {second}’s{'' if len(others) == 1 else ', the next'}"
        )
    if merit == "recall":
        return f"{better}: it finds {ours} of the positives, {next_one} {theirs}"
    return f"{better}: {_name_merit(case)} {ours}, {next_one} {theirs}"


def _say_values(case: Case, merit: str, values: Sequence[float]) -> list[str]:
    """Return values of what models are judged by: of 100 alerts, of the positives, or of a metric."""
    if merit == "precision":
        return say_right(values, is_rare=is_rarely_right(case))
    return [say_share(value) if merit == "recall" else say_two_digits(value) for value in values]


def _name_merit(case: Case) -> str:
    best = "best " if case.goal.maximized is not None else ""
    return f"{best}{name_metric(case.goal.merit)}"


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
            if is_rarely_right(case)
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
        return f"{start} if {ends} {'alerts is' if is_rarely_right(case) else 'of 100 alerts are'} right"
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


# What would settle it: how many more examples, for a difference that matters ----------------------

_MATTERS = 0.1  # the difference that matters: 10 of 100 alerts, a tenth of the positives
_KNOWN_TO = 0.05  # how far an interval reaches to either side where a value is well known
_COUNT_MORE = "Most of that doubt is about the prevalence: count more cases where the model will run"
_TEN = say_points(_MATTERS)
# A difference d is found four times in five if it is z + 0.84 standard errors: 0.84 farther from 0 than
# its interval, of z standard errors, reaches.
_FOUND = NormalDist().inv_cdf(0.8)


class Needed(NamedTuple):
    """How many examples of a class would tell what is still open, and how many there are."""

    number: float
    here: float
    what: Literal["positives", "negatives"] = "positives"

    @property
    def more(self) -> str:
        """The number in words; of positives alone, negatives are to grow in proportion."""
        more = max(self.number - self.here, 0)
        return f"about {say_about(self.number)} {self.what}, {say_about(more)} more"


def count_needed(case: Case, status: Status, confidence: float) -> Needed | None:
    """Return how many examples would tell what is still open, or None if more would not tell it."""
    is_told = status in ("settled", "too little data") and not _rests_on_eta(case)
    if case.goal.merit not in ("precision", "recall") or not (is_told or status == "not told apart"):
        return None
    if status == "not told apart":
        row, z = case.rivals[min(1, len(case.rivals) - 1)].row, z_value(confidence)
        low, high = row.get("behind_low"), row.get("behind_high")
        if low is None or high is None:
            return None
        # The gap of the second model has the standard error (high - low) / 2z, and errors shrink with
        # the root of n: n * ((z + 0.84) * error / d)**2 examples find a gap of d.
        error = float(high - low) / 2 / z
        return Needed(case.n_pos * ((z + _FOUND) * error / _MATTERS) ** 2, case.n_pos)
    if status == "settled":
        half = _measure_half(case.rivals[:1])
        return None if half is None else _scale(case, half / _KNOWN_TO)
    spans = [candidate.vaguest.span for candidate in case.met or case.candidates]
    half = max(((span[1] - span[0]) / 2 for span in spans if span is not None), default=0.0)
    if half <= _MATTERS or min(case.n_pos, case.n_neg) == 0:
        return None
    needed = _scale(case, half / _MATTERS)
    return needed._replace(number=float(max(needed.number, LEAST_OF_CLASS)))


def _scale(case: Case, times: float) -> Needed:
    """Return how many examples make an interval narrower by so many times."""
    # Intervals get narrower with the root of the number of examples, if both classes grow: it takes
    # times**2 as many. If errors of negatives are the greater part, more of these alone may do: the
    # variance (of_pos + of_neg) / times**2, less that of the positives, is left to the negatives.
    positives = Needed(case.n_pos * times**2, case.n_pos)
    if (errors := find_errors(case)) is None:
        return positives
    of_pos, of_neg = errors
    left = (of_pos + of_neg) / times**2 - of_pos
    if of_neg <= of_pos or left <= 0:
        return positives
    return Needed(case.n_neg * of_neg / left, case.n_neg, "negatives")


def find_errors(case: Case) -> tuple[float, float] | None:
    """Return the variances of the log of recall and of fpr, from the counts of the best model."""
    candidates = case.met or case.candidates
    row = candidates[0].row if candidates else {}
    cells = [row.get(name) for name in ("tp", "fn", "fp", "tn")]
    if any(cell is None for cell in cells) or min(case.n_pos, case.n_neg) == 0:
        return None
    # The variance of log(k/n) is (1 - p) / p / n, with p = (k + 1/2) / (n + 1), so that k may be 0.
    tp, fn, fp, tn = (float(cell) for cell in cells if cell is not None)
    return (fn + 0.5) / (tp + 0.5) / case.n_pos, (tn + 0.5) / (fp + 0.5) / case.n_neg


def _rests_on_eta(case: Case) -> bool:
    """Return whether most of the doubt about precision is that of a prevalence that is an estimate."""
    low, high = case.key.get("eta_low"), case.key.get("eta_high")
    rivals = case.rivals or case.candidates
    if low is None or high is None or not rivals or case.goal.merit != "precision":
        return False
    row, half = rivals[0].row, _measure_half(rivals[:1])
    recall, fpr = row.get("recall"), row.get("fpr")
    if not recall or fpr is None or half is None:
        return False
    least, most = (recall * eta / (recall * eta + fpr * (1 - eta)) for eta in (max(low, 1e-300), high))
    # Variances add up, so more than half of that of precision is of eta.
    return bool((most - least) / 2 > half * 0.5**0.5)


def _measure_half(candidates: Sequence[Candidate]) -> float | None:
    """Return half the width of the widest interval of what models are judged by."""
    merits = [candidate.merit for candidate in candidates]
    return max(((m.high - m.low) / 2 for m in merits if m.span is not None), default=None)


def say_need(case: Case, status: Status, confidence: float) -> str:
    """Return what more data would tell, and how many positives that takes."""
    needed = count_needed(case, status, confidence)
    if status == "settled":
        return _say_narrower(case, needed)
    if status == "not met":
        return _say_promise(case)
    if status == "no better than chance":
        if case.is_reversed:
            return "It takes the scores with the other sign"
        base = say_alerts_right(case, Estimate(min(1.0, USEFUL_LIFT * (case.eta or 0.0))))
        return (
            f"More data will not help: {format_count(case.n_pos)} positives already rule out that "
            f"{base}. Look for other features, or for an error in the labels"
        )
    if status == "too little data":
        return _say_more_data(case, needed)
    gap = ""
    if needed is not None:
        what = "alerts" if case.goal.merit == "precision" else "positives"
        gap = f"A difference of {_TEN} in 100 {what} "
        found_here = "would have been found here (4 times in 5): what is left is smaller"
        is_here = needed.number <= needed.here
        gap += found_here if is_here else f"is found (4 times in 5) with {needed.more}"
    return gap


def _say_more_data(case: Case, needed: Needed | None) -> str:
    """Return what a test takes to say anything."""
    if _rests_on_eta(case):
        return _COUNT_MORE
    if needed is not None:
        more = needed.more + (", and negatives in proportion" if needed.what == "positives" else "")
        return f"To know it to {_TEN} in 100 either way takes {more}"
    flagged = case.met[0].row.get("tp") if case.met else None
    if flagged is not None and min(case.n_pos, case.n_neg) >= LEAST_OF_CLASS:
        return f"It takes more positives within the targets than the {format_count(flagged)} here"
    return f"It takes at least {LEAST_OF_CLASS} examples of each class, and mostly many more"


def say_group_need(cases: Sequence[JudgedCase], confidence: float) -> str:
    """Return how many positives a group takes to be told apart from the others, if some are not."""
    halves = [(of.n_pos, _measure_half(of.candidates)) for of in cases if of.standing == "open"]
    known = sorted((n, half) for n, half in halves if half is not None)
    if not known or cases[0].goal.merit not in ("precision", "recall"):
        return ""
    n_pos, half = known[len(known) // 2]
    z = z_value(confidence)
    needed = n_pos * ((z + _FOUND) / z * half / _MATTERS) ** 2
    if needed <= n_pos:
        return f"A gap of {_TEN} in 100 to the others would mostly have been found here"
    return (
        f"The group in the middle of those that are not told apart has {format_count(n_pos)} positives. "
        f"A gap of {_TEN} in 100 to the others is found (4 times in 5) with about "
        f"{say_about(needed)} in a group"
    )


def _say_narrower(case: Case, needed: Needed | None) -> str:
    order = "More data will not change the order" if len(case.met) > 1 else ""
    half, rests_on_eta = _measure_half(case.rivals[:1]), _rests_on_eta(case)
    if half is None or (needed is None and not rests_on_eta):
        return order
    what = "How many alerts are right" if case.goal.merit == "precision" else "What is found"
    known = f"{what} is known to {say_points(half)} in 100 either way"
    if not rests_on_eta and needed is not None and needed.number > needed.here:
        known += f"; to know it to {say_points(_KNOWN_TO)} takes {needed.more}"
    # A right alert among hundreds is not counted in 100: its interval says how well it is known.
    said = [order, "" if is_rarely_right(case) else known, _COUNT_MORE if rests_on_eta else ""]
    return ". ".join(filter(None, said))


def _say_promise(case: Case) -> str:
    """Return what it takes to keep the targets, or to promise that."""
    if "threshold" in case.goal.targets:
        return "It takes a lower threshold"
    for what, n in (("positives", case.n_pos), ("negatives", case.n_neg)):
        numbers = [candidate.row.get(f"n_{what[:3]}_needed") for candidate in case.candidates]
        least = min((number for number in numbers if number is not None), default=None)
        if least == float("inf"):
            return "No test could prove it"
        if least is not None and least > n:
            return f"Even perfect scores would need {say_about(least)} {what} in the test"
        if least is not None:
            return (
                f"Perfect scores would need {say_about(least)} {what}, which the test has: it takes "
                "better scores, or a larger test"
            )
    larger = ", a larger test" if case.goal.guarantee is not None else ""
    return f"It takes better scores{larger}, or targets that ask for less"
