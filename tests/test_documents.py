"""Documents of decisions: report, page and model card say the verdict, and nothing harmful."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
import subprocess
import sys
from datetime import time, timedelta
from decimal import Decimal
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from polars_prcurve import Decision, PrcError, class_mix, prc
from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.ground.message_text import format_count
from polars_prcurve.core.ground.terminal_text import measure_width
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS
from polars_prcurve.doors.namespace.plot import PlotPrc, _read_decision
from polars_prcurve.view.charts.parts import icon_counts
from polars_prcurve.view.report.custom_page import build_page
from polars_prcurve.view.report.decision_drawings import MOST_ICONS, Curve, draw_curves, list_icons
from polars_prcurve.view.report.page_style import build_scheme
from polars_prcurve.view.report.result_text import Layout, format_table
from polars_prcurve.view.verdicts.target_phrases import describe_limit
from polars_prcurve.view.verdicts.value_phrases import is_rarely_right, write_merit, write_value
from polars_prcurve.view.words.number_words import map_etas, say_eta, say_share, say_threshold
from polars_prcurve.view.words.shown_names import ISOLATES
from tests.support.model_tests import COINS, EQUAL, LITTLE, SETTLED, STATUSES_OF, draw_models
from tests.support.page_reader import HOSTILE, UNSEEN, PageReader, show
from tests.support.tiers import slow_unless

SITES = pl.concat(
    draw_models({"score": 1.0 + number % 3}, 60, 600, seed=number).with_columns(
        site=pl.lit(f"s{number:02}")
    )
    for number in range(40)
)
"""One model at forty sites."""
LONG_NAMES = [
    "Gradient boosting with isotonic calibration, retrained in March 2026",
    "شبكة عصبية عميقة مع معايرة النتائج لعام 2026",
    "病院間で共有した画像分類モデル（第二版・校正済み）",
]
LONG = pl.concat(
    draw_models(
        dict(zip(LONG_NAMES, (2.2, 2.0, 1.2 if number % 3 else 4.0), strict=True)), 40, 600, seed=number
    ).with_columns(site=pl.lit(f"s{number:02}"))
    for number in range(12)
)
"""Three models of long names, in three scripts, at twelve sites."""


def bind(df: pl.DataFrame, **words: Any) -> Any:
    return df.prc(score=[name for name in df.columns if name not in ("label", "site")], **words)


@cache
def decide(case: str) -> Decision:
    """Return a decision of each kind, once."""
    if case in STATUSES_OF:
        return bind(STATUSES_OF[case]).decide(0.02, recall=0.5)  # type: ignore[no-any-return]
    asked: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "not_met": (bind(EQUAL), 0.02, {"precision": 0.9, "recall": 0.99}),
        "whole curves": (bind(SETTLED), 0.02, {}),
        "rare": (bind(SETTLED), 1e-5, {"alerts": 500, "per": 1_000_000}),
        "promised": (bind(SETTLED), 0.02, {"precision": 0.2, "guarantee": 0.9}),
        "best F1": (bind(SETTLED), 0.02, {"maximize": "f1"}),
        "one model": (SETTLED.prc(score="new"), 0.02, {"recall": 0.5}),
        "prevalences": (bind(SETTLED), [0.3, 0.02, 0.001], {"recall": 0.5}),
        "groups": (SITES.prc(by="site"), 0.02, {"recall": 0.5}),
        "groups of models": (
            pl.concat(
                df.rename(dict(zip(df.columns, ("label", "a", "b"), strict=True))).with_columns(
                    site=pl.lit(name)
                )
                for name, df in (("one", SETTLED), ("other", EQUAL), ("third", COINS))
            ).prc(score=["a", "b"], by="site"),
            0.02,
            {"recall": 0.5},
        ),
        "many groups of models": (LONG.prc(score=LONG_NAMES, by="site"), 0.02, {"recall": 0.5}),
        "no rows": (bind(SETTLED.clear()), 0.02, {"recall": 0.5}),
    }
    table, eta, how = asked[case]
    return table.decide(eta, **how)  # type: ignore[no-any-return]


CASES = [
    *STATUSES_OF,
    *("not_met", "whole curves", "rare", "promised", "best F1", "one model", "prevalences"),
    *("groups", "groups of models", "many groups of models", "no rows"),
]
DRAWN = [case for case in CASES if case != "no rows"]
LEADS = re.compile(r"\b(is better|are better|leads?|first|best|use)\b", re.IGNORECASE)
HARMLESS = re.compile(
    r"(no )?better than chance|best F1|[Bb]etter scores|may be best|better than the others|"
    r"the best of the others|may be up to \S+( points)? better"
)


CLASSES = pl.DataFrame({"kind": list("abc" * 800), "day": [1, 2] * 1_200}).with_columns(
    pl.Series(name, np.random.default_rng(number).normal(size=2_400)) + 3 * (pl.col("kind") == name)
    for number, name in enumerate("abc")
)
"""Scores of three classes, of which each row has one, on two days."""
MIX = class_mix({"a": 0.73456, "b": 0.26, "c": 0.00544})


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("eta", "by", "guarantee"),
    [(None, None, None), (None, "day", 0.95), (MIX, None, 0.95), (MIX, "day", None)],
)
def test_examples_of_classes_are_counted_and_not_weighed(
    tmp_path: Path, eta: Any, by: str | None, guarantee: float | None
) -> None:
    table = CLASSES.prc(score={name: name for name in "abc"}, label="kind", by=by)
    decision = table.decide(eta, precision=0.5, guarantee=guarantee)
    n_groups = 1 if by is None else 2
    for case in decision._judgement.cases:
        assert (case.n_pos, case.n_neg) == (800 / n_groups, 1_600 / n_groups)
    basis = f"Tested on 2,400 examples{' in 2 groups' if by else ''}; all count in each of 3 classes"
    page = read_report(decision, tmp_path)
    assert basis in page.read("footer")
    assert basis in decision.model_card()
    for text in (decision.say(300), decision.model_card()):
        heads = next(line for line in text.splitlines() if "recall (" in line.replace("\\", ""))
        assert "precision" in heads


def test_tests_of_classes_state_that_these_share_examples() -> None:
    """Groups of rows do not, nor do several models of one class."""
    scores = {name: name for name in "abc"}
    condition = "classes are tested as if they shared no examples"
    decision = CLASSES.prc(score=scores, label="kind").decide(0.1, recall=0.5)
    for text in (decision.verdict.conditions, " ".join(decision.say(80).split()), decision.model_card()):
        assert condition in text
    assert not any(condition in text for text in decision.verdicts["sentence"])
    for other in (
        decide("groups"),
        CLASSES.prc(score=scores, label="kind").decide(0.1, guarantee=0.95, recall=0.5),
    ):
        assert condition not in other.verdict.conditions


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("eta", "alerts", "per"),
    [
        (1 / 3_000, 400, 1_200_000),
        (0.02, 30, 1_000),
        (0.0123, 500, 9_876),
        (0.3, 9, 20),
        (1 / 30_000, 500, 1e5),
        (1e-4, 1, 1e5),
        (1e-3, 20_000, 1e5),
    ],
)
def test_positives_of_a_budget_are_found_or_missed(
    tmp_path: Path, eta: float, alerts: float, per: float
) -> None:
    """Expected numbers that add up, in few digits, and whose share is the recall beside them."""
    decision = bind(SETTLED).decide(eta, alerts=alerts, per=per)
    report, card = read_report(decision, tmp_path).read(), decision.model_card()
    pattern = r"recall\D*95\D* (\S+)%.*?of ([\d.,]+) positives.*? ([\d.,]+) found ([\d.,]+) missed"
    counts = re.findall(pattern, report)
    assert len(counts) == 2
    for candidate, texts in zip(decision._judgement.cases[0].candidates, counts, strict=True):
        percent, total, n_found, n_missed = (float(text.replace(",", "")) for text in texts)
        n_decimals = len(texts[2].partition(".")[2])
        assert len(texts[3].partition(".")[2]) == n_decimals
        assert total == pytest.approx(eta * per, abs=0.5 * 10.0**-n_decimals)
        assert n_found + n_missed == pytest.approx(total, abs=1e-9)
        assert n_found == pytest.approx(
            eta * per * candidate.row["recall"], abs=0.51 * 10.0**-n_decimals
        )
        assert candidate.row["recall"] == pytest.approx(percent / 100, rel=0.05)
        assert f"{texts[2]} found ({texts[3]} missed)" in card
    assert re.search(rf"\| of {counts[0][1]} positives (among|per) \S+ cases \|", plain(card))


def test_only_a_budget_counts_positives_found(tmp_path: Path) -> None:
    others = bind(SETTLED).decide(0.02, recall=0.5)
    assert "positives found" not in others.model_card()
    assert " found " not in read_report(others, tmp_path).read()


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("eta", "alerts", "counts"),
    [
        (1e-4, 10, "3.37 found (6.63 missed)"),
        (1e-4, 500, "6.6 found (3.4 missed)"),
        (1e-4, 20_000, "9.97 found (0.03 missed)"),
        (1e-3, 1, "1.0 found (99.0 missed)"),
        (1e-3, 47, "34 found (66 missed)"),
        (1 / 30_000, 500, "2.2 found (1.1 missed)"),
        (1 / 30_000, 20_000, "3.32 found (0.01 missed) | 1.90 found (1.43 missed)"),  # of one total
        (0.2, 20_000, "17,600 found (2,400 missed)"),
    ],
)
def test_positives_of_a_budget_are_whole_or_in_two_digits(
    eta: float, alerts: float, counts: str
) -> None:
    """As other counts are; the smaller number has one digit if two would take a third of the larger."""
    card = plain(bind(SETTLED).decide(eta, alerts=alerts, per=100_000).model_card())
    assert all(f"| {cell} |" in card for cell in counts.split(" | "))
    assert f"a budget of {alerts:,} alert{'s' if alerts > 1 else ''} per 100,000 cases" in card


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("words", "name"),
    [
        ({"weight": "amount"}, "amount"),
        ({"weight": pl.when(pl.col("label")).then(10).otherwise(1)}, "their weights"),
        ({"counts": ("n_pos", "n_neg", "n_pos_squares", "n_neg_squares")}, "their weights"),
        ({"counts": ("n_pos", "n_neg")}, None),
        ({}, None),
    ],
)
def test_all_documents_tell_that_rows_have_weights(
    tmp_path: Path, words: dict[str, Any], name: str | None
) -> None:
    label = np.arange(4_000) < 200
    score = np.random.default_rng(3).normal(size=label.size) + 2 * label
    frame = pl.DataFrame({"label": label, "score": score, "amount": np.where(label, 1000.0, 100.0)})
    if "counts" in words:
        frame = frame.prc.counts(**({} if name is None else {"weight": "amount"}))
    for targets, what in (
        ({"alerts": 50, "per": 2_000}, "rows, cases and alerts"),
        ({}, "rows and cases"),
    ):
        decision = frame.prc(**words).decide(**targets)
        sentence = f"{what} are weighted{'' if name == 'their weights' else f' by {name}'};"
        report = decision.report(tmp_path / "report.html").read_text(encoding="utf-8")
        page = decision.page(tmp_path / "page.html").read_text(encoding="utf-8")
        for text in (decision.say(10_000), decision.model_card(), report, page):
            assert (sentence in text.replace("\u00a0", " ")) == (name is not None)
            assert name is not None or "are weighted" not in text


def test_certainties_of_groups_are_in_the_table_and_beside_each_verdict() -> None:
    sites = pl.DataFrame({"site": ["s0", "s1"], "tp": [95, 66]}).with_columns(
        fp=50, fn=100 - pl.col("tp"), tn=950
    )
    decision = sites.prc(by="site", cells=("tp", "fp", "fn", "tn")).decide(0.1, recall=0.7)
    assert decision.verdicts["status"].to_list() == ["met", "unsure"]
    certainty = say_share(decision.table["certainty"][1])
    reason = f"one-sided confidence that the target is met: {certainty}"
    assert decision.verdicts["reasons"][1].to_list() == [reason]
    assert not any(text.startswith("one-sided") for text in decision.verdict.reasons)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("cells", "doubt"),
    [
        ((1_996, 500, 4, 9_500), "few missed positives"),
        ((4, 15, 1_996, 9_985), "few flagged positives"),
        ((5, 500, 7, 9_500), "few positives"),
        ((1_000, 3, 1_000, 9_997), "few false positives"),
        ((19_985, 9_997, 15, 3), "few unflagged negatives"),
        ((1_000, 5, 1_000, 5), "few false positives"),
    ],
)
def test_a_doubt_names_the_examples_that_are_few(cells: tuple[int, ...], doubt: str) -> None:
    """Few positives, of thousands that were tested, are those on one side of the threshold."""
    names = ("tp", "fp", "fn", "tn")
    few = pl.DataFrame([cells], schema=names, orient="row")
    decision = few.prc(cells=names).decide(0.1)
    assert f"intervals may be too narrow: {doubt}" in decision.verdict.reasons
    sound = pl.DataFrame([(500, 500, 500, 500)], schema=names, orient="row")
    other = pl.DataFrame([(500, 4, 500, 9_996)], schema=names, orient="row")
    sites = pl.concat([few, few, sound, other]).with_columns(site=pl.Series(["a", "b", "c", "d"]))
    reasons = sites.prc(by="site", cells=names).decide(0.1).verdict.reasons
    places = "a, b and d" if doubt == "few false positives" else "a and b"
    assert f"for {places}, intervals may be too narrow: {doubt}" in reasons


def test_few_negatives_for_the_prevalence_make_average_precision_too_high() -> None:
    """Four for each that stands for a positive are needed: 36 at 10%, and 3,996 at 1 in 1,000."""
    scores = np.random.default_rng(0).normal(size=600)
    df = pl.DataFrame({"score": scores, "label": np.arange(600) < 60})
    sentence = "values may be too high: few negatives for the prevalence"
    for score in (pl.col("score") + 2 * pl.col("label"), pl.col("score") + 8 * pl.col("label")):
        table = df.with_columns(score).prc()
        assert sentence in table.decide(0.001).verdict.reasons
        assert f"at 1\u00a0in\u00a01,000, {sentence}" in table.decide([0.001, 0.1]).verdict.reasons
        assert not any("too high" in reason for reason in table.decide(0.1).verdict.reasons)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("weight", [1e6, 1e9, 1e12, 1e15])
def test_a_value_next_to_1_has_six_decimals_at_most(weight: float) -> None:
    df = draw_models({"score": 2.0}, 150, 450)
    df = df.with_columns(
        w=pl.when(pl.int_range(pl.len()) == df["label"].arg_max()).then(weight).otherwise(1.0)
    )
    _, _, text = df.prc(weight="w").decide(0.05, recall=0.7).say(200).partition("\n\n")
    assert not re.search(r"\.\d{7}", text)
    assert "99.9" in text
    assert "100%" not in text


TYPED = {
    0.925: "92.5%",
    0.914: "91.4%",
    0.906: "90.6%",
    0.775: "77.5%",
    0.5: "50%",
    0.12345678: "12.345678%",
    0.3333333: "33.33333%",
    1 / 3: "33.33333%",
    0.1 + 0.2: "30%",
    0.9999999999: "99.99999999%",
    0.0003: "0.03%",
    1 / 3_000: "1 in 3,000",
}
"""Targets, and how they are stated: as they were typed, whatever a value in two digits would be."""


@pytest.mark.parametrize("share", TYPED)
@pytest.mark.parametrize(
    "word", [word for word, kind in TARGET_KINDS.items() if kind.value_kind == "share"]
)
def test_a_target_is_stated_as_it_was_typed(word: str, share: float) -> None:
    assert TYPED[share] in describe_limit(word, share, None).replace("\xa0", " ")


@pytest.mark.parametrize(
    ("word", "number", "text"),
    [
        ("alerts", 12_345, "12,345 alerts"),
        ("alerts", 1_234_567_891, "1,234,567,891 alerts"),
        ("alerts", 2.25, "2.25 alerts"),
        ("lift", 2.123456, "at least 2.123456"),
        ("lift", 10 / 3, "at least 3.333333"),
    ],
)
def test_a_number_that_is_a_target_is_stated_as_it_was_typed(
    word: str, number: float, text: str
) -> None:
    assert text in describe_limit(word, number, 1e10).replace("\xa0", " ")


def test_documents_state_the_same_target(tmp_path: Path) -> None:
    """In the sentence, the conditions, the report, the card of a model, and where a gate is not met."""
    gate = SETTLED.prc(score="new").decide(0.1, threshold=1.23456789, precision=0.9145)
    choice = bind(SETTLED).decide(0.1, recall=0.7755)
    promise = bind(SETTLED).decide(0.1, recall=0.7755, guarantee=0.9)
    for decision, target in ((gate, "91.45%"), (choice, "77.55%"), (promise, "77.55%")):
        report = decision.report(tmp_path / "report.html").read_text("utf-8")
        for text in (decision.say(10_000), report, decision.model_card(), decision.verdict.conditions):
            stated = show(html.unescape(text)).replace("\\", "")
            assert target in stated or (text == gate.verdict.conditions and "1.23456789," in stated)
            assert not re.search(r"9[12]% precision|7[78]% recall", stated)


def read_report(decision: Decision, folder: Path, **words: Any) -> PageReader:
    path = decision.report(folder / "report.html", **words)
    assert [file.name for file in folder.iterdir()] == ["report.html"]
    return PageReader(path.read_text(encoding="utf-8"))


def plain(text: str) -> str:
    return " ".join(text.replace("\u00a0", " ").translate(dict.fromkeys(map(ord, ISOLATES))).split())


# All documents --------------------------------------------------------------------------------


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("case", CASES)
def test_every_document_says_the_sentence_and_names_no_other_winner(case: str, tmp_path: Path) -> None:
    decision = decide(case)
    verdict = decision.verdict
    texts = {"report": read_report(decision, tmp_path).read(), "model card": decision.model_card()}
    texts["terminal"] = str(decision)
    if case != "no rows":
        texts["page"] = PageReader(decision.page(tmp_path / "page.html").read_text("utf-8")).read()
    for name, text in texts.items():
        said = re.sub(r" (?=[;:,’])", "", plain(text.replace("\\", "")))
        sentence = plain(verdict.sentence)
        assert sentence.lower() in said.lower(), name
        rest = HARMLESS.sub("", said.replace(sentence, "").replace(sentence.split(": ")[0], ""))
        if verdict.status != "winner":
            settled = (
                decision.verdicts.filter(status="winner")
                .explode("models", empty_as_null=False)["models"]
                .drop_nulls()
            )
            for each in (*decision.verdicts["sentence"], *(f"{model} is better" for model in settled)):
                rest = rest.replace(plain(each), "")
            assert not LEADS.search(rest), (name, LEADS.findall(rest), rest)


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("case", CASES)
def test_a_report_is_short_and_needs_nothing(case: str, tmp_path: Path) -> None:
    seen = read_report(decide(case), tmp_path, date="1 May 2026", notes="Mine & theirs")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(text.encode()) < 400_000
    assert "<script" not in text
    policy = next(a["content"] for _, a in seen.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert "script-src 'none'" in str(policy)
    assert not [a for _, a in seen.tags if "src" in a or str(a.get("href", "#"))[0] != "#"]
    folded = PageReader(re.sub(r"<details.*?</details>", "", text, flags=re.S))
    assert len(folded.read().split()) <= 600
    assert [len(seen.within(tag)) > 0 for tag in ("h1", "footer")] == [True, True]
    tags = [tag for tag, _ in seen.tags]
    assert tags.count("main") == tags.count("h1") == 1
    ids = [attrs["id"] for _, attrs in seen.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    heads = [attrs for tag, attrs in seen.tags if tag == "th"]
    assert all(attrs.get("scope") in ("col", "row", "rowgroup") for attrs in heads)
    pictures = [a for tag, a in seen.tags if tag == "svg" and a.get("aria-hidden") != "true"]
    assert all(a.get("role") == "img" and len(str(a.get("aria-label"))) > 20 for a in pictures)
    assert "1 May 2026" in seen.read("footer")
    if case != "no rows":
        assert pictures
        assert "Mine & theirs" in seen.read()


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("case", DRAWN)
def test_a_report_tells_the_numbers_of_the_table(case: str, tmp_path: Path) -> None:
    """Thresholds, and counts of examples, stand in the tables as the methods give them."""
    decision = decide(case)
    said = read_report(decision, tmp_path).read().replace("\u00a0", "").replace(" ", "")
    table = decision.table
    if "threshold" in table.columns:
        for row in table.drop_nulls("threshold").iter_rows(named=True):
            assert f"{row['tp']:,}" in said
            assert f"{row['fp']:,}" in said
    for group in decision.verdicts["sentence"]:
        if decision.verdicts.height <= 3:
            for value, ends in re.findall(
                r"(\d[\d.,]*%) \((.*? to .*?)\)", group.replace("\u00a0", " ")
            ):
                assert re.search(f"{value}[(]?{ends.replace(' ', '')}", said), (
                    "in a card or the sentence"
                )


def test_a_score_that_a_document_tells_flags_what_was_counted(tmp_path: Path) -> None:
    """Rounded up, or to three digits, it would flag fewer, or more."""
    rng = np.random.default_rng(4)
    label = rng.random(3_000) < 0.3
    logit = rng.normal(size=(2, 3_000)) + 1.5 * label
    df = pl.DataFrame({"label": label, **dict(zip("ab", 1 / (1 + np.exp(-logit)), strict=True))})
    decision = prc(df, score=["a", "b"]).decide(0.01, recall=0.8)
    scores = [
        float(s) for s in re.findall(r"threshold ([\d.]+)", read_report(decision, tmp_path).read())
    ]
    for model, *counts in decision.table.select("model", "tp", "fp").iter_rows():
        flagged = {score: df.filter(pl.col(model) >= score)["label"] for score in scores}
        score = next(s for s, rows in flagged.items() if [rows.sum(), (~rows).sum()] == counts)
        assert f"{score}" in str(decision)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("case", ["winner", "groups of models", "groups", "prevalences"])
def test_bytes_are_equal_whatever_the_order_of_rows(case: str, tmp_path: Path) -> None:
    shuffled = {"winner": SETTLED, "prevalences": SETTLED, "groups": SITES}.get(case)
    if shuffled is None:
        shuffled = SETTLED.with_columns(site=pl.lit("one"))
        first = bind(shuffled, by="site").decide(0.02, recall=0.5)
    else:
        first = decide(case)
    mixed = shuffled.sample(fraction=1, shuffle=True, seed=1).lazy()
    words = {"by": "site"} if "site" in shuffled.columns else {}
    score = [name for name in shuffled.columns if name not in ("label", "site")]
    eta: Any = [0.3, 0.02, 0.001] if case == "prevalences" else 0.02
    other = mixed.prc(score=score if len(score) > 1 else score[0], **words).decide(eta, recall=0.5)
    for name, write in {
        "a.html": lambda decision, path: decision.report(path),
        "b.html": lambda decision, path: decision.page(path),
    }.items():
        written = [write(each, tmp_path / name).read_bytes() for each in (first, other)]
        assert written[0] == written[1], name
    assert first.model_card() == other.model_card()


@pytest.mark.slow
def test_hostile_names_are_only_text(tmp_path: Path) -> None:
    two = draw_models({"a": 2.5, "b": 1.0}, 80, 800)
    for name in HOSTILE:
        for df in (two.rename({"a": name}), two.rename({"b": name})):
            decision = df.prc(score=df.columns[1:]).decide(0.1, recall=0.5)
            words = {"title": name, "date": name}
            documents = {
                "report": decision.report(tmp_path / "r.html", notes=name, **words).read_text("utf-8"),
                "page": decision.page(tmp_path / "p.html", **words).read_text("utf-8"),
            }
            for kind, text in documents.items():
                assert "<script>alert" not in text, kind
                assert not UNSEEN.search(text), kind
                seen = PageReader(text)
                assert not any("onerror" in attrs for _, attrs in seen.tags), kind
                assert not any(tag == "img" for tag, _ in seen.tags), kind
            said = " ".join(PageReader(documents["report"]).within("bdi"))
            assert all(word in said for word in show(name).replace("�", " ").split()[:20])
            scripts = re.findall(r"<script>(.*?)</script>", documents["page"], re.S)
            assert len(scripts) == 2
            for script in scripts:
                digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
                assert f"'sha256-{digest}'" in html.unescape(documents["page"])
            [data] = re.findall(r'id="data">(.*?)</script>', documents["page"], re.S)
            assert len(json.loads(data)["groups"][0]["models"]) == 2
            assert not re.search(r"(?<!\\)<\w", decision.model_card())
            assert not UNSEEN.search(str(decision) + decision.model_card())


def test_many_models_and_many_groups_stay_readable(tmp_path: Path) -> None:
    many = draw_models({f"m{number}": 0.5 + number / 20 for number in range(30)}, 100, 900)
    seen = read_report(bind(many).decide(0.1, recall=0.5), tmp_path)
    assert {f"m{number}" for number in range(30)} <= set(seen.within("bdi"))
    groups = read_report(decide("groups"), tmp_path)
    assert {f"s{number:02}" for number in range(40)} <= set(groups.read().split())
    assert re.search(r"and 11 more are worse than the rest", groups.read("h1"))


def test_two_models_are_not_said_to_be_compared_with_others(tmp_path: Path) -> None:
    frame = draw_models({"a": 3.0, "b": 1.0, "c": 0.5}, 200, 900)
    for models in (["a", "b"], ["a", "b", "c"]):
        seen = read_report(frame.prc(score=models).decide(0.1, recall=0.5), tmp_path).read()
        assert ("simultaneous" in seen) == (len(models) > 2)


def test_many_groups_of_models_are_one_picture_under_a_short_sentence(tmp_path: Path) -> None:
    decision = decide("many groups of models")
    sentence = decision.verdict.sentence
    assert len(sentence) < 250, sentence
    seen = read_report(decision, tmp_path)
    drawn = [text for text in seen.within("text") if re.fullmatch(r"s\d\d", text)]
    assert sorted(drawn) == sorted(f"s{n:02}" for n in range(12) for _ in range(2)), "wide and small"
    circles = [attrs for tag, attrs in seen.tags if tag == "circle"]
    assert len(circles) == 2 * 12 * 3, "each model in each group, and no icons of the first group"
    assert set(LONG_NAMES) <= set(seen.within("bdi")), "colours have names"
    [place] = [
        line
        for line in decision.page(tmp_path / "p.html").read_text().splitlines()
        if "}" in line and '"where"' in line
    ]
    assert '"where":"in s00 "' in place, "a page of one group says of which"


def test_a_page_holds_the_groups_that_have_room_and_says_how_many(tmp_path: Path) -> None:
    few = decide("many groups of models").page(tmp_path / "few.html")
    assert all(f">s{number:02}</option>" in few.read_text("utf-8") for number in range(12))
    frame = draw_models({f"m{number}": 0.5 + number / 4 for number in range(5)}, 60, 300)
    frame = pl.concat([frame.with_columns(site=pl.lit(f"s{number:02}")) for number in range(40)])
    many = bind(frame, by="site").decide(0.1, recall=0.5).page(tmp_path / "many.html")
    assert max(few.stat().st_size, many.stat().st_size) < 200_000
    shown = many.read_text("utf-8").count("</option>")
    assert 5 < shown < 40
    left_out = "Left out for want of room, or of a class: "
    assert f"{left_out}{40 - shown} of 40 groups." in many.read_text("utf-8")
    bare = frame.filter(pl.col("label") == 0, pl.col("site") == "s00").with_columns(site=pl.lit("bare"))
    some = pl.concat([bare, frame.filter(pl.col("site") < "s02")])
    lacking = bind(some, by="site").decide(0.1, recall=0.5).page(tmp_path / "lacking.html")
    assert f"{left_out}1 of 3 groups." in lacking.read_text("utf-8")


def read_page(decision: Decision, folder: Path) -> dict[str, Any]:
    text = decision.page(folder / "page.html").read_text("utf-8")
    [data] = re.findall(r'id="data">(.*?)</script>', text, re.S)
    return dict(json.loads(data))


TARGETS: list[dict[str, Any]] = [
    {"recall": 0.123},
    {"precision": 0.2},
    {"alerts": 7, "per": 1_000},
    {"maximize": "f1"},
    {"recall": 0.456, "guarantee": 0.9},
    {"recall": 0.3, "precision": 0.05},
]


@pytest.mark.parametrize("by", [None, "site"])
@pytest.mark.parametrize("how", slow_unless(lambda how: [*how] == ["recall"], TARGETS))
def test_a_page_begins_at_the_score_of_the_verdict(
    how: dict[str, Any], by: str | None, tmp_path: Path
) -> None:
    """The scores that are decided about are among the rows of a curve, though it is thinned."""
    df = pl.concat(
        draw_models({"a": 2.0, "b": 1.5}, 300, 3_000, seed=seed).with_columns(site=pl.lit(site))
        for seed, site in enumerate("xy")
    )
    decision = df.prc(score=["a", "b"], by=by).decide([0.02, 0.002], **how)
    groups = read_page(decision, tmp_path)["groups"]
    assert len(groups) == (1 if by is None else 2)
    for row in decision.table.drop_nulls("threshold").iter_rows(named=True):
        [group] = [each for each in groups if by is None or each["name"] == row["site"]]
        [model] = [each for each in group["models"] if each["name"] == row["model"]]
        held = {each[0]: each for each in model["rows"]}
        of = held[say_threshold(row["threshold"])]
        assert (of[1], of[4]) == pytest.approx((row["recall"], row["fpr"]), rel=1e-6)
        if row["eta"] == 0.02:
            assert model["rows"][model["row"]] == of
    assert all(200 <= len(each["rows"]) <= 204 for group in groups for each in group["models"])


def test_a_page_holds_the_groups_that_the_verdict_names_first(tmp_path: Path) -> None:
    sites = [draw_models({"score": 2.5}, 40, 200, seed=number) for number in range(69)]
    sites.append(draw_models({"score": 0.3}, 400, 2_000, seed=1))
    named = pl.concat(df.with_columns(site=pl.lit(f"s{n:02}")) for n, df in enumerate(sites))
    decision = named.prc(by="site").decide(0.1, recall=0.5)
    assert decision.verdict.sentence.startswith("s69 is worse than the rest")
    page = read_page(decision, tmp_path)
    held = [group["name"] for group in page["groups"]]
    assert 20 < len(held) < 70
    by_value = decision.table.sort("precision", descending=True)["site"]
    assert "s69" in held
    assert held == [site for site in by_value if site in held], "ordered as in the report"
    assert page["absent"] == 70 - len(held)
    tested = named.prc(by="site").decide(0.1, threshold=0.8, recall=0.6, precision=0.17)
    assert tested.verdict.sentence == (
        "69 of 70 sites meet 60% recall and 17% precision; target not met for s69"
    )
    assert "s69" in [group["name"] for group in read_page(tested, tmp_path)["groups"]]


def test_a_page_draws_the_group_of_nan(tmp_path: Path) -> None:
    rows = SETTLED.join(pl.DataFrame({"site": [1.0, math.nan]}), how="cross")
    decision = bind(rows, by="site").decide([0.02, 0.1], recall=0.5)
    names = [group["name"] for group in read_page(decision, tmp_path)["groups"]]
    assert names == ["site 1", "site nan"]


def test_a_status_has_one_word_everywhere(tmp_path: Path) -> None:
    decision = decide("groups")
    outcomes = [case.outcome for case in decision._judgement.cases]
    counts = {what: outcomes.count(what) for what in ("worse", "better")}  # type: ignore[arg-type]
    assert any(counts.values())
    seen, text = read_report(decision, tmp_path), decision.say(100)
    chip = f"{sum(counts.values())} of 40 differ"
    assert chip in plain(seen.read("p"))
    assert text.startswith(chip.upper())
    assert f"<decision: {chip}: " in repr(decision)
    assert f"({chip})" in plain(decision.model_card())
    cells = seen.within("td")
    for what, number in counts.items():
        assert cells.count(what) == number
        assert len(re.findall(rf"\b{what}$", text, re.M)) == number
    rest = decision.verdicts.filter(status="too_little_data").height
    assert cells.count("not significant") == 40 - sum(counts.values()) - rest
    assert decision.verdict.status == ("too_little_data" if rest else "measured")


@pytest.mark.parametrize("name", ["a.pdf", "a.PNG", "a.md"])
def test_a_report_is_no_pdf(name: str, tmp_path: Path) -> None:
    decision, table = decide("winner"), bind(SETTLED)
    parts = ["Text"]
    for write in (
        decision.report,
        decision.page,
        lambda path: table.report(path, 0.02, recall=0.5),
        lambda path: table.report(path, parts=parts),
    ):
        with pytest.raises(PrcError, match=rf"ends in \.html; got '.*{name}'; for a PDF print it"):
            write(tmp_path / name)
    assert not list(tmp_path.iterdir())
    for other in ("a.htm", "a.HTML", "a"):
        assert decision.report(tmp_path / other).read_bytes()[:15] == b"<!DOCTYPE html>"


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("eta", [1e-5, 5e-5, 0.002])
def test_a_number_has_one_form_in_a_decision(eta: float, tmp_path: Path) -> None:
    """Precision is in per cent with its interval, however small, wherever it stands."""
    decision = bind(draw_models({"new": 3.2, "old": 1.9}, 400, 60_000)).decide(eta, recall=0.5)
    values = re.findall(r"[\d.]+% \([\d.]+ to [\d.]+\)", plain(decision.verdict.sentence))
    assert len(values) == 2
    report = plain(read_report(decision, tmp_path).read())
    for value in values:
        assert all(value in plain(text) for text in (decision.model_card(), decision.say(100)))
        number, _, ends = value.partition(" (")
        assert f"{number} {ends[:-1]}" in report


def test_a_recall_that_no_score_reaches_has_no_precision(tmp_path: Path) -> None:
    """Of 7 positives that were scored and 20 that were not, half is found below all scores."""
    rows = pl.DataFrame({"label": [1] * 7 + [0] * 20, "score": range(27)})
    text = read_report(rows.prc(below=(20, 10)).decide(0.1), tmp_path).read()
    assert "too little data" in text
    assert "Other prevalences" not in text, "a table of dashes"


def test_a_model_alone_is_no_better_than_any_other() -> None:
    table = SITES.with_columns(model=pl.lit("only"))
    decision = table.prc(by="site", model="model").decide(0.02, recall=0.5)
    assert decision.verdict.sentence == decide("groups").verdict.sentence
    three = table.filter(pl.col("site") < "s02").prc(by="site", model="model").decide(0.02, recall=0.5)
    assert "is better" not in str(three)
    assert three.verdict.sentence.startswith("Precision ")


def test_reasons_of_several_groups_name_each_model_and_number_with_its_groups() -> None:
    scores_of_site = {
        "Cork": draw_models({"a": 2.5, "b": 0.0, "c": 0.0}, 300, 6_000),
        "Lund": draw_models({"a": 2.5, "b": 2.0, "c": 0.0}, 300, 6_000, seed=2),
    }
    sites = pl.concat(df.with_columns(site=pl.lit(site)) for site, df in scores_of_site.items())
    table = sites.prc(score=["a", "b", "c"], by="site")
    etas = pl.DataFrame({"site": ["Cork", "Lund"], "eta": [0.03, 0.02], "eta_low": [0.02, 0.015]})
    etas = etas.with_columns(eta_high=2 * pl.col("eta") - pl.col("eta_low"))
    decision = table.decide(etas, recall=0.5)
    assert decision.verdict.reasons == (
        "for Cork, not significantly better than chance: b and c",
        "the prevalence is an estimate",
        "for Lund, not significantly better than chance: c",
    )
    assert decision.verdicts["reasons"].to_list() == [
        [f"not significantly better than chance: {names}", f"the prevalence is an estimate: {value}"]
        for names, value in (("b and c", "3.0% (2.0 to 4.0)"), ("c", "2.0% (1.5 to 2.5)"))
    ]
    own = decide_own().verdict.reasons
    assert all(reason.startswith("for s") for reason in own)


def test_names_are_whole_and_keep_their_direction() -> None:
    one = LONG.filter(site="s01").drop("site")
    decision = one.prc(score=LONG_NAMES).decide(0.02, recall=0.5)
    text = decision.model_card()
    for name in decision.verdict.models:
        words = [word for word in name.split(" ") if word.isascii()]
        assert all(word in text for word in words), "no name is cut"
    assert "شبكة" not in re.sub("\u2068[^\u2068\u2069]*\u2069", "", text)
    assert text.count("\u2068") == text.count("\u2069")


MARKDOWN = {  # a name, and how the card writes it
    "a&lt;b&copy;": r"a\&lt;b\&copy;",
    "~~old~~": r"\~\~old\~\~",
    "costs $5 or $6": r"costs \$5 or \$6",
    "by @octocat": "by \\@\u2060octocat",
    "see https://a.example/x": r"see https\://a.example/x",
    "see HTTP://a.example": r"see HTTP\://a.example",
    "www.a.example": r"www\.a.example",
    "a*b_c`d[e](f)#g|h<i>\\": r"a\*b\_c\`d\[e\](f)\#g\|h\<i\>\\",
    "at 10:30": "at 10:30",
}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", MARKDOWN)
def test_a_name_is_only_text_in_the_model_card(name: str) -> None:
    decision = SETTLED.rename({"new": name}).prc(score=[name, "old"]).decide(0.1, recall=0.5)
    card = decision.model_card()
    assert MARKDOWN[name] in card.splitlines()[0]
    assert card.count(name) == (card.count(MARKDOWN[name]) if name == MARKDOWN[name] else 0)
    assert MARKDOWN[name] in plain(decide("winner").model_card(date=f"May, {name}"))


def test_the_date_of_a_model_card_is_one_line_without_controls() -> None:
    card = decide("winner").model_card(date="May\x1b[31m\n\n# 2026\0 \u202e")
    assert "May␛\\[31m \\# 2026␀ \ufffd" in card
    assert not UNSEEN.search(card)


def test_a_decision_and_its_documents_need_no_charts(tmp_path: Path) -> None:
    """Altair takes long to import, and fails where Python drops docstrings."""
    code = f"""
import sys
import polars as pl
import polars_prcurve

rows = pl.DataFrame({{"score": [0.9, 0.8, 0.3, 0.2] * 15, "label": [1, 0, 1, 0] * 15}})
decision = rows.prc.decide(0.1, recall=0.5)
print(decision)
assert decision.model_card() == decision._repr_markdown_()
decision.report({str(tmp_path / "report.html")!r})
decision.page({str(tmp_path / "page.html")!r})
if "altair" in sys.modules:
    sys.exit("Altair was imported")
"""
    for options in (["-OO"],):
        run = subprocess.run([sys.executable, *options, "-c", code], capture_output=True, check=False)
        assert run.returncode == 0, run.stderr.decode()


def test_a_notebook_shows_the_model_card() -> None:
    decision = decide("winner")
    assert decision._repr_markdown_() == decision.model_card()


@cache
def decide_own() -> Decision:
    """Return a decision on forty sites, each at a prevalence of its own, one of few positives."""
    sizes = [draw_models({"score": 1.0 + n % 3}, 40 + 3 * n if n else 6, 900, seed=n) for n in range(40)]
    sites = pl.concat(df.with_columns(site=pl.lit(f"s{n:02}")) for n, df in enumerate(sizes))
    return sites.prc(by="site").decide(None, recall=0.5)  # type: ignore[no-any-return]


def test_groups_at_their_own_prevalences_are_one_picture(tmp_path: Path) -> None:
    decision = decide_own()
    seen = read_report(decision, tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    folded = PageReader(re.sub(r"<details.*?</details>", "", text, flags=re.S)).read()
    assert len(folded.split()) <= 600
    n_little = decision.verdicts.filter(status="too_little_data").height
    assert f"Too little data ({n_little})" in folded
    pictured = " ".join(seen.within("text"))
    etas = decision.verdicts.select("site", "eta").rows()
    text_of_eta = map_etas(eta for _, eta in etas)
    assert all(f"{site}, {plain(text_of_eta[eta])}" in plain(pictured) for site, eta in etas)
    assert "For s00: at least 10" in decision.verdict.would_settle, "the first that is open is named"
    assert plain(decision.verdict.would_settle) in plain(folded)
    assert "| s00 | 0.66% |" in plain(decision.model_card())


@pytest.mark.parametrize("width", [60, 80])
def test_a_terminal_shows_the_values_of_groups_and_where_they_hold(width: int) -> None:
    decision, lines = decide_own(), decide_own().say(width).splitlines()
    text_of_eta = map_etas(decision.table["eta"])
    for row in decision.table.iter_rows(named=True):
        [line] = [line for line in lines if line.startswith(f"{row['site']}  ")]
        assert re.split("  +", line)[1] == text_of_eta[row["eta"]]
        assert re.search(r"\d% \([\d.]+ to [\d.]+\)", line), "a value has its interval"
    assert max(map(len, lines)) <= width


def test_a_chart_of_a_decision_draws_each_group_at_its_own_prevalence() -> None:
    decision = decide_own()
    cells = decision.verdicts.select("site", "eta")
    assert cells["eta"].n_unique() > 20
    eta, points, _ = _read_decision(None, decision, {})
    assert isinstance(eta, pl.DataFrame)
    assert eta.equals(cells)
    assert points is not None
    several = decide("prevalences")
    etas, _, _ = _read_decision(None, several, {})
    assert isinstance(etas, list)
    assert etas == [0.3, 0.02, 0.001]


def test_long_names_are_whole_below_a_chart(tmp_path: Path) -> None:
    names = [
        "Gradient boosting with isotonic calibration, 2026",
        "病院間で共有した画像分類モデル（第二版）",
    ]
    df = EQUAL.rename(dict(zip([c for c in EQUAL.columns if c != "label"], names, strict=True)))
    decision = df.prc(score=names).decide(0.02, recall=0.5)
    seen = read_report(decision, tmp_path)
    assert set(names) <= set(seen.within("bdi"))
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    [below] = re.findall(r'<ul class="names">(.*?)</ul>', text)
    assert all(name in html.unescape(below) for name in names)


def test_rare_positives_have_a_log_axis(tmp_path: Path) -> None:
    ticks = {plain(text) for text in read_report(decide("rare"), tmp_path).within("text")}
    assert {"100%", "10%", "0.1%", "0.001%"} <= ticks
    usual = {plain(text) for text in read_report(decide("one model"), tmp_path).within("text")}
    assert {"0%", "20%", "100%"} <= usual


def test_rows_left_out_and_reversed_scores_are_told(tmp_path: Path) -> None:
    row = pl.int_range(pl.len())
    gaps = SETTLED.with_columns(new=pl.when(row % 100 == 7).then(None).otherwise("new"))
    decision = gaps.prc(score=["new", "old"], missing="drop").decide(0.02, recall=0.5)
    assert "63 of 6,300 rows are left out" in plain(read_report(decision, tmp_path).read())
    turned = SETTLED.with_columns(new=-pl.col("new")).prc(score="new").decide(0.02, recall=0.5)
    said = plain(read_report(turned, tmp_path).read())
    assert "The scores rank negatives above positives" in said
    assert "Pass the scores with a minus sign." in said
    assert said.count("negatives above positives") == 1


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_colors_can_be_told_from_their_ground(ground: str) -> None:
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


# Intervals without a target --------------------------------------------------------------------


@pytest.mark.parametrize("words", [{}, {"score": "new"}])
def test_without_a_target_the_document_draws_what_it_judges(
    words: dict[str, Any], tmp_path: Path
) -> None:
    """Icons of alerts at half of the positives would tell models apart that the sentence does not."""
    decision = SETTLED.prc(**({"score": ["new", "old"]} | words)).decide(0.02)
    seen = read_report(decision, tmp_path)
    models, texts = decision._judgement.cases[0].candidates, seen.within("text")
    for candidate in models:
        assert write_merit(candidate) in texts
        assert len(models) == 1 or candidate.model in texts
    circles = [attrs for tag, attrs in seen.tags if tag == "circle"]
    on_axis = [attrs for attrs in circles if attrs["r"] == "5.0" and "stroke" not in attrs["style"]]
    assert len(on_axis) == 2 * len(models), "a point of each, wide and small"
    assert "precision at 50% true recall" in seen.read("table")


# Icons ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["new", "old"])
def test_icons_are_the_interval_in_whole_alerts(model: str) -> None:
    row = decide("winner").table.filter(model=model).row(0, named=True)
    names = ("precision_low", "precision", "precision_high")
    low, value, high = (min(round(100 * row[name]), 99) for name in names)
    case = decide("winner")._judgement.cases[0]
    [candidate] = [each for each in case.candidates if each.model == model]
    kinds = list(list_icons(case, candidate.precision))
    assert [kinds.count(kind) for kind in dict.fromkeys(kinds)] == [
        low,
        value - low,
        high - value,
        100 - high,
    ]


def test_icons_show_a_right_alert_only_where_one_is_among_them() -> None:
    counts = set()
    for eta in (1e-5, 1e-6):
        [case] = (
            bind(draw_models({"new": 3.2, "old": 1.9}, 400, 60_000))
            .decide(eta, recall=0.5)
            ._judgement.cases
        )
        assert is_rarely_right(case)
        for candidate in case.candidates:
            count = list(list_icons(case, candidate.precision)).count("right")
            assert count == (round(1 / candidate.precision.value) <= 200)
            counts.add(count)
    assert counts == {0, 1}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("share", [0.995, 0.996, 0.9999])
def test_nothing_says_100_of_100_where_less_is_meant(share: float) -> None:
    [case] = decide("one model")._judgement.cases
    kinds = list(list_icons(case, Estimate(share, 0.9, 1.0)))
    assert [kinds.count(kind) for kind in ("right", "likely", "unlikely")] == [90, 9, 1]
    assert list(list_icons(case, Estimate(share))).count("false") == 1
    n = 100_000
    cells = {"tp": [n], "fp": [round(n / share - n)], "fn": [0], "tn": [n]}
    words = {"cells": ("tp", "fp", "fn", "tn")}
    two = (
        pl.DataFrame(cells)
        .with_columns(site=pl.Series([["a", "b"]]))
        .explode("site", empty_as_null=False)
    )
    table = two.prc(by="site", **words)
    decision = table.decide([0.5, 0.4], recall=1.0)
    said = plain(f"{decision} {decision.verdicts['sentence'].to_list()}")
    assert not re.search(r"precision 100%", said), said


def test_a_key_says_how_many_alerts_may_have_to_be_read(tmp_path: Path) -> None:
    """Of 1 in 1,000 no icon is right: the key says how many it takes, by the low end of the interval."""
    wide = bind(draw_models({"new": 3.2, "old": 1.9}, 400, 60_000))
    told = set()
    for eta in (1e-4, 1e-5, 1e-6):
        decision = wide.decide(eta, recall=0.5)
        [case] = decision._judgement.cases
        most = 1 / min(each.precision.low for each in case.candidates)
        read = f"may have to be read until one is true, up to {plain(say_eta(1 / most))[5:]};"
        key = plain(read_report(decision, tmp_path).within("p")[-2])
        is_read = read in plain((tmp_path / "report.html").read_text("utf-8"))
        if is_rarely_right(case):
            assert is_read == (round(most) > MOST_ICONS)
            assert "true or not" not in key
        told.add((is_rarely_right(case), is_read))
    assert (True, True) in told


def test_docstrings_say_how_many_icons_are_drawn() -> None:
    assert f"up to {MOST_ICONS}," in str(Decision.report.__doc__)
    for drawn in (Decision.report, PlotPrc.alerts):
        assert f"up to {format_count(icon_counts.MOST_ICONS)}" in str(drawn.__doc__)
    assert f"up to {MOST_ICONS}." in str(PlotPrc.alerts.__doc__)


@pytest.mark.parametrize("eta", slow_unless(lambda eta: eta == 1e-4, [0.5, 0.02, 0.001, 1e-4]))
def test_the_axis_of_groups_ends_beyond_their_intervals(eta: float, tmp_path: Path) -> None:
    decision = bind(SITES, by="site").decide(eta, recall=0.8)
    seen = read_report(decision, tmp_path)
    texts = [text for text in map(plain, seen.within("text")) if re.fullmatch(r"[\d.]+%", text)]
    ticks = [float(text[:-1]) for text in texts[:6]]
    greatest = 100 * decision.table["precision_high"].max()
    assert ticks == pytest.approx([ticks[5] * k / 5 for k in range(6)])
    assert ticks[5] == next(end for end in (1, 2, 5, 10, 20, 50, 100) if greatest <= end)


# The page -------------------------------------------------------------------------------------


def test_a_page_of_no_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PrcError, match="the table has no rows, so there is nothing to draw"):
        decide("no rows").page(tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("how", [{"title": 3}, {"notes": 3}, {"date": 3}, {"title": b"x"}])
def test_words_are_text(how: dict[str, Any], tmp_path: Path) -> None:
    [name] = how
    with pytest.raises(PrcError, match=f"{name}= takes text; got"):
        decide("winner").report(tmp_path / "r.html", **how)
    with pytest.raises(PrcError, match=f"{name}= takes text; got"):
        pl.DataFrame({"x": [1]}).prc.report(tmp_path / "r.html", 0.1, **how)  # before any work
    assert not list(tmp_path.iterdir())


def test_a_report_in_one_call_is_that_of_the_decision(tmp_path: Path) -> None:
    decide("winner").report(tmp_path / "a.html", title="T", date="D", notes="N")
    bind(SETTLED).report(tmp_path / "b.html", 0.02, recall=0.5, title="T", date="D", notes="N")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    (tmp_path / "a.html").write_text("before")
    with pytest.raises(PrcError):
        bind(LITTLE.with_columns(a=None)).report(tmp_path / "a.html", 0.02, recall=0.5)
    assert (tmp_path / "a.html").read_text() == "before"


ODD_KEYS: dict[str, list[Any]] = {
    "Duration": [timedelta(1), timedelta(-2), None],
    "Binary": [b"\xff", b"", None],
    "Time": [time(1), time(2), None],
    "Decimal": [Decimal("1.50"), Decimal(-2), None],
    "Float": [math.nan, -math.inf, None],
    "Boolean": [True, False, None],
    "Int128": [2**100, -(2**100), None],
    "Struct": [{"a": 1}, {"a": 2}, None],
    "List": [[1], [], None],
}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("word", ["by", "model"])
@pytest.mark.parametrize(
    "key", slow_unless(lambda key: key in ("Duration", "Binary", "Struct", "List"), [*ODD_KEYS])
)
def test_groups_and_models_of_any_dtype_are_named_or_refused(
    key: str, word: str, tmp_path: Path
) -> None:
    values = pl.Series(ODD_KEYS[key] * 20, dtype=pl.Int128 if key == "Int128" else None)
    table = pl.DataFrame({"label": [True, False, False, False] * 15, "score": range(60), "key": values})
    if key in ("Struct", "List"):
        with pytest.raises(PrcError, match=f"cannot name {key}"):
            table.prc(**{word: "key"}).decide(0.1, recall=0.5)
        return
    decision = table.prc(**{word: "key"}).decide(0.1, recall=0.5)
    for write in (decision.report, decision.page):
        assert write(tmp_path / "a.html").stat().st_size > 1_000
    assert decision.model_card()
    assert decision.say(80)


def test_a_printed_threshold_is_nowhere_above_the_real_one(tmp_path: Path) -> None:
    """Six digits of 1.762635 are 1.76264, which leaves out the example that has that score."""
    scores = [1.762635432112, 1.0, 0.5, 2.5]
    df = pl.DataFrame({"score": scores * 50, "label": [1, 0, 0, 1] * 50})
    points = df.prc.operating_points(0.1, threshold=scores[0])
    decision = df.prc.decide(0.1, recall=0.9)
    texts = [
        *("\n".join(format_table(table, Layout([], []), 90)[0]) for table in (points, df.prc.counts())),
        *(str(decision), decision.model_card(), decision._repr_markdown_()),
        *(build_page("Title", [points]), decision.report(tmp_path / "r.html").read_text("utf-8")),
        json.dumps(read_page(decision, tmp_path)),
    ]
    for text in texts:
        assert {*re.findall(r"1\.76\d*", text)} == {"1.76263"}


def test_thresholds_of_groups_stand_in_the_terminal_and_in_the_report(tmp_path: Path) -> None:
    few = SITES.filter(pl.col("site") < "s08").prc(by="site").decide(0.02, recall=0.5)
    text = (few.report(tmp_path / "r.html")).read_text("utf-8")
    in_sight = PageReader(re.sub(r"<details.*?</details>", "", text, flags=re.S)).read()
    for threshold in few.table["threshold"]:
        assert say_threshold(threshold) in in_sight
        assert say_threshold(threshold) in few.say(120)
    rows = [line.split()[0] for line in few.say(120).splitlines() if re.match(r"s\d\d ", line)]
    by_value = few.table.sort("precision", descending=True)["site"].to_list()
    assert rows == by_value, "ordered by what is measured"


def test_verdicts_of_several_cases_name_where_their_numbers_hold() -> None:
    """Each place is named in the unit of all, each name once, and no list ends in `and 1 more`."""
    prevalences = decide("prevalences").verdict.sentence
    assert "is better at all 3 prevalences. At 30%: precision" in prevalences
    models = pl.concat(
        draw_models({"a": 2.0, "b": 2.0, "c": 0.8}, 150, 1_350, seed=seed).with_columns(
            site=pl.lit(site)
        )
        for seed, site in enumerate(("Cork", "Lund"))
    )
    both = models.prc(score=["a", "b", "c"], by="site").decide([0.1, 0.02], recall=0.5).verdict
    assert plain(both.sentence).startswith(
        "No clear winner between a and b in any of the 4 sites and prevalences. For Cork at 1 in 10: "
    )
    four = pl.concat(
        draw_models({"score": 2.0 if site != "Lund" else 0.3}, 60, 600, seed=7).with_columns(
            site=pl.lit(site)
        )
        for site in ("Cork", "Oslo", "Riga", "Bern", "Lund")
    )
    gate = four.prc(by="site").decide(0.05, threshold=1.9, recall=0.45).verdict
    assert "1 more" not in gate.sentence


def test_a_group_without_positives_does_not_miss_a_recall() -> None:
    sites = SITES.filter(pl.col("site") < "s03")
    bare = sites.filter((pl.col("site") != "s00") | ~pl.col("label").cast(bool))
    decision = bare.prc(by="site").decide(0.02, threshold=1.0, recall=0.01)
    assert decision.verdicts.filter(site="s00")["met"].to_list() == [None]
    assert decision.verdict.sentence == "2 of 3 sites meet 1% recall; too little data for s00"


def test_a_report_of_groups_is_in_the_order_of_the_terminal(tmp_path: Path) -> None:
    """And the cards name how a group stands: the highest value may be no significant difference."""
    decision = decide("groups")
    report = read_report(decision, tmp_path)
    rows = [text for text in report.within("bdi") if re.fullmatch(r"s\d\d", text)]
    terminal = [line[:3] for line in decision.say(120).splitlines() if re.match(r"s\d\d ", line)]
    assert rows[-80:-40] == terminal, "before the table of all numbers"
    assert re.search(r"s\d\d ?: (better|worse)", report.read())


def test_intervals_that_seem_to_refute_a_verdict_are_explained() -> None:
    """They may lie apart where models, or groups, do not differ significantly."""
    verdict = decide("no_winner").verdict
    explained = "each interval is for one threshold; models are compared at the same true recall"
    assert any(reason.startswith(explained) for reason in verdict.reasons)
    reasons = decide("groups").verdict.reasons
    assert any("groups are compared at the same true recall" in text for text in reasons)
    card = plain(decide("no_winner").model_card())
    assert "chosen on the test set, allowing for that choice" in card
    assert "as given" not in card, "which allows for no choice"


@pytest.mark.parametrize("width", [60, 80])
def test_models_of_groups_keep_their_values_in_a_narrow_terminal(width: int) -> None:
    """Where columns of models have no room, the two of each group that count stand below each other."""
    lines = decide("many groups of models").say(width).splitlines()
    assert sum(bool(re.search(r"\d% \([\d.]+ to [\d.]+\)$", line)) for line in lines) == 24
    few = bind(SETTLED.with_columns(site=pl.lit("a site of a long name")), by="site")
    text = few.decide([0.02, 0.1], recall=0.5).say(width)
    assert "precision (95% CI)" in text, "what the values are of"


@pytest.mark.parametrize("case", ["groups", "groups of models", "many groups of models", "prevalences"])
def test_lines_of_cases_fit_and_what_has_no_room_is_named(case: str) -> None:
    for width in (40, 50, 60):
        text = decide(case).say(width)
        lines = [line for line in text.splitlines() if " " in line]  # a longer word stays whole
        assert max(map(measure_width, lines)) <= width
        heads = re.findall(r"Not shown: (\w+|\d of \d models)[,;.]", text.replace("\n", " "))
        assert len(heads) == text.count("Not shown: ")
        assert {*heads} <= {"verdict", "threshold", "recall", "1 of 3 models"}


def test_columns_that_have_no_room_are_not_told_by_the_names_of_models() -> None:
    """A model called `verdict` keeps its values where the column of verdicts has no room."""
    scores = draw_models({"threshold": 3.0, "verdict": 3.0}, 300, 6_000)
    table = prc(scores.with_columns(site=pl.lit("a site of a long name")), by="site")
    lines = table(score=["threshold", "verdict"]).decide([0.02, 0.1], recall=0.5).say(78).splitlines()
    [head] = [line for line in lines if "prevalence" in line and "CI" in line]
    assert head.split()[-3:] == ["prevalence", "threshold", "verdict"]


def test_the_conditions_write_prevalences_as_the_table_does() -> None:
    """Both ends are 1 in a whole number, but 3% between them is not."""
    text = bind(SETTLED).decide([0.05, 0.03, 0.02], recall=0.5).say(80)
    assert "Prevalences from 2% to 5%; " in text
    assert re.findall(r"^(\d%) ", text, flags=re.M) == ["5%", "3%", "2%"]


def test_levels_that_differ_stand_in_one_sentence_and_in_no_head(tmp_path: Path) -> None:
    """A group that seems to miss is tested with all others, so its interval has another level."""
    sites = pl.DataFrame({"site": [*"abcdefgh"], "tp": [95, 80, 62, 70, 66, 60, 40, 88]})
    sites = sites.with_columns(fp=50, fn=100 - pl.col("tp"), tn=950)
    table = sites.prc(by="site", cells=("tp", "fp", "fn", "tn"))
    decision = table.decide(0.1, recall=0.7)
    levels = decision.table["level"]
    assert (levels.min(), round(levels.max(), 5)) == (0.95, 0.99375)
    texts = [decision.say(60), decision.say(120), decision.model_card()]
    texts += [
        read_report(decision, tmp_path).read(),
        str(decision.page(tmp_path / "p.html").read_text()),
    ]
    for text in texts:
        words = " ".join(plain(text).split())
        assert words.count("Confidence levels are 95% to 99.4%, corrected for testing 8 sites") == 1
        assert "% CI)" not in words
        assert "to 99.4% interval" not in words
    for text in texts[:-1]:
        assert re.search(r"recall( \(sensitivity\))? \(CI\)", text)
    alike = table.decide(0.1, recall=0.2).say()
    assert "recall (95% CI)" in alike
    assert "Confidence levels" not in alike
    many = table.decide(0.1, recall=0.7, precision=0.1).model_card()
    assert "Confidence levels are 97.5% to 99.7%, corrected for testing 8 sites (Holm 1979)." in many


def test_a_model_card_has_the_level_of_its_intervals_and_no_table_of_dashes() -> None:
    gate = SETTLED.prc(score="new").decide(0.02, threshold=2.0, precision=0.2, recall=0.5).model_card()
    assert "(97.5% CI) |" in gate, "both targets are tested, at half the error each"
    assert "95%" not in gate.split("\n")[0]
    none = decide("not_met").model_card()
    assert "|" not in none
    two = decide("whole curves")
    assert "| model | average precision (95% CI) |" in two.model_card()
    assert "precision at 50% true recall" in two.say(100)


@pytest.mark.parametrize("name", ["rare", "one model"])
def test_curves_are_steps(name: str, tmp_path: Path) -> None:
    """A slope between two thresholds would promise a precision that no threshold has."""
    decide(name).report(tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    paths = re.findall(r'<path d="M([\d.,L-]+)"[^>]*stroke-width', html)
    assert paths
    for path in paths:
        points = [tuple(map(float, point.split(","))) for point in path.split("L")]
        assert all(x == next_x or y == next_y for (x, y), (next_x, next_y) in pairwise(points))


def test_both_ends_of_an_interval_have_two_digits() -> None:
    """`3.9 to 7` leaves open whether 7 is 6.6 or 7.4."""
    texts = {
        (0.052, 0.039, 0.07): "5.2% (3.9 to 7.0)",
        (0.02, 0.013, 0.0999): "2.0% (1.3 to 10)",
        (0.21, 0.05, 0.58): "21% (5.0 to 58)",
        (0.004, 0.0025, 0.0054): "0.40% (0.25 to 0.54)",
        (0.996, 0.95, 1.0): "99.6% (95.0 to 100)",
        (0.01, 0.009892, 0.01001): "1.000% (0.989 to 1.001)",
        (0.975, 0.89, 0.9932): "98% (89 to 99)",
    }
    for ends, text in texts.items():
        assert write_value("precision", Estimate(*ends)) == text


def test_a_picture_of_groups_has_what_is_demanded_of_them(tmp_path: Path) -> None:
    """Groups that are not sure of a recall are not drawn by their precision."""
    gate = SITES.prc(by="site").decide(0.02, threshold=1.5, recall=0.6)
    text = read_report(gate, tmp_path).read()
    assert "Recall; line: " in text
    assert "upright: the target; hollow: not sure" in text
    both = SITES.prc(by="site").decide(0.02, threshold=1.5, alerts=4_000, per=10_000)
    assert "Precision; line: " in read_report(both, tmp_path).read(), "alerts are no share"


def test_lines_of_tied_scores_start_at_recall_0() -> None:
    """The first threshold finds 30% at once: a line with its band leads to it, as in `pr_curve`."""
    columns = ("recall", "precision", "precision_low", "precision_high")
    shared = (0.9, 0.1, 0.08, 0.12)
    curves = []
    for number, first in enumerate([(0.3, 0.7, 0.6, 0.8), (0.3, 0.4, 0.3, 0.5)]):
        rows = [
            dict(zip(columns, values, strict=True), fp=50, threshold=0.5) for values in (first, shared)
        ]
        curves.append(Curve(number, rows, None))
    drawn = draw_curves(curves, 0.05, {}, (740, 260), "")
    starts = re.findall(r'<path d="M([\d.]+)', drawn)
    assert len(starts) == 4
    assert set(map(float, starts)) == {42.0}, "lines and bands begin at the axis"


def test_what_would_settle_names_all_groups_that_need_it() -> None:
    parts = [
        draw_models({"score": 1.5}, n_pos, 600, seed=n_pos).with_columns(site=pl.lit(f"s{n_pos}"))
        for n_pos in (0, 5, 100, 110)
    ]
    verdict = pl.concat(parts).prc(by="site").decide(0.1, recall=0.5).verdict
    assert "For s0 and s5: at least 10 examples of each class are needed" in verdict.would_settle


def test_a_line_of_all_groups_leaves_out_the_headings(tmp_path: Path) -> None:
    parts = [
        draw_models({"score": shift}, 300, 600, seed=number).with_columns(site=pl.lit(name))
        for number, (name, shift) in enumerate(
            [("n", 1.5), ("s", 1.5), ("\u05ea\u05dc", 0.1), ("w", 3.5)]
        )
    ]
    decision = pl.concat(parts).prc(by="site").decide(0.1, recall=0.5)
    text = decision.report(tmp_path / "sites.html").read_text(encoding="utf-8")
    assert "<h3><bdi>\u05ea\u05dc</bdi>: worse</h3>" in text
    heads = [
        float(y)
        for y in re.findall(r'<text x="0.0" y="([\d.]+)"[^>]*>(?:Better|Worse|Not significant) ', text)
    ]
    lines = re.findall(
        r'<line x1="([\d.]+)" y1="([\d.]+)" x2="\1" y2="([\d.]+)"[^>]*var\(--text\)', text
    )
    assert len(heads) >= 3
    assert lines
    assert not any(float(y1) < y < float(y2) for y in heads for _, y1, y2 in lines)


def test_curves_of_few_scores_are_drawn_from_no_recall_on() -> None:
    """The highest threshold holds for all recalls below its own; a rule has no other one."""
    frame = draw_models({"a": 2.0}, 200, 900, seed=3).with_columns(rule=pl.col("a") > 1.0)
    [rows] = frame.prc.curve(0.1, score="rule", confidence=0.95).partition_by("eta")
    curve = Curve(0, rows.to_dicts(), None)
    drawn = draw_curves([curve], 0.1, {}, (600, 260), "")
    band, line = (re.findall(r"[\d.]+,[\d.]+", path) for path in re.findall(r'<path d="M(.*?)"', drawn))
    axis_x = re.findall(r'<line x1="([\d.]+)"', drawn)[0]
    for path in (band, line):
        assert float(path[0].partition(",")[0]) == pytest.approx(float(axis_x), abs=0.1)
    first, second = (place.partition(",")[2] for place in line[:2])
    assert first == second
    published = [{**row, "threshold": None} for row in curve.rows]
    drawn = draw_curves([Curve(0, published, None)], 0.1, {}, (600, 260), "")
    line = re.findall(r"[\d.]+,[\d.]+", re.findall(r'<path d="M(.*?)" fill="none"', drawn)[0])
    assert float(line[0].partition(",")[0]) > float(axis_x) + 100


def test_models_that_differ_over_the_whole_curve_are_named_beside_an_open_target() -> None:
    """At 50% recall two models may have one precision, and different areas."""
    rng = np.random.default_rng(104)
    label = rng.random(9_000) < 0.15
    is_easy = rng.random(9_000) > 0.4
    mixed = np.where(label & is_easy, 3.0, 0.6 * label) + 0.75 * rng.standard_t(3, size=9_000)
    df = pl.DataFrame({"label": label, "net": 2.0 * label + rng.normal(size=9_000), "trees": mixed})
    verdict = df.prc(score=["net", "trees"]).decide(0.02, recall=0.5).verdict
    assert verdict.status == "no_winner"
    [reason] = [text for text in verdict.reasons if "average" in text]
    assert re.fullmatch(
        r"no significant difference at the target, but net has the higher average precision: "
        r"0\.\d+ \(0\.\d+ to 0\.\d+\), against 0\.\d+ \(0\.\d+ to 0\.\d+\) for trees",
        reason,
    )
    assert "average" not in str(decide("no_winner").verdict.reasons)


def test_a_case_without_a_verdict_has_a_heading_without_a_colon(tmp_path: Path) -> None:
    """Where it is measured, the name of the case is all there is."""
    label = np.arange(2_000) % 4 == 0
    scores = np.random.default_rng(1).normal(size=2_000) + 2 * label
    decision = pl.DataFrame({"score": scores, "label": label}).prc.decide(eta=[0.1, 0.01], recall=0.5)
    text = decision.report(tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<h3><bdi>1\xa0in\xa010</bdi></h3>" in text
    assert ": </h3>" not in text


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("words", [{"recall": 0.5}, {}, {"recall": 0.5, "by": "half"}])
def test_a_page_says_why_and_what_next_as_the_report_does(tmp_path: Path, words: dict[str, Any]) -> None:
    rng, label = np.random.default_rng(7), np.arange(1_500) < 60
    scores = {name: rng.normal(size=len(label)) + 2 * label for name in ("a", "b")}
    table = pl.DataFrame({"label": label, "half": np.arange(1_500) % 2, **scores})
    decision = prc(table, score=["a", "b"]).decide(0.05, **words)
    texts = [
        " ".join(re.sub(r"<[^>]*>", " ", write(tmp_path / name).read_text(encoding="utf-8")).split())
        for name, write in (("page.html", decision.page), ("report.html", decision.report))
    ]
    assert decision.verdict.would_settle
    for sentence in (decision.verdict.would_settle, *decision.verdict.reasons):
        plain_text = " ".join(sentence.split()).lower()
        assert [
            plain_text in text.lower().replace("\u2068", "").replace("\u2069", "") for text in texts
        ] == [True] * 2
