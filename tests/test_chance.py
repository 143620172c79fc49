"""Whether scores are above chance: against sums over all draws, and over many random labels."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import stats

from polars_prcurve import intervals
from polars_prcurve.core.confidence import chance_test

Floats = NDArray[np.float64]


def find_marks(score: Floats, shift: float) -> tuple[Floats, Floats]:
    """Return the mean place and the mean reciprocal rank of each example, by its score."""
    order = np.argsort(-score, kind="stable")
    tied = np.r_[True, np.diff(score[order]) != 0].cumsum() - 1
    count = np.bincount(tied)
    high = count.cumsum()
    low = high - count
    marks = (low + high) / 2, np.log((high + shift) / (low + shift)) / count
    found = np.empty((2, len(score)))
    for row, mark in zip(found, marks, strict=True):
        row[order] = mark[tied]
    return found[0], found[1]


def find_deviates(label: Any, score: Floats) -> tuple[float, float]:
    """Return both normal deviates, from the moments of sums over all draws of as many examples."""
    n, n_pos = len(label), int(label.sum())
    shift = 0.5 + 0.1 * n / min(n_pos, n - n_pos)
    places, tops = find_marks(score, shift)
    found = []
    for marks, half in ((-places, 0.5), (tops, 0.0)):
        total = marks[label].sum() - half - n_pos * marks.mean()
        off = marks - marks.mean()
        share = n_pos * (n - n_pos) / (n - 1)
        variance = share * (off**2).mean()
        third = share * (n - 2 * n_pos) / (n - 2) * (off**3).mean()
        skewness = third / variance**1.5
        z = total / variance**0.5
        if abs(skewness) > 1e-6 and not half:
            z = 6 / skewness * (np.cbrt(1 + skewness * z / 2) - 1 + skewness**2 / 36)
        found.append(float(z))
    return found[0], found[1]


def draw(n: int, eta: float, gain: float, step: float | None, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    label = rng.random(n) < eta
    score = rng.normal(size=n) + gain * label
    return pl.DataFrame({"score": score if step is None else np.round(score / step), "label": label})


def measure(df: pl.DataFrame) -> tuple[float, float]:
    """Return the deviates as the library has them."""
    n_pos = float(df["label"].sum())
    n_neg = df.height - n_pos
    rates = (
        df.prc.sweep()
        .select(
            pl.lit(0).alias("_prc_group"),
            *("recall", "fpr"),
            pl.col("recall").shift(1).fill_null(0.0).alias("_prc_recall_before"),
            pl.col("fpr").shift(1).fill_null(0.0).alias("_prc_fpr_before"),
        )
        .filter(pl.col("recall") > pl.col("_prc_recall_before"))
    )
    shift = 0.5 + 0.1 * df.height / min(n_pos, n_neg)
    sizes = {"n_pos": n_pos, "n_neg": n_neg, "n": float(df.height), "place_shift": shift}
    totals = {name: pl.lit(size) for name, size in sizes.items()}
    sums = chance_test.add_up_places(rates.lazy().with_columns(**totals)).sum()
    found = chance_test.find_deviations(sums.with_columns(**totals)).collect()
    return found["ranks"].item(), found["top"].item()


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(("n", "eta"), [(60, 0.2), (400, 0.05), (300, 0.5), (100, 0.9)])
@pytest.mark.parametrize("step", [None, 0.5])
def test_both_tests_are_those_of_the_definition(n: int, eta: float, step: float | None) -> None:
    for seed in range(5):
        df = draw(n, eta, 0.4, step, seed)
        expected = find_deviates(df["label"].to_numpy(), df["score"].to_numpy())
        # Ties among negatives alone are not read, and places between positives count as integrals.
        assert measure(df) == pytest.approx(expected, abs=0.03)


def test_the_moments_are_those_of_all_draws() -> None:
    """Of 4 positives among 11 examples there are 330 draws."""
    score = np.array([9.0, 8, 7, 7, 5, 4, 4, 4, 2, 1, 0])
    _, tops = find_marks(score, 1.0)
    sums = np.array([tops[list(chosen)].sum() for chosen in combinations(range(11), 4)])
    off = tops - tops.mean()
    assert sums.mean() == pytest.approx(4 * tops.mean())
    assert sums.var() == pytest.approx(4 * 7 / 10 * (off**2).mean())
    expected = 4 * 7 * (11 - 8) / (10 * 9) * (off**3).mean()
    assert ((sums - sums.mean()) ** 3).mean() == pytest.approx(expected)


def test_ranks_are_those_of_mann_and_whitney() -> None:
    for seed in range(5):
        df = draw(200, 0.3, 0.3, None, seed)
        pos, neg = (df.filter(pl.col("label") == of)["score"].to_numpy() for of in (True, False))
        told = stats.mannwhitneyu(pos, neg, alternative="greater", method="asymptotic")
        assert stats.norm.sf(measure(df)[0]) == pytest.approx(told.pvalue, rel=1e-6)


def test_either_test_decides_with_half_of_the_error() -> None:
    sets = [draw(150, 0.2, 0.5, None, seed) for seed in range(40)]
    deviates = np.array([max(measure(df)) for df in sets])
    rows = pl.concat(df.with_columns(set=pl.lit(number)) for number, df in enumerate(sets))
    seen: set[bool] = set()
    for level in (0.8, 0.95, 0.999):
        found = rows.prc.summary(by="set", confidence=level, columns="all")["above_chance"].to_list()
        expected = (deviates >= stats.norm.isf((1 - level) / 2)).tolist()
        assert found == [above for above in expected for _ in range(2)]
        seen.update(expected)
    assert seen == {True, False}


@pytest.mark.parametrize("step", [None, 0.5])
def test_coins_are_seldom_above_chance(step: float | None) -> None:
    rng = np.random.default_rng(1)
    sets, n = 1_000, 120
    label = np.tile(np.arange(n) < 12, sets)
    score = rng.normal(size=sets * n)
    df = pl.DataFrame(
        {
            "set": np.repeat(np.arange(sets), n),
            "label": label,
            "score": score if step is None else np.round(score / step),
        }
    )
    found = df.prc.summary(metrics="roc_auc", by="set", confidence=0.95, columns="all")["above_chance"]
    assert 0.02 <= found.mean() <= 0.065
    useful = df.with_columns(pl.col("score") + (1.5 if step is None else 3.0) * pl.col("label"))
    found = useful.prc.summary(metrics="roc_auc", by="set", confidence=0.95, columns="all")[
        "above_chance"
    ]
    assert found.mean() > 0.9


def test_a_model_that_is_good_at_the_top_alone_is_found() -> None:
    rng = np.random.default_rng(2)
    sets, n = 200, 1_020
    label = np.tile(np.arange(n) < 20, sets)
    easy = label & (rng.random(sets * n) < 0.2)
    df = pl.DataFrame(
        {
            "set": np.repeat(np.arange(sets), n),
            "label": label,
            "score": rng.normal(size=sets * n) + 4 * easy,
        }
    )
    found = df.prc.summary(metrics="roc_auc", by="set", confidence=0.95, columns="all")["above_chance"]
    assert found.mean() >= 0.85


def test_it_is_one_answer_for_a_group() -> None:
    df = pl.concat([draw(300, 0.2, gain, 0.3, 3).with_columns(g=pl.lit(gain)) for gain in (0.0, 1.0)])
    areas = df.prc.summary([None, 0.01], by="g", confidence=0.95, columns="all")
    points = df.prc.operating_points(
        [None, 0.01],
        by="g",
        recall=0.5,
        precision=0.3,
        maximize="f1",
        threshold=3.0,
        confidence=0.95,
        columns="all",
    )
    for found in (areas, points):
        told = found.group_by("g").agg(pl.col("above_chance").unique())
        assert dict(told.rows()) == {0.0: [False], 1.0: [True]}
        place = found.columns.index("above_chance")
        assert found.columns[place + 1 :] == ["doubt"]
    counted = df.prc.counts(by="g").prc.summary(
        by="g", counts=("n_pos", "n_neg"), confidence=0.95, columns="all"
    )
    resampled = intervals(0.95, method="bootstrap", resamples=20, seed=1)
    for found in (counted, df.prc.summary(by="g", confidence=resampled, columns="all")):
        told = found.group_by("g").agg(pl.col("above_chance").unique())
        assert dict(told.rows()) == {0.0: [False], 1.0: [True]}


def test_rows_that_do_not_count_alike_have_the_test_of_the_area() -> None:
    rng = np.random.default_rng(4)
    for gain in (0.0, 1.0):
        df = draw(400, 0.2, gain, None, 5).with_columns(
            w=pl.Series(rng.choice([1.0, 9.0], 400)), p=pl.Series(rng.integers(0, 150, 400))
        )
        for how in ({"weight": "w"}, {"cluster": "p"}):
            found = df.prc.summary(metrics="roc_auc", confidence=0.95, columns="all", **how)  # type: ignore[arg-type]
            row = found.row(0, named=True)
            deviation = (row["value"] - 0.5) / row["standard_error"]
            limit = stats.norm.isf(0.05) if "weight" in how else stats.t.isf(0.05, 100)
            assert row["above_chance"] == (deviation > limit) == (gain > 0)
            points = df.prc.operating_points(recall=0.5, confidence=0.95, columns="all", **how)
            assert points["above_chance"].to_list() == [None]


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("labels", "scores", "expected"),
    [
        ([True, True], [1.0, 2.0], None),  # one class
        ([True, False], [1.0, 1.0], False),  # one score
        ([True, False], [2.0, 1.0], False),  # two examples prove nothing
        ([True] * 10 + [False] * 10, [1.0] * 10 + [0.0] * 10, True),
        ([True] * 10 + [False] * 10, [0.0] * 10 + [1.0] * 10, False),  # upside down
    ],
)
def test_ends(labels: list[bool], scores: list[float], expected: bool | None) -> None:
    df = pl.DataFrame({"score": scores, "label": labels})
    assert (
        df.prc.summary(0.1, confidence=0.95, columns="all")["above_chance"].to_list() == [expected] * 2
    )
    points = df.prc.operating_points(0.1, recall=1.0, confidence=0.95, columns="all")
    assert points["above_chance"].to_list() == [expected]


def test_a_table_of_one_point_tells_it_too() -> None:
    cells: Any = {"cells": ("tp", "fp", "fn", "tn"), "confidence": 0.95}
    for fp, expected in ((20, True), (220, False)):
        df = pl.DataFrame({"tp": [25], "fp": [fp], "fn": [25], "tn": [480 - fp]})
        assert df.prc.summary(0.1, metrics="roc_auc", columns="all", **cells)[
            "above_chance"
        ].to_list() == [expected]
        assert df.prc.operating_points(0.1, recall=0.5, columns="all", **cells)[
            "above_chance"
        ].to_list() == [expected]
    rates = pl.DataFrame({"tpr": [0.5], "fpr": [0.04]})
    found = rates.prc.summary(
        0.1, metrics="roc_auc", rates=("tpr", "fpr"), sizes=(50, 480), confidence=0.9, columns="all"
    )
    assert found["above_chance"].to_list() == [True]
