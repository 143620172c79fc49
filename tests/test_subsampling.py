"""What precision is where only some of the negatives are kept: exact, and by drawing."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

from polars_prcurve import PrcError, prc
from polars_prcurve.core.binding.eta_argument import read_eta_argument
from polars_prcurve.core.ground.query_guards import run_query
from polars_prcurve.core.inputs.column_reader import InputColumns
from polars_prcurve.core.inputs.table_reader import read_input
from polars_prcurve.core.uncertainty import precision_under_subsampling
from polars_prcurve.core.uncertainty.precision_under_subsampling import (
    SUBSAMPLE_COLUMNS,
    build_subsample_table,
    subsampled_precision,
)

OVER = ["mean", "standard_deviation", "low", "q1", "median", "q3", "high"]


def subsampled(
    frame: pl.DataFrame,
    eta: Any = None,
    n_repeats: Any = 10,
    seed: int | None = 1,
    thresholds: Any = None,
    **columns: Any,
) -> pl.DataFrame:
    table = read_input(frame.lazy(), InputColumns(**columns), may_collect=True)
    grid = read_eta_argument(eta).build_grid(table, None)
    return run_query(
        build_subsample_table(table, grid, n_repeats=n_repeats, seed=seed, thresholds=thresholds)
    )


def binormal(n_pos: int, n_neg: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    scores = np.concatenate([rng.normal(3.0, 1.0, n_pos), rng.normal(0.0, 1.0, n_neg)])
    return pl.DataFrame({"score": scores, "label": np.repeat([1, 0], [n_pos, n_neg])})


# One threshold --------------------------------------------------------------------------------


def by_fractions(tp: int, fp: int, n_neg: int, n_kept: int) -> tuple[float, float, list[float]]:
    """The definition, without rounding."""
    ways = {k: math.comb(fp, k) * math.comb(n_neg - fp, n_kept - k) for k in range(min(fp, n_kept) + 1)}
    chance = {k: Fraction(n, math.comb(n_neg, n_kept)) for k, n in ways.items()}
    mean = sum((p * Fraction(tp, tp + k) for k, p in chance.items()), Fraction(0))
    variance = sum((p * (Fraction(tp, tp + k) - mean) ** 2 for k, p in chance.items()), Fraction(0))
    quartiles, summed = [], Fraction(0)
    for k, p in chance.items():
        before, summed = summed, summed + p
        quartiles += [tp / (tp + k) for q in (1, 2, 3) if before < Fraction(q, 4) <= summed]
    return float(mean), math.sqrt(variance), quartiles[::-1]


@pytest.mark.parametrize("n_neg", [1, 2, 5, 8])
def test_every_small_case_by_the_definition(n_neg: int) -> None:
    for tp in (1, 3):
        for fp in range(n_neg + 1):
            for n_kept in range(1, n_neg + 1):
                mean, deviation, quartiles = by_fractions(tp, fp, n_neg, n_kept)
                found = subsampled_precision(tp, 4, fp, n_neg, n_kept)
                assert found.mean == pytest.approx(mean, rel=1e-12)
                assert found.standard_deviation == pytest.approx(deviation, rel=1e-9, abs=1e-15)
                assert found.quartiles == pytest.approx(tuple(quartiles), rel=1e-15)


def random_cases(n: int) -> list[tuple[int, ...]]:
    rng = np.random.default_rng(7)
    cases = []
    for _ in range(n):
        n_neg = int(10 ** rng.uniform(1, 8))
        n_pos = int(10 ** rng.uniform(0, 4))
        fp = min(max(1, int(n_neg * 10 ** rng.uniform(-6, 0))), n_neg - 1)
        n_kept = min(max(1, int(n_neg * 10 ** rng.uniform(-4, 0))), n_neg - 1)
        cases.append((int(rng.integers(1, n_pos + 1)), n_pos, fp, n_neg, n_kept))
    return cases


LARGE = [(5, 10, 50_000_000, 100_000_000, 50_000_000), (7, 9, 99_999_999, 10**8, 10**8 - 1)]


@pytest.mark.parametrize(
    "case", [*random_cases(60), *(pytest.param(case, marks=pytest.mark.slow) for case in LARGE)], ids=str
)
def test_moments_agree_with_scipy(case: tuple[int, ...]) -> None:
    tp, n_pos, fp, n_neg, n_kept = case
    found = subsampled_precision(*case)
    kept = stats.hypergeom(n_neg, fp, n_kept)
    reach = 12 * kept.std() + 40
    low, high = max(kept.support()[0], kept.mean() - reach), min(kept.support()[1], kept.mean() + reach)
    k = np.arange(math.floor(low), math.ceil(high) + 1)
    chance, values = kept.pmf(k), tp / (tp + k)
    chance /= chance.sum()
    mean = float(np.sum(chance * values))
    deviation = math.sqrt(np.sum(chance * (values - mean) ** 2))
    assert found.mean == pytest.approx(mean, rel=1e-9)
    assert found.standard_deviation == pytest.approx(deviation, rel=1e-7, abs=1e-15)
    for share, value in zip((0.75, 0.5, 0.25), found.quartiles, strict=True):
        at = round(tp / value - tp)
        assert kept.cdf(at - 1) - 1e-9 < share < kept.cdf(at) + 1e-9
    assert found.fpr_cv == pytest.approx(kept.std() / kept.mean(), rel=1e-9)
    recall, fpr, eta = tp / n_pos, fp / n_neg, n_pos / (n_pos + n_kept)
    assert found.eta == eta
    expected = recall * eta / (recall * eta + fpr * (1 - eta))
    assert found.precision == pytest.approx(expected, rel=1e-12)


def test_all_negatives_kept_leave_no_spread() -> None:
    found = subsampled_precision(3, 4, 5, 20, 20)
    assert found.mean == found.precision == 3 / 8
    assert found.quartiles == (3 / 8,) * 3
    assert found.standard_deviation == found.fpr_cv == 0
    assert subsampled_precision(1, 1, 1, 1, 1).fpr_cv == 0


def test_without_true_positives_precision_is_0_or_undefined() -> None:
    found = subsampled_precision(0, 4, 2, 20, 5)
    assert found[1:5] == (0, 0, 0, (0, 0, 0))
    found = subsampled_precision(0, 4, 0, 20, 5)
    assert np.isnan([*found[1:4], *found.quartiles, found.fpr_cv]).all()


def test_without_false_positives_precision_is_1() -> None:
    found = subsampled_precision(2, 4, 0, 20, 5)
    assert found[1:5] == (1, 1, 0, (1, 1, 1))
    assert math.isnan(found.fpr_cv)


def test_numbers_of_numpy_are_whole_numbers() -> None:
    counts = 40, 50, 30, 49_950, 4_950
    assert subsampled_precision(*map(np.int32, counts)) == subsampled_precision(*counts)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((5, 4, 2, 20, 5), "tp is at most n_pos; got tp=5 and n_pos=4"),
        ((3, 4, 21, 20, 5), "fp is at most n_neg; got fp=21 and n_neg=20"),
        ((3, 4, 2, 20, 21), "n_kept is at most n_neg; got n_kept=21 and n_neg=20"),
        ((-1, 4, 2, 20, 5), "tp takes a whole number of at least 0; got -1"),
        ((0, 0, 2, 20, 5), "n_pos takes a whole number of at least 1; got 0"),
        ((3, 4, 2.0, 20, 5), "fp takes a whole number of at least 0; got 2.0"),
        ((3, 4, 2, 20, 0), "n_kept takes a whole number of at least 1; got 0"),
        ((True, 4, 2, 20, 5), "tp takes a whole number of at least 0; got True"),
    ],
)
def test_impossible_counts_are_refused(counts: Any, message: str) -> None:
    with pytest.raises(PrcError, match=message):
        subsampled_precision(*counts)


# A table --------------------------------------------------------------------------------------


def test_samples_agree_with_the_exact_distribution() -> None:
    n_pos, n_neg, repeats = 50, 5_000, 2_000
    found = subsampled(binormal(n_pos, n_neg), 0.1, repeats)
    assert len(found) == n_pos
    for row in found.iter_rows(named=True):
        exact = subsampled_precision(row["tp"], n_pos, row["fp"], n_neg, row["n_kept"])
        assert exact.eta == row["eta"]
        assert exact.precision == pytest.approx(row["precision"], rel=1e-12)
        error = exact.standard_deviation / math.sqrt(repeats)
        assert abs(row["mean"] - exact.mean) <= 4 * error + 1e-15
        assert row["standard_deviation"] == pytest.approx(exact.standard_deviation, rel=0.1)
        middle = [row["q1"], row["median"], row["q3"]]
        assert middle == pytest.approx(exact.quartiles, abs=exact.standard_deviation / 2)


def test_samples_lie_around_the_adjusted_curve() -> None:
    found = subsampled(binormal(50, 49_950), 0.01, 30)
    inside = found.select(pl.col("precision").is_between("low", "high").mean()).item()
    assert inside >= 0.95
    assert found["n_kept"].unique().to_list() == [4_950]
    assert found["eta"].unique().to_list() == [0.01]


def test_samples_of_one_repeat_are_curves() -> None:
    """Negatives kept at one threshold are kept at all lower ones."""
    found = subsampled(binormal(40, 400), 0.3, 1).with_columns(
        kept_fp=(pl.col("tp") / pl.col("mean") - pl.col("tp")).round().cast(pl.Int64)
    )
    steps = found.select(kept=pl.col("kept_fp").diff(), of=pl.col("fp").diff()).drop_nulls()
    assert steps.select((pl.col("kept").is_between(0, "of")).all()).item()
    assert found["standard_deviation"].null_count() == len(found)
    assert found.select(pl.all_horizontal(pl.col("low", "q1", "q3") == pl.col("mean")).all()).item()


def test_rows_are_those_of_the_sweep() -> None:
    df = binormal(20, 300)
    found = subsampled(df, 0.5)
    sweep = prc(df).sweep().filter(pl.col("recall") > pl.col("recall").shift(1, fill_value=0.0))
    assert_frame_equal(found.select(sweep.columns), sweep)
    assert tuple(found.columns) == SUBSAMPLE_COLUMNS
    assert found.schema["n_kept"] == pl.Int64
    for thresholds in (7, [2.5, 100.0, 1.0]):
        expected = prc(df).curve(0.5, metrics="precision", thresholds=thresholds)
        found = subsampled(df, 0.5, thresholds=thresholds)
        assert_frame_equal(found.select(expected.columns), expected)


def test_own_prevalence_keeps_everything() -> None:
    df = binormal(20, 300)
    found = subsampled(df)
    expected = prc(df).curve(metrics="precision").select("threshold", "eta", "precision")
    joined = found.join(expected, on="threshold")
    assert joined.select((pl.col("eta", "precision") == pl.col("^.*_right$")).all()).row(0) == (
        True,
        True,
    )
    assert found["n_kept"].unique().to_list() == [300]
    assert found["standard_deviation"].unique().to_list() == [0.0]
    values = found.select(pl.col(name) - pl.col("precision") for name in OVER if name[0] != "s")
    assert values.max_horizontal().abs().max() < 1e-15
    assert (found["low"] == found["high"]).all()
    assert (found["low"] == found["mean"]).all()


def test_one_seed_is_one_answer() -> None:
    df = binormal(20, 300)
    assert_frame_equal(subsampled(df, [0.2, 0.5], seed=3), subsampled(df, [0.2, 0.5], seed=3))
    assert not subsampled(df, 0.2, seed=3).equals(subsampled(df, 0.2, seed=4))
    assert not subsampled(df, 0.2, seed=None).equals(subsampled(df, 0.2, seed=None))


@pytest.mark.parametrize("held", [1, 30, 100])
def test_the_size_of_blocks_changes_nothing(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    df = binormal(20, 300)
    expected = subsampled(df, [0.2, 0.5])
    monkeypatch.setattr(precision_under_subsampling, "_MAX_VALUES", held)
    assert_frame_equal(subsampled(df, [0.2, 0.5]), expected, check_exact=True)


def test_aggregated_tables_give_the_same() -> None:
    df = binormal(20, 300).with_columns(pl.col("score").round(1))
    assert_frame_equal(subsampled(prc(df).counts(), 0.3, counts=("n_pos", "n_neg")), subsampled(df, 0.3))


GROUPS = pl.concat(
    [
        binormal(5, 60, seed).with_columns(group=pl.lit(name, dtype=pl.String))
        for seed, name in enumerate([None, "b", "a"])
    ]
    + [
        pl.DataFrame({"score": [3.0, 2.0, 1.0], "label": [label] * 3, "group": name})
        for label, name in ((0, "no positives"), (1, "no negatives"))
    ]
)


def test_groups_and_prevalences_in_order() -> None:
    found = subsampled(GROUPS.sample(fraction=1, shuffle=True, seed=0), [0.5, None, 0.2], by="group")
    assert tuple(found.columns) == ("group", *SUBSAMPLE_COLUMNS)
    both = found.filter(pl.col("n_kept").is_not_null())
    assert both["group"].unique(maintain_order=True).to_list() == [None, "a", "b"]
    for _, part in both.group_by("group"):
        assert part["eta"].unique(maintain_order=True).to_list() == [5 / 65, 0.2, 0.5]
        assert part["n_kept"].unique(maintain_order=True).to_list() == [60, 20, 5]
    for _, part in both.group_by("group", "eta"):
        assert part["threshold"].is_sorted(descending=True)
        assert part["tp"].to_list() == [1, 2, 3, 4, 5]
    alone = subsampled(GROUPS.filter(pl.col("group").is_null()), [0.5, None, 0.2])
    assert_frame_equal(both.filter(pl.col("group").is_null()).drop("group"), alone)


def test_groups_with_a_missing_class_have_nulls() -> None:
    found = subsampled(GROUPS, [0.5, None, 0.2], by="group").filter(pl.col("group").str.contains("no "))
    keys = found.select("group", "eta", "threshold").rows()
    assert keys == [
        *(("no negatives", eta, t) for eta in (0.2, 0.5, 1.0) for t in (3.0, 2.0, 1.0)),
        *(("no positives", eta, t) for eta in (0.0, 0.2, 0.5) for t in (3.0, 1.0)),
    ]
    nothing = found.select("n_kept", "precision", *OVER)
    assert nothing.null_count().row(0) == (len(found),) * 9


def test_a_frame_of_prevalences_carries_columns() -> None:
    asked = pl.DataFrame({"group": ["b", "a", None], "eta": [0.5, 0.2, None], "place": ["x", "y", "z"]})
    some = GROUPS.filter(~pl.col("group").str.contains("no ").fill_null(False))
    found = subsampled(some, asked, by="group")
    assert found.columns[:4] == ["group", "eta", "place", "n_kept"]
    rows = found.select("group", "eta", "place", "n_kept").unique(maintain_order=True).rows()
    assert rows == [(None, 5 / 65, "z", 60), ("a", 0.2, "y", 20), ("b", 0.5, "x", 5)]


def test_the_nearest_number_of_negatives_is_kept() -> None:
    df = pl.DataFrame({"score": range(23), "label": [1] * 3 + [0] * 20})
    asked = [0.2, 0.3, 0.9, 1.0]
    found = subsampled(df, asked, thresholds=[0]).select("n_kept", "eta")
    assert found.rows() == [(12, 3 / 15), (7, 0.3), (1, 0.75), (1, 0.75)]


def test_undefined_samples_are_left_out() -> None:
    df = pl.DataFrame({"score": [4, 3, 2, 1, 0], "label": [0, 0, 1, 0, 0]})
    found = subsampled(df, 0.5, 40, thresholds=[5, 4, 3, 2])
    assert found["tp"].to_list() == [0, 0, 0, 1]
    undefined, *zero, _ = found.select(OVER).rows()
    assert undefined == (None,) * 7
    assert zero == [(0.0,) * 7] * 2
    once = subsampled(df, 0.5, 1, thresholds=[4, 3], seed=2).select("mean", "standard_deviation")
    assert once["standard_deviation"].to_list() == [None, None]
    twice = [subsampled(df, 0.5, 2, seed, [4]).select(OVER[:2]).row(0) for seed in range(30)]
    assert set(twice) == {(None, None), (0.0, None), (0.0, 0.0)}


# Errors ---------------------------------------------------------------------------------------


def test_more_negatives_than_there_are() -> None:
    df = binormal(20, 300)
    with pytest.raises(
        PrcError, match=r"eta=0\.01 needs 1980 negatives beside 20 positives, and there "
    ):
        subsampled(df, [0.01, 0.2])
    with pytest.raises(
        PrcError,
        match=r"pass an eta of 0\.0769231 or more, .*group = null: .*there are 60",
    ):
        subsampled(GROUPS, [0.2, 0.05], by="group")
    with pytest.raises(PrcError, match="eta=0 needs inf negatives"):
        subsampled(df, 0)


def test_more_negatives_than_can_be_drawn() -> None:
    counts = pl.DataFrame({"score": [1, 0], "n_pos": [10, 10], "n_neg": [5, 10**9]})
    with pytest.raises(PrcError, match="at most 999999999 negatives, and the table has 1000000005"):
        subsampled(counts, 0.5, counts=("n_pos", "n_neg"))
    nearly = counts.with_columns(n_neg=pl.Series([5, 10**9 - 6]))
    assert len(subsampled(nearly, 0.5, counts=("n_pos", "n_neg"))) == 2


def test_only_examples_can_be_drawn() -> None:
    df = pl.DataFrame({"score": [2.0, 1.0], "label": [1, 0], "w": [1, 2], "f": [1.0, 0.5]})
    with pytest.raises(PrcError, match=r"^leave weight= out.*needs examples that count as one each"):
        subsampled(df, weight="w")
    with pytest.raises(
        PrcError, match=r"cast counts= to integers .*, which drawing single negatives needs; got floats"
    ):
        subsampled(df, counts=("f", "f"))
    with pytest.raises(PrcError, match="rates= holds no counts"):
        subsampled(df, 0.5, rates=("label", "f"))


@pytest.mark.parametrize("n_repeats", [0, -1, 2.0, True, None, "3"])
def test_repeats_are_a_whole_number(n_repeats: Any) -> None:
    with pytest.raises(PrcError, match="n_repeats= takes a whole number of at least 1"):
        subsampled(binormal(2, 3), n_repeats=n_repeats)


def test_checks_of_the_table_hold() -> None:
    with pytest.raises(PrcError, match="null"):
        subsampled(pl.DataFrame({"score": [1.0, None], "label": [1, 0]}))


def test_an_empty_table_has_no_rows() -> None:
    df = binormal(2, 3).clear()
    assert subsampled(df, 0.5).schema == subsampled(binormal(2, 3), 0.5).schema
    assert len(subsampled(df, 0.5)) == 0
