"""Figures of coverage that stand on other pages than docs/coverage.md."""

# ruff: noqa: E501  (a text of the docs is one line)

from __future__ import annotations

import polars as pl
from polars import col

from .held import Sentence, Stored, count, least, mean, most

UNCERTAINTY, KEPT, UNKNOWN = "uncertainty", "which-threshold", "unknown-prevalence"
EVERYWHERE, GUARANTEE, POINTS, MIXTURE = map(
    Stored, ("everywhere", "guarantee", "sampled_eta_points", "mixture")
)
WIDER = [
    col(f"simultaneous_width_{recall}") / col(f"default_width_{recall}") for recall in (0.3, 0.5, 0.7)
]
REACHABLE = col("best_recall") > 0
LINES_BELOW, TIES = col("model") == "line, precision just below", col("model") == "five levels"
OF_BEST = (col("found") * col("recall_share")).fill_null(0)


def hold_moved(start: str, cell: int) -> Sentence:
    """Return a row of the table of docs/unknown-prevalence.md."""
    at = col("cell") == cell
    return Sentence(
        UNKNOWN, start + " | {} | {} |", POINTS(least("as_fixed", at)), POINTS(least("precision", at))
    )


NEXT, LABELS = "sampled-rows", Stored("labels")


def how_much_wider(quantity: str, eta: str) -> pl.Expr:
    """Return how many times as wide an interval of random labels is, the median over cells."""
    is_asked = (col("quantity") == quantity) & (col("eta") == eta)
    random, plan = (is_asked & (col("labels") == way) for way in ("at random", "by plan"))
    widths = (col("width").filter(way).sort_by(col("cell").filter(way)) for way in (random, plan))
    first, second = widths
    return (first / second).median()


ALIKE = col("field").is_in(["only the prevalence differs", "five distinct scores"])
SLIGHT = (col("field") == "scores 0.1 sd higher in the field") & (col("n") == 1_000)
FIGURES: list[Sentence] = [
    Sentence(
        UNCERTAINTY, "only {:.0f} to {:.0f}% of the 95% bands covered the precision at every score of a positive.",
        EVERYWHERE(least("default")), EVERYWHERE(most("default")),
    ),
    Sentence(
        UNCERTAINTY, "the band is {} to {} times as wide as the default one.",
        EVERYWHERE(pl.min_horizontal(WIDER).min()), EVERYWHERE(pl.max_horizontal(WIDER).max()),
    ),
    Sentence(KEPT, "draws {} test sets from each of {} populations", GUARANTEE(col("n_sets").min()), GUARANTEE(count(col("found") >= 0))),
    Sentence(KEPT, "missed in at most {}% of test sets of a population, and in {}% on average", GUARANTEE(most("broken")), GUARANTEE(mean("broken"))),
    Sentence(KEPT, "is missed in {:.0f}% on average where scores do not tie.", GUARANTEE(mean("broken_by_point", ~TIES))),
    Sentence(
        KEPT, "the lowest threshold that passes misses it in {:.0f} to {:.0f}%.",
        GUARANTEE(least("broken_by_lowest", LINES_BELOW)), GUARANTEE(most("broken_by_lowest", LINES_BELOW)),
    ),
    Sentence(
        KEPT, "In the {} populations in which the target can be met, a threshold passes in {:.0f}% of test sets. Recall averages {:.0f}% of the highest possible at the target (counted as 0 where none passes).",
        GUARANTEE(count(REACHABLE)), GUARANTEE(mean("found", REACHABLE)), GUARANTEE(mean(OF_BEST, REACHABLE)),
    ),
    hold_moved("| 200 positives, 2,000 negatives | eta 0.01, 500 in the sample", 2),
    hold_moved("| 50, 2,000 | 0.1, 500", 1),
    hold_moved("| 5,000, 50,000 | 0.02, 1,000", 15),
    Sentence(
        NEXT, "{} times as wide for precision, {} times for recall and {} times for average precision",
        LABELS(how_much_wider("precision", "own")), LABELS(how_much_wider("recall", "own")), LABELS(how_much_wider("average_precision", "own")),
    ),
    Sentence(
        UNKNOWN, "Where only the prevalence differs, the interval covers it in {:.0f} to {:.0f}%, and the test rejects in {:.0f} to {:.0f}%",
        *map(MIXTURE, (least("coverage", ALIKE), most("coverage", ALIKE), least("rejected", ALIKE), most("rejected", ALIKE))),
    ),
    Sentence(
        UNKNOWN, "standard deviations higher, it rejects {:.0f}% of 1,000-row tables, and intervals miss the prevalence in {:.0f}%.",
        MIXTURE(most("rejected", SLIGHT)), MIXTURE(100 - least("coverage", SLIGHT)),
    ),
]  # fmt: skip
