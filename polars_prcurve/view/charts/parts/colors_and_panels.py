"""Channels: which columns of a table are colour and which are panels, and the labels of both."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

import altair as alt
import polars as pl

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import join_words
from polars_prcurve.core.ground.name_hints import suggest_names
from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts.active_theme import measure_text, read_colors, read_sizes
from polars_prcurve.view.charts.parts.chart_curves import NUMBER, ChartCurves
from polars_prcurve.view.charts.parts.names_and_numbers import build_labels, escape_name
from polars_prcurve.view.words.number_words import FEW_POSITIVES, map_etas, write_areas

MAX_COLORS = 8  # as many as `colors_and_sizes.COLORS` has
# Panels in which colours are groups. Beyond that, groups are panels if another field can be colour.
_MAX_PANELS = 9

# Lines of groups that share a panel, as many as have their names beside them; of more, each has a panel
# in which it is in colour and the others are grey.
MAX_NAMES = 6
MOST_NAMED = 3  # groups of few positives, at most, that a note names
_LEGEND_GAP = 40  # pixels in a legend from the end of a label to the next, with its symbol
_FAR_APART_RATIO = 3.0  # the factor above which prevalences are far apart
_OWN_ORDER = (["eta"], ["target"], ["metric"])  # fields whose panels come in their own order


@dataclass(frozen=True)
class Channel:
    """Columns that are shown together, as colour or as panels, and the label of each curve."""

    fields: list[str]
    title: str
    labels: list[str]  # the distinct labels in order
    label_by_curve: dict[int, str]
    """By the number of the curve, in the order of `ChartCurves.curve_rows`."""
    last_field_count: int  # number of distinct values of the last field
    # The number at the head of each panel, and the line under the name of each.
    head_by_label: Mapping[str, str] = field(default_factory=dict)
    labels_of_thin_heads: Collection[str] = ()  # whose number rests on few positives
    caption_by_label: Mapping[str, str] = field(default_factory=dict)
    colored_labels: list[str] | None = None  # those that have a colour, the best first; None if all have
    ink_label: str | None = None  # of those, one that is black since another one has its colour
    legend_room: int = 0  # pixels across for a legend, if names have no place at the lines
    legend_offset: int = 18  # pixels from the foot of a legend to the lines, on which words may stand
    # The place of the name in each label among all names of the table; see `number_names`.
    number_by_label: Mapping[str, int] = field(default_factory=dict)

    @property
    def shown_labels(self) -> list[str]:
        """The labels that have a colour, and are named."""
        return self.labels if self.colored_labels is None else self.colored_labels

    @property
    def curves_of_label(self) -> dict[str, list[int]]:
        """The numbers of the curves of each label."""
        curves_by_label: dict[str, list[int]] = {}
        for curve_number, label in self.label_by_curve.items():
            curves_by_label.setdefault(label, []).append(curve_number)
        return curves_by_label

    @property
    def colors(self) -> dict[str, str]:
        """The colour of each label."""
        labels = self.shown_labels
        if self.fields == ["eta"]:
            return dict(zip(labels, style.mix_eta_colors(len(labels)), strict=True))
        colors = {label: self.name_color(label) for label in labels}
        colors |= {} if self.ink_label is None else {self.ink_label: style.INK}
        if len(set(colors.values())) < len(labels) <= MAX_COLORS:
            # A few of more names than colours: the later one of two with one colour takes a free one.
            free_colors = [color for color in read_colors() if color not in colors.values()]
            first_by_color = {color: label for label, color in reversed(colors.items())}
            for label, color in colors.items():
                colors[label] = color if first_by_color[color] == label else free_colors.pop(0)
        return {label: colors.get(label, style.OTHERS) for label in self.labels}

    def name_color(self, label: str) -> str:
        """Return the colour that the name in a label has in all charts."""
        return read_colors()[self.number_by_label[label] % MAX_COLORS]

    @property
    def scale(self) -> alt.Scale:
        """The scale of colours, by label."""
        colors = self.colors
        return alt.Scale(domain=list(colors), range=list(colors.values()))

    def encode(self) -> alt.Color:
        """Return the encoding of colours, the same for all layers: Vega merges their legends."""
        if not self.legend_room:
            return alt.Color("color:N", title=self.title, scale=self.scale, legend=None)
        labels = self.shown_labels
        labels = labels[:: -(-len(labels) // 12)]  # at most twelve whole labels
        longest_width = max(map(measure_text, labels))
        n_columns = max(1, int(self.legend_room / (longest_width + _LEGEND_GAP)))
        look: dict[str, Any] = {"orient": "top", "direction": "horizontal", "title": None}
        look |= {"labelFontSize": read_sizes().name, "labelLimit": 0}
        look |= {"symbolType": "stroke", "symbolStrokeWidth": 3, "symbolOpacity": 1}
        look |= {"offset": self.legend_offset}
        legend = alt.Legend(values=labels, columns=n_columns, **look)
        return alt.Color("color:N", title=self.title, scale=self.scale, legend=legend)


@dataclass(frozen=True)
class Channels:
    """The channels of a chart; None for one that shows no column."""

    color: Channel | None
    facet: Channel | None
    color_note: str = ""  # a clause on which of many lines have a colour; empty if all have one
    plain_color: str = field(default_factory=lambda: read_colors()[0])  # of lines without names

    @property
    def encodings(self) -> list[alt.Color]:
        """The encoding of colours, in a list, which is empty if there is one colour."""
        if self.color:
            return [self.color.encode()]
        if self.facet is None or not self.facet.fields[0].startswith("group"):
            return []
        labels = self.facet.labels
        scale = alt.Scale(domain=labels, range=[*map(self.find_panel_color, labels)])
        return [alt.Color("facet:N", scale=scale, legend=None)]

    def find_panel_color(self, panel_label: str | None) -> str:
        """Return the colour of a line without a name: alone in its panel, that of the panel's name."""
        if panel_label is None or self.facet is None or not self.facet.fields[0].startswith("group"):
            return self.plain_color
        is_ink = panel_label == self.facet.ink_label
        return style.INK if is_ink else self.facet.name_color(panel_label)

    def split(self, curves: ChartCurves) -> dict[str, ChartCurves]:
        """Return the curves of each panel; none in a chart without panels."""
        numbers_of_label = self.facet.curves_of_label if self.facet else {}
        return {label: curves.pick(numbers) for label, numbers in numbers_of_label.items()}

    def curve_fields(self, curve_number: int) -> dict[str, str]:
        """Return the record fields with colour and panel of the curve of this number."""
        channel_by_field = {"color": self.color, "facet": self.facet}
        return {
            name: channel.label_by_curve[curve_number]
            for name, channel in channel_by_field.items()
            if channel
        }

    def repeat_in_panels(self, value_of_each_curve: Iterable[Any]) -> list[tuple[Any, dict[str, str]]]:
        """Return each distinct pair of a value and its panel, from one value per curve."""
        panel_labels = self.facet.label_by_curve.values() if self.facet else repeat(None)
        values_and_panels = dict.fromkeys(zip(value_of_each_curve, panel_labels, strict=False))
        return [(value, tell_panel(panel_label)) for value, panel_label in values_and_panels]


def tell_panel(panel_label: str | None) -> dict[str, str]:
    """Return the field of a record with its panel; none in a chart without panels."""
    return {} if panel_label is None else {"facet": panel_label}


def choose_channels(
    curves: ChartCurves,
    color_column: str | None,
    facet_column: str | None,
    value_by_curve: Mapping[int, float],
    *,
    are_apart: bool = False,
    has_heads: bool = False,
) -> Channels:
    """Return colours and panels: groups in order of a value of each curve, the greatest first."""
    # With `are_apart` each prevalence has panels of its own, unless the user names a column. With
    # `has_heads` the value, such as an area, stands at the head of each panel of one curve.
    has_no_column = are_apart and color_column is None and facet_column is None
    channels = (
        read_etas_apart(curves) if has_no_column else read_channels(curves, color_column, facet_column)
    )
    panel_channel = channels.facet
    # Panels of several lines come in order of name.
    has_one_line_each = channels.color is None or channels.color.fields == ["eta"]
    if panel_channel and has_one_line_each and panel_channel.fields not in _OWN_ORDER:
        panel_channel = sort_panels(panel_channel, value_by_curve)
        if has_heads and channels.color is None:
            head_text_by_label = {
                label: write_areas([value])[0]
                for curve, label in panel_channel.label_by_curve.items()
                if (value := value_by_curve.get(curve)) is not None
            }
            thin_labels = {panel_channel.label_by_curve[curve] for curve in curves.few_curves}
            panel_channel = replace(
                panel_channel, head_by_label=head_text_by_label, labels_of_thin_heads=thin_labels
            )
    return pick_out(replace(channels, facet=panel_channel), curves.keep_known(value_by_curve))


def sort_panels(panel_channel: Channel, value_by_curve: Mapping[int, float]) -> Channel:
    """Return panels of groups in order of a value of each curve, the greatest first."""
    if len(panel_channel.fields) > 1 or panel_channel.fields in _OWN_ORDER:
        return panel_channel
    labels = _rank_labels(panel_channel, value_by_curve)
    first_label, last_label = labels[0], labels[-1]
    has_twin = first_label != last_label and panel_channel.name_color(
        first_label
    ) == panel_channel.name_color(last_label)
    return replace(panel_channel, labels=labels, ink_label=last_label if has_twin else None)


def read_channels(curves: ChartCurves, color: str | None, facet: str | None) -> Channels:
    """Return the channels of the columns that `color` and `facet` name, and choose those left out."""
    if color is not None and color == facet:
        raise PrcError(f"leave out color= or facet=, which both name {color!r}")
    color_fields, panel_fields = _read_field(curves, "color", color), _read_field(curves, "facet", facet)
    # Every field that distinguishes curves is in one of the two, so that no curves merge.
    free_fields = [field for field in curves.group_fields if field not in color_fields + panel_fields]
    for other_field in curves.other_fields:
        is_merged = curves.count_distinct(color_fields + panel_fields + free_fields) < len(
            curves.curve_rows
        )
        if (
            is_merged
            and other_field not in color_fields + panel_fields
            and curves.count_distinct([other_field]) > 1
        ):
            free_fields.append(other_field)
    user_fields, rest_fields = panel_fields, free_fields
    if not color_fields:
        color_fields = _find_colored_field(curves, free_fields)
        rest_fields = [field for field in free_fields if field not in color_fields]
    panel_fields = user_fields + rest_fields
    other_fields = [field for field in free_fields if field in curves.other_fields]
    is_crowded = curves.count_distinct(color_fields) > MAX_NAMES
    is_sprawling = bool(other_fields) and curves.count_distinct(panel_fields) > _MAX_PANELS
    if color is None and color_fields != other_fields[:1] and (is_crowded or is_sprawling):
        color_fields = other_fields[:1]
        panel_fields = user_fields + [field for field in free_fields if field not in color_fields]
    if curves.curve_rows.is_empty():
        return Channels(None, None)
    color_channel = panel_channel = None
    if color_fields:
        color_channel = build_channel(curves, color_fields, is_eta_added="eta" not in panel_fields)
    if panel_fields:
        panel_options = {"is_eta_added": "eta" not in color_fields, "is_of_panels": True}
        panel_channel = build_channel(curves, panel_fields, **panel_options)
    return Channels(color_channel, panel_channel)


def _find_colored_field(curves: ChartCurves, free_fields: list[str]) -> list[str]:
    """Return the first field of groups, in a list; of several, the first that has not too many names."""
    # Each line of many sites and a few models would have a panel of its own, and no other beside it.
    group_fields = [field for field in free_fields if field in curves.group_fields]
    fields_of_few_names = [
        field for field in group_fields if 1 < curves.count_distinct([field]) <= MAX_NAMES
    ]
    return (fields_of_few_names or free_fields)[:1]


def read_panels_of_one(
    curves: ChartCurves, color_column: str | None, facet_column: str | None
) -> Channels:
    """Return channels in which each curve has a panel; prevalences have a colour only if requested."""
    channels = read_channels(curves, color_column, facet_column)
    color_fields, panel_fields = (
        channel.fields if channel else [] for channel in (channels.color, channels.facet)
    )
    user_fields = _read_field(curves, "facet", facet_column)
    all_fields = [
        *user_fields,
        *(field for field in [*color_fields, *panel_fields] if field not in user_fields),
    ]
    if not all_fields:
        return channels
    color_channel = None if color_fields == ["eta"] and color_column is None else channels.color
    return Channels(
        color_channel, build_channel(curves, all_fields, is_eta_added=False, is_of_panels=True)
    )


def read_etas_apart(curves: ChartCurves) -> Channels:
    """Return channels in which each prevalence has panels of its own: a row of them per group."""
    group_fields = curves.group_fields
    if len(curves.curve_rows) == curves.count_distinct(group_fields):  # each group at its own
        channels = read_channels(curves, None, None)
        if channels.facet:
            return channels
        return Channels(None, build_channel(curves, group_fields, is_eta_added=True))
    channels = read_channels(curves, None, "eta")
    if channels.facet is None or len(channels.facet.fields) == 1:
        return channels
    panel_fields = [field for field in channels.facet.fields if field != "eta"]
    panel_channel = build_channel(curves, [*panel_fields, "eta"], is_eta_added=False, is_of_panels=True)
    return Channels(channels.color, panel_channel)


def are_far_apart(etas: pl.Series) -> bool:
    """Return whether prevalences are so far apart that no axis shows lines of both well."""
    positive_etas = etas.filter(etas > 0).to_list()
    return bool(positive_etas) and max(positive_etas) > _FAR_APART_RATIO * min(positive_etas)


def pick_out(
    channels: Channels, value_by_curve: Mapping[int, float], most_colors: int | None = None
) -> Channels:
    """Return channels in which a few of many colours stay, and `color_note`, which names them."""
    # Of more groups than colours the highest, middle and lowest by value stay, or the first
    # `most_colors`. Groups without a value do not, such as those of too few positives; if none has
    # a value, all may.
    color_channel = channels.color
    if (
        color_channel is None
        or len(color_channel.labels) <= MAX_COLORS
        or color_channel.fields == ["eta"]
    ):
        return channels
    known_curves = color_channel.label_by_curve.keys() & value_by_curve.keys()
    n_labels = len(color_channel.labels)
    n_known = len({color_channel.label_by_curve[curve] for curve in known_curves}) or n_labels
    ranked_labels = _rank_labels(color_channel, value_by_curve)[:n_known]
    if most_colors:
        label_places = _pick_places(color_channel, ranked_labels, [0] * most_colors)
        is_exact = label_places == [*range(most_colors)]
        colors_clause = (
            f"the {most_colors} that come highest"
            if is_exact
            else f"{len(label_places)} with colours of their own"
        )
    else:
        wanted_places = [*dict.fromkeys([0, n_known - 1, n_known // 2])]
        label_places = _pick_places(color_channel, ranked_labels, wanted_places)
        colors_clause = f"highest, {'' if n_known // 2 in label_places else 'a '}middle and lowest"
    colors_clause += f" with {FEW_POSITIVES} positives or more" if n_known < n_labels else ""
    few_clause = _name_few(color_channel, known_curves)
    colors_clause += f"; grey lines: the other {n_labels - len(label_places)}{few_clause}"
    picked_labels = [ranked_labels[label_place] for label_place in label_places]
    colors = [color_channel.name_color(label) for label in picked_labels]
    has_twin = not most_colors and len({*colors}) < len(colors)
    return replace(
        channels,
        color=replace(
            color_channel,
            colored_labels=picked_labels,
            ink_label=picked_labels[-1] if has_twin else None,
        ),
        color_note=f"Coloured lines: {colors_clause}",
    )


def _name_few(color_channel: Channel, known_curves: Set[int]) -> str:
    """Return a clause with the names of a few groups of too few positives for a colour."""
    known_labels = {color_channel.label_by_curve[curve] for curve in known_curves}
    few_labels = [label for label in color_channel.labels if label not in known_labels]
    if not known_labels or not 0 < len(few_labels) <= MOST_NAMED:
        return ""
    return f" (fewer than {FEW_POSITIVES}: {join_words(few_labels)})"


def _pick_places(
    color_channel: Channel, ranked_labels: Sequence[str], wanted_places: Sequence[int]
) -> list[int]:
    """Return places of labels with different colours, the nearest to those that are wanted."""
    # Names keep their colours. The lowest one, which titles name, stays beside one of its colour, too.
    last_place = len(ranked_labels) - 1
    place_by_color: dict[Any, int] = {}
    for wanted_place in wanted_places:
        for near_place in sorted(
            range(last_place + 1), key=lambda other_place: abs(other_place - wanted_place)
        ):
            color: Any = color_channel.name_color(ranked_labels[near_place])
            is_taken = near_place in place_by_color.values()
            if color in place_by_color and wanted_place == last_place and not is_taken:
                color = "lowest"
            if color not in place_by_color:
                place_by_color[color] = near_place
                break
    return sorted(place_by_color.values())


def _rank_labels(channel: Channel, value_by_curve: Mapping[int, float]) -> list[str]:
    """Return the labels in order of the mean value of their curves, the greatest first."""
    labels_and_values = [
        (label, value_by_curve.get(curve_number))
        for curve_number, label in channel.label_by_curve.items()
    ]
    value_frame = pl.DataFrame(
        labels_and_values, {"label": pl.String, "value": pl.Float64}, orient="row"
    )
    mean_frame = value_frame.group_by("label", maintain_order=True).agg(pl.col("value").mean())
    return mean_frame.sort("value", descending=True, nulls_last=True, maintain_order=True)[
        "label"
    ].to_list()


def _read_field(curves: ChartCurves, argument: str, user_column: str | None) -> list[str]:
    """Return the field of a column in a list, which is empty without a name; raise if there is none."""
    column_by_field = curves.column_by_field
    field_in_list = [field for field, column in column_by_field.items() if column == user_column][:1]
    if user_column is None or field_in_list:
        return field_in_list
    known_columns = column_by_field.values()
    hint_text = (
        suggest_names(user_column, known_columns) if known_columns else "the table has no group column"
    )
    raise PrcError(
        f"{argument}= names {user_column!r}, which does not distinguish the curves of this table; "
        f"{hint_text}"
    )


def build_channel(
    curves: ChartCurves, fields: list[str], *, is_eta_added: bool, is_of_panels: bool = False
) -> Channel:
    """Return the channel of these fields; prevalences run from common to rare in panels."""
    key_frame = curves.curve_rows.select(fields).with_row_index("row")
    is_descending = [is_of_panels and field == "eta" for field in fields]
    key_frame = key_frame.sort(fields, descending=is_descending, maintain_order=True)
    # A join would lose null keys.
    key_frame = key_frame.with_columns(pl.struct(fields).rle_id().alias("label"))
    label_numbers = key_frame.sort("row")["label"]
    first_key_frame = key_frame.unique("label", keep="first", maintain_order=True)
    labels = build_labels(
        first_key_frame, {field: curves.column_by_field.get(field, field) for field in fields}
    )
    is_eta_added = is_eta_added and "eta" not in fields
    if is_eta_added and "eta" in curves.column_by_field and curves.count_distinct(["eta"]) > 1:
        text_of_eta = map_etas(curves.curve_rows["eta"])
        for label_number in range(len(labels)):
            etas = curves.curve_rows.filter(label_numbers == label_number)["eta"].unique()
            labels[label_number] += f" ({text_of_eta[etas[0]]} positive)" if len(etas) == 1 else ""
    shown_column_by_field = {
        field: escape_name(column) for field, column in curves.column_by_field.items()
    }
    shown_column_by_field["eta"] = "prevalence"
    title = " · ".join(shown_column_by_field[field] for field in fields)
    label_by_curve = {
        curve_number: labels[label_number]
        for curve_number, label_number in zip(curves.curve_rows["curve"], label_numbers, strict=True)
    }
    # Lines of groups have the colour of the first one, in a panel of their own, too.
    color_numbers = curves.curve_rows.get_column(f"{NUMBER}{fields[0]}", default=label_numbers)
    number_by_label = {
        label_by_curve[curve_number]: color_number
        for curve_number, color_number in zip(curves.curve_rows["curve"], color_numbers, strict=True)
    }
    return Channel(
        fields,
        title,
        labels,
        label_by_curve,
        curves.count_distinct(fields[-1:]),
        number_by_label=number_by_label,
    )
