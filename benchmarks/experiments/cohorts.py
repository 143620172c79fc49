"""Random samples of the field: intervals of point metrics at the prevalence that was counted in them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from scipy import integrate, stats

from polars_prcurve.core.metrics.metric_lookup import find_point_metric

from .areas import COHORTS, Cohort, draw_cohort
from .designs import EFFECTS
from .experiment import (
    CONFIDENCE,
    Row,
    experiment,
    hold_point,
    list_at_target,
    measure_coverage,
    share_significant,
    split_sets,
)
from .populations import CALIBRATED, GUMBEL, HARD, Floats, Model, normal

SHOWN = (
    *("precision", "npv", "f1", "accuracy", "predicted_positive_rate"),
    *("f_beta(2)", "mcc", "cohen_kappa", "lift", "net_benefit(0.05)", "net_benefit(0.3)"),
)
RECALLS = (0.3, 0.8)


def find_truth(name: str, model: Model, recall: float, eta: float) -> float:
    fpr = float(np.asarray(model.fpr_at(recall)))
    return float(find_point_metric(name)(recall, fpr, eta))


def hold_own(cell: Cohort, names: tuple[str, ...], **target: Any) -> dict[str, Any]:
    return {"metrics": list(names), "by": "set", "confidence": CONFIDENCE, **target}


@experiment([cell for cell in COHORTS if cell.model.levels is None], 4_000)
def measure_cohort_points(cell: Cohort, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Bands at thresholds that stand, at the prevalence that was counted, and as if it had been said."""
    counted, said = [], []
    places = {recall: -float(np.asarray(cell.model.fpr_at(recall))) for recall in RECALLS}
    for sets in split_sets(n_sets, cell.n):
        drawn = draw_cohort(cell, sets, rng)
        asked = hold_own(cell, SHOWN, threshold=list(places.values()))
        counted.append(drawn.prc.operating_points(**asked))
        own = drawn.group_by("set").agg(eta=pl.col("label").mean())
        said.append(drawn.prc.operating_points(own, **asked))
    for name, (recall, place) in product(SHOWN, places.items()):
        truth = find_truth(name, cell.model, recall, cell.eta)
        found, fixed = (pl.concat(parts).filter(target=place) for parts in (counted, said))
        where = {"model": cell.model.name, "n": cell.n, "eta": cell.eta, "at": f"recall {recall}"}
        where |= {"metric": name, "as_said": hold_point(fixed, name, truth)["coverage"]}
        yield where | hold_marked(found, name, truth)


def hold_marked(found: pl.DataFrame, name: str, truth: float) -> Row:
    """Return shares of test sets, with those that are in no doubt."""
    shown = {"low": f"{name}_low", "high": f"{name}_high", "doubt": "doubt"}
    shares = measure_coverage(found.select(pl.col(of).alias(end) for end, of in shown.items()), truth)
    del shares["width"]
    return shares


TARGETS = {"recall": 0.6, "fpr": 0.02, "precision": 0.5, "predicted_positive_rate": 0.05}


def find_target_recall(model: Model, criterion: str, value: float, eta: float) -> float | None:
    """Return the recall at which a population meets a target, by falling score; None if it does not."""
    recall = np.linspace(1e-4, 1 - 1e-4, 200_001)
    if criterion == "recall":
        return value
    fpr = np.asarray(model.fpr_at(recall))
    at = {"fpr": fpr, "predicted_positive_rate": eta * recall + (1 - eta) * fpr}
    if criterion in at:
        meets = at[criterion] <= value
    else:
        meets = eta * recall >= value * (eta * recall + (1 - eta) * fpr)
    if not 0.05 < (best := float(recall[meets].max(initial=0.0))) < 0.98:
        return None
    return best


@experiment([cell for cell in COHORTS if cell.model.levels is None], 4_000)
def measure_cohort_targets(cell: Cohort, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Metrics at targets, at a prevalence that was counted, and as if it were said."""
    reached = {name: find_target_recall(cell.model, name, of, cell.eta) for name, of in TARGETS.items()}
    targets = {name: TARGETS[name] for name, recall in reached.items() if recall is not None}
    at_targets = {name: list_at_target(name, value) for name, value in targets.items()}
    asked: dict[str, Any] = {"by": "set", "confidence": CONFIDENCE}
    asked["metrics"] = [metric for of_target in at_targets.values() for metric in of_target.values()]
    counted, said = [], []
    for sets in split_sets(n_sets, cell.n):
        drawn = draw_cohort(cell, sets, rng)
        counted.append(drawn.prc.summary(**asked))
        own = drawn.group_by("set").agg(eta=pl.col("label").mean())
        said.append(drawn.prc.summary(own, **asked))
    for criterion, of_target in at_targets.items():
        recall = reached[criterion]
        assert recall is not None
        for name, metric in of_target.items():
            truth = find_truth(name, cell.model, recall, cell.eta)
            found, fixed = (pl.concat(parts).filter(metric=metric.name) for parts in (counted, said))
            where = {"model": cell.model.name, "n": cell.n, "eta": cell.eta}
            where |= {"at": f"{criterion} {targets[criterion]:g}", "metric": name}
            where["as_said"] = measure_coverage(fixed, truth)["coverage"]
            shares = measure_coverage(found, truth)
            del shares["width"]
            yield where | shares


# Decision curves ------------------------------------------------------------------------------

RISKS = (0.05, 0.1, 0.3, 0.6)
POSTERIORS = {"beta(1, 3)": stats.beta(1, 3), "beta(0.5, 8)": stats.beta(0.5, 8)}


@experiment(list(product(POSTERIORS, (200, 1_000, 4_000), (1.0, 1.5))), 1_000)
def measure_decision_curves(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Net benefit of a cohort of posteriors, which are the true risks or powers of them."""
    name, n, power = cell
    risks = POSTERIORS[name]
    true = risks.rvs((n_sets, n), random_state=rng)
    drawn = pl.DataFrame(
        {
            "set": np.repeat(np.arange(n_sets), n),
            "score": (true**power).ravel(),
            "label": (rng.random(true.shape) < true).ravel(),
        }
    )
    asked: dict[str, Any] = {"probabilities": RISKS, "by": "set", "confidence": CONFIDENCE}
    found = drawn.prc.decision_curve(**asked)
    fixed = []
    for (number,), one in drawn.group_by("set", maintain_order=True):
        if int(number) < 200:  # one prevalence a call
            eta = float(one["label"].mean())
            fixed.append(one.prc.decision_curve(eta, eta_train=eta, **asked))
    for risk in RISKS:
        weight = risk / (1 - risk)
        at = risk ** (1 / power)
        truth = integrate.quad(lambda x, w=weight: (x - w * (1 - x)) * risks.pdf(x), at, 1)[0]
        of_risk = pl.concat(fixed).filter((pl.col("threshold_probability") - risk).abs() < 1e-9)
        where = {"posteriors": name, "n": n, "power": power, "risk": risk}
        where["as_said"] = hold_point(of_risk, "net_benefit", truth)["coverage"]
        yield where | hold_point(found.filter(threshold_probability=risk), "net_benefit", truth)


# Two models of one cohort ----------------------------------------------------------------------


@experiment(list(product(((500, 0.1), (2_000, 0.05), (400, 0.3)), ((2.0, 2.0), (2.0, 1.6)))), 2_000)
def measure_cohort_differences(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Paired differences at thresholds and at targets, at the prevalence that was counted."""
    (n, eta), shifts = cell
    names = ("precision", "npv", "f1", "mcc", "net_benefit(0.1)")
    targets: tuple[dict[str, float], ...] = ({"threshold": 1.0}, {"recall": 0.6}, {"precision": 0.5})
    found: list[list[pl.DataFrame]] = [[] for _ in targets]
    for sets in split_sets(n_sets, 2 * n):
        label = (rng.random((sets, n)) < eta).ravel()
        noises = rng.normal(size=(3, sets * n))
        a, b = ((noises[i] + noises[2]) / 2**0.5 + shifts[i] * label for i in range(2))
        number = np.repeat(np.arange(sets), n)
        drawn = pl.DataFrame({"set": number, "label": label, "a": a, "b": b})
        table = drawn.prc(score=["a", "b"], by="set")
        for part, target in zip(found, targets, strict=True):
            asked = [name for name in names if name not in target]
            part.append(table.compare(metrics=asked, confidence=CONFIDENCE, **target))
    for part, target in zip(found, targets, strict=True):
        every, (criterion, value) = pl.concat(part), next(iter(target.items()))
        for name in names:
            if name == criterion:
                continue
            truths = []
            for shift in shifts:
                model = normal(shift)
                recall = float(stats.norm.sf(value - shift))
                if criterion != "threshold":
                    recall = find_target_recall(model, criterion, value, eta) or 0.0
                truths.append(find_truth(name, model, recall, eta))
            where = {"n": n, "eta": eta, "shifts": "{:g} and {:g}".format(*shifts)}
            where |= {"at": f"{criterion} {value:g}", "metric": name}
            of = every.filter(metric=name)
            shares = measure_coverage(of, truths[0] - truths[1])
            where |= shares | {"resolved": share_significant(of)}
            yield where


# Weights and clusters --------------------------------------------------------------------------

CUT, KEPT = 0.05, 10
"""Rows below the score of this fpr are sampled, one in KEPT."""


def draw_weighted(model: Model, n: int, eta: float, sets: int, rng: np.random.Generator) -> pl.DataFrame:
    drawn = draw_cohort(Cohort(model, n, eta), sets, rng)
    below = pl.col("score") < -CUT
    kept = pl.Series(rng.random(drawn.height) < 1 / KEPT)
    weighted = drawn.with_columns(w=pl.when(below).then(float(KEPT)).otherwise(1.0))
    return weighted.filter(~below | kept)


@experiment(
    list(product((normal(2), GUMBEL, HARD, CALIBRATED), ((4_000, 0.1), (10_000, 0.03)), RECALLS)), 8_000
)
def measure_weighted_cohorts(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Bands of a cohort whose rows below a score were sampled."""
    model, (n, eta), recall = cell
    names = ("precision", "npv", "f1", "mcc", "predicted_positive_rate", "net_benefit(0.05)")
    place = -float(np.asarray(model.fpr_at(recall)))
    parts = []
    for sets in split_sets(n_sets, n):
        drawn = draw_weighted(model, n, eta, sets, rng)
        asked = {"metrics": list(names), "by": "set", "confidence": CONFIDENCE, "weight": "w"}
        parts.append(drawn.prc.operating_points(threshold=place, **asked))
    for name in names:
        truth = find_truth(name, model, recall, eta)
        where = {"model": model.name, "n": n, "eta": eta, "at": f"recall {recall}", "metric": name}
        yield where | hold_marked(pl.concat(parts), name, truth)


def draw_patients(
    effects: str, patients: int, sets: int, rng: np.random.Generator
) -> tuple[pl.DataFrame, Floats]:
    """Return rows of patients, of whom some have more positives, and what one row is worth."""
    size = rng.integers(1, 9, (sets, patients))
    share = rng.beta(0.6, 2.4, (sets, patients))
    effect = EFFECTS[effects].rvs((sets, patients), random_state=rng)
    number = np.repeat(np.arange(sets * patients), size.ravel())
    label = rng.random(number.size) < share.ravel()[number]
    noise = effect.ravel()[number] / EFFECTS[effects].std() * 0.6 + rng.normal(size=number.size) * 0.8
    score = noise + 2 * label
    drawn = pl.DataFrame({"set": number // patients, "patient": number, "label": label, "score": score})
    return drawn, score


@experiment(list(product(("normal", "exponential"), (60, 200), (0.5, 2.0))), 2_000)
def measure_clustered_cohorts(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Bands of a cohort of patients, at a score."""
    effects, patients, place = cell
    names = ("precision", "npv", "f1", "mcc", "predicted_positive_rate", "net_benefit(0.05)")
    large, _ = draw_patients(effects, 400_000, 1, rng)
    counts = large.select(
        tp=(pl.col("label") & (pl.col("score") >= place)).sum(),
        fp=(~pl.col("label") & (pl.col("score") >= place)).sum(),
        n_pos=pl.col("label").sum(),
        n=pl.len(),
    ).row(0, named=True)
    recall, fpr = counts["tp"] / counts["n_pos"], counts["fp"] / (counts["n"] - counts["n_pos"])
    eta = counts["n_pos"] / counts["n"]
    drawn, _ = draw_patients(effects, patients, n_sets, rng)
    asked = {"metrics": list(names), "by": "set", "confidence": CONFIDENCE}
    found = drawn.prc.operating_points(threshold=place, cluster="patient", **asked)
    alone = drawn.prc.operating_points(threshold=place, **asked)
    for name in names:
        truth = float(find_point_metric(name)(recall, fpr, eta))
        where = {"effects": effects, "patients": patients, "at": f"score {place:g}", "metric": name}
        where["as_independent"] = hold_point(alone, name, truth)["coverage"]
        yield where | hold_marked(found, name, truth)
