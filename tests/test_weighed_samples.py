"""Labelled rows joined to the strata of a plan: what comes back, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest

from polars_prcurve import PrcError, prc
from tests.support.comparing import assert_same


def scored(n: int = 400, labels: int = 120) -> pl.DataFrame:
    """Rows of which some have a label, in no order."""
    rng = np.random.default_rng(11)
    truth = rng.random(n) < 0.2
    frame = pl.DataFrame(
        {"id": range(n), "score": (rng.normal(size=n) + truth).round(1), "truth": truth}
    )
    labelled = pl.col("id").is_in(rng.permutation(n)[:labels].tolist())
    return frame.with_columns(label=pl.when(labelled).then("truth"))


DF = scored()
PLAN = DF.prc.sampling_plan(0.8, budget=50, strata=5)


def find_stratum(score: float) -> int:
    return next(
        row["stratum"]
        for row in PLAN.iter_rows(named=True)
        if row["score_low"] <= score <= row["score_high"]
    )


def test_each_labelled_row_has_its_stratum_and_stands_for_its_share_of_the_rows() -> None:
    found = DF.prc.reweight(plan=PLAN)
    labelled = DF.filter(pl.col("label").is_not_null())
    assert_same(found.select(DF.columns), labelled)
    strata = [find_stratum(score) for score in labelled["score"]]
    assert found["stratum"].to_list() == strata
    all_rows = [find_stratum(score) for score in DF["score"]]
    weights = [all_rows.count(stratum) / strata.count(stratum) for stratum in strata]
    assert found["weight"].to_list() == pytest.approx(weights, rel=1e-14)
    assert found["weight"].sum() == pytest.approx(DF.height)


def test_labels_are_counted_in_the_table_and_not_read_from_the_plan() -> None:
    first = DF.prc.sampling_plan(0.8, budget=50, strata=5, label=None)
    assert first["n_labelled"].to_list() == [0] * 5
    assert_same(DF.prc.reweight(plan=first), DF.prc.reweight(plan=PLAN))
    alone = DF.filter(pl.col("label").is_not_null())
    assert_same(alone.prc.reweight(plan=PLAN), DF.prc.reweight(plan=PLAN))


def test_a_plan_may_be_of_any_kind_and_order() -> None:
    expected = DF.prc.reweight(plan=PLAN)
    for plan in (PLAN.lazy(), PLAN.to_arrow()):
        assert_same(DF.lazy().prc.reweight(plan=plan).collect(), expected)
    assert_same(prc(DF, label="label").reweight(plan=PLAN.sample(fraction=1, shuffle=True)), expected)
    # Rows keep their order, so that `test_plans` cannot turn them.
    turned = DF.reverse().prc.reweight(plan=PLAN)
    assert_same(turned.reverse(), expected)


@pytest.mark.parametrize(
    "dtype", [pl.Float32, pl.Int16, pl.UInt64, pl.Decimal(10, 1), pl.Int128, pl.Boolean], ids=str
)
def test_scores_of_any_dtype(dtype: Any) -> None:
    score = pl.col("score").clip(0, 3) * 10
    score = (score > 5) if dtype == pl.Boolean else score.round().cast(dtype)
    df = DF.with_columns(score=score)
    threshold = 1 if dtype == pl.Boolean else Decimal(7) if dtype == pl.Decimal else 7
    plan = df.prc.sampling_plan(threshold, budget=9, strata=4)
    found = df.prc.reweight(plan=plan)
    sizes = plan.select("stratum", "n").join(
        found.group_by("stratum").agg(labels=pl.len()), on="stratum"
    )
    weights = found.join(sizes, on="stratum", maintain_order="left").select(
        pl.col("n") / pl.col("labels")
    )
    assert found["weight"].to_list() == weights.to_series().to_list()
    as_floats = plan.with_columns(pl.col("score_low", "score_high").cast(pl.Float64))
    assert_same(df.prc.reweight(plan=as_floats), found)


def test_the_sample_knows_the_table() -> None:
    """What was weighed has the prevalence, and the alerts, of all rows, within its intervals."""
    sample = DF.prc.reweight(plan=PLAN).prc(weight="weight", stratum="stratum")
    found = sample.operating_points(
        threshold=0.8, metrics="precision", confidence=0.95, per=DF.height, columns="all"
    )
    row = found.row(0, named=True)
    flagged = (DF["score"] >= 0.8).sum()
    assert row["alerts"] == pytest.approx(flagged)
    assert row["recall_low"] < row["recall"] < row["recall_high"]
    assert row["precision_low"] < row["precision"] < row["precision_high"]


def test_missing_scores_raise_or_are_dropped() -> None:
    holes = DF.with_columns(score=pl.when(pl.col("id") != 3).then("score"))
    with pytest.raises(PrcError, match=r"score column 'score' is null in 1 row"):
        holes.prc.reweight(plan=PLAN)
    kept = holes.filter(pl.col("id") != 3)
    assert_same(holes.prc.reweight(plan=PLAN, missing="drop"), kept.prc.reweight(plan=PLAN))


LOW = PLAN["score_low"].min()
BEYOND = DF.with_columns(score=pl.when(pl.col("id") < 3).then(99.0).otherwise("score"))
BARE = DF.with_columns(label=pl.when(pl.col("score") >= 0.8).then("label"))
REFUSED: dict[str, tuple[pl.DataFrame, Any, str]] = {
    "a score above all strata": (BEYOND, PLAN, r"in no stratum of the plan in 3 rows, such as 99.0"),
    "a score between strata": (DF, PLAN.filter(pl.col("stratum") != 2), "is in no stratum of the plan"),
    "a stratum without labels": (BARE, PLAN, r"rows? and no label; label as many"),
    "more labels than rows": (
        DF, PLAN.with_columns(n=pl.lit(1)), r"has 1 row and \d+ labels; make the plan"
    ),
    "strata that overlap": (DF, PLAN.with_columns(score_low=pl.lit(LOW)), "strata that do not overlap"),
    "a stratum twice": (DF, PLAN.with_columns(stratum=1), "strata that do not overlap"),
    "no strata": (DF, PLAN.head(0), r"a row per stratum, with whole numbers; got 0 rows"),
    "a null": (DF, PLAN.with_columns(n=pl.lit(None, pl.Int64)), r"5 nulls, and n of Int64"),
    "no whole numbers": (DF, PLAN.with_columns(n=pl.col("n") + 0.5), "n of Float64"),
    "no plan": (DF, DF, "it has no stratum, score_low, score_high, n"),
    "no frame": (DF, 3, "the table of sampling_plan"),
    "text": (DF, PLAN.with_columns(score_low=pl.lit("low")), "plan= takes numbers"),
    "a column of that name": (DF.with_columns(weight=1), PLAN, "drop or rename the column 'weight'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    frame, plan, words = REFUSED[case]
    with pytest.raises(PrcError, match=words):
        frame.prc.reweight(plan=plan)
    with pytest.raises((PrcError, pl.exceptions.InvalidOperationError), match=words):
        frame.lazy().prc.reweight(plan=plan).collect()


def test_a_row_of_a_stratum_without_labels_is_not_forgotten_in_a_lazy_query() -> None:
    query = BARE.lazy().prc.reweight(plan=PLAN)
    for shape in (
        query.select(pl.len()),
        query.head(1),
        query.select("weight"),
        query.filter(pl.lit(False)),
    ):
        with pytest.raises(pl.exceptions.InvalidOperationError, match="no label"):
            shape.collect()


def test_further_columns_stay_as_they_are() -> None:
    odd = DF.with_columns(pl.lit(1).alias("^s.*$"), pl.lit("x").alias("*"))
    found = odd.prc.reweight(plan=PLAN)
    assert found.columns == [*odd.columns, "stratum", "weight"]
    assert found["*"].to_list() == ["x"] * found.height
