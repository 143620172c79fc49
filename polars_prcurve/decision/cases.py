"""Cases: one group at one prevalence, its models in order, and what is decided there.

rows of evidence -> cases     models that meet the targets first, the best of them first
                 -> verdicts  the first status that holds, see `judge`
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polars_prcurve.confidence.estimates import Estimate, read_estimate
from polars_prcurve.decision.evidence import AT_HALF, IS_REVERSED, Asked, Evidence
from polars_prcurve.decision.goal import Goal
from polars_prcurve.decision.verdict import Status
from polars_prcurve.number_words import RARELY_RIGHT

LEAST_OF_CLASS = 10
"""Examples of a class below which nothing is decided."""
USEFUL_LIFT = 2.0
"""How many times as often as by lot alerts of a useful model are right, at least."""
_SURELY = 1.7
"""An interval at 95 % that is so many times as wide misses the truth in fewer than 1 of 1 000 tests."""
WIDE = 0.5
"""The width from which on an interval that is not reliable says too little."""
_WANTS_EXAMPLES = {
    *("few positives", "few negatives", "few false alerts", "few missed positives", "few clusters"),
    *("few points", "few discordant examples", "tail not seen"),
}
"""What `why` says where more examples would help."""


@dataclass(frozen=True)
class Candidate:
    """A model in a case: a row of evidence, read."""

    model: Any
    """None in a table without models."""
    row: Mapping[str, Any]
    goal: Goal

    @property
    def is_met(self) -> bool:
        """Whether a threshold keeps all targets; of a whole curve, whether it has a value."""
        return self.row[self.goal.merit] is not None

    @property
    def merit(self) -> Estimate:
        """The value by which the model is judged, and its interval."""
        return self.read(self.goal.merit)

    @property
    def value(self) -> float:
        """The value by which the model is judged, without the optimism of a maximum."""
        merit = self.merit
        return float(merit.value if merit.corrected is None else merit.corrected)

    @property
    def precision_at_half(self) -> Estimate:
        """How many of its alerts are right where half of the positives are found."""
        return self.read(AT_HALF)

    @property
    def precision(self) -> Estimate:
        """How many of its alerts are right: at the targets, or where half of the positives are found."""
        return self.read(AT_HALF if self.goal.is_of_curve else "precision")

    @property
    def may_be_chance(self) -> bool:
        """Whether its scores are not shown to say anything of the label.

        Where examples do not count alike the test of all scores is not known, and the interval tells.
        """
        if self.row["above_chance"] is None:
            return self.precision.span is None or self.precision.low <= self.row["eta"]
        return not self.row["above_chance"] and not self._beats_lot

    @property
    def _beats_lot(self) -> bool:
        """Whether its alerts at the targets are surely right more often than by lot.

        A few high scores may tell what all scores together do not.
        """
        if self.row["reliable"] is not True or self.precision.span is None or self.goal.is_of_curve:
            return False
        value, low = find_log_odds(self.precision.value), find_log_odds(self.precision.low)
        return value - _SURELY * (value - low) > find_log_odds(self.row["eta"])

    def is_surely_below(self, other: Candidate) -> bool:
        """Whether fewer of its alerts are right than of another model's, where half is found.

        Both distances add up in quadrature, as of models that were tested apart.
        """
        mine, theirs = self.precision_at_half, other.precision_at_half
        if mine.span is None or theirs.span is None:
            return False
        gap = float(theirs.value) - float(mine.value)
        return gap > math.hypot(float(theirs.value) - theirs.low, mine.high - float(mine.value))

    @property
    def is_reversed(self) -> bool:
        """Whether its scores surely rank negatives above positives."""
        return self.row.get(IS_REVERSED) is True

    @property
    def may_be_best(self) -> bool:
        """Whether no other model is surely better; true if nobody knows."""
        return self.row.get("may_be_best") is not False

    @property
    def says_little(self) -> bool:
        """Whether its interval is missing or reaches 0, or is wide for want of examples."""
        if self.merit.span is None or self.precision.span is None:
            return True
        if self.goal.sign > 0 and self.merit.low <= 0:
            return True
        wants = self.row["reliable"] is False and self.row["why"] in _WANTS_EXAMPLES
        return wants and self.vaguest.high - self.vaguest.low > WIDE

    @property
    def vaguest(self) -> Estimate:
        """What is known worst: the value by which the model is judged, or how many alerts are right."""
        known = [estimate for estimate in (self.merit, self.precision) if estimate.span is not None]
        return max(known, key=lambda estimate: estimate.high - estimate.low, default=self.merit)

    def read(self, name: str) -> Estimate:
        """Return a value of the row and its interval."""
        return read_estimate(self.row, name)


@dataclass(frozen=True)
class Case:
    """One group at one prevalence."""

    key: Mapping[str, Any]
    """The values of its group, of `eta`, and of what an eta frame carries."""
    goal: Goal
    candidates: Sequence[Candidate]
    """All models: those that meet the targets first, the best first."""
    n_pos: float
    n_neg: float
    per: float
    takes_apart: bool
    """Whether models are compared by their intervals, each of which is of one model."""

    @property
    def eta(self) -> float | None:
        """The prevalence; None if there are no examples to count it from."""
        eta: float | None = self.key["eta"]
        return eta

    @property
    def is_rare(self) -> bool:
        """Whether all values of precision are said as `1 in 83` here: those of all models are small."""
        known = [each.precision for each in self.candidates if each.precision.value is not None]
        most = max((float(each.value) for each in known), default=0.0)
        return 0 < most < RARELY_RIGHT and all((each.high or 0.0) <= 0.5 for each in known)

    @property
    def is_reversed(self) -> bool:
        """Whether the scores of all models surely rank negatives above positives."""
        return bool(self.candidates) and all(candidate.is_reversed for candidate in self.candidates)

    @property
    def met(self) -> list[Candidate]:
        """The models that keep all targets, the best first."""
        return [candidate for candidate in self.candidates if candidate.is_met]

    @property
    def rivals_that_miss(self) -> list[Candidate]:
        """Models that miss the targets in this test, and may be the best nevertheless.

        Chance decides which of two equal models keeps a target by a hair. A model that keeps none of
        the targets by itself has no place in a ranking: then its alerts at half of the positives tell.
        """
        if not self.met:
            return []
        missed = [candidate for candidate in self.candidates if not candidate.is_met]
        may_be_best = [
            not candidate.is_surely_below(self.met[0])
            if candidate.row.get("may_be_best") is None
            else candidate.may_be_best
            for candidate in missed
        ]
        return [candidate for candidate, may in zip(missed, may_be_best, strict=True) if may]

    @property
    def rivals(self) -> list[Candidate]:
        """Those of them that may be best: all, if at each target another one is."""
        return [candidate for candidate in self.met if candidate.may_be_best] or self.met

    @property
    def width(self) -> float:
        """The width of the widest interval by which its models are judged; infinite if one has none."""
        of = self.rivals or self.candidates
        widths = (one.merit.high - one.merit.low if one.merit.span else math.inf for one in of)
        return max(widths, default=math.inf)

    def judge(self) -> tuple[Status, list[Candidate]]:
        """Return the first status that holds, and the models that it names.

        A model is settled if no other one may be best, even where its interval is not reliable: a
        test of the difference has a rule of its own, and a model without a false alert never has a
        reliable interval.
        """
        if all(candidate.may_be_chance for candidate in self.candidates) and self.rules_out_use():
            status: Status = "no better than chance"
        elif all(candidate.may_be_chance for candidate in self.candidates):
            status = "too little data"
        elif not self.met:
            status = "not met"
        else:
            status = self._compare_rivals()
        if min(self.n_pos, self.n_neg) < LEAST_OF_CLASS:
            status = "too little data"
        if status == "not told apart":
            return status, [*self.rivals, *self.rivals_that_miss]
        return status, self.rivals if status == "settled" else []

    def _compare_rivals(self) -> Status:
        """Return what is settled among models that meet the targets, of which one is above chance."""
        first, *others = self.rivals
        is_alone = not others and not self.rivals_that_miss and not first.may_be_chance
        if is_alone and len(self.met) > 1:
            return "settled"
        if all(candidate.says_little for candidate in self.rivals):
            return "too little data"
        return "settled" if is_alone else "not told apart"

    def rules_out_use(self) -> bool:
        """Whether alerts of no model are right twice as often as by lot, by their intervals at half."""
        ends = [candidate.precision_at_half.high for candidate in self.candidates]
        useful = USEFUL_LIFT * (self.eta or 0.0)
        return all(end is not None and end < useful for end in ends)


def list_cases(evidence: Evidence, asked: Asked) -> list[Case]:
    """Return the cases in the order of the evidence, or of prevalences as they were listed."""
    goal, model = asked.goal, asked.model
    sizes = _count_classes(evidence, model)
    grouped: dict[tuple[Any, ...], list[Candidate]] = {}
    for row in evidence.rows.iter_rows(named=True):
        key = tuple(row[name] for name in evidence.keys)
        name = None if model is None else row[model]
        grouped.setdefault(key, []).append(Candidate(name, row, goal))
    n_groups = evidence.keys.index("eta")
    listed = asked.eta if isinstance(asked.eta, list | tuple) else ()
    places = {eta: place for place, eta in enumerate(listed) if not isinstance(eta, str)}
    keys = sorted(grouped, key=lambda key: places.get(key[n_groups], 0))
    return [
        Case(
            dict(zip(evidence.keys, key, strict=True)),
            goal,
            sorted(candidates, key=_rank),
            *sizes.get(key[:n_groups], (0, 0)),
            evidence.per,
            asked.takes_apart,
        )
        for key, candidates in ((key, grouped[key]) for key in keys)
    ]


def _rank(candidate: Candidate) -> tuple[int, float]:
    """Return what sorts models: those that meet the targets first, then by merit; ties stay in order."""
    if not candidate.is_met:
        return 1, 0.0
    return 0, -candidate.value * candidate.goal.sign


def _count_classes(evidence: Evidence, model: str | None) -> dict[tuple[Any, ...], tuple[float, float]]:
    """Return the positives and negatives of each group: of models with a sample each, the fewest."""
    groups = [name for name in evidence.keys[: evidence.keys.index("eta")] if name != model]
    sizes: dict[tuple[Any, ...], tuple[float, float]] = {}
    for row in evidence.sizes.iter_rows(named=True):
        key, here = tuple(row[name] for name in groups), (row["n_pos"] or 0, row["n_neg"] or 0)
        before = sizes.get(key, here)
        sizes[key] = min(before[0], here[0]), min(before[1], here[1])
    return sizes


def find_log_odds(share: float) -> float:
    """Return the log odds of a share; of 0 and 1 they are infinite."""
    if share in (0.0, 1.0):
        return math.inf if share else -math.inf
    return math.log(share / (1 - share))
