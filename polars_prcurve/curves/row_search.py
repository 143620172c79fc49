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

from collections.abc import Callable, Mapping

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.curves.curve_table import build_metric_rows
from polars_prcurve.curves.group_thresholds import LEAST_SCORE
from polars_prcurve.curves.guarantees import PROMISE_COLUMNS, add_upper_limits, list_extremes
from polars_prcurve.curves.targets import ROW_NUMBER, Extreme, Target, has_rates, merge_steps
from polars_prcurve.inputs.score_table import InputTable
from polars_prcurve.sweep.row_choice import begin_block, end_block

_BLOCK = f"{c.RESERVED}block"
_IS_CORNER = f"{c.RESERVED}is_corner"


def find_extremes_at_eta(
    rows: pl.LazyFrame,
    pairs: pl.LazyFrame,
    targets: Mapping[int, Target],
    table: InputTable,
    *,
    has_many_etas: bool,
) -> pl.LazyFrame:
    """Return, per pair, the extremes that tell the row of each target, by its number.

    The `rows` come by group and rising ROW_NUMBER. A look at every row costs no more, unless a
    group `has_many_etas`.
    """
    changes_once = {n: of for n, of in targets.items() if has_many_etas and of.changes_once_in_block}
    others = {n: target for n, target in targets.items() if n not in changes_once}
    found = []
    if others:
        found.append(find_extremes(_repeat_at_eta(rows, pairs, others, table), c.PAIR, others, table))
    if changes_once:
        found.append(_search_blocks(rows, pairs, changes_once, table))
    return found[0] if len(found) == 1 else found[0].join(found[1], on=c.PAIR)


def _search_blocks(
    rows: pl.LazyFrame, pairs: pl.LazyFrame, targets: Mapping[int, Target], table: InputTable
) -> pl.LazyFrame:
    """Return the extremes over all rows, from corners and from the blocks that these point at."""
    begins = pl.col(_IS_CORNER)
    rows = rows.with_columns(begin_block("recall").alias(_IS_CORNER)).with_columns(
        begins.cast(pl.Int64).cum_sum().alias(_BLOCK), (begins | end_block(begins)).alias(_IS_CORNER)
    )
    corners = rows.filter(_IS_CORNER)
    at_corners = find_extremes(_repeat_at_eta(corners, pairs, targets, table), c.PAIR, targets, table)
    extremes = _name_extremes(targets, table)
    numbers = [of.row_of(pl.col(name)) for name, of in extremes.items() if of.row_of is not None]
    if not numbers:
        return at_corners
    found = at_corners.select(c.PAIR, pl.concat_list(numbers).alias(ROW_NUMBER)).explode(ROW_NUMBER)
    blocks = found.drop_nulls().join(corners.select(ROW_NUMBER, _BLOCK), on=ROW_NUMBER)
    inner = rows.filter(~pl.col(_IS_CORNER)).drop(c.GROUP)
    inner = inner.join(blocks.select(c.PAIR, _BLOCK).unique(), on=_BLOCK)
    inner = _repeat_at_eta(inner, pairs, targets, table, on=c.PAIR)
    within = find_extremes(inner, c.PAIR, targets, table)
    reduced = (extreme.reduce(pl.col(name)) for name, extreme in extremes.items())
    return pl.concat([at_corners, within]).group_by(c.PAIR).agg(reduced)


def _repeat_at_eta(
    rows: pl.LazyFrame,
    pairs: pl.LazyFrame,
    targets: Mapping[int, Target],
    table: InputTable,
    *,
    on: str = c.GROUP,
) -> pl.LazyFrame:
    """Return the rows at each prevalence of their GROUP, or of their PAIR, with what promises read."""
    of_pairs = pairs.collect_schema().names()
    promised = [name for name in (LEAST_SCORE, *PROMISE_COLUMNS) if name in of_pairs]
    pairs = pairs.select(c.GROUP, c.PAIR, "eta", c.POS_FACTOR, c.NEG_FACTOR, *promised)
    eta_rows = rows.join(pairs, on=on)
    if set(PROMISE_COLUMNS) <= set(of_pairs) and has_rates(targets.values()):
        return add_upper_limits(eta_rows, None, table)
    return eta_rows


def find_extremes(
    rows: pl.LazyFrame, key: str, targets: Mapping[int, Target], table: InputTable
) -> pl.LazyFrame:
    """Return, per value of `key`, the extremes that tell the row of each target, by its number."""
    extremes, metric_rows = _name_extremes(targets, table), build_metric_rows(table)
    for add in merge_steps(targets.values()):
        rows = rows.with_columns(**add(metric_rows))
    values = {name: extreme.value for name, extreme in extremes.items()}
    reduced = [extreme.reduce(pl.col(name)) for name, extreme in extremes.items()]
    return rows.select(key, **values).group_by(key).agg(reduced)


def _name_extremes(targets: Mapping[int, Target], table: InputTable) -> dict[str, Extreme]:
    """Return the extremes of targets, by the names of their columns."""
    metric_rows = build_metric_rows(table)
    return {
        name_extreme(number, name): extreme
        for number, target in targets.items()
        for name, extreme in list_extremes(target, metric_rows).items()
    }


def name_extreme(number: int, name: str) -> str:
    """Return the name of the column of an extreme of a target."""
    return f"{c.RESERVED}{name}_{number}"


def read_extreme(number: int) -> Callable[[str], pl.Expr]:
    """Return the function from the name of an extreme of a target to its column."""
    return lambda name: pl.col(name_extreme(number, name))
