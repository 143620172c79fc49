"""Numbered rows, sorted by group and falling score, usually by one integer column that holds it all."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from polars_prcurve.core.ground.group_joins import float_bits, merge_zeros
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group, Row

# A score of up to 64 bits becomes an Int64 *code* of the same order. Group, code and two low bits are
# packed into one Int128 key,
#
#     key = group * 2**66 + falling * 4 + bits        falling = 2**63 - 1 - code
#
# so that sorting one column sorts the table, and no other column is moved. Group, score and class are
# decoded from the key after the sort. Of a score of up to 32 bits the code is an Int32, and the key an
# Int64, which is sorted faster: with 34 instead of 66, and 31 instead of 63. The bits mark what a row
# is:
#
#     0    a negative, or a row with amounts in columns of its own (weights, counts)
#     1    a positive
#     2    a mark: a requested threshold, without an example, after all examples of its score
#
# Wider scores (Int128, UInt128, Decimal) do not fit and are sorted by several columns: slower, but with
# the same result.

_KEY = f"{RESERVED}key"  # the column of keys
_POSITIVE_BIT = 1  # of the two low bits of a key: the row is a positive
_MARK_BIT = 2  # the row is a mark


class _KeyFormat(NamedTuple):
    """How wide codes of scores and keys are."""

    n_bits: int  # of a code
    code_dtype: pl.DataType
    key_dtype: pl.DataType
    float_dtype: pl.DataType
    unsigned_dtype: pl.DataType  # of which the upper half of all values is no code

    @property
    def group_unit(self) -> int:
        """What a key grows by from one group to the next one."""
        return 4 << self.n_bits

    @property
    def all_but_sign(self) -> pl.Expr:
        """All bits of a code but the sign."""
        return pl.lit(2 ** (self.n_bits - 1) - 1, dtype=self.code_dtype)

    @property
    def sign(self) -> pl.Expr:
        """The sign alone."""
        return pl.lit(-(2 ** (self.n_bits - 1)), dtype=self.code_dtype)


_WIDE = _KeyFormat(64, pl.Int64(), pl.Int128(), pl.Float64(), pl.UInt64())  # for any group
# For numbers of groups below 2**28: bit 62 of a key stays free, as that of a row after the last one
_NARROW = _KeyFormat(32, pl.Int32(), pl.Int64(), pl.Float32(), pl.UInt32())


def _choose_key_format(table: ScoreTable) -> _KeyFormat:
    """Return the narrow key if all scores and numbers of groups fit into it, as rows in memory show."""
    if table.score_dtype not in _UP_TO_32_BITS:
        return _WIDE
    if not table.by:
        return _NARROW
    if table.n_rows is None or table.unscored is not None or Row.CLASS in table.schema:
        return _WIDE  # rows are not known, or of several groups each
    model_dtype = table.schema.get(Row.MODEL)  # a row of a wide table is of one group for each model
    n_models = len(model_dtype.categories) if isinstance(model_dtype, pl.Enum) else 1
    return _NARROW if table.n_rows * n_models < 2**28 else _WIDE


class SortedRows(NamedTuple):
    """Rows by group, then by falling score, marks last among equals; and how to read a row."""

    frame: pl.LazyFrame
    key_columns: tuple[str, ...]  # the columns that `group_number` and `threshold` read
    group_number: pl.Expr
    threshold: pl.Expr  # the score of the row, in its own dtype
    is_last: pl.Expr  # whether the next row has another group or score
    ends_group: pl.Expr  # whether the next row has another group
    is_mark: pl.Expr
    amount_exprs: dict[str, pl.Expr]
    """What the row adds: Row.POS and Row.NEG, and sums of squares if there are any."""


def sort_rows(
    rows: pl.LazyFrame,
    table: ScoreTable,
    mark_rows: pl.LazyFrame | None,
    summed_columns: tuple[str, ...],
    carried_columns: tuple[str, ...],
) -> SortedRows:
    """Sort rows of Group.NUMBER, Row.SCORE, and Row.LABEL or Row.POS and Row.NEG, together with marks.

    `summed_columns` are those of other amounts, and `carried_columns` those that stay beside a row.
    Marks have amounts of 0, and neither a label nor what is carried.
    """
    score_dtype, has_labels = table.score_dtype, Row.LABEL in table.columns
    amount_columns = (Row.POS, Row.NEG, *summed_columns)
    if not (score_dtype.is_float() or score_dtype == pl.Boolean or score_dtype in _UP_TO_64_BITS):
        return _sort_by_columns(rows, mark_rows, amount_columns, carried_columns, has_labels=has_labels)
    key_format = _choose_key_format(table)
    score_key = _build_key(score_dtype, key_format)
    class_bit: pl.Expr = pl.col(Row.LABEL) if has_labels else pl.lit(0)
    amount_exprs = {} if has_labels else {name: pl.col(name) for name in amount_columns}
    keyed_rows = rows.select((score_key + class_bit).alias(_KEY), *amount_exprs, *carried_columns)
    if mark_rows is not None:
        keyed_marks = mark_rows.select((score_key + _MARK_BIT).alias(_KEY), *amount_exprs)
        keyed_rows = pl.concat([keyed_rows, keyed_marks], how="diagonal")
    key = pl.col(_KEY)
    # The fill is above all keys, so the last row of the table counts as a last one.
    changed_bits = key ^ key.shift(-1, fill_value=2 ** (2 * key_format.n_bits - 2))
    # The casts wrap around on purpose: they keep the low bits of the key and drop the group above them.
    low_bits = key.cast(pl.UInt8, wrap_numerical=True) & (_POSITIVE_BIT | _MARK_BIT)
    if has_labels:
        amount_exprs = {Row.POS: low_bits == _POSITIVE_BIT, Row.NEG: low_bits == 0}
        amount_exprs = {name: is_of_class.cast(pl.Int64) for name, is_of_class in amount_exprs.items()}
    return SortedRows(
        keyed_rows.sort(_KEY),
        (_KEY,),
        # The group is in range, and a cast that may wrap around is cheaper than one that checks.
        group_number=(key // key_format.group_unit).cast(pl.UInt32, wrap_numerical=True),
        # In its bits, `falling` is the code with all flipped except the sign; flip them back.
        threshold=_decode_score(
            (key // 4).cast(key_format.code_dtype, wrap_numerical=True) ^ key_format.all_but_sign,
            score_dtype,
            key_format,
        ),
        # Neighbours of equal group and score differ in the two low bits at most.
        is_last=changed_bits > (_POSITIVE_BIT | _MARK_BIT),
        ends_group=changed_bits >= key_format.group_unit,
        is_mark=low_bits == _MARK_BIT,
        amount_exprs=amount_exprs,
    )


# Integers whose code fits into 64 bits, beside floats and Booleans
_UP_TO_64_BITS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
_UP_TO_32_BITS = (pl.Float32, pl.Boolean, pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32)
"""The dtypes of scores whose code fits into 32 bits."""


def _sort_by_columns(
    rows: pl.LazyFrame,
    mark_rows: pl.LazyFrame | None,
    amount_columns: tuple[str, ...],
    carried_columns: tuple[str, ...],
    *,
    has_labels: bool,
) -> SortedRows:
    """Sort by group, score and mark, for scores that do not fit into a key."""
    if has_labels:
        class_test_exprs = {Row.POS: pl.col(Row.LABEL), Row.NEG: ~pl.col(Row.LABEL)}
        rows = rows.with_columns(
            is_of_class.cast(pl.Int128).alias(name) for name, is_of_class in class_test_exprs.items()
        )
    column_names = (Group.NUMBER, Row.SCORE, *amount_columns)
    rows = rows.select(*column_names, *carried_columns, pl.lit(False).alias(Row.MARK))
    if mark_rows is not None:
        rows = pl.concat(
            [rows, mark_rows.select(*column_names, pl.lit(True).alias(Row.MARK))], how="diagonal"
        )
    group_number, score = pl.col(Group.NUMBER), pl.col(Row.SCORE)
    ends_group = group_number.ne_missing(group_number.shift(-1))
    return SortedRows(
        rows.sort(Group.NUMBER, Row.SCORE, Row.MARK, descending=[False, True, False]),
        (Group.NUMBER, Row.SCORE),
        group_number=group_number,
        threshold=score,
        is_last=ends_group | score.ne_missing(score.shift(-1)),
        ends_group=ends_group,
        is_mark=pl.col(Row.MARK),
        amount_exprs={name: pl.col(name) for name in amount_columns},
    )


def _build_key(score_dtype: pl.DataType, key_format: _KeyFormat) -> pl.Expr:
    """Return the key of a row without its low bits."""
    # ~code is -1 - code, without overflow. `falling` is 2**63 more and would not fit into 64 bits, so
    # the key adds the rest as 2**65: 4 * falling = 2**65 + 4 * ~code.
    inverted_code = (~_code_score(pl.col(Row.SCORE), score_dtype, key_format)).cast(key_format.key_dtype)
    group_key = pl.col(Group.NUMBER).cast(key_format.key_dtype) * key_format.group_unit
    return group_key + key_format.group_unit // 2 + inverted_code * 4


def _code_score(score: pl.Expr, score_dtype: pl.DataType, key_format: _KeyFormat) -> pl.Expr:
    """Return an integer that rises with the score and is equal for equal scores."""
    if score_dtype.is_float():  # narrower ones are widened without loss
        bits = merge_zeros(score.cast(key_format.float_dtype)).reinterpret(dtype=key_format.code_dtype)
        return _mirror_negative_bits(bits, key_format)
    if score_dtype == key_format.unsigned_dtype:
        # The upper half reads as negative; flipping the sign bit puts it above the lower half.
        return score.reinterpret(dtype=key_format.code_dtype) ^ key_format.sign
    return score.cast(key_format.code_dtype)


def _decode_score(code: pl.Expr, score_dtype: pl.DataType, key_format: _KeyFormat) -> pl.Expr:
    """Return the score of a code."""
    if score_dtype.is_float():
        return (
            _mirror_negative_bits(code, key_format)
            .reinterpret(dtype=key_format.float_dtype)
            .cast(score_dtype)
        )
    if score_dtype == key_format.unsigned_dtype:
        return (code ^ key_format.sign).reinterpret(dtype=key_format.unsigned_dtype)
    return code.cast(score_dtype)


def rising_code(value: pl.Expr) -> pl.Expr:
    """Return an Int64 that rises with a float and is equal for 0.0 and -0.0."""
    return _mirror_negative_bits(float_bits(value), _WIDE)


def _mirror_negative_bits(bits: pl.Expr, key_format: _KeyFormat) -> pl.Expr:
    """Reverse the order of negative numbers; twice gives the bits back."""
    # Read as an integer, the bits of a positive float rise with the number, but those of a negative one
    # fall. Flipping all bits except the sign turns them round and leaves them negative.
    return pl.when(bits < 0).then(bits ^ key_format.all_but_sign).otherwise(bits)
