"""Posteriors and thresholds on them, moved from one prevalence to another.

If the fraction of positives changes and nothing else, the odds of every posterior are multiplied by one
number (Williams 2021, eq. 3). The order of the rows stays, and so do all counts. Thresholds move by the
same function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import polars as pl

from polars_prcurve.core.ground import column_checks
from polars_prcurve.core.ground.argument_checks import read_number, read_numbers
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.ground.query_guards import Check, guard
from polars_prcurve.core.ground.share_texts import read_share
from polars_prcurve.core.inputs.column_reader import describe_expression, read_expression
from polars_prcurve.core.metrics.point_metric import evaluate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

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
    (Williams 2021, eq. 3). 0 and 1 do not change. NaN stays NaN in numbers and arrays. An expression
    gives what the method `.prc.shift_prior` gives.

    Parameters
    ----------
    p
        Posteriors in [0, 1], calibrated at `eta_train`.
    eta_train, eta
        The prevalence of training, and the prevalence to move to, each between 0 and 1.

    Examples
    --------
    A classifier was trained on equal numbers of positives and negatives, and is 90% sure of an example.
    How sure should it be where 1 in 100 is positive?

    >>> round(shift_prior(0.9, eta_train=0.5, eta=0.01), 6)
    0.083333
    """
    prior_by_name = {"eta_train": eta_train, "eta": eta}
    if not any(isinstance(value, pl.Expr) for value in (p, *prior_by_name.values())):
        prior_by_name = {name: _check_priors(name, value) for name, value in prior_by_name.items()}
        return evaluate("shift_prior", _shift_posterior, {"p": p, **prior_by_name})
    if not isinstance(p, pl.Expr):
        p = pl.lit(read_number("p", p, "a number or an expression"))
    posterior_expr = read_expression(".prc", p)
    checks: list[Check] = []
    for name, prior in prior_by_name.items():
        if isinstance(prior, pl.Expr):
            prior_expr = read_expression(f"{name}=", prior)
            prior_expr = column_checks.ETA_DTYPES.restrict(f"{name}=", prior_expr)
            prior_by_name[name] = prior_expr.cast(pl.Float64)
            checks += column_checks.inner_eta_checks(_count_rows, f"{name}=", prior_by_name[name])
        else:
            prior_by_name[name] = check_prior(name, prior)
    subject_phrase = describe_expression("score", posterior_expr)
    checked_posterior_expr = column_checks.POSTERIOR_DTYPES.restrict(
        subject_phrase, posterior_expr
    ).cast(pl.Float64)
    checks = column_checks.posterior_checks(_count_rows, subject_phrase, checked_posterior_expr) + checks
    shifted_expr: pl.Expr = _shift_posterior(checked_posterior_expr, **prior_by_name) + guard(checks)
    return shifted_expr.alias(posterior_expr.meta.output_name())


def _shift_posterior(p: Any, eta_train: Any, eta: Any) -> Any:
    """Return the posterior at `eta`, without checks."""
    # Each operation rises or falls with p, so that rounding may merge posteriors, but never swap them.
    pos_odds, neg_odds = _ODDS_SCALE * eta * (1 - eta_train), _ODDS_SCALE * eta_train * (1 - eta)
    return 1 / (1 + (1 - p) * neg_odds / (p * pos_odds))


def _count_rows(test_expr: pl.Expr) -> pl.Expr:
    return test_expr.sum().cast(pl.Int64)


def check_prior(argument_name: str, value: Any) -> float:
    """Return a prevalence as a float; raise unless it is a number between 0 and 1."""
    prior = read_share(f"{argument_name}=", value, "a number between 0 and 1")
    return float(_check_priors(argument_name, prior))


def _check_priors(argument_name: str, value: Any) -> NDArray[np.float64]:
    """Return prevalences as an array; raise unless all are numbers between 0 and 1."""
    priors = read_numbers(f"{argument_name}=", value, "numbers between 0 and 1")
    wrong_priors = priors[~((priors > 0) & (priors < 1))]
    if wrong_priors.size > 0:
        raise PrcError(
            f"{argument_name}= takes a fraction above 0 and below 1, not a percentage; got "
            f"{wrong_priors.flat[0]}"
        )
    return priors
