"""Certainty: how sure it is that a target is met, beside one-sided intervals and simulated truths."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest

from polars_prcurve import intervals, prc
from polars_prcurve.core.confidence.confidence_that_limit_holds import measure_certainty, scale_limit

CELLS = ("tp", "fp", "fn", "tn")


def draw_cells(recall: float, fpr: float, n_pos: int, n_neg: int, n: int) -> pl.DataFrame:
    """Return test sets of these sizes, a 2x2 table each."""
    rng = np.random.default_rng(0)
    tp, fp = rng.binomial(n_pos, recall, n), rng.binomial(n_neg, fpr, n)
    return pl.DataFrame({"set": range(n), "tp": tp, "fp": fp, "fn": n_pos - tp, "tn": n_neg - fp})


def list_points(cells: pl.DataFrame, eta: float | None, confidence: float = 0.95) -> pl.DataFrame:
    points = cells.prc.operating_points(
        eta, by="set", cells=CELLS, confidence=confidence, columns="all", metrics=["precision", "lift"]
    )
    return points.sort("set")


def measure(
    frame: pl.DataFrame, name: str, limit: float, confidence: float = 0.95, **words: Any
) -> pl.Series:
    """Return how sure it is, in each row, that a value keeps a limit."""
    is_chosen = words.pop("is_chosen", False)
    scaled = frame.with_columns(**scale_limit(name, pl.lit(limit), **words))
    return scaled.select(measure_certainty(confidence, is_threshold_chosen=is_chosen)).to_series()


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("name", "eta"),
    [("precision", 0.02), ("precision", None), ("recall", None), ("fpr", 0.02), ("lift", 0.02)],
)
def test_it_is_the_level_of_the_one_sided_interval_that_ends_at_the_limit(
    name: str, eta: float | None
) -> None:
    cells = draw_cells(0.7, 0.05, 80, 900, 6)
    points = list_points(cells, eta)
    for level in (0.75, 0.9, 0.99):
        of_level = list_points(cells, eta, 2 * level - 1)
        for row, ends in zip(points.iter_rows(named=True), of_level.iter_rows(named=True), strict=True):
            is_upper = name == "fpr"
            words = {"is_upper": is_upper, "unit": None if name == "lift" else 1.0}
            for end, expected in (("low", level), ("high", 1 - level)):
                limit = ends[f"{name}_{end}"]
                found = measure(pl.DataFrame([row]), name, limit, **words).item()
                assert found == pytest.approx(1 - expected if is_upper else expected, abs=0.02)


def test_at_the_value_and_both_ends_it_is_exact() -> None:
    frame = pl.DataFrame({"v": [0.8], "v_low": [0.6], "v_high": [0.9]})
    for limit, expected in ((0.6, 0.975), (0.8, 0.5), (0.9, 0.025)):
        found = measure(frame, "v", limit).item()
        assert found == pytest.approx(expected, abs=1e-12)
        at_most = measure(frame, "v", limit, is_upper=True).item()
        assert at_most == pytest.approx(1 - expected, abs=1e-12)
    # Of a threshold that was chosen, the lower end is that of a value which is as far below.
    assert measure(frame, "v", 0.6, is_chosen=True).item() == pytest.approx(0.975, abs=1e-12)
    assert measure(frame, "v", 0.8, is_chosen=True).item() is None


@pytest.mark.parametrize(
    ("recall", "fpr", "n_pos", "n_neg", "eta"),
    [(0.8, 0.05, 50, 500, 0.1), (0.5, 0.01, 60, 2_000, 0.01), (0.9, 0.2, 200, 200, 0.3)],
)
def test_claims_about_a_given_threshold_hold_as_often_as_they_say(
    recall: float, fpr: float, n_pos: int, n_neg: int, eta: float
) -> None:
    points = list_points(draw_cells(recall, fpr, n_pos, n_neg, 3_000), eta)
    precision = recall * eta / (recall * eta + fpr * (1 - eta))
    for name, truth in {"precision": precision, "recall": recall, "fpr": fpr}.items():
        # At the limit itself, the worst case, a claim at a level is wrong in 1 - level of test sets.
        certainties = measure(points, name, truth, is_upper=name == "fpr")
        for level in (0.8, 0.9, 0.95, 0.99):
            assert (certainties >= level).mean() <= 1 - level + 0.035


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("word", ["recall", "fpr", "precision"])
def test_claims_about_chosen_thresholds_hold_at_least_as_often(word: str) -> None:
    n_sets, n_pos, n_neg, eta, value = 400, 50, 400, 0.1, {"recall": 0.8, "fpr": 0.05}.get(word, 0.6)
    label = np.repeat([True, False], [n_pos, n_neg])
    scores = np.random.default_rng(2).normal(size=(n_sets, label.size)) + 2 * label
    scores = np.floor(scores * 2) / 2
    numbers = np.repeat(np.arange(n_sets), label.size)
    table = pl.DataFrame({"set": numbers, "label": np.tile(label, n_sets), "score": scores.ravel()})
    target: dict[str, Any] = {word: value}
    points = table.prc.operating_points(eta, by="set", confidence=0.9, columns="all", **target)
    points = points.drop_nulls("certainty")
    normal = NormalDist()
    is_claimed = points["certainty"] >= 0.8
    assert is_claimed.sum() > 20
    n_right = 0
    for threshold in points.filter(is_claimed)["threshold"]:
        recall, fpr = 1 - normal.cdf(threshold - 2), 1 - normal.cdf(threshold)
        truth = {"recall": recall, "fpr": fpr}.get(word, recall * eta / (recall * eta + fpr * (1 - eta)))
        n_right += truth <= value if word == "fpr" else truth >= value
    assert n_right / is_claimed.sum() >= 0.8


TABLE = pl.DataFrame(
    {"score": [9, 8, 8, 7, 6, 6, 5, 4, 3, 2] * 4, "label": [1, 1, 0, 1, 0, 1, 0, 0, 0, 0] * 4}
)


def test_where_there_is_none() -> None:
    asked: dict[str, Any] = {"eta": 0.1, "recall": 0.45, "threshold": 6, "maximize": "f1", "per": 100}
    asked |= {"alerts": [20, 30], "npv": 0.9, "metrics": "f1", "columns": "all"}
    points = prc(TABLE).operating_points(confidence=0.9, **asked)
    known = points.filter(pl.col("certainty").is_not_null()).select("criterion", "target").rows()
    assert sorted(known) == [("alerts", 30.0), ("npv", 0.9), ("recall", 0.45)]
    assert points["certainty"].drop_nulls().is_between(0.5, 1).all()
    assert "certainty" not in prc(TABLE).operating_points(**asked).columns
    short = prc(TABLE).operating_points(0.1, recall=0.5, confidence=0.9)
    assert "certainty" not in short.columns
    other = prc(TABLE).operating_points(confidence=intervals(0.9, method="rectangle"), **asked)
    assert other["certainty"].null_count() == other.height


def test_a_threshold_that_was_chosen_has_none_where_its_target_may_be_missed_as_well_as_met() -> None:
    label = np.arange(40_000) < 2_000
    score = np.random.default_rng(5).normal(size=label.size) + 3.2 * label
    table = pl.DataFrame({"label": label, "score": score}).prc()
    chosen = table.decide(1 / 2_000, precision=0.9).table
    assert chosen.select("fp", "precision", "certainty").row(0) == (0, 1.0, None)
    tested = table.decide(1 / 2_000, threshold=chosen["threshold"][0], precision=0.9).table
    assert 0.5 < tested["certainty"].item() < 0.95
    # A step of coarse scores that is far beyond its target keeps a number.
    coarse = table(score=pl.col("score").floor()).decide(0.01, recall=0.7).table
    assert coarse["recall"].item() > 0.8
    assert coarse["certainty"].item() > 0.99


def test_no_doubt_is_about_a_metric_that_is_not_shown() -> None:
    points = prc(TABLE).operating_points(0.1, npv=0.9, metrics="f1", confidence=0.9, columns="all")
    shown = prc(TABLE).operating_points(0.1, npv=0.9, metrics="f1", confidence=0.9)
    assert points["doubt"].to_list() == shown["doubt"].to_list()


def test_a_demand_is_as_sure_as_all_its_parts() -> None:
    table = prc(TABLE)
    one = table.decide(0.3, threshold=6, recall=0.5, confidence=0.9)
    [recall] = one.table["certainty"]
    found = measure(one.table, "recall", 0.5, 0.9).item()
    assert recall == pytest.approx(found, abs=1e-12)
    both = table.decide(0.3, threshold=6, recall=0.5, precision=0.4, confidence=0.9)
    [certainty] = both.table["certainty"]
    parts = [
        measure(both.table, name, limit).item()
        for name, limit in {"recall": 0.5, "precision": 0.4}.items()
    ]
    assert certainty == pytest.approx(max(0.0, sum(parts) - 1), abs=1e-12)
    assert certainty <= min(parts)


def test_an_open_demand_says_how_sure_it_is() -> None:
    verdict = prc(TABLE).decide(0.3, threshold=6, recall=0.9).verdict
    assert verdict.status == "unsure"
    [certainty] = prc(TABLE).decide(0.3, threshold=6, recall=0.9).table["certainty"]
    assert f"one-sided confidence that the target is met: {round(100 * certainty)}%" in verdict.reasons
