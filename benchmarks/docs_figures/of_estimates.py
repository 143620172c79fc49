"""Figures about labels that were bought by a plan."""

# ruff: noqa: E501  (a text of the docs, or a head of a table, is one line)

from __future__ import annotations

import polars as pl
from polars import col

from .held import Grid, Held, Sentence, Stored, least, show, show_count, show_share, standard_error

LABELS = Stored("labels")
NEXT = "what-to-label-next"
BY_STRATA = col("labels") == "plan, strata"
WAYS = {
    "at random": "at random",
    "half on alerts": "half on alerts",
    "plan, strata": "`sampling_plan`, interval of the strata",
    "plan": "`sampling_plan`, `confidence=` with weights",
}


def show_labels(found: pl.DataFrame) -> pl.DataFrame:
    hundreds = (col("labels_for_equal_spread") / 100).round() * 100
    needed = (
        pl.when(col("labels") == "plan")
        .then(pl.lit(""))
        .otherwise(show_count("labels_for_equal_spread"))
    )
    order = col("labels").cast(pl.Enum(list(WAYS)))
    rows = found.with_columns(labels_for_equal_spread=hundreds).sort(order)
    return rows.select(
        col("labels").replace_strict(WAYS),
        show("spread", 3),
        show("width", 3),
        show_share("coverage"),
        needed.alias("n"),
    )


PLANNED: list[Held] = [
    Grid(
        NEXT, "labels",
        "| 2 000 labels | spread of ln(recall / fpr) | 95 % interval of precision at 1 %: mean width | held the truth, % | labels for the spread of the plan |",
        show_labels,
    ),
    Sentence(
        NEXT, "In the simulation below, random rows need {} times as many labels.",
        LABELS(col("labels_for_equal_spread").filter(col("labels") == "at random").first() / 2_000),
    ),
    Sentence(NEXT, "draws this population {} times and buys 2 000 labels", LABELS(col("n_sets").min())),
    Sentence(
        NEXT, "and missed the truth in {} % in place of 5 % (standard error {}).",
        LABELS(100 - least("coverage", BY_STRATA)), LABELS(standard_error()),
    ),
]  # fmt: skip
FIGURES = PLANNED
