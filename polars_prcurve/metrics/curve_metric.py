"""The class of curve metrics, the recipe by which one is computed, and what a recipe may read.

A sweep is a chain of segments of the ROC curve, from `(recall_before, fpr_before)` to
`(recall, fpr)`, and it starts at the origin. All areas are sums over the segments on which recall
rises, so that a formula says what one segment contributes. The contributions are added as integers
(see `exact_sums`), so that the order of the rows does not matter. What a formula uses more than once is
bound to a name first, in `steps`: Polars would compute it again for each use, and uses within uses
multiply.

>>> from polars_prcurve import metrics
>>> metrics.average_precision.range
(0.0, 1.0)
>>> metrics.best(metrics.f1).name
'best(f1)'
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve.column_names import (
    ENVELOPE,
    FPR_BEFORE,
    FPR_OR_ZERO,
    FPR_RECALL_RATIO,
    ODDS,
    RECALL_BEFORE,
    RISE,
    RUN,
)
from polars_prcurve.exact_sums import SHARE_SCALE, from_whole, to_whole, to_whole_shares
from polars_prcurve.metrics.metric import Metric, declare
from polars_prcurve.metrics.point_metric import PointMetric

CURVE_METRICS: dict[str, CurveMetric] = {}
"""Every curve metric that a string may name, by that name, in the order of declaration."""

LEAST_ETA = 2.0**-69
"""The least prevalence at which sums of shares still differ from those at prevalence 0."""

SHORT = 0.006
"""A segment is short if recall and fpr both grow along it by at most this share of their start."""


@dataclass(frozen=True)
class Rows:
    """The rows of one curve at one prevalence, as expressions: what a term may read."""

    column: Callable[[str], pl.Expr]
    """A function from a name to the column of that name, or to what a step has bound to it."""
    eta: pl.Expr
    value: Callable[[PointMetric], pl.Expr]
    """A function from a point metric to its value at each row, null where undefined."""
    short: bool = False
    """Whether all segments are short; see SHORT."""
    unit: float = 1.0
    """A factor of every rise; see `CurveMetric.prepare_term`."""

    @property
    def recall(self) -> pl.Expr:
        """Recall at this row, where the segment ends."""
        return self.column("recall")

    @property
    def fpr(self) -> pl.Expr:
        """The fpr at this row, where the segment ends; 0 in a curve without negatives."""
        return self.column(FPR_OR_ZERO)

    @property
    def recall_before(self) -> pl.Expr:
        """Recall where the segment starts."""
        return self.column(RECALL_BEFORE)

    @property
    def fpr_before(self) -> pl.Expr:
        """The fpr where the segment starts."""
        return self.column(FPR_BEFORE)

    @property
    def rise(self) -> pl.Expr:
        """The step in recall from `recall_before` to `recall`, times `unit`."""
        return self.column(RISE) if self.unit == 1 else self.column(RISE) * self.unit

    @property
    def run(self) -> pl.Expr:
        """The step in fpr from `fpr_before` to `fpr`."""
        return self.column(RUN)

    @property
    def odds(self) -> pl.Expr:
        """The negatives per positive, `(1 - eta) / eta`."""
        return self.column(ODDS)

    @property
    def ratio(self) -> pl.Expr:
        """The ratio `fpr / recall`, which is computed once for all prevalences."""
        return self.column(FPR_RECALL_RATIO)

    @property
    def envelope(self) -> pl.Expr:
        """The least `fpr / recall` of this row and the rows of lower threshold."""
        return self.column(ENVELOPE)


class CurveFacts(NamedTuple):
    """Facts about a curve as a whole, as expressions: what a `finish` may read."""

    eta: pl.Expr
    has_positives: pl.Expr
    has_negatives: pl.Expr
    least_fpr: pl.Expr
    """The least fpr of the rows on which recall rises."""
    n_pos: pl.Expr
    """The number of positives; null if examples have weights, or the table has rates only."""
    n_neg: pl.Expr
    """The number of negatives; null as `n_pos` is."""


class Average(NamedTuple):
    """A weighted mean of a metric over prevalences; the weights sum to 1."""

    of: CurveMetric
    etas: list[float]
    weights: list[float]


Term: TypeAlias = Callable[[Rows], pl.Expr]
"""A function from the rows to the contribution of each."""

Step: TypeAlias = Callable[[Rows], dict[str, pl.Expr]]
"""A function from the rows to expressions by name, which later functions read by `rows.column(name)`."""


class LeastIfPerfect(NamedTuple):
    """The least value that a perfectly separated sample allows, in two steps."""

    most_fpr: Callable[[pl.Expr, pl.Expr, float], pl.Expr]
    """A function from the numbers of positives and of negatives, and 1 - confidence, to the most fpr."""
    area: Callable[[pl.Expr, pl.Expr, pl.Expr], pl.Expr]
    """A function from the number of positives, the odds and that fpr to the value, if fpr is the same at
    every recall."""


Finish: TypeAlias = Callable[[pl.Expr, CurveFacts], pl.Expr]
"""A function from the total of a curve to the value of the metric."""


class Influence(NamedTuple):
    """The influence of an example on the estimate, up to a constant; see `uncertainty.influence`."""

    positive: Term
    """The influence of a positive that has the score of the row."""
    negative: Term
    """The influence of a negative that has the score of the row."""
    between: Term
    """The influence of a negative in the gap, with a score below that of the row before, and above that
    of this row."""
    sums: Step
    """Expressions by name, whose sums over all rows above the three terms read under that name."""
    ddof: int
    """The number that is subtracted from the size of a class before its variance is divided by it."""


class Fitted(NamedTuple):
    """The contribution of a node of a fitted curve; see `curves.binormal`."""

    term: Term
    steps: tuple[Step, ...] = ()
    """The steps that are made before the term."""


Needs: TypeAlias = Literal["rises", "corners", "all"]
"""The rows that a metric needs; see `Recipe.needs`."""


def _keep(total: pl.Expr, facts: CurveFacts) -> pl.Expr:
    """Return the total as it is."""
    return total


@dataclass(frozen=True)
class Recipe:
    """The steps by which a curve metric is computed: a term per row, their total, and its finish.

    *The formula.* You must give the `term`, the contribution of a row. In `finish` you say where the
    metric is undefined, or how it follows from the total. Most metrics need no more. `total` is for a
    maximum or a minimum, and `steps` bind what a term uses more than once. `on_hull` asks for other
    rows, and `reads_envelope` for one more column.

    *Promises.* You may promise something about the term. A promise saves rows or operations, and changes
    no value. A false promise does change values, and `tests/test_declared_metrics.py` finds it. Only one
    promise is made by default: `needs`, because an area needs just the rows on which recall rises.

    *More methods.* You may say how the metric is estimated otherwise: by `influence`, with `helpers` and
    `least_if_perfect`, or by `at_recall` it gets standard errors and intervals (confidence=), and by
    `fitted` it is known of a model (smooth=).
    """

    # The formula
    term: Term
    """The contribution of a row. Terms that are added are shares: their sum is at most 1, and they are
    cut to multiples of 2**-118."""
    finish: Finish = _keep
    """The value of the metric from the total; null where the metric is undefined."""
    total: Literal["sum", "max", "min"] = "sum"
    """The function that makes one number of the terms of a curve."""
    steps: tuple[Step, ...] = ()
    """Expressions that are bound to names before the term, one step after another."""
    reads_envelope: bool = False
    """Whether the formula reads `Rows.envelope`."""
    on_hull: bool = False
    """Whether the rows are the vertices of the convex hull of the ROC curve."""
    averages: Average | None = None
    """The mean, if the metric is a weighted mean of another metric; its own term is unused then."""

    # Promises
    needs: Needs = "rises"
    """The rows that matter: "rises" for the rows on which recall rises; "corners" for these and the rows
    before the first false positive, without which much is undefined at eta = 0; "all" for all rows."""
    ends_only: bool = False
    """Whether the formula reads neither `Rows.fpr_before` nor `Rows.run`."""
    by_rise: bool = False
    """Whether the term is `Rows.rise` times something that does not read `Rows.rise`."""
    once: Step | None = None
    """A first step that reads neither eta nor odds, so that it is made once for all prevalences."""
    has_short_form: bool = False
    """Whether the formula is shorter, with the same values, where `Rows.short` is true."""

    # More methods
    influence: Influence | None = None
    """The influence of an example on the estimate."""
    helpers: Mapping[str, CurveMetric] = field(default_factory=dict)
    """Other metrics of the same curve, by a name, that the interval is computed from. `cautious` is the
    metric with half a false positive more at every threshold; for `top` and `lost` see
    `uncertainty.analytic`."""
    least_if_perfect: LeastIfPerfect | None = None
    """The lower end of the interval where all positives score higher than all negatives."""
    at_recall: float | None = None
    """The recall, if the metric is precision at one recall."""
    fitted: Fitted | None = None
    """The contribution of a node of a fitted curve."""

    def all_steps(self) -> tuple[Step, ...]:
        """Return the steps, the first of which is `once` if there is one."""
        return self.steps if self.once is None else (self.once, *self.steps)

    def drop_promise(self, promise: str) -> Recipe:
        """Return the recipe without a promise: slower, with the same values."""
        changed: dict[str, Any] = {promise: PROMISES[promise]}
        if promise == "once":
            changed["steps"] = self.all_steps()
        return replace(self, **changed)


PROMISES: dict[str, Any] = {
    "needs": "all",
    "ends_only": False,
    "by_rise": False,
    "once": None,
    "has_short_form": False,
}
"""The fields of a recipe that are promises, each with the value that promises nothing."""


@dataclass(frozen=True, eq=False)
class CurveMetric(Metric):
    """A metric of a whole curve, at a prevalence `eta`.

    Pass it, or its name, to `summary` or to the expression `.prc.summary`. Undefined is null.

    Attributes
    ----------
    name
        What stands in the column `metric`, e.g. `average_precision` or `best(f1)`.
    range
        Lowest and highest value.
    direction
        `"maximize"`, `"minimize"` or `"none"`: what better means.
    depends_on_eta
        Whether the value changes with prevalence while the ROC curve stays.
    source
        Where the formula is from.
    """

    recipe: Recipe = field(repr=False)
    """How the library computes it."""

    def with_recipe(self, **changes: Any) -> CurveMetric:
        """Return a metric of the same name with these fields of its recipe changed."""
        return replace(self, recipe=replace(self.recipe, **changes))

    def prepare_term(self, rows: Rows) -> pl.Expr:
        """Return the term of each row, ready to be added up."""
        recipe = self.recipe
        if recipe.total != "sum":
            return recipe.term(rows)
        if recipe.by_rise:  # scale the rise, once for all prevalences, rather than each term
            return to_whole(recipe.term(replace(rows, unit=SHARE_SCALE)))
        return to_whole_shares(recipe.term(rows))

    def reduce_terms(self, terms: pl.Expr) -> pl.Expr:
        """Return the total of prepared terms, or of totals of parts of them."""
        return {"sum": terms.sum, "max": terms.max, "min": terms.min}[self.recipe.total]()

    def restore_total(self, total: pl.Expr) -> pl.Expr:
        """Return a total of prepared terms as a number."""
        return from_whole(total) if self.recipe.total == "sum" else total


def declare_curve(
    *,
    source: str,
    range: tuple[float, float] = (0.0, 1.0),
    direction: str = "maximize",
    depends_on_eta: bool = True,
    **recipe: Any,
) -> Callable[[Term], CurveMetric]:
    """Return a decorator that makes a term a curve metric of the same name, and declares it.

    The docstring of the function becomes that of the metric. Arguments that are not named here are
    fields of the `Recipe`. A whole metric is:

        @declare_curve(source="W 2, step sum", finish=require_all_precisions)
        def average_precision(rows: Rows) -> pl.Expr:
            '''The sum over thresholds of precision times the rise in recall.'''
            return rows.rise * precision_at(rows.recall, rows.fpr, rows.odds)
    """

    def make(term: Term) -> CurveMetric:
        metric = CurveMetric(
            term.__name__,
            Recipe(term, **recipe),
            range=range,
            direction=direction,
            depends_on_eta=depends_on_eta,
            source=source,
        )
        return declare(metric, term.__doc__, CURVE_METRICS)

    return make


def declare_like(
    metric: CurveMetric,
    *,
    source: str | None = None,
    range: tuple[float, float] | None = None,
    **recipe: Any,
) -> Callable[[Finish], CurveMetric]:
    """Return a decorator that declares a metric with the terms of another one and its own `finish`.

    Name and docstring are those of the function. Arguments that are not named here are fields of the
    `Recipe` that differ.
    """

    def make(finish: Finish) -> CurveMetric:
        changed = replace(
            metric,
            name=finish.__name__,
            recipe=replace(metric.recipe, finish=finish, **recipe),
            source=source or metric.source,
            range=range or metric.range,
        )
        return declare(changed, finish.__doc__, CURVE_METRICS)

    return make


# Where a metric is defined --------------------------------------------------------------------


def require_positives(value: pl.Expr, facts: CurveFacts) -> pl.Expr:
    """Return the value, or null without positives."""
    return pl.when(facts.has_positives).then(value)


def require_both_classes(value: pl.Expr, facts: CurveFacts) -> pl.Expr:
    """Return the value, or null without positives or without negatives."""
    return pl.when(facts.has_positives & facts.has_negatives).then(value)


def require_one_precision(value: pl.Expr, facts: CurveFacts) -> pl.Expr:
    """Return the value, or null where no precision is defined.

    Precision needs positives, and negatives except at eta = 1. At eta = 0 one precision may be defined
    where others are not.
    """
    known = facts.has_negatives | (facts.eta == 1)
    return pl.when(facts.has_positives & known).then(value)


def require_all_precisions(value: pl.Expr, facts: CurveFacts) -> pl.Expr:
    """Return the value, or null where a precision is undefined; at eta = 0 it needs false positives."""
    at_0 = (facts.eta > 0) | (facts.least_fpr > 0)
    known = facts.has_negatives | (facts.eta == 1)
    return pl.when(facts.has_positives & known & at_0).then(value)


# Parts of formulas ----------------------------------------------------------------------------


def odds_against(eta: pl.Expr) -> pl.Expr:
    """Return the negatives per positive, which are infinite only at eta = 0."""
    # The clip keeps them finite above 0, because an fpr of 0 times infinite odds would be undefined.
    return pl.when(eta == 0).then(math.inf).otherwise((1 - eta) / eta.clip(lower_bound=1e-300))


def precision_at(recall: pl.Expr, fpr: pl.Expr, odds: pl.Expr) -> pl.Expr:
    """Return the precision of a point of the ROC plane."""
    return recall / (recall + odds * fpr)
