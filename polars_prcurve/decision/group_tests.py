"""Which groups are unlike the others: each one beside all others together.

A group and all others have examples of their own, so their errors add up in quadrature (`compare`).
All groups are tested at once: by Holm's steps (1979), in which the least likely ones go first, and the
others then share the level that is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from polars_prcurve.decision.evidence import Asked, Evidence

GroupStanding = Literal["worse", "open", "better"]
_LEAST_GROUPS = 3
_MOST_ROWS = 10_000_000
"""Rows, at most, that the groups beside all others have; of more groups nothing is said."""
_CELL, _SIDE, _GROUP = "cell", "side", "group"
_COUNTS = ("n_pos", "n_neg")


@dataclass(frozen=True)
class GroupTests:
    """How each group stands beside all others together, in the order of the cases."""

    standings: tuple[GroupStanding, ...]
    together: float | None
    """The value of all groups together, by which models are judged."""


def test_groups(asked: Asked, evidence: Evidence) -> GroupTests | None:
    """Return how groups of one model stand; None if they cannot be tested."""
    groups, goal = evidence.keys[: evidence.keys.index("eta")], asked.goal
    is_plain = asked.unweighted is None and asked.weighted is None and not asked.takes_apart
    if goal.is_joint or goal.maximized is not None or not is_plain or asked.is_published:
        return None
    cases = evidence.rows.select(*groups, "eta")
    if len(evidence.keys) > len(groups) + 1 or cases.height < _LEAST_GROUPS or asked.eta is None:
        return None  # prevalences have to be numbers: groups with their own ones differ by these alone
    if cases.select(groups).n_unique() < cases.height or cases["eta"].n_unique() > 1:
        return None
    counts: pl.DataFrame = asked.table.counts()
    if asked.model is not None:
        if counts[asked.model].n_unique() > 1:
            return None
        counts = counts.drop(asked.model)
    numbered = cases.select(groups).with_row_index(_GROUP)
    counts = counts.join(numbered, on=groups, nulls_equal=True).drop(groups)
    if counts.height * cases.height > _MOST_ROWS:
        return None
    eta, target = cases["eta"][0], {} if goal.is_of_curve else goal.ask()
    if "alerts" not in target:
        target.pop("per", None)
    table = asked.open_table(counts)(counts=_COUNTS)
    if target:
        value = table.operating_points(eta, metrics=["precision"], **target)[goal.merit][0]
    else:
        value = table.summary(eta, metrics=goal.merit)["value"][0]
    asking = {"eta": eta, "metrics": goal.merit, "paired": False, **target}
    gaps = _find_gaps(asked, counts, range(cases.height), asking)
    named: dict[int, GroupStanding] = {n: "better" if gap > 0 else "worse" for n, gap in gaps.items()}
    return GroupTests(tuple(named.get(cell, "open") for cell in range(cases.height)), value)


def _find_gaps(
    asked: Asked, counts: pl.DataFrame, cells: Iterable[int], asking: Mapping[str, Any]
) -> dict[int, float]:
    """Return how far groups are ahead of all others, of those groups that are told apart from them."""
    gaps: dict[int, float] = {}
    left = [*cells]
    side = (
        pl.when(pl.col(_GROUP).cast(pl.Int64) == pl.col(_CELL)).then(pl.lit("a")).otherwise(pl.lit("b"))
    )
    while left:
        # The level is shared by the groups that no earlier step has told apart (Holm).
        level = 1 - (1 - asked.confidence) / len(left)
        each = pl.DataFrame({_CELL: left}, schema={_CELL: pl.Int64})
        # The counts once for each group, which is one model, and all others are another one.
        stacked = asked.open_table(counts.join(each, how="cross").with_columns(side.alias(_SIDE)))
        beside = stacked(by=_CELL, model=_SIDE, counts=_COUNTS)
        told: pl.DataFrame = beside.compare(**asking, confidence=level).filter(pl.col("resolved"))
        gaps |= dict(zip(told[_CELL].to_list(), told["difference"].to_list(), strict=True))
        rest = [cell for cell in left if cell not in gaps]
        if len(rest) == len(left):
            break
        left = rest
    return gaps
