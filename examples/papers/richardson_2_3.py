"""Richardson et al. (2024), figures 2 and 3: the ROC curve stays as imbalance grows, the PR curve falls.

Given are the centres of positives, 0.5, 1 and 1.5, 10,000 scores a test set, three imbalances, and 1,000
repeats. Here negatives are N(0, 1), positives have deviation 1, and imbalances are 1:1, 1:9 and 1:99.
"""

import altair as alt
import numpy as np
import polars as pl
from common import Figure, about, normals, run
from richardson import CENTRES, IMBALANCES, areas, check_area, means, normal_at, simulated

from polars_prcurve import charts

CLASSIFIERS = {name: (normal_at(centre), normal_at(0)) for name, centre in CENTRES.items()}
AUC = {"worst": 0.638163195084, "middle": 0.760249938907, "best": 0.855577816827}
AREAS = {
    "worst": (0.626017, 0.163721, 0.017826),
    "middle": (0.752996, 0.292836, 0.042208),
    "best": (0.853801, 0.478072, 0.115481),
}


def drawn(found: pl.DataFrame) -> alt.VConcatChart:
    """Curves of one test set each, and the areas of all."""
    one = simulated(CLASSIFIERS, np.random.default_rng(0), 1).drop("repeat")
    curve = one.prc.curve(by=["imbalance", "classifier"], thresholds="corners")
    spread = alt.Chart(found.select("classifier", "imbalance", "metric", "value"), width=180, height=160)
    boxes = spread.mark_boxplot(size=14, outliers=False).encode(
        alt.X("imbalance", axis=alt.Axis(labelAngle=0)),
        alt.Y("value", title="Area", scale=alt.Scale(domain=[0, 1])),
        alt.XOffset("classifier", sort=list(CENTRES)),
        alt.Color("classifier"),
    )
    return alt.vconcat(
        charts.pr_curve(curve, color="classifier"),
        charts.roc_curve(curve, color="classifier"),
        boxes.facet("metric", title="Areas of all test sets"),
    )


def main(figure: Figure) -> alt.VConcatChart:
    for name, expected in AUC.items():
        area = normals(CENTRES[name], 0).prc.binormal()["roc_auc"].item()
        figure.check(
            f"{name}: area under the ROC curve, population",
            "",
            area,
            about(expected, 1e-12),
        )
    for name, expected in AREAS.items():
        fit = normals(CENTRES[name], 0).prc.summary(
            list(IMBALANCES.values()), metrics="average_precision", smooth="binormal"
        )
        for ratio, value, area in zip(
            IMBALANCES, expected, reversed(fit["value"].to_list()), strict=True
        ):
            what = f"{name}, {ratio}: average precision, population"
            figure.check(what, "", area, about(value, 1e-6))

    found = areas(CLASSIFIERS, ["roc_auc", "average_precision"], figure.size(1000, 40), seed=3)
    mean = means(found)
    for name in CENTRES:
        for ratio, expected in zip(IMBALANCES, AREAS[name], strict=True):
            value, error = mean[name, ratio, "roc_auc"]
            what = f"{name}, {ratio}: mean area under the ROC curve"
            is_listed = (name, ratio) == ("middle", "1:99")
            figure.check(what, "constant", value, about(AUC[name], 3 * error), listed=is_listed)
            what, area = (
                f"{name}, {ratio}: mean average precision",
                mean[name, ratio, "average_precision"],
            )
            check_area(figure, what, area, expected, "changes drastically", listed=is_listed)

    return drawn(found)


if __name__ == "__main__":
    run(main)
