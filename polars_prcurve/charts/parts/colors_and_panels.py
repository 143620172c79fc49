"""Channels: which columns of a table are colour and which are panels, and the labels of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import polars as pl

from polars_prcurve.charts.parts.chart_curves import ChartCurves
from polars_prcurve.charts.parts.number_formats import (
    build_labels,
    escape_name,
    format_class_sizes,
    format_one_in,
    format_share,
)
from polars_prcurve.errors import PrcError, suggest_names

MAX_COLORS = 8
_MAX_PANELS = 9
"""Panels in which colours are groups. Beyond that, groups are panels if another field can be colour."""


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
    colored_labels: list[str] | None = None
    """The labels that have a colour; None if all have one."""


@dataclass(frozen=True)
class Channels:
    """The channels of a chart; None for one that shows no column."""

    color: Channel | None
    facet: Channel | None

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
    return Channels(
        build_channel(curves, colors, " ({})", with_eta="eta" not in facets) if colors else None,
        build_channel(curves, facets, "\n{}", with_eta="eta" not in colors) if facets else None,
    )


def _read_field(curves: ChartCurves, argument: str, name: str | None) -> list[str]:
    """Return the field of a column in a list, which is empty without a name; raise if there is none."""
    if name is None:
        return []
    for field, known in curves.field_names.items():
        if known == name:
            return [field]
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


def build_channel(curves: ChartCurves, fields: list[str], note: str, *, with_eta: bool) -> Channel:
    """Return the channel of these fields; `note` is the format of what `_describe_label` adds."""
    index = curves.per_curve.select(fields).with_row_index("row").sort(fields, maintain_order=True)
    index = index.with_columns(pl.struct(fields).rle_id().alias("label"))  # a join would lose null keys
    numbers = index.sort("row")["label"]
    names = build_labels(index.unique("label", keep="first", maintain_order=True), fields)
    with_eta = with_eta and "eta" not in fields
    for number, label in enumerate(names):
        shared = _describe_label(curves, curves.per_curve.filter(numbers == number), with_eta=with_eta)
        names[number] = label + (note.format(shared) if shared else "")
    title = " · ".join(
        "prevalence eta" if f == "eta" else escape_name(curves.field_names[f]) for f in fields
    )
    label_by_curve = [names[number] for number in numbers]
    return Channel(fields, title, names, label_by_curve, curves.count_distinct(fields[-1:]))


def _describe_label(curves: ChartCurves, labelled: pl.DataFrame, *, with_eta: bool) -> str:
    """Return the class sizes and eta that the curves of one label share, and other curves do not."""
    parts = []
    first = labelled.row(0, named=True)

    def is_shared(*fields: str) -> bool:
        return curves.count_distinct(fields) > 1 and labelled.n_unique(fields) == 1

    if is_shared("n_pos", "n_neg") and first["n_pos"] is not None:
        parts.append(format_class_sizes(first["n_pos"], first["n_neg"]))
    if with_eta and "eta" in curves.field_names and is_shared("eta"):
        parts.append(format_one_in(first["eta"]) or format_share(first["eta"]))
    return ", ".join(parts)
