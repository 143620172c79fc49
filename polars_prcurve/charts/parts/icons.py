"""Icons: a grid in which each circle is one alert, right, in doubt, or false.

share and interval -> count_icons   how many circles of each kind, and the number in words
rows               -> draw_icons    a grid per row on its canvas, each with its number
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import altair as alt

from polars_prcurve.charts.parts import chart_style as style
from polars_prcurve.charts.parts.canvas import Canvas
from polars_prcurve.charts.parts.chart_axes import ChartAxis, ChartSpec
from polars_prcurve.charts.parts.chart_curves import ChartCurves
from polars_prcurve.charts.parts.chart_words import Word
from polars_prcurve.charts.parts.colors_and_panels import Channel, Channels
from polars_prcurve.charts.parts.number_formats import format_level
from polars_prcurve.errors import PrcError
from polars_prcurve.number_words import count_of_100, count_one_in, format_count, glue_numbers

_MOST_GRIDS = 12
# Below this share a grid has as many alerts as one right one takes.
_RARE = 0.02
_MOST_ICONS = 1_000
# Icons in a row, by the most icons that such a grid has.
_COLUMNS = {200: 10, 800: 20, _MOST_ICONS: 40}
_WIDTH = 200
_RING = [1.6, 1.9]
# Altair has no hatch: a dotted ring, which means not known, and a tint stand for it.
_LOOKS: dict[str, dict[str, Any]] = {
    "right": {"fillOpacity": 1},
    "likely": {"fillOpacity": 0.45, "strokeDash": _RING},
    "unlikely": {"fillOpacity": 0.1, "strokeDash": _RING},
    "false": {"fillOpacity": 0, "stroke": style.RULE},
}


class IconGrid(NamedTuple):
    """The icons of one grid, how many of each kind in this order, and its number in words."""

    kinds: list[tuple[str, int]]
    words: str
    """`67 of 100`, or `1 in 83`."""
    span: str
    """The interval, `54 to 78`; empty without one."""

    @property
    def n_icons(self) -> int:
        return sum(n for _, n in self.kinds)

    @property
    def columns(self) -> int:
        """The number of icons in a row."""
        return next(columns for most, columns in _COLUMNS.items() if self.n_icons <= most)

    @property
    def caption(self) -> str:
        """The number and its interval: `67 (54 to 78) of 100 right`."""
        number, separator, of = self.words.partition(" of ")
        return f"{number}{f' ({self.span})' if self.span else ''}{separator}{of} right"


def count_icons(share: float, low: float | None, high: float | None) -> IconGrid:
    """Return the grid of a share of alerts that are right, and of its interval if it has one."""
    has_span = low is not None and high is not None
    low, high = (share, share) if low is None or high is None else (low, high)
    if share >= _RARE or share == 0:
        right = count_of_100(share)
        least, most = min(count_of_100(low), right), max(count_of_100(high), right)
        counts = (least, right - least, most - right, 100 - most)
        kinds = [*zip(("right", "likely", "unlikely", "false"), counts, strict=True)]
        return IconGrid(kinds, f"{right} of 100", f"{least} to {most}" if has_span else "")
    n, few = count_one_in(share), min(count_one_in(high), count_one_in(share))
    many = max(count_one_in(low), n) if low > 0 else math.inf
    first, second, last = (int(min(number, _MOST_ICONS)) for number in (few, n, many))
    shown = int(n <= _MOST_ICONS)  # of fewer than 1 in 1 000 none is right in the grid
    counts = (shown, first - shown, second - first, last - second)
    kinds = [*zip(("right", "false", "likely", "unlikely"), counts, strict=True)]
    ends = [format_count(few), "none" if many == math.inf else format_count(many)]
    words = glue_numbers(f"1 in {format_count(n)}")
    return IconGrid(kinds, words, " to ".join(map(glue_numbers, ends)) if has_span else "")


def draw_icons(chart: str, curves: ChartCurves, channels: Channels) -> tuple[Canvas, list[IconGrid]]:
    """Return the canvas with a grid per curve, a single point each, and the grids in their order."""
    if len(curves.per_curve) > _MOST_GRIDS:
        raise PrcError(_refuse_many(chart, curves))
    names = [name for name in ("value", "low", "high") if name in curves.rows.columns]
    grids = [count_icons(*row, *[None] * (3 - len(names))) for row in curves.rows.select(names).rows()]
    height = max((-(-grid.n_icons // grid.columns) / grid.columns for grid in grids), default=1.0)
    x, y = ChartAxis("x", "", 0.0, 1.0, "none"), ChartAxis("y", "", height, 0.0, "none")
    size: dict[str, Any] = {"height": height, "most_width": _WIDTH}
    if channels.facet is not None:
        captions = {
            label: grid.caption for label, grid in zip(channels.facet.label_by_curve, grids, strict=True)
        }
        channels = replace(channels, facet=replace(channels.facet, captions=captions))
    canvas = Canvas(curves, channels, ChartSpec(x, y, "linear", names="none", **size))
    canvas.words += [
        Word(text=grid.caption, py=-9, baseline="bottom") for grid in grids if channels.facet is None
    ]
    for position, grid in enumerate(grids):
        place = {"said": grid.caption, **channels.curve_fields(position)}
        canvas.data += [{"part": "icon", **icon, **place} for icon in _place_icons(grid, canvas.width)]
    canvas.layers += _build_layers(*canvas.place, channels.color)
    return canvas, grids


def _place_icons(grid: IconGrid, pixels: int) -> list[dict[str, Any]]:
    """Return the kind, place and size of each icon of a grid that is 1 wide."""
    n, area = grid.columns, math.pi * (0.37 * pixels / grid.columns) ** 2
    kinds = [kind for kind, many in grid.kinds for _ in range(many)]
    places = [{"x": (k % n + 0.5) / n, "y": (k // n + 0.5) / n} for k in range(len(kinds))]
    look = {"size": round(area, 1), "width": round(min(1.3, 20 / n), 2)}
    return [{"kind": kind, **place, **look} for kind, place in zip(kinds, places, strict=True)]


def _build_layers(x: alt.X, y: alt.Y, color: Channel | None) -> list[alt.Chart]:
    """Return a layer per kind of icon."""
    layers = []
    for kind, look in _LOOKS.items():
        one = {"fill": style.COLORS[0], "stroke": style.COLORS[0]} | look
        mark = alt.Chart().mark_point(shape="circle", opacity=1, aria=False, **one)
        scale: dict[str, Any] = {} if color is None else {"scale": color.scale, "legend": None}
        own: list[Any] = [] if color is None else [alt.Fill("color:N", **scale)]
        own += [] if color is None or "stroke" in look else [alt.Stroke("color:N", **scale)]
        tooltip = alt.Tooltip("said:N", title="alerts")
        own += [alt.Size("size:Q", scale=None), alt.StrokeWidth("width:Q", scale=None)]
        test = f"datum.part === 'icon' && datum.kind === '{kind}'"
        layers.append(mark.encode(x, y, *own, tooltip=tooltip).transform_filter(test))
    return layers


def say_icons(canvas: Canvas, grids: list[IconGrid]) -> str:
    """Return the numbers of all grids, for people who cannot see them."""
    facet = canvas.channels.facet
    captions = {} if facet is None else {label: facet.captions[label] for label in facet.labels}
    each = [f"{label}: {caption}" for label, caption in captions.items()]
    return "; ".join(each or [grid.caption for grid in grids])


def describe_icons(grids: list[IconGrid], *, has_span: bool, confidence: float | None) -> list[str]:
    """Return sentences on the kinds of icons, and on grids that do not have 100."""
    level = "interval" if confidence is None else f"{format_level(confidence)} interval"
    doubt = f"Dotted ring: right or not, by the {level}; the deeper tint goes up to the estimate"
    rare = "Below 1 in 50 a grid has as many alerts as one right one takes"
    rare += ", and dotted are those that it may take" if has_span else ""
    few = any(not grid.words.endswith(" of 100") for grid in grids)
    most = any(grid.n_icons == _MOST_ICONS for grid in grids)
    return [
        "Solid: right. Hollow: false",
        doubt if has_span else "",
        rare if few else "",
        f"No grid has more than {format_count(_MOST_ICONS)}" if most else "",
    ]


def _refuse_many(chart: str, curves: ChartCurves) -> str:
    """Return what to do about too many rows."""
    name = curves.field_names.get("group_0")
    said = f"{chart} draws up to {_MOST_GRIDS} grids, one per row, and this table has "
    said += f"{len(curves.per_curve)}; "
    if name is None or curves.count_distinct(["group_0"]) == 1:
        return said + "pass fewer prevalences or targets"
    few = curves.per_curve["group_0"].unique(maintain_order=True).head(2).to_list()
    return said + f"pick some groups first: table.filter(pl.col({name!r}).is_in({few!r}))"
