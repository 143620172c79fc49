"""What would settle it: how many more examples, for a difference that matters.

Intervals get narrower with the root of the number of examples, if both classes grow. So an
interval that reaches h to either side reaches d with (h / d)**2 times the examples. A difference d is
found four times in five where it is 0.84 standard errors farther from 0 than the interval reaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

from polars_prcurve.decision.cases import LEAST_OF_CLASS, USEFUL_LIFT, Candidate, Case
from polars_prcurve.decision.group_tests import GroupTests
from polars_prcurve.decision.value_words import say_about, say_alerts_right, say_more, say_points
from polars_prcurve.decision.verdict import Status
from polars_prcurve.number_words import format_count

_MATTERS = 0.1
"""The difference that matters: 10 of 100 alerts, a tenth of the positives."""
_KNOWN_TO = 0.05
"""How far an interval reaches to either side where a value is well known."""
_FOUND = NormalDist().inv_cdf(0.8)


def count_needed(case: Case, status: Status, confidence: float) -> float | None:
    """Return how many positives would tell what is still open, or None if more would not tell it."""
    if case.goal.merit not in ("precision", "recall"):
        return None
    if status == "settled":
        half = _measure_half(case.rivals[:1])
        return None if half is None else case.n_pos * (half / _KNOWN_TO) ** 2
    if status == "not told apart":
        error = _find_error(case, confidence)
        deviations = NormalDist().inv_cdf((1 + confidence) / 2) + _FOUND
        return None if error is None else case.n_pos * (deviations * error / _MATTERS) ** 2
    if status == "too little data":
        spans = [candidate.vaguest.span for candidate in case.met or case.candidates]
        half = max(((span[1] - span[0]) / 2 for span in spans if span is not None), default=None)
        if half is None or half <= _MATTERS or min(case.n_pos, case.n_neg) == 0:
            return None
        return float(max(case.n_pos * (half / _MATTERS) ** 2, LEAST_OF_CLASS))
    return None


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
        base = say_alerts_right(min(1.0, USEFUL_LIFT * (case.eta or 0.0)))
        return (
            f"More data will not help: {format_count(case.n_pos)} positives already rule out that "
            f"{base}. Look for other features, or for an error in the labels"
        )
    if status == "not met":
        return _say_promise(case)
    return _say_more_data(case, needed)


def _say_more_data(case: Case, needed: float | None) -> str:
    """Return what a test takes to say anything."""
    if needed is not None:
        return (
            f"To know it to {say_points(_MATTERS)} in 100 either way takes "
            f"{say_more(needed, case.n_pos)}, and negatives in proportion"
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
    return (
        f"The group in the middle of those that are not told apart has {format_count(n_pos)} positives. "
        f"A gap of {say_points(_MATTERS)} in 100 to the others is found (4 times in 5) with about "
        f"{say_about(needed)} in a group"
    )


def _say_narrower(case: Case, needed: float | None) -> str:
    order = "More data will not change the order" if len(case.met) > 1 else ""
    half = _measure_half(case.rivals[:1])
    if needed is None or half is None:
        return order
    what = "How many alerts are right" if case.goal.merit == "precision" else "What is found"
    known = f"{what} is known to {say_points(half)} in 100 either way"
    if needed > case.n_pos:
        known += f"; to know it to {say_points(_KNOWN_TO)} takes {say_more(needed, case.n_pos)}"
    return f"{order}. {known}" if order else known


def _say_gap(case: Case, needed: float | None) -> str:
    if needed is None:
        return ""
    what = "alerts" if case.goal.merit == "precision" else "positives"
    gap = f"A difference of {say_points(_MATTERS)} in 100 {what}"
    if needed <= case.n_pos:
        return f"{gap} would have been found here (4 times in 5): what is left is smaller"
    return f"{gap} is found (4 times in 5) with {say_more(needed, case.n_pos)}"


def _say_promise(case: Case) -> str:
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
    return "It takes better scores, or targets that ask for less"
