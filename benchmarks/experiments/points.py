"""Point metrics of two models or groups at one threshold, and at the best one of a sample."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from polars_prcurve import intervals, metrics
from polars_prcurve.core.metrics.metric_lookup import find_metrics
from polars_prcurve.core.metrics.point_metric import PointMetric

from .experiment import (
    CONFIDENCE,
    Row,
    experiment,
    list_at_target,
    measure_coverage,
    share_significant,
    split_sets,
)
from .populations import (
    FRESH,
    MODEL_NAMED,
    MODELS,
    UNLIKE,
    Cell,
    draw_flagged,
    draw_placed,
    true_rates,
)

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
        a, b = (float(find_metrics(name, PointMetric)[0](*rate, eta)) for rate in rates)
        of = found.filter(metric=name, eta=eta)
        shares = measure_coverage(of, a - b)
        del shares["width"], shares["no_interval"]
        wrong = share_significant(of) if a == b else None
        marked_wrong = share_significant(of.filter(pl.col("doubt").is_null())) if a == b else None
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
            .prc.compare(etas, score=["a", "b"], by="set", confidence=CONFIDENCE, **asked)
            .select("eta", "metric", "low", "high", "doubt", "significant")
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
PAIRED_METRICS = (
    BENEFIT,
    *find_metrics(["recall", "fpr", "precision", "npv", "f1", "mcc"], PointMetric),
)


def measure_pairs(found: pl.DataFrame, cell: Flagged, rates: tuple[Rates, Rates]) -> Iterator[Row]:
    """Yield a row per metric and prevalence: how often intervals of differences held the truth."""
    for metric, eta in product(PAIRED_METRICS, PAIRED_ETAS):
        of = found.filter(metric=metric.name, eta=eta)
        if of.is_empty():
            continue
        a, b = (float(metric(*rate, eta)) for rate in rates)
        wrong = share_significant(of) if cell.equal else None
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


@dataclass(frozen=True)
class Sought:
    """Two models with d' = 2 and 1.6, or twice 2, at thresholds that meet a target in a test set."""

    n_pos: int
    n_neg: int
    target: str
    value: float
    shared: float | None
    """The part of the variance of scores that the models share; None if each has its own examples."""
    equal: bool
    step: float = 0.0
    """Scores are rounded to multiples of this, unless it is 0."""
    weights: str = "none"
    """Whether rows weigh 1 or 4 "at random", or 4 where "low scores" are sampled, one in four."""

    @property
    def shifts(self) -> tuple[float, float]:
        return (2.0, 2.0) if self.equal else (2.0, 1.6)

    def find_rates(self, shift: float, eta: float) -> Rates:
        """Return recall and fpr of a model where it meets the target at prevalence eta."""
        if self.target == "threshold":
            return float(stats.norm.sf(self.value - shift)), float(stats.norm.sf(self.value))
        cuts = np.linspace(12.0, -10.0, 400_001)
        if self.step:  # the ends of the intervals that are rounded to one score
            cuts = np.arange(12.0, -10.0, -self.step) - self.step / 2
        recall, fpr = stats.norm.sf(cuts - shift), stats.norm.sf(cuts)
        reached = find_metrics(self.target, PointMetric)[0](recall, fpr, np.full(cuts.shape, eta))
        at_most = self.target in ("fpr", "predicted_positive_rate")
        met = reached <= self.value if at_most else reached >= self.value
        first = self.target in ("recall", "npv")
        row = int(met.argmax() if first else len(met) - 1 - met[::-1].argmax())
        return (float(recall[row]), float(fpr[row])) if met.any() else (math.nan, math.nan)

    def draw_model(self, shift: float, label: Any, common: Any, rng: np.random.Generator) -> Any:
        share = self.shared or 0.0
        own = rng.normal(size=len(label))
        score = share**0.5 * common + (1 - share) ** 0.5 * own + shift * label
        return np.round(score / self.step) if self.step else score

    def weigh(self, drawn: pl.DataFrame, score: str, rng: np.random.Generator) -> pl.DataFrame:
        """Return the rows with their weights; of low scores, those that are sampled."""
        if self.weights == "none":
            return drawn
        if self.weights == "at random":
            heavy = pl.Series(rng.random(drawn.height) < 0.5)
        else:
            heavy = drawn[score] < 1
            is_sampled = pl.Series(rng.random(drawn.height) < 0.25)
            drawn, heavy = drawn.filter(~heavy | is_sampled), heavy.filter(~heavy | is_sampled)
        return drawn.with_columns(pl.when(heavy).then(4.0).otherwise(1.0).alias("weight"))

    @property
    def weighted(self) -> dict[str, str]:
        """The argument with the weights, if there are any."""
        return {} if self.weights == "none" else {"weight": "weight"}

    def compare(
        self, n_sets: int, rng: np.random.Generator, etas: Sequence[float], **asked: Any
    ) -> pl.DataFrame:
        """Return the differences of both models in that many test sets."""
        parts, n = [], self.n_pos + self.n_neg
        asked |= {"by": "set", "confidence": CONFIDENCE, self.target: self.value, "eta": etas}
        for sets in split_sets(n_sets, 2 * len(etas) * n):
            label, common = np.arange(n * sets) % n < self.n_pos, rng.normal(size=n * sets)
            columns = {"set": np.arange(n * sets) // n, "label": label}
            scores = [self.draw_model(shift, label, common, rng) for shift in self.shifts]
            if self.shared is None:
                models = [pl.DataFrame(columns | {"score": one}) for one in scores]
                long = pl.concat(
                    one.with_columns(model=pl.lit(name)) for name, one in zip("ab", models, strict=True)
                )
                found = long.prc.compare(model="model", paired=False, **asked)
            else:
                wide = self.weigh(pl.DataFrame(columns | dict(zip("ab", scores, strict=True))), "a", rng)
                found = wide.prc.compare(score=["a", "b"], **asked, **self.weighted)
            parts.append(found.select("eta", "metric", "low", "high", "doubt", "significant"))
        return pl.concat(parts)


SOUGHT = [
    *(("recall", value) for value in (0.2, 0.5, 0.8, 0.95)),
    *(("fpr", value) for value in (0.001, 0.01, 0.1)),
    *(("predicted_positive_rate", value) for value in (0.001, 0.01, 0.1)),
    *(("precision", value) for value in (0.5, 0.8)),
    ("npv", 0.99),
    ("lift", 5.0),
]
SOUGHT_SIZES: tuple[Size, ...] = ((20, 200), (50, 500), (200, 2_000), (100, 10_000), (1_000, 1_000))
SOUGHT_CELLS = [
    *(
        Sought(*size, *target, shared, equal)
        for size, target, (shared, equal) in product(
            SOUGHT_SIZES, SOUGHT, ((0.5, False), (0.5, True), (0.9, True))
        )
    ),
    *(
        Sought(*size, *target, shared, equal, step)
        for size, target, (shared, step), equal in product(
            ((50, 500), (200, 2_000)), SOUGHT, ((None, 0.0), (0.5, 0.5)), (False, True)
        )
    ),
    *(Sought(200, 2_000, *target, 0.5, equal, 0.1) for target, equal in product(SOUGHT, (False, True))),
    *(
        Sought(200, 2_000, *target, 0.5, equal, weights=weights)
        for weights, target, equal in product(
            ("at random", "low scores"), [*SOUGHT, ("threshold", 2.0)], (False, True)
        )
    ),
]
SOUGHT_METRICS = ("precision", "recall", "fpr")


@experiment(SOUGHT_CELLS, lambda cell: 500 if cell.n_pos + cell.n_neg > 2_000 else 1_000)
def measure_sought_points(cell: Sought, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Differences of two models at a target, by `compare` of the test set that found the thresholds."""
    asked = [name for name in SOUGHT_METRICS if name != cell.target]
    found = cell.compare(n_sets, rng, PAIRED_ETAS, metrics=asked)
    rates_at = {eta: [cell.find_rates(shift, eta) for shift in cell.shifts] for eta in PAIRED_ETAS}
    for eta, name in product(PAIRED_ETAS, asked):
        moved = cell.target not in ("recall", "fpr", "threshold") or name == "precision"
        if eta == PAIRED_ETAS[1] and not moved:
            continue  # what does not depend on the prevalence
        metric = find_metrics(name, PointMetric)[0]
        a, b = (float(metric(*rates, eta)) for rates in rates_at[eta])
        if math.isnan(a) or math.isnan(b):
            continue  # no threshold meets the target in truth
        of = found.filter(metric=name, eta=eta)
        shares = measure_coverage(of, a - b)
        del shares["width"]
        wrong = share_significant(of) if cell.equal else None
        yield vars(cell) | {"metric": name, "eta": eta} | shares | {"wrongly_resolved": wrong}


@dataclass(frozen=True)
class SoughtValue:
    """One model with d' = `shift`, at the threshold that meets a target in a test set."""

    sought: Sought
    shift: float = 2.0

    def draw(self, sets: int, rng: np.random.Generator) -> pl.DataFrame:
        """Return the examples of that many test sets, with their weights."""
        n = self.sought.n_pos + self.sought.n_neg
        label = np.arange(n * sets) % n < self.sought.n_pos
        score = self.sought.draw_model(self.shift, label, 0.0, rng)
        drawn = pl.DataFrame({"set": np.arange(n * sets) // n, "label": label, "score": score})
        return self.sought.weigh(drawn, "score", rng)

    @property
    def row(self) -> Row:
        of = self.sought
        row = {"n_pos": of.n_pos, "n_neg": of.n_neg, "shift": self.shift, "step": of.step}
        return row | {"weights": of.weights, "target": of.target, "value": of.value}


def seek(size: Size, *, shift: float = 2.0, **how: Any) -> list[SoughtValue]:
    """Return a cell for each of the targets."""
    targets = [target for target in SOUGHT if list_at_target(*target)]
    return [SoughtValue(Sought(*size, *target, None, True, **how), shift) for target in targets]


SOUGHT_VALUES = [
    *(cell for size in SOUGHT_SIZES for cell in seek(size)),
    *(cell for shift in (1.0, 3.0) for cell in seek((200, 2_000), shift=shift)),
    *seek((50, 500), step=0.5),
    *seek((200, 2_000), step=0.5),
    *seek((200, 2_000), step=0.1),
    *seek((200, 2_000), weights="at random"),
    *seek((200, 2_000), weights="low scores"),
]


@experiment(SOUGHT_VALUES, 3_000)
def measure_sought_values(cell: SoughtValue, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Metrics at targets, of one model."""
    sought, parts = cell.sought, []
    at_target = list_at_target(sought.target, sought.value)
    for sets in split_sets(n_sets, len(PAIRED_ETAS) * (sought.n_pos + sought.n_neg)):
        drawn = cell.draw(sets, rng).prc(by="set", **sought.weighted)
        asked: dict[str, Any] = {"metrics": [*at_target.values()], "confidence": CONFIDENCE}
        parts.append(drawn.summary(PAIRED_ETAS, **asked))
    found = pl.concat(parts)
    for eta, (name, metric) in product(PAIRED_ETAS, at_target.items()):
        truth = float(find_metrics(name, PointMetric)[0](*sought.find_rates(cell.shift, eta), eta))
        if (eta == PAIRED_ETAS[1] and not metric.depends_on_eta) or math.isnan(truth):
            continue
        shares = measure_coverage(found.filter(metric=metric.name, eta=eta), truth)
        del shares["width"]
        yield cell.row | {"metric": name, "eta": eta} | shares


ALLOWED_SIZES: tuple[Size, ...] = ((200, 2_000), (1_000, 1_000))
ALLOWED = [*product((1.0, 2.0, 3.0), ALLOWED_SIZES, (1, 2, 5, 10, 20, 100))]
"""The d' of one model, the size of the test set, and the number of negatives that an fpr allows."""


@experiment(ALLOWED, 500)
def measure_recall_at_fpr(
    cell: tuple[float, Size, int], n_sets: int, rng: np.random.Generator
) -> Iterator[Row]:
    """Intervals of `recall_at_fpr` by the bootstrap of `summary`."""
    shift, (n_pos, n_neg), allowed = cell
    fpr, n, parts = allowed / n_neg, n_pos + n_neg, []
    for sets in split_sets(n_sets, 3 * n):
        label = np.arange(n * sets) % n < n_pos
        score = rng.normal(size=n * sets) + shift * label
        drawn = pl.DataFrame({"set": np.arange(n * sets) // n, "label": label, "score": score})
        sure = intervals(CONFIDENCE, method="bootstrap", resamples=300, seed=1)
        found = drawn.prc.summary(by="set", metrics=metrics.recall_at_fpr(fpr), confidence=sure)
        parts.append(found.select("low", "high", "doubt"))
    truth = float(stats.norm.sf(stats.norm.isf(fpr) - shift))
    where = {"n_pos": n_pos, "n_neg": n_neg, "shift": shift, "allowed": allowed}
    yield where | measure_coverage(pl.concat(parts), truth)


# Thresholds that a test set chose ---------------------------------------------------------------

CHOSEN_SIZES: tuple[Size, ...] = ((12, 2_000), (40, 1_500), (100, 2_000))
CHOSEN_ETAS = (0.1, 0.01)
CHOSEN_TARGETS: dict[str, Any] = {
    "recall": [0.5, 0.9],
    "fpr": 0.01,
    "predicted_positive_rate": 0.02,
    "precision": 0.5,
    "maximize": "f1",
}
CHOSEN_METRICS = ("precision", "recall", "fpr", "predicted_positive_rate")
CHOSEN_CELLS = [Cell(model, *size) for model in (*MODELS, *UNLIKE, *FRESH) for size in CHOSEN_SIZES]


@experiment(CHOSEN_CELLS, 500)
def measure_chosen_thresholds(cell: Cell, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Values in the population, at thresholds that meet a target in a test set."""
    asked: dict[str, Any] = {"metrics": CHOSEN_METRICS, "confidence": CONFIDENCE, "long": True}
    parts = []
    for sets in split_sets(n_sets, cell.n_pos + cell.n_neg):
        sets_of_part = draw_placed(cell, sets, rng).prc(by="set", counts=("n_pos", "n_neg"))
        parts.append(sets_of_part.operating_points(CHOSEN_ETAS, **CHOSEN_TARGETS, **asked))
    found = pl.concat(parts).with_columns(
        target=pl.concat_str(
            "criterion", pl.col("target").cast(pl.String), ignore_nulls=True, separator=" "
        )
    )
    for (eta, target, name), all_rows in found.group_by("eta", "target", "metric", maintain_order=True):
        is_rate_target = str(target).startswith(("recall", "fpr"))
        if is_rate_target and name in ("recall", "fpr") and eta == CHOSEN_ETAS[1]:
            continue  # what does not depend on the prevalence
        rows = all_rows.drop_nulls("threshold")
        if rows.is_empty():
            continue
        row = {"eta": eta, "target": target, "metric": name, "met": rows.height / all_rows.height}
        row = {key: shorten(value) if isinstance(value, str) else value for key, value in row.items()}
        rates = true_rates(cell.model, rows["threshold"])
        truth = np.asarray(find_metrics(str(name), PointMetric)[0](*rates, eta))
        shares = measure_coverage_of_each(rows, truth)
        del shares["width"], shares["no_interval"]
        yield {"model": cell.model.name, "n_pos": cell.n_pos} | row | shares


def shorten(name: str) -> str:
    """Return a short name of a target or a metric."""
    return name.replace("predicted_positive_rate", "alerts")


def measure_coverage_of_each(found: pl.DataFrame, truths: Any) -> Row:
    """Return shares of test sets, as `measure_coverage` does, where each has a truth of its own."""
    distance = pl.Series(truths)
    moved = found.with_columns(pl.col("low", "high") - distance)
    return measure_coverage(moved, 0.0)


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
        sets = drawn.prc(by="set", counts=("n_pos", "n_neg"))
        sure = intervals(CONFIDENCE, method="bootstrap", resamples=200, seed=1)
        found = sets.operating_points(eta, maximize=target, metrics=metric, confidence=sure)
        as_it_stands = found.select("set", "threshold")
        plain = sets.operating_points(eta, threshold=as_it_stands, metrics=metric, confidence=CONFIDENCE)
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
