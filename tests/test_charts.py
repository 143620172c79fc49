"""Charts: what the spec says is drawn is the exact curve, and every kind of chart renders."""

from __future__ import annotations

import colorsys
import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
import pytest
from altair.utils import schemapi
from sklearn.metrics import precision_recall_curve, roc_auc_score

from polars_prcurve import PrcError, charts, eta_grid, prc
from polars_prcurve.doors.namespace.frame import LazyFramePrc
from polars_prcurve.doors.namespace.plot import PlotPrc
from polars_prcurve.view.charts.by_prevalence import doubt_wide
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec, PanelSize
from polars_prcurve.view.charts.parts.colors_and_panels import Channels
from polars_prcurve.view.charts.parts.colors_and_sizes import (
    COLORS,
    ETA_COLORS,
    INK,
    OTHERS,
    darken_text,
    mix_eta_colors,
)
from polars_prcurve.view.charts.parts.label_placement import place_beside, settle_words, spread_at_ends
from polars_prcurve.view.charts.parts.names_and_numbers import say_eta_range
from polars_prcurve.view.charts.parts.panel_in_pixels import LabelSpace, Panel, Word, choose_way
from polars_prcurve.view.report.page_style import DARK_COLORS
from polars_prcurve.view.words.number_words import (
    join_value,
    say_count,
    say_estimate,
    say_eta,
    say_share,
    say_shares,
    say_signed,
    say_target,
)
from tests.support.chart_overlaps import read_drawing
from tests.support.chart_specs import (
    PNG,
    UNSEEN,
    all_records,
    channels,
    check_data,
    check_fields,
    heading,
    inner,
    labels,
    layer,
    names,
    plain,
    png,
    points,
    read_spec,
    records,
    subtitle,
    walk_texts,
)
from tests.support.drawings import DRAW, GRID, draw_groups, draw_scores, make_posteriors

pytestmark = pytest.mark.extras
vl_convert = pytest.importorskip("vl_convert")

HOSTILE = [
    "a:b",
    "x.y",
    "z[0]",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "😀",
    "L" * 300,
    "two\nlines",
    "^regex$",
    "*",
    "",
    'say "hi"\\',
    "a\x01b",
    "\x1b]0;title\x07",
    "nul\0",
    "\x7f\x85\x9b",
    "\ufffe",
    "\uffff and \U0010ffff",
]
COLUMNS = [*HOSTILE[:5], "".join(HOSTILE[5:8] + HOSTILE[11:])]
PATTERNS = ["^regex$", "*"]  # which no method takes as the name of a column


def crossed(models, sites) -> pl.DataFrame:
    pairs = [(model, site) for model in models for site in sites]
    return pl.concat(draw_scores(seed=i, model=m, site=s) for i, (m, s) in enumerate(pairs))


# The curve that is drawn ----------------------------------------------------------------------


@pytest.mark.parametrize("digits", [0, 1, 8])
@pytest.mark.parametrize("thresholds", [None, "corners"])
def test_pr_curve_draws_the_recall_rises_of_scikit_learn(digits, thresholds):
    frame = draw_scores(digits=digits)
    chart = charts.pr_curve(frame.prc.curve(thresholds=thresholds))
    precision, recall, _ = precision_recall_curve(frame["label"], frame["score"])
    exact = list(zip(recall[::-1], precision[::-1], strict=True))[1:]  # without its point (0, 1)
    risen = [exact[0], *(b for a, b in pairwise(exact) if b[0] > a[0]), exact[-1]]
    start = (0.0, exact[0][1])
    expected = list(dict.fromkeys([start, *((r, p) for r, p in risen if r > 0)]))
    assert np.allclose(points(chart, "recall", "precision"), expected, rtol=1e-5)


def test_pr_curve_at_another_prevalence():
    frame = draw_scores()
    drawn = records(charts.pr_curve(frame.prc.curve(eta=0.004)))
    fpr_at = dict(frame.prc.sweep().group_by("recall").agg(pl.col("fpr").min()).rows())
    known = {round(recall, 5): fpr for recall, fpr in fpr_at.items()}
    inside = [row for row in drawn if 0 < row["recall"] < 1]
    assert len(inside) > 20
    for row in inside:
        recall, fpr = row["recall"], known[round(row["recall"], 5)]
        exact = recall * 0.004 / (recall * 0.004 + fpr * 0.996)
        assert row["precision"] == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize(("top", "start"), [(1, 1.0), (0, 0.0)])
def test_pr_curve_starts_at_the_first_defined_precision(top, start):
    frame = pl.DataFrame({"score": [4, 3, 2, 1], "label": [top, 1, 0, 0]})
    assert points(charts.pr_curve(frame.prc.curve()), "recall", "precision")[0] == (0.0, start)


def test_no_point_0_1_is_invented():
    frame = pl.DataFrame({"score": [2, 2, 1, 1], "label": [1, 0, 0, 1]})
    assert points(charts.pr_curve(frame.prc.curve()), "recall", "precision") == [
        (0, 0.5),
        (0.5, 0.5),
        (1, 0.5),
    ]


def test_pr_curve_is_steps_in_threshold_order_over_its_chance_line():
    chart = charts.pr_curve(draw_scores().prc.curve(eta=[0.5, 0.01]))
    line = layer(chart, "line")
    assert (line["mark"]["type"], line["mark"]["interpolate"]) == ("line", "step-before")
    assert line["mark"]["order"] is False, "points are drawn as they come"
    ends = [curve["recall"] for curve in records(chart)]
    assert ends[: len(ends) // 2] == sorted(ends[: len(ends) // 2])
    assert layer(chart, "line", "reference")["mark"]["color"] == "#8A919A"
    assert [row["precision"] for row in records(chart, "reference")] == [0.01, 0.01, 0.5, 0.5]
    assert (0, 1) not in points(chart, "recall", "precision", curve=0)[1:]


def test_fdr_mirrors_precision():
    table = draw_scores().prc.curve(eta=0.01, metrics=("precision", "fdr"))
    precision = points(charts.pr_curve(table), "recall", "precision")
    fdr = points(charts.pr_curve(table, y="fdr"), "recall", "fdr")
    assert np.allclose([(r, 1 - p) for r, p in precision], fdr, atol=1e-5)
    level = [row["fdr"] for row in records(charts.pr_curve(table, y="fdr"), "reference")]
    assert level == [0.99, 0.99]


def test_fdr_near_one_is_drawn_by_what_is_left_to_one():
    frame = draw_groups("ab", neg=2_000).with_columns(model=pl.format("model {}", "model"))
    table = frame.prc.curve(1 / 50_000, by="model", metrics=("fdr",), confidence=0.95)
    at_half = frame.prc.operating_points(
        1 / 50_000, recall=0.5, by="model", metrics=("fdr",), columns="all"
    )
    chart = charts.pr_curve(table, y="fdr", points=at_half)
    scale, axis = (layer(chart, "line")["encoding"]["y"][name] for name in ("scale", "axis"))
    assert (scale["type"], scale["domain"]) == ("log", [1, pytest.approx(1 / 50_000)]), "1 at the foot"
    assert axis["values"] == [1e-4, 1e-3, 1e-2, 0.1, 1]
    assert "100 * (1 - datum.value)" in axis["labelExpr"], "99.9% and not 0.1%"
    rows = table.filter(pl.col("model") == "model a").with_columns(rest=1 - pl.col("fdr"))
    expected = rows.filter(pl.col("tp") > pl.col("tp").shift(1, fill_value=0)).select("recall", "rest")
    drawn = points(chart, "recall", "fdr_rest")[1:]
    assert np.allclose(drawn[: len(expected)], expected.rows(), rtol=1e-5)
    assert {"fdr_low_rest", "fdr_high_rest"} <= set(records(chart)[-1])
    marks = {row["fdr_rest_label"] for row in records(chart, "mark")}
    assert marks == {say_share(fdr) for fdr in at_half["fdr"]}
    assert "The axis is logarithmic in the distance to 100%" in plain(subtitle(chart))
    said = heading(charts.pr_curve(table, y="fdr"))
    assert re.match(r"At 50% recall( or more)?, the false discovery rate is ", said)
    assert all(say_share(fdr).replace("\xa0", " ") in said for fdr in at_half["fdr"])
    linear = charts.pr_curve(table, y="fdr", log_y=False)
    assert layer(linear, "line")["encoding"]["y"]["scale"]["domain"] == [0, 1]
    assert png(chart).startswith(PNG)


@pytest.mark.parametrize("y", ["precision", "fdr"])
def test_unlike_prevalences_have_an_axis_each_and_one_form_of_a_number(y):
    frame = draw_groups(["a", "b"], neg=40_000, digits=4)
    chart = charts.pr_curve(frame.prc.curve([0.1, 2e-5], by="model", metrics=y), y=y)
    field = y if y == "precision" else "fdr_rest"
    ends: dict[str, list[float]] = {}
    for row in records(chart, "base"):
        ends.setdefault(row["facet"], []).append(row[field])
    assert max(ends["1\xa0in\xa010"]) == max(ends["1\xa0in\xa050,000"]) == 1
    assert min(ends["1\xa0in\xa010"]) >= 0.05, "1 in 10 has more than the top of the axis"
    assert min(ends["1\xa0in\xa050,000"]) <= 2e-5
    for row in records(chart, "curve"):
        assert row[field] >= 0.999 * min(ends[row["facet"]]), "nothing is below its axis"
    assert "Each panel has its own axis" in chart.to_dict()["description"]
    marks = [plain(row[f"{field}_label"]) for row in records(chart, "mark")]
    assert len(marks) == 4
    assert all(mark in heading(chart) for mark in marks), "the title has the numbers of the picture"
    assert any(mark.startswith("1 in ") for mark in marks) == (y == "precision")


def test_icons_of_groups_come_from_the_greatest_value_down():
    frame = draw_groups(list("abcdefgh"), neg=400)
    points = frame.prc.operating_points(0.05, recall=0.5, by="model", columns="all")
    best = points.sort("precision", descending=True, maintain_order=True)["model"].to_list()
    assert re.findall(r"\b(\w): \d", charts.alerts(points).to_dict()["description"]) == best


@pytest.mark.parametrize(
    ("slope", "shift", "said"),
    [
        (1.5, -3, "0.5"),
        (4, -14, "1 in 10,000"),
        (3, 6, "all but"),
        (5, -6, "1 in 2"),
        (2, -30, "1 in 1,000,000,000"),
    ],
)
def test_axes_of_log_odds_have_few_numbers_that_people_say(slope, shift, said):
    frame = draw_scores(pos=300, neg=2_700, digits=9)
    odds = (slope * pl.col("score") + shift).exp()
    frame = frame.with_columns(score=odds / (1 + odds))
    drawn = frame.prc.plot.threshold_curve(title=False).to_dict()
    svg = vl_convert.vegalite_to_svg(drawn).replace("\u00a0", " ")
    ticks = re.findall(r'<text[^>]*opacity="0.8"[^>]*>(.*?)</text>', svg)  # and titles of axes
    words = [re.sub("<[^>]*>", " ", tick).strip() for tick in ticks]
    known = [word for word in words if re.fullmatch(r"(all but +)?1 in (2|1[0,]+)|0\.\d{1,3}", word)]
    assert any(said in word for word in known)
    assert not any("1 in" in word for word in known) or "0.5" not in known, "ticks are of one kind"
    assert 2 <= len(set(known)) <= 12
    assert [word for word in words if re.search(r"\de[-+]?\d|0\.\d{4}", word)] == []


@pytest.mark.parametrize("digits", [0, 1, 8])
def test_roc_curve_loses_no_area(digits):
    frame = draw_scores(digits=digits)
    chart = charts.roc_curve(frame.prc.sweep())
    drawn = points(chart, "fpr", "recall")
    assert drawn[0] == (0, 0)
    assert drawn[-1] == (1, 1)
    area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(drawn))
    assert area == pytest.approx(roc_auc_score(frame["label"], frame["score"]), abs=1e-5)
    assert layer(chart, "line")["mark"]["interpolate"] == "linear"


def test_roc_curve_has_one_curve_however_many_eta():
    frame = draw_scores()
    of_sweep = charts.roc_curve(frame.prc.sweep())
    assert charts.roc_curve(frame.prc.curve(eta=[None, 0.1, 0.01])).to_dict() == of_sweep.to_dict()


def test_log_roc_bends_straight_lines():
    frame = pl.DataFrame(
        {"score": [3] * 20 + [2] * 1000, "label": ([1] + [0] * 19) + [1] * 10 + [0] * 990}
    )
    table = frame.prc.sweep()
    chart = charts.roc_curve(table, log_x=True)
    fpr, recall = [0, *table["fpr"]], [0, *table["recall"]]
    drawn = points(chart, "fpr", "recall")
    for x, y in drawn[1:]:
        assert y == pytest.approx(np.interp(x, fpr, recall), abs=1e-5)
    assert len(drawn) > 50


def test_log_roc_has_fpr_0_at_the_left_edge_and_says_so():
    chart = charts.roc_curve(draw_scores(digits=8).prc.sweep(), log_x=True)
    x = layer(chart, "line")["encoding"]["x"]
    low, high = x["scale"]["domain"]
    assert (low, high) == (1 / 160 / 2, 1)
    assert x["axis"]["values"] == [0.01, 0.03, 0.1, 0.3, 1.0]
    assert min(row["fpr"] for row in records(chart)) == low
    assert "A false positive rate of 0 is drawn at the left edge of the axis" in subtitle(chart)
    chance = records(chart, "reference")
    assert len(chance) > 50
    assert all(row["fpr"] == row["recall"] for row in chance)


# Long curves ----------------------------------------------------------------------------------


def test_more_than_5000_rows_draw():
    table = pl.concat(draw_scores(seed=i, pos=1000, neg=500, digits=9, model=str(i)) for i in range(6))
    chart = charts.pr_curve(table.prc.curve(eta=0.1, by="model"))
    assert "of 6,006 points" in plain(chart.to_dict()["description"])
    assert png(chart).startswith(PNG)


SIZES = {
    "pr_curve": (540, 351),
    "gain_curve": (432, 380),
    "prg_curve": (432, 380),
    "roc_curve": (432, 380),
}


def draw_long(model: str, seed: int) -> pl.DataFrame:
    return draw_scores(seed=seed, pos=5_000, neg=95_000, digits=12, model=model)


@pytest.mark.parametrize("name", [*SIZES, "threshold_curve"])
def test_charts_of_100_000_rows_are_small(name):
    frame = pl.concat([draw_long("a", 1), draw_long("b", 2)])
    options = {"confidence": 0.95} if name == "pr_curve" else {}
    chart = getattr(plot(frame), name)(**options, by="model")
    assert len(json.dumps(chart.to_dict())) < 150_000
    assert "Drawn from" in subtitle(chart)


@pytest.mark.parametrize("name", SIZES)
def test_no_point_is_half_a_pixel_off_its_line(name):
    """Of a long table, which is thinned; a line of few rows has all of its points."""
    frame, (width, height) = draw_long("a", 1), SIZES[name]
    eta = 0.1 if name == "prg_curve" else 0.05  # on linear axes
    table = frame.prc.curve(eta=eta)
    chart = getattr(charts, name)(table)
    recall, fpr = pl.col("recall"), pl.col("fpr")
    x, y = {
        "pr_curve": (recall, pl.col("precision")),
        "roc_curve": (fpr, recall),
        "gain_curve": (eta * recall + (1 - eta) * fpr, recall),
        "prg_curve": (1 - eta / (1 - eta) * (1 - recall) / recall, 1 - fpr / recall),
    }[name]
    exact = table.select(x=x, y=y).filter((pl.col("x") >= 0) & (pl.col("y") >= 0))
    last = exact.row(-1)
    exact = exact.unique("x", keep="first", maintain_order=True) if name == "pr_curve" else exact
    encoding = layer(chart, "line")["encoding"]
    drawn = np.array(
        [(row[encoding["x"]["field"]], row[encoding["y"]["field"]]) for row in records(chart)]
    )
    pixels = np.array([width, height])
    points_, drawn = exact.to_numpy() * pixels, drawn * pixels
    line = drawn
    if name == "pr_curve":  # steps: up or down at a point, then level to the next
        line = np.stack([np.repeat(drawn[:, 0], 2)[:-1], np.repeat(drawn[:, 1], 2)[1:]], axis=1)
    starts, ways = line[:-1], np.diff(line, axis=0)
    for at in points_[:: max(len(points_) // 500, 1)]:
        share = ((at - starts) * ways).sum(1) / np.maximum((ways**2).sum(1), 1e-12)
        gaps = at - starts - np.clip(share, 0, 1)[:, None] * ways
        assert np.hypot(*gaps.T).min() < 1, at
    assert np.abs(drawn[-1] - last * pixels).max() < 0.01
    for mark in records(chart, "mark") if name != "gain_curve" else ():
        place = np.array([mark[encoding[axis]["field"]] for axis in "xy"]) * pixels
        assert np.abs(drawn - place).max(axis=1).min() < 0.01, "lines run through marked points"


def test_the_pointer_reads_what_the_curve_says():
    frame = draw_groups("ab", neg=1_000, digits=4)
    table = frame.prc.curve(eta=0.01, by="model", confidence=0.95)
    chart = charts.pr_curve(table, confidence=0.95)
    read = records(chart, "read")
    assert len(read) == 101
    at_half = frame.prc.operating_points(0.01, recall=0.5, by="model", columns="all")
    exact = frame.prc.operating_points(
        0.01, threshold=at_half, by="model", confidence=0.95, columns="all"
    )
    [half] = [row for row in read if row["recall"] == 0.5]
    for slot, row in enumerate(exact.iter_rows(named=True)):
        estimate = (row[name] for name in ("precision", "precision_low", "precision_high"))
        said = join_value(*say_estimate(*estimate))
        assert half[f"s{slot}"] == f"{said}, threshold {row['threshold']:.6g}"
    tooltip = layer(chart, "rule", "read")["encoding"]["tooltip"]
    assert [(one["field"], one["title"]) for one in tooltip] == [
        ("place", "Recall"),
        ("s0", "a"),
        ("s1", "b"),
    ]
    dots = {row["color"]: row["precision"] for row in records(chart, "hover") if row["recall"] == 0.5}
    assert dots == pytest.approx(dict(exact.select("model", "precision").rows()), rel=1e-5)


# Groups, and several prevalences --------------------------------------------------------------

ETA = [0.5, 0.01]


@pytest.mark.parametrize(
    ("frame", "by", "eta", "expected"),
    [
        (draw_scores(), None, 0.1, (None, None)),
        (draw_scores(), None, ETA, ("prevalence", None)),
        (draw_scores(), None, eta_grid(), ("prevalence", None)),
        (draw_groups("abc"), "model", 0.1, ("model", None)),
        (draw_groups("abc"), "model", None, ("model", None)),
        (draw_groups("abc"), "model", ETA, ("model", "prevalence")),
        (draw_groups("abc"), "model", eta_grid(n=10), ("prevalence", "model")),
        (draw_groups("abcdefghi"), "model", 0.1, (None, "model")),
        (draw_groups("abcdefghi"), "model", ETA, ("prevalence", "model")),
        (crossed("ab", "xyz"), ["model", "site"], 0.1, ("model", "site")),
        (crossed("ab", "xyz"), ["model", "site"], ETA, ("model", "site · prevalence")),
        (crossed("ab", "xyz"), ["model", "site"], eta_grid(n=3), ("prevalence", "model · site")),
        (crossed("abcdefghi", "x"), ["model", "site"], 0.1, (None, "model · site")),
    ],
)
def test_every_curve_is_told_apart(frame, by, eta, expected):
    table = frame.prc.curve(eta=eta, by=by, thresholds=3)
    chart = charts.pr_curve(table)
    assert channels(chart) == expected
    keys = [name for name in table.columns if name in ("model", "site", "eta")]
    curves = {(row["curve"], row.get("color"), row.get("facet")) for row in records(chart)}
    assert len(curves) == table.n_unique(keys)
    assert len({(color, facet) for _, color, facet in curves}) == len(curves)
    assert png(chart).startswith(PNG)


def test_color_and_facet_are_as_asked():
    table = crossed("ab", "xyz").prc.curve(eta=ETA, by=["model", "site"], thresholds=3)
    assert channels(charts.pr_curve(table, color="site")) == ("site", "model · prevalence")
    assert channels(charts.pr_curve(table, facet="model")) == ("site", "model · prevalence")
    assert channels(charts.pr_curve(table, color="eta")) == ("prevalence", "model · site")
    assert channels(charts.pr_curve(table, color="eta", facet="site")) == (
        "prevalence",
        "site · model",
    )
    twelve = draw_groups("abcdefghijkl").prc.curve(by="model", thresholds=3)
    chart = charts.pr_curve(twelve, color="model")
    assert channels(chart) == ("model", None)
    colors = layer(chart, "line")["encoding"]["color"]["scale"]["range"]
    assert colors.count(OTHERS) == 9
    assert len(names(chart)) == len(set(colors)) - 1 == 3
    assert "Coloured lines: highest, middle and lowest; grey lines: the other 9" in subtitle(chart)


def test_a_column_that_the_eta_frame_carries_can_be_colour():
    markets = pl.DataFrame({"eta": [0.5, 0.01], "market": ["lab", "field"]})
    chart = charts.pr_curve(draw_scores().prc.curve(eta=markets), color="market")
    assert channels(chart) == ("market", None)
    assert labels(chart, "color") == ["field (1 in 100 positive)", "lab (1 in 2 positive)"]


def test_each_panel_has_its_own_chance_line():
    table = draw_groups("abcdefghij").prc.curve(by="model", thresholds=3)
    chart = charts.pr_curve(table)
    own = dict(table.group_by("model", maintain_order=True).first().select("model", "eta").rows())
    drawn = {row["facet"][0]: row["precision"] for row in records(chart, "reference")}
    assert drawn == {model: pytest.approx(eta, rel=1e-5) for model, eta in own.items()}


@pytest.mark.slow
def test_200_classes_are_panels_with_their_sizes():
    frame = pl.concat(draw_scores(seed=i, pos=2 + i % 3, neg=5, digits=1, c=i) for i in range(200))
    chart = charts.pr_curve(frame.prc.curve(eta=0.1, by="c"))
    assert channels(chart) == (None, "c")
    assert labels(chart, "facet")[:2] == ["c 0", "c 1"]
    assert "Test sets: 2 to 4 positives, 5 negatives" in subtitle(chart)
    assert len(labels(chart, "facet")) == 200
    assert png(chart).startswith(PNG)


def test_a_null_group_is_not_the_text_null():
    chart = charts.pr_curve(draw_groups(["null", None, "", "a"]).prc.curve(eta=0.1, by="model"))
    assert [label.split(" (")[0] for label in labels(chart, "color")] == ["null", '""', "a", '"null"']


@pytest.mark.parametrize(
    "values",
    [
        [math.nan, 1.5],
        [True, False, None],
        [1, 2],
        [0.1, math.nan, None],
        [0.12345678, 0.12345679],
        [[1], [2]],
    ],
)
def test_groups_of_any_dtype(values):
    frame = pl.concat(
        [draw_scores(seed=i).with_columns(pl.lit(value).alias("g")) for i, value in enumerate(values)],
        how="vertical_relaxed",
    )
    for chart in (
        charts.roc_curve(frame.prc.sweep(by="g")),
        charts.metric_by_eta(frame.prc.summary(GRID, metrics="roc_auc", by="g", columns="all")),
    ):
        assert len(labels(chart, "color")) == len(values)


# What is odd ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "draw", [charts.pr_curve, pytest.param(charts.roc_curve, marks=pytest.mark.slow)]
)
def test_hostile_names_are_only_text(draw):
    scripts = draw(draw_scores().prc.curve()).to_html().count("</script")
    few = draw_groups(HOSTILE[:2])
    frames = [few.rename({"model": column}) for column in (*COLUMNS, *PATTERNS)]
    for frame in (*frames, draw_groups(HOSTILE).rename({"model": HOSTILE[3]})):
        column = frame.columns[-1]
        groups = frame.rename({column: "g"}).prc.curve(eta=0.1, by="g", thresholds=4)
        chart = draw(groups.rename({"g": column}), facet=column)
        used = {key for row in records(chart) for key in row}
        assert used <= {
            *("part", "curve", "order", "run", "doubt", "facet", "color"),
            *("recall", "precision", "fpr"),
        }
        assert len(labels(chart, "facet")) == frame[column].n_unique()
        page = chart.to_html()
        assert "<script>alert" not in page
        assert page.count("</script") == scripts
        assert "<!--" not in page
        assert png(chart).startswith(PNG)


def test_a_hostile_title_is_only_text():
    chart = charts.pr_curve(draw_scores().prc.curve(), title="</script><script>alert(1)</script>")
    assert "<script>alert" not in chart.to_html()


def test_groups_of_one_class_are_named_and_not_drawn():
    only = pl.DataFrame({"score": [1.0, 2.0], "label": [1, 1], "model": "pos"})
    frame = pl.concat(
        [
            draw_scores(model="ok"),
            only,
            only.with_columns(label=0 * pl.col("label"), model=pl.lit("neg")),
        ]
    )
    for chart in (
        charts.pr_curve(frame.prc.curve(eta=0.1, by="model")),
        charts.roc_curve(frame.prc.sweep(by="model")),
    ):
        assert labels(chart, "color") == ["ok"]
        assert "Not drawn, one class only: neg, pos" in subtitle(chart)
        assert "40 positives, 160 negatives" in subtitle(chart)
    alone = charts.pr_curve(only.prc.curve(eta=0.1))
    assert records(alone) == []
    assert "Not drawn, one class only: the whole table" in subtitle(alone)
    assert png(alone).startswith(PNG)


@pytest.mark.parametrize("log_x", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 10])
def test_empty_single_and_all_tied_tables_draw(rows, log_x):
    frame = pl.DataFrame(
        {"score": [0.5] * rows, "label": [i % 2 for i in range(rows)], "g": ["a"] * rows},
        schema={"score": pl.Float64, "label": pl.Int64, "g": pl.String},
    )
    pr = charts.pr_curve(frame.prc.curve(eta=0.1, by="g"))
    roc = charts.roc_curve(frame.prc.sweep(by="g"), log_x=log_x)
    for chart in (pr, roc):
        assert png(chart).startswith(PNG)
    if rows == 0:
        assert "no rows" in subtitle(pr)
    if rows == 10:
        assert points(pr, "recall", "precision") == [(0, 0.1), (1, 0.1)]
        assert all(row["recall"] == pytest.approx(row["fpr"], abs=1e-5) for row in records(roc)[1:])


def test_infinite_scores_are_thresholds_like_others():
    frame = pl.DataFrame({"score": [math.inf, 2.0, -math.inf, 1.0], "label": [1, 0, 0, 1]})
    for chart in (charts.pr_curve(frame.prc.curve(eta=0.1)), charts.roc_curve(frame.prc.sweep())):
        said = [row["s0"] for row in records(chart, "read")]
        assert any("threshold inf" in words for words in said)
        assert any("threshold -inf" in words or "threshold 1" in words for words in said)
        json.loads(chart.to_json(), parse_constant=pytest.fail)


def test_undefined_rows_are_left_out():
    frame = pl.DataFrame({"score": [3, 2, 1], "label": [1, 0, 1]})
    table = frame.prc.curve(eta=0.1, thresholds=[9, 3, 1])
    assert table["precision"][0] is None
    assert points(charts.pr_curve(table), "recall", "precision")[0] == (0, 1)
    spoilt = table.with_columns(precision=pl.lit(float("nan")), recall=pl.col("recall") * math.inf)
    assert records(charts.pr_curve(spoilt)) == []


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Boolean, pl.Decimal(10, 2), pl.Float32, pl.UInt64])
def test_thresholds_of_any_dtype(dtype):
    frame = pl.DataFrame({"score": [1, 1, 0, 0], "label": [1, 0, 1, 0]}).with_columns(
        pl.col("score").cast(dtype)
    )
    chart = charts.pr_curve(frame.prc.curve())
    said = [row["s0"].partition("threshold ")[2] for row in records(chart, "read")]
    expected = {pl.Boolean: ["true", "false"], pl.Decimal(10, 2): ["1.00", "0.00"]}
    assert list(dict.fromkeys(said)) == expected.get(dtype, ["1", "0"])


def test_published_rates_have_no_counts_to_state():
    rates = pl.DataFrame({"study": ["A", "A", "B"], "tpr": [0.6, 0.8, 0.9], "fpr": [0.001, 0.01, 0.0]})
    pr = charts.pr_curve(rates.prc.curve(eta=0.01, by="study", rates=("tpr", "fpr")))
    assert "Test set" not in subtitle(pr)
    assert "Dotted" not in subtitle(pr)
    assert not any("threshold" in str(row) for row in records(pr, "read"))
    roc = charts.roc_curve(rates.prc.sweep(by="study", rates=("tpr", "fpr")))
    assert points(roc, "fpr", "recall", curve=0) == [(0, 0), (0.001, 0.6), (0.01, 0.8)]


def test_weights_are_stated_as_sums():
    frame = draw_scores().with_columns(w=pl.lit(0.125))
    assert "5 positives, 20 negatives" in subtitle(charts.pr_curve(frame.prc.curve(weight="w")))


def test_sums_of_weights_do_not_tell_few_false_alerts_and_whole_numbers_do():
    frame = draw_scores(digits=8).with_columns(one=pl.lit(1.0), ten=pl.lit(10.0), w=pl.lit(0.3))
    said = {w: subtitle(charts.pr_curve(frame.prc.curve(0.1, weight=w))) for w in ("one", "ten", "w")}
    assert "Dotted: fewer than 5 false positives" in said["one"]
    assert "Dotted" not in said["ten"], "each counts ten times"
    assert "Weighted counts: lines with few false positives are not dotted" in said["w"]
    plain_counts = records(charts.pr_curve(frame.prc.curve(0.1)))
    assert records(charts.pr_curve(frame.prc.curve(0.1, weight="one"))) == plain_counts


# Words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((1 / 1037, 1 / 2000, 1 / 1500), ("0.096%", "0.050 to 0.067")),
        ((0.2288, 0.2254, 0.2321), ("22.9%", "22.5 to 23.2")),
        ((0.03, 2e-7, 0.9), ("3.0%", "0.000020 to 90")),
        ((0.9996, 0.99, 1.0), ("99.96%", "99.00 to 100")),
        ((0.0, 0.0, 0.03), ("0%", "0 to 3.0")),
        ((0.5, None, 0.6), ("50%", "")),
    ],
)
def test_a_share_and_its_interval_have_one_unit(numbers, words):
    assert tuple(map(plain, say_estimate(*numbers))) == words


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ([0.999916, 0.998], ["99.99%", "99.80%"]),
        ([0.9973, 0.7231], ["99.7%", "72.3%"]),
        ([0.952, 0.17], ["95%", "17%"]),
        ([0.988, 0.983, 0.9916], ["98.8%", "98.3%", "99.2%"]),
        ([0.999992, 0.999987], ["99.9992%", "99.9987%"]),
        ([0.999967, 0.999967], ["99.997%", "99.997%"]),
        ([0.04, 0.035, 0.12], ["4.0%", "3.5%", "12%"]),
        ([0.95, 0.05], ["95%", "5.0%"]),
        ([0.005, 0.015], ["0.50%", "1.5%"]),
        ([0.086, 0.18], ["8.6%", "18%"]),
        ([0.037, 0.67], ["3.7%", "67%"]),
        ([0.00039, 0.037], ["0.039%", "3.7%"]),
        ([1.0, 0.98, 0.0], ["100%", "98%", "0%"]),
    ],
)
def test_shares_of_one_comparison_have_equal_digits_and_no_more_than_tell_them_apart(shares, words):
    assert [*map(plain, say_shares(shares))] == words


def test_numbers_at_points_have_the_digits_of_their_title():
    parts = [draw_scores(pos=300, neg=3_000, model=model) for model in "ab"]
    better = parts[0].with_columns(pl.col("score") + 4 * pl.col("label"))
    frame = pl.concat([better, parts[1]])
    chart = charts.gain_curve(frame.prc.curve(0.05, by="model"))
    marks = {plain(row["recall_label"]) for row in records(chart, "mark")}
    assert marks <= set(re.findall(r"[\d.]+%", heading(chart)))
    assert len({len(mark.partition(".")[2]) for mark in marks}) == 1


def test_titles_say_shares_of_rare_and_common_positives_as_their_panels_do():
    frame = draw_groups("ab", neg=2_000)
    far = heading(charts.pr_curve(frame.prc.curve([0.1, 1e-5], by="model")))
    assert re.search(
        r"% for . at a prevalence of 1 in 10; 1 in [\d,]+ for . and 1 in [\d,]+ for . at 1 in 100,000$",
        far,
    )
    rare = heading(charts.pr_curve(frame.prc.curve(1e-5, by="model")))
    assert rare.count("1 in ") == 2
    assert "%" not in rare.removeprefix("At 50% recall")
    assert say_shares([]) == []


def test_a_range_of_prevalences_has_one_unit():
    assert plain(say_eta_range([0.001, 0.9])) == "0.1% to 90%"
    assert plain(say_eta_range([0.001, 0.5])) == "1 in 1,000 to 1 in 2"
    assert say_eta_range([0.6, 0.6]) == "60%"


@pytest.mark.parametrize(
    ("eta", "words"),
    [
        (0.001, "1 in 1,000"),
        (0.004, "1 in 250"),
        (0.0524, "1 in 19"),
        (1e-6, "1 in 1,000,000"),
        (0.5, "50%"),
        (0.3725, "37%"),
        (0.9, "90%"),
        (0.0, "0%"),
        (1.0, "100%"),
        (1e-12, "1 in 1,000,000,000,000"),
    ],
)
def test_prevalences_read_as_people_say_them(eta, words):
    chart = charts.pr_curve(draw_scores(pos=10).prc.curve(eta=eta))
    assert f"Precision by recall, at a prevalence of {words}" in subtitle(chart)


def test_the_description_of_many_differences_has_the_pairs_that_are_drawn():
    models = {f"m{k}": 0.3 * k for k in range(7)}
    noise = np.random.default_rng(1).normal(size=(7, 600))
    label = np.arange(600) < 200
    columns = {name: distance * label + noise[k] for k, (name, distance) in enumerate(models.items())}
    chart = plot(pl.DataFrame({"label": label, **columns})).difference(score=list(models))
    drawn = [row["said"] for row in records(chart, "interval")]
    description = plain(chart.to_dict()["description"])
    assert re.findall(r": (\S+ \([^)]*\))", description) == [plain(text) for text in drawn]
    assert "and 9 more, " in description


def test_the_description_is_text_for_those_who_cannot_see():
    chart = charts.pr_curve(draw_scores().prc.curve(eta=0.001), title="Mine")
    assert subtitle(chart).startswith("Mine. Precision by recall")
    assert subtitle(chart).endswith("Test set: 40 positives, 160 negatives")


# A good citizen -------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [charts.pr_curve, charts.roc_curve])
def test_row_order_does_not_matter(draw):
    table = crossed("ab", "xy").prc.curve(eta=[None, 0.01], by=["model", "site"])
    expected = draw(table).to_json()
    for seed in range(3):
        assert draw(table.sample(fraction=1, shuffle=True, seed=seed)).to_json() == expected
    assert draw(table.reverse()).to_json() == expected


def test_own_prevalence_asked_for_twice_is_one_curve():
    frame = pl.DataFrame({"score": [4, 3, 2, 1], "label": [1, 0, 1, 0]})
    once = charts.pr_curve(frame.prc.curve(eta=0.5))
    assert charts.pr_curve(frame.prc.curve(eta=[None, 0.5])).to_dict() == once.to_dict()


def test_altair_stays_as_the_user_set_it():
    before = (
        alt.theme.active,
        alt.data_transformers.active,
        dict(alt.data_transformers.options),
        alt.renderers.active,
    )
    for chart in (
        charts.pr_curve(draw_scores().prc.curve()),
        charts.roc_curve(draw_groups("abcdefghi").prc.sweep(by="model")),
    ):
        assert chart.config is alt.Undefined
        chart.to_json()
    after = (
        alt.theme.active,
        alt.data_transformers.active,
        dict(alt.data_transformers.options),
        alt.renderers.active,
    )
    assert before == after


def test_charts_can_be_composed():
    pr = charts.pr_curve(draw_groups("ab").prc.curve(eta=0.1, by="model"))
    roc = charts.roc_curve(draw_groups("ab").prc.sweep(by="model"))
    panels = charts.pr_curve(draw_groups("ab").prc.curve(eta=ETA, by="model"))
    target = alt.Chart(alt.InlineData(values=[{"p": 0.8}])).mark_rule().encode(y="p:Q")
    for chart in (pr | roc, pr & panels, pr + target, (pr | roc).configure_axis(grid=False)):
        assert png(chart).startswith(PNG)


def test_altair_is_not_imported_with_the_package():
    code = "import sys, polars_prcurve; sys.exit('altair' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Along prevalence -----------------------------------------------------------------------------


def trading() -> pl.DataFrame:
    """Two models, of which one finds few positives for sure and one finds most of them late."""
    draw = np.random.default_rng(5)
    label = np.r_[np.ones(200), np.zeros(1800)].astype(int)
    sure = np.where((label == 1) & (draw.random(2000) < 0.5), 5.0, 0.0) + draw.normal(size=2000)
    late = 2.2 * label + draw.normal(size=2000)
    wide = pl.DataFrame({"label": label, "sure": sure.round(2), "late": late.round(2)})
    return wide.prc.unpivot_scores(["sure", "late"], name="model", row="row")


def test_metric_by_eta_draws_the_values_of_the_table_on_a_log_axis():
    table = draw_groups("ab").prc.summary(
        GRID, metrics="average_precision", by="model", confidence=0.95, columns="all"
    )
    chart = charts.metric_by_eta(table, confidence=0.95)
    drawn = [
        (row["color"][0], row["eta"], row["value"], row["low"], row["high"]) for row in records(chart)
    ]
    expected = table.select("model", "eta", "value", "low", "high").sort("model", "eta").rows()
    for found, wanted in zip(drawn, expected, strict=True):
        assert found == (wanted[0], *(pytest.approx(number, rel=1e-5) for number in wanted[1:]))
    x, y = (layer(chart, "line")["encoding"][axis] for axis in "xy")
    assert (x["scale"]["type"], x["scale"]["domain"]) == ("log", [0.001, 0.5])
    assert x["axis"]["values"] == [0.001, 0.01, 0.1, 0.5]
    assert (y["title"], y["scale"]["domain"]) == ("Average precision", [0, 1])
    assert layer(chart, "area")["encoding"]["y2"]["field"] == "high"
    assert len(records(chart, "dot")) == len(table), "few prevalences are seen"
    assert "Shaded: 95% intervals" in subtitle(chart)
    assert {plain(row["place"]) for row in records(chart, "read")} >= {"1 in 1,000"}


def test_the_own_prevalence_is_marked_where_it_is_on_the_axis():
    frame = draw_groups("ab", neg=180)
    table = frame.prc.summary(GRID, metrics="roc_auc", by="model", columns="all")
    chart = charts.metric_by_eta(table)
    own = {row["eta"] for row in records(chart, "reference")}
    assert sorted(own) == [0.1, pytest.approx(21 / 201, rel=1e-5)]
    assert "Grey rules: the prevalence of each test set (all 10%)" in subtitle(chart)
    rare = charts.metric_by_eta(table.filter(pl.col("eta") < 0.1))
    assert {row["eta"] for row in records(rare, "reference")} == {0.01}, "that of the title"
    points_ = frame.prc.operating_points(GRID, recall=0.5, by="model", columns="all")
    assert {row["eta"] for row in records(charts.p3_curve(points_), "reference")} == own


def test_wide_and_long_operating_points_are_one_chart():
    frame, asked = draw_groups("ab"), {"recall": [0.5, 0.9], "maximize": "f1", "by": "model"}
    for options in ({}, {"confidence": 0.95}):
        metrics_ = {"metrics": ("precision", "f1"), **asked, **options}
        wide = frame.prc.operating_points(GRID, columns="all", **metrics_)
        long = frame.prc.operating_points(GRID, columns="all", **metrics_, long=True)
        chart = charts.metric_by_eta(wide)
        assert chart.to_dict() == charts.metric_by_eta(long).to_dict()
        assert channels(chart)[1] == "target · metric"
        assert labels(chart, "facet")[:2] == ["maximize(f1) · F1", "maximize(f1) · Precision"]
    only = charts.p3_curve(wide)
    assert labels(only, "facet") == ["maximize(f1)", "50% recall", "90% recall"]
    assert len(records(only)) == 2 * 3 * len(GRID)


def test_titles_of_lines_by_prevalence_leave_out_long_names():
    frame = draw_groups("ab", neg=900)
    long = frame.with_columns(model=pl.format("model {} with splines and an elastic net", "model"))
    for table, end in (
        (frame, r"is [\d.]+% for [ab] and [\d.]+% for [ab]"),
        (long, r"ranges from [\d.]+% to [\d.]+%"),
    ):
        chart = plot(table).p3_curve(eta=GRID, recall=0.5, by="model")
        assert re.fullmatch(f"Precision {end} at a prevalence of .*", heading(chart))
        assert '"legend": {' not in json.dumps(chart.to_dict()), "names are written in several rows"
    panels = charts.p3_curve(
        frame.prc.operating_points(GRID, recall=0.5, by="model", columns="all"), facet="model"
    )
    assert re.fullmatch(
        r"Precision is .*% for [ab] and .*% for [ab] at a prevalence of .*",
        heading(panels),
    )


def test_p3_curve_follows_from_one_recall_and_fpr():
    frame = draw_scores(pos=100, neg=900)
    table = frame.prc.operating_points(eta_grid(), recall=0.6, confidence=0.95, columns="all")
    chart = charts.p3_curve(table, confidence=0.95)
    recall, fpr = table["recall"][0], table["fpr"][0]
    for row in records(chart):
        eta = row["eta"]
        assert row["value"] == pytest.approx(recall * eta / (recall * eta + fpr * (1 - eta)), rel=1e-4)
    assert "at thresholds for 60% recall. Shaded: 95% intervals, at a threshold chosen" in subtitle(
        chart
    )
    assert re.fullmatch(r"Precision is [\d.]+% at a prevalence of 1 in 10", plain(heading(chart)))
    assert len(table) > 12
    assert not records(chart, "dot")


@pytest.mark.parametrize("groups", [[], ["site"]])
def test_crossings_are_circles_with_words(groups):
    frame = trading().with_columns(site=pl.lit("x"))
    frame = pl.concat([frame, frame.with_columns(site=pl.lit("y"))])
    frame = frame if groups else frame.filter(site="x").drop("site")
    found = frame.prc.crossings(by=groups)
    options = {"metrics": "average_precision", "by": ["model", *groups], "confidence": 0.95}
    table = doubt_wide(frame.prc.summary(eta_grid(), columns="all", **options)).drop("low", "high")
    chart = charts.metric_by_eta(table, crossings=found)
    circles = records(chart, "ring")
    assert len(circles) == found.height == (2 if groups else 1)
    assert circles[0]["eta"] == pytest.approx(found["eta"][0], rel=1e-5)
    assert circles[0]["value"] == pytest.approx(found["value"][0], rel=1e-5)
    assert (circles[0]["below"], circles[0]["above"]) == ("sure", "late")
    assert [row.get("facet") for row in circles] == (["x", "y"] if groups else [None])
    where = say_eta(found["eta"][0])
    if groups:
        assert "Circles: two lines change places" in subtitle(chart)
    else:
        told = f"sure and late have equal average precision at a prevalence of {plain(where)}"
        assert heading(chart) == told, "no test is behind these lines, so none is better"
        assert f"equal at {where}" in [row.get("text") for row in all_records(chart)]
    by_model = charts.metric_by_eta(table, crossings=found, facet="model")
    assert {row["facet"].split(" · ")[0] for row in records(by_model, "ring")} == {"late", "sure"}
    asked = plot(frame).metric_by_eta(eta_grid(), model="model", by=groups)
    assert asked.to_dict() == chart.to_dict()
    assert not records(charts.metric_by_eta(table.filter(pl.col("eta") > 0.2), crossings=found), "ring")
    assert png(by_model).startswith(PNG)


def test_bound_groups_may_be_compared_as_models() -> None:
    """A bound `by` with the column of models, as `compare` takes it, draws what `model` alone draws."""
    frame = pl.concat([draw_scores(seed=k, city=name) for k, name in enumerate("abc")])
    for name in ("metric_by_eta", "ranking"):
        charts = [
            getattr(table.plot, name)(model="city", confidence=0.95)
            for table in (frame.prc(by="city"), frame.prc)
        ]
        assert charts[0].to_dict() == charts[1].to_dict(), name


def test_an_undefined_value_is_a_gap_and_zero_has_no_place():
    table = draw_scores().prc.summary([0, *GRID], metrics="average_precision", columns="all")
    spoilt = table.with_columns(value=pl.when(pl.col("eta") != 0.01).then("value"))
    chart = charts.metric_by_eta(spoilt)
    assert [("value" in row, row["eta"]) for row in records(chart)] == [
        (True, 0.001),
        (False, 0.01),
        (True, 0.1),
        (True, 0.5),
    ]
    assert "Not drawn: prevalence 0" in subtitle(chart)
    one_each = draw_groups(range(20)).prc.summary(metrics="roc_auc", by="model", columns="all")
    assert records(charts.metric_by_eta(one_each), "dot"), "a line has one point"
    missed = draw_scores().prc.operating_points(GRID, precision=[0.5, 1.0], columns="all")
    assert charts.metric_by_eta(missed).to_json()


def test_metrics_beyond_1_have_axes_of_their_own():
    table = draw_groups("ab").prc.operating_points(
        GRID, fpr=0.2, by="model", metrics=("precision", "lift"), columns="all"
    )
    chart = charts.metric_by_eta(table)
    assert chart.to_dict()["vconcat"][0]["resolve"] == {"scale": {"y": "independent"}}
    assert layer(chart, "line")["encoding"]["y"]["scale"] == {"zero": False}
    assert channels(chart) == ("model", "metric")
    ten = draw_groups("abcdefghij").prc.operating_points(GRID, fpr=[0.1, 0.2], by="model", columns="all")
    assert channels(charts.p3_curve(ten)) == ("target", "model")


# Ranks ----------------------------------------------------------------------------------------


def test_ranking_draws_the_ranks_best_on_top():
    frame = trading()
    table = frame.prc.ranking([0.001, 0.03, 0.04, 0.5], confidence=0.95, id="row", columns="all")
    chart = charts.ranking(table, confidence=0.95)
    drawn = [(row["color"], row["eta"], row["rank"]) for row in records(chart)]
    assert drawn == table.sort("model", "eta").select("model", "eta", "rank").rows()
    line = layer(chart, "line")
    assert line["encoding"]["y"]["scale"]["domain"] == [2.5, 0.5]
    assert table["may_be_best"].n_unique() == 2
    assert any("doubt" in row for row in records(chart))
    assert "Grey zones: the order is not significant (95%)" in subtitle(chart)
    words = [row for row in all_records(chart) if row.get("part", "").startswith("word")]
    said = [plain(row["text"]) for row in words]
    names = ["late", "late", "sure", "sure"]
    assert sorted(said) == sorted(["1", "1–2", "1–2", "2", *names, "no clear winner"])
    said = "late is better at a prevalence of 50%; no clear winner at 0.1%, 3% and 4%"
    assert heading(chart) == said
    [zone] = records(chart, "zone")
    assert zone["eta"] == 0.001
    assert zone["to"] == 0.5, "as the title says"
    assert (round(zone["rank"] + 0.34, 6), round(zone["foot"] - 0.34, 6)) == (1, 2)
    grid = plot(frame).ranking(confidence=0.95, id="row")
    assert 0 < len(records(grid)) < 2 * len(eta_grid()), "they end where the negatives end"
    assert png(chart).startswith(PNG)


def test_equal_models_share_a_rank_and_undefined_ones_have_none():
    frame = pl.concat([draw_scores(model="a"), draw_scores(model="b"), draw_scores(seed=1, model=None)])
    frame = pl.concat([frame, pl.DataFrame({"score": [1.0], "label": [1], "model": "pos"})])
    chart = charts.ranking(frame.prc.ranking(GRID, columns="all"))
    at = {row["color"]: row["rank"] for row in records(chart) if row["eta"] == 0.1}
    assert at["a"] == at["b"]
    assert list(at) == ["null", "a", "b"]
    assert "Not drawn, undefined: pos" in subtitle(chart)
    for table in (
        frame.clear().prc.ranking(GRID, columns="all"),
        frame.prc.ranking([0.1], columns="all"),
        frame.prc.ranking([0, 1], columns="all"),
    ):
        check_data(charts.ranking(table))


def test_a_small_group_does_not_wash_out_the_places_of_others():
    steps = {"high": 3.0, "small": 1.9, "one": 1.5, "two": 1.5, "three": 1.5, "low": 0.3}
    parts = []
    for seed, (name, step) in enumerate(steps.items()):
        rng, n = np.random.default_rng(seed), 1_000 if name != "small" else 60
        label = np.arange(n) < n // 5
        parts.append(
            pl.DataFrame({"city": name, "label": label, "score": step * label + rng.normal(size=n)})
        )
    test = prc(pl.concat(parts), model="city")
    chart = test.plot.ranking([0.1, 0.2], confidence=0.95)
    ranked = test.ranking([0.1, 0.2], confidence=0.95, columns="all").filter(eta=0.2)
    pairs = test.compare(
        [0.1, 0.2], metrics="average_precision", paired=False, adjust="holm", columns="all"
    )
    leader = ranked.filter(rank=1)["model"].item()
    sure = {(leader, name) for name in ranked.filter(may_be_best=False)["model"]}
    for a, b, step in (
        pairs.filter("significant", eta=0.2).select("model_a", "model_b", "difference").rows()
    ):
        sure |= set() if leader in (a, b) else {(a, b) if step > 0 else (b, a)}
    places = {}
    for name, rank in ranked.select("model", "rank").rows():
        n_better, n_worse = (sum(pair[end] == name for pair in sure) for end in (1, 0))
        top, foot = 1 + n_better, len(ranked) - n_worse
        places[name] = f"{top}\u2013{foot}" if top < foot else str(rank)
    words = {
        row["text"]: row["rank"] for row in all_records(chart) if row.get("eta") == 0.2 and "text" in row
    }
    names_by_rank = {rank: text for text, rank in words.items() if text in steps}
    texts = [
        (row["text"], names_by_rank[row["rank"]])
        for row in all_records(chart)
        if row.get("eta") == 0.2 and "text" in row and row["text"] not in steps
    ]
    assert {name: text for text, name in texts} == places
    assert places["low"] == "6"
    assert places["high"] in ("1", "1\u20132")
    assert places["small"] != places["one"], "its neighbours are not as open as it is"
    zones = {(round(row["rank"] + 0.34), round(row["foot"] - 0.34)) for row in records(chart, "zone")}
    assert zones
    assert not any(foot == 6 for _, foot in zones)


def draw_branches() -> pl.DataFrame:
    """Ten branches: 00 is the worst, 08 the best and of its colour, 04 has 5 positives, 09 none."""
    steps = {0: 0.4, 8: 3.0, 4: 6.0}
    parts = []
    for number in range(10):
        n_pos = {4: 5, 9: 0}.get(number, 60)
        rng, label = np.random.default_rng(number), np.arange(500) < n_pos
        score = steps.get(number, 1.7) * label + rng.normal(size=500)
        parts.append(pl.DataFrame({"branch": f"{number:02} branch", "score": score, "label": label}))
    return pl.concat(parts)


def test_lines_that_a_title_names_are_coloured_and_those_of_few_positives_are_neither():
    test = prc(draw_branches(), model="branch")
    large = prc(pl.concat([draw_branches()] * 3), model="branch")  # known well at the prevalence of each

    def list_told(chart):
        told = set(re.findall(r"\d\d branch", heading(chart)))
        curves = [row for row in all_records(chart) if row.get("part", "").startswith("curve")]
        assert told <= {row["color"] for row in curves if "grey" not in row}
        return told

    for chart in (
        large.plot.metric_by_eta(confidence=0.95),
        test.plot.threshold_curve(eta=0.1),
        test.plot.pr_curve(eta=0.1, color="branch"),
    ):
        assert "04 branch" not in list_told(chart)
        assert heading(chart).startswith("Among branches with 20 positives")
        assert "positives or more; grey lines: the other " in subtitle(chart)
    ranking = large.plot.ranking(confidence=0.95)
    assert list_told(ranking) == {"04 branch", "08 branch"}, "as the zones, though 04 has few positives"
    assert "04 branch with fewer than 20 positives" in subtitle(ranking)
    assert "; grey lines: the other " in subtitle(ranking)
    small = prc(draw_branches().gather_every(2), model="branch")
    assert heading(small.plot.metric_by_eta(confidence=0.95)).endswith(
        "known only roughly at some prevalences"
    )
    chart = large.plot.metric_by_eta(confidence=0.95)
    assert set(re.findall(r"\d\d branch", heading(chart))) == {"00 branch", "08 branch"}
    assert heading(chart).endswith("at a prevalence of 1 in 10"), "no test set has half positives"
    scale = layer(chart, "line")["encoding"]["color"]["scale"]
    colors = dict(zip(scale["domain"], scale["range"], strict=True))
    assert colors["08 branch"] == COLORS[0]
    assert colors["00 branch"] == INK, "its colour is taken"


def test_undefined_pairs_are_told_as_the_model_without_a_class():
    test = prc(draw_branches(), model="branch")
    table = test.compare(0.1, metrics="average_precision", paired=False, adjust="holm", columns="all")
    chart = charts.difference(table)
    assert "Not drawn, undefined: 09 branch." in f"{subtitle(chart)}."
    zero = [row["row"] for row in records(chart, "reference")]
    more = [row["row"] for row in all_records(chart) if str(row.get("text")).startswith("and ")]
    assert len(more) == 1
    assert max(zero) < more[0], "no line runs through the words"


def test_a_last_row_with_free_places_has_no_axis_there():
    for n in (7, 8):
        table = draw_groups("abcdefghijkl"[:n]).prc.curve(0.1, by="model")
        chart = charts.pr_curve(table).to_dict()
        panels = chart.get("vconcat", [chart])[0]
        is_ragged = n > panels["columns"] and n % panels["columns"] > 0
        resolve = panels.get("resolve", {}).get("axis", {})
        assert resolve == ({"x": "independent"} if is_ragged else {}), n
    assert not is_ragged


def test_of_many_models_the_highest_are_coloured():
    frame = pl.concat(draw_scores(seed=i, pos=9, neg=30, model=i, site=i % 2) for i in range(200))
    chart = charts.ranking(frame.prc.ranking(GRID, columns="all"))
    check_data(chart)
    color = layer(chart, "line")["encoding"]["color"]
    assert color["scale"]["range"].count(OTHERS) == 192
    first = {row["color"] for row in records(chart) if row["rank"] == 1}
    assert first <= {row["color"] for row in records(chart) if "grey" not in row}
    assert "Coloured lines: 8 with colours of their own; grey lines: the other 192" in subtitle(chart)
    by_site = charts.ranking(frame.prc.ranking(GRID, by="site", columns="all"))
    assert channels(by_site) == ("model", "site")
    assert labels(by_site, "facet") == ["site 0", "site 1"]
    assert channels(
        charts.ranking(frame.filter(model=0).prc.ranking(GRID, columns="all"), facet="model")
    ) == (
        None,
        "model",
    )


@pytest.mark.parametrize("column", sorted(set(HOSTILE) - {"", "*", "^regex$"}))
def test_ranking_of_hostile_names(column):
    frame = draw_groups(HOSTILE[3:5], neg=5).with_columns(pl.lit(column).alias(column))
    chart = charts.ranking(frame.prc.ranking([0.1, 0.5], by=column, columns="all"))
    check_fields(chart)
    page = chart.to_html()
    assert "<script>alert" not in page
    assert "<!--" not in page


# By threshold ---------------------------------------------------------------------------------


def test_threshold_curve_draws_steps_down_the_thresholds():
    table = draw_scores().prc.curve(eta=0.01)
    chart = charts.threshold_curve(table)
    drawn = [(row["x"], row["precision"], row["recall"], row["alerts"]) for row in records(chart)]
    alerts = 1000 * (0.01 * pl.col("recall") + 0.99 * pl.col("fpr"))
    expected = table.select("threshold", "precision", "recall", alerts.alias("alerts")).rows()
    assert np.allclose(drawn, expected, rtol=1e-5)
    panels = chart.to_dict()["vconcat"]
    lines = [one for panel in panels for one in panel["layer"] if one["mark"]["type"] == "line"]
    fields = dict.fromkeys(line["encoding"]["y"]["field"] for line in lines)
    assert list(fields) == ["precision", "recall", "alerts"]
    assert {line["mark"]["interpolate"] for line in lines} == {"step-after"}
    assert lines[-1]["encoding"]["y"]["scale"]["type"] == "log"
    assert chart.to_dict()["resolve"] == {"scale": {"x": "shared"}}
    assert "Metrics by threshold, at a prevalence of 1 in 100" in subtitle(chart)
    assert png(chart).startswith(PNG)
    assert plot(draw_scores()).threshold_curve(0.01).to_dict() == chart.to_dict()


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Boolean, pl.Decimal(10, 2), pl.Float32, pl.UInt64])
def test_threshold_curve_of_any_dtype(dtype):
    frame = pl.DataFrame({"score": [1, 1, 0, 0], "label": [1, 0, 1, 0]}).cast({"score": dtype})
    chart = charts.threshold_curve(frame.prc.curve(0.1))
    assert [row["x"] for row in records(chart)] == [1, 0]
    check_data(chart)


def test_threshold_curve_says_what_it_leaves_out():
    frame = pl.DataFrame({"score": [math.inf, 2.0, 1.0, -math.inf], "label": [1, 0, 1, 0]})
    chart = charts.threshold_curve(frame.prc.curve(0.1))
    assert [row["x"] for row in records(chart)] == [2, 1]
    assert "Not drawn: infinite thresholds" in subtitle(chart)
    long = draw_scores(pos=500, neg=9000, digits=12)
    chart = charts.threshold_curve(long.prc.curve(0.1, by=pl.lit("a").alias("model")))
    assert len(records(chart)) < 2170
    assert "Drawn from" in chart.to_dict()["description"]


# Gains ----------------------------------------------------------------------------------------


def gains(chart) -> list[tuple[float, float]]:
    """Points in order, those below the axis on it."""
    return [(row["recall_gain"], row.get("precision_gain", 0.0)) for row in records(chart)]


@pytest.mark.parametrize("eta", [None, 0.1, 0.5])
def test_prg_curve_draws_the_gains_and_starts_on_the_axis(eta):
    frame = draw_scores(pos=80, neg=120)
    table = frame.prc.curve(eta, metrics=("precision_gain", "recall_gain"))
    chart = charts.prg_curve(table)
    drawn = gains(chart)
    inside = (
        table.filter(pl.col("recall_gain") >= 0, pl.col("precision_gain") >= 0)
        .select("recall_gain", "precision_gain")
        .rows()
    )
    assert drawn[0][0] == 0
    for point in drawn[1:]:
        if point[1] == 0:
            continue  # where a line is cut, or the end
        assert np.isclose(np.array(inside), point, rtol=1e-4, atol=1e-5).all(axis=1).any()
    left = table.filter(pl.col("recall").lt(pl.col("eta"))).height
    assert f"Not shown: {left} points with recall below the prevalence" in subtitle(chart)
    line = layer(chart, "line")
    assert line["mark"]["interpolate"] == "linear"
    assert [line["encoding"][axis]["scale"]["domain"] for axis in "xy"] == [[0, 1], [0, 1]]


def test_the_area_under_the_drawn_prg_curve_is_auprg():
    frame = draw_scores(pos=80, neg=120)
    drawn = gains(charts.prg_curve(frame.prc.curve(0.2)))
    area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(drawn))
    assert area == pytest.approx(
        frame.prc.summary(0.2, metrics="auprg_clipped", columns="all")["value"][0], abs=1e-4
    )


def test_gains_where_positives_are_rare_have_logarithmic_axes():
    """Both show what is left to 100%, of the same points, and bend as straight lines do there."""
    frame = pl.concat(draw_scores(seed=k, pos=400, neg=4_000, digits=8, model=k) for k in (1, 2))
    chart = charts.prg_curve(frame.prc.curve([0.1, 0.001], by="model"))
    assert channels(chart) == ("model", "prevalence")
    for axis in "xy":
        scale = layer(chart, "line")["encoding"][axis]["scale"]
        assert scale["type"] == "log"
        assert scale["domain"][0] == 1 > scale["domain"][1] > 0, "great gains are right and at the top"
    eta = 1 / 50_000
    table = frame.prc.curve(eta, by="model", metrics=("precision_gain", "recall_gain"))
    chart = charts.prg_curve(table)
    first = records(chart)[0]["recall_rest"]
    assert first == pytest.approx(9 * eta / (1 - eta), rel=1e-5), "a recall of 10%"
    assert "The axis begins at a recall of 10%" in subtitle(chart)
    inside = table.filter(pl.col("recall").is_between(0.1, 1, closed="left"))
    rest = pl.col("recall_rest", "precision_rest")
    drawn = pl.DataFrame(records(chart)).select("color", rest.round_sig_figs(6)).unique()
    odds = eta / (1 - eta) * (1 - pl.col("recall")) / pl.col("recall")
    ratio = pl.col("fpr") / pl.col("recall")
    wanted = inside.filter(ratio.is_between(0, 1, closed="right")).select(
        color=pl.format("model {}", "model"), recall_rest=odds, precision_rest=ratio
    )
    found = wanted.with_columns(rest.round_sig_figs(6)).join(drawn, on=drawn.columns, how="semi")
    assert len(found) > 0.5 * len(wanted) or len(found) > 300, "points of the table, some left out"
    readings = [row for row in all_records(chart) if row.get("part") == "read"]
    assert len(readings) > 50
    assert png(chart).startswith(PNG)


def test_few_points_of_gains_bend_on_logarithmic_axes():
    rates = pl.DataFrame({"recall": [0.2, 0.8, 1.0], "fpr": [0.001, 0.1, 1.0]})
    chart = charts.prg_curve(rates.prc.curve(0.001, rates=("recall", "fpr")))
    for row in records(chart):
        odds = row["recall_rest"] * 999
        recall = 1 / (1 + odds)
        fpr = np.interp(recall, [0, 0.2, 0.8, 1], [0, 0.001, 0.1, 1])
        if 0.2 < recall < 0.99 and row["precision_rest"] < 1:
            assert row["precision_rest"] == pytest.approx(fpr / recall, rel=1e-3)
    assert len(records(chart)) > 20


def test_titles_of_gains_tell_the_gain_at_half_recall_which_is_marked():
    frame = draw_groups("ab", neg=900)
    half = frame.prc.operating_points(0.1, by="model", recall=0.5, columns="all").with_columns(
        gain=1 - pl.col("fpr") / pl.col("recall")
    )
    half = half.sort("gain", descending=True)
    half = half.with_columns(p=1 / (1 + 9 * (1 - pl.col("gain"))))
    texts = [*map("{} for {}".format, say_shares(half["p"].to_list()), half["model"])]
    said = f"At 50% recall or more, precision is {' and '.join(texts)}"
    chart = charts.prg_curve(frame.prc.curve(0.1, by="model"))
    assert heading(chart) == plain(said)
    marks = {row["color"]: row["precision_gain"] for row in records(chart, "mark")}
    assert marks == pytest.approx(dict(half.select("model", "gain").rows()), rel=1e-5)
    labels = {row["color"]: row["precision_gain_label"] for row in records(chart, "mark")}
    assert [f"{plain(label)} for {name}" for name, label in sorted(labels.items())] == sorted(
        map(plain, texts), key=lambda text: text[-1]
    )
    axis = layer(chart, "line")["encoding"]["y"]["axis"]
    for tick, text in zip(axis["values"], re.findall(r'"([\d.]+)%"', axis["labelExpr"]), strict=True):
        assert tick == pytest.approx(1 - (100 / float(text) - 1) / 9, abs=1e-5), "of 90 negatives to 10"
    assert "at a prevalence of 1 in 10" in plain(subtitle(chart))
    few = frame.filter(pl.int_range(pl.len()) % 20 == 0)
    assert "a measured recall of 50% could" in heading(charts.prg_curve(few.prc.curve(0.1, by="model")))
    panels = charts.prg_curve(frame.prc.curve([0.5, 0.2], by="model"))
    assert "Gains: 0% is flagging every case, 100% no missed positive" in subtitle(panels)
    [log_chart] = [charts.prg_curve(frame.prc.curve(0.01, by="model"))]
    rests = {row["color"]: 1 - row["precision_rest"] for row in records(log_chart, "mark")}
    assert rests == pytest.approx(marks, rel=1e-4)


def test_prg_curve_counts_what_is_worse_than_chance():
    frame = pl.DataFrame({"score": [4, 3, 2, 1], "label": [0, 0, 1, 1]})
    chart = charts.prg_curve(frame.prc.curve())
    assert [row.get("precision_gain") for row in records(chart)] == [-1, 0], "a marked point is shown"
    assert "Not shown: 2 points with recall below the prevalence" in subtitle(chart)
    assert "at random" in [row.get("text") for row in all_records(chart)]
    for eta in (0, 1):
        check_data(charts.prg_curve(frame.prc.curve(eta)))


# Lines of equal precision ---------------------------------------------------------------------


@pytest.mark.parametrize("log_x", [False, True])
def test_roc_curve_shows_where_precision_is_equal(log_x):
    table = draw_groups("ab").prc.sweep(by="model")
    chart = charts.roc_curve(table, log_x=log_x, eta=0.1, precisions=(0.05, 0.5))
    lines = [row for row in records(chart, "reference") if row["ref"] != "random"]
    for row in lines:
        if row["fpr"]:
            found = 0.1 * row["recall"] / (0.1 * row["recall"] + 0.9 * row["fpr"])
            assert found == pytest.approx(float(row["ref"]), rel=1e-4)
    assert max(row["recall"] for row in lines if row["ref"] == "0.5") == 1
    assert {row["ref"] for row in lines} == {"0.5"}, "5% is worse than alerts at random"
    assert "precision 50%" in {plain(row.get("text", "")) for row in all_records(chart)}
    said = (
        "Grey lines, from left to right: a precision of 50% and 10% (chance), at a prevalence of "
        "1 in 10. "
        "Not drawn: 5%, which is below chance"
    )
    assert said in subtitle(chart)
    panels = charts.roc_curve(table, log_x=log_x, eta=0.1, facet="model", precisions=(0.5,))
    assert {row["facet"] for row in records(panels, "reference")} == {"a", "b"}
    assert png(panels).startswith(PNG)
    rare = charts.roc_curve(table, log_x=log_x, eta=1e-6)
    assert "The lines for 90%, 50% and 10% are too far left to draw" in subtitle(rare)
    assert {row["ref"] for row in records(rare, "reference")} == {"random"}
    many = charts.roc_curve(draw_groups("abcdefghij").prc.sweep(by="model"), log_x=log_x, eta=0.1)
    assert not records(many, "ghost"), "grey lines mean one thing"


# Every chart ----------------------------------------------------------------------------------

every_chart = pytest.mark.parametrize("draw", DRAW.values(), ids=DRAW)


def draw_without_words(draw, frame):
    """The chart of `draw`, with title=False."""
    with pytest.MonkeyPatch.context() as patch:
        for name in DRAW:
            drawn = getattr(charts, name)
            patch.setattr(
                charts, name, lambda *a, drawn=drawn, **options: drawn(*a, title=False, **options)
            )
        return draw(frame, "model")


@every_chart
@pytest.mark.usefixtures("with_schema")
def test_charts_of_a_few_groups(draw, monkeypatch):
    frame = draw_groups(["b", None, "null"])
    chart, bare = draw(frame, "model"), draw_without_words(draw, frame)
    spec, bare_spec = chart.to_dict(), bare.to_dict()  # which fit the schema, and need no second look
    monkeypatch.setattr(schemapi, "validate_jsonschema", lambda *_given, **_more: None)
    assert [label.split(" (")[0] for label in labels(chart, "color")] == ["null", "b", '"null"']
    check_data(chart)
    assert "title" not in bare_spec
    assert "note" not in {name for row in all_records(bare) for name in row}
    assert bare_spec["description"]
    text = chart.to_json()
    assert alt.Chart.from_json(text).to_dict() == spec
    assert draw(frame.sample(fraction=1, shuffle=True, seed=1), "model").to_json() == text
    assert png(chart | charts.roc_curve(frame.prc.sweep(by="model"))).startswith(PNG)


@pytest.mark.slow
@every_chart
def test_charts_of_hostile_names(draw):
    for column in COLUMNS:
        chart = draw(draw_groups(HOSTILE[:2], neg=9).rename({"model": column}), column)
        check_fields(chart)
        page = chart.to_html()
        assert "<script>alert" not in page
        assert "<!--" not in page
    chart = draw(draw_groups(HOSTILE[3:5]), "model")
    check_data(chart)
    page = chart.to_html()
    assert "<script>alert" not in page
    assert "<!--" not in page


CONTROLS = {"a\x01b": "a␁b", "\x1b[1m": "␛[1m", "\0": "␀", "\ufffe\x9b": "��", r"c\x01": "c\\\u2060x01"}


@pytest.mark.parametrize("name", [*DRAW, "ranking"])
@pytest.mark.usefixtures("with_schema")
def test_control_characters_are_shown_as_symbols(name):
    """XML has none of them, and vl-convert ends the process that draws one."""
    draws = {
        "ranking": lambda frame, by: charts.ranking(frame.prc.ranking(GRID, model=by, columns="all")),
        **DRAW,
    }
    title = "".join(CONTROLS)
    frame = draw_groups(CONTROLS).rename({"model": title})
    chart = draws[name](frame, title)
    texts = [text for text in walk_texts(chart.to_dict()) if UNSEEN.search(text)]
    assert texts == []
    said = " ".join(walk_texts(chart.to_dict()))
    said = said.replace("[U+FFFE][U+009B]", "\ufffd\ufffd")  # a name of these alone has their codes
    assert all(shown in said for shown in CONTROLS.values())
    assert png(chart).startswith(PNG)


def test_a_title_of_control_characters():
    table, title = draw_scores().prc.curve(), "a\x01b \ud800 \udce9"
    chart = charts.pr_curve(table, title=title)
    assert not any(UNSEEN.search(text) for text in walk_texts(chart.to_dict()))
    assert "a␁b � �" in walk_texts(chart.to_dict())
    assert png(chart).startswith(PNG)


@every_chart
def test_long_names_are_cut_in_their_middle(draw):
    """The time that Vega takes to measure a text grows with the square of its length."""
    names = [f"{'long ' * 2_000}{end}" for end in ("a", "b", "c")]
    chart = draw(draw_groups(names), "model")
    assert max(len(label) for label in labels(chart, "color")) < 120
    assert len(labels(chart, "color")) == 3
    assert max(map(len, walk_texts(chart.to_dict()))) < 1_000


@every_chart
def test_charts_of_what_is_hardly_there(draw):
    one_class = pl.DataFrame({"score": [1.0, 2.0], "label": [1, 1], "model": "pos"})
    for rows in (0, 1, 10):
        tied = pl.DataFrame(
            {"score": [0.5] * rows, "label": [i % 2 for i in range(rows)], "model": ["a"] * rows},
            schema={"score": pl.Float64, "label": pl.Int64, "model": pl.String},
        )
        chart = draw(tied, "model")
        check_data(chart)
        assert rows or "no rows" in subtitle(chart)
    chart = draw(one_class, "model")
    check_data(chart)
    assert "Not drawn, one class only: pos" in subtitle(chart)
    chart = draw(pl.concat([draw_scores(model="ok"), one_class]), "model")
    assert labels(chart, "color") == ["ok"]
    assert "Not drawn, one class only: pos" in subtitle(chart)


@every_chart
def test_charts_of_200_groups(draw):
    frame = pl.concat(draw_scores(seed=i, pos=2 + i % 3, neg=5, digits=1, c=i) for i in range(200))
    chart = draw(frame, "c")
    assert len(labels(chart, "facet") or labels(chart, "color")) == 200
    check_data(chart)


# Refusals -------------------------------------------------------------------------------------

TABLE = draw_groups("ab").prc.curve(eta=0.1, by="model", thresholds=3)
SUMMARY = draw_groups("ab").prc.summary(0.1, by="model", columns="all")
POSTERIORS = make_posteriors(draw_scores()).with_columns(week=1)
RATES = pl.DataFrame({"tpr": [0.5], "fpr": [0.1]}).prc.curve(eta=0.1, rates=("tpr", "fpr"))
TRADES = pl.DataFrame({"model_a": ["a"], "model_b": ["b"], "eta": [0.1], "value": [0.5]})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: charts.pr_curve(TABLE.lazy()), r"collect the table first, table\.collect\(\)"),
        (lambda: charts.roc_curve(TABLE.lazy()), r"roc_curve takes a DataFrame and got a LazyFrame"),
        (lambda: charts.pr_curve({"a": 1}), r"returns to .*; got dict"),
        (lambda: charts.pr_curve(TABLE, y="fdr"), r'pass metrics=\("fdr",\) to curve'),
        (lambda: charts.pr_curve(TABLE, y="recall"), 'takes "precision" or "fdr"; got \'recall\''),
        (lambda: charts.pr_curve(TABLE.drop("eta", "tp")), "lacks eta, tp"),
        (lambda: charts.pr_curve(draw_scores().prc.curve(eta=0.1, long=True)), "leave out long=True"),
        (lambda: charts.pr_curve(TABLE, color="modle"), "did you mean 'model'"),
        (lambda: charts.roc_curve(TABLE, facet="eta"), "choose from: model"),
        (
            lambda: charts.roc_curve(draw_scores().prc.sweep(), color="g"),
            "the table has no group column",
        ),
        (lambda: charts.pr_curve(TABLE, color="model", facet="model"), "both name 'model'"),
        (lambda: charts.pr_curve(TABLE.drop("model")), "some rows belong to different curves"),
        (lambda: charts.metric_by_eta(TABLE), "neither metric and value, nor criterion"),
        (lambda: charts.metric_by_eta(SUMMARY.lazy()), "collect the table first"),
        (lambda: charts.metric_by_eta(SUMMARY.drop("model")), "several values at one prevalence"),
        (lambda: charts.metric_by_eta(SUMMARY, crossings=TABLE), "lacks model_a, model_b, value"),
        (lambda: charts.metric_by_eta(SUMMARY, crossings=TRADES), "filter crossings= to one metric"),
        (
            lambda: charts.metric_by_eta(SUMMARY[:1].drop("model"), crossings=TRADES),
            "here they are",
        ),
        (lambda: charts.metric_by_eta(SUMMARY, facet="site"), "choose from: model, metric"),
        (lambda: charts.roc_curve(TABLE, eta=1), "eta= takes a share between 0 and 1, .* got 1"),
        (
            lambda: charts.roc_curve(TABLE, eta=0.1, precisions=(0,)),
            "precisions= takes numbers between 0 and 1",
        ),
        (lambda: charts.prg_curve(TABLE.drop("eta")), "lacks eta"),
        (lambda: charts.ranking(TABLE), "lacks value, rank"),
        (lambda: charts.threshold_curve(RATES), "needs thresholds, and some are null"),
        (lambda: charts.p3_curve(SUMMARY), r'pass metrics=\("precision",\)'),
        (
            lambda: charts.roc_curve(
                TABLE, points=draw_groups("ab").prc(by="model").operating_points(recall=0.5)
            ),
            r'operating_points returns, with columns="all", .*; this one lacks fpr',
        ),
        (
            lambda: charts.decision_curve(POSTERIORS.prc.decision_curve()),
            r'returns, with columns="all", .*; this one lacks tp',
        ),
        (
            lambda: charts.monitor(POSTERIORS.prc.monitor("week", reference=0.5, threshold=0.5)),
            r'monitor returns, with columns="all", .*; this one lacks overall_since',
        ),
    ],
)
def test_refusals_say_what_to_do(call, message):
    with pytest.raises(PrcError, match=message):
        call()


def test_short_tables_are_drawn_as_those_with_all_columns():
    bound, words = draw_groups("ab").prc(by="model"), {"recall": 0.5, "confidence": 0.9}
    for draw, made in (
        (
            charts.alerts,
            lambda **more: bound.operating_points(0.1, metrics="precision", **words, **more),
        ),
        (
            charts.p3_curve,
            lambda **more: bound.operating_points(GRID, metrics="precision", **words, **more),
        ),
        (
            charts.metric_by_eta,
            lambda **more: bound.operating_points(GRID, metrics=["f1", "tp"], **words, **more),
        ),
        (charts.metric_by_eta, lambda **more: bound.summary(GRID, confidence=0.9, **more)),
    ):
        assert records(draw(made())) == records(draw(made(columns="all")))
    points = bound.operating_points(metrics=["recall", "fpr"], recall=0.5)
    drawn = charts.roc_curve(bound.sweep(), points=points)
    every = bound.operating_points(recall=0.5, columns="all")
    assert records(drawn) == records(charts.roc_curve(bound.sweep(), points=every))


# From a score table ---------------------------------------------------------------------------


def plot(frame: pl.DataFrame | pl.LazyFrame) -> PlotPrc:
    return PlotPrc(LazyFramePrc(frame.lazy()))


def test_plot_draws_what_the_tables_draw():
    frame = draw_groups("ab", digits=3)
    table = frame.prc.curve(eta=[0.1, 0.01], by="model", metrics=("precision", "fdr"))
    chart = plot(frame).pr_curve([0.1, 0.01], by="model")
    assert chart.to_dict() == charts.pr_curve(table).to_dict()
    chart = plot(frame.lazy()).pr_curve([0.1, 0.01], by="model", y="fdr", color="eta", title="Mine")
    assert chart.to_dict() == charts.pr_curve(table, y="fdr", color="eta", title="Mine").to_dict()
    chart = plot(frame).roc_curve(by="model", log_x=True, facet="model")
    assert chart.to_dict() == charts.roc_curve(table, log_x=True, facet="model").to_dict()


def test_plot_reads_every_kind_of_table():
    frame = draw_scores().with_columns(
        w=pl.lit(2.0), y=pl.col("label").replace_strict({1: "yes", 0: "no"})
    )
    expected = points(plot(frame).pr_curve(0.1), "recall", "precision")
    for chart in (
        plot(frame).pr_curve(0.1, label="y", pos_label="yes"),
        plot(frame).pr_curve(0.1, weight="w"),
        plot(frame.prc.counts()).pr_curve(0.1, counts=("n_pos", "n_neg")),
        plot(frame.prc.sweep()).pr_curve(0.1, rates=("recall", "fpr")),
        plot(
            pl.concat([frame, frame.head(1).with_columns(score=None)], how="vertical_relaxed")
        ).pr_curve(0.1, missing="drop"),
    ):
        assert np.allclose(points(chart, "recall", "precision"), expected, rtol=1e-5)


def test_plot_raises_as_the_eager_methods_do():
    with pytest.raises(PrcError, match="not binary"):
        plot(draw_scores().with_columns(label=pl.lit(7))).pr_curve()
    with pytest.raises(PrcError, match="NaN"):
        plot(draw_scores().lazy().with_columns(score=pl.lit(math.nan))).roc_curve()


def test_plot_says_what_it_draws():
    df = draw_groups("ab")
    assert repr(prc(df, by="model").plot) == f"<prc.plot of <prc of {df.height} rows: by='model'>>"
    methods = {name for name in dir(plot(df)) if not name.startswith("_")}
    assert methods == set(charts.__all__) - {"Chart"}


# Bands ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("y", ["precision", "fdr"])
def test_bands_of_a_pr_curve(y):
    frame, options = draw_groups("ab"), {"by": "model", "confidence": 0.9}
    table = frame.prc.curve([0.2, 0.01], metrics=(y,), thresholds="corners", **options)
    chart = charts.pr_curve(table, y=y, confidence=0.9)
    said = {"precision": "Precision", "fdr": "False discovery rate (1 - precision)"}[y]
    assert f"{said} by recall" in subtitle(chart)
    assert "Shaded: 90% intervals at each threshold" in subtitle(chart)
    assert "Shaded: confidence intervals at each threshold" in subtitle(charts.pr_curve(table, y=y))
    area = next(layer for layer in inner(chart)["layer"] if layer["mark"]["type"] == "area")
    assert area["mark"]["interpolate"] == "step-before"
    assert [area["encoding"][axis]["field"] for axis in ("x", "y", "y2")] == [
        "recall",
        f"{y}_low",
        f"{y}_high",
    ]
    columns = ["recall", f"{y}_low", y, f"{y}_high"]
    known = {tuple(float(f"{v:.6g}") for v in row) for row in table.drop_nulls().select(columns).rows()}
    drawn = [tuple(float(row[c]) for c in columns) for row in records(chart) if row["recall"] > 0]
    assert len(drawn) > 50
    assert set(drawn) <= known
    assert plot(frame).pr_curve([0.2, 0.01], y=y, **options).to_dict() == chart.to_dict()
    assert png(chart).startswith(PNG)
    plain = charts.pr_curve(table.drop(f"{y}_low"), y=y)
    assert "Shaded" not in subtitle(plain)


# Points that are marked -----------------------------------------------------------------------


def test_points_are_marked_with_what_they_hold_for():
    frame = draw_groups("ab", neg=1_000)
    asked = frame.prc.operating_points(
        [0.1, 0.01], by="model", recall=0.5, precision=0.9999, columns="all"
    )
    last = asked["threshold"].max()
    asked = asked.with_columns(guarantee=0.95, holds_from="threshold", holds_to=pl.lit(last))
    found = asked.filter(pl.col("threshold").is_not_null())
    missing = len(asked) - len(found)
    assert missing
    table = frame.prc.curve([0.1, 0.01], by="model")
    for chart, x, y in (
        (charts.pr_curve(table, points=asked), "recall", "precision"),
        (charts.threshold_curve(table, points=asked), "x", "precision"),
    ):
        column = "threshold" if x == "x" else x
        marks = sorted((row["color"], row[x], row[y]) for row in records(chart, "mark"))
        expected = sorted(found.select("model", column, y).rows())
        assert [mark[0] for mark in marks] == [row[0] for row in expected]
        assert np.allclose([mark[1:] for mark in marks], [row[1:] for row in expected], rtol=1e-5)
        said = {plain(row["text"]) for row in all_records(chart) if "text" in row}
        hidden = {"6.4%"} if x == "recall" else set()  # lines cross there, and leave no room
        assert {plain(say_share(value)) for value in found["precision"]} - hidden <= said
        assert f"{missing} points not drawn: no threshold meets the target" in subtitle(chart)
        assert "Marked: thresholds that meet their target with 95% confidence" in subtitle(chart)
        spans, caps = records(chart, "span"), records(chart, "cap")
        assert len(spans) >= len(records(chart, "mark"))
        ends = {(span[end], span[y]) for span in spans for end in (x, "to") if y in span}
        assert ends == {(cap[x], cap[y]) for cap in caps if y in cap}, "a rule is no curve"
        assert png(chart).startswith(PNG)
    [row] = asked.filter(pl.col("model") == "a", pl.col("eta") == 0.1, criterion="recall").rows(
        named=True
    )
    spans = records(charts.threshold_curve(table, points=asked), "span")
    assert (row["threshold"], last) in {(span["x"], span["to"]) for span in spans}


def test_one_point_is_the_finding():
    frame = draw_scores()
    point = frame.prc.operating_points(0.1, recall=0.5, columns="all")
    chart = plot(frame).roc_curve(points=point)
    found = (say_share(point[name].item()) for name in ("precision", "recall"))
    right, recall = map(plain, found)
    assert heading(chart) == f"Precision is {right} and recall {recall}"
    assert "threshold 1.37" in records(chart, "mark")[0]["said"]


def test_one_point_of_each_model_stands_on_its_roc_curve():
    frame = draw_groups("ab")
    asked = frame.prc.operating_points(0.1, recall=0.5, by="model", columns="all")
    chart = plot(frame).roc_curve(points=asked, by="model")
    drawn = {row["color"]: (row["fpr"], row["recall"]) for row in records(chart, "mark")}
    for model, *rates in asked.select("model", "fpr", "recall").rows():
        assert drawn[model] == pytest.approx(rates, rel=1e-5)


def test_points_of_other_curves_are_refused_or_told():
    frame = draw_groups("ab")
    table = frame.prc.curve(0.1, by="model")
    alone = frame.filter(model="a").prc.operating_points(0.1, recall=0.5, columns="all")
    with pytest.raises(PrcError, match="needs the column 'model' in points= to find the curve"):
        charts.pr_curve(table, points=alone)
    with pytest.raises(
        PrcError, match=r"pass the DataFrame that operating_points.* to points= of pr_curve"
    ):
        charts.pr_curve(table, points=3)
    elsewhere = frame.prc.operating_points(0.2, recall=0.5, by="model", columns="all")
    assert "2 points not drawn: no such curve" in subtitle(charts.pr_curve(table, points=elsewhere))


def test_charts_take_tables_that_others_have_counted():
    frame = draw_groups("ab", neg=60)
    names = ("tp", "fp", "fn", "tn")
    cells = frame.prc.sweep(by="model").select("model", *names, score="threshold")
    rates = frame.prc.sweep(by="model").select("model", tpr="recall", fpr="fpr")
    sizes = {"rates": ("tpr", "fpr"), "sizes": (20, 60)}
    for name, options in {
        "pr_curve": {"eta": 0.1, "confidence": 0.9},
        "roc_curve": {},
        "prg_curve": {"eta": 0.1},
        "gain_curve": {"eta": 0.1},
        "threshold_curve": {"eta": 0.1},
        "p3_curve": {"recall": 0.5, "eta": [0.1, 0.5]},
    }.items():
        drawn = getattr(plot(cells), name)(by="model", cells=names, **options).to_dict()
        assert drawn == getattr(plot(frame), name)(by="model", **options).to_dict(), name
    one = rates.filter(model="a")
    chart = plot(one).pr_curve(0.1, confidence=0.9, **sizes)
    assert "precision_low" in records(chart)[0]
    assert "20 positives, 60 negatives" in subtitle(chart)


def test_prevalences_that_differ_only_in_their_interval_have_a_band_each():
    frame = draw_scores()
    etas = pl.DataFrame({"eta": [0.1, 0.1], "eta_low": [0.09, 0.02], "eta_high": [0.11, 0.3]})
    chart = plot(frame).pr_curve(etas, confidence=0.9)
    table = frame.prc.curve(etas, confidence=0.9, thresholds="corners")
    assert labels(chart, "color") == ["2% to 30%", "9% to 11%"]
    assert channels(chart)[0] == "interval of the prevalence"
    lows = {round(row["precision_low"], 5) for row in records(chart) if "precision_low" in row}
    for _, part in table.group_by("eta_low"):
        known = part.filter(pl.col("precision_low").is_not_null(), pl.col("recall") > 0)
        assert round(known["precision_low"][-1], 5) in lows


@pytest.mark.parametrize("name", ["pr_curve", "metric_by_eta", "decision_curve"])
def test_screen_readers_hear_no_names_of_fields(name):
    frame = draw_groups("ab")
    svg = vl_convert.vegalite_to_svg(DRAW[name](frame, "model").to_dict())
    said = re.findall(r'aria-label="([^"]*)"', svg)
    assert said
    assert not [text for text in said if re.search(r"\b(curve|order|run|part): ", text)]


def test_a_few_positives_are_no_finding():
    frame = draw_scores(pos=5, neg=395)
    roughly = "With 5 positives, a measured recall of 50% could really be anything from 12% to 83%"
    assert heading(plot(frame).pr_curve(0.1)) == roughly
    points = frame.prc.operating_points(0.1, alerts=1, per=10, confidence=0.95)
    value, span = say_estimate(*points.select(pl.col("^recall.*$")).row(0))
    gain = plot(frame).gain_curve(0.1)
    span_text = plain(span.replace(" to ", "% to "))
    assert heading(gain) == f"With 5 positives, recall with at most a tenth flagged is {span_text}%"
    [mark] = records(gain, "mark")
    assert mark["recall_label"] == f"{value} ({span})", "the number and the interval of that threshold"
    assert mark["recall"] == points["recall"].item()
    table = frame.prc.curve(0.1)
    roughly = "With 5 positives, recall with at most a tenth flagged is known only roughly"
    assert heading(charts.gain_curve(table)) == roughly
    assert [mark["recall_label"] for mark in records(charts.gain_curve(table), "mark")] == [""]
    tied = frame.with_columns(score=pl.lit(1.0))
    assert heading(plot(tied).gain_curve(0.1)) == roughly, "no threshold flags a tenth"
    assert (
        heading(plot(frame).p3_curve(recall=0.5)) == "With 5 positives, precision is known only roughly"
    )


@pytest.mark.parametrize("weight", [None, "w"])
def test_scores_are_shares_of_both_classes_in_ranges_of_one_width(weight):
    rng = np.random.default_rng(5)
    label = np.arange(100_000) < 2_000
    frame = pl.DataFrame({"label": label, "score": 10 * label + 9 * rng.normal(size=label.size)})
    frame = frame.with_columns(w=rng.integers(1, 4, label.size) * 1.0)
    chart = prc(frame, weight=weight).plot.scores()
    for part, is_own in (("positives", pl.col("label")), ("negatives", ~pl.col("label"))):
        bars = pl.DataFrame(records(chart, part)).sort("x")
        assert bars["y"].sum() == pytest.approx(1, rel=1e-4)
        widths = (bars["to"] - bars["x"]).unique()
        assert widths.max() == pytest.approx(widths.min(), rel=1e-3)
        own, size = frame.filter(is_own), pl.col("w") if weight else pl.lit(1.0)
        for x, to, y in bars.select("x", "to", "y").gather_every(7).rows():
            inside = pl.col("score").is_between(x, to, "left")
            share = own.select((size * inside).sum() / (size * (pl.col("score") > -99)).sum()).item()
            assert share == pytest.approx(y, abs=1e-3), "edges are rounded to six digits"
    [rule] = records(chart, "threshold")
    [point] = prc(frame, weight=weight).operating_points(recall=0.5, columns="all").to_dicts()
    assert rule["x"] == pytest.approx(point["threshold"], rel=1e-5)
    assert (
        heading(chart) == f"At 50% recall, {plain(say_share(point['fpr']))} of the negatives are flagged"
    )
    assert len(json.dumps(read_spec(chart))) < 25_000
    check_data(chart)


def test_bars_of_scores_leave_out_what_is_infinite():
    """Nor does the bar beside it take its share; a threshold there has no rule."""
    scores = [math.inf] * 6 + [5, 4, 3, 2] + [1.0] * 7 + [-math.inf] * 3
    frame = pl.DataFrame({"score": scores, "label": [1] * 5 + [0] + [1] * 5 + [0] * 9})
    for wanted in (frame.prc.operating_points(threshold=3), None):
        chart = frame.prc.plot.scores(points=wanted)
        drawn = {part: [row["y"] for row in records(chart, part)] for part in ("positives", "negatives")}
        assert drawn == {"positives": [pytest.approx(0.1)] * 5, "negatives": [pytest.approx(0.6)]}
        assert len(records(chart, "threshold")) == (wanted is not None)
        assert "Not drawn: infinite scores" in " ".join(chart.to_json().split())


@pytest.mark.parametrize("method", ["ranking", "difference", "metric_by_eta"])
@pytest.mark.parametrize("n_rows", [0, 2])
def test_without_eta_even_the_smallest_table_has_prevalences(method, n_rows):
    frame = pl.DataFrame({"score": [1.0, 2.0], "other": [2.0, 1.0], "label": [1, 0]}).head(n_rows)
    chart = getattr(frame.prc(score=["score", "other"]).plot, method)()
    etas = {row["eta"] for row in all_records(chart) if "eta" in row}
    assert (min(etas), max(etas)) == (pytest.approx(0.1), 0.5) if n_rows else not etas


# Differences and gains ------------------------------------------------------------------------


@pytest.mark.usefixtures("with_schema")
def test_difference_draws_the_interval_and_says_where_it_is_settled():
    frame = trading()
    table = frame.prc.compare(
        model="model", id="row", eta=eta_grid(), metrics="average_precision", columns="all"
    )
    chart = charts.difference(table, confidence=0.95)
    drawn = [(row["eta"], row["difference"], row["low"], row["high"]) for row in records(chart)]
    expected = table.sort("eta").select("eta", "difference", "low", "high").rows()
    assert drawn == [tuple(pytest.approx(v, rel=1e-5) for v in row) for row in expected]
    said = {row["text"] for row in all_records(chart) if "text" in row}
    assert {"Above 0: late better", "Below 0: sure better"} <= said
    sides = {(row["side"], row["low"] > 0, row["high"] < 0) for row in records(chart)}
    assert sides <= {(0, True, False), (1, False, True), *((2, *ends) for _, *ends in sides)}
    assert {side for side, *_ in sides} == {0, 1, 2}, "a colour where it is above 0, below, and grey"
    assert "late minus sure: average precision, in percentage points" in subtitle(chart)
    assert plot(frame).difference(eta_grid(), id="row").to_dict() == chart.to_dict()
    two = frame.prc.compare(
        model="model", id="row", eta=GRID, metrics=["average_precision", "roc_auc"], columns="all"
    )
    panels = charts.difference(two)
    assert labels(panels, "facet") == ["Average precision", "ROC AUC"]
    for one in (panels, charts.difference(table.clear()), charts.difference(table, title=False)):
        check_data(one)
    by_site = pl.concat(frame.with_columns(site=pl.lit(site)) for site in "xy")
    groups = charts.difference(
        by_site.prc.compare(model="model", id="row", by="site", eta=GRID, columns="all")
    )
    assert labels(groups, "facet")[0] == "x · Average precision"


def make_six(n: int = 6) -> pl.DataFrame:
    """Models of one test set, from chance to nearly perfect, of which the last two are alike."""
    random = np.random.default_rng(3)
    label = np.arange(1_500) < 300
    shared = random.normal(size=1_500)
    steps = {f"model {k}": min(k, n - 2) * 0.8 for k in range(n)}
    wide = {
        name: step * label + 0.6 * shared + 0.8 * random.normal(size=1_500)
        for name, step in steps.items()
    }
    return pl.DataFrame({"label": label, **wide})


@pytest.mark.parametrize(("n", "settled"), [(3, None), (6, None), (9, None)])
def test_many_pairs_are_a_table_of_intervals(n, settled):
    frame = make_six(n)
    names_ = [name for name in frame.columns if name != "label"]
    chart = plot(frame).difference(score=names_)
    pairs = frame.prc.compare(score=names_, metrics="average_precision", adjust="holm", columns="all")
    assert chart.to_dict() == charts.difference(pairs, confidence=0.95).to_dict()
    n_settled = pairs["significant"].sum()
    assert 0 < n_settled < len(pairs)
    drawn = records(chart, "interval")
    assert len(drawn) == min(len(pairs), 12)
    order = pairs.with_columns(size=pl.col("difference").abs()).sort(
        "significant", "size", descending=True
    )
    assert [row["difference"] for row in drawn] == pytest.approx(order["size"].to_list()[:12], rel=1e-5)
    ends = [
        (a, b) if d >= 0 else (-b, -a) for d, a, b in order.select("difference", "low", "high").rows()
    ]
    found = [(row["low"], row["high"]) for row in drawn]
    assert np.allclose(found, ends[:12], rtol=1e-5)
    assert [row.get("settled", 0) for row in drawn] == order["significant"].cast(int).to_list()[:12]
    texts = [plain(str(row.get("text"))) for row in all_records(chart)]
    first = order.row(0, named=True)
    better = ("model_a", "model_b") if first["difference"] > 0 else ("model_b", "model_a")
    assert f"{first[better[0]]} over {first[better[1]]}" in texts
    rest = order["significant"][12:]
    if len(rest):
        told = (
            f"{rest.sum()} of them significant and smaller than these"
            if rest.any()
            else "none significant"
        )
        assert f"and {len(rest)} more, {told}" in texts
    told = "By average precision, "
    assert heading(chart).startswith(
        told if n_settled > 3 else "Significantly better by average precision: "
    )
    assert "corrected for all pairs (Holm)" in subtitle(chart)
    assert "at a prevalence of 20%" in subtitle(chart), "of many pairs one prevalence"
    alone = frame.prc.compare(score=names_, metrics="average_precision", columns="all")
    assert "Significance: each pair alone" in subtitle(charts.difference(alone))
    check_data(chart)
    assert png(chart).startswith(PNG)


def test_a_single_pair_is_not_said_to_be_corrected_for_others():
    frame = make_six(3).with_columns(site=pl.Series(["Cork", "Lund", "Bonn"] * 500))
    for by in (None, "site"):
        two, three = (
            plot(frame).difference(0.1, by=by, score=[f"model {k}" for k in range(n)]) for n in (2, 3)
        )
        assert "Significance" not in subtitle(two)
        assert "Significance: corrected for all pairs (Holm)" in subtitle(three)


@pytest.mark.parametrize("chart", ["pr_curve", "roc_curve", "prg_curve", "gain_curve"])
def test_published_points_are_dots_and_scored_examples_are_lines_alone(chart):
    paper = pl.DataFrame(
        {"model": ["a", "b"], "tp": [60, 80], "fn": [40, 20], "fp": [2, 4], "tn": [198, 96]}
    )
    drawn = getattr(plot(paper), chart)(0.1, by="model", cells=("tp", "fp", "fn", "tn"))
    assert len(records(drawn, "dot")) == 2
    assert "ots: the points of the table" in subtitle(drawn)
    assert not records(getattr(plot(draw_groups("ab")), chart)(0.1, by="model"), "dot")


def test_names_of_lines_too_steep_for_them_stand_together_off_the_lines():
    paper = pl.DataFrame(
        {"model": ["a", "b"], "tp": [9, 7], "fn": [1, 3], "fp": [6, 12], "tn": [994, 988]}
    )
    chart = plot(paper).gain_curve(0.01, by="model", cells=("tp", "fp", "fn", "tn"))
    at = {row["text"]: (row["alerted"], row["recall"]) for row in records(chart, "name")}
    assert at["a"][1] > at["b"][1], "in the order of their lines"
    dots = [(row["alerted"], row["recall"]) for row in records(chart, "dot")]
    for x, y in at.values():
        assert all(abs(x - a) > 0.02 or abs(y - b) > 0.03 for a, b in dots)
    assert '"legend": {' not in json.dumps(chart.to_dict())


def test_a_roc_curve_says_what_half_of_the_positives_cost():
    frame = pl.concat(draw_scores(seed=k, pos=100, neg=2_000, model=m) for k, m in ((1, "a"), (2, "b")))
    table = frame.prc.sweep(by="model")
    half = table.filter(pl.col("recall") >= 0.5).group_by("model").agg(pl.col("fpr").min())
    said = heading(charts.roc_curve(table))
    assert re.match(r"At 50% recall( or more)?, the false positive rate is ", said)
    assert all(f"{plain(say_share(fpr))} for {model}" in said for model, fpr in half.rows())
    few = draw_scores(pos=10, neg=2_000).prc.sweep()
    assert heading(charts.roc_curve(few)).startswith("With 10 positives, ")


def test_gain_curve_is_recall_by_the_share_of_cases_alerted():
    frame = draw_scores(pos=50, neg=450)
    table = frame.prc.curve(0.02, metrics=("predicted_positive_rate",))
    chart = charts.gain_curve(table)
    exact = dict(table.select(pl.col("predicted_positive_rate").round(5), "recall").rows())
    drawn = points(chart, "alerted", "recall")
    assert drawn[0] == (0, 0)
    assert drawn[-1] == (1, 1)
    assert all(recall == pytest.approx(exact[round(x, 5)], rel=1e-4) for x, recall in drawn[1:])
    x, recall = ([0, *table[name]] for name in ("predicted_positive_rate", "recall"))
    tenth = float(np.interp(0.1, x, recall))
    [mark] = records(chart, "mark")
    assert mark["recall"] == pytest.approx(tenth, rel=1e-9)
    assert heading(chart) == plain(f"With a tenth of the cases flagged, recall is {say_share(tenth)}")


def test_decision_curve_draws_net_benefit_beside_that_of_treating_all_and_none():
    frame = make_posteriors(draw_groups("ab", neg=240, digits=3))
    risks = [k / 50 for k in range(1, 40)]
    table = frame.prc.decision_curve(probabilities=risks, confidence=0.95, by="model", columns="all")
    chart = charts.decision_curve(table.sample(fraction=1, shuffle=True, seed=1), confidence=0.95)
    low, _ = layer(chart, "line")["encoding"]["y"]["scale"]["domain"]
    names = ("net_benefit", "net_benefit_low", "net_benefit_high")
    for model in "ab":
        exact = table.filter(model=model)
        drawn = {
            row["threshold_probability"]: tuple(row[name] for name in names)
            for row in records(chart)
            if row["color"].startswith(model) and "net_benefit" in row
        }
        assert list(drawn) == sorted(drawn)
        for risk, value, *ends in exact.select("threshold_probability", *names).iter_rows():
            if value >= 0:
                shown = (value, *(max(end, low) for end in ends))
                assert drawn[risk] == pytest.approx(shown, rel=1e-4, abs=1e-6)
    lines = records(chart, "reference")
    assert min(row.get("net_benefit", low) for row in [*lines, *records(chart)]) >= low
    etas = table["eta"].unique().to_list()
    for row in lines:
        if row["ref"] != "0":
            [eta] = [eta for eta in etas if row["ref"] == f"all {eta:.6g}"]
            odds = row["threshold_probability"] / (1 - row["threshold_probability"])
            assert row["net_benefit"] == pytest.approx(eta - (1 - eta) * odds, abs=1e-4)
    assert {row["net_benefit"] for row in lines if row["ref"] == "0"} == {0}
    assert (
        plot(frame).decision_curve(probabilities=risks, confidence=0.95, by="model").to_dict()
        == charts.decision_curve(table, confidence=0.95).to_dict()
    )


def test_decision_curve_says_where_acting_is_surely_better():
    one = make_posteriors(draw_scores(pos=400, neg=1_600, digits=3))
    table = one.prc.decision_curve(confidence=0.95, columns="all")
    sure = table.filter(pl.col("net_benefit_low") > pl.max_horizontal(0, "treat_all"))
    low, high = (sure["threshold_probability"][k] for k in (0, -1))
    assert sure.height == round(100 * (high - low)) + 1
    said = (
        f"Net benefit is significantly above treat-all and treat-none at risks from {say_target(low)} to"
    )
    assert heading(charts.decision_curve(table)) == plain(f"{said} {say_target(high)}")
    without = charts.decision_curve(table.drop("net_benefit_low", "net_benefit_high"))
    at_eta = table.filter(pl.col("threshold_probability") == 0.2)["net_benefit"].item()
    benefit = f"{say_count(1_000 * at_eta, 2)} true positives per 1,000"
    assert heading(without) == plain(f"At a risk threshold of 20%, net benefit is {benefit}")
    [mark] = records(without, "mark")
    assert (mark["threshold_probability"], mark["net_benefit"]) == (0.2, pytest.approx(at_eta, rel=1e-5))
    assert "risk 20%" in [plain(str(row.get("text"))) for row in all_records(without)]
    rules = [row for row in records(without, "reference") if row["ref"] == "0.2"]
    assert [row["threshold_probability"] for row in rules] == [0.2, 0.2], "the title's risk is marked"
    twins = pl.concat(one.with_columns(model=pl.lit(name)) for name in "ab")
    assert heading(plot(twins).decision_curve(by="model")) == plain(
        f"At a risk threshold of 20%, net benefit is {benefit}"
    )
    few = pl.concat([one.filter(label=1).head(5), one.filter(label=0)])
    assert heading(plot(few).decision_curve()) == "With 5 positives, net benefit is known only roughly"
    useless = one.with_columns(score=pl.lit(0.2))
    said = "At no risk is net benefit significantly above treat-all and treat-none"
    assert heading(plot(useless).decision_curve(probabilities=[0.1, 0.3], confidence=0.95)) == said


@pytest.mark.parametrize("n_groups", [2, 8])
def test_decision_curves_of_groups_say_where_acting_is_better_in_all(n_groups):
    drawn = [
        make_posteriors(draw_scores(pos=150 + 40 * place, neg=1_600, digits=3, seed=place))
        for place in range(n_groups)
    ]
    frame = pl.concat(rows.with_columns(site=pl.lit(f"s{place}")) for place, rows in enumerate(drawn))
    table = frame.prc.decision_curve(by="site", columns="all")
    gain = pl.col("net_benefit") - pl.max_horizontal(0, "treat_all")
    is_better = (gain >= 0.02 * pl.col("net_benefit").max().over("site")) & (pl.col("fp") >= 5)
    risks = (
        table.with_columns(seen=is_better).group_by("threshold_probability").agg(pl.col("seen").sum())
    )
    risks = risks.sort("threshold_probability")
    sure = risks.filter(seen=n_groups)["threshold_probability"].to_list()
    assert len(sure) == round(100 * (sure[-1] - sure[0])) + 1, "one stretch"
    groups = "both groups" if n_groups == 2 else f"all {n_groups} groups"
    ends = f"at risks from {say_target(sure[0])} to {say_target(sure[-1])}"
    said = f"Net benefit is above treat-all and treat-none for {groups} {ends}"
    assert heading(charts.decision_curve(table)) == plain(said)
    risk, place_one = pl.col("threshold_probability"), f"at a risk of {say_target(sure[0])}"
    for useful, place in ((sure[:1], place_one), (sure[::2], "at some risks")):
        is_kept = risk.is_in(useful) | ~risk.is_in(sure)
        rows = table.with_columns(net_benefit=pl.when(is_kept).then("net_benefit").otherwise(0.0))
        said = f"Net benefit is above treat-all and treat-none for {groups} {place}"
        assert heading(charts.decision_curve(rows)) == plain(said), "a title without a stretch"
    useless = frame.with_columns(score=pl.when(site="s1").then(0.01).otherwise("score"))
    said = "Net benefit is above treat-all and treat-none at some risks for "
    found = heading(plot(useless).decision_curve(by="site"))
    assert re.match(f"{said}(all groups but s1|s0) ", found)
    none = frame.with_columns(score=pl.lit(0.01))
    assert heading(plot(none).decision_curve(by="site", confidence=0.95)) == (
        "At no risk is net benefit significantly above treat-all and treat-none for any group"
    )
    assert heading(plot(none).decision_curve(by="site")).startswith("Net benefit by risk")


def test_rare_prevalences_of_groups_have_a_log_axis_and_panels_in_order_of_name():
    rows = [
        draw_scores(pos=40, neg=200, digits=2).with_columns(m=pl.lit(m), c=pl.lit(c))
        for m in (0, 1)
        for c in "zab"
    ]
    etas = pl.DataFrame({"c": ["a", "b", "z"], "eta": [1e-4, 1e-3, 5e-3]})
    spec = read_spec(plot(pl.concat(rows, how="vertical_relaxed")).pr_curve(etas, by=["m", "c"]))
    assert re.findall(r"\b([abz]) \(1.in", json.dumps(spec, ensure_ascii=False))[:3] == ["a", "b", "z"]
    assert '"type": "log"' in json.dumps(spec)
    common = etas.with_columns(eta=pl.Series([1e-2, 2e-2, 0.5]))
    spec = read_spec(plot(pl.concat(rows, how="vertical_relaxed")).pr_curve(common, by=["m", "c"]))
    assert '"type": "log"' not in json.dumps(spec)


def test_threshold_curve_counts_alerts_as_its_points_do():
    one = draw_scores(pos=40, neg=400, digits=2)
    both = pl.concat([one.with_columns(m=0), one.with_columns(m=1, score=pl.col("score") + 0.01)])
    points = both.prc.operating_points(0.001, by="m", alerts=500_000, per=2_000_000, columns="all")
    chart = plot(both).threshold_curve(0.001, by="m", points=points)
    said = json.dumps(read_spec(chart), ensure_ascii=False)
    assert "Alerts per 2,000,000" in said.replace("\xa0", " ")
    assert points["alerts"].n_unique() == 1  # so the two points, which are neighbours, share a label
    label = say_count(points["alerts"][0], 2).replace("\xa0", "")
    texts = [row for row in all_records(chart) if str(row.get("part")).startswith("word")]
    texts = [str(row.get("text")).replace("\xa0", "") for row in texts]
    assert texts.count(label) == 1, (label, texts)


def test_prevalences_that_read_alike_are_said_once():
    from polars_prcurve.view.charts.parts.names_and_numbers import say_eta_range

    assert say_eta_range([1 / 273.2, 1 / 272.9]) == "1\xa0in\xa0270"
    assert say_eta_range([0.1, 0.2]) == "1\xa0in\xa010 to 1\xa0in\xa05"


def test_decision_curve_begins_where_people_act_on_rare_cases():
    models = [make_posteriors(draw_scores(pos=60, neg=90, digits=3)).with_columns(m=k) for k in range(3)]
    one = pl.concat(models)
    chart = plot(one).decision_curve(0.005, eta_train=0.4, by="m", confidence=0.95)
    spec = read_spec(chart)
    x = next(layer["encoding"]["x"] for layer in spec["layer"] if "x" in layer["encoding"])
    assert x["scale"]["type"] == "log"
    assert x["scale"]["domain"] == pytest.approx([0.0005, 0.1])
    assert heading(chart).startswith("At a risk threshold of ")
    lines = [row for row in records(chart) if "net_benefit" in row and row.get("doubt")]
    assert lines
    assert not any("net_benefit_low" in row and row["net_benefit_low"] is not None for row in lines)
    often = read_spec(plot(one).decision_curve(0.2, eta_train=0.4, by="m"))
    x = next(layer["encoding"]["x"] for layer in often["layer"] if "x" in layer["encoding"])
    assert x["scale"]["domain"] == pytest.approx([0, 0.99])


def test_decision_curve_at_rare_positives_has_panels_of_their_own_scale_and_a_log_axis():
    one = make_posteriors(draw_scores(pos=200, neg=800, digits=3))
    risks = [0, *np.geomspace(1e-5, 0.5, 30).tolist()]
    chart = plot(one).decision_curve([0.1, 1e-4], eta_train=0.2, probabilities=risks)
    spec = read_spec(chart)
    panels = spec["vconcat"][0]
    assert panels["resolve"] == {"scale": {"y": "independent"}}
    x = next(layer["encoding"]["x"] for layer in panels["spec"]["layer"] if "x" in layer["encoding"])
    assert x["scale"]["type"] == "log"
    assert "Not drawn: a risk of 0" in subtitle(chart)
    assert "true positives per million cases" in subtitle(chart)
    lowest = {}
    for row in [*records(chart), *records(chart, "reference")]:
        if "net_benefit" in row:
            lowest[row["facet"]] = min(row["net_benefit"], lowest.get(row["facet"], 0))
    assert lowest["1\xa0in\xa010,000"] > -0.41 * 1.05 * 1e-4
    twice = one.prc.decision_curve(columns="all").with_columns(group=1)
    both = pl.concat([twice, twice.with_columns(net_benefit=0.5 * pl.col("net_benefit"))])
    with pytest.raises(PrcError, match="several values at one risk"):
        charts.decision_curve(both.drop("group"))


def test_decision_curves_at_prevalences_far_apart_fill_their_panels():
    two = pl.concat(
        make_posteriors(draw_scores(seed=k, pos=200, neg=800, digits=3)).with_columns(model=pl.lit(m))
        for k, m in enumerate(("first", "second"))
    )
    chart = plot(two).decision_curve([0.2, 1e-4], eta_train=0.2, by="model")
    panels = read_spec(chart)["vconcat"][0]
    x = next(layer["encoding"]["x"] for layer in panels["spec"]["layer"] if "x" in layer["encoding"])
    assert x["scale"]["domain"] == pytest.approx([1e-5, 0.99])
    assert x["scale"]["type"] == "log", "the risks at which people act are far apart, too"
    assert sorted(names(chart)) == ["first", "second"], "names, and no legend"
    for panel in ("1 in 5", "1 in 10,000"):
        drawn = [row for row in all_records(chart) if plain(row.get("facet", "")) == panel]
        ends = [row["net_benefit"] for row in drawn if row["part"] == "base"]
        inside = [row["net_benefit"] for row in drawn if row.get("net_benefit") is not None]
        assert (min(inside), max(inside)) == (min(ends), max(ends)), "the pointer moves no scale"
        of_lines = [r["net_benefit"] or 0 for r in drawn if r["part"] == "curve" and "net_benefit" in r]
        assert max(of_lines) > 0.9 * max(ends)


def test_groups_at_prevalences_far_apart_have_decision_curves_of_their_own_scale():
    sizes = {"often": 400, "seldom": 2}
    parts = [draw_scores(pos=p, neg=600, digits=3).with_columns(g=pl.lit(g)) for g, p in sizes.items()]
    frame = pl.concat(make_posteriors(part) for part in parts)
    own = plot(frame).decision_curve(by="g")
    assert read_spec(own)["vconcat"][0]["resolve"] == {"scale": {"y": "independent"}}
    assert not records(own, "ghost"), "lines of another scale"
    many = draw_groups([f"name {k}" for k in range(9)], digits=3)
    chart = plot(make_posteriors(many)).decision_curve([0.3, 0.01], eta_train=0.2, by="model")
    panels = read_spec(chart)["vconcat"][0]
    assert panels["columns"] == 2, "a row per group, a column per prevalence"
    assert [plain(head) for head in panels["facet"]["sort"][:2]] == [
        "name 0 · 30%",
        "name 0 · 1%",
    ]


def test_heads_of_panels_keep_the_share_of_positives():
    frame = draw_groups([f"a name that is quite long {k}" for k in range(10)], neg=300)
    rows: dict[str, list[str]] = {}
    for row in all_records(charts.pr_curve(frame.prc.curve(by="model"))):
        if row.get("part", "").startswith("word") and not re.fullmatch(r"[\d.]+%?", row["text"]):
            rows.setdefault(row["facet"], []).insert(0, row["text"])
    assert len(rows) == 10
    written = {label: plain(" ".join(texts)) for label, texts in rows.items()}
    assert all(text == plain(label) for label, text in written.items()), "in rows, not cut"
    assert all(re.search(r"\(([\d.]+%|1 in \d+) positive\)$", plain(label)) for label in rows)


# How it looks ---------------------------------------------------------------------------------

SEEN_BY = {  # Machado, Oliveira and Fernandes 2009, full strength, on linear RGB
    "all": np.eye(3),
    "protanopes": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopes": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopes": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def linear_rgb(color: str) -> np.ndarray:
    value = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def contrast_on_white(color: str) -> float:
    """WCAG 2.1, relative luminance."""
    return 1.05 / (float(linear_rgb(color) @ [0.2126, 0.7152, 0.0722]) + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b*, D65."""
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
              [0.0193339, 0.1191920, 0.9503041]]  # fmt: skip
    x, y, z = np.array(to_xyz) @ np.clip(rgb, 0, 1) / [0.95047, 1, 1.08883]
    f = [np.cbrt(t) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29 for t in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_every_colour_stands_out_on_white():
    for color in (*COLORS, *ETA_COLORS, *mix_eta_colors(40)):
        assert contrast_on_white(color) >= 3, color
    assert contrast_on_white("#F0E442") == pytest.approx(1.32, abs=0.01)


def test_no_group_is_nearly_black():
    for color in COLORS:
        lightness, *hue = lab(linear_rgb(color))
        assert lightness > 15, color
        assert np.linalg.norm(hue) > 25, color


def test_texts_are_read_on_white():
    for color in (*COLORS, *ETA_COLORS):
        ink = darken_text(color)
        assert contrast_on_white(ink) >= 4.5, color
        levels = [[int(one[i : i + 2], 16) for i in (1, 3, 5)] for one in (color, ink)]
        hues = [colorsys.rgb_to_hsv(*one)[0] for one in levels]
        assert abs((hues[0] - hues[1] + 0.5) % 1 - 0.5) < 0.02, "the hue of the line"
    assert darken_text("white") == "white"
    frame = draw_groups("abc", neg=300)
    points_ = frame.prc.operating_points(0.1, recall=0.5, by="model", columns="all")
    chart = charts.pr_curve(frame.prc.curve(0.1, by="model"), points=points_)
    marks = [one["mark"] for one in chart.to_dict()["layer"] if one["mark"]["type"] == "text"]
    inks = [row["ink"] for row in records(chart, "name")]
    inks += [mark["color"] for mark in marks if mark.get("color", "white") != "white"]
    assert len(inks) >= 6
    assert all(contrast_on_white(ink) >= 4.5 for ink in inks)


@pytest.mark.parametrize("colors", [COLORS, DARK_COLORS], ids=["light", "dark"])
@pytest.mark.parametrize("eyes", SEEN_BY)
def test_any_two_colours_stay_apart(eyes, colors):
    seen = [lab(SEEN_BY[eyes] @ linear_rgb(color)) for color in colors]
    for first, n in ((2, 40), (8, 16)):
        apart = [np.linalg.norm(a - b) for i, a in enumerate(seen[:first]) for b in seen[:i]]
        assert min(apart) > n


def test_a_group_keeps_its_hue_on_a_dark_ground():
    for colors in zip(COLORS, DARK_COLORS, strict=True):
        hues = [math.degrees(math.atan2(*lab(linear_rgb(color))[:0:-1])) for color in colors]
        assert abs((hues[0] - hues[1] + 180) % 360 - 180) < 15, colors


def test_pictures_of_the_site_keep_contrast_and_hue_in_dark_mode():
    css = (Path(__file__).parent.parent / "docs" / "site.css").read_text(encoding="utf-8")
    assert '.md-content img[src$=".png"] { filter: invert(1) hue-rotate(180deg); ' in css
    # The matrix of hue-rotate(180deg), from https://www.w3.org/TR/filter-effects-1.
    weights = np.array([0.213, 0.715, 0.072])
    turn = 2 * np.tile(weights, (3, 1)) - np.eye(3)
    ground = np.array([0x1E, 0x21, 0x29]) / 255
    for color in (*COLORS, *ETA_COLORS):
        before = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        filtered = np.clip(turn @ (1 - before), 0, 1)
        shown = 1 - (1 - filtered) * (1 - ground)  # mix-blend-mode: screen
        low, high = sorted(measure_luminance(c) for c in (ground, shown))
        assert (high + 0.05) / (low + 0.05) >= 3
        hues = [colorsys.rgb_to_hsv(*c)[0] for c in (before, filtered)]
        gap = abs((hues[0] - hues[1] + 0.5) % 1 - 0.5)
        assert gap <= (0.15 if color == "#2802A9" else 0.07)  # the one whose brightness has no room


def measure_luminance(color: np.ndarray) -> float:
    linear = np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_doubt_is_dotted_and_groups_never_are():
    table = draw_groups("abc", neg=2_000, digits=6).prc.curve(0.01, by="model")
    chart = charts.pr_curve(table)
    lines = [one for one in inner(chart)["layer"] if one["mark"]["type"] == "line"]
    dotted = [one for one in lines if "strokeDash" in one["mark"]]
    assert [one["transform"][-2]["filter"] for one in dotted] == [
        "datum.doubt === 1 && datum.grey !== 1"
    ]
    assert not any("strokeDash" in one["encoding"] for one in lines)
    assert "Dotted: fewer than 5 false positives" in subtitle(chart)
    few = table.filter(pl.col("fp") < 5).group_by("model").agg(pl.col("recall").max())
    for model, recall in few.filter(pl.col("recall") > 0).rows():
        doubted = [r["recall"] for r in records(chart) if r["color"] == model and "doubt" in r]
        assert max(doubted) == pytest.approx(recall, rel=1e-5)
    table = draw_groups("ab").prc.summary(
        GRID, metrics="average_precision", by="model", confidence=0.95, columns="all"
    )
    spoilt = table.with_columns(doubt=pl.when(pl.col("eta") <= 0.01).then(pl.lit("few positives")))
    drawn = records(charts.metric_by_eta(spoilt))
    assert {row["eta"] for row in drawn if "doubt" in row} == {0.001, 0.01, 0.1}


def test_names_stand_at_lines_up_to_six_and_apart():
    for n in (2, 6):
        frame = draw_groups([f"model {k}" for k in range(n)], neg=2_000, digits=6)
        chart = charts.metric_by_eta(
            frame.prc.summary(GRID, metrics="average_precision", by="model", columns="all")
        )
        assert names(chart) == [f"model {k}" for k in range(n)]
        heights = sorted(row["value"] for row in records(chart, "name"))
        assert min(np.diff(heights)) * 324 > 12.5 * 0.9
        assert "legend" not in json.dumps(layer(chart, "line")["encoding"]["color"]).replace(
            '"legend": null', ""
        )
    seven = draw_groups("abcdefg").prc.curve(0.1, by="model")
    assert channels(charts.pr_curve(seven)) == (None, "model"), "more have a panel each"
    assert {row["curve"] for row in records(charts.pr_curve(seven), "ghost")} == {*range(7)}
    legend = charts.pr_curve(seven, color="model")
    assert names(legend) == []
    assert layer(legend, "line")["encoding"]["color"]["legend"]["values"] == list("abcdefg")


def test_no_name_stands_beyond_another_line():
    """Where two lines cross in the middle, the best place for a name would be beyond the other one."""
    falling, level = np.linspace(20, 200, 100), np.full(100, 110.0)
    lines = {"falling": falling, "level": level}
    place = place_beside(lines, ["falling", "level"], LabelSpace(396, 220))["falling"]
    columns = slice(int(place.x // 4), int((place.x + 50) // 4))
    assert not ((level - place.y) * (level - falling))[columns].min() < 0
    assert place_beside(lines, ["falling"], LabelSpace(396, 220))["falling"] != place, (
        "a grey one may be"
    )


def test_rounded_counts_are_no_powers():
    texts = [plain(say_count(number, 2)) for number in (9.96, 99.4, 99.6, 999.7)]
    assert texts == ["10", "99", "100", "1,000"]


def test_words_without_a_free_place_are_in_the_note():
    """A name that a curve runs through could not be read, and its line needs one."""
    frame = make_posteriors(draw_scores(pos=400, neg=1_600))
    table = frame.prc.decision_curve(confidence=None, columns="all")
    texts = {plain(row.get("text", "")) for row in all_records(charts.decision_curve(table, width=60))}
    assert "treat all" not in texts
    assert "treat all" in subtitle(charts.decision_curve(table, width=60))


def test_labels_at_ends_keep_their_gap():
    placed = spread_at_ends([50.0, 52.0, 51.0, 300.0], [16] * 4, 320)
    assert np.diff(sorted(placed)).min() >= 16 - 1e-9
    assert [int(k) for k in np.argsort(placed)] == [0, 2, 1, 3]
    assert placed[3] == 300
    assert max(spread_at_ends([319.0] * 3, [16] * 3, 320)) <= 320
    tall = spread_at_ends([50.0, 51.0, 52.0], [10, 40, 20], 320)
    assert np.diff(tall).tolist() == pytest.approx([25, 30]), "names of several rows take more room"


def make_extremes() -> pl.DataFrame:
    """A model that is nearly perfect, and one that is as good as a coin."""
    rng = np.random.default_rng(5)
    label = rng.random(1_500) < 0.1
    scores = {"perfect": 9.0 * label, "coin": 0.0 * label}
    wide = pl.DataFrame({"label": label, **{k: v + rng.normal(size=1_500) for k, v in scores.items()}})
    return wide.prc.unpivot_scores(["perfect", "coin"], name="model")


def test_names_stay_off_lines_that_are_shorter_than_a_name():
    """A grey line that ends above the middle of a name is as much in its way as a long one."""
    flat = np.full(100, 60.0)
    short = np.full(100, math.nan)
    short[48:53] = np.linspace(30, 60, 5)
    lines, space = {"a name": flat, "\0rule": short}, LabelSpace(396, 120)
    [place] = place_beside(lines, ["a name"], space).values()
    assert place.y > 60 or not 192 - 60 < place.x < 212


def test_labels_of_points_are_off_the_drop_at_the_end_of_a_line():
    points_ = make_extremes().prc.operating_points([0.3, 0.05], recall=0.9, by="model", columns="all")
    chart = make_extremes().prc.plot.pr_curve([0.3, 0.05], by="model", points=points_)
    found = [one for one in inner(chart)["layer"] if one["mark"].get("fontWeight") == "bold"]
    inks = {*map(darken_text, COLORS)}
    found = [one["mark"] for one in found if "dx" in one["mark"] and one["mark"].get("color") in inks]
    assert len(found) >= 2
    lefts = [250 * 0.9 + mark["dx"] - (24 if mark["align"] == "right" else 0) for mark in found]
    assert not any(left < 250 < left + 24 for left in lefts)


def test_alerts_at_random_are_named_where_no_line_runs():
    chart = charts.pr_curve(make_extremes().prc.curve(0.1, by="model"))
    [word] = [row for row in all_records(chart) if plain(row.get("text", "")) == "alerts at random"]
    assert word["recall"] > 0, "the coin runs through the left end"


def test_groups_at_their_own_shares_are_one_phrase():
    chart = charts.gain_curve(draw_groups("ab", neg=150).prc.curve(by="model"))
    assert ", each group at its own prevalence, 12%" in subtitle(chart)
    assert ",," not in subtitle(chart)


def test_panels_of_groups_come_by_their_value():
    frame = draw_groups("abcdefghij", neg=300)
    chart = charts.pr_curve(frame.prc.curve(0.1, by="model"))
    order = chart.to_dict()["vconcat"][0]["facet"]["sort"]
    values = frame.prc.summary(0.1, by="model", metrics="average_precision", columns="all")
    best = values.sort("value", descending=True)
    assert order == best["model"].to_list()
    said = {row["facet"]: row["text"] for row in all_records(chart) if row.get("text", "")[:2] == "0."}
    assert said == {row["model"]: f"{row['value']:.2f}" for row in best.iter_rows(named=True)}
    assert "Number: area under the line" in subtitle(chart)
    ghosts = [row for row in all_records(chart) if row.get("part") == "ghost"]
    assert {row["curve"] for row in ghosts} == set(range(10))
    assert not any("facet" in row for row in ghosts), "they stand in every panel"


def test_the_number_of_a_panel_of_few_positives_is_thin():
    number = pl.col("label").cum_sum().over("model")
    is_kept = (pl.col("label") == 0) | (pl.col("model") > "a") | (number <= 5)
    few = draw_groups("abcd", neg=300).filter(is_kept)
    chart = charts.pr_curve(few.prc.curve(0.1, by="model"), facet="model")
    heads = [row for row in all_records(chart) if row.get("text", "")[:2] == "0."]
    weights = {
        row["facet"]: layer(chart, "text", row["part"])["mark"].get("fontWeight") for row in heads
    }
    assert {label for label, weight in weights.items() if weight != "bold"} == {"a"}


def test_panels_of_prevalences_run_from_common_to_rare():
    table = draw_groups("ab").prc.curve(eta=[0.001, 0.5, 0.05], by="model")
    facet = charts.pr_curve(table).to_dict()["vconcat"][0]["facet"]
    assert list(map(plain, facet["sort"])) == ["1 in 2", "1 in 20", "1 in 1,000"]


def test_precision_has_a_log_axis_where_positives_are_rare():
    frame = draw_scores(neg=2_000)

    def kind(chart) -> str:
        return layer(chart, "line")["encoding"]["y"]["scale"].get("type", "linear")

    assert kind(charts.pr_curve(frame.prc.curve(0.001))) == "log"
    assert kind(charts.pr_curve(frame.prc.curve(0.1))) == "linear"
    coin = frame.with_columns(label=pl.col("label").shuffle(seed=3))
    good = frame.with_columns(score=pl.col("score") + 2 * pl.col("label"))
    for scores, wanted in ((good, "linear"), (coin, "log")):
        assert kind(charts.pr_curve(scores.prc.curve([0.005, 0.1]))) == wanted, "no line is at the foot"
        assert kind(charts.pr_curve(scores.prc.curve([0.02, 0.1]))) == "linear", "not where it is bad"
    assert kind(charts.pr_curve(frame.prc.curve([1e-5, 0.5]))) == "log", "no panel is empty"
    for eta, wanted in ((0.001, "log"), (0.1, "linear")):
        first = charts.threshold_curve(frame.prc.curve(eta)).to_dict()["vconcat"][0]["layer"][0]
        assert first["encoding"]["y"]["scale"].get("type", "linear") == wanted
    assert kind(plot(frame).pr_curve(0.001, log_y=False)) == "linear"
    assert kind(plot(frame).pr_curve(0.1, log_y=True)) == "log"


def test_thresholds_of_many_groups_and_prevalences_stay_readable():
    twelve = draw_groups("abcdefghijkl").prc.curve(0.1, by="model")
    assert len(charts.threshold_curve(twelve).to_dict()["vconcat"]) == 3
    chart = charts.threshold_curve(draw_scores().prc.curve([0.5, 0.01]))
    with_recall = {row["curve"] for row in records(chart) if "recall" in row}
    assert len(with_recall) == 1, "recall is the same at every prevalence"
    rare = charts.threshold_curve(draw_scores().prc.curve([0.005, 0.001]))
    assert "Alerts per million" in json.dumps(rare.to_dict())


def test_a_legend_stands_above_the_strip_of_those_that_are_best():
    scores = {name: draw_scores(seed=seed)["score"] for seed, name in enumerate("abcdefgh")}
    table = prc(draw_scores().with_columns(**scores), score=[*scores])
    chart = table.plot.metric_by_eta(confidence=0.95, title=False)
    drawn = read_drawing(chart.to_dict()).texts
    foot = max(text.bottom for text in drawn if text.text in [*"abcdefgh"])
    assert foot + 8 < min(text.top for text in drawn if "clear winner" in text.text)


def test_eight_groups_at_many_prevalences_have_a_legend_over_all_columns():
    """Vega draws the legend of the first column alone."""
    table = draw_groups("abcdefgh", neg=1_000).prc.curve([0.1, 0.001], by="model")
    chart = charts.threshold_curve(table).to_dict()
    first, second = (column["vconcat"][0]["layer"][0] for column in chart["vconcat"][0]["concat"])
    assert first["encoding"]["color"]["legend"]["values"] == list("abcdefgh")
    assert "color" not in second["encoding"]
    scene = json.dumps(vl_convert.vegalite_to_scenegraph(chart))
    assert '"legend-label"' in scene


def test_axes_keep_their_end_labels_and_sides():
    x = layer(charts.pr_curve(draw_scores().prc.curve(0.1)), "line")["encoding"]["x"]
    assert x["axis"]["labelFlush"] is False
    assert (x["axis"]["values"][0], x["axis"]["values"][-1]) == (0, 1)
    line = layer(charts.prg_curve(draw_scores().prc.curve(0.1)), "line")
    assert line["mark"]["strokeJoin"] == "round"


def test_no_number_is_broken_at_a_line_end():
    chart = charts.pr_curve(draw_scores(pos=1_048, neg=18_952).prc.curve(1e-5, confidence=0.95))
    lines = "\n".join(row["note"] for row in all_records(chart) if "note" in row).split("\n")
    lines += chart.to_dict()["title"]["text"]
    assert "1,048 positives" in " ".join(lines)
    assert not any(
        re.search(r"\d$|\b1 in$", line) and re.match(r"\d", after) for line, after in pairwise(lines)
    )


def test_names_stand_off_thin_grey_lines():
    recall = np.linspace(0.01, 1, 100)
    precision = {"a" * 18: 0.2 - 0.08 * recall, "b" * 18: 0.22 - 0.075 * recall}
    frame = pl.concat(
        pl.DataFrame({"model": name, "tpr": recall, "fpr": recall * (1 / share - 1) / 9}, strict=False)
        for name, share in precision.items()
    )
    chart = charts.pr_curve(frame.prc.curve(0.1, by="model", rates=("tpr", "fpr")), title=False)
    [level] = {row["precision"] for row in records(chart, "reference")}
    heights = [row["precision"] for row in records(chart, "name")]
    assert len(heights) == 2
    assert all(abs(height - level) * inner(chart)["height"] > 8 for height in heights)


def test_no_two_groups_have_one_colour():
    frame = crossed("abcdefghijkl", "x")
    chart = charts.pr_curve(frame.prc.curve(0.1, by="model"), color="model")
    colors = next(
        part["encoding"]["color"]["scale"]["range"]
        for part in inner(chart)["layer"]
        if "scale" in part.get("encoding", {}).get("color", {})
    )
    assert len(colors) == 12
    own = [color for color in colors if color != OTHERS]
    assert 0 < len(own) == len(set(own)) <= 8
    assert "dash" not in subtitle(chart).lower()


def test_lines_join_without_spikes():
    frame = crossed("abcdefghijkl", "x").with_columns(site=pl.lit("x"))
    table = frame.prc.curve(0.1, by="model", metrics="precision")
    lines = [part["mark"] for part in inner(charts.pr_curve(table))["layer"]]
    lines = [mark for mark in lines if mark["type"] == "line" and "interpolate" in mark]
    assert len(lines) > 1
    assert {mark["strokeJoin"] for mark in lines} == {"round"}


def test_what_rests_on_few_false_alerts_is_dotted_by_prevalence_too():
    counts = pl.DataFrame(
        {
            "model": ["few", "few", "known", "known"],
            "score": [1.0, 0.0] * 2,
            "n_pos": [3, 2, 30, 20],
            "n_neg": [2, 398, 20, 380],
        }
    )
    points_at = counts.prc.operating_points(
        [0.5, 0.1, 0.01],
        recall=0.5,
        by="model",
        counts=("n_pos", "n_neg"),
        confidence=0.95,
        columns="all",
    )
    chart = charts.p3_curve(points_at)
    unsure = set(points_at.filter(pl.col("doubt").is_not_null())["model"])
    assert {row["color"] for row in records(chart) if row.get("doubt")} == unsure | {"few"}
    assert "Dotted: the interval is in doubt: few positives" in subtitle(chart)
    alone = charts.p3_curve(points_at.drop("doubt"))
    assert {row["color"] for row in records(alone) if row.get("doubt")} == {"few"}
    assert "Dotted: fewer than 5 false positives" in subtitle(alone)


def test_titles_of_several_lines_tell_what_each_has():
    three = draw_groups("abc", neg=4_000).with_columns(model=pl.format("model {}", "model"))
    found = three.prc.operating_points(0.05, recall=0.5, by="model", columns="all")  # in order of name
    start = "At 50% recall or more, precision is"  # one has 51%
    said = [f"{say_share(row['precision'])} for {row['model']}" for row in found.to_dicts()]
    assert heading(plot(three).pr_curve(0.05, by="model")) == plain(
        f"{start} {said[2]}, {said[1]} and {said[0]}"
    )
    panels = plot(three).pr_curve([0.5, 0.2, 0.05], by="model")
    ends = [
        three.prc.operating_points(eta, recall=0.5, by="model", columns="all")["precision"]
        for eta in (0.5, 0.05)
    ]
    said = [
        " to ".join(f"{say_share(end[k])} for model {'abc'[k]}" for k in (end.arg_min(), end.arg_max()))
        for end in ends
    ]
    where = f"from {said[0]} at a prevalence of 1 in 2; from {said[1]} at 1 in 20"
    assert heading(panels) == plain(f"{start.replace(' is', ' ranges')} {where}")
    long = three.with_columns(model=pl.format("{}, retrained in spring", "model"))
    shown = heading(plot(long).gain_curve(0.05, by="model"))
    assert re.search(r"recall ranges from \d+% for .* to \d+% for ", shown), (
        "three long names are a range"
    )
    novel = three.with_columns(model=pl.format("{} {}", "model", pl.lit("x" * 50)))
    assert re.fullmatch(
        r"With a tenth of the cases flagged, recall ranges from [\d.]+% to [\d.]+%",
        heading(plot(novel).gain_curve(0.05, by="model")),
    )


def test_panels_of_groups_tell_the_areas_of_those_that_are_known():
    parts = [draw_scores(seed=k, pos=3 if k == 0 else 40, model=f"m{k}") for k in range(10)]
    frame = pl.concat(parts)
    areas = frame.prc.summary(0.5, metrics="roc_auc", by="model", columns="all").filter(
        pl.col("model") != "m0"
    )
    low, high = (areas.sort("value").row(k, named=True) for k in (0, -1))
    ends = (f"{row['value']:.2g} for {row['model']}" for row in (low, high))
    said = f"Among models with 20 positives or more, ROC AUC ranges from {' to '.join(ends)}"
    assert heading(plot(frame).roc_curve(by="model")) == said
    known = frame.filter(pl.col("model") != "m0")
    assert heading(plot(known).roc_curve(by="model")) == said.partition(", ")[2]
    own = plot(known.filter(pl.int_range(pl.len()) != 3)).pr_curve(by="model")
    said = (
        r"At 50% recall( or more)?, precision ranges from \S+ for m\d \(.+ positive\) to .+ positive\)"
    )
    assert re.fullmatch(said, heading(own)), "each at its prevalence"
    assert "Precision by recall, each group at its own prevalence, 20%" in subtitle(own)


PAPERS = pl.DataFrame(
    {
        "paper": ["A"] * 4 + ["B"] * 4 + ["C"],
        "tpr": [0.35, 0.6, 0.8, 0.92, 0.45, 0.7, 0.85, 0.9, 0.9],
        "fpr": [0.0005, 0.01, 0.06, 0.2, 0.002, 0.012, 0.05, 0.15, 0.01],
    }
)


def test_published_points_are_dots():
    """A single point of a 2x2 table is one dot, and the intervals are those of the points."""
    how = {"cells": ("tp", "fp", "fn", "tn"), "confidence": 0.95}
    one = pl.DataFrame({"tp": [90], "fp": [40], "fn": [10], "tn": [3960], "t": [0.5]})
    chart = plot(one.drop("t")).pr_curve(0.01, **how)
    [dot] = [row for row in all_records(chart) if row.get("part") == "dot"]
    precision = 0.9 * 0.01 / (0.9 * 0.01 + 0.01 * 0.99)
    assert (dot["recall"], dot["precision"]) == pytest.approx((0.9, precision), rel=1e-5)
    assert "at the precision of the next dot. Shaded: 95% intervals of these points" in subtitle(chart)
    assert "50% recall" not in heading(chart)
    known = plot(one).pr_curve(0.01, score="t", **how)
    assert not [row for row in all_records(known) if row.get("part") == "dot"]
    papers = plot(PAPERS).pr_curve(0.01, by="paper", rates=("tpr", "fpr"))
    assert len([row for row in all_records(papers) if row.get("part") == "dot"]) == PAPERS.height
    assert "Shaded" not in subtitle(papers)


def test_limits_of_published_points_are_shaded_and_called_so():
    how = {"by": "paper", "rates": ("tpr", "fpr")}
    chart = plot(PAPERS).metric_by_eta([0.001, 0.1], coarse=True, **how)
    limits = PAPERS.prc.summary([0.001, 0.1], metrics="pr_auc", coarse=True, columns="all", **how)
    drawn = sorted({row["low"] for row in records(chart) if "low" in row})
    assert drawn == pytest.approx(limits["low"].sort().to_list(), rel=1e-6)
    assert "Shaded: the limits of each value" in subtitle(chart)


def test_thresholds_say_what_half_recall_takes():
    one = draw_scores(pos=200, neg=2_000, digits=8)
    table = one.prc.curve(0.1)
    row = table.filter(pl.col("recall") >= 0.5).row(0, named=True)
    shares = " and recall ".join(map(plain, say_shares([row["precision"], row["recall"]])))
    assert heading(charts.threshold_curve(table)).endswith(f", precision is {shares}")
    several = heading(charts.threshold_curve(one.prc.curve([0.1, 0.01])))
    assert re.match(r"At 50% recall, precision is \d+% at a prevalence of 1 in 10 and ", several)
    parts = [draw_scores(seed=k, pos=200, neg=2_000, digits=8, g=g) for k, g in enumerate("ab")]
    groups = pl.concat([parts[0], parts[1].with_columns(pl.col("score") - 3)])
    said = heading(charts.threshold_curve(groups.prc.curve(0.1, by="g")))
    assert re.fullmatch(r"At 50% recall, precision is \d+% for \w and \d+% for \w", said)
    few = charts.threshold_curve(draw_scores(pos=10).prc.curve(0.1))
    assert heading(few).startswith("With 10 positives, ")


def test_a_ranking_that_settles_nothing_says_so():
    ranks = trading().prc.ranking([0.001, 0.5], model="model", columns="all")
    ranks = ranks.with_columns(behind=0.0, may_be_best=True)
    names_ = ranks["model"].unique(maintain_order=True).sort().to_list()
    said = f"No clear winner between {' and '.join(names_)} at both prevalences tested"
    assert heading(charts.ranking(ranks)) == said


def test_a_ranking_claims_an_order_only_where_it_is_settled():
    ranks = trading().prc.ranking([0.001, 0.5], model="model", columns="all")
    told = "On this test set, late and sure change places near a prevalence of 1 in 45"
    assert heading(charts.ranking(ranks)) == told, "nothing is tested"
    is_first = pl.col("rank") == 1
    sure = ranks.with_columns(behind=0.0, may_be_best=is_first)
    assert (
        heading(charts.ranking(sure)) == "sure is better at a prevalence of 1 in 1,000, late at 1 in 2"
    )
    rare = ranks.with_columns(behind=0.0, may_be_best=(pl.col("eta") > 0.01) | is_first)
    said = "sure is better at a prevalence of 1 in 1,000; no clear winner at 1 in 2"
    assert heading(charts.ranking(rare)) == said
    common = ranks.with_columns(behind=0.0, may_be_best=(pl.col("eta") < 0.01) | is_first)
    said = "late is better at a prevalence of 1 in 2; no clear winner at 1 in 1,000"
    assert heading(charts.ranking(common)) == said


def test_zones_hold_the_places_that_are_not_settled():
    frame = make_six()
    names_ = [name for name in frame.columns if name != "label"]
    chart = plot(frame).ranking([0.01, 0.1, 0.5], score=names_, confidence=0.95)
    ranks = frame.prc.ranking([0.01, 0.1, 0.5], score=names_, confidence=0.95, columns="all")
    asked = {"score": names_, "metrics": "average_precision", "adjust": "holm"}
    pairs = frame.prc.compare([0.01, 0.1, 0.5], columns="all", **asked)
    assert (
        chart.to_dict()
        == charts.ranking(ranks, pairs=pairs, metric="average_precision", confidence=0.95).to_dict()
    )
    settled = {
        (eta, frozenset((a, b))): known
        for eta, a, b, known in pairs.select("eta", "model_a", "model_b", "significant").rows()
    }
    zones = [(row["eta"], row["to"], row["rank"], row["foot"]) for row in records(chart, "zone")]
    for eta, each in ranks.partition_by("eta", as_dict=True).items():
        order = each.sort("rank")["model"].to_list()
        last = max(k for k, known in enumerate(each.sort("rank")["may_be_best"]) if known)
        for k, two in enumerate(pairwise(order)):
            over = [(a, b) for a, b, top, foot in zones if top < k + 1 and foot > k + 2]
            is_open = k < last or (k > 0 and not settled[eta[0], frozenset(two)])
            if eta[0] == 0.1:  # zones end at the settled prevalences beside them
                assert any(a < 0.1 < b for a, b in over) == is_open, two
            else:
                assert any(a <= eta[0] <= b for a, b in over) >= is_open, (eta, two)
    assert any(zones)
    without = charts.ranking(ranks, confidence=0.95)
    assert "Tested: only who is first" in subtitle(without)
    check_data(chart)
    check_data(plot(frame).ranking([0.1], score=names_, metric="roc_auc", confidence=0.95))


def test_ranks_of_published_points_are_dotted_where_their_limits_leave_them_open():
    paper = pl.DataFrame({"m": ["a", "b", "c"], "tp": [60, 55, 2], "fn": [40, 45, 98], "fp": [1, 1, 90]})
    paper = paper.with_columns(tn=100 - pl.col("fp"))
    options = {"model": "m", "cells": ("tp", "fp", "fn", "tn")}
    plain_chart = plot(paper).ranking([0.1, 0.5], **options)
    assert "Not tested: whether another test set would give this order" in subtitle(plain_chart)
    limits = paper.prc.ranking([0.1, 0.5], coarse=True, columns="all", **options)
    chart = plot(paper).ranking([0.1, 0.5], coarse=True, **options)
    assert chart.to_dict() == charts.ranking(limits, metric="pr_auc").to_dict()
    dotted = {row["color"] for row in records(chart) if "doubt" in row}
    assert dotted >= set(limits.filter("may_be_best")["model"]) == {"a", "b"}
    assert "Grey zones: the order is unknown, since nothing is known" in subtitle(chart)


def test_a_parameter_of_a_metric_follows_its_name():
    table = trading().prc.summary(
        [0.1, 0.5], by="model", metrics=("average_precision", "precision_at_recall(0.5)"), columns="all"
    )
    words = {row.get("text") for row in all_records(charts.metric_by_eta(table))}
    assert {"Average precision", "Precision at recall 0.5"} <= words


def test_names_stand_at_lines_that_rise_at_once():
    n = 50
    perfect = pl.DataFrame({"model": "a", "score": range(2 * n), "label": [0] * n + [1] * n})
    other = perfect.with_columns(model=pl.lit("b"), score=perfect["score"] % 10)
    chart = charts.roc_curve(pl.concat([perfect, other]).prc.sweep(by="model"))
    [height] = [row["recall"] for row in records(chart, "name") if row["text"] == "a"]
    assert height > 0.9, "the line of a perfect model is at 1 wherever a name has room"


def test_narrow_panels_have_long_names_in_rows_and_no_legend():
    names_ = ["gradient boosting, weights of the field", "logistic regression on splines, elastic net"]
    frame = draw_groups(names_, neg=900)
    chart = charts.pr_curve(frame.prc.curve([0.1, 0.01], by="model"))
    found = {row["color"] for row in records(chart, "name")}
    assert found == set(names_), "a click on any row brings out the line"
    assert all("\n" in name for name in names(chart))
    assert '"legend": {' not in json.dumps(chart.to_dict())
    at = {row["color"]: row["precision"] for row in records(chart, "name")}
    rows = {name.replace("\n", " "): name.count("\n") + 1 for name in names(chart)}
    (high, _), (low, _) = sorted(((y, name) for name, y in at.items()), reverse=True)
    height = layer(chart, "line")["encoding"]["y"]["scale"]["domain"]
    pixels = (high - low) / (height[1] - height[0]) * 200
    assert pixels >= 14.5 * sum(rows.values()) / 2, "rows of two names stay apart"


def test_thresholds_in_panels_have_names_in_one_and_no_legend():
    frame = draw_groups(["first", "second"], neg=400)
    spec = charts.threshold_curve(frame.prc.curve([0.5, 0.1, 0.001], by="model")).to_dict()
    text = json.dumps(spec)
    assert '"legend": {' not in text
    assert text.count('"text": "first"') == 1


def test_the_line_of_treating_all_stays_inside_the_chart():
    frame = make_posteriors(draw_scores(pos=5, neg=400))
    chart = charts.decision_curve(frame.prc.decision_curve(columns="all"))
    low, high = layer(chart, "line")["encoding"]["y"]["scale"]["domain"]
    heights = [row["net_benefit"] for row in records(chart, "reference")]
    assert len(heights) > 2
    assert low - 1e-6 <= min(heights) <= max(heights) <= high + 1e-6


def test_precision_at_half_recall_is_the_finding_if_it_is_known_well():
    parts = [draw_scores(seed=k, pos=200, neg=4_000, model=name) for k, name in enumerate("ab")]
    frame = pl.concat(parts)
    found = frame.prc.operating_points(0.1, recall=0.5, by="model", columns="all")["precision"]
    chart = charts.pr_curve(frame.prc.curve(0.1, by="model"))
    (first, second), (better, worse) = ("ab", found) if found[0] >= found[1] else ("ba", found[::-1])
    said = f"{say_share(better)} for {first} and {say_share(worse)} for {second}"
    assert heading(chart) == plain(f"At 50% recall, precision is {said}")
    assert "at a prevalence of 1 in 10" in subtitle(chart).replace("\xa0", " ")
    other = frame.prc.operating_points(0.1, recall=0.4, by="model", columns="all")
    marked = charts.pr_curve(frame.prc.curve(0.1, by="model"), points=other)
    values = say_shares([*other["precision"]])
    each = " and ".join(
        f"{plain(words)} for {name}"
        for words, name in sorted(zip(values, "ab", strict=True), reverse=True)
    )
    assert heading(marked).replace(" or more", "") == f"At 40% recall, precision is {each}"
    mixed = pl.concat([other, frame.prc.operating_points(0.1, recall=0.5, by="model", columns="all")])
    marked = charts.pr_curve(frame.prc.curve(0.1, by="model"), points=mixed)
    assert heading(marked).startswith("At 40% recall"), "of several targets the first one is told"
    few = frame.filter(pl.int_range(pl.len()) % 20 == 0)
    assert heading(charts.pr_curve(few.prc.curve(0.1, by="model"))).startswith("With 10 positives, ")


def test_gains_where_positives_are_rare_begin_near_a_recall_of_10_percent():
    frame = draw_scores(digits=8)
    chart = charts.prg_curve(frame.prc.curve(0.01))
    high, _ = layer(chart, "line")["encoding"]["x"]["scale"]["domain"]
    assert high == pytest.approx(9 * 0.01 / 0.99, rel=1e-5)
    assert "The axis begins at a recall of 10%" in subtitle(chart)
    drawn = points(chart, "recall_rest", "precision_rest")
    sweep = frame.prc.sweep()
    fpr = np.interp(0.1, [0, *sweep["recall"]], [0, *sweep["fpr"]])
    best = layer(chart, "line")["encoding"]["y"]["scale"]["domain"][1]
    assert drawn[0] == (pytest.approx(high), pytest.approx(max(fpr / 0.1, best), rel=1e-4))
    assert max(x for x, _ in drawn) == drawn[0][0]
    n = sweep.filter(pl.col("recall") < 0.1).height
    assert n == 0 or f"Not shown: {n} points left of the axis" in subtitle(chart)
    linear = layer(charts.prg_curve(frame.prc.curve(0.1)), "line")["encoding"]["x"]["scale"]["domain"]
    assert linear == [0, 1]
    rare = charts.prg_curve(frame.prc.curve(1e-15))
    assert png(rare).startswith(PNG)


def test_a_difference_says_that_intervals_of_few_examples_are_too_narrow():
    ends = {"difference": 0.5, "low": 0.2, "high": 0.8}
    models = {"metric": "average_precision", "model_a": "a", "model_b": "b"}
    for resolved in (True, False):
        table = pl.DataFrame({"eta": [0.01, 0.1], **models, **ends, "significant": resolved})
        [note] = [row["note"] for row in all_records(charts.difference(table)) if "note" in row]
        said = note.replace("\n", " ")
        assert ("too narrow" in said) is not resolved
        assert ("Dotted: not significant, or in doubt" in said) is not resolved


def test_grey_points_have_no_numbers():
    frame = draw_groups("abcdefghijkl", neg=300)
    points_ = frame.prc.operating_points(0.1, recall=0.5, by="model", columns="all")
    chart = charts.threshold_curve(frame.prc.curve(0.1, by="model"), points=points_)
    shown = {row["color"] for row in records(chart) if not row.get("grey")}
    found = points_.filter(pl.col("model").is_in(list(shown)))
    said = {plain(row["text"]) for row in all_records(chart) if "word" in row.get("part", "")}
    numbers = {text for text in said if text.endswith("%")}
    wanted = {plain(say_share(v)) for name in ("precision", "recall") for v in found[name]}
    assert numbers
    assert numbers <= wanted
    assert len(records(chart, "mark")) == len(found)
    assert len(records(chart, "grey mark")) == len(points_) - len(found), "they are drawn, and small"


def test_names_stand_off_the_rule_of_what_a_point_holds_for():
    sizes = {"score": [3, 2, 3, 2], "p": [10, 90, 10, 90], "n": [10, 112, 40, 360]}
    frame = pl.DataFrame({"model": ["a long name"] * 2 + ["b"] * 2, **sizes})
    table = frame.prc.curve(by="model", counts=("p", "n"))
    points_ = frame.head(2).prc.operating_points(
        recall=0.1, by="model", counts=("p", "n"), columns="all"
    )
    held = points_.with_columns(holds_from="threshold", holds_to=pl.lit(2), guarantee=0.95)
    chart = charts.pr_curve(table, points=held, title=False)
    heights = [row["precision"] for row in records(chart, "name")]
    rules = [row["precision"] for row in records(chart, "span")]
    assert (len(heights), len(rules)) == (2, 1)
    assert all(abs(a - b) * inner(chart)["height"] > 8 for a in heights for b in rules)


def test_words_in_narrow_panels_of_gains_stay_off_the_lines():
    names_ = ["gradient boosting", "logistic regression"]
    frame = pl.concat(
        draw_scores(seed=k, pos=300, neg=3_000, digits=4).with_columns(
            model=pl.lit(name), score=pl.col("score") + (0.6 - 0.7 * k) * pl.col("label")
        )
        for k, name in enumerate(names_)
    )
    chart = charts.gain_curve(frame.prc.curve([0.05, 0.001, 1e-5], by="model"))
    drawn, panel = [*records(chart), *records(chart, "reference")], inner(chart)
    size, width, height = 12.5, panel["width"], panel["height"]
    for row in records(chart, "name"):
        left, right = row["alerted"] * width, row["alerted"] * width + len(row["text"]) * size / 2
        for one in drawn:
            if one["facet"] == row["facet"] and left < one["alerted"] * width <= right:
                assert abs(one["recall"] - row["recall"]) * height > size / 2
    assert set(names(chart)) == set(names_), "there is no legend"
    words = {row["part"] for row in all_records(chart) if str(row.get("text")).endswith("%")}
    for number in words:
        look = layer(chart, "text", number)["mark"]
        for row in records(chart, number):
            assert row["alerted"] == 0.1
            half = len(row["text"]) * size * 0.55 / 2
            shift = {"left": half, "center": 0, "right": -half}[look["align"]]
            middle, up = 0.1 * width + look["dx"] + shift, row["recall"] * height - look["dy"]
            for one in records(chart):
                if one["facet"] == row["facet"] and abs(one["alerted"] * width - middle) < half:
                    assert abs(one["recall"] * height - up) > size / 2 - 1


def test_notes_of_panels_begin_where_their_title_does():
    frame = draw_groups("abc")
    curves = frame.prc.curve(1e-4, by="model")
    for chart, room in (
        (charts.pr_curve(curves, facet="model", log_y=False), 54),
        (charts.threshold_curve(curves, facet="model"), 94),
    ):
        note = chart.to_dict()["vconcat"][-1]
        assert note["encoding"]["x"] == {"value": -room}, "the room of labels and the title of an axis"


def test_low_panels_with_a_log_axis_have_a_tick_per_power_of_ten():
    table = draw_groups("abcdefghij").prc.curve(0.001, by="model")
    axis = layer(charts.pr_curve(table), "line")["encoding"]["y"]["axis"]
    assert axis["values"] == [0.001, 0.01, 0.1, 1]


@pytest.mark.parametrize(("metric", "side"), [("precision", "below"), ("fpr", "above")])
def test_a_monitor_notes_that_the_latest_weeks_are_good_again(metric: str, side: str) -> None:
    week, share = np.arange(1, 31), np.where((np.arange(30) > 8) & (np.arange(30) < 17), 20, 55)
    weeks = pl.DataFrame({"week": week, "score": 1, "n_pos": share, "n_neg": 100 - share})
    if metric == "fpr":
        rest = pl.DataFrame({"week": week, "score": 0, "n_pos": 100, "n_neg": share})
        weeks = pl.concat([weeks, rest], how="vertical_relaxed")

    def find_note(rows: pl.DataFrame) -> str:
        table = rows.prc(counts=("n_pos", "n_neg"))
        reference = 0.4 if metric == "precision" else 0.5
        chart = table.plot.monitor("week", reference=reference, threshold=1, metrics=metric)
        return " ".join(json.dumps(chart.to_dict(), ensure_ascii=False).replace('", "', " ").split())

    assert f"The last 13 weeks are not {side} the reference; an alarm stays on" in find_note(weeks)
    assert "an alarm stays on" not in find_note(weeks.filter(pl.col("week") < 20))
    assert "an alarm stays on" not in find_note(weeks.filter(pl.col("week") < 9))


def test_a_difference_says_who_leads_where_if_certainty_comes_and_goes():
    models = {"metric": "average_precision", "model_a": "a", "model_b": "b", "low": None, "high": None}
    rows = [(0.1, -1.0, False), (0.12, -1.0, True), (0.15, -1.0, False), (0.2, -1.0, True)]
    rows += [(0.25, 0.0, False), (0.3, 1.0, True), (0.4, 1.0, True)]
    told = pl.DataFrame(rows, schema=["eta", "difference", "significant"], orient="row")
    table = told.with_columns(difference=pl.col("difference") / 5)
    models |= {name: pl.lit(None, pl.Float64) for name in ("low", "high")}
    table = table.with_columns(
        **{k: v if isinstance(v, pl.Expr) else pl.lit(v) for k, v in models.items()}
    )
    table = table.select(
        "eta", "metric", "model_a", "model_b", "difference", "low", "high", "significant"
    )
    said = (
        "By average precision, b is better at prevalences from 12% to 20%, "
        "a from 30% up; no clear winner at some prevalences"
    )
    assert heading(charts.difference(table)) == said
    ends = table.with_columns(significant=pl.col("eta").is_in([0.1, 0.12, 0.3, 0.4]))
    said = (
        "By average precision, b is better at prevalences up to 12%, a from 30% up; "
        "no clear winner elsewhere"
    )
    assert heading(charts.difference(ends)) == said
    mirrored = ends.with_columns(-pl.col("difference"))
    assert heading(charts.difference(mirrored)).startswith(
        "By average precision, a is better at prevalences up to 12%, b from"
    )


def test_monitor_draws_each_period_all_so_far_and_the_alarm():
    right = [80, 82, 79, 60, 55, 58]
    weeks = pl.DataFrame(
        {"week": range(4, 10), "score": 1, "n_pos": right, "n_neg": [100 - n for n in right]}
    )
    counts = {"counts": ("n_pos", "n_neg")}
    year = prc(pl.DataFrame({"score": [1], "n_pos": [1_600], "n_neg": [400]}), **counts)
    table = weeks.prc.monitor("week", reference=year, threshold=1, columns="all", **counts)
    chart = charts.monitor(table, confidence=0.95)
    assert (
        weeks.prc(**counts).plot.monitor("week", reference=year, threshold=1).to_dict()
        == chart.to_dict()
    )
    rows = all_records(chart)
    dots = [(row["period"], row["overall"]) for row in rows if row.get("part") in ("past", "period")]
    assert dots == table.select(pl.col("week").cast(float), "value").rows()
    assert [row["period"] for row in rows if row.get("part") == "period"] == [7, 8, 9], "since then"
    # Both means and their intervals are rows of the table, at the change and at the end.
    before, since = table.filter(pl.col("week") < 7).tail(1), table.tail(1)
    for part, row, columns, edges in (
        ("past mean", before, ("overall", "overall_low", "overall_high"), (3.5, 6.5)),
        ("curve", since, ("overall_since", "overall_since_low", "overall_since_high"), (6.5, 9.5)),
    ):
        fields = ("period", "overall", "low", "high")
        drawn = [[line[field] for field in fields] for line in records(chart, part)]
        expected = [[edge, *row.select(columns).row(0)] for edge in edges]
        assert drawn == [pytest.approx(line, rel=1e-5) for line in expected]
    rules = {row["said"]: row["period"] for row in records(chart, "threshold")}
    alarm = table.filter("alarm")["week"][0]
    assert rules == {"likely change": 6.5, "alarm": alarm}
    levels = {row["overall"] for row in rows if row.get("part") == "reference"}
    assert {round(table["bound"][0], 5), 0.8} <= {round(level, 5) for level in levels}
    assert heading(chart) == "Precision has fallen from 80% to 58%, probably in week 7"
    assert "Precision by week; means before and since the likely change" in subtitle(chart)
    texts = {plain(row["text"]) for row in rows if "text" in row}
    mean, low, high = since.select("overall_since", "overall_since_low", "overall_since_high").row(0)
    value, ends = say_estimate(mean, low, high)
    assert f"{value} since ({ends})" in texts
    png(chart)


def test_monitor_says_no_more_than_its_test_and_draws_odd_tables():
    counts = {"counts": ("n_pos", "n_neg")}
    calm = pl.DataFrame(
        {"day": [date(2026, 1, 1), date(2026, 2, 1)], "score": 1, "n_pos": [79, 76], "n_neg": [21, 24]}
    )
    for metric, said in (("precision", "fallen"), ("recall", "fallen"), ("fpr", "risen")):
        with_both = pl.concat(
            [calm, calm.with_columns(score=pl.lit(0, dtype=pl.Int32))], how="vertical_relaxed"
        )
        eta = {"eta": 0.1} if metric == "precision" else {}
        table = with_both.prc.monitor(
            "day", reference=0.5, threshold=1, metrics=metric, columns="all", **eta, **counts
        )
        chart = charts.monitor(table)
        if not table["alarm"].any():
            side = "above" if said == "risen" else "below"
            assert re.search(rf"is not significantly {side} the reference of [\d.]+%$", heading(chart))
        png(chart)
    sites = [calm.with_columns(site=pl.lit(name)) for name in ("", "a:b\n<b>", "x" * 300)]
    worse = calm.with_columns(site=pl.lit("worse"), n_pos=20, n_neg=80)
    many = pl.concat([*sites, worse], how="vertical_relaxed")
    table = many.prc.monitor("day", reference=0.8, threshold=1, by="site", columns="all", **counts)
    said = "Precision is below the reference for worse, over all days together"
    assert heading(charts.monitor(table)) == said, "there is nothing from which it fell"
    assert "Precision by day; the line is the mean" in subtitle(charts.monitor(table))
    alone = charts.monitor(table.filter(pl.col("site") == "worse"))
    said = "Precision is 20%, below the reference of 80%, over all days together"
    assert heading(alone) == said
    png(charts.monitor(table))
    for one in (
        table.clear(),
        table.with_columns(value=None, overall=None, overall_low=None, overall_high=None),
    ):
        png(charts.monitor(one))
    assert "title" not in charts.monitor(table, title=False).to_dict()
    with pytest.raises(PrcError, match="pass the table that monitor returns"):
        charts.monitor(table.drop("bound"))


@pytest.mark.parametrize("name", ["threshold_curve", "scores"])
@pytest.mark.parametrize("outliers", [(1e-12, 1e-8, 1 - 1e-9), (-400.0, 900.0)])
def test_a_few_outliers_do_not_own_the_axis_of_scores(name, outliers):
    """All others take half of it, at the least, and the note has the number of outliers."""
    rng = np.random.default_rng(3)
    label = rng.random(1_000) < 0.2
    score = 2 * label + rng.normal(size=1_000) - 4
    is_odds = max(outliers) < 1
    score = 1 / (1 + np.exp(-score)) if is_odds else score
    score[: len(outliers)] = outliers
    frame = pl.DataFrame({"label": label, "score": score})
    chart = plot(frame).scores() if name == "scores" else plot(frame).threshold_curve(0.1)
    encoding = layer(chart, "rule", "threshold")["encoding"]["x"]
    low, high = encoding["scale"]["domain"]
    places = np.sort(score[len(outliers) :])
    places = np.log(places / (1 - places)) if is_odds else places
    assert places[0] >= low
    assert places[-1] <= high
    assert places[-1] - places[0] > 0.4 * (high - low)
    assert f"Not drawn: {len(outliers)} extreme scores" in subtitle(chart)
    if name == "threshold_curve":
        lines = [one["mark"] for one in inner(chart)["layer"] if one["mark"]["type"] == "line"]
        assert all(mark["clip"] for mark in lines)
    else:
        assert all(
            low <= row["x"] <= row["to"] <= high * 1.000001 for row in records(chart, "positives")
        )


def test_a_marked_threshold_among_outliers_is_on_the_axis():
    is_first = pl.int_range(pl.len()) == 0
    score = pl.when(is_first).then(500.0).otherwise("score")
    frame = draw_scores(pos=200, neg=800).with_columns(score=score)
    points_ = frame.prc.operating_points(0.1, threshold=500.0, columns="all")
    chart = plot(frame).threshold_curve(0.1, points=points_)
    assert layer(chart, "rule", "threshold")["encoding"]["x"]["scale"]["domain"][1] == 500


def test_labels_in_two_rows_push_the_note_down():
    scores = [1e-7, 2e-7, 0.5, 1 - 2e-7, 1 - 1e-7] * 8
    frame = pl.DataFrame({"score": scores, "label": [s > 0.4 for s in scores]})
    plain_scores = frame.with_columns(score=pl.col("score").rank("dense"))
    feet = []
    for one in (frame, plain_scores):
        spec = plot(one).threshold_curve(0.1).to_dict()["vconcat"][-1]
        [note] = [
            part for part in spec["layer"] if part["encoding"].get("text", {}).get("field") == "note"
        ]
        feet.append(note["encoding"]["y"]["value"])
    assert feet[0] > feet[1] + 10


@pytest.mark.parametrize(("low", "high", "words"), [
    (0.0066, 1.0, {"99%", "98%", "95%", "90%", "80%", "50%", "0%"}),
    (0.0003, 1.0, {"99.9%", "99%", "90%", "0%"}),
    (2e-6, 1.0, {"1 in 100,000", "1 in 10,000", "1 in 1,000", "1 in 100", "1 in 10", "0%"}),
])  # fmt: skip
def test_gains_near_1_have_round_numbers_of_one_kind(low, high, words):
    axis = ChartAxis("recall_rest", "Recall gain", low, high, "rest", is_log=True, is_reversed=True)
    ticks = axis.list_ticks(600, 30)
    said = {f"{100 * (1 - tick):.10g}%" for tick in ticks}
    if axis.said_as == "all but":
        said = {f"1 in {round(1 / tick):,}" if tick < 1 else "0%" for tick in ticks}
    assert said == words


def test_decision_curves_below_the_axis_do_not_come_back_at_0():
    """Where no case reaches the risk nobody is flagged: that is no benefit, and no line."""
    rng = np.random.default_rng(6)
    parts = []
    for site, power, share in (("calibrated", 1.0, 0.1), ("far too high", 0.15, 0.02)):
        label = rng.random(3_000) < share
        risk = 1 / (1 + np.exp(3 - 1.8 * label - rng.normal(size=3_000)))
        parts.append(pl.DataFrame({"site": site, "label": label, "score": risk**power}))
    risks = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9, 0.99, 0.999]
    scores = pl.concat(parts).prc(by="site")
    chart = scores.plot.decision_curve(probabilities=risks)
    shown = [row for row in records(chart) if "net_benefit" in row and row["curve"] == 1]
    assert max(row["threshold_probability"] for row in shown) < 0.5
    assert "Below the axis: risks at which net benefit is far below 0" in subtitle(chart)
    assert "Each panel has its own axis" in subtitle(chart)
    table = scores.decision_curve(probabilities=risks, columns="all").filter(site="far too high")
    value_at = dict(table.select("threshold_probability", "net_benefit").rows())
    dots = [row for row in records(chart, "dot") if row["facet"].startswith("far")]
    on_line = {row["threshold_probability"] for row in shown} & {*risks}
    assert {row["threshold_probability"] for row in dots} == on_line, "few risks are dots, on the line"
    read = {
        row["threshold_probability"]: row["s0"]
        for row in records(chart, "read")
        if row["facet"].startswith("far")
    }
    lowest = min(value_at, key=value_at.__getitem__)
    said = plain(say_signed(float(f"{1_000 * value_at[lowest]:.2g}"), say_count))
    assert plain(read[lowest]).startswith(f"{said}, "), "its own value, and not that of the foot"


def test_words_at_lines_stay_off_marked_dots():
    x, y = ChartAxis("x", "", 0, 1), ChartAxis("y", "", 0, 1)
    mark = {"part": "mark", "x": 0.5, "y": 0.5}
    panel = Panel(ChartSpec(x, y, "linear"), [mark], Channels(None, None), PanelSize(1, 400, 400))
    ways = [
        Word("treat all", x=0.5, y=0.5, dx=dx, align=align)
        for dx, align in ((2, "left"), (-12, "right"))
    ]
    assert settle_words(panel, [choose_way(ways)])[0].align == "right"
    assert settle_words(replace(panel, records=[]), [choose_way(ways)])[0].align == "left"


def test_reliability_of_a_rare_group_fills_its_panel():
    rng = np.random.default_rng(8)
    rare = pl.DataFrame({"label": rng.random(20_000) < 0.001, "score": rng.random(20_000) * 0.01})
    common = pl.DataFrame({"label": rng.random(2_000) < 0.3, "score": rng.random(2_000)})
    both = pl.concat(
        [rare.with_columns(site=pl.lit("rare")), common.with_columns(site=pl.lit("common"))]
    )
    chart = both.prc(by="site").plot.reliability()
    scale = layer(chart, "point", "range")["encoding"]["x"]["scale"]
    assert scale["type"] == "log"
    low, high = scale["domain"]
    said = [row["x"] for row in records(chart, "range") if row["facet"] == "rare"]
    assert math.log(max(said) / min(said)) > 0.15 * math.log(high / low)
    assert re.search(r"100 positives expected, \d+ observed", heading(chart))
    assert ("At the foot: none observed" in subtitle(chart)) == any(
        row["y"] == low for row in records(chart, "range")
    )


def test_net_benefit_of_several_models_is_a_sentence():
    frame = make_posteriors(draw_scores(pos=300, neg=2_700))
    two = pl.concat(
        [
            frame.with_columns(model=pl.lit(m), score=pl.col("score") ** k)
            for m, k in (("a", 1), ("b", 2))
        ]
    )
    title = heading(plot(two).decision_curve(by="model", probabilities=[0.05, 0.1, 0.2]))
    assert re.fullmatch(
        r"At a risk threshold of 10%, net benefit in true positives per 1,000 "
        r"is [\d.]+ for . and [\d.]+ for .",
        title,
    ), title


def test_a_decision_curve_without_any_benefit_is_seen():
    label = np.arange(2_000) < 10
    score = np.random.default_rng(2).random(2_000)
    rare = pl.DataFrame({"label": label, "score": score, "site": "rare"})
    common = rare.with_columns(site=pl.lit("common"), label=pl.col("score") > 0.5)
    chart = pl.concat([common, rare]).prc(by="site").plot.decision_curve(
        probabilities=[0.02, 0.05, 0.1, 0.3, 0.6]
    )  # fmt: skip
    shown = [row for row in records(chart) if "net_benefit" in row and "rare" in row["facet"]]
    assert len(shown) >= 5
    assert all(row["net_benefit"] < 0 for row in shown)
    base = [row["net_benefit"] for row in records(chart, "base") if "rare" in row["facet"]]
    assert max(base) - min(base) < 2 * (
        max(row["net_benefit"] for row in shown) - min(row["net_benefit"] for row in shown)
    )


def test_heads_of_panels_break_no_word_and_no_share():
    sites = ["dermatofibrosarcoma", "seborrhoeic keratosis", *"abcde"]
    frame = draw_groups(sites, name="site", neg=300)
    frame = frame.with_columns(label=pl.col("label").cast(pl.Int8) * (pl.int_range(pl.len()) % 7 > 0))
    chart = charts.gain_curve(frame.prc.curve(by="site"))
    texts = [row for row in all_records(chart) if row.get("part", "").startswith("word")]
    rows = [plain(row["text"]) for row in texts]
    assert any("dermatofibrosarcoma" in row for row in rows)
    assert all(row.count("(") == row.count(")") for row in rows)
