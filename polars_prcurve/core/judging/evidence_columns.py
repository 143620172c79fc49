"""The columns of the evidence that no method has, and how columns are added to its rows."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_prcurve.core.ground.reserved_prefix import RESERVED


class EvidenceColumn:
    """Columns of the evidence that no method has under these names."""

    AT_HALF = "precision_at_half"
    """Precision where half of the positives are found, which shows what a whole curve is good for."""
    LEVEL = "level"  # the level of the intervals of a row, where a demand is tested
    AREA = f"{RESERVED}average_precision"
    BY_CHANCE = f"{RESERVED}by_chance"  # the mean of the average precision of random scores
    N_ALL_GROUPS = f"{RESERVED}n_all_groups"  # the groups of a mean, with those that have no value
    IS_REVERSED = f"{RESERVED}is_reversed"  # whether negatives significantly rank above positives
    BINDING = f"{RESERVED}binding"  # the targets that may bind where several have to hold together
    HAS_SCORES = f"{RESERVED}has_scores"  # true if any row of a model has one, otherwise null
    FEW_SCORES = f"{RESERVED}few_scores"  # all scores of a model that has only a few
    MAY_MEET = f"{RESERVED}may_meet"
    """Whether some threshold may meet all targets by its intervals; null where one does meet them."""
    BEST = f"{RESERVED}best_"
    """Where no threshold meets the targets, before the word of each: its best value, with both ends of
    its interval, among the thresholds that meet the others."""
    HAS_RARER = f"{RESERVED}has_rarer_"
    """Before the word of a target: whether a threshold with fewer alerts than LEAST_ALERTS is better."""
    LEAD_DOUBT = f"{RESERVED}lead_doubt"  # why `behind` and its ends may be unreliable; null if not
    OTHER = f"{RESERVED}other_"
    """Before the columns of another threshold that meets all limits, beside the one that is tested."""


def join_in_order(
    case_rows: pl.DataFrame, added_rows: pl.DataFrame, key_columns: Sequence[str]
) -> pl.DataFrame:
    """Return the rows with further columns, in their order; null is a group, too."""
    return case_rows.join(
        added_rows, on=key_columns, how="left", nulls_equal=True, maintain_order="left"
    )
