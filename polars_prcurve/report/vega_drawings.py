"""Specifications of charts as SVG, drawn by vl-convert without a browser or a network."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from polars_prcurve.errors import PrcError
from polars_prcurve.visible_text import make_visible

_CLIP = re.compile('<clipPath id="(clip[0-9]+)"')
_CLIP_USE = re.compile(r'(<clipPath id="|clip-path="url\(#)(clip[0-9]+)("|\))')
_DRAWING_WIDTH = 620  # pixels of a drawing of a chart that is as wide as the page


def show_texts(spec: Any) -> Any:
    """Return the specification of a chart with all its texts made visible: others end its drawing."""
    if isinstance(spec, str):
        return make_visible(spec, keep_blanks=True)
    if isinstance(spec, list | tuple):
        return [show_texts(part) for part in spec]
    if isinstance(spec, dict):
        return {show_texts(name): show_texts(part) for name, part in spec.items()}
    return spec


def draw_svg(spec: dict[str, Any]) -> str:
    """Return the chart as SVG, without layers that only serve the pointer."""
    params = spec.get("params", [])
    drawing = _drop_unseen(spec, [param["name"] for param in params if "select" in param])
    drawing["params"] = [
        # Nobody can select on paper, so a selection is what it holds at the start.
        {"name": of["name"], "value": {k: [v] for k, v in (of.get("value") or [{}])[0].items()}}
        if "select" in of
        else of
        for of in params
    ]
    if drawing.get("width") == "container":
        drawing["width"] = _DRAWING_WIDTH
    svg = str(load_vl_convert().vegalite_to_svg(json.dumps(drawing)))
    # Clips are numbered from 0: Vega counts on from the last drawing.
    numbers = {old: f"clip{n}" for n, old in enumerate(dict.fromkeys(_CLIP.findall(svg)))}
    return _CLIP_USE.sub(lambda found: found[1] + numbers.get(found[2], found[2]) + found[3], svg)


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
    """Return whether a layer is transparent and says nothing, or is filtered by a selection."""
    if not isinstance(part, dict) or not isinstance(part.get("mark"), dict):
        return False
    filters = [str(step.get("filter", "")) for step in part.get("transform", [])]
    is_silent = part["mark"].get("opacity") == 0 and not part["mark"].get("aria")
    return is_silent or any(p in f for p in pointers for f in filters)


@cache
def build_script() -> str:
    """Return the script that draws live charts; no text in it ends a script element."""
    script = str(load_vl_convert().javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    return script.replace("</script", "<\\/script")


def load_vl_convert() -> Any:
    """Return the package vl_convert, which draws charts; raise if it is not installed."""
    try:
        import vl_convert as package
    except ImportError:
        raise PrcError(
            'a report needs vl-convert to draw its charts: pip install "vl-convert-python>=1.9"'
        ) from None
    return package
