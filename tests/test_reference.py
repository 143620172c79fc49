"""Values worked out elsewhere, in exact or 50-digit arithmetic: `data/reference.json`.

Each family of cases has a checker here, by name. A family without one fails. The greatest errors are
those that docs/how-it-works.md states: one run of a case serves both tests.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
import warnings
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import polars as pl
import pytest

from polars_prcurve import (
    PrcError,
    crossing,
    eta_for_f_beta,
    eta_for_precision,
    eta_from_ratio,
    intervals,
    max_width,
    metrics,
    prc,
    precision_interval,
    published_average_precision,
    published_precision,
    published_roc_auc,
    rate_interval,
    ratio_from_eta,
    sample_size,
    shift_prior,
)
from polars_prcurve.core.comparison import sign_change_search
from polars_prcurve.core.prevalence import prevalence_by_em as estimate
from polars_prcurve.core.uncertainty import bootstrap
from polars_prcurve.core.uncertainty.bootstrap import Sample
from polars_prcurve.core.uncertainty.precision_under_subsampling import subsampled_precision
from tests.support import oracle, oracle_errors
from tests.support.tiers import slow_unless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

REFERENCE = json.loads((Path(__file__).parent / "data" / "reference.json").read_text(encoding="utf-8"))
CASES = REFERENCE["cases"]

Case = dict[str, Any]
CHECKS: dict[str, Callable[[Case], None]] = {}
COMPARED: list[tuple[float, float]] = []
"""The error and the expected value of each finite number of the case that is being worked."""
PAGE = (Path(__file__).parent.parent / "docs" / "how-it-works.md").read_text(encoding="utf-8")
PAGE = PAGE.partition("\n## Greatest errors\n")[2].partition("\n## ")[0]
ROW = re.compile(r"^\| (?P<what>[^|`]+) \| (?P<families>`[^|]+`) \| (?P<error>[\d.e-]+) \|$", re.M)
STATED = {
    row["what"]: (re.findall(r"`(\w+)`", row["families"]), float(row["error"]))
    for row in ROW.finditer(PAGE)
}

# The cases and their greatest errors go to one worker, which then works each case once.
pytestmark = pytest.mark.xdist_group("reference")

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


@functools.cache
def work(number: int) -> list[tuple[float, float]]:
    """Check a case; return the error and the expected value of each number that was compared."""
    case = CASES[number]
    del COMPARED[:]
    CHECKS[case["function"]](case)
    return COMPARED.copy()


FIRST_OF_FAMILY = {case["function"]: n for n, case in reversed([*enumerate(CASES)])}


@pytest.mark.parametrize(
    "number",
    slow_unless({*FIRST_OF_FAMILY.values()}.__contains__, range(len(CASES))),
    ids=lambda n: f"{CASES[n]['id']}-{CASES[n]['function']}",
)
def test_reference(number: int) -> None:
    work(number)


def test_every_family_is_checked() -> None:
    assert {case["function"] for case in CASES} == set(CHECKS)


@pytest.mark.slow
@pytest.mark.parametrize("what", STATED)
def test_the_greatest_error_is_the_one_stated(what: str) -> None:
    families, stated = STATED[what]
    numbers = [n for n, case in enumerate(CASES) if case["function"] in families]
    assert {CASES[n]["function"] for n in numbers} == set(families)
    found = max(
        error / (size if size and "absolute" not in what else 1.0)
        for n in numbers
        for error, size in work(n)
    )
    assert stated / 4 <= found <= stated or found == stated == 0, (
        f"docs/how-it-works.md says {stated} of {what}, and it is {found:.2g}: mend the page or the code"
    )


def test_every_row_of_greatest_errors_is_read() -> None:
    table = [line for line in PAGE.splitlines() if line.startswith("|")]
    assert len(STATED) == len(table) - 2
    assert f"{len(CASES)} cases" in PAGE


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
            COMPARED.append((abs(actual - worth), abs(worth)))
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


# Curves as a whole ----------------------------------------------------------------------------


def own(eta: float | str | None) -> float | None:
    return None if eta == "empirical" else float(eta) if eta is not None else None


def summarized(
    case: Case, frame: pl.DataFrame, asked: dict[str, Any], eta: Any = None, **arguments: Any
) -> dict[str, float | None]:
    """Curve metrics by both doors, which must agree to the last bit."""
    found = prc(frame).summary(eta, metrics=[*asked.values()], columns="all", **arguments)
    values = dict(zip(asked, found["value"], strict=True))
    if "rates" not in arguments:
        row = frame.select(
            pl.col("score").prc.summary(metric, "label", eta, **arguments).alias(name)
            for name, metric in asked.items()
            if not name.endswith("_hull")  # of which there are no expressions
        )
        assert row.row(0, named=True).items() <= values.items()
    return values


def assert_summary(case: Case, asked: dict[str, Any], expected: dict[str, Any], eta: Any = None) -> None:
    frame, arguments = score_table(case)
    found = summarized(case, frame, asked, eta, **arguments)
    for name, value in found.items():
        assert_close(case, [value], [expected[name]])


@checks("roc_auc")
def roc_auc(case: Case) -> None:
    expected = dict(case["expected"])
    asked: dict[str, Any] = {"auc": "roc_auc", "auc_hull": "roc_auc_hull"}
    for name in expected:
        kind, _, limit = name.partition("_")
        if kind == "pauc":
            asked[name] = metrics.partial_roc_auc(float(limit))
        elif kind == "mcclish":
            asked[name] = metrics.partial_roc_auc_mcclish(float(limit))
    assert set(asked) == set(expected)
    assert_summary(case, asked, expected)


@checks("pr_area")
def pr_area(case: Case) -> None:
    asked = {
        "ap_step": "average_precision",
        "ap_interpolated": "average_precision_interpolated",
        "aupr_trapezoid_first": metrics.pr_auc_trapezoid("first"),
        "aupr_trapezoid_one": metrics.pr_auc_trapezoid("one"),
        "aupr_davis_goadrich": "pr_auc",
        "aupr_davis_goadrich_hull": "pr_auc_hull",
    }
    assert set(asked) == set(case["expected"])
    assert_summary(case, asked, case["expected"], own(case["inputs"]["eta"]))


@checks("auprg")
def auprg(case: Case) -> None:
    asked = {"auprg": "auprg", "auprg_clipped": "auprg_clipped", "auprg_hull": "auprg_hull"}
    assert set(asked) == set(case["expected"])
    assert_summary(case, asked, case["expected"], own(case["inputs"]["eta"]))


@checks("best_threshold")
def best_threshold(case: Case) -> None:
    asked = {name: metrics.best(name) for name in case["expected"]}
    expected = {name: of["value"] for name, of in case["expected"].items()}
    eta = own(case["inputs"]["eta"])
    assert_summary(case, asked, expected, eta)
    frame, arguments = score_table(case)
    for name, of in case["expected"].items():
        point = prc(frame).operating_points(eta, maximize=name, metrics=name, columns="all", **arguments)
        assert_close(case, point[name], [of["value"]])
        assert point["threshold"].item() in [number(value) for value in of["thresholds"]]


@checks("recall_at_precision")
def at_a_precision(case: Case) -> None:
    targets = case["inputs"]["precision"]
    asked = {str(i): metrics.recall_at_precision(target) for i, target in enumerate(targets)}
    # The file has 0 where no threshold meets the target.
    expected = {str(i): value or None for i, value in enumerate(case["expected"])}
    assert_summary(case, asked, expected, own(case["inputs"]["eta"]))


@checks("precision_at_recall")
def at_a_recall(case: Case) -> None:
    """The file joins neighbouring points of the ROC curve by lines; the package takes the second one."""
    frame, arguments = score_table(case)
    eta, recalls = own(case["inputs"]["eta"]), case["inputs"]["recall"]
    points = prc(frame).operating_points(
        eta, recall=recalls, metrics="precision", columns="all", **arguments
    )
    of_metric = prc(frame).summary(
        eta,
        metrics=[metrics.precision_at_recall(recall) for recall in recalls],
        columns="all",
        **arguments,
    )
    assert of_metric["value"].to_list() == points["precision"].to_list()
    rows = prc(frame).sweep(**arguments)
    ends = pl.concat([pl.DataFrame({"recall": [0.0], "fpr": [0.0]}), rows.select("recall", "fpr")])
    share = points["eta"][0]
    found = []
    for recall, point in zip(recalls, points.iter_rows(named=True), strict=True):
        before = ends.filter(pl.col("recall") < point["recall"] - 1e-12)[-1]
        rise, run = point["recall"] - before["recall"].item(), point["fpr"] - before["fpr"].item()
        at_line = before["fpr"].item() + run * (recall - before["recall"].item()) / rise
        found.append(float(metrics.precision(recall, at_line, share)))
    assert_close(case, found, case["expected"])


@checks("calibrated")
def calibrated(case: Case) -> None:
    asked: dict[str, Any] = {
        "calibrated_ap": "average_precision",
        "calibrated_auprg": "auprg",
        "best_calibrated_f1": metrics.best("f1"),
    }
    assert set(asked) == set(case["expected"])
    assert_summary(case, asked, case["expected"], case["inputs"]["pi0"])


@checks("hoiem_normalized")
def hoiem_normalized(case: Case) -> None:
    frame, arguments = score_table(case)
    n_neg = prc(frame).summary(columns="all", **arguments)["n_neg"][0]
    eta = eta_from_ratio(case["inputs"]["n0"] / n_neg)
    expected = case["expected"]
    assert_close(case, [eta], [expected["equivalent_eta"]])
    curve = prc(frame).curve(eta, **arguments)
    assert_close(case, curve["precision"], expected["normalized_precision"])
    asked = {"apn_interpolated": "average_precision_interpolated", "apn_step": "average_precision"}
    assert_summary(case, asked, expected, eta)


@checks("integrated_ap")
def integrated_ap(case: Case) -> None:
    low, high = case["inputs"]["a"], case["inputs"]["b"]
    priors = case["expected"]
    asked = {prior: metrics.integrated_average_precision(low, high, prior) for prior in priors}
    assert_summary(case, asked, priors)


@checks("grouped_areas")
def grouped_areas(case: Case) -> None:
    frame, arguments = score_table(case)
    short = {"ap": "average_precision", "dg": "pr_auc", "auprg": "auprg", "roc_auc": "roc_auc"}
    for group, expected in case["expected"].items():
        for name, value in expected.items():
            kind, _, eta = name.partition("@")
            at = own(eta or "empirical")
            found = prc(frame).summary(at, metrics=short[kind], by="group", columns="all", **arguments)
            assert_close(case, found.filter(pl.col("group") == group)["value"], [value])


@checks("curve_areas", "curve_roc_auc")
def curve_areas(case: Case) -> None:
    """Published operating points: two classifiers of nineteen points."""
    asked: dict[str, Any] = {
        "trapezoid_none": metrics.pr_auc_trapezoid("none"),
        "ap_step": "average_precision",
        "davis_goadrich": "pr_auc",
    }
    for classifier, points in REFERENCE["curves"][case["inputs"]["curve"]].items():
        frame = pl.DataFrame(points)
        if case["function"] == "curve_roc_auc":
            auc = prc(frame).summary(0.5, metrics="roc_auc", rates=("tpr", "fpr"), columns="all")
            assert_close(case, auc["value"], [case["expected"][classifier]])
            continue
        for eta in case["inputs"]["eta"]:
            [expected] = (of[classifier] for at, of in case["expected"].items() if float(at) == eta)
            found = summarized(case, frame, asked, eta, rates=("tpr", "fpr"))
            assert set(found) == set(expected)
            assert_close(case, found.values(), [expected[name] for name in found])


@checks("dg_segment")
def dg_segment(case: Case) -> None:
    """The area over one segment: what it adds to that of the points before it."""
    inputs = case["inputs"]
    ends = [(inputs["tpr1"], inputs["fpr1"]), (inputs["tpr2"], inputs["fpr2"])]
    areas = []
    for points in (ends[:1], ends):
        # The curve goes on to (1, 1) by a segment that starts where this one ends.
        frame = pl.DataFrame(points, schema=["tpr", "fpr"], orient="row")
        values = prc(frame).summary(inputs["eta"], metrics="pr_auc", rates=("tpr", "fpr"), columns="all")
        areas.append(values["value"][0])
    tail = segment(*ends[1], 1.0, 1.0, inputs["eta"])
    head = areas[0] - segment(*ends[0], 1.0, 1.0, inputs["eta"])
    assert abs(areas[1] - tail - head - case["expected"]) <= 1e-13 + case["rtol"]


def segment(t1: float, f1: float, t2: float, f2: float, eta: float) -> float:
    """The same area by Gauss-Legendre quadrature in many pieces."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    total = 0.0
    edges = np.concatenate([[0.0], np.geomspace(1e-18, 1.0, 200)])
    for low, high in itertools.pairwise(edges):
        x = (low + high) / 2 + (high - low) / 2 * nodes
        t, f = t1 + (t2 - t1) * x, f1 + (f2 - f1) * x
        alarms = eta * t + (1 - eta) * f
        precision = np.divide(eta * t, alarms, out=np.ones_like(t), where=alarms > 0)
        total += float((high - low) / 2 * (t2 - t1) * (weights @ precision))
    return total


@checks("baselines")
def baselines(case: Case) -> None:
    n_pos, n_neg = case["inputs"]["P"], case["inputs"]["N"]
    table = pl.DataFrame({"score": [1, 0], "n_pos": [0, n_pos], "n_neg": [n_neg, 0]})
    eta = own(case["inputs"]["eta"])
    at: dict[str, Any] = {"eta": eta, "counts": ("n_pos", "n_neg")}
    asked = ["worst_pr_auc", "pr_auc", "worst_average_precision", "random_average_precision"]
    expected = [
        case["expected"][key] for key in ("min_aucpr", "min_aucpr", "min_ap_step", "random_expected_ap")
    ]
    assert_close(case, prc(table).summary(metrics=asked, columns="all", **at)["value"], expected)
    [constant] = prc(table.with_columns(score=0)).summary(
        metrics="average_precision", columns="all", **at
    )["value"]
    assert_close(case, [constant], [case["expected"]["random_population"]])


@checks("transforms")
def transforms(case: Case) -> None:
    area, eta = case["inputs"]["aucpr"], case["inputs"]["eta"]
    names = {
        "marginal": "marginal_average_precision",
        "normalized": "normalized_average_precision",
        "minmax": "min_max_average_precision",
        "boyd": "boyd_pr_auc",
    }
    # With the only operating point (1, f) average precision is precision there.
    fpr = eta * (1 - area) / (area * (1 - eta))
    point = pl.DataFrame({"tpr": [1.0], "fpr": [fpr]})
    for short, metric in names.items():
        found = prc(point).summary(eta, metrics=metric, rates=("tpr", "fpr"), columns="all")
        assert abs(found["value"][0] - case["expected"][short]) <= 1e-11 / eta


@checks("easy_negative_enrichment")
def easy_negatives(case: Case) -> None:
    inputs = case["inputs"]
    few = pl.DataFrame({"score": inputs["score"], "label": inputs["label"]})
    extra = pl.DataFrame({"score": inputs["extra_negative_scores"]}).with_columns(
        label=pl.lit(0, dtype=pl.Int64)
    )
    for name, frame in (("before", few), ("after", pl.concat([few, extra]))):
        expected = case["expected"][name]
        own_ap = summarized(case, frame, {"ap": "average_precision"})["ap"]
        asked = {"ap": "average_precision", "auc": "roc_auc"}
        at_eta = summarized(case, frame, asked, inputs["eta"])
        found = [own_ap, at_eta["ap"], at_eta["auc"]]
        assert_close(case, found, [expected[key] for key in ("ap_empirical", "ap_eta", "auc")])


# Prevalences at which something happens -------------------------------------------------------


@checks("eta_for_precision", "eta_for_f1")
def eta_for(case: Case) -> None:
    solve, given = {
        "eta_for_precision": (eta_for_precision, "precision"),
        "eta_for_f1": (eta_for_f_beta, "f1"),
    }[case["function"]]
    recall, fpr, targets = (case["inputs"][name] for name in ("tpr", "fpr", given))
    array = solve(recall, fpr, np.array(targets))
    numbers = [solve(recall, fpr, target) for target in targets]
    column = pl.DataFrame({"target": targets}).select(
        solve(pl.lit(recall), pl.lit(fpr), pl.col("target"))
    )
    assert_close(case, map(none_if_nan, array.tolist()), case["expected"])
    assert_close(case, map(none_if_nan, numbers), case["expected"])
    assert_close(case, column.to_series(), case["expected"])


@checks("point_crossing")
def point_crossing(case: Case) -> None:
    a, b = ((case["inputs"][x]["tpr"], case["inputs"][x]["fpr"]) for x in ("a", "b"))
    for name, eta in case["expected"].items():
        kind, _, beta = name.partition("_")
        metric = {"kappa": metrics.cohen_kappa}.get(name) or (
            metrics.f_beta(float(beta)) if kind == "f" else getattr(metrics, name)
        )
        for found in (crossing(a, b, metric), crossing(b, a, metric)):
            assert_close(case, [found], [eta])
            if found is not None:
                assert math.isclose(metric(*a, found), metric(*b, found), rel_tol=1e-9)


@checks("ap_crossing")
def ap_crossing(case: Case) -> None:
    asked: dict[str, Any] = {
        "trapezoid_none": metrics.pr_auc_trapezoid("none"),
        "ap_step": "average_precision",
        "davis_goadrich": "pr_auc",
    }
    df = pl.concat(
        pl.DataFrame(points).with_columns(model=pl.lit(classifier))
        for classifier, points in REFERENCE["curves"][case["inputs"]["curve"]].items()
    )
    how: dict[str, Any] = {"rates": ("tpr", "fpr"), "eta_range": (1e-11, 1 - 6e-6)}
    for name, expected in case["expected"].items():
        found = df.prc.crossings(metric=asked[name], **how)
        assert_close(case, found["eta"], expected)
        leaders = df.prc.crossings(metric=asked[name], **how, leaders=True)
        assert leaders["model"].to_list() == [found["model_a"].item(), found["model_b"].item()]
        assert_close(case, leaders["eta_low"][1:], expected)


@checks("binormal_ap_crossing")
def binormal_ap_crossing(case: Case) -> None:
    """Precision of two normal distributions, by the trapezoid rule over the scores of positives."""
    z = np.linspace(-8.5, 8.5, 1025)
    weight = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
    models = [case["inputs"][name] for name in ("a", "b")]

    def below(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.array([math.erfc(-value / math.sqrt(2)) / 2 for value in x])

    rates = [
        (below(-z), below((m["mu_neg"] - m["mu_pos"] - m["sd_pos"] * z) / m["sd_neg"])) for m in models
    ]

    def average_precision(numbers: Any, places: Any) -> Any:
        eta = sign_change_search.expit(places)[:, None]
        recall, fpr = (np.array([r[i] for r in rates])[numbers] for i in range(2))
        return (eta * recall / (eta * recall + (1 - eta) * fpr)) @ weight

    found = sign_change_search.find_sign_changes(
        average_precision,
        np.array([0]),
        np.array([1]),
        sign_change_search.find_logit(1e-9),
        sign_change_search.find_logit(1 - 1e-4),
    )
    expected = case["expected"]
    assert_close(case, sign_change_search.expit(found.logits), expected["roots"])
    separations = [(m["mu_pos"] - m["mu_neg"]) / math.hypot(m["sd_pos"], m["sd_neg"]) for m in models]
    assert_close(case, below(np.array(separations)), [expected["auc_a"], expected["auc_b"]])


# Edges ----------------------------------------------------------------------------------------


# Prior shift ----------------------------------------------------------------------------------


@checks("prior_shift")
def prior_shift(case: Case) -> None:
    inputs, expected = case["inputs"], case["expected"]
    priors = inputs["eta_train"], inputs["eta"]
    assert_close(case, shift_prior(np.array(inputs["p"]), *priors), expected["p"])
    table = pl.DataFrame({"p": inputs["p"]})
    assert_close(case, table.select(prc(pl.col("p")).shift_prior(*priors))["p"], expected["p"])
    back = shift_prior(0.5, *reversed(priors))
    assert_close(case, [back], [expected["threshold_for_half"]])
    odds = [ratio_from_eta(eta) for eta in priors]
    assert_close(case, [math.log(odds[1] / odds[0])], [expected["logit_shift"]])


@checks("prior_shift_sweep")
def prior_shift_sweep(case: Case) -> None:
    inputs = case["inputs"]
    table = pl.DataFrame({"score": inputs["p"], "label": inputs["label"]})
    shifted = prc(pl.col("score")).shift_prior(inputs["eta_train"], inputs["eta"])
    swept = prc(table.with_columns(shifted)).sweep()
    for name in ("threshold", "tp", "fp"):
        assert_close(case, swept[name], [row[name] for row in case["expected"]])


@checks("saerens_em")
def saerens_em(case: Case) -> None:
    table = pl.DataFrame({"p": case["inputs"]["p"]})
    for name, value in case["expected"].items():
        steps = 10_000 if name == "eta_hat" else int(name.split("_")[2])
        with mock.patch.object(estimate, "_MAX_ITERATIONS", steps):
            found = prc(table).estimate_prevalence(case["inputs"]["eta_train"], score="p")
        assert_close(case, found["eta"], [value])
        assert found["converged"].item() == (name == "eta_hat")


# Uncertainty ----------------------------------------------------------------------------------


@checks("rate_ci")
def rate_ci(case: Case) -> None:
    k, n, level = (case["inputs"][name] for name in ("k", "n", "level"))
    for method in ("wilson", "clopper_pearson", "jeffreys", "hoeffding"):
        assert_close(case, rate_interval(k, n, level, method), case["expected"][method])


@checks("delta_width")
def delta_width(case: Case) -> None:
    inputs = case["inputs"]
    found = max_width(inputs["tpr"], inputs["fpr"], inputs["sigma_tpr"], inputs["sigma_fpr"])
    keys = ("delta", "eta_star", "theorem_bound", "max_up_deviation", "max_down_deviation")
    assert_close(case, found, [case["expected"][key] for key in keys])


@checks("precision_band", "f1_band")
def rectangle(case: Case) -> None:
    inputs, metric = case["inputs"], "precision" if case["function"] == "precision_band" else "f1"
    widths = inputs["sigma_tpr"], inputs["sigma_fpr"]
    for row in case["expected"]:
        point = inputs["tpr"], inputs["fpr"], row["eta"]
        found = precision_interval(*point, *widths, metric=metric)
        assert_close(case, found, [row["lb"], row["ub"]])


@checks("precision_interval_from_counts")
def precision_from_counts(case: Case) -> None:
    tp, n_pos, fp, n_neg, eta, level = (
        case["inputs"][name] for name in ("tp", "P", "fp", "N", "eta", "level")
    )
    table = pl.DataFrame({"score": [1, 0], "n_pos": [tp, n_pos - tp], "n_neg": [fp, n_neg - fp]})
    for method, expected in case["expected"].items():
        rates = [rate_interval(*counts, level, method) for counts in ((tp, n_pos), (fp, n_neg))]
        ends = {"recall_interval": rates[0], "fpr_interval": rates[1]}
        width = max_width(tp / n_pos, fp / n_neg, **ends)
        assert_close(case, width[:2], [expected["delta"], expected["eta_star"]])
        band = precision_interval(tp / n_pos, fp / n_neg, eta, **ends)
        assert_close(case, band, [expected["lb"], expected["ub"]])
        # In a table each rate's interval is of the square root of the level asked for.
        confidence = intervals(level**2, rate=method, method="rectangle")
        counted = prc(table, counts=("n_pos", "n_neg"))
        point = counted.operating_points(eta, threshold=1, confidence=confidence, columns="all")
        found = point.select("precision_low", "precision_high").row(0)
        assert_close(case, found, [expected["lb"], expected["ub"]])


@checks("sample_size")
def sample_sizes(case: Case) -> None:
    rate, delta, level = (case["inputs"][name] for name in ("rate", "delta", "level"))
    expected = dict(case["expected"])
    expected.pop("wilson_real")
    assert {method: sample_size(rate, delta, level, method) for method in expected} == expected


@checks("subsampling")
def subsampling(case: Case) -> None:
    inputs, expected = case["inputs"], case["expected"]
    found = subsampled_precision(*(inputs[name] for name in ("tp", "P", "fp", "N", "n_keep")))
    *numbers, quartiles, cv = found
    keys = ("eta", "adjusted_precision", "mean", "sd")
    assert_close(case, numbers, [expected[key] for key in keys])
    assert_close(case, quartiles, expected["quartiles"])
    assert_close(case, [cv], [expected["cv_fpr"]])


@checks("ap_variance")
def ap_variance(case: Case) -> None:
    frame, arguments = score_table(case)
    eta, expected = case["inputs"]["eta"], case["expected"]
    [group] = oracle.groups(frame.to_dicts())
    influences = oracle_errors.influences("average_precision", group, Fraction(eta))
    assert_close(case, map(float, influences), expected["influence"])
    asked: dict[str, Any] = {"metrics": "average_precision", "confidence": case["inputs"]["level"]}
    found = prc(frame).summary(eta, columns="all", **asked, **arguments).row(0, named=True)
    error = found["standard_error"]
    assert_close(
        case, [found["value"], error, error**2], [expected[k] for k in ("ap", "se", "variance")]
    )
    level = case["inputs"]["level"]
    published = published_average_precision(expected["ap"], found["n_pos"], confidence=level)
    assert_close(case, published[2:], expected["logit_ci"])


@checks("delong")
def delong(case: Case) -> None:
    frame = pl.DataFrame(case["inputs"])
    cov, names = case["expected"]["cov"], ["score_a", "score_b"]
    for name, auc, variances in zip(names, case["expected"]["auc"], cov, strict=True):
        own = (
            prc(frame)
            .summary(metrics="roc_auc", score=name, confidence=0.95, columns="all")
            .row(0, named=True)
        )
        assert_close(case, [own["value"]], [auc])
        assert_close(case, [own["standard_error"] ** 2], [variances[names.index(name)]])
    found = prc(frame).compare(score=names, metrics="roc_auc", columns="all").row(0, named=True)
    variance = cov[0][0] + cov[1][1] - 2 * cov[0][1]
    assert_close(case, [found["standard_error"] ** 2], [variance])
    z_and_p = [found["difference"] / found["standard_error"], found["p_value"]]
    assert_close(case, z_and_p, [case["expected"]["z"], case["expected"]["p"]])
    n_pos, n_neg = frame["label"].sum(), (frame["label"] == 0).sum()
    published = published_roc_auc(case["expected"]["auc"][0], n_pos, n_neg)
    assert_close(case, [published.standard_error**2], [case["expected"]["hanley_mcneil_var"]])


@checks("delta_method")
def delta_method(case: Case) -> None:
    inputs, expected = case["inputs"], case["expected"]
    counts = [inputs[name] for name in ("tp", "P", "fp", "N", "eta")]
    found = published_precision(*counts, confidence=inputs["level"])
    keys = ("precision", "se_precision", "lo", "hi")
    assert_close(case, found, [expected[key] for key in keys])
    deviation = found.standard_error / (found.value * (1 - found.value))
    assert_close(case, [deviation, deviation**2], [expected["se_logit"], expected["var_logit"]])


@checks("ap_paired_difference")
def ap_paired_difference(case: Case) -> None:
    inputs, expected = dict(case["inputs"]), case["expected"]
    eta, frame = inputs.pop("eta"), pl.DataFrame(inputs)
    long = prc(frame).unpivot_scores(["score_a", "score_b"], name="model", score="score")
    areas = prc(long).summary(eta, metrics="average_precision", by="model", columns="all")["value"]
    assert_close(case, areas, [expected["ap_a"], expected["ap_b"]])
    found = prc(frame).compare(
        eta, score=["score_a", "score_b"], metrics="average_precision", columns="all"
    )
    difference, error = found.select("difference", "standard_error").row(0)
    keys = ("difference", "se", "variance")
    assert_close(case, [difference, error, error**2], [expected[key] for key in keys])


def replicates(frame: pl.DataFrame, eta: float, n: int, drawn: Any = None) -> np.ndarray[Any, Any]:
    """Average precision and ROC AUC of each replicate of a bootstrap; of those `drawn`, if given."""
    corrected, draw, seen = bootstrap._correct_percentiles, Sample.draw, []

    def spy(rows: Any, *others: Any) -> Any:
        seen.append(rows.replicates[:, 0])
        return corrected(rows, *others)

    def given(*_: Any) -> Any:
        return drawn

    asked = [
        metrics.average_precision.change_recipe(needs="all"),
        "roc_auc",
    ]  # a cell per score
    with warnings.catch_warnings(), mock.patch.object(bootstrap, "_correct_percentiles", spy):
        warnings.simplefilter("ignore")  # of replicates without a positive
        with mock.patch.object(Sample, "draw", draw if drawn is None else given):
            confidence = intervals(0.95, method="bootstrap", resamples=n, seed=0)
            prc(frame).summary(eta, metrics=asked, confidence=confidence, columns="all")
    [values] = seen
    return values


@checks("bootstrap_replicates")
def bootstrap_replicates(case: Case) -> None:
    """A replicate is a sweep whose weights say how often each row was drawn."""
    frame, arguments = score_table(case)
    eta, weights = case["inputs"]["eta"], case["inputs"]["weights"]
    names, keys = ["average_precision", "roc_auc"], ["ap", "auc"]
    for weight, expected in zip(weights, case["expected"], strict=True):
        weighted = prc(frame.with_columns(weight=pl.Series(weight)))
        found = weighted.summary(eta, metrics=names, weight="weight", columns="all", **arguments)[
            "value"
        ]
        assert_close(case, found, [expected[key] for key in keys])
    cells = frame["score"].unique().sort(descending=True).to_list()
    drawn = np.zeros((2, len(weights), len(cells)))
    for replicate, weight in enumerate(weights):
        for score, label, times in zip(frame["score"], frame["label"], weight, strict=True):
            drawn[1 - label, replicate, cells.index(score)] += times
    for values, expected in zip(
        replicates(frame, eta, len(weights), drawn), case["expected"], strict=True
    ):
        assert_close(case, map(none_if_nan, values.tolist()), [expected[key] for key in keys])


@checks("bootstrap_exact_moments")
def bootstrap_exact_moments(case: Case) -> None:
    """Of all samples that may be drawn, to the error of drawing 20,000."""
    frame, _ = score_table(case)
    n, expected = 20_000, case["expected"]
    areas = replicates(frame, case["inputs"]["eta"], n)[:, 0]
    assert abs(areas.mean() - expected["mean"]) <= 4 * expected["sd"] / n**0.5
    assert abs(areas.std(ddof=1) - expected["sd"]) <= 4 * expected["sd"] / n**0.5


@checks("edge_no_positives", "edge_no_negatives")
def edge_one_class(case: Case) -> None:
    frame, _ = score_table(case)
    swept = prc(frame).sweep()
    assert swept.height == 3
    names = {"ap": None, "ap_empirical": None, "ap@0.5": 0.5}
    asked = {name: ("average_precision", names[name]) for name in names if name in case["expected"]}
    asked |= {name: (name, 0.1) for name in ("roc_auc", "auprg") if name in case["expected"]}
    for name, (metric, eta) in asked.items():
        found = summarized(case, frame, {name: metric}, eta)
        assert_close(case, found.values(), [case["expected"][name]])
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
    areas = {
        "ap": "average_precision",
        "davis_goadrich": "pr_auc",
        "auprg": "auprg",
        "roc_auc": "roc_auc",
    }
    asked = {name: metric for name, metric in areas.items() if name in case["expected"]}
    assert asked
    eta = case["inputs"].get("eta")
    assert_summary(case, asked, case["expected"], eta)
    if "n_thresholds" in case["expected"]:
        assert swept.height == case["expected"]["n_thresholds"]


@checks("binormal")
def binormal(case: Case) -> None:
    """By a table of two scores a class, whose mean and deviation are those of the case."""
    inputs, expected = case["inputs"], case["expected"]
    places = {name: (inputs[f"mu_{name}"], inputs[f"sd_{name}"]) for name in ("pos", "neg")}
    rows = [
        (mu + side * sigma, kind == "pos") for kind, (mu, sigma) in places.items() for side in (-1, 1)
    ]
    df = pl.DataFrame(rows, schema=["score", "label"], orient="row")
    alpha, recalls = inputs["alpha"], inputs["tpr"]
    fitted = df.prc.binormal()
    assert_close(case, fitted.row(0)[:4], [*places["pos"], *places["neg"]])
    assert_close(case, [fitted["roc_auc"].item()], [expected["auc"]])
    asked = ["average_precision", "roc_auc", *(metrics.precision_at_recall(r) for r in recalls)]
    found = df.prc.summary(alpha, metrics=asked, smooth="binormal", columns="all")["value"]
    assert_close(case, found, [expected["ap"], expected["auc"], *expected["ppv"]])
    mu, sigma = places["pos"]
    at = {mu - sigma * NormalDist().inv_cdf(r): place for place, r in enumerate(recalls) if r < 1}
    curve = df.prc.curve(alpha, thresholds=list(at), smooth="binormal")
    points = {name: [expected[name][place] for place in at.values()] for name in ("fpr", "ppv")}
    assert_close(case, curve["recall"], [r for r in recalls if r < 1])
    assert_close(case, curve["fpr"], points["fpr"])
    assert_close(case, curve["precision"], points["ppv"])


@checks("binormal_fit")
def binormal_fit(case: Case) -> None:
    df, arguments = score_table(case)
    expected, names = case["expected"], ["mu_pos", "sd_pos", "mu_neg", "sd_neg", "alpha"]
    found = df.prc.binormal(**arguments)
    assert_close(case, found.row(0)[:5], [expected[name] for name in names])
    assert_close(case, [found["roc_auc"].item()], [expected["auc"]])
    [unbiased] = df.prc.binormal(1, **arguments).rows(named=True)
    sigmas = unbiased["sigma_pos"], unbiased["sigma_neg"]
    assert_close(case, sigmas, [expected["sd_pos_ddof1"], expected["sd_neg_ddof1"]])
    for eta, name in ((None, "ap"), (0.5, "ap_alpha_half")):
        area = df.prc.summary(
            eta, metrics="average_precision", smooth="binormal", columns="all", **arguments
        )
        assert_close(case, area["value"], [expected[name]])
    # Of the unbiased fit, by a table whose own fit it is.
    again = [
        (unbiased[f"mu_{kind}"] + side * unbiased[f"sigma_{kind}"], kind == "pos", unbiased[f"n_{kind}"])
        for kind in ("pos", "neg")
        for side in (-1, 1)
    ]
    two = pl.DataFrame(again, schema=["score", "label", "w"], orient="row")
    area = two.prc.summary(metrics="average_precision", smooth="binormal", weight="w", columns="all")
    assert_close(case, area["value"], [expected["ap_ddof1"]])


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
