"""The class of curve metrics, and the recipe by which one is computed.

A sweep is a chain of segments of the ROC curve, from `(recall_before, fpr_before)` to
`(recall, fpr)`, and it starts at the origin. All areas are sums over the segments on which recall
rises, so that a formula is what one segment contributes. The contributions are added as integers
(see `exact_arithmetic`), so that the order of the rows does not matter. What a formula uses more than
once is bound to a name first, in `steps`: Polars would compute it again for each use, and uses within
uses multiply.

>>> from polars_prcurve import metrics
>>> metrics.average_precision.range
(0.0, 1.0)
>>> metrics.best(metrics.f1).name
'best(f1)'
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

import polars as pl

from polars_prcurve.core.ground.argument_checks import read_numbers
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import (
    SHARE_SCALE,
    from_whole,
    to_whole,
    to_whole_shares,
)
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.metrics.curve_arrays import BLOCK, CurveArrays, read_curve, split_sum, take_at
from polars_prcurve.core.metrics.metric_base import Metric, declare
from polars_prcurve.core.metrics.point_metric import (
    Amount,
    Array,
    PointMetric,
    choose_where,
    keep_where,
    maximum,
    null_if_nan,
)
from polars_prcurve.core.metrics.segment_column_names import Segment

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

CURVE_METRICS: dict[str, CurveMetric] = {}
"""Every curve metric that a string may name, by that name, in the order of declaration."""
LEAST_ETA = 2.0**-69
"""The least prevalence at which sums of shares still differ from those at prevalence 0."""
SHORT = 0.006
"""A segment is short if it grows by at most this share of its start."""


def _read_column(column_name: str) -> property:
    """Return the property of rows that is their column of this name."""
    return property(lambda segment: segment.column(column_name))


@dataclass(frozen=True, eq=False)
class SegmentValues:
    """The rows of one curve at one prevalence, as expressions or arrays: what a term may read."""

    column: Callable[[str], Amount]
    """A function from a name to the column of that name, or to what a step has bound to it."""
    eta: Amount
    value: Callable[[PointMetric], Amount]  # a point metric at each row, null where undefined
    is_short: bool = False  # whether all segments are short; see SHORT
    has_unscored: bool = False
    """Whether a last row may be of examples that were never scored: Row.SCORE is null."""
    has_added_end: bool = False
    """Whether a point (1, 1), which no table lists, may end a curve: Segment.IS_ADDED is true there."""
    rise_factor: float = 1.0  # a factor of every rise; see `CurveMetric.prepare_term`

    recall = _read_column("recall")  # where the segment ends
    fpr = _read_column(Segment.FPR_OR_ZERO)  # where the segment ends; 0 in a curve without negatives
    recall_before = _read_column(Segment.RECALL_BEFORE)  # where the segment starts
    fpr_before = _read_column(Segment.FPR_BEFORE)
    run = _read_column(Segment.RUN)  # the step in fpr from `fpr_before` to `fpr`
    odds = _read_column(Segment.ODDS)  # the negatives per positive, (1 - eta) / eta
    # fpr / recall, which is computed once for all prevalences.
    ratio = _read_column(Segment.FPR_RECALL_RATIO)
    # The least ratio of this row and the rows of lower threshold.
    envelope = _read_column(Segment.ENVELOPE)

    @property
    def rise(self) -> Amount:
        """The step in recall from `recall_before` to `recall`, times `rise_factor`."""
        rise = self.column(Segment.RISE)
        return rise if self.rise_factor == 1 else rise * self.rise_factor

    @property
    def grows_little(self) -> Amount:
        """Whether recall and fpr both grow by at most SHORT of their start."""
        has_small_rise = self.column(Segment.RISE) <= self.recall_before * SHORT
        return has_small_rise & (self.run <= self.fpr_before * SHORT)


class CurveFacts(NamedTuple):
    """Facts about a curve as a whole, as expressions or numbers: what a `finish` may read."""

    eta: Amount
    has_positives: Amount
    has_negatives: Amount
    least_fpr: Amount  # of the rows on which recall rises
    n_pos: Amount  # None if examples have weights, or if only rates are known
    n_neg: Amount


class Average(NamedTuple):
    """A weighted mean of a metric over prevalences; the weights sum to 1."""

    metric: CurveMetric
    etas: list[float]
    weights: list[float]

    @property
    def value_factor(self) -> float:
        """A factor of the values, which keeps the sum within that of shares if they have no bound."""
        return 1.0 if all(map(math.isfinite, self.metric.range)) else 2.0**-60


Term: TypeAlias = Callable[[SegmentValues], Amount]  # from the rows to the contribution of each
Step: TypeAlias = Callable[[SegmentValues], dict[str, Amount]]
"""A function from the rows to expressions by name; later functions read `segment.column(name)`."""
Finish: TypeAlias = Callable[[Amount, CurveFacts], Amount]  # from the total of a curve to the metric


class Influence(NamedTuple):
    """The influence of an example on the estimate, up to a constant; see `uncertainty.influence`."""

    positive: Term  # of a positive that has the score of the row
    negative: Term  # of a negative that has the score of the row
    between: Term  # of a negative in the gap, with a score between those of the row before and this row
    sums: Step
    """Expressions by name, whose sums over all rows above the three terms read under that name."""
    ddof: int  # is subtracted from the size of a class before its variance is divided by it


class Fitted(NamedTuple):
    """The contribution of a node of a fitted curve; see `curves.binormal`."""

    term: Term
    steps: tuple[Step, ...] = ()  # that are made before the term


class Limits(NamedTuple):
    """The terms of the least and of the greatest area, if the order of equal scores is not known."""

    # Some order puts all negatives of a score first, and another one all positives. The ROC curve of any
    # order lies between the two: the corners below and above a segment.
    low: Term
    high: Term


class AtTarget(NamedTuple):
    """The point metric and the target of a metric that has its value on the row found for the target."""

    metric: PointMetric
    word: str  # a key of TARGET_KINDS, or "threshold"
    value: float
    per: float = 1.0  # the number of cases that `value` is among, if it is a number of alerts


Needs: TypeAlias = Literal["rises", "corners", "all"]  # see `Recipe.needs`


class Recipe(NamedTuple):
    """The steps by which a curve metric is computed: a term per row, their total, and its finish.

    *The formula.* You must give the `term`, the contribution of a row. In `finish` you declare where the
    metric is undefined, or how it follows from the total. Most metrics need no more. `total` is for a
    maximum or a minimum, and `steps` bind what a term uses more than once. `on_hull` requests other
    rows, and `reads_envelope` for one more column.

    *Guarantees.* You may guarantee something about the term. A guarantee saves rows or operations, and
    changes no value. A false guarantee does change values, and `tests/test_declared_metrics.py` finds
    it. Only one guarantee is made by default: `needs`, because an area needs just the rows on which
    recall rises.

    *More methods.* You may declare how the metric is estimated otherwise: by `influence`, with
    `helpers`, or by `at_target` it gets standard errors and intervals (confidence=), by
    `fitted` it is known of a model (smooth=), and by `limits` it is bounded (coarse=).
    """

    # The formula
    term: Term
    """The contribution of a row. Terms that are added are shares: their sum is at most 1, and they are
    cut to multiples of 2**-118."""
    finish: Finish = lambda total, curve_facts: total
    """Makes the value from the total; NaN where it is undefined."""
    total: Literal["sum", "max", "min", "first", "last"] = "sum"
    """Makes one number of the terms of a curve; "first" and "last" take that of a row that `is_met`."""
    is_met: Term | None = None
    """Whether the term of a row may be taken, maybe undefined, if `total` is "first" or "last"."""
    steps: tuple[Step, ...] = ()  # what is bound to names before the term, one step after another
    reads_envelope: bool = False  # whether the formula reads `SegmentValues.envelope`
    reads_half_positive: bool = False  # whether the formula reads the column Segment.HALF_POSITIVE
    on_hull: bool = False  # whether the rows are the vertices of the convex hull of the ROC curve
    averages: Average | None = None
    """The mean, if the metric is a weighted mean of another metric; its own term is unused then."""
    below: Literal["nothing", "zero", "ties"] = "nothing"
    """What the examples below all scores are to the metric, which no threshold flags: nothing, a row of
    value 0, or ties at one more score, as in areas over pairs."""

    # Guarantees
    needs: Needs = "rises"
    """The rows that matter: "rises" for the rows on which recall rises; "corners" for these and the rows
    before the first false positive, without which much is undefined at eta = 0; "all" for all rows."""
    by_rise: bool = False  # whether the term is `SegmentValues.rise` times what does not read it
    once: Step | None = None
    """A first step that reads neither eta nor odds, so that it is made once for all prevalences."""
    has_short_form: bool = False
    """Whether the formula is shorter, with the same values, where `SegmentValues.is_short` is true."""

    # More methods
    influence: Influence | None = None  # of an example on the estimate
    helpers: Mapping[str, CurveMetric] = {}
    """Other metrics of the same curve, by a name, that the interval is computed from. `cautious` is the
    metric with half a false positive more at every threshold, `loss` the size of that step, and
    `hopeful` its mean over the positives below half a positive more; see
    `uncertainty.analytic_intervals`. `slope` is its derivative by logit(eta)."""
    helpers_by_pairs: Mapping[str, CurveMetric] = {}
    """The same for differences of two models, with whole examples more."""
    is_compared: bool = False  # whether the metric is that of a model beside another one
    at_target: AtTarget | None = None  # the target, if the metric has its value on the row found for one
    fitted: Fitted | None = None  # the contribution of a node of a fitted curve
    limits: Limits | None = None
    """The terms of the least and the greatest value, if scores are coarse. They share `total` and
    `finish` with the metric, so `finish` must not fall while the total grows. Of a metric that takes the
    value of a row they are maxima."""

    def leave_out_unscored(self, term: pl.Expr) -> pl.Expr:
        """Return the term of a row by `below`, where its examples were never scored."""
        if self.below == "ties":
            return term
        is_below = pl.col(Segment.SCORE).is_null()
        return pl.when(is_below).then(0.0 if self.below == "zero" else None).otherwise(term)

    @property
    def is_sum_of_rises(self) -> bool:
        """Whether it is a sum over the rows on which recall rises; see `sweep.sorted_classes`."""
        is_sum = self.total == "sum" and self.at_target is None
        return is_sum and self.needs == "rises" and not self.on_hull

    def all_steps(self) -> tuple[Step, ...]:
        """Return the steps, the first of which is `once` if there is one."""
        return self.steps if self.once is None else (self.once, *self.steps)


PROMISES: dict[str, Any] = {"needs": "all", "by_rise": False, "once": None, "has_short_form": False}
"""The fields of a recipe that are guarantees, each with the value that guarantees nothing."""


@dataclass(frozen=True, eq=False)
class CurveMetric(Metric):
    """A metric of a whole curve, at a prevalence `eta`.

    Pass it, or its name, to `summary` or to the expression `.prc.summary`: undefined is null there. Or
    call it with arrays, `metrics.average_precision(recall, fpr, eta)`: undefined is NaN.

    Attributes
    ----------
    name
        The entry in the column `metric`, e.g. `average_precision` or `best(f1)`.
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

    @overload
    def __call__(self, recall: ArrayLike, fpr: ArrayLike, eta: float | None = None) -> float: ...
    @overload
    def __call__(self, recall: ArrayLike, fpr: ArrayLike, eta: ArrayLike) -> float | Array: ...

    def __call__(self, recall: ArrayLike, fpr: ArrayLike, eta: Any = None) -> float | Array:
        """Return the value of the ROC curve through points `(recall, fpr)`, at a prevalence `eta`.

        Points come in any order, and `roc_points` makes them from scores. The curve starts at (0, 0)
        and ends at (1, 1), whether these are listed or not. A class without examples has NaN at every
        point. The value is that of `summary` with `rates=`, or NaN if it is undefined. For an array of
        prevalences it is an array. `eta` may be left out if the metric does not depend on it.
        """
        if eta is None and self.depends_on_eta:
            raise PrcError(f"pass eta: {self.name} depends on the prevalence")
        etas = read_numbers("eta", 0.5 if eta is None else eta)
        if not ((etas >= 0) & (etas <= 1)).all():
            raise PrcError(f"eta must lie in [0, 1]; got {etas[~((etas >= 0) & (etas <= 1))].flat[0]}")
        curve = read_curve(recall, fpr)
        with np.errstate(all="ignore"):
            values = self.compute_values(curve, etas.ravel()).reshape(etas.shape)
        return float(values) if values.ndim == 0 else values

    def compute_values(self, curve: CurveArrays | None, etas: Array) -> Array:
        """Return the value of a curve at each prevalence; NaN for no curve."""
        if curve is None:  # no metric is defined without positives
            return np.full(len(etas), math.nan)
        recipe = self.recipe
        if (average := recipe.averages) is not None:
            values_at_nodes = average.metric.compute_values(curve, np.array(average.etas))
            weighted_values = values_at_nodes * (np.array(average.weights) * average.value_factor)
            range_low, range_high = average.metric.range
            mean_value = min(
                max(math.fsum(split_sum(weighted_values)) * (1 / average.value_factor), range_low),
                range_high,
            )
            return np.full(len(etas), math.nan if np.isnan(values_at_nodes).any() else mean_value)
        if recipe.on_hull:
            curve = curve.build_hull()
        if recipe.needs == "rises":
            curve = curve.select_rises()
        totals = self._reduce_rows(curve, etas if self.depends_on_eta else etas[:1])
        curve_facts = CurveFacts(
            etas,
            has_positives=np.bool_(True),
            has_negatives=np.bool_(curve.has_negatives),
            least_fpr=curve.least_fpr,
            n_pos=None,
            n_neg=None,
        )
        values: Array = np.broadcast_to(recipe.finish(totals, curve_facts), etas.shape)
        return values

    def _reduce_rows(self, curve: CurveArrays, etas: Array) -> Array:
        """Return the total of the terms of all rows at each prevalence."""
        recipe = self.recipe
        if recipe.total != "sum":
            reducer_by_total: dict[str, Callable[[Array], float]]
            reducer_by_total = {"max": np.fmax.reduce, "min": np.fmin.reduce}
            reducer_by_total |= {"first": take_at(0), "last": take_at(-1)}
            reduce, segments = reducer_by_total[recipe.total], self._bind_rows(curve, slice(None))
            terms_of_etas = (
                self._compute_terms(curve, segments, *eta_and_odds)
                for eta_and_odds in zip(etas, odds_against(etas), strict=True)
            )
            return np.array([reduce(terms) for terms in terms_of_etas])
        # The rows of a block are read at all prevalences while they are in the cache, and few rows at
        # several prevalences at a time.
        partial_sums_of_etas: list[list[float]] = [[] for _ in etas]
        eta_column, odds_column = etas[:, np.newaxis], odds_against(etas)[:, np.newaxis]
        for block in self._list_blocks(curve):
            segments = self._bind_rows(curve, block)
            n_etas_at_once = BLOCK // len(segments.recall)
            for start in range(0, len(etas), n_etas_at_once):
                eta_slice = slice(start, start + n_etas_at_once)
                terms = self._compute_terms(
                    curve, segments, eta_column[eta_slice], odds_column[eta_slice]
                )
                for sums_of_etas in split_sum(terms):
                    for partial_sums, partial_sum in zip(
                        partial_sums_of_etas[eta_slice], sums_of_etas.tolist(), strict=True
                    ):
                        partial_sums.append(partial_sum)
        return np.array([math.fsum(partial_sums) for partial_sums in partial_sums_of_etas])

    def _list_blocks(self, curve: CurveArrays) -> Iterator[slice | NDArray[np.intp]]:
        """Yield the places of rows that are read together, of short segments apart from others."""
        for start in range(0, len(curve.columns["recall"]), BLOCK):
            block = slice(start, start + BLOCK)
            is_short = self._read_rows(curve, block).grows_little if self.recipe.has_short_form else None
            if is_short is None or is_short.all() or not is_short.any():
                yield block
            else:
                yield from (np.flatnonzero(is_in_block) + start for is_in_block in (is_short, ~is_short))

    def _read_rows(self, curve: CurveArrays, block: slice | NDArray[np.intp]) -> SegmentValues:
        """Return rows of a curve at no prevalence, each column of which is made once."""
        array_by_column: dict[str, Array] = {}

        def read(column_name: str) -> Array:
            if column_name not in array_by_column:
                array_by_column[column_name] = curve.columns[column_name][block]
            return array_by_column[column_name]

        nan_eta = np.float64(math.nan)
        read_metric = partial(curve.compute_metric, read=read, eta=nan_eta)
        return SegmentValues(read, nan_eta, read_metric, has_added_end=True)

    def _bind_rows(self, curve: CurveArrays, block: slice | NDArray[np.intp]) -> SegmentValues:
        """Return rows of a curve with what formulas make once for all prevalences."""
        segments = self._read_rows(curve, block)
        if self.recipe.has_short_form and segments.grows_little.all():
            segments = replace(segments, is_short=True)
        if self.recipe.once is None:
            return segments
        bound_array_by_name, read = self.recipe.once(segments), segments.column
        return replace(
            segments,
            column=lambda name: bound_array_by_name[name] if name in bound_array_by_name else read(name),
        )

    def _compute_terms(self, curve: CurveArrays, segments: SegmentValues, eta: Any, odds: Any) -> Array:
        """Return the terms of rows at a prevalence, or those of a column of prevalences as lines."""
        recipe = self.recipe
        bound_array_by_name: dict[str, Array] = {Segment.ODDS: odds}

        def read(column_name: str) -> Array:
            if column_name in bound_array_by_name:
                return bound_array_by_name[column_name]
            array: Array = segments.column(column_name)
            return array

        read_metric = partial(curve.compute_metric, read=read, eta=eta)
        segments_at_eta = replace(segments, column=read, eta=eta, value=read_metric)
        for step in recipe.steps:
            bound_array_by_name |= step(segments_at_eta)
        terms, terms_shape = recipe.term(segments_at_eta), (*np.shape(eta)[:1], len(read("recall")))
        if np.shape(terms) != terms_shape:  # they do not depend on rows, or on the prevalence
            terms = np.broadcast_to(terms, terms_shape)
        terms_of_met_rows: Array = (
            terms if recipe.is_met is None else terms[recipe.is_met(segments_at_eta)]
        )
        return terms_of_met_rows

    @property
    def is_at_threshold(self) -> bool:
        """Whether it is of a given threshold, which only a table with scores has."""
        return self.recipe.at_target is not None and self.recipe.at_target.word == "threshold"

    def change_recipe(self, **changes: Any) -> CurveMetric:
        """Return a metric of the same name with these fields of its recipe changed."""
        return replace(self, recipe=self.recipe._replace(**changes))

    def build_limits(self) -> tuple[CurveMetric, CurveMetric]:
        """Return the least and the greatest value, over all orders of equal scores, as metrics."""
        if self.recipe.limits is None:
            names_with_limits = [
                name for name, metric in CURVE_METRICS.items() if metric.recipe.limits is not None
            ]
            raise PrcError(
                f"coarse=True has limits of {', '.join(names_with_limits)}, partial_roc_auc(...), "
                "partial_roc_auc_mcclish(...), precision_at_recall(...), recall_at_precision(...) and "
                f"recall_at_fpr(...); got {self.name}"
            )
        total_name = "max" if self.recipe.is_met is not None else self.recipe.total
        finish, below = self.recipe.finish, self.recipe.below
        low_metric, high_metric = (
            replace(self, recipe=Recipe(term, finish, total_name, reads_half_positive=True, below=below))
            for term in self.recipe.limits
        )
        return low_metric, high_metric

    def prepare_term(self, segment: SegmentValues) -> pl.Expr:
        """Return the term of each row, ready to be added up."""
        recipe = self.recipe
        if recipe.is_met is not None:
            # The bits of the place on the curve stand above those of the value, NaN where undefined.
            position_and_value = segment.recall + segment.fpr, recipe.term(segment).fill_null(math.nan)
            position_bits, value_bits = (
                float_expr.reinterpret(dtype=pl.UInt64).cast(pl.Int128)
                for float_expr in position_and_value
            )
            return pl.when(recipe.is_met(segment)).then(position_bits * 2**64 + value_bits)
        if recipe.total != "sum":
            value: pl.Expr = recipe.term(segment)
            return null_if_nan(value)
        if recipe.by_rise:  # scale the rise, once for all prevalences, rather than each term
            return to_whole(recipe.term(replace(segment, rise_factor=SHARE_SCALE)))
        return to_whole_shares(recipe.term(segment))

    def reduce_terms(self, terms: pl.Expr) -> pl.Expr:
        """Return the total of prepared terms, or of totals of parts of them."""
        reducer_by_total = {"sum": terms.sum, "max": terms.max, "min": terms.min}
        return (reducer_by_total | {"first": terms.min, "last": terms.max})[self.recipe.total]()

    def restore_total(self, total: pl.Expr) -> pl.Expr:
        """Return a total of prepared terms as a number."""
        if self.recipe.is_met is not None:
            value_bits = total.cast(pl.UInt64, wrap_numerical=True)
            return null_if_nan(value_bits.reinterpret(dtype=pl.Float64))
        return from_whole(total) if self.recipe.total == "sum" else total


def declare_curve(*, source: str, **value_of_field: Any) -> Callable[[Term], CurveMetric]:
    """Return a decorator that makes a term a curve metric of the same name, and declares it.

    The docstring of the function becomes that of the metric. Fields are those of the metric, such as
    `range`, or of its `Recipe`. A whole metric is:

        @declare_curve(source="W 2, step sum", finish=require_all_precisions)
        def average_precision(segment: SegmentValues) -> Amount:
            '''The sum over thresholds of precision times the rise in recall.'''
            return segment.rise * precision_at(segment.recall, segment.fpr, segment.odds)
    """

    def make(term: Term) -> CurveMetric:
        recipe_field_names = Recipe._fields
        recipe = Recipe(
            term,
            **{
                field_name: value_of_field[field_name]
                for field_name in value_of_field
                if field_name in recipe_field_names
            },
        )
        value_by_metric_field = {
            field_name: value_of_field[field_name]
            for field_name in value_of_field
            if field_name not in recipe_field_names
        }
        metric = CurveMetric(term.__name__, recipe, source=source, **value_by_metric_field)
        return declare(metric, term.__doc__, CURVE_METRICS)

    return make


def declare_like(
    metric: CurveMetric,
    *,
    source: str = "",
    range: tuple[float, float] | None = None,
    **recipe_changes: Any,
) -> Callable[[Finish], CurveMetric]:
    """Return a decorator that declares a metric like another one, with its own `finish` and fields."""

    def make(finish: Finish) -> CurveMetric:
        similar_metric = replace(
            metric.change_recipe(finish=finish, **recipe_changes),
            name=finish.__name__,
            source=source or metric.source,
            range=range or metric.range,
        )
        return declare(similar_metric, finish.__doc__, CURVE_METRICS)

    return make


# Where a metric is defined --------------------------------------------------------------------


def require_positives(value: Amount, curve_facts: CurveFacts) -> Amount:
    """Return the value, or null without positives."""
    return keep_where(curve_facts.has_positives, value)


def require_both_classes(value: Amount, curve_facts: CurveFacts) -> Amount:
    """Return the value, or null without positives or without negatives."""
    return keep_where(curve_facts.has_positives & curve_facts.has_negatives, value)


def require_one_precision(value: Amount, curve_facts: CurveFacts) -> Amount:
    """Return the value, or null where no precision is defined: negatives are needed below eta = 1."""
    # At eta = 0 one precision may be defined where others are not.
    return keep_where(
        curve_facts.has_positives & (curve_facts.has_negatives | (curve_facts.eta == 1)), value
    )


def require_all_precisions(value: Amount, curve_facts: CurveFacts) -> Amount:
    """Return the value, or null where a precision is undefined; at eta = 0 it needs false positives."""
    is_defined_at_0 = (curve_facts.eta > 0) | (curve_facts.least_fpr > 0)
    has_precision = curve_facts.has_positives & (curve_facts.has_negatives | (curve_facts.eta == 1))
    return keep_where(has_precision & is_defined_at_0, value)


# Parts of formulas ----------------------------------------------------------------------------


def odds_against(eta: Amount) -> Amount:
    """Return the negatives per positive, which are infinite only at eta = 0."""
    # The clip keeps them finite above 0, because an fpr of 0 times infinite odds would be undefined.
    return choose_where(eta == 0, math.inf, (1 - eta) / maximum(eta, 1e-300))


def precision_at(recall: Amount, fpr: Amount, odds: Amount) -> Amount:
    """Return the precision of a point of the ROC plane."""
    return recall / (recall + odds * fpr)
