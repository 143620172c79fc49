"""Scorers: a curve metric at a prevalence, as training loops call it.

All come to one count and one metric, in NumPy alone, so that a scorer works in any worker process.
Counts, units and formulas are those of `summary`, and so are the bits of its values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from polars_prcurve.core.ground.argument_checks import read_choice
from polars_prcurve.core.ground.column_checks import label_dtypes
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.message_text import list_names
from polars_prcurve.core.ground.name_hints import hint_at_arguments, suggest_names
from polars_prcurve.core.metrics.curve_arrays import read_curve
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.metric_base import write_parameter
from polars_prcurve.core.metrics.metric_lookup import find_curve_metric
from polars_prcurve.core.prevalence.eta_values import check_eta
from polars_prcurve.core.sweep.array_sweep import count_arrays, read_labels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@hint_at_arguments
def scorer(
    metric: str | CurveMetric, eta: float | str | None = None, *, pos_label: Any = None
) -> Scorer:
    """Return a curve metric at a prevalence as a scorer, for scikit-learn, boosting and your own loops.

    Parameters
    ----------
    metric
        A curve metric with a direction, or its name.
    eta
        The prevalence where the model will run. None is the prevalence of the scored data.
    pos_label
        The positive label, such as `"spam"`; required unless labels are Booleans, {0, 1} or {-1, 1}.

    Examples
    --------
    >>> from polars_prcurve import scorer
    >>> score_ap = scorer("average_precision", eta=0.004)
    >>> round(score_ap.score([1, 0, 1, 0], [0.9, 0.8, 0.2, 0.1]), 6)
    0.503984
    >>> score_ap.name, score_ap.higher_is_better
    ('average_precision_at_0.004', True)
    >>> score_spam = scorer("average_precision", eta=0.004, pos_label="spam")
    >>> round(score_spam.score(["spam", "ham", "spam", "ham"], [0.9, 0.8, 0.2, 0.1]), 6)
    0.503984
    """
    curve_metric = find_curve_metric(metric)
    curve_metric.higher_is_better()  # raises for a metric without a direction
    if eta is not None:
        eta = check_eta(eta)
    label_dtypes(pos_label)  # raises for what is no single value
    return Scorer(curve_metric, eta, pos_label)


@dataclass(frozen=True)
class Scorer:
    """A curve metric at a prevalence, made by `scorer`. It pickles if its metric does.

    Call it with an estimator and data, as scikit-learn does. The method
    `score(y_true, y_score, sample_weight=None)` takes labels and scores; it returns what `summary` does,
    to the last bit. `lightgbm` and `xgboost` are what these libraries take as `eval_metric=`, `feval=`
    and `custom_metric=`.
    """

    metric: CurveMetric
    eta: float | None
    pos_label: Any = None

    def __post_init__(self) -> None:
        """Give the scorer the name that functions have, which XGBoost requests before it calls."""
        # A property `__name__` in the class would keep cloudpickle from the class.
        vars(self)["__name__"] = self.name

    @property
    def name(self) -> str:
        """The name of the metric and the prevalence, such as `average_precision_at_0.004`."""
        if self.eta is None or not self.metric.depends_on_eta:
            return self.metric.name
        return f"{self.metric.name}_at_{write_parameter(self.eta)}"

    @property
    def higher_is_better(self) -> bool:
        """Whether larger values of `score` are better."""
        return self.metric.higher_is_better()

    def score(
        self, y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the metric of labels and scores, as `summary` does; NaN if it is undefined."""
        return self._measure(read_labels(y_true, self.pos_label), y_score, sample_weight)

    def lightgbm(
        self, y_true: Any, y_pred: Any, weight: ArrayLike | None = None
    ) -> tuple[str, float, bool]:
        """Return `(name, value, higher_is_better)`, as LightGBM expects from `eval_metric=`.

        `lightgbm.train` calls `feval=` with scores and a data set, which holds labels and weights.
        """
        self._require_numbers("LightGBM")
        y_true, y_pred, weight = _read_data_set(y_true, y_pred, weight)
        return self.name, self.score(y_true, y_pred, weight), self.higher_is_better

    @property
    def xgboost(self) -> XGBoostCost:
        """The metric as XGBoost takes it, negated and named `neg_...` if larger values are better."""
        self._require_numbers("XGBoost")
        return XGBoostCost(self)

    def __call__(self, estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:  # noqa: N803
        """Return the metric of an estimator on data; larger is better, as scikit-learn wants.

        The score of an example is the column of `predict_proba` of the positive class, or else
        `decision_function`. The positive class is `pos_label`, or else 1 or True. A metric of which
        smaller values are better is negated.
        """
        if not hasattr(estimator, "predict") and hasattr(estimator, "__len__"):
            raise PrcError(
                f"call the scorer of {self.name} with an estimator, X and y, or call .score(y, "
                "scores); eval_metric= takes .lightgbm or .xgboost"
            )
        positive_index, classes = read_estimator_classes(estimator, self.pos_label)
        labels = find_positives(y, classes, self.pos_label)
        metric_value = self._measure(labels, predict_scores(estimator, X, positive_index), sample_weight)
        return metric_value if self.higher_is_better else -metric_value

    def _measure(self, labels: Any, scores: Any, weight: Any) -> float:
        """Return the metric at the prevalence, or at the fraction of positives."""
        cell_counts = count_arrays(labels, scores, weight).list_cells()
        n_pos, n_neg = (cell_counts[name][-1:].sum() for name in ("tp", "fp"))  # 0 without examples
        with np.errstate(all="ignore"):
            eta = n_pos / (n_pos + n_neg) if self.eta is None else np.float64(self.eta)
            curve = read_curve(cell_counts["tp"] / n_pos, cell_counts["fp"] / n_neg)
            if curve is not None:  # there are positives
                scale_classes = partial(
                    _find_factors, n_pos=n_pos, n_neg=n_neg, is_own_prevalence=self.eta is None
                )
                curve = curve._replace(
                    columns={**curve.columns, **cell_counts}, scale_classes=scale_classes
                )
            return float(self.metric.compute_values(curve, np.array([eta]))[0])

    def _require_numbers(self, library_name: str) -> None:
        """Raise if labels have a name for the positive one, which boosting libraries do not pass on."""
        if self.pos_label is not None and self.pos_label != 1:
            raise PrcError(
                f"make the positive labels 1, and leave out pos_label={self.pos_label!r}: "
                f"{library_name} hands labels over as the numbers 0 and 1"
            )


def _find_factors(
    eta: np.float64, *, n_pos: np.float64, n_neg: np.float64, is_own_prevalence: bool
) -> tuple[Any, Any]:
    """Return by how much the classes are scaled, in numbers, as `class_factors` does in columns."""
    if is_own_prevalence:
        return 1.0, 1.0
    if eta >= 0.5:
        return 1.0, 0.0 if eta == 1 else (1 - eta) * n_pos / (eta * n_neg)
    return 0.0 if eta == 0 else eta * n_neg / ((1 - eta) * n_pos), 1.0


@dataclass(frozen=True)
class XGBoostCost:
    """A scorer as a cost, which early stopping of XGBoost minimizes. It pickles as scorers do."""

    scorer: Scorer

    def __post_init__(self) -> None:
        """Give the cost the name that functions have, as a scorer has it."""
        vars(self)["__name__"] = self.name

    @property
    def name(self) -> str:
        """The name under which XGBoost shows and keeps the values."""
        return f"neg_{self.scorer.name}" if self.scorer.higher_is_better else self.scorer.name

    def __call__(self, y_true: Any, y_score: Any, sample_weight: ArrayLike | None = None) -> Any:
        """Return the cost of labels and scores, or of scores and a DMatrix with its name before it."""
        labels, scores, weight = _read_data_set(y_true, y_score, sample_weight)
        metric_value = self.scorer.score(labels, scores, weight)
        cost = -metric_value if self.scorer.higher_is_better else metric_value
        return cost if labels is y_true else (self.name, cost)


def _read_data_set(labels_or_scores: Any, scores_or_data_set: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Return labels, scores and weights, also if scores came first and then a data set with the rest."""
    if not hasattr(scores_or_data_set, "get_label"):
        return labels_or_scores, scores_or_data_set, weight
    weight = scores_or_data_set.get_weight()  # None or empty without weights
    return (
        scores_or_data_set.get_label(),
        labels_or_scores,
        None if weight is None or len(weight) == 0 else weight,
    )


def find_positives(y: Any, classes: Any, pos_label: Any) -> NDArray[np.bool_]:
    """Return which labels are positive; raise if one is no class of the estimator."""
    if classes is None:
        return read_labels(y, pos_label)
    labels = np.asarray(y)
    is_known = np.isin(labels, classes)
    if not is_known.all():
        raise PrcError(
            f"y takes the classes of the estimator, {np.asarray(classes).tolist()!r}; got "
            f"{labels[~is_known].tolist()[0]!r}"
        )
    is_positive: NDArray[np.bool_] = labels == (1 if pos_label is None else pos_label)
    return is_positive


def read_estimator_classes(estimator: Any, pos_label: Any) -> tuple[int, Any]:
    """Return which class of an estimator is positive, and all; by default the second."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return 1, None
    class_labels = np.asarray(classes).tolist()
    if len(class_labels) != 2:
        raise PrcError(
            f"expected an estimator of two classes; this one has {len(class_labels)}: score class c "
            "against the rest with .score(y == c, probabilities[:, i])"
        )
    if pos_label is not None:
        if pos_label not in class_labels:
            hint_text = suggest_names(str(pos_label), map(str, class_labels))
            raise PrcError(f"no class of the estimator is pos_label={pos_label!r}; {hint_text}")
        return class_labels.index(pos_label), classes
    if class_labels not in ([0, 1], [-1, 1]):
        raise PrcError(
            f"pass pos_label=, the class that is positive, such as pos_label={class_labels[1]!r}: the "
            f"classes of the estimator are {list_names(map(str, class_labels))}"
        )
    return 1, classes


def predict_scores(
    estimator: Any,
    X: Any,  # noqa: N803
    positive_index: int,
    response_method: str = "auto",
) -> NDArray[np.float64]:
    """Return the scores of the positive class, which is the one of that number."""
    method_names: tuple[str, ...] = ("predict_proba", "decision_function")
    if read_choice("response_method=", response_method, ("auto", *method_names)) != "auto":
        method_names = (response_method,)
    method_name = next(
        (method_name for method_name in method_names if hasattr(estimator, method_name)), None
    )
    if method_name is None:
        shortfall_text = (
            f"{type(estimator).__name__} has {'neither' if len(method_names) > 1 else 'none'}"
        )
        raise PrcError(f"expected an estimator with {' or '.join(method_names)}; {shortfall_text}")
    scores = np.asarray(getattr(estimator, method_name)(X))
    if method_name == "decision_function":
        return scores if positive_index == 1 else -scores
    if scores.ndim != 2 or scores.shape[1] != 2:
        raise PrcError(f"expected the two columns of predict_proba; got shape {scores.shape}")
    return scores[:, positive_index]
