"""The table that a terminal shows: what is the same in all rows, then those columns that fit.

They are those that distinguish rows, then the answers, then others, and the last ones go first. A value
and its interval are one column; if the first one has no room, its interval stands below.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from shutil import get_terminal_size
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.confidence.estimates import find_estimate
from polars_prcurve.core.ground.message_text import format_count
from polars_prcurve.core.ground.progress import clear_line, is_watched, print_beside
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.terminal_text import (
    TextColumn,
    cut_text,
    fill_lines,
    lay_out,
    make_harmless,
    measure_columns,
    measure_width,
)
from polars_prcurve.core.ground.value_checks import run_query
from polars_prcurve.core.ground.visible_names import shorten_name, shorten_names, show_name
from polars_prcurve.core.prevalence.estimated_eta import IS_REFUTED
from polars_prcurve.doors.cli.parser import PROGRAM
from polars_prcurve.view.words.number_words import NO_BREAK, format_level, map_etas, say_eta, say_sizes

_MOST_SHOWN_ROWS = 50  # more would scroll away what stands above the table
_MOST_SORTED_ROWS = 5_000  # results of at most this many rows are put in order before they are cut
_MODEL_COLUMNS = ("model", "model_a", "model_b")  # columns that name models, which come after the groups
_DOUBT = "?"  # behind an interval in doubt; a sentence below the table has the reason
_NAME_LETTERS = 32  # of a name, at most: two such names and an answer fit 80 columns
_NAME_BESIDE, _NAME_ABOVE, _NAME_ALONE = 16, 8, 4
"""The letters that names keep at least to make room for the first interval: while it stands beside its
value, then below it, then without the answers before it."""
_MAX_DECIMALS = 6  # as many as Polars shows of a float
NOTHING = "-"  # represents null


# What is printed ---------------------------------------------------------------------------------


def print_sentence(text: str) -> None:
    """Print a sentence on standard error: in one line, or as a terminal has room for."""
    clear_line()
    lines = fill_lines(text, get_terminal_size().columns) if is_watched() else [text]
    print_beside("\n".join(lines))


def print_note(text: str) -> None:
    """Print a sentence on what the result lacks, whoever reads standard error."""
    print_sentence(f"{PROGRAM}: {text}")


def print_text(text: str) -> None:
    """Print a text; what the terminal has no character for becomes a question mark."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding))


class Layout(NamedTuple):
    """How to show the table of a command."""

    by: Sequence[str]  # the columns that name groups, as far as the table has them
    answers: Sequence[str]  # the columns that answer the question of the command, in order of importance
    level: float | None = None  # the level of intervals


def collect_shown_rows(query: pl.LazyFrame) -> tuple[pl.DataFrame, int]:
    """Return the first rows of a query, by prevalence, then by metric or target, and how many it has."""
    result = run_query(query.head(_MOST_SORTED_ROWS + 1))  # one row more shows whether any are left out
    if result.height > _MOST_SORTED_ROWS:
        return result.head(_MOST_SHOWN_ROWS), run_query(query.select(pl.len())).item()
    subject_columns = [name for name in ("metric", "criterion", "target") if name in result.columns]
    if "eta" in result.columns and (subject_columns or "rank" in result.columns):
        row = f"{RESERVED}row"
        firsts = [pl.col(row).min().over(subject_columns)] if subject_columns else []
        result = result.with_row_index(row).sort("eta", *firsts, row, nulls_last=True).drop(row)
    return result.head(_MOST_SHOWN_ROWS), result.height


def print_rows(rows: pl.DataFrame, n_rows: int, layout: Layout) -> None:
    """Print a table that fits the terminal, and how much is left out."""
    lines, shown_columns = format_table(rows, layout, get_terminal_size().columns)
    print_text("\n".join(lines))
    counts = {"rows": (rows.height, n_rows), "columns": (len(shown_columns), rows.width)}
    omissions = [f"{n} of {n_all} {unit}" for unit, (n, n_all) in counts.items() if n < n_all]
    if omissions:
        sys.stdout.flush()
        print_sentence(f"{', '.join(omissions)}; -o FILE writes all, such as -o table.csv")


def format_table(result: pl.DataFrame, layout: Layout, width: int) -> tuple[list[str], set[str]]:
    """Return the lines of a table of at most this width, and the columns that they show."""
    subjects = _describe_subjects(result, layout)
    columns = _choose_columns([*subjects.columns, *_build_columns(result, layout, subjects)], width)
    head_lines, *rows = ([cut_text(line, width) for line in lines] for lines in lay_out(columns))
    rule_width = max(measure_width(line) for lines in (head_lines, *rows) for line in lines)
    lines = [*fill_lines("; ".join(subjects.phrases), width), ""] if subjects.phrases else []
    lines += [*head_lines, "-" * rule_width]
    for row, row_lines in enumerate(rows):
        if row in subjects.heading_of_row:
            lines += [*([""] if row else []), *fill_lines(subjects.heading_of_row[row], width)]
        lines += row_lines
    if any(span.endswith(_DOUBT) for column in columns for span in column.spans):
        reasons = ", ".join(result[DOUBT].drop_nulls().unique(maintain_order=True))
        lines += ["", *fill_lines(f"{_DOUBT} This interval may be wrong: {reasons}.", width)]
    return lines, subjects.replaced_names.union(*(column.shown_names for column in columns))


def _choose_columns(columns: Sequence[TextColumn], width: int) -> list[TextColumn]:
    """Return the columns that fit; the last ones go first, and never the first interval."""
    n_names = next((place for place, column in enumerate(columns) if not column.is_text), len(columns))
    n_before = next((place for place, column in enumerate(columns) if column.spans), n_names)
    names, answers, others = columns[:n_names], columns[n_names:n_before], columns[n_before:]
    stacked = [column._replace(is_stacked=True) for column in others]
    needs = [
        (_NAME_BESIDE, [*answers, *others[:1]]),
        (_NAME_ABOVE, [*answers, *stacked[:1]]),
        (_NAME_ALONE, stacked[:1]),
        *([(_NAME_ALONE, [])] if names else []),
    ]
    choices = [
        [*(name.cut(letters) if name.width > letters else name for name in names), *needed]
        for least_letters, needed in needs
        for letters in range(_NAME_LETTERS, least_letters - 1, -1)
    ]
    fitting = (choice for choice in choices if measure_columns(choice) <= width)
    chosen_columns = next(fitting, choices[-1])
    for column in (stacked if chosen_columns[-1].is_stacked else others)[1:]:
        if measure_columns([*chosen_columns, column]) > width:
            break
        chosen_columns.append(column)
    return chosen_columns


# What rows are about -----------------------------------------------------------------------------


class _Subjects(NamedTuple):
    """What the rows of a table are about, in words."""

    phrases: list[str]  # of all rows
    heading_of_row: dict[int, str]  # above the first row that it is of
    columns: list[TextColumn]
    replaced_names: set[str]  # the columns that phrases and headings replace, or that are empty


def _describe_eta(eta: float, low: float | None = None, high: float | None = None) -> str:
    """Return a prevalence in words and as a number, with its interval if it has one."""
    span_text = "" if low is None or high is None else f", {low:.2g} to {high:.2g}"
    return f"{say_eta(eta).replace(NO_BREAK, ' ')} positive (eta {eta:.4g}{span_text})"


_DESCRIPTIONS: dict[tuple[str, ...], Callable[..., str]] = {
    ("metric",): str,
    ("criterion", "target"): lambda criterion, target=None: (
        criterion if target is None else f"{criterion} {target:.6g}"
    ),
    ("eta", "eta_low", "eta_high"): _describe_eta,
    ("n_pos", "n_neg"): lambda *sizes: f"tested on {say_sizes(*map(format_count, sizes))}",
    ("guarantee",): lambda level: f"with a guarantee of {level:g}",
    ("model_a", "model_b"): lambda *models: " minus ".join(map(show_name, map(str, models))),
}
"""The words for columns that need no column on a terminal where all rows have the same values."""


def _describe_subjects(result: pl.DataFrame, layout: Layout) -> _Subjects:
    """Return what all rows are about, what those of each prevalence are, and what each row is."""
    # Columns without a value are no use, except group columns and the first answer.
    first_answer = next((name for name in layout.answers if name in result.columns), "")
    empty_names = {column.name for column in result if column.null_count() == len(column) > 0}
    replaced_names = {"eta_confidence"} & {*result.columns} | empty_names
    subjects = _Subjects([], {}, [], replaced_names - {*layout.by, *_MODEL_COLUMNS, first_answer})
    other_names = {*result.columns} - subjects.replaced_names - {*layout.by, *layout.answers}
    etas = result["eta"] if "eta" in result.columns else [None] * result.height
    for columns, describe in _DESCRIPTIONS.items():
        names = [name for name in columns if name in other_names]
        rows = result.select(names).rows()
        is_counted = columns[0] != "n_pos" or (len(names) == 2 and result.schema["n_pos"].is_integer())
        if columns[0] not in names or not is_counted or any(first is None for first, *_ in rows):
            continue
        texts = [describe(*row) for row in rows]
        starts = [row for row in range(len(rows)) if row == 0 or rows[row] != rows[row - 1]]
        if len({*rows}) == 1:
            subjects.phrases.append(shorten_name(texts[0]))
        elif columns[0] == "eta" and 2 * len(starts) <= len(rows):
            subjects.heading_of_row.update({row: texts[row] for row in starts})
        elif columns[0] in ("metric", "criterion") and {row[0] for row in rows} != {"threshold"}:
            cells = shorten_names(texts, _NAME_LETTERS)
            if not subjects.columns:  # the first leaves out a text that is repeated
                pairs = list(zip(cells, etas, strict=True))
                cells = ["" if n and pair == pairs[n - 1] else pair[0] for n, pair in enumerate(pairs)]
            head = "metric" if columns[0] == "metric" else "target"
            subjects.columns.append(TextColumn(head, cells, is_text=True, shown_names=names))
        elif columns[0] != "criterion":  # thresholds have a column of their own
            continue
        subjects.replaced_names.update(names)
    return subjects


# Columns of text ---------------------------------------------------------------------------------


def _build_columns(result: pl.DataFrame, layout: Layout, subjects: _Subjects) -> list[TextColumn]:
    """Return the columns of groups and models, then those of values by falling importance."""
    known_names = {*result.columns} - subjects.replaced_names
    names = [name for name in dict.fromkeys((*layout.by, *_MODEL_COLUMNS)) if name in known_names]
    columns = [
        TextColumn(make_harmless(name), show_names(result[name].to_list()), True, [name])
        for name in names
    ]
    shown_names = {*names, *subjects.replaced_names}
    first_names = layout.answers if "eta" in layout.answers else ("eta", *layout.answers)
    for name in (*first_names, *result.columns):
        if name in result.columns and name not in shown_names:
            columns.append(_build_column(result, name, layout))
            shown_names |= {*columns[-1].shown_names}
    return columns


def _build_column(result: pl.DataFrame, name: str, layout: Layout) -> TextColumn:
    """Return a column of values, with their intervals if the table has them."""
    estimate, values = find_estimate(result.columns, name), result[name].to_list()
    has_span = estimate.span is not None and (name != "eta" or name in layout.answers)
    end_names = [estimate.low, estimate.high] if has_span else []
    ends = [result[end_name].to_list() for end_name in end_names]
    show = _choose_format(result.schema[name], name, values, [end for column in ends for end in column])
    cells = [NOTHING if value is None else show(value) for value in values]
    spans = [
        "" if low is None or high is None else f"({show(low)} to {show(high)})"
        for low, high in zip(*ends, strict=True)
    ]
    if name == "eta" and "shift_p_value" in result.columns:
        for row in result.select(pl.arg_where(IS_REFUTED)).to_series():
            cells[row], spans[row : row + 1] = "worthless", [""] * has_span
    # Without a level they are what coarse scores leave open.
    level_text = "limits" if layout.level is None else format_level(layout.level)
    shown_names = [name, *end_names]
    if "low" in end_names and DOUBT in result.columns:
        has_doubt = [bool(span and doubt) for span, doubt in zip(spans, result[DOUBT], strict=True)]
        blank = " " if any(has_doubt) else ""
        marks = [_DOUBT if is_doubtful else blank for is_doubtful in has_doubt]
        spans = [span and span + mark for span, mark in zip(spans, marks, strict=True)]
        shown_names.append(DOUBT)
    is_text = not result.schema[name].is_numeric()
    level = f"({level_text})" if has_span else ""
    return TextColumn(make_harmless(name), cells, is_text, shown_names, spans, level)


def _choose_format(
    dtype: pl.DataType, name: str, values: list[Any], ends: list[Any]
) -> Callable[[Any], str]:
    """Return what writes the values of a column alike; six digits distinguish most scores."""
    if dtype == pl.Boolean:
        return lambda value: "yes" if value else "no"
    if name in ("eta", "eta_low", "eta_high"):
        text_of_eta = map_etas([*values, *ends])
        return lambda eta: text_of_eta[eta].replace(NO_BREAK, " ")
    if name in ("threshold", "score", "holds_from", "holds_to") or not dtype.is_numeric():
        return lambda value: make_harmless(
            f"{value + 0.0:.6g}" if isinstance(value, float) else str(value)
        )
    if name in ("p_value", "p_adjusted", "shift_p_value"):
        return lambda value: "< 0.001" if value < 0.001 else f"{value:.3f}"
    if dtype.is_integer():
        return format_count
    numbers, end_numbers = (
        [number for number in column if number is not None] for column in (values, ends)
    )
    decimals = choose_decimals(numbers, end_numbers)
    return lambda value: show_number(value, decimals)


def show_names(values: Sequence[Any]) -> list[str]:
    """Return values of a group column, such as the names of models, so that all can be distinguished."""
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
    below_one = [-_exponent(1 - number) for number in [*finite_values, *ends] if 0.9 < number < 1]
    decimals = max(2 - _exponent(max(magnitudes)), 1 - _exponent(min(magnitudes)), *below_one, 0)
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
