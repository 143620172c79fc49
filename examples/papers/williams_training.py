"""Williams (2021), equation 3: does class imbalance of the training data change the test curve?

Not if the model is the right one: log odds move by a constant. A misspecified model may rank otherwise:
two classes of normal points with unequal covariances, for which a straight boundary is a compromise.
"""

import altair as alt
import numpy as np
import polars as pl
from common import Figure, about, at_most, run
from sklearn.linear_model import LogisticRegression

from polars_prcurve import shift_prior

SHARES = (0.5, 0.02, 0.005)
N_TRAIN, N_TEST = 100_000, 20_000
WELL = {"mean": (1.0, 1.0), "pos": (1.0, 1.0), "neg": (1.0, 1.0), "area": (0.842, 0.842, 0.842)}
MISSPECIFIED = {"mean": (1.2, 0.6), "pos": (0.3, 3.0), "neg": (3.0, 0.3), "area": (0.770, 0.701, 0.691)}


def points(rng: np.random.Generator, n: int, share: float, world: dict) -> tuple[np.ndarray, np.ndarray]:
    label = np.arange(n) < round(n * share)
    pos = rng.normal(world["mean"], np.sqrt(world["pos"]), (n, 2))
    neg = rng.normal(0, np.sqrt(world["neg"]), (n, 2))
    return np.where(label[:, None], pos, neg), label


def scored(seed: int, world: dict) -> pl.DataFrame:
    """The posteriors of one test set, by models trained at each share of positives."""
    rng = np.random.default_rng(seed)
    test, label = points(rng, N_TEST, 0.5, world)
    models = (LogisticRegression(C=1e6).fit(*points(rng, N_TRAIN, share, world)) for share in SHARES)
    scores = {
        str(share): model.predict_proba(test)[:, 1] for share, model in zip(SHARES, models, strict=True)
    }
    return pl.DataFrame({"label": label, **scores})


def moved_posteriors(figure: Figure, wide: pl.DataFrame) -> None:
    """Equation 3: another ratio in training adds a constant to log odds, and no count changes."""
    moved = wide.select("label", score="0.5").with_columns(
        pl.col("score").prc.shift_prior(0.5, 0.02).alias("moved")
    )
    sweeps = [moved.prc.sweep(score=score).select("tp", "fp") for score in ("score", "moved")]
    same = sum(a != b for a, b in zip(*(sweep.rows() for sweep in sweeps), strict=True))
    figure.check(
        "posteriors moved from 0.5 to 0.02: thresholds with other counts",
        "none (eq. 3)",
        same,
        about(0, 0),
    )
    figure.check("a posterior of 0.5 is then", "", shift_prior(0.5, 0.5, 0.02), about(0.02, 1e-12))


def main(figure: Figure) -> alt.HConcatChart:
    drawn = []
    for name, world in (("right", WELL), ("misspecified", MISSPECIFIED)):
        wide = scored(3, world)
        df = wide.prc.unpivot_scores([str(share) for share in SHARES], name="trained at")
        areas = df.prc.summary(metrics="roc_auc", by="trained at")
        for share, expected in zip(SHARES, world["area"], strict=True):
            area = areas.filter(pl.col("trained at") == str(share))["value"].item()
            figure.check(
                f"{name} model, trained at {share}: area under the ROC curve",
                "no effect",
                area,
                about(expected, 0.01),
                listed=share == 0.005,
            )
        told = wide.prc.compare(0.02, score=["0.5", "0.005"], metrics="average_precision")
        low, high = told.select("low", "high").row(0)
        if name == "right":
            figure.check(
                "right model: difference of average precision at 0.02, low end",
                "no effect",
                low,
                about(0, 0.02),
            )
            figure.check("and high end", "no effect", high, about(0, 0.02))
        else:
            what = "misspecified: difference of average precision at 0.02, high end"
            figure.check(what, "no effect", high, at_most(-0.1), listed=True)
        drawn.append(df.prc.plot.pr_curve(0.02, by="trained at", title=f"{name.capitalize()} model"))
    moved_posteriors(figure, wide)
    return drawn[0] | drawn[1]


if __name__ == "__main__":
    run(main)
