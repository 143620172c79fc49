"""How many examples would settle what is open, with 80% assurance, and which class is short.

An interval that is too wide is planned anew: its half-widths from either class shrink with the root of
the number of examples, on the scale of log odds. The estimate of the test set is uncertain itself. So
the value is moved towards a half, where intervals are widest, and the size is raised by an error; of
a precision above a half only the size is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

from polars_prcurve.core.confidence.doubts import EQUAL_SCORES
from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.judging.candidate import Candidate, find_log_odds, find_open_target, find_width
from polars_prcurve.core.judging.case import LEAST_OF_CLASS, Case
from polars_prcurve.core.judging.evidence_columns import EvidenceColumn
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS

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
    has_few_examples = min(case.sizes.values()) < LEAST_OF_CLASS or case.overweight_class is not None
    is_merit_limited = case.goal.merit_column in case.goal.columns_of_limits
    is_settled = case.status == "met" and case.goal.is_gate and not is_merit_limited
    if case.status in ("chance", "not_met") or has_few_examples or is_settled or rests_on_eta(case):
        return None
    if not case.qualifiers and case.goal.targets and not case.goal.is_gate:
        return _plan_open_target(case, test_level) if case.status == "unsure" else None
    if case.status == "no_winner":
        # More examples with the same few scores would leave the doubt.
        is_plan_useful = case.doubt_of_lead != EQUAL_SCORES
        return _plan_difference(case, test_level) if is_plan_useful else None
    if case.status == "too_little_data":
        return _plan_vaguest(case)
    candidate = (case.rivals or case.candidates)[0]
    if case.status == "unsure":
        return _plan_test(case, candidate)
    goal_half_width = _choose_half_width(candidate.merit, WELL_KNOWN)
    return _plan_width(case, candidate, case.goal.merit_column, candidate.merit, goal_half_width)


def _plan_vaguest(case: Case) -> SampleNeed | None:
    """Return how many examples make the widest interval of a case narrow enough for a verdict."""
    candidate, metric_name, estimate = find_vaguest(case)
    return _plan_width(
        case, candidate, metric_name, estimate, _choose_half_width(estimate, ROUGHLY_KNOWN)
    )


def is_out_of_reach(case: Case) -> bool:
    """Return whether targets are met on so few positives that a larger test set may not meet them."""
    return bool(case.goal.caps and case.qualifiers) and case.n_hits < _LEAST_HITS


def _choose_half_width(estimate: Estimate, usual_half_width: float) -> float:
    """Return a useful half-width for a value: half of the value where that is small."""
    value = float(estimate.value or 0.0)
    return usual_half_width if value >= 2 * usual_half_width else value / 2


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
    logit_half_widths = _find_half_widths(candidate)
    return (
        None
        if logit_half_widths is None
        else _plan_classes(case, candidate, logit_half_widths, half_width)
    )


def _plan_rate(case: Case, rate_name: str, estimate: Estimate, half_width: float) -> SampleNeed | None:
    """Return how many examples of its class give recall or fpr an interval of a half-width."""
    class_name = "positives" if rate_name == "recall" else "negatives"
    size_factor = _find_size_factor(case.sizes[class_name], estimate, half_width)
    return _build_need(case, {class_name: size_factor}, half_width)


def _plan_bare(
    case: Case, candidate: Candidate, needed_end: float, half_width: float
) -> SampleNeed | None:
    """Return how many examples move the only end of an interval of precision, from 1 or 0, elsewhere.

    No fewer do: this is the number at which there is still no false positive, or no true one.
    """
    is_perfect = float(candidate.precision.value) == 1
    low, high = candidate.precision.span or (0.0, 1.0)
    class_name, rate_name = ("negatives", "fpr") if is_perfect else ("positives", "recall")
    rate_high = float(candidate.row[f"{rate_name}_high"])
    bare_end = low if is_perfect else high
    if not 0 < bare_end < 1 or not 0 < needed_end < 1 or not 0 < rate_high < 1:
        return None
    # The odds of precision go with those of the rate, and of 0 among n these end at z**2 / n (Wilson).
    odds_ratio = math.exp(abs(find_log_odds(needed_end) - find_log_odds(bare_end)))
    is_reached = bare_end >= needed_end if is_perfect else bare_end <= needed_end
    needed_rate = rate_high * (odds_ratio if is_reached else 1 / odds_ratio)
    if needed_rate >= 1:
        return None
    size_factor = math.exp(find_log_odds(rate_high) - find_log_odds(needed_rate))
    n_tested = case.sizes[class_name]
    return SampleNeed(
        (ClassNeed(class_name, n_tested * size_factor, n_tested),), half_width, is_least=True
    )


def _plan_bare_half(case: Case, estimate: Estimate, half_width: float) -> SampleNeed | None:
    """Return how many negatives narrow precision at half of the positives, if none was flagged there."""
    low, needed_end = float(estimate.low), 1 - 2 * half_width
    if not 0 < low < needed_end < 1:
        return None
    size_factor = math.exp(find_log_odds(needed_end) - find_log_odds(low))
    if size_factor > _MOST_TIMES:
        return None
    need = ClassNeed("negatives", case.n_neg * size_factor, case.n_neg)
    return SampleNeed((need,), half_width, is_least=True)


def _plan_classes(
    case: Case, candidate: Candidate, logit_half_widths: tuple[float, float], half_width: float
) -> SampleNeed | None:
    """Return how many examples of each class narrow precision, whose half-widths from both are these."""
    pos_half_width, neg_half_width = logit_half_widths
    estimate = candidate.precision
    # With fewer false positives than seen, a precision above a half has a narrower interval: moving it
    # towards a half, and the size as well, would allow for the same chance twice.
    error = math.hypot(pos_half_width, neg_half_width) / 2 if float(estimate.value) < 0.5 else 0.0
    logit_half_width = _find_logit_half_width(estimate, error, half_width)
    if logit_half_width is None:
        return None
    safety_factor = math.exp(_find_plan_error(case, candidate, pos_half_width, neg_half_width))
    size_factor = (pos_half_width**2 + neg_half_width**2) / logit_half_width**2 * safety_factor
    # One class alone does where the other one leaves room, at no more than twice the size of both.
    half_width_by_class: dict[str, float] = {"positives": pos_half_width, "negatives": neg_half_width}
    for (class_name, class_half_width), other_half_width in zip(
        half_width_by_class.items(), (neg_half_width, pos_half_width), strict=True
    ):
        remaining_square = logit_half_width**2 - other_half_width**2 * safety_factor
        size_factor_alone = (
            class_half_width**2 * safety_factor / remaining_square if remaining_square > 0 else math.inf
        )
        if size_factor_alone <= 2 * size_factor:
            return _build_need(case, {class_name: size_factor_alone}, half_width)
    widest_class = max(half_width_by_class, key=lambda class_name: half_width_by_class[class_name])
    return _build_need(
        case, dict.fromkeys([widest_class, *half_width_by_class], size_factor), half_width
    )


def _plan_both(case: Case, estimate: Estimate, half_width: float) -> SampleNeed | None:
    """Return how many examples of both classes narrow an interval whose parts are not known."""
    low, high = estimate.span or (0.0, 1.0)
    if high > 1 or case.goal.mean_over:  # no share, or a mean, whose interval is symmetric
        plan_error = max(2 * _PLAN_ERROR, _find_mean_error(case))
        size_factor = ((high - low) / 2 / half_width) ** 2 * math.exp(plan_error)
        return _build_need(case, dict.fromkeys(case.sizes, size_factor), half_width)
    if not 0 < low < high < 1:
        return None
    current_half_width = (find_log_odds(high) - find_log_odds(low)) / 2
    logit_half_width = _find_logit_half_width(estimate, current_half_width / 2, half_width)
    size_factor = (
        math.inf
        if logit_half_width is None
        else (current_half_width / logit_half_width) ** 2 * math.exp(min(1.0, current_half_width / 2))
    )
    return _build_need(case, dict.fromkeys(case.sizes, size_factor), half_width)


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
    first_rival, second_rival = case.rivals[0], case.rivals[min(1, len(case.rivals) - 1)]
    gap_estimate, merit_value = second_rival.read("behind"), abs(first_rival.value)
    if gap_estimate.span is None or merit_value == 0 or is_out_of_reach(case):
        return None
    # The difference has the standard error (high - low) / 2z, and errors shrink with the root of n:
    # n * ((z + 0.84) * error / d)**2 examples detect a difference of d.
    relevant_difference = RELEVANT_GAP if merit_value >= 2 * RELEVANT_GAP else merit_value / 2
    z = z_value(test_level)
    gap_error = float(gap_estimate.high - gap_estimate.low) / 2 / z
    # That of the value, and that of how errors shrink
    plan_error = min(1.0, 2 * gap_error / merit_value)
    plan_error = max(plan_error, _find_mean_error(case))
    size_factor = ((z + _POWER_MARGIN) * gap_error / relevant_difference) ** 2 * math.exp(plan_error)
    if len(case.rivals) == 2 and max(map(abs, gap_estimate.span)) < relevant_difference:
        # So large a difference is ruled out by the examples there are.
        size_factor = min(size_factor, 1.0)
    return _build_need(case, dict.fromkeys(case.sizes, size_factor), relevant_difference)


def count_group_need(cases: Sequence[Case], confidence: float) -> ClassNeed | None:
    """Return how many positives make a group differ: the middle one of those that do not."""
    open_cases = [case for case in cases if case.outcome == "open"]
    sizes_and_half_widths = [(case.n_pos, measure_half_width(case.candidates)) for case in open_cases]
    known_sizes_and_half_widths = sorted(
        (n_pos, half_width) for n_pos, half_width in sizes_and_half_widths if half_width is not None
    )
    if not known_sizes_and_half_widths or not cases[0].goal.is_of_rate:
        return None
    n_pos, half_width = known_sizes_and_half_widths[len(known_sizes_and_half_widths) // 2]
    z = z_value(confidence)
    return ClassNeed(
        "positives", n_pos * ((z + _POWER_MARGIN) / z * half_width / RELEVANT_GAP) ** 2, n_pos
    )


def _build_need(
    case: Case, size_factor_by_class: dict[str, float], effect_size: float
) -> SampleNeed | None:
    """Return the sizes of classes that grow so many times; None if that is out of reach."""
    if max(size_factor_by_class.values()) > _MOST_TIMES:
        return None
    n_of_class = case.sizes
    needs = [
        ClassNeed(class_name, n_of_class[class_name] * size_factor, n_of_class[class_name])
        for class_name, size_factor in size_factor_by_class.items()
    ]
    return SampleNeed(tuple(needs), effect_size)


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
    half_widths = []
    for rate_name in ("recall", "fpr"):
        rate, low, high = (candidate.row.get(f"{rate_name}{suffix}") for suffix in ("", "_low", "_high"))
        if not rate or low is None or not high:
            return None
        half_width = math.log(high / low) / 2 if low > 0 else math.inf
        half_widths.append(
            min(half_width, math.log(high / rate)) if rate < 0.5 or low <= 0 else half_width
        )
    return half_widths[0], half_widths[1]


def _is_bare(candidate: Candidate) -> bool:
    """Return whether precision is 1 or 0, as no false positive, or no true one, was seen."""
    return candidate.precision.value in (0, 1) and candidate.row.get("fpr_high") is not None


def _find_mean_error(case: Case) -> float:
    """Return by how much a variance among groups may be too small, as a logarithm; 0 without groups."""
    # Of n values with a normal distribution, the logarithm has a standard error of sqrt(2 / (n - 1)).
    if not case.goal.mean_over:
        return 0.0
    return _POWER_MARGIN * math.sqrt(2 / (min(case.sizes.values()) - 1))


def _find_logit_half_width(estimate: Estimate, error: float, half_width: float) -> float | None:
    """Return the half-width on the logit scale that is `half_width` at a value, moved half an error."""
    if not 0 < float(estimate.value) < 1:
        return None
    logit = find_log_odds(float(estimate.value))
    logit = math.copysign(max(abs(logit) - error / 2, 0.0), logit)

    def measure(logit_half_width: float) -> float:
        return (_find_share(logit + logit_half_width) - _find_share(logit - logit_half_width)) / 2

    low, high = 0.0, 30.0  # at which the half-width of a share is one half
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if measure(middle) < half_width else (low, middle)
    return low


def _find_plan_error(
    case: Case, candidate: Candidate, pos_half_width: float, neg_half_width: float
) -> float:
    """Return the standard error of the log of a size that follows from these half-widths."""
    neg_share = neg_half_width**2 / (pos_half_width**2 + neg_half_width**2)
    # Half-widths are about two standard errors. The width from negatives goes with their rate, which
    # moves with the threshold where a recall chooses that: by the slope of a binormal curve.
    slope = _find_slope(candidate.row) if "recall" in case.goal.targets else 0.0
    rate_error = math.hypot(neg_half_width / 2, slope * pos_half_width / 2)
    error_parts = (neg_share * rate_error, (1 - neg_share) * pos_half_width / 2, _PLAN_ERROR)
    return min(1.0, math.hypot(*error_parts))


def _find_slope(row: Any) -> float:
    """Return d ln(fpr) / d ln(recall) of normal scores of one spread with these rates."""
    normal_distribution = NormalDist()
    recall, fpr = (min(max(row[rate_name], 1e-9), 1 - 1e-9) for rate_name in ("recall", "fpr"))
    densities = (
        normal_distribution.pdf(normal_distribution.inv_cdf(1 - fpr)),
        normal_distribution.pdf(normal_distribution.inv_cdf(recall)),
    )
    return float(densities[0] / fpr * recall / densities[1])


def _find_size_factor(n_tested: float, estimate: Estimate, half_width: float) -> float:
    """Return how many times the examples of a class give the interval of a rate a half-width."""
    low, high = estimate.span or (0.0, 1.0)
    # Moved towards a half by one error, a quarter of the width. Rows that count for less are more.
    rate = float(estimate.value)
    shrunk_rate, error = (rate * n_tested + 2) / (n_tested + 4), (high - low) / 4
    cautious_rate = min(rate + error, 0.5) if rate < 0.5 else max(rate - error, 0.5)
    design_effect = max(
        1.0, ((high - low) / 4) ** 2 * (n_tested + 4) / (shrunk_rate * (1 - shrunk_rate))
    )
    n_needed = 4 * cautious_rate * (1 - cautious_rate) / half_width**2 * design_effect
    return n_needed * math.exp(2 * _PLAN_ERROR) / n_tested


# Guarantees -----------------------------------------------------------------------------------------


def find_promise_needs(case: Case) -> list[ClassNeed]:
    """Return how many examples of each class perfect scores need for the guarantees, if it is known.

    The number is infinite if none suffice.
    """
    class_needs = []
    for class_name, n_tested in case.sizes.items():
        n_needed = [candidate.row.get(f"n_{class_name[:3]}_needed") for candidate in case.candidates]
        known_n_needed = [n for n in n_needed if n is not None]
        if known_n_needed:
            class_needs.append(ClassNeed(class_name, min(known_n_needed), n_tested))
    return class_needs


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
    merit_estimates = [candidate.merit for candidate in candidates]
    return max(
        (
            (estimate.high - estimate.low) / 2
            for estimate in merit_estimates
            if estimate.span is not None
        ),
        default=None,
    )


# What too little data leaves open ------------------------------------------------------------------


def find_short_class(case: Case) -> tuple[float, str]:
    """Return the number of examples of the class that is short, and its name: as in the plan."""
    n_of_class = case.sizes
    class_name = min(n_of_class, key=lambda class_label: n_of_class[class_label])
    if n_of_class[class_name] >= LEAST_OF_CLASS and not case.goal.mean_over:
        need = _plan_vaguest(case)
        planned_class_name = class_name if need is None else need.classes[0].class_name
        class_name = case.overweight_class or planned_class_name
    return n_of_class[class_name], class_name


def find_vaguest(case: Case) -> tuple[Candidate, str, Estimate]:
    """Return a model, and its merit or precision: that of which the interval is the widest."""
    candidates = case.qualifiers or case.candidates
    candidate = max(candidates, key=lambda candidate: find_width(candidate.vaguest[1]))
    return candidate, *candidate.vaguest
