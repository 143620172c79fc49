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
from polars_prcurve.core.curves.given_group_thresholds import LEAST_SCORE, THRESHOLD_ROW, GroupThresholds
from polars_prcurve.core.curves.guarantees import PROMISE_COLUMNS, add_upper_limits
from polars_prcurve.core.curves.metric_and_band_columns import build_metric_rows
from polars_prcurve.core.curves.search_by_extremes import LIMIT_ROWS, ROW_NUMBER, Extreme, LimitRows
from polars_prcurve.core.curves.targets import (
    END,
    END_ROW,
    TARGET_NUMBER,
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

    def read_extreme(self, extreme_name: str) -> pl.Expr:
        """Return the column of an extreme."""
        return pl.col(self.name_column(extreme_name))

    @property
    def chosen_row(self) -> pl.Expr:
        """The number of the row, or the list of those of many targets, from the extremes."""
        return self.target.search.read_row(self.read_extreme)

    def list_extremes(self, row_values: SegmentValues) -> dict[str, Extreme | LimitRows]:
        """Return the extremes that identify rows, and ends of guarantees, by column."""
        extreme_by_name = dict(self.target.search.find_extremes(row_values))
        promise = self.target.promise
        if promise is not None and promise.find_end is not None:
            extreme_by_name[END] = promise.find_end(row_values)
        return {self.name_column(name): extreme for name, extreme in extreme_by_name.items()}


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
        choice_frames = [self._choose_for_frame(family) for family in frame_families]
        choice_frames += [_list_choices(self._add_extremes(families), families)] if families else []
        return choice_frames[0] if len(choice_frames) == 1 else pl.concat(choice_frames, how="diagonal")

    def _choose_for_frame(self, family: Family) -> pl.LazyFrame:
        """Return a row per population and threshold of its group, with ROW_NUMBER or null."""
        group_thresholds = family.target.thresholds
        assert group_thresholds is not None
        target_number = pl.lit(family.numbers[0], dtype=pl.Int64)
        request_rows = group_thresholds.join_thresholds(
            self.populations.with_columns(target_number.alias(TARGET_NUMBER))
        )
        # A larger query may run this twice, and a join may return rows in another order each time.
        request_rows = request_rows.sort(Population.NUMBER, THRESHOLD_ROW).with_row_index(_REQUEST)
        request_scores = request_rows.select(_REQUEST, Group.NUMBER, LEAST_SCORE).drop_nulls(LEAST_SCORE)
        request_sweep_rows = self.sweep_rows.join(request_scores, on=Group.NUMBER)
        extreme_rows = self._reduce_rows(request_sweep_rows, _REQUEST, [family])
        row_number = family.chosen_row.alias(ROW_NUMBER)
        return request_rows.join(extreme_rows, on=_REQUEST, how="left").with_columns(row_number)

    def _add_extremes(self, families: Sequence[Family]) -> pl.LazyFrame:
        """Return the populations with the extremes that identify the rows of targets."""
        fixed_families: list[Family] = []
        row_families: list[Family] = []
        block_families: list[Family] = []
        for family in families:
            # At one prevalence a look at every row costs no more than the search for blocks.
            uses_blocks = self.has_many_etas and family.target.changes_once_in_block
            eta_families = block_families if uses_blocks else row_families
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
        eta_free_search = self._replace(has_many_etas=False)
        families, frame_families = _join_families(targets)
        row_number_frames = [
            eta_free_search._choose_for_frame(family).select(ROW_NUMBER) for family in frame_families
        ]
        if families:
            row_number_exprs = _list_rows_of(self._list_extremes(families))
            row_number_exprs += [family.chosen_row for family in families]
            row_number_lists = pl.concat_list(row_number_exprs).alias(ROW_NUMBER)
            populations = eta_free_search._add_extremes(families).select(row_number_lists)
            row_number_frames.append(populations.explode(ROW_NUMBER, empty_as_null=False))
        # What a search reads of a whole curve is its first and last row.
        is_first = begin_block(Group.NUMBER)
        row_number_frames.append(
            self.sweep_rows.filter(is_first | end_block(is_first)).select(ROW_NUMBER)
        )
        matching_rows = self.sweep_rows.join(pl.concat(row_number_frames), on=ROW_NUMBER, how="semi")
        block_number = pl.col(Sweep.BLOCK)
        near_blocks = pl.concat_list(Sweep.BLOCK, block_number - 1, block_number + 1).explode(
            empty_as_null=False
        )
        block_frame = self.table.collect(matching_rows.select(near_blocks.unique()), "")
        return block_number.is_in(block_frame[Sweep.BLOCK].implode())

    def _search_blocks(self, families: Sequence[Family]) -> pl.LazyFrame:
        """Return the extremes over all rows, from corners and from the blocks that these point at."""
        marked_rows = mark_blocks(self.sweep_rows)
        corners = marked_rows.filter(Sweep.IS_CORNER)
        corners_at_eta = self._repeat_at_eta(corners, families)
        corner_extreme_rows = self._reduce_rows(corners_at_eta, Population.NUMBER, families)
        extreme_by_column = self._list_extremes(families)
        row_number_exprs = _list_rows_of(extreme_by_column)
        if not row_number_exprs:
            return corner_extreme_rows
        row_number_lists = pl.concat_list(row_number_exprs).alias(ROW_NUMBER)
        row_number_rows = corner_extreme_rows.select(Population.NUMBER, row_number_lists)
        row_number_rows = row_number_rows.explode(ROW_NUMBER, empty_as_null=False).drop_nulls()
        population_blocks = row_number_rows.join(corners.select(ROW_NUMBER, Sweep.BLOCK), on=ROW_NUMBER)
        # A row of a block joins its populations, and not all prevalences of its group.
        population_blocks = population_blocks.select(Population.NUMBER, Sweep.BLOCK).unique()
        near_rows = marked_rows.drop(Group.NUMBER).join(population_blocks, on=Sweep.BLOCK)
        near_rows = self._repeat_at_eta(near_rows, families, key_column=Population.NUMBER)
        near_extreme_rows = self._reduce_rows(near_rows, Population.NUMBER, families)
        joined_rows = corner_extreme_rows.join(
            near_extreme_rows, on=Population.NUMBER, how="left", suffix=_NEAR
        )
        merged_exprs = {
            name: extreme.merge(pl.col(name), pl.col(name + _NEAR))
            for name, extreme in extreme_by_column.items()
        }
        return joined_rows.select(Population.NUMBER, **merged_exprs)

    def _repeat_at_eta(
        self, sweep_rows: pl.LazyFrame, families: Iterable[Family], *, key_column: str = Group.NUMBER
    ) -> pl.LazyFrame:
        """Return the rows at each prevalence of their NUMBER, or NUMBER, and what guarantees read."""
        population_columns = self.populations.collect_schema().names()
        needed_columns = (
            Group.NUMBER,
            Population.NUMBER,
            "eta",
            Population.POS_FACTOR,
            Population.NEG_FACTOR,
            EtaError.IS_OWN,
        )
        promise_columns = (LEAST_SCORE, *PROMISE_COLUMNS, *EtaError.LIMITS)
        populations = self.populations.select(
            *needed_columns, *(column for column in promise_columns if column in population_columns)
        )
        eta_rows = sweep_rows.join(populations, on=key_column)
        greatest_rate = find_greatest_rate(family.target for family in families)
        if set(PROMISE_COLUMNS) <= set(population_columns) and greatest_rate is not None:
            return add_upper_limits(eta_rows, None, greatest_rate, self.table)
        return eta_rows

    def _reduce_rows(
        self, sweep_rows: pl.LazyFrame, key_column: str, families: Sequence[Family]
    ) -> pl.LazyFrame:
        """Return, per value of `key_column`, the extremes that identify the rows of targets."""
        row_values = build_metric_rows(self.table)
        extreme_by_column = self._list_extremes(families)
        for step in merge_steps(family.target for family in families):
            sweep_rows = sweep_rows.with_columns(**step(row_values))
        extreme_exprs = {name: extreme.value for name, extreme in extreme_by_column.items()}
        reduced_exprs = {
            name: extreme.reduce(pl.col(name)) for name, extreme in extreme_by_column.items()
        }
        numbered_rows = sweep_rows.select(key_column, ROW_NUMBER, **extreme_exprs)
        return numbered_rows.group_by(key_column).agg(**reduced_exprs)

    def _list_extremes(self, families: Iterable[Family]) -> dict[str, Extreme | LimitRows]:
        """Return the extremes of all families, by column."""
        row_values = build_metric_rows(self.table)
        extreme_items = (family.list_extremes(row_values).items() for family in families)
        return dict(chain.from_iterable(extreme_items))


def _join_families(targets: Sequence[Target]) -> tuple[list[Family], list[Family]]:
    """Return the families of targets, and those of one each that are frames of thresholds."""
    numbers_by_key: dict[Any, list[int]] = {}
    families: list[Family] = []
    frame_families: list[Family] = []
    for target_number, target in enumerate(targets):
        if target.thresholds is not None:
            frame_families.append(Family([target_number], target))
            continue
        family_key: Any = target_number
        if target.limit is not None and target.limit.can_be_met and target.promise is None:
            family_key = target.limit.measure, target.takes_first
        numbers_by_key.setdefault(family_key, []).append(target_number)
    for target_numbers in numbers_by_key.values():
        if len(target_numbers) < _MANY:
            families += [Family([number], targets[number]) for number in target_numbers]
        else:
            search = search_limits([targets[number] for number in target_numbers])
            families.append(
                Family(target_numbers, replace(targets[target_numbers[0]], search_without_limit=search))
            )
    return families, frame_families


def _list_choices(populations: pl.LazyFrame, families: Sequence[Family]) -> pl.LazyFrame:
    """Return a row per population and target, from populations with extremes."""
    exprs_by_column = {ROW_NUMBER: [family.chosen_row for family in families]}
    first_target = families[0].target
    if (read_end_row := first_target.search.read_end_row) is not None:
        exprs_by_column[END_ROW] = [read_end_row(family.read_extreme) for family in families]
    elif first_target.promise is not None:
        exprs_by_column[END] = [family.read_extreme(END) for family in families]
    target_numbers = [target_number for family in families for target_number in family.numbers]
    if len(target_numbers) == 1:
        number_expr = pl.lit(target_numbers[0], dtype=pl.Int64).alias(TARGET_NUMBER)
        return populations.with_columns(
            number_expr, **{column: column_expr for column, [column_expr] in exprs_by_column.items()}
        )
    choice_rows = populations.with_columns(
        pl.lit(target_numbers, dtype=pl.List(pl.Int64)).alias(TARGET_NUMBER),
        **{column: pl.concat_list(column_exprs) for column, column_exprs in exprs_by_column.items()},
    )
    # Lists of rows would be repeated with each of them.
    row_list_columns = [family.name_column(LIMIT_ROWS) for family in families if len(family.numbers) > 1]
    return choice_rows.drop(row_list_columns).explode(
        TARGET_NUMBER, *exprs_by_column, empty_as_null=False
    )


def _list_rows_of(extreme_by_column: Mapping[str, Extreme | LimitRows]) -> list[pl.Expr]:
    """Return the numbers of the rows that have the extremes, over the columns with these names."""
    return [
        extreme.read_row(pl.col(extreme_column))
        for extreme_column, extreme in extreme_by_column.items()
        if extreme.read_row is not None
    ]


def list_frame_targets(targets: Sequence[Target]) -> dict[int, GroupThresholds]:
    """Return the thresholds of targets that are a frame of them, by the number of the target."""
    return {
        target_number: target.thresholds
        for target_number, target in enumerate(targets)
        if target.thresholds is not None
    }
