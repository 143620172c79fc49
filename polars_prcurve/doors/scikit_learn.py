"""Scikit-learn's results: held-out scores of folds as a bound table, and displays of estimators.

folds  -> rows     one per fold and example that the fold tests
       -> repeats  a new one begins with the first fold that tests an example again
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import polars as pl

from polars_prcurve.core.ground.argument_checks import Title, check_texts, refuse_kind
from polars_prcurve.core.ground.column_checks import label_dtypes
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.message_text import describe_value
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.sweep.array_sweep import check_lengths, read_array, read_labels
from polars_prcurve.doors.namespace.frame import DataFramePrc
from polars_prcurve.doors.scorers import find_positives, predict_scores, read_estimator_classes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from polars_prcurve.core.confidence.interval_options import Confidence
    from polars_prcurve.core.prevalence.eta_values import Eta
    from polars_prcurve.view.charts.parts.chart_assembly import Chart
    from polars_prcurve.view.report.decision_result import Decision

T = TypeVar("T")  # what each curve has, as `_unpack_one` takes it
# For each fold the rows that it tests, and their scores.
Folds: TypeAlias = "Iterable[tuple[ArrayLike, ArrayLike]]"
# How errors describe the result of a cross-validation.
_RESULTS = "what cross_validate(..., return_estimator=True, return_indices=True) returns"


@hint_at_arguments
def from_cv_results(
    cv_results: Mapping[str, Any],
    X: Any,  # noqa: N803
    y: ArrayLike,
    *,
    pos_label: Any = None,
) -> DataFramePrc:
    """Return the held-out scores of a cross-validation by scikit-learn, as a bound table.

    Each fold's model scores the examples that it has not seen, as `scorer` does. With repeats an example
    has several rows, so the table is bound with `cluster="example"`, and intervals treat these as one.

    Parameters
    ----------
    cv_results
        What `cross_validate(..., return_estimator=True, return_indices=True)` returns, or a mapping from
        names of models to such results, which were tested on the same examples.
    X, y
        The data that were cross-validated, as arrays or frames.
    pos_label
        The positive label, as in `scorer`.

    Returns
    -------
    A bound table of one row per fold and example that the fold tests, in that order, which
    `pl.DataFrame(...)` gives:

    - with several models, `model`: String
    - `example`: Int64, the row of `X`
    - `repeat`: Int64, from 0: how often the examples were tested before, each at most once in a repeat
    - `fold`: Int64, the number of the result, from 0
    - `score`: Float64
    - `label`: Boolean

    With several models, `model="model"` and `id=["example", "repeat"]` are also bound, to pair them.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate
    >>> from polars_prcurve import from_cv_results
    >>> X, y = make_classification(200, weights=[0.8], random_state=1)
    >>> cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    >>> options = {"cv": cv, "return_estimator": True, "return_indices": True}
    >>> from_cv_results(cross_validate(LogisticRegression(), X, y, **options), X, y)
    <prc of 600 rows: cluster='example'>
    """
    label_dtypes(pos_label)  # raises for what is no single value
    if not isinstance(cv_results, Mapping):
        raise PrcError(
            f"cv_results takes {_RESULTS}, or a mapping from names of models to such results; got "
            f"{describe_value(cv_results)}"
        )
    if "fit_time" in cv_results or "estimator" in cv_results:
        return from_folds(_score_folds(cv_results, X, pos_label), y, pos_label=pos_label)
    folds_by_model = {
        name: _score_folds(model_results, X, pos_label) for name, model_results in cv_results.items()
    }
    return from_folds(folds_by_model, y, pos_label=pos_label)


@hint_at_arguments
def from_folds(
    folds: Folds | Mapping[str, Folds], y: ArrayLike, *, pos_label: Any = None
) -> DataFramePrc:
    """Return the held-out scores of folds of your own, as a bound table.

    Parameters
    ----------
    folds
        For each fold a pair of arrays: the examples that it tests, as row numbers in `y`, and their
        scores. Or a mapping from names of models to such folds.
    y
        The labels of all examples.
    pos_label
        The positive label, as in `scorer`.

    Returns
    -------
    A bound table, as from `from_cv_results`.

    Examples
    --------
    >>> from polars_prcurve import from_folds
    >>> folds = [([0, 2], [0.9, 0.4]), ([1, 3], [0.8, 0.1]), ([0, 1], [0.7, 0.2])]
    >>> test = from_folds(folds, [1, 0, 1, 0])
    >>> test
    <prc of 6 rows: cluster='example'>
    >>> pl.DataFrame(test).tail(2).rows()
    [(0, 1, 2, 0.7, True), (1, 1, 2, 0.2, False)]
    """
    label_dtypes(pos_label)
    labels = read_labels(y, pos_label)
    table_arguments: dict[str, Any] = {}
    if isinstance(folds, Mapping):
        table_arguments = {"model": "model", "id": ["example", "repeat"]}
        frames_of_models = [
            _stack_folds(model_folds, labels).select(pl.lit(str(name)).alias("model"), pl.all())
            for name, model_folds in folds.items()
        ]
    else:
        frames_of_models = [_stack_folds(folds, labels)]
    if not frames_of_models:
        raise PrcError("expected one model or more; got an empty mapping")
    test_frame = pl.concat(frames_of_models)
    if (test_frame["repeat"] > 0).any():
        table_arguments["cluster"] = "example"
    return DataFramePrc(test_frame)(**table_arguments)


def _score_folds(results: Any, X: Any, pos_label: Any) -> list[tuple[Any, Any]]:  # noqa: N803
    """Return the examples that each fold tests, and the scores of its model."""
    if not isinstance(results, Mapping) or not {"estimator", "indices"} <= results.keys():
        if isinstance(results, Mapping):
            results = f"a mapping with {', '.join(map(str, results))}"
        raise PrcError(f"expected {_RESULTS}, with both flags; got {describe_value(results)}")
    rows_and_scores_of_folds = []
    for estimator, row_numbers in zip(results["estimator"], results["indices"]["test"], strict=False):
        positive_index, _ = read_estimator_classes(estimator, pos_label)
        try:  # a list, an array, a sparse matrix, or a frame of pandas or Polars
            if isinstance(X, list):
                features: Any = [X[row_number] for row_number in row_numbers]
            else:
                features = X.iloc[row_numbers] if hasattr(X, "iloc") else X[row_numbers]
        except Exception:  # what an object raises that has no such rows
            n_rows = len(X) if isinstance(X, list) else getattr(X, "shape", (None,))[0]
            X_text = describe_value(X) if n_rows is None else f"{describe_value(X)} of {n_rows} rows"  # noqa: N806
            raise PrcError(
                "X takes all rows that were cross-validated, in order, as an array or a frame; got "
                f"{X_text}, and a fold tests row {max(row_numbers)}"
            ) from None
        rows_and_scores_of_folds.append(
            (row_numbers, predict_scores(estimator, features, positive_index))
        )
    return rows_and_scores_of_folds


def _stack_folds(folds: Any, labels: NDArray[np.bool_]) -> pl.DataFrame:
    """Return the rows of all folds of a model; raise for what is no fold."""
    is_tested = np.zeros(len(labels), dtype=bool)
    repeat_number, frames_of_folds = 0, []
    for fold_number, (row_numbers, scores) in enumerate(_read_folds(folds, len(labels))):
        if is_tested[row_numbers].any():
            repeat_number += 1
            is_tested[:] = False
        is_tested[row_numbers] = True
        fold_frame = pl.DataFrame(
            {"example": row_numbers, "score": scores, "label": labels[row_numbers]}
        )
        frames_of_folds.append(
            fold_frame.with_columns(
                repeat=pl.lit(repeat_number, pl.Int64), fold=pl.lit(fold_number, pl.Int64)
            )
        )
    if not frames_of_folds:
        raise PrcError("expected one fold or more; got none")
    return pl.concat(frames_of_folds).select("example", "repeat", "fold", "score", "label")


def _read_folds(folds: Any, n_rows: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Yield row numbers and scores of each fold, which tests rows of the data, each once."""
    try:
        numbers_and_scores = [(tested_rows, fold_scores) for tested_rows, fold_scores in folds]
    except (TypeError, ValueError):
        raise PrcError(
            "folds takes a pair of arrays for each fold, the rows that it tests and their scores; got "
            f"{describe_value(folds)}"
        ) from None
    for fold_number, (tested_rows, fold_scores) in enumerate(numbers_and_scores):
        row_numbers = read_array("the test of a fold", tested_rows, "iu", "row numbers").astype(np.int64)
        scores = read_array("the score of a fold", fold_scores, "biuf", "numbers").astype(np.float64)
        check_lengths(rows=row_numbers, scores=scores)
        if len(row_numbers) and not (row_numbers.min() >= 0 and row_numbers.max() < n_rows):
            wrong_row_number = row_numbers.max() if row_numbers.max() >= n_rows else row_numbers.min()
            raise PrcError(
                "pass the data that were cross-validated, all rows in their order: fold "
                f"{fold_number} tests row {wrong_row_number}, and y has {n_rows} rows, from 0"
            )
        if len(np.unique(row_numbers)) < len(row_numbers):
            raise PrcError(f"pass each row of a fold once: fold {fold_number} tests a row twice")
        yield row_numbers, scores


# Displays: precision-recall curves of estimators at prevalences ---------------------------------


class PrevalenceDisplay:
    """Precision-recall curves at given prevalences, with the conventions of scikit-learn's displays.

    Make one with `from_estimator`, `from_predictions` or `from_cv_results`, or from a bound table. A
    notebook shows its chart. An attribute per curve is a list, or with one curve its value.

    Parameters
    ----------
    test
        A bound table, such as `df.prc(model="model")` of a DataFrame.
    eta, confidence
        As in `curve`: without `eta` each curve is at the prevalence of its data, as in scikit-learn.

    Attributes
    ----------
    test
        The table, bound: `display.test.decide(0.004, recall=0.5)` and all other methods of `.prc`.
    curve
        What `test.curve(eta)` returns, with every threshold.
    summary
        What `test.summary(eta)` returns for average precision, with its interval.
    precision, recall
        Per curve, as arrays; recall rises, and no point (0, 1) is added. NaN is undefined.
    average_precision, eta, name
        Per curve. NaN is undefined, and `name` is None if the table has no column `model`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from polars_prcurve import PrevalenceDisplay
    >>> X, y = make_classification(4_000, weights=[0.8], class_sep=2, random_state=1)
    >>> model = LogisticRegression().fit(X[:2_000], y[:2_000])
    >>> display = PrevalenceDisplay.from_estimator(
    ...     model, X[2_000:], y[2_000:], eta=0.01, confidence=0.95)
    >>> display
    <PrevalenceDisplay of LogisticRegression>
    >>> display.eta, round(display.average_precision, 3)
    (0.01, 0.759)
    >>> display.summary.select(pl.col("low", "high").round(3)).row(0)
    (0.482, 0.91)
    >>> chart = display.plot()
    """

    @hint_at_arguments
    def __init__(self, test: DataFramePrc, *, eta: Eta = None, confidence: Confidence = None) -> None:
        if not isinstance(test, DataFramePrc):
            raise refuse_kind("test=", "a bound table, such as df.prc() of a DataFrame", test)
        self.test = test
        self._options: dict[str, Any] = {"eta": eta, "confidence": confidence}
        self.summary = summary = test.summary(
            metrics="average_precision", columns="all", **self._options
        )
        precision_values = summary["value"].fill_null(math.nan)
        self.average_precision: float | list[float] = _unpack_one(precision_values.to_list())
        self.eta: float | list[float] = _unpack_one(summary["eta"].to_list())
        model_names: list[Any] = summary["model"].to_list() if "model" in summary.columns else [None]
        self.name: str | list[str] | None = _unpack_one(model_names)

    @classmethod
    @hint_at_arguments
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803
        y: ArrayLike,
        *,
        eta: Eta = None,
        sample_weight: ArrayLike | None = None,
        response_method: Literal["auto", "predict_proba", "decision_function"] = "auto",
        pos_label: Any = None,
        name: str | None = None,
        confidence: Confidence = None,
    ) -> PrevalenceDisplay:
        """Return the display of a fitted classifier on data.

        Parameters
        ----------
        estimator
            A fitted classifier of two classes, or a pipeline with one.
        X, y
            A test set: features and labels.
        eta, sample_weight, confidence
            As in `from_predictions`.
        response_method
            What gives the scores: `"predict_proba"`, `"decision_function"`, or `"auto"`, the first it
            has.
        pos_label
            The positive label, as in `scorer`: scikit-learn takes the last one in the alphabet.
        name
            The name of the curve; the estimator's class if left out.

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from polars_prcurve import PrevalenceDisplay
        >>> X, y = [[1], [2], [3], [4]], ["ham", "ham", "spam", "spam"]
        >>> tree = DecisionTreeClassifier().fit(X, y)
        >>> PrevalenceDisplay.from_estimator(tree, X, y, eta=0.01, pos_label="spam").average_precision
        1.0
        """
        label_dtypes(pos_label)  # raises for what is no single value
        positive_index, classes = read_estimator_classes(estimator, pos_label)
        return cls.from_predictions(
            find_positives(y, classes, pos_label),
            predict_scores(estimator, X, positive_index, response_method),
            eta=eta,
            sample_weight=sample_weight,
            name=type(estimator).__name__ if name is None else name,
            confidence=confidence,
        )

    @classmethod
    @hint_at_arguments
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        eta: Eta = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        confidence: Confidence = None,
    ) -> PrevalenceDisplay:
        """Return the display of labels and scores.

        Parameters
        ----------
        y_true, y_score
            Labels, and scores; larger means more positive.
        eta, confidence
            As in `curve`.
        sample_weight
            Numbers >= 0, the `weight=` of the table.
        pos_label
            The positive label, as in `scorer`.
        name
            The name of the curve, `"Classifier"` if left out.

        Examples
        --------
        >>> from polars_prcurve import PrevalenceDisplay
        >>> display = PrevalenceDisplay.from_predictions(
        ...     [1, 0, 1, 0], [0.9, 0.8, 0.2, 0.1], eta=[0.01, 0.5])
        >>> display.recall[0].tolist(), display.precision[0].round(4).tolist()
        ([0.5, 0.5, 1.0, 1.0], [1.0, 0.01, 0.0198, 0.01])
        """
        check_texts(name=name)
        label_dtypes(pos_label)
        array_by_column = {
            "label": read_labels(y_true, pos_label),
            "score": read_array("y_score", y_score, "biuf", "numbers"),
        }
        if sample_weight is not None:
            array_by_column["weight"] = read_array(
                "sample_weight", sample_weight, "biuf", "numbers >= 0"
            )
        check_lengths(**array_by_column)
        model_expr = pl.lit("Classifier" if name is None else name).alias("model")
        bound_table = DataFramePrc(pl.DataFrame(array_by_column).select(model_expr, pl.all()))
        weight_column = None if sample_weight is None else "weight"
        return cls(bound_table(model="model", weight=weight_column), eta=eta, confidence=confidence)

    @classmethod
    @hint_at_arguments
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,  # noqa: N803
        y: ArrayLike,
        *,
        eta: Eta = None,
        pos_label: Any = None,
        name: str | None = None,
        confidence: Confidence = None,
    ) -> PrevalenceDisplay:
        """Return the display of the held-out scores of a cross-validation.

        The folds of a model are one curve, and with repeats the rows of an example are one cluster. A
        curve per fold, as scikit-learn draws them, is `display.test.plot.pr_curve(eta, by="fold")`.

        Parameters
        ----------
        cv_results, X, y, pos_label
            As in the function `from_cv_results`: for one model, or for several by name.
        eta, confidence, name
            As in `from_estimator`; `name` is for one model.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.model_selection import cross_validate
        >>> from polars_prcurve import PrevalenceDisplay
        >>> X, y = [[1], [2], [3], [4], [5], [6]], [0, 1, 0, 1, 0, 1]
        >>> results = cross_validate(
        ...     LogisticRegression(), X, y, cv=3, return_estimator=True, return_indices=True)
        >>> PrevalenceDisplay.from_cv_results(results, X, y, eta=0.01)
        <PrevalenceDisplay of LogisticRegression>
        """
        check_texts(name=name)
        estimators = cv_results.get("estimator") if isinstance(cv_results, Mapping) else None
        if isinstance(estimators, list | tuple) and estimators:  # of one model, which has no name yet
            cv_results = {type(estimators[0]).__name__ if name is None else name: cv_results}
        elif name is not None:
            raise PrcError(f"leave out name=: cv_results already names its models; got name={name!r}")
        bound_table = from_cv_results(cv_results, X, y, pos_label=pos_label)
        return cls(bound_table, eta=eta, confidence=confidence)

    @cached_property
    def curve(self) -> pl.DataFrame:
        """Return the curve of each model at each prevalence, with a row per threshold."""
        return self.test.curve(**self._options)

    @property
    def precision(self) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        return self._list_curves("precision")

    @property
    def recall(self) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        return self._list_curves("recall")

    def _list_curves(self, column: str) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        key_columns = self.curve.columns[: self.curve.columns.index("eta") + 1]
        curve_frames = self.curve.partition_by(key_columns, maintain_order=True)
        return _unpack_one([curve_frame[column].to_numpy() for curve_frame in curve_frames])

    @hint_at_arguments
    def plot(
        self,
        *,
        points: pl.DataFrame | Decision | None = None,
        log_y: bool | None = None,
        title: Title = None,
    ) -> Chart:
        """Return the Altair chart of the curves, `test.plot.pr_curve(eta)`.

        Parameters
        ----------
        points, log_y, title
            As in `plot.pr_curve`.
        """
        return self.test.plot.pr_curve(**self._options, points=points, log_y=log_y, title=title)

    def _repr_mimebundle_(self, *args: Any, **kwargs: Any) -> Any:
        return self.plot()._repr_mimebundle_(*args, **kwargs)

    def __repr__(self) -> str:
        distinct_names = dict.fromkeys(self.name if isinstance(self.name, list) else [self.name])
        return f"<PrevalenceDisplay of {', '.join(map(str, distinct_names))}>"


def _unpack_one(values: list[T]) -> T | list[T]:
    """Return the value of a single curve, and the list of several."""
    return values[0] if len(values) == 1 else values
