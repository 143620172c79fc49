"""What the sources share: a story, its numbers, how they are checked, printed and put on the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

import polars_prcurve  # noqa: F401

HERE = Path(__file__).parent
CELLS = ("tp", "fp", "fn", "tn")
NAMES = [
    "sepsis", "spam_filter", "credentials", "vulnerabilities", "malware", "deepfake_voices", "ai_text",
    "ai_classifier", "chest_films", "liver_scan", "biopsy", "haemorrhage", "serology", "antigen_test",
    "face_recognition", "polygraph", "tornadoes",
    "recidivism", "essays", "alcohol",
]  # fmt: skip
RATES = {"precision", "recall", "fpr", "accuracy"}
BLOCK = re.compile(r"(<!-- (table|sources) -->\n).*?(<!-- end -->)", re.DOTALL)


class Printed(NamedTuple):
    """A number of the source beside ours, and whether it is the same to its last digit."""

    what: str
    printed: str
    here: str
    same: bool


class Value(NamedTuple):
    """A number of ours at a prevalence, with its interval if the source tells its sizes."""

    what: str
    eta: float
    where: str
    who: str
    value: float
    low: float | None
    high: float | None


@dataclass
class Numbers:
    """What a source fills in."""

    printed: list[Printed] = field(default_factory=list)
    measured: list[Value] = field(default_factory=list)
    becomes: list[Value] = field(default_factory=list)

    def check(self, what: str, printed: str, found: float) -> None:
        """Write down a number of the source, as it is printed, and ours."""
        digits = printed.removesuffix("%")
        decimals = len(digits.partition(".")[2])
        ours = 100 * found if printed.endswith("%") else found
        same = abs(ours - float(digits)) <= 0.5 * 10**-decimals * (1 + 1e-9)
        here = f"{ours:.{decimals + 1}f}" + "%" * printed.endswith("%")
        self.printed.append(Printed(what, printed, here, same))

    def check_all(self, what: str, printed: pl.Series, found: pl.Series, decimals: int) -> None:
        """Write down how many numbers of a table are ours to their last digit."""
        gap = (printed - found).abs()
        same = int((gap <= 0.5 * 10**-decimals * (1 + 1e-9)).sum())
        others = f"{same} of {len(printed)}, the others within {gap.max():.2g}"
        here = f"all {same}" if same == len(printed) else others
        self.printed.append(Printed(what, f"{len(printed)} numbers", here, same == len(printed)))

    def measure(
        self, row: Mapping[str, Any], who: str = "", *, where: str = "the test", of: str = "precision"
    ) -> None:
        """Write down what was measured: a row of a table, whose it is, and the name of its metric."""
        self.measured.append(_value(row, where, who, of))

    def become(
        self, row: Mapping[str, Any], where: str, who: str = "", *, of: str = "precision"
    ) -> None:
        """Write down what it becomes elsewhere."""
        self.becomes.append(_value(row, where, who, of))


@dataclass(frozen=True)
class Story:
    """One source: its words, and `main`, which computes its numbers."""

    title: str
    claim: str
    place: str
    field: str
    so: str
    fetched: bool
    main: Callable[[Numbers], None]

    def numbers(self) -> Numbers:
        numbers = Numbers()
        self.main(numbers)
        return numbers


def read(name: str) -> pl.DataFrame:
    """Return a table of counts."""
    return pl.read_csv(HERE / "data" / f"{name}.csv")


def only(table: pl.DataFrame) -> dict[str, Any]:
    """Return the one row of a table."""
    if table.height != 1:
        raise ValueError(f"expected one row; got {table.height}")
    return table.row(0, named=True)


def stories(names: list[str]) -> dict[str, Story]:
    """Import the stories of these names."""
    return {name: import_module(name).STORY for name in names}


# Words ----------------------------------------------------------------------------------------


def _value(row: Mapping[str, Any], where: str, who: str, of: str) -> Value:
    low, high = (row.get(f"{of}_{end}", row.get(end)) for end in ("low", "high"))
    value = row[of] if of in row else row["value"]
    return Value(of.replace("_", " "), row["eta"], where, who, value, low, high)


def say_share(eta: float) -> str:
    """Say a prevalence: in percent, or below 1% as 1 in so many."""
    if eta >= 0.01:
        return f"{100 * eta:.2g}%"
    return f"1 in {round(1 / eta, 2 - len(str(int(1 / eta)))):,.0f}"


def say_place(value: Value) -> str:
    """Say what a number is, at which prevalence, where and whose."""
    where = f"{value.where}, {value.who}" if value.who else value.where
    return f"{value.what} at {say_share(value.eta)}, {where}"


def say_value(value: Value) -> str:
    """Say a number with its interval: a rate in percent, with a digit more near 0 and 1."""
    ends = [end for end in (value.low, value.high) if end is not None]
    if value.what not in RATES:
        scale, unit, decimals = 1, "", 3
    else:
        extreme = any(0 < end < 0.01 or 0.995 < end < 1 for end in (value.value, *ends))
        scale, unit, decimals = 100, "%", 2 if extreme else 1
    said = f"{scale * value.value:.{decimals}f}{unit}"
    if not ends:
        return said
    return f"{said} ({' to '.join(f'{scale * end:.{decimals}f}' for end in ends)})"


# Printing -------------------------------------------------------------------------------------


def print_story(name: str, story: Story) -> None:
    """Print the block of one source."""
    numbers = story.numbers()
    print(f"\n{story.title} ({name})\n  claim     {story.claim}\n  from      {story.place}")
    for row in numbers.printed:
        mark = "" if row.same else "   DIFFERS"
        print(f"  printed   {row.what}: {row.printed}; here {row.here}{mark}")
    for word, values in (("measured", numbers.measured), ("becomes", numbers.becomes)):
        for value in values:
            print(f"  {word:9} {say_value(value)}: {say_place(value)}")
    print(f"  field     {story.field}\n  so        {story.so}")


# The page -------------------------------------------------------------------------------------


def fill(page: str) -> str:
    """Return the page with the table of all sources, and with where each is from, made anew."""
    every = [(story, story.numbers()) for story in stories(NAMES).values()]
    make = {"table": _show_row, "sources": _show_source}

    def write(block: re.Match[str]) -> str:
        lines = (make[block[2]](story, numbers) for story, numbers in every)
        head = TABLE_HEAD if block[2] == "table" else ""
        return "".join([block[1], head, *(f"{line}\n" for line in lines), block[3]])

    return BLOCK.sub(write, page)


TABLE_HEAD = "| source | it says | in the test | where it runs | there |\n|---|---|---|---|---|\n"


def _show_row(story: Story, numbers: Numbers) -> str:
    own, there = numbers.measured[0], numbers.becomes[0]
    first = f"{own.what} {say_value(own)} at {say_share(own.eta)}" + f", {own.who}" * bool(own.who)
    where = f"{say_share(there.eta)}: {there.where}"
    return f"| {story.title} | {story.claim} | {first} | {where} | **{say_value(there)}** |"


def _show_source(story: Story, numbers: Numbers) -> str:
    differ = [
        f" It prints {row.printed} for {row.what}; here {row.here}."
        for row in numbers.printed
        if not row.same
    ]
    where = f"From {story.place}. Prevalence: {story.field}."
    return f"- **{story.title}.** {where} {story.so}{''.join(differ)}"
