"""Point metrics of two models or groups at one threshold, and at the best one of a sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from polars_prcurve import metrics
from polars_prcurve.metrics.names import find_point_metrics

from .experiment import CONFIDENCE, Row, experiment, measure_coverage, split_sets
from .populations import MODEL_NAMED, Cell, draw_flagged, draw_placed, true_rates

Size = tuple[int, int]
Rates = tuple[float, float]

# Groups that have examples of their own -------------------------------------------------------

GROUP_SIZES: tuple[tuple[Size, Size], ...] = (
    ((20, 200), (20, 200)),
    ((20, 200), (200, 2_000)),
    ((50, 5_000), (500, 50_000)),
    ((100, 1_000), (100, 1_000)),
    ((200, 20_000), (200, 20_000)),
    ((1_000, 1_000), (50, 50)),
)
GROUP_RATES: tuple[tuple[Rates, Rates], ...] = (
    ((0.5, 0.01), (0.5, 0.01)),
    ((0.8, 0.1), (0.8, 0.1)),
    ((0.95, 0.2), (0.95, 0.2)),
    ((0.5, 0.001), (0.7, 0.002)),
    ((0.9, 0.05), (0.8, 0.02)),
    ((0.2, 0.1), (0.9, 0.01)),
)
GROUP_ETAS = (0.5, 0.05, 0.001)
GROUP_METRICS = ("precision", "recall", "fpr", "npv", "f1", "mcc", "net_benefit(0.2)")


@experiment([*product(GROUP_SIZES, GROUP_RATES)], 4_000)
def measure_differences(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Differences of point metrics between groups by `compare(paired=False)`, at a fixed threshold."""
    sizes, rates = cell
    sets = pl.concat(
        draw_flagged(size, rate, n_sets, rng).with_columns(group=pl.lit(group))
        for group, size, rate in zip((0, 1), sizes, rates, strict=True)
    )
    found = sets.prc.compare(
        model="group", paired=False, by="set", eta=GROUP_ETAS, threshold=1, metrics=GROUP_METRICS,
        confidence=CONFIDENCE, counts=("n_pos", "n_neg"),
    )  # fmt: skip
    expected = [
        n * share
        for size, rate in zip(sizes, rates, strict=True)
        for n, hit in zip(size, rate, strict=True)
        for share in (hit, 1 - hit)
    ]
    said = (f"{p}/{n} {recall}/{fpr}" for (p, n), (recall, fpr) in zip(sizes, rates, strict=True))
    where = {"groups": " and ".join(said), "emptiest": round(min(expected), 3)}
    # Recall and fpr do not depend on the prevalence.
    asked = [
        (name, eta)
        for name, eta in product(GROUP_METRICS, GROUP_ETAS)
        if eta == GROUP_ETAS[0] or name not in ("recall", "fpr")
    ]
    for name, eta in asked:
        a, b = (float(find_point_metrics(name)[0](*rate, eta)) for rate in rates)
        of = found.filter(metric=name, eta=eta)
        shares = measure_coverage(of, a - b)
        del shares["width"], shares["no_interval"]
        wrong = of["resolved"].mean() if a == b else None
        marked_wrong = of.filter("reliable")["resolved"].mean() if a == b else None
        more = {"wrongly_resolved": wrong, "wrongly_resolved_of_marked": marked_wrong}
        yield where | {"metric": name, "eta": eta} | shares | more


# Two models of one test set -------------------------------------------------------------------


@dataclass(frozen=True)
class Flagged:
    """Two models at a threshold of each: d' = 2 and 1.6, or twice 2."""

    n_pos: int
    n_neg: int
    fpr: float
    """Of the first model; the second has a fifth more, unless both are equal."""
    shared: float
    """The part of the variance of scores that the models share."""
    equal: bool = False

    @property
    def cut(self) -> float:
        return NormalDist().inv_cdf(1 - self.fpr)

    @property
    def shifts(self) -> tuple[float, float]:
        """By how much scores of positives and of negatives in the second model are moved.

        They are moved so that one threshold serves both models.
        """
        if self.equal:
            return 2.0, 0.0
        moved = self.cut - NormalDist().inv_cdf(1 - 1.2 * self.fpr)
        return 1.6 + moved, moved

    @property
    def rates(self) -> tuple[Rates, Rates]:
        """Recall and fpr of both models at their threshold."""
        return self.find_rates(self.cut, 2.0, 0.0), self.find_rates(self.cut, *self.shifts)

    @staticmethod
    def find_rates(cut: float, of_positives: float, of_negatives: float) -> Rates:
        recall, fpr = (1 - NormalDist().cdf(cut - shift) for shift in (of_positives, of_negatives))
        return recall, fpr

    def find_rates_at_share(self, share: float, eta: float) -> tuple[Rates, Rates]:
        """Return recall and fpr of both models where they flag this share, at prevalence eta."""
        found = []
        for shifts in ((2.0, 0.0), self.shifts):
            low, high = -10.0, 10.0
            for _ in range(60):
                cut = (low + high) / 2
                recall, fpr = self.find_rates(cut, *shifts)
                low, high = (cut, high) if eta * recall + (1 - eta) * fpr > share else (low, cut)
            found.append(self.find_rates(low, *shifts))
        return found[0], found[1]

    @staticmethod
    def find_values(cuts: Any, shifts: tuple[float, float], eta: float) -> pl.Series:
        """Return each of BUDGET_METRICS in turn, of a model at each threshold; none flags nothing."""
        at = np.where(np.isnan(cuts), np.inf, cuts)
        rates = [stats.norm.sf(at, loc=shift) for shift in shifts]
        values = np.array([metric(*rates, np.full(at.shape, eta)) for metric in BUDGET_METRICS])
        return pl.Series(values.T.ravel())

    def draw_sets(self, sets: int, rng: np.random.Generator) -> pl.DataFrame:
        n = self.n_pos + self.n_neg
        label = np.arange(n * sets) % n < self.n_pos
        common = self.shared**0.5 * rng.normal(size=n * sets)
        a, b = (common + (1 - self.shared) ** 0.5 * rng.normal(size=n * sets) for _ in "ab")
        columns = {"set": np.arange(n * sets) // n, "label": label}
        return pl.DataFrame(columns | {"a": a + 2 * label, "b": b + np.where(label, *self.shifts)})

    def compare(
        self, n_sets: int, rng: np.random.Generator, etas: Sequence[float], **asked: Any
    ) -> pl.DataFrame:
        """Return the differences of both models in that many test sets."""
        return pl.concat(
            self.draw_sets(sets, rng)
            .prc.compare(["a", "b"], etas, by="set", confidence=CONFIDENCE, **asked)
            .select("eta", "metric", "low", "high", "reliable", "resolved")
            for sets in split_sets(n_sets, 2 * len(etas) * (self.n_pos + self.n_neg))
        )


FLAGGED = [
    Flagged(*size, fpr, shared, equal)
    for size, fpr, shared, equal in product(
        ((20, 200), (50, 500), (200, 2_000), (100, 10_000)),
        (0.002, 0.02, 0.2),
        (0.5, 0.9),
        (False, True),
    )
]
PAIRED_ETAS = (0.1, 0.001)
BENEFIT = metrics.net_benefit(0.1)
PAIRED_METRICS = (BENEFIT, *find_point_metrics(["recall", "fpr", "precision", "npv", "f1", "mcc"]))


def measure_pairs(found: pl.DataFrame, cell: Flagged, rates: tuple[Rates, Rates]) -> Iterator[Row]:
    """Yield a row per metric and prevalence: how often intervals of differences held the truth."""
    for metric, eta in product(PAIRED_METRICS, PAIRED_ETAS):
        of = found.filter(metric=metric.name, eta=eta)
        if of.is_empty():
            continue
        a, b = (float(metric(*rate, eta)) for rate in rates)
        wrong = of["resolved"].mean() if cell.equal else None
        where = vars(cell) | {"metric": metric.name, "eta": eta}
        yield where | measure_coverage(of, a - b) | {"wrongly_resolved": wrong}


@experiment(FLAGGED)
def measure_paired_points(cell: Flagged, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Differences of two models at one threshold, by `compare` of one test set."""
    eta, rare = PAIRED_ETAS
    at_one, at_both = PAIRED_METRICS[:3], PAIRED_METRICS[3:]
    found = cell.compare(n_sets, rng, [eta], metrics=at_one, threshold=cell.cut)
    yield from measure_pairs(found, cell, cell.rates)
    found = cell.compare(n_sets, rng, [eta, rare], metrics=at_both, threshold=cell.cut)
    yield from measure_pairs(found, cell, cell.rates)


BUDGET_METRICS = (PAIRED_METRICS[0], PAIRED_METRICS[1], PAIRED_METRICS[3])


@experiment([cell for cell in FLAGGED if cell.fpr > 0.01], 1_000)
def measure_paired_budgets(cell: Flagged, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Differences of two models that flag the same share, at thresholds found in the test set.

    What is held is the difference of models that flag this share, or of both at the thresholds found.
    """
    eta = PAIRED_ETAS[0]
    recall, fpr = cell.rates[0]
    share = eta * recall + (1 - eta) * fpr
    asked: dict[str, Any] = {"metrics": BUDGET_METRICS, "predicted_positive_rate": share}
    parts = []
    for sets in split_sets(n_sets, 2 * (cell.n_pos + cell.n_neg)):
        drawn = cell.draw_sets(sets, rng)
        found = drawn.prc.compare(["a", "b"], eta, by="set", confidence=CONFIDENCE, **asked)
        for name, shifts in (("a", (2.0, 0.0)), ("b", cell.shifts)):
            points = drawn.prc.operating_points(eta, score=name, by="set", predicted_positive_rate=share)
            at_found = cell.find_values(points["threshold"].to_numpy(), shifts, eta)
            found = found.with_columns(at_found.alias(f"at_found_{name}"))
        parts.append(found)
    found = pl.concat(parts)
    moved = pl.col("at_found_b") - pl.col("at_found_a")
    moved_to_0 = found.with_columns(pl.col("low", "high") + moved)
    both = cell.find_rates_at_share(share, eta)
    for row, metric in zip(measure_pairs(found, cell, both), BUDGET_METRICS, strict=True):
        of_found = measure_coverage(moved_to_0.filter(metric=metric.name), 0.0)
        yield row | {"coverage_at_found": of_found["coverage"]}


# The best threshold ---------------------------------------------------------------------------

MAXIMA = [
    ("beta", 20, 200, 0.1),
    ("mixture", 50, 2_000, 0.1),
    ("beta", 50, 500, 0.5),
    ("t3, shift 2", 50, 2_000, 0.1),
    ("mixture", 200, 2_000, 0.1),
    ("beta", 200, 2_000, 0.01),
    ("five levels", 50, 1_000, 0.1),
    ("t3, shift 2", 1_000, 5_000, 0.1),
    ("normal, d' = 1", 30, 300, 0.1),
    ("normal, d' = 2", 100, 100, 0.5),
    ("normal, d' = 3", 100, 10_000, 0.01),
    ("normal, d' = 3", 20, 2_000, 0.001),
    ("five levels", 500, 5_000, 0.01),
]


@experiment(MAXIMA, 500)
def measure_maxima(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """By how much the best value promises too much, and intervals of it, plain and corrected."""
    name, n_pos, n_neg, eta = cell
    place = Cell(MODEL_NAMED[name], n_pos, n_neg)
    drawn = draw_placed(place, n_sets, rng)
    for target, metric in (("f1", "f1"), ("mcc", "mcc"), ("f1", "precision")):
        asked: dict[str, Any] = {"maximize": target, "metrics": metric, "confidence": CONFIDENCE}
        asked |= {"by": "set", "counts": ("n_pos", "n_neg")}
        plain = drawn.prc.operating_points(eta, **asked)
        found = drawn.prc.operating_points(eta, **asked, method="bootstrap", n_resamples=200, seed=1)
        truth = getattr(metrics, metric)(*true_rates(place.model, found["threshold"]), eta)
        row = {"maximized": target, "metric": metric}
        row |= {"too_high": float((found[metric] - truth).mean())}
        row |= {"too_high_corrected": float((found[f"{metric}_corrected"] - truth).mean())}
        for kind, one in (("plain", plain), ("corrected", found)):
            of = one.with_columns(truth=truth)
            row |= {
                f"{kind}_above": of.select((pl.col(f"{metric}_low") > pl.col("truth")).mean()).item()
            }
            below = of.select((pl.col(f"{metric}_high") < pl.col("truth")).mean()).item()
            row |= {f"{kind}_coverage": 1 - row[f"{kind}_above"] - below}
        yield place.row | {"eta": eta} | row
