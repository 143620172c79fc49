"""Brodersen et al. (2010), figure 2: the bias of estimates of average precision, by class imbalance.

The paper does not say how many scores a test set has; here it is 100, as in figure 1.
"""

import altair as alt
import polars as pl
from brodersen import biases, samples, true_area
from common import REPORTED, Figure, about, at_least, at_most, run

TRUTH = {
    0.05: 0.173315,
    0.1: 0.292836,
    0.2: 0.462121,
    0.3: 0.583012,
    0.4: 0.676766,
    0.5: 0.752996,
    0.7: 0.871829,
    0.9: 0.962104,
}
BINORMAL = {0.1: 0.447, 0.5: 0.0, 0.7: -0.115}
STEPS = {0.1: 0.057, 0.2: 0.034, 0.3: 0.020, 0.4: 0.010}


def drawn(found: pl.DataFrame) -> alt.Chart:
    means = found.with_columns(
        mean=pl.col("bias") + pl.col("alpha").map_elements(true_area, return_dtype=pl.Float64)
    )
    truth = pl.DataFrame(
        {"alpha": list(TRUTH), "mean": list(map(true_area, TRUTH)), "estimate": "truth"}
    )
    lines = pl.concat([means.select("alpha", "mean", "estimate"), truth])
    colors = {
        "alpha-binormal": "#009E73",
        "binormal": "#0072B2",
        "steps": "#D55E00",
        "trapezoids": "#E69F00",
        "truth": "#000000",
    }
    chart = alt.Chart(lines, title="Mean estimate of average precision, test sets of 100")
    return chart.mark_line(point=True, strokeWidth=1.5).encode(
        alt.X("alpha", title="Share of positives, alpha"),
        alt.Y("mean", title="Average precision"),
        alt.Color("estimate", scale=alt.Scale(domain=list(colors), range=list(colors.values()))),
    )


def main(figure: Figure) -> alt.Chart:
    for alpha, expected in TRUTH.items():
        figure.check(f"truth at alpha = {alpha}", "", true_area(alpha), about(expected, 1e-6))

    found = pl.concat(biases(samples(alpha, 1000), alpha) for alpha in TRUTH)
    bias = {(row["alpha"], row["estimate"]): row for row in found.iter_rows(named=True)}
    for alpha, expected in BINORMAL.items():
        row = bias[alpha, "binormal"]
        paper = "none" if alpha == 0.5 else "biased"
        limit = about(expected, 3 * row["error"] + 0.003)
        figure.check(f"binormal at {alpha}", paper, row["bias"], limit, listed=alpha == 0.1)
    for alpha in TRUTH:
        row = bias[alpha, "alpha-binormal"]
        limit = REPORTED if alpha == 0.05 else about(0, 0.006)
        paper = "unstable" if alpha == 0.05 else "smallest"
        figure.check(f"alpha-binormal at {alpha}", paper, row["bias"], limit, listed=alpha <= 0.1)
    for alpha, expected in STEPS.items():
        row = bias[alpha, "steps"]
        limit = about(expected, 3 * row["error"])
        figure.check(f"steps at {alpha}", "positive", row["bias"], limit, listed=alpha == 0.1)
    bias_of_lines = bias[0.1, "trapezoids"]["bias"]
    figure.check("trapezoids at 0.1", "positive", bias_of_lines, at_most(0), listed=True)
    fit, sample = (bias[0.1, name]["rmse"] for name in ("alpha-binormal", "trapezoids"))
    what = "root mean squared error at 0.1, alpha-binormal less trapezoids"
    figure.check(what, "outperforms", fit - sample, at_least(0), listed=True)

    return drawn(found)


if __name__ == "__main__":
    run(main)
