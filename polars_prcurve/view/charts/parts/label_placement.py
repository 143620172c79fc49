"""Words on a chart: names at lines, labels at points, and where each stands free of all others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polars_prcurve.view.charts.parts import chart_style as style
from polars_prcurve.view.charts.parts.chart_axes import ChartSpec, PanelSize
from polars_prcurve.view.charts.parts.colors_and_panels import Channels
from polars_prcurve.view.words.value_names import ISOLATES, isolate_name, wrap_words

_MAX_NAMES = 6  # lines, at most, that have their names beside them; more have a legend
_MAX_LETTERS = 44  # letters of a name, at most, that is tried in one row: half a panel, about
_LETTERS_AT_END = 24  # letters in a row of a name right of the lines, where a page has little room
# Shares of a panel's width that rows of names take, from the first tried to the last.
_SHARES_OF_ROWS = (0.5, 0.8)
_NEAR = 40.0  # pixels across within which points with the same number share a label
_SHARED = "shared"  # the field of a point whose label is that of several
# Words in one panel up to which marked points have labels; more would hide the lines.
_MOST_LABELS = 14
# Left, top, right and bottom in pixels.
Box: TypeAlias = tuple[float, float, float, float]
# Of a line in every fourth column of pixels, from the top; NaN where the line is not.
Heights: TypeAlias = NDArray[np.float64]
Align: TypeAlias = Literal["left", "center", "right"]  # which side of a text stands at its place
STEP = 4  # lines are looked at in every fourth column of pixels
# The start of the keys of thin grey lines and dots: names of groups show this character as a symbol.
RULE_KEY = "\0"
_RIM = 5.0  # pixels between a name and its own line
_GAP = 3.0  # and between a name and any other line
APART = 9.0  # and any other curve, if there is room: whose name is it where two curves are one?
_STEEPEST = 0.5  # a line that falls by more of its panel along a name is not where the name is
# Directions from a point to places of its label, in pixels.
_FAR: tuple[tuple[float, float, Align], ...] = (
    (8, -15, "left"),
    (-8, 15, "right"),
    (8, 15, "left"),
    (-8, -15, "right"),
)
_MANY_POINTS = 4  # labels of more points than this are left out where they would lie on lines
_ABOVE_EDGE = 2.0  # pixels from the left edge to a label that stands above its point


@dataclass(frozen=True)
class Word:
    """A text on a chart, at a place in data or, where that is None, in pixels."""

    text: str
    x: float | None = None
    y: float | None = None
    px: float = 0
    py: float = 0
    dx: float = 0
    dy: float = 0
    facet: str | None = None
    align: Align = "left"
    baseline: Literal["top", "middle", "bottom"] = "middle"
    size: float = style.NAME_SIZE
    weight: Literal["normal", "bold"] = "normal"
    color: str = ""  # empty for the colour that the theme gives to text
    limit: float = 0
    has_rim: bool = False  # whether a white rim sets the word off from lines that it lies on
    label: str = ""  # the line that a name is of, if it is written in several rows
    leads_from: float | None = None  # where the line of a name ends that stands beyond it
    others: tuple[Word, ...] = ()  # other ways to write it; the first that no line runs through is taken

    @property
    def look(self) -> tuple[Any, ...]:
        """All that one layer of text has in common."""
        pixels = (self.x is None and self.px, self.y is None and self.py)
        place = (self.x is None, self.y is None, *pixels, self.dx, self.dy, self.align, self.baseline)
        return (*place, self.size, self.weight, self.color, self.limit, self.has_rim)


def choose_way(ways: Iterable[Word]) -> Word:
    """Return a word that has several ways to be written, the best first."""
    first, *others = ways
    return replace(first, others=tuple(others))


def settle_words(panel: Panel, words: Sequence[Word]) -> list[Word]:
    """Return the words, each in the first of its places that no curve or upright rule runs through."""
    settled: list[Word] = []
    panels = panel.split() if any(word.others for word in words) else {}
    for word in words:
        ways = [word, *word.others]
        if len(ways) > 1:
            own_panel = panels.get(word.facet) or replace(panel.pick(word.facet), data=[])
            rules = [
                rule for rule in own_panel.sample_references().values() if np.isfinite(rule).sum() < 3
            ]
            space = own_panel.open_space(settled, [*own_panel.sample_lines().values(), *rules])
            boxes = [own_panel.list_boxes([way])[0] for way in ways]
            costs = [2 * space.crosses_line(box) + (not space.is_free(box)) for box in boxes]
            ways = [ways[costs.index(min(costs))]]
        settled += ways
    return settled


# Names of lines -------------------------------------------------------------------------------


def place_names(panel: Panel, words: Sequence[Word]) -> list[Word] | None:
    """Return the name of each line with a colour, beside it or right of it; None for a legend."""
    spec, size, (color, facet) = panel.spec, panel.size, (panel.channels.color, panel.channels.facet)
    names = color.shown_labels if color else []
    is_unknown = spec.y.is_free and not spec.y.ranges
    if not 1 <= len(names) <= _MAX_NAMES or spec.names == "none" or is_unknown:
        return None
    labels: list[str | None] = [*facet.labels] if facet else [None]
    beyond = labels[min(len(labels), size.columns) - 1]  # the panel that has a margin on its right
    # Names stand in one panel for all; to try each of many panels takes too long.
    panels = [panel.pick(label) for label in (labels if len(labels) <= _MAX_NAMES else labels[:1])]
    panels_and_lines = [
        (panel_view, lines)
        for panel_view in panels
        if set(names) <= set(lines := panel_view.sample_lines())
    ]
    if spec.names == "ends" and facet is None and panels_and_lines:
        [(_, lines)] = panels_and_lines
        return _name_right(panels[0], {name: line for name, line in lines.items() if name in names})
    single_rows = {name: [name] for name in names}
    ways: list[Any] = [(partial(place_beside, apart=gap), single_rows) for gap in (APART, _GAP)]
    wrapped_rows = [_wrap_names(names, share * size.width) for share in _SHARES_OF_ROWS]
    ways += [(partial(place_together, rows=rows), rows) for rows in (single_rows, *wrapped_rows)]
    # Names too long for one row are only tried in several.
    for place_all, rows in ways if max(map(len, names)) <= _MAX_LETTERS else ways[3:]:
        for panel_view, lines in panels_and_lines:
            places = place_all(
                lines | panel_view.sample_references(), names, panel_view.open_space(words)
            )
            if set(names) <= set(places):
                at_x, at_y = panel_view.spec.x.read, panel_view.spec.y.read
                # In data, so that a name stays at its line if the chart is resized a little.
                return [
                    Word("\n".join(rows[name]), at_x(x), at_y(y), facet=panel_view.label, label=name)
                    for name in names
                    for x, y in [(places[name].x / size.width, 1 - places[name].y / size.height)]
                ]
    for panel_view, lines in panels_and_lines if spec.has_margin else ():
        if panel_view.label == beyond:
            return _name_right(panel_view, {name: lines[name] for name in names})
    return None


def _wrap_names(names: Sequence[str], width: float = 0) -> dict[str, list[str]]:
    """Return the names in rows of this width in pixels, about, but not too narrow."""
    letters = max(int(width / style.measure_text("x")), _LETTERS_AT_END)
    rows = {name: wrap_words(name.strip(ISOLATES), letters) for name in names}
    return {name: [*map(isolate_name, parts)] or [name] for name, parts in rows.items()}


def _name_right(panel: Panel, lines: dict[str, Heights]) -> list[Word]:
    """Return names right of a panel, in the order of their lines, each near the height of its own."""
    # Names at the ends of lines stand where these end; a thin line leads to one that had to move.
    spec, height, rows = panel.spec, panel.size.height, _wrap_names([*lines])
    is_end = spec.names == "ends"
    known_heights = {name: line[~np.isnan(line)] for name, line in lines.items()}
    own_heights = [float((line[-1:] if is_end else line).mean()) for line in known_heights.values()]
    sizes = [(style.NAME_SIZE + 2) * len(rows[name]) + 3.0 for name in lines]
    name_heights = spread_at_ends(own_heights, sizes, height)
    dx = 16 if is_end else 12 if spec.x.words == "none" else 22  # right of half a label of the axis
    look: dict[str, Any] = {"dx": dx, "facet": panel.label}
    return [
        Word("\n".join(rows[name]), spec.x.high, y, label=name, leads_from=start, **look)
        for name, own_height, name_height in zip(lines, own_heights, name_heights, strict=True)
        for y, start in [(spec.y.read(1 - name_height / height), spec.y.read(1 - own_height / height))]
    ]


# Labels of points -----------------------------------------------------------------------------


def place_labels(panel: Panel, words: Sequence[Word]) -> list[Word]:
    """Return the labels of marked points, which hide neither each other nor a line if there is room."""
    spec, color = panel.spec, panel.channels.color
    colors = color.colors if color and not spec.is_neutral else {}
    panels = panel.split()
    marks = _merge_labels(panel, panels)
    spaces: dict[str | None, LabelSpace] = {}
    placed = []
    for row in sorted(marks, key=lambda row: -row[spec.y.field]):
        facet = row.get("facet")
        own_panel = panels[facet]
        if facet not in spaces:
            lines = [*own_panel.sample_lines().values(), *own_panel.sample_references().values()]
            spaces[facet] = own_panel.open_space(words, lines)
            if facet is not None:  # the head of the panel
                spaces[facet].boxes.insert(0, (0.0, -26.0, style.measure_text(facet) + 110, -5.0))
            spaces[facet].points += (
                own_panel.find_spot(mark) for mark in marks if mark.get("facet") == facet
            )
        label = row[f"{spec.y.field}_label"]
        if not label or len(spaces[facet].boxes) >= _MOST_LABELS:
            continue
        x, y = own_panel.find_spot(row)
        beside = spaces[facet].points
        lift = sum(0 < other[1] - y < 15 and abs(x - other[0]) < _NEAR for other in beside)
        corner = spaces[facet].place_beside_point(x, y, label, style.NAME_SIZE, lift)
        if corner is None:
            continue
        look: dict[str, Any] = {"align": corner.align, "weight": "bold", "facet": facet}
        look |= {"dx": corner.x - x, "dy": corner.y - y}
        look["has_rim"] = color is not None and color.colored_labels is not None
        is_dark = spec.is_neutral or _SHARED in row
        look["color"] = style.INK if is_dark else colors.get(row.get("color", ""), style.COLORS[0])
        placed.append(Word(label, row[spec.x.field], row[spec.y.field], **look))
    return placed


def _merge_labels(panel: Panel, panels: Mapping[str | None, Panel]) -> list[dict[str, Any]]:
    """Return the marked points of a chart; of neighbours with one number, one that is _SHARED."""
    x, y, color = panel.spec.x, panel.spec.y, panel.channels.color
    # A grey number could hardly be read, and would lie over others.
    grey = set(color.labels) - set(color.shown_labels) if color else set()
    marks: list[dict[str, Any]] = []
    for row in panel.data:
        is_mark = row["part"] == "mark" and {x.field, y.field} <= set(row)
        if not is_mark or row.get("color") in grey:
            continue
        own_panel = panels[row.get("facet")]
        x_pixel, y_pixel = own_panel.find_spot(row)
        neighbours = [
            number
            for number, other in enumerate(marks)
            for other_x, other_y in [own_panel.find_spot(other)]
            if all(other.get(name) == row.get(name) for name in ("facet", f"{y.field}_label"))
            and abs(x_pixel - other_x) < _NEAR
            and abs(y_pixel - other_y) < _NEAR / 2
        ]
        if not neighbours:
            marks.append(row)
        elif marks[neighbours[0]].get("color") != row.get("color"):
            marks[neighbours[0]] = marks[neighbours[0]] | {_SHARED: True}
    return marks


@dataclass(frozen=True)
class Panel:
    """One panel in pixels from its upper left corner: where its points, lines and words are."""

    spec: ChartSpec
    data: list[dict[str, Any]]
    channels: Channels
    size: PanelSize
    label: str | None = None
    suffix: str = ""  # of the parts of its words, where charts with words of their own share records

    def pick(self, label: str | None) -> Panel:
        """Return another panel of the chart, with the ranges that it has."""
        spec = replace(self.spec, x=self.spec.x.pick(label), y=self.spec.y.pick(label))
        return replace(self, spec=spec, label=label)

    def split(self) -> dict[str | None, Panel]:
        """Return each panel of the chart that has records, with these alone."""
        rows: dict[str | None, list[dict[str, Any]]] = {}
        for row in self.data:
            rows.setdefault(row.get("facet"), []).append(row)
        return {label: replace(self.pick(label), data=panel_rows) for label, panel_rows in rows.items()}

    def find_spot(self, row: dict[str, Any]) -> tuple[float, float]:
        """Return the place of a record."""
        x, y = self.spec.x, self.spec.y
        return x.place(row[x.field]) * self.size.width, (1 - y.place(row[y.field])) * self.size.height

    def list_boxes(self, words: Sequence[Word]) -> list[Box]:
        """Return the boxes that the words of this panel fill."""
        boxes = []
        for word in words:
            if word.facet not in (None, self.label):
                continue
            x = word.px if word.x is None else self.spec.x.place(word.x) * self.size.width
            y = word.py if word.y is None else (1 - self.spec.y.place(word.y)) * self.size.height
            rows = word.text.split("\n")
            width = max(style.measure_text(row, word.size) for row in rows)
            height = (word.size + 2) * len(rows)
            left_edge = x + word.dx - {"left": 0, "right": width, "center": width / 2}[word.align]
            top = y + word.dy - {"top": 0, "bottom": height, "middle": height / 2}[word.baseline]
            boxes.append((left_edge - 3, top - 2, left_edge + width + 3, top + height + 2))
        return boxes

    def open_space(self, words: Sequence[Word], lines: Iterable[Heights] = ()) -> LabelSpace:
        """Return the space for labels, in which these words and lines take their part."""
        size, boxes = self.size, self.list_boxes(words)
        return LabelSpace(size.width, size.height, boxes, [*lines])

    @property
    def columns(self) -> Heights:
        """Every fourth column of pixels, and one right of the panel: a line may drop at its end."""
        return np.arange(0, self.size.width + STEP + 1, STEP, dtype=np.float64)

    def sample_lines(self) -> dict[str, Heights]:
        """Return the height of each line in these columns, NaN where it is not."""
        points: dict[str, list[tuple[float, float]]] = {}
        for row in self.data:
            is_point = row["part"] == "curve" and {self.spec.x.field, self.spec.y.field} <= set(row)
            if is_point and row.get("facet") == self.label and not row.get("copy"):
                points.setdefault(row.get("color", ""), []).append(self.find_spot(row))
        columns, heights_of = self.columns, {}
        for name, line in points.items():
            # Points of one place keep their order: the upright start of a line ends at its upper point.
            is_sorted = self.spec.interpolate == "step-before"
            line_points = line if is_sorted else sorted(line, key=lambda point: point[0])
            x, y = (np.asarray(values) for values in zip(*line_points, strict=True))
            is_inside = (columns >= x.min() - STEP) & (columns <= x.max() + STEP)
            if self.spec.interpolate == "linear":
                heights = np.interp(columns, x, y)
            else:
                heights = y[np.clip(np.searchsorted(x, columns - 1e-9), 0, len(y) - 1)]
            heights_of[name] = np.where(is_inside, heights, math.nan)
        return heights_of

    def sample_references(self) -> dict[str, Heights]:
        """Return the height of each thin line and row of dots in these columns; NaN where it is not."""
        points: dict[str, list[tuple[float, float]]] = {}
        field, parts = self.spec.x.field, ("reference", "dot", "span")
        for row in self.data:
            part = row["part"]
            if row.get("facet") != self.label or field not in row:
                continue
            if part == "threshold":
                x_pixel = self.spec.x.place(row[field]) * self.size.width
                points[f"{RULE_KEY}rule {len(points)}"] = [
                    (x_pixel, 0.0),
                    (x_pixel, float(self.size.height)),
                ]
            elif part in parts and self.spec.y.field in row:
                name = row["ref"] if part == "reference" else f"{part} {row.get('color', '')}"
                name += str(len(points)) if part == "span" else ""
                ends = [row, {**row, field: row["to"]}] if part == "span" else [row]
                points.setdefault(f"{RULE_KEY}{name}", []).extend(map(self.find_spot, ends))
        columns, heights_of = self.columns, {}
        for name, line in points.items():
            x, y = (np.asarray(values) for values in zip(*sorted(line), strict=True))
            heights_of[name] = np.interp(columns, x, y, left=math.nan, right=math.nan)
            if x[-1] - x[0] < 2 * STEP:  # an upright rule has its ends in two columns
                heights_of[name] = np.full(len(columns), math.nan)
                column = min(int(x[0] // STEP), len(columns) - 2)
                heights_of[name][column : column + 2] = y[0], y[-1]
        return heights_of


# Free places ----------------------------------------------------------------------------------


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
    boxes: list[Box] = field(default_factory=list)  # what words fill, which no other word may touch
    # Heights of lines in every fourth column, which labels of points stay off if they can.
    lines: list[Heights] = field(default_factory=list)
    # All points that have labels: a label nearest to another point would be read as that one's.
    points: list[tuple[float, float]] = field(default_factory=list)

    def is_free(self, box: Box) -> bool:
        """Return whether a box is inside the panel and off all boxes of words."""
        left_edge, top, right, bottom = box
        is_inside = left_edge >= 0 and right <= self.width + 30 and top >= -16 and bottom <= self.height
        return is_inside and all(
            left_edge > other[2] or right < other[0] or top > other[3] or bottom < other[1]
            for other in self.boxes
        )

    def crosses_line(self, box: Box) -> bool:
        """Return whether a line runs through a box."""
        left_edge, top, right, bottom = box
        columns = slice(max(int(left_edge // STEP), 0), max(int(right // STEP) + 2, 0))
        stretches = [line[columns] for line in self.lines]
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
        width, height = style.measure_text(text, size), size * 1.2
        above = max(0.0, _ABOVE_EDGE + width / 2 - x)
        corners: list[tuple[float, float, Align]] = [
            (8, -11 - lift * height, "left"),
            (8, -11, "left"),
            (-8, 11, "right"),
            (8, 11, "left"),
            (-8, -11, "right"),
            (8, -11 - height, "left"),
            (-8, 11 + height, "right"),
            (8, -11 - 2 * height, "left"),
            (14, 0, "left"),
            (-14, 0, "right"),
            *((above, -16 - step * height / 2, "center") for step in range(4)),
            # Farther places, for points between lines that run close.
            *((dx, k * dy, align) for k in (1.5, 2, 2.5, 3) for dx, dy, align in _FAR),
        ]
        boxes = []
        for dx, dy, align in corners:
            left_edge = x + dx - {"left": 0, "center": width / 2, "right": width}[align]
            boxes.append((left_edge, y + dy - height / 2, left_edge + width, y + dy + height / 2))
        others = [point for point in self.points if math.dist(point, (x, y)) > 1]
        costs = [
            2 * (not self.is_free(box))
            + self.crosses_line(box)
            + 0.5 * any(_measure_gap(box, point) < _measure_gap(box, (x, y)) for point in others)
            for box in boxes
        ]
        best_corner = costs.index(min(costs))
        if costs[best_corner] >= (1 if len(self.points) > _MANY_POINTS else 2):
            return None
        self.boxes.append(boxes[best_corner])
        dx, dy, align = corners[best_corner]
        return NamePlace(x + dx, y + dy, align)


def _measure_gap(box: Box, point: tuple[float, float]) -> float:
    """Return the distance in pixels of a point from a box."""
    left_edge, top, right, bottom = box
    x, y = point
    return math.hypot(max(left_edge - x, x - right, 0.0), max(top - y, y - bottom, 0.0))


def place_beside(
    lines: dict[str, Heights], names: Sequence[str], space: LabelSpace, apart: float = _GAP
) -> dict[str, NamePlace]:
    """Return a place on each line that is shown for its name; without those that have no room."""
    # `lines` holds the height of each line, in pixels from the top, in every fourth column, NaN where
    # there is none. A box as wide as the name is tried above and below its line at each column. It must
    # be off all other lines and boxes, and `apart` pixels off other curves; the flattest place nearest
    # to the middle wins. Lines to compare with have keys that start with RULE_KEY.
    places: dict[str, NamePlace] = {}
    for name in names:
        line = lines[name]
        columns = int(np.ceil(style.measure_text(name) * 1.04 / STEP)) + 2
        if len(line) < columns:
            continue
        height, width = style.NAME_SIZE * 1.1, columns * STEP
        top, foot = _find_extremes(line, columns)
        is_broken = np.lib.stride_tricks.sliding_window_view(np.isnan(line), columns).any(axis=1)
        top = np.where(is_broken, math.nan, top)
        others = [
            (*_find_extremes(other, columns), _GAP if key.startswith(RULE_KEY) else apart)
            for key, other in lines.items()
            if key != name
        ]
        left_edges = np.arange(len(top)) * STEP
        candidates: list[tuple[float, float, Box]] = []
        for upper in (top - _RIM - height, foot + _RIM):
            is_free = (
                (upper >= 0) & (upper + height <= space.height) & (left_edges + width <= space.width)
            )
            is_free &= foot - top <= _STEEPEST * space.height
            for other_top, other_foot, gap in others:
                is_free &= (other_foot < upper - gap) | (other_top > upper + height + gap)
            middle = np.abs(left_edges + width / 2 - space.width / 2) / space.width
            cost = 0.3 * (foot - top) + 100 * middle
            for k in np.flatnonzero(is_free & ~np.isnan(top)):
                x, y = float(left_edges[k]), float(upper[k])
                candidates.append((float(cost[k]), x, (x, y, x + width, y + height)))
        best = next((box for *_, box in sorted(candidates) if space.is_free(box)), None)
        if best is not None:
            space.boxes.append(best)
            places[name] = NamePlace(best[0] + 2, (best[1] + best[3]) / 2)
    return places


def place_together(
    lines: dict[str, Heights],
    names: Sequence[str],
    space: LabelSpace,
    rows: Mapping[str, Sequence[str]],
) -> dict[str, NamePlace]:
    """Return places for all names below each other, in the order of their lines, where nothing is."""
    # This is for lines that run too close and too steep for names between them. The free place nearest
    # to the middle of the panel wins; there may be none. `rows` are those that a name is written in.
    order = sorted(names, key=lambda name: float(np.nanmean(lines[name])))
    step = style.NAME_SIZE * 1.4
    heights = [step + (len(rows[name]) - 1) * (style.NAME_SIZE + 2) for name in order]
    width = max(style.measure_text(row) for name in names for row in rows[name]) * 1.04
    height = sum(heights)
    free_space = LabelSpace(space.width, space.height, space.boxes, [*lines.values()])
    centre = (space.width / 2, space.height / 2)
    candidates = [
        (math.dist((left_edge + width / 2, top + height / 2), centre), left_edge, top)
        for left_edge in np.arange(_RIM, space.width - width - _RIM, STEP).tolist()
        for top in np.arange(_RIM, space.height - height - _RIM, STEP).tolist()
    ]
    for _, left_edge, top in sorted(candidates):
        box = (left_edge - _RIM, top - _RIM, left_edge + width + _RIM, top + height + _RIM)
        if free_space.is_free(box) and not free_space.crosses_line(box):
            middles = top + np.cumsum(heights) - np.asarray(heights) / 2
            return {
                name: NamePlace(left_edge, y) for name, y in zip(order, middles.tolist(), strict=True)
            }
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
