"""Precision-recall curves of estimators at prevalences, as scikit-learn makes its displays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import polars as pl

from polars_prcurve.argument_kinds import Title, check_texts, refuse_kind
from polars_prcurve.errors import PrcError
from polars_prcurve.held_out_scores import from_cv_results
from polars_prcurve.inputs.value_checks import label_dtypes
from polars_prcurve.name_hints import hint_at_arguments
from polars_prcurve.namespace.frame import DataFramePrc
from polars_prcurve.scorers import find_positives, predict_scores, read_classes
from polars_prcurve.sweep.array_sweep import check_lengths, read_array, read_labels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from polars_prcurve.charts import Chart
    from polars_prcurve.confidence.intervals import Confidence
    from polars_prcurve.namespace.decision import Decision
    from polars_prcurve.prevalence.eta_argument import Eta

T = TypeVar("T")


class PrevalenceDisplay:
    """Precision-recall curves at prevalences, with the conventions of scikit-learn's displays.

    Make one by `from_estimator`, `from_predictions` or `from_cv_results`, or of a bound table. A
    notebook shows its chart. An attribute of each curve is a list, or of one curve its value.

    Parameters
    ----------
    test
        A bound table, such as `df.prc(model="model")` of a DataFrame.
    eta, confidence
        As in `curve`: without `eta` each curve is at its own share of positives, as in scikit-learn.

    Attributes
    ----------
    test
        The table, bound: `display.test.decide(0.004, recall=0.5)` and all other methods of `.prc`.
    curve
        What `test.curve(eta)` returns, with every threshold.
    summary
        What `test.summary(eta)` returns of average precision, with its interval.
    precision, recall
        Of each curve, as arrays; recall rises, and no point (0, 1) is added. NaN is undefined.
    average_precision, eta, name
        Of each curve. NaN is undefined, and `name` is None if the table has no column `model`.

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
    (0.473, 0.911)
    >>> chart = display.plot()
    """

    @hint_at_arguments
    def __init__(self, test: DataFramePrc, *, eta: Eta = None, confidence: Confidence = None) -> None:
        if not isinstance(test, DataFramePrc):
            raise refuse_kind("test=", "a bound table, such as df.prc() of a DataFrame", test)
        self.test = test
        self._asked: dict[str, Any] = {"eta": eta, "confidence": confidence}
        self.summary = test.summary(metrics="average_precision", **self._asked)

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
            The name of the curve; that of the estimator's class if left out.

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
        positive, classes = read_classes(estimator, pos_label)
        return cls.from_predictions(
            find_positives(y, classes, pos_label),
            predict_scores(estimator, X, positive, response_method),
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
            Labels, and scores of which larger means more positive.
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
        columns = {
            "label": read_labels(y_true, pos_label),
            "score": read_array("y_score", y_score, "biuf", "numbers"),
        }
        if sample_weight is not None:
            columns["weight"] = read_array("sample_weight", sample_weight, "biuf", "numbers >= 0")
        check_lengths(**columns)
        model = pl.lit("Classifier" if name is None else name).alias("model")
        test = DataFramePrc(pl.DataFrame(columns).select(model, pl.all()))
        weight = None if sample_weight is None else "weight"
        return cls(test(model="model", weight=weight), eta=eta, confidence=confidence)

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
            As in the function `from_cv_results`: of one model, or of several by name.
        eta, confidence, name
            As in `from_estimator`; `name` is for one model.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.model_selection import cross_validate
        >>> from polars_prcurve import PrevalenceDisplay
        >>> X, y = [[1], [2], [3], [4], [5], [6]], [0, 1, 0, 1, 0, 1]
        >>> found = cross_validate(
        ...     LogisticRegression(), X, y, cv=3, return_estimator=True, return_indices=True)
        >>> PrevalenceDisplay.from_cv_results(found, X, y, eta=0.01)
        <PrevalenceDisplay of LogisticRegression>
        """
        check_texts(name=name)
        test = from_cv_results(_name_results(cv_results, name), X, y, pos_label=pos_label)
        return cls(test, eta=eta, confidence=confidence)

    @cached_property
    def curve(self) -> pl.DataFrame:
        """Return the curve of each model at each prevalence, with a row per threshold."""
        return self.test.curve(**self._asked)

    @property
    def precision(self) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        return self._list_curves("precision")

    @property
    def recall(self) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        return self._list_curves("recall")

    @property
    def average_precision(self) -> float | list[float]:
        return _unpack_one(self.summary["value"].fill_null(math.nan).to_list())

    @property
    def eta(self) -> float | list[float]:
        return _unpack_one(self.summary["eta"].to_list())

    @property
    def name(self) -> str | list[str] | None:
        has_models = "model" in self.summary.columns
        return _unpack_one(self.summary["model"].to_list()) if has_models else None

    def _list_curves(self, column: str) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        keys = self.curve.columns[: self.curve.columns.index("eta") + 1]
        curves = self.curve.partition_by(keys, maintain_order=True)
        return _unpack_one([rows[column].to_numpy() for rows in curves])

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
        return self.test.plot.pr_curve(**self._asked, points=points, log_y=log_y, title=title)

    def _repr_mimebundle_(self, *args: Any, **kwargs: Any) -> Any:
        return self.plot()._repr_mimebundle_(*args, **kwargs)

    def __repr__(self) -> str:
        names = dict.fromkeys(self.name if isinstance(self.name, list) else [self.name])
        return f"<PrevalenceDisplay of {', '.join(map(str, names))}>"


def _name_results(cv_results: Any, name: str | None) -> Any:
    """Return results by the names of models, where those of one model have none yet."""
    models = cv_results.get("estimator") if isinstance(cv_results, Mapping) else None
    if isinstance(models, list | tuple) and models:
        return {type(models[0]).__name__ if name is None else name: cv_results}
    if name is not None:
        raise PrcError(
            f"name={name!r} is of one model, and cv_results has names of its own; leave it out"
        )
    return cv_results


def _unpack_one(values: list[T]) -> T | list[T]:
    """Return the value of a single curve, and the list of several."""
    return values[0] if len(values) == 1 else values
