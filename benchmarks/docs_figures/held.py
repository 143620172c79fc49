"""How a figure of the docs is held to a stored table: sentences with gaps, and whole tables.

A sentence names a page and a text with a gap for each figure, `{}` or `{:.0f}`. Between its words there
may be any line break in the page. A grid is a table of Markdown, found by its line of heads.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

ROOT = Path(__file__).parent.parent.parent
TABLES = ROOT / "benchmarks" / "coverage"
GAP = re.compile(r"\{(?::([^}]*))?\}")
NUMBER = r"-?\d[\d.]*(?: \d{3})*|none"


@cache
def read_table(name: str) -> pl.DataFrame:
    """Return the stored rows of an experiment."""
    return pl.read_csv(TABLES / f"{name}.csv", infer_schema_length=None)


def is_stored(name: str) -> bool:
    return (TABLES / f"{name}.csv").exists()


@dataclass(frozen=True)
class Figure:
    """One number, an expression over a stored table."""

    table: str
    expression: pl.Expr

    @property
    def tables(self) -> set[str]:
        return {self.table}

    def find_value(self) -> Any:
        return read_table(self.table).select(self.expression).item()


@dataclass(frozen=True)
class Stored:
    """A stored table, of which a call makes a figure."""

    name: str

    def __call__(self, expression: pl.Expr) -> Figure:
        return Figure(self.name, expression)


def show_number(value: Any, spec: str | None) -> str:
    """Return a figure as the docs print it: counts with spaces, others with one digit unless said."""
    if value is None:
        return "none"
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ")
    # As `show` rounds: 95.45, which is a little less as a float, is in the middle.
    return format(Decimal(repr(round(value, 6))), spec or ".1f")


class Sentence:
    """A text of a page with gaps, and the figures that fill them."""

    def __init__(self, page: str, text: str, *figures: Figure) -> None:
        self.page, self.text, self.figures = page, text, figures
        self.tables = {figure.table for figure in figures}

    @property
    def pattern(self) -> re.Pattern[str]:
        """What finds the text in the page, whatever its figures are and its lines break."""
        words = re.split(r"\s+", GAP.sub("\0", self.text))
        parts = (re.escape(word).replace("\0", f"({NUMBER})") for word in words)
        return re.compile(r"\s+".join(parts))

    def find_figures(self) -> list[str]:
        """Return the figures as they have to stand in the page."""
        specs = GAP.findall(self.text)
        assert len(specs) == len(self.figures), f"{len(self.figures)} figures: {self.text}"
        values = (figure.find_value() for figure in self.figures)
        return [show_number(value, spec) for value, spec in zip(values, specs, strict=True)]

    def find(self, page: str) -> re.Match[str]:
        """Return the place of the text; raise unless the page has it once."""
        found = list(self.pattern.finditer(page))
        if len(found) != 1:
            raise LookupError(
                f"expected once in docs/{self.page}.md, found {len(found)} times: {self.text}"
            )
        return found[0]

    def write(self, page: str) -> str:
        """Return the page with the figures in their gaps."""
        match = self.find(page)
        for number, figure in reversed([*enumerate(self.find_figures(), 1)]):
            start, end = match.span(number)
            page = page[:start] + figure + page[end:]
        return page


class Grid:
    """A table of a page, all of whose cells come from stored ones."""

    def __init__(
        self, page: str, table: str, heads: str, make: Callable[[pl.DataFrame], pl.DataFrame]
    ) -> None:
        self.page, self.text, self.tables, self.make = page, heads, {table}, make

    def find(self, page: str) -> re.Match[str]:
        """Return the place of the table; raise unless the page has it once."""
        pattern = re.escape(self.text) + r"\n\|[-| ]+\|\n(?P<rows>(?:\|.*\n)*)"
        found = list(re.finditer(pattern, page))
        if len(found) != 1:
            raise LookupError(
                f"expected once in docs/{self.page}.md, found {len(found)} times: {self.text}"
            )
        return found[0]

    def write(self, page: str) -> str:
        """Return the page with the rows of the stored table."""
        (table,) = self.tables
        rows = self.make(read_table(table)).rows()
        lines = "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |") for row in rows)
        start, end = self.find(page).span("rows")
        return page[:start] + lines + page[end:]


Held = Sentence | Grid

# What figures and cells are made of -----------------------------------------------------------


def percent(column: str | pl.Expr) -> pl.Expr:
    """Return a share of 1 in per cent."""
    return 100 * (pl.col(column) if isinstance(column, str) else column)


def choose(column: str | pl.Expr, *where: pl.Expr) -> pl.Expr:
    """Return a column, of the rows for which all conditions hold."""
    expression = pl.col(column) if isinstance(column, str) else column
    return expression.filter(*where) if where else expression


def least(column: str | pl.Expr, *where: pl.Expr) -> pl.Expr:
    return percent(choose(column, *where).min())


def most(column: str | pl.Expr, *where: pl.Expr) -> pl.Expr:
    return percent(choose(column, *where).max())


def mean(column: str | pl.Expr, *where: pl.Expr) -> pl.Expr:
    return percent(choose(column, *where).mean())


def count(*where: pl.Expr) -> pl.Expr:
    return pl.len() if not where else pl.all_horizontal(*where).sum().cast(pl.Int64)


def near(column: str, *where: pl.Expr) -> pl.Expr:
    """Return how many shares are 93 to 97 %."""
    return choose(column, *where).is_between(0.93, 0.97).sum().cast(pl.Int64)


def summarize(column: str, *where: pl.Expr) -> list[pl.Expr]:
    """Return the number of cells, the least and the greatest share, and how many are 93 to 97 %."""
    return [count(*where), least(column, *where), most(column, *where), near(column, *where)]


def find_ends(column: str, *where: pl.Expr) -> list[pl.Expr]:
    """Return the least and the greatest share."""
    return [least(column, *where), most(column, *where)]


def standard_error() -> pl.Expr:
    """Return the standard error of a coverage of 95 %, or of a promise of it, in percentage points."""
    return 100 * (0.95 * 0.05 / pl.col("n_sets").min()).sqrt()


def show(column: str | pl.Expr, digits: int = 1) -> pl.Expr:
    """Return a column of numbers as text with so many digits; null is empty."""
    numbers = pl.col(column) if isinstance(column, str) else column
    return pl.format("{}", numbers.round(digits).cast(pl.Decimal(18, digits))).fill_null("")


def show_share(column: str) -> pl.Expr:
    return show(percent(column)).alias(column)


def show_count(column: str) -> pl.Expr:
    """Return whole numbers with a space after thousands."""
    text = pl.col(column).cast(pl.Int64).cast(pl.String)
    return text.str.replace(r"(\d)(\d{3})$", "$1 $2").fill_null("")


def show_number_as_it_is(column: str) -> pl.Expr:
    """Return numbers with the digits that they have; null is empty."""
    return pl.format("{}", pl.col(column)).str.replace(r"\.0$", "").fill_null("")
