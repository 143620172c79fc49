"""Words on a chart: names at lines, labels at points, and where each stands free of all others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts.active_theme import measure_text, read_sizes
from polars_prcurve.view.charts.parts.colors_and_panels import MAX_NAMES
from polars_prcurve.view.charts.parts.panel_in_pixels import (
    AT_LINE,
    DOT_RADIUS,
    NEAR_PIXELS,
    RULE_KEY,
    STEP,
    Box,
    Heights,
    LabelSpace,
    NamePlace,
    Panel,
    Word,
)
from polars_prcurve.view.words.shown_names import ISOLATES, isolate_name
from polars_prcurve.view.words.wrapped_text import wrap_words

_MAX_LETTERS = 44  # letters of a name, at most, that is tried in one row: half a panel, about
_LETTERS_AT_END = 24  # letters in a row of a name right of the lines, where a page has little room
_TWIN_SHARE = 0.35  # the share of these for points of two lines, of which a label would be nobody's
_SHARED = "shared"  # the field of a point whose label is that of several
# Words in one panel up to which marked points have labels; more would hide the lines.
_MOST_LABELS = 14
_OWN_LINE_GAP = 5.0  # pixels between a name and its own line
_LINE_GAP = 3.0  # and between a name and a thin grey line
CURVE_GAP = 7.0  # and any other curve: whose name is it where two curves are one?
_STEEPEST = 0.5  # a line that falls by more of its panel along a name is not where the name is
_RING_SIZE = 110  # square pixels of a point, about: a hidden one has twice those of what hides it


def settle_words(panel: Panel, words: Sequence[Word]) -> list[Word]:
    """Return the words, each in the first of its places where it is free, or left out without one."""
    # No other word, point, curve or upright rule is there; one with a rim may lie on lines.
    settled_words: list[Word] = []
    panel_by_label = panel.split() if any(word.others for word in words) else {}
    for word in words:
        if not word.others:
            settled_words.append(word)
            continue
        own_panel = panel_by_label.get(word.facet) or replace(panel.pick(word.facet), records=[])
        heights_of_reference = own_panel.sample_references().values()
        rule_heights = [heights for heights in heights_of_reference if np.isfinite(heights).sum() < 3]
        label_space = own_panel.open_space(
            settled_words, [*own_panel.sample_lines().values(), *rule_heights]
        )
        label_space.boxes += own_panel.list_mark_boxes()
        settled_words += _settle_word(word, own_panel, label_space)
    return settled_words


def _settle_word(word: Word, panel: Panel, label_space: LabelSpace) -> list[Word]:
    """Return a word in its first free place, with a rim maybe on a line; empty without a place."""
    words_on_lines: list[Word] = []
    for word_variant in (word, *word.others):
        for box in panel.list_boxes([word_variant]):
            if label_space.is_free(box) and not label_space.crosses_line(box):
                return [word_variant]
            words_on_lines += [word_variant] if label_space.is_free(box) else []
    return words_on_lines[:1] if word.has_rim else []


# Names of lines -------------------------------------------------------------------------------


def place_names(panel: Panel, words: Sequence[Word]) -> list[Word] | None:
    """Return the name of each line with a colour, beside it or right of it; None for a legend."""
    spec = panel.spec
    size = panel.size
    color_channel, panel_channel = (panel.channels.color, panel.channels.facet)
    line_names = color_channel.shown_labels if color_channel else []
    is_unknown = spec.y.is_free and not spec.y.ranges
    if not 1 <= len(line_names) <= MAX_NAMES or spec.names == "none" or is_unknown:
        return None
    labels: list[str | None] = [*panel_channel.labels] if panel_channel else [None]
    last_label = labels[min(len(labels), size.columns) - 1]  # the panel that has a margin on its right
    # Names stand in one panel for all; to try each of many panels takes too long.
    views = [panel.pick(label) for label in (labels if len(labels) <= MAX_NAMES else labels[:1])]
    panels_and_lines = [
        (view, lines) for view in views if set(line_names) <= set(lines := view.sample_lines())
    ]
    if spec.names == "ends" and panel_channel is None and panels_and_lines:
        [(_, lines)] = panels_and_lines
        heights_by_line = {name: line for name, line in lines.items() if name in line_names}
        return _name_right(views[0], heights_by_line, words)
    # Names too long for one row would lie on lines.
    for view, lines in panels_and_lines if max(map(len, line_names)) <= _MAX_LETTERS else ():
        place_of = place_beside(lines | view.sample_references(), line_names, view.open_space(words))
        if set(line_names) <= set(place_of):
            # In data, so that a name stays at its line if the chart is resized a little.
            return [
                Word(name, view.spec.x.read(x), view.spec.y.read(y), facet=view.label, label=name)
                for name in line_names
                for x, y in [(place_of[name].x / size.width, 1 - place_of[name].y / size.height)]
            ]
    for view, lines in panels_and_lines if spec.has_margin else ():
        if view.label == last_label:
            return _name_right(view, {name: lines[name] for name in line_names}, words)
    return None


def _wrap_names(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the names in rows."""
    rows_by_name = {name: wrap_words(name.strip(ISOLATES), _LETTERS_AT_END) for name in names}
    return {name: [*map(isolate_name, name_rows)] or [name] for name, name_rows in rows_by_name.items()}


def _name_right(panel: Panel, heights_by_line: dict[str, Heights], words: Sequence[Word]) -> list[Word]:
    """Return names right of a panel, in the order of their lines, each near that of its right half."""
    # Names at the ends of lines stand where these end; a thin line leads to one that had to move.
    chart_spec = panel.spec
    panel_height = panel.size.height
    rows_by_name = _wrap_names([*heights_by_line])
    stands_at_end = chart_spec.names == "ends"
    known_heights = (heights[~np.isnan(heights)] for heights in heights_by_line.values())
    line_pixels = [
        float(heights[-1 if stands_at_end else len(heights) // 2 :].mean()) for heights in known_heights
    ]
    label_heights = [(read_sizes().name + 2) * len(rows_by_name[name]) + 3.0 for name in heights_by_line]
    name_pixels = spread_at_ends(line_pixels, label_heights, panel_height)
    # Right of half a label of the axis, and of numbers at points that reach out of the panel.
    right_edges = [box[2] for box in panel.list_boxes(words) if box[3] > 0]
    overhang = max(right_edges, default=0.0) - panel.size.width
    dx = max(16 if stands_at_end else 12 if chart_spec.x.words == "none" else 22, round(overhang) + 6)
    name_words = []
    for name, *pixels in zip(heights_by_line, name_pixels, line_pixels, strict=True):
        name_y, line_y = (chart_spec.y.read(1 - pixel / panel_height) for pixel in pixels)
        look: dict[str, Any] = {"dx": dx, "facet": panel.label, "label": name, "leads_from": line_y}
        name_words.append(Word("\n".join(rows_by_name[name]), chart_spec.x.read(1), name_y, **look))
    return name_words


# Labels of points -----------------------------------------------------------------------------


def place_labels(panel: Panel, words: Sequence[Word]) -> list[Word]:
    """Return the labels of marked points, which hide neither each other nor a line if there is room."""
    spec, color_channel = panel.spec, panel.channels.color
    color_of_label = color_channel.colors if color_channel and not spec.is_neutral else {}
    panel_by_label = panel.split()
    records = _merge_labels(panel, panel_by_label)
    space_by_panel: dict[str | None, LabelSpace] = {}
    placed_words = []
    for record in sorted(records, key=lambda record: -record[spec.y.field]):
        panel_label = record.get("facet")
        own_panel = panel_by_label[panel_label]
        if panel_label not in space_by_panel:
            panel_marks = [mark for mark in records if mark.get("facet") == panel_label]
            space_by_panel[panel_label] = own_panel.open_label_space(words, panel_marks)
        label_text, label_space = record[f"{spec.y.field}_label"], space_by_panel[panel_label]
        if not label_text or len(label_space.boxes) >= _MOST_LABELS:
            continue
        (x, y), is_shared = own_panel.find_spot(record), _SHARED in record
        label_place = label_space.place_beside_point(
            (x, y), label_text, record.get("color", ""), is_shared=is_shared
        )
        if label_place is None:
            continue
        is_known = not record.get("doubt")
        word_options: dict[str, Any] = {"align": label_place.align, "facet": panel_label}
        word_options |= {"weight": "bold" if is_known else "normal"}
        word_options |= {"dx": label_place.x - x, "dy": label_place.y - y}
        # Behind the lines of a panel without colours, and of those picked out, there are grey ones.
        word_options["has_rim"] = (
            label_place.is_on_line or color_channel is None or color_channel.colored_labels is not None
        )
        has_text_color = spec.is_neutral or is_shared
        plain_color = panel.channels.find_panel_color(panel_label)
        mark_color = color_of_label.get(record.get("color", ""), plain_color)
        word_options["color"] = style.INK if has_text_color else mark_color
        placed_words.append(Word(label_text, record[spec.x.field], record[spec.y.field], **word_options))
    return placed_words


def _merge_labels(panel: Panel, panel_by_label: Mapping[str | None, Panel]) -> list[dict[str, Any]]:
    """Return the marked points of a chart; of neighbours with one number, one that is _SHARED."""
    x_axis, y_axis, color_channel = panel.spec.x, panel.spec.y, panel.channels.color
    # A grey number could hardly be read, and would lie over others.
    grey_labels = set(color_channel.labels) - set(color_channel.shown_labels) if color_channel else set()
    merged_marks: list[dict[str, Any]] = []
    for record in panel.records:
        is_mark = record["part"] == "mark" and {x_axis.field, y_axis.field} <= set(record)
        if not is_mark or record.get("color") in grey_labels:
            continue
        own_panel = panel_by_label[record.get("facet")]
        x_pixel, y_pixel = own_panel.find_spot(record)
        neighbour_numbers = [
            mark_number
            for mark_number, other_mark in enumerate(merged_marks)
            for other_x, other_y in [own_panel.find_spot(other_mark)]
            if all(
                other_mark.get(field) == record.get(field)
                for field in ("facet", f"{y_axis.field}_label")
            )
            for near_share in [1.0 if other_mark.get("color") == record.get("color") else _TWIN_SHARE]
            if abs(x_pixel - other_x) < near_share * NEAR_PIXELS
            and abs(y_pixel - other_y) < near_share * NEAR_PIXELS / 2
        ]
        if not neighbour_numbers:
            merged_marks.append(record)
        elif merged_marks[neighbour_numbers[0]].get("color") != record.get("color"):
            merged_marks[neighbour_numbers[0]] = merged_marks[neighbour_numbers[0]] | {_SHARED: True}
    return merged_marks


def widen_hidden_marks(panel: Panel) -> None:
    """Give each marked point that an unlike one hides a size, so that it is a ring around that one."""
    size_field = f"{panel.spec.y.field}_wide"
    for own_panel in panel.split().values():
        marks = own_panel.list_marks()[::-1]  # the last one is on top
        n_rings: list[int] = []
        for mark_number, mark in enumerate(marks):
            rings_over = [
                n_rings[number]
                for number, other_mark in enumerate(marks[:mark_number])
                if math.dist(own_panel.find_spot(mark), own_panel.find_spot(other_mark)) < DOT_RADIUS
                and any(mark.get(look) != other_mark.get(look) for look in ("color", "shape"))
            ]
            n_rings.append(max(rings_over, default=-1) + 1)  # around the widest ring that hides it
            if n_rings[-1]:
                mark[size_field] = 2 ** n_rings[-1] * _RING_SIZE


# Free places ----------------------------------------------------------------------------------


def place_beside(
    lines: dict[str, Heights], names: Sequence[str], space: LabelSpace
) -> dict[str, NamePlace]:
    """Return a place on each line that is shown for its name; without those that have no room."""
    # `lines` holds the height of each line, in pixels from the top, in every fourth column, NaN where
    # there is none. A box as wide as the name is tried above and below its line at each column. It must
    # be off all other lines and boxes, and no other curve may be between it and its line; the flattest
    # place nearest to the middle wins. Lines to compare with have keys that start with RULE_KEY.
    place_by_name: dict[str, NamePlace] = {}
    for name in names:
        line = lines[name]
        n_columns = int(np.ceil(measure_text(name) * 1.04 / STEP)) + 2
        if len(line) < n_columns:
            continue
        height, width = read_sizes().name * 1.1, n_columns * STEP
        top_heights, bottom_heights = _find_extremes(line, n_columns)
        is_broken = np.lib.stride_tricks.sliding_window_view(np.isnan(line), n_columns).any(axis=1)
        top_heights = np.where(is_broken, math.nan, top_heights)
        other_lines = {key: other_line for key, other_line in lines.items() if key != name}
        left_edges = np.arange(len(top_heights)) * STEP
        candidate_boxes: list[tuple[float, float, Box]] = []
        for box_top, is_above in (
            (top_heights - _OWN_LINE_GAP - height, True),
            (bottom_heights + _OWN_LINE_GAP, False),
        ):
            is_free = (
                (box_top >= 0) & (box_top + height <= space.height) & (left_edges + width <= space.width)
            )
            is_free &= bottom_heights - top_heights <= _STEEPEST * space.height
            for key, other_line in other_lines.items():
                line_gap = _LINE_GAP if key.startswith(RULE_KEY) else CURVE_GAP
                own_box = (box_top - line_gap, box_top + height + line_gap)
                beyond_line = line if key in names else None
                is_free &= _find_clear_columns(
                    own_box, other_line, beyond_line, n_columns, is_above=is_above
                )
            centre_distances = np.abs(left_edges + width / 2 - space.width / 2) / space.width
            costs = 0.3 * (bottom_heights - top_heights) + 100 * centre_distances
            for column_number in np.flatnonzero(is_free & ~np.isnan(top_heights)):
                x, y = float(left_edges[column_number]), float(box_top[column_number])
                candidate_boxes.append((float(costs[column_number]), x, (x, y, x + width, y + height)))
        best_box = next((box for *_, box in sorted(candidate_boxes) if space.is_free(box)), None)
        if best_box is not None:
            space.boxes.append(best_box)
            place_by_name[name] = NamePlace(best_box[0] + 2, (best_box[1] + best_box[3]) / 2)
    return place_by_name


def _find_clear_columns(
    box_ends: tuple[Heights, Heights],
    other: Heights,
    own_line_heights: Heights | None,
    n_columns: int,
    *,
    is_above: bool,
) -> NDArray[np.bool_]:
    """Return at which columns a name is off another line, which is not between it and its own."""
    (box_top, box_bottom), (highest, lowest) = box_ends, _find_extremes(other, n_columns)
    is_over, is_under = lowest < box_top, highest > box_bottom
    if own_line_heights is None:  # the other has no name, and so this cannot be its
        return is_over | is_under
    _, most_beyond = _find_extremes(
        own_line_heights - other if is_above else other - own_line_heights, n_columns
    )
    is_near = most_beyond < AT_LINE
    return is_over | (is_under & is_near) if is_above else is_under | (is_over & is_near)


def _find_extremes(line_heights: Heights, n_columns: int) -> tuple[Heights, Heights]:
    """Return the highest and the lowest point of a line over each stretch of columns."""
    # A stretch without the line has infinities: its highest point is below all, its lowest above all.
    is_absent = np.isnan(line_heights)
    highest, lowest = (
        np.lib.stride_tricks.sliding_window_view(np.where(is_absent, end, line_heights), n_columns)
        for end in (math.inf, -math.inf)
    )
    return highest.min(axis=1), lowest.max(axis=1)


def spread_at_ends(heights: Sequence[float], label_sizes: Sequence[float], bottom: float) -> list[float]:
    """Return middles of labels of these sizes, as near to those given as can be, in the order given."""
    # Labels are once pushed down only and once pushed up only. Both keep them apart, so their mean does,
    # and it is fair to both sides.
    sorted_numbers = np.argsort(np.asarray(heights), kind="stable")
    sorted_sizes = np.asarray(label_sizes, dtype=np.float64)[sorted_numbers]
    middles_when_stacked = np.cumsum(sorted_sizes) - sorted_sizes / 2
    heights_less_steps = np.asarray(heights, dtype=np.float64)[sorted_numbers] - middles_when_stacked
    pushed_down = np.maximum.accumulate(heights_less_steps)
    pushed_up = np.minimum.accumulate(heights_less_steps[::-1])[::-1]
    mean_shift = np.clip(
        (pushed_down + pushed_up) / 2,
        -sorted_sizes[:1].sum() / 2,
        max(bottom - sorted_sizes.sum(), 0) + sorted_sizes[-1:].sum() / 2,
    )
    placed_heights = np.empty(len(sorted_numbers))
    placed_heights[sorted_numbers] = mean_shift + middles_when_stacked
    return [float(height) for height in placed_heights]
