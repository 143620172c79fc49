"""How often a target is missed although it is said to be met with some certainty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from polars_prcurve.core.confidence.confidence_that_limit_holds import (
    CERTAINTY,
    measure_certainty,
    scale_limit,
)

from .experiment import CONFIDENCE, Row, experiment, split_sets
from .populations import FRESH, MODELS, UNLIKE, Cell, draw_placed, precision, true_rates

ETA = 0.1
LEVELS = (0.8, 0.9, 0.95)
TARGETS = {"recall": 0.8, "fpr": 0.01, "precision": 0.5}
CELLS = ("tp", "fp", "fn", "tn")


@dataclass(frozen=True)
class Point:
    """Test sets of one size, at a threshold from elsewhere, where the population has these rates."""

    recall: float
    fpr: float
    n_pos: int
    n_neg: int


POINTS = [
    Point(recall, fpr, *size)
    for (recall, fpr), size in product(
        ((0.8, 0.05), (0.5, 0.01), (0.9, 0.2)), ((20, 200), (50, 500), (60, 2_000), (200, 200))
    )
]
CHOSEN = [Cell(model, 40, 1_500) for model in (*MODELS, *UNLIKE, *FRESH)]

OF_CHOSEN = (
    "n_known",
    "kept_known",
    "n_null",
    "kept_null",
    "stated",
)  # columns that others have as null


@experiment([*POINTS, *CHOSEN], 2_000)
def measure_certainties(cell: Point | Cell, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Of all test sets, those said to meet a target at least as surely as each level, which miss it.

    At a threshold from elsewhere the target is what the population has, the worst case.
    """
    if isinstance(cell, Point):
        yield from measure_at_limit(cell, n_sets, rng)
    else:
        yield from measure_chosen(cell, n_sets, rng)


def measure_at_limit(cell: Point, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    tp = rng.binomial(cell.n_pos, cell.recall, n_sets)
    fp = rng.binomial(cell.n_neg, cell.fpr, n_sets)
    counts = {"tp": tp, "fp": fp, "fn": cell.n_pos - tp, "tn": cell.n_neg - fp}
    tables = pl.DataFrame({"set": range(n_sets)} | counts)
    points = tables.prc.operating_points(
        ETA, by="set", cells=CELLS, confidence=CONFIDENCE, columns="all"
    )
    truths = {"recall": cell.recall, "fpr": cell.fpr, "precision": precision(cell.recall, cell.fpr, ETA)}
    for name, truth in truths.items():
        scaled = points.with_columns(**scale_limit(name, pl.lit(truth), is_upper=name == "fpr"))
        certainties = scaled.select(measure_certainty(CONFIDENCE)).to_series()
        where = {"population": f"{cell.recall} and {cell.fpr}", "n_pos": cell.n_pos, "n_neg": cell.n_neg}
        row = where | {"chosen": False, "target": name} | share_wrong(certainties, n_sets)
        yield row | dict.fromkeys(OF_CHOSEN)


def measure_chosen(cell: Cell, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    asked: dict[str, Any] = {"metrics": list(TARGETS), "confidence": CONFIDENCE, "columns": "all"}
    parts = []
    for sets in split_sets(n_sets, cell.n_pos + cell.n_neg):
        drawn = draw_placed(cell, sets, rng).prc(by="set", counts=("n_pos", "n_neg"))
        parts.append(drawn.operating_points(ETA, **TARGETS, **asked))
    for (name,), rows in pl.concat(parts).group_by("criterion", maintain_order=True):
        met = rows.drop_nulls("threshold")
        recall, fpr = true_rates(cell.model, met["threshold"])
        truth = {"recall": recall, "fpr": fpr}.get(str(name), precision(recall, fpr, ETA))
        is_missed = truth > TARGETS[str(name)] if name == "fpr" else truth < TARGETS[str(name)]
        where = {"population": cell.model.name, "n_pos": cell.n_pos, "n_neg": cell.n_neg}
        certainties = met.filter(pl.Series(is_missed))[CERTAINTY]
        row = where | {"chosen": True, "target": name} | share_wrong(certainties, n_sets)
        is_known = met[CERTAINTY].is_not_null().to_numpy()
        for part, is_in_part in {"known": is_known, "null": ~is_known}.items():
            kept = ~is_missed[is_in_part]
            row |= {f"n_{part}": len(kept), f"kept_{part}": kept.mean() if len(kept) >= 100 else None}
        yield row | {"stated": met[CERTAINTY].mean() if is_known.sum() >= 100 else None}


def share_wrong(certainties: pl.Series, n_sets: int) -> Row:
    """Return the share of all test sets with each level of certainty, or more, where it is wrong."""
    return {f"wrong_{100 * level:.0f}": (certainties >= level).sum() / n_sets for level in LEVELS}
