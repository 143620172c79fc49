"""From records to a chart: layers, panels, axes, colours, title, and the text for screen readers.

A chart bears no configuration and no theme, so it can be layered, put beside others and themed.
Its data is inline, under fixed field names: Altair's limit of 5 000 rows does not apply, and a
column called `a:b` or `x.y`, which Vega would parse, is only ever text in a title.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import altair as alt

from polars_prcurve.charts.channels import Channel, Channels
from polars_prcurve.charts.words import rounded, shown

__all__ = [
    "CHANCE",
    "SWEPT",
    "Chart",
    "Look",
    "Words",
    "chart",
    "head",
    "log_axis",
    "part",
    "shades",
    "share_axis",
    "with_data",
]

Chart: TypeAlias = alt.LayerChart | alt.FacetChart | alt.VConcatChart
Axis = TypeVar("Axis", alt.X, alt.Y)
AnyChart = TypeVar("AnyChart", bound=Chart)

CHANCE: dict[str, Any] = {"color": "#888888", "strokeDash": [4, 4], "strokeWidth": 1}
SWEPT = (
    alt.Tooltip("threshold:N"),
    alt.Tooltip("tp:Q"),
    alt.Tooltip("fp:Q"),
    alt.Tooltip("recall:Q", format=".4~g"),
)
"""What is told of a threshold."""
_NO_DATA: Any = alt.InlineData(values=[])
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#F0E442")
_DASHES = ([1, 0], [6, 2], [2, 2], [9, 2, 2, 2], [14, 3])
_OTHERS: tuple[str, list[int]] = ("#D0D0D0", [1, 0])
_POWERS = "format(datum.value, datum.value < 0.0009 ? '~e' : '~g')"
_LINES = r"split(datum.label, '\n')"


@dataclass(frozen=True)
class Look:
    """What is particular to a kind of chart."""

    x: alt.X
    y: alt.Y
    interpolate: Literal["step-before", "step-after", "linear"]
    tooltip: tuple[alt.Tooltip, ...]
    below: tuple[alt.Chart, ...] = ()
    """Layers under the lines, of records that are no curve: see `part`."""
    above: tuple[alt.Chart, ...] = ()
    bands: tuple[tuple[str, str], ...] = ()
    """Pairs of fields between which there is a shade, each darker than the one before."""
    pale: str = ""
    """A field that holds y where the line has a broad pale one beneath it."""
    dots: bool = False
    """Whether the points are seen."""
    height: float = 1.0
    """Of a panel, as a share of its width."""
    free_y: bool = False
    """Whether each panel has a y axis of its own."""


@dataclass(frozen=True)
class Words:
    title: str
    subtitle: tuple[str, ...]
    aside: str
    """What only the description says, which browsers read out."""


def part(layer: alt.Chart, name: str) -> alt.Chart:
    """A layer of the records that are of this part."""
    return layer.transform_filter(f"datum.part === '{name}'")


def chart(look: Look | Sequence[Look], data: list[dict[str, Any]], of: Channels, words: Words) -> Chart:
    """Chance below, then the lines, then points to hover over; in panels if there are any. Several
    looks at one set of records stand above each other."""
    looks = [look] if isinstance(look, Look) else look
    panels, size = _grid(of.facet)
    width = size if looks[0].height == 1 else round(1.4 * size)
    heading = head(words, width=panels * width)
    drawn: list[alt.LayerChart | alt.FacetChart] = []
    for one in looks:
        layered = alt.LayerChart(data=_NO_DATA, layer=_layers(one, data, of))
        layered = layered.properties(width=width, height=round(width * one.height))
        if of.facet is None:
            drawn.append(layered)
        else:
            split = _split(of.facet, panels, width, headed=not drawn)
            faceted: alt.FacetChart = layered.facet(split, columns=panels)
            drawn.append(faceted.resolve_scale(y="independent") if one.free_y else faceted)
    whole: Chart = (
        drawn[0] if len(drawn) == 1 else alt.vconcat(*drawn, spacing=12).resolve_scale(x="shared")
    )
    return with_data(whole.properties(**heading), data)


def with_data(whole: AnyChart, data: list[dict[str, Any]]) -> AnyChart:
    """The chart with its records, last: Altair copies and checks all it is given, at every step."""
    whole.data = alt.InlineData(values=[])
    whole.data["values"] = data
    return whole


def _layers(look: Look, data: list[dict[str, Any]], of: Channels) -> list[alt.Chart]:
    hues = shades(of.color) if of.color else []
    known = {name for row in data for name in row}
    detail = alt.Detail("curve:N")
    layers = [*look.below]
    faint = min(0.2, 0.6 / len(of.color.labels)) if of.color else 0.2  # many bands hide lines
    for number, (low, high) in enumerate(look.bands):
        if low in known and high in known:
            area = alt.Chart().mark_area(
                interpolate=look.interpolate, opacity=faint * (1 + 0.75 * number), strokeWidth=0
            )
            area = area.encode(look.x, alt.Y(f"{low}:Q"), alt.Y2(high), detail, *hues[:1])
            layers.append(part(area, "curve"))
    order = alt.Order("order:Q")
    if look.pale in known:
        pale = alt.Chart().mark_line(interpolate=look.interpolate, strokeWidth=9, opacity=0.35)
        pale = pale.encode(look.x, alt.Y(f"{look.pale}:Q"), order, detail, *hues[:1])
        layers.append(part(pale, "curve"))
    line = alt.Chart().mark_line(interpolate=look.interpolate, strokeWidth=1.8)
    layers.append(part(line.encode(look.x, look.y, order, detail, *hues), "curve"))
    told = [*look.tooltip, alt.Tooltip("test_set:N", title="test set")]
    told = [field for field in told if str(field.shorthand).split(":", maxsplit=1)[0] in known]
    if of.color:
        told.insert(0, alt.Tooltip("color:N", title=of.color.title))
    points = alt.Chart().mark_point(opacity=0, size=60, filled=True, aria=False)
    points = points.encode(look.x, look.y, tooltip=told).transform_filter("datum.hover === 1")
    if look.dots:
        dots = alt.Chart().mark_point(size=25, filled=True, opacity=1)
        layers.append(part(dots.encode(look.x, look.y, *hues[:1]), "curve"))
    return [*layers, points, *look.above]


def _split(facet: Channel, panels: int, width: int, *, headed: bool) -> alt.Facet:
    header = alt.Header(labelExpr=_LINES, labelLimit=width, titleLimit=panels * width)
    title = facet.title if headed else None
    return alt.Facet("facet:N", title=title, sort=facet.labels, header=header)


def head(words: Words, *, width: int) -> dict[str, Any]:
    """Title, subtitle in lines that fit, and the text for those who cannot see the chart."""
    letters = max(56, width // 6)
    clauses = (
        clause
        for text in words.subtitle
        for clause in ([text] if len(text) <= letters else text.split("; "))
    )
    title = alt.Title(
        textwrap.wrap(shown(words.title), letters),
        subtitle=[line for clause in clauses for line in textwrap.wrap(shown(clause), letters)],
        anchor="start",
    )
    texts = [words.title, *words.subtitle, *([words.aside] if words.aside else [])]
    return {"title": title, "description": ". ".join(map(shown, texts))}


def shades(channel: Channel) -> list[Any]:
    """Colour, and for groups a dash as well; few enough legend entries to read."""
    labels = channel.labels
    names = (
        labels[:: math.ceil(len(labels) / 12)] if channel.fields == ["eta"] else channel.shown or labels
    )
    legend = alt.Legend(values=names, symbolType="stroke", symbolOpacity=1, labelLimit=220)
    if channel.fields == ["eta"]:
        viridis = alt.SchemeParams(name="viridis", extent=[0, 0.9])
        scale = alt.Scale(domain=labels, scheme=viridis)
        return [alt.Color("color:O", title=channel.title, scale=scale, legend=legend)]
    looks = dict.fromkeys(labels, _OTHERS)
    for i, label in enumerate(channel.shown or labels):
        looks[label] = _COLORS[i % len(_COLORS)], _DASHES[(i + i // len(_COLORS)) % len(_DASHES)]
    colors, dashes = ([look[k] for look in looks.values()] for k in (0, 1))
    return [
        alt.Color(
            "color:N", title=channel.title, scale=alt.Scale(domain=labels, range=colors), legend=legend
        ),
        alt.StrokeDash(
            "color:N", title=channel.title, scale=alt.Scale(domain=labels, range=dashes), legend=legend
        ),
    ]


def _grid(facet: Channel | None) -> tuple[int, int]:
    """Panels in a row, and their size in pixels."""
    if facet is None:
        return 1, 320
    n = len(facet.labels)
    if n <= 3:
        return n, 220
    if len(facet.fields) > 1 and facet.fields[-1] == "eta" and facet.last <= 8:
        return facet.last, 160  # a row per group, a column per eta
    square = min(math.ceil(math.sqrt(n)), 8)
    panels = min(range(square, min(2 * square, 8) + 1), key=lambda k: (-n % k, k))
    return panels, 200 if n <= 4 else 160 if n <= 16 else 110


# Axes -----------------------------------------------------------------------------------------


def share_axis(kind: type[Axis], field: str, title: str) -> Axis:
    """An axis from 0 to 1."""
    return kind(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]))


def log_axis(kind: type[Axis], field: str, title: str, low: float, high: float = 1.0) -> Axis:
    """A log axis with ticks at powers of ten; at 1, 2 and 5 times these where it spans few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    few = high / low < 100
    ticks = [float(f"{k}e{power}") for power in powers for k in ((1, 2, 5) if few else (1,))]
    within = [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
    scale = alt.Scale(type="log", domain=[rounded(low), rounded(high)], nice=False)
    return kind(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(values=within, labelExpr=_POWERS))
