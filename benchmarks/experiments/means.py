"""Means of average precision over groups, such as topics of a search, and their differences."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from polars_prcurve import prc

from .experiment import CONFIDENCE, Row, experiment, measure_coverage, share_significant, split_sets

KINDS = ("alike", "unlike", "few positives")
GROUPS, ETAS = (5, 10, 20, 50, 200), (None, 0.02)
CELLS = [*product(GROUPS, KINDS, ETAS)]
TRUTH_SEED, N_TRUTH = 20_251_129, 60_000


def draw_topics(kind: str, n_topics: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return topics, each with scores of two equal models, `a` and `b`, and of a weaker one, `c`.

    Topics are alike in size and strength; or have from 20 to some 1,000 rows, and strengths with a long
    tail; or have 1 to 5 positives. Scores of models share most of what makes a row hard.
    """
    if kind == "alike":
        n_pos, n_neg = rng.integers(8, 13, n_topics), rng.integers(40, 61, n_topics)
        strength = rng.normal(1.5, 0.3, n_topics)
    elif kind == "unlike":
        n_pos = np.clip(rng.lognormal(2, 0.8, n_topics), 2, 100).astype(int)
        n_neg = np.clip(rng.lognormal(4, 0.8, n_topics), 20, 900).astype(int)
        strength = rng.exponential(1.5, n_topics)
    else:
        n_pos, n_neg = rng.integers(1, 6, n_topics), rng.integers(20, 100, n_topics)
        strength = rng.normal(1.5, 1.0, n_topics)
    n_rows = n_pos + n_neg
    topic = np.repeat(np.arange(n_topics), n_rows)
    place = np.arange(n_rows.sum()) - np.repeat(n_rows.cumsum() - n_rows, n_rows)
    label = place < np.repeat(n_pos, n_rows)
    signal = label * np.repeat(strength, n_rows)
    shared, *own = rng.normal(size=(4, len(topic)))
    weight = 0.8
    scores = {
        name: gain * signal + weight * shared + (1 - weight**2) ** 0.5 * noise
        for name, gain, noise in zip("abc", (1.0, 1.0, 0.8), own, strict=True)
    }
    return pl.DataFrame({"topic": topic, "label": label, **scores})


@cache
def find_truths(kind: str, eta: float | None) -> dict[str, float]:
    """Return the mean of each model over very many topics."""
    rng = np.random.default_rng([TRUTH_SEED, KINDS.index(kind)])
    parts = [draw_topics(kind, N_TRUTH // 20, rng) for _ in range(20)]
    means = [
        prc(part, score=["a", "b", "c"]).summary(eta, metrics="average_precision", mean_over="topic")
        for part in parts
    ]
    found = pl.concat(means).group_by("model").agg(pl.col("value").mean())
    return dict(found.iter_rows())


@experiment(CELLS, lambda cell: 2_000 if cell[0] <= 20 else 1_000 if cell[0] <= 50 else 400)
def measure_means(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Means of average precision over groups, and differences of equal and of unequal models."""
    n_groups, kind, eta = cell
    truths = find_truths(kind, eta)
    parts: dict[str, list[pl.DataFrame]] = {"mean": [], "equal models": [], "unequal models": []}
    for sets in split_sets(n_sets, n_groups * 150):
        topics = draw_topics(kind, sets * n_groups, rng).with_columns(set=pl.col("topic") // n_groups)
        asked: dict[str, Any] = {"metrics": "average_precision", "confidence": CONFIDENCE}
        asked |= {"mean_over": "topic", "by": "set"}
        parts["mean"].append(prc(topics, score="a").summary(eta, **asked))
        gaps = prc(topics, score=["a", "b", "c"]).compare(eta, **asked)
        for name, model in (("equal models", "b"), ("unequal models", "c")):
            parts[name].append(gaps.filter(model_a="a", model_b=model))
    truth_of = {"mean": truths["a"], "equal models": 0.0, "unequal models": truths["a"] - truths["c"]}
    for name, truth in truth_of.items():
        found = pl.concat(parts[name])
        row = {"n_groups": n_groups, "kind": kind, "eta": eta, "of": name}
        row |= measure_coverage(found, truth)
        yield row | {"significant": share_significant(found) if name != "mean" else None}
