"""Charts: what the spec says is drawn is the exact curve, and every kind of chart renders."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from itertools import pairwise

import altair as alt
import numpy as np
import polars as pl
import pytest
from scipy.special import ndtri
from sklearn.metrics import precision_recall_curve, roc_auc_score

from polars_prcurve import PrcError, charts, eta_grid
from polars_prcurve.namespace import LazyFramePrc
from polars_prcurve.plots import PlotPrc

pytestmark = pytest.mark.extras
vl_convert = pytest.importorskip("vl_convert")

PNG = b"\x89PNG\r\n\x1a\n"
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
]


def scores(*, seed=0, pos=40, neg=160, digits=2, **groups) -> pl.DataFrame:
    """Normal scores, with ties."""
    draw = np.random.default_rng(seed).normal
    score = np.r_[draw(1.5, 1, pos), draw(0, 1, neg)].round(digits)
    frame = pl.DataFrame({"score": score, "label": [1] * pos + [0] * neg})
    return frame.with_columns(pl.lit(value).alias(name) for name, value in groups.items())


def grouped(values, name="model", **options) -> pl.DataFrame:
    parts = [scores(seed=i, pos=20 + i, **options, **{name: v}) for i, v in enumerate(values)]
    return pl.concat(parts, how="vertical_relaxed")


def crossed(models, sites) -> pl.DataFrame:
    pairs = [(model, site) for model in models for site in sites]
    return pl.concat(scores(seed=i, model=m, site=s) for i, (m, s) in enumerate(pairs))


def records(chart, part="curve") -> list[dict]:
    [data] = chart.to_dict()["datasets"].values()
    return [row for row in data if row["part"] == part]


def points(chart, x, y, curve=0) -> list[tuple[float, float]]:
    return [(row[x], row[y]) for row in records(chart) if row["curve"] == curve]


def inner(chart) -> dict:
    """The layered part of the spec, with or without panels around it."""
    spec = chart.to_dict()
    return spec.get("spec", spec)


def subtitle(chart) -> str:
    return " | ".join(chart.to_dict()["title"]["subtitle"])


def labels(chart, channel) -> list[str]:
    return list(dict.fromkeys(row[channel] for row in records(chart) if channel in row))


def channels(chart) -> tuple[str | None, str | None]:
    """Titles of colour and of panels."""
    spec = chart.to_dict()
    color = inner(chart)["layer"][1]["encoding"].get("color", {}).get("title")
    return color, spec.get("facet", {}).get("title")


def png(chart) -> bytes:
    return vl_convert.vegalite_to_png(chart.to_json())


# The curve that is drawn ----------------------------------------------------------------------


@pytest.mark.parametrize("digits", [0, 1, 8])
@pytest.mark.parametrize("drop_intermediate", [False, True])
def test_pr_curve_draws_the_recall_rises_of_scikit_learn(digits, drop_intermediate):
    frame = scores(digits=digits)
    chart = charts.pr_curve(frame.prc.curve(drop_intermediate=drop_intermediate))
    precision, recall, _ = precision_recall_curve(frame["label"], frame["score"])
    exact = list(zip(recall[::-1], precision[::-1], strict=True))[1:]  # without its point (0, 1)
    risen = [exact[0], *(b for a, b in pairwise(exact) if b[0] > a[0]), exact[-1]]
    start = (0.0, exact[0][1])
    expected = list(dict.fromkeys([start, *((r, p) for r, p in risen if r > 0)]))
    assert np.allclose(points(chart, "recall", "precision"), expected, rtol=1e-5)


def test_pr_curve_at_another_prevalence():
    frame = scores()
    drawn = records(charts.pr_curve(frame.prc.curve(eta=0.004)))
    risen = [row for row in drawn if "tp" in row]
    assert len(risen) > 20
    for row in risen:
        recall, fpr = row["tp"] / 40, row["fp"] / 160
        assert row["recall"] == pytest.approx(recall, rel=1e-5)
        assert row["precision"] == pytest.approx(
            recall * 0.004 / (recall * 0.004 + fpr * 0.996), rel=1e-5
        )


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
    chart = charts.pr_curve(scores().prc.curve(eta=[0.5, 0.01]))
    chance, line, _ = chart.to_dict()["layer"]
    assert (line["mark"]["type"], line["mark"]["interpolate"]) == ("line", "step-before")
    assert line["encoding"]["order"]["field"] == "order"
    assert line["transform"] == [{"filter": "datum.part === 'curve'"}]
    assert [row["order"] for row in records(chart)] == list(range(len(records(chart))))
    assert chance["mark"]["type"] == "rule"
    assert [row["precision"] for row in records(chart, "chance")] == [0.01, 0.5]
    assert (0, 1) not in points(chart, "recall", "precision", curve=0)[1:]


def test_fdr_mirrors_precision():
    table = scores().prc.curve(eta=0.01, metrics=("precision", "fdr"))
    precision = points(charts.pr_curve(table), "recall", "precision")
    fdr = points(charts.pr_curve(table, y="fdr"), "recall", "fdr")
    assert np.allclose([(r, 1 - p) for r, p in precision], fdr, atol=1e-5)
    assert [row["fdr"] for row in records(charts.pr_curve(table, y="fdr"), "chance")] == [0.99]


def test_quantiles_have_the_shares_and_the_lines_the_fit():
    frame = scores(pos=41, neg=150, digits=8)
    chart = charts.normal_quantiles(frame.prc.sweep())
    fit = frame.prc.binormal()
    assert labels(chart, "color") == ["positives", "negatives"]
    assert "41 positives : 150 negatives" in subtitle(chart)
    for curve, (label, kind) in enumerate([(1, "pos"), (0, "neg")]):
        sample = [row for row in records(chart, "sample") if row["curve"] == curve]
        of_class = frame.filter(label=label)["score"].sort(descending=True)
        share = (np.arange(len(of_class)) + 0.5) / len(of_class)
        assert [row["y"] for row in sample] == pytest.approx(of_class.to_list(), rel=1e-5)
        assert [row["x"] for row in sample] == pytest.approx((-ndtri(share)).tolist(), abs=1e-5)
        mu, sigma = fit[f"mu_{kind}"].item(), fit[f"sigma_{kind}"].item()
        line = points(chart, "x", "y", curve)
        assert [x for x, _ in line] == [sample[-1]["x"], sample[0]["x"]]
        assert [y for _, y in line] == pytest.approx([mu + sigma * x for x, _ in line], rel=1e-4)


def test_quantiles_of_many_scores_are_thinned():
    frame = scores(pos=3_000, neg=40_000, digits=9)
    chart = charts.normal_quantiles(frame.prc.sweep())
    sample = records(chart, "sample")
    for curve in (0, 1):
        assert 60 < sum(row["curve"] == curve for row in sample) <= 220
    assert max(row["y"] for row in sample) == pytest.approx(frame["score"].max(), rel=1e-5)
    assert "Drawn from" in chart.to_dict()["description"]
    assert points(chart, "x", "y", 1)[0][1] == pytest.approx(points(chart, "x", "y", 1)[0][0], abs=0.1)


@pytest.mark.parametrize("score", [[], [0.5] * 6, [math.inf, 1.0, 2.0, 3.0, -math.inf, 2.0]])
def test_quantiles_of_odd_tables_draw(score):
    n = len(score)
    frame = pl.DataFrame(
        {"score": score, "label": [True, False] * (n // 2), "g": ["a"] * n},
        schema={"score": pl.Float64, "label": pl.Boolean, "g": pl.String},
    )
    one_class = frame.with_columns(g=pl.lit("b"), label=True)
    chart = charts.normal_quantiles(pl.concat([frame, one_class]).prc.sweep(by="g"))
    json.loads(chart.to_json(), parse_constant=pytest.fail)
    assert png(chart).startswith(PNG)
    if n:
        assert "Not drawn, one class only: b" in subtitle(chart)


def test_quantiles_of_published_rates_are_refused():
    with pytest.raises(PrcError, match="published rates have none"):
        charts.normal_quantiles(scores().prc.sweep().prc.sweep(rates=("recall", "fpr")))


@pytest.mark.parametrize("digits", [0, 1, 8])
def test_roc_curve_loses_no_area(digits):
    frame = scores(digits=digits)
    chart = charts.roc_curve(frame.prc.sweep())
    drawn = points(chart, "x", "recall")
    assert drawn[0] == (0, 0)
    assert drawn[-1] == (1, 1)
    area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(drawn))
    assert area == pytest.approx(roc_auc_score(frame["label"], frame["score"]), abs=1e-5)
    assert chart.to_dict()["layer"][1]["mark"]["interpolate"] == "linear"


def test_roc_curve_has_one_curve_however_many_eta():
    frame = scores()
    of_sweep = charts.roc_curve(frame.prc.sweep())
    assert charts.roc_curve(frame.prc.curve(eta=[None, 0.1, 0.01])).to_dict() == of_sweep.to_dict()


def test_log_roc_bends_straight_lines():
    frame = pl.DataFrame(
        {"score": [3] * 20 + [2] * 1000, "label": ([1] + [0] * 19) + [1] * 10 + [0] * 990}
    )
    table = frame.prc.sweep()
    chart = charts.roc_curve(table, log_x=True)
    fpr, recall = [0, *table["fpr"]], [0, *table["recall"]]
    drawn = points(chart, "x", "recall")
    for x, y in drawn[1:]:
        assert y == pytest.approx(np.interp(x, fpr, recall), abs=1e-5)
    assert len(drawn) > 50


def test_log_roc_has_fpr_0_at_the_left_edge_and_says_so():
    chart = charts.roc_curve(scores(digits=8).prc.sweep(), log_x=True)
    x = chart.to_dict()["layer"][1]["encoding"]["x"]
    low, high = x["scale"]["domain"]
    assert (low, high) == (1 / 160 / 2, 1)
    assert x["axis"]["values"] == [0.01, 0.1, 1.0]
    assert min(row["x"] for row in records(chart)) == low
    assert {row["fpr"] for row in records(chart) if row["x"] == low and "hover" in row} == {0.0}
    assert "left edge" in subtitle(chart)
    chance = records(chart, "chance")
    assert len(chance) > 50
    assert all(row["x"] == row["recall"] for row in chance)


# Long curves ----------------------------------------------------------------------------------


def test_more_than_5000_rows_draw():
    table = pl.concat(scores(seed=i, pos=1900, neg=500, digits=9, model=str(i)) for i in range(4))
    chart = charts.pr_curve(table.prc.curve(eta=0.1, by="model"))
    assert len(records(chart)) > 5000
    assert png(chart).startswith(PNG)
    assert "Drawn from" not in chart.to_dict()["description"]


@pytest.mark.parametrize("log_x", [False, True])
def test_thinning_is_flagged_and_keeps_the_outline(log_x):
    frame = scores(pos=8_000, neg=40_000, digits=12)
    table = frame.prc.curve(eta=0.01)
    full = charts._steps(charts._read("pr_curve", table, "precision").rows, "precision")
    chart = charts.pr_curve(table)
    drawn = points(chart, "recall", "precision")
    assert len(drawn) < 2010 < len(full)
    assert "of 8 00" in chart.to_dict()["description"]
    for pixel in range(0, 500, 7):
        inside = (full["recall"] * 500).floor() == pixel
        exact = full["precision"].filter(inside)
        shown = [p for r, p in drawn if math.floor(r * 500 + 1e-6) == pixel]
        assert max(shown) == pytest.approx(exact.max(), rel=1e-3)
        assert min(shown) == pytest.approx(exact.min(), rel=1e-3)
    roc = charts.roc_curve(table, log_x=log_x)
    assert len(records(roc)) < 2010
    drawn_roc = np.array(
        [(row.get("fpr", row["x"]), row["recall"]) for row in records(roc) if "hover" in row]
    )
    exact_recall = np.interp(drawn_roc[:, 0], [0, *table["fpr"]], [0, *table["recall"]])
    assert np.abs(drawn_roc[:, 1] - exact_recall).max() < 0.01


def test_hover_points_are_few():
    chart = charts.pr_curve(scores(pos=1500, neg=100, digits=9).prc.curve())
    assert 100 < sum("hover" in row for row in records(chart)) <= 200


# Groups, and several prevalences --------------------------------------------------------------

ETA = [0.5, 0.01]


@pytest.mark.parametrize(
    ("frame", "by", "eta", "expected"),
    [
        (scores(), None, 0.1, (None, None)),
        (scores(), None, ETA, ("prevalence eta", None)),
        (scores(), None, eta_grid(), ("prevalence eta", None)),
        (grouped("abc"), "model", 0.1, ("model", None)),
        (grouped("abc"), "model", None, ("model", None)),
        (grouped("abc"), "model", ETA, ("model", "prevalence eta")),
        (grouped("abc"), "model", eta_grid(n=10), ("prevalence eta", "model")),
        (grouped("abcdefghi"), "model", 0.1, (None, "model")),
        (grouped("abcdefghi"), "model", ETA, ("prevalence eta", "model")),
        (crossed("ab", "xyz"), ["model", "site"], 0.1, ("model", "site")),
        (crossed("ab", "xyz"), ["model", "site"], ETA, ("model", "site · prevalence eta")),
        (crossed("ab", "xyz"), ["model", "site"], eta_grid(n=3), ("prevalence eta", "model · site")),
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
    assert channels(charts.pr_curve(table, color="site")) == ("site", "model · prevalence eta")
    assert channels(charts.pr_curve(table, facet="model")) == ("site", "model · prevalence eta")
    assert channels(charts.pr_curve(table, color="eta")) == ("prevalence eta", "model · site")
    assert channels(charts.pr_curve(table, color="eta", facet="site")) == (
        "prevalence eta",
        "site · model",
    )
    twelve = grouped("abcdefghijkl").prc.curve(by="model", thresholds=3)
    chart = charts.pr_curve(twelve, color="model")
    assert channels(chart) == ("model", None)
    encoding = chart.to_dict()["layer"][1]["encoding"]
    looks = zip(
        encoding["color"]["scale"]["range"],
        map(tuple, encoding["strokeDash"]["scale"]["range"]),
        strict=True,
    )
    assert len(set(looks)) == 12


def test_a_column_that_the_eta_frame_carries_can_be_colour():
    markets = pl.DataFrame({"eta": [0.5, 0.01], "market": ["lab", "field"]})
    chart = charts.pr_curve(scores().prc.curve(eta=markets), color="market")
    assert channels(chart) == ("market", None)
    assert labels(chart, "color") == ["field (1 in 100)", "lab (1 in 2)"]


def test_each_panel_has_its_own_chance_line():
    table = grouped("abcdefghij").prc.curve(by="model", thresholds=3)
    chart = charts.pr_curve(table)
    own = table.group_by("model", maintain_order=True).first()["eta"]
    drawn = [(row["facet"][0], row["precision"]) for row in records(chart, "chance")]
    assert drawn == [
        (model, pytest.approx(eta, rel=1e-5)) for model, eta in zip("abcdefghij", own, strict=True)
    ]


def test_200_classes_are_panels_with_their_sizes():
    frame = pl.concat(scores(seed=i, pos=2 + i % 3, neg=5, digits=1, c=i) for i in range(200))
    chart = charts.pr_curve(frame.prc.curve(eta=0.1, by="c"))
    assert channels(chart) == (None, "c")
    assert labels(chart, "facet")[:2] == ["0\n2 : 5", "1\n3 : 5"]
    assert len(labels(chart, "facet")) == 200
    assert png(chart).startswith(PNG)


def test_a_null_group_is_not_the_text_null():
    chart = charts.pr_curve(grouped(["null", None, "", "a"]).prc.curve(eta=0.1, by="model"))
    assert [label.split(" (")[0] for label in labels(chart, "color")] == ["null", '""', "a", '"null"']


@pytest.mark.parametrize(
    "values",
    [[True, False, None], [1, 2], [0.1, math.nan, None], [0.12345678, 0.12345679], [[1], [2]]],
)
def test_groups_of_any_dtype(values):
    frame = pl.concat(
        [scores(seed=i).with_columns(pl.lit(value).alias("g")) for i, value in enumerate(values)],
        how="vertical_relaxed",
    )
    chart = charts.roc_curve(frame.prc.sweep(by="g"))
    assert len(labels(chart, "color")) == len(values)


# What is odd ----------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [charts.pr_curve, charts.roc_curve])
def test_hostile_names_are_only_text(draw):
    plain = grouped([str(i) for i in range(len(HOSTILE))])
    names = dict(zip(map(str, range(len(HOSTILE))), HOSTILE, strict=True))
    for column in filter(None, HOSTILE):
        nasty = plain.with_columns(pl.col("model").replace(names))
        table = nasty.prc.curve(eta=0.1, by="model", thresholds=4).rename({"model": column})
        assert table.columns[0] == column
        chart = draw(table)
        used = {key for row in records(chart) for key in row}
        assert used <= {
            *("part", "curve", "order", "hover", "facet", "color", "threshold", "tp", "fp"),
            *("recall", "precision", "fpr", "x", "prevalence", "test_set"),
        }
        assert len(labels(chart, "facet")) == len(HOSTILE)
        page = chart.to_html()
        assert "<script>alert" not in page
        assert page.count("</script") == draw(scores().prc.curve()).to_html().count("</script")
        assert "<!--" not in page
        assert png(chart).startswith(PNG)


def test_hostile_names_of_quantiles_are_only_text():
    plain = grouped([str(i) for i in range(len(HOSTILE))])
    names = dict(zip(map(str, range(len(HOSTILE))), HOSTILE, strict=True))
    table = plain.with_columns(pl.col("model").replace(names)).prc.sweep(by="model", thresholds=4)
    for column in filter(None, HOSTILE):
        chart = charts.normal_quantiles(table.rename({"model": column}))
        used = {key for row in (*records(chart), *records(chart, "sample")) for key in row}
        assert used <= {
            *("part", "curve", "order", "hover", "facet", "color", "threshold", "x", "y", "test_set"),
        }
        assert len(labels(chart, "facet")) == len(HOSTILE)
        assert "<script>alert" not in chart.to_html()
    assert png(chart).startswith(PNG)


def test_a_hostile_title_is_only_text():
    chart = charts.pr_curve(scores().prc.curve(), title="</script><script>alert(1)</script>")
    assert "<script>alert" not in chart.to_html()


def test_groups_of_one_class_are_named_and_not_drawn():
    only = pl.DataFrame({"score": [1.0, 2.0], "label": [1, 1], "model": "pos"})
    frame = pl.concat(
        [scores(model="ok"), only, only.with_columns(label=0 * pl.col("label"), model=pl.lit("neg"))]
    )
    for chart in (
        charts.pr_curve(frame.prc.curve(eta=0.1, by="model")),
        charts.roc_curve(frame.prc.sweep(by="model")),
    ):
        assert labels(chart, "color") == ["ok"]
        assert "Not drawn, one class only: neg, pos" in subtitle(chart)
        assert "40 positives : 160 negatives" in subtitle(chart)
    alone = charts.pr_curve(only.prc.curve(eta=0.1))
    assert records(alone) == []
    assert "Prevalence" not in subtitle(alone)
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
        assert all(
            row["recall"] == pytest.approx(row.get("fpr", row["x"]), abs=1e-5)
            for row in records(roc)[1:]
        )


def test_infinite_scores_are_thresholds_like_others():
    frame = pl.DataFrame({"score": [math.inf, 2.0, -math.inf, 1.0], "label": [1, 0, 0, 1]})
    for chart in (charts.pr_curve(frame.prc.curve(eta=0.1)), charts.roc_curve(frame.prc.sweep())):
        hovered = [row["threshold"] for row in records(chart) if "threshold" in row]
        assert hovered[0] == "inf"
        assert hovered[-1] == "-inf"
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
    shown = [row["threshold"] for row in records(chart) if "threshold" in row]
    assert shown == {pl.Boolean: ["true", "false"], pl.Decimal(10, 2): ["1.00", "0.00"]}.get(
        dtype, ["1", "0"]
    )


def test_published_rates_have_no_counts_to_state():
    rates = pl.DataFrame({"study": ["A", "A", "B"], "tpr": [0.6, 0.8, 0.9], "fpr": [0.001, 0.01, 0.0]})
    pr = charts.pr_curve(rates.prc.curve(eta=0.01, by="study", rates=("tpr", "fpr")))
    assert subtitle(pr) == "Prevalence eta = 0.01 (1 in 100); dashed: chance"
    tooltip = {field["field"] for field in pr.to_dict()["layer"][2]["encoding"]["tooltip"]}
    assert tooltip == {"color", "recall", "precision", "prevalence"}
    roc = charts.roc_curve(rates.prc.sweep(by="study", rates=("tpr", "fpr")))
    assert points(roc, "x", "recall", curve=0) == [(0, 0), (0.001, 0.6), (0.01, 0.8)]


def test_weights_are_stated_as_sums():
    frame = scores().with_columns(w=pl.lit(0.125))
    assert "5 positives : 20 negatives" in subtitle(charts.pr_curve(frame.prc.curve(weight="w")))


# Words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("eta", "words"),
    [
        (0.001, "0.001 (1 in 1 000)"),
        (0.004, "0.004 (1 in 250)"),
        (1e-6, "1e-6 (1 in 1 000 000)"),
        (0.5, "0.5 (1 in 2)"),
        (0.3725, "0.3725 (1 in 2.7)"),
        (0.9, "0.9"),
        (0.0, "0"),
        (1.0, "1"),
        (1e-12, "1e-12 (1 in 1e+12)"),
    ],
)
def test_prevalences_read_as_people_say_them(eta, words):
    chart = charts.pr_curve(scores().prc.curve(eta=eta))
    assert subtitle(chart).startswith(f"Prevalence eta = {words}; dashed: chance | ")
    assert {row["prevalence"] for row in records(chart) if "hover" in row} == {words}


def test_tooltips():
    chart = charts.pr_curve(scores().prc.curve(eta=0.001))
    row = next(row for row in records(chart) if row.get("tp") == 1)
    assert row["threshold"] == str(scores().filter(label=1)["score"].max())
    assert (row["fp"], row["prevalence"], row["test_set"]) == (0, "0.001 (1 in 1 000)", "40 : 160")
    fields = [field["field"] for field in chart.to_dict()["layer"][2]["encoding"]["tooltip"]]
    assert fields == ["threshold", "tp", "fp", "recall", "precision", "prevalence", "test_set"]


def test_the_description_is_text_for_those_who_cannot_see():
    chart = charts.pr_curve(scores().prc.curve(eta=0.001), title="Mine")
    said = ["Mine", *chart.to_dict()["title"]["subtitle"]]
    assert chart.to_dict()["description"] == ". ".join(said)


# A good citizen -------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [charts.pr_curve, charts.roc_curve, charts.normal_quantiles])
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
        charts.pr_curve(scores().prc.curve()),
        charts.roc_curve(grouped("abcdefghi").prc.sweep(by="model")),
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
    pr = charts.pr_curve(grouped("ab").prc.curve(eta=0.1, by="model"))
    roc = charts.roc_curve(grouped("ab").prc.sweep(by="model"))
    panels = charts.pr_curve(grouped("ab").prc.curve(eta=ETA, by="model"))
    target = alt.Chart(alt.InlineData(values=[{"p": 0.8}])).mark_rule().encode(y="p:Q")
    for chart in (pr | roc, pr & panels, pr + target, (pr | roc).configure_axis(grid=False)):
        assert png(chart).startswith(PNG)


def test_altair_is_not_imported_with_the_package():
    code = "import sys, polars_prcurve; sys.exit('altair' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Refusals -------------------------------------------------------------------------------------

TABLE = grouped("ab").prc.curve(eta=0.1, by="model", thresholds=3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: charts.pr_curve(TABLE.lazy()), r"collect it first: table\.collect\(\)"),
        (lambda: charts.roc_curve(TABLE.lazy()), r"roc_curve takes a DataFrame and got a LazyFrame"),
        (lambda: charts.pr_curve({"a": 1}), "returns; got dict"),
        (lambda: charts.pr_curve(TABLE, y="fdr"), r'pass metrics=\("fdr",\) to curve'),
        (lambda: charts.pr_curve(TABLE, y="recall"), 'is "precision" or "fdr"; got \'recall\''),
        (lambda: charts.pr_curve(TABLE.drop("eta", "tp")), "lacks eta, tp"),
        (lambda: charts.pr_curve(scores().prc.curve(eta=0.1, long=True)), "leave out long=True"),
        (lambda: charts.pr_curve(TABLE, color="modle"), "did you mean 'model'"),
        (lambda: charts.roc_curve(TABLE, facet="eta"), "there are: model"),
        (lambda: charts.roc_curve(scores().prc.sweep(), color="g"), "the table has no group column"),
        (lambda: charts.pr_curve(TABLE, color="model", facet="model"), "both name 'model'"),
        (lambda: charts.pr_curve(TABLE.drop("model")), "do not fit in one curve"),
    ],
)
def test_refusals_say_what_to_do(call, message):
    with pytest.raises(PrcError, match=message):
        call()


# From a score table ---------------------------------------------------------------------------


def plot(frame: pl.DataFrame | pl.LazyFrame) -> PlotPrc:
    return PlotPrc(LazyFramePrc(frame.lazy()))


def test_plot_draws_what_the_tables_draw():
    frame = grouped("ab", digits=3)
    table = frame.prc.curve(eta=[0.1, 0.01], by="model", metrics=("precision", "fdr"))
    chart = plot(frame).pr_curve([0.1, 0.01], by="model")
    assert chart.to_dict() == charts.pr_curve(table).to_dict()
    chart = plot(frame.lazy()).pr_curve([0.1, 0.01], by="model", y="fdr", color="eta", title="Mine")
    assert chart.to_dict() == charts.pr_curve(table, y="fdr", color="eta", title="Mine").to_dict()
    chart = plot(frame).normal_quantiles(by="model", title="Mine")
    swept = frame.prc.sweep(by="model")
    assert chart.to_dict() == charts.normal_quantiles(swept, title="Mine").to_dict()
    chart = plot(frame).roc_curve(by="model", log_x=True, facet="model")
    assert chart.to_dict() == charts.roc_curve(table, log_x=True, facet="model").to_dict()


def test_plot_reads_every_kind_of_table():
    frame = scores().with_columns(w=pl.lit(2.0), y=pl.col("label").replace_strict({1: "yes", 0: "no"}))
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
        plot(scores().with_columns(label=pl.lit(7))).pr_curve()
    with pytest.raises(PrcError, match="NaN"):
        plot(scores().lazy().with_columns(score=pl.lit(math.nan))).roc_curve()


def test_plot_lists_its_methods():
    assert repr(plot(scores())) == "<PlotPrc with normal_quantiles, pr_curve, roc_curve>"
