"""One HTML page that is whole in itself: texts, tables and charts, and nothing from elsewhere.

    text      paragraphs; a line `## ...` is a heading, lines `- ...` are a list
    table     a DataFrame
    chart     an Altair chart: a drawing for every reader, on paper and without scripts, which becomes
              a live chart where scripts run and there is room

All text is escaped, the scripts of the page are listed by their hashes, and no other runs. A browser is
told to load nothing. Equal parts make equal bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from polars_prcurve.drafts import draft_of, in_a_folder
from polars_prcurve.errors import PrcError

if TYPE_CHECKING:
    import altair as alt

    Part: TypeAlias = "str | pl.DataFrame | Table | Figure | alt.TopLevelMixin"

__all__ = ["Figure", "Table", "page", "write"]

_LONGEST = 500
"""So many rows of a table are shown."""
_LARGEST = 250_000
"""Charts of more letters stay drawings."""
_SPEC = '<script type="application/json">'


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


def write(path: str | os.PathLike[str], text: str) -> Path:
    """Write the text to a file, which appears whole or not at all."""
    with draft_of(in_a_folder(path)) as draft:
        draft.write_bytes(text.encode())
    return Path(path)


def page(title: str, parts: Iterable[Part]) -> str:
    """The page as a string."""
    body = [line for number, part in enumerate(parts) for line in _shown(part, number)]
    scripts = [_bundle(), _START] if any(line.startswith(_SPEC) for line in body) else []
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts) or "'none'"
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style></head>",
            f"<body><main><h1>{escape(title)}</h1>",
            *body,
            "</main>",
            *(f"<script>{script}</script>" for script in scripts),
            "</body></html>\n",
        ]
    )


def _shown(part: Part, number: int) -> Iterator[str]:
    if isinstance(part, str):
        return _text(part)
    if isinstance(part, pl.DataFrame):
        return _table(Table(part))
    if isinstance(part, Table):
        return _table(part)
    figure = part if isinstance(part, Figure) else Figure(part)
    if not hasattr(figure.chart, "to_dict"):
        raise PrcError(
            f"a part of a report is text, a DataFrame or an Altair chart; got {type(part).__name__}"
        )
    return _figure(figure, number)


# Text -----------------------------------------------------------------------------------------


def _text(text: str) -> Iterator[str]:
    for block in text.strip().split("\n\n"):
        for kind, lines in groupby(block.splitlines(), _kind):
            inside = [escape(line.removeprefix(kind).strip()) for line in lines]
            if kind == "- ":
                yield "<ul>" + "".join(f"<li>{line}</li>" for line in inside) + "</ul>"
            elif kind:
                level = len(kind) - 1
                yield "".join(f"<h{level}>{line}</h{level}>" for line in inside)
            else:
                yield f"<p>{' '.join(inside)}</p>"


def _kind(line: str) -> str:
    return next((mark for mark in ("### ", "## ", "- ") if line.startswith(mark)), "")


# Tables ---------------------------------------------------------------------------------------


def _table(table: Table) -> Iterator[str]:
    frame = table.frame
    if not isinstance(frame, pl.DataFrame):
        raise PrcError(f"a table of a report is a DataFrame; got {type(frame).__name__}")
    caption = table.caption
    if frame.height > _LONGEST:
        caption = f"{caption} The first {_LONGEST} of {frame.height} rows.".strip()
    right = [dtype.is_numeric() for dtype in frame.dtypes]
    yield '<div class="wide" tabindex="0" role="region"' + _label(caption or "Table") + "><table>"
    if caption:
        yield f"<caption>{escape(caption)}</caption>"
    heads = zip(frame.columns, right, strict=True)
    yield "<thead><tr>" + "".join(_cell("th", n, r, ' scope="col"') for n, r in heads) + "</tr></thead>"
    yield "<tbody>"
    for row in frame.head(_LONGEST).iter_rows():
        cells = zip(row, right, strict=True)
        yield "<tr>" + "".join(_cell("td", _value(value), number) for value, number in cells) + "</tr>"
    yield "</tbody></table></div>"


def _cell(tag: str, text: str, number: bool, more: str = "") -> str:
    kind = ' class="number"' if number else ""
    return f"<{tag}{kind}{more}>{escape(text)}</{tag}>"


def _label(text: str) -> str:
    return f' aria-label="{escape(text)}"'


def _value(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f")
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, pl.Series | list | tuple):
        return ", ".join(map(_value, value))
    return str(value)


# Charts ---------------------------------------------------------------------------------------


def _figure(figure: Figure, number: int) -> Iterator[str]:
    spec = figure.chart.to_dict()
    svg = _drawing(spec)
    text = spec.get("description") or figure.caption or "Chart"
    source = "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
    yield f'<figure id="figure-{number}">'
    yield f'<img src="{source}" alt="{escape(text)}">'
    data = json.dumps(spec, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if len(data) <= _LARGEST or _moves(spec):
        yield _SPEC + data.replace("<", "\\u003c") + "</script>"
    if figure.caption:
        yield f"<figcaption>{escape(figure.caption)}</figcaption>"
    yield "</figure>"


def _moves(spec: dict[str, Any]) -> bool:
    """Whether there is something to operate."""
    return any("bind" in param for param in spec.get("params", []))


def _drawing(spec: dict[str, Any]) -> str:
    """As it stands, without what is only there to be pointed at or shows where that is."""
    params = spec.get("params", [])
    pointers = [param["name"] for param in params if "select" in param]
    still = _without(spec, pointers) | {"params": [p for p in params if p["name"] not in pointers]}
    return str(vl_convert().vegalite_to_svg(json.dumps(still)))


def _without(spec: Any, pointers: list[str]) -> Any:
    if isinstance(spec, list):
        return [_without(part, pointers) for part in spec if not _is_unseen(part, pointers)]
    if isinstance(spec, dict):
        kept = ("data", "datasets", "params", "transform")
        return {n: part if n in kept else _without(part, pointers) for n, part in spec.items()}
    return spec


def _is_unseen(part: Any, pointers: list[str]) -> bool:
    if not isinstance(part, dict) or not isinstance(part.get("mark"), dict):
        return False
    filters = [str(step.get("filter", "")) for step in part.get("transform", [])]
    return part["mark"].get("opacity") == 0 or any(p in f for p in pointers for f in filters)


@cache
def _bundle() -> str:
    script = str(vl_convert().javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    return script.replace("</script", "<\\/script")


def vl_convert() -> Any:
    """The package that draws charts, if it is there."""
    try:
        import vl_convert as package
    except ImportError:
        raise PrcError(
            'a report draws its charts by vl-convert: pip install "polars-prcurve[report]"'
        ) from None
    return package


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


_START = """
for (const figure of document.querySelectorAll("figure")) {
  const data = figure.querySelector("script"), image = figure.querySelector("img");
  if (!data) continue;
  const spec = JSON.parse(data.textContent), moving = JSON.stringify(spec).includes('"bind":');
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
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; }
main { max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.3rem; margin-top: 2.2rem; }
p, li { max-width: 44rem; overflow-wrap: anywhere; }
.wide { overflow-x: auto; margin: 1rem 0; } .wide:focus-visible { outline: 2px solid #0072b2; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .25rem .7rem; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top; }
thead th { border-bottom: 2px solid #555; }
td { max-width: 22rem; min-width: 3rem; overflow-wrap: break-word; }
.number { text-align: right; white-space: nowrap; }
figure { margin: 1.2rem 0; } figure img { max-width: 100%; height: auto; }
figure.on img { display: none; } figcaption { font-size: .92rem; color: #333; max-width: 44rem; }
.live.live { display: block; max-width: 100%; overflow-x: auto; }
figure:not(.on) .live { height: 0; overflow: hidden; }
@media print { figure.on img { display: inline; } .live { display: none; } .wide { overflow: visible; }
  figure, tr { break-inside: avoid; } main { max-width: none; padding: 0; } }
"""
