"""Lines on the canvas of a chart: curves, dots, lines to compare with, and what the pointer reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, Literal

import altair as alt
import polars as pl

from polars_prcurve.core.ground.argument_checks import Title, check_texts, check_title
from polars_prcurve.view.charts.parts import chart_assembly, point_thinning
from polars_prcurve.view.charts.parts.active_theme import quiet_look
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec, GivenSize, read_size
from polars_prcurve.view.charts.parts.colors_and_panels import Channels, tell_panel
from polars_prcurve.view.charts.parts.label_formats import round_digits
from polars_prcurve.view.charts.parts.label_placement import Panel, Word, choose_way
from polars_prcurve.view.charts.parts.result_tables import ChartCurves

_MAX_DOTS = 12  # points of a line, at most, that are dots, too
_MAX_GHOST_PANELS = 24  # panels, at most, in which all other curves stand behind in grey
_MOST_RECORDS = 6_000  # what the pointer reads in one chart, at most, about


def read_words(title: object, size: tuple[Any, Any], **column_arguments: object) -> GivenSize:
    """Return width and height of a panel; raise unless these, title and names of columns are right."""
    check_texts(**column_arguments)
    check_title(title)
    return read_size(*size)


class Canvas:
    """The curves of one chart, its axes, colours and panels, and all drawn so far, the first below."""

    def __init__(
        self, curves: ChartCurves, channels: Channels, spec: ChartSpec, given: GivenSize = (None, None)
    ) -> None:
        self.curves, self.channels, self.spec = curves, channels, spec
        self.axes = (spec.x, spec.y)
        self.size = chart_assembly.arrange_panels(channels.facet, spec, given)
        # One list for all layers, which select their records by `part`: so data are in the spec once.
        self.records: list[dict[str, Any]] = []
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
        band_ends = [band_end for band_pair in self.spec.bands for band_end in band_pair]
        wanted_fields = dict.fromkeys([*(axis.field for axis in self.axes), *band_ends, *extra_fields])
        record_fields = [field for field in wanted_fields if field in points.columns]
        return point_thinning.build_records(self.channels, points, record_fields)

    def draw_curves(
        self,
        points: pl.DataFrame,
        order: pl.Expr,
        marks: Sequence[dict[str, Any]] = (),
        *,
        has_ghosts: bool = True,
    ) -> pl.DataFrame:
        """Draw lines of many points, with fewer where no eye sees it, and return what is drawn."""
        # `order` ranks points by their height; `marks` are rows whose thresholds lines run through.
        drawn_points = self.thin_curves(points, order, marks)
        self.spoken = point_thinning.describe_thinning(points, drawn_points)
        self.draw_lines(drawn_points, has_ghosts=has_ghosts)
        return drawn_points

    def thin_curves(
        self,
        points: pl.DataFrame,
        order: pl.Expr,
        marks: Sequence[dict[str, Any]],
        y_axes: Sequence[ChartAxis] = (),
    ) -> pl.DataFrame:
        """Return the points to draw on the axis of y, or on these others of the same height."""
        x, size = self.spec.x, self.size
        x_pixels = x.find_pixels(pl.col(x.field), size.width)
        points = point_thinning.find_marks(points, marks)
        points = point_thinning.thin_points(points, x_pixels, order, size.width)
        points = point_thinning.split_by_doubt(points, self.spec.interpolate)
        fields = [(axis, axis.field) for axis in y_axes or [self.spec.y]]
        fields += [(self.spec.y, end) for band in self.spec.bands for end in band]
        heights = [axis.find_pixels(pl.col(field), size.height) for axis, field in fields]
        return point_thinning.drop_hidden_points(points, x_pixels, heights, self.spec.interpolate)

    def draw_lines(
        self, points: pl.DataFrame, extra_fields: Iterable[str] = (), *, has_ghosts: bool = False
    ) -> list[dict[str, Any]]:
        """Draw the lines, with `ghosts` all in grey behind each panel, too; return their records."""
        line_records, x_axis, facet_channel = (
            self.build_records(points, extra_fields),
            self.spec.x,
            self.channels.facet,
        )
        self.records += line_records
        # Only where each panel has one curve, and there are not too many panels.
        has_one_curve_each = has_ghosts and self.channels.color is None
        if facet_channel and has_one_curve_each and 2 < len(facet_channel.labels) <= _MAX_GHOST_PANELS:
            drawn_pixel_columns = set()
            for record in line_records:  # ghosts need few points
                pixel_column = (
                    record.get("curve"),
                    round(x_axis.place(record.get(x_axis.field, x_axis.low)) * 60),
                )
                if not record.get("copy") and pixel_column not in drawn_pixel_columns:
                    drawn_pixel_columns.add(pixel_column)
                    ghost_fields = ("curve", x_axis.field, self.spec.y.field)
                    ghost = {name: record[name] for name in ghost_fields if name in record}
                    self.records.append({"part": "ghost", **ghost})
        # Unseen records stand at both ends of the range that a panel has of its own.
        y_axis = self.spec.y
        self.records += [
            {
                "part": "base",
                "facet": panel_label,
                x_axis.field: round_digits(x_axis.high),
                y_axis.field: axis_end,
            }
            for panel_label, axis_ends in y_axis.ranges.items()
            for axis_end in map(round_digits, axis_ends)
        ]
        return line_records

    def draw_published(self, points: pl.DataFrame) -> bool:
        """Draw a dot per published point, if they are few; return whether there are any."""
        dot_records = point_thinning.build_dots(
            self.channels, points, [axis.field for axis in self.axes]
        )
        self.records += dot_records
        return bool(dot_records)

    def draw_few_places(self, line_records: Iterable[dict[str, Any]]) -> None:
        """Draw a dot per point of these lines, if each line has so few that they should be seen."""
        if self.curves.points.select((pl.len().over("curve") <= _MAX_DOTS).all()).item():
            self.records += [
                record | {"part": "dot"} for record in line_records if not record.get("copy")
            ]

    def follow_pointer(
        self,
        points: pl.DataFrame,
        strategy: Literal["forward", "backward", "nearest"],
        describe: Callable[[dict[str, Any]], tuple[str, str]],
        x_values: pl.Series | None = None,
    ) -> None:
        """Add what the pointer reads at places all along the x axis, or at `x_values`."""
        # `describe` returns the words for a place, and those for the value of the point that rules.
        # With the strategy "forward" that is the first one at or right of a place, as in a PR curve.
        # Records are `read`, all words at a place, and `hover`, a dot on each line.
        (x_axis, y_axis), color = self.axes, self.channels.color
        x_field, y_field, places = x_axis.field, y_axis.field, self._choose_places(x_values)
        line_points = points.drop_nulls([x_field, y_field]).sort(x_field, maintain_order=True)
        labels = color.shown_labels if color else [""]
        slot_of_label = {label: slot for slot, label in enumerate(labels)}
        dot_records: list[dict[str, Any]] = []
        reading_at: dict[tuple[float, str | None], dict[str, Any]] = {}
        curve_places = [*product(self.curves.curve_rows["curve"], places)]
        dtypes: dict[str, Any] = {"curve": line_points.schema["curve"], "at": pl.Float64}
        join_options: dict[str, Any] = {"left_on": "at", "right_on": x_field, "by": "curve"}
        join_options |= {"strategy": strategy, "coalesce": False, "check_sortedness": False}
        pointed_points = pl.DataFrame(curve_places, dtypes, orient="row").join_asof(
            line_points, **join_options
        )
        for point in pointed_points.drop_nulls(y_field).iter_rows(named=True):
            curve_fields = self.channels.curve_fields(point["curve"])
            curve_slot, panel_label = (
                slot_of_label.get(curve_fields.get("color", "")),
                curve_fields.get("facet"),
            )
            if curve_slot is not None:
                place_text, value_text = describe(point)
                x_value = round_digits(point["at"])
                dot_records.append(
                    {
                        "part": "hover",
                        x_field: x_value,
                        y_field: round_digits(point[y_field]),
                        **curve_fields,
                    }
                )
                reading = {"part": "read", x_field: x_value, "place": place_text}
                reading |= tell_panel(panel_label)
                reading_at.setdefault((x_value, panel_label), reading)[f"s{curve_slot}"] = value_text
        self.records += [*reading_at.values(), *dot_records]

    def _choose_places(self, x_values: pl.Series | None) -> list[float]:
        """Return the places on the x axis at which the pointer reads all lines."""
        most_places = _MOST_RECORDS // max(len(self.curves.curve_rows), 1)
        places = self.size.width // chart_assembly.PIXELS_OF_PLACE
        most_places = min(chart_assembly.MOST_PLACES, places, most_places)
        n_steps = max(chart_assembly.FEWEST_PLACES, most_places)
        if x_values is None:
            return sorted(self.spec.x.read(step / n_steps) for step in range(n_steps + 1))
        distinct_values = x_values.drop_nulls().unique().sort()
        stride = len(distinct_values) // (n_steps + 1) + 1
        return [float(x_value) for x_value in distinct_values.gather_every(stride)]

    def finish(
        self, user_title: Title, own_title: str, subtitle: str, note_sentences: Sequence[str]
    ) -> chart_assembly.Chart:
        """Return the chart: `user_title` is the user's, and `own_title` stands where there is none."""
        chart_text = chart_assembly.ChartText(
            user_title, subtitle, tuple(note_sentences), own_title, self.spoken
        )
        panel = Panel(self.spec, self.records, self.channels, self.size)
        return chart_assembly.build_chart(panel, chart_text, self.words, (self.under, self.layers))

    # Thin grey lines to compare with, such as alerts at random, each named where it is

    def draw_line(
        self, points: Iterable[tuple[float, float]], line_name: str, panel_fields: dict[str, Any]
    ) -> None:
        """Draw one line to compare with; `panel_fields` give its panel."""
        x_field, y_field = (axis.field for axis in self.axes)
        for x_value, y_value in points:
            point_fields = {
                "ref": line_name,
                x_field: round_digits(x_value),
                y_field: round_digits(y_value),
            }
            self.records.append({"part": "reference", **panel_fields, **point_fields})

    def name_line(self, text: str, *look_kinds: Iterable[dict[str, Any]]) -> None:
        """Name a line in the best place, with a look of each kind; those of the first change last."""
        looks = (
            dict(look_item for look_part in look_parts for look_item in look_part.items())
            for look_parts in product(*look_kinds)
        )
        self.words.append(choose_way(Word(text=text, **quiet_look(), **look) for look in looks))

    def draw_level(
        self,
        levels: Iterable[float | None],
        name: str,
        wanted_side: Literal["above", "below"] | None = None,
    ) -> None:
        """Draw level lines at these heights, one per panel and value, and name the highest."""
        # The name stands on the `wanted_side`, where another line is on the other one.
        x_axis, y_axis = self.axes
        levels_and_panels = self.channels.repeat_in_panels(levels)
        drawn_levels = [
            level_and_panel
            for level_and_panel in levels_and_panels
            if level_and_panel[0] is not None and y_axis.low <= level_and_panel[0] <= y_axis.high
        ]
        for level, panel_fields in drawn_levels:
            self.draw_line([(x_axis.low, level), (x_axis.high, level)], f"{level:.6g}", panel_fields)
        if not drawn_levels or self.channels.facet is not None:
            return
        level = max(level for level, _ in drawn_levels)  # the others would strike the name out
        height_share = y_axis.place(level)
        free_sides = (
            ["above"]
            if height_share < 0.07
            else ["above", "below"]
            if height_share < 0.93
            else ["below"]
        )
        look_of_side: dict[str, dict[str, Any]] = {
            "above": {"dy": -3, "baseline": "bottom", "y": level},
            "below": {"dy": 3, "baseline": "top", "y": level},
        }
        end_looks: list[dict[str, Any]] = [
            {"x": x_axis.low, "dx": 5},
            {"x": x_axis.high, "dx": -5, "align": "right"},
        ]
        free_sides = [wanted_side] if wanted_side in free_sides else free_sides
        side_looks = [look_of_side[free_side] for free_side in free_sides]
        self.name_line(name, end_looks + self.list_middles(range(2, 9)), side_looks)

    def list_middles(self, tenths: Iterable[int]) -> list[dict[str, Any]]:
        """Return places for a name in the middle of a line, at tenths of the x axis."""
        return [{"x": self.spec.x.read(tenth / 10), "align": "center"} for tenth in tenths]

    def draw_own_etas(self, etas: Iterable[float | None], name: str) -> bool:
        """Draw rules at prevalences of test sets, and name one alone; return whether any is drawn."""
        x_axis, y_axis = self.axes
        etas_and_panels = self.channels.repeat_in_panels(etas)
        drawn_etas = [(eta, panel_fields) for eta, panel_fields in etas_and_panels if x_axis.holds(eta)]
        for eta, panel_fields in drawn_etas:
            self.draw_line([(eta, y_axis.low), (eta, y_axis.high)], f"{eta:.6g}", panel_fields)
        if drawn_etas and len({eta for eta, _ in etas_and_panels}) == 1 and self.channels.facet is None:
            eta_of_name = drawn_etas[0][0]
            left_look: dict[str, Any] = {"dx": -6, "align": "right", "x": eta_of_name}
            right_look: dict[str, Any] = {"dx": 6, "align": "left", "x": eta_of_name}
            side_looks = [left_look, right_look]
            if x_axis.place(eta_of_name) < 0.25:
                side_looks = [right_look]
            elif x_axis.place(eta_of_name) > 0.85:
                side_looks = [left_look]
            middle_looks: list[dict[str, Any]] = [
                {"y": y_axis.read(tenth / 10)} for tenth in (8, 7, 6, 5, 4, 3, 2)
            ]
            self.name_line(name, [{"py": 3, "baseline": "top"}, *middle_looks], side_looks)
        return bool(drawn_etas)

    def draw_diagonal(self, name: str) -> None:
        """Draw a diagonal in each panel, and name it if there is one panel."""
        (x_axis, _), n_curves = self.axes, len(self.curves.curve_rows)
        panels_fields = [
            panel_fields for _, panel_fields in self.channels.repeat_in_panels([0] * n_curves)
        ]
        for panel_fields in panels_fields:
            self.draw_line(
                [(x_axis.low, x_axis.low), (x_axis.high, x_axis.high)], "random", panel_fields
            )
        if panels_fields and self.channels.facet is None:
            axis_shares = (0.62, 0.5, 0.4, 0.75, 0.3, 0.85, 0.2)
            name_places = (
                {"x": x_axis.read(axis_share), "y": x_axis.read(axis_share)}
                for axis_share in axis_shares
            )
            self.name_line(name, [{**name_place, "dx": 6, "dy": 9} for name_place in name_places])
