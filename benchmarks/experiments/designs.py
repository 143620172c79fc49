"""Rows that were not all drawn alike: labels bought by score, and rows that come in clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from .areas import measure_rejections
from .experiment import CONFIDENCE, Row, experiment, hold_point, measure_coverage, split_sets
from .populations import AREAS, MODELS, Cell, count_frame, normal, precision

COUNTS = ("n_pos", "n_neg", "n_pos_squares", "n_neg_squares")
NORMAL_2 = normal(2)
POINTS = ("recall", "fpr", "precision", "f1")


def find_points(recall: float, fpr: float, eta: float) -> dict[str, float]:
    p = float(precision(recall, fpr, eta))
    return {"recall": recall, "fpr": fpr, "precision": p, "f1": 2 * p * recall / (p + recall)}


# Labels that were bought by score -------------------------------------------------------------


@dataclass(frozen=True)
class Bought(Cell):
    """A population whose rows are labelled all above a cut, and one in `k` below it."""

    cut: float
    """The fpr of the cut."""
    k: int

    @property
    def row(self) -> Row:
        return vars(self) | super().row


BOUGHT_SIZES = ((50, 5_000), (100, 2_000), (200, 20_000), (500, 10_000), (1_000, 50_000))
BOUGHT = [
    Bought(model, *size, *how)
    for model, size, how in product(
        (MODELS[1], MODELS[4], MODELS[5]), BOUGHT_SIZES, ((0.02, 20), (0.02, 50), (0.1, 20))
    )
]


def weigh(counts: pl.DataFrame, weight: Any) -> pl.DataFrame:
    """Return weighted counts and sums of squared weights, from numbers of rows of equal weight."""
    w = np.broadcast_to(weight, (counts["set"].n_unique(), np.shape(weight)[-1])).ravel()
    counts = counts.with_columns(w=pl.Series(w, dtype=pl.Float64))
    squares = {f"{name}_squares": pl.col(name) * pl.col("w") ** 2 for name in ("n_pos", "n_neg")}
    return counts.with_columns(pl.col("n_pos", "n_neg") * pl.col("w"), **squares).drop("w")


def draw_bought(cell: Bought, sets: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return weighted counts: a row per positive, and one for the negatives between two of them."""
    at = cell.model.fpr_at(rng.random((sets, cell.n_pos)))
    at = np.sort(np.concatenate([at, np.full((sets, 1), cell.cut)], axis=1), axis=1)
    shares = np.diff(at, axis=1, prepend=0, append=1).clip(0)
    weight = np.ones((sets, 2 * at.shape[1] + 1))
    middle = (at[:, :-1] + at[:, 1:]) / 2
    middle = np.concatenate([at[:, :1] / 2, middle, (1 + at[:, -1:]) / 2], axis=1)
    weight[:, 0::2] = np.where(middle > cell.cut, cell.k, 1)
    weight[:, 1::2] = np.where(at > cell.cut, cell.k, 1)
    kept = shares / weight[:, 0::2]
    lost = 1 - kept.sum(axis=1, keepdims=True)
    n_neg, n_pos = np.zeros(weight.shape), np.zeros(weight.shape)
    n_neg[:, 0::2] = rng.multinomial(cell.n_neg, np.concatenate([kept, lost.clip(0)], axis=1))[:, :-1]
    n_pos[:, 1::2] = (rng.random(at.shape) * weight[:, 1::2] < 1) & (at != cell.cut)
    return weigh(count_frame(-np.arange(weight.shape[1])[None], n_pos, n_neg), weight)


@experiment(BOUGHT)
def measure_bought_areas(cell: Bought, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Intervals of areas from weighted labels, by metric and prevalence."""
    asked: list[Any] = ["average_precision", "roc_auc"]
    etas = [0.001, 0.01, 0.1, 0.5]
    found = pl.concat(
        draw_bought(cell, sets, rng)
        .prc.summary(etas, metrics=asked, by="set", counts=COUNTS, confidence=CONFIDENCE)
        .select("eta", "metric", "low", "high", "doubt")
        for sets in split_sets(n_sets, 2 * cell.n_pos + 3)
    )
    for (metric, eta), part in found.group_by("metric", "eta", maintain_order=True):
        if metric != "roc_auc" or eta == 0.5:
            shares = measure_coverage(part, AREAS[str(metric)](cell.model, eta))
            del shares["width"]
            yield cell.row | {"metric": metric, "eta": eta} | shares


def draw_bought_points(
    cell: Bought, fprs: Sequence[float], sets: int, rng: np.random.Generator
) -> pl.DataFrame:
    """Return weighted counts between fixed thresholds, among them the cut; the last row is all below."""
    rising = np.array([*fprs, 1.0])
    weight = np.where(rising > cell.cut + 1e-12, cell.k, 1)
    drawn = []
    for n, rates in ((cell.n_pos, cell.model.recall_at(rising)), (cell.n_neg, rising)):
        kept = np.diff(rates, prepend=0) / weight
        drawn.append(rng.multinomial(n, [*kept, 1 - kept.sum()], size=sets)[:, :-1])
    return weigh(count_frame(-np.arange(len(rising))[None], *drawn), weight)


@experiment(BOUGHT)
def measure_bought_bands(cell: Bought, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Bands from weighted labels at fixed thresholds: far above the cut, at it, and below it."""
    eta, cut, k = 0.01, cell.cut, cell.k
    fprs = sorted({cut / 10, cut / 3, cut, min(3 * cut, 0.3), 0.5})
    curve = draw_bought_points(cell, fprs, n_sets, rng).prc.curve(
        eta, metrics=list(POINTS), by="set", counts=COUNTS, confidence=CONFIDENCE,
        thresholds=[-float(i) for i in range(len(fprs))],
    )  # fmt: skip
    for i, fpr in enumerate(fprs):
        recall = float(cell.model.recall_at(fpr))
        of = curve.filter(threshold=-float(i))
        found = {
            name: hold_point(of, name, truth)["coverage"]
            for name, truth in find_points(recall, fpr, eta).items()
        }
        missed = cell.n_pos * (1 - recall) / (k if fpr >= cut - 1e-12 else 1)
        false_positives = cell.n_neg * (fpr if fpr <= cut else cut + (fpr - cut) / k)
        where = {"fpr_of_threshold": fpr, "missed": missed, "false_positives": false_positives}
        yield cell.row | where | found


# Clusters -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Clustered:
    """Patients with several rows each, whose scores share half of their variance; d' = 2."""

    patients: int
    rows: int
    """Of a patient, on average; from one to twice as many less one."""
    mixed: bool
    """Whether a patient has positives and negatives; otherwise one of them."""

    @property
    def row(self) -> Row:
        return vars(self) | {"mixed": "both classes" if self.mixed else "one class"}

    def draw_sets(self, sets: int, rng: np.random.Generator) -> pl.DataFrame:
        n = self.patients * sets
        patient = np.repeat(np.arange(n), rng.integers(1, 2 * self.rows, n))
        per_row, per_patient = rng.random(len(patient)) < 0.2, (rng.random(n) < 0.2)[patient]
        label = per_row if self.mixed else per_patient
        noise = (rng.normal(size=n)[patient] + rng.normal(size=len(patient))) / 2**0.5
        columns = {"set": patient // self.patients, "patient": patient}
        return pl.DataFrame(columns | {"score": noise + 2 * label, "label": label})

    def draw_pairs(self, sets: int, rng: np.random.Generator) -> pl.DataFrame:
        """Return equal models: a quarter of the variance is of a patient in the eyes of a model."""
        drawn = self.draw_sets(sets, rng)
        patient, label = drawn["patient"].to_numpy(), drawn["label"].to_numpy()
        n = self.patients * sets
        both = rng.normal(size=n)[patient]
        scores = {
            name: 2 * label
            + (both + rng.normal(size=n)[patient]) / 2
            + rng.normal(size=len(patient)) / 2**0.5
            for name in "ab"
        }
        return drawn.drop("score").with_columns(pl.Series(name, score) for name, score in scores.items())


CLUSTER_SIZES = ((20, 5), (50, 5), (50, 20), (100, 10), (200, 10), (400, 5), (1_000, 3))
CLUSTER_ETAS = (0.01, 0.1, 0.5)


@experiment([Clustered(*size, mixed) for mixed, size in product((False, True), CLUSTER_SIZES)])
def measure_cluster_areas(cell: Clustered, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Intervals of areas of clustered rows, without `cluster=` and with it."""
    names: Any = ["average_precision", "roc_auc"]
    asked: Any = {"metrics": names, "confidence": CONFIDENCE, "by": "set"}
    found: dict[Any, list[pl.DataFrame]] = {None: [], "patient": []}
    for sets in split_sets(n_sets, 2 * cell.patients * cell.rows):
        drawn = cell.draw_sets(sets, rng)
        for cluster, parts in found.items():
            summary = drawn.prc.summary(list(CLUSTER_ETAS), cluster=cluster, **asked)
            parts.append(summary.select("eta", "metric", "low", "high", "doubt"))
    plain, clustered = (pl.concat(parts) for parts in found.values())
    cases = [("roc_auc", 0.5), *(("average_precision", eta) for eta in CLUSTER_ETAS)]
    for name, eta in cases:
        truth = AREAS[name](NORMAL_2, eta)
        without = measure_coverage(plain.filter(metric=name, eta=eta), truth)["coverage"]
        of = measure_coverage(clustered.filter(metric=name, eta=eta), truth)
        yield cell.row | {"metric": name, "eta": eta, "without_cluster": without} | of


EFFECTS: dict[str, Any] = {
    "normal": stats.norm(), "Gumbel": stats.gumbel_r(), "exponential": stats.expon(), "t3": stats.t(3),
    "lognormal": stats.lognorm(1),
}  # fmt: skip
"""What is special about a patient, before it is scaled to a variance of 1."""


@dataclass(frozen=True)
class SkewedPatients:
    """Patients of very different numbers of rows, 8 on average and up to 30, with a fifth positive."""

    effects: str
    patients: int

    def draw_scores(
        self, patient: NDArray[np.int64], n: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return labels, and scores whose variance is to 40% that of effects of n patients."""
        effect = EFFECTS[self.effects]
        of_patient = effect.rvs(size=n, random_state=rng) / effect.std()
        label = rng.random(len(patient)) < 0.2
        noise = 0.4**0.5 * of_patient[patient] + 0.6**0.5 * rng.normal(size=len(patient))
        return label, noise + 2.2 * label

    def draw_sets(self, sets: int, rng: np.random.Generator) -> pl.DataFrame:
        n = self.patients * sets
        patient = np.repeat(np.arange(n), np.minimum(rng.geometric(1 / 8, n), 30))
        label, score = self.draw_scores(patient, n, rng)
        return pl.DataFrame(
            {"set": patient // self.patients, "patient": patient, "label": label, "score": score}
        )


@cache
def find_true_areas(effects: str, etas: tuple[float, ...], n: int = 4_000_000) -> dict[float, float]:
    """Return average precision at prevalences, among many patients of one row."""
    of = SkewedPatients(effects, n)
    label, score = of.draw_scores(np.arange(n), n, np.random.default_rng(1))
    positive, negative = (np.sort(score[label == y])[::-1] for y in (True, False))
    recall = (np.arange(len(positive)) + 1) / len(positive)
    fpr = np.searchsorted(-negative, -positive) / len(negative)
    return {eta: float(np.mean(recall / (recall + fpr * (1 - eta) / eta))) for eta in etas}


PATIENTS = [SkewedPatients(*of) for of in product(EFFECTS, (60, 300, 800))]


@experiment(PATIENTS, lambda cell: 500 if cell.patients < 800 else 250)
def measure_patient_effects(
    cell: SkewedPatients, n_sets: int, rng: np.random.Generator
) -> Iterator[Row]:
    """Intervals of average precision where a few patients are unlike the others."""
    etas, parts = (0.01, 0.1, 0.3), []
    for sets in split_sets(n_sets, 8 * cell.patients):
        drawn = cell.draw_sets(sets, rng).prc(by="set", cluster="patient")
        parts.append(drawn.summary(eta=list(etas), metrics="average_precision", confidence=CONFIDENCE))
    for eta, truth in find_true_areas(cell.effects, etas).items():
        yield vars(cell) | {"eta": eta} | measure_coverage(pl.concat(parts).filter(eta=eta), truth)


PAIRED_SIZES = ((50, 5), (50, 20), (100, 10), (300, 5))


@experiment([Clustered(*size, mixed) for mixed, size in product((False, True), PAIRED_SIZES)], 500)
def measure_cluster_pairs(cell: Clustered, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """How often `compare` tells equal models apart, without `cluster=` and with it."""
    found: dict[Any, list[pl.DataFrame]] = {None: [], "patient": []}
    for sets in split_sets(n_sets, 4 * cell.patients * cell.rows):
        drawn = cell.draw_pairs(sets, rng)
        for cluster, parts in found.items():
            models = drawn.prc(score=["a", "b"], by="set", cluster=cluster)
            parts.append(models.compare(list(CLUSTER_ETAS), columns="all"))
    plain, clustered = (pl.concat(parts) for parts in found.values())
    for name, eta in (("roc_auc", 0.5), *(("average_precision", eta) for eta in CLUSTER_ETAS)):
        without = measure_rejections(plain.filter(metric=name, eta=eta))["rejected"]
        of = measure_rejections(clustered.filter(metric=name, eta=eta))
        yield cell.row | {"metric": name, "eta": eta, "without_cluster": without} | of


@dataclass(frozen=True)
class ClusterBands:
    """Clusters of 1 to 20 rows whose scores share a part; normal scores, d' = 2."""

    n_pos: int
    """Clusters of positives; in cells with both classes, all clusters."""
    n_neg: int
    shared: float
    """The part of the variance of scores that the rows of a cluster share."""
    kind: str = "one class"
    """What a cluster holds; in opposite clusters high positives go with low negatives."""
    largest: int = 20

    @property
    def size(self) -> tuple[float, float]:
        """The numbers of positives and negatives that are expected."""
        rows = (self.n_pos + self.n_neg) * (self.largest + 1) / 2
        share = self.n_pos / (self.n_pos + self.n_neg) if self.n_neg else 0.3
        return rows * share, rows * (1 - share)

    def draw_sets(self, sets: int, rng: np.random.Generator) -> pl.DataFrame:
        n = self.n_pos + self.n_neg
        patient = np.repeat(np.arange(n * sets), rng.integers(1, self.largest + 1, n * sets))
        label = patient % n < self.n_pos if self.n_neg else rng.random(len(patient)) < 0.3
        own = rng.normal(size=n * sets)[patient]
        own = np.where(label, own, -own) if self.kind == "opposite" else own
        score = self.shared**0.5 * own + (1 - self.shared) ** 0.5 * rng.normal(size=len(patient))
        columns = {"set": patient // n, "patient": patient, "label": label}
        return pl.DataFrame(columns | {"score": score + 2 * label})


CLUSTER_BANDS = [
    *(ClusterBands(n, n, shared) for n, shared in product((30, 100, 300), (0.1, 0.5, 0.8))),
    *(ClusterBands(30, 300, shared) for shared in (0.1, 0.5)),
    *(
        ClusterBands(n, 0, shared, kind)
        for kind, n, shared in product(("both classes", "opposite"), (60, 300), (0.2, 0.6))
    ),
    ClusterBands(100, 100, 0.2, largest=100),
    ClusterBands(100, 100, 0.0),
]
BAND_FPRS = (0.002, 0.01, 0.05, 0.3)


@experiment(CLUSTER_BANDS, 1_000)
def measure_cluster_bands(cell: ClusterBands, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Bands of clustered rows at fixed thresholds, without `cluster=` and with it."""
    cuts = [NormalDist().inv_cdf(1 - fpr) for fpr in BAND_FPRS]
    found: dict[Any, list[pl.DataFrame]] = {None: [], "patient": []}
    for sets in split_sets(n_sets, sum(cell.size)):
        drawn = cell.draw_sets(sets, rng).lazy()
        for cluster, parts in found.items():
            query = drawn.prc.operating_points(
                0.1,
                metrics=list(POINTS),
                threshold=cuts,
                by="set",
                cluster=cluster,
                confidence=CONFIDENCE,
            )
            parts.append(query.collect(engine="in-memory"))
    for fpr, cut in zip(BAND_FPRS, cuts, strict=True):
        recall = 1 - NormalDist().cdf(cut - 2)
        n_pos, n_neg = cell.size
        row = vars(cell) | {"fpr_of_threshold": fpr}
        row |= {"false_positives": n_neg * fpr, "missed": n_pos * (1 - recall)}
        for how, parts in zip(("without_", ""), found.values(), strict=True):
            of = pl.concat(parts).filter((pl.col("target") - cut).abs() < 1e-9)
            marked = of.filter(pl.col("doubt").is_null())
            for name, truth in find_points(recall, fpr, 0.1).items():
                row[f"{how}{name}"] = hold_point(of, name, truth)["coverage"]
                if not how:
                    held = hold_point(marked, name, truth)["coverage"] if marked.height > 0 else None
                    row[f"marked_{name}"] = held
        row["marked"] = marked.height / of.height
        yield row
