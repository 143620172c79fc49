"""What the pointer reads: at each place across, a rule and the values of all lines there.

`Canvas.follow_pointer` makes the records: one per place with all words, and one per dot.
"""

from __future__ import annotations

import altair as alt
import polars as pl

from polars_prcurve.charts.parts.chart_axes import ChartAxis
from polars_prcurve.charts.parts.chart_style import RULE
from polars_prcurve.charts.parts.colors_and_panels import Channels

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
    """Return unseen rules to point at, a thin rule and dots there; `key` names the selection."""
    field, name = axes[0].field, f"pointed_{key}"
    is_here = f"isValid({name}.{field}) && indexof({name}.{field}, datum.{field}) >= 0"
    titles, own = [axes[1].title], []
    if channels.color is not None:
        titles = [label.replace("\n", " ") for label in channels.color.shown_labels]
        own = [channels.color.encode()]
    tooltip = [alt.Tooltip("place:N", title=axes[0].title)]
    tooltip += [alt.Tooltip(f"s{slot}:N", title=title) for slot, title in enumerate(titles)]
    width = pixels // _FEWEST_PLACES if pixels < 150 else pixels / _MOST_PLACES + 4
    wide = alt.Chart().mark_rule(opacity=0, strokeWidth=width, aria=False, clip=True)
    wide = wide.encode(x, tooltip=tooltip).transform_filter("datum.part === 'read'")
    here = alt.Chart().transform_filter("datum.part === 'hover'").transform_filter(is_here)
    thin = here.mark_rule(color=RULE, strokeWidth=1, aria=False).encode(x)
    dots = here.mark_point(filled=True, size=60, opacity=1, stroke="white", strokeWidth=1.5, aria=False)
    return [wide, thin, dots.encode(x, y, *own)]
