"""Brodersen et al. (2010), figure 1: sample, fit and truth of 100 scores, 40% of them positive.

In the paper 40 of 100 are positive; here also with probability 0.4, as for figure 2. The authors' code
leaves out the area left of the first recall, as trapezoids do here; the paper does not say so.
"""

import altair as alt
import polars as pl
from brodersen import TRUTH, biases, samples, true_area
from common import Figure, about, mean_and_error, run

from polars_prcurve import charts

ALPHA = 0.4


def drawn(one: pl.DataFrame) -> alt.HConcatChart:
    """The scores of one test set, and the curves of all estimates."""
    at = [k / 20 for k in range(-160, 161)]
    fit = {"thresholds": at, "smooth": "binormal"}
    curves = pl.concat(
        table.select(pl.lit(name).alias("estimate"), pl.all())
        for name, table in (
            ("alpha-binormal", one.prc.curve(**fit)),
            ("binormal", one.prc.curve(0.5, **fit)),
            ("sample", one.prc.curve()),
            ("truth", TRUTH.prc.curve(ALPHA, **fit)),
        )
    )
    scores = alt.Chart(one, title="100 scores", width=200, height=320).mark_bar(opacity=0.6)
    bars = scores.encode(
        alt.X("score", title="Score", bin=alt.Bin(step=1), axis=alt.Axis(format="d")),
        alt.Y("count()", title="Examples", stack=None),
        alt.Color("label", title="positive", scale=alt.Scale(range=["#999999", "#0072B2"])),
    )
    lines = charts.roc_curve(curves) | charts.pr_curve(curves, color="estimate")
    return alt.hconcat(bars, lines).resolve_scale(color="independent", strokeDash="independent")


def main(figure: Figure) -> alt.HConcatChart:
    auc = TRUTH.prc.binormal()["roc_auc"].item()
    figure.check("true area under the ROC curve", "", auc, about(0.760249938907, 1e-12))
    figure.check("true average precision", "", true_area(ALPHA), about(0.676765667599, 1e-12))

    tests = samples(ALPHA, 1000)
    for name, smooth in (("empirical", None), ("fitted", "binormal")):
        areas = tests.prc.summary(metrics="roc_auc", by="sample", smooth=smooth)["value"]
        mean, error = mean_and_error(areas)
        figure.check(
            f"bias of the area under the ROC curve, {name}",
            "none",
            mean - auc,
            about(0, 3 * error + 0.003),
        )
    exactly = samples(ALPHA, 1000, fixed=True)
    for design, each in (("40% positive", tests), ("40 positive", exactly)):
        found = {row["estimate"]: row for row in biases(each, ALPHA).iter_rows(named=True)}
        error = found["alpha-binormal"]["error"]
        for name, paper, limit in (
            ("alpha-binormal", "decent", about(0, 3 * error + 0.003)),
            ("binormal", "overestimates", about(0.075, 0.005)),
            ("steps", "positive", about(0.010, 3 * error)),
            ("trapezoids", "positive", about(-0.019, 3 * error)),
        ):
            what = f"bias of average precision, {design}, {name}"
            figure.check(what, paper, found[name]["bias"], limit)

    usual = tests.filter(pl.col("label").mean().over("sample") == ALPHA)  # 40 are positive
    one = usual.filter(sample=usual["sample"][0]).drop("sample")
    return drawn(one)


if __name__ == "__main__":
    run(main)
