"""A model that is not worse by more than a margin: how often that is said of one that is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from .experiment import CONFIDENCE, Row, experiment, split_sets
from .means import KINDS, draw_topics, find_truths

SIZES = ((8, 200), (20, 200), (20, 2_000), (50, 1_000), (200, 4_000))
ETAS, SHARED = (0.1, 0.01), (0.5, 0.9)
CELLS = [*product(SIZES, ETAS, SHARED)]
GROUPS = (5, 10, 20)
DISTANCES = 2.2, 2.5  # of the positives, of the new model and of the one that it replaces


def find_areas(distance: float, eta: float) -> dict[str, float]:
    """Return the areas of normal scores of a distance."""
    recalls = (np.arange(200_000) + 0.5) / 200_000
    fpr = stats.norm.sf(stats.norm.isf(recalls, loc=distance))
    precision = recalls * eta / (recalls * eta + fpr * (1 - eta))
    return {"average_precision": precision.mean(), "roc_auc": stats.norm.cdf(distance / 2**0.5)}


@experiment(CELLS)
def measure_margins(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """How often a model that is worse by the margin is called not worse, and one that is as good."""
    (n_pos, n_neg), eta, shared = cell
    areas = [find_areas(distance, eta) for distance in DISTANCES]
    margins = {name: areas[1][name] - areas[0][name] for name in areas[0]}
    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in margins}
    for sets in split_sets(n_sets, n_pos + n_neg):
        label = np.tile(np.arange(n_pos + n_neg) < n_pos, sets)
        common, *own = rng.normal(size=(4, len(label)))
        distances = {"new": DISTANCES[0], "equal": DISTANCES[1], "old": DISTANCES[1]}
        scores = {
            name: shared**0.5 * common + (1 - shared) ** 0.5 * noise + distance * label
            for (name, distance), noise in zip(distances.items(), own, strict=True)
        }
        table = pl.DataFrame(
            {"set": np.repeat(np.arange(sets), n_pos + n_neg), "label": label, **scores}
        )
        for name, margin in margins.items():
            for model in ("new", "equal"):
                test = table.prc(score=[model, "old"], by="set")
                found = test.compare(eta, metrics=name, margin=margin, confidence=CONFIDENCE)
                parts[name].append(found.with_columns(model=pl.lit(model)))
    where = {"n_pos": n_pos, "n_neg": n_neg, "eta": eta, "shared": shared}
    for name, margin in margins.items():
        found = pl.concat(parts[name])
        said = {
            f"{kind}_not_worse": found.filter(model=model)["not_worse"].fill_null(False).mean()
            for kind, model in (("worse", "new"), ("equal", "equal"))
        }
        yield where | {"metric": name, "margin": margin} | said


@experiment([*product(GROUPS, KINDS)])
def measure_margins_of_means(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """How often a model whose mean over groups is worse by the margin is called not worse."""
    n_groups, kind = cell
    truths = find_truths(kind, None)
    margin = truths["a"] - truths["c"]
    parts = []
    for sets in split_sets(n_sets, n_groups * 150):
        topics = draw_topics(kind, sets * n_groups, rng).with_columns(set=pl.col("topic") // n_groups)
        test = topics.prc(score=["c", "a"], by="set")
        asked: dict[str, Any] = {"metrics": "average_precision", "confidence": CONFIDENCE}
        parts.append(test.compare(margin=margin, mean_over="topic", **asked))
    said = pl.concat(parts)["not_worse"].fill_null(False).mean()
    yield {"n_groups": n_groups, "kind": kind, "margin": margin, "worse_not_worse": said}
