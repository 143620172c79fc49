"""The rows that targets choose at each prevalence, found without a look at all rows at all of them.

A curve falls into blocks: a row where recall rises, and the rows below it, which add negatives alone.
Within a block recall stays and fpr rises, so what a target requests changes at most once. The first and
the last row of a block, its corners, show whether it does:

    corners × eta  -> found at corners   a row of each target, and its block
    blocks × eta   -> found in blocks    the same, among the rows inside
                   -> found              the better one of both

Where one example in a hundred is positive, that is a fiftieth of the rows. A bound table that is called
again has its corners. A query of its own reads these, and the rest reads the rows of a few blocks.

Many targets of one kind compare one value with limits of their own. The greatest value so far never
falls from row to row, so that binary search finds the row of each limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EtaError
from polars_prcurve.core.curves.guarantees import PROMISE_COLUMNS, add_upper_limits
from polars_prcurve.core.curves.metrics_on_rows import build_metric_rows
from polars_prcurve.core.curves.targets import (
    END,
    END_ROW,
    LEAST_SCORE,
    LIMIT_ROWS,
    ROW_NUMBER,
    TARGET_NUMBER,
    THRESHOLD_ROW,
    Extreme,
    GroupThresholds,
    LimitRows,
    Target,
    find_greatest_rate,
    merge_steps,
    search_limits,
)
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.metrics.curve_metric import SegmentValues
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.sweep_column_names import Sweep
from polars_prcurve.core.sweep.sweep_table import begin_block, end_block, mark_blocks

_REQUEST = f"{RESERVED}request"  # the number of a population and threshold of its group
_NEAR = f"{RESERVED}near"  # the ending of what is read from the rows of a few blocks
# With one target, each group takes a third of the time if all rows are tested; with 20 targets as long
# as this takes in groups of 50 rows, and four times as long in large ones (Polars 2.1).
_MANY = 16  # from so many targets of one value on, its running maximum is searched


class Family(NamedTuple):
    """A target, or many that compare the same value, with one search for all."""

    numbers: Sequence[int]  # of the targets
    target: Target

    def name_column(self, extreme_name: str) -> str:
        """Return the column of an extreme, which has a name of its own in the family."""
        return f"{RESERVED}{extreme_name}_{self.numbers[0]}"

    def read_extreme(self, name: str) -> pl.Expr:
        """Return the column of an extreme."""
        return pl.col(self.name_column(name))

    @property
    def chosen_row(self) -> pl.Expr:
        """The number of the row, or the list of those of many targets, from the extremes."""
        return self.target.search.read_row(self.read_extreme)

    def list_extremes(self, metric_rows: SegmentValues) -> dict[str, Extreme | LimitRows]:
        """Return the extremes that identify rows, and ends of guarantees, by column."""
        extremes = dict(self.target.search.find_extremes(metric_rows))
        promise = self.target.promise
        if promise is not None and promise.find_end is not None:
            extremes[END] = promise.find_end(metric_rows)
        return {self.name_column(name): extreme for name, extreme in extremes.items()}


class RowSearch(NamedTuple):
    """The rows of all curves, among which targets choose, and the populations."""

    table: ResolvedTable
    sweep_rows: pl.LazyFrame  # by group and rising ROW_NUMBER
    populations: pl.LazyFrame
    groups: pl.LazyFrame
    has_many_etas: bool  # whether a group may have several prevalences, so that blocks save time

    def choose_rows(self, targets: Sequence[Target]) -> pl.LazyFrame:
        """Return a row per population and target, or threshold of a frame, with ROW_NUMBER or null.

        If targets are guaranteed, it has END, too, or END_ROW if they share a stretch.
        """
        families, frame_families = _join_families(targets)
        parts = [self._choose_for_frame(family) for family in frame_families]
        parts += [_list_choices(self._add_extremes(families), families)] if families else []
        return parts[0] if len(parts) == 1 else pl.concat(parts, how="diagonal")

    def _choose_for_frame(self, family: Family) -> pl.LazyFrame:
        """Return a row per population and threshold of its group, with ROW_NUMBER or null."""
        thresholds = family.target.thresholds
        assert thresholds is not None
        number = pl.lit(family.numbers[0], dtype=pl.Int64)
        requests = thresholds.join_thresholds(self.populations.with_columns(number.alias(TARGET_NUMBER)))
        # A larger query may run this twice, and a join may return rows in another order each time.
        requests = requests.sort(Population.NUMBER, THRESHOLD_ROW).with_row_index(_REQUEST)
        request_scores = requests.select(_REQUEST, Group.NUMBER, LEAST_SCORE).drop_nulls(LEAST_SCORE)
        request_rows = self.sweep_rows.join(request_scores, on=Group.NUMBER)
        extreme_rows = self._reduce_rows(request_rows, _REQUEST, [family])
        row_number = family.chosen_row.alias(ROW_NUMBER)
        return requests.join(extreme_rows, on=_REQUEST, how="left").with_columns(row_number)

    def _add_extremes(self, families: Sequence[Family]) -> pl.LazyFrame:
        """Return the populations with the extremes that identify the rows of targets."""
        fixed_families: list[Family] = []
        row_families: list[Family] = []
        block_families: list[Family] = []
        for family in families:
            # At one prevalence a look at every row costs no more than the search for blocks.
            in_blocks = self.has_many_etas and family.target.changes_once_in_block
            eta_families = block_families if in_blocks else row_families
            (eta_families if family.target.depends_on_eta else fixed_families).append(family)
        populations = self.populations
        if fixed_families:
            extreme_rows = self._reduce_rows(self.sweep_rows, Group.NUMBER, fixed_families)
            populations = populations.join(extreme_rows, on=Group.NUMBER, how="left")
        if row_families:
            eta_rows = self._repeat_at_eta(self.sweep_rows, row_families)
            extreme_rows = self._reduce_rows(eta_rows, Population.NUMBER, row_families)
            populations = populations.join(extreme_rows, on=Population.NUMBER, how="left")
        if block_families:
            populations = populations.join(
                self._search_blocks(block_families), on=Population.NUMBER, how="left"
            )
        return populations

    def find_blocks(self, targets: Sequence[Target]) -> pl.Expr:
        """Return the test of rows that can matter to targets, and of those beside; these are corners."""
        search = self._replace(has_many_etas=False)
        families, frame_families = _join_families(targets)
        parts = [search._choose_for_frame(family).select(ROW_NUMBER) for family in frame_families]
        if families:
            row_exprs = _list_rows_of(self._list_extremes(families))
            row_exprs += [family.chosen_row for family in families]
            row_lists = pl.concat_list(row_exprs).alias(ROW_NUMBER)
            populations = search._add_extremes(families).select(row_lists)
            parts.append(populations.explode(ROW_NUMBER, empty_as_null=False))
        # What a search reads of a whole curve is its first and last row.
        is_first = begin_block(Group.NUMBER)
        parts.append(self.sweep_rows.filter(is_first | end_block(is_first)).select(ROW_NUMBER))
        corners = self.sweep_rows.join(pl.concat(parts), on=ROW_NUMBER, how="semi")
        block = pl.col(Sweep.BLOCK)
        near_blocks = pl.concat_list(Sweep.BLOCK, block - 1, block + 1).explode(empty_as_null=False)
        block_frame = self.table.collect(corners.select(near_blocks.unique()), "")
        return block.is_in(block_frame[Sweep.BLOCK].implode())

    def _search_blocks(self, families: Sequence[Family]) -> pl.LazyFrame:
        """Return the extremes over all rows, from corners and from the blocks that these point at."""
        marked_rows = mark_blocks(self.sweep_rows)
        corners = marked_rows.filter(Sweep.IS_CORNER)
        corners_at_eta = self._repeat_at_eta(corners, families)
        corner_rows = self._reduce_rows(corners_at_eta, Population.NUMBER, families)
        extreme_of_column = self._list_extremes(families)
        number_exprs = _list_rows_of(extreme_of_column)
        if not number_exprs:
            return corner_rows
        row_lists = pl.concat_list(number_exprs).alias(ROW_NUMBER)
        row_numbers = corner_rows.select(Population.NUMBER, row_lists)
        row_numbers = row_numbers.explode(ROW_NUMBER, empty_as_null=False).drop_nulls()
        population_blocks = row_numbers.join(corners.select(ROW_NUMBER, Sweep.BLOCK), on=ROW_NUMBER)
        # A row of a block joins its populations, and not all prevalences of its group.
        population_blocks = population_blocks.select(Population.NUMBER, Sweep.BLOCK).unique()
        near_rows = marked_rows.drop(Group.NUMBER).join(population_blocks, on=Sweep.BLOCK)
        near_rows = self._repeat_at_eta(near_rows, families, key=Population.NUMBER)
        rows_inside = self._reduce_rows(near_rows, Population.NUMBER, families)
        both_rows = corner_rows.join(rows_inside, on=Population.NUMBER, how="left", suffix=_NEAR)
        merged_columns = {
            name: extreme.merge(pl.col(name), pl.col(name + _NEAR))
            for name, extreme in extreme_of_column.items()
        }
        return both_rows.select(Population.NUMBER, **merged_columns)

    def _repeat_at_eta(
        self, sweep_rows: pl.LazyFrame, families: Iterable[Family], *, key: str = Group.NUMBER
    ) -> pl.LazyFrame:
        """Return the rows at each prevalence of their NUMBER, or NUMBER, and what guarantees read."""
        population_names = self.populations.collect_schema().names()
        columns = (
            Group.NUMBER,
            Population.NUMBER,
            "eta",
            Population.POS_FACTOR,
            Population.NEG_FACTOR,
            EtaError.IS_OWN,
        )
        promise_names = (LEAST_SCORE, *PROMISE_COLUMNS, *EtaError.LIMITS)
        populations = self.populations.select(
            *columns, *(name for name in promise_names if name in population_names)
        )
        eta_rows = sweep_rows.join(populations, on=key)
        greatest_rate = find_greatest_rate(family.target for family in families)
        if set(PROMISE_COLUMNS) <= set(population_names) and greatest_rate is not None:
            return add_upper_limits(eta_rows, None, greatest_rate, self.table)
        return eta_rows

    def _reduce_rows(
        self, sweep_rows: pl.LazyFrame, key_column: str, families: Sequence[Family]
    ) -> pl.LazyFrame:
        """Return, per value of `key_column`, the extremes that identify the rows of targets."""
        metric_rows = build_metric_rows(self.table)
        extreme_of_column = self._list_extremes(families)
        for step in merge_steps(family.target for family in families):
            sweep_rows = sweep_rows.with_columns(**step(metric_rows))
        extreme_columns = {name: extreme.value for name, extreme in extreme_of_column.items()}
        reduced_columns = {
            name: extreme.reduce(pl.col(name)) for name, extreme in extreme_of_column.items()
        }
        numbered_rows = sweep_rows.select(key_column, ROW_NUMBER, **extreme_columns)
        return numbered_rows.group_by(key_column).agg(**reduced_columns)

    def _list_extremes(self, families: Iterable[Family]) -> dict[str, Extreme | LimitRows]:
        """Return the extremes of all families, by column."""
        metric_rows = build_metric_rows(self.table)
        extremes = (family.list_extremes(metric_rows).items() for family in families)
        return dict(chain.from_iterable(extremes))


def _join_families(targets: Sequence[Target]) -> tuple[list[Family], list[Family]]:
    """Return the families of targets, and those of one each that are frames of thresholds."""
    numbers_of_kind: dict[Any, list[int]] = {}
    families: list[Family] = []
    frame_families: list[Family] = []
    for number, target in enumerate(targets):
        if target.thresholds is not None:
            frame_families.append(Family([number], target))
            continue
        kind: Any = number
        if target.limit is not None and target.limit.can_be_met and target.promise is None:
            kind = target.limit.measure, target.takes_first
        numbers_of_kind.setdefault(kind, []).append(number)
    for numbers in numbers_of_kind.values():
        if len(numbers) < _MANY:
            families += [Family([number], targets[number]) for number in numbers]
        else:
            search = search_limits([targets[number] for number in numbers])
            families.append(Family(numbers, replace(targets[numbers[0]], search_without_limit=search)))
    return families, frame_families


def _list_choices(populations: pl.LazyFrame, families: Sequence[Family]) -> pl.LazyFrame:
    """Return a row per population and target, from populations with extremes."""
    columns = {ROW_NUMBER: [family.chosen_row for family in families]}
    first_target = families[0].target
    if (read_end_row := first_target.search.read_end_row) is not None:
        columns[END_ROW] = [read_end_row(family.read_extreme) for family in families]
    elif first_target.promise is not None:
        columns[END] = [family.read_extreme(END) for family in families]
    target_numbers = [number for family in families for number in family.numbers]
    if len(target_numbers) == 1:
        number_column = pl.lit(target_numbers[0], dtype=pl.Int64).alias(TARGET_NUMBER)
        return populations.with_columns(
            number_column, **{name: expr for name, [expr] in columns.items()}
        )
    choices = populations.with_columns(
        pl.lit(target_numbers, dtype=pl.List(pl.Int64)).alias(TARGET_NUMBER),
        **{name: pl.concat_list(exprs) for name, exprs in columns.items()},
    )
    # Lists of rows would be repeated with each of them.
    row_lists = [family.name_column(LIMIT_ROWS) for family in families if len(family.numbers) > 1]
    return choices.drop(row_lists).explode(TARGET_NUMBER, *columns, empty_as_null=False)


def _list_rows_of(extreme_of_column: Mapping[str, Extreme | LimitRows]) -> list[pl.Expr]:
    """Return the numbers of the rows that have the extremes, over the columns with these names."""
    return [
        extreme.read_row(pl.col(name))
        for name, extreme in extreme_of_column.items()
        if extreme.read_row is not None
    ]


def list_frame_targets(targets: Sequence[Target]) -> dict[int, GroupThresholds]:
    """Return the thresholds of targets that are a frame of them, by the number of the target."""
    return {
        number: target.thresholds
        for number, target in enumerate(targets)
        if target.thresholds is not None
    }
