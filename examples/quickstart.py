"""A first run: precision in the test set, and where one in 250 is ill.

    python examples/quickstart.py out/

Two classifiers are cross-validated on two data sets that come with scikit-learn. Nothing is
downloaded. Tables are printed; charts are written to the folder as HTML, PNG and SVG.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import polars_prcurve  # registers .prc on frames and expressions
from polars_prcurve import charts

SCREENING = 0.004  # of the women invited to a screening round, about 4 in 1,000 have a cancer
MODELS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "forest": RandomForestClassifier(n_estimators=60, random_state=0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Precision-recall analysis at any prevalence.")
    parser.add_argument("folder", nargs="?", default="out", type=Path, help="for the charts")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    print(f"polars_prcurve {polars_prcurve.__version__}\n")
    breast_cancer(folder)
    digits(folder)


def breast_cancer(folder: Path) -> None:
    """Two models on 569 tumours; the test set has far more cancers than a screening round."""
    scores = breast_cancer_scores()
    print(f"1. {scores.height:,} scores of 569 tumours by 2 models. The first rows:")
    print(scores.head(3))

    print("\nCounts are measured once, prevalence comes after. Recall from 0.9, two prevalences:")
    table = scores.prc.curve(
        eta=[SCREENING, 0.1], metrics=("precision", "f1"), thresholds=20, long=True, by="model"
    ).filter(pl.col("recall") >= 0.9)
    with pl.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True):
        print(table.select("model", "eta", "metric", "threshold", "recall", "fpr", "value"))

    print("\nAt 95% recall, true positives of 1,000 alerts")
    test = scores.prc(model="model")
    points = test.curve(eta=[None, SCREENING], thresholds=20)
    points = points.filter(pl.col("recall") >= 0.95)
    for (model,), at in points.group_by("model", maintain_order=True):
        field, own = at.group_by("eta", maintain_order=True).first()["precision"]
        print(
            f"  {model:9} {1000 * own:4.0f} in the test set, {1000 * field:4.0f} in the screening round"
        )

    print("(Fpr 0 gives precision 1 anywhere, but says no more than: none of 357 healthy.)")

    curve = test.curve(eta=[None, 0.1, SCREENING], thresholds="corners")
    write(charts.pr_curve(curve), folder / "breast_cancer_pr")
    write(charts.roc_curve(curve, log_x=True), folder / "breast_cancer_roc")


def digits(folder: Path) -> None:
    """Ten classes, each against the rest, and two models: twenty curves in one call."""
    scores = digits_scores()
    print(f"\n2. {scores.height:,} scores: 10 digits, each against the rest, by 2 models.")
    test = scores.prc(by=["model", "digit"])
    curve = test.curve(eta=0.001, thresholds=10)
    print("Precision at recall 0.9, if 1 in 1,000 were the digit:")
    at = curve.filter(pl.col("recall") >= 0.9).group_by("model", "digit", maintain_order=True).first()
    with pl.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True):
        print(at.pivot("model", index="digit", values="precision"))

    curve = test.curve(eta=0.001, thresholds="corners")
    write(charts.pr_curve(curve), folder / "digits_pr")
    write(charts.roc_curve(curve, log_x=True), folder / "digits_roc")


def breast_cancer_scores() -> pl.DataFrame:
    """One row per tumour and model: `malignant`, `model`, `score`."""
    data = load_breast_cancer()
    malignant = data.target == 0
    wide = pl.DataFrame(
        {
            "malignant": malignant,
            **{name: probabilities(name, data.data, malignant)[:, 1] for name in MODELS},
        }
    )
    return wide.prc.unpivot_scores(list(MODELS), name="model").rename({"malignant": "label"})


def digits_scores() -> pl.DataFrame:
    """One row per image, model and digit: `digit`, `score`, `label` (it is that digit)."""
    data = load_digits()
    columns = {digit: f"p_{digit}" for digit in range(10)}
    wide = pl.concat(
        pl.DataFrame(
            probabilities(name, data.data, data.target), schema=list(columns.values())
        ).with_columns(pl.lit(name).alias("model"), pl.Series("truth", data.target))
        for name in MODELS
    )
    return wide.prc.unpivot_scores(label="truth", scores=columns, name="digit")


def probabilities(model, features, target):
    """Class probabilities of each row, from a model that has not seen it."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return cross_val_predict(MODELS[model], features, target, cv=folds, method="predict_proba")


def write(chart: charts.Chart, path: Path) -> None:
    for kind in ("html", "png", "svg"):
        chart.save(path.with_suffix(f".{kind}"), **({"scale_factor": 2} if kind == "png" else {}))
    print(f"  wrote {path}.html, .png and .svg")


if __name__ == "__main__":
    main()
