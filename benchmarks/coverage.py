"""How often the intervals of the library hold the truth, beside the 95 % that they name.

    python benchmarks/coverage.py [--simulations N] [--only NAME ...] [--json FILE]

Test sets are drawn from populations whose every rate is known, and the library is asked for its
intervals of all sets of a cell at once, `by="simulation"`. A set has one row per positive and one
for the negatives between two of them, which changes no metric here and keeps tables short.
Where a sample has no interval, it claims nothing: coverage is that of the others.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

import polars_prcurve
from polars_prcurve import metrics

CONFIDENCE = 0.95
NEAR = (0.93, 0.97)
ETAS = (None, 0.1, 0.01, 0.001)
FALSE_POSITIVES = (1, 5, 20, 100)
"""That are expected at the thresholds of bands."""
SEED = 20
PER_BATCH = 2_000_000
"""Rows of a table that is compared."""

# Populations ----------------------------------------------------------------------------------


class Model(Protocol):
    """A population: the curve of rates that a very large test set would show."""

    name: str

    def fpr_at(self, recall: Any) -> Any: ...

    def recall_at(self, fpr: Any) -> Any: ...

    @property
    def levels(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """The shares of positives and negatives at each score, from the highest, or None."""
        ...


@dataclass(frozen=True)
class Shifted:
    """Scores of negatives are noise, those of positives noise and a shift."""

    name: str
    noise: Any
    shift: float
    levels: None = None

    def fpr_at(self, recall: Any) -> Any:
        return self.noise.sf(self.noise.isf(recall) + self.shift)

    def recall_at(self, fpr: Any) -> Any:
        return self.noise.sf(self.noise.isf(fpr) - self.shift)


@dataclass(frozen=True)
class TwoNoises:
    """Scores of either class have a distribution of their own."""

    name: str
    positive: Any
    negative: Any
    levels: None = None

    def fpr_at(self, recall: Any) -> Any:
        return self.negative.sf(self.positive.isf(recall))

    def recall_at(self, fpr: Any) -> Any:
        return self.positive.sf(self.negative.isf(fpr))


class Mixture:
    """A mean of normal distributions with standard deviation 1, by weight and mean."""

    def __init__(self, *parts: tuple[float, float]) -> None:
        self.parts = parts
        self.grid = np.linspace(-12, 16, 400_001)
        self.rates = self.sf(self.grid)

    def sf(self, score: Any) -> Any:
        return sum(weight * stats.norm.sf(score, loc=mean) for weight, mean in self.parts)

    def isf(self, rate: Any) -> Any:
        return np.interp(rate, self.rates[::-1], self.grid[::-1])


@dataclass(frozen=True)
class Levels:
    """Scores that take a few values, by falling score."""

    name: str
    positive: tuple[float, ...]
    negative: tuple[float, ...]

    @property
    def levels(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return np.array(self.positive), np.array(self.negative)

    def fpr_at(self, recall: Any) -> Any:
        return np.interp(recall, np.cumsum([0, *self.positive]), np.cumsum([0, *self.negative]))

    def recall_at(self, fpr: Any) -> Any:
        return np.interp(fpr, np.cumsum([0, *self.negative]), np.cumsum([0, *self.positive]))


SHIFTED = (
    Shifted("normal, d' = 1", stats.norm(), 1),
    Shifted("normal, d' = 2", stats.norm(), 2),
    Shifted("t3, shift 2", stats.t(3), 2),
)
MODELS: tuple[Model, ...] = (
    *SHIFTED,
    Shifted("normal, d' = 3", stats.norm(), 3),
    TwoNoises("beta", stats.beta(3, 1.5), stats.beta(1.5, 3)),
    TwoNoises("mixture", Mixture((0.6, 3), (0.4, 0)), Mixture((0.98, 0), (0.02, 2.5))),
    Levels("five levels", (0.35, 0.25, 0.2, 0.12, 0.08), (0.01, 0.04, 0.15, 0.3, 0.5)),
)


@dataclass(frozen=True)
class Cell:
    """Test sets of one size from one population."""

    model: Model
    n_pos: int
    n_neg: int

    def rng(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng([SEED, purpose, MODELS.index(self.model), self.n_pos, self.n_neg])

    def eta(self, eta: float | None) -> float:
        return self.n_pos / (self.n_pos + self.n_neg) if eta is None else eta

    @property
    def etas(self) -> pl.DataFrame:
        """What a prevalence is called."""
        names = ["own" if eta is None else f"{eta:g}" for eta in ETAS]
        return pl.DataFrame({"eta": [self.eta(eta) for eta in ETAS], "at": names})


SIZES = [*product((20, 100, 1000), (10, 100)), (200, 1), (50, 100)]
"""Positives, and negatives for each of them."""
CELLS = [Cell(model, p, times * p) for model, (p, times) in product(MODELS, SIZES)]


COMPARED_SIZES = ((20, 200), (20, 5000), (50, 500), (100, 1000), (200, 2000), (1000, 10_000))


def precision(recall: Any, fpr: Any, eta: float) -> Any:
    return recall / (recall + fpr * (1 - eta) / eta)


@cache
def average_precision(model: Model, eta: float, n: int = 400_000) -> float:
    """The mean precision over recalls, taken more closely where they are small."""
    if model.levels is not None:
        positive, negative = model.levels
        return float(np.sum(positive * precision(np.cumsum(positive), np.cumsum(negative), eta)))
    middle = (np.arange(n) + 0.5) / n
    recall, weight = middle**4, 4 * middle**3 / n
    return float(np.sum(weight * precision(recall, model.fpr_at(recall), eta)))


@cache
def roc_auc(model: Model, _eta: float, n: int = 400_000) -> float:
    recall = (np.arange(n) + 0.5) / n
    return float(1 - np.mean(model.fpr_at(recall)))


def precision_at(recall: float) -> Callable[[Model, float], float]:
    return lambda model, eta: float(precision(recall, model.fpr_at(recall), eta))


# Test sets ------------------------------------------------------------------------------------


def test_sets(cell: Cell, simulations: int) -> pl.DataFrame:
    """Counts by score, for `counts=`: positives, and negatives above, between and below them."""
    rng = cell.rng(0)
    if cell.model.levels is not None:
        n_rows = len(cell.model.levels[0])
        n_pos, n_neg = (
            rng.multinomial(size, shares, size=simulations)
            for size, shares in zip((cell.n_pos, cell.n_neg), cell.model.levels, strict=True)
        )
    else:
        n_rows = 2 * cell.n_pos + 1
        # A positive drawn at random stands at a recall drawn at random.
        above = np.sort(cell.model.fpr_at(rng.random((simulations, cell.n_pos))), axis=1)
        shares = np.diff(above, axis=1, prepend=0, append=1).clip(0)
        n_pos = np.tile(np.arange(n_rows) % 2, (simulations, 1))
        n_neg = np.zeros((simulations, n_rows), dtype=np.int64)
        n_neg[:, 0::2] = rng.multinomial(cell.n_neg, shares / shares.sum(axis=1, keepdims=True))
    return pl.DataFrame(
        {
            "simulation": np.repeat(np.arange(simulations), n_rows),
            "score": np.tile(np.arange(n_rows, 0, -1), simulations),
            "n_pos": n_pos.ravel(),
            "n_neg": n_neg.ravel(),
        }
    )


def sets_at(cell: Cell, fprs: Sequence[float], simulations: int) -> pl.DataFrame:
    """The same between fixed thresholds, which are numbered; the last row is all that is below."""
    rng = cell.rng(1)
    rising = np.array([*fprs, 1.0])
    sides = {"n_pos": (cell.n_pos, cell.model.recall_at(rising)), "n_neg": (cell.n_neg, rising)}
    drawn = {
        name: rng.multinomial(size, np.diff(rates, prepend=0), size=simulations).ravel()
        for name, (size, rates) in sides.items()
    }
    number = np.repeat(np.arange(simulations), len(rising))
    return pl.DataFrame(
        {"simulation": number, "score": np.tile(-np.arange(len(rising)), simulations)} | drawn
    )


def equal_scores(cell: Cell, simulations: range, rng: np.random.Generator) -> pl.DataFrame:
    """Scores of two models, `a` and `b`, that are equally good and err alike."""
    assert isinstance(cell.model, Shifted)
    size = cell.n_pos + cell.n_neg
    normal = rng.normal(size=(3, len(simulations), size))
    noise = (normal[:2] + normal[2]) / 2**0.5
    if cell.model.noise.dist.name == "t":
        (freedom,) = cell.model.noise.args
        noise /= np.sqrt(rng.chisquare(freedom, size=noise.shape[1:]) / freedom)
    label = np.arange(size) < cell.n_pos
    a, b = (noise + cell.model.shift * label).reshape(2, -1)
    number = np.repeat(np.array(simulations), size)
    return pl.DataFrame(
        {"simulation": number, "label": np.tile(label, len(simulations)), "a": a, "b": b}
    )


# What is measured -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Coverage:
    """Of the intervals of a metric in all test sets of a cell. Shares of 1."""

    method: str
    model: str
    n_pos: int
    n_neg: int
    at: str
    """A prevalence, or how many false positives are expected at the threshold."""
    simulations: int
    none: float
    """Had no interval."""
    coverage: float | None
    reliable: float | None
    """Were marked so."""
    of_reliable: float | None
    """The coverage of these."""
    width: float | None

    @property
    def cell(self) -> tuple[str, int, int, str]:
        return self.model, self.n_pos, self.n_neg, self.at

    @property
    def row(self) -> list[Any]:
        shares = (self.coverage, self.none, self.reliable, self.of_reliable)
        width = "" if self.width is None else f"{self.width:.4f}"
        return [self.model, self.n_pos, self.n_neg, self.at, *map(percent, shares), width]


HEADS = (
    "model",
    "P",
    "N",
    "eta",
    "coverage",
    "no interval",
    "reliable",
    "coverage of these",
    "mean width",
)


@dataclass(frozen=True)
class Asked:
    """A curve metric, by which method, and the truth of it."""

    name: str
    metric: Any
    truth: Callable[[Model, float], float]
    method: str = "analytic"
    depends_on_eta: bool = True

    @property
    def label(self) -> str:
        return f"{getattr(self.metric, 'name', self.metric)} {self.method}"

    def share(self, n_pos: int) -> float:
        """How many of the test sets are used: replicates of many positives take their time."""
        return 1 if self.method == "analytic" else 0.2 if n_pos < 1000 else 0.1


ASKED = (
    Asked("average_precision", "average_precision", average_precision),
    Asked("bootstrap", "average_precision", average_precision, method="bootstrap"),
    Asked("roc_auc", "roc_auc", roc_auc, depends_on_eta=False),
    Asked("precision_at_recall", metrics.precision_at_recall(0.5), precision_at(0.5)),
    Asked("precision_at_recall", metrics.precision_at_recall(0.8), precision_at(0.8)),
)
NOMINAL_BANDS = (("mover", "wilson"), ("mover", "jeffreys"), ("rectangle", "wilson"))
GUARANTEES = (("rectangle", "clopper_pearson"), ("rectangle", "hoeffding"))
NAMES = [*dict.fromkeys(asked.name for asked in ASKED), "bands", "compare", "uncertain_eta", "maxima"]
NAMES += ["guarantee", "ranking"]


def of_summary(asked: Asked, cell: Cell, sets: pl.DataFrame, simulations: int) -> Iterator[Coverage]:
    used = max(1, round(asked.share(cell.n_pos) * simulations))
    found = sets.filter(pl.col("simulation") < used).prc.summary(
        ETAS if asked.depends_on_eta else None,
        metrics=asked.metric,
        confidence=CONFIDENCE,
        method=asked.method,
        n_resamples=500,
        seed=SEED,
        by="simulation",
        counts=("n_pos", "n_neg"),
    )
    for (eta, at), part in found.join(cell.etas, on="eta").group_by("eta", "at", maintain_order=True):
        yield covered(asked.label, cell, str(at), part, asked.truth(cell.model, float(eta)))


def of_bands(cell: Cell, simulations: int) -> Iterator[Coverage]:
    """Bands of precision at thresholds; their coverage is the same at any prevalence."""
    expected = [n for n in FALSE_POSITIVES if n < cell.n_neg]
    thresholds = {f"{n} fp": n / cell.n_neg for n in expected} | {"recall 0.5": cell.model.fpr_at(0.5)}
    thresholds = dict(sorted(thresholds.items(), key=lambda item: item[1]))
    fprs, eta = list(thresholds.values()), 0.01
    sets = sets_at(cell, fprs, simulations)
    for band, interval in NOMINAL_BANDS + GUARANTEES:
        found = sets.prc.operating_points(
            eta,
            threshold=[-number for number in range(len(fprs))],
            metrics="precision",
            confidence=CONFIDENCE,
            band=band,
            interval=interval,
            by="simulation",
            counts=("n_pos", "n_neg"),
        ).rename({"precision_low": "low", "precision_high": "high"})
        for number, (at, fpr) in enumerate(thresholds.items()):
            truth = precision(cell.model.recall_at(fpr), fpr, eta)
            part = found.filter(pl.col("threshold") == -number).with_columns(reliable=None)
            yield covered(f"band {band} {interval}", cell, at, part, truth)


def covered(method: str, cell: Cell, at: str, found: pl.DataFrame, truth: float) -> Coverage:
    """From one row per test set: low, high and reliable."""
    holds = (pl.col("low") <= truth) & (pl.col("high") >= truth)
    marked = pl.col("reliable").cast(pl.Boolean)
    shares = found.select(
        none=pl.any_horizontal(pl.col("low", "high").is_null()).mean(),
        coverage=holds.mean(),  # without nulls
        reliable=pl.when(marked.is_not_null().any()).then(marked.fill_null(value=False).mean()),
        of_reliable=holds.filter(marked).mean(),
        width=(pl.col("high") - pl.col("low")).mean(),
    )
    where = (cell.model.name, cell.n_pos, cell.n_neg, at)
    return Coverage(method, *where, found.height, **shares.row(0, named=True))


def covered_cells(names: Iterable[str], simulations: int) -> Iterator[Coverage]:
    asked = [asked for asked in ASKED if asked.name in names]
    for cell in CELLS:
        if asked:
            sets = test_sets(cell, simulations)
            for one in asked:
                yield from of_summary(one, cell, sets, simulations)
        if "bands" in names:
            yield from of_bands(cell, 10 * simulations)


@dataclass(frozen=True)
class Rejected:
    """How often two equally good models were told apart at 5 %."""

    metric: str
    model: str
    n_pos: int
    n_neg: int
    at: str
    simulations: int
    share: float

    @property
    def row(self) -> list[Any]:
        return [self.model, self.n_pos, self.n_neg, self.metric, self.at, percent(self.share)]


def rejected(cell: Cell, simulations: int) -> Iterator[Rejected]:
    rng, step = cell.rng(2), max(1, PER_BATCH // (cell.n_pos + cell.n_neg))
    etas = [cell.eta(None), 0.1, 0.01, 0.001]
    found = pl.concat(
        equal_scores(cell, range(first, min(first + step, simulations)), rng).prc.compare(
            ["a", "b"], eta=etas, metrics=("roc_auc", "average_precision"), by="simulation"
        )
        for first in range(0, simulations, step)
    )
    found = found.join(cell.etas, on="eta").sort("metric", "eta", descending=True)
    for (metric, at), part in found.group_by("metric", "at", maintain_order=True):
        if metric == "average_precision" or at == "own":
            where = (cell.model.name, cell.n_pos, cell.n_neg, str(at))
            share = part.select((pl.col("p_value") < 0.05).fill_null(value=False).mean()).item()
            yield Rejected(str(metric), *where, part.height, share)


# Prevalences that are estimates ---------------------------------------------------------------


@dataclass(frozen=True)
class Field:
    """A test set, with recall and fpr of a threshold, and a sample of n from the field."""

    n_pos: int
    n_neg: int
    recall: float
    fpr: float
    eta: float
    n: int

    @property
    def row(self) -> list[Any]:
        return [self.n_pos, self.n_neg, f"{self.recall:g}", f"{self.fpr:g}", f"{self.eta:g}", self.n]


FIELDS = [
    Field(50, 2000, 0.7, 0.01, 0.1, 50),
    Field(50, 2000, 0.7, 0.01, 0.1, 500),
    Field(200, 2000, 0.5, 0.02, 0.01, 500),
    Field(200, 20_000, 0.8, 0.005, 0.001, 10_000),
    Field(1000, 20_000, 0.8, 0.005, 0.1, 200),
    Field(1000, 20_000, 0.8, 0.005, 0.3, 100),
    Field(200, 2000, 0.5, 0.02, 0.01, 100),
    Field(200, 2000, 0.5, 0.02, 0.005, 100),
    Field(50, 5000, 0.9, 0.02, 0.05, 200),
    Field(20, 500, 0.6, 0.04, 0.2, 40),
    Field(100, 1000, 0.8, 0.05, 0.02, 300),
    Field(300, 300, 0.9, 0.3, 0.8, 50),
    Field(30, 300, 0.9, 0.1, 0.5, 60),
    Field(500, 50_000, 0.6, 0.0005, 0.0005, 20_000),
    Field(40, 4000, 0.95, 0.2, 0.02, 50),
    Field(5000, 50_000, 0.7, 0.01, 0.02, 1000),
]
"""The last six are beside those of the formulas."""
OF_A_POINT = (
    "precision",
    "f1",
    "lift",
    "npv",
    "accuracy",
    "mcc",
    "cohen_kappa",
    "predicted_positive_rate",
)
AREAS_IN_FIELDS = [(200, 2000, 0.1, 200), (200, 2000, 0.1, 2000), (50, 2000, 0.1, 100)]
AREAS_IN_FIELDS += [(200, 20_000, 0.01, 1000), (200, 20_000, 0.01, 10_000), (1000, 5000, 0.3, 100)]
AREAS_IN_FIELDS += [(100, 1000, 0.02, 200), (300, 300, 0.5, 50)]


def field_samples(rng: np.random.Generator, eta: float, n: int, simulations: int) -> pl.DataFrame:
    samples = {"simulation": np.arange(simulations), "k": rng.binomial(n, eta, simulations)}
    return polars_prcurve.eta_from_sample(pl.DataFrame(samples | {"n": [n] * simulations}))


def field_points(number: int, field: Field, simulations: int) -> list[Any]:
    """The coverage of each metric of a point, and that of precision with eta as if it were known."""
    rng = np.random.default_rng([SEED, 3, number])
    drawn = {
        name: np.stack([hits, size - hits], axis=1).ravel()
        for name, size, rate in (
            ("n_pos", field.n_pos, field.recall),
            ("n_neg", field.n_neg, field.fpr),
        )
        for hits in [rng.binomial(size, rate, simulations)]
    }
    both = {"simulation": np.arange(simulations).repeat(2), "score": np.tile([1, 0], simulations)}
    etas = field_samples(rng, field.eta, field.n, simulations)

    def cover(etas: pl.DataFrame) -> list[float]:
        found = pl.DataFrame(both | drawn).prc.operating_points(
            etas,
            threshold=1,
            metrics=OF_A_POINT,
            confidence=CONFIDENCE,
            by="simulation",
            counts=("n_pos", "n_neg"),
        )
        truths = {
            name: getattr(metrics, name)(field.recall, field.fpr, field.eta) for name in OF_A_POINT
        }
        holds = (
            ((pl.col(f"{name}_low") <= truth) & (pl.col(f"{name}_high") >= truth)).mean().alias(name)
            for name, truth in truths.items()
        )
        return list(found.select(holds).row(0))

    fixed = cover(etas.select("simulation", "eta"))[0]
    none_found = (etas["eta"] == 0).mean()
    return [*field.row, percent(none_found), percent(fixed), *map(percent, cover(etas))]


def field_areas(cell: Cell, eta: float, n: int, simulations: int) -> Iterator[list[Any]]:
    """The coverage of areas, and with eta as if it were known."""
    rng = np.random.default_rng([SEED, 4, MODELS.index(cell.model), cell.n_pos, cell.n_neg, n])
    sets, etas = test_sets(cell, simulations), field_samples(rng, eta, n, simulations)
    for asked in ASKED:
        if asked.method == "analytic" and asked.depends_on_eta:
            found = [
                covered(
                    "uncertain eta",
                    cell,
                    f"{eta:g}",
                    sets.prc.summary(
                        given,
                        metrics=asked.metric,
                        confidence=CONFIDENCE,
                        by="simulation",
                        counts=("n_pos", "n_neg"),
                    ),
                    asked.truth(cell.model, eta),
                )
                for given in (etas.select("simulation", "eta"), etas)
            ]
            name = getattr(asked.metric, "name", asked.metric)
            shares = [found[0].coverage, found[1].coverage, found[1].of_reliable]
            shares += [found[1].reliable, found[1].none]
            where = [cell.model.name, cell.n_pos, cell.n_neg, f"{eta:g}", n]
            yield [name, *where, *map(percent, shares)]


OWN_SAMPLES = [(500, 0.1, 0.7, 0.03), (2000, 0.02, 0.6, 0.01), (200, 0.3, 0.8, 0.1)]
OWN_SAMPLES += [(20_000, 0.005, 0.7, 0.004)]
"""Test sets that are random samples of the field: their size, eta, recall and fpr."""


def own_sample(number: int, simulations: int) -> Iterator[list[Any]]:
    """The coverage with the own prevalence of a random test set, as a number and with its interval."""
    n, eta, recall, fpr = OWN_SAMPLES[number]
    rng = np.random.default_rng([SEED, 6, number])
    k = rng.binomial(n, eta, simulations)
    drawn = {"n_pos": (k, recall), "n_neg": (n - k, fpr)}
    sides = {}
    for name, (sizes, rate) in drawn.items():
        hits = rng.binomial(sizes, rate)
        sides[name] = np.stack([hits, sizes - hits], axis=1).ravel()
    both = {"simulation": np.arange(simulations).repeat(2), "score": np.tile([1, 0], simulations)}
    sample = pl.DataFrame({"simulation": np.arange(simulations), "k": k, "n": [n] * simulations})
    for metric in ("precision", "f1", "npv", "predicted_positive_rate"):
        truth, shares = getattr(metrics, metric)(recall, fpr, eta), []
        for given in (None, polars_prcurve.eta_from_sample(sample)):
            found = pl.DataFrame(both | sides).prc.operating_points(
                given,
                threshold=1,
                metrics=metric,
                confidence=CONFIDENCE,
                by="simulation",
                counts=("n_pos", "n_neg"),
            )
            holds = (pl.col(f"{metric}_low") <= truth) & (pl.col(f"{metric}_high") >= truth)
            shares.append(found.select(holds.mean()).item())
        yield [n, f"{eta:g}", f"{recall:g}", f"{fpr:g}", metric, *map(percent, shares)]


def uncertain_etas(simulations: int) -> Iterator[str]:
    heads = ["P", "N", "recall", "fpr", "eta", "n", "k = 0, %", "eta as fixed", *OF_A_POINT]
    rows = [field_points(i, field, 10 * simulations) for i, field in enumerate(FIELDS)]
    yield f"### points at an uncertain eta, {10 * simulations} test sets a cell\n\n" + table(heads, rows)
    rows = [
        row
        for name in ("beta", "mixture", "five levels")
        for n_pos, n_neg, eta, n in AREAS_IN_FIELDS
        for model in MODELS
        if model.name == name
        for row in field_areas(Cell(model, n_pos, n_neg), eta, n, simulations)
    ]
    own = [row for i in range(len(OWN_SAMPLES)) for row in own_sample(i, 10 * simulations)]
    heads = ["n", "eta", "recall", "fpr", "metric", "eta=None", "eta_from_sample"]
    yield f"### random test sets, {10 * simulations} a cell\n\n" + table(heads, own)
    heads = ["metric", "model", "P", "N", "eta", "n", "eta as fixed", "coverage", "of reliable"]
    heads += ["reliable", "no interval"]
    yield f"### areas at an uncertain eta, {simulations} test sets a cell\n\n" + table(heads, rows)


# What was maximized ---------------------------------------------------------------------------

MAXIMA = [
    ("beta", 20, 200, 0.1),
    ("mixture", 50, 2000, 0.1),
    ("beta", 50, 500, 0.5),
    ("t3, shift 2", 50, 2000, 0.1),
    ("mixture", 200, 2000, 0.1),
    ("beta", 200, 2000, 0.01),
    ("five levels", 50, 1000, 0.1),
    ("t3, shift 2", 1000, 5000, 0.1),
    ("normal, d' = 1", 30, 300, 0.1),
    ("normal, d' = 2", 100, 100, 0.5),
    ("normal, d' = 3", 100, 10_000, 0.01),
    ("normal, d' = 3", 20, 2000, 0.001),
    ("five levels", 500, 5000, 0.01),
]
"""Population, positives, negatives and prevalence. The last five are beside those of the formulas."""


def placed_sets(cell: Cell, simulations: int) -> pl.DataFrame:
    """Examples whose score is minus the true fpr of a threshold there; of levels, minus their number."""
    rng = cell.rng(5)
    if cell.model.levels is not None:
        shares = dict(zip(("n_pos", "n_neg"), cell.model.levels, strict=True))
        sizes = {"n_pos": cell.n_pos, "n_neg": cell.n_neg}
        n = len(shares["n_pos"])
        drawn = {k: rng.multinomial(sizes[k], shares[k], simulations).ravel() for k in sizes}
        score = -np.tile(np.arange(n), simulations).astype(float)
        return pl.DataFrame({"simulation": np.arange(simulations).repeat(n), "score": score} | drawn)
    pos = cell.model.fpr_at(rng.random((simulations, cell.n_pos)))
    score = -np.concatenate([pos, rng.random((simulations, cell.n_neg))], axis=1)
    label = np.tile(np.arange(score.shape[1]) < cell.n_pos, simulations)
    number = np.arange(simulations).repeat(score.shape[1])
    return pl.DataFrame(
        {"simulation": number, "score": score.ravel(), "n_pos": 1 * label, "n_neg": 1 * ~label}
    )


def true_rates(model: Model, score: NDArray[np.float64]) -> tuple[Any, Any]:
    """Recall and fpr in the population, at thresholds of `placed_sets`."""
    if model.levels is None:
        return model.recall_at(-score), -score
    levels = (-score).astype(int)
    positive, negative = (np.cumsum(side).clip(0, 1)[levels] for side in model.levels)
    return positive, negative


def maximum_rows(cell: Cell, eta: float, simulations: int) -> Iterator[list[Any]]:
    """The error of what a maximum promises, and the coverage of its interval, plain and corrected."""
    sets = placed_sets(cell, simulations)
    for target, metric in (("f1", "f1"), ("mcc", "mcc"), ("f1", "precision")):
        asked: dict[str, Any] = {"maximize": target, "metrics": metric, "confidence": CONFIDENCE}
        asked |= {"by": "simulation", "counts": ("n_pos", "n_neg")}
        plain = sets.prc.operating_points(eta, **asked)
        found = sets.prc.operating_points(eta, **asked, method="bootstrap", n_resamples=200, seed=SEED)
        truth = getattr(metrics, metric)(*true_rates(cell.model, found["threshold"].to_numpy()), eta)
        held = [
            one.select(
                below=(pl.col(f"{metric}_high") < truth).mean(),
                above=(pl.col(f"{metric}_low") > truth).mean(),
            ).row(0)
            for one in (plain, found)
        ]
        errors = [float((found[name] - truth).mean()) for name in (metric, f"{metric}_corrected")]
        none = found[f"{metric}_low"].is_null().mean()
        where = [cell.model.name, cell.n_pos, cell.n_neg, f"{eta:g}", target, metric]
        shares = [share for low, high in held for share in (1 - low - high, high)]
        yield [*where, *(f"{error:.3f}" for error in errors), *map(percent, (*shares, none))]


def maxima(simulations: int) -> str:
    heads = ["model", "P", "N", "eta", "maximized", "metric", "too high by", "corrected"]
    heads += ["plain", "too high", "shifted", "too high", "no interval"]
    by_name = {model.name: model for model in MODELS}
    rows = [
        row
        for name, n_pos, n_neg, eta in MAXIMA
        for row in maximum_rows(Cell(by_name[name], n_pos, n_neg), eta, simulations)
    ]
    return f"### maxima, {simulations} test sets a cell\n\n" + table(heads, rows)


# Promises -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Straight:
    """A curve that is a line up to a recall: precision is the same at all thresholds up to there."""

    name: str
    ratio: float
    """The fpr per recall on the line."""
    most: float = 0.9
    levels: None = None

    def fpr_at(self, recall: Any) -> Any:
        return np.interp(recall, [0, self.most, 1], [0, self.most * self.ratio, 1])

    def recall_at(self, fpr: Any) -> Any:
        return np.interp(fpr, [0, self.most * self.ratio, 1], [0, self.most, 1])


@dataclass(frozen=True)
class Design:
    """Test sets in which a precision is promised."""

    model: Model
    n_pos: int
    n_neg: int
    at: float
    target: float

    @property
    def ratio(self) -> float:
        """The fpr per recall at which the target is just met."""
        return self.at * (1 - self.target) / ((1 - self.at) * self.target)

    @property
    def best_recall(self) -> float:
        """The greatest recall of a threshold that keeps the promise; 0 if there is none."""
        if self.model.levels is not None:
            recall, fpr = (np.cumsum(shares) for shares in self.model.levels)
        else:
            fpr = np.concatenate([np.geomspace(1e-9, 1, 200_001), np.linspace(1e-5, 1, 100_001)])
            recall = np.asarray(self.model.recall_at(fpr))
        return float(np.max(recall, where=fpr <= self.ratio * recall, initial=0))


def normal(shift: float) -> Shifted:
    return Shifted(f"normal, d' = {shift:g}", stats.norm(), shift)


def student(shift: float) -> Shifted:
    return Shifted(f"t3, shift {shift:g}", stats.t(3), shift)


BETA, MIXTURE, FIVE = MODELS[-3:]
DESIGNS = [
    *(Design(normal(2), p, n, at, x) for p, n, at, x in [(20, 500, 0.1, 0.5), (100, 1000, 0.1, 0.8)]),
    Design(normal(2), 100, 5000, 0.01, 0.8),
    *(Design(normal(2.5), p, n, 0.1, x) for p, n, x in [(50, 2000, 0.5), (100, 1000, 0.8)]),
    Design(normal(3), 50, 50_000, 0.001, 0.2),
    Design(normal(3), 200, 10_000, 0.01, 0.5),
    Design(normal(3), 1000, 10_000, 0.01, 0.9),
    Design(normal(3.5), 20, 1000, 0.1, 0.8),
    Design(normal(3.5), 500, 5000, 0.01, 0.8),
    Design(normal(3.5), 1000, 20_000, 0.001, 0.5),
    Design(normal(4), 100, 100_000, 0.0002, 0.2),
    Design(normal(4), 1000, 100_000, 0.001, 0.8),
    Design(normal(4.5), 500, 100_000, 0.0002, 0.5),
    Design(normal(5), 200, 50_000, 0.0002, 0.2),
    *(
        Design(BETA, p, n, at, x)
        for p, n, at, x in [
            *((200, 2000, 0.1, 0.5), (200, 20_000, 0.5, 0.8)),
            *((1000, 5000, 0.1, 0.8), (1000, 20_000, 0.1, 0.6)),
        ]
    ),
    *(
        Design(student(shift), p, n, at, x)
        for shift, p, n, at, x in [
            *((3, 200, 2000, 0.5, 0.95), (3, 1000, 50_000, 0.1, 0.5), (3, 200, 2000, 0.1, 0.95)),
            *((4, 500, 20_000, 0.1, 0.8), (4, 200, 5000, 0.1, 0.4)),
        ]
    ),
    *(
        Design(MIXTURE, p, n, at, x)
        for p, n, at, x in [(200, 2000, 0.1, 0.6), (1000, 20_000, 0.1, 0.7), (200, 2000, 0.5, 0.99)]
    ),
    *(
        Design(FIVE, p, n, at, x)
        for p, n, at, x in [(200, 2000, 0.1, 0.5), (50, 1000, 0.5, 0.95), (100, 1000, 0.1, 0.8)]
    ),
    *(
        Design(
            Straight(f"line, precision {'just below' if below else 'above'}", by * ratio), p, n, at, x
        )
        for below, by, ratio, p, n, at, x in [
            (True, 1.001, 0.1 * 0.5 / (0.9 * 0.5), 200, 2000, 0.1, 0.5),
            (True, 1.001, 0.01 * 0.2 / (0.99 * 0.8), 500, 10_000, 0.01, 0.8),
            (True, 1.001, 0.5 * 0.2 / (0.5 * 0.8), 100, 5000, 0.5, 0.8),
            (False, 0.5, 0.1 * 0.2 / (0.9 * 0.8), 200, 2000, 0.1, 0.8),
        ]
    ),
]


def promised_sets(design: Design, number: int, simulations: int) -> pl.DataFrame:
    """Counts by score, for `counts=`; a score is the share of negatives above it, negated.

    Where the promise is kept in the sample, there are at most P + N * ratio alerts, so the rows below
    twice as many are one row.
    """
    rng = np.random.default_rng([SEED, 3, number])
    if design.model.levels is not None:
        n_rows = len(design.model.levels[0])
        n_pos, n_neg = (
            rng.multinomial(size, shares, size=simulations).ravel()
            for size, shares in zip((design.n_pos, design.n_neg), design.model.levels, strict=True)
        )
        sets = {"simulation": np.repeat(np.arange(simulations), n_rows)}
        sets["score"] = np.tile(-np.arange(n_rows, dtype=float), simulations)
        return pl.DataFrame({**sets, "n_pos": n_pos, "n_neg": n_neg})
    kept = min(
        design.n_pos + design.n_neg, round(2 * (design.n_pos + design.n_neg * design.ratio)) + 100
    )
    parts = []
    for simulation in range(simulations):
        above = np.concatenate([design.model.fpr_at(rng.random(design.n_pos)), rng.random(design.n_neg)])
        first = np.argsort(above)[:kept]
        positive = first < design.n_pos
        scores, n_pos, n_neg = -above[first], positive.astype(int), (~positive).astype(int)
        n_pos[-1] += design.n_pos - n_pos.sum()
        n_neg[-1] += design.n_neg - n_neg.sum()
        part = {"score": scores, "n_pos": n_pos, "n_neg": n_neg}
        parts.append(pl.DataFrame(part).with_columns(simulation=simulation))
    return pl.concat(parts)


@dataclass(frozen=True)
class Promised:
    """Of the thresholds of a design: shares of its test sets, and recall as a share of the best."""

    model: str
    n_pos: int
    n_neg: int
    at: float
    target: float
    simulations: int
    best_recall: float
    broken_by_point: float
    """Of the lowest thresholds whose precision in the sample meets the target."""
    broken_by_any: float
    """Of the lowest thresholds whose test passes, of all that are tested."""
    broken: float
    found: float
    recall_share: float | None
    """The mean over test sets in which a threshold was found."""

    @property
    def row(self) -> list[Any]:
        where = [self.model, self.n_pos, self.n_neg, f"{self.at:g}", f"{self.target:g}"]
        broken = (self.broken_by_point, self.broken_by_any, self.broken)
        shares = (self.best_recall, *broken, self.found, self.recall_share)
        return [*where, *map(percent, shares)]


PROMISED_HEADS = (
    *("model", "P", "N", "eta", "precision", "best recall", "broken without", "lowest that passes"),
    "broken",
    *("found", "share of best recall"),
)


def promised(simulations: int, level: float = CONFIDENCE) -> Iterator[Promised]:
    for number, design in enumerate(DESIGNS):
        sets = promised_sets(design, number, simulations)
        asked = {"precision": design.target, "by": "simulation", "counts": ("n_pos", "n_neg")}
        plain, sure = (
            outcome(design, sets.prc.operating_points(design.at, **asked, **more)["threshold"])
            for more in ({}, {"guarantee": level})
        )
        where = (design.model.name, design.n_pos, design.n_neg, design.at, design.target, simulations)
        lowest = outcome(design, lowest_passing(design, sets, 1 - level))
        yield Promised(*where, design.best_recall, plain[0], lowest[0], *sure)


def lowest_passing(design: Design, sets: pl.DataFrame, alpha: float) -> pl.Series:
    """The lowest thresholds that pass, wherever they are: a choice among all tests."""
    found = sets.prc.sweep(by="simulation", counts=("n_pos", "n_neg"))
    tp, fp = found["tp"].to_numpy(), found["fp"].to_numpy()
    odds = design.n_neg * design.ratio / design.n_pos
    passes = (tp > 0) & (stats.binom.cdf(fp, tp + fp, odds / (1 + odds)) <= alpha)
    chosen = found.filter(passes).group_by("simulation").agg(pl.col("threshold").min())
    return sets.select("simulation").unique().join(chosen, on="simulation", how="left")["threshold"]


def outcome(design: Design, thresholds: pl.Series) -> tuple[float, float, float | None]:
    """How often a promise is broken, a threshold found, and the recall as a share of the best."""
    found = -thresholds.drop_nulls().to_numpy()
    if design.model.levels is not None:
        recall, fpr = (np.cumsum(shares)[found.astype(int)] for shares in design.model.levels)
    else:
        recall, fpr = np.asarray(design.model.recall_at(found)), found
    n, best = len(thresholds), design.best_recall
    broken = float(np.sum(fpr > design.ratio * recall * (1 + 1e-9)) / n)
    share = float(recall.mean() / best) if len(found) > 0.01 * n and best > 0 else None
    return broken, len(found) / n, share


def summary_of_promises(found: Sequence[Promised]) -> str:
    reachable = [one for one in found if one.best_recall > 0]
    of_best = [one.found * (one.recall_share or 0) for one in reachable]
    without = [one.broken_by_point for one in found if one.model != FIVE.name]
    return (
        f"{len(found)} designs: broken at most {percent(max(one.broken for one in found))} %, "
        f"mean {percent(float(np.mean([one.broken for one in found])))}; "
        f"without guarantee {percent(float(np.mean(without)))} on average, where scores do not tie; "
        f"in {len(reachable)} reachable ones found in "
        f"{percent(float(np.mean([one.found for one in reachable])))} %, and "
        f"{percent(float(np.mean(of_best)))} % of the best recall (none found as 0)\n"
    )


# What it says ---------------------------------------------------------------------------------


def percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"


def is_near(share: float | None) -> bool:
    return share is not None and NEAR[0] <= share <= NEAR[1]


def coverage_tables(found: Sequence[Coverage]) -> Iterator[str]:
    for method in dict.fromkeys(one.method for one in found):
        of = [one for one in found if one.method == method]
        numbers = sorted({one.simulations for one in of}, reverse=True)
        heads = ["at" if head == "eta" and method.startswith("band") else head for head in HEADS]
        sets = " or ".join(map(str, numbers))
        yield f"### {method}, {sets} test sets a cell\n\n" + table(heads, (one.row for one in of))


def verdict_of_methods(found: Sequence[Coverage]) -> str:
    """The range of coverage, where nearly all samples are marked reliable."""
    rows = []
    guarantees = [f"band {band} {interval}" for band, interval in GUARANTEES]
    for method in dict.fromkeys(one.method for one in found):
        of = [one for one in found if one.method == method]
        if method in guarantees:
            rows.append([method, "any", *summarized([one.coverage for one in of])])
            continue
        if all(one.reliable is None for one in of):
            places = {at: [one.coverage for one in of if one.at == at] for at in (one.at for one in of)}
            rows += [[method, at, *summarized(shares)] for at, shares in places.items()]
            continue
        marked = [one.of_reliable for one in of if one.reliable is not None and one.reliable >= 0.95]
        rows.append([method, "reliable", *summarized(marked)])
    heads = ("method", "cells that are", "cells", "coverage", "of them 93 to 97 %")
    return "### Verdict: methods\n\n" + table(heads, rows)


def summarized(shares: Iterable[float | None]) -> list[Any]:
    known = [share for share in shares if share is not None]
    if not known:
        return [0, "", ""]
    return [len(known), f"{percent(min(known))} .. {percent(max(known))}", sum(map(is_near, known))]


def verdict_of_cells(found: Sequence[Coverage], fewest: int = 5) -> str:
    """Which methods are near the level, reliable or not, where enough false positives are."""
    nominal = [one for one in found if not one.method.startswith("band rectangle")]
    methods = list(dict.fromkeys(one.method for one in nominal))
    at_any = {"roc_auc analytic": "own"} | {name: "recall 0.5" for name in methods if "band" in name}
    by_place = {(one.method, *one.cell): one for one in nominal}
    rows = []
    for cell, at in product(CELLS, CELLS[0].etas["at"]):
        if cell.n_pos < 100 or cell.model.fpr_at(0.5) * cell.n_neg < fewest:
            continue
        where = (cell.model.name, cell.n_pos, cell.n_neg)
        places = [by_place.get((name, *where, at_any.get(name, at))) for name in methods]
        shares = [None if one is None else one.coverage for one in places]
        marks = [f"**{percent(share)}**" if is_near(share) else percent(share) for share in shares]
        met = {name.split()[0] for name, share in zip(methods, shares, strict=True) if is_near(share)}
        missed = dict.fromkeys(name.split()[0] for name in methods if name.split()[0] not in met)
        rows.append([*where, at, *marks, ", ".join(missed) if met else "ALL"])
    heads = ("model", "P", "N", "eta", *methods, "no method for")
    text = "### Verdict: cells of 100 positives and more, 93 to 97 % in bold\n\n"
    return text + table(heads, rows)


def outside(found: Sequence[Coverage]) -> str:
    """Where what is marked reliable is not near the level by more than two standard errors."""
    rows = []
    for one in found:
        if not one.reliable or one.of_reliable is None:
            continue
        n = one.reliable * one.simulations
        error = (CONFIDENCE * (1 - CONFIDENCE) / n) ** 0.5
        if not NEAR[0] - 2 * error <= one.of_reliable <= NEAR[1] + 2 * error:
            rows.append([one.method, *one.row, round(n)])
    heads = ("method", *HEADS, "samples of these")
    return "### Reliable, and outside 93 to 97 % by more than 2 standard errors\n\n" + table(heads, rows)


# The command ----------------------------------------------------------------------------------


def compared(simulations: int) -> list[Rejected]:
    found: list[Rejected] = []
    for model, (n_pos, n_neg) in product(SHIFTED, COMPARED_SIZES):
        used = simulations if n_pos < 1000 else max(1, simulations // 4)
        found += rejected(Cell(model, n_pos, n_neg), used)
    return found


def equal_models(simulations: int) -> Iterator[list[Any]]:
    """Yield how often `may_be_best` rules out one of several models that are equally good."""
    rng = np.random.default_rng(SEED)
    for (n_pos, n_neg), n_models, shared in product(
        ((20, 200), (60, 90), (100, 1000)), (3, 10), (True, False)
    ):
        used, n = simulations if n_pos < 100 else max(1, simulations // 2), n_pos + n_neg
        shape = used, n_models, n
        label = np.arange(n) < n_pos
        # Half of what moves a score is common to all models that share examples.
        common = rng.normal(size=(used, 1, n)) if shared else 0.0
        scores = 1.2 * label + (rng.normal(size=shape) + common) / math.sqrt(1 + shared)
        frame = pl.DataFrame(
            {
                "simulation": np.broadcast_to(np.arange(used)[:, None, None], shape).ravel(),
                "model": np.broadcast_to(np.arange(n_models)[:, None], shape).ravel(),
                "example": np.broadcast_to(np.arange(n), shape).ravel(),
                "label": np.broadcast_to(label, shape).ravel(),
                "score": scores.ravel(),
            }
        )
        found = frame.prc.ranking(
            [0.01, 0.1, 0.4],
            by="simulation",
            confidence=CONFIDENCE,
            id="example" if shared else None,
        )
        ruled_out = found.group_by("simulation", "eta").agg((~pl.col("may_be_best")).any())
        shares = ruled_out.group_by("eta").agg(pl.col("may_be_best").mean()).sort("eta")
        who = "the same" if shared else "their own"
        yield [n_pos, n_neg, n_models, who, *map(percent, shares["may_be_best"])]


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of intervals, beside the nominal 95 %.")
    parser.add_argument("--simulations", type=int, default=2000, help="test sets a cell")
    names = {"nargs": "+", "choices": NAMES, "default": NAMES, "metavar": "NAME"}
    parser.add_argument("--only", **names, help=f"any of {', '.join(NAMES)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here, too")
    given = parser.parse_args()
    start = perf_counter()
    found = list(covered_cells(given.only, given.simulations))
    for text in coverage_tables(found):
        print(text)
    tests = compared(given.simulations) if "compare" in given.only else []
    if tests:
        heads = ("model", "P", "N", "metric", "eta", "p < 0.05, %")
        print(
            "### compare: equally good models told apart\n\n" + table(heads, (one.row for one in tests))
        )
    for text in uncertain_etas(given.simulations) if "uncertain_eta" in given.only else ():
        print(text)
    if "maxima" in given.only:
        print(maxima(given.simulations))
    promises = list(promised(given.simulations)) if "guarantee" in given.only else []
    if promises:
        print("### guarantee=0.95\n\n" + table(PROMISED_HEADS, (one.row for one in promises)))
        print(summary_of_promises(promises))
    if "ranking" in given.only:
        heads = ("P", "N", "models", "examples", "eta .01, %", "eta .1, %", "eta .4, %")
        print("### ranking: one of equal models ruled out\n")
        print(table(heads, equal_models(given.simulations)))
    if found:
        print(verdict_of_methods(found), verdict_of_cells(found), outside(found), sep="\n")
    print(f"{perf_counter() - start:.0f} seconds")
    if given.json:
        about = {"simulations": given.simulations, "seed": SEED, **versions()}
        named = {"coverage": found, "compare": tests, "guarantee": promises}
        results = {name: [asdict(one) for one in of] for name, of in named.items()}
        given.json.write_text(json.dumps(about | results, indent=2))


def versions() -> dict[str, str]:
    packages = ("polars", "numpy", "scipy")
    mine = {"python": platform.python_version(), "polars-prcurve": polars_prcurve.__version__}
    return mine | {name: version(name) for name in packages}


if __name__ == "__main__":
    main()
