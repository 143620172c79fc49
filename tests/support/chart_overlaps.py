"""What lies on what in a drawn chart: its texts, its lines, and the marked points."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from polars_prcurve.view.charts.parts.colors_and_sizes import OTHERS

# Widths of letters as shares of the size of type, about those of Arial; other small ones are 0.556.
_WIDTHS = {
    **dict.fromkeys(" \xa0ijlI.,'|·:;!()[]", 0.29),
    **dict.fromkeys("%mMW@…–—−", 0.86),
    **dict.fromkeys("frt-", 0.33),
}
_BOLD = 1.06  # the width of bold letters to that of others
_LEAST_LINE = 1.5  # pixels that lines of groups are wide at least; those to compare with are thinner
_SLACK = 1.0  # pixels that boxes may share: letters do not fill them


class Text(NamedTuple):
    """A text in pixels from the upper left corner, the point that it is placed from, and its colour."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    spot: tuple[float, float]
    panel: tuple[float, float]
    is_bold: bool

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    def lies_on(self, other: Text) -> bool:
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > _SLACK and down > _SLACK


class Line(NamedTuple):
    """A line of a group, as the places that it joins."""

    stroke: str
    places: list[tuple[float, float]]
    panel: tuple[float, float]

    def runs_through(self, left: float, top: float, right: float, bottom: float) -> bool:
        """Return whether a piece of the line is in this box (the method of Liang and Barsky)."""
        for (x, y), (next_x, next_y) in pairwise(self.places):
            start, end = 0.0, 1.0
            for step, room in (
                (x - next_x, x - left),
                (next_x - x, right - x),
                (y - next_y, y - top),
                (next_y - y, bottom - y),
            ):
                if step < 0:
                    start = max(start, room / step)
                elif step > 0:
                    end = min(end, room / step)
                elif room < 0:
                    start, end = 1.0, 0.0
            if start <= end:
                return True
        return False


@dataclass
class Drawing:
    """A drawn chart."""

    width: float
    height: float
    texts: list[Text] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)

    def list_overlaps(self) -> Iterator[str]:
        """Yield what lies on what."""
        for text, other in combinations(self.texts, 2):
            if text.lies_on(other) and text[:5] != other[:5]:  # else it is a white rim
                yield f"{text.text!r} on {other.text!r}"
        n_alike = Counter(text[:5] for text in self.texts)
        for text in self.texts:
            if text.is_bold and n_alike[text[:5]] > 1 and re.match(r"[\d.,]+(%|$)", text.text):
                continue  # a number with a white rim, which has no better place
            box = (text.left + 1, text.top + 1, text.right - 1, text.bottom - 1)
            for line in self.lines:
                if line.runs_through(*box):
                    yield f"{text.text!r} on a line"

    def list_strays(self) -> Iterator[str]:
        """Yield the numbers at points that are not in the order of their points."""
        numbers = [text for text in self.texts if text.is_bold and re.match(r"[\d.]+%", text.text)]
        for number, other in combinations(numbers, 2):
            (x, y), (other_x, other_y) = number.spot, other.spot
            is_near = number.panel == other.panel and abs(x - other_x) < 40 and y != other_y
            if is_near and (y < other_y) != (number.middle < other.middle):
                yield f"{number.text} and {other.text}"


def read_drawing(spec: dict[str, Any]) -> Drawing:
    """Return the chart as Vega draws it."""
    import vl_convert

    scene = vl_convert.vegalite_to_scenegraph(spec)
    drawing = Drawing(scene["width"], scene["height"])
    _read_mark(drawing, scene["scenegraph"], tuple(scene["origin"]), (0.0, 0.0), "")
    return drawing


def _read_mark(drawing: Drawing, mark: dict[str, Any], origin: Any, panel: Any, role: str) -> None:
    role, kind = mark.get("role") or role, mark.get("marktype")
    items = [item for item in mark.get("items", []) if item.get("opacity", 1) > 0]
    if kind == "group":
        for item in items:
            inner_origin = (origin[0] + item.get("x", 0), origin[1] + item.get("y", 0))
            for inner_mark in item.get("items", []):
                is_axis = "axis" in (inner_mark.get("role") or "")
                _read_mark(drawing, inner_mark, inner_origin, panel if is_axis else inner_origin, role)
    elif kind == "text":
        drawing.texts += [text for item in items for text in _read_text(item, origin, panel)]
    elif kind == "line" and items and items[0].get("strokeWidth", 1) >= _LEAST_LINE:
        places = [(origin[0] + item["x"], origin[1] + item["y"]) for item in items if "x" in item]
        steps = items[0].get("interpolate")
        if items[0].get("stroke") != OTHERS:
            drawing.lines.append(Line(items[0].get("stroke", ""), [*_join(places, steps)], panel))


def _join(places: list[tuple[float, float]], interpolate: str | None) -> Iterator[tuple[float, float]]:
    yield from places[:1]
    for (x, y), (next_x, next_y) in pairwise(places):
        if interpolate == "step-before":
            yield x, next_y
        elif interpolate == "step-after":
            yield next_x, y
        yield next_x, next_y


def _read_text(item: dict[str, Any], origin: Any, panel: Any) -> Iterator[Text]:
    words = item.get("text") or ""
    rows = [str(row) for row in words] if isinstance(words, list) else str(words).split("\n")
    size = item.get("fontSize", 11)
    if not any(map(str.strip, rows)) or size < 2:  # Vega-Lite draws labels of panels that are off
        return
    is_bold = str(item.get("fontWeight")) in ("bold", "600", "700")
    width = max(size * sum(_WIDTHS.get(x, 0.68 if x.isupper() else 0.556) for x in row) for row in rows)
    width = min(width * (_BOLD if is_bold else 1), item.get("limit") or width)
    height = item.get("lineHeight", size + 2) * (len(rows) - 1) + 0.95 * size
    start = {"left": 0, "center": -width / 2, "right": -width}[item.get("align", "left")]
    shares = {"top": 0.05, "middle": -0.45, "bottom": -0.95, "line-top": 0, "line-bottom": -1}
    rise = shares.get(item.get("baseline", ""), -0.75) * size
    spot = (origin[0] + item.get("x", 0), origin[1] + item.get("y", 0))
    x, y = item.get("dx", 0) + start, item.get("dy", 0) + rise
    left, top = spot[0] + x, spot[1] + y
    if item.get("angle"):  # the title of a y axis
        left, top, width, height = spot[0] + y, spot[1] - x - width, height, width
    words = " ".join(rows).replace("\xa0", " ")
    yield Text(words, left, top, left + width, top + height, spot, panel, is_bold)
