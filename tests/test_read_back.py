"""What is printed as `x (a to b)` is a row: documents, terminal prints and charts are read back."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import polars.selectors as cs
import pytest

from polars_prcurve import Decision, class_mix, eta_from_sample, field, prc
from polars_prcurve.core.prevalence.prior_shift import shift_prior
from polars_prcurve.view.words.number_words import keep_together
from tests.support.model_tests import COINS, EQUAL, LITTLE, SETTLED, draw_models
from tests.support.page_reader import PageReader
from tests.support.tiers import slow_unless


class Design(NamedTuple):
    """A bound table, a prevalence, and what is decided."""

    table: Any
    eta: Any
    arguments: dict[str, Any]


def draw_sites(n_sites: int) -> pl.DataFrame:
    """Return scores of one model at so many sites, the last of which has no positives."""
    sites = [
        draw_models({"score": 1.0 + number % 3}, 60, 600, seed=number).with_columns(
            site=pl.lit(f"s{number}")
        )
        for number in range(n_sites)
    ]
    return pl.concat([*sites[:-1], sites[-1].filter(~pl.col("label")) if n_sites > 2 else sites[-1]])


DESIGNED = SETTLED.with_columns(
    w=pl.when("label").then(1.0).otherwise(pl.int_range(pl.len()) % 3 + 1.0),
    patient=pl.int_range(pl.len()) // 3,
    stratum=(pl.col("new") > 1).cast(pl.Int8),
    part=pl.int_range(pl.len()) % 2,
)
WEIGHTS = DESIGNED.with_columns(w=pl.when(pl.col("new") > 1).then(1.0).otherwise(4.0))
KINDS = SETTLED.select(
    kind=pl.when("label")
    .then(pl.lit("a"))
    .when(pl.int_range(pl.len()) % 4 == 0)
    .then(pl.lit("b"))
    .otherwise(pl.lit("c")),
    p="new",
    q="old",
)
MIX = class_mix({"a": 0.1, "b": 0.2, "c": 0.7})
WEAK = draw_models({"score": 0.8}, 300, 30_000).with_columns(pl.col("score").clip(upper_bound=1.5))
WEAKER = WEAK.with_columns(other=pl.col("score").clip(upper_bound=1.0)).prc(score=["score", "other"])
OF_SITES = pl.concat(
    frame.rename(dict(zip(frame.columns, ("label", "new", "old"), strict=True))).with_columns(
        site=pl.lit(site)
    )
    for site, frame in (("x", SETTLED), ("y", EQUAL))
)
CAPS = {"alerts": 200, "per": 10_000, "precision": 0.2}
PARTS = pl.DataFrame({"part": [0, 1], "eta": [0.05, 0.001], "share": [0.3, 0.7]})
CELLS = pl.DataFrame({"tp": [202], "fp": [3], "fn": [10], "tn": [354]})
TOPICS = pl.concat(
    draw_models({"a": 1.0 + 2 * number, "b": 1.5}, 5, 20, seed=number).with_columns(
        topic=pl.lit(f"t{number}"), lang=pl.lit("en" if number < 2 else "fr")
    )
    for number in range(4)
)
BOTH = ["new", "old"]
HALF = {"recall": 0.5}
DESIGNS: dict[str, Design] = {
    "winner": Design(SETTLED.prc(score=BOTH), 0.02, HALF),
    "no winner": Design(EQUAL.prc(score=["one", "other"]), 0.02, HALF),
    "no target": Design(EQUAL.prc(score=["one", "other"]), 0.02, {}),
    "chance": Design(COINS.prc(score=["heads", "tails"]), 0.02, HALF),
    "little": Design(LITTLE.prc(score=["a", "b"]), 0.02, HALF),
    "measured": Design(SETTLED.prc(score="new"), 0.02, {"alerts": 100, "per": 10_000}),
    "gate": Design(SETTLED.prc(score="new"), 0.02, {"threshold": 2.0, "precision": 0.5, "fpr": 0.1}),
    "guarantee": Design(SETTLED.prc(score=BOTH), 0.02, {"precision": 0.2, "guarantee": 0.95}),
    "out of reach": Design(prc(WEAK), 0.001, {"precision": 0.5}),
    "several targets": Design(SETTLED.prc(score=BOTH), 0.02, CAPS),
    "best F1": Design(SETTLED.prc(score=BOTH), 0.02, {"maximize": "f1"}),
    "rare": Design(SETTLED.prc(score=BOTH), 1e-5, {"alerts": 500, "per": 1_000_000}),
    "prevalences": Design(SETTLED.prc(score=BOTH), [0.3, 0.02, 0.001], HALF),
    "an estimate": Design(SETTLED.prc(score=BOTH), eta_from_sample(5, 1_000), HALF),
    "own prevalence": Design(SETTLED.prc(score="new"), None, HALF),
    "weight": Design(DESIGNED.prc(score=BOTH, weight="w"), 0.02, HALF),
    "stratum": Design(WEIGHTS.prc(score="new", weight="w", stratum="stratum"), 0.02, HALF),
    "cluster": Design(DESIGNED.prc(score=BOTH, cluster="patient"), 0.02, HALF),
    "field": Design(DESIGNED.prc(score=BOTH), field(PARTS, parts="part"), HALF),
    "class mix": Design(KINDS.prc(score={"a": "p", "b": "q"}, label="kind"), MIX, HALF),
    "counts": Design(SETTLED.prc.counts(score="new").prc(counts=("n_pos", "n_neg")), 0.02, HALF),
    "cells": Design(prc(CELLS, cells=("tp", "fp", "fn", "tn")), 0.004, {}),
    "cells of a gate": Design(prc(CELLS, cells=("tp", "fp", "fn", "tn")), 0.004, {"precision": 0.2}),
    **{
        f"{n} sites": Design(draw_sites(n).prc(by="site"), 0.02, HALF) for n in (2, 6, 40)
    },
    "sites of a gate": Design(draw_sites(6).prc(by="site"), 0.02, {"threshold": 2.0, "precision": 0.2}),
    "gate missed": Design(SETTLED.prc(score="new"), 0.02, {"threshold": 1.0, "precision": 0.3}),
    "gate of alerts missed": Design(
        SETTLED.prc(score="new"), 0.02, {"threshold": 0.5, "alerts": 500, "per": 10_000}
    ),
    "sites that miss a gate": Design(
        draw_sites(6).prc(by="site"), 0.02, {"threshold": 2.5, "recall": 0.4}
    ),
    "not met by models": Design(WEAKER, 0.001, {"precision": 0.5}),
    "not met together": Design(SETTLED.prc(score=BOTH), 0.001, {"recall": 0.9, "precision": 0.9}),
    "one does not meet it": Design(SETTLED.prc(score=BOTH), 0.02, {"precision": 0.6}),
    "too many alerts": Design(prc(WEAK), 0.02, {"alerts": 200, "per": 10_000}),
    "best MCC of coins": Design(COINS.prc(score=["heads", "tails"]), 0.02, {"maximize": "mcc"}),
    "few topics": Design(TOPICS.prc(score=["a", "b"], by="topic"), None, {"mean_over": "topic"}),
    "few topics of languages": Design(
        TOPICS.prc(score="b", by=["lang", "topic"]), None, {"mean_over": "topic"}
    ),
    "low thresholds": Design(SETTLED.with_columns(pl.col(BOTH) - 9).prc(score=BOTH), 0.02, HALF),
    "two prevalences": Design(EQUAL.prc(score=["one", "other"]), [0.3, 0.02], {}),
    "sites without a target": Design(draw_sites(6).prc(by="site"), 0.02, {}),
    "sites of models": Design(OF_SITES.prc(score=BOTH, by="site"), 0.02, HALF),
}  # fmt: skip
QUICK = (
    *("winner", "little", "gate", "weight", "cells of a gate", "6 sites", "prevalences", "few topics"),
)


@cache
def decide(name: str) -> Decision:
    design = DESIGNS[name]
    return design.table.decide(design.eta, **design.arguments)  # type: ignore[no-any-return]


# Rows -----------------------------------------------------------------------------------------


def list_rows(decision: Decision) -> Iterator[tuple[float, float, float]]:
    """Yield values and ends that may be printed: of the table, of what is drawn, and moved by eta."""
    evidence = decision._judgement.evidence
    for frame in (decision.table, evidence.curves):
        for name in frame.columns:
            if f"{name}_low" in frame.columns:
                for value, low, high in frame.select(name, f"{name}_low", f"{name}_high").iter_rows():
                    if None not in (value, low, high):
                        yield value, low, high
    per = evidence.per
    if "predicted_positive_rate" in evidence.curves.columns:
        shares = evidence.curves.select(
            cs.matches("^predicted_positive_rate(_low|_high)?$")
        ).drop_nulls()
        yield from (shares * per).iter_rows()
    areas = evidence.areas.filter(metric="average_precision")
    yield from areas.select("value", "low", "high").drop_nulls().iter_rows()
    if evidence.curves.is_empty():  # of means over groups, which are said to be within their range
        means = decision.table.select(cs.matches("^mean_average_precision(_low|_high)?$")).drop_nulls()
        yield from means.select(pl.all().clip(0, 1)).iter_rows()
        return
    name = "precision" if "precision" in decision.table.columns else "precision_at_half"
    columns = [name, f"{name}_low", f"{name}_high"]
    for eta, *ends in decision.table.select("eta", *columns).drop_nulls().iter_rows():
        for other_eta in (eta / 5, min(5 * eta, 0.5 if eta <= 0.1 else (1 + eta) / 2)):
            low, value, high = sorted(shift_prior(end, eta, other_eta) for end in ends)
            yield value, low, high


def is_rounded(text: str, number: float) -> bool:
    """Return whether a text is a number rounded to its digits, two or more of which count."""
    digits = text.replace(",", "").replace("\u2212", "-")
    _, _, decimals = digits.partition(".")
    n_zeros = len(digits) - len(digits.rstrip("0")) if not decimals else 0
    unit = 10.0 ** (-len(decimals) if decimals else min(n_zeros, max(len(digits.lstrip("-")) - 2, 0)))
    return abs(float(digits) - number) <= 0.5001 * unit


def is_row(texts: tuple[str, ...], rows: list[tuple[float, float, float]]) -> bool:
    """Return whether value and ends, or ends alone, are those of a row, as they are or in per cent."""
    numbers_of_rows = (
        [scale * number for number in row[-len(texts) :]] for row in rows for scale in (1, 100)
    )
    return any(all(map(is_rounded, texts, numbers)) for numbers in numbers_of_rows)


# Texts ----------------------------------------------------------------------------------------

NUMBER = r"(\u2212?\d[\d,]*(?:\.\d+)?)%?"
IN_BRACKETS = re.compile(rf"{NUMBER}(?: points)? \({NUMBER} to {NUMBER}\)")
BARE = re.compile(rf"{NUMBER} {NUMBER} to {NUMBER}")
ANYTHING = re.compile(rf"could be anything from {NUMBER} to {NUMBER}")


def plain(text: str) -> str:
    return " ".join(html.unescape(text).replace("\u00a0", " ").replace("\\", "").split())


def list_intervals(decision: Decision, folder: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each interval of each document, with the name of the document."""
    report = PageReader(decision.report(folder / "report.html").read_text("utf-8"))
    texts = {
        "verdict": " ".join([str(decision.verdict), *decision.verdict.reasons]),
        "verdicts": " ".join(decision.verdicts["sentence"]),
        "terminal": decision.say(200),
        "narrow terminal": decision.say(60),
        "model card": decision.model_card(),
        "report": report.read(),
    }
    for name, text in texts.items():
        for pattern in (IN_BRACKETS, ANYTHING):
            yield from ((name, found) for found in pattern.findall(plain(text)))
    for tile in re.findall(r"<dd>(.*?)</dd>", (folder / "report.html").read_text("utf-8")):
        yield from (("tiles", found) for found in BARE.findall(plain(re.sub("<.*?>", "", tile))))
    labels = " | ".join(str(attributes.get("aria-label")) for _, attributes in report.tags)
    yield from (("pictures", found) for found in IN_BRACKETS.findall(plain(labels)))


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("name", slow_unless(lambda name: name in QUICK, DESIGNS))
def test_each_interval_that_is_printed_is_a_row(name: str, tmp_path: Path) -> None:
    decision = decide(name)
    rows = list(list_rows(decision))
    intervals = list(list_intervals(decision, tmp_path))
    wrong = [(place, texts) for place, texts in intervals if not is_row(texts, rows)]
    assert not wrong, wrong[:5]
    places = {place for place, _ in intervals}
    assert {"terminal", "report"} <= places or name == "out of reach"


CHARTED = ["winner", "no winner", "measured", "weight"]


@pytest.mark.parametrize("name", slow_unless(lambda name: name == "winner", CHARTED))
def test_each_interval_on_a_chart_of_a_decision_is_a_row(name: str) -> None:
    design, decision = DESIGNS[name], decide(name)
    rows = list(list_rows(decision))
    for chart in ("pr_curve", "threshold_curve"):
        drawn = getattr(design.table.plot, chart)(points=decision).to_dict()
        texts = [json.dumps(drawn["title"], ensure_ascii=False)]
        texts += [row["text"] for data in drawn["datasets"].values() for row in data if "text" in row]
        found = [texts_ for text in texts for texts_ in IN_BRACKETS.findall(plain(str(text)))]
        assert found
        assert not [each for each in found if not is_row(each, rows)]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", slow_unless(lambda name: name in QUICK, DESIGNS))
def test_numbers_below_0_have_a_minus_sign_and_stay_in_the_picture(name: str, tmp_path: Path) -> None:
    """A line may end at a hyphen, also inside an interval; and an axis from 0 on would lose its line."""
    decision = decide(name)
    report = PageReader(decision.report(tmp_path / "report.html").read_text("utf-8"))
    texts = [decision.say(200), decision.model_card().replace("| --- ", ""), report.read()]
    for text in (*texts, *decision.verdict.reasons, decision.verdict.would_settle):
        assert not re.findall(r"(?<![\w.-])-\d", text), re.findall(r".{20}(?<![\w.-])-\d.{9}", text)
    width = height = math.inf
    for tag, attributes in report.tags:
        if tag == "svg":
            _, _, width, height = map(float, (attributes.get("viewbox") or "0 0 inf inf").split())
        for key, end in {**dict.fromkeys(("x1", "x2", "cx", "x"), width), "y1": height}.items():
            if tag in ("line", "circle", "text") and key in attributes:
                assert 0 <= float(attributes[key] or 0) <= end, (tag, attributes)
    if not decision._judgement.goal.targets and not decision._judgement.goal.is_of_point:
        models = [attributes for _, attributes in report.tags if attributes.get("class") == "model"]
        assert not models, "icons are of a target"


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "name", ["winner", "no winner", "chance", "not met by models", "weight", "rare"]
)
def test_names_above_a_chart_have_the_colours_of_their_lines(name: str, tmp_path: Path) -> None:
    text = decide(name).report(tmp_path / "report.html").read_text("utf-8")
    charts = re.findall(r"<svg[^>]*Precision of each model by its recall.*?</svg>", text)
    assert len(charts) == 2
    [names] = re.findall(r'<ul class="names">(.*?)</ul>', text)
    colors = re.findall(r'<li style="color:(.*?)">', names)
    assert len({*colors}) == 2
    assert all(f"stroke:{color}" in chart for chart in charts for color in colors)


def test_another_threshold_meets_what_the_one_passed_misses() -> None:
    """The one that is named is met by its own interval, on the same rows."""
    for name, (word, limit) in {
        "gate missed": ("precision", 0.3),
        "gate of alerts missed": ("alerts", 500 / 10_000),
        "sites that miss a gate": ("recall", 0.4),
    }.items():
        verdict = decide(name).verdict
        assert verdict.status == "not_met"
        one = re.search(
            r"(?:For (s\d): on|On) this test set, threshold (\S+) meets", verdict.would_settle
        )
        several = re.search(r"other thresholds meet the target: (\S+) for (s\d)", verdict.would_settle)
        assert one or several
        where, said = one.groups() if one else several.groups()[::-1]
        metric = "predicted_positive_rate" if word == "alerts" else word
        points = DESIGNS[name].table.operating_points(
            0.02, threshold=float(said), metrics=metric, confidence=0.95
        )
        row = (points if where is None else points.filter(site=where)).row(0, named=True)
        assert row[f"{metric}_high"] <= limit if word == "alerts" else row[f"{metric}_low"] >= limit


def test_a_target_that_no_model_meets_has_the_best_that_is_reached(tmp_path: Path) -> None:
    for name, opening in {
        "not met by models": "No threshold meets 50% precision: the highest precision is ",
        "not met together": "No threshold meets 90% recall and 90% precision: "
        "with 90% recall the highest precision is ",
        "too many alerts": "No threshold meets a budget of 200 alerts per 10,000 cases: "
        "the lowest number of alerts is ",
    }.items():
        decision = decide(name)
        assert decision.verdict.status == "not_met"
        assert plain(decision.verdict.sentence).startswith(opening)
        cells = PageReader(decision.report(tmp_path / "report.html").read_text("utf-8")).within("td")
        seen = cells[: 2 if "models" in name or "together" in name else 0]
        assert all("the highest precision is" in cell for cell in seen), "and no dashes"


def test_a_wrong_number_is_seen() -> None:
    assert is_rounded("12", 12.4)
    assert not is_rounded("12", 12.6)
    assert is_rounded("3,600", 3_640)
    assert not is_rounded("3,600", 3_660)
    assert is_rounded("600", 595.2)
    assert not is_rounded("600", 580)
    assert is_row(("88", "79", "94"), [(0.884, 0.793, 0.938)])
    assert not is_row(("88", "78", "94"), [(0.884, 0.793, 0.938)])


def test_precision_at_other_prevalences_is_that_of_the_methods() -> None:
    """The report moves the interval of a decision; the methods give the same ends there."""
    table, other_eta = SETTLED.prc(score="new"), 0.1
    metric = "precision_at_recall(0.5)"
    summaries = (table.summary(eta, metrics=metric, confidence=0.95) for eta in (0.02, other_eta))
    points = (table.operating_points(eta, recall=0.5, confidence=0.95) for eta in (0.02, other_eta))
    for frames, columns in (
        (summaries, ["value", "low", "high"]),
        (points, ["precision", "precision_low", "precision_high"]),
    ):
        ends, ends_there = (frame.select(columns).row(0) for frame in frames)
        assert [shift_prior(end, 0.02, other_eta) for end in ends] == pytest.approx([*ends_there])


def test_no_line_breaks_inside_an_interval_or_before_a_unit() -> None:
    """Of a number whose half stands in the next line, the first half is read alone."""
    broken = re.compile(
        r"(?m)\([^()\n]*\bto$|\([\d.,%]+$|(?<![\w.,])1( in)?$|\d\n(points|positives|negatives|more)"
    )
    for name in QUICK:
        for width in range(40, 100, 7):
            text = decide(name).say(width)
            assert not re.findall(broken, text), (name, width)
    sentence = "Precision 52% (45 to 58) of 28,000 negatives (27,000 more) at 1 in 80 and 50% recall"
    parts = keep_together(sentence).split(" ")
    assert {"(45\u00a0to\u00a058)", "28,000\u00a0negatives", "1\u00a0in\u00a080", "50%\u00a0recall"} <= {
        *parts
    }
