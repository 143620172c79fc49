"""Posteriors moved to another prevalence, and the prevalence found from posteriors alone."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from polars_prcurve import PrcError, prc, shift_prior
from polars_prcurve.core.prevalence import prevalence_by_em as estimate
from tests.support.profiles import examples
from tests.support.strategies import GROUP_KEYS, Table, tables

ENGINES = ("streaming", "in-memory")
EPSILON = 2.0**-53

posteriors = st.one_of(
    st.floats(0, 1),
    st.floats(1e-300, 1e-3),
    st.floats(1e-300, 1e-3).map(lambda p: 1 - p),
    st.sampled_from([0.0, 1.0, EPSILON, 1 - EPSILON, 0.5, math.nextafter(0.5, 1), 2.3e-308]),
)
prevalences = st.one_of(
    st.floats(1e-9, 1 - 1e-9),
    st.sampled_from([0.5, 0.1, 0.001, 1 - EPSILON, 1e-100, math.nextafter(0.5, 0)]),
)


def exactly(p: float, eta_train: float, eta: float) -> tuple[Fraction, Fraction]:
    """The shifted posterior and what it lacks to 1, by Bayes' rule without rounding."""
    positive = Fraction(p) * Fraction(eta) / Fraction(eta_train)
    negative = (1 - Fraction(p)) * (1 - Fraction(eta)) / (1 - Fraction(eta_train))
    return positive / (positive + negative), negative / (positive + negative)


def near(found: float, exact: Fraction, ulps: int = 8) -> bool:
    """To a few units in the last place, of a normal number; less than the least one may be 0."""
    return abs(Fraction(found) - exact) <= ulps * Fraction(EPSILON) * exact + Fraction(5.6e-309)


def moved(p: pl.Expr | str, eta_train: Any, eta: Any) -> pl.Expr:
    column = pl.col(p) if isinstance(p, str) else p
    return prc(column).shift_prior(eta_train, eta)


# Posteriors -----------------------------------------------------------------------------------


@examples(400)
@given(posteriors, prevalences, prevalences)
def test_the_shift_is_bayes_rule_to_a_few_ulp(p: float, eta_train: float, eta: float) -> None:
    found = shift_prior(p, eta_train, eta)
    exact, rest = exactly(p, eta_train, eta)
    assert near(found, exact)
    # 1 - p' is as exact as a number next to 1 lets it be.
    assert abs((1 - Fraction(found)) - rest) <= 8 * Fraction(EPSILON) * rest + 2 * Fraction(EPSILON)
    # Positives and negatives change roles, where doing so rounds nothing.
    if all(Fraction(1 - x) == 1 - Fraction(x) for x in (p, eta_train, eta)):
        assert near(shift_prior(1 - p, 1 - eta_train, 1 - eta), rest)


@examples(100)
@given(st.lists(posteriors, min_size=2, max_size=30), prevalences, prevalences)
def test_every_way_in_gives_the_same_number(ps: list[float], eta_train: float, eta: float) -> None:
    of_array = shift_prior(np.array(ps), eta_train, eta)
    assert isinstance(of_array, np.ndarray)
    assert of_array.tolist() == [shift_prior(p, eta_train, eta) for p in ps]
    df = pl.DataFrame({"p": ps}).with_columns(t=pl.lit(eta_train), e=pl.lit(eta))
    for of in (
        moved("p", eta_train, eta),
        moved("p", pl.col("t"), eta),
        moved("p", eta_train, pl.col("e")),
        moved("p", pl.col("t").first(), pl.col("e").first()),
        shift_prior(pl.col("p"), eta_train, eta),
    ):
        for engine in ENGINES:
            assert df.lazy().select(of).collect(engine=engine)["p"].to_list() == of_array.tolist()


@examples(300)
@given(st.lists(posteriors, min_size=2, max_size=40), prevalences, prevalences)
def test_rounding_may_merge_posteriors_but_never_swaps_them(
    ps: list[float], eta_train: float, eta: float
) -> None:
    ps += [math.nextafter(p, 1) for p in ps]
    found = shift_prior(np.sort(ps), eta_train, eta)
    assert isinstance(found, np.ndarray)
    assert np.all(np.diff(found) >= 0)
    assert found.min() >= 0
    assert found.max() <= 1


@pytest.mark.parametrize("eta_train", [5e-324, 1e-310, 1e-9, 0.3, 1 - EPSILON])
@pytest.mark.parametrize("eta", [5e-324, 1e-310, 1e-9, 0.3, 1 - EPSILON])
def test_0_and_1_stay_at_every_prevalence(eta_train: float, eta: float) -> None:
    assert shift_prior(np.array([0.0, -0.0, 1.0]), eta_train, eta).tolist() == [0, 0, 1]  # type: ignore[union-attr]
    df = pl.DataFrame({"p": [0.0, -0.0, 1.0]})
    assert df.select(moved("p", eta_train, eta))["p"].to_list() == [0, 0, 1]
    for p in (0.0, 1.0):
        assert df.filter(p=p).select(moved("p", eta_train, eta))["p"].unique().to_list() == [p]


@examples(200)
@given(st.floats(1e-6, 1 - 1e-6), *[st.floats(1e-4, 1 - 1e-4)] * 3)
def test_shifts_add_up_and_can_be_undone(p: float, a: float, b: float, c: float) -> None:
    there = shift_prior(p, a, b)
    if 1 - there > 1e-6:  # else 1 - p has lost digits
        assert shift_prior(there, b, a) == pytest.approx(p, rel=1e-9)
        assert shift_prior(there, b, c) == pytest.approx(shift_prior(p, a, c), rel=1e-9)
    assert shift_prior(p, a, a) == pytest.approx(p, rel=1e-15)


def test_the_log_odds_move_by_one_number() -> None:
    p = np.linspace(0.01, 0.99, 99)
    found = shift_prior(p, 0.2, 0.001)
    by = np.log(found / (1 - found)) - np.log(p / (1 - p))
    assert by == pytest.approx(math.log(0.001 / 0.999) - math.log(0.2 / 0.8), rel=1e-12)


def test_numbers_and_arrays_keep_nan_and_shape() -> None:
    assert math.isnan(shift_prior(math.nan, 0.5, 0.1))
    found = shift_prior(np.array([[0.1, math.nan], [0.5, 1.0]]), 0.5, np.array([0.5, 0.1]))
    assert isinstance(found, np.ndarray)
    assert found.shape == (2, 2)
    assert np.isnan(found).tolist() == [[False, True], [False, False]]
    assert shift_prior([0.5], [0.5], [0.1, 0.2]) == pytest.approx([0.1, 0.2])
    assert isinstance(shift_prior(np.float32(0.5), 0.5, 0.1), float)


# Expressions ----------------------------------------------------------------------------------

DF = pl.DataFrame(
    {
        "g": ["x", "x", None, "y", "y", "y"],
        "p": [0.1, None, 0.3, 0.8, 1.0, 0.0],
        "q": [1, 0, 1, None, 0, 1],
        "eta": [0.2, 0.2, 0.01, 0.3, 0.3, 0.3],
    }
)
CONTEXTS: dict[str, Callable[[pl.LazyFrame, pl.Expr], pl.LazyFrame]] = {
    "select": lambda q, e: q.select(e),
    "with_columns": lambda q, e: q.with_columns(e),
    "over": lambda q, e: q.with_columns(e.over("g")),
    "agg": lambda q, e: q.group_by("g").agg(e).sort("g"),
}


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("eta", [0.2, pl.col("eta"), pl.col("eta").first()], ids=str)
@pytest.mark.parametrize("name", ["p", "q"])
def test_every_context_keeps_name_shape_and_nulls(name: str, eta: Any, context: str) -> None:
    expr = moved(name, 0.5, eta)
    for frame in (DF, DF.head(1), DF.clear()):
        query = CONTEXTS[context](frame.lazy(), expr)
        expected = frame.select("g", expr)
        for engine in ENGINES:
            found = query.collect(engine=engine)
            assert found.schema == query.collect_schema()
            if context == "agg":
                found = found.explode(name, empty_as_null=False).sort("g", name)
                expected = expected.sort("g", name)
            if context in ("select", "with_columns") or not isinstance(eta, pl.Expr):
                assert_frame_equal(found.select(name), expected.select(name))
            if frame is DF:
                assert found[name].null_count() == 1


def test_a_prevalence_per_group() -> None:
    grouped = DF.with_columns(found=moved("p", 0.5, pl.col("eta").first()).over("g"))
    assert_frame_equal(grouped, DF.with_columns(found=moved("p", 0.5, pl.col("eta"))))


def test_thresholds_move_like_posteriors() -> None:
    etas = pl.DataFrame({"eta": [0.5, 0.1, 0.01]})
    found = etas.select("eta", threshold=shift_prior(0.9, 0.5, pl.col("eta")))
    assert found["threshold"].to_list() == [shift_prior(0.9, 0.5, eta) for eta in (0.5, 0.1, 0.01)]
    assert pl.select(pl.lit(0.5).prc.shift_prior(0.5, 0.1)).item() == pytest.approx(0.1)  # type: ignore[attr-defined]
    assert DF.select(moved(pl.col("p").max(), 0.5, 0.1)).item() == 1
    assert DF.select(moved(pl.col("p"), 0.5, pl.lit(None))).to_series().null_count() == DF.height


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        (pl.Boolean(), [False, True]),
        (pl.Int8(), [0, 1]),
        (pl.UInt64(), [0, 1]),
        (pl.Int128(), [0, 1]),
        (pl.Float32(), [0.0, 0.1, 0.9, 1.0]),
        (pl.Decimal(10, 4), [Decimal("0.0001"), Decimal("0.9999"), Decimal("1.0000")]),
        (pl.Float64(), [0.0, 0.25, 1.0]),
        (pl.Null(), [None, None]),
    ],
    ids=str,
)
def test_every_dtype_of_posteriors_becomes_float64(dtype: pl.DataType, values: list[Any]) -> None:
    df = pl.DataFrame({"p": pl.Series(values, dtype=dtype)})
    found = df.select(moved("p", 0.5, 0.1))
    assert found.schema == {"p": pl.Float64}
    floats = df["p"].cast(pl.Float64)
    expected = [None if p is None else shift_prior(p, 0.5, 0.1) for p in floats]
    assert found["p"].to_list() == expected
    priors = df.with_columns(eta=pl.lit(Decimal("0.1"), pl.Decimal(5, 2)), t=pl.lit(0.5, pl.Float32))
    assert_frame_equal(priors.select(moved("p", pl.col("t"), pl.col("eta"))), found)


def test_the_plan_is_native() -> None:
    query = DF.lazy().with_columns(moved("p", 0.5, pl.col("eta")))
    assert b"cloudpickle" not in query.serialize()
    again = pl.LazyFrame.deserialize(io.BytesIO(query.serialize()))
    assert_frame_equal(again.collect(), query.collect())


WRONG: dict[str, tuple[pl.Expr, str]] = {
    "posterior above 1": (
        moved(pl.col("p") * 1.1, 0.5, 0.1),
        r"calibrate the scores first: score column 'p' is outside \[0, 1\] or NaN in 1 row",
    ),
    "posterior below 0": (moved(pl.col("p") - 0.2, 0.5, 0.1), r"'p' is outside .* in 2 rows"),
    "NaN": (moved(pl.col("p") * math.nan, 0.5, 0.1), r"'p' is outside \[0, 1\] or NaN in 5 row"),
    "eta_train 0": (moved("p", pl.col("eta") - 0.2, 0.1), r"eta_train= is not between 0 and 1 in 3 row"),
    "eta 1": (moved("p", 0.5, pl.col("eta") / 0.3), r"eta= is not between 0 and 1 in 3 row"),
    "eta NaN": (moved("p", 0.5, pl.col("eta") * math.nan), r"eta= is not between 0 and 1 in 6 row"),
    "eta of a threshold": (shift_prior(0.5, 0.5, pl.col("eta") + 1), "eta= is not between 0 and 1 in 6"),
    "a literal outside": (moved(pl.lit(1.5), 0.5, 0.1), "column 'literal' is outside .* in 1 row"),
}


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("case", WRONG)
def test_a_value_outside_stops_the_query(case: str, context: str) -> None:
    expr, words = WRONG[case]
    words = words if context in ("select", "with_columns") else r"is (outside|not between)"
    query = CONTEXTS[context](DF.lazy(), expr)
    for engine in ENGINES:
        with pytest.raises(pl.exceptions.InvalidOperationError, match=words):
            query.collect(engine=engine)


# The sweep ------------------------------------------------------------------------------------


@examples(150)
@given(
    tables(scores=[pl.Float64()]),
    st.lists(st.floats(0, 1), min_size=24, max_size=24),
    st.floats(1e-4, 1 - 1e-4),
    st.floats(1e-4, 1 - 1e-4),
)
def test_no_count_moves(table: Table, ps: list[float], eta_train: float, eta: float) -> None:
    frame = table.frame.with_columns(score=pl.Series(ps[: table.frame.height], dtype=pl.Float64))
    new = frame.with_columns(moved("score", eta_train, eta))
    distinct = [part["score"].n_unique() for part in (frame, new)]
    assume(distinct[0] == distinct[1])
    swept = frame.prc.sweep(**table.package)
    after = new.prc.sweep(**table.package)
    assert_frame_equal(swept.with_columns(moved("threshold", eta_train, eta)), after)
    curves = [part.prc.curve([0.007, 0.5, None], **table.package) for part in (frame, new)]
    assert_frame_equal(*(curve.drop("threshold") for curve in curves))
    areas = [
        part.prc.summary([0.007, 0.5, None], columns="all", **table.package) for part in (frame, new)
    ]
    assert_frame_equal(*areas, check_exact=True)


@examples(100)
@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
    st.floats(0, 1),
    st.floats(1e-4, 1 - 1e-4),
    st.floats(1e-4, 1 - 1e-4),
)
def test_a_threshold_says_the_same_before_and_after(
    ps: list[float], threshold: float, eta_train: float, eta: float
) -> None:
    before = np.array(ps) >= threshold
    after = shift_prior(np.array(ps), eta_train, eta) >= shift_prior(threshold, eta_train, eta)
    merged = shift_prior(np.array(ps), eta_train, eta) == shift_prior(threshold, eta_train, eta)
    assert np.all((before == after) | merged)


def test_posteriors_next_to_1_may_merge_and_log_odds_do_not() -> None:
    """What the caveat in the docs says."""
    log_odds = np.array([36.0, 35.0, 34.0, 33.0, 2.0])
    frame = pl.DataFrame({"z": log_odds, "label": [1, 0, 1, 0, 0]})
    frame = frame.with_columns(p=1 / (1 + (-pl.col("z")).exp()))
    frame = frame.with_columns(moved=moved("p", 0.01, 0.9), far=pl.col("z") + math.log(9) + math.log(99))
    assert frame["p"].n_unique() == 5
    assert frame["moved"].n_unique() < 5, "distinct posteriors became one"
    before, after = (frame.prc.sweep(score=score).drop("threshold") for score in ("z", "far"))
    assert_frame_equal(before, after)


# The prevalence -------------------------------------------------------------------------------


def by_em(ps: list[float], eta_train: float, tolerance: float, most: int) -> tuple[float, int, bool]:
    """Plain Python, by Bayes' rule as it is usually written."""
    eta = eta_train
    for step in range(1, most + 1):
        total = 0.0
        for p in sorted(ps):
            pos, neg = p * eta / eta_train, (1 - p) * (1 - eta) / (1 - eta_train)
            total += pos / (pos + neg)
        new = total / len(ps)
        done = abs(new - eta) < tolerance
        eta = new
        if done:
            return eta, step, True
    return eta, most, False


def by_likelihood(ps: list[float], eta_train: float) -> float:
    """The root of the derivative of the log-likelihood, which falls, by bisection; else an end."""
    ratio = [
        (Fraction(p) / Fraction(eta_train), (1 - Fraction(p)) / (1 - Fraction(eta_train))) for p in ps
    ]
    pairs = [(float(pos), float(neg)) for pos, neg in ratio]

    def slope(eta: float) -> float:
        return math.fsum((pos - neg) / (eta * pos + (1 - eta) * neg) for pos, neg in pairs)

    low, high = 1e-15, 1 - 1e-15
    if slope(low) <= 0:
        return 0.0
    if slope(high) >= 0:
        return 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return low


def estimate_in(most: int, frame: Any, *args: Any, **how: Any) -> pl.DataFrame:
    """The estimate of EM that stops after so many steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimate, "_MAX_ITERATIONS", most)
        return prc(frame).estimate_prevalence(*args, **how)


def random_groups(n: int, seed: int) -> list[list[float]]:
    """Small and large groups, with ties, some of one kind only."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        size = int(rng.integers(1, 60))
        ps = rng.beta(*rng.uniform(0.3, 3, 2), size)
        if rng.random() < 0.4:
            ps = ps.round(1)
        found.append([float(p) for p in ps])
    return found


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("eta_train", [0.5, 0.1, 0.9])
def test_em_against_plain_python_and_the_likelihood(
    eta_train: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate, "_MAX_ITERATIONS", 2_000)
    groups = random_groups(120, seed=int(100 * eta_train))
    frame = pl.DataFrame({"g": range(len(groups)), "score": groups}).explode(
        "score", empty_as_null=False
    )
    frame = frame.sample(fraction=1, shuffle=True, seed=1)
    found = frame.prc.estimate_prevalence(eta_train, by="g")
    assert found["g"].to_list() == list(range(len(groups)))
    inside = 0
    for ps, (_, eta, n, _, iterations, converged) in zip(groups, found.iter_rows(), strict=True):
        slow, steps, done = by_em(ps, eta_train, 1e-12, 2_000)
        assert eta == pytest.approx(slow, rel=1e-9, abs=1e-12)
        assert n == len(ps)
        assert abs(iterations - steps) <= 2 + steps // 50  # where changes are as small as rounding
        if abs(iterations - steps) == 0:
            assert converged == done
        best = by_likelihood(ps, eta_train)
        if converged and iterations < 500:
            assert eta == pytest.approx(best, abs=1e-9)
            inside += 0 < best < 1
    assert inside > 30


@examples(100)
@given(st.data(), prevalences.filter(lambda eta: 1e-6 < eta < 1 - 1e-6))
def test_groups_of_any_kind_each_like_alone(data: st.DataObject, eta_train: float) -> None:
    kind = data.draw(st.sampled_from(list(GROUP_KEYS)))
    names, dtypes, values = GROUP_KEYS[kind]
    n = data.draw(st.integers(0, 20))
    ps = data.draw(st.lists(st.floats(0, 1), min_size=n, max_size=n))
    keys = data.draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))
    frame = pl.DataFrame({"score": pl.Series(ps, dtype=pl.Float64)}).with_columns(
        pl.Series(name, [key[place] for key in keys], dtype=dtypes[name])
        for place, name in enumerate(names)
    )
    found = estimate_in(50, frame, eta_train, by=names)
    counts = frame.prc.counts(by=names, label=pl.lit(True)).select(*names, "n_pos")
    if names:
        groups = counts.group_by(names, maintain_order=True).agg(pl.col("n_pos").sum().alias("n"))
        assert_frame_equal(found.select(*names, "n"), groups)
        assert found["n"].sum() == n
    parts = frame.partition_by(names, maintain_order=True) if names and n else [frame]
    alone = [estimate_in(50, part, eta_train, by=names) for part in parts]
    assert_frame_equal(pl.concat(alone).sort(names) if names else alone[0], found, check_exact=True)


@examples(60)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.randoms())
def test_the_order_of_rows_and_the_door_change_no_bit(ps: list[float], random: Any) -> None:
    frame = pl.DataFrame({"score": ps, "g": [len(str(p)) % 3 for p in ps]})
    shuffled = frame[random.sample(range(len(ps)), len(ps))]
    expected = estimate_in(200, frame, 0.3, by="g")
    for other in (shuffled, shuffled.lazy(), frame.to_arrow()):
        found = estimate_in(200, other, 0.3, by="g")
        assert isinstance(found, pl.DataFrame)
        assert_frame_equal(found, expected, check_exact=True)


def test_many_rows_round_no_worse_than_few() -> None:
    ps = np.random.default_rng(0).beta(1, 3, 200_000)
    found = estimate_in(3, pl.DataFrame({"score": ps}), 0.25)
    eta = 0.25
    for _ in range(3):
        eta = math.fsum(shift_prior(ps, 0.25, eta)) / len(ps)  # type: ignore[arg-type]
    assert found["eta"].item() == pytest.approx(eta, rel=1e-14)


BOUNDARY: dict[str, tuple[list[float], float, float, int]] = {
    "all know nothing": ([0.3] * 5, 0.3, 0.3, 1),
    "all 0": ([0.0] * 4, 0.3, 0.0, 2),
    "all 1": ([1.0] * 4, 0.3, 1.0, 2),
    "0 and 1": ([0.0, 1.0, 1.0, 1.0], 0.5, 0.75, 2),
    "one row that is sure": ([1.0], 0.01, 1.0, 2),
}


@pytest.mark.parametrize("case", BOUNDARY)
def test_at_the_ends(case: str) -> None:
    ps, eta_train, eta, iterations = BOUNDARY[case]
    found = pl.DataFrame({"score": ps}).prc.estimate_prevalence(eta_train).row(0)
    assert found == (pytest.approx(eta, rel=1e-15), len(ps), None, iterations, True)


def test_one_row_goes_to_the_end_that_it_favours() -> None:
    frame = pl.DataFrame({"g": ["high", "low"], "score": [0.6, 0.2]})
    found = frame.prc.estimate_prevalence(0.3, by="g")
    assert found["eta"].to_list() == pytest.approx([1.0, 0.0], abs=1e-10)
    assert found["converged"].all()


def test_a_slow_group_stops_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"score": [0.9, 0.8, 0.75, 0.6, 0.4, 0.35, 0.3, 0.2, 0.1, 0.05]})
    found = estimate_in(3, frame, 0.5)
    assert found["converged"].to_list() == [False]
    assert found["iterations"].to_list() == [3]
    assert found["eta"].item() == pytest.approx(by_em(frame["score"].to_list(), 0.5, 0, 3)[0], rel=1e-14)
    fine = frame.prc.estimate_prevalence(0.5)
    monkeypatch.setattr(estimate, "_TOLERANCE", 1e-3)
    rough = frame.prc.estimate_prevalence(0.5)
    assert rough["converged"].item()
    assert rough["iterations"].item() < fine["iterations"].item()


def test_columns_order_and_the_empty_table() -> None:
    frame = pl.DataFrame(
        {"market": ["fr", None, "de", "de"], "fold": [1, 2, 1, 1], "p": [0.2, 0.4, 0.1, 0.9]}
    )
    found = frame.prc.estimate_prevalence(0.5, by=["market", "fold"], score="p")
    schema = {
        "market": pl.String,
        "fold": pl.Int64,
        "eta": pl.Float64,
        "n": pl.Int64,
        "shift_p_value": pl.Float64,
        "iterations": pl.Int64,
        "converged": pl.Boolean,
    }
    assert found.schema == schema
    assert found["market"].to_list() == [None, "de", "fr"]
    assert found["n"].to_list() == [1, 2, 1]
    empty = frame.clear().lazy().prc.estimate_prevalence(0.5, by=["market", "fold"], score="p")
    assert empty.is_empty()
    assert empty.schema == schema
    assert frame.clear().prc.estimate_prevalence(0.5, score="p").is_empty()


@pytest.mark.parametrize("dtype", [pl.Boolean, pl.Int8, pl.Float32, pl.Decimal(10, 2)])
def test_posteriors_of_any_dtype(dtype: Any) -> None:
    frame = pl.DataFrame({"score": pl.Series([1, 0, 1, 1, 0]).cast(dtype)})
    assert frame.prc.estimate_prevalence(0.5)["eta"].item() == pytest.approx(0.6)


def test_what_is_missing_raises_or_is_dropped() -> None:
    frame = pl.DataFrame({"g": ["a", "a", "b", "c"], "score": [0.2, None, math.nan, 0.9]})
    for bad, words in ((frame.head(2), "is null in 1 row"), (frame.tail(2), "is NaN in 1 row")):
        for door in (bad.prc, bad.lazy().prc):
            with pytest.raises(PrcError, match=words):
                door.estimate_prevalence(0.5, by="g")
    dropped = frame.prc.estimate_prevalence(0.5, by="g", missing="drop")
    assert_frame_equal(dropped, frame[[0, 3]].prc.estimate_prevalence(0.5, by="g"))


@pytest.mark.parametrize("value", [1.5, -0.1, math.inf])
def test_a_posterior_outside_raises_with_its_column_and_rows(value: float) -> None:
    frame = pl.DataFrame({"g": ["a", "b", "b"], "score": [0.2, value, value]})
    words = re.escape("score column 'score' is outside [0, 1] or NaN in 2 rows; expected prob")
    for how in ({}, {"by": "g"}, {"missing": "drop"}):
        for door in (frame.prc, frame.lazy().prc):
            with pytest.raises(PrcError, match=words):
                door.estimate_prevalence(0.5, **how)


# From the field back to the test table ---------------------------------------------------------


def gaussian(n: int, eta: float, rng: np.random.Generator) -> pl.DataFrame:
    """Scores N(0, 1) and N(2, 1), and the posteriors of a model trained at 0.5."""
    label = rng.random(n) < eta
    score = rng.normal(size=n) + 2 * label
    return pl.DataFrame({"label": label, "score": 1 / (1 + np.exp(2 - 2 * score))})


def test_the_prevalence_of_the_field_comes_back() -> None:
    rng = np.random.default_rng(12)
    truth = {"de": 0.02, "fr": 0.3, "uk": 0.8, None: 0.1}
    field = pl.concat(
        gaussian(20_000, eta, rng).with_columns(market=pl.lit(market, pl.String))
        for market, eta in truth.items()
    )
    found = field.drop("label").prc.estimate_prevalence(0.5, by="market")
    for market, eta, *_ in found.iter_rows():
        p = field.filter(pl.col("market").eq_missing(market))["score"].to_numpy()
        pos, neg = p / 0.5, (1 - p) / 0.5
        information = np.sum(((pos - neg) / (eta * pos + (1 - eta) * neg)) ** 2)
        assert abs(eta - truth[market]) < 4 / math.sqrt(information)

    test = pl.concat(
        gaussian(20_000, 0.5, rng).with_columns(market=pl.lit(market, pl.String), model=pl.lit(model))
        for market in truth
        for model in ("a", "b")
    )
    by_market = test.prc.summary(
        found, by=["market", "model"], metrics="average_precision", columns="all"
    )
    shared = ["market", "model", "eta", "n", "shift_p_value", "iterations", "converged"]
    assert by_market.columns[:7] == shared
    labelled = field.prc.summary(by="market", metrics="average_precision", columns="all")
    both = by_market.join(labelled, on="market", nulls_equal=True, suffix="_field")
    assert both.height == 8
    assert (both["value"] - both["value_field"]).abs().max() < 0.05  # type: ignore[operator]
    points = test.prc.operating_points(found, by=["market", "model"], precision=0.5, columns="all")
    assert points.height == 8


def test_one_estimate_for_all_groups() -> None:
    rng = np.random.default_rng(3)
    field, test = gaussian(5_000, 0.1, rng), gaussian(5_000, 0.5, rng)
    found = field.prc.estimate_prevalence(0.5)
    summary = test.with_columns(model=pl.lit("a")).prc.summary(found, by="model", columns="all")
    assert summary.columns == [
        *("model", "eta", "n", "shift_p_value", "iterations", "converged"),
        *("n_pos", "n_neg", "metric", "value"),
    ]
    assert summary["eta"].unique().to_list() == found["eta"].to_list()
    plain = test.prc.summary(found["eta"].item(), columns="all")
    assert summary["value"].to_list() == plain["value"].to_list()
    lazy = test.lazy().prc.curve(found, thresholds=5)
    assert lazy.collect().height == 5
