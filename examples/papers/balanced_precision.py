"""How and why to compute a balanced precision score: one classifier, two test sets.

The article's confusion matrices, as hard predictions: a Boolean score.
"""

import polars as pl
from common import Figure, about, run
from sklearn.metrics import precision_score

from polars_prcurve import charts, eta_grid

CELLS = {"imbalanced": (90, 50, 10, 850), "more balanced": (90, 10, 10, 170)}  # tp, fp, fn, tn
PRECISION = {"imbalanced": (0.64, 0.642857142857), "more balanced": (0.90, 0.9)}


def predictions(test: str) -> pl.DataFrame:
    """One row per example."""
    tp, fp, fn, tn = CELLS[test]
    return pl.DataFrame({
        "test": test,
        "predicted": [True] * (tp + fp) + [False] * (fn + tn),
        "label": [True] * tp + [False] * fp + [True] * fn + [False] * tn,
    })  # fmt: skip


def main(figure: Figure) -> charts.Chart:
    tests = pl.concat(map(predictions, CELLS))
    hard = {"by": "test", "score": "predicted", "threshold": True}
    found = tests.prc.operating_points(metrics=["precision", "balanced_precision"], **hard)
    for test, (paper, expected) in PRECISION.items():
        precision, balanced = found.filter(test=test).select("precision", "balanced_precision").row(0)
        figure.check(f"{test}: precision", f"{paper:.2f}", precision, about(expected, 1e-12))
        figure.check(f"{test}: balanced precision", "0.94", balanced, about(0.941860465116, 1e-12))

    half = 0.5 / pl.len().over("test", "label")  # the article's weights: each class has half of all
    weighted = tests.with_columns(weight=half)
    by_weight = weighted.prc.operating_points(metrics="precision", weight="weight", **hard)
    for test in CELLS:
        value = by_weight.filter(test=test)["precision"].item()
        figure.check(
            f"{test}: precision of weighted rows",
            "0.94",
            value,
            about(0.941860465116, 1e-12),
            listed=False,
        )
        rows = weighted.filter(test=test)
        theirs = precision_score(rows["label"], rows["predicted"], sample_weight=rows["weight"])
        figure.check(f"{test}: less scikit-learn's", "the same", value - theirs, about(0, 1e-12))

    negatives = tests.filter(~pl.col("label"))  # all positives removed
    wrong = negatives.prc.operating_points(metrics="precision", **hard)["precision"]
    figure.check("no positives: precision, greatest", "0", wrong.max(), about(0, 0))
    right = negatives.filter(~pl.col("predicted"))  # and no false alarm
    undefined = right.prc.operating_points(metrics="precision", **hard)["precision"].null_count()
    figure.check("and no false alarm: test sets without a precision", "0", undefined, about(2, 0))
    return charts.p3_curve(
        tests.prc.operating_points(eta_grid(0.001, 1.0, 100), metrics="precision", **hard),
        title="Precision of one classifier on two test sets, by prevalence",
    )


if __name__ == "__main__":
    run(main)
