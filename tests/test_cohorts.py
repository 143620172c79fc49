"""Intervals of point metrics at a prevalence that was counted in the table."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from polars_prcurve import PrcError, intervals, metrics, prc, rate_interval
from polars_prcurve.core.metrics.point_metric import POINT_METRICS

SHARES: dict[str, tuple[tuple[str, ...], tuple[str, ...], Callable[[float], float]]] = {
    "precision": (("tp",), ("fp",), lambda share: share),
    "fdr": (("fp",), ("tp",), lambda share: share),
    "npv": (("tn",), ("fn",), lambda share: share),
    "false_omission_rate": (("fn",), ("tn",), lambda share: share),
    "accuracy": (("tp", "tn"), ("fp", "fn"), lambda share: share),
    "jaccard": (("tp",), ("fp", "fn"), lambda share: share),
    "f1": (("tp",), ("fp", "fn"), lambda share: 2 * share / (1 + share)),
    "predicted_positive_rate": (("tp", "fp"), ("fn", "tn"), lambda share: share),
}
"""Hits and misses of the share that a metric follows from, and the metric as a function of it."""
OTHERS = ("mcc", "cohen_kappa", "lift", "markedness", "fowlkes_mallows", "f_beta(2)")
"""Metrics that follow from three shares, of which each but the first is one of the rest."""
ALL = [*SHARES, *OTHERS, "net_benefit(0.2)"]


def draw(n: int, seed: int, eta: float = 0.2) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    label = rng.random(n) < eta
    score = (rng.normal(size=n) + 1.5 * label).round(1)
    return pl.DataFrame({"score": score, "label": label, "w": rng.choice([1.0, 4.0], n)}).with_columns(
        other=pl.Series((rng.normal(size=n) + 1.2 * label + 0.3 * score).round(2)),
        g=pl.Series(rng.integers(0, 2, n)),
        patient=pl.Series(rng.integers(0, n // 4, n)),
    )


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("rate", ["wilson", "jeffreys", "clopper_pearson"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_share_has_the_interval_of_its_trials(rate: Any, seed: int) -> None:
    df = draw(150, seed)
    found = df.prc.curve(metrics=list(SHARES), confidence=intervals(0.9, rate=rate))
    for row in found.to_dicts():
        for name, (hits, misses, value) in SHARES.items():
            k = sum(row[cell] for cell in hits)
            n = k + sum(row[cell] for cell in misses)
            if n == 0:
                assert row[f"{name}_low"] is None
                continue
            ends = [value(end) for end in rate_interval(k, n, 0.9, rate)]
            assert [row[f"{name}_low"], row[f"{name}_high"]] == pytest.approx(ends, rel=1e-12)


@pytest.mark.parametrize("rate", ["wilson", "jeffreys", "clopper_pearson"])
@pytest.mark.parametrize("risk", [0.05, 0.5, 0.8])
def test_net_benefit_is_a_difference_of_two_shares(rate: Any, risk: float) -> None:
    """The ends of the intervals of tp / n and fp / n add up; both are cells of one multinomial."""
    df, weight = draw(150, 3), risk / (1 - risk)
    name = f"net_benefit({risk:g})"
    found = df.prc.curve(metrics=[metrics.net_benefit(risk)], confidence=intervals(0.9, rate=rate))
    for row in found.to_dicts():
        a, b = row["tp"] / 150, row["fp"] / 150
        (low_a, high_a), (low_b, high_b) = (rate_interval(row[k], 150, 0.9, rate) for k in ("tp", "fp"))
        shared = -math.sqrt(a * b / ((1 - a) * (1 - b)))

        def add_up(x: float, y: float, shared: float = shared) -> float:
            return math.sqrt(x * x + (weight * y) ** 2 - 2 * shared * x * weight * y)

        value = a - weight * b
        assert row[name] == pytest.approx(value, abs=1e-15)
        ends = value - add_up(a - low_a, high_b - b), value + add_up(high_a - a, b - low_b)
        assert [row[f"{name}_low"], row[f"{name}_high"]] == pytest.approx(ends, rel=1e-9, abs=1e-15)


def test_every_metric_that_says_so_follows_from_one_share() -> None:
    told = {name for name, metric in POINT_METRICS.items() if metric.share_of is not None}
    assert told == set(SHARES)
    rng = np.random.default_rng(3)
    for tp, fn, fp, tn in rng.random((20, 4)):
        cells = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
        for name, (hits, misses, value) in SHARES.items():
            metric = POINT_METRICS[name]
            assert metric.share_of == (hits, misses)
            k, others = (sum(cells[cell] for cell in side) for side in (hits, misses))
            assert metric.formula(tp, fn, fp, tn) == pytest.approx(value(k / (k + others)))


def scale(value: float, bounds: tuple[float, float]) -> float:
    low, high = bounds
    if math.isinf(low) and math.isinf(high):
        return value
    if math.isinf(high):
        return math.log(value - low)
    return math.log((value - low) / (high - value))


def find_eta_limits(eta: float, variance: float, level: float) -> tuple[float, float]:
    n = 1 / (variance * eta * (1 - eta))
    low, high = rate_interval(eta * n, n, level)
    return float(low), float(high)


def test_what_holds_no_prevalence_stays() -> None:
    df = draw(300, 5)
    asked: dict[str, Any] = {"metrics": ["recall", "fpr", "informedness", "lr_pos"], "confidence": 0.95}
    counted, said = df.prc.curve(**asked), df.prc.curve(df["label"].mean(), **asked)
    assert_frame_equal(counted, said, rel_tol=1e-13)


def test_each_prevalence_has_its_own_rule() -> None:
    df = draw(300, 6)
    asked: dict[str, Any] = {"metrics": ALL, "confidence": 0.95}
    both = df.prc.curve([None, 0.01], **asked)
    parts = [df.prc.curve(0.01, **asked), df.prc.curve(**asked)]
    assert_frame_equal(both, pl.concat(parts), check_exact=True)
    framed = df.prc.curve(pl.DataFrame({"eta": [None, 0.01]}), **asked)
    assert_frame_equal(framed, both, check_exact=True)
    asked |= {"recall": 0.7, "precision": 0.5, "threshold": 1.0, "alerts": 20, "per": 100}
    both = df.prc.operating_points([None, 0.01], columns="all", **asked)
    parts = [
        df.prc.operating_points(0.01, columns="all", **asked),
        df.prc.operating_points(columns="all", **asked),
    ]
    assert_frame_equal(both, pl.concat(parts), rel_tol=1e-12)


def test_counts_cells_and_rates_with_sizes_are_rows() -> None:
    df = draw(400, 8)
    asked: dict[str, Any] = {"metrics": ALL, "confidence": 0.95}
    rows = df.prc.curve(**asked)
    counted = df.prc.counts().prc.curve(counts=("n_pos", "n_neg"), **asked)
    assert_frame_equal(counted, rows, check_exact=True)
    cells = rows.select("threshold", "tp", "fp", "fn", "tn", "recall", "fpr")
    of_cells = cells.prc.curve(cells=("tp", "fp", "fn", "tn"), score=None, **asked)
    ends = [name for name in rows.columns if name.endswith(("_low", "_high"))]
    assert_frame_equal(of_cells.select(ends), rows.select(ends), rel_tol=1e-11)
    n_pos = df["label"].sum()
    rates = cells.prc.curve(rates=("recall", "fpr"), sizes=(n_pos, 400 - n_pos), **asked)
    assert_frame_equal(rates.select(ends), rows.select(ends), rel_tol=1e-9)


# Weights and clusters: against sums of products by hand ------------------------------------------


def sum_products(df: pl.DataFrame, threshold: float, unit: str | None) -> tuple[Any, Any]:
    """Return the cells tp, fp, fn, tn, and the sums of products of what units add to them."""
    flagged, label = df["score"].to_numpy() >= threshold, df["label"].to_numpy()
    weight = df["w"].to_numpy() if unit is None else np.ones(df.height)
    added = np.stack([flagged & label, flagged & ~label, ~flagged & label, ~flagged & ~label]) * weight
    if unit is not None:
        numbers = df[unit].to_numpy()
        added = np.stack([np.bincount(numbers, row) for row in added])
    return added.sum(axis=1), added @ added.T


@pytest.mark.parametrize("unit", [None, "patient"])
def test_shares_of_weights_and_clusters_count_as_fewer(unit: str | None) -> None:
    df = draw(500, 9)
    options: dict[str, Any] = {"weight": "w"} if unit is None else {"cluster": unit}
    asked: dict[str, Any] = {"metrics": list(SHARES), "confidence": 0.95, **options}
    for threshold in (0.5, 1.5):
        row = df.prc.operating_points(threshold=threshold, columns="all", **asked).to_dicts()[0]
        cells, products = sum_products(df, threshold, unit)
        for name, (hits, misses, value) in SHARES.items():
            of = [int(cell in hits) for cell in ("tp", "fp", "fn", "tn")]
            either = [int(cell in (*hits, *misses)) for cell in ("tp", "fp", "fn", "tn")]
            n = cells @ either
            share = cells @ of / n
            slopes = np.array(of) - share * np.array(either)
            size = share * (1 - share) * n**2 / (slopes @ products @ slopes)
            low, high = rate_interval(share * size, size, 0.95)
            if unit is None:
                assert row[f"{name}_low"] == pytest.approx(value(low), rel=1e-10)
                assert row[f"{name}_high"] == pytest.approx(value(high), rel=1e-10)
            else:  # Student's quantile makes it a little wider
                width = value(high) - value(low)
                assert width < row[f"{name}_high"] - row[f"{name}_low"] < 1.1 * width


# The chain of three shares: tn among all, tp among the rest, fn among the errors; cells tp, fp, fn, tn.
CHAIN = [([0, 0, 0, 1], [1, 1, 1, 1]), ([1, 0, 0, 0], [1, 1, 1, 0]), ([0, 0, 1, 0], [0, 1, 1, 0])]


def evaluate_chain(name: str, kept: float, found: float, missed: float) -> float:
    tp, errors = (1 - kept) * found, (1 - kept) * (1 - found)
    cells = tp, errors * missed, errors * (1 - missed), kept
    metric = metrics.f_beta(2) if name.startswith("f_beta") else POINT_METRICS[name]
    return scale(float(metric.formula(*cells)), metric.range)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.5])
def test_other_metrics_follow_from_a_chain_of_three_shares(weighted: bool, threshold: float) -> None:
    """Distances in the root, with the correlations that weights bring."""
    df = draw(500, 9) if weighted else draw(500, 9).with_columns(w=1.0)
    options: dict[str, Any] = {"weight": "w"} if weighted else {}
    asked: dict[str, Any] = {"metrics": list(OTHERS), "confidence": 0.95, "threshold": threshold}
    row = df.prc.operating_points(columns="all", **asked, **options).row(0, named=True)
    cells, products = sum_products(df, threshold, None)
    at, slopes, limits = [], [], []
    for hits, trials in CHAIN:
        n = cells @ trials
        at.append(cells @ hits / n)
        slopes.append((np.array(hits) - at[-1] * np.array(trials)) / n)
        size = at[-1] * (1 - at[-1]) / (slopes[-1] @ products @ slopes[-1])
        limits.append(rate_interval(at[-1] * size, size, 0.95))
    for name in OTHERS:
        middle = evaluate_chain(name, *at)
        moved = [
            [evaluate_chain(name, *at[:i], end, *at[i + 1 :]) - middle for end in limits[i]]
            for i in range(3)
        ]
        far = {
            "low": [min(*ends, 0.0) * np.sign(ends[1] - ends[0]) for ends in moved],
            "high": [max(*ends, 0.0) * np.sign(ends[1] - ends[0]) for ends in moved],
        }
        for side, sign in (("low", -1), ("high", 1)):
            total = 0.0
            for i, j in product(range(3), repeat=2):
                shared = slopes[i] @ products @ slopes[j]
                own = math.sqrt((slopes[i] @ products @ slopes[i]) * (slopes[j] @ products @ slopes[j]))
                total += far[side][i] * far[side][j] * shared / own
            end = scale(row[f"{name}_{side}"], POINT_METRICS.get(name, metrics.f_beta(2)).range)
            assert end == pytest.approx(middle + sign * math.sqrt(total), rel=1e-9, abs=1e-12)


def test_heavy_rows_below_take_back_what_the_prevalence_does() -> None:
    """All alerts are labelled, and one row in 50 below; precision has no part in the heavy rows."""
    rng = np.random.default_rng(10)
    label = rng.random(40_000) < 0.1
    df = pl.DataFrame({"score": rng.normal(size=40_000) + 2 * label, "label": label})
    kept = (df["score"] >= 1).to_numpy() | (rng.random(40_000) < 0.02)
    sampled = df.filter(pl.Series(kept)).with_columns(
        w=pl.when(pl.col("score") >= 1).then(1).otherwise(50)
    )
    asked: dict[str, Any] = {"threshold": 1.5, "confidence": 0.95, "metrics": ["precision", "mcc"]}
    every = df.prc.operating_points(columns="all", **asked)
    found = sampled.prc.operating_points(weight="w", columns="all", **asked)
    ends = ["precision", "precision_low", "precision_high"]
    assert_frame_equal(found.select(ends), every.select(ends), rel_tol=1e-12)
    eta = (sampled["label"] * sampled["w"]).sum() / sampled["w"].sum()
    said = sampled.prc.operating_points(eta, weight="w", columns="all", **asked)
    assert (
        said["precision_high"] - said["precision_low"] > 1.5 * (every[ends[2]] - every[ends[1]])
    ).all()


# Targets and differences --------------------------------------------------------------------------


def test_rates_at_a_threshold_have_no_error_of_the_prevalence_that_found_it() -> None:
    """Precision 0.5 at the own prevalence is met somewhere, and there recall is what it is."""
    df = draw(2_000, 11)
    eta = df["label"].mean()
    asked: dict[str, Any] = {"precision": 0.5, "metrics": "f1", "confidence": 0.95}
    counted, said = (
        df.prc.operating_points(columns="all", **asked),
        df.prc.operating_points(eta, columns="all", **asked),
    )
    ends = ["threshold", *(f"{rate}{end}" for rate in ("recall", "fpr") for end in ("_low", "_high"))]
    assert_frame_equal(counted.select(ends), said.select(ends), check_exact=True)
    assert counted["f1_high"].item() != said["f1_high"].item()


def test_a_weighted_sum_has_the_difference_of_its_rows() -> None:
    """Net benefit is a mean over rows, so its difference has the error of a mean."""
    df = draw(800, 12)
    benefit = metrics.net_benefit(0.2)
    asked: dict[str, Any] = {"score": ["score", "other"], "threshold": 1.0, "metrics": benefit}
    found = df.prc.compare(confidence=0.95, columns="all", **asked).row(0, named=True)
    flags = [df[name].to_numpy() >= 1 for name in ("score", "other")]
    gain = np.where(df["label"].to_numpy(), 1.0, -0.25)
    terms = gain * (flags[0].astype(float) - flags[1])
    assert found["difference"] == pytest.approx(terms.mean())
    assert found["standard_error"] == pytest.approx(terms.std() / math.sqrt(800), rel=0.02)


def test_equal_models_differ_by_nothing_whatever_the_prevalence_is() -> None:
    df = draw(800, 13).with_columns(other="score")
    for target in ({"threshold": 1.0}, {"recall": 0.6}):
        asked: dict[str, Any] = {"score": ["score", "other"], "metrics": ["precision", "mcc"], **target}
        counted = df.prc.compare(columns="all", **asked)
        said = df.prc.compare(df["label"].mean(), columns="all", **asked)
        wide, narrow = ((of["high"] - of["low"]).to_numpy() for of in (counted, said))
        assert (wide < 1.05 * narrow).all()
        assert not counted["significant"].any()


# What has none --------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{"method": "rectangle"}, {"simultaneous": True}])
def test_a_rectangle_needs_a_prevalence_that_is_known(how: dict[str, Any]) -> None:
    df, level = draw(100, 14), intervals(0.95, **how)
    words = "pass eta= as a number, .* needs an exact eta, and this prevalence was counted"
    with pytest.raises(PrcError, match=words):
        df.prc.curve(confidence=level)
    with pytest.raises(PrcError, match=words):
        df.prc.operating_points([0.1, None], recall=0.5, confidence=level, columns="all")
    with pytest.raises(PrcError, match=words):
        df.prc.curve(pl.DataFrame({"eta": [None, 0.1]}), confidence=level)
    with pytest.raises(PrcError, match=words):
        df.prc.curve(pl.LazyFrame({"eta": [None, 0.1]}), confidence=level)
    assert df.prc.curve(pl.DataFrame({"eta": [0.1]}), confidence=level)["precision_low"].count() > 0
    assert df.prc.curve(metrics="recall", confidence=level)["recall_low"].null_count() == 0


@pytest.mark.parametrize("label", [True, False])
def test_one_class_alone_has_no_interval(label: bool) -> None:
    df = pl.DataFrame({"score": [1.0, 2.0, 3.0], "label": [label] * 3})
    found = df.prc.curve(metrics=ALL, confidence=0.95)
    ends = [f"{name}_{end}" for name in ALL for end in ("low", "high")]
    assert found.select(ends).null_count().sum_horizontal().item() == len(ends) * found.height
    assert prc(df).curve(metrics="precision")["precision"].to_list() == [float(label)] * 3


def test_the_share_of_false_alerts_is_that_of_the_counts_beside_other_prevalences() -> None:
    """1 - eta has few digits where nearly all examples are positive; the counts have them all."""
    df = pl.DataFrame(
        {"g": [1, 1, 2, 2], "score": 1.0, "label": [1, 0, 1, 0], "w": [1e5, 0.1, 1.0, 1.0]}
    )
    etas = pl.DataFrame({"g": [1, 2], "eta": [None, 0.5]})
    found = df.prc.curve(etas, by="g", weight="w", metrics=["fdr", "precision"])
    assert found.row(0, named=True)["fdr"] == 0.1 / (1e5 + 0.1)
    assert (
        found.filter(g=1)
        .select("fdr", "precision")
        .equals(
            df.filter(g=1).prc.curve(weight="w", metrics=["fdr", "precision"]).select("fdr", "precision")
        )
    )
