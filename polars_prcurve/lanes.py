"""Several prevalences of a group side by side in one row.

Segments are joined with prevalences, and each row of the result is copied, matched and added to a
sum. With a few prevalences to a row, in columns of their own, that is done once for all of them:

    pairs  -> abreast   every so many pairs one row, with those that follow in further lanes
    totals -> in_turn   one row per pair again
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import polars as pl

from polars_prcurve.columns import GROUP, NEG_FACTOR, ODDS, PAIR, POS_FACTOR, RESERVED

__all__ = ["Lanes", "lanes_of"]

Of = TypeVar("Of")

_OF_PAIR = ("eta", ODDS, POS_FACTOR, NEG_FACTOR)
_WIDTH = 4  # more make rows too long for the cache


@dataclass
class Lanes:
    """How pairs are laid out, and which columns there are once per lane."""

    each: int = 1
    """Pairs of each group, which follow one another."""
    width: int = 1
    """How many of them share a row."""
    own: set[str] = field(default_factory=lambda: set(_OF_PAIR))
    """Columns of a pair, and what has been made of them."""

    def columns(self) -> list[Callable[[str], pl.Expr]]:
        """For each lane, its columns by name."""

        def of(lane: int) -> Callable[[str], pl.Expr]:
            return lambda name: pl.col(_in_lane(name, lane) if name in self.own else name)

        return [of(lane) for lane in range(self.width)]

    def made(
        self, make: Callable[[Of], Mapping[str, pl.Expr]], lanes: Iterable[Of]
    ) -> dict[str, pl.Expr]:
        """What is made of each lane, as columns of its own."""
        found = [make(lane) for lane in lanes]
        self.own.update(*found)
        return {_in_lane(name, i): value for i, each in enumerate(found) for name, value in each.items()}

    def abreast(self, pairs: pl.LazyFrame) -> pl.LazyFrame:
        """The first of the pairs that share a row, and the columns of all of them; from pairs in order.

        In the last row of a group lanes may be left, which hold what is of no use.
        """
        first = pl.col(PAIR) % self.each % self.width == 0
        lanes = [
            pl.col(name).shift(-lane).alias(_in_lane(name, lane)) if lane else pl.col(name)
            for lane in range(self.width)
            for name in _OF_PAIR
        ]
        return pairs.select(GROUP, PAIR, *lanes).filter(first)

    def in_turn(self, totals: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
        """One row per pair, from rows of several; null in place of a pair that there is not."""
        if self.width == 1:
            return totals
        place, lanes = pl.col(PAIR) % self.each, range(self.width)
        listed: dict[str, list[pl.Expr]] = {}
        listed[PAIR] = [pl.when(place + lane < self.each).then(pl.col(PAIR) + lane) for lane in lanes]
        listed |= {name: [pl.col(_in_lane(name, lane)) for lane in lanes] for name in names}
        rows = totals.select(pl.concat_list(values).alias(name) for name, values in listed.items())
        return rows.explode(*listed)


def lanes_of(each: int | None) -> Lanes:
    """Lanes that are all in use, or nearly; one if groups may differ in their number of pairs."""
    if not each:
        return Lanes()
    return Lanes(each, math.ceil(each / math.ceil(each / _WIDTH)))


def _in_lane(name: str, lane: int) -> str:
    """What a column is called in a lane; in the first as ever."""
    return f"{RESERVED}{name}_{lane}" if lane else name
