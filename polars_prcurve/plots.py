"""Charts straight from a score table: `df.prc.plot.<chart>(...)`."""

from __future__ import annotations

import polars as pl


class PlotPrc:
    def __init__(self, lazy: pl.LazyFrame) -> None:
        self._lazy = lazy
