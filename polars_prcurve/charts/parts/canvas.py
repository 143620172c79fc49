"""The canvas of a chart: what all charts do, from the colours of curves to the finished chart.

check_words                     are the words of the call of the right kind?
read_sweep, read_lines          (`chart_curves`) the table, checked and sorted into curves
choose_channels                 colours and panels, in order of a value
Canvas(curves, channels, spec)  lines, dots and what the pointer reads; `finish` returns the chart
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, Literal

import altair as alt
import polars as pl

from polars_prcurve.argument_kinds import Title, check_texts, check_title
from polars_prcurve.charts.parts import chart_style as style
from polars_prcurve.charts.parts.chart_assembly import (
    Chart,
    ChartText,
    add_ghosts,
    arrange_panels,
    build_chart,
)
from polars_prcurve.charts.parts.chart_axes import ChartSpec
from polars_prcurve.charts.parts.chart_curves import ChartCurves
from polars_prcurve.charts.parts.chart_words import Word, choose_way
from polars_prcurve.charts.parts.colors_and_panels import (
    Channels,
    pick_out,
    read_channels,
    read_etas_apart,
    sort_panels,
)
from polars_prcurve.charts.parts.hover import build_hover_records, list_places, thin_places
from polars_prcurve.charts.parts.number_formats import round_digits
from polars_prcurve.charts.parts.points_to_draw import build_dots, build_records, is_sparse, thin_points


def check_words(title: object, **columns: object) -> None:
    """Raise unless a chart can have this title, and `color` and `facet` are texts or None."""
    check_texts(**columns)
    check_title(title)


def choose_channels(
    curves: ChartCurves,
    color: str | None,
    facet: str | None,
    values: Mapping[int, float],
    *,
    are_apart: bool = False,
) -> Channels:
    """Return colours and panels: groups in order of a value of each curve, the greatest first.

    With `are_apart` each prevalence has panels of its own, unless the user names a column.
    """
    is_free = are_apart and color is None and facet is None
    channels = read_etas_apart(curves) if is_free else read_channels(curves, color, facet)
    return pick_out(sort_panels(channels, values, curves), values, curves)


class Canvas:
    """The curves of one chart, its axes, colours and panels, and all that is drawn so far.

    What is drawn first lies below.
    """

    def __init__(self, curves: ChartCurves, channels: Channels, spec: ChartSpec) -> None:
        self.curves, self.channels, self.spec = curves, channels, spec
        self.axes = (spec.x, spec.y)
        # One list for all layers, which tell their records by `part`: so data are in the spec once.
        self.data: list[dict[str, Any]] = []
        self.words: list[Word] = []
        self.under: list[alt.Chart] = []
        self.layers: list[alt.Chart] = []
        """Layers of its own that a chart draws below all others, and above them."""

    @property
    def width(self) -> int:
        """The width of a panel in pixels."""
        return arrange_panels(self.channels.facet, self.spec).width

    @property
    def place(self) -> tuple[alt.X, alt.Y]:
        """The encodings of both axes, for layers of its own that a chart adds."""
        size = arrange_panels(self.channels.facet, self.spec)
        return self.spec.x.build_x(size.width), self.spec.y.build_y(size.height)

    def thin(self, points: pl.DataFrame, along: pl.Expr, across: pl.Expr) -> pl.DataFrame:
        """Return a few points for each column of pixels that a panel has; see `thin_points`."""
        return thin_points(points, along, across, self.width)

    def build_records(self, points: pl.DataFrame, more: Iterable[str] = ()) -> list[dict[str, Any]]:
        """Return the points of lines as records: their place, their bands, and the columns `more`."""
        ends = [end for pair in self.spec.bands for end in pair]
        fields = dict.fromkeys([*(axis.field for axis in self.axes), *ends, *more])
        known = [field for field in fields if field in points.columns]
        return [*build_records(self.curves, self.channels, points, known)]

    def draw_lines(
        self, points: pl.DataFrame, more: Iterable[str] = (), *, ghosts: bool = False
    ) -> list[dict[str, Any]]:
        """Draw the lines, with `ghosts` all in grey behind each panel, too; return their records."""
        lines = self.build_records(points, more)
        self.data += add_ghosts(lines, self.channels, self.spec.x) if ghosts else lines
        return lines

    def draw_published(self, rows: pl.DataFrame) -> bool:
        """Draw a dot per published point, if they are few; return whether there are any."""
        dots = build_dots(self.curves, self.channels, rows, [axis.field for axis in self.axes])
        self.data += dots
        return bool(dots)

    def draw_few_places(self, lines: Iterable[dict[str, Any]]) -> None:
        """Draw a dot per point of these lines, if each line has so few that they should be seen."""
        if is_sparse(self.curves.rows):
            self.data += [row | {"part": "dot"} for row in lines if not row.get("copy")]

    def follow_pointer(
        self,
        rows: pl.DataFrame,
        strategy: Literal["forward", "backward", "nearest"],
        say: Callable[[dict[str, Any]], tuple[str, str]],
        at: pl.Series | None = None,
    ) -> None:
        """Add what the pointer reads at places all along the x axis, or at the values `at`.

        `say` returns the words for a place, and those for the row that rules there; see
        `build_hover_records`.
        """
        x, n = self.spec.x, len(self.curves.per_curve)
        # Where panels have axes of their own, the places of one are between those of another.
        free = {panel: list_places(x.pick(panel), n) for panel in x.ranges}
        places = free or (list_places(x, n) if at is None else thin_places(at, n))
        self.data += build_hover_records(
            self.curves, self.channels, rows, self.axes, places, strategy=strategy, say=say
        )

    def finish(
        self, title: Title, own_title: str, subtitle: str, note: Sequence[str], thinned: str = ""
    ) -> Chart:
        """Return the chart: `title` is the user's, and `own_title` stands where there is none."""
        text = ChartText(title, subtitle, tuple(note), own_title, thinned)
        return build_chart(
            self.spec, self.data, self.channels, text, self.words, own_layers=(self.under, self.layers)
        )


# Thin grey lines to compare with, such as alerts at random, each named where it is ----------------

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


def draw_level(
    canvas: Canvas,
    levels: Iterable[float | None],
    name: str,
    side: Literal["above", "below"] | None = None,
) -> None:
    """Draw level lines at these heights, one per panel and value, and name the highest.

    The name stands on the `side` of its line that is said, where another line is on the other one.
    """
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
    if side is not None and len(sides) > 1:
        sides = [above if side == "above" else below]
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
