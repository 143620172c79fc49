"""Charts from records: layers, panels, names at lines, title, note, and the text for screen readers.

A chart has no configuration and no theme, so you can layer it, put it beside others and theme it.
Its data is inline, under fixed field names: Altair's limit of 5,000 rows does not apply, and a
column called `a:b` or `x.y`, which Vega would parse, is only ever text in a title.

The field `part` of a record is its kind: a point of a `curve`, of a grey line behind it (`ghost`),
of a line to compare with (`reference`), a `mark`, a thin rule (`span`), a `word`, or what is read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import altair as alt

from polars_prcurve.core.ground.argument_checks import Title
from polars_prcurve.core.ground.message_text import join_words
from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts.active_theme import measure_text, read_sizes
from polars_prcurve.view.charts.parts.chart_axes import ChartSpec, GivenSize, PanelSize, fix_x, fix_y
from polars_prcurve.view.charts.parts.colors_and_panels import Channel, Channels, tell_panel
from polars_prcurve.view.charts.parts.label_placement import (
    place_labels,
    place_names,
    settle_words,
    widen_hidden_marks,
)
from polars_prcurve.view.charts.parts.names_and_numbers import escape_text, round_digits
from polars_prcurve.view.charts.parts.panel_in_pixels import Panel, Word
from polars_prcurve.view.charts.parts.panel_layers import Painter, keep_part, mark_grey, name_selection
from polars_prcurve.view.charts.parts.points_to_draw import pack_lines
from polars_prcurve.view.words.number_words import NO_BREAK, glue_numbers
from polars_prcurve.view.words.shown_names import start_sentence
from polars_prcurve.view.words.wrapped_text import wrap_words

# What a chart is: layers, panels of layers, or several of these above or beside each other.
Chart: TypeAlias = alt.LayerChart | alt.FacetChart | alt.VConcatChart | alt.ConcatChart
AnyChart = TypeVar("AnyChart", bound=Chart)  # the kind of chart that a function returns as it came
# Layers of one chart alone, at the bottom and on top.
OwnLayers: TypeAlias = tuple[Sequence[alt.Chart], Sequence[alt.Chart]]

_NO_DATA: Any = alt.InlineData(values=[])  # instead of the records, which are added last
# Vega-Lite draws labels of wrapped panels even if they are switched off.
_NO_HEADER: Any = alt.Header(labelExpr="''", labelFontSize=1, labelPadding=0)
PANEL_GAP = 34  # pixels between panels, in which the labels of an axis stand
_TICK_GAP = 8  # pixels between the last label of one panel and the first of the next
BARE_VIEW: Any = alt.ViewBackground(stroke=None)  # a panel without a frame
_MOST_ROWS = 9  # rows of usual panels above which groups stand beside each other
_MOST_COLUMNS = 4  # columns in which these groups stand, at most
COMMON_WIDTH = 540  # pixels that a chart without panels is wide, unless it has a width of its own
_PANELS_ROOM = 760  # pixels that panels side by side share, about
_NARROWEST_WIDTH = 300  # pixels that the words around a chart take, at least


@dataclass(frozen=True)
class ChartText:
    """The words of a chart: title, subtitle, note at its foot, and a sentence for screen readers."""

    title: Title  # false draws neither title nor subtitle nor note
    subtitle: str
    note: tuple[str, ...]
    own_title: str  # the title if the user gave none: the finding, or the name of the chart
    spoken: str = ""


def build_chart(panel: Panel, text: ChartText, words: Sequence[Word], own_layers: OwnLayers) -> Chart:
    """Return the chart of these records, in panels if there is a facet."""
    panel = replace(panel, spec=replace(panel.spec, has_margin=True))
    spec, size, facet = panel.spec, panel.size, panel.channels.facet
    heads = [] if facet is None else _write_heads(panel, facet)
    settled_words = settle_words(panel, [*heads, *words])
    text = replace(text, note=(*text.note, *_say_left_out(words, settled_words)))
    layered_chart, records = build_panel(panel, settled_words, own_layers)
    records = [row for row in records if row["part"] != "ghost"]  # whose layer holds them
    room = spec.y.measure_labels(size.height)
    if facet is None:
        width = max(size.width, _NARROWEST_WIDTH)
        has_no_axis = spec.x.words == "none"
        axis_height = 20 if has_no_axis else spec.x.measure_height(size.width)
        note = build_note(text, width + 60, size.height + axis_height, -room)
        layered_chart.layer += [] if note is None else [note]
        title = build_title(text, width + max(100, 2 * spec.y.room), panel.channels)
        return attach_data(set_properties(layered_chart, **title), records)
    layers = layered_chart.layer[1:]
    panels = _build_panels(layered_chart, panel, facet, heads, records)
    if facet.fields != ["eta"]:  # else heads have it
        text = replace(text, note=(f"Panels: {facet.title}", *text.note))
    width = size.columns * (size.width + PANEL_GAP)
    whole_chart = join_note(panels, build_note(text, width, 0, -room), max(width - 60, 40), 14)
    title = build_title(text, width, panel.channels)
    whole_chart = set_properties(whole_chart, **title)
    # One layer goes through Altair's facet, which copies all it is given; the others follow now.
    panels = whole_chart if isinstance(whole_chart, alt.FacetChart) else whole_chart.vconcat[0]
    panels.spec.layer = [*panels.spec.layer, *layers]
    finished_chart: Chart = attach_data(whole_chart, records)
    return finished_chart


def _list_names(channels: Channels) -> list[str]:
    """Return the short names of lines and panels, such as `model 3`."""
    labels = [
        label for channel in (channels.color, channels.facet) if channel for label in channel.labels
    ]
    return [label for label in labels if len(label) <= _LONGEST_WORD]


def _say_left_out(words: Sequence[Word], settled_words: Sequence[Word]) -> list[str]:
    """Return sentences for the note on words that have no place: names of grey lines, and others."""
    settled_texts = {word.text for word in settled_words}
    left_out = [word for word in words if word.text not in settled_texts and word.facet is None]
    texts = [" ".join(word.text.split()) for word in left_out if word.color != style.QUIET]
    texts = [*map(start_sentence, texts)]
    names = [" ".join(word.text.split()) for word in left_out if word.color == style.QUIET]
    names = [name.replace(": ", ", ") for name in names]
    return [*texts, f"Grey line{'s' if len(names) > 1 else ''}: {join_words(names)}" if names else ""]


def _write_heads(panel: Panel, facet: Channel) -> list[Word]:
    """Return the heads of panels: the name of each, and the number that panels are sorted by."""
    heads = []
    for label in facet.labels:
        value, caption = facet.head_by_label.get(label, ""), facet.caption_by_label.get(label, "")
        name, lift, width = name_panel(facet, label), panel.spec.head_rows, panel.size.width
        caption_rows = caption.split("\n") if caption else []
        lift += len(caption_rows)
        room = width - (measure_text(value) + 8 if value else 0)
        rows = write_head(name, room, label, lift=lift)
        if max(measure_text(row.text) for row in rows) > room < width:  # the value is below the name
            rows = write_head(name, width, label, lift=lift + 1)
        heads += rows
        look: dict[str, Any] = {"facet": label, "baseline": "bottom"}
        heads += [
            Word(caption_row, py=-9 - (read_sizes().name + 3) * row_number, **look)
            for row_number, caption_row in enumerate(caption_rows[::-1])
        ]
        look |= {"py": -9, "px": panel.size.width, "align": "right"}
        look["weight"] = "normal" if label in facet.labels_of_thin_heads else "bold"
        look |= {"color": panel.channels.find_panel_color(label)}
        heads += [Word(value, **look)] if value else []
    return heads


def _build_panels(
    layered_chart: alt.LayerChart,
    panel: Panel,
    facet: Channel,
    heads: Sequence[Word],
    records: list[dict[str, Any]],
) -> alt.FacetChart:
    """Return panels of the first layer alone."""
    spec = panel.spec
    layered_chart.layer = layered_chart.layer[:1]
    x_end = round_digits(spec.x.read(1))
    is_flush = any(row["part"] == "name" and row[spec.x.field] == x_end for row in records)
    facet_encoding = alt.Facet("facet:N", title=None, sort=facet.labels, header=_NO_HEADER)
    # Labels of an axis that panels share stand below all of them, where Vega makes no room for them.
    tick_room = round(spec.x.measure_overhangs(panel.size.width)) + _TICK_GAP
    spacing: dict[str, float] = {"row": PANEL_GAP, "column": max(PANEL_GAP, tick_room)}
    spacing = _measure_gaps(panel, facet, heads, spacing["column"]) if is_flush else spacing
    columns, n_panels = panel.size.columns, len(facet.labels)
    # Vega draws one axis below each column, where the last row may have no panel.
    has_gap = n_panels > columns and n_panels % columns > 0
    if has_gap and is_flush:
        spacing["row"] += spec.x.measure_height(panel.size.width)
    elif has_gap:  # then Vega makes room for the labels of each
        spacing["column"] = PANEL_GAP
    panels: alt.FacetChart = layered_chart.facet(facet_encoding, columns=columns, spacing=spacing)
    if is_flush:
        panels = set_properties(panels, bounds="flush")  # or all were as wide as the one with names
    if spec.y.is_free:
        panels = panels.resolve_scale(y="independent")
    if has_gap:
        panels = panels.resolve_axis(x="independent")
    panels.data = alt.Undefined  # which stands above the panels and the note
    return panels


def _measure_gaps(panel: Panel, facet: Channel, heads: Sequence[Word], least: float) -> dict[str, float]:
    """Return the pixels between rows and columns of panels, for the words that stand there."""
    # Vega makes room for words by itself, unless panels are flush.
    overhang = max(box[2] for head in heads for box in panel.pick(head.facet).list_boxes([head]))
    y, height = panel.spec.y, panel.size.height
    label_rooms = [y.pick(label).measure_labels(height) for label in facet.labels] if y.is_free else []
    row = max(-word.py for word in heads) + read_sizes().name + 2 * read_sizes().tick
    return {"row": row, "column": max([least, overhang - panel.size.width, *label_rooms])}


def build_panel(
    panel: Panel, words: Sequence[Word], own_layers: OwnLayers, chooser: str | None = None
) -> tuple[alt.LayerChart, list[dict[str, Any]]]:
    """Return one panel, and its records: those of its data, and those of words."""
    # `chooser` is the key of another panel of the same lines, whose names are clicked.
    spec, data, channels, size = panel.spec, panel.records, panel.channels, panel.size
    key = name_selection(data, f"{spec.x.field} {spec.y.field}")
    words = [*words, *place_labels(panel, words)]
    widen_hidden_marks(panel)
    names = None if chooser else place_names(panel, words)
    has_legend = channels.color is not None and names is None and spec.names != "none"
    if channels.color is not None and has_legend:
        room = size.columns * (size.width + PANEL_GAP)
        # Vega makes room for rules and for the heads of panels by itself, but not for words of a single
        # one.
        tops = [box[1] for box in panel.list_boxes(words)] if channels.facet is None else []
        rule_top = min((row["top"] for row in data if "top" in row), default=0)
        offset = round(max(18, 6 + rule_top - min(tops, default=0)))
        color = replace(channels.color, legend_room=room, legend_offset=offset)
        channels = replace(channels, color=color)
        panel = replace(panel, channels=channels)
    x, y = spec.x.build_x(size.width), spec.y.build_y(size.height)
    records = mark_grey(data, channels)
    painter = Painter(spec, x, y, channels, chooser or key, bool(chooser or names or has_legend))
    has_hover = any(row["part"] == "read" for row in data)
    base_chart = painter.build_base(has_hover=has_hover, has_names=bool(names), has_legend=has_legend)
    layers_under, layers_above = own_layers
    layers = [base_chart, *layers_under, *painter.build_lines(records)]
    layers += painter.build_hover(size.width, data) if has_hover else []
    layers += [*painter.build_marks(records), *layers_above]
    layers += build_word_layers(panel, words, records)
    layers += build_name_layers(panel, names, records) if names else []
    layered_chart = stack_layers(layers, data=_NO_DATA, width=size.width, height=size.height)
    return layered_chart, records


def stack_layers(layers: Sequence[alt.Chart], **options: Any) -> alt.LayerChart:
    """Return a chart of these layers, from bottom to top."""
    # Altair moves the selections of layers to the top of a chart. To find them it copies each layer that
    # it is given four times, and slowly. So it is given the few layers that have some, and all others
    # come to their places afterwards.
    whole_chart = alt.LayerChart(layer=_pick_selecting_layers(layers), view=BARE_VIEW, **options)
    whole_chart.layer = _restore_layers(layers, whole_chart.layer)
    return whole_chart


def set_properties(chart: AnyChart, **properties: Any) -> AnyChart:
    """Set these properties of a chart that is not finished: Altair's own method copies all of it."""
    for name, value in properties.items():
        chart[name] = value
    return chart


def join_panels(join: Callable[..., Any], panels: Sequence[alt.LayerChart], **options: Any) -> Any:
    """Return panels that Altair joins, without its copies of the layers that have no selections."""
    layers = [panel.layer for panel in panels]
    for panel in panels:
        panel.layer = _pick_selecting_layers(panel.layer)
    whole_chart = join(*panels, **options)
    for panel, panel_layers in zip(whole_chart.vconcat, layers, strict=True):
        panel.layer = _restore_layers(panel_layers, panel.layer)
    return whole_chart


def _pick_selecting_layers(layers: Sequence[Any]) -> list[Any]:
    """Return the layers that have selections; the first one if none has, since no chart is empty."""
    return [layer for layer in layers if layer.params is not alt.Undefined] or [*layers[:1]]


def _restore_layers(layers: Sequence[Any], selecting_layers: Sequence[Any]) -> list[Any]:
    """Return all layers in their order, with those that have selections as Altair returned them."""
    rest = iter(selecting_layers)
    return [next(rest) if layer.params is not alt.Undefined else layer for layer in layers]


def attach_data(whole_chart: AnyChart, data: list[dict[str, Any]]) -> AnyChart:
    """Add the records to a finished chart: Altair copies and checks its data at every earlier step."""
    whole_chart.data = alt.InlineData(values=[])
    whole_chart.data["values"] = pack_lines(data)
    return whole_chart


def arrange_panels(facet: Channel | None, spec: ChartSpec, given: GivenSize = (None, None)) -> PanelSize:
    """Return how many panels stand in a row, and the size of each, as given where it is."""
    (given_width, given_height), own_width = given, round(COMMON_WIDTH * spec.width)
    if facet is None:
        width = given_width or own_width
        return PanelSize(1, width, given_height or round(width * spec.height))
    n_panels = len(facet.labels)
    is_by_eta = len(facet.fields) > 1 and facet.fields[-1] == "eta"
    if n_panels > 3 and is_by_eta and facet.last_field_count <= 8:
        columns = facet.last_field_count  # a row per group, a column per eta
        if n_panels * spec.height > 0.65 * _MOST_ROWS * columns:
            columns *= max(_MOST_COLUMNS // columns, 1)  # or a few groups beside each other
    else:
        square = min(math.ceil(math.sqrt(n_panels)), 8)
        columns = min(range(square, min(2 * square, 8) + 1), key=lambda n: (-n_panels % n, n))
    room = (_PANELS_ROOM - PANEL_GAP * (columns - 1)) // columns
    width = given_width or max(min(room, 250, own_width), 165 if columns <= 5 else 110)
    return PanelSize(columns, width, given_height or round(width * max(spec.height, 0.8)))


_MOST_HEAD_ROWS = 4  # rows in which a head may be written; the rest is left out
_LONGEST_WORD = 22  # letters of a word, at most, that such a row is made longer for
_FEWEST_LETTERS = 12  # letters of such a row, at the least: narrower ones would cut most words


def name_panel(facet: Channel | None, label: str | None) -> str:
    """Return the heading of a panel; empty without panels."""
    if facet is None or label is None:
        return ""
    return f"Prevalence {label}" if facet.fields == ["eta"] else label


def write_head(name: str, room: float, panel: str | None = None, *, lift: int = 0) -> list[Word]:
    """Return the name of a panel, in rows that have this room in pixels, `lift` rows above it."""
    # A share in brackets is on one line, and so is a word that is a little longer than a row.
    name = _IN_BRACKETS.sub(lambda match: match[0].replace(" ", NO_BREAK), name)
    longest_word = max(map(len, name.split(" ")), default=0)
    letters = max(int(1.1 * room / measure_text("x")), _FEWEST_LETTERS)
    letters = max(letters, longest_word if longest_word <= _LONGEST_WORD else 0)
    room = max(room, letters * measure_text("x"))
    name_rows = wrap_words(name, letters) or [name]
    if len(name_rows) > _MOST_HEAD_ROWS:
        name_rows = [*name_rows[: _MOST_HEAD_ROWS - 1], f"{name_rows[_MOST_HEAD_ROWS - 1]}…"]
    look: dict[str, Any] = {"facet": panel, "weight": "bold", "baseline": "bottom", "limit": room + 7}
    height = read_sizes().name + 3
    return [
        Word(name_row, py=-9 - height * row_number, **look)
        for row_number, name_row in enumerate(name_rows[::-1], lift)
    ]


# Layers of words -------------------------------------------------------------------------------

_LEADER_WIDTH = 13  # pixels across of a thin line from the end of a line to its name
_MOVED_PIXELS = 4  # pixels that a name may stand off the end of its line without such a thin line


def build_word_layers(
    panel: Panel, words: Sequence[Word], records: list[dict[str, Any]]
) -> list[alt.Chart]:
    """Return a layer per look of words, and add their records."""
    spec, size = panel.spec, panel.size
    looks: dict[tuple[Any, ...], list[Word]] = {}
    for word in words:
        looks.setdefault(word.look, []).append(word)
    layers = []
    n_word_parts = len({row["part"] for row in records if row["part"].startswith("word")})
    for look_number, words_alike in enumerate(looks.values(), n_word_parts):
        part = f"word {look_number}{panel.suffix}"
        for word in words_alike:
            record: dict[str, Any] = {"part": part, "text": glue_numbers(word.text)}
            record |= {} if word.x is None else {spec.x.field: round_digits(word.x)}
            record |= {} if word.y is None else {spec.y.field: round_digits(word.y)}
            records.append(record | tell_panel(word.facet))
        text_layers = [_build_text(words_alike[0], spec, size)]
        if words_alike[0].has_rim:
            rim_layer = _build_text(replace(words_alike[0], color="white"), spec, size)
            rim_layer.mark.stroke, rim_layer.mark.strokeJoin = "white", "round"
            rim_layer.mark.strokeWidth = 4
            text_layers.insert(0, rim_layer)
        layers += [keep_part(layer, part) for layer in text_layers]
    return layers


def _build_text(word: Word, spec: ChartSpec, size: PanelSize) -> alt.Chart:
    """Return the layer of the words of one look."""
    look: dict[str, Any] = {"color": style.darken_text(word.color)} if word.color else {}
    look |= {"limit": word.limit} if word.limit else {}
    look |= {"align": word.align, "baseline": word.baseline, "dx": word.dx, "dy": word.dy}
    look |= {"fontSize": word.size, "fontWeight": word.weight, "lineHeight": word.size + 2}
    text_layer = alt.Chart().mark_text(lineBreak="\n", aria=False, **look)
    x = fix_x(word.px) if word.x is None else spec.x.build_x(size.width)
    y = fix_y(word.py) if word.y is None else spec.y.build_y(size.height)
    placed_chart: alt.Chart = text_layer.encode(x=x, y=y, text="text:N")
    return placed_chart


def build_name_layers(
    panel: Panel, names: Sequence[Word], records: list[dict[str, Any]]
) -> list[alt.Chart]:
    """Return the layers of names in the colours of their lines, and add their records."""
    # A click on a name brings out its line; a click on it again, or twice anywhere, brings back all.
    spec, size, color_channel, part = panel.spec, panel.size, panel.channels.color, f"name{panel.suffix}"
    # Each row of a name is a text of its own: renderers mix up rows that are written from right to left.
    rows: dict[float, list[Word]] = {}
    for name in names:
        texts = name.text.split("\n")
        for text_number, text in enumerate(texts):
            dy = name.dy + (text_number - (len(texts) - 1) / 2) * (name.size + 2)
            rows.setdefault(dy, []).append(replace(name, text=text, label=name.label or name.text))
    color_of_label = color_channel.colors if color_channel and not spec.is_neutral else {}
    color_encodings = [color_channel.encode()] if color_channel and not spec.is_neutral else []
    ink_encodings = [alt.Color("ink:N", scale=None)] if color_of_label else []
    # Thin lines lead from the ends of lines to names that stand elsewhere.
    name_x = spec.x.read(1 + _LEADER_WIDTH / size.width)
    leaders = [
        {"part": "leader", "color": name.label, spec.x.field: round_digits(x), spec.y.field: y}
        | tell_panel(name.facet)
        for name in names
        if name.leads_from is not None and spec.names == "ends" and name.y is not None
        if abs(spec.y.place(name.leads_from) - spec.y.place(name.y)) * size.height > _MOVED_PIXELS
        for x, y in ((spec.x.read(1), round_digits(name.leads_from)), (name_x, round_digits(name.y)))
    ]
    records += leaders
    thin_layer = keep_part(alt.Chart().mark_line(strokeWidth=1, aria=False), "leader")
    x, y = spec.x.build_x(size.width), spec.y.build_y(size.height)
    layers = [thin_layer.encode(x, y, *color_encodings, alt.Detail("color:N"))] if leaders else []
    for number, (dy, names_alike) in enumerate(rows.items()):
        row = {"row": number} if len(rows) > 1 else {}
        for name in names_alike:
            record = {"part": part, "text": glue_numbers(name.text), "color": name.label}
            place_fields = {spec.x.field: round_digits(name.x), spec.y.field: round_digits(name.y)}
            ink = color_of_label.get(name.label)
            record |= {"ink": style.darken_text(ink)} if ink else {}
            records.append({**record, **place_fields, **row, **tell_panel(name.facet)})
        layer = _build_text(replace(names_alike[0], weight="bold", dy=dy), spec, size)
        layer.mark.cursor = "pointer"
        # Vega-Lite lets the pointer through all texts that have no tooltip, except on a canvas.
        layer = keep_part(layer.encode(*ink_encodings, tooltip=alt.value(None)), part)
        layers.append(layer.transform_filter(f"datum.row === {number}") if row else layer)
    return layers


# Title and note --------------------------------------------------------------------------------

_IN_BRACKETS = re.compile(r"\([^()]{1,30}\)")  # short names, which no line ends in


def wrap_text(text: str, width: float, size: float, names: Iterable[str] = ()) -> list[str]:
    """Return the text in lines that fit a width in pixels; numbers and these names stay whole."""
    letters = max(24, int(width / (0.5 * size)))
    whole_chart = _IN_BRACKETS.sub(lambda name: name[0].replace(" ", NO_BREAK), escape_text(text))
    for name in names:
        whole_chart = whole_chart.replace(name, name.replace(" ", NO_BREAK))
    return wrap_words(glue_numbers(whole_chart), letters)


def build_title(text: ChartText, width: float, channels: Channels) -> dict[str, Any]:
    """Return the title and the description for people who cannot see the chart."""
    heading = text.title or text.own_title
    spoken_parts = [heading, text.subtitle, *text.note, text.spoken]
    sentences = [glue_numbers(escape_text(part)).rstrip(".") for part in spoken_parts if part]
    description = {"description": ". ".join(sentences)}
    if text.title is False:
        return description
    sizes = read_sizes()
    look: dict[str, Any] = {"anchor": "start", "frame": "bounds", "offset": 14, "fontWeight": "bold"}
    look |= {"fontSize": sizes.title, "lineHeight": sizes.title + 5}
    look |= {"subtitleFontSize": sizes.subtitle, "subtitleLineHeight": sizes.subtitle + 4.5}
    look |= {"subtitleColor": style.QUIET, "subtitlePadding": 5}
    subtitle_rows = wrap_text(text.subtitle, width, sizes.subtitle)
    title_rows = wrap_text(heading, width, sizes.title * 1.08, _list_names(channels))
    title_params = alt.Title(title_rows, subtitle=subtitle_rows, **look)
    return {"title": title_params, **description}


def build_note(text: ChartText, width: float, y: float, x: float) -> alt.Chart | None:
    """Return the note at the foot as a layer, since Vega-Lite has no caption; None without words."""
    sentences = " ".join(f"{sentence.rstrip('.')}." for sentence in text.note if sentence)
    if text.title is False or not sentences:
        return None
    lines = wrap_text(sentences, width - x, read_sizes().note)
    look: dict[str, Any] = {"fontSize": read_sizes().note, "lineHeight": read_sizes().note + 4}
    look |= {"align": "left", "baseline": "top", "color": style.QUIET, "lineBreak": "\n"}
    text_layer = alt.Chart(alt.InlineData(values=[{"note": "\n".join(lines)}]))
    text_layer = text_layer.mark_text(aria=False, **look)
    placed_chart: alt.Chart = text_layer.encode(x=fix_x(x), y=fix_y(y), text="note:N")
    return placed_chart


def join_note(whole_chart: Any, note: alt.Chart | None, width: int, gap: int) -> Any:
    """Return panels above the note, if there is one."""
    if note is None:
        return whole_chart
    note = note.properties(width=width, height=1, view=BARE_VIEW)
    return alt.vconcat(whole_chart, note, spacing=gap)
