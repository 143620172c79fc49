"""One HTML page of texts, tables and charts that needs nothing from elsewhere.

text      paragraphs; a line `## ...` is a heading, lines `- ...` are a list
table     a DataFrame
chart     an Altair chart: a drawing, which also shows on paper and without scripts, and which
          becomes a live chart where scripts run and there is room
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from polars_prcurve.core.ground.argument_checks import check_texts, read_list
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.visible_names import make_visible
from polars_prcurve.view.report.html_and_svg import (
    check_page_path,
    escape,
    write_document,
    write_frame,
    write_text,
)
from polars_prcurve.view.report.page_style import PARTS_STYLE

if TYPE_CHECKING:
    import altair as alt

    Part: TypeAlias = "str | pl.DataFrame | Table | Figure | alt.TopLevelMixin"


_MANY_COLUMNS = 10
"""Columns, at most, that stand side by side on paper; of more, each value comes with its name."""
_MAX_CHART_LETTERS = 1_000_000
"""Characters of a chart in JSON, about those of the script that draws it; larger charts stay drawings,
unless they have a slider."""
_CLIP = re.compile('<clipPath id="(clip[0-9]+)"')  # where a drawing defines a clip
_CLIP_USE = re.compile(r'(<clipPath id="|clip-path="url\(#)(clip[0-9]+)("|\))')
"""Where a drawing defines or uses one: what is before its name, the name, and what is behind it."""
_DRAWING_WIDTH = 620  # pixels of a drawing of a chart that is as wide as the page
_SPEC_TAG = '<script type="application/json">'  # what a browser does not run, and the script reads
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
  window.vegaEmbed(place, spec, options).then(() => figure.classList.add("on"), () => place.remove());
}
"""
"""Turns drawings into live charts, where there is room or something to move."""


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


def check_parts_alone(**options: object) -> None:
    """Raise if an option that describes a decision is given beside `parts`."""
    for name, value in options.items():
        if value is not None:
            raise PrcError(f"leave out {name}=: parts= replaces the report's own content")


def write_parts(path: str | os.PathLike[str], parts: Iterable[Part], title: str | None) -> Path:
    """Write a page of these parts, and return its path."""
    check_page_path(path)
    check_texts(title=title)
    parts = read_list("parts=", parts, "a list of texts, DataFrames and charts")
    title = "What to expect" if title is None else title
    return write_text(path, build_page(title, parts))


def build_page(title: str, parts: Iterable[Part]) -> str:
    """Return the page as HTML; raise unless each part is a text, a table or a chart."""
    html_lines = [f"<h1>{escape(title)}</h1>"]
    for part_number, part in enumerate(parts):
        if isinstance(part, str):
            html_lines += _render_text(part)
        elif isinstance(part, pl.DataFrame | Table):
            html_lines.append(_render_table(part if isinstance(part, Table) else Table(part)))
        else:
            figure = part if isinstance(part, Figure) else Figure(part)
            if not hasattr(figure.chart, "to_dict"):
                raise PrcError(
                    "pass text, a DataFrame or an Altair chart as each of parts=; got "
                    f"{type(part).__name__}"
                )
            html_lines += _render_figure(figure, part_number)
    scripts = (
        [build_script(), _START_SCRIPT] if any(line.startswith(_SPEC_TAG) for line in html_lines) else []
    )
    return write_document(title, PARTS_STYLE, html_lines, scripts)


def _render_text(text: str) -> Iterator[str]:
    def find_prefix(line: str) -> str:
        return next(
            (line_prefix for line_prefix in ("### ", "## ", "- ") if line.startswith(line_prefix)), ""
        )

    for paragraph in text.strip().split("\n\n"):
        for line_prefix, lines_of_prefix in groupby(paragraph.splitlines(), find_prefix):
            escaped_lines = [escape(line.removeprefix(line_prefix).strip()) for line in lines_of_prefix]
            if line_prefix == "- ":
                yield "<ul>" + "".join(f"<li>{line}</li>" for line in escaped_lines) + "</ul>"
            elif line_prefix:
                heading_level = len(line_prefix) - 1
                yield "".join(f"<h{heading_level}>{line}</h{heading_level}>" for line in escaped_lines)
            else:
                yield f"<p>{' '.join(escaped_lines)}</p>"


def _render_table(captioned_table: Table) -> str:
    def show_float(value: float) -> str:
        # In four digits, and all before the point, without an exponent if it has room.
        if not 1e-9 <= abs(value) < 1e15:
            return f"{value:.4g}"
        n_decimals = 0 if abs(value) >= 1000 else 3 - math.floor(math.log10(abs(value)))
        number_text = f"{value:,.{n_decimals}f}"
        return number_text.rstrip("0").rstrip(".") if "." in number_text else number_text

    if not isinstance(captioned_table.frame, pl.DataFrame):
        raise PrcError(f"expected a DataFrame in Table(...); got {type(captioned_table.frame).__name__}")
    # Paper does not scroll, so there a value of a wide table stands beside its name.
    css_class = "own many" if captioned_table.frame.width > _MANY_COLUMNS else "own"
    return write_frame(
        captioned_table.frame, show_float, css_class=css_class, caption=captioned_table.caption
    )


def _render_figure(figure: Figure, figure_number: int) -> Iterator[str]:
    chart_spec = show_texts(figure.chart.to_dict())
    alt_text = chart_spec.get("description") or figure.caption or "Chart"
    image_url = "data:image/svg+xml;base64," + base64.b64encode(draw_svg(chart_spec).encode()).decode()
    yield f'<figure id="figure-{figure_number}">'
    yield f'<img src="{image_url}" alt="{escape(alt_text)}">'
    spec_json = json.dumps(chart_spec, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    spec_tag = _SPEC_TAG + spec_json.replace("<", "\\u003c") + "</script>"
    has_controls = any(isinstance(param.get("bind"), dict) for param in chart_spec.get("params", []))
    if len(spec_tag) <= _MAX_CHART_LETTERS or has_controls:
        yield spec_tag
    if figure.caption:
        yield f"<figcaption>{escape(figure.caption)}</figcaption>"
    yield "</figure>"


# Charts as SVG, drawn by vl-convert without a browser or a network --------------------------------


def show_texts(spec_part: Any) -> Any:
    """Return the specification of a chart with all its texts made visible: others end its drawing."""
    if isinstance(spec_part, str):
        return make_visible(spec_part, keep_blanks=True)
    if isinstance(spec_part, list | tuple):
        return [show_texts(child_part) for child_part in spec_part]
    if isinstance(spec_part, dict):
        return {show_texts(name): show_texts(child_part) for name, child_part in spec_part.items()}
    return spec_part


def draw_svg(spec: dict[str, Any]) -> str:
    """Return the chart as SVG, without layers that only serve the pointer."""
    param_specs = spec.get("params", [])
    drawing_spec = _drop_unseen(spec, [param["name"] for param in param_specs if "select" in param])
    drawing_spec["params"] = [
        # Nobody can select on paper, so a selection is what it holds at the start.
        {
            "name": param["name"],
            "value": {field: [value] for field, value in (param.get("value") or [{}])[0].items()},
        }
        if "select" in param
        else param
        for param in param_specs
    ]
    if drawing_spec.get("width") == "container":
        drawing_spec["width"] = _DRAWING_WIDTH
    svg = str(load_vl_convert().vegalite_to_svg(json.dumps(drawing_spec)))
    # Clips are numbered from 0: Vega counts on from the last drawing.
    new_name_by_clip = {
        old_name: f"clip{clip_number}"
        for clip_number, old_name in enumerate(dict.fromkeys(_CLIP.findall(svg)))
    }
    return _CLIP_USE.sub(
        lambda match: match[1] + new_name_by_clip.get(match[2], match[2]) + match[3], svg
    )


def _drop_unseen(spec_part: Any, selection_names: list[str]) -> Any:
    """Return the specification of a chart without layers that are unseen, or follow a selection."""
    if isinstance(spec_part, list):
        seen_parts = []
        for child_part in spec_part:
            if isinstance(child_part, dict) and isinstance(mark := child_part.get("mark"), dict):
                # A layer that is transparent and without data, or is filtered by a selection.
                filter_texts = [
                    str(transform.get("filter", "")) for transform in child_part.get("transform", [])
                ]
                is_filtered_by_selection = any(
                    selection_name in filter_text
                    for selection_name in selection_names
                    for filter_text in filter_texts
                )
                if is_filtered_by_selection or (mark.get("opacity") == 0 and not mark.get("aria")):
                    continue
            seen_parts.append(_drop_unseen(child_part, selection_names))
        return seen_parts
    if isinstance(spec_part, dict):
        keys_without_layers = ("data", "datasets", "params", "transform")  # of which data can be large
        return {
            key: child_part if key in keys_without_layers else _drop_unseen(child_part, selection_names)
            for key, child_part in spec_part.items()
        }
    return spec_part


@cache
def build_script() -> str:
    """Return the script that draws live charts; no text in it ends a script element."""
    script = str(load_vl_convert().javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    return script.replace("</script", "<\\/script")


def load_vl_convert() -> Any:
    """Return the package vl_convert, which draws charts; raise if it is not installed."""
    try:
        import vl_convert as vl_convert_module
    except ImportError:
        raise PrcError(
            "install vl-convert, which draws the charts of a report: "
            'pip install "vl-convert-python>=1.9"'
        ) from None
    return vl_convert_module
