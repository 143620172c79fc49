"""What was maximized is too good by its optimism: `operating_points(maximize=)` with the bootstrap."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from polars_prcurve import PrcError, intervals, metrics
from polars_prcurve.core.uncertainty.optimism import compare_with_sample, find_rates
from tests.support.comparing import assert_same
from tests.support.oracle_uncertain_eta import scale, unscale

RNG = np.random.default_rng(5)
LABEL = RNG.random(400) < 0.15
DF = pl.DataFrame(
    {
        "market": np.where(RNG.random(400) < 0.4, "de", "fr"),
        "score": (RNG.normal(size=400) + 1.5 * LABEL).round(1),
        "label": LABEL,
        "w": RNG.integers(0, 3, size=400) / 2,
    }
)
DRAWN = intervals(0.9, method="bootstrap", resamples=60, seed=3)
BOOTSTRAP: dict[str, Any] = {"confidence": DRAWN}


def every_draw(counts: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """All replicates of a class, and the probability of each."""
    total = sum(counts)
    drawn = [d for d in itertools.product(range(total + 1), repeat=len(counts)) if sum(d) == total]
    shares = [count / total for count in counts]
    odds = [
        math.factorial(total)
        * math.prod(p**k / math.factorial(k) for p, k in zip(shares, d, strict=True))
        for d in drawn
    ]
    return np.array(drawn), np.array(odds)


@pytest.mark.parametrize(
    ("pos", "neg", "eta", "worked"),
    [
        ([1, 0, 1, 0], [0, 1, 0, 1], 0.5, (0.8, 0.1125, 0.6875)),
        ([1, 1, 0, 0], [0, 0, 1, 1], 0.5, (1, 0.0833333333333, 0.916666666667)),
        ([2, 1, 1], [0, 1, 3], 0.1, (0.666666666667, 0.122479668258, 0.544186998409)),
    ],
)
def test_optimism_of_f1_with_every_replicate_enumerated(
    pos: list[int], neg: list[int], eta: float, worked: tuple[float, ...]
) -> None:
    apparent, optimism, corrected = worked
    (of_pos, p), (of_neg, q) = every_draw(pos), every_draw(neg)
    drawn = find_rates((of_pos.repeat(len(of_neg), axis=0), np.tile(of_neg, (len(of_pos), 1))))
    sample = find_rates((np.array([pos]), np.array([neg])))
    found = (
        compare_with_sample(drawn, sample, eta, metrics.f1, [metrics.f1])[:, 0] @ np.outer(p, q).ravel()
    )
    assert found == pytest.approx(optimism, rel=1e-11)
    table = pl.DataFrame({"score": range(len(pos), 0, -1), "n_pos": pos, "n_neg": neg})
    point = table.prc.operating_points(eta, maximize="f1", counts=("n_pos", "n_neg"), columns="all")
    assert point["f1"].item() == pytest.approx(apparent, rel=1e-11)
    assert point["f1"].item() - found == pytest.approx(corrected, rel=1e-11)


def test_a_seed_repeats_and_another_one_agrees_nearly() -> None:
    many = {"confidence": replace(DRAWN, resamples=4000)}
    points = DF.prc.operating_points(0.1, maximize="f1", metrics="f1", columns="all", **many)
    again = DF.prc.operating_points(0.1, maximize="f1", metrics="f1", columns="all", **many)
    assert_same(points, again)
    turned = replace(DRAWN, resamples=4000, seed=4)
    other = DF.prc.operating_points(0.1, maximize="f1", metrics="f1", confidence=turned, columns="all")
    close = pytest.approx(points["f1_corrected"].item(), abs=0.005)
    assert other["f1_corrected"].item() == close != points["f1"].item()


def test_a_plain_loop_over_replicates_gives_the_same() -> None:
    """Draws of NumPy with the same seed, one curve at a time, and the best row found anew in each."""
    rows = DF.prc.sweep(thresholds="corners")
    pos, neg = (np.diff(rows[name].to_numpy(), prepend=0) for name in ("tp", "fp"))
    streams = [np.random.default_rng(s) for s in np.random.SeedSequence(3).spawn(1)[0].spawn(2)]
    drawn = []
    for stream, cells in zip(streams, (pos, neg), strict=True):
        whole = np.repeat(np.arange(len(cells)), cells)
        if len(whole) > 3 * len(cells):
            drawn.append(stream.multinomial(len(whole), cells / len(whole), 60))
        else:
            numbers = [whole[stream.integers(0, len(whole), len(whole))] for _ in range(60)]
            drawn.append(np.array([np.bincount(one, minlength=len(cells)) for one in numbers]))
    recall, fpr = pos.cumsum() / pos.sum(), neg.cumsum() / neg.sum()
    found = []
    for tp, fp in zip(*drawn, strict=True):
        at = tp.cumsum() / tp.sum(), fp.cumsum() / fp.sum()
        row = int(np.nanargmax(metrics.mcc(*at, 0.05)))
        found.append(
            [
                metric(at[0][row], at[1][row], 0.05) - metric(recall[row], fpr[row], 0.05)
                for metric in (metrics.mcc, metrics.recall)
            ]
        )
    expected = np.mean(found, axis=0)
    point = DF.prc.operating_points(
        0.05, maximize="mcc", metrics=["mcc", "recall"], columns="all", **BOOTSTRAP
    )
    optimism = [(point[name] - point[f"{name}_corrected"]).item() for name in ("mcc", "recall")]
    assert optimism == pytest.approx(expected.tolist(), rel=1e-9)


@pytest.mark.parametrize("weight", [None, "w"])
def test_the_band_of_the_threshold_moves_as_far_as_the_value(weight: Any) -> None:
    names = ["f1", "mcc", "precision", "lift"]
    options: dict[str, Any] = {"by": "market", "weight": weight, "metrics": names}
    found = DF.prc.operating_points(
        [0.1, None], maximize=["f1", "mcc"], columns="all", **options, **BOOTSTRAP
    )
    plain = DF.prc.operating_points(
        [0.1, None], threshold=found, confidence=0.9, columns="all", **options
    )
    moved = [f"{name}_{end}" for name in ("recall", "fpr", *names) for end in ("low", "high")]
    moved += ["criterion", "target"]
    assert_same(found.drop(*moved, *(f"{name}_corrected" for name in names)), plain.drop(moved))
    for new, old in zip(found.iter_rows(named=True), plain.iter_rows(named=True), strict=True):
        for name in names:
            bounds = getattr(metrics, name).range
            shift = scale(new[f"{name}_corrected"], bounds) - scale(old[name], bounds)
            for end in (f"{name}_low", f"{name}_high"):
                assert new[end] == pytest.approx(
                    unscale(scale(old[end], bounds) + shift, bounds), rel=1e-9
                )


def test_long_tables_have_a_column_corrected() -> None:
    options: dict[str, Any] = {"maximize": "f1", "metrics": ["f1", "recall"], "by": "market"}
    wide = DF.prc.operating_points(0.1, columns="all", **options, **BOOTSTRAP)
    long = DF.prc.operating_points(0.1, long=True, columns="all", **options, **BOOTSTRAP)
    assert long.columns[-7:] == [
        *("metric", "value", "corrected", "low", "high", "above_chance", "doubt")
    ]
    for name in ("f1", "recall"):
        part = long.filter(metric=name)
        for kind, column in (("corrected", f"{name}_corrected"), ("low", f"{name}_low")):
            assert part[kind].to_list() == wide[column].to_list()


def test_a_level_alone_corrects_nothing_and_needs_no_rows_in_memory() -> None:
    asked: dict[str, Any] = {"maximize": "f1", "metrics": "f1", "by": "market", "confidence": 0.9}
    found = DF.prc.operating_points(0.1, columns="all", **asked)
    assert not [name for name in found.columns if name.endswith("_corrected")]
    assert_same(DF.lazy().prc.operating_points(0.1, columns="all", **asked).collect(), found)


def test_other_targets_have_their_bands_and_nothing_corrected() -> None:
    targets: dict[str, Any] = {"recall": 0.5, "threshold": [1.0, 99.0], "precision": 1.1 / 1.2}
    found = DF.prc.operating_points(0.1, maximize="f1", columns="all", **targets, **BOOTSTRAP)
    plain = DF.prc.operating_points(0.1, maximize="f1", columns="all", **targets, confidence=0.9)
    other = pl.col("criterion") != "maximize(f1)"
    assert found.filter(other)["f1_corrected"].null_count() == 4
    corrected = [name for name in found.columns if name.endswith("_corrected")]
    assert_same(found.filter(other).drop(corrected), plain.filter(other))
    assert found.filter(~other).select(corrected).null_count().row(0) == (0,) * len(corrected)


def test_a_metric_that_is_best_when_least_is_minimized() -> None:
    found = DF.prc.operating_points(
        0.1, maximize="fdr", metrics=["fdr", "precision"], columns="all", **BOOTSTRAP
    )
    row = found.row(0, named=True)
    assert row["fdr_corrected"] >= row["fdr"]
    assert row["fdr_corrected"] == pytest.approx(1 - row["precision_corrected"], rel=1e-12)


def test_a_perfect_value_keeps_its_corner_and_its_bound() -> None:
    df = pl.DataFrame({"score": range(12), "label": [False] * 6 + [True] * 6})
    found = df.prc.operating_points(0.1, maximize="f1", metrics="f1", columns="all", **BOOTSTRAP)
    plain = df.prc.operating_points(0.1, threshold=6, metrics="f1", confidence=0.9, columns="all")
    value, corrected, low, high = found.select("f1", "f1_corrected", "f1_low", "f1_high").row(0)
    assert (value, high) == (1, 1)
    assert corrected < 1
    assert low == min(plain["f1_low"].item(), corrected)


@pytest.mark.parametrize("labels", [[0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 0, 0]])
def test_without_two_examples_of_a_class_nothing_is_corrected(labels: list[int]) -> None:
    df = pl.DataFrame({"score": [3, 2, 1], "label": labels})
    found = df.prc.operating_points(
        [0.5, None], maximize=["f1", "precision"], columns="all", **BOOTSTRAP
    )
    ends = [name for name in found.columns if name.endswith(("_corrected", "_low", "_high"))]
    assert found.select(ends).null_count().row(0) == (4,) * len(ends)


def test_an_empty_table_gives_an_empty_one() -> None:
    full = DF.prc.operating_points(0.1, maximize="f1", by="market", columns="all", **BOOTSTRAP)
    empty = DF.head(0).prc.operating_points(0.1, maximize="f1", by="market", columns="all", **BOOTSTRAP)
    assert_same(empty, full.head(0))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda p: p.operating_points(recall=0.5, columns="all", **BOOTSTRAP),
            r"^pass maximize=.* corrects what was maximized",
        ),
    ],
)
def test_arguments_that_do_not_go_together_raise(call: Any, sentence: str) -> None:
    for door in (DF.prc, DF.lazy().prc):
        with pytest.raises(PrcError, match=sentence):
            call(door)


def test_a_lazy_frame_is_told_to_collect() -> None:
    with pytest.raises(PrcError, match='method="bootstrap"'):
        DF.lazy().prc.operating_points(maximize="f1", columns="all", **BOOTSTRAP)


def test_errors_of_values_come_before_the_work() -> None:
    with pytest.raises(PrcError, match="null"):
        DF.with_columns(score=None).cast({"score": pl.Float64}).prc.operating_points(
            maximize="f1", columns="all", **BOOTSTRAP
        )
