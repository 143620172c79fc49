"""Charts from records: layers, panels, axes, colours, title, and the text for screen readers.

A chart has no configuration and no theme, so you can layer it, put it beside others and theme it.
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

from polars_prcurve.charts.parts.colors_and_panels import Channel, Channels
from polars_prcurve.charts.parts.number_formats import escape_text, round_digits

Chart: TypeAlias = alt.LayerChart | alt.FacetChart | alt.VConcatChart
Axis = TypeVar("Axis", alt.X, alt.Y)
AnyChart = TypeVar("AnyChart", bound=Chart)

CHANCE_STYLE: dict[str, Any] = {"color": "#888888", "strokeDash": [4, 4], "strokeWidth": 1}
THRESHOLD_TOOLTIP = (
    alt.Tooltip("threshold:N"),
    alt.Tooltip("tp:Q"),
    alt.Tooltip("fp:Q"),
    alt.Tooltip("recall:Q", format=".4~g"),
)
"""The lines of a tooltip on a threshold."""
_NO_DATA: Any = alt.InlineData(values=[])
# The palette of Okabe and Ito (2008), which people with any colour vision can tell apart.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#F0E442")
_DASHES = ([1, 0], [6, 2], [2, 2], [9, 2, 2, 2], [14, 3])
_GREY: tuple[str, list[int]] = ("#D0D0D0", [1, 0])
_LOG_LABELS = "format(datum.value, datum.value < 0.0009 ? '~e' : '~g')"
_SPLIT_LABEL = r"split(datum.label, '\n')"


@dataclass(frozen=True)
class ChartSpec:
    """What differs between kinds of chart: axes, lines, tooltip, further layers and size."""

    x: alt.X
    y: alt.Y
    interpolate: Literal["step-before", "step-after", "linear"]
    tooltip: tuple[alt.Tooltip, ...]
    below: tuple[alt.Chart, ...] = ()
    """Layers under the lines, of records that belong to no curve: see `keep_part`."""
    above: tuple[alt.Chart, ...] = ()
    """Layers over the lines and points."""
    bands: tuple[tuple[str, str], ...] = ()
    """Pairs of fields; the area between two is shaded, each pair darker than the one before it."""
    pale_line_field: str = ""
    """The field of a broad pale line under the line; it holds y where that line is drawn."""
    dots: bool = False
    """Whether each point is a visible dot."""
    height: float = 1.0
    """Height of a panel, as a share of its width."""
    has_free_y: bool = False
    """Whether each panel has a y axis of its own."""


@dataclass(frozen=True)
class ChartText:
    """The words of a chart: title, subtitle, and the end of its description for screen readers."""

    title: str
    subtitle: tuple[str, ...]
    spoken: str
    """A sentence of the description only."""


def keep_part(layer: alt.Chart, name: str) -> alt.Chart:
    """Return the layer, reduced to the records of this part."""
    return layer.transform_filter(f"datum.part === '{name}'")


def build_chart(
    spec: ChartSpec | Sequence[ChartSpec],
    data: list[dict[str, Any]],
    channels: Channels,
    text: ChartText,
) -> Chart:
    """Return the chart of these records, in panels if there is a facet.

    Charts of several specs stand above each other, and share their records and the x axis.
    """
    specs = [spec] if isinstance(spec, ChartSpec) else spec
    panels, size = _arrange_panels(channels.facet)
    width = size if specs[0].height == 1 else round(1.4 * size)
    heading = build_heading(text, width=panels * width)
    charts: list[alt.LayerChart | alt.FacetChart] = []
    for each in specs:
        layered = alt.LayerChart(data=_NO_DATA, layer=_build_layers(each, data, channels))
        layered = layered.properties(width=width, height=round(width * each.height))
        if channels.facet is None:
            charts.append(layered)
        else:
            facet = _build_facet(channels.facet, panels, width, with_title=not charts)
            faceted: alt.FacetChart = layered.facet(facet, columns=panels)
            charts.append(faceted.resolve_scale(y="independent") if each.has_free_y else faceted)
    whole: Chart = (
        charts[0] if len(charts) == 1 else alt.vconcat(*charts, spacing=12).resolve_scale(x="shared")
    )
    return attach_data(whole.properties(**heading), data)


def attach_data(whole: AnyChart, data: list[dict[str, Any]]) -> AnyChart:
    """Add the records to a finished chart: Altair copies and checks its data at every earlier step."""
    whole.data = alt.InlineData(values=[])
    whole.data["values"] = data
    return whole


def _build_layers(spec: ChartSpec, data: list[dict[str, Any]], channels: Channels) -> list[alt.Chart]:
    """Return the layers from bottom to top: bands, lines, dots, and unseen points with tooltips."""
    colors = encode_colors(channels.color) if channels.color else []
    fields = {name for row in data for name in row}
    detail, order = alt.Detail("curve:N"), alt.Order("order:Q")
    layers = [*spec.below]
    # The bands of many curves lie on each other and would hide the lines.
    opacity = min(0.2, 0.6 / len(channels.color.labels)) if channels.color else 0.2
    for number, (low, high) in enumerate(spec.bands):
        if low in fields and high in fields:
            area = alt.Chart().mark_area(
                interpolate=spec.interpolate, opacity=opacity * (1 + 0.75 * number), strokeWidth=0
            )
            area = area.encode(spec.x, alt.Y(f"{low}:Q"), alt.Y2(high), detail, *colors[:1])
            layers.append(keep_part(area, "curve"))
    if spec.pale_line_field in fields:
        pale = alt.Chart().mark_line(interpolate=spec.interpolate, strokeWidth=9, opacity=0.35)
        pale = pale.encode(spec.x, alt.Y(f"{spec.pale_line_field}:Q"), order, detail, *colors[:1])
        layers.append(keep_part(pale, "curve"))
    line = alt.Chart().mark_line(interpolate=spec.interpolate, strokeWidth=1.8)
    layers.append(keep_part(line.encode(spec.x, spec.y, order, detail, *colors), "curve"))
    tooltip = [*spec.tooltip, alt.Tooltip("test_set:N", title="test set")]
    tooltip = [entry for entry in tooltip if str(entry.shorthand).split(":", maxsplit=1)[0] in fields]
    if channels.color:
        tooltip.insert(0, alt.Tooltip("color:N", title=channels.color.title))
    points = alt.Chart().mark_point(opacity=0, size=60, filled=True, aria=False)
    points = points.encode(spec.x, spec.y, tooltip=tooltip).transform_filter("datum.hover === 1")
    if spec.dots:
        dots = alt.Chart().mark_point(size=25, filled=True, opacity=1)
        layers.append(keep_part(dots.encode(spec.x, spec.y, *colors[:1]), "curve"))
    return [*layers, points, *spec.above]


def _build_facet(facet: Channel, panels: int, width: int, *, with_title: bool) -> alt.Facet:
    header = alt.Header(labelExpr=_SPLIT_LABEL, labelLimit=width, titleLimit=panels * width)
    title = facet.title if with_title else None
    return alt.Facet("facet:N", title=title, sort=facet.labels, header=header)


def build_heading(text: ChartText, *, width: int) -> dict[str, Any]:
    """Return the title, in lines that fit, and the description for people who cannot see the chart."""
    letters = max(56, width // 6)
    clauses = (
        clause
        for line in text.subtitle
        for clause in ([line] if len(line) <= letters else line.split("; "))
    )
    title = alt.Title(
        textwrap.wrap(escape_text(text.title), letters),
        subtitle=[line for clause in clauses for line in textwrap.wrap(escape_text(clause), letters)],
        anchor="start",
    )
    sentences = [text.title, *text.subtitle, *([text.spoken] if text.spoken else [])]
    return {"title": title, "description": ". ".join(map(escape_text, sentences))}


def encode_colors(channel: Channel) -> list[Any]:
    """Return the encodings of a channel: colour with a legend, and for groups dashes, too."""
    labels = channel.labels
    names = (
        labels[:: math.ceil(len(labels) / 12)]
        if channel.fields == ["eta"]
        else channel.colored_labels or labels
    )
    legend = alt.Legend(values=names, symbolType="stroke", symbolOpacity=1, labelLimit=220)
    if channel.fields == ["eta"]:
        viridis = alt.SchemeParams(name="viridis", extent=[0, 0.9])
        scale = alt.Scale(domain=labels, scheme=viridis)
        return [alt.Color("color:O", title=channel.title, scale=scale, legend=legend)]
    styles = dict.fromkeys(labels, _GREY)
    for i, label in enumerate(channel.colored_labels or labels):
        # Dashes shift by one with each round of colours, so that 40 styles differ.
        styles[label] = _COLORS[i % len(_COLORS)], _DASHES[(i + i // len(_COLORS)) % len(_DASHES)]
    colors, dashes = ([style[k] for style in styles.values()] for k in (0, 1))
    return [
        alt.Color(
            "color:N", title=channel.title, scale=alt.Scale(domain=labels, range=colors), legend=legend
        ),
        alt.StrokeDash(
            "color:N", title=channel.title, scale=alt.Scale(domain=labels, range=dashes), legend=legend
        ),
    ]


def _arrange_panels(facet: Channel | None) -> tuple[int, int]:
    """Return how many panels stand in a row, and the width of each in pixels."""
    if facet is None:
        return 1, 320
    n = len(facet.labels)
    if n <= 3:
        return n, 220
    if len(facet.fields) > 1 and facet.fields[-1] == "eta" and facet.last_field_count <= 8:
        return facet.last_field_count, 160  # a row per group, a column per eta
    square = min(math.ceil(math.sqrt(n)), 8)
    panels = min(range(square, min(2 * square, 8) + 1), key=lambda k: (-n % k, k))
    return panels, 200 if n <= 4 else 160 if n <= 16 else 110


# Axes -----------------------------------------------------------------------------------------


def build_share_axis(kind: type[Axis], field: str, title: str) -> Axis:
    """Return an axis from 0 to 1."""
    return kind(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]))


def build_log_axis(kind: type[Axis], field: str, title: str, low: float, high: float = 1.0) -> Axis:
    """Return a log axis with ticks at powers of ten, and at 2 and 5 times these on a short axis."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    is_short = high / low < 100
    ticks = [float(f"{k}e{power}") for power in powers for k in ((1, 2, 5) if is_short else (1,))]
    within = [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
    scale = alt.Scale(type="log", domain=[round_digits(low), round_digits(high)], nice=False)
    return kind(
        f"{field}:Q", title=title, scale=scale, axis=alt.Axis(values=within, labelExpr=_LOG_LABELS)
    )
