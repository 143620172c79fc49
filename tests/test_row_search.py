"""Searches by blocks, and of many targets at once, find what a look at all rows finds for each."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from polars_prcurve import eta_from_sample, metrics
from polars_prcurve.core.curves import row_search
from polars_prcurve.core.curves.row_search import RowSearch
from polars_prcurve.core.curves.targets import Target
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS
from polars_prcurve.core.sweep import sweep_table
from tests.support.comparing import assert_same
from tests.support.profiles import examples
from tests.support.strategies import Table, tables
from tests.support.tiers import pair_each, slow_unless

ETAS = [0.0, 1e-4, 0.01, 0.3, 1.0]
RUNS: dict[str, Any] = {"precision": [0.2, 0.8], "npv": [0.5, 0.99], "fdr": 0.4, "lift": [0.5, 3.0]}
RATES: dict[str, Any] = {"predicted_positive_rate": [0.0, 0.2], "alerts": [5, 300], "per": 1000}
OWN = metrics.point("own", lambda tp, fn, fp, tn: fp * tn, direction="maximize")
ASKED: dict[str, dict[str, Any]] = {
    "targets": {**RUNS, **RATES, "maximize": ["f1", "mcc", "accuracy", "npv", OWN]},
    "undefined at 0": {"maximize": ["precision", "lift", "markedness", "lr_pos", "recall_gain"]},
    "weights": {**RUNS, **RATES, "maximize": ["f1", "cohen_kappa", OWN], "weight": "weight"},
    "promises": {**RUNS, **RATES, "guarantee": 0.9},
    "promises from a start": {**RUNS, "guarantee": 0.8, "start": 3},
    "together": {"precision": 0.3, "alerts": 400, "npv": 0.5, "per": 1000, "together": True},
    "promised together": {"precision": 0.2, "npv": 0.5, "fpr": 0.5, "together": True, "guarantee": 0.8},
}

SOUGHT: dict[str, Any] = {"recall": [0.0, 0.3, 1.0], "fpr": [0.0, 0.2], **RUNS, **RATES}
AGAIN: dict[str, dict[str, Any]] = {
    **ASKED,
    "rates": {"threshold": [-1, 3, 99], "recall": [0.3, 1.0], "fpr": 0.2},
    "the best": {"maximize": ["f1", "mcc", "accuracy"]},
    "moving": {**SOUGHT, "confidence": 0.9},
    "moving or not": {"threshold": 3, "precision": 0.3, "alerts": 200, "per": 1000, "confidence": 0.9},
    "promised rates": {"recall": 0.3, "fpr": 0.5, "guarantee": 0.8, "confidence": 0.9},
}


@st.composite
def score_tables(draw: st.DrawFn) -> pl.DataFrame:
    """Draw up to three groups of scores with ties, whose positives are rare or frequent."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, share = draw(st.sampled_from([1, 8, 60, 400])), draw(st.sampled_from([0.05, 0.5, 0.95]))
    label = rng.random(n) < share
    score = rng.integers(0, draw(st.sampled_from([4, 40, 10_000])), n) + 3 * label
    weight = rng.choice([0.0, 0.25, 1.0, 3.0], n)
    return pl.DataFrame({"g": rng.integers(0, 3, n), "score": score, "label": label, "weight": weight})


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("asked", ASKED)
@given(table=score_tables())
@examples(80)
def test_blocks_find_what_all_rows_find(asked: str, table: pl.DataFrame) -> None:
    how = {"by": "g", **ASKED[asked]}
    found = table.prc.operating_points(ETAS, columns="all", **how)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Target, "changes_once_in_block", False)
        expected = table.prc.operating_points(ETAS, columns="all", **how)
    assert_frame_equal(found, expected, check_exact=True)


@given(table=score_tables())
@examples(40)
def test_blocks_at_prevalences_that_are_estimates(table: pl.DataFrame) -> None:
    etas = eta_from_sample([1, 10, 40], [400, 100, 50], 0.99)
    how = {"by": "g", **RUNS, **RATES, "guarantee": 0.9}
    found = table.prc.operating_points(etas, columns="all", **how)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Target, "changes_once_in_block", False)
        expected = table.prc.operating_points(etas, columns="all", **how)
    assert_frame_equal(found, expected, check_exact=True)


def test_at_eta_0_the_best_row_is_the_first_that_has_a_value() -> None:
    """Where all positives come first, lift is infinite and so undefined; the next row is the best."""
    df = pl.DataFrame({"score": [6, 3, 2], "label": [1, 0, 0]})
    alone = df.prc.operating_points(0.0, maximize="lift", columns="all")
    among = df.prc.operating_points([0.0, 0.3], maximize="lift", columns="all").filter(eta=0.0)
    assert alone["threshold"].item() == 3
    assert_frame_equal(among, alone)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("asked", slow_unless(lambda asked: asked in ("moving", "promises"), AGAIN))
@given(table=score_tables())
@examples(24)
def test_a_bound_table_asked_again_finds_what_all_rows_hold(asked: str, table: pl.DataFrame) -> None:
    how = {"by": "g", **AGAIN[asked]}
    words = {name: how.pop(name) for name in ("by", "weight") if name in how}
    bound = table.prc(**words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep_table, "MANY_ROWS", 0)
        for eta in (None, 0.01, ETAS):
            expected = table.prc.operating_points(eta, columns="all", **words, **how)
            for _ in range(2 if eta is None else 1):  # the very first question goes by all rows
                found = bound.operating_points(eta, columns="all", **how)
                assert_frame_equal(found, expected, check_exact=True)


def test_blocks_are_searched_when_many_rows_are_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[object] = []
    find_blocks = RowSearch.find_blocks
    monkeypatch.setattr(
        RowSearch, "find_blocks", lambda *given: (searched.append(given), find_blocks(*given))[1]
    )
    df = pl.DataFrame({"score": range(100), "label": [0, 1] * 50})
    for many, expected in ((101, 0), (100, 2)):
        monkeypatch.setattr(sweep_table, "MANY_ROWS", many)
        bound = df.prc(score="score")
        for recall in (0.2, 0.5, 0.9):
            bound.operating_points(recall=recall, confidence=0.9, columns="all")
            df.prc.operating_points(recall=recall, columns="all")
        assert len(searched) == expected


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("asked", ["targets", "weights", "rates", "moving", "moving or not"])
@given(table=score_tables())
@examples(40)
def test_many_targets_are_found_as_each_alone(asked: str, table: pl.DataFrame) -> None:
    bound = table.prc(by="g")
    answers = []
    for many in (2, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(row_search, "_MANY", many)
            patch.setattr(sweep_table, "MANY_ROWS", 0)
            points = [bound.operating_points(ETAS, columns="all", **AGAIN[asked]) for _ in range(2)]
            lazy = table.lazy().prc.operating_points(0.01, by="g", columns="all", **AGAIN[asked])
            answers.append([*points, lazy.collect(engine="streaming")])
    for together, alone in zip(*answers, strict=True):
        assert_same(together, alone)


@given(table=tables(weights=["", "small integers"], min_size=1), data=st.data())
@examples(60)
def test_many_thresholds_of_any_dtype(table: Table, data: st.DataObject) -> None:
    asked = data.draw(
        st.lists(st.sampled_from(table.frame["score"].to_list()), min_size=20, max_size=25)
    )
    options = {"by": table.by, "pos_label": table.pos_label, "weight": table.weight, "columns": "all"}
    together = table.frame.prc.operating_points(0.1, threshold=[*asked, 300], **options)
    alone = [table.frame.prc.operating_points(0.1, threshold=x, **options) for x in (*asked, 300)]
    n_groups = len(together) // len(alone)
    turns = pl.concat(points.with_columns(group=pl.int_range(n_groups)) for points in alone)
    assert_same(together, turns.sort("group", maintain_order=True).drop("group"))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("word", "design"),
    pair_each([*TARGET_KINDS, "threshold"], [{}, {"weight": "w"}, {"cluster": "c"}]),
    ids=str,
)
def test_many_targets_with_intervals_are_as_each_alone(word: str, design: dict[str, str]) -> None:
    """Beside others of another kind, and with all columns: certainty, doubts and intervals."""
    rng = np.random.default_rng(2)
    label = rng.random(300) < 0.3
    score = np.round(rng.normal(size=300) + label, 1)
    columns = {"g": rng.integers(0, 2, 300), "w": rng.integers(1, 4, 300), "c": rng.integers(0, 50, 300)}
    bound = pl.DataFrame({"score": score, "label": label, **columns}).prc(by="g", **design)
    options: dict[str, Any] = {"confidence": 0.9, "columns": "all"}
    options |= {"per": 1} if word == "alerts" else {}
    levels, other = np.linspace(0.05, 1, 20).tolist(), "fpr" if word == "recall" else "recall"
    many = bound.operating_points([0.1, None], **{word: levels, other: 0.05}, **options)
    points = many.filter(criterion=word)
    for place in (0, 8, 19):
        alone = bound.operating_points([0.1, None], **{word: levels[place]}, **options)
        assert_same(points.gather_every(20, place), alone)
    assert_same(
        many.filter(criterion=other), bound.operating_points([0.1, None], **{other: 0.05}, **options)
    )


def test_a_lookup_of_many_values_is_that_of_few() -> None:
    """In a summary and in points; each value keeps its place, also where metrics repeat targets."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"score": rng.integers(0, 50, 300), "label": rng.random(300) < 0.3})
    levels = np.linspace(0.05, 1, 20)
    at_targets = [metrics.precision_at_recall(x) for x in levels]
    at_targets += [metrics.recall_at_precision(x) for x in levels]
    for confidence, start in ((None, 0), (0.9, 3)):
        summary = frame.prc.summary([0.1, None], metrics=at_targets, confidence=confidence)
        for place in range(start, len(at_targets), 7):
            alone = frame.prc.summary([0.1, None], metrics=at_targets[place], confidence=confidence)
            assert_same(summary.gather_every(len(at_targets), place), alone)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("words", [{"recall": 0.3}, {"precision": 0.3}, {"threshold": 3}], ids=str)
def test_many_targets_of_no_scores(words: dict[str, float]) -> None:
    frame = pl.DataFrame(
        {"score": [None, None], "label": [0, 1]}, schema_overrides={"score": pl.Float32}
    )
    [(word, value)] = words.items()
    for table, eta in product([frame, frame.lazy(), frame.clear()], [0.1, [0.1, 0.9]]):
        ask = table.prc(missing="below").operating_points
        many, one = (ask(eta, columns="all", **{word: asked}) for asked in ([value] * 20, value))
        many, one = many.lazy().collect(), one.lazy().collect()
        assert_same(many[::20], one)
