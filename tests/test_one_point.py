"""One point needs no target: 2x2 tables and the rates of papers are asked as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy import stats

from polars_prcurve import PrcError, PrcWarning, charts, from_rates, metrics, prc, published_precision
from tests.support.chart_specs import records
from tests.support.profiles import examples

CELLS = ("tp", "fp", "fn", "tn")
TWO_BY_TWO = pl.DataFrame({"tp": [124], "fp": [659], "fn": [18], "tn": [5121]})
"""A sensitivity of .873 of 142, and a specificity of .886 of 5,780."""
SITES = pl.DataFrame(
    {"site": ["b", "a"], "tp": [50, 124], "fp": [100, 659], "fn": [30, 18], "tn": [1000, 5121]}
)
RATES = SITES.select(
    "site",
    tpr=pl.col("tp") / (pl.col("tp") + pl.col("fn")),
    fpr=pl.col("fp") / (pl.col("fp") + pl.col("tn")),
    ill=pl.col("tp") + pl.col("fn"),
    well=pl.col("fp") + pl.col("tn"),
)
ETAS = [0.005, 0.1, None]


def test_a_point_has_the_value_and_the_interval_of_its_counts() -> None:
    [row] = TWO_BY_TWO.prc.operating_points(
        0.005, cells=CELLS, metrics=["precision", "npv"], confidence=0.95, per=1000, columns="all"
    ).to_dicts()
    assert (row["criterion"], row["target"], row["doubt"]) == ("point", None, None)
    sensitivity, specificity = 124 / 142, 5121 / 5780
    alarms, rest = 0.005 * sensitivity + 0.995 * (1 - specificity), 0.005 * (1 - sensitivity)
    assert row["precision"] == pytest.approx(0.005 * sensitivity / alarms, rel=1e-13)
    assert row["npv"] == pytest.approx(0.995 * specificity / (0.995 * specificity + rest), rel=1e-13)
    assert row["alerts"] == pytest.approx(1000 * alarms, rel=1e-13)
    for rate, k, n in (("recall", 124, 142), ("fpr", 659, 5780)):
        span = stats.binomtest(k, n).proportion_ci(0.95, method="wilson")
        assert (row[f"{rate}_low"], row[f"{rate}_high"]) == pytest.approx((span.low, span.high))


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_points_are_the_rows_of_their_curve(confidence: float | None) -> None:
    """What each point does is one row of `curve`, of cells and of rates."""
    asked: dict[str, Any] = {"metrics": ["precision", "npv", "mcc"], "confidence": confidence}
    sources: list[tuple[pl.DataFrame, dict[str, Any]]] = [
        (SITES, {"cells": CELLS}),
        (RATES, {"rates": ("tpr", "fpr"), "sizes": ("ill", "well")}),
    ]
    for table, source in sources:
        test = prc(table, by="site", **source)
        curve = test.curve(ETAS, metrics=asked["metrics"], confidence=confidence)
        asked = {**asked, "columns": "all"}
        points = test.operating_points(ETAS, **asked)
        assert points["criterion"].unique().to_list() == ["point"]
        same = [name for name in curve.columns if name in points.columns]
        assert_frame_equal(points.select(same), curve.select(same), check_exact=True)


def test_a_point_with_a_threshold_is_that_threshold() -> None:
    table = SITES.with_columns(score=pl.Series([0.5, 0.7]))
    test = prc(table, cells=CELLS, score="score", by="site")
    at_threshold = pl.concat(
        test.operating_points(ETAS, threshold=t, confidence=0.95).filter(site=site)
        for site, t in (("a", 0.7), ("b", 0.5))
    )
    points = test.operating_points(ETAS, confidence=0.95)
    assert_frame_equal(points.drop("criterion", "target"), at_threshold.drop("criterion", "target"))


def test_sizes_of_a_point() -> None:
    test = prc(SITES, cells=CELLS, by="site")
    for options in ({"eta": 0.005}, {"solve_for": "eta"}):
        sizes = test.sample_size(0.1, **options)
        assert sizes["criterion"].to_list() == ["point"] * 2
        at_recall = pl.concat(
            test.sample_size(0.1, recall=rate, **options).filter(site=site)
            for site, rate in (("a", 0.87), ("b", 0.6))
        )
        assert_frame_equal(sizes.drop("criterion", "target"), at_recall.drop("criterion", "target"))


SEVERAL = pl.concat([SITES, SITES.filter(site="b")])


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", ["operating_points", "sample_size"])
@pytest.mark.parametrize("source", ["cells", "rates"])
def test_a_group_of_several_points_is_named(name: str, source: str) -> None:
    table = SEVERAL if source == "cells" else pl.concat([RATES, RATES.filter(site="b")])
    words: dict[str, Any] = {"cells": CELLS}
    words = words if source == "cells" else {"rates": ("tpr", "fpr"), "sizes": ("ill", "well")}
    sentence = r"one point needs no target; there are several in 1 group, such as site = b; keep"
    bound = prc(table, by="site", **words)
    for _ in range(2):
        with pytest.raises(PrcError, match=sentence):
            getattr(bound, name)()
    query = getattr(prc(table.lazy(), by="site", **words), name)()
    for engine in ("in-memory", "streaming"):
        with pytest.raises(pl.exceptions.InvalidOperationError, match=sentence):
            query.collect(engine=engine)
    # A bound table that was asked in vain answers other questions.
    assert bound.operating_points(recall=0.6)["recall"].round(3).to_list() == [0.873, 0.625]


def test_without_groups_no_group_is_named() -> None:
    with pytest.raises(PrcError, match=r"there are several in 1 group; keep one row for each"):
        SEVERAL.prc.operating_points(cells=CELLS)


def test_a_decision_about_a_point(tmp_path: Path) -> None:
    test = prc(TWO_BY_TWO, cells=CELLS)
    decision, points = (
        test.decide(0.005),
        test.operating_points(0.005, confidence=0.95, per=100_000, columns="all"),
    )
    names = ["recall", "precision", "alerts"]
    ends = [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
    assert_frame_equal(decision.table.select(ends), points.select(ends), check_exact=True)
    assert "Precision 3.7% (3.3 to 4.0)" in decision.verdict.sentence.replace("\xa0", " ")
    assert (
        test.report(tmp_path / "point.html", 0.005).read_text(encoding="utf-8").count("for this point")
    )
    assert test.decide(0.005, per=1000).table["alerts"].round(1).to_list() == [117.8]


def test_a_decision_about_a_point_maximizes_nothing() -> None:
    cells = pl.DataFrame({"tp": [80], "fp": [90], "fn": [20], "tn": [900]})
    with pytest.raises(PrcError, match="leave out maximize=: each group has one point"):
        prc(cells, cells=("tp", "fp", "fn", "tn")).decide(0.01, maximize="f1")


def test_documents_of_a_point_offer_no_choice_among_points(tmp_path: Path) -> None:
    """A point has no curve, no threshold and no cheapest threshold; it has other prevalences."""
    decision = prc(TWO_BY_TWO, cells=CELLS).decide(0.005)
    decision.report(tmp_path / "report.html")
    decision.page(tmp_path / "page.html")
    report, page = ((tmp_path / f"{name}.html").read_text() for name in ("report", "page"))
    assert "every threshold" not in report
    assert "<h2>Other prevalences</h2>" in report
    assert "Precision at the point as given." in report
    assert '<label style="display:none">Point' in page
    assert "Cost of each threshold" not in page
    assert "| threshold |" not in decision.model_card()


def test_names_of_one_point_each_are_decided_on_their_own() -> None:
    decision = prc(SITES, cells=CELLS, by="site").decide(0.005)
    for site in ("a", "b"):
        alone = prc(SITES.filter(site=site), cells=CELLS).decide(0.005)
        assert decision.table.filter(site=site)["precision_low"].item() == pytest.approx(
            alone.table["precision_low"].item(), rel=1e-13
        )
    assert decision.verdicts["site"].to_list() == ["a", "b"]


def test_models_of_one_point_each_are_led_to_a_verdict_on_each() -> None:
    table = prc(SITES, cells=CELLS)
    with pytest.raises(
        PrcError, match=r"^pass by= instead of model= for a verdict on each, or call comp"
    ):
        table.decide(0.005, model="site")
    assert table.decide(0.005, by="site").verdicts.height == 2


def test_a_decision_about_rates_without_sizes_names_sizes() -> None:
    sentence = r'^pass sizes=\("n_pos", "n_neg"\), or n_pos= and n_neg= to from_rates: decide\(\) needs'
    for targets in ({}, {"precision": 0.1}):
        with pytest.raises(PrcError, match=sentence):
            from_rates(recall=0.8, fpr=0.1).decide(0.005, **targets)


def test_a_decision_about_several_points_names_the_group() -> None:
    with pytest.raises(PrcError, match="there are several in 1 group, such as site = b"):
        prc(SEVERAL, cells=CELLS, by="site").decide(0.005)


def read_lines(chart: Any) -> set[str]:
    """Return the metrics that a chart by prevalence names, or its sites."""
    return {row["color"] for row in records(chart)}


def test_charts_of_a_point() -> None:
    test = prc(TWO_BY_TWO, cells=CELLS)
    chart = test.plot.p3_curve(confidence=0.95)
    assert chart.to_dict()["title"]["subtitle"] == ["Precision by prevalence"]
    points = test.operating_points(
        [1e-4, 0.01, 0.5], metrics=("precision", "npv"), confidence=0.95, columns="all"
    )
    expected = charts.metric_by_eta(points, confidence=0.95)
    assert test.plot.metric_by_eta([1e-4, 0.01, 0.5], confidence=0.95).to_dict() == expected.to_dict()
    assert read_lines(test.plot.metric_by_eta()) == {"Precision", "NPV"}
    sites = prc(SITES, cells=CELLS, by="site")
    assert read_lines(sites.plot.metric_by_eta(metrics="npv")) == {"a", "b"}
    with pytest.raises(PrcError, match="there are several in 1 group, such as site = b"):
        prc(SEVERAL, cells=CELLS, by="site").plot.p3_curve()


def test_point_metrics_by_prevalence() -> None:
    df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    points = df.prc.operating_points([0.1, 0.2], metrics=["npv"], recall=0.5, columns="all")
    found = df.prc.plot.metric_by_eta([0.1, 0.2], metrics="npv", recall=0.5)
    assert found.to_dict() == charts.metric_by_eta(points).to_dict()
    assert read_lines(df.prc.plot.metric_by_eta([0.1, 0.2], recall=0.5)) == {"Precision", "NPV"}
    for options, words in (
        ({"metrics": "npv"}, "pass a target or a threshold"),
        (
            {"metrics": "npv", "recall": 0.5, "coarse": True},
            "leave out coarse=, which is for metrics of a whole curve",
        ),
        (
            {"metrics": "roc_auc", "recall": 0.5},
            "leave out recall=, or pass only point metrics, such as 'prec",
        ),
        ({"metrics": ["npv", metrics.roc_auc]}, "'npv'"),
    ):
        with pytest.raises(PrcError, match=words):
            df.prc.plot.metric_by_eta([0.1, 0.2], **options)


# What a paper prints ------------------------------------------------------------------------------


def list_counts(test: Any) -> list[tuple[int, ...]]:
    return pl.DataFrame(test).select(CELLS).rows()


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "rates",
    [
        {"recall": 0.873, "fpr": 0.114},
        {"sensitivity": 0.873, "specificity": 0.886},
        {"recall": 0.8732394366197183, "fpr": 659 / 5780},
        {"recall": 0.873, "precision": 0.1584},
    ],
)
def test_rates_of_a_paper_are_its_counts(rates: dict[str, float]) -> None:
    test = from_rates(**rates, n_pos=142, n_neg=5_780)
    assert list_counts(test) == [(124, 659, 18, 5121)]
    expected = TWO_BY_TWO.prc.operating_points(0.005, cells=CELLS, confidence=0.95)
    assert_frame_equal(test.operating_points(0.005, confidence=0.95), expected, check_exact=True)


@examples(300)
@given(st.integers(1, 3000), st.integers(1, 3000), st.integers(1, 5), st.data())
def test_counts_print_as_the_rates_do(n_pos: int, n_neg: int, digits: int, data: st.DataObject) -> None:
    tp, fp = data.draw(st.integers(0, n_pos)), data.draw(st.integers(0, n_neg))
    rates = {"sensitivity": round(tp / n_pos, digits), "specificity": round(1 - fp / n_neg, digits)}
    [(hits, false, misses, rest)] = list_counts(from_rates(**rates, n_pos=n_pos, n_neg=n_neg))
    assert (hits + misses, false + rest) == (n_pos, n_neg)
    assert hits / n_pos == pytest.approx(rates["sensitivity"], abs=0.5001 * 10**-digits)
    assert rest / n_neg == pytest.approx(rates["specificity"], abs=0.5001 * 10**-digits)
    if n_pos < 10**digits:  # no other count prints as this one does
        assert hits == tp


def test_recall_and_precision_of_a_paper() -> None:
    """The abstract of a thread on scikit-learn: 5 of 17 with a false alert, and 4 of 17 with one."""
    asked: dict[str, Any] = {"recall": [0.294, 0.235], "precision": [0.833, 0.8], "names": ["a", "b"]}
    test = from_rates(**asked, n_pos=17, n_neg=100)
    assert list_counts(test) == [(5, 1, 12, 99), (4, 1, 13, 99)]
    own = test.operating_points(metrics="precision").select("name", "precision")
    assert own.rows() == [("a", 5 / 6), ("b", 0.8)]


@pytest.mark.filterwarnings("ignore:check the rates")  # of a precision below the prevalence
@examples(100)
@given(st.floats(0.01, 1), st.floats(0.01, 1), st.floats(1e-6, 0.99))
def test_a_precision_comes_back_at_its_prevalence(recall: float, precision: float, eta: float) -> None:
    fpr = recall * eta * (1 - precision) / (precision * (1 - eta))
    if fpr > 1:
        with pytest.raises(PrcError, match="no fpr gives precision="):
            from_rates(recall=recall, precision=precision, eta=eta)
        return
    test = from_rates(recall=recall, precision=precision, eta=eta)
    point = test.operating_points(eta, metrics=["precision", "fpr"]).row(0, named=True)
    assert point["precision"] == pytest.approx(precision, rel=1e-9)
    assert point["fpr"] == pytest.approx(fpr, rel=1e-9)
    with pytest.raises(PrcError, match="rates= holds none"):
        test.operating_points(eta, confidence=0.95)


def test_sizes_that_some_papers_do_not_tell() -> None:
    test = from_rates(recall=0.8, fpr=[0.1, 0.2], n_pos=[50, None], n_neg=[100, None], names=["x", "y"])
    points = test.operating_points(0.1, confidence=0.95)
    assert points["precision_low"].is_null().to_list() == [False, True]
    assert points["doubt"].to_list() == [None, "no sizes"]
    assert test.decide(0.1).table["name"].to_list() == ["x", "y"]


def test_recall_below_fpr_warns_where_no_sizes_can_show_a_doubt() -> None:
    sentence = "^check the rates: recall 0.1 is below fpr 0.9, as if specificity were passed as fpr, or"
    columns = {
        "name": ["x", "a", "b"],
        "n": [9, None, None],
        "recall": [0.2, 0.1, 0.2],
        "fpr": [0.9] * 3,
    }
    frame = pl.DataFrame(columns)
    rates = ("recall", "fpr")
    for test in (
        from_rates(recall=[0.1, 0.2], fpr=[0.9, 0.9], names=["a", "b"]),
        prc(frame, by="name", rates=rates, sizes=("n", "n")),
        prc(frame[1:2], rates=rates),
    ):
        with pytest.warns(PrcWarning, match=sentence) as warned:
            test.operating_points(0.005)
        assert [warning.filename for warning in warned] == [__file__]
    for fair in ({"recall": 0.9, "fpr": 0.1}, {"recall": 0.5, "fpr": 0.5}, {"recall": 0, "fpr": 0}):
        from_rates(**fair).operating_points(0.005)
    prc(pl.DataFrame({"rate": [0.1]}), rates=("rate", "rate")).operating_points(0.1)
    with pytest.raises(PrcError, match=r"is outside .0, 1. in 1 row"):
        prc(pl.DataFrame({"recall": [0.1], "fpr": [1.2]}), rates=rates).operating_points(0.1)
    sized = from_rates(recall=0.1, fpr=0.9, n_pos=100, n_neg=100)
    assert sized.operating_points(0.005, confidence=0.95)["doubt"].item() == "recall below fpr"


def test_a_rate_of_no_whole_count_stays_and_warns() -> None:
    with pytest.warns(PrcWarning, match="check the sizes: recall=0.873 is not the share of a whole"):
        test = from_rates(recall=0.873, fpr=0.1, n_pos=10, n_neg=100)
    assert test.operating_points(0.1, metrics="recall")["recall"].item() == 0.873
    with pytest.warns(PrcWarning, match="precision=0.9 is not the share of 3 true positives") as warned:
        from_rates(recall=0.75, precision=0.9, n_pos=4, n_neg=100)
    assert [warning.filename for warning in warned] == [__file__], "the line of the caller"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"recall": 0.8}, "takes one of fpr=, specificity= or precision=; got none of them"),
        ({"fpr": 0.8}, "takes one of recall= or sensitivity=; got none of them"),
        ({"recall": 0.8, "sensitivity": 0.8, "fpr": 0.1}, "got recall= and sensitivity="),
        ({"recall": 0.8, "fpr": 0.1, "precision": 0.1}, "got fpr= and precision="),
        ({"recall": 87.3, "fpr": 0.1}, 'recall= takes a share, such as 0.873 or "87.3%"; got 87.3'),
        ({"recall": 0.8, "fpr": 0.1, "n_pos": 0.3, "n_neg": 9}, "n_pos= takes a whole number of examp"),
        ({"recall": 0.8, "fpr": 0.1, "n_pos": 2**63 - 1, "n_neg": 9}, r"from 1 to 2\*\*53; got 9223"),
        ({"recall": 0.8, "fpr": 0.1, "n_pos": 10}, "pass n_neg= as well"),
        ({"recall": 0.8, "fpr": 0.1, "n_pos": [10], "n_neg": [None]}, "both sizes of a test"),
        ({"recall": 0.8, "fpr": 0.1, "eta": 0.1}, r"^leave out eta=.* do not depend on the prevalence"),
        ({"recall": 0.8, "precision": 0.1}, "or the prevalence of the test as eta="),
        ({"recall": 0.8, "precision": 0.1, "eta": 0.1, "n_pos": 5, "n_neg": 5}, "leave out eta="),
        (
            {"recall": 0.8, "precision": 0.5, "n_pos": [None], "n_neg": [None]},
            "pass n_pos= and n_neg= of the test",
        ),
        ({"recall": 0, "precision": 0.5, "eta": 0.1}, "pass recall= and precision= above 0"),
        ({"recall": 0.8, "precision": 0.05, "n_pos": 10, "n_neg": 90}, "precision is at least 0.08163"),
        ({"recall": [0.8, 0.9], "fpr": 0.1}, "pass names=, one for each test"),
        (
            {"recall": [0.8, 0.9], "fpr": 0.1, "names": ["a"]},
            "recall= takes one number per name, 1; got 2",
        ),
        ({"recall": 0.8, "fpr": 0.1, "names": ["a", "a"]}, "names= holds 'a' twice"),
        ({"recall": 0.8, "fpr": 0.1, "names": []}, "names= takes at least one name"),
    ],
)
def test_rates_that_no_test_has(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(PrcError, match=words):
        from_rates(**asked)


def test_hints_name_the_door_of_rates() -> None:
    for call in (prc, TWO_BY_TWO.prc.curve, published_precision):
        with pytest.raises(TypeError, match="from_rates"):
            call(sensitivity=0.8)  # type: ignore[operator]
