"""Held-out scores of a cross-validation, as a table that knows which rows are one example.

folds  -> rows     one per fold and example that the fold tests
       -> repeats  a new one begins with the first fold that tests an example again
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from polars_prcurve.argument_kinds import hint_at_arguments
from polars_prcurve.errors import PrcError, describe_value
from polars_prcurve.namespace.frame import DataFramePrc
from polars_prcurve.query_checks import label_dtypes
from polars_prcurve.scorers import predict_scores, read_classes
from polars_prcurve.sweep.array_sweep import check_lengths, read_array, read_labels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Folds: TypeAlias = "Iterable[tuple[ArrayLike, ArrayLike]]"
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
    has several rows, so the table is bound with `cluster="example"`, and intervals take these as one.

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
    A bound table of one row per fold and example that the fold tests, in that order, whose `frame` is:

    - with several models, `model`: String
    - `example`: Int64, the row of `X`
    - `repeat`: Int64, from 0: how often the examples were tested before, each at most once in a repeat
    - `fold`: Int64, the number of the result, from 0
    - `score`: Float64
    - `label`: Boolean

    With several models, `model="model"` and `id=["example", "repeat"]` are bound, too, to pair them.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate
    >>> from polars_prcurve import from_cv_results
    >>> X, y = make_classification(200, weights=[0.8], random_state=1)
    >>> cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    >>> asked = {"cv": cv, "return_estimator": True, "return_indices": True}
    >>> from_cv_results(cross_validate(LogisticRegression(), X, y, **asked), X, y)
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
    models = {name: _score_folds(each, X, pos_label) for name, each in cv_results.items()}
    return from_folds(models, y, pos_label=pos_label)


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
    A bound table, as of `from_cv_results`.

    Examples
    --------
    >>> from polars_prcurve import from_folds
    >>> folds = [([0, 2], [0.9, 0.4]), ([1, 3], [0.8, 0.1]), ([0, 1], [0.7, 0.2])]
    >>> test = from_folds(folds, [1, 0, 1, 0])
    >>> test
    <prc of 6 rows: cluster='example'>
    >>> test.frame.tail(2).rows()
    [(0, 1, 2, 0.7, True), (1, 1, 2, 0.2, False)]
    """
    label_dtypes(pos_label)
    labels = read_labels(y, pos_label)
    words: dict[str, Any] = {}
    if isinstance(folds, Mapping):
        words = {"model": "model", "id": ["example", "repeat"]}
        frames = [
            _stack_folds(each, labels).select(pl.lit(str(name)).alias("model"), pl.all())
            for name, each in folds.items()
        ]
    else:
        frames = [_stack_folds(folds, labels)]
    if not frames:
        raise PrcError("expected one model or more; got an empty mapping")
    frame = pl.concat(frames)
    if (frame["repeat"] > 0).any():
        words["cluster"] = "example"
    return DataFramePrc(frame)(**words)


def _score_folds(found: Any, X: Any, pos_label: Any) -> list[tuple[Any, Any]]:  # noqa: N803
    """Return the examples that each fold tests, and the scores of its model."""
    if not isinstance(found, Mapping) or not {"estimator", "indices"} <= found.keys():
        has = f"a mapping with {', '.join(map(str, found))}" if isinstance(found, Mapping) else found
        raise PrcError(f"expected {_RESULTS}, with both flags; got {describe_value(has)}")
    scores = []
    for estimator, test in zip(found["estimator"], found["indices"]["test"], strict=False):
        positive, _ = read_classes(estimator, pos_label)
        try:  # a list, an array, a sparse matrix, or a frame of pandas or Polars
            if isinstance(X, list):
                rows: Any = [X[row] for row in test]
            else:
                rows = X.iloc[test] if hasattr(X, "iloc") else X[test]
        except Exception:  # what an object raises that has no such rows
            raise PrcError(
                "X takes the data that were cross-validated, all rows in their order, as an array or a "
                f"frame; got {describe_value(X)}"
            ) from None
        scores.append((test, predict_scores(estimator, rows, positive)))
    return scores


def _stack_folds(folds: Any, labels: NDArray[np.bool_]) -> pl.DataFrame:
    """Return the rows of all folds of a model; raise for what is no fold."""
    import numpy as np

    tested = np.zeros(len(labels), dtype=bool)
    repeat, frames = 0, []
    for fold, (example, score) in enumerate(_read_folds(folds, len(labels))):
        if tested[example].any():
            repeat += 1
            tested[:] = False
        tested[example] = True
        rows = pl.DataFrame({"example": example, "score": score, "label": labels[example]})
        frames.append(rows.with_columns(repeat=pl.lit(repeat, pl.Int64), fold=pl.lit(fold, pl.Int64)))
    if not frames:
        raise PrcError("expected one fold or more; got none")
    return pl.concat(frames).select("example", "repeat", "fold", "score", "label")


def _read_folds(folds: Any, n: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Yield row numbers and scores of each fold, which tests rows of the data, each once."""
    import numpy as np

    try:
        pairs = [(test, score) for test, score in folds]
    except (TypeError, ValueError):
        raise PrcError(
            "folds takes a pair of arrays for each fold, the rows that it tests and their scores; got "
            f"{describe_value(folds)}"
        ) from None
    for fold, (test, score) in enumerate(pairs):
        rows = read_array("the rows of a fold", test, "iu", "row numbers").astype(np.int64)
        scores = read_array("the scores of a fold", score, "biuf", "numbers").astype(np.float64)
        check_lengths(rows=rows, scores=scores)
        if len(rows) and not (rows.min() >= 0 and rows.max() < n):
            raise PrcError(
                f"fold {fold} tests row {rows.max() if rows.max() >= n else rows.min()}, and y has {n} "
                "rows, from 0; pass the data that were cross-validated, all rows in their order"
            )
        if len(np.unique(rows)) < len(rows):
            raise PrcError(f"fold {fold} tests a row twice; pass each row of a fold once")
        yield rows, scores
