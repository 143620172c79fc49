"""Curve metrics that are the value at one threshold: at the best one, or at a target.

Sources: (W) Williams 2021, (DG) Davis and Goadrich 2006.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import read_number
from polars_prcurve.float_exactness import is_at_least, is_at_most
from polars_prcurve.metrics.array_or_expression import Cell, choose_where, keep_where, minimum
from polars_prcurve.metrics.curve_metric import (
    CurveMetric,
    Finish,
    Fitted,
    Limits,
    Needs,
    Recipe,
    Rows,
    Term,
    precision_at,
    require_all_precisions,
    require_both_classes,
    require_one_precision,
    require_positives,
)
from polars_prcurve.metrics.metric import declare_factory
from polars_prcurve.metrics.names import find_point_metric
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.metrics.point_metrics import precision as precision_of_rows
from polars_prcurve.normal_distribution import normal_cdf


@declare_factory
def best(metric: str | PointMetric) -> CurveMetric:
    """The best value of a point metric over all thresholds.

    It is the greatest value, or the least if lower is better. The method `operating_points` returns its
    threshold.
    """
    of = find_point_metric(metric)
    total: Literal["max", "min"] = "max" if of.higher_is_better() else "min"
    needs: Needs = "corners" if of.falls_with_fpr else "all"
    return CurveMetric(
        f"best({of.name})",
        Recipe(lambda rows: rows.value(of), require_positives, total=total, needs=needs),
        range=of.range,
        direction=of.direction,
        depends_on_eta=of.depends_on_eta,
        source=of.source,
    )


def _highest_recall(
    is_met: Term, may_be_met: Term, finish: Finish, at_fpr: float | None = None
) -> Recipe:
    """Return the recipe of the highest recall where a test is met, or may be met by finer scores."""

    def term(rows: Rows) -> Cell:
        return choose_where(is_met(rows), rows.recall, 0.0)

    def most(rows: Rows) -> Cell:
        return choose_where(may_be_met(rows), rows.recall, 0.0)

    limits = Limits(term, most)
    return Recipe(term, finish, total="max", below="zero", ends_only=True, at_fpr=at_fpr, limits=limits)


@declare_factory
def recall_at_precision(precision: float) -> CurveMetric:
    """The highest recall among thresholds of at least this precision; 0 if there is none."""
    precision = read_number("precision", precision, "a number in [0, 1]", lambda share: 0 <= share <= 1)

    def is_met(rows: Rows) -> Cell:
        return is_at_least(rows.value(precision_of_rows), precision)

    def may_be_met(rows: Rows) -> Cell:
        at_corner = precision_at(rows.recall, _least_fpr(rows), rows.odds)
        return is_met(rows) | is_at_least(at_corner, precision)

    recipe = _highest_recall(is_met, may_be_met, require_all_precisions)
    return CurveMetric(f"recall_at_precision({precision:g})", recipe, source="recall")


@declare_factory
def recall_at_fpr(fpr: float) -> CurveMetric:
    """The highest recall among thresholds of at most this fpr; 0 if there is none."""
    fpr = read_number("fpr", fpr, "a number in [0, 1]", lambda share: 0 <= share <= 1)
    recipe = _highest_recall(
        lambda rows: is_at_most(rows.fpr, fpr),
        lambda rows: is_at_most(rows.fpr_before, fpr),
        require_both_classes,
        at_fpr=fpr,
    )
    return CurveMetric(f"recall_at_fpr({fpr:g})", recipe, depends_on_eta=False, source="recall")


@declare_factory
def precision_at_recall(recall: float) -> CurveMetric:
    """Precision where recall first reaches a value, on the ROC curve joined by straight lines (DG).

    A recall between two thresholds is achieved by choosing between them at random.
    """
    recall = read_number("recall", recall, "a number in (0, 1]", lambda share: 0 < share <= 1)

    def precision_if_hit(rows: Rows, fpr: Cell) -> Cell:
        hit = is_at_least(rows.recall, recall) & ~is_at_least(rows.recall_before, recall)
        return keep_where(hit, precision_at(recall, fpr, rows.odds))

    def term(rows: Rows) -> Cell:
        share = minimum((recall - rows.recall_before) / rows.rise, 1.0)
        return precision_if_hit(rows, rows.fpr_before + rows.run * share)

    def most(rows: Rows) -> Cell:
        return precision_if_hit(rows, _least_fpr(rows))

    # Brodersen et al. 2010, eq. 7; the outer Phi is missing there in print.
    z = -NormalDist().inv_cdf(recall) if recall < 1 else -math.inf

    def term_of_model(rows: Rows) -> Cell:
        fpr = normal_cdf(-(rows.column(c.BINORMAL_SLOPE) * z + rows.column(c.BINORMAL_SHIFT)))
        return precision_at(recall, fpr, rows.odds)

    return CurveMetric(
        f"precision_at_recall({recall:g})",
        Recipe(
            term,
            require_one_precision,
            total="max",
            at_recall=recall,
            fitted=Fitted(term_of_model),
            limits=Limits(lambda rows: precision_if_hit(rows, rows.fpr), most),
        ),
        source="W 2, DG",
    )


def _least_fpr(rows: Rows) -> Cell:
    """Return the least fpr at which finer scores may reach the recall of a row."""
    at_0 = rows.odds == math.inf  # precision is 0 there, or undefined
    return choose_where(at_0, rows.fpr, rows.fpr_before)
