"""Thin grey lines to compare with, such as alerts at random, each named where it is."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

from polars_prcurve.charts.parts import chart_style as style
from polars_prcurve.charts.parts.canvas import Canvas
from polars_prcurve.charts.parts.chart_words import Word, choose_way
from polars_prcurve.charts.parts.number_formats import round_digits

QUIET: dict[str, Any] = {"size": style.NOTE_SIZE, "color": style.QUIET}


def draw_line(
    canvas: Canvas, points: Iterable[tuple[float, float]], ref: str, place: dict[str, Any]
) -> None:
    """Draw one line to compare with; `place` tells its panel."""
    x, y = (axis.field for axis in canvas.axes)
    canvas.data += [
        {
            **place,
            "part": "reference",
            "ref": ref,
            "ref_order": n,
            x: round_digits(a),
            y: round_digits(b),
        }
        for n, (a, b) in enumerate(points)
    ]


def name_line(canvas: Canvas, text: str, *kinds: Iterable[dict[str, Any]]) -> None:
    """Name a line in the best place: one of each kind together, those of the first kind the slowest."""
    ways = (dict(pair for part in parts for pair in part.items()) for parts in product(*kinds))
    canvas.words.append(choose_way(Word(text=text, **QUIET, **way) for way in ways))


def draw_level(canvas: Canvas, levels: Iterable[float | None], name: str) -> None:
    """Draw level lines at these heights, one per panel and value, and name the highest."""
    x, y = canvas.axes
    drawn = [
        (level, place)
        for level, place in canvas.channels.repeat_in_panels("reference", levels)
        if level is not None and y.low <= level <= y.high
    ]
    for level, place in drawn:
        draw_line(canvas, [(x.low, level), (x.high, level)], f"{level:.6g}", place)
    if not drawn or canvas.channels.facet is not None:
        return
    level = max(level for level, _ in drawn)  # the others would strike the name out
    above: dict[str, Any] = {"dy": -3, "baseline": "bottom", "y": level}
    below: dict[str, Any] = {"dy": 3, "baseline": "top", "y": level}
    sides = [above] if y.place(level) < 0.07 else [above, below] if y.place(level) < 0.93 else [below]
    ends: list[dict[str, Any]] = [{"x": x.low, "dx": 5}, {"x": x.high, "dx": -5, "align": "right"}]
    name_line(canvas, name, [*ends, *list_middles(canvas, range(2, 9))], sides)


def list_middles(canvas: Canvas, tenths: Iterable[int]) -> list[dict[str, Any]]:
    """Return places for a name in the middle of a line, at tenths of the x axis."""
    return [{"x": canvas.spec.x.read(k / 10), "align": "center"} for k in tenths]


def draw_own_etas(canvas: Canvas, etas: Iterable[float | None], name: str) -> bool:
    """Draw rules at the prevalences of test sets, and name one alone; return whether there are any."""
    x, y = canvas.axes
    found = list(canvas.channels.repeat_in_panels("reference", etas))
    drawn = [(eta, place) for eta, place in found if x.holds(eta)]
    for eta, place in drawn:
        draw_line(canvas, [(eta, y.low), (eta, y.high)], f"{eta:.6g}", place)
    if drawn and len({eta for eta, _ in found}) == 1 and canvas.channels.facet is None:
        at = drawn[0][0]
        left: dict[str, Any] = {"dx": -6, "align": "right", "x": at}
        right: dict[str, Any] = {"dx": 6, "align": "left", "x": at}
        sides = [right] if x.place(at) < 0.25 else [left] if x.place(at) > 0.85 else [left, right]
        middles: list[dict[str, Any]] = [{"y": y.read(k / 10)} for k in (8, 7, 6, 5, 4, 3, 2)]
        name_line(canvas, name, [{"py": 3, "baseline": "top"}, *middles], sides)
    return bool(drawn)


def draw_diagonal(canvas: Canvas, name: str) -> None:
    """Draw a diagonal in each panel, and name it if there is one panel."""
    (x, _), n_curves = canvas.axes, len(canvas.curves.per_curve)
    panels = [place for _, place in canvas.channels.repeat_in_panels("reference", [0] * n_curves)]
    for place in panels:
        draw_line(canvas, [(x.low, x.low), (x.high, x.high)], "random", place)
    if panels and canvas.channels.facet is None:
        places: list[dict[str, Any]] = [
            {"x": x.read(k), "y": x.read(k), "dx": 6, "dy": 9}
            for k in (0.62, 0.5, 0.4, 0.75, 0.3, 0.85, 0.2)
        ]
        name_line(canvas, name, places)
