"""A table of scores against one point of other examples, cut at the recall of the point."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from polars_prcurve import metrics, prc

from .experiment import Row, experiment, measure_coverage, share_significant, split_sets
from .populations import CALIBRATED, CAUCHY, GUMBEL, HARD, Cell, draw_short, normal, student

SIZES = (
    (100, 1_000, 100, 100, 0.7),
    (50, 500, 200, 400, 0.8),
    (500, 5_000, 100, 300, 0.6),
    (1_000, 20_000, 60, 300, 0.85),
    (100, 1_000, 100, 1_000, 0.7),
)
"""Positives and negatives of the table, and of the point, and the true recall of the point."""
MODELS = (normal(2), student(2), GUMBEL, HARD, CAUCHY, CALIBRATED)
NAMES = ("fpr", "precision", "f1")


@experiment(list(product(MODELS, SIZES, (1.0, 0.5))), 500)
def measure_matched_points(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Differences at the recall of a point that is as good, or has half the fpr."""
    model, (n_pos, n_neg, k, j, recall), share = cell
    fpr = float(np.asarray(model.fpr_at(recall)))
    parts = []
    for sets in split_sets(n_sets, 4 * (2 * n_pos + 1)):
        drawn = draw_short(Cell(model, n_pos, n_neg), sets, rng)
        numbers = drawn["set"].unique().sort()
        tp, fp = rng.binomial(k, recall, sets), rng.binomial(j, share * fpr, sets)
        points = pl.DataFrame({"set": numbers, "tp": tp, "fp": fp, "fn": k - tp, "tn": j - fp})
        table = drawn.prc(counts=("n_pos", "n_neg"), by="set")
        other = prc(points, cells=("tp", "fp", "fn", "tn"), by="set")
        parts.append(table.compare([0.01, 0.5], other=other, match="recall", metrics=list(NAMES)))
    found = pl.concat(parts)
    for name, eta in product(NAMES, (0.01, 0.5)):
        if name == "fpr" and eta == 0.5:
            continue
        value = getattr(metrics, name)
        truth = float(value(recall, fpr, eta)) - float(value(recall, share * fpr, eta))
        of = found.filter(metric=name, eta=eta)
        where = {"model": model.name, "n_pos": n_pos, "n_neg": n_neg, "point": f"{k} / {j}"}
        where |= {"recall": recall, "share": share, "metric": name, "eta": eta}
        yield where | measure_coverage(of, truth) | {"resolved": share_significant(of)}
