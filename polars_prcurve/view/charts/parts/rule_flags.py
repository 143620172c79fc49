"""Upright rules at thresholds: each with a text at its top, which lies on no other text and no rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter
from typing import Any

import altair as alt

from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts.active_theme import measure_text
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis
from polars_prcurve.view.charts.parts.colors_and_panels import tell_panel
from polars_prcurve.view.charts.parts.names_and_numbers import LOWER, round_digits
from polars_prcurve.view.charts.parts.panel_in_pixels import Align, Word
from polars_prcurve.view.words.number_words import say_eta, say_thresholds

_FOOT = 9  # pixels from the lines to the lowest row of texts
_GAP = 8  # pixels between two texts in a row
_CLASH = 1_000  # the cost of a text on a rule, in pixels of overhang
_ONE_IN_BELOW = 0.1  # scores below which one is found by its `1 in n` on an axis that has these
_OVERHANG = 30  # pixels by which a text may reach beyond its panel: panels have a gap of 34


def add_texts(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of all rules of a chart with their thresholds in words, in equal decimals."""
    rows = [*rows]
    lower_scores = [[row[LOWER]] if LOWER in row else None for row in rows]
    texts = say_thresholds([row["threshold"] for row in rows], lower_scores)
    return [{**row, "text": text} for row, text in zip(rows, texts, strict=True)]


def write_rules(
    rows: Iterable[Mapping[str, Any]],
    x: ChartAxis,
    words_of_row: Iterable[Mapping[str, Any]],
    start: str = "",
) -> list[Word]:
    """Return the thresholds of one panel from left to right, and what each of several is for."""
    # `words_of_row` are further fields of the words. Two that read alike are one, which has no colour.
    rows = [*rows]
    has_goals = len({row["goal"] for row in rows if row.get("goal")}) > 1
    word_by_text: dict[str, Word] = {}
    for row, fields in zip(rows, words_of_row, strict=True):
        is_target, score = has_goals and row["criterion"] != "threshold", float(row["threshold"])
        is_one_in = x.said_as == "far odds" and 0 < score < _ONE_IN_BELOW
        number_text = f"{row['text']} ({say_eta(score)})" if is_one_in else row["text"]
        text = f"{number_text} for {row['goal']}" if is_target else f"{start}{number_text}"
        word = Word(text, round_digits(x.measure(score)), **fields)
        twin = word_by_text.get(text, word)
        word_by_text[text] = (
            word if twin.label == word.label else replace(word, color=style.INK, label="")
        )
    return sorted(word_by_text.values(), key=attrgetter("x"))


def raise_flags(
    words: Sequence[Word], x_axis: ChartAxis, panel_width: int
) -> tuple[list[dict[str, Any]], list[Word]]:
    """Return the records of the rules of one panel, from left to right, and the text at the top of each.

    Each word stands at the place of its rule.
    """
    x_values = [0.0 if word.x is None else word.x for word in words]
    text_widths = [measure_text(word.text, word.size) for word in words]
    x_pixels = [x_axis.place(x_value) * panel_width for x_value in x_values]
    records, flag_words = [], []
    aligns_with_rows = _arrange([*zip(x_pixels, text_widths, strict=True)], panel_width)
    for x_value, word, (align, row) in zip(x_values, words, aligns_with_rows, strict=True):
        flag_foot = _FOOT + row * (word.size + 3)
        rule_top = 3 - _FOOT if align == "center" else -round(flag_foot + 0.8 * word.size)
        record = {"part": "threshold", "said": word.text, x_axis.field: x_value, "top": rule_top}
        record |= {"color": word.label} if word.label else {}
        records.append(record | tell_panel(word.facet))
        dx = {"left": 4, "center": 0, "right": -4}[align]
        flag_words.append(replace(word, dx=dx, py=-flag_foot, align=align, baseline="bottom"))
    return records, flag_words


def count_flag_rows(words: Iterable[Word]) -> int:
    """Return how many rows of texts stand over a panel, at most."""
    rows_by_panel: dict[str | None, set[float]] = {}
    for word in words:
        rows_by_panel.setdefault(word.facet, set()).add(word.py)
    return max(map(len, rows_by_panel.values()), default=0)


def draw_rules(x_encoding: alt.X, rule_look: dict[str, Any], start_y: Any, height: int) -> alt.Chart:
    """Return the layer of rules, from their texts, or from a `start_y` in pixels, to the foot."""
    top_encoding = alt.Y("top:Q", scale=None, axis=None) if start_y is None else start_y
    layer = (
        alt.Chart()
        .mark_rule(aria=False, **rule_look)
        .encode(x_encoding, y=top_encoding, y2=alt.value(height))
    )
    filtered_layer: alt.Chart = layer.transform_filter("datum.part === 'threshold'")
    return filtered_layer


def _arrange(pixels_with_widths: Sequence[tuple[float, float]], width: int) -> list[tuple[Align, int]]:
    """Return at which side of its rule each text is, and in which row over the lines."""
    # The pairs are the place of each rule, from left to right, and the width of its text, in pixels.
    text_ends = [
        (pixel - text_width / 2, pixel + text_width / 2) for pixel, text_width in pixels_with_widths
    ]
    are_texts_apart = all(end + _GAP <= next_start for (_, end), (next_start, _) in pairwise(text_ends))
    if are_texts_apart and all(
        start >= -_OVERHANG and end <= width + _OVERHANG for start, end in text_ends
    ):
        return [("center", 0)] * len(pixels_with_widths)
    aligns_by_room: list[Align] = [
        "left" if pixel + text_width <= width else "right" for pixel, text_width in pixels_with_widths
    ]
    align_choices: list[list[Align]] = [
        ["left"] * len(pixels_with_widths),
        aligns_by_room,
        ["right"] * len(pixels_with_widths),
    ]
    costs_and_rows = [_stack(pixels_with_widths, aligns, width) for aligns in align_choices]
    aligns, (_, rows) = min(zip(align_choices, costs_and_rows, strict=True), key=lambda way: way[1][0])
    return [*zip(aligns, rows, strict=True)]


def _stack(
    pixels_with_widths: Sequence[tuple[float, float]], aligns: Sequence[Align], width: int
) -> tuple[float, list[int]]:
    """Return the rows of texts that begin or end at their rules, and how bad that is."""
    # A rule rises to its own text, past those in lower rows. So texts that begin at their rules take
    # rows from the right to the left, and then those that end there from the left to the right.
    numbers = range(len(pixels_with_widths))
    numbers_in_order = [n for n in reversed(numbers) if aligns[n] == "left"]
    numbers_in_order += [n for n in numbers if aligns[n] != "left"]
    text_ends = [
        (pixel, pixel + text_width + _GAP) if align == "left" else (pixel - text_width - _GAP, pixel)
        for (pixel, text_width), align in zip(pixels_with_widths, aligns, strict=True)
    ]
    cost = sum(max(0, -start - _OVERHANG) + max(0, end - width - _OVERHANG) for start, end in text_ends)
    row_by_number: dict[int, int] = {}

    def has_clash(number: int, row: int) -> bool:
        (start, end), pixel = text_ends[number], pixels_with_widths[number][0]
        for other, other_row in row_by_number.items():
            (other_start, other_end), other_pixel = text_ends[other], pixels_with_widths[other][0]
            is_on_text = row == other_row and start < other_end and end > other_start
            is_under_rule = row < other_row and start < other_pixel < end
            if is_on_text or is_under_rule or (row > other_row and other_start < pixel < other_end):
                return True
        return False

    for number in numbers_in_order:
        free_row = next((row for row in numbers if not has_clash(number, row)), None)
        cost += 0 if free_row is not None else _CLASH
        row_by_number[number] = len(row_by_number) if free_row is None else free_row
    return cost, [row_by_number[number] for number in numbers]
