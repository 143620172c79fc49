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
from polars_prcurve.core.ground.internal_names import RESERVED
from polars_prcurve.core.ground.message_text import format_count, shorten_name
from polars_prcurve.core.ground.query_checks import run_query
from polars_prcurve.core.ground.terminal_text import (
    cut_text,
    fill_lines,
    make_harmless,
    measure_width,
    pad_text,
)
from polars_prcurve.core.prevalence.sampled_eta import IS_REFUTED
from polars_prcurve.doors.cli.command_errors import print_sentence
from polars_prcurve.view.words.number_words import NO_BREAK, format_level, say_eta, say_sizes

_ROWS_SHOWN = 50
_ROWS_ORDERED = 5_000  # results of at most this many rows are put in order before they are cut
_MODELS = ("model", "model_a", "model_b")
_LAST = (  # columns that come after all others
    *("standard_error", "tp", "fp", "fn", "tn", "n_pos", "n_neg"),
    *("iterations", "eta_low", "eta_high", "eta_confidence"),
)
_GAP = "  "
_DOUBT = "?"
_SHORT_NAME = 16  # the width that names are not cut below to make room for an interval


class Layout(NamedTuple):
    """How to show the table of a command."""

    by: Sequence[str]  # the group columns
    answers: Sequence[str]  # the columns that answer the question of the command, in order of importance
    level: float | None = None  # the level of intervals
    weighted: bool = False  # whether numbers of examples are sums of weights
    above: str = ""  # what is to be said above the table beside what is the same in all rows


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
    below: Sequence[str] = ()  # of the head and of each cell, on a line of its own: intervals

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
        row = f"{RESERVED}row"
        subjects = [pl.col(row).min().over(subject)] if subject else []
        table = table.with_row_index(row).sort("eta", *subjects, row, nulls_last=True).drop(row)
    return ShownRows(table.head(_ROWS_SHOWN), table.height)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines; what the terminal has no character for becomes a question mark."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print("\n".join(lines).encode(encoding, "replace").decode(encoding))


def print_rows(shown: ShownRows, layout: Layout) -> None:
    """Print a table that fits the terminal, and how much is left out."""
    table, width = shown.table, shutil.get_terminal_size().columns
    colours = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    lines, covered = format_table(table, layout, width, bold=colours and sys.stdout.isatty())
    print_lines(lines)
    counts = [(table.height, shown.n_rows, "rows"), (len(covered), table.width, "columns")]
    left_out = [f"{part} of {total} {what}" for part, total, what in counts if part < total]
    if left_out:
        sys.stdout.flush()
        print_sentence(f"{', '.join(left_out)}; -o FILE writes all, such as -o table.csv")


def format_table(
    table: pl.DataFrame, layout: Layout, width: int, *, bold: bool = False
) -> tuple[list[str], set[str]]:
    """Return the lines of a table of at most this width, and the columns that they show."""
    above, covered = _describe_constants(table, layout)
    # A line for the first row of each prevalence, if prevalences have two rows or more each.
    sections: dict[int, str] = {}
    if "eta" in table.columns and "eta" not in (*layout.answers, *covered):
        ends = [name for name in ("eta", "eta_low", "eta_high") if name in table.columns]
        etas = table.select(ends).rows()
        starts = [row for row in range(len(etas)) if row == 0 or etas[row] != etas[row - 1]]
        if 0 < 2 * len(starts) <= len(etas) and all(eta is not None for eta, *_ in etas):
            sections = {row: _describe_eta(*etas[row]) for row in starts}
    hidden = covered | ({"eta", "eta_low", "eta_high"} if sections else set())
    chosen = _choose_columns(_build_columns(table, layout, hidden), width)
    stacked = [place for place, column in enumerate(chosen) if column.below]
    end = _measure(chosen[: stacked[0] + 1]) if stacked else 0
    padded = (
        [pad_text(cell, column.width, right=column.is_number) for cell in (column.head, *column.cells)]
        for column in chosen
    )
    blocks = []  # the lines of the head and of each row: a second one for an interval below its value
    for row, cells in enumerate(zip(*padded, strict=True)):
        texts = [_GAP.join(cells)]
        texts += [pad_text(chosen[place].below[row], end, right=True) for place in stacked]
        blocks.append([cut_text(text.rstrip(), width) for text in texts if text.strip()])
    head, *body = blocks
    lines = fill_lines(above, width)
    rule = "-" * min(max(map(measure_width, [*head, *chain(*body)])), width)
    lines += [""] if lines else []
    lines += [*(f"\x1b[1m{line}\x1b[0m" if bold else line for line in head), rule]
    for row, texts in enumerate(body):
        if row in sections:
            lines += [*([""] if row else []), *fill_lines(sections[row], width)]
        lines += texts
    for text in _explain(chosen, table, layout):
        lines += ["", *fill_lines(text, width)]
    shown = set().union(*(column.covers for column in chosen))
    return lines, (shown | covered | hidden) & set(table.columns)


# What stands above -------------------------------------------------------------------------------


def _describe_constants(table: pl.DataFrame, layout: Layout) -> tuple[str, set[str]]:
    """Return what is the same in all rows, in words, and the columns that they tell."""
    constant = {
        name
        for name in table.columns
        if name not in (*layout.by, *layout.answers) and table.height and table[name].n_unique() == 1
    }
    parts, told = [], {"eta_confidence", "metric", "guarantee"} & constant
    if "metric" in constant:
        parts.append(show_name(table["metric"][0]))
    is_threshold = (pl.col("criterion") == "threshold") & (pl.col("target") == pl.col("threshold"))
    if {"criterion", "target"} <= constant:
        parts.append(_show_target(*table.select("criterion", "target").row(0)))
        told |= {"criterion", "target"}
    elif (
        {"criterion", "target", "threshold"} <= set(table.columns)
        and table.schema["threshold"].is_numeric()
        and table.select(is_threshold.fill_null(False).all()).item()
    ):  # the threshold of a row has a column anyway
        told |= {"criterion", "target"}
    ends = {"eta_low", "eta_high"} & set(table.columns)
    if {"eta", *ends} <= constant and table["eta"][0] is not None:
        parts.append(_describe_eta(*table.select("eta", *sorted(ends, reverse=True)).row(0)))
        told |= {"eta", *ends}
    parts += [layout.above] if layout.above else []
    if {"n_pos", "n_neg"} <= constant:
        sizes = table.select("n_pos", "n_neg").row(0)
        told |= {"n_pos", "n_neg"}
        said = f"tested on {say_sizes(*map(format_count, sizes))}"
        if layout.weighted:
            pos, neg = (show_number(n, choose_decimals(sizes)) for n in sizes)
            said = f"the weights of positives add up to {pos}, those of negatives to {neg}"
        parts.append(said)
    if "guarantee" in constant:
        parts.append(f"with a guarantee of {table['guarantee'][0]:g}")
    # Columns without a value tell nothing, except group columns and the first answer.
    kept = {*layout.by, *_MODELS, *[name for name in layout.answers if name in table.columns][:1]}
    nulls = {c.name for c in table if c.null_count() == len(c) > 0 and c.name not in kept}
    return "; ".join(parts), told | nulls


def _show_target(criterion: str, target: float | None) -> str:
    return criterion if target is None else f"{criterion} {target:.6g}"


def _describe_eta(eta: float, low: float | None = None, high: float | None = None) -> str:
    """Return a prevalence in words and as a number, with its interval if it has one."""
    ends = "" if low is None or high is None else f", {low:.2g} to {high:.2g}"
    return f"{show_eta(eta)} positive (eta {eta:.4g}{ends})"


# Columns of text ---------------------------------------------------------------------------------


def _build_columns(table: pl.DataFrame, layout: Layout, hidden: set[str]) -> list[TextColumn]:
    """Return all columns as text, those that tell rows apart first, by falling importance."""
    columns: list[TextColumn] = []
    if "metric" in table.columns and "metric" not in hidden:
        columns.append(TextColumn("metric", list(map(show_name, table["metric"])), False, {"metric"}))
    if {"criterion", "target"} <= set(table.columns) - hidden:
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
    told = set().union(hidden, *(column.covers for column in columns))
    criteria = table["criterion"].unique().to_list() if "criterion" in table.columns else []
    last = criteria if criteria in (["recall"], ["alerts"]) else []  # what was asked for is no news
    answers = [*(n for n in layout.answers if n not in last), *(n for n in last if n in layout.answers)]
    answers = answers if "eta" in answers else ["eta", *answers]
    rest = [name for name in table.columns if name not in (*answers, *_LAST)]
    for name in (*answers, *rest, *_LAST):
        if name in table.columns and name not in told:
            columns.append(_build_column(table, name, layout))
            told |= columns[-1].covers
    return columns


def _build_column(table: pl.DataFrame, name: str, layout: Layout) -> TextColumn:
    """Return a column of values, with their intervals if the table has them."""
    values = table[name].to_list()
    found = find_estimate(table.columns, name)
    ends = [] if found.span is None else [found.low, found.high]
    numbers = [table[end].to_list() for end in ends]
    show = _choose_format(table.schema[name], name, values, [end for both in numbers for end in both])
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
        known = zip(numbers[0], table["reliable"], strict=True)
        doubts = [low is not None and reliable is False for low, reliable in known]
        room = " " if any(doubts) else ""
        spans = [span + (_DOUBT if bad else room) for span, bad in zip(spans, doubts, strict=True)]
        covers |= {"reliable", "why", "above_chance"}
    kind = "interval" if layout.level is None else format_level(layout.level).replace(NO_BREAK, " ")
    if name == "value" and layout.level is None:  # of coarse scores, which have no level
        kind = "limits"
    both = [
        f"{cell} {span}" if span.strip() else cell + span
        for cell, span in zip(cells, spans, strict=True)
    ]
    stacked = TextColumn(head, cells, is_number, covers, short, [f"({kind})", *spans])
    return TextColumn(f"{head} ({kind})", both, is_number, covers, stacked)


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
    first = numbers[: next((place for place, column in enumerate(numbers) if column.short), 0) + 1]
    tries = [
        (first, _SHORT_NAME),
        ([*first[:-1], *(column.short or column for column in first[-1:])], _SHORT_NAME // 2),
        ([column.short or column for column in first[:1]], _SHORT_NAME // 4),
    ]
    for answers, least in tries if numbers else ():
        chosen, room = list(keys), width - len(_GAP) - _measure(answers)
        while chosen and _measure(chosen) > room:
            widest = max(chosen, key=lambda column: column.width)
            if widest.width <= least:
                break
            chosen[chosen.index(widest)] = widest.cut(widest.width - 1)
        if _measure([*chosen, *answers]) <= width:
            break
    else:
        chosen = list(keys)
    for column in numbers:
        has_interval = any(c.short for c in chosen)
        narrow = column.short and column.short.short if has_interval else column.short
        fits = [c for c in (column, narrow) if c and _measure([*chosen, c]) <= width]
        if not fits:
            break
        chosen.append(fits[0])
    return chosen or [columns[0]]


def _measure(columns: Sequence[TextColumn]) -> int:
    return sum(column.width for column in columns) + len(_GAP) * (len(columns) - 1)


def _explain(columns: Sequence[TextColumn], table: pl.DataFrame, layout: Layout) -> list[str]:
    """Return what the mark of an interval means, if there is one, and which scores may be chance."""
    said = []
    if any("reliable" in c.covers and any(_DOUBT in cell for cell in c.cells) for c in columns):
        reasons: list[str] = []
        if "why" in table.columns:
            reasons = table["why"].drop_nulls().unique(maintain_order=True).to_list()
        why = f": {', '.join(reasons)}" if reasons else ""
        said.append(f"{_DOUBT} Too little data for an interval that one can rely on{why}.")
    if "above_chance" not in table.columns or not any("above_chance" in c.covers for c in columns):
        return said
    keys = list(dict.fromkeys(name for name in (*layout.by, *_MODELS) if name in table.columns))
    chance = table.filter(pl.col("above_chance").not_())
    groups = chance.select(keys).unique(maintain_order=True).iter_rows()
    names = [", ".join(map(show_name, group)) for group in groups] if keys else ["these scores"]
    if chance.height:
        said.append(f"Not shown to be better than chance: {', '.join(names)}.")
    return said


# Values and names: short, harmless, and as wide as they look ------------------------------------

NOTHING = "-"  # stands for null
_MAX_DECIMALS = 6
_NAME_LETTERS = 32


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
