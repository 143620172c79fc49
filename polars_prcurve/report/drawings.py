"""Charts as drawings of a page: for wide and for narrow screens, for print, and for dark mode.

A drawing is SVG inside the page. Its colours are attributes, to which the style sheet of the page gives
other values in dark mode. It is drawn twice, and the style sheet shows the one that fits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree

from polars_prcurve.charts.parts.chart_assembly import PAGE_ROOM
from polars_prcurve.charts.parts.chart_style import COLORS, INK, OTHERS, QUIET, RULE
from polars_prcurve.report.hover_rules import keep_readings, place_reading
from polars_prcurve.report.html_parts import Markup, escape
from polars_prcurve.report.vega_drawings import draw_svg, show_texts

WIDE, NARROW = 740, 350
"""Widths in pixels of the two drawings of a chart."""
FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"
"""Typefaces of one width, so that places of names, which are computed from letters, hold."""
_DARK_COLORS = (
    *("#4FA8EA", "#FF8B45", "#65CCBB", "#805FE9"),
    *("#A86893", "#B2682B", "#F4F468", "#CCEFFB"),
)
"""Colours of groups on a dark ground, in the order of `COLORS`: each has 3 : 1, and any two differ."""
GROUND, DARK_GROUND, GRID = "#FFFFFF", "#15181D", "#E6E8EB"
_DARK = {
    **dict(zip(COLORS, _DARK_COLORS, strict=True)),
    INK: "#F0F2F4",
    QUIET: "#A9B1BB",
    RULE: "#7B838D",
    OTHERS: "#474D55",
    GRID: "#2A2F36",
    GROUND: DARK_GROUND,
}
_NAMES = {
    **{color: f"--c{number}" for number, color in enumerate(COLORS)},
    INK: "--text",
    QUIET: "--quiet",
    RULE: "--rule",
    OTHERS: "--others",
    GRID: "--grid",
    GROUND: "--ground",
}
CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": "Arial, Liberation Sans, sans-serif",
    "view": {"stroke": None},
    "style": {"guide-label": {"fill": QUIET}, "guide-title": {"fill": QUIET}},
    "axis": {"gridColor": GRID, "domainColor": RULE, "tickColor": RULE, "labelOverlap": True},
    "legend": {"orient": "bottom", "columns": 2, "labelColor": INK, "titleColor": QUIET},
    "title": {"color": INK, "subtitleColor": QUIET},
    "text": {"color": INK},
}
"""What a page gives all charts: its typeface, and colours that it can change in dark mode."""


def build_scheme() -> str:
    """Return the style sheet of colours, for light and dark screens, in the page and in drawings."""
    light = ";".join(f"{name}:{color}" for color, name in _NAMES.items())
    dark = ";".join(f"{name}:{_DARK[color]}" for color, name in _NAMES.items())
    rules = "".join(
        f'svg [{kind}="{color}" i]{{{kind}:var({name})}}'
        for color, name in _NAMES.items()
        for kind in ("fill", "stroke")
    )
    black = 'svg [fill="black" i],svg [fill="#000"]{fill:var(--text)}'
    white = 'svg [fill="white" i]{fill:var(--ground)}svg [stroke="white" i]{stroke:var(--ground)}'
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{rules}{black}{white}"
    )


def draw_figure(number: int, build: Callable[..., Any], heading: str = "") -> Markup:
    """Return a chart as a figure of the page: its title and subtitle as text, and two drawings.

    `build(title=...)` draws the chart. Its own title, which is the finding if there is one, heads the
    figure, unless there is a `heading`.
    """
    specs = {}
    for kind, room in (("wide", WIDE), ("small", NARROW)):
        token = PAGE_ROOM.set(room)
        try:
            specs[kind] = show_texts(build(title=None).to_dict(validate=False))
        finally:
            PAGE_ROOM.reset(token)
    title, subtitle, note = _take_words(specs["wide"])
    _take_words(specs["small"])
    spoken = str(specs["wide"].get("description", heading or title))
    drawings = "".join(
        _draw_inline(spec, f"d{number}{kind}", kind, spoken) for kind, spec in specs.items()
    )
    lines = [f"<h3>{escape(heading or title)}</h3>"]
    lines += [f"<p>{escape(subtitle)}</p>"] if subtitle else []
    foot = f'<p class="note">{escape(note)}</p>' if note else ""
    return Markup(f"<figure><figcaption>{''.join(lines)}</figcaption>{drawings}{foot}</figure>")


def _take_words(spec: dict[str, Any]) -> tuple[str, str, str]:
    """Remove title and note from the specification of a chart; return title, subtitle and note."""
    title = spec.pop("title", None) or {}
    words = title if isinstance(title, dict) else {"text": title}
    return (
        _join_lines(words.get("text", "")),
        _join_lines(words.get("subtitle", "")),
        " ".join(_take_notes(spec)),
    )


def _join_lines(lines: Any) -> str:
    return lines if isinstance(lines, str) else " ".join(lines)


def _take_notes(spec: dict[str, Any]) -> Iterator[str]:
    """Remove the layers or panels that hold a note; yield their texts."""
    named = spec.get("datasets", {})
    for name in ("layer", "vconcat"):
        kept = []
        for part in spec.get(name, []):
            text = part.get("encoding", {}).get("text", {})
            if isinstance(text, dict) and text.get("field") == "note":
                data = part["data"]
                rows = data["values"] if "values" in data else named[data["name"]]
                yield " ".join(str(rows[0]["note"]).split("\n"))
            else:
                kept.append(part)
        if name in spec:
            spec[name] = kept


def _draw_inline(spec: dict[str, Any], key: str, kind: str, spoken: str) -> str:
    """Return a drawing as SVG within HTML; its ids begin with the key, since a page has several."""
    words = keep_readings(spec)
    config = CONFIG | ({"legend": CONFIG["legend"] | {"columns": 1}} if kind == "small" else {})
    spec = spec | {"config": config, "padding": {"left": 0, "top": 6, "right": 4, "bottom": 2}}
    root = ElementTree.fromstring(draw_svg(spec))
    for node in list(root.iter()):
        node.tag = str(node.tag).rpartition("}")[2]
        if place_reading(node, words):
            continue
        for name in [name for name in node.attrib if name.startswith("{")]:
            del node.attrib[name]
        for name, value in node.attrib.items():
            node.attrib[name] = _fit_attribute(name, value, key)
        node.attrib.pop("font-family", None)
        for name in ("aria-roledescription", "aria-label", "role"):
            node.attrib.pop(name, None)  # the drawing is read as one image
    root.attrib |= {"class": kind, "role": "img", "aria-label": spoken}
    return ElementTree.tostring(root, encoding="unicode")


def _fit_attribute(name: str, value: str, key: str) -> str:
    """Return an attribute with ids of this drawing alone, and coordinates to a tenth of a pixel."""
    if name == "id":
        return f"{key}-{value}"
    if name == "d":
        return re.sub(r"(\.\d)\d+", r"\1", value)
    return value.replace("url(#", f"url(#{key}-") if name in ("clip-path", "fill", "stroke") else value
