"""Names at their lines: where on a line, or at its end, a name stands free of all others.

A place is in pixels from the upper left corner of a panel. The chart turns it back into data, so that a
name stays at its line if the chart is resized a little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polars_prcurve.charts.parts.chart_style import NAME_SIZE, measure_text

# Left, top, right and bottom in pixels.
Box: TypeAlias = tuple[float, float, float, float]
Heights: TypeAlias = NDArray[np.float64]
Align: TypeAlias = Literal["left", "center", "right"]
STEP = 4  # lines are looked at in every fourth column of pixels
# The start of the keys of thin grey lines and dots: names of groups show this character as a symbol.
RULE_KEY = "\0"
_RIM = 5.0  # pixels between a name and its own line
_GAP = 3.0  # and between a name and any other line
APART = 9.0  # and any other curve, if there is room: whose name is it where two curves are one?
_STEEPEST = 0.5  # a line that falls by more of its panel along a name is not where the name is
# Directions from a point to places of its label, in pixels.
_FAR: tuple[tuple[float, float, Align], ...] = (
    *((8, -15, "left"), (-8, 15, "right")),
    *((8, 15, "left"), (-8, -15, "right")),
)
_MANY_POINTS = 4  # labels of more points than this are left out where they would lie on lines
_ABOVE_EDGE = 2.0  # pixels from the left edge to a label that stands above its point


@dataclass(frozen=True)
class NamePlace:
    """Where a name stands, in pixels."""

    x: float
    y: float  # the middle of its height
    align: Align = "left"


@dataclass
class LabelSpace:
    """A panel in which boxes of text are taken one after the other."""

    width: int
    height: int
    taken: list[Box] = field(default_factory=list)
    # Heights of lines in every fourth column, which labels of points stay off if they can.
    lines: list[Heights] = field(default_factory=list)
    # All points that have labels: a label nearest to another point would be read as that one's.
    points: list[tuple[float, float]] = field(default_factory=list)

    def is_free(self, box: Box) -> bool:
        """Return whether a box is inside the panel and off all boxes taken."""
        left, top, right, bottom = box
        inside = left >= 0 and right <= self.width + 30 and top >= -16 and bottom <= self.height
        return inside and all(
            left > other[2] or right < other[0] or top > other[3] or bottom < other[1]
            for other in self.taken
        )

    def crosses_line(self, box: Box) -> bool:
        """Return whether a line runs through a box."""
        left, top, right, bottom = box
        inside = slice(max(int(left // STEP), 0), max(int(right // STEP) + 2, 0))
        stretches = [line[inside] for line in self.lines]
        return any(
            bool(np.any((stretch > top - 1) & (stretch < bottom + 1)))
            or bool(len(stretch) and np.nanmin(stretch) < top and np.nanmax(stretch) > bottom)
            for stretch in stretches
            if not np.isnan(stretch).all()
        )

    def place_beside_point(
        self, x: float, y: float, text: str, size: float, lift: int
    ) -> NamePlace | None:
        """Return a place beside a point, and take its box; the first that is free of some corners."""
        # None where all of them lie on words, or, beside many points, on lines. `lift` is how many
        # points are just below, whose labels go between.
        width, height = measure_text(text, size), size * 1.2
        above = max(0.0, _ABOVE_EDGE + width / 2 - x)
        near: list[tuple[float, float, Align]] = [
            *((8, -11 - lift * height, "left"), (8, -11, "left"), (-8, 11, "right")),
            *((8, 11, "left"), (-8, -11, "right"), (8, -11 - height, "left")),
            *((-8, 11 + height, "right"), (8, -11 - 2 * height, "left")),
        ]
        corners: list[tuple[float, float, Align]] = [
            *(near if lift else near[1:]),
            *((14, 0, "left"), (-14, 0, "right")),
            *((above, -16 - step * height / 2, "center") for step in range(4)),
            # Farther places, for points between lines that run close.
            *((dx, k * dy, align) for k in (1.5, 2, 2.5, 3) for dx, dy, align in _FAR),
        ]
        boxes = []
        for dx, dy, align in corners:
            left = x + dx - {"left": 0, "center": width / 2, "right": width}[align]
            boxes.append((left, y + dy - height / 2, left + width, y + dy + height / 2))
        others = [point for point in self.points if math.dist(point, (x, y)) > 1]
        costs = [
            2 * (not self.is_free(box))
            + self.crosses_line(box)
            + 0.5 * any(_measure_gap(box, point) < _measure_gap(box, (x, y)) for point in others)
            for box in boxes
        ]
        chosen = costs.index(min(costs))
        if costs[chosen] >= (1 if len(self.points) > _MANY_POINTS else 2):
            return None
        self.taken.append(boxes[chosen])
        dx, dy, align = corners[chosen]
        return NamePlace(x + dx, y + dy, align)


def _measure_gap(box: Box, point: tuple[float, float]) -> float:
    """Return the distance in pixels of a point from a box."""
    left, top, right, bottom = box
    x, y = point
    return math.hypot(max(left - x, x - right, 0.0), max(top - y, y - bottom, 0.0))


def place_beside(
    lines: dict[str, Heights], shown: Sequence[str], space: LabelSpace, apart: float = _GAP
) -> dict[str, NamePlace]:
    """Return a place on each line that is shown for its name; without those that have no room."""
    # `lines` holds the height of each line, in pixels from the top, in every fourth column, NaN where
    # there is none. A box as wide as the name is tried above and below its line at each column. It must
    # be off all other lines and boxes, and `apart` pixels off other curves; the flattest place nearest
    # to the middle wins. Lines to compare with have keys that start with RULE_KEY.
    places: dict[str, NamePlace] = {}
    for name in shown:
        line = lines[name]
        columns = int(np.ceil(measure_text(name) * 1.04 / STEP)) + 2
        if len(line) < columns:
            continue
        height, width = NAME_SIZE * 1.1, columns * STEP
        top, foot = _find_extremes(line, columns)
        broken = np.lib.stride_tricks.sliding_window_view(np.isnan(line), columns).any(axis=1)
        top = np.where(broken, math.nan, top)
        others = [
            (*_find_extremes(other, columns), _GAP if key.startswith(RULE_KEY) else apart)
            for key, other in lines.items()
            if key != name
        ]
        left = np.arange(len(top)) * STEP
        found: list[tuple[float, float, Box]] = []
        for upper in (top - _RIM - height, foot + _RIM):
            free = (upper >= 0) & (upper + height <= space.height) & (left + width <= space.width)
            free &= foot - top <= _STEEPEST * space.height
            for other_top, other_foot, gap in others:
                free &= (other_foot < upper - gap) | (other_top > upper + height + gap)
            middle = np.abs(left + width / 2 - space.width / 2) / space.width
            cost = 0.3 * (foot - top) + 100 * middle
            for k in np.flatnonzero(free & ~np.isnan(top)):
                x, y = float(left[k]), float(upper[k])
                found.append((float(cost[k]), x, (x, y, x + width, y + height)))
        best = next((box for *_, box in sorted(found) if space.is_free(box)), None)
        if best is not None:
            space.taken.append(best)
            places[name] = NamePlace(best[0] + 2, (best[1] + best[3]) / 2)
    return places


def place_together(
    lines: dict[str, Heights],
    shown: Sequence[str],
    space: LabelSpace,
    rows: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, NamePlace]:
    """Return places for all names below each other, in the order of their lines, where nothing is."""
    # This is for lines that run too close and too steep for names between them. The free place nearest
    # to the middle of the panel wins; there may be none. `rows` are those of names written in several
    # rows.
    rows = {name: [name] for name in shown} if rows is None else rows
    order = sorted(shown, key=lambda name: float(np.nanmean(lines[name])))
    step = NAME_SIZE * 1.4
    heights = [step + (len(rows[name]) - 1) * (NAME_SIZE + 2) for name in order]
    width = max(measure_text(row) for name in shown for row in rows[name]) * 1.04
    height = sum(heights)
    free = LabelSpace(space.width, space.height, space.taken, [*lines.values()])
    found: list[tuple[float, Box]] = []
    lefts = np.arange(_RIM, space.width - width - _RIM, STEP).tolist()
    tops = np.arange(_RIM, space.height - height - _RIM, STEP).tolist()
    for left in lefts:
        for top in tops:
            box = (left - _RIM, top - _RIM, left + width + _RIM, top + height + _RIM)
            middle = math.dist((left + width / 2, top + height / 2), (space.width / 2, space.height / 2))
            found.append((middle, box))
    for _, box in sorted(found):
        if free.is_free(box) and not free.crosses_line(box):
            left, top = box[:2]
            middles = top + _RIM + np.cumsum(heights) - np.asarray(heights) / 2
            places = zip(order, middles.tolist(), strict=True)
            return {name: NamePlace(left + _RIM, middle) for name, middle in places}
    return {}


def _find_extremes(line: Heights, columns: int) -> tuple[Heights, Heights]:
    """Return the highest and the lowest point of a line over each stretch of columns."""
    # A stretch without the line has infinities: its highest point is below all, its lowest above all.
    is_absent = np.isnan(line)
    highest, lowest = np.where(is_absent, math.inf, line), np.where(is_absent, -math.inf, line)
    views = [np.lib.stride_tricks.sliding_window_view(part, columns) for part in (highest, lowest)]
    return views[0].min(axis=1), views[1].max(axis=1)


def spread_at_ends(heights: Sequence[float], sizes: Sequence[float], bottom: float) -> list[float]:
    """Return middles of labels of these sizes, as near to those given as can be, in the order given."""
    # Labels are once pushed down only and once pushed up only. Both keep them apart, so their mean does,
    # and it is fair to both sides.
    order = np.argsort(np.asarray(heights), kind="stable")
    size = np.asarray(sizes, dtype=np.float64)[order]
    steps = np.cumsum(size) - size / 2
    free = np.asarray(heights, dtype=np.float64)[order] - steps
    down = np.maximum.accumulate(free)
    up = np.minimum.accumulate(free[::-1])[::-1]
    mean = np.clip(
        (down + up) / 2, -size[:1].sum() / 2, max(bottom - size.sum(), 0) + size[-1:].sum() / 2
    )
    placed = np.empty(len(order))
    placed[order] = mean + steps
    return [float(height) for height in placed]
