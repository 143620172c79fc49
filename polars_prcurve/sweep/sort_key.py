"""Rows sorted by group and falling score, mostly as one integer column that holds it all.

A score of up to 64 bits becomes an Int64 *code* of the same order. Group, code and two low
bits are packed into one Int128 key,

    key = group * 2**66 + falling * 4 + bits        falling = 2**63 - 1 - code

so that sorting one column sorts the table, and no other column is moved. Group, score and class are
decoded from the key after the sort. The bits tell what a row is:

    0    a negative, or a row with amounts in columns of its own (weights, counts)
    1    a positive
    2    a mark: a requested threshold, without an example, after all examples of its score

Wider scores (Int128, UInt128, Decimal) do not fit and are sorted by several columns: slower, but
with the same result.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.group_keys import float_bits
from polars_prcurve.inputs.score_and_rate_tables import ScoreTable

_KEY = f"{c.RESERVED}key"
_POSITIVE_BIT, _MARK_BIT = 1, 2
_INT64_MAX = pl.lit(2**63 - 1, dtype=pl.Int64)
_SIGN_BIT = pl.lit(-(2**63), dtype=pl.Int64)


class SortedRows(NamedTuple):
    """Rows by group, then by falling score, marks last among equals; and how to read a row."""

    frame: pl.LazyFrame
    columns: tuple[str, ...]  # the columns that `group` and `threshold` read
    group: pl.Expr
    threshold: pl.Expr  # the score of the row, in its own dtype
    is_last: pl.Expr  # whether the next row has another group or score
    ends_group: pl.Expr  # whether the next row has another group
    is_mark: pl.Expr
    amounts: dict[str, pl.Expr]  # what the row adds: POS and NEG, and sums of squares if there are any
    negatives_first: bool = False
    """Each row is one example, and among equal scores the negatives come before the positives."""


def sort_rows(
    rows: pl.LazyFrame,
    table: ScoreTable,
    marks: pl.LazyFrame | None,
    summed: tuple[str, ...],
    carried: tuple[str, ...],
) -> SortedRows:
    """Sort rows of GROUP, SCORE, and LABEL or POS and NEG, together with marks.

    `summed` are columns of other amounts. Marks have all columns but LABEL, with amounts of 0, and those
    `carried`, which are null in marks.
    """
    dtype, labelled, amount_names = table.score_dtype, c.LABEL in table.columns, (c.POS, c.NEG, *summed)
    if not (dtype.is_float() or dtype == pl.Boolean or dtype in _UP_TO_64_BITS):
        return _sort_by_columns(rows, labelled, marks, amount_names, carried)
    # ~code is -1 - code, without overflow. `falling` is 2**63 more and would not fit into 64 bits, so
    # the key adds the rest as 2**65: 4 * falling = 2**65 + 4 * ~code.
    inverted = (~_code_score(pl.col(c.SCORE), dtype)).cast(pl.Int128)
    place = pl.col(c.GROUP).cast(pl.Int128) * 2**66 + 2**65 + inverted * 4
    bit: pl.Expr = pl.col(c.LABEL) if labelled else pl.lit(0)
    amounts = {} if labelled else {name: pl.col(name) for name in amount_names}
    keyed = rows.select((place + bit).alias(_KEY), *amounts, *carried)
    if marks is not None:
        marked = marks.select((place + _MARK_BIT).alias(_KEY), *amounts)
        keyed = pl.concat([keyed, marked], how="diagonal")
    key = pl.col(_KEY)
    # The fill is above all keys, so the last row of the table counts as a last one.
    changes = key ^ key.shift(-1, fill_value=2**126)
    # The casts wrap around on purpose: they keep the low bits of the key and drop the group above them.
    bits = key.cast(pl.UInt8, wrap_numerical=True) & (_POSITIVE_BIT | _MARK_BIT)
    if labelled:
        amounts = {c.POS: bits == _POSITIVE_BIT, c.NEG: bits == 0}
        amounts = {name: test.cast(pl.Int64) for name, test in amounts.items()}
    return SortedRows(
        keyed.sort(_KEY),
        (_KEY,),
        # The group is in range, and a cast that may wrap around is cheaper than one that checks.
        group=(key // 2**66).cast(pl.UInt32, wrap_numerical=True),
        # In 64 bits, `falling` is the code with all bits flipped except the sign; flip them back.
        threshold=_code_score(
            (key // 4).cast(pl.Int64, wrap_numerical=True) ^ _INT64_MAX, dtype, back=True
        ),
        # Neighbours of equal group and score differ in the two low bits at most.
        is_last=changes > (_POSITIVE_BIT | _MARK_BIT),
        ends_group=changes >= 2**66,
        is_mark=bits == _MARK_BIT,
        amounts=amounts,
        negatives_first=labelled and marks is None,
    )


_UP_TO_64_BITS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)


def _sort_by_columns(
    rows: pl.LazyFrame,
    labelled: bool,
    marks: pl.LazyFrame | None,
    amounts: tuple[str, ...],
    carried: tuple[str, ...],
) -> SortedRows:
    """Sort by group, score and mark, for scores that do not fit into a key."""
    if labelled:
        of_class = {c.POS: pl.col(c.LABEL), c.NEG: ~pl.col(c.LABEL)}
        rows = rows.with_columns(test.cast(pl.Int128).alias(name) for name, test in of_class.items())
    columns = (c.GROUP, c.SCORE, *amounts)
    rows = rows.select(*columns, *carried, pl.lit(False).alias(c.MARK))
    if marks is not None:
        rows = pl.concat([rows, marks.select(*columns, pl.lit(True).alias(c.MARK))], how="diagonal")
    group, score = pl.col(c.GROUP), pl.col(c.SCORE)
    ends_group = group.ne_missing(group.shift(-1))
    return SortedRows(
        rows.sort(c.GROUP, c.SCORE, c.MARK, descending=[False, True, False]),
        (c.GROUP, c.SCORE),
        group=group,
        threshold=score,
        is_last=ends_group | score.ne_missing(score.shift(-1)),
        ends_group=ends_group,
        is_mark=pl.col(c.MARK),
        amounts={name: pl.col(name) for name in amounts},
    )


def _code_score(value: pl.Expr, dtype: pl.DataType, *, back: bool = False) -> pl.Expr:
    """Return an Int64 that rises with the score and is equal for equal scores, or the score of one."""
    if dtype.is_float():  # those of 32 bits are widened without loss
        if back:
            return _mirror_negative_bits(value).reinterpret(dtype=pl.Float64).cast(dtype)
        return rising_code(value)
    if dtype == pl.UInt64:
        # The upper half reads as negative; flipping the sign bit puts it above the lower half.
        if back:
            return (value ^ _SIGN_BIT).reinterpret(dtype=pl.UInt64)
        return value.reinterpret(dtype=pl.Int64) ^ _SIGN_BIT
    return value.cast(dtype if back else pl.Int64)


def rising_code(value: pl.Expr) -> pl.Expr:
    """Return an Int64 that rises with a float and is equal for 0.0 and -0.0."""
    return _mirror_negative_bits(float_bits(value))


def _mirror_negative_bits(bits: pl.Expr) -> pl.Expr:
    """Reverse the order of negative numbers; twice gives the bits back."""
    # Read as an integer, the bits of a positive float rise with the number, but those of a negative one
    # fall. Flipping all bits except the sign turns them round and leaves them negative.
    return pl.when(bits < 0).then(bits ^ _INT64_MAX).otherwise(bits)
