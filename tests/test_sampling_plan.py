"""Which rows to label next: strata, shares of positives, and how labels are shared out."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from polars_prcurve import PrcError
from polars_prcurve.core.curves.sampling_plan import allocate_labels, compute_deviations
from tests.support.profiles import examples

# Worked by hand: rows, shares of positives, flagged or not, labels; S, allocation, planned variance.
WORKED = (
    (
        ([9000, 900, 100], [0.001, 0.02, 0.5], [0, 0, 1], 500),
        ([0.000413665238683, 0.00183229045468, 0.013456105519], [277, 123, 100], 0.0675857293367),
    ),
    (
        ([9000, 900, 100], [0.001, 0.02, 0.5], [0, 1, 1], 500),
        ([0.000413665238683, 0.000376747667004, 0.00134552738216], [400, 50, 50], 0.0354642209998),
    ),
    (
        ([500, 300, 200], [0.05, 0.2, 0.7], [0, 1, 1], 300),
        ([0.00124986349636, 0.0010394265233, 0.00119081268059], [159, 80, 61], None),
    ),
)


@pytest.mark.parametrize(("given", "expected"), WORKED)
def test_worked_allocations(given: Any, expected: Any) -> None:
    n, shares, above, total = given
    n, deviations = np.array(n), compute_deviations(np.array(n), np.array(shares), np.array(above, bool))
    assert deviations.tolist() == pytest.approx(expected[0], rel=2e-12)
    labels = allocate_labels(n, deviations, np.ones_like(n), total)
    assert labels.tolist() == expected[1]
    variance = float((n**2 * (1 - labels / n) * deviations**2 / labels).sum())
    assert expected[2] is None or variance == pytest.approx(expected[2], rel=1e-11)


@st.composite
def strata_of_rows(draw: st.DrawFn) -> tuple[Any, Any, Any, int]:
    size = draw(st.integers(1, 8))
    n = np.array(draw(st.lists(st.integers(1, 500), min_size=size, max_size=size)))
    deviations = np.array(draw(st.lists(st.floats(0, 10), min_size=size, max_size=size)))
    labelled = np.array([draw(st.integers(0, int(rows))) for rows in n])
    return n, deviations, labelled, draw(st.integers(int(labelled.sum()), int(n.sum())))


@examples(300)
@given(strata_of_rows())
@example((np.array([1, 1, 1, 1, 52]), np.zeros(5), np.array([0, 0, 0, 0, 1]), 56))
def test_labels_are_shared_out_within_bounds_and_best(strata: Any) -> None:
    n, deviations, labelled, total = strata
    labels = allocate_labels(n, deviations, labelled, total)
    assert labels.sum() == total
    assert (labelled <= labels).all()
    assert (labels <= n).all()
    least = np.maximum(labelled, np.minimum(50, n))
    if least.sum() >= total or labelled.sum() == 0:
        # The fewest come first: who got one more had no more than others that could have had it.
        more = (labels > labelled).nonzero()[0]
        rest = (labels < n).nonzero()[0]
        assert all(labels[i] <= labels[j] + 1 for i in more for j in rest)
        return
    assert (labels >= least).all()
    # Where neither bound holds a stratum, one label moved to another stratum lowers the variance by
    # no more than rounding costs.
    wanted = n * deviations
    inside = (labels > least) & (labels < n) & (wanted > 0)
    ratio = labels[inside] / wanted[inside]
    slack = 1.000001 / wanted[inside]
    assert (ratio[:, None] <= ratio + slack[:, None] + slack).all()


def table(n: int, seed: int = 3, decimals: int = 6) -> pl.DataFrame:
    """Rows of which one in twenty is labelled."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.05
    score = (rng.normal(size=n) + 2 * truth).round(decimals)
    labelled = rng.random(n) < 0.05
    frame = pl.DataFrame({"score": score, "truth": truth, "labelled": labelled})
    return frame.with_columns(label=pl.when("labelled").then("truth"))


DF = table(10_000)


@pytest.mark.parametrize("strata", [2, 5, 7, 20])
def test_strata_lie_on_one_side_and_hold_all_rows(strata: int) -> None:
    plan = DF.prc.sampling_plan(1.5, budget=300, strata=strata)
    assert plan["stratum"].to_list() == list(range(1, plan.height + 1))
    assert plan["score_low"].is_sorted(descending=True)
    assert ((plan["score_low"] >= 1.5) == (plan["score_high"] >= 1.5)).all()
    edges = plan.sort("score_low").select("score_low", "stratum", "weight")
    joined = DF.sort("score").join_asof(edges, left_on="score", right_on="score_low")
    counts = joined.group_by("stratum").agg(
        n=pl.len().cast(pl.Int64),
        n_labelled=pl.col("label").count().cast(pl.Int64),
        score_high=pl.col("score").max(),
        positive_share=(pl.col("label").sum() + 0.5) / (pl.col("label").count() + 1),
    )
    assert_frame_equal(counts.sort("stratum"), plan.select(counts.columns))
    assert plan["n_next"].sum() == 300
    assert plan["weight"].to_list() == pytest.approx(
        (plan["n"] / (plan["n_labelled"] + plan["n_next"])).to_list()
    )


@pytest.mark.parametrize("strata", [2, 5, 7, 20])
def test_strata_are_finer_near_the_threshold(strata: int) -> None:
    """Each has three times the rows of the nearer one, as far as rows can be cut; the far ends stay."""
    plan = DF.prc.sampling_plan(1.5, budget=300, strata=strata)
    above = plan["score_low"] >= 1.5
    for side, most in (
        (plan.filter(above).reverse(), strata // 2),
        (plan.filter(~above), strata - strata // 2),
    ):
        rows = side["n"].sum()
        expected = [rows * 3**i * 2 / (3**most - 1) for i in range(most)]
        expected = [n for n in expected if n >= 2]  # smaller ones hold a row, or none
        assert side["n"].to_list()[-len(expected) :] == pytest.approx(expected, abs=3)
    assert plan.height in (strata, 16, 17, 18, 19) if strata == 20 else plan.height == strata


@pytest.mark.parametrize("scale", [pl.col("score").exp(), pl.col("score") * 3 - 1])
def test_a_plan_knows_the_order_of_scores_alone(scale: pl.Expr) -> None:
    threshold = pl.DataFrame({"score": [1.5]}).select(scale).item()
    moved = DF.with_columns(scale.alias("score")).prc.sampling_plan(threshold, budget=300)
    plan = DF.prc.sampling_plan(1.5, budget=300)
    ends = ("score_low", "score_high")
    assert_frame_equal(moved.drop(ends), plan.drop(ends), check_exact=True)


def test_doors_dtypes_and_order() -> None:
    rounded = table(3_000, decimals=1)
    plan = rounded.prc.sampling_plan(1, budget=100)
    assert plan["score_low"].n_unique() == plan.height <= 7
    assert rounded.lazy().prc.sampling_plan(1, budget=100).equals(plan)
    assert rounded.reverse().prc.sampling_plan(1, budget=100).equals(plan)
    whole = rounded.with_columns((pl.col("score") * 10).round().cast(pl.Int16))
    of_integers = whole.prc.sampling_plan(9.5, budget=100)
    assert of_integers.schema["score_low"] == pl.Int16
    assert of_integers["n_next"].equals(plan["n_next"])
    words = rounded.with_columns(
        kind=pl.when("labelled").then(pl.when("truth").then(pl.lit("spam")).otherwise(pl.lit("ham")))
    )
    assert words.prc.sampling_plan(1, budget=100, label="kind", pos_label="spam").equals(plan)
    missing = pl.concat([rounded, rounded.head(1).with_columns(score=pl.lit(None, pl.Float64))])
    assert missing.prc.sampling_plan(1, budget=100, missing="drop").equals(plan)


def test_a_budget_of_0_tells_weights_and_one_too_large_labels_all() -> None:
    none = DF.prc.sampling_plan(1.5, budget=0)
    assert none["n_next"].to_list() == [0] * 7
    everything = DF.prc.sampling_plan(1.5, budget=10**9)
    assert everything["weight"].to_list() == [1.0] * 7
    assert everything["n_next"].sum() == DF["label"].null_count()
    few = DF.with_columns(label=pl.when(pl.col("score") > 0.5).then("label"))
    weights = few.prc.sampling_plan(1.5, budget=0)
    assert weights.filter(pl.col("n_labelled") == 0)["weight"].null_count() > 0


@pytest.mark.parametrize("labels", [{"label": None}, {"label": "none"}, {"label": "nulls"}])
def test_a_first_plan_needs_no_labels(labels: Any) -> None:
    bare = DF.drop("label").with_columns(none=pl.lit(None, pl.Boolean), nulls=None)
    plan = bare.prc.sampling_plan(1.5, budget=350, **labels)
    assert plan["n_labelled"].to_list() == [0] * 7
    small = plan.filter(pl.col("n") < 50)  # their rest goes to the others
    assert small["n_next"].to_list() == small["n"].to_list()
    shared = plan.filter(pl.col("n") >= 50)["n_next"]
    assert plan["n_next"].sum() == 350
    assert shared.max() - shared.min() <= 1 or (shared >= 50).all()  # type: ignore[operator]
    assert plan["positive_share"].to_list() == [0.5] * 7


@pytest.mark.parametrize("found", [0, 1, 60])
def test_a_plan_of_labels_of_one_class(found: int) -> None:
    """However few positives a pilot found, or negatives, the next plan shares out what it may."""
    labels = [k < found for k in range(60)]
    frame = DF.with_columns(label=pl.Series(labels + [None] * (DF.height - 60)))
    plan = frame.prc.sampling_plan(1.5, budget=500)
    assert plan["n_next"].sum() == 500
    assert plan["positive_share"].is_between(0, 1, closed="none").all()
    least = pl.min_horizontal("n", pl.lit(50))
    assert plan.select((pl.col("n_labelled") + pl.col("n_next") >= least).all()).item()


REFUSED: dict[str, tuple[pl.DataFrame, dict[str, Any], str]] = {
    "threshold above": (DF, {"threshold": 99}, "no score reaches the threshold"),
    "threshold below": (DF, {"threshold": -99}, "all scores reach the threshold"),
    "threshold NaN": (DF, {"threshold": float("nan")}, "threshold= holds nan"),
    "threshold of text": (DF, {"threshold": "high"}, "threshold= takes numbers"),
    "budget below 0": (DF, {"budget": -1}, "budget= takes a whole number of at least 0"),
    "fewer labels than ranges": (DF.with_columns(label=None), {"budget": 6}, "larger budget=, or fewer"),
    "one stratum": (DF, {"strata": 1}, "strata= takes a whole number of at least 2"),
    "null score": (DF.with_columns(score=pl.lit(None, pl.Float64)), {}, "score column 'score' is null"),
    "no such label": (DF, {"label": "lable"}, "there is no column 'lable' for label="),
    "label of three": (DF.with_columns(label=pl.int_range(pl.len()) % 3), {}, "is not binary"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    frame, given, words = REFUSED[case]
    for door in (frame.prc, frame.lazy().prc):
        with pytest.raises(PrcError, match=words):
            door.sampling_plan(**{"threshold": 1.5, "budget": 10, **given})
