"""Richardson et al. (2024), figure 9: a strong and a simple model, by PR and by ROC.

The paper's scores, of antibodies, are not given. Here a support vector machine and linear discriminant
analysis look for the digit 8 among scans that scikit-learn brings along; one in ten is an 8.
"""

import altair as alt
import polars as pl
from common import Figure, about, at_least, run
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from polars_prcurve import metrics

EARLY = metrics.partial_roc_auc_mcclish(0.1)
MODELS = {"strong": SVC(), "simple": LinearDiscriminantAnalysis()}


def scores() -> pl.DataFrame:
    """One row per scan: `label`, and the score of each model, which has not seen the scan."""
    pixels, digit = load_digits(return_X_y=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    found = {"label": digit == 8}
    for name, model in MODELS.items():
        scaled = make_pipeline(StandardScaler(), model)
        found[name] = cross_val_predict(scaled, pixels, digit == 8, cv=folds, method="decision_function")
    return pl.DataFrame(found)


def main(figure: Figure) -> alt.HConcatChart:
    wide = scores()
    asked = ["average_precision", "roc_auc", EARLY]
    models = wide.prc(score=["strong", "simple"])
    own = models.compare(metrics=asked)
    rare = models.compare(0.01, metrics=asked)
    ap, auc, early = own["difference"]
    figure.check("difference of average precision", "0.09", ap, at_least(0.05))
    figure.check("difference of the area under the ROC curve", "0.02", auc, at_least(0.005))
    figure.check("ratio of both", "larger by PR", ap / auc, at_least(2))
    figure.check(
        "difference of the partial area, over that of the whole", "starker", early / auc, at_least(2)
    )
    lows = own.filter(pl.col("metric") != EARLY.name)["low"]
    figure.check("lower end of the first two differences, 95%", "", lows.min(), at_least(0))
    moved = rare["difference"] - own["difference"]
    figure.check(
        "at 1 in 100: change of the difference of average precision",
        "not due to imbalance",
        moved[0],
        at_least(0.05),
        listed=True,
    )
    figure.check("at 1 in 100: of the area under the ROC curve", "none", moved[1], about(0, 0))
    figure.check("at 1 in 100: of the partial area", "none", moved[2], about(0, 0))

    return (
        models.plot.pr_curve()
        | models.plot.roc_curve()
        | models.plot.roc_curve(log_x=True, title="ROC curve, early retrieval")
    )


if __name__ == "__main__":
    run(main)
