"""Student's distribution in expressions: p-values and quantiles, exact to 1e-12, or in short to 1%.

With t = sqrt(f) sinh(s) the density is that of cosh(s)**-f, so that of f degrees of freedom the share
beyond t on either side is G(s) / G(0), where

    G(s) = integral over y > 0 of cosh(s + y)**-f
         = cosh(s)**-f * integral over y > 0 of (cosh(y) + tanh(s) sinh(y))**-f

The integrand falls smoothly from 1, so a sum over few nodes has all digits (Takahasi and Mori 1974).
"""

from __future__ import annotations

import math

import polars as pl

from polars_prcurve.core.ground.normal_distribution import normal_cdf
from polars_prcurve.core.ground.reserved_prefix import RESERVED

_N_NODES, _FIRST_NODE, _LAST_NODE = 56, -3.4, 4.5
"""With these the sum is exact to 1e-12 for 1 to 1e6 degrees of freedom."""
_STEP = (_LAST_NODE - _FIRST_NODE) / (_N_NODES - 1)
_NODES = [_FIRST_NODE + number * _STEP for number in range(_N_NODES)]
_HALF_NODES = [math.exp(node - math.exp(-node)) / 2 for node in _NODES]
_WEIGHTS = [
    _STEP * 2 * half_node * (1 + math.exp(-node))
    for node, half_node in zip(_NODES, _HALF_NODES, strict=True)
]
_N_NEWTON_STEPS = 3  # from 1% off, or many times too far out of 1 degree, to the last digits
_FREEDOM, _LOG_SHARE, _AT_0, _INTEGRAL, _TANH, _SCALE, _HALF_SINH, _TERMS = (
    f"{RESERVED}student_{name}"
    for name in ("f", "share", "at_0", "integral", "tanh", "scale", "half_sinh", "terms")
)
_TEMPORARY = (_FREEDOM, _AT_0, _INTEGRAL)  # columns that are there while a share is computed


def add_student_share(
    frame: pl.LazyFrame, t: pl.Expr, degrees_of_freedom: pl.Expr, share_name: str
) -> pl.LazyFrame:
    """Add the share of a Student's distribution that is at least as far from 0 as t."""
    frame = _start(frame, t.abs(), degrees_of_freedom, share_name)
    frame = _add_integral(frame, pl.col(share_name), _INTEGRAL)
    log_share = _find_log_share(pl.col(share_name))
    return frame.with_columns(log_share.exp().alias(share_name)).drop(*_TEMPORARY)


def add_student_quantile(
    frame: pl.LazyFrame, z: pl.Expr, degrees_of_freedom: pl.Expr, quantile_name: str
) -> pl.LazyFrame:
    """Add the t as far out in Student's distribution as z, above 0, is in the normal one."""
    t, freedom_expr = pl.col(quantile_name), pl.col(_FREEDOM)
    frame = frame.with_columns((normal_cdf(-z) * 2).log().alias(_LOG_SHARE))
    frame = _start(
        frame,
        student_quantile(z, degrees_of_freedom.cast(pl.Float64)),
        degrees_of_freedom,
        quantile_name,
    )
    # Newton's method for the log of the share as a function of the log of t, which is nearly a line for
    # few degrees of freedom.
    for _ in range(_N_NEWTON_STEPS):
        frame = _add_integral(frame, t, _INTEGRAL)
        log_share_excess = _find_log_share(t) - pl.col(_LOG_SHARE)
        log_step = log_share_excess * pl.col(_INTEGRAL) * (freedom_expr + t * t).sqrt() / t
        frame = frame.with_columns((t * log_step.exp()).alias(quantile_name))
    return frame.drop(*_TEMPORARY, _LOG_SHARE)


def _start(frame: pl.LazyFrame, t: pl.Expr, degrees_of_freedom: pl.Expr, t_column: str) -> pl.LazyFrame:
    """Add t under a name, the degrees of freedom, and the integral from 0."""
    frame = frame.with_columns(t.alias(t_column), degrees_of_freedom.cast(pl.Float64).alias(_FREEDOM))
    return _add_integral(frame, pl.col(_FREEDOM) * 0.0, _AT_0)


def _find_log_share(t: pl.Expr) -> pl.Expr:
    freedom_expr = pl.col(_FREEDOM)
    return (
        freedom_expr * -0.5 * (t * t / freedom_expr).log1p() + (pl.col(_INTEGRAL) / pl.col(_AT_0)).log()
    )


def _add_integral(frame: pl.LazyFrame, t: pl.Expr, integral_column: str) -> pl.LazyFrame:
    """Add the integral over y > 0 of (cosh(y) + tanh(s) sinh(y))**-f, for t = sqrt(f) sinh(s)."""
    freedom_expr, tanh_s, y_scale = pl.col(_FREEDOM), pl.col(_TANH), pl.col(_SCALE)
    frame = frame.with_columns((t / (freedom_expr + t * t).sqrt()).alias(_TANH))
    # Within this scale of y the integrand falls.
    frame = frame.with_columns((1 / (freedom_expr * tanh_s + freedom_expr.sqrt())).alias(_SCALE))
    # A list of all nodes goes through each step: an expression for each takes Polars long to plan.
    half_sinh, terms, node = pl.col(_HALF_SINH), pl.col(_TERMS), pl.element()
    half_nodes, weights = (pl.lit(pl.Series([values])).first() for values in (_HALF_NODES, _WEIGHTS))
    frame = frame.with_columns((half_nodes * y_scale).list.eval(node.sinh()).alias(_HALF_SINH))
    half_cosh = half_sinh.list.eval((1 + node * node).sqrt())
    # cosh(y) + tanh(s) sinh(y) - 1, without loss of digits for small y
    base_less_1 = half_sinh * 2 * (half_sinh + half_cosh * tanh_s)
    exponents = base_less_1.list.eval(node.log1p()) * (freedom_expr * -1.0)
    frame = frame.with_columns((exponents.list.eval(node.exp()) * weights).alias(_TERMS))
    integral = (y_scale * terms.list.sum()).alias(integral_column)
    return frame.with_columns(integral).drop(_TANH, _SCALE, _HALF_SINH, _TERMS)


# Good to 1% from 4 degrees of freedom on, without steps ----------------------------------------


def student_quantile(z: float | pl.Expr, degrees_of_freedom: pl.Expr) -> pl.Expr:
    """Return the deviate as far out in Student's distribution as z is in the normal one."""
    # The inverse of `normal_from_student`. From 4 degrees of freedom on it is good to 1%.
    degrees_of_freedom = degrees_of_freedom.clip(lower_bound=1.0)
    # No division by z: of a column of one row Polars divides, and otherwise it takes the reciprocal.
    scaled_deviate = z / _shrink_deviation(degrees_of_freedom)
    exp_excess = (scaled_deviate * scaled_deviate / degrees_of_freedom).exp() - 1
    return exp_excess.sqrt() * degrees_of_freedom.sqrt()


def normal_from_student(t: pl.Expr, degrees_of_freedom: pl.Expr) -> pl.Expr:
    """Return the normal deviate as far out as t is in Student's distribution (Wallace 1959)."""
    degrees_of_freedom = degrees_of_freedom.clip(lower_bound=1.0)
    # sqrt(f ln(1 + t**2 / f)) (8 f + 1) / (8 f + 3)
    squared_deviate = degrees_of_freedom * (t * t / degrees_of_freedom).log1p()
    normal_deviate = squared_deviate.sqrt() * _shrink_deviation(degrees_of_freedom)
    return pl.when(t < 0).then(-normal_deviate).otherwise(normal_deviate)


def _shrink_deviation(degrees_of_freedom: pl.Expr) -> pl.Expr:
    return (8 * degrees_of_freedom + 1) / (8 * degrees_of_freedom + 3)
