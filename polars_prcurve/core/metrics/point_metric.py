"""The class of point metrics: one formula each, on four cells, for numbers, arrays and expressions.

The four cells are true positives, false negatives, false positives and true negatives in a
population of prevalence eta: `eta*recall`, `eta*(1-recall)`, `(1-eta)*fpr`, `(1-eta)*(1-fpr)`,
or counts in the same proportions. Every built-in formula is free of scale, so both give the same value.
At the prevalence of a group the formula therefore reads the plain counts: precision is
`tp / (tp + fp)` there, to the last bit.

>>> from polars_prcurve import metrics
>>> round(metrics.precision(0.6, 0.001, 0.001), 6)
0.375235
>>> metrics.f_beta(2).name
'f_beta(2)'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import polars as pl
from polars import selectors

from polars_prcurve.core.ground.argument_checks import read_number, read_numbers
from polars_prcurve.core.ground.column_checks import DtypeRule
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.query_guards import Check, guard
from polars_prcurve.core.metrics.metric_base import Declaration, Metric, declare

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Point(NamedTuple):
    """A point of the ROC plane."""

    recall: float
    fpr: float


Array: TypeAlias = "NDArray[np.float64]"  # in quotes, so that NumPy need not be imported
Amount: TypeAlias = (
    Any  # a number, a float array or a pl.Expr; formulas use the operations that all have
)
Formula: TypeAlias = Callable[[Amount, Amount, Amount, Amount], Amount]  # of tp, fn, fp and tn
Ties: TypeAlias = Callable[[Point, Point], list[float]]  # see `PointMetric.ties`
# Cells that are hits, and misses, by name.
ShareCells: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
POINT_METRICS: dict[str, PointMetric] = {}
"""Every point metric that a string may name, by that name, in the order of declaration."""


def never_tie(point_a: Point, point_b: Point) -> list[float]:
    """Return no odds, because the better one of two points is better at every prevalence."""
    return []


@dataclass(frozen=True, eq=False)
class PointMetric(Metric):
    """A metric of one operating point, from `(recall, fpr, eta)` or from four cells.

    Call it with numbers (gives a float), arrays (an array) or expressions (an expression).
    Undefined (0/0) is NaN from numbers and arrays and null from expressions and in tables.

    Attributes
    ----------
    name
        The column that holds it, e.g. `precision` or `f_beta(2)`.
    range
        Lowest and highest value.
    direction
        `"maximize"`, `"minimize"` or `"none"`: what better means.
    depends_on_eta
        Whether the value changes with prevalence while recall and fpr stay.
    source
        Where the formula is from.
    """

    formula: Formula = field(repr=False)
    _: KW_ONLY
    falls_with_fpr: bool = True
    """Whether of two points of equal recall the one of lower fpr is at least as good."""
    ties: Ties | None = field(default=None, repr=False)
    """A function from two points to the odds `eta / (1 - eta)` at which their values are equal. It
    returns no odds if the values are equal at every prevalence. None means that no equation is known:
    prevalences at which points tie are then searched for."""
    fixed_eta: float | None = None
    """The prevalence that the metric always takes, whatever eta is, as `balanced_precision` does."""
    limit_at_0: Callable[[Amount, Amount], Amount] | None = field(default=None, repr=False)
    """A function from recall and fpr to the value at eta = 0. It is needed by a formula that divides by
    `tp + fn` or by `tp`: these cells are 0 there, and do not determine recall."""
    of_rates: Callable[[Amount, Amount], Amount] | None = field(default=None, repr=False)
    """A function from recall and fpr to the value, for a metric that is one of the two. Tables hold both
    rates, from exact counts; the formula would compute them again, from counts that are rounded."""
    if_all_flagged: Callable[[Amount], Amount] | None = field(default=None, repr=False)
    """A function from eta to the value where all examples are flagged. Counts that are scaled to eta
    miss it by a bit, and a target of just that value would find no threshold."""
    share_of: ShareCells | None = None
    """The cells that are hits and those that are misses, by name, if the value follows from the share of
    hits among both: the formula then has this value with one cell of either kind. Among examples that
    were drawn together such a share is that of independent trials."""
    difference_of: tuple[str, str] | None = None
    """The cells whose shares of all examples the value rises with, and falls with, as a weighted
    difference of both. Among examples that were drawn together, shares have no error of a prevalence."""
    is_linear: bool = False
    """Whether the value is a weighted sum of recall and fpr, so that a band adds up distances of the
    value itself, whatever its range is."""

    def __post_init__(self, declaration: Declaration | None) -> None:
        super().__post_init__(declaration)
        if self.ties is None and not self.depends_on_eta:
            object.__setattr__(self, "ties", never_tie)

    @overload
    def __call__(self, recall: pl.Expr, fpr: pl.Expr, eta: pl.Expr | float | None = None) -> pl.Expr: ...
    @overload
    def __call__(self, recall: float, fpr: float, eta: float | None = None) -> float: ...
    @overload
    def __call__(
        self, recall: ArrayLike, fpr: ArrayLike, eta: ArrayLike | None = None
    ) -> float | Array: ...

    def __call__(self, recall: Any, fpr: Any, eta: Any = None) -> Any:
        """Return the value at a point `(recall, fpr)` of the ROC plane and a prevalence `eta`.

        Rates and prevalences outside [0, 1] raise, in expressions when the query runs.
        `eta` may be left out if the metric does not depend on it.
        """
        value_by_argument = {"recall": recall, "fpr": fpr, "eta": self.choose_eta(eta)}
        if value_by_argument["eta"] is None:
            raise PrcError(f"pass eta: {self.name} depends on the prevalence")
        return evaluate(self.name, self.from_rates, value_by_argument)

    def choose_eta(self, eta: Any) -> Any:
        """Return the prevalence that the formula takes where a caller passes `eta`."""
        if self.fixed_eta is not None:
            return self.fixed_eta
        return eta if self.depends_on_eta else 0.5  # any eta will do, because it cancels out

    def from_rates(
        self, recall: Amount, fpr: Amount, eta: Amount, cells: Iterable[Amount] | None = None
    ) -> Amount:
        """Return the value from rates and eta, or from cells in its proportions; undefined is NaN."""
        if self.of_rates is not None:
            return self.of_rates(recall, fpr)
        if cells is None:
            cells = eta * recall, eta * (1 - recall), (1 - eta) * fpr, (1 - eta) * (1 - fpr)
        value = self.formula(*cells)
        if self.limit_at_0 is None:
            return value
        return choose_where(eta == 0, self.limit_at_0(recall, fpr), value)

    def from_curve(self, recall: Array, fpr: Array, eta: np.float64) -> Amount:
        """Return the value at each point of a curve; fpr is NaN in a curve without negatives."""
        eta = self.choose_eta(eta)
        if eta == 1:  # there are no negatives then, and their rate does not matter
            cells = recall, 1 - recall, 0 * recall, 0 * recall
            return self.from_rates(recall, fpr, eta, cells)
        return self.from_rates(recall, fpr, eta)

    def from_columns(self, recall: pl.Expr, fpr: pl.Expr, eta: pl.Expr) -> pl.Expr:
        """Return the value from columns of rates and prevalences, null where undefined."""
        if self.fixed_eta is not None or not self.depends_on_eta:
            eta = pl.lit(self.choose_eta(None))
        value: pl.Expr = self.from_rates(recall, fpr, eta)
        return null_if_nan(value).alias(self.name)

    def from_counts(
        self,
        cells: Iterable[pl.Expr],
        population_factors: tuple[pl.Expr, pl.Expr] | None,
        rates: tuple[pl.Expr, pl.Expr],
        eta: pl.Expr,
    ) -> pl.Expr:
        """Return the value from counts, null where undefined; the factors scale both classes to eta."""
        return null_if_nan(self.from_cells(cells, population_factors, rates, eta)).alias(self.name)

    def from_cells(
        self,
        cells: Iterable[Amount],
        population_factors: tuple[Amount, Amount] | None,
        rates: tuple[Amount, Amount],
        eta: Amount,
    ) -> Amount:
        """Return the value from counts, as expressions or arrays, NaN where undefined."""
        if self.fixed_eta is not None:
            is_expr = isinstance(rates[0], pl.Expr)
            return self.from_rates(*rates, pl.lit(self.fixed_eta) if is_expr else self.fixed_eta)
        tp, fn, fp, tn = cells
        applied_factors = population_factors if self.depends_on_eta else None
        if applied_factors is not None:
            pos_factor, neg_factor = applied_factors
            tp, fn, fp, tn = tp * pos_factor, fn * pos_factor, fp * neg_factor, tn * neg_factor
        value = self.from_rates(*rates, eta, (tp, fn, fp, tn))
        if applied_factors is None or self.if_all_flagged is None:
            return value
        is_all_flagged = (rates[0] == 1) & (rates[1] == 1)
        return choose_where(is_all_flagged, self.if_all_flagged(eta), value)


def evaluate(
    column_name: str, compute_value: Callable[..., Amount], value_by_argument: dict[str, Any]
) -> Any:
    """Return a formula of shares: of numbers or arrays (undefined is NaN) or of expressions (null)."""
    if not any(isinstance(value, pl.Expr) for value in value_by_argument.values()):
        array_by_argument = {
            argument_name: read_numbers(argument_name, value)
            for argument_name, value in value_by_argument.items()
        }
        for argument_name, value in array_by_argument.items():
            is_undefined = np.isnan(value) & (argument_name != "eta")  # a rate of an empty class is NaN
            values_outside = value[~((value >= 0) & (value <= 1) | is_undefined)]
            if values_outside.size > 0:
                raise PrcError(f"{argument_name} must lie in [0, 1]; got {values_outside.flat[0]}")
        with np.errstate(all="ignore"):
            values = np.asarray(compute_value(*array_by_argument.values()), dtype=np.float64)
        return float(values) if values.ndim == 0 else values
    expr_by_argument = {
        # Not strict: until the dtype is checked, the cast may be of any dtype.
        argument_name: _RATE_DTYPES.restrict(argument_name, value).cast(pl.Float64, strict=False)
        if isinstance(value, pl.Expr)
        else pl.lit(read_number(argument_name, value, "a number"))
        for argument_name, value in value_by_argument.items()
    }
    checks = []
    for argument_name, expr in expr_by_argument.items():
        n_outside = (expr.is_nan() | ~expr.is_between(0, 1)).sum()
        checks.append(
            Check(
                n_outside > 0,
                (f"{argument_name} must lie in [0, 1]; got ", n_outside, " value(s) outside"),
            )
        )
    value_expr: pl.Expr = compute_value(*expr_by_argument.values()) + guard(checks)
    return null_if_nan(value_expr).alias(column_name)


# What expressions of rates and prevalences may be: also a column of nulls alone
_RATE_DTYPES = DtypeRule(
    selectors.numeric() | selectors.by_dtype(pl.Null), "; expected numbers in [0, 1]"
)


def declare_point(*, source: str, **value_of_field: Any) -> Callable[[Formula], PointMetric]:
    """Return a decorator that makes a formula a point metric of the same name, and declares it.

    The docstring of the function becomes that of the metric. The arguments are fields of `PointMetric`.
    You must declare where two points tie if the metric depends on eta: `ties` is `never_tie`, or an
    equation solved for the odds. You must give `limit_at_0` if the formula divides by the positives, of
    which eta = 0 leaves none, and `of_rates` if the metric is recall or fpr. A whole metric is:

        @declare_point(source="f1 / (2 - f1)", ties=_tie_f(1))
        def jaccard(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
            '''True positives among all examples that are positive or flagged.'''
            return tp / (tp + fn + fp)
    """

    def make(formula: Formula) -> PointMetric:
        metric = PointMetric(formula.__name__, formula, source=source, **value_of_field)
        return declare(metric, formula.__doc__, POINT_METRICS)

    return make


# Functions of arrays or expressions alike -------------------------------------------------------

# What formulas use beyond operators. A formula that is written over operators and these functions is
# written once, and serves tables and arrays. Undefined is NaN in both, until a table makes it null.


def choose_where(condition: Amount, value_if_met: Amount, value_if_unmet: Amount) -> Amount:
    """Return one value where the condition is met and the other one elsewhere."""
    if isinstance(condition, pl.Expr):
        return pl.when(condition).then(value_if_met).otherwise(value_if_unmet)
    return np.where(condition, value_if_met, value_if_unmet)


def null_if_nan(value: pl.Expr) -> pl.Expr:
    """Return a value that is null where it is NaN, as `fill_nan(None)` does.

    `fill_nan` holds its value three times in the plan, and this twice, so that plans are made sooner.
    """
    return pl.when(value.is_not_nan()).then(value)


def maximum(value: Amount, other_value: Amount) -> Amount:
    """Return the greater one of two values."""
    if isinstance(value, pl.Expr):
        return pl.max_horizontal(value, other_value)
    return np.maximum(value, other_value)


def minimum(value: Amount, other_value: Amount) -> Amount:
    """Return the lesser one of two values."""
    if isinstance(value, pl.Expr):
        return pl.min_horizontal(value, other_value)
    return np.minimum(value, other_value)


def log1p(value: Amount) -> Amount:
    """Return `log(1 + value)`, with no digit lost for a small value."""
    if isinstance(value, pl.Expr):
        return value.log1p()
    # That of NumPy differs from that of Polars in the last bit of one value in thirty.
    value_array = np.asarray(value, dtype=np.float64)
    return pl.Series(value_array.ravel()).log1p().to_numpy().reshape(value_array.shape)[()]


def keep_where(condition: Amount, value: Amount) -> Amount:
    """Return the value where the condition is true, and undefined elsewhere."""
    return choose_where(condition, value, float("nan"))


def atanh_rest(u: Amount, v: Amount) -> Amount:
    """Return `s = (atanh(v) / v - 1) / v**2`, where `v = u / (2 + u)` and so `2 atanh(v) = log1p(u)`."""
    # With s the mean of 1 / D is written so that nothing cancels, while a quantity D grows linearly from
    # D0 to D1, u = (D1 - D0) / D0 and v = (D1 - D0) / (D1 + D0):
    #     g1(u), the mean of D0 / D,            log1p(u) / u          = (1 - v) (1 + v^2 s)
    #     g2(u), the mean of t D0 / D for the   (u - log1p(u)) / u^2  = (1 - v) (1 - (1 - v) v s) / 2
    #     share t of the way, from 0 to 1
    # The series of atanh is s = 1/3 + v^2/5 + v^4/7 + ...
    v_squared = v * v
    series_sum = 0.0
    for order in range(21, 1, -2):  # what the series leaves out changes v s by less than 1e-16
        series_sum = 1 / order + v_squared * series_sum
    closed_form = (log1p(u) / 2 / v - 1) / v_squared
    # The difference loses digits as 1 / v**2, so the series takes over while that still costs little.
    return choose_where(abs(v) < 0.2, series_sum, closed_form)
