"""The areas under the ROC curve, added up along the recall axis.

Sources: (R) Richardson et al. 2024, (M) McClish 1989.
"""

from __future__ import annotations

import math

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import read_number
from polars_prcurve.metrics.curve_metric import (
    CurveFacts,
    CurveMetric,
    Finish,
    Fitted,
    Influence,
    Limits,
    Recipe,
    Rows,
    declare_curve,
    declare_like,
    require_both_classes,
)
from polars_prcurve.metrics.elementwise import Cell, choose_where, maximum
from polars_prcurve.metrics.metric import declare_factory

# The influence of a positive is the share of negatives below it, and that of a negative the share of
# positives above it, where ties count by halves (DeLong et al. 1988).
_INFLUENCE = Influence(
    lambda rows: -(rows.fpr_before + rows.fpr) / 2,
    lambda rows: (rows.recall_before + rows.recall) / 2,
    lambda rows: rows.recall_before,
    lambda rows: {},
    ddof=1,
)


def _least_if_perfect(n_pos: pl.Expr, n_neg: pl.Expr, alpha: float) -> pl.Expr:
    """Return the ROC AUC at which none of the smaller class is on the wrong side with odds of alpha."""
    # The area A at which A**n is alpha, for n examples of the smaller class.
    return (math.log(alpha) / pl.min_horizontal(n_pos, n_neg)).exp()


@declare_curve(
    source="R Fig. 4",
    depends_on_eta=False,
    finish=require_both_classes,
    below="ties",
    influence=_INFLUENCE,
    least_if_perfect=_least_if_perfect,
    fitted=Fitted(lambda rows: rows.column(c.BINORMAL_AUC)),
    limits=Limits(
        lambda rows: rows.rise * (1 - rows.fpr), lambda rows: rows.rise * (1 - rows.fpr_before)
    ),
)
def roc_auc(rows: Rows) -> Cell:
    """The share of pairs in which the positive scores higher than the negative; ties count half."""
    return rows.rise * ((1 - rows.fpr_before) + (1 - rows.fpr)) / 2


@declare_like(roc_auc, on_hull=True, influence=None, fitted=None, limits=None)
def roc_auc_hull(area: Cell, facts: CurveFacts) -> Cell:
    """The area `roc_auc` of the convex hull of the ROC curve."""
    return require_both_classes(area, facts)


def _build_partial(name: str, limit: float, finish: Finish, range: tuple[float, float]) -> CurveMetric:
    """Return the area between the curve and a vertical line at an fpr of `limit`, after `finish`."""

    def term(rows: Rows) -> Cell:
        start, end = limit - rows.fpr_before, limit - rows.fpr
        # If a segment crosses the line, only its part before the line counts: a triangle.
        mean = choose_where(end >= 0, (start + end) / 2, start * start / (start - end) / 2)
        return choose_where(start > 0, rows.rise * mean, 0.0)

    limits = Limits(
        lambda rows: rows.rise * maximum(limit - rows.fpr, 0.0),
        lambda rows: rows.rise * maximum(limit - rows.fpr_before, 0.0),
    )
    recipe = Recipe(term, finish, below="ties", limits=limits)
    return CurveMetric(f"{name}({limit:g})", recipe, range=range, depends_on_eta=False, source="M")


def _read_max_fpr(max_fpr: float) -> float:
    return read_number("max_fpr", max_fpr, "a number in (0, 1]", lambda limit: 0 < limit <= 1)


@declare_factory
def partial_roc_auc(max_fpr: float) -> CurveMetric:
    """The area under the ROC curve left of `max_fpr`, not standardized: at most `max_fpr`."""
    limit = _read_max_fpr(max_fpr)
    return _build_partial("partial_roc_auc", limit, require_both_classes, (0.0, limit))


@declare_factory
def partial_roc_auc_mcclish(max_fpr: float) -> CurveMetric:
    """The partial area left of `max_fpr`, on a scale of 1/2 for random and 1 for perfect rankings (M).

    scikit-learn's `roc_auc_score(max_fpr=)` returns this value.
    """
    limit = _read_max_fpr(max_fpr)
    random = limit * limit / 2  # the triangle below the diagonal; perfect rankings have all of `limit`

    def finish(area: Cell, facts: CurveFacts) -> Cell:
        return require_both_classes((1 + (area - random) * (1 / (limit - random))) / 2, facts)

    least = (1 - random / (limit - random)) / 2
    return _build_partial("partial_roc_auc_mcclish", limit, finish, (least, 1.0))
