"""The models of a table in memory, by `by` group, and all pairs of those of one group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_prcurve.columns import MODEL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Places = NDArray[np.intp]

__all__ = ["Models"]


@dataclass(frozen=True)
class Models:
    """Their numbers are those of the rows."""

    frame: pl.DataFrame
    """One row per model, in order: the `by` columns, and MODEL."""

    def groups(self) -> Places:
        """The number of the `by` group of each."""
        keys = [pl.col(name) for name in self.frame.columns if name != MODEL]
        first = pl.int_range(pl.len()) == 0
        new = (
            pl.any_horizontal(first, *(key.ne_missing(key.shift(1)) for key in keys)) if keys else first
        )
        return self.frame.select(new.cum_sum().cast(pl.Int64)).to_series().to_numpy()

    def pairs(self) -> tuple[Places, Places]:
        """Two of one group, the first before the second."""
        import numpy as np

        groups = self.groups()
        starts = np.flatnonzero(np.diff(groups, prepend=0))
        ends = np.append(starts, len(groups))[1:]
        pairs = [
            np.array(np.triu_indices(end - start, 1)) + start
            for start, end in zip(starts, ends, strict=True)
        ]
        return tuple(np.concatenate([np.empty((2, 0), dtype=np.intp), *pairs], axis=1))

    def table(self, rows: Places, **columns: Any) -> pl.DataFrame:
        """`by` of some rows, and columns: names of models by their numbers, or values."""
        by = self.frame.drop(MODEL)[rows]
        return by.with_columns(**columns) if by.width else pl.DataFrame(columns)

    def names(self, rows: Places) -> pl.Series:
        return self.frame[MODEL].gather(rows)
