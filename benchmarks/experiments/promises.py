"""How often thresholds of `guarantee=` break their promise, beside the 5% that they may."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from polars_prcurve import eta_from_sample, metrics

from .experiment import CONFIDENCE, ROUNDING, Row, experiment, split_sets
from .populations import BETA, FIVE, MIXTURE, Cell, Line, Model, draw_placed, normal, student, true_rates

SAMPLE_CONFIDENCE = 0.98
"""The level of the interval of eta, which leaves 0.04 of 0.05 to the tests."""
UPWARDS = ("fpr", "fdr")
"""Targets that ask for a value of at most so much."""


def find_misses(criterion: str, target: float, eta: float, rates: tuple[Any, Any]) -> NDArray[np.bool_]:
    """Return whether each threshold misses the target in truth; `alerts` are among 1."""
    if criterion == "alerts":
        return metrics.predicted_positive_rate(*rates, eta) > target * (1 + ROUNDING)
    value = getattr(metrics, criterion)(*rates, eta)
    return value > target * (1 + ROUNDING) if criterion in UPWARDS else value < target * (1 - ROUNDING)


@dataclass(frozen=True)
class Promise(Cell):
    """Test sets in which targets are promised, all of them at one threshold if there are several."""

    eta: float
    targets: Mapping[str, float]
    sampled: int | None = None
    """The number of field events that eta is estimated from; None if it is known."""

    @property
    def row(self) -> Row:
        said = " & ".join(f"{name} {value:g}" for name, value in self.targets.items())
        sampled = {} if self.sampled is None else {"events": self.sampled}
        return super().row | {"eta": self.eta} | {"target": said} | sampled

    @property
    def top(self) -> int | None:
        """How many of the highest negatives matter, where a precision is promised."""
        if list(self.targets) != ["precision"]:
            return None
        return round(2 * (self.n_pos + self.n_neg * self.ratio)) + 100

    @property
    def ratio(self) -> float:
        """The fpr per recall at which a precision is just met."""
        return self.eta * (1 - self.targets["precision"]) / ((1 - self.eta) * self.targets["precision"])

    @property
    def best_recall(self) -> float:
        """The greatest recall of a threshold whose precision keeps the promise; 0 if there is none."""
        if self.model.levels is not None:
            recall, fpr = (np.cumsum(shares) for shares in self.model.levels)
        else:
            fpr = np.concatenate([np.geomspace(1e-9, 1, 200_001), np.linspace(1e-5, 1, 100_001)])
            recall = np.asarray(self.model.recall_at(fpr))
        return float(np.max(recall, where=fpr <= self.ratio * recall * (1 + ROUNDING), initial=0))

    def count_broken(self, thresholds: pl.Series) -> float:
        """Return the share of test sets whose threshold misses a target in truth."""
        rates = true_rates(self.model, thresholds)
        missed = [find_misses(name, value, self.eta, rates) for name, value in self.targets.items()]
        return float(np.any(missed, axis=0).sum() / len(thresholds))

    def ask(self, sets: pl.DataFrame, eta: Any, **more: Any) -> pl.Series:
        given: dict[str, Any] = {"per": 1} if "alerts" in self.targets else {}
        given |= {"together": True} if len(self.targets) > 1 else {}
        return sets.prc.operating_points(
            eta, **self.targets, **given, **more, by="set", counts=("n_pos", "n_neg")
        )["threshold"]

    def find_thresholds(self, sets: int, rng: np.random.Generator) -> dict[str, pl.Series]:
        """Return thresholds of some test sets: without guarantee, and with it."""
        drawn = draw_placed(self, sets, rng, self.top)
        if self.sampled is None:
            sure = self.ask(drawn, self.eta, guarantee=CONFIDENCE)
            found = {"point": self.ask(drawn, self.eta), "kept": sure}
            return found | ({"lowest": self.find_lowest_passing(drawn)} if self.top else {})
        sample = eta_from_sample(
            rng.binomial(self.sampled, self.eta, sets), self.sampled, confidence=SAMPLE_CONFIDENCE
        ).with_columns(set=pl.int_range(pl.len()))
        exact = sample.drop("eta_low", "eta_high", "eta_confidence")
        found = {"point": self.ask(drawn, exact), "fixed": self.ask(drawn, exact, guarantee=CONFIDENCE)}
        return found | {"kept": self.ask(drawn, sample, guarantee=CONFIDENCE)}

    def find_lowest_passing(self, sets: pl.DataFrame) -> pl.Series:
        """Return the lowest thresholds whose test passes, wherever they are."""
        found = sets.prc.sweep(by="set", counts=("n_pos", "n_neg"))
        tp, fp = found["tp"].to_numpy(), found["fp"].to_numpy()
        odds = self.n_neg * self.ratio / self.n_pos
        passes = (tp > 0) & (stats.binom.cdf(fp, tp + fp, odds / (1 + odds)) <= 1 - CONFIDENCE)
        chosen = found.filter(passes).group_by("set").agg(pl.col("threshold").min())
        return sets.select("set").unique().join(chosen, on="set", how="left")["threshold"]


def measure_promise(cell: Promise, n_sets: int, rng: np.random.Generator) -> Row:
    """Return how often promises are broken, how often a threshold is found, and its mean recall."""
    rows = cell.n_pos + min(cell.n_neg, cell.top or cell.n_neg)
    parts = [cell.find_thresholds(sets, rng) for sets in split_sets(n_sets, rows)]
    found = {name: pl.concat(part[name] for part in parts) for name in parts[0]}
    broken = {f"broken_by_{name}": cell.count_broken(one) for name, one in found.items()}
    sure = found["kept"]
    recall, _ = true_rates(cell.model, sure)
    row = {"broken": broken.pop("broken_by_kept")} | broken
    row |= {"found": 1 - sure.null_count() / n_sets}
    return row | {"recall": float(recall.mean()) if len(recall) else None}


# Precision at a known prevalence --------------------------------------------------------------

NORMAL_2, NORMAL_3 = normal(2), normal(3)


def flat_precision(eta: float, precision: float, by: float = 1.001, say: str = "just below") -> Line:
    """Return a curve on which precision is the same everywhere, just below the target or above it."""
    return Line(f"line, precision {say}", by * eta * (1 - precision) / ((1 - eta) * precision))


PRECISIONS: list[tuple[Model, int, int, float, float]] = [
    (NORMAL_2, 20, 500, 0.1, 0.5),
    (NORMAL_2, 100, 1_000, 0.1, 0.8),
    (NORMAL_2, 100, 5_000, 0.01, 0.8),
    (normal(2.5), 50, 2_000, 0.1, 0.5),
    (normal(2.5), 100, 1_000, 0.1, 0.8),
    (NORMAL_3, 50, 50_000, 0.001, 0.2),
    (NORMAL_3, 200, 10_000, 0.01, 0.5),
    (NORMAL_3, 1_000, 10_000, 0.01, 0.9),
    (normal(3.5), 20, 1_000, 0.1, 0.8),
    (normal(3.5), 500, 5_000, 0.01, 0.8),
    (normal(3.5), 1_000, 20_000, 0.001, 0.5),
    (normal(4), 100, 100_000, 0.0002, 0.2),
    (normal(4), 1_000, 100_000, 0.001, 0.8),
    (normal(4.5), 500, 100_000, 0.0002, 0.5),
    (normal(5), 200, 50_000, 0.0002, 0.2),
    (BETA, 200, 2_000, 0.1, 0.5),
    (BETA, 200, 20_000, 0.5, 0.8),
    (BETA, 1_000, 5_000, 0.1, 0.8),
    (BETA, 1_000, 20_000, 0.1, 0.6),
    (student(3), 200, 2_000, 0.5, 0.95),
    (student(3), 1_000, 50_000, 0.1, 0.5),
    (student(3), 200, 2_000, 0.1, 0.95),
    (student(4), 500, 20_000, 0.1, 0.8),
    (student(4), 200, 5_000, 0.1, 0.4),
    (MIXTURE, 200, 2_000, 0.1, 0.6),
    (MIXTURE, 1_000, 20_000, 0.1, 0.7),
    (MIXTURE, 200, 2_000, 0.5, 0.99),
    (FIVE, 200, 2_000, 0.1, 0.5),
    (FIVE, 50, 1_000, 0.5, 0.95),
    (FIVE, 100, 1_000, 0.1, 0.8),
    (flat_precision(0.1, 0.5), 200, 2_000, 0.1, 0.5),
    (flat_precision(0.01, 0.8), 500, 10_000, 0.01, 0.8),
    (flat_precision(0.5, 0.8), 100, 5_000, 0.5, 0.8),
    (flat_precision(0.1, 0.8, 0.5, "above"), 200, 2_000, 0.1, 0.8),
]


@experiment([Promise(*where, {"precision": target}) for *where, target in PRECISIONS], 1_000)
def measure_guarantee(cell: Promise, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Promises of precision; `lowest` is the lowest threshold that passes, without a run."""
    found = measure_promise(cell, n_sets, rng)
    best, recall = cell.best_recall, found.pop("recall")
    enough = best > 0 and found["found"] > 0.01
    yield cell.row | {"best_recall": best} | found | {"recall_share": recall / best if enough else None}


# Other targets --------------------------------------------------------------------------------


def flat_npv(eta: float, npv: float) -> Line:
    """Return a curve on whose lower part npv is the same everywhere, just below the target."""
    # There fnr / tnr is the ratio at which the target is just met, so the line ends in (1, 1).
    ratio = 1.002 * (1 - eta) * (1 - npv) / (eta * npv)
    corner = 0.1
    most = 1 - ratio * (1 - corner)
    return Line("line, npv just below", corner / most, most)


LINE = flat_precision(0.1, 0.5)
TARGETS = [
    Promise(NORMAL_2, 100, 1_000, 0.1, {"npv": 0.97}),
    Promise(NORMAL_3, 500, 5_000, 0.01, {"npv": 0.999}),
    Promise(BETA, 200, 2_000, 0.3, {"npv": 0.9}),
    Promise(MIXTURE, 1_000, 2_000, 0.1, {"npv": 0.95}),
    Promise(FIVE, 200, 1_000, 0.1, {"npv": 0.95}),
    Promise(student(2), 300, 300, 0.5, {"npv": 0.9}),
    Promise(flat_npv(0.2, 0.9), 500, 2_000, 0.2, {"npv": 0.9}),
    Promise(NORMAL_2, 100, 1_000, 0.1, {"fdr": 0.3}),
    Promise(BETA, 200, 2_000, 0.1, {"fdr": 0.5}),
    Promise(MIXTURE, 200, 2_000, 0.1, {"fdr": 0.4}),
    Promise(LINE, 200, 2_000, 0.1, {"fdr": 0.5}),
    Promise(NORMAL_3, 200, 5_000, 0.01, {"lift": 30}),
    Promise(NORMAL_2, 100, 1_000, 0.1, {"lift": 5}),
    Promise(FIVE, 200, 2_000, 0.1, {"lift": 4}),
    Promise(LINE, 200, 2_000, 0.1, {"lift": 5}),
    Promise(NORMAL_2, 100, 1_000, 0.1, {"recall": 0.8}),
    Promise(FIVE, 50, 500, 0.1, {"recall": 0.5}),
    Promise(NORMAL_2, 100, 1_000, 0.1, {"fpr": 0.02}),
    Promise(NORMAL_2, 20, 500, 0.1, {"alerts": 0.1}),
    Promise(NORMAL_3, 200, 5_000, 0.01, {"alerts": 0.01}),
    Promise(BETA, 200, 2_000, 0.3, {"alerts": 0.25}),
    Promise(MIXTURE, 50, 2_000, 0.5, {"alerts": 0.3}),
    Promise(FIVE, 100, 1_000, 0.1, {"alerts": 0.08}),
    Promise(student(2), 50, 500, 0.02, {"alerts": 0.03}),
]


@experiment(TARGETS, 1_000)
def measure_targets(cell: Promise, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Promises of npv, fdr, lift, recall, fpr and alerts."""
    yield cell.row | measure_promise(cell, n_sets, rng)


UNCERTAIN = [
    Promise(NORMAL_2, 100, 1_000, 0.1, {"precision": 0.6}, 500),
    Promise(NORMAL_3, 200, 10_000, 0.01, {"precision": 0.4}, 2_000),
    Promise(NORMAL_3, 200, 10_000, 0.01, {"precision": 0.2}, 500),
    Promise(normal(3.5), 500, 5_000, 0.05, {"precision": 0.8}, 200),
    Promise(BETA, 1_000, 10_000, 0.3, {"precision": 0.7}, 100),
    Promise(FIVE, 200, 2_000, 0.1, {"precision": 0.5}, 500),
    Promise(LINE, 1_000, 5_000, 0.1, {"precision": 0.5}, 20_000),
    Promise(MIXTURE, 1_000, 5_000, 0.1, {"fdr": 0.4}, 1_000),
    Promise(BETA, 500, 2_000, 0.3, {"npv": 0.9}, 300),
    Promise(NORMAL_2, 500, 5_000, 0.05, {"npv": 0.98}, 500),
    Promise(NORMAL_3, 500, 5_000, 0.01, {"lift": 25}, 2_000),
    Promise(NORMAL_2, 500, 5_000, 0.1, {"alerts": 0.1}, 500),
    Promise(NORMAL_3, 1_000, 10_000, 0.01, {"alerts": 0.012}, 5_000),
    Promise(BETA, 500, 500, 0.5, {"alerts": 0.4}, 100),
]


@experiment(UNCERTAIN, 300)
def measure_uncertain_targets(cell: Promise, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Promises at a prevalence that is a sample of the field, drawn anew for each test set."""
    yield cell.row | measure_promise(cell, n_sets, rng)


TOGETHER = [
    Promise(NORMAL_3, 200, 10_000, 0.01, {"precision": 0.5, "alerts": 0.01}),
    Promise(NORMAL_2, 100, 1_000, 0.1, {"precision": 0.6, "alerts": 0.06}),
    Promise(normal(3.5), 500, 5_000, 0.05, {"precision": 0.7, "recall": 0.75}),
    Promise(BETA, 1_000, 5_000, 0.3, {"precision": 0.6, "npv": 0.88}),
    Promise(MIXTURE, 200, 2_000, 0.1, {"recall": 0.4, "fpr": 0.05}),
    Promise(FIVE, 200, 2_000, 0.1, {"precision": 0.5, "recall": 0.5, "alerts": 0.12}),
    Promise(LINE, 200, 2_000, 0.1, {"precision": 0.5, "alerts": 0.2}),
]


@experiment(TOGETHER, 1_000)
def measure_together(cell: Promise, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Several targets at one threshold, of which any may be missed."""
    yield cell.row | measure_promise(cell, n_sets, rng)
