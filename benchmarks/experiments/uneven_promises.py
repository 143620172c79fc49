"""How often promises are broken with clusters, with weights, and at the own prevalence of a cohort."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from scipy import special

from .designs import EFFECTS
from .experiment import CONFIDENCE, Row, experiment
from .populations import (
    CALIBRATED,
    CAUCHY,
    GUMBEL,
    HARD,
    ROUNDED,
    UNLIKE,
    Floats,
    Line,
    Model,
    TwoNoises,
    draw_placed,
    normal,
)
from .promises import Promise, flat_precision, measure_promise

# Clusters -------------------------------------------------------------------------------------

SHARED, SHIFT = 0.4, 2.6
"""The share of the variance of scores that is of patients, and how much higher positives score."""


@dataclass(frozen=True)
class PatientNoise:
    """What the effect of a patient and a normal noise add up to, with a variance of 1, and a shift."""

    effects: str
    shift: float = 0.0

    def sf(self, score: Any) -> Any:
        return np.exp(np.interp(score - self.shift, GRID, find_log_rates(self.effects)))

    def isf(self, rate: Any) -> Any:
        return self.shift + np.interp(-np.log(rate), -find_log_rates(self.effects), GRID)


GRID = np.linspace(-12, 30, 2_101)


@cache
def find_log_rates(effects: str, n: int = 20_000) -> Floats:
    """Return the logarithms of the shares of scores above GRID, without a shift."""
    effect = EFFECTS[effects]
    of_patient = SHARED**0.5 * effect.isf((np.arange(n) + 0.5) / n) / effect.std()
    above = [special.ndtr((of_patient - at) / (1 - SHARED) ** 0.5).mean() for at in GRID]
    return np.log(np.maximum(above, 1e-300))


def patients_like(effects: str) -> TwoNoises:
    """Return the population of patients whose positives score higher."""
    return TwoNoises(effects, PatientNoise(effects, SHIFT), PatientNoise(effects))


@dataclass(frozen=True)
class ClusteredPromise(Promise):
    """Patients of very different numbers of rows, 8 on average and up to 30, with a fifth positive."""

    patients: int = 300

    @property
    def row(self) -> Row:
        row = super().row
        of = {"scores": f"{self.model.name} effects", "patients": self.patients}
        return of | {name: row[name] for name in ("eta", "target")}

    def draw_rows(self, sets: int, rng: np.random.Generator) -> pl.DataFrame:
        """Return rows, whose score is minus the true fpr of a threshold there."""
        n, effect = self.patients * sets, EFFECTS[self.model.name]
        patient = np.repeat(np.arange(n), np.minimum(rng.geometric(1 / 8, n), 30))
        of_patient = effect.rvs(size=n, random_state=rng) / effect.std()
        label = rng.random(len(patient)) < 0.2
        noise = SHARED**0.5 * of_patient[patient] + (1 - SHARED) ** 0.5 * rng.normal(size=len(patient))
        score = -PatientNoise(self.model.name).sf(noise + SHIFT * label)
        columns = {"set": patient // self.patients, "patient": patient, "label": label, "score": score}
        return pl.DataFrame(columns)

    def find_thresholds(self, sets: int, rng: np.random.Generator) -> dict[str, pl.Series]:
        rows = self.draw_rows(sets, rng)

        def ask(**more: Any) -> pl.Series:
            return rows.prc.operating_points(self.eta, **self.targets, by="set", **more)["threshold"]

        return {
            "point": ask(),
            "independent": ask(guarantee=CONFIDENCE),
            "kept": ask(guarantee=CONFIDENCE, cluster="patient"),
        }


@dataclass(frozen=True)
class HealthyPromise(ClusteredPromise):
    """Ill patients of one row, and healthy ones of many, which share four fifths of their variance."""

    rows: int = 10

    @property
    def row(self) -> Row:
        row = super().row
        return row | {"scores": f"{self.model.name}; ill 1 row, healthy {self.rows}"}

    def draw_rows(self, sets: int, rng: np.random.Generator) -> pl.DataFrame:
        healthy = self.patients - self.n_pos
        ill = draw_placed(self, sets, rng).filter(n_pos=1).select("set", "score", label=True)
        n = healthy * sets
        patient = np.repeat(np.arange(n), self.rows)
        noise = 0.8**0.5 * rng.normal(size=n)[patient] + 0.2**0.5 * rng.normal(size=len(patient))
        others = pl.DataFrame(
            {"set": patient // healthy, "score": special.ndtr(-noise) * -1.0, "patient": patient}
        )
        ill = ill.with_columns(patient=n + pl.int_range(pl.len()))
        return pl.concat([ill, others.with_columns(label=False)], how="diagonal").sort("set")


PLACES = ((300, 0.1, 0.5), (300, 0.3, 0.8), (800, 0.1, 0.5))
IN_CLUSTERS = [
    *(
        ClusteredPromise(patients_like(effects), 480, 1920, eta, {"precision": target}, None, patients)
        for effects, (patients, eta, target) in product(
            ("normal", "Gumbel", "exponential", "t3", "lognormal"), PLACES
        )
    ),
    *(
        ClusteredPromise(patients_like(effects), 480, 1920, 0.1, target, None, 300)
        for effects, target in product(
            ("normal", "exponential", "t3"),
            ({"npv": 0.98}, {"recall": 0.8}, {"fpr": 0.02}, {"lift": 6.0}),
        )
    ),
    *(
        HealthyPromise(model, 200, 1, 0.1, {"precision": 0.5}, None, patients, rows)
        for model, (patients, rows) in product(
            (flat_precision(0.1, 0.5), normal(2.5)), ((700, 10), (500, 30), (2_200, 3))
        )
    ),
]


@experiment(IN_CLUSTERS, 500)
def measure_clustered_promises(
    cell: ClusteredPromise, n_sets: int, rng: np.random.Generator
) -> Iterator[Row]:
    """Promises with `cluster=`, beside those that take all rows as independent."""
    yield cell.row | measure_promise(cell, n_sets, rng)


# Weights --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WeightedPromise(Promise):
    """Rows that are sampled, and weigh the inverse of their probability."""

    k: int = 20
    cut: float | None = None
    """The fpr below which one row in k is sampled; None if that does not depend on the score."""
    of: str = "rows"
    """Which are sampled: rows, or negatives alone."""
    own: bool = False
    """Whether `eta` is the own prevalence, which is estimated from the weights."""

    @property
    def row(self) -> Row:
        sampled = f"1 in {self.k} {self.of}" + ("" if self.cut is None else f" below {self.cut:g}")
        return super().row | {"sampled": sampled, "own": self.own}

    @property
    def top(self) -> None:
        return None

    def draw_sampled(self, sets: int, rng: np.random.Generator) -> pl.DataFrame:
        """Return weighted counts, and the sums of their squares."""
        rows = draw_placed(self, sets, rng)
        at = -pl.col("score")
        if self.model.levels is not None:
            at = pl.lit(pl.Series(np.cumsum(self.model.levels[1]))).gather(at.cast(pl.Int64))
        weight = pl.lit(self.k) if self.cut is None else pl.when(at > self.cut).then(self.k).otherwise(1)
        rows = rows.with_columns(weight.cast(pl.Float64).alias("w"))
        columns = []
        for name in ("n_pos", "n_neg"):
            w = rows["w"].to_numpy() if self.of == "rows" or name == "n_neg" else np.ones(rows.height)
            kept = rng.binomial(rows[name].to_numpy(), 1 / w)
            columns += [pl.Series(name, kept * w), pl.Series(f"{name}_squares", kept * w * w)]
        return rows.with_columns(columns).filter((pl.col("n_pos") > 0) | (pl.col("n_neg") > 0))

    def find_thresholds(self, sets: int, rng: np.random.Generator) -> dict[str, pl.Series]:
        drawn = self.draw_sampled(sets, rng)
        counts = ("n_pos", "n_neg", "n_pos_squares", "n_neg_squares")

        def ask(**more: Any) -> pl.Series:
            eta = None if self.own else self.eta
            found = drawn.prc.operating_points(eta, **self.targets, by="set", counts=counts, **more)
            return found["threshold"]

        return {"point": ask(), "kept": ask(guarantee=CONFIDENCE)}


WEIGHTED: list[tuple[Model, int, int, float, dict[str, float], int, float | None, str]] = [
    (HARD, 300, 10_000, 0.01, {"precision": 0.5}, 20, 0.02, "rows"),
    (HARD, 300, 10_000, 0.1, {"precision": 0.7}, 20, 0.001, "rows"),
    (normal(3), 300, 10_000, 0.01, {"precision": 0.5}, 20, 0.02, "rows"),
    (HARD, 300, 10_000, 0.1, {"precision": 0.7}, 5, 0.001, "rows"),
    (normal(3), 100, 10_000, 0.01, {"precision": 0.5}, 50, 0.02, "rows"),
    (normal(2.5), 200, 20_000, 0.01, {"precision": 0.4}, 20, 0.01, "rows"),
    (CALIBRATED, 500, 5_000, 0.1, {"precision": 0.5}, 10, 0.1, "rows"),
    (CALIBRATED, 500, 5_000, 0.3, {"precision": 0.6}, 4, 0.03, "rows"),
    (GUMBEL, 300, 10_000, 0.1, {"precision": 0.5}, 20, 0.02, "rows"),
    (GUMBEL, 300, 10_000, 0.1, {"precision": 0.5}, 4, 0.01, "rows"),
    (CAUCHY, 300, 10_000, 0.1, {"precision": 0.5}, 10, 0.02, "rows"),
    (CAUCHY, 1_000, 10_000, 0.1, {"precision": 0.4}, 4, 0.02, "rows"),
    (ROUNDED, 300, 10_000, 0.1, {"precision": 0.6}, 10, 0.01, "rows"),
    (flat_precision(0.1, 0.5), 500, 5_000, 0.1, {"precision": 0.5}, 5, 0.01, "rows"),
    (flat_precision(0.1, 0.5), 500, 5_000, 0.1, {"precision": 0.5}, 10, None, "negatives"),
    (HARD, 300, 20_000, 0.1, {"precision": 0.7}, 20, None, "negatives"),
    (CALIBRATED, 300, 20_000, 0.1, {"precision": 0.5}, 20, None, "negatives"),
    (GUMBEL, 300, 20_000, 0.1, {"precision": 0.5}, 10, None, "negatives"),
    (HARD, 300, 10_000, 0.1, {"recall": 0.7}, 20, 0.02, "rows"),
    (normal(2), 500, 5_000, 0.1, {"recall": 0.8}, 10, 0.1, "rows"),
    (HARD, 300, 10_000, 0.1, {"fpr": 0.02}, 20, 0.01, "rows"),
    (normal(2), 500, 5_000, 0.1, {"fpr": 0.05}, 10, 0.02, "rows"),
    (normal(2), 500, 5_000, 0.1, {"fpr": 0.05}, 20, None, "negatives"),
    (normal(2), 1_000, 5_000, 0.2, {"npv": 0.95}, 5, 0.1, "rows"),
    (HARD, 1_000, 5_000, 0.2, {"npv": 0.94}, 5, 0.02, "rows"),
    (normal(2), 500, 5_000, 0.1, {"npv": 0.97}, 10, None, "negatives"),
]


def count_sets(cell: Promise) -> int:
    """Return more test sets for the hardest curve."""
    return 2_000 if isinstance(cell.model, Line) else 500


OF_OWN = [
    WeightedPromise(normal(3), 300, 9_700, 0.03, {"precision": 0.6}, None, 20, 0.02, own=True),
    WeightedPromise(normal(3), 300, 9_700, 0.03, {"precision": 0.6}, None, 10, None, "negatives", True),
    WeightedPromise(HARD, 500, 4_500, 0.1, {"precision": 0.6}, None, 5, 0.01, own=True),
    WeightedPromise(CALIBRATED, 1_000, 4_000, 0.2, {"precision": 0.5}, None, 4, 0.05, own=True),
    WeightedPromise(ROUNDED, 500, 9_500, 0.05, {"precision": 0.5}, None, 10, 0.01, own=True),
    WeightedPromise(
        flat_precision(0.1, 0.5), 500, 4_500, 0.1, {"precision": 0.5}, None, 5, 0.01, own=True
    ),
]


@experiment([*(WeightedPromise(*of[:5], None, *of[5:]) for of in WEIGHTED), *OF_OWN], count_sets)
def measure_weighted_promises(
    cell: WeightedPromise, n_sets: int, rng: np.random.Generator
) -> Iterator[Row]:
    """Promises with `weight=`, of rows that were sampled by score or by label."""
    found = measure_promise(cell, n_sets, rng)
    yield cell.row | {"best_recall": cell.best_recall if "precision" in cell.targets else None} | found


# Cohorts --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CohortPromise(Promise):
    """Rows of both classes that were drawn together, so that the prevalence is counted."""

    n: int = 1_000

    @property
    def row(self) -> Row:
        row = super().row
        return {name: row[name] for name in ("model", "eta", "target")} | {"rows": self.n}

    @property
    def top(self) -> None:
        return None

    def find_thresholds(self, sets: int, rng: np.random.Generator) -> dict[str, pl.Series]:
        label = rng.random(self.n * sets) < self.eta
        if self.model.levels is None:
            u = rng.random(len(label))
            score = -np.where(label, self.model.fpr_at(np.where(label, u, 0.5)), u)
        else:
            score = -np.where(label, *(draw_level(of, len(label), rng) for of in self.model.levels))
        number = np.repeat(np.arange(sets), self.n)
        rows = pl.DataFrame({"set": number, "score": score, "label": label})

        def ask(**more: Any) -> pl.Series:
            return rows.prc.operating_points(**self.targets, by="set", **more)["threshold"]

        return {"point": ask(), "kept": ask(guarantee=CONFIDENCE)}


def draw_level(shares: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Return the numbers of n levels, which have these shares, as floats."""
    return np.searchsorted(np.cumsum(shares), rng.random(n)).clip(0, len(shares) - 1) * 1.0


def draw_cohorts(model: Model, n: int, eta: float, targets: dict[str, float]) -> CohortPromise:
    """Return cohorts of n rows, with the numbers of both classes that are expected."""
    n_pos = round(n * eta)
    return CohortPromise(model, n_pos, n - n_pos, eta, targets, None, n)


COHORT_PLACES = ((1_000, 0.05, 0.3), (4_000, 0.25, 0.7))
COHORTS = [
    *(
        draw_cohorts(model, n, eta, {"precision": target})
        for model, (n, eta, target) in product(UNLIKE, COHORT_PLACES)
    ),
    draw_cohorts(flat_precision(0.1, 0.5), 1_000, 0.1, {"precision": 0.5}),
    draw_cohorts(flat_precision(0.1, 0.5), 4_000, 0.1, {"fdr": 0.5}),
    draw_cohorts(normal(2), 1_000, 0.2, {"npv": 0.95}),
    draw_cohorts(HARD, 4_000, 0.1, {"npv": 0.97}),
]


@experiment(COHORTS, lambda cell: 2 * count_sets(cell))
def measure_cohort_promises(cell: CohortPromise, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Promises at the own prevalence of a cohort, which is counted in each test set."""
    found = measure_promise(cell, n_sets, rng)
    yield cell.row | {"best_recall": cell.best_recall if "precision" in cell.targets else None} | found
