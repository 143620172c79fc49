"""Samples drawn again: how often each example stands in a bootstrap replicate.

A replicate draws as many examples as there are, with replacement, so each stands in it a random number
of times. Examples that only count are drawn by the cell they are in, which takes as long for a
million of them as for one; examples that bring a weight, or stand in several curves, one by one.

Each sample has streams of random numbers of its own, one for each kind of example that is drawn for
itself, so that a replicate does not depend on what is drawn together with it, nor on how many are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Cells", "Draw", "Sample", "Units"]

Draw: TypeAlias = "tuple[NDArray[Any], NDArray[Any]]"
"""Positives and negatives of each replicate in each cell."""


class Sample(Protocol):
    """What is drawn together, and the curves that it makes, one after another in the cells."""

    @property
    def lengths(self) -> Sequence[int]:
        """The cells of each curve."""
        ...

    @property
    def sizes(self) -> tuple[float, float]:
        """Positives and negatives that are drawn for themselves, if all counted alike."""
        ...

    def draw(self, streams: Sequence[np.random.Generator], replicates: int) -> Draw: ...


class Cells(NamedTuple):
    """Positives and negatives of one curve, each class drawn for itself."""

    pos: NDArray[np.int64]
    neg: NDArray[np.int64]

    @property
    def lengths(self) -> Sequence[int]:
        return [len(self.pos)]

    @property
    def sizes(self) -> tuple[float, float]:
        return float(self.pos.sum()), float(self.neg.sum())

    def draw(self, streams: Sequence[np.random.Generator], replicates: int) -> Draw:
        return _counts(streams[0], self.pos, replicates), _counts(streams[1], self.neg, replicates)


class Units(NamedTuple):
    """Rows of one curve or of several, each drawn with all that are of its unit."""

    strata: Sequence[NDArray[np.int64]]
    """Numbers of the units that are drawn in place of each other."""
    unit: NDArray[np.int64]
    """Of each row."""
    cell: NDArray[np.int64]
    """Of each row."""
    pos: NDArray[np.float64]
    """What each row adds to the positives of its cell."""
    neg: NDArray[np.float64]
    lengths: Sequence[int]

    @property
    def sizes(self) -> tuple[float, float]:
        import numpy as np

        pos, neg = (_effective(np.bincount(self.unit, side)) for side in (self.pos, self.neg))
        return pos, neg

    def draw(self, streams: Sequence[np.random.Generator], replicates: int) -> Draw:
        import numpy as np

        size = sum(self.lengths)
        drawn = np.zeros((2, replicates, size))
        for replicate in range(replicates):
            times = np.zeros(sum(map(len, self.strata)), dtype=np.int64)
            for units, random in zip(self.strata, streams, strict=False):
                times[units] = _counts(random, np.ones(len(units), dtype=np.int64), 1)[0]
            often = times[self.unit]
            for side, amount in enumerate((self.pos, self.neg)):
                drawn[side, replicate] = np.bincount(self.cell, often * amount, size)
        return drawn[0], drawn[1]


def _effective(amounts: NDArray[Any]) -> float:
    """How many equal amounts would tell as much."""
    largest = amounts.max(initial=0.0)
    if largest == 0:
        return 0.0
    shares = amounts / largest  # whose squares neither vanish nor overflow
    return float(shares.sum() ** 2 / (shares * shares).sum())


def _counts(random: np.random.Generator, cells: NDArray[np.int64], replicates: int) -> NDArray[np.int64]:
    """As many examples as the cells hold, drawn from them with replacement."""
    import numpy as np

    n = int(cells.sum())
    if n > 3 * len(cells):  # by cells, else by examples: what is faster
        return random.multinomial(n, cells / n, replicates)
    counts = np.zeros((replicates, len(cells)), dtype=np.int64)
    if n > 0:
        cell = np.repeat(np.arange(len(cells)), cells)
        for replicate in range(replicates):
            counts[replicate] = np.bincount(cell[random.integers(0, n, n)], minlength=len(cells))
    return counts
