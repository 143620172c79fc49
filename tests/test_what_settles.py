"""What would settle it: new test sets of the sizes that are named meet what is said of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from polars_prcurve import Decision, prc
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.judging.case import Case
from polars_prcurve.core.judging.decision_request import DecisionRequest
from polars_prcurve.core.judging.sample_needs import (
    SampleNeed,
    _find_half_widths,
    _plan_classes,
    count_examples_needed,
    find_short_class,
    find_vaguest,
)
from tests.support.model_tests import EQUAL, draw_models
from tests.support.tiers import pair_each


class Population(NamedTuple):
    """Normal scores, so far apart, of a test set of so many, and what is decided."""

    distances: tuple[float, ...]
    n_pos: int
    n_neg: int
    eta: float
    arguments: dict[str, Any]


POPULATIONS = {
    "precision at a recall": Population((2.5,), 40, 2_000, 0.01, {"recall": 0.5}),
    "precision at a prevalence of 10%": Population((1.5,), 100, 2_000, 0.1, {"recall": 0.5}),
    "recall at fpr": Population((2.5,), 40, 2_000, 0.01, {"fpr": 0.02}),
    "recall at a precision": Population((2.5,), 100, 2_000, 0.1, {"precision": 0.5}),
    "average precision": Population((2.0,), 60, 1_500, 0.05, {}),
    "too little data": Population((2.0,), 15, 300, 0.02, {"recall": 0.5}),
    "a gate": Population((2.0,), 100, 2_000, 0.1, {"threshold": 1.5, "precision": 0.55}),
    "few false positives": Population((3.2,), 300, 4_000, 0.005, {"recall": 0.55}),
    "two models": Population((2.0, 2.0), 60, 1_500, 0.05, {"recall": 0.5}),
    "two models without a target": Population((2.0, 2.0), 60, 1_500, 0.05, {}),
}
_MOST_ROWS = 400_000  # rows of a new test set, at most
LEVEL = 0.95


class Judged(NamedTuple):
    """What is decided of one of many test sets, and whether it meets its demand."""

    case: Case
    met: bool | None


def draw(population: Population, n_pos: int, n_neg: int, seed: int) -> Decision:
    models = {f"m{number}": distance for number, distance in enumerate(population.distances)}
    table = draw_models(models, n_pos, n_neg, seed)
    score: Any = [*models] if len(models) > 1 else "m0"
    return table.prc(score=score).decide(population.eta, **population.arguments)  # type: ignore[no-any-return]


def decide_sets(population: Population, drawn: Sequence[tuple[int, int, int]]) -> Iterator[Judged]:
    """Yield what is decided of test sets by their positives, negatives and seed, each as if alone.

    Several are groups of one table, except where the steps of Holm would tie their demands together.
    """
    models = {f"m{number}": distance for number, distance in enumerate(population.distances)}
    score: Any = [*models] if len(models) > 1 else "m0"
    n_at_once = 1 if "threshold" in population.arguments else 6
    for start in range(0, len(drawn), n_at_once):
        part = drawn[start : start + n_at_once]
        table = pl.concat(
            draw_models(models, *sizes_and_seed).with_columns(set=pl.lit(number))
            for number, sizes_and_seed in enumerate(part)
        )
        with patch.object(DecisionRequest, "test_level", LEVEL):  # no set shares its error with others
            decision = table.prc(score=score, by="set").decide(population.eta, **population.arguments)
        assert decision.verdicts["set"].to_list() == [*range(len(part))]
        yield from map(Judged, decision._judgement.cases, decision.verdicts["met"])


def find_need(decision: Decision) -> SampleNeed | None:
    [case] = decision._judgement.cases
    return count_examples_needed(case, decision._judgement.evidence.test_level)


def count_needed(decision: Decision) -> float:
    """Return the sum of the sizes that put precision within ±5 points, from its classes' widths."""
    [case] = decision._judgement.cases
    candidate = case.candidates[0]
    widths = _find_half_widths(candidate)
    need = None if widths is None else _plan_classes(case, candidate, widths, 0.05)
    assert need is not None
    return sum(size.n_needed for size in need.classes)


def is_as_named(case: Case, need: SampleNeed, new: Judged) -> bool:
    """Return whether a new test set has the interval, or the power, that the plan of a case named."""
    new_case = new.case
    if case.status == "unsure":
        return new.met is not None
    if case.status == "no_winner":
        row, z = new_case.candidates[1].row, z_value(LEVEL)
        error = (row["behind_high"] - row["behind_low"]) / 2 / z
        return bool(error <= need.size / (z + 0.8416))
    estimate = (new_case.rivals or new_case.candidates)[0].merit
    if case.status == "too_little_data":
        estimate = new_case.candidates[0].read(find_vaguest(case)[1])
    return estimate.span is not None and (estimate.high - estimate.low) / 2 <= need.size


def move_demand(population: Population, case: Case) -> Population:
    """Return a gate whose demand is as far from the true precision as it was from the measured one.

    A plan has its power if the value is as measured: how near the true one is to a demand nobody knows.
    """
    [distance], demand = population.distances, population.arguments["precision"]
    threshold, eta = population.arguments["threshold"], population.eta
    recall, fpr = (1 - NormalDist().cdf(threshold - place) for place in (distance, 0.0))
    true_value = recall * eta / (recall * eta + fpr * (1 - eta))
    moved_demand = true_value + demand - case.candidates[0].precision.value
    return population._replace(arguments=population.arguments | {"precision": moved_demand})


def share_as_named(population: Population, seeds: range) -> float:
    plans = decide_sets(population, [(population.n_pos, population.n_neg, seed) for seed in seeds])
    named = []
    for seed, (case, _) in zip(seeds, plans, strict=True):
        need = count_examples_needed(case, LEVEL)
        if need is None or need.is_met or need.is_least:
            continue
        sizes = {"positives": population.n_pos, "negatives": population.n_neg}
        sizes |= {size.class_name: math.ceil(size.n_needed) for size in need.classes}
        if sum(sizes.values()) <= _MOST_ROWS:
            named.append((case, need, (sizes["positives"], sizes["negatives"], seed + 10_000)))
    assert len(named) >= 0.7 * len(seeds)
    if "threshold" in population.arguments:
        new_populations = [move_demand(population, case) for case, _, _ in named]
        drawn_sets = zip(new_populations, [[drawn] for _, _, drawn in named], strict=True)
        new_sets = (new for each, drawn in drawn_sets for new in decide_sets(each, drawn))
    else:
        new_sets = decide_sets(population, [drawn for _, _, drawn in named])
    met = [is_as_named(*plan, new) for (*plan, _), new in zip(named, new_sets, strict=True)]
    return sum(met) / len(met)


@pytest.mark.slow
@pytest.mark.parametrize("name", POPULATIONS)
def test_sizes_meet_their_width_with_four_in_five_assurance(name: str) -> None:
    """Of 24 plans, each followed by a test set of its size; the error of a share is 0.09."""
    assert share_as_named(POPULATIONS[name], range(24)) >= 0.7 - 2 * 0.09


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", ["precision at a prevalence of 10%", "few false positives"])
def test_a_few_sizes_meet_their_width(name: str) -> None:
    assert share_as_named(POPULATIONS[name], range(4)) >= 0.5


# Sentences ------------------------------------------------------------------------------------


def test_the_sentence_names_the_class_of_the_plan_first() -> None:
    few_negatives = draw_models({"score": 2.0}, 500, 30, seed=3)
    decision = few_negatives.prc.decide(0.01, recall=0.5)
    [case] = decision._judgement.cases
    assert decision.verdict.status == "too_little_data"
    assert find_short_class(case) == (30, "negatives")
    assert decision.verdict.sentence.startswith("With 30 negatives, precision could be anything")
    assert re.search(r"you need (about|at least) [\d,]+ negatives", decision.verdict.would_settle)


def test_targets_out_of_reach_have_no_size() -> None:
    """Precision that is met on three true positives may be met by chance."""
    score = [9.0, 8.0, 7.0, *np.linspace(0, 5, 997)]
    label = [1, 1, 1, *([0, 0, 0, 0, 1] * 200)[:997]]
    few = pl.DataFrame({"score": score, "label": label})
    verdict = few.prc.decide(0.2, precision=0.9).verdict
    assert "Only 3 true positives at the targets" in verdict.would_settle
    assert find_need(few.prc.decide(0.2, precision=0.9)) is None
    beyond = few.prc.decide(0.2, precision=0.9, recall=0.9).verdict
    assert (beyond.status, beyond.would_settle) == (
        "not_met",
        "Better scores are needed, or lower targets",
    )


@pytest.mark.parametrize("arguments", [{}, {"recall": 0.5}])
def test_no_clear_winner_names_a_size_with_and_without_a_target(arguments: dict[str, float]) -> None:
    verdict = EQUAL.prc(score=["one", "other"]).decide(0.02, **arguments).verdict
    assert verdict.status == "no_winner"
    assert re.match(
        r"To detect a difference of (10 points|0.10 in average precision) with 80% power you need about "
        r"[\d,]+ positives \([\d,]+ more\) and [\d,]+ negatives \([\d,]+ more\)$",
        verdict.would_settle,
    )


@pytest.mark.parametrize(("distance", "is_rough"), [(2.5, False), (3.0, True)])
def test_a_size_from_a_doubtful_difference_is_a_rough_one(distance: float, is_rough: bool) -> None:
    models = draw_models({"a": distance, "b": distance}, 300, 4_000, seed=3)
    verdict = prc(models, score=["a", "b"]).decide(0.005, recall=0.5).verdict
    doubt = "the comparison of models is in doubt: few false positives"
    assert (doubt in verdict.reasons) == is_rough
    assert f"you need {'very roughly' if is_rough else 'about'} " in verdict.would_settle


def test_the_open_group_that_is_named_needs_most() -> None:
    sites = {f"s{n}": draw_models({"one": 2.0, "other": 2.0}, n, 20 * n, seed=n) for n in (50, 100, 200)}
    frame = pl.concat([rows.with_columns(site=pl.lit(site)) for site, rows in sites.items()])
    decision = frame.prc(score=["one", "other"], by="site").decide(0.02, recall=0.5)
    level = decision._judgement.evidence.test_level
    needs = [count_examples_needed(case, level) for case in decision._judgement.cases]
    missing = [sum(each.n_missing for each in need.classes) for need in needs if need is not None]
    most = decision.verdicts["site"][missing.index(max(missing))]
    assert decision.verdict.would_settle.startswith(
        f"For {most}, where most examples are needed: to detect"
    )
    alone = frame.filter(site="s50").prc(score=["one", "other"], by="site").decide(0.02, recall=0.5)
    assert "most examples are needed" not in alone.verdict.would_settle


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("n_pos", "seed"), [(150, 0), (800, 0), (800, 6), (1_200, 7), (1_600, 4)])
def test_no_difference_that_is_ruled_out_is_to_be_detected(n_pos: int, seed: int) -> None:
    random, label = np.random.default_rng(seed), np.arange(5 * n_pos) < n_pos
    scores = {name: random.normal(size=len(label)) + 2 * label for name in ("a", "b")}
    decision = prc(pl.DataFrame({"label": label, **scores}), score=["a", "b"]).decide(0.1, recall=0.5)
    assert decision.verdict.status == "no_winner"
    second = decision.table.sort("behind").to_dicts()[-1]
    text = decision.verdict.would_settle
    [size] = map(float, re.findall(r"difference of ([\d.]+) points", text))
    most = 100 * max(abs(second["behind_low"]), abs(second["behind_high"]))
    assert size <= most if text.startswith("To detect") else size == pytest.approx(most, rel=0.05)


def test_a_difference_has_the_scale_of_the_values() -> None:
    """No difference of 10 points where values are near 3%."""
    decision = EQUAL.prc(score=["one", "other"]).decide(0.0005, recall=0.5)
    assert decision.verdict.status == "no_winner"
    values = decision.table["precision"]
    need = find_need(decision)
    assert need is not None
    assert need.size == pytest.approx(values.max() / 2)  # type: ignore[operator]
    assert "10 points" not in decision.verdict.would_settle


def test_a_threshold_that_is_not_sure_has_the_size_of_its_distance() -> None:
    table = draw_models({"score": 2.0}, 100, 2_000, seed=3).prc
    sizes = []
    for limit in (0.55, 0.6, 0.62):
        decision = table.decide(0.1, threshold=1.5, precision=limit)
        need = find_need(decision)
        if decision.verdict.status == "unsure" and need is not None:
            assert decision.verdict.would_settle.startswith("To decide whether it meets the target")
            distance = abs(decision.table["precision"].item() - limit)
            sizes.append((distance, need.classes[0].n_needed))
    numbers = [number for _, number in sorted(sizes)]
    assert numbers == sorted(numbers, reverse=True)
    assert len(numbers) > 1


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("name", "seed"), pair_each([name for name in POPULATIONS if name != "a gate"], range(3))
)
def test_numbers_needed_and_tested_add_up(name: str, seed: int) -> None:
    population = POPULATIONS[name]
    decision = draw(population, population.n_pos, population.n_neg, seed)
    n_tested = {"positives": population.n_pos, "negatives": population.n_neg}
    text = decision.verdict.would_settle.replace("\u00a0", " ")
    needs = re.findall(r"([\d,.]+) (positives|negatives) \(([\d,.]+) more\)", text)
    for number, class_name, n_more in needs:
        total = float(number.replace(",", ""))
        assert total == float(n_more.replace(",", "")) + n_tested[class_name]


CELLS = ("tp", "fp", "fn", "tn")


def plan_cells(tp: int, fp: int, fn: int, tn: int, eta: float, **words: float) -> Decision:
    cells = pl.DataFrame(dict(zip(CELLS, [[tp], [fp], [fn], [tn]], strict=True)))
    return prc(cells, cells=CELLS).decide(eta, **words)


def test_no_false_positive_shows_no_number_but_a_least_one() -> None:
    verdict = plan_cells(30, 0, 30, 300, 0.01).verdict
    assert "at least 4,100 negatives (3,800 more)" in verdict.would_settle


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("eta", "hits", "words"),
    [
        (1e-6, (283, 121), {}),
        (0.01, (30, 30), {}),
        (0.01, (283, 121), {"precision": 0.97}),
        (1e-6, (30, 30), {"fdr": 0.03}),
    ],
)
def test_a_least_number_is_that_at_which_none_of_them_is_flagged(
    eta: float, hits: tuple[int, int], words: dict[str, float]
) -> None:
    """Fewer do not narrow the interval enough, although none is flagged; whatever was tested."""
    n_plans = 0
    for tn in (50, 3_000):
        plan = plan_cells(hits[0], 0, hits[1], tn, eta, **words)
        need = find_need(plan)
        if need is None or need.is_met:
            continue
        assert need.is_least
        [size] = need.classes
        is_test = plan.verdict.status == "unsure"
        n_plans += 1
        for factor, is_enough in ((1.01, True), (0.97, False)):
            new = plan_cells(
                hits[0], 0, hits[1], round(size.n_needed * factor + factor - 1), eta, **words
            )
            [low] = new.table["precision_low"]
            assert (low >= 0.97 if is_test else (1 - low) / 2 <= need.size) is is_enough
    assert n_plans


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("n_flagged", "copies", "eta"), [(2, 1, 0.005), (5, 4, 0.001)])
def test_a_size_does_not_hang_on_how_the_threshold_was_chosen(
    n_flagged: int, copies: int, eta: float
) -> None:
    """A low end near 0, of the threshold that a sample chose, has no say in it."""
    table = draw_models({"score": 3.2}, 300, 4_000, seed=1)
    negatives = table.filter(~pl.col("label"))["score"].sort(descending=True)
    table = pl.concat([table] * copies)
    recall = (table.filter("label")["score"] > negatives[n_flagged]).mean()
    chosen, given = (
        count_needed(table.prc.decide(eta, **words))
        for words in ({"recall": recall}, {"threshold": negatives[n_flagged - 1]})
    )
    assert chosen / given == pytest.approx(1, rel=0.6)


def test_rows_that_count_for_more_change_no_class_of_a_size() -> None:
    """Negatives that stand for 20 each are few, too, where one of them is flagged."""
    table = draw_models({"score": 2.2}, 300, 2_700, seed=1)
    weight = pl.when("label").then(1.0).otherwise(20.0)
    for frame, words in ((table, {}), (table.with_columns(weight=weight), {"weight": "weight"})):
        need = find_need(prc(frame, **words).decide(0.01, recall=0.03))
        assert need is not None
        assert "negatives" in {size.class_name for size in need.classes}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("words", [{"recall": 0.5}, {"fpr": 0.01}, {}])
@pytest.mark.parametrize("n_neg", [2_000, 8_000])
def test_a_width_in_words_is_that_of_the_row(words: dict[str, float], n_neg: int) -> None:
    decision = draw_models({"score": 2.5}, n_neg // 20, n_neg, seed=2).prc.decide(0.01, **words)
    text = decision.verdict.would_settle.replace("\u00a0", " ")
    assert "±" not in text or decision.verdict.status != "measured"
    found = re.match(
        r"The interval of (.*?) is ([\d.]+)( points)? wide\. For ([\d.]+)( points)? you", text
    )
    if found is None:
        assert "wide" not in text
        return
    name, width, points, needed, _ = found.groups()
    low, high = decision.table.select(f"{name.replace(' ', '_')}_{end}" for end in ("low", "high")).row(
        0
    )
    assert float(width) == pytest.approx((high - low) * (100 if points else 1), rel=0.06)
    assert float(needed) < float(width)
