"""Words on a chart: names at lines, labels at points, and where each stands free of all others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts.active_theme import measure_text, read_sizes
from polars_prcurve.view.charts.parts.chart_axes import ChartSpec, PanelSize
from polars_prcurve.view.charts.parts.colors_and_panels import MAX_NAMES, Channels
from polars_prcurve.view.words.names_in_sentences import ISOLATES, isolate_name
from polars_prcurve.view.words.wrapped_text import wrap_words

_MAX_LETTERS = 44  # letters of a name, at most, that is tried in one row: half a panel, about
_LETTERS_AT_END = 24  # letters in a row of a name right of the lines, where a page has little room
_NEAR_PIXELS = 40.0  # pixels across within which points with the same number share a label
_TWIN_SHARE = 0.35  # the share of these for points of two lines, of which a label would be nobody's
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
_OWN_LINE_GAP = 5.0  # pixels between a name and its own line
_LINE_GAP = 3.0  # and between a name and a thin grey line
CURVE_GAP = 7.0  # and any other curve: whose name is it where two curves are one?
_STEEPEST = 0.5  # a line that falls by more of its panel along a name is not where the name is
# Directions from a point to places of its label, in pixels.
_FAR: tuple[tuple[float, float, Align], ...] = (
    (8, -15, "left"),
    (-8, 15, "right"),
    (8, 15, "left"),
    (-8, -15, "right"),
)
_AT_LINE = 2.0  # pixels from a line within which a point has no side of it
_FAR_GAP = 22.0  # pixels from a point within which a reader takes a label for its own
_NEARER = 4.0  # pixels by which a label is nearer to its own point than to others, at the least
_LABEL_HEIGHT = 0.9  # of a label, as a share of the size of its type: digits have no descenders
_MANY_POINTS = 6  # labels of more points than this are left out where they would lie on lines
_DOT = 6.0  # pixels from the middle of the dot of a marked point to its rim
_ASTRAY = 2.0  # the cost of a label on a named line, or beyond one; of one on a grey line it is 1
_NARROW = 200  # pixels of a panel across, at the least, in which labels may be there
_SMALL_DOT = 4.0  # and of the dot of a period
_RING_SIZE = 110  # square pixels of a point, about: a hidden one has twice those for each that hides it
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


def settle_words(panel: Panel, words: Sequence[Word]) -> list[Word]:
    """Return the words, each in the first of its places where it is free, or left out without one."""
    # No other word, point, curve or upright rule is there; one with a rim may lie on lines.
    settled_words: list[Word] = []
    panel_by_label = panel.split() if any(word.others for word in words) else {}
    for word in words:
        if not word.others:
            settled_words.append(word)
            continue
        own_panel = panel_by_label.get(word.facet) or replace(panel.pick(word.facet), records=[])
        heights_of_reference = own_panel.sample_references().values()
        rule_heights = [heights for heights in heights_of_reference if np.isfinite(heights).sum() < 3]
        label_space = own_panel.open_space(
            settled_words, [*own_panel.sample_lines().values(), *rule_heights]
        )
        label_space.boxes += own_panel.list_mark_boxes()
        settled_words += _settle_word(word, own_panel, label_space)
    return settled_words


def _settle_word(word: Word, panel: Panel, label_space: LabelSpace) -> list[Word]:
    """Return a word in its first free place, with a rim maybe on a line; empty without a place."""
    words_on_lines: list[Word] = []
    for word_variant in (word, *word.others):
        for box in panel.list_boxes([word_variant]):
            if label_space.is_free(box) and not label_space.crosses_line(box):
                return [word_variant]
            words_on_lines += [word_variant] if label_space.is_free(box) else []
    return words_on_lines[:1] if word.has_rim else []


# Names of lines -------------------------------------------------------------------------------


def place_names(panel: Panel, words: Sequence[Word]) -> list[Word] | None:
    """Return the name of each line with a colour, beside it or right of it; None for a legend."""
    spec = panel.spec
    size = panel.size
    color_channel, panel_channel = (panel.channels.color, panel.channels.facet)
    line_names = color_channel.shown_labels if color_channel else []
    is_unknown = spec.y.is_free and not spec.y.ranges
    if not 1 <= len(line_names) <= MAX_NAMES or spec.names == "none" or is_unknown:
        return None
    labels: list[str | None] = [*panel_channel.labels] if panel_channel else [None]
    last_label = labels[min(len(labels), size.columns) - 1]  # the panel that has a margin on its right
    # Names stand in one panel for all; to try each of many panels takes too long.
    views = [panel.pick(label) for label in (labels if len(labels) <= MAX_NAMES else labels[:1])]
    panels_and_lines = [
        (view, lines) for view in views if set(line_names) <= set(lines := view.sample_lines())
    ]
    if spec.names == "ends" and panel_channel is None and panels_and_lines:
        [(_, lines)] = panels_and_lines
        heights_by_line = {name: line for name, line in lines.items() if name in line_names}
        return _name_right(views[0], heights_by_line, words)
    # Names too long for one row would lie on lines.
    for view, lines in panels_and_lines if max(map(len, line_names)) <= _MAX_LETTERS else ():
        place_of = place_beside(lines | view.sample_references(), line_names, view.open_space(words))
        if set(line_names) <= set(place_of):
            # In data, so that a name stays at its line if the chart is resized a little.
            return [
                Word(name, view.spec.x.read(x), view.spec.y.read(y), facet=view.label, label=name)
                for name in line_names
                for x, y in [(place_of[name].x / size.width, 1 - place_of[name].y / size.height)]
            ]
    for view, lines in panels_and_lines if spec.has_margin else ():
        if view.label == last_label:
            return _name_right(view, {name: lines[name] for name in line_names}, words)
    return None


def _wrap_names(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the names in rows."""
    rows_by_name = {name: wrap_words(name.strip(ISOLATES), _LETTERS_AT_END) for name in names}
    return {name: [*map(isolate_name, name_rows)] or [name] for name, name_rows in rows_by_name.items()}


def _name_right(panel: Panel, heights_by_line: dict[str, Heights], words: Sequence[Word]) -> list[Word]:
    """Return names right of a panel, in the order of their lines, each near that of its right half."""
    # Names at the ends of lines stand where these end; a thin line leads to one that had to move.
    chart_spec = panel.spec
    panel_height = panel.size.height
    rows_by_name = _wrap_names([*heights_by_line])
    stands_at_end = chart_spec.names == "ends"
    known_heights = (heights[~np.isnan(heights)] for heights in heights_by_line.values())
    line_pixels = [
        float(heights[-1 if stands_at_end else len(heights) // 2 :].mean()) for heights in known_heights
    ]
    label_heights = [(read_sizes().name + 2) * len(rows_by_name[name]) + 3.0 for name in heights_by_line]
    name_pixels = spread_at_ends(line_pixels, label_heights, panel_height)
    # Right of half a label of the axis, and of numbers at points that reach out of the panel.
    right_edges = [box[2] for box in panel.list_boxes(words) if box[3] > 0]
    overhang = max(right_edges, default=0.0) - panel.size.width
    dx = max(16 if stands_at_end else 12 if chart_spec.x.words == "none" else 22, round(overhang) + 6)
    name_words = []
    for name, *pixels in zip(heights_by_line, name_pixels, line_pixels, strict=True):
        name_y, line_y = (chart_spec.y.read(1 - pixel / panel_height) for pixel in pixels)
        look: dict[str, Any] = {"dx": dx, "facet": panel.label, "label": name, "leads_from": line_y}
        name_words.append(Word("\n".join(rows_by_name[name]), chart_spec.x.read(1), name_y, **look))
    return name_words


# Labels of points -----------------------------------------------------------------------------


def place_labels(panel: Panel, words: Sequence[Word]) -> list[Word]:
    """Return the labels of marked points, which hide neither each other nor a line if there is room."""
    spec, color_channel = panel.spec, panel.channels.color
    color_of_label = color_channel.colors if color_channel and not spec.is_neutral else {}
    panel_by_label = panel.split()
    records = _merge_labels(panel, panel_by_label)
    space_by_panel: dict[str | None, LabelSpace] = {}
    placed_words = []
    for record in sorted(records, key=lambda record: -record[spec.y.field]):
        panel_label = record.get("facet")
        own_panel = panel_by_label[panel_label]
        if panel_label not in space_by_panel:
            panel_marks = [mark for mark in records if mark.get("facet") == panel_label]
            space_by_panel[panel_label] = own_panel.open_label_space(words, panel_marks)
        label_text, label_space = record[f"{spec.y.field}_label"], space_by_panel[panel_label]
        if not label_text or len(label_space.boxes) >= _MOST_LABELS:
            continue
        (x, y), is_shared = own_panel.find_spot(record), _SHARED in record
        label_place = label_space.place_beside_point(
            (x, y), label_text, record.get("color", ""), is_shared=is_shared
        )
        if label_place is None:
            continue
        is_known = not record.get("doubt")
        word_options: dict[str, Any] = {"align": label_place.align, "facet": panel_label}
        word_options |= {"weight": "bold" if is_known else "normal"}
        word_options |= {"dx": label_place.x - x, "dy": label_place.y - y}
        # Behind the lines of a panel without colours, and of those picked out, there are grey ones.
        word_options["has_rim"] = (
            label_place.is_on_line or color_channel is None or color_channel.colored_labels is not None
        )
        has_text_color = spec.is_neutral or is_shared
        plain_color = panel.channels.find_panel_color(panel_label)
        mark_color = color_of_label.get(record.get("color", ""), plain_color)
        word_options["color"] = style.INK if has_text_color else mark_color
        placed_words.append(Word(label_text, record[spec.x.field], record[spec.y.field], **word_options))
    return placed_words


def _merge_labels(panel: Panel, panel_by_label: Mapping[str | None, Panel]) -> list[dict[str, Any]]:
    """Return the marked points of a chart; of neighbours with one number, one that is _SHARED."""
    x_axis, y_axis, color_channel = panel.spec.x, panel.spec.y, panel.channels.color
    # A grey number could hardly be read, and would lie over others.
    grey_labels = set(color_channel.labels) - set(color_channel.shown_labels) if color_channel else set()
    merged_marks: list[dict[str, Any]] = []
    for record in panel.records:
        is_mark = record["part"] == "mark" and {x_axis.field, y_axis.field} <= set(record)
        if not is_mark or record.get("color") in grey_labels:
            continue
        own_panel = panel_by_label[record.get("facet")]
        x_pixel, y_pixel = own_panel.find_spot(record)
        neighbour_numbers = [
            mark_number
            for mark_number, other_mark in enumerate(merged_marks)
            for other_x, other_y in [own_panel.find_spot(other_mark)]
            if all(
                other_mark.get(field) == record.get(field)
                for field in ("facet", f"{y_axis.field}_label")
            )
            for near_share in [1.0 if other_mark.get("color") == record.get("color") else _TWIN_SHARE]
            if abs(x_pixel - other_x) < near_share * _NEAR_PIXELS
            and abs(y_pixel - other_y) < near_share * _NEAR_PIXELS / 2
        ]
        if not neighbour_numbers:
            merged_marks.append(record)
        elif merged_marks[neighbour_numbers[0]].get("color") != record.get("color"):
            merged_marks[neighbour_numbers[0]] = merged_marks[neighbour_numbers[0]] | {_SHARED: True}
    return merged_marks


def widen_hidden_marks(panel: Panel) -> None:
    """Give each marked point that an unlike one hides a size, so that it is a ring around that one."""
    size_field = f"{panel.spec.y.field}_wide"
    for own_panel in panel.split().values():
        marks = own_panel.list_marks()
        for mark_number, mark in enumerate(marks):
            n_marks_over = sum(
                math.dist(own_panel.find_spot(mark), own_panel.find_spot(other_mark)) < _DOT
                and any(mark.get(look) != other_mark.get(look) for look in ("color", "shape"))
                for other_mark in marks[mark_number + 1 :]
            )
            if n_marks_over:
                mark[size_field] = 2**n_marks_over * _RING_SIZE


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
            (*self.find_spot(record), _DOT if record["part"] == "mark" else _SMALL_DOT)
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


# Free places ----------------------------------------------------------------------------------


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
            0 < other_y - y < 15 and abs(other_x - x) < _NEAR_PIXELS for other_x, other_y in self.points
        )
        other_points = [point for point in self.points if math.dist(point, spot) > _DOT]
        # The number of several points is beside all of their lines.
        near_pixels = _NEAR_PIXELS / 2 if is_shared else _AT_LINE
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
        is_crowded = len(self.points) > _MANY_POINTS or (cost >= _ASTRAY and self.width < _NARROW)
        if place is None or (cost >= 1 and is_crowded):
            return None
        self.boxes.append(box)
        self.labels.append((x, y, place.y))
        return place

    def _is_swapped(self, box: Box, spot: tuple[float, float]) -> bool:
        """Return whether a label is not in the order of points, and would be read as another one's."""
        (x, y), label_middle = spot, (box[1] + box[3]) / 2
        return any(
            abs(other_x - x) < _NEAR_PIXELS and (other_y - y) * (other_middle - label_middle) < 0
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


def place_beside(
    lines: dict[str, Heights], names: Sequence[str], space: LabelSpace
) -> dict[str, NamePlace]:
    """Return a place on each line that is shown for its name; without those that have no room."""
    # `lines` holds the height of each line, in pixels from the top, in every fourth column, NaN where
    # there is none. A box as wide as the name is tried above and below its line at each column. It must
    # be off all other lines and boxes, and no other curve may be between it and its line; the flattest
    # place nearest to the middle wins. Lines to compare with have keys that start with RULE_KEY.
    place_by_name: dict[str, NamePlace] = {}
    for name in names:
        line = lines[name]
        n_columns = int(np.ceil(measure_text(name) * 1.04 / STEP)) + 2
        if len(line) < n_columns:
            continue
        height, width = read_sizes().name * 1.1, n_columns * STEP
        top_heights, bottom_heights = _find_extremes(line, n_columns)
        is_broken = np.lib.stride_tricks.sliding_window_view(np.isnan(line), n_columns).any(axis=1)
        top_heights = np.where(is_broken, math.nan, top_heights)
        other_lines = {key: other_line for key, other_line in lines.items() if key != name}
        left_edges = np.arange(len(top_heights)) * STEP
        candidate_boxes: list[tuple[float, float, Box]] = []
        for box_top, is_above in (
            (top_heights - _OWN_LINE_GAP - height, True),
            (bottom_heights + _OWN_LINE_GAP, False),
        ):
            is_free = (
                (box_top >= 0) & (box_top + height <= space.height) & (left_edges + width <= space.width)
            )
            is_free &= bottom_heights - top_heights <= _STEEPEST * space.height
            for key, other_line in other_lines.items():
                line_gap = _LINE_GAP if key.startswith(RULE_KEY) else CURVE_GAP
                own_box = (box_top - line_gap, box_top + height + line_gap)
                beyond_line = line if key in names else None
                is_free &= _find_clear_columns(
                    own_box, other_line, beyond_line, n_columns, is_above=is_above
                )
            centre_distances = np.abs(left_edges + width / 2 - space.width / 2) / space.width
            costs = 0.3 * (bottom_heights - top_heights) + 100 * centre_distances
            for column_number in np.flatnonzero(is_free & ~np.isnan(top_heights)):
                x, y = float(left_edges[column_number]), float(box_top[column_number])
                candidate_boxes.append((float(costs[column_number]), x, (x, y, x + width, y + height)))
        best_box = next((box for *_, box in sorted(candidate_boxes) if space.is_free(box)), None)
        if best_box is not None:
            space.boxes.append(best_box)
            place_by_name[name] = NamePlace(best_box[0] + 2, (best_box[1] + best_box[3]) / 2)
    return place_by_name


def _find_clear_columns(
    box_ends: tuple[Heights, Heights],
    other: Heights,
    own_line_heights: Heights | None,
    n_columns: int,
    *,
    is_above: bool,
) -> NDArray[np.bool_]:
    """Return at which columns a name is off another line, which is not between it and its own."""
    (box_top, box_bottom), (highest, lowest) = box_ends, _find_extremes(other, n_columns)
    is_over, is_under = lowest < box_top, highest > box_bottom
    if own_line_heights is None:  # the other has no name, and so this cannot be its
        return is_over | is_under
    _, most_beyond = _find_extremes(
        own_line_heights - other if is_above else other - own_line_heights, n_columns
    )
    is_near = most_beyond < _AT_LINE
    return is_over | (is_under & is_near) if is_above else is_under | (is_over & is_near)


def _find_extremes(line_heights: Heights, n_columns: int) -> tuple[Heights, Heights]:
    """Return the highest and the lowest point of a line over each stretch of columns."""
    # A stretch without the line has infinities: its highest point is below all, its lowest above all.
    is_absent = np.isnan(line_heights)
    highest, lowest = (
        np.lib.stride_tricks.sliding_window_view(np.where(is_absent, end, line_heights), n_columns)
        for end in (math.inf, -math.inf)
    )
    return highest.min(axis=1), lowest.max(axis=1)


def spread_at_ends(heights: Sequence[float], label_sizes: Sequence[float], bottom: float) -> list[float]:
    """Return middles of labels of these sizes, as near to those given as can be, in the order given."""
    # Labels are once pushed down only and once pushed up only. Both keep them apart, so their mean does,
    # and it is fair to both sides.
    sorted_numbers = np.argsort(np.asarray(heights), kind="stable")
    sorted_sizes = np.asarray(label_sizes, dtype=np.float64)[sorted_numbers]
    middles_when_stacked = np.cumsum(sorted_sizes) - sorted_sizes / 2
    heights_less_steps = np.asarray(heights, dtype=np.float64)[sorted_numbers] - middles_when_stacked
    pushed_down = np.maximum.accumulate(heights_less_steps)
    pushed_up = np.minimum.accumulate(heights_less_steps[::-1])[::-1]
    mean_shift = np.clip(
        (pushed_down + pushed_up) / 2,
        -sorted_sizes[:1].sum() / 2,
        max(bottom - sorted_sizes.sum(), 0) + sorted_sizes[-1:].sum() / 2,
    )
    placed_heights = np.empty(len(sorted_numbers))
    placed_heights[sorted_numbers] = mean_shift + middles_when_stacked
    return [float(height) for height in placed_heights]
