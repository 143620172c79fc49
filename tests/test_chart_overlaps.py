"""Nothing lies on anything in a chart, and numbers stand at their own lines in the order of these."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from polars_prcurve import charts, prc
from tests.support.chart_overlaps import read_drawing

pytestmark = pytest.mark.extras
pytest.importorskip("altair")
pytest.importorskip("vl_convert")

SHORT = ["Ours", "BERT", "LogReg"]
LONG = ["Gradient boosting on all features", "Logistic regression (A and B)", "Rules of the committee"]
SETS = {"two": SHORT[:2], "short": SHORT, "long": LONG, "twelve": [f"model {x}" for x in "ABCDEFGHIJKL"]}
ETAS = [0.1, 0.01, 0.001, 0.0001]
PLOTS: dict[str, dict[str, Any]] = {
    "alerts": {"eta": [0.1, 0.001], "recall": 0.5, "confidence": 0.95},
    "pr_curve": {"eta": ETAS},
    "roc_curve": {"eta": 0.1},
    "prg_curve": {"eta": ETAS},
    "threshold_curve": {"eta": ETAS},
    "gain_curve": {"eta": ETAS},
    "decision_curve": {"eta": ETAS, "eta_train": 0.05},
    "reliability": {},
    "scores": {},
    "p3_curve": {"recall": [0.5, 0.8]},
    "metric_by_eta": {"confidence": 0.95},
    "difference": {"confidence": 0.95},
    "ranking": {"confidence": 0.95},
    "monitor": {"time": "week", "threshold": 0.3, "reference": 0.8},
}

SIZES = {
    "tiny": (50, 50),
    "small": (80, 80),
    "usual": (None, None),
    "figure": (160, 160),
    "wide": (600, 250),
}
KINDS = [  # half of all pairs: each size with two sets, and each set with two sizes or three
    f"{models} {size}"
    for (at, models), (place, size) in product(enumerate(SETS), enumerate(SIZES))
    if (at + place) % 2 == 0
]
FEW = ["long usual", "twelve figure"]
CASES = [  # each chart with a third of the kinds, in turns
    pytest.param(name, kind, marks=() if kind in FEW else pytest.mark.slow)
    for (at, name), (place, kind) in product(enumerate(PLOTS), enumerate(KINDS))
    if (at + place) % 3 == 0
]


@cache
def make_test(models: str, gap: float = 1.0, size: int = 4_000) -> Any:
    """Models that get worse by equal steps, about this far apart from the best to the last."""
    names = SETS[models]
    rng = np.random.default_rng(5)
    label = np.arange(size) < size // 20
    shared = rng.normal(size=size)
    frame = pl.DataFrame({"label": label, "week": np.arange(size) % 10})
    for number, name in enumerate(names):
        mean = 3 - gap * number / max(len(names) - 1, 1)
        odds = 2 * (0.5 * shared + 0.87 * rng.normal(size=size) + mean * label) - 5
        frame = frame.with_columns(pl.Series(name, 1 / (1 + np.exp(-odds))))
    return prc(frame, score=names)


def test_all_charts_are_here() -> None:
    assert set(PLOTS) == {name for name in charts.__all__ if hasattr(make_test("two").plot, name)}


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_nothing_lies_on_anything(name: str, kind: str) -> None:
    models, size = kind.split()
    width, height = SIZES[size]
    look = {"width": width, "height": height, "title": False if size == "figure" else None}
    if (name, models) == ("alerts", "twelve"):
        pytest.skip("more grids than it draws")
    chart = getattr(make_test(models).plot, name)(**PLOTS[name], **look)
    drawing = read_drawing(chart.to_dict())
    assert len(drawing.texts) > 2
    assert [*drawing.list_overlaps()] == []


@pytest.mark.parametrize(("gap", "width"), [(0.3, None), (0.6, 160), (1.2, None)])
def test_numbers_are_in_the_order_of_their_lines(gap: float, width: int | None) -> None:
    """None lies on other words; where lines run close, one may lie on a line, with a white rim."""
    chart = make_test("short", gap, 20_000).plot.pr_curve(ETAS, width=width, title=False)
    drawing = read_drawing(chart.to_dict())
    numbers = [text for text in drawing.texts if text.text.endswith("%") and text.is_bold]
    assert len(numbers) > 4
    assert "1 in 1" not in {text.text for text in drawing.texts}, "all of them are 100%"
    assert [*drawing.list_strays()] == []
    assert [*drawing.list_overlaps()] == []
