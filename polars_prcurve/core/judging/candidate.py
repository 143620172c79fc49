"""A model of a case: what its row of evidence shows of its targets, of chance and of its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from polars_prcurve.core.confidence.doubts import DOUBT, TAIL_NOT_SEEN
from polars_prcurve.core.confidence.estimates import Estimate, read_estimate
from polars_prcurve.core.judging.evidence_columns import EvidenceColumn
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.judging.status_names import combine_met
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS

_SURELY = 1.7
"""A 95% interval so many times as wide misses the true value in fewer than 1 of 1,000 tests."""
WIDE = 0.5  # the width from which on an interval is too wide to use, if more examples make it narrower
_CURED_BY_EXAMPLES = {
    "few positives",
    "few negatives",
    "few false positives",
    "few clusters",
    "few groups",
    "few points",
    "few discordant examples",
    TAIL_NOT_SEEN,
}
"""The doubts that more examples would remove."""


@dataclass(frozen=True)
class Candidate:
    """A model in a case: a row of evidence, read."""

    model: Any  # None in a table without models
    row: Mapping[str, Any]
    goal: Goal

    @property
    def meets_targets(self) -> bool:
        """Whether a threshold keeps all targets; of a whole curve, whether it has a value."""
        return self.row[self.goal.merit_column] is not None

    @cached_property
    def merit(self) -> Estimate:
        """The value by which the model is judged, and its interval."""
        return self.read(self.goal.merit_column)

    @property
    def value(self) -> float:
        """The value by which the model is judged."""
        return float(self.merit.value)

    @property
    def meets_demand(self) -> bool | None:
        """Whether it meets the demand; None if that is open, or nothing is demanded."""
        if not self.goal.demand:
            return None
        if self.goal.is_gate:
            return combine_met(map(self.test_limit, self.goal.demand))
        return True if self.meets_targets else None if self.may_meet_targets else False

    def test_limit(self, word: str) -> bool | None:
        """Return whether its threshold meets a limit of the demand; None if that is open.

        A value that is undefined because nothing is flagged misses its limit.
        """
        is_met = self.goal.test_limit(self.row, word)
        is_undefined = self.row.get(TARGET_KINDS[word].column) is None and not self.lacks_threshold
        flags_nothing = not (self.row.get("tp") or self.row.get("fp"))
        return False if is_undefined and flags_nothing else is_met

    @property
    def has_values(self) -> bool:
        """Whether it has a threshold that meets the targets, or one that was passed for it."""
        return self.meets_targets or (self.goal.is_at_threshold and not self.lacks_threshold)

    @property
    def lacks_threshold(self) -> bool:
        """Whether its threshold is to come from elsewhere, and none was passed for it."""
        return self.goal.is_at_threshold and self.row["threshold"] is None

    @property
    def may_meet_targets(self) -> bool:
        """Whether the intervals of some threshold allow all targets, though none meets them here."""
        return self.row.get(EvidenceColumn.MAY_MEET) is not False

    @property
    def shown_target(self) -> str | None:
        """The target whose best value shows that some threshold may meet all, or that none does.

        It is None if no best value does; of several it is the last one.
        """
        for word in reversed(self.goal.limits):
            best_estimate = read_estimate(self.row, f"{EvidenceColumn.BEST}{word}")
            limit = self.goal.scale_limit(word)
            contains_limit = (
                best_estimate.span is None or best_estimate.low <= limit <= best_estimate.high
            )
            shows_limit = contains_limit or not self.may_meet_targets or self.goal.guarantee is not None
            if best_estimate.value is not None and shows_limit:
                return word
        return None

    @property
    def precision_at_half(self) -> Estimate:
        """Its precision where half of the positives are found, or if it is one point, there.

        Of a mean over groups it is its merit.
        """
        if self.goal.mean_over or self.goal.is_of_point:
            return self.merit
        return read_estimate(self.row, EvidenceColumn.AT_HALF)

    @property
    def precision(self) -> Estimate:
        """Its precision: at the targets, or where half of the positives are found."""
        return self.read("precision")

    @property
    def is_of_alerts(self) -> bool:
        """Whether what is tested flags all examples, at their own prevalence: none is ranked."""
        tp, fp = self.row.get("tp") or 0.0, self.row.get("fp") or 0.0
        flags_all = self.row.get("recall") == self.row.get("fpr") == 1
        return self.goal.is_gate and flags_all and math.isclose(self.row["eta"], tp / (tp + fp))

    @property
    def may_be_chance(self) -> bool:
        """Whether its scores are not significantly related to the label."""
        if self.is_of_alerts:
            return False
        if self.row["above_chance"] is None:  # no test of all scores, as examples do not count alike
            if self.goal.mean_over:
                return False
            return self.precision.span is None or self.precision.low <= self.row["eta"]
        if self.row["above_chance"]:
            return False
        if self.row[DOUBT] is not None or self.precision.span is None or self.goal.is_of_curve:
            return True
        # A few high scores may show what all scores together do not: their precision is above chance if
        # the interval of the log odds, 1.7 times as wide, is above those of eta.
        log_odds, low_log_odds = find_log_odds(self.precision.value), find_log_odds(self.precision.low)
        return not log_odds - _SURELY * (log_odds - low_log_odds) > find_log_odds(self.row["eta"])

    def is_surely_below(self, other_candidate: Candidate) -> bool:
        """Whether its precision is below another model's, at 50% recall."""
        estimate, other_estimate = self.precision_at_half, other_candidate.precision_at_half
        if estimate.span is None or other_estimate.span is None:
            return False
        own_precision, other_precision = float(estimate.value), float(other_estimate.value)
        # Distances add up in quadrature, as of models that were tested apart (Zou and Donner 2008).
        return other_precision - own_precision > math.hypot(
            other_precision - other_estimate.low, estimate.high - own_precision
        )

    @property
    def is_reversed(self) -> bool:
        """Whether its scores significantly rank negatives above positives."""
        return self.row.get(EvidenceColumn.IS_REVERSED) is True

    @property
    def may_be_best(self) -> bool:
        """Whether no other model is significantly better; true without a test."""
        return self.row.get("may_be_best") is not False

    @property
    def says_little(self) -> bool:
        """Whether its interval is missing or reaches 0, or is wide for want of examples."""
        # A curve may end before half of the positives are found.
        if self.merit.span is None or (self.precision.span is None and not self.goal.is_of_curve):
            return True
        if self.goal.sign > 0 and self.merit.low <= 0:
            return True
        may_need_examples = self.row[DOUBT] in (None, *_CURED_BY_EXAMPLES)
        return may_need_examples and find_width(self.vaguest[1]) > WIDE

    @property
    def vaguest(self) -> tuple[str, Estimate]:
        """What is known worst, by name: the value by which the model is judged, or its precision.

        Of a whole curve, and where there is no threshold, precision is that at half of the positives.
        """
        half_column = EvidenceColumn.AT_HALF
        is_at_half = self.goal.is_of_curve and not self.goal.mean_over
        estimate_by_name = {name: self.read(name) for name in (self.goal.merit_column, "precision")}
        if is_at_half or all(estimate.span is None for estimate in estimate_by_name.values()):
            estimate_by_name = {self.goal.merit_column: self.merit, half_column: self.precision_at_half}
        return max(
            estimate_by_name.items(), key=lambda name_and_estimate: find_width(name_and_estimate[1])
        )

    def read(self, name: str) -> Estimate:
        """Return a value of the row and its interval; precision of a whole curve is that at half."""
        if name == "precision" and self.goal.is_of_curve:
            return self.precision_at_half
        return read_estimate(self.row, name)


def find_open_target(candidates: Sequence[Candidate]) -> tuple[Candidate, str] | None:
    """Return which model comes nearest to its targets, and at which; None if that is unknown.

    Models that may meet them go first.
    """
    candidates_and_words = [(candidate, candidate.shown_target) for candidate in candidates]
    may_meet_targets = any(
        candidate.may_meet_targets for candidate, word in candidates_and_words if word
    )
    open_pairs = [
        (candidate, word)
        for candidate, word in candidates_and_words
        if word is not None and candidate.may_meet_targets == may_meet_targets
    ]
    if not open_pairs:
        return None
    first_candidate, first_word = open_pairs[0]
    sign = -1 if TARGET_KINDS[first_word].is_at_most else 1
    best_column = (
        f"{EvidenceColumn.BEST}{first_word}{first_candidate.goal.find_decisive_end(first_word)}"
    )
    return max(
        (pair for pair in open_pairs if pair[1] == first_word),
        key=lambda pair: (
            -math.inf if pair[0].row[best_column] is None else sign * pair[0].row[best_column]
        ),
    )


def find_width(estimate: Estimate) -> float:
    """Return the width of an interval; below 0 if an end is missing."""
    return -1.0 if estimate.span is None else float(estimate.high - estimate.low)


def find_log_odds(share: float) -> float:
    """Return the log odds of a share; of 0 and 1 they are infinite."""
    if share in (0.0, 1.0):
        return math.inf if share else -math.inf
    return math.log(share / (1 - share))
