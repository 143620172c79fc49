"""The summary of one group of examples in memory, from arrays: no plan, and no sort of all rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from polars_prcurve.core.ground.lazy_numpy import numpy as np
from polars_prcurve.core.inputs.score_and_rate_tables import ResolvedTable
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.prevalence.eta_grid import EtaTable
from polars_prcurve.core.sweep.sorted_classes import sort_classes


def build_array_summary(
    table: ResolvedTable, grid: EtaTable, metrics: Sequence[CurveMetric]
) -> pl.DataFrame | None:
    """Return eta, n_pos, n_neg, metric and value; None where arrays may not have the same values."""
    if grid.numbers is None or not all(metric.recipe.is_rational for metric in metrics):
        return None
    classes = sort_classes(table)
    if classes is None:
        return None
    n_pos, n_neg = len(classes.pos_scores), len(classes.neg_scores)
    own_eta = n_pos / (n_pos + n_neg)
    etas = sorted(own_eta if eta is None else eta for eta in grid.numbers)
    if len(set(etas)) < len(etas):  # the own prevalence and a number that is equal have an order
        return None
    with np.errstate(all="ignore"):
        values_of_metrics = [
            metric.compute_values(classes.curve, np.array(etas)).tolist() for metric in metrics
        ]
    values = [value for eta_values in zip(*values_of_metrics, strict=True) for value in eta_values]
    return pl.DataFrame(
        {
            "eta": [eta for eta in etas for _ in metrics],
            "n_pos": [n_pos] * len(values),
            "n_neg": [n_neg] * len(values),
            "metric": [metric.name for metric in metrics] * len(etas),
            "value": [None if math.isnan(value) else value for value in values],
        },
        schema={
            "eta": pl.Float64,
            "n_pos": pl.Int64,
            "n_neg": pl.Int64,
            "metric": pl.String,
            "value": pl.Float64,
        },
    )
