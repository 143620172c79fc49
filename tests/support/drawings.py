"""A drawing of every chart, from a score table and the name of its group column."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import polars as pl

from polars_prcurve import charts

GRID = [0.001, 0.01, 0.1, 0.5]
Draw = Callable[[pl.DataFrame, str], charts.Chart]


def draw_scores(
    *, seed: int = 0, pos: int = 40, neg: int = 160, digits: int = 2, **groups: Any
) -> pl.DataFrame:
    """Return normal scores of positives and negatives, with ties."""
    draw = np.random.default_rng(seed).normal
    score = np.r_[draw(1.5, 1, pos), draw(0, 1, neg)].round(digits)
    frame = pl.DataFrame({"score": score, "label": [1] * pos + [0] * neg})
    return frame.with_columns(pl.lit(value).alias(name) for name, value in groups.items())


def draw_groups(values: Iterable[Any], name: str = "model", **options: Any) -> pl.DataFrame:
    """Return normal scores of one group per value; the column `name` holds the values."""
    parts = [draw_scores(seed=i, pos=20 + i, **options, **{name: v}) for i, v in enumerate(values)]
    return pl.concat(parts, how="vertical_relaxed")


def make_posteriors(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with scores that are posteriors of its normal classes, 1.5 apart."""
    return frame.with_columns(score=1 / (1 + (1.125 - 1.5 * pl.col("score")).exp()))


DRAW: dict[str, Draw] = {
    "pr_curve": lambda frame, by: charts.pr_curve(frame.prc.curve(0.1, by=by)),
    "metric_by_eta": lambda frame, by: charts.metric_by_eta(
        frame.prc.summary(GRID, metrics="average_precision", by=by, confidence=0.95, columns="all")
    ),
    "p3_curve": lambda frame, by: charts.p3_curve(
        frame.prc.operating_points(GRID, recall=[0.5, 0.8], by=by, confidence=0.95, columns="all")
    ),
    "threshold_curve": lambda frame, by: charts.threshold_curve(frame.prc.curve(0.1, by=by)),
    "prg_curve": lambda frame, by: charts.prg_curve(frame.prc.curve(0.1, by=by)),
    "decision_curve": lambda frame, by: charts.decision_curve(
        make_posteriors(frame).prc.decision_curve(confidence=0.95, by=by, columns="all")
    ),
    "gain_curve": lambda frame, by: charts.gain_curve(frame.prc.curve(0.1, by=by)),
    "roc_curve": lambda frame, by: charts.roc_curve(frame.prc.sweep(by=by), eta=0.1, log_x=True),
}
"""Charts that have colours and panels. Tests draw them with hostile names, 200 groups and no rows."""
DRAWN_APART = {"alerts", "difference", "monitor", "ranking", "reliability", "scores"}
"""Charts of another shape, which have their own tests of hostile names, many groups and no rows."""

__all__ = ["DRAW", "DRAWN_APART", "GRID", "draw_groups", "draw_scores", "make_posteriors"]
