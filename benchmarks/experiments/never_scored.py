"""Average precision of what was returned, where positives were missed and negatives are not counted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from polars_prcurve import metrics

from .experiment import CONFIDENCE, Row, experiment, measure_coverage, split_sets

POSITIVES, ENDS, FALSE_PER_TRUE = (15, 50, 200), (0.3, 0.7, 0.95), (0.25, 1, 10, 100)
CELLS = [*product(POSITIVES, ENDS, FALSE_PER_TRUE, (2.0,)), *product(POSITIVES, ENDS, (1, 10), (3.5,))]


@experiment(CELLS, lambda cell: 1_000 if cell[0] * cell[2] > 5_000 else 2_000)
def measure_never_scored(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Average precision and precision at a recall, of what lies above a score, by `below=(n, None)`.

    Positives and what was returned are counted together, so both numbers are as random as those of a
    collection of documents. Scores are normal, and `end` is the recall at the lowest one returned.
    """
    n_pos, end, false_per_true, distance = cell
    cut = stats.norm.isf(end, loc=distance)
    n_neg = false_per_true * n_pos * end / stats.norm.sf(cut)

    def find_precision(score: Any) -> Any:
        found, false = n_pos * stats.norm.sf(score, loc=distance), n_neg * stats.norm.sf(score)
        return found / (found + false)

    recalls = (np.arange(200_000) + 0.5) / 200_000 * end
    truths = {"average_precision": end * find_precision(stats.norm.isf(recalls, loc=distance)).mean()}
    target = 0.6 * end
    truths[f"precision at recall {target:.2f}"] = find_precision(stats.norm.isf(target, loc=distance))
    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in truths}
    for sets in split_sets(n_sets, n_pos * end * (1 + false_per_true)):
        drawn, below = draw_returned(n_pos, n_neg, (distance, cut), sets, rng)
        table = drawn.prc(by="set", below=below)
        asked = ("average_precision", metrics.precision_at_recall(target))
        for kept, metric in zip(parts.values(), asked, strict=True):
            summary = table.summary(metrics=metric, confidence=CONFIDENCE)
            kept.append(summary.select("low", "high", "doubt"))
    where = {"n_pos": n_pos, "end": end, "false_per_true": false_per_true, "distance": distance}
    for name, truth in truths.items():
        yield where | {"metric": name} | measure_coverage(pl.concat(parts[name]), truth)


def draw_returned(
    n_pos: float, n_neg: float, at: tuple[float, float], sets: int, rng: np.random.Generator
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the scores above a cut in each test set, and the positives below it.

    Of a large collection both classes are Poisson, and negatives below the cut are never drawn.
    """
    distance, cut = at
    of_class = []
    for label, n, shift in ((True, n_pos, distance), (False, n_neg, 0.0)):
        share = stats.norm.sf(cut, loc=shift)
        numbers = rng.poisson(n * share, sets)
        score = stats.norm.isf(rng.random(numbers.sum()) * share, loc=shift)
        which = np.repeat(np.arange(sets), numbers)
        of_class.append(pl.DataFrame({"set": which, "label": label, "score": score}))
    missed = rng.poisson(n_pos * stats.norm.cdf(cut, loc=distance), sets)
    return pl.concat(of_class), pl.DataFrame({"set": np.arange(sets), "n_pos": missed})
