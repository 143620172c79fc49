"""Figures of docs/uncertainty.md: intervals and bands; and of docs/how-large.md."""

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
    percent,
    show_share,
    standard_error,
    summarize,
)  # fmt: skip

PAGE, LARGE = "uncertainty", "how-large"
AREAS, BOOTSTRAP, BANDS = Stored("areas"), Stored("bootstrap"), Stored("bands")
COHORTS = Stored("cohorts")
MISSED, EVERYWHERE = Stored("missed_positives"), Stored("everywhere")
VALUES, AT_FPR, ALLOWED = Stored("sought_values"), Stored("recall_at_fpr"), col("allowed")
OWN_BANDS = ("f1", "mcc", "cohen_kappa", "npv", "accuracy")

# Chance ----------------------------------------------------------------------------------------

SAYS_NOTHING = (col("model") == "chance") & (col("confidence") == 0.95)
CHANCE: list[Held] = [
    Sentence(
        PAGE, "are above chance in at most {} % of {} test sets of 3 to 300 positives, rounded or not, at a level of 95 %.",
        Stored("chance")(most("above", SAYS_NOTHING)), Stored("chance")(col("n_sets").min()),
    ),
    Sentence(PAGE, "of which a fifth is easy, the model is found in {:.0f} %.", Stored("chance")(most("above", col("model") == "a fifth easy"))),
    Sentence(PAGE, "or more: above chance in at most {} % (`chance_of_designs`)", Stored("chance_of_designs")(most("above"))),
]  # fmt: skip

# Seen in simulation ---------------------------------------------------------------------------

IS_AP, IS_ROC = col("metric") == "average_precision", col("metric") == "roc_auc"
AT_RECALL = col("metric").str.starts_with("precision_at_recall")
OFTEN_MARKED = (col("marked") >= 0.05,)
HALF_MARKED, ALL_DIFFER = col("marked") >= 0.5, col("step") == 0
PLAIN = ALL_DIFFER & (col("weights") == "none")
MARKED, NOT_MARKED = col("marked") >= 0.95, col("marked") < 0.95


def hold_areas(label: str, *which: pl.Expr) -> list[Held]:
    """Return the two rows of a kind of area: cells that are marked reliable, and others."""
    sure, other = (*which, MARKED), (*which, NOT_MARKED)
    return [
        Sentence(
            PAGE, f"| {label} | `reliable` | {{}} | {{}} .. {{}} | {{}} |",
            *map(AREAS, summarize("coverage_of_marked", *sure)),
        ),
        Sentence(
            PAGE, f"| {label}, where not `reliable` | others | {{}} | {{}} .. {{}} | {{}} |",
            *map(AREAS, summarize("coverage", *other)),
        ),
    ]  # fmt: skip


def hold_bands(start: str, kind: str, *which: pl.Expr, all_near: bool = True) -> Sentence:
    """Return a row of the coverage of one kind of band."""
    figures = [*map(BANDS, summarize(kind, *which))]
    if not all_near:
        return Sentence(PAGE, start + " | {} | {} .. {} | guarantee |", *figures[:-1])
    return Sentence(PAGE, start + " | {} | {} .. {} | {} |", *figures)


EXPECTED = col("false_positives")
MANY, FIVE, ONE = EXPECTED.is_in(["20", "100"]), EXPECTED == "5", EXPECTED == "1"
ANY = EXPECTED != ""
FEW = col("missed") < 4.999
WILSON, JEFFREYS = col("interval") == "wilson", col("interval") == "jeffreys"
TIED = col("model") == "five levels"


def hold_missed(start: str, *which: pl.Expr) -> Sentence:
    worst = pl.min_horizontal(OWN_BANDS)
    return Sentence(
        PAGE, start + " | {} | at least {} | |", MISSED(5 * count(*which)), MISSED(least(worst, *which))
    )


def hold_everywhere(start: str, end: str, name: str, *which: pl.Expr) -> Sentence:
    return Sentence(
        PAGE, f"| {start} | {{}} | {{}} .. {{}} | {end} |", EVERYWHERE(count(*which, col("n_pos") > 0)),
        EVERYWHERE(least(name, *which)), EVERYWHERE(most(name, *which)),
    )  # fmt: skip


SEEN: list[Held] = [
    *hold_areas("`average_precision`, analytic", IS_AP),
    *hold_areas("`roc_auc`, analytic", IS_ROC),
    *hold_areas("`precision_at_recall(0.5)` and `(0.8)`, analytic", AT_RECALL),
    hold_bands("| precision at a threshold, Wilson | 20 or 100 false positives expected", "mover_wilson", MANY),
    hold_bands("| precision at a threshold, Wilson | 5", "mover_wilson", FIVE),
    hold_bands("| precision at a threshold, Wilson | 1", "mover_wilson", ONE),
    hold_bands("| precision at a threshold, Jeffreys | 20 or 100", "mover_jeffreys", MANY),
    hold_bands("| precision at a threshold, Jeffreys | 5", "mover_jeffreys", FIVE),
    hold_missed("| f1, mcc, cohen_kappa, npv, accuracy, Wilson | fewer than 5 missed positives expected", WILSON, FEW),
    hold_missed("| f1, mcc, cohen_kappa, npv, accuracy, Wilson | 5 or more", WILSON, ~FEW),
    hold_missed("| f1, mcc, cohen_kappa, npv, accuracy, Jeffreys | fewer than 5", JEFFREYS, FEW),
    hold_missed("| f1, mcc, cohen_kappa, npv, accuracy, Jeffreys | 5 or more", JEFFREYS, ~FEW),
    hold_bands("| `\"rectangle\"`, Clopper-Pearson | all", "rectangle_clopper_pearson", ANY, all_near=False),
    hold_bands("| `\"rectangle\"`, Hoeffding | all", "rectangle_hoeffding", ANY, all_near=False),
    hold_everywhere("simultaneous, recall and fpr at all scores at once | no ties", "guarantee", "rates", ~TIED),
    hold_everywhere("simultaneous, recall and fpr at all scores at once | five levels", "guarantee", "rates", TIED),
    hold_everywhere("simultaneous, precision at all scores of positives at once | all", "guarantee", "simultaneous"),
    hold_everywhere("not simultaneous, Wilson, precision at all scores of positives at once | all", "not promised", "default"),
]  # fmt: skip

# Sentences ------------------------------------------------------------------------------------

WIDER = [
    col(f"simultaneous_width_{recall}") / col(f"default_width_{recall}") for recall in (0.3, 0.5, 0.7)
]
RECTANGLE = col("rectangle_clopper_pearson_width") / col("mover_wilson_width")
WORST = (col("n_pos") == 200) & (col("n_neg") == 200) & TIED & (col("eta") == "0.001")
ERROR = (0.95 * 0.05 / (col("n_sets") * col("marked"))).sqrt()
FEW_MARKED = col("marked") < 0.5


def weighted(held: str, *which: pl.Expr) -> pl.Expr:
    """Return the coverage of all test sets that are marked."""
    marks = col("marked").filter(*which)
    return 100 * (col(held).fill_null(0).filter(*which) * marks).sum() / marks.sum()


FIGURES: list[Held] = [
    Sentence(
        PAGE, "its 95 % covered the precision at all scores of positives in {:.0f} to {:.0f} % of test sets.",
        EVERYWHERE(least("default")), EVERYWHERE(most("default")),
    ),
    Sentence(
        PAGE, "the band is {} to {} times as wide as the default one.",
        EVERYWHERE(pl.min_horizontal(WIDER).min()), EVERYWHERE(pl.max_horizontal(WIDER).max()),
    ),
    Grid(
        LARGE, "sizes", "| `assurance` | cells | test sets narrow enough, %: least | mean | greatest |",
        lambda found: found.group_by("assurance").agg(
            cells=pl.len(), least=col("narrow_enough").min(), mean=col("narrow_enough").mean(),
            most=col("narrow_enough").max(),
        ).sort("assurance").select(
            pl.format("{}", "assurance"), pl.format("{}", "cells"), *map(show_share, ("least", "mean", "most"))
        ),
    ),
    Sentence(LARGE, "and draws {} test sets of each size (standard error at most 0.5)", Stored("sizes")(col("n_sets").min())),
    *CHANCE,
    *SEEN,
    Sentence(
        PAGE, "Each cell has {} test sets (standard error 0.5 percentage points). Bands at fixed thresholds have {} (0.15), and the bootstrap, of three populations, {} ({}).",
        AREAS(col("n_sets").min()), BANDS(col("n_sets").min()), BOOTSTRAP(col("n_sets").min()), BOOTSTRAP(standard_error()),
    ),
    Sentence(
        PAGE, "| `average_precision`, bootstrap, three populations | `reliable` | {} | {} .. {} | {} |",
        *map(BOOTSTRAP, summarize("coverage_of_marked", MARKED)),
    ),
    Sentence(
        PAGE, "| `average_precision`, bootstrap, three populations | all | {} | {} .. {} | {} |",
        *map(BOOTSTRAP, summarize("coverage", IS_AP)),
    ),
    Sentence(
        PAGE,
        "Of the {} cells that are `reliable`, {} hold less than 93 % by more than two standard errors, and {} more than 97 %.",
        AREAS(count(MARKED)),
        AREAS(count(MARKED, col("coverage_of_marked") < 0.93 - 2 * ERROR)),
        AREAS(count(MARKED, col("coverage_of_marked") > 0.97 + 2 * ERROR)),
    ),
    Sentence(
        PAGE, "of twelve populations, {} of each of three sizes: the intervals of average precision hold the truth in {} to {} %, and at the same prevalence as a number in as few as {} %. Those of precision at a recall hold it in {} to {} %, and in as few as {} %.",
        COHORTS(col("n_sets").min()),
        *(COHORTS(figure) for kind in (IS_AP, AT_RECALL) for figure in (least("coverage", kind), most("coverage", kind), least("as_said", kind))),
    ),
    Sentence(
        PAGE, "Average precision is marked in {:.0f} % of the test sets with 50 positives or more.",
        AREAS(mean("marked", IS_AP, col("n_pos") >= 50)),
    ),
    Sentence(
        PAGE, "with 200 of each class and five levels, at a prevalence of 0.001, {:.0f} % hold the truth.",
        AREAS(least("coverage", IS_AP, WORST)),
    ),
    Sentence(
        PAGE, "With 20 positives an interval of ROC AUC may miss {:.0f} %.",
        AREAS(100 - least("coverage", IS_ROC, col("n_pos") == 20)),
    ),
    Sentence(PAGE, "Where it is not reliable, it may hold as little as {:.0f} %.", BOOTSTRAP(least("coverage", col("marked") < 0.5))),
    Sentence(
        PAGE,
        "In cells where fewer than half are marked, the marked ones hold in {} % for average precision, {} % for precision at a recall and {} % for ROC AUC; they are {} % of all that is marked.",
        *(AREAS(weighted("coverage_of_marked", kind, FEW_MARKED)) for kind in (IS_AP, AT_RECALL, IS_ROC)),
        AREAS(100 * col("marked").filter(FEW_MARKED).sum() / col("marked").sum()),
    ),
    Sentence(
        PAGE,
        "Where at least a fifth is marked, {} % hold in the worst cell; where 2 to 5 % are, as little as {} % do.",
        AREAS(least("coverage_of_marked", col("marked") >= 0.2)),
        AREAS(least("coverage_of_marked", col("marked").is_between(0.02, 0.05))),
    ),
    Sentence(PAGE, "Where five false positives are expected, a band may hold as little as {:.0f} %.", BANDS(least("mover_wilson", FIVE))),
    Sentence(PAGE, "Where one is expected, up to {:.0f} % of the test sets raise no alert", BANDS(most("no_interval", ONE))),
    Sentence(PAGE, "with 20 false positives it is {} to {} times as wide.", BANDS(RECTANGLE.filter(EXPECTED == "20").min()), BANDS(RECTANGLE.filter(EXPECTED == "20").max())),
    Sentence(
        PAGE, "On average {} to {} % hold by Wilson's interval, and {} % in the worst cell",
        MISSED(percent(pl.min_horizontal(*(col(name).filter(WILSON).mean() for name in OWN_BANDS)))),
        MISSED(percent(pl.max_horizontal(*(col(name).filter(WILSON).mean() for name in OWN_BANDS)))),
        MISSED(least(pl.min_horizontal(OWN_BANDS), WILSON)),
    ),
    Sentence(PAGE, "Jeffreys has {} % at the least.", MISSED(least(pl.min_horizontal(OWN_BANDS), JEFFREYS))),
    Sentence(PAGE, "with {} test sets a cell ({}), from 20 positives and 20 negatives to 1 000 and 20 000.", EVERYWHERE(col("n_sets").min()), EVERYWHERE(standard_error())),
    Sentence(
        PAGE, "(`recall_at_fpr`, {} test sets a cell): where the fpr allows 10 negatives or more, {} to {} % hold; where it allows 5, {} to {} %, and where it allows one, as little as {} %.",
        AT_FPR(col("n_sets").min()), AT_FPR(least("coverage", ALLOWED >= 10)), AT_FPR(most("coverage", ALLOWED >= 10)),
        AT_FPR(least("coverage", ALLOWED == 5)), AT_FPR(most("coverage", ALLOWED == 5)), AT_FPR(least("coverage", ALLOWED == 1)),
    ),
    Sentence(
        PAGE, "In {} cells of {} or {} test sets with scores that all differ, the intervals of precision, recall and fpr, at prevalences of 0.1 and 0.001, hold {} % on average.",
        VALUES(count(col("coverage").is_not_null(), PLAIN)), VALUES(col("n_sets").min()), VALUES(col("n_sets").max()),
        VALUES(mean("coverage", PLAIN)),
    ),
    Sentence(
        PAGE, "Where at least half of the test sets of a cell are marked reliable, {} to {} % of the marked ones hold ({} cells), and with scores that are rounded to a few levels at least {} %; the intervals of the threshold as it stands hold this value in {} % there, and in as little as {} %.",
        VALUES(least("coverage_of_marked", HALF_MARKED, PLAIN)), VALUES(most("coverage_of_marked", HALF_MARKED, PLAIN)),
        VALUES(count(HALF_MARKED, PLAIN)), VALUES(least("coverage_of_marked", HALF_MARKED, ~ALL_DIFFER)),
        VALUES(mean("coverage_as_it_stands", HALF_MARKED)), VALUES(least("coverage_as_it_stands", HALF_MARKED)),
    ),
    Sentence(
        PAGE, "because one in four low scores was sampled, at least {} % of the marked ones hold",
        VALUES(least("coverage_of_marked", HALF_MARKED, col("weights") != "none")),
    ),
    Sentence(
        PAGE, "Where 5 % are marked, chance picked them, and at worst {} % hold. Of all intervals as few as {} % hold where fewer than half are marked",
        VALUES(least("coverage_of_marked", *OFTEN_MARKED)), VALUES(least("coverage", ~HALF_MARKED)),
    ),
]  # fmt: skip
