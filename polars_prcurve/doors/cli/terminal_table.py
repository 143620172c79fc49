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

from polars_prcurve.core.confidence.intervals import find_estimate
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.safe_text import format_count, shorten_name
from polars_prcurve.core.ground.terminal_text import (
    cut_text,
    fill_lines,
    make_harmless,
    measure_width,
    pad_text,
)
from polars_prcurve.core.ground.value_checks import run_query
from polars_prcurve.core.prevalence.sampled_eta import IS_REFUTED
from polars_prcurve.doors.cli.command_errors import print_sentence
from polars_prcurve.view.words.number_words import NO_BREAK, format_level, say_eta, say_sizes

_ROWS_SHOWN = 50  # more would scroll away what stands above the table
_ROWS_ORDERED = 5_000  # results of at most this many rows are put in order before they are cut
_MODELS = ("model", "model_a", "model_b")  # columns that name models, which come after the groups
_LAST = (  # columns that come after all others: counts and details behind the answers
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
_DOUBT = "?"  # behind an interval that is not reliable; `_explain` says below the table what it means
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
        cells = [cut_text(cell, width) for cell in self.cells]
        return self._replace(head=cut_text(self.head, width), cells=cells)


def collect_shown_rows(query: pl.LazyFrame) -> ShownRows:
    """Return the first rows of a query, those that belong together side by side."""
    table = run_query(query.head(_ROWS_ORDERED + 1))  # one row more tells whether any are left out
    if table.height > _ROWS_ORDERED:
        return ShownRows(table.head(_ROWS_SHOWN), run_query(query.select(pl.len())).item())
    subject = [n for n in ("metric", "criterion", "target") if n in table.columns]
    if "eta" in table.columns and (subject or "rank" in table.columns):
        # By prevalence, then by metric or target as they come, then as they are.
        row_number = f"{RESERVED}row"
        subjects = [pl.col(row_number).min().over(subject)] if subject else []
        table = table.with_row_index(row_number)
        table = table.sort("eta", *subjects, row_number, nulls_last=True).drop(row_number)
    return ShownRows(table.head(_ROWS_SHOWN), table.height)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines; what the terminal has no character for becomes a question mark."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print("\n".join(lines).encode(encoding, "replace").decode(encoding))


def print_rows(first_rows: ShownRows, layout: Layout) -> None:
    """Print a table that fits the terminal, and how much is left out."""
    table, width = first_rows.table, shutil.get_terminal_size().columns
    has_colours = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    lines, shown_columns = format_table(table, layout, width, bold=has_colours and sys.stdout.isatty())
    print_lines(lines)
    counts = [(table.height, first_rows.n_rows, "rows"), (len(shown_columns), table.width, "columns")]
    omissions = [f"{part} of {total} {kind}" for part, total, kind in counts if part < total]
    if omissions:
        sys.stdout.flush()
        print_sentence(f"{', '.join(omissions)}; -o FILE writes all, such as -o table.csv")


def format_table(
    table: pl.DataFrame, layout: Layout, width: int, *, bold: bool = False
) -> tuple[list[str], set[str]]:
    """Return the lines of a table of at most this width, and the columns that they show."""
    preface, constant_columns = _describe_constants(table, layout)
    # A line for the first row of each prevalence, if prevalences have two rows or more each.
    sections: dict[int, str] = {}
    if "eta" in table.columns and "eta" not in (*layout.answers, *constant_columns):
        ends = [name for name in ("eta", "eta_low", "eta_high") if name in table.columns]
        etas = table.select(ends).rows()
        starts = [row for row in range(len(etas)) if row == 0 or etas[row] != etas[row - 1]]
        if 0 < 2 * len(starts) <= len(etas) and all(eta is not None for eta, *_ in etas):
            sections = {row: _describe_eta(*etas[row]) for row in starts}
    hidden_columns = constant_columns | ({"eta", "eta_low", "eta_high"} if sections else set())
    columns = _choose_columns(_build_columns(table, layout, hidden_columns), width)
    stacked_places = [place for place, column in enumerate(columns) if column.second_lines]
    end = _measure(columns[: stacked_places[0] + 1]) if stacked_places else 0
    padded_cells = (
        [
            pad_text(cell, column.width, is_right=column.is_number)
            for cell in (column.head, *column.cells)
        ]
        for column in columns
    )
    blocks = []  # the lines of the head and of each row: a second one for an interval below its value
    for row, cells in enumerate(zip(*padded_cells, strict=True)):
        texts = [_GAP.join(cells)]
        texts += [
            pad_text(columns[place].second_lines[row], end, is_right=True) for place in stacked_places
        ]
        blocks.append([cut_text(text.rstrip(), width) for text in texts if text.strip()])
    head, *body = blocks
    lines = fill_lines(preface, width)
    rule = "-" * min(max(map(measure_width, [*head, *chain(*body)])), width)
    lines += [""] if lines else []
    lines += [*(f"\x1b[1m{line}\x1b[0m" if bold else line for line in head), rule]
    for row, texts in enumerate(body):
        if row in sections:
            lines += [*([""] if row else []), *fill_lines(sections[row], width)]
        lines += texts
    for text in _explain(columns, table, layout):
        lines += ["", *fill_lines(text, width)]
    shown_columns = set().union(*(column.covers for column in columns))
    return lines, (shown_columns | constant_columns | hidden_columns) & set(table.columns)


# What stands above -------------------------------------------------------------------------------


def _describe_constants(table: pl.DataFrame, layout: Layout) -> tuple[str, set[str]]:
    """Return what is the same in all rows, in words, and the columns that they tell."""
    constant_columns = {
        name
        for name in table.columns
        if name not in (*layout.by, *layout.answers) and table.height and table[name].n_unique() == 1
    }
    parts, covered_columns = [], {"eta_confidence", "metric", "guarantee"} & constant_columns
    if "metric" in constant_columns:
        parts.append(show_name(table["metric"][0]))
    is_threshold = (pl.col("criterion") == "threshold") & (pl.col("target") == pl.col("threshold"))
    if {"criterion", "target"} <= constant_columns:
        parts.append(_show_target(*table.select("criterion", "target").row(0)))
        covered_columns |= {"criterion", "target"}
    elif (
        {"criterion", "target", "threshold"} <= set(table.columns)
        and table.schema["threshold"].is_numeric()
        and table.select(is_threshold.fill_null(False).all()).item()
    ):  # the threshold of a row has a column anyway
        covered_columns |= {"criterion", "target"}
    ends = {"eta_low", "eta_high"} & set(table.columns)
    if {"eta", *ends} <= constant_columns and table["eta"][0] is not None:
        parts.append(_describe_eta(*table.select("eta", *sorted(ends, reverse=True)).row(0)))
        covered_columns |= {"eta", *ends}
    parts += [layout.preface] if layout.preface else []
    if {"n_pos", "n_neg"} <= constant_columns:
        sizes = table.select("n_pos", "n_neg").row(0)
        covered_columns |= {"n_pos", "n_neg"}
        text = f"tested on {say_sizes(*map(format_count, sizes))}"
        if layout.is_weighted:
            pos, neg = (show_number(n, choose_decimals(sizes)) for n in sizes)
            text = f"the weights of positives add up to {pos}, those of negatives to {neg}"
        parts.append(text)
    if "guarantee" in constant_columns:
        parts.append(f"with a guarantee of {table['guarantee'][0]:g}")
    # Columns without a value tell nothing, except group columns and the first answer.
    first_answer = [name for name in layout.answers if name in table.columns][:1]
    exempt_columns = {*layout.by, *_MODELS, *first_answer}
    nulls = {c.name for c in table if c.null_count() == len(c) > 0 and c.name not in exempt_columns}
    return "; ".join(parts), covered_columns | nulls


def _show_target(criterion: str, target: float | None) -> str:
    return criterion if target is None else f"{criterion} {target:.6g}"


def _describe_eta(eta: float, low: float | None = None, high: float | None = None) -> str:
    """Return a prevalence in words and as a number, with its interval if it has one."""
    ends = "" if low is None or high is None else f", {low:.2g} to {high:.2g}"
    return f"{show_eta(eta)} positive (eta {eta:.4g}{ends})"


# Columns of text ---------------------------------------------------------------------------------


def _build_columns(table: pl.DataFrame, layout: Layout, hidden_columns: set[str]) -> list[TextColumn]:
    """Return all columns as text, those that tell rows apart first, by falling importance."""
    columns: list[TextColumn] = []
    if "metric" in table.columns and "metric" not in hidden_columns:
        columns.append(TextColumn("metric", list(map(show_name, table["metric"])), False, {"metric"}))
    if {"criterion", "target"} <= set(table.columns) - hidden_columns:
        cells = [_show_target(*pair) for pair in table.select("criterion", "target").iter_rows()]
        columns.append(TextColumn("target", cells, False, {"criterion", "target"}))
    if columns:  # the first leaves out a text that is repeated
        etas = table["eta"].to_list() if "eta" in table.columns else [None] * table.height
        rows = list(zip(columns[0].cells, etas, strict=True))
        cells = ["" if k and row == rows[k - 1] else row[0] for k, row in enumerate(rows)]
        columns[0] = columns[0]._replace(cells=cells)
    keys = [name for name in (*layout.by, *_MODELS) if name in table.columns]
    columns += [
        TextColumn(make_harmless(name), list(map(show_name, table[name])), False, {name})
        for name in dict.fromkeys(keys)
    ]
    covered_columns = set().union(hidden_columns, *(column.covers for column in columns))
    criteria = table["criterion"].unique().to_list() if "criterion" in table.columns else []
    targets = criteria if criteria in (["recall"], ["alerts"]) else []
    # What was asked for is no news, and comes last.
    answers = sorted(layout.answers, key=lambda name: name in targets)
    answers = answers if "eta" in answers else ["eta", *answers]
    rest = [name for name in table.columns if name not in (*answers, *_LAST)]
    for name in (*answers, *rest, *_LAST):
        if name in table.columns and name not in covered_columns:
            columns.append(_build_column(table, name, layout))
            covered_columns |= columns[-1].covers
    return columns


def _build_column(table: pl.DataFrame, name: str, layout: Layout) -> TextColumn:
    """Return a column of values, with their intervals if the table has them."""
    values = table[name].to_list()
    estimate = find_estimate(table.columns, name)
    ends = [] if estimate.span is None else [estimate.low, estimate.high]
    numbers = [table[end].to_list() for end in ends]
    show = _choose_format(table.schema[name], name, values, ends=[*chain(*numbers)])
    cells = [NOTHING if value is None else show(value) for value in values]
    if name == "eta" and "shift_p_value" in table.columns:
        refuted = table.select(IS_REFUTED.fill_null(False)).to_series()
        cells = ["worthless" if is_bad else cell for cell, is_bad in zip(cells, refuted, strict=True)]
        numbers = [
            [None if is_bad else v for v, is_bad in zip(n, refuted, strict=True)] for n in numbers
        ]
    head, is_number = make_harmless(name), table.schema[name].is_numeric()
    short = TextColumn(head, cells, is_number, {name})
    if not ends or (name == "eta" and name not in layout.answers):
        return short
    spans = [
        "" if low is None or high is None else f"({show(low)} to {show(high)})"
        for low, high in zip(*numbers, strict=True)
    ]
    covers = {name, *ends}
    if "low" in ends and "reliable" in table.columns:
        reliabilities = zip(numbers[0], table["reliable"], strict=True)
        doubts = [low is not None and reliable is False for low, reliable in reliabilities]
        room = " " if any(doubts) else ""
        spans = [span + (_DOUBT if bad else room) for span, bad in zip(spans, doubts, strict=True)]
        covers |= {"reliable", "why", "above_chance"}
    kind = "interval" if layout.level is None else format_level(layout.level).replace(NO_BREAK, " ")
    if name == "value" and layout.level is None:  # of coarse scores, which have no level
        kind = "limits"
    full_cells = [
        f"{cell} {span}" if span.strip() else cell + span
        for cell, span in zip(cells, spans, strict=True)
    ]
    stacked = TextColumn(head, cells, is_number, covers, short, [f"({kind})", *spans])
    return TextColumn(f"{head} ({kind})", full_cells, is_number, covers, stacked)


def _choose_format(
    dtype: pl.DataType, name: str, values: list[Any], ends: list[Any]
) -> Callable[[Any], str]:
    """Return what writes the values of a column alike; six digits tell most scores apart."""
    if dtype == pl.Boolean:
        return lambda value: "yes" if value else "no"
    if name in ("eta", "eta_low", "eta_high"):
        return show_eta
    if name in ("threshold", "score", "holds_from", "holds_to") or not dtype.is_numeric():
        return lambda x: make_harmless(f"{x + 0.0:.6g}" if isinstance(x, float) else str(x))
    if name in ("p_value", "p_adjusted", "shift_p_value"):
        return lambda value: "< 0.001" if value < 0.001 else f"{value:.3f}"
    if dtype.is_integer():
        return format_count
    decimals = choose_decimals(*([v for v in numbers if v is not None] for numbers in (values, ends)))
    return lambda value: show_number(value, decimals)


# What fits ---------------------------------------------------------------------------------------


def _choose_columns(columns: Sequence[TextColumn], width: int) -> list[TextColumn]:
    """Return the columns that fit, in order; names are cut if the first answer needs the room."""
    # Of the first interval that has no room beside its value, and of no other, each row gets a line.
    n_keys = next((i for i, column in enumerate(columns) if column.is_number), len(columns))
    keys, numbers = columns[:n_keys], columns[n_keys:]
    # What names are cut for, and how far: the answers up to the first interval, or the first of them.
    first_interval = next((place for place, column in enumerate(numbers) if column.short), 0)
    first_answers = numbers[: first_interval + 1]
    shorter_answers = [column.short or column for column in first_answers]
    tries = [
        (first_answers, _SHORT_NAME),
        ([*first_answers[:-1], *shorter_answers[-1:]], _SHORT_NAME // 2),
        (shorter_answers[:1], _SHORT_NAME // 4),
    ]
    for answers, least_width in tries if numbers else ():
        selection, free_width = list(keys), width - len(_GAP) - _measure(answers)
        while selection and _measure(selection) > free_width:
            widest = max(selection, key=lambda column: column.width)
            if widest.width <= least_width:
                break
            selection[selection.index(widest)] = widest.cut(widest.width - 1)
        if _measure([*selection, *answers]) <= width:
            break
    else:
        selection = list(keys)
    for column in numbers:
        has_interval = any(c.short for c in selection)
        narrow = column.short and column.short.short if has_interval else column.short
        fitting = [c for c in (column, narrow) if c and _measure([*selection, c]) <= width]
        if not fitting:
            break
        selection.append(fitting[0])
    return selection or [columns[0]]


def _measure(columns: Sequence[TextColumn]) -> int:
    return sum(column.width for column in columns) + len(_GAP) * (len(columns) - 1)


def _explain(columns: Sequence[TextColumn], table: pl.DataFrame, layout: Layout) -> list[str]:
    """Return what the mark of an interval means, if there is one, and which scores may be chance."""
    sentences = []
    if any("reliable" in c.covers and any(_DOUBT in cell for cell in c.cells) for c in columns):
        reasons: list[str] = []
        if "why" in table.columns:
            reasons = table["why"].drop_nulls().unique(maintain_order=True).to_list()
        reason_text = f": {', '.join(reasons)}" if reasons else ""
        sentences.append(f"{_DOUBT} Too little data for an interval that one can rely on{reason_text}.")
    if "above_chance" not in table.columns or not any("above_chance" in c.covers for c in columns):
        return sentences
    keys = list(dict.fromkeys(name for name in (*layout.by, *_MODELS) if name in table.columns))
    chance_rows = table.filter(pl.col("above_chance").not_())
    groups = chance_rows.select(keys).unique(maintain_order=True).iter_rows()
    names = [", ".join(map(show_name, group)) for group in groups] if keys else ["these scores"]
    if chance_rows.height:
        sentences.append(f"Not shown to be better than chance: {', '.join(names)}.")
    return sentences


# Values and names: short, harmless, and as wide as they look ------------------------------------

NOTHING = "-"  # stands for null
_MAX_DECIMALS = 6  # as many as Polars shows of a float
_NAME_LETTERS = 32  # of a name, at most: two such names and an answer fit 80 columns


def show_name(value: Any) -> str:
    """Return a value of a group column, such as the name of a model."""
    return NOTHING if value is None else shorten_name(make_harmless(str(value)), _NAME_LETTERS) or '""'


def show_eta(eta: float) -> str:
    """Return a prevalence as `1 in 1 000`."""
    return say_eta(eta).replace(NO_BREAK, " ")


def choose_decimals(values: Sequence[float], ends: Sequence[float] = ()) -> int:
    """Return how many decimals the numbers of a column have, all alike."""
    # The greatest has three digits, and the least two. No share near 1, and no end, is rounded to 1.
    finite = [abs(value) for value in values if math.isfinite(value)]
    sizes = [value for value in finite if value > 0]
    if not sizes or all(value == round(value) for value in finite):
        return 0
    gaps = [-_exponent(1 - value) for value in [*finite, *ends] if 0.9 < value < 1]
    decimals = max(2 - _exponent(max(sizes)), 1 - _exponent(min(sizes)), *gaps, 0)
    digits = (f"{value:.{_MAX_DECIMALS}f}".rstrip("0").partition(".")[2] for value in [*finite, *ends])
    return min(decimals, max(map(len, digits)), _MAX_DECIMALS)


def _exponent(value: float) -> int:
    return math.floor(math.log10(value))


def show_number(value: float, decimals: int) -> str:
    """Return a number with these decimals; one that would be shown as 0 has an exponent."""
    if not math.isfinite(value):
        return str(value)
    text = f"{value + 0.0:,.{decimals}f}".replace(",", " ")
    is_lost = value != 0 and float(text.replace(" ", "")) == 0
    return f"{value:.1e}" if is_lost else text
