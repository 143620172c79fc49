"""Point metrics of two models or groups at one threshold, and at the best one of a sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

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
    """Two models with d' = 2 and 1.6, at a threshold of each."""

    n_pos: int
    n_neg: int
    fpr: float
    """Of the first model; the second has a fifth more."""
    shared: float
    """The part of the variance of scores that the models share."""

    @property
    def cut(self) -> float:
        return NormalDist().inv_cdf(1 - self.fpr)

    @property
    def moved(self) -> float:
        """By how much the scores of the second model are moved, so that one threshold serves both."""
        return self.cut - NormalDist().inv_cdf(1 - 1.2 * self.fpr)

    def draw_sets(self, sets: int, rng: np.random.Generator) -> pl.DataFrame:
        n = self.n_pos + self.n_neg
        label = np.arange(n * sets) % n < self.n_pos
        common = self.shared**0.5 * rng.normal(size=n * sets)
        a, b = (common + (1 - self.shared) ** 0.5 * rng.normal(size=n * sets) for _ in "ab")
        columns = {"set": np.arange(n * sets) // n, "label": label}
        return pl.DataFrame(columns | {"a": a + 2 * label, "b": b + self.moved + 1.6 * label})

    def find_differences(self, eta: float, risk: float) -> dict[str, float]:
        of_a, of_b = (1 - NormalDist().cdf(self.cut - d) for d in (2, 1.6 + self.moved))
        recall, fpr = of_a - of_b, -0.2 * self.fpr
        benefit = eta * recall - (1 - eta) * risk / (1 - risk) * fpr
        return {f"net_benefit({risk:g})": benefit, "recall": recall, "fpr": fpr}


FLAGGED = [
    Flagged(*size, fpr, shared)
    for size, fpr, shared in product(
        ((20, 200), (50, 500), (200, 2_000), (100, 10_000)), (0.002, 0.02, 0.2), (0.5, 0.9)
    )
]


@experiment(FLAGGED)
def measure_paired_points(cell: Flagged, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Differences of two models at one threshold, by `compare` of one test set."""
    eta, risk = 0.1, 0.1
    asked: list[Any] = [metrics.net_benefit(risk), "recall", "fpr"]
    found = pl.concat(
        cell.draw_sets(sets, rng)
        .prc.compare(["a", "b"], eta, metrics=asked, threshold=cell.cut, by="set", confidence=CONFIDENCE)
        .select("metric", "low", "high", "reliable")
        for sets in split_sets(n_sets, 2 * (cell.n_pos + cell.n_neg))
    )
    for name, truth in cell.find_differences(eta, risk).items():
        yield vars(cell) | {"metric": name} | measure_coverage(found.filter(metric=name), truth)


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
