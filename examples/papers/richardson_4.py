"""Richardson et al. (2024), figure 4: two classifiers of equal area under the ROC curve.

One is good at early retrieval, the other is not. The distributions are not given; here they are those of
Saito and Rehmsmeier (2015): U(0, 1) against Beta(1, 4), and Beta(4, 1) against U(0, 1).
"""

import altair as alt
import numpy as np
import polars as pl
from common import Figure, about, run
from richardson import IMBALANCES, Draw, areas, check_area, means, simulated

from polars_prcurve import metrics


def beta(a: float, b: float) -> Draw:
    return lambda rng, shape: rng.beta(a, b, size=shape)


CLASSIFIERS = {"good": (beta(1, 1), beta(1, 4)), "bad": (beta(4, 1), beta(1, 1))}
EARLY = metrics.partial_roc_auc(0.1)
SCALED = metrics.partial_roc_auc_mcclish(0.1)
POPULATION = {
    ("good", EARLY.name): 0.0449873060152,
    ("bad", EARLY.name): 0.018098,
    ("good", SCALED.name): 0.710459505343,
    ("bad", SCALED.name): 0.568936842105,
    ("good", "roc_auc"): 0.8,
    ("bad", "roc_auc"): 0.8,
}
AREAS = {
    "good": (0.835648848265, 0.528077383010, 0.256358139661),
    "bad": (0.744423189463, 0.249994632286, 0.029732551638),
}


def population() -> pl.DataFrame:
    """The ROC curves, fpr = recall^4 and fpr = 1 - (1 - recall)^(1/4), as many points."""
    t = np.linspace(0, 1, 20_001)
    good = pl.DataFrame({"classifier": "good", "tpr": t, "fpr": t**4})
    return pl.concat([good, pl.DataFrame({"classifier": "bad", "tpr": 1 - (1 - t) ** 4, "fpr": t})])


def drawn(found: pl.DataFrame) -> alt.VConcatChart:
    """Curves of one test set at 1:9, and the areas of all."""
    one = simulated(CLASSIFIERS, np.random.default_rng(0), 1).drop("repeat")
    early = one.filter(imbalance="1:9").drop("imbalance")
    boxes = alt.Chart(found.select("classifier", "imbalance", "metric", "value"), width=150, height=160)
    boxes = boxes.mark_boxplot(size=18, outliers=False).encode(
        alt.X("imbalance", axis=alt.Axis(labelAngle=0)),
        alt.Y("value", title="Area", scale=alt.Scale(domain=[0, 1])),
        alt.XOffset("classifier"),
        alt.Color("classifier"),
    )
    return alt.vconcat(
        early.prc.plot.pr_curve(by="classifier") | early.prc.plot.roc_curve(by="classifier"),
        boxes.facet("metric", title="Areas of all test sets"),
    )


def main(figure: Figure) -> alt.VConcatChart:
    rates = {"by": "classifier", "rates": ("tpr", "fpr")}
    truth = population().prc.summary(0.5, metrics=[EARLY, SCALED, "roc_auc"], **rates)
    for (name, metric), expected in POPULATION.items():
        value = truth.filter(classifier=name, metric=metric)["value"].item()
        paper = "cannot tell them apart" if metric == "roc_auc" else "tells them apart"
        figure.check(f"{name}: {metric}, population", paper, value, about(expected, 1e-6))
    truth = population().prc.summary(list(IMBALANCES.values()), metrics="pr_auc", **rates)
    for name, row in AREAS.items():
        for (ratio, eta), expected in zip(IMBALANCES.items(), row, strict=True):
            value = truth.filter(classifier=name, eta=eta)["value"].item()
            figure.check(
                f"{name}, {ratio}: area under the PR curve, population",
                "",
                value,
                about(expected, 1e-5),
            )

    found = areas(CLASSIFIERS, ["roc_auc", SCALED, "average_precision"], figure.size(200, 10), seed=4)
    mean = means(found)
    for name in CLASSIFIERS:
        for ratio, expected in zip(IMBALANCES, AREAS[name], strict=True):
            for metric in ("roc_auc", SCALED.name):
                value, error = mean[name, ratio, metric]
                limit = about(POPULATION[name, metric], 3 * error + 0.002)
                figure.check(f"{name}, {ratio}: mean {metric}", "constant", value, limit)
            what, area = (
                f"{name}, {ratio}: mean average precision",
                mean[name, ratio, "average_precision"],
            )
            check_area(figure, what, area, expected, "changes with imbalance", listed=ratio == "1:99")

    return drawn(found)


if __name__ == "__main__":
    run(main)
