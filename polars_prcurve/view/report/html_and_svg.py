"""The markup of pages: HTML from text, drawings in SVG, and the style sheets that name their colours.

This is the one place where names of users become part of a page.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from html import escape as escape_html
from pathlib import Path
from typing import Any

import polars as pl

from polars_prcurve.core.ground.atomic_file import name_file, resolve_target, write_atomically
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.terminal_text import TextColumn
from polars_prcurve.core.ground.visible_names import make_visible
from polars_prcurve.view.charts.parts.colors_and_sizes import COLORS, INK, OTHERS, QUIET, RULE
from polars_prcurve.view.words.number_words import MINUS, keep_together

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


def show_value(value: Any, show_float: Callable[[float], str]) -> str:
    """Return what a cell of a table shows; a list shows its values."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        text = show_float(value) if isinstance(value, float) else f"{value:,}"
        return text.replace("-", MINUS, 1) if value < 0 else text
    if isinstance(value, pl.Series | list | tuple):
        return ", ".join(show_value(item, show_float) for item in value)
    return str(value)


# Tables -------------------------------------------------------------------------------------------


def write_columns(
    text_columns: Sequence[TextColumn],
    n_left: int = 0,
    rows_of_cards: Collection[int] = (),
    css_class: str = "read",
    caption: str = "",
) -> str:
    """Return a table whose first column has names, and how many rows it lacks.

    A phone lacks `rows_of_cards`, which stand above it.
    """

    def show(column: TextColumn, row: int) -> str:
        cell = column.cells[row]
        if not column.spans:
            is_name = column is names or "model" in column.shown_names
            return isolate(cell) if is_name else write_prose(cell)
        span_html = f" <small>{escape(column.spans[row])}</small>" if column.spans[row] else ""
        return f"<span>{escape(cell)}{span_html}</span>"  # or a narrow page would set them apart

    names, *others = text_columns
    heads = [escape(column.texts[0]) for column in text_columns]
    classes = [' class="text"' if column.is_text else "" for column in text_columns]
    heads_html = "".join(map('<th scope="col"{}>{}</th>'.format, classes, heads))
    rows_html = ""
    for row in range(len(names.cells)):
        row_class = ' class="wide"' if row in rows_of_cards else ""
        rows_html += f'<tr{row_class}><th scope="row">{show(names, row)}</th>'
        for column, head, attribute in zip(others, heads[1:], classes[1:], strict=True):
            rows_html += f'<td data-name="{head}"{attribute}>{show(column, row)}</td>'
        rows_html += "</tr>"
    note_html = f'<p class="note">{n_left} more are in the table below.</p>' if n_left > 0 else ""
    caption_html = f"<caption><span>{escape(caption)}</span></caption>" if caption else ""
    label = escape(caption or "Table")
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
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
            values.name,
            [show_value(value, show_float) for value in values],
            is_text=not values.dtype.is_numeric(),
            shown_names=[values.name],
        )
        for values in frame.head(_MOST_ROWS)
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
    place: Point, text: str, size: float, *, kind: str = "quiet", anchor: str = "start", color: str = ""
) -> str:
    """Return a text, which is escaped here; `kind` is a class of the style sheet."""
    style = f' style="fill:{color}"' if color else ""
    return (
        f'<text x="{place[0]:.1f}" y="{place[1]:.1f}" font-size="{size:g}" class="{kind}" '
        f'text-anchor="{anchor}"{style}>{escape(text)}</text>'
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
    colors = {**{str(number): f"var(--c{number})" for number in range(8)}, "grey": "var(--rule)"}
    patterns = (
        f'<pattern id="hatch-{name}" width="4" height="4" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect width="4" height="4" style="fill:var(--ground)"/>'
        f'<rect width="1.7" height="4" style="fill:{color}"/></pattern>'
        for name, color in colors.items()
    )
    return f"<defs>{''.join(patterns)}</defs>"


# Style sheets, whose colours have names -------------------------------------------------------------

# The fonts of most systems, each as wide as the first, and one with letters of all scripts.
FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'Noto Sans', sans-serif"
# Colours of groups on a dark ground, each with the hue of its own in `COLORS`: they have 3 : 1, and any
# two stay apart for all eyes.
DARK_COLORS = ("#4FA8EA", "#FF8B45", "#72E4D2", "#805FE9", "#FC3C78", "#845496", "#965424", "#FCCC96")
_GROUP_COLORS = zip(COLORS, DARK_COLORS, strict=True)  # on a light ground, and on a dark one
_SCHEME = (  # the name of each colour, and what it is on a light and on a dark ground
    *((f"--c{n}", light, dark) for n, (light, dark) in enumerate(_GROUP_COLORS)),
    ("--text", INK, "#F0F2F4"),
    ("--quiet", QUIET, "#A9B1BB"),
    ("--rule", RULE, "#7B838D"),
    ("--others", OTHERS, "#474D55"),
    ("--grid", "#E6E8EB", "#2A2F36"),
    ("--ground", "#FFFFFF", "#15181D"),
)


def build_scheme() -> str:
    """Return the style sheet of colours, for light and for dark screens."""
    light_colors = ";".join(f"{name}:{color}" for name, color, _ in _SCHEME)
    dark_colors = ";".join(f"{name}:{color}" for name, _, color in _SCHEME)
    return (
        f":root{{color-scheme:light dark;{light_colors}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark_colors}}}}}\n"
    )


DECISION_STYLE = (
    build_scheme()
    + """
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.5 FONT;overflow-wrap:anywhere}
main{max-width:780px;margin:0 auto;padding:28px 20px 60px}
svg:not(.marks){max-width:100%;height:auto}svg:not(.marks) text{font-family:FONT;fill:var(--text)}
svg .quiet{fill:var(--quiet)}svg .strong{font-weight:700}
svg .rim{paint-order:stroke;stroke:var(--ground);stroke-width:4px;stroke-linejoin:round}
.hidden{position:absolute;width:0;height:0}.small{display:none}
.place,.note,.key{font-size:14px;color:var(--quiet);margin:0}.note,.key{font-size:13px}
.note{margin-top:4px}
.status{display:inline-block;font-size:13px;font-weight:700;padding:2px 10px;border-radius:11px;
  border:2px dotted var(--text);margin:12px 0 0}
.status.settled{border:2px solid var(--text);background:var(--text);color:var(--ground)}
h1{font-size:30px;line-height:1.22;margin:8px 0 18px;letter-spacing:-.2px;text-wrap:balance}
h2{font-size:18px;line-height:1.3;margin:34px 0 2px}
.models{display:grid;grid-template-columns:repeat(2,1fr);gap:28px}
h2+.place{margin-bottom:8px}.model{border-top:4px solid var(--c,var(--rule));padding-top:10px}
.model h3{margin:0 0 8px;font-size:15px;color:var(--c,var(--text))}
.model>div{display:grid;grid-template-columns:176px 1fr;gap:18px;align-items:start}
dl{margin:0}dt{font-size:12.5px;color:var(--quiet);line-height:1.25;margin-top:11px}
dt:first-child{margin-top:0}dd{margin:0;font-size:21px;font-weight:700;line-height:1.25}
dd small{display:block;font-size:13px;font-weight:400;color:var(--quiet)}
dd small+small{display:block}
.key{margin:14px 0 0}.key svg{vertical-align:-2px;margin:0 3px 0 10px}.key svg:first-child{margin-left:0}
.settle{border-left:3px solid var(--text);padding:2px 0 2px 14px;margin:8px 0 0}
.reasons{margin:10px 0 0;padding-left:18px;font-size:14px}
.bar{margin:12px 0 0}.bar p{display:flex;justify-content:space-between;margin:0 0 3px;font-size:13px}
.bar div{height:16px;border:1px solid var(--quiet);
  background:repeating-linear-gradient(135deg,var(--rule) 0 1.5px,var(--ground) 1.5px 4px)}
.bar i{display:block;height:100%;background:var(--text)}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
details{border-top:1px solid var(--grid);padding:10px 0}
details:last-of-type{border-bottom:1px solid var(--grid)}
summary{cursor:pointer;font-weight:700;font-size:15px;min-height:28px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px}
td,th{text-align:right;padding:5px 8px;border-bottom:1px solid var(--grid);
  font-variant-numeric:tabular-nums;font-weight:400;white-space:nowrap}
td:first-child,th:first-child{text-align:left}td:first-child,th:first-child{padding-left:0}
tbody th{white-space:normal}th,td{overflow-wrap:break-word}
.names{margin:4px 0 0;padding-left:22px;overflow:hidden;font-size:14px;font-weight:700;list-style:square}
.names li{float:left;margin-right:36px}
thead th{color:var(--quiet)}td small{color:var(--quiet);font-size:12.5px}
.raw th:first-child{min-width:12em}
.raw{font-size:12px}
footer{font-size:13px;color:var(--quiet);margin-top:20px}
:focus-visible{outline:3px solid var(--c0);outline-offset:2px}
@media(max-width:640px){main{padding:18px 16px 40px}h1{font-size:24px;margin-bottom:14px}
.models{grid-template-columns:1fr;gap:18px}
.wide,tr.wide{display:none}.small{display:inline}.names.small{display:block}
.model>div{grid-template-columns:140px 1fr;gap:16px}dt{margin-top:6px}dd{font-size:18px}
dd small{display:inline}
table{font-size:14px}th,td{overflow-wrap:anywhere}thead{display:none}table,tbody{display:block}
tr{display:flex;flex-wrap:wrap;gap:0 12px;padding:8px 0;border-bottom:1px solid var(--grid)}
tr>th:first-child{flex:1 1 50%;order:-2;border:0;padding:1px 0;font-weight:700}
td[data-name=""],td[data-name=verdict]{flex:none;order:-1}
td{display:flex;flex:1 0 100%;justify-content:space-between;
gap:4px 12px;border:0;padding:1px 0;white-space:normal}
td::before{content:attr(data-name);color:var(--quiet);text-align:left}}
@media print{@page{size:A4;margin:10mm 14mm}main{padding:0;max-width:none}
body{font-size:9pt;line-height:1.35}h1{font-size:14pt;margin:4pt 0 8pt}
.status{margin-top:6px}.settle,.reasons{margin:4pt 0 0}h2+.place{margin-bottom:2pt}
h2{font-size:11pt;margin:9pt 0 2pt}.model{padding-top:4pt}.model h3{margin:0 0 4pt}.key{margin-top:6pt}
h2,summary{break-after:avoid}.models,.chart,.settle,.model,tr{break-inside:avoid}
.place,.note,.key,.reasons,.status,.names,.model h3,table,td,th,footer{font-size:8.5pt}
dl{display:grid;grid-template-columns:1fr auto;gap:2pt 6pt;align-items:baseline}dt,.note{margin:0}
dt,td small,dd small{font-size:8pt}dd small{display:inline}
dd{font-size:12pt}.model>div{grid-template-columns:102px 1fr}
td,th{padding:1pt 5px}
.chart svg.wide{max-height:52mm;width:auto}.scroll+.chart svg.wide{max-height:46mm}
.chart svg.rows{max-height:none}details p{display:inline}details p::after{content:" "}
details{padding:2pt 0;font-size:7.5pt}summary{list-style:none;font-size:8.5pt;min-height:0}
details::details-content{content-visibility:visible;display:block}footer{margin-top:6pt}
.screen,.bar,.scroll:has(.raw){display:none}}
""".replace("FONT", FONT)
)
"""Of reports and pages to move: for wide, narrow, dark and paper."""

PARTS_STYLE = (
    DECISION_STYLE
    + """
p,li{max-width:46rem}p{margin:10px 0}h2{font-size:22px}h3{font-size:18px;margin:28px 0 4px}
figure{margin:30px 0;background:#fff;color:#1a1d21}figcaption{margin:8px 0 12px}
figure img{max-width:100%}figure.on img{display:none}
.live{max-width:100%;overflow-x:auto;background:#fff}figure:not(.on) .live{height:0;overflow:hidden}
.vega-embed{width:100%}.vega-bindings{font-size:14px;margin:10px 0 0}
.vega-bindings select{font:inherit;color:inherit;background:var(--ground);border:1px solid var(--rule);
  border-radius:3px;padding:3px 6px}
.scroll{margin:12px 0}.own{width:auto;font-size:13px}.own .text{text-align:left}
.own td,.own tbody th{white-space:normal;max-width:22rem}
ul{padding-left:20px}
caption{text-align:left;color:var(--quiet);font-size:14px;padding-bottom:6px}
caption span{display:block;max-width:min(46rem,100vw - 32px)}
@media(max-width:640px){caption{display:block}}
@media print{h1{font-size:22pt}h2{font-size:15pt}figure.on img{display:inline}
figure .live{display:none}figure,li{break-inside:avoid}
h3,figcaption,caption{break-after:avoid}.scroll{overflow:visible}
.many thead{display:none}.many tr{display:flex;flex-wrap:wrap;gap:0 14px;padding:4px 0;
  border-bottom:1px solid var(--grid)}.many td,.many tbody th{display:block;border:0}
.many td::before{content:attr(data-name) "\\a0";color:var(--quiet)}}
"""
)
"""Of pages of one's own parts."""


# Whole pages, and files ----------------------------------------------------------------------------


def write_document(
    title: str, style: str, body: Iterable[str], scripts: Iterable[str] = (), data: str | None = None
) -> str:
    """Return a page that loads nothing: only its own scripts run, which may read `data`, a JSON."""
    script_texts = list(scripts)
    script_digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in script_texts]
    script_sources = " ".join(f"'sha256-{digest.decode()}'" for digest in script_digests) or "'none'"
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {script_sources}"
    data_tags = [] if data is None else [f'<script type="application/json" id="data">{data}</script>']
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape_html(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{style}</style></head>",
            "<body><main>",
            *body,
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
    with write_atomically(resolve_target(path)) as draft, name_file(path):
        draft.write_bytes(text.encode())
    return Path(path)
