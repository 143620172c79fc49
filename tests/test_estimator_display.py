"""Displays: the numbers of scikit-learn's at the own prevalence, and its conventions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sklearn.datasets import make_classification
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, precision_recall_curve
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from polars_prcurve import PrcError, PrevalenceDisplay, from_cv_results

X, Y = make_classification(400, 6, weights=[0.8], flip_y=0.2, random_state=3)
NAMES = np.where(Y == 1, "fraud", "ok")
MODEL = LogisticRegression().fit(X, Y)
SCORES = MODEL.decision_function(X)
BY_NAME = LogisticRegression().fit(X, NAMES)  # whose classes are fraud and ok, in this order


def test_at_the_own_prevalence_it_is_scikit_learns() -> None:
    weight = np.arange(len(Y)) % 4 + 1.0
    for sample_weight in (None, weight):
        options = {"sample_weight": sample_weight}
        display = PrevalenceDisplay.from_predictions(Y, SCORES, **options)
        precision, recall, _ = precision_recall_curve(Y, SCORES, **options)
        assert display.precision == pytest.approx(precision[-2::-1], rel=1e-12)
        assert display.recall == pytest.approx(recall[-2::-1], rel=1e-12)
        expected = average_precision_score(Y, SCORES, **options)
        assert display.average_precision == pytest.approx(expected, rel=1e-12)
        assert display.eta == pytest.approx(np.average(Y, weights=sample_weight), rel=1e-12)


def test_a_display_reads_the_tables() -> None:
    display = PrevalenceDisplay.from_predictions(Y, SCORES, eta=[0.3, 0.01], confidence=0.95)
    table = pl.DataFrame({"model": "Classifier", "score": SCORES, "label": Y})
    assert_frame_equal(display.curve, table.prc.curve([0.3, 0.01], by="model", confidence=0.95))
    asked: dict[str, Any] = {"metrics": "average_precision", "confidence": 0.95}
    assert_frame_equal(
        display.summary, table.prc.summary([0.3, 0.01], by="model", columns="all", **asked)
    )
    assert display.eta == [0.01, 0.3]
    assert display.average_precision == display.summary["value"].to_list()
    assert display.name == ["Classifier"] * 2
    for eta, precision, recall in zip(display.eta, display.precision, display.recall, strict=True):
        rows = display.curve.filter(eta=eta)
        assert precision.tolist() == rows["precision"].to_list()
        assert recall.tolist() == rows["recall"].to_list()
    one = PrevalenceDisplay(table.prc(), eta=0.01)
    assert one.name is None
    assert repr(one) == "<PrevalenceDisplay of None>"
    assert one.precision.tolist() == display.precision[0].tolist()


def test_undefined_is_nan() -> None:
    display = PrevalenceDisplay.from_predictions([1, 1], [0.5, 0.1], eta=0.1)
    assert np.isnan(display.precision).all()
    assert math.isnan(display.average_precision)


@pytest.mark.parametrize(
    ("model", "way"),
    [
        (MODEL, "predict_proba"),
        (LinearSVC(random_state=0).fit(X, Y), "decision_function"),
        (make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y), "predict_proba"),
    ],
)
def test_scores_of_an_estimator(model: Any, way: str) -> None:
    scores = getattr(model, way)(X)
    scores = scores[:, 1] if scores.ndim == 2 else scores
    display = PrevalenceDisplay.from_estimator(model, X, Y, eta=0.01)
    assert pl.DataFrame(display.test)["score"].to_list() == scores.tolist()
    assert display.name == type(model).__name__
    named = PrevalenceDisplay.from_estimator(model, X, Y, eta=0.01, name="mine", response_method=way)  # type: ignore[arg-type]
    assert named.name == "mine"
    assert named.average_precision == display.average_precision


def test_the_method_for_scores_may_be_chosen() -> None:
    asked: dict[str, Any] = {"response_method": "decision_function"}
    display = PrevalenceDisplay.from_estimator(MODEL, X, Y, **asked)
    assert pl.DataFrame(display.test)["score"].to_list() == SCORES.tolist()
    turned = PrevalenceDisplay.from_estimator(BY_NAME, X, NAMES, pos_label="fraud", **asked)
    assert pl.DataFrame(turned.test)["score"].to_list() == pytest.approx(SCORES.tolist(), rel=1e-4)
    asked = {"response_method": "predict_proba"}
    with pytest.raises(PrcError, match="with predict_proba; LinearSVC has none"):
        PrevalenceDisplay.from_estimator(LinearSVC().fit(X, Y), X, Y, **asked)
    with pytest.raises(
        PrcError, match='response_method= takes "auto", "predict_proba" or "decision_fun'
    ):
        PrevalenceDisplay.from_estimator(MODEL, X, Y, response_method="predict")  # type: ignore[arg-type]


def test_words_as_labels_need_the_positive_one() -> None:
    """As in scikit-learn; it takes the last class of an estimator, which may be the wrong one."""
    for label in ("fraud", "ok"):
        display = PrevalenceDisplay.from_estimator(BY_NAME, X, NAMES, pos_label=label)
        positive = BY_NAME.predict_proba(X)[:, ["fraud", "ok"].index(label)]
        again = PrevalenceDisplay.from_predictions(NAMES, positive, pos_label=label)
        expected = average_precision_score(label == NAMES, positive)
        assert display.average_precision == again.average_precision == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"^pass pos_label=.*classes of the estimator are fraud, ok"):
        PrevalenceDisplay.from_estimator(BY_NAME, X, NAMES)
    with pytest.raises(
        ValueError, match=r"^label takes .*, or any labels with pos_label=; got an array"
    ):
        PrevalenceDisplay.from_predictions(NAMES, SCORES)
    with pytest.raises(ValueError, match=r"pos_label='frau'; did you mean 'fraud'\?"):
        PrevalenceDisplay.from_predictions(NAMES, SCORES, pos_label="frau")
    with pytest.raises(PrcError, match=r"y takes the classes of the estimator, .*; got 'spam'"):
        PrevalenceDisplay.from_estimator(BY_NAME, X, np.where(Y, "fraud", "spam"), pos_label="fraud")


def test_folds_are_one_curve_and_repeats_one_cluster() -> None:
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    flags: dict[str, Any] = {"cv": cv, "return_estimator": True, "return_indices": True}
    found = {
        name: cross_validate(model, X, Y, **flags)
        for name, model in {"a": LogisticRegression(), "b": GaussianNB()}.items()
    }
    display = PrevalenceDisplay.from_cv_results(found["a"], X, Y, eta=0.05, confidence=0.95)
    assert display.name == "LogisticRegression"
    asked: dict[str, Any] = {"metrics": "average_precision", "confidence": 0.95}
    expected = from_cv_results(found["a"], X, Y).summary(0.05, columns="all", **asked)
    assert_frame_equal(display.summary.drop("model"), expected)
    assert PrevalenceDisplay.from_cv_results(found["a"], X, Y, name="mine").name == "mine"
    both = PrevalenceDisplay.from_cv_results(found, X, Y, eta=0.05)
    assert both.name == ["a", "b"]
    assert repr(both) == "<PrevalenceDisplay of a, b>"
    assert both.average_precision[0] == pytest.approx(display.average_precision)
    assert both.test.compare(0.05, metrics="average_precision", columns="all").height == 1
    with pytest.raises(PrcError, match=r"leave out name=: .*; got name='mine'"):
        PrevalenceDisplay.from_cv_results(found, X, Y, name="mine")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((Y, SCORES[1:]), "label has 400, score has 399"),
        ((Y, NAMES), "y_score takes numbers; got an array of dtype"),
        ((Y, np.where(Y, np.nan, SCORES)), r"NaN"),
    ],
)
def test_what_is_no_prediction(given: Any, sentence: str) -> None:
    with pytest.raises(PrcError, match=sentence):
        PrevalenceDisplay.from_predictions(*given)


def test_what_is_no_test() -> None:
    with pytest.raises(PrcError, match=r"test= takes a bound table, such as df.prc\(\) of a DataFrame"):
        PrevalenceDisplay(pl.DataFrame({"score": [1]}))  # type: ignore[arg-type]
    with pytest.raises(PrcError, match="weight"):
        PrevalenceDisplay.from_predictions(Y, SCORES, sample_weight=-np.ones(len(Y)))
    forest = IsolationForest(n_estimators=2, random_state=0).fit(X)
    with pytest.raises(PrcError, match="IsolationForest"):
        PrevalenceDisplay.from_estimator(forest, X, Y, response_method="predict_proba")
    for make in (PrevalenceDisplay.from_predictions, PrevalenceDisplay):
        with pytest.raises(TypeError, match="'prevalence'; did you mean 'eta'"):
            make(Y, prevalence=0.01)  # type: ignore[operator]
    with pytest.raises(
        TypeError, match=r"takes 2 positional arguments, y_true and y_score; got an extra one, 0.01"
    ):
        PrevalenceDisplay.from_predictions(Y, SCORES, 0.01)  # type: ignore[misc]


def test_the_chart_is_the_one_of_the_table() -> None:
    display = PrevalenceDisplay.from_estimator(MODEL, X, Y, eta=0.01, confidence=0.95)
    expected = display.test.plot.pr_curve(0.01, confidence=0.95).to_dict()
    assert display.plot().to_dict() == expected
    assert display.plot(title="Mine").to_dict()["title"]["text"] == ["Mine"]
    points = display.test.operating_points(0.01, recall=0.5, columns="all")
    assert display.plot(points=points).to_dict() != expected
    assert display._repr_mimebundle_().keys() == display.plot()._repr_mimebundle_().keys()
    assert "vegaEmbed" in display._repr_mimebundle_()["text/html"]
