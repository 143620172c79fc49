"""Which metrics need the number of negatives, and which follow from the rows that have a score.

It is found by trial: of a table with more negatives below all scores, precision and average precision
stay, and specificity and ROC AUC change. So it is known of a user's own metric, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import polars as pl

from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.score_and_rate_tables import MANY, InputTable, counts_negatives
from polars_prcurve.inputs.table_reader import read_input
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.prevalence.eta_argument import read_eta
from polars_prcurve.uncertainty.summary_table import build_summary_table

_SCORED = pl.DataFrame({"score": [9, 8, 7, 6, 5, 4, 3, 2], "label": [1, 0, 1, 1, 0, 0, 1, 0]})
_BELOW = (0, 50, MANY)
_CELLS = pl.DataFrame(  # no lone number, which Polars would repeat in a query: none may run at import
    {"tp": [7.0] * 3, "fn": [3.0] * 3, "fp": [2.0] * 3, "tn": [float(n) for n in _BELOW]}
)

_OF_NEGATIVES = ("eta", "n_neg", "tn", "fpr", "fpr_low", "fpr_high")
"""Columns of results that follow from the number of negatives."""


def check_negatives(table: InputTable, metrics: Iterable[CurveMetric | PointMetric]) -> None:
    """Raise for a metric that needs the number of negatives, where a table does not tell it."""
    wrong = [] if counts_negatives(table) else list(filter(needs_negatives, metrics))
    if wrong:
        raise PrcError(
            f"negatives are not counted, and {wrong[0].name} needs their number; pass both numbers as "
            "below=, or metrics of what was found, such as precision, recall, f1 and average_precision"
        )


def hide_uncounted(table: InputTable, query: pl.LazyFrame, makes: Iterable[str]) -> pl.LazyFrame:
    """Return a result with null in what `makes` names that follows from a number not known."""
    names = [] if counts_negatives(table) else [name for name in makes if name in _OF_NEGATIVES]
    return query.with_columns(pl.when(False).then(pl.col(name)).alias(name) for name in names)


@lru_cache(maxsize=1000)
def needs_negatives(metric: CurveMetric | PointMetric) -> bool:
    """Return whether the value of a metric changes with the number of negatives below all scores."""
    if isinstance(metric, PointMetric):  # at equal alerts, among more and more negatives
        tp, fn, fp, tn = map(pl.col, _CELLS.columns)
        recall, fpr, eta = tp / (tp + fn), fp / (fp + tn), (tp + fn) / (tp + fn + fp + tn)
        value = metric.from_counts([tp, fn, fp, tn], (pl.lit(1.0), pl.lit(1.0)), (recall, fpr), eta)
        values = _CELLS.select(value=value)["value"].to_list()
    else:
        values = []
        for n_neg in _BELOW:
            table = read_input(_SCORED, makes=(), may_collect=True, below=(2, n_neg))
            found = build_summary_table(table, read_eta(None, table, ()), [metric])
            values.append(table.collect(found, metric.name)["value"].item())
    if None in values:  # undefined with any number, as at a recall that is not found, it needs none
        return any(value is not None for value in values)
    return any(not math.isclose(values[0], x, rel_tol=1e-9) for x in values[1:])
