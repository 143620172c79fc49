"""Brabec et al. (2020), figure 1: the P3 curve of a classifier with recall 0.6 and fpr 0.001."""

import polars as pl
from common import Figure, about, run

from polars_prcurve import charts, eta_for_precision, eta_grid

POINT = pl.DataFrame({"tpr": [0.6], "fpr": [0.001]})
RATES = ("tpr", "fpr")


def main(figure: Figure) -> charts.Chart:
    known = POINT.prc.operating_points([0.001, 0.01], recall=0.6, rates=RATES)["precision"]
    figure.check(
        "precision where 1 in 1,000 is positive", "drawn", known[0], about(0.375234521576, 1e-12)
    )
    figure.check("precision where 1 in 100 is positive", "drawn", known[1], about(0.858369098712, 1e-12))
    half = eta_for_precision(0.6, 0.001, 0.5)
    figure.check("prevalence at which precision is a half", "drawn", half, about(0.001663893511, 1e-12))

    points = POINT.prc.operating_points(eta_grid(1e-6, 1.0, 100), recall=0.6, rates=RATES)
    return charts.p3_curve(points)


if __name__ == "__main__":
    run(main)
