"""A result as a text table: what is the same in all rows, then those columns that fit.

They are those that distinguish rows, then the answers, then others, and the last ones go first. A value
and its interval are one column; if the first one has no room, its interval stands below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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
    NO_BREAK,
    find_magnitude,
    format_level,
    map_etas,
)

_SUBJECT_COLUMNS = ("model", "model_a", "model_b", "eta", "metric", "criterion", "target")
"""What distinguishes rows beside their groups."""
_SCORE_COLUMNS = ("threshold", "score", "holds_from", "holds_to", "target")
"""What has six digits, which distinguish most scores."""
_DOUBT = "?"  # behind an interval in doubt; a sentence below the table has the reason
_NAME_LETTERS, _LEAST_LETTERS = 32, 4  # of a name, at most, and at least where there is little room
_MAX_DECIMALS = 6  # as many as Polars shows of a float
NOTHING = "-"  # represents null


class Layout(NamedTuple):
    """How to show the table of a command."""

    by: Sequence[str]  # the columns that name groups, as far as the table has them
    answers: Sequence[str]  # the columns that answer the question of the command, in order of importance
    level: float | None = None  # the level of intervals


def format_table(result: pl.DataFrame, layout: Layout, width: int) -> tuple[list[str], set[str]]:
    """Return the lines of a table of at most this width, and the columns that they show."""
    columns = _build_columns(result, layout)
    first_answer = next((name for name in layout.answers if name in result.columns), "")
    alike = [column for column in columns if _is_alike(column, layout.answers, first_answer)]
    alike = alike if len(alike) < len(columns) else []
    phrases = [f"{column.head} {column.cells[0]}" for column in alike if column.cells[0] != NOTHING]
    columns = _choose_columns([column for column in columns if column not in alike], width)
    head_lines, *rows = ([cut_text(line, width) for line in lines] for lines in lay_out(columns))
    rule_width = max(measure_width(line) for lines in (head_lines, *rows) for line in lines)
    lines = [*fill_lines("; ".join(phrases), width), ""] if phrases else []
    lines += [*head_lines, "-" * rule_width, *(line for row_lines in rows for line in row_lines)]
    if any(span.endswith(_DOUBT) for column in columns for span in column.spans):
        reasons = ", ".join(result[DOUBT].drop_nulls().unique(maintain_order=True))
        lines += ["", *fill_lines(f"{_DOUBT} This interval may be wrong: {reasons}.", width)]
    return lines, {name for column in (*alike, *columns) for name in column.shown_names}


def _is_alike(column: TextColumn, answers: Sequence[str], first_answer: str) -> bool:
    """Return whether a column has one value, and no answer; of answers without any, the first is one."""
    texts, [name, *_] = {*column.texts[1:]}, column.shown_names
    return len(texts) == 1 and name not in ([first_answer] if texts == {NOTHING} else answers)


def _choose_columns(columns: list[TextColumn], width: int) -> list[TextColumn]:
    """Return the columns that fit; the last ones go first, and never the first interval."""
    n_names = next((place for place, column in enumerate(columns) if not column.is_text), len(columns))
    n_before = next((place for place, column in enumerate(columns) if column.spans), n_names)
    names, answers, others = columns[:n_names], columns[n_names:n_before], columns[n_before:]
    stacked = [column._replace(is_stacked=True) for column in others]
    # The letters that names keep at least, the answers that stay, and the columns with intervals.
    needs = [(16, answers, others), (8, answers, stacked), (_LEAST_LETTERS, [], stacked)]
    needs += [(_LEAST_LETTERS, [], [])] if names else []
    choices = [
        [
            [name.cut(letters) if name.width > letters else name for name in names] + before + rest[:1],
            rest,
        ]
        for least_letters, before, rest in needs
        for letters in range(_NAME_LETTERS, least_letters - 1, -1)
    ]
    fitting = (choice for choice in choices if measure_columns(choice[0]) <= width)
    chosen_columns, rest = next(fitting, choices[-1])
    for column in rest[1:]:
        if measure_columns([*chosen_columns, column]) > width:
            break
        chosen_columns.append(column)
    return chosen_columns


def _build_columns(result: pl.DataFrame, layout: Layout) -> list[TextColumn]:
    """Return the columns that distinguish rows, then those of values by falling importance."""
    columns: list[TextColumn] = []
    shown_names: set[str] = set()
    subject_names = [name for name in (*layout.by, *_SUBJECT_COLUMNS) if name not in layout.answers]
    for name in dict.fromkeys((*subject_names, *layout.answers, *result.columns)):
        if name in result.columns and name not in shown_names:
            column = _build_column(result, name, layout)
            if name in subject_names:
                cells = column.cells if name in ("eta", "target") else show_names(result[name].to_list())
                column = TextColumn(column.head, cells, is_text=True, shown_names=[name])
            columns.append(column)
            shown_names.update(column.shown_names)
    return columns


def _build_column(result: pl.DataFrame, name: str, layout: Layout) -> TextColumn:
    """Return a column of values, with their intervals if the table has them."""
    estimate, values = find_estimate(result.columns, name), result[name].to_list()
    has_span = estimate.span is not None and (name != "eta" or name in layout.answers)
    end_names = [estimate.low, estimate.high] if has_span else []
    ends = result.select(end_names).rows()
    show = _choose_format(result.schema[name], name, values, [end for pair in ends for end in pair])
    cells = [NOTHING if value is None else show(value) for value in values]
    spans = ["" if None in pair else f"({show(pair[0])} to {show(pair[1])})" for pair in ends]
    shown_names = [name, *end_names]
    if name == "eta" and "shift_p_value" in result.columns:
        for row in result.select(pl.arg_where(IS_REFUTED)).to_series():
            cells[row], spans[row : row + 1] = "worthless", [""] * has_span
    if "low" in end_names and DOUBT in result.columns:
        doubts = result[DOUBT].to_list()
        blank = " " if any(map(all, zip(spans, doubts, strict=True))) else ""
        marks = [_DOUBT if doubt else blank for doubt in doubts]
        spans = [span and span + mark for span, mark in zip(spans, marks, strict=True)]
        shown_names.append(DOUBT)
    # Without a level they are what coarse scores leave open.
    level_text = "limits" if layout.level is None else format_level(layout.level)
    is_text = not result.schema[name].is_numeric()
    level = f"({level_text})" if has_span else ""
    return TextColumn(make_harmless(name), cells, is_text, shown_names, spans, level)


def _choose_format(
    dtype: pl.DataType, name: str, values: list[Any], ends: list[Any]
) -> Callable[[Any], str]:
    """Return what writes the values of a column alike."""
    if dtype == pl.Boolean:
        return lambda value: "yes" if value else "no"
    if name in ("eta", "eta_low", "eta_high"):
        text_of_eta = map_etas([*values, *ends])
        return lambda eta: text_of_eta[eta].replace(NO_BREAK, " ")
    if name in _SCORE_COLUMNS or not dtype.is_numeric():
        return lambda value: make_harmless(
            f"{value + 0.0:.6g}" if isinstance(value, float) else str(value)
        )
    if name in ("p_value", "p_adjusted", "shift_p_value"):
        return lambda value: "< 0.001" if value < 0.001 else f"{value:.3f}"
    if dtype.is_integer():
        return format_count
    decimals = choose_decimals(values, ends)
    return lambda value: show_number(value, decimals)


def show_names(values: Sequence[Any]) -> list[str]:
    """Return values of a group column, such as the names of models, so that all can be distinguished."""
    text_of_value = {None: NOTHING, NOTHING: f'"{NOTHING}"'}
    names = [text_of_value.get(value) or show_name(str(value)) for value in values]
    return shorten_names(names, _NAME_LETTERS)


def choose_decimals(values: Sequence[float | None], ends: Sequence[float | None] = ()) -> int:
    """Return how many decimals the numbers of a column have, all alike, at most as many as any has."""
    # The greatest has three digits, and the least two. No share near 1, and no end, is rounded to 1.
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    if not sizes:
        return 0
    gaps = [1 - value for value in (*values, *ends) if value and 0.9 < value < 1]
    finest = max(2 - find_magnitude(max(sizes)), 1 - find_magnitude(min([*sizes, *gaps])), 0)
    finest = min(finest, _MAX_DECIMALS)
    return max(len(f"{size:.{finest}f}".rstrip("0").partition(".")[2]) for size in [*sizes, *gaps])


def show_number(value: float, decimals: int) -> str:
    """Return a number with these decimals; one that would be shown as 0 has an exponent."""
    text = f"{value + 0.0:,.{decimals}f}"
    return f"{value:.1e}" if value and not text.strip("-0.") else text
