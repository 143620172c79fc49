"""The layers of one panel: lines, bands and points, and what the pointer selects."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any

import altair as alt

from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts.chart_axes import ChartSpec
from polars_prcurve.view.charts.parts.colors_and_panels import Channels
from polars_prcurve.view.charts.parts.points_to_draw import pack_lines

_OF_CURVE = alt.Detail(["curve:N", "run:N"])  # a line for each stretch of each curve
# The record under the pointer, in the filter of an event, which does not know `datum`.
EVENT_DATUM = "event.item && event.item.datum"
# Places across at which the pointer reads all lines: a chart of many curves has few of them.
FEWEST_PLACES = 8
PIXELS_OF_PLACE = 5  # pixels across that a hand can distinguish
MOST_PLACES = 100  # so that each is 1%


def keep_part(layer: alt.Chart, part_name: str) -> alt.Chart:
    """Return the layer, reduced to the records of this part."""
    return layer.transform_filter(f"datum.part === '{part_name}'")


def keep_lines(layer: alt.Chart, part_name: str, fields: list[Any], *tests: str) -> alt.Chart:
    """Return a layer of lines, reduced to those of a part that pass tests, a record for each point."""
    # Panels may share lines of which one has no height in some.
    list_fields: list[Any] = [f"{field}_line" for field in fields]
    are_lists_test = " && ".join(f"isArray(datum.{name})" for name in list_fields)
    layer = keep_part(layer, part_name)
    for test in (are_lists_test, *tests):
        layer = layer.transform_filter(test)
    return layer.transform_flatten(list_fields, as_=fields)


def name_selection(records: list[dict[str, Any]], chart_kind: str) -> str:
    """Return a name for the selections of a chart, which only an equal chart has, too."""
    return f"k{zlib.crc32((chart_kind + json.dumps(records)).encode()):08x}"


def select_pointed(key: str, field: str) -> alt.Parameter:
    """Return the selection of what the pointer reads, by a field of its records."""
    read_test = f"{EVENT_DATUM} && event.item.datum.place"
    events = f"pointermove[{read_test}], pointerdown[{read_test}]"
    options: dict[str, Any] = {"fields": [field], "on": events, "empty": False, "clear": "pointerout"}
    return alt.selection_point(name=f"pointed_{key}", **options)


def mark_grey(records: list[dict[str, Any]], channels: Channels) -> list[dict[str, Any]]:
    """Return the records; those of lines that are not picked out are marked as grey."""
    if channels.color is None or channels.color.colored_labels is None:
        return list(records)
    shown_labels = set(channels.color.shown_labels)
    # Points of grey lines are small: many of them would hide the lines.
    part_by_grey = {"mark": "grey mark"}
    return [
        record
        if record.get("color", "") in shown_labels
        else record | {"grey": 1, "part": part_by_grey.get(record["part"], record["part"])}
        for record in records
    ]


@dataclass(frozen=True)
class Painter:
    """Builds the layers of lines and points of one panel."""

    spec: ChartSpec
    x: alt.X
    y: alt.Y
    channels: Channels
    key: str
    can_choose: bool  # whether a click on a name brings out its line

    @property
    def color(self) -> list[Any]:
        """The encoding of colours, in a list, which is empty if there is one colour."""
        return [] if self.spec.is_neutral else self.channels.encodings

    @property
    def look(self) -> dict[str, Any]:
        """The one colour of marks, or nothing."""
        color_name = style.INK if self.spec.is_neutral else self.channels.plain_color
        return {} if self.color else {"color": color_name}

    @property
    def cut(self) -> dict[str, Any]:
        """The look of marks that end at the ends of the axis, where points lie beyond these."""
        return {"clip": True} if self.spec.x.n_beyond else {}

    @property
    def faint(self) -> dict[str, Any]:
        """The opacity of lines: faint if a name was clicked, and it is another one."""
        if self.channels.color is None or not self.can_choose:
            return {}
        selection_field = f"chosen_{self.key}.color"
        is_other_test = f"isValid({selection_field}) && indexof({selection_field}, datum.color) < 0"
        # As a channel of its own: Altair tries many kinds of channel on `alt.when(...)`, which is slow.
        opacity_channel: Any = alt.OpacityValue
        return {"opacity": opacity_channel(1, condition={"test": is_other_test, "value": 0.12})}

    def build_base(self, *, has_hover: bool, has_names: bool, has_legend: bool) -> alt.Chart:
        """Return a layer without marks, which holds all that the pointer can select."""
        # Altair carries selections through `|` and `&` only if they are in the first layer.
        base_chart = keep_part(alt.Chart().mark_point(opacity=0, aria=False), "base")
        base_chart = base_chart.encode(self.x, self.y, *(self.color if has_legend else []))
        selections = [select_pointed(self.key, self.spec.x.field)] if has_hover else []
        if has_legend or has_names:
            name_test = f"{EVENT_DATUM} && event.item.datum.text"
            options: dict[str, Any] = {"on": f"click[{name_test}]", "toggle": "true"}
            options = {"bind": "legend"} if has_legend else options
            selections += [alt.selection_point(name=f"chosen_{self.key}", fields=["color"], **options)]
        if selections:
            base_chart = base_chart.properties(name=f"base_{self.key}").add_params(*selections)
        return base_chart

    def build_lines(self, data: list[dict[str, Any]]) -> list[alt.Chart]:
        """Return the layers from bottom to top: references, grey lines, bands, and lines."""
        parts = {row["part"] for row in data}
        fields = {name for row in data for name in row}
        line_fields = [self.spec.x.field, self.spec.y.field]
        layers, placed_chart = [], alt.Chart().encode(self.x, self.y)
        shape_look: dict[str, Any] = {"interpolate": self.spec.interpolate, "strokeJoin": "round"}
        shape_look |= {"order": False, **self.cut}  # as in the data, and not as on the axis
        others_look = shape_look | {"color": style.OTHERS, "strokeWidth": style.LINE_OF_OTHERS}
        others_layer = placed_chart.mark_line(aria=False, **others_look).encode(_OF_CURVE)
        dotted_layer = placed_chart.mark_line(aria=False, **others_look, strokeDash=style.DOTS)
        known_test, doubt_test = "datum.doubt !== 1", "datum.doubt === 1"
        others = {known_test: others_layer, doubt_test: dotted_layer.encode(_OF_CURVE)}
        if "ghost" in parts:
            # Data of its own, which have no panel, are drawn in all panels.
            ghosts = alt.InlineData(values=pack_lines([row for row in data if row["part"] == "ghost"]))
            for test, layer in others.items():
                layers.append(keep_lines(layer, "ghost", line_fields, test).properties(data=ghosts))
        if "reference" in parts:
            rule_layer = placed_chart.mark_line(**style.REFERENCE, order=False, aria=False)
            rule_layer = rule_layer.encode(alt.Detail("ref:N"))
            layers.append(keep_lines(rule_layer, "reference", line_fields))
        if "grey" in fields:
            for test, layer in others.items():
                layers.append(keep_lines(layer, "curve", line_fields, "datum.grey === 1", test))
        for band_number, (low_field, high_field) in enumerate(self.spec.bands):
            if low_field in fields and high_field in fields:
                layers += self._build_bands(low_field, high_field, 1 + 0.75 * band_number)
        has_names = self.channels.color is not None
        # Of lines with names screen readers would read all fields; the chart describes a single line.
        description_encodings = [alt.Description("color:N")] if has_names else []
        line_look = self.look | ({} if has_names else {"aria": False})
        known_look: dict[str, Any] = {"strokeWidth": self.spec.line_width}
        dotted_look: dict[str, Any] = {"strokeDash": style.DOTS, "strokeWidth": style.LINE_IN_DOUBT}
        looks = [("datum.doubt === 1 && datum.grey !== 1", dotted_look)] if "doubt" in fields else []
        for test, look in [*looks, ("datum.grey !== 1 && datum.doubt !== 1", known_look)]:
            line_layer = placed_chart.mark_line(**shape_look, **line_look, **look)
            line_layer = line_layer.encode(_OF_CURVE, *description_encodings, *self.color, **self.faint)
            layers.append(keep_lines(line_layer, "curve", line_fields, test))
        return layers

    def _build_bands(self, low_field: str, high_field: str, opacity_factor: float) -> list[alt.Chart]:
        """Return a band of two layers: where values are known, and paler where they are in doubt."""
        look_by_side_test: dict[str, dict[str, Any]] = {
            f" && datum.side === {side_number}": {"color": color}
            for side_number, color in enumerate(self.spec.side_colors)
        }
        area_look: dict[str, Any] = {
            "interpolate": self.spec.interpolate,
            "strokeWidth": 0,
            "aria": False,
        }
        place_encodings = (self.x, alt.Y(f"{low_field}:Q"), alt.Y2(high_field), _OF_CURVE)
        layers = []
        for operator, opacity in (("!==", style.BAND), ("===", style.BAND_IN_DOUBT)):
            for side_test, side_look in (look_by_side_test or {"": self.look}).items():
                area_layer = alt.Chart().mark_area(
                    opacity=opacity * opacity_factor, **area_look, **side_look
                )
                area_layer = area_layer.encode(*place_encodings, *self.color)
                band_test = f"datum.doubt {operator} 1 && datum.grey !== 1{side_test}"
                layers.append(
                    keep_lines(
                        area_layer, "curve", [self.spec.x.field, low_field, high_field], band_test
                    )
                )
        return layers

    def build_hover(self, panel_width: int, records: list[dict[str, Any]]) -> list[alt.Chart]:
        """Return unseen rules to point at, and a thin rule and dots where the pointer is."""
        (x, y), color_channel, key = (self.spec.x, self.spec.y), self.channels.color, self.key
        pointed_place = f"pointed_{key}.{x.field}"
        slot_titles = [y.title]
        if color_channel:
            slot_titles = [label.replace("\n", " ") for label in color_channel.shown_labels]
        title_by_slot = {f"s{slot}": title for slot, title in enumerate(slot_titles)}
        title_by_slot = {
            slot: title
            for slot, title in title_by_slot.items()
            if any(slot in record for record in records)
        }
        tooltip = [alt.Tooltip("place:N", title=x.title)]
        tooltip += [alt.Tooltip(f"{slot}:N", title=title) for slot, title in title_by_slot.items()]
        target_width = panel_width / max(panel_width // PIXELS_OF_PLACE, FEWEST_PLACES) + 4
        target_layer = alt.Chart().mark_rule(opacity=0, strokeWidth=target_width, aria=False, clip=True)
        here_test = f"isValid({pointed_place}) && indexof({pointed_place}, datum.{x.field}) >= 0"
        pointed_layer = keep_lines(alt.Chart(), "hover", [x.field, y.field]).transform_filter(here_test)
        thin_layer = pointed_layer.mark_rule(color=style.RULE, strokeWidth=1, aria=False).encode(self.x)
        look: dict[str, Any] = {"filled": True, "size": 60, "opacity": 1, "stroke": "white"}
        dot_layer = pointed_layer.mark_point(strokeWidth=1.5, aria=False, **look)
        color_encodings = [color_channel.encode()] if color_channel else self.color
        target_fields = [x.field, "place", *title_by_slot]
        target_layer = keep_lines(target_layer.encode(self.x, tooltip=tooltip), "read", target_fields)
        return [target_layer, thin_layer, dot_layer.encode(self.x, self.y, *color_encodings)]

    def build_marks(self, data: list[dict[str, Any]]) -> list[alt.Chart]:
        """Return layers of dots, of marked points and what they hold for, and of circles."""
        parts = {row["part"] for row in data}
        fields = {name for row in data for name in row}
        rim_look: dict[str, Any] = {"filled": True, "opacity": 1}
        point_tooltip = alt.Tooltip("said:N", title="point")
        field_by_ring = {"place": "equal at", "below": "leads below", "above": "leads above"}
        trade_tooltips = [alt.Tooltip(f"{name}:N", title=title) for name, title in field_by_ring.items()]
        x, y, base = self.x, self.y, alt.Chart()
        ring_look: dict[str, Any] = {"size": 80, "color": "white", "stroke": style.INK, "strokeWidth": 2}
        ring_layer = base.mark_point(**rim_look, **ring_look)
        span_layer = base.mark_rule(strokeWidth=1, **self.cut, **self.look)
        reach_layer = base.mark_rule(strokeWidth=2, aria=False, **self.look)
        dot_layer = base.mark_point(**rim_look, size=28, aria=False, **self.look)
        mark_layer = base.mark_point(**rim_look, size=75, stroke="white", strokeWidth=1.5, **self.look)
        cap_look: dict[str, Any] = {"size": 11, "thickness": 1.6, "aria": False, **self.cut, **self.look}
        cap_layer = base.mark_tick(orient="vertical", **cap_look)
        small_dot_layer = base.mark_point(filled=True, opacity=1, size=16, color=style.RULE)
        text = alt.Description("said:N")
        mark_layer = mark_layer.encode(x, y, text, *self.color, tooltip=point_tooltip)
        if "shape" in fields:  # of several targets
            mark_layer = mark_layer.encode(alt.Shape("shape:N", scale=None))
            mark_layer.mark.size = 100
        # Below a point there is a ring of each that it hides.
        wide_field = f"{self.spec.y.field}_wide"
        wide_layer = mark_layer.encode(alt.Size(f"{wide_field}:Q", scale=None))
        wide_layer = keep_part(wide_layer, "mark").transform_filter(f"isValid(datum.{wide_field})")
        layers = {
            "grey mark": small_dot_layer.encode(x, y, text, tooltip=point_tooltip),
            "reach": reach_layer.encode(x, y, alt.Y2("reach_end"), *self.color),
            "span": span_layer.encode(x, y, alt.X2("to"), *self.color),
            # Without ends a rule would look like a piece of a curve.
            "cap": cap_layer.encode(x, y, *self.color),
            "dot": dot_layer.encode(x, y, *self.color),
            "mark": mark_layer,
            "ring": ring_layer.encode(x, y, tooltip=trade_tooltips),
        }
        if self.spec.y.field != "precision":
            del layers["reach"]
        wide_layers = [wide_layer] if wide_field in fields else []
        return wide_layers + [keep_part(layer, part) for part, layer in layers.items() if part in parts]
