"""Two models, the same rows: missing="drop" leaves an example out for all models, in every method."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from polars_prcurve import PrcError, class_mix, field, prc
from tests.support.page_reader import PageReader

RNG = np.random.default_rng(1)
LABEL = RNG.random(2_000) < 0.2
A = RNG.normal(size=2_000) + 2 * LABEL
B = A + 0.05 * RNG.normal(size=2_000)
WHOLE = pl.DataFrame({"a": A, "b": B, "label": LABEL, "site": np.arange(2_000) % 2})
GAPS = WHOLE.with_columns(b=pl.when(~(pl.col("label") & (pl.col("a") < 1.5))).then("b"))
"""The same model twice, and one of them has no score for the positives that are hard."""
COMPLETE = GAPS.drop_nulls()
BOTH = ["a", "b"]
WIDE: Any = GAPS.prc(score=BOTH, missing="drop")
LONG: Any = GAPS.with_row_index("id").unpivot(
    BOTH, index=["id", "label", "site"], variable_name="model", value_name="score"
)
METHODS: dict[str, dict[str, Any]] = {
    "summary": {"eta": 0.05, "metrics": "average_precision", "confidence": 0.95},
    "operating_points": {"eta": 0.05, "recall": 0.5},
    "curve": {"eta": 0.05, "metrics": "precision"},
    "counts": {},
    "ranking": {"eta": 0.05},
    "compare": {"eta": 0.05, "metrics": "average_precision"},
    "crossings": {},
}


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("frame", ["eager", "lazy"])
@pytest.mark.parametrize("method", METHODS)
def test_a_wide_table_answers_on_complete_rows(method: str, frame: str) -> None:
    table = GAPS if frame == "eager" else GAPS.lazy()
    answers = [
        getattr(rows.prc(score=BOTH, missing=missing), method)(**METHODS[method]).lazy().collect()
        for rows, missing in ((table, "drop"), (COMPLETE, "raise"))
    ]
    assert_frame_equal(*answers)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("method", METHODS)
def test_a_long_table_leaves_examples_out_for_all_models(method: str) -> None:
    complete = LONG.filter(pl.col("score").is_not_null().all().over("id"))
    answers = [
        getattr(rows.prc(model="model", id="id", missing=missing), method)(**METHODS[method])
        for rows, missing in ((LONG, "drop"), (complete, "raise"))
    ]
    assert_frame_equal(*answers)


def test_the_order_of_models_is_the_same_with_and_without_intervals() -> None:
    table = LONG.prc(model="model", id="id", missing="drop")
    orders = [table.ranking(0.05, **words)["model"].to_list() for words in ({}, {"confidence": 0.95})]
    assert orders[0] == orders[1]


def test_groups_keep_examples_of_their_own() -> None:
    """An id that two sites share names two examples."""
    rows = LONG.with_columns(id=pl.col("id") // 2)
    table = rows.prc(model="model", id="id", by="site", missing="drop")
    complete = rows.filter(pl.col("score").is_not_null().all().over("site", "id"))
    expected = complete.prc(model="model", id="id", by="site").summary(0.05, metrics="average_precision")
    assert_frame_equal(table.summary(0.05, metrics="average_precision"), expected)


def test_classes_are_judged_on_the_same_rows() -> None:
    kinds = pl.DataFrame({"kind": ["x", "y", "z"] * 20, "p": range(60), "q": [None, *range(59)]})
    table = kinds.prc(score={"x": "p", "y": "q"}, label="kind", missing="drop")
    summary = table.summary(metrics="average_precision")
    assert (summary["n_pos"] + summary["n_neg"]).to_list() == [59, 59]


def test_a_decision_rests_on_complete_rows_and_tells_which_are_left_out(tmp_path: Any) -> None:
    decision = WIDE.decide(0.05, recall=0.5)
    assert decision.table["tp"].to_list() == [132, 132]
    expected = COMPLETE.prc(score=BOTH).decide(0.05, recall=0.5)
    assert_frame_equal(decision.table, expected.table)
    note = "118 of 2,000 rows are left out (all positive), because a value is missing in them; missing="
    report = PageReader(decision.report(tmp_path / "r.html").read_text("utf-8")).read()
    for text in (decision.say(200), decision.model_card(), report):
        assert note in " ".join(text.replace("\u00a0", " ").replace("\\", "").split())


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("gap", ["score", "label", "weight"])
@pytest.mark.parametrize("is_wide", [True, False])
def test_null_scores_are_ranked_last_only_where_there_are_some(gap: str, is_wide: bool) -> None:
    """The advice can be followed: missing="below" raises for any other value that is missing."""
    n = pl.int_range(pl.len())
    frame = pl.DataFrame(
        {"score": range(300), "other": range(300), "weight": 1.0, "label": [True, False] * 150}
    )
    frame = frame.with_columns(pl.when(n > 0).then(gap).alias(gap))
    words = {"score": ["score", "other"] if is_wide else "score"}
    if gap == "weight":
        words["weight"] = "weight"
    text = " ".join(str(frame.prc(missing="drop", **words).decide(0.1, recall=0.5)).split())
    assert "1 of 300 rows are left out" in text
    assert ('missing="below" ranks null scores last' in text) is (gap == "score")
    if gap == "score":
        frame.prc(missing="below", **words).decide(0.1, recall=0.5)


UNSCORED = pl.DataFrame({"score": range(300), "other": range(300), "label": [True, False] * 150})
UNSCORED = UNSCORED.with_columns(
    pl.when(pl.int_range(pl.len()) > 2).then(pl.col("score", "other").cast(float)),
    n=pl.int_range(pl.len()) // 3,
    kind=pl.when("label").then(pl.lit("cat")).otherwise(pl.lit("dog")),
)
"""Three examples without a score."""
PARTS = pl.DataFrame({"site": ["x", "y"], "share": [0.3, 0.7], "eta": [0.1, 0.2]})
BY_SITE = UNSCORED.with_columns(site=pl.Series(["x", "x", "y", "y", "x"] * 60))
MONTH = prc(UNSCORED.drop("label").drop_nulls(), label=None)
CALLS_WITHOUT_SCORES: dict[str, tuple[pl.DataFrame, dict[str, Any], dict[str, Any]]] = {
    "plain": (UNSCORED, {}, {"eta": 0.1, "recall": 0.5}),
    "its own prevalence": (UNSCORED, {}, {"recall": 0.5}),
    "two models": (UNSCORED, {"score": ["score", "other"]}, {"eta": 0.1, "recall": 0.5}),
    "groups": (BY_SITE, {"by": "site"}, {"eta": 0.1, "recall": 0.5}),
    "a guarantee": (UNSCORED, {}, {"eta": 0.1, "precision": 0.1, "guarantee": 0.9}),
    "a maximum": (UNSCORED, {}, {"eta": 0.1, "maximize": "f1"}),
    "means": (BY_SITE, {}, {"eta": 0.1, "mean_over": "site"}),
    "a field": (BY_SITE, {}, {"eta": field(PARTS, parts="site"), "recall": 0.5}),
    "a class mix": (
        UNSCORED,
        {"score": {"cat": "score", "dog": "other"}, "label": "kind"},
        {"eta": class_mix({"cat": 0.3, "dog": 0.7}), "recall": 0.5},
    ),
    "classes": (
        UNSCORED,
        {"score": {"cat": "score", "dog": "other"}, "label": "kind"},
        {"eta": 0.1, "recall": 0.5},
    ),
    "clusters": (UNSCORED, {"cluster": "n"}, {"eta": 0.1, "recall": 0.5}),
    "unlabelled rows": (UNSCORED, {}, {"eta": MONTH, "recall": 0.5}),
    "NaN": (
        UNSCORED.with_columns(
            score=pl.when(pl.int_range(pl.len()) == 5).then(math.nan).otherwise("score")
        ),
        {"score": ["score", "other"]},
        {"eta": 0.1, "recall": 0.5},
    ),
    "a label, too": (
        UNSCORED.with_columns(label=pl.when(pl.int_range(pl.len()) != 5).then("label")),
        {},
        {"eta": 0.1, "recall": 0.5},
    ),
}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", CALLS_WITHOUT_SCORES)
def test_advice_to_rank_examples_last_is_given_where_it_can_be_followed(name: str) -> None:
    frame, words, question = CALLS_WITHOUT_SCORES[name]
    text = " ".join(str(frame.prc(missing="drop", **words).decide(**question)).split())
    assert "rows are left out" in text
    try:
        frame.prc(missing="below", **words).decide(**question)
        can_be_followed = True
    except PrcError:
        can_be_followed = False
    assert ('missing="below" ranks null scores last' in text) is can_be_followed


def test_models_with_examples_of_their_own_keep_them() -> None:
    apart = LONG.prc(model="model", missing="drop").summary(0.05, metrics="average_precision")
    assert apart["n_pos"].n_unique() == 2


def test_a_score_that_does_not_exist_is_reported_as_ever() -> None:
    with pytest.raises(PrcError, match="no"):
        GAPS.prc(score=["a", "c"], missing="drop").summary()


def test_a_score_may_be_an_expression() -> None:
    rows = LONG.prc(score=-pl.col("score"), model="model", id="id", missing="drop")
    assert rows.summary(0.05, metrics="average_precision").height == 2
