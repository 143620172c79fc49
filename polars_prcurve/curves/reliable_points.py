"""Reliable points: where the interval of a point metric is known to hold as often as it says.

By simulation (docs/uncertainty.md) that takes examples in each of tp, fn, fp and tn, and, of a threshold
that moves, scores among which it can move a little.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve.curves.moving_thresholds import COARSENESS
from polars_prcurve.intervals.bands import SIZE_COLUMNS, BandOptions

_FEW = 10
"""Cells from which on intervals, and those of differences, covered 94 to 96 %."""
_COARSE = 0.5
"""COARSENESS up to which intervals covered 94 % or more."""


def is_reliable(bands: BandOptions, *, weighted: bool) -> pl.Expr:
    """Return whether the band of a point is known to hold: full cells of lone examples.

    The rows are those of points. Cells of `weighted` examples are as full as their rates and effective
    sizes say.
    """
    if bands.clustered:  # rows do not tell how full a cell is
        return pl.lit(False)
    cells = [pl.col(name) for name in ("tp", "fn", "fp", "tn")]
    if weighted:
        sizes = {rate: pl.col(size) for rate, size in SIZE_COLUMNS.items()}
        cells = [c for rate, n in sizes.items() for c in (pl.col(rate) * n, (1 - pl.col(rate)) * n)]
    is_full = pl.min_horizontal(cells) >= _FEW
    return is_full & (pl.col(COARSENESS) <= _COARSE) if bands.moving else is_full
