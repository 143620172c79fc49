"""Figures of docs/is-it-better.md: equal models, and differences."""

# ruff: noqa: E501  (a text of the docs, or a head of a table, is one line)

from __future__ import annotations

import polars as pl
from polars import col

from .held import (
    Grid,
    Held,
    Sentence,
    Stored,
    count,
    least,
    mean,
    most,
    show,
)  # fmt: skip

PAGE = "is-it-better"
COMPARE, RANKING, DIFFERENCES = Stored("compare"), Stored("ranking"), Stored("differences")
UNLIKE, MANY_PAIRS = Stored("unlike_models"), Stored("many_pairs")
PAIRED, SOUGHT, FIELD_PAIRS = Stored("paired_points"), Stored("sought_points"), Stored("field_pairs")
IS_SUM = col("metric").is_in(["net_benefit(0.1)", "recall", "fpr"])
OFTEN_MARKED = (col("marked") >= 0.05,)
WEIGHTED = col("weights") != "none"
HALF_MARKED, ALL_DIFFER = col("marked") >= 0.5, (col("step") == 0) & ~WEIGHTED
ROUNDED = col("step") > 0
FEW_SETS = col("n_sets") < 2_000
FOUND_APART = [col("metric") == "average_precision", col("metric") == "roc_auc"]


def show_compared(found: pl.DataFrame) -> pl.DataFrame:
    """Return the least and the most of the populations, by size of the test set."""
    ends = [
        (name, found.filter(metric=metric, eta=eta))
        for name, metric, eta in (
            ("at 0.001", "average_precision", 0.001), ("at 0.01", "average_precision", 0.01),
            ("at 0.1", "average_precision", 0.1), ("ROC AUC", "roc_auc", 0.1),
        )
    ]  # fmt: skip
    parts = [
        of.group_by("n_pos", "n_neg", maintain_order=True).agg(
            pl.format("{} to {}", show(least("rejected")), show(most("rejected"))).alias(name)
        )
        for name, of in ends
    ]
    sizes = found.select("n_pos", "n_neg").unique(maintain_order=True).sort("n_pos", "n_neg")
    for part in parts:
        sizes = sizes.join(part, on=["n_pos", "n_neg"], maintain_order="left")
    return sizes.with_columns(show_thousands("n_pos"), show_thousands("n_neg"))


def show_thousands(column: str) -> pl.Expr:
    return col(column).cast(pl.String).str.replace(r"(\d)(\d{3})$", "$1 $2")


def show_differences(found: pl.DataFrame) -> pl.DataFrame:
    """Return the coverage of differences by what is expected in the emptiest cell of both groups."""
    places = (("fewer than 1", 0, 1), ("1 to 5", 1, 5), ("5 to 20", 5, 20), ("at least 20", 20, 1e9))
    rows = []
    for rows_of, held, wrong in (
        ("all", "coverage", "wrongly_resolved"),
        ("reliable", "coverage_of_marked", "wrongly_resolved_of_marked"),
    ):
        of = found if rows_of == "all" else found.filter(col("marked") >= 0.5)
        for name, low, high in places:
            part = of.filter(col("emptiest") >= low, col("emptiest") < high)
            if part.height:
                shown = part.select(
                    cells=pl.format("{}", pl.len()),
                    least=show(least(held)),
                    mean=show(mean(held)),
                    wrong=show(most(wrong).fill_null(0.0)),
                )
                rows.append((rows_of, name, *shown.row(0)))
    return pl.DataFrame(
        rows, orient="row", schema=["rows", "expected", "cells", "least", "mean", "wrong"]
    )


MATCHED_POINTS = Stored("matched_points")
MATCHED: list[Held] = [
    Sentence(
        PAGE, "`matched_points` draws {} tables from each of 60 cells", MATCHED_POINTS(col("n_sets").min()),
    ),
    Sentence(
        PAGE, "The intervals held the truth in {} to {} %, and of equal ones at most {} % were `resolved`.",
        *map(MATCHED_POINTS, (least("coverage"), most("coverage"), most("resolved", col("share") == 1))),
    ),
]  # fmt: skip
FIGURES: list[Held] = [
    *MATCHED,
    Grid(
        PAGE, "compare", "| positives | negatives | average precision at 0.001 | at 0.01 | at 0.1 | ROC AUC |", show_compared,
    ),
    Sentence(
        PAGE, "with {} test sets a cell, or {} where there are 1 000 positives.",
        COMPARE(col("n_sets").max()), COMPARE(col("n_sets").min()),
    ),
    Sentence(
        PAGE, "Of equally good models at most {:.2f} % were `resolved` where no interval is reliable.",
        COMPARE(most("resolved", col("marked") < 0.05)),
    ),
    Sentence(
        PAGE, "of 0.0001 to 0.1, and {} pairs of test sets of their own: at most {} % were told apart.",
        UNLIKE(col("n_sets").min()), UNLIKE(most("rejected")),
    ),
    Sentence(PAGE, "of ranks in common (`unlike_pairs`), at most {} % were.", Stored("unlike_pairs")(most("rejected"))),
    Sentence(
        PAGE, "of seven populations, {} times each: in at most {} % any of the 66 pairs was told apart with `adjust=\"holm\"`, in {} % with `worst=True`, and in {} % a ranking ruled out one.",
        MANY_PAIRS(col("n_sets").min()), *(MANY_PAIRS(most(name)) for name in ("by_holm", "by_worst", "by_ranking")),
    ),
    Grid(
        PAGE, "differences",
        "| rows | expected in the emptiest cell | cells | coverage, %: least | mean | equal groups told apart, %: most |",
        show_differences,
    ),
    Sentence(
        PAGE,
        "Where 2 to 5 % are, chance picked them, and as little as {} % of them hold.",
        DIFFERENCES(least("coverage_of_marked", col("marked").is_between(0.02, 0.05))),
    ),
    Sentence(PAGE, "with {} pairs of test sets a cell, at a fixed threshold", DIFFERENCES(col("n_sets").min())),
    Sentence(PAGE, "and {} test sets a cell (0.5), {} in all", PAIRED(col("n_sets").min()), PAIRED(count(IS_SUM))),
    Sentence(
        PAGE, "the intervals hold {} to {} % of the true differences; where hardly any example is discordant, they are too wide.",
        PAIRED(least("coverage", IS_SUM)), PAIRED(most("coverage", IS_SUM)),
    ),
    Sentence(
        PAGE, "Where at least 5 % of the test sets of a cell are marked reliable, {} to {} % of the marked ones hold ({} cells",
        *map(PAIRED, (least("coverage_of_marked", *OFTEN_MARKED, IS_SUM), most("coverage_of_marked", *OFTEN_MARKED, IS_SUM))),
        PAIRED(count(*OFTEN_MARKED, IS_SUM)),
    ),
    Sentence(
        PAGE, "the intervals of precision, npv, F1 and MCC hold {} to {} % ({} cells)",
        PAIRED(least("coverage", ~IS_SUM)), PAIRED(most("coverage", ~IS_SUM)), PAIRED(count(~IS_SUM)),
    ),
    Sentence(
        PAGE, "where four false positives or more are expected, at least {} %",
        PAIRED(least("coverage", ~IS_SUM, col("n_neg") * col("fpr") > 3)),
    ),
    Sentence(
        PAGE, "reliable, {} to {} % of the marked ones hold ({} cells); where at least half of them are, at least {} %",
        *map(PAIRED, (least("coverage_of_marked", *OFTEN_MARKED, ~IS_SUM), most("coverage_of_marked", *OFTEN_MARKED, ~IS_SUM))),
        PAIRED(count(*OFTEN_MARKED, ~IS_SUM)),
        PAIRED(least("coverage_of_marked", ~IS_SUM, col("marked") >= 0.5)),
    ),
    Sentence(
        PAGE, "In {} cells of {} or {} test sets with scores that all differ, the intervals of precision, recall and fpr, at prevalences of 0.1 and 0.001, hold {} to {} %.",
        SOUGHT(count(col("coverage").is_not_null(), ALL_DIFFER)), SOUGHT(col("n_sets").min()), SOUGHT(col("n_sets").max()),
        SOUGHT(least("coverage", ALL_DIFFER)), SOUGHT(most("coverage", ALL_DIFFER)),
    ),
    Sentence(
        PAGE, "Where at least half of the test sets of a cell are marked reliable, {} to {} % of the marked ones hold ({} cells); where 5 % are, chance picked them, and at worst {} % hold",
        SOUGHT(least("coverage_of_marked", HALF_MARKED, ALL_DIFFER)), SOUGHT(most("coverage_of_marked", HALF_MARKED, ALL_DIFFER)),
        SOUGHT(count(HALF_MARKED, ALL_DIFFER)), SOUGHT(least("coverage_of_marked", *OFTEN_MARKED, ALL_DIFFER)),
    ),
    Sentence(
        PAGE, "Where many examples have one score, as few as {} % hold.",
        SOUGHT(least("coverage", ROUNDED)),
    ),
    Sentence(
        PAGE, "as wide as the interval of the rate; then at least {} % hold",
        SOUGHT(least("coverage_of_marked", HALF_MARKED, ROUNDED)),
    ),
    Sentence(
        PAGE, "at least {} % of the marked ones hold ({} cells), and at most {} % of equal models were `resolved`.",
        SOUGHT(least("coverage_of_marked", HALF_MARKED, WEIGHTED)), SOUGHT(count(HALF_MARKED, WEIGHTED)),
        SOUGHT(most("wrongly_resolved", WEIGHTED)),
    ),
    Sentence(
        PAGE, "In seven fields of two to ten parts (`field_pairs`, {} test sets each), at least {} % of all intervals hold, and at most {} % of equal models were `resolved`.",
        FIELD_PAIRS(col("n_sets").min()), FIELD_PAIRS(least("coverage")), FIELD_PAIRS(most("wrongly_resolved")),
    ),
    Sentence(
        PAGE, "Of equal models without weights, at most {} % were `resolved` there, and {} % at given thresholds",
        SOUGHT(most("wrongly_resolved", ~WEIGHTED)), PAIRED(most("wrongly_resolved")),
    ),
    Sentence(
        PAGE, "Of 3 or 10 equally good models, one was ruled out in {} to {} % of test sets ({} cells with 20 to 100 positives at prevalences from 0.01 to 0.4, {} or {} test sets each).",
        RANKING(least("ruled_out")), RANKING(most("ruled_out")), RANKING(count()),
        RANKING(col("n_sets").max()), RANKING(col("n_sets").min()),
    ),
]  # fmt: skip
