"""Decisions: for each target, prevalence and group the models in order, the best first.

operating points -> rank_options    one `Decision` per group, prevalence and target
                 -> compare_leaders a test of each lead, where it is known which examples there are
                 -> find_verdict    what the test says of the order, and otherwise the intervals
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.confidence.estimates import read_estimate
from polars_prcurve.number_words import round_down
from polars_prcurve.report.report_source import ReportSource
from polars_prcurve.report.request import Goal, ReportRequest

LeadKind = Literal["certain", "likely", "open"]
"""A lead is likely if its interval leaves out 0, but is not known to hold its level."""
Verdict = Literal["chance", "alone", "equal", "apart", "open", "untested", "unknown"]
_METRICS = ("precision", "recall", "predicted_positive_rate")
_ROW = f"{c.RESERVED}row"
_LEAST_DIGITS = 6
FEW_FALSE_ALERTS = 5
"""False positives below which chance decides about precision."""


def rests_on_few_alerts(row: Mapping[str, Any]) -> bool:
    """Return whether few false positives are behind the precision of a row of counts.

    Sums of weights, such as those of a field, tell only whether there are none.
    """
    fp = row["fp"]
    return fp == 0 or (isinstance(fp, int) and fp < FEW_FALSE_ALERTS)


@dataclass(frozen=True)
class ModelChoice:
    """What one model does at a target, or that it cannot meet it."""

    model: Any
    row: Mapping[str, Any]
    """A row of `operating_points`."""
    threshold: str | None
    """The threshold in as few digits as flag the same cases; None of published rates."""

    @property
    def is_met(self) -> bool:
        """Whether a threshold meets the target."""
        return self.row["recall"] is not None and self.row["precision"] is not None

    @property
    def may_be_chance(self) -> bool:
        """Whether the scores are not shown to say anything of the label."""
        return self.row.get("above_chance") is False

    def read(self, name: str) -> float:
        """Return a number of the row."""
        return float(self.row[name])

    def read_span(self, name: str) -> tuple[float, float] | None:
        """Return the interval of a metric, or None if the row has none."""
        return read_estimate(self.row, name).span


@dataclass(frozen=True)
class LeadTest:
    """What a test says of the best model against another one: an interval of its lead."""

    kind: LeadKind
    low: float
    high: float


@dataclass(frozen=True)
class Decision:
    """One target at one prevalence in one group."""

    group: Mapping[str, Any]
    eta: float
    goal: Goal
    options: Sequence[ModelChoice]
    """The models, the best first; without models there is one."""
    n_pos: float
    n_neg: float
    is_headline: bool
    """Whether this is of the first target, at the first prevalence of its group."""
    lead_tests: Mapping[Any, LeadTest] | None = None
    """What a test says of the best model against each other one that meets the target; None if there is
    no such test."""
    is_paired: bool = False
    """Whether the test is of examples that all models scored; otherwise each model has its own."""
    at_target: Sequence[Mapping[str, Any]] = ()
    """Of published points the rows of `ranking` at the target itself, with limits; none of scores."""
    is_published: bool = False
    """Whether models are taken at published points, which may be far beyond the target."""

    @property
    def best(self) -> ModelChoice | None:
        """The best model that meets the target, or None if no model does."""
        return self.options[0] if self.options and self.options[0].is_met else None

    @property
    def met(self) -> list[ModelChoice]:
        """All models that meet the target, the best first."""
        return [option for option in self.options if option.is_met]

    @property
    def useful(self) -> list[ModelChoice]:
        """All models that meet the target and are above chance, as far as that is known."""
        return [option for option in self.met if not option.may_be_chance]

    def list_rivals(self) -> list[ModelChoice]:
        """Return the best model and those that no test, or no interval, puts behind it."""
        first, *others = self.useful
        merit, verdict = self.goal.merit, self.find_verdict()
        if verdict == "equal":
            return [option for option in self.useful if option.row[merit] == first.row[merit]]
        if verdict != "open":
            return [first]
        if self.lead_tests is None:
            return [first, *(option for option in others if is_near(first, option, merit))]
        tests = self.lead_tests
        return [first, *(option for option in others if tests[option.model].kind != "certain")]

    def find_verdict(self) -> Verdict:
        """Return what a test of the models, or else their intervals, say of the first and others."""
        if self.best is not None and self.best.may_be_chance:
            return "chance"
        if len(self.useful) < 2:
            return "alone"
        first, second = self.useful[:2]
        merit = self.goal.merit
        if first.row[merit] == second.row[merit]:
            return "equal"
        if self.lead_tests is not None:
            kinds = {self.lead_tests[option.model].kind for option in self.useful[1:]}
            return "apart" if kinds == {"certain"} else "open"
        mine = first.read_span(merit)
        theirs = [option.read_span(merit) for option in self.useful[1:]]
        if mine is None or any(span is None for span in theirs):
            return "unknown"
        # Each interval is of one model, mostly for its threshold as it stands: that none overlap does
        # not tell enough.
        return "untested" if all(span and mine[0] > span[1] for span in theirs) else "open"


def collect_points(source: ReportSource, request: ReportRequest) -> pl.DataFrame:
    """Return the operating points of all targets; empty without columns if no target is asked for."""
    if not request.goals:
        return pl.DataFrame()
    points: pl.DataFrame = source.methods.operating_points(
        request.eta.argument,
        metrics=_METRICS,
        **request.targets,
        per=request.per,
        guarantee=request.guarantee,
        confidence=request.confidence,
    )
    return points


def rank_options(
    source: ReportSource, request: ReportRequest, points: pl.DataFrame, areas: pl.DataFrame
) -> list[Decision]:
    """Return the decisions of a table of operating points: first those that head the report."""
    if points.is_empty():
        return []
    thresholds = zip(points["threshold"].to_list(), source.find_next_scores(points), strict=True)
    shown = [shorten_threshold(*pair) for pair in thresholds]
    marked = points.with_row_index(_ROW)
    headline_rows = set(request.eta.select_headline(marked)[_ROW].to_list())
    first = request.goals[0]
    decisions, sizes = [], _count_classes(source, areas)
    keys = [*source.by_columns, "eta", "criterion", "target"]
    for rows in marked.partition_by(keys, maintain_order=True):
        top = rows.row(0, named=True)
        goal = Goal(top["criterion"], top["target"], request.per)
        options = [
            ModelChoice(row.get(source.model or ""), row, shown[row[_ROW]])
            for row in rows.iter_rows(named=True)
        ]
        options.sort(key=lambda option: _rank_key(option, goal))
        is_headline = top[_ROW] in headline_rows and (goal.criterion, goal.value) == (
            first.criterion,
            first.value,
        )
        group = {name: top[name] for name in source.by_columns}
        n_pos, n_neg = sizes.get(tuple(group.values()), (0, 0))
        made = Decision(group, top["eta"], goal, options, n_pos, n_neg, is_headline)
        decisions.append(replace(made, is_published=source.is_published))
    given = request.eta.given
    asked = {eta: place for place, eta in enumerate(given)} if isinstance(given, list) else {}
    return sorted(decisions, key=lambda d: (not d.is_headline, asked.get(d.eta, 0)))


def compare_leaders(
    source: ReportSource, request: ReportRequest, decisions: Sequence[Decision]
) -> list[Decision]:
    """Return the decisions; those that head the report with a test of the best against each other model.

    Models that scored the same examples are compared on these. Intervals have the level that all pairs
    of models take (Bonferroni).
    """
    n_models = max((len(decision.met) for decision in decisions if decision.is_headline), default=0)
    table = source.find_compared(request.eta.given)
    if table is None or request.confidence is None or n_models < 2:
        return list(decisions)
    goal = request.goals[0]
    target = {goal.criterion: goal.value, **({"per": goal.per} if goal.criterion == "alerts" else {})}
    n_all = len({option.model for decision in decisions for option in decision.options})
    pairs = table.methods.compare(
        None if source.within else request.eta.exact_headline,
        confidence=1 - (1 - request.confidence) / (n_all * (n_all - 1) / 2),
        metrics=goal.merit,
        paired=table.is_paired,
        **({} if source.is_published else target),
    )
    tested = [replace(decision, is_paired=table.is_paired) for decision in decisions]
    return [
        _add_test(source, decision, pairs) if decision.is_headline else decision for decision in tested
    ]


def _add_test(source: ReportSource, decision: Decision, pairs: pl.DataFrame) -> Decision:
    """Return the decision with what the pairs of its group say of its best model."""
    best, here, keys = decision.best, tuple(decision.group.values()), source.by_columns
    if best is None:
        return decision
    if not source.within:  # a field has one prevalence
        here, keys = (*here, decision.eta), [*keys, "eta"]
    tests: dict[Any, LeadTest] = {}
    for row in pairs.iter_rows(named=True):
        if tuple(row[name] for name in keys) != here or row["resolved"] is None:
            continue
        sides = ("model_a", "model_b", row["low"] > 0), ("model_b", "model_a", row["high"] < 0)
        for side, other, ahead in sides:
            if row[side] == best.model:
                kind: LeadKind = "open" if not ahead else "certain" if row["resolved"] else "likely"
                ends = (row["low"], row["high"]) if side == "model_a" else (-row["high"], -row["low"])
                tests[row[other]] = LeadTest(kind, *ends)
    known = {option.model: tests[option.model] for option in decision.met[1:] if option.model in tests}
    if len(known) == len(decision.met) - 1:
        return replace(decision, lead_tests=known)
    return decision


def _count_classes(
    source: ReportSource, areas: pl.DataFrame
) -> dict[tuple[Any, ...], tuple[float, float]]:
    """Return the positives and negatives of each group, of models with different examples the most."""
    if not {"n_pos", "n_neg"} <= set(areas.columns):
        return {}
    return {
        tuple(row[name] for name in source.by_columns): (row["n_pos"] or 0, row["n_neg"] or 0)
        for row in areas.sort("n_pos", "n_neg", nulls_last=False).iter_rows(named=True)
    }


def _rank_key(option: ModelChoice, goal: Goal) -> tuple[int, float, float]:
    """Return what sorts models: those that meet the target and are above chance first, then by merit.

    Ties stay in order.
    """
    if not option.is_met:
        return 2, 0.0, 0.0
    other = "precision" if goal.merit == "recall" else "recall"
    return int(option.may_be_chance), -option.read(goal.merit), -option.read(other)


def is_near(first: ModelChoice, other: ModelChoice, merit: str) -> bool:
    """Return whether the intervals of two models overlap."""
    mine, theirs = first.read_span(merit), other.read_span(merit)
    return mine is not None and theirs is not None and mine[0] <= theirs[1]


def shorten_threshold(threshold: Any, next_score: Any) -> str | None:
    """Return a threshold in words: rounded down, to so many digits that no other score reaches it."""
    if threshold is None:
        return None
    if not isinstance(threshold, float) or not math.isfinite(threshold):
        return str(threshold)
    for digits in range(_LEAST_DIGITS, 18):
        rounded = round_down(threshold, digits)
        if next_score is None or float(rounded) > next_score:
            return f"{rounded.normalize():f}" if 1e-6 <= abs(rounded) < 1e15 else f"{float(rounded)!r}"
    return repr(threshold)
