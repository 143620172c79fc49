"""Charts: each function takes a table of this package and returns a plain Altair chart.

    table -> curves     checked, put in order, under safe names: `curves`, `along_eta`
          -> channels   which of their columns are colour and which are panels
          -> points     what is drawn, reduced without changing the picture
          -> drawing    layers, panels, axes and titles

One short module per chart puts these together.
"""

from __future__ import annotations

from polars_prcurve.charts.by_eta import metric_by_eta, p3_curve
from polars_prcurve.charts.drawing import Chart
from polars_prcurve.charts.gains import prg_curve
from polars_prcurve.charts.pr import pr_curve
from polars_prcurve.charts.quantiles import normal_quantiles
from polars_prcurve.charts.ranks import ranking
from polars_prcurve.charts.ribbons import ribbon
from polars_prcurve.charts.roc import roc_curve
from polars_prcurve.charts.slider import live
from polars_prcurve.charts.thresholds import threshold_curve

__all__ = [
    "Chart",
    "live",
    "metric_by_eta",
    "normal_quantiles",
    "p3_curve",
    "pr_curve",
    "prg_curve",
    "ranking",
    "ribbon",
    "roc_curve",
    "threshold_curve",
]
