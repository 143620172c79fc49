"""Brabec et al. (2020), theorem 1 and what follows from it: how wide can the band of precision be?"""

import altair as alt
import numpy as np
import polars as pl
from common import Figure, about, at_least, at_most, run

from polars_prcurve import max_width, metrics, precision_interval

RECALL, FPR = 0.6, 0.001


def drawn(widths: pl.DataFrame) -> alt.LayerChart:
    dots = alt.Chart(widths.head(1000), title="Greatest width of the band of precision")
    bound = alt.Chart(pl.DataFrame({"larger": [0, 1], "width": [0, 1]})).mark_line(color="#888888")
    return bound.encode(
        alt.X("larger", title="Larger coefficient of variation"), alt.Y("width", title="Width")
    ) + dots.mark_point(filled=True, size=12).encode(
        x="larger",
        y="width",
        color=alt.Color("ratio", title="smaller / larger", scale=alt.Scale(scheme="viridis")),
    )


def main(figure: Figure) -> alt.LayerChart:
    narrow = max_width(RECALL, FPR, 0.06, 0.0001)
    wide = max_width(RECALL, FPR, 0.06, 0.0005)
    figure.check("width at CVs of 0.1 and 0.1", "0.1", narrow.delta, about(0.1, 1e-12))
    figure.check(
        "width at CVs of 0.1 and 0.5 (footnote 4)", "0.31", wide.delta, about(0.313859338365, 1e-12)
    )
    figure.check("at which prevalence", "1.45e-3", wide.eta, about(0.00144854580415, 1e-13))
    figure.check("and its bound, the larger CV", "0.5", wide.bound, about(0.5, 1e-12))
    figure.check(
        "CVs of 0.1: precision above its estimate", "at most 0.1", narrow.up, about(0.050125629, 1e-9)
    )
    figure.check(
        "CVs of 0.1: and below", "at most 0.1", narrow.down, about(0.050125629, 1e-9), listed=False
    )
    figure.check(
        "CVs of 0.1 and 0.5: above", "at most 0.5", wide.up, about(0.194600504, 1e-9), listed=False
    )
    figure.check(
        "CVs of 0.1 and 0.5: below", "at most 0.5", wide.down, about(0.127016654, 1e-9), listed=False
    )
    low, high = precision_interval(RECALL, FPR, 1e-9, 0.06, 0.0001)
    estimate = metrics.precision(RECALL, FPR, 1e-9)
    figure.check(
        "CVs of 0.1: relative error up, at 1e-9", "±10%", high / estimate - 1, about(2 / 9, 1e-6)
    )
    figure.check(
        "CVs of 0.1: relative error down", "±10%", 1 - low / estimate, about(2 / 11, 1e-6), listed=False
    )

    rng = np.random.default_rng(5)
    recall_cv, fpr_cv = rng.uniform(0.01, 0.99, (2, 20_000))
    width = [
        max_width(0.5, 0.01, recall_cv=a, fpr_cv=b).delta for a, b in zip(recall_cv, fpr_cv, strict=True)
    ]
    widths = pl.DataFrame({"recall_cv": recall_cv, "fpr_cv": fpr_cv, "width": width})
    larger, smaller = pl.max_horizontal("recall_cv", "fpr_cv"), pl.min_horizontal("recall_cv", "fpr_cv")
    over, under, mean = widths.select(
        (pl.col("width") - larger).max(),
        (pl.col("width") - smaller).min().alias("under"),
        (pl.col("width") - (larger + smaller) / 2).min().alias("mean"),
    ).row(0)
    figure.check("random CVs: width above the larger one", "never (theorem 1)", over, at_most(1e-12))
    figure.check("random CVs: width less the smaller one", "", under, at_least(-1e-12))
    figure.check("random CVs: width less their mean", "", mean, at_least(-1e-12))

    return drawn(widths.select(larger.alias("larger"), "width", ratio=smaller / larger))


if __name__ == "__main__":
    run(main)
