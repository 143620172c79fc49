"""Brodersen et al. (2010), sections II and III: equation 7, the FDR curve, transformations."""

from statistics import NormalDist

import altair as alt
import numpy as np
import polars as pl
from brodersen import TRUTH, true_area
from common import Figure, about, at_least, run

from polars_prcurve import charts, metrics

ALPHA = 0.4
POS, NEG = NormalDist(1, 2), NormalDist(-1, 2)
RIGHT = {0.1: 0.855528, 0.5: 0.677522, 0.9: 0.495517}
PRINTED = {0.1: -0.0267, 0.5: 1.0, 0.9: 0.1897}
GRID = np.linspace(-15, 15, 3001).tolist()


def printed(recall: float) -> float:
    """Equation 7 to the letter, where the quantile of the positives is a number like any other."""
    rest = (1 - ALPHA) * (1 - POS.inv_cdf(1 - recall))
    return ALPHA * recall / (ALPHA * recall + rest)


def main(figure: Figure) -> charts.Chart:
    for recall, expected in RIGHT.items():
        asked = metrics.precision_at_recall(recall)
        found = TRUTH.prc.summary(ALPHA, metrics=asked, smooth="binormal")["value"].item()
        figure.check(f"precision at recall {recall}, by equation 6", "", found, about(expected, 1e-6))
        what = f"precision at recall {recall}, by equation 7 as printed"
        limit = about(PRINTED[recall], 1e-4)
        figure.check(what, "the same", printed(recall), limit, listed=recall == 0.1)

    fdr = TRUTH.prc.curve(ALPHA, metrics="fdr", smooth="binormal", thresholds=GRID)
    middle = (pl.col("fdr") + pl.col("fdr").shift()) / 2
    area = fdr.select((middle * pl.col("recall").diff()).sum()).item()
    figure.check(
        "area under the FDR curve", "average precision", area, about(1 - true_area(ALPHA), 1e-5)
    )
    figure.check("average precision", "", true_area(ALPHA), about(0.676766, 1e-6))

    normal = NormalDist()  # scores at 2,000 evenly spaced quantiles of N(2, 1) and of N(0, 1)
    quantiles = [normal.inv_cdf((k + 0.5) / 2000) for k in range(2000)]
    label = [1] * 2000 + [0] * 2000
    plain = pl.DataFrame({"score": [*(q + 2 for q in quantiles), *quantiles], "label": label})
    risen = plain.with_columns(pl.col("score").exp())
    ranked = [df.prc.summary(metrics="roc_auc")["value"].item() for df in (plain, risen)]
    fitted = [df.prc.binormal()["roc_auc"].item() for df in (plain, risen)]
    figure.check(
        "exp of all scores: change of the area, sample", "none", ranked[1] - ranked[0], about(0, 0)
    )
    figure.check(
        "exp of all scores: fall of the area, fit",
        "none",
        fitted[0] - fitted[1],
        at_least(0.1),
        listed=True,
    )

    recalls = [k / 100 for k in range(1, 100)]
    letter = pl.DataFrame({"recall": recalls, "precision": list(map(printed, recalls))})
    dots = alt.Chart(letter).mark_point(color="#D55E00", filled=True, size=12, clip=True)
    curve = TRUTH.prc.curve(ALPHA, smooth="binormal", thresholds=GRID)
    line = charts.pr_curve(curve, title="N(1, 4) against N(-1, 4); dots: equation 7 as printed")
    return line + dots.encode(x="recall", y="precision")


if __name__ == "__main__":
    run(main)
