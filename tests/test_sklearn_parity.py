"""The same numbers as scikit-learn, where it has them: counts, curves and step AP."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics as sk

from polars_prcurve import metrics, prc

PREVALENCES = [1e-6, 0.001, 0.1, 0.5, 0.9, 1.0]
CLOSE = {"rtol": 1e-12, "atol": 1e-14}


def table(kind: str, seed: int, n: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.3
    score = rng.normal(label * 1.0)
    score = {
        "continuous": score,
        "tied": np.round(score, 1),
        "coarse": np.round(score),
        "narrow": score.astype(np.float32),
        "whole": np.round(score * 10).astype(np.int64),
    }[kind]
    weight = rng.choice([0.0, 0.1, 0.25, 1.0, 7.0], n)
    return pl.DataFrame({"score": score, "label": label, "w": weight, "ones": np.ones(n)})


KINDS = ["continuous", "tied", "coarse", "narrow", "whole"]
on_tables = pytest.mark.parametrize(
    ("frame", "weight"),
    [
        pytest.param(table(kind, seed), weight, id=f"{kind}-{seed}-{weight}")
        for kind in KINDS
        for seed in (0, 1)
        for weight in (None, "w")
    ],
)


def arrays(frame: pl.DataFrame, weight: str | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Label, score and weight of the rows that carry weight."""
    kept = frame if weight is None else frame.filter(pl.col(weight) > 0)
    return kept["label"].to_numpy(), kept["score"].to_numpy(), kept[weight or "ones"].to_numpy()


@on_tables
def test_roc_curve(frame: pl.DataFrame, weight: str | None) -> None:
    label, score, mass = arrays(frame, weight)
    fpr, tpr, thresholds = sk.roc_curve(label, score, sample_weight=mass, drop_intermediate=False)
    swept = prc(frame).sweep(weight=weight)
    assert_array_equal(swept["threshold"], thresholds[1:])  # the first is an invented infinity
    assert_allclose(swept["recall"], tpr[1:], **CLOSE)
    assert_allclose(swept["fpr"], fpr[1:], **CLOSE)


@on_tables
def test_confusion_counts(frame: pl.DataFrame, weight: str | None) -> None:
    if not hasattr(sk, "confusion_matrix_at_thresholds"):
        pytest.skip("this scikit-learn has no confusion_matrix_at_thresholds")
    label, score, mass = arrays(frame, weight)
    tn, fp, fn, tp, thresholds = sk.confusion_matrix_at_thresholds(label, score, sample_weight=mass)
    swept = prc(frame).sweep(weight=weight)
    assert_array_equal(swept["threshold"], thresholds)
    for name, expected in {"tp": tp, "fp": fp, "fn": fn, "tn": tn}.items():
        # sums of floats that cancel are exact here and rounded there
        assert_allclose(swept[name], expected, rtol=1e-12, atol=0.0 if weight is None else 1e-10)


@on_tables
def test_confusion_matrix_at_one_threshold(frame: pl.DataFrame, weight: str | None) -> None:
    label, score, mass = arrays(frame, weight)
    swept = prc(frame).sweep(weight=weight)
    for row in swept[:: max(1, swept.height // 5)].to_dicts():
        matrix = sk.confusion_matrix(
            label, score >= row["threshold"], sample_weight=mass, labels=[False, True]
        )
        assert_allclose(
            [row[name] for name in ("tn", "fp", "fn", "tp")], matrix.ravel(), rtol=1e-12, atol=1e-10
        )


@on_tables
def test_precision_recall_curve(frame: pl.DataFrame, weight: str | None) -> None:
    label, score, mass = arrays(frame, weight)
    precision, recall, thresholds = sk.precision_recall_curve(label, score, sample_weight=mass)
    curve = prc(frame).curve(weight=weight).reverse()  # there, thresholds rise
    assert_array_equal(curve["threshold"], thresholds)
    assert_allclose(curve["precision"], precision[:-1], **CLOSE)
    assert_allclose(curve["recall"], recall[:-1], **CLOSE)
    assert_allclose(
        step_area(curve.reverse()), sk.average_precision_score(label, score, sample_weight=mass), **CLOSE
    )


@pytest.mark.quick_cases(24)
@pytest.mark.parametrize("eta", PREVALENCES)
@on_tables
def test_any_prevalence_is_a_weight_per_class(
    frame: pl.DataFrame, weight: str | None, eta: float
) -> None:
    """scikit-learn with weights eta/P on positives and (1-eta)/N on negatives."""
    label, score, mass = arrays(frame, weight)
    shares = np.where(label, eta / mass[label].sum(), (1 - eta) / mass[~label].sum()) * mass
    kept = shares > 0
    precision, recall, thresholds = sk.precision_recall_curve(
        label[kept], score[kept], sample_weight=shares[kept]
    )
    curve = prc(frame).curve(eta, weight=weight)
    # at eta = 1 scikit-learn is left without negatives and their thresholds
    found = curve.filter(pl.col("threshold").is_in(thresholds)).reverse()
    assert_array_equal(found["threshold"], thresholds)
    assert_allclose(found["precision"], precision[:-1], **CLOSE)
    assert_allclose(found["recall"], recall[:-1], **CLOSE)
    area = sk.average_precision_score(label[kept], score[kept], sample_weight=shares[kept])
    assert_allclose(step_area(curve), area, **CLOSE)
    thinned = prc(frame).curve(eta, weight=weight, thresholds="corners")
    assert_allclose(step_area(thinned), area, **CLOSE)


def step_area(curve: pl.DataFrame) -> float:
    """Sum of recall gained times precision, by falling threshold."""
    gained = pl.col("recall").diff().fill_null(pl.col("recall"))
    return curve.select((gained * pl.col("precision")).sum()).item()


def test_many_groups_are_many_calls() -> None:
    frames = [table(kind, seed).cast({"score": pl.Float64}) for kind in KINDS for seed in range(4)]
    frame = pl.concat([one.with_columns(g=pl.lit(number)) for number, one in enumerate(frames)])
    areas = prc(frame).curve([0.01, None], by="g").group_by("g", "eta", maintain_order=True)
    for (number, eta), curve in areas:
        label, score = frames[number]["label"].to_numpy(), frames[number]["score"].to_numpy()
        share = label.mean() if eta != 0.01 else eta
        weights = np.where(label, share / label.mean(), (1 - share) / (1 - label.mean()))
        assert_allclose(
            step_area(curve), sk.average_precision_score(label, score, sample_weight=weights), **CLOSE
        )


@pytest.mark.parametrize(
    ("metric", "function"),
    [
        (metrics.accuracy, sk.accuracy_score),
        (metrics.balanced_accuracy, sk.balanced_accuracy_score),
        (metrics.f1, sk.f1_score),
        (metrics.f_beta(2), lambda *a, **k: sk.fbeta_score(*a, beta=2, **k)),
        (metrics.jaccard, sk.jaccard_score),
        (metrics.mcc, sk.matthews_corrcoef),
        (metrics.cohen_kappa, sk.cohen_kappa_score),
        (metrics.precision, sk.precision_score),
        (metrics.recall, sk.recall_score),
        (metrics.npv, lambda *a, **k: sk.precision_score(*a, pos_label=False, **k)),
        (metrics.specificity, lambda *a, **k: sk.recall_score(*a, pos_label=False, **k)),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
@pytest.mark.parametrize("eta", [None, 0.01, 0.5])
def test_point_metrics(metric: metrics.PointMetric, function: object, eta: float | None) -> None:
    frame = table("coarse", 5)
    label, score, mass = arrays(frame, "w")
    if eta is not None:
        mass = np.where(label, eta / mass[label].sum(), (1 - eta) / mass[~label].sum()) * mass
    curve = prc(frame).curve(eta, metrics=metric, weight="w")
    for row in curve[:-1].to_dicts():  # where all are positive, scikit-learn warns
        expected = function(label, score >= row["threshold"], sample_weight=mass)
        assert_allclose(row[metric.name], expected, rtol=1e-12, atol=1e-12)


def test_expressions_are_scikit_learns_too() -> None:
    frame = table("tied", 7)
    label, score, mass = arrays(frame, "w")
    fpr, tpr, thresholds = sk.roc_curve(label, score, sample_weight=mass, drop_intermediate=False)
    there = pl.DataFrame({"score": thresholds[1:], "tpr": tpr[1:], "fpr_": fpr[1:]})
    found = frame.with_columns(
        recall=pl.col("score").prc.recall("label", weight="w"),
        fpr=pl.col("score").prc.fpr("label", weight="w"),
    )
    joined = found.filter(pl.col("w") > 0).join(there, on="score", validate="m:1")
    assert joined.height == len(score)
    assert_allclose(joined["recall"], joined["tpr"], **CLOSE)
    assert_allclose(joined["fpr"], joined["fpr_"], **CLOSE)
