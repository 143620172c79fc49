"""Charts: each function takes a table of this package and returns a plain Altair chart.

It is a layered chart, or panels above a note, unless its function says otherwise.

    table -> result_tables       checked and sorted, under fixed field names
          -> colors_and_panels   which columns are colour and which are panels
          -> point_thinning      fewer points for the same picture
          -> line_canvas         lines, dots, lines to compare with, and what the pointer reads
          -> marked_points       filled points of a table such as `operating_points`
          -> chart_titles        titles
          -> label_placement     names at lines, and labels at points
          -> chart_assembly      layers, panels, title and note

These parts are in `charts/parts`, and each chart has a short module that puts them together.
"""

from __future__ import annotations

from polars_prcurve.charts.by_prevalence import metric_by_eta, p3_curve
from polars_prcurve.charts.by_threshold import threshold_curve
from polars_prcurve.charts.gain_curves import gain_curve, prg_curve
from polars_prcurve.charts.icon_grids import alerts
from polars_prcurve.charts.live_slider import live
from polars_prcurve.charts.model_difference import difference
from polars_prcurve.charts.net_benefit import decision_curve
from polars_prcurve.charts.normal_qq_plot import normal_quantiles
from polars_prcurve.charts.parts.chart_assembly import Chart
from polars_prcurve.charts.period_series import monitor
from polars_prcurve.charts.pr import pr_curve, ribbon
from polars_prcurve.charts.rank_lines import ranking
from polars_prcurve.charts.reliability_diagram import reliability
from polars_prcurve.charts.roc import roc_curve

__all__ = [
    "Chart",
    "alerts",
    "decision_curve",
    "difference",
    "gain_curve",
    "live",
    "metric_by_eta",
    "monitor",
    "normal_quantiles",
    "p3_curve",
    "pr_curve",
    "prg_curve",
    "ranking",
    "reliability",
    "ribbon",
    "roc_curve",
    "threshold_curve",
]


def __dir__() -> list[str]:
    return list(__all__)
