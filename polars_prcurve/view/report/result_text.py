"""A result as a text table: what is the same in all rows, then those columns that fit.

They are those that distinguish rows, then the answers, then others, and the last ones go first. A value
and its interval are one column; if the first one has no room, its interval stands below. If it has none
there either, each row is a paragraph.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.confidence.estimates import find_estimate
from polars_prcurve.core.ground.message_text import format_count
from polars_prcurve.core.ground.terminal_text import (
    TextColumn,
    cut_text,
    fill_lines,
    lay_out,
    make_harmless,
    measure_columns,
    measure_width,
)
from polars_prcurve.core.ground.visible_names import shorten_names, show_name
from polars_prcurve.core.prevalence.estimated_eta import IS_REFUTED
from polars_prcurve.view.words.number_words import (
    MINUS,
    NO_BREAK,
    SCORE_COLUMNS,
    find_magnitude,
    format_level,
    map_etas,
    say_threshold,
)

_SUBJECT_COLUMNS = ("model", "model_a", "model_b", "eta", "metric", "criterion", "target")
"""What distinguishes rows beside their groups."""
_NUMBER_COLUMNS = {"eta", "target"}  # those of them that hold numbers, which are never cut
_DOUBT = "?"  # behind an interval in doubt; a sentence below the table has the reason
_NAME_LETTERS, _LEAST_LETTERS = 32, 4  # of a name, at most, and at least where there is little room
_MAX_DECIMALS = 6  # as many as Polars shows of a float
NOTHING = "-"  # represents null


class Layout(NamedTuple):
    """How to show the table of a command."""

    by: Sequence[str]  # the columns that name groups, as far as the table has them
    answers: Sequence[str]  # the columns that answer the question of the command, in order of importance
    level: float | None = None  # the level of intervals


def format_table(result_frame: pl.DataFrame, layout: Layout, width: int) -> tuple[list[str], set[str]]:
    """Return the lines of a table of at most this width, and the columns that they show."""
    text_columns = _build_columns(result_frame, layout)
    first_answer_column = next((name for name in layout.answers if name in result_frame.columns), "")
    alike_columns = [
        column for column in text_columns if _is_alike(column, layout.answers, first_answer_column)
    ]
    alike_columns = alike_columns if len(alike_columns) < len(text_columns) else []
    phrases = [
        f"{column.head} {column.cells[0]}" for column in alike_columns if column.cells[0] != NOTHING
    ]
    text_columns = [column for column in text_columns if column not in alike_columns]
    chosen_columns = _choose_columns(text_columns, _list_subjects(layout), width)
    lines = [*fill_lines("; ".join(phrases), width), ""] if phrases else []
    text_columns = chosen_columns or text_columns
    write = _write_table if chosen_columns or result_frame.is_empty() else _write_paragraphs
    lines += write(text_columns, width)
    if any(span_text.endswith(_DOUBT) for column in text_columns for span_text in column.spans):
        reasons_text = ", ".join(result_frame[DOUBT].drop_nulls().unique(maintain_order=True))
        lines += ["", *fill_lines(f"{_DOUBT} This interval may be wrong: {reasons_text}.", width)]
    return lines, {name for column in (*alike_columns, *text_columns) for name in column.shown_names}


def _write_table(text_columns: Sequence[TextColumn], width: int) -> list[str]:
    """Return the lines of columns beside each other, cut to the width."""
    head_lines, *rows = ([cut_text(line, width) for line in lines] for lines in lay_out(text_columns))
    row_lines = [*chain(*rows)]
    return [*head_lines, "-" * max(map(measure_width, (*head_lines, *row_lines))), *row_lines]


def _write_paragraphs(text_columns: Sequence[TextColumn], width: int) -> list[str]:
    """Return each row as a paragraph of its columns' names and values, with blank lines between."""
    heads, *rows = zip(*(column.texts for column in text_columns), strict=True)
    lines: list[str] = []
    for texts in rows:
        phrases = [f"{head} {text}" for head, text in zip(heads, texts, strict=True) if text != NOTHING]
        lines += ["", *fill_lines("; ".join(phrases), width)]
    return [cut_text(line, width) for line in lines[1:]]


def _is_alike(column: TextColumn, answer_columns: Sequence[str], first_answer_column: str) -> bool:
    """Return whether a column has one value, and no answer; of answers without any, the first is one."""
    distinct_texts, [name, *_] = {*column.texts[1:]}, column.shown_names
    return len(distinct_texts) == 1 and name not in (
        [first_answer_column] if distinct_texts == {NOTHING} else answer_columns
    )


def _choose_columns(
    text_columns: list[TextColumn], subject_columns: Sequence[str], width: int
) -> list[TextColumn]:
    """Return the columns that fit; the last ones go first, and none without the first interval."""
    name_columns, answer_columns, span_columns = _split_columns(text_columns, subject_columns)
    stacked_columns = [column._replace(is_stacked=True) for column in span_columns]
    # The letters that names keep at least, the answers that stay, and the columns with intervals.
    room_options = [(16, answer_columns, span_columns), (8, answer_columns, stacked_columns)]
    room_options += [
        (_LEAST_LETTERS, answer_columns[:n_kept], stacked_columns)
        for n_kept in range(len(answer_columns), -1, -1)
    ]
    column_choices = [
        [
            [_cut_names(column, n_letters) for column in name_columns]
            + kept_answers
            + other_columns[:1],
            other_columns,
        ]
        for min_letters, kept_answers, other_columns in room_options
        for n_letters in range(_NAME_LETTERS, min_letters - 1, -1)
    ]
    fitting_choices = (
        column_choice for column_choice in column_choices if measure_columns(column_choice[0]) <= width
    )
    chosen_columns, other_columns = next(fitting_choices, ([], []))
    for column in other_columns[1:]:
        if measure_columns([*chosen_columns, column]) > width:
            break
        chosen_columns.append(column)
    return chosen_columns


def _cut_names(column: TextColumn, n_letters: int) -> TextColumn:
    """Return a column of names in at most so many letters; numbers, such as prevalences, stay whole."""
    is_whole = column.width <= n_letters or not _NUMBER_COLUMNS.isdisjoint(column.shown_names)
    return column if is_whole else column.cut(n_letters)


def _split_columns(
    text_columns: list[TextColumn], subject_columns: Sequence[str]
) -> tuple[list[TextColumn], list[TextColumn], list[TextColumn]]:
    """Return the columns of subjects, then those before the first interval, and that with all others."""
    n_subjects = sum(not {*subject_columns}.isdisjoint(column.shown_names) for column in text_columns)
    n_before_spans = next(
        (number for number, column in enumerate(text_columns) if column.spans), n_subjects
    )
    return (
        text_columns[:n_subjects],
        text_columns[n_subjects:n_before_spans],
        text_columns[n_before_spans:],
    )


def _list_subjects(layout: Layout) -> list[str]:
    """Return the columns that distinguish rows, unless they are answers."""
    return [name for name in (*layout.by, *_SUBJECT_COLUMNS) if name not in layout.answers]


def _build_columns(result_frame: pl.DataFrame, layout: Layout) -> list[TextColumn]:
    """Return the columns that distinguish rows, then those of values by falling importance."""
    text_columns: list[TextColumn] = []
    shown_names: set[str] = set()
    subject_columns = _list_subjects(layout)
    for name in dict.fromkeys((*subject_columns, *layout.answers, *result_frame.columns)):
        if name in result_frame.columns and name not in shown_names:
            column = _build_column(result_frame, name, layout)
            if name in subject_columns:
                is_number = name in _NUMBER_COLUMNS
                cells = column.cells if is_number else show_names(result_frame[name].to_list())
                column = TextColumn(column.head, cells, is_text=True, shown_names=[name])
            text_columns.append(column)
            shown_names.update(column.shown_names)
    return text_columns


def _build_column(result_frame: pl.DataFrame, name: str, layout: Layout) -> TextColumn:
    """Return a column of values, with their intervals if the table has them."""
    estimate, values = find_estimate(result_frame.columns, name), result_frame[name].to_list()
    has_span = estimate.span is not None and (name != "eta" or name in layout.answers)
    end_names = [estimate.low, estimate.high] if has_span else []
    end_pairs = result_frame.select(end_names).rows()
    write_cell = _choose_format(result_frame.schema[name], name, values, end_pairs)
    cell_texts = [NOTHING if value is None else write_cell(value) for value in values]
    span_texts = [
        ""
        if None in low_and_high
        else f"({write_cell(low_and_high[0])} to {write_cell(low_and_high[1])})"
        for low_and_high in end_pairs
    ]
    shown_names = [name, *end_names]
    if name == "eta" and "shift_p_value" in result_frame.columns:
        for row_number in result_frame.select(pl.arg_where(IS_REFUTED)).to_series():
            cell_texts[row_number], span_texts[row_number : row_number + 1] = (
                "worthless",
                [""] * has_span,
            )
    if "low" in end_names and DOUBT in result_frame.columns:
        doubt_texts = result_frame[DOUBT].to_list()
        mark_of_certain = " " if any(map(all, zip(span_texts, doubt_texts, strict=True))) else ""
        doubt_marks = [_DOUBT if doubt else mark_of_certain for doubt in doubt_texts]
        span_texts = [
            span_text and span_text + mark
            for span_text, mark in zip(span_texts, doubt_marks, strict=True)
        ]
        shown_names.append(DOUBT)
    # Without a level they are what coarse scores leave open.
    level_text = "limits" if layout.level is None else format_level(layout.level)
    is_text = not result_frame.schema[name].is_numeric()
    level = f"({level_text})" if has_span else ""
    return TextColumn(make_harmless(name), cell_texts, is_text, shown_names, span_texts, level)


def _choose_format(
    dtype: pl.DataType, name: str, values: list[Any], end_pairs: list[tuple[Any, ...]]
) -> Callable[[Any], str]:
    """Return what writes the values of a column alike."""
    if dtype == pl.Boolean:
        return lambda value: "yes" if value else "no"
    if name in ("eta", "eta_low", "eta_high"):
        text_of_eta = map_etas([*values, *chain(*end_pairs)])
        return lambda eta: text_of_eta[eta].replace(NO_BREAK, " ")
    if name in SCORE_COLUMNS or not dtype.is_numeric():
        return lambda value: make_harmless(
            say_threshold(value).replace(MINUS, "-") if isinstance(value, float) else str(value)
        )
    if name in ("p_value", "p_adjusted", "shift_p_value"):
        return lambda value: "< 0.001" if value < 0.001 else f"{value:.3f}"
    if dtype.is_integer():
        return format_count
    n_decimals = choose_decimals(values, end_pairs)
    return lambda value: show_number(value, n_decimals)


def show_names(group_values: Sequence[Any]) -> list[str]:
    """Return values of a group column, such as the names of models, so that all can be distinguished."""
    text_by_value = {None: NOTHING, NOTHING: f'"{NOTHING}"'}
    group_names = [
        text_by_value.get(group_value) or show_name(str(group_value)) for group_value in group_values
    ]
    return shorten_names(group_names, _NAME_LETTERS)


def choose_decimals(
    values: Sequence[float | None], end_pairs: Sequence[tuple[float | None, ...]] = ()
) -> int:
    """Return how many decimals the numbers of a column have, all alike, at most as many as any has."""
    # The greatest value has three digits, and the least two. No share near 1 is rounded to 1, and no end
    # to its value.
    numbers = [number for number in (*values, *chain(*end_pairs)) if number and math.isfinite(number)]
    value_sizes = [abs(value) for value in values if value and math.isfinite(value)]
    if not value_sizes:
        return 0
    gaps_to_1 = [1 - number for number in numbers if 0.9 < number < 1]
    half_widths = [
        abs(end - value)
        for value, ends in zip(values, end_pairs, strict=False)
        for end in ends
        if value is not None and end is not None and math.isfinite(end - value) and end != value
    ]
    max_decimals = max(
        2 - find_magnitude(max(value_sizes)),
        1 - find_magnitude(min([*value_sizes, *gaps_to_1])),
        -find_magnitude(min(half_widths, default=1.0)),
        0,
    )
    max_decimals = min(max_decimals, _MAX_DECIMALS)
    return max(
        len(f"{number:.{max_decimals}f}".rstrip("0").partition(".")[2])
        for number in [*numbers, *gaps_to_1]
    )


def show_number(value: float, n_decimals: int) -> str:
    """Return a number with these decimals; one that would be shown as 0 has an exponent."""
    number_text = f"{value + 0.0:,.{n_decimals}f}"
    return f"{value:.1e}" if value and not number_text.strip("-0.") else number_text
