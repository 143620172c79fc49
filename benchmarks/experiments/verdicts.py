"""How often a verdict is wrong, and how often a true lead is detected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl

from polars_prcurve.core.judging.decision_request import DecisionRequest
from polars_prcurve.core.judging.status_names import STATUSES

from .areas import draw_shared, find_equal
from .experiment import CONFIDENCE, Row, experiment, split_sets
from .populations import (
    CALIBRATED,
    CAUCHY,
    FIVE,
    GUMBEL,
    HARD,
    Model,
    normal,
    student,
)

COIN = normal(0)
GOALS: dict[str, Mapping[str, Any]] = {
    "recall 0.5": {"recall": 0.5},
    "1% alerts": {"alerts": 1_000, "per": 100_000},
    "precision 0.3, 2% alerts": {"precision": 0.3, "alerts": 2_000, "per": 100_000},
    "best F1": {"maximize": "f1"},
    "recall 0.5, precision 0.13": {"recall": 0.5, "precision": 0.13},
    "precision 0.3, promised": {"precision": 0.3, "guarantee": 0.95},
    "none": {},
}


@dataclass(frozen=True)
class Decided:
    """Models that scored the same test sets, and what is wanted of them."""

    what: str
    models: Sequence[Model]
    size: tuple[int, int]
    eta: float
    goal: str
    better: str | None = None
    """The name of the only model that is best; None if several are."""
    shared: float = 0.5


def find_equal_fpr(model: Model, recall: float = 0.5) -> Model:
    """Return the normal population whose fpr at a recall is that of another one."""
    low, high = 0.0, 9.0
    for _ in range(60):
        middle = (low + high) / 2
        is_worse = float(normal(middle).fpr_at(recall)) > float(model.fpr_at(recall))
        low, high = (middle, high) if is_worse else (low, middle)
    return normal(low)


SIZES = ((20, 1_000), (100, 2_000), (500, 5_000), (2_000, 10_000))
EQUAL: tuple[Model, ...] = (normal(1.5), GUMBEL, HARD, CAUCHY, CALIBRATED, student(2), FIVE)
CELLS = [
    *(
        Decided("5 equal models", (model,) * 5, size, 0.02, goal)
        for model, (size, goal) in product(
            EQUAL, product(SIZES[:3], ("recall 0.5", "1% alerts", "none"))
        )
    ),
    *(
        Decided("2 equal models", (model,) * 2, size, 0.02, goal)
        for model, size, goal in product(EQUAL[:4], SIZES[:2], ("precision 0.3, 2% alerts", "best F1"))
    ),
    *(
        Decided("coins", (COIN,) * n, size, 0.05, goal)
        for n, size, goal in product((1, 2, 5), SIZES, ("recall 0.5", "1% alerts", "none"))
    ),
    *(
        Decided("unlike shapes", (model, find_equal_fpr(model)), size, eta, "recall 0.5")
        for model, size, eta in product((GUMBEL, HARD, CAUCHY, CALIBRATED), SIZES[1:3], (0.001, 0.1))
    ),
    *(
        Decided("unlike shapes", (model, find_equal(model, eta)), size, eta, "none")
        for model, size, eta in product((GUMBEL, HARD, CAUCHY, CALIBRATED), SIZES[1:3], (0.001, 0.1))
    ),
    *(
        Decided(f"lead of {lead:g} d'", (normal(1.5 + lead), normal(1.5)), size, 0.02, goal, "a")
        for lead, size, goal in product((0.25, 0.5, 1), SIZES, ("recall 0.5", "none"))
    ),
    *(
        Decided("2 equal models", (model,) * 2, size, 0.02, goal)
        for model, size, goal in product(
            EQUAL[:4], SIZES[1:3], ("recall 0.5, precision 0.13", "precision 0.3, promised")
        )
    ),
]
N_SETS = 250


@experiment(CELLS, N_SETS)
def measure_verdicts(cell: Decided, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Shares of test sets with each status of `decide`, and of those that name a wrong model."""
    parts = []
    for sets in split_sets(n_sets, 3 * sum(cell.size)):
        drawn = draw_shared(cell.models, cell.size, cell.shared, sets, rng)
        names = [name for name in drawn.columns if name not in ("set", "label")]
        table = drawn.prc(score=names, by="set")
        if len(names) == 1:
            table = drawn.prc(score="a", by="set")
        with patch.object(DecisionRequest, "test_level", CONFIDENCE):  # each set is a table of its own
            decision = table.decide(cell.eta, confidence=CONFIDENCE, **GOALS[cell.goal])
        parts.append(decision.verdicts.select("status", "models"))
    found = pl.concat(parts)
    # A coin alone has no rival: where its values are reported, it passed for better than chance.
    has_named = pl.col("status").is_in(["winner", "measured"])
    is_right = pl.lit(False) if cell.better is None else pl.col("models").list.first() == cell.better
    where = {"what": cell.what, "n_models": len(cell.models), "model": cell.models[0].name}
    where |= {"n_pos": cell.size[0], "n_neg": cell.size[1], "eta": cell.eta, "goal": cell.goal}
    wrong = found.select((has_named & ~is_right).mean()).item()
    shares = {status: found.select((pl.col("status") == status).mean()).item() for status in STATUSES}
    yield where | {"wrong": wrong} | shares
