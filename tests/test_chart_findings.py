"""What a reader takes from a chart is what the tables have: one interval, one colour, a named metric."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest

from polars_prcurve import charts, eta_grid, prc
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec, PanelSize, list_stretches
from polars_prcurve.view.charts.parts.colors_and_panels import Channels
from polars_prcurve.view.charts.parts.panel_in_pixels import LabelSpace, Panel, Word
from polars_prcurve.view.charts.parts.rule_flags import raise_flags
from polars_prcurve.view.charts.parts.title_phrases import say_by_metric, say_firsts
from polars_prcurve.view.words.number_words import say_eta, say_share, say_shares, say_thresholds
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
        assert "Upright rule at a point: the interval of its precision" in subtitle(chart)
    whole = test.operating_points(0.1, recall=0.5, confidence=0.95, columns="all")
    for chart in (test.plot.roc_curve(points=whole), test.plot.scores(points=whole)):
        assert "Upright rule" not in subtitle(chart)
    bare = test.plot.pr_curve(0.1, points=points.drop("precision_low"), confidence=0.95)
    assert "Upright rule" not in subtitle(bare)
    assert "at one that was chosen on this test set they are wider" in subtitle(bare)
    assert not records(test.plot.pr_curve(0.1, confidence=0.95), "reach"), (
        "a band is for fixed thresholds"
    )


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
    assert f"Rank by {name}".lower() in subtitle(chart).lower()
    untested = test.plot.ranking(eta_grid(0.01, 0.5), metric=metric)
    assert f"Rank by {name}".lower() in subtitle(untested).lower()
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
    assert "Lines: confidence intervals" in subtitle(charts.difference(table))
    assert "Lines: 95% intervals" in subtitle(charts.difference(table, confidence=0.95))


def test_pairs_that_are_undefined_are_named():
    rows = draw_models({"a": 2.5, "b": 1.0, "c": 0.9}).unpivot(index="label", variable_name="site")
    rows = rows.with_columns(label=pl.col("label") & (pl.col("site") != "c"))
    tests = rows.rename({"value": "score"}).prc(model="site")
    table = tests.compare(0.1, paired=False, metrics="average_precision")
    note = subtitle(charts.difference(table))
    assert "Not drawn, undefined: c" in note, "which has no positives, and so no difference from any"


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


# Titles hold what the chart has


def test_points_of_several_targets_have_a_title_and_thresholds_apart():
    test = prc(draw_models({"new": 2.5, "old": 1.6}), score=["new", "old"])
    targets = {"recall": [0.5, 0.8], "alerts": 300, "per": 10_000}
    points = test.operating_points(0.01, **targets, columns="all")
    halves = points.filter(criterion="recall", target=0.5)
    for chart in (
        test.plot.pr_curve(0.01, points=points),
        test.plot.threshold_curve(0.01, points=points),
    ):
        said = dict(zip(halves["model"], map(plain, say_shares(halves["precision"])), strict=True))
        assert heading(chart) == (
            f"At 50% recall, new is better: precision is {said['new']} for new and {said['old']} for old"
        )
    fprs = dict(zip(halves["model"], map(plain, say_shares(halves["fpr"])), strict=True))
    end = f"is {fprs['old']} for old and {fprs['new']} for new"
    start = "At 50% recall, new is better: the"
    assert heading(test.plot.roc_curve(points=points)) == f"{start} false positive rate {end}"
    chart = test.plot.scores(points=halves.drop("fpr"))
    assert heading(chart) == f"{start} share of negatives flagged {end}"
    chart = test.plot.scores(points=points.drop("fpr"))
    assert heading(chart) == f"{start} share of negatives flagged {end}", "as all charts of these points"
    words = [row for row in all_records(chart) if " for " in row.get("text", "")]
    assert {plain(row["text"]).partition(" for ")[2] for row in words} == {
        "50% recall",
        "80% recall",
        "300 alerts per 10,000 cases",
    }
    assert len(words) == len(points)
    assert "Vertical lines: the thresholds of the points" in subtitle(chart)


def test_targets_have_their_words_in_titles_and_names():
    test = prc(draw_models({"new": 2.5}), score="new")
    targets = {"recall": 0.5, "fpr": 0.01, "lift": 5, "alerts": 300, "per": 10_000}
    names = {"50% recall", "1% FPR", "lift 5", "300 alerts per 10,000 cases"}
    alerts = test.plot.alerts(0.01, **targets)
    assert names == {plain(row["facet"]) for row in all_records(alerts) if "facet" in row}
    one = test.plot.metric_by_eta([0.01, 0.1], metrics="precision", alerts=300, per=10_000)
    assert "Thresholds for 300 alerts per 10,000 cases" in subtitle(one)
    short = test.operating_points(0.01, alerts=[300, 500], per=10_000)
    assert "at 300 alerts per 10,000 cases and" in plain(heading(charts.alerts(short)))


def test_a_title_on_icons_of_several_targets_or_prevalences_is_a_sentence():
    frame = draw_models({"new": 2.5, "old": 1.6})
    test, one = prc(frame, score=["new", "old"]), prc(frame, score="new")
    title = r"At {}, \d+% of alerts are true positives for new and \d+% for old"
    for target, place in (
        ({"recall": [0.5, 0.8]}, "50% recall"),
        ({"threshold": [1.0, 2.0]}, "threshold 1"),
    ):
        assert re.fullmatch(title.format(place), heading(test.plot.alerts(0.1, **target)))
    title = r"\d+% of alerts are true positives at 50% recall and \d+% at 80% recall"
    assert re.fullmatch(title, heading(one.plot.alerts(0.1, recall=[0.5, 0.8])))
    rare, common = "for old at a prevalence of 1 in 100", "for new at a prevalence of 1 in 10"
    title = heading(test.plot.alerts([0.1, 0.01], recall=0.5))
    assert re.fullmatch(rf"True positives range from [\d.]+% of alerts {rare} to \d+% {common}", title)


def test_a_title_on_doubt_names_the_lines_in_doubt():
    test = prc(draw_models({"new": 2.5, "old": 1.6}), score=["new", "old"])
    chart = test.plot.p3_curve(recall=[0.05, 0.5])
    assert heading(chart) == "Precision at 5% recall is known only roughly for new and old"
    chart = test.plot.metric_by_eta(eta_grid(0.0001, 0.5), metrics=["average_precision", "roc_auc"])
    place = "for new and old at some prevalences"
    assert heading(chart) == f"Average precision is known only roughly {place}"
    chart = test.plot.metric_by_eta(metrics="precision", score="new", alerts=[300, 500], per=10_000)
    assert heading(chart).endswith("at some prevalences")


@pytest.mark.parametrize("n_rules", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("seed", range(8))
def test_texts_of_rules_lie_on_no_other_text_and_no_other_rule(n_rules, seed):
    random, width, size = np.random.default_rng(seed), 540, 11
    numbers = range(n_rules)
    places = sorted(random.uniform(0.2, 0.6, n_rules).tolist())
    texts = [f"{place:.3f} for {seed % 3 * 100} alerts" for place in places]
    axis = ChartAxis("x", "", 0.0, 1.0)
    words = [Word(text, place, size=size) for text, place in zip(texts, places, strict=True)]
    rules, flags = raise_flags(words, axis, width)
    assert [rule["x"] for rule in rules] == places
    spec = ChartSpec(axis, ChartAxis("y", "", 0.0, 1.0), "linear")
    boxes = Panel(spec, [], Channels(None, None), PanelSize(1, width, 100)).list_boxes(flags)
    for number, other in ((a, b) for a in numbers for b in numbers if a != b):
        start, top, end, foot = boxes[number]
        other_start, other_top, other_end, other_foot = boxes[other]
        assert end <= other_start or other_end <= start or foot <= other_top + 3 or other_foot <= top + 3
        is_beside = not start + 3 < places[other] * width < end - 3
        assert is_beside or rules[other]["top"] >= foot - 6, "a rule ends below the texts over it"


def test_texts_of_rules_at_both_ends_stay_near_their_panel():
    axis, places = ChartAxis("x", "", 0.0, 1.0), (0.05, 0.1, 0.9, 0.95)
    words = [Word(f"{place:.3f} for 80% recall", place, size=11) for place in places]
    _, flags = raise_flags(words, axis, 540)
    assert [flag.align for flag in flags] == ["left", "left", "right", "right"]


def test_a_panel_names_the_level_lines_and_rules_of_a_series():
    weeks = pl.DataFrame({"week": [*range(1, 13)] * 2, "site": ["a"] * 12 + ["b"] * 12, "score": 1.0})
    n_pos = pl.when((pl.col("site") == "a") & (pl.col("week") > 6)).then(30).otherwise(70)
    test = weeks.with_columns(n_pos=n_pos, n_neg=100 - n_pos).prc(counts=("n_pos", "n_neg"), by="site")
    chart = test.plot.monitor("week", reference=0.6, threshold=1.0)
    said = [(row.get("facet"), row["text"]) for row in all_records(chart) if row.get("text")]
    assert {("a", "likely change"), ("a", "alarm"), ("a", "reference 60%"), ("b", "reference 60%")} <= {
        *said
    }
    assert ("b", "alarm") not in said
    assert "Level grey line: the reference, 60%" in subtitle(chart)


def test_one_period_is_named_and_a_reference_on_a_mean_has_dashes():
    weeks = pl.DataFrame({"week": [7, 7, 8], "site": ["a", "b", "c"], "n_pos": [60, 55, 20]})
    weeks = weeks.with_columns(n_neg=100 - pl.col("n_pos"), score=1)
    asked = {"reference": 0.6, "threshold": 1, "counts": ("n_pos", "n_neg")}
    chart = weeks.prc.plot.monitor("week", by="site", **asked)
    assert heading(chart) == "Precision is below the reference for c, in week 8"
    assert "Dashed: the reference, where it lies on the mean" in subtitle(chart)
    on_mean = {row["facet"] for row in records(chart, "reference") if "on the mean" in row["ref"]}
    assert on_mean == {"a"}
    one = weeks.filter(site="c").prc.plot.monitor("week", **asked)
    assert heading(one) == "Precision is 20%, below the reference of 60%, in week 8"
    assert "Dashed" not in subtitle(one)


def test_points_of_several_targets_have_shapes_and_those_of_one_place_are_rings():
    frame = draw_models({"new": 2.5, "old": 1.6}).with_columns(copy=pl.col("new"))
    test = prc(frame, score=["new", "copy", "old"])
    points = test.operating_points(0.01, recall=[0.5, 0.8])
    chart = test.plot.pr_curve(0.01, points=points)
    shapes = {(row["shape"], row["said"].partition(",")[0]) for row in records(chart, "mark")}
    assert shapes == {("circle", "50% recall"), ("square", "80% recall")}
    assert "Circles, 50% recall; squares, 80% recall" in subtitle(chart)
    hidden = [row["color"] for row in records(chart, "mark") if "precision_wide" in row]
    assert len(hidden) == 2, "one of the two equal models, at both targets"
    assert len(set(hidden)) == 1
    one = test.plot.pr_curve(0.01, points=points.filter(target=0.5))
    assert all("shape" not in row for row in records(one, "mark"))


def test_numbers_at_half_recall_are_thin_where_they_are_in_doubt():
    few = prc(draw_models({"new": 2.5, "old": 1.6}, pos=10), score=["new", "old"])
    chart = few.plot.threshold_curve(0.01)
    assert len(records(chart, "threshold")) == len(records(chart, "mark")) == 2
    assert all(row["precision_label"] and row["doubt"] for row in records(chart, "mark"))
    assert "Thin numbers: in doubt, as dotted lines are" in subtitle(chart)
    known = prc(draw_models({"new": 2.5, "old": 1.6}), score=["new", "old"]).plot.threshold_curve(0.3)
    assert "Thin numbers" not in subtitle(known)
    steps = {f"m{number}": 1 + number / 10 for number in range(12)}
    many = prc(draw_models(steps), score=[*steps]).plot.threshold_curve(0.01)
    assert len(records(many, "threshold")) == 3, "of lines with a colour"


def test_label_at_the_end_of_a_log_axis_is_that_of_its_value():
    few = prc(draw_models({"new": 4.5, "old": 1.6}, pos=10), score=["new", "old"])
    labels = {row["precision_rest_label"] for row in records(few.plot.prg_curve(0.001), "mark")}
    assert "100%" in labels, "100% is drawn at the end, which is nearer"


def test_ticks_that_an_axis_has_no_room_for_are_the_last_ones():
    names = {1.0: "100%", 0.5: "50%", 0.0: "10%", 0.6: "60%", 0.75: "90%"}
    axis = ChartAxis("x", "Recall", 0.0, 1.0, ticks=(*names,), tick_names=(*names.values(),))
    assert axis.list_ticks(110, 56) == [0.0, 0.5, 1.0]
    assert axis.list_ticks(300, 56) == [0.0, 0.5, 0.6, 0.75, 1.0]


def test_prevalence_of_a_title_has_a_tick_and_a_rule_where_test_sets_differ():
    number = pl.int_range(pl.len())
    sizes = pl.when("label").then(number % 4).otherwise((number % 16).sqrt().floor().cast(pl.Int64))
    frame = draw_models({"score": 2.0}, pos=800, neg=8_000).with_columns(site=sizes.cast(pl.String))
    chart = prc(frame, score="score", by="site").plot.p3_curve(recall=0.6)
    assert "at a prevalence of 1 in 100" in heading(chart)
    assert {row["eta"] for row in records(chart, "reference")} == {0.01}


@pytest.mark.parametrize(("n_scores", "step"), [(81, 0.1), (101, 1.0), (1_001, 0.01), (7, 1.0)])
def test_bars_of_equally_many_rounded_scores_are_equal(n_scores, step):
    scores = [round(number * step, 2) for number in range(n_scores)] * 30
    frame = pl.DataFrame({"score": scores, "label": np.arange(len(scores)) % 2 == 0})
    bars = records(prc(frame, score="score").plot.scores(), "negatives")
    heights = {round(row["y"], 6) for row in sorted(bars, key=lambda row: row["x"])[1:-1]}
    assert len(heights) == 1, "only the first and the last range may have fewer scores"


def test_bars_of_scores_are_flagged_as_a_whole():
    frame = draw_models({"score": 2.0}).with_columns(pl.col("score").clip(0, 4).round())
    chart = prc(frame, score="score").plot.scores()
    [rule] = records(chart, "threshold")
    starts = [row["x"] for row in records(chart, "positives")]
    assert rule["x"] in starts, "a bar begins at the threshold"
    flagged = frame.filter("label").select((pl.col("score") >= rule["x"]).mean()).item()
    shares = [row["y"] for row in records(chart, "positives") if row["x"] >= rule["x"]]
    assert sum(shares) == pytest.approx(flagged)


def test_panels_of_different_prevalences_have_no_grey_copies():
    frame = draw_models({"score": 2.0}).with_columns(site=pl.int_range(pl.len()) % 4)
    test = prc(frame.with_columns(pl.col("site").cast(pl.String)), score="score", by="site")
    alike = test.plot.pr_curve(0.05, facet="site")
    places = [
        {
            (row["curve"], row["recall"], row["precision"], row.get("doubt"))
            for row in records(alike, part)
        }
        for part in ("ghost", "curve")
    ]
    assert places[0] == places[1], "each lies under its own line, and is dotted alike"
    assert "Pale lines: those of the other panels" in subtitle(alike)
    etas = pl.DataFrame({"site": ["0", "1", "2", "3"], "eta": [0.3, 0.1, 0.05, 0.01]})
    unlike = test.plot.pr_curve(etas, facet="site")
    assert not records(unlike, "ghost")
    note = "Panels have different prevalences, which alone change precision"
    assert note in subtitle(unlike)
    assert note not in subtitle(alike)


def test_strips_and_zones_end_where_the_title_does():
    axis = ChartAxis("eta", "", 0.001, 1.0, "one in", is_log=True)
    etas, names = [0.001, 0.01, 0.1, 1.0], ["", "a", "a", ""]
    stretches = [*list_stretches(axis, etas, names, lambda name: not name)]
    assert stretches == [
        ("", {"eta": 0.001, "to": 0.01}),
        ("a", {"eta": 0.01, "to": 0.1}),
        ("", {"eta": 0.1, "to": 1.0}),
    ]
    [_, (_, single), _] = list_stretches(axis, etas[:3], ["", "a", ""], lambda name: not name)
    assert single["eta"] < 0.01 < single["to"], "a single prevalence is seen"


def test_a_note_names_grey_groups_of_few_positives():
    sizes = dict.fromkeys("abcdefghij", 60) | {"{k}": 7}
    random = np.random.default_rng(2)
    parts = [
        pl.DataFrame({"label": np.arange(500) < n, "score": random.normal(size=500), "site": name})
        for name, n in sizes.items()
    ]
    test = prc(pl.concat(parts).with_columns(pl.col("score") + 2 * pl.col("label")), by="site")
    for chart in (test.plot.threshold_curve(0.05), test.plot.metric_by_eta()):
        assert "grey lines: the other 8 (fewer than 20: {k})" in subtitle(chart)
    enough = prc(pl.concat(parts[:10]), by="site").plot.threshold_curve(0.05)
    assert "fewer than 20:" not in subtitle(enough)


def test_grids_of_few_positives_are_marked_as_such():
    label = [1] * 5 + [0] * 200 + [1] * 60 + [0] * 200
    site = ["Oslo"] * 205 + ["Bonn"] * 260
    frame = pl.DataFrame(
        {"label": label, "site": site, "score": np.arange(465) % 97 + 40 * np.array(label)}
    )
    chart = prc(frame, by="site").plot.alerts(0.1, recall=0.5)
    texts = {
        row.get("facet"): row["text"] for row in all_records(chart) if "too few" in row.get("text", "")
    }
    assert texts == {"Oslo": "too few positives (5)"}


def test_an_axis_has_two_ticks_or_more():
    for low, high, pixels in ((0.1, 0.9, 132), (0.0, 0.47, 88), (0.3, 0.8, 60), (0.0, 1.0, 50)):
        axis = ChartAxis("y", "", low, high)
        assert len(axis.list_ticks(pixels, 36)) >= 2


def test_thresholds_of_several_targets_have_numbers_at_one():
    test = prc(draw_models({"new": 2.5, "old": 1.6}), score=["new", "old"])
    points = test.operating_points(0.01, recall=[0.5, 0.8], alerts=300, per=10_000)
    chart = test.plot.threshold_curve(0.01, points=points)
    marks = records(chart, "mark")
    assert len(marks) == len(points)
    assert sum(bool(mark["precision_label"]) for mark in marks) == 2
    assert "Numbers at points: those at 50% recall" in subtitle(chart)
    alone = test.plot.threshold_curve(0.01, points=points.filter(target=0.8))
    assert "Numbers at points" not in subtitle(alone)


def test_one_threshold_of_two_models_has_the_precision_of_both():
    frame = draw_models({"a": 2.5, "b": 2.0}).with_columns(pl.col("a", "b").clip(0, 2).ceil())
    test = prc(frame, score=["a", "b"])
    half = test.operating_points(0.1, recall=0.5, columns="all")
    assert half["threshold"].n_unique() == 1
    said = dict(zip(half["model"], map(plain, say_shares(half["precision"])), strict=True))
    recalls = dict(zip(half["model"], map(plain, map(say_share, half["recall"])), strict=True))
    assert heading(test.plot.threshold_curve(0.1)) == (
        f"At 50% recall or more, no clear winner: precision is {said['a']} for a "
        f"({recalls['a']} recall) and {said['b']} for b ({recalls['b']} recall)"
    ), "ties hold recalls apart"


# Intervals that overlap decide nothing


def test_what_is_at_chance_is_not_ranked():
    random = np.random.default_rng(203)
    label = random.permutation(900) < 80
    coins = pl.DataFrame({"label": label, "a": random.random(900), "b": random.random(900)})
    test = prc(coins, score=["a", "b"])
    alone = prc(coins, score="a")
    for one in (test, alone):
        for title in (
            *(heading(one.plot.pr_curve(0.02, confidence=level)) for level in (None, 0.95)),
            *(heading(one.plot.pr_curve(0.02, y="fdr")), heading(one.plot.roc_curve())),
            *(heading(one.plot.prg_curve(0.02)), heading(one.plot.prg_curve(0.2))),
            *(heading(one.plot.threshold_curve(0.02)), heading(one.plot.gain_curve(0.02))),
            heading(one.plot.scores()),
        ):
            assert re.match("The scores may be no better than chance: (at|with|recall) ", title), title
            assert "overlap" not in title
            assert "winner" not in title
    three = heading(test.plot.p3_curve(recall=0.5, confidence=0.95))
    assert re.fullmatch(
        r"Alerts may be no better than chance: precision is [\d.]+% for \w and [\d.]+% for \w at a "
        "prevalence of 1 in 11; at random 8.9%",
        three,
    )
    assert heading(test.plot.p3_curve(recall=0.5)) == three, "by its counts, as in all other charts"


def test_many_groups_at_chance_are_told_as_chance():
    """Of forty, two would differ at 95% each."""
    test = prc(draw_steps({f"site {k:02}": 0.0 for k in range(40)}, pos=60), by="site")
    for chart in (test.plot.threshold_curve(0.05), test.plot.gain_curve(0.05), test.plot.roc_curve()):
        assert heading(chart).startswith("The scores may be no better than chance: ")
    useful = prc(draw_steps({f"site {k:02}": (k == 7) * 1.0 for k in range(40)}, pos=60), by="site")
    assert re.match("At 5.% recall.* to .* for site 07$", heading(useful.plot.threshold_curve(0.05)))


def test_what_is_above_chance_for_one_line_is_told():
    test = prc(draw_models({"a": 0.0, "b": 1.0}), score=["a", "b"])
    for chart in (test.plot.pr_curve(0.1, confidence=0.95), test.plot.roc_curve(), test.plot.scores()):
        assert heading(chart).startswith("At 50% recall, b is better: ")
    worse = prc(draw_models({"a": -1.0}), score="a")
    assert heading(worse.plot.roc_curve()).startswith("At 50% recall, "), "which is no chance either"


def test_a_decision_curve_of_chance_names_no_order():
    random = np.random.default_rng(203)
    label = random.permutation(900) < 80
    coins = pl.DataFrame({"label": label, "a": random.random(900), "b": random.random(900)})
    test = prc(coins, score=["a", "b"])
    assert heading(test.plot.decision_curve(0.02, eta_train=0.09, confidence=0.95)) == (
        "No model has a net benefit significantly above treat-all and treat-none at a risk threshold of "
        "2%"
    )


def test_all_charts_of_thresholds_have_one_voice():
    alike = prc(draw_models({"a": 2.0, "b": 2.05}), score=["a", "b"])
    apart = prc(draw_models({"a": 2.5, "b": 1.0}), score=["a", "b"])
    three = prc(draw_models({"a": 2.0, "b": 2.05, "c": 0.5}), score=["a", "b", "c"])
    opening_of_test = {
        alike: "no clear winner",
        apart: "a is better",
        three: "no clear winner between . and .; c is worse",
    }
    for test, opening in opening_of_test.items():
        for chart in (
            *(test.plot.pr_curve(0.1, confidence=level) for level in (None, 0.95)),
            *(test.plot.pr_curve(0.1, y="fdr"), test.plot.roc_curve(), test.plot.prg_curve(0.1)),
            *(test.plot.threshold_curve(0.1), test.plot.gain_curve(0.1), test.plot.scores()),
            test.plot.alerts(0.1, recall=0.5),
            test.plot.roc_curve(points=test.operating_points(0.1, recall=0.5, columns="all")),
        ):
            title = heading(chart)
            assert re.match(f"((At|With) [^,]+, )?{opening}: ", title, re.I), title
    points = alike.operating_points(0.1, precision=0.5, columns="all")
    assert "winner" not in heading(alike.plot.pr_curve(0.1, points=points)), "which is another question"
    assert "winner" not in heading(alike.plot.pr_curve([0.1, 0.01]))


def test_thresholds_of_one_chart_have_equal_decimals():
    test = prc(draw_models({"a": 2.0, "b": 1.9, "c": 1.0}), score=["a", "b", "c"])
    for chart in (test.plot.scores(), test.plot.threshold_curve(0.1)):
        texts = {row.get("text", "") for row in all_records(chart)}
        scores = [text for text in texts if re.fullmatch(r"\d+\.\d+", text)]
        assert len(scores) == 3
        assert len({len(text.partition(".")[2]) for text in scores}) == 1
    texts = say_thresholds([3.45, 3.071, 1.57691], [[3.4], [3.07], [1.576]])
    assert texts == ["3.4500", "3.0710", "1.5769"], "rounded down"
    assert say_thresholds([0.55, -2.0], [None, None]) == ["0.55", "\u22122.00"]
    assert say_thresholds([1, 2], [None, None]) == ["1", "2"]


@pytest.mark.parametrize("eta", [0, 1])
def test_many_groups_without_a_value_are_drawn(eta):
    parts = [
        draw_models({"score": 2.0}, pos=30, neg=90, seed=k).with_columns(g=pl.lit(k)) for k in range(10)
    ]
    chart = charts.prg_curve(pl.concat(parts).prc.curve(eta, by="g"), color="g")
    assert "grey lines: the other " in subtitle(chart)


def test_one_group_of_enough_positives_is_one_coloured_line():
    sizes = {k: 60 if k == 3 else 5 for k in range(10)}
    parts = [
        draw_models({"score": 2.0}, pos=n_pos, neg=90, seed=k).with_columns(m=pl.lit(f"m{k}"))
        for k, n_pos in sizes.items()
    ]
    chart = prc(pl.concat(parts), model="m").plot.metric_by_eta([0.1, 0.3], confidence=0.95)
    assert "Coloured lines: the 1" in subtitle(chart) or "grey lines: the other 9" in subtitle(chart)


def test_a_metric_keeps_its_capitals_within_a_sentence():
    test = prc(draw_models({"a": 2.0, "b": 1.5}), score=["a", "b"])
    chart = test.plot.difference([0.01, 0.1], metrics="roc_auc", confidence=0.95)
    assert "ROC AUC" in subtitle(chart)
    assert "rOC" not in subtitle(chart) + heading(chart)


def test_models_of_equal_rank_change_no_places_and_stay_within_the_axis():
    frame = draw_models({"a": 1.5})
    test = prc(frame.with_columns(b="a"), score=["a", "b"])
    assert "same at all prevalences" in heading(test.plot.ranking())
    tied = test.plot.ranking(confidence=0.95)
    assert {row["foot"] for row in records(tied, "zone")} == {1.34}


@pytest.mark.parametrize(
    ("n_pos", "gap", "step"), [(12, 0.3, None), (60, 0.3, None), (400, 2, None), (80, 1, 1)]
)
def test_charts_at_a_target_call_a_winner_as_the_verdict_does(n_pos, gap, step):
    """Intervals of two thresholds may lie apart where the models are not significantly different."""
    rng = np.random.default_rng(3)
    label = np.arange(20 * n_pos) < n_pos
    noise = rng.normal(size=(3, len(label)))
    scores = {
        name: noise[0] + noise[i + 1] + label * lift
        for i, (name, lift) in enumerate([("a", 1.5 + gap), ("b", 1.5)])
    }
    frame = pl.DataFrame({"label": label, **scores})
    if step is not None:
        frame = frame.with_columns(pl.col("a", "b").round())
    test = frame.prc(score=["a", "b"])
    is_open = "NO CLEAR WINNER" in test.decide(0.02, recall=0.5).say()
    titles = [
        " ".join(chart.to_dict()["title"]["text"])
        for chart in (
            test.plot.alerts(0.02, recall=0.5),
            test.plot.p3_curve([0.01, 0.02, 0.04], recall=0.5, confidence=0.95),
            *([test.plot.pr_curve(0.02, confidence=0.95)] if n_pos >= 20 else []),
        )
    ]
    assert {"no clear winner" in title.lower() for title in titles} == {is_open}, titles


def test_icons_name_the_recall_of_each_model_if_ties_set_them_apart():
    frame = pl.DataFrame({"label": [1] * 50 + [0] * 50, "a": [3] * 30 + [1] * 20 + [2] * 10 + [0] * 40})
    frame = frame.with_columns(b=pl.when(pl.int_range(pl.len()) < 40).then(3).otherwise("a"))
    text = json.dumps(
        frame.prc(score=["a", "b"]).plot.alerts(0.1, recall=0.5).to_dict(), ensure_ascii=False
    )
    assert "60% recall" in text
    assert "80% recall" in text


def test_a_title_on_marked_points_in_doubt_is_on_these_points():
    test = prc(draw_models({"a": 4.0, "b": 3.5}), score=["a", "b"])
    points = test.operating_points(0.01, precision=0.95)
    for chart in (
        test.plot.pr_curve(0.01, points=points),
        test.plot.threshold_curve(0.01, points=points),
    ):
        assert re.match(r"At 9\d%|At 100%", heading(chart)), heading(chart)
        assert heading(chart).endswith("rests on fewer than 5 false positives")


def test_alerts_at_random_are_noted_only_where_they_are_drawn():
    runs = draw_models({"a": 2.0}).with_columns(topic=pl.int_range(pl.len()) % 3).rename({"a": "score"})
    for eta, is_drawn in ((0.1, True), (None, True)):
        chart = prc(runs, by="topic").plot.pr_curve(eta, facet="topic")
        assert ("Level grey line: alerts at random" in subtitle(chart)) == is_drawn
    curve = prc(runs, by="topic").curve(None).with_columns(eta=pl.lit(None, dtype=pl.Float64))
    chart = charts.pr_curve(curve, facet="topic")
    assert not records(chart, "reference")
    assert "Grey line" not in subtitle(chart)


def test_alerts_that_may_be_chance_are_told_as_a_curve_tells_them():
    test = prc(draw_models({"a": 0.0, "b": 0.05}, seed=4), score=["a", "b"])
    points = test.operating_points(0.1, recall=0.5).sort("precision", descending=True)
    first, second = map(plain, say_shares(points["precision"].to_list()))
    models = points["model"].to_list()
    assert heading(test.plot.alerts(0.1, recall=0.5)) == (
        f"Alerts may be no better than chance: {first} of alerts are true positives for {models[0]} and "
        f"{second} for {models[1]}; at random 10%"
    )
    assert heading(test.plot.pr_curve(0.1)) == (
        f"The scores may be no better than chance: at 50% recall, precision is {first} for {models[0]} "
        f"and {second} for {models[1]}"
    )
    one = prc(draw_models({"a": 0.0}), score="a").plot.alerts(0.1, recall=0.5)
    assert heading(one).startswith("Alerts may be no better than chance: ")
    two = test.plot.alerts([0.1, 0.01], recall=0.5)
    assert "chance" not in heading(two), "each prevalence has its own"
    for level in (None, 0.95):
        lines = test.plot.p3_curve(recall=0.5, confidence=level)
        assert heading(lines).startswith("Alerts may be no better than chance: precision is ")
    areas = test.plot.metric_by_eta(confidence=0.95)
    assert heading(areas).startswith("The scores may be no better than chance: average precision is ")
    spike = prc(
        draw_models({"a": 0.0}, pos=200, seed=4).with_columns(
            a=pl.when(pl.col("label") & (pl.int_range(pl.len()) % 8 == 0)).then(9.0).otherwise("a")
        ),
        score="a",
    )
    assert "chance" not in heading(spike.plot.alerts(0.1, recall=0.5)), "high scores are not random"


def draw_steps(steps: dict[str, float], *, pos: int = 200) -> pl.DataFrame:
    """Return a long table of groups of one size, whose positives are so many deviations higher."""
    rows = draw_models(steps, pos=pos).unpivot(index="label", variable_name="site", value_name="score")
    return rows.select("site", "label", "score")


def test_lines_that_read_alike_are_named_together_at_the_end_of_a_range():
    frame = draw_models({"a": 2.5, "c": 1.0}).with_columns(b="a")
    test = prc(frame, score=["a", "b", "c"])
    half = test.operating_points([0.3, 0.1], recall=0.5).sort("eta", "precision", descending=True)
    high, _, low, rare_high, _, rare_low = map(plain, say_shares(half["precision"].to_list()))
    assert heading(test.plot.pr_curve([0.3, 0.1])) == (
        f"At 50% recall, precision ranges from {low} for c to {high} for a and b at a prevalence of 30%"
        f"; from {rare_low} for c to {rare_high} for a and b at 10%"
    )
    assert heading(test.plot.pr_curve(0.3)) == (
        "At 50% recall, no clear winner between a and b; c is worse: "
        f"precision is {high} for a and b, {low} for c"
    )
    assert heading(test.plot.alerts(0.3, recall=0.5)).endswith(
        f"{high} of alerts are true positives for a and b, {low} for c"
    )
    five = prc(frame.with_columns(d="a", e="a"), score=["a", "b", "c", "d", "e"])
    assert heading(five.plot.pr_curve(0.3)).endswith(f"ranges from {low} for c to {high}"), "four names"
    assert heading(five.plot.alerts(0.3, recall=0.5)).endswith(f"from {low} of alerts to {high}")


def test_gains_near_100_are_told_as_precision():
    test = prc(draw_models({"a": 4.0, "b": 3.4}, neg=400_000), score=["a", "b"])
    title = heading(test.plot.prg_curve(0.0001))
    assert re.search(r"At 50% recall, .*: precision is \d+% for a and \d+% for b$", title), title
    assert "99.9" not in title


def test_a_title_by_prevalence_has_no_number_far_from_the_test_set():
    test = prc(draw_models({"a": 2.6, "b": 2.4}, pos=25, neg=20_000), score=["a", "b"])
    title = heading(test.plot.metric_by_eta(confidence=0.95))
    assert title == (
        "By average precision, no clear winner between a and b; values are known only roughly at the "
        "test set's prevalence, 1 in 801"
    )
    large = prc(draw_models({"a": 2.5, "b": 2.45}, pos=400, neg=20_000), score=["a", "b"])
    assert heading(large.plot.metric_by_eta(confidence=0.95)).endswith("at a prevalence of 1 in 51")


def test_a_model_of_few_positives_is_not_named_as_best():
    steps = {f"site {k}": 2.0 for k in range(4)} | {"best": 4.0, "few": 4.2}
    frame = draw_steps(steps)
    frame = frame.filter(
        (pl.col("site") != "few") | ~pl.col("label") | (pl.int_range(pl.len()) % 20 == 0)
    )
    test = prc(frame, model="site")
    assert frame.filter(pl.col("label"), site="few").height < 20
    assert re.fullmatch(
        "Among .* with 20 positives or more, by average precision, best is best at both prev.*",
        heading(test.plot.metric_by_eta([0.05, 0.2], confidence=0.95)),
    )
    title = heading(test.plot.ranking([0.05, 0.2], confidence=0.95))
    assert title == "By average precision, best or few is best at both prevalences tested", (
        "as its zones"
    )
    few_sentence = "Zones and places include few with fewer than 20 positives"
    assert few_sentence in subtitle(test.plot.ranking([0.05, 0.2], confidence=0.95))
    strip = records(test.plot.metric_by_eta([0.05, 0.2], confidence=0.95), "first")
    assert {row["color"] for row in strip} == {"best"}


def test_a_range_of_many_groups_has_those_in_doubt_in_its_note():
    test = prc(draw_steps({f"site {k}": 1.0 + k / 3 for k in range(7)}), by="site")
    for chart in (
        test.plot.threshold_curve(0.05),
        test.plot.prg_curve(0.05),
        test.plot.pr_curve(0.05, color="site"),
    ):
        assert re.match(
            "At 50% recall, precision ranges from .* for site 0 to .* for site 6", heading(chart)
        )
        assert re.search(
            "At 50% recall, precision (for|of) .* rests on fewer than 5 false", subtitle(chart)
        )
    three = prc(draw_steps({f"site {k}": 1.0 + 1.5 * k for k in range(3)}), by="site")
    assert heading(three.plot.threshold_curve(0.05)).endswith("rests on fewer than 5 false positives")


def grade_models(*, seed: int = 1) -> pl.DataFrame:
    """Return two models of few grades, no threshold of which gives both the same recall."""
    frame = draw_models({"a": 2.3, "b": 1.9}, pos=400, neg=3_600, seed=seed)
    cuts = {"a": [0.3, 1.1, 1.9, 2.7], "b": [0.0, 1.0, 2.4, 3.0]}
    grades = {name: pl.sum_horizontal(pl.col(name) > cut for cut in at) for name, at in cuts.items()}
    return frame.with_columns(grade.cast(pl.Float64).alias(name) for name, grade in grades.items())


def test_recalls_that_ties_hold_apart_are_in_titles():
    test = prc(grade_models(), score=["a", "b"])
    for chart in (
        test.plot.alerts(0.02, recall=0.6),
        test.plot.pr_curve(0.02),
        test.plot.roc_curve(),
        test.plot.threshold_curve(0.02),
        test.plot.scores(),
    ):
        said = re.findall(
            r"[\d.]+% (?:of alerts are true positives )?for ([ab]) \((\d+)% recall\)", heading(chart)
        )
        assert sorted(name for name, _ in said) == ["a", "b"], heading(chart)
        assert abs(int(said[0][1]) - int(said[1][1])) > 5
        if "no clear winner" in heading(chart).lower():
            assert "Too many cases share a score to compare models reliably" in subtitle(chart)
            assert "Difference in precision" not in subtitle(chart), "nothing is known of it"


def test_notes_on_points_have_the_rates_that_ties_lift_them_to():
    test, one = (prc(grade_models(), score=score) for score in (["a", "b"], "a"))
    points = test.operating_points(0.02, recall=[0.5, 0.6], columns="all")
    for chart in (test.plot.roc_curve(points=points), test.plot.threshold_curve(0.02, points=points)):
        assert "Circles, 50% recall or more; squares, 60% recall or more" in subtitle(chart)
    assert "Points: 50% recall or more" in subtitle(test.plot.roc_curve())
    chart = one.plot.roc_curve()
    [mark] = records(chart, "mark")
    assert f"Points: {say_share(mark['recall'])} recall." in subtitle(chart)


def test_a_chart_by_prevalence_has_the_difference_behind_no_clear_winner():
    chart = prc(draw_models({"a": 2.2, "b": 2.0}, pos=30), score=["a", "b"]).plot.p3_curve(
        recall=0.5, confidence=0.95
    )
    assert heading(chart).startswith("No clear winner: precision is ")
    titled_eta = heading(chart).rpartition("at a prevalence of ")[
        2
    ]  # that of the test set, off the grid
    place = (
        f"at a prevalence of {titled_eta} at the same true recall, less certain than at one threshold"
    )
    assert re.search(f"Difference in precision {place}: .* points? .*to ", subtitle(chart))


def test_a_chart_without_a_prevalence_has_that_of_its_comparison():
    test = prc(draw_models({"a": 2.2, "b": 2.0}, pos=30, neg=2_970), score=["a", "b"])
    place_by_eta = {
        None: "at the test set's own, uncertain prevalence",
        0.01: "at a prevalence of 1 in 100",
        0.1: "at a prevalence of 1 in 10",
    }
    for eta, place in place_by_eta.items():
        difference = f"Difference in precision {place} at the same true recall: "
        assert difference in subtitle(test.plot.roc_curve(eta))
    ranks = test.ranking(0.1, metric="precision", recall=0.5, confidence=0.95, columns="all")
    chart = charts.roc_curve(test.sweep(), ranking=ranks)
    assert f"Difference in precision {place_by_eta[0.1]} at the same" in subtitle(chart)


def test_two_that_may_be_best_are_named_and_their_stretch_is_drawn():
    frame = draw_models({"a": 2.6, "b": 2.5, "c": 0.7}, pos=60, neg=4_000)
    test = prc(frame, score=["a", "b", "c"])
    for chart in (test.plot.ranking(confidence=0.95), test.plot.metric_by_eta(confidence=0.95)):
        said = re.search(
            r"a or b is best at prevalences from (1 in [\d,]+) up; below that", heading(chart)
        )
        assert said, heading(chart)
        start = max(row["eta"] for row in records(chart, "first"))
        assert say_eta(start).replace("\N{NO-BREAK SPACE}", " ") == said[1]


def test_edges_of_leads_are_in_the_unit_of_the_axis():
    models = [*"abcd"]

    def find_sentence(*ends: float) -> str:
        etas = eta_grid(*ends)
        return plain(say_firsts([(eta, "a" if eta in etas[5:-5] else "") for eta in etas], models))

    said = find_sentence(0.001, 0.5)
    assert re.match(r"a is best at prevalences from 1 in \d+ to 1 in \d\.\d;", said), said
    assert said.endswith("; no clear winner elsewhere")


def test_a_ranking_at_one_prevalence_has_its_tick_its_names_and_a_finding():
    sites = [draw_models({"a": 3.0, "b": 1.0}, seed=k).with_columns(site=pl.lit(k)) for k in range(3)]
    sites.append(draw_models({"b": 3.0, "a": 1.0}).with_columns(site=pl.lit(3)))
    test = prc(pl.concat(sites, how="diagonal"), score=["a", "b"])
    chart = test.plot.ranking(0.05)
    assert heading(chart) == "On this test set, a ranks first at a prevalence of 1 in 20"
    words = {plain(row.get("text", "")) for row in all_records(chart)}
    assert {"a", "b", "1 in 20"} <= words | set(re.findall(r"1 in 20", plain(chart.to_json())))
    note_y = chart.to_dict()["layer"][-1]["encoding"]["y"]["value"]
    assert note_y - chart.height > 40, "below the title of the axis"
    panels = test(by="site").plot
    place = "in 3 of 4 panels at a prevalence of 1 in 20, b in 1"
    assert heading(panels.ranking(0.05)) == f"On this test set, a ranks first {place}"
    assert heading(panels.ranking(0.05, confidence=0.95)) == f"a is best {place}"


def test_panels_of_several_models_have_the_range_of_their_areas():
    sites = [draw_models({"a": 1 + k, "b": 1.0}, seed=k).with_columns(site=pl.lit(k)) for k in range(4)]
    test = prc(pl.concat(sites), score=["a", "b"], by="site")
    areas = test.summary(0.1, metrics="average_precision").sort("value")
    for plot, name in (
        (test.plot.pr_curve(0.1), "Average precision"),
        (test.plot.roc_curve(), "ROC AUC"),
    ):
        said = re.fullmatch(rf"{name} ranges from (0\.\d+) for .* to (0\.\d+) for (.*)", heading(plot))
        assert said, heading(plot)
        assert {"a", "3"} <= {*said[3].replace("site ", "").split(" · ")}
    said = re.findall(r"0\.\d+", heading(test.plot.pr_curve(0.1)))
    assert [*map(float, said)] == [round(areas["value"][end], 2) for end in (0, -1)]


@pytest.mark.parametrize("seed", range(4))
def test_a_title_of_a_few_prevalences_claims_nothing_on_others(seed):
    tails = np.where(np.arange(3_000) < 150, 4.5, 0)  # half of the positives, found at once
    frame = draw_models({"broad": 2.0 + seed / 8}, pos=300, neg=2_700, seed=seed)
    rng = np.random.default_rng(seed)
    frame = frame.with_columns(narrow=pl.Series(tails + rng.normal(size=3_000)))
    test = prc(frame, score=["broad", "narrow"])
    few = [0.001, 0.05, 0.9]
    ranks = test.ranking(few, confidence=0.95).filter("may_be_best")
    for names in (few, few[:2], few[1:]):
        chart = test.plot.ranking(names, confidence=0.95)
        said = heading(chart)
        assert not re.search(r"\b(from|up|above|below|elsewhere|shown|all prevalences)\b", said), said
        firsts = {eta: ranks.filter(eta=eta)["model"].to_list() for eta in names}
        for model in ("broad", "narrow"):
            is_told = re.search(rf"{model} is better at|, {model} at ", said) is not None
            assert is_told == ([model] in firsts.values()), said
        assert ("no clear winner" in said) == any(len(models) > 1 for models in firsts.values())


def test_precision_has_a_log_axis_where_all_lines_lie_at_its_foot():
    coins = draw_models({"a": 0.0, "b": 0.0}, pos=80, neg=820)
    useful = coins.with_columns(b=pl.col("b") + 3 * pl.col("label"))
    for frame, is_log in ((coins, True), (useful, False)):
        chart = prc(frame, score=["a", "b"]).plot.pr_curve(0.02)
        assert ('"type": "log"' in chart.to_json()) == is_log


def test_a_point_that_another_target_hides_is_a_ring():
    test = prc(draw_models({"a": 2.0, "b": 1.5}), score=["a", "b"])
    points = test.operating_points(0.1, recall=[0.5, 0.51], columns="all")
    chart = test.plot.pr_curve(0.1, points=points)
    marks = records(chart, "mark")
    assert {row["shape"] for row in marks} == {"circle", "square"}
    rings = [row for row in marks if any(name.endswith("_wide") for name in row)]
    assert {row["shape"] for row in rings} == {"circle"}, "which squares would hide"


def test_a_ring_stands_around_the_ring_that_would_hide_it():
    label = np.arange(1_040) < 40
    half = np.where(np.arange(1_040) < 20, 2.0, np.where(label, 0.0, 1.0))
    above = np.arange(1_040) - 40  # the number of each negative
    scores = {f"m{k}": np.where((above >= 0) & (above < 10 * k), 3.0, half) for k in range(3)}
    chart = prc(pl.DataFrame({"label": label, **scores}), score=[*scores]).plot.roc_curve()
    widths = [row.get("recall_wide", 0) for row in records(chart, "mark")]
    assert [row["fpr"] for row in records(chart, "mark")] == [0.0, 0.01, 0.02], "in a chain"
    assert widths[0] > widths[1] > widths[2] == 0


@pytest.mark.parametrize("eta", [None, 0.01])
def test_differences_of_few_positives_are_told_as_such(eta):
    frame = draw_models({"a": 4.0, "b": 1.0, "c": 0.5}, pos=14)
    for names in (["a", "b"], ["a", "b", "c"]):
        chart = prc(frame, score=names).plot.difference(eta)
        assert heading(chart).startswith("With 14 positives, ")
        assert "better" in heading(chart)
        assert "Test set: 14 positives, 2,000 negatives" in subtitle(chart)
    many = prc(draw_models({"a": 4.0, "b": 1.0}, pos=20), score=["a", "b"]).plot.difference(eta)
    assert "positives" not in heading(many) + subtitle(many)

    rows = frame.select("label", "a", "b").with_row_index("example")
    rows = rows.unpivot(
        ["a", "b"], index=["example", "label"], variable_name="model", value_name="score"
    )
    long = rows.prc.plot.difference(eta, id="example")  # the models are in the column `model`
    assert "Test set: 14 positives, 2,000 negatives" in subtitle(long)


def test_a_zone_that_holds_a_significant_order_has_its_reason_in_the_note():
    chain = prc(draw_models({"a": 2.2, "b": 1.8, "c": 1.4}, pos=60), score=["a", "b", "c"])
    reason = "Within a zone some models differ significantly, but not from all others"
    assert reason in subtitle(chain.plot.ranking(0.03, confidence=0.95))
    alike = prc(draw_models({"a": 2.2, "b": 2.2, "c": 2.2}, pos=60), score=["a", "b", "c"])
    assert reason not in subtitle(alike.plot.ranking(0.03, confidence=0.95))
    few = prc(draw_models({"a": 2.0, "b": 1.0}, pos=14), score=["a", "b"])
    assert "Test set: 14 positives" in subtitle(few.plot.ranking(confidence=0.95))


def test_labels_of_six_points_lie_on_no_named_line():
    for n_points, is_placed in ((5, True), (6, False)):
        space = LabelSpace(400, 400, points=[(200.0, 60.0 * k) for k in range(n_points)])
        space.curves = {f"line {height}": np.full(101, float(height)) for height in range(0, 400, 8)}
        label = space.place_beside_point((200.0, 180.0), "68%, fpr 3.6%", "line 184")
        assert (label is not None) == is_placed


def test_thresholds_have_the_unit_of_an_axis_of_rare_scores():
    frame = draw_models({"a": 3.0}, pos=60, neg=6_000)
    rare = frame.with_columns(a=1 / (1 + (12 - 3 * pl.col("a")).exp()))
    chart = prc(rare, score="a").plot.scores()
    [threshold] = [row["said"] for row in records(chart, "threshold")]
    score = float(threshold.split()[1])
    assert plain(threshold) == plain(f"threshold {score} ({say_eta(score)})")
    common = frame.with_columns(a=1 / (1 + (2 - pl.col("a")).exp()))
    [row] = records(prc(common, score="a").plot.scores(), "threshold")
    assert "1" + "\u00a0in" not in row["said"]


def test_no_grey_stretch_of_a_strip_is_empty():
    frame = draw_models({"a": 2.6, "b": 2.5, "c": 0.7}, pos=60, neg=4_000)
    long = prc(frame.rename({"a": "a" * 30, "b": "b" * 30}), score=["a" * 30, "b" * 30, "c"])
    wide = long.plot.ranking(confidence=0.95, width=250)
    assert {"one of two is best", "one of two"} & {str(row.get("text")) for row in all_records(wide)}
    texts = {"open", "no clear winner", "one of two is best", "one of two", "a or b", "a or b is best"}
    for width in (60, 120, 240, 480):
        chart = prc(frame, score=["a", "b", "c"]).plot.metric_by_eta(confidence=0.95, width=width)
        grey = [row for row in records(chart, "first") if "color" not in row]
        assert len(grey) == sum(plain(str(row.get("text"))) in texts for row in all_records(chart))
