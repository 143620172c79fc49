"""Figures about prevalences that are estimates, and about best thresholds."""

# ruff: noqa: E501  (a text of the docs, or a head of a table, is one line)

from __future__ import annotations

import polars as pl
from polars import col

from .held import (
    Grid,
    Held,
    Sentence,
    Stored,
    find_ends,
    least,
    most,
    near,
    show,
    show_count,
    show_number_as_it_is,
    show_share,
    standard_error,
    summarize,
)  # fmt: skip

MOVED, BEST = "prevalence-moved", "uncertainty"
POINTS, AREAS = Stored("sampled_eta_points"), Stored("sampled_eta_areas")
OF_PAIRS = Stored("cohort_differences")
COUNTED, AT_TARGETS, CURVES = (
    Stored("cohort_points"),
    Stored("cohort_targets"),
    Stored("decision_curves"),
)
DIFFERENCES = Stored("sampled_eta_differences")
MAXIMA, MIXTURE, POSTERIORS = Stored("maxima"), Stored("mixture"), Stored("posteriors")
OWN_REFERENCE = Stored("shared_reference")
IS_AP = col("metric") == "average_precision"
IS_PRECISION = col("metric") == "precision"
ALL = col("cell") >= 0
MANY_MARKED = col("marked") >= 0.95
MANY_EVENTS = (col("n") >= 1_000) & (col("risk") < 0.6)


def hold_point(label: str, name: str) -> Sentence:
    """Return a row of the table of point metrics."""
    text = f"| {label} | {{}} | {{}} .. {{}} | {{}} | |"
    return Sentence(MOVED, text, *map(POINTS, summarize(name)))


def hold_area(label: str, *which: pl.Expr) -> Sentence:
    figures = [*summarize("coverage", *which), *find_ends("as_fixed", *which)]
    return Sentence(
        MOVED, f"| {label} | {{}} | {{}} .. {{}} | {{}} | {{}} .. {{}} |", *map(AREAS, figures)
    )


SAMPLED: list[Held] = [
    Sentence(
        MOVED, "| precision at a threshold | {} | {} .. {} | {} | {} .. {} |",
        *map(POINTS, (*summarize("precision"), *find_ends("as_fixed"))),
    ),
    hold_point("F1", "f1"), hold_point("lift", "lift"), hold_point("npv", "npv"), hold_point("accuracy", "accuracy"),
    hold_point("MCC", "mcc"), hold_point("Cohen's kappa", "cohen_kappa"),
    hold_point("predicted positive rate", "predicted_positive_rate"),
    hold_area("`average_precision` at a sampled eta", IS_AP),
    hold_area("`precision_at_recall(0.5)` and `(0.8)` at a sampled eta", ~IS_AP),
    Sentence(
        MOVED, "| difference of two models in `average_precision` | {} | {} .. {} | {} | {} .. {} |",
        *map(DIFFERENCES, (*summarize("coverage", ALL), *find_ends("as_fixed", ALL))),
    ),
    Sentence(
        MOVED, "| precision at a threshold, at the own prevalence of a random test set | {} | {} .. {} | {} | {} .. {} |",
        *map(COUNTED, (*summarize("coverage", IS_PRECISION), *find_ends("as_said", IS_PRECISION))),
    ),
    Sentence(
        MOVED, "| F1, npv, accuracy, MCC and others there | {} | {} .. {} | {} | {} .. {} |",
        *map(COUNTED, (*summarize("coverage", ~IS_PRECISION), *find_ends("as_said", ~IS_PRECISION))),
    ),
    Sentence(
        MOVED, "| at a target there, such as recall 0.6 | {} | {} .. {} | {} | {} .. {} |",
        *map(AT_TARGETS, (*summarize("coverage", MANY_MARKED), *find_ends("as_said", MANY_MARKED))),
    ),
    Sentence(
        MOVED, "| net benefit of a decision curve | {} | {} .. {} | {} | {} .. {} |",
        *map(CURVES, (*summarize("coverage", MANY_EVENTS), *find_ends("as_said", MANY_EVENTS))),
    ),
    Sentence(
        MOVED, "With weights of 10 below a score they held the truth in {} to {} %, and in clusters in {} to {} %",
        *map(Stored("weighted_cohorts"), find_ends("coverage")), *map(Stored("clustered_cohorts"), find_ends("coverage")),
    ),
    Sentence(
        MOVED, "`cohort_differences`, held the truth in {} to {} % of {} samples, at a threshold or at a target. Of equal models at most {} % were told apart.",
        *map(OF_PAIRS, (*find_ends("coverage"), col("n_sets").min(), most("resolved", col("shifts") == "2 and 2"))),
    ),
    Sentence(MOVED, "{} times for points (standard error 0.2 percentage points) and {} times for areas (0.5)", POINTS(col("n_sets").min()), AREAS(col("n_sets").min())),
    Sentence(
        MOVED, "at eta = 0.005 and n = 100, in {:.0f} % of the draws. The interval of npv then holds {} %.",
        POINTS(most("none_in_sample", col("eta") == 0.005)), POINTS(least("npv", col("eta") == 0.005)),
    ),
    Sentence(MOVED, "and of the draws in which it is defined, {} % hold the truth", POINTS(least("mcc"))),
    Sentence(
        MOVED, "Average precision that is marked `reliable` held the truth in {} to {} %, in cells where at least half of the test sets are marked.",
        AREAS(least("coverage_of_marked", IS_AP, col("marked") >= 0.5)), AREAS(most("coverage_of_marked", IS_AP, col("marked") >= 0.5)),
    ),
]  # fmt: skip


def hold_moved(start: str, cell: int) -> Sentence:
    """Return a row of the table of docs/prevalence-moved.md."""
    at = col("cell") == cell
    return Sentence(
        MOVED,
        start + " | {} | {} |",
        POINTS(least("as_fixed", at)),
        POINTS(least("precision", at)),
    )


SAMPLED += [
    hold_moved("| 200 positives, 2 000 negatives | eta 0.01, 500 looked at", 2),
    hold_moved("| 200, 20 000 | 0.001, 10 000", 3),
    hold_moved("| 50, 2 000 | 0.1, 500", 1),
    hold_moved("| 50, 2 000 | 0.1, 50", 0),
    hold_moved("| 5 000, 50 000 | 0.02, 1 000", 15),
]

# The best threshold ---------------------------------------------------------------------------


def hold_maxima(label: str, target: str, metric: str) -> Sentence:
    which = (col("maximized") == target) & (col("metric") == metric)
    ends = [
        end for name in ("too_high", "too_high_corrected")
        for end in (col(name).filter(which).min(), col(name).filter(which).max())
    ]  # fmt: skip
    held = [end for name in ("plain", "corrected") for end in find_ends(f"{name}_coverage", which)]
    text = (
        f"| {label} | {{:.3f}} .. {{:.3f}} | {{:.3f}} .. {{:.3f}} | {{}} .. {{}} | {{}} .. {{}} | {{}} |"
    )
    return Sentence(BEST, text, *map(MAXIMA, (*ends, *held, near("corrected_coverage", which))))


WEAK = (col("model") == "normal, d' = 1") & (col("maximized") == "f1")
BEST: list[Held] = [
    Sentence(BEST, "In simulation, with {} test sets in each of 13 cells (standard error {} percentage points)", MAXIMA(col("n_sets").min()), MAXIMA(standard_error())),
    hold_maxima("the greatest F1 | F1", "f1", "f1"),
    hold_maxima("the greatest MCC | MCC", "mcc", "mcc"),
    hold_maxima("the greatest F1 | precision", "f1", "precision"),
    Sentence(
        BEST, "up to {:.0f} % promise too much. Of the corrected one, at most {:.0f} % do.",
        MAXIMA(most("plain_above")), MAXIMA(most("corrected_above")),
    ),
    Sentence(
        BEST, "negatives of a weak model (d' = 1): {} % for F1, and {} % for precision at its threshold.",
        MAXIMA(least("corrected_coverage", WEAK, col("metric") == "f1")), MAXIMA(least("corrected_coverage", WEAK, IS_PRECISION)),
    ),
]  # fmt: skip

# Prevalence without labels --------------------------------------------------------------------

SHIFT = "prior-shift"
ALIKE = col("field").is_in(["only the prevalence differs", "five distinct scores"])


def show_mixture(found: pl.DataFrame) -> pl.DataFrame:
    plain = col("field") == "only the prevalence differs"
    d = pl.when(plain).then(show("d", 0)).otherwise(pl.format("{}, {}", show("d", 0), "field"))
    reference = pl.format("{} / {}", show_count("n_pos"), show_count("n_neg"))
    rest = [show_number_as_it_is("eta"), show("mean", 4), show_share("coverage"), show_share("rejected")]
    return found.select(d.alias("d"), reference.alias("reference"), show_count("n"), *rest)


OF_POINT, AT_RECALL = col("at") != "all", col("metric") == "precision_at_recall(0.5)"
SLIGHT = (col("field") == "scores 0.1 sd higher in the field") & (col("n") == 1_000)
UNLABELLED: list[Held] = [
    Grid(
        SHIFT, "mixture",
        "| d' | reference | field | prevalence | mean estimate | 95 % intervals that held the truth, % | p < 0.05, % |",
        show_mixture,
    ),
    Sentence(SHIFT, "with normal scores, {} times each", MIXTURE(col("n_sets").min())),
    Sentence(
        SHIFT, "Where only the prevalence differs, the interval holds {:.0f} to {:.0f} %, and the test rejects in {:.0f} to {:.0f} %.",
        *map(MIXTURE, (least("coverage", ALIKE), most("coverage", ALIKE), least("rejected", ALIKE), most("rejected", ALIKE))),
    ),
    Sentence(
        SHIFT, "standard deviations higher is refuted in {:.0f} %, and in {:.0f} % of the cases the interval is wrong.",
        MIXTURE(most("rejected", SLIGHT)), MIXTURE(100 - least("coverage", SLIGHT)),
    ),
    Sentence(
        SHIFT, "In simulation such intervals of precision, npv and F1 held the truth in {} to {} %,",
        *map(OWN_REFERENCE, (least("coverage", OF_POINT), most("coverage", OF_POINT))),
    ),
    Sentence(
        SHIFT, "holds {} % at worst. Those of average precision held {} to {} %.",
        *map(OWN_REFERENCE, (least("apart", OF_POINT), least("coverage", IS_AP), most("coverage", IS_AP))),
    ),
    Sentence(SHIFT, "Of `precision_at_recall` both errors simply add up, which holds {} % or more.", OWN_REFERENCE(least("coverage", AT_RECALL))),
    Sentence(
        SHIFT, "draws 10 populations, {} times each (standard error {} points).",
        OWN_REFERENCE(col("n_sets").min()), OWN_REFERENCE(standard_error()),
    ),
    Sentence(
        SHIFT, "The interval of calibrated posteriors held the truth in {} to {} %, in four such fields.",
        POSTERIORS(least("coverage", col("log_odds") == 1)), POSTERIORS(most("coverage", col("log_odds") == 1)),
    ),
    Sentence(
        SHIFT, "it holds {:.0f} to {:.0f} %, and nothing tells you.",
        POSTERIORS(least("coverage", col("log_odds") == 1.25)), POSTERIORS(most("coverage", col("log_odds") == 1.25)),
    ),
]  # fmt: skip

FIGURES = [*SAMPLED, *BEST, *UNLABELLED]
