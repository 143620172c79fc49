"""How the error of a prevalence that was estimated with the table itself shares in those of its rates.

`sweep.unlabelled_prevalence` describes each group's reference in the column ETA_REFERENCE, by levels of
score: the share of a class down to a level, and a slope. The sum of slopes over the examples above a
threshold is linear in the rate within a level, so a rate alone tells it.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve import column_names as c

MOST_LEVELS = 10
SLOPE_SCALE = "scale"
"""The field of ETA_REFERENCE with a power of two that is above all sums of slopes."""


def sum_slopes(of_class: str, share: pl.Expr) -> pl.Expr:
    """Return the sum of slopes over the examples of a class, from the highest score to a share of it."""

    def field(kind: str, level: int) -> pl.Expr:
        return pl.col(c.ETA_REFERENCE).struct.field(f"{kind}_{of_class}_{level}")

    total, before = pl.lit(0.0), pl.lit(0.0)
    for level in range(MOST_LEVELS):
        end = field("share", level)
        total, before = total + (share.clip(before, end) - before) * field("slope", level), end
    return total
