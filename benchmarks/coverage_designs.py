"""How often intervals hold the truth where rows were sampled with unequal weights, or come in clusters.

    python benchmarks/coverage_designs.py [--simulations N] [--only NAME ...]

`coverage.py` has the populations, and the coverage for rows that were all drawn alike. Here:

    weights    labels bought by score: every row above a cut, below it one in 20 or 50, with that weight
    clusters   rows of patients, whose scores share a part; areas by `summary(cluster=)`
    cluster_bands    the same; bands by `curve(cluster=)` at fixed thresholds
    cluster_pairs    equally good models; how often `compare(cluster=)` tells them apart
    paired_points    two models at one threshold, by `compare` of one test set
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
from coverage import (
    CONFIDENCE,
    MODELS,
    NEAR,
    SEED,
    Model,
    average_precision,
    percent,
    precision,
    precision_at,
    roc_auc,
    table,
)
from numpy.typing import NDArray

import polars_prcurve  # noqa: F401  (registers .prc)
from polars_prcurve import metrics

COUNTS = ("n_pos", "n_neg", "n_pos_squares", "n_neg_squares")
ETAS = (0.001, 0.01, 0.1, 0.5)
BAND_ETA = 0.01
PER_BATCH = 1_500_000
"""Rows of the tables that are asked at once."""
AREAS = {
    "average_precision": average_precision,
    "roc_auc": roc_auc,
    "precision_at_recall(0.5)": precision_at(0.5),
}


@dataclass(frozen=True)
class Bought:
    """A population whose rows are labelled all above a cut, and one in `k` below it."""

    model: Model
    n_pos: int
    n_neg: int
    cut: float
    """The fpr of the cut."""
    k: int

    @property
    def name(self) -> list[Any]:
        return [self.model.name, self.n_pos, self.n_neg, f"{self.cut:g}", self.k]

    @property
    def rng(self) -> np.random.Generator:
        where = [MODELS.index(self.model), self.n_pos, self.n_neg, round(1e6 * self.cut), self.k]
        return np.random.default_rng([SEED, 7, *where])

    @property
    def n_labels(self) -> float:
        """The labels that are bought, on average."""
        above = self.n_pos * self.model.recall_at(self.cut), self.n_neg * self.cut
        return sum(above) + (self.n_pos + self.n_neg - sum(above)) / self.k


SIZES = ((50, 5_000), (100, 2_000), (200, 20_000), (500, 10_000), (1_000, 50_000))
DESIGNS = [
    Bought(model, p, n, cut, k)
    for model, (p, n), (cut, k) in product(
        [MODELS[1], MODELS[4], MODELS[5]], SIZES, [(0.02, 20), (0.02, 50), (0.1, 20)]
    )
]


def count_table(number: NDArray[Any], score: NDArray[Any], n: Sequence[NDArray[Any]], w: Any) -> Any:
    """Return weighted counts by test set and score, from numbers of rows and their weight."""
    n_pos, n_neg = n
    values = (n_pos * w, n_neg * w, n_pos * w * w, n_neg * w * w)
    columns = {name: np.ravel(value).astype(float) for name, value in zip(COUNTS, values, strict=True)}
    return pl.DataFrame({"simulation": np.ravel(number), "score": np.ravel(score)} | columns)


def bought_sets(cell: Bought, rng: np.random.Generator, simulations: int) -> pl.DataFrame:
    """Weighted counts by score: a row per positive, and one for the negatives between two of them."""
    at = cell.model.fpr_at(rng.random((simulations, cell.n_pos)))
    cut = np.full((simulations, 1), cell.cut)
    at = np.sort(np.concatenate([at, cut], axis=1), axis=1)
    shares = np.diff(at, axis=1, prepend=0, append=1).clip(0)
    weight = np.ones((simulations, 2 * at.shape[1] + 1))
    middle = (at[:, :-1] + at[:, 1:]) / 2
    middle = np.concatenate([at[:, :1] / 2, middle, (1 + at[:, -1:]) / 2], axis=1)
    weight[:, 0::2] = np.where(middle > cell.cut, cell.k, 1)
    weight[:, 1::2] = np.where(at > cell.cut, cell.k, 1)
    kept = shares / weight[:, 0::2]
    lost = 1 - kept.sum(axis=1, keepdims=True)
    n_neg = np.zeros(weight.shape)
    n_neg[:, 0::2] = rng.multinomial(cell.n_neg, np.concatenate([kept, lost.clip(0)], axis=1))[:, :-1]
    n_pos = np.zeros(weight.shape)
    n_pos[:, 1::2] = (rng.random(at.shape) * weight[:, 1::2] < 1) & (at != cell.cut)
    number = np.arange(simulations)[:, None] + 0 * weight
    score = 0 * weight - np.arange(weight.shape[1])
    return count_table(number, score, (n_pos, n_neg), weight)


def bought_points(cell: Bought, fprs: Sequence[float], rng: Any, simulations: int) -> pl.DataFrame:
    """The same between fixed thresholds, among them the cut; the last row is all that is below."""
    rising = np.array([*fprs, 1.0])
    weight = np.where(rising > cell.cut + 1e-12, cell.k, 1)
    drawn = []
    for n, rates in ((cell.n_pos, cell.model.recall_at(rising)), (cell.n_neg, rising)):
        kept = np.diff(rates, prepend=0) / weight
        drawn.append(rng.multinomial(n, [*kept, 1 - kept.sum()], size=simulations)[:, :-1])
    number = np.arange(simulations)[:, None] + 0 * drawn[0]
    score = 0 * drawn[0] - np.arange(len(rising))
    return count_table(number, score, drawn, weight)


def hold(found: pl.DataFrame, low: str, high: str, truth: float) -> tuple[float, pl.Series]:
    inside = found.select(pl.col(low).le(truth + 1e-12) & pl.col(high).ge(truth - 1e-12)).to_series()
    return float(inside.mean() or 0.0), inside


def of_areas(cell: Bought, simulations: int) -> Iterator[list[Any]]:
    """Coverage of areas, by metric and prevalence."""
    rng, parts = cell.rng, []
    batch = max(1, PER_BATCH // (2 * cell.n_pos + 3))
    for start in range(0, simulations, batch):
        sets = bought_sets(cell, rng, min(batch, simulations - start))
        asked: Any = ["average_precision", "roc_auc", metrics.precision_at_recall(0.5)]
        found = sets.prc.summary(
            list(ETAS), metrics=asked, by="simulation", counts=COUNTS, confidence=CONFIDENCE
        )
        parts.append(found.select("eta", "metric", "low", "high", "reliable"))
    found = pl.concat(parts)
    for name, eta in product(AREAS, ETAS):
        if name == "roc_auc" and eta != ETAS[0]:
            continue
        of = found.filter(metric=name, eta=eta).drop_nulls(["low", "high"])
        share, inside = hold(of, "low", "high", AREAS[name](cell.model, eta))
        marked = of["reliable"].fill_null(value=False)
        of_marked = float(inside.filter(marked).mean() or 0.0) if marked.any() else None
        width = float((of["high"] - of["low"]).mean() or 0.0)
        at = "any" if name == "roc_auc" else f"{eta:g}"
        yield [name, *cell.name, at, share, float(marked.mean() or 0.0), of_marked, width]


def of_bands(cell: Bought, simulations: int) -> Iterator[list[Any]]:
    """Coverage of bands at fixed thresholds: far above the cut, at it, and below it."""
    fprs = sorted({cell.cut / 10, cell.cut / 3, cell.cut, min(3 * cell.cut, 0.3), 0.5})
    points = bought_points(cell, fprs, cell.rng, simulations)
    asked = ["recall", "fpr", "precision", "f1"]
    curve = points.prc.curve(
        BAND_ETA, metrics=asked, by="simulation", counts=COUNTS, confidence=CONFIDENCE,
        thresholds=[-float(i) for i in range(len(fprs))],
    )  # fmt: skip
    for i, fpr in enumerate(fprs):
        of = curve.filter(threshold=-float(i))
        recall = float(cell.model.recall_at(fpr))
        p = float(precision(recall, fpr, BAND_ETA))
        truths = {"recall": recall, "fpr": fpr, "precision": p, "f1": 2 * p * recall / (p + recall)}
        for name, truth in truths.items():
            known = of.drop_nulls([f"{name}_low", f"{name}_high"])
            share, _ = hold(known, f"{name}_low", f"{name}_high", truth)
            width = float((known[f"{name}_high"] - known[f"{name}_low"]).mean() or 0.0)
            missed = cell.n_pos * (1 - recall) / (cell.k if fpr >= cell.cut - 1e-12 else 1)
            fp = cell.n_neg * (fpr if fpr <= cell.cut else cell.cut + (fpr - cell.cut) / cell.k)
            yield [name, *cell.name, f"{fpr / cell.cut:.2g} cut", share, missed, fp, width]


def near(share: float) -> bool:
    return NEAR[0] <= share <= NEAR[1]


def weights(simulations: int) -> str:
    """Tables of all designs, and what they come to."""
    areas = [row for cell in DESIGNS for row in of_areas(cell, simulations)]
    bands = [row for cell in DESIGNS for row in of_bands(cell, simulations)]
    design = ("metric", "model", "P", "N", "cut, fpr", "k")
    heads = (*design, "eta", "coverage", "reliable", "coverage of these", "mean width")
    shown = [[*r[:7], percent(r[7]), percent(r[8]), percent(r[9]), f"{r[10]:.4f}"] for r in areas]
    text = "### Areas of bought labels\n\n" + table(heads, shown) + verdict_of_areas(areas, simulations)
    heads = (*design, "threshold", "coverage", "missed, sampled", "false positives", "mean width")
    shown = [[*r[:7], percent(r[7]), f"{r[8]:.1f}", f"{r[9]:.0f}", f"{r[10]:.4f}"] for r in bands]
    text += "\n### Bands of bought labels\n\n" + table(heads, shown)
    return text + verdict_of_bands(bands)


def verdict_of_areas(rows: Sequence[list[Any]], simulations: int) -> str:
    lines = []
    for name in AREAS:
        marked = [r for r in rows if r[0] == name and r[8] * simulations >= 200]
        shares = [r[9] for r in marked]
        if not shares:
            continue
        of_all = [r[7] for r in rows if r[0] == name]
        lines.append(
            [name, len(of_all), f"{percent(min(of_all))} .. {percent(max(of_all))}", len(shares),
             f"{percent(min(shares))} .. {percent(max(shares))}", sum(map(near, shares))]
        )  # fmt: skip
    heads = ("metric", "cells", "coverage", "cells with reliable", "coverage of these", "93 to 97 %")
    return "\n### Verdict: areas\n\n" + table(heads, lines)


def verdict_of_bands(rows: Sequence[list[Any]]) -> str:
    lines = []
    for name, least in product(("recall", "fpr", "precision", "f1"), (0, 5)):
        shares = [r[7] for r in rows if r[0] == name and r[8] >= least and r[9] >= least]
        ends = f"{percent(min(shares))} .. {percent(max(shares))}"
        lines.append([name, least, len(shares), ends, sum(map(near, shares))])
    heads = ("metric", "least missed and false positives", "cells", "coverage", "93 to 97 %")
    return "\n### Verdict: bands\n\n" + table(heads, lines)


# Clusters -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Clustered:
    """Patients with several rows each, whose scores share half of their variance."""

    n_clusters: int
    rows: int
    """Of a patient, on average; from one to twice as many less one."""
    mixed: bool
    """Whether a patient has positives and negatives; otherwise one of them."""
    share: float = 0.2
    """Of the rows or the patients that are positive."""
    shift: float = 2.0

    @property
    def name(self) -> list[Any]:
        return [self.n_clusters, self.rows, "both classes" if self.mixed else "one class"]


CLUSTERED = [
    Clustered(n, rows, mixed)
    for mixed, (n, rows) in product(
        (False, True), [(20, 5), (50, 5), (50, 20), (100, 10), (200, 10), (400, 5), (1_000, 3)]
    )
]
CLUSTER_ETAS = (0.01, 0.1, 0.5)
AT_RECALLS = [metrics.precision_at_recall(0.5), metrics.precision_at_recall(0.8)]


def clustered_sets(cell: Clustered, rng: np.random.Generator, numbers: range) -> pl.DataFrame:
    n = cell.n_clusters * len(numbers)
    patient = np.repeat(np.arange(n), rng.integers(1, 2 * cell.rows, n))
    per_row = rng.random(len(patient)) < cell.share
    per_patient = (rng.random(n) < cell.share)[patient]
    label = per_row if cell.mixed else per_patient
    noise = (rng.normal(size=n)[patient] + rng.normal(size=len(patient))) / 2**0.5
    columns = {"simulation": numbers.start + patient // cell.n_clusters, "patient": patient}
    return pl.DataFrame(columns | {"score": noise + cell.shift * label, "label": label})


def of_clusters(number: int, cell: Clustered, simulations: int) -> Iterator[list[Any]]:
    rng, parts = np.random.default_rng([SEED, 8, number]), []
    batch = max(1, PER_BATCH // (cell.n_clusters * cell.rows))
    for start in range(0, simulations, batch):
        sets = clustered_sets(cell, rng, range(start, min(start + batch, simulations)))
        names: Any = ["average_precision", "roc_auc", *AT_RECALLS]
        asked: Any = {"metrics": names, "confidence": CONFIDENCE}
        for cluster in (None, "patient"):
            found = sets.prc.summary(list(CLUSTER_ETAS), by="simulation", cluster=cluster, **asked)
            parts.append(found.with_columns(clustered=pl.lit(cluster is not None)))
    found = pl.concat(parts)
    model = MODELS[1]  # normal, d' = 2
    at_recalls = {
        metric.name: precision_at(recall) for recall, metric in zip((0.5, 0.8), AT_RECALLS, strict=True)
    }
    cases = [("roc_auc", 0.5), *(("average_precision", eta) for eta in CLUSTER_ETAS)]
    # The interval is that of fpr, so it holds the truth at one prevalence where it does at another.
    for name, eta in [*cases, *((name, 0.1) for name in at_recalls)]:
        of = found.filter(metric=name, eta=eta).drop_nulls(["low", "high"])
        truth = (AREAS | at_recalls)[name](model, eta)
        plain, _ = hold(of.filter(~pl.col("clustered")), "low", "high", truth)
        of = of.filter("clustered")
        share, inside = hold(of, "low", "high", truth)
        marked = of["reliable"].fill_null(value=False)
        of_marked = float(inside.filter(marked).mean() or 0.0) if marked.any() else None
        width = float((of["high"] - of["low"]).mean() or 0.0)
        none = 1 - of.height / simulations
        at = "any" if name == "roc_auc" else f"{eta:g}"
        yield [
            name, *cell.name, at, plain, share, none, float(marked.mean() or 0.0), of_marked, width
        ]  # fmt: skip


def clusters(simulations: int) -> str:
    rows = [row for i, cell in enumerate(CLUSTERED) for row in of_clusters(i, cell, simulations)]
    heads = (
        *("metric", "clusters", "rows in each", "clusters hold", "eta", "without cluster="),
        *("coverage", "no interval", "reliable", "coverage of these", "mean width"),
    )
    shown = [[*row[:5], *map(percent, row[5:10]), f"{row[10]:.4f}"] for row in rows]
    return "### Areas of clustered rows\n\n" + table(heads, shown)


@dataclass(frozen=True)
class BandsOfClusters:
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
    def name(self) -> list[Any]:
        return [self.n_pos, self.n_neg or "", self.largest, f"{self.shared:g}", self.kind]


BANDS_OF_CLUSTERS = [
    *(BandsOfClusters(n, n, shared) for n, shared in product((30, 100, 300), (0.1, 0.5, 0.8))),
    *(BandsOfClusters(30, 300, shared) for shared in (0.1, 0.5)),
    *(
        BandsOfClusters(n, 0, shared, kind)
        for kind, n, shared in product(("both classes", "opposite"), (60, 300), (0.2, 0.6))
    ),
    BandsOfClusters(100, 100, 0.2, largest=100),
    BandsOfClusters(100, 100, 0.0),
]
BAND_FPRS = (0.002, 0.01, 0.05, 0.3)
SHIFT = 2.0
POSITIVE = 0.3
"""The share of positives in clusters with both classes."""


def sets_for_bands(cell: BandsOfClusters, rng: np.random.Generator, n_sets: int) -> pl.DataFrame:
    n = cell.n_pos + cell.n_neg
    patient = np.repeat(np.arange(n * n_sets), rng.integers(1, cell.largest + 1, n * n_sets))
    label = patient % n < cell.n_pos if cell.n_neg else rng.random(len(patient)) < POSITIVE
    own = rng.normal(size=n * n_sets)[patient]
    own = np.where(label, own, -own) if cell.kind == "opposite" else own
    score = cell.shared**0.5 * own + (1 - cell.shared) ** 0.5 * rng.normal(size=len(patient))
    columns = {"simulation": patient // n, "patient": patient, "label": label}
    return pl.DataFrame(columns | {"score": score + SHIFT * label})


def of_cluster_bands(number: int, cell: BandsOfClusters, simulations: int) -> Iterator[list[Any]]:
    """Coverage of bands at fixed thresholds, without `cluster=` and with it."""
    rng, parts = np.random.default_rng([SEED, 9, number]), []
    rows = (cell.n_pos + cell.n_neg) * (cell.largest + 1) / 2
    batch = max(1, int(PER_BATCH / rows))
    normal = NormalDist()
    cuts = [normal.inv_cdf(1 - fpr) for fpr in BAND_FPRS]
    asked = ["recall", "fpr", "precision", "f1"]
    for start in range(0, simulations, batch):
        sets = sets_for_bands(cell, rng, min(batch, simulations - start))
        for cluster in (None, "patient"):
            query = sets.lazy().prc.curve(
                0.1, metrics=asked, thresholds=cuts, by="simulation", cluster=cluster,
                confidence=CONFIDENCE,
            )  # fmt: skip
            found = query.collect(engine="in-memory")
            parts.append(found.with_columns(clustered=pl.lit(cluster is not None)))
    found = pl.concat(parts)
    for fpr, cut in zip(BAND_FPRS, cuts, strict=True):
        recall = 1 - normal.cdf(cut - SHIFT)
        p = float(precision(recall, fpr, 0.1))
        truths = {"recall": recall, "fpr": fpr, "precision": p, "f1": 2 * p * recall / (p + recall)}
        of_pos = cell.n_pos / (cell.n_pos + cell.n_neg) if cell.n_neg else POSITIVE
        fp, missed = rows * (1 - of_pos) * fpr, rows * of_pos * (1 - recall)
        of = found.filter((pl.col("threshold") - cut).abs() < 1e-9)
        for name, truth in truths.items():
            known = of.drop_nulls([f"{name}_low", f"{name}_high"])
            plain, with_it = (
                hold(known.filter(clustered=which), f"{name}_low", f"{name}_high", truth)[0]
                for which in (False, True)
            )
            widths = known.group_by("clustered").agg(
                (pl.col(f"{name}_high") - pl.col(f"{name}_low")).mean().alias("width")
            )
            width = float(widths.filter("clustered")["width"].item())
            yield [name, *cell.name, f"{fpr:g}", fp, missed, plain, with_it, width]


def cluster_bands(simulations: int) -> str:
    rows = [
        row for i, cell in enumerate(BANDS_OF_CLUSTERS) for row in of_cluster_bands(i, cell, simulations)
    ]
    heads = (
        *("metric", "clusters of positives", "of negatives", "largest", "shared", "a cluster holds"),
        *("fpr", "false positives", "missed", "without cluster=", "coverage", "mean width"),
    )
    shown = [
        [*r[:7], f"{r[7]:.0f}", f"{r[8]:.0f}", percent(r[9]), percent(r[10]), f"{r[11]:.4f}"]
        for r in rows
    ]
    lines = []
    for name, least in product(("recall", "fpr", "precision", "f1"), (0, 20, 100)):
        of = [r for r in rows if r[0] == name and min(r[7], r[8]) >= least]
        plain, shares = [r[9] for r in of], [r[10] for r in of]
        ends = [f"{percent(min(each))} .. {percent(max(each))}" for each in (plain, shares)]
        lines.append([name, least, len(of), *ends, sum(map(near, shares))])
    of_all = ("metric", "least missed and false positives", "cells")
    verdict = table((*of_all, "without cluster=", "coverage", "93 to 97 %"), lines)
    text = "### Bands of clustered rows\n\n" + table(heads, shown)
    return text + "\n### Verdict: bands of clustered rows\n\n" + verdict


PAIRED = [
    Clustered(n, rows, mixed)
    for mixed, (n, rows) in product((False, True), [(50, 5), (50, 20), (100, 10), (300, 5)])
]


def paired_sets(cell: Clustered, rng: np.random.Generator, numbers: range) -> pl.DataFrame:
    """Two models of one quality: a quarter of the variance is of the patient in the eyes of a model."""
    sets = clustered_sets(cell, rng, numbers)
    patient, label = sets["patient"].to_numpy(), sets["label"].to_numpy()
    both = rng.normal(size=patient.max() + 1)[patient]
    scores = {
        name: cell.shift * label
        + (both + rng.normal(size=patient.max() + 1)[patient]) / 2
        + rng.normal(size=len(patient)) / 2**0.5
        for name in "ab"
    }
    return sets.drop("score").with_columns(pl.Series(name, score) for name, score in scores.items())


def of_pairs(number: int, cell: Clustered, simulations: int) -> Iterator[list[Any]]:
    """How often equal models are told apart at 5 %, without `cluster=` and with it."""
    rng, parts = np.random.default_rng([SEED, 10, number]), []
    batch = max(1, PER_BATCH // (2 * cell.n_clusters * cell.rows))
    for start in range(0, simulations, batch):
        sets = paired_sets(cell, rng, range(start, min(start + batch, simulations)))
        for cluster in (None, "patient"):
            found = sets.prc.compare(["a", "b"], list(CLUSTER_ETAS), by="simulation", cluster=cluster)
            parts.append(found.with_columns(clustered=pl.lit(cluster is not None)))
    found = pl.concat(parts)
    for name, eta in [("roc_auc", 0.5), *(("average_precision", eta) for eta in CLUSTER_ETAS)]:
        of = found.filter(metric=name, eta=eta)
        wrong = (pl.col("p_value") < 1 - CONFIDENCE).fill_null(value=False).mean()
        plain, with_it = (
            float(of.filter(clustered=which).select(wrong).item()) for which in (False, True)
        )
        of = of.filter("clustered")
        none = float(of["standard_error"].null_count() / of.height)
        resolved = float(of["resolved"].fill_null(value=False).mean() or 0.0)
        at = "any" if name == "roc_auc" else f"{eta:g}"
        yield [name, *cell.name, at, plain, with_it, resolved, none]


def cluster_pairs(simulations: int) -> str:
    rows = [row for i, cell in enumerate(PAIRED) for row in of_pairs(i, cell, simulations)]
    heads = (
        *("metric", "clusters", "rows in each", "clusters hold", "eta", "without cluster="),
        *("told apart at 5 %", "resolved", "no error"),
    )
    shown = [[*row[:5], *map(percent, row[5:])] for row in rows]
    return "### Equal models of clustered rows\n\n" + table(heads, shown)


# Two models at one threshold ---------------------------------------------------------------------

FLAGGED = [
    (n_pos, n_neg, fpr, shared)
    for (n_pos, n_neg), fpr, shared in product(
        ((20, 200), (50, 500), (200, 2_000), (100, 10_000)), (0.002, 0.02, 0.2), (0.5, 0.9)
    )
]
"""Class sizes, the fpr of the threshold, and the part of the variance of scores that models share."""
FEW_MARKED = 0.05
"""The share of marked test sets from which on the coverage of these is told."""


def of_paired_points(number: int, simulations: int) -> Iterator[list[Any]]:
    """Coverage of the difference between models with d' = 2 and 1.6, of fpr and 1.2 fpr."""
    n_pos, n_neg, fpr, shared = FLAGGED[number]
    rng, parts, normal = np.random.default_rng([SEED, 11, number]), [], NormalDist()
    n, risk, eta = n_pos + n_neg, 0.1, 0.1
    cut = normal.inv_cdf(1 - fpr)
    moved = cut - normal.inv_cdf(1 - 1.2 * fpr)
    batch = max(1, PER_BATCH // (2 * n))
    for start in range(0, simulations, batch):
        sets = min(batch, simulations - start)
        label = np.arange(n * sets) % n < n_pos
        both = shared**0.5 * rng.normal(size=n * sets)
        a, b = (both + (1 - shared) ** 0.5 * rng.normal(size=n * sets) for _ in "ab")
        columns = {"simulation": start + np.arange(n * sets) // n, "label": label}
        scores = {"a": a + SHIFT * label, "b": b + moved + 1.6 * label}
        asked: Any = [metrics.net_benefit(risk), "recall", "fpr"]
        parts.append(
            pl.DataFrame(columns | scores).prc.compare(
                ["a", "b"], eta, metrics=asked, threshold=cut, by="simulation", confidence=CONFIDENCE
            )
        )
    found = pl.concat(parts)
    recalls = [1 - normal.cdf(cut - SHIFT), 1 - normal.cdf(cut - moved - 1.6)]
    recall, of_fpr = recalls[0] - recalls[1], -0.2 * fpr
    benefit = eta * recall - (1 - eta) * risk / (1 - risk) * of_fpr
    truths = {f"net_benefit({risk:g})": benefit, "recall": recall, "fpr": of_fpr}
    for name, truth in truths.items():
        of = found.filter(metric=name)
        share, inside = hold(of, "low", "high", truth)
        marked = of["reliable"].fill_null(value=False)
        of_marked = float(inside.filter(marked).mean() or 0.0) if marked.any() else None
        yield [
            name,
            n_pos,
            n_neg,
            f"{fpr:g}",
            f"{shared:g}",
            share,
            float(marked.mean() or 0.0),
            of_marked,
        ]


def paired_points(simulations: int) -> str:
    rows = [row for i in range(len(FLAGGED)) for row in of_paired_points(i, simulations)]
    heads = ("metric", "P", "N", "fpr", "shared", "coverage", "reliable", "coverage of these")
    text = "### Differences at one threshold\n\n" + table(
        heads, [[*row[:5], *map(percent, row[5:])] for row in rows]
    )
    lines = []
    for least in (0.9, 0.5, FEW_MARKED):
        shares = [row[7] for row in rows if row[6] >= least]
        lines.append([percent(least), len(shares), percent(min(shares)), percent(max(shares))])
    heads = ("marked, at least", "cells", "coverage of these: least", "greatest")
    return text + "\n### Verdict: differences at one threshold\n\n" + table(heads, lines)


TASKS = {
    "weights": weights,
    "clusters": clusters,
    "cluster_bands": cluster_bands,
    "cluster_pairs": cluster_pairs,
    "paired_points": paired_points,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of intervals of sampled and clustered rows.")
    parser.add_argument("--simulations", type=int, default=2000, help="test sets a cell")
    names = {"nargs": "+", "choices": list(TASKS), "default": list(TASKS), "metavar": "NAME"}
    parser.add_argument("--only", **names, help=f"any of {', '.join(TASKS)}")
    given = parser.parse_args()
    start = perf_counter()
    for name in given.only:
        print(TASKS[name](given.simulations))
    print(f"{perf_counter() - start:.0f} seconds")


if __name__ == "__main__":
    main()
