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
from polars_prcurve.view.charts.parts.label_placement import Align, Word
from polars_prcurve.view.charts.parts.names_and_numbers import LOWER, round_digits
from polars_prcurve.view.words.number_words import say_thresholds

_FOOT = 9  # pixels from the lines to the lowest row of texts
_GAP = 8  # pixels between two texts in a row
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
        is_target = has_goals and row["criterion"] != "threshold"
        text = f"{row['text']} for {row['goal']}" if is_target else f"{start}{row['text']}"
        word = Word(text, round_digits(x.measure(float(row["threshold"]))), **fields)
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
    sides: list[Align] = [
        "left" if pixel + text_width <= width else "right" for pixel, text_width in pixels_with_widths
    ]
    spans = [
        (pixel, pixel + text_width + _GAP) if side == "left" else (pixel - text_width - _GAP, pixel)
        for (pixel, text_width), side in zip(pixels_with_widths, sides, strict=True)
    ]
    is_mixed_up = any(
        start < other_end and other_start < end and side != other_side
        for (start, end), side in zip(spans, sides, strict=True)
        for (other_start, other_end), other_side in zip(spans, sides, strict=True)
    )
    if is_mixed_up:  # then all are on the side on which they reach less beyond the panel
        right_end = max(pixel + text_width for pixel, text_width in pixels_with_widths)
        left_end = min(pixel - text_width for pixel, text_width in pixels_with_widths)
        sides = ["left" if right_end - width <= -left_end else "right"] * len(sides)
    return [*zip(sides, _stack(pixels_with_widths, sides), strict=True)]


def _stack(pixels_with_widths: Sequence[tuple[float, float]], sides: Sequence[Align]) -> list[int]:
    """Return the rows of texts that begin or end at their rules, each above all that it crosses."""
    # Texts that begin at their rules cross those to the right, which have their rows before them.
    numbers, row_by_number = range(len(sides)), dict[int, int]()
    for side, order in (("left", reversed(numbers)), ("right", numbers)):
        for number in (number for number in order if sides[number] == side):
            pixel, reach = pixels_with_widths[number][0], pixels_with_widths[number][1] + _GAP
            crossed_rows = [
                row
                for other, row in row_by_number.items()
                if sides[other] == side and abs(pixels_with_widths[other][0] - pixel) < reach
            ]
            row_by_number[number] = max(crossed_rows, default=-1) + 1
    return [row_by_number[number] for number in numbers]
