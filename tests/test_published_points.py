"""Published ROC points: more points on the same line are no news, and the default metric knows that."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from polars_prcurve import PrcError, metrics, prc
from tests.support.profiles import examples

RATES = ("tpr", "fpr")
Points = list[tuple[float, float]]
ETAS = [1e-4, 0.01, 0.1, 0.5, 0.99]


def to_table(models: dict[str, Points]) -> pl.DataFrame:
    rows = [(name, tpr, fpr) for name, points in models.items() for tpr, fpr in points]
    return pl.DataFrame(rows, schema=["model", "tpr", "fpr"], orient="row")


def refine(points: Points, times: int = 1) -> Points:
    """Return the points with the middle of each segment of the line, which starts at the origin."""
    for _ in range(times):
        ends = [(0.0, 0.0), *points]
        middles = [((a + c) / 2, (b + d) / 2) for (a, b), (c, d) in pairwise(ends)]
        points = [point for pair in zip(middles, points, strict=True) for point in pair]
    return points


@st.composite
def lines(draw: st.DrawFn) -> Points:
    """Draw a rising line of one to four points."""
    n = draw(st.integers(1, 4))
    steps = st.lists(st.integers(0, 12), min_size=n, max_size=n)
    tpr, fpr = (sorted(draw(steps)) for _ in RATES)
    return list(dict.fromkeys((a / 12, b / 12) for a, b in zip(tpr, fpr, strict=True)))


@examples(60)
@given(lines(), lines(), st.integers(1, 3))
def test_more_points_of_a_line_change_no_ranking(a: Points, b: Points, times: int) -> None:
    few, many = to_table({"a": a, "b": b}), to_table({"a": a, "b": refine(b, times)})
    found, refined = (
        prc(df).ranking(ETAS, rates=RATES, columns="all").sort("eta", "model") for df in (few, many)
    )
    for old, new in zip(found["value"], refined["value"], strict=True):
        assert (old is None and new is None) or old == pytest.approx(new, rel=1e-12)
    values = found["value"].to_list()
    for i in range(0, len(values), 2):  # equal values are equal to rounding alone
        pair = values[i : i + 2]
        if None not in pair and abs(pair[0] - pair[1]) > 1e-12:
            assert found["rank"][i : i + 2].to_list() == refined["rank"][i : i + 2].to_list()
    assume(all(v is not None for v in values))
    gaps = [values[i] - values[i + 1] for i in range(0, len(values), 2)]
    if all(abs(gap) > 1e-6 for gap in gaps):
        how: dict[str, Any] = {"rates": RATES, "eta_range": (1e-4, 0.99)}
        places = [prc(df).crossings(**how)["eta"].to_list() for df in (few, many)]
        assert places[0] == pytest.approx(places[1], rel=1e-6)


def test_average_precision_rewards_more_points_of_a_line() -> None:
    a = [(0.6, 0.02), (0.9, 0.2)]
    df = to_table({"few": a, "many": refine(a)})
    steps = df.prc.ranking(0.1, metric="average_precision", rates=RATES, columns="all")
    assert steps.filter(model="many")["value"].item() > steps.filter(model="few")["value"].item() + 0.01
    assert df.prc.ranking(0.1, rates=RATES, columns="all")["rank"].to_list() == [1, 1]
    assert df.prc.crossings(rates=RATES).is_empty()
    assert df.prc.crossings(rates=RATES, leaders=True)["model"].to_list() == ["few"]


DF = to_table({"a": [(0.6, 0.02), (0.9, 0.2)], "b": [(0.5, 0.01), (0.95, 0.4)]})
SCORED = pl.DataFrame({"model": ["a"] * 6 + ["b"] * 6, "label": [1, 1, 1, 0, 0, 0] * 2}).with_columns(
    score=pl.Series([9, 8, 1, 5, 4, 3, 8, 6, 5, 7, 2, 1])
)
CALLS: dict[str, Callable[..., Any]] = {
    "ranking": lambda p, **how: p.ranking(0.1, columns="all", **how),
    "crossings": lambda p, **how: p.crossings(eta_range=(1e-6, 0.9), **how),
    "leaders": lambda p, **how: p.crossings(eta_range=(1e-6, 0.9), **how, leaders=True),
    "plot.ranking": lambda p, **how: p.plot.ranking(0.1, **how).to_dict(),
    "plot.metric_by_eta": lambda p, metric=None, **how: p.plot.metric_by_eta(
        ETAS, metrics=metric, model="model", **how
    ).to_dict(),
}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", CALLS)
def test_the_default_metric_of_every_method(name: str) -> None:
    """One rule: pr_auc of published points, and average precision of scores."""

    def same(a: Any, b: Any) -> bool:
        return a.equals(b) if isinstance(a, pl.DataFrame) else a == b

    call = CALLS[name]
    default, pr_auc, steps = (
        call(prc(DF), rates=RATES, **how)
        for how in ({}, {"metric": "pr_auc"}, {"metric": "average_precision"})
    )
    assert same(default, pr_auc)
    assert not same(default, steps)
    default, pr_auc, steps = (
        call(prc(SCORED), **how) for how in ({}, {"metric": "pr_auc"}, {"metric": "average_precision"})
    )
    assert same(default, steps)
    assert not same(default, pr_auc)


@pytest.mark.parametrize("metric", ["precision", "f1"])
def test_models_are_not_ranked_at_points_of_unlike_recall(metric: str) -> None:
    """The first points of a and b that find 80% find 90% and 95%."""
    with pytest.raises(PrcError, match=r'pass metric="precision_at_recall\(0.8\)"'):
        DF.prc.ranking(0.1, metric=metric, recall=0.8, rates=RATES, columns="all")
    cells = ("tp", "fp", "fn", "tn")
    counts = pl.DataFrame([("a", 90, 20, 10, 80)], ["model", *cells], orient="row")
    with pytest.raises(PrcError, match="points of cells= may be far from the target"):
        counts.prc.ranking(0.1, metric=metric, recall=0.8, cells=cells, columns="all")
    at_recall = DF.prc.ranking(
        0.1, metric=metrics.precision_at_recall(0.8), coarse=True, rates=RATES, columns="all"
    )
    assert at_recall["may_be_best"].all()
    assert DF.prc.ranking(0.1, metric="recall", fpr=0.3, rates=RATES, columns="all")[
        "value"
    ].to_list() == [0.9, 0.5]


def test_the_default_metrics_of_a_summary() -> None:
    published = DF.prc.summary(0.1, by="model", rates=RATES, columns="all")
    assert published["metric"].to_list() == ["pr_auc", "roc_auc"] * 2
    scored = SCORED.prc.summary(0.1, columns="all")
    assert scored["metric"].to_list() == ["average_precision", "pr_auc", "roc_auc"]
    asked = DF.prc.summary(0.1, by="model", rates=RATES, metrics="average_precision", columns="all")
    assert asked["metric"].to_list() == ["average_precision"] * 2


def test_published_points_of_several_models_lead_to_the_calls_that_compare_them(tmp_path: Path) -> None:
    """One rule for rankings with a level, decisions and reports; and the calls that it names work."""
    sized: dict[str, Any] = {"model": "model", "rates": RATES, "sizes": (100, 1_000)}
    refused: list[Callable[[], object]] = [
        lambda: DF.prc.report(tmp_path / "r.html", 0.1, **sized),
        lambda: DF.prc.decide(0.1, recall=0.5, **sized),
        lambda: DF.prc.ranking(0.1, confidence=0.95, **sized),
    ]
    for call in refused:
        with pytest.raises(PrcError, match=r"ranking\(coarse=True\) .*rates= holds points"):
            call()
    assert list(tmp_path.iterdir()) == []
    assert DF.prc.ranking(0.1, coarse=True, **sized).height == 2
    assert DF.prc.operating_points(0.1, recall=0.5, confidence=0.95, **sized).height == 2
    points = DF.unique("model", keep="first", maintain_order=True)
    assert points.prc.compare(0.1, paired=False, metrics="precision", **sized).height == 1


def test_areas_of_few_points_are_not_reliable() -> None:
    draw = np.random.default_rng(0)
    label = draw.random(20_000) < 0.1
    score = pl.Series(draw.normal(size=len(label)) + 2 * label).round(2)
    table = pl.DataFrame({"score": score, "label": label})
    asked: dict[str, Any] = {"metrics": ["average_precision", "roc_auc"], "eta": 0.1}
    cells = table.prc.sweep()
    for step, expected in ((1, True), (200, False)):
        points = cells.gather_every(step)
        rates = points.select(tpr="recall", fpr="fpr")
        sizes = int(label.sum()), int((~label).sum())
        for few, how in (
            (points, {"cells": ("tp", "fp", "fn", "tn")}),
            (rates, {"rates": ("tpr", "fpr"), "sizes": sizes}),
        ):
            found = few.prc.summary(confidence=0.95, columns="all", **asked, **how)
            limits = few.prc.summary(coarse=True, columns="all", **asked, **how)
            gap, half = limits["high"] - limits["low"], (found["high"] - found["low"]) / 2
            assert (gap < half).to_list() == [expected] * 2
            assert found["doubt"].is_null().to_list() == [expected] * 2
