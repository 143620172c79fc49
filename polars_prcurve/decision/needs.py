"""What would settle it: how many more examples, for a difference that matters.

Intervals get narrower with the root of the number of examples, if both classes grow. So an
interval that reaches h to either side reaches d with (h / d)**2 times the examples. A difference d is
found four times in five where it is 0.84 standard errors farther from 0 than the interval reaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Literal, NamedTuple

from polars_prcurve.decision.cases import LEAST_OF_CLASS, USEFUL_LIFT, Candidate, Case
from polars_prcurve.decision.group_tests import GroupTests
from polars_prcurve.decision.value_words import say_about, say_alerts_right, say_more, say_points
from polars_prcurve.decision.verdict import Status
from polars_prcurve.number_words import format_count

_MATTERS = 0.1
"""The difference that matters: 10 of 100 alerts, a tenth of the positives."""
_KNOWN_TO = 0.05
"""How far an interval reaches to either side where a value is well known."""
_COUNT_MORE = "Most of that doubt is about the prevalence: count more cases where the model will run"
_FOUND = NormalDist().inv_cdf(0.8)


class Needed(NamedTuple):
    """How many examples of a class would tell what is still open, and how many there are."""

    number: float
    here: float
    what: Literal["positives", "negatives"] = "positives"

    @property
    def more(self) -> str:
        """The number in words; of positives alone, negatives are to grow in proportion."""
        return say_more(self.number, self.here, self.what)


def count_needed(case: Case, status: Status, confidence: float) -> Needed | None:
    """Return how many examples would tell what is still open, or None if more would not tell it."""
    if case.goal.merit not in ("precision", "recall"):
        return None
    if status == "not told apart":
        error = _find_error(case, confidence)
        deviations = NormalDist().inv_cdf((1 + confidence) / 2) + _FOUND
        number = None if error is None else case.n_pos * (deviations * error / _MATTERS) ** 2
        return None if number is None else Needed(number, case.n_pos)
    if status not in ("settled", "too little data") or _rests_on_eta(case):
        return None
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
    """Return how many examples make an interval narrower by so many times.

    If errors of negatives are the greater part, and more of these alone would do, it takes them.
    """
    positives = Needed(case.n_pos * times**2, case.n_pos)
    errors = _find_errors(case)
    if errors is None:
        return positives
    of_pos, of_neg = errors
    left = (of_pos + of_neg) / times**2 - of_pos
    if of_neg <= of_pos or left <= 0:
        return positives
    return Needed(case.n_neg * of_neg / left, case.n_neg, "negatives")


def _find_errors(case: Case) -> tuple[float, float] | None:
    """Return the variances of the log of recall and of fpr, from the counts of the best model."""
    candidates = case.met or case.candidates
    row = candidates[0].row if candidates else {}
    cells = [row.get(name) for name in ("tp", "fn", "fp", "tn")]
    if any(cell is None for cell in cells) or min(case.n_pos, case.n_neg) == 0:
        return None
    tp, fn, fp, tn = (float(cell) for cell in cells if cell is not None)
    return (fn + 0.5) / (tp + 0.5) / case.n_pos, (tn + 0.5) / (fp + 0.5) / case.n_neg


def find_limit(case: Case) -> Literal["positives", "negatives"] | None:
    """Return the class whose errors are the greater part of those of precision; None if unknown."""
    errors = _find_errors(case)
    if errors is None:
        return None
    return "positives" if errors[0] >= errors[1] else "negatives"


def _rests_on_eta(case: Case) -> bool:
    """Whether most of the doubt about precision is that of a prevalence that is an estimate."""
    low, high = case.key.get("eta_low"), case.key.get("eta_high")
    rivals = case.rivals or case.candidates
    if low is None or high is None or not rivals or case.goal.merit != "precision":
        return False
    row, half = rivals[0].row, _measure_half(rivals[:1])
    recall, fpr = row.get("recall"), row.get("fpr")
    if not recall or fpr is None or half is None:
        return False
    least, most = (recall * eta / (recall * eta + fpr * (1 - eta)) for eta in (max(low, 1e-300), high))
    return bool((most - least) / 2 > half * 0.5**0.5)


def _measure_half(candidates: Sequence[Candidate]) -> float | None:
    """Return half the width of the widest interval of what models are judged by."""
    merits = [candidate.merit for candidate in candidates]
    return max(((m.high - m.low) / 2 for m in merits if m.span is not None), default=None)


def _find_error(case: Case, confidence: float) -> float | None:
    """Return the standard error that the interval of the second model's gap stands for."""
    second = case.rivals[min(1, len(case.rivals) - 1)]
    low, high = second.row.get("behind_low"), second.row.get("behind_high")
    if low is None or high is None:
        return None
    return float(high - low) / 2 / NormalDist().inv_cdf((1 + confidence) / 2)


def say_need(case: Case, status: Status, confidence: float) -> str:
    """Return what more data would tell, and how many positives that takes."""
    needed = count_needed(case, status, confidence)
    if status == "settled":
        return _say_narrower(case, needed)
    if status == "not told apart":
        return _say_gap(case, needed)
    if status == "no better than chance" and case.is_reversed:
        return "It takes the scores with the other sign"
    if status == "no better than chance":
        base = say_alerts_right([min(1.0, USEFUL_LIFT * (case.eta or 0.0))])
        return (
            f"More data will not help: {format_count(case.n_pos)} positives already rule out that "
            f"{base}. Look for other features, or for an error in the labels"
        )
    if status == "not met":
        return _say_promise(case)
    return _say_more_data(case, needed)


def _say_more_data(case: Case, needed: Needed | None) -> str:
    """Return what a test takes to say anything."""
    if _rests_on_eta(case):
        return _COUNT_MORE
    if needed is not None:
        return (
            f"To know it to {say_points(_MATTERS)} in 100 either way takes "
            f"{needed.more}{', and negatives in proportion' if needed.what == 'positives' else ''}"
        )
    flagged = case.met[0].row.get("tp") if case.met else None
    if flagged is not None and min(case.n_pos, case.n_neg) >= LEAST_OF_CLASS:
        return f"It takes more positives within the targets than the {format_count(flagged)} here"
    return f"It takes at least {LEAST_OF_CLASS} examples of each class, and mostly many more"


def say_group_need(tests: GroupTests, cases: Sequence[Case], confidence: float) -> str:
    """Return how many positives a group takes to be told apart from the others, if some are not."""
    open_cases = [case for case, of in zip(cases, tests.standings, strict=True) if of == "open"]
    halves = [(case.n_pos, _measure_half(case.candidates)) for case in open_cases]
    known = sorted((n, half) for n, half in halves if half is not None)
    if not known or cases[0].goal.merit not in ("precision", "recall"):
        return ""
    n_pos, half = known[len(known) // 2]
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    needed = n_pos * ((z + _FOUND) / z * half / _MATTERS) ** 2
    if needed <= n_pos:
        return f"A gap of {say_points(_MATTERS)} in 100 to the others would mostly have been found here"
    return (
        f"The group in the middle of those that are not told apart has {format_count(n_pos)} positives. "
        f"A gap of {say_points(_MATTERS)} in 100 to the others is found (4 times in 5) with about "
        f"{say_about(needed)} in a group"
    )


def _say_narrower(case: Case, needed: Needed | None) -> str:
    order = "More data will not change the order" if len(case.met) > 1 else ""
    half = _measure_half(case.rivals[:1])
    rests_on_eta = _rests_on_eta(case)
    if half is None or (needed is None and not rests_on_eta):
        return order
    what = "How many alerts are right" if case.goal.merit == "precision" else "What is found"
    known = f"{what} is known to {say_points(half)} in 100 either way"
    if rests_on_eta:
        known += f". {_COUNT_MORE}"
    elif needed is not None and needed.number > needed.here:
        known += f"; to know it to {say_points(_KNOWN_TO)} takes {needed.more}"
    return f"{order}. {known}" if order else known


def _say_gap(case: Case, needed: Needed | None) -> str:
    if needed is None:
        return ""
    what = "alerts" if case.goal.merit == "precision" else "positives"
    gap = f"A difference of {say_points(_MATTERS)} in 100 {what}"
    if needed.number <= needed.here:
        return f"{gap} would have been found here (4 times in 5): what is left is smaller"
    return f"{gap} is found (4 times in 5) with {needed.more}"


def _say_promise(case: Case) -> str:
    if "threshold" in case.goal.targets:
        return "It takes a lower threshold"
    rows = [candidate.row for candidate in case.candidates]
    for column, what, n in (
        ("n_pos_needed", "positives", case.n_pos),
        ("n_neg_needed", "negatives", case.n_neg),
    ):
        least = min((row[column] for row in rows if row.get(column) is not None), default=None)
        if least is None:
            continue
        if least == float("inf"):
            return "No test could prove it"
        if least > n:
            return f"Even perfect scores would need {say_about(least)} {what} in the test"
        return (
            f"Perfect scores would need {say_about(least)} {what}, which the test has: it takes better "
            "scores, or a larger test"
        )
    larger = ", a larger test" if case.goal.guarantee is not None else ""
    return f"It takes better scores{larger}, or targets that ask for less"
