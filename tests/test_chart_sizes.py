"""Charts have the size that is asked for, and the palette and type of the theme that is active."""

from __future__ import annotations

import json

import altair as alt
import numpy as np
import polars as pl
import pytest

from polars_prcurve import charts, prc
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.view.charts.parts.colors_and_sizes import COLORS
from tests.support.chart_specs import all_records

pytestmark = pytest.mark.extras
pytest.importorskip("altair")

RNG = np.random.default_rng(5)
LABEL = RNG.random(2_000) < 0.2
ODDS = {name: power * LABEL + RNG.normal(size=2_000) - 2 for name, power in (("a", 2.5), ("b", 1.2))}
TABLE = pl.DataFrame({"label": LABEL, "week": np.arange(2_000) // 200}).with_columns(
    **{name: 1 / (1 + np.exp(-odds)) for name, odds in ODDS.items()}
)
TWO = prc(TABLE, score=["a", "b"])
PLOTS = {
    "alerts": {"recall": 0.5},
    "pr_curve": {"confidence": 0.95},
    "roc_curve": {"eta": 0.1},
    "prg_curve": {},
    "threshold_curve": {},
    "gain_curve": {},
    "decision_curve": {},
    "reliability": {},
    "scores": {},
    "p3_curve": {"recall": 0.5},
    "metric_by_eta": {"confidence": 0.95},
    "difference": {"confidence": 0.95},
    "ranking": {"confidence": 0.95},
    "monitor": {"time": "week", "threshold": 0.3, "reference": 0.8},
}
every_plot = pytest.mark.parametrize("name", PLOTS)


def draw(name: str, **look: int) -> dict:
    return getattr(TWO.plot, name)(**PLOTS[name], **look).to_dict()


def find_panels(spec: dict) -> list[dict]:
    """The panels of a specification, without the view of a note."""
    inner = [spec["spec"]] if "spec" in spec else []
    parts = [*inner, *spec.get("vconcat", []), *spec.get("concat", [])]
    own = [spec] if "layer" in spec else []
    return own + [panel for part in parts for panel in find_panels(part)]


def test_all_charts_are_here() -> None:
    assert set(PLOTS) == {name for name in charts.__all__ if hasattr(TWO.plot, name)}


@every_plot
def test_panels_have_the_size_that_is_asked_for(name: str) -> None:
    sizes = {
        (panel["width"], panel["height"]) for panel in find_panels(draw(name, width=310, height=170))
    }
    assert sizes == {(310, 170)}
    wide = {panel["width"] for panel in find_panels(draw(name, width=620))}
    assert wide == {620}
    usual = {panel["height"] for panel in find_panels(draw(name))}
    tall = {panel["height"] for panel in find_panels(draw(name, height=500))}
    assert tall == {500}
    assert usual != tall


@pytest.mark.parametrize("name", ["pr_curve", "gain_curve", "threshold_curve"])
@pytest.mark.parametrize("size", [(180, 120), (900, 300)])
def test_names_are_placed_for_the_size(name: str, size: tuple[int, int]) -> None:
    width, height = size
    chart = getattr(TWO.plot, name)(**PLOTS[name], width=width, height=height)
    usual = getattr(TWO.plot, name)(**PLOTS[name])
    places, usual_places = (
        [
            {k: v for k, v in row.items() if isinstance(v, float)}
            for row in all_records(each)
            if row.get("part", "").startswith("name")
        ]
        for each in (chart, usual)
    )
    assert len(places) == len(usual_places) == 2
    assert places != usual_places


@pytest.mark.parametrize(
    "words", [{"width": 49}, {"height": 4_001}, {"width": 300.5}, {"height": "tall"}]
)
def test_other_sizes_are_refused(words: dict) -> None:
    with pytest.raises(PrcError, match=f"{next(iter(words))}="):
        TWO.plot.pr_curve(**words)


@every_plot
def test_charts_follow_the_theme_that_is_active(name: str) -> None:
    """Of three colours in it, all charts of two models take the first two."""
    sizes = {"title": {"fontSize": 21, "subtitleFontSize": 15}, "text": {"fontSize": 17}}
    sizes["axis"] = {"labelFontSize": 14, "titleFontSize": 13}
    config = {"range": {"category": ["#111111", "#222222", "#333333"]}, **sizes}
    plain = draw(name)
    alt.theme.register("ours", enable=False)(lambda: {"config": config})
    with alt.theme.enable("ours"):
        chart = getattr(TWO.plot, name)(**PLOTS[name])
    spec = chart.to_dict()
    assert draw(name) == plain, "nothing is left of it"
    text, plain_text = json.dumps(spec["layer" if "layer" in spec else "vconcat"]), json.dumps(plain)
    assert COLORS[0] not in text
    assert ("#111111" in text) == (COLORS[0] in plain_text)
    assert ("#222222" in text) == (COLORS[1] in plain_text)
    assert (spec["title"]["fontSize"], spec["title"]["subtitleFontSize"]) == (21, 15)
    assert '"labelFontSize": 11' not in text
    assert '"titleFontSize": 11' not in text
    assert '"fontSize": 12.5' not in text
