"""Labels that are drawn by strata of the score: intervals of points, areas and differences.

A set is all rows of a table, of which 2,000 get a label: by two plans, the first of 350 labels in equal
parts, and, beside it, at random. `scores` tells which populations no formula was tuned on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy import special, stats

from .areas import Cohort, draw_cohort
from .experiment import CONFIDENCE, Row, experiment, measure_coverage, share_significant
from .populations import (
    AREAS,
    CALIBRATED,
    CAUCHY,
    FIVE,
    GUMBEL,
    HARD,
    Floats,
    Levels,
    Mixture,
    Model,
    TwoNoises,
    normal,
    precision,
    student,
)

LABELS, PILOT = 2_000, 350
ETAS: tuple[float | None, ...] = (None, 0.001, 0.1)


def cut_scores(name: str, edges: Floats, positive: Any, negative: Any) -> Levels:
    """Return scores that are rounded to the ranges between falling edges."""
    shares = (np.diff(of.sf(edges), prepend=0, append=1) for of in (positive, negative))
    return Levels(name, *(tuple(of.tolist()) for of in shares))


HARD_NORMAL = TwoNoises("hard20, normal", Mixture((0.8, 3), (0.2, 0)), stats.norm())
GUMBEL_TENTHS = cut_scores(
    "Gumbel, in tenths", np.arange(12.05, -4, -0.1), GUMBEL.positive, GUMBEL.negative
)
HARD30 = cut_scores(
    "hard30, in thousandths",
    special.logit(np.arange(999.5, 0, -1) / 1_000) + 3,
    Mixture((0.7, 3.2), (0.3, 0)),
    stats.norm(),
)
LOGNORMAL = TwoNoises("lognormal", stats.lognorm(1, 0, 6), stats.lognorm(1))


@dataclass(frozen=True)
class Scores:
    """All rows of a table, and the threshold at which precision is asked for."""

    model: Model
    eta: float
    fpr: float
    scores: str = "tried"
    """Whether formulas were tried on it, or are new to it."""
    n: int = 30_000

    @property
    def threshold(self) -> float:
        """Minus the fpr, or the number of the level that is nearest to it."""
        if self.model.levels is None:
            return -self.fpr
        return -float(np.abs(np.cumsum(self.model.levels[1]) - self.fpr).argmin())

    @property
    def rates(self) -> tuple[float, float]:
        """Recall and fpr at the threshold."""
        if self.model.levels is None:
            return float(np.asarray(self.model.recall_at(self.fpr))), self.fpr
        recall, fpr = (np.cumsum(of)[int(-self.threshold)] for of in self.model.levels)
        return float(recall), float(fpr)

    @property
    def row(self) -> Row:
        where = {"scores": self.scores, "model": self.model.name, "prevalence": self.eta}
        return where | {"fpr_of_threshold": self.fpr, "rows": self.n}

    def find_truth(self, quantity: str, eta: float | None) -> float:
        recall, fpr = self.rates
        at = self.eta if eta is None else eta
        if quantity == "average_precision":
            return float(AREAS[quantity](self.model, at))
        return recall if quantity == "recall" else float(precision(recall, fpr, at))


SCORES = [
    Scores(HARD_NORMAL, 0.02, 0.02),
    Scores(HARD_NORMAL, 0.005, 0.02),
    Scores(HARD_NORMAL, 0.005, 0.005),
    Scores(HARD, 0.01, 0.02),
    Scores(GUMBEL, 0.02, 0.02),
    Scores(GUMBEL, 0.02, 0.005),
    Scores(CAUCHY, 0.02, 0.02),
    Scores(GUMBEL_TENTHS, 0.02, 0.02),
    Scores(HARD30, 0.0019, 0.01),
    Scores(HARD30, 0.0019, 0.003, n=1_000_000),
    Scores(CALIBRATED, 0.02, 0.05, "new"),
    Scores(CALIBRATED, 0.1, 0.05, "new"),
    Scores(student(2), 0.02, 0.02, "new"),
    Scores(student(3), 0.005, 0.01, "new"),
    Scores(FIVE, 0.02, 0.05, "new"),
    Scores(FIVE, 0.05, 0.01, "new"),
    Scores(LOGNORMAL, 0.01, 0.02, "new"),
    Scores(normal(2.5), 0.01, 0.02, "new"),
]


def draw_rows(rows: pl.DataFrame, plan: pl.DataFrame, rng: np.random.Generator) -> pl.Series:
    """Return the numbers of rows that a plan asks for, of those without a label."""
    edges = plan.sort("score_low").select("score_low", "stratum", "n_next")
    placed = rows.filter(pl.col("label").is_null()).sort("score")
    placed = placed.join_asof(edges, left_on="score", right_on="score_low")
    shuffled = placed.sample(fraction=1, shuffle=True, seed=int(rng.integers(2**32)))
    return shuffled.filter(pl.int_range(pl.len()).over("stratum") < pl.col("n_next"))["index"]


def label_by_plan(
    rows: pl.DataFrame, threshold: float, rng: np.random.Generator, labels: int = LABELS
) -> pl.DataFrame:
    """Return the rows with a label, weighed: those of a first plan, and of a second one."""
    rows = rows.with_row_index().rename({"label": "truth"})
    chosen = pl.Series([], dtype=pl.UInt32)
    for budget in (PILOT, labels - PILOT):
        known = pl.when(pl.col("index").is_in(chosen.implode())).then("truth")
        rows = rows.with_columns(label=known)
        plan = rows.prc.sampling_plan(threshold, budget=budget)
        chosen = pl.concat([chosen, draw_rows(rows, plan, rng)])
    known = pl.when(pl.col("index").is_in(chosen.implode())).then("truth")
    return rows.with_columns(label=known).prc.reweight(plan=plan).drop("index", "truth")


def hold_points(cell: Scores, table: Any) -> Iterator[tuple[str, float | None, Row]]:
    """Yield the coverage of each quantity at each prevalence."""
    asked: dict[str, Any] = {"metrics": ["precision", "recall"], "confidence": CONFIDENCE}
    points = table.operating_points(list(ETAS), threshold=cell.threshold, **asked)
    areas = table.summary(list(ETAS), metrics="average_precision", confidence=CONFIDENCE)
    said = [eta for eta in ETAS if eta is not None]
    for eta in ETAS:
        is_here = ~pl.col("eta").is_in(said) if eta is None else pl.col("eta") == eta
        for name in ("precision", "recall", "average_precision"):
            if name == "recall" and eta is not None:
                continue
            found = areas if name == "average_precision" else points
            ends = ("low", "high") if name == "average_precision" else (f"{name}_low", f"{name}_high")
            shown = found.filter(is_here).select(low=ends[0], high=ends[1], doubt="doubt")
            yield name, eta, measure_coverage(shown, cell.find_truth(name, eta))


@experiment(SCORES, lambda cell: 500 if cell.n < 1_000_000 else 60)
def measure_labels(cell: Scores, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Intervals from 2,000 labels: by plan, with strata, and at random."""
    by_plan, at_random = [], []
    for number in range(n_sets):
        rows = draw_cohort(Cohort(cell.model, cell.n, cell.eta), 1, rng).drop("set")
        drawn = label_by_plan(rows, cell.threshold, rng)
        by_plan.append(drawn.with_columns(set=pl.lit(number)))
        picked = rows.sample(LABELS, seed=int(rng.integers(2**32)))
        at_random.append(picked.with_columns(set=pl.lit(number)))
    tables = {
        "by plan": pl.concat(by_plan).prc(by="set", weight="weight", stratum="stratum"),
        "at random": pl.concat(at_random).prc(by="set"),
    }
    for labels, table in tables.items():
        for name, eta, shares in hold_points(cell, table):
            where = {"labels": labels, "quantity": name, "eta": "own" if eta is None else f"{eta:g}"}
            yield cell.row | where | shares


# Differences of models -------------------------------------------------------------------------


PAIRS = [
    Scores(HARD_NORMAL, 0.02, 0.02),
    Scores(HARD_NORMAL, 0.005, 0.02),
    Scores(HARD, 0.01, 0.02),
    Scores(GUMBEL, 0.02, 0.02),
    Scores(CAUCHY, 0.02, 0.02),
    Scores(CALIBRATED, 0.05, 0.05, "new"),
    Scores(student(3), 0.01, 0.02, "new"),
    Scores(normal(2.5), 0.01, 0.02, "new"),
]


def draw_models(cell: Scores, rng: np.random.Generator) -> pl.DataFrame:
    """Return two equal models of rows that share half of what chance does to a score."""
    shared = rng.normal(size=cell.n)
    label = rng.random(cell.n) < cell.eta
    columns = {}
    for name in "ab":
        drawn = stats.norm.cdf((shared + rng.normal(size=cell.n)) / 2**0.5)
        columns[name] = -np.where(label, cell.model.fpr_at(drawn), drawn)
    return pl.DataFrame({**columns, "label": label})


@experiment(PAIRS, 1_000)
def measure_label_pairs(cell: Scores, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Differences of equal models, of which one chose which rows have a label."""
    parts = []
    for number in range(n_sets):
        rows = draw_models(cell, rng).rename({"a": "score"})
        parts.append(label_by_plan(rows, cell.threshold, rng).with_columns(set=pl.lit(number)))
    models = pl.concat(parts).rename({"score": "a"})
    table = models.prc(score=["a", "b"], by="set", weight="weight", stratum="stratum")
    at: dict[str, dict[str, Any]] = {
        "": {"metrics": "average_precision"},
        "the threshold": {"metrics": ["precision", "recall", "fpr"], "threshold": cell.threshold},
        "recall 0.5": {"metrics": "precision", "recall": 0.5},
    }
    said = [eta for eta in ETAS if eta is not None]
    for where, asked in at.items():
        found = table.compare(list(ETAS), confidence=CONFIDENCE, **asked)
        own = pl.when(~pl.col("eta").is_in(said)).then(pl.lit("own")).otherwise(pl.format("{}", "eta"))
        found = found.with_columns(eta=own)
        for (metric, eta), part in found.group_by("metric", "eta", maintain_order=True):
            if metric in ("recall", "fpr") and eta != "own":
                continue
            row = cell.row | {"at": where, "metric": metric, "eta": eta}
            yield row | measure_coverage(part, 0.0) | {"resolved": share_significant(part)}


# Other designs ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Thinned:
    """Rows of which some are kept, one in `k`: those below a score, or the negatives."""

    scores: Scores
    design: str
    k: int

    def draw(self, rng: np.random.Generator) -> pl.DataFrame:
        cell = self.scores
        rows = draw_cohort(Cohort(cell.model, cell.n, cell.eta), 1, rng).drop("set")
        thinned = ~pl.col("label") if self.design == "negatives" else pl.col("score") < cell.threshold
        rows = rows.sample(fraction=1, shuffle=True, seed=int(rng.integers(2**32)))
        rows = rows.with_columns(stratum=thinned.cast(pl.Int8), n=pl.len().over(thinned))
        kept = pl.when(pl.col("stratum") == 1).then(pl.col("n") // self.k).otherwise(pl.col("n"))
        rows = rows.with_columns(kept=kept).filter(
            pl.int_range(pl.len()).over("stratum") < pl.col("kept")
        )
        return rows.with_columns(weight=pl.col("n") / pl.col("kept")).drop("n", "kept")


THINNED = [
    Thinned(scores, design, k)
    for scores in (
        Scores(normal(2), 0.05, 0.05),
        Scores(HARD, 0.02, 0.02),
        Scores(CALIBRATED, 0.1, 0.05, "new"),
        Scores(FIVE, 0.05, 0.05, "new"),
    )
    for design, k in (("negatives", 20), ("below the threshold", 20), ("below the threshold", 5))
]


@experiment(THINNED, 500)
def measure_label_designs(cell: Thinned, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Intervals from rows of which some were thinned out, with `stratum=`."""
    drawn = (cell.draw(rng).with_columns(set=pl.lit(number)) for number in range(n_sets))
    table = pl.concat(drawn).prc(by="set", weight="weight", stratum="stratum")
    for name, eta, shares in hold_points(cell.scores, table):
        where = {"design": cell.design, "one_in": cell.k, "quantity": name}
        yield cell.scores.row | where | {"eta": "own" if eta is None else f"{eta:g}"} | shares
