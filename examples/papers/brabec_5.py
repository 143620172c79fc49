"""Brabec et al. (2020), figure 5: how well precision is known where recall and fpr are known so well.

Recall, fpr and their half-widths are those of the authors' code.
"""

import polars as pl
from common import Figure, about, at_most, run

from polars_prcurve import charts, eta_grid, max_width, precision_interval

POINTS = {"first": (0.9, 0.01), "second": (0.6, 0.001)}
HALF_WIDTHS = (0.01, 0.0005)


def band(name: str, recall: float, fpr: float) -> pl.DataFrame:
    point = pl.DataFrame({"classifier": [name], "tpr": [recall], "fpr": [fpr]})
    points = point.prc.operating_points(
        eta_grid(1e-6, 1.0, 200), recall=0.5, metrics="precision", by="classifier", rates=("tpr", "fpr")
    )
    low, high = precision_interval(recall, fpr, pl.col("eta"), *HALF_WIDTHS)
    return points.with_columns(precision_low=low, precision_high=high)


def main(figure: Figure) -> charts.Chart:
    bands = pl.concat(band(name, *point) for name, point in POINTS.items())
    expected = {
        "first": (0.0305671233741, 0.0109760871056),
        "second": (0.275667521050, 0.00144149527534),
    }
    for name, (delta, eta) in expected.items():
        width = max_width(*POINTS[name], *HALF_WIDTHS)
        figure.check(f"{name}: greatest width of the band", "drawn", width.delta, about(delta, 1e-12))
        figure.check(f"{name}: at which prevalence", "drawn", width.eta, about(eta, 1e-13))
        drawn = bands.filter(classifier=name).select(pl.col("precision_high") - pl.col("precision_low"))
        figure.check(
            f"{name}: drawn width above the greatest", "", drawn.max().item() - delta, at_most(1e-12)
        )
    return charts.p3_curve(bands)


if __name__ == "__main__":
    run(main)
