"""Fields that consist of parts: promises, bands and areas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from polars_prcurve import eta_from_sample, metrics
from polars_prcurve import field as make_field

from .experiment import (
    CONFIDENCE,
    Row,
    experiment,
    hold_point,
    measure_coverage,
    share_significant,
    split_sets,
)
from .promises import find_misses


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
    def n_rows(self) -> int:
        return sum(part.n_pos + part.n_neg for part in self.parts)

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
            columns = {"set": number, "score": score.ravel(), "label": np.tile(label, sets)}
            frames.append(pl.DataFrame(columns).with_columns(part=pl.lit(i, dtype=pl.Int64)))
        return pl.concat(frames)

    def sample_etas(self, sets: int, n: int, rng: np.random.Generator) -> pl.DataFrame:
        """Return the prevalences of all parts of some test sets, each from n events of the part."""
        return pl.concat(
            eta_from_sample(rng.binomial(n, part.eta, sets), n).with_columns(
                part=pl.lit(i, dtype=pl.Int64), share=pl.lit(part.share), set=pl.int_range(pl.len())
            )
            for i, part in enumerate(self.parts)
        )

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
        kept = metrics.precision(recall, fpr, eta) >= self.precision
        return float(np.max(recall, where=kept, initial=0))

    @property
    def areas(self) -> dict[str, float]:
        """The true areas of the field."""
        recall, fpr, eta = self.find_rates(np.linspace(14, -9, 400_001))
        recall, fpr = recall.clip(0, 1), fpr.clip(0, 1)
        precision = np.nan_to_num(metrics.precision(recall, fpr, eta), nan=1.0)
        area = float((precision[1:] + precision[:-1]) / 2 @ np.diff(recall))
        return {"average_precision": area, "roc_auc": float(np.trapezoid(recall, fpr))}


SIZED = ((20, 500, 0.02, 1, 2), (50, 500, 0.05, 2, 2.5), (200, 2_000, 0.01, 5, 3))
SIZED_MOVED = ((30, 3_000, 0.01, 1, 2.5, 0.5), (100, 1_000, 0.1, 1, 2.5, 0.0))
FIVE_PARTS = tuple(Part(*of) for of in (*SIZED, *SIZED_MOVED))
FIELDS = [
    Field("two alike", (Part(100, 1_000, 0.1, 1, 2.5), Part(100, 1_000, 0.1, 1, 2.5)), 0.6),
    Field("rare and frequent", (Part(200, 2_000, 0.01, 4, 3), Part(50, 500, 0.2, 1, 2)), 0.6),
    Field("moved scores", (Part(100, 2_000, 0.05, 1, 2.5), Part(100, 2_000, 0.05, 1, 2.5, 1)), 0.4),
    Field("five of all sizes", FIVE_PARTS, 0.5),
    Field("one heavy and small", (Part(20, 200, 0.1, 9, 2.5), Part(500, 5_000, 0.1, 1, 2.5)), 0.6),
    Field("ten small", tuple(Part(20, 200, 0.1, 1 + i, 2.5, 0.1 * i) for i in range(10)), 0.5),
    Field("rare", (Part(300, 10_000, 0.001, 1, 4), Part(300, 10_000, 0.003, 2, 4)), 0.4),
    Field("hardly reached", (Part(100, 1_000, 0.1, 1, 1.5), Part(100, 1_000, 0.2, 1, 1.5)), 0.7),
    Field("not reached", (Part(200, 2_000, 0.1, 1, 0), Part(200, 2_000, 0.1002, 1, 0)), 0.1002),
    Field("flat", (Part(500, 500, 0.5, 1, 0), Part(100, 500, 0.5, 2, 0)), 0.501),
]


def find_thresholds(
    field: Field, targets: dict[str, float], n_sets: int, rng: np.random.Generator
) -> tuple[pl.Series, pl.Series]:
    """Return thresholds of test sets at which targets are met in the sample, and promised ones."""
    asked = targets | ({"per": 1} if "alerts" in targets else {})
    asked |= {"together": True} if len(targets) > 1 else {}
    found: dict[float | None, list[pl.Series]] = {None: [], CONFIDENCE: []}
    for sets in split_sets(n_sets, field.n_rows):
        drawn = field.draw_sets(sets, rng)
        for level, parts in found.items():
            points = drawn.prc.operating_points(
                make_field(field.frame, parts="part"), by="set", guarantee=level, **asked
            )
            parts.append(points["threshold"])
    plain, sure = (pl.concat(parts).drop_nulls() for parts in found.values())
    return plain, sure


def measure_broken(
    field: Field, targets: dict[str, float], n_sets: int, rng: np.random.Generator
) -> tuple[Row, NDArray[np.float64]]:
    """Return how often promises of a field are broken, with and without a guarantee, and the recalls."""
    thresholds = [found.to_numpy() for found in find_thresholds(field, targets, n_sets, rng)]
    shares = []
    for found in thresholds:
        recall, fpr, eta = field.find_rates(found)
        missed = [find_misses(name, value, eta, (recall, fpr)) for name, value in targets.items()]
        shares.append(float(np.any(missed, axis=0).sum() / n_sets))
    row = {"broken_by_point": shares[0], "broken": shares[1], "found": len(thresholds[1]) / n_sets}
    return row, np.asarray(field.find_rates(thresholds[1])[0])


@experiment(FIELDS, 1_000)
def measure_field_promises(cell: Field, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Promises of precision in the whole field."""
    found, recall = measure_broken(cell, {"precision": cell.precision}, n_sets, rng)
    best = cell.best_recall
    row = {"field": cell.name, "precision": cell.precision, "best_recall": best} | found
    yield row | {"recall_share": float(recall.mean()) / best if len(recall) and best else None}


FIELD_TARGETS: list[tuple[int, dict[str, float]]] = [
    (0, {"alerts": 0.1}),
    (1, {"alerts": 0.03}),
    (3, {"alerts": 0.04}),
    (4, {"alerts": 0.1}),
    (5, {"alerts": 0.15}),
    (6, {"alerts": 0.003}),
    (9, {"alerts": 0.3}),
    (0, {"recall": 0.8}),
    (3, {"recall": 0.8}),
    (4, {"recall": 0.8}),
    (5, {"recall": 0.8}),
    (0, {"fpr": 0.02}),
    (4, {"fpr": 0.02}),
    (1, {"lift": 15}),
    (0, {"npv": 0.98}),
    (3, {"npv": 0.99}),
    (5, {"npv": 0.98}),
    (9, {"npv": 0.501}),
    (0, {"precision": 0.6, "alerts": 0.15}),
    (3, {"precision": 0.5, "alerts": 0.04}),
    (5, {"precision": 0.5, "recall": 0.6}),
    (9, {"precision": 0.501, "alerts": 0.3}),
]


@experiment([(FIELDS[place], targets) for place, targets in FIELD_TARGETS], 1_000)
def measure_field_targets(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Promises of other targets in the whole field, and of several together."""
    field, targets = cell
    found, recall = measure_broken(field, targets, n_sets, rng)
    told = " & ".join(f"{name} {value:g}" for name, value in targets.items())
    mean = float(recall.mean()) if len(recall) else None
    yield {"field": field.name, "target": told} | found | {"recall": mean}


BAND_AT = (
    (0, 2_000, 2.0),
    (1, 1_000, 2.5),
    (2, 500, 2.0),
    (3, 1_000, 2.0),
    (4, 300, 2.0),
    (5, 500, 2.0),
)
FEW_EACH = [
    Field(f"{name} alike", (Part(100, 1_000, 0.02, 1, 3),) * n, 0)
    for name, n in (("five", 5), ("twenty", 20))
]
BAND_CELLS = [(FIELDS[i], events, at) for i, events, at in (*BAND_AT, (6, 5_000, 3.5))]
BAND_CELLS += [(field, 2_000, at) for field in FEW_EACH for at in (3.43, 3.09, 2.75)]
"""Thresholds with 0.3, 1 and 3 expected false positives in each part."""
SHOWN = ("precision", "f1", "recall")


@experiment(BAND_CELLS, 1_000)
def measure_field_bands(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Bands at one threshold of a field: eta known, sampled and taken as exact, and sampled."""
    field, events, threshold = cell
    recall, fpr, eta = field.find_rates(threshold)
    found: dict[str, list[pl.DataFrame]] = {"known": [], "as_fixed": [], "sampled": []}
    for sets in split_sets(n_sets, field.n_rows):
        drawn, samples = field.draw_sets(sets, rng), field.sample_etas(sets, events, rng)
        etas = {"known": field.frame, "as_fixed": samples.drop("eta_low", "eta_high", "eta_confidence")}
        for kind, parts in found.items():
            points = drawn.prc.operating_points(
                make_field(etas.get(kind, samples), parts="part"),
                threshold=threshold, metrics=list(SHOWN), confidence=CONFIDENCE, by="set",
            )  # fmt: skip
            parts.append(points)
    row = {"field": field.name, "events": events, "threshold": threshold}
    for (kind, parts), name in product(found.items(), SHOWN):
        truth = float(getattr(metrics, name)(recall, fpr, eta))
        row[f"{name}_{kind}"] = hold_point(pl.concat(parts), name, truth)["coverage"]
    yield row


AREA_EVENTS = (2_000, 1_000, 500, 1_000, 300, 500, 5_000, 500)


@experiment([*zip(FIELDS[:8], AREA_EVENTS, strict=True)], 500)
def measure_field_areas(cell: Any, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Intervals of areas of fields: eta known, and sampled."""
    field, events = cell
    found: dict[str, list[pl.DataFrame]] = {"known": [], "sampled": []}
    for sets in split_sets(n_sets, field.n_rows):
        drawn, samples = field.draw_sets(sets, rng), field.sample_etas(sets, events, rng)
        for kind, parts in found.items():
            summary = drawn.prc.summary(
                make_field(field.frame if kind == "known" else samples, parts="part"),
                metrics=list(field.areas),
                confidence=CONFIDENCE, by="set",
            )  # fmt: skip
            parts.append(summary.select("metric", "low", "high", "doubt"))
    for (kind, parts), (name, truth) in product(found.items(), field.areas.items()):
        row = {"field": field.name, "events": events, "eta": kind, "metric": name}
        yield row | measure_coverage(pl.concat(parts).filter(metric=name), truth)


@dataclass(frozen=True)
class FieldPair:
    """Two models of a field, half of whose variance is shared, at a target of the field."""

    field: Field
    target: str
    value: float
    """A recall, or the number of alerts for each positive of the field."""
    equal: bool

    @property
    def fields(self) -> list[Field]:
        """The field as each model sees it: positives of the second one may score lower."""
        lower = replace(
            self.field, parts=tuple(replace(part, d=0.85 * part.d) for part in self.field.parts)
        )
        return [self.field, self.field if self.equal else lower]

    @property
    def asked(self) -> dict[str, float]:
        if self.target == "recall":
            return {"recall": self.value}
        return {"alerts": self.value * float(self.field.find_rates(0.0)[2]), "per": 1}

    def compare(self, sets: int, rng: np.random.Generator) -> pl.DataFrame:
        frames = []
        for i, parts in enumerate(zip(*(field.parts for field in self.fields), strict=True)):
            n = parts[0].n_pos + parts[0].n_neg
            label, common = np.arange(n) < parts[0].n_pos, rng.normal(size=(sets, n))
            columns = {"set": np.arange(sets).repeat(n), "label": np.tile(label, sets)}
            scores = {}
            for name, part in zip("ab", parts, strict=True):
                noise = (common + rng.normal(size=(sets, n))) * 0.5**0.5
                scores[name] = (noise + part.d * label + part.offset).ravel()
            frames.append(pl.DataFrame(columns | scores).with_columns(part=pl.lit(i, dtype=pl.Int64)))
        parts_of_sets = make_field(self.field.frame, parts="part")
        weighted = pl.concat(frames).prc.reweight(parts_of_sets, by="set")
        return weighted.prc.compare(
            score=["a", "b"], by="set", weight="weight", metrics=["recall", "precision"], **self.asked
        )

    def find_difference(self, metric: str) -> float:
        """Return the true difference of the models at the target."""
        values = []
        for field in self.fields:
            recall, fpr, eta = field.find_rates(np.linspace(14, -9, 400_001))
            rate = recall * eta + fpr * (1 - eta)
            met = recall >= self.value if self.target == "recall" else rate <= self.asked["alerts"]
            row = int(met.argmax() if self.target == "recall" else met.sum() - 1)
            values.append(float(getattr(metrics, metric)(recall[row], fpr[row], eta)))
        return values[0] - values[1]


FIELD_PAIRS = [
    FieldPair(field, *target, equal)
    for field, target, equal in product(FIELDS[:7], (("recall", 0.5), ("alerts", 1.0)), (False, True))
]


@experiment(FIELD_PAIRS, 500)
def measure_field_pairs(cell: FieldPair, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Differences of two models of a field at a target, by `compare` of weighted rows."""
    found = pl.concat(cell.compare(sets, rng) for sets in split_sets(n_sets, 2 * cell.field.n_rows))
    for metric in ("recall", "precision"):
        if metric == cell.target:
            continue
        of = found.filter(metric=metric)
        row = {"field": cell.field.name, "target": cell.target, "value": cell.value, "equal": cell.equal}
        row |= {"metric": metric, **measure_coverage(of, cell.find_difference(metric))}
        yield row | {"wrongly_resolved": share_significant(of) if cell.equal else None}
