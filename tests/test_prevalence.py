"""Every form of `eta`, and the grids and ratios beside it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from polars_prcurve import (
    PrcError,
    eta_from_ratio,
    eta_from_sample,
    eta_grid,
    field,
    prc,
    ratio_from_eta,
    scorer,
)
from polars_prcurve.core.prevalence.eta_values import check_eta
from polars_prcurve.doors.cli.options import read_etas
from polars_prcurve.view.words.number_words import say_eta
from tests.support.profiles import examples

DF = pl.DataFrame(
    {
        "market": ["de", "de", "de", "fr", "fr", "fr", "fr", None, None],
        "model": ["a", "a", "b", "a", "a", "b", "b", "a", "a"],
        "score": [0.9, 0.2, 0.5, 0.4, 0.7, 0.1, 0.8, 0.3, 0.6],
        "label": [1, 0, 1, 1, 0, 0, 1, 0, 1],
    }
)


def one_by_one(etas: list[float | None]) -> pl.DataFrame:
    return pl.concat(DF.prc.curve(eta, by="market") for eta in etas).sort(
        "market", "eta", "threshold", descending=[False, False, True], maintain_order=True
    )


@pytest.mark.parametrize(
    "eta",
    [
        [0.5, 0.01, 0.25],
        (0.5, 0.01, 0.25),
        np.array([0.5, 0.01, 0.25]),
        pl.Series([0.5, 0.01, 0.25]),
        pl.DataFrame({"eta": [0.5, 0.01, 0.25]}),
        pl.LazyFrame({"eta": [0.5, 0.01, 0.25]}),
        iter([0.5, 0.01, 0.25]),
    ],
    ids=["list", "tuple", "array", "Series", "frame", "lazy frame", "iterator"],
)
def test_several_prevalences_in_any_form(eta: object) -> None:
    assert_frame_equal(DF.prc.curve(eta, by="market"), one_by_one([0.01, 0.25, 0.5]), check_exact=True)


@pytest.mark.parametrize("eta", [0.25, np.float64(0.25), np.float32(0.25), [0.25], pl.Series([0.25])])
def test_one_prevalence_in_any_form(eta: object) -> None:
    assert_frame_equal(DF.prc.curve(eta), DF.prc.curve(0.25), check_exact=True)


@pytest.mark.parametrize("eta", [0, 1, np.int64(1)])
def test_whole_numbers_are_prevalences(eta: object) -> None:
    assert DF.prc.curve(eta)["eta"].unique().to_list() == [float(eta)]  # type: ignore[arg-type]


def test_none_is_each_groups_own_prevalence_and_sorts_by_its_value() -> None:
    curve = DF.prc.curve([0.6, None], by="market")
    assert curve["eta"].is_between(0, 1).all()
    own = DF.group_by("market").agg(own=pl.col("label").mean())
    listed = (
        curve.join(own, on="market", nulls_equal=True)
        .group_by("market")
        .agg("eta", pl.col("own").first())
    )
    for etas, value in listed.select("eta", "own").iter_rows():
        assert set(etas) == {0.6, value}
    assert curve.equals(curve.sort("market", "eta", "threshold", descending=[False, False, True]))


def test_a_frame_gives_each_group_its_own_prevalence() -> None:
    etas = pl.DataFrame(
        {"market": ["fr", None, "de", "uk"], "eta": [0.01, None, 0.2, 0.3], "note": [1, 2, 3, 4]}
    )
    curve = DF.prc.curve(etas, by=["market", "model"])
    assert curve.columns[:5] == ["market", "model", "eta", "note", "threshold"]
    assert "uk" not in curve["market"]
    for market, eta in (("fr", 0.01), ("de", 0.2)):
        part = curve.filter(pl.col("market") == market).drop("note")
        alone = DF.filter(pl.col("market") == market).prc.curve(eta, by=["market", "model"])
        assert_frame_equal(part, alone, check_exact=True)
    part = curve.filter(pl.col("market").is_null()).drop("note")
    assert_frame_equal(part, DF.filter(pl.col("market").is_null()).prc.curve(by=["market", "model"]))


def test_a_frame_may_hold_several_prevalences_per_group_and_keys_of_all_columns() -> None:
    etas = DF.select("model", "market").unique().join(pl.DataFrame({"eta": [0.3, 0.1]}), how="cross")
    curve = DF.prc.curve(etas, by=["market", "model"])
    assert_frame_equal(curve, DF.prc.curve([0.1, 0.3], by=["market", "model"]), check_exact=True)


def test_the_grid_holds_its_ends_and_every_power_of_ten_between() -> None:
    grid = eta_grid()
    assert grid[0] == 1e-6
    assert grid[-1] == 0.5
    assert {1e-5, 1e-4, 1e-3, 0.01, 0.1} <= set(grid)
    assert grid == sorted(set(grid))
    assert len(DF.prc.curve(grid)["eta"].unique()) == len(grid)


@examples(100)
@given(
    st.floats(1e-12, 0.4),
    st.floats(0.45, 1.0),
    st.integers(2, 80),
)
def test_grids_are_strictly_rising_and_evenly_spaced_but_for_powers_of_ten(
    low: float, high: float, n: int
) -> None:
    grid = eta_grid(low, high, n)
    assert grid[0] == low
    assert grid[-1] == high
    steps = np.diff(np.log(grid))
    assert (steps > 0).all()
    assert steps.max() <= math.log(high / low) / (n - 1) * (1 + 1e-9) + 1e-9
    powers = [10.0**k for k in range(-13, 1) if low < 10.0**k < high]
    assert all(any(math.isclose(p, x, rel_tol=1e-15) for x in grid) for p in powers)


@pytest.mark.parametrize(
    ("ratio", "eta"),
    [
        ("1:1", 0.5),
        ("1:99", 0.01),
        (" 2 : 6 ", 0.25),
        ("0.5:1.5", 0.25),
        ("1:0", 1.0),
        ("0:1", 0.0),
        (1, 0.5),
        ("3", 0.75),
        (math.inf, 1.0),
    ],
)
def test_ratios_are_positives_to_negatives(ratio: str | float, eta: float) -> None:
    assert eta_from_ratio(ratio) == eta


@pytest.mark.parametrize(
    ("text", "eta"),
    [
        *(
            (text, 0.001)
            for text in ("0.001", "1/1000", "1 in 1000", "1 in 1,000", "1 in 1,000", "1:999")
        ),
        *((text, 0.001) for text in ("1 in 1\u2009000", "1\u00a0in\u00a01\u202f000", "2 in 2_000")),
        ("1 in 2.5", 0.4),
        ("1 : 1,000", 1 / 1001),
        ("1/5000", 0.0002),
        ("0.1%", 0.001),
    ],
)
def test_texts_of_prevalences_are_read_at_every_door(text: str, eta: float) -> None:
    frame = pl.DataFrame({"score": [2, 1], "label": [1, 0]})
    assert prc(frame).summary(text, columns="all")["eta"].to_list()[0] == eta
    assert prc(frame).summary([text, 0.75], metrics="roc_auc", columns="all")["eta"].to_list() == [
        eta,
        0.75,
    ]
    assert scorer("pr_auc", eta=text) == scorer("pr_auc", eta=eta)


def test_what_charts_and_reports_say_of_a_prevalence_can_be_asked_for() -> None:
    for eta in (0.5, 0.1, 0.035, 1 / 250, 0.001, 1 / 283_000, 1e-9):
        assert check_eta(say_eta(eta)) == pytest.approx(eta, rel=0.01)


@pytest.mark.parametrize("text", ["0,001", "x", "1/0", "1/2/3", "1/", "", "1 in", "%", "nan"])
def test_other_texts_are_no_prevalence(text: str) -> None:
    with pytest.raises(PrcError, match=r'texts such as "0.1%", "1 in 1000" and "1:999"; got'):
        check_eta(text)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("text", ["1 in 100", "1/100", "1:99"])
def test_every_method_takes_a_prevalence_as_text(text: str) -> None:
    df = pl.DataFrame(
        {"model": ["a", "b"] * 4, "score": [9, 8, 7, 6, 5, 3, 4, 1], "label": [1, 1, 0, 1, 1, 0, 0, 0]}
    )
    draw = df.prc.plot.roc_curve
    assert draw(text).to_dict() == draw(0.01).to_dict()
    for leaders in (False, True):
        found, expected = (
            df.prc.crossings(leaders=leaders, eta_range=ends) for ends in ((text, "1 in 2"), (0.01, 0.5))
        )
        assert found.equals(expected)


@pytest.mark.parametrize("wrong", ["1 in", "x", 2, True, [0.1]])
def test_what_is_no_prevalence_is_refused_by_every_method(wrong: Any) -> None:
    df = pl.DataFrame({"model": ["a", "b"], "score": [0.9, 0.1], "label": [1, 0]})
    with pytest.raises(PrcError, match="eta= takes"):
        df.prc.plot.roc_curve(wrong)
    with pytest.raises(PrcError, match=r"eta_range= (takes|is) two prevalences"):
        df.prc.crossings(eta_range=(wrong, 0.5))


def test_a_share_is_no_ratio() -> None:
    for text in ("1/1000", "1 in 1000"):
        with pytest.raises(PrcError, match=f"{text}' as eta= as it stands"):
            eta_from_ratio(text)


@pytest.mark.parametrize(
    ("words", "etas"),
    [
        (["1 in 1,000,0.5"], [0.001, 0.5]),
        (["1 in 10,1 in 100"], [0.1, 0.01]),
        (["1 in 100,200/1000", "own"], [0.01, 0.2, None]),
        (["0.1,0.2", "1:1"], [0.1, 0.2, 0.5]),
    ],
)
def test_commas_part_prevalences_and_thousands(words: list[str], etas: list[float | None]) -> None:
    assert [eta and check_eta(eta) for eta in read_etas(words)] == etas


@pytest.mark.parametrize(
    "other", [pl.DataFrame.to_arrow, pytest.param(pl.DataFrame.to_pandas, marks=pytest.mark.extras)]
)
def test_a_table_of_another_library_is_a_frame_of_prevalences(
    other: Callable[[pl.DataFrame], Any],
) -> None:
    frame = pl.DataFrame({"market": ["de", "fr", None], "eta": [0.1, 0.2, 0.3]})
    at = pl.DataFrame({"market": ["de", "fr", None], "threshold": [0.4, 0.5, 0.6]})
    sample = pl.DataFrame({"market": ["de", "fr", None], "k": [1, 2, 3], "n": [10, 10, 10]})
    shares, of_df = frame.with_columns(share=1), prc(DF)
    assert_frame_equal(of_df.curve(other(frame), by="market"), of_df.curve(frame, by="market"))
    asked: Any = {"by": "market", "threshold": other(at)}
    expected = of_df.operating_points(0.1, by="market", threshold=at, columns="all")
    assert_frame_equal(of_df.operating_points(0.1, columns="all", **asked), expected)
    assert_frame_equal(eta_from_sample(other(sample)), eta_from_sample(sample))
    found = of_df.summary(field(other(shares), parts="market"), metrics="roc_auc", columns="all")
    assert_frame_equal(
        found, of_df.summary(field(shares, parts="market"), metrics="roc_auc", columns="all")
    )
    assert_frame_equal(
        of_df.reweight(field(other(shares), parts="market")),
        of_df.reweight(field(shares, parts="market")),
    )


@examples(100)
@given(st.floats(0, 1, exclude_max=True))
def test_ratio_and_prevalence_are_inverse(eta: float) -> None:
    assert math.isclose(eta_from_ratio(ratio_from_eta(eta)), eta, rel_tol=1e-12, abs_tol=1e-300)


def test_prevalence_1_is_an_infinite_ratio() -> None:
    assert ratio_from_eta(1) == math.inf


def test_at_0_and_1_precision_is_what_the_limit_says() -> None:
    curve = DF.prc.curve([0, 1], metrics=["precision", "recall_gain"])
    at = curve.partition_by("eta", as_dict=True)
    zero = at[(0.0,)].filter(pl.col("fp") > 0)["precision"]
    assert zero.unique().to_list() == [0.0]
    assert (
        at[(0.0,)].filter(pl.col("fp") == 0)["precision"].null_count()
        == at[(0.0,)].filter(pl.col("fp") == 0).height
    )
    assert at[(1.0,)].filter(pl.col("tp") > 0)["precision"].unique().to_list() == [1.0]
    assert at[(1.0,)]["recall_gain"].null_count() == at[(1.0,)].height


@pytest.mark.parametrize("eta", [1e-300, 1e-12, 1 - 1e-12])
def test_extreme_prevalences_stay_finite(eta: float) -> None:
    curve = DF.prc.curve(eta)
    exact = pl.col("recall") / (pl.col("recall") + pl.col("fpr") * ((1 - eta) / eta))
    assert_frame_equal(
        curve.select("precision"), curve.select(precision=exact), rel_tol=1e-12, abs_tol=1e-310
    )
