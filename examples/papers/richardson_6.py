"""Richardson et al. (2024), figure 6: no transform of one area takes imbalance out of it.

The classifiers of figure 3. The formula of the min-max transform is not printed; here it is
(area - prevalence) / (1 - prevalence). An area computed at one prevalence for all is no such transform.
"""

import altair as alt
import numpy as np
import polars as pl
from common import Figure, about, at_least, normals, run
from richardson import CENTRES, IMBALANCES, check_area, means, simulated
from richardson_2_3 import AREAS, CLASSIFIERS

from polars_prcurve import charts, eta_grid

NORMALIZED = {
    "worst": (1.252, 1.637, 1.783),
    "middle": (1.506, 2.928, 4.221),
    "best": (1.708, 4.781, 11.548),
}
TRANSFORMS = [f"{kind}_average_precision" for kind in ("marginal", "normalized", "min_max")]


def main(figure: Figure) -> alt.FacetChart:
    fits = pl.concat(
        normals(centre, 0).select(pl.lit(name).alias("classifier"), pl.all())
        for name, centre in CENTRES.items()
    )
    asked = ["average_precision", *TRANSFORMS]
    truth = fits.prc.summary(
        list(IMBALANCES.values()), metrics=asked, by="classifier", smooth="binormal"
    )
    for name, row in NORMALIZED.items():
        for (ratio, eta), expected in zip(IMBALANCES.items(), row, strict=True):
            value = truth.filter(classifier=name, eta=eta, metric=TRANSFORMS[1])["value"].item()
            figure.check(
                f"{name}, {ratio}: area over prevalence",
                "drawn",
                value,
                about(expected, 0.001),
            )
    for metric in TRANSFORMS:
        ranges = (
            truth.filter(metric=metric)
            .group_by("classifier")
            .agg(pl.col("value").max() - pl.col("value").min())
        )
        least = ranges["value"].min()
        figure.check(f"{metric}: its least range over imbalances", "changes", least, at_least(0.05))

    test_sets = simulated(CLASSIFIERS, np.random.default_rng(6), figure.size(200, 10))
    groups = ["classifier", "imbalance", "repeat"]
    fixed = test_sets.prc.summary(IMBALANCES["1:9"], metrics="average_precision", by=groups)
    for (name, ratio, _), area in means(fixed).items():
        what = f"{name}: mean area at 1:9 of test sets of {ratio}"
        check_area(figure, what, area, AREAS[name][1], "not asked", listed=name == "best")
    over_eta = fits.prc.summary(eta_grid(0.01, 0.5), metrics=asked, by="classifier", smooth="binormal")
    # The table has four rows a classifier, to be fitted; they are no test set.
    return charts.metric_by_eta(over_eta.drop("n_pos", "n_neg"), facet="metric")


if __name__ == "__main__":
    run(main)
