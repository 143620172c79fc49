"""A table with two scores of each example, and options of small bootstraps."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from polars_prcurve import intervals

BOOTSTRAP: dict[str, Any] = {"confidence": intervals(0.95, method="bootstrap", resamples=50, seed=1)}
AGAIN: dict[str, Any] = {"confidence": intervals(0.9, method="bootstrap", resamples=60, seed=5)}


def two_scores(n: int = 400) -> pl.DataFrame:
    """Return n examples with the columns id, label, weight, and the scores `score` and `other`."""
    random = np.random.default_rng(3)
    label = random.random(n) < 0.3
    score = (random.normal(size=n) + label).round(1)
    columns = {"id": np.arange(n), "label": label, "score": score, "weight": random.random(n)}
    return pl.DataFrame(columns | {"other": (score + random.normal(size=n)).round(1)})


__all__ = ["AGAIN", "BOOTSTRAP", "two_scores"]
