"""Lines on the canvas of a chart: curves, dots, lines to compare with, and what the pointer reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, Literal

import altair as alt
import polars as pl

from polars_prcurve.core.ground.argument_checks import Title, check_texts, check_title
from polars_prcurve.view.charts.parts import chart_assembly, point_thinning
from polars_prcurve.view.charts.parts import chart_style as style
from polars_prcurve.view.charts.parts.chart_axes import ChartSpec
from polars_prcurve.view.charts.parts.colors_and_panels import Channels, tell_panel
from polars_prcurve.view.charts.parts.label_formats import round_digits
from polars_prcurve.view.charts.parts.label_placement import Panel, Word, choose_way
from polars_prcurve.view.charts.parts.result_tables import ChartCurves

# The look of names of lines to compare with.
QUIET: dict[str, Any] = {"size": style.NOTE_SIZE, "color": style.QUIET}
_MAX_DOTS = 12  # points of a line, at most, that are dots, too
_MAX_GHOST_PANELS = 24  # panels, at most, in which all other curves stand behind in grey
_MOST_RECORDS = 6_000  # what the pointer reads in one chart, at most, about


def check_words(title: object, **columns: object) -> None:
    """Raise unless a chart can have this title, and `color` and `facet` are texts or None."""
    check_texts(**columns)
    check_title(title)


class Canvas:
    """The curves of one chart, its axes, colours and panels, and all drawn so far, the first below."""

    def __init__(self, curves: ChartCurves, channels: Channels, spec: ChartSpec) -> None:
        self.curves, self.channels, self.spec = curves, channels, spec
        self.axes = (spec.x, spec.y)
        self.size = chart_assembly.arrange_panels(channels.facet, spec)
        # One list for all layers, which tell their records by `part`: so data are in the spec once.
        self.data: list[dict[str, Any]] = []
        self.words: list[Word] = []
        # Layers of its own that a chart draws below all others, and above them.
        self.under: list[alt.Chart] = []
        self.layers: list[alt.Chart] = []
        # A sentence for screen readers alone.
        self.spoken = ""

    @property
    def place(self) -> tuple[alt.X, alt.Y]:
        """The encodings of both axes, for layers of its own that a chart adds."""
        return self.spec.x.build_x(self.size.width), self.spec.y.build_y(self.size.height)

    def build_records(
        self, points: pl.DataFrame, extra_fields: Iterable[str] = ()
    ) -> list[dict[str, Any]]:
        """Return the points of lines as records: their place, their bands, and further columns."""
        ends = [end for pair in self.spec.bands for end in pair]
        fields = dict.fromkeys([*(axis.field for axis in self.axes), *ends, *extra_fields])
        record_fields = [field for field in fields if field in points.columns]
        return point_thinning.build_records(self.channels, points, record_fields)

    def draw_curves(
        self, points: pl.DataFrame, x_place: pl.Expr, height: pl.Expr, *, ghosts: bool = True
    ) -> pl.DataFrame:
        """Draw lines of many points, thinned to a few per column of pixels, and return what is drawn."""
        drawn_points = point_thinning.thin_points(points, x_place, height, self.size.width)
        drawn_points = point_thinning.split_by_doubt(drawn_points, self.spec.interpolate)
        self.spoken = point_thinning.describe_thinning(points, drawn_points)
        self.draw_lines(drawn_points, ghosts=ghosts)
        return drawn_points

    def draw_lines(
        self, points: pl.DataFrame, extra_fields: Iterable[str] = (), *, ghosts: bool = False
    ) -> list[dict[str, Any]]:
        """Draw the lines, with `ghosts` all in grey behind each panel, too; return their records."""
        lines, x, facet = self.build_records(points, extra_fields), self.spec.x, self.channels.facet
        self.data += lines
        # Only where each panel has one curve, and there are not too many panels.
        is_one_each = ghosts and self.channels.color is None
        if facet and is_one_each and 2 < len(facet.labels) <= _MAX_GHOST_PANELS:
            pixel_columns = set()
            for row in lines:  # ghosts need few points
                pixel_column = (row.get("curve"), round(x.place(row.get(x.field, x.low)) * 60))
                if not row.get("copy") and pixel_column not in pixel_columns:
                    pixel_columns.add(pixel_column)
                    ghost_fields = [name for name in row if name not in ("facet", "doubt", "run")]
                    self.data.append({name: row[name] for name in ghost_fields} | {"part": "ghost"})
        # Unseen records stand at both ends of the range that a panel has of its own.
        y = self.spec.y
        self.data += [
            {"part": "base", "facet": panel, x.field: round_digits(x.high), y.field: end}
            for panel, ends in y.ranges.items()
            for end in map(round_digits, ends)
        ]
        return lines

    def draw_published(self, rows: pl.DataFrame) -> bool:
        """Draw a dot per published point, if they are few; return whether there are any."""
        dots = point_thinning.build_dots(self.channels, rows, [axis.field for axis in self.axes])
        self.data += dots
        return bool(dots)

    def draw_few_places(self, lines: Iterable[dict[str, Any]]) -> None:
        """Draw a dot per point of these lines, if each line has so few that they should be seen."""
        if self.curves.rows.select((pl.len().over("curve") <= _MAX_DOTS).all()).item():
            self.data += [row | {"part": "dot"} for row in lines if not row.get("copy")]

    def follow_pointer(
        self,
        rows: pl.DataFrame,
        strategy: Literal["forward", "backward", "nearest"],
        say: Callable[[dict[str, Any]], tuple[str, str]],
        x_values: pl.Series | None = None,
    ) -> None:
        """Add what the pointer reads at places all along the x axis, or at `x_values`."""
        # `say` returns the words for a place, and those for the value of the row that rules there. With
        # the strategy "forward" that is the first row at or right of a place, as in a PR curve. Records
        # are `read`, all words at a place, and `hover`, a dot on each line.
        (x_axis, y_axis), color = self.axes, self.channels.color
        x, y, most = x_axis.field, y_axis.field, _MOST_RECORDS // max(len(self.curves.per_curve), 1)
        # About one place per five pixels, and fewer if there are many curves.
        n = max(chart_assembly.FEWEST_PLACES, min(chart_assembly.MOST_PLACES, most))
        places = sorted(x_axis.read(k / n) for k in range(n + 1))
        if x_values is not None:
            values = x_values.drop_nulls().unique().sort()
            places = [float(value) for value in values.gather_every(len(values) // (n + 1) + 1)]
        line_rows = rows.drop_nulls([x, y]).sort(x, maintain_order=True)
        slots = {label: number for number, label in enumerate(color.shown_labels)} if color else {"": 0}
        dots: list[dict[str, Any]] = []
        readings: dict[tuple[float, str | None], dict[str, Any]] = {}
        grid = [*product(self.curves.per_curve["curve"], places)]
        types: dict[str, Any] = {"curve": line_rows.schema["curve"], "at": pl.Float64}
        join_options: dict[str, Any] = {
            "left_on": "at",
            "right_on": x,
            "by": "curve",
            "strategy": strategy,
        }
        join_options |= {"coalesce": False, "check_sortedness": False}
        pointed_rows = pl.DataFrame(grid, types, orient="row").join_asof(line_rows, **join_options)
        for row in pointed_rows.drop_nulls(y).iter_rows(named=True):
            label = self.channels.curve_fields(row["curve"])
            slot, panel = slots.get(label.get("color", "")), label.get("facet")
            if slot is not None:
                place, value = say(row)
                x_value = round_digits(row["at"])
                dots.append({"part": "hover", x: x_value, y: round_digits(row[y]), **label})
                start = {"part": "read", x: x_value, "place": place, **tell_panel(panel)}
                readings.setdefault((x_value, panel), start)[f"s{slot}"] = value
        self.data += [*readings.values(), *dots]

    def finish(
        self, title: Title, own_title: str, subtitle: str, note: Sequence[str]
    ) -> chart_assembly.Chart:
        """Return the chart: `title` is the user's, and `own_title` stands where there is none."""
        text = chart_assembly.ChartText(title, subtitle, tuple(note), own_title, self.spoken)
        panel = Panel(self.spec, self.data, self.channels, self.size)
        return chart_assembly.build_chart(panel, text, self.words, (self.under, self.layers))

    # Thin grey lines to compare with, such as alerts at random, each named where it is

    def draw_line(self, points: Iterable[tuple[float, float]], ref: str, place: dict[str, Any]) -> None:
        """Draw one line to compare with; `place` tells its panel."""
        x, y = (axis.field for axis in self.axes)
        for n, (a, b) in enumerate(points):
            spot = {"ref": ref, "ref_order": n, x: round_digits(a), y: round_digits(b)}
            self.data.append({"part": "reference", **place, **spot})

    def name_line(self, text: str, *kinds: Iterable[dict[str, Any]]) -> None:
        """Name a line in the best place, with a look of each kind; those of the first change last."""
        ways = (dict(pair for part in parts for pair in part.items()) for parts in product(*kinds))
        self.words.append(choose_way(Word(text=text, **QUIET, **way) for way in ways))

    def draw_level(
        self, levels: Iterable[float | None], name: str, side: Literal["above", "below"] | None = None
    ) -> None:
        """Draw level lines at these heights, one per panel and value, and name the highest."""
        # The name stands on the `side` that is said, where another line is on the other one.
        x, y = self.axes
        levels_and_panels = self.channels.repeat_in_panels(levels)
        drawn_levels = [
            pair for pair in levels_and_panels if pair[0] is not None and y.low <= pair[0] <= y.high
        ]
        for level, place in drawn_levels:
            self.draw_line([(x.low, level), (x.high, level)], f"{level:.6g}", place)
        if not drawn_levels or self.channels.facet is not None:
            return
        level = max(level for level, _ in drawn_levels)  # the others would strike the name out
        height = y.place(level)
        free_sides = ["above"] if height < 0.07 else ["above", "below"] if height < 0.93 else ["below"]
        sides: dict[str, dict[str, Any]] = {
            "above": {"dy": -3, "baseline": "bottom", "y": level},
            "below": {"dy": 3, "baseline": "top", "y": level},
        }
        ends: list[dict[str, Any]] = [{"x": x.low, "dx": 5}, {"x": x.high, "dx": -5, "align": "right"}]
        free_sides = [side] if side in free_sides else free_sides
        looks = [sides[name_side] for name_side in free_sides]
        self.name_line(name, ends + self.list_middles(range(2, 9)), looks)

    def list_middles(self, tenths: Iterable[int]) -> list[dict[str, Any]]:
        """Return places for a name in the middle of a line, at tenths of the x axis."""
        return [{"x": self.spec.x.read(k / 10), "align": "center"} for k in tenths]

    def draw_own_etas(self, etas: Iterable[float | None], name: str) -> bool:
        """Draw rules at prevalences of test sets, and name one alone; return whether any is drawn."""
        x, y = self.axes
        etas_and_panels = self.channels.repeat_in_panels(etas)
        drawn_etas = [(eta, place) for eta, place in etas_and_panels if x.holds(eta)]
        for eta, place in drawn_etas:
            self.draw_line([(eta, y.low), (eta, y.high)], f"{eta:.6g}", place)
        if drawn_etas and len({eta for eta, _ in etas_and_panels}) == 1 and self.channels.facet is None:
            eta_of_name = drawn_etas[0][0]
            left_side: dict[str, Any] = {"dx": -6, "align": "right", "x": eta_of_name}
            right_side: dict[str, Any] = {"dx": 6, "align": "left", "x": eta_of_name}
            sides = [left_side, right_side]
            if x.place(eta_of_name) < 0.25:
                sides = [right_side]
            elif x.place(eta_of_name) > 0.85:
                sides = [left_side]
            middles: list[dict[str, Any]] = [{"y": y.read(k / 10)} for k in (8, 7, 6, 5, 4, 3, 2)]
            self.name_line(name, [{"py": 3, "baseline": "top"}, *middles], sides)
        return bool(drawn_etas)

    def draw_diagonal(self, name: str) -> None:
        """Draw a diagonal in each panel, and name it if there is one panel."""
        (x, _), n_curves = self.axes, len(self.curves.per_curve)
        panels = [place for _, place in self.channels.repeat_in_panels([0] * n_curves)]
        for place in panels:
            self.draw_line([(x.low, x.low), (x.high, x.high)], "random", place)
        if panels and self.channels.facet is None:
            shares = (0.62, 0.5, 0.4, 0.75, 0.3, 0.85, 0.2)
            places = ({"x": x.read(k), "y": x.read(k)} for k in shares)
            self.name_line(name, [{**place, "dx": 6, "dy": 9} for place in places])
