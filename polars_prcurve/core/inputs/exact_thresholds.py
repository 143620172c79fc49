"""Thresholds as users write them: any real number, for scores of any dtype.

A score reaches a threshold if it is at least as large, as real numbers are compared. The scores that
reach a number are those that reach the least value of their dtype which is not below it. So the number
is replaced by that value once, exactly, and queries compare scores with it in their own dtype.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import partial
from numbers import Rational, Real
from typing import Any, TypeAlias

import polars as pl

from polars_prcurve.core.ground.argument_checks import is_truth_value, round_to_float
from polars_prcurve.core.ground.errors import PrcError, describe_value
from polars_prcurve.core.ground.lazy_modules import fractions
from polars_prcurve.core.ground.lazy_numpy import numpy as np

RealNumber: TypeAlias = "fractions.Fraction | float"  # a real number, which a float is exactly


def read_threshold_list(
    argument: str, thresholds: Iterable[Any], dtype: pl.DataType
) -> list[RealNumber]:
    """Return thresholds as exact numbers; raise for what scores of this dtype are not compared with."""
    return [_read_number(argument, threshold, dtype) for threshold in thresholds]


def to_least_scores(real_numbers: Sequence[RealNumber | None], dtype: pl.DataType) -> pl.Series:
    """Return for each number the least value of the dtype not below it; null if all are below."""
    raise_number = _round_up_to_float if dtype.is_float() else partial(_round_up_to_integer, dtype=dtype)
    least_scores = [None if number is None else raise_number(number) for number in real_numbers]
    return _shorten(least_scores, dtype) if dtype.is_float() else pl.Series(least_scores, dtype=dtype)


_FARTHEST_EXPONENT = 400
"""The exponent of a power of ten beyond that of all scores, which have at most 308 and at least -324."""


def _read_number(argument: str, value: Any, dtype: pl.DataType) -> RealNumber:
    is_bool = is_truth_value(value)
    if is_bool and dtype == pl.Boolean:
        return fractions.Fraction(int(value))
    if is_bool or not isinstance(value, Real | Decimal):
        raise PrcError(
            f"{argument}= takes numbers to compare with scores of dtype {dtype}; got "
            f"{describe_value(value)}"
        )
    if isinstance(value, Rational):
        return fractions.Fraction(int(value.numerator), int(value.denominator))
    if math.isnan(value):
        raise PrcError(
            f"pass a number: {argument}= holds {describe_value(value)}, and no score is at or above it"
        )
    if isinstance(value, float) or math.isinf(value):
        return float(value)
    if isinstance(value, Decimal) and value and abs(value.adjusted()) > _FARTHEST_EXPONENT:
        # Its fraction could have a hundred million digits. No score lies between it and this one.
        farthest = fractions.Fraction(10) ** (
            _FARTHEST_EXPONENT if value.adjusted() > 0 else -_FARTHEST_EXPONENT
        )
        return farthest if value > 0 else -farthest
    split_ratio = getattr(value, "as_integer_ratio", None)  # floats of any width have it, and Decimals
    return (
        fractions.Fraction(float(value))
        if split_ratio is None
        else fractions.Fraction(*map(int, split_ratio()))
    )


def _round_up_to_float(number: RealNumber) -> float:
    """Return the least float that is not below a number."""
    nearest_float = round_to_float(number)
    return math.nextafter(nearest_float, math.inf) if nearest_float < number else nearest_float


def _shorten(least_floats: Sequence[float | None], dtype: pl.DataType) -> pl.Series:
    """Return for each float the least one of a dtype, maybe a shorter one, that is not below it."""
    # A shorter float is a longer float, so the least one above the least longer one is the answer.
    long_floats = np.array(least_floats, dtype=np.float64)  # None becomes NaN
    with np.errstate(over="ignore"):
        floats = long_floats.astype(str(dtype).lower())
    is_below = floats.astype(np.float64) < long_floats
    floats = np.where(is_below, np.nextafter(floats, np.inf, dtype=floats.dtype), floats)
    return pl.Series(floats + 0.0, dtype=dtype).fill_nan(None)  # 0.0 instead of -0.0


def _round_up_to_integer(number: RealNumber, dtype: pl.DataType) -> Any:
    """Return the least value of a dtype of integers that is not below a number, or None if all are."""
    lowest_integer, highest_integer, n_decimals = 0, 1, 0  # of Booleans
    if isinstance(dtype, pl.Decimal):
        highest_integer, n_decimals = 10 ** (dtype.precision or 38) - 1, dtype.scale
        lowest_integer = -highest_integer
    elif dtype.is_integer():
        n_bits = int(str(dtype).strip("UInt"))
        lowest_integer = -(2 ** (n_bits - 1)) if dtype.is_signed_integer() else 0
        highest_integer = lowest_integer + 2**n_bits - 1
    if not (isinstance(number, float) and math.isinf(number)):
        number = fractions.Fraction(number) * 10**n_decimals
    if number > highest_integer:
        return None
    least_integer = lowest_integer if number <= lowest_integer else math.ceil(number)
    if dtype == pl.Boolean:
        return bool(least_integer)
    if isinstance(dtype, pl.Decimal):  # by its digits: division would round
        return Decimal((int(least_integer < 0), tuple(map(int, str(abs(least_integer)))), -n_decimals))
    return least_integer
