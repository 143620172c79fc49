"""Figures of docs/monitoring.md: alarms over two years of weeks."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
from polars import col

from .held import Figure, Sentence, Stored, count, least, most

PAGE, MONITOR = "monitoring", Stored("monitor")
IS_WORSE = col("weeks").str.ends_with("worse")
SOONER = col("weeks") == "false alerts are labelled sooner"
NOTHING = ~IS_WORSE & ~SOONER
AS_BEFORE = col("weeks") == "as the reference"


def find_weeks(value: float, fall: str) -> Iterator[Figure]:
    """Yield the weeks to an alarm of half the series, and of four fifths; from week 1, and from 27."""
    is_row = (col("metric") == "precision") & (col("value") == value) & (col("reference") == 2_000)
    is_row &= col("eta").is_null() & (col("weeks") == f"{fall} worse") & (col("rows") == 200)
    for week in (1, 27):
        for name in ("weeks_median", "weeks_80"):
            yield MONITOR(col(name).filter(is_row & (col("from") == week)).first())


def hold_fall(value: float, fall: str) -> Sentence:
    return Sentence(PAGE, f"| {value} | {fall} | {{}}, {{}} | {{}}, {{}} |", *find_weeks(value, fall))


def hold(text: str, *shares: pl.Expr) -> Sentence:
    return Sentence(PAGE, text, *map(MONITOR, shares))


FIGURES: list[Sentence] = [
    hold(
        "over two years without any change, {:.0f} to {:.0f}% of series have one",
        least("repeated", AS_BEFORE),
        most("repeated", AS_BEFORE),
    ),
    Sentence(
        PAGE,
        "of {} sets of 12 groups without a fall, {}% raise an alarm ({}% unadjusted). A 10-point fall "
        "in one is detected in {} weeks instead of {} (medians).",
        *map(
            Stored("monitored_groups"),
            (
                col("n_sets").min(),
                most("any_all"),
                most("any_each"),
                col("weeks_all").filter(col("weeks").str.starts_with("10")).first(),
                col("weeks_each").filter(col("weeks").str.starts_with("10")).first(),
            ),
        ),
    ),
    *(hold_fall(value, fall) for value in (0.8, 0.5, 0.2) for fall in ("5 points", "10 points")),
    hold(
        "at most {}% of series have a false alarm in each of {} settings",
        most("alarm", NOTHING),
        count(NOTHING),
    ),
    hold(
        "labelled four weeks later than false positives, {:.0f}% of the series raise a false alarm",
        most("alarm", SOONER),
    ),
]
