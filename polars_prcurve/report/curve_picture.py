"""The one chart of a decision: how many of 100 alerts are right, by how many positives are found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from polars_prcurve.number_words import NO_BREAK, say_eta
from polars_prcurve.report import svg
from polars_prcurve.visible_text import count_letters

LOG_BELOW = 0.01
"""Where positives are rarer than this, precision has a log axis: lines would lie at 0 otherwise."""
FEW_FALSE_ALERTS, _FEW_POSITIVES = 5, 20
"""False alerts, and positives, below which a line is dotted: chance decides about it."""
_LINE_HEIGHT, _AT = 16.0, 0.62


@dataclass(frozen=True)
class Curve:
    """The curve of a model, and the point on it that is decided about."""

    name: str
    color: int | None
    rows: Sequence[Mapping[str, Any]]
    """Rows of `curve` by rising recall: recall, precision with its interval, fp."""
    point: svg.Point | None  # recall and precision at the targets; None if they are not met


Place: TypeAlias = Callable[[float, float], svg.Point]
"""Where a recall and a precision are in a picture."""


def draw_curves(curves: Sequence[Curve], eta: float, width: float, height: float, kind: str) -> str:
    """Return the picture of some models, and the level of alerts that are drawn by lot."""
    low = eta if 0 < eta < LOG_BELOW else 0.0  # the foot of the axis of precision, a log axis above 0
    start = 84 if low else 34

    def place(recall: float, precision: float) -> svg.Point:
        at = 1 - math.log(max(precision, low)) / math.log(low) if low else precision
        return start + recall * (width - 24 - start), 14 + (1 - at) * (height - 56)

    shapes = []
    powers = [10.0**-k for k in range(1, int(-math.log10(low) + 1e-9) + 1)] if low else []
    levels = [(1.0, f"100{NO_BREAK}%"), *((power, say_eta(power)) for power in powers)]
    if not low:
        levels = [(percent / 100, f"{percent}") for percent in range(0, 101, 20)]
    for precision, said in levels:
        (left, y), (right, _) = place(0, precision), place(1, precision)
        shapes.append(svg.draw_line((left, y), (right, y), "var(--grid)"))
        shapes.append(svg.draw_text((left - 8, y + 4), said, 12, anchor="end"))
    for percent in range(0, 101, 20):
        x, foot = place(percent / 100, 0)
        shapes.append(svg.draw_text((x, foot + 18), f"{percent}{NO_BREAK}%", 12, anchor="middle"))
    x, foot = place(0, 0)
    shapes.append(svg.draw_text((x, foot + 36), "Positives found", 12))
    for curve in sorted(curves, key=lambda c: c.color is not None):
        shapes += _draw_curve(place, curve)
    level = place(0, eta)
    shapes.append(svg.draw_line(level, place(1, eta)))
    beside = -5 if eta < 0.06 or low else 15
    shapes.append(
        svg.draw_text((level[0] + 4, level[1] + beside), "alerts by lot", 11, kind="quiet rim")
    )
    named = [curve for curve in curves if curve.color is not None]
    shapes += _name_curves(place, width, named) if have_room(named, width) else []
    label = "Share of alerts that are right, by share of positives that are found"
    return svg.draw_document(shapes, width, height, label, kind)


def _draw_curve(place: Place, curve: Curve) -> Iterator[str]:
    color = svg.name_color(curve.color)
    rows = [row for row in curve.rows if row["precision"] is not None and row["recall"] is not None]
    known = [row for row in rows if row.get("precision_low") is not None]
    if known and curve.color is not None:
        top, foot = (
            [place(row["recall"], row[f"precision_{end}"]) for row in known] for end in ("high", "low")
        )
        yield svg.draw_area(top, foot, color)
    few = []
    for row in rows:  # chance decides where few examples are behind a point
        n_pos = None if row.get("fn") is None else row["tp"] + row["fn"]
        few_false = row["fp"] is not None and row["fp"] < FEW_FALSE_ALERTS
        few.append(few_false or (n_pos is not None and n_pos < _FEW_POSITIVES))
    start = next((number for number, is_few in enumerate(few) if not is_few), len(rows))
    places = [place(row["recall"], row["precision"]) for row in rows]
    if start > 0:
        yield svg.draw_path(places[: start + 1], color, 1.6, svg.DOTTED)
    if places[start:]:
        yield svg.draw_path(places[start:], color, 2.2 if curve.color is not None else 1.2)
    if curve.point is not None and curve.color is not None:
        x, y = place(*curve.point)
        look = f'style="fill:{color};stroke:var(--ground)" stroke-width="1.5"'
        yield svg.draw_circle(x, y, 5, look)


def have_room(curves: Sequence[Curve], width: float) -> bool:
    """Return whether names can stand at their lines: longer ones are in a key below."""
    return all(count_letters(curve.name) <= (1 - _AT) * width / 7.5 for curve in curves)


def _name_curves(place: Place, width: float, curves: Sequence[Curve]) -> Iterator[str]:
    """Yield the names, each near its line, in the order of lines and a line of text apart."""
    wanted = []
    for curve in curves:
        rows = [row for row in curve.rows if row["precision"] is not None]
        near = min(rows, key=lambda row: abs((row["recall"] or 0) - _AT), default=None)
        if near is not None:
            wanted.append((place(_AT, near["precision"]), curve))
    wanted.sort(key=lambda pair: pair[0][1])
    heights: list[float] = []
    for (_, y), _ in wanted:
        heights.append(max(y - 8, heights[-1] + _LINE_HEIGHT if heights else 14))
    limit = place(0, 0)[1] - 6
    for number in reversed(range(len(heights))):
        heights[number] = min(heights[number], limit)
        limit = heights[number] - _LINE_HEIGHT
    for ((x, _), curve), y in zip(wanted, heights, strict=True):
        fits = x + 0.58 * 13 * len(curve.name) < width
        at, anchor = ((x, y), "start") if fits else ((width - 4, y), "end")
        color = svg.name_color(curve.color)
        yield svg.draw_text(at, curve.name, 13, kind="strong rim", anchor=anchor, color=color)
