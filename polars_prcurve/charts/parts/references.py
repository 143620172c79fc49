"""Thin grey lines to compare with, each named where it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from polars_prcurve.charts.parts import chart_style as style
from polars_prcurve.charts.parts.chart_axes import ChartAxis
from polars_prcurve.charts.parts.chart_words import Word
from polars_prcurve.charts.parts.colors_and_panels import Channels
from polars_prcurve.charts.parts.number_formats import round_digits

QUIET: dict[str, Any] = {"size": style.NOTE_SIZE, "color": style.QUIET}


def draw_line(
    points: Iterable[tuple[float, float]],
    axes: tuple[ChartAxis, ChartAxis],
    ref: str,
    place: dict[str, Any],
) -> list[dict[str, Any]]:
    """Return the records of one line to compare with; `place` tells its panel."""
    x, y = (axis.field for axis in axes)
    return [
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


def draw_level(
    channels: Channels, levels: Iterable[float | None], axes: tuple[ChartAxis, ChartAxis], name: str
) -> tuple[list[dict[str, Any]], list[Word]]:
    """Return level lines at these heights, one per panel and value, and a name in the first panel."""
    x, y = axes
    records: list[dict[str, Any]] = []
    words: list[Word] = []
    drawn = [
        (level, place)
        for level, place in channels.repeat_in_panels("reference", levels)
        if level is not None and y.low <= level <= y.high
    ]
    highest = max((level for level, _ in drawn), default=None)  # the others would strike the name out
    for level, place in drawn:
        records += draw_line([(x.low, level), (x.high, level)], axes, f"{level:.6g}", place)
        if not words and level == highest and channels.facet is None:
            words.append(_name_level(name, level, axes))
    return records, words


def _name_level(name: str, level: float, axes: tuple[ChartAxis, ChartAxis]) -> Word:
    """Return the name of a level line: above or below it, at its left end, its right, or between."""
    x, y = axes
    above: dict[str, Any] = {"dy": -3, "baseline": "bottom"}
    below: dict[str, Any] = {"dy": 3, "baseline": "top"}
    sides = [above] if y.place(level) < 0.07 else [above, below] if y.place(level) < 0.93 else [below]
    places: list[dict[str, Any]] = [
        {"x": x.low, "dx": 5},
        {"x": x.high, "dx": -5, "align": "right"},
        *({"x": x.read(k / 10), "align": "center"} for k in range(2, 9)),
    ]
    first, *others = (
        Word(text=name, y=level, **side, **place, **QUIET) for place in places for side in sides
    )
    return replace(first, others=tuple(others))


def draw_own_etas(
    channels: Channels, etas: Iterable[float | None], axes: tuple[ChartAxis, ChartAxis], words_for: str
) -> tuple[list[dict[str, Any]], list[Word]]:
    """Return rules at the prevalences of test sets; one alone is named."""
    x, y = axes
    records: list[dict[str, Any]] = []
    words: list[Word] = []
    found = list(channels.repeat_in_panels("reference", etas))
    distinct = {eta for eta, _ in found}
    for eta, place in found:
        if eta is None or not x.low * (1 - 1e-6) <= eta <= x.high * (1 + 1e-6):
            continue
        ends = [(eta, y.low), (eta, y.high)]
        records += draw_line(ends, axes, f"{eta:.6g}", place)
        if len(distinct) == 1 and not words and channels.facet is None:
            words.append(_name_upright(words_for, eta, axes))
    return records, words


def _name_upright(name: str, at: float, axes: tuple[ChartAxis, ChartAxis]) -> Word:
    """Return the name of an upright rule: left or right of it, at its upper end or at its foot."""
    x, y = axes
    left: dict[str, Any] = {"dx": -6, "align": "right"}
    right: dict[str, Any] = {"dx": 6, "align": "left"}
    place = x.place(at)
    sides = [right] if place < 0.25 else [left] if place > 0.85 else [left, right]
    heights: list[dict[str, Any]] = [
        {"py": 3, "baseline": "top"},
        *({"y": y.read(k / 10), "baseline": "middle"} for k in (8, 7, 6, 5, 4, 3, 2)),
    ]
    first, *others = (
        Word(text=name, x=at, **side, **height, **QUIET) for height in heights for side in sides
    )
    return replace(first, others=tuple(others))


def draw_diagonal(
    channels: Channels, per_curve: Iterable[Any], axes: tuple[ChartAxis, ChartAxis], name: str
) -> tuple[list[dict[str, Any]], list[Word]]:
    """Return a diagonal in each panel, with its name if there is one panel."""
    records: list[dict[str, Any]] = []
    for place in {
        str(place): place for _, place in channels.repeat_in_panels("reference", per_curve)
    }.values():
        records += draw_line([(0.0, 0.0), (1.0, 1.0)], axes, "random", place)
    if not records or channels.facet is not None:
        return records, []
    first, *others = (
        Word(text=name, x=k, y=k, dx=6, dy=9, **QUIET) for k in (0.62, 0.5, 0.4, 0.75, 0.3, 0.85, 0.2)
    )
    return records, [replace(first, others=tuple(others))]
