"""Demands: targets that a threshold from elsewhere, one point or a guarantee has to meet."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from polars_prcurve import Decision, PrcError, prc
from polars_prcurve.core.judging.status_names import STATUSES, combine_met
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS
from polars_prcurve.view.verdicts.status_labels import STATUS_TABLE
from tests.support.model_tests import COINS, SETTLED, draw_models
from tests.support.tiers import slow_unless

DOCS = Path(__file__).parent.parent / "docs"
TEST = SETTLED.prc(score="new")
LIMITS: dict[str, list[float]] = {
    "recall": [0.5, 0.8, 0.85, 0.95],
    "precision": [0.3, 0.41, 0.5, 0.7],
    "fpr": [0.001, 0.02, 0.022, 0.1],
    "npv": [0.9, 0.996, 0.9999],
    "fdr": [0.4, 0.55, 0.7],
    "lift": [10, 22, 30],
    "predicted_positive_rate": [0.01, 0.037, 0.1],
    "alerts": [100, 370, 1_000],
}
"""Limits that threshold 2 meets, misses, and may or may not meet."""


def demand(word: str, limit: float) -> dict[str, Any]:
    return {word: limit, **({"per": 10_000} if word == "alerts" else {})}


def read_interval(decision: Decision, word: str) -> tuple[float, float]:
    name = TARGET_KINDS[word].column
    row = decision.table.row(0, named=True)
    return row[f"{name}_low"], row[f"{name}_high"]


# One threshold --------------------------------------------------------------------------------


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("word", slow_unless(lambda word: word in ("recall", "fpr", "alerts"), LIMITS))
def test_the_status_is_read_off_the_interval_of_the_table(word: str) -> None:
    statuses = set()
    for limit in LIMITS[word]:
        decision = TEST.decide(0.02, threshold=2.0, **demand(word, limit))
        low, high = read_interval(decision, word)
        is_at_most = TARGET_KINDS[word].is_at_most
        is_met, is_missed = (high <= limit, low > limit) if is_at_most else (low >= limit, high < limit)
        expected = ("met", True) if is_met else ("not_met", False) if is_missed else ("unsure", None)
        assert (decision.verdict.status, decision.verdict.met) == expected
        statuses.add(decision.verdict.status)
    assert statuses == {"met", "not_met", "unsure"}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("limit", [0.4, 0.41, 0.412, 0.4125, 0.42, 0.5, 0.502, 0.51])
def test_no_reader_sees_met_beside_an_interval_that_holds_the_limit(limit: float) -> None:
    """What is printed has digits enough to tell the ends from the limit."""
    decision = TEST.decide(0.02, threshold=2.0, precision=limit)
    found = re.search(r"precision: (\S+)% \((\S+) to (\S+)\)$", decision.verdict.sentence)
    assert found is not None
    _, low, high = (float(text) / 100 for text in found.groups())
    met = {True: low >= limit, False: high < limit, None: low < limit <= high}
    assert met[decision.verdict.met], decision.verdict.sentence


def test_several_targets_share_the_error_and_one_miss_decides() -> None:
    decision = TEST.decide(0.02, threshold=2.0, recall=0.5, precision=0.9, fpr=0.5)
    assert (decision.verdict.status, decision.verdict.met) == ("not_met", False)
    assert decision.table["level"].item() == pytest.approx(1 - 0.05 / 3)
    points = TEST.operating_points(
        0.02, threshold=2.0, metrics=["precision"], confidence=1 - 0.05 / 3, columns="all"
    )
    for name in ("precision_low", "precision_high", "recall_low", "fpr_high"):
        assert decision.table[name].equals(points[name])
    assert "98.3% CI" in decision.say(100)
    assert TEST.decide(0.02, threshold=2.0, recall=0.5, fpr=0.5).verdict.met is True
    assert TEST.decide(0.02, threshold=2.0, recall=0.5, precision=0.46).verdict.met is None


VERB_OF_RESULT = {False: "misses", None: "may or may not meet", True: "meets"}


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("recall", "precision", "fpr"),
    [
        (*limits, LIMITS["fpr"][3 * (sum(places) // 2 % 2)])  # either limit of fpr, in turns
        for places, limits in zip(
            product(range(4), repeat=2), product(LIMITS["recall"], LIMITS["precision"]), strict=True
        )
        if sum(places) % 2 == 0
    ],
)
def test_each_limit_stands_beside_what_the_threshold_does_of_it(
    recall: float, precision: float, fpr: float
) -> None:
    """A miss decides, and a limit that is met beside it is not called missed."""
    demand = {"recall": recall, "precision": precision, "fpr": fpr}
    decision = TEST.decide(0.02, threshold=2.0, **demand)
    [row] = decision.table.to_dicts()
    expected_results = {}
    for word, limit in demand.items():
        low, high = (row[f"{word}_{end}"] - limit for end in ("low", "high"))
        is_within, is_beyond = (high <= 0, low > 0) if word == "fpr" else (low >= 0, high < 0)
        expected_results[word] = True if is_within else False if is_beyond else None
    results = {}
    sentence = decision.verdict.sentence.removeprefix("Threshold 2 ").replace("FPR", "fpr")
    for clause in sentence.split("; it "):
        is_met = next(is_met for is_met, verb in VERB_OF_RESULT.items() if clause.startswith(verb))
        limits_text, values_text = clause.split(": ")
        words = [word for word in demand if word in limits_text]
        named_words = [word for word in demand if f"{word} " in values_text]
        assert named_words == (words if len(words) > 1 else []), clause  # the limit names a single one
        results |= dict.fromkeys(words, is_met)
    assert results == expected_results, decision.verdict.sentence


def test_a_threshold_that_no_score_reaches_flags_nothing() -> None:
    missed = TEST.decide(0.02, threshold=99, precision=0.5)
    assert (missed.verdict.status, missed.verdict.met) == ("not_met", False)
    assert missed.verdict.sentence == "No score reaches the threshold 99"
    assert TEST.decide(0.02, threshold=99, fpr=0.01).verdict.met is True


def test_a_group_without_a_threshold_is_not_tested() -> None:
    """A guarantee may choose none for a group: nothing is known of it, and it misses no target."""
    few = SETTLED.filter(pl.col("new") > pl.col("new").min()).head(400)
    df = pl.concat([SETTLED.with_columns(site=pl.lit("a")), few.with_columns(site=pl.lit("b"))])
    thresholds = pl.DataFrame({"site": ["a", "b"], "threshold": [2.0, None]})
    decision = df.prc(score="new", by="site").decide(0.02, threshold=thresholds, recall=0.5)
    assert (decision.verdict.status, decision.verdict.met) == ("unsure", None)
    sentence = "1 of 2 sites meets 50% recall; no threshold for b"
    assert decision.verdict.sentence.replace("\u00a0", " ") == sentence
    of_b = decision.verdicts.filter(site="b").row(0, named=True)
    assert (of_b["status"], of_b["met"]) == ("unsure", None)
    assert of_b["sentence"] == "No threshold was passed"
    assert of_b["would_settle"].startswith("On this test set, threshold ")


def test_chance_leaves_met_as_the_demand_gives_it_and_too_little_data_do_not() -> None:
    few = draw_models({"score": 6.0}, 9, 5_000)
    for limit in (0.5, 1e-6):
        verdict = few.prc.decide(0.02, threshold=2.0, fpr=limit).verdict
        assert (verdict.status, verdict.met) == ("too_little_data", None)
    by_chance = COINS.prc(score="heads").decide(0.02, threshold=0.0, precision=0.5).verdict
    assert (by_chance.status, by_chance.met) == ("chance", False)


def test_one_point_with_targets_is_a_demand() -> None:
    cells = pl.DataFrame({"tp": [202], "fp": [3], "fn": [10], "tn": [354]})
    point = prc(cells, cells=("tp", "fp", "fn", "tn"))
    verdicts = [
        point.decide(0.004, **targets).verdict for targets in ({}, {"recall": 0.9}, {"npv": 0.99})
    ]
    assert [(verdict.status, verdict.met) for verdict in verdicts] == [
        ("measured", None),
        ("met", True),
        ("met", True),
    ]
    assert verdicts[1].sentence.startswith("This point meets 90% recall: 95% (92 to 97)")
    assert point.decide(0.004, precision=0.2).verdict.status == "unsure"


# Several cases --------------------------------------------------------------------------------

SITES = pl.concat(
    draw_models({"score": distance}, 200, 1_300, seed=number).with_columns(site=pl.lit(f"site {number}"))
    for number, distance in enumerate([0.8, 2.0, 2.0, 2.2, 2.2, 3.4])
)


def test_groups_that_miss_are_tested_by_the_steps_of_holm() -> None:
    table = SITES.prc(by="site")
    decision = table.decide(0.05, threshold=table.operating_points(0.05, recall=0.5), precision=0.55)
    n_cases, n_missed = 6, 0
    levels = dict(decision.table.select("site", "level").iter_rows())
    for met, site in decision.verdicts.sort("met").select("met", "site").iter_rows():
        if met is not False:
            continue
        assert levels[site] >= 1 - 0.05 / (n_cases - n_missed) - 1e-9 or levels[site] == 1 - 0.05 / 6
        n_missed += 1
    assert n_missed > 0
    assert {level for site, level in levels.items() if site == "site 5"} == {0.95}
    for row in decision.table.join(decision.verdicts.select("site", "met"), on="site").iter_rows(
        named=True
    ):
        met = row["precision_low"] >= 0.55 or (None if row["precision_high"] >= 0.55 else False)
        assert row["met"] is met
    assert (decision.verdict.status, decision.verdict.met) == ("not_met", False)
    assert re.match(
        r"\d of 6 sites meets? 55% precision; target not met for site 0", decision.verdict.sentence
    )


def test_all_groups_have_to_meet_the_demand() -> None:
    table = SITES.prc(by="site")
    points = table.operating_points(0.05, recall=0.5)
    met = table.decide(0.05, threshold=points, precision=0.05)
    assert (met.verdict.status, met.verdict.met) == ("met", True)
    assert met.verdict.sentence == "All 6 sites meet 5% precision"
    others = SITES.filter(pl.col("site") != "site 0").prc(by="site")
    unsure = others.decide(0.05, threshold=points, precision=0.5)
    assert (unsure.verdict.status, unsure.verdict.met) == ("unsure", None)
    assert "not sure for site" in unsure.verdict.sentence
    both = others.decide(0.05, threshold=points, precision=0.5, recall=0.5)
    opening = "No site is shown to meet 50% recall and 50% precision; not sure"
    assert both.verdict.sentence.startswith(opening)
    head = next(line for line in both.say(100).splitlines() if line.startswith("where"))
    assert re.findall(r"recall|precision", head) == ["recall", "precision"], "all that is demanded"
    assert unsure.verdicts.schema["met"] == pl.Boolean
    assert "thresholds as passed, chosen on other data" in unsure.verdict.conditions


@pytest.mark.parametrize(
    ("parts", "met"),
    [
        ([True, True], True),
        ([True, None], None),
        ([None, False], False),
        ([], None),
        ([True, False], False),
    ],
)
def test_a_demand_on_all_is_met_if_each_part_is(parts: list[bool | None], met: bool | None) -> None:
    assert combine_met(parts) is met


# Guarantees -----------------------------------------------------------------------------------


def test_a_guarantee_is_a_demand() -> None:
    met = TEST.decide(0.02, precision=0.3, guarantee=0.95)
    assert (met.verdict.status, met.verdict.met) == ("met", True)
    assert "with 95% confidence" in met.verdict.sentence
    assert TEST.decide(0.02, precision=0.3).verdict.met is None
    both = SETTLED.prc(score=["new", "old"])
    assert both.decide(0.02, recall=0.5, guarantee=0.95).verdict.met is True
    one = both.decide(0.02, precision=0.3, guarantee=0.95)
    assert (one.verdict.status, one.verdict.models, one.verdict.met) == ("met", ("new",), True)
    assert any(
        text.startswith("no threshold of old meets the target with 95% confidence: the precision ")
        for text in one.verdict.reasons
    )


def test_a_guarantee_names_the_class_that_perfect_scores_lack() -> None:
    label = [True] * 500 + [False] * 1_000
    perfect = pl.DataFrame({"score": [1.0] * 500 + [0.0] * 1_000, "label": label}).prc
    targets = {"recall": 0.7, "precision": 0.9, "guarantee": 0.95}
    for words in (targets, {"precision": 0.9, "guarantee": 0.95}):
        need = perfect.decide(0.001, **words).verdict.would_settle
        examples = r"about [23]\d,000.negatives in the test set"
        assert re.fullmatch(f"Even a perfect classifier needs {examples} for this guarantee", need)
    few = pl.DataFrame({"score": [1.0] * 10 + [0.0] * 20, "label": [True] * 10 + [False] * 20}).prc
    assert re.search(
        r"about 11.positives and [34]\d,000.negatives", few.decide(0.001, **targets).verdict.would_settle
    )


def test_a_target_out_of_reach_is_not_met_and_the_best_value_is_named() -> None:
    weak = draw_models({"score": 0.8}, 300, 30_000, seed=3)
    decision = weak.prc.decide(0.001, recall=0.5, precision=0.5)
    assert decision.verdict.status == "not_met"
    bounded = weak.with_columns(pl.col("score").clip(upper_bound=1.5)).prc
    verdict = bounded.decide(0.001, precision=0.5).verdict
    assert verdict.status == "not_met"
    found = re.search(r"the highest precision is (\S+)% \((\S+) to (\S+)\)$", verdict.sentence)
    assert found is not None
    curve = bounded.curve(0.001, metrics="precision", confidence=0.95)
    rows = curve.select("precision", "precision_low", "precision_high").rows()
    assert any(
        [float(text) / 100 for text in found.groups()] == pytest.approx([*row], rel=0.05) for row in rows
    )


@pytest.mark.parametrize("words", [{"alerts": 0.01, "per": 100}, {"predicted_positive_rate": 1e-4}])
def test_the_lowest_number_of_alerts_is_the_lowest(words: dict[str, float]) -> None:
    scores = [3.0, *[2.0] * 2, *[1.0] * 30, *[0.0] * 70]
    label = [True, *[False] * 2, *[True] * 30, *[False] * 70]
    test = pl.DataFrame({"score": scores, "label": label}).prc
    verdict = test.decide(0.1, **words).verdict
    assert verdict.status == "not_met"
    lowest = test.curve(0.1, metrics="predicted_positive_rate")["predicted_positive_rate"].min()
    assert re.search(rf"the lowest [a-z ]+ is {100 * lowest:.2f}", verdict.sentence)


def test_a_best_value_without_the_rarest_alerts_is_of_at_least_five() -> None:
    """A threshold of two alerts may have any precision, and is no evidence."""
    label = [True] * 400 + [False] * 19_600
    scores = [9.0] * 2 + [5.0] * 6 + [0.0] * 392 + [5.0] * 2 + [0.0] * 19_598
    test = pl.DataFrame({"score": scores, "label": label}).prc
    sentence = test.decide(0.01, precision=0.7, guarantee=0.95).verdict.sentence
    assert ": the precision with the highest lower limit is 66% (" in sentence.replace("\u00a0", " ")


@pytest.mark.parametrize("word", ["precision", "fdr"])
def test_with_a_guarantee_the_best_candidate_has_the_best_end_of_an_interval(word: str) -> None:
    """The highest scores alone have a precision of 100%, and an interval that begins near 0."""
    test = draw_models({"score": 2.5}, 500, 19_500, seed=1).prc
    value = 0.9 if word == "precision" else 0.1
    verdict = test.decide(1 / 2_000, **{word: value}, guarantee=0.95).verdict
    assert verdict.met is not True
    end = "highest lower" if word == "precision" else "lowest upper"
    text = verdict.sentence.replace("\u00a0", " ")
    shown = re.search(rf"with the {end} limit is (\S+)% \((\S+) to (\S+)\)$", text)
    assert shown is not None, text
    curve = test.curve(1 / 2_000, metrics="precision", confidence=0.95)
    curve = curve.filter(pl.col("tp") + pl.col("fp") >= 5)
    low: float = curve["precision_low"].max()  # type: ignore[assignment]
    shown_end = float(shown[2]) if word == "precision" else 100 - float(shown[3])
    assert shown_end == pytest.approx(100 * low, rel=0.1)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_not_sure_is_shown_by_an_interval_that_holds_the_limit(seed: int) -> None:
    scores = draw_models({"score": 2.0}, 400, 19_600, seed=seed)
    statuses = set()
    for budget in (90, 105, 120, 128):
        decision = scores.prc.decide(0.01, recall=0.8, alerts=budget, per=1_000)
        statuses.add(decision.verdict.status)
        text = re.sub("\u00a0", " ", decision.verdict.sentence)
        found = re.search(
            r"the (highest recall|lowest number of alerts) is [\d.]+%? \(([\d.]+) to ([\d.]+)\)$", text
        )
        if decision.verdict.status in ("unsure", "not_met"):
            assert found is not None
            limit = 80 if found[1] == "highest recall" else budget
            holds_limit = float(found[2]) <= limit <= float(found[3])
            assert holds_limit == (decision.verdict.status == "unsure")
            settles = decision.verdict.would_settle
            assert settles.startswith(
                "To decide whether a threshold" if holds_limit else "Better scores"
            )
    assert "unsure" in statuses


# One table of statuses ------------------------------------------------------------------------


def test_the_documentation_shows_the_table_of_statuses() -> None:
    rows = [
        f"| `{status}` | {row.label.upper() or '(nothing)'} | {row.rule} |"
        for status, row in STATUS_TABLE.items()
    ]
    table = "\n".join(["| `verdict.status` | printed | when |", "|---|---|---|", *rows])
    assert table in (DOCS / "verdicts.md").read_text(encoding="utf-8")
    assert list(STATUS_TABLE) == list(STATUSES)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "several values": ({"threshold": 2.0, "recall": [0.5, 0.8]}, "decide() takes one value of"),
    "alerts without per": ({"threshold": 2.0, "alerts": 5}, "pass per=, the number of cases"),
    "a recall of 2": ({"threshold": 2.0, "recall": 2}, "recall= takes numbers in [0, 1]"),
    "maximize": ({"threshold": 2.0, "maximize": "f1"}, "leave out threshold=: maximize="),
}


@pytest.mark.parametrize("case", REFUSED)
def test_demands_that_are_refused(case: str) -> None:
    arguments, message = REFUSED[case]
    with pytest.raises(PrcError, match=re.escape(message)):
        TEST.decide(0.02, **arguments)


def test_designs_have_gates() -> None:
    """Weights, clusters and strata widen the interval that decides."""
    table = SETTLED.with_columns(
        w=pl.when("label").then(1).otherwise(10), patient=pl.int_range(pl.len()) // 3
    )
    designs: list[dict[str, Any]] = [{"weight": "w"}, {"cluster": "patient"}]
    for design, limit in product(designs, (0.4, 0.6)):
        decision = table.prc(score="new", **design).decide(0.02, threshold=2.0, precision=limit)
        low, high = read_interval(decision, "precision")
        assert decision.verdict.met == (True if low >= limit else False if high < limit else None)
