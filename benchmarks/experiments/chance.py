"""How often scores are called above chance: those that say nothing, and those that say something."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from .designs import EFFECTS
from .experiment import Row, experiment, split_sets

Draw = Callable[[np.random.Generator, Any], Any]
"""Return scores for labels, an array of test sets by examples."""

STEPS = {"all differ": None, "rounded to 1": 1.0, "rounded to 0.3": 0.3, "two scores": 0.0}
SIZES = ((3, 30), (5, 50), (5, 5_000), (10, 200), (20, 20), (20, 1_000), (50, 500), (100, 2_000))
SIZES += ((300, 300), (200, 10))


def draw_coin(rng: np.random.Generator, label: Any) -> Any:
    return rng.normal(size=label.shape)


def draw_easy(rng: np.random.Generator, label: Any) -> Any:
    return rng.normal(size=label.shape) + 4.0 * (label & (rng.random(label.shape) < 0.2))


def draw_mixed(rng: np.random.Generator, label: Any) -> Any:
    worst = label & (rng.random(label.shape) < 0.2)
    return np.where(worst, -4.0, rng.normal(size=label.shape) + 0.9 * label)


def draw_cauchy(rng: np.random.Generator, label: Any) -> Any:
    return np.where(label, rng.standard_cauchy(size=label.shape), rng.normal(size=label.shape))


def draw_better(rng: np.random.Generator, label: Any) -> Any:
    return rng.normal(size=label.shape) + 0.5 * label


SOME: dict[str, Draw] = {
    "normal, d' = 0.5": draw_better,
    "a fifth easy": draw_easy,
    "a fifth worst": draw_mixed,
    "Cauchy positives": draw_cauchy,
}
CELLS = [
    *(("chance", *size, steps, 0.95) for size, steps in product(SIZES, STEPS)),
    *(("chance", *size, "all differ", level) for size, level in product(SIZES, (0.9, 0.99))),
    *((name, 20, 1_000, "all differ", 0.95) for name in SOME),
]


@experiment(CELLS, 3_000)
def measure_chance(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """The column `above_chance` of scores that say nothing, and of some that do."""
    name, n_pos, n_neg, steps, confidence = cell
    n, draw, step = n_pos + n_neg, SOME.get(name, draw_coin), STEPS[steps]
    parts = []
    for sets in split_sets(n_sets, n):
        label = np.broadcast_to(np.arange(n) < n_pos, (sets, n))
        score = draw(rng, label)
        if step is not None:
            score = np.round(score / step) if step else (score > 1).astype(float)
        number = np.repeat(np.arange(sets), n)
        drawn = pl.DataFrame({"set": number, "label": label.ravel(), "score": score.ravel()})
        found = drawn.prc.summary(metrics="roc_auc", by="set", confidence=confidence, columns="all")
        parts.append(found["above_chance"])
    where = {"model": name, "n_pos": n_pos, "n_neg": n_neg, "scores": steps, "confidence": confidence}
    yield where | {"above": pl.concat(parts).mean()}


DESIGNS = [
    *product(("1 in 20 negatives", "weights of 1 and 4", "1 in 10 low scores"), (30, 300)),
    *product(("normal effects", "exponential effects", "t3 effects"), (60, 300)),
]


@experiment(DESIGNS, 2_000)
def measure_chance_of_designs(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """The column `above_chance` of scores that say nothing, with weights or in clusters."""
    name, size = cell
    parts = []
    for sets in split_sets(n_sets, 11 * size):
        drawn, how = draw_design(name, size, sets, rng)
        found = drawn.prc.summary(metrics="roc_auc", by="set", confidence=0.95, columns="all", **how)
        parts.append(found["above_chance"])
    yield {"design": name, "size": size, "above": pl.concat(parts).mean()}


def draw_design(
    name: str, size: int, sets: int, rng: np.random.Generator
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return test sets of `size` positives with weights, or of as many patients, and how to ask."""
    if name.endswith("effects"):
        effect = EFFECTS[name.removesuffix(" effects")]
        patient = np.repeat(np.arange(sets * size), rng.integers(1, 9, sets * size))
        label = rng.random(patient.size) < rng.beta(0.6, 2.4, sets * size)[patient]
        score = effect.rvs(sets * size, random_state=rng)[patient] / effect.std()
        score = score + rng.normal(size=patient.size)
        columns = {"set": patient // size, "patient": patient, "label": label, "score": score}
        return pl.DataFrame(columns), {"cluster": "patient"}
    n = 11 * size
    label = np.tile(np.arange(n) < size, sets)
    drawn = pl.DataFrame(
        {
            "set": np.repeat(np.arange(sets), n),
            "label": label,
            "score": rng.normal(size=sets * n),
            "w": rng.choice([1.0, 4.0], sets * n),
        }
    )
    if name == "1 in 20 negatives":
        drawn = drawn.with_columns(w=pl.when("label").then(1.0).otherwise(20.0))
    elif name == "1 in 10 low scores":
        low = pl.col("score") < 1
        kept = pl.Series(rng.random(drawn.height) < 0.1)
        drawn = drawn.filter(~low | kept).with_columns(w=pl.when(low).then(10.0).otherwise(1.0))
    return drawn, {"weight": "w"}
