"""Prevalences that are estimates: `eta_from_sample`, frames with eta_low and eta_high, and intervals.

Each interval is compared with its definition in plain numbers: distances to the ends of recall, of fpr
and of eta in quadrature, on the scale of the metric (Zou and Donner 2008).
"""

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve import PrcError, eta_from_sample, intervals, metrics, rate_interval
from tests.support.all_metrics import ALL_POINT_METRICS
from tests.support.comparing import assert_same
from tests.support.oracle_uncertain_eta import Sample, widened_area, widened_band
from tests.support.profiles import examples
from tests.support.tiers import slow_unless

METRICS = [metric for metric in ALL_POINT_METRICS if metric.falls_with_fpr]
FEW = ["precision", "npv", "mcc", "lift", "f1"]
AT_RECALL = metrics.precision_at_recall(0.5)
DF = pl.DataFrame(
    {
        "market": ["de", "de", "de", "fr", "fr", "fr", "fr", None, None],
        "score": [0.9, 0.2, 0.5, 0.4, 0.7, 0.1, 0.8, 0.3, 0.6],
        "label": [1, 0, 1, 1, 0, 0, 1, 0, 1],
    }
)
THREE = ["eta_low", "eta_high", "eta_confidence"]


def two_scores(p: int, n: int, tp: int, fp: int) -> pl.DataFrame:
    """Counts of P positives and N negatives, of which tp and fp have the higher score."""
    return pl.DataFrame({"score": [1.0, 0.0], "n_pos": [tp, p - tp], "n_neg": [fp, n - fp]})


def uncertain(eta: Any, low: Any, high: Any, **others: Any) -> pl.DataFrame:
    """A frame of prevalences with their intervals."""
    frame = {"eta": eta, "eta_low": low, "eta_high": high}
    given = pl.DataFrame({name: np.atleast_1d(column).tolist() for name, column in frame.items()})
    return given.cast(pl.Float64).with_columns(**{k: pl.Series(v) for k, v in others.items()})


# eta_from_sample ------------------------------------------------------------------------------


def test_a_sample_gives_its_rate_and_wilsons_interval() -> None:
    found = eta_from_sample([0, 3, 30, 30], [10, 200, 200, 30], confidence=0.9)
    low, high = rate_interval([0, 3, 30, 30], [10, 200, 200, 30], confidence=0.9)
    expected = {
        "eta": [0, 0.015, 0.15, 1],
        "eta_low": low,
        "eta_high": high,
        "eta_confidence": [0.9] * 4,
    }
    assert_same(found, pl.DataFrame(expected, schema=dict.fromkeys(expected, pl.Float64)))


def test_numbers_sequences_and_frames_give_the_same() -> None:
    expected = eta_from_sample(5, 50)
    assert_same(eta_from_sample(k=5, n=50), expected)
    assert_same(eta_from_sample([5], 50), expected)
    assert_same(eta_from_sample(pl.Series([5]), np.array([50])), expected)
    assert_same(eta_from_sample(pl.DataFrame({"k": [5], "n": [50]})), expected)
    assert_same(eta_from_sample(5, [50, 50, 50]), pl.concat([expected] * 3))


def test_a_frame_keeps_its_other_columns_and_is_as_lazy_as_it_was() -> None:
    frame = pl.DataFrame({"found": [5, 1], "market": ["de", "fr"], "of": [50, 40]}, strict=False)
    found = eta_from_sample(frame, k="found", n="of")
    assert found.columns == ["market", "eta", *THREE]
    assert_same(found.drop("market"), eta_from_sample([5, 1], [50, 40]))
    lazy = eta_from_sample(frame.lazy(), k="found", n="of")
    assert_same(lazy.collect(engine="streaming"), found)
    assert_same(eta_from_sample(frame.head(0), k="found", n="of"), found.head(0))


@pytest.mark.parametrize(
    ("k", "n"), [(5, 4), (0, 0), (-1, 3), (math.nan, 3), (1, math.nan), (1, math.inf), (None, 3)]
)
def test_impossible_samples_raise(k: Any, n: Any) -> None:
    frame = pl.DataFrame({"k": [1, k], "n": [2, n]}, schema={"k": pl.Float64, "n": pl.Float64})
    sentence = r"needs 0 <= k <= n and n > 0, and no nulls; got others in 1 row"
    with pytest.raises(PrcError, match=sentence):
        eta_from_sample(frame)
    with pytest.raises(pl.exceptions.InvalidOperationError, match=sentence):
        eta_from_sample(frame.lazy()).collect()
    if k is not None:
        with pytest.raises(PrcError, match=sentence):
            eta_from_sample([1, k], [2, n])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (lambda: eta_from_sample(5), "takes k and n, or a frame"),
        (lambda: eta_from_sample(n=5), "takes k and n, or a frame"),
        (lambda: eta_from_sample(5, 6, k=4), "takes k and n, or a frame"),
        (lambda: eta_from_sample("5", 6), "k takes numbers; got '5'"),
        (lambda: eta_from_sample([1, 2], [3, 4, 5]), "their lengths are 2 and 3"),
        (lambda: eta_from_sample([[1]], 5), "numbers, or sequences of numbers"),
        (lambda: eta_from_sample(5, 50, confidence=95), "a level between 0 and 1"),
        (lambda: eta_from_sample(pl.DataFrame({"a": [1]})), "numeric columns 'k' and 'n'"),
        (lambda: eta_from_sample(pl.DataFrame({"k": ["1"], "n": [2]})), "numeric columns"),
        (lambda: eta_from_sample(pl.DataFrame({"k": [1], "n": [2]}), k=3), "k= takes text"),
        (
            lambda: eta_from_sample(pl.DataFrame({"k": [1], "n": [2], "eta": [0.5]})),
            "rename the column 'eta' of the frame",
        ),
    ],
)
def test_what_is_no_sample_raises(given: Any, sentence: str) -> None:
    with pytest.raises(PrcError, match=sentence):
        given()


# Frames of uncertain prevalences --------------------------------------------------------------


def test_the_three_columns_stand_after_eta_in_every_result() -> None:
    frame = eta_from_sample(
        pl.DataFrame({"source": ["a", "b"], "k": [1, 5], "n": [50, 50]})
    )  # source is carried, too
    results = [
        DF.prc.curve(frame),
        DF.prc.curve(frame, confidence=0.95, long=True),
        DF.prc.operating_points(frame, recall=0.5, columns="all"),
        DF.prc.operating_points(frame, recall=0.5, confidence=0.95, by="market", columns="all").drop(
            "market"
        ),
        DF.prc.summary(frame, columns="all"),
        DF.prc.summary(frame, confidence=0.95, columns="all"),
    ]
    for result in results:
        assert result.columns[:5] == ["eta", *THREE, "source"]
        assert result["eta_high"].n_unique() == 2


def test_without_a_level_of_its_own_an_interval_has_that_of_confidence() -> None:
    frame = uncertain([0.1, 0.2], [0.05, None], [0.15, None])
    assert DF.prc.summary(frame, metrics="roc_auc", columns="all")["eta_confidence"].to_list() == [
        None,
        None,
    ]
    found = DF.prc.summary(frame, metrics="roc_auc", confidence=0.9, columns="all")
    assert found["eta_confidence"].to_list() == [0.9, None]


def test_an_exact_eta_among_uncertain_ones_gives_the_same_bits() -> None:
    frame = uncertain([0.1, 0.1, None], [None, 0.05, None], [None, 0.15, None])
    columns = ["eta", *THREE]
    for call in (
        lambda eta: DF.prc.curve(eta, confidence=0.9, metrics=FEW),
        lambda eta: DF.prc.operating_points(
            eta, confidence=0.9, metrics=FEW, threshold=[0.2, 0.5], columns="all"
        ),
        lambda eta: DF.prc.summary(
            eta, confidence=0.9, metrics=["average_precision", AT_RECALL], columns="all"
        ),
    ):
        found = call(frame)
        exact = found.filter(pl.col("eta_low").is_null())
        assert_same(exact.drop(columns[1:]), call([0.1, None]))
        assert exact["eta_confidence"].null_count() == exact.height < found.height


@pytest.mark.parametrize(
    "query",
    [
        lambda p, eta: p.summary(eta, by="market", metrics="roc_auc", columns="all"),
        lambda p, eta: p.operating_points(eta, by="market", recall=0.5, columns="all"),
        lambda p, eta: p.curve(eta, by="market", thresholds=[0.5]),
        lambda p, eta: p.ranking(eta, by="market", model="half", columns="all"),
        lambda p, eta: p.compare(
            eta, score=["score", "half"], by="market", metrics="roc_auc", columns="all"
        ),
    ],
    ids=["summary", "operating_points", "curve", "ranking", "compare"],
)
def test_rows_that_differ_in_a_carried_column_are_results_of_their_own(query: Any) -> None:
    """They come in the order of the frame after eta."""
    eta = pl.DataFrame({"eta": [0.5, 0.1, 0.1, 0.5], "month": ["d", "c", "a", "b"]})
    df = DF.with_columns(half=(pl.col("score") * 10 % 2).round(1))
    found = query(df.prc, eta)
    for group in found.partition_by("market", maintain_order=True):
        assert group["month"].rle().struct["value"].to_list() == ["c", "a", "d", "b"]


def test_rows_that_differ_in_nothing_are_repeats() -> None:
    frame = pl.DataFrame({"eta": [0.1, 0.1], "month": ["a", "a"]})
    with pytest.raises(PrcError, match="repeats a group and eta in 2 row"):
        DF.prc.summary(frame, columns="all")
    both = pl.concat([eta_from_sample(1, 10), eta_from_sample(5, 50)])
    assert DF.prc.summary(both, metrics="roc_auc", columns="all").height == 2
    with pytest.raises(PrcError, match="repeats a group and eta in 2 row"):
        DF.prc.summary(pl.concat([both, both[:1]]), columns="all")


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (
            pl.DataFrame({"eta": [0.1], "eta_low": [0.05]}),
            r"add the column 'eta_high' .*which has 'eta_low'",
        ),
        (
            pl.DataFrame({"eta": [0.1], "eta_high": [0.5]}),
            r"add the column 'eta_low' .*which has 'eta_high'",
        ),
        (
            pl.DataFrame({"eta": [0.1], "eta_confidence": [0.5]}),
            r"add the column 'eta_low' .*which has 'eta_confidence'",
        ),
        (
            pl.DataFrame({"eta": [0.1], "eta_low": ["a"], "eta_high": [0.5]}),
            "is String; expected numbers",
        ),
        (uncertain(0.1, 0.05, None), "holds one of eta_low and eta_high and not the other"),
        (uncertain(None, 0.05, 0.1), "beside a null eta"),
        (uncertain(0.1, 0.2, 0.3), "does not hold 0 <= eta_low <= eta <= eta_high <= 1 in 1 row"),
        (uncertain(0.1, 0.05, 0.09), "does not hold 0 <= eta_low"),
        (uncertain(0.1, -0.05, 0.2), "does not hold 0 <= eta_low"),
        (uncertain(0.1, 0.05, 1.2), "does not hold 0 <= eta_low"),
        (uncertain(0.1, math.nan, 0.2), "does not hold 0 <= eta_low"),
        (uncertain(0.1, 0.05, 0.2, eta_confidence=[95]), "holds an eta_confidence that is no level"),
        (uncertain(0.1, 0.05, 0.2, eta_confidence=[0.9]), "that is not confidence=0.95"),
    ],
)
def test_frames_that_are_no_intervals_raise(frame: pl.DataFrame, sentence: str) -> None:
    for call in (
        lambda eta: DF.prc.curve(eta, confidence=0.95),
        lambda eta: DF.prc.operating_points(eta, confidence=0.95, recall=0.5, columns="all"),
        lambda eta: DF.prc.summary(eta, confidence=0.95, columns="all"),
    ):
        with pytest.raises(PrcError, match=sentence):
            call(frame)
        with pytest.raises((PrcError, pl.exceptions.InvalidOperationError), match=sentence):
            call(frame.lazy()).lazy().collect()


def test_a_level_matters_only_to_intervals_and_may_be_rounded() -> None:
    frame = eta_from_sample(5, 50, confidence=0.9)
    assert DF.prc.summary(frame, columns="all")["eta_confidence"].unique().to_list() == [0.9]
    DF.prc.summary(frame, confidence=1 - 0.1, columns="all")
    DF.prc.summary(frame, confidence=0.9 + 1e-12, columns="all")


DRAWN = intervals(0.95, method="bootstrap", seed=1)
WORKS_AT_ONE = "pass (eta_low and eta_high|both ends of the interval of eta) as numbers"


@pytest.mark.parametrize(
    "call",
    [
        lambda p, eta: p.compare(
            eta, score=["score", "score_b"], recall=0.5, metrics="fpr", columns="all"
        ),
        lambda p, eta: p.compare(eta, model="market", paired=False, confidence=DRAWN, columns="all"),
        lambda p, eta: p.compare(model="market", paired=False, eta=eta, threshold=0.5, columns="all"),
        lambda p, eta: p.ranking(
            eta, model="market", metric="f1", recall=0.5, confidence=0.95, columns="all"
        ),
        lambda p, eta: p.ranking(eta, model="market", confidence=DRAWN, columns="all"),
        lambda p, eta: p.curve(eta, smooth="binormal"),
        lambda p, eta: p.curve(eta, confidence=intervals(0.95, method="rectangle")),
        lambda p, eta: p.operating_points(
            eta, recall=0.5, confidence=intervals(0.95, method="rectangle"), columns="all"
        ),
        lambda p, eta: p.summary(eta, smooth="binormal", columns="all"),
        lambda p, eta: p.summary(eta, confidence=DRAWN, columns="all"),
    ],
)
def test_what_carries_no_error_of_eta_raises_at_the_call(call: Any) -> None:
    frame = DF.with_columns(score_b=1 - pl.col("score"))
    for door in (frame.prc, frame.lazy().prc):
        for eta in (eta_from_sample(1, 50), eta_from_sample(1, 50).lazy()):
            with pytest.raises(PrcError, match=WORKS_AT_ONE):
                call(door, eta)


def test_a_ranking_says_what_carries_the_error_of_eta() -> None:
    eta = eta_from_sample(1, 50)
    for door in (DF.prc, DF.lazy().prc):
        with pytest.raises(PrcError, match="pass confidence=, which allows for the error of eta"):
            door.ranking(eta, model="market", columns="all")
    assert (
        DF.prc.ranking(eta, model="market", confidence=0.95, columns="all")["eta_low"].null_count() == 0
    )


def test_drawn_negatives_have_no_place_for_it_either() -> None:
    with pytest.raises(PrcError, match=WORKS_AT_ONE):
        DF.prc.subsample_negatives(eta_from_sample(40, 50))


def test_a_group_column_may_bear_the_name_of_an_end() -> None:
    frame = DF.with_columns(pl.col("market").alias("eta_low"))
    etas = pl.DataFrame({"eta_low": ["de", "fr", None], "eta": [0.1, 0.2, 0.3]})
    found = frame.prc.summary(
        etas, by="eta_low", confidence=0.9, metrics="average_precision", columns="all"
    )
    assert found["eta"].to_list() == [0.3, 0.1, 0.2]
    with pytest.raises(PrcError, match="rename the column 'eta_confidence' of the eta= frame"):
        frame.rename({"eta_low": "eta_confidence"}).prc.summary(
            uncertain(0.1, 0.05, 0.2), by="eta_confidence", columns="all"
        )


# Bands of point metrics -----------------------------------------------------------------------


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ((50, 2000, 35, 20, 5, 50), (0.886075949367, 0.737860535486, 0.955005263118)),
        ((200, 2000, 100, 40, 5, 500), (0.201612903226, 0.0914975109271, 0.387169332595)),
        ((200, 20000, 160, 100, 10, 10000), (0.138050043141, 0.0774555030453, 0.233665997785)),
        ((200, 2000, 100, 40, 0, 100), (0, 0, 0.597390445541)),
        ((20, 500, 12, 0, 8, 40), (1, 0.856083226897, 1)),
    ],
)
def test_bands_of_precision_worked_by_hand(sample: tuple[int, ...], expected: tuple[float, ...]) -> None:
    p, n, tp, fp, k, of = sample
    found = two_scores(p, n, tp, fp).prc.operating_points(
        eta_from_sample(k, of), threshold=1, confidence=0.95, counts=("n_pos", "n_neg"), columns="all"
    )
    values = found.select("precision", "precision_low", "precision_high").row(0)
    assert values == pytest.approx(expected, rel=1e-11)


@given(st.data())
@examples(60)
def test_bands_carry_three_distances_or_are_corners(data: st.DataObject) -> None:
    p, n, of = (
        data.draw(st.sampled_from(sizes)) for sizes in ((1, 7, 50), (1, 20, 3000), (3, 40, 10**5))
    )
    tp, fp, k = (data.draw(st.integers(0, size) | st.sampled_from([0, size])) for size in (p, n, of))
    level = data.draw(st.sampled_from([0.5, 0.9, 0.95]))
    some = data.draw(
        st.lists(st.sampled_from(METRICS), min_size=1, max_size=6, unique_by=lambda m: m.name)
    )
    eta = eta_from_sample(k, of, confidence=level)
    found = two_scores(p, n, tp, fp).prc.operating_points(
        eta, threshold=1, metrics=some, confidence=level, counts=("n_pos", "n_neg"), columns="all"
    )
    sample = Sample((tp, p), (fp, n), eta.row(0)[:3], level)
    for metric in some:
        actual = found.select(metric.name, f"{metric.name}_low", f"{metric.name}_high").row(0)
        for one, expected in zip(actual[1:], widened_band(metric, sample), strict=True):
            if actual[0] is None:
                assert one is None
            elif one is None or math.isnan(expected):
                assert (one is None) == math.isnan(expected), (metric.name, sample)
            else:
                assert one == pytest.approx(expected, rel=1e-8, abs=1e-9), (metric.name, sample)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("low", "high"), [(0, 0.2), (0.05, 1), (0, 1)])
def test_ends_at_0_or_1_are_certain_ends_of_precision(low: float, high: float) -> None:
    """Where eta may be 0 precision may be 0, and where it may be 1 precision may be 1."""
    found = two_scores(50, 2000, 35, 20).prc.operating_points(
        uncertain(0.1, low, high),
        threshold=1,
        confidence=0.95,
        counts=("n_pos", "n_neg"),
        metrics=FEW,
        columns="all",
    )
    assert (found["precision_low"].item() < 1e-18) == (low == 0)
    assert (found["precision_high"].item() > 1 - 1e-12) == (high == 1)
    assert None not in found.drop(THREE[2], "certainty", "doubt").row(0)


def test_a_metric_that_does_not_depend_on_eta_keeps_its_band() -> None:
    df = two_scores(50, 2000, 35, 20)
    options: Any = {"counts": ("n_pos", "n_neg"), "metrics": ["recall", "informedness", "precision"]}
    exact = df.prc.curve(0.1, confidence=0.95, **options)
    wide = df.prc.curve(eta_from_sample(5, 50), confidence=0.95, **options).drop(THREE)
    assert_same(
        wide.drop("precision_low", "precision_high"), exact.drop("precision_low", "precision_high")
    )
    assert (wide["precision_low"] < exact["precision_low"])[0]


@pytest.mark.parametrize("rate", ["clopper_pearson", "jeffreys", "hoeffding"])
def test_every_interval_of_the_rates_combines_with_that_of_eta(rate: Any) -> None:
    df = two_scores(50, 2000, 35, 20)
    found = df.prc.curve(
        eta_from_sample(5, 50), confidence=intervals(0.95, rate=rate), counts=("n_pos", "n_neg")
    )
    expected = widened_band(
        metrics.precision,
        Sample((35, 50), (20, 2000), eta_from_sample(5, 50).row(0)[:3], 0.95, rate),
    )
    assert found.select("precision_low", "precision_high").row(0) == pytest.approx(expected, rel=1e-11)


# Areas ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "eta", "value", "derivative"),
    [
        ("10110010", 0.1, 0.390212609971, 0.112160816255),
        ("011010", 0.3, 0.384280936455, 0.232235321753),
        ("1101000", 0.02, 0.691823899371, 0.0232585736324),
    ],
)
def test_average_precision_moves_with_eta_as_worked_by_hand(
    labels: str, eta: float, value: float, derivative: float
) -> None:
    """The derivative by logit eta is the sum of w p (1 - p); the distance of an interval tends to it."""
    df = pl.DataFrame({"score": range(len(labels), 0, -1), "label": [label == "1" for label in labels]})
    step = 1e-5
    ends = [1 / (1 + (1 - eta) / eta * math.exp(sign * step)) for sign in (1, -1)]
    found = df.prc.summary(
        uncertain(eta, *ends), confidence=0.95, metrics=["average_precision"], columns="all"
    )["value"].item()
    assert found == pytest.approx(value, rel=1e-11)
    low, high = df.prc.summary(ends, metrics="average_precision", columns="all")["value"]
    assert (high - low) / (2 * step) == pytest.approx(derivative, rel=1e-8)


@pytest.mark.parametrize("seed", slow_unless(lambda seed: seed < 2, range(6)))
def test_intervals_of_areas_carry_the_distance_to_both_ends(seed: int) -> None:
    """The sampling interval is that at eta, and the distances are to the values at both ends."""
    rng = np.random.default_rng(seed)
    label = rng.random(300) < 0.2
    df = pl.DataFrame({"score": (rng.normal(size=300) + 1.5 * label).round(1), "label": label})
    etas = eta_from_sample([3, 20, 1], [50, 60, 1000], confidence=0.9)
    metric = "average_precision"
    found = df.prc.summary(etas, confidence=0.9, metrics=metric, columns="all")
    ends = ["eta_low", "eta", "eta_high"]
    asked = [eta for row in found.select(ends).rows() for eta in row]
    at = {
        row["eta"]: row
        for row in df.prc.summary(asked, confidence=0.9, metrics=metric, columns="all").to_dicts()
    }
    for row in found.iter_rows(named=True):
        low, exact, high = (at[row[end]] for end in ends)
        expected = widened_area(exact, (low["value"], high["value"]), 0.9)
        actual = (row["low"], row["high"], row["standard_error"])
        assert actual == pytest.approx(expected, rel=1e-9)
        assert (row["doubt"] is None) == (exact["doubt"] is None)
        assert row["low"] < exact["low"] < exact["value"] <= exact["high"] <= row["high"]


def test_perfect_separation_takes_the_outermost_end() -> None:
    df = pl.DataFrame({"score": [*range(30)], "label": [False] * 20 + [True] * 10})
    found = df.prc.summary(
        uncertain(0.1, 0.02, 0.3), confidence=0.95, metrics="average_precision", columns="all"
    )
    least = df.prc.summary(0.02, confidence=0.95, metrics="average_precision", columns="all")
    row = found.row(0, named=True)
    assert (row["value"], row["low"], row["high"]) == (1, pytest.approx(least["low"].item()), 1)
    assert row["standard_error"] is None


def test_a_sample_without_positives_still_bounds_an_area() -> None:
    """At eta = 0 an area has no error of its own; the interval of eta gives it a high end."""
    df = pl.DataFrame({"score": [*range(60)], "label": [i % 3 == 1 for i in range(60)]})
    row = df.prc.summary(
        eta_from_sample(0, 40), confidence=0.95, metrics="average_precision", columns="all"
    ).row(0, named=True)
    at_high = df.prc.summary(
        row["eta_high"], confidence=0.95, metrics="average_precision", columns="all"
    )
    assert (row["value"], row["low"], row["high"]) == (0, 0, pytest.approx(at_high["high"].item()))
    assert row["doubt"] is not None
    top = df.vstack(pl.DataFrame({"score": [99], "label": [True]}))
    undefined = top.prc.summary(
        eta_from_sample(0, 40), confidence=0.95, metrics="average_precision", columns="all"
    )
    assert undefined.select("value", "low", "high", "doubt").row(0) == (*[None] * 3, "eta at 0 or 1")


def test_areas_that_have_no_analytic_interval_have_none_here() -> None:
    found = DF.prc.summary(
        eta_from_sample(5, 50), confidence=0.95, metrics=["pr_auc", "auprg"], columns="all"
    )
    assert found["value"].null_count() == 0
    assert found.select("standard_error", "low", "high").null_count().row(0) == (2,) * 3
    assert set(found["doubt"]) == {"no formula: method='bootstrap'"}


# Comparisons ----------------------------------------------------------------------------------


def draw_models(n: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(4)
    label = np.arange(n) % 4 == 0
    noise = rng.normal(size=n)
    scores = {name: noise + rng.normal(size=n) + shift * label for name, shift in (("a", 2), ("b", 1))}
    more = {"label": label, "w": 1.0 + np.arange(n) % 3, "unit": np.arange(n) // 4, "c": -scores["b"]}
    return pl.DataFrame(scores | more)


LONG = draw_models().with_row_index("row").unpivot(["a", "b", "c"], index=["row", "label", "w", "unit"])
LONG_COLUMNS: dict[str, Any] = {"model": "variable", "score": "value"}


OTHER_ENDS = [(0.02, 0.0, 0.3), (0.0, 0.0, 0.1), (0.1, 0.1, 0.1)]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "options",
    [
        {"score": ["a", "b", "c"]},
        {"score": ["a", "b", "c"], "adjust": "holm", "confidence": 0.8},
        {"score": ["a", "b", "c"], "weight": "w"},
        {"score": ["a", "b"], "cluster": "unit"},
        {**LONG_COLUMNS, "id": "row"},
        {**LONG_COLUMNS, "paired": False},
        {**LONG_COLUMNS, "paired": False, "cluster": "unit"},
    ],
)
@pytest.mark.parametrize(
    "ends", slow_unless(lambda ends: ends not in OTHER_ENDS, [(0.02, 0.05, 0.11), *OTHER_ENDS])
)
def test_differences_carry_the_distance_to_the_farther_end(
    options: dict[str, Any], ends: tuple[float, ...]
) -> None:
    table = LONG if "model" in options else draw_models()
    eta, *interval = sorted(ends)[1], min(ends), max(ends)
    inside = [end if end > 0 else interval[1] * 2.0**-69 for end in interval]
    found = table.prc.compare(eta=uncertain(eta, *interval), columns="all", **options)
    asked = (eta, *inside)
    if "adjust" in options:  # which reads all prevalences of a call
        middle, *at_ends = (table.prc.compare(eta=at, columns="all", **options) for at in asked)
    else:
        known = table.prc.compare(eta=sorted({*asked}), columns="all", **options)
        middle, *at_ends = (known.filter(eta=at) for at in asked)
    z = statistics.NormalDist().inv_cdf(0.5 + options.get("confidence", 0.95) / 2)
    for new, old, *moved in zip(
        *(f.iter_rows(named=True) for f in (found, middle, *at_ends)), strict=True
    ):
        if old["difference"] is None:  # as at a prevalence of 0
            assert new | {"eta_low": 0} == new | old | {"eta_low": 0}
            continue
        of_auc = middle.filter(
            pl.col("metric") == "roc_auc", model_a=old["model_a"], model_b=old["model_b"]
        )
        [deviations] = (of_auc["difference"] - of_auc["low"]) / of_auc["standard_error"]
        farthest = max(abs(end["difference"] - old["difference"]) for end in moved)
        error = math.hypot(old["standard_error"], farthest / z)
        assert new["difference"] == old["difference"]
        assert new["standard_error"] == pytest.approx(error, rel=1e-9)
        # Limits of average precision also allow for unseen examples, with which this error adds up.
        # Of clusters, each metric has its own quantile.
        more = deviations * farthest / z * (1.2 if "cluster" in options else 1.0)
        for end, other in ((new["low"], old["low"]), (-new["high"], -old["high"])):
            assert other - more * (1 + 1e-9) - 1e-12 <= end <= other + 1e-12
        assert (new["doubt"] is None) == (old["doubt"] is None)
        if old["p_value"] is not None:
            assert new["p_value"] >= old["p_value"] * (1 - 1e-6)


def test_a_ranking_has_the_differences_of_two_models() -> None:
    eta = uncertain(0.02, 0.005, 0.11)
    two = LONG.filter(pl.col("variable") != "c").rename({"variable": "model", "value": "score"})
    ranks = two.prc.ranking(eta, id="row", confidence=0.95, columns="all")
    pairs = draw_models().prc.compare(eta, score=["a", "b"], metrics="average_precision", columns="all")
    difference, low, high = pairs.select("difference", "low", "high").row(0)
    assert ranks.select("model", "behind", "behind_high").rows() == [
        ("a", -difference, -low),
        ("b", difference, high),
    ]
    assert ranks["eta_low"].to_list() == [0.005] * 2
