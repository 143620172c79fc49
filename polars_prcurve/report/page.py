"""One HTML page of texts, tables and charts that needs nothing from elsewhere.

    text      paragraphs; a line `## ...` is a heading, lines `- ...` are a list
    table     a DataFrame
    chart     an Altair chart: a drawing, which also shows on paper and without scripts, and which
              becomes a live chart where scripts run and there is room

All text is escaped. The security policy of the page lets only its own scripts run, by their hashes, and
lets the browser load nothing. Equal parts make equal bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from html import escape as escape_html
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from polars_prcurve.atomic_file import resolve_target, write_atomically
from polars_prcurve.errors import PrcError
from polars_prcurve.visible_text import make_visible

if TYPE_CHECKING:
    import altair as alt

    Part: TypeAlias = "str | pl.DataFrame | Table | Figure | alt.TopLevelMixin"


_MAX_ROWS = 500
"""Rows of a table, at most, that a page shows."""
_MAX_CHART_LETTERS = 250_000
"""Characters of a chart in JSON; larger charts stay drawings, unless they have a slider."""
_DRAWING_WIDTH = 620
"""Pixels of a drawing of a chart that is as wide as the page."""
_SPEC_TAG = '<script type="application/json">'


@dataclass(frozen=True)
class Table:
    """A table with a caption."""

    frame: pl.DataFrame
    caption: str = ""


@dataclass(frozen=True)
class Figure:
    """A chart with a caption."""

    chart: Any
    caption: str = ""


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write the text to a file, which appears whole or not at all."""
    with write_atomically(resolve_target(path)) as draft:
        draft.write_bytes(text.encode())
    return Path(path)


def build_page(title: str, parts: Iterable[Part]) -> str:
    """Return the page as a string of HTML."""
    body = [line for number, part in enumerate(parts) for line in _render_part(part, number)]
    scripts = (
        [_build_script(), _START_SCRIPT] if any(line.startswith(_SPEC_TAG) for line in body) else []
    )
    allowed = " ".join(f"'sha256-{_hash_script(script)}'" for script in scripts) or "'none'"
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"
    title = _escape(title)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape_html(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>",
            f"<style>{_STYLE}</style></head>",
            f"<body><main><h1>{title}</h1>",
            *body,
            "</main>",
            *(f"<script>{script}</script>" for script in scripts),
            "</body></html>\n",
        ]
    )


def _render_part(part: Part, number: int) -> Iterator[str]:
    """Return the HTML lines of a part; raise unless it is a text, a table or a chart."""
    if isinstance(part, str):
        return _render_text(part)
    if isinstance(part, pl.DataFrame):
        return _render_table(Table(part))
    if isinstance(part, Table):
        return _render_table(part)
    figure = part if isinstance(part, Figure) else Figure(part)
    if not hasattr(figure.chart, "to_dict"):
        raise PrcError(
            f"each of parts= is text, a DataFrame or an Altair chart; got {type(part).__name__}"
        )
    return _render_figure(figure, number)


# Text -----------------------------------------------------------------------------------------


def _escape(text: str) -> str:
    """Return the user's text as HTML."""
    return escape_html(make_visible(text, keep_blanks=True))


def _render_text(text: str) -> Iterator[str]:
    for block in text.strip().split("\n\n"):
        for kind, lines in groupby(block.splitlines(), _line_kind):
            escaped = [_escape(line.removeprefix(kind).strip()) for line in lines]
            if kind == "- ":
                yield "<ul>" + "".join(f"<li>{line}</li>" for line in escaped) + "</ul>"
            elif kind:
                level = len(kind) - 1
                yield "".join(f"<h{level}>{line}</h{level}>" for line in escaped)
            else:
                yield f"<p>{' '.join(escaped)}</p>"


def _line_kind(line: str) -> str:
    """Return the mark of a heading or a list that a line starts with, or an empty text."""
    return next((mark for mark in ("### ", "## ", "- ") if line.startswith(mark)), "")


# Tables ---------------------------------------------------------------------------------------


def _render_table(table: Table) -> Iterator[str]:
    frame = table.frame
    if not isinstance(frame, pl.DataFrame):
        raise PrcError(f"expected a DataFrame in Table(...); got {type(frame).__name__}")
    caption = table.caption
    if frame.height > _MAX_ROWS:
        caption = f"{caption} The first {_MAX_ROWS} of {frame.height} rows.".strip()
    are_numbers = [dtype.is_numeric() for dtype in frame.dtypes]
    yield '<div class="wide" tabindex="0" role="region"' + _aria_label(caption or "Table") + "><table>"
    if caption:
        yield f"<caption>{_escape(caption)}</caption>"
    heads = zip(frame.columns, are_numbers, strict=True)
    yield (
        "<thead><tr>"
        + "".join(_render_cell("th", name, is_number, ' scope="col"') for name, is_number in heads)
        + "</tr></thead>"
    )
    yield "<tbody>"
    for row in frame.head(_MAX_ROWS).iter_rows():
        cells = zip(row, are_numbers, strict=True)
        yield (
            "<tr>"
            + "".join(_render_cell("td", _format_value(value), is_number) for value, is_number in cells)
            + "</tr>"
        )
    yield "</tbody></table></div>"


def _render_cell(tag: str, text: str, is_number: bool, attributes: str = "") -> str:
    style = ' class="number"' if is_number else ""
    return f"<{tag}{style}{attributes}>{_escape(text)}</{tag}>"


def _aria_label(text: str) -> str:
    return f' aria-label="{_escape(text)}"'


def _format_value(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f")
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, pl.Series | list | tuple):
        return ", ".join(map(_format_value, value))
    return str(value)


# Charts ---------------------------------------------------------------------------------------


def _render_figure(figure: Figure, number: int) -> Iterator[str]:
    spec = _show_texts(figure.chart.to_dict())
    svg = _draw_svg(spec)
    text = spec.get("description") or figure.caption or "Chart"
    source = "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
    yield f'<figure id="figure-{number}">'
    yield f'<img src="{source}" alt="{_escape(text)}">'
    data = json.dumps(spec, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if len(data) <= _MAX_CHART_LETTERS or _has_controls(spec):
        yield _SPEC_TAG + data.replace("<", "\\u003c") + "</script>"
    if figure.caption:
        yield f"<figcaption>{_escape(figure.caption)}</figcaption>"
    yield "</figure>"


def _show_texts(spec: Any) -> Any:
    """Return the specification of a chart with all its texts made visible: others end its drawing."""
    if isinstance(spec, str):
        return make_visible(spec, keep_blanks=True)
    if isinstance(spec, list | tuple):
        return [_show_texts(part) for part in spec]
    if isinstance(spec, dict):
        return {_show_texts(name): _show_texts(part) for name, part in spec.items()}
    return spec


def _has_controls(spec: dict[str, Any]) -> bool:
    """Return whether a chart has something to operate, such as a slider."""
    return any(isinstance(param.get("bind"), dict) for param in spec.get("params", []))


def _draw_svg(spec: dict[str, Any]) -> str:
    """Return the chart as SVG, without layers that only serve the pointer."""
    params = spec.get("params", [])
    pointers = [param["name"] for param in params if "select" in param]
    drawing = _drop_unseen(spec, pointers)
    drawing |= {"params": [_fix_selection(param) for param in params]}
    if drawing.get("width") == "container":
        drawing["width"] = _DRAWING_WIDTH
    return str(load_vl_convert().vegalite_to_svg(json.dumps(drawing)))


def _fix_selection(param: dict[str, Any]) -> dict[str, Any]:
    """Return a selection as what it holds at the start, since nobody can select on paper."""
    if "select" not in param:
        return param
    first = param.get("value") or [{}]
    return {"name": param["name"], "value": {name: [value] for name, value in first[0].items()}}


def _drop_unseen(spec: Any, pointers: list[str]) -> Any:
    """Return the specification of a chart without unseen layers; `pointers` names its selections."""
    if isinstance(spec, list):
        return [_drop_unseen(part, pointers) for part in spec if not _is_unseen(part, pointers)]
    if isinstance(spec, dict):
        no_layers = ("data", "datasets", "params", "transform")  # of which data can be large
        return {
            name: part if name in no_layers else _drop_unseen(part, pointers)
            for name, part in spec.items()
        }
    return spec


def _is_unseen(part: Any, pointers: list[str]) -> bool:
    """Return whether a layer is transparent, or is filtered by a selection."""
    if not isinstance(part, dict) or not isinstance(part.get("mark"), dict):
        return False
    filters = [str(step.get("filter", "")) for step in part.get("transform", [])]
    return part["mark"].get("opacity") == 0 or any(p in f for p in pointers for f in filters)


@cache
def _build_script() -> str:
    """Return the script that draws live charts; no text in it ends a script element."""
    script = str(load_vl_convert().javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    return script.replace("</script", "<\\/script")


def load_vl_convert() -> Any:
    """Return the package vl_convert, which draws charts; raise if it is not installed."""
    try:
        import vl_convert as package
    except ImportError:
        raise PrcError(
            'a report needs vl-convert to draw its charts: pip install "polars-prcurve[report]"'
        ) from None
    return package


def _hash_script(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


_START_SCRIPT = """
for (const figure of document.querySelectorAll("figure")) {
  const data = figure.querySelector("script"), image = figure.querySelector("img");
  if (!data) continue;
  const spec = JSON.parse(data.textContent), moving = JSON.stringify(spec).includes('"bind":{');
  if (!moving && image.naturalWidth > figure.clientWidth) continue;
  const place = document.createElement("div");
  place.className = "live";
  figure.insertBefore(place, image);
  const options = {mode: "vega-lite", actions: false, ast: true, renderer: "svg"};
  window.vegaEmbed(place, spec, options).then(
    () => figure.classList.add("on"), () => place.remove());
}
"""

_STYLE = """
:root { color-scheme: light; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff;
  overflow-wrap: anywhere; }
main { max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.3rem; margin-top: 2.2rem; }
p, li { max-width: 44rem; }
.wide { overflow-x: auto; margin: 1rem 0; } .wide:focus-visible { outline: 2px solid #0072b2; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .25rem .7rem; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top; }
thead th { border-bottom: 2px solid #555; }
th, td { max-width: 22rem; min-width: 3rem; overflow-wrap: break-word; }
.number { text-align: right; white-space: nowrap; }
figure { margin: 1.2rem 0; } figure img { max-width: 100%; height: auto; }
figure.on img { display: none; } figcaption { font-size: .92rem; color: #333; max-width: 44rem; }
.live.live { display: block; max-width: 100%; overflow-x: auto; }
figure:not(.on) .live { height: 0; overflow: hidden; }
@media print { figure.on img { display: inline; } .live { display: none; } .wide { overflow: visible; }
  figure, tr { break-inside: avoid; } main { max-width: none; padding: 0; } }
"""
