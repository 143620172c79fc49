"""How many examples would settle what is open, with 80% assurance, and which class is short.

An interval that is too wide is planned anew: its half-widths from either class shrink with the root of
the number of examples, on the scale of log odds. The estimate of the test set is uncertain itself. So
the value is moved towards a half, where intervals are widest, and the size is raised by an error; of
a precision above a half only the size is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

from polars_prcurve.core.confidence.doubts import EQUAL_SCORES
from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.judging.candidate import (
    Candidate,
    find_log_odds,
    find_open_target,
    measure_width,
)
from polars_prcurve.core.judging.case_status import LEAST_OF_CLASS, Case
from polars_prcurve.core.judging.evidence import EvidenceColumn
from polars_prcurve.core.metrics.target_definitions import TARGET_KINDS

RELEVANT_GAP = 0.1  # the difference that matters between shares of usual size: 10 points
WELL_KNOWN = 0.05  # how far an interval reaches to either side where a share of usual size is well known
ROUGHLY_KNOWN = 0.1  # the same where there was too little data for a verdict
_LEAST_HITS = 5  # true positives, at least, of targets that a plan takes for reachable
_MOST_TIMES = 1_000.0  # times the test set that a plan names, at most: more is out of reach
POWER = 0.8  # of tests that a plan sizes, and the assurance of the widths that it names
_POWER_MARGIN = NormalDist().inv_cdf(POWER)
"""A difference d is detected four times in five if it is z + 0.84 standard errors: 0.84 farther from 0
than its interval, of z standard errors, reaches."""
_PLAN_ERROR = 0.05  # the standard error of a plan from counts that are known well
_LEAST_ETA = 1e-300  # instead of a lower limit of 0, at which no alert would be right, nor false


class ClassNeed(NamedTuple):
    """How many examples of a class it takes, and how many there are."""

    class_name: str  # as counts are named: `positives`, `negatives`, or the groups of a mean
    n_needed: float
    n_tested: float

    @property
    def n_missing(self) -> float:
        """How many more it takes."""
        return max(self.n_needed - self.n_tested, 0)

    @property
    def is_met(self) -> bool:
        """Whether the test set has as many."""
        return self.n_needed <= self.n_tested


class SampleNeed(NamedTuple):
    """The examples that would settle what is open."""

    classes: tuple[ClassNeed, ...]  # the class that is short first; the other one if it has to grow, too
    size: float
    """The half-width of the interval, or the difference, that they give."""
    is_least: bool = False  # whether more may be needed: no example has shown how many

    @property
    def is_met(self) -> bool:
        """Whether the test set has as many."""
        return all(need.is_met for need in self.classes)


def count_examples_needed(case: Case, test_level: float) -> SampleNeed | None:
    """Return how many examples would settle what is open, or None if more would not."""
    has_few = min(case.sizes.values()) < LEAST_OF_CLASS or case.overweight_class is not None
    is_settled = case.status == "met" and case.goal.is_gate and not case.goal.limits_merit
    if case.status in ("chance", "not_met") or has_few or is_settled or rests_on_eta(case):
        return None
    if not case.qualifiers and case.goal.targets and not case.goal.is_gate:
        return _plan_open_target(case, test_level) if case.status == "unsure" else None
    if case.status == "no_winner":
        # More examples with the same few scores would leave the doubt.
        has_plan = case.doubt_of_lead != EQUAL_SCORES
        return _plan_difference(case, test_level) if has_plan else None
    if case.status == "too_little_data":
        return _plan_vaguest(case)
    candidate = (case.rivals or case.candidates)[0]
    if case.status == "unsure":
        return _plan_test(case, candidate)
    goal = _scale_goal(candidate.merit, WELL_KNOWN)
    return _plan_width(case, candidate, case.goal.merit_column, candidate.merit, goal)


def _plan_vaguest(case: Case) -> SampleNeed | None:
    """Return how many examples make the widest interval of a case narrow enough for a verdict."""
    candidate, metric_name, estimate = find_vaguest(case)
    return _plan_width(case, candidate, metric_name, estimate, _scale_goal(estimate, ROUGHLY_KNOWN))


def is_out_of_reach(case: Case) -> bool:
    """Return whether targets are met on so few positives that a larger test set may not meet them."""
    return bool(case.goal.caps and case.qualifiers) and case.n_hits < _LEAST_HITS


def _scale_goal(estimate: Estimate, usual: float) -> float:
    """Return a useful half-width for a value: half of the value where that is small."""
    value = float(estimate.value or 0.0)
    return usual if value >= 2 * usual else value / 2


# Plans -------------------------------------------------------------------------------------------


def _plan_width(
    case: Case, candidate: Candidate, metric_name: str, estimate: Estimate, half_width: float
) -> SampleNeed | None:
    """Return how many examples give an interval of a half-width; None if the test set has no answer."""
    if estimate.span is None or half_width <= 0 or is_out_of_reach(case):
        return None
    if metric_name in ("recall", "fpr"):
        return _plan_rate(case, metric_name, estimate, half_width)
    if metric_name == EvidenceColumn.AT_HALF and estimate.value == 1:
        return _plan_bare_half(case, estimate, half_width)
    if metric_name not in ("precision", "fdr") or case.goal.is_of_curve:
        return _plan_both(case, estimate, half_width)
    if _is_bare(candidate):
        value = float(candidate.precision.value)
        return _plan_bare(case, candidate, abs(value - 2 * half_width), half_width)
    widths = _find_half_widths(candidate)
    return None if widths is None else _plan_classes(case, candidate, widths, half_width)


def _plan_rate(case: Case, name: str, estimate: Estimate, half_width: float) -> SampleNeed | None:
    """Return how many examples of its class give recall or fpr an interval of a half-width."""
    class_name = "positives" if name == "recall" else "negatives"
    times = _count_times_of_rate(case.sizes[class_name], estimate, half_width)
    return _build_need(case, {class_name: times}, half_width)


def _plan_bare(case: Case, candidate: Candidate, end: float, half_width: float) -> SampleNeed | None:
    """Return how many examples move the only end of an interval of precision, from 1 or 0, to `end`.

    No fewer do: this is the number at which there is still no false positive, or no true one.
    """
    is_perfect = float(candidate.precision.value) == 1
    low, high = candidate.precision.span or (0.0, 1.0)
    class_name, rate_name = ("negatives", "fpr") if is_perfect else ("positives", "recall")
    rate_high = float(candidate.row[f"{rate_name}_high"])
    bare_end = low if is_perfect else high
    if not 0 < bare_end < 1 or not 0 < end < 1 or not 0 < rate_high < 1:
        return None
    # The odds of precision go with those of the rate, and of 0 among n these end at z**2 / n (Wilson).
    odds_ratio = math.exp(abs(find_log_odds(end) - find_log_odds(bare_end)))
    is_reached = bare_end >= end if is_perfect else bare_end <= end
    needed_rate = rate_high * (odds_ratio if is_reached else 1 / odds_ratio)
    if needed_rate >= 1:
        return None
    times = math.exp(find_log_odds(rate_high) - find_log_odds(needed_rate))
    n_tested = case.sizes[class_name]
    return SampleNeed((ClassNeed(class_name, n_tested * times, n_tested),), half_width, is_least=True)


def _plan_bare_half(case: Case, estimate: Estimate, half_width: float) -> SampleNeed | None:
    """Return how many negatives narrow precision at half of the positives, if none was flagged there."""
    low, end = float(estimate.low), 1 - 2 * half_width
    if not 0 < low < end < 1:
        return None
    times = math.exp(find_log_odds(end) - find_log_odds(low))
    if times > _MOST_TIMES:
        return None
    need = ClassNeed("negatives", case.n_neg * times, case.n_neg)
    return SampleNeed((need,), half_width, is_least=True)


def _plan_classes(
    case: Case, candidate: Candidate, widths: tuple[float, float], half_width: float
) -> SampleNeed | None:
    """Return how many examples of each class narrow precision, whose half-widths from both are these."""
    pos_width, neg_width = widths
    estimate = candidate.precision
    # With fewer false positives than seen, a precision above a half has a narrower interval: moving it
    # towards a half, and the size as well, would allow for the same chance twice.
    error = math.hypot(pos_width, neg_width) / 2 if float(estimate.value) < 0.5 else 0.0
    room = _find_room(estimate, error, half_width)
    if room is None:
        return None
    factor = math.exp(_find_plan_error(case, candidate, pos_width, neg_width))
    times = (pos_width**2 + neg_width**2) / room**2 * factor
    # One class alone does where the other one leaves room, at no more than twice the size of both.
    width_of_class: dict[str, float] = {"positives": pos_width, "negatives": neg_width}
    for (name, width), other_width in zip(width_of_class.items(), (neg_width, pos_width), strict=True):
        rest = room**2 - other_width**2 * factor
        times_alone = width**2 * factor / rest if rest > 0 else math.inf
        if times_alone <= 2 * times:
            return _build_need(case, {name: times_alone}, half_width)
    first = max(width_of_class, key=lambda name: width_of_class[name])
    return _build_need(case, dict.fromkeys([first, *width_of_class], times), half_width)


def _plan_both(case: Case, estimate: Estimate, half_width: float) -> SampleNeed | None:
    """Return how many examples of both classes narrow an interval whose parts are not known."""
    low, high = estimate.span or (0.0, 1.0)
    if high > 1 or case.goal.mean_over:  # no share, or a mean, whose interval is symmetric
        plan_error = max(2 * _PLAN_ERROR, _find_mean_error(case))
        times = ((high - low) / 2 / half_width) ** 2 * math.exp(plan_error)
        return _build_need(case, dict.fromkeys(case.sizes, times), half_width)
    if not 0 < low < high < 1:
        return None
    width = (find_log_odds(high) - find_log_odds(low)) / 2
    room = _find_room(estimate, width / 2, half_width)
    times = math.inf if room is None else (width / room) ** 2 * math.exp(min(1.0, width / 2))
    return _build_need(case, dict.fromkeys(case.sizes, times), half_width)


def _plan_test(case: Case, candidate: Candidate) -> SampleNeed | None:
    """Return how many examples leave the limit of a demand outside of the interval, 4 times in 5."""
    word = next(word for word in case.goal.demand if candidate.test_limit(word) is None)
    estimate, limit = candidate.read(TARGET_KINDS[word].column), case.goal.demand[word]
    if estimate.span is None or estimate.value is None:
        return None
    if word in ("precision", "fdr") and _is_bare(candidate):
        end = limit if word == "precision" else 1 - limit
        return _plan_bare(case, candidate, end, abs(float(estimate.value) - limit))
    z = z_value(float(candidate.row[EvidenceColumn.LEVEL]))
    half_width = abs(float(estimate.value) - limit) * z / (z + _POWER_MARGIN)
    return _plan_width(case, candidate, word, estimate, half_width)


def _plan_open_target(case: Case, test_level: float) -> SampleNeed | None:
    """Return how many examples leave the limit of a target, which no threshold meets, outside."""
    if case.goal.guarantee is not None or (open_target := find_open_target(case.candidates)) is None:
        return None
    candidate, word = open_target
    estimate = candidate.read(f"{EvidenceColumn.BEST}{word}")
    z, distance = z_value(test_level), abs(float(estimate.value) - case.goal.scale_limit(word))
    half_width = distance * z / (z + _POWER_MARGIN)
    if estimate.span is None or half_width == 0:
        return None
    if word in ("recall", "fpr"):
        return _plan_rate(case, word, estimate, half_width)
    return _plan_both(case, estimate, half_width)


def _plan_difference(case: Case, test_level: float) -> SampleNeed | None:
    """Return how many examples detect a difference that matters between the first two models."""
    first, second = case.rivals[0], case.rivals[min(1, len(case.rivals) - 1)]
    gap, value = second.read("behind"), abs(first.value)
    if gap.span is None or value == 0 or is_out_of_reach(case):
        return None
    # The difference has the standard error (high - low) / 2z, and errors shrink with the root of n:
    # n * ((z + 0.84) * error / d)**2 examples detect a difference of d.
    difference = RELEVANT_GAP if value >= 2 * RELEVANT_GAP else value / 2
    z = z_value(test_level)
    error = float(gap.high - gap.low) / 2 / z
    plan_error = min(1.0, 2 * error / value)  # that of the value, and that of how errors shrink
    plan_error = max(plan_error, _find_mean_error(case))
    times = ((z + _POWER_MARGIN) * error / difference) ** 2 * math.exp(plan_error)
    if len(case.rivals) == 2 and max(map(abs, gap.span)) < difference:
        times = min(times, 1.0)  # so large a difference is ruled out by the examples there are
    return _build_need(case, dict.fromkeys(case.sizes, times), difference)


def count_group_need(cases: Sequence[Case], confidence: float) -> ClassNeed | None:
    """Return how many positives make a group differ: the middle one of those that do not."""
    open_cases = [case for case in cases if case.outcome == "open"]
    half_widths = [(case.n_pos, measure_half_width(case.candidates)) for case in open_cases]
    known_widths = sorted(
        (n_pos, half_width) for n_pos, half_width in half_widths if half_width is not None
    )
    if not known_widths or not cases[0].goal.is_of_rate:
        return None
    n_pos, half_width = known_widths[len(known_widths) // 2]
    z = z_value(confidence)
    return ClassNeed(
        "positives", n_pos * ((z + _POWER_MARGIN) / z * half_width / RELEVANT_GAP) ** 2, n_pos
    )


def _build_need(case: Case, times_of_class: dict[str, float], size: float) -> SampleNeed | None:
    """Return the sizes of classes that grow so many times; None if that is out of reach."""
    if max(times_of_class.values()) > _MOST_TIMES:
        return None
    n_of_class = case.sizes
    needs = [
        ClassNeed(name, n_of_class[name] * times, n_of_class[name])
        for name, times in times_of_class.items()
    ]
    return SampleNeed(tuple(needs), size)


# Half-widths and their errors ---------------------------------------------------------------------


def _find_share(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def _find_half_widths(candidate: Candidate) -> tuple[float, float] | None:
    """Return the half-widths of precision on the logit scale from positives and from negatives.

    Precision has the log odds ln(recall) - ln(fpr) + log odds of the prevalence. None where a rate is
    unknown, or 0.
    """
    # Of a small rate the interval of k successes reaches as far to either side, on this scale. Where the
    # sample chose the threshold, the low end may be near 0, with any log: then the high end counts.
    widths = []
    for name in ("recall", "fpr"):
        rate, low, high = (candidate.row.get(f"{name}{end}") for end in ("", "_low", "_high"))
        if not rate or low is None or not high:
            return None
        width = math.log(high / low) / 2 if low > 0 else math.inf
        widths.append(min(width, math.log(high / rate)) if rate < 0.5 or low <= 0 else width)
    return widths[0], widths[1]


def _is_bare(candidate: Candidate) -> bool:
    """Return whether precision is 1 or 0, as no false positive, or no true one, was seen."""
    return candidate.precision.value in (0, 1) and candidate.row.get("fpr_high") is not None


def _find_mean_error(case: Case) -> float:
    """Return by how much a variance among groups may be too small, as a logarithm; 0 without groups."""
    # Of n values with a normal distribution, the logarithm has a standard error of sqrt(2 / (n - 1)).
    if not case.goal.mean_over:
        return 0.0
    return _POWER_MARGIN * math.sqrt(2 / (min(case.sizes.values()) - 1))


def _find_room(estimate: Estimate, error: float, half_width: float) -> float | None:
    """Return the half-width on the logit scale that is `half_width` at a value, moved half an error."""
    if not 0 < float(estimate.value) < 1:
        return None
    logit = find_log_odds(float(estimate.value))
    logit = math.copysign(max(abs(logit) - error / 2, 0.0), logit)

    def measure(room: float) -> float:
        return (_find_share(logit + room) - _find_share(logit - room)) / 2

    return _bisect(lambda room: measure(room) < half_width, 30.0)


def _bisect(is_below: Callable[[float], bool], most: float) -> float:
    """Return the number up to `most` at which a test that holds for small ones stops to hold."""
    low, high = 0.0, most
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return low


def _find_plan_error(case: Case, candidate: Candidate, pos_width: float, neg_width: float) -> float:
    """Return the standard error of the log of a size that follows from these half-widths."""
    neg_share = neg_width**2 / (pos_width**2 + neg_width**2)
    # Half-widths are about two standard errors. The width from negatives goes with their rate, which
    # moves with the threshold where a recall chooses that: by the slope of a binormal curve.
    slope = _find_slope(candidate.row) if "recall" in case.goal.targets else 0.0
    rate_error = math.hypot(neg_width / 2, slope * pos_width / 2)
    errors = (neg_share * rate_error, (1 - neg_share) * pos_width / 2, _PLAN_ERROR)
    return min(1.0, math.hypot(*errors))


def _find_slope(row: Any) -> float:
    """Return d ln(fpr) / d ln(recall) of normal scores of one spread with these rates."""
    normal = NormalDist()
    recall, fpr = (min(max(row[name], 1e-9), 1 - 1e-9) for name in ("recall", "fpr"))
    densities = normal.pdf(normal.inv_cdf(1 - fpr)), normal.pdf(normal.inv_cdf(recall))
    return float(densities[0] / fpr * recall / densities[1])


def _count_times_of_rate(n_tested: float, estimate: Estimate, half_width: float) -> float:
    """Return how many times the examples of a class give the interval of a rate a half-width."""
    low, high = estimate.span or (0.0, 1.0)
    # Moved towards a half by one error, a quarter of the width. Rows that count for less are more.
    value = float(estimate.value)
    middle, error = (value * n_tested + 2) / (n_tested + 4), (high - low) / 4
    cautious = min(value + error, 0.5) if value < 0.5 else max(value - error, 0.5)
    design_effect = max(1.0, ((high - low) / 4) ** 2 * (n_tested + 4) / (middle * (1 - middle)))
    n_needed = 4 * cautious * (1 - cautious) / half_width**2 * design_effect
    return n_needed * math.exp(2 * _PLAN_ERROR) / n_tested


# Guarantees -----------------------------------------------------------------------------------------


def find_promise_needs(case: Case) -> list[ClassNeed]:
    """Return how many examples of each class perfect scores need for the guarantees, if it is known.

    The number is infinite if none suffice.
    """
    needs = []
    for class_name, n_tested in case.sizes.items():
        n_needed = [candidate.row.get(f"n_{class_name[:3]}_needed") for candidate in case.candidates]
        known_numbers = [number for number in n_needed if number is not None]
        if known_numbers:
            needs.append(ClassNeed(class_name, min(known_numbers), n_tested))
    return needs


# What an interval rests on -------------------------------------------------------------------------


def rests_on_eta(case: Case) -> bool:
    """Return whether most of the doubt about precision is that of a prevalence that is an estimate."""
    rivals, (eta_low, eta_high) = case.rivals or case.candidates, case.eta_limits
    if eta_low is None or eta_high is None or not rivals or case.goal.merit_column != "precision":
        return False
    best_row, half_width = rivals[0].row, measure_half_width(rivals[:1])
    recall, fpr = best_row.get("recall"), best_row.get("fpr")
    if not recall or fpr is None or half_width is None:
        return False
    eta_ends = (max(eta_low, _LEAST_ETA), eta_high)
    least_precision, greatest_precision = (
        recall * eta / (recall * eta + fpr * (1 - eta)) for eta in eta_ends
    )
    # Variances add up, so more than half of that of precision is of eta.
    return bool((greatest_precision - least_precision) / 2 > half_width * 0.5**0.5)


def measure_half_width(candidates: Sequence[Candidate]) -> float | None:
    """Return half the width of the widest interval of what models are judged by."""
    merits = [candidate.merit for candidate in candidates]
    return max(
        ((estimate.high - estimate.low) / 2 for estimate in merits if estimate.span is not None),
        default=None,
    )


# What too little data leaves open ------------------------------------------------------------------


def find_short_class(case: Case) -> tuple[float, str]:
    """Return the number of examples of the class that is short, and its name: that of the plan.

    Without a plan it is the class with the larger error where the widest interval is.
    """
    n_of_class = case.sizes
    class_name = min(n_of_class, key=lambda name: n_of_class[name])
    if n_of_class[class_name] >= LEAST_OF_CLASS and not case.goal.mean_over:
        need = _plan_vaguest(case)
        class_name = case.overweight_class or (
            need.classes[0].class_name if need is not None else _find_vaguer_class(case) or class_name
        )
    return n_of_class[class_name], class_name


def _find_vaguer_class(case: Case) -> str | None:
    """Return the class whose rate has the larger error in the widest interval; None if unknown."""
    candidate, metric_name, _ = find_vaguest(case)
    if metric_name in ("recall", "fpr"):
        return "positives" if metric_name == "recall" else "negatives"
    recall, fpr = candidate.row.get("recall"), candidate.row.get("fpr")
    if recall is None:  # precision has the odds recall / fpr * eta / (1 - eta)
        precision, eta = candidate.precision_at_half.value, case.eta
        if not precision or not eta:
            return None
        recall, fpr = 0.5, 0.5 * math.exp(find_log_odds(eta)) * (1 - precision) / precision
    # These are squares of the errors of ln(recall) and ln(fpr).
    pos_error = (1 - recall) / (recall * case.n_pos) if recall else math.inf
    neg_error = (1 - fpr) / (fpr * case.n_neg) if fpr else math.inf
    return None if pos_error == neg_error else "positives" if pos_error > neg_error else "negatives"


def find_vaguest(case: Case) -> tuple[Candidate, str, Estimate]:
    """Return a model, and its merit or precision: that of which the interval is the widest."""
    candidates = case.qualifiers or case.candidates
    candidate = max(candidates, key=lambda candidate: measure_width(candidate.vaguest[1]))
    return candidate, *candidate.vaguest
