"""Weights are sampling weights: intervals go by sums of squared weights, which counts carry, too."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from polars_prcurve import PrcError, field, intervals, metrics, prc
from tests.support.comparing import assert_same
from tests.support.profiles import examples
from tests.support.strategies import Table, etas, tables
from tests.support.tiers import slow_unless

SUMS = ("n_pos", "n_neg", "n_pos_squares", "n_neg_squares")
AREAS: Any = ["average_precision", "roc_auc", metrics.precision_at_recall(0.6)]
POINTS: Any = ["recall", "fpr", "precision", "npv"]


def worked() -> pl.DataFrame:
    """Scores 9 to 0; all rows above a cut are labelled, and one in five below it."""
    label, weight = [1, 1, 0, 1, 0, 0, 1, 0, 0, 0], [1.0] * 4 + [5.0] * 6
    return pl.DataFrame({"score": range(9, -1, -1), "label": label, "w": weight})


def random_rows(n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(7)
    score, label = rng.normal(size=n), rng.random(n) < 0.3
    weight = np.where(score > 0.5, 1.0, rng.choice([2.0, 7.0], n))
    return pl.DataFrame({"g": rng.integers(0, 3, n), "score": (score + label).round(1)}).with_columns(
        label=pl.Series(label), w=pl.Series(weight)
    )


def ask(frame: pl.DataFrame | pl.LazyFrame, **columns: Any) -> list[Any]:
    door: Any = frame.prc  # type: ignore[union-attr]
    return [
        door.curve([0.01, None], metrics=POINTS, confidence=0.9, **columns),
        door.curve(0.1, thresholds=[-0.55, 0.5, 9.0], confidence=0.9, **columns),
        door.operating_points(
            0.1, recall=[0.4, 1.0], threshold=[0.5, 9.0], confidence=0.9, columns="all", **columns
        ),
        door.summary([0.01, None], metrics=AREAS, confidence=0.9, columns="all", **columns),
        door.sample_size(recall=0.5, **columns, solve_for="eta"),
    ]


# Worked by hand -------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", ["w", "whole"])
def test_intervals_that_were_worked_out(weight: str) -> None:
    df = worked().with_columns(whole=pl.col("w").cast(pl.Int32))
    curve = df.prc.curve(0.1, metrics=["recall", "fpr"], weight=weight, confidence=0.95)
    expected = {
        (6, "recall"): (0.0791697633378, 0.807217415744),
        (6, "fpr"): (0.0061587468261, 0.20520944601),
        (9, "fpr"): (0, 0.128728921859),
        (2, "recall"): (0.294038795978, 1),
    }
    for (score, rate), ends in expected.items():
        row = curve.row(by_predicate=pl.col("threshold") == score, named=True)
        assert [row[f"{rate}_low"], row[f"{rate}_high"]] == pytest.approx(ends, rel=1e-10)
    found = df.prc.summary(
        [0.01, 0.1, 0.5], metrics="average_precision", weight=weight, confidence=0.95, columns="all"
    )
    assert found["value"].to_list() == pytest.approx([0.275780887583, 0.445, 0.802561282212])
    errors = [0.21154253054, 0.209752872448, 0.104937709778]
    assert found["standard_error"].to_list() == pytest.approx(errors)


def test_a_sample_without_a_heavy_positive_is_not_certain() -> None:
    """Half of the positives are above a cut; below it one row in 50 is labelled, and no positive."""
    n = 60
    df = pl.DataFrame(
        {
            "score": [*range(n, 0, -1), *[-1] * 40],
            "label": [True, False] * (n // 2) + [False] * 40,
            "w": [1.0] * n + [50.0] * 40,
        }
    )
    at = {"threshold": 31, "metrics": "recall", "confidence": 0.95, "weight": "w"}
    found = df.prc.operating_points(0.1, columns="all", **at).row(0, named=True)
    assert found["recall"] == 0.5
    # One positive more of weight 50 would have made it 15 / 80.
    assert found["recall_low"] < 15 / 80
    assert not df.prc.summary(0.1, weight="w", confidence=0.95, columns="all")["doubt"].is_null().any()


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("eta", [0.3, 0.01, 1e-5])
@pytest.mark.parametrize("threshold", [1, 2])
def test_weights_by_class_do_not_make_unseen_rows_light(eta: float, threshold: int) -> None:
    """Where no negative is flagged, fpr is as uncertain as without weights that are equal in a class."""
    rows = {"c": 0, "score": [1] * 50 + [0] * 150, "label": [1] * 100 + [0] * 100}
    df = pl.DataFrame(rows)
    frame = pl.DataFrame({"c": [0], "eta": [eta], "share": [1.0]}, schema_overrides={"c": pl.Int32})
    asked: Any = {"threshold": threshold, "metrics": "fpr", "confidence": 0.95}
    plain = df.prc.operating_points(eta, columns="all", **asked)
    weighted = df.prc.reweight(field(frame, parts="c")).prc.operating_points(
        weight="weight", columns="all", **asked
    )
    assert weighted["fpr"].item() == 0
    high, expected = weighted["fpr_high"].item(), plain["fpr_high"].item()
    # Where nothing is flagged, no row tells what one weighs there; all rows do, within a factor of 1.5.
    assert high == pytest.approx(expected, rel=1e-6) if threshold == 1 else high > expected / 1.5
    # The other way round it errs on the safe side: scores may be why negatives weigh more.
    turned = df.with_columns(score=-pl.col("score"), label=~pl.col("label").cast(bool))
    asked |= {"threshold": -0.5, "metrics": "recall"}
    plain = turned.prc.operating_points(1 - eta, columns="all", **asked)
    weighted = turned.prc.reweight(
        field(frame.with_columns(1 - pl.col("eta")), parts="c")
    ).prc.operating_points(weight="weight", columns="all", **asked)
    assert weighted["recall_low"].item() <= plain["recall_low"].item() * (1 + 1e-6)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("n_heavy", "doubt"), [(0, None), (3, "heavy weights"), (40, None)])
@pytest.mark.parametrize("factor", [1, 0.3])
def test_heavy_negatives_that_a_threshold_lacks(n_heavy: int, doubt: str | None, factor: float) -> None:
    """Three of them have the squares of the class, and 40 are as many as a plan would draw."""
    frame = pl.DataFrame({"score": range(500, 0, -1)}).with_columns(
        label=(pl.col("score") % 2 == 0) & (pl.col("score") > 250),
        weight=pl.when(pl.col("score") <= n_heavy).then(20 * factor).otherwise(factor),
    )
    asked: dict[str, Any] = {"weight": "weight", "confidence": 0.95, "columns": "all"}
    for table in (frame.prc, frame.lazy().prc):
        points = table.operating_points(0.1, threshold=450, **asked)
        points = points.collect() if isinstance(points, pl.LazyFrame) else points
        assert points["doubt"].to_list() == [doubt]


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(("heavy", "trusted"), [(5, False), (10, False), (16, True), (60, True)])
def test_roc_auc_rests_on_enough_heavy_rows(heavy: int, trusted: bool) -> None:
    """Most of its error is that of the positives below the cut, which stand for 20 each."""
    rng = np.random.default_rng(heavy)
    weight = np.repeat([1.0, 20.0, 20.0], [2_000, heavy, 4_000])
    score = rng.normal(size=len(weight)) + np.repeat([2.0, 0.0, 0.0], [2_000, heavy, 4_000])
    df = pl.DataFrame({"score": score, "label": np.arange(len(weight)) < 2_000 + heavy, "w": weight})
    found = df.prc.summary(0.1, weight="w", metrics="roc_auc", confidence=0.95, columns="all").row(
        0, named=True
    )
    pos = weight[: 2_000 + heavy]
    by_own, by_other = pos.sum() ** 2 / (pos**2).sum(), pos.sum() / 20
    left_out = 1 - by_other / by_own
    assert by_own**2 / by_other * (1 - found["value"]) > 12
    assert by_own * by_other > 6_000 * left_out
    assert (by_other**2 / by_own >= 20 * left_out) == trusted == (found["doubt"] is None)


# What changes nothing -------------------------------------------------------------------------


@cache
def ask_once(by: str | None, weight: str | None) -> list[Any]:
    """Return what is asked of random rows, once."""
    return ask(random_rows(), by=by, weight=weight)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    "weight", slow_unless(lambda weight: weight != 1.0, [1, 1.0, 2.0, 2.0**-700, 2.0**300])
)
def test_equal_weights_are_no_weights(weight: float) -> None:
    df = random_rows().with_columns(w=pl.lit(weight))
    counts = ("tp", "fp", "fn", "tn", "n_pos", "n_neg")
    for one, other in zip(ask(df, by="g", weight="w"), ask_once("g", None), strict=True):
        # Rows with weights have a test of chance of their own.
        tables = (table.drop(*counts, "above_chance", strict=False) for table in (one, other))
        assert_frame_equal(*tables, rel_tol=1e-10)
    pairs = df.with_columns(other=pl.col("score").sin())
    asked: Any = {"score": ["score", "other"], "by": "g", "eta": 0.1, "metrics": AREAS[:2]}
    assert_same(
        pairs.prc.compare(weight="w", columns="all", **asked), pairs.prc.compare(columns="all", **asked)
    )


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("factor", [0.1, 3.0, 1e90])
def test_the_unit_of_weights_does_not_matter(factor: float) -> None:
    counts = ("tp", "fp", "fn", "tn", "n_pos", "n_neg")
    scaled = random_rows().with_columns(pl.col("w") * factor)
    for pair in zip(ask_once(None, "w"), ask(scaled, weight="w"), strict=True):
        one, other = (table.drop(counts, strict=False) for table in pair)
        assert_frame_equal(one, other, check_exact=False, rel_tol=1e-10)


# Counts of weighted rows ----------------------------------------------------------------------


@examples(40)
@given(tables(weights=["small integers", "floats"], labels=False), etas, st.booleans())
def test_counts_that_are_merged_are_their_rows(table: Table, eta: Any, lazy: bool) -> None:
    given_rows = {"by": table.by or None, "label": table.positive, "weight": "w"}
    # A float that holds the square of 1e5 has no digits left for that of 0.1 beside it.
    weights = table.frame.select(pl.col("w").cast(pl.Float64)).to_series()
    positive = weights.filter(weights > 0)
    assume(positive.is_empty() or positive.max() <= 1e3 * positive.min())
    days = [table.frame[::2], table.frame[1::2]]
    merged: Any = pl.concat([prc(day).counts(**given_rows) for day in days])
    given_sums: Any = {"by": table.by or None, "counts": SUMS}
    door = prc(merged.lazy() if lazy else merged)
    for method, options in (
        ("curve", {"metrics": POINTS}),
        ("summary", {"metrics": AREAS}),
        ("operating_points", {"recall": 0.5, "metrics": POINTS}),
    ):
        asked = {**options, "eta": eta, "confidence": 0.95}
        rows = getattr(prc(table.frame), method)(**asked, **given_rows)
        sums = getattr(door, method)(**asked, **given_sums)
        sums = sums.collect() if lazy else sums
        assert rows.columns == sums.columns
        for name in rows.columns:
            for one, other in zip(rows[name], sums[name], strict=True):
                same = one == other or (one is None and other is None)
                both = isinstance(one, float) and isinstance(other, float)
                close = both and math.isclose(one, other, rel_tol=1e-7, abs_tol=1e-9)
                close = close or (both and math.isnan(one) and math.isnan(other))  # a group
                assert same or close, (method, name, one, other)


def test_counts_merge_into_counts() -> None:
    df = random_rows().with_columns(w=pl.col("w").cast(pl.Int16))
    whole = df.prc.counts(by="g", weight="w")
    assert whole.columns == ["g", "score", *SUMS]
    parts = pl.concat([df[:100], df[100:]]).prc.counts(by="g", weight="w")
    assert_same(parts.prc.counts(by="g", counts=SUMS), whole)
    two = pl.concat([part.prc.counts(by="g", weight="w") for part in (df[:100], df[100:])])
    assert_same(two.prc.counts(by="g", counts=SUMS), whole)


def test_what_counts_of_weights_refuse() -> None:
    counts = random_rows().prc.counts(weight="w")
    with pytest.raises(PrcError, match="n_pos_squares and n_neg_squares"):
        counts.prc.curve(0.1, counts=("n_pos", "n_neg"), confidence=0.95)
    turned = (*SUMS[:2], "n_neg_squares", "n_pos_squares")
    with pytest.raises(PrcError, match="no sum of squared weights beside its count"):
        counts.prc.curve(0.1, counts=turned, confidence=0.95)
    with pytest.raises(PrcError, match=r"bootstrap.* draws examples, and counts= holds sums of weights"):
        counts.prc.summary(
            0.1, counts=SUMS, confidence=intervals(0.95, method="bootstrap", seed=1), columns="all"
        )
    with pytest.raises(PrcError, match="takes two columns"):
        counts.prc.curve(0.1, counts=SUMS[:3])
    with pytest.raises(PrcError, match="guarantee= of alerts= needs independent"):
        counts.prc.operating_points(0.1, counts=SUMS, alerts=5, per=100, guarantee=0.95, columns="all")
    with pytest.raises(PrcError, match="simultaneous"):
        counts.prc.curve(0.1, counts=SUMS, confidence=intervals(0.95, simultaneous=True))


def test_squares_that_are_no_floats_tell_nothing() -> None:
    df = random_rows().with_columns(pl.col("w") * 1e-200)
    counts = df.prc.counts(weight="w")
    assert counts["n_pos_squares"].max() == 0
    found = counts.prc.curve(0.1, counts=SUMS, confidence=0.95)
    assert found["precision_low"].null_count() == found.height
    assert df.prc.curve(0.1, weight="w", confidence=0.95)["precision_low"].null_count() == 0
