"""Richardson et al. (2024), figure 5: precision is in the ROC curve already, if imbalance is known.

The good classifier of figure 4, at imbalances of 1:9 and 1:99.
"""

import altair as alt
import numpy as np
import polars as pl
from common import Figure, about, at_most, run
from richardson import IMBALANCES, simulated
from richardson_4 import CLASSIFIERS

from polars_prcurve import charts, metrics

GOOD = {"good": CLASSIFIERS["good"]}


def main(figure: Figure) -> alt.HConcatChart:
    both = simulated(GOOD, np.random.default_rng(5), 1).filter(pl.col("imbalance") != "1:1")
    both = both.select("imbalance", "score", "label")
    counted = pl.col("tp") / (pl.col("tp") + pl.col("fp"))
    from_roc = metrics.precision(pl.col("recall"), pl.col("fpr"), pl.col("eta"))
    curve = both.prc.curve(by="imbalance")
    apart = curve.select((counted - from_roc).abs().max()).item()
    figure.check(
        "precision counted, less precision from the ROC point",
        "eq. in the figure",
        apart,
        at_most(1e-12),
    )

    rare = both.filter(imbalance="1:99").drop("imbalance")
    told = rare.prc.curve(IMBALANCES["1:9"])
    apart = told.select((pl.col("precision") - from_roc).abs().max()).item()
    figure.check(
        "precision at 1:9 told by the test set of 1:99, less the same", "", apart, at_most(1e-12)
    )

    at = rare.prc.operating_points(list(IMBALANCES.values()), threshold=0.5)
    for ratio, slack in (("1:9", 0.075), ("1:99", 0.022)):
        expected = metrics.precision(0.5, 0.5**4, IMBALANCES[ratio])  # of the population
        value = at.filter(eta=IMBALANCES[ratio])["precision"].item()
        figure.check(
            f"threshold 0.5: precision at {ratio}", "striking difference", value, about(expected, slack)
        )
    return charts.roc_curve(rare.prc.sweep(), eta=IMBALANCES["1:9"]) | both.prc.plot.pr_curve(
        by="imbalance"
    )


if __name__ == "__main__":
    run(main)
