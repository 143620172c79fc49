"""Which metrics can be computed where negatives are not counted.

It is found by trial: of a table with more negatives below all scores, precision and average precision
stay, and specificity and ROC AUC change. So it is known of a user's own metric, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import cast

import polars as pl

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.inputs.column_reader import InputColumns
from polars_prcurve.core.inputs.resolved_tables import MANY
from polars_prcurve.core.inputs.table_reader import read_input
from polars_prcurve.core.metrics.curve_metric import AtTarget, CurveMetric
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.eta_table import build_number_grid
from polars_prcurve.core.uncertainty.summary_table import build_summary_table

# Scores with labels, of which none is missing.
_SCORED_ROWS = pl.DataFrame({"score": [9, 8, 7, 6, 5, 4, 3, 2], "label": [1, 0, 1, 1, 0, 0, 1, 0]})
_N_NEG_BELOW = (0, 50, MANY)  # numbers of negatives below all of them: none, some, and very many
# No lone number, which Polars would repeat in a query: none may run at import.
_CELL_ROWS = pl.DataFrame(
    {"tp": [7.0] * 3, "fn": [3.0] * 3, "fp": [2.0] * 3, "tn": [float(n) for n in _N_NEG_BELOW]}
)


def check_negatives(metrics: Iterable[CurveMetric | PointMetric]) -> None:
    """Raise for a metric that needs the number of negatives, which is not known."""
    if refused_metrics := list(filter(needs_negatives, metrics)):
        raise PrcError(
            "pass both numbers as below=, or metrics that need no negatives, such as "
            "precision, recall, f1 and average_precision: negatives are not counted, and "
            f"{refused_metrics[0].name} needs their number"
        )


@lru_cache(maxsize=1000)
def needs_negatives(metric: CurveMetric | PointMetric) -> bool:
    """Return whether the value of a metric changes with the number of negatives below all scores."""
    if isinstance(metric, CurveMetric) and metric.is_at_threshold:
        metric = cast("AtTarget", metric.recipe.at_target).metric
    if isinstance(metric, PointMetric):  # at equal alerts, among more and more negatives
        tp, fn, fp, tn = map(pl.col, _CELL_ROWS.columns)
        recall, fpr, eta = tp / (tp + fn), fp / (fp + tn), (tp + fn) / (tp + fn + fp + tn)
        value_expr = metric.from_counts([tp, fn, fp, tn], (pl.lit(1.0), pl.lit(1.0)), (recall, fpr), eta)
        values = _CELL_ROWS.select(value=value_expr)["value"].to_list()
    else:
        values = []
        for n_neg in _N_NEG_BELOW:
            table = read_input(_SCORED_ROWS, InputColumns(below=(2, n_neg)), may_collect=True)
            summary = build_summary_table(table, build_number_grid([None], table), [metric])
            values.append(table.collect(summary, metric.name)["value"].item())
    if None in values:  # undefined with any number, as at a recall that is not found, it needs none
        return any(value is not None for value in values)
    return any(not math.isclose(values[0], other_value, rel_tol=1e-9) for other_value in values[1:])
