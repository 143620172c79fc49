"""What would settle it: how many more examples, for a difference that matters."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Literal, NamedTuple

from polars_prcurve.confidence.intervals import Estimate, z_value
from polars_prcurve.decision.judged_groups import (
    LEAST_OF_CLASS,
    USEFUL_LIFT,
    Candidate,
    Case,
    JudgedCase,
    Status,
)
from polars_prcurve.decision.value_words import say_about, say_alerts_right, say_points
from polars_prcurve.number_words import format_count

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
    return _say_gap(case, needed) if status == "not told apart" else _say_more_data(case, needed)


def _say_gap(case: Case, needed: Needed | None) -> str:
    if needed is None:
        return ""
    what = "alerts" if case.goal.merit == "precision" else "positives"
    gap = f"A difference of {_TEN} in 100 {what}"
    if needed.number <= needed.here:
        return f"{gap} would have been found here (4 times in 5): what is left is smaller"
    return f"{gap} is found (4 times in 5) with {needed.more}"


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
    said = [order, "" if case.is_rare else known, _COUNT_MORE if rests_on_eta else ""]
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
