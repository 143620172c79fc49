"""How each group of one model compares with all others together, all groups tested at once.

A group and all others have examples of their own, so their errors add up in quadrature (`compare`).
Groups are tested by Holm's steps (1979), in which the least likely ones go first, and the others then
share the level that is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.judging.decision_request import DecisionRequest
from polars_prcurve.core.judging.evidence import Evidence
from polars_prcurve.core.judging.status_names import GroupStanding

_LEAST_GROUPS = 3  # of two groups each is all the others of the other one: `compare` tests that
_MOST_ROWS = 10_000_000
"""Rows, at most, that the groups beside all others have; more groups have none."""
_CELL = "cell"  # the group that is tested, in the table that holds the counts once for each group
_SIDE = "side"  # whether a row is of that group or of the others
_GROUP = "group"  # the number of the group of a row
_COUNTS = ("n_pos", "n_neg")  # the columns of counts, as `prc.counts` names them


@dataclass(frozen=True)
class GroupTests:
    """How each group stands beside all others together, in the order of the cases."""

    standings: tuple[GroupStanding | None, ...]
    """None where a group has nothing to be compared with, such as the only one that has positives."""
    overall_value: float | None  # the value of all groups together, by which models are judged


def test_groups(request: DecisionRequest, evidence: Evidence) -> GroupTests | None:
    """Return how groups of one model stand; None if they cannot be tested."""
    group_columns, goal = evidence.group_columns, request.goal
    if not _are_testable(request, evidence):
        return None
    score_counts = request.score_counts
    if request.model is not None:
        if score_counts[request.model].n_unique() > 1:
            return None
        score_counts = score_counts.drop(request.model)
    case_rows = evidence.rows.select(*group_columns, "eta")
    numbered_group_rows = case_rows.select(group_columns).with_row_index(RESERVED)
    score_counts = score_counts.join(numbered_group_rows, on=group_columns, nulls_equal=True)
    score_counts = score_counts.drop(group_columns).rename({RESERVED: _GROUP})
    if score_counts.height * case_rows.height > _MOST_ROWS:
        return None
    eta, target_arguments = case_rows["eta"][0], goal.build_arguments()
    pooled_table = request.open_table(score_counts)(counts=_COUNTS)
    if target_arguments:
        pooled_points = pooled_table.operating_points(
            eta, metrics=["precision"], columns="all", **target_arguments
        )
        overall_value = pooled_points[goal.merit_column][0]
    else:
        overall_value = pooled_table.summary(eta, metrics=goal.merit_column)["value"][0]
    compare_arguments = {"eta": eta, "metrics": goal.merit_column, "paired": False, **target_arguments}
    gap_by_group, tested_group_numbers = _find_gaps(
        request, score_counts, range(case_rows.height), compare_arguments
    )
    standings: list[GroupStanding | None] = [None] * case_rows.height
    for group_number in tested_group_numbers:
        gap = gap_by_group.get(group_number)
        standings[group_number] = "open" if gap is None else "better" if gap > 0 else "worse"
    return GroupTests(tuple(standings), overall_value)


def _are_testable(request: DecisionRequest, evidence: Evidence) -> bool:
    """Return whether cases are groups at one prevalence, with examples that count alike."""
    group_columns, goal = evidence.group_columns, request.goal
    is_weighted = request.unweighted_table is not None or request.weighted_field is not None
    if is_weighted or request.compares_intervals or request.is_published:
        return False
    has_other_test = goal.demand or goal.mean_over or goal.maximized is not None
    if goal.is_joint or has_other_test or not group_columns:
        return False
    case_rows = evidence.rows.select(*group_columns, "eta")
    has_other_key_columns = len(evidence.keys) > len(group_columns) + 1
    if has_other_key_columns or case_rows.height < _LEAST_GROUPS or request.eta is None:
        return False  # prevalences have to be numbers: groups with their own ones differ by these alone
    n_groups = case_rows.select(group_columns).n_unique()
    return n_groups == case_rows.height and case_rows["eta"].n_unique() <= 1


def _find_gaps(
    request: DecisionRequest,
    score_counts: pl.DataFrame,
    group_numbers: Iterable[int],
    compare_arguments: Mapping[str, Any],
) -> tuple[dict[int, float], set[int]]:
    """Return how far groups that differ are ahead of all others, and the groups that have a test."""
    gap_by_group: dict[int, float] = {}
    tested_group_numbers: set[int] = set()
    open_group_numbers = [*group_numbers]
    side_expr = (
        pl.when(pl.col(_GROUP).cast(pl.Int64) == pl.col(_CELL)).then(pl.lit("a")).otherwise(pl.lit("b"))
    )
    while open_group_numbers:
        # The level is shared by the groups that no earlier step found different (Holm).
        level = 1 - (1 - request.confidence) / len(open_group_numbers)
        tested_group_rows = pl.DataFrame({_CELL: open_group_numbers}, schema={_CELL: pl.Int64})
        # The counts once for each group, which is one model, and all others are another one.
        stacked_count_rows = score_counts.join(tested_group_rows, how="cross").with_columns(
            side_expr.alias(_SIDE)
        )
        stacked_table = request.open_table(stacked_count_rows)(by=_CELL, model=_SIDE, counts=_COUNTS)
        difference_rows: pl.DataFrame = stacked_table.compare(
            **compare_arguments, confidence=level, columns="all"
        )
        tested_group_numbers |= set(difference_rows.drop_nulls(["low", "high"])[_CELL])
        difference_rows = difference_rows.filter("significant")
        gap_by_group |= dict(
            zip(difference_rows[_CELL].to_list(), difference_rows["difference"].to_list(), strict=True)
        )
        remaining_group_numbers = [
            group_number for group_number in open_group_numbers if group_number not in gap_by_group
        ]
        if len(remaining_group_numbers) == len(open_group_numbers):
            break
        open_group_numbers = remaining_group_numbers
    return gap_by_group, tested_group_numbers
