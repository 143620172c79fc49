"""Lines drawn on the panels of a chart: curves, dots, levels and rules, and what the pointer reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, Literal

import altair as alt
import polars as pl

from polars_prcurve.core.ground.argument_checks import Title, check_texts, check_title
from polars_prcurve.view.charts.parts import (
    chart_assembly,
    doubt_of_points,
    panel_layers,
    points_to_draw,
)
from polars_prcurve.view.charts.parts.active_theme import quiet_look
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec, GivenSize, read_size
from polars_prcurve.view.charts.parts.chart_curves import ChartCurves
from polars_prcurve.view.charts.parts.colors_and_panels import Channels, tell_panel
from polars_prcurve.view.charts.parts.names_and_numbers import round_digits
from polars_prcurve.view.charts.parts.panel_in_pixels import Panel, Word, choose_way
from polars_prcurve.view.words.number_words import say_share
from polars_prcurve.view.words.shown_names import start_sentence

_MAX_GHOST_PANELS = 24  # panels, at most, in which all other curves stand behind in grey
_FEW_PANELS = 12  # panels, at most, in which lines to compare with have names
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
    def axes(self) -> tuple[ChartAxis, ChartAxis]:
        return self.spec.x, self.spec.y

    @property
    def place(self) -> tuple[alt.X, alt.Y]:
        """The encodings of both axes, for layers of its own that a chart adds."""
        return self.spec.x.build_x(self.size.width), self.spec.y.build_y(self.size.height)

    def find_foot(self) -> pl.Expr:
        """Return the lower end of the y axis in the panel of each curve."""
        y, facet_channel = self.spec.y, self.channels.facet
        if facet_channel is None or not y.ranges:
            return pl.lit(y.low)
        low_by_curve = {
            curve: y.pick(panel_label).low for curve, panel_label in facet_channel.label_by_curve.items()
        }
        return pl.col("curve").replace_strict(low_by_curve, return_dtype=pl.Float64)

    def fit(self, points: pl.DataFrame) -> pl.DataFrame:
        """Return the points with values below an axis, such as 0 on a log one, on its lower end."""
        band_ends = [end for band in self.spec.bands for end in band if end in points.columns]
        points = points.with_columns(pl.col(pl.Null).cast(pl.Float64))
        return points.with_columns(
            pl.col(self.spec.x.field).clip(lower_bound=self.spec.x.low),
            pl.col(self.spec.y.field, *band_ends).clip(lower_bound=self.find_foot()),
        )

    def draw_lines(
        self,
        points: pl.DataFrame,
        order: pl.Expr,
        marks: Sequence[dict[str, Any]] = (),
        *,
        has_ghosts: bool = True,
    ) -> pl.DataFrame:
        """Draw lines, of many points with fewer where no eye sees it, and return what is drawn."""
        # `order` ranks points by their height; `marks` are rows whose thresholds lines run through.
        # With `has_ghosts` all lines are grey behind each panel, too.
        x, size, spec = self.spec.x, self.size, self.spec
        points = points if "made" in points.columns else points.with_columns(made=False)
        x_pixels = x.find_pixels(pl.col(x.field), size.width)
        drawn_points = points_to_draw.find_marks(points, marks)
        drawn_points = points_to_draw.thin_points(drawn_points, x_pixels, order, size.width)
        drawn_points = doubt_of_points.split_by_doubt(drawn_points, spec.interpolate)
        axis_by_field = {axis.field: axis for axis in spec.y_axes}
        axis_by_field |= {end: spec.y for band in spec.bands for end in band}
        heights = [axis.find_pixels(pl.col(field), size.height) for field, axis in axis_by_field.items()]
        drawn_points = points_to_draw.drop_hidden_points(
            drawn_points, x_pixels, heights, spec.interpolate
        )
        self.spoken = points_to_draw.describe_thinning(points, drawn_points)
        line_records = points_to_draw.build_records(
            self.channels, drawn_points, [x.field, *axis_by_field, "side"]
        )
        self.records += line_records
        self.records += self._build_ghosts(line_records) if has_ghosts else []
        # Unseen records stand at both ends of the range that a panel has of its own.
        self.records += [
            {"part": "base", "facet": panel_label, x.field: round_digits(x.high), spec.y.field: axis_end}
            for panel_label, axis_ends in spec.y.ranges.items()
            for axis_end in map(round_digits, axis_ends)
        ]
        return drawn_points

    def _build_ghosts(self, line_records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the points of lines that are grey behind all panels: each lies under its own there."""
        # Only where each panel has one curve, and there are not too many panels.
        facet_channel = self.channels.facet
        n_panels = len(facet_channel.labels) if facet_channel and self.channels.color is None else 0
        if not 2 < n_panels <= _MAX_GHOST_PANELS:
            return []
        fields = ("curve", "run", "doubt", *(axis.field for axis in self.axes))
        return [
            {"part": "ghost"} | {name: record[name] for name in fields if name in record}
            for record in line_records
        ]

    def draw_dots(self, points: pl.DataFrame, most: int) -> None:
        """Draw a dot per point if no curve has more than so many."""
        fields, color_channel = [axis.field for axis in self.axes], self.channels.color
        if (points["curve"].value_counts()["count"] > most).any():
            return
        self.records += [
            dot | {"part": "dot"}
            for dot in points_to_draw.build_records(self.channels, points.drop_nulls(fields), fields)
            # Those of grey lines would hide the others.
            if color_channel is None or dot["color"] in color_channel.shown_labels
        ]

    def follow_pointer(
        self,
        points: pl.DataFrame,
        strategy: Literal["forward", "backward", "nearest"],
        describe: Callable[[dict[str, Any]], tuple[str, str]],
    ) -> None:
        """Add what the pointer reads at places all along the x axis."""
        # `describe` returns the words for a place, and those for the value of the point that rules.
        # With the strategy "forward" that is the first one at or right of a place, as in a PR curve.
        # With "nearest" places are those of the points alone.
        # Records are `read`, all words at a place, and `hover`, a dot on each line.
        (x_axis, y_axis), color = self.axes, self.channels.color
        x_field, y_field = x_axis.field, y_axis.field
        places = self._choose_places(points[x_field] if strategy == "nearest" else None)
        line_points = points.drop_nulls([x_field, y_field]).sort(x_field, maintain_order=True)
        slot_by_label = {label: slot for slot, label in enumerate(color.shown_labels if color else [""])}
        dot_records: list[dict[str, Any]] = []
        reading_at: dict[tuple[float, str | None], dict[str, Any]] = {}
        curve_places = [*product(self.curves.curve_rows["curve"], places)]
        dtypes: dict[str, Any] = {"curve": line_points.schema["curve"], "at": pl.Float64}
        join_options: dict[str, Any] = {"left_on": "at", "right_on": x_field, "by": "curve"}
        join_options |= {"strategy": strategy, "coalesce": False, "check_sortedness": False}
        place_rows = pl.DataFrame(curve_places, dtypes, orient="row")
        pointed_points = place_rows.join_asof(line_points, **join_options).drop_nulls(y_field)
        heights = self.fit(pointed_points)[y_field]
        for point, height in zip(pointed_points.iter_rows(named=True), heights, strict=True):
            curve_fields = self.channels.curve_fields(point["curve"])
            slot = slot_by_label.get(curve_fields.get("color", ""))
            panel_label = curve_fields.get("facet")
            if slot is None:  # a grey line
                continue
            place_text, value_text = describe(point)
            x_value, dot = round_digits(point["at"]), {y_field: round_digits(height), **curve_fields}
            dot_records.append({"part": "hover", x_field: x_value, **dot})
            reading = {"part": "read", x_field: x_value, "place": place_text, **tell_panel(panel_label)}
            reading_at.setdefault((x_value, panel_label), reading)[f"s{slot}"] = value_text
        self.records += [*reading_at.values(), *dot_records]

    def _choose_places(self, x_values: pl.Series | None) -> list[float]:
        """Return the places on the x axis at which the pointer reads all lines."""
        most_places = _MOST_RECORDS // max(len(self.curves.curve_rows), 1)
        places = self.size.width // panel_layers.PIXELS_OF_PLACE
        most_places = min(panel_layers.MOST_PLACES, places, most_places)
        n_steps = max(panel_layers.FEWEST_PLACES, most_places)
        if x_values is None:
            return sorted(self.spec.x.read(step / n_steps) for step in range(n_steps + 1))
        distinct_values = x_values.filter(x_values >= self.spec.x.low).unique().sort()
        stride = len(distinct_values) // (n_steps + 1) + 1
        return [float(x_value) for x_value in distinct_values.gather_every(stride)]

    def write(
        self, user_title: Title, finding: str, *, name: str, subtitle: str, note: Sequence[str]
    ) -> chart_assembly.ChartText:
        """Return the words around the chart; its title is the finding, or the name of what is drawn."""
        # Nothing is written twice: a title without a finding has where curves run.
        curves = self.curves
        if user_title or finding:
            subtitle = curves.join_etas(f"{subtitle},")
        elif subtitle.startswith(name):
            subtitle = subtitle[len(name) :].lstrip(" ,")
            subtitle = start_sentence(subtitle)
        reason = curves.open_reason if "no clear winner" in finding.lower() else ""
        if not (user_title or curves.order) and re.search(" ranges? from ", finding):
            reason = "Not tested: whether the ends of this range differ significantly"
        note = (self.channels.color_note, *note, reason, *curves.describe_sizes())
        own_title = finding or curves.join_etas(name)
        return chart_assembly.ChartText(user_title, subtitle, note, own_title, self.spoken)

    def finish(self, text: chart_assembly.ChartText) -> chart_assembly.Chart:
        """Return the chart with these words around it."""
        panel = Panel(self.spec, self.records, self.channels, self.size)
        return chart_assembly.build_chart(panel, text, self.words, (self.under, self.layers))

    def mark(self, curve_number: int, x_value: float, y_value: float, text: str, label: str) -> None:
        """Draw a point with a label, and a text for who points at it."""
        x, y = self.axes
        place = {x.field: round_digits(x_value), y.field: round_digits(y_value)}
        record = {"part": "mark", "said": text, f"{y.field}_label": label, **place}
        self.records.append(record | self.channels.curve_fields(curve_number))

    # Thin grey lines to compare with, such as alerts at random, each named where it is

    def draw_line(
        self, points: Iterable[tuple[float, float]], line_name: str, panel_fields: dict[str, Any]
    ) -> None:
        """Draw one line to compare with; `panel_fields` give its panel."""
        x_field, y_field = (axis.field for axis in self.axes)
        for x_value, y_value in points:
            place = {x_field: round_digits(x_value), y_field: round_digits(y_value)}
            self.records.append({"part": "reference", **panel_fields, "ref": line_name, **place})

    def name_line(self, text: str, *look_kinds: Iterable[dict[str, Any]]) -> None:
        """Name a line in the best place, with a look of each kind; those of the first change last."""
        looks = (
            {name: value for look in parts for name, value in look.items()}
            for parts in product(*look_kinds)
        )
        self.words.append(choose_way(Word(text=text, **quiet_look(), **look) for look in looks))

    def draw_level(
        self,
        levels: Iterable[float | None],
        name: str,
        wanted_side: Literal["above", "below"] | None = None,
        *,
        is_right: bool = False,
        is_in_panels: bool = False,
    ) -> None:
        """Draw level lines at these heights, one per panel and value, and name the highest."""
        # The name stands on the `wanted_side`, where another line is on the other one, and at the left
        # end rather than at the right one. With `is_in_panels` it is in each panel, with the height.
        x_axis, y_axis = self.axes
        drawn_levels = [
            (level, panel_fields)
            for level, panel_fields in self.channels.repeat_in_panels(levels)
            if level is not None and y_axis.low <= level <= y_axis.high
        ]
        for level, panel_fields in drawn_levels:
            line_name = f"{name} {level:.6g}" if is_in_panels else f"{level:.6g}"
            self.draw_line([(x_axis.low, level), (x_axis.high, level)], line_name, panel_fields)
        n_panels = len(self.channels.facet.labels) if self.channels.facet else 1
        if is_in_panels and n_panels <= _FEW_PANELS:
            for level, panel_fields in drawn_levels:
                side = {"facet": panel_fields.get("facet"), "has_rim": True} if panel_fields else None
                self._name_level(level, f"{name} {say_share(level)}", wanted_side, is_right, side)
        elif drawn_levels and name and self.channels.facet is None:
            level = max(level for level, _ in drawn_levels)  # the others would strike the name out
            self._name_level(level, name, wanted_side, is_right)

    def _name_level(
        self,
        level: float,
        name: str,
        wanted_side: str | None,
        is_right: bool,
        panel: dict[str, Any] | None = None,
    ) -> None:
        """Name a level line, at one of its ends or between them."""
        x_axis, y_axis = self.axes
        look_by_side: dict[str, dict[str, Any]] = {
            "above": {"dy": -3, "baseline": "bottom", "y": level},
            "below": {"dy": 3, "baseline": "top", "y": level},
        }
        height = y_axis.place(level)
        side_looks = [look_by_side["above"]] if height < 0.93 else []
        side_looks += [look_by_side["below"]] if height >= 0.07 else []
        if wanted_side and look_by_side[wanted_side] in side_looks:
            other_looks = [look for look in side_looks if look != look_by_side[wanted_side]]
            side_looks = [look_by_side[wanted_side], *(other_looks if panel else [])]
        left_look: dict[str, Any] = {"x": x_axis.low, "dx": 5}
        right_look: dict[str, Any] = {"x": x_axis.high, "dx": -5, "align": "right"}
        n_steps = 80 if panel else 10
        steps = range(n_steps // 5, n_steps - n_steps // 10)
        middles = [{"x": x_axis.read(step / n_steps), "align": "center"} for step in steps]
        places = [left_look, right_look, *middles]
        places = [right_look, *middles[::-1], left_look] if is_right else places
        if panel:  # which is narrow, and where another side, or a place farther off, is better than none
            side_looks += [look | {"dy": 2.5 * look["dy"]} for look in side_looks]
            self.name_line(name, [panel], side_looks, places)
        else:
            self.name_line(name, places, side_looks)

    def draw_rules(self, x_values: Iterable[float | None], name: str) -> bool:
        """Draw upright rules, such as at prevalences of test sets; return whether any is drawn."""
        # A single one has a name.
        x_axis, y_axis = self.axes
        values_and_panels = self.channels.repeat_in_panels(x_values)
        drawn_values = [pair for pair in values_and_panels if x_axis.holds(pair[0])]
        for x_value, panel_fields in drawn_values:
            ends = [(x_value, y_axis.low), (x_value, y_axis.high)]
            self.draw_line(ends, f"{x_value:.6g}", panel_fields)
        is_one = len({x_value for x_value, _ in values_and_panels}) == 1
        if drawn_values and name and is_one and self.channels.facet is None:
            place = x_axis.place(drawn_values[0][0])
            left_look: dict[str, Any] = {"dx": -6, "align": "right", "x": drawn_values[0][0]}
            right_look: dict[str, Any] = {"dx": 6, "align": "left", "x": drawn_values[0][0]}
            sides = [right_look, left_look] if place < 0.25 else [left_look, right_look]
            sides = sides if place <= 0.85 else [left_look]
            heights: list[dict[str, Any]] = [{"y": y_axis.read(tenth / 10)} for tenth in range(8, 1, -1)]
            self.name_line(name, [{"py": 3, "baseline": "top"}, *heights], sides)
        return bool(drawn_values)

    def draw_diagonal(self, name: str, places: Sequence[float] = ()) -> None:
        """Draw a diagonal in each panel, and name it if there is one panel; one may bend at places."""
        x_axis, n_curves = self.spec.x, len(self.curves.curve_rows)
        points = [(place, place) for place in places or (x_axis.low, x_axis.high)]
        for _, panel_fields in self.channels.repeat_in_panels([0] * n_curves):
            self.draw_line(points, "random", panel_fields)
        if n_curves and name and self.channels.facet is None:
            middles = map(x_axis.read, (0.62, 0.5, 0.4, 0.75, 0.3, 0.85, 0.2))
            self.name_line(name, [{"x": middle, "y": middle, "dx": 6, "dy": 9} for middle in middles])
