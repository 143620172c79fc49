"""Brabec et al. (2020), figure 6: what a test set balanced by leaving negatives out would have found.

The scores of the paper, of a network that looks for 50 agamas among 50,000 images, are not published.
Normal scores stand in, of as many images.
"""

import altair as alt
import numpy as np
import polars as pl
from common import Figure, about, at_least, at_most, run

from polars_prcurve import subsampled_precision

ETA = 0.01


def expected(samples: pl.DataFrame) -> list:
    """What theory says of each threshold."""
    counts = samples.select("tp", "fp", "n_kept", n_pos=50, n_neg=49_950)
    return [subsampled_precision(**row) for row in counts.iter_rows(named=True)]


def compared_with_theory(figure: Figure, images: pl.DataFrame) -> None:
    many = images.prc.subsample_negatives(ETA, n_repeats=1000, seed=2)
    told = expected(many)
    mean, sd = (
        np.array([getattr(each, name) for each in told]) for name in ("mean", "standard_deviation")
    )
    some = sd > 0
    errors = np.abs(many["mean"].to_numpy() - mean)[some] / (sd[some] / 1000**0.5)
    ratios = many["standard_deviation"].to_numpy()[some] / sd[some]
    figure.check("mean of 1,000 samples, in standard errors off", "", errors.max(), at_most(4))
    figure.check(
        "their deviation over what theory says, off 1", "", np.abs(ratios - 1).max(), at_most(0.1)
    )


def draw(samples: pl.DataFrame) -> alt.LayerChart:
    """The precision of all samples, of their middle half, and with all negatives."""
    base = alt.Chart(
        samples,
        width=420,
        height=240,
        title="Precision with 4,950 of 49,950 negatives, at a prevalence of 1%",
    )
    base = base.encode(alt.X("recall").title("Recall"))
    ribbon = base.mark_area(opacity=0.2, interpolate="step-before")
    line = base.mark_line(interpolate="step-before").encode(alt.Y("precision").title("Precision"))
    return ribbon.encode(y="low", y2="high") + ribbon.encode(y="q1", y2="q3") + line


def main(figure: Figure) -> alt.LayerChart:
    exact = subsampled_precision(tp=40, n_pos=50, fp=30, n_neg=49_950, n_kept=4_950)
    figure.check(
        "40 found, 30 false alarms: adjusted precision", "", exact.precision, about(0.930818, 1e-6)
    )
    figure.check("the same in samples, on average", "", exact.mean, about(0.932148, 1e-6))
    figure.check(
        "the same, standard deviation", "considerable", exact.standard_deviation, about(0.034979, 1e-6)
    )

    rng = np.random.default_rng(6)
    label = np.arange(50_000) < 50
    images = pl.DataFrame({"score": rng.normal(3.3 * label), "label": label})
    flat = (images.prc.sweep()["recall"].diff() == 0).sum()
    figure.check(
        "thresholds at which the ROC curve does not rise", "strictly increasing", flat, about(49_950, 0)
    )

    few = images.prc.subsample_negatives(ETA, n_repeats=30, seed=1)
    inside = few.select(pl.col("precision").is_between("low", "high").mean()).item()
    figure.check(
        "recalls at which the line is in the band of 30 samples", "drawn", inside, at_least(0.95)
    )
    quartiles = [each.quartiles for each in expected(few)]
    outside = sum(
        q1 < row["low"] or q3 > row["high"]
        for (q1, _, q3), row in zip(quartiles, few.rows(named=True), strict=True)
    )
    figure.check("recalls at which the middle half is not", "drawn", outside, about(0, 0))
    compared_with_theory(figure, images)
    return draw(few.filter(pl.col("recall") > 0).unique("recall", keep="first", maintain_order=True))


if __name__ == "__main__":
    run(main)
