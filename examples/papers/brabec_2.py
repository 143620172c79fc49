"""Brabec et al. (2020), figure 2: one ROC curve is a PR curve at 1:10, and another at 1:100.

The paper does not say which ROC curve; here it is the first of figure 4.
"""

from pathlib import Path

import polars as pl
from common import Figure, about, run

from polars_prcurve import charts, eta_from_ratio, metrics

POINTS = pl.read_csv(Path(__file__).with_name("brabec_fig_4.csv")).filter(classifier=1)
ETAS = [eta_from_ratio("1:100"), eta_from_ratio("1:10")]


def main(figure: Figure) -> charts.Chart:
    curves = POINTS.prc.curve(ETAS, rates=("tpr", "fpr"))
    rare, common = (curves.filter(eta=eta).select("recall", "fpr") for eta in ETAS)
    moved = (rare - common).select(pl.max_horizontal(pl.all().abs()).max()).item()
    figure.check("by how much a point of the ROC curve moves", "it does not", moved, about(0, 0))

    area = metrics.pr_auc_trapezoid("none")  # as the authors' code: from the first recall on
    rare_area, common_area = POINTS.prc.summary(ETAS, metrics=area, rates=("tpr", "fpr"))["value"]
    figure.check("area under the PR curve at 1:10", "drawn", common_area, about(0.830941635393, 1e-11))
    figure.check("area under the PR curve at 1:100", "drawn", rare_area, about(0.580938995178, 1e-11))
    return charts.roc_curve(curves, log_x=True) | charts.pr_curve(curves)


if __name__ == "__main__":
    run(main)
