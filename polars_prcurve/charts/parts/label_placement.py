"""Words on a chart: names at lines, labels at points, and what lines to compare with are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import altair as alt
import numpy as np

from polars_prcurve.charts.parts import chart_style as style
from polars_prcurve.charts.parts import free_places
from polars_prcurve.charts.parts.chart_axes import ChartSpec, PanelSize, fix_x, fix_y
from polars_prcurve.charts.parts.colors_and_panels import Channels, tell_panel
from polars_prcurve.charts.parts.free_places import Align, Heights
from polars_prcurve.charts.parts.number_formats import round_digits
from polars_prcurve.number_words import glue_numbers
from polars_prcurve.visible_text import ISOLATES, isolate_name, wrap_words

_MAX_NAMES = 6  # lines, at most, that have their names beside them; more have a legend
_MAX_LETTERS = 44
_LETTERS_AT_END = 24  # letters in a row of a name right of the lines, where a page has little room
# Pixels across of a thin line from a line to its name, and how far a name is that needs one.
_LEADER, _MOVED = 13, 4
# Shares of a panel's width that rows of names take, from the first tried to the last.
_SHARES_OF_ROWS = (0.5, 0.8)
# Pixels across within which points with the same number share a label; the mark of such a label.
_NEAR, _SHARED = 40.0, "shared"
# Words in one panel up to which marked points have labels; more would hide the lines.
_MOST_LABELS = 14


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
        at = (self.x is None and self.px, self.y is None and self.py)
        place = (self.x is None, self.y is None, *at, self.dx, self.dy, self.align, self.baseline)
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
            own = panels.get(word.facet) or replace(panel.pick(word.facet), data=[])
            rules = [rule for rule in own.sample_references().values() if np.isfinite(rule).sum() < 3]
            space = own.open_space(settled, [*own.sample_lines().values(), *rules])
            boxes = [own.list_boxes([way])[0] for way in ways]
            costs = [2 * space.crosses_line(box) + (not space.is_free(box)) for box in boxes]
            ways = [ways[costs.index(min(costs))]]
        settled += ways
    return settled


def build_word_layers(
    words: Sequence[Word], spec: ChartSpec, pixels: int, records: list[dict[str, Any]]
) -> list[alt.Chart]:
    """Return a layer per look of words, and add their records."""
    looks: dict[tuple[Any, ...], list[Word]] = {}
    for word in words:
        looks.setdefault(word.look, []).append(word)
    layers = []
    taken = len({row["part"] for row in records if row["part"].startswith("word")})
    for number, alike in enumerate(looks.values(), taken):
        part = f"word {number}"
        for word in alike:
            record: dict[str, Any] = {"part": part, "text": glue_numbers(word.text)}
            record |= {} if word.x is None else {spec.x.field: round_digits(word.x)}
            record |= {} if word.y is None else {spec.y.field: round_digits(word.y)}
            records.append(record | tell_panel(word.facet))
        kinds = [_build_text(alike[0], spec, pixels)]
        if alike[0].has_rim:
            rim = _build_text(replace(alike[0], color="white"), spec, pixels)
            rim.mark.stroke, rim.mark.strokeWidth, rim.mark.strokeJoin = "white", 4, "round"
            kinds.insert(0, rim)
        layers += [layer.transform_filter(f"datum.part === '{part}'") for layer in kinds]
    return layers


def _build_text(word: Word, spec: ChartSpec, pixels: int) -> alt.Chart:
    """Return the layer of the words of one look."""
    look: dict[str, Any] = {"color": word.color} if word.color else {}
    look |= {"limit": word.limit} if word.limit else {}
    look |= {"align": word.align, "baseline": word.baseline, "dx": word.dx, "dy": word.dy}
    look |= {"fontSize": word.size, "fontWeight": word.weight, "lineHeight": word.size + 2}
    mark = alt.Chart().mark_text(lineBreak="\n", aria=False, **look)
    x = fix_x(word.px) if word.x is None else spec.x.build_x(pixels)
    y = fix_y(word.py) if word.y is None else spec.y.build_y(pixels)
    placed: alt.Chart = mark.encode(x=x, y=y, text="text:N")
    return placed


def build_name_layers(
    panel: Panel, names: Sequence[Word], records: list[dict[str, Any]]
) -> list[alt.Chart]:
    """Return the layers of names in the colours of their lines, and add their records."""
    # A click on a name brings out its line; a click on it again, or twice anywhere, brings back all.
    spec, size, own = panel.spec, panel.size, panel.channels.color
    # Each row of a name is a text of its own: renderers mix up rows that are written from right to left.
    rows: dict[float, list[Word]] = {}
    for name in names:
        texts = name.text.split("\n")
        for k, text in enumerate(texts):
            dy = name.dy + (k - (len(texts) - 1) / 2) * (name.size + 2)
            rows.setdefault(dy, []).append(replace(name, text=text, label=name.label or name.text))
    color = [own.encode()] if own and not spec.is_neutral else []
    # Thin lines lead from the ends of lines to names that stand elsewhere.
    beyond = spec.x.read(1 + _LEADER / size.width)
    leaders = [
        {"part": "leader", "color": name.label, spec.x.field: round_digits(x), spec.y.field: y}
        | tell_panel(name.facet)
        for name in names
        if name.leads_from is not None and spec.names == "ends" and name.y is not None
        if abs(spec.y.place(name.leads_from) - spec.y.place(name.y)) * size.height > _MOVED
        for x, y in ((spec.x.high, round_digits(name.leads_from)), (beyond, round_digits(name.y)))
    ]
    records += leaders
    thin = alt.Chart().mark_line(strokeWidth=1, aria=False).transform_filter("datum.part === 'leader'")
    x, y = spec.x.build_x(size.width), spec.y.build_y(size.height)
    layers = [thin.encode(x, y, *color, alt.Detail("color:N"))] if leaders else []
    for number, (dy, alike) in enumerate(rows.items()):
        row = {"row": number} if len(rows) > 1 else {}
        for name in alike:
            record = {"part": "name", "text": glue_numbers(name.text), "color": name.label}
            place = {spec.x.field: round_digits(name.x), spec.y.field: round_digits(name.y)}
            records.append({**record, **place, **row, **tell_panel(name.facet)})
        layer = _build_text(replace(alike[0], weight="bold", dy=dy), spec, 540)
        layer.mark.cursor = "pointer"
        # Vega-Lite lets the pointer through all texts that have no tooltip, except on a canvas.
        layer = layer.encode(*color, tooltip=alt.value(None)).transform_filter("datum.part === 'name'")
        layers.append(layer.transform_filter(f"datum.row === {number}") if row else layer)
    return layers


# Names of lines -------------------------------------------------------------------------------


def place_names(panel: Panel, words: Sequence[Word]) -> list[Word] | None:
    """Return the name of each line with a colour, beside it or right of it; None for a legend."""
    spec, size, (color, facet) = panel.spec, panel.size, (panel.channels.color, panel.channels.facet)
    if color is None or spec.names == "none" or (spec.y.is_free and not spec.y.ranges):
        return None
    shown = color.shown_labels
    if len(shown) > _MAX_NAMES:
        return None
    labels: list[str | None] = [*facet.labels] if facet else [None]
    beyond = labels[min(len(labels), size.columns) - 1]  # the panel that has a margin on its right
    # Names stand in one panel for all; to try each of many panels takes too long.
    panels = [panel.pick(label) for label in (labels if len(labels) <= _MAX_NAMES else labels[:1])]
    sampled = [(each, each.sample_lines()) for each in panels]
    sampled = [(each, lines) for each, lines in sampled if set(shown) <= set(lines)]
    if spec.names == "ends" and facet is None and sampled:
        [(_, lines)] = sampled
        return _name_right(panels[0], {name: line for name, line in lines.items() if name in shown})
    ways: list[Any] = []
    if max(map(len, shown)) <= _MAX_LETTERS:
        apart = partial(free_places.place_beside, apart=free_places.APART)
        ways = [apart, free_places.place_beside, free_places.place_together]
    rows = [_wrap_names(shown, share * size.width) for share in _SHARES_OF_ROWS]
    ways += [partial(free_places.place_together, rows=each) for each in rows]
    for way in ways:
        for each, lines in sampled:
            places = way(lines | each.sample_references(), shown, each.open_space(words))
            if set(shown) <= set(places):
                written = way.keywords.get("rows", {}) if isinstance(way, partial) else {}
                return [
                    Word("\n".join(written.get(name, [name])), x, y, label=name, facet=each.label)
                    for name in shown
                    for x, y in [each.read_place(places[name])]
                ]
    for each, lines in sampled if spec.has_margin else ():
        if each.label == beyond:
            return _name_right(each, {name: lines[name] for name in shown})
    return None


def _wrap_names(shown: Sequence[str], width: float = 0) -> dict[str, list[str]]:
    """Return the names in rows of this width in pixels, about, but not too narrow."""
    letters = max(int(width / style.measure_text("x")), _LETTERS_AT_END)
    rows = {name: wrap_words(name.strip(ISOLATES), letters) for name in shown}
    return {name: [*map(isolate_name, each)] or [name] for name, each in rows.items()}


def _name_right(panel: Panel, lines: dict[str, Heights]) -> list[Word]:
    """Return names right of a panel, in the order of their lines, each near the height of its own."""
    # Names at the ends of lines stand where these end; a thin line leads to one that had to move.
    spec, height, rows = panel.spec, panel.size.height, _wrap_names([*lines])
    is_end = spec.names == "ends"
    known = {name: line[~np.isnan(line)] for name, line in lines.items()}
    at = [float((line[-1:] if is_end else line).mean()) for line in known.values()]
    sizes = [(style.NAME_SIZE + 2) * len(rows[name]) + 3.0 for name in lines]
    placed = free_places.spread_at_ends(at, sizes, height)
    dx = 16 if is_end else 12 if spec.x.words == "none" else 22  # right of half a label of the axis
    look: dict[str, Any] = {"dx": dx, "facet": panel.label}
    return [
        Word("\n".join(rows[name]), spec.x.high, y, label=name, leads_from=start, **look)
        for name, own, there in zip(lines, at, placed, strict=True)
        for y, start in [(spec.y.read(1 - there / height), spec.y.read(1 - own / height))]
    ]


# Labels of points -----------------------------------------------------------------------------


def place_labels(panel: Panel, words: Sequence[Word]) -> list[Word]:
    """Return the labels of marked points, which hide neither each other nor a line if there is room."""
    spec, color = panel.spec, panel.channels.color
    colors = color.colors if color and not spec.is_neutral else {}
    panels = panel.split()
    marks = _merge_labels(panel, panels)
    spaces: dict[str | None, free_places.LabelSpace] = {}
    placed = []
    for row in sorted(marks, key=lambda row: -row[spec.y.field]):
        facet = row.get("facet")
        own = panels[facet]
        if facet not in spaces:
            lines = [*own.sample_lines().values(), *own.sample_references().values()]
            spaces[facet] = own.open_space(words, lines)
            if facet is not None:  # the head of the panel
                spaces[facet].taken.insert(0, (0.0, -26.0, style.measure_text(facet) + 110, -5.0))
            spaces[facet].points += (own.find_spot(of) for of in marks if of.get("facet") == facet)
        label = row[f"{spec.y.field}_label"]
        if not label or len(spaces[facet].taken) >= _MOST_LABELS:
            continue
        left, top = own.find_spot(row)
        beside = spaces[facet].points
        lift = sum(0 < other[1] - top < 15 and abs(left - other[0]) < _NEAR for other in beside)
        corner = spaces[facet].place_beside_point(left, top, label, style.NAME_SIZE, lift)
        if corner is None:
            continue
        look: dict[str, Any] = {"align": corner.align, "weight": "bold", "facet": facet}
        look |= {"dx": corner.x - left, "dy": corner.y - top}
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
    kept: list[dict[str, Any]] = []
    for row in panel.data:
        is_mark = row["part"] == "mark" and {x.field, y.field} <= set(row)
        if not is_mark or row.get("color") in grey:
            continue
        own = panels[row.get("facet")]
        left, top = own.find_spot(row)
        same = [
            number
            for number, other in enumerate(kept)
            for at, height in [own.find_spot(other)]
            if all(other.get(name) == row.get(name) for name in ("facet", f"{y.field}_label"))
            and abs(left - at) < _NEAR
            and abs(top - height) < _NEAR / 2
        ]
        if not same:
            kept.append(row)
        elif kept[same[0]].get("color") != row.get("color"):
            kept[same[0]] = kept[same[0]] | {_SHARED: True}
    return kept


@dataclass(frozen=True)
class Panel:
    """One panel in pixels from its upper left corner: where its points, lines and words are."""

    spec: ChartSpec
    data: list[dict[str, Any]]
    channels: Channels
    size: PanelSize
    label: str | None = None

    def pick(self, label: str | None) -> Panel:
        """Return another panel of the chart, with the ranges that it has."""
        spec = replace(self.spec, x=self.spec.x.pick(label), y=self.spec.y.pick(label))
        return replace(self, spec=spec, label=label)

    def split(self) -> dict[str | None, Panel]:
        """Return each panel of the chart that has records, with these alone."""
        rows: dict[str | None, list[dict[str, Any]]] = {}
        for row in self.data:
            rows.setdefault(row.get("facet"), []).append(row)
        return {label: replace(self.pick(label), data=own) for label, own in rows.items()}

    def find_spot(self, row: dict[str, Any]) -> tuple[float, float]:
        """Return the place of a record."""
        x, y = self.spec.x, self.spec.y
        return x.place(row[x.field]) * self.size.width, (1 - y.place(row[y.field])) * self.size.height

    def read_place(self, place: free_places.NamePlace) -> tuple[float, float]:
        """Return the values of both axes at a place."""
        x, y = place.x / self.size.width, 1 - place.y / self.size.height
        return self.spec.x.read(x), self.spec.y.read(y)

    def list_boxes(self, words: Sequence[Word]) -> list[free_places.Box]:
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
            left = x + word.dx - {"left": 0, "right": width, "center": width / 2}[word.align]
            top = y + word.dy - {"top": 0, "bottom": height, "middle": height / 2}[word.baseline]
            boxes.append((left - 3, top - 2, left + width + 3, top + height + 2))
        return boxes

    def open_space(self, words: Sequence[Word], lines: Iterable[Heights] = ()) -> free_places.LabelSpace:
        """Return the space for labels, in which these words and lines take their part."""
        size, boxes = self.size, self.list_boxes(words)
        return free_places.LabelSpace(size.width, size.height, boxes, [*lines])

    @property
    def columns(self) -> Heights:
        """Every fourth column of pixels, and one right of the panel: a line may drop at its end."""
        step = free_places.STEP
        return np.arange(0, self.size.width + step + 1, step, dtype=np.float64)

    def sample_lines(self) -> dict[str, Heights]:
        """Return the height of each line in these columns, NaN where it is not."""
        points: dict[str, list[tuple[float, float]]] = {}
        for row in self.data:
            is_point = row["part"] == "curve" and {self.spec.x.field, self.spec.y.field} <= set(row)
            if is_point and row.get("facet") == self.label and not row.get("copy"):
                points.setdefault(row.get("color", ""), []).append(self.find_spot(row))
        columns, sampled = self.columns, {}
        for name, line in points.items():
            # Points of one place keep their order: the upright start of a line ends at its upper point.
            is_sorted = self.spec.interpolate == "step-before"
            known = line if is_sorted else sorted(line, key=lambda point: point[0])
            x, y = (np.asarray(values) for values in zip(*known, strict=True))
            inside = (columns >= x.min() - free_places.STEP) & (columns <= x.max() + free_places.STEP)
            if self.spec.interpolate == "linear":
                heights = np.interp(columns, x, y)
            else:
                heights = y[np.clip(np.searchsorted(x, columns - 1e-9), 0, len(y) - 1)]
            sampled[name] = np.where(inside, heights, math.nan)
        return sampled

    def sample_references(self) -> dict[str, Heights]:
        """Return the height of each thin line and row of dots in these columns; NaN where it is not."""
        points: dict[str, list[tuple[float, float]]] = {}
        for row in self.data:
            field, key = self.spec.x.field, free_places.RULE_KEY
            needed = {field} if row["part"] == "threshold" else {field, self.spec.y.field}
            if row.get("facet") != self.label or not needed <= set(row):
                continue
            # Names of groups show control characters as symbols, so no group has such a name.
            if row["part"] == "reference":
                points.setdefault(f"{key}{row['ref']}", []).append(self.find_spot(row))
            elif row["part"] == "dot":
                points.setdefault(f"{key}dots {row.get('color', '')}", []).append(self.find_spot(row))
            elif row["part"] == "threshold":
                left = self.spec.x.place(row[field]) * self.size.width
                points[f"{key}rule {len(points)}"] = [(left, 0.0), (left, float(self.size.height))]
            elif row["part"] == "span":
                ends = [self.find_spot(row), self.find_spot({**row, field: row["to"]})]
                points[f"{key}span {len(points)}"] = ends
        columns, sampled = self.columns, {}
        for name, line in points.items():
            x, y = (np.asarray(values) for values in zip(*sorted(line), strict=True))
            sampled[name] = np.full(len(columns), math.nan)
            if x[-1] - x[0] >= 2 * free_places.STEP:
                inside = (columns >= x[0]) & (columns <= x[-1])
                sampled[name] = np.where(inside, np.interp(columns, x, y), math.nan)
            else:  # an upright rule has its ends in two columns
                column = min(int(x[0] // free_places.STEP), len(columns) - 2)
                sampled[name][column : column + 2] = y[0], y[-1]
        return sampled
