"""What rates of rows in clusters count as, by a loop over the clusters for each threshold."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import NamedTuple

from tests.support.oracle_errors import raise_end_of_recall, wilson

FORCE = 3


class ClusterRow(NamedTuple):
    """An example of a cluster."""

    score: float
    positive: bool
    cluster: Hashable


class Side(NamedTuple):
    """A class at a threshold, with how far the number above it in each cluster is off the rate."""

    rate: Fraction
    size: float
    deviations: dict[Hashable, Fraction]
    total: int
    n_clusters: Fraction


def measure_side(rows: Sequence[ClusterRow], positive: bool, threshold: float) -> Side | None:
    """Return a class at a threshold; None if it has rows in no two clusters."""
    own = [row for row in rows if row.positive == positive]
    clusters = {row.cluster for row in own}
    sizes = {c: sum(row.cluster == c for row in own) for c in clusters}
    total = len(own)
    if len(clusters) < 2:
        return None
    n_clusters = Fraction(total * total, sum(n * n for n in sizes.values()))

    def deviations(at: float) -> tuple[Fraction, dict[Hashable, Fraction]]:
        above = [row for row in own if row.score >= at]
        rate = Fraction(len(above), total)
        return rate, {c: sum(row.cluster == c for row in above) - rate * sizes[c] for c in clusters}

    def effect(at: float) -> Fraction | None:
        rate, deviation = deviations(at)
        spread = total * rate * (1 - rate)
        return sum((d * d for d in deviation.values()), Fraction(0)) / spread if spread else None

    halves = [s for s in sorted({r.score for r in rows}) if 2 * sum(r.score >= s for r in own) <= total]
    half = effect(halves[0]) if halves else None
    half = max(half if half is not None else total / n_clusters, Fraction(1))
    rate, deviation = deviations(threshold)
    fewer = min(rate, 1 - rate) * total
    drawn = (fewer * (effect(threshold) or 0) + FORCE * half) / (fewer + FORCE)
    size = total / (drawn * n_clusters / (n_clusters - 1))
    return Side(rate, float(size), deviation, total, n_clusters)


def correlate(pos: Side, neg: Side) -> float:
    """Return the correlation of recall and fpr."""
    shared = pos.deviations.keys() & neg.deviations.keys()
    covariance = sum(float(pos.deviations[c] * neg.deviations[c]) for c in shared)
    scale = 1.0
    for side in (pos, neg):
        raised = float(side.n_clusters / (side.n_clusters - 1))
        scale *= float(side.rate * (1 - side.rate)) / side.size * side.total**2 / raised
    return max(min(covariance / math.sqrt(scale), 1.0), -1.0) if scale else 0.0


def student_quantile(z: float, freedom: float) -> float:
    """Return what the normal deviate z is in Student's distribution (Wallace 1959)."""
    scaled = z * (8 * freedom + 3) / (8 * freedom + 1)
    return math.sqrt(freedom * math.expm1(scaled**2 / freedom))


def limits(side: Side, confidence: float, *, positive: bool) -> tuple[float, float]:
    """Return the interval of a rate, with Student's quantile by way of the effective size."""
    z, freedom = NormalDist().inv_cdf((1 + confidence) / 2), max(float(side.n_clusters) - 1, 1.0)
    student = student_quantile(z, freedom)
    n = side.size * (z / student) ** 2
    low, high = wilson(float(side.rate), n, z)
    high = raise_end_of_recall(float(side.rate) * n, n, high, confidence) if positive else high
    return (0.0 if side.rate == 0 else low), (1.0 if side.rate == 1 else high)


def precision_band(
    pos: Side, neg: Side, eta: float, confidence: float
) -> tuple[float | None, float | None]:
    """Return the band of precision at a prevalence between 0 and 1, where something is flagged."""

    def log_odds(recall: float, fpr: float) -> float:
        if recall == 0 or fpr == 0:
            return -math.inf if recall == 0 else math.inf
        return math.log(eta * recall) - math.log((1 - eta) * fpr)

    recall, fpr = float(pos.rate), float(neg.rate)
    (recall_low, recall_high), (fpr_low, fpr_high) = (
        limits(side, confidence, positive=side is pos) for side in (pos, neg)
    )
    estimate, correlation = log_odds(recall, fpr), correlate(pos, neg)
    ends = []
    for sign, r, f in ((-1, recall_low, fpr_high), (1, recall_high, fpr_low)):
        if math.isinf(estimate):
            ends.append(log_odds(r, f) if r or f else math.nan)
            continue
        a, b = sign * (log_odds(r, fpr) - estimate), sign * (log_odds(recall, f) - estimate)
        if math.isinf(a) or math.isinf(b):
            ends.append(log_odds(r, f))
            continue
        ends.append(estimate + sign * math.sqrt(max(a * a + b * b - 2 * correlation * a * b, 0.0)))
    low, high = (None if math.isnan(x) else 1 / (1 + math.exp(-min(max(x, -700), 700))) for x in ends)
    return low, high


def count_at_once(rows: Sequence[tuple[float, bool, Hashable]], eta: Fraction) -> Fraction:
    """Return how many negatives a negative at the top has in its cluster, itself among them.

    The top are the fewest places between and at scores of positives, from the highest down, that hold
    eta / (1 - eta) of the negatives.
    """
    positives = {score for score, positive, _ in rows if positive}
    negatives = [(score, cluster) for score, positive, cluster in rows if not positive]
    top: list[Hashable] = []
    for place in range(len(positives) + 1):
        here = [c for score, c in negatives if sum(p > score for p in positives) == place]
        if top and len(top) >= eta / (1 - eta) * len(negatives):
            break
        top += here
    counts = [top.count(cluster) for cluster in top]
    return Fraction(sum(counts), len(counts))


def average_precision(
    rows: Sequence[tuple[float, bool, Hashable]], eta: Fraction, more: Fraction
) -> Fraction:
    """Return average precision with so many negatives more at every threshold."""
    odds = (1 - eta) / eta
    pos, neg = ([score for score, positive, _ in rows if positive == y] for y in (True, False))
    total = Fraction(0)
    for score in pos:
        recall = Fraction(sum(p >= score for p in pos), len(pos))
        fpr = (sum(n >= score for n in neg) + more) / len(neg)
        total += recall / (recall + odds * fpr)
    return total / len(pos)
