"""Brabec et al. (2020), figure 3: which of two classifiers has the better F1 depends on prevalence.

Recall and fpr are those of the authors' code.
"""

import polars as pl
from common import Figure, about, run

from polars_prcurve import charts, crossing, eta_grid

POINTS = pl.DataFrame({"model": ["first", "second"], "tpr": [0.9, 0.6], "fpr": [0.01, 0.001]})
RATES = ("tpr", "fpr")


def main(figure: Figure) -> charts.Chart:
    trade = crossing((0.9, 0.01), (0.6, 0.001), "f1")
    figure.check("prevalence at which they trade places", "drawn", trade, about(0.0167158308751, 1e-12))

    # A target picks a point of each classifier; here each has one, and recall 0.5 is met by both.
    by_f1 = POINTS.prc.crossings(metric="f1", recall=0.5, rates=RATES)
    figure.check("the same, found in the table", "drawn", by_f1["eta"].item(), about(trade, 1e-12))
    below = by_f1["model_a"].item() == "second"
    figure.check("the second is better below (1: yes)", "drawn", below, about(1, 0))
    by_precision = POINTS.prc.crossings(metric="precision", recall=0.5, rates=RATES)
    figure.check("places traded by precision", "", by_precision.height, about(0, 0))

    points = POINTS.prc.operating_points(
        eta_grid(1e-6, 1.0, 100), recall=0.5, metrics="f1", by="model", rates=RATES
    )
    return charts.metric_by_eta(points, crossings=by_f1)


if __name__ == "__main__":
    run(main)
