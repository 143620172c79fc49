"""Groups beside each other: the values of each with their intervals, those below first.

Cases of which the same is known stand together, in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polars_prcurve.decision.decide import Findings, say_short
from polars_prcurve.decision.judged_groups import Case, JudgedCase
from polars_prcurve.number_words import format_count
from polars_prcurve.report import svg
from polars_prcurve.visible_text import name_value, wrap_words

_ROW, _NEXT, _HEAD, _APART = 14.0, 12.0, 22.0, 3.6
"""Pixels that a row takes, a further row of its name, the head of a block, and a further model."""
_LETTER, _MOST_ROWS = 6.0, 3
_LEAST_DRAWN = 4  # cases from which on all are drawn in one picture; of fewer each has a sentence
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
class GroupBlock:
    """Cases of which the same is known; the colour is a number, or None for grey."""

    title: str
    color: int | None
    cases: Sequence[JudgedCase]
    is_in_doubt: bool  # whether intervals are known to be too narrow, so lines are dotted


def draw_groups(findings: Findings, blocks: Sequence[GroupBlock], width: float, kind: str) -> str:
    """Return the picture of all cases, and the value of all groups together if they are tested."""
    middle = None if findings.group_tests is None else findings.group_tests.together
    colors = {} if findings.has_one_model else number_models(*findings.cases)
    left = min(170.0, 0.36 * width)
    right = width - 52

    most = _choose_end(findings.cases)

    def place(share: float) -> float:
        return left + share * (right - left) * 100 / most

    rows_of = {id(case): wrap_words(case.name, left / _LETTER)[:_MOST_ROWS] for case in findings.cases}

    def measure(case: JudgedCase) -> float:
        of_name = _ROW + _NEXT * (max(len(rows_of[id(case)]), 1) - 1)
        return max(of_name, _APART * (len(case.candidates) + 1))

    height = 26 + sum(_HEAD + sum(map(measure, block.cases)) for block in blocks)
    shapes = []
    for percent in (most * k / 5 for k in range(6)):
        x = place(percent / 100)
        shapes.append(svg.draw_line((x, 18), (x, height), "var(--grid)"))
        shapes.append(svg.draw_text((x, 11), f"{percent:g}", 11, anchor="middle"))
    if middle is not None:
        shapes.append(svg.draw_line((place(middle), 18), (place(middle), height), "var(--text)"))
    shapes.append(svg.draw_text((width, 24), "positives", 10, anchor="end"))
    y = 20.0
    for block in blocks:
        y += _HEAD
        shapes.append(svg.draw_text((0, y - 6), block.title, 12, kind="strong rim"))
        for case in block.cases:
            at = y + measure(case) / 2
            names = rows_of[id(case)]
            first = at + 4 - _NEXT * (len(names) - 1) / 2
            kind_of_name = "quiet" if block.color is None else ""
            for k, name in enumerate(names):
                shapes.append(svg.draw_text((0, first + _NEXT * k), name, 10.5, kind=kind_of_name))
            shapes += _draw_marks(block, case, colors, at, place)
            shapes.append(svg.draw_text((width, at + 4), format_count(case.n_pos), 10.5, anchor="end"))
            y += measure(case)
    return svg.draw_document(shapes, width, height, "Value of each group with its interval", kind)


def _choose_end(cases: Sequence[JudgedCase]) -> int:
    """Return where the axis ends, in 100: at a round number beyond all intervals."""
    merits = [
        model.merit for case in cases for model in case.candidates if model.merit.value is not None
    ]
    greatest = max((merit.high if merit.span else merit.value for merit in merits), default=1.0)
    return next((end for end in (1, 2, 5, 10, 20, 50) if 100 * greatest <= end), 100)


def _draw_marks(
    block: GroupBlock,
    case: JudgedCase,
    colors: Mapping[Any, int],
    middle: float,
    place: Callable[[float], float],
) -> Iterator[str]:
    """Yield the intervals of models and their points, below each other; an only model has no colour."""
    n, rivals = len(case.candidates), case.rivals if colors else []
    for number, model in enumerate(sorted(case.candidates, key=lambda of: colors.get(of.model, 0))):
        y = middle + (number - (n - 1) / 2) * _APART
        merit, of_color = model.merit, colors.get(model.model, block.color)
        color = "var(--quiet)" if of_color is None else svg.name_color(of_color)
        # Full are values that are settled, and of several models those that may be best.
        is_full = model in rivals if colors else block.color is not None
        if merit.span is not None:
            low, high = merit.span
            dash = svg.DOTTED if block.is_in_doubt else f'stroke-width="{1.6 if n == 1 else 1}"'
            yield svg.draw_line((place(low), y), (place(high), y), color, dash)
        if merit.value is not None:
            fill = color if is_full else "var(--ground)"
            look = f'style="fill:{fill};stroke:{color}" stroke-width="1.3"'
            yield svg.draw_circle(place(merit.value), y, 3.4 if n == 1 else 2.5, look)


# Cases in blocks -----------------------------------------------------------------------------------


def are_drawn(findings: Findings) -> bool:
    """Return whether cases are rows of one picture: those of tested groups, and many."""
    return findings.group_tests is not None or len(findings.cases) >= _LEAST_DRAWN


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
            said = f"{len(part)} where {who}" if who else title.format(len(part))
            blocks.append(GroupBlock(said, winner, part, kind == _LITTLE))
    return blocks
