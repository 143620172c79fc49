"""Thin grey lines to compare with, each named where it is."""

from __future__ import annotations

from collections.abc import Iterable
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
            above = y.place(level) < 0.93
            words.append(
                Word(
                    text=name,
                    x=x.low,
                    y=level,
                    dx=5,
                    dy=-3 if above else 3,
                    baseline="bottom" if above else "top",
                    **QUIET,
                )
            )
    return records, words


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
            left = x.place(eta) > 0.25
            words.append(
                Word(
                    text=words_for,
                    x=eta,
                    py=3,
                    dx=-6 if left else 6,
                    baseline="top",
                    align="right" if left else "left",
                    **QUIET,
                )
            )
    return records, words


def draw_diagonal(
    channels: Channels, per_curve: Iterable[Any], axes: tuple[ChartAxis, ChartAxis], name: str
) -> tuple[list[dict[str, Any]], list[Word]]:
    """Return a diagonal in each panel, with its name if there is one panel."""
    records: list[dict[str, Any]] = []
    for place in {
        str(place): place for _, place in channels.repeat_in_panels("reference", per_curve)
    }.values():
        records += draw_line([(0.0, 0.0), (1.0, 1.0)], axes, "random", place)
    named = bool(records) and channels.facet is None
    return records, [Word(text=name, x=0.62, y=0.62, dx=6, dy=9, **QUIET)] if named else []
