"""Channels: which columns of a table are colour and which are panels, and the labels of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

import altair as alt
import polars as pl

from polars_prcurve.charts.parts.chart_curves import ChartCurves
from polars_prcurve.charts.parts.chart_style import (
    COLORS,
    NAME_SIZE,
    OTHERS,
    measure_text,
    mix_eta_colors,
)
from polars_prcurve.charts.parts.number_formats import build_labels, escape_name
from polars_prcurve.errors import PrcError, suggest_names
from polars_prcurve.number_words import say_eta

MAX_COLORS = 8
# Panels in which colours are groups. Beyond that, groups are panels if another field can be colour.
_MAX_PANELS = 9

# Pixels in a legend from the end of a label to the next, with its symbol.
_LEGEND_GAP = 40
# The factor above which prevalences are far apart.
_FAR_APART = 3.0


@dataclass(frozen=True)
class Channel:
    """Columns that are shown together, as colour or as panels, and the label of each curve."""

    fields: list[str]
    title: str
    labels: list[str]
    """The distinct labels in order."""
    label_by_curve: list[str]
    """One label per row of `ChartCurves.per_curve`."""
    last_field_count: int
    """Number of distinct values of the last field."""
    values: Mapping[str, str] = field(default_factory=dict)
    """The number at the head of each panel."""
    captions: Mapping[str, str] = field(default_factory=dict)
    """A line under the name of each panel."""
    colored_labels: list[str] | None = None
    """The labels that have a colour, the best first; None if all have one."""
    legend_room: int = 0
    """Pixels across for a legend, since names have no place at the lines; 0 without one."""

    @property
    def shown_labels(self) -> list[str]:
        """The labels that have a colour, and are named."""
        return self.labels if self.colored_labels is None else self.colored_labels

    @property
    def slots(self) -> dict[str, int]:
        """The number of each label that has a colour."""
        return {label: number for number, label in enumerate(self.shown_labels)}

    @property
    def slot_titles(self) -> list[str]:
        """What tooltips call the labels that have a colour."""
        return [label.replace("\n", " ") for label in self.shown_labels]

    @property
    def colors(self) -> dict[str, str]:
        """The colour of each label."""
        shown = self.shown_labels
        if self.fields == ["eta"]:
            return dict(zip(shown, mix_eta_colors(len(shown)), strict=True))
        own = {label: COLORS[number % len(COLORS)] for number, label in enumerate(shown)}
        return {label: own.get(label, OTHERS) for label in self.labels}

    @property
    def scale(self) -> alt.Scale:
        """The scale of colours, by label."""
        colors = self.colors
        return alt.Scale(domain=list(colors), range=list(colors.values()))

    def encode(self) -> alt.Color:
        """Return the encoding of colours, the same for all layers: Vega merges their legends."""
        legend = self._build_legend() if self.legend_room else None
        return alt.Color("color:N", title=self.title, scale=self.scale, legend=legend)

    def _build_legend(self) -> alt.Legend:
        """Return a legend of at most twelve whole labels, above the panels."""
        shown = self.shown_labels
        shown = shown[:: -(-len(shown) // 12)]
        longest = max(map(measure_text, shown))
        return alt.Legend(
            values=shown,
            orient="top",
            direction="horizontal",
            columns=max(1, int(self.legend_room / (longest + _LEGEND_GAP))),
            title=None,
            labelFontSize=NAME_SIZE,
            symbolType="stroke",
            symbolStrokeWidth=3,
            symbolOpacity=1,
            labelLimit=0,
        )


@dataclass(frozen=True)
class Channels:
    """The channels of a chart; None for one that shows no column."""

    color: Channel | None
    facet: Channel | None
    picked: str = ""
    """A clause on which of many lines have a colour; empty if all have one."""

    def curve_fields(self, position: int) -> dict[str, str]:
        """Return the record fields that tell colour and panel, of the curve at a row of `per_curve`."""
        channels = {"color": self.color, "facet": self.facet}
        return {name: channel.label_by_curve[position] for name, channel in channels.items() if channel}

    def repeat_in_panels(self, part: str, values: Iterable[Any]) -> Iterator[tuple[Any, dict[str, str]]]:
        """Yield each distinct pair of a value and its panel, from one value per curve.

        The panel comes as the fields of a record, with the part that the record belongs to.
        """
        panels = self.facet.label_by_curve if self.facet else repeat(None)
        for value, panel in dict.fromkeys(zip(values, panels, strict=False)):
            yield value, {"part": part} | ({} if panel is None else {"facet": panel})


def read_channels(
    curves: ChartCurves, color: str | None, facet: str | None, max_colors: int = MAX_COLORS
) -> Channels:
    """Return the channels of the columns that `color` and `facet` name, and choose those left out."""
    if color is not None and color == facet:
        raise PrcError(f"color= and facet= both name {color!r}; leave one of them out")
    named = _read_field(curves, "color", color), _read_field(curves, "facet", facet)
    colors, facets = _assign_fields(curves, *named, max_colors)
    if curves.per_curve.is_empty():
        return Channels(None, None)
    color_channel = build_channel(curves, colors, with_eta="eta" not in facets) if colors else None
    facet_channel = (
        build_channel(curves, facets, with_eta="eta" not in colors, as_panels=True) if facets else None
    )
    return Channels(color_channel, facet_channel)


def read_panels_of_one(curves: ChartCurves, color: str | None, facet: str | None) -> Channels:
    """Return channels in which each curve has a panel; prevalences have a colour only if asked for."""
    channels = read_channels(curves, color, facet)
    colors, panels = (channel.fields if channel else [] for channel in (channels.color, channels.facet))
    asked = _read_field(curves, "facet", facet)
    fields = [*asked, *(name for name in [*colors, *panels] if name not in asked)]
    if not fields:
        return channels
    own = None if colors == ["eta"] and color is None else channels.color
    return Channels(own, build_channel(curves, fields, with_eta=False, as_panels=True))


def pick_panel(
    curves: ChartCurves, channels: Channels, label: str | None
) -> tuple[ChartCurves, Channels]:
    """Return the curves of one panel, and their channels as those of a chart without panels."""
    facet, color = channels.facet, channels.color
    if facet is None:
        return curves, channels
    is_own = pl.Series([own == label for own in facet.label_by_curve], dtype=pl.Boolean)
    per_curve = curves.per_curve.filter(is_own)
    rows = curves.rows.filter(pl.col("curve").is_in(per_curve["curve"].implode()))
    if color is not None:
        kept = [one for one, own in zip(color.label_by_curve, is_own, strict=True) if own]
        color = replace(color, label_by_curve=kept)
    return replace(curves, rows=rows, per_curve=per_curve), replace(channels, color=color, facet=None)


def are_far_apart(etas: pl.Series) -> bool:
    """Return whether prevalences are so far apart that no axis shows lines of both well."""
    known = etas.filter(etas > 0).to_list()
    return bool(known) and max(known) > _FAR_APART * min(known)


def read_etas_apart(curves: ChartCurves) -> Channels:
    """Return channels in which each prevalence has panels of its own: a row of them per group."""
    groups = curves.group_fields
    if len(curves.per_curve) == curves.count_distinct(groups):  # each group at its own
        channels = read_channels(curves, None, None)
        return (
            channels if channels.facet else Channels(None, build_channel(curves, groups, with_eta=True))
        )
    channels = read_channels(curves, None, "eta")
    if channels.facet is None or len(channels.facet.fields) == 1:
        return channels
    fields = [name for name in channels.facet.fields if name != "eta"]
    panels = build_channel(curves, [*fields, "eta"], with_eta=False, as_panels=True)
    return Channels(channels.color, panels)


def rank_labels(channel: Channel, value_by_curve: Mapping[int, float], curves: ChartCurves) -> list[str]:
    """Return the labels in order of the mean value of their curves, the greatest first."""
    frame = pl.DataFrame(
        {
            "label": channel.label_by_curve,
            "value": [value_by_curve.get(curve) for curve in curves.per_curve["curve"].to_list()],
        },
        schema_overrides={"value": pl.Float64},
    )
    means = frame.group_by("label", maintain_order=True).agg(pl.col("value").mean())
    return means.sort("value", descending=True, nulls_last=True, maintain_order=True)["label"].to_list()


def sort_panels(
    channels: Channels, value_by_curve: Mapping[int, float], curves: ChartCurves
) -> Channels:
    """Return the channels with panels of one group each in order of their values, the greatest first.

    Panels of several lines come in order of name, and those of prevalences, targets and metrics in their
    own.
    """
    facet = channels.facet
    if channels.color is not None and channels.color.fields != ["eta"]:
        return channels
    if facet is None or len(facet.fields) > 1 or facet.fields[0] in ("eta", "target", "metric"):
        return channels
    return replace(channels, facet=replace(facet, labels=rank_labels(facet, value_by_curve, curves)))


def label_panels(channels: Channels, values: Mapping[int, float], curves: ChartCurves) -> Channels:
    """Return the channels with a number, such as an area, at the head of each panel of one curve."""
    facet = channels.facet
    if facet is None or channels.color is not None or facet.fields == ["eta"]:
        return channels
    numbers = curves.per_curve["curve"].to_list()
    heads = {
        label: f"{values[curve]:.2f}" if values[curve] >= 0.005 else f"{values[curve]:.1g}"
        for label, curve in zip(facet.label_by_curve, numbers, strict=True)
        if values.get(curve) is not None
    }
    return replace(channels, facet=replace(facet, values=heads))


def pick_out(
    channels: Channels, value_by_curve: Mapping[int, float], curves: ChartCurves, most: int | None = None
) -> Channels:
    """Return channels in which a few of many colours stay, and `picked`, which says which.

    Of more groups than colours the first, the middle and the last by value stay, or the first `most`.
    """
    color = channels.color
    if color is None or len(color.labels) <= MAX_COLORS or color.fields == ["eta"]:
        return channels
    order, grey = rank_labels(color, value_by_curve, curves), "grey: the other"
    if most is not None:
        picked, words = order[:most], f"Coloured: the {most} that come highest"
    else:
        picked = [order[0], order[len(order) // 2], order[-1]]
        words = "Coloured: highest, middle and lowest"
    words += f"; {grey} {len(order) - len(picked)}"
    return replace(channels, color=replace(color, colored_labels=picked), picked=words)


def _read_field(curves: ChartCurves, argument: str, name: str | None) -> list[str]:
    """Return the field of a column in a list, which is empty without a name; raise if there is none."""
    if name is None:
        return []
    for name_of_field, known in curves.field_names.items():
        if known == name:
            return [name_of_field]
    hint = (
        suggest_names(name, curves.field_names.values())
        if curves.field_names
        else "the table has no group column"
    )
    raise PrcError(f"{argument}= names {name!r}, which does not tell curves of this table apart; {hint}")


def _assign_fields(
    curves: ChartCurves, color: list[str], facet: list[str], max_colors: int
) -> tuple[list[str], list[str]]:
    """Return the fields of colour and of panels, given those that the user named for each.

    Every field that tells curves apart is in one of the two, so that no curves merge.
    """
    free = [field for field in curves.group_fields if field not in color + facet]
    for other in curves.other_fields:
        merged = curves.count_distinct(color + facet + free) < len(curves.per_curve)
        if merged and other not in color + facet and curves.count_distinct([other]) > 1:
            free.append(other)
    if color:
        return color, facet + free
    color, facets = free[:1], facet + free[1:]
    others = [field for field in free if field in curves.other_fields]
    crowded = curves.count_distinct(color) > max_colors
    sprawling = bool(others) and curves.count_distinct(facets) > _MAX_PANELS
    if color != others[:1] and (crowded or sprawling):
        color = others[:1]
        facets = facet + [field for field in free if field not in color]
    return color, facets


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
    title = " · ".join(
        "share of positives" if f == "eta" else escape_name(curves.field_names[f]) for f in fields
    )
    label_by_curve = [names[number] for number in numbers]
    return Channel(fields, title, names, label_by_curve, curves.count_distinct(fields[-1:]))
