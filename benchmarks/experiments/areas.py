"""Intervals of areas, differences of areas, and rankings, where all rows are drawn alike."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from string import ascii_lowercase
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from polars_prcurve import intervals

from . import pools
from .experiment import CONFIDENCE, Row, experiment, measure_coverage, split_sets
from .populations import (
    AREAS,
    CALIBRATED,
    CAUCHY,
    CELLS,
    FRESH,
    GUMBEL,
    HARD,
    MODELS,
    SIZES,
    UNLIKE,
    Cell,
    Model,
    Pool,
    draw_short,
    normal,
)

ETAS = (0.1, 0.01, 0.001)
ASKED: list[Any] = ["average_precision", "roc_auc"]


AREA_SIZES = [*SIZES, (30, 600), (30, 5_000), (300, 600)]
FRESH_SIZES = ((8, 200), (12, 5_000), (20, 1_000), (40, 4_000), (100, 1_000), (300, 3_000))
AREA_CELLS = [
    *(Cell(model, *size) for model, size in product((*MODELS, *UNLIKE), AREA_SIZES)),
    *(Cell(model, *size) for model, size in product(FRESH, FRESH_SIZES)),
]


def list_etas(cell: Cell) -> list[float]:
    """Return the prevalences; that of the cell is a number, since its class sizes are not drawn."""
    return [cell.n_pos / (cell.n_pos + cell.n_neg), *ETAS]


def cover_areas(cell: Cell, found: pl.DataFrame) -> Iterator[Row]:
    """Yield the coverage of each metric at each prevalence; that of ROC AUC once."""
    own = cell.n_pos / (cell.n_pos + cell.n_neg)
    for (metric, eta), part in found.group_by("metric", "eta", maintain_order=True):
        is_own = math.isclose(float(eta), own)
        if metric != "roc_auc" or is_own:
            truth = AREAS[str(metric)](cell.model, eta)
            where = {"metric": metric, "eta": "own" if is_own else f"{eta:g}"}
            yield cell.row | where | measure_coverage(part, truth)


def count_area_sets(cell: Cell) -> int:
    return 1_000 if cell.n_pos < 1_000 else 400


@experiment(AREA_CELLS, count_area_sets)
def measure_areas(cell: Cell, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Intervals of `summary(confidence=)` by influences."""
    parts = []
    for sets in split_sets(n_sets, 4 * (2 * cell.n_pos + 1)):
        drawn = draw_short(cell, sets, rng)
        asked = {"metrics": ASKED, "confidence": CONFIDENCE, "counts": ("n_pos", "n_neg")}
        found = drawn.prc.summary(list_etas(cell), by="set", **asked)
        parts.append(found.select("metric", "eta", "low", "high", "doubt"))
    return cover_areas(cell, pl.concat(parts))


@dataclass(frozen=True)
class Cohort:
    """Random samples of a population, whose class sizes are drawn, too."""

    model: Model
    n: int
    eta: float


COHORTS = [
    Cohort(model, *size)
    for model, size in product((*MODELS, *UNLIKE), ((500, 0.1), (2_000, 0.05), (400, 0.3)))
]


def draw_cohort(cell: Cohort, sets: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return rows of `set`, `label`, and `score`, minus the true fpr of a threshold there."""
    label = rng.random((sets, cell.n)) < cell.eta
    drawn = rng.random((sets, cell.n))
    if cell.model.levels is None:
        score = -np.where(label, cell.model.fpr_at(drawn), drawn)
    else:
        shares = [np.cumsum(shares) for shares in cell.model.levels]
        score = -np.where(label, *(np.searchsorted(below, drawn) for below in shares)).astype(float)
    number = np.repeat(np.arange(sets), cell.n)
    return pl.DataFrame({"set": number, "label": label.ravel(), "score": score.ravel()})


@experiment(COHORTS, 600)
def measure_cohorts(cell: Cohort, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Intervals of areas at the prevalence that was counted, and as if it had been said."""
    asked: dict[str, Any] = {"by": "set", "metrics": [ASKED[0], *ASKED[2:]], "confidence": CONFIDENCE}
    counted, said = [], []
    for sets in split_sets(n_sets, cell.n):
        drawn = draw_cohort(cell, sets, rng)
        counted.append(drawn.prc.summary(**asked))
        own = drawn.group_by("set").agg(eta=pl.col("label").mean())
        said.append(drawn.prc.summary(own, **asked))
    for (metric,), part in pl.concat(counted).group_by("metric", maintain_order=True):
        truth = AREAS[str(metric)](cell.model, cell.eta)
        fixed = measure_coverage(pl.concat(said).filter(metric=metric), truth)["coverage"]
        where = {"model": cell.model.name, "n": cell.n, "eta": cell.eta, "metric": metric}
        yield where | measure_coverage(part, truth) | {"as_said": fixed}


@experiment(
    [cell for cell in CELLS if cell.model in MODELS[:3] and cell.n_pos != 50],
    500,
)
def measure_bootstrap(cell: Cell, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Intervals of average precision by the bootstrap of `summary`."""
    drawn = draw_short(cell, n_sets, rng)
    found = drawn.prc.summary(
        list_etas(cell), metrics="average_precision", by="set", counts=("n_pos", "n_neg"),
        confidence=intervals(CONFIDENCE, method="bootstrap", resamples=500, seed=1),
    )  # fmt: skip
    return cover_areas(cell, found)


# Equally good models --------------------------------------------------------------------------

SHARED = (0.2, 0.5, 0.9, 0.98)
"""The correlation of the ranks of two models in a class, from unlike models to two versions of one."""
ETAS_OF_PAIRS = (0.3, 0.05, 0.01, 0.001)
COMPARED = [
    *product(
        (Cell(model, *size) for model, size in product(MODELS[:3], ((40, 1_500), (100, 2_000)))), SHARED
    ),
    *((Cell(MODELS[1], *size), shared) for size in ((20, 5_000), (300, 3_000)) for shared in SHARED),
]


def draw_two_models(
    size: tuple[int, int], shifts: tuple[float, float], sets: int, rng: np.random.Generator
) -> pl.DataFrame:
    """Return normal scores `a` and `b` that err alike, those of positives shifted."""
    n = sum(size)
    noises = rng.normal(size=(3, sets, n))
    noise = (noises[:2] + noises[2]) / 2**0.5
    label = np.arange(n) < size[0]
    a, b = (noise + np.reshape(shifts, (2, 1, 1)) * label).reshape(2, -1)
    number = np.repeat(np.arange(sets), n)
    return pl.DataFrame({"set": number, "label": np.tile(label, sets), "a": a, "b": b})


@experiment(COMPARED, 500)
def measure_compare(cell: tuple[Cell, float], n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Shares of test sets in which `compare` tells two equally good models apart."""
    (of, shared), names = cell, ("roc_auc", "average_precision")
    size = of.n_pos, of.n_neg
    found = pl.concat(
        draw_shared((of.model, of.model), size, shared, sets, rng).prc.compare(
            ETAS_OF_PAIRS, score=["a", "b"], metrics=names, by="set", columns="all"
        )
        for sets in split_sets(n_sets, sum(size))
    )
    for (metric, eta), part in found.group_by("metric", "eta", maintain_order=True):
        if metric != "roc_auc" or eta == ETAS_OF_PAIRS[1]:
            where = {"shared": shared, "metric": metric, "eta": eta}
            yield of.row | where | measure_rejections(part)


BY_BOOTSTRAP = intervals(CONFIDENCE, method="bootstrap", resamples=500, seed=1)
POWER = [
    ((100, 2_000), 0.98, 0.12),
    ((40, 1_500), 0.98, 0.2),
    ((100, 2_000), 0.9, 0.25),
    ((100, 2_000), 0.5, 0.5),
    ((100, 2_000), 0.2, 0.5),
]
"""Sizes of test sets, the correlation of ranks, and the lead in d' of a model over one with d' = 2."""


@experiment(POWER, 150)
def measure_power(
    cell: tuple[tuple[int, int], float, float], n_sets: int, rng: np.random.Generator
) -> Iterator[Row]:
    """Shares of test sets in which `compare` finds a true lead in average precision, and a bootstrap."""
    size, shared, lead = cell
    better = normal(2 + lead)
    asked: dict[str, Any] = {"score": ["a", "b"], "metrics": "average_precision", "by": "set"}
    parts = []
    for sets in split_sets(n_sets, 20 * sum(size)):
        drawn = draw_shared((better, MODELS[1]), size, shared, sets, rng)
        resampled = drawn.prc.compare(ETAS_OF_PAIRS, **asked, columns="all", confidence=BY_BOOTSTRAP)
        ends = resampled.select(
            "set", "eta", low_by_bootstrap="low", high_by_bootstrap="high", p_by_bootstrap="p_value"
        )
        parts.append(drawn.prc.compare(ETAS_OF_PAIRS, **asked).join(ends, on=["set", "eta"]))
    for (eta,), part in pl.concat(parts).group_by("eta", maintain_order=True):
        truth = AREAS["average_precision"](better, eta) - AREAS["average_precision"](MODELS[1], eta)
        where = {"n_pos": size[0], "n_neg": size[1], "shared": shared, "lead": lead, "eta": eta}
        yield where | {
            "found": (part["low"] > 0).mean(),
            "found_by_bootstrap": (part["low_by_bootstrap"] > 0).mean(),
            "found_at_99": (part["p_by_bootstrap"] < 0.01).mean(),
            **measure_coverage(part, truth),
            "width_of_bootstrap": (part["high_by_bootstrap"] - part["low_by_bootstrap"]).mean(),
        }


def measure_rejections(found: pl.DataFrame) -> Row:
    """Return how often equal models are told apart: by their p-value, and marked `significant`."""
    marked = pl.col("doubt").is_null()
    rejected = (pl.col("p_value") < 1 - CONFIDENCE).fill_null(value=False)
    return found.select(
        rejected=rejected.mean(),
        resolved=pl.col("significant").fill_null(value=False).mean(),
        marked=marked.mean(),
        rejected_of_marked=rejected.filter(marked).mean(),
        no_error=pl.col("standard_error").is_null().mean(),
    ).row(0, named=True)


@dataclass(frozen=True)
class Equals:
    """Several models of normal scores, d' = 1.2, that are equally good."""

    n_pos: int
    n_neg: int
    n_models: int
    shared: float
    """The correlation of ranks; 0 if each model has examples of its own."""


EQUALS = [
    Equals(*size, n_models, shared)
    for size, n_models, shared in product(
        ((20, 200), (60, 90), (100, 1_000)), (3, 10), (0, 0.5, 0.9, 0.98)
    )
]


def draw_equals(cell: Equals, sets: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return a long table."""
    n = cell.n_pos + cell.n_neg
    shape = sets, cell.n_models, n
    common = math.sqrt(cell.shared) * rng.normal(size=(sets, 1, n))
    noise = math.sqrt(1 - cell.shared) * rng.normal(size=shape) + common
    label = np.arange(n) < cell.n_pos
    names = {
        "set": np.arange(sets)[:, None, None], "model": np.arange(cell.n_models)[:, None],
        "example": np.arange(n), "label": label,
    }  # fmt: skip
    columns = {name: np.broadcast_to(values, shape).ravel() for name, values in names.items()}
    return pl.DataFrame(columns | {"score": (1.2 * label + noise).ravel()})


@experiment(EQUALS, lambda cell: 200 if cell.n_pos < 100 else 100)
def measure_ranking(cell: Equals, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Shares of test sets in which `may_be_best` rules out one of several equal models."""
    parts = []
    for sets in split_sets(n_sets, cell.n_models * (cell.n_pos + cell.n_neg)):
        found = draw_equals(cell, sets, rng).prc.ranking(
            [0.01, 0.1, 0.4],
            by="set",
            confidence=CONFIDENCE,
            id="example" if cell.shared else None,
        )
        parts.append(found.group_by("set", "eta").agg((~pl.col("may_be_best")).any().alias("ruled_out")))
    shares = pl.concat(parts).group_by("eta").agg(pl.col("ruled_out").mean()).sort("eta")
    for row in shares.iter_rows(named=True):
        yield vars(cell) | row


# Equal areas of unlike shape ------------------------------------------------------------------


@dataclass(frozen=True)
class Unlike:
    """A normal population beside another one of equal average precision at a prevalence."""

    model: Model
    eta: float
    n_pos: int
    n_neg: int


UNLIKE_SIZES = ((1e-4, 100, 5_000), (0.001, 150, 3_000), (0.01, 30, 600), (0.1, 200, 5_000))
UNLIKES = [
    Unlike(model, *size) for model, size in product((*MODELS[2:3], *MODELS[4:6], *UNLIKE), UNLIKE_SIZES)
]


def find_equal(model: Model, eta: float) -> Model:
    """Return the normal population whose average precision at a prevalence is that of another one."""
    wanted, low, high = AREAS["average_precision"](model, eta), 0.0, 9.0
    for _ in range(40):
        middle = (low + high) / 2
        is_less = AREAS["average_precision"](normal(middle), eta, 40_000) < wanted
        low, high = (middle, high) if is_less else (low, middle)
    return normal(low)


@experiment(UNLIKES, 1_000)
def measure_unlike_models(cell: Unlike, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Shares of pairs of test sets in which `compare` tells equal models of unlike shape apart."""
    models = {"this": cell.model, "normal": find_equal(cell.model, cell.eta)}
    parts = []
    for sets in split_sets(n_sets, 4 * cell.n_pos + 2):
        drawn = pl.concat(
            draw_short(Cell(model, cell.n_pos, cell.n_neg), sets, rng).with_columns(
                pl.col("score").cast(pl.Float64), model=pl.lit(name)
            )
            for name, model in models.items()
        )
        of = drawn.prc(by="set", model="model", counts=("n_pos", "n_neg"))
        parts.append(of.compare(eta=cell.eta, metrics="average_precision", paired=False, columns="all"))
    found = pl.concat(parts)
    where = vars(cell) | {"model": cell.model.name}
    yield where | measure_rejections(found) | measure_coverage(found, 0.0)


UNLIKE_SHARED_SIZES = ((0.3, 40, 1_500), (0.05, 100, 2_000), (0.01, 30, 600), (0.001, 100, 2_000))
RARE = Pool("rare outliers", pools.contaminate_rarely)
"""Scores whose worst errors are not in most test sets, and in others once or twice."""
RARE_SIZES = (*UNLIKE_SHARED_SIZES, (0.01, 100, 2_000), (0.01, 200, 8_000))
UNLIKE_SHARED = [
    *(
        (Unlike(model, *size), shared)
        for models, correlations in (
            ((GUMBEL, HARD, CAUCHY), SHARED[:2]),
            ((*MODELS[2:3], *MODELS[4:6], *UNLIKE, *FRESH), SHARED[2:]),
        )
        for model, size, shared in product(models, UNLIKE_SHARED_SIZES, correlations)
    ),
    *((Unlike(model, 0.01, 100, 2_000), SHARED[-1]) for model in FRESH),
    *((Unlike(RARE, *size), SHARED[-1]) for size in RARE_SIZES),  # where it is worst
]


def draw_shared(
    models: Sequence[Model], size: tuple[int, int], shared: float, sets: int, rng: np.random.Generator
) -> pl.DataFrame:
    """Return scores `a`, `b`, ... of the same examples, whose ranks in a class correlate by `shared`."""
    n = sum(size)
    label = np.arange(n) < size[0]
    *noises, common = rng.normal(size=(len(models) + 1, sets, n))
    scores = {}
    for name, model, noise in zip(ascii_lowercase, models, noises, strict=False):
        rank = stats.norm.cdf(noise * (1 - shared) ** 0.5 + common * shared**0.5)
        if model.levels is None:
            rank[:, : size[0]] = model.fpr_at(rank[:, : size[0]])
            scores[name] = -rank.ravel()
        else:
            below = [np.cumsum(shares) for shares in model.levels]
            places = np.where(label, *(np.searchsorted(of, rank) for of in below))
            scores[name] = -places.ravel().astype(float)
    number = np.repeat(np.arange(sets), n)
    return pl.DataFrame({"set": number, "label": np.tile(label, sets), **scores})


@experiment(UNLIKE_SHARED, 150)
def measure_unlike_pairs(
    cell: tuple[Unlike, float], n_sets: int, rng: np.random.Generator
) -> Iterator[Row]:
    """Shares of test sets in which `compare` tells equal models of unlike shape apart, in pairs.

    At a prevalence of 0.01 and for ranks that correlate most, those of a bootstrap as well.
    """
    of, shared = cell
    models, size = (of.model, find_equal(of.model, of.eta)), (of.n_pos, of.n_neg)
    asked: dict[str, Any] = {"score": ["a", "b"], "metrics": "average_precision", "by": "set"}
    asked["columns"] = "all"
    parts, resampled = [], []
    for sets in split_sets(n_sets, sum(size)):
        drawn = draw_shared(models, size, shared, sets, rng)
        parts.append(drawn.prc.compare(of.eta, **asked))
        if of.eta == 0.01 and shared == SHARED[-1]:
            resampled.append(drawn.prc.compare(of.eta, **asked, confidence=BY_BOOTSTRAP))
    found = pl.concat(parts)
    where = vars(of) | {"model": of.model.name, "shared": shared}
    p_values = pl.concat(
        [pl.Series("p_value", [], pl.Float64), *(part["p_value"] for part in resampled)]
    )
    by_bootstrap = {
        f"by_bootstrap_at_{100 * level:.0f}": (p_values < 1 - level).fill_null(value=False).mean()
        for level in (CONFIDENCE, 0.99)
    }
    yield where | measure_rejections(found) | measure_coverage(found, 0.0) | by_bootstrap


@dataclass(frozen=True)
class ManyPairs:
    """Samples of one population, all pairs of which are compared."""

    model: Model
    eta: float
    n_pos: int
    n_neg: int
    n_samples: int = 12


MANY_PAIRS = [
    ManyPairs(HARD, 0.005, 30, 1_000),
    ManyPairs(HARD, 0.002, 60, 2_000),
    ManyPairs(GUMBEL, 0.05, 60, 2_000),
    ManyPairs(CAUCHY, 0.05, 60, 2_000),
    ManyPairs(CALIBRATED, 0.1, 100, 4_000),
    ManyPairs(MODELS[2], 0.01, 60, 2_000),
    ManyPairs(MODELS[5], 0.01, 60, 2_000),
]


@experiment(MANY_PAIRS, 600)
def measure_many_pairs(cell: ManyPairs, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Shares of test sets in which any of all pairs of equal samples is told apart."""
    counts = ["by_holm", "by_worst", "by_ranking"]
    parts = []
    for sets in split_sets(n_sets, cell.n_samples * (2 * cell.n_pos + 1) * 4):
        drawn = draw_short(Cell(cell.model, cell.n_pos, cell.n_neg), sets * cell.n_samples, rng)
        drawn = drawn.with_columns(
            model=pl.col("set") % cell.n_samples, set=pl.col("set") // cell.n_samples
        )
        of = drawn.prc(by="set", model="model", counts=("n_pos", "n_neg"))
        asked: dict[str, Any] = {"eta": cell.eta, "metrics": "average_precision", "paired": False}
        found = [
            of.compare(**asked, adjust="holm").group_by("set").agg(
                (pl.col("p_adjusted") < 1 - CONFIDENCE).any().alias("by_holm")
            ),
            of.compare(**asked, worst=True).select("set", pl.col("significant").alias("by_worst")),
            of.ranking(eta=cell.eta, confidence=CONFIDENCE).group_by("set").agg(
                (~pl.col("may_be_best")).any().alias("by_ranking")
            ),
        ]  # fmt: skip
        joined = found[0].join(found[1], on="set").join(found[2], on="set")
        parts.append(joined.select(pl.col(counts).fill_null(value=False)))
    shares = pl.concat(parts).mean().row(0, named=True)
    yield vars(cell) | {"model": cell.model.name} | shares
