"""The table that a terminal shows: what is the same in all rows, then those columns that fit.

They are those that tell rows apart, then the answers, each with its interval, then others.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.confidence.intervals import find_estimate
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.safe_text import format_count, shorten_name, shorten_names, show_name
from polars_prcurve.core.ground.terminal_text import (
    cut_text,
    cut_texts,
    fill_lines,
    make_harmless,
    measure_width,
    pad_text,
)
from polars_prcurve.core.ground.value_checks import run_query
from polars_prcurve.core.prevalence.sampled_eta import IS_REFUTED
from polars_prcurve.doors.cli.command_errors import print_sentence
from polars_prcurve.view.words.number_words import NO_BREAK, format_level, map_etas, say_eta, say_sizes

_MOST_SHOWN_ROWS = 50  # more would scroll away what stands above the table
_MOST_SORTED_ROWS = 5_000  # results of at most this many rows are put in order before they are cut
_MODEL_COLUMNS = ("model", "model_a", "model_b")  # columns that name models, which come after the groups
_LAST_COLUMNS = (  # columns that come after all others: counts and details behind the answers
    "standard_error",
    "tp",
    "fp",
    "fn",
    "tn",
    "n_pos",
    "n_neg",
    "iterations",
    "eta_low",
    "eta_high",
    "eta_confidence",
)
_GAP = "  "  # between two columns
_DOUBT = "?"  # behind an interval in doubt; `_explain` says below the table what it means
_SHORT_NAME = 16  # the width that names are not cut below to make room for an interval


class Layout(NamedTuple):
    """How to show the table of a command."""

    by: Sequence[str]  # the group columns
    answers: Sequence[str]  # the columns that answer the question of the command, in order of importance
    level: float | None = None  # the level of intervals
    is_weighted: bool = False  # whether numbers of examples are sums of weights
    preface: str = ""  # what is to be said above the table beside what is the same in all rows


class ShownRows(NamedTuple):
    """The rows that are shown, and how many there are in all."""

    table: pl.DataFrame
    n_rows: int


class TextColumn(NamedTuple):
    """A column as text: its head, its cells, and shorter ones for a narrow terminal."""

    head: str
    cells: list[str]
    is_number: bool
    covers: set[str]  # the columns of the table that it shows
    short: TextColumn | None = None
    second_lines: Sequence[str] = ()  # intervals, of the head and of each cell, on lines of their own

    @property
    def width(self) -> int:
        return max(map(measure_width, [self.head, *self.cells]))

    def cut(self, width: int) -> TextColumn:
        """Return the column in at most this width."""
        return self._replace(head=cut_text(self.head, width), cells=cut_texts(self.cells, width))


def collect_shown_rows(query: pl.LazyFrame) -> ShownRows:
    """Return the first rows of a query, those that belong together side by side."""
    result = run_query(query.head(_MOST_SORTED_ROWS + 1))  # one row more tells whether any are left out
    if result.height > _MOST_SORTED_ROWS:
        return ShownRows(result.head(_MOST_SHOWN_ROWS), run_query(query.select(pl.len())).item())
    subject_columns = [name for name in ("metric", "criterion", "target") if name in result.columns]
    if "eta" in result.columns and (subject_columns or "rank" in result.columns):
        # By prevalence, then by metric or target as they come, then as they are.
        row_number = f"{RESERVED}row"
        first_row_of_subject = (
            [pl.col(row_number).min().over(subject_columns)] if subject_columns else []
        )
        result = result.with_row_index(row_number)
        result = result.sort("eta", *first_row_of_subject, row_number, nulls_last=True).drop(row_number)
    return ShownRows(result.head(_MOST_SHOWN_ROWS), result.height)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines; what the terminal has no character for becomes a question mark."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print("\n".join(lines).encode(encoding, "replace").decode(encoding))


def print_rows(first_rows: ShownRows, layout: Layout) -> None:
    """Print a table that fits the terminal, and how much is left out."""
    result, width = first_rows.table, shutil.get_terminal_size().columns
    has_colours = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    lines, shown_columns = format_table(
        result, layout, width, is_bold=has_colours and sys.stdout.isatty()
    )
    print_lines(lines)
    shown_parts = [
        (result.height, first_rows.n_rows, "rows"),
        (len(shown_columns), result.width, "columns"),
    ]
    omissions = [
        f"{n_shown} of {n_all} {unit_name}"
        for n_shown, n_all, unit_name in shown_parts
        if n_shown < n_all
    ]
    if omissions:
        sys.stdout.flush()
        print_sentence(f"{', '.join(omissions)}; -o FILE writes all, such as -o table.csv")


def format_table(
    result: pl.DataFrame, layout: Layout, width: int, *, is_bold: bool = False
) -> tuple[list[str], set[str]]:
    """Return the lines of a table of at most this width, and the columns that they show."""
    preface, constant_columns = _describe_constants(result, layout)
    # A line for the first row of each prevalence, if prevalences have two rows or more each.
    heading_of_row: dict[int, str] = {}
    if "eta" in result.columns and "eta" not in (*layout.answers, *constant_columns):
        eta_columns = [name for name in ("eta", "eta_low", "eta_high") if name in result.columns]
        etas = result.select(eta_columns).rows()
        first_rows = [row for row in range(len(etas)) if row == 0 or etas[row] != etas[row - 1]]
        if 0 < 2 * len(first_rows) <= len(etas) and all(eta is not None for eta, *_ in etas):
            heading_of_row = {row: _describe_eta(*etas[row]) for row in first_rows}
    hidden_columns = constant_columns | ({"eta", "eta_low", "eta_high"} if heading_of_row else set())
    columns = _choose_columns(_build_columns(result, layout, hidden_columns), width)
    stacked_positions = [position for position, column in enumerate(columns) if column.second_lines]
    interval_width = _measure(columns[: stacked_positions[0] + 1]) if stacked_positions else 0
    padded_cells = (
        [
            pad_text(cell, column.width, is_right=column.is_number)
            for cell in (column.head, *column.cells)
        ]
        for column in columns
    )
    row_blocks = []  # lines of the head and of each row: a second one for an interval below its value
    for row, cells in enumerate(zip(*padded_cells, strict=True)):
        row_lines = [_GAP.join(cells)]
        spans = [columns[position].second_lines[row] for position in stacked_positions]
        row_lines += [pad_text(span, interval_width, is_right=True) for span in spans]
        row_blocks.append([cut_text(line.rstrip(), width) for line in row_lines if line.strip()])
    head_lines, *body_lines = row_blocks
    lines = fill_lines(preface, width)
    rule = "-" * min(max(map(measure_width, [*head_lines, *chain(*body_lines)])), width)
    lines += [""] if lines else []
    lines += [*(f"\x1b[1m{line}\x1b[0m" if is_bold else line for line in head_lines), rule]
    for row, row_lines in enumerate(body_lines):
        if row in heading_of_row:
            lines += [*([""] if row else []), *fill_lines(heading_of_row[row], width)]
        lines += row_lines
    for explanation in _explain(columns, result, layout):
        lines += ["", *fill_lines(explanation, width)]
    shown_columns = set().union(*(column.covers for column in columns))
    return lines, (shown_columns | constant_columns | hidden_columns) & set(result.columns)


# What stands above -------------------------------------------------------------------------------


def _describe_constants(result: pl.DataFrame, layout: Layout) -> tuple[str, set[str]]:
    """Return what is the same in all rows, in words, and the columns that they tell."""
    constant_columns = {
        name
        for name in result.columns
        if name not in (*layout.by, *layout.answers) and result.height and result[name].n_unique() == 1
    }
    phrases, covered_columns = [], {"eta_confidence", "metric", "guarantee"} & constant_columns
    if "metric" in constant_columns:
        phrases.append(shorten_name(result["metric"][0], _NAME_LETTERS))
    is_threshold = (pl.col("criterion") == "threshold") & (pl.col("target") == pl.col("threshold"))
    if {"criterion", "target"} <= constant_columns:
        phrases.append(_show_target(*result.select("criterion", "target").row(0)))
        covered_columns |= {"criterion", "target"}
    elif (
        {"criterion", "target", "threshold"} <= set(result.columns)
        and result.schema["threshold"].is_numeric()
        and result.select(is_threshold.fill_null(False).all()).item()
    ):  # the threshold of a row has a column anyway
        covered_columns |= {"criterion", "target"}
    eta_ends = {"eta_low", "eta_high"} & set(result.columns)
    if {"eta", *eta_ends} <= constant_columns and result["eta"][0] is not None:
        phrases.append(_describe_eta(*result.select("eta", *sorted(eta_ends, reverse=True)).row(0)))
        covered_columns |= {"eta", *eta_ends}
    phrases += [layout.preface] if layout.preface else []
    if {"n_pos", "n_neg"} <= constant_columns:
        sizes = result.select("n_pos", "n_neg").row(0)
        covered_columns |= {"n_pos", "n_neg"}
        size_phrase = f"tested on {say_sizes(*map(format_count, sizes))}"
        if layout.is_weighted:
            n_pos, n_neg = (show_number(n, choose_decimals(sizes)) for n in sizes)
            size_phrase = f"the weights of positives add up to {n_pos}, those of negatives to {n_neg}"
        phrases.append(size_phrase)
    if "guarantee" in constant_columns:
        phrases.append(f"with a guarantee of {result['guarantee'][0]:g}")
    # Columns without a value tell nothing, except group columns and the first answer.
    first_answer = [name for name in layout.answers if name in result.columns][:1]
    exempt_columns = {*layout.by, *_MODEL_COLUMNS, *first_answer}
    empty_columns = {column.name for column in result if column.null_count() == len(column) > 0}
    return "; ".join(phrases), covered_columns | (empty_columns - exempt_columns)


def _show_target(criterion: str, target: float | None) -> str:
    return criterion if target is None else f"{criterion} {target:.6g}"


def _describe_eta(eta: float, low: float | None = None, high: float | None = None) -> str:
    """Return a prevalence in words and as a number, with its interval if it has one."""
    span_text = "" if low is None or high is None else f", {low:.2g} to {high:.2g}"
    return f"{say_eta(eta).replace(NO_BREAK, ' ')} positive (eta {eta:.4g}{span_text})"


# Columns of text ---------------------------------------------------------------------------------


def _build_columns(result: pl.DataFrame, layout: Layout, hidden_columns: set[str]) -> list[TextColumn]:
    """Return all columns as text, those that tell rows apart first, by falling importance."""
    columns: list[TextColumn] = []
    if "metric" in result.columns and "metric" not in hidden_columns:
        columns.append(
            TextColumn(
                "metric", shorten_names(result["metric"].to_list(), _NAME_LETTERS), False, {"metric"}
            )
        )
    if {"criterion", "target"} <= set(result.columns) - hidden_columns:
        cells = [_show_target(*pair) for pair in result.select("criterion", "target").iter_rows()]
        columns.append(TextColumn("target", cells, False, {"criterion", "target"}))
    if columns:  # the first leaves out a text that is repeated
        etas = result["eta"].to_list() if "eta" in result.columns else [None] * result.height
        cells_and_etas = list(zip(columns[0].cells, etas, strict=True))
        cells = [
            "" if number and cell_and_eta == cells_and_etas[number - 1] else cell_and_eta[0]
            for number, cell_and_eta in enumerate(cells_and_etas)
        ]
        columns[0] = columns[0]._replace(cells=cells)
    key_columns = [name for name in (*layout.by, *_MODEL_COLUMNS) if name in result.columns]
    columns += [
        TextColumn(make_harmless(name), show_names(result[name].to_list()), False, {name})
        for name in dict.fromkeys(key_columns)
    ]
    covered_columns = set().union(hidden_columns, *(column.covers for column in columns))
    criterion_names = result["criterion"].unique().to_list() if "criterion" in result.columns else []
    target_columns = criterion_names if criterion_names in (["recall"], ["alerts"]) else []
    # What was asked for is no news, and comes last.
    answer_columns = sorted(layout.answers, key=lambda name: name in target_columns)
    answer_columns = answer_columns if "eta" in answer_columns else ["eta", *answer_columns]
    other_columns = [name for name in result.columns if name not in (*answer_columns, *_LAST_COLUMNS)]
    for name in (*answer_columns, *other_columns, *_LAST_COLUMNS):
        if name in result.columns and name not in covered_columns:
            columns.append(_build_column(result, name, layout))
            covered_columns |= columns[-1].covers
    return columns


def _build_column(result: pl.DataFrame, name: str, layout: Layout) -> TextColumn:
    """Return a column of values, with their intervals if the table has them."""
    cell_values = result[name].to_list()
    estimate, level = find_estimate(result.columns, name), layout.level
    end_columns = [] if estimate.span is None else [estimate.low, estimate.high]
    ends = [result[end_column].to_list() for end_column in end_columns]
    show = _choose_format(result.schema[name], name, cell_values, [*chain(*ends)])
    cells = [NOTHING if value is None else show(value) for value in cell_values]
    if name == "eta" and "shift_p_value" in result.columns:
        is_refuted = result.select(IS_REFUTED.fill_null(False)).to_series()
        cells = ["worthless" if is_bad else cell for cell, is_bad in zip(cells, is_refuted, strict=True)]
        ends = [
            [None if is_bad else end for end, is_bad in zip(end_values, is_refuted, strict=True)]
            for end_values in ends
        ]
    head, is_number = make_harmless(name), result.schema[name].is_numeric()
    plain_column = TextColumn(head, cells, is_number, {name})
    if not end_columns or (name == "eta" and name not in layout.answers):
        return plain_column
    spans = [
        "" if low is None or high is None else f"({show(low)} to {show(high)})"
        for low, high in zip(*ends, strict=True)
    ]
    covers = {name, *end_columns}
    if "low" in end_columns and DOUBT in result.columns:
        lows_and_doubts = zip(ends[0], result[DOUBT], strict=True)
        is_doubtful = [low is not None and doubt is not None for low, doubt in lows_and_doubts]
        blank = " " if any(is_doubtful) else ""
        spans = [
            span + (_DOUBT if is_bad else blank) for span, is_bad in zip(spans, is_doubtful, strict=True)
        ]
        covers |= {DOUBT, "above_chance"}
    interval_name = "interval" if level is None else format_level(level).replace(NO_BREAK, " ")
    if name == "value" and level is None:  # of coarse scores, which have no level
        interval_name = "limits"
    full_cells = [
        f"{cell} {span}" if span.strip() else cell + span
        for cell, span in zip(cells, spans, strict=True)
    ]
    second_lines = [f"({interval_name})", *spans]
    stacked_column = TextColumn(head, cells, is_number, covers, plain_column, second_lines)
    return TextColumn(f"{head} ({interval_name})", full_cells, is_number, covers, stacked_column)


def _choose_format(
    dtype: pl.DataType, name: str, cell_values: list[Any], end_values: list[Any]
) -> Callable[[Any], str]:
    """Return what writes the values of a column alike; six digits tell most scores apart."""
    if dtype == pl.Boolean:
        return lambda value: "yes" if value else "no"
    if name in ("eta", "eta_low", "eta_high"):
        text_of_eta = map_etas([*cell_values, *end_values])
        return lambda eta: text_of_eta[eta].replace(NO_BREAK, " ")
    if name in ("threshold", "score", "holds_from", "holds_to") or not dtype.is_numeric():
        return lambda cell_value: make_harmless(
            f"{cell_value + 0.0:.6g}" if isinstance(cell_value, float) else str(cell_value)
        )
    if name in ("p_value", "p_adjusted", "shift_p_value"):
        return lambda value: "< 0.001" if value < 0.001 else f"{value:.3f}"
    if dtype.is_integer():
        return format_count
    decimals = choose_decimals(
        *([number for number in numbers if number is not None] for numbers in (cell_values, end_values))
    )
    return lambda value: show_number(value, decimals)


# What fits ---------------------------------------------------------------------------------------


def _choose_columns(columns: Sequence[TextColumn], width: int) -> list[TextColumn]:
    """Return the columns that fit, in order; names are cut if the first answer needs the room."""
    # Of the first interval that has no room beside its value, and of no other, each row gets a line.
    n_keys = next(
        (position for position, column in enumerate(columns) if column.is_number), len(columns)
    )
    key_columns, number_columns = columns[:n_keys], columns[n_keys:]
    # What names are cut for, and how far: the answers up to the first interval, or the first of them.
    first_interval = next(
        (position for position, column in enumerate(number_columns) if column.short), 0
    )
    first_answers = number_columns[: first_interval + 1]
    shorter_answers = [column.short or column for column in first_answers]
    attempts = [
        (first_answers, _SHORT_NAME),
        ([*first_answers[:-1], *shorter_answers[-1:]], _SHORT_NAME // 2),
        (shorter_answers[:1], _SHORT_NAME // 4),
    ]
    for answer_columns, least_width in attempts if number_columns else ():
        chosen_columns, free_width = list(key_columns), width - len(_GAP) - _measure(answer_columns)
        while chosen_columns and _measure(chosen_columns) > free_width:
            widest_column = max(chosen_columns, key=lambda column: column.width)
            if widest_column.width <= least_width:
                break
            chosen_columns[chosen_columns.index(widest_column)] = widest_column.cut(
                widest_column.width - 1
            )
        if _measure([*chosen_columns, *answer_columns]) <= width:
            break
    else:
        chosen_columns = list(key_columns)
    for column in number_columns:
        has_interval = any(shown_column.short for shown_column in chosen_columns)
        narrow_column = column.short and column.short.short if has_interval else column.short
        fitting_columns = [
            shown_column
            for shown_column in (column, narrow_column)
            if shown_column and _measure([*chosen_columns, shown_column]) <= width
        ]
        if not fitting_columns:
            break
        chosen_columns.append(fitting_columns[0])
    return chosen_columns or [columns[0]]


def _measure(columns: Sequence[TextColumn]) -> int:
    return sum(column.width for column in columns) + len(_GAP) * (len(columns) - 1)


def _explain(columns: Sequence[TextColumn], result: pl.DataFrame, layout: Layout) -> list[str]:
    """Return what the mark of an interval means, if there is one, and which scores may be chance."""
    sentences = []
    if any(
        DOUBT in text_column.covers and any(_DOUBT in cell for cell in text_column.cells)
        for text_column in columns
    ):
        reasons = result[DOUBT].drop_nulls().unique(maintain_order=True)
        sentences.append(f"{_DOUBT} This interval may be wrong: {', '.join(reasons)}.")
    if "above_chance" not in result.columns or not any(
        "above_chance" in text_column.covers for text_column in columns
    ):
        return sentences
    key_columns = list(
        dict.fromkeys(name for name in (*layout.by, *_MODEL_COLUMNS) if name in result.columns)
    )
    chance_rows = result.filter(pl.col("above_chance").not_())
    groups = chance_rows.select(key_columns).unique(maintain_order=True).iter_rows()
    names = (
        [", ".join(show_names(group_values)) for group_values in groups]
        if key_columns
        else ["these scores"]
    )
    if chance_rows.height:
        sentences.append(f"Not shown to be better than chance: {', '.join(names)}.")
    return sentences


# Values and names: short, harmless, and as wide as they look ------------------------------------

NOTHING = "-"  # stands for null
_MAX_DECIMALS = 6  # as many as Polars shows of a float
_NAME_LETTERS = 32  # of a name, at most: two such names and an answer fit 80 columns


def show_names(values: Sequence[Any]) -> list[str]:
    """Return values of a group column, such as the names of models, so that all can be told apart."""
    names = [
        NOTHING if value is None else f'"{value}"' if value == NOTHING else show_name(str(value))
        for value in values
    ]
    return shorten_names(names, _NAME_LETTERS)


def choose_decimals(values: Sequence[float], ends: Sequence[float] = ()) -> int:
    """Return how many decimals the numbers of a column have, all alike."""
    # The greatest has three digits, and the least two. No share near 1, and no end, is rounded to 1.
    finite_values = [abs(number) for number in values if math.isfinite(number)]
    magnitudes = [number for number in finite_values if number > 0]
    if not magnitudes or all(number == round(number) for number in finite_values):
        return 0
    decimals_below_one = [
        -_exponent(1 - number) for number in [*finite_values, *ends] if 0.9 < number < 1
    ]
    decimals = max(
        2 - _exponent(max(magnitudes)), 1 - _exponent(min(magnitudes)), *decimals_below_one, 0
    )
    shown_digits = (
        f"{number:.{_MAX_DECIMALS}f}".rstrip("0").partition(".")[2] for number in [*finite_values, *ends]
    )
    return min(decimals, max(map(len, shown_digits)), _MAX_DECIMALS)


def _exponent(value: float) -> int:
    return math.floor(math.log10(value))


def show_number(value: float, decimals: int) -> str:
    """Return a number with these decimals; one that would be shown as 0 has an exponent."""
    if not math.isfinite(value):
        return str(value)
    text = f"{value + 0.0:,.{decimals}f}"
    is_lost = value != 0 and float(text.replace(",", "")) == 0
    return f"{value:.1e}" if is_lost else text
