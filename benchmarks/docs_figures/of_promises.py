"""Figures of docs/keeping-promises.md: promises, and fields of several parts."""

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
    show,
    show_count,
    show_number_as_it_is,
    show_share,
    standard_error,
)  # fmt: skip

PAGE = "keeping-promises"
GUARANTEE, TARGETS, UNCERTAIN = Stored("guarantee"), Stored("targets"), Stored("uncertain_targets")
CLUSTERED, WEIGHTED, COHORTS = (
    Stored("clustered_promises"),
    Stored("weighted_promises"),
    Stored("cohort_promises"),
)
TOGETHER, FIELD_PROMISES, FIELD_TARGETS = (
    Stored("together"),
    Stored("field_promises"),
    Stored("field_targets"),
)
FIELD_BANDS, FIELD_AREAS = Stored("field_bands"), Stored("field_areas")
REACHABLE = col("best_recall") > 0
LINES_BELOW = col("model") == "line, precision just below"
TIES = col("model") == "five levels"
OF_BEST = (col("found") * col("recall_share")).fill_null(0)


def show_size() -> list[pl.Expr]:
    return [show_count("n_pos"), show_count("n_neg"), show_number_as_it_is("eta")]


def show_best(column: str) -> pl.Expr:
    """Return the best recall in per cent; none if no threshold keeps the promise."""
    return pl.when(col(column) > 0).then(show(percent(column), 0)).otherwise(pl.lit("none"))


def show_guarantee(found: pl.DataFrame) -> pl.DataFrame:
    target = col("target").str.strip_prefix("precision ").alias("target")
    broken = [show(percent("broken_by_point"), 0).alias("point")]
    broken += [show_share("broken_by_lowest"), show_share("broken")]
    rest = [show(percent("found"), 0).alias("found"), show(percent("recall_share"), 0).alias("share")]
    return found.select(
        "model", *show_size(), target, show_best("best_recall").alias("best"), *broken, *rest
    )


def show_outcome(found: pl.DataFrame, *broken: str) -> pl.DataFrame:
    events = [show_count("events")] if "events" in found.columns else []
    return found.select(
        "model", *show_size(), "target", *events, *map(show_share, (*broken, "found", "recall"))
    )


WHERE = "| scores | P | N | eta |"
KEPT: list[Held] = [
    Grid(
        PAGE, "guarantee",
        f"{WHERE} precision | best recall | point choice: broken, % | lowest that passes: broken, % | `guarantee`: broken, % | found, % | share of the best recall, % |",
        show_guarantee,
    ),
    Sentence(PAGE, "draws {} test sets from each of {} populations", GUARANTEE(col("n_sets").min()), GUARANTEE(count(col("found") >= 0))),
    Sentence(
        PAGE, "it is broken in at most {} % of test sets of a population, and in {} % on average (standard error at 5 %: {})",
        GUARANTEE(most("broken")), GUARANTEE(mean("broken")), GUARANTEE(standard_error()),
    ),
    Sentence(PAGE, "The point choice breaks it in {:.0f} % on average, where scores do not tie.", GUARANTEE(mean("broken_by_point", ~TIES))),
    Sentence(
        PAGE, "the lowest threshold that passes breaks the promise in {:.0f} to {:.0f} %.",
        GUARANTEE(least("broken_by_lowest", LINES_BELOW)), GUARANTEE(most("broken_by_lowest", LINES_BELOW)),
    ),
    Sentence(
        PAGE, "of the {} populations in which the promise can be kept, a threshold is found in {:.0f} % of test sets. Its recall is {:.0f} % of the best one that keeps the promise, with none found counted as 0.",
        GUARANTEE(count(REACHABLE)), GUARANTEE(mean("found", REACHABLE)), GUARANTEE(mean(OF_BEST, REACHABLE)),
    ),
    Grid(
        PAGE, "targets", f"{WHERE} target | point choice: broken, % | `guarantee`: broken, % | found, % | mean recall, % |",
        lambda found: show_outcome(found, "broken_by_point", "broken"),
    ),
    Sentence(PAGE, "draws {} test sets of each population (standard error at 5 %: {})", TARGETS(col("n_sets").min()), TARGETS(standard_error())),
    Sentence(PAGE, "Recall 0.8 with 100 positives is broken with a probability of 4.7 % by the binomial distribution, of which {} % is an estimate.", TARGETS(most("broken", col("target") == "recall 0.8"))),
    Grid(
        PAGE, "uncertain_targets",
        f"{WHERE} target | n | point choice: broken, % | eta as fixed: broken, % | `guarantee`: broken, % | found, % | mean recall, % |",
        lambda found: show_outcome(found, "broken_by_point", "broken_by_fixed", "broken"),
    ),
    Sentence(PAGE, "(`uncertain_targets`, {} test sets each)", UNCERTAIN(col("n_sets").min())),
    Sentence(PAGE, "(the experiment `together`, {} test sets each)", TOGETHER(col("n_sets").min())),
    Sentence(PAGE, "With the interval the promise is broken in at most {} %, less than the 5 % that are allowed", UNCERTAIN(most("broken"))),
    Sentence(PAGE, "Taken as exact, the estimate breaks it in up to {:.0f} %.", UNCERTAIN(most("broken_by_fixed"))),
    Grid(
        PAGE, "together", f"{WHERE} targets | point choice: broken, % | `guarantee`: broken, % | found, % | mean recall, % |",
        lambda found: show_outcome(found, "broken_by_point", "broken"),
    ),
    Sentence(PAGE, "so the share of broken ones is at most {} %.", TOGETHER(most("broken"))),
    Sentence(
        PAGE, "`clustered_promises` draws {} sets of patients", CLUSTERED(col("n_sets").min()),
    ),
    Sentence(
        PAGE, "The promise is broken in at most {} % of them; with rows taken as independent it is in up to {} %. A threshold is found in {:.0f} to {:.0f} % with normal effects of patients, and in {:.0f} to {:.0f} % with lognormal ones.",
        CLUSTERED(most("broken")), CLUSTERED(most("broken_by_independent")),
        CLUSTERED(least("found", col("scores") == "normal effects")), CLUSTERED(most("found", col("scores") == "normal effects")),
        CLUSTERED(least("found", col("scores") == "lognormal effects")), CLUSTERED(most("found", col("scores") == "lognormal effects")),
    ),
    Sentence(PAGE, "and is broken in at most {} %, on the line just below the target", WEIGHTED(most("broken"))),
    Sentence(
        PAGE, "`cohort_promises` is broken in at most {} % of its {} populations, and the point choice in {:.0f} % on average.",
        COHORTS(most("broken")), COHORTS(count(col("found") >= 0)), COHORTS(mean("broken_by_point")),
    ),
]  # fmt: skip

# Fields ---------------------------------------------------------------------------------------

PARTS = {
    "two alike": "2, of 100 / 1 000 each",
    "rare and frequent": "2: 200 / 2 000 at 0.01, 50 / 500 at 0.2",
    "moved scores": "2 of 100 / 2 000, one with all scores 1 higher",
    "five of all sizes": "5, of 20 / 500 to 200 / 2 000",
    "one heavy and small": "2: 20 / 200 with nine tenths of the field, 500 / 5 000",
    "ten small": "10 of 20 / 200",
    "rare": "2 of 300 / 10 000, at 0.001 and 0.003",
    "hardly reached": "2 of 100 / 1 000, weak scores",
    "not reached": "2 of 200 / 2 000, scores that tell nothing",
    "flat": "2: 500 / 500 and 100 / 500, scores that tell nothing",
}
POINTS = ("precision", "f1", "recall")


def show_field_promises(found: pl.DataFrame) -> pl.DataFrame:
    shares = map(show_share, ("broken_by_point", "broken", "found", "recall_share"))
    best = pl.when(REACHABLE).then(show_share("best_recall")).otherwise(pl.lit("none")).alias("best")
    parts = col("field").replace_strict(PARTS).alias("parts")
    return found.select("field", parts, show_number_as_it_is("precision"), best, *shares)


def show_field_bands(found: pl.DataFrame) -> pl.DataFrame:
    columns = (
        [f"{name}_{kind}" for name in POINTS if (kind, name) != ("as_fixed", "recall")]
        for kind in ("known", "as_fixed", "sampled")
    )
    shown = (pl.concat_str(map(show_share, names), separator=", ").alias(names[0]) for names in columns)
    return found.select("field", show_number_as_it_is("threshold"), show_count("events"), *shown)


def show_field_areas(found: pl.DataFrame) -> pl.DataFrame:
    shown = found.with_columns(shown=pl.format("{} ({})", show_share("coverage"), show_share("marked")))
    wide = shown.pivot(["metric", "eta"], index=["field", "events"], values="shown", maintain_order=True)
    order = [
        f'{{"{metric}","{eta}"}}'
        for metric in ("average_precision", "roc_auc")
        for eta in ("known", "sampled")
    ]
    return wide.select("field", show_count("events"), *order)


HELD_BANDS = [f"{name}_{kind}" for name in POINTS for kind in ("known", "sampled")]
MANY_MARKED, NONE_MARKED = col("marked") >= 0.5, col("marked") < 0.01
IN_FIELDS: list[Held] = [
    Grid(
        PAGE, "field_promises",
        "| field | parts (P / N) | precision | best recall, % | point choice: broken, % | `guarantee`: broken, % | found, % | share of the best recall, % |",
        show_field_promises,
    ),
    Sentence(PAGE, "`field_promises` draws {} test sets of each field", FIELD_PROMISES(col("n_sets").min())),
    Sentence(PAGE, "The promise is broken in at most {} % (standard error at 5 %: {})", FIELD_PROMISES(most("broken")), FIELD_PROMISES(standard_error())),
    Sentence(PAGE, "If a small part is most of the field, a threshold is found in {:.0f} %.", FIELD_PROMISES(least("found", col("field") == "one heavy and small"))),
    Grid(
        PAGE, "field_targets", "| field | target | point choice: broken, % | `guarantee`: broken, % | found, % | mean recall, % |",
        lambda found: found.select("field", "target", *map(show_share, ("broken_by_point", "broken", "found", "recall"))),
    ),
    Sentence(
        PAGE, "`field_targets` promises other targets in the same fields, with {} test sets each (standard error at 5 %: {}), and several together. They are broken in at most {} %.",
        FIELD_TARGETS(col("n_sets").min()), FIELD_TARGETS(standard_error()), FIELD_TARGETS(most("broken")),
    ),
    Grid(
        PAGE, "field_bands",
        "| field | threshold | n of each part | precision, F1, recall at known eta: held, % | precision, F1: eta as fixed, % | precision, F1, recall: eta from k of n, % |",
        show_field_bands,
    ),
    Sentence(
        PAGE, "In {} test sets of each field they hold in {} to {} %, also where each part has 0.3 false positives on average.",
        FIELD_BANDS(col("n_sets").min()),
        FIELD_BANDS(least(pl.min_horizontal(HELD_BANDS))), FIELD_BANDS(most(pl.max_horizontal(HELD_BANDS))),
    ),
    Sentence(
        PAGE, "precision is held in {:.0f} to {:.0f} %.",
        FIELD_BANDS(least("precision_as_fixed")), FIELD_BANDS(most("precision_as_fixed")),
    ),
    Grid(
        PAGE, "field_areas",
        "| field | n of each part | average precision at known eta | average precision, eta from k of n | ROC AUC at known eta | ROC AUC, eta from k of n |",
        show_field_areas,
    ),
    Sentence(PAGE, "`field_areas` draws {} test sets of each field", FIELD_AREAS(col("n_sets").min())),
    Sentence(
        PAGE, "Where at least half of the test sets are marked reliable, the marked intervals hold in {} to {} %.",
        FIELD_AREAS(least("coverage_of_marked", MANY_MARKED)), FIELD_AREAS(most("coverage_of_marked", MANY_MARKED)),
    ),
    Sentence(
        PAGE, "Where hardly any are, those of ROC AUC hold in as little as {:.0f} %",
        FIELD_AREAS(least("coverage", NONE_MARKED, col("metric") == "roc_auc")),
    ),
]  # fmt: skip
FIGURES = [*KEPT, *IN_FIELDS]
