"""Thresholds as users write them: any real number, or its text, for scores of any dtype.

A score reaches a threshold if it is at least as large, as real numbers are compared. The scores that
reach a number are those that reach the least value of their dtype which is not below it. So the number
is replaced by that value once, exactly, and queries compare scores with it in their own dtype.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from numbers import Rational, Real
from typing import Any, TypeAlias

import polars as pl

from polars_prcurve.core.ground.argument_checks import is_truth_value, round_to_float
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import fractions
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.message_text import describe_value

RealNumber: TypeAlias = "fractions.Fraction | float"  # a real number, which a float is exactly


def read_threshold_list(
    argument_name: str, thresholds: Iterable[Any], score_dtype: pl.DataType
) -> list[RealNumber]:
    """Return thresholds as exact numbers; raise for what scores of this dtype are not compared with."""
    return [_read_threshold(argument_name, threshold, score_dtype) for threshold in thresholds]


def to_least_scores(thresholds: Sequence[RealNumber | None], score_dtype: pl.DataType) -> pl.Series:
    """Return for each number the least value of the dtype not below it; null if all are below."""
    raise_threshold = (
        _round_up_to_float
        if score_dtype.is_float()
        else partial(_round_up_to_integer, score_dtype=score_dtype)
    )
    least_scores = [
        None if threshold is None else raise_threshold(threshold) for threshold in thresholds
    ]
    return (
        _round_up_to_float_dtype(least_scores, score_dtype)
        if score_dtype.is_float()
        else pl.Series(least_scores, dtype=score_dtype)
    )


_FARTHEST_EXPONENT = 400
"""The exponent of a power of ten beyond that of all scores, which have at most 308 and at least -324."""


def _read_threshold(argument_name: str, threshold: Any, score_dtype: pl.DataType) -> RealNumber:
    if isinstance(threshold, str):
        threshold = _read_text(threshold, score_dtype)
    is_bool = is_truth_value(threshold)
    if is_bool and score_dtype == pl.Boolean:
        return fractions.Fraction(int(threshold))
    if is_bool or not isinstance(threshold, Real | Decimal):
        raise PrcError(
            f"{argument_name}= takes numbers to compare with scores of dtype {score_dtype}; got "
            f"{describe_value(threshold)}"
        )
    if isinstance(threshold, Rational):
        return fractions.Fraction(int(threshold.numerator), int(threshold.denominator))
    if math.isnan(threshold):
        raise PrcError(
            f"pass a number: {argument_name}= holds {describe_value(threshold)}, and no score is at or "
            "above it"
        )
    if isinstance(threshold, float) or math.isinf(threshold):
        return float(threshold)
    if isinstance(threshold, Decimal) and threshold and abs(threshold.adjusted()) > _FARTHEST_EXPONENT:
        # Its fraction could have a hundred million digits. No score lies between it and this one.
        farthest_number = fractions.Fraction(10) ** (
            _FARTHEST_EXPONENT if threshold.adjusted() > 0 else -_FARTHEST_EXPONENT
        )
        return farthest_number if threshold > 0 else -farthest_number
    get_ratio = getattr(threshold, "as_integer_ratio", None)  # floats of any width have it, and Decimals
    return (
        fractions.Fraction(float(threshold))
        if get_ratio is None
        else fractions.Fraction(*map(int, get_ratio()))
    )


_TRUTH_VALUES = {"true": True, "false": False}


def _read_text(text: str, score_dtype: pl.DataType) -> Any:
    """Return the score of this dtype that is written so, or another number; the text if it is none."""
    # The Float32 nearest to 0.7 is below it, so that as a number 0.7 would miss the score shown as 0.7.
    if score_dtype == pl.Boolean and text.lower() in _TRUTH_VALUES:
        return _TRUTH_VALUES[text.lower()]
    text = text.replace("\N{MINUS SIGN}", "-")
    if score_dtype.is_float():
        score = pl.Series([text]).cast(score_dtype, strict=False).item()
        return text if score is None else score
    try:
        return Decimal(text)
    except InvalidOperation:
        return text


def _round_up_to_float(number: RealNumber) -> float:
    """Return the least float that is not below a number."""
    nearest_float = round_to_float(number)
    return math.nextafter(nearest_float, math.inf) if nearest_float < number else nearest_float


def _round_up_to_float_dtype(
    least_floats: Sequence[float | None], float_dtype: pl.DataType
) -> pl.Series:
    """Return for each float the least one of a dtype, maybe a shorter one, that is not below it."""
    # A shorter float is a longer float, so the least one above the least longer one is the answer.
    float64_array = np.array(least_floats, dtype=np.float64)  # None becomes NaN
    with np.errstate(over="ignore"):
        short_floats = float64_array.astype(str(float_dtype).lower())
    is_short_below = short_floats.astype(np.float64) < float64_array
    short_floats = np.where(
        is_short_below, np.nextafter(short_floats, np.inf, dtype=short_floats.dtype), short_floats
    )
    return pl.Series(short_floats + 0.0, dtype=float_dtype).fill_nan(None)  # 0.0 instead of -0.0


def _round_up_to_integer(number: RealNumber, score_dtype: pl.DataType) -> Any:
    """Return the least value of a dtype of integers that is not below a number, or None if all are."""
    lowest_integer, highest_integer, n_decimals = 0, 1, 0  # of Booleans
    if isinstance(score_dtype, pl.Decimal):
        highest_integer, n_decimals = 10 ** (score_dtype.precision or 38) - 1, score_dtype.scale
        lowest_integer = -highest_integer
    elif score_dtype.is_integer():
        n_bits = int(str(score_dtype).strip("UInt"))
        lowest_integer = -(2 ** (n_bits - 1)) if score_dtype.is_signed_integer() else 0
        highest_integer = lowest_integer + 2**n_bits - 1
    if not (isinstance(number, float) and math.isinf(number)):
        number = fractions.Fraction(number) * 10**n_decimals
    if number > highest_integer:
        return None
    least_integer = lowest_integer if number <= lowest_integer else math.ceil(number)
    if score_dtype == pl.Boolean:
        return bool(least_integer)
    if isinstance(score_dtype, pl.Decimal):  # by its digits: division would round
        return Decimal((int(least_integer < 0), tuple(map(int, str(abs(least_integer)))), -n_decimals))
    return least_integer
