"""How a figure of the docs is held to a stored table: sentences, and rows of tables, with gaps.

A sentence names a page and a text with a gap for each figure, `{}` or `{:.0f}`. Between its words there
may be any line break in the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

ROOT = Path(__file__).parent.parent.parent
TABLES = ROOT / "benchmarks" / "coverage"
GAP = re.compile(r"\{(?::([^}]*))?\}")
NUMBER = r"-?\d[\d.]*(?:,\d{3})*|none"


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
    """Return a figure as the docs print it: counts with commas, others with one digit unless said."""
    if value is None:
        return "none"
    if isinstance(value, int):
        return f"{value:,}"
    # 95.45, which is a little less as a float, is in the middle.
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


def find_ends(column: str, *where: pl.Expr) -> list[pl.Expr]:
    """Return the least and the greatest share."""
    return [least(column, *where), most(column, *where)]


def standard_error() -> pl.Expr:
    """Return the standard error of a coverage of 95%, or of a promise of it, in percentage points."""
    return 100 * (0.95 * 0.05 / pl.col("n_sets").min()).sqrt()
