"""How often thresholds of `guarantee=` break their promise, beside the 5 % that they may.

    python benchmarks/coverage_promises.py [--simulations N] [--only NAME ...]

`coverage.py` has the populations, and the promises of precision at one exact prevalence. Here are

    targets      the other targets: npv, fdr, lift, recall, fpr and alerts
    uncertain    prevalences that are samples of the field, k positives of n, drawn anew for each set
    together     several targets at one threshold, of which any may be missed
    within       precision in a field of several parts, and how often bands of a field hold the truth
    areas        how often intervals of average precision and ROC AUC of such fields hold the truth
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
from coverage import (
    BETA,
    CONFIDENCE,
    FIVE,
    MIXTURE,
    SEED,
    Model,
    Straight,
    normal,
    percent,
    student,
    table,
)
from numpy.typing import NDArray
from scipy import stats

import polars_prcurve
from polars_prcurve import eta_from_sample, metrics

Rates = tuple[NDArray[np.float64], NDArray[np.float64]]
"""True recall and fpr at each threshold that was found."""
ROUNDING = 1e-9
PER_BATCH = 1_000_000
"""Rows of a table that is asked at once."""


def draw_sets(model: Model, n_pos: int, n_neg: int, sets: int, rng: np.random.Generator) -> pl.DataFrame:
    """Counts by score, which is minus the true fpr of its threshold, or minus the number of a level."""
    if model.levels is not None:
        n = len(model.levels[0])
        sizes = {"n_pos": n_pos, "n_neg": n_neg}
        drawn = {
            name: rng.multinomial(size, shares, sets).ravel()
            for (name, size), shares in zip(sizes.items(), model.levels, strict=True)
        }
        number = {"simulation": np.arange(sets).repeat(n), "score": -np.tile(np.arange(n), sets) * 1.0}
        return pl.DataFrame(number | drawn)
    above = [model.fpr_at(rng.random((sets, n_pos))), rng.random((sets, n_neg))]
    positive = np.tile(np.arange(n_pos + n_neg) < n_pos, sets)
    score = -np.concatenate(above, axis=1).ravel()
    number = np.arange(sets).repeat(n_pos + n_neg)
    drawn = {"n_pos": 1 * positive, "n_neg": 1 * ~positive}
    return pl.DataFrame({"simulation": number, "score": score} | drawn)


def true_rates(model: Model, thresholds: pl.Series) -> Rates:
    found = -thresholds.drop_nulls().to_numpy()
    if model.levels is not None:
        recall, fpr = (np.cumsum(shares).clip(0, 1)[found.astype(int)] for shares in model.levels)
        return recall, fpr
    return np.asarray(model.recall_at(found)), found


def find_misses(criterion: str, target: float, eta: float, rates: Rates) -> NDArray[np.bool_]:
    """Whether each threshold misses the target in truth; `alerts` are among 1."""
    if criterion == "alerts":
        return metrics.predicted_positive_rate(*rates, eta) > target * (1 + ROUNDING)
    value = getattr(metrics, criterion)(*rates, eta)
    if criterion in ("fpr", "fdr"):
        return value > target * (1 + ROUNDING)
    return value < target * (1 - ROUNDING)


@dataclass(frozen=True)
class Promise:
    """Test sets in which targets are promised, all of them at one threshold if there are several."""

    model: Model
    n_pos: int
    n_neg: int
    eta: float
    targets: Mapping[str, float]
    sampled: int | None = None
    """The number of field events that eta is estimated from; None if it is known."""

    def count_broken(self, thresholds: pl.Series) -> float:
        """The share of test sets whose threshold misses a target in truth."""
        rates = true_rates(self.model, thresholds)
        missed = [find_misses(name, value, self.eta, rates) for name, value in self.targets.items()]
        return float(np.any(missed, axis=0).sum() / len(thresholds))

    def ask(self, sets: pl.DataFrame, eta: Any, **more: Any) -> pl.Series:
        given: dict[str, Any] = {"per": 1} if "alerts" in self.targets else {}
        given |= {"together": True} if len(self.targets) > 1 else {}
        return sets.prc.operating_points(
            eta,
            **self.targets,
            **given,
            **more,
            by="simulation",
            counts=("n_pos", "n_neg"),
        )["threshold"]

    def find_thresholds(self, sets: int, rng: np.random.Generator) -> list[pl.Series]:
        """Thresholds of some test sets: without guarantee, with it, and with the error of eta, too."""
        drawn = draw_sets(self.model, self.n_pos, self.n_neg, sets, rng)
        etas: list[Any] = [self.eta]
        if self.sampled is not None:
            sample = eta_from_sample(
                rng.binomial(self.sampled, self.eta, sets), self.sampled, confidence=SAMPLE_CONFIDENCE
            ).with_columns(simulation=pl.int_range(pl.len()))
            etas = [sample.drop("eta_low", "eta_high", "eta_confidence"), sample]
        return [
            self.ask(drawn, etas[0]),
            *(self.ask(drawn, eta, guarantee=CONFIDENCE) for eta in etas),
        ]

    def row(self, number: int, simulations: int) -> list[Any]:
        rng = np.random.default_rng([SEED, 7, number])
        each = max(1, PER_BATCH // (self.n_pos + self.n_neg))
        batches = [
            self.find_thresholds(min(each, simulations - first), rng)
            for first in range(0, simulations, each)
        ]
        plain, *sure = (pl.concat(parts) for parts in zip(*batches, strict=True))
        broken = [self.count_broken(found) for found in (plain, *sure)]
        found = 1 - sure[-1].null_count() / simulations
        recall, _ = true_rates(self.model, sure[-1])
        mean = float(recall.mean()) if len(recall) else None
        said = " & ".join(f"{name} {value:g}" for name, value in self.targets.items())
        where = [self.model.name, self.n_pos, self.n_neg, f"{self.eta:g}", said]
        sampled = [] if self.sampled is None else [self.sampled]
        return [*where, *sampled, *map(percent, (*broken, found, mean))]


SAMPLE_CONFIDENCE = 0.98
"""The level of the interval of eta, which leaves 0.04 of 0.05 to the tests."""
WHERE = ("model", "P", "N", "eta", "target")
OUTCOME = ("found", "mean recall")
NORMAL_2, NORMAL_3 = normal(2), normal(3)


def flat_npv(eta: float, npv: float) -> Straight:
    """A curve on whose lower part npv is the same everywhere, just below the target."""
    # There fnr / tnr is the ratio at which the target is just met, so the line ends in (1, 1).
    ratio = 1.002 * (1 - eta) * (1 - npv) / (eta * npv)
    corner = 0.1
    return Straight(
        f"line, npv below {npv:g}", corner / (1 - ratio * (1 - corner)), 1 - ratio * (1 - corner)
    )


def flat_precision(eta: float, precision: float) -> Straight:
    ratio = 1.001 * eta * (1 - precision) / ((1 - eta) * precision)
    return Straight(f"line, precision below {precision:g}", ratio)


TARGETS = [
    Promise(NORMAL_2, 100, 1000, 0.1, {"npv": 0.97}),
    Promise(NORMAL_3, 500, 5000, 0.01, {"npv": 0.999}),
    Promise(BETA, 200, 2000, 0.3, {"npv": 0.9}),
    Promise(MIXTURE, 1000, 2000, 0.1, {"npv": 0.95}),
    Promise(FIVE, 200, 1000, 0.1, {"npv": 0.95}),
    Promise(student(2), 300, 300, 0.5, {"npv": 0.9}),
    Promise(flat_npv(0.2, 0.9), 500, 2000, 0.2, {"npv": 0.9}),
    Promise(NORMAL_2, 100, 1000, 0.1, {"fdr": 0.3}),
    Promise(BETA, 200, 2000, 0.1, {"fdr": 0.5}),
    Promise(MIXTURE, 200, 2000, 0.1, {"fdr": 0.4}),
    Promise(flat_precision(0.1, 0.5), 200, 2000, 0.1, {"fdr": 0.5}),
    Promise(NORMAL_3, 200, 5000, 0.01, {"lift": 30}),
    Promise(NORMAL_2, 100, 1000, 0.1, {"lift": 5}),
    Promise(FIVE, 200, 2000, 0.1, {"lift": 4}),
    Promise(flat_precision(0.1, 0.5), 200, 2000, 0.1, {"lift": 5}),
    Promise(NORMAL_2, 100, 1000, 0.1, {"recall": 0.8}),
    Promise(FIVE, 50, 500, 0.1, {"recall": 0.5}),
    Promise(NORMAL_2, 100, 1000, 0.1, {"fpr": 0.02}),
    Promise(NORMAL_2, 20, 500, 0.1, {"alerts": 0.1}),
    Promise(NORMAL_3, 200, 5000, 0.01, {"alerts": 0.01}),
    Promise(BETA, 200, 2000, 0.3, {"alerts": 0.25}),
    Promise(MIXTURE, 50, 2000, 0.5, {"alerts": 0.3}),
    Promise(FIVE, 100, 1000, 0.1, {"alerts": 0.08}),
    Promise(student(2), 50, 500, 0.02, {"alerts": 0.03}),
]

UNCERTAIN = [
    Promise(NORMAL_2, 100, 1000, 0.1, {"precision": 0.6}, 500),
    Promise(NORMAL_3, 200, 10_000, 0.01, {"precision": 0.4}, 2000),
    Promise(NORMAL_3, 200, 10_000, 0.01, {"precision": 0.2}, 500),
    Promise(normal(3.5), 500, 5000, 0.05, {"precision": 0.8}, 200),
    Promise(BETA, 1000, 10_000, 0.3, {"precision": 0.7}, 100),
    Promise(FIVE, 200, 2000, 0.1, {"precision": 0.5}, 500),
    Promise(flat_precision(0.1, 0.5), 1000, 5000, 0.1, {"precision": 0.5}, 20_000),
    Promise(MIXTURE, 1000, 5000, 0.1, {"fdr": 0.4}, 1000),
    Promise(BETA, 500, 2000, 0.3, {"npv": 0.9}, 300),
    Promise(NORMAL_2, 500, 5000, 0.05, {"npv": 0.98}, 500),
    Promise(NORMAL_3, 500, 5000, 0.01, {"lift": 25}, 2000),
    Promise(NORMAL_2, 500, 5000, 0.1, {"alerts": 0.1}, 500),
    Promise(NORMAL_3, 1000, 10_000, 0.01, {"alerts": 0.012}, 5000),
    Promise(BETA, 500, 500, 0.5, {"alerts": 0.4}, 100),
]


TOGETHER = [
    Promise(NORMAL_3, 200, 10_000, 0.01, {"precision": 0.5, "alerts": 0.01}),
    Promise(NORMAL_2, 100, 1000, 0.1, {"precision": 0.6, "alerts": 0.06}),
    Promise(normal(3.5), 500, 5000, 0.05, {"precision": 0.7, "recall": 0.75}),
    Promise(BETA, 1000, 5000, 0.3, {"precision": 0.6, "npv": 0.88}),
    Promise(MIXTURE, 200, 2000, 0.1, {"recall": 0.4, "fpr": 0.05}),
    Promise(FIVE, 200, 2000, 0.1, {"precision": 0.5, "recall": 0.5, "alerts": 0.12}),
    Promise(flat_precision(0.1, 0.5), 200, 2000, 0.1, {"precision": 0.5, "alerts": 0.2}),
]


@dataclass(frozen=True)
class Part:
    """A part of a field: normal scores, of positives d higher, and of all by an offset."""

    n_pos: int
    n_neg: int
    eta: float
    share: float
    d: float
    offset: float = 0.0


@dataclass(frozen=True)
class Field:
    """Test sets of a field of several parts, in which a precision is promised."""

    name: str
    parts: tuple[Part, ...]
    precision: float

    @property
    def frame(self) -> pl.DataFrame:
        rows = [(i, part.eta, part.share) for i, part in enumerate(self.parts)]
        return pl.DataFrame(rows, schema=["part", "eta", "share"], orient="row")

    def draw_sets(self, sets: int, rng: np.random.Generator) -> pl.DataFrame:
        frames = []
        for i, part in enumerate(self.parts):
            label = np.arange(part.n_pos + part.n_neg) < part.n_pos
            score = rng.normal(size=(sets, len(label))) + part.d * label + part.offset
            number = np.arange(sets).repeat(len(label))
            columns = {"simulation": number, "score": score.ravel(), "label": np.tile(label, sets)}
            frames.append(pl.DataFrame(columns).with_columns(part=pl.lit(i, dtype=pl.Int64)))
        return pl.concat(frames)

    def find_rates(self, threshold: Any) -> tuple[Any, Any, float]:
        """Return true recall and fpr of the field at thresholds, and its prevalence."""
        whole = sum(part.share for part in self.parts)
        pos = neg = eta = 0.0
        for part in self.parts:
            weight = part.share / whole
            eta += weight * part.eta
            pos = pos + weight * part.eta * stats.norm.sf(threshold - part.offset - part.d)
            neg = neg + weight * (1 - part.eta) * stats.norm.sf(threshold - part.offset)
        return pos / eta, neg / (1 - eta), eta

    @property
    def best_recall(self) -> float:
        recall, fpr, eta = self.find_rates(np.linspace(-4, 12, 100_001))
        return float(
            np.max(recall, where=metrics.precision(recall, fpr, eta) >= self.precision, initial=0)
        )

    def row(self, number: int, simulations: int) -> list[Any]:
        rng = np.random.default_rng([SEED, 8, number])
        each = max(1, PER_BATCH // sum(part.n_pos + part.n_neg for part in self.parts))
        found: list[list[pl.Series]] = [[], []]
        for first in range(0, simulations, each):
            sets = self.draw_sets(min(each, simulations - first), rng)
            for place, more in enumerate(({}, {"guarantee": CONFIDENCE})):
                points = sets.prc.operating_points(
                    self.frame, within="part", precision=self.precision, by="simulation", **more
                )
                found[place].append(points["threshold"])
        plain, sure = (pl.concat(parts).drop_nulls().to_numpy() for parts in found)
        broken = []
        for thresholds in (plain, sure):
            precision = metrics.precision(*self.find_rates(thresholds))
            broken.append(float(np.sum(precision < self.precision * (1 - ROUNDING)) / simulations))
        recall = self.find_rates(sure)[0]
        share = float(recall.mean() / self.best_recall) if len(sure) and self.best_recall else None
        where = [self.name, f"{self.precision:g}", percent(self.best_recall)]
        return [*where, *map(percent, (*broken, len(sure) / simulations, share))]

    def sample_etas(self, sets: int, n: int, rng: np.random.Generator) -> pl.DataFrame:
        """The prevalences of all parts of some test sets, each from n events of the part."""
        return pl.concat(
            eta_from_sample(rng.binomial(n, part.eta, sets), n).with_columns(
                part=pl.lit(i, dtype=pl.Int64),
                share=pl.lit(part.share),
                simulation=pl.int_range(pl.len()),
            )
            for i, part in enumerate(self.parts)
        )

    def covered_row(self, number: int, simulations: int, n: int, threshold: float) -> list[Any]:
        """How often intervals hold the truth: eta known, sampled and taken as exact, and sampled."""
        rng = np.random.default_rng([SEED, 9, number])
        recall, fpr, eta = self.find_rates(threshold)
        shown = ["precision", "f1", "recall"]
        held: list[list[pl.DataFrame]] = [[], [], []]
        each = max(1, PER_BATCH // sum(part.n_pos + part.n_neg for part in self.parts))
        for first in range(0, simulations, each):
            number_of_sets = min(each, simulations - first)
            sets = self.draw_sets(number_of_sets, rng)
            samples = self.sample_etas(number_of_sets, n, rng)
            exact = samples.drop("eta_low", "eta_high", "eta_confidence")
            for place, frame in enumerate((self.frame, exact, samples)):
                points = sets.prc.operating_points(
                    frame,
                    within="part",
                    threshold=threshold,
                    metrics=shown,
                    confidence=CONFIDENCE,
                    by="simulation",
                )
                truth = {name: getattr(metrics, name)(recall, fpr, eta) for name in shown}
                inside = (
                    pl.lit(value).is_between(
                        pl.col(f"{name}_low") - ROUNDING, pl.col(f"{name}_high") + ROUNDING
                    )
                    for name, value in truth.items()
                )
                held[place].append(
                    points.select(e.alias(name) for e, name in zip(inside, shown, strict=True))
                )
        shares = [pl.concat(parts).mean().row(0) for parts in held]
        return [self.name, f"{threshold:g}", n, *(percent(s) for share in shares for s in share)]

    @property
    def areas(self) -> dict[str, float]:
        """The true areas of the field."""
        recall, fpr, eta = self.find_rates(np.linspace(14, -9, 400_001))
        recall, fpr = recall.clip(0, 1), fpr.clip(0, 1)
        precision = np.nan_to_num(metrics.precision(recall, fpr, eta), nan=1.0)
        middle = (precision[1:] + precision[:-1]) / 2
        area = float(middle @ np.diff(recall))
        return {"average_precision": area, "roc_auc": float(np.trapezoid(recall, fpr))}

    def areas_row(self, number: int, simulations: int, n: int) -> list[Any]:
        """How often intervals hold the areas, and are marked reliable: eta known, and sampled."""
        rng = np.random.default_rng([SEED, 10, number])
        areas = self.areas
        truth = pl.LazyFrame({"metric": list(areas), "truth": list(areas.values())})
        found: list[list[pl.DataFrame]] = [[], []]
        each = max(1, PER_BATCH // sum(part.n_pos + part.n_neg for part in self.parts))
        for first in range(0, simulations, each):
            number_of_sets = min(each, simulations - first)
            sets = self.draw_sets(number_of_sets, rng)
            samples = self.sample_etas(number_of_sets, n, rng)
            for place, frame in enumerate((self.frame, samples)):
                summary = sets.prc.summary(
                    frame,
                    within="part",
                    metrics=list(areas),
                    confidence=CONFIDENCE,
                    by="simulation",
                )
                found[place].append(summary)
        shown: list[Any] = []
        for parts in found:
            rows = pl.concat(parts).lazy().join(truth, on="metric")
            low, high = pl.col("low") - ROUNDING, pl.col("high") + ROUNDING
            held = pl.col("truth").is_between(low, high).mean()
            of = rows.group_by("metric").agg(held, pl.col("reliable").mean()).collect()
            for name in areas:
                shown += [percent(share) for share in of.filter(metric=name).row(0)[1:]]
        return [self.name, n, *shown]


FIELDS = [
    Field("two alike", (Part(100, 1000, 0.1, 1, 2.5), Part(100, 1000, 0.1, 1, 2.5)), 0.6),
    Field("rare and frequent", (Part(200, 2000, 0.01, 4, 3), Part(50, 500, 0.2, 1, 2)), 0.6),
    Field("moved scores", (Part(100, 2000, 0.05, 1, 2.5), Part(100, 2000, 0.05, 1, 2.5, 1)), 0.4),
    Field(
        "five of all sizes",
        tuple(
            Part(*of)
            for of in [
                (20, 500, 0.02, 1, 2),
                (50, 500, 0.05, 2, 2.5),
                (200, 2000, 0.01, 5, 3),
                (30, 3000, 0.01, 1, 2.5, 0.5),
                (100, 1000, 0.1, 1, 2.5),
            ]
        ),
        0.5,
    ),
    Field("one heavy and small", (Part(20, 200, 0.1, 9, 2.5), Part(500, 5000, 0.1, 1, 2.5)), 0.6),
    Field("ten small", tuple(Part(20, 200, 0.1, 1 + i, 2.5, 0.1 * i) for i in range(10)), 0.5),
    Field("rare", (Part(300, 10_000, 0.001, 1, 4), Part(300, 10_000, 0.003, 2, 4)), 0.4),
    Field("hardly reached", (Part(100, 1000, 0.1, 1, 1.5), Part(100, 1000, 0.2, 1, 1.5)), 0.7),
    Field("not reached", (Part(200, 2000, 0.1, 1, 0), Part(200, 2000, 0.1002, 1, 0)), 0.1002),
    Field("flat", (Part(500, 500, 0.5, 1, 0), Part(100, 500, 0.5, 2, 0)), 0.501),
]


def within(simulations: int) -> str:
    heads = [
        "field",
        "precision",
        "best recall",
        "broken without",
        "broken",
        "found",
        "share of best recall",
    ]
    promised = table(heads, (one.row(i, simulations) for i, one in enumerate(FIELDS)))
    of = ("precision", "F1", "recall")
    heads = ["field", "threshold", "n", *(f"{name}, {what}" for what in ETA_KINDS for name in of)]
    cells = [
        (0, 2000, 2),
        (1, 1000, 2.5),
        (2, 500, 2),
        (3, 1000, 2),
        (4, 300, 2),
        (5, 500, 2),
        (6, 5000, 3.5),
    ]
    rows = (FIELDS[i].covered_row(i, simulations, n, at) for i, n, at in cells)
    return f"{promised}\n### bands within\n\n{table(heads, rows)}"


def areas(simulations: int) -> str:
    kinds = ("held", "reliable")
    names = ("average precision", "ROC AUC")
    etas = ("eta known", "eta from k of n")
    heads = [
        "field",
        "n",
        *(f"{name}, {eta}: {kind}" for eta in etas for name in names for kind in kinds),
    ]
    sizes = (2000, 1000, 500, 1000, 300, 500, 5000, 500)
    return table(heads, (FIELDS[i].areas_row(i, simulations, n) for i, n in enumerate(sizes)))


ETA_KINDS = ("eta known", "eta as fixed", "eta from k of n")


def targets(simulations: int) -> str:
    heads = [*WHERE, "broken without", "broken", *OUTCOME]
    return table(heads, (one.row(i, simulations) for i, one in enumerate(TARGETS)))


def uncertain(simulations: int) -> str:
    heads = [*WHERE, "n", "broken without", "broken, eta as exact", "broken", *OUTCOME]
    return table(heads, (one.row(100 + i, simulations) for i, one in enumerate(UNCERTAIN)))


def together(simulations: int) -> str:
    heads = [*WHERE, "broken without", "broken", *OUTCOME]
    return table(heads, (one.row(200 + i, simulations) for i, one in enumerate(TOGETHER)))


NAMES: dict[str, Callable[[int], str]] = {
    "targets": targets,
    "uncertain": uncertain,
    "together": together,
    "within": within,
    "areas": areas,
}


def run(names: list[str], simulations: int) -> Iterator[str]:
    for name in names:
        yield f"### {name}, guarantee={CONFIDENCE}, {simulations} test sets a design\n\n" + NAMES[name](
            simulations
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Broken promises, beside the 5 % that are allowed.")
    parser.add_argument("--simulations", type=int, default=1000, help="test sets a design")
    names = {"nargs": "+", "choices": list(NAMES), "default": list(NAMES), "metavar": "NAME"}
    parser.add_argument("--only", **names, help=f"any of {', '.join(NAMES)}")
    given = parser.parse_args()
    start = perf_counter()
    print(f"polars_prcurve {polars_prcurve.__version__}\n")
    for text in run(given.only, given.simulations):
        print(text)
    print(f"{perf_counter() - start:.0f} seconds")


if __name__ == "__main__":
    main()
