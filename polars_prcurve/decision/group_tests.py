"""Which groups are unlike the others: each one beside all others together.

A group and all others have examples of their own, so their errors add up in quadrature (`compare`).
All groups are tested at once: by Holm's steps (1979), in which the least likely ones go first, and the
others then share the level that is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from polars_prcurve.decision.evidence import Asked, Evidence

GroupStanding = Literal["worse", "open", "better"]
_LEAST_GROUPS = 3
_MOST_ROWS = 10_000_000
"""Rows, at most, that the groups beside all others have; of more groups nothing is said."""
_CELL, _SIDE, _GROUP = "cell", "side", "group"


@dataclass(frozen=True)
class GroupTests:
    """How each group stands beside all others together, in the order of the cases."""

    standings: tuple[GroupStanding, ...]
    together: float | None
    """The value of all groups together, by which models are judged."""


def test_groups(asked: Asked, evidence: Evidence) -> GroupTests | None:
    """Return how groups of one model stand; None if they cannot be tested.

    Prevalences have to be numbers: groups whose own ones are compared differ by these alone.
    """
    groups, goal = evidence.keys[: evidence.keys.index("eta")], asked.goal
    rows = evidence.rows
    is_plain = asked.unweighted is None and asked.weighted is None and not asked.takes_apart
    is_plain = is_plain and not asked.is_published
    if goal.is_joint or goal.maximized is not None or not is_plain:
        return None
    cases = rows.select(*groups, "eta")
    if len(evidence.keys) > len(groups) + 1 or cases.height < _LEAST_GROUPS or asked.eta is None:
        return None
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
    eta = cases["eta"][0]
    target = {} if goal.is_of_curve else goal.ask()
    if "alerts" not in target:
        target.pop("per", None)
    together = asked.open_table(counts)(counts=("n_pos", "n_neg"))
    value = _read_value(together, goal.merit, eta, target)
    asking = {"eta": eta, "metrics": goal.merit, "paired": False, **target}
    gaps = _find_gaps(asked, counts, range(cases.height), asking)
    standings = (_name_standing(gaps.get(cell)) for cell in range(cases.height))
    return GroupTests(tuple(standings), value)


def _find_gaps(
    asked: Asked, counts: pl.DataFrame, cells: Iterable[int], asking: Mapping[str, Any]
) -> dict[int, float]:
    """Return how far groups are ahead of all others, of those groups that are told apart from them.

    The level is shared by the groups that no earlier step has told apart (Holm).
    """
    gaps: dict[int, float] = {}
    left = [*cells]
    while left:
        level = 1 - (1 - asked.confidence) / len(left)
        beside = asked.open_table(_stack(counts, left))
        beside = beside(by=_CELL, model=_SIDE, counts=("n_pos", "n_neg"))
        told: pl.DataFrame = beside.compare(**asking, confidence=level).filter(pl.col("resolved"))
        gaps |= dict(zip(told[_CELL].to_list(), told["difference"].to_list(), strict=True))
        rest = [cell for cell in left if cell not in gaps]
        if len(rest) == len(left):
            break
        left = rest
    return gaps


def _stack(counts: pl.DataFrame, cells: Sequence[int]) -> pl.DataFrame:
    """Return the counts once for each group, which is one model, and all others are another one."""
    each = pl.DataFrame({_CELL: cells}, schema={_CELL: pl.Int64})
    is_here = pl.col(_GROUP).cast(pl.Int64) == pl.col(_CELL)
    side = pl.when(is_here).then(pl.lit("a")).otherwise(pl.lit("b"))
    return counts.join(each, how="cross").with_columns(side.alias(_SIDE))


def _name_standing(gap: float | None) -> GroupStanding:
    return "open" if gap is None else "better" if gap > 0 else "worse"


def _read_value(table: Any, merit: str, eta: float, target: Any) -> float | None:
    if target:
        found = table.operating_points(eta, metrics=["precision"], **target)
        value: float | None = found[merit][0]
        return value
    area: float | None = table.summary(eta, metrics=merit)["value"][0]
    return area
