"""Reports: what is in them, that it is harmless, and that they come out the same each time."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from polars_prcurve import PrcError, class_mix, eta_from_sample, field
from polars_prcurve.namespace import prc
from polars_prcurve.number_words import (
    say_count,
    say_estimate,
    say_eta,
    say_share,
    say_shares,
    say_threshold,
)
from polars_prcurve.report.build_report import _describe_methods
from polars_prcurve.report.decision_box import write_decision
from polars_prcurve.report.decisions import (
    Decision,
    ModelChoice,
    collect_points,
    compare_leaders,
    rank_options,
    shorten_threshold,
)
from polars_prcurve.report.drawings import build_scheme
from polars_prcurve.report.lead_by_area import describe_lead
from polars_prcurve.report.open_questions import ReportTables, list_doubts
from polars_prcurve.report.order_by_area import AreaRanks
from polars_prcurve.report.page import Figure, Table, build_page, write_text
from polars_prcurve.report.report_source import UserTable, read_source
from polars_prcurve.report.request import (
    Goal,
    ReportEta,
    ReportRequest,
    read_report_eta,
    say_number,
)

pytestmark = pytest.mark.extras

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a:b",
    "x.y",
    "z[0]",
    "\"quoted\" & 'single'",
    "🦊",
    "שלום",
    "long " * 60,
    "a\x01b",
    "\x1b]0;title\x07",
    "nul\0",
    "\x7f\x85\x9b",
    "\ufffe\uffff",
]

UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def visible(name: str) -> str:
    """Return the name as a page shows it, written down apart from the package."""
    symbols = dict(zip("\0\x01\x07\x1b\x7f", "␀␁␇␛␡", strict=True))
    return UNSEEN.sub(lambda found: symbols.get(found[0], "�"), name)


def examples(models: list[str], n: int = 400) -> pl.DataFrame:
    draw = np.random.default_rng(3)
    label = draw.random(n) < 0.3
    own = [draw.normal(size=n) + label * (0.5 + i % 3) for i in range(len(models))]
    return pl.concat(
        pl.DataFrame({"model": [name] * n, "label": label, "score": score.round(2)})
        for name, score in zip(models, own, strict=True)
    )


DF = examples(["a", "b"])
MARKETS = DF.rename({"model": "market"})
"""Groups that are no models."""


class Seen(HTMLParser):
    """Tags that are open, and what stands in them."""

    VOID = ("meta", "img", "br", "!doctype")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1], data))

    def within(self, tag: str) -> list[str]:
        return [text for at, text in self.texts if at == tag]


def reported(df: Any, path: Path, *args: Any, **options: Any) -> Seen:
    assert df.prc.report(path / "report.html", *args, **options) == path / "report.html"
    assert [file.name for file in path.iterdir()] == ["report.html"]
    return Seen((path / "report.html").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Return one report with all that most tests look at."""
    folder = tmp_path_factory.mktemp("report")
    how: dict[str, Any] = {"recall": [0.5, 0.9], "precision": 0.3, "alerts": 50, "per": 10_000}
    words = {"title": "Two models", "notes": "Mine & theirs", "date": "1 May 2026"}
    return reported(DF, folder, [0.01, 0.3], model="model", **how, **words)


def find_box(seen: Seen) -> str:
    """Return the words of the decision."""
    texts = [text for _, text in seen.texts]
    start = next(i for i, (at, _) in enumerate(seen.texts) if at == "h3")
    return " ".join(" ".join(texts[:start]).split(" ")).replace("  ", " ").replace(" ,", ",")


def find_heading(seen: Seen) -> str:
    """Return the heading of the first picture."""
    return seen.within("h3")[0].replace("\u00a0", " ")


def test_the_picture_says_what_each_model_or_group_does_at_the_target(tmp_path: Path) -> None:
    three = examples(["a", "b", "c"], 2_000)
    points = three.prc.operating_points(0.1, by="model", recall=0.5)
    said = dict(zip(points["model"], say_shares([*points["precision"]]), strict=True))
    heads = {}
    for number, how in enumerate(({"model": "model"}, {"by": "model"})):
        folder = tmp_path / str(number)
        folder.mkdir()
        heads[number] = find_heading(reported(three, folder, 0.1, recall=0.5, **how))
    each = f"{said['c']} (c), {said['b']} (b) or {said['a']} (a)"
    said_all = f"To find half of the positives, {each} of the alerts are right".replace("\u00a0", " ")
    assert heads == {0: said_all, 1: said_all}


def test_the_picture_claims_nothing_of_few_positives_or_of_published_points(tmp_path: Path) -> None:
    few = DF.filter(~pl.col("label") | (pl.int_range(pl.len()).over("model", "label") < 9))
    paper = pl.DataFrame({"model": ["a", "b"], "tpr": [0.9, 0.6], "fpr": [0.05, 0.02]})
    options: dict[str, Any] = {"model": "model", "recall": 0.5}
    for number, (frame, how) in enumerate(
        ((few, {}), (paper, {"rates": ("tpr", "fpr"), "sizes": (90, 900)}))
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        said = find_heading(reported(frame, folder, 0.1, **options, **how))
        assert said == "Precision and recall where 1 in 10 is positive"


# The decision ---------------------------------------------------------------------------------


def draw_models(n: int, seed: int, **gains: float) -> pl.DataFrame:
    """Return scores of models of the same examples, one in five positive, by how much positives gain."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.2
    scores = {name: rng.normal(size=n) + gain * label for name, gain in gains.items()}
    return pl.DataFrame({"label": label, **scores})


def read_box(df: pl.DataFrame, tmp_path: Path, **asked: Any) -> str:
    """Return the words of the decision, in which no word stands apart from its comma."""
    models = [name for name in df.columns if name not in ("label", "site")]
    tmp_path.mkdir(exist_ok=True)
    score = models if len(models) > 1 else models[0]
    seen = reported(df, tmp_path, 0.05, score=score, recall=0.6, **asked)
    return re.sub(r" (?=[;:,])", "", find_box(seen))


def test_coins_are_not_recommended(tmp_path: Path) -> None:
    """A head names a model only if it is shown to be better than chance."""
    coins = draw_models(2_000, 1, heads=0, tails=0)
    assert coins.prc(score=["heads", "tails"]).summary(confidence=0.95)["above_chance"].any() is False
    said = read_box(coins, tmp_path)
    assert "Not shown to be better than chance: heads and tails" in said
    assert "are not shown to say anything of the label" in said
    assert "Use " not in said
    alone = read_box(coins.select("label", "heads"), tmp_path / "alone")
    assert "Not shown to be better than chance: these scores" in alone
    beside = read_box(draw_models(2_000, 2, coin=0, model=2), tmp_path / "beside")
    assert "Use model, alert at " in beside
    assert "the scores of coin are not shown to say anything of the label" in beside


def test_equal_models_are_not_told_apart(tmp_path: Path) -> None:
    for seed in range(3):
        said = read_box(draw_models(1_500, seed, one=1.5, two=1.5), tmp_path / str(seed))
        assert re.search(r"Not told apart: (one, two|two, one); (one|two): alert at ", said)
        assert "Use " not in said
    said = read_box(draw_models(4_000, 4, good=2.5, poor=0.8), tmp_path / "settled")
    assert "Use good, alert at " in said
    said = read_box(draw_models(4_000, 5, good=2.2, same=2.2, poor=0.5), tmp_path / "three")
    assert re.search(r"Not told apart: (good, same|same, good); ", said)


def test_groups_name_what_each_of_them_settles(tmp_path: Path) -> None:
    parts = [
        draw_models(3_000, 6, one=2.5, two=0.8).with_columns(site=pl.lit("settled")),
        draw_models(1_500, 7, one=1.5, two=1.5).with_columns(site=pl.lit("open")),
        draw_models(1_500, 9, one=0, two=0).with_columns(site=pl.lit("coins")),
    ]
    df = pl.concat(parts)
    found = df.prc(score=["one", "two"], by="site").summary(0.05, metrics="roc_auc", confidence=0.95)
    assert not found.filter(site="coins")["above_chance"].any()
    said = read_box(df, tmp_path, by="site")
    assert "settled one " in said
    assert re.search(r"open (one or two|two or one) ", said)
    assert "coins none above chance" in said


def test_the_decision_is_that_of_the_library(page: Seen) -> None:
    ranks = DF.prc.ranking(0.01, metric="precision", recall=0.5)
    best = DF.prc.operating_points(
        0.01, by="model", recall=0.5, per=10_000, confidence=0.95, metrics=("precision",)
    ).row(by_predicate=pl.col("model") == ranks["model"][0], named=True)
    said = find_box(page)
    assert page.within("h1") == ["Two models"]
    assert "Where 1\u00a0in\u00a0100 is positive, to find half of the positives" in said
    # A lead that is likely is none: the head names all that may be first.
    assert re.search(rf"Not told apart: b, a ?; b ?: alert at {best['threshold']} or more", said)
    assert best["model"] == "b"
    assert say_share(best["precision"]) in said
    assert say_count(best["alerts"]) in said
    assert f"{say_count(best['true_alerts'])} found" in said
    assert f"{say_count(best['missed'])} missed" in said
    _, ends = say_estimate(*(best[f"precision{end}"] for end in ("", "_low", "_high")))
    assert ends.replace(" to ", " to\u00a0") in said


@pytest.mark.parametrize(
    ("target", "metric"),
    [({"recall": 0.5}, "precision"), ({"precision": 0.3}, "recall"), ({"alerts": 50.0}, "recall")],
)
def test_models_are_ranked_by_the_target(target: dict[str, float], metric: str) -> None:
    df = examples(["a", "b", "c", "d"])
    source = read_source(prc, UserTable(df, [], "model", [], [], {}))
    eta = read_report_eta(source, [0.01, 0.2])
    targets = {name: [value] for name, value in target.items()}
    request = ReportRequest(eta, targets, 1000.0, 0.95, None)
    areas = source.merged.summary(eta.argument)
    decisions = rank_options(source, request, collect_points(source, request), areas)
    assert [decision.is_headline for decision in decisions] == [True, False]
    per = {"per": 1000} if "alerts" in target else {}
    for decision in decisions:
        ranks = df.prc.ranking(decision.eta, metric=metric, **target, **per)
        met = ranks.drop_nulls("value")["model"].to_list()
        assert [option.model for option in decision.met] == met
        for option in decision.met:
            assert option.row["threshold"] == float(option.threshold or "")


def test_another_order_by_average_precision_is_told(tmp_path: Path) -> None:
    """A model with clean first alerts has the higher average precision, and needs more to find half."""
    draw = np.random.default_rng(3)
    label = draw.random(4000) < 0.1
    first = np.where(label & (draw.random(4000) < 0.3), 9.0, draw.normal(size=4000))
    df = pl.concat(
        pl.DataFrame({"model": [name] * 4000, "label": label, "score": score.round(3)})
        for name, score in (("careful", first), ("broad", 2.0 * label + draw.normal(size=4000)))
    )
    assert df.prc.ranking(0.001)["model"][0] == "careful"
    said = find_box(reported(df, tmp_path, 0.001, model="model", recall=0.5))
    points = df.prc.operating_points(0.001, by="model", recall=0.5, per=1e6)
    alerts = dict(points.select("model", "alerts").rows())
    assert "Use broad, alert at" in said
    ratio = alerts["careful"] / alerts["broad"]
    assert "By average precision, which sums up a whole curve, careful comes first" in said
    assert f"it needs {ratio:.2g} times the alerts to find half of the positives." in said


PAPERS = pl.DataFrame(
    {
        "paper": ["A"] * 4 + ["B"] * 4 + ["C"],
        "tpr": [0.35, 0.6, 0.8, 0.92, 0.45, 0.7, 0.85, 0.9, 0.9],
        "fpr": [0.0005, 0.01, 0.06, 0.2, 0.002, 0.012, 0.05, 0.15, 0.01],
    }
)


def test_the_area_of_published_points_is_called_what_it_is(tmp_path: Path) -> None:
    """A point may find more than was asked for, so finds count beside alerts."""
    papers = PAPERS.filter(pl.col("paper") != "B")
    seen = reported(papers, tmp_path, 0.001, model="paper", recall=0.6, rates=("tpr", "fpr"))
    areas = papers.prc.ranking(0.001, model="paper", rates=("tpr", "fpr"))["value"]
    said = find_box(seen)
    assert "Of the published points, use C" in said
    assert (
        f"By area under the PR curve, which sums up a whole curve, A comes first ({areas[0]:.3f}" in said
    )
    assert f"finds {0.6 / 0.9:.2g} times the positives with {1059 / 1089:.2g} times the alerts." in said
    assert "verage precision" not in said
    assert "0.075; what lies between the points may turn that)" in said
    limits = papers.prc.ranking(0.001, model="paper", rates=("tpr", "fpr"), coarse=True)
    shown = " ".join(seen.within("span"))
    for row in limits.iter_rows(named=True):
        assert f"({row['value_low']:.3f} to {row['value_high']:.3f})" in shown


@pytest.mark.parametrize(
    ("point", "words"),
    [
        ((0.9, 0.01), "What lies between the points may put C ahead: its area may be anything"),
        ((0.02, 0.5), "Whatever lies between the points, it is first."),
    ],
)
def test_a_lead_in_area_is_told_within_its_limits(
    point: tuple[float, float], words: str, tmp_path: Path
) -> None:
    rows = [*PAPERS.filter(paper="A").rows(), ("C", *point)]
    papers = pl.DataFrame(rows, PAPERS.schema, orient="row")
    seen = reported(papers, tmp_path, 0.01, model="paper", rates=("tpr", "fpr"))
    assert any(words in text for text in seen.within("p"))


@pytest.mark.parametrize(
    ("recall", "fpr", "words"),
    [
        (0.60, 0.0115, "does nearly as well."),
        (0.60, 0.0200, "needs 1.9 times the alerts to find 60\u00a0% of the positives."),
        (0.90, 0.0200, "finds 1.5 times the positives with 2 times the alerts."),
        (0.45, 0.0005, "but it cannot meet this target."),
    ],
)
def test_what_the_model_of_the_greatest_area_costs(
    recall: float, fpr: float, words: str, tmp_path: Path
) -> None:
    """Model `x` is ahead by area, since its first point is better."""
    schema = ["paper", "tpr", "fpr"]
    rows = [("x", 0.4, 0.00001), ("x", recall, fpr), ("y", 0.6, 0.01)]
    papers = pl.DataFrame(rows, schema, orient="row")
    how: dict[str, Any] = {"model": "paper", "rates": ("tpr", "fpr")}
    said = find_box(reported(papers, tmp_path, 0.001, recall=0.6, **how))
    assert "Of the published points, use y" in said
    assert words in said


UNLIKE = pl.DataFrame(
    {
        "model": ["A"] * 3 + ["B"] * 3,
        "tpr": [0.5, 0.81, 0.95, 0.6, 0.78, 0.97],
        "fpr": [0.01, 0.05, 0.2, 0.012, 0.04, 0.15],
    }
)
"""Near a recall of 0.8 model B just misses it, and is then taken at 0.97."""


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (
            {"recall": 0.8},
            "these are unlike: A finds 81 % and B finds 97 %. At 80 %, on the line between points, "
            "A and B are both right in 14 % of their alerts; what lies between the points may put "
            "B ahead.",
        ),
        (
            {"recall": 0.6},
            "these are unlike: B finds 60 % and A finds 81 %. At 60 %, on the line between points, B is "
            "right in 34 % of its alerts, and A in 21 %; what lies between the points may put A ahead.",
        ),
        (
            {"precision": 0.15},
            "these are unlike: B is right in 16 % and A is right in 34 %. What lies between the points "
            "may put A ahead, which may find up to 95 %.",
        ),
        (
            {"alerts": 20_000, "per": 1_000_000},
            "these are unlike: B raises 17 880 alerts and A raises 14 900 alerts.",
        ),
    ],
)
def test_published_points_that_are_unlike_are_told(
    target: dict[str, float], words: str, tmp_path: Path
) -> None:
    how: dict[str, Any] = {"model": "model", "rates": ("tpr", "fpr"), **target}
    seen = reported(UNLIKE, tmp_path, 0.01, **how)
    assert words in find_box(seen).replace("\u00a0", " ")
    assert "What each model does at the target itself." in seen.within("b")


def test_a_lead_at_equal_recall_that_no_curve_through_the_points_turns(tmp_path: Path) -> None:
    rows = [*UNLIKE.rows(), ("C", 0.79, 0.0001), ("C", 0.82, 0.0002)]
    how: dict[str, Any] = {"model": "model", "rates": ("tpr", "fpr"), "eta": 0.01}
    table = pl.DataFrame(rows, UNLIKE.schema, orient="row")
    said = find_box(reported(table, tmp_path, recall=0.8, **how))
    assert "whatever lies between the points, C is first there." in said
    assert "these are unlike: C finds 82\u00a0%, A finds 81\u00a0% and B finds 97\u00a0%." in said


def test_a_threshold_has_the_same_digits_wherever_the_box_tells_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)  # its threshold rounds down to 2.3479, and to 2.34791 otherwise
    label = rng.random(3_000) < 0.2
    df = pl.DataFrame({"score": 2 * label + rng.normal(size=3_000), "label": label})
    said = find_box(reported(df, tmp_path, 0.01, precision=0.3, guarantee=0.9))
    [(alert_from, holds_from)] = re.findall(
        r"lert at ([\d.]+) or more.* every score from ([\d.]+) to", said
    )
    assert alert_from == holds_from


def test_promises(tmp_path: Path) -> None:
    how: dict[str, Any] = {"model": "model", "recall": 0.5, "precision": 0.99}
    seen = reported(DF, tmp_path, 0.3, guarantee=0.95, **how)
    points = DF.prc.operating_points(
        0.3, by="model", recall=0.5, precision=0.99, guarantee=0.95, metrics=("precision",)
    )
    found = points.filter(pl.col("criterion") == "recall").sort("precision", descending=True)
    said = find_box(seen)
    assert f"alert at {found['threshold'][0]} or more" in said
    assert "Promised with 95\u00a0% confidence: in truth at least 50\u00a0% of all positives" in said
    chosen: dict[str, Any] = {
        "threshold": found["threshold"][0],
        "metrics": "recall",
        "confidence": 0.95,
    }
    interval = DF.filter(model=found["model"][0]).prc.operating_points(0.3, **chosen)
    assert interval["recall_low"].item() < 0.5
    beyond = "each of its ends is wrong in 2.5\u00a0% of test sets, and the promise in 5\u00a0%"
    assert beyond in said
    assert beyond not in find_box(reported(DF, tmp_path, 0.3, guarantee=0.95, confidence=None, **how))
    unmet = points.filter(pl.col("threshold").is_null())
    assert set(unmet["criterion"]) == {"precision"}
    assert unmet.height == 2
    [need] = [text for text in seen.within("p") if "no score can promise this" in text]
    least = say_number(unmet["n_neg_needed"].min())
    assert f"need {least} negatives in the test, which has 285" in need
    assert not any("half of all test sets" in text for text in seen.within("p"))


def test_a_precision_without_a_promise_is_no_promise(page: Seen) -> None:
    [told] = {text for text in page.within("p") if "half of all test sets" in text}
    assert "the true precision at a score chosen so is below 30\u00a0%." in told


def test_a_group_has_its_own_prevalence_and_threshold(tmp_path: Path) -> None:
    ends = {"eta_low": [0.1, 0.05], "eta_high": [0.3, 0.2]}
    eta = pl.DataFrame({"market": ["b", "a"], "eta": [0.2, 0.1], **ends})
    seen = reported(MARKETS, tmp_path, eta, by="market", recall=0.5)
    points = MARKETS.prc.operating_points(
        eta, by="market", recall=0.5, per=1e6, metrics="predicted_positive_rate", confidence=0.95
    )
    cells = {text.strip() for text in seen.within("td")}
    assert {say_count(value) for value in points["alerts"]} <= cells
    high = say_count(1e6 * points["predicted_positive_rate_high"][0])
    assert any(text.endswith(f"to\u00a0{high})") for text in seen.within("span"))
    assert {"1\u00a0in\u00a010", "1\u00a0in\u00a05"} <= cells
    own = MARKETS.filter(pl.col("label") | (pl.col("market") == "a") | (pl.col("score") > 0))
    seen = reported(own, tmp_path, None, by="market", recall=0.5)
    etas = own.prc.summary(metrics="roc_auc", by="market")["eta"]
    assert {say_eta(value) for value in etas} <= set(seen.within("td"))


def test_printed_thresholds_flag_the_same_examples() -> None:
    draw = np.random.default_rng(5)
    for scores in (
        draw.random(300),
        1 - draw.random(300) * 1e-9,
        -draw.random(300) * 1e12,
        2.0 ** -np.arange(300.0),
    ):
        rising = sorted(set(map(float, scores)))
        for below, score in zip([None, *rising], rising, strict=False):
            printed = float(shorten_threshold(score, below) or "")
            assert printed <= score
            assert below is None or below < printed
    assert shorten_threshold(0.673, 0.6729999999) == "0.673"
    assert shorten_threshold(0.123456789, 0.1) == "0.123456"
    assert shorten_threshold(7, 6) == "7"
    assert shorten_threshold(None, None) is None


@pytest.mark.parametrize("etas", [[0.3, 0.001]])
def test_negatives_merged_into_one_row_change_nothing(etas: list[float]) -> None:
    df = examples(["a", "b"], 2000)
    source = read_source(prc, UserTable(df, [], "model", [], [], {}))
    counts = source.methods
    assert source.merged.counts().height < counts.counts().height
    for name in ("summary", "curve"):
        more = {"thresholds": "corners"} if name == "curve" else {}
        merged, full = (getattr(m, name)(etas, confidence=0.95, **more) for m in (source.merged, counts))
        if name == "curve":  # which keeps the first score of each run, too
            full = full.join(merged, on=["model", "eta", "threshold"], how="semi", maintain_order="left")
        assert_frame_equal(merged, full, rel_tol=1e-12)
    ranks = [m.ranking(etas, confidence=0.95) for m in (source.merged, counts)]
    assert_frame_equal(*ranks, rel_tol=1e-12)


# What is said of leads ------------------------------------------------------------------------


def rank_rows(**second: Any) -> pl.DataFrame:
    """Return a ranking of two models, of which the second is behind as told."""
    first = {"behind": 0.0, "low": None, "high": None}
    rows = [
        {
            "eta": 0.01,
            "model": "x",
            "value": 0.5,
            "rank": 1,
            **first,
            **{k: second[k] for k in ("resolved", "reliable")},
        },
        {"eta": 0.01, "model": "y", "value": 0.4, "rank": 2, "behind": 0.1, **second},
    ]
    return pl.DataFrame(rows, schema_overrides={"low": pl.Float64, "high": pl.Float64})


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ({"low": 0.05, "high": 0.15, "resolved": True, "reliable": True}, None),
        ({"low": 0.05, "high": 0.15, "resolved": True, "reliable": False}, None),
        ({"low": 0.01, "high": 0.19, "resolved": False, "reliable": False}, "so a lead is likely"),
        ({"low": -0.01, "high": 0.21, "resolved": False, "reliable": True}, "the interval holds 0"),
        ({"low": -0.01, "high": 0.21, "resolved": False, "reliable": False}, "the interval holds 0"),
    ],
)
def test_no_sentence_contradicts_a_decisive_test(second: dict[str, Any], words: str | None) -> None:
    source = read_source(prc, UserTable(DF, [], "model", [], [], {}))
    eta = ReportEta([0.01])
    request = ReportRequest(eta, {}, 1e6, 0.95, None)
    ranks = rank_rows(**second)
    curves = source.merged.curve(0.01, confidence=0.95)
    tables = ReportTables(source.merged.summary(0.01), ranks, curves, [])
    doubts = [d for d in list_doubts(source, request, tables) if "average precision" in d.question]
    lead = describe_lead(ranks.to_dicts(), source, request)
    if words is None:
        assert doubts == []
        assert "With 95\u00a0% confidence this is the right order." in lead
    else:
        assert words in doubts[0].known
        assert "right order" not in lead
        assert ("likely" in lead) == ("likely" in words)
    assert "chance" not in lead


def test_leads_on_the_same_examples(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    label = draw.random(3000) < 0.1
    a = 2 * label + draw.normal(size=3000)
    wide = pl.DataFrame({"label": label, "a": a, "b": a + 0.5 * draw.normal(size=3000)})
    long = wide.prc.unpivot_scores(["a", "b"], row="row")
    for id, words in (
        (None, "By this test b cannot be told apart from it."),
        ("row", "With 95\u00a0% confidence this is the right order."),
    ):
        said = find_box(reported(long, tmp_path, 0.1, model="model", id=id))
        assert words in said


def paired_scores(n: int, offset: float) -> pl.DataFrame:
    """Examples that two models scored nearly alike; positives score lower by `offset` under model b."""
    draw = np.random.default_rng(0)
    label = draw.random(n) < 0.1
    a = 2 * label + draw.normal(size=n)
    b = a - offset * label + 0.3 * draw.normal(size=n)
    return pl.DataFrame({"label": label, "a": a, "b": b}).prc.unpivot_scores(["a", "b"], row="row")


@pytest.mark.parametrize(
    ("eta", "n", "offset", "words"),
    [
        (0.1, 3000, 0.02, "A test on the same examples cannot tell "),
        (0.01, 300, 0.8, "A lead of a over b is likely, by a test on the same examples: "),
        (0.1, 6000, 0.3, "The order is clear: a test on the same examples puts a before b (95\u00a0%)."),
    ],
)
@pytest.mark.parametrize("target", [{"recall": 0.5}, {"precision": 0.5}, {"alerts": 50}])
def test_an_order_at_a_target_rests_on_a_comparison_there(
    eta: float, n: int, offset: float, words: str, target: dict[str, float]
) -> None:
    long = paired_scores(n, offset)
    asked = {name: [value] for name, value in target.items()}
    said = decide(long, eta, asked)
    merit = "precision" if "recall" in target else "recall"
    how: dict[str, Any] = {"eta": eta, "model": "model", "metrics": merit, **target}
    how |= {"per": 1000} if "alerts" in target else {}
    [pair] = long.prc.compare(id="row", **how).to_dicts()
    assert pair["resolved"] == ("is clear" in said)
    assert (pair["low"] <= 0 <= pair["high"]) == ("cannot tell" in said)
    assert "recall" not in target or words in said
    assert "tested on the same examples (compare at the target)" in said
    alone = decide(long, eta, asked, id=None)
    assert "same examples" not in alone
    [apart] = long.prc.compare(paired=False, **how).to_dicts()
    assert apart["resolved"] == ("is clear: a test that takes each model by itself" in alone)


def decide(
    df: pl.DataFrame,
    eta: Any,
    target: dict[str, list[float]],
    *,
    id: Any = "row",
    within: Any = None,
    **given: Any,
) -> str:
    """The words of the decision box, and of the methods that the page folds."""
    ids, parts = ([] if name is None else [name] for name in (id, within))
    source = read_source(prc, UserTable(df, [], "model", ids, parts, given))
    request = ReportRequest(read_report_eta(source, eta), target, 1000.0, 0.95, None)
    areas = source.merged.summary(request.eta.argument)
    options = rank_options(source, request, collect_points(source, request), areas)
    decisions = compare_leaders(source, request, options)
    box = "".join(part.html for part in write_decision(decisions, request, ["a", "b"], AreaRanks()))
    return html.unescape(" ".join([box, *_describe_methods(source, request, "", decisions)]))


def test_intervals_of_thresholds_as_they_stand_make_no_order_clear() -> None:
    """Of a field of two equal models, they did not overlap in 25 of 40 test sets."""
    spans = {"a": (0.9, 0.8, 0.95), "b": (0.3, 0.2, 0.4), "c": (0.3, 0.2, 0.85)}
    kinds = ("precision", "precision_low", "precision_high")
    choices = {
        name: ModelChoice(name, {"recall": 0.5, **dict(zip(kinds, span, strict=True))}, "1")
        for name, span in spans.items()
    }
    for others, verdict in (("b", "untested"), ("c", "open"), ("bc", "open")):
        options = [choices[name] for name in ("a", *others)]
        decision = Decision({}, 0.1, Goal("recall", 0.5, 1000.0), options, 50, 50, True)
        assert decision.find_verdict() == verdict


def test_weighted_models_are_compared_on_the_same_examples() -> None:
    long = paired_scores(2000, 0.3)
    said = decide(long.with_columns(w=1.0), 0.1, {"alerts": [50]}, weight="w")
    assert "on the same examples" in said
    assert said == decide(long, 0.1, {"alerts": [50]})


@pytest.mark.parametrize("missing", ["raise", "drop"])
@pytest.mark.parametrize("paired", [True, False])
def test_models_of_a_field_are_compared_by_weighted_examples(paired: bool, missing: Any) -> None:
    """Also where the table has a column called weight."""
    part = (pl.col("row") % 3).alias("part")
    long = paired_scores(3000, 0.3).with_columns(part, weight=pl.lit("taken"))
    field = pl.DataFrame({"part": [0, 1, 2], "eta": [0.05, 0.2, None], "share": [3, 2, 1]})
    how: dict[str, Any] = {"within": "part", "missing": missing, "score": "score", "label": "label"}
    how |= {} if paired else {"id": None}
    if missing == "drop":
        long = long.with_columns(score=pl.when(pl.col("row") != 5).then("score"))
    said = decide(long, field, {"alerts": [50]}, **how)
    tested = ("was tested with the errors of each model by itself", "was tested on the same examples")
    assert tested[paired] in said
    assert ("a test on the same examples puts a before b" in said) is paired
    estimate = field.with_columns(pl.col("eta").fill_null(0.1))
    estimate = estimate.with_columns(eta_low=pl.col("eta") / 2, eta_high=pl.col("eta") * 2)
    said = decide(long, estimate, {"alerts": [50]}, **how)
    assert not any(words in said for words in tested)


@pytest.mark.parametrize(("fp", "words"), [(60, "order is clear: a test"), (45, "cannot tell mine")])
def test_models_of_one_published_point_are_compared(fp: int, words: str, tmp_path: Path) -> None:
    """Their intervals overlap either way."""
    points = pl.DataFrame(
        {"model": ["mine", "rival"], "tp": 90, "fp": [40, fp], "fn": 10, "tn": [960, 1000 - fp]}
    )
    cells: Any = ("tp", "fp", "fn", "tn")
    tested = points.prc.compare(model="model", paired=False, eta=0.005, cells=cells, metrics="precision")
    assert tested["resolved"].item() is ("clear" in words)
    seen = reported(points, tmp_path, 0.005, model="model", cells=cells, recall=0.9, by=None)
    assert words in find_box(seen)
    assert "What each model does at the target itself." not in seen.within("b")


def test_an_order_is_not_clear_without_a_test_that_says_so() -> None:
    long = paired_scores(2000, 0.3)
    one = long.with_columns(label=pl.col("row") == 7).filter(pl.col("row") < 40)
    above = pl.col("label") & (pl.col("model") == "a")
    one = one.with_columns(score=pl.when(above).then(9.0).when("label").then(0.0).otherwise("score"))
    said = decide(one, 0.1, {"recall": [0.5]})
    assert "The order is clear" not in said
    estimate = decide(long, eta_from_sample(30, 300), {"alerts": [50]})
    assert "intervals carry its error, and the test takes the estimate as exact." in estimate


def test_models_that_are_equal_alone_or_without_a_value(tmp_path: Path) -> None:
    equal = pl.concat([DF.filter(model="a"), DF.filter(model="a").with_columns(model=pl.lit("c"))])
    said = find_box(reported(equal, tmp_path, 0.1, model="model", recall=0.5))
    assert "a and c do equally well here." in said
    said = find_box(reported(equal, tmp_path, 0.1, model="model"))
    assert "a and c have the same average precision" in said
    said = find_box(reported(DF.filter(model="a"), tmp_path, 0.1, model="model"))
    assert "a has an average precision of" in said
    lacking = DF.with_columns(label=pl.col("label") & (pl.col("model") == "a"))
    said = find_box(reported(lacking, tmp_path, 0.1, model="model"))
    assert "b has no value." in said
    nothing = reported(DF.clear(), tmp_path, 0.1, model="model", recall=0.5)
    assert any("The table has no rows" in text for text in nothing.within("p"))


def test_groups_of_one_class_are_named(tmp_path: Path) -> None:
    markets = DF.with_columns(market=pl.when(pl.col("label")).then(pl.lit("de")).otherwise(pl.lit("fr")))
    both = pl.concat([markets, DF.with_columns(market=pl.lit("uk"))])
    said = reported(both, tmp_path, 0.1, by="market", model="model", recall=0.5)
    assert [line for line in said.within("b") if line.startswith("Anything")] == [
        "Anything on precision: de.",
        "Anything on precision: fr.",
    ]


def test_questions_on_models_name_the_group(tmp_path: Path) -> None:
    both = pl.concat(
        [paired_scores(300, 0.02).with_columns(market=pl.lit(name)) for name in ("de", "fr")]
    )
    said = reported(both, tmp_path, 0.1, by="market", model="model", id="row", recall=0.5)
    asked = [line for line in said.within("b") if line.startswith(("Which model has", "How far"))]
    assert asked
    assert all(
        re.search(r"average precision for (de|fr), where 1.in.10 is positive[.]$", each)
        for each in asked
    )


# The page -------------------------------------------------------------------------------------


def test_the_page_can_be_read_by_machines_and_people(page: Seen) -> None:
    tags = [tag for tag, _ in page.tags]
    assert tags.count("main") == tags.count("nav") == tags.count("h1") == 1
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = [str(attrs["href"]) for tag, attrs in page.tags if tag == "a"]
    assert {link.removeprefix("#") for link in links} <= set(ids)
    heads = [attrs for tag, attrs in page.tags if tag == "th"]
    assert all(attrs.get("scope") in ("col", "row", "rowgroup") for attrs in heads)
    assert tags.count("caption") == tags.count("table")
    drawings = [attrs for tag, attrs in page.tags if tag == "svg"]
    assert len(drawings) == 6
    assert all(a["role"] == "img" and len(str(a["aria-label"])) > 40 for a in drawings)
    assert any(
        text.startswith("1 May 2026 · 2 models, each tested on 400 cases") for text in page.within("p")
    )
    assert "Mine & theirs" in page.within("p")


def test_people_read_no_names_of_columns(page: Seen) -> None:
    above = [text for _, text in page.texts[: [t for _, t in page.texts].index("Methods and tables")]]
    shown = [text for at, text in page.texts if at not in ("script", "style")]
    raw = {"n_pos", "average_precision", "predicted_positive_rate", "precision_low"}
    assert not raw & set(above)
    assert raw & set(shown)  # in the tables at the end
    assert not any(re.search(r"\de[-+]\d", text) for text in page.within("td")[:20])


def test_without_models_each_group_has_its_value(tmp_path: Path) -> None:
    seen = reported(MARKETS, tmp_path, 0.1, by="market")
    value = DF.filter(model="b").prc.summary(0.1, metrics="average_precision")["value"].item()
    assert f"{value:.3f}" in [cell.strip() for cell in seen.within("td")]
    assert "b" in seen.within("th")


@pytest.mark.parametrize(
    ("table", "how"),
    [
        (DF.prc.counts(by="model"), {"eta": 0.1, "counts": ("n_pos", "n_neg")}),
        (DF.with_columns(w=2.0), {"eta": None, "weight": "w"}),
        (
            DF.with_columns(kind=pl.when("label").then(pl.lit("x")).otherwise(pl.lit("y"))).lazy(),
            {"eta": None, "label": "kind", "pos_label": "x"},
        ),
    ],
)
def test_other_inputs(table: Any, how: dict[str, Any], tmp_path: Path) -> None:
    seen = reported(table, tmp_path, model="model", recall=0.5, **how)
    assert "Use " in seen.within("h2")


def test_rates_have_no_thresholds_and_no_intervals(tmp_path: Path) -> None:
    rates = DF.prc.sweep(by="model").select("model", tpr="recall", fpr="fpr")
    seen = reported(rates, tmp_path, 0.1, model="model", recall=0.5, rates=("tpr", "fpr"))
    assert any("The rates come without numbers of examples" in line for line in seen.within("li"))
    assert "alert at" not in find_box(seen)


POINTS = pl.DataFrame(
    {
        "model": ["a", "a", "a", "b", "b", "b"],
        "t": [0.9, 0.5, 0.1, 0.8, 0.5, 0.2],
        "tp": [60, 120, 180, 50, 130, 160],
        "fp": [6, 60, 600, 3, 120, 900],
        "tpr": [0.3, 0.6, 0.9, 0.25, 0.65, 0.8],
        "fpr": [0.001, 0.01, 0.1, 0.0005, 0.02, 0.15],
    }
).with_columns(fn=200 - pl.col("tp"), tn=6000 - pl.col("fp"))


def list_needed(df: pl.DataFrame, eta: float, **how: Any) -> list[float]:
    """Return how many examples make precision known to 10 points, and to half of it, at a prevalence."""
    widths: list[dict[str, Any]] = [{"delta": 0.1}, {"delta": 0.5, "relative": True}]
    tables = [df.prc.sample_size(eta=eta, by="model", **width, **how) for width in widths]
    columns = ("n_pos_needed", "n_neg_needed")
    return [max(ends) for name in columns for ends in zip(*(t[name] for t in tables), strict=True)]


@pytest.mark.parametrize("eta", [0.3, 0.001])
def test_examples_needed_are_those_at_the_share_of_the_report(eta: float, tmp_path: Path) -> None:
    """At any share of positives it takes several times as many."""
    seen = reported(DF, tmp_path, [eta, 0.5], model="model", recall=0.5)
    cells = " ".join(seen.within("b") + seen.within("td"))
    for n in list_needed(DF, eta, recall=0.5):
        assert say_number(n) in cells
    words = f"at the scores above, where {say_eta(eta)} is positive"
    assert any(words in text for text in seen.within("span"))


@pytest.mark.parametrize("kind", ["sizes", "cells"])
def test_published_points_with_numbers_of_examples(kind: str, tmp_path: Path) -> None:
    """Points have intervals, which decide; areas have none, and the page says why."""
    published: dict[str, Any] = {"rates": ("tpr", "fpr"), "sizes": (200, 6000)}
    if kind == "cells":
        published = {"cells": ("tp", "fp", "fn", "tn"), "score": "t"}
    how: dict[str, Any] = {"model": "model", "recall": 0.5, **published}
    etas = eta_from_sample(30, 3000).drop("eta_confidence").with_columns(eta_confidence=0.95)
    seen = reported(POINTS, tmp_path, etas, **how)
    box, cells = find_box(seen), " ".join(seen.within("span") + seen.within("b") + seen.within("td"))
    points = POINTS.prc.operating_points(etas, by="model", recall=0.5, confidence=0.95, **published)
    for row in points.iter_rows(named=True):
        assert f"{say_share(row['precision_low'])} to {say_share(row['precision_high'])}" in cells
    assert "The intervals of a and b overlap" in box  # since they carry the error of the prevalence
    assert ("alert at 0.5" in box) == (kind == "cells")
    assert "2 models, each tested on 6\u00a0200 cases, 200 of them positive (1\u00a0in\u00a031)" in box
    doubt = "What lies between two points is not known, so the area has no interval, and no lead in it"
    assert any(doubt in line for line in seen.within("li"))
    for n in list_needed(POINTS, 0.01, recall=0.5, **published):
        assert say_number(n) in cells
    with pytest.raises(PrcError, match="guarantee= needs every distinct score"):
        POINTS.prc.report(tmp_path / "report.html", 0.1, guarantee=0.9, **how)


def test_a_paper_of_unknown_sizes_stays_in_the_report(tmp_path: Path) -> None:
    sizes = PAPERS.with_columns(
        ill=pl.when(pl.col("paper") != "B").then(100), well=pl.when(pl.col("paper") != "B").then(4_000)
    )
    how: dict[str, Any] = {"model": "paper", "recall": 0.6, "rates": ("tpr", "fpr")}
    seen = reported(sizes, tmp_path, 0.001, **how, sizes=("ill", "well"))
    said = find_box(seen)
    assert "2 of 3 models, each tested on 4\u00a0100 cases, 100 of them positive" in said
    assert " B " in said
    doubts = " ".join(seen.within("b") + seen.within("li"))
    assert "How sure the numbers of B are." in doubts
    assert "The numbers of positives and negatives behind the rates of B." in doubts
    assert "unknown" in {text.strip() for text in seen.within("td")}
    none = sizes.with_columns(ill=None, well=None)
    seen = reported(none, tmp_path, 0.001, **how, sizes=("ill", "well"))
    assert any("The rates come without numbers of examples" in line for line in seen.within("li"))


def test_a_report_of_points_at_their_own_prevalence(tmp_path: Path) -> None:
    """A single curve, a budget that no point meets, and no target at all."""
    one = POINTS.filter(model="a").drop("t")
    published: dict[str, Any] = {"rates": ("tpr", "fpr"), "sizes": (200, 6000)}
    seen = reported(one, tmp_path, alerts=1, per=1000, precision=0.999, **published)
    assert "1\u00a0in\u00a031" in find_box(seen)
    assert not any("needed" in line for line in seen.within("th"))
    folder = tmp_path / "areas"
    folder.mkdir()
    points = POINTS.drop("t", "tpr", "fpr")
    seen = reported(points, folder, model="model", cells=("tp", "fp", "fn", "tn"))
    ranks = POINTS.prc.ranking(200 / 6200, **published)
    assert f"In the test a leads with {ranks['value'][0]:.3f}" in find_box(seen)


def test_a_report_of_weights_tells_numbers_of_examples(tmp_path: Path) -> None:
    """Weights that are equal within a class count as all of its examples, whatever they add up to."""
    df = DF.with_columns(w=pl.when("label").then(0.001).otherwise(0.25))
    how: dict[str, Any] = {"model": "model", "recall": 0.5}
    seen = reported(df, tmp_path, None, weight="w", **how)
    n_pos, n = DF["label"].sum() // 2, DF.height // 2
    assert f"2 models, each tested on {n} cases, {n_pos} of them positive, with weights" in find_box(
        seen
    )
    cells = [text.strip() for text in seen.within("td")]
    assert cells.count(str(n_pos)) == cells.count(str(n - n_pos)) == 2
    assert any("By its weights the test counts as so many" in text for text in seen.within("span"))
    sums = df.prc.counts(by="model", weight="w")
    squares = ("n_pos", "n_neg", "n_pos_squares", "n_neg_squares")
    said = find_box(reported(sums, tmp_path, None, counts=squares, **how))
    assert f"2 models, whose weights of positives add up to {0.001 * n_pos:.6g}, those of" in said


@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "w"])
def test_a_paired_report_is_of_complete_examples(weight: str | None, tmp_path: Path) -> None:
    """All its tables leave out an example that one model did not score, as its paired leads do."""
    rows = pl.int_range(pl.len()).over("model")
    pairs = DF.with_columns(
        label=pl.col("label").first().over(rows), row=rows // 3, part=rows % 3, w=1.0 + rows % 2
    )
    holes = pairs.with_columns(score=pl.when((rows % 50 != 7) | (pl.col("model") == "b")).then("score"))
    how: dict[str, Any] = {"model": "model", "id": ["row", "part"], "weight": weight}
    for name, df in (("a", holes), ("c", holes.lazy())):
        df.prc.report(tmp_path / f"{name}.html", [0.1, 0.01], missing="drop", **how)
    first, other = ((tmp_path / f"{name}.html").read_bytes() for name in "ac")
    assert other == first
    assert b"of differences on the same examples" in first
    pairs.filter(rows % 50 != 7).prc.report(tmp_path / "b.html", [0.1, 0.01], **how)
    complete = (tmp_path / "b.html").read_text(encoding="utf-8")
    left_out = first.decode().replace(
        " · 16 of 800 rows are left out, because a value is missing in them", ""
    )
    assert "left out, because" in first.decode()
    assert re.findall(r"<td.*?</td>", left_out) == re.findall(r"<td.*?</td>", complete)


def test_bytes_are_equal_whatever_the_order_of_rows(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.html" for number in range(2)]
    for file, df in zip(files, (DF, DF.sample(fraction=1, shuffle=True, seed=1).lazy()), strict=True):
        df.prc.report(file, [0.1, 0.01], model="model", recall=0.5, guarantee=0.9)
    first, other = (file.read_bytes() for file in files)
    assert other == first
    digest = hashlib.sha256(DF.prc.counts(by="model").write_csv().encode()).hexdigest()
    assert digest in first.decode()


@pytest.mark.slow
def test_odd_tables(tmp_path: Path) -> None:
    one_class = DF.with_columns(label=pl.col("label") & (pl.col("model") == "a"))
    tied = DF.with_columns(score=0.5)
    targets: dict[str, Any] = {"recall": 0.5, "precision": 0.9, "alerts": 5, "per": 1000}
    for df in (one_class, tied, DF.head(1), DF.filter("label"), DF.clear()):
        for how in ({"by": "model"}, {"model": "model", "guarantee": 0.9}):
            reported(df, tmp_path, [0.1, 0.0], **targets, **how)
    many = examples([f"m{number}" for number in range(30)], 60)
    seen = reported(many, tmp_path, 0.1, model="model", recall=0.5)
    assert any("24 more are in the numbers below." in text for text in seen.within("p"))


def test_hostile_names_are_only_text(tmp_path: Path) -> None:
    df = examples(HOSTILE, 40)
    for column in (HOSTILE[0], HOSTILE[-1]):
        how: dict[str, Any] = {"model": column, "title": column, "date": column, "recall": 0.5}
        seen = reported(df.rename({"model": column}), tmp_path, 0.1, **how)
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert seen.within("h1") == [visible(column)]
        for name in HOSTILE:
            assert visible(name) in seen.within("td")
        types = [attrs.get("type") for tag, attrs in seen.tags if tag == "script"]
        assert types.count(None) == 3  # Vega, the start of live charts, and what the pointer reads
        assert not any("onerror" in attrs for _, attrs in seen.tags)
        assert not any(tag == "img" for tag, _ in seen.tags)
        for spec in seen.within("script"):
            if spec.startswith("{"):
                json.loads(spec)
        assert text.count("<script>alert") == 0
        assert not UNSEEN.search(text)


def test_text_that_is_no_unicode_is_shown(tmp_path: Path) -> None:
    """A command line gives bytes of another encoding as halves of surrogate pairs."""
    broken = "caf\udce9 \ud800"
    parts = [f"## {broken}\n{broken}\n- {broken}", Table(pl.DataFrame({"a": [1]}), broken)]
    for how in ({"eta": 0.1, "notes": broken, "model": "model"}, {"parts": parts}):
        seen = reported(DF, tmp_path, title=broken, **how)
        assert seen.within("h1") == ["caf� �"]
        assert "caf� �" in seen.within("p")


@pytest.mark.parametrize(
    "how", [{"title": 3}, {"notes": 3}, {"date": 3}, {"title": b"x"}, {"notes": ["x"]}]
)
def test_a_title_that_is_no_text_is_refused_before_any_work(how: dict[str, Any], tmp_path: Path) -> None:
    [name] = how
    no_table = pl.DataFrame({"x": [1]})  # which would raise later
    with pytest.raises(PrcError, match=f"{name}= takes text; got"):
        no_table.prc.report(tmp_path / "r.html", 0.1, **how)
    if name == "title":
        with pytest.raises(PrcError, match="title= takes text; got"):
            no_table.prc.report(tmp_path / "r.html", parts=[object()], **how)


def test_rows_left_out_are_told(tmp_path: Path) -> None:
    row = pl.int_range(pl.len())
    gaps = DF.with_columns(score=pl.when(row % 100 == 7).then(None).otherwise("score"))
    seen = reported(gaps, tmp_path, 0.1, model="model", missing="drop")
    told = "8 of 800 rows are left out, because a value is missing in them"
    assert any(told in text for text in seen.within("p"))


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_colors_of_a_page_can_be_told_from_its_ground(ground: str) -> None:
    """3 : 1 for lines and bars, 4.5 : 1 for text, in both schemes (WCAG 2.2, 1.4.3 and 1.4.11)."""
    schemes = re.findall(r":root\{(?:color-scheme:light dark;)?(--c0.*?)\}", build_scheme())
    values = dict(pair.split(":") for pair in schemes[ground == "dark"].split(";"))

    def light_of(color: str) -> float:
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for name in ("--text", "--quiet", *(f"--c{number}" for number in range(8))):
        high, low = sorted((light_of(values[name]), light_of(values["--ground"])), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= (3 if name.startswith("--c") else 4.5), name


def test_charts_of_ones_own_with_control_characters(tmp_path: Path) -> None:
    names = ["a\x01b", "\ufffe", "c"]
    data = alt.InlineData(values=[{"n\x02": name, "v": i} for i, name in enumerate(names)])
    chart = alt.Chart(data, title="\x1b[1m").mark_bar().encode(x=alt.X("v:Q"), y=alt.Y("n\x02:N"))
    reported(DF, tmp_path, parts=[Figure(chart, "\x07")])
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not UNSEEN.search(text)
    drawn = base64.b64decode(re.findall(r'src="data:image/svg\+xml;base64,(.*?)"', text)[0]).decode()
    assert "a␁b" in drawn


# Pages ----------------------------------------------------------------------------------------


CHART = alt.Chart(alt.InlineData(values=[{"x": 1, "y": 2}])).mark_point().encode(x="x:Q", y="y:Q")


def test_parts_of_ones_own(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {"a": [1, 20_000], "b": [0.123456, None], "c": ["<x>", None], "d": [[1, 2], []]}
    )
    seen = reported(DF, tmp_path, parts=["## Mine\nfirst\n\nsecond\n- one\n- two", table, CHART])
    assert seen.within("h2") == ["Mine"]
    assert seen.within("p") == ["first", "second"]
    assert seen.within("li") == ["one", "two"]
    assert seen.within("td") == ["1", "0.1235", "<x>", "1, 2", "20\u00a0000", "–", "–"]


def test_the_picture_shows_the_intervals_that_were_asked_for(page: Seen, tmp_path: Path) -> None:
    def count_bands(seen: Seen) -> int:
        return sum(tag == "path" and a.get("opacity") in ("0.16", "0.08") for tag, a in seen.tags)

    assert count_bands(page) > 2
    assert count_bands(reported(DF, tmp_path, 0.01, model="model", confidence=None)) == 0


def test_clips_of_a_drawing_are_numbered_anew() -> None:
    clipped = alt.Chart(alt.InlineData(values=[{"x": 1}])).mark_rule(clip=True).encode(x="x:Q")
    pages = [build_page("Title", [clipped]) for _ in range(2)]
    assert pages[0] == pages[1]


def test_numbers_of_a_page_have_no_exponents() -> None:
    values = [1e-5, 1.2876e4, 93_664.7, 0.00000001234, 2.5, 123.456, -0.25, 1e-12, 0.0]
    seen = Seen(build_page("Title", [pl.DataFrame({"x": values})]))
    wanted = ["0.00001", "12 876", "93 665", "0.00000001234", "2.5", "123.5", "-0.25", "1e-12", "0"]
    assert [text.replace("\u00a0", " ") for text in seen.within("td")] == wanted


def test_small_areas_have_digits_that_say_something(tmp_path: Path) -> None:
    seen = reported(examples(["a", "b"]), tmp_path, 1e-5, model="model", recall=0.9)
    cells = [text for text in seen.within("td") if re.match(r"0\.\d", text)]
    assert cells
    assert not [text for text in cells if text.startswith("0.000 ") or "e-" in text]


def test_scripts_are_listed_and_nothing_is_loaded() -> None:
    text = build_page("Title", [CHART, Figure(CHART, "With a caption")])
    seen = Seen(text)
    policy = next(a["content"] for _, a in seen.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert str(policy).startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'")
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    assert len(scripts) == 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in html.unescape(str(policy))
    assert seen.within("figcaption") == ["With a caption"]
    assert not [a for _, a in seen.tags if str(a.get("src", "data:"))[:5] != "data:" or "href" in a]


def test_a_page_without_charts_has_no_script() -> None:
    text = build_page("Title", ["Only text", Table(pl.DataFrame({"x": range(600)}), "Long.")])
    assert "<script" not in text
    assert "script-src &#x27;none&#x27;" in text
    assert "Long. The first 500 of 600 rows." in text


def test_large_charts_stay_drawings_unless_they_move() -> None:
    values = [{"x": i, "y": "letters" * 10} for i in range(14_000)]
    large = alt.Chart(alt.InlineData(values=values)).mark_point().encode(x="x:Q")
    assert "application/json" not in build_page("Title", [large])
    slider = alt.param(bind=alt.binding_range(min=0, max=1), name="slider", value=0.5)
    assert "application/json" in build_page("Title", [large.add_params(slider)])


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("before")
    bad = DF.with_columns(score=pl.when(pl.int_range(pl.len()) == 5).then(None).otherwise("score"))
    with pytest.raises(PrcError, match="is null in 1 row"):
        bad.prc.report(path, 0.1, model="model")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "a lone surrogate: \ud800")
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"eta": 1.5}, r"must lie in \[0, 1\]"),
        ({"eta": None}, "its groups have 2; pass eta= as numbers"),
        ({"eta": 0.1, "model": "modl"}, "by= names the column 'modl'"),
        (
            {"eta": pl.DataFrame({"model": ["a", "b"], "eta": [0.1, 0.2]})},
            "models are compared at one prevalence; leave the column 'model' out of eta=",
        ),
        ({"eta": 0.1, "alerts": 5}, "alerts= needs per="),
        ({"eta": 0.1, "guarantee": 0.9}, "guarantee= promises that a target is met; pass recall="),
        ({"eta": 0.1, "guarantee": 95, "recall": 0.5}, "a level such as 0.95; got 95"),
        ({"eta": 0.1, "id": "row", "rates": ("label", "score")}, "id= pairs the examples of models"),
        ({"eta": 0.1, "id": "row", "cells": ("a", "b", "c", "d")}, "id= pairs the examples of models"),
        ({"eta": 0.1, "sizes": (3, 4)}, "sizes= are the numbers of examples behind rates="),
        (
            {"eta": 0.1, "fpr": 0.1},
            "a report has the targets recall=, precision= and alerts=, and no fpr=",
        ),
        ({"eta": 0.1, "parts": ["x"]}, "parts= replaces the report's own content; leave out eta="),
        ({"eta": 0.1, "path": "."}, "is a folder; give the name of a file"),
        ({"parts": [3], "model": None}, "text, a DataFrame or an Altair chart; got int"),
        ({"eta": 0.1, "recall": 2}, r"recall= takes numbers in \[0, 1\]"),
        ({"eta": 0.1, "recall": 0.5, "per": 0}, "per= takes a number of events above 0"),
        ({"eta": 0.1, "per": 10}, "per= counts the alerts at a target; pass recall="),
    ],
)
def test_arguments(how: dict[str, Any], words: str, tmp_path: Path) -> None:
    unlike = DF.filter((pl.col("model") == "a") | pl.col("label") | (pl.col("score") > 0))
    options = {"model": "model", **how}
    path = options.pop("path", "report.html")
    with pytest.raises(PrcError, match=words):
        unlike.prc.report(tmp_path / path, **options)
    with pytest.raises(PrcError, match="there is no folder"):
        DF.prc.report(tmp_path / "nowhere" / "report.html", 0.1)


def test_without_the_extra_a_report_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    bad = DF.with_columns(score=float("nan"))
    with pytest.raises(PrcError, match='pip install "vl-convert-python>='):  # before any work
        bad.prc.report(tmp_path / "report.html", 0.1, model="model")
    assert DF.prc.report(tmp_path / "own.html", parts=["words", DF.head(1)]).exists()


# A field of several parts -----------------------------------------------------------------------

IS_NORTH = pl.int_range(pl.len()) % 3 == 0
SITES = DF.with_columns(site=pl.when(IS_NORTH.over("model")).then(pl.lit("n")).otherwise(pl.lit("s")))
PARTS = pl.DataFrame({"site": ["n", "s"], "eta": [0.1, 0.02], "share": [1, 3]})
FIELD = field(PARTS, parts="site")


def test_a_field_of_parts(tmp_path: Path) -> None:
    """The models of the table are compared; positives in a sample stand for prevalences."""
    counted = PARTS.select("site", "share", k=pl.Series([9, 9]), n=pl.Series([90, 400]))
    sampled = field(counted, parts="site")
    seen = reported(SITES, tmp_path, sampled, recall=0.5)
    eta = 0.25 * 0.1 + 0.75 * 0.0225
    start = f"In the field of 2 parts (site), where {say_eta(eta)} is positive"
    assert any(text.startswith(start) for text in seen.within("p"))
    points = SITES.prc.operating_points(
        sampled, by="model", recall=0.5, confidence=0.95, metrics="precision"
    )
    best = points.sort("precision").row(-1, named=True)
    assert best["model"] in seen.within("span")
    assert say_share(best["precision"]) in seen.within("b")
    area = SITES.prc.summary(sampled, by="model", metrics="average_precision")
    for value in area["value"]:
        assert any(f"{value:.3f}" in text for tag in ("td", "b") for text in seen.within(tag))
    # The parts with their shares, and the examples of each, which both models share.
    cells = {text.replace("\u00a0", " ") for text in seen.within("td") + seen.within("th")}
    assert {"n", "s", "25 %", "75 %"} <= cells
    sizes = SITES.filter(model="a").group_by("site").agg(pl.col("label").sum())
    assert {str(n) for n in sizes["label"]} <= set(seen.within("td"))
    assert any("1 in 5" in text or " to " in text for text in seen.within("span"))
    heads = [*seen.within("h2"), *seen.within("h3")]
    assert "The field" in heads
    assert "Other shares of positives" not in heads
    assert {"Other fields.", "How many examples would settle it."} <= set(seen.within("b"))
    assert any("Errors of areas are those of samples of the parts" in text for text in seen.within("p"))
    assert any(
        "of several parts, weighted for the field, which counts as" in text for text in seen.within("p")
    )


def test_a_field_without_false_alerts_says_so(tmp_path: Path) -> None:
    alone = SITES.filter(model="a").with_columns(score=pl.col("score") + 9 * (pl.col("label") > 0))
    seen = reported(alone.drop("model"), tmp_path, FIELD, recall=0.5)
    assert any("came at this score or above" in text for text in seen.within("li"))
    assert "100\u00a0%" in seen.within("b")


def test_a_field_of_parts_by_group_with_a_promise(tmp_path: Path) -> None:
    groups = SITES.rename({"model": "market"})
    many = pl.concat([groups] * 8)
    seen = reported(many, tmp_path, FIELD, by="market", precision=0.05, guarantee=0.9)
    assert any("by market" in text for text in seen.within("h2"))
    sure = many.prc.operating_points(FIELD, by="market", precision=0.05, guarantee=0.9)
    assert sure["threshold"].is_not_null().any()
    for threshold in sure["threshold"].drop_nulls():
        assert any(text.startswith(f"{threshold}") for text in seen.within("td"))
    assert any("it is not proven" in text for text in seen.within("p"))
    none = reported(groups, tmp_path, FIELD, by="market", precision=0.999, guarantee=0.9)
    assert any("better scores, or a larger test" in text for text in none.within("p"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "column"),
    [
        ({"eta": 0.1, "recall": 0.5}, None),
        ({"eta": 0.1}, "model"),
        ({"eta": 0.1, "by": "market", "recall": 0.5}, "market"),
        ({"eta": FIELD, "recall": 0.5}, "model"),
    ],
)
def test_reversed_scores_are_told_first(
    tmp_path: Path, asked: dict[str, Any], column: str | None
) -> None:
    is_b = pl.col("model") == "b"
    turned = SITES.with_columns(pl.when(is_b).then(-pl.col("score")).otherwise("score"))
    table, right = (
        each.rename({"model": column}) if column else each.filter(is_b).drop("model")
        for each in (turned, SITES)
    )
    of = " of b" if column else ""
    seen = reported(table, tmp_path, **asked)
    told = f"The scores{of} rank the wrong way round: pass -score."
    box = seen.texts[[at for at, _ in seen.texts].index("h2") :]
    assert next(text for at, text in box if at == "p") == told
    assert any(text.strip().startswith(told[:-1]) for text in seen.within("li"))
    unturned = reported(right, tmp_path, **asked)
    assert not any("wrong way round" in text for _, text in unturned.texts)


def test_methods_say_that_rows_are_independent(page: Seen) -> None:
    assert any("Rows are taken as independent" in text for text in page.within("p"))


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1, -1])
def test_a_report_has_one_threshold(tmp_path: Path, sign: int) -> None:
    score = pl.Series(sign * (3 + np.random.default_rng(1).normal(size=400)))
    table = DF.filter(model="a").drop("model").with_columns(score + pl.col("label"))
    seen = reported(table, tmp_path, 0.1, recall=0.7)
    [head] = [text for text in seen.within("h2") if text.startswith("Alert at ")]
    told = head.removeprefix("Alert at ").removesuffix(" or more")
    [title] = [text for text in seen.within("h3") if text.startswith("At ")]
    assert title.startswith(f"At {told}, ")
    threshold = table.prc.operating_points(recall=0.7)["threshold"].item()
    flagged = table["score"] >= float(told)
    assert flagged.equals(table["score"] >= threshold)
    assert float(say_threshold(threshold)) <= threshold


@pytest.mark.slow
@pytest.mark.parametrize("own", [False, True])
def test_models_of_a_field_compete_where_one_lacks_scores(tmp_path: Path, own: bool) -> None:
    row, lacks = pl.int_range(pl.len()).over("model"), pl.col("model") == "b"
    lacking = SITES.with_columns(score=pl.when(~lacks | (row % 50 > 0)).then("score"))
    eta = pl.when(pl.col("site") != "s" if own else True).then("eta")
    parts = field(PARTS.with_columns(eta), parts="site")
    seen = reported(lacking, tmp_path, parts, recall=0.5, missing="drop")
    [head] = [text for at, text in seen.texts if at == "h2"][:1]
    assert head == "Use "


def test_a_frame_of_eta_may_be_of_another_library(tmp_path: Path) -> None:
    etas = pl.DataFrame({"market": ["a", "b"], "eta": [0.1, 0.01]})
    table = MARKETS.prc(by="market")
    first = table.report(tmp_path / "polars.html", etas).read_bytes()
    assert table.report(tmp_path / "arrow.html", etas.to_arrow()).read_bytes() == first


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"eta": field(PARTS.head(1), "site")}, "no row for 2 group.*site = s"),
        (
            {"eta": field(PARTS.with_columns(model=pl.lit("a")), "site")},
            "compared in one field; leave the column 'model' out of eta=",
        ),
        ({"weight": "row"}, "a field takes examples, and weighs them itself; leave out weight="),
        ({"cells": ("row", "row", "row", "row")}, "leave out cells="),
        ({"by": "site"}, "by= and parts= both hold the column 'site'"),
        ({"model": "site"}, "model= and parts= both hold the column 'site'"),
        ({"parts": ["x"]}, "replaces the report's own content; leave out eta="),
    ],
)
def test_what_a_report_of_a_field_refuses(tmp_path: Path, options: dict[str, Any], hint: str) -> None:
    table = SITES.with_row_index("row")
    with pytest.raises(PrcError, match=hint):
        table.prc.report(tmp_path / "report.html", **{"eta": FIELD, **options})


def test_parts_that_are_bound_are_no_groups_of_a_field(tmp_path: Path) -> None:
    bound = SITES.prc(by="site", model="model")
    bound.report(tmp_path / "bound.html", FIELD, recall=0.5)
    SITES.prc.report(tmp_path / "said.html", FIELD, model="model", recall=0.5)
    assert (tmp_path / "bound.html").read_bytes() == (tmp_path / "said.html").read_bytes()


# A wide table -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "eta", [0.1, field(pl.DataFrame({"site": [0, 1], "eta": [0.1, None], "share": 1}), "site")]
)
@pytest.mark.parametrize("missing", ["raise", "drop"])
def test_models_of_a_wide_table_are_compared_on_its_rows(eta: Any, missing: Any, tmp_path: Path) -> None:
    """Its page is that of the long table, but for rows left out: these are rows of the wide table."""
    hole = pl.col("row") == 5
    long = paired_scores(600, 0.3).with_columns(site=pl.col("row") % 2)
    if missing == "drop":
        long = long.with_columns(score=pl.when(~(hole & (pl.col("model") == "b"))).then("score"))
    wide = long.pivot("model", index=["row", "label", "site"], values="score").drop("row")
    how: dict[str, Any] = {"eta": eta, "recall": 0.5, "missing": missing}
    long.prc.report(tmp_path / "long.html", id="row", **how)
    expected = (tmp_path / "long.html").read_text(encoding="utf-8")
    expected = re.sub("2 of 1.200 rows", "1 of 600 rows", expected)
    for number, table in enumerate((wide, wide.lazy())):
        path = table.prc.report(tmp_path / f"{number}.html", score=["a", "b"], **how)
        assert path.read_text(encoding="utf-8") == expected


def test_classes_of_a_wide_table_are_groups(tmp_path: Path) -> None:
    """Also in a field whose shares of the true classes are known."""
    draw = np.random.default_rng(2)
    kinds = pl.Series("kind", draw.choice(["x", "y", "z"], 300))
    scores = {kind: (kinds == kind).cast(float) + draw.normal(size=300) for kind in "xyz"}
    wide = pl.DataFrame([kinds, *(scores[kind].alias(f"p_{kind}") for kind in "xyz")])
    columns = {kind: f"p_{kind}" for kind in "xyz"}
    table = wide.prc(label="kind", score=columns)
    table.report(tmp_path / "wide.html", recall=0.5)
    long = wide.prc.one_vs_rest(label="kind", scores=columns)
    long.prc.report(tmp_path / "long.html", by="class", recall=0.5)
    assert (tmp_path / "wide.html").read_bytes() == (tmp_path / "long.html").read_bytes()
    mix = class_mix({"x": 1, "y": 2, "z": 7})
    seen = Seen(table.report(tmp_path / "mix.html", mix, recall=0.5).read_text(encoding="utf-8"))
    points = table.operating_points(mix, recall=0.5)
    cells = {text.strip() for text in seen.within("td")}
    assert {say_share(value) for value in points["precision"]} <= cells


def test_a_column_model_is_compared_unless_it_is_told_otherwise(tmp_path: Path) -> None:
    """Also if `by` names it, too: a column counts once."""
    paths = [tmp_path / f"{number}.html" for number in range(3)]
    for path, how in zip(paths, ({}, {"model": "model"}, {"by": "model"}), strict=True):
        DF.prc.report(path, 0.1, recall=0.5, **how)
    assert len({path.read_bytes() for path in paths}) == 1


def test_numbers_come_in_the_order_of_the_target_and_of_the_question(tmp_path: Path) -> None:
    draw, label = np.random.default_rng(1), np.arange(200) < 60
    frame = pl.concat(
        pl.DataFrame({"model": name, "label": label, "score": draw.normal(size=200) + shift * label})
        for name, shift in {"a": 0.4, "b": 1.2, "c": 2.0}.items()
    )
    path = frame.prc.report(tmp_path / "r.html", [0.01, 0.2, 1e-4], model="model", recall=[0.5, 0.7])
    text = path.read_text("utf-8")
    start, end = text.index("Other targets and shares"), text.index("Each column is a share")
    assert re.findall(r'<th scope="row">(\w)</th>', text[end:])[:3] == ["c", "b", "a"]
    others = re.findall(r"(1\xa0in\xa0[\d\xa0]+)\)", text[start:end])
    asked = ["1\xa0in\xa0100", *["1\xa0in\xa05"] * 2, *["1\xa0in\xa010\xa0000"] * 2]
    assert list(dict.fromkeys(others)) == list(dict.fromkeys(asked))
