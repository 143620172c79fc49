"""Scores of positives and negatives that no formula was tuned on: of fitted models, and of odd shapes.

Each function returns both arrays, the same on every call. `populations.FRESH` draws from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Scores = tuple[Floats, Floats]

N_POS, N_NEG = 4_000, 40_000
"""Sizes of pools of drawn numbers, far above those of test sets, so that few examples come twice."""
N_TRAINING, N_SCORED = 3_000, 40_000
"""Rows that a model is fitted to in less than 3 seconds, and rows that it scores."""


def split(score: Any, label: Any) -> Scores:
    score, is_positive = np.asarray(score, dtype=float), np.asarray(label) == 1
    return score[is_positive], score[~is_positive]


def make_noisy_rows() -> tuple[Any, Any]:
    """Return features and labels of which 3% are random."""
    from sklearn.datasets import make_classification

    return make_classification(
        N_TRAINING + N_SCORED, n_features=12, n_informative=6, n_redundant=2, n_clusters_per_class=3,
        weights=[0.9], flip_y=0.03, class_sep=1.2, random_state=1,
    )  # fmt: skip


def fit_and_score(estimator: Any) -> tuple[Any, Any, Any]:
    """Return an estimator fitted to the first rows, and the features and labels of the others."""
    features, label = make_noisy_rows()
    estimator.fit(features[:N_TRAINING], label[:N_TRAINING])
    return estimator, features[N_TRAINING:], label[N_TRAINING:]


def vote_by_forest() -> Scores:
    """Return how many of 40 trees vote for the positive class: 41 levels."""
    from sklearn.ensemble import RandomForestClassifier

    forest, features, label = fit_and_score(RandomForestClassifier(40, random_state=2))
    features = features.astype(np.float32)
    return split(sum(tree.predict(features) for tree in forest.estimators_), label)


def boost_trees() -> Scores:
    from sklearn.ensemble import GradientBoostingClassifier

    trees, features, label = fit_and_score(GradientBoostingClassifier(n_estimators=60, random_state=3))
    return split(trees.decision_function(features), label)


def fit_logistic() -> Scores:
    from sklearn.linear_model import LogisticRegression

    model, features, label = fit_and_score(LogisticRegression())
    return split(model.decision_function(features), label)


def score_out_of_fold(estimator: Any, features: Any, label: Any) -> Scores:
    """Return probabilities, each by a model that was fitted to other rows."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(5, shuffle=True, random_state=4)
    probability = cross_val_predict(estimator, features, label, cv=folds, method="predict_proba")
    return split(probability[:, 1], label)


def recognise_digits() -> Scores:
    """Return naive Bayes probabilities of a digit, of which many are 0 or 1."""
    from sklearn.datasets import load_digits
    from sklearn.naive_bayes import GaussianNB

    digits = load_digits()
    return score_out_of_fold(GaussianNB(var_smoothing=1e-2), digits.data, digits.target == 3)


def find_neighbours() -> Scores:
    """Return shares of 15 neighbours that are positive, of two classes that are nearly apart."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    tumours = load_breast_cancer()
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(15))
    return score_out_of_fold(model, tumours.data, tumours.target == 0)


def isolate_anomalies() -> Scores:
    """Return anomaly scores, of a forest that saw no label, of clusters and of scattered positives."""
    from sklearn.ensemble import IsolationForest

    rng = np.random.default_rng(5)
    centres = rng.normal(scale=3, size=(6, 4))
    usual = centres[rng.integers(6, size=20_000)] + rng.standard_t(5, size=(20_000, 4))
    odd = rng.uniform(-9, 9, size=(2_000, 4))
    forest = IsolationForest(n_estimators=40, random_state=6).fit(usual[:4_000])
    return -forest.score_samples(odd), -forest.score_samples(usual[4_000:])


def mix_lognormals() -> Scores:
    rng = np.random.default_rng(7)
    place = np.where(rng.random(N_POS) < 0.7, 1.6, 0.2)
    return rng.lognormal(place, 0.7), rng.lognormal(0, np.where(rng.random(N_NEG) < 0.9, 0.6, 1.1))


def count_symptoms() -> Scores:
    """Return scores of five levels."""
    shares = ((0.1, 0.2, 0.25, 0.25, 0.2), (0.578, 0.3, 0.1, 0.02, 0.002))
    return tuple(  # type: ignore[return-value]
        np.repeat(np.arange(5.0), np.round(1_000 * np.array(share)).astype(int)) for share in shares
    )


def tie_at_zero() -> Scores:
    """Return scores of which 93% of negatives and a fifth of positives are 0."""
    rng = np.random.default_rng(8)
    positive = np.where(rng.random(N_POS) < 0.2, 0, rng.beta(3, 2, N_POS))
    return positive, np.where(rng.random(N_NEG) < 0.93, 0, rng.beta(1.5, 3, N_NEG))


def contaminate() -> Scores:
    """Return scores of which 0.4% of negatives are those of positives."""
    rng = np.random.default_rng(9)
    is_alike = rng.random(N_NEG) < 0.004
    return rng.normal(3, 1, N_POS), rng.normal(np.where(is_alike, 3, 0), 1)


def contaminate_rarely() -> Scores:
    """Return scores of which 0.06% of negatives are among the highest: about one in 2,000."""
    rng = np.random.default_rng(60)
    is_alike = rng.random(N_NEG) < 0.0006
    return rng.normal(2.2, 1, N_POS), rng.normal(np.where(is_alike, 4, 0), 1)
