"""The rows that targets choose at each prevalence, found without a look at all rows at all of them.

A curve falls into blocks: a row where recall rises, and the rows below it, which add negatives alone.
Within a block recall stays and fpr rises, so what a target asks for changes at most once. The first and
the last row of a block, its corners, tell whether it does:

    corners × eta  -> found at corners   a row of each target, and its block
    blocks × eta   -> found in blocks    the same, among the rows inside
                   -> found              the better one of both

Where one example in a hundred is positive, that is a fiftieth of the rows. A bound table that is asked
again knows its corners. A query of its own reads these, and the rest reads the rows of a few blocks.

A threshold that is found in a sample, as by recall=0.8, is another one in another sample: it moves. If
in truth fewer positives are above each score, then the score that finds 80% of them is lower, and more
negatives are above it. So an end of the interval of a rate counts twice: for the rate, and for the
threshold.

    rows of the curve -> limits         both ends of the intervals of recall and of fpr, on each row
    target            -> moved targets  four, each of which reads one of these ends in place of the rate
                      -> MOVED_RATES    recall and fpr on the rows that meet them, one of them an end

A prevalence that was counted, or is an estimate, has an interval, too. A target that depends on it, such
as a precision, is met elsewhere at its ends. A band adds up the distances from a value to its values
there; see `confidence.point_intervals`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from polars_prcurve.core.confidence.band_types import LIMIT_COLUMNS, ModelBands
from polars_prcurve.core.confidence.interval_column_names import EtaError
from polars_prcurve.core.confidence.point_intervals import (
    MOVED_RATES,
    SIZE_COLUMNS,
    STEP_COLUMNS,
    add_limits,
    add_limits_of_etas,
)
from polars_prcurve.core.curves.curve_table import build_metric_rows, pick_by_number
from polars_prcurve.core.curves.guarantees import PROMISE_COLUMNS, add_upper_limits
from polars_prcurve.core.curves.targets import (
    END,
    EXTREME,
    LEAST_SCORE,
    ROW_NUMBER,
    TARGET_NUMBER,
    THRESHOLD_ROW,
    Extreme,
    GroupThresholds,
    Target,
    choose_row,
    find_greatest_rate,
    merge_steps,
)
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.inputs.score_and_rate_tables import ResolvedTable
from polars_prcurve.core.metrics.curve_metric import SegmentValues
from polars_prcurve.core.prevalence.pair_and_part_column_names import Pair
from polars_prcurve.core.sweep.sweep_column_names import Sweep
from polars_prcurve.core.sweep.sweep_table import begin_block, end_block, mark_blocks

_REQUEST = f"{RESERVED}request"  # the number of a pair, target and threshold of its group


@dataclass(frozen=True)
class RowSearch:
    """The rows of all curves, among which targets choose, and the pairs of group and prevalence."""

    table: ResolvedTable
    sweep_rows: pl.LazyFrame  # by group and rising ROW_NUMBER
    pairs: pl.LazyFrame
    groups: pl.LazyFrame
    has_many_etas: bool  # whether a group may have several prevalences, so that blocks save time

    def choose_rows(self, targets: Sequence[Target]) -> pl.LazyFrame:
        """Return a row per pair and target, or threshold of a frame, with ROW_NUMBER or null."""
        thresholds_of_target = list_frame_targets(targets)
        plain_targets = {
            number: target for number, target in enumerate(targets) if number not in thresholds_of_target
        }
        fixed_targets = {
            number: target for number, target in plain_targets.items() if not target.depends_on_eta
        }
        # At one prevalence a look at every row costs no more than the search for blocks.
        eta_targets = {
            number: target for number, target in plain_targets.items() if target.depends_on_eta
        }
        block_targets = {
            number: target
            for number, target in eta_targets.items()
            if self.has_many_etas and target.changes_once_in_block
        }
        row_targets = {
            number: target for number, target in eta_targets.items() if number not in block_targets
        }
        requests = self._list_requests([*plain_targets], thresholds_of_target)
        if fixed_targets:
            extremes = self._find_extremes(self.sweep_rows, Group.NUMBER, fixed_targets)
            requests = requests.join(extremes, on=Group.NUMBER, how="left")
        if row_targets:
            eta_rows = self._repeat_at_eta(self.sweep_rows, row_targets)
            extremes = self._find_extremes(eta_rows, Pair.NUMBER, row_targets)
            requests = requests.join(extremes, on=Pair.NUMBER, how="left")
        if block_targets:
            requests = requests.join(self._search_blocks(block_targets), on=Pair.NUMBER, how="left")
        for number in thresholds_of_target:
            request_scores = requests.select(_REQUEST, Group.NUMBER, LEAST_SCORE).drop_nulls(LEAST_SCORE)
            request_rows = self.sweep_rows.join(request_scores, on=Group.NUMBER)
            extremes = self._find_extremes(request_rows, _REQUEST, {number: targets[number]})
            requests = requests.join(extremes, on=_REQUEST, how="left")
        chosen_rows = (
            target.search.read_row(read_extreme(number)) for number, target in enumerate(targets)
        )
        row_number = pick_by_number(TARGET_NUMBER, chosen_rows, pl.lit(None, dtype=pl.Int64))
        return requests.with_columns(row_number.alias(ROW_NUMBER))

    def _list_requests(
        self, numbers: list[int], thresholds_of_target: Mapping[int, GroupThresholds]
    ) -> pl.LazyFrame:
        """Return a row per pair and target: one of those `numbers`, or a threshold of a frame."""
        target_numbers = pl.LazyFrame({TARGET_NUMBER: numbers}, schema={TARGET_NUMBER: pl.Int64})
        request_parts = [self.pairs.join(target_numbers, how="cross")] if numbers else []
        for number, thresholds in thresholds_of_target.items():
            pairs = self.pairs.with_columns(pl.lit(number, dtype=pl.Int64).alias(TARGET_NUMBER))
            request_parts.append(thresholds.join_thresholds(pairs))
        requests = (
            request_parts[0] if len(request_parts) == 1 else pl.concat(request_parts, how="diagonal")
        )
        if not thresholds_of_target:
            return requests
        # A larger query may run this twice, and a join may return rows in another order each time.
        return requests.sort(Pair.NUMBER, TARGET_NUMBER, THRESHOLD_ROW).with_row_index(_REQUEST)

    def find_blocks(self, targets: Sequence[Target]) -> pl.Expr:
        """Return the test of rows that can matter to targets, and of those beside; these are corners."""
        search = replace(self, has_many_etas=False)
        extremes = self._name_extremes(dict(enumerate(targets)), build_metric_rows(self.table))
        row_lists = pl.concat_list(*_list_rows_of(extremes), ROW_NUMBER).alias(ROW_NUMBER)
        row_numbers = (
            search.choose_rows(targets).select(row_lists).explode(ROW_NUMBER, empty_as_null=False)
        )
        # What a search reads of a whole curve is its first and last row.
        is_first = begin_block(Group.NUMBER)
        end_rows = self.sweep_rows.filter(is_first | end_block(is_first)).select(ROW_NUMBER)
        corners = self.sweep_rows.join(pl.concat([row_numbers, end_rows]), on=ROW_NUMBER, how="semi")
        block = pl.col(Sweep.BLOCK)
        near_blocks = (
            pl.concat_list(Sweep.BLOCK, block - 1, block + 1).explode(empty_as_null=False).unique()
        )
        return block.is_in(self.table.collect(corners.select(near_blocks), "")[Sweep.BLOCK].implode())

    def _search_blocks(self, targets: Mapping[int, Target]) -> pl.LazyFrame:
        """Return the extremes over all rows, from corners and from the blocks that these point at."""
        marked_rows = mark_blocks(self.sweep_rows)
        corners = marked_rows.filter(Sweep.IS_CORNER)
        corner_extremes = self._find_extremes(
            self._repeat_at_eta(corners, targets), Pair.NUMBER, targets
        )
        extremes = self._name_extremes(targets, build_metric_rows(self.table))
        extreme_rows = _list_rows_of(extremes)
        if not extreme_rows:
            return corner_extremes
        row_lists = pl.concat_list(extreme_rows).alias(ROW_NUMBER)
        row_numbers = corner_extremes.select(Pair.NUMBER, row_lists).explode(
            ROW_NUMBER, empty_as_null=False
        )
        pair_blocks = row_numbers.drop_nulls().join(
            corners.select(ROW_NUMBER, Sweep.BLOCK), on=ROW_NUMBER
        )
        # A row inside a block joins its pairs, and not all prevalences of its group.
        inner_rows = marked_rows.filter(~pl.col(Sweep.IS_CORNER)).drop(Group.NUMBER)
        inner_rows = inner_rows.join(
            pair_blocks.select(Pair.NUMBER, Sweep.BLOCK).unique(), on=Sweep.BLOCK
        )
        inner_extremes = self._find_extremes(
            self._repeat_at_eta(inner_rows, targets, key=Pair.NUMBER), Pair.NUMBER, targets
        )
        reduced_columns = (extreme.reduce(pl.col(name)) for name, extreme in extremes.items())
        return pl.concat([corner_extremes, inner_extremes]).group_by(Pair.NUMBER).agg(reduced_columns)

    def _repeat_at_eta(
        self, sweep_rows: pl.LazyFrame, targets: Mapping[int, Target], *, key: str = Group.NUMBER
    ) -> pl.LazyFrame:
        """Return the rows at each prevalence of their NUMBER, or NUMBER, and what promises read."""
        pair_names = self.pairs.collect_schema().names()
        columns = (Group.NUMBER, Pair.NUMBER, "eta", Pair.POS_FACTOR, Pair.NEG_FACTOR, EtaError.IS_OWN)
        promise_names = (LEAST_SCORE, *PROMISE_COLUMNS, *EtaError.LIMITS)
        pairs = self.pairs.select(*columns, *(name for name in promise_names if name in pair_names))
        eta_rows = sweep_rows.join(pairs, on=key)
        greatest_rate = find_greatest_rate(targets.values())
        if set(PROMISE_COLUMNS) <= set(pair_names) and greatest_rate is not None:
            return add_upper_limits(eta_rows, None, greatest_rate, self.table)
        return eta_rows

    def _find_extremes(
        self, sweep_rows: pl.LazyFrame, key_column: str, targets: Mapping[int, Target]
    ) -> pl.LazyFrame:
        """Return, per value of `key_column`, the extremes that tell the row of each target."""
        metric_rows = build_metric_rows(self.table)
        extremes = self._name_extremes(targets, metric_rows)
        for step in merge_steps(targets.values()):
            sweep_rows = sweep_rows.with_columns(**step(metric_rows))
        extreme_columns = {name: extreme.value for name, extreme in extremes.items()}
        reduced_columns = [extreme.reduce(pl.col(name)) for name, extreme in extremes.items()]
        return sweep_rows.select(key_column, **extreme_columns).group_by(key_column).agg(reduced_columns)

    def _name_extremes(
        self, targets: Mapping[int, Target], metric_rows: SegmentValues
    ) -> dict[str, Extreme]:
        """Return the extremes that tell the rows of targets, and END of promises, by their columns."""
        extreme_of_column: dict[str, Extreme] = {}
        for number, target in targets.items():
            extremes = dict(target.search.find_extremes(metric_rows))
            if target.promise is not None and target.promise.find_end is not None:
                extremes[END] = target.promise.find_end(metric_rows)
            extreme_of_column |= {
                EXTREME.format(name, number): extreme for name, extreme in extremes.items()
            }
        return extreme_of_column


def _list_rows_of(extremes: Mapping[str, Extreme]) -> list[pl.Expr]:
    """Return the numbers of the rows that have the extremes, over the columns with these names."""
    return [
        extreme.read_row(pl.col(name))
        for name, extreme in extremes.items()
        if extreme.read_row is not None
    ]


def read_extreme(number: int) -> Callable[[str], pl.Expr]:
    """Return the function from the name of an extreme of a target to its column."""
    return lambda name: pl.col(EXTREME.format(name, number))


def list_frame_targets(targets: Sequence[Target]) -> dict[int, GroupThresholds]:
    """Return the thresholds of targets that are a frame of them, by the number of the target."""
    return {
        number: target.thresholds
        for number, target in enumerate(targets)
        if target.thresholds is not None
    }


# Thresholds that move -------------------------------------------------------------------------

COARSENESS = f"{RESERVED}coarseness"
"""The step of a rate at the score of a row, or of the next, as a share of the interval of the rate: the
greater one of recall and fpr. Where many examples have one score, a threshold cannot move a little."""
_LIMITS = [(rate, limit) for rate, limits in LIMIT_COLUMNS.items() for limit in limits]
"""The ends of both rates: the column that a target reads, and that which it reads once it is moved."""
_ETA_ENDS = [("eta", limit) for limit in EtaError.LIMITS]  # those of eta
_RISES = f"{RESERVED}recall_rises"  # whether a row may be the first that reaches a recall
_END = f"{RESERVED}moved_end"  # the place of an end in the list of ends
_BEYOND = f"{RESERVED}rate_beyond"  # both rates where no row meets a moved target


def add_row_limits(
    sweep_rows: pl.LazyFrame, sizes: Mapping[str, str], bands: ModelBands, *, rising: bool
) -> pl.LazyFrame:
    """Add LIMIT_COLUMNS, STEP_COLUMNS and COARSENESS to curves; `sizes` are those of SIZE_COLUMNS.

    If `rising`, only rows on which recall rises are kept.
    """
    # A step is that of a rate at the score of its row, or at the next one if it is greater, and at most
    # half as wide as the interval of the rate.
    size_of_rate = {"recall": pl.col("tp") + pl.col("fn"), "fpr": pl.col("fp") + pl.col("tn")}
    size_of_rate |= {rate: pl.col(sizes[size]) for rate, size in SIZE_COLUMNS.items() if sizes}
    is_first, is_last = (
        pl.col(Group.NUMBER).ne_missing(pl.col(Group.NUMBER).shift(offset)) for offset in (1, -1)
    )
    sweep_rows = sweep_rows.with_columns(
        (pl.col(rate) - pl.when(~is_first).then(pl.col(rate).shift(1)).otherwise(0.0)).alias(step_column)
        for rate, step_column in STEP_COLUMNS.items()
    )
    recall_rises = pl.col(STEP_COLUMNS["recall"]) > 0 if rising else pl.lit(True)
    sweep_rows = sweep_rows.with_columns(
        *(
            pl.max_horizontal(step_column, pl.when(~is_last).then(pl.col(step_column).shift(-1)))
            for step_column in STEP_COLUMNS.values()
        ),
        recall_rises.alias(_RISES),
    ).filter(_RISES)
    sweep_rows = add_limits(
        sweep_rows, {rate: (rate, size) for rate, size in size_of_rate.items()}, bands
    )
    width_of_step = {
        STEP_COLUMNS[rate]: pl.col(high_column) - pl.col(low_column)
        for rate, (low_column, high_column) in LIMIT_COLUMNS.items()
    }
    coarseness = pl.max_horizontal(
        pl.col(step_column) / width for step_column, width in width_of_step.items()
    )
    short_steps = (
        pl.min_horizontal(step_column, width * 0.5).alias(step_column)
        for step_column, width in width_of_step.items()
    )
    return sweep_rows.with_columns(coarseness.alias(COARSENESS), *short_steps)


def add_eta_ends(pairs: pl.LazyFrame, sweep_rows: pl.LazyFrame, bands: ModelBands) -> pl.LazyFrame:
    """Add LIMITS to the pairs, the interval of a prevalence that was counted or is an estimate."""
    is_joined = bands.counts_eta and bands.sample.joins_rows
    if is_joined:  # the variance of eta is on the rows of a group
        group_variances = sweep_rows.group_by(Group.NUMBER).agg(pl.col(EtaError.VARIANCE).first())
        pairs = pairs.join(group_variances, on=Group.NUMBER, how="left", maintain_order="left")
    pairs = add_limits_of_etas(pairs, bands)
    return pairs.drop(EtaError.VARIANCE) if is_joined else pairs


def add_moved_rates(
    points: pl.LazyFrame, search: RowSearch, targets: Sequence[Target], bands: ModelBands
) -> pl.LazyFrame:
    """Add MOVED_RATES to the points of targets from rows that have rate limits."""
    rate_ends, moved_targets = _list_ends(targets, bands), move_targets(targets, bands)
    rate_rows = search.sweep_rows.select(ROW_NUMBER, *LIMIT_COLUMNS, *(limit for _, limit in _LIMITS))
    # Where no row meets a moved target, the threshold is beyond all scores: below them if the first row
    # that meets the target is taken, otherwise above them.
    values_beyond = (1.0 if target.takes_first else 0.0 for target in targets)
    # A moved target has a number for its end of a rate in that of its target.
    moved_number, n_ends = pl.col(TARGET_NUMBER), len(rate_ends)
    moved_points = search.choose_rows(moved_targets).join(rate_rows, on=ROW_NUMBER, how="left")
    moved_points = moved_points.with_columns(
        (moved_number % n_ends).alias(_END), moved_number // n_ends
    ).with_columns(pick_by_number(TARGET_NUMBER, values_beyond).alias(_BEYOND))
    columns, rate_beyond = [], pl.col(_BEYOND).first()
    limits_beyond: dict[str, pl.Expr] = {}
    for rate, size_column in SIZE_COLUMNS.items():
        size = pl.col(size_column).first()
        limits_beyond |= dict(bands.limits_by_name(rate, repeat_in_rows(rate_beyond, size), size))
    for end_number, (rate, limit) in enumerate(rate_ends):
        for name, column in MOVED_RATES[limit].items():
            moved_column, beyond_value = (name, rate_beyond)
            if name == rate:
                moved_column, beyond_value = limit, limits_beyond[limit]
            value_at_end = pl.col(moved_column).filter(pl.col(_END) == end_number).first()
            columns.append(value_at_end.fill_null(beyond_value).alias(column))
    moved_points = moved_points.group_by(Pair.NUMBER, TARGET_NUMBER).agg(columns)
    points = points.join(moved_points, on=[Pair.NUMBER, TARGET_NUMBER], how="left")
    if not bands.has_eta_limits or len(rate_ends) > len(_LIMITS):
        return points
    # A target that does not depend on eta is met on the same row whatever it is.
    unmoved_rates = {
        column: name for limit in EtaError.LIMITS for name, column in MOVED_RATES[limit].items()
    }
    return points.with_columns(pl.col(name).alias(column) for column, name in unmoved_rates.items())


def _list_ends(targets: Sequence[Target], bands: ModelBands) -> list[tuple[str, str]]:
    """Return the ends of the intervals that move targets: of both rates, and of eta if one reads it."""
    has_eta_ends = bands.has_eta_limits and any(target.depends_on_eta for target in targets)
    return [*_LIMITS, *_ETA_ENDS] if has_eta_ends else _LIMITS


def move_targets(targets: Sequence[Target], bands: ModelBands) -> list[Target]:
    """Return each target at each of these ends."""
    ends = _list_ends(targets, bands)
    return [_move_target(target, *end) for target in targets for end in ends]


def _move_target(target: Target, source_column: str, limit_column: str) -> Target:
    """Return the target of rows whose rate, or prevalence, is an end of its interval."""
    assert target.test is not None  # the target is sought anew in each sample
    test = target.test

    def test_at_limit(rows: SegmentValues) -> pl.Expr:
        def column(name: str) -> pl.Expr:
            expression: pl.Expr = rows.column(limit_column if name == source_column else name)
            return expression

        eta = column("eta") if source_column == "eta" else rows.eta
        return test(
            SegmentValues(
                column, eta, lambda metric: metric.from_columns(column("recall"), column("fpr"), eta)
            )
        )

    return replace(target, search=choose_row(test_at_limit, first=target.takes_first))
