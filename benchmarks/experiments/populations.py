"""What test sets are drawn from: populations whose rates are known at every threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

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


@dataclass(frozen=True)
class Levels:
    """Scores that take a few values, by falling score."""

    name: str
    positive: tuple[float, ...]
    negative: tuple[float, ...]

    @property
    def levels(self) -> tuple[Floats, Floats]:
        return np.array(self.positive), np.array(self.negative)

    def fpr_at(self, recall: Any) -> Any:
        return np.interp(recall, np.cumsum([0, *self.positive]), np.cumsum([0, *self.negative]))

    def recall_at(self, fpr: Any) -> Any:
        return np.interp(fpr, np.cumsum([0, *self.negative]), np.cumsum([0, *self.positive]))


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
    if cell.model.levels is not None:
        return draw_levels(cell, sets, rng)
    # A positive drawn at random stands at a recall drawn at random.
    above = np.sort(cell.model.fpr_at(rng.random((sets, cell.n_pos))), axis=1)
    shares = np.diff(above, axis=1, prepend=0, append=1).clip(0)
    rows = 2 * cell.n_pos + 1
    negatives = np.zeros((sets, rows), dtype=np.int64)
    negatives[:, 0::2] = rng.multinomial(cell.n_neg, shares / shares.sum(axis=1, keepdims=True))
    return count_frame(np.arange(rows, 0, -1)[None], np.arange(rows)[None] % 2, negatives)


def draw_placed(cell: Cell, sets: int, rng: np.random.Generator, top: int | None = None) -> pl.DataFrame:
    """Return one row per example, whose score is minus the true fpr of a threshold there.

    With `top`, all examples below that many negatives are one row.
    """
    if cell.model.levels is not None:
        return draw_levels(cell, sets, rng)
    top = cell.n_neg if top is None else min(top, cell.n_neg)
    # The highest of many uniform numbers are sums of exponential ones, over the sum of all.
    steps = rng.exponential(size=(sets, top)).cumsum(axis=1)
    fprs = steps / (steps[:, -1:] + rng.gamma(cell.n_neg + 1 - top, size=(sets, 1)))
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
