"""The effective numbers of the weighted rows behind each point of a finished table.

Who draws a point has to know whether chance decides about it, and a sum of weights does not show that.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.sweep.sweep_column_names import FIELD_COLUMNS, SQUARE_COLUMNS

_GROUP = f"{RESERVED}group"  # the number of a group, of points and counts alike
_POINT_NUMBER = f"{RESERVED}place"  # of a point in its table; null for counts
_AMOUNT_COLUMNS = ("n_neg", SQUARE_COLUMNS[1])  # sums whose running totals give false positives


def add_effective_numbers(points: pl.DataFrame, score_counts: pl.DataFrame) -> pl.DataFrame:
    """Add FIELD_COLUMNS to points of `sweep`, `curve` or the like, from the result of `counts`.

    They are (sum of w)**2 / (sum of w**2) (Kish 1965): the rows, if these weigh alike. Points return as
    they are, if they have these columns, or if the counts are not of weights.
    """
    if not {*SQUARE_COLUMNS} <= {*score_counts.columns} or {*FIELD_COLUMNS} <= {*points.columns}:
        return points
    by = score_counts.columns[: score_counts.columns.index("score")]
    group_counts = _number_groups(score_counts, score_counts, by).with_columns(
        score_counts["score"].alias("threshold"),
        *(score_counts[name].alias(name) for name in ("n_pos", "n_neg", *SQUARE_COLUMNS)),
    )
    group_sizes = group_counts.group_by(_GROUP).agg(
        _measure_effective_number(pl.col(name).sum(), pl.col(squares_column).sum()).alias(size_column)
        for name, squares_column, size_column in zip(
            ("n_pos", "n_neg"), SQUARE_COLUMNS, FIELD_COLUMNS[:2], strict=True
        )
    )
    point_thresholds = _number_groups(points, score_counts, by).with_columns(points["threshold"])
    point_thresholds = point_thresholds.with_row_index(_POINT_NUMBER)
    # A point has what is at the lowest score that its threshold reaches, and above.
    merged_rows = pl.concat(
        [group_counts.select(_GROUP, "threshold", *_AMOUNT_COLUMNS), point_thresholds], how="diagonal"
    )
    sort_columns, is_descending = [_GROUP, "threshold", _POINT_NUMBER], [False, True, False]
    merged_rows = merged_rows.sort(sort_columns, descending=is_descending, nulls_last=is_descending)
    running_sum_exprs = (pl.col(name).fill_null(0).cum_sum().over(_GROUP) for name in _AMOUNT_COLUMNS)
    merged_rows = merged_rows.with_columns(
        _measure_effective_number(*running_sum_exprs).alias(FIELD_COLUMNS[2])
    ).drop_nulls(_POINT_NUMBER)
    merged_rows = merged_rows.join(group_sizes, on=_GROUP, how="left").sort(_POINT_NUMBER)
    return points.with_columns(merged_rows[name].alias(name) for name in FIELD_COLUMNS)


def _number_groups(frame: pl.DataFrame, score_counts: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Return the number of the group of each row, by the order of groups in the counts."""
    # Columns are picked as such: by name one called `*` would be a pattern.
    if not by:
        return pl.DataFrame({_GROUP: pl.repeat(0, len(frame), dtype=pl.UInt32, eager=True)})
    key_rows, count_key_rows = (
        pl.DataFrame([table[name].alias(f"{key_number}") for key_number, name in enumerate(by)])
        for table in (frame, score_counts)
    )
    group_keys = count_key_rows.unique(maintain_order=True).with_row_index(_GROUP)
    numbered_rows = key_rows.join(
        group_keys, on=key_rows.columns, how="left", nulls_equal=True, maintain_order="left"
    )
    return numbered_rows.select(_GROUP)


def _measure_effective_number(weight_sum: pl.Expr, square_sum: pl.Expr) -> pl.Expr:
    """Return the effective number of rows; null where squares of weights are beyond floats."""
    effective_number = weight_sum * weight_sum / square_sum
    finite_number = pl.when(effective_number.is_finite()).then(effective_number)
    return pl.when(weight_sum > 0).then(finite_number).otherwise(0.0)
