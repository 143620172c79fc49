"""The effective numbers of the weighted rows behind each point of a finished table.

Who draws a point has to know whether chance decides about it, and a sum of weights does not show that.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.sweep.sweep_column_names import FIELD_COLUMNS, SQUARE_COLUMNS

_GROUP = f"{RESERVED}group"  # the number of a group, of points and counts alike
_PLACE = f"{RESERVED}place"  # of a point in its table; null for counts
_AMOUNTS = ("n_neg", SQUARE_COLUMNS[1])


def add_effective_numbers(points: pl.DataFrame, score_counts: pl.DataFrame) -> pl.DataFrame:
    """Add FIELD_COLUMNS to points of `sweep`, `curve` or the like, from the result of `counts`.

    They are (sum of w)**2 / (sum of w**2) (Kish 1965): the rows, if these weigh alike. Points return as
    they are, if they have these columns, or if the counts are not of weights.
    """
    if not {*SQUARE_COLUMNS} <= {*score_counts.columns} or {*FIELD_COLUMNS} <= {*points.columns}:
        return points
    by = score_counts.columns[: score_counts.columns.index("score")]
    counts = _number_groups(score_counts, score_counts, by).with_columns(
        score_counts["score"].alias("threshold"),
        *(score_counts[name].alias(name) for name in ("n_pos", "n_neg", *SQUARE_COLUMNS)),
    )
    sizes = counts.group_by(_GROUP).agg(
        _count_alike(pl.col(name).sum(), pl.col(squares).sum()).alias(size)
        for name, squares, size in zip(
            ("n_pos", "n_neg"), SQUARE_COLUMNS, FIELD_COLUMNS[:2], strict=True
        )
    )
    places = _number_groups(points, score_counts, by).with_columns(points["threshold"])
    places = places.with_row_index(_PLACE)
    # A point has what is at the lowest score that its threshold reaches, and above.
    rows = pl.concat([counts.select(_GROUP, "threshold", *_AMOUNTS), places], how="diagonal")
    rows = rows.sort(
        _GROUP, "threshold", _PLACE, descending=[False, True, False], nulls_last=[False, True, False]
    )
    running = (pl.col(name).fill_null(0).cum_sum().over(_GROUP) for name in _AMOUNTS)
    rows = rows.with_columns(_count_alike(*running).alias(FIELD_COLUMNS[2])).drop_nulls(_PLACE)
    rows = rows.join(sizes, on=_GROUP, how="left").sort(_PLACE)
    return points.with_columns(rows[name].alias(name) for name in FIELD_COLUMNS)


def _number_groups(frame: pl.DataFrame, score_counts: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Return the number of the group of each row, by the order of groups in the counts."""
    # Columns are picked as such: by name one called `*` would be a pattern.
    if not by:
        return pl.DataFrame({_GROUP: pl.repeat(0, len(frame), dtype=pl.UInt32, eager=True)})
    keys, count_keys = (
        pl.DataFrame([table[name].alias(f"{place}") for place, name in enumerate(by)])
        for table in (frame, score_counts)
    )
    groups = count_keys.unique(maintain_order=True).with_row_index(_GROUP)
    numbered = keys.join(groups, on=keys.columns, how="left", nulls_equal=True, maintain_order="left")
    return numbered.select(_GROUP)


def _count_alike(total: pl.Expr, squares: pl.Expr) -> pl.Expr:
    """Return the effective number of rows; null where squares of weights are beyond floats."""
    size = total * total / squares
    return pl.when(total > 0).then(pl.when(size.is_finite()).then(size)).otherwise(0.0)
