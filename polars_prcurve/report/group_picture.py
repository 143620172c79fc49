"""Groups beside each other: the values of each with their intervals, those below first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from polars_prcurve.confidence.estimates import Estimate
from polars_prcurve.number_words import format_count
from polars_prcurve.report.svg import (
    DOTTED,
    draw_circle,
    draw_document,
    draw_line,
    draw_text,
    name_color,
)
from polars_prcurve.visible_text import wrap_words

_ROW, _NEXT, _HEAD, _APART = 14.0, 12.0, 22.0, 3.6
"""Pixels that a row takes, a further row of its name, the head of a block, and a further model."""
_LETTER, _MOST_ROWS = 6.0, 3


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
    is_in_doubt: bool = False
    """Whether intervals are known to be too narrow, so lines are dotted."""


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
        shapes.append(draw_line((x, 18), (x, height), "var(--grid)"))
        shapes.append(draw_text((x, 11), f"{percent}", 11, anchor="middle"))
    if middle is not None:
        shapes.append(draw_line((place(middle), 18), (place(middle), height), "var(--text)"))
    shapes.append(draw_text((width, 24), "positives", 10, anchor="end"))
    y = 20.0
    for block in blocks:
        y += _HEAD
        shapes.append(draw_text((0, y - 6), block.title, 12, kind="strong rim"))
        for row in block.rows:
            at = y + measure(row) / 2
            names = rows_of[id(row)]
            first = at + 4 - _NEXT * (len(names) - 1) / 2
            shapes += _write_name(names, first, is_quiet=block.color is None)
            shapes += _draw_marks(row, at, place, is_in_doubt=block.is_in_doubt)
            shapes.append(draw_text((width, at + 4), format_count(row.n_pos), 10.5, anchor="end"))
            y += measure(row)
    label = "Value of each group with its interval"
    return draw_document(shapes, width, height, label, kind)


def _write_name(rows: Sequence[str], y: float, *, is_quiet: bool) -> list[str]:
    kind = "quiet" if is_quiet else ""
    return [draw_text((0, y + _NEXT * k), row, 10.5, kind=kind) for k, row in enumerate(rows)]


def _draw_marks(
    row: GroupRow, middle: float, place: Callable[[float], float], *, is_in_doubt: bool
) -> Iterator[str]:
    """Yield the intervals of a row and their points, those of several models below each other."""
    n = len(row.marks)
    for number, mark in enumerate(row.marks):
        y = middle + (number - (n - 1) / 2) * _APART
        color = "var(--quiet)" if mark.color is None else name_color(mark.color)
        if mark.value.span is not None:
            low, high = mark.value.span
            dash = DOTTED if is_in_doubt else f'stroke-width="{1.6 if n == 1 else 1}"'
            yield draw_line((place(low), y), (place(high), y), color, dash)
        if mark.value.value is not None:
            fill = color if mark.is_full else "var(--ground)"
            look = f'style="fill:{fill};stroke:{color}" stroke-width="1.3"'
            yield draw_circle(place(mark.value.value), y, 3.4 if n == 1 else 2.5, look)
