"""What the scripts share: a figure with its criteria, its size, its chart, and the command line."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import polars as pl

OUT = Path("out", "papers")
NUMBER = re.compile(r"(at most |±)?[\d.e-]+( %)?")


class Limit(NamedTuple):
    """From where to where a number is accepted, and how that is written."""

    low: float
    high: float
    text: str
    decimals: int


class Criterion(NamedTuple):
    """One number that a script finds, beside what the paper says of it."""

    figure: str
    what: str
    paper: str
    found: str
    limit: str
    holds: bool
    exact: bool
    """Whether the number is the same in a fast run."""
    listed: bool
    """Whether it is on the page of all papers: what a paper prints as a number, and what tells more."""


class OutsideError(AssertionError):
    """A number is outside of its limit."""


def about(expected: float, within: float) -> Limit:
    """As close to it as that."""
    if within == 0:
        return Limit(expected, expected, f"exactly {_said(expected, 6)}", 6)
    decimals = min(12, max(3, math.ceil(-math.log10(within)) + (within > 1e-4)))
    slack = f"{within:.2g}".replace("e-0", "e-")
    return Limit(
        expected - within, expected + within, f"{_said(expected, decimals)} ± {slack}", decimals
    )


def at_most(high: float) -> Limit:
    return Limit(-math.inf, high, f"at most {high:g}", 4)


def at_least(low: float) -> Limit:
    return Limit(low, math.inf, f"at least {low:g}", 4)


REPORTED = Limit(-math.inf, math.inf, "", 3)
"""Told, and not held to anything."""


@dataclass
class Figure:
    """What a script fills in: numbers with their limits. Its chart is what its `main` returns."""

    name: str
    fast: bool = False
    criteria: list[Criterion] = field(default_factory=list)
    _sized: bool = False

    def size(self, full: int, fast: int) -> int:
        """How much to draw at random, where all of it takes long; what is checked from here on depends
        on it."""
        self._sized = True
        return fast if self.fast else full

    def check(
        self, what: str, paper: str, found: float, limit: Limit, *, listed: bool | None = None
    ) -> None:
        """Write down a number, what the paper says of it, if anything, and whether it is within its
        limit. Unless `listed` says so, only what the paper gives as a number is in docs/papers.md."""
        if listed is None:
            listed = NUMBER.fullmatch(paper) is not None
        found = float(found)
        holds = limit.low <= found <= limit.high
        number = _said(found, limit.decimals)
        row = (self.name, what, paper, number, limit.text, holds, not self._sized, listed)
        self.criteria.append(Criterion(*row))

    def table(self) -> pl.DataFrame:
        return pl.DataFrame(self.criteria, schema=list(Criterion._fields), orient="row")


def _said(number: float, decimals: int) -> str:
    text = f"{number:.{decimals}f}".rstrip("0").rstrip(".")
    return "0" if float(text) == 0 else text


def normals(mu_pos: float, mu_neg: float, sigma: float = 1.0) -> pl.DataFrame:
    """A score table whose binormal fit is N(mu_pos, sigma^2) against N(mu_neg, sigma^2)."""
    score = [mu_pos - sigma, mu_pos + sigma, mu_neg - sigma, mu_neg + sigma]
    return pl.DataFrame({"score": map(float, score), "label": [1, 1, 0, 0]})


def mean_and_error(values: pl.Series) -> tuple[float, float]:
    """The mean over simulations, and its standard error."""
    known = values.drop_nulls()
    return float(known.mean()), float(known.std()) / math.sqrt(len(known))  # type: ignore[arg-type]


# Running --------------------------------------------------------------------------------------

Main = Callable[[Figure], Any]


def run(main: Main) -> None:
    """The command line of one script."""
    asked = arguments(title(main)).parse_args()
    reproduce([main], asked.folder, fast=asked.fast)


def arguments(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folder", nargs="?", default=OUT, type=Path, help="for charts and numbers")
    parser.add_argument("--fast", action="store_true", help="small sizes, for a first look")
    return parser


def reproduce(mains: Sequence[Main], folder: Path, *, fast: bool) -> pl.DataFrame:
    """Print the numbers of each script, write its chart as PNG and all numbers as CSV, and fail if a
    number is outside of its limit."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = pl.concat([_one(main, folder, fast=fast) for main in mains])
    numbers.write_csv(folder / "numbers.csv")
    failed = numbers.filter(~pl.col("holds"))
    if len(failed):
        raise OutsideError(f"outside of the limit: {failed.rows(named=True)}")
    return numbers


def title(main: Main) -> str:
    return str(main.__globals__["__doc__"]).splitlines()[0]


def _one(main: Main, folder: Path, *, fast: bool) -> pl.DataFrame:
    figure = Figure(Path(main.__code__.co_filename).stem, fast)
    chart = main(figure)
    if not figure.criteria:
        raise OutsideError(f"{figure.name} checks nothing")
    print(title(main))
    with pl.Config(
        tbl_rows=-1, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True,
        tbl_width_chars=160, fmt_str_lengths=70,
    ):  # fmt: skip
        print(figure.table().select("what", "paper", "found", "limit", "holds"))
    is_wide = isinstance(chart, (alt.HConcatChart, alt.VConcatChart))  # a page shows these smaller
    chart.save(folder / f"{figure.name}.png", scale_factor=0.75 if is_wide else 1)
    return figure.table()
