"""Which columns are colour and which are panels, and what each curve is called there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import polars as pl

from polars_prcurve.charts.curves import Curves
from polars_prcurve.charts.words import labels, one_in, said_share, said_size, shown
from polars_prcurve.errors import PrcError, did_you_mean

__all__ = ["MOST_COLORS", "Channel", "Channels", "channel_of", "channels_of"]

MOST_COLORS = 8
_MOST_PANELS = 9  # of colours that go by group; above, groups are panels if there is another colour


@dataclass(frozen=True)
class Channel:
    """Columns that are shown together, and the label of each curve."""

    fields: list[str]
    title: str
    labels: list[str]
    """The distinct labels in order."""
    of_curve: list[str]
    last: int
    """How many values the last field has."""
    shown: list[str] | None = None
    """The labels that have a colour, if not all."""


@dataclass(frozen=True)
class Channels:
    color: Channel | None
    facet: Channel | None

    def of_curve(self, position: int) -> dict[str, str]:
        """The fields that place a curve, by its position in `each`."""
        found = {"color": self.color, "facet": self.facet}
        return {name: channel.of_curve[position] for name, channel in found.items() if channel}

    def places(self, part: str, values: Iterable[Any]) -> Iterator[tuple[Any, dict[str, str]]]:
        """Each value of the curves, once in each panel."""
        panels = self.facet.of_curve if self.facet else repeat(None)
        for value, panel in dict.fromkeys(zip(values, panels, strict=False)):
            yield value, {"part": part} | ({} if panel is None else {"facet": panel})


def channels_of(
    curves: Curves, color: str | None, facet: str | None, most_colors: int = MOST_COLORS
) -> Channels:
    if color is not None and color == facet:
        raise PrcError(f"color= and facet= both name {color!r}; leave one of them out")
    asked = _asked(curves, "color", color), _asked(curves, "facet", facet)
    colors, facets = _assigned(curves, *asked, most_colors)
    if curves.each.is_empty():
        return Channels(None, None)
    return Channels(
        channel_of(curves, colors, " ({})", eta="eta" not in facets) if colors else None,
        channel_of(curves, facets, "\n{}", eta="eta" not in colors) if facets else None,
    )


def _asked(curves: Curves, argument: str, name: str | None) -> list[str]:
    if name is None:
        return []
    for field, known in curves.names.items():
        if known == name:
            return [field]
    hint = did_you_mean(name, curves.names.values()) if curves.names else "the table has no group column"
    raise PrcError(f"{argument}= names {name!r}, which does not tell curves of this table apart; {hint}")


def _assigned(
    curves: Curves, color: list[str], facet: list[str], most_colors: int
) -> tuple[list[str], list[str]]:
    """Every column that tells curves apart is in one of the two, so no curves merge."""
    rest = [field for field in curves.groups if field not in color + facet]
    for other in curves.others:
        apart = curves.count(color + facet + rest) < len(curves.each)
        if apart and other not in color + facet and curves.count([other]) > 1:
            rest.append(other)
    if color:
        return color, facet + rest
    color, facets = rest[:1], facet + rest[1:]
    others = [field for field in rest if field in curves.others]
    crowded = curves.count(color) > most_colors
    sprawling = bool(others) and curves.count(facets) > _MOST_PANELS
    if color != others[:1] and (crowded or sprawling):
        color = others[:1]
        facets = facet + [field for field in rest if field not in color]
    return color, facets


def channel_of(curves: Curves, fields: list[str], note: str, *, eta: bool) -> Channel:
    """The columns of a channel; `note` says how what is known of a label is put behind it."""
    index = curves.each.select(fields).with_row_index("at").sort(fields, maintain_order=True)
    index = index.with_columns(pl.struct(fields).rle_id().alias("label"))  # no join: NaN meets no NaN
    numbers = index.sort("at")["label"]
    names = labels(index.unique("label", keep="first", maintain_order=True), fields)
    for number, label in enumerate(names):
        known = _known(curves, curves.each.filter(numbers == number), eta=eta and "eta" not in fields)
        names[number] = label + (note.format(known) if known else "")
    title = " · ".join("prevalence eta" if f == "eta" else shown(curves.names[f]) for f in fields)
    of_curve = [names[number] for number in numbers]
    return Channel(fields, title, names, of_curve, curves.count(fields[-1:]))


def _known(curves: Curves, some: pl.DataFrame, *, eta: bool) -> str:
    """What the curves of one label share and others do not: the size of the test set, eta."""
    parts = []
    sizes = ["n_pos", "n_neg"]
    if curves.count(sizes) > 1 and some.n_unique(sizes) == 1 and some["n_pos"][0] is not None:
        parts.append(said_size(some["n_pos"][0], some["n_neg"][0]))
    if eta and "eta" in curves.names and curves.count(["eta"]) > 1 and some.n_unique("eta") == 1:
        parts.append(one_in(some["eta"][0]) or said_share(some["eta"][0]))
    return ", ".join(parts)
