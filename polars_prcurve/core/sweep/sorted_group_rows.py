"""Groups and the rows in them: one row per group, and the rows to count, by group and falling score.

    score table -> groups           number, totals (or exponents of weights) and tallies
                -> checked groups   a broken check stops the query
                -> numbered rows    amounts as integers that add up exactly
                -> sorted rows      usually by one integer column that holds it all

The number of a group, Group.NUMBER, rises in the order of the `by` columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize
from polars_prcurve.core.ground import exact_arithmetic
from polars_prcurve.core.ground.group_keys import float_bits, join_groups, merge_zeros
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.value_checks import Check, stop_if_broken
from polars_prcurve.core.inputs.resolved_tables import (
    TOTALS,
    RateTable,
    ResolvedTable,
    ScoreTable,
    class_amounts,
)
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.sweep.sweep_column_names import GroupSums, Sweep


class SumColumns(NamedTuple):
    """The columns of one sum of what rows add: of a class, or of the squares of its weights."""

    amount: str  # of a row
    total: str  # of a group
    before: str  # of all groups before
    cum: str
    """Of the rows at this score and above, and of all groups before; `above` is without this score."""
    above: str
    exponent: str  # weights are added as integers, times this power of two

    @property
    def sum_so_far(self) -> pl.Expr:
        """What the rows of the group add at this score and above."""
        # Running sums go on from one group to the next; subtract the totals of earlier groups.
        return pl.col(self.cum) - pl.col(self.before)

    @property
    def sum_above(self) -> pl.Expr:
        """What the rows of the group add above this score."""
        return pl.col(self.above) - pl.col(self.before)

    @property
    def sum_at_score(self) -> pl.Expr:
        """What the rows at this score add."""
        return pl.col(self.cum) - pl.col(self.above)

    def name_squares(self, amount_column: str) -> SumColumns:
        """Return the columns of the sum of squared weights, of which a row has `amount_column`."""
        total_column, before_column, cum_column, above_column = (f"{name}_squares" for name in self[1:5])
        return SumColumns(
            amount_column, total_column, before_column, cum_column, above_column, self.exponent
        )


CLASS_SUMS = (
    SumColumns(
        amount=Row.POS,
        total=Group.N_POS,
        before=GroupSums.POS_BEFORE_GROUP,
        cum=Sweep.CUM_POS,
        above=Sweep.CUM_POS_ABOVE,
        exponent=Group.POS_EXPONENT,
    ),
    SumColumns(
        amount=Row.NEG,
        total=Group.N_NEG,
        before=GroupSums.NEG_BEFORE_GROUP,
        cum=Sweep.CUM_NEG,
        above=Sweep.CUM_NEG_ABOVE,
        exponent=Group.NEG_EXPONENT,
    ),
)
"""The sums of the positives and of the negatives, which every sweep has."""
SQUARE_SUMS = tuple(
    class_sums.name_squares(amount)
    for class_sums, amount in zip(CLASS_SUMS, (Row.POS_SQUARES, Row.NEG_SQUARES), strict=True)
)
"""Those of the squares of their weights, in the same order, if errors of weighted rows are requested."""


class SweepTables(NamedTuple):
    """The two tables of a sweep: `rows`, one per threshold, and `groups`, one per group."""

    rows: pl.LazyFrame
    """By NUMBER and falling score: SCORE, CUM_POS, CUM_NEG, CUM_POS_ABOVE, CUM_NEG_ABOVE. In published
    rates, by NUMBER and rising fpr: the rates, RECALL_BEFORE, FPR_BEFORE, and recall as CUM_POS."""
    groups: pl.LazyFrame
    """By NUMBER: the `by` columns and WEIGHT_UNIT; with scores also POS_BEFORE_GROUP, NEG_BEFORE_GROUP,
    and Group.N_POS and N_NEG, which are null if zero; in published points they are null if not known."""
    has_square_shares: bool = False
    """Whether rows have what errors of weighted examples are computed from; see `effective_weights`."""


def class_sizes(table: ResolvedTable) -> tuple[pl.Expr, pl.Expr]:
    """Positives and negatives of a group as floats, times WEIGHT_UNIT; null in rates of unknown size."""
    n_pos, n_neg = (
        count.cast(pl.Float64) * pl.col(EffectiveSize.WEIGHT_UNIT) for count in class_counts(table)
    )
    return n_pos, n_neg


def class_counts(table: ResolvedTable) -> tuple[pl.Expr, pl.Expr]:
    """Positives and negatives of a group as users see them; null in rates of unknown size."""
    n_pos, n_neg = pl.col(Group.N_POS), pl.col(Group.N_NEG)
    if isinstance(table, ScoreTable):
        n_pos, n_neg = (n.fill_null(0) for n in (n_pos, n_neg))
        n_pos, n_neg = to_counts(table, {"n_pos": n_pos}, {"n_neg": n_neg})
    elif table.count_dtype is not None:
        n_pos, n_neg = n_pos.cast(table.count_dtype), n_neg.cast(table.count_dtype)
    else:
        n_pos = n_neg = pl.lit(None, dtype=pl.Int64)
    return n_pos.alias("n_pos"), n_neg.alias("n_neg")


def has_class(table: ResolvedTable, total_column: str) -> pl.Expr:
    """Return whether a group has examples of a class with this total; rates imply that it has some."""
    if isinstance(table, RateTable):
        return (pl.col(total_column) > 0).fill_null(True) if table.has_counts else pl.lit(True)
    return pl.col(total_column).is_not_null()


def lacks_size() -> pl.Expr:
    """Return whether the size of a class is unknown, as that of published rates may be."""
    return pl.any_horizontal(pl.col(Group.N_POS, Group.N_NEG).is_null())


def class_totals(table: ScoreTable, *, with_squares: bool) -> list[pl.Expr]:
    """Return what is aggregated per group: totals, also of squares, or the exponents of weights."""
    amount_exprs = class_amounts(table.columns)
    if unscored := table.unscored:
        is_unscored = table.columns[Row.SCORE].is_null() if unscored.has_rows else pl.lit(False)
        total_exprs = []
        amounts_and_unscored = zip(amount_exprs.values(), (unscored.n_pos, unscored.n_neg), strict=True)
        for amount, n_unscored in amounts_and_unscored:
            unscored_amount = pl.when(is_unscored).then(amount).otherwise(0)
            total_exprs += [amount.sum() + n_unscored, unscored_amount.sum() + n_unscored]
        return [
            total.alias(total_column) for total, total_column in zip(total_exprs, TOTALS, strict=True)
        ]
    if Row.LABEL in table.columns:
        n_pos = amount_exprs[Row.POS].sum()
        return [n_pos.alias(Group.N_POS), (pl.len().cast(pl.Int64) - n_pos).alias(Group.N_NEG)]
    if table.has_float_sums:  # only the largest weight of a group sets the scale of its integers
        return [
            exact_arithmetic.weight_exponent(amount_exprs[sum_columns.amount].max()).alias(
                sum_columns.exponent
            )
            for sum_columns in CLASS_SUMS
        ]
    amount_by_total_column = {
        sum_columns.total: amount_exprs[sum_columns.amount] for sum_columns in CLASS_SUMS
    }
    for sum_columns, square_columns in zip(
        CLASS_SUMS, SQUARE_SUMS if with_squares else (), strict=False
    ):
        amount_by_total_column[square_columns.total] = exact_arithmetic.square_integer(
            amount_exprs[sum_columns.amount], is_scaled=False
        )
    return [amount.sum().alias(total_column) for total_column, amount in amount_by_total_column.items()]


def build_groups(table: ResolvedTable, aggregate_exprs: Iterable[pl.Expr]) -> pl.LazyFrame:
    """Return one row per group in the order of `by`, with Group.NUMBER, the aggregates and tallies."""
    groups = table.aggregate_groups(aggregate_exprs).with_row_index(Group.NUMBER)
    return groups.with_columns(pl.col(Group.NUMBER).cast(pl.UInt32))


def join_group_numbers(
    table: ResolvedTable, rows: pl.LazyFrame, groups: pl.LazyFrame, *value_columns: str
) -> pl.LazyFrame:
    """Add the group number, and `value_columns` of the group table."""
    if not table.by and not value_columns:
        return rows.with_columns(pl.lit(0, dtype=pl.UInt32).alias(Group.NUMBER))
    return join_groups(rows, groups.select(*table.by, Group.NUMBER, *value_columns), table.by)


def build_numbered_rows(
    table: ScoreTable, groups: pl.LazyFrame, *, as_integers: bool = False
) -> pl.LazyFrame:
    """Return the rows that count, scored or not, with Group.NUMBER, and with Row.POS and NEG as floats.

    With `as_integers`, Row.POS and NEG are integers that add up exactly, for weights in a unit of
    their own.
    """
    if as_integers:
        rows = prepare_rows(table, groups, with_unscored=True)
    else:
        rows = join_group_numbers(table, table.all_rows, groups)
    amount_exprs = class_amounts({name: pl.col(name) for name in table.columns})
    rows = rows.with_columns(
        (amount if as_integers else amount.cast(pl.Float64)).alias(name)
        for name, amount in amount_exprs.items()
    )
    rows = rows.filter((pl.col(Row.POS) > 0) | (pl.col(Row.NEG) > 0))
    if table.score_dtype.is_float():  # equal scores have equal bits
        rows = rows.with_columns(merge_zeros(pl.col(Row.SCORE)).alias(Row.SCORE))
    return rows


def check_groups(table: ResolvedTable, groups: pl.LazyFrame, *other_checks: Check) -> pl.LazyFrame:
    """Return the groups that count, without tallies; the query stops if a check of the table fails."""
    # Every result is joined with this table, so no check can be optimized away.
    checks = [*table.tallies.checks, *other_checks]
    checked_groups = stop_if_broken(groups, checks).drop(*table.tallies.test_exprs)
    return keep_counted_groups(table, checked_groups)


def keep_counted_groups(table: ResolvedTable, groups: pl.LazyFrame) -> pl.LazyFrame:
    """Leave out groups whose rows all have weight 0, once their tallies have been checked."""
    if not isinstance(table, ScoreTable) or (Row.LABEL in table.columns and table.unscored is None):
        return groups
    return groups.filter((pl.col(Group.N_POS).fill_null(0) > 0) | (pl.col(Group.N_NEG).fill_null(0) > 0))


def prepare_rows(
    table: ScoreTable,
    groups: pl.LazyFrame,
    *,
    without_column: str = "",
    with_squares: bool = False,
    with_unscored: bool = False,
) -> pl.LazyFrame:
    """Return the rows that count, with Group.NUMBER, and with weights as integers that add up exactly.

    Drop `without_column`, add squares of the weights if `with_squares`, and keep unscored rows if
    `with_unscored`.
    """
    rows = table.all_rows if with_unscored else table.rows
    rows = rows.select(pl.exclude(without_column)) if without_column else rows
    exponent_columns = (
        [sum_columns.exponent for sum_columns in CLASS_SUMS] if table.has_float_sums else []
    )
    rows = join_group_numbers(table, rows, groups, *exponent_columns)
    if Row.LABEL in table.columns:
        return rows
    # A row whose amounts are both 0 would make a threshold.
    rows = rows.filter((pl.col(Row.POS) != 0) | (pl.col(Row.NEG) != 0))
    rows = rows.with_columns(_WHOLE_WEIGHTS) if table.has_float_sums else rows
    if not with_squares:
        return rows
    if Row.POS_SQUARES in table.columns:  # sums that counts come with
        return rows.with_columns(_WHOLE_SQUARES)
    return rows.with_columns(
        exact_arithmetic.square_integer(
            pl.col(sum_columns.amount), is_scaled=table.has_float_sums
        ).alias(square_columns.amount)
        for sum_columns, square_columns in zip(CLASS_SUMS, SQUARE_SUMS, strict=True)
    )


# Weights as integers in the unit of their group; built once, since expressions cost time
_WHOLE_WEIGHTS = [
    exact_arithmetic.to_integer(pl.col(names.amount), pl.col(names.exponent)) for names in CLASS_SUMS
]
# The sums of squares that a table of counts comes with, likewise
_WHOLE_SQUARES = [
    exact_arithmetic.sum_to_square_integer(pl.col(names.amount), pl.col(names.exponent))
    for names in SQUARE_SUMS
]


def to_counts(
    table: ScoreTable, pos_sum_exprs: Mapping[str, pl.Expr], neg_sum_exprs: Mapping[str, pl.Expr]
) -> list[pl.Expr]:
    """Return the counts that users see, by name, from integers of the running sums of both classes."""
    count_exprs: list[pl.Expr] = []
    for sum_exprs, sum_columns in zip((pos_sum_exprs, neg_sum_exprs), CLASS_SUMS, strict=True):
        if table.has_float_sums:
            class_count_exprs = exact_arithmetic.from_integers(
                sum_exprs.values(), pl.col(sum_columns.exponent)
            )
        else:
            # A count too large for Int64 stops the query by a check, which no other error may forestall.
            class_count_exprs = [
                value.cast(table.count_dtype, wrap_numerical=True) for value in sum_exprs.values()
            ]
        count_exprs += [
            value.alias(name) for name, value in zip(sum_exprs, class_count_exprs, strict=True)
        ]
    return count_exprs


# Rows sorted by group and falling score ---------------------------------------------------------

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
    """Return the narrow key if all scores and numbers of groups fit into it."""
    return _NARROW if table.score_dtype in _UP_TO_32_BITS and _has_few_groups(table) else _WIDE


def _has_few_groups(table: ScoreTable) -> bool:
    """Return whether a table has fewer than 2**28 groups, as its rows in memory show."""
    if not table.by:
        return True
    if table.n_rows is None or table.unscored is not None or Row.CLASS in table.schema:
        return False  # rows are not known, or of several groups each
    model_dtype = table.schema.get(Row.MODEL)  # a row of a wide table is of one group for each model
    n_models = len(model_dtype.categories) if isinstance(model_dtype, pl.Enum) else 1
    return table.n_rows * n_models < 2**28


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
