"""`columns="short"`: results that fit a screen, whose columns depend on the arguments alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from polars_prcurve import PrcError, eta_from_sample, metrics, prc
from polars_prcurve.core.binding.shown_columns import SHORT_COLUMNS
from polars_prcurve.core.confidence.chance_test import ABOVE_CHANCE

RNG = np.random.default_rng(5)
LABEL = RNG.random(600) < 0.3
DF = pl.DataFrame({"label": LABEL, "a": RNG.normal(size=600) + LABEL, "b": RNG.normal(size=600) + LABEL})
DF = DF.with_columns(risk=1 / (1 + (-pl.col("a")).exp()), week=pl.int_range(pl.len()) // 100)
ONE, BOTH, RISK = {"score": "a"}, {"score": ["a", "b"]}, {"score": "risk"}
POINTS = ("eta", "criterion", "target", "threshold")
RATES = ("recall", "recall_low", "recall_high", "precision", "precision_low", "precision_high")
OPTIONAL = {"n_groups", "not_worse", "p_adjusted"}  # of mean_over=, margin= and adjust=


def list_short(method: str, *added: str) -> tuple[str, ...]:
    """The short columns of a method, without those of arguments that are not passed."""
    return tuple(name for name in SHORT_COLUMNS[method] if name not in OPTIONAL or name in added)


CALLS: list[tuple[str, dict[str, Any], dict[str, Any], tuple[str, ...]]] = [
    ("summary", ONE, {}, ("eta", "n_pos", "n_neg", "metric", "value")),
    ("summary", ONE, {"confidence": 0.95}, list_short("summary")),
    ("summary", ONE, {"coarse": True}, list_short("summary")[:-1]),
    ("operating_points", ONE, {"recall": 0.5}, (*POINTS, "recall", "precision")),
    ("operating_points", ONE, {"recall": 0.5, "confidence": 0.95}, (*POINTS, *RATES, "doubt")),
    ("operating_points", ONE, {"recall": 0.5, "per": 100}, (*POINTS, "recall", "precision", "alerts")),
    ("operating_points", ONE, {"recall": 0.5, "metrics": ["tp", "f1"]}, (*POINTS, "tp", "f1")),
    (
        "operating_points",
        ONE,
        {"recall": 0.5, "metrics": ("fpr", "missed"), "per": 9, "confidence": 0.95},
        (
            *(*POINTS, "fpr", "fpr_low", "fpr_high", "missed", "missed_low", "missed_high"),
            *("alerts", "alerts_low", "alerts_high", "doubt"),
        ),
    ),
    (
        "operating_points",
        ONE,
        {"recall": 0.5, "guarantee": 0.95},
        (*POINTS, "guarantee", "n_pos_needed", "n_neg_needed", "recall", "precision"),
    ),
    (
        "operating_points",
        ONE,
        {"recall": 0.5, "long": True, "confidence": 0.95},
        (*POINTS, "metric", "value", "low", "high", "doubt"),
    ),
    ("compare", BOTH, {}, list_short("compare")),
    ("compare", BOTH, {"adjust": "holm"}, list_short("compare", "p_adjusted")),
    ("ranking", BOTH, {}, ("eta", "model", "value", "rank")),
    (
        "ranking",
        BOTH,
        {"confidence": 0.95},
        ("eta", "model", "value", "rank", "behind", "behind_low", "behind_high", "may_be_best", "doubt"),
    ),
    ("decision_curve", RISK, {}, SHORT_COLUMNS["decision_curve"][:5]),
    ("decision_curve", RISK, {"confidence": 0.95}, SHORT_COLUMNS["decision_curve"]),
]


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize(("method", "words", "options", "expected"), CALLS)
def test_short_columns_are_those_of_the_list(
    method: str, words: dict[str, Any], options: dict[str, Any], expected: tuple[str, ...]
) -> None:
    eager, lazy = (getattr(prc(frame, **words), method)(**options) for frame in (DF, DF.lazy()))
    assert tuple(eager.columns) == expected
    assert tuple(lazy.collect_schema().names()) == expected
    every = getattr(prc(DF, **words), method)(**options, columns="all")
    assert set(expected) <= set(every.columns)
    empty = getattr(prc(DF.head(0), **words), method)(**options)
    assert empty.columns == eager.columns
    if not {"per", "guarantee"} & {*options}:
        assert len([name for name in expected if name != "model"]) <= (11 if "doubt" in expected else 7)


def test_short_results_keep_groups_and_what_an_eta_frame_carries() -> None:
    frame = eta_from_sample(3, 200).with_columns(note=pl.lit("here"))
    found = DF.with_columns(g=pl.lit(1)).prc(**ONE, by="g").summary(frame, confidence=0.95)
    assert found.columns[:6] == ["g", "eta", "eta_low", "eta_high", "eta_confidence", "note"]
    assert found.columns[6:] == [*list_short("summary")[1:]]


@pytest.mark.parametrize("is_frame", [True, False])
def test_short_results_show_an_estimate_and_its_test(is_frame: bool) -> None:
    month = prc(DF.drop("label"), label=None, **ONE)
    estimate = month.estimate_prevalence(reference=prc(DF, **ONE), confidence=0.95)
    eta = estimate if is_frame else month
    shown = ["eta", "eta_low", "eta_high", "eta_confidence", "shift_p_value"]
    found = DF.prc(**ONE).summary(eta, confidence=0.95)
    assert found.columns == [*shown, *list_short("summary")[1:]]
    found = DF.prc(**ONE).operating_points(eta, recall=0.5, confidence=0.95, columns="all")
    assert ({*estimate.columns} if is_frame else {*shown}) <= {*found.columns}


def test_monitor_shows_what_decides() -> None:
    found = DF.prc(**ONE).monitor("week", metrics="recall", reference=0.5, threshold=0.0)
    assert found.columns == ["week", *SHORT_COLUMNS["monitor"]]
    assert found["doubt"].null_count() == found.height


def test_other_words_are_refused() -> None:
    with pytest.raises(PrcError, match=r'columns= takes "short" or "all"; got \'long\''):
        DF.prc(**ONE).summary(columns="long")  # type: ignore[call-overload]


def test_a_metric_keeps_its_name_among_counts() -> None:
    found = DF.prc(**ONE).operating_points(recall=0.5, metrics=[metrics.f1, "tn"])
    assert found.columns == [*POINTS, "f1", "tn"]


@pytest.mark.parametrize("confidence", [None, 0.95])
def test_metrics_and_counts_stand_in_the_order_of_the_call(confidence: float | None) -> None:
    names = ["missed", "precision", "tp", "f1", "alerts", "fn"]
    for listed in (names, names[::-1], *zip(names, names[1:] + names[:1], strict=True)):
        found = DF.prc(**ONE).operating_points(
            recall=0.5, metrics=list(listed), per=100, confidence=confidence
        )
        shown = [name for name in found.columns if name in names]
        assert shown == [*dict.fromkeys([*listed, "alerts"])]


@pytest.mark.parametrize("method", ["summary", "operating_points"])
def test_what_is_not_shown_is_not_computed(method: str) -> None:
    """The test against chance ranks all scores, which the plan of a short table leaves out."""
    ask = getattr(DF.lazy().prc(**ONE), method)
    options = {"recall": 0.5} if method == "operating_points" else {}
    short, every = (
        ask(confidence=0.95, columns=shown, **options).explain() for shown in ("short", "all")
    )
    assert ABOVE_CHANCE in every
    assert ABOVE_CHANCE not in short
    assert short.count("rank") < every.count("rank")


@pytest.mark.parametrize("words", [{"recall": 0.5, "per": 100}, {"alerts": 5, "per": 100}])
def test_alerts_are_shown_beside_metrics_in_rows(words: dict[str, float]) -> None:
    frame = pl.DataFrame({"score": [3, 2, 2, 1], "label": [1, 0, 1, 0]})
    points = frame.prc.operating_points(0.1, long=True, **words)
    assert points.columns[-3:] == ["metric", "value", "alerts"]


@pytest.mark.parametrize("is_lazy", [False, True])
@pytest.mark.parametrize(
    ("method", "arguments", "some"),
    [
        ("curve", {"long": True}, "precision"),
        ("curve", {"long": True, "confidence": 0.9}, "precision"),
        ("operating_points", {"recall": 0.5, "long": True, "confidence": 0.9}, "precision"),
        ("summary", {}, "roc_auc"),
        ("summary", {"confidence": 0.9}, "roc_auc"),
        ("compare", {"score": ["score", "other"], "confidence": 0.9}, "roc_auc"),
        ("compare", {"score": ["score", "other"], "confidence": 0.9, "margin": 0.1}, "roc_auc"),
    ],
)
def test_tables_of_no_metrics_keep_their_dtypes(
    method: str, arguments: dict[str, Any], some: str, is_lazy: bool
) -> None:
    frame = pl.DataFrame(
        {"score": [3, 2, 2, 1] * 9, "other": [1, 2, 3, 4] * 9, "label": [1, 0, 1, 0] * 9}
    )
    table = frame.lazy() if is_lazy else frame
    schemas = [
        getattr(table.prc, method)(0.1, metrics=metrics, columns="all", **arguments)
        .lazy()
        .collect()
        .schema
        if method != "curve"
        else getattr(table.prc, method)(0.1, metrics=metrics, **arguments).lazy().collect().schema
        for metrics in ([some], [])
    ]
    assert schemas[0] == schemas[1]


def test_alerts_are_among_a_number_of_events() -> None:
    with pytest.raises(PrcError, match=r"pass per=.*: missed in metrics= cannot be computed without it"):
        DF.prc(**ONE).operating_points(recall=0.5, metrics=["missed", "tp"])


def test_a_long_table_of_counts_alone_would_be_empty() -> None:
    with pytest.raises(PrcError, match=r"^leave out long=True.*: a long table .* alerts, tp in columns"):
        DF.prc(**ONE).operating_points(recall=0.5, metrics=["alerts", "tp"], per=100, long=True)
