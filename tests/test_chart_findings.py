"""What a reader takes from a chart is what the tables have: one interval, one colour, a named metric."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

from polars_prcurve import charts, eta_grid, prc
from polars_prcurve.view.charts.parts.chart_titles import say_by_metric
from polars_prcurve.view.words.number_words import say_shares
from tests.support.chart_specs import all_records, heading, plain, records, subtitle

pytestmark = pytest.mark.extras
pytest.importorskip("vl_convert")


def draw_models(
    steps: dict[str, float], *, pos: int = 200, neg: int = 2_000, seed: int = 3
) -> pl.DataFrame:
    """Return a test set with a score per model, whose positives are so many deviations higher."""
    random = np.random.default_rng(seed)
    label = np.arange(pos + neg) < pos
    scores = {name: step * label + random.normal(size=pos + neg) for name, step in steps.items()}
    return pl.DataFrame({"label": label, **scores})


# One number has one interval


@pytest.mark.parametrize("n_pos", [2, 4, 10, 18])
def test_half_of_few_positives_has_the_interval_of_operating_points(n_pos):
    test = prc(draw_models({"score": 2.0}, pos=n_pos), score="score")
    [point] = test.operating_points(0.01, recall=0.5, metrics="recall", confidence=0.95).to_dicts()
    low, high = map(plain, say_shares([point["recall_low"], point["recall_high"]]))
    for chart in (test.plot.pr_curve(0.01), test.plot.roc_curve(), test.plot.threshold_curve(0.01)):
        assert heading(chart).endswith(f"could really be anything from {low} to {high}")


def test_points_have_the_interval_of_their_table_on_the_curve():
    test = prc(draw_models({"a": 2.0, "b": 1.5}), score=["a", "b"])
    points = test.operating_points(0.1, recall=0.5, confidence=0.95)
    for chart in (
        test.plot.pr_curve(0.1, points=points, confidence=0.95),
        test.plot.threshold_curve(0.1, points=points),
    ):
        drawn = {
            (row["color"], row["precision"], row["reach_end"])
            for row in all_records(chart)
            if row.get("part") == "reach"
        }
        columns = points.select("model", "precision_low", "precision_high")
        assert drawn == {
            (name, float(f"{low:.6g}"), float(f"{high:.6g}")) for name, low, high in columns.rows()
        }
        assert "Upright rule at a point: its interval of precision" in subtitle(chart)
    bare = test.plot.pr_curve(0.1, points=points.drop("precision_low"), confidence=0.95)
    assert "Upright rule" not in subtitle(bare)
    assert "at one that was chosen on this test set they are wider" in subtitle(bare)


def test_the_basis_of_intervals_is_that_of_the_thresholds():
    test = prc(draw_models({"score": 2.0}), score="score")
    etas = eta_grid(0.01, 0.5)
    chosen = subtitle(test.plot.p3_curve(etas, recall=0.5, confidence=0.95))
    assert "95% intervals, at a threshold chosen on the test set, allowing for that choice" in chosen
    assert "at thresholds for 50% recall" in chosen
    fixed = subtitle(test.plot.p3_curve(etas, threshold=1.0, confidence=0.95))
    assert "95% intervals, at a fixed threshold" in fixed


# What models are compared by is named


@pytest.mark.parametrize(
    ("metric", "name"), [(None, "average precision"), ("roc_auc", "ROC AUC"), ("f1", "best(F1)")]
)
@pytest.mark.parametrize("n_models", [2, 3])
def test_charts_that_compare_name_the_metric(metric, name, n_models):
    names = ["a", "b", "c"][:n_models]
    test = prc(draw_models(dict(zip(names, (2.5, 1.0, 0.9), strict=False))), score=names)
    chart = test.plot.ranking(eta_grid(0.01, 0.5), metric=metric, confidence=0.95)
    assert heading(chart).startswith(f"By {name}, {'no clear' if metric == 'f1' else 'a is be'}")
    assert f"Rank of models by {name}".lower() in subtitle(chart).lower()
    untested = test.plot.ranking(eta_grid(0.01, 0.5), metric=metric)
    assert f"Rank of models by {name}".lower() in subtitle(untested).lower()
    if metric != "f1":
        for etas in (0.1, eta_grid(0.01, 0.5)):
            drawn = test.plot.difference(etas, metrics=metric or "average_precision")
            assert name in heading(drawn)
    if metric is None:
        by_eta = test.plot.metric_by_eta(eta_grid(0.01, 0.5), confidence=0.95)
        assert heading(by_eta).startswith("By average precision, a is be")


def test_only_words_of_the_library_lose_their_capital():
    assert say_by_metric("Average precision", "No clear winner") == (
        "By average precision, no clear winner"
    )
    assert say_by_metric("Precision", "Net is best") == "By precision, Net is best"
    assert say_by_metric("", "Net is best") == "Net is best"
    assert say_by_metric("Precision", "") == ""


# Notes are English, and grey has one meaning each


def test_intervals_of_an_unknown_level_are_described_in_english():
    names = ["a", "b", "c"]
    table = prc(draw_models({"a": 2.5, "b": 1.0, "c": 0.9}), score=names).compare(
        0.1, metrics="average_precision"
    )
    assert "Lines: confidence intervals, at the level they were made with" in subtitle(
        charts.difference(table)
    )
    assert "Lines: 95% intervals" in subtitle(charts.difference(table, confidence=0.95))


def test_pairs_that_are_undefined_are_named():
    rows = draw_models({"a": 2.5, "b": 1.0, "c": 0.9}).unpivot(index="label", variable_name="site")
    rows = rows.with_columns(label=pl.col("label") & (pl.col("site") != "c"))
    tests = rows.rename({"value": "score"}).prc(model="site")
    table = tests.compare(0.1, paired=False, metrics="average_precision")
    note = subtitle(charts.difference(table))
    assert "Not drawn, undefined: a minus c, b minus c" in note


def test_the_zero_line_ends_above_the_words_on_further_rows():
    steps = {f"model {k:02}": 0.2 * k for k in range(7)}
    chart = prc(draw_models(steps), score=[*steps]).plot.difference(0.1)
    [last] = [row for row in all_records(chart) if re.match(r"and \d+ more", row.get("text", ""))]
    assert max(row["row"] for row in records(chart, "reference")) < last["row"]


def test_zones_of_ranks_are_one_grey_and_notes_tell_them_from_lines():
    steps = {f"model {k:02}": 1.5 + 0.05 * k for k in range(12)}
    test = prc(draw_models(steps, pos=40), score=[*steps])
    chart = test.plot.ranking(eta_grid(0.01, 0.5), confidence=0.95)
    [zone] = [
        layer["mark"] for layer in chart.to_dict()["layer"] if "'zone'" in str(layer.get("transform"))
    ]
    assert zone.get("opacity", 1) == 1
    assert "Grey zones: the order is not significant" in subtitle(chart)
    assert re.search(r"Coloured lines: .*; grey lines: the other 4", subtitle(chart))
