"""A table of good rows, and the same with one bad value."""

from __future__ import annotations

from typing import Any

import polars as pl

ROWS = 5_000
GOOD = pl.DataFrame(
    {
        "g": [f"g{i % 7}" for i in range(ROWS)],
        "score": [float(i % 997) for i in range(ROWS)],
        "label": [int(i % 3 == 0) for i in range(ROWS)],
        "kind": ["spam" if i % 3 == 0 else "ham" for i in range(ROWS)],
        "weight": [1.0 + i % 4 for i in range(ROWS)],
        "row": [i // 7 for i in range(ROWS)],
    }
)


def spoilt(column: str, value: Any, dtype: Any = None) -> pl.DataFrame:
    """One bad value near the end of the table."""
    new = (
        pl.when(pl.int_range(pl.len()) == ROWS - 3).then(pl.lit(value, dtype)).otherwise(pl.col(column))
    )
    return GOOD.with_columns(new.cast(dtype).alias(column) if dtype else new.alias(column))


__all__ = ["GOOD", "ROWS", "spoilt"]
