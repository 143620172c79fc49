"""What `reliable` and `why` say: the reasons to doubt that an interval holds as often as it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import polars as pl

Doubts: TypeAlias = Mapping[str, pl.Expr]
"""Reasons why an interval is not reliable, in the order in which they are told, and where they hold."""


def tell_doubts(doubts: Doubts, known: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Return whether there is no doubt, and the first one, both null where no interval is known."""
    why = pl.lit(None, dtype=pl.String)
    for reason, holds in reversed([*doubts.items()]):
        why = pl.when(holds.fill_null(True)).then(pl.lit(reason)).otherwise(why)
    return pl.when(known).then(why.is_null()), pl.when(known).then(why)
