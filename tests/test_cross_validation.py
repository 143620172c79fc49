"""Tables of held-out scores: which model scored which example, and which rows are one example."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import (
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from polars_prcurve import PrcError, from_cv_results, from_folds, prc

X, Y = make_classification(300, 6, weights=[0.8], flip_y=0.2, random_state=3)
NAMES = np.where(Y == 1, "fraud", "ok")


def validate(model: Any, cv: Any, x: Any = X, y: Any = Y, **options: Any) -> Any:
    return cross_validate(model, x, y, cv=cv, return_estimator=True, return_indices=True, **options)


@pytest.mark.parametrize("make", [LogisticRegression, lambda: LinearSVC(random_state=0)])
def test_one_repeat_is_what_scikit_learn_predicts(make: Any) -> None:
    cv = KFold(4)
    way = "predict_proba" if make is LogisticRegression else "decision_function"
    scores = cross_val_predict(make(), X, Y, cv=cv, method=way)
    expected = scores[:, 1] if scores.ndim == 2 else scores
    test = from_cv_results(validate(make(), cv), X, Y)
    frame = pl.DataFrame(test).sort("example")
    assert frame["example"].to_list() == list(range(300))
    assert frame["score"].to_list() == expected.tolist()
    assert frame["label"].to_list() == (Y == 1).tolist()
    assert frame["fold"].to_list() == [i // 75 for i in range(300)]
    assert set(frame["repeat"]) == {0}
    assert repr(test) == "<prc of 300 rows: no columns named; use .prc(score=..., label=..., by=...)>"
    assert pl.DataFrame(test).schema == {
        **dict.fromkeys(("example", "repeat", "fold"), pl.Int64),
        **{"score": pl.Float64, "label": pl.Boolean},
    }


def test_a_fold_holds_the_examples_and_the_model_of_its_result() -> None:
    found = validate(LogisticRegression(), RepeatedStratifiedKFold(n_splits=3, n_repeats=2))
    frame = pl.DataFrame(from_cv_results(found, X, Y))
    for fold, (model, test) in enumerate(zip(found["estimator"], found["indices"]["test"], strict=True)):
        rows = frame.filter(fold=fold)
        assert rows["example"].to_list() == test.tolist()
        assert rows["score"].to_list() == model.predict_proba(X[test])[:, 1].tolist()
        assert set(rows["repeat"]) == {fold // 3}
    values = prc(frame, by="fold").summary(metrics="average_precision", columns="all")["value"]
    expected = validate(LogisticRegression(), KFold(3), scoring="average_precision")["test_score"]
    again = from_cv_results(validate(LogisticRegression(), KFold(3)), X, Y)
    values = again.summary(by="fold", metrics="average_precision", columns="all")["value"]
    assert values.to_list() == pytest.approx(expected.tolist(), rel=1e-12)


def test_rows_of_an_example_are_one_cluster() -> None:
    """Three copies of a repeat are no news; taken as independent they would be."""
    cv = list(KFold(4).split(X))
    once = from_cv_results(validate(LogisticRegression(), cv), X, Y)
    thrice = from_cv_results(validate(LogisticRegression(), cv * 3), X, Y)
    assert pl.DataFrame(thrice)["repeat"].unique(maintain_order=True).to_list() == [0, 1, 2]
    assert repr(thrice) == "<prc of 900 rows: cluster='example'>"
    asked: dict[str, Any] = {"eta": 0.05, "metrics": "average_precision", "confidence": 0.95}
    one, three = (test.summary(columns="all", **asked, cluster="example") for test in (once, thrice))
    naive = thrice.summary(columns="all", **asked, cluster=None)
    width = [(row["high"] - row["low"]).item() for row in (one, three, naive)]
    assert three["value"].item() == pytest.approx(one["value"].item(), rel=1e-12)
    assert width[1] == pytest.approx(width[0], rel=0.05)
    assert width[2] < 0.65 * width[0]


def test_models_are_paired_by_example_and_repeat() -> None:
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    found = {"logistic": validate(LogisticRegression(), cv), "bayes": validate(GaussianNB(), cv)}
    test = from_cv_results(found, X, Y)
    assert repr(test) == (
        "<prc of 1200 rows: model='model', id=['example', 'repeat'], cluster='example'>"
    )
    both = [pl.DataFrame(from_cv_results(each, X, Y)) for each in found.values()]
    named = [
        frame.insert_column(0, pl.Series("model", [name] * 600))
        for name, frame in zip(found, both, strict=True)
    ]
    assert_frame_equal(pl.DataFrame(test), pl.concat(named))
    compared = test.compare(0.05, metrics="average_precision", columns="all")
    assert compared.select("model_a", "model_b").row(0) == ("bayes", "logistic")
    assert compared["low"].item() < compared["difference"].item() < compared["high"].item()
    naive = test.compare(0.05, metrics="average_precision", cluster=None, columns="all")
    assert naive["standard_error"].item() < compared["standard_error"].item()
    assert test.ranking(0.05, confidence=0.95, columns="all").height == 2


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "data",
    [
        X.tolist(),
        pl.DataFrame(X),
        pytest.param("pandas", id="pandas"),
        pytest.param("sparse", id="sparse"),
    ],
)
def test_data_of_every_kind(data: Any) -> None:
    if isinstance(data, str):
        module = pytest.importorskip("pandas" if data == "pandas" else "scipy.sparse")
        data = module.DataFrame(X) if data == "pandas" else module.csr_matrix(X)
    y = pl.Series(Y) if isinstance(data, pl.DataFrame) else Y
    found = validate(LogisticRegression(), KFold(3), data, np.asarray(Y))
    assert_frame_equal(
        pl.DataFrame(from_cv_results(found, data, y)),
        pl.DataFrame(from_cv_results(validate(LogisticRegression(), KFold(3)), X, Y)),
        rel_tol=1e-6,
    )


def test_words_as_labels_need_the_positive_one() -> None:
    found = validate(LogisticRegression(), KFold(3), y=NAMES)
    test = from_cv_results(found, X, NAMES, pos_label="fraud")
    expected = from_cv_results(validate(LogisticRegression(), KFold(3)), X, Y)
    assert_frame_equal(pl.DataFrame(test), pl.DataFrame(expected), rel_tol=1e-6)
    with pytest.raises(PrcError, match=r"^pass pos_label=.*classes of the estimator are fraud, ok"):
        from_cv_results(found, X, NAMES)
    with pytest.raises(PrcError, match=r"pos_label='frau'; did you mean 'fraud'\?"):
        from_cv_results(found, X, NAMES, pos_label="frau")


def test_folds_of_ones_own_are_those_of_scikit_learn() -> None:
    cv = ShuffleSplit(5, test_size=0.3, random_state=1)
    found = validate(LogisticRegression(), cv)
    folds = [
        (test, LogisticRegression().fit(X[train], Y[train]).predict_proba(X[test])[:, 1])
        for train, test in cv.split(X)
    ]
    expected = from_cv_results(found, X, Y)
    test = from_folds(iter(folds), Y)
    assert_frame_equal(pl.DataFrame(test), pl.DataFrame(expected))
    assert repr(test) == repr(expected)
    rows = pl.DataFrame(test).group_by("repeat", "example").len()
    assert rows["len"].max() == 1, "an example once in a repeat, however folds overlap"
    together = from_folds({"a": folds, 2: folds}, Y)
    assert pl.DataFrame(together)["model"].unique(maintain_order=True).to_list() == ["a", "2"]
    pooled = average_precision_score(Y[pl.DataFrame(test)["example"]], pl.DataFrame(test)["score"])
    found_ap = test.summary(metrics="average_precision", columns="all")["value"].item()
    assert found_ap == pytest.approx(pooled, rel=1e-12)


@pytest.mark.parametrize(
    ("folds", "sentence"),
    [
        ([], "expected one fold or more; got none"),
        ({}, "expected one model or more; got an empty mapping"),
        ([([0, 1], [0.5])], "rows has 2, scores has 1"),
        (
            [([0, 4], [0.5, 0.1])],
            r"^pass the data that .*: fold 0 tests row 4, and y has 4 rows, from 0",
        ),
        ([([-1], [0.5])], "fold 0 tests row -1"),
        ([([0, 0], [0.5, 0.1])], "fold 0 tests a row twice"),
        ([([0.5], [0.5])], "the test of a fold takes row numbers; got an array of dtype float64"),
        ([([0], ["a"])], "the score of a fold takes numbers; got an array of dtype"),
        ([0.5, 0.1], "folds takes a pair of arrays for each fold"),
        (3, "folds takes a pair of arrays for each fold, .*; got 3"),
    ],
)
def test_what_is_no_fold(folds: Any, sentence: str) -> None:
    with pytest.raises(PrcError, match=sentence):
        from_folds(folds, [0, 1, 0, 1])


def test_what_is_no_result_of_a_cross_validation() -> None:
    for given, got in (
        (cross_validate(LogisticRegression(), X, Y), "a mapping with fit_time, score_time"),
        ({"a": 1}, "1"),
    ):
        with pytest.raises(
            PrcError, match=rf"^expected what cross_validate\(.*, with both flags; got .*{got}"
        ):
            from_cv_results(given, X, Y)
    with pytest.raises(PrcError, match=r"^cv_results takes what cross_validate"):
        from_cv_results([1], X, Y)  # type: ignore[arg-type]
    with pytest.raises(PrcError, match=r"got .* of 100 rows, and a fold tests row \d+"):
        from_cv_results(validate(LogisticRegression(), KFold(3)), X[:100], Y)
    with pytest.raises(PrcError, match="and y has 100 rows"):
        from_cv_results(validate(LogisticRegression(), KFold(3)), X, Y[:100])
