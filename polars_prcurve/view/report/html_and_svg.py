"""The markup of pages: HTML from text, and drawings in SVG, whose colours the style sheets name.

This is the one place where names of users become part of a page.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from html import escape as escape_html
from pathlib import Path
from typing import Any

import polars as pl

from polars_prcurve.core.ground.atomic_file import name_file, resolve_target, write_atomically
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.terminal_text import TextColumn
from polars_prcurve.core.ground.visible_names import make_visible
from polars_prcurve.view.words.number_words import MINUS, SCORE_COLUMNS, keep_together, say_threshold

_MOST_ROWS = 500  # rows of a frame, at most, that a page shows


def escape(text: str) -> str:
    """Return the user's text as HTML."""
    return escape_html(make_visible(text, keep_blanks=True))


def write_prose(text: str) -> str:
    """Return a sentence as HTML, in which no line breaks inside an interval or before a unit."""
    return escape(keep_together(text))


def isolate(name: str) -> str:
    """Return a name as HTML, whose direction of writing does not turn the words around it."""
    return f"<bdi>{escape(name)}</bdi>"


def show_cell(cell_value: Any, show_float: Callable[[float], str]) -> str:
    """Return what a cell of a table shows; a list shows its values."""
    if cell_value is None:
        return "–"
    if isinstance(cell_value, bool):
        return "yes" if cell_value else "no"
    if isinstance(cell_value, int | float):
        number_text = show_float(cell_value) if isinstance(cell_value, float) else f"{cell_value:,}"
        return number_text.replace("-", MINUS, 1) if cell_value < 0 else number_text
    if isinstance(cell_value, pl.Series | list | tuple):
        return ", ".join(show_cell(element, show_float) for element in cell_value)
    return str(cell_value)


# Tables -------------------------------------------------------------------------------------------


def write_columns(
    text_columns: Sequence[TextColumn],
    n_rows_left_out: int = 0,
    css_class: str = "read",
    caption: str = "",
) -> str:
    """Return a table whose first column has names, and how many rows it lacks."""

    def show_cell(column: TextColumn, row_number: int) -> str:
        cell_text = column.cells[row_number]
        if not column.spans:
            is_name = column is first_column or "model" in column.shown_names
            return isolate(cell_text) if is_name else write_prose(cell_text)
        span_html = (
            f" <small>{escape(column.spans[row_number])}</small>" if column.spans[row_number] else ""
        )
        return f"<span>{escape(cell_text)}{span_html}</span>"  # or a narrow page would set them apart

    first_column, *other_columns = text_columns
    escaped_heads = [escape(column.texts[0]) for column in text_columns]
    class_attributes = [' class="text"' if column.is_text else "" for column in text_columns]
    heads_html = "".join(map('<th scope="col"{}>{}</th>'.format, class_attributes, escaped_heads))
    rows_html = ""
    for row_number in range(len(first_column.cells)):
        rows_html += f'<tr><th scope="row">{show_cell(first_column, row_number)}</th>'
        for column, escaped_head, class_attribute in zip(
            other_columns, escaped_heads[1:], class_attributes[1:], strict=True
        ):
            rows_html += (
                f'<td data-name="{escaped_head}"{class_attribute}>{show_cell(column, row_number)}</td>'
            )
        rows_html += "</tr>"
    note_html = (
        f'<p class="note">{n_rows_left_out} more are in the table below.</p>'
        if n_rows_left_out > 0
        else ""
    )
    caption_html = f"<caption><span>{escape(caption)}</span></caption>" if caption else ""
    aria_label = escape(caption or "Table")
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{aria_label}">'
        f'<table class="{css_class}">'
        f"{caption_html}<thead><tr>{heads_html}</tr></thead><tbody>{rows_html}</tbody></table></div>{note_html}"
    )


def write_frame(
    frame: pl.DataFrame, show_float: Callable[[float], str], *, css_class: str, caption: str = ""
) -> str:
    """Return a table of the first rows of a frame."""
    if frame.height > _MOST_ROWS:
        caption = f"{caption} The first {_MOST_ROWS} of {frame.height:,} rows.".strip()
    text_columns = [
        TextColumn(
            series.name,
            [
                show_cell(cell_value, say_threshold if series.name in SCORE_COLUMNS else show_float)
                for cell_value in series
            ],
            is_text=not series.dtype.is_numeric(),
            shown_names=[series.name],
        )
        for series in frame.head(_MOST_ROWS)
    ]
    return write_columns(text_columns, css_class=css_class, caption=caption) if text_columns else ""


# Drawings, whose colours are names of the style sheet, so that dark mode has others ----------------

Point = tuple[float, float]  # x and y in pixels, from the top left
DOTTED = 'stroke-dasharray="1.5 3"'  # the dash of what is not known


def name_color(color_number: int | None) -> str:
    """Return the colour of a model by its number, or that of models that are not picked out."""
    return "var(--others)" if color_number is None else f"var(--c{color_number % 8})"


def draw_circle(x: float, y: float, radius: float, attributes: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" {attributes}/>'


def draw_line(start: Point, end: Point, color: str = "var(--rule)", attributes: str = "") -> str:
    (x1, y1), (x2, y2) = start, end
    coordinates = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {coordinates} style="stroke:{color}" {attributes}/>'


def draw_path(points: Iterable[Point], color: str, width: float, attributes: str = "") -> str:
    path_data = "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        f'<path d="M{path_data}" fill="none" style="stroke:{color}" stroke-width="{width}" '
        f'stroke-linejoin="round" {attributes}/>'
    )


def draw_area(upper_points: Sequence[Point], lower_points: Sequence[Point], color: str) -> str:
    """Return the area between two lines that go the same way."""
    path_data = "L".join(f"{x:.1f},{y:.1f}" for x, y in [*upper_points, *reversed(lower_points)])
    return f'<path d="M{path_data}Z" style="fill:{color}" opacity="0.15"/>'


def draw_text(
    position: Point,
    text: str,
    size: float,
    *,
    css_class: str = "quiet",
    anchor: str = "start",
    color: str = "",
) -> str:
    """Return a text, which is escaped here; `css_class` is a class of the style sheet."""
    style_attribute = f' style="fill:{color}"' if color else ""
    return (
        f'<text x="{position[0]:.1f}" y="{position[1]:.1f}" font-size="{size:g}" class="{css_class}" '
        f'text-anchor="{anchor}"{style_attribute}>{escape(text)}</text>'
    )


def draw_document(
    shapes: Iterable[str], width: float, height: float, description: str, css_class: str = ""
) -> str:
    """Return a drawing; the label is what a screen reader reads, which passes over one without."""
    role_attributes = (
        f'role="img" aria-label="{escape(description)}"' if description else 'aria-hidden="true"'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" class="{css_class}" {role_attributes}>'
        f"{''.join(shapes)}</svg>"
    )


def define_hatches() -> str:
    """Return the patterns of doubt, one for each colour and a grey one, which drawings refer to."""
    color_by_hatch_name = {
        **{str(color_number): f"var(--c{color_number})" for color_number in range(8)},
        "grey": "var(--rule)",
    }
    pattern_tags = (
        f'<pattern id="hatch-{hatch_name}" width="4" height="4" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect width="4" height="4" style="fill:var(--ground)"/>'
        f'<rect width="1.7" height="4" style="fill:{color}"/></pattern>'
        for hatch_name, color in color_by_hatch_name.items()
    )
    return f"<defs>{''.join(pattern_tags)}</defs>"


# Whole pages, and files ----------------------------------------------------------------------------


def write_document(
    title: str,
    style_sheet: str,
    body_lines: Iterable[str],
    scripts: Iterable[str] = (),
    data_json: str | None = None,
) -> str:
    """Return a page that loads nothing: only its own scripts run, which may read `data_json`, a JSON."""
    script_texts = list(scripts)
    script_digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in script_texts]
    script_sources = " ".join(f"'sha256-{digest.decode()}'" for digest in script_digests) or "'none'"
    security_policy = (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {script_sources}"
    )
    data_tags = (
        [] if data_json is None else [f'<script type="application/json" id="data">{data_json}</script>']
    )
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape_html(security_policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{style_sheet}</style></head>",
            "<body><main>",
            *body_lines,
            "</main>",
            *data_tags,
            *(f"<script>{text}</script>" for text in script_texts),
            "</body></html>\n",
        ]
    )


def check_page_path(path: str | os.PathLike[str]) -> None:
    """Raise if a page cannot be written there, or its name is not that of a page."""
    resolve_target(path)
    if Path(path).suffix.lower() not in (".html", ".htm", ""):
        raise PrcError(
            f"a report or a page is HTML, and its file ends in .html; got {os.fspath(path)!r}; for a "
            "PDF print it from a browser"
        )


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write the text to a file, which appears whole or not at all."""
    with write_atomically(resolve_target(path)) as draft_path, name_file(path):
        draft_path.write_bytes(text.encode())
    return Path(path)
