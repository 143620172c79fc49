"""What test sets are drawn from: populations whose rates are known at every threshold.

Formulas were chosen and tuned on `MODELS` and `UNLIKE`. `FRESH` are ten populations that none was tuned
on; a claim is confirmed with `Cell(model, n_pos, n_neg) for model in FRESH`. They are
finite pools drawn from with replacement, so that truth is exact, ties included. All functions here take
them as they take other models: `AREAS[metric](model, eta)` for true values, `model.recall_at(fpr)` and
`fpr_at(recall)` along the curve, `draw_short` for areas, `draw_placed` with `true_rates` for thresholds;
and `areas.draw_cohort`, and `areas.draw_shared` for models whose ranks correlate. A pool is made when it
is first used, by scikit-learn for six of them, and stays for the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from . import pools

Floats = NDArray[np.float64]


class Model(Protocol):
    """A population: the curve of rates that a very large test set would show."""

    name: str

    def fpr_at(self, recall: Any) -> Any: ...

    def recall_at(self, fpr: Any) -> Any: ...

    @property
    def levels(self) -> tuple[Floats, Floats] | None:
        """The shares of positives and negatives at each score, from the highest; None without ties."""
        ...


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
    """A mean of distributions of one noise, normal if left out, by weight and place."""

    def __init__(self, *parts: tuple[float, float], noise: Any = stats.norm) -> None:
        self.parts, self.noise = parts, noise
        self.grid = np.linspace(-40, 44, 1_200_001)
        self.rates = self.sf(self.grid)

    def sf(self, score: Any) -> Any:
        return sum(weight * self.noise.sf(score, loc=place) for weight, place in self.parts)

    def isf(self, rate: Any) -> Any:
        return np.interp(rate, self.rates[::-1], self.grid[::-1])


class Steps:
    """A curve of tied scores: straight from level to level."""

    levels: tuple[Floats, Floats]

    def fpr_at(self, recall: Any) -> Any:
        # Of levels without a positive, recall reaches its value at the first.
        return np.interp(np.subtract(recall, 1e-9), *(np.append(0, np.cumsum(of)) for of in self.levels))

    def recall_at(self, fpr: Any) -> Any:
        return np.interp(fpr, *(np.append(0, np.cumsum(of)) for of in self.levels[::-1]))


@dataclass(frozen=True)
class Levels(Steps):
    """Scores that take a few values, by falling score."""

    name: str
    positive: tuple[float, ...]
    negative: tuple[float, ...]

    @property
    def levels(self) -> tuple[Floats, Floats]:  # type: ignore[override]
        return np.array(self.positive), np.array(self.negative)


@dataclass(frozen=True)
class Pool(Steps):
    """A finite number of scores of either class, drawn from with replacement."""

    name: str
    make: Callable[[], tuple[Floats, Floats]]

    @cached_property
    def levels(self) -> tuple[Floats, Floats]:  # type: ignore[override]
        sides = self.make()
        levels, place = np.unique(-np.concatenate(sides), return_inverse=True)
        places = np.split(place, [len(sides[0])])
        positive, negative = (np.bincount(of, minlength=len(levels)) / len(of) for of in places)
        return positive, negative


@dataclass(frozen=True)
class Line:
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


def normal(distance: float) -> TwoNoises:
    return TwoNoises(f"normal, d' = {distance:g}", stats.norm(distance), stats.norm())


def student(shift: float) -> TwoNoises:
    return TwoNoises(f"t3, shift {shift:g}", stats.t(3, shift), stats.t(3))


BETA = TwoNoises("beta", stats.beta(3, 1.5), stats.beta(1.5, 3))
MIXTURE = TwoNoises("mixture", Mixture((0.6, 3), (0.4, 0)), Mixture((0.98, 0), (0.02, 2.5)))
FIVE = Levels("five levels", (0.35, 0.25, 0.2, 0.12, 0.08), (0.01, 0.04, 0.15, 0.3, 0.5))
GUMBEL = TwoNoises("Gumbel", stats.norm(3, 1.2), stats.gumbel_r())
HARD = TwoNoises("hard20", Mixture((0.8, 4), (0.2, 0), noise=stats.logistic), stats.logistic())
CAUCHY = TwoNoises("Cauchy", stats.cauchy(4), stats.cauchy())
CALIBRATED = TwoNoises("calibrated", stats.beta(2, 3), stats.beta(1, 4))


def round_scores(name: str, zeros: tuple[float, float], models: tuple[Any, Any]) -> Levels:
    """Return scores in hundredths, of which a share of either class is 0."""
    edges = np.linspace(1, 0, 101)
    shares = []
    for zero, model in zip(zeros, models, strict=True):
        above = (1 - zero) * np.diff(model.sf(edges))
        shares.append((*above.tolist(), zero))
    return Levels(name, *shares)


ROUNDED = round_scores("rounded", (0.1, 0.6), (stats.beta(3, 2), stats.beta(1, 4)))
UNLIKE: tuple[Model, ...] = (GUMBEL, HARD, CAUCHY, CALIBRATED, ROUNDED)
"""Populations of other shapes than MODELS: tails of unlike weight, positives that look like negatives,
scores that are probabilities, and scores that are rounded."""
FRESH: tuple[Model, ...] = (
    Pool("forest's votes", pools.vote_by_forest),
    Pool("boosting", pools.boost_trees),
    Pool("logistic regression", pools.fit_logistic),
    Pool("naive Bayes on digits", pools.recognise_digits),
    Pool("neighbours", pools.find_neighbours),
    Pool("isolation forest", pools.isolate_anomalies),
    Pool("lognormals", pools.mix_lognormals),
    Pool("five other levels", pools.count_symptoms),
    Pool("zeros", pools.tie_at_zero),
    Pool("contaminated", pools.contaminate),
)
"""Populations that no formula was tuned on."""
MODELS: tuple[Model, ...] = (normal(1), normal(2), student(2), normal(3), BETA, MIXTURE, FIVE)
MODEL_NAMED = {model.name: model for model in MODELS}


@dataclass(frozen=True)
class Cell:
    """Test sets of one size from one population."""

    model: Model
    n_pos: int
    n_neg: int

    @property
    def row(self) -> dict[str, Any]:
        return {"model": self.model.name, "n_pos": self.n_pos, "n_neg": self.n_neg}


SIZES = [(p, times * p) for p, times in (*product((20, 100, 1_000), (10, 100)), (200, 1), (50, 100))]
CELLS = [Cell(model, *size) for model, size in product(MODELS, SIZES)]

# Their true values ----------------------------------------------------------------------------


def precision(recall: Any, fpr: Any, eta: float) -> Any:
    return recall / (recall + fpr * (1 - eta) / eta)


@cache
def average_precision(model: Model, eta: float, n: int = 400_000) -> float:
    """Return the mean precision over recalls, taken more closely where they are small."""
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


def precision_at(recall: float) -> Any:
    return lambda model, eta: float(precision(recall, model.fpr_at(recall), eta))


AREAS: dict[str, Any] = {
    "average_precision": average_precision,
    "roc_auc": roc_auc,
    "precision_at_recall(0.5)": precision_at(0.5),
    "precision_at_recall(0.8)": precision_at(0.8),
}


def true_rates(model: Model, thresholds: pl.Series) -> tuple[Floats, Floats]:
    """Return recall and fpr in the population, at thresholds of `draw_placed`; nulls are left out."""
    found = -thresholds.drop_nulls().to_numpy()
    if model.levels is not None:
        recall, fpr = (np.cumsum(shares).clip(0, 1)[found.astype(int)] for shares in model.levels)
        return recall, fpr
    return np.asarray(model.recall_at(found)), found


# Test sets ------------------------------------------------------------------------------------


def count_frame(score: Any, n_pos: Any, n_neg: Any) -> pl.DataFrame:
    """Return counts by `set` and `score`; each argument has one row per set, or is alike in all."""
    score, n_pos, n_neg = np.broadcast_arrays(score, n_pos, n_neg)
    number = np.repeat(np.arange(len(score)), score.shape[1])
    columns = {"score": score.ravel(), "n_pos": n_pos.ravel(), "n_neg": n_neg.ravel()}
    return pl.DataFrame({"set": number} | columns)


def draw_levels(cell: Cell, sets: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return counts of a population of few scores; a score is minus the number of its level."""
    assert cell.model.levels is not None
    sides = zip((cell.n_pos, cell.n_neg), cell.model.levels, strict=True)
    drawn = [rng.multinomial(n, shares, sets) for n, shares in sides]
    return count_frame(-np.arange(drawn[0].shape[1])[None] * 1.0, *drawn)


def draw_short(cell: Cell, sets: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return counts with one row per positive, and one for the negatives between two of them.

    This changes no area here, and keeps tables short.
    """
    if isinstance(cell.model, Pool):
        return draw_short_pool(cell, sets, rng)
    if cell.model.levels is not None:
        return draw_levels(cell, sets, rng)
    # A positive drawn at random stands at a recall drawn at random.
    above = np.sort(cell.model.fpr_at(rng.random((sets, cell.n_pos))), axis=1)
    shares = np.diff(above, axis=1, prepend=0, append=1).clip(0)
    rows = 2 * cell.n_pos + 1
    negatives = np.zeros((sets, rows), dtype=np.int64)
    negatives[:, 0::2] = rng.multinomial(cell.n_neg, shares / shares.sum(axis=1, keepdims=True))
    return count_frame(np.arange(rows, 0, -1)[None], np.arange(rows)[None] % 2, negatives)


def draw_short_pool(cell: Cell, sets: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return counts with two rows per positive: of the negatives above it, and of those tied with it."""
    assert cell.model.levels is not None
    positive, negative = (np.cumsum(shares) for shares in cell.model.levels)
    place = np.sort(draw_places(positive, (sets, cell.n_pos), rng), axis=1)
    # By falling score: the shares of negatives above and down to each positive, and of all.
    ends = np.stack([np.append(0, negative)[place], negative[place]], axis=2).reshape(sets, -1)
    ends = np.maximum.accumulate(np.append(ends, np.ones((sets, 1)), axis=1), axis=1)
    counts = rng.multinomial(cell.n_neg, np.diff(ends, axis=1, prepend=0).clip(0))
    # Positives of one score share a row.
    score = -np.stack([2.0 * place - 1, 2.0 * place], axis=2).reshape(sets, -1)
    score = np.append(score, np.full((sets, 1), -2.0 * len(positive)), axis=1)
    return count_frame(score, np.arange(2 * cell.n_pos + 1)[None] % 2, counts)


def draw_places(below: Floats, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return numbers of levels, from the cumulated shares of a class."""
    return np.searchsorted(below, rng.random(shape), side="right").clip(max=len(below) - 1)


def draw_placed(cell: Cell, sets: int, rng: np.random.Generator, top: int | None = None) -> pl.DataFrame:
    """Return one row per example, whose score is minus the true fpr of a threshold there.

    With `top`, all examples below that many negatives are one row.
    """
    top = cell.n_neg if top is None else min(top, cell.n_neg)
    if isinstance(cell.model, Pool):
        return draw_placed_pool(cell, sets, rng, top)
    if cell.model.levels is not None:
        return draw_levels(cell, sets, rng)
    fprs = draw_highest(cell.n_neg, (sets, top), rng)
    above = np.asarray(cell.model.fpr_at(rng.random((sets, cell.n_pos))))
    rest = top < cell.n_neg
    if rest:
        above = np.where(above > fprs[:, -1:], 1.0, above)
    score = -np.concatenate([above, fprs, np.ones((sets, int(rest)))], axis=1)
    positives = np.arange(score.shape[1])[None] < cell.n_pos
    negatives = np.where(positives, 0, 1)
    if rest:
        negatives[:, -1] = cell.n_neg - top
    return count_frame(score, 1 * positives, negatives)


def draw_highest(n: int, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Return the lowest of `n` uniform numbers, in rising order."""
    # They are sums of exponential ones, over the sum of all.
    steps = rng.exponential(size=shape).cumsum(axis=1)
    return steps / (steps[:, -1:] + rng.gamma(n + 1 - shape[1], size=(shape[0], 1)))


def draw_placed_pool(cell: Cell, sets: int, rng: np.random.Generator, top: int) -> pl.DataFrame:
    """Return what `draw_placed` does; a score is minus the number of its level."""
    assert cell.model.levels is not None
    positive, negative = (np.cumsum(shares) for shares in cell.model.levels)
    fprs = draw_highest(cell.n_neg, (sets, top), rng)
    places = np.searchsorted(negative, fprs, side="right").clip(max=len(negative) - 1)
    # Of the negatives that are not listed, some are tied with the last that is.
    last, rest = places[:, -1:], cell.n_neg - top
    tied = rng.binomial(rest, ((negative[last] - fprs[:, -1:]) / (1 - fprs[:, -1:])).clip(0, 1))
    above = draw_places(positive, (sets, cell.n_pos), rng)
    above = np.where(above > last, len(negative) - 1, above)
    score = -1.0 * np.concatenate([above, places, last, np.full_like(last, len(negative) - 1)], axis=1)
    is_positive = np.arange(score.shape[1]) < cell.n_pos
    counts = np.tile(np.where(is_positive, 0, 1), (sets, 1))
    counts[:, -2:] = np.concatenate([tied, rest - tied], axis=1)
    return count_frame(score, 1 * is_positive[None], counts)


def draw_between(cell: Cell, fprs: Sequence[float], sets: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return counts between fixed thresholds, with scores 0, -1, ...; the last row is all below."""
    rising = np.array([*fprs, 1.0])
    drawn = [
        rng.multinomial(n, np.diff(rates, prepend=0).clip(0), size=sets)
        for n, rates in ((cell.n_pos, cell.model.recall_at(rising)), (cell.n_neg, rising))
    ]
    return count_frame(-np.arange(len(rising))[None], *drawn)


def draw_flagged(
    size: tuple[int, int], rates: tuple[float, float], sets: int, rng: np.random.Generator
) -> pl.DataFrame:
    """Return counts of either class that are flagged, with score 1, and that are not, with 0."""
    hits = [rng.binomial(n, rate, sets) for n, rate in zip(size, rates, strict=True)]
    both = [np.stack([hit, n - hit], axis=1) for hit, n in zip(hits, size, strict=True)]
    return count_frame(np.array([[1, 0]]), *both)
