"""Bad input: what fails at the call, what fails when the query runs, and in which words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import polars as pl
import pytest

import polars_prcurve
from polars_prcurve import (
    PrcError,
    eta_from_ratio,
    eta_grid,
    intervals,
    metrics,
    prc,
    shift_prior,
)
from tests.support.tiers import slow_unless

ROWS = 5_000
GOOD = pl.DataFrame(
    {
        "g": [f"g{i % 7}" for i in range(ROWS)],
        "score": [float(i % 997) for i in range(ROWS)],
        "label": [int(i % 3 == 0) for i in range(ROWS)],
        "kind": ["spam" if i % 3 == 0 else "ham" for i in range(ROWS)],
        "weight": [1.0 + i % 4 for i in range(ROWS)],
        "row": [i // 7 for i in range(ROWS)],
    }
)


def spoilt(column: str, value: Any, dtype: Any = None) -> pl.DataFrame:
    """One bad value near the end of the table."""
    new = pl.when(pl.int_range(pl.len()) == ROWS - 3).then(pl.lit(value)).otherwise(pl.col(column))
    return GOOD.with_columns(new.cast(dtype).alias(column) if dtype else new.alias(column))


# What the call can tell ------------------------------------------------------------------------

AT_THE_CALL: dict[str, tuple[Callable[[Any], Any], str]] = {
    "misspelt score": (lambda p: p.sweep(score="scroe"), "score= names the column 'scroe'.*'score'"),
    "misspelt label": (lambda p: p.sweep(label="labl"), "label= names the column 'labl'.*'label'"),
    "misspelt by": (lambda p: p.sweep(by=["g", "modle"]), "by= names the column 'modle'"),
    "misspelt weight": (lambda p: p.sweep(weight="wieght"), "weight= names.*'weight'"),
    "misspelt in an expression": (lambda p: p.sweep(label=pl.col("lable") == 1), "'lable'.*'label'"),
    "several score columns": (lambda p: p.sweep(score=pl.col("score", "weight")), "must be one column"),
    "string score": (lambda p: p.sweep(score="kind"), "score column 'kind' is String"),
    "string label": (lambda p: p.sweep(label="kind"), "label column 'kind' is String; pass pos_label="),
    "pos_label of another kind": (
        lambda p: p.sweep(label="kind", pos_label=3),
        "cannot equal pos_label=3",
    ),
    "string weight": (lambda p: p.sweep(weight="kind"), "weight column 'kind' is String"),
    "not a column": (lambda p: p.sweep(score=3), "a column name or an expression; got 3"),
    "by clash": (lambda p: p.sweep(by=pl.col("g").alias("tp")), "by= holds a column 'tp'.*rename"),
    "by clash with eta": (
        lambda p: p.curve(0.1, by=pl.col("g").alias("eta")),
        "by= holds a column 'eta'",
    ),
    "by clash with metric": (
        lambda p: p.curve(0.1, metrics="f1", by=pl.col("g").alias("f1")),
        "by= holds a column 'f1'",
    ),
    "by twice": (lambda p: p.sweep(by=["g", "g"]), "by= does not fit the table.*'g'.*alias"),
    "reserved name": (lambda p: p.sweep(by=pl.col("g").alias("_prc_x")), "reserved"),
    "missing": (lambda p: p.sweep(missing="ignore"), 'missing= is "raise", "drop" or "below"'),
    "counts and weight": (
        lambda p: p.sweep(counts=("label", "label"), weight="weight"),
        "both tell which examples there are; pass one of them",
    ),
    "counts of three": (lambda p: p.sweep(counts=("a", "b", "c")), "takes two columns"),
    "rates and weight": (
        lambda p: p.sweep(rates=("label", "label"), weight="weight"),
        "both tell which examples there are; pass one of them",
    ),
    "rates and own prevalence": (lambda p: p.curve(rates=("label", "score")), "no counts.*pass eta="),
    "rates and thresholds": (
        lambda p: p.sweep(rates=("label", "score"), thresholds=[0.5]),
        "no thresholds",
    ),
    "eta above 1": (lambda p: p.curve(1.5), r"must lie in \[0, 1\].*got 1.5"),
    "eta below 0": (lambda p: p.curve(-0.1), "got -0.1"),
    "eta NaN": (lambda p: p.curve([0.1, float("nan")]), "got nan"),
    "eta text": (lambda p: p.curve("country"), "1 in 1000.*a column[?] pass a frame"),
    "eta text above 1": (lambda p: p.curve("5/3"), r"must lie in \[0, 1\].*got 1.66"),
    "eta Boolean": (lambda p: p.curve(True), "got True"),
    "eta twice": (lambda p: p.curve([0.1, 0.2, 0.1]), "0.1 more than once"),
    "eta None twice": (lambda p: p.curve([None, None]), "None more than once"),
    "eta empty": (lambda p: p.curve([]), "holds no prevalence"),
    "eta mapping": (lambda p: p.curve({"a": 0.1}), "a number, a sequence, a frame"),
    "eta frame without eta": (
        lambda p: p.curve(pl.DataFrame({"g": ["g0"]}), by="g"),
        "numeric column 'eta'",
    ),
    "eta frame of another dtype": (
        lambda p: p.curve(pl.DataFrame({"g": [1], "eta": [0.1]}), by="g"),
        "'g' is Int64 in the eta= frame and String in the table",
    ),
    "eta frame outside": (lambda p: p.curve(pl.DataFrame({"eta": [0.1, 2.0]})), "not percent.*1 row"),
    "eta frame twice": (lambda p: p.curve(pl.DataFrame({"eta": [0.1, 0.1]})), "repeats.*2 row"),
    "eta frame clash": (
        lambda p: p.curve(pl.DataFrame({"eta": [0.1], "tp": [1]})),
        "carries a column 'tp'",
    ),
    "eta frame of a group that by= leaves out": (
        lambda p: p.curve(pl.DataFrame({"g": ["g0", "g1"], "eta": [0.1, 0.2]})),
        "both have a column 'g'.*pass by='g'",
    ),
    "unknown metric": (lambda p: p.curve(0.1, metrics="precison"), "did you mean 'precision'"),
    "capitals": (lambda p: p.curve(0.1, metrics="F1"), "did you mean 'f1'"),
    "parameter in the name": (
        lambda p: p.summary(metrics="best_f1"),
        r"there are: .*metrics.best\(\"f1\"\)",
    ),
    "other name of a metric": (lambda p: p.curve(0.1, metrics=["ppv"]), "did you mean 'precision'"),
    "its capitals": (lambda p: p.summary(0.1, metrics="AUPRC"), "did you mean 'pr_auc'"),
    "other name, asked of a whole curve": (
        lambda p: p.summary(0.1, metrics="Sensitivity"),
        "mean 'recall'",
    ),
    "other name, asked of a threshold": (
        lambda p: p.curve(0.1, metrics="AUROC"),
        "did you mean 'roc_auc'",
    ),
    "metric without its parameter": (lambda p: p.curve(0.1, metrics="f_beta"), r"metrics.f_beta\(2\)"),
    "metric with a wrong parameter": (
        lambda p: p.curve(0.1, metrics="f_beta(0)"),
        "beta takes a positive number",
    ),
    "metric of a whole curve": (
        lambda p: p.curve(0.1, metrics="pr_auc"),
        r"ask for it with .prc.summary\(metrics='pr_auc'\)",
    ),
    "nameless metric": (lambda p: p.curve(0.1, metrics=metrics.f1.alias("")), "has no name"),
    "metric twice": (lambda p: p.curve(0.1, metrics=["f1", metrics.f1]), "'f1' twice"),
    "not a metric": (lambda p: p.curve(0.1, metrics=[3]), "got 3"),
    "no steps": (lambda p: p.sweep(thresholds=0), "at least 1; got 0"),
    "thresholds as text": (lambda p: p.sweep(thresholds="0.5"), "got '0.5'"),
    "threshold NaN": (lambda p: p.sweep(thresholds=[float("nan")]), "holds nan"),
    "threshold null": (lambda p: p.sweep(thresholds=[1, None]), "thresholds= takes numbers.*got None"),
    "threshold text": (lambda p: p.sweep(thresholds=[1, "2"]), "thresholds= takes numbers.*got '2'"),
    "threshold Boolean": (lambda p: p.sweep(thresholds=[True]), "thresholds= takes numbers.*got True"),
    "estimate: misspelt score": (
        lambda p: p.estimate_prevalence(0.5, score="scroe"),
        "score= names the column 'scroe'.*'score'",
    ),
    "estimate: string score": (lambda p: p.estimate_prevalence(0.5, score="kind"), "'kind' is String"),
    "estimate: by clash": (
        lambda p: p.estimate_prevalence(0.5, by=pl.col("g").alias("n")),
        "by= holds a column 'n'.*rename",
    ),
    "estimate: eta_train 1": (
        lambda p: p.estimate_prevalence(1),
        r"eta_train= must lie between 0 and 1, both excluded.*got 1.0",
    ),
    "estimate: eta_train NaN": (lambda p: p.estimate_prevalence(float("nan")), "eta_train=.*got nan"),
    "estimate: eta_train text": (
        lambda p: p.estimate_prevalence("1:100"),
        "eta_train= takes a number between 0 and 1; got '1:100'",
    ),
    "estimate: several eta_train": (lambda p: p.estimate_prevalence([0.1, 0.2]), r"got \[0.1, 0.2\]"),
    "estimate: missing": (lambda p: p.estimate_prevalence(0.5, missing="no"), 'missing= is "raise"'),
    "smooth of another kind": (
        lambda p: p.curve(0.1, smooth="loess"),
        "smooth= is \"binormal\"; got 'loess'",
    ),
    "smooth and confidence": (
        lambda p: p.curve(0.1, smooth="binormal", confidence=0.9),
        "no interval here; leave out",
    ),
    "smooth areas and confidence": (
        lambda p: p.summary(0.1, smooth="binormal", confidence=intervals(0.9, method="bootstrap")),
        "no interval here; leave out",
    ),
    "smooth and rates": (
        lambda p: p.summary(0.1, smooth="binormal", rates=("label", "score")),
        "no scores that a model could be fitted to",
    ),
    "smooth of a metric of rows": (
        lambda p: p.summary(0.1, smooth="binormal", metrics="auprg"),
        r"auprg is not available for a fitted model; .*precision_at_recall\(...\)",
    ),
    "smooth mean of a metric of rows": (
        lambda p: p.summary(smooth="binormal", metrics=metrics.integrated("auprg", 0.1, 0.5)),
        r"integrated\(auprg, .* is not available for a fitted model",
    ),
    "ddof below 0": (lambda p: p.binormal(-1), "ddof= is a whole number, at least 0; got -1"),
    "binormal: by clash": (lambda p: p.binormal(by=pl.col("g").alias("alpha")), "'alpha'"),
    "unpivot: unknown column": (lambda p: p.unpivot_scores(["score", "scoer"]), "'scoer'.*'score'"),
    "unpivot: mixed dtypes": (lambda p: p.unpivot_scores(["score", "label"]), "differ in dtype"),
    "unpivot: none": (lambda p: p.unpivot_scores([]), "at least one score column"),
    "unpivot: twice": (lambda p: p.unpivot_scores(["score", "score"]), "named twice"),
    "unpivot: name taken": (lambda p: p.unpivot_scores(["score"], name="g"), "two columns 'g'"),
    "unpivot: class of another dtype": (
        lambda p: p.unpivot_scores(label="label", scores={"cat": "score"}),
        "'cat'.*Int64",
    ),
}


@pytest.mark.parametrize("name", AT_THE_CALL)
@pytest.mark.parametrize("door", [prc(GOOD), prc(GOOD.lazy())], ids=["eager", "lazy"])
def test_arguments_fail_at_the_call(door: Any, name: str) -> None:
    call, words = AT_THE_CALL[name]
    with pytest.raises(PrcError, match=words) as raised:
        call(door)
    assert "Resolved plan" not in str(raised.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: eta_grid(0.5, 0.1), "0 < low < high"),
        (lambda: eta_grid(n=1), "n >= 2"),
        (lambda: eta_from_ratio("1:x"), "1:100"),
        (lambda: eta_from_ratio(-1.0), "got -1.0"),
        (lambda: eta_from_ratio("0:0"), "0:0"),
        (lambda: polars_prcurve.ratio_from_eta(1.1), "got 1.1"),
        (lambda: metrics.f_beta(0), "positive"),
        (lambda: metrics.net_benefit(1), r"\[0, 1\)"),
        (lambda: metrics.precision(0.5, 1.5, 0.1), r"fpr must lie in \[0, 1\]; got 1.5"),
        (lambda: metrics.precision(0.5, 0.5, float("nan")), "eta must lie"),
        (lambda: metrics.precision(0.5, 0.5), "pass eta"),
        (lambda: shift_prior(1.5, 0.5, 0.1), r"p must lie in \[0, 1\]; got 1.5"),
        (lambda: shift_prior(0.5, 0, 0.1), "eta_train= must lie between 0 and 1.*got 0.0"),
        (lambda: shift_prior([0.5], 0.5, [0.1, 1]), "eta= must lie between 0 and 1.*got 1.0"),
        (lambda: shift_prior(0.5, float("nan"), 0.1), "eta_train= must lie.*got nan"),
        (lambda: shift_prior(0.5, 0.5, "market"), "eta= takes numbers between 0 and 1; got 'market'"),
        (lambda: pl.col("p").prc.shift_prior(0.5, 10), "eta= must lie between 0 and 1.*got 10.0"),
        (lambda: pl.col("p").prc.shift_prior("eta", 0.1), "eta_train= takes a number.*got 'eta'"),
        (lambda: pl.col("p").prc.shift_prior(0.5, pl.col("a", "b")), "eta= takes one column"),
        (lambda: shift_prior(pl.col("p"), 0.5, [0.1]), r"eta= takes a number.*got \[0.1\]"),
        (lambda: prc([1, 2]), "got list"),  # type: ignore[call-overload]
        (lambda: pl.col("score").prc.roc_auc(pl.col("a", "b")), "label= takes one column"),
        (lambda: pl.col("score").prc.tp("label", weight=pl.all()), "weight= takes one column"),
        (lambda: pl.col("score").prc.pr_auc("label", pl.col("a", "b")), "eta= takes one column"),
        (lambda: pl.col("score").prc.curve("label", metrics=metrics.precision.alias("tp")), "'tp'"),
        (lambda: pl.col("a").prc.tp(3), "got 3"),
        (lambda: pl.col("a").prc.metric("f1", "label", [0.1, 0.2]), "single eta"),
    ],
)
def test_functions_fail_at_the_call(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(PrcError, match=words):
        call()


def test_an_enum_without_the_positive_label_fails_at_the_call() -> None:
    df = GOOD.with_columns(pl.col("kind").cast(pl.Enum(["spam", "ham"])))
    with pytest.raises(PrcError, match="no category 'spma'; did you mean 'spam'"):
        df.prc.sweep(label="kind", pos_label="spma")


# What only values tell ------------------------------------------------------------------------

RATES = pl.DataFrame({"g": ["a", "a", "b"], "tpr": [0.5, 0.4, 1.0], "fpr": [0.1, 0.2, 1.0]})

WHEN_RUN: dict[str, tuple[pl.DataFrame, dict[str, Any], str]] = {
    "NaN score": (spoilt("score", float("nan")), {}, "score column 'score' is NaN in 1 row"),
    "null score": (spoilt("score", None), {}, "score column 'score' is null in 1 row"),
    "null label": (spoilt("label", None), {}, "label column 'label' is null in 1 row"),
    "label 2": (spoilt("label", 2), {}, "label column 'label' is not binary in 1 row"),
    "label 0.5": (spoilt("label", 0.5, pl.Float64), {}, "label column 'label' is not binary in 1 row"),
    "labels 0 and -1": (spoilt("label", -1), {}, r"mixes \d+ row\(s\) of 0 with 1 of -1"),
    "absent pos_label": (
        GOOD,
        {"label": "kind", "pos_label": "spma"},
        "5000.*none equals pos_label='spma'",
    ),
    "null weight": (
        spoilt("weight", None),
        {"weight": "weight"},
        "weight column 'weight' is null in 1 row",
    ),
    "NaN weight": (
        spoilt("weight", float("nan")),
        {"weight": "weight"},
        "weight column 'weight' is NaN",
    ),
    "negative weight": (
        spoilt("weight", -1.0),
        {"weight": "weight"},
        "'weight' is negative, .* in 1 row",
    ),
    "infinite weight": (
        spoilt("weight", float("inf")),
        {"weight": "weight"},
        "infinite or NaN in 1 row",
    ),
    "negative count": (
        spoilt("label", -1),
        {"counts": ("label", "weight")},
        "counts column 'label' is negative",
    ),
    "rate above 1": (RATES.with_columns(tpr=pl.lit(1.5)), {"rates": ("tpr", "fpr")}, "'tpr' is outside"),
    "falling tpr": (
        RATES,
        {"rates": ("tpr", "fpr")},
        r"1 point\(s\) at which tpr falls while fpr rises; is it the specificity.*1 - pl.col",
    ),
    "null rate": (
        RATES.with_columns(fpr=pl.lit(None, pl.Float64)),
        {"rates": ("tpr", "fpr")},
        "null in 3",
    ),
}
METHODS: dict[str, Callable[..., Any]] = {
    "counts": lambda p, **how: p.counts(by="g", **how),
    "sweep": lambda p, **how: p.sweep(by="g", **how),
    "sweep without by": lambda p, **how: p.sweep(**how),
    "sweep at steps": lambda p, **how: p.sweep(by="g", thresholds=5, **how),
    "sweep reduced": lambda p, **how: p.sweep(by="g", thresholds="corners", **how),
    "curve at one eta": lambda p, **how: p.curve(0.1, by="g", **how),
    "curve at several": lambda p, **how: p.curve([0.1, 0.2], by="g", **how),
    "summary": lambda p, **how: p.summary([0.1, 0.2], by="g", **how),
    "summary without eta": lambda p, **how: p.summary(0.1, by="g", metrics="roc_auc", **how),
    "summary with errors": lambda p, **how: p.summary([0.1, 0.2], by="g", confidence=0.9, **how),
    "summary, smooth": lambda p, **how: p.summary([0.1, 0.2], by="g", smooth="binormal", **how),
    "curve, smooth": lambda p, **how: p.curve([0.1, 0.2], by="g", smooth="binormal", **how),
    "binormal": lambda p, **how: p.binormal(1, by="g", **how),
    "compare": lambda p, **how: p.compare(model="g", id="row", eta=[0.1, 0.2], **how),
    "ranking": lambda p, **how: p.ranking([0.1, 0.2], model="g", **how),
    "ranking of points": lambda p, **how: p.ranking(0.1, model="g", metric="f1", fpr=0.5, **how),
    "ranking with errors": lambda p, **how: p.ranking(0.1, model="g", confidence=0.9, **how),
    "ranking, paired": lambda p, **how: p.ranking(0.1, model="g", confidence=0.9, id="row", **how),
    "points": lambda p, **how: p.operating_points([0.1, 0.2], by="g", recall=0.5, **how),
    "points at eta": lambda p, **how: p.operating_points(0.1, by="g", precision=0.1, **how),
}
SHORT = ("sweep", "sweep without by", "curve at several", "summary", "points")
"""Methods that stand for the others in quick tests."""
SHAPES: dict[str, Callable[[pl.LazyFrame], pl.LazyFrame]] = {
    "all": lambda q: q,
    "one column": lambda q: q.select(pl.first()),
    "head": lambda q: q.head(1),
    "tail": lambda q: q.tail(1),
    "slice": lambda q: q.slice(10, 2),
    "len": lambda q: q.select(pl.len()),
    "group_by": lambda q: q.group_by(pl.first()).agg(pl.last().max()),
    "filter on values": lambda q: q.filter(pl.last() > 2),
    "sort": lambda q: q.sort(pl.last()),
    "join": lambda q: q.with_row_index().join(pl.LazyFrame({"index": [1]}), on="index", how="semi"),
}


COLLECTED: dict[str, Callable[..., Any]] = {
    "crossings": lambda p, **how: p.crossings(model="g", **how),
    "crossings of ROC curves": lambda p, **how: p.crossings(of="roc", model="g", **how),
    "crossings of points": lambda p, **how: p.crossings(model="g", metric="f1", fpr=0.5, **how),
    "leaders": lambda p, **how: p.crossings(model="g", **how, leaders=True),
    "dominance": lambda p, **how: p.crossings(model="g", **how, of="roc", leaders=True),
}
"""What is run at the call, of lazy tables too."""


SMOOTH = ("summary, smooth", "curve, smooth")


def _allowed(case: str, method: str) -> bool:
    how = WHEN_RUN[case][1]
    of_examples = ("summary with errors", "compare", "ranking with errors", "ranking, paired")
    if "rates" in how:
        return method not in ("counts", "binormal", *SMOOTH, *of_examples)
    return not ("counts" in how and method in of_examples)


@pytest.mark.parametrize("method", COLLECTED)
@pytest.mark.parametrize("case", WHEN_RUN)
def test_values_fail_at_the_call_of_what_is_collected(case: str, method: str) -> None:
    df, how, words = WHEN_RUN[case]
    messages = []
    for door in (df.prc, df.lazy().prc):
        with pytest.raises(PrcError, match=words) as error:
            COLLECTED[method](door, **how)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def engine_of(rows: Iterable[str], row: str, columns: Iterable[str], column: str) -> Any:
    """Return an engine for a pair of names, such that every name has pairs on either engine."""
    turn = list(rows).index(row) + list(columns).index(column)
    return ("streaming", "in-memory")[turn % 2]


@pytest.mark.parametrize("method", slow_unless(lambda method: method in SHORT, METHODS))
@pytest.mark.parametrize("case", WHEN_RUN)
def test_values_fail_in_the_same_words_at_every_door(case: str, method: str) -> None:
    if not _allowed(case, method):
        return
    df, how, words = WHEN_RUN[case]
    if case == "falling tpr" and method == "sweep without by":
        df = df.filter(pl.col("g") == "a")
    with pytest.raises(PrcError, match=words) as eager:
        METHODS[method](df.prc, **how)
    query = METHODS[method](df.lazy().prc, **how)
    query.collect_schema()  # building it is fine
    with pytest.raises(pl.exceptions.InvalidOperationError) as lazy:
        query.collect(engine=engine_of(WHEN_RUN, case, METHODS, method))
    assert str(lazy.value).startswith(f"Invalid argument - {eager.value}\n")
    assert len(str(lazy.value)) < len(str(eager.value)) + 800  # no plan below it


@pytest.mark.parametrize("shape", slow_unless(lambda shape: shape in ("slice", "len"), SHAPES))
@pytest.mark.parametrize("method", METHODS)
def test_no_shape_of_query_hides_a_bad_row(method: str, shape: str) -> None:
    query = SHAPES[shape](METHODS[method](spoilt("score", float("nan")).lazy().prc))
    with pytest.raises(pl.exceptions.InvalidOperationError, match="is NaN in 1 row"):
        query.collect(engine=engine_of(SHAPES, shape, METHODS, method))


@pytest.mark.slow
def test_an_error_never_locks_the_engine() -> None:
    """Many times over, since a lock depends on which thread is first."""
    bad, etas = spoilt("score", float("nan")).lazy(), pl.DataFrame({"g": ["g0"], "eta": [0.1]})
    for _ in range(40):
        for query in (
            bad.prc.summary([0.1, 0.2], by="g"),
            bad.prc.operating_points([0.1, 0.2], by="g", precision=0.1, recall=0.3),
            METHODS["summary with errors"](bad.prc),
            METHODS["compare"](bad.prc),
            *(METHODS[name](bad.prc) for name in ("binormal", *SMOOTH)),
            GOOD.lazy().prc.summary(etas, by="g"),
            GOOD.lazy().prc.operating_points(etas.lazy(), by="g", precision=0.1),
            GOOD.lazy().prc.summary(pl.LazyFrame({"eta": [0.1, 3.0]}), by="g"),
        ):
            with pytest.raises(pl.exceptions.InvalidOperationError):
                query.collect()


@pytest.mark.parametrize("shape", ["filter", "semi join"])
def test_choosing_a_good_group_does_not_hide_a_bad_one(shape: str) -> None:
    bad = spoilt("score", float("nan"))
    group = bad["g"][ROWS - 3]
    good = next(g for g in bad["g"].unique() if g != group)
    query = bad.lazy().prc.sweep(by="g")
    if shape == "filter":
        query = query.filter(pl.col("g") == good)
    else:
        query = query.join(pl.LazyFrame({"g": [good]}), on="g", how="semi")
    for engine in ("streaming", "in-memory"):
        with pytest.raises(pl.exceptions.InvalidOperationError, match="is NaN in 1 row"):
            query.collect(engine=engine)


def test_a_group_that_the_eta_frame_forgot_is_named() -> None:
    etas = pl.DataFrame({"g": [f"g{i}" for i in range(6)], "eta": [0.1] * 6})
    with pytest.raises(PrcError, match=r"no row for 1 group\(s\), such as g = g6"):
        GOOD.prc.curve(etas, by="g")
    with pytest.raises(pl.exceptions.InvalidOperationError, match="such as g = g6"):
        GOOD.lazy().prc.curve(etas, by="g").collect()


def test_a_lazy_eta_frame_is_checked_when_the_query_runs() -> None:
    query = GOOD.lazy().prc.curve(pl.LazyFrame({"eta": [0.1, 3.0]}))
    with pytest.raises(pl.exceptions.InvalidOperationError, match="outside"):
        query.collect()


def test_one_vs_rest_names_a_class_that_no_row_has() -> None:
    df = pl.DataFrame({"y": ["cat", "dog"], "a": [0.1, 0.2], "b": [0.3, 0.4]})
    with pytest.raises(PrcError, match="none is 'cta'"):
        df.prc.unpivot_scores(label="y", scores={"cta": "a", "dog": "b"})
    assert df.head(0).prc.unpivot_scores(label="y", scores={"cta": "a", "dog": "b"}).is_empty()


EXPRESSIONS: dict[str, Callable[..., pl.Expr]] = {
    name: (lambda label, name=name, **how: getattr(pl.col("score").prc, name)(label, **how))
    for name in (
        *("tp", "fp", "fn", "tn", "recall", "fpr", "precision", "counts", "sweep", "curve"),
        *("average_precision", "pr_auc", "auprg", "roc_auc"),
    )
}


@pytest.mark.parametrize(
    "case", [c for c, (_, how, _) in WHEN_RUN.items() if "rates" not in how and "counts" not in how]
)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions_fail_in_the_words_of_the_frame(case: str, name: str) -> None:
    df, how, _ = WHEN_RUN[case]
    with pytest.raises(PrcError) as frame:
        df.prc.sweep(**how)
    options = {key: value for key, value in how.items() if key != "label"}
    expr = EXPRESSIONS[name](how.get("label", "label"), **options)
    with pytest.raises(pl.exceptions.InvalidOperationError, match=re.escape(str(frame.value))):
        df.select(expr)
    with pytest.raises(
        pl.exceptions.InvalidOperationError, match=r"column '(score|label|weight|kind)' "
    ):
        df.group_by("g").agg(expr)


DTYPES: dict[str, pl.Series] = {
    "String": pl.Series(["9", "10", "1", "3"]),
    "Categorical": pl.Series(["a", "b"] * 2, dtype=pl.Categorical),
    "Enum": pl.Series(["a", "b"] * 2, dtype=pl.Enum(["a", "b"])),
    "Date": pl.Series(range(4)).cast(pl.Date),
    "Datetime": pl.Series(range(4)).cast(pl.Datetime("ms", "UTC")),
    "Duration": pl.Series(range(4)).cast(pl.Duration),
    "Time": pl.Series(range(4)).cast(pl.Time),
    "List": pl.Series([[1], [2]] * 2),
    "Array": pl.Series([[1], [2]] * 2, dtype=pl.Array(pl.Int64, 1)),
    "Struct": pl.Series([{"a": 1}, {"a": 2}] * 2),
    "Binary": pl.Series([b"a", b"b"] * 2),
    "Null": pl.Series([None] * 4),
    "Object": pl.Series([object()] * 4, dtype=pl.Object),
    "Boolean": pl.Series([True, False] * 2),
}
FOUR = pl.DataFrame({"score": [0.9, 0.8, 0.3, 0.2], "label": [1, 0, 1, 0], "weight": [1, 2, 1, 1]})
DTYPE_CASES = [
    *((argument, dtype) for argument in ("score", "label") for dtype in DTYPES if dtype != "Boolean"),
    *(("weight", dtype) for dtype in DTYPES),
]
CONTEXTS: dict[str, Callable[[pl.LazyFrame, pl.Expr], pl.LazyFrame]] = {
    "select": lambda frame, expr: frame.select(expr),
    "agg": lambda frame, expr: frame.group_by(pl.lit(1)).agg(expr),
    "over": lambda frame, expr: frame.select(expr.over(pl.lit(1), mapping_strategy="join")),
}


@pytest.mark.parametrize("context", slow_unless(lambda context: context == "agg", CONTEXTS))
@pytest.mark.parametrize(
    ("argument", "dtype"),
    [
        case if case[1] in {"String", "Date"} else pytest.param(*case, marks=pytest.mark.slow)
        for case in DTYPE_CASES
    ],
)
def test_expressions_refuse_dtypes_in_the_words_of_the_frame(
    argument: str, dtype: str, context: str
) -> None:
    df = FOUR.with_columns(DTYPES[dtype].alias(argument))
    how = {"weight": "weight"} if argument == "weight" else {}
    says = "of dtype Object" if dtype == "Object" else f"{argument} column '{argument}' is "
    with pytest.raises(PrcError, match=says) as frame:
        df.prc.sweep(**how)
    for name, make in EXPRESSIONS.items():
        query = CONTEXTS[context](df.lazy(), make("label", **how))
        with pytest.raises(pl.exceptions.InvalidOperationError) as error:
            query.collect(engine=engine_of(EXPRESSIONS, name, DTYPES, dtype))
        # Frames refuse an Object column by itself: Polars may fail on it before its dtype is checked.
        if dtype != "Object":
            assert str(error.value).startswith(f"Invalid argument - {frame.value}\n"), name


POS_LABELS: list[tuple[Any, pl.Series]] = [
    (3, pl.Series(["a", "b"] * 2)),
    ("a", pl.Series([1, 2] * 2)),
    (b"a", pl.Series(["a", "b"] * 2)),
    ("a", pl.Series([b"a", b"b"] * 2)),
    ("a", DTYPES["Struct"]),
    (1, DTYPES["Date"]),
]


@pytest.mark.parametrize(("pos_label", "labels"), POS_LABELS)
def test_a_pos_label_of_another_kind_is_refused_in_the_same_words(
    pos_label: Any, labels: pl.Series
) -> None:
    df = FOUR.with_columns(label=labels)
    with pytest.raises(PrcError, match=re.escape(f"cannot equal pos_label={pos_label!r}")) as frame:
        df.prc.sweep(pos_label=pos_label)
    for make in EXPRESSIONS.values():
        with pytest.raises(pl.exceptions.InvalidOperationError) as error:
            df.select(make("label", pos_label=pos_label))
        assert str(error.value).startswith(f"Invalid argument - {frame.value}\n")


def test_a_pos_label_is_compared_exactly_at_every_door() -> None:
    cases: list[tuple[Any, pl.Series, list[bool]]] = [
        ("a", pl.Series(["a", "b"], dtype=pl.Categorical), [True, False]),
        ("a", pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])), [True, False]),
        (b"a", pl.Series([b"a", b"b"]), [True, False]),
        (2**53 + 1, pl.Series([2**53 + 1, 2**53]), [True, False]),
        (0.1, pl.Series([0.1, 1.0], dtype=pl.Float32), [True, False]),
        (2.0, pl.Series([2, 1]), [True, False]),
        (True, pl.Series([1, 0]), [True, False]),
        (1, pl.Series([True, False]), [True, False]),
    ]
    for pos_label, labels, expected in cases:
        df = pl.DataFrame({"score": [1.0, 0.5], "label": labels, "is": expected})
        sweep = df.prc.sweep(label="is")
        assert df.prc.sweep(pos_label=pos_label).equals(sweep), pos_label
        expr = pl.col("score").prc.tp("label", pos_label=pos_label)
        assert df.select(expr)["score"].to_list() == sweep["tp"].to_list(), pos_label
    for pos_label, labels in ((1.5, pl.Series([1, 0])), (2, pl.Series([True, False]))):
        df = pl.DataFrame({"score": [1.0, 0.5], "label": labels})
        with pytest.raises(PrcError, match="none equals"):
            df.prc.sweep(pos_label=pos_label)
        with pytest.raises(pl.exceptions.InvalidOperationError, match="none equals"):
            df.select(pl.col("score").prc.tp("label", pos_label=pos_label))


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "Boolean"])
def test_score_columns_of_wide_tables_obey_the_rule_of_scores(dtype: str) -> None:
    wide = pl.DataFrame({"a": DTYPES[dtype], "b": DTYPES[dtype], "label": [1, 0, 1, 0]})
    for door in (wide.prc, wide.lazy().prc):
        for call in (
            lambda p: p.compare(score=["a", "b"]),
            lambda p: p.unpivot_scores(["a", "b"]),
            lambda p: p.unpivot_scores(label="label", scores={1: "a", 0: "b"}, name="k"),
        ):
            with pytest.raises(PrcError, match=r"score column 'a' is .*; a score is a float"):
                call(door)


def test_rates_and_prevalences_of_expressions_are_numbers() -> None:
    df = FOUR.with_columns(text=pl.lit("0.1"))
    for expr, words in (
        (pl.col("text").prc.shift_prior(0.5, 0.1), "score column 'text' is String"),
        (pl.col("score").prc.shift_prior(pl.col("text"), 0.1), "eta_train= is String"),
        (pl.col("score").prc.pr_auc("label", pl.col("text").first()), "eta= is String"),
        (metrics.precision(pl.col("text"), 0.1, 0.1), "recall is String"),
    ):
        with pytest.raises(pl.exceptions.InvalidOperationError, match=words):
            df.select(expr)


def test_an_eta_expression_outside_0_and_1_stops_the_query() -> None:
    with pytest.raises(pl.exceptions.InvalidOperationError, match=r"eta= is outside \[0, 1\]"):
        GOOD.select(pl.col("score").prc.curve("label", pl.lit(1.5)))


def test_metrics_of_expressions_check_their_range() -> None:
    rates = pl.DataFrame({"r": [0.5, 1.2], "f": [0.1, 0.2]})
    with pytest.raises(pl.exceptions.InvalidOperationError, match=r"recall must lie in \[0, 1\]"):
        rates.select(metrics.precision(pl.col("r"), pl.col("f"), 0.1))


# What is dropped ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("df", "how"),
    [
        (spoilt("score", float("nan")), {}),
        (spoilt("score", None), {}),
        (spoilt("label", None), {}),
        (spoilt("weight", None), {"weight": "weight"}),
        (spoilt("weight", float("nan")), {"weight": "weight"}),
    ],
    ids=["NaN score", "null score", "null label", "null weight", "NaN weight"],
)
def test_drop_leaves_out_the_row_and_no_other(df: pl.DataFrame, how: dict[str, Any]) -> None:
    without = GOOD.filter(pl.int_range(pl.len()) != ROWS - 3)
    dropped = df.prc.sweep(by="g", missing="drop", **how)
    assert dropped.equals(without.prc.sweep(by="g", **how))


def test_missing_is_checked_before_rows_of_weight_0_leave() -> None:
    df = spoilt("score", float("nan")).with_columns(
        weight=pl.when(pl.col("score").is_nan()).then(0.0).otherwise("weight")
    )
    with pytest.raises(PrcError, match="is NaN in 1 row"):
        df.prc.sweep(weight="weight")


def test_drop_does_not_excuse_other_bad_values() -> None:
    with pytest.raises(PrcError, match="is not binary in 1 row"):
        spoilt("label", 2).prc.sweep(missing="drop")


# In which order -------------------------------------------------------------------------------

CALL_ORDER: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("no metric is named 'nope'", {"metrics": "nope"}, {"metrics": "f1"}),
    ("confidence= takes a level between", {"confidence": 95}, {"confidence": 0.95}),
    ("missing= is", {"missing": "no"}, {"missing": "raise"}),
    ("by= names the column 'gg'", {"by": "gg"}, {"by": "g"}),
    ("score column 'kind' is String", {"score": "kind"}, {"score": "score"}),
    ("label column 'kind' is String", {"label": "kind"}, {"label": "label"}),
    ("weight= names the column 'w'", {"weight": "w"}, {"weight": "weight"}),
    ("eta= must lie in", {"eta": 2}, {"eta": 0.1}),
]


@pytest.mark.parametrize("door", [prc(GOOD), prc(GOOD.lazy())], ids=["eager", "lazy"])
def test_at_the_call_errors_come_in_the_order_of_the_contracts_page(door: Any) -> None:
    given = {name: value for _, wrong, _ in CALL_ORDER for name, value in wrong.items()}
    for words, _, right in CALL_ORDER:
        with pytest.raises(PrcError, match=words):
            door.curve(**given)
        given |= right
    door.curve(**given)


def test_values_are_found_in_the_order_of_the_contracts_page() -> None:
    rows = {"score": None, "label": 2, "weight": -1.0}
    df = GOOD.with_columns(
        pl.when(pl.int_range(pl.len()) == ROWS - 3).then(pl.lit(value)).otherwise(name).alias(name)
        for name, value in rows.items()
    )
    etas = pl.DataFrame({"g": ["g0"], "eta": [0.1]})
    told = [
        ("score", "score column 'score' is null in 1 row"),
        ("label", "label column 'label' is not binary in 1 row"),
        ("weight", "weight column 'weight' is negative, infinite or NaN in 1 row"),
    ]
    for name, words in told:
        with pytest.raises(PrcError, match=words):
            prc(df).curve(etas, by="g", weight="weight")
        df = df.with_columns(GOOD[name])
    with pytest.raises(PrcError, match="eta= frame"):
        prc(df).curve(etas, by="g", weight="weight")
