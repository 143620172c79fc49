"""Figures about labels that were bought by score."""

# ruff: noqa: E501  (a text of the docs, or a head of a table, is one line)

from __future__ import annotations

import polars as pl
from polars import col

from .held import Held, Sentence, Stored, least, summarize

SAMPLED = "sampled-rows"
BANDS, AREAS = Stored("bought_bands"), Stored("bought_areas")
FEW, MANY = col("n_pos") <= 200, col("n_pos") >= 500
HALF = col("marked") >= 0.5


def hold_band(label: str, name: str) -> list[Held]:
    """Return the two rows of a point metric: few positives in all, and many."""
    return [
        Sentence(SAMPLED, f"| {label} | {{}} | {{}} .. {{}} | {{}} |", *map(BANDS, summarize(name, of)))
        for label, of in ((f"{label} | 50, 100 or 200", FEW), (f"{label} | 500 or 1 000", MANY))
    ]  # fmt: skip


def hold_area(label: str, metric: str) -> list[Held]:
    """Return the rows of an area: few positives, many, and the cells that are marked."""
    is_metric = col("metric") == metric
    rows: list[Held] = [
        Sentence(SAMPLED, f"| {label} | {{}} | {{}} .. {{}} | |", *map(AREAS, summarize("coverage", is_metric, of)[:-1]))
        for label, of in ((f"{label} | 50, 100 or 200", FEW), (f"{label} | 500 or 1 000", MANY))
    ]  # fmt: skip
    figures = summarize("coverage_of_marked", is_metric, HALF)
    rows.append(
        Sentence(
            SAMPLED,
            f"| {label} | cells where half is `reliable` | {{}} | {{}} .. {{}} | {{}} |",
            *map(AREAS, figures),
        )
    )
    return rows


def share_of_doubtful_marks(metric: str) -> pl.Expr:
    """Return which share of the marked test sets is of cells where fewer than half are marked."""
    of = col("metric") == metric
    return 100 * col("marked").filter(of & ~HALF).sum() / col("marked").filter(of).sum()


BOUGHT: list[Held] = [
    *hold_band("precision at a threshold", "precision"), *hold_band("f1", "f1"), *hold_band("recall", "recall"), *hold_band("fpr", "fpr"),
    *hold_area("`average_precision`", "average_precision"),
    *hold_area("`precision_at_recall(0.5)`", "precision_at_recall(0.5)"),
    *hold_area("`roc_auc`", "roc_auc"),
    Sentence(SAMPLED, "areas at prevalences of 0.001 to 0.5. Each cell has {} test sets (standard error 0.5 percentage points)", BANDS(col("n_sets").min())),
    Sentence(SAMPLED, "The worst bands, of fpr with {:.0f} %, are where less than two negatives are sampled", BANDS(least("fpr"))),
    Sentence(
        SAMPLED, "have {} % of the marked samples of average precision, {} % of those of precision at a recall, and {} % of those of ROC AUC",
        AREAS(share_of_doubtful_marks("average_precision")), AREAS(share_of_doubtful_marks("precision_at_recall(0.5)")), AREAS(share_of_doubtful_marks("roc_auc")),
    ),
]  # fmt: skip
FIGURES = BOUGHT
