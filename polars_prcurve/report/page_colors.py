"""The colours of pages, by names that the style sheet gives other values in dark mode."""

from __future__ import annotations

from polars_prcurve.charts.parts.chart_style import COLORS, INK, OTHERS, QUIET, RULE

FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'Noto Sans', sans-serif"
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


def paint(drawing: str) -> str:
    """Return a drawing with the colours of a light ground in place of their names."""
    for color, name in _NAMES.items():
        drawing = drawing.replace(f"var({name})", color)
    return drawing


def build_scheme() -> str:
    """Return the style sheet of colours, for light and for dark screens."""
    light = ";".join(f"{name}:{color}" for color, name in _NAMES.items())
    dark = ";".join(f"{name}:{_DARK[color]}" for color, name in _NAMES.items())
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    )
