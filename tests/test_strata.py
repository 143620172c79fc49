"""Rows that were drawn by strata: what they count as, what changes nothing, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import cycle
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from polars_prcurve import PrcError, intervals, metrics, prc
from tests.support import oracle_strata as oracle
from tests.support.comparing import assert_same
from tests.support.oracle_errors import raise_end_of_recall, wilson, z_value
from tests.support.oracle_strata import DrawnRow
from tests.support.profiles import examples
from tests.support.tiers import slow_unless

AREAS: Any = ["average_precision", "roc_auc", metrics.precision_at_recall(0.5)]
STRATA: Any = {"weight": "w", "stratum": "s"}
SHARES = {
    "precision": (("tp",), ("fp",)),
    "npv": (("tn",), ("fn",)),
    "accuracy": (("tp", "tn"), ("fp", "fn")),
    "predicted_positive_rate": (("tp", "fp"), ("fn", "tn")),
}


@st.composite
def drawn_rows(draw: st.DrawFn) -> list[DrawnRow]:
    """Rows of a few strata, which lie apart by score, or not, or are the classes."""
    weights = draw(st.lists(st.sampled_from([1, 1.5, 2, 7, 40]), min_size=1, max_size=4))
    kind = draw(st.sampled_from(["scores", "any", "classes"]))
    rows = []
    for stratum, weight in enumerate(weights):
        for _ in range(draw(st.integers(1, 7))):
            score, positive = draw(st.integers(0, 5)), draw(st.booleans())
            if kind == "scores":
                score += 6 * stratum
            if kind == "classes":
                positive = stratum % 2 == 0
            rows.append(DrawnRow(score, positive, stratum, Fraction(weight)))
    if len({row.positive for row in rows}) < 2:
        rows += [DrawnRow(2, not rows[0].positive, "more", Fraction(3)) for _ in range(2)]
    return rows


def table(rows: list[DrawnRow]) -> pl.DataFrame:
    columns = {
        "score": [row.score for row in rows],
        "label": [row.positive for row in rows],
        "s": [str(row.stratum) for row in rows],
        "w": [float(row.weight) for row in rows],
    }
    return pl.DataFrame(columns).with_columns(pl.col("score").cast(pl.Float64))


def ends_of_rate(rate: float, n: float, confidence: float, *, recall: bool) -> tuple[float, float]:
    low, high = wilson(rate, n, z_value(confidence))
    return low, raise_end_of_recall(rate * n, n, high, confidence) if recall else high


def is_near(found: Any, expected: Any) -> bool:
    return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12)


# By definition --------------------------------------------------------------------------------


@examples(300)
@given(drawn_rows())
def test_rates_and_shares_by_definition(rows: list[DrawnRow]) -> None:
    curve = table(rows).prc.curve(metrics=["recall", "fpr", *SHARES], confidence=0.9, **STRATA)
    for row in curve.iter_rows(named=True):
        for name, cells in (("recall", ("tp", "fn")), ("fpr", ("fp", "tn"))):
            rate, n = oracle.rate_size(rows, row["threshold"], *cells)
            ends = ends_of_rate(rate, n, 0.9, recall=name == "recall")
            for end, expected in zip(("low", "high"), ends, strict=True):
                outer = min if end == "low" else max
                assert is_near(row[f"{name}_{end}"], outer(expected, rate)), (name, end)
        for name, cells in SHARES.items():
            found = oracle.share_size(rows, row["threshold"], *cells)
            if found is None:
                assert row[f"{name}_low"] is None
                continue
            share, n = found
            for end, expected in zip(("low", "high"), wilson(share, n, z_value(0.9)), strict=True):
                outer = min if end == "low" else max
                assert is_near(row[f"{name}_{end}"], outer(expected, share)), (name, end)


@examples(100)
@given(drawn_rows(), st.sampled_from([0.001, 0.3]))
def test_precision_at_another_prevalence_by_definition(rows: list[DrawnRow], eta: float) -> None:
    """Distances of both rates on the logit scale, with their correlation."""
    curve = table(rows).prc.curve(eta, metrics="precision", confidence=0.9, **STRATA)
    for row in curve.filter(pl.col("precision").is_between(1e-9, 1 - 1e-9)).iter_rows(named=True):
        (recall, of_recall), (fpr, of_fpr) = (
            oracle.rate_size(rows, row["threshold"], *cells) for cells in (("tp", "fn"), ("fp", "tn"))
        )
        r, f = (ends_of_rate(recall, of_recall, 0.9, recall=True), wilson(fpr, of_fpr, z_value(0.9)))
        if r[0] <= 0 or f[0] <= 0:
            continue
        shared = oracle.rate_correlation(rows, row["threshold"])
        middle = math.log(row["precision"] / (1 - row["precision"]))
        for end, sign, a, b in (
            ("low", -1, math.log(recall / min(r[0], recall)), math.log(max(f[1], fpr) / fpr)),
            ("high", 1, math.log(max(r[1], recall) / recall), math.log(fpr / min(f[0], fpr))),
        ):
            far = middle + sign * math.sqrt(max(a * a + b * b - 2 * shared * a * b, 0))
            assert is_near(row[f"precision_{end}"], 1 / (1 + math.exp(-far))), end


@examples(40)
@given(drawn_rows())
def test_errors_of_areas_by_definition(rows: list[DrawnRow]) -> None:
    """Each row adds what its weight moves, squared; at the own prevalence it moves that, too."""
    frame, step = table(rows).with_row_index("row"), 1e-6
    copies = [
        frame.with_columns(
            copy=pl.lit(2 * i + more),
            w=pl.col("w") * (1 + pl.when(pl.col("row") == i).then(step * (2 * more - 1)).otherwise(0)),
        )
        for i in range(len(rows))
        for more in (0, 1)
    ]
    moved = pl.concat(copies)
    own = frame["w"].dot(frame["label"].cast(float)) / frame["w"].sum()
    for eta in (own, None):
        values = moved.prc.summary(eta, metrics=AREAS[:1], by="copy", weight="w", columns="all")[
            "value"
        ].to_numpy()
        slopes = (values[1::2] - values[::2]) / (2 * step)
        found = frame.prc.summary(eta, metrics=AREAS[:1], confidence=0.9, columns="all", **STRATA)[
            "standard_error"
        ]
        if found.item() is not None:
            assert math.isclose(found.item(), np.hypot.reduce(slopes), rel_tol=1e-4, abs_tol=1e-7), eta


def with_heavy_rows_below(weight: float) -> pl.DataFrame:
    """Rows of two strata, of which the lower one has no positive among its labels."""
    rng = np.random.default_rng(3)
    high, low = rng.normal(2, 1, 60), -5 - rng.random(90)
    label = [*(rng.random(60) < 0.6).tolist(), *[False] * 90]
    columns = {"score": [*high, *low], "label": label}
    return pl.DataFrame({**columns, "s": ["top"] * 60 + ["low"] * 90, "w": [2.0] * 60 + [weight] * 90})


def test_unseen_rows_weigh_what_rows_of_the_strata_do() -> None:
    """A stratum of heavy rows without a positive moves the low end of average precision."""
    light, heavy = (
        with_heavy_rows_below(weight)
        .prc.summary(0.3, metrics=AREAS[:1], confidence=0.95, columns="all", **STRATA)
        .row(0, named=True)
        for weight in (2.0, 50.0)
    )
    assert heavy["value"] > light["value"]  # more negatives are below all positives
    assert heavy["low"] < light["low"]
    assert (light["doubt"], heavy["doubt"]) == (None, "few positives")


# What changes nothing -------------------------------------------------------------------------


def random_rows(n: int = 300, seed: int = 5) -> pl.DataFrame:
    """Rows of three groups, drawn by ranges of their scores."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.3
    frame = pl.DataFrame({"g": rng.integers(0, 3, n), "score": (rng.normal(size=n) + label).round(1)})
    stratum = pl.when(pl.col("score") > 1).then(0).when(pl.col("score") > 0).then(1).otherwise(2)
    frame = frame.with_columns(label=pl.Series(label), s=stratum)
    return frame.with_columns(w=pl.col("s").replace_strict([0, 1, 2], [1.0, 2.5, 12.0]))


def ask(frame: Any, **columns: Any) -> list[Any]:
    door = frame.prc
    return [
        door.curve([0.01, None], metrics=["precision", "npv", "f1", "mcc"], confidence=0.9, **columns),
        door.curve(0.1, thresholds=[-0.55, 0.5, 9.0], confidence=0.9, **columns),
        door.operating_points(
            [0.1, None],
            recall=[0.4, 1.0],
            threshold=0.5,
            per=100,
            confidence=0.9,
            columns="all",
            **columns,
        ),
        door.operating_points(0.1, threshold=9.0, confidence=0.9, columns="all", **columns),
        door.summary([0.01, None], metrics=AREAS, confidence=0.9, columns="all", **columns),
    ]


@cache
def ask_of_strata(by: str | None) -> list[Any]:
    """Return what is asked of rows with strata, once."""
    return ask(random_rows(), by=by, **STRATA)


OF_EXAMPLES = ("tp", "fp", "fn", "tn", "n_pos", "n_neg", "above_chance", "doubt")
"""Sums of weights are floats, and rows with strata have tests and flags of their own."""


def test_strata_that_were_labelled_as_a_whole_are_no_strata() -> None:
    df = random_rows().with_columns(whole=pl.lit(1), float=pl.lit(1.0), one=pl.lit(0))
    plain = ask(df, by="g")
    for stratum, weight in (("one", "float"), ("s", "whole")):
        strata = ask(df, by="g", weight=weight, stratum=stratum)
        for one, other in zip(strata, plain, strict=True):
            tables = (found.drop(OF_EXAMPLES, strict=False) for found in (one, other))
            assert_frame_equal(*tables, rel_tol=1e-9)


def test_negatives_that_were_thinned_out_count_as_many_as_are_there() -> None:
    """Either rate is of one class, and has nearly the interval of the examples in the table."""
    df = random_rows().with_columns(w=pl.when("label").then(1).otherwise(20))
    asked: Any = {"metrics": ["recall", "fpr"], "confidence": 0.9}
    drawn = df.prc.curve(0.1, weight="w", stratum="label", **asked)
    plain = df.prc.curve(0.1, **asked)
    ends = ["recall_low", "recall_high", "fpr_low", "fpr_high"]
    # A variance among n rows is over n - 1.
    assert_frame_equal(drawn.select(ends), plain.select(ends), rel_tol=0.01, abs_tol=0.001)
    # The prevalence is that of all rows, and as sure as if all of them were there.
    all_rows = pl.concat([df, *[df.filter(~pl.col("label"))] * 19])
    own, of_all = (
        door.operating_points(threshold=-9, metrics="precision", confidence=0.9, columns="all")
        for door in (df.prc(weight="w", stratum="label"), all_rows.prc)
    )
    assert own["eta"].item() == pytest.approx(of_all["eta"].item())
    shown = ["precision_low", "precision_high"]
    assert_frame_equal(
        own.select(shown), of_all.select(shown), rel_tol=1e-9
    )  # nothing was left out above


@pytest.mark.parametrize("by", slow_unless(lambda by: by is not None, [None, "g"]))
def test_names_of_strata_do_not_matter(by: Any) -> None:
    renamed = random_rows().with_columns(s=pl.format("{}!", pl.lit(9) - pl.col("s")))
    for one, two in zip(ask_of_strata(by), ask(renamed, by=by, **STRATA), strict=True):
        assert_same(one, two)


def test_groups_are_independent_of_each_other() -> None:
    df = random_rows()
    for g in (0, 2):  # the first group and the last
        alone = ask(df.filter(g=g), **STRATA)
        for one, two in zip(ask_of_strata("g"), alone, strict=True):
            assert_frame_equal(one.filter(g=g).drop("g"), two, rel_tol=1e-12)


def test_whole_weights_equal_floats() -> None:
    df = random_rows().with_columns(w=pl.col("s") * 3 + 1)
    floats = df.with_columns(pl.col("w").cast(pl.Float64))
    for one, two in zip(ask(df, **STRATA), ask(floats, **STRATA), strict=True):
        assert_frame_equal(one, two, rel_tol=1e-12)


# Flags ----------------------------------------------------------------------------------------


def find_why(df: pl.DataFrame, **given: Any) -> str | None:
    asked: Any = {"threshold": 0.5, "confidence": 0.9, **STRATA, **given}
    return df.prc.operating_points(0.1, columns="all", **asked)["doubt"].item()


def test_why_an_interval_may_not_hold() -> None:
    df = random_rows()
    assert find_why(df) is None
    assert find_why(df, threshold=5) == "few labels"
    assert find_why(df, threshold=-9) == "few labels"
    positives = df.filter("label")
    assert find_why(pl.concat([positives.head(9), df.filter(~pl.col("label"))])) == "few positives"
    assert find_why(pl.concat([positives, df.filter(~pl.col("label")).head(9)])) == "few negatives"
    alone = pl.DataFrame({"g": 0, "score": 0.2, "label": False, "s": 7, "w": 30.0}).cast(df.schema)
    assert find_why(pl.concat([df, alone])) == "stratum of one row"
    light = alone.with_columns(w=1.0)
    assert find_why(pl.concat([df, light])) is None


# Differences ----------------------------------------------------------------------------------


def test_differences_at_a_threshold_take_errors_as_independent() -> None:
    df = random_rows().with_columns(other=pl.col("score") + (pl.col("score") * 40).sin())
    door = df.prc(score=["score", "other"], **STRATA)
    points = door.operating_points(
        0.1, threshold=0.5, metrics="precision", confidence=0.9, columns="all"
    )
    a, b = points.sort("model", descending=True).iter_rows(named=True)
    found = door.compare(0.1, threshold=0.5, metrics="precision", confidence=0.9, columns="all").row(
        0, named=True
    )
    below = math.hypot(a["precision"] - a["precision_low"], b["precision_high"] - b["precision"])
    assert found["low"] == pytest.approx(a["precision"] - b["precision"] - below)
    assert found["doubt"] is None


def test_equal_models_have_no_difference() -> None:
    df = random_rows().with_columns(other="score")
    door = df.prc(score=["score", "other"], **STRATA)
    assert not door.compare([0.1, None], columns="all")["significant"].any()
    assert door.ranking(0.1, confidence=0.9, columns="all")["may_be_best"].all()
    assert door.compare([0.1, None], columns="all")["difference"].to_list() == [0.0] * 4


# Refused --------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "null": ({"s": pl.when(pl.col("score") < 1).then("s")}, "stratum column 's' is null in"),
    "unequal weights": (
        {"w": pl.when(pl.int_range(pl.len()) == 7).then(pl.col("w") * 0.99).otherwise("w")},
        r"weight column 'w' is less than elsewhere in its stratum in 1 row",
    ),
    "weights below 1": ({"w": pl.col("w") / 10}, "weight column 'w' is below 1 or above"),
    "infinite weights": (
        {"w": pl.lit(math.inf)},
        "weight column 'w' is negative, infinite, NaN or above",
    ),
}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("case", "by"), [*zip(REFUSED, cycle([None, "g"]), strict=False)])
def test_values_that_are_no_strata(case: str, by: Any) -> None:
    columns, words = REFUSED[case]
    df = random_rows().with_columns(**columns)
    for found in (
        lambda door: door.curve(0.1, by=by, confidence=0.9, **STRATA),
        lambda door: door.summary(0.1, by=by, confidence=0.9, columns="all", **STRATA),
    ):
        with pytest.raises(PrcError, match=words):
            found(df.prc)
        with pytest.raises(pl.exceptions.InvalidOperationError, match=words):
            found(df.lazy().prc).collect()


def test_rows_of_weight_0_and_dropped_rows_are_not_there() -> None:
    df = random_rows()
    weightless = df.head(20).with_columns(w=0.0, s=99)
    holes = df.filter(score=0.3).with_columns(s=pl.lit(None, pl.Int32))
    assert holes.height > 3
    kept = df.filter(pl.col("score") != 0.3)
    more = pl.concat([weightless, kept, holes])
    for one, two in zip(ask(more, missing="drop", **STRATA), ask(kept, **STRATA), strict=True):
        assert_frame_equal(one, two)


def test_what_does_not_take_strata_says_so() -> None:
    df, drawn = random_rows(), intervals(0.9, method="bootstrap", seed=1)
    bound = prc(df, **STRATA)
    with pytest.raises(PrcError, match="ignores strata"):
        bound.summary(0.1, confidence=drawn, columns="all")
    with pytest.raises(PrcError, match="pass confidence= with stratum="):
        df.prc.summary(0.1, columns="all", **STRATA)
    with pytest.raises(PrcError, match="pass weight= with stratum="):
        df.prc.summary(0.1, stratum="s", confidence=0.9, columns="all")
    assert_same(bound.summary(0.1, columns="all"), df.prc.summary(0.1, weight="w", columns="all"))
    assert_same(bound.sample_size(recall=0.5), df.prc.sample_size(recall=0.5, weight="w"))


def test_decisions_have_the_intervals_of_strata() -> None:
    """A decision asks the methods of the bound table, at a best threshold, too."""
    rows = prc(random_rows(), **STRATA)
    points = rows.operating_points(
        0.1, threshold=0.5, metrics="precision", confidence=0.95, columns="all"
    )
    ends = ["precision_low", "precision_high"]
    decided = rows.decide(0.1, threshold=0.5)
    assert decided.table.select(ends).rows() == points.select(ends).rows()
    by_weights = prc(random_rows(), weight="w").decide(0.1, threshold=0.5)
    assert decided.table.select(ends).rows() != by_weights.table.select(ends).rows()
    best = rows.operating_points(0.1, maximize="f1", metrics="precision", confidence=0.95)
    decided = rows.decide(0.1, maximize="f1")
    assert decided.table.select(ends).rows() == best.select(ends).rows()


@pytest.mark.parametrize("seed", range(2))
def test_rows_drawn_by_their_labels_are_in_doubt_where_rows_without_weights_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    label = rng.random(400) < 0.2
    df = pl.DataFrame({"label": label, "score": (rng.normal(size=400) + 2 * label).round(1)})
    df = df.with_columns(w=pl.when("label").then(1.7).otherwise(20))
    every: Any = {"threshold": [*np.arange(-3, 5, 0.2).round(1)], "recall": [0.1, 0.5, 0.9]}
    reasons: set[str | None] = set()
    for targets in (every, {"precision": [0.2, 0.5, 0.9]}, {"alerts": [1, 10, 100], "per": 1000}):
        plain = df.prc.operating_points(0.02, **targets, confidence=0.95)
        drawn = df.prc.operating_points(0.02, **targets, confidence=0.95, weight="w", stratum="label")
        assert drawn["threshold"].to_list() == plain["threshold"].to_list()
        assert drawn["doubt"].to_list() == plain["doubt"].to_list()
        reasons |= {*plain["doubt"]}
    assert reasons >= {None, "few positives", "few false positives"}
