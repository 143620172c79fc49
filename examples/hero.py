"""Draw the picture of the README: one model at one threshold, in the lab and in screening.

    python examples/hero.py docs/images/hero.png

The model and its 569 tumours are those of screening.ipynb; scikit-learn brings the data along.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
from gallery import compress
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from polars_prcurve import prc

SCREENING = 0.004  # share of women with a cancer in a round of screening
DOTS, ACROSS = 200, 20
RIGHT, FALSE, INK, QUIET = "#0072B2", "#E3B49A", "#1A1D21", "#5B626B"
FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"


def main() -> None:
    docs = Path(__file__).parent.parent / "docs"
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else docs / "images" / "hero.png"
    field, lab = compute_points()
    draw_hero(lab, field).save(path, scale_factor=1.5)
    path.write_bytes(compress(path.read_bytes()))
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def compute_points() -> list[dict[str, Any]]:
    """Return the threshold that finds 95 % of the tumours, in screening and in the lab."""
    data = load_breast_cancer()
    malignant = data.target == 0
    worst = [number for number, name in enumerate(data.feature_names) if name.startswith("worst")]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    score = cross_val_predict(
        model, data.data[:, worst], malignant, cv=folds, method="decision_function"
    )
    scores = pl.DataFrame({"score": score, "label": malignant})
    test = prc(scores)
    found = test.operating_points(recall=0.95)["threshold"]
    points = test.operating_points([SCREENING, None], threshold=found, confidence=0.95)
    return points.sort("eta").to_dicts()


def draw_hero(lab: dict[str, Any], field: dict[str, Any]) -> alt.HConcatChart:
    """Return both panels under one title."""
    ill, rare = round(100 * lab["eta"]), round(1000 * field["eta"])
    panels = [
        draw_panel(lab, "In the lab", f"{ill} of 100 women are ill"),
        draw_panel(field, "In screening", f"{rare} of 1\u00a0000 women are ill"),
    ]
    recall = f"{100 * lab['recall']:.0f}\u00a0%"
    title = alt.Title(
        "The same model, the same threshold. Only the share of ill women differs",
        subtitle=f"Each dot is an alert: blue is right, pale is false. The test finds {recall} of the "
        "ill in both",
        anchor="start",
        frame="bounds",
        font=FONT,
        fontSize=21,
        color=INK,
        subtitleFont=FONT,
        subtitleFontSize=14,
        subtitleColor=QUIET,
        subtitlePadding=8,
        offset=34,
    )
    whole = alt.hconcat(*panels, spacing=44, title=title, background="white")
    return whole.properties(padding={"left": 28, "right": 28, "top": 26, "bottom": 28})


def draw_panel(point: dict[str, Any], place: str, share: str) -> Any:
    """Return 200 alerts as dots, with the precision in large type above."""
    precision = point["precision"]
    right = round(DOTS * precision)
    dots = [{"x": k % ACROSS, "y": k // ACROSS, "right": k < right} for k in range(DOTS)]
    hue = alt.Color("right:N", legend=None).scale(domain=[True, False], range=[RIGHT, FALSE])
    grid = alt.Chart(alt.InlineData(values=dots)).mark_point(filled=True, size=120, opacity=1)
    grid = grid.encode(
        alt.X("x:Q", axis=None).scale(domain=[-0.5, ACROSS - 0.5]),
        alt.Y("y:Q", axis=None).scale(domain=[DOTS // ACROSS - 0.5, -0.5]),
        hue,
    )
    digits = 3 if precision > 0.9 else 2  # few false alerts are behind the smaller one
    big = f"{100 * precision:.{digits}g}\u00a0%"
    low, high = (f"{100 * point[f'precision_{end}']:.0f}" for end in ("low", "high"))
    beside = 40 + 18.5 * len(big)
    words = [
        write(place, -92, fontSize=15, fontWeight="bold", color=INK),
        write(share, -72, fontSize=13, color=QUIET),
        write(big, -20, fontSize=44, fontWeight="bold", color=RIGHT),
        write("of alerts are right", -37, fontSize=15, fontWeight="bold", color=RIGHT, dx=beside),
        write(f"95\u00a0% interval: {low} to {high}\u00a0%", -20, fontSize=12, color=QUIET, dx=beside),
    ]
    view: Any = alt.ViewBackground(stroke=None)
    return alt.layer(grid, *words, width=350, height=176, view=view)


def write(text: str, height: int, **look: Any) -> alt.Chart:
    """Return a text above the dots."""
    mark = alt.Chart(alt.InlineData(values=[{"text": text}])).mark_text(
        align="left", baseline="bottom", font=FONT, **look
    )
    placed: alt.Chart = mark.encode(x=alt.value(0), y=alt.value(height), text="text:N")
    return placed


if __name__ == "__main__":
    main()
