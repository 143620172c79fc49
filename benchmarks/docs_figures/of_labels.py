"""Figures about labels that were drawn by strata: by a plan, by label, and in two parts."""

# ruff: noqa: E501  (a text of the docs, or a head of a table, is one line)

from __future__ import annotations

from collections.abc import Iterable

import polars as pl
from polars import col

from .held import (
    Grid,
    Held,
    Sentence,
    Stored,
    find_ends,
    percent,
    show,
    show_share,
    standard_error,
)

NEXT, SAMPLED = "what-to-label-next", "sampled-rows"
LABELS, PAIRS, DESIGNS = Stored("labels"), Stored("label_pairs"), Stored("label_designs")
BY_PLAN = col("labels") == "by plan"
OFTEN = col("marked") >= 0.5
ETAS = {"own": "at the own prevalence", "0.001": "at 0.001", "0.1": "at 0.1"}
NAMES = {
    "precision": "precision",
    "recall": "recall",
    "fpr": "fpr",
    "average_precision": "average precision",
}


def name_quantity(name: str, *, tells_eta: pl.Expr) -> pl.Expr:
    """Return a quantity in words, with its prevalence where it depends on one."""
    words, eta = col(name).replace_strict(NAMES), col("eta").replace_strict(ETAS)
    return pl.when(tells_eta).then(pl.format("{} {}", words, eta)).otherwise(words)


def put_in_order(name: str, order: Iterable[str]) -> pl.Expr:
    return col(name).cast(pl.Enum(list(order)))


def show_span(low: str, high: str, digits: int = 1) -> pl.Expr:
    return pl.format("{} .. {}", show(low, digits), show(high, digits))


def summarize_cells(found: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Return the marked share, and where half is marked the ends of coverage, of each quantity."""
    often = col("coverage_of_marked").filter(OFTEN)
    return found.group_by(*names, maintain_order=True).agg(
        pl.len().alias("cells"),
        OFTEN.sum().alias("often"),
        percent(often.min()).alias("low"),
        percent(often.max()).alias("high"),
        col("marked").mean(),
        *(col(name).median() for name in ("wider",) if name in found.columns),
        *(col(name).mean() for name in ("marked_at_random", "resolved") if name in found.columns),
    )


def show_labels(found: pl.DataFrame) -> pl.DataFrame:
    keys = ["cell", "quantity", "eta"]
    at_random = found.filter(~BY_PLAN).select(*keys, "width", marked_at_random="marked")
    cells = found.filter(BY_PLAN).join(at_random, on=keys, suffix="_at_random")
    cells = cells.with_columns(wider=col("width_at_random") / col("width"))
    return (
        summarize_cells(cells, "quantity", "eta")
        .sort(put_in_order("quantity", NAMES), put_in_order("eta", ETAS))
        .select(
            name_quantity("quantity", tells_eta=col("quantity") != "recall"),
            show_span("low", "high"),
            show_share("marked"),
            show_share("marked_at_random"),
            show("wider"),
        )
    )


def show_pairs(found: pl.DataFrame) -> pl.DataFrame:
    own = col("metric").is_in(["recall", "fpr"])
    where = pl.when(col("at") == "").then(pl.lit("")).otherwise(pl.format(", at {}", "at"))
    order = {"at": ("", "the threshold", "recall 0.5"), "metric": NAMES, "eta": ETAS}
    return (
        summarize_cells(found, "metric", "at", "eta")
        .sort(*(put_in_order(name, of) for name, of in order.items()))
        .select(
            pl.format("{}{}", name_quantity("metric", tells_eta=~own), where),
            show_span("low", "high"),
            show_share("marked"),
            show_share("resolved"),
        )
    )


def show_designs(found: pl.DataFrame) -> pl.DataFrame:
    return summarize_cells(found, "quantity").select(
        col("quantity").replace_strict(NAMES),
        pl.format("{}", "cells"),
        show_span("low", "high"),
        show_share("marked"),
    )


NEW = (BY_PLAN, OFTEN, col("scores") == "new")
FIGURES: list[Held] = [
    Grid(
        NEXT, "labels",
        "| 95 % interval of | held the truth where marked, % | marked, % | of random labels marked, % | random labels: times as wide |",
        show_labels,
    ),
    Sentence(
        NEXT, "held it in {} to {} % where they are marked.",
        *map(LABELS, find_ends("coverage_of_marked", *NEW)),
    ),
    Sentence(NEXT, "{} times each", LABELS(col("n_sets").max())),
    Sentence(NEXT, "(standard error {} percentage points", LABELS(100 * (0.95 * 0.05 / col("n_sets").max()).sqrt())),
    Grid(
        NEXT, "label_pairs",
        "| 95 % interval of the difference in | held 0 where marked, % | marked, % | told apart, % |",
        show_pairs,
    ),
    Grid(SAMPLED, "label_designs", "| 95 % interval with `stratum=` of | cells | held the truth where marked, % | marked, % |", show_designs),
    Sentence(SAMPLED, "{} sets in each cell (standard error {} percentage points)", DESIGNS(col("n_sets").min()), DESIGNS(standard_error())),
]  # fmt: skip
