"""Cases: one group at one prevalence, its models in order, and what is decided there.

rows of evidence -> cases     models that meet the targets first, the best of them first
                 -> verdicts  the first status that holds, see `judge`
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

from polars_prcurve.core.confidence.intervals import Estimate, read_estimate
from polars_prcurve.core.judging.evidence import AT_HALF, IS_REVERSED, Asked, Evidence, GroupStanding
from polars_prcurve.core.judging.goal import Goal

Status: TypeAlias = Literal[
    "too little data", "no better than chance", "not met", "not told apart", "settled"
]
STATUSES: tuple[Status, ...] = get_args(Status)
"""All that a verdict may be, in the order in which they are tried."""

LEAST_OF_CLASS = 10  # examples of a class below which nothing is decided
USEFUL_LIFT = 2.0  # how many times as often as by lot alerts of a useful model are right, at least
_SURELY = 1.7
"""An interval at 95 % that is so many times as wide misses the truth in fewer than 1 of 1 000 tests."""
WIDE = 0.5  # the width from which on an interval that is not reliable says too little
_WANTS_EXAMPLES = {
    *("few positives", "few negatives", "few false alerts", "few missed positives", "few clusters"),
    *("few points", "few discordant examples", "tail not seen"),
}
"""What `why` says where more examples would help."""


@dataclass(frozen=True)
class Candidate:
    """A model in a case: a row of evidence, read."""

    model: Any  # None in a table without models
    row: Mapping[str, Any]
    goal: Goal

    @property
    def is_met(self) -> bool:
        """Whether a threshold keeps all targets; of a whole curve, whether it has a value."""
        return self.row[self.goal.merit] is not None

    @cached_property
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
        """Whether its scores are not shown to say anything of the label."""
        if self.row["above_chance"] is None:  # no test of all scores, as examples do not count alike
            return self.precision.span is None or self.precision.low <= self.row["eta"]
        if self.row["above_chance"]:
            return False
        if self.row["reliable"] is not True or self.precision.span is None or self.goal.is_of_curve:
            return True
        # A few high scores may tell what all scores together do not: their alerts are surely right more
        # often than by lot if the interval of the log odds, 1.7 times as wide, is above those of eta.
        value, low = _find_log_odds(self.precision.value), _find_log_odds(self.precision.low)
        return not value - _SURELY * (value - low) > _find_log_odds(self.row["eta"])

    def is_surely_below(self, other: Candidate) -> bool:
        """Whether fewer of its alerts are right than of another model's, where half is found."""
        mine, theirs = self.precision_at_half, other.precision_at_half
        if mine.span is None or theirs.span is None:
            return False
        # Distances add up in quadrature, as of models that were tested apart (Zou and Donner 2008).
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

    key: Mapping[str, Any]  # the values of its group, of `eta`, and of what an eta frame carries
    goal: Goal
    candidates: Sequence[Candidate]  # all models: those that meet the targets first, the best first
    n_pos: float
    n_neg: float
    per: float
    takes_apart: bool  # whether models are compared by their intervals, each of which is of one model

    @property
    def groups(self) -> dict[str, Any]:
        """The values of its group by their columns, without `eta` and what comes with it."""
        names = [*self.key]
        return {name: self.key[name] for name in names[: names.index("eta")]}

    @property
    def eta(self) -> float | None:
        """The prevalence; None if there are no examples to count it from."""
        return self.key["eta"]  # type: ignore[no-any-return]

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
        """Models that miss the targets in this test, and may be the best nevertheless."""
        # Chance decides which of two equal models keeps a target by a hair. A model that keeps none of
        # the targets by itself has no place in a ranking: its alerts at half of the positives tell.
        missed = [each for each in self.candidates if not each.is_met and each.may_be_best]
        return [
            each
            for each in (missed if self.met else [])
            if each.row.get("may_be_best") is not None or not each.is_surely_below(self.met[0])
        ]

    @property
    def rivals(self) -> list[Candidate]:
        """The models that keep all targets and may be best: all, if at each target another one is."""
        return [candidate for candidate in self.met if candidate.may_be_best] or self.met

    @property
    def width(self) -> float:
        """The width of the widest interval by which its models are judged; infinite if one has none."""
        of = self.rivals or self.candidates
        widths = (one.merit.high - one.merit.low if one.merit.span else math.inf for one in of)
        return max(widths, default=math.inf)

    def judge(self) -> tuple[Status, list[Candidate]]:
        """Return the first status that holds, and the models that it names."""
        if min(self.n_pos, self.n_neg) < LEAST_OF_CLASS:
            return "too little data", []
        if all(candidate.may_be_chance for candidate in self.candidates):
            # More data cannot help if, by all intervals at half, alerts are right less than twice as
            # often as by lot.
            ends = [candidate.precision_at_half.high for candidate in self.candidates]
            useful = USEFUL_LIFT * (self.eta or 0.0)
            rules_out_use = all(end is not None and end < useful for end in ends)
            return "no better than chance" if rules_out_use else "too little data", []
        if not self.met:
            return "not met", []
        first, *others = self.rivals
        is_alone = not others and not self.rivals_that_miss and not first.may_be_chance
        # A model is settled if no other one may be best, even where its interval is not reliable: a
        # test of the difference has a rule of its own, and a model without a false alert never has a
        # reliable interval.
        says_little = all(candidate.says_little for candidate in self.rivals)
        if is_alone and (len(self.met) > 1 or not says_little):
            return "settled", self.rivals
        if says_little:
            return "too little data", []
        return "not told apart", [*self.rivals, *self.rivals_that_miss]


@dataclass(frozen=True)
class Verdict:
    """What is settled: a status, the models that it is about, and the sentence that says it.

    Every report, page, card and terminal quotes the sentence, and claims no more than it does. So does
    a chart with `points=decision`.
    """

    status: Status
    """`"settled"`, `"not told apart"`, `"no better than chance"`, `"not met"` or `"too little data"`."""
    models: tuple[Any, ...]
    """If settled, the one to use; if not told apart, all that may be best; otherwise none. A table
    without models has none either."""
    sentence: str
    reasons: tuple[str, ...] = ()
    """What else is known: models that are left out, and what an interval or a test lacks."""
    would_settle: str = ""
    """What more data would tell, and how much of it."""

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class JudgedCase(Case):
    """A case, and what is decided there."""

    verdict: Verdict
    name: str  # its name where all cases stand below each other: `Algeria, 1 in 15`
    standing: GroupStanding | None  # how its group stands beside all others; None if that is not tested

    @property
    def status(self) -> str:
        """Its status as people read it: where its group is tested, how that stands beside all others."""
        if self.standing is None or self.verdict.status == "too little data":
            return self.verdict.status
        return "not told apart" if self.standing == "open" else f"{self.standing} than the others"

    @property
    def is_told_apart(self) -> bool:
        """Whether its group is tested, and unlike all others together."""
        return self.standing in ("worse", "better") and self.verdict.status != "too little data"


def list_cases(evidence: Evidence, asked: Asked) -> list[Case]:
    """Return the cases in the order of the evidence, or of prevalences as they were listed."""
    goal, model, keys = asked.goal, asked.model, evidence.keys
    n_groups = keys.index("eta")
    sizes: dict[tuple[Any, ...], tuple[float, float]] = {}  # of models with a sample each, the fewest
    for row in evidence.sizes.iter_rows(named=True):
        group = tuple(row[name] for name in keys[:n_groups])
        here = row["n_pos"] or 0, row["n_neg"] or 0
        n_pos, n_neg = sizes.get(group, here)
        sizes[group] = min(n_pos, here[0]), min(n_neg, here[1])
    grouped: dict[tuple[Any, ...], list[Candidate]] = {}
    for row in evidence.rows.iter_rows(named=True):
        candidate = Candidate(None if model is None else row[model], row, goal)
        grouped.setdefault(tuple(row[name] for name in keys), []).append(candidate)
    listed = asked.eta if isinstance(asked.eta, list | tuple) else ()
    places = {eta: place for place, eta in enumerate(listed) if not isinstance(eta, str)}
    return [
        Case(
            dict(zip(keys, key, strict=True)),
            goal,
            # Models that meet the targets come first, then by merit; ties stay in order.
            sorted(candidates, key=lambda of: (0, -of.value * goal.sign) if of.is_met else (1, 0.0)),
            *sizes.get(key[:n_groups], (0, 0)),
            evidence.per,
            asked.takes_apart,
        )
        for key, candidates in sorted(grouped.items(), key=lambda item: places.get(item[0][n_groups], 0))
    ]


def _find_log_odds(share: float) -> float:
    """Return the log odds of a share; of 0 and 1 they are infinite."""
    if share in (0.0, 1.0):
        return math.inf if share else -math.inf
    return math.log(share / (1 - share))
