"""The models of a table in memory, and all pairs of models within a `by` group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_prcurve import column_names as c

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Indices = NDArray[np.intp]


@dataclass(frozen=True)
class ModelIndex:
    """The models of a table; the number of a model is that of its row."""

    frame: pl.DataFrame
    """One row per model, sorted by the `by` columns, then by MODEL."""

    def group_numbers(self) -> Indices:
        """Return the number of the `by` group of each model, from 1 up."""
        keys = [pl.col(name) for name in self.frame.columns if name != c.MODEL]
        is_first = pl.int_range(pl.len()) == 0
        changes = [key.ne_missing(key.shift(1)) for key in keys]
        starts_group = pl.any_horizontal(is_first, *changes) if keys else is_first
        return self.frame.select(starts_group.cum_sum().cast(pl.Int64)).to_series().to_numpy()

    def list_pairs(self) -> tuple[Indices, Indices]:
        """Return the numbers of both models of all model pairs, the smaller number first."""
        import numpy as np

        groups = self.group_numbers()
        starts = np.flatnonzero(np.diff(groups, prepend=0))
        ends = np.append(starts, len(groups))[1:]
        pairs = [
            np.array(np.triu_indices(end - start, 1)) + start
            for start, end in zip(starts, ends, strict=True)
        ]
        return tuple(np.concatenate([np.empty((2, 0), dtype=np.intp), *pairs], axis=1))

    def build_table(self, rows: Indices, **columns: Any) -> pl.DataFrame:
        """Return a table with the `by` columns of these models, and the given columns."""
        by = self.frame.drop(c.MODEL)[rows]
        return by.with_columns(**columns) if by.width else pl.DataFrame(columns)

    def model_names(self, rows: Indices) -> pl.Series:
        """Return the names of models from their numbers."""
        return self.frame[c.MODEL].gather(rows)
