"""Channels: which columns of a table are colour and which are panels, and the labels of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle, repeat
from typing import Any

import altair as alt
import polars as pl

from polars_prcurve.core.ground.errors import PrcError, suggest_names
from polars_prcurve.view.charts.parts import chart_style as style
from polars_prcurve.view.charts.parts.label_formats import build_labels, escape_name
from polars_prcurve.view.charts.parts.result_tables import ChartCurves
from polars_prcurve.view.words.number_words import say_eta

MAX_COLORS = 8  # as many as `chart_style.COLORS` has
# Panels in which colours are groups. Beyond that, groups are panels if another field can be colour.
_MAX_PANELS = 9

_LEGEND_GAP = 40  # pixels in a legend from the end of a label to the next, with its symbol
_FAR_APART = 3.0  # the factor above which prevalences are far apart
_OWN_ORDER = (["eta"], ["target"], ["metric"])  # fields whose panels come in their own order


@dataclass(frozen=True)
class Channel:
    """Columns that are shown together, as colour or as panels, and the label of each curve."""

    fields: list[str]
    title: str
    labels: list[str]  # the distinct labels in order
    label_of: dict[int, str]  # of each curve, by its number, in the order of `ChartCurves.per_curve`
    last_field_count: int  # number of distinct values of the last field
    values: Mapping[str, str] = field(default_factory=dict)  # the number at the head of each panel
    captions: Mapping[str, str] = field(default_factory=dict)  # a line under the name of each panel
    colored_labels: list[str] | None = None  # those that have a colour, the best first; None if all have
    legend_room: int = 0  # pixels across for a legend, if names have no place at the lines

    @property
    def shown_labels(self) -> list[str]:
        """The labels that have a colour, and are named."""
        return self.labels if self.colored_labels is None else self.colored_labels

    @property
    def curves_of(self) -> dict[str, list[int]]:
        """The numbers of the curves of each label."""
        curves_by_label: dict[str, list[int]] = {}
        for curve, label in self.label_of.items():
            curves_by_label.setdefault(label, []).append(curve)
        return curves_by_label

    @property
    def colors(self) -> dict[str, str]:
        """The colour of each label."""
        labels = self.shown_labels
        if self.fields == ["eta"]:
            return dict(zip(labels, style.mix_eta_colors(len(labels)), strict=True))
        color_of = dict(zip(labels, cycle(style.COLORS), strict=False))
        return {label: color_of.get(label, style.OTHERS) for label in self.labels}

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
        longest_width = max(map(style.measure_text, labels))
        columns = max(1, int(self.legend_room / (longest_width + _LEGEND_GAP)))
        look: dict[str, Any] = {"orient": "top", "direction": "horizontal", "title": None}
        look |= {"labelFontSize": style.NAME_SIZE, "labelLimit": 0}
        look |= {"symbolType": "stroke", "symbolStrokeWidth": 3, "symbolOpacity": 1}
        legend = alt.Legend(values=labels, columns=columns, **look)
        return alt.Color("color:N", title=self.title, scale=self.scale, legend=legend)


@dataclass(frozen=True)
class Channels:
    """The channels of a chart; None for one that shows no column."""

    color: Channel | None
    facet: Channel | None
    color_note: str = ""  # a clause on which of many lines have a colour; empty if all have one

    def curve_fields(self, curve: int) -> dict[str, str]:
        """Return the record fields that tell colour and panel of the curve of this number."""
        channels = {"color": self.color, "facet": self.facet}
        return {name: channel.label_of[curve] for name, channel in channels.items() if channel}

    def repeat_in_panels(self, values: Iterable[Any]) -> list[tuple[Any, dict[str, str]]]:
        """Return each distinct pair of a value and its panel, from one value per curve."""
        panels = self.facet.label_of.values() if self.facet else repeat(None)
        pairs = dict.fromkeys(zip(values, panels, strict=False))
        return [(value, tell_panel(panel)) for value, panel in pairs]


def tell_panel(panel: str | None) -> dict[str, str]:
    """Return the field of a record that tells its panel; none in a chart without panels."""
    return {} if panel is None else {"facet": panel}


def choose_channels(
    curves: ChartCurves,
    color: str | None,
    facet: str | None,
    values: Mapping[int, float],
    *,
    are_apart: bool = False,
    has_heads: bool = False,
) -> Channels:
    """Return colours and panels: groups in order of a value of each curve, the greatest first."""
    # With `are_apart` each prevalence has panels of its own, unless the user names a column. With
    # `has_heads` the value, such as an area, stands at the head of each panel of one curve.
    is_free = are_apart and color is None and facet is None
    channels = read_etas_apart(curves) if is_free else read_channels(curves, color, facet)
    panels = channels.facet
    # Panels of several lines come in order of name.
    is_of_one = channels.color is None or channels.color.fields == ["eta"]
    if panels and is_of_one and panels.fields not in _OWN_ORDER:
        panels = sort_panels(panels, values)
        if has_heads and channels.color is None:
            value_of_label = {label: values.get(curve) for curve, label in panels.label_of.items()}
            heads = {
                label: f"{value:.2f}" if value >= 0.005 else f"{value:.1g}"
                for label, value in value_of_label.items()
                if value is not None
            }
            panels = replace(panels, values=heads)
    return pick_out(replace(channels, facet=panels), values)


def sort_panels(panels: Channel, values: Mapping[int, float]) -> Channel:
    """Return panels of groups in order of a value of each curve, the greatest first."""
    if len(panels.fields) > 1 or panels.fields in _OWN_ORDER:
        return panels
    return replace(panels, labels=_rank_labels(panels, values))


def read_channels(
    curves: ChartCurves, color: str | None, facet: str | None, max_colors: int = MAX_COLORS
) -> Channels:
    """Return the channels of the columns that `color` and `facet` name, and choose those left out."""
    if color is not None and color == facet:
        raise PrcError(f"color= and facet= both name {color!r}; leave one of them out")
    colors, facets = _read_field(curves, "color", color), _read_field(curves, "facet", facet)
    # Every field that tells curves apart is in one of the two, so that no curves merge.
    free_fields = [field for field in curves.group_fields if field not in colors + facets]
    for other in curves.other_fields:
        is_merged = curves.count_distinct(colors + facets + free_fields) < len(curves.per_curve)
        if is_merged and other not in colors + facets and curves.count_distinct([other]) > 1:
            free_fields.append(other)
    user_facets, panel_fields = facets, free_fields
    if not colors:
        colors, panel_fields = free_fields[:1], free_fields[1:]
    facets = user_facets + panel_fields
    free_others = [field for field in free_fields if field in curves.other_fields]
    is_crowded = curves.count_distinct(colors) > max_colors
    is_sprawling = bool(free_others) and curves.count_distinct(facets) > _MAX_PANELS
    if color is None and colors != free_others[:1] and (is_crowded or is_sprawling):
        colors = free_others[:1]
        facets = user_facets + [field for field in free_fields if field not in colors]
    if curves.per_curve.is_empty():
        return Channels(None, None)
    return Channels(
        build_channel(curves, colors, with_eta="eta" not in facets) if colors else None,
        build_channel(curves, facets, with_eta="eta" not in colors, as_panels=True) if facets else None,
    )


def read_panels_of_one(curves: ChartCurves, color: str | None, facet: str | None) -> Channels:
    """Return channels in which each curve has a panel; prevalences have a colour only if asked for."""
    channels = read_channels(curves, color, facet)
    colors, panels = (channel.fields if channel else [] for channel in (channels.color, channels.facet))
    user_fields = _read_field(curves, "facet", facet)
    fields = [*user_fields, *(name for name in [*colors, *panels] if name not in user_fields)]
    if not fields:
        return channels
    color_channel = None if colors == ["eta"] and color is None else channels.color
    return Channels(color_channel, build_channel(curves, fields, with_eta=False, as_panels=True))


def read_etas_apart(curves: ChartCurves) -> Channels:
    """Return channels in which each prevalence has panels of its own: a row of them per group."""
    groups = curves.group_fields
    if len(curves.per_curve) == curves.count_distinct(groups):  # each group at its own
        channels = read_channels(curves, None, None)
        if channels.facet:
            return channels
        return Channels(None, build_channel(curves, groups, with_eta=True))
    channels = read_channels(curves, None, "eta")
    if channels.facet is None or len(channels.facet.fields) == 1:
        return channels
    fields = [name for name in channels.facet.fields if name != "eta"]
    panels = build_channel(curves, [*fields, "eta"], with_eta=False, as_panels=True)
    return Channels(channels.color, panels)


def are_far_apart(etas: pl.Series) -> bool:
    """Return whether prevalences are so far apart that no axis shows lines of both well."""
    shares = etas.filter(etas > 0).to_list()
    return bool(shares) and max(shares) > _FAR_APART * min(shares)


def pick_out(channels: Channels, values: Mapping[int, float], most: int | None = None) -> Channels:
    """Return channels in which a few of many colours stay, and `color_note`, which says which."""
    # Of more groups than colours the first, the middle and the last by value stay, or the first `most`.
    color = channels.color
    if color is None or len(color.labels) <= MAX_COLORS or color.fields == ["eta"]:
        return channels
    ranked_labels = _rank_labels(color, values)
    picked_labels, words = ranked_labels[:most], f"Coloured: the {most} that come highest"
    if most is None:
        picked_labels = [ranked_labels[0], ranked_labels[len(ranked_labels) // 2], ranked_labels[-1]]
        words = "Coloured: highest, middle and lowest"
    words += f"; grey: the other {len(ranked_labels) - len(picked_labels)}"
    return replace(channels, color=replace(color, colored_labels=picked_labels), color_note=words)


def _rank_labels(channel: Channel, values: Mapping[int, float]) -> list[str]:
    """Return the labels in order of the mean value of their curves, the greatest first."""
    rows = [(label, values.get(curve)) for curve, label in channel.label_of.items()]
    frame = pl.DataFrame(rows, {"label": pl.String, "value": pl.Float64}, orient="row")
    means = frame.group_by("label", maintain_order=True).agg(pl.col("value").mean())
    return means.sort("value", descending=True, nulls_last=True, maintain_order=True)["label"].to_list()


def _read_field(curves: ChartCurves, argument: str, name: str | None) -> list[str]:
    """Return the field of a column in a list, which is empty without a name; raise if there is none."""
    names = curves.field_names
    fields = [field for field, column in names.items() if column == name][:1]
    if name is None or fields:
        return fields
    hint = suggest_names(name, names.values()) if names else "the table has no group column"
    raise PrcError(f"{argument}= names {name!r}, which does not tell curves of this table apart; {hint}")


def build_channel(
    curves: ChartCurves, fields: list[str], *, with_eta: bool, as_panels: bool = False
) -> Channel:
    """Return the channel of these fields; prevalences run from common to rare in panels."""
    index = curves.per_curve.select(fields).with_row_index("row")
    falling = [as_panels and field == "eta" for field in fields]
    index = index.sort(fields, descending=falling, maintain_order=True)
    index = index.with_columns(pl.struct(fields).rle_id().alias("label"))  # a join would lose null keys
    numbers = index.sort("row")["label"]
    firsts = index.unique("label", keep="first", maintain_order=True)
    names = build_labels(firsts, {field: curves.field_names.get(field, field) for field in fields})
    with_eta = with_eta and "eta" not in fields
    if with_eta and "eta" in curves.field_names and curves.count_distinct(["eta"]) > 1:
        for number, label in enumerate(names):
            etas = curves.per_curve.filter(numbers == number)["eta"].unique()
            names[number] = label + (f" ({say_eta(etas[0])})" if len(etas) == 1 else "")
    column_names = {field: escape_name(name) for field, name in curves.field_names.items()}
    column_names["eta"] = "share of positives"
    title = " · ".join(column_names[field] for field in fields)
    label_of = {curve: names[k] for curve, k in zip(curves.per_curve["curve"], numbers, strict=True)}
    return Channel(fields, title, names, label_of, curves.count_distinct(fields[-1:]))
