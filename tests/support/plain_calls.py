"""One plain call for each frame method that returns a table: a small table, and arguments for it."""

from __future__ import annotations

from typing import Any

import polars as pl

from polars_prcurve import field

DF = pl.DataFrame(
    {
        "day": pl.Series([1] * 12, dtype=pl.Int8),
        "model": pl.Series(["a", "b"] * 6, dtype=pl.Enum(["a", "b"])),
        "id": [number // 2 for number in range(12)],
        "score": pl.Series([9, 8, 8, 6, 1, 5, 5, 7, 4, 2, 3, 1], dtype=pl.Int16),
        "label": [True] * 6 + [False] * 6,
        "w": [1.5] * 12,
    }
)
WIDE = pl.DataFrame({"day": DF["day"][:4], "label": [1, 1, 0, 0], "a": [4, 3, 2, 1], "b": [4, 2, 3, 1]})
POSTERIORS = DF.select("day", score=pl.col("score") / 10)
ONE_PART = pl.DataFrame({"day": pl.Series([1], dtype=pl.Int8), "eta": [0.1], "share": [1]})
PLAN = pl.DataFrame(
    {
        "stratum": [1, 2],
        "score_low": pl.Series([5, 1], dtype=pl.Int16),
        "score_high": pl.Series([9, 4], dtype=pl.Int16),
        "n": [8, 5],
    }
)
RISKS = DF.with_columns(score=pl.col("score") / 10)

PLAIN: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "counts": (DF, {"by": "day"}),
    "sweep": (DF, {"by": "day"}),
    "curve": (DF, {"by": "day", "eta": 0.1, "metrics": ["precision", "f1"]}),
    "operating_points": (DF, {"by": "day", "eta": 0.1, "recall": 0.5, "metrics": ["precision", "f1"]}),
    "summary": (DF, {"by": "day", "eta": 0.1}),
    "binormal": (DF, {"by": "day"}),
    "compare": (WIDE, {"by": "day", "score": ["a", "b"]}),
    "ranking": (DF, {"by": "day", "eta": 0.1}),
    "crossings": (DF, {"by": "day"}),
    "sample_size": (DF, {"by": "day", "recall": 0.5}),
    "decision_curve": (RISKS, {"by": "day", "probabilities": [0.2, 0.5]}),
    "subsample_negatives": (DF, {"by": "day", "eta": 0.6, "n_repeats": 2}),
    "estimate_prevalence": (POSTERIORS, {"by": "day", "eta_train": 0.5}),
    "monitor": (
        DF.with_columns(week=pl.col("id") // 2),
        {"time": "week", "reference": 0.5, "threshold": 5, "by": "day"},
    ),
    "sampling_plan": (
        DF.with_columns(label=pl.when(pl.col("id") != 3).then("label")),
        {"threshold": 5, "budget": 8},
    ),
    "reweight": (
        DF,
        {
            "eta": field(ONE_PART, parts="day"),
            "name": "new",
        },
    ),
    "unpivot_scores": (WIDE, {"scores": ["a", "b"], "name": "which", "score": "points"}),
}

OTHERS: dict[str, tuple[str, pl.DataFrame, dict[str, Any]]] = {
    "leaders": ("crossings", DF, {"by": "day", "leaders": True}),
    "dominance": ("crossings", DF, {"by": "day", "leaders": True, "of": "roc"}),
    "resolution": ("sample_size", DF, {"by": "day", "recall": 0.5, "solve_for": "eta"}),
    "weighed sample": (
        "reweight",
        DF.with_columns(label=pl.when(pl.col("id") != 3).then("label")),
        {"plan": PLAN, "name": "new"},
    ),
    "classes": (
        "unpivot_scores",
        WIDE.rename({"label": "kind"}),
        {"label": "kind", "scores": {1: "a", 0: "b"}, "name": "class", "score": "points"},
    ),
}
"""Calls for another answer of a method, by what that is."""

__all__ = ["DF", "ONE_PART", "OTHERS", "PLAIN", "RISKS"]
