"""Every metric of the package; a metric with parameters comes with a few values of them."""

from __future__ import annotations

from polars_prcurve import metrics
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS
from polars_prcurve.core.metrics.point_metric import POINT_METRICS

ALL_POINT_METRICS = [
    *POINT_METRICS.values(),
    metrics.f_beta(2),
    metrics.f_beta(0.5),
    metrics.f_gain(1),
    metrics.f_gain(2),
    metrics.net_benefit(0.2),
]
ALL_CURVE_METRICS = [
    *CURVE_METRICS.values(),
    *(metrics.pr_auc_trapezoid(anchor) for anchor in ("first", "one", "none")),
    metrics.partial_roc_auc(0.25),
    metrics.partial_roc_auc_mcclish(0.1),
    metrics.recall_at_fpr(0.3),
    metrics.recall_at_precision(0.4),
    metrics.precision_at_recall(0.55),
    metrics.precision_at_fpr(0.3),
    metrics.recall_at_alerts(20, 100),
    metrics.precision_at_alerts(20, 100),
    metrics.integrated_average_precision(0.01, 0.5),
    metrics.integrated_average_precision(0, 1),
    metrics.integrated_average_precision(0.0001, 1, "log"),
    metrics.integrated_average_precision(0.0001, 0.1, "logit"),
    metrics.integrated("average_precision", 0.01, 0.5),
    metrics.integrated("average_precision", 0.0001, 1, "log"),
    metrics.integrated(metrics.average_precision, 0.0001, 0.1, "logit"),
    metrics.best("f1"),
    metrics.best(metrics.f_beta(2)),
    metrics.best("mcc"),
    metrics.best("lr_neg"),
    metrics.best("specificity"),
    metrics.best(metrics.net_benefit(0.2)),
]
LAZY_CURVE_METRICS = [metric for metric in ALL_CURVE_METRICS if not metric.recipe.on_hull]
"""The curve metrics that a LazyFrame can compute."""

__all__ = ["ALL_CURVE_METRICS", "ALL_POINT_METRICS", "LAZY_CURVE_METRICS"]
