"""Icon arrays: each grid is a row of operating points, icon by icon, and never without its number."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

import polars as pl
import pytest

from polars_prcurve import PrcError, charts, prc
from polars_prcurve.view.charts.parts.icon_counts import count_icons
from polars_prcurve.view.words.number_words import (
    RARELY_RIGHT,
    join_value,
    say_estimate,
    say_eta,
    say_target,
)
from tests.support.chart_specs import (
    PNG,
    UNSEEN,
    check_data,
    heading,
    plain,
    png,
    records,
    subtitle,
    walk_texts,
)
from tests.support.drawings import draw_groups, draw_scores

pytestmark = pytest.mark.extras
pytest.importorskip("vl_convert")

TWO = draw_groups(["forest", "logistic"], neg=2_000, digits=4)
KINDS = ["right", "likely", "unlikely", "false"]
ESTIMATE = ("precision", "precision_low", "precision_high")


def count_kinds(chart, **of) -> list[int]:
    """The number of icons of each kind, of the grid with these values."""
    icons = [row for row in records(chart, "icon") if all(row.get(k) == v for k, v in of.items())]
    found = Counter(row["kind"] for row in icons)
    return [found[kind] for kind in KINDS]


@pytest.mark.usefixtures("with_schema")
def test_each_grid_is_a_row_of_operating_points():
    words = {"by": "model", "recall": [0.4, 0.8], "confidence": 0.9}
    table = TWO.prc.operating_points([0.5, 0.2], metrics=("precision",), columns="all", **words)
    chart = TWO.prc.plot.alerts([0.5, 0.2], **words)
    assert chart.to_dict() == charts.alerts(table, confidence=0.9).to_dict()
    assert len(records(chart, "icon")) == 100 * len(table) == 800
    for row in table.iter_rows(named=True):
        low, share, high = (
            math.floor(100 * row[name] + 0.5) for name in (ESTIMATE[1], ESTIMATE[0], ESTIMATE[2])
        )
        facet = f"{row['model']} · {say_eta(row['eta'])} · {say_target(row['target'])} recall"
        expected = [low, share - low, high - share, 100 - high]
        assert count_kinds(chart, facet=facet, color=row["model"]) == expected
        text = join_value(*say_estimate(*(row[name] for name in ESTIMATE)))
        assert f"{facet}: {text}" in chart.to_dict()["description"]
        words_of = [r["text"] for r in records_of_words(chart) if r.get("facet") == facet]
        assert text in words_of, "icons come with their number, as documents write it"
    assert "Dotted: uncertain (90% interval); " in subtitle(chart)
    assert png(chart).startswith(PNG)


def records_of_words(chart) -> list[dict]:
    return [
        row
        for data in chart.to_dict()["datasets"].values()
        for row in data
        if row.get("part", "").startswith("word")
    ]


def test_without_confidence_no_doubt_is_drawn():
    chart = TWO.prc.plot.alerts(0.5, by="model", recall=0.5, confidence=None)
    assert {row["kind"] for row in records(chart, "icon")} == {"right", "false"}
    assert "Dotted" not in subtitle(chart)
    assert "(" not in re.sub(r"\((forest|logistic)\)", "", heading(chart))


@pytest.mark.parametrize(
    ("estimate", "kinds", "caption"),
    [
        ((0.67, 0.54, 0.78), [54, 13, 11, 22], "67% (54 to 78)"),
        ((0.67, None, None), [67, 0, 0, 33], "67%"),
        ((1.0, 0.9, 1.0), [90, 10, 0, 0], "100% (90 to 100)"),
        ((0.9996, 0.998, 0.9999), [99, 0, 0, 1], "99.96% (99.80 to 99.99)"),
        ((0.0, 0.0, 0.03), [0, 0, 3, 97], "0% (0 to 3.0)"),
        ((0.02, 0.001, 0.4), [0, 2, 38, 60], "2.0% (0.10 to 40)"),
        ((1 / 83, 1 / 140, 1 / 54), [1, 29, 57, 53], "1 in 83 (54 to 140)"),
        ((1 / 83.4, 1 / 138, 1 / 54.3), [1, 29, 57, 53], "1 in 83 (54 to 140)"),
        ((1 / 60, 0.0, 0.9), [1, 59, 940, 0], "1 in 60 (1 to none)"),
        ((1 / 4300, 1 / 6000, 1 / 800), [0, 200, 0, 800], "1 in 4,300 (800 to 6,000)"),
        ((1 / 4300, None, None), [0, 0, 0, 1000], "1 in 4,300"),
    ],
)
def test_icons_are_those_of_the_words(estimate, kinds, caption):
    grid = count_icons(*estimate, is_rare=estimate[0] < RARELY_RIGHT)
    assert [grid.count_by_kind[kind] for kind in KINDS] == kinds
    assert plain(grid.caption) == caption
    assert grid.n_icons <= 1_000


def test_models_of_one_prevalence_have_grids_of_one_size():
    """Of 2.2% and 1.8% both are of 100 alerts, as in the report; of 1.9% and 1.8% neither is."""
    counts = {"worse": (180, 9_820), "better": (220, 9_780), "middle": (190, 9_810)}
    rows = {
        name: pl.DataFrame({"model": name, "score": 1, "n_pos": n_pos, "n_neg": n_neg})
        for name, (n_pos, n_neg) in counts.items()
    }
    for names, sizes in ((("worse", "better"), {100}), (("worse", "middle"), {53, 56})):
        test = pl.concat(rows[name] for name in names).prc(counts=("n_pos", "n_neg"), by="model")
        chart = test.plot.alerts(threshold=1, confidence=None)
        icons = Counter(row["facet"] for row in records(chart, "icon"))
        assert set(icons.values()) == sizes, names
    assert heading(chart) == "1 in 53 alerts is a true positive for middle and 1 in 56 for worse"


def test_icons_stand_in_rows_within_their_panel():
    table = TWO.filter(model="forest").prc.operating_points(
        [0.5, 0.0005], recall=0.9, confidence=0.95, columns="all"
    )
    chart = charts.alerts(table)
    for facet in {row["facet"] for row in records(chart, "icon")}:
        icons = [row for row in records(chart, "icon") if row["facet"] == facet]
        places = [(row["y"], row["x"]) for row in icons]
        assert places == sorted(set(places)), "row by row, and no two at one place"
        assert all(0 < row["x"] < 1 for row in icons)
        order = [row["kind"] for row in icons]
        assert len([a for a, b in pairwise(order) if a != b]) <= 3, "kinds in runs"
    said = "If precision is below 2%, grids show the number of alerts per true positive"
    assert said in subtitle(chart)


def test_titles_say_the_numbers_in_the_order_of_the_grids():
    one = TWO.filter(model="forest").prc.plot.alerts(0.5, recall=0.5)
    [row] = (
        TWO.filter(model="forest")
        .prc.operating_points(0.5, recall=0.5, confidence=0.95, columns="all")
        .to_dicts()
    )
    share, span = say_estimate(*(row[name] for name in ESTIMATE))
    assert heading(one) == f"{share} of alerts are true positives ({span})"
    both = TWO.prc.plot.alerts(0.5, by="model", recall=0.5)
    assert re.fullmatch(
        r"[\d.]+% of alerts are true positives for logistic and [\d.]+% for forest", heading(both)
    )
    etas = TWO.filter(model="forest").prc.plot.alerts([0.001, 0.5], recall=0.5)
    assert re.fullmatch(
        r"[\d.]+% of alerts are true positives at a prevalence of .* and .* at 1 in 1,000",
        heading(etas),
    )
    few = draw_scores(pos=14).prc.plot.alerts(0.5, recall=0.5)
    counts = r"\d+ to \d+% of alerts are true positives \(the test set has only 14 positives\)"
    assert re.fullmatch(counts, heading(few)), "14 positives are no finding but their interval"
    assert "50% recall, at a prevalence of 50%" in subtitle(few)
    rare = draw_scores(pos=14).prc.plot.alerts([0.5, 1e-5], recall=0.5)
    assert heading(rare) == "With 14 positives, precision is known only roughly"


def test_more_than_twelve_grids_say_what_to_write():
    many = draw_groups([f"clinic {k}" for k in range(13)]).rename({"model": "clinic"})
    said = r"^pick some groups first: table\.filter\(pl\.col\('clinic'\).* up to 12 grids, .* has 13"
    with pytest.raises(PrcError, match=said):
        many.prc.plot.alerts(0.1, by="clinic", recall=0.5)
    twelve = many.filter(pl.col("clinic") != "clinic 3")
    assert len(records(twelve.prc.plot.alerts(0.1, by="clinic", recall=0.5), "icon")) == 1_200
    with pytest.raises(PrcError, match="pass fewer prevalences or targets"):
        TWO.filter(model="forest").prc.plot.alerts([k / 100 for k in range(1, 14)], recall=0.5)


def test_alerts_take_all_targets_and_words():
    test = prc(TWO, by="model")
    for target in ({"fpr": 0.1}, {"precision": 0.6}, {"alerts": 50, "per": 1_000}, {"maximize": "f1"}):
        chart = test.plot.alerts(0.2, confidence=None, **target)
        table = test.operating_points(0.2, metrics=("precision",), columns="all", **target)
        rows = table.select("model", "precision").rows()
        shares = {model: math.floor(100 * share + 0.5) for model, share in rows}
        assert {m: count_kinds(chart, color=m)[0] for m in shares} == shares
    passed = test.plot.alerts([0.2, 0.01], threshold=0.5, confidence=None)
    words = plain(" ".join(passed.to_dict()["title"]["subtitle"]))
    assert words == "Threshold 0.5, at two prevalences", "a threshold is no target"
    by_hand = test.plot.alerts(0.2, recall=0.5, color="model", facet="eta", title="My title")
    assert heading(by_hand) == "My title"
    bare = test.plot.alerts(0.2, recall=0.5, title=False)
    assert "title" not in bare.to_dict()
    assert any("%" in row["text"] for row in records_of_words(bare)), "numbers stay"


def test_alerts_of_odd_tables_draw():
    for rows in (0, 1, 10):
        frame = pl.DataFrame(
            {"score": [0.5] * rows, "label": [i % 2 for i in range(rows)], "g": ["a"] * rows},
            schema={"score": pl.Float64, "label": pl.Int64, "g": pl.String},
        )
        chart = frame.prc.plot.alerts(0.1, by="g", recall=0.5, confidence=None)
        check_data(chart)
    unmet = TWO.prc.plot.alerts(1e-9, by="model", precision=0.9, confidence=None)
    check_data(unmet)
    assert "Not drawn, undefined: forest, logistic" in subtitle(unmet)
    hostile = draw_groups(["</script><script>alert(1)</script>", "a\x01b", "x" * 300])
    chart = hostile.rename({"model": "a:b"}).prc.plot.alerts(0.1, by="a:b", recall=0.5)
    check_data(chart)
    assert "<script>alert" not in chart.to_html()
    assert not any(UNSEEN.search(text) for text in walk_texts(chart.to_dict()))


def test_titles_of_groups_in_two_columns_tell_the_extremes():
    """Panels of two columns keep the order of names, and their title is about their values."""
    parts = [
        pl.DataFrame({"model": model, "site": site, "label": [1] * 50 + [0] * 50}).with_columns(
            score=pl.int_range(pl.len()).is_in([*range(50), *range(99, 99 - n_false, -1)]).cast(pl.Int8)
        )
        for (model, site), n_false in zip(
            [("a", "east"), ("a", "west"), ("b", "east"), ("b", "west")], (20, 50, 5, 30), strict=True
        )
    ]
    test = pl.concat(parts).prc(by=["model", "site"])
    found = test.operating_points(recall=1, metrics="precision", columns="all")
    low, high = found["precision"].min(), found["precision"].max()
    title = heading(test.plot.alerts(recall=1))
    expected = f"range from {100 * low:.0f}% of alerts for a · west to {100 * high:.0f}% for b · east"
    assert title.endswith(expected), title


def test_equal_grids_are_told_once():
    one = pl.DataFrame({"score": [3, 2, 2, 1] * 20, "label": [1, 1, 0, 0] * 20})
    three = pl.concat([one.with_columns(site=pl.lit(site)) for site in ("x", "y", "z")])
    assert heading(three.prc(by="site").plot.alerts(recall=1)) == "67% of alerts are true positives"
