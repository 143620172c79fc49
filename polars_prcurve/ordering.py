"""Sorting rows by group and then by falling score, with as little moved as can be.

A score of up to 64 bits becomes an Int64 *code* of the same order. Group, code and two low
bits are then packed into one Int128 key,

    key = group * 2**66 + falling * 4 + bits        falling = 2**63 - 1 - code

so that sorting one column sorts the table, and nothing else is moved. The bits say what the
row is: 0 a negative (or any row that brings its amounts along), 1 a positive, 2 a mark: a
threshold that was asked for, without an example, after all examples of its score.
Wider scores (Int128, UInt128, Decimal) are sorted by several columns: slower, same answer.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from polars_prcurve.columns import GROUP, LABEL, MARK, NEG, POS, RESERVED, SCORE
from polars_prcurve.exact import float_bits

__all__ = ["Ordered", "in_order", "rising_code"]

_KEY = f"{RESERVED}key"
_POSITIVE, _MARK = 1, 2
_TOP = pl.lit(2**63 - 1, dtype=pl.Int64)
_SIGN = pl.lit(-(2**63), dtype=pl.Int64)


class Ordered(NamedTuple):
    """Rows by group, then by falling score, marks last among equals."""

    frame: pl.LazyFrame
    columns: tuple[str, ...]
    """What `group` and `threshold` are read from."""
    group: pl.Expr
    threshold: pl.Expr
    """The score of the row, in its own dtype."""
    last: pl.Expr
    """No further row has this group and score."""
    pos: pl.Expr
    """What the row adds to the positives, and `neg` to the negatives."""
    neg: pl.Expr
    mark: pl.Expr
    negatives_first: bool = False
    """Each row is one example, and among equals the negatives come before the positives."""


def in_order(
    rows: pl.LazyFrame, dtype: pl.DataType, *, labelled: bool, marks: pl.LazyFrame | None = None
) -> Ordered:
    """Sort `rows` of GROUP, SCORE, and LABEL or POS and NEG; `marks` of GROUP, SCORE, POS, NEG."""
    if dtype.is_float() or dtype == pl.Boolean or dtype in _UP_TO_64_BITS:
        return _by_key(rows, dtype, labelled, marks)
    return _by_columns(rows, labelled, marks)


_UP_TO_64_BITS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)


def _by_key(
    rows: pl.LazyFrame, dtype: pl.DataType, labelled: bool, marks: pl.LazyFrame | None
) -> Ordered:
    # ~code is -1 - code, a signed number; 2**65 lifts four times it to 0 and above.
    falling = (~_code(pl.col(SCORE), dtype)).cast(pl.Int128)
    place = pl.col(GROUP).cast(pl.Int128) * 2**66 + 2**65 + falling * 4
    bit: pl.Expr = pl.col(LABEL) if labelled else pl.lit(0)
    amounts = () if labelled else (POS, NEG)
    keyed = rows.select((place + bit).alias(_KEY), *amounts)
    if marks is not None:
        keyed = pl.concat([keyed, marks.select((place + _MARK).alias(_KEY), *amounts)])
    key = pl.col(_KEY)
    bits = key.cast(pl.UInt8, wrap_numerical=True) & (_POSITIVE | _MARK)
    code = (key // 4).cast(pl.Int64, wrap_numerical=True) ^ _TOP
    return Ordered(
        keyed.sort(_KEY),
        (_KEY,),
        group=(key // 2**66).cast(pl.UInt32, wrap_numerical=True),  # in range: cheaper unchecked
        threshold=_score(code, dtype),
        last=(key ^ key.shift(-1, fill_value=2**126)) > (_POSITIVE | _MARK),
        pos=(bits == _POSITIVE).cast(pl.Int64) if labelled else pl.col(POS),
        neg=(bits == 0).cast(pl.Int64) if labelled else pl.col(NEG),
        mark=bits == _MARK,
        negatives_first=labelled and marks is None,
    )


def _by_columns(rows: pl.LazyFrame, labelled: bool, marks: pl.LazyFrame | None) -> Ordered:
    if labelled:
        positive = pl.col(LABEL)
        rows = rows.with_columns(
            positive.cast(pl.Int128).alias(POS), (~positive).cast(pl.Int128).alias(NEG)
        )
    rows = rows.select(GROUP, SCORE, POS, NEG, pl.lit(False).alias(MARK))
    if marks is not None:
        rows = pl.concat([rows, marks.select(GROUP, SCORE, POS, NEG, pl.lit(True).alias(MARK))])
    group, score = pl.col(GROUP), pl.col(SCORE)
    return Ordered(
        rows.sort(GROUP, SCORE, MARK, descending=[False, True, False]),
        (GROUP, SCORE),
        group=group,
        threshold=score,
        last=group.ne_missing(group.shift(-1)) | score.ne_missing(score.shift(-1)),
        pos=pl.col(POS),
        neg=pl.col(NEG),
        mark=pl.col(MARK),
    )


def _code(score: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """An Int64 in the order of the scores, equal where they are equal."""
    if dtype.is_float():
        return rising_code(score)
    if dtype == pl.UInt64:
        return score.reinterpret(dtype=pl.Int64) ^ _SIGN
    return score.cast(pl.Int64)


def rising_code(value: pl.Expr) -> pl.Expr:
    """An Int64 in the order of floats, equal for both zeros."""
    return _mirror(float_bits(value))  # bits of negative floats rise as the number falls


def _score(code: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """The score that has this code."""
    if dtype.is_float():
        return _mirror(code).reinterpret(dtype=pl.Float64).cast(dtype)
    if dtype == pl.UInt64:
        return (code ^ _SIGN).reinterpret(dtype=pl.UInt64)
    return code.cast(dtype)


def _mirror(bits: pl.Expr) -> pl.Expr:
    return pl.when(bits < 0).then(bits ^ _TOP).otherwise(bits)
