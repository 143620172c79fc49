"""Test sets of models whose verdict is known: clear leads, equal models, coins, few positives."""

from __future__ import annotations

import numpy as np
import polars as pl


def draw_models(
    distances: dict[str, float], n_pos: int, n_neg: int, seed: int = 1, shared: float = 0.6
) -> pl.DataFrame:
    """Return a wide table: normal scores of each model, so far apart between the classes.

    Models share a part of their noise, so that their errors are alike, as on the same examples.
    """
    rng = np.random.default_rng(seed)
    label = np.arange(n_pos + n_neg) < n_pos
    common = rng.normal(size=label.size)
    own = {name: rng.normal(size=label.size) for name in distances}
    scores = {
        name: shared * common + (1 - shared**2) ** 0.5 * own[name] + distance * label
        for name, distance in distances.items()
    }
    return pl.DataFrame({"label": label, **scores})


SETTLED = draw_models({"new": 3.0, "old": 1.0}, 300, 6_000)
EQUAL = draw_models({"one": 2.0, "other": 2.0}, 200, 4_000, seed=6)
COINS = draw_models({"heads": 0.0, "tails": 0.0}, 500, 5_000, seed=1)
LITTLE = draw_models({"a": 2.0, "b": 2.0}, 10, 250, seed=4)
STATUSES_OF = {
    "winner": SETTLED,
    "no_winner": EQUAL,
    "chance": COINS,
    "too_little_data": LITTLE,
}
"""A table for each status but "not_met", which comes of what is asked."""
