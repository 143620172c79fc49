"""Values worked out elsewhere, in exact or 50-digit arithmetic: `data/reference.json`.

Each family of cases has a checker here, by name. A family without one fails.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from polars_prcurve import PrcError, eta_from_ratio, metrics, prc, ratio_from_eta

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

REFERENCE = json.loads((Path(__file__).parent / "data" / "reference.json").read_text(encoding="utf-8"))
CASES = REFERENCE["cases"]

Case = dict[str, Any]
CHECKS: dict[str, Callable[[Case], None]] = {}

NOT_YET = {
    "edge_no_positives": {"ap", "roc_auc", "auprg"},
    "edge_no_negatives": {"ap_empirical", "ap@0.5", "roc_auc"},
    "edge_all_tied": {"roc_auc", "ap", "davis_goadrich", "auprg"},
    "edge_perfect": {"roc_auc", "ap", "davis_goadrich", "auprg"},
    "edge_infinite_scores": {"roc_auc", "ap"},
    "edge_negative_zero": {"roc_auc"},
    "edge_zero_weight": {"roc_auc"},
}
"""Expectations about areas, which wait for the area metrics."""

POINT_METRICS = {
    "precision": metrics.precision,
    "fdr": metrics.fdr,
    "npv": metrics.npv,
    "for": metrics.false_omission_rate,
    "specificity": metrics.specificity,
    "fnr": metrics.fnr,
    "predicted_positive_rate": metrics.predicted_positive_rate,
    "accuracy": metrics.accuracy,
    "balanced_accuracy": metrics.balanced_accuracy,
    "youden_j": metrics.informedness,
    "jaccard": metrics.jaccard,
    "mcc": metrics.mcc,
    "kappa": metrics.cohen_kappa,
    "fowlkes_mallows": metrics.fowlkes_mallows,
    "markedness": metrics.markedness,
    "lift": metrics.lift,
    "lr_plus": metrics.lr_pos,
    "lr_minus": metrics.lr_neg,
    "dor": metrics.diagnostic_odds_ratio,
    "g_mean": metrics.g_mean,
    "precision_gain": metrics.precision_gain,
    "recall_gain": metrics.recall_gain,
    "f_1_gain": metrics.f_gain(1),
}
"""From names in the file."""


def checks(*families: str) -> Callable[[Callable[[Case], None]], Callable[[Case], None]]:
    def register(check: Callable[[Case], None]) -> Callable[[Case], None]:
        CHECKS.update(dict.fromkeys(families, check))
        return check

    return register


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']}-{case['function']}")
def test_reference(case: Case) -> None:
    CHECKS[case["function"]](case)


def test_every_family_is_checked() -> None:
    assert {case["function"] for case in CASES} == set(CHECKS)


def test_only_areas_are_left_out() -> None:
    expected = {case["function"]: set(case["expected"]) for case in CASES if case["function"] in NOT_YET}
    for family, keys in NOT_YET.items():
        assert keys <= expected[family]
        assert {key.removesuffix("_empirical").removesuffix("@0.5") for key in keys} <= {
            "ap",
            "roc_auc",
            "davis_goadrich",
            "auprg",
        }


# Reading the file -----------------------------------------------------------------------------


def number(value: float | str | None) -> float | None:
    """From the file: infinities are strings."""
    return None if value is None else float(value)


def assert_close(case: Case, found: Iterable[float | None], expected: Iterable[Any]) -> None:
    for place, (actual, value) in enumerate(zip(found, expected, strict=True)):
        worth = number(value)
        if actual is None or worth is None or math.isinf(worth):
            assert actual == worth, (place, actual, worth)
        else:
            assert abs(actual - worth) <= case["atol"] + case["rtol"] * abs(worth), (
                place,
                actual,
                worth,
            )


def as_table(data: dict[str, Any]) -> pl.DataFrame:
    scores = [number(score) for score in data["score"]]
    return pl.DataFrame(
        {**{name: data[name] for name in data if name != "eta"}, "score": scores}, strict=False
    )


def score_table(case: Case) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The table of a case, and the arguments that say what it holds."""
    inputs = case["inputs"]
    data = REFERENCE["datasets"][inputs["dataset"]] if "dataset" in inputs else inputs
    frame = as_table(
        {name: data[name] for name in ("group", "score", "label", "weight") if name in data}
    )
    arguments = {"weight": "weight"} if "weight" in data else {}
    return frame, arguments


def none_if_nan(value: float) -> float | None:
    return None if math.isnan(value) else value


def each_way(asked: list[metrics.PointMetric], case: Case) -> dict[str, list[float | None]]:
    """Metrics of one point from numbers, arrays, expressions and a table of published rates."""
    recall, fpr, eta = (float(case["inputs"][name]) for name in ("tpr", "fpr", "eta"))
    point = pl.DataFrame({"recall": [recall], "fpr": [fpr], "eta": [eta]})
    columns = pl.col("recall"), pl.col("fpr")
    of_columns = point.select(metric(*columns, pl.col("eta")) for metric in asked)
    of_number = point.select(metric(*columns, eta) for metric in asked)
    published = prc(point).curve(eta, metrics=asked, rates=("recall", "fpr"))
    found = {}
    for metric in asked:
        array = metric(np.array([recall, recall]), np.array([fpr, fpr]), np.array([eta, eta]))
        found[metric.name] = [
            none_if_nan(metric(recall, fpr, eta)),
            *map(none_if_nan, array.tolist()),
            of_columns[metric.name].item(),
            of_number[metric.name].item(),
            published[metric.name].item(),
        ]
    return found


# Sweeps and curves ----------------------------------------------------------------------------


def assert_sweep(case: Case, found: pl.DataFrame, expected: list[dict[str, Any]]) -> None:
    for column, name in (
        ("recall", "tpr"),
        *((same, same) for same in ("threshold", "tp", "fp", "fn", "tn", "fpr")),
    ):
        assert_close(case, found[column], [row[name] for row in expected])


@checks("counts_sweep")
def counts_sweep(case: Case) -> None:
    frame, arguments = score_table(case)
    swept = prc(frame).sweep(**arguments)
    assert_sweep(case, swept, case["expected"])
    structs = pl.col("score").prc.sweep("label", **arguments)
    assert_sweep(case, frame.select(structs).unnest("score"), case["expected"])
    again = prc(prc(frame).counts(**arguments)).sweep(counts=("n_pos", "n_neg"))
    assert_sweep(case, again, case["expected"])


@checks("counts_sweep_grouped")
def counts_sweep_grouped(case: Case) -> None:
    frame, arguments = score_table(case)
    swept = prc(frame).sweep(by="group", **arguments)
    assert swept["group"].unique(maintain_order=True).to_list() == sorted(case["expected"])
    for group, expected in case["expected"].items():
        assert_sweep(case, swept.filter(pl.col("group") == group), expected)


@checks("pr_curve", "prg_curve")
def pr_curve(case: Case) -> None:
    frame, arguments = score_table(case)
    eta = None if case["inputs"]["eta"] == "empirical" else case["inputs"]["eta"]
    names = [name for name in case["expected"][0] if name not in ("threshold", "recall")]
    found = prc(frame).curve(eta, metrics=names, **arguments)
    structs = pl.col("score").prc.curve("label", eta, metrics=names, **arguments)
    for curve in (found, frame.select(structs).unnest("score")):
        for column in case["expected"][0]:
            assert_close(case, curve[column], [row[column] for row in case["expected"]])


@checks("p3_curve", "f1_curve")
def p3_curve(case: Case) -> None:
    recall, fpr, eta = (case["inputs"][name] for name in ("tpr", "fpr", "eta"))
    metric = metrics.precision if case["function"] == "p3_curve" else metrics.f1
    for one, expected in zip(eta, case["expected"], strict=True):
        single = {**case, "inputs": {"tpr": recall, "fpr": fpr, "eta": one}}
        for values in each_way([metric], single).values():
            assert_close(case, values, [expected] * len(values))
    assert_close(case, metric(recall, fpr, np.array(eta)), case["expected"])
    grid = pl.DataFrame({"eta": eta}).select(metric(pl.lit(recall), pl.lit(fpr), pl.col("eta")))
    assert_close(case, grid.to_series(), case["expected"])
    point = pl.DataFrame({"recall": [recall], "fpr": [fpr]})
    found = prc(point).curve(eta, metrics=metric, rates=("recall", "fpr"))
    assert_close(case, found["eta"], eta)
    assert_close(case, found[metric.name], case["expected"])


# Metrics --------------------------------------------------------------------------------------


@checks("point_metrics")
def point_metrics(case: Case) -> None:
    inputs, expected = case["inputs"], dict(case["expected"])
    asked = dict(POINT_METRICS)
    asked["net_benefit"] = metrics.net_benefit(inputs["net_benefit_threshold"])
    for name, value in expected.pop("f_beta").items():
        beta = float(name.removeprefix("beta="))
        asked[name], expected[name] = metrics.f_beta(beta), value
        if beta == 1:
            asked["f1"], expected["f1"] = metrics.f1, value
    assert set(expected) == set(asked)
    found = each_way([*asked.values()], case)
    wrong = {}
    for name, metric in asked.items():
        values = found[metric.name]
        try:
            assert_close(case, values, [expected[name]] * len(values))
        except AssertionError:
            wrong[name] = {"found": values, "expected": expected[name]}
    assert not wrong


@checks("counts_metrics")
def counts_metrics(case: Case) -> None:
    """A confusion matrix, as a table of two scores with counts."""
    tp, fp, fn, tn = (case["inputs"][cell] for cell in ("tp", "fp", "fn", "tn"))
    expected = dict(case["expected"])
    frame = pl.DataFrame({"score": [1, 0], "n_pos": [tp, fn], "n_neg": [fp, tn]})
    asked = {
        "precision": metrics.precision,
        "f1": metrics.f1,
        "mcc": metrics.mcc,
        "kappa": metrics.cohen_kappa,
        "accuracy": metrics.accuracy,
        "npv": metrics.npv,
        "lift": metrics.lift,
        "balanced_precision": metrics.balanced_precision,
        "balanced_accuracy": metrics.balanced_accuracy,
    }
    own = prc(frame).curve(metrics=[*asked.values()], counts=("n_pos", "n_neg")).row(0, named=True)
    half = (
        prc(frame).curve(0.5, metrics=["precision", "f1"], counts=("n_pos", "n_neg")).row(0, named=True)
    )
    found = {name: own[metric.name] for name, metric in asked.items()}
    found |= {"tpr": own["recall"], "fpr": own["fpr"], "prevalence": own["eta"]}
    found |= {"ratio": ratio_from_eta(own["eta"]), "balanced_f1": half["f1"]}
    found |= {"k1": 0.5 / (tp + fn), "k2": 0.5 / (fp + tn)}
    assert_close(case, [half["precision"]], [expected["balanced_precision"]])
    k1, k2 = expected["k1"] * tp, expected["k2"] * fp
    assert_close(case, [half["precision"]], [k1 / (k1 + k2)])
    assert set(found) == set(expected)
    for name, value in expected.items():
        assert_close(case, [found[name]], [value])


@checks("eta_to_ratio")
def eta_to_ratio(case: Case) -> None:
    assert_close(case, [ratio_from_eta(eta) for eta in case["inputs"]["eta"]], case["expected"])


@checks("ratio_to_eta")
def ratio_to_eta(case: Case) -> None:
    ratios = case["inputs"]["ratio"]
    assert_close(case, [eta_from_ratio(ratio) for ratio in ratios], case["expected"])
    assert_close(case, [eta_from_ratio(f"{ratio}:1") for ratio in ratios], case["expected"])


# Edges ----------------------------------------------------------------------------------------


@checks("edge_no_positives", "edge_no_negatives")
def edge_one_class(case: Case) -> None:
    frame, _ = score_table(case)
    swept = prc(frame).sweep()
    assert swept.height == 3
    undefined, defined = (
        ("recall", "fpr") if case["function"] == "edge_no_positives" else ("fpr", "recall")
    )
    assert case["expected"]["tpr" if undefined == "recall" else undefined] is None
    assert swept[undefined].to_list() == [None] * 3
    assert swept[defined].to_list() == [1 / 3, 2 / 3, 1.0]


@checks(
    "edge_all_tied", "edge_perfect", "edge_infinite_scores", "edge_negative_zero", "edge_zero_weight"
)
def edge_of_a_table(case: Case) -> None:
    frame, arguments = score_table(case)
    swept = prc(frame).sweep(**arguments)
    rows = {
        "edge_all_tied": [(0.5, 2, 3)],
        "edge_perfect": [(4, 1, 0), (3, 2, 0), (2, 2, 1), (1, 2, 2), (0, 2, 3)],
        "edge_infinite_scores": [(math.inf, 1, 1), (1, 1, 2), (-math.inf, 1, 3)],
        "edge_negative_zero": [(1, 1, 0), (0, 2, 1), (-1, 2, 2)],
        "edge_zero_weight": [(3, 1, 0), (1, 1, 2)],
    }
    assert swept.select("threshold", "tp", "fp").rows() == rows[case["function"]]
    if "n_thresholds" in case["expected"]:
        assert swept.height == case["expected"]["n_thresholds"]


@checks("edge_origin")
def edge_origin(case: Case) -> None:
    found = each_way([getattr(metrics, name) for name in case["expected"]], case)
    for name, value in case["expected"].items():
        assert_close(case, found[name], [value] * len(found[name]))


@checks("edge_errors")
def edge_errors(case: Case) -> None:
    good = {"score": [0.9, 0.1], "label": [1, 0], "weight": [1.0, 1.0]}
    bad: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "eta=-0.1": ({}, {"eta": -0.1}),
        "eta=1.5": ({}, {"eta": 1.5}),
        "NaN score": ({"score": [math.nan, 0.1]}, {}),
        "null label": ({"label": [1, None]}, {}),
        "weight=-1": ({"weight": [1.0, -1.0]}, {"weight": "weight"}),
        "label not binary": ({"label": [1, 2]}, {}),
    }
    assert case["expected"] == {"all": "error"}
    assert set(case["inputs"]["cases"]) == set(bad)
    for data, arguments in bad.values():
        frame = pl.DataFrame({**good, **data})
        with pytest.raises(PrcError):
            prc(frame).curve(**arguments)
        with pytest.raises((PrcError, pl.exceptions.InvalidOperationError)):
            prc(frame.lazy()).curve(**arguments).collect()
        with pytest.raises((PrcError, pl.exceptions.InvalidOperationError)):
            frame.select(pl.col("score").prc.curve("label", **arguments))
