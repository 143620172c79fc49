"""The prevalence of rows without labels, estimated from their scores beside those of a reference."""

from __future__ import annotations

import numpy as np
import polars as pl

from polars_prcurve.inputs.score_table import ScoreTable
from polars_prcurve.prevalence.estimate import join_estimates
from polars_prcurve.prevalence.mixture import estimate_by_mixture
from polars_prcurve.sweep.score_levels import N_UNLABELLED, count_levels


def build_mixture_table(
    table: ScoreTable, reference: ScoreTable, confidence: float | None
) -> pl.LazyFrame:
    """Return a table of one row per group: `by`, then the columns of `list_estimate_columns`.

    The greatest likelihood is found directly: nothing is iterated until it hardly changes.
    """
    groups, counts = count_levels(table, reference)
    found = estimate_by_mixture(counts, confidence)
    p_values = [None if np.isnan(p) else float(p) for p in found.shift_p_value]
    estimates: dict[str, object] = {"eta": found.eta, "eta_low": found.low, "eta_high": found.high}
    estimates |= {"n": groups[N_UNLABELLED], "shift_p_value": p_values}
    estimates |= {"iterations": None, "converged": True}
    return join_estimates(groups.drop(N_UNLABELLED), confidence, estimates)
