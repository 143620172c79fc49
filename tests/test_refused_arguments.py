"""What is refused of an argument alone: a name, a kind or a value, as core/ground checks it.

What does not go together is in `test_refused_combinations`, what columns hold in `test_refused_tables`.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from fractions import Fraction
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_prcurve
from polars_prcurve import (
    Decision,
    PrcError,
    eta_from_ratio,
    eta_grid,
    field,
    intervals,
    metrics,
    prc,
    shift_prior,
)
from polars_prcurve.core.binding.shared_arguments import TARGET_WORDS
from polars_prcurve.core.ground.name_hints import SYNONYMS_OF_ARGUMENTS
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS
from polars_prcurve.core.metrics.metric_base import DECLARED_BY_NAME
from polars_prcurve.core.metrics.point_metric import POINT_METRICS
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS
from polars_prcurve.doors.cli.main import main
from tests.support.arguments import (
    Call,
    has_computed,
    list_calls,
    list_charts,
    never_computed,
    wrong_values,
)
from tests.support.comparing import assert_same_answer
from tests.support.good_rows import GOOD
from tests.support.plain_calls import DF, OTHERS
from tests.support.tiers import pair_each, slow_unless

CALLS = list_calls()
TABLES = [name for name, call in CALLS.items() if call.table is not None]
KNOWN_AFTER_WORK = (
    "none equals pos_label=|reach(es)? the threshold|does not distinguish the curves of this table"
)
"""What only the values of the table, or the columns of the table that is drawn, can tell."""


@pytest.mark.parametrize(
    "name", slow_unless(lambda name: not name.startswith(("plot.", "charts.")), CALLS)
)
def test_an_unknown_argument_names_the_function_as_users_write_it(name: str) -> None:
    call = CALLS[name]
    method = OTHERS[name][0] if name in OTHERS else name
    written = name if call.table is None else f"prc.{method}"
    written = re.sub(
        r"^(expr|metrics|charts|function)\.", lambda at: "prc." if at[1] == "expr" else "", written
    )
    hint = ".*'clutser'; (did you mean|choose from:) "
    with pytest.raises(TypeError, match=rf"^{re.escape(written)}\(\) got an unexpected{hint}"):
        call.find(call.table)(**call.plain, clutser=1)


@pytest.mark.parametrize(
    ("call", "wrong", "hint"),
    [
        (prc(DF).summary, "metric", "'metrics'"),
        (prc(DF).curve, "confidance", "'confidence'"),
        (prc(DF).operating_points, "treshold", "'threshold'"),
        (prc(DF).operating_points, "sensitivity", "'recall'"),
        (prc(DF).plot.pr_curve, "colour", "'color'"),
        (prc(DF).summary, "prevalence", "'eta'"),
        (prc(DF).estimate_prevalence, "prevalence", "'eta_train'"),
        (prc(DF).compare, "models", "'model'"),
        (prc(DF).plot.pr_curve, "group", "'by'"),
        (prc(pl.col("score")).roc_auc, "y_true", "'label'"),
        (metrics.f_beta, "betta", "'beta'"),
        (polars_prcurve.rate_interval, "level", "'confidence'"),
    ],
)
def test_an_unknown_argument_gets_a_hint(call: Callable[..., Any], wrong: str, hint: str) -> None:
    with pytest.raises(TypeError, match=rf"keyword argument {wrong!r}; did you mean {hint}\?$"):
        call(**{wrong: 1})


@pytest.mark.parametrize(
    ("call", "wrong", "hint"),
    [
        (prc(DF).operating_points, "specificity", "an fpr of 0.01, fpr="),
        (prc(DF).ranking, "TNR", "an fpr of 0.01, fpr="),
        (prc(DF).sweep, "eta", "eta= of a call that reads it, such as curve"),
        (prc(DF).counts, "base_rate", "eta= of a call that reads it, such as curve"),
        (prc(DF), "prevalence", "eta= of a call that reads it, such as curve"),
        (prc(pl.col("score")).roc_auc, "prevalence", "eta= of a call that reads it, such as curve"),
    ],
)
def test_an_argument_of_elsewhere_tells_where(call: Callable[..., Any], wrong: str, hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        call(**{wrong: 0.1})


@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if "eta" in call.arguments()])
@pytest.mark.parametrize("wrong", ["prevalence", "base_rate", "prior"])
def test_a_prevalence_by_another_name_is_eta_wherever_there_is_one(name: str, wrong: str) -> None:
    call = CALLS[name]
    with pytest.raises(TypeError, match=rf"keyword argument {wrong!r}; did you mean 'eta'\?$"):
        call.find(call.table)(**call.plain, **{wrong: 0.1})


@pytest.mark.parametrize(
    ("owner", "wrong", "hint"),
    [
        (DF.prc, "sweeps", r"prc has no method 'sweeps'; did you mean 'sweep'\?$"),
        (DF.prc, "auprc", r"pass the metric 'average_precision', or 'pr_auc', to summary\(\)$"),
        (DF.lazy().prc, "auc", r"prc has no method 'auc'; pass the metric 'roc_auc' to summary\(\)$"),
        (DF.prc, "ppv", r"pass the metric 'precision' to operating_points\(\)$"),
        (
            DF.prc,
            "precision_recall_curve",
            r"has no method 'precision_recall_curve'; did you mean 'curve'",
        ),
        (DF.prc.plot, "calibration", r"has no method 'calibration'; did you mean 'reliability'\?$"),
        (DF.prc.plot, "roc", r"prc.plot has no method 'roc'; did you mean 'roc_curve'\?$"),
        (pl.col("score").prc, "mcc", r"prc has no method 'mcc'; pass the metric 'mcc' to metric\(\)$"),
        (DF.prc, "_repr_png_", "^_repr_png_$"),  # which notebooks ask for
    ],
)
def test_a_method_that_there_is_not_leads_to_one_that_there_is(
    owner: Any, wrong: str, hint: str
) -> None:
    with pytest.raises(AttributeError, match=hint):
        getattr(owner, wrong)
    assert not hasattr(owner, wrong)


def test_an_unknown_argument_that_resembles_none_lists_all_but_self() -> None:
    with pytest.raises(TypeError, match=r"; choose from: thresholds, score, label, pos_label, "):
        prc(DF).sweep(**{"\x1bquux": 1})  # type: ignore[arg-type]


def test_every_other_name_of_an_argument_leads_to_one_that_exists() -> None:
    known = {argument for call in CALLS.values() for argument in call.arguments()}
    assert {name for names in SYNONYMS_OF_ARGUMENTS for name in names} <= known


def pairs_of_values(number: int, *, rest: bool = False) -> list[tuple[tuple[str, Any], tuple[str, Any]]]:
    """A quarter of the wrong values, all over four numbers, or the rest; each twice, for two tries."""
    pairs = enumerate(zip(wrong_values(), wrong_values(), strict=True))
    return [pair for at, pair in pairs if (at % 4 != number % 4) == rest]


def try_value(call: Call, table: Any, argument: str, value: Any) -> Exception | None:
    """Return the error that a value of an argument raises, if any."""
    try:
        call.find(table)(**{**call.plain, argument: value})
    except Exception as error:
        return error
    return None


def is_no_chart(name: str) -> bool:
    """Return whether a call draws nothing, which takes its time."""
    return not name.startswith(("plot.", "charts."))


@pytest.mark.quick_cases(12)
@pytest.mark.parametrize("name", slow_unless(is_no_chart, CALLS))
def test_a_value_of_the_wrong_kind_is_refused_before_any_work(name: str) -> None:
    """A quarter of the values for each argument: most stand in many calls, at other places."""
    CALLS[name].find(CALLS[name].table)(**CALLS[name].plain)
    try_wrong_values(CALLS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CALLS if is_no_chart(name)])
def test_all_other_values_of_the_wrong_kind_are_refused_before_any_work(name: str) -> None:
    try_wrong_values(CALLS[name], rest=True)


def try_wrong_values(call: Call, *, rest: bool = False) -> None:
    """Raise unless arguments take or refuse a value before any work, of lazy frames in equal words."""
    for number, argument in enumerate(call.arguments()):
        for (kind, value), (_, again) in pairs_of_values(number, rest=rest):
            where = f"{argument}= as {kind}"
            if call.table is None:
                error = try_value(call, None, argument, value)
                assert error is None or isinstance(error, PrcError), f"{where}: {error!r}"
                continue
            error = try_value(call, never_computed(call.table), argument, value)
            lazy = try_value(call, call.table.lazy(), argument, again)
            if isinstance(error, PrcError):
                same = str(lazy) == str(error) or "needs a DataFrame" in str(lazy)
                assert same, f"{where}: {error!r}, and of a LazyFrame {lazy!r}"
            elif error is not None:
                assert has_computed(error), f"{where}: {error!r}"
                late = lazy is None or re.search(KNOWN_AFTER_WORK, str(lazy))
                assert late, f"{where} is refused after the work: {lazy!r}"


@pytest.mark.parametrize("name", TABLES)
def test_a_message_shows_the_argument_and_the_value(name: str) -> None:
    call = CALLS[name]
    for argument in call.arguments():
        error = try_value(call, call.table, argument, object())
        if error is not None:
            assert f"{argument}=" in str(error), f"{argument}: {error}"
            shown = ("got an object", "leave out", "pass", f"takes no {argument}=")
            assert any(words in str(error) for words in shown), str(error)


@pytest.mark.extras
def test_a_report_refuses_wrong_kinds_before_any_work(tmp_path: Path) -> None:
    call = Call(DF, lambda table: prc(table).report, {"path": tmp_path / "report.html"})
    for argument in call.arguments():
        for kind, value in wrong_values():
            error = try_value(call, never_computed(DF), argument, value)
            accepted = has_computed(error) or (argument == "parts" and error is None)
            assert accepted or isinstance(error, PrcError), f"{argument}= as {kind}: {error!r}"
            if argument in ("title", "notes", "date"):
                assert accepted == (value is None or isinstance(value, str)), (argument, kind, error)
            for path in tmp_path.iterdir():
                assert argument == "parts"
                path.unlink()


class BytesPath:
    def __fspath__(self) -> bytes:
        return b"a.svg"


WRITES = {name: of for name, of in vars(Decision).items() if name[0] != "_" and inspect.isfunction(of)}
"""The methods of a decision, which write or say it."""


@pytest.mark.extras
@pytest.mark.parametrize("name", WRITES)
def test_a_decision_refuses_wrong_kinds(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    decision = prc(DF).decide(0.1, recall=0.5)
    is_page = name in ("report", "page")
    file = {"path": "a.html" if is_page else "a.svg"}
    plain = file if "path" in inspect.signature(WRITES[name]).parameters else {}
    for argument in inspect.signature(getattr(decision, name)).parameters:
        for kind, value in [*wrong_values(), ("path of bytes", BytesPath())]:
            error = None
            try:
                getattr(decision, name)(**{**plain, argument: value})
            except PrcError as refused:
                error = refused
            takes = {"path": (str,), "width": (int, type(None))}.get(argument, (str, type(None)))
            if not isinstance(value, takes):
                assert error is not None, f"{argument}= as {kind}"
                assert argument in str(error), f"{argument}= as {kind}: {error}"


@pytest.mark.parametrize("name", ["summary", "report", "plot.pr_curve", "__call__"])
def test_unknown_words_are_hinted_at(name: str) -> None:
    path = "prc" if name == "__call__" else f"prc.{name}"
    with pytest.raises(TypeError, match=rf"^{path}\(\) got .* 'labl'; did you mean 'label'"):
        attrgetter(name)(DF.prc)(labl="label")


# What the call tells --------------------------------------------------------------------------


AT_THE_CALL: dict[str, tuple[Callable[[Any], Any], str]] = {
    "misspelt score": (
        lambda p: p.sweep(score="scroe"),
        "there is no column 'scroe' for score=.*'score'",
    ),
    "misspelt label": (
        lambda p: p.sweep(label="labl"),
        "there is no column 'labl' for label=.*'label'",
    ),
    "misspelt by": (lambda p: p.sweep(by=["g", "modle"]), "there is no column 'modle' for by="),
    "misspelt weight": (lambda p: p.sweep(weight="wieght"), "for weight=; did you mean 'weight'"),
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
    "by clash": (lambda p: p.sweep(by=pl.col("g").alias("tp")), "rename the column 'tp' of by="),
    "by clash with eta": (
        lambda p: p.curve(0.1, by=pl.col("g").alias("eta")),
        "rename the column 'eta' of by=",
    ),
    "by clash with metric": (
        lambda p: p.curve(0.1, metrics="f1", by=pl.col("g").alias("f1")),
        "rename the column 'f1' of by=",
    ),
    "by twice": (
        lambda p: p.sweep(by=["g", "g"]),
        "name the column 'g' only once in by=",
    ),
    "reserved name": (lambda p: p.sweep(by=pl.col("g").alias("_prc_x")), "reserved"),
    "missing": (lambda p: p.sweep(missing="ignore"), 'missing= takes "raise", "drop" or "below"'),
    "counts and weight": (
        lambda p: p.sweep(counts=("label", "label"), weight="weight"),
        r"^pass only one of .*: both define the examples",
    ),
    "counts of three": (lambda p: p.sweep(counts=("a", "b", "c")), "takes two columns"),
    "rates and weight": (
        lambda p: p.sweep(rates=("label", "label"), weight="weight"),
        r"^pass only one of .*: both define the examples",
    ),
    "rates and own prevalence": (
        lambda p: p.curve(rates=("label", "score")),
        "^pass eta= as numbers.*no counts",
    ),
    "rates and thresholds": (
        lambda p: p.sweep(rates=("label", "score"), thresholds=[0.5]),
        "no thresholds",
    ),
    "eta above 1": (lambda p: p.curve(1.5), r"must be a share in \[0, 1\].*got 1.5"),
    "eta below 0": (lambda p: p.curve(-0.1), "got -0.1"),
    "eta NaN": (lambda p: p.curve([0.1, float("nan")]), "got nan"),
    "eta text": (lambda p: p.curve("country"), "1 in 1000.*a column[?] pass a frame"),
    "eta text above 1": (lambda p: p.curve("5/3"), r"must be a share in \[0, 1\].*got 1.66"),
    "eta Boolean": (lambda p: p.curve(True), "got True"),
    "eta twice": (lambda p: p.curve([0.1, 0.2, 0.1]), "0.1 more than once"),
    "eta None twice": (lambda p: p.curve([None, None]), "None more than once"),
    "eta empty": (lambda p: p.curve([]), "of each group; got none"),
    "eta mapping": (lambda p: p.curve({"a": 0.1}), "^pass class_mix.*got a mapping"),
    "eta frame without eta": (
        lambda p: p.curve(pl.DataFrame({"g": ["g0"]}), by="g"),
        "numeric column 'eta'",
    ),
    "eta frame of another dtype": (
        lambda p: p.curve(pl.DataFrame({"g": [1], "eta": [0.1]}), by="g"),
        "cast the group column 'g' to one dtype: it is Int64 in the eta= frame and String in the table",
    ),
    "eta frame outside": (lambda p: p.curve(pl.DataFrame({"eta": [0.1, 2.0]})), "not percent.*1 row"),
    "eta frame twice": (lambda p: p.curve(pl.DataFrame({"eta": [0.1, 0.1]})), "repeats.*2 row"),
    "eta frame clash": (
        lambda p: p.curve(pl.DataFrame({"eta": [0.1], "tp": [1]})),
        "rename the column 'tp' of the eta= frame",
    ),
    "eta frame of a group that by= leaves out": (
        lambda p: p.curve(pl.DataFrame({"g": ["g0", "g1"], "eta": [0.1, 0.2]})),
        "^pass by='g', or leave 'g' out",
    ),
    "unknown metric": (lambda p: p.curve(0.1, metrics="precison"), "did you mean 'precision'"),
    "capitals": (lambda p: p.curve(0.1, metrics="F1"), "did you mean 'f1'"),
    "a slip in a metric at a threshold": (
        lambda p: p.summary(metrics="precision_at_treshold(2)"),
        r"did you mean 'precision_at_threshold\(0.8\)'\?$",
    ),
    "a slip in a metric that needs a threshold": (
        lambda p: p.summary(metrics="precison"),
        r"did you mean 'precision'\? It needs a threshold, as in 'precision_at_threshold\(0.8\)'$",
    ),
    "a slip in an area": (
        lambda p: p.summary(metrics="average_precison"),
        r"did you mean 'average_precision'\?$",
    ),
    "a slip in a metric at a target": (
        lambda p: p.summary(metrics="precision_at_recal(0.5)"),
        r"did you mean 'precision_at_recall\(0.8\)'\?$",
    ),
    "parameter in the name": (
        lambda p: p.summary(metrics="best_f1", columns="all"),
        r"did you mean 'best\(\"f1\"\)'\?",
    ),
    "other name of a metric": (lambda p: p.curve(0.1, metrics=["ppv"]), "did you mean 'precision'"),
    "its capitals": (
        lambda p: p.summary(0.1, metrics="AUPRC", columns="all"),
        "'AUPRC' is used for two",
    ),
    "other name, asked of a whole curve": (
        lambda p: p.summary(0.1, metrics="Sensitivity", columns="all"),
        "mean 'recall'",
    ),
    "other name, asked of a threshold": (
        lambda p: p.curve(0.1, metrics="AUROC"),
        "did you mean 'roc_auc'",
    ),
    "metric without its parameter": (lambda p: p.curve(0.1, metrics="f_beta"), r"such as 'f_beta\(2\)'"),
    "metric with a wrong parameter": (
        lambda p: p.curve(0.1, metrics="f_beta(0)"),
        "beta takes a positive number",
    ),
    "metric of a whole curve": (
        lambda p: p.curve(0.1, metrics="pr_auc"),
        r"use .prc.summary\(metrics='pr_auc'\)",
    ),
    "nameless metric": (
        lambda p: p.curve(0.1, metrics=metrics.f1.alias("")),
        "without a name it has no column",
    ),
    "metric twice": (lambda p: p.curve(0.1, metrics=["f1", metrics.f1]), "'f1' twice"),
    "not a metric": (lambda p: p.curve(0.1, metrics=[3]), "got 3"),
    "no steps": (lambda p: p.sweep(thresholds=0), "at least 1; got 0"),
    "thresholds as text": (lambda p: p.sweep(thresholds="0.5"), "got '0.5'"),
    "threshold NaN": (lambda p: p.sweep(thresholds=[float("nan")]), "holds nan"),
    "threshold null": (lambda p: p.sweep(thresholds=[1, None]), "thresholds= takes numbers.*got None"),
    "threshold text": (lambda p: p.sweep(thresholds=[1, "2nd"]), "thresholds= takes numbers.*got '2nd'"),
    "threshold Boolean": (lambda p: p.sweep(thresholds=[True]), "thresholds= takes numbers.*got True"),
    "estimate: misspelt score": (
        lambda p: p.estimate_prevalence(0.5, score="scroe"),
        "there is no column 'scroe' for score=.*'score'",
    ),
    "estimate: string score": (lambda p: p.estimate_prevalence(0.5, score="kind"), "'kind' is String"),
    "estimate: by clash": (
        lambda p: p.estimate_prevalence(0.5, by=pl.col("g").alias("n")),
        "rename the column 'n' of by=",
    ),
    "estimate: eta_train 1": (
        lambda p: p.estimate_prevalence(1),
        r"eta_train= takes a fraction above 0 and below 1.*got 1.0",
    ),
    "estimate: eta_train NaN": (lambda p: p.estimate_prevalence(float("nan")), "eta_train=.*got nan"),
    "estimate: eta_train text": (
        lambda p: p.estimate_prevalence("few"),
        "eta_train= takes a number between 0 and 1; got 'few'",
    ),
    "estimate: several eta_train": (lambda p: p.estimate_prevalence([0.1, 0.2]), r"got \[0.1, 0.2\]"),
    "estimate: missing": (lambda p: p.estimate_prevalence(0.5, missing="no"), 'missing= takes "raise"'),
    "smooth of another kind": (
        lambda p: p.curve(0.1, smooth="loess"),
        "smooth= takes \"binormal\"; got 'loess'",
    ),
    "smooth and confidence": (
        lambda p: p.curve(0.1, smooth="binormal", confidence=0.9),
        "fitted model has no interval",
    ),
    "smooth areas and confidence": (
        lambda p: p.summary(
            0.1, smooth="binormal", confidence=intervals(0.9, method="bootstrap"), columns="all"
        ),
        "fitted model has no interval",
    ),
    "smooth and rates": (
        lambda p: p.summary(0.1, smooth="binormal", rates=("label", "score"), columns="all"),
        "no scores that a model could be fitted to",
    ),
    "smooth of a metric of rows": (
        lambda p: p.summary(0.1, smooth="binormal", metrics="auprg", columns="all"),
        r"precision_at_recall\(...\).*: with smooth= there is no auprg",
    ),
    "smooth mean of a metric of rows": (
        lambda p: p.summary(
            smooth="binormal", metrics=metrics.integrated("auprg", 0.1, 0.5), columns="all"
        ),
        r"with smooth= there is no integrated\(auprg, ",
    ),
    "ddof below 0": (lambda p: p.binormal(-1), "ddof= takes a whole number of at least 0; got -1"),
    "binormal: by clash": (lambda p: p.binormal(by=pl.col("g").alias("alpha")), "'alpha'"),
    "unpivot: unknown column": (lambda p: p.unpivot_scores(["score", "scoer"]), "'scoer'.*'score'"),
    "unpivot: mixed dtypes": (
        lambda p: prc(
            pl.DataFrame({"a": [0.5], "b": [0.5]}, schema={"a": pl.Float64, "b": pl.Float32})
        ).unpivot_scores(["a", "b"]),
        "differ in dtype",
    ),
    "unpivot: none": (lambda p: p.unpivot_scores([]), "at least one score column"),
    "unpivot: twice": (lambda p: p.unpivot_scores(["score", "score"]), "name each score column once"),
    "unpivot: name taken": (lambda p: p.unpivot_scores(["score"], name="g"), "two columns 'g'"),
    "unpivot: class of another dtype": (
        lambda p: p.unpivot_scores(label="label", scores={"cat": "score"}),
        "Int64.*'cat'",
    ),
}


@pytest.mark.parametrize("name", AT_THE_CALL)
@pytest.mark.parametrize("door", [prc(GOOD), prc(GOOD.lazy())], ids=["eager", "lazy"])
def test_arguments_fail_at_the_call(door: Any, name: str) -> None:
    call, words = AT_THE_CALL[name]
    with pytest.raises(PrcError, match=words) as raised:
        call(door)
    assert "Resolved plan" not in str(raised.value)


_PARTS = pl.DataFrame({"g": ["a", "b"], "eta": [0.1, 0.2]})


class _NoArray:
    """An object that raises what it likes where NumPy reads it."""

    def __array__(self, *_: object) -> Any:
        raise RuntimeError


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
        (lambda: shift_prior(0.5, 0, 0.1), r"eta_train= takes a fraction above 0 and below 1.*got 0.0"),
        (
            lambda: shift_prior([0.5], 0.5, [0.1, 1]),
            r"eta= takes a fraction above 0 and below 1.*got 1.0",
        ),
        (lambda: shift_prior(0.5, float("nan"), 0.1), r"eta_train= takes a fraction.*got nan"),
        (lambda: shift_prior(0.5, 0.5, "market"), "eta= takes numbers between 0 and 1; got 'market'"),
        (
            lambda: pl.col("p").prc.shift_prior(0.5, 10),
            r"eta= takes a fraction above 0 and below 1.*got 10.0",
        ),
        (lambda: pl.col("p").prc.shift_prior("eta", 0.1), "eta_train= takes a number.*got 'eta'"),
        (
            lambda: pl.col("p").prc.shift_prior(0.5, pl.col("a", "b")),
            "one expression for each column: eta= takes one",
        ),
        (lambda: shift_prior(pl.col("p"), 0.5, [0.1]), r"eta= takes a number.*got \[0.1\]"),
        (lambda: prc([1, 2]), "got list"),  # type: ignore[call-overload]
        (
            lambda: pl.col("score").prc.roc_auc(pl.col("a", "b")),
            "one expression for each column: label= takes one",
        ),
        (
            lambda: pl.col("score").prc.tp("label", weight=pl.all()),
            "one expression for each column: weight= takes one",
        ),
        (
            lambda: pl.col("score").prc.pr_auc("label", pl.col("a", "b")),
            "one expression for each column: eta= takes one",
        ),
        (lambda: pl.col("score").prc.curve("label", metrics=metrics.precision.alias("tp")), "'tp'"),
        (lambda: pl.col("a").prc.tp(3), "got 3"),
        (
            lambda: pl.col("a").prc.metric("f1", "label", [0.1, 0.2]),
            "each returns a single value; got eta=",
        ),
        (lambda: GOOD.prc.curve(np.array(0.1)), r"eta= takes a number, a sequence.*got array\(0.1\)"),
        (
            lambda: GOOD.prc.curve(0.1, metrics=np.array("f1")),
            "metrics= takes names or metrics; got array",
        ),
        (
            lambda: GOOD.prc.curve(0.1, label=pl.col("kind"), score={"spam": "score"}),
            "label= takes the name of the column of classes",
        ),
        (
            lambda: GOOD.prc.curve(field(_PARTS.with_columns(share=pl.lit("half")), parts="g")),
            "column 'share' of the eta= frame is String; expected numbers",
        ),
        (lambda: polars_prcurve.roc_points(_NoArray(), [1]), "label takes Booleans.*got a _NoArray"),
    ],
)
def test_functions_fail_at_the_call(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(PrcError, match=words):
        call()


def test_an_enum_without_the_positive_label_fails_at_the_call() -> None:
    df = GOOD.with_columns(pl.col("kind").cast(pl.Enum(["spam", "ham"])))
    with pytest.raises(PrcError, match="no category 'spma'; did you mean 'spam'"):
        df.prc.sweep(label="kind", pos_label="spma")


CALL_ORDER: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("no metric is named 'nope'", {"metrics": "nope"}, {"metrics": "f1"}),
    ("confidence= takes a level between", {"confidence": 95}, {"confidence": 0.95}),
    ("missing= takes", {"missing": "no"}, {"missing": "raise"}),
    ("there is no column 'gg' for by=", {"by": "gg"}, {"by": "g"}),
    ("score column 'kind' is String", {"score": "kind"}, {"score": "score"}),
    ("label column 'kind' is String", {"label": "kind"}, {"label": "label"}),
    ("there is no column 'w' for weight=", {"weight": "w"}, {"weight": "weight"}),
    ("eta= must be a share in", {"eta": 2}, {"eta": 0.1}),
]


@pytest.mark.parametrize("door", [prc(GOOD), prc(GOOD.lazy())], ids=["eager", "lazy"])
def test_at_the_call_errors_come_in_the_order_of_the_contracts_page(door: Any) -> None:
    given = {name: value for _, wrong, _ in CALL_ORDER for name, value in wrong.items()}
    for words, _, right in CALL_ORDER:
        with pytest.raises(PrcError, match=words):
            door.curve(**given)
        given |= right
    door.curve(**given)


# Numbers of NumPy -----------------------------------------------------------------------------


SCALARS: dict[Any, tuple[Any, ...]] = {
    0.5: (*(kind(0.5) for kind in (np.float16, np.float32, np.float64, np.longdouble)), Fraction(1, 2)),
    3: tuple(kind(3) for kind in (np.int8, np.uint8, np.int32, np.int64, np.uint64)),
    True: (np.True_,),
}
"""Values of Python, and those that are the same number in NumPy."""


def ask(call: Call, argument: str, value: Any) -> Any:
    """Return the answer, or the words of the error, in which the value itself stands in its own way."""
    try:
        answer = call.find(call.table)(**{**call.plain, argument: value})
    except PrcError as error:
        return re.sub(r"got .*|threshold=\S+", "", str(error))
    return answer.verdicts if isinstance(answer, Decision) else answer


def is_taken(call: Call, argument: str, value: Any) -> bool:
    """Return whether an argument takes a value, found before any work on a table."""
    table = None if call.table is None else never_computed(call.table)
    try:
        call.find(table)(**{**call.plain, argument: value})
    except Exception as error:
        return has_computed(error) or "needs a DataFrame" in str(error)
    return True


SLOW = ("decide", "sample_size", "compare")
"""Methods that take seconds for all their arguments."""


@pytest.mark.quick_cases(10)
@pytest.mark.parametrize(
    "name",
    slow_unless(
        lambda name: is_no_chart(name) and name not in SLOW, [n for n in CALLS if n[:7] != "charts."]
    ),
)
def test_a_number_of_numpy_means_what_it_does_in_python(name: str) -> None:
    """An answer is compared with that to one of the kinds, in turns; a refusal is for all."""
    call = CALLS[name]
    for number, argument in enumerate(call.arguments()):
        for value, others in SCALARS.items():
            if not is_taken(call, argument, value):
                for other in others:
                    assert not is_taken(call, argument, other), f"{argument}={other!r}"
                continue
            if name.startswith("plot.") or argument == "pos_label":
                continue  # charts draw what methods answer; labels are compared in their own dtype
            seed = {"seed": 1} if "seed" in call.arguments() and argument != "seed" else {}
            seeded = call._replace(plain=call.plain | seed)
            expected = ask(seeded, argument, value)
            other = others[number % len(others)]
            assert_same_answer(ask(seeded, argument, other), expected, f"{argument}={other!r}")


# Names of columns -----------------------------------------------------------------------------

PATTERNS = ("^score$", "^.*$", "*")
COLUMN_ARGUMENTS = {
    "by": lambda name: name,
    "score": lambda name: name,
    "label": lambda name: name,
    "weight": lambda name: name,
    "model": lambda name: name,
    "id": lambda name: name,
    "cluster": lambda name: name,
    "counts": lambda name: (name, name),
    "rates": lambda name: (name, name),
    "scores": lambda name: [name, "b"],
}
NO_COLUMNS = {
    "unpivot_scores": ("label", "score"),
    "classes": ("score",),
    "weighed sample": ("by", "model", "weight"),
}
"""Arguments that name no column of the table, or that such a call refuses."""
COLUMN_CASES = [
    (name, argument)
    for name, call in CALLS.items()
    for argument in call.arguments()
    if call.table is not None and argument in COLUMN_ARGUMENTS and not name.startswith("plot.")
    if argument not in NO_COLUMNS.get(name, ())
]
COLUMN_CASES.append(("compare", "scores"))  # which are a list in score=
EXTRA: dict[str, dict[str, Any]] = {
    "cluster": {"confidence": 0.9},
    "id": {"confidence": 0.9},
}


def call_for(name: str, argument: str) -> Call:
    """Return a plain call that takes this argument: of a wide table no id, of a reference labels."""
    if name == "compare" and argument in ("counts", "rates", "cells"):
        return CALLS[name]._replace(table=DF, plain={"model": "model", "paired": False})
    if name == "compare" and argument in ("score", "model", "id"):
        return CALLS[name]._replace(table=DF, plain={"model": "model", "id": "id"})
    if name == "estimate_prevalence" and argument == "label":
        return CALLS[name]._replace(plain={"reference": DF})
    return CALLS[name]


def arguments_for(name: str, argument: str, column: str) -> dict[str, Any]:
    """Return the plain arguments of a call, in which one names this column."""
    plain = dict(call_for(name, argument).plain)
    plain |= {k: v for k, v in EXTRA.get(argument, {}).items() if k in CALLS[name].arguments()}
    if name == "classes" and argument == "scores":
        return plain | {"scores": {1: column, 0: "b"}}
    if name == "compare" and argument == "scores":
        return plain | {"score": [column, "b"]}
    if name == "estimate_prevalence" and argument == "counts":
        return plain | {"counts": column}
    return plain | {argument: COLUMN_ARGUMENTS[argument](column)}


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(("name", "argument"), COLUMN_CASES)
def test_a_name_is_never_read_as_a_pattern(name: str, argument: str, pattern: str) -> None:
    call, given = call_for(name, argument), arguments_for(name, argument, pattern)
    assert call.table is not None
    for door in (call.table, call.table.lazy()):
        with pytest.raises(PrcError, match=re.escape(repr(pattern))):
            call.find(door)(**given)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("argument", "pattern"),
    pair_each(["score", "label", "weight", "model", "id", "scores"], PATTERNS),
)
def test_a_column_that_is_named_like_a_pattern_is_read(argument: str, pattern: str) -> None:
    cases = {
        "score": ("sweep", {}),
        "label": ("sweep", {}),
        "weight": ("sweep", {"weight": "w"}),
        "model": ("ranking", {"eta": 0.1}),
        "id": ("ranking", {"eta": 0.1, "confidence": 0.9, "id": "id"}),
        "scores": ("compare", {"score": ["score", "w2"]}),
    }
    method, plain = cases[argument]
    df = DF.with_columns(w2=pl.lit(1, pl.Int16), w=pl.int_range(pl.len()) / 7)
    df = df.with_columns(w2=(pl.col("id") % 4).cast(pl.Int16))
    column = {"weight": "w", "scores": "score"}.get(argument, argument)
    # The column under test moves to the odd name; a decoy of its old name would be found by a pattern.
    odd = df.with_columns(pl.col(column).alias(pattern), pl.col(column).reverse().alias("decoy"))
    odd = odd.drop(column).rename({"decoy": column}) if column != "id" else odd
    given = plain | ({"score": [pattern, "w2"]} if argument == "scores" else {argument: pattern})
    expected = getattr(df.prc, method)(**plain)
    for door in (odd.prc, odd.lazy().prc):
        found = getattr(door, method)(**given).lazy().collect()
        if argument == "scores":
            found = found.with_columns(model_a=expected["model_a"], model_b=expected["model_b"])
        assert_frame_equal(found, expected)


@pytest.mark.parametrize("argument", ["label", "weight"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_expressions_read_a_name_as_it_is(argument: str, pattern: str) -> None:
    df = DF.select("score", "label", w=pl.int_range(pl.len()) / 7)
    column = {"label": "label", "weight": "w"}[argument]
    odd = df.with_columns(pl.col(column).alias(pattern), pl.col(column).reverse())
    names = {"label": "label", "weight": "w"}
    expected = df.select(pl.col("score").prc.tp(**names))
    assert odd.select(pl.col("score").prc.tp(**names | {argument: pattern})).equals(expected)
    with pytest.raises(pl.exceptions.ColumnNotFoundError):
        df.select(pl.col("score").prc.tp(**names | {argument: pattern}))


SEVERAL = [pl.all(), pl.selectors.numeric(), pl.col("score", "id"), pl.exclude("day")]


@pytest.mark.parametrize("several", SEVERAL, ids=str)
@pytest.mark.parametrize(
    ("name", "argument"), [case for case in COLUMN_CASES if case[1] not in ("by", "scores")]
)
def test_several_columns_are_not_one(name: str, argument: str, several: pl.Expr) -> None:
    call = call_for(name, argument)
    if name in ("unpivot_scores", "classes"):
        return  # which take names alone
    assert call.table is not None
    table = call.table
    for column in {"score", "id"} - set(table.columns):
        table = table.with_columns(pl.lit(1).alias(column))
    given = arguments_for(name, argument, several)  # type: ignore[arg-type]
    with pytest.raises(PrcError, match=f"{argument}= must be one column"):
        call.find(table)(**given)


def test_an_expression_that_is_a_pattern_is_refused() -> None:
    with pytest.raises(PrcError, match="as a pattern"):
        DF.prc.sweep(score=pl.col("^sco.*$"))


def test_other_columns_of_a_wide_table_keep_odd_names() -> None:
    wide = pl.DataFrame({"a": [1, 2], "b": [3, 4], "^a$": [5, 6], "*": [7, 8]})
    long = wide.prc.unpivot_scores(["a", "b"], row="row")
    assert long["^a$"].to_list() == [5, 5, 6, 6]
    assert long["*"].to_list() == [7, 7, 8, 8]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_an_eta_frame_carries_no_pattern(pattern: str) -> None:
    etas = pl.DataFrame({"eta": [0.1], pattern: [1]})
    for door in (DF.prc, DF.lazy().prc):
        with pytest.raises(PrcError, match=re.escape(f"rename the column {pattern!r}")):
            door.curve(etas)


def test_a_long_list_of_columns_is_cut() -> None:
    df = pl.DataFrame({f"column_{i}": [0] for i in range(3_000)} | {"\x1b]0;x\x07": [0]})
    with pytest.raises(PrcError) as error:
        df.prc.sweep()
    assert len(str(error.value)) < 3_000
    with pytest.raises(PrcError, match="choose from: \N{SYMBOL FOR ESCAPE}]0;x"):
        df.select("\x1b]0;x\x07").prc.sweep()


SEEDED = {name: {"seed": 1} for name, call in CALLS.items() if "seed" in call.arguments()}


OF_GROUPS = [
    name for name in TABLES if is_no_chart(name) and {"by", "time"} & set(CALLS[name].arguments())
]


@pytest.mark.parametrize("name", slow_unless(lambda name: name not in SLOW, OF_GROUPS))
def test_group_columns_may_have_no_name(name: str) -> None:
    call = CALLS[name]
    assert call.table is not None
    argument = "time" if name == "monitor" else "by"
    answers = []
    for key in ("", "key"):
        table = call.table.with_columns((pl.int_range(pl.len()) // 400).alias(key))
        try:
            answer = call.find(table)(**{**call.plain, argument: key, **SEEDED.get(name, {})})
        except PrcError as error:
            answers.append(str(error).replace(repr(key), ""))
            continue
        answer = answer.verdicts if isinstance(answer, Decision) else answer
        answers.append(answer.rename({key: "key"}) if key in answer.columns else answer)
    assert_same_answer(answers[0], answers[1], name)


# Hints ----------------------------------------------------------------------------------------

CODE = re.compile(r"\.prc\.\w+\(.*?\)(?=$|[ ;,])|metrics\.\w+\(.*?\)(?=$|[ ;,])", re.M)
NAMES = [
    *POINT_METRICS,
    *CURVE_METRICS,
    *(n for n, v in DECLARED_BY_NAME.items() if inspect.isfunction(v)),
]
NAMES = [name for name in NAMES if name != "point"]


def find_error(ask: Callable[[], object]) -> PrcError | None:
    """Return the error that a call raises, if any."""
    try:
        ask()
    except PrcError as error:
        return error
    return None


@pytest.mark.quick_cases(16)
@pytest.mark.parametrize("name", [*NAMES, "best(f1)", "f_beta(2)", "best_f1", "ppv", "ap", "nothing"])
def test_code_in_hints_on_metrics_runs(name: str) -> None:
    df = DF.select("score", "label")
    asked = (
        lambda: df.prc.curve(0.1, metrics=name),
        lambda: df.prc.summary(0.1, metrics=name, columns="all"),
        lambda: df.prc.operating_points(0.1, recall=0.5, metrics=name, columns="all"),
        lambda: df.prc.operating_points(0.1, maximize=name, columns="all"),
        lambda: df.select(pl.col("score").prc.summary(name, "label", 0.1)),
        lambda: df.select(pl.col("score").prc.metric(name, "label", 0.1)),
    )
    errors = [error for ask in asked if (error := find_error(ask)) is not None]
    for code in CODE.findall("\n".join(map(str, errors))):
        if code.startswith("metrics."):
            assert isinstance(eval(code), metrics.PointMetric | metrics.CurveMetric)
        else:
            eval(f"df{code}", {"df": df})
    assert errors, "no method refuses it"


@pytest.mark.parametrize("text", ["best(f1)", "f_beta(2)", "precision_at_recall(0.5)"])
def test_names_of_tables_are_names_of_metrics(text: str) -> None:
    """A metric can be asked for by the name that its rows bear."""
    df = DF.select("score", "label")
    if text == "f_beta(2)":
        assert text in df.prc.curve(0.1, metrics=text).columns
    else:
        assert df.prc.summary(0.1, metrics=text, columns="all")["metric"].to_list() == [text]


def test_deep_brackets_are_no_metric() -> None:
    with pytest.raises(PrcError, match="no metric is named"):
        DF.prc.curve(0.1, metrics="(" * 20_000)


# Prevalences that are floats but no words -------------------------------------------------------

SCORES = DF.select("score", "label")
EXTREME_ETAS = [1 - 2**-53, 1e-16, 1e-310, 5e-324]
AT_TARGETS: dict[str, dict[str, Any]] = {word: {word: 0.5} for word in TARGET_KINDS} | {
    "alerts": {"alerts": 50, "per": 1_000},
    "lift": {"lift": 1.1},
    "maximize": {"maximize": "f1"},
    "threshold": {"threshold": 5},
    "nothing": {},
}
OF_ETA = (
    "alerts",
    "decision_curve",
    "difference",
    "gain_curve",
    "metric_by_eta",
    "p3_curve",
    "pr_curve",
)
OF_ETA += ("prg_curve", "ranking", "reliability", "roc_curve", "threshold_curve")
"""Charts that a prevalence is passed to; that of monitor counts it."""


def plot_at(chart: str, eta: Any) -> Any:
    """Return a chart at a prevalence, beside another one where a chart has several."""
    call = CALLS[f"plot.{chart}"]
    plain = {**call.plain, "eta": [eta, 0.1] if isinstance(call.plain.get("eta"), list) else eta}
    plain |= {"eta_train": 0.5} if chart in ("decision_curve", "reliability") else {}
    return call.find(call.table)(**plain)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("eta", EXTREME_ETAS)
def test_a_decision_or_chart_refuses_a_prevalence_that_no_words_tell_from_0_or_1(eta: float) -> None:
    assert {*OF_ETA} | {"monitor", "scores"} == {*list_charts()}
    words = rf"got {re.escape(repr(eta))}, which would be printed as 0 or 1"
    frame = pl.DataFrame({"eta": [eta]})
    turn = EXTREME_ETAS.index(eta)
    for at_target in [*AT_TARGETS.values()][turn :: len(EXTREME_ETAS)]:
        with pytest.raises(PrcError, match=words):
            SCORES.prc.decide(eta, **at_target)
    for etas in ([0.1, eta], frame):
        with pytest.raises(PrcError, match=words):
            SCORES.prc.decide(etas, recall=0.5)
    own = SCORES.prc(weight=pl.when("label").then(eta).otherwise(1 - eta))
    with pytest.raises(PrcError, match=r"got .*, which would be printed as 0 or 1"):
        own.decide(recall=0.5)
    for chart in OF_ETA[turn % 2 :: 2]:
        with pytest.raises(PrcError, match=words):
            plot_at(chart, eta)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("eta", EXTREME_ETAS)
def test_tables_are_right_at_prevalences_that_no_words_tell_from_0_or_1(
    eta: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    SCORES.write_csv(tmp_path / "scores.csv")
    for found in (
        SCORES.prc.operating_points(
            eta, recall=0.5, columns="all", metrics="precision", confidence=0.95
        ),
        SCORES.prc.curve(eta, metrics="precision"),
    ):
        for recall, fpr, precision in found.select("recall", "fpr", "precision").iter_rows():
            tp, fp = Fraction(recall) * Fraction(eta), Fraction(fpr) * (1 - Fraction(eta))
            assert math.isclose(precision, tp / (tp + fp), rel_tol=1e-15, abs_tol=5e-324)
    assert main(["summary", str(tmp_path / "scores.csv"), "--eta", repr(eta), "-o", "-"]) == 0
    assert "inf" not in capsys.readouterr().out.lower()


ENDS = [1e-15, 1 - 1e-15]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("eta", ENDS)
@pytest.mark.parametrize("word", slow_unless(lambda word: word in ("recall", "alerts"), AT_TARGETS))
def test_the_least_and_the_largest_prevalence_of_documents_have_words(
    word: str, eta: float, tmp_path: Path
) -> None:
    decision = SCORES.prc.decide(eta, **AT_TARGETS[word])
    texts = [str(decision), decision.model_card(), decision._repr_markdown_()]
    for name in ("report", "page"):
        path = tmp_path / f"{name}.html"
        getattr(decision, name)(path)
        texts.append(path.read_text(encoding="utf-8"))
    for text in texts[:3]:
        assert ("1,000,000,000,000,000" if eta < 0.5 else "99.9999999999999%") in text.replace("\n", " ")
        assert not re.search(r"\b(nan|inf)\b", text)


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("eta", ENDS)
@pytest.mark.parametrize("chart", OF_ETA)
def test_the_least_and_the_largest_prevalence_can_be_drawn(chart: str, eta: float) -> None:
    assert plot_at(chart, eta).to_dict()


METHODS = [name for name in dir(GOOD.prc) if not name.startswith("_") and name != "plot"]


@pytest.mark.parametrize("name", METHODS)
def test_a_target_leads_to_the_method_that_takes_it(name: str) -> None:
    method = getattr(GOOD.prc, name)
    parameters = inspect.signature(method).parameters
    if not {"score", "label"} & parameters.keys():
        return
    for word in {*TARGET_WORDS} - parameters.keys() - {"per"}:
        with pytest.raises(TypeError, match=r"method operating_points|precision_at_recall"):
            method(**{word: 0.5})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("auprc", "is used for two metrics: pass 'average_precision'"),
        ("sensitivity", "did you mean 'recall'"),
        ("precison", "did you mean 'precision'"),
        ("average_precission", "did you mean 'average_precision'"),
        ("nope", "choose from: CurveMetric, PointMetric, accuracy"),
    ],
)
def test_an_attribute_that_no_metric_has_is_met_with_a_hint(name: str, hint: str) -> None:
    with pytest.raises(AttributeError, match=hint):
        getattr(metrics, name)


@pytest.mark.parametrize("method", ["curve", "operating_points"])
def test_a_misspelt_area_is_sent_to_summary(method: str) -> None:
    words = {} if method == "curve" else {"recall": 0.5}
    df = pl.DataFrame({"score": [1, 2], "label": [0, 1]})
    with pytest.raises(PrcError, match=r"did you mean 'average_precision'\? .* use \.prc\.summary\(\)"):
        getattr(df.prc, method)(metrics="average_precission", **words)
