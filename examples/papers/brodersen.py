"""The simulation of Brodersen et al. (2010), for both of its figures."""

from __future__ import annotations

import numpy as np
import polars as pl
from common import mean_and_error, normals

from polars_prcurve import metrics

N = 100
TRUTH = normals(1, -1, 2)
ESTIMATES = {
    "steps": {"metrics": "average_precision"},
    "trapezoids": {"metrics": metrics.pr_auc_trapezoid("none")},
    "alpha-binormal": {"metrics": "average_precision", "smooth": "binormal"},
    "binormal": {"metrics": "average_precision", "smooth": "binormal", "eta": 0.5},
}


def samples(alpha: float, repeats: int, *, fixed: bool = False) -> pl.DataFrame:
    """Test sets of 100 scores: N(1, 4) with probability alpha, else N(-1, 4). Or, if the numbers of
    both are `fixed`, of as many each time."""
    rng = np.random.default_rng(round(100 * alpha))
    drawn = rng.random(N * repeats) < alpha
    label = np.tile(np.arange(N) < round(alpha * N), repeats) if fixed else drawn
    score = rng.normal(2.0 * label - 1, 2.0)
    return pl.DataFrame({"sample": np.repeat(np.arange(repeats), N), "score": score, "label": label})


def true_area(alpha: float) -> float:
    return float(
        TRUTH.prc.summary(alpha, metrics="average_precision", smooth="binormal")["value"].item()
    )


def biases(tests: pl.DataFrame, alpha: float) -> pl.DataFrame:
    """Of each estimate of average precision: its mean less the truth, the standard error of that, and
    the root mean squared error of one estimate."""
    rows = []
    for name, how in ESTIMATES.items():
        off = tests.prc.summary(by="sample", **how)["value"] - true_area(alpha)
        rows.append((alpha, name, *mean_and_error(off), float((off**2).mean()) ** 0.5))
    return pl.DataFrame(rows, schema=["alpha", "estimate", "bias", "error", "rmse"], orient="row")
