"""The rows on which recall rises, as an expression: each class is sorted by itself.

    score, label -> classes    one list: positives by falling score, a null, negatives by rising score
                 -> positives  the negatives below each, by binary search
                 -> rises      the last positive of each score, with its cells and those before

In `group_by().agg` an operation over rows is called once per group, which takes longer than its work
if groups are small; adding numbers of a group to all its rows takes longer still. So what a positive
needs to know is one integer, and is read from it by arithmetic, which is done for all groups at once.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve.core.metrics.curve_metric import Recipe

_DIGIT = 2**32
"""More than the rows of any table, so that counts are digits of one integer of 128 bits."""


def can_list_rises(recipe: Recipe, *, has_weights: bool) -> bool:
    """Return whether a metric can be computed from the rows of `list_rises`."""
    # Where Polars numbers rows by 64 bits, a count may be no digit.
    return recipe.needs == "rises" and not has_weights and pl.get_index_type() == pl.UInt32


def list_rises(score: pl.Expr, is_positive: pl.Expr, *, reads_fpr_before: bool) -> pl.Expr:
    """Return a list of structs by falling score: the cells, tp_before and, if it is read, fp_before."""
    pos_scores, neg_scores = (
        score.filter(is_of_class).implode().list.sort() for is_of_class in (is_positive, ~is_positive)
    )
    # A null stands before and after the positives. So slices have the score and the count that stand
    # before or after each one, which takes a tenth of the time of a shift.
    score_lists = pl.concat_list(pl.lit(None), pos_scores.list.reverse(), pl.lit(None), neg_scores)
    element, n_pos = pl.element(), pl.element().slice(1).is_null().arg_max()
    start_and_pos, next_pos = element.slice(0, n_pos + 1), element.slice(1, n_pos + 1)
    neg_elements = element.slice(n_pos + 2)
    # Negatives below a score, those at it, too, all negatives and all positives
    count_digits = [
        neg_elements.search_sorted(start_and_pos),
        pl.lit(0),
        element.len() - n_pos - 2,
        n_pos,
    ]
    if reads_fpr_before:
        count_digits[1] = neg_elements.search_sorted(start_and_pos, side="right")
    pos_struct = pl.struct(
        counts=_pack(count_digits),
        tp=pl.int_range(0, n_pos + 1, dtype=pl.Int64),
        is_last=start_and_pos.ne_missing(next_pos),
    )
    start_and_rises = score_lists.list.eval(pos_struct).list.filter(element.struct.field("is_last"))
    rise_structs = element.slice(1)
    tn, tn_before, n_neg, n_pos = (
        _read_digit(rise_structs.struct.field("counts"), digit_number) for digit_number in range(4)
    )
    tp = rise_structs.struct.field("tp")
    tp_before = element.struct.field("tp").slice(0, rise_structs.len())
    field_exprs = {"tp": tp, "fp": n_neg - tn, "fn": n_pos - tp, "tn": tn, "tp_before": tp_before}
    if reads_fpr_before:
        field_exprs["fp_before"] = n_neg - tn_before
    return start_and_rises.list.eval(pl.struct(value.alias(name) for name, value in field_exprs.items()))


def _pack(digits: list[pl.Expr]) -> pl.Expr:
    """Return an integer with these digits, the lowest first."""
    low_digit, middle_digit, *high_digits = (digit.cast(pl.UInt128) for digit in digits)
    return low_digit + middle_digit * _DIGIT + (high_digits[0] + high_digits[1] * _DIGIT) * _DIGIT**2


def _read_digit(integer: pl.Expr, digit_number: int) -> pl.Expr:
    # Division of 64 bits is faster than that of 128.
    integer_half = integer if digit_number < 2 else integer // _DIGIT**2
    integer_half = integer_half.cast(pl.UInt64, wrap_numerical=True)
    return (integer_half // _DIGIT if digit_number % 2 else integer_half % _DIGIT).cast(pl.Int64)
