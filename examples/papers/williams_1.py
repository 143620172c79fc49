"""Williams (2021), figure 1: a PR curve measured at one prevalence tells the one at another.

Two classes of normal points in the plane and a logistic regression. The paper does not give means and
covariances; here they are (0, 0) and (1, 1), and the unit matrix.
"""

import numpy as np
import polars as pl
from common import Figure, about, at_most, normals, run
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve

from polars_prcurve import charts, eta_from_ratio, metrics

RARE = eta_from_ratio("1:10")
N = 5000
RECALLS = [k / 100 for k in range(20, 101)]


def points(rng: np.random.Generator, n_pos: int, n_neg: int) -> tuple[np.ndarray, np.ndarray]:
    label = np.arange(n_pos + n_neg) < n_pos
    return rng.normal(size=(n_pos + n_neg, 2)) + label[:, None], label


def drawn(blue: pl.DataFrame, green: pl.DataFrame) -> charts.Chart:
    tables = {
        "found, 1:1": (blue, None),
        "found, 1:10": (green, None),
        "1:1, rescaled to 1:10": (blue, RARE),
    }
    curves = pl.concat(
        df.prc.curve(eta, thresholds="corners").select(pl.lit(name).alias("test set"), pl.all())
        for name, (df, eta) in tables.items()
    )
    return charts.pr_curve(curves, color="test set")


def main(figure: Figure) -> charts.Chart:
    best = normals(2**0.5, 0).prc.summary([0.5, RARE], smooth="binormal")  # of the population
    for eta, expected in ((0.5, 0.838864860714), (RARE, 0.423391878761)):
        area = best.filter(eta=eta, metric="average_precision")["value"].item()
        figure.check(
            f"average precision of the population at {eta:.2g}", "", area, about(expected, 1e-11)
        )

    rng = np.random.default_rng(1)
    model = LogisticRegression().fit(*points(rng, N, N))

    def scored(n_pos: int, n_neg: int) -> pl.DataFrame:
        features, label = points(rng, n_pos, n_neg)
        return pl.DataFrame({"score": model.decision_function(features), "label": label})

    blue, green = scored(N, N), scored(N // 10, N)
    red = blue.prc.curve(eta=RARE)  # the scores of blue, at the prevalence of green

    weight = pl.when("label").then(RARE / N).otherwise((1 - RARE) / N)
    weights = blue.select(weight).to_series()
    expected, _, _ = precision_recall_curve(blue["label"], blue["score"], sample_weight=weights)
    worst = np.abs(red["precision"].to_numpy()[::-1] - expected[:-1]).max()
    figure.check("rescaled curve, less scikit-learn's of weighted rows", "eq. 2", worst, at_most(1e-12))

    asked = [metrics.precision_at_recall(recall) for recall in RECALLS]
    predicted, found = (df.prc.summary(RARE, metrics=asked)["value"] for df in (blue, green))
    apart = (predicted - found).abs()
    figure.check(
        "predicted less found, at most, recall 0.2 to 1", "good agreement", apart.max(), at_most(0.17)
    )
    figure.check("predicted less found, on average", "good agreement", apart.mean(), at_most(0.06))
    areas = [df.prc.summary(RARE, metrics="average_precision")["value"].item() for df in (blue, green)]
    figure.check("difference of average precision", "", areas[0] - areas[1], about(0, 0.1))

    return drawn(blue, green)


if __name__ == "__main__":
    run(main)
