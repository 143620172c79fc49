"""Decisions: which status a table has, that the verdict is that of the methods, and what it says."""

from __future__ import annotations

import math
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import combinations, product
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs
import pytest
from polars.testing import assert_frame_equal

from polars_prcurve import (
    Decision,
    PrcError,
    PrcWarning,
    Verdict,
    class_mix,
    eta_from_sample,
    eta_grid,
    field,
    from_rates,
    intervals,
    metrics,
    prc,
)
from polars_prcurve.core.ground.message_text import name_groups
from polars_prcurve.core.ground.terminal_text import measure_width
from polars_prcurve.core.judging.status_names import STATUSES
from polars_prcurve.view.verdicts.case_places import name_eta
from polars_prcurve.view.verdicts.status_labels import STATUS_TABLE
from tests.support.model_tests import COINS, EQUAL, SETTLED, STATUSES_OF, draw_models
from tests.support.tiers import pair_each, slow_unless

GOALS: dict[str, dict[str, Any]] = {
    "recall": {"recall": 0.5},
    "alerts": {"alerts": 100, "per": 10_000},
    "fpr": {"fpr": 0.01},
    "precision": {"precision": 0.2},
    "npv": {"npv": 0.99},
    "fdr": {"fdr": 0.8},
    "lift": {"lift": 5},
    "predicted_positive_rate": {"predicted_positive_rate": 0.02},
    "maximize": {"maximize": "f1"},
    "several": {"alerts": 200, "per": 10_000, "precision": 0.2},
    "curve": {},
}
TIERED_GOALS = slow_unless(lambda goal: goal in ("recall", "several", "curve"), GOALS)
BETTER = re.compile(r"\b(better|leads?|first|best|use)\b")


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def bind(df: pl.DataFrame) -> Any:
    return df.prc(score=[name for name in df.columns if name != "label"])


def decide(df: pl.DataFrame, eta: Any = 0.02, **asked: Any) -> Decision:
    return bind(df).decide(eta, **asked)  # type: ignore[no-any-return]


@cache
def decide_known(status: str, goal: str) -> Decision:
    """Return the decision of a table that many tests look at, made once."""
    return decide(STATUSES_OF[status], **GOALS[goal])


# Statuses -------------------------------------------------------------------------------------


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("goal", TIERED_GOALS)
@pytest.mark.parametrize("status", STATUSES_OF)
def test_each_table_has_its_status_at_any_goal(status: str, goal: str) -> None:
    if (status, goal) == ("too_little_data", "lift"):
        return  # a lift of 5 is where some of these scores are surely right
    verdict = decide_known(status, goal).verdict
    expected = {status}
    if status == "too_little_data":  # what is met by chance, and what is met by none
        expected |= {"no_winner", "unsure"}
    assert verdict.status in expected
    named = {
        "winner": {"new"},
        "no_winner": {"one", "other"} if status != "too_little_data" else {"a", "b"},
    }
    assert set(verdict.models) == named.get(verdict.status, set())


def test_a_class_of_fewer_than_ten_is_too_little_in_any_case() -> None:
    few = draw_models({"good": 6.0, "coin": 0.0}, 9, 5_000)
    verdict = decide(few, recall=0.5).verdict
    assert verdict.status == "too_little_data"
    assert "9 positives" in verdict.sentence
    many = draw_models({"good": 6.0, "coin": 0.0}, 12, 5_000)
    assert decide(many, recall=0.5).verdict.models == ("good",)
    few_negatives = decide(draw_models({"a": 2.0, "b": 2.0}, 500, 7), recall=0.5).verdict
    assert "7 negatives" in few_negatives.sentence


def test_what_no_interval_tells_of_few_examples_is_said_of_none() -> None:
    few = draw_models({"a": 2.0, "b": 2.0}, 3, 20)
    verdict = decide(few, 0.1, recall=0.5, lift=2**64).verdict
    assert verdict.status == "too_little_data"
    half = "With 3 positives, precision of a at 50% recall could be anything from "
    assert plain(verdict.sentence).startswith(half)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (slice(0, 0), "The table has no rows"),
        (slice(0, 1), "The test set has no negatives"),
        (slice(-1, None), "The test set has no positives"),
    ],
)
@pytest.mark.parametrize("goal", TIERED_GOALS)
def test_tables_without_a_class(goal: str, rows: slice, says: str) -> None:
    verdict = decide(SETTLED[rows], **GOALS[goal]).verdict
    assert (verdict.status, verdict.models) == ("too_little_data", ())
    assert says in verdict.sentence


def test_what_no_threshold_keeps_is_not_met() -> None:
    impossible = {"precision": 0.9, "recall": 0.99}
    verdict = decide(EQUAL, **impossible).verdict
    assert (verdict.status, verdict.models) == ("not_met", ())
    assert "99% recall and 90% precision" in verdict.sentence.replace("\u00a0", " ")


def test_a_promise_that_cannot_be_made_says_how_many_examples_it_takes() -> None:
    verdict = decide(EQUAL, 1e-4, precision=0.9, guarantee=0.95).verdict
    assert (verdict.status, verdict.met) == ("unsure", None)
    assert "No threshold meets 90% precision with 95% confidence" in verdict.sentence
    assert re.search(r"Even a perfect classifier needs about [\d,]+ negatives", verdict.would_settle)


def test_a_model_that_meets_nothing_is_left_out_and_named() -> None:
    mixed = draw_models({"good": 3.0, "fair": 2.5, "coin": 0.0}, 300, 6_000)
    decision = decide(mixed, precision=0.6)
    assert set(decision.verdict.models) <= {"good", "fair"}
    assert any(
        text.startswith("no threshold of coin meets the target: the highest precision is ")
        for text in decision.verdict.reasons
    )
    assert decision.table.filter(model="coin")["threshold"].item() is None


def draw_equals(seed: int, n: int = 1_500) -> pl.DataFrame:
    """Return two models of one strength, whose scores have a part in common."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.1
    common = rng.normal(size=n) + 2 * label
    noise = 0.7 * rng.normal(size=(2, n))
    return pl.DataFrame({"label": label, "m0": common + noise[0], "m1": common + noise[1]})


@pytest.mark.slow
def test_a_model_that_just_misses_may_be_the_best() -> None:
    """Chance decides which of two equal models meets the targets."""
    missed = 0
    for seed in range(12):
        decision = decide(draw_equals(seed, 1_500), 0.01, recall=0.6, precision=0.07)
        assert decision.verdict.status != "winner"
        one_is_met = decision.table["threshold"].null_count() == 1
        if decision.verdict.status == "no_winner" and one_is_met:
            assert set(decision.verdict.models) == {"m0", "m1"}
            assert "misses the targets, but not significantly" in decision.verdict.sentence
            missed += 1
    assert missed > 2


@pytest.mark.slow
def test_a_demand_names_those_that_meet_it_without_a_comparison() -> None:
    statuses = set()
    for seed in range(12):
        decision = decide(draw_equals(seed, 3_000), 0.02, precision=0.3, guarantee=0.95)
        met = decision.table.drop_nulls("threshold")["model"].to_list()
        verdict = decision.verdict
        if verdict.status in ("met", "no_winner", "winner"):
            assert verdict.met
            assert set(verdict.models) <= set(met)
        if len(met) == 1:
            assert (verdict.status, verdict.models) == ("met", tuple(met))
        statuses.add(verdict.status)
    assert "met" in statuses


def test_a_perfect_model_beside_a_coin_is_settled() -> None:
    df = COINS.with_columns(perfect=pl.col("label").cast(pl.Float64)).drop("tails")
    decision = decide(df, recall=0.5)
    assert decision.verdict.models == ("perfect",)
    assert decision.table.filter(model="perfect")["precision_high"].item() == 1


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("goal", TIERED_GOALS)
def test_equal_columns_are_not_told_apart(goal: str) -> None:
    same = SETTLED.select("label", "new", again=pl.col("new"))
    assert set(decide(same, **GOALS[goal]).verdict.models) == {"again", "new"}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("goal", TIERED_GOALS)
def test_a_model_alone_is_measured_where_it_is_above_chance(goal: str) -> None:
    settled = SETTLED.prc(score="new").decide(0.02, **GOALS[goal]).verdict
    assert (settled.status, settled.models, settled.met) == ("measured", (), None)
    said = settled.sentence.replace("better than chance", "").replace("best F1", "")
    assert not BETTER.search(said)


def test_a_coin_alone_and_a_threshold() -> None:
    assert COINS.prc(score="heads").decide(0.02, recall=0.5).verdict.status == "chance"
    at = SETTLED.prc(score="new").decide(0.02, threshold=2.0)
    assert at.table["threshold"].item() == 2.0
    assert at.verdict.status == "measured"


# The verdict is that of the methods -----------------------------------------------------------


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "goal",
    slow_unless(
        lambda goal: goal in ("recall", "alerts", "precision", "curve"),
        ["recall", "alerts", "fpr", "precision", "npv", "fdr", "lift", "curve"],
    ),
)
def test_models_are_those_of_the_ranking(goal: str) -> None:
    three = draw_models({"a": 2.0, "b": 2.1, "c": 1.0}, 200, 4_000)
    asked = GOALS[goal]
    decision = decide(three, **asked)
    merit = {"recall": "precision", "npv": "precision", "curve": "average_precision"}.get(goal, "recall")
    ranks = bind(three).ranking(0.02, metric=merit, confidence=0.95, columns="all", **asked)
    best = set(ranks.filter("may_be_best")["model"])
    assert set(decision.verdict.models) == best
    joined = decision.table.join(ranks, on="model", suffix="_rank")
    for name, other in (
        ("behind", "behind_rank"),
        ("behind_low", "behind_low_rank"),
        ("behind_high", "behind_high_rank"),
    ):
        assert joined[name].equals(joined[other if other in joined.columns else name])
    assert joined["may_be_best"].equals(joined["may_be_best_rank"])


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "goal",
    slow_unless(
        lambda goal: goal in ("recall", "alerts", "precision", "maximize"),
        [name for name in GOALS if name not in ("curve", "several")],
    ),
)
def test_the_table_is_that_of_operating_points(goal: str) -> None:
    asked = GOALS[goal]
    decision = decide_known("winner", goal)
    metrics = ["precision", "f1"] if goal == "maximize" else ["precision"]
    found = bind(SETTLED).operating_points(
        0.02, metrics=metrics, confidence=0.95, columns="all", **{"per": 10_000, **asked}
    )
    shared = [name for name in found.columns if name in decision.table.columns]
    assert set(found.columns) - set(shared) == {"criterion", "target"}
    assert_frame_equal(decision.table.select(shared), found.select(shared), check_exact=True)


def test_the_rows_of_several_targets_are_those_that_hold_together() -> None:
    asked = GOALS["several"]
    decision = decide_known("winner", "several")
    joint = bind(SETTLED).operating_points(
        0.02, together=True, metrics=["precision"], columns="all", **asked
    )
    for name in ("threshold", "tp", "fp", "recall", "precision", "alerts"):
        assert decision.table[name].equals(joint[name])
    of_joint = bind(SETTLED).operating_points(
        0.02, together=True, metrics=["precision"], confidence=0.95, columns="all", **asked
    )
    for name in ("recall", "precision", "alerts"):
        for end in (f"{name}_low", f"{name}_high"):
            assert decision.table[end].equals(of_joint[end])


def test_a_model_is_ruled_out_only_where_it_is_behind_at_each_target_that_may_bind() -> None:
    three = draw_models({"a": 2.0, "b": 2.1, "c": 1.0}, 200, 4_000)
    asked = {"alerts": 150, "per": 10_000, "precision": 0.1}
    decision = decide(three, **asked)
    may_be = {
        word: set(
            bind(three)
            .ranking(
                0.02, metric="recall", confidence=0.95, columns="all", **{word: asked[word]}, **more
            )
            .filter("may_be_best")["model"]
        )
        for word, more in (("alerts", {"per": 10_000}), ("precision", {}))
    }
    found = set(decision.table.filter("may_be_best")["model"])
    assert found in (may_be["alerts"], may_be["precision"], may_be["alerts"] | may_be["precision"])


@pytest.mark.parametrize("score", ["new", ["new", "old"]])
def test_a_cost_of_a_user_is_decided_by_its_interval(score: str | list[str]) -> None:
    """It is the loss of net benefit, so that all ends are those of net benefit, with another sign."""
    cost = metrics.point(
        "cost", lambda tp, fn, fp, tn: 0.25 * fp - tp, direction="minimize", monotone=True
    )
    table = SETTLED.prc(score=score)
    found, mirror = (table.decide(0.1, maximize=metric) for metric in (cost, "net_benefit(0.2)"))
    assert found.verdict.status == mirror.verdict.status
    assert found.verdict.models == mirror.verdict.models
    for end, other_end in (("", ""), ("_low", "_high"), ("_high", "_low")):
        values = (-mirror.table[f"net_benefit(0.2){other_end}"]).to_list()
        assert found.table[f"cost{end}"].to_list() == pytest.approx(values)
    text = str(found)
    assert "for the lowest cost" in text.replace("\n", " ")
    assert "cost (95% CI)" in text
    with pytest.raises(PrcError, match="pass monotone=True"):
        table.decide(0.1, maximize=replace(cost, falls_with_fpr=False))


def test_best_values_are_compared_by_their_intervals() -> None:
    decision = decide_known("no_winner", "maximize")
    points = bind(EQUAL).operating_points(
        0.02, maximize="f1", metrics=["f1"], confidence=0.95, columns="all"
    )
    value, low, high = (
        dict(points.select("model", name).iter_rows()) for name in ("f1", "f1_low", "f1_high")
    )
    for row in decision.table.iter_rows(named=True):
        mine, other = row["model"], "other" if row["model"] == "one" else "one"
        gap = value[other] - value[mine]
        least = gap - math.hypot(value[other] - low[other], high[mine] - value[mine])
        assert row["behind"] == pytest.approx(gap)
        assert row["behind_low"] == pytest.approx(least)
        assert row["may_be_best"] == (least <= 0)


# Prevalences and groups -----------------------------------------------------------------------


def test_each_prevalence_has_a_verdict_and_one_stands_above() -> None:
    decision = decide(SETTLED, [0.1, 0.001], recall=0.5)
    assert decision.verdicts["eta"].to_list() == [0.1, 0.001]  # as they were asked
    assert decision.verdicts["models"].to_list() == [["new"], ["new"]]
    assert decision.verdict.models == ("new",)
    assert "at both prevalences" in decision.verdict.sentence
    alone = decide(SETTLED, 0.1, recall=0.5)
    assert decision.verdicts["sentence"][0] == alone.verdict.sentence
    per_case = cs.starts_with("alerts", "true_alerts", "missed")  # of a million, and of a thousand
    rows = decision.table.filter(eta=0.1).drop(per_case)
    assert_frame_equal(rows, alone.table.drop(per_case), check_exact=False)


def test_a_model_is_settled_above_only_if_it_is_in_every_case() -> None:
    one = SETTLED.with_columns(site=pl.lit("a"))
    turned = SETTLED.rename({"new": "old", "old": "new"}).select(SETTLED.columns)
    both = pl.concat([one, turned.with_columns(site=pl.lit("b"))])
    decision = both.prc(score=["new", "old"], by="site").decide(0.02, recall=0.5)
    assert decision.verdicts["status"].to_list() == ["winner", "winner"]
    assert decision.verdict.status == "no_winner"
    assert set(decision.verdict.models) == {"new", "old"}
    assert "new is better for a" in decision.verdict.sentence
    open_one = pl.concat(
        [one, EQUAL.rename({"one": "new", "other": "old"}).with_columns(site=pl.lit("b"))]
    )
    mixed = open_one.prc(score=["new", "old"], by="site").decide(0.02, recall=0.5)
    assert mixed.verdicts["status"].to_list() == ["winner", "no_winner"]
    assert mixed.verdict.status == "no_winner"


def test_none_is_the_prevalence_that_was_counted() -> None:
    decision = decide(SETTLED, None, recall=0.5)
    assert decision.table["eta"].unique().to_list() == [300 / 6_300]
    found = bind(SETTLED).operating_points(
        recall=0.5, metrics=["precision"], confidence=0.95, columns="all"
    )
    assert decision.table["precision_high"].equals(found["precision_high"])


def test_an_estimate_is_tested_at_both_ends() -> None:
    estimate = eta_from_sample(5, 1_000)
    decision = decide(SETTLED, estimate, recall=0.5)
    assert decision.verdict.models == ("new",)
    assert any("the prevalence is an estimate" in reason for reason in decision.verdict.reasons)
    assert "eta_low" in decision.table.columns
    low = estimate["eta_low"][0]
    ranks = bind(SETTLED).ranking(
        [low, 0.005], metric="precision", recall=0.5, confidence=0.95, columns="all"
    )
    assert decision.table["behind_low"].min() <= ranks["behind_low"].min()  # type: ignore[operator]


def test_scores_of_the_field_tell_the_prevalence_of_one_model() -> None:
    month = SETTLED.select(score="new").sample(2_000, seed=1)
    test = SETTLED.rename({"new": "score"}).drop("old")
    decision = test.prc.decide(prc(month, label=None), recall=0.5)
    assert {"eta_low", "eta_high"} <= set(decision.table.columns)
    with pytest.raises(PrcError, match="separately for each model"):
        decide(SETTLED, prc(SETTLED.drop("label"), label=None), recall=0.5)


PARTS = pl.DataFrame({"site": ["a", "b"], "eta": [0.05, 0.001], "share": [0.3, 0.7]})


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    "goal",
    slow_unless(lambda goal: goal in ("recall", "curve"), ["recall", "alerts", "curve", "several"]),
)
def test_a_field_is_decided_by_its_weighted_examples(goal: str) -> None:
    sites = SETTLED.with_columns(site=pl.Series(["a", "b"] * 3_150))
    asked = GOALS[goal]
    in_field = sites.prc(score=["new", "old"]).decide(field(PARTS, parts="site"), **asked)
    weighted = sites.prc(score=["new", "old"]).reweight(eta=field(PARTS, parts="site"))
    eta = in_field.table["eta"][0]
    assert eta == pytest.approx(0.3 * 0.05 + 0.7 * 0.001)
    alone = weighted.prc(score=["new", "old"], weight="weight").decide(eta, **asked)
    assert in_field.verdict.models == alone.verdict.models == ("new",)
    shared = [name for name in alone.table.columns if "high" in name or "low" in name]
    assert_frame_equal(in_field.table.select(shared), alone.table.select(shared), check_exact=False)
    if goal == "recall":  # what binds the parts does not read the goal
        bound = sites.prc(score=["new", "old"], by="site").decide(field(PARTS, parts="site"), **asked)
        assert_frame_equal(bound.table, in_field.table)


def test_a_promise_in_a_field_is_that_of_the_field() -> None:
    sites = SETTLED.with_columns(site=pl.Series(["a", "b"] * 3_150))
    asked: dict[str, Any] = {"precision": 0.05, "guarantee": 0.9}
    table = sites.prc(score=["new", "old"])
    decision = table.decide(field(PARTS, parts="site"), **asked)
    points = table.operating_points(field(PARTS, parts="site"), columns="all", **asked)
    assert decision.table["threshold"].equals(points["threshold"])


def test_classes_are_decided_each_on_its_own() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 3_000)
    scores = {f"p{k}": rng.normal(size=3_000) + 2 * (truth == k) for k in range(3)}
    df = pl.DataFrame({"kind": [["cat", "dog", "cow"][k] for k in truth], **scores})
    bound = df.prc(score={"cat": "p0", "dog": "p1", "cow": "p2"}, label="kind")
    decision = bound.decide(0.1, recall=0.5)
    assert decision.verdicts["class"].to_list() == sorted(decision.verdicts["class"].to_list())
    assert decision.verdicts.height == 3
    mixed = bound.decide(class_mix({"cat": 0.6, "dog": 0.3, "cow": 0.1}), recall=0.5)
    assert sorted(mixed.verdicts["eta"].to_list()) == pytest.approx([0.1, 0.3, 0.6])


# Groups of one model --------------------------------------------------------------------------


def draw_groups(distances: list[float], n: int = 1_500) -> pl.DataFrame:
    parts = [
        draw_models({"score": distance}, n // 5, n - n // 5, seed=number).with_columns(
            site=pl.lit(f"site {number}")
        )
        for number, distance in enumerate(distances)
    ]
    return pl.concat(parts)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("goal", [{"recall": 0.5}, {"alerts": 500, "per": 10_000}, {}])
def test_groups_stand_beside_all_others_together(goal: dict[str, Any]) -> None:
    sites = draw_groups([0.8, 2.0, 2.0, 2.0, 2.0, 3.4])
    decision = sites.prc(by="site").decide(0.05, **goal)
    sentence = decision.verdict.sentence
    assert sentence.startswith("site 5 is better than the rest: ")
    assert "; site 0 is worse than the rest: " in sentence
    assert sentence.endswith("; no significant difference for site 1, site 2, site 3 and site 4")
    assert decision.verdicts.height == 6


def test_of_many_worse_groups_the_worst_are_named() -> None:
    sites = draw_groups([2.8] * 6 + [1.5, 1.4, 1.2, 1.0, 0.8, 0.6])
    decision = sites.prc(by="site").decide(0.05, recall=0.5)
    lowest = decision.table.sort("precision")["site"][:3].to_list()
    assert re.search(rf"{', '.join(lowest)} and \d more are worse", decision.verdict.sentence)


@pytest.mark.parametrize("seed", slow_unless(lambda seed: seed == 5, [1, 5, 10]))
def test_groups_of_equal_models_share_the_error_of_their_tests(seed: int) -> None:
    """Of ten groups, none is settled."""
    sites = draw_equals(seed, 4_500).with_columns(site=pl.int_range(pl.len()) % 10)
    decision = sites.prc(score=["m0", "m1"], by="site").decide(0.1, recall=0.5)
    assert decision.verdict.models != ("m0",)
    assert "winner" not in decision.verdicts["status"].to_list()


@pytest.mark.parametrize("seed", slow_unless(lambda seed: seed < 1, range(4)))
def test_groups_of_coins_share_the_error_of_their_tests(seed: int) -> None:
    """Of fifteen groups, none is settled."""
    rng = np.random.default_rng(seed)
    coins = pl.DataFrame({"score": rng.random(3_000), "label": rng.random(3_000) < 0.1})
    sites = coins.with_columns(site=pl.int_range(pl.len()) % 15)
    decision = sites.prc(by="site").decide(0.01, recall=0.5)
    assert "winner" not in decision.verdicts["status"].to_list()
    assert not decision.table["above_chance"].any()


def test_what_would_settle_several_groups_is_that_of_which_least_is_known() -> None:
    big = draw_models({"score": 2.0}, 540, 4_860, seed=3)
    small = draw_models({"score": 2.0}, 60, 540, seed=4)
    needs = set()
    for name in ("small", "a small one"):
        sites = pl.concat([big.with_columns(site=pl.lit("big")), small.with_columns(site=pl.lit(name))])
        decision = sites.prc(by="site").decide(0.05, threshold=2.0)
        need = decision.verdict.would_settle
        assert need.startswith(f"For {name}, where most examples are needed: the interval"), (
            "one prevalence is said once"
        )
        needs.add(need.removeprefix(f"For {name}"))
    assert len(needs) == 1


def test_equal_groups_are_not_told_apart() -> None:
    decision = draw_groups([2.0] * 5).prc(by="site").decide(0.05, recall=0.5)
    assert decision.verdict.sentence.startswith("No site differs significantly from the rest: precision")
    assert decision.verdict.status == "measured"
    assert "positives" in decision.verdict.would_settle
    few = draw_groups([2.0, 2.0, 2.0, 2.0], 1_500).vstack(
        draw_models({"score": 2.0}, 5, 200, seed=9).with_columns(site=pl.lit("small"))
    )
    decision = few.prc(by="site").decide(0.05, recall=0.5)
    assert decision.verdict.sentence.endswith("; too little data for small")
    assert decision.say().startswith("0 OF 4 DIFFER: "), "small is not counted"


@pytest.mark.parametrize(
    ("columns", "names"),
    {
        ("site",): ("site", "sites"),
        ("country",): ("country", "countries"),
        ("day",): ("day", "days"),
        ("class",): ("class", "classes"),
        ("area",): ("area", "areas"),
        **dict.fromkeys(
            [("who",), ("sites",), ("staff",), ("woman",), ("data",), ("is_new",), ("site", "day")],
            ("group", "groups"),
        ),
    }.items(),
)
def test_groups_are_called_by_their_column_if_its_plural_is_safe(
    columns: tuple[str, ...], names: tuple[str, str]
) -> None:
    assert name_groups(columns) == names


def test_a_group_of_several_columns_has_the_further_ones_in_brackets() -> None:
    rows = draw_groups([0.8, 2.0, 2.0, 3.4], 2_400).with_columns(
        day=pl.col("site").str.tail(1).cast(int) // 2
    )
    decision = rows.prc(by=["day", "site"]).decide([0.05, 0.1], threshold=2.0, precision=0.5)
    sentence = plain(decision.verdict.sentence)
    assert "day 0 (site 0) at " in sentence
    assert "day 1 (site 3)" in plain(decision.say(100))
    few = rows.filter(pl.col("label") | (pl.col("site") != "site 3")).prc(by=["day", "site"])
    reasons = few.decide(0.05, threshold=2.0, precision=0.5).verdict.reasons
    assert not any("))" in reason for reason in reasons)


def test_groups_of_booleans_are_not_called_by_their_column() -> None:
    rows = draw_groups([2.0, 2.0, 2.0]).rename({"site": "smoker"})
    rows = rows.with_columns(
        smoker=pl.col("smoker").replace_strict({"site 0": True, "site 1": False}, default=None)
    )
    sentence = rows.prc(by="smoker").decide(0.05, recall=0.5).verdict.sentence
    assert sentence.startswith("No group differs significantly from the rest: ")


def test_groups_that_differ_are_counted_among_those_with_enough_data() -> None:
    sites = draw_groups([2.0] * 7 + [3.4]).vstack(
        draw_models({"score": 2.0}, 5, 200, seed=9).with_columns(site=pl.lit("small"))
    )
    decision = sites.prc(by="site").decide(0.05, recall=0.5)
    assert decision.say().startswith("1 OF 8 DIFFERS: site 7 is better than the rest: ")
    ending = "; no significant difference for 7 others; too little data for small"
    assert decision.verdict.sentence.endswith(ending), "a number of many, and the names of few"


def test_a_group_without_positives_does_not_speak_for_all() -> None:
    """Nor for the number of cases in which alerts are counted, since its prevalence is 0."""
    label, site = [1, 0] * 60 + [0] * 30, ["a"] * 60 + ["b"] * 60 + ["c"] * 30
    table = pl.DataFrame({"label": label, "score": range(150), "site": site})
    table = table.with_columns(pl.col("score") % 60 + 40 * pl.col("label"))
    decision = table.prc(by="site").decide(recall=0.5)
    assert decision.say().startswith("TOO LITTLE DATA IN 1 OF 3: precision is 100% (80 to 100) for a")
    assert {case.per for case in decision._judgement.cases} == {1_000}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("eta", [0.02, [0.01, 0.02]], ids=["one", "several"])
@pytest.mark.parametrize("goal", ["recall", "alerts", "curve"])
def test_conditions_name_the_events_of_alerts_where_the_table_has_alerts(goal: str, eta: Any) -> None:
    decision = bind(draw_models({"a": 2.0, "b": 1.9}, 150, 1_350)).decide(eta, **GOALS[goal])
    _, table, _ = decision.say(200).split("\n\n")
    has_alerts = "alerts" in table.splitlines()[0]
    assert ("; alerts per " in decision.verdict.conditions) == (has_alerts and goal != "alerts")


def test_a_risk_is_part_of_the_name_of_net_benefit() -> None:
    rows = pl.DataFrame({"label": [1, 0] * 60, "score": [*range(60), *range(20, 80)]})
    rows = rows.with_columns(pl.col("score") + 40 * pl.col("label"))
    sentence = rows.prc.decide(0.5, maximize="net_benefit(0.05)").verdict.sentence
    assert "net benefit at 5% risk" in sentence


# What it says ---------------------------------------------------------------------------------


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("goal", TIERED_GOALS)
@pytest.mark.parametrize("status", STATUSES_OF)
def test_only_what_is_settled_names_a_better_model(status: str, goal: str) -> None:
    decision = decide_known(status, goal)
    verdict = decision.verdict
    said = [verdict.sentence, str(decision), decision.model_card()]
    for text in said:
        plain = " ".join(text.split())  # lines may end anywhere
        plain = plain.replace("better than chance", "").replace("best F1", "").replace("may be best", "")
        plain = plain.replace("better scores", "").replace("no better", "").replace("Better scores", "")
        plain = re.sub(r"may be up to [^ ]+( points)? better", "", plain)
        if verdict.status == "winner":
            assert f"{verdict.models[0]} is better" in plain
        elif verdict.status != "met":
            assert not BETTER.search(plain), plain


def test_texts_quote_the_sentence() -> None:
    for status in STATUSES_OF:
        decision = decide_known(status, "recall")
        sentence = decision.verdict.sentence
        assert sentence in decision.model_card().replace("\\", "")
        printed = " ".join(decision.say(200).split())
        head, shown = STATUS_TABLE[status].label.upper(), sentence.replace("\u00a0", " ")
        assert printed.startswith(head)
        assert (
            printed.lower()
            .replace(f"{head.lower()}: ", "")
            .startswith(shown.lower().replace(f"{head.lower()}: ", "") + ".")
        )
        assert str(decision.verdict) == sentence
        assert sentence in repr(decision)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("goal", TIERED_GOALS)
def test_no_line_is_wider_than_it_may_be_and_the_interval_stays(goal: str, width: int) -> None:
    decision = decide_known("winner", goal)
    lines = decision.say(width).splitlines()
    assert max(map(len, lines)) <= width
    heads = next(line for line in lines if line.startswith("model"))
    merits = {"recall": "precision", "npv": "precision", "curve": "average precision", "maximize": "f1"}
    merit = merits.get(goal, "recall")
    assert merit.lower() in heads.lower()
    assert any(" to " in line for line in lines if line.startswith("new"))


@pytest.mark.parametrize("score", ["new", ["new", "old"]])
def test_rows_of_groups_are_told_apart_however_narrow(score: str | list[str]) -> None:
    """Names that have no room are cut, and still differ; prevalences and intervals are whole."""
    names = ["日本語のグループ日本", "a group with a name of many words and letters"]
    df = pl.concat([SETTLED.with_columns(g=pl.lit(name)) for name in names])
    decision = df.prc(score=score, by="g").decide([0.02, 0.001], recall=0.5)
    for width in (40, 52, 80):
        lines = decision.say(width).splitlines()
        assert max(map(measure_width, lines)) <= width
        table = lines[lines.index("") : len(lines) - lines[::-1].index("")]
        rows = [line for line in table if re.search(r"^\S.* 1 in (50|1,000) ", line)]
        assert len({re.split(r"  +", line)[0] for line in rows}) == len(names)
        assert all(any(row.startswith(name[:2]) for row in rows) for name in names)
        etas = sorted(re.findall(r"1 in [\d,]+", " ".join(rows)))
        assert etas == ["1 in 1,000"] * 2 + ["1 in 50"] * 2
        has_one_value = score == "new" and "recall" not in "".join(table)
        assert sum(line.count(" to ") for line in table) == (4 if has_one_value else 8)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("how", [{}, {"maximize": "f1"}, {"maximize": "net_benefit(0.1)"}], ids=str)
def test_heads_of_long_names_fit_a_narrow_line(how: dict[str, str]) -> None:
    sites = pl.concat([SETTLED.with_columns(site=pl.lit(name)) for name in ("Groningen", "Reykjavík")])
    decision = sites.prc(score=["new", "old"], by="site").decide([0.02, 0.001], **how)
    for width in (42, 50, 60, 70):
        lines = decision.say(width).splitlines()
        assert max(map(measure_width, lines)) <= width
        assert sum(line.count(" to ") for line in lines) >= 8, "each model has its interval"


def test_what_is_left_out_of_a_narrow_line_is_told() -> None:
    decision = decide_known("winner", "recall")
    assert "left out" not in decision.say(200)
    last_line = decision.say(60).partition("Not shown: ")[2].replace("\n", " ")
    assert last_line == "alerts; decision.table and decision.verdicts have all."


@pytest.mark.parametrize("how", [{"threshold": 1.2345678}, {"guarantee": 0.9}])
def test_a_narrow_terminal_shows_each_target_of_a_gate(how: dict[str, Any]) -> None:
    sites = draw_groups([2.0, 2.2, 2.4]).with_columns(site="country " + pl.col("site"))
    decision = sites.prc(by="site").decide(0.1, precision=0.4, recall=0.5, **how)
    text = decision.say(50)
    assert max(map(len, text.splitlines())) <= 50
    head, *_ = text.split("\n\n")[1].splitlines()
    assert head.split() == ["where", "threshold", "recall", "precision"]


TWO_BY_TWO = pl.DataFrame({"tp": [45], "fp": [12], "fn": [5], "tn": [138]})
"""A published 2x2 table: at 1 in 200, an NPV of 99.95% (99.88 to 99.98) and a precision of 5.4%."""


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("word", ["npv", "fpr", "lift", "fdr", "predicted_positive_rate"])
def test_what_a_target_limits_is_shown_and_in_the_table(word: str) -> None:
    test = EQUAL.prc(score=EQUAL.columns[-1])
    name = "FPR" if word == "fpr" else "NPV" if word == "npv" else word.replace("_", " ")
    limit = {"npv": 0.95, "fpr": 0.2, "lift": 1.5, "fdr": 0.9, "predicted_positive_rate": 0.2}[word]
    for words in ({}, {"guarantee": 0.9}):
        decision = test.decide(0.1, **{word: limit}, **words)
        assert decision.verdict.status in ("measured", "met")
        assert decision.table[word].is_not_null().all()
        assert re.search(rf"\b{name}", decision.say(200).split("\n\n")[1], re.I)
        assert f"{name.lower()} " in decision.verdict.sentence.lower()


def test_targets_and_alerts_that_are_asked_for_are_shown_or_named_as_not_shown() -> None:
    pair = draw_models({"a": 2.0, "b": 1.9}, 150, 1_350)
    one = pair.prc(score="a").decide([0.01, 0.02], recall=0.5, per=300_000)
    head, *_ = one.say(200).split("\n\n")[1].splitlines()
    assert re.search(r"precision \(95% CI\) +recall +alerts$", head)
    assert "; alerts among 300,000 cases; " in one.verdict.conditions
    narrow = one.say(50).rpartition("Not shown: ")[2].replace("\n", " ")
    assert narrow.startswith("alerts, recall; decision.table")
    assert one.say(50).count("300,000") == 1, "where alerts are"
    both = bind(pair).decide([0.01, 0.02], npv=0.99, per=1_000).say(200)
    assert both.endswith("Not shown: threshold; decision.table and decision.verdicts have all.")


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("goal", TIERED_GOALS)
def test_of_several_models_and_prevalences_thresholds_are_named_as_not_shown(goal: str) -> None:
    """Their table has one value of each model, and none of the columns of one model."""
    decision = bind(SETTLED).decide([0.02, 0.05], **GOALS[goal])
    assert decision.say(200).count("Not shown: threshold") == (goal != "curve")


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize(
    ("goal", "copy"),
    [
        *product(["recall", "alerts", "precision", "maximize", "curve"], ["rising"]),
        *product(["recall", "curve"], ["itself", "other examples", "perfect"]),
    ],
)
def test_models_that_rank_all_examples_alike_are_told(goal: str, copy: str) -> None:
    """An interval around a difference of 0 would be of models that differ in other samples."""
    pair = draw_models({"a": 2.0}, 150, 1_350)
    copies = {
        "itself": pl.col("a"),
        "rising": pl.col("a").exp() * 3 - 1,
        "other examples": draw_models({"a": 1.9}, 150, 1_350, seed=5)["a"],
        "perfect": pl.col("a") + 100.0 * pl.col("label"),
    }
    pair = pair.with_columns(a=copies["perfect"]) if copy == "perfect" else pair
    verdict = bind(pair.with_columns(b=copies[copy])).decide(0.02, **GOALS[goal]).verdict
    alike = [reason for reason in verdict.reasons if "rank all examples alike" in reason]
    assert bool(alike) == (copy in ("itself", "rising"))
    if alike:
        assert re.match("the same average precision .*for a and b:", alike[0])
        assert (verdict.status, verdict.would_settle) == ("no_winner", "")
        assert not any(reason.startswith("difference in") for reason in verdict.reasons)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("goal", TIERED_GOALS)
def test_numbers_of_one_difference_have_two_digits_each(goal: str) -> None:
    for seed in range(2):
        verdict = decide(draw_models({"a": 2.0, "b": 1.8}, 150, 600, seed=seed), **GOALS[goal]).verdict
        for reason in verdict.reasons:
            numbers = re.match("difference in .*: (.*?)(, so|$)", reason)
            for number in re.findall(r"\d[\d.,]*", numbers[1] if numbers else ""):
                assert number == "0" or len(number.replace(",", "").replace(".", "").lstrip("0")) >= 2


LOW_DEMANDS: list[dict[str, Any]] = [
    {"recall": 0.95, "threshold": 2.0},
    {"recall": 0.95, "precision": 0.3, "threshold": 2.0},
    {"fpr": 1e-6, "threshold": 0.0},
    {"alerts": 1, "per": 1_000, "threshold": 0.0},
    {"npv": 0.2, "threshold": 1.0},
    {"precision": 0.99, "guarantee": 0.9},
]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("demand", LOW_DEMANDS, ids=str)
def test_too_little_data_meet_and_miss_no_demand(demand: dict[str, Any]) -> None:
    """A group may have too few of a class, and yet a rate that misses its limit."""
    sizes = {"a": (8, 400), "b": (400, 8), "c": (60, 400), "d": (400, 400)}
    groups = [
        draw_models({"score": 1.5}, *size, seed=seed).with_columns(site=pl.lit(name))
        for seed, (name, size) in enumerate(sizes.items())
    ]
    decision = pl.concat(groups).prc(by="site").decide(0.05, **demand)
    is_vague = pl.col("status") == "too_little_data"
    vague = decision.verdicts.filter(is_vague)
    assert vague["site"].to_list()[:2] == ["a", "b"]
    assert vague["met"].is_null().all()
    assert decision.verdicts.filter(~is_vague, status="not_met")["met"].not_().all()
    assert not re.search(r"\b[ab]\b[^;:]* (miss|meet)", decision.verdict.sentence)


@pytest.mark.parametrize("words", [{}, {"recall": 0.5}], ids=str)
def test_no_table_is_shown_of_rows_without_a_score(words: dict[str, float]) -> None:
    df = pl.DataFrame({"score": pl.Series([None] * 400, dtype=pl.Float64), "label": [True, False] * 200})
    decision = df.prc(missing="below").decide(0.05, **words)
    assert decision.verdict.sentence == "No row has a score"
    assert not re.search(r"recall|average|\(95% CI\)", decision.say() + decision.model_card())


@pytest.mark.parametrize("etas", [[float(eta) for eta in eta_grid()], [0.1, 0.1003, 0.5], [0.3, 0.304]])
def test_prevalences_of_one_table_read_apart(etas: list[float]) -> None:
    decision = SETTLED.prc(score="new").decide(etas, recall=0.5)
    assert len({name_eta(case) for case in decision._judgement.cases}) == len(etas)


def test_models_without_a_row_are_counted() -> None:
    many = draw_models({f"m{k}": 2.0 for k in range(5)}, 200, 800)
    sites = many.with_columns(g=pl.int_range(pl.len()) % 2)
    decision = sites.prc(score=many.columns[1:], by="g").decide(0.1, recall=0.5)
    text = decision.say(80).replace("\n", " ")
    assert "Not shown: threshold, 3 of 5 models; decision.table" in text
    assert "3 of 5" not in decision.say(200)
    card = bind(many).decide(0.1, recall=0.5).model_card()
    assert all(f"| m{k} |" in card for k in range(5))


def test_of_several_models_a_difference_names_the_first_and_all_others() -> None:
    many = draw_models({f"m{k}": 2.0 for k in range(3)}, 200, 800)
    [text] = [r for r in bind(many).decide(0.1, recall=0.5).verdict.reasons if r.startswith("differ")]
    assert re.search(r"points? between m\d and the best of the others \(", plain(text))


def test_with_a_guarantee_no_difference_at_the_target_itself_is_named() -> None:
    """The recalls shown are 17 points apart; at a precision of 50% they may be 11 points apart."""
    rng = np.random.default_rng(21)
    label = rng.random(20_000) < 0.03
    score = rng.normal(size=20_000) + 2.5 * label
    frame = pl.DataFrame({"label": label, "a": score, "c": score + 0.3 * rng.normal(size=20_000)})
    test = frame.prc(score=["a", "c"])
    assert "More data are not needed" in test.decide(0.01, precision=0.5).verdict.would_settle
    decision = test.decide(0.01, precision=0.5, guarantee=0.95)
    assert decision.verdict.status == "no_winner"
    assert not re.search("difference", plain(decision.say()))


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("n_sites", "level"), [(2, "97.5%"), (4, "98.8%")])
def test_differences_of_several_groups_have_their_level(
    tmp_path: Path, n_sites: int, level: str
) -> None:
    """Groups share the error, so an interval is wider than that of compare at 95%."""
    models = draw_models({"a": 2.4, "b": 2.0}, 600, 5_400)
    sites = pl.Series("site", [f"s{number % n_sites}" for number in range(models.height)])
    test = models.with_columns(sites).prc(score=["a", "b"], by="site")
    decision = test.decide([0.05, 0.01])
    report = decision.report(tmp_path / "report.html")
    sentence = f"Differences between models have a level of {level}, corrected for {n_sites} sites"
    for text in (decision.say(), decision.model_card(), report.read_text("utf-8")):
        assert sentence in " ".join(plain(text).split())
    pairs = test.compare(
        [0.05, 0.01], metrics="average_precision", confidence=1 - 0.05 / n_sites, columns="all"
    )
    second = decision.table.filter(pl.col("behind") > 0).sort("site", "eta")
    limits = pairs.sort("site", "eta").select(
        pl.min_horizontal(pl.col("high").abs(), pl.col("low").abs())
    )
    assert second["behind_low"].abs().to_list() == pytest.approx(limits.to_series().to_list())
    for plain_test in (test(by=None), models.prc(score="a")):
        assert "Differences between models have a level" not in plain(plain_test.decide(0.05).say())
    assert "Differences between" not in test(score="a").decide(0.05).say()


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("asked", "n_models"),
    pair_each([{}, {"recall": 0.5}, {"precision": 0.9}, {"fpr": 0.01}], [1, 2]),
    ids=str,
)
def test_a_status_that_holds_in_some_groups_is_counted(n_models: int, asked: dict[str, Any]) -> None:
    """Each group stands at its own prevalence, where no group is tested against the others."""
    names = ["a", "b"][:n_models]
    groups = {
        "good": draw_models({"a": 3.0, "b": 1.0}, 300, 3_000, seed=3),
        "alike": draw_models({"a": 2.0, "b": 2.0}, 300, 2_000, seed=4),
        "coin": draw_models({"a": 0.0, "b": 0.0}, 300, 2_500, seed=5),
        "few": draw_models({"a": 2.0, "b": 2.0}, 5, 50, seed=6),
    }
    label_of_status = {status: row.label.upper() for status, row in STATUS_TABLE.items()}
    for group_names in combinations(groups, 2):
        df = pl.concat([groups[name].with_columns(g=pl.lit(name)) for name in group_names])
        decision = df.prc(score=names, by="g").decide(**asked)
        statuses = decision.verdicts["status"].to_list()
        headline = " ".join(decision.say().split()).partition(":")[0]
        if len(set(statuses)) == 2:
            shown = "winner" if "winner" in statuses else decision.verdict.status
            assert headline == f"{label_of_status[shown]} IN 1 OF 2", (group_names, statuses)
        else:
            assert " OF " not in headline


def test_a_lone_group_of_enough_data_is_compared_with_nothing() -> None:
    sizes = {"a": (100, 400), "b": (5, 20), "c": (5, 20)}
    groups = [
        draw_models({"score": 1.5}, *size, seed=k).with_columns(g=pl.lit(name))
        for k, (name, size) in enumerate(sizes.items())
    ]
    decision = pl.concat(groups).prc(by="g").decide(0.1, recall=0.5)
    text = " ".join(decision.say().split())
    assert text.startswith("TOO LITTLE DATA IN 2 OF 3: precision ")
    assert "differ" not in text
    assert "significant" not in text


def test_no_width_is_noted_of_a_precision_that_was_not_asked_for() -> None:
    table = TWO_BY_TWO.prc(cells=("tp", "fp", "fn", "tn"))
    assert "interval of precision" not in table.decide([0.005, 0.2], npv=0.99).verdict.would_settle
    assert table.decide(0.005, npv=0.99).verdict.would_settle == ""
    assert "interval of precision" in plain(table.decide(0.005).verdict.would_settle)


def test_prevalences_of_a_grid_read_apart() -> None:
    etas = [1 / n for n in (1_925, 1_900, 1_850, 1_810, 1_790)]
    rows = EQUAL.prc(score=EQUAL.columns[-1]).decide(etas, recall=0.5).say(100).split("\n\n")[1]
    places = re.findall(r"1 in [\d,]+", rows)
    assert len({*places}) == len(places) == len(etas)


def test_documents_name_clusters() -> None:
    patients = SETTLED.with_columns(patient=pl.int_range(pl.len()) // 3)
    card = patients.prc(score="new", cluster="patient").decide(0.02, recall=0.5).model_card()
    n_clusters = patients["patient"].n_unique()
    assert f", from {n_clusters:,} clusters (patient)" in plain(card)
    assert "Rows with the same patient are one cluster" in card
    assert "Rows are treated as independent." in SETTLED.prc(score="new").decide(0.02).model_card()


def test_numbers_needed_shrink_with_the_test() -> None:
    """Twice as many examples leave about half as many to find."""
    needed = []
    for n in (1, 2, 4):
        df = draw_models({"one": 2.0, "other": 2.0}, 60 * n, 1_200 * n, seed=12)
        said = decide(df, recall=0.5).verdict.would_settle
        needed.append(float(re.findall(r"about ([\d,]+)", said)[0].replace(",", "")))
    assert max(needed) / min(needed) < 4


def test_the_doubt_of_a_prevalence_takes_cases_of_the_field() -> None:
    """No test set tells more of precision than the prevalence is known."""
    for n in (200, 20_000):
        df = draw_models({"score": 2.0}, n, 9 * n, seed=5)
        need = df.prc.decide(eta_from_sample(5, 500), recall=0.5).verdict.would_settle
        assert "count more cases where the model will run" in need
        assert "positives" not in need


def test_negatives_are_asked_for_where_they_limit() -> None:
    few = draw_models({"score": 4.0}, 600, 4_000, seed=1)
    verdict = few.prc.decide(0.0015, alerts=500, per=1_000_000).verdict
    assert verdict.status == "too_little_data"
    assert verdict.sentence.startswith("With 4,000 negatives, precision could be anything from")
    assert re.search(r"at least [\d,]+ negatives", verdict.would_settle)
    many = draw_models({"score": 4.0}, 600, 150_000, seed=1)
    assert many.prc.decide(0.0015, alerts=500, per=1_000_000).verdict.status == "measured"


# A value --------------------------------------------------------------------------------------


def test_a_verdict_is_a_value() -> None:
    first, second = (
        decide_known("winner", "recall"),
        decide(SETTLED.sample(fraction=1, shuffle=True, seed=1), recall=0.5),
    )
    assert first.verdict == second.verdict
    assert isinstance(first.verdict, Verdict)
    assert first.verdict.status in STATUSES
    with pytest.raises(AttributeError):
        first.verdict.status = "winner"  # type: ignore[misc]


def test_a_decision_pickles_with_its_tables_without_the_rows() -> None:
    decision = decide_known("winner", "recall")
    packed = pickle.dumps(decision)
    assert len(packed) < 100_000
    again = pickle.loads(packed)
    assert again.verdict == decision.verdict
    assert_frame_equal(again.table, decision.table)
    assert str(again) == str(decision)
    assert again.model_card() == decision.model_card()


def test_eager_lazy_and_long_tables_decide_alike() -> None:
    decision = decide_known("winner", "recall")
    lazy = SETTLED.lazy().prc(score=["new", "old"]).decide(0.02, recall=0.5)
    assert_frame_equal(decision.table, lazy.table, check_exact=True)
    long = SETTLED.with_row_index("id").prc.unpivot_scores(["new", "old"])
    by_id = long.prc(id="id").decide(0.02, recall=0.5)
    assert_frame_equal(decision.table, by_id.table)
    assert by_id.verdict == decision.verdict
    apart = long.prc(model="model").decide(0.02, recall=0.5)
    assert apart.verdict.models == ("new",)
    assert_frame_equal(decision.table.select("threshold"), apart.table.select("threshold"))


def test_rows_of_sampling_weights_clusters_and_counts() -> None:
    weighed = SETTLED.with_columns(w=pl.when("label").then(1).otherwise(10))
    assert weighed.prc(score=["new", "old"], weight="w").decide(0.02, recall=0.5).verdict.models == (
        "new",
    )
    patients = SETTLED.with_columns(patient=pl.int_range(pl.len()) // 3)
    bound = patients.prc(score=["new", "old"], cluster="patient")
    for goal in ({"recall": 0.5}, {}):
        assert bound.decide(0.02, **goal).verdict.models == ("new",)
    counts = SETTLED.prc.counts(score="new")
    alone = SETTLED.prc(score="new").decide(0.02, recall=0.5)
    counted = counts.prc(counts=("n_pos", "n_neg")).decide(0.02, recall=0.5)
    assert_frame_equal(alone.table, counted.table, check_exact=True)
    assert counted.verdict == alone.verdict


def test_rows_left_out_and_scores_the_wrong_way_round_are_told() -> None:
    gaps = SETTLED.with_columns(
        new=pl.when(pl.int_range(pl.len()) % 100 == 7).then(None).otherwise("new")
    )
    decision = gaps.prc(score=["new", "old"], missing="drop").decide(0.02, recall=0.5)
    assert "rows are left out" in decision.model_card()
    turned = SETTLED.with_columns(old=-pl.col("old"))
    reasons = decide(turned, recall=0.5).verdict.reasons
    assert "scores are reversed: old ranks negatives above positives; negate them" in reasons


def test_published_points_of_one_model() -> None:
    cells = pl.DataFrame({"tp": [202, 212], "fp": [3, 357], "fn": [10, 0], "tn": [354, 0]})
    decision = cells.prc(cells=("tp", "fp", "fn", "tn")).decide(0.004, recall=0.9)
    assert decision.verdict.status == "measured"
    assert "Precision 31% (13 to 57)" in decision.verdict.sentence


# What is refused ------------------------------------------------------------------------------

CELLS = pl.DataFrame({"tp": [9, 9], "fp": [1, 2], "fn": [1, 1], "tn": [9, 8], "model": ["a", "b"]})
REFUSED: dict[str, tuple[Any, str]] = {
    "two values": (
        lambda: decide(SETTLED, recall=[0.5, 0.8]),
        "decide() takes one value of recall=",
    ),
    "threshold of several": (
        lambda: decide(SETTLED, threshold=1.0),
        "each model has its own",
    ),
    "two thresholds": (
        lambda: SETTLED.prc(score="new").decide(0.1, threshold=[1.0, 2.0]),
        "decide() takes one value of threshold=",
    ),
    "threshold and guarantee": (
        lambda: SETTLED.prc(score="new").decide(0.1, threshold=1.0, recall=0.5, guarantee=0.9),
        "pass confidence= instead of guarantee=",
    ),
    "maximize and more": (lambda: decide(SETTLED, maximize="f1", recall=0.5), "leave out recall="),
    "promise of nothing": (lambda: decide(SETTLED, guarantee=0.9), "pass a target"),
    "alerts of nothing": (lambda: decide(SETTLED, per=1_000), "per= counts the alerts at a target"),
    "alerts among none": (lambda: decide(SETTLED, alerts=5), "pass per=, the number of cases"),
    "level in percent": (lambda: decide(SETTLED, guarantee=95, recall=0.5), "a level such as 0.95"),
    "no level": (
        lambda: decide(SETTLED, confidence=None),
        "pass confidence=, a level such as 0.95: decide() needs it",
    ),
    "bootstrap": (
        lambda: decide(SETTLED, confidence=intervals(0.95, method="bootstrap", seed=1)),
        "decide()",
    ),
    "recall of 2": (lambda: decide(SETTLED, recall=2), r"recall= takes numbers in [0, 1]"),
    "eta of 2": (lambda: decide(SETTLED, 2.0, recall=0.5), r"must be a share in [0, 1]"),
    "eta of 0": (lambda: decide(SETTLED, 0, recall=0.5), "prevalences between 0 and 1"),
    "eta of 1 in a list": (lambda: decide(SETTLED, [0.1, 1.0], recall=0.5), "got eta=1.0"),
    "NaN": (
        lambda: decide(SETTLED.with_columns(new=pl.lit(math.nan)), recall=0.5),
        "is NaN in 6300 places",
    ),
    "no such column": (lambda: SETTLED.prc.decide(0.1, score=["new", "odl"]), "odl"),
    "points of several": (
        lambda: CELLS.prc(cells=("tp", "fp", "fn", "tn")).decide(0.1, recall=0.5),
        'call compare(paired=False, metrics="precision") for one point per model',
    ),
    "areas of points": (
        lambda: CELLS.drop("model").prc(cells=("tp", "fp", "fn", "tn")).decide(0.1),
        "one point needs no target; there are several in 1 group",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    call, says = REFUSED[case]
    with pytest.raises(PrcError, match=re.escape(says)):
        call()


def test_a_refuted_prevalence_is_refused() -> None:
    test = draw_models({"score": 2.5}, 600, 5_400, seed=1)
    month = draw_models({"score": 2.5}, 225, 14_775, seed=3).select(pl.col("score") + 0.3)
    with pytest.raises(
        PrcError, match=r"nothing can be decided at a worthless one: .*the estimate is worthless"
    ):
        test.prc.decide(prc(month, label=None), threshold=2.0)
    with pytest.raises(PrcError, match=r"pass prc.frame, label=None"):
        test.prc.decide(month, threshold=2.0)


def test_a_decision_in_one_thread_does_not_make_errors_of_the_warnings_of_another() -> None:
    test = draw_models({"score": 2.5}, 600, 5_400, seed=1)
    month = draw_models({"score": 2.5}, 225, 14_775, seed=3).select(pl.col("score") + 0.3)
    is_done = Event()

    def decide_on() -> None:
        while not is_done.is_set():
            test.prc.decide(0.1, threshold=2.0)

    with ThreadPoolExecutor(1) as pool:
        decisions = pool.submit(decide_on)
        try:
            for _ in range(5):
                with pytest.warns(PrcWarning, match="the estimate is worthless"):
                    test.prc.operating_points(prc(month, label=None), threshold=2.0)
        finally:
            is_done.set()
        decisions.result()


def test_a_few_high_scores_tell_what_all_together_do_not() -> None:
    """Scores of which only the highest hundredth tell anything."""
    rng = np.random.default_rng(0)
    label = rng.random(20_000) < 0.05
    is_high = rng.random(20_000) < np.where(label, 0.03, 0.01)
    score = np.where(is_high, 0.99, 0.0) + rng.random(20_000) * np.where(is_high, 0.01, 0.99)
    verdict = pl.DataFrame({"score": score, "label": label}).prc.decide(0.01, threshold=0.99).verdict
    assert verdict.status == "measured"
    assert verdict.sentence.startswith("Precision 2.7% (1.8 to 3.9)")


def test_a_threshold_above_all_scores_and_a_table_without_rows() -> None:
    test = draw_models({"score": 2.0}, 100, 900).prc()
    verdict = test.decide(0.01, threshold=99).verdict
    assert (verdict.status, verdict.sentence) == ("not_met", "No score reaches the threshold 99")
    rows = draw_models({"score": 2.0}, 100, 900).with_columns(site=pl.lit("a"))
    for by, words in ((None, {}), ("site", {"threshold": 2.0})):
        empty = prc(rows.head(0), by=by).decide(0.01, recall=0.5, **words)
        assert empty.say() == "TOO LITTLE DATA: the table has no rows."
        assert empty.model_card().endswith("Rows are treated as independent.\n")
    assert "Tested on 1 positive and 0 negatives" in rows.head(1).prc.decide(0.01).model_card()


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("eta", [0.01, 0.3, 0.4, 0.5, 0.6, 0.9])
def test_scores_by_chance_rule_out_a_precision_that_there_could_be(eta: float) -> None:
    """It has twice the odds of the prevalence: 100% rules out nothing."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"score": rng.random(2_000), "label": np.arange(2_000) < 600})
    verdict = frame.prc.decide(eta).verdict
    assert verdict.status == "chance"
    bound = re.search(r"rule out a precision above (\S+)% at 50% recall", plain(verdict.would_settle))
    assert bound is not None
    assert float(bound[1]) == pytest.approx(100 * 2 * eta / (1 + eta), rel=0.02)
    few = frame.filter(pl.int_range(pl.len()).is_in([*range(12), *range(600, 612)]))
    assert few.prc.decide(eta).verdict.status == "too_little_data"


FLAGS_NOTHING = {  # limits, of 20,000 cases, and what a threshold above all 3,000 scores does of them
    "within": ({"alerts": 500}, "met", "meets a budget of 500 alerts"),
    "may be within": ({"alerts": 10}, "unsure", "may or may not meet a budget of 10 alerts"),
    "may find so few": ({"recall": 0.01}, "unsure", "may or may not meet 1% recall: 0% (0 to 3.7)"),
    "finds none": ({"recall": 0.1}, "not_met", "No score reaches the threshold"),
    "has no precision": ({"precision": 0.3, "alerts": 500}, "not_met", "No score reaches the threshold"),
}


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("case", FLAGS_NOTHING)
def test_a_threshold_without_alerts_misses_only_what_that_rules_out(case: str) -> None:
    """No alert is within a budget; of precision there is none, and recall is 0, with an interval."""
    targets, status, words = FLAGS_NOTHING[case]
    per = {"per": 20_000} if "alerts" in targets else {}
    rows = draw_models({"score": 2.0}, 100, 2_900)
    verdict = rows.prc.decide(threshold=9.5, **targets, **per).verdict
    assert verdict.status == status
    assert verdict.met is {"met": True, "unsure": None, "not_met": False}[status]
    assert words in plain(verdict.sentence)
    site = pl.Series("site", ["far"]).new_from_index(0, rows.height)
    near = rows.with_columns(pl.col("score") + 9 * pl.col("label"), site=pl.lit("near"))
    both = pl.concat([rows.with_columns(site), near]).prc.decide(
        threshold=9.5, by="site", **targets, **per
    )
    if "alerts" in targets:
        assert " 0 (0 to " in str(both), "the alerts of a group without any"
    if case == "has no precision":
        assert "; target not met for far" in plain(both.verdict.sentence)


def test_groups_of_published_points_are_decided() -> None:
    points = {"recall": [0.5, 0.6], "fpr": [0.01, 0.02], "n_pos": [100, 200], "n_neg": [1_000, 2_000]}
    papers = pl.DataFrame({"paper": ["a", "b"], **points})
    bound = papers.prc(by="paper", rates=("recall", "fpr"), sizes=("n_pos", "n_neg"))
    assert bound.decide(0.01).verdicts["status"].to_list() == ["measured"] * 2
    assert bound.decide(0.01, recall=0.4).verdicts["met"].to_list() == [True, True]


def test_ends_of_an_interval_have_the_unit_of_its_value() -> None:
    df = draw_models({"score": 1.2}, 60, 1_000, seed=2)
    decision = df.prc.decide(np.geomspace(0.001, 0.2, 12).tolist(), recall=0.5)
    for sentence in decision.verdicts["sentence"]:
        said = sentence.replace("\u00a0", " ")
        assert re.match(r"Precision [\d.]+% \([\d.]+ to [\d.]+\) and recall", said), said


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("eta", [0.001, 0.1, 0.5, 0.6, 0.9, 0.999])
def test_chance_rules_out_twice_the_odds_at_any_prevalence(eta: float) -> None:
    """A test of ten positives rules out nothing, and no limit that is ruled out is 100%."""
    rng = np.random.default_rng(0)
    statuses = []
    for n in (20, 2_000):
        label = np.arange(2 * n) < n
        test = pl.DataFrame({"score": rng.normal(size=2 * n), "label": label}).prc()
        decision = test.decide(eta, recall=0.5)
        statuses.append(decision.verdict.status)
    assert statuses == ["too_little_data", "chance"]
    assert decision.table["precision_at_half_high"].item() < 2 * eta / (1 + eta) < 1
    points = [from_rates(recall=0.3, fpr=0.3, n_pos=n, n_neg=n).decide(eta) for n in (20, 2_000)]
    assert [point.verdict.status for point in points] == ["too_little_data", "chance"]


def test_little_is_never_called_chance_nor_the_reverse() -> None:
    assert "could be anything" in decide_known("too_little_data", "recall").verdict.sentence
    many = draw_models({"heads": 0.0, "tails": 0.0}, 3_000, 3_000, seed=8)
    assert decide(many, 0.1, recall=0.5).verdict.status == "chance"


# Charts of a decision -------------------------------------------------------------------------


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("status", "chart"),
    [*product(STATUSES_OF, ("pr_curve", "roc_curve", "threshold_curve"))],
)
def test_a_chart_of_a_decision_marks_its_points_and_says_its_sentence(status: str, chart: str) -> None:
    decision = decide_known(status, "recall")
    plot = bind(STATUSES_OF[status]).plot
    drawn = getattr(plot, chart)(points=decision).to_dict()
    said = " ".join(drawn["title"]["text"]).replace("\u00a0", " ")
    assert said == decision.verdict.sentence.replace("\u00a0", " ")
    own = getattr(plot, chart)(
        *([] if chart == "roc_curve" else [0.02]), points=decision.table
    ).to_dict()
    dots = [
        [row for rows in each["datasets"].values() for row in rows if row.get("part") == "mark"]
        for each in (drawn, own)
    ]
    assert dots[0] == dots[1]
    titled = getattr(plot, chart)(points=decision, title="Mine").to_dict()
    assert titled["title"]["text"] == ["Mine"]


def test_a_decision_on_whole_curves_has_no_points() -> None:
    decision = decide_known("winner", "curve")
    title = bind(SETTLED).plot.pr_curve(points=decision).to_dict()["title"]["text"]
    assert plain(" ".join(title)) == plain(decision.verdict.sentence)


# Inputs of the wrong kind -----------------------------------------------------------------------


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("goal", [{}, {"recall": 0.5}])
@pytest.mark.parametrize("design", ["rows", "counts", "two models"])
def test_hard_labels_passed_as_scores_are_named(goal: dict[str, float], design: str) -> None:
    labels = SETTLED.with_columns(new=(pl.col("new") > 2).cast(pl.Float64))
    table = {
        "rows": lambda: labels.prc(score="new"),
        "counts": lambda: labels.prc.counts(score="new").prc(counts=("n_pos", "n_neg")),
        "two models": lambda: labels.with_columns(old="old").prc(score=["new", "old"]),
    }[design]()
    reasons = table.decide(0.02, **goal).verdict.reasons
    owner = " of new" if design == "two models" else ""
    assert f"the scores{owner} are 0 or 1: pass scores or probabilities, not predicted labels" in reasons
    of_scores = decide_known("winner", "recall" if goal else "curve").verdict.reasons
    assert not any("not predicted labels" in reason for reason in of_scores)


def test_a_constant_model_ranks_nothing_and_a_2x2_table_has_no_scores() -> None:
    constant = SETTLED.with_columns(old=pl.lit(0.5)).prc(score=["new", "old"]).decide(0.02, recall=0.5)
    assert constant.verdict.models == ("new",)
    assert "all scores of old are 0.5, so they rank nothing" in constant.verdict.reasons
    assert constant.verdict.reasons == tuple(dict.fromkeys(constant.verdict.reasons))
    cells = pl.DataFrame({"tp": [90], "fp": [40], "fn": [10], "tn": [960]})
    point = prc(cells, cells=("tp", "fp", "fn", "tn")).decide(0.02)
    assert not any("scores" in reason for reason in point.verdict.reasons)


def test_a_model_without_a_row_may_be_the_best_where_no_ranking_can_tell() -> None:
    """Of two equal models whose highest scores are alike, chance decides which one meets two targets."""
    equal = draw_models({"a": 0.8, "b": 0.8}, 300, 10_000, seed=3)
    df = equal.with_columns(pl.col("a", "b").clip(upper_bound=1.5))
    curve = bind(df).curve(0.02, metrics="precision")
    best = curve.group_by("model").agg(pl.col("precision").max())["precision"]
    decision = decide(df, 0.02, recall=0.1, precision=best.mean())
    assert decision.table["threshold"].null_count() == 1
    assert decision.table["may_be_best"].null_count() == 2
    assert decision.verdict.status == "no_winner"


def test_classes_of_a_mix_are_judged_without_a_target() -> None:
    rng = np.random.default_rng(1)
    kind = rng.choice(["a", "b", "c"], 6_000, p=[0.5, 0.3, 0.2])
    noise = {name: rng.normal(size=6_000) for name in "abc"}
    scores = {name: noise[name] + 2.5 * (kind == name) for name in "abc"}
    mix = class_mix({"a": 0.6, "b": 0.3, "c": 0.1})
    words: dict[str, Any] = {"score": {name: name for name in "abc"}, "label": "kind"}
    table = pl.DataFrame({"kind": kind, **scores}).prc(**words)
    decision = table.decide(mix)
    assert decision.verdict.status == "measured"
    at_half = decision.table.select(cs.starts_with("precision_at_half").name.replace("_at_half", ""))
    assert_frame_equal(at_half, table.decide(mix, recall=0.5).table.select(at_half.columns))
    by_chance = pl.DataFrame({"kind": kind, **noise}).prc(**words).decide(mix)
    assert by_chance.verdicts["status"].to_list() == ["chance"] * 3


def test_a_curve_that_ends_before_half_of_the_positives_is_judged() -> None:
    rng = np.random.default_rng(1)
    label = np.arange(5_000) < 500
    score = pl.Series(rng.normal(size=5_000) + 2 * label)
    is_found = pl.Series(rng.random(5_000) < np.where(label, 0.4, 0.1))
    frame = pl.select(label=pl.lit(pl.Series(label)), score=pl.when(is_found).then(score))
    decision = frame.prc(missing="below").decide(0.05)
    assert decision.table["precision_at_half"].item() is None
    assert decision.verdict.status == "measured"


@pytest.mark.parametrize(("n_pos", "n_neg"), [(450, 12), (45, 400)])
def test_a_point_that_flags_all_is_no_better_than_chance(n_pos: int, n_neg: int) -> None:
    cells = pl.DataFrame({"tp": [n_pos], "fp": [n_neg], "fn": [0], "tn": [0]})
    table = prc(cells, cells=("tp", "fp", "fn", "tn"))
    for words in ({}, {"precision": 0.5}):
        verdict = table.decide(0.01, **words).verdict
        assert verdict.status == "chance"
        assert re.fullmatch(
            r"This point flags all examples: precision is 1.0+% \([^)]*\); the prevalence is 1.0%",
            plain(verdict.sentence),
        )
        assert verdict.would_settle == "More data will not help: flag fewer examples"


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("n_alerts", [(600, 400), (400, 600), (500, 500)], ids=str)
@pytest.mark.parametrize("is_point", [True, False], ids=["point", "weeks"])
def test_alerts_alone_have_the_verdict_of_their_precision(
    n_alerts: tuple[int, int], *, is_point: bool
) -> None:
    """They rank nothing, which is no news: the headline and the verdict of each week agree."""
    n_pos, n_neg = n_alerts
    if is_point:
        cells = pl.DataFrame({"tp": [n_pos], "fp": [n_neg], "fn": [0], "tn": [0]})
        decision = prc(cells, cells=("tp", "fp", "fn", "tn")).decide(precision=0.5)
    else:
        weeks = pl.DataFrame({"week": [1, 2], "score": 0.7, "n_pos": [n_pos] * 2, "n_neg": [n_neg] * 2})
        test = weeks.prc(counts=("n_pos", "n_neg"), by="week")
        decision = test.decide(threshold=0.7, precision=0.5)
    status, met = {600: ("met", True), 400: ("not_met", False), 500: ("unsure", None)}[n_pos]
    assert {*decision.verdicts["status"]} == {status}
    assert {*decision.verdicts["met"]} == {met}
    assert decision.verdict.reasons[0] == (
        "all examples are flagged: if others were left out, recall is unknown"
    )
    assert "chance" not in decision.say()
    assert "too narrow" not in decision.say()


def test_too_little_data_names_its_cause() -> None:
    """The cause is that of the interval, whichever class, prevalence or weight it is."""
    noise = np.random.default_rng(0).normal(size=3_000)

    def read(frame: pl.DataFrame, eta: Any = 0.01, words: Any = None, **targets: float) -> Verdict:
        verdict: Verdict = frame.prc(**(words or {})).decide(eta, **targets).verdict
        assert verdict.status == "too_little_data"
        return verdict

    for n_pos in (212, 2_120):  # a perfect ranking: precision hangs on the negatives alone
        verdict = read(draw_models({"score": 12.0}, n_pos, 357))
        assert plain(verdict.sentence).startswith("With 357 negatives, precision at 50% recall could be")
        assert "at least 3,100 negatives" in plain(verdict.would_settle)
    larger = draw_models({"score": 12.0}, 212, 3_100).prc.decide(0.01)
    assert larger.table["precision_at_half_low"].item() == pytest.approx(0.8, abs=0.02)
    label = np.arange(3_000) < 600
    frame = pl.DataFrame({"label": label, "score": noise + 2 * label})
    verdict = read(frame, eta_from_sample(0, 500), recall=0.5)
    assert plain(verdict.sentence).startswith("With a prevalence of 0% to 0.76%, precision could be")
    assert "count more cases" in verdict.would_settle
    heavy = frame.with_columns(w=pl.when(pl.int_range(pl.len()) == 0).then(1e6).otherwise(1.0))
    for targets in ({"recall": 0.5}, {}, {"fpr": 0.1}):
        verdict = read(heavy, words={"weight": "w"}, **targets)
        assert plain(verdict.sentence).startswith("With 600 positives that count as 1 by their weights,")
        assert verdict.would_settle.startswith("Check the weights")
    unscored = frame.with_columns(score=pl.lit(None, dtype=pl.Float64))
    for targets in ({"recall": 0.5}, {}):
        verdict = read(unscored, words={"missing": "below"}, **targets)
        assert verdict.sentence == "No row has a score"
        assert verdict.would_settle == "Pass a column of scores"


def test_chance_is_of_all_scores_where_no_threshold_has_the_guarantee() -> None:
    """A threshold that is not found has no test against chance of its own."""
    rng = np.random.default_rng(0)
    label = np.arange(2_000) < 150
    frame = pl.DataFrame({"label": label, "score": rng.normal(size=2_000) + 2.5 * label})
    table = frame.with_columns(w=1 + pl.int_range(pl.len()) % 3).prc(weight="w")
    verdict = table.decide(0.001, precision=0.9, guarantee=0.95).verdict
    assert verdict.status == "unsure"
    assert verdict.sentence.startswith("No threshold meets")


def test_chance_at_half_recall_quotes_the_interval_of_its_table() -> None:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"score": rng.normal(size=3_000), "label": rng.random(3_000) < 0.1})
    decision = frame.prc.decide(0.01, recall=0.5)
    assert decision.verdict.status == "chance"
    [interval] = re.findall(r"precision is ([^;]*);", plain(decision.verdict.sentence))
    assert interval in plain(str(decision)).rpartition("threshold  ")[2]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "target", [{"recall": 0.5}, {"precision": 0.3}, {"alerts": 50, "per": 1_000}, {}]
)
def test_a_group_of_one_class_leaves_the_others_decided(target: dict[str, float]) -> None:
    """It has no row of thin curves, and a threshold for it is found elsewhere."""
    table = draw_models({"a": 2.0, "b": 0.5}, 200, 2_000).with_columns(site=pl.int_range(pl.len()) % 2)
    others = [
        table.filter(label=label).head(20).with_columns(site=pl.lit(2 + label, pl.Int64))
        for label in (0, 1)
    ]
    sites = pl.concat([table, *others])
    for score in (["a", "b"], "a"):
        decision = sites.prc(score=score, by="site").decide(0.05, **target)
        status_of_site = dict(decision.verdicts.select("site", "status").rows())
        assert status_of_site[2] == status_of_site[3] == "too_little_data"
        assert "too_little_data" not in (status_of_site[0], status_of_site[1])


def test_groups_of_which_too_little_is_known_are_not_said_to_be_alike() -> None:
    sites = draw_models({"score": 2.0}, 40, 400, seed=1).with_columns(site=pl.int_range(pl.len()) % 8)
    decision = sites.prc(by="site").decide(0.01, recall=0.5)
    assert set(decision.verdicts["status"]) == {"too_little_data"}
    assert decision.say(80).startswith("TOO LITTLE DATA: no site can be compared with the rest.")
    big = draw_models({"score": 2.0}, 400, 4_000, seed=1).with_columns(site=pl.lit(9, pl.Int64))
    one_known = pl.concat([sites, big]).prc(by="site").decide(0.01, recall=0.5)
    assert one_known.verdict.sentence.count("for site 9") == 1


def test_scores_that_separate_the_classes_are_not_called_constant() -> None:
    """Thin curves end with the last positive; scores below it are not among their rows."""
    frame = pl.DataFrame({"label": [1] * 50 + [0] * 500}).with_columns(
        own=pl.col("label"), above=pl.when(pl.col("label") == 1).then(600).otherwise(pl.int_range(550))
    )
    for score in ("own", "above"):
        assert not any("rank nothing" in reason for reason in decide_reasons(frame.prc(score=score)))
    constant = frame.with_columns(own=1).prc(score="own").decide(0.01, recall=0.8).verdict
    assert constant.sentence == "All scores are 1, so they rank nothing"
    assert constant.would_settle == "More data will not help: check the scores"
    assert not any("rank nothing" in reason for reason in constant.reasons)


def decide_reasons(table: Any) -> tuple[str, ...]:
    reasons: tuple[str, ...] = table.decide(0.01, recall=0.8).verdict.reasons
    return reasons


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("save", "report"), ("winner", "verdict"), ("tabel", "table"), ("sat", "say")],
)
def test_an_attribute_that_there_is_not_leads_to_one_that_there_is(wrong: str, meant: str) -> None:
    decision = decide_known("winner", "recall")
    with pytest.raises(AttributeError, match=rf"no attribute {wrong!r}; did you mean {meant!r}\?$"):
        getattr(decision, wrong)
    assert hasattr(decision, meant)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["together", "against"])
def test_equal_classes_are_seldom_found_different(noise: str) -> None:
    """Classes share their examples, whose scores for all classes rise together or against each other."""
    rng, n_sets, own = np.random.default_rng(5), 300, np.repeat(np.eye(3, dtype=bool), 100, axis=0)
    frames = []
    for number in range(n_sets):
        errors = rng.normal(size=own.shape)
        shared = errors.mean(axis=1, keepdims=True)
        errors = errors - shared if noise == "against" else 0.4 * errors + 2.0 * shared
        scores = {"score": (1.8 * own + errors / errors.std()).ravel(), "label": own.ravel()}
        for tested in range(3):  # each class beside all others, as `decide` tests them
            side = ["a" if number_of_class == tested else "b" for number_of_class in range(3)]
            columns = {"side": side * len(own), "set": number, "tested": tested}
            frames.append(pl.DataFrame(scores | columns))
    table = pl.concat(frames).prc(by=["set", "tested"], model="side")
    tests = table.compare(0.1, recall=0.5, paired=False, confidence=1 - 0.05 / 3, columns="all")
    n_wrong = tests.filter("significant")["set"].n_unique()
    assert n_wrong < n_sets * 0.05 + 3 * math.sqrt(n_sets * 0.05 * 0.95)


@pytest.mark.parametrize("name", ["winner", "best", "text", "why", "passed", "modles", "sentense"])
def test_a_wrong_name_on_a_verdict_leads_to_the_right_one(name):
    verdict = decide_known("winner", "recall").verdict
    with pytest.raises(AttributeError, match=f"a verdict has no attribute '{name}'; did you mean"):
        getattr(verdict, name)


def test_what_is_not_shown_is_where_the_line_names_it() -> None:
    df = draw_models({"score": 2.0}, 300, 2_700)
    long_names = df.with_columns(
        g=pl.format("a rather long name of a site {}", pl.int_range(pl.len()) % 3)
    )
    decision = long_names.prc(by="g").decide(0.01, precision=0.5, guarantee=0.95)
    hints = ("; decision.table has every column", "; -o FILE writes every column")
    for width, hint in product(range(45, 75, 5), hints):
        _, found, rest = " ".join(decision.say(width, hint=hint).split()).partition("Not shown: ")
        if found:
            names, _, place = rest.partition(";")
            assert {*names.split(", ")} <= {*decision.table.columns, "verdict"}
            assert f";{place}" == f"{hint}."


def test_a_guaranteed_threshold_is_said_of_its_group() -> None:
    sites = SETTLED.with_columns(pl.lit("Cork").alias("site"), pl.col("new") + 1)
    sites = pl.concat([sites, SETTLED.with_columns(pl.lit("Lund").alias("site"))])
    test = sites.prc(score=["new", "old"], by="site")
    decision = test.decide(0.02, precision=0.1, guarantee=0.95)
    threshold_of = dict(decision.table.filter(model="new").select("site", "threshold").rows())
    assert threshold_of["Cork"] != threshold_of["Lund"]
    before, _, after = decision.verdict.sentence.partition("For ")
    assert "threshold" not in before
    shown = float(after.partition("threshold ")[2].partition(" ")[0])
    assert 0 <= threshold_of[after[:4]] - shown < 1e-5  # rounded down, so that no example is lost


def draw_sites(has_pos: str, has_neg: str) -> pl.DataFrame:
    """Return scores of the sites a, b and c; those in neither word have no examples of the class."""
    df = draw_models({"score": 2.4}, 600, 3_000, seed=2)
    df = df.with_columns(site=pl.Series([*"abc"] * 1_200))
    return df.filter(
        pl.when("label")
        .then(pl.col("site").is_in([*has_pos]))
        .otherwise(pl.col("site").is_in([*has_neg]))
    )


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("has_pos", "has_neg", "words"),
    [
        ("a", "abc", {"recall": 0.5}),
        ("abc", "a", {"precision": 0.2}),
        ("a", "a", {}),
        ("a", "ab", {"recall": 0.5}),
        ("a", "abc", {}),
    ],
)
def test_a_group_without_others_is_measured_and_not_compared(
    has_pos: str, has_neg: str, words: dict[str, float]
) -> None:
    """No test exists where the others lack a class, so none is not significant."""
    decision = draw_sites(has_pos, has_neg).prc(by="site").decide(0.01, **words)
    text = str(decision)
    assert "differ" not in text
    assert "not significant" not in text
    assert decision.verdicts.filter(site="a")["status"].item() == "measured"


def test_groups_with_others_are_compared() -> None:
    text = str(draw_sites("ab", "abc").prc(by="site").decide(0.01, recall=0.5))
    assert "OF 2 DIFFER" in text
    assert "too little data for c" in " ".join(text.split())


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("weightless", ["label", "not label", "score < 0"])
def test_rows_of_weight_0_are_no_examples(weightless: str) -> None:
    df = draw_models({"score": 2.0}, 60, 600)
    is_out = {"label": pl.col("label"), "not label": ~pl.col("label"), "score < 0": pl.col("score") < 0}
    weighted = df.with_columns(w=pl.when(is_out[weightless]).then(0.0).otherwise(2.0))
    mine, filtered = (
        frame.prc(weight=pl.col("w")).decide(0.05, recall=0.5)
        for frame in (weighted, weighted.filter(pl.col("w") > 0))
    )
    assert str(mine) == str(filtered)
    named_as_pattern = weighted.rename({"w": "^w$"}).prc(weight="^w$").decide(0.05, recall=0.5)
    assert named_as_pattern.say(10_000).replace("by ^w$;", "by w;") == mine.say(10_000)


@pytest.mark.parametrize("bound", [True, False])
def test_a_decision_without_models_does_not_read_a_column_called_model(bound: bool) -> None:
    """`model=None` is one model, however many values a column of that name has."""
    label = np.arange(600) % 5 == 0
    scores = np.random.default_rng(3).normal(size=600) + 2 * label
    cars = pl.DataFrame({"label": label, "score": scores, "model": ["Ford", "Fiat"] * 300})
    decision = cars.prc(model=None).decide(0.1) if bound else cars.prc.decide(0.1, model=None)
    assert_frame_equal(decision.table, cars.drop("model").prc.decide(0.1).table)
    assert cars.prc.decide(0.1).table["model"].to_list() == ["Fiat", "Ford"]
    by_name = cars.drop("model").rename({"score": "model"}).prc.decide(0.1, score="model")
    assert_frame_equal(by_name.table, decision.table)


def test_a_decision_on_columns_of_classes_distinguishes_models_in_rows() -> None:
    """Each example has a row per model, and in it a score for each class."""
    rng = np.random.default_rng(4)
    kinds = rng.choice(["a", "b"], 400)
    rows = pl.concat(
        pl.DataFrame(
            {"kind": kinds, **{kind: rng.normal(size=400) + lead * (kinds == kind) for kind in "ab"}}
        ).with_columns(model=pl.lit(model), example=pl.int_range(400))
        for model, lead in (("good", 3), ("poor", 1))
    )
    test = rows.prc(score={"a": "a", "b": "b"}, label="kind")
    of_each = test.decide(0.1).table
    assert of_each.select("class", "model").rows() == [
        ("a", "good"), ("a", "poor"), ("b", "good"), ("b", "poor")
    ]  # fmt: skip
    for model in ("good", "poor"):
        alone = rows.filter(model=model).drop("model").prc(score={"a": "a", "b": "b"}, label="kind")
        for column in ("average_precision", "n_pos", "n_neg"):
            found = of_each.filter(model=model)[column].to_list()
            assert found == alone.decide(0.1).table[column].to_list()


def test_models_at_a_class_mix_are_compared_by_weighted_rows() -> None:
    """The advice of the error is followed to the end."""
    rng = np.random.default_rng(5)
    kinds = rng.choice(["a", "b"], 400)
    rows = pl.concat(
        pl.DataFrame({k: rng.normal(size=400) + lead * (kinds == k) for k in "ab"} | {"kind": kinds})
        .with_row_index("example")
        .with_columns(model=pl.lit(model))
        for model, lead in (("good", 3), ("poor", 1))
    )  # fmt: skip
    shares = {"a": 0.9, "b": 0.1}
    test = rows.prc(score={"a": "a", "b": "b"}, label="kind")
    with pytest.raises(PrcError, match=r"pass weight=, with the weights that .prc.unpivot_scores"):
        test.decide(class_mix(shares))
    long = rows.prc.unpivot_scores({"a": "a", "b": "b"}, label="kind", mix=shares)
    decision = long.prc(by="class", model="model", weight="weight", id="example").decide()
    assert decision.table["eta"].unique().sort().to_list() == pytest.approx([0.1, 0.9])
    assert decision.verdict.models == ("good",)


def test_equal_scores_are_a_reason_in_plain_words_and_finer_scores_the_advice():
    """A reader of "equal scores" beside an interval without 0 and "no significant difference" stops."""
    random = np.random.default_rng(201)
    label, base = random.random(4_000) < 0.1, random.normal(size=4_000)
    scores = {
        name: np.digitize(
            step * label + 0.5 * base + 0.85 * random.normal(size=4_000), [0.3, 1.1, 1.9, 2.7]
        )
        for name, step in {"doctor": 2.3, "net": 1.9}.items()
    }
    decision = (
        pl.DataFrame({"ill": label, **scores})
        .prc(score=["doctor", "net"], label="ill")
        .decide(0.02, recall=0.6)
    )
    said = " ".join(decision.say(width=100).split())
    assert "which is in doubt: many cases share a score." in said
    assert "equal scores" not in said
    assert (
        decision.verdict.would_settle == "Finer scores would help; more cases with these scores may not"
    )


def test_an_end_beyond_the_target_does_not_read_as_the_target():
    random = np.random.default_rng(205)
    label = random.permutation(8_000) < 400
    score = (2.7 * label + random.normal(size=8_000)).round(4)
    test = pl.DataFrame({"label": label, "score": score}).prc
    lows = []
    for alerts in range(320, 400, 20):
        decision = test.decide(0.01, precision=0.2, alerts=alerts, per=10_000)
        low = decision.table["precision_low"][0]
        assert low > 0.2 or "(20 to" not in str(decision), str(decision)
        lows += [low]
    assert any(0.195 < low < 0.2 for low in lows), "which would read as 20"
