"""How many examples would tell what is open, and what a test with too few of them leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Literal, NamedTuple, TypeAlias

from polars_prcurve.core.confidence.intervals import Estimate, z_value
from polars_prcurve.core.judging.case_status import LEAST_OF_CLASS, Candidate, Case, JudgedCase

RELEVANT_GAP = 0.1  # the difference that matters: 10 of 100 alerts, a tenth of the positives
WELL_KNOWN = 0.05  # how far an interval reaches to either side where a value is well known
_POWER_MARGIN = NormalDist().inv_cdf(0.8)
"""A difference d is found four times in five if it is z + 0.84 standard errors: 0.84 farther from 0 than
its interval, of z standard errors, reaches."""
_LEAST_ETA = 1e-300  # in place of a lower limit of 0, at which no alert would be right, nor false

ClassName: TypeAlias = Literal["positives", "negatives"]  # as counts are named: `4,000 negatives`


class SampleNeed(NamedTuple):
    """How many examples of a class would tell what is still open, and how many there are."""

    number: float
    n_tested: float
    class_name: ClassName = "positives"

    @property
    def n_missing(self) -> float:
        """How many more it takes; of positives alone, negatives are to grow in proportion."""
        return max(self.number - self.n_tested, 0)

    @property
    def is_met(self) -> bool:
        """Whether the test has as many."""
        return self.number <= self.n_tested


def count_examples_needed(case: JudgedCase, test_level: float) -> SampleNeed | None:
    """Return how many examples would tell what is still open, or None if more would not tell it."""
    if not case.goal.is_of_rate:
        return None
    if case.status == "no_winner":
        return _count_to_tell_apart(case, test_level)
    if case.status not in ("winner", "measured", "met", "unsure", "too_little_data") or rests_on_eta(
        case
    ):
        return None
    if case.status != "too_little_data":
        half_width = measure_half_width(case.rivals[:1])
        return None if half_width is None else _scale(case, half_width / WELL_KNOWN)
    spans = [candidate.vaguest.span for candidate in case.qualifiers or case.candidates]
    half_width = max(((span[1] - span[0]) / 2 for span in spans if span is not None), default=0.0)
    if half_width <= RELEVANT_GAP or min(case.n_pos, case.n_neg) == 0:
        return None
    sample_need = _scale(case, half_width / RELEVANT_GAP)
    return sample_need._replace(number=float(max(sample_need.number, LEAST_OF_CLASS)))


def _count_to_tell_apart(case: JudgedCase, test_level: float) -> SampleNeed | None:
    """Return how many positives find a gap that matters between the first two models."""
    second_row, z = case.rivals[min(1, len(case.rivals) - 1)].row, z_value(test_level)
    gap_low, gap_high = second_row.get("behind_low"), second_row.get("behind_high")
    if gap_low is None or gap_high is None:
        return None
    # The gap of the second model has the standard error (high - low) / 2z, and errors shrink with the
    # root of n: n * ((z + 0.84) * error / d)**2 examples find a gap of d.
    gap_error = float(gap_high - gap_low) / 2 / z
    return SampleNeed(case.n_pos * ((z + _POWER_MARGIN) * gap_error / RELEVANT_GAP) ** 2, case.n_pos)


def count_group_need(cases: Sequence[JudgedCase], confidence: float) -> SampleNeed | None:
    """Return how many positives tell a group apart: the group in the middle of those that are not."""
    open_cases = [case for case in cases if case.standing == "open"]
    half_widths = [(case.n_pos, measure_half_width(case.candidates)) for case in open_cases]
    known_widths = sorted(
        (n_pos, half_width) for n_pos, half_width in half_widths if half_width is not None
    )
    if not known_widths or not cases[0].goal.is_of_rate:
        return None
    n_pos, half_width = known_widths[len(known_widths) // 2]
    z = z_value(confidence)
    return SampleNeed(n_pos * ((z + _POWER_MARGIN) / z * half_width / RELEVANT_GAP) ** 2, n_pos)


def find_promise_need(case: Case) -> SampleNeed | None:
    """Return how many examples perfect scores take to promise the targets; infinite if none suffice."""
    n_of_classes: list[tuple[ClassName, float]] = [("positives", case.n_pos), ("negatives", case.n_neg)]
    for class_name, n_tested in n_of_classes:
        n_needed = [candidate.row.get(f"n_{class_name[:3]}_needed") for candidate in case.candidates]
        least_needed = min(
            (n_of_candidate for n_of_candidate in n_needed if n_of_candidate is not None), default=None
        )
        if least_needed is not None:
            return SampleNeed(least_needed, n_tested, class_name)
    return None


def _scale(case: Case, factor: float) -> SampleNeed:
    """Return how many examples make an interval narrower by so many times."""
    # Intervals get narrower with the root of the number of examples, if both classes grow: it takes
    # factor**2 as many. If errors of negatives are the greater part, more of these alone may do: the
    # variance (pos + neg) / factor**2, less that of the positives, is left to the negatives.
    positive_need = SampleNeed(case.n_pos * factor**2, case.n_pos)
    if (variances := find_log_variances(case)) is None:
        return positive_need
    pos_variance, neg_variance = variances
    neg_room = (pos_variance + neg_variance) / factor**2 - pos_variance
    if neg_variance <= pos_variance or neg_room <= 0:
        return positive_need
    return SampleNeed(case.n_neg * neg_variance / neg_room, case.n_neg, "negatives")


# What an interval rests on -------------------------------------------------------------------------


def find_log_variances(case: Case) -> tuple[float, float] | None:
    """Return the variances of the log of recall and of fpr, from the counts of the best model."""
    candidates = case.qualifiers or case.candidates
    best_row = candidates[0].row if candidates else {}
    cell_counts = [best_row.get(cell) for cell in ("tp", "fn", "fp", "tn")]
    if any(count is None for count in cell_counts) or min(case.n_pos, case.n_neg) == 0:
        return None
    # The variance of log(k/n) is (1 - p) / p / n, with p = (k + 1/2) / (n + 1), so that k may be 0.
    tp, fn, fp, tn = (float(count) for count in cell_counts if count is not None)
    return (fn + 0.5) / (tp + 0.5) / case.n_pos, (tn + 0.5) / (fp + 0.5) / case.n_neg


def rests_on_eta(case: Case) -> bool:
    """Return whether most of the doubt about precision is that of a prevalence that is an estimate."""
    eta_low, eta_high = case.key_values.get("eta_low"), case.key_values.get("eta_high")
    rivals = case.rivals or case.candidates
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


def find_short_class(case: Case) -> tuple[float, ClassName]:
    """Return the number of examples of the class that is short, and its name."""
    n_of_classes: list[tuple[float, ClassName]] = [(case.n_pos, "positives"), (case.n_neg, "negatives")]
    n_of_class, class_name = min(n_of_classes, key=lambda n_and_class: n_and_class[0])
    variances = find_log_variances(case)
    if n_of_class >= LEAST_OF_CLASS and variances is not None and variances[0] < variances[1]:
        return case.n_neg, "negatives"
    return n_of_class, class_name


def find_vaguest(case: Case) -> tuple[Candidate, str, Estimate]:
    """Return a model, and its merit or precision: that of which the interval is the widest."""
    estimates = [
        (candidate, name, candidate.precision if name == "precision" else candidate.merit)
        for candidate in case.qualifiers or case.candidates
        for name in dict.fromkeys([case.goal.merit_column, "precision"])
    ]
    return max(
        estimates,
        key=lambda entry: -1.0 if entry[2].span is None else entry[2].high - entry[2].low,
    )
