"""The column `doubt`: one list of reasons, one wherever an interval is null, and the true cause."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from polars_prcurve import PrcError, eta_from_sample, field, from_rates, intervals, metrics, prc
from polars_prcurve.core.confidence.doubts import MEANING_OF_DOUBT
from polars_prcurve.core.judging.candidate import _CURED_BY_EXAMPLES
from tests.support.all_metrics import ALL_CURVE_METRICS, ALL_POINT_METRICS

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # replicates without a positive
RNG = np.random.default_rng(3)
BANDED = [metric for metric in ALL_POINT_METRICS if metric.falls_with_fpr]
GROUPS = {
    "many": (150, 600),
    "few": (6, 40),
    "one": (1, 30),
    "two": (1, 1),
    "no": (0, 20),
    "all": (9, 0),
}
"""Positives and negatives of each group."""
ETAS = [None, 0.0, 0.02, 1.0]
TARGETS: dict[str, Any] = {
    "recall": [0.5, 1.0],
    "precision": 0.99,
    "fpr": 0.01,
    "threshold": [1.0, 99.0],
}
DRAWN = intervals(0.9, method="bootstrap", resamples=10, seed=1)
NO_FORMULA = "no formula: method='bootstrap'"


def draw_groups() -> pl.DataFrame:
    parts = [
        pl.DataFrame(
            {
                "g": name,
                "score": np.append(RNG.normal(1.5, 1, n_pos), RNG.normal(0, 1, n_neg)).round(2),
                "label": [True] * n_pos + [False] * n_neg,
            }
        )
        for name, (n_pos, n_neg) in GROUPS.items()
    ]
    row = pl.int_range(pl.len())
    return pl.concat(parts).with_columns(
        w=1.0 + row % 3,
        c=row // 2,
        s=row % 2,
        m=pl.lit("one"),
        part=row % 2,
        two=2.0,
        other=-pl.col("score"),
    )


DF = draw_groups()
ESTIMATE = eta_from_sample(3, 200, confidence=0.9)
PARTS = pl.DataFrame({"part": [0, 1], "eta": [0.1, None], "share": [1.0, 2.0]})
POINTS = pl.DataFrame(
    {
        "g": ["a"] * 3 + ["b"],
        "threshold": [3.0, 2.0, 1.0, 1.0],
        **{"tp": [5, 40, 80, 0], "fp": [1, 20, 200, 3], "fn": [95, 60, 20, 0], "tn": [999, 980, 800, 7]},
    }
)
RATES = POINTS.select("g", recall=pl.col("tp") / 100, fpr=pl.col("fp") / 1000)
RATES = RATES.with_columns(
    p=pl.when(pl.col("g") == "a").then(100), n=pl.when(pl.col("g") == "a").then(1000)
)
DESIGNS: dict[str, tuple[pl.DataFrame, dict[str, Any], Any]] = {
    "plain": (DF, {}, ETAS),
    "one row": (DF.head(1), {}, ETAS),
    "weights": (DF, {"weight": "w"}, ETAS),
    "clusters": (DF, {"cluster": "c"}, ETAS),
    "one cluster": (DF.with_columns(c=0), {"cluster": "c"}, ETAS),
    "strata": (DF, {"weight": "two", "stratum": "s"}, ETAS),
    "estimate": (DF, {}, ESTIMATE),
    "field": (DF.filter(pl.col("g").is_in(["many", "few"])), {}, field(PARTS, parts="part")),
    "never scored": (DF, {"below": (3, 50)}, ETAS),
    "no negatives": (DF, {"below": (3, None)}, [None]),
    "cells": (POINTS, {"cells": ("tp", "fp", "fn", "tn"), "score": "threshold"}, ETAS),
    "rates": (RATES, {"rates": ("recall", "fpr"), "sizes": ("p", "n")}, [0.0, 0.02, 1.0]),
}


def assert_doubts(found: pl.DataFrame) -> None:
    """A reason of the list, in the last column, wherever an interval is null."""
    assert found.columns[-1] == "doubt"
    assert found.schema["doubt"] == pl.String
    assert set(found["doubt"]) <= {None, *MEANING_OF_DOUBT}
    ends = [name for name in found.columns if re.search(r"(^|_)(low|high)$", name)]
    ends = [name for name in ends if not name.startswith(("eta_", "value_"))]
    assert ends
    if "tn" in found.columns and found["tn"].null_count() == found.height:  # negatives are not counted
        ends = [name for name in ends if not name.startswith("fpr_")]
    without = found.filter(pl.any_horizontal(pl.col(ends).is_null()), pl.col("doubt").is_null())
    assert without.is_empty(), without


def hold(call: Callable[..., pl.DataFrame], *args: Any, **words: Any) -> bool:
    """Hold the answer to the rules; return whether there is one, since no design has all intervals."""
    try:
        found = call(*args, **words)
    except PrcError:
        return False
    assert_doubts(found)
    return True


def hold_each(call: Callable[..., pl.DataFrame], *args: Any, asked: list[Any], **words: Any) -> bool:
    """Hold the answer about all metrics, or if together they are refused, about each of the others."""
    held = [hold(call, *args, metrics=asked, **words)]
    if not any(held):
        held += [hold(call, *args, metrics=metric, **words) for metric in asked]
    return any(held)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("design", DESIGNS)
def test_every_null_interval_of_an_area_has_a_doubt(design: str) -> None:
    frame, words, eta = DESIGNS[design]
    test = prc(frame, by="g", **words)
    of_design = ALL_CURVE_METRICS if design == "plain" else ALL_CURVE_METRICS[::3]
    few = ["average_precision", "roc_auc", metrics.precision_at_recall(0.5)]
    hold_each(test.summary, eta, asked=[*of_design, *few], confidence=0.9)
    hold_each(test.summary, eta, asked=few, confidence=DRAWN)
    assert hold(test.summary, eta, metrics="average_precision", confidence=0.9)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("design", DESIGNS)
def test_every_null_interval_of_a_point_has_a_doubt(design: str) -> None:
    frame, words, eta = DESIGNS[design]
    test = prc(frame, by="g", **words)
    for long in (False, True) if design == "plain" else (list(DESIGNS).index(design) % 2 == 0,):
        few = ["precision", "recall"] if design == "no negatives" else ["precision", "f1"]
        asked: Any = {"metrics": BANDED if design == "plain" and long else few, "confidence": 0.9}
        lacking = {"rates": ["threshold"], "no negatives": ["fpr"]}.get(design, [])
        targets = {name: value for name, value in TARGETS.items() if name not in lacking}
        assert hold(test.operating_points, eta, long=long, **asked, **targets)
    hold(test.operating_points, eta, recall=0.8, guarantee=0.95, confidence=0.9)
    hold(test.operating_points, eta, recall=0.5, fpr=0.5, together=True, confidence=0.9)
    hold(test.operating_points, eta, alerts=20, per=1_000, confidence=0.9)
    hold(test.operating_points, eta, maximize="f1", confidence=DRAWN)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("design", "paired"),
    [
        *(("plain", True), ("plain", False), ("one row", True), ("weights", False)),
        *(("clusters", True), ("one cluster", False), ("strata", True), ("strata", False)),
    ],
)
def test_every_null_interval_of_a_difference_has_a_doubt(design: str, paired: bool) -> None:
    frame, words, eta = DESIGNS[design]
    eta = eta if paired else [0.0, 0.02, 1.0]  # groups have prevalences of their own
    if paired:
        test = prc(frame, by="g", **words | {"score": ["score", "other"]})
    else:
        test = prc(frame, model="g", **words)
    held: list[bool] = []
    apart = {} if paired else {"paired": False}
    areas = ["average_precision", "roc_auc", "pr_auc", metrics.precision_at_recall(0.5)]
    for how in (0.9, DRAWN):
        held.append(hold_each(test.compare, eta, asked=areas, confidence=how, **apart))
        ranked = areas[::3] if how == 0.9 else areas[:1]
        held += [hold(test.ranking, eta, metric=metric, confidence=how) for metric in ranked]
    for target in ({"threshold": 1.0}, {"precision": 0.99}):
        asked: Any = {"confidence": 0.9, **target}
        held.append(hold(test.compare, eta, metrics=["fpr", "f1"], **apart, **asked))
    held.append(hold(test.ranking, eta, metric="f1", **asked))
    assert any(held)


def test_a_doubt_names_the_true_cause() -> None:
    def doubts(**where: Any) -> dict[str, str]:
        asked = ["average_precision", "pr_auc", metrics.precision_at_recall(0.5)]
        found = (
            prc(DF, by="g").summary(0.02, metrics=asked, confidence=0.9, columns="all").filter(**where)
        )
        return dict(found.select("metric", "doubt").rows())

    assert set(doubts(g="no").values()) == set(doubts(g="all").values()) == {"one class"}
    assert doubts(g="one") == {
        "average_precision": "few positives",
        "pr_auc": NO_FORMULA,
        "precision_at_recall(0.5)": "few positives",
    }
    assert doubts(g="many")["precision_at_recall(0.5)"] is None
    unmet = DF.filter(g="many").prc.operating_points(
        0.02, recall=0.99, fpr=0.001, together=True, confidence=0.9, columns="all"
    )
    assert unmet["doubt"].item() == "target not met"
    short = DF.filter(g="many").prc.summary(
        below=(500, 50), metrics=metrics.precision_at_recall(0.9), confidence=0.9, columns="all"
    )
    assert short["doubt"].item() == "target not met"
    assert (
        RATES.prc(**DESIGNS["rates"][1], by="g").summary(0.1, confidence=0.9, columns="all")["doubt"][-1]
        == "no sizes"
    )


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("tp", "fn", "fp", "doubts"),
    [
        (8, 8, 5, (None, None)),
        (7, 8, 5, ("few positives", None)),
        (8, 7, 5, ("few positives", None)),
        (8, 8, 4, ("few false positives", "few false positives")),
        (5, 3, 5, ("few positives", None)),
        (4, 3, 5, ("few positives", "few positives")),
        (5, 2, 5, ("few positives", "few positives")),
    ],
)
def test_a_sought_precision_takes_fewer_than_ten_examples_and_a_budget_fewer_still(
    tp: int, fn: int, fp: int, doubts: tuple[str | None, str | None]
) -> None:
    label = [*[False, True] * fp, *[True] * (tp - fp), *[False] * 200, *[True] * fn]
    test = pl.DataFrame({"label": label, "score": range(len(label), 0, -1)}).prc()
    recall, fpr = sum(label[: tp + fp]) / (tp + fn), fp / (fp + 200)
    asked = [
        metrics.recall_at_precision(recall / (recall + fpr)),
        metrics.recall_at_alerts((recall + fpr) / 2, 1),
    ]
    found = test.summary(0.5, metrics=asked, confidence=0.95)
    if tp >= fp:
        assert found["value"].to_list() == [recall] * 2
    assert tuple(found["doubt"]) == doubts
    # The count of a prevalence moves these targets, too.
    counted = [
        metrics.recall_at_precision(tp / (tp + fp)),
        metrics.recall_at_alerts(tp + fp, len(label)),
    ]
    found = test.summary(metrics=counted, confidence=0.95)
    assert set(found["doubt"]) == {"few positives"}


def test_few_patients_are_few_clusters_however_many_positives_they_have() -> None:
    n = 250  # about 190 positives
    patient = np.repeat(np.arange(n), 5)
    shift = np.repeat(RNG.normal(size=n), 5)
    label = np.repeat(RNG.random(n) < 0.15, 5)
    df = pl.DataFrame(
        {"patient": patient, "label": label, "score": RNG.normal(size=5 * n) + shift + label}
    )
    assert df["label"].sum() > 150
    found = df.prc.summary(
        0.1, metrics=["average_precision", "roc_auc"], cluster="patient", confidence=0.9, columns="all"
    )
    assert "few clusters" in set(found["doubt"]) <= {None, "few clusters"}
    points = df.prc.operating_points(
        0.1, recall=[0.5, 0.9], cluster="patient", confidence=0.9, columns="all"
    )
    assert set(points["doubt"]) <= {None, "few clusters"}
    few = df.filter(pl.int_range(pl.len()).over("label") < 6).prc.summary(
        0.1, metrics="average_precision", cluster="patient", confidence=0.9, columns="all"
    )
    assert few["doubt"].item() == "few positives"


def test_the_list_is_that_of_the_docs() -> None:
    page = (Path(__file__).parent.parent / "docs" / "uncertainty.md").read_text(encoding="utf-8")
    table = page.partition("| `doubt` | meaning |")[2].partition("\n\n")[0]
    rows = [tuple(line.strip("| ").split(" | ")) for line in table.strip().splitlines()[1:]]
    assert rows == [*MEANING_OF_DOUBT.items()]
    assert set(MEANING_OF_DOUBT) >= _CURED_BY_EXAMPLES


def test_a_single_point_below_the_diagonal_is_in_doubt() -> None:
    """Only where that is no accident, and not of the points of a curve."""
    words = ("tp", "fp", "fn", "tn")
    for cells, doubt in (
        ((20, 300, 190, 54), "recall below fpr"),
        ((900, 950, 100, 50), "recall below fpr"),
        ((48, 52, 52, 48), None),
        ((300, 20, 54, 190), None),
    ):
        table = prc(pl.DataFrame([cells], schema=list(words), orient="row"), cells=words)
        found = table.operating_points([0.004, 0.5], metrics=["precision", "f1"], confidence=0.95)
        assert found["doubt"].to_list() == [doubt] * 2
        text = f"{table.decide(0.004)}".replace("\n", " ")
        assert ("Recall is below fpr" in text) == (doubt is not None)
        assert "Check the features" not in text or doubt is None
        assert "too narrow" not in text
    table = from_rates(recall=0.9, fpr=0.95, n_pos=1000, n_neg=1000)
    assert table.operating_points(0.1, confidence=0.95)["doubt"].item() == "recall below fpr"
    scores = pl.DataFrame({"score": [1, 0] * 200, "label": [0, 1] * 200})
    points = scores.prc.operating_points(0.1, threshold=1, confidence=0.95)
    assert points["doubt"].item() != "recall below fpr"
