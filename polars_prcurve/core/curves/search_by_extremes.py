"""How the row of a target is found: from the extremes of values over all rows.

A target is met by the first or the last row of some kind, or by the row of the greatest value. Each is
the maximum of an integer per row, whose low bits number the row. A guarantee (see `guarantees`)
reads a few such extremes. So one group_by finds the rows of all targets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import polars as pl

from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.metrics.curve_metric import SegmentValues, Step

RowTest: TypeAlias = Callable[[SegmentValues], pl.Expr]
"""A function from rows to whether each of them passes."""
ROW_NUMBER = f"{RESERVED}row"  # the number of a row; within a curve it rises with recall
LIMIT_ROWS = "rows"  # the name of the list of rows of many limits


class Extreme(NamedTuple):
    """A value per row, of which a search reads the greatest or the least; null does not count."""

    value: pl.Expr
    is_greatest: bool = True
    read_row: Callable[[pl.Expr], pl.Expr] | None = None
    """Return the number of the row that has the extreme; None if that is the first or the last row of a
    block (see `row_search`), or the row of another extreme."""

    def reduce(self, column_expr: pl.Expr) -> pl.Expr:
        """Return the greatest or the least value of a column."""
        return column_expr.max() if self.is_greatest else column_expr.min()

    def merge(self, corner_expr: pl.Expr, near_expr: pl.Expr) -> pl.Expr:
        """Return the extreme over all rows, from corners and from the blocks that they identify."""
        both_exprs = (corner_expr, near_expr)
        return pl.max_horizontal(both_exprs) if self.is_greatest else pl.min_horizontal(both_exprs)


class LimitRows(NamedTuple):
    """A value per row that is compared with many limits, of which the rows are read as a list."""

    value: pl.Expr  # null does not count
    least_values: pl.Series
    takes_first: bool

    def reduce(self, column_expr: pl.Expr) -> pl.Expr:
        """Return the number of the first row, or the last, that reaches each limit, or null."""
        # From one row to the next the greatest value so far never falls.
        row_numbers, is_last = pl.col(ROW_NUMBER).filter(column_expr.is_not_null()), not self.takes_first
        greatest_values = column_expr.drop_nulls().sort_by(row_numbers, descending=is_last).cum_max()
        positions = greatest_values.search_sorted(pl.lit(self.least_values))
        # A null follows, for limits that no row reaches: Polars 2.0 gathers none beyond the end of a
        # group. Of an empty table nulls are gathered without a dtype, which a sum has.
        return row_numbers.sort(descending=is_last).extend_constant(None, 1).gather(positions) + 0

    def merge(self, corner_expr: pl.Expr, near_expr: pl.Expr) -> pl.Expr:
        """Return the rows, from those among corners and those in the blocks that these identify."""
        return pl.coalesce(near_expr, corner_expr)

    def read_row(self, row_number_lists: pl.Expr) -> pl.Expr:
        """Return the numbers of the rows."""
        return row_number_lists


ExtremeReader: TypeAlias = Callable[[str], pl.Expr]
"""A function from the name of an extreme to its value."""


class Search(NamedTuple):
    """How the row of a target is found: from extremes over the rows of a curve."""

    find_extremes: Callable[[SegmentValues], Mapping[str, Extreme | LimitRows]]
    read_row: Callable[[ExtremeReader], pl.Expr]
    """Return the number of the row; null where no row meets the target."""
    steps: Sequence[Step] = ()
    """Columns that are added first, each step from those before it, and that the extremes may read."""
    read_end_row: Callable[[ExtremeReader], pl.Expr] | None = None
    """Return the number of the row at the other end of a stretch, if several guarantees share one."""


def choose_row(row_test: RowTest, *, takes_first: bool = False) -> Search:
    """Return the search for the last row that passes a test, or the first."""
    return Search(
        lambda rows: {CHOSEN_ROW: number_where(row_test(rows), rows, is_greatest=not takes_first)},
        lambda extreme_of: extreme_of(CHOSEN_ROW),
    )


def number_where(is_match: pl.Expr, row_values: SegmentValues, *, is_greatest: bool) -> Extreme:
    """Return the greatest or the least number of the rows that pass a test."""
    row_number_expr = pl.when(is_match).then(row_values.column(ROW_NUMBER))
    return Extreme(row_number_expr, is_greatest, read_row=lambda extreme: extreme)


CHOSEN_ROW = "row"  # the name of the extreme that identifies the row
