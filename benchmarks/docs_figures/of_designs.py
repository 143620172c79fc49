"""Figures about labels that were bought by score, and rows that come in clusters."""

# ruff: noqa: E501  (a text of the docs, or a head of a table, is one line)

from __future__ import annotations

import polars as pl
from polars import col

from .held import (
    Grid,
    Held,
    Sentence,
    Stored,
    least,
    most,
    percent,
    show,
    show_count,
    standard_error,
    summarize,
)

SAMPLED, UNCERTAINTY, CLUSTERS = "sampled-rows", "uncertainty", "clusters"
BANDS, AREAS = Stored("bought_bands"), Stored("bought_areas")
CLUSTER_AREAS, CLUSTER_BANDS = Stored("cluster_areas"), Stored("cluster_bands")
CLUSTER_PAIRS = Stored("cluster_pairs")
FEW, MANY = col("n_pos") <= 200, col("n_pos") >= 500
HALF = col("marked") >= 0.5
AT_RECALL = col("metric").str.starts_with("precision_at_recall")


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

# Clusters -------------------------------------------------------------------------------------

POINTS = ("recall", "fpr", "precision", "f1")
IS_MANY = (col("false_positives") >= 20) & (col("missed") >= 20)
CLUSTER_KEYS = ["n_pos", "n_neg", "kind", "shared", "largest"]


def show_ends(low: pl.Expr, high: pl.Expr) -> pl.Expr:
    return pl.format("{} .. {}", show(percent(low)), show(percent(high)))


def show_cluster_bands(found: pl.DataFrame) -> pl.DataFrame:
    """Return one row per design: the ends over thresholds and point metrics."""
    without = [f"without_{name}" for name in POINTS]

    def ends(names: list[str], where: pl.Expr) -> pl.Expr:
        low, high = (
            pl.min_horizontal(names).filter(where).min(),
            pl.max_horizontal(names).filter(where).max(),
        )
        return show_ends(low, high)

    rows = found.group_by("cell", *CLUSTER_KEYS, maintain_order=True).agg(
        ends(without, col("cell") >= 0).alias("plain"),
        ends(list(POINTS), IS_MANY).alias("many"),
        ends(list(POINTS), ~IS_MANY).alias("few"),
    )
    who = (
        pl.when(col("n_neg") == 0)
        .then(pl.format("{} in all", "n_pos"))
        .otherwise(pl.format("{}, {}", "n_pos", "n_neg"))
    )
    who += (
        pl.when(col("largest") != 20)
        .then(pl.format(", of up to {} rows", "largest"))
        .otherwise(pl.lit(""))
    )
    kind = col("kind").replace({"opposite": "both, opposite"})
    order = col("kind").cast(pl.Enum(["one class", "both classes", "opposite"]))
    rows = rows.sort(order, "n_pos", "n_neg", "largest", "shared")
    return rows.select(
        who.alias("who"),
        kind,
        pl.format("{}", "shared").str.replace(r"\.0$", ""),
        "plain",
        "many",
        "few",
    )


def show_cluster_areas(found: pl.DataFrame) -> pl.DataFrame:
    rows = (
        found.filter(~AT_RECALL)
        .group_by("cell", "patients", "rows", "mixed", maintain_order=True)
        .agg(
            show_ends(col("without_cluster").min(), col("without_cluster").max()).alias("plain"),
            show_ends(col("coverage").min(), col("coverage").max()).alias("with"),
        )
    )
    return rows.select(show_count("patients"), pl.format("{}", "rows"), "mixed", "plain", "with")


def show_patient_effects(found: pl.DataFrame) -> pl.DataFrame:
    often = col("marked") >= 0.05
    return found.group_by("effects", maintain_order=True).agg(
        show_ends(col("coverage").min(), col("coverage").max()).alias("held"),
        show_ends(col("marked").min(), col("marked").max()).alias("marked_share"),
        pl.when(often.any()).then(
            show_ends(
                col("coverage_of_marked").filter(often).min(), col("coverage_of_marked").filter(often).max()
            )
        ).otherwise(pl.lit("")).first().alias("marked_held"),
    )  # fmt: skip


def show_cluster_pairs(found: pl.DataFrame) -> pl.DataFrame:
    is_ap = col("metric") == "average_precision"
    one = [
        (col("metric") == "roc_auc", "roc"),
        *((is_ap & (col("eta") == eta), f"{eta}") for eta in (0.5, 0.1, 0.01)),
    ]
    rows = found.group_by("cell", "patients", "rows", "mixed", maintain_order=True).agg(
        show_ends(col("without_cluster").min(), col("without_cluster").max()).alias("plain"),
        *(show(percent(col("rejected").filter(which).first())).alias(name) for which, name in one),
        show_ends(col("resolved").min(), col("resolved").max()).alias("resolved"),
    )
    return rows.select(
        show_count("patients"),
        pl.format("{}", "rows"),
        "mixed",
        "plain",
        *(name for _, name in one),
        "resolved",
    )


WORST = pl.min_horizontal(POINTS)
IN_CLUSTERS: list[Held] = [
    Sentence(
        UNCERTAINTY, "With it, bands were simulated in {} designs at four thresholds: {} to {} % hold where at least 20 false positives and 20 missed positives are expected, and {} to {} % elsewhere.",
        CLUSTER_BANDS(col("cell").n_unique()), CLUSTER_BANDS(least(WORST, IS_MANY)), CLUSTER_BANDS(most(pl.max_horizontal(POINTS), IS_MANY)),
        CLUSTER_BANDS(least(WORST, ~IS_MANY)), CLUSTER_BANDS(most(pl.max_horizontal(POINTS), ~IS_MANY)),
    ),
    Grid(
        CLUSTERS, "cluster_bands",
        "| clusters of positives, negatives | a cluster has | variance shared | without `cluster=`, % | with it, many, % | with it, few, % |",
        show_cluster_bands,
    ),
    Sentence(CLUSTERS, "with d' = 2 and {} test sets a cell (standard error {}). Four thresholds", CLUSTER_BANDS(col("n_sets").min()), CLUSTER_BANDS(standard_error())),
    Sentence(CLUSTERS, "The worst cell of many, {} %, is", CLUSTER_BANDS(least(WORST, IS_MANY))),
    Grid(CLUSTERS, "cluster_areas", "| patients | images of each | a patient has | without `cluster=`, % | with it, % |", show_cluster_areas),
    Grid(CLUSTERS, "patient_effects", "| effects | held the truth, % | marked, % | the marked ones held, % |", show_patient_effects),
    Sentence(CLUSTERS, "a share of 0.2 positive, and {} test sets a cell", CLUSTER_AREAS(col("n_sets").min())),
    Sentence(CLUSTERS, "With 20 patients of one class each, of whom 4 are ill, {:.0f} % of the test sets have no interval.", CLUSTER_AREAS(most("no_interval", col("cell") == 0, ~AT_RECALL))),
    Sentence(
        CLUSTERS, "where at least half of the samples of a cell are marked, {} to {} % of the marked ones hold the truth.",
        CLUSTER_AREAS(least("coverage_of_marked", HALF, ~AT_RECALL)), CLUSTER_AREAS(most("coverage_of_marked", HALF, ~AT_RECALL)),
    ),
    Sentence(
        CLUSTERS, "Precision at a recall of 0.5 and 0.8 holds the truth in {} to {} % in these designs, and without `cluster=` in {} to {} %.",
        CLUSTER_AREAS(least("coverage", AT_RECALL)), CLUSTER_AREAS(most("coverage", AT_RECALL)),
        CLUSTER_AREAS(least("without_cluster", AT_RECALL)), CLUSTER_AREAS(most("without_cluster", AT_RECALL)),
    ),
    Sentence(
        CLUSTERS, "Where at least a fifth of the samples of a cell are marked, {} to {} % of the marked ones hold.",
        CLUSTER_AREAS(least("coverage_of_marked", AT_RECALL, col("marked") >= 0.2)),
        CLUSTER_AREAS(most("coverage_of_marked", AT_RECALL, col("marked") >= 0.2)),
    ),
    Grid(
        CLUSTERS, "cluster_pairs",
        "| patients | rows of each | a patient has | without `cluster=`, % | ROC AUC, % | AP at 0.5, % | AP at 0.1, % | AP at 0.01, % | `resolved`, % |",
        show_cluster_pairs,
    ),
    Sentence(CLUSTERS, "each patient, and {} test sets a cell (standard error 0.5).", CLUSTER_PAIRS(col("n_sets").min())),
]  # fmt: skip
FIGURES = [*BOUGHT, *IN_CLUSTERS]
