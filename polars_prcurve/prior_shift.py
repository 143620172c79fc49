"""Prior shift: posteriors at another prevalence, and the prevalence that posteriors speak for.

Where the share of positives changes and nothing else, the odds of every posterior are multiplied by
one number. The order of rows stays, and with it every count; thresholds move by the same map.

Sources: Williams 2021, eq. 3; Saerens et al. 2002.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, overload

import polars as pl

from polars_prcurve import checks
from polars_prcurve.bands import Collect
from polars_prcurve.columns import SCORE
from polars_prcurve.errors import PrcError, guard, whole_number
from polars_prcurve.inputs import Input
from polars_prcurve.point_metrics import evaluate
from polars_prcurve.several import for_each

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["ESTIMATES", "estimates_table", "shift_prior"]

ESTIMATES = ("eta", "n", "iterations", "converged")
_SCALE = 2.0**1000
"""Of both classes, so that no product of tiny shares vanishes."""


# Posteriors -----------------------------------------------------------------------------------


@overload
def shift_prior(p: pl.Expr, eta_train: pl.Expr | float, eta: pl.Expr | float) -> pl.Expr: ...
@overload
def shift_prior(p: float, eta_train: float, eta: float) -> float: ...
@overload
def shift_prior(p: ArrayLike, eta_train: ArrayLike, eta: ArrayLike) -> float | NDArray[np.float64]: ...


def shift_prior(p: Any, eta_train: Any, eta: Any) -> Any:
    """A posterior, or a threshold on it, moved from the prevalence of training to another.

    `p eta (1 - eta_train) / (p eta (1 - eta_train) + (1 - p) (1 - eta) eta_train)` (Williams 2021,
    eq. 3). 0 and 1 stay. NaN stays NaN in numbers and arrays; expressions are as the method
    `.prc.shift_prior`.

    Parameters
    ----------
    p
        Posteriors in [0, 1], calibrated at `eta_train`.
    eta_train, eta
        The prevalence that they were trained for, and the one to move to, each between 0 and 1.

    Examples
    --------
    A classifier trained on as many positives as negatives is 90 % sure. Where 1 in 100 is positive:

    >>> round(shift_prior(0.9, eta_train=0.5, eta=0.01), 6)
    0.083333
    """
    given = {"eta_train": eta_train, "eta": eta}
    if any(isinstance(value, pl.Expr) for value in (p, *given.values())):
        column = p if isinstance(p, pl.Expr) else pl.lit(p)
        priors = {name: _column_or_number(name, value) for name, value in given.items()}
        return for_each(column, lambda one: _of_column(one, priors))
    given = {name: _between_0_and_1(name, value) for name, value in given.items()}
    return evaluate("shift_prior", _shifted, {"p": p, **given})


def _shifted(p: Any, eta_train: Any, eta: Any) -> Any:
    """Each step rises or falls with p, so that rounding can merge posteriors, but not swap them."""
    positive, negative = _SCALE * eta * (1 - eta_train), _SCALE * eta_train * (1 - eta)
    return 1 / (1 + (1 - p) * negative / (p * positive))


def _of_column(p: pl.Expr, priors: Mapping[str, pl.Expr | float]) -> pl.Expr:
    name, value = p.meta.output_name(), p.cast(pl.Float64)
    found = [*checks.posterior_checks(_count, f"score column {name!r}", value)]
    for argument, prior in priors.items():
        if isinstance(prior, pl.Expr):
            found += checks.inner_eta_checks(_count, f"{argument}=", prior)
    shifted: pl.Expr = _shifted(value, **priors) + guard(found)
    return shifted.alias(name)


def _count(test: pl.Expr) -> pl.Expr:
    return test.sum().cast(pl.Int64)


def _column_or_number(argument: str, value: Any) -> pl.Expr | float:
    if not isinstance(value, pl.Expr):
        return _one_between_0_and_1(argument, value)
    if value.meta.has_multiple_outputs():
        raise PrcError(f"{argument}= takes one column; got {value}")
    return value.cast(pl.Float64)


def _one_between_0_and_1(argument: str, value: Any) -> float:
    if not isinstance(value, Real):
        raise PrcError(f"{argument}= takes a number between 0 and 1; got {value!r}")
    return float(_between_0_and_1(argument, value))


def _between_0_and_1(argument: str, value: Any) -> NDArray[np.float64]:
    import numpy as np

    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise PrcError(f"{argument}= takes numbers between 0 and 1; got {value!r}") from None
    wrong = numbers[~((numbers > 0) & (numbers < 1))]
    if wrong.size > 0:
        raise PrcError(
            f"{argument}= must lie between 0 and 1, both excluded, a share and not a percentage; "
            f"got {wrong.flat[0]}"
        )
    return numbers


# The prevalence -------------------------------------------------------------------------------


def estimates_table(
    table: Input, eta_train: float, *, tolerance: float, max_iterations: int, collect: Collect
) -> pl.LazyFrame:
    """`by`, then the columns of ESTIMATES."""
    start = _one_between_0_and_1("eta_train", eta_train)
    steps = whole_number("max_iterations=", max_iterations, 1)
    if not (isinstance(tolerance, Real) and tolerance > 0):
        raise PrcError(f"tolerance= is a number above 0; got {tolerance!r}")
    equals = table.columns[SCORE].sort().rle().implode().alias(SCORE)
    query = table.grouped([equals]).filter(guard(table.tallies.checks) == 0)
    groups = collect(query.select(*table.by, SCORE), "estimate_prevalence")
    runs = groups[SCORE].list.explode(empty_as_null=False).struct.unnest()
    found = _estimates(
        runs["value"].to_numpy(),
        runs["len"].cast(pl.Float64).to_numpy(),
        groups[SCORE].list.len().cast(pl.Int64).to_numpy(),
        start=start,
        tolerance=tolerance,
        steps=steps,
    )
    columns = [pl.Series(name, column) for name, column in zip(ESTIMATES, found, strict=True)]
    return groups.lazy().select(*table.by, *columns)


def _estimates(
    p: NDArray[np.float64],
    n: NDArray[np.float64],
    sizes: NDArray[np.int64],
    *,
    start: float,
    tolerance: float,
    steps: int,
) -> tuple[NDArray[Any], ...]:
    """ESTIMATES of each group, by EM for all groups at once: eta becomes the mean posterior at eta.

    `p` are the distinct posteriors of the groups, one group after the other, `n` how often each
    occurs, and `sizes` how many there are in each group. What the posteriors have against a positive,
    apart from its prevalence, is computed once.
    """
    import numpy as np

    left = np.arange(len(sizes))
    firsts = np.cumsum(sizes) - sizes
    rows = np.add.reduceat(n, firsts) if left.size > 0 else n
    eta, iterations = np.full(len(sizes), start), np.zeros(len(sizes), dtype=np.int64)
    converged = np.zeros(len(sizes), dtype=bool)
    total = rows
    with np.errstate(divide="ignore", over="ignore"):
        against = (1 - p) / p * (start / (1 - start))
    for step in range(1, steps + 1):
        if left.size == 0:
            break
        with np.errstate(divide="ignore", over="ignore"):
            odds = np.repeat((1 - eta[left]) / eta[left], sizes)
            new = np.add.reduceat(n / (1 + against * odds), firsts) / total
        done = np.abs(new - eta[left]) < tolerance
        eta[left], iterations[left], converged[left] = new, step, done
        if done.any():
            others = np.repeat(~done, sizes)
            against, n = against[others], n[others]
            left, sizes, total = left[~done], sizes[~done], total[~done]
            firsts = np.cumsum(sizes) - sizes
    return eta, rows.astype(np.int64), iterations, converged
