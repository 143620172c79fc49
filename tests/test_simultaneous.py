"""Bands that hold at all thresholds and all prevalences at once."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from polars_prcurve import PrcError, intervals, metrics, prc
from polars_prcurve.core.confidence.levels_for_all_thresholds import (
    find_local_level,
    probability_at_all,
    solve_local_level,
)
from tests.support.comparing import assert_same

PER_CLASS = math.sqrt(0.95)


def walk_by_binomials(n: int, local_level: float) -> float:
    """The probability by another walk: from one end to the next, each missing event comes by chance."""
    ranks = np.arange(1, n + 1)
    lows = stats.beta.ppf(local_level, ranks, n - ranks + 1)
    highs = stats.beta.isf(local_level, ranks, n - ranks + 1)
    ends = sorted([*((t, -int(i)) for i, t in enumerate(lows, 1)), *zip(highs, ranks, strict=True)])
    chances, before = np.zeros(n + 1), 0.0
    chances[0] = 1
    for time, rank in ends:
        moved = np.zeros(n + 1)
        for count in np.flatnonzero(chances):
            left = int(n - count)
            share = (time - before) / (1 - before)
            moved[count:] += chances[count] * stats.binom.pmf(np.arange(left + 1), left, share)
        if rank < 0:
            moved[-rank:] = 0
        else:
            moved[:rank] = 0
        chances, before = moved, time
    return float(chances.sum())


@pytest.mark.parametrize("n", [1, 2, 3, 7, 25])
@pytest.mark.parametrize("local_level", [0.0005, 0.01, 0.2])
def test_the_probability_that_all_intervals_hold(n: int, local_level: float) -> None:
    expected = walk_by_binomials(n, local_level)
    assert probability_at_all(n, local_level) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("n", "expected"), [(2, 0.996063261373), (3, 0.994264494738), (10, 0.985099458137)]
)
def test_probabilities_worked_out_elsewhere(n: int, expected: float) -> None:
    """By a program of its own, to 12 digits."""
    assert probability_at_all(n, 0.001) == pytest.approx(expected, rel=2e-12)


def test_one_example_misses_on_either_side() -> None:
    assert probability_at_all(1, 0.01) == pytest.approx(0.98, rel=1e-14)
    assert probability_at_all(40, 0.49) < 1e-50
    assert probability_at_all(1, 0.6) == 0  # not an error, though the ends are in the wrong order


@pytest.mark.parametrize(
    ("n", "expected"), [(2, 0.00659859247352), (3, 0.00458502854401), (10, 0.00176310218652)]
)
def test_local_levels_worked_out_elsewhere(n: int, expected: float) -> None:
    assert find_local_level(n, PER_CLASS) == pytest.approx(expected, rel=2e-12)


@pytest.mark.parametrize("confidence", [0.001, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("n", [1, 4, 60])
def test_a_local_level_gives_the_level(n: int, confidence: float) -> None:
    local_level = solve_local_level(n, confidence)
    assert probability_at_all(n, local_level) == pytest.approx(confidence, abs=1e-13)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("n", [25, 40, 60, 120, 250])
def test_a_level_between_two_sizes_is_a_little_too_small(n: int) -> None:
    assert 0.99 <= find_local_level(n, PER_CLASS) / solve_local_level(n, PER_CLASS) <= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "confidence"), [(2_500, 0.95), (5_000, 0.95), (8_000, 0.99), (8_000, 0.8)]
)
def test_levels_of_large_classes_are_a_little_too_small(n: int, confidence: float) -> None:
    level = math.sqrt(confidence)
    assert 0.985 <= find_local_level(n, level) / solve_local_level(n, level) <= 1 + 1e-7


def test_local_levels_fall_with_the_size() -> None:
    sizes = [*range(1, 40), 2_000, 2_001, 30_000, 400_000, 400_001, 10**7, 10**12]
    found = [find_local_level(n, PER_CLASS) for n in sizes]
    assert all(more > less for more, less in pairwise(found))
    assert math.isnan(find_local_level(math.nan, 0.9))
    assert math.isnan(find_local_level(0, 0.9))


# The band -------------------------------------------------------------------------------------

AT_ONCE = intervals(0.9, simultaneous=True)


def draw(n_pos: int, n_neg: int, rng: np.random.Generator, shift: float = 1.5) -> pl.DataFrame:
    label = np.arange(n_pos + n_neg) < n_pos
    return pl.DataFrame({"score": rng.normal(size=label.size) + shift * label, "label": label})


def test_the_band_is_the_rectangle_of_local_intervals() -> None:
    df = draw(12, 30, np.random.default_rng(1))
    names = ["recall", "fpr", "precision", "f1", "fdr", "predicted_positive_rate"]
    found = df.prc.curve([0.5, 0.01, 0.3], metrics=names, confidence=intervals(0.95, simultaneous=True))
    for rate, hits, n in (("recall", "tp", 12), ("fpr", "fp", 30)):
        local_level, k = find_local_level(n, PER_CLASS), found[hits].to_numpy()
        low = np.nan_to_num(stats.beta.ppf(local_level, k, n - k + 1))
        high = np.nan_to_num(stats.beta.isf(local_level, k + 1, n - k), nan=1.0)
        assert found[f"{rate}_low"].to_numpy() == pytest.approx(low, rel=1e-9)
        assert found[f"{rate}_high"].to_numpy() == pytest.approx(high, rel=1e-9)
    rates = {name: found[name].to_numpy() for name in found.columns if name.startswith(("rec", "fpr"))}
    eta = found["eta"].to_numpy()
    for name, corners in {
        "precision": (("low", "high"), ("high", "low")),
        "f1": (("low", "high"), ("high", "low")),
        "fdr": (("high", "low"), ("low", "high")),
        "predicted_positive_rate": (("low", "low"), ("high", "high")),
    }.items():
        metric: Any = getattr(metrics, name)
        for end, (recall, fpr) in zip(("low", "high"), corners, strict=True):
            expected = metric(rates[f"recall_{recall}"], rates[f"fpr_{fpr}"], eta)
            value = found[f"{name}_{end}"].to_numpy()
            assert value == pytest.approx(expected, rel=1e-9, nan_ok=True)


def test_points_and_curves_have_one_band() -> None:
    """Of groups of different sizes, a class that is empty, and counts; whatever the order of rows."""
    rng = np.random.default_rng(2)
    parts = [
        draw(n_pos, n_neg, rng).with_columns(g=g) for g, (n_pos, n_neg) in enumerate([(3, 9), (40, 5)])
    ]
    only = pl.DataFrame({"score": [0.5, 0.7], "label": [True, True], "g": [2, 2]})
    df = pl.concat([*(part.with_columns(pl.col("g").cast(pl.Int64)) for part in parts), only])
    asked: Any = {"by": "g", "confidence": AT_ONCE}
    found = df.prc.curve(0.1, **asked)
    assert_same(df.sample(fraction=1, shuffle=True, seed=1).prc.curve(0.1, **asked), found)
    counts = df.prc.counts(by="g")
    assert_same(counts.prc.curve(0.1, counts=("n_pos", "n_neg"), **asked), found)
    for g, part in enumerate(parts):
        alone = part.drop("g").prc.curve(0.1, **{**asked, "by": None})
        assert_same(found.filter(g=g).drop("g"), alone)
    assert found.filter(g=2)["precision_low"].to_list() == [None, None]
    points = df.prc.operating_points(0.1, recall=0.5, metrics="precision", columns="all", **asked)
    ends = ["g", "threshold", "precision_low", "precision_high"]
    joined = points.select(ends).join(found, on=ends, nulls_equal=True)
    assert joined.height == points.height
    empty = df.clear().prc.curve(0.1, **asked)
    assert (empty.height, empty.schema) == (0, found.schema)


@pytest.mark.parametrize("ties", [False, True])
def test_the_band_holds_at_all_thresholds_at_once(ties: bool) -> None:
    """In at least 95% of test sets; the default band does in about half of them."""
    rng, n_sets, shift, eta = np.random.default_rng(5), 400, 1.5, 0.1
    sets = pl.concat(draw(30, 90, rng, shift).with_columns(set=pl.lit(i)) for i in range(n_sets))
    if ties:
        sets = sets.with_columns((pl.col("score") * 2).floor() / 2)
    asked: Any = {"by": "set", "metrics": ["precision", "recall", "fpr"]}
    share = {}
    for band in ("simultaneous", "default"):
        level = intervals(0.95, simultaneous=band == "simultaneous")
        found = sets.prc.curve(eta, confidence=level, **asked)
        score = found["threshold"].to_numpy()
        true = {"recall": stats.norm.sf(score - shift), "fpr": stats.norm.sf(score)}
        true["precision"] = np.asarray(metrics.precision(true["recall"], true["fpr"], eta))
        holds = [pl.Series(true[m]).is_between(found[f"{m}_low"], found[f"{m}_high"]) for m in true]
        both = found.select("set", rates=holds[0] & holds[1], precision=holds[2])
        share[band] = both.group_by("set").agg(pl.col("rates", "precision").all())
    every = {
        band: tuple(part.select(pl.col("rates", "precision").mean()).row(0))
        for band, part in share.items()
    }
    rates, of_precision = every["simultaneous"]
    assert 0.93 <= rates <= (1 if ties else 0.985)
    assert of_precision >= rates
    assert every["default"][1] < 0.85


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"weight": "w"}, "leave out weight="),
        ({"smooth": "binormal"}, "smooth="),
        ({"counts": ("w", "w")}, "cast counts= to integers"),
        (
            {"metrics": metrics.point("c", lambda *cells: cells[0])},
            "pass monotone=True to metrics.point",
        ),
    ],
)
def test_what_has_no_simultaneous_band(options: Any, hint: str) -> None:
    df = pl.DataFrame({"score": [1, 2], "label": [0, 1], "w": [0.5, 1.0]})
    with pytest.raises(PrcError, match=hint):
        df.prc.curve(0.1, confidence=AT_ONCE, **options)


def test_a_lazy_frame_cannot_have_it() -> None:
    lazy = prc(pl.LazyFrame({"score": [1, 2], "label": [0, 1]}))
    for ask in (
        lazy.curve,
        lambda eta, **how: lazy.operating_points(eta, recall=0.5, columns="all", **how),
    ):
        with pytest.raises(PrcError, match=r"^call .*simultaneous=True needs a DataFrame"):
            ask(0.1, confidence=AT_ONCE)
