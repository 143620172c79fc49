"""What the pointer reads: at each place across, a rule and the values of all lines there.

rows, a list of places -> build_hover_records   a record per place with all words, and one per dot
                       -> build_hover_layers    unseen rules side by side, a thin rule, and dots
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import altair as alt
import polars as pl

from polars_prcurve.charts.parts.chart_axes import ChartAxis
from polars_prcurve.charts.parts.chart_curves import ChartCurves
from polars_prcurve.charts.parts.chart_style import RULE
from polars_prcurve.charts.parts.colors_and_panels import Channels
from polars_prcurve.charts.parts.number_formats import round_digits

# The record under the pointer, in the filter of an event, which does not know `datum`.
EVENT_DATUM = "event.item && event.item.datum"
_MOST_PLACES = 100
_FEWEST_PLACES = 8
_MOST_RECORDS = 6_000


def list_places(axis: ChartAxis, n_curves: int) -> list[float]:
    """Return places along an axis, about one per five pixels, and fewer if there are many curves."""
    n = max(_FEWEST_PLACES, min(_MOST_PLACES, _MOST_RECORDS // max(n_curves, 1)))
    return sorted(axis.read(k / n) for k in range(n + 1))


def thin_places(values: pl.Series, n_curves: int) -> list[float]:
    """Return the distinct values in order, and only some of them if there are many curves."""
    places = values.drop_nulls().unique().sort()
    n = max(_FEWEST_PLACES, min(_MOST_PLACES, _MOST_RECORDS // max(n_curves, 1)))
    return [float(value) for value in places.gather_every(len(places) // (n + 1) + 1)]


def build_hover_records(
    curves: ChartCurves,
    channels: Channels,
    rows: pl.DataFrame,
    axes: tuple[ChartAxis, ChartAxis],
    places: list[float] | Mapping[str, list[float]],
    *,
    strategy: Literal["forward", "backward", "nearest"],
    say: Callable[[dict[str, Any]], tuple[str, str]],
) -> list[dict[str, Any]]:
    """Return the records of a pointer: `read`, all words at a place, and `hover`, a dot on each line.

    `say` returns the words for the place, and those for the value of the row that rules there. With the
    strategy "forward" that is the first row at or right of a place, as in a PR curve.
    """
    x, y = (axis.field for axis in axes)
    known = rows.drop_nulls([x, y]).sort(x, maintain_order=True)
    slots = channels.color.slots if channels.color else None
    labels = [channels.curve_fields(i) for i in range(len(curves.per_curve))]
    dots: list[dict[str, Any]] = []
    readings: dict[tuple[float, str | None], dict[str, Any]] = {}
    for number, curve in enumerate(curves.per_curve["curve"].to_list()):
        label = labels[number]
        slot = 0 if slots is None else slots.get(label["color"])
        line = known.filter(pl.col("curve") == curve)
        if slot is None or line.is_empty():
            continue
        here = places if isinstance(places, list) else places[label["facet"]]
        grid = pl.DataFrame({"at": here}, schema={"at": pl.Float64})
        found = grid.join_asof(
            line, left_on="at", right_on=x, strategy=strategy, coalesce=False, check_sortedness=False
        )
        for row in found.drop_nulls(y).iter_rows(named=True):
            place, value = say(row)
            at, panel = round_digits(row["at"]), label.get("facet")
            dots.append({"part": "hover", x: at, y: round_digits(row[y]), **label})
            start = {"part": "read", x: at, "place": place} | ({} if panel is None else {"facet": panel})
            readings.setdefault((at, panel), start)[f"s{slot}"] = value
    return [*readings.values(), *dots]


def build_pointer(field: str, key: str) -> alt.Parameter:
    """Return the selection of the place across that the pointer is at."""
    is_reading = f"{EVENT_DATUM} && event.item.datum.place"
    events = f"pointermove[{is_reading}], pointerdown[{is_reading}]"
    return alt.selection_point(
        name=f"pointed_{key}", fields=[field], on=events, empty=False, clear="pointerout"
    )


def build_hover_layers(
    x: alt.X, y: alt.Y, axes: tuple[ChartAxis, ChartAxis], channels: Channels, key: str, *, pixels: int
) -> list[alt.Chart]:
    """Return the layers that follow the pointer; `key` names its selection."""
    field, name = axes[0].field, f"pointed_{key}"
    is_here = f"isValid({name}.{field}) && indexof({name}.{field}, datum.{field}) >= 0"
    titles = channels.color.slot_titles if channels.color else [axes[1].title]
    tooltip = [alt.Tooltip("place:N", title=axes[0].title)]
    tooltip += [alt.Tooltip(f"s{slot}:N", title=title) for slot, title in enumerate(titles)]
    width = pixels // _FEWEST_PLACES if pixels < 150 else pixels / _MOST_PLACES + 4
    wide = alt.Chart().mark_rule(opacity=0, strokeWidth=width, aria=False, clip=True)
    wide = wide.encode(x, tooltip=tooltip).transform_filter("datum.part === 'read'")
    here = alt.Chart().transform_filter("datum.part === 'hover'")
    here = here.transform_filter(is_here)
    thin = here.mark_rule(color=RULE, strokeWidth=1, aria=False).encode(x)
    color = [channels.color.encode()] if channels.color else []
    dots = here.mark_point(filled=True, size=60, opacity=1, stroke="white", strokeWidth=1.5, aria=False)
    return [wide, thin, dots.encode(x, y, *color)]
