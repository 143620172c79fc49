"""Draw the picture of the README: one model at one threshold, in the lab and in screening.

    python examples/hero.py docs/images/hero.png

The model and its 569 tumours are those of screening.ipynb; scikit-learn brings the data along.
"""

from __future__ import annotations

import sys
from pathlib import Path

import altair as alt
import polars as pl
from gallery import compress
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from polars_prcurve import DataFramePrc, prc

SCREENING = 0.004  # share of women with a cancer in a round of screening


def main() -> None:
    docs = Path(__file__).parent.parent / "docs"
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else docs / "images" / "hero.png"
    draw_hero(*compute_points()).save(path, scale_factor=1.5)
    path.write_bytes(compress(path.read_bytes()))
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def compute_points() -> tuple[DataFramePrc, pl.DataFrame]:
    """Return the test, and what its threshold does in screening and in the lab.

    The threshold finds 95% of the tumours, and has as many digits as a picture needs.
    """
    data = load_breast_cancer()
    malignant = data.target == 0
    worst = [number for number, name in enumerate(data.feature_names) if name.startswith("worst")]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    score = cross_val_predict(
        model, data.data[:, worst], malignant, cv=folds, method="decision_function"
    )
    test = prc(pl.DataFrame({"score": score, "label": malignant}))
    found = test.operating_points(recall=0.95)["threshold"].round(3)
    return test, test.operating_points([SCREENING, None], threshold=found, confidence=0.95)


def draw_hero(test: DataFramePrc, points: pl.DataFrame) -> alt.TopLevelMixin:
    """Return 100 alerts in the lab beside 100 in screening; the title says both precisions."""
    field, lab = points.to_dicts()
    shares = [
        lab["precision"],
        *(field[name] for name in ("precision", "precision_low", "precision_high")),
    ]
    lab_text, field_text, low_text, high_text = (f"{100 * share:.0f}" for share in shares)
    title = (
        f"Same test, same threshold: precision is {lab_text}% in the test set "
        f"and {field_text}% ({low_text} to {high_text}) in screening"
    )
    return test.plot.alerts([SCREENING, None], threshold=lab["threshold"], title=title)


if __name__ == "__main__":
    main()
