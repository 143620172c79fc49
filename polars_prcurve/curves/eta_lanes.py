"""Lanes: up to four prevalences of a group side by side in one row, in columns of their own.

Errors of paired differences join every cell of examples with every prevalence, and each row of that
join costs a match, a copy of the cell and a look-up of the sum that it is added to. With four
prevalences to a row those three are paid once in place of four times:

    pairs (group, prevalence) -> pack      one row for up to four pairs of a group
    totals by such rows       -> unpack    one row per pair again

In lane 0 a column keeps its name; in lane k it is called `_prc_k_<name>`. The formulas of metrics
do not know of lanes: they ask for a column by name, and get that of the lane at hand. Values are the
same to the last bit with and without lanes, which a test compares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import polars as pl

from polars_prcurve import column_names as c

Lane = TypeVar("Lane")

_PAIR_COLUMNS = ("eta", c.ODDS, c.POS_FACTOR, c.NEG_FACTOR)
_MAX_LANES = 4  # with more, rows no longer fit the processor's cache, and the join slows down


@dataclass
class EtaLanes:
    """How many prevalences share a row, and which columns each of them has for itself."""

    etas_per_group: int = 1
    """Pairs of each group. They follow one another, in the order of PAIR."""
    width: int = 1
    """How many pairs share a row."""
    of_pair: Sequence[str] = ()
    """Columns of a pair, besides eta and its factors, that formulas read."""
    laned: set[str] = field(default_factory=lambda: set(_PAIR_COLUMNS))
    """Columns that exist once per lane: those of a pair, and whatever is computed from them."""

    def __post_init__(self) -> None:
        self.laned.update(self.of_pair)

    def column_readers(self) -> list[Callable[[str], pl.Expr]]:
        """Return for each lane a function from the name of a column to its expression there."""

        def build_reader(lane: int) -> Callable[[str], pl.Expr]:
            return lambda name: pl.col(_name_in_lane(name, lane) if name in self.laned else name)

        return [build_reader(lane) for lane in range(self.width)]

    def compute(
        self, make: Callable[[Lane], Mapping[str, pl.Expr]], lanes: Iterable[Lane]
    ) -> dict[str, pl.Expr]:
        """Return the columns that `make` gives for each lane, under their names in that lane."""
        columns = [make(lane) for lane in lanes]
        self.laned.update(*columns)
        return {
            _name_in_lane(name, lane): value
            for lane, values in enumerate(columns)
            for name, value in values.items()
        }

    def list_names(self, names: Iterable[str]) -> list[str]:
        """Return the names that columns have in all lanes."""
        return [_name_in_lane(name, lane) for lane in range(self.width) for name in names]

    def pack(self, pairs: pl.LazyFrame, also: Sequence[str] = ()) -> pl.LazyFrame:
        """Return one row for every `width` pairs: PAIR is that of lane 0, the others follow it.

        The columns `also` are those of lane 0, too.

        The last row of a group may have unused lanes. They hold pairs of the next group, and `unpack`
        drops them.
        """
        first_in_row = pl.col(c.PAIR) % self.etas_per_group % self.width == 0
        columns = [
            pl.col(name).shift(-lane).alias(_name_in_lane(name, lane)) if lane else pl.col(name)
            for lane in range(self.width)
            for name in (*_PAIR_COLUMNS, *self.of_pair)
        ]
        return pairs.select(c.GROUP, c.PAIR, *also, *columns).filter(first_in_row)

    def unpack(
        self, totals: pl.LazyFrame, names: Sequence[str], *, pair: str = c.PAIR, also: Sequence[str] = ()
    ) -> pl.LazyFrame:
        """Return one row per pair, with the columns `names` and `also`, which all lanes of a row share.

        The number of the pair, in the column `pair`, is null for an unused lane.
        """
        if self.width == 1:
            return totals
        number, lanes = pl.col(pair) % self.etas_per_group, range(self.width)
        lists: dict[str, list[pl.Expr]] = {
            pair: [
                pl.when(number + lane < self.etas_per_group).then(pl.col(pair) + lane) for lane in lanes
            ]
        }
        lists |= {name: [pl.col(_name_in_lane(name, lane)) for lane in lanes] for name in names}
        columns = (pl.concat_list(values).alias(name) for name, values in lists.items())
        rows = totals.select(*also, *columns)
        return rows.explode(*lists)


def choose_lanes(etas_per_group: int | None, of_pair: Sequence[str] = ()) -> EtaLanes:
    """Return as many lanes as are nearly all in use; one if groups differ in their number of pairs."""
    if not etas_per_group:
        return EtaLanes(of_pair=of_pair)
    rows = math.ceil(etas_per_group / _MAX_LANES)
    return EtaLanes(etas_per_group, math.ceil(etas_per_group / rows), of_pair)


def _name_in_lane(name: str, lane: int) -> str:
    """Return the name of a column in a lane; an ending such as `_pos` may be put behind either name."""
    return f"{c.RESERVED}{lane}_{name}" if lane else name
