"""Intervals at thresholds that the sample chose: of the printed threshold, its choice included."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest

from polars_prcurve import PrcError, field, intervals, metrics

RNG = np.random.default_rng(6)
LABEL = RNG.random(600) < 0.2
DF = pl.DataFrame(
    {
        "score": (RNG.normal(size=600) + 1.5 * LABEL).round(2),
        "label": LABEL,
        "w": RNG.integers(1, 4, size=600),
        "c": np.arange(600) // 3,
        "g": np.arange(600) % 2,
    }
)
TARGETS: dict[str, dict[str, Any]] = {
    "each": {
        "recall": [0.2, 0.7, 1.0],
        "fpr": [0.0, 0.05],
        "alerts": [0, 60, 900],
        "per": 1_000,
        "precision": [0.3, 0.8],
        "npv": 0.95,
        "fdr": 0.5,
        "lift": 2.0,
        "predicted_positive_rate": 0.1,
        "maximize": ["f1", "mcc"],
    },
    "together": {"recall": 0.1, "alerts": 200, "per": 1_000, "together": True},
    "guarantee": {"precision": 0.3, "fpr": 0.1, "guarantee": 0.9},
}
NAMES = ["precision", "recall", "fpr", "npv", "f1", "mcc", "fdr", "lift", "predicted_positive_rate"]
PARTS = pl.DataFrame({"g": [0, 1], "eta": [0.1, 0.2], "share": [1.0, 1.0]})
ESTIMATE = pl.DataFrame({"eta_low": [0.05], "eta": [0.1], "eta_high": [0.2]})
DESIGNS: dict[str, dict[str, Any]] = {
    "plain": {"eta": [0.1, 0.01]},
    "counted": {"eta": None},
    "estimate": {"eta": ESTIMATE},
    "weights": {"eta": [0.1, None], "weight": "w"},
    "clusters": {"eta": [0.1, None], "cluster": "c"},
    "field": {"eta": field(PARTS, parts="g")},
    "rectangle": {"eta": 0.1, "confidence": intervals(0.9, method="rectangle")},
    "simultaneous": {"eta": 0.1, "confidence": intervals(0.9, simultaneous=True)},
    "jeffreys": {"eta": 0.1, "confidence": intervals(0.9, rate="jeffreys")},
}
CASES = [(design, "each") for design in DESIGNS]
CASES += [(design, "together") for design in ("plain", "counted", "weights", "field")]
CASES += [(design, "guarantee") for design in ("plain", "counted", "field", "rectangle")]


def ask(design: str, targets: dict[str, Any], **more: Any) -> pl.DataFrame:
    asked = {"confidence": 0.9, "metrics": NAMES, **DESIGNS[design], **targets, **more}
    return DF.prc.operating_points(columns="all", **asked)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(("design", "target"), CASES)
def test_a_threshold_from_elsewhere_is_surer_than_one_that_was_found(design: str, target: str) -> None:
    found = ask(design, TARGETS[target]).drop_nulls("threshold")
    keys = [name for name in ("eta", "eta_low", "eta_high") if name in found.columns]
    thresholds = found["threshold"].unique().to_list()
    given = ask(design, {"threshold": thresholds}).unique([*keys, "threshold"])
    both = found.join(given, on=[*keys, "threshold"], nulls_equal=True, maintain_order="left")
    assert both.height == found.height > 0
    for name in NAMES:
        low, high, value = (pl.col(f"{name}{end}") for end in ("_low", "_high", ""))
        given_low, given_high = (pl.col(f"{name}_{end}_right") for end in ("low", "high"))
        tests = [low <= given_low, given_high <= high, low <= value, value <= high]
        tests += [high == given_high] if name not in ("fpr", "fdr") else []
        tests += [low == given_low] if name == "fdr" else []
        assert all(both.select(test.all()).item() for test in tests), name
        if design == "simultaneous":
            assert both.select(((low == given_low) & (high == given_high)).all()).item(), name
    if target == "each":
        assert both["criterion"].n_unique() == 10
        for _, points in both.group_by("criterion"):
            is_surer = (points["precision_low"] < points["precision_low_right"]).any()
            assert is_surer is (design != "simultaneous")


def wilson(hits: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = (hits + z * z / 2) / (trials + z * z)
    spread = z / (trials + z * z) * math.sqrt(hits * (trials - hits) / trials + z * z / 4)
    return middle - spread, middle + spread


def count_table(tp: int, fp: int, n_pos: int, n_neg: int) -> pl.DataFrame:
    """Return two scores: one with these counts, and one with the rest of both classes."""
    return pl.DataFrame({"score": [2, 1], "p": [tp, n_pos - tp], "n": [fp, n_neg - fp]})


def test_the_worse_ends_of_a_worked_point() -> None:
    table = count_table(30, 20, 50, 1_000)
    asked: Any = {"counts": ("p", "n"), "confidence": 0.95, "metrics": ["precision", "fdr"]}
    row = table.prc.operating_points(None, precision=0.5, per=1_050, columns="all", **asked).row(
        0, named=True
    )
    assert (row["tp"], row["fp"]) == (30, 20)
    assert row["recall_low"] == pytest.approx(wilson(29, 50)[0])
    assert row["recall_high"] == pytest.approx(wilson(30, 50)[1])
    assert (row["fpr_low"], row["fpr_high"]) == pytest.approx(
        (wilson(19, 1_000)[0], wilson(21, 1_000)[1])
    )
    # At its own prevalence precision is a share of the alerts.
    assert row["precision_low"] == pytest.approx(wilson(29, 50)[0])
    assert row["precision_high"] == pytest.approx(wilson(30, 50)[1])
    assert row["fdr_high"] == pytest.approx(1 - wilson(29, 50)[0])
    assert row["fdr_low"] == pytest.approx(1 - wilson(30, 50)[1])
    # Of alerts, those of (29, 19) among all.
    assert row["alerts_low"] == pytest.approx(1_050 * wilson(48, 1_050)[0])
    assert row["alerts_high"] == pytest.approx(1_050 * wilson(50, 1_050)[1])
    # The threshold of a recall moves by that recall, and by no false alert.
    at_recall = table.prc.operating_points(0.1, recall=0.6, per=1_000, columns="all", **asked).row(
        0, named=True
    )
    assert at_recall["recall_low"] == pytest.approx(wilson(29.4, 50)[0])
    assert at_recall["fpr_high"] == pytest.approx(wilson(20, 1_000)[1])
    best = table.prc.operating_points(None, maximize="precision", columns="all", **asked).row(
        0, named=True
    )
    n_by_choice = 30 ** (1 / 3)
    assert best["precision_low"] == pytest.approx(wilson(30 - n_by_choice, 50)[0])
    assert best["precision_high"] == row["precision_high"]


def test_counts_are_not_moved_beyond_none_and_all() -> None:
    few = count_table(1, 0, 20, 300)
    row = few.prc.operating_points(
        None, precision=0.9, counts=("p", "n"), confidence=0.95, columns="all"
    )
    assert row["precision_low"].item() == pytest.approx(0, abs=1e-12)
    assert row["recall_low"].item() == pytest.approx(0, abs=1e-12)
    every = pl.DataFrame({"score": [1], "p": [20], "n": [300]})
    row = every.prc.operating_points(0.1, fpr=1.0, counts=("p", "n"), confidence=0.95, columns="all")
    assert row["fpr_high"].item() == row["recall_high"].item() == 1


def test_long_tables_have_the_same_ends() -> None:
    targets = {"fpr": 0.05, "maximize": "f1"}
    wide, long = ask("plain", targets), ask("plain", targets, long=True)
    for name in NAMES:
        part = long.filter(metric=name)
        for kind, column in (("value", name), ("low", f"{name}_low"), ("high", f"{name}_high")):
            assert part[kind].to_list() == wide[column].to_list()


def test_the_truth_at_the_best_threshold_is_held_where_plain_intervals_miss_it() -> None:
    """In 400 test sets of two normal distributions; of F1 and of recall."""
    rng, n, sets = np.random.default_rng(4), 600, 400
    label = np.arange(n * sets) % n < 60
    score = rng.normal(size=n * sets) + 2 * label
    test = pl.DataFrame({"set": np.arange(n * sets) // n, "label": label, "score": score}).prc(by="set")
    asked: Any = {"eta": 0.1, "metrics": ["recall", "f1"], "confidence": 0.95}
    found = test.operating_points(maximize="f1", columns="all", **asked)
    given = test.operating_points(threshold=found, columns="all", **asked)
    cuts, normal = found["threshold"], NormalDist()
    recall, fpr = ([1 - normal.cdf(cut - shift) for cut in cuts] for shift in (2, 0))
    for name, most in (("recall", 0.92), ("f1", 0.93)):
        truth = pl.Series("truth", getattr(metrics, name)(recall, fpr, 0.1))
        held, held_as_given = (
            table.select(truth.is_between(table[f"{name}_low"], table[f"{name}_high"]).mean()).item()
            for table in (found, given)
        )
        assert held_as_given < most
        assert held > 0.95


def test_nothing_of_the_model_at_its_target_is_left_here() -> None:
    found = ask("plain", {"recall": 0.5, "fpr": 0.1})
    assert "interval_of" not in found.columns
    assert (found["recall_low"] < found["recall"]).all()
    with pytest.raises(PrcError, match=r"^pass maximize=.* corrects what was maximized"):
        ask("plain", {"recall": 0.5}, confidence=intervals(0.9, method="bootstrap"), eta=0.1)
