"""Prevalences that are estimates: what intervals are worth that carry their error, and their own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from polars_prcurve import PrcWarning, eta_from_sample, metrics

from .areas import draw_two_models
from .experiment import (
    CONFIDENCE,
    Row,
    experiment,
    hold_point,
    list_at_target,
    measure_coverage,
    split_sets,
)
from .populations import (
    AREAS,
    BETA,
    CALIBRATED,
    CAUCHY,
    FIVE,
    GUMBEL,
    HARD,
    MIXTURE,
    Cell,
    Model,
    draw_flagged,
    draw_short,
    normal,
    true_rates,
)

# Samples of the field -------------------------------------------------------------------------


@dataclass(frozen=True)
class Sampled:
    """A test set, with recall and fpr of a threshold, and a sample of events from the field."""

    n_pos: int
    n_neg: int
    recall: float
    fpr: float
    eta: float
    events: int


SAMPLED = [
    Sampled(50, 2_000, 0.7, 0.01, 0.1, 50),
    Sampled(50, 2_000, 0.7, 0.01, 0.1, 500),
    Sampled(200, 2_000, 0.5, 0.02, 0.01, 500),
    Sampled(200, 20_000, 0.8, 0.005, 0.001, 10_000),
    Sampled(1_000, 20_000, 0.8, 0.005, 0.1, 200),
    Sampled(1_000, 20_000, 0.8, 0.005, 0.3, 100),
    Sampled(200, 2_000, 0.5, 0.02, 0.01, 100),
    Sampled(200, 2_000, 0.5, 0.02, 0.005, 100),
    Sampled(50, 5_000, 0.9, 0.02, 0.05, 200),
    Sampled(20, 500, 0.6, 0.04, 0.2, 40),
    Sampled(100, 1_000, 0.8, 0.05, 0.02, 300),
    Sampled(300, 300, 0.9, 0.3, 0.8, 50),
    Sampled(30, 300, 0.9, 0.1, 0.5, 60),
    Sampled(500, 50_000, 0.6, 0.0005, 0.0005, 20_000),
    Sampled(40, 4_000, 0.95, 0.2, 0.02, 50),
    Sampled(5_000, 50_000, 0.7, 0.01, 0.02, 1_000),
]
SHOWN = ("precision", "f1", "lift", "npv", "accuracy", "mcc", "cohen_kappa", "predicted_positive_rate")


def sample_field(rng: np.random.Generator, eta: float, events: int, sets: int) -> pl.DataFrame:
    samples = {"set": np.arange(sets), "k": rng.binomial(events, eta, sets)}
    return eta_from_sample(pl.DataFrame(samples | {"n": [events] * sets}))


@experiment(SAMPLED, 10_000)
def measure_sampled_eta_points(cell: Sampled, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Bands of point metrics with an eta from a sample; `as_fixed` is precision with eta as a number."""
    drawn = draw_flagged((cell.n_pos, cell.n_neg), (cell.recall, cell.fpr), n_sets, rng)
    etas = sample_field(rng, cell.eta, cell.events, n_sets)
    asked: Any = {"threshold": 1, "confidence": CONFIDENCE, "by": "set", "counts": ("n_pos", "n_neg")}
    fixed = drawn.prc.operating_points(etas.select("set", "eta"), metrics="precision", **asked)
    found = drawn.prc.operating_points(etas, metrics=list(SHOWN), **asked)
    truths = {name: getattr(metrics, name)(cell.recall, cell.fpr, cell.eta) for name in SHOWN}
    row = asdict(cell) | {"none_in_sample": (etas["eta"] == 0).mean()}
    row |= {"as_fixed": hold_point(fixed, "precision", truths["precision"])["coverage"]}
    yield row | {name: hold_point(found, name, truth)["coverage"] for name, truth in truths.items()}


AREAS_AT = [(200, 2_000, 0.1, 200), (200, 2_000, 0.1, 2_000), (50, 2_000, 0.1, 100)]
AREAS_AT += [(200, 20_000, 0.01, 1_000), (200, 20_000, 0.01, 10_000), (1_000, 5_000, 0.3, 100)]
AREAS_AT += [(100, 1_000, 0.02, 200), (300, 300, 0.5, 50)]


@experiment([*product((BETA, MIXTURE, FIVE), AREAS_AT)], 2_000)
def measure_sampled_eta_areas(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Intervals of areas with an eta from a sample; `as_fixed` with eta as a number."""
    model, (n_pos, n_neg, eta, events) = cell
    place = Cell(model, n_pos, n_neg)
    metric = "average_precision"
    found: dict[str, list[pl.DataFrame]] = {"fixed": [], "sampled": []}
    for sets in split_sets(n_sets, 2 * n_pos + 1):
        drawn = draw_short(place, sets, rng)
        samples = sample_field(rng, eta, events, sets)
        for kind, parts in found.items():
            etas = samples.select("set", "eta") if kind == "fixed" else samples
            summary = drawn.prc.summary(
                etas, metrics=metric, confidence=CONFIDENCE, by="set", counts=("n_pos", "n_neg")
            )
            parts.append(summary.select("low", "high", "doubt"))
    fixed, sampled = (pl.concat(parts) for parts in found.values())
    truth = AREAS[metric](model, eta)
    row = place.row | {"eta": eta, "events": events, "metric": metric}
    row |= {"as_fixed": measure_coverage(fixed, truth)["coverage"]}
    yield row | measure_coverage(sampled, truth)


DIFFERENCES_AT = [(100, 1_000, 0.1, 100), (200, 2_000, 0.1, 2_000), (200, 2_000, 0.02, 300)]
DIFFERENCES_AT += [(100, 5_000, 0.01, 1_000), (300, 300, 0.5, 50)]


@experiment([*product(((2.0, 1.5), (3.0, 2.0)), DIFFERENCES_AT)], 400)
def measure_sampled_eta_differences(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Intervals of differences in average precision of two models, with an eta from a sample."""
    shifts, (n_pos, n_neg, eta, events) = cell
    found: dict[str, list[pl.DataFrame]] = {"fixed": [], "sampled": []}
    for sets in split_sets(n_sets, n_pos + n_neg):
        drawn = draw_two_models((n_pos, n_neg), shifts, sets, rng)
        samples = sample_field(rng, eta, events, sets)
        for kind, parts in found.items():
            etas = samples.select("set", "eta") if kind == "fixed" else samples
            differences = drawn.prc.compare(
                etas,
                score=["a", "b"],
                metrics="average_precision",
                by="set",
                confidence=CONFIDENCE,
            )
            parts.append(differences.select("low", "high", "doubt"))
    fixed, sampled = (pl.concat(parts) for parts in found.values())
    of_a, of_b = (AREAS["average_precision"](normal(shift), eta) for shift in shifts)
    row = {"shifts": "{:g} and {:g}".format(*shifts), "n_pos": n_pos, "n_neg": n_neg}
    row |= {"eta": eta, "events": events}
    row |= {"as_fixed": measure_coverage(fixed, of_a - of_b)["coverage"]}
    yield row | measure_coverage(sampled, of_a - of_b)


# estimate_prevalence --------------------------------------------------------------------------

EDGES = np.concatenate([[-np.inf], np.linspace(-5, 7, 399), [np.inf]])
MIDDLES = np.linspace(-5.015, 7.015, 400)
"""Scores are counted in 400 narrow bins, far finer than the ten levels that the method cuts."""


@dataclass(frozen=True)
class Unlabelled:
    """A reference and unlabelled rows; scores of negatives are normal, those of positives moved by d."""

    d: float
    n_pos: int
    n_neg: int
    n: int
    eta: float
    moved: float = 0.0
    """All scores of the field are this much higher than in the reference."""
    d_field: float | None = None
    """What d is in the field, if it differs."""
    rounded: bool = False
    """Scores have five values."""

    @property
    def what(self) -> str:
        if self.moved:
            return f"scores {self.moved} sd higher in the field"
        if self.d_field is not None:
            return f"and {self.d_field:g} in the field"
        return "five distinct scores" if self.rounded else "only the prevalence differs"

    def draw_counts(
        self, size: int, mean: float, sets: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        shares = np.diff(stats.norm.cdf(EDGES, loc=mean))
        counts = rng.multinomial(size, shares / shares.sum(), size=sets)
        if self.rounded:
            counts = np.add.reduceat(counts, np.searchsorted(MIDDLES, [-9, 0, 1, 2, 3]), axis=1)
        return counts

    def draw_tables(self, sets: int, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the reference and the unlabelled rows, of all test sets."""
        n_pos = self.draw_counts(self.n_pos, self.d, sets, rng)
        n_neg = self.draw_counts(self.n_neg, 0, sets, rng)
        d = self.d if self.d_field is None else self.d_field
        mixed = np.stack(
            [
                self.draw_counts(k, d + self.moved, 1, rng)[0]
                + self.draw_counts(self.n - k, self.moved, 1, rng)[0]
                for k in rng.binomial(self.n, self.eta, size=sets)
            ]
        )
        width = n_pos.shape[1]
        scores = MIDDLES if width == len(MIDDLES) else np.arange(width)
        keys = {"set": np.repeat(np.arange(sets), width), "score": np.tile(scores, sets)}
        reference = pl.DataFrame(keys | {"n_pos": n_pos.ravel(), "n_neg": n_neg.ravel()})
        return reference, pl.DataFrame(keys | {"n": mixed.ravel()})


ALIKE = (
    Unlabelled(2, 200, 2_000, 10_000, 0.02),
    Unlabelled(2, 200, 2_000, 1_000, 0.1),
    Unlabelled(1, 200, 2_000, 1_000, 0.1),
    Unlabelled(1, 1_000, 10_000, 10_000, 0.1),
    Unlabelled(2, 50, 500, 5_000, 0.3),
    Unlabelled(2, 20, 2_000, 10_000, 0.02),
    Unlabelled(2, 200, 2_000, 10_000, 0.5),
    Unlabelled(2, 200, 2_000, 10_000, 0.005),
    Unlabelled(2, 1_000, 10_000, 100_000, 0.02),
    Unlabelled(2, 1_000, 10_000, 100_000, 0.001),
    Unlabelled(2, 200, 2_000, 10_000, 0.02, rounded=True),
)
CHANGED = (
    Unlabelled(2, 200, 2_000, 10_000, 0.02, moved=0.3),
    Unlabelled(2, 200, 2_000, 1_000, 0.1, moved=0.3),
    Unlabelled(2, 200, 2_000, 1_000, 0.1, moved=0.1),
    Unlabelled(2, 1_000, 10_000, 100_000, 0.02, moved=0.1),
    Unlabelled(2, 200, 2_000, 10_000, 0.1, d_field=1),
    Unlabelled(2, 1_000, 10_000, 100_000, 0.1, d_field=1.5),
)


def measure_estimates(cell: Unlabelled, estimates: pl.DataFrame) -> Row:
    where = {"d": cell.d, "n": cell.n, "eta": cell.eta}
    found = estimates.select(
        mean=pl.col("eta").mean(),
        spread=pl.col("eta").std(),
        coverage=pl.lit(cell.eta).is_between("eta_low", "eta_high").mean(),
        width=(pl.col("eta_high") - pl.col("eta_low")).mean(),
    ).row(0, named=True)
    return where | found


@experiment([*ALIKE, *CHANGED], 1_000)
def measure_mixture(cell: Unlabelled, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Intervals of `estimate_prevalence(reference=)`, and how often its test rejects."""
    labelled, field = cell.draw_tables(n_sets, rng)
    reference = labelled.prc(counts=("n_pos", "n_neg"), by="set")
    estimates = field.prc.estimate_prevalence(
        reference=reference, counts="n", confidence=CONFIDENCE, by="set"
    )
    where = {"field": cell.what, "n_pos": cell.n_pos, "n_neg": cell.n_neg}
    rejected = estimates.select((pl.col("shift_p_value") < 0.05).mean()).item()
    yield where | measure_estimates(cell, estimates) | {"rejected": rejected}


@experiment([*product((ALIKE[0], ALIKE[1], ALIKE[2], ALIKE[7]), (1, 1.25))], 1_000)
def measure_posteriors(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Intervals of `estimate_prevalence` from posteriors, calibrated or with too large log-odds."""
    place, sharper = cell
    _, field = place.draw_tables(n_sets, rng)
    log_odds = sharper * place.d * (pl.col("score") - place.d / 2)
    field = field.with_columns(score=1 / (1 + (-log_odds).exp()))
    estimates = field.prc.estimate_prevalence(0.5, counts="n", confidence=CONFIDENCE, by="set")
    yield {"log_odds": sharper} | measure_estimates(place, estimates)


# An estimate whose reference is the table that is asked -----------------------------------------


@dataclass(frozen=True)
class Shared:
    """A test set, and unlabelled rows of a field whose prevalence is estimated with it."""

    model: Model
    n_pos: int
    n_neg: int
    n: int
    eta: float

    def place(self, recall: float) -> float:
        """Return the score from which up this recall is reached."""
        if self.model.levels is None:
            return -float(np.asarray(self.model.fpr_at(recall)))
        return -float(np.searchsorted(np.cumsum(self.model.levels[0]), recall - 1e-9))

    def draw(self, sets: int, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the test sets, and the scores of the fields.

        A score is minus the fpr that it has, or minus the number of its level.
        """

        def score(of_pos: NDArray[np.bool_]) -> NDArray[np.float64]:
            u = rng.random(of_pos.shape)
            if self.model.levels is None:
                return -np.where(of_pos, np.asarray(self.model.fpr_at(u)), u)
            pos, neg = (np.searchsorted(np.cumsum(of), u) for of in self.model.levels)
            return -np.where(of_pos, pos, neg).clip(0, len(self.model.levels[0]) - 1).astype(float)

        label = np.tile(np.arange(self.n_pos + self.n_neg) < self.n_pos, sets)
        number = np.repeat(np.arange(sets), self.n_pos + self.n_neg)
        test = pl.DataFrame({"set": number, "score": score(label), "label": label})
        positive = rng.random(sets * self.n) < self.eta
        field = pl.DataFrame({"set": np.repeat(np.arange(sets), self.n), "score": score(positive)})
        return test, field


SHARED = [
    Shared(CAUCHY, 100, 1_000, 20_000, 0.05),
    Shared(GUMBEL, 100, 1_000, 20_000, 0.05),
    Shared(normal(2), 200, 2_000, 20_000, 0.02),
    Shared(normal(2), 50, 500, 5_000, 0.1),
    Shared(HARD, 100, 1_000, 20_000, 0.1),
    Shared(CALIBRATED, 200, 2_000, 10_000, 0.2),
    Shared(normal(1), 500, 5_000, 50_000, 0.1),
    Shared(BETA, 100, 2_000, 10_000, 0.01),
    Shared(MIXTURE, 300, 3_000, 5_000, 0.3),
    Shared(FIVE, 200, 1_000, 3_000, 0.5),
]


@experiment(SHARED, 1_000)
def measure_shared_reference(cell: Shared, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Metrics at an eta that is estimated with the table itself; `apart` as if with another table."""
    places = {f"recall {recall}": cell.place(recall) for recall in (0.5, 0.8)}
    names = ("precision", "f1", "npv")
    area = "average_precision"
    points: dict[str, list[pl.DataFrame]] = {"shared": [], "apart": []}
    summaries: dict[str, list[pl.DataFrame]] = {"shared": [], "apart": []}
    for sets in split_sets(n_sets, cell.n + cell.n_pos + cell.n_neg):
        labelled, scores = cell.draw(sets, rng)
        test, field = labelled.prc(by="set"), scores.prc(label=None, by="set")
        estimate = field.estimate_prevalence(reference=test, confidence=CONFIDENCE)
        apart = estimate.select("set", "eta", "eta_low", "eta_high", "eta_confidence")
        for kind, eta in (("shared", field), ("apart", apart)):
            asked: Any = {"eta": eta, "confidence": CONFIDENCE}
            with warnings.catch_warnings():  # in 1% of the sets chance refutes what is true
                warnings.simplefilter("ignore", PrcWarning)
                at = test.operating_points(metrics=names, threshold=list(places.values()), **asked)
                area_found = test.summary(metrics=area, **asked)
            points[kind].append(at.drop("set"))
            summaries[kind].append(area_found.drop("set"))
    where = {"model": cell.model.name, "n_pos": cell.n_pos, "n_neg": cell.n_neg}
    where |= {"n": cell.n, "eta": cell.eta}
    at, at_apart = (pl.concat(parts) for parts in points.values())
    held = at.filter(target=at["target"][0]).select(low="eta_low", high="eta_high")
    yield where | {"at": "all", "metric": "eta"} | measure_coverage(held, cell.eta)
    for place, score in places.items():
        recall, fpr = true_rates(cell.model, pl.Series([score]))
        for name in names:
            truth = float(getattr(metrics, name)(recall[0], fpr[0], cell.eta))
            found, other = (of.filter(target=score) for of in (at, at_apart))
            row = where | {"at": place, "metric": name}
            row["apart"] = hold_point(other, name, truth)["coverage"]
            yield row | hold_point(found, name, truth)
    summary, summary_apart = (pl.concat(parts) for parts in summaries.values())
    truth = AREAS[area](cell.model, cell.eta)
    row = where | {"at": "all", "metric": area}
    row["apart"] = measure_coverage(summary_apart, truth)["coverage"]
    yield row | measure_coverage(summary, truth)


# Targets at such a prevalence -----------------------------------------------------------------

TARGETS: dict[str, dict[str, float]] = {
    "recall 0.7": {"recall": 0.7},
    "2% alerts": {"predicted_positive_rate": 0.02},
    "precision 0.3": {"precision": 0.3},
}
SOUGHT_AT = [
    *(cell for cell in SHARED if cell.model.levels is None),
    Shared(GUMBEL, 500, 5_000, 2_000, 0.01),
    Shared(CAUCHY, 1_000, 10_000, 5_000, 0.005),
]


def find_truth(model: Model, eta: float, target: str, value: float) -> tuple[float, float] | None:
    """Return recall and fpr at the lowest threshold that meets a target; None if none does."""
    recall = np.linspace(0.002, 0.998, 200_001)
    fpr = np.asarray(model.fpr_at(recall))
    reached = np.asarray(getattr(metrics, target)(recall, fpr, eta))
    if target == "recall":
        return value, float(model.fpr_at(value))
    meets = reached <= value if target == "predicted_positive_rate" else reached >= value
    last = int(np.flatnonzero(meets)[-1]) if meets.any() else None
    return None if last is None or last == len(recall) - 1 else (float(recall[last]), float(fpr[last]))


@experiment(SOUGHT_AT, 400)
def measure_sought_at_estimates(cell: Shared, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Metrics at targets, at an eta from a sample of 500 events, or from scores of the field."""
    found: dict[tuple[str, str], list[pl.DataFrame]] = {}
    for sets in split_sets(n_sets, cell.n + cell.n_pos + cell.n_neg):
        labelled, scores = cell.draw(sets, rng)
        test, field = labelled.prc(by="set"), scores.prc(label=None, by="set")
        etas: dict[str, Any] = {"sample": sample_field(rng, cell.eta, 500, sets), "scores": field}
        for (source, eta), (name, target) in product(etas.items(), TARGETS.items()):
            at_target = list_at_target(*next(iter(target.items())))
            with warnings.catch_warnings():  # in 1% of the sets chance refutes what is true
                warnings.simplefilter("ignore", PrcWarning)
                summary = test.summary(eta, metrics=[*at_target.values()], confidence=CONFIDENCE)
            found.setdefault((source, name), []).append(summary.drop("set"))
    where = {"model": cell.model.name, "n_pos": cell.n_pos, "n_neg": cell.n_neg}
    where |= {"n": cell.n, "eta": cell.eta}
    for (source, name), parts in found.items():
        ((target, value),) = TARGETS[name].items()
        truth = find_truth(cell.model, cell.eta, target, value)
        summary = pl.concat(parts)
        for metric, at_target in list_at_target(target, value).items() if truth is not None else ():
            true = float(getattr(metrics, metric)(*truth, cell.eta))
            row = where | {"eta_from": source, "target": name, "metric": metric}
            shares = measure_coverage(summary.filter(metric=at_target.name), true)
            yield row | {kind: shares[kind] for kind in ("no_interval", "coverage", "width")}
