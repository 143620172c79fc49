"""Cases of a decision in blocks: those of which the same is known stand together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polars_prcurve.decision.cases import Candidate, Case
from polars_prcurve.decision.decide import Findings, name_cases, say_short
from polars_prcurve.name_words import name_value
from polars_prcurve.report.group_picture import GroupBlock, GroupMark, GroupRow

_LEAST_DRAWN = 4
"""Cases from which on all are drawn in one picture; of fewer each has a sentence."""
_LITTLE, _OPEN = "too little data", None
_BLOCKS = {
    "worse": ("{} worse than the others", 1),
    "open": ("{} not told apart from the others", _OPEN),
    "better": ("{} better than the others", 0),
    "settled": ("{} better than chance", 0),
    "not told apart": ("{} not told apart", _OPEN),
    "no better than chance": ("{} no better than chance", 1),
    "not met": ("{} without a threshold that keeps what is asked for", _OPEN),
    _LITTLE: ("{} with too little data", _OPEN),
}


def are_drawn(findings: Findings) -> bool:
    """Return whether cases are rows of one picture: those of tested groups, and many."""
    return findings.group_tests is not None or len(findings.cases) >= _LEAST_DRAWN


def number_models(*cases: Case) -> dict[Any, int]:
    """Return the number of the colour of each model: they follow the order of names, as in charts."""
    names = {candidate.model for case in cases for candidate in case.candidates}
    return {name: number for number, name in enumerate(sorted(names, key=name_value))}


def place_cases(findings: Findings) -> dict[str, list[Case]]:
    """Return the cases of each kind, in the order of kinds, and the lowest of a kind first."""
    placed: dict[str, list[Case]] = {kind: [] for kind in _BLOCKS}
    tests, statuses = findings.group_tests, [verdict.status for _, verdict in findings.cases]
    kinds: Sequence[str] = statuses if tests is None else tests.standings
    for (case, _), kind, status in zip(findings.cases, kinds, statuses, strict=True):
        placed[_LITTLE if status == _LITTLE else kind].append(case)
    for cases in placed.values():
        cases.sort(key=lambda of: of.candidates[0].merit.value or 0.0)
    return placed


def list_blocks(findings: Findings) -> list[GroupBlock]:
    """Return the blocks; the cases that settle which model is better have one for each model."""
    every = [case for case, _ in findings.cases]
    name_of = dict(zip(map(id, every), name_cases(every), strict=True))
    verdict_of = {id(case): verdict for case, verdict in findings.cases}
    colors = number_models(*every)
    blocks = []
    for kind, cases in place_cases(findings).items():
        title, color = _BLOCKS[kind]
        parts: dict[str, list[Case]] = {}
        for case in cases:
            is_won = kind == "settled" and not findings.has_one_model
            who = say_short(case, verdict_of[id(case)]) if is_won else ""
            parts.setdefault(who, []).append(case)
        for who, part in sorted(parts.items(), key=lambda pair: -len(pair[1])):
            winner = colors[part[0].met[0].model] if who else color
            rows = [
                GroupRow(name_of[id(case)], _list_marks(findings, case, colors, color), case.n_pos)
                for case in part
            ]
            said = f"{len(part)} where {who}" if who else title.format(len(part))
            blocks.append(GroupBlock(said, winner, rows, is_in_doubt=kind == _LITTLE))
    return blocks


def _list_marks(
    findings: Findings, case: Case, colors: dict[Any, int], color: int | None
) -> list[GroupMark]:
    """Return the value of the only model, in the colour of its block, or those of all, in their own.

    Full are values that are settled, and of several models those that may be best.
    """
    if findings.has_one_model:
        return [GroupMark(case.candidates[0].merit, color, is_full=color is not None)]

    def mark(candidate: Candidate) -> GroupMark:
        return GroupMark(candidate.merit, colors[candidate.model], is_full=candidate in case.rivals)

    return [mark(each) for each in sorted(case.candidates, key=lambda of: colors[of.model])]
