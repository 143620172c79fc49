"""What rows that were drawn by strata count as, by a loop over the strata for each threshold."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import NamedTuple

CELLS = ("tp", "fp", "fn", "tn")
SIDE = {"tp": "fp", "fp": "tp", "fn": "tn", "tn": "fn"}
"""The other cell on the same side of the threshold."""


class DrawnRow(NamedTuple):
    """A labelled row of a stratum, and how many rows it stands for."""

    score: float
    positive: bool
    stratum: Hashable
    weight: Fraction


def by_class(rows: Sequence[DrawnRow]) -> bool:
    """Whether no stratum has both classes, though a negative scores higher than a positive."""
    kinds = {row.stratum: {r.positive for r in rows if r.stratum == row.stratum} for row in rows}
    crossed = any(n.score > p.score for p in rows for n in rows if p.positive and not n.positive)
    return all(len(of) == 1 for of in kinds.values()) and crossed


def count_strata(rows: Sequence[DrawnRow], threshold: float) -> list[tuple[Fraction, dict[str, int]]]:
    """Return the weight of each stratum, and its rows in each cell."""
    found: dict[Hashable, tuple[Fraction, dict[str, int]]] = {}
    for row in rows:
        _, cells = found.setdefault(row.stratum, (row.weight, dict.fromkeys(CELLS, 0)))
        cells[CELLS[2 * (row.score < threshold) + (not row.positive)]] += 1
    return list(found.values())


def centre(weight: Fraction, n: int) -> Fraction:
    return weight * (weight - 1) / (n - 1) if n > 1 else Fraction(0)


def unit(rows: Sequence[DrawnRow], threshold: float, cell: str) -> Fraction:
    """Return what a row of a cell weighs, if each stratum had one more of either class there."""
    total = square = Fraction(0)
    for weight, cells in count_strata(rows, threshold):
        here, n = cells[cell] + cells[SIDE[cell]], sum(cells.values())
        x = Fraction(cells[cell])
        if not by_class(rows):
            x = (x + 1) * Fraction(here, here + 2)
        total += weight * x
        square += weight**2 * x - centre(weight, n) * max(x * (x - 1), Fraction(0))
    return square / total if total else unseen(rows, cell)


def unseen(rows: Sequence[DrawnRow], cell: str) -> Fraction:
    """Return what an unseen row weighs on a side of a threshold without rows."""
    if by_class(rows):
        return max((r.weight for r in rows if r.positive == (cell in ("tp", "fn"))), default=Fraction(0))
    if cell in ("fn", "tn"):
        return max(row.weight for row in rows)
    top = max(row.score for row in rows)
    strata = {row.stratum for row in rows if row.score == top}
    return max(row.weight for row in rows if row.stratum in strata)


class Totals(NamedTuple):
    """The weight of each cell, and the variances and covariances of these weights."""

    weight: dict[str, Fraction]
    moments: dict[tuple[str, str], Fraction]
    units: dict[str, Fraction]


def measure(rows: Sequence[DrawnRow], threshold: float) -> Totals:
    strata = count_strata(rows, threshold)
    weight = {cell: sum((w * of[cell] for w, of in strata), Fraction(0)) for cell in CELLS}
    units = {cell: unit(rows, threshold, cell) for cell in CELLS}
    moments = {(cell, cell): units[cell] * weight[cell] for cell in CELLS}
    for a in CELLS:
        for b in CELLS:
            if a != b:
                moments[a, b] = -sum(
                    (centre(w, sum(of.values())) * of[a] * of[b] for w, of in strata), Fraction(0)
                )
    return Totals(weight, moments, units)


def covariance(found: Totals, u: dict[str, Fraction], v: dict[str, Fraction]) -> Fraction:
    return sum((u[a] * v[b] * found.moments[a, b] for a in u for b in v), Fraction(0))


def rate_slopes(found: Totals, above: str, below: str) -> tuple[Fraction, dict[str, Fraction]]:
    """Return a rate, and how much it moves with the weight of either of its cells."""
    n = found.weight[above] + found.weight[below]
    rate = found.weight[above] / n
    return rate, {above: (1 - rate) / n, below: -rate / n}


def rate_size(rows: Sequence[DrawnRow], threshold: float, above: str, below: str) -> tuple[float, float]:
    """Return a rate, and as how many examples its class counts."""
    found = measure(rows, threshold)
    n = found.weight[above] + found.weight[below]
    rate, _ = rate_slopes(found, above, below)
    spread = (1 - rate) * found.units[above] + rate * found.units[below]
    return float(rate), float(n / (spread - 2 * found.moments[above, below] / n))


def rate_correlation(rows: Sequence[DrawnRow], threshold: float) -> float:
    """Return the correlation of recall and fpr."""
    found = measure(rows, threshold)
    sizes = [rate_size(rows, threshold, *of) for of in (("tp", "fn"), ("fp", "tn"))]
    variances = [rate * (1 - rate) / n for rate, n in sizes]
    slopes = [rate_slopes(found, *of)[1] for of in (("tp", "fn"), ("fp", "tn"))]
    if min(variances) <= 0:
        return 0.0
    shared = float(covariance(found, *slopes)) / math.sqrt(variances[0] * variances[1])
    return max(-1.0, min(1.0, shared))


def share_size(
    rows: Sequence[DrawnRow], threshold: float, hits: Sequence[str], misses: Sequence[str]
) -> tuple[float, float] | None:
    """Return the share of hits among hits and misses, and as how many examples these count."""
    found = measure(rows, threshold)
    n = sum((found.weight[cell] for cell in (*hits, *misses)), Fraction(0))
    if n == 0:
        return None
    share = sum((found.weight[cell] for cell in hits), Fraction(0)) / n
    slopes = dict.fromkeys(hits, 1 - share) | dict.fromkeys(misses, -share)
    if 0 < share < 1:
        return float(share), float(share * (1 - share) * n**2 / covariance(found, slopes, slopes))
    return float(share), float(n / max(found.units[cell] for cell in slopes))
