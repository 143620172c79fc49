"""The rows that targets choose at each prevalence, found without a look at all rows at all of them.

A curve falls into blocks: a row where recall rises, and the rows below it, which add negatives alone.
Within a block recall stays and fpr rises, so what a target asks for changes at most once. The first and
the last row of a block, its corners, tell whether it does:

    corners × eta  -> found at corners   a row of each target, and its block
    blocks × eta   -> found in blocks    the same, among the rows inside
                   -> found              the better one of both

Where one example in a hundred is positive, that is a fiftieth of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.curves.curve_table import build_metric_rows, pick_by_number
from polars_prcurve.curves.group_thresholds import LEAST_SCORE, THRESHOLD_ROW, GroupThresholds
from polars_prcurve.curves.guarantee_searches import PROMISE_COLUMNS, add_upper_limits
from polars_prcurve.curves.targets import (
    END,
    ROW_NUMBER,
    TARGET_NUMBER,
    Extreme,
    Target,
    find_greatest_rate,
    merge_steps,
)
from polars_prcurve.inputs.input_tables import InputTable
from polars_prcurve.sweep.sweep_table import begin_block, end_block

_REQUEST, _BLOCK, _IS_CORNER = (f"{c.RESERVED}{name}" for name in ("request", "block", "is_corner"))


@dataclass(frozen=True)
class RowSearch:
    """The rows of all curves, among which targets choose, and the pairs of group and prevalence."""

    table: InputTable
    rows: pl.LazyFrame  # by group and rising ROW_NUMBER
    pairs: pl.LazyFrame
    has_many_etas: bool  # whether a group may have several prevalences, so that blocks save time

    def choose_rows(self, targets: Sequence[Target]) -> pl.LazyFrame:
        """Return a row per pair and target, or threshold of a frame, with ROW_NUMBER or null."""
        frames = list_frame_targets(targets)
        sought = {n: target for n, target in enumerate(targets) if n not in frames}
        eta_free = {n: target for n, target in sought.items() if not target.depends_on_eta}
        # At one prevalence a look at every row costs no more than the search for blocks.
        at_eta = {n: target for n, target in sought.items() if target.depends_on_eta}
        in_blocks = {
            n: of for n, of in at_eta.items() if self.has_many_etas and of.changes_once_in_block
        }
        others = {n: target for n, target in at_eta.items() if n not in in_blocks}
        alike = pl.LazyFrame({TARGET_NUMBER: [*sought]}, schema={TARGET_NUMBER: pl.Int64})
        parts = [self.pairs.join(alike, how="cross")] if sought else []
        for number, thresholds in frames.items():
            one = self.pairs.with_columns(pl.lit(number, dtype=pl.Int64).alias(TARGET_NUMBER))
            parts.append(thresholds.join_thresholds(one))
        requests = parts[0] if len(parts) == 1 else pl.concat(parts, how="diagonal")
        if frames:
            # A larger query may run this twice, and a join may return rows in another order each time.
            requests = requests.sort(c.PAIR, TARGET_NUMBER, THRESHOLD_ROW).with_row_index(_REQUEST)
        if eta_free:
            found = self._find_extremes(self.rows, c.GROUP, eta_free)
            requests = requests.join(found, on=c.GROUP, how="left")
        if others:
            found = self._find_extremes(self._repeat_at_eta(self.rows, others), c.PAIR, others)
            requests = requests.join(found, on=c.PAIR, how="left")
        if in_blocks:
            requests = requests.join(self._search_blocks(in_blocks), on=c.PAIR, how="left")
        for n in frames:
            asked = requests.select(_REQUEST, c.GROUP, LEAST_SCORE).drop_nulls(LEAST_SCORE)
            reached = self.rows.join(asked, on=c.GROUP)
            found = self._find_extremes(reached, _REQUEST, {n: targets[n]})
            requests = requests.join(found, on=_REQUEST, how="left")
        rows = (target.search.row(read_extreme(n)) for n, target in enumerate(targets))
        chosen = pick_by_number(TARGET_NUMBER, rows, pl.lit(None, dtype=pl.Int64))
        return requests.with_columns(chosen.alias(ROW_NUMBER))

    def _search_blocks(self, targets: Mapping[int, Target]) -> pl.LazyFrame:
        """Return the extremes over all rows, from corners and from the blocks that these point at."""
        begins = pl.col(_IS_CORNER)
        # Where fp = 0 much is undefined at eta = 0, and the row after it is the first that has a value.
        follows_none = (pl.col("fpr").shift(1) == 0).fill_null(False)
        rows = self.rows.with_columns(begin_block("recall").alias(_IS_CORNER)).with_columns(
            begins.cast(pl.Int64).cum_sum().alias(_BLOCK),
            (begins | end_block(begins) | follows_none).alias(_IS_CORNER),
        )
        corners = rows.filter(_IS_CORNER)
        at_corners = self._find_extremes(self._repeat_at_eta(corners, targets), c.PAIR, targets)
        extremes = self._name_extremes(targets)
        numbers = [of.row_of(pl.col(name)) for name, of in extremes.items() if of.row_of is not None]
        if not numbers:
            return at_corners
        found = at_corners.select(c.PAIR, pl.concat_list(numbers).alias(ROW_NUMBER)).explode(ROW_NUMBER)
        blocks = found.drop_nulls().join(corners.select(ROW_NUMBER, _BLOCK), on=ROW_NUMBER)
        # A row inside a block joins its pairs, and not all prevalences of its group.
        inner = rows.filter(~pl.col(_IS_CORNER)).drop(c.GROUP)
        inner = inner.join(blocks.select(c.PAIR, _BLOCK).unique(), on=_BLOCK)
        within = self._find_extremes(self._repeat_at_eta(inner, targets, on=c.PAIR), c.PAIR, targets)
        reduced = (extreme.reduce(pl.col(name)) for name, extreme in extremes.items())
        return pl.concat([at_corners, within]).group_by(c.PAIR).agg(reduced)

    def _repeat_at_eta(
        self, rows: pl.LazyFrame, targets: Mapping[int, Target], *, on: str = c.GROUP
    ) -> pl.LazyFrame:
        """Return the rows at each prevalence of their GROUP, or PAIR, and what promises read."""
        of_pairs = self.pairs.collect_schema().names()
        read = (c.GROUP, c.PAIR, "eta", c.POS_FACTOR, c.NEG_FACTOR, c.IS_OWN_ETA)
        promised = (LEAST_SCORE, *PROMISE_COLUMNS, *c.ETA_LIMITS)
        pairs = self.pairs.select(*read, *(name for name in promised if name in of_pairs))
        eta_rows = rows.join(pairs, on=on)
        rate = find_greatest_rate(targets.values())
        if set(PROMISE_COLUMNS) <= set(of_pairs) and rate is not None:
            return add_upper_limits(eta_rows, None, rate, self.table)
        return eta_rows

    def _find_extremes(
        self, rows: pl.LazyFrame, key: str, targets: Mapping[int, Target]
    ) -> pl.LazyFrame:
        """Return, per value of `key`, the extremes that tell the row of each target."""
        extremes, metric_rows = self._name_extremes(targets), build_metric_rows(self.table)
        for step in merge_steps(targets.values()):
            rows = rows.with_columns(**step(metric_rows))
        values = {name: extreme.value for name, extreme in extremes.items()}
        reduced = [extreme.reduce(pl.col(name)) for name, extreme in extremes.items()]
        return rows.select(key, **values).group_by(key).agg(reduced)

    def _name_extremes(self, targets: Mapping[int, Target]) -> dict[str, Extreme]:
        """Return the extremes that tell the rows of targets, and END of promises, by their columns."""
        metric_rows = build_metric_rows(self.table)
        named: dict[str, Extreme] = {}
        for number, target in targets.items():
            extremes = dict(target.search.extremes(metric_rows))
            if target.promise is not None and target.promise.end is not None:
                extremes[END] = target.promise.end(metric_rows)
            named |= {name_extreme(number, name): extreme for name, extreme in extremes.items()}
        return named


def name_extreme(number: int, name: str) -> str:
    """Return the name of the column of an extreme of a target."""
    return f"{c.RESERVED}{name}_{number}"


def read_extreme(number: int) -> Callable[[str], pl.Expr]:
    """Return the function from the name of an extreme of a target to its column."""
    return lambda name: pl.col(name_extreme(number, name))


def list_frame_targets(targets: Sequence[Target]) -> dict[int, GroupThresholds]:
    """Return the thresholds of targets that are a frame of them, by the number of the target."""
    return {n: target.thresholds for n, target in enumerate(targets) if target.thresholds is not None}
