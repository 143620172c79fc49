"""Real scores without a download, for the command `demo`: two classifiers of handwritten digits."""

from __future__ import annotations

import polars as pl
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from polars_prcurve.namespace import prc

ETAS = (0.001, 0.01, 0.1, 0.5)
TITLE = "Which scans show an 8?"
NOTES = """\
A demonstration on 1 797 scans of handwritten digits, which scikit-learn brings along. Linear
discriminant analysis (lda) and logistic regression look for the digit 8. One scan in ten shows it here;
what if it were one in a thousand?"""


def build_digits_table() -> pl.DataFrame:
    """Return the score table of both classifiers: `scan`, `label`, `model`, `score`."""
    pixels, digit = load_digits(return_X_y=True)
    wide = pl.DataFrame({"label": digit == 8})
    for name, classifier in {
        "lda": LinearDiscriminantAnalysis(),
        "logistic": LogisticRegression(max_iter=500),
    }.items():
        scaled = make_pipeline(StandardScaler(), classifier)
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        score = cross_val_predict(scaled, pixels, digit == 8, cv=folds, method="decision_function")
        wide = wide.with_columns(pl.Series(name, score))
    return prc(wide).unpivot_scores(["lda", "logistic"], name="model", row="scan")
