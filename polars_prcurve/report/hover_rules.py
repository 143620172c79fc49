"""What the pointer reads in a drawing: unseen rules side by side, each with all values at its place.

A rule holds its words as an SVG title, which browsers show without a script. Where scripts run, a small
one shows them in a box, at once, also by touch and by the arrow keys. Words are only ever text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

_KEY = "reading "
_PIXELS = 6
"""Pixels between two places, at least: more would only make the page larger."""
READING = '<line class="reading"'

READING_SCRIPT = """
{  // names of its own, beside those of the script that draws live charts
  const box = document.createElement("div"), places = new Map();
  box.className = "reading-box";
  box.setAttribute("role", "status");
  box.hidden = true;
  document.body.append(box);
  let at = null;
  const show = place => {
    if (at) at.classList.remove("at");
    at = place;
    box.hidden = !at;
    if (!at) return;
    at.classList.add("at");
    box.replaceChildren(...places.get(at).split("\\n").map(text => {
      const line = document.createElement("div");
      line.textContent = text;
      return line;
    }));
    const rule = at.getBoundingClientRect(), middle = rule.left + rule.width / 2;
    const room = document.documentElement.clientWidth, width = box.offsetWidth;
    const fits = middle + 14 + width < room ? middle + 14 : middle - 14 - width;
    box.style.left = window.scrollX + (fits < 4 ? 4 : fits) + "px";
    box.style.top = window.scrollY + (fits < 4 ? rule.bottom + 44 : rule.top + 6) + "px";
  };
  for (const drawing of document.querySelectorAll("figure > svg")) {
    const own = [...drawing.querySelectorAll(".reading")];
    if (!own.length) continue;
    for (const place of own) {
      places.set(place, place.textContent);
      place.replaceChildren();
    }
    drawing.tabIndex = 0;
    drawing.addEventListener("pointermove", event => show(event.target.closest(".reading")));
    drawing.addEventListener("pointerdown", event => show(event.target.closest(".reading")));
    drawing.addEventListener("pointerleave", event => event.pointerType === "mouse" && show(null));
    drawing.addEventListener("blur", () => show(null));
    drawing.addEventListener("keydown", event => {
      const steps = {ArrowLeft: -1, ArrowRight: 1, Escape: 0}, step = steps[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const here = own.indexOf(at), middle = Math.floor(own.length / 2);
      const next = here < 0 ? middle : Math.min(Math.max(here + step, 0), own.length - 1);
      show(step ? own[next] : null);
    });
  }
}
"""


def keep_readings(spec: Any) -> list[str]:
    """Prepare a chart so that its drawing has a rule at each place; return the words of the rules."""
    words: list[str] = []
    for layer, width in _find_layers(spec, None):
        encoding = layer["encoding"]
        x = encoding["x"]["field"]
        titles = {channel["field"]: channel["title"] for channel in encoding.pop("tooltip")}
        spacing = 0.0
        for rows in _list_data(spec):
            spacing = max(spacing, _keep_places(rows, x, width, titles, words))
        layer["mark"] |= {"aria": True, "strokeWidth": round(spacing, 1)}
        encoding["description"] = {"field": "reading", "type": "nominal"}
    return words


def _find_layers(part: Any, width: Any) -> Iterator[tuple[dict[str, Any], float]]:
    """Yield each layer of what the pointer reads, and the width of its panel in pixels."""
    if isinstance(part, list):
        for item in part:
            yield from _find_layers(item, width)
    elif isinstance(part, dict):
        width = part.get("width", width)
        steps = part.get("transform", [])
        if any(step.get("filter") == "datum.part === 'read'" for step in steps):
            yield part, float(width)
        for name in ("layer", "spec", "vconcat", "hconcat", "concat"):
            yield from _find_layers(part.get(name), width)


def _list_data(part: Any) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of each table of a chart."""
    yield from part.get("datasets", {}).values()
    for name in ("layer", "spec", "vconcat", "hconcat", "concat"):
        inner = part.get(name, [])
        for item in inner if isinstance(inner, list) else [inner]:
            yield from _list_data(item)
    if "values" in part.get("data", {}):
        yield part["data"]["values"]


def _keep_places(
    rows: list[dict[str, Any]], x: str, width: float, titles: dict[str, str], words: list[str]
) -> float:
    """Number the rows of places that have room, add their words, drop the others; return the spacing."""
    read = [row for row in rows if row.get("part") == "read" and x in row]
    places = sorted({row[x] for row in read})
    if not places:
        return 0.0
    kept = places[:: max(1, math.ceil(_PIXELS * len(places) / width))]
    # Dots that only follow a pointer are not drawn.
    shown = [row for row in rows if row.get("part") not in ("read", "hover")]
    chosen = set(kept)
    for row in sorted(read, key=lambda row: (str(row.get("facet")), row[x])):
        if row[x] in chosen:
            shown.append(row | {"reading": f"{_KEY}{len(words)}"})
            lines = [f"{titles[name]}: {row[name]}" for name in titles if name in row]
            words.append("\n".join([*([row["facet"]] if "facet" in row else []), *lines]))
    rows[:] = shown
    return width / len(kept) + 1


def place_reading(node: ElementTree.Element, words: list[str]) -> bool:
    """Make a drawn rule of a place unseen, with its words as its title; return whether it is one."""
    label = node.attrib.get("aria-label", "")
    if not label.startswith(_KEY):
        return False
    names = ("transform", "x2", "y2", "stroke-width")
    kept = [(name, node.attrib[name]) for name in names if name in node.attrib]
    node.attrib.clear()
    node.attrib.update([("class", "reading"), *kept])
    ElementTree.SubElement(node, "title").text = words[int(label.removeprefix(_KEY))]
    return True
