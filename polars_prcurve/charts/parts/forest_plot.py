"""A table of intervals: a row per comparison, with its name, its interval as a line, and its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import altair as alt

from polars_prcurve.charts.parts import chart_style as style
from polars_prcurve.charts.parts.canvas import Canvas
from polars_prcurve.charts.parts.chart_axes import ChartAxis, ChartSpec
from polars_prcurve.charts.parts.colors_and_panels import Channels
from polars_prcurve.charts.parts.curves_to_draw import ChartCurves
from polars_prcurve.charts.parts.label_placement import Word
from polars_prcurve.charts.parts.number_formats import round_digits
from polars_prcurve.number_words import format_count, say_signed

MOST_ROWS = 12
_WIDTH, _ROW = 300, 25


class IntervalRow(NamedTuple):
    """A value with its interval, and whether a test settles its sign."""

    name: str
    value: float
    low: float | None
    high: float | None
    is_settled: bool

    def say(self) -> str:
        """Return the value and its interval in points: `81 (62 to 95)`."""
        known = [x for x in (self.value, self.low, self.high) if x is not None]
        # No end reads as 0 that is not 0, or nobody could tell on which side of it the interval ends.
        is_whole = abs(self.value) >= 0.0995 and all(x == 0 or abs(x) >= 0.005 for x in known)
        said = [say_signed(100 * x, f"{{:.{0 if is_whole else 1}f}}".format) for x in known]
        return said[0] if len(said) < 3 else f"{said[0]} ({said[1]} to {said[2]})"


def build_points_axis(values: Iterable[float | None]) -> ChartAxis:
    """Return the axis of differences in points around all values and 0."""
    known = [0.0, *(value for value in values if value is not None)]
    low, high = min(known), max(known)
    room = 0.08 * (high - low) or 0.05
    return ChartAxis("difference", "Difference in points", low - room, high + room, "points")


def draw_intervals(curves: ChartCurves, rows: Sequence[IntervalRow]) -> Canvas:
    """Return the canvas of the table: settled rows first, the greatest on top, and what is left out."""
    order = sorted(rows, key=lambda row: (not row.is_settled, -abs(row.value)))
    shown, rest = order[:MOST_ROWS], order[MOST_ROWS:]
    x = build_points_axis(end for row in shown for end in row[1:4])
    n_settled = sum(row.is_settled for row in shown)
    has_open = n_settled < len(shown)
    # Rows that are not settled stand below a heading of their own.
    places = [k + (has_open and k >= n_settled) for k in range(len(shown))]
    n = len(shown) + has_open + bool(rest)
    room = round(max((style.measure_text(row.name) for row in shown), default=0)) + 14
    y = ChartAxis("row", "", n - 0.5, -0.5, "none", room=room)
    spec = ChartSpec(x, y, "linear", height=n * _ROW / _WIDTH, most_width=_WIDTH, names="none")
    canvas = Canvas(curves, Channels(None, None), spec)
    canvas.draw_line([(0.0, y.low), (0.0, y.high)], "zero", {})
    right = canvas.size.width + max((style.measure_text(row.say()) for row in shown), default=0) + 8
    for row, place in zip(shown, places, strict=True):
        look: dict[str, Any] = {"y": float(place), "color": style.INK if row.is_settled else style.QUIET}
        weight: Any = "bold" if row.is_settled else "normal"
        canvas.words.append(Word(text=row.name, px=-room, weight=weight, **look))
        canvas.words.append(Word(text=row.say(), px=round(right), align="right", **look))
        values = {x.field: row.value, "low": row.low, "high": row.high}
        record = {name: round_digits(value) for name, value in values.items() if value is not None}
        record |= {"settled": 1} if row.is_settled else {}
        canvas.data.append({"part": "interval", "row": place, "said": row.say(), **record})
    quiet: dict[str, Any] = {"px": -room, "color": style.QUIET}
    canvas.words += [Word(text="not told apart", y=float(n_settled), **quiet)] if has_open else []
    if rest:
        settled = sum(row.is_settled for row in rest)
        said = f"{format_count(settled)} of them settled and smaller than these"
        text = f"and {format_count(len(rest))} more, {said if settled else 'none settled'}"
        canvas.words.append(Word(text=text, y=n - 1.0, **quiet))
    canvas.layers += _build_layers(*canvas.place)
    return canvas


def _build_layers(x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Return the layers of intervals and points; dotted and hollow where nothing is settled."""
    layers = []
    kinds: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "===": ({"strokeWidth": 2, "color": style.INK}, {"filled": True, "color": style.INK}),
        "!==": (
            {"strokeWidth": 1.6, "strokeDash": style.DOTS, "color": style.QUIET},
            {"filled": False, "fill": "white", "color": style.QUIET},
        ),
    }
    for test, (line, point) in kinds.items():
        rule = alt.Chart().mark_rule(aria=False, **line).encode(alt.X("low:Q"), y, alt.X2("high"))
        dot = alt.Chart().mark_point(shape="circle", size=60, opacity=1, **point)
        dot = dot.encode(x, y, alt.Description("said:N"), tooltip=alt.Tooltip("said:N", title="points"))
        layers += [layer.transform_filter(f"datum.settled {test} 1") for layer in (rule, dot)]
    return [layer.transform_filter("datum.part === 'interval'") for layer in layers]
