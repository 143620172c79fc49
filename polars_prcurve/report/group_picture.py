"""Groups beside each other: the values of each with their intervals, those below first.

Cases of which the same is known stand together, in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from polars_prcurve.confidence.estimates import Estimate
from polars_prcurve.decision.cases import Case, JudgedCase
from polars_prcurve.decision.decide import Findings, say_short
from polars_prcurve.name_words import name_value
from polars_prcurve.number_words import format_count
from polars_prcurve.report import svg
from polars_prcurve.visible_text import wrap_words

_ROW, _NEXT, _HEAD, _APART = 14.0, 12.0, 22.0, 3.6
"""Pixels that a row takes, a further row of its name, the head of a block, and a further model."""
_LETTER, _MOST_ROWS = 6.0, 3
_LEAST_DRAWN, MOST_SENTENCES = 4, 8
"""Cases of one model from which on these are drawn, and cases, at most, that have a sentence each."""
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


@dataclass(frozen=True)
class GroupMark:
    """A value of a group with its interval; the colour is a number, or None for grey."""

    value: Estimate
    color: int | None
    is_full: bool


@dataclass(frozen=True)
class GroupRow:
    """One group: its name, its value or that of each model, and how many positives it was tested on."""

    name: str
    marks: Sequence[GroupMark]
    n_pos: float


@dataclass(frozen=True)
class GroupBlock:
    """Groups of which the same is known."""

    title: str
    color: int | None
    rows: Sequence[GroupRow]
    is_in_doubt: bool = False  # whether intervals are known to be too narrow, so lines are dotted


def draw_groups(blocks: Sequence[GroupBlock], width: float, kind: str, middle: float | None) -> str:
    """Return the picture; `middle` is a value to compare with, such as that of all groups together."""
    left = min(170.0, 0.36 * width)
    right = width - 52

    def place(share: float) -> float:
        return left + share * (right - left)

    rows_of = {
        id(row): wrap_words(row.name, left / _LETTER)[:_MOST_ROWS]
        for block in blocks
        for row in block.rows
    }

    def measure(row: GroupRow) -> float:
        of_name = _ROW + _NEXT * (max(len(rows_of[id(row)]), 1) - 1)
        return max(of_name, _APART * (len(row.marks) + 1))

    height = 26 + sum(_HEAD + sum(map(measure, block.rows)) for block in blocks)
    shapes = []
    for percent in range(0, 101, 20):
        x = place(percent / 100)
        shapes.append(svg.draw_line((x, 18), (x, height), "var(--grid)"))
        shapes.append(svg.draw_text((x, 11), f"{percent}", 11, anchor="middle"))
    if middle is not None:
        shapes.append(svg.draw_line((place(middle), 18), (place(middle), height), "var(--text)"))
    shapes.append(svg.draw_text((width, 24), "positives", 10, anchor="end"))
    y = 20.0
    for block in blocks:
        y += _HEAD
        shapes.append(svg.draw_text((0, y - 6), block.title, 12, kind="strong rim"))
        for row in block.rows:
            at = y + measure(row) / 2
            names = rows_of[id(row)]
            first = at + 4 - _NEXT * (len(names) - 1) / 2
            kind_of_name = "quiet" if block.color is None else ""
            for k, name in enumerate(names):
                shapes.append(svg.draw_text((0, first + _NEXT * k), name, 10.5, kind=kind_of_name))
            shapes += _draw_marks(row, at, place, is_in_doubt=block.is_in_doubt)
            shapes.append(svg.draw_text((width, at + 4), format_count(row.n_pos), 10.5, anchor="end"))
            y += measure(row)
    return svg.draw_document(shapes, width, height, "Value of each group with its interval", kind)


def _draw_marks(
    row: GroupRow, middle: float, place: Callable[[float], float], *, is_in_doubt: bool
) -> Iterator[str]:
    """Yield the intervals of a row and their points, those of several models below each other."""
    n = len(row.marks)
    for number, mark in enumerate(row.marks):
        y = middle + (number - (n - 1) / 2) * _APART
        color = "var(--quiet)" if mark.color is None else svg.name_color(mark.color)
        if mark.value.span is not None:
            low, high = mark.value.span
            dash = svg.DOTTED if is_in_doubt else f'stroke-width="{1.6 if n == 1 else 1}"'
            yield svg.draw_line((place(low), y), (place(high), y), color, dash)
        if mark.value.value is not None:
            fill = color if mark.is_full else "var(--ground)"
            look = f'style="fill:{fill};stroke:{color}" stroke-width="1.3"'
            yield svg.draw_circle(place(mark.value.value), y, 3.4 if n == 1 else 2.5, look)


# Cases in blocks -----------------------------------------------------------------------------------


def are_drawn(findings: Findings) -> bool:
    """Return whether cases are rows of one picture: those of tested groups, and many."""
    least = _LEAST_DRAWN if findings.has_one_model else MOST_SENTENCES + 1
    return findings.group_tests is not None or len(findings.cases) >= least


def number_models(*cases: Case) -> dict[Any, int]:
    """Return the number of the colour of each model: they follow the order of names, as in charts."""
    names = {candidate.model for case in cases for candidate in case.candidates}
    return {name: number for number, name in enumerate(sorted(names, key=name_value))}


def place_cases(findings: Findings) -> dict[str, list[JudgedCase]]:
    """Return the cases of each kind, in the order of kinds, and the lowest of a kind first."""
    placed: dict[str, list[JudgedCase]] = {kind: [] for kind in _BLOCKS}
    for case in findings.cases:
        status = case.verdict.status
        placed[status if status == _LITTLE else case.standing or status].append(case)
    for cases in placed.values():
        cases.sort(key=lambda of: of.candidates[0].merit.value or 0.0)
    return placed


def list_blocks(findings: Findings) -> list[GroupBlock]:
    """Return the blocks; the cases that settle which model is better have one for each model."""
    colors = number_models(*findings.cases)
    blocks = []
    for kind, cases in place_cases(findings).items():
        title, color = _BLOCKS[kind]
        parts: dict[str, list[JudgedCase]] = {}
        for case in cases:
            is_won = kind == "settled" and not findings.has_one_model
            who = say_short(case) if is_won else ""
            parts.setdefault(who, []).append(case)
        for who, part in sorted(parts.items(), key=lambda pair: -len(pair[1])):
            winner = colors[part[0].met[0].model] if who else color
            rows = []
            for case in part:
                # Full are values that are settled, and of several models those that may be best.
                marks = [GroupMark(case.candidates[0].merit, color, is_full=color is not None)]
                if not findings.has_one_model:
                    models = sorted(case.candidates, key=lambda of: colors[of.model])
                    marks = [GroupMark(of.merit, colors[of.model], of in case.rivals) for of in models]
                rows.append(GroupRow(case.name, marks, case.n_pos))
            said = f"{len(part)} where {who}" if who else title.format(len(part))
            blocks.append(GroupBlock(said, winner, rows, is_in_doubt=kind == _LITTLE))
    return blocks
