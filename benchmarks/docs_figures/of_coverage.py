"""Figures of docs/coverage.md: a row for each kind of interval, difference and promise."""

# ruff: noqa: E501  (a text of the docs, or a head of a table, is one line)

from __future__ import annotations

import polars as pl
from polars import col

from .held import Sentence, Stored, count, find_ends, least, mean, most, standard_error

PAGE = "coverage"
IS_AP, IS_ROC = col("metric") == "average_precision", col("metric") == "roc_auc"
FRESH = (
    *("forest's votes", "boosting", "logistic regression", "naive Bayes on digits", "neighbours"),
    *("isolation forest", "lognormals", "five other levels", "zeros", "contaminated"),
)
"""Names of the populations that no formula was tuned on."""
IS_FRESH = col("model").is_in(FRESH)
HALF_MARKED = col("marked") >= 0.5
ANY, KNOWN = col("cell") >= 0, col("coverage").is_not_null()
FEW_MARKED = col("marked") < 0.5
PLAIN = (col("step") == 0) & (col("weights") == "none")
ROUNDED, WEIGHTED = col("step") > 0, col("weights") != "none"


def hold_row(label: str, table: str, *which: pl.Expr, flag: bool = True) -> Sentence:
    """Return a row of intervals: cells, coverage where half is marked reliable, and of all."""
    stored = Stored(table)
    marked = find_ends("coverage_of_marked", *which, HALF_MARKED) if flag else []
    figures = [count(*which, KNOWN), *marked, *find_ends("coverage", *which)]
    middle = "{} .. {}" if flag else ""
    text = f"| {label} | `{table}` | {{}} | {middle} | {{}} .. {{}} |".replace("|  |", "| |")
    return Sentence(PAGE, text, *map(stored, figures))


def hold_points(label: str, table: str, names: tuple[str, ...], *which: pl.Expr) -> Sentence:
    """Return a row of bands at thresholds, whose coverage is a column for each metric."""
    low, high = pl.min_horizontal(names), pl.max_horizontal(names)
    figures = [count(*which, ANY), least(low, *which), most(high, *which)]
    return Sentence(
        PAGE, f"| {label} | `{table}` | {{}} | | {{}} .. {{}} |", *map(Stored(table), figures)
    )


def hold_chosen(label: str, target: str) -> Sentence:
    """Return a row of thresholds that a target chose, in cells where nine test sets in ten meet it."""
    is_in_reach = col("target").str.contains(target) & (col("met") >= 0.9)
    return hold_row(f"a threshold chosen by {label}", "chosen_thresholds", is_in_reach)


EXPECTED = col("false_positives")
CLUSTERED = ("recall", "fpr", "precision", "f1")
BELOW_60_PERCENT = col("risk") < 0.6
OWN_BANDS = ("f1", "mcc", "cohen_kappa", "npv", "accuracy")
SAMPLED_ETA = (
    "precision",
    "f1",
    "lift",
    "npv",
    "accuracy",
    "mcc",
    "cohen_kappa",
    "predicted_positive_rate",
)
IS_MANY = (EXPECTED >= 20) & (col("missed") >= 20)
TIED = col("model") == "five levels"
IS_MEAN = col("of") == "mean"
QUANTITY, BY_PLAN = col("quantity"), col("labels") == "by plan"
AREAS: list[Sentence] = [
    hold_row("average precision", "areas", IS_AP),
    hold_row("ROC AUC", "areas", IS_ROC),
    hold_row("average precision, by bootstrap", "bootstrap", IS_AP),
    hold_row("recall at an fpr, by bootstrap", "recall_at_fpr"),
    hold_row("average precision at the test set's prevalence", "cohorts", IS_AP),
    hold_row("average precision, negatives not counted", "never_scored", IS_AP),
    hold_row("average precision where eta is k of n", "sampled_eta_areas", IS_AP),
    hold_row("average precision where eta is from rows without labels", "shared_reference", IS_AP),
    hold_row("average precision, rows sampled by score", "bought_areas", IS_AP),
    hold_row("ROC AUC, rows sampled by score", "bought_areas", IS_ROC),
    hold_row("average precision, rows drawn by label or by range", "label_designs", QUANTITY == "average_precision"),
    hold_row("average precision, labels by a plan", "labels", QUANTITY == "average_precision", BY_PLAN),
    hold_row("average precision, clusters", "cluster_areas", IS_AP),
    hold_row("average precision, clusters of different effects", "patient_effects"),
    hold_row("average precision, several subpopulations", "field_areas", IS_AP),
    hold_row("ROC AUC, several subpopulations", "field_areas", IS_ROC),
    hold_row("a mean of average precision over 10 to 200 groups", "means", IS_MEAN, col("n_groups") >= 10),
    hold_row("the same over 5 groups, all in doubt", "means", IS_MEAN, col("n_groups") == 5, flag=False),
]  # fmt: skip
BANDS: list[Sentence] = [
    hold_points("precision, 20 or 100 false positives expected", "bands", ("mover_wilson",), EXPECTED.is_in(["20", "100"])),
    hold_points("precision, 5 expected", "bands", ("mover_wilson",), EXPECTED == "5"),
    hold_points("precision, 1 expected", "bands", ("mover_wilson",), EXPECTED == "1"),
    hold_points("F1, MCC, kappa, npv, accuracy, few missed positives", "missed_positives", OWN_BANDS, col("interval") == "wilson"),
    hold_points("rectangle, Clopper-Pearson", "bands", ("rectangle_clopper_pearson",)),
    hold_points("all thresholds at once: both rates, no ties", "everywhere", ("rates",), ~TIED),
    hold_points("all thresholds at once: precision", "everywhere", ("simultaneous",)),
    hold_points("the default band, at all thresholds", "everywhere", ("default",)),
    hold_chosen("`recall=`", "^recall"),
    hold_chosen("`fpr=`", "^fpr"),
    hold_chosen("a budget of alerts", "^alerts"),
    hold_chosen("`precision=`", "^precision"),
    hold_chosen("`maximize=`", "^maximize"),
    hold_row("metrics at a target", "sought_values", PLAIN),
    hold_row("the same, rounded scores", "sought_values", ROUNDED),
    hold_row("the same, weights", "sought_values", WEIGHTED),
    hold_row("at the test set's prevalence", "cohort_points"),
    hold_row("the same, at a target", "cohort_targets"),
    hold_row("precision at a recall, negatives not counted", "never_scored", ~IS_AP),
    hold_row("the same, weights", "weighted_cohorts"),
    hold_row("the same, clusters", "clustered_cohorts"),
    hold_points("eta is k of n, eight metrics", "sampled_eta_points", SAMPLED_ETA),
    hold_points("metrics at a target, where eta is an estimate", "sought_at_estimates", ("coverage",)),
    hold_row("net benefit of 200 rows or more, risks below 0.6", "decision_curves", BELOW_60_PERCENT, flag=False),
    hold_points("rows sampled by score: precision", "bought_bands", ("precision",)),
    hold_points("rows sampled by score: fpr", "bought_bands", ("fpr",)),
    hold_row("rows drawn by label or by range: precision, recall", "label_designs", QUANTITY != "average_precision"),
    hold_row("labels by a plan: precision, recall", "labels", QUANTITY != "average_precision", BY_PLAN),
    hold_points("clusters, 20 false and 20 missed expected", "cluster_bands", CLUSTERED, IS_MANY),
    hold_points("clusters, fewer expected", "cluster_bands", CLUSTERED, ~IS_MANY),
    hold_points("several subpopulations: precision, F1, recall", "field_bands", ("precision_known", "f1_known", "recall_known")),
]  # fmt: skip

# Differences ----------------------------------------------------------------------------------

UNLIKE = {
    "unlike_models": "models of different shapes, different examples",
    "unlike_pairs": "models of different shapes, one test set",
}


def hold_apart(
    label: str, table: str, apart: pl.Expr | None, *which: pl.Expr, held: bool = True
) -> Sentence:
    """Return a row of differences: cells, coverage, and how often equal models are told apart."""
    stored = Stored(table)
    text, figures = f"| {label} | `{table}` | {{}} |", [count(*which, KNOWN if held else ANY)]
    if held:
        text += " {} .. {} | {} .. {} |"
        figures += [
            *find_ends("coverage_of_marked", *which, HALF_MARKED),
            *find_ends("coverage", *which),
        ]
    else:
        text += " | |"
    text += " {} |" if apart is not None else " |"
    figures += [] if apart is None else [apart]
    return Sentence(PAGE, text, *map(stored, figures))


DIFFERENCES: list[Sentence] = [
    hold_apart("average precision, one test set", "compare", most("rejected", IS_AP), IS_AP, held=False),
    hold_apart("ROC AUC, one test set", "compare", most("rejected", IS_ROC), IS_ROC, held=False),
    *(hold_apart(f"average precision, {label}", table, most("rejected")) for table, label in UNLIKE.items()),
    hold_apart("ROC AUC, clusters", "cluster_pairs", most("rejected", IS_ROC), IS_ROC, held=False),
    hold_apart("average precision, clusters", "cluster_pairs", most("rejected", IS_AP), IS_AP, held=False),
    hold_apart("average precision where eta is k of n", "sampled_eta_differences", None),
    hold_apart("any of 66 pairs, `adjust=\"holm\"`", "many_pairs", most("by_holm"), held=False),
    hold_apart("the best and the worst of 12, `worst=True`", "many_pairs", most("by_worst"), held=False),
    hold_apart("a ranking of 12 rules out one", "many_pairs", most("by_ranking"), held=False),
    hold_apart("a ranking of 3 or 10 rules out one", "ranking", most("ruled_out"), held=False),
    hold_apart("at a threshold, one test set", "paired_points", most("wrongly_resolved")),
    hold_apart("at a threshold, groups", "differences", most("wrongly_resolved")),
    hold_apart("at a target", "sought_points", most("wrongly_resolved", PLAIN), PLAIN),
    hold_apart("at a target, rounded scores", "sought_points", most("wrongly_resolved", ROUNDED), ROUNDED),
    hold_apart("at a target, weights", "sought_points", most("wrongly_resolved", WEIGHTED), WEIGHTED),
    hold_apart("at a target, several subpopulations", "field_pairs", most("wrongly_resolved")),
    hold_apart("average precision, labels by a plan", "label_pairs", most("resolved", IS_AP), IS_AP),
    hold_apart("at a threshold or a recall, labels by a plan", "label_pairs", most("resolved", ~IS_AP), ~IS_AP),
    hold_apart("at the test set's prevalence", "cohort_differences", most("resolved", col("shifts") == "2 and 2")),
    hold_apart("a model and a published point", "matched_points", most("resolved", col("share") == 1)),
    hold_apart("means of average precision over 5 to 200 groups", "means", most("significant", col("of") == "equal models"), ~IS_MEAN),
    Sentence(
        PAGE, "With `margin=`, a model that is worse by exactly the margin is `not_worse` in up to {}% by average precision, {}% by ROC AUC (`margins`), and by a mean over 5 groups {}%, over 10 or 20 {}% (`margins_of_means`); the level is 2.5%.",
        *(Stored("margins")(most("worse_not_worse", area)) for area in (IS_AP, IS_ROC)),
        *(Stored("margins_of_means")(most("worse_not_worse", of)) for of in (col("n_groups") < 10, col("n_groups") >= 10)),
    ),
]  # fmt: skip


def hold_alike(shared: float, lead: float) -> Sentence:
    """Return a row of models whose ranks correlate: how often told apart, and how often a lead is found."""
    is_shared, is_size = col("shared") == shared, col("n_pos") == 100
    figures = [
        Stored("compare")(most("rejected", IS_AP, is_shared)),
        *(Stored("unlike_pairs")(share("rejected", is_shared)) for share in (most, mean)),
    ]
    for eta in (0.3, 0.05, 0.01, 0.001):
        where = is_shared & is_size & (col("eta") == eta)
        figures += [Stored("power")(mean(name, where)) for name in ("found", "found_by_bootstrap")]
    text = f"| {shared} | {{}} | {{}}, {{}} | {lead} |" + " {:.0f}, {:.0f} |" * 4
    return Sentence(PAGE, text, *figures)


RESAMPLED = (col("shared") == 0.98) & (col("eta") == 0.01)
FOUND = RESAMPLED & (col("n_pos") == 100)
DIFFERENCES += [
    *(hold_alike(shared, lead) for shared, lead in ((0.2, 0.5), (0.5, 0.5), (0.9, 0.25), (0.98, 0.12))),
    Sentence(
        PAGE,
        "At a rank correlation of 0.98 and eta 0.01, its type I error is up to {}% for models of different shapes, on average {}%, and that of `compare` {} and {}%. At a level of 99% it still has up to {}%, on average {}%, and detects {:.0f}% of the leads there, `compare` {:.0f}% at 95%.",
        *(
            Stored("unlike_pairs")(share(name, RESAMPLED))
            for name in ("by_bootstrap_at_95", "rejected", "by_bootstrap_at_99")
            for share in (most, mean)
        ),
        *(Stored("power")(mean(name, FOUND)) for name in ("found_at_99", "found")),
    ),
]

# Promises -------------------------------------------------------------------------------------


def hold_promise(label: str, table: str, *which: pl.Expr) -> Sentence:
    """Return a row of promises: populations, how often broken, and how often found."""
    figures = [
        count(*which, ANY), most("broken", *which), mean("broken", *which),
        mean("broken_by_point", *which), mean("found", *which),
    ]  # fmt: skip
    text = f"| {label} | `{table}` | {{}} | {{}} | {{}} | {{:.0f}} | {{:.0f}} |"
    return Sentence(PAGE, text, *map(Stored(table), figures))


MODEL, TARGET = col("model"), col("target")
PROMISES: list[Sentence] = [
    hold_promise("precision, normal scores", "guarantee", MODEL.str.starts_with("normal")),
    hold_promise("precision, beta, Student's t, a mixture", "guarantee", MODEL.str.contains("^(beta|t3|mixture)")),
    hold_promise("precision, five levels", "guarantee", MODEL == "five levels"),
    hold_promise("precision just below the target at every threshold", "guarantee", MODEL == "line, precision just below"),
    hold_promise("npv", "targets", TARGET.str.starts_with("npv")),
    hold_promise("fdr, lift", "targets", TARGET.str.contains("^(fdr|lift)")),
    hold_promise("recall, fpr", "targets", TARGET.str.contains("^(recall|fpr)")),
    hold_promise("alerts", "targets", TARGET.str.starts_with("alerts")),
    hold_promise("several targets together", "together"),
    hold_promise("eta is k of n", "uncertain_targets"),
    hold_promise("the test set's prevalence", "cohort_promises"),
    hold_promise("clusters", "clustered_promises"),
    hold_promise("weights", "weighted_promises"),
    hold_promise("several subpopulations: precision", "field_promises"),
    hold_promise("several subpopulations: other targets", "field_targets"),
    Sentence(
        PAGE, "a `certainty` of 95% or more is wrong in {}% of test sets on average and {}% at most, one of 90% in {} and {}% (`certainties`).",
        *map(Stored("certainties"), (
            share(f"wrong_{level}", ~col("chosen")) for level in (95, 90) for share in (mean, most)
        )),
    ),
    Sentence(
        PAGE, "null below 50%: there, {:.0f}% of test sets meet the target, whatever its value. Otherwise {:.0f}% meet it where `certainty` averages {:.0f}%; at worst, {:.0f} points fewer than stated.",
        *map(Stored("certainties"), (
            mean("kept_null", col("chosen")), mean("kept_known", col("stated").is_not_null()),
            mean("stated"), most(col("stated") - col("kept_known")),
        )),
    ),
]  # fmt: skip

# Best thresholds and prevalences without labels ------------------------------------------------


def hold_maxima(label: str, target: str, metric: str) -> Sentence:
    which = (col("maximized") == target) & (col("metric") == metric)
    figures = [*find_ends("plain_coverage", which), *find_ends("corrected_coverage", which)]
    return Sentence(PAGE, f"| {label} | {{}} .. {{}} | {{}} .. {{}} |", *map(Stored("maxima"), figures))


def hold_mixture(label: str, *which: pl.Expr) -> Sentence:
    figures = [count(*which, ANY), *find_ends("coverage", *which), *find_ends("rejected", *which)]
    return Sentence(
        PAGE, f"| {label} | {{}} | {{}} .. {{}} | {{}} .. {{}} |", *map(Stored("mixture"), figures)
    )


FIELD = col("field")
ALIKE = FIELD.is_in(["only the prevalence differs", "five distinct scores"])
REST: list[Sentence] = [
    hold_maxima("highest F1", "f1", "f1"),
    hold_maxima("highest MCC", "mcc", "mcc"),
    hold_maxima("precision at the highest F1", "f1", "precision"),
    hold_mixture("only the prevalence differs", ALIKE),
    hold_mixture("scores 0.1 standard deviations higher", FIELD.str.contains("0.1 sd")),
    hold_mixture("scores 0.3 standard deviations higher", FIELD.str.contains("0.3 sd")),
    hold_mixture("positives harder to detect", FIELD.str.contains("^and ")),
    Sentence(
        PAGE, "Random scores are above chance in at most {}% (`chance`), and with weights or clusters in at most {}% (`chance_of_designs`), at a level of 95%.",
        Stored("chance")(most("above", (MODEL == "chance") & (col("confidence") == 0.95))), Stored("chance_of_designs")(most("above")),
    ),
    Sentence(
        PAGE, "(`prior_shift`), the coverage is {} to {}% if they are calibrated, and {:.0f} to {:.0f}% if their log-odds are 1.25 times too large.",
        *map(Stored("posteriors"), (*find_ends("coverage", col("log_odds") == 1), *find_ends("coverage", col("log_odds") == 1.25))),
    ),
    Sentence(
        PAGE, "with `assurance=0.8` at least {}% of test sets are narrow enough, and with 0.95 at least {}%, on average {} and {}%.",
        *map(Stored("sizes"), (
            least("narrow_enough", col("assurance") == 0.8), least("narrow_enough", col("assurance") == 0.95),
            mean("narrow_enough", col("assurance") == 0.8), mean("narrow_enough", col("assurance") == 0.95),
        )),
    ),
]  # fmt: skip

# Where they fail ------------------------------------------------------------------------------

TABLE = Stored("areas")
ERROR = (0.95 * 0.05 / (col("n_sets") * col("marked"))).sqrt()
MARKED = col("marked") >= 0.95


def weighted(held: str, *which: pl.Expr) -> pl.Expr:
    """Return the coverage of all test sets that are marked."""
    marks = col("marked").filter(*which)
    return 100 * (col(held).fill_null(0).filter(*which) * marks).sum() / marks.sum()


IS_LUCK = (col("met") < 0.9) & col("target").str.starts_with("precision")
FAILURES: list[Sentence] = [
    Sentence(
        PAGE, "The mean coverage at a target is {}%, with `maximize=` {}% (`chosen_thresholds`). Where fewer than nine in ten test sets meet a precision, {:.0f}% of those that do have no doubt, with a coverage of {}%.",
        *map(Stored("chosen_thresholds"), (
            mean("coverage", col("met") >= 0.9, ~col("target").str.starts_with("max")), mean("coverage", col("target").str.starts_with("max")),
            100 * (col("marked") * col("met")).filter(IS_LUCK).sum() / col("met").filter(IS_LUCK).sum(),
            100 * (col("coverage_of_marked").fill_null(0) * col("marked") * col("met")).filter(IS_LUCK).sum() / (col("marked") * col("met")).filter(IS_LUCK).sum(),
        )),
    ),
    Sentence(
        PAGE, "Of {} settings of `areas` in which 95% of intervals have no doubt, {} have a coverage below 93% by more than two standard errors, and {} above 97%.",
        TABLE(count(MARKED)), TABLE(count(MARKED, col("coverage_of_marked") < 0.93 - 2 * ERROR)),
        TABLE(count(MARKED, col("coverage_of_marked") > 0.97 + 2 * ERROR)),
    ),
    Sentence(
        PAGE, "The mean coverage is {}% for average precision, {}% in ten populations that no formula was tuned on, and for ROC AUC {} and {}%.",
        *(TABLE(mean("coverage_of_marked", kind, of)) for kind in (IS_AP, IS_ROC) for of in (~IS_FRESH, IS_FRESH)),
    ),
    Sentence(PAGE, "Where one is expected, up to {:.0f}% of test sets have no alert, and are not counted.", Stored("bands")(most("no_interval", EXPECTED == "1"))),
    Sentence(
        PAGE, "(`patient_effects`): the coverage is {} to {}% with normal effects, and as low as {}% with lognormal ones.",
        *map(Stored("patient_effects"), (*find_ends("coverage", col("effects") == "normal"), least("coverage", col("effects") == "lognormal"))),
    ),
    Sentence(
        PAGE, "With the prevalence of a sample taken as exact, the coverage of precision at a threshold is as low as {}% (`sampled_eta_points`), at the test set's prevalence {}% (`cohort_points`), for several subpopulations {:.0f}% (`field_bands`).",
        Stored("sampled_eta_points")(least("as_fixed")), Stored("cohort_points")(least("as_said", col("metric") == "precision")), Stored("field_bands")(least("precision_as_fixed")),
    ),
    Sentence(
        PAGE, "with rows taken as independent, the coverage of areas is as low as {}% (`cluster_areas`), of bands {}% (`cluster_bands`), and guarantees fail in up to {}% (`clustered_promises`).",
        Stored("cluster_areas")(least("without_cluster")), Stored("cluster_bands")(least(pl.min_horizontal([f"without_{name}" for name in CLUSTERED]))),
        Stored("clustered_promises")(most("broken_by_independent")),
    ),
    Sentence(
        PAGE, "Where only 2 to 5% of test sets have no doubt, as few as {}% (`differences`) of those intervals cover the true value.",
        Stored("differences")(least("coverage_of_marked", col("marked").is_between(0.02, 0.05))),
    ),
    Sentence(PAGE, "a `guarantee` that treats the estimate as exact fails in up to {:.0f}% (`uncertain_targets`).", Stored("uncertain_targets")(most("broken_by_fixed"))),
    Sentence(
        PAGE, "A setting has {} test sets or more in `areas`, {} in `bands`, {} or more in most others, and {} in `uncertain_targets`",
        TABLE(col("n_sets").min()), Stored("bands")(col("n_sets").min()), Stored("bootstrap")(col("n_sets").min()), Stored("uncertain_targets")(col("n_sets").min()),
    ),
    Sentence(PAGE, "at 95% that is a standard error of {} points in `areas`, of {} with 500.", TABLE(standard_error()), Stored("bootstrap")(standard_error())),
]  # fmt: skip
FIGURES: list[Sentence] = [*AREAS, *BANDS, *DIFFERENCES, *PROMISES, *REST, *FAILURES]
