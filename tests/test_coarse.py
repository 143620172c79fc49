"""Coarse scores: the limits of a metric hold for whatever finer scores there may be."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from polars_prcurve import PrcError, engines, metrics, prc
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS
from polars_prcurve.metrics import CurveMetric
from tests.support.all_metrics import ALL_CURVE_METRICS
from tests.support.profiles import examples
from tests.support.strategies import MODERATE, Table, several, tables
from tests.support.tiers import slow_unless

BOUNDED = [metric for metric in ALL_CURVE_METRICS if metric.recipe.limits is not None]
COUNTS: dict[str, Any] = {"counts": ("n_pos", "n_neg")}
STEPS = [metric for metric in BOUNDED if "average_precision" in metric.name]
"""Of these, `low` is a little less than any order has."""


def split_bin(n_pos: int, n_neg: int) -> Iterator[list[tuple[int, int]]]:
    """Yield each way to cut a bin into finer bins, from the highest score down."""
    if n_pos == n_neg == 0:
        yield []
    for pos, neg in product(range(n_pos + 1), range(n_neg + 1)):
        if pos + neg > 0:
            yield from ([(pos, neg), *rest] for rest in split_bin(n_pos - pos, n_neg - neg))


def reorder(bins: list[tuple[int, int]]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield recall and fpr of each order that the examples may have, with ties or without."""
    for parts in product(*(list(split_bin(*each)) for each in bins)):
        counts = np.cumsum([each for part in parts for each in part], axis=0)
        yield counts[:, 0] / counts[-1, 0], counts[:, 1] / max(counts[-1, 1], 1)


# Against all orders ---------------------------------------------------------------------------

BINS = {
    "one": [(3, 3)],
    "mixed": [(1, 2), (2, 1), (0, 1), (1, 1)],
    "negatives first": [(0, 2), (3, 1), (1, 2)],
    "positives first": [(2, 0), (1, 3), (2, 1)],
    "one positive": [(0, 1), (1, 4)],
}


@pytest.mark.parametrize("name", slow_unless(lambda name: name in ("mixed", "one positive"), BINS))
def test_limits_against_all_orders(name: str) -> None:
    bins = BINS[name]
    rows = [(len(bins) - i, *each) for i, each in enumerate(bins)]
    counts = pl.DataFrame(rows, schema=["score", "n_pos", "n_neg"], orient="row")
    etas = [1e-9, 0.01, 0.3, 0.95]
    found = counts.prc.summary(etas, metrics=BOUNDED, coarse=True, columns="all", **COUNTS)
    orders = list(reorder(bins))
    n_pos = sum(pos for pos, _ in bins)
    for metric in BOUNDED:
        values = np.array([np.atleast_1d(metric(recall, fpr, etas)) for recall, fpr in orders])
        values = np.nan_to_num(values)  # no threshold meets the target
        rows = found.filter(metric=metric.name).to_dict(as_series=False)
        low, high = np.array(rows["low"]), np.array(rows["high"])
        slack = 1e-12 * np.maximum(1, abs(values).max(axis=0))
        assert (low <= values.min(axis=0) + slack).all()
        np.testing.assert_allclose(high, values.max(axis=0), rtol=1e-12, atol=1e-15)
        if metric in STEPS:
            # Transforms are linear in average precision.
            [plain] = [m for m in STEPS if m.name == "average_precision"]
            ends = np.array([metric(np.ones(1), np.array([fpr]), etas) for fpr in (1.0, 0.0)])
            unit = (ends[1] - ends[0]) / (plain([1], [0], etas) - plain([1], [1], etas))
            assert (low >= values.min(axis=0) - 0.022 / n_pos * unit - slack).all()
        else:
            np.testing.assert_allclose(low, values.min(axis=0), rtol=1e-12, atol=1e-15)


def test_the_worst_ranking_is_that_of_one_bin() -> None:
    counts = pl.DataFrame({"score": [0], "n_pos": [4_000], "n_neg": [90_000]})
    asked = ["average_precision", "worst_average_precision", "pr_auc", "worst_pr_auc"]
    worst = counts.prc.summary([0.001, 0.3], metrics=asked, columns="all", **COUNTS)
    found = counts.prc.summary([0.001, 0.3], metrics=asked[::2], coarse=True, columns="all", **COUNTS)
    for name in asked[::2]:
        least = worst.filter(metric=f"worst_{name}")["value"].to_numpy()
        limits = found.filter(metric=name)
        np.testing.assert_allclose(limits["low"], least, rtol=1e-12, atol=0.022 / 4_000)
        assert limits["high"].to_list() == [1.0, 1.0]


# Against the truth ----------------------------------------------------------------------------


def assert_between(truth: pl.DataFrame, found: pl.DataFrame) -> None:
    """Raise unless each value of finer scores lies between the limits, or both are null."""
    for fine, row in zip(truth.iter_rows(named=True), found.iter_rows(named=True), strict=True):
        assert (row["low"] is None) == (row["high"] is None), row
        # Where no threshold of these meets a target, one of finer scores may.
        assert (row["low"] is None) == (row["value"] is None) or "_at_" in row["metric"], row
        # At eta = 0 an order may leave undefined what others do not.
        for value in {fine["value"], row["value"]} - {None}:
            slack = 1e-12 * max(1, *(abs(row[name]) for name in ("low", "high")))
            assert row["low"] - slack <= value <= row["high"] + slack, (fine, row)


@examples(200)
@given(
    tables(weights=MODERATE),
    several(0.0, 1e-15, 1e-6, 0.01, 0.3, 0.9, 1.0) | several(None, 0.2),
    st.integers(1, 5),
)
def test_finer_scores_lie_between(table: Table, eta: list[float | None], width: int) -> None:
    rank = pl.col("score").cast(pl.Float64).rank("dense").cast(pl.Int64)
    frame = table.frame.with_columns(bin=rank // width)
    options = table.package | {"metrics": BOUNDED}
    fine = prc(frame).summary(eta, score=rank, columns="all", **options)
    assert_between(fine, prc(frame).summary(eta, score="bin", coarse=True, columns="all", **options))


@examples(60)
@given(tables(min_size=3), several(1e-6, 0.01, 0.3, 0.9), st.integers(1, 5))
def test_what_lies_between_published_points(table: Table, eta: list[float], n: int) -> None:
    options = {"by": table.by, "pos_label": table.pos_label}
    points = prc(table.frame).sweep(thresholds=n, **options).drop_nulls(["recall", "fpr"])
    fine = prc(table.frame).summary(eta, metrics=BOUNDED, columns="all", **options)
    both = fine.filter((pl.col("n_pos") > 0) & (pl.col("n_neg") > 0))
    found = prc(points).summary(
        eta, by=table.by, rates=("recall", "fpr"), metrics=BOUNDED, coarse=True, columns="all"
    )
    assert_between(both, found)


def test_finer_bins_have_closer_limits() -> None:
    rng = np.random.default_rng(3)
    label = rng.random(20_000) < 0.1
    df = pl.DataFrame({"score": rng.normal(size=20_000) + 2 * label, "label": label})
    truth = df.prc.summary(0.001, metrics=BOUNDED, columns="all")
    last = None
    for width in (1.0, 0.25, 0.0625):
        coarse = df.prc.counts(score=(pl.col("score") / width).floor())
        found = coarse.prc.summary(0.001, metrics=BOUNDED, coarse=True, columns="all", **COUNTS)
        assert_between(truth, found)
        gap = found["high"] - found["low"]
        assert last is None or (gap < last).all()
        last = gap
    exact = df.prc.summary(0.001, metrics=BOUNDED, coarse=True, columns="all")
    apart = ~exact["metric"].str.contains("average_precision")  # whose low is a little less
    same = exact.filter(apart)
    np.testing.assert_allclose(same["low"], same["value"], rtol=1e-12)
    np.testing.assert_allclose(exact["high"], exact["value"], rtol=1e-12)


@pytest.mark.extras
def test_counts_of_an_engine_have_limits() -> None:
    duckdb = pytest.importorskip("duckdb")
    rng = np.random.default_rng(3)
    label = rng.random(3_000) < 0.1
    df = pl.DataFrame({"score": rng.normal(size=3_000) + 2 * label, "label": label})
    table = duckdb.sql("select floor(score * 4) as score, label from df")
    found = engines.counts(table).pl().prc.summary(0.01, coarse=True, columns="all", **COUNTS)
    assert_between(df.prc.summary(0.01, columns="all"), found)


# What has limits ------------------------------------------------------------------------------


def test_metrics_with_limits() -> None:
    names = {metric.name for metric in CURVE_METRICS.values() if metric.recipe.limits is not None}
    assert names == {
        *("average_precision", "marginal_average_precision", "normalized_average_precision"),
        *("min_max_average_precision", "pr_auc", "boyd_pr_auc", "roc_auc"),
    }
    kinds = {metric.name.partition("(")[0] for metric in BOUNDED} - names
    assert kinds == {
        *("partial_roc_auc", "partial_roc_auc_mcclish", "precision_at_recall"),
        *("recall_at_fpr", "recall_at_precision"),
    }


DF = pl.DataFrame({"score": [2, 2, 1, 1], "label": [1, 0, 1, 0]})


@pytest.mark.parametrize("metric", [m for m in ALL_CURVE_METRICS if m not in BOUNDED], ids=str)
def test_other_metrics_raise(metric: CurveMetric) -> None:
    with pytest.raises(PrcError, match=r"coarse=True has limits of average_precision.*; got") as said:
        DF.prc.summary(0.1, metrics=["roc_auc", metric], coarse=True, columns="all")
    assert all(known.name.partition("(")[0] in str(said.value) for known in BOUNDED), said.value


@pytest.mark.parametrize("more", [{"confidence": 0.9}, {"smooth": "binormal"}], ids=str)
def test_what_coarse_excludes(more: dict[str, Any]) -> None:
    with pytest.raises(
        PrcError, match=f"leave out {next(iter(more))}=: coarse=True already fills low and high"
    ):
        DF.prc.summary(0.1, coarse=True, columns="all", **more)
    assert "high" not in DF.prc.summary(0.1, coarse=False, columns="all").columns


def test_a_metric_that_was_renamed_has_limits() -> None:
    found = DF.prc.summary(0.1, metrics=metrics.roc_auc.alias("area"), coarse=True, columns="all")
    assert found.select("metric", "low", "high").row(0) == ("area", 0.25, 0.75)


PAPERS = pl.DataFrame(
    {
        "model": ["A", "A", "B", "B", "C"],
        "tpr": [0.35, 0.8, 0.45, 0.85, 0.02],
        "fpr": [0.0005, 0.06, 0.002, 0.05, 0.5],
    }
)


@pytest.mark.parametrize("metric", ["pr_auc", "roc_auc"])
def test_a_ranking_tells_who_may_be_best_within_the_limits(metric: str) -> None:
    """Model C is below the least values of the others, at any prevalence."""
    how: dict[str, Any] = {"rates": ("tpr", "fpr")}
    etas = [0.01, 0.5]
    found = PAPERS.prc.ranking(etas, metric=metric, coarse=True, columns="all", **how)
    limits = PAPERS.prc.summary(etas, by="model", metrics=metric, coarse=True, columns="all", **how)
    in_order = found.sort("model", "eta").select("eta", "value", low="value_low", high="value_high")
    assert_frame_equal(in_order, limits.select("eta", "value", "low", "high"))
    for eta in etas:
        here = found.filter(eta=eta)
        reached = here["value_low"].max()
        assert here["may_be_best"].to_list() == [high >= reached for high in here["value_high"]]
    assert set(found.filter(model="A")["may_be_best"]) == {True}
    assert set(found.filter(model="C")["may_be_best"]) == {False}
    plain = PAPERS.prc.ranking(etas, metric=metric, columns="all", **how)
    assert_frame_equal(found.select(plain.columns), plain)


def test_what_a_ranking_with_limits_excludes() -> None:
    how: dict[str, Any] = {"coarse": True, "rates": ("tpr", "fpr")}
    with pytest.raises(PrcError, match="leave out confidence="):
        PAPERS.prc.ranking(0.1, confidence=0.9, columns="all", **how)
    with pytest.raises(PrcError, match=r"leave out coarse=True: .* a point metric at a target has none"):
        PAPERS.prc.ranking(0.1, metric="f1", fpr=0.5, columns="all", **how)
    with pytest.raises(
        PrcError, match=r"leave out fpr=, and pass metrics.recall_at_fpr\(0.5\) with coarse=True"
    ):
        PAPERS.prc.ranking(0.1, metric="recall", fpr=0.5, columns="all", **how)
    with pytest.raises(PrcError, match="coarse=True has limits of"):
        PAPERS.prc.ranking(0.1, metric="f1", columns="all", **how)
