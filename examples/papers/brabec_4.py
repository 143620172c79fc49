"""Brabec et al. (2020), figure 4: the larger area under the PR curve depends on prevalence.

The points are those of the authors' code, which joins them by straight lines from the first recall on.
"""

from pathlib import Path

import altair as alt
import polars as pl
from common import Figure, about, at_least, run

from polars_prcurve import charts, eta_grid, metrics

POINTS = pl.read_csv(Path(__file__).with_name("brabec_fig_4.csv"))
LINES = metrics.pr_auc_trapezoid("none").alias("area_under_straight_lines")
LEGEND = {(0.1, 1): 0.837655, (0.1, 2): 0.746315, (0.001, 1): 0.232816, (0.001, 2): 0.415851}


def main(figure: Figure) -> alt.VConcatChart:
    points = POINTS.prc(model="classifier", rates=("tpr", "fpr"))
    areas = points.summary([0.1, 0.001], metrics=LINES)
    for (eta, classifier), expected in LEGEND.items():
        area = areas.filter(eta=eta, classifier=classifier)["value"].item()
        what = f"area of classifier {classifier} at {eta}"
        figure.check(what, f"{expected:.2f}", area, about(expected, 1e-6))

    for metric, how, expected in (
        (LINES, "straight lines", 0.0180696768745),
        ("average_precision", "steps", 0.0199741394646),
        ("pr_auc", "what thresholds achieve", 0.0188819823575),
    ):
        [eta] = points.crossings(metric=metric)["eta"]
        paper = "drawn" if metric is LINES else ""
        figure.check(f"prevalence of equal areas: {how}", paper, eta, about(expected, 1e-10))

    first, second = points.summary(metrics="roc_auc", eta=0.5)["value"]
    lead = first - second
    figure.check("lead of the first by area under the ROC curve", "no help", lead, at_least(0.11))

    trades = points.crossings(metric=LINES)
    over_eta = points.summary(eta_grid(1e-6, 1.0, 100), metrics=LINES)
    return alt.vconcat(
        points.plot.roc_curve() | points.plot.roc_curve(log_x=True),
        charts.pr_curve(points.curve([0.1, 0.001])),
        charts.metric_by_eta(over_eta, crossings=trades),
    )


if __name__ == "__main__":
    run(main)
