"""Words on a chart: names at lines, labels at points, and what lines to compare with are."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import altair as alt
import numpy as np
from numpy.typing import NDArray

from polars_prcurve.charts.parts import chart_style as style
from polars_prcurve.charts.parts.chart_axes import ChartAxis, fix_x, fix_y
from polars_prcurve.charts.parts.colors_and_panels import Channels
from polars_prcurve.charts.parts.line_names import (
    APART,
    RULE_KEY,
    STEP,
    LabelSpace,
    NamePlace,
    place_at_dots,
    place_beside,
    place_near,
    place_together,
    spread_at_ends,
)
from polars_prcurve.charts.parts.number_formats import round_digits
from polars_prcurve.number_words import glue_numbers

if TYPE_CHECKING:
    from polars_prcurve.charts.parts.chart_assembly import ChartSpec, PanelSize

MAX_NAMES = 6
"""Lines, at most, that have their names beside them; more have a legend."""
_MAX_LETTERS = 44
_LETTERS_AT_END = 19
"""Letters in a row of a name right of the lines, where a page has little room."""
_SHARES_OF_ROWS = (0.5, 0.8)
"""Shares of a panel's width that rows of names take, from the first tried to the last."""
_Way: TypeAlias = Callable[
    [dict[str, NDArray[np.float64]], Sequence[str], LabelSpace], dict[str, NamePlace]
]
_NEAR, _SHARED = 40.0, "shared"
"""Pixels across within which points with the same number share a label; the mark of such a label."""
_MOST_LABELS = 14
"""Words in one panel up to which marked points have labels; more would hide the lines."""


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
    align: Literal["left", "center", "right"] = "left"
    baseline: Literal["top", "middle", "bottom"] = "middle"
    size: float = style.NAME_SIZE
    weight: Literal["normal", "bold"] = "normal"
    color: str = ""
    """Empty for the colour that the theme gives to text."""
    limit: float = 0
    label: str = ""
    """The line that a name is of, if it is written in several rows."""
    others: tuple[Word, ...] = ()
    """Other ways to write the word; the first that no line runs through is taken."""

    @property
    def look(self) -> tuple[Any, ...]:
        """All that one layer of text has in common."""
        at = (self.x is None and self.px, self.y is None and self.py)
        place = (self.x is None, self.y is None, *at, self.dx, self.dy, self.align, self.baseline)
        return (*place, self.size, self.weight, self.color, self.limit)


def settle_words(
    words: Sequence[Word], spec: ChartSpec, data: list[dict[str, Any]], size: PanelSize
) -> list[Word]:
    """Return the words, each in the first of its places that no curve runs through, if there is one."""
    settled: list[Word] = []
    for word in words:
        ways = [word, *word.others]
        if len(ways) > 1:
            lines = [*_sample_lines(spec, data, size, word.facet).values()]
            space = LabelSpace(
                size.width, size.height, _list_boxes(settled, spec, size, word.facet), lines
            )
            boxes = [_list_boxes([way], spec, size, word.facet)[0] for way in ways]
            costs = [2 * space.crosses_line(box) + (not space.is_free(box)) for box in boxes]
            settled.append(ways[costs.index(min(costs))])
        else:
            settled.append(word)
    return settled


def build_word_layers(
    words: Sequence[Word],
    x: ChartAxis,
    y: ChartAxis,
    pixels: int,
    records: list[dict[str, Any]],
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
            record |= {} if word.x is None else {x.field: round_digits(word.x)}
            record |= {} if word.y is None else {y.field: round_digits(word.y)}
            record |= {} if word.facet is None else {"facet": word.facet}
            records.append(record)
        layers.append(_build_text(alike[0], part, x, y, pixels))
    return layers


def _build_text(word: Word, part: str, x: ChartAxis, y: ChartAxis, pixels: int) -> alt.Chart:
    """Return the layer of the words of one look."""
    look: dict[str, Any] = {"color": word.color} if word.color else {}
    look |= {"limit": word.limit} if word.limit else {}
    mark = alt.Chart().mark_text(
        align=word.align,
        baseline=word.baseline,
        dx=word.dx,
        dy=word.dy,
        fontSize=word.size,
        fontWeight=word.weight,
        lineBreak="\n",
        lineHeight=word.size + 2,
        aria=False,
        **look,
    )
    place_x = fix_x(word.px) if word.x is None else x.build_x(pixels)
    place_y = fix_y(word.py) if word.y is None else y.build_y(pixels)
    placed: alt.Chart = mark.encode(x=place_x, y=place_y, text="text:N")
    return placed.transform_filter(f"datum.part === '{part}'")


def build_name_layer(
    names: Sequence[Word],
    x: ChartAxis,
    y: ChartAxis,
    channels: Channels,
    records: list[dict[str, Any]],
    *,
    is_neutral: bool,
) -> alt.Chart:
    """Return the layer of names in the colours of their lines, and add its records.

    A click on a name brings out its line; a click on it again, or twice anywhere, brings back all.
    """
    for name in names:
        record: dict[str, Any] = {"part": "name", "text": glue_numbers(name.text)}
        record["color"] = name.label or name.text
        record |= {x.field: round_digits(name.x), y.field: round_digits(name.y)}
        records.append(record | ({} if name.facet is None else {"facet": name.facet}))
    layer = _build_text(replace(names[0], weight="bold"), "name", x, y, 540)
    layer.mark.cursor = "pointer"
    # Vega-Lite lets the pointer through all texts that have no tooltip, except on a canvas.
    layer = layer.encode(tooltip=alt.value(None))
    if channels.color and not is_neutral:
        layer = layer.encode(channels.color.encode())
    return layer


# Names of lines -------------------------------------------------------------------------------


def place_names(
    spec: ChartSpec,
    data: list[dict[str, Any]],
    channels: Channels,
    size: PanelSize,
    words: Sequence[Word],
) -> list[Word] | None:
    """Return the name of each line with a colour, beside it or at its end; None for a legend."""
    color = channels.color
    if color is None or spec.names == "none" or (spec.y.is_free and not spec.y.ranges):
        return None
    shown = color.shown_labels
    if len(shown) > MAX_NAMES:
        return None
    panels: list[str | None] = [*channels.facet.labels] if channels.facet else [None]
    lines = {
        panel: _sample_lines(_pick_panel(spec, panel), data, size, panel)
        for panel in (panels if len(panels) <= MAX_NAMES else panels[:1])
    }
    lines = {panel: curves for panel, curves in lines.items() if set(shown) <= set(curves)}
    if spec.names == "ends" and None in lines:
        return _name_ends(spec, data, shown, size)
    ways: list[_Way] = [_place_at_lines, _place_closely, place_at_dots, place_together, _place_on_rules]
    rows = [_wrap_names(shown, share * size.width) for share in _SHARES_OF_ROWS]
    ways = [] if max(map(len, shown)) > _MAX_LETTERS else ways
    ways += [partial(place_together, rows=each) for each in rows]
    for way in ways:
        for panel, curves in lines.items():
            own = _pick_panel(spec, panel)
            space = LabelSpace(size.width, size.height, _list_boxes(words, own, size, panel))
            space.last_dots = _find_last_dots(own, data, size, panel)
            places = way(curves | _sample_references(own, data, size, panel), shown, space)
            if set(shown) <= set(places):
                written = way.keywords["rows"] if isinstance(way, partial) else {}
                text = {name: "\n".join(written.get(name, [name])) for name in shown}
                names = [_write_name(name, places[name], own, size) for name in shown]
                return [replace(name, text=text[name.label], facet=panel) for name in names]
    return None


def _find_last_dots(
    spec: ChartSpec, data: list[dict[str, Any]], size: PanelSize, panel: str | None
) -> dict[str, tuple[float, float]]:
    """Return the place in pixels of the dot at which each line ends."""
    dots = [row for row in data if row["part"] == "dot" and row.get("facet") == panel]
    ordered = sorted(dots, key=lambda row: (row[spec.x.field], row[spec.y.field]))
    return {row.get("color", ""): _find_spot(row, spec, size) for row in ordered}


def _wrap_names(shown: Sequence[str], width: float) -> dict[str, list[str]]:
    """Return the names in rows of this width in pixels, about."""
    letters = max(int(width / style.measure_text("x")), _LETTERS_AT_END)
    return {
        name: textwrap.wrap(name, letters, break_long_words=False, break_on_hyphens=False) or [name]
        for name in shown
    }


def _pick_panel(spec: ChartSpec, panel: str | None) -> ChartSpec:
    """Return the chart of one panel, with the ranges that it has."""
    return replace(spec, x=spec.x.pick(panel), y=spec.y.pick(panel))


def _place_at_lines(
    lines: dict[str, NDArray[np.float64]], shown: Sequence[str], space: LabelSpace
) -> dict[str, NamePlace]:
    """Return the places of names that are clearly those of their lines, if all have one."""
    return place_beside(lines, shown, space, APART)


def _place_closely(
    lines: dict[str, NDArray[np.float64]], shown: Sequence[str], space: LabelSpace
) -> dict[str, NamePlace]:
    """Return the places of names at or near their lines, without those that have no room."""
    places = place_beside(lines, shown, space, APART)
    places |= place_near(lines, [name for name in shown if name not in places], space)
    return places | place_beside(lines, [name for name in shown if name not in places], space)


def _place_on_rules(
    lines: dict[str, NDArray[np.float64]], shown: Sequence[str], space: LabelSpace
) -> dict[str, NamePlace]:
    """Return the places of names that may stand on thin grey lines, which strike them out."""
    curves = {key: line for key, line in lines.items() if not key.startswith(RULE_KEY)}
    places = _place_closely(lines, shown, space)
    return places | _place_closely(curves, [name for name in shown if name not in places], space)


def _write_name(label: str, place: NamePlace, spec: ChartSpec, size: PanelSize) -> Word:
    """Return the name of a line as a word at its place in the data."""
    x, y = spec.x.read(place.x / size.width), spec.y.read(1 - place.y / size.height)
    return Word(text=label, label=label, x=x, y=y)


def place_labels(
    spec: ChartSpec,
    data: list[dict[str, Any]],
    channels: Channels,
    size: PanelSize,
    words: Sequence[Word],
) -> list[Word]:
    """Return the labels of marked points, which hide neither each other nor a line if there is room."""
    colors = channels.color.colors if channels.color and not spec.is_neutral else {}
    marks = _merge_labels(data, spec, channels, size)
    spaces: dict[str | None, LabelSpace] = {}
    placed = []
    for row in sorted(marks, key=lambda row: -row[spec.y.field]):
        panel = row.get("facet")
        beside = [_find_spot(other, spec, size) for other in marks if other.get("facet") == panel]
        if panel not in spaces:
            spaces[panel] = _open_space(spec, data, size, words, panel)
            spaces[panel].points += beside
        if len(spaces[panel].taken) >= _MOST_LABELS:
            continue
        left, top = _find_spot(row, spec, size)
        label = row[f"{spec.y.field}_label"]
        lift = sum(0 < other[1] - top < 15 and abs(left - other[0]) < _NEAR for other in beside)
        corner = spaces[panel].place_beside_point(left, top, label, style.NAME_SIZE, lift)
        is_dark = spec.is_neutral or _SHARED in row
        placed.append(
            Word(
                text=label,
                x=row[spec.x.field],
                y=row[spec.y.field],
                dx=corner.x - left,
                dy=corner.y - top,
                facet=panel,
                align=corner.align,
                weight="bold",
                color=style.INK if is_dark else colors.get(row.get("color", ""), style.COLORS[0]),
            )
        )
    return placed


def _find_spot(row: dict[str, Any], spec: ChartSpec, size: PanelSize) -> tuple[float, float]:
    """Return the place of a point in pixels from the upper left corner of its panel."""
    x, y = spec.x.place(row[spec.x.field]), spec.y.place(row[spec.y.field])
    return x * size.width, (1 - y) * size.height


def _open_space(
    spec: ChartSpec,
    data: list[dict[str, Any]],
    size: PanelSize,
    words: Sequence[Word],
    panel: str | None,
) -> LabelSpace:
    """Return the space for labels of one panel, below its head, with its lines and words."""
    lines = [*_sample_lines(spec, data, size, panel).values()]
    lines += _sample_references(spec, data, size, panel).values()
    head = [] if panel is None else [(0.0, -26.0, style.measure_text(panel) + 110, -5.0)]
    return LabelSpace(size.width, size.height, [*head, *_list_boxes(words, spec, size, panel)], lines)


def _merge_labels(
    data: list[dict[str, Any]], spec: ChartSpec, channels: Channels, size: PanelSize
) -> list[dict[str, Any]]:
    """Return the marked points of a chart; of neighbours with one number, one that is _SHARED.

    Grey points are left out: a grey number could hardly be read, and would lie over others.
    """
    x, y, color = spec.x, spec.y, channels.color
    grey = set(color.labels) - set(color.shown_labels) if color else set()
    marks = [row for row in data if row["part"] == "mark" and {x.field, y.field} <= set(row)]
    marks = [row for row in marks if row.get("color") not in grey]
    kept: list[dict[str, Any]] = []
    for row in marks:
        same = [
            number
            for number, other in enumerate(kept)
            if all(other.get(name) == row.get(name) for name in ("facet", f"{y.field}_label"))
            and abs(x.place(row[x.field]) - x.place(other[x.field])) * size.width < _NEAR
            and abs(y.place(row[y.field]) - y.place(other[y.field])) * size.height < _NEAR / 2
        ]
        if not same:
            kept.append(row)
        elif kept[same[0]].get("color") != row.get("color"):
            kept[same[0]] = kept[same[0]] | {_SHARED: True}
    return kept


def _list_boxes(
    words: Sequence[Word], spec: ChartSpec, size: PanelSize, panel: str | None
) -> list[tuple[float, float, float, float]]:
    """Return the boxes that other words of this panel fill, in pixels."""
    boxes = []
    for word in words:
        if word.facet not in (None, panel):
            continue
        x = word.px if word.x is None else spec.x.place(word.x) * size.width
        y = word.py if word.y is None else (1 - spec.y.place(word.y)) * size.height
        width = max(style.measure_text(line, word.size) for line in word.text.split("\n"))
        height = (word.size + 2) * len(word.text.split("\n"))
        left = x + word.dx - {"left": 0, "right": width, "center": width / 2}[word.align]
        top = y + word.dy - {"top": 0, "bottom": height, "middle": height / 2}[word.baseline]
        boxes.append((left - 3, top - 2, left + width + 3, top + height + 2))
    return boxes


def _list_columns(size: PanelSize) -> NDArray[np.float64]:
    """Return every fourth column of pixels, up to one right of the panel: a line may drop at its end."""
    return np.arange(0, size.width + STEP + 1, STEP, dtype=np.float64)


def _sample_lines(
    spec: ChartSpec, data: list[dict[str, Any]], size: PanelSize, panel: str | None
) -> dict[str, NDArray[np.float64]]:
    """Return the height of each line in every fourth column of pixels, NaN where it is not."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row in data:
        is_point = row["part"] == "curve" and {spec.x.field, spec.y.field} <= set(row)
        if is_point and row.get("facet") == panel and not row.get("copy"):
            x, y = spec.x.place(row[spec.x.field]), spec.y.place(row[spec.y.field])
            line = points.setdefault(row.get("color", ""), [])
            line.append((x * size.width, (1 - y) * size.height))
    columns = _list_columns(size)
    return {name: _sample_line(line, columns, spec.interpolate) for name, line in points.items()}


def _sample_references(
    spec: ChartSpec, data: list[dict[str, Any]], size: PanelSize, panel: str | None
) -> dict[str, NDArray[np.float64]]:
    """Return the height of each thin line and row of dots; NaN where it is not."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row in data:
        if row.get("facet") != panel or spec.y.field not in row:
            continue
        y = (1 - spec.y.place(row[spec.y.field])) * size.height
        # Names of groups show control characters as symbols, so no group has such a name.
        if row["part"] == "reference":
            line = points.setdefault(f"{RULE_KEY}{row['ref']}", [])
            line.append((spec.x.place(row[spec.x.field]) * size.width, y))
        elif row["part"] == "dot" and spec.x.field in row:
            line = points.setdefault(f"{RULE_KEY}dots {row.get('color', '')}", [])
            line.append((spec.x.place(row[spec.x.field]) * size.width, y))
        elif row["part"] == "span":
            ends = (row[spec.x.field], row["to"])
            points[f"{RULE_KEY}span {len(points)}"] = [(spec.x.place(x) * size.width, y) for x in ends]
    columns = _list_columns(size)
    return {name: _sample_rule(line, columns) for name, line in points.items()}


def _sample_rule(line: list[tuple[float, float]], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the height of a thin rule at the columns; an upright one has its ends in two of them."""
    x, y = (np.asarray(values) for values in zip(*sorted(line), strict=True))
    if x[-1] - x[0] >= 2 * STEP:
        return np.where((columns >= x[0]) & (columns <= x[-1]), np.interp(columns, x, y), math.nan)
    heights = np.full(len(columns), math.nan)
    column = min(int(x[0] // STEP), len(columns) - 2)
    heights[column : column + 2] = y[0], y[-1]
    return heights


def _sample_line(
    line: list[tuple[float, float]], columns: NDArray[np.float64], interpolate: str
) -> NDArray[np.float64]:
    """Return the height of one line at the columns."""
    # Points of one place keep their order: the upright start of a line ends at its upper point.
    known = line if interpolate == "step-before" else sorted(line, key=lambda point: point[0])
    x, y = (np.asarray(values) for values in zip(*known, strict=True))
    inside = (columns >= x.min() - STEP) & (columns <= x.max() + STEP)
    if interpolate == "linear":
        heights = np.interp(columns, x, y)
    else:
        right = np.searchsorted(x, columns - 1e-9)
        heights = y[np.clip(right, 0, len(y) - 1)]
    return np.where(inside, heights, math.nan)


def _name_ends(
    spec: ChartSpec,
    data: list[dict[str, Any]],
    shown: list[str],
    size: PanelSize,
) -> list[Word]:
    """Return names right of the line ends, apart from each other."""
    ends: dict[str, tuple[float, float]] = {}
    for row in data:
        known = row["part"] == "curve" and spec.y.field in row
        if known and row[spec.x.field] >= ends.get(row["color"], (-math.inf, 0))[0]:
            ends[row["color"]] = (row[spec.x.field], row[spec.y.field])
    heights = [(1 - spec.y.place(ends[label][1])) * size.height for label in shown]
    rows = {
        label: textwrap.wrap(label, _LETTERS_AT_END, break_long_words=False, break_on_hyphens=False)
        for label in shown
    }
    n_rows = max(map(len, rows.values()), default=1)
    placed = spread_at_ends(
        heights, (style.NAME_SIZE + 2) * n_rows + (6 if n_rows > 1 else 2), size.height
    )
    return [
        Word(
            text="\n".join(rows[label]) or label,
            label=label,
            x=spec.x.high,
            dx=9,
            y=spec.y.read(1 - height / size.height),
        )
        for label, height in zip(shown, placed, strict=True)
    ]
