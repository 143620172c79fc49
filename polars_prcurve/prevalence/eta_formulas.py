"""Formulas of the prevalence: where a metric has a given value, and what posteriors become elsewhere.

Sources: Williams 2021, eq. 2 solved for eta, and eq. 3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

import polars as pl

from polars_prcurve.argument_kinds import read_number, read_numbers
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs import value_checks
from polars_prcurve.inputs.column_reader import describe_expression, read_expression
from polars_prcurve.metrics.point_metric import choose_where, evaluate
from polars_prcurve.metrics.point_metrics import f_beta
from polars_prcurve.name_hints import hint_at_arguments
from polars_prcurve.query_guards import Check, guard

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


@overload
def eta_for_precision(recall: pl.Expr, fpr: pl.Expr, precision: pl.Expr | float) -> pl.Expr: ...
@overload
def eta_for_precision(recall: float, fpr: float, precision: float) -> float: ...
@overload
def eta_for_precision(
    recall: ArrayLike, fpr: ArrayLike, precision: ArrayLike
) -> float | NDArray[np.float64]: ...


@hint_at_arguments
def eta_for_precision(recall: Any, fpr: Any, precision: Any) -> Any:
    """Return the prevalence at which an operating point has this precision.

    The prevalence is `p fpr / (p fpr + (1 - p) recall)` for a precision p, which is Williams 2021,
    eq. 2, solved for eta. It is NaN, or null from expressions, where no prevalence or every prevalence
    gives this precision (0/0).

    Examples
    --------
    What prevalence do I need for 90 % precision, with recall 0.6 at fpr 0.001?

    >>> round(eta_for_precision(0.6, 0.001, 0.9), 6)
    0.014778
    """

    def solve(recall: Any, fpr: Any, precision: Any) -> Any:
        above = precision * fpr
        return above / (above + (1 - precision) * recall)

    return evaluate("eta_for_precision", solve, {"recall": recall, "fpr": fpr, "precision": precision})


@overload
def eta_for_f_beta(
    recall: pl.Expr, fpr: pl.Expr, value: pl.Expr | float, beta: float = 1
) -> pl.Expr: ...
@overload
def eta_for_f_beta(recall: float, fpr: float, value: float, beta: float = 1) -> float: ...
@overload
def eta_for_f_beta(
    recall: ArrayLike, fpr: ArrayLike, value: ArrayLike, beta: float = 1
) -> float | NDArray[np.float64]: ...


@hint_at_arguments
def eta_for_f_beta(recall: Any, fpr: Any, value: Any, beta: float = 1) -> Any:
    """Return the prevalence at which an operating point has this F-beta.

    It is NaN, or null from expressions, if there is no such prevalence: F-beta is greatest at
    prevalence 1, where it is `(1 + beta^2) recall / (recall + beta^2)`.

    Examples
    --------
    What prevalence do I need for an F1 of 0.5, with recall 0.6 at fpr 0.001?

    >>> round(eta_for_f_beta(0.6, 0.001, 0.5), 6)
    0.001248
    """
    f_beta(beta)  # raises if beta is not positive
    b = float(beta) ** 2

    # F-beta in shares is (1 + b) eta recall / (eta (recall + b) + (1 - eta) fpr). Solved for the odds
    # eta / (1 - eta), it is above / below.
    def solve(recall: Any, fpr: Any, value: Any) -> Any:
        above = value * fpr
        below = (1 + b) * recall - value * (recall + b)
        return choose_where(below > 0, above / (above + below), math.nan)

    return evaluate("eta_for_f_beta", solve, {"recall": recall, "fpr": fpr, "value": value})


# Posteriors and thresholds, moved to another prevalence -----------------------------------------

# If the share of positives changes and nothing else, the odds of every posterior are multiplied by one
# number. The order of the rows stays, and so do all counts. Thresholds move by the same function.

_ODDS_SCALE = 2.0**1000
"""A factor of both odds, which cancels out, and without which products of tiny shares would be 0."""


@overload
def shift_prior(p: pl.Expr, eta_train: pl.Expr | float, eta: pl.Expr | float) -> pl.Expr: ...
@overload
def shift_prior(p: float, eta_train: float, eta: float) -> float: ...
@overload
def shift_prior(p: ArrayLike, eta_train: ArrayLike, eta: ArrayLike) -> float | NDArray[np.float64]: ...


@hint_at_arguments
def shift_prior(p: Any, eta_train: Any, eta: Any) -> Any:
    """Return a posterior, or a threshold on it, moved from the prevalence of training to another.

    The result is `p eta (1 - eta_train) / (p eta (1 - eta_train) + (1 - p) (1 - eta) eta_train)`
    (Williams 2021, eq. 3). 0 and 1 stay. NaN stays NaN in numbers and arrays. An expression gives what
    the method `.prc.shift_prior` gives.

    Parameters
    ----------
    p
        Posteriors in [0, 1], calibrated at `eta_train`.
    eta_train, eta
        The prevalence of training, and the prevalence to move to, each between 0 and 1.

    Examples
    --------
    A classifier was trained on equal numbers of positives and negatives, and is 90 % sure of an example.
    How sure should it be where 1 in 100 is positive?

    >>> round(shift_prior(0.9, eta_train=0.5, eta=0.01), 6)
    0.083333
    """
    given = {"eta_train": eta_train, "eta": eta}
    if not any(isinstance(value, pl.Expr) for value in (p, *given.values())):
        given = {name: _check_priors(name, value) for name, value in given.items()}
        return evaluate("shift_prior", _shift_posterior, {"p": p, **given})
    if not isinstance(p, pl.Expr):
        p = pl.lit(read_number("p", p, "a number or an expression"))
    column = read_expression(".prc", p)
    checks: list[Check] = []
    for name, prior in given.items():
        if isinstance(prior, pl.Expr):
            named = read_expression(f"{name}=", prior)
            given[name] = value_checks.ETA_DTYPES.restrict(f"{name}=", named).cast(pl.Float64)
            checks += value_checks.inner_eta_checks(_count_rows, f"{name}=", given[name])
        else:
            given[name] = check_prior(name, prior)
    what = describe_expression("score", column)
    value = value_checks.POSTERIOR_DTYPES.restrict(what, column).cast(pl.Float64)
    checks = value_checks.posterior_checks(_count_rows, what, value) + checks
    shifted: pl.Expr = _shift_posterior(value, **given) + guard(checks)
    return shifted.alias(column.meta.output_name())


def _shift_posterior(p: Any, eta_train: Any, eta: Any) -> Any:
    """Return the posterior at `eta`, without checks."""
    # Each operation rises or falls with p, so that rounding may merge posteriors, but never swap them.
    positive, negative = _ODDS_SCALE * eta * (1 - eta_train), _ODDS_SCALE * eta_train * (1 - eta)
    return 1 / (1 + (1 - p) * negative / (p * positive))


def _count_rows(test: pl.Expr) -> pl.Expr:
    return test.sum().cast(pl.Int64)


def check_prior(argument: str, value: Any) -> float:
    """Return a prevalence as a float; raise unless it is a number between 0 and 1."""
    number = read_number(f"{argument}=", value, "a number between 0 and 1")
    return float(_check_priors(argument, number))


def _check_priors(argument: str, value: Any) -> NDArray[np.float64]:
    """Return prevalences as an array; raise unless all are numbers between 0 and 1."""
    numbers = read_numbers(f"{argument}=", value, "numbers between 0 and 1")
    wrong = numbers[~((numbers > 0) & (numbers < 1))]
    if wrong.size > 0:
        raise PrcError(
            f"{argument}= must lie between 0 and 1, both excluded, a share and not a percentage; "
            f"got {wrong.flat[0]}"
        )
    return numbers
