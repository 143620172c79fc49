"""Samples drawn again: how often each example stands in a bootstrap replicate.

A replicate draws as many examples as the sample has, with replacement. Examples are drawn in one of
two ways:

    by cell, a row of the sweep    plain examples: a million in one cell take as long as one
    by unit, rows that belong together    examples with weights, in clusters, or scored by several models

Each sample has its own two streams of random numbers, the first for positives or whole clusters, the
second for negatives. So its replicates depend neither on the other samples of a block, nor on how many
replicates are drawn at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


DrawnCounts: TypeAlias = "tuple[NDArray[Any], NDArray[Any]]"
"""Positives and negatives, each with a row per replicate and a column per cell."""


class CellSample(NamedTuple):
    """One curve of plain examples, as counts per cell; each class is drawn on its own."""

    pos: NDArray[np.int64]
    neg: NDArray[np.int64]

    @property
    def lengths(self) -> Sequence[int]:
        """The number of cells of each curve."""
        return [len(self.pos)]

    @property
    def sizes(self) -> tuple[float, float]:
        """The effective numbers of positives and of negatives that are drawn independently."""
        return float(self.pos.sum()), float(self.neg.sum())

    @property
    def counts(self) -> DrawnCounts:
        """The positives and negatives of the sample itself, as one row."""
        return self.pos[None], self.neg[None]

    def draw(self, streams: Sequence[np.random.Generator], replicates: int) -> DrawnCounts:
        """Draw from where the streams stand."""
        return _draw_counts(streams[0], self.pos, replicates), _draw_counts(
            streams[1], self.neg, replicates
        )


class UnitSample(NamedTuple):
    """Rows of one or several curves, in units of rows that are drawn together; as `CellSample`."""

    strata: Sequence[NDArray[np.int64]]
    """The numbers of the units, in sets; a unit is replaced by units of its set only."""
    unit: NDArray[np.int64]
    """The unit of each row."""
    cell: NDArray[np.int64]
    """The cell of each row."""
    pos: NDArray[np.float64]
    """The contribution of each row to the positives of its cell."""
    neg: NDArray[np.float64]
    """The contribution of each row to the negatives of its cell."""
    lengths: Sequence[int]

    @property
    def sizes(self) -> tuple[float, float]:
        import numpy as np

        def measure(amounts: NDArray[Any]) -> float:
            """Return the number of equal amounts whose mean varies as much: sum(w)**2 / sum(w**2)."""
            largest = amounts.max(initial=0.0)
            if largest == 0:
                return 0.0
            shares = amounts / largest  # squares of shares neither vanish nor overflow
            return float(shares.sum() ** 2 / (shares * shares).sum())

        pos, neg = (measure(np.bincount(self.unit, amounts)) for amounts in (self.pos, self.neg))
        return pos, neg

    @property
    def counts(self) -> DrawnCounts:
        import numpy as np

        n_cells = sum(self.lengths)
        pos, neg = (np.bincount(self.cell, side, n_cells)[None] for side in (self.pos, self.neg))
        return pos, neg

    def draw(self, streams: Sequence[np.random.Generator], replicates: int) -> DrawnCounts:
        import numpy as np

        n_cells = sum(self.lengths)
        drawn = np.zeros((2, replicates, n_cells))
        for replicate in range(replicates):
            times = np.zeros(sum(map(len, self.strata)), dtype=np.int64)
            for units, random in zip(self.strata, streams, strict=False):  # clusters: one stratum
                times[units] = _draw_counts(random, np.ones(len(units), dtype=np.int64), 1)[0]
            row_times = times[self.unit]
            for side, amounts in enumerate((self.pos, self.neg)):
                drawn[side, replicate] = np.bincount(self.cell, row_times * amounts, n_cells)
        return drawn[0], drawn[1]


Sample: TypeAlias = CellSample | UnitSample
"""Examples that are drawn together; the cells of their curves, one curve after another."""


def _draw_counts(
    random: np.random.Generator, cells: NDArray[np.int64], replicates: int
) -> NDArray[np.int64]:
    """Draw as many examples as the cells hold, with replacement; return their counts per replicate."""
    import numpy as np

    total = int(cells.sum())
    if total > 3 * len(cells):  # faster than single examples where cells hold many
        return random.multinomial(total, cells / total, replicates)
    drawn = np.zeros((replicates, len(cells)), dtype=np.int64)
    if total > 0:
        cell_of_example = np.repeat(np.arange(len(cells)), cells)
        for replicate in range(replicates):
            chosen = cell_of_example[random.integers(0, total, total)]
            drawn[replicate] = np.bincount(chosen, minlength=len(cells))
    return drawn
