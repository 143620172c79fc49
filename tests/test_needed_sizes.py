"""`sample_size` of tables: how many positives and negatives make the band of precision narrow enough."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve import PrcError, intervals, prc, rate_interval, sample_size
from tests.support.comparing import assert_same
from tests.support.oracle_errors import raise_end_of_recall
from tests.support.profiles import examples
from tests.support.tiers import slow_unless

METHODS = ["wilson", "hoeffding", "clopper_pearson", "jeffreys"]


def log_width(hits: Any, sizes: Any, eta: float | None, method: Any, level: float) -> float:
    """The logarithm of the width of the band of precision, by its definition."""
    (tp, fp), (n_pos, n_neg) = hits, sizes
    (t_low, t_high), (f_low, f_high) = (
        rate_interval(k, n, level, method) for k, n in ((tp, n_pos), (fp, n_neg))
    )
    if method == "wilson":
        t_high = raise_end_of_recall(tp, n_pos, t_high, level)
    t, f = tp / n_pos, fp / n_neg
    if tp == 0 or fp == 0:
        low, high = t_low / f_high, t_high / f_low if f_low > 0 else math.inf
    else:
        down = math.hypot(math.log(t / t_low) if t_low else math.inf, math.log(f_high / f))
        up = math.hypot(math.log(t_high / t), math.log(f / f_low) if f_low else math.inf)
        low, high = t / f * math.exp(-down), t / f * math.exp(up) if up < 700 else math.inf
    if eta is None:
        root = math.sqrt(low / high) if high < math.inf else 0.0
        return math.log((1 - root) / (1 + root))
    odds = eta / (1 - eta)
    above, below = (
        ratio * odds / (1 + ratio * odds) if ratio < math.inf else 1.0 for ratio in (high, low)
    )
    return math.log(above - below)


def solve(recall: float, fpr: float, eta: float | None, options: dict[str, Any]) -> tuple[int, int]:
    """Both sizes, by numbers."""
    delta, level, method, assurance = (
        options[name] for name in ("delta", "level", "method", "assurance")
    )
    rates, z = (recall, fpr), NormalDist().inv_cdf(assurance)
    alone = [
        sample_size(r, delta, level, "hoeffding" if method == "hoeffding" else "wilson") for r in rates
    ]

    def reached(log_factor: float) -> float:
        sizes = [n * math.exp(log_factor) for n in alone]
        hits = [rate * n for rate, n in zip(rates, sizes, strict=True)]
        middle, squares = log_width(hits, sizes, eta, method, level), 0.0
        for i, (rate, n) in enumerate(zip(rates, sizes, strict=True)):
            step = z * math.sqrt(hits[i] * (1 - rate)) + 0.5
            growth = 0.0
            for moved in (max(hits[i] - step, 0.0), min(hits[i] + step, n)):
                at = [moved if i == j else k for j, k in enumerate(hits)]
                growth = max(growth, log_width(at, sizes, eta, method, level) - middle)
            squares += growth**2
        return middle + math.sqrt(squares)

    least, greatest, widest = -16.0, 8.0, math.log(delta)
    if options.get("relative") and eta is not None:
        widest += math.log(recall * eta / (recall * eta + fpr * (1 - eta)))
    for _ in range(36):
        middle = (least + greatest) / 2
        if reached(middle) <= widest:
            greatest = middle
        else:
            least = middle
    n_pos, n_neg = (math.ceil(n * math.exp(greatest)) for n in alone)
    return n_pos, n_neg


def one_point(tp: int, n_pos: int, fp: int, n_neg: int) -> pl.DataFrame:
    return pl.DataFrame({"score": [1, 0], "n_pos": [tp, n_pos - tp], "n_neg": [fp, n_neg - fp]})


AT_ONE: Any = {"threshold": 1, "counts": ("n_pos", "n_neg")}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("method", METHODS)
@examples(60)
@given(
    st.integers(1, 40),
    st.integers(1, 400),
    st.sampled_from([None, 0.001, 0.05, 0.5, 0.9]),
    st.tuples(st.sampled_from([0.05, 0.1, 0.4]), st.sampled_from([0.5, 0.8, 0.99])),
)
def test_sizes(method: Any, tp: int, fp: int, eta: float | None, asked: tuple[float, float]) -> None:
    delta, assurance = asked
    how: Any = {"delta": delta, "assurance": assurance, "confidence": intervals(0.9, rate=method)}
    options = {"delta": delta, "level": 0.9, "method": method, "assurance": assurance}
    for relative in [False] if eta is None else [False, True]:
        found = one_point(tp, 40, fp, 400).prc.sample_size(eta=eta, relative=relative, **how, **AT_ONE)
        assert found.select("n_pos", "n_neg").row(0) == (40, 400)
        expected = solve(tp / 40, fp / 400, eta, {**options, "relative": relative})
        # One more or less where a size is within rounding of a whole number.
        assert found.select("n_pos_needed", "n_neg_needed").row(0) == pytest.approx(
            expected, abs=1, rel=1e-8
        )


def test_a_relative_width_is_a_share_of_precision() -> None:
    """The band of a table of the size needed is half as wide as its precision, also of a tiny one."""
    for eta in (1e-5, 0.001, 0.01):
        needed = one_point(600, 1_000, 100, 10_000).prc.sample_size(
            0.5, eta, relative=True, assurance=0.5, **AT_ONE
        )
        n_pos, n_neg = (int(n) for n in needed.select("n_pos_needed", "n_neg_needed").row(0))
        table = one_point(round(0.6 * n_pos), n_pos, round(0.01 * n_neg), n_neg)
        band = table.prc.operating_points(
            eta, confidence=0.95, metrics="precision", columns="all", **AT_ONE
        )
        low, high, value = band.select("precision_low", "precision_high", "precision").row(0)
        assert 0.4 <= (high - low) / value <= 0.52
    with pytest.raises(PrcError, match="pass eta= with relative=True: precision depends on it"):
        one_point(6, 10, 3, 50).prc.sample_size(0.5, relative=True, **AT_ONE)


def test_worked_sizes() -> None:
    """Recall 0.6 and fpr 0.01; the numbers are of a program of its own."""
    table = one_point(600, 1_000, 100, 10_000)
    asked: Any = {"eta": [0.01, 0.5], **AT_ONE}
    found = table.prc.sample_size(**asked).select("eta", "n_pos_needed", "n_neg_needed")
    assert found.rows()[0] == (0.01, 122.0, 18_015.0)
    everywhere = table.prc.sample_size(**AT_ONE).select("n_pos_needed", "n_neg_needed")
    assert everywhere.rows() == [(139.0, 20_602.0)]
    # No prevalence needs more than all of them do.
    assert found.select(pl.col("n_neg_needed").max()).item() <= 20_602
    most = table.prc.sample_size(assurance=0.95, **asked)["n_neg_needed"][0]
    assert 18_015 < most == 19_288


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("recall", "fpr", "eta", "delta", "assurance"),
    [
        (0.6, 0.01, None, 0.1, 0.8),
        (0.6, 0.01, 0.01, 0.1, 0.5),
        (0.3, 0.0005, 0.001, 0.05, 0.95),
        (0.9, 0.1, 0.5, 0.3, 0.8),
        (0.6, 0.1, 0.001, 0.1, 0.8),
    ],
)
def test_test_sets_of_that_size_are_narrow_enough(
    recall: float, fpr: float, eta: float | None, delta: float, assurance: float
) -> None:
    """By the band of the package itself, over test sets that are drawn."""
    rates = {"tpr": [recall], "fpr": [fpr]}
    needed = pl.DataFrame(rates).prc.sample_size(
        delta, eta=eta, assurance=assurance, recall=recall, rates=("tpr", "fpr")
    )
    n_pos, n_neg = (int(n) for n in needed.select("n_pos_needed", "n_neg_needed").row(0))
    rng, draws = np.random.default_rng(3), 4_000
    tp, fp = rng.binomial(n_pos, recall, draws), rng.binomial(n_neg, fpr, draws)
    above = pl.DataFrame({"draw": range(draws), "score": 1, "n_pos": tp, "n_neg": fp})
    below = above.with_columns(score=0, n_pos=n_pos - pl.col("n_pos"), n_neg=n_neg - pl.col("n_neg"))
    sets, by = pl.concat([above, below]), {"by": "draw", **AT_ONE}
    if eta is None:
        narrow = sets.prc.sample_size(delta, **by, solve_for="eta")["eta"].fill_null(1) == 0
    else:
        bands = sets.prc.operating_points(eta, metrics="precision", confidence=0.95, columns="all", **by)
        narrow = (bands["precision_high"] - bands["precision_low"] <= delta).fill_null(value=False)
    assert narrow.mean() >= assurance - 0.02


def test_sizes_and_resolution_ask_for_one_band() -> None:
    """A table of the size needed has the resolution that was asked for."""
    for eta in (0.002, 0.05):
        needed = one_point(600, 1_000, 100, 10_000).prc.sample_size(eta=eta, assurance=0.5, **AT_ONE)
        n_pos, n_neg = (int(n) for n in needed.select("n_pos_needed", "n_neg_needed").row(0))
        table = one_point(round(0.6 * n_pos), n_pos, round(0.01 * n_neg), n_neg)
        band = table.prc.operating_points(
            eta, confidence=0.95, metrics="precision", columns="all", **AT_ONE
        )
        width = band.select(pl.col("precision_high") - pl.col("precision_low")).item()
        assert 0.095 <= width <= 0.1005  # the half example that is added makes it narrower
        if eta > 0.02:  # precision is above 1/2 there, so the band is narrower at all above
            assert (
                0.9 * eta <= table.prc.sample_size(**AT_ONE, solve_for="eta")["eta"].item() <= 1.01 * eta
            )


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("eta", [None, 0.01, 0.2])
@pytest.mark.parametrize("method", ["wilson", "jeffreys"])
def test_the_pair_is_one_of_many(eta: float | None, method: Any) -> None:
    """A table of one of both sizes needs the other one beside it, and a larger one fewer."""
    words: Any = {"rates": ("tpr", "fpr"), "sizes": ("n_pos", "n_neg")}
    asked: Any = {"delta": 0.1, "eta": eta, "confidence": intervals(rate=method), "recall": 0.6}

    def ask(n_pos: float, n_neg: float) -> dict[str, Any]:
        sizes = {"n_pos": [int(n_pos)], "n_neg": [int(n_neg)]}
        table = pl.DataFrame({"tpr": [0.6], "fpr": [0.02]} | sizes)
        lazy = table.lazy().prc.sample_size(**asked, **words) if method == "wilson" else None
        found = table.prc.sample_size(**asked, **words)
        assert lazy is None or lazy.collect().equals(found)
        return found.row(0, named=True)

    pair = ask(1_000, 1_000)
    of_pair = ask(pair["n_pos_needed"], pair["n_neg_needed"])
    for count in ("n_pos", "n_neg"):
        assert of_pair[f"{count}_needed"] == pair[f"{count}_needed"]
        assert of_pair[f"{count}_beside"] == pytest.approx(pair[f"{count}_needed"], rel=0.06, abs=1)
    more = ask(10 * pair["n_pos_needed"], 10 * pair["n_neg_needed"])
    assert more["n_pos_beside"] < pair["n_pos_needed"]
    assert more["n_neg_beside"] < pair["n_neg_needed"]
    few = ask(pair["n_pos_needed"] / 10, pair["n_neg_needed"] / 10)
    assert (few["n_pos_beside"], few["n_neg_beside"]) == (None, None)


def test_rows_with_weights_keep_no_class() -> None:
    frame = pl.DataFrame({"score": [3, 2, 1, 0] * 9, "label": [1, 0, 1, 0] * 9, "w": [1.5] * 36})
    found = frame.prc.sample_size(0.5, recall=0.9, weight="w")
    assert found["n_pos_needed"].item() > 0
    assert found.select("n_pos_beside", "n_neg_beside").row(0) == (None, None)


def test_what_needs_nothing_and_what_cannot_be_planned() -> None:
    table = one_point(6, 10, 3, 50)
    known = table.prc.sample_size(eta=[0, 1], **AT_ONE)
    assert known.select("n_pos_needed", "n_neg_needed").rows() == [(1, 1), (1, 1)]
    rates = pl.DataFrame({"g": [0, 1, 2], "tpr": [0.0, 0.6, 0.0], "fpr": [0.3, 0.0, 0.0]})
    found = rates.prc.sample_size(eta=0.1, recall=0.0, rates=("tpr", "fpr"), by="g")
    assert found.select("n_pos_needed", "n_neg_needed").rows() == [(None, None)] * 3
    one_class = pl.DataFrame({"score": [1.0], "label": [False]}).prc.sample_size(fpr=1.0)
    assert one_class["n_neg_needed"].to_list() == [None]


@pytest.mark.parametrize("method", slow_unless(lambda method: method == "wilson", METHODS))
def test_tables_of_sizes(method: Any) -> None:
    rng = np.random.default_rng(8)
    df = pl.DataFrame({"score": rng.normal(size=400), "label": rng.random(400) < 0.2})
    df = df.with_columns(g=pl.int_range(400) % 3 == 0, score=pl.col("score") + pl.col("label"))
    nothing = pl.DataFrame({"score": [1.0], "label": [False], "g": [None]}, schema=df.schema)
    df = pl.concat([df, nothing])
    targets: Any = {"recall": [0.5, 0.8], "fpr": 0.1, "threshold": 99.0, "by": "g"}
    points = df.prc.operating_points([None, 0.01], columns="all", **targets)
    found = df.prc.sample_size(0.2, eta=[None, 0.01], confidence=intervals(0.9, rate=method), **targets)
    same = ["g", "eta", "criterion", "target", "threshold", "recall", "fpr"]
    sizes = ["n_pos", "n_neg", "n_pos_needed", "n_neg_needed", "n_pos_beside", "n_neg_beside"]
    assert found.columns == [*same, *sizes]
    assert_same(found.select(same), points.select(same))
    of_all = df.prc.sample_size(0.2, confidence=intervals(0.9, rate=method), **targets)
    assert of_all.columns == [name for name in found.columns if name != "eta"]
    frame = pl.DataFrame({"eta": [0.01], "site": ["north"]})
    carried = df.prc.sample_size(0.2, eta=frame, confidence=intervals(0.9, rate=method), **targets)
    assert carried["site"].unique().to_list() == ["north"]
    at_eta = found.filter(pl.col("eta") == 0.01)
    assert_same(carried.drop("site"), at_eta)
    if method in ("jeffreys", "clopper_pearson"):
        with pytest.raises(PrcError, match="needs a DataFrame"):
            prc(df.lazy()).sample_size(0.2, **targets, confidence=intervals(0.95, rate=method))


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"assurance": 0.4}, "assurance= takes a share of test sets from 0.5 to below 1"),
        ({"assurance": 1}, "assurance= takes a share"),
        ({"delta": 1}, "delta= takes a width"),
        (
            {"confidence": intervals(0.9, method="bootstrap")},
            r'pass "analytic": sample_size\(\) has no intervals by method="bootstrap"',
        ),
        (
            {"confidence": intervals(0.9, simultaneous=True)},
            r"leave out simultaneous=: sample_size\(\) has no simultaneous intervals",
        ),
        ({"confidence": None}, r"pass confidence=, a level such as 0.95: sample_size\(\) needs it"),
        ({"eta": 1.5}, "eta"),
    ],
)
def test_what_is_refused(options: Any, hint: str) -> None:
    with pytest.raises(PrcError, match=hint):
        one_point(6, 10, 3, 50).prc.sample_size(**options, **AT_ONE)


def test_defaults_may_be_passed() -> None:
    frame = pl.DataFrame({"score": [3, 2, 2, 1] * 20, "label": [1, 0, 1, 0] * 20, "model": ["a"] * 80})
    assert frame.prc.sample_size(0.1, recall=0.5).equals(
        frame.prc.sample_size(0.1, recall=0.5, assurance=0.8)
    )
    with pytest.raises(PrcError, match='solve_for="eta" looks for the'):
        frame.prc.sample_size(0.1, solve_for="eta", threshold=2, assurance=0.8)
    with pytest.raises(PrcError, match='rate="jeffreys" needs a DataFrame'):
        frame.lazy().prc.sample_size(0.1, recall=0.5, confidence=intervals(rate="jeffreys"))
    with pytest.raises(PrcError, match="maximize= has 'f1' twice"):
        frame.prc.operating_points(0.1, maximize=["f1", "f1"])
