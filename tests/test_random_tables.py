"""The explorer of random tables: a little of what it does, and that it notices what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from polars_prcurve import metrics
from polars_prcurve.core.metrics.curve_metric import Recipe
from polars_prcurve.core.sweep import sweep_table
from tests import explore
from tests.support import oracle, random_ways
from tests.support import random_questions as questions
from tests.support.random_tables import FORMS, Batch, draw_batch

pytestmark = pytest.mark.filterwarnings("ignore:check the rates")  # points are drawn below chance, too

QUESTIONS = {
    name.removeprefix("ask_"): ask
    for name, ask in vars(questions).items()
    if name.startswith("ask_") and name != "ask_all"
}


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("seed", range(8))
def test_a_few_random_tables(seed: int) -> None:
    assert [str(failure) for failure in explore.try_batch(seed, 25)] == []


def test_equal_seeds_draw_equal_tables() -> None:
    one, two, other = (draw_batch(np.random.default_rng(seed), 30) for seed in (5, 5, 6))
    assert one.frame.equals(two.frame)
    assert one.columns == two.columns
    assert not one.frame.equals(other.frame)


def test_every_kind_is_drawn() -> None:
    batches = [draw_batch(np.random.default_rng(seed), 3) for seed in range(150)]
    assert {batch.form for batch in batches} == set(FORMS)
    assert len({batch.scores.dtype for batch in batches}) == 14
    labels = {(b.frame.schema["label"], b.pos_label) for b in batches if "label" in b.frame.columns}
    assert len(labels) == 10
    assert {batch.missing for batch in batches} == {"raise", "drop", "below"}
    below = {(type(batch.below), batch.counts_negatives) for batch in batches if batch.has_unscored}
    assert below == {*product((tuple, pl.DataFrame), (True, False)), (type(None), True)}
    assert any(batch.groups.height > batch.frame[batch.by].n_unique() for batch in batches)
    rng = np.random.default_rng(0)
    drawn = {questions.draw_point_metric(rng).name.partition("(")[0] for _ in range(500)}
    drawn |= {questions.draw_curve_metric(rng).name.partition("(")[0] for _ in range(500)}
    # Metrics at a threshold are those of operating points, see test_metrics_at_thresholds.
    assert drawn >= set(metrics.__all__) - {"CurveMetric", "PointMetric", "point", "at_threshold"}


def asked(ask: Callable[..., questions.Question], seed: int) -> tuple[questions.Question, Batch]:
    rng = np.random.default_rng(seed)
    batch = draw_batch(rng, 12)
    return ask(rng, batch), batch


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_any_wrong_cell_is_noticed(
    ask: Callable[..., questions.Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number that is a hundredth too large, or there where nothing should be, in any column."""
    for seed in range(2):
        question, batch = asked(ask, seed)
        tables, answer = questions.make_tables(batch), question.ask(batch)
        assert not list(questions.find_failures(question, batch, tables))
        for name in set(answer.columns) - set(batch.by):
            row = seed * 7 % answer.height
            changed = answer.with_columns(
                pl.when(pl.int_range(pl.len()) == row)
                .then(_other(answer, name, row))
                .otherwise(name)
                .cast(answer.schema[name])
                .alias(name)
            )
            monkeypatch.setattr(questions.Question, "ask", lambda *_, changed=changed: changed)
            [(key, *_)] = questions.find_failures(question, batch, tables)
            assert key == batch.key(answer.row(row, named=True)), name
            monkeypatch.undo()


def _other(answer: pl.DataFrame, name: str, row: int) -> Any:
    value = answer[name][row]
    if isinstance(value, float) and abs(value) < 1e300:
        return value * 1.01 + 0.01
    dtype = answer.schema[name]
    others = [0, 1, True, False, "other"] if dtype != pl.String else ["other"]
    return next(pl.lit(other) for other in others if other != value)


def test_a_wrong_metric_is_found_and_shrunk(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = metrics.pr_auc.alias("average_precision")
    monkeypatch.setattr(questions, "draw_curve_metric", lambda rng: wrong)
    assert explore.main(["--seeds", "3:4", "--tables", "30"]) == 1
    printed = capsys.readouterr().out
    assert "summary(metrics=['average_precision']" in printed
    assert "30 tables" in printed
    failure = next(explore.try_batch(3, 30))
    assert failure.batch.frame.height <= 3


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("where", "name", "wrong", "method"),
    [
        (sweep_table, "add_unscored_rows", lambda rows, groups: rows, "summary"),
        (sweep_table, "add_unscored_rows", lambda rows, groups: rows, "counts"),
        (Recipe, "leave_out_unscored", lambda recipe, term: term, "summary"),
        (sweep_table, "_BELOW_OF_SIZE", {}, "sweep"),
        (sweep_table, "_BELOW_OF_SIZE", {}, "operating_points"),
    ],
)
def test_what_was_never_scored_is_tried(
    where: Any, name: str, wrong: Any, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last row of areas is missing, counts for all metrics, or is in the running sums."""
    kind = {"operating_points": "points"}.get(method, method)
    tried = [asked(QUESTIONS[kind], seed) for seed in range(20)]
    monkeypatch.setattr(where, name, wrong)
    assert any(
        list(questions.find_failures(question, batch, questions.make_tables(batch)))
        for question, batch in tried
        if batch.has_unscored and question.method == method
    )


def test_wrong_fast_ways_means_and_rates_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong are points of one table and of rates, and then areas of one table and their means."""
    rng = np.random.default_rng(0)
    batches = [draw_batch(rng, 8) for _ in range(9)]
    tables = [questions.make_tables(batch) for batch in batches]

    def count_wrong() -> tuple[int, int, int]:
        rng = np.random.default_rng(1)
        n_alone = n_means = 0
        for batch, part in zip(batches, tables, strict=True):
            for alone, asked in random_ways.draw_alone(rng, batch, 4):
                of_one = questions.make_tables(alone)
                n_alone += sum(len([*questions.find_failures(q, alone, of_one)]) for q in asked)
            n_means += len([*random_ways.find_wrong_means(rng, batch, part)])
        return n_alone, n_means, len([*random_ways.find_wrong_rates(rng, 50)])

    assert count_wrong() == (0, 0, 0)
    with monkeypatch.context() as patch:
        patch.setattr(oracle, "metric", lambda name, *_: 0.123)
        assert min(count_wrong()[::2]) > 0
    with monkeypatch.context() as patch:
        patch.setattr(questions.Area, "value", lambda *_: 0.123)
        assert min(count_wrong()[:2]) > 0


def test_no_failures_no_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert explore.main(["--seeds", "0:2", "--tables", "20"]) == 0
    assert "40 tables" in capsys.readouterr().out
