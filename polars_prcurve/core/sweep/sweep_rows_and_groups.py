"""The two tables that a sweep builds, from which all results are computed."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl


class SweepTables(NamedTuple):
    """The two tables of a sweep: `rows`, one per threshold, and `groups`, one per group."""

    rows: pl.LazyFrame
    """By NUMBER and falling score: SCORE, CUM_POS, CUM_NEG, CUM_POS_ABOVE, CUM_NEG_ABOVE. In published
    rates, by NUMBER and rising fpr: the rates, RECALL_BEFORE, FPR_BEFORE, and recall as CUM_POS."""
    groups: pl.LazyFrame
    """By NUMBER: the `by` columns and WEIGHT_UNIT; with scores also POS_BEFORE_GROUP, NEG_BEFORE_GROUP,
    and Group.N_POS and N_NEG, which are null if zero; in published points they are null if not known."""
    has_square_shares: bool = False
    """Whether rows have what errors of weighted examples are computed from; see `effective_weights`."""
