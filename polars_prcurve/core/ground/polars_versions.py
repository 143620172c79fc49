"""What Polars 1 lacks or does otherwise than Polars 2: the only module that knows of versions.

On Polars 1 no node of a plan is shared, so that what two branches read is computed twice, and the
complementary error function is made of expressions (Cody 1969), right to a few units in the last place.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

IS_POLARS_1 = not hasattr(pl.Expr, "erfc")
"""Whether the Polars that runs is of major version 1, which has no such function."""

# Coefficients of W. J. Cody, "Rational Chebyshev approximations for the error function", Mathematics of
# Computation 23 (1969), 631-637: numerator and denominator, each from the highest power.
_NEAR = (
    (1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2,
     3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3),
)  # fmt: skip  # erf(x) / x in x**2, up to |x| = 0.46875
_MIDDLE = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1,
     2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
     1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
     3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3),
)  # fmt: skip  # erfc(x) exp(x**2) in x, up to 4
_FAR = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
     1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242e0, 1.87295284992346047e0, 5.27905102951428412e-1, 6.05183413124413191e-2,
     2.33520497626869185e-3),
)  # fmt: skip  # (1 / sqrt(pi) - x erfc(x) exp(x**2)) x**2 in 1 / x**2, above 4
_ONE_BY_ROOT_OF_PI = 0.56418958354775628695  # the limit of x erfc(x) exp(x**2)


def erfc(x: pl.Expr) -> pl.Expr:
    """Return the complementary error function."""
    if not IS_POLARS_1:
        return x.erfc()
    # Each step is a field, since one expression of all would hold x hundreds of times.
    structs = pl.struct(x.alias("x"), x.abs().alias("size"), (x * x).alias("square"))
    x, size, square = map(pl.field, ("x", "size", "square"))
    # The square is split in two, the first of few binary digits, so that exp loses no digit of it.
    short_size = (size * 16).floor() / 16
    bell = (-short_size * short_size).exp() * (-(size - short_size) * (size + short_size)).exp()
    far_ratio = (_ONE_BY_ROOT_OF_PI - _divide_polynomials(_FAR, 1 / square) / square) / size
    ratio = pl.when(size <= 4).then(_divide_polynomials(_MIDDLE, size)).otherwise(far_ratio)
    tail = pl.when(size.is_infinite()).then(0.0).otherwise(bell * ratio)
    structs = structs.struct.with_fields(tail.alias("tail"))
    near_value = 1 - x * _divide_polynomials(_NEAR, square)
    far_value = pl.when(x < 0).then(2 - pl.field("tail")).otherwise(pl.field("tail"))
    value = pl.when(size <= 0.46875).then(near_value).otherwise(far_value)
    return structs.struct.with_fields(value.alias("value")).struct.field("value")


def _divide_polynomials(coefficients: Sequence[Sequence[float]], x: pl.Expr) -> pl.Expr:
    """Return the ratio of two polynomials by Horner's rule."""
    values = []
    for first, *others in coefficients:
        value = pl.lit(first)
        for coefficient in others:
            value = value * x + coefficient
        values.append(value)
    return values[0] / values[1]


def select_fields(structs: pl.Expr, *fields: pl.Expr) -> pl.Expr:
    """Return structs of these fields alone, each a named expression of the fields there are."""
    if not IS_POLARS_1:
        return structs.struct.eval(*fields)
    extended_structs = structs.struct.with_fields(*fields)
    return pl.struct(extended_structs.struct.field(field.meta.output_name()) for field in fields)


def sort_structs(fields: Sequence[pl.Expr], key: pl.Expr) -> pl.Expr:
    """Return structs of these fields, sorted by a falling key, in any context."""
    if not IS_POLARS_1:
        return pl.struct(*fields).sort_by(key, descending=True)
    # In groups Polars 1 sorts a struct of computed fields by the rows of another group.
    return pl.struct(*(field.sort_by(key, descending=True) for field in fields))


def share_result(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Return a frame that is computed once, although several branches of the query read it."""
    # Polars 1 stops at some filters above a shared node, so there each branch computes it.
    return frame if IS_POLARS_1 else frame.cache()
