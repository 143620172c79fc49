"""Figures of docs/has-it-changed.md: alarms over two years of weeks."""

# ruff: noqa: E501  (a text of the docs, or a head of a table, is one line)

from __future__ import annotations

import polars as pl
from polars import col

from .held import Grid, Held, Sentence, Stored, least, most, show, show_count, show_number_as_it_is

PAGE = "has-it-changed"
MONITOR = Stored("monitor")
IS_WORSE = col("weeks").str.ends_with("worse")
BROKEN = col("weeks") == "false alerts are labelled sooner"
NULL = ~IS_WORSE & ~BROKEN
TOGETHER = col("weeks").str.starts_with("recall and fpr")
WATCHED = pl.format(
    "{} {}{}",
    "metric",
    show_number_as_it_is("shown"),
    pl.when(col("eta").is_null()).then(pl.lit("")).otherwise(pl.lit(" at 1 in 50")),
)
REFERENCE = pl.when(col("reference") == 0).then(pl.lit("a number")).otherwise(show_count("reference"))


def name_rates(found: pl.DataFrame) -> pl.DataFrame:
    """Add what is watched, as the tables say it."""
    rows = show_count("rows").alias("rows")
    found = found.with_columns(shown=col("value").round(3))
    return found.with_columns(watched=WATCHED, reference=REFERENCE, rows=rows)


def show_false(found: pl.DataFrame) -> pl.DataFrame:
    """Return the series in which nothing is worse."""
    shares = [
        show(100 * col(name)).replace("", "\u2013").alias(name)
        for name in ("alarm", "repeated", "interval")
    ]
    return name_rates(found.filter(NULL)).select("watched", "rows", "reference", "weeks", *shares)


def show_found(found: pl.DataFrame) -> pl.DataFrame:
    """Return how soon a fall is found, from the first week and from a later one."""
    weeks = [
        col(name).cast(pl.Int64).cast(pl.String).fill_null("none")
        for name in ("weeks_median", "weeks_80")
    ]
    named = name_rates(found.filter(IS_WORSE)).with_columns(soon=pl.format("{}, {}", *weeks))
    keys = ["watched", "rows", "reference", "weeks"]
    first, later = (named.filter(pl.col("from") == week).select(*keys, "soon") for week in (1, 27))
    return first.join(later, on=keys, maintain_order="left", suffix="_later")


FIGURES: list[Held] = [
    Sentence(PAGE, "of series of two years in which nothing changes, {:.0f} to {:.0f} % have an alarm by a test of each week alone",
             MONITOR(least("repeated", NULL, col("weeks") == "as the reference")), MONITOR(most("repeated", NULL, col("weeks") == "as the reference"))),
    Sentence(PAGE, "Recall and fpr apart, each with half of the error, are an alarm in up to {:.0f} % of such series, and precision at that `eta` in {} % at most",
             MONITOR(most("either", TOGETHER)), MONITOR(most("alarm", TOGETHER))),
    Sentence(PAGE, "At most {} % of the series of any row have a false alarm.", MONITOR(most("alarm", NULL))),
    Sentence(PAGE, "an alarm at any of 104 looks came in {} % of the series", MONITOR(most("alarm", col("weeks") == "late labels, added to old weeks"))),
    Sentence(PAGE, "Where all right alerts are labelled four weeks later than false ones, {:.0f} % of the series are a false alarm.", MONITOR(most("alarm", BROKEN))),
    Grid(PAGE, "monitor", "| watched | rows a week | of the reference | series | alarm of `monitor`, % | of the repeated test, % | interval holds in all weeks, % |", show_false),
    Grid(PAGE, "monitor", "| watched | rows a week | of the reference | fall | from week 1: half, four fifths | from week 27: half, four fifths |", show_found),
]  # fmt: skip
