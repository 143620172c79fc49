"""Words about a table are said once: bound or said in a call, they mean the same in every method."""

from __future__ import annotations

import copy
import inspect
import pickle
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import polars_prcurve
from polars_prcurve import DataFramePrc, ExprPrc, PrcError, intervals, prc
from polars_prcurve.core.binding.argument_rules import USES
from polars_prcurve.core.binding.shared_arguments import (
    CHART_WORDS,
    TABLE_WORDS,
    TARGET_WORDS,
    ExpressionWords,
)
from polars_prcurve.core.sweep import sweep_table
from polars_prcurve.doors.namespace.plot import PlotPrc
from tests.support.arguments import PLOTS
from tests.support.comparing import assert_same
from tests.support.plain_calls import DF, OTHERS, PLAIN, RISKS
from tests.support.tiers import slow_unless

METHODS = {name: call for name, call in PLAIN.items() if name in USES}
CHARTS = {
    f"plot.{name}": (RISKS if name in ("decision_curve", "reliability") else DF, {"by": "day", **plain})
    for name, plain in PLOTS.items()
}
QUICK_CHARTS = ("plot.pr_curve", "plot.roc_curve", "plot.metric_by_eta", "plot.p3_curve")
CALLS: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {**METHODS, **CHARTS}


def split_words(plain: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the words about the table, and the other arguments of a plain call."""
    table = {name: value for name, value in plain.items() if name in TABLE_WORDS}
    return table, {name: value for name, value in plain.items() if name not in TABLE_WORDS}


def ask(door: Any, name: str, /, **plain: Any) -> Any:
    """Return what a method answers, as a frame; of a chart the specification."""
    seed = {"seed": 1} if name == "subsample_negatives" else {}
    answer = attrgetter(name)(door)(**plain, **seed)
    if name.startswith("plot."):
        return answer.to_dict()
    return answer.collect() if isinstance(answer, pl.LazyFrame) else answer


def assert_equal(found: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert found == expected
    else:
        assert_same(found, expected)


@pytest.mark.quick_cases(7)
@pytest.mark.parametrize("name", slow_unless(lambda name: name in (*METHODS, *QUICK_CHARTS), CALLS))
def test_bound_words_mean_what_said_words_do(name: str) -> None:
    table, plain = CALLS[name]
    words, others = split_words(plain)
    said = ask(prc(table), name, **plain)
    bound = prc(table, **words, missing="raise")
    for _ in range(1 if name in CHARTS else 2):  # the second time from what was kept
        assert_equal(ask(bound, name, **others), said)
    assert_equal(ask(prc(table.lazy(), **words), name, **others), said)


@pytest.mark.parametrize("name", [name for name, call in OTHERS.items() if call[0] in USES])
def test_bound_words_mean_what_said_words_do_in_other_answers(name: str) -> None:
    method, table, plain = OTHERS[name]
    words, others = split_words(plain)
    said = ask(prc(table), method, **plain)
    assert_equal(ask(prc(table, **words, missing="raise"), method, **others), said)
    assert_equal(ask(prc(table.lazy(), **words), method, **others), said)


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("name", METHODS)
def test_a_said_word_replaces_the_bound_one_and_none_takes_it_away(name: str) -> None:
    table, plain = CALLS[name]
    words, others = split_words(plain)
    table = table.with_columns(decoy=pl.lit("x"), half=pl.int_range(pl.len()) % 2)
    groups = {"by": "half"} if "by" in USES[name] and name not in ("compare", "reweight") else {}
    scores = {} if name in ("compare", "estimate_prevalence") else {"score": "half"}
    bound = prc(table, **groups, **scores, missing="drop")
    said = {"score": "score", "by": None, "missing": "raise", **words}
    takes = {word: value for word, value in said.items() if word in USES[name]}
    expected = ask(table.prc, name, **words, **others)
    assert_same(ask(bound, name, **takes, **others), expected)
    assert_same(ask(bound(**takes), name, **others), expected)
    if "by" in words and name != "reweight":
        lone = {word: value for word, value in words.items() if word != "by"}
        alone = ask(table.prc, name, **lone, **others)
        assert_same(ask(prc(table, **words), name, by=None, **others), alone)
        assert_same(ask(prc(prc(table, **words), by=None), name, **others), alone)


HELD: dict[str, Any] = {
    **{"by": "day", "model": "model", "id": "id", "weight": "w", "cluster": "id", "stratum": "id"},
    **{"counts": ("id", "id"), "rates": ("w", "w"), "cells": ("id", "id", "id", "id")},
}


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("name", METHODS)
def test_a_word_that_a_method_has_no_use_for(name: str) -> None:
    """Bound, it is passed over if it cannot change the answer; said, it always raises."""
    table, plain = CALLS[name]
    table = table.with_columns(DF[: table.height].select(pl.exclude(*table.columns)))
    expected = ask(table.prc, name, **plain)
    for word in HELD.keys() - USES[name]:
        raises = pytest.raises(PrcError, match=rf"^leave out {word}=, which {name}\(\) does not take; ")
        with raises:
            ask(table.prc, name, **plain, **{word: HELD[word]})
        bound = table.prc(**{word: HELD[word]})
        if word in ("id", "cluster", "stratum") and (name, word) != ("monitor", "cluster"):
            assert_same(ask(bound, name, **plain), expected)
        else:
            with raises:
                ask(bound, name, **plain)


def test_clusters_and_pairs_are_passed_over_where_no_interval_is_asked_for() -> None:
    bound = DF.prc(id="id", cluster="id")
    for name in ("curve", "summary", "operating_points", "ranking"):
        plain = {word: value for word, value in CALLS[name][1].items() if word != "by"}
        assert_same(ask(bound, name, **plain), ask(DF.prc, name, **plain))
        with pytest.raises(PrcError, match="pass confidence= with cluster="):
            ask(DF.prc, name, **plain, cluster="id")


def fail(_: pl.DataFrame) -> pl.DataFrame:
    raise AssertionError("collected")


LAZY = DF.lazy().map_batches(fail, schema=DF.schema)
"""A query that says what it holds, and may not run."""


@pytest.mark.parametrize("frame", [DF, LAZY], ids=["eager", "lazy"])
def test_binding_finds_mistakes_and_collects_nothing(frame: Any) -> None:
    odd = "wrong"
    words: dict[str, Any] = {
        **dict.fromkeys(("score", "label", "by", "model", "id", "weight", "stratum", "cluster"), odd),
        **{"counts": (odd, "id"), "rates": ("w", odd), "cells": ("id", "id", "id", odd)},
    }
    for word, value in words.items():
        with pytest.raises(PrcError, match=rf"^there is no column 'wrong' for {word}="):
            frame.prc(**{word: value})
    for models in (["score", odd], {True: "score", False: odd}):
        with pytest.raises(PrcError, match=r"^there is no column 'wrong' for score="):
            frame.prc(score=models)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"score": "model"}, "score column 'model' is Enum"),
        ({"label": ["label"]}, "label= takes a column name or an expression"),
        ({"by": pl.col("score").alias("^a$")}, "of by=: Polars reads it as a pattern"),
        ({"model": pl.all()}, "model= must be one column"),
        ({"counts": ("id",)}, "counts= takes two columns"),
        ({"cells": ("id", "id")}, "cells= takes four columns"),
        ({"missing": "skip"}, "missing= takes"),
    ]
    for bound, sentence in wrong:
        with pytest.raises(PrcError, match=sentence):
            frame.prc(**bound)
    with pytest.raises(TypeError, match="takes arguments by name only; got a positional one, "):
        frame.prc("score")
    assert "score='score', by='day'" in repr(frame.prc(score="score", by="day"))


def test_a_lazy_frame_stays_lazy_and_an_expression_is_not_bound() -> None:
    bound = LAZY.prc(by="day")(weight="w")
    queries = [
        bound.counts(),
        bound.summary(0.1, columns="all"),
        bound.ranking(0.1, by=None, columns="all"),
        prc(bound).curve(0.1),
    ]
    assert all(isinstance(query, pl.LazyFrame) for query in queries)
    for wrong in (pl.col("score").prc, lambda **words: prc(pl.col("score"), **words)):
        with pytest.raises(PrcError, match="an expression stores no arguments"):
            wrong(label="label")


def test_a_bound_table_is_a_snapshot_that_pickles_without_counts() -> None:
    df = DF.clone()
    bound = df.prc(by="day")
    before = bound.summary(0.1, columns="all")
    df.extend(DF)
    df[0, "score"] = 100
    assert_same(bound.summary(0.1, columns="all"), before)
    assert_same(bound.counts(), DF.prc.counts(by="day"))
    for again in (pickle.loads(pickle.dumps(bound)), copy.copy(bound), copy.deepcopy(bound)):
        assert len(again._tables) == 0
        assert repr(again) == repr(bound)
        assert_same(again.summary(0.1, columns="all"), before)


def test_a_table_bound_without_words_keeps_what_it_counted() -> None:
    df = DF.clone()
    bound, plain = prc(df), df.prc
    before = bound.sweep()
    assert_same(plain.sweep(), before)
    assert bound._tables
    assert plain._tables is None
    df[0, "score"] = 100
    assert_same(bound.sweep(), before)
    assert not plain.sweep().equals(before)


def test_a_bound_table_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither intervals nor metrics at targets, nor tests against chance, count it anew."""
    counted, sum_rows = [], sweep_table._sum_rows

    def count(*args: Any, **named: Any) -> Any:
        counted.append(args)
        return sum_rows(*args, **named)

    monkeypatch.setattr(sweep_table, "_sum_rows", count)
    bound, metrics = DF.prc(by="day"), ["average_precision", "recall_at_precision(0.5)"]
    for confidence in (0.95, None):
        bound.summary(0.1, metrics=metrics, confidence=confidence)
        bound.operating_points(0.1, precision=0.5, confidence=confidence)
    bound.operating_points(0.1, precision=0.5, guarantee=0.9)
    DF.select("score", "label").prc.decide(0.1, precision=0.5)
    assert len(counted) == 2


def test_a_bound_table_is_a_table_for_other_libraries() -> None:
    assert_same(pl.DataFrame(DF.prc(by="day")), DF)
    assert_same(pl.DataFrame(DF.prc), DF)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("kind", ["frame", "lazy", "arrow"])
def test_what_is_kept_is_of_these_very_words(kind: str) -> None:
    """Frames of `below=` that are there for one call each may all be at one place in memory."""
    make = {"frame": pl.DataFrame, "lazy": pl.LazyFrame, "arrow": lambda of: pl.DataFrame(of).to_arrow()}
    bound = pl.DataFrame({"g": [1, 1], "score": [0.9, 0.1], "label": [1, 0]}).prc(by="g")
    for n in range(20):
        below = make[kind]({"g": [1, *range(2, 40)], "n_pos": [0] * 38 + [n], "n_neg": [n] + [0] * 38})
        found = bound.summary(metrics="average_precision", below=below, columns="all")
        assert found["n_neg"][0] == n + 1
        assert found["n_pos"].sum() == n + 1


def test_a_table_that_was_read_is_found_by_what_its_arguments_say_now() -> None:
    df = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": [1, 2, 1, 2], "score": [4, 3, 2, 1]})
    df = df.with_columns(label=pl.col("score") % 2)
    groups = ["a"]
    bound = df.prc(by=groups)
    assert_same(bound.counts(), df.prc.counts(by="a"))
    assert_same(bound.counts(by=pl.col("b") * 2), df.prc.counts(by=pl.col("b") * 2))
    assert_same(bound.counts(by=pl.col("b") * 3), df.prc.counts(by=pl.col("b") * 3))
    assert len(bound._tables) == 3
    assert_same(bound.sweep(by=pl.col("b") * 3), df.prc.sweep(by=pl.col("b") * 3))
    assert len(bound._tables) == 3  # an expression that says the same, made anew
    groups[0] = "b"
    assert_same(bound.counts(), df.prc.counts(by="b"))
    for positive in (1, 1.0, True):
        assert_same(bound.counts(pos_label=positive), df.prc.counts(by="b", pos_label=positive))


@pytest.mark.parametrize("name", ["n_pos", "metric", "tp"])
def test_a_group_may_have_the_name_of_a_column_that_a_stage_adds(name: str) -> None:
    """Of a ranking these are columns of the summary, or of the points, that it is made of."""
    df = pl.DataFrame({"g": ["x"] * 4, "label": [1, 0, 1, 0], "p": [4, 3, 2, 1], "q": [3, 4, 1, 2]})
    target = {"recall": 0.5, "metric": "precision"} if name == "tp" else {}
    ranking, plain = (
        df.rename({"g": group}).prc(by=group, score=["p", "q"]).ranking(0.1, columns="all", **target)
        for group in (name, "g")
    )
    assert_same(ranking, plain.rename({"g": name}))
    with pytest.raises(PrcError, match="rename the column 'eta' of by="):
        df.rename({"g": "eta"}).prc(by="eta", score=["p", "q"]).ranking(0.1, **target)


def test_intervals_are_values() -> None:
    assert intervals(0.95) == intervals(0.95, method="analytic")
    assert len({intervals(0.9), intervals(0.9), intervals(0.9, rate="jeffreys")}) == 2
    assert intervals(0.95) != 0.95
    assert pickle.loads(pickle.dumps(intervals(0.9, seed=1, method="bootstrap"))).seed == 1
    bound = DF.prc(by="day")
    assert_same(bound.curve(0.1, confidence=intervals(0.9)), bound.curve(0.1, confidence=0.9))
    for wrong in ({"seed": 1}, {"method": "bootstrap", "rate": "jeffreys"}, {"level": 95}):
        with pytest.raises(PrcError):
            intervals(**wrong)


def count_own(function: Any) -> int:
    """Return the number of arguments that a function names itself, without the words of a group."""
    code = inspect.unwrap(function).__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return len(set(names) - {"self"})


def test_the_door_is_no_wider_than_it_may_be() -> None:
    """Own arguments of each method, and each shared word once: a new one has to earn its place."""

    def count(*owners: Any) -> int:
        names = {name: getattr(owner, name) for owner in owners for name in dir(owner) if name[0] != "_"}
        return sum(count_own(value) for value in names.values() if inspect.isfunction(value))

    public = SimpleNamespace(**{name: getattr(polars_prcurve, name) for name in polars_prcurve.__all__})
    slots = {
        "names": len([name for name in dir(DataFramePrc) if not name.startswith("_")]),
        "frame methods": count(DataFramePrc),
        "words of the table": len(TABLE_WORDS),
        "targets": len(TARGET_WORDS),
        "charts": count(PlotPrc),
        "words of charts": len(CHART_WORDS),
        "functions": count(public),
        "expressions": count(ExprPrc),
        "words of rows": len(ExpressionWords.__annotations__),
    }
    most = dict(zip(slots, (20, 95, 15, 11, 48, 5, 109, 45, 2), strict=True))
    assert not {name: n for name, n in slots.items() if n > most[name]}, slots
