"""What random tables are asked beyond one frame of all: alone, for means, and as published rates.

A table alone in a DataFrame goes the fast ways of one group. A mean is that of a few tables of a batch.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve import PrcWarning, from_rates, metrics
from tests.support import oracle
from tests.support.comparing import is_same_value
from tests.support.random_questions import (
    Area,
    Question,
    Table,
    ask_points,
    ask_summary,
    draw_eta,
    draw_point_metric,
)
from tests.support.random_tables import RATES, Batch, Key, Rng

FAST_AREAS = [metrics.average_precision, metrics.roc_auc]
"""The areas of one group in memory that need no sweep of its rows."""
AREAS = [*FAST_AREAS, metrics.pr_auc]
N_IN_MEAN = 4  # tables of a mean


class WrongRow(NamedTuple):
    """An answer that is not that of the oracle: what was asked, for what, and both answers."""

    asked: str
    key: Any
    found: Any
    expected: Any


def draw_alone(rng: Rng, batch: Batch, n: int) -> Iterator[tuple[Batch, list[Question]]]:
    """Draw tables of a batch, each in a frame of its own, with questions that have fast ways."""
    if isinstance(batch.below, pl.DataFrame):
        return
    keys = [*dict.fromkeys(batch.key(row) for row in batch.groups.to_dicts())]
    for place in rng.choice(len(keys), min(n, len(keys)), replace=False):
        alone = batch.isolate(keys[place])
        alone = replace(alone, frame=alone.frame.drop(batch.by), by=[])
        areas = FAST_AREAS if batch.counts_negatives else FAST_AREAS[:1]
        questions = [ask_summary(rng, alone, areas), ask_points(rng, alone, maximizes=False)]
        yield alone, [replace(question, way="eager") for question in questions]


def find_wrong_means(rng: Rng, batch: Batch, tables: dict[Key, Table]) -> Iterator[WrongRow]:
    """Compare `mean_over=` with the means of the oracle's values, of a few tables each."""
    if batch.form == RATES or "weight" in batch.columns or isinstance(batch.below, pl.DataFrame):
        return
    if not batch.counts_negatives:
        return
    keys = [key for key in dict.fromkeys(map(batch.key, batch.frame.to_dicts())) if key in tables]
    part_of_key = {key: place // N_IN_MEAN for place, key in enumerate(keys)}
    parts = [part_of_key.get(batch.key(row)) for row in batch.frame.to_dicts()]
    frame = batch.frame.with_columns(part=pl.Series(parts, dtype=pl.Int64)).drop_nulls("part")
    etas: list[float | None] = [None] if rng.random() < 0.4 else [draw_eta(rng)]
    columns = {**batch.columns, "by": "part", "mean_over": batch.by}
    question = f"summary({etas}, metrics={[metric.name for metric in AREAS]}, mean_over={batch.by})"
    answer = frame.prc.summary(etas, metrics=AREAS, columns="all", **columns)
    expected = product(dict.fromkeys(part_of_key.values()), AREAS)
    for row, (part, metric) in zip(answer.to_dicts(), expected, strict=True):
        members = [tables[key] for key in keys if part_of_key[key] == part]
        values = []
        for table in members:
            # A mean is of areas at the own prevalences as floats.
            eta = next((Fraction(float(eta)) for eta in table.etas(etas) if eta is not None), None)
            area = Area(metric.name, table, eta, batch.holds_examples, batch.form != "")
            values.append(area.value(metric.name, eta))
        known = [Fraction(value) for value in values if value is not None]
        mean = sum(known) / len(known) if known else None
        right = {"part": part, "metric": metric.name, "n_groups": len(known), "value": mean}
        found = {name: row[name] for name in right}
        is_mean = is_same_value(metric.name, row["value"], mean)
        if not is_mean or any(found[name] != right[name] for name in ("part", "metric", "n_groups")):
            yield WrongRow(question, part, found, right)


def find_wrong_rates(rng: Rng, n: int) -> Iterator[WrongRow]:
    """Compare points of published rates, with and without sizes, with the cells that they are of."""
    n_pos, n_neg = rng.integers(1, 5_000, (2, n)).tolist()
    tp, fp = ([int(rng.integers(0, size + 1)) for size in sizes] for sizes in (n_pos, n_neg))
    recall, fpr = (
        [cell / size for cell, size in zip(cells, sizes, strict=True)]
        for cells, sizes in ((tp, n_pos), (fp, n_neg))
    )
    has_sizes, metric, eta = bool(rng.random() < 0.6), draw_point_metric(rng), draw_eta(rng)
    rates: dict[str, Any] = {"recall": recall, "fpr": fpr}
    if has_sizes and rng.random() < 0.5:
        specificity = [(size - cell) / size for cell, size in zip(fp, n_neg, strict=True)]
        rates = {"sensitivity": recall, "specificity": specificity}
    rates |= {"n_pos": n_pos, "n_neg": n_neg} if has_sizes else {}
    names = [f"test {place:06}" for place in range(n)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrcWarning)  # of random rates below chance
        table = from_rates(**rates, names=names)
    answer = table.operating_points(eta, metrics=metric, columns="all")
    for place, row in enumerate(answer.to_dicts()):
        exact_recall, exact_fpr = Fraction(recall[place]), Fraction(fpr[place])
        right: dict[str, Any] = {"name": names[place], "eta": eta}
        if has_sizes:
            exact_recall = Fraction(tp[place], n_pos[place])
            exact_fpr = Fraction(fp[place], n_neg[place])
            right |= {"tp": tp[place], "fp": fp[place]}
            right |= {"fn": n_pos[place] - tp[place], "tn": n_neg[place] - fp[place]}
        value = oracle.metric(metric.name, exact_recall, exact_fpr, Fraction(eta))
        is_equal = all(row[name] == number for name, number in right.items())
        if not is_equal or not is_same_value(metric.name, row[metric.name], value):
            right[metric.name] = value
            found = {name: row[name] for name in right}
            yield WrongRow(f"from_rates(recall=...) at {eta}", names[place], found, right)


__all__ = ["AREAS", "FAST_AREAS", "WrongRow", "draw_alone", "find_wrong_means", "find_wrong_rates"]
