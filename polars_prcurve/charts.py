"""Charts: each function takes a table of this package and returns a plain Altair chart.

It is a layered chart, or panels above a note, with exceptions at its function.
"""

from __future__ import annotations

from polars_prcurve.view.charts.alert_icons import alerts
from polars_prcurve.view.charts.by_prevalence import metric_by_eta, p3_curve
from polars_prcurve.view.charts.by_threshold import threshold_curve
from polars_prcurve.view.charts.gain_and_prg import gain_curve, prg_curve
from polars_prcurve.view.charts.model_difference import difference
from polars_prcurve.view.charts.net_benefit import decision_curve
from polars_prcurve.view.charts.parts.chart_assembly import Chart
from polars_prcurve.view.charts.period_series import monitor
from polars_prcurve.view.charts.pr import pr_curve
from polars_prcurve.view.charts.rank_lines import ranking
from polars_prcurve.view.charts.reliability_diagram import reliability
from polars_prcurve.view.charts.roc import roc_curve
from polars_prcurve.view.charts.score_histogram import scores

__all__ = [
    "Chart",
    "alerts",
    "decision_curve",
    "difference",
    "gain_curve",
    "metric_by_eta",
    "monitor",
    "p3_curve",
    "pr_curve",
    "prg_curve",
    "ranking",
    "reliability",
    "roc_curve",
    "scores",
    "threshold_curve",
]


def __dir__() -> list[str]:
    return list(__all__)
