"""Williams (2021), equations 2, 6, 8 and 9: what depends on the ratio of classes, and how.

One small ranking, the labels of ten examples in falling order of score.
"""

import polars as pl
from common import Figure, about, run

from polars_prcurve import charts, metrics, ratio_from_eta

RANKING = pl.DataFrame({"score": range(10, 0, -1), "label": [0, 1, 1, 0, 1, 0, 0, 1, 0, 0]})
ETAS = (0.02, 0.1, 0.4)


def main(figure: Figure) -> charts.Chart:
    asked = ["precision", "precision_gain", "recall_gain", metrics.f_beta(2)]
    curve = RANKING.prc.curve(ETAS, metrics=asked).filter(pl.col("recall") > 0)
    first, *others = (curve.filter(eta=eta) for eta in ETAS)
    moved = max((first["precision_gain"] - each["precision_gain"]).abs().max() for each in others)
    figure.check(
        "precision gain: by how much the ratio moves it", "not at all (eq. 8)", moved, about(0, 1e-15)
    )

    r = ratio_from_eta(ETAS[0])
    scaled = [(1 - each["recall_gain"]) / ratio_from_eta(each["eta"][0]) for each in others]
    apart = max(((1 - first["recall_gain"]) / r - each).abs().max() for each in scaled)
    figure.check(
        "recall gain less 1, over the ratio: by how much", "affine (eq. 9)", apart, about(0, 1e-12)
    )
    harmonic = 5 / (1 / pl.col("precision") + 4 / pl.col("recall"))  # eq. 4, beta = 2
    apart = curve.select((harmonic - pl.col("f_beta(2)")).abs().max()).item()
    figure.check(
        "F2 less the weighted mean of precision and recall", "the same (eq. 4-6)", apart, about(0, 1e-14)
    )

    areas = RANKING.prc.summary(0.02, metrics=["auprg", "auprg_clipped"])["value"]
    figure.check(
        "area under the gain curve at 0.02, Flach and Kull's code", "", areas[0], about(-3.258, 0.001)
    )
    figure.check("the same if negative gains are ignored", "ignored", areas[1], about(0.0348, 0.0001))

    everywhere = RANKING.prc.curve(1.0)
    certain = everywhere.filter(pl.col("recall") > 0)["precision"]
    figure.check("precision at prevalence 1, least, recall above 0", "1", certain.min(), about(1, 0))
    unknown = everywhere.filter(recall=0)["precision"].null_count()
    figure.check("thresholds at which it is undefined, recall 0", "none", unknown, about(1, 0))
    return charts.prg_curve(RANKING.prc.curve(ETAS))


if __name__ == "__main__":
    run(main)
