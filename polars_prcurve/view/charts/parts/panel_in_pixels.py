"""One panel of a chart in pixels: where its lines, dots and words are, and the space left for labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polars_prcurve.view.charts.parts.active_theme import measure_text, read_sizes
from polars_prcurve.view.charts.parts.chart_axes import ChartSpec, PanelSize
from polars_prcurve.view.charts.parts.colors_and_panels import Channels

NEAR_PIXELS = 40.0  # pixels across within which points with the same number share a label
# Left, top, right and bottom in pixels.
Box: TypeAlias = tuple[float, float, float, float]
# Of a line in every fourth column of pixels, from the top; NaN where the line is not.
Heights: TypeAlias = NDArray[np.float64]
Align: TypeAlias = Literal["left", "center", "right"]  # which side of a text stands at its place
STEP = 4  # lines are looked at in every fourth column of pixels
# The start of the keys of thin grey lines and dots: names of groups show this character as a symbol.
RULE_KEY = "\0"
# Directions from a point to places of its label, in pixels.
_FAR: tuple[tuple[float, float, Align], ...] = (
    (8, -15, "left"),
    (-8, 15, "right"),
    (8, 15, "left"),
    (-8, -15, "right"),
)
AT_LINE = 2.0  # pixels from a line within which a point has no side of it
_FAR_GAP = 22.0  # pixels from a point within which a reader takes a label for its own
_NEARER = 4.0  # pixels by which a label is nearer to its own point than to others, at the least
_LABEL_HEIGHT = 0.9  # of a label, as a share of the size of its type: digits have no descenders
# Labels of more points than this are left out where they would lie on lines, of as many on named ones.
_MANY_POINTS = 6
DOT_RADIUS = 6.0  # pixels from the middle of the dot of a marked point to its rim
_ASTRAY = 2.0  # the cost of a label on a named line, or beyond one; of one on a grey line it is 1
_NARROW = 200  # pixels of a panel across, at the least, in which labels may be there
_SMALL_DOT = 4.0  # and of the dot of a period
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
    size: float = field(default_factory=lambda: read_sizes().name)
    weight: Literal["normal", "bold"] = "normal"
    color: str = ""  # empty for the colour that the theme gives to text
    limit: float = 0
    has_rim: bool = False  # whether a white rim sets the word off from lines that it lies on
    label: str = ""  # the line that a name is of, if it is written in several rows
    leads_from: float | None = None  # where the line of a name ends that stands beyond it
    others: tuple[Word, ...] = ()  # other ways to write it; the first that is free is taken

    @property
    def look(self) -> tuple[Any, ...]:
        """All that one layer of text has in common."""
        is_fixed = (
            self.x is None,
            self.y is None,
            self.x is None and self.px,
            self.y is None and self.py,
        )
        place_look = (*is_fixed, self.dx, self.dy, self.align, self.baseline)
        return (*place_look, self.size, self.weight, self.color, self.limit, self.has_rim)


def choose_way(word_variants: Iterable[Word]) -> Word:
    """Return a word that has several ways to be written, the best first."""
    first_word, *other_words = word_variants
    return replace(first_word, others=tuple(other_words))


@dataclass(frozen=True)
class Panel:
    """One panel in pixels from its upper left corner: where its points, lines and words are."""

    spec: ChartSpec
    records: list[dict[str, Any]]
    channels: Channels
    size: PanelSize
    label: str | None = None
    suffix: str = ""  # of the parts of its words, where charts with words of their own share records

    def pick(self, panel_label: str | None) -> Panel:
        """Return another panel of the chart, with the ranges that it has."""
        spec = replace(self.spec, x=self.spec.x.pick(panel_label), y=self.spec.y.pick(panel_label))
        return replace(self, spec=spec, label=panel_label)

    def split(self) -> dict[str | None, Panel]:
        """Return each panel of the chart that has records, with these alone."""
        records_by_label: dict[str | None, list[dict[str, Any]]] = {}
        for record in self.records:
            records_by_label.setdefault(record.get("facet"), []).append(record)
        return {
            panel_label: replace(self.pick(panel_label), records=panel_records)
            for panel_label, panel_records in records_by_label.items()
        }

    def find_spot(self, record: dict[str, Any]) -> tuple[float, float]:
        """Return the place of a record."""
        x_axis, y_axis = self.spec.x, self.spec.y
        return x_axis.place(record[x_axis.field]) * self.size.width, (
            1 - y_axis.place(record[y_axis.field])
        ) * self.size.height

    def list_boxes(self, words: Sequence[Word]) -> list[Box]:
        """Return the boxes that the words of this panel fill."""
        boxes = []
        for word in words:
            if word.facet not in (None, self.label):
                continue
            x_pixel = word.px if word.x is None else self.spec.x.place(word.x) * self.size.width
            y_pixel = word.py if word.y is None else (1 - self.spec.y.place(word.y)) * self.size.height
            text_rows = word.text.split("\n")
            width = max(measure_text(text_row, word.size) for text_row in text_rows)
            height = (word.size + 2) * len(text_rows)
            left_edge = x_pixel + word.dx - {"left": 0, "right": width, "center": width / 2}[word.align]
            top_edge = (
                y_pixel + word.dy - {"top": 0, "bottom": height, "middle": height / 2}[word.baseline]
            )
            boxes.append((left_edge - 3, top_edge - 2, left_edge + width + 3, top_edge + height + 2))
        return boxes

    def list_mark_boxes(self) -> list[Box]:
        """Return the boxes that the dots of marked points fill."""
        mark_records = self.list_marks("mark", "period", "past")
        spots_with_radii = (
            (*self.find_spot(record), DOT_RADIUS if record["part"] == "mark" else _SMALL_DOT)
            for record in mark_records
        )
        return [(x - radius, y - radius, x + radius, y + radius) for x, y, radius in spots_with_radii]

    def list_marks(self, *parts: str) -> list[dict[str, Any]]:
        """Return the records of points of these parts, by default of marked ones."""
        fields, parts = {self.spec.x.field, self.spec.y.field}, parts or ("mark",)
        return [record for record in self.records if record["part"] in parts and fields <= set(record)]

    def open_space(self, words: Sequence[Word], lines: Iterable[Heights] = ()) -> LabelSpace:
        """Return the space for labels, in which these words and lines take their part."""
        size, boxes = self.size, self.list_boxes(words)
        return LabelSpace(size.width, size.height, boxes, [*lines])

    def open_label_space(self, words: Sequence[Word], marks: Iterable[dict[str, Any]]) -> LabelSpace:
        """Return the space for the labels of marked points."""
        color_channel, heights_of_curve = self.channels.color, self.sample_lines()
        shown_names = color_channel.shown_labels if color_channel else [*heights_of_curve]
        grey_lines = [line for name, line in heights_of_curve.items() if name not in shown_names]
        label_space = self.open_space(words, [*grey_lines, *self.sample_references().values()])
        label_space.curves = {
            name: heights_of_curve[name] for name in shown_names if name in heights_of_curve
        }
        label_space.points = [*map(self.find_spot, marks)]
        return label_space

    @property
    def columns(self) -> Heights:
        """Every fourth column of pixels, and one right of the panel: a line may drop at its end."""
        return np.arange(0, self.size.width + STEP + 1, STEP, dtype=np.float64)

    def sample_lines(self) -> dict[str, Heights]:
        """Return the height of each line in these columns, NaN where it is not."""
        points_by_line: dict[str, list[tuple[float, float]]] = {}
        for record in self.records:
            is_point = record["part"] == "curve" and {self.spec.x.field, self.spec.y.field} <= set(
                record
            )
            if is_point and record.get("facet") == self.label and not record.get("copy"):
                points_by_line.setdefault(record.get("color", ""), []).append(self.find_spot(record))
        pixel_columns, heights_by_line = self.columns, {}
        for name, own_points in points_by_line.items():
            # Points of one place keep their order: the upright start of a line ends at its upper point.
            is_sorted = self.spec.interpolate == "step-before"
            line_points = own_points if is_sorted else sorted(own_points, key=lambda point: point[0])
            x_pixels, y_pixels = (np.asarray(pixels) for pixels in zip(*line_points, strict=True))
            is_beyond_line = (pixel_columns < x_pixels.min() - STEP) | (
                pixel_columns > x_pixels.max() + STEP
            )
            if self.spec.interpolate == "linear":
                heights = np.interp(pixel_columns, x_pixels, y_pixels)
            else:
                point_indexes = np.searchsorted(x_pixels, pixel_columns - 1e-9)
                heights = y_pixels[np.clip(point_indexes, 0, len(y_pixels) - 1)]
            heights_by_line[name] = np.where(is_beyond_line, math.nan, heights)
        return heights_by_line

    def sample_references(self) -> dict[str, Heights]:
        """Return the height of each thin line and row of dots in these columns; NaN where it is not."""
        spots_by_name: dict[str, list[tuple[float, float]]] = {}
        x_field, y_field = self.spec.x.field, self.spec.y.field
        for record in self.records:
            part, n_lines = record["part"], len(spots_by_name)
            if record.get("facet") != self.label or x_field not in record:
                continue
            if part == "threshold":
                x_pixel = self.spec.x.place(record[x_field]) * self.size.width
                spots_by_name[f"{RULE_KEY}rule {n_lines}"] = [
                    (x_pixel, 0.0),
                    (x_pixel, self.size.height),
                ]
            elif part in ("reference", "dot", "span") and y_field in record:
                is_span = part == "span"
                name = record["ref"] if part == "reference" else f"{part} {record.get('color', '')}"
                end_records = [record, record | {x_field: record["to"]}] if is_span else [record]
                line_spots = spots_by_name.setdefault(
                    f"{RULE_KEY}{name}{n_lines if is_span else ''}", []
                )
                line_spots += map(self.find_spot, end_records)
        columns, heights_of_name = self.columns, {}
        for name, line_spots in spots_by_name.items():
            x_pixels, y_pixels = (np.asarray(pixels) for pixels in zip(*sorted(line_spots), strict=True))
            heights = np.interp(columns, x_pixels, y_pixels, left=math.nan, right=math.nan)
            if x_pixels[-1] - x_pixels[0] < 2 * STEP:  # an upright rule has its ends in two columns
                first_column = min(int(x_pixels[0] // STEP), len(columns) - 2)
                heights = np.full(len(columns), math.nan)
                heights[first_column : first_column + 2] = y_pixels[0], y_pixels[-1]
            heights_of_name[name] = heights
        return heights_of_name


@dataclass(frozen=True)
class NamePlace:
    """Where a name stands, in pixels."""

    x: float
    y: float  # the middle of its height
    align: Align = "left"
    is_on_line: bool = False  # whether there was no better place than on another line


@dataclass
class LabelSpace:
    """A panel in which boxes of text are taken one after the other."""

    width: int
    height: int
    boxes: list[Box] = field(default_factory=list)  # what words fill, which no other word may touch
    # Heights of lines in every fourth column, which labels of points stay off if they can.
    lines: list[Heights] = field(default_factory=list)
    # Those of lines with a name, which labels of points neither touch nor leave between them and the
    # point: beyond a line a number would be read as that one's.
    curves: dict[str, Heights] = field(default_factory=dict)
    # All points that have labels: a label nearest to another point would be read as that one's.
    points: list[tuple[float, float]] = field(default_factory=list)
    # Points whose label has its place, and the middle of its height: labels are in the order of points.
    labels: list[tuple[float, float, float]] = field(default_factory=list)

    def is_free(self, box: Box) -> bool:
        """Return whether a box is inside the panel and off all boxes of words."""
        left_edge, top_edge, right_edge, bottom_edge = box
        is_inside = (
            left_edge >= 0
            and right_edge <= self.width + 30
            and top_edge >= -17
            and bottom_edge <= self.height
        )
        return is_inside and all(
            left_edge > other_box[2]
            or right_edge < other_box[0]
            or top_edge > other_box[3]
            or bottom_edge < other_box[1]
            for other_box in self.boxes
        )

    def crosses_line(self, box: Box) -> bool:
        """Return whether a line runs through a box."""
        return any(_find_side(line, box) == 0 for line in self.lines)

    def place_beside_point(
        self, spot: tuple[float, float], text: str, own_name: str = "", *, is_shared: bool = False
    ) -> NamePlace | None:
        """Return a place beside a point, and take its box; the best of some corners, or None."""
        (x, y), width, half_height = spot, measure_text(text), _LABEL_HEIGHT * read_sizes().name / 2
        n_below = sum(
            0 < other_y - y < 15 and abs(other_x - x) < NEAR_PIXELS for other_x, other_y in self.points
        )
        other_points = [point for point in self.points if math.dist(point, spot) > DOT_RADIUS]
        # The number of several points is beside all of their lines.
        near_pixels = NEAR_PIXELS / 2 if is_shared else AT_LINE
        side_by_name = {
            name: _find_point_side(line, spot, near_pixels) for name, line in self.curves.items()
        }
        side_by_name[own_name] = None
        costs_boxes_places: list[tuple[float, Box, NamePlace]] = []
        for dx, dy, align in _list_corners(x, width, n_below):
            left_edge = x + dx - {"left": 0, "center": width / 2, "right": width}[align]
            box = (left_edge, y + dy - half_height, left_edge + width, y + dy + half_height)
            gap = _measure_gap(box, spot)
            is_nearer = any(_measure_gap(box, other) < gap + _NEARER for other in other_points)
            is_far = gap > _FAR_GAP or (is_nearer and not is_shared)
            if is_far or not self.is_free(box) or self._is_swapped(box, spot):
                continue
            is_astray = self._is_astray(box, side_by_name)
            cost = self.crosses_line(box) + 0.5 * (box[1] < 0) + _ASTRAY * is_astray
            costs_boxes_places.append((cost, box, NamePlace(x + dx, y + dy, align, cost >= 1)))
        cost, box, place = min(
            costs_boxes_places, key=lambda place: place[0], default=(math.inf, (0.0,) * 4, None)
        )
        is_full = self.width < _NARROW or len(self.points) >= _MANY_POINTS
        is_crowded = len(self.points) > _MANY_POINTS or (cost >= _ASTRAY and is_full)
        if place is None or (cost >= 1 and is_crowded):
            return None
        self.boxes.append(box)
        self.labels.append((x, y, place.y))
        return place

    def _is_swapped(self, box: Box, spot: tuple[float, float]) -> bool:
        """Return whether a label is not in the order of points, and would be read as another one's."""
        (x, y), label_middle = spot, (box[1] + box[3]) / 2
        return any(
            abs(other_x - x) < NEAR_PIXELS and (other_y - y) * (other_middle - label_middle) < 0
            for other_x, other_y, other_middle in self.labels
        )

    def _is_astray(self, box: Box, side_by_name: Mapping[str, int | None]) -> bool:
        """Return whether a line runs through a label, or between it and its point."""
        side_pairs = (
            (_find_side(line, box), side_by_name.get(name)) for name, line in self.curves.items()
        )
        return any(
            side == 0 or point_side == -side for side, point_side in side_pairs if side is not None
        )


def _list_corners(x: float, width: float, n_below: int) -> list[tuple[float, float, Align]]:
    """Return where a label of a point may stand from it, in pixels, the best places first."""
    height, centre_dx = 1.2 * read_sizes().name, max(0.0, _ABOVE_EDGE + width / 2 - x)
    return [
        (8, -11 - n_below * height, "left"),
        (8, -11, "left"),
        (-8, 11, "right"),
        (8, 11, "left"),
        (-8, -11, "right"),
        (8, -11 - height, "left"),
        (-8, 11 + height, "right"),
        (-8, -11 - height, "right"),
        (14, 0, "left"),
        (-14, 0, "right"),
        *((centre_dx, -16 - step * height / 2, "center") for step in range(4)),
        # Farther places, for points between lines that run close.
        *((dx, factor * dy, align) for factor in (1.5, 2, 2.5, 3) for dx, dy, align in _FAR),
    ]


def _find_side(line: Heights, box: Box) -> int | None:
    """Return 1 if a box is above a line, -1 below it, 0 if that runs through it; None without it."""
    left_edge, top_edge, right_edge, bottom_edge = box
    column_slice = slice(max(int(left_edge // STEP), 0), max(int(right_edge // STEP) + 2, 0))
    heights_in_box = line[column_slice]
    if np.isnan(heights_in_box).all():
        return None
    highest, lowest = float(np.nanmin(heights_in_box)), float(np.nanmax(heights_in_box))
    return 1 if highest > bottom_edge + 1 else -1 if lowest < top_edge - 1 else 0


def _find_point_side(line: Heights, spot: tuple[float, float], near: float) -> int | None:
    """Return 1 if a point is above a line, -1 below it, and None at the line or without it."""
    x, y = spot
    side = _find_side(line, (x, y, x, y))
    return side if side and _find_side(line, (x, y - near, x, y + near)) else None


def _measure_gap(box: Box, point: tuple[float, float]) -> float:
    """Return the distance in pixels of a point from a box."""
    left_edge, top_edge, right_edge, bottom_edge = box
    x_pixel, y_pixel = point
    return math.hypot(
        max(left_edge - x_pixel, x_pixel - right_edge, 0.0),
        max(top_edge - y_pixel, y_pixel - bottom_edge, 0.0),
    )
