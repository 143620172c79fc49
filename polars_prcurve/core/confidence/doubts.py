"""Doubts: why an interval may have too low a coverage. One list serves all result tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import polars as pl

EQUAL_SCORES = "equal scores"  # the reason that finer scores remove, and more examples do not
TAIL_NOT_SEEN = "tail not seen"  # the reason for which a value is too high on average
DOUBT = "doubt"
"""The last column of results with intervals: null where they can be trusted, else why not."""
MEANING_OF_DOUBT = {
    "more than prevalence changed": "`shift_p_value` refutes the estimated prevalence",
    "no sizes": "`sizes` are null",
    "one class": "no positives, or no negatives",
    "eta at 0 or 1": "nothing varies at this prevalence",
    "target not met": "no threshold meets the target",
    "no value": "undefined, or nothing to compare with",
    "no formula: method='bootstrap'": "resample: `intervals(method='bootstrap')`",
    "few points": "what lies between the published points matters more than sampling error",
    "recall below fpr": "at a single point: cells may be swapped, or specificity passed as fpr",
    "few positives": "few are flagged, or few are missed",
    "few false positives": "few negatives are flagged",
    "few negatives": "in all, or that are not flagged",
    "few labels": "on one side of the threshold, with `stratum`",
    "stratum of one row": "its variance is unknown",
    "few clusters": "enough examples, but in few clusters",
    "groups share examples": "their values are not independent, as with classes",
    "few groups": "a mean over fewer than 10 groups",
    "few discordant examples": "few that one model flags and the other does not",
    TAIL_NOT_SEEN: "extreme scores that the sample lacks may matter most",
    "heavy weights": "the interval rests on a few rows with large weights, or such rows may be missing",
    EQUAL_SCORES: "near the threshold",
    "several targets": "the threshold was chosen for all of them together",
}
"""Every reason for doubt, and what it means: of several that hold, the first one counts."""
Doubts: TypeAlias = Mapping[str, pl.Expr]
"""Where each of some reasons for doubt holds; null counts as true."""
_RANK_OF_DOUBT = {reason: rank for rank, reason in enumerate(MEANING_OF_DOUBT)}


def find_first_doubt(condition_by_reason: Doubts, has_interval: pl.Expr) -> pl.Expr:
    """Return the first reason that holds, by MEANING_OF_DOUBT; without an interval one always does."""
    first_doubt: pl.Expr = pl.when(~has_interval).then(pl.lit("no value"))
    reasons = sorted(condition_by_reason, key=_RANK_OF_DOUBT.__getitem__, reverse=True)
    for reason in reasons:
        is_doubtful = condition_by_reason[reason].fill_null(True)
        first_doubt = pl.when(is_doubtful).then(pl.lit(reason)).otherwise(first_doubt)
    return first_doubt


def doubt_missing_ends(doubt: str | pl.Expr, end_columns: Iterable[str]) -> pl.Expr:
    """Return a doubt, or "no value" where it is null though an end of an interval is."""
    lacks_end = pl.any_horizontal(pl.col(*end_columns).is_null())
    return pl.coalesce(doubt, pl.when(lacks_end).then(pl.lit("no value")))
