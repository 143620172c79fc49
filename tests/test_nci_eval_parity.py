"""What nci_eval (Brabec et al. 2020) does, by the public names, and right where it is wrong.

Each name in the tables of `docs/coming-from.md` has a test here. The tests cover what differs
from nci_eval, whose answers are worked out below from what its functions do, and what no other test
promises. The code on the page runs as a test of its own.
"""

from __future__ import annotations

import ast
import inspect
import json
import math
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import polars_prcurve
from polars_prcurve import (
    DataFramePrc,
    PrcError,
    eta_grid,
    max_width,
    metrics,
    prc,
    precision_interval,
    subsampled_precision,
)
from polars_prcurve.doors.namespace.plot import PlotPrc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).parent
PAGE = (ROOT.parent / "docs" / "coming-from.md").read_text(encoding="utf-8")
PAGE = PAGE.partition("\n## nci_eval\n")[2]
CURVES = json.loads((ROOT / "data" / "reference.json").read_text(encoding="utf-8"))["curves"][
    "nci_eval_fig4"
]
FUNCTIONS = (
    "precision_from_tpr_fpr",
    "precision_with_confidence_interval",
    "precision_with_confidence_interval_cv",
    "max_width_of_precision_confidence_interval",
    "conf_level_for_confidence_interval",
    "_sample_precision",
)
PLOTS = (
    "PositivePriorPraucPlot",
    "PositivePriorPrecisionPlot",
    "PositivePriorF1ScorePlot",
    "RocPlot",
    "PrecisionRecallPlot",
)
REPLACED: dict[str, list[str]] = {}
ONE, TWO = (0.9, 0.01), (0.6, 0.001)
RATES: Any = {"by": "model", "rates": ("tpr", "fpr")}
TRAPEZOID = metrics.pr_auc_trapezoid("none")


def replaces(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The test is of what the page puts in place of these."""

    def register(test: Callable[..., None]) -> Callable[..., None]:
        for name in names:
            REPLACED.setdefault(name, []).append(test.__name__)
        return test

    return register


def curves() -> pl.DataFrame:
    return pl.concat(
        pl.DataFrame(curve).with_columns(model=pl.lit(name)) for name, curve in CURVES.items()
    )


def true_precision(recall: float, fpr: float, eta: float) -> float:
    """As a share of what is predicted positive."""
    found, wrong = eta * recall, (1 - eta) * fpr
    return found / (found + wrong)


def true_f1(recall: float, fpr: float, eta: float) -> float:
    """From the counts among as many examples as you like."""
    return 2 * eta * recall / (eta * recall + (1 - eta) * fpr + eta)


def clamped(recall: float, fpr: float, sigma: Sequence[float], eta: float) -> tuple[float, float]:
    """The band of nci_eval: rates are kept off 0 and 1."""
    low = true_precision(max(recall - sigma[0], 1e-7), min(fpr + sigma[1], 1 - 1e-6), eta)
    return low, true_precision(min(recall + sigma[0], 1 - 1e-8), max(fpr - sigma[1], 1e-7), eta)


def widest(
    recall: float, fpr: float, sigma: Sequence[float], etas: Sequence[float]
) -> tuple[float, float]:
    """By search: `(width, eta)`, of the band that nci_eval makes."""
    widths = []
    for eta in etas:
        low, high = clamped(recall, fpr, sigma, eta)
        widths.append((high - low, eta))
    return max(widths)


# The page -------------------------------------------------------------------------------------


def rows() -> list[tuple[list[str], list[str]]]:
    """What stands in backticks in both columns of the tables."""
    lines = [line for line in PAGE.splitlines() if line.startswith("| `")]
    return [tuple(re.findall(r"`([^`]+)`", cell) for cell in line.split(" | ")) for line in lines]  # type: ignore[misc]


def test_the_page_names_all_that_nci_eval_has_and_each_name_has_a_test() -> None:
    named = [name for names, _ in rows() for name in names]
    assert named[: len(FUNCTIONS) + len(PLOTS)] == [*FUNCTIONS, *PLOTS]
    assert len(named) == len(set(named))
    assert set(named) == set(REPLACED)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0][0])
def test_what_the_page_names_exists_and_takes_these_arguments(row: tuple[list[str], list[str]]) -> None:
    calls = [
        node
        for code in row[1]
        if "(" in code
        for node in ast.walk(ast.parse(code, mode="eval"))
        if isinstance(node, ast.Call)
    ]
    assert calls
    for call in calls:
        name = ast.unparse(call.func)
        if name.startswith("df.prc.plot."):
            function, first = getattr(PlotPrc, name.removeprefix("df.prc.plot.")), [None]
        elif name.startswith("df.prc."):
            function, first = getattr(DataFramePrc, name.removeprefix("df.prc.")), [None]
        elif name.startswith("metrics."):
            assert name.removeprefix("metrics.") in metrics.__all__
            function, first = getattr(metrics, name.removeprefix("metrics.")), []
        else:
            assert name in polars_prcurve.__all__
            function, first = getattr(polars_prcurve, name), []
        keywords = {str(word.arg): None for word in call.keywords}
        inspect.signature(function).bind(*first, *(None for _ in call.args), **keywords)


@pytest.mark.extras
def test_all_charts_of_the_page_can_be_drawn(tmp_path: Path) -> None:
    import altair as alt

    plot, file = curves().prc(**RATES).plot, tmp_path / "chart.svg"
    areas = plot.metric_by_eta(np.logspace(-7, -1, 500), metrics=TRAPEZOID, by=None, model="model")
    for chart in (plot.pr_curve(0.1), plot.roc_curve(log_x=True), areas):
        assert isinstance(chart, alt.TopLevelMixin)
        chart.save(file)
        assert file.stat().st_size > 5_000


# Functions ------------------------------------------------------------------------------------


@replaces("precision_from_tpr_fpr")
def test_precision_of_nothing_is_undefined_and_eta_is_a_share() -> None:
    assert metrics.precision(*TWO, 1e-2) == pytest.approx(true_precision(*TWO, 1e-2), rel=1e-12)
    with pytest.raises(ZeroDivisionError):
        true_precision(0.0, 0.0, 0.01)
    assert math.isnan(metrics.precision(0.0, 0.0, 0.01))
    assert np.isnan(metrics.precision([0.0], [0.0], 0.01)).all()
    assert pl.select(metrics.precision(pl.lit(0.0), pl.lit(0.0), pl.lit(0.01))).item() is None
    assert true_precision(*TWO, 2.0) > 1
    with pytest.raises(PrcError, match="eta"):
        metrics.precision(*TWO, 2.0)


@replaces("precision_with_confidence_interval", "precision_with_confidence_interval_cv")
@pytest.mark.parametrize("eta", [1e-6, 0.01, 1.0])
def test_the_band_is_that_of_nci_eval_where_no_rate_is_cut(eta: float) -> None:
    expected = clamped(*TWO, (0.06, 0.0005), eta)
    assert precision_interval(*TWO, eta, 0.06, 0.0005) == pytest.approx(expected, rel=1e-12)
    assert precision_interval(*TWO, eta, recall_cv=0.1, fpr_cv=0.5) == pytest.approx(expected, rel=1e-12)
    both = pl.DataFrame({"eta": [eta]}).select(precision_interval(*TWO, pl.col("eta"), 0.06, 0.0005).low)
    assert both.item() == pytest.approx(expected[0], rel=1e-12)


@replaces("precision_with_confidence_interval")
@pytest.mark.parametrize(
    ("point", "half", "eta"),
    [((0.5, 0.0), (0.0, 0.0), 0.01), ((0.5, 1e-8), (0.0, 5e-9), 1e-6), ((1.0, 0.01), (0.0, 0.0), 0.01)],
)
def test_the_band_holds_precision_where_nci_eval_cuts_rates(
    point: tuple[float, float], half: tuple[float, float], eta: float
) -> None:
    truth = true_precision(*point, eta)
    assert clamped(*point, half, eta)[1] < truth
    low, high = precision_interval(*point, eta, *half)
    assert low <= truth <= high
    (recall, fpr), (t, f) = point, half
    assert low == pytest.approx(true_precision(recall - t, fpr + f, eta), rel=1e-12)
    assert high == pytest.approx(true_precision(recall + t, fpr - f, eta), rel=1e-12)


@replaces("max_width_of_precision_confidence_interval")
@pytest.mark.parametrize(
    ("point", "half", "delta", "eta"),
    [
        (TWO, (0.06, 0.0005), 0.313859338365, 0.00144854580415),
        (ONE, (0.01, 0.0005), 0.0305671233741, 0.0109760871056),
        ((0.1, 0.5), (0.05, 0.2), None, None),
    ],
)
def test_the_widest_band(point: Any, half: Any, delta: float | None, eta: float | None) -> None:
    (recall, fpr), (t, f) = point, half
    above, below = (recall + t) / (fpr - f), (recall - t) / (fpr + f)  # ratios of recall to fpr
    expected = math.tanh(math.log(above / below) / 4), 1 / (1 + math.sqrt(above * below))
    found = max_width(*point, *half)
    assert (found.delta, found.eta) == pytest.approx(expected, rel=1e-12)
    if delta is not None:
        assert (found.delta, found.eta) == pytest.approx((delta, eta), rel=1e-11)
    low, high = precision_interval(*point, found.eta, *half)
    assert high - low == pytest.approx(found.delta, rel=1e-9)
    searched, at = widest(recall, fpr, half, np.logspace(-7, -1e-9, 20_000).tolist())
    assert searched <= found.delta + 1e-12
    assert (searched, at) == pytest.approx((found.delta, found.eta), rel=1e-3)


@replaces("max_width_of_precision_confidence_interval")
def test_a_prevalence_is_at_most_1() -> None:
    searched, at = widest(0.1, 0.5, (0.05, 0.2), np.logspace(-7, 1, 10_000).tolist())
    assert (round(searched, 1), round(at, 2)) == (1447.7, 2.0)
    found = max_width(0.1, 0.5, 0.05, 0.2)
    assert (round(found.delta, 4), round(found.eta, 4)) == (0.4514, 0.8411)


@replaces("max_width_of_precision_confidence_interval")
def test_the_widest_band_of_a_fpr_that_may_be_0() -> None:
    searched, at = widest(*TWO, (0.06, 0.001), np.logspace(-7, 1, 10_000).tolist())
    assert (round(searched, 3), round(at, 6)) == (0.987, 2.4e-5)
    assert max_width(*TWO, 0.06, 0.001)[:2] == (1.0, 0.0)
    low, high = precision_interval(*TWO, 1e-12, 0.06, 0.001)
    assert high - low > 1 - 1e-9


@replaces("max_width_of_precision_confidence_interval")
def test_the_widest_band_of_a_recall_that_is_cut_at_1() -> None:
    searched, at = widest(0.9, 0.01, (0.2, 0.005), np.logspace(-7, -1e-9, 20_000).tolist())
    found = max_width(0.9, 0.01, recall_interval=(0.7, 1.0), fpr_half_width=0.005)
    assert (found.delta, found.eta) == pytest.approx((searched, at), rel=1e-3)
    assert max_width(0.9, 0.01, 0.2, 0.005).delta > found.delta


@replaces("conf_level_for_confidence_interval", "_sample_precision")
def test_the_level_of_a_band_from_half_widths() -> None:
    """Draw for draw: the same stream of numbers gives what nci_eval gives at seed 42."""
    drawn = np.random.RandomState(42).normal([0.6, 0.001], [0.06, 0.0005], size=(3000, 2))
    truth = true_precision(*TWO, 0.001)
    bands = [
        (
            *clamped(min(recall, 1.0), max(fpr, 1e-10), (0.06, 0.0005), 0.001),
            *precision_interval(min(recall, 1.0), max(fpr, 0.0), 0.001, 0.06, 0.0005),
        )
        for recall, fpr in drawn.tolist()
    ]
    theirs = np.mean([low <= truth <= high for low, high, _, _ in bands])
    ours = np.mean([low <= truth <= high for _, _, low, high in bands])
    assert theirs == ours == pytest.approx(0.7547, abs=5e-5)
    # recall - 600 fpr is normal, and the band holds the truth while it is within 0.06 + 0.3 of 0
    exact = math.erf((0.06 + 600 * 0.0005) / math.hypot(0.06, 600 * 0.0005) / math.sqrt(2))
    assert exact == pytest.approx(0.7607, abs=5e-5)
    assert abs(ours - exact) < 4 * math.sqrt(exact * (1 - exact) / 3000)


# Charts: their tables -------------------------------------------------------------------------


@replaces("PositivePriorPraucPlot", "PrecisionRecallPlot")
@pytest.mark.parametrize("eta", [1e-7, 0.1])
def test_areas_by_trapezoids_without_an_anchor(eta: float) -> None:
    found = prc(curves()).summary(eta, metrics=TRAPEZOID, columns="all", **RATES)
    for name, value in found.select("model", "value").iter_rows():
        recalls = CURVES[name]["tpr"]
        points = [
            (t, true_precision(t, f, eta)) for t, f in zip(recalls, CURVES[name]["fpr"], strict=True)
        ]
        area = sum((t2 - t1) * (p1 + p2) / 2 for (t1, p1), (t2, p2) in pairwise(points))
        assert value == pytest.approx(area, rel=1e-12)
        with_left = prc(curves().filter(model=name)).summary(
            eta, metrics=metrics.pr_auc_trapezoid("first"), rates=("tpr", "fpr"), columns="all"
        )
        left = recalls[0] * points[0][1]
        assert with_left["value"].item() == pytest.approx(area + left, rel=1e-12)


@replaces("PositivePriorPrecisionPlot", "PositivePriorF1ScorePlot")
def test_p3_and_f1_curves_of_two_classifiers_by_name() -> None:
    points = pl.DataFrame({"model": ["1", "2"], "tpr": [0.9, 0.6], "fpr": [0.01, 0.001]})
    grid = eta_grid(1e-6, 1.0, n=100)
    found = prc(points).curve(grid, metrics=["precision", "f1"], **RATES)
    assert found["model"].to_list() == ["1"] * len(grid) + ["2"] * len(grid)
    for (recall, fpr), of in zip((ONE, TWO), found.partition_by("model"), strict=True):
        assert of["eta"].to_list() == grid
        assert of["precision"].to_list() == pytest.approx(
            [true_precision(recall, fpr, eta) for eta in grid]
        )
        assert of["f1"].to_list() == pytest.approx([true_f1(recall, fpr, eta) for eta in grid])


@replaces("PositivePriorF1ScorePlot")
def test_both_rates_move_in_the_band_of_f1() -> None:
    kept = [2 * 0.6 * p / (0.6 + p) for p in clamped(*TWO, (0.06, 0.0005), 0.01)]
    assert kept == pytest.approx([0.680, 0.729], abs=5e-4)
    expected = true_f1(0.54, 0.0015, 0.01), true_f1(0.66, 0.0005, 0.01)
    assert expected == pytest.approx((0.640, 0.772), abs=5e-4)
    assert precision_interval(*TWO, 0.01, 0.06, 0.0005, metric="f1") == pytest.approx(
        expected, rel=1e-12
    )
    corners = metrics.f1([0.54, 0.66], [0.0015, 0.0005], 0.01)
    assert corners.tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.extras
@replaces("RocPlot")
@pytest.mark.parametrize("log_x", [True, False])
def test_the_roc_chart_keeps_points_of_fpr_0(log_x: bool) -> None:
    start = pl.DataFrame({"tpr": [0.005], "fpr": [0.0], "model": ["a"]})
    chart = prc(pl.concat([start, curves()])).plot.roc_curve(log_x=log_x, **RATES).to_dict()
    data = max(chart["datasets"].values(), key=len)  # the other one is the note
    assert {"a", "b"} <= {value for row in data for value in row.values() if isinstance(value, str)}
    at_start = [row for row in data if row.get("recall") == 0.005]
    assert at_start
    assert all((row["fpr"] > 0) is log_x for row in at_start)


# Notebooks: from scores -----------------------------------------------------------------------


def images(n_pos: int, n_neg: int) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    label = np.arange(n_pos + n_neg) < n_pos
    return pl.DataFrame({"score": rng.normal(size=n_pos + n_neg) + 3 * label, "label": label})


@replaces("fprs_tprs", "precision_recall")
def test_recall_is_counted_and_not_aimed_at() -> None:
    tied = pl.DataFrame({"score": [3] * 3 + [2] * 4 + [1] * 3 + [0], "label": [1] * 10 + [0]})
    positive = tied.filter(label=1)["score"].to_numpy()
    aims = np.linspace(0, 100, 10, endpoint=False)
    reached = [np.mean(positive >= t) for t in np.percentile(positive, aims)]
    assert max(np.abs(reached - (100 - aims) / 100)) == pytest.approx(0.3)
    assert prc(tied).sweep(thresholds=10)["recall"].to_list() == sorted(set(reached)) == [0.3, 0.7, 1.0]


@replaces("subsample_neg_class")
@pytest.mark.parametrize(("n_pos", "eta", "n_kept"), [(50, 0.03, 1617), (7, 0.07, 93)])
def test_the_number_of_negatives_is_the_nearest(n_pos: int, eta: float, n_kept: int) -> None:
    table = pl.DataFrame({"score": [1, 0], "n_pos": [n_pos - 2, 2], "n_neg": [100, 9900]})
    found = prc(table).subsample_negatives(eta, n_repeats=2, seed=1, counts=("n_pos", "n_neg"))
    assert found["n_kept"].to_list() == [n_kept] * 2
    assert int(n_pos / eta - n_pos) == n_kept - 1  # nci_eval cuts to a whole number
    assert abs(n_pos / (n_pos + n_kept) - eta) <= abs(n_pos / (n_pos + n_kept - 1) - eta)
    few = table.with_columns(n_neg=pl.lit(10))
    with pytest.raises(PrcError, match="needs"):
        prc(few).subsample_negatives(eta, seed=1, counts=("n_pos", "n_neg"))


@replaces(
    "subsample_neg_class",
    "precision_recall_repeat_k_times_subsampling_on_neg_class",
    "plot_subsampling_imagenet",
)
def test_the_study_of_subsamples() -> None:
    frame = images(50, 9_950)
    study = prc(frame).subsample_negatives(0.05, n_repeats=100, seed=1, thresholds=100)
    assert study.equals(prc(frame).subsample_negatives(0.05, n_repeats=100, seed=1, thresholds=100))
    assert study["recall"].to_list() == pytest.approx([k / 50 for k in range(1, 51)])
    ends = study.select("low", "q1", "median", "q3", "high").rows()
    assert all(list(row) == sorted(row) for row in ends)
    for row in study.iter_rows(named=True):
        assert row["n_kept"] == 950
        adjusted = true_precision(row["recall"], row["fpr"], 0.05)
        assert row["precision"] == pytest.approx(adjusted, rel=1e-12)
        exact = subsampled_precision(row["tp"], 50, row["fp"], 9_950, 950)
        error = exact.standard_deviation / math.sqrt(100)
        assert abs(row["mean"] - exact.mean) <= 5 * error + 1e-12
