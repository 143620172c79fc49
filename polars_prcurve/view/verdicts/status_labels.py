"""Statuses as people read them: one table of what is printed, and when it holds.

The documentation shows this table, and a test compares both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from polars_prcurve.core.judging.case import LEAST_OF_CLASS
from polars_prcurve.core.judging.status_names import Status


class StatusRow(NamedTuple):
    """A status: how it is printed, and when it holds."""

    label: str  # empty where the numbers speak for themselves
    rule: str


STATUS_TABLE: Mapping[Status, StatusRow] = {
    "too_little_data": StatusRow(
        "too little data",
        f"a class has fewer than {LEAST_OF_CLASS} examples, or counts as fewer by its weights, or the "
        "intervals are too wide to judge by",
    ),
    "chance": StatusRow(
        "no better than chance",
        "no model ranks significantly better than chance, and at 50% recall, or at the only point, "
        "every interval rules out that positives are flagged twice as often as negatives",
    ),
    "not_met": StatusRow(
        "target not met",
        "the intervals rule out that any threshold, or the one passed, meets the targets",
    ),
    "unsure": StatusRow(
        "not sure",
        "the intervals are compatible with both meeting and missing the targets, or no threshold was "
        "passed for the group",
    ),
    "no_winner": StatusRow("no clear winner", "several of the models that meet the targets may be best"),
    "winner": StatusRow(
        "clear winner",
        "one model is significantly better than all others, or the only one to meet the targets",
    ),
    "met": StatusRow(
        "target met",
        "the threshold passed meets the targets, as its intervals show, or one is found that meets them "
        "with `guarantee`",
    ),
    "measured": StatusRow(
        "",
        "one model, and nothing to test: no `guarantee=`, and no target for a `threshold=` that was "
        "passed",
    ),
}
"""All statuses in the order in which they are tried."""
