"""Drawings in SVG, whose colours are names of the style sheet, so that dark mode has others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from polars_prcurve.report.html_parts import escape

Point = tuple[float, float]
DOTTED = 'stroke-dasharray="1.5 3"'  # the dash of what is not known


def name_color(number: int | None) -> str:
    """Return the colour of a model by its number, or that of models that are not picked out."""
    return "var(--others)" if number is None else f"var(--c{number % 8})"


def draw_circle(x: float, y: float, r: float, look: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" {look}/>'


def draw_line(start: Point, end: Point, color: str = "var(--rule)", more: str = "") -> str:
    (x1, y1), (x2, y2) = start, end
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" style="stroke:{color}" {more}/>'
    )


def draw_path(points: Iterable[Point], color: str, width: float = 2.2, more: str = "") -> str:
    places = "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        f'<path d="M{places}" fill="none" style="stroke:{color}" stroke-width="{width}" '
        f'stroke-linejoin="round" {more}/>'
    )


def draw_area(top: Sequence[Point], foot: Sequence[Point], color: str) -> str:
    """Return the area between two lines that go the same way."""
    places = "L".join(f"{x:.1f},{y:.1f}" for x, y in [*top, *reversed(foot)])
    return f'<path d="M{places}Z" style="fill:{color}" opacity="0.15"/>'


def draw_text(
    place: Point,
    text: str,
    size: float = 12,
    *,
    kind: str = "quiet",
    anchor: str = "start",
    color: str = "",
) -> str:
    """Return a text, which is escaped here; `kind` is a class of the style sheet."""
    style = f' style="fill:{color}"' if color else ""
    return (
        f'<text x="{place[0]:.1f}" y="{place[1]:.1f}" font-size="{size:g}" class="{kind}" '
        f'text-anchor="{anchor}"{style}>{escape(text)}</text>'
    )


def draw_document(shapes: Iterable[str], width: float, height: float, label: str, kind: str = "") -> str:
    """Return a drawing; the label is what a screen reader says of it, which passes over one without."""
    role = f'role="img" aria-label="{escape(label)}"' if label else 'aria-hidden="true"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" class="{kind}" {role}>'
        f"{''.join(shapes)}</svg>"
    )


def define_hatches() -> str:
    """Return the patterns of doubt, one for each colour and a grey one, which drawings refer to."""
    colors = {**{str(number): f"var(--c{number})" for number in range(8)}, "grey": "var(--rule)"}
    patterns = (
        f'<pattern id="hatch-{name}" width="4" height="4" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect width="4" height="4" style="fill:var(--ground)"/>'
        f'<rect width="1.7" height="4" style="fill:{color}"/></pattern>'
        for name, color in colors.items()
    )
    return f"<defs>{''.join(patterns)}</defs>"
