"""Scorers as training loops call them: scikit-learn, its worker processes, and boosting libraries."""

from __future__ import annotations

import inspect
import math
import multiprocessing
import pickle
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import average_precision_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import polars_prcurve
from polars_prcurve import PrcError, metrics, scorer
from tests.support.importable import cost

PAGE = Path(__file__).parent.parent / "docs" / "training-loops.md"
X, Y = make_classification(400, 6, weights=[0.8], flip_y=0.2, random_state=3)
AP = scorer("average_precision", eta=0.004)
ERROR = scorer(metrics.best(metrics.point("cost", cost, direction="minimize")), eta=0.1)


def summary(y: Any, scores: Any, metric: Any, eta: float | None, weight: Any = None) -> float:
    frame = pl.DataFrame({"score": scores, "label": y, "w": 1.0 if weight is None else weight})
    weights = {} if weight is None else {"weight": "w"}
    value = frame.prc.summary(eta, metrics=metric, columns="all", **weights)["value"].item()
    return math.nan if value is None else value


# The value ------------------------------------------------------------------------------------


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("eta", [0.004, None, 1.0])
@pytest.mark.parametrize("metric", ["average_precision", "pr_auc", "roc_auc", metrics.best("f1")])
def test_a_score_is_the_summary(metric: Any, eta: float | None) -> None:
    scores = LogisticRegression().fit(X, Y).decision_function(X).round(1)
    score = scorer(metric, eta=eta).score
    assert score(Y, scores) == pytest.approx(summary(Y, scores, metric, eta), rel=1e-14)
    weight = np.arange(len(Y)) % 4
    assert score(Y, scores, weight) == pytest.approx(summary(Y, scores, metric, eta, weight), rel=1e-14)


def test_at_the_own_prevalence_it_is_scikit_learns() -> None:
    scores = LogisticRegression().fit(X, Y).decision_function(X)
    expected = average_precision_score(Y, scores)
    assert scorer("average_precision").score(Y, scores) == pytest.approx(expected, rel=1e-12)


def test_undefined_is_nan() -> None:
    for y in ([0, 0], [1, 1], []):
        assert math.isnan(AP.score(y, [0.5, 0.1][: len(y)]))
        assert math.isnan(AP.lightgbm(y, [0.5, 0.1][: len(y)])[1])
    assert scorer("average_precision").score([1, 1], [0.5, 0.1]) == 1


def test_a_name_tells_the_metric_and_the_prevalence() -> None:
    assert AP.name == "average_precision_at_0.004"
    assert scorer("average_precision").name == "average_precision"
    assert scorer("roc_auc", eta=0.1).name == "roc_auc"
    assert scorer(metrics.best("f1").alias("best_f1"), eta=1e-6).name == "best_f1_at_1e-06"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"metric": "avg_precision"}, "did you mean"),
        ({"metric": "precision"}, "needs a threshold"),
        ({"metric": "worst_pr_auc"}, "with a direction: worst_pr_auc has none"),
        (
            {"metric": "pr_auc", "eta": 4},
            r"eta= must be a share in .*; got 4",
        ),
        ({"metric": "pr_auc", "pos_label": {}}, "pos_label= takes one value of the label"),
        ({"metric": "pr_auc", "eta": [0.1]}, r"eta= takes numbers in \[0, 1\]; got \[0.1\]"),
    ],
)
def test_what_a_scorer_refuses(given: dict[str, Any], words: str) -> None:
    with pytest.raises(PrcError, match=words):
        scorer(**given)


def test_labels_and_scores_lead_to_the_method_that_takes_them() -> None:
    for labels in (Y, Y.tolist(), pl.Series(Y)):
        with pytest.raises(
            PrcError, match=r"[.]score\(y, scores\); eval_metric= .* [.]lightgbm or [.]xgboost$"
        ):
            AP(labels, X[:, 0])
    assert AP.__name__ == AP.name, "or XGBoost says that it has none, and not what to pass"


class Data:
    """What data sets of LightGBM and XGBoost answer to a function of theirs."""

    def __init__(self, data: Any, label: Any, weight: Any = None) -> None:
        self.data, self.label, self.weight = data, label, weight

    def get_label(self) -> Any:
        return self.label

    def get_weight(self) -> Any:
        return self.weight


# A Dataset of LightGBM has no weight, and a DMatrix of XGBoost an empty array.
@pytest.mark.parametrize("weight", [None, np.array([], np.float32), np.arange(len(Y)) % 4])
def test_boosting_without_scikit_learn_hands_over_scores_and_data(weight: Any) -> None:
    scores = X[:, 0].astype(np.float32)
    given = weight if weight is not None and len(weight) else None
    expected = AP.score(Y, scores, given)
    assert AP.lightgbm(scores, Data(X, Y, weight)) == (AP.name, expected, True)
    assert AP.xgboost(scores, Data(X, Y, weight)) == (f"neg_{AP.name}", -expected)
    assert AP.xgboost(Y, scores, sample_weight=given) == -expected


def test_xgboost_gets_a_cost_with_a_name() -> None:
    """Its early stopping minimizes what a function returns, unless told otherwise."""
    assert AP.xgboost.__name__ == AP.xgboost.name == "neg_average_precision_at_0.004"
    assert AP.xgboost(Y, X[:, 0]) == -AP.score(Y, X[:, 0])
    assert ERROR.xgboost.name == ERROR.name
    assert ERROR.xgboost(Y, X[:, 0]) == ERROR.score(Y, X[:, 0]) > 0
    assert math.isnan(AP.xgboost([0, 0], [0.5, 0.1]))
    again = pickle.loads(pickle.dumps(AP.xgboost))
    assert again == AP.xgboost == scorer("average_precision", eta=0.004).xgboost
    assert again(Y, X[:, 0]) == AP.xgboost(Y, X[:, 0])
    assert not isinstance(vars(type(AP.xgboost)).get("__name__"), property), "cloudpickle sets it"
    # Names of which XGBoost believes that more is better.
    assert not AP.xgboost.name.startswith(("auc", "aucpr", "pre", "map", "ndcg"))


# scikit-learn ---------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [LogisticRegression, lambda: LinearSVC(random_state=0)])
def test_the_score_of_an_estimator(make: Any) -> None:
    model = make_pipeline(StandardScaler(), make()).fit(X, Y)
    has_proba = hasattr(model, "predict_proba")
    scores = model.predict_proba(X)[:, 1] if has_proba else model.decision_function(X)
    assert AP(model, X, Y) == AP.score(Y, scores)
    assert AP(model, X, Y, sample_weight=Y + 1) == AP.score(Y, scores, Y + 1)


NAMES = np.where(Y == 1, "fraud", "ok")


@pytest.mark.parametrize("make", [LogisticRegression, lambda: LinearSVC(random_state=0)])
def test_words_as_labels_need_the_positive_one(make: Any) -> None:
    """The second class by the alphabet is "ok", which nobody means."""
    model, expected = make().fit(X, NAMES), AP(make().fit(X, Y), X, Y)
    named = scorer("average_precision", eta=0.004, pos_label="fraud")
    assert list(model.classes_) == ["fraud", "ok"]
    for labels in (NAMES, NAMES.tolist(), pl.Series(NAMES), NAMES.astype(object)):
        assert named(model, X, labels) == pytest.approx(expected, rel=1e-9)
    other = scorer("average_precision", eta=0.004, pos_label="ok")
    assert other(model, X, NAMES) != pytest.approx(expected, rel=0.01)
    sentence = r"^pass pos_label=.*pos_label='ok': the classes of the estimator are fraud, ok$"
    with pytest.raises(PrcError, match=sentence):
        AP(model, X, NAMES)
    with pytest.raises(PrcError, match=r"pos_label='frau'; did you mean 'fraud'\?$"):
        scorer("pr_auc", pos_label="frau")(model, X, NAMES)
    with pytest.raises(PrcError, match=r"y takes the classes of the estimator, .*; got 'eggs'"):
        named(model, X, np.where(Y == 1, "fraud", "eggs"))
    assert named.name == AP.name
    assert pickle.loads(pickle.dumps(named)) == named != AP


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("positive", "negative"), [(1, 0), (1, -1), (True, False), (2, 1), (0, 1), ("a", "b"), (0.5, 1)]
)
def test_any_two_classes_with_the_positive_one(positive: Any, negative: Any) -> None:
    labels = np.where(Y == 1, positive, negative)
    if 0.5 in (positive, negative):
        labels = labels.astype(object).astype(str)  # scikit-learn takes no fractions for classes
        positive = "0.5"
    model, expected = LogisticRegression().fit(X, labels), AP(LogisticRegression().fit(X, Y), X, Y)
    named = scorer("average_precision", eta=0.004, pos_label=positive)
    assert named(model, X, labels) == pytest.approx(expected, rel=1e-9)
    scores = model.decision_function(X) * (1 if model.classes_[1] == positive else -1)
    assert named.score(labels, scores) == AP.score(Y, scores)
    assert named.score(labels, scores, Y + 1) == AP.score(Y, scores, Y + 1)
    if {positive, negative} == {0, 1}:
        assert AP(model, X, labels) == scorer("average_precision", eta=0.004, pos_label=1)(
            model, X, labels
        )
    elif {positive, negative} == {-1, 1}:
        assert AP(model, X, labels) == named(model, X, labels)
    else:
        with pytest.raises(PrcError, match="pos_label="):
            AP(model, X, labels)


def test_labels_of_arrays_with_a_positive_one() -> None:
    named = scorer("roc_auc", pos_label="fraud")
    assert math.isnan(named.score(["ok", "ok"], [0.1, 0.2])), "a fold without positives"
    assert named.score(["ok", "fraud", "unsure"], [0.1, 0.2, 0.3]) == 0.5, "one against the rest"
    for labels, words in [
        (["ok", "frau"], r"no label equals pos_label='fraud'; did you mean 'frau'\?"),
        ([1, 0], "no label equals pos_label='fraud'; choose from: 0, 1"),
        (["ok", None], r"label is missing in 1 row"),
        ([["ok"], ["fraud"]], "label takes one array"),
    ]:
        with pytest.raises(PrcError, match=words):
            named.score(labels, [0.5, 0.1])
    with pytest.raises(
        PrcError, match=r"^label takes .* such as label == \"spam\", or .* pos_label=; got"
    ):
        AP.score(NAMES, X[:, 0])
    with pytest.raises(PrcError, match="pos_label= takes one value of the label"):
        scorer("roc_auc", pos_label=["fraud"])


@pytest.mark.parametrize("library", ["LightGBM", "XGBoost"])
def test_boosting_libraries_hand_over_numbers(library: str) -> None:
    named = scorer("roc_auc", pos_label="fraud")
    with pytest.raises(PrcError, match=f"^make the positive labels 1, .*: {library} hands labels over"):
        named.lightgbm(Y, X[:, 0]) if library == "LightGBM" else named.xgboost
    assert scorer("roc_auc", pos_label=1).xgboost(Y, X[:, 0]) == scorer("roc_auc").xgboost(Y, X[:, 0])


def test_words_as_labels_in_scikit_learn() -> None:
    named = scorer("average_precision", eta=0.004, pos_label="fraud")
    asked: dict[str, Any] = {"cv": 3, "error_score": "raise"}
    grid = {"C": [1e-4, 1e-2, 1.0]}
    found, expected = (
        GridSearchCV(LogisticRegression(), grid, scoring=scoring, **asked).fit(X, labels)
        for scoring, labels in ((named, NAMES), (AP, Y))
    )
    assert found.best_params_ == expected.best_params_
    means = [search.cv_results_["mean_test_score"] for search in (found, expected)]
    assert means[0] == pytest.approx(means[1], rel=1e-9)
    several = {"ap": named, "roc": scorer("roc_auc", pos_label="fraud")}
    scores = cross_validate(LogisticRegression(), X, NAMES, scoring=several, **asked)
    plain = cross_validate(LogisticRegression(), X, Y, scoring=AP, **asked)
    assert scores["test_ap"] == pytest.approx(plain["test_score"], rel=1e-9)
    assert (scores["test_roc"] > 0.5).all()
    for call in (
        lambda: cross_validate(LogisticRegression(), X, NAMES, scoring=AP, **asked),
        lambda: GridSearchCV(LogisticRegression(), grid, scoring=AP, **asked).fit(X, NAMES),
    ):
        with pytest.raises(PrcError, match=r"^pass pos_label=.*classes of the estimator are fraud, ok"):
            call()


def test_an_estimator_without_classes_takes_labels_as_tables_do() -> None:
    forest = IsolationForest(n_estimators=5, random_state=0).fit(X)
    assert AP(forest, X, Y) == AP.score(Y == 1, forest.decision_function(X))


def test_a_smaller_is_better_metric_is_negated_for_scikit_learn_alone() -> None:
    model = LogisticRegression().fit(X, Y)
    value = ERROR.score(Y, model.predict_proba(X)[:, 1])
    assert value > 0
    assert ERROR(model, X, Y) == -value
    assert not ERROR.higher_is_better
    assert ERROR.lightgbm(Y, model.predict_proba(X)[:, 1]) == (ERROR.name, value, False)


def test_what_estimators_are_refused() -> None:
    three = np.arange(len(Y)) % 3
    with pytest.raises(PrcError, match=r"expected an estimator of two classes; this one has 3"):
        AP(LogisticRegression().fit(X, three), X, three)
    with pytest.raises(PrcError, match=r"expected an estimator of two classes; this one has 1"):
        AP(RandomForestClassifier(2).fit(X, np.zeros(len(X))), X, Y)
    with pytest.raises(PrcError, match="LinearRegression has neither"):
        AP(LinearRegression().fit(X, Y), X, Y)
    odd = SimpleNamespace(predict_proba=lambda rows: np.zeros((len(rows), 3)))
    with pytest.raises(PrcError, match=r"two columns of predict_proba; got shape \(400, 3\)"):
        AP(odd, X, Y)


@pytest.mark.slow
def test_a_grid_search_in_worker_processes_finds_what_one_process_finds() -> None:
    grid = {"C": [1e-4, 1e-2, 1.0]}
    found = [
        GridSearchCV(LogisticRegression(), grid, scoring=AP, cv=3, n_jobs=n, error_score="raise")
        .fit(X, Y)
        .cv_results_["mean_test_score"]
        for n in (1, 2)
    ]
    assert found[0].tolist() == found[1].tolist()
    assert len(set(found[0].tolist())) == 3, "not NaN, and different"


def test_several_scorers_in_one_cross_validation() -> None:
    scoring = {each.name: each for each in (AP, scorer("roc_auc"), ERROR)}
    found = cross_validate(LogisticRegression(), X, Y, scoring=scoring, cv=3, error_score="raise")
    assert {f"test_{name}" for name in scoring} <= set(found)
    wrapped = make_scorer(AP.score, response_method="predict_proba")
    again = cross_validate(LogisticRegression(), X, Y, scoring=wrapped, cv=3, error_score="raise")
    assert again["test_score"].tolist() == found[f"test_{AP.name}"].tolist()


# Processes ------------------------------------------------------------------------------------


def test_a_scorer_pickles() -> None:
    for each in (
        AP,
        ERROR,
        scorer(metrics.integrated("pr_auc", 0.01, 0.1)),
        scorer("pr_auc_hull", eta=1),
    ):
        again = pickle.loads(pickle.dumps(each))
        assert again == each
        assert again.score(Y, X[:, 0]) == each.score(Y, X[:, 0])


def test_a_score_asks_polars_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads of Polars do not survive a fork."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a query was run")

    expected = AP.score(Y, X[:, 0])
    monkeypatch.setattr(pl.LazyFrame, "collect", refuse)
    monkeypatch.setattr(pl, "collect_all", refuse)
    assert AP.score(Y, X[:, 0]) == expected
    assert all(scorer(m, eta=0.1).score(Y, X[:, 0]) > 0 for m in ("pr_auc_hull", metrics.best("f1")))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_scorer_works_in_a_forked_process() -> None:
    pl.DataFrame({"x": range(1_000)}).group_by("x").len()  # the threads of Polars run
    with multiprocessing.get_context("fork").Pool(1) as pool:
        found = pool.apply_async(AP.score, (Y, X[:, 0])).get(timeout=60)
    assert found == AP.score(Y, X[:, 0])


# The page -------------------------------------------------------------------------------------

PAGE_BLOCKS = re.findall(
    r"^```python\n((?!>>>).*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.M | re.S
)
TRAIN, VALID = slice(None, None, 2), slice(1, None, 2)


def build_stand_ins(log: list[Any]) -> dict[str, ModuleType]:
    """Return modules that call back as LightGBM and XGBoost document it, and check what loggers take."""

    class Booster(LogisticRegression):
        def __init__(self, **given: Any) -> None:
            super().__init__()
            self.given = given

        def call_back(self, evaluate: Any, label: Any, scores: Any) -> Any:
            raise NotImplementedError

        def train(self, X: Any, y: Any, rows: Any, label: Any, evaluate: Any) -> Any:  # noqa: N803
            super().fit(X, y)
            self.call_back(evaluate, label, self.predict_proba(rows)[:, 1])
            return self

    class LGBMClassifier(Booster):
        def fit(self, X: Any, y: Any, **given: Any) -> Any:  # noqa: N803
            assert set(given) == {"eval_X", "eval_y", "eval_metric", "callbacks"}
            assert self.given["metric"] == "None"
            assert given["callbacks"] == [{"rounds": 20}]
            return self.train(X, y, given["eval_X"], given["eval_y"], given["eval_metric"])

        def call_back(self, evaluate: Any, label: Any, scores: Any) -> None:
            # sklearn.py: the number of parameters tells what is passed; a weight may be None.
            assert len(inspect.signature(evaluate).parameters) == 3
            for weight in (None, np.ones(len(label))):
                name, value, higher = evaluate(label, scores, weight)
                assert (type(name), type(value), type(higher)) == (str, float, bool)
                log.append((name, value))

    class XGBClassifier(Booster):
        def fit(self, X: Any, y: Any, *, eval_set: Any, verbose: bool) -> Any:  # noqa: N803
            assert self.given["early_stopping_rounds"] == 20
            [(rows, label)] = eval_set
            return self.train(X, y, rows, label, self.given["eval_metric"])

        def call_back(self, evaluate: Any, label: Any, scores: Any) -> None:
            # sklearn.py: the name is that of the function; weights come by keyword, if there are any.
            cost = evaluate(label, scores)
            assert evaluate(label, scores, sample_weight=np.ones(len(label))) == cost
            self.costs = {evaluate.__name__: [cost]}
            log.append(("validation_0", -cost))

        def evals_result(self) -> dict[str, dict[str, list[float]]]:
            return {"validation_0": self.costs}

    def train_lightgbm(given: Any, data: Data, *, valid_sets: Any, feval: Any, **_: Any) -> None:
        scores = LogisticRegression().fit(data.data, data.label).predict_proba(valid_sets[0].data)
        log.append(feval(scores[:, 1], valid_sets[0])[:2])

    def train_xgboost(given: Any, data: Data, *, evals: Any, custom_metric: Any, **_: Any) -> None:
        assert given["disable_default_eval_metric"]
        [(valid, _name)] = evals
        valid.weight = np.array([], np.float32)
        scores = LogisticRegression().fit(data.data, data.label).predict_proba(valid.data)[:, 1]
        name, cost = custom_metric(scores, valid)
        log.append((name, -cost))

    def stop_early(rounds: int, **given: Any) -> Any:
        return {"rounds": rounds, **given}

    def log_metrics(values: dict[str, float]) -> None:
        for name, value in values.items():
            assert re.fullmatch(r"[\w .:/-]+", name), "what MLflow allows in a name"
            assert type(value) is float
            log.append((name, value))

    def log_metric(name: str, value: float, step: int) -> None:
        assert step >= 0
        log_metrics({name: float(value)})

    def log_text(text: str, artifact_file: str) -> None:
        assert artifact_file.endswith(".html")
        assert "vega" in text

    def log_table(data: Any, artifact_file: str) -> None:
        assert artifact_file.endswith(".json")
        assert {len(column) for column in data.values()} == {4}

    class Run:
        def __enter__(self) -> Run:
            return self

        def __exit__(self, *_: Any) -> None: ...

        def log(self, values: dict[str, Any]) -> None:
            log.extend(item for item in values.items() if isinstance(item[1], float))

    def table(columns: list[str], data: list[Any]) -> None:
        assert {len(row) for row in data} == {len(columns)}

    content: dict[str, dict[str, Any]] = {
        "lightgbm": {
            "LGBMClassifier": LGBMClassifier,
            "Dataset": Data,
            "train": train_lightgbm,
            "early_stopping": stop_early,
        },
        "xgboost": {
            "XGBClassifier": XGBClassifier,
            "DMatrix": Data,
            "train": train_xgboost,
        },
        "mlflow": {
            "start_run": Run,
            "log_metric": log_metric,
            "log_metrics": log_metrics,
            "log_table": log_table,
            "log_text": log_text,
        },
        "wandb": {"init": lambda project: Run(), "Table": table},
    }
    modules = {name: ModuleType(name) for name in content}
    for name, module in modules.items():
        vars(module).update(content[name])
    return modules


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("block", PAGE_BLOCKS, ids=lambda block: re.findall(r"import (\w+)", block)[0])
def test_the_code_of_the_page_for_other_libraries(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if ".plot." in block:
        pytest.importorskip("altair")
    log: list[Any] = []
    for name, module in build_stand_ins(log).items():
        monkeypatch.setitem(sys.modules, name, module)
    model = LogisticRegression().fit(X[TRAIN], Y[TRAIN])
    names = {"ap": AP, "scorer": scorer, "model": model}
    data = {"X_train": X[TRAIN], "y_train": Y[TRAIN], "X_valid": X[VALID], "y_valid": Y[VALID]}
    variables = {**names, **data}
    exec(block, variables)
    expected = AP(variables["model"], X[VALID], Y[VALID])
    assert expected in [value for _, value in log]


def test_the_page_has_code_for_each_library() -> None:
    text = "".join(PAGE_BLOCKS)
    for name in ("lightgbm", "xgboost", "mlflow", "wandb"):
        assert f"import {name}\n" in text


# A fork ---------------------------------------------------------------------------------------


FORKED = """
import importlib, multiprocessing, pkgutil, sys
import polars as pl
import polars_prcurve

for module in pkgutil.walk_packages(polars_prcurve.__path__, "polars_prcurve."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)

def work(_):
    df = pl.DataFrame({"score": range(400), "label": [i % 3 == 0 or i > 300 for i in range(400)],
                       "week": [i % 4 for i in range(400)]})
    watched = df.prc.monitor("week", reference=0.5, threshold=300)
    return len(df.prc.decide(0.1, recall=0.5).say(80)), df.prc.summary(0.1).height, watched.height

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(*pool.map_async(work, range(2)).get(timeout=300), sep="\\n")
"""


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_an_import_runs_no_query_so_that_a_fork_can() -> None:
    """The threads of Polars start with its first query, and do not survive a fork."""
    root = Path(polars_prcurve.__file__).parent.parent
    code = [sys.executable, "-W", "ignore", "-c", FORKED]
    done = subprocess.run(code, capture_output=True, text=True, check=False, timeout=400, cwd=root)
    assert done.returncode == 0, done.stderr[-2000:]
    first, second = done.stdout.splitlines()
    assert first == second
