"""A name has one colour in all charts and documents of a table, in the order of the call."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest

from polars_prcurve import from_rates, prc
from polars_prcurve.view.charts.parts.colors_and_sizes import COLORS, INK, OTHERS, darken_text
from polars_prcurve.view.words.call_order_of_names import number_names
from tests.support.arguments import PLOTS
from tests.support.chart_specs import all_records

pytestmark = pytest.mark.extras
pytest.importorskip("altair")

WORDS: dict[str, dict[str, Any]] = {
    "alerts": {"eta": 0.1, "recall": 0.5},
    "decision_curve": {},
    "monitor": {"time": pl.col("row") % 3, "reference": 0.5, "threshold": 0.5},
    "p3_curve": {"recall": 0.5},
}
PAIRS = ("difference", "ranking")  # which compare models


def make_scores(names: list[str], seed: int = 1) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    label = np.arange(400) < 100
    scores = {name: 1 / (1 + np.exp(1 - label - random.normal(size=400))) for name in names}
    return pl.DataFrame({"row": np.arange(400), "label": label, **scores})


def read_colors(chart: Any) -> dict[str, set[str]]:
    """Return the colours of each name, from all scales of a chart and its words."""
    colors: dict[str, set[str]] = {}

    def walk(part: Any) -> None:
        for value in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            walk(value)
        scale = part.get("scale") if isinstance(part, dict) else None
        if isinstance(scale, dict) and str((scale.get("range") or [""])[0]).startswith("#"):
            for label, color in zip(scale["domain"], scale["range"], strict=True):
                colors.setdefault(label.partition(" (")[0], set()).add(color)

    walk(chart.to_dict())
    return {name: found - {OTHERS} for name, found in colors.items()}


def list_charts(test: Any, *, compares: bool) -> dict[str, Any]:
    names = [name for name in PLOTS if compares or name not in PAIRS]
    return {name: getattr(test.plot, name)(**WORDS.get(name, {})) for name in names}


def check_charts(drawn: dict[str, Any], order: list[str]) -> None:
    expected = {name: COLORS[number % len(COLORS)] for number, name in enumerate(order)}
    for chart_name, chart in drawn.items():
        for name, colors in read_colors(chart).items():
            assert colors <= {expected[name]}, f"{chart_name} draws {name}"


def test_models_have_the_colours_of_the_call_in_charts_and_documents(tmp_path):
    order = ["zeta", "alpha", "mid"]
    wide = make_scores(sorted(order))
    drawn = list_charts(prc(wide, score=order), compares=True)
    check_charts(drawn, order)
    assert all(read_colors(chart) for name, chart in drawn.items() if name != "difference")
    for eta in (0.1, [0.1, 0.2]):
        path = prc(wide, score=order).decide(eta, recall=0.5).report(tmp_path / "decision.html")
        text = path.read_text(encoding="utf-8")
        cards = re.findall(r'class="model" style="--c:var\(--c(\d)\)">.*?>(zeta|alpha|mid)<', text, re.S)
        items = re.findall(r'<li style="color:var\(--c(\d)\)">(zeta|alpha|mid)<', text)
        assert cards or items
        assert {(order[int(number)], name) for number, name in cards + items} <= set(
            zip(order, order, strict=True)
        )


def test_the_words_of_a_difference_have_the_colours_of_both_models():
    chart = prc(make_scores(["a", "b"]), score=["b", "a"]).plot.difference()
    texts = {row["text"]: row["part"] for row in all_records(chart) if "better" in str(row.get("text"))}
    layers = {
        json_part(layer): layer["mark"]["color"]
        for layer in chart.to_dict()["layer"]
        if json_part(layer)
    }
    assert {text[-8:-7]: layers[part] for text, part in texts.items()} == {
        "b": darken_text(COLORS[0]),
        "a": darken_text(COLORS[1]),
    }


def json_part(layer: dict[str, Any]) -> str:
    filters = [str(step["filter"]) for step in layer.get("transform", []) if "filter" in step]
    is_text = layer["mark"]["type"] == "text" and layer["mark"].get("color", "white") != "white"
    return (
        re.findall(r"datum.part === '(word [^']*)'", " ".join(filters))[0] if is_text and filters else ""
    )


@pytest.mark.parametrize("n", [3, 12])
@pytest.mark.parametrize("is_enum", [False, True])
def test_groups_have_the_order_of_their_enum_or_of_all_names(n, is_enum):
    names = [f"city {number:02}" for number in range(n)]
    order = names[::-1] if is_enum else names
    parts = [
        make_scores(["score"], seed).with_columns(city=pl.lit(name)) for seed, name in enumerate(names)
    ]
    table = pl.concat(parts).with_columns(
        pl.col("label") & (pl.col("city") != order[1])
    )  # one has no positives
    table = table.with_columns(pl.col("city").cast(pl.Enum(order) if is_enum else pl.String))
    check_charts(list_charts(prc(table, by="city"), compares=False), order)
    tested = prc(table, model="city")
    check_charts({"ranking": tested.plot.ranking(), "metric_by_eta": tested.plot.metric_by_eta()}, order)


def test_coloured_names_of_one_chart_differ():
    parts = [
        make_scores(["score"], seed).with_columns(city=pl.lit(f"city {seed:02}")) for seed in range(12)
    ]
    for chart in list_charts(prc(pl.concat(parts), by="city"), compares=False).values():
        text = chart.to_json()
        if '"field": "color"' in text:
            colors = [color for found in read_colors(chart).values() for color in found]
            assert len(colors) == len(set(colors))


def test_tests_of_papers_have_the_order_of_their_names():
    names = ["Ruiz", "Lee"]
    test = from_rates(recall=[0.8, 0.7], fpr=[0.1, 0.05], names=names)
    check_charts(
        {"p3_curve": test.plot.p3_curve(), "bound again": test(model=None).plot.p3_curve()}, names
    )


def test_numbers_follow_the_names_and_not_their_rows():
    names = pl.Series(["b", None, "a", "b"])
    assert number_names(names).to_list() == [2, 0, 1, 2]
    assert number_names(names.cast(pl.Enum(["b", "c", "a"]))).to_list() == [1, 0, 2, 1]
    assert number_names(pl.Series([float("nan"), 1.0, float("nan")])).to_list() == [1, 0, 1]


@pytest.mark.parametrize("name", ["pr_curve", "alerts"])
def test_the_best_and_the_worst_of_many_panels_differ_in_colour(name):
    names = [*"abcdefghijkl"]  # the first and the ninth have one colour
    random, label = np.random.default_rng(0), np.arange(100) % 4 == 0
    gain = dict.fromkeys(names, 1.4) | {"a": 0.8, "i": 4.0}
    frames = [
        pl.DataFrame({"label": label, "site": site, "score": random.normal(size=100) + shift * label})
        for site, shift in gain.items()
    ]
    words = {"recall": 0.9} if name == "alerts" else {}
    chart = getattr(prc(pl.concat(frames), by="site").plot, name)(0.05, **words)
    colors = read_colors(chart)
    assert colors["i"] == {COLORS[0]}
    assert colors["a"] == {INK}
