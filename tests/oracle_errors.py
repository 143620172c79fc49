"""Standard errors and intervals of curve metrics by their definitions, row by row.

The influence of an example on a metric is how fast the metric moves as the class of the example is
mixed with more of it: the derivative along that mixture. Here it stands twice, by the closed forms, and
by differences, in exact fractions, of the metric itself.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

from tests import oracle, oracle_areas

if TYPE_CHECKING:
    from collections.abc import Sequence

DDOF = {"average_precision": 0, "roc_auc": 1}
"""Of the metrics that have influences, what is taken off the number of examples."""


class Row(NamedTuple):
    score: Any
    pos: Fraction
    neg: Fraction


def kept(group: oracle.Evidence) -> list[Row]:
    """The rows that weigh anything."""
    return [Row(*row) for row in group.rows if row[1] > 0 or row[2] > 0]


def z_of(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def effective(weights: Sequence[Fraction]) -> Fraction:
    """As many equal weights tell as much."""
    squares = sum((w * w for w in weights), Fraction(0))
    return sum(weights, Fraction(0)) ** 2 / squares if squares else Fraction(0)


def sizes(group: oracle.Evidence, *, weighted: bool) -> tuple[Fraction, Fraction]:
    """Effective numbers of positives and of negatives."""
    if not weighted:
        return group.n_pos, group.n_neg
    return effective([row.pos for row in kept(group)]), effective([row.neg for row in kept(group)])


def estimate(name: str, group: oracle.Evidence, eta: Fraction) -> Any:
    return oracle_areas.value(name, oracle.sweep_of(group), eta)


# Influences -----------------------------------------------------------------------------------


def influences(name: str, group: oracle.Evidence, eta: Fraction) -> list[Fraction]:
    """Of each row that weighs anything, in order, by the closed forms."""
    rows = kept(group)
    if name == "roc_auc":
        return _of_roc_auc(rows, group.n_pos, group.n_neg)
    if eta in (0, 1):  # 0 and 1 whatever the sample
        return [Fraction(0)] * len(rows)
    odds = (1 - eta) / eta
    at = {row.score: oracle.at(group, row.score) for row in rows}
    shares, precision, of_recall, of_fpr = {}, {}, {}, {}
    for score, point in at.items():
        t, f = point["recall"], point["fpr"]
        alarms = t + odds * f
        shares[score] = sum((row.pos for row in rows if row.score == score), Fraction(0)) / group.n_pos
        precision[score] = t / alarms
        of_recall[score] = odds * f / alarms**2
        of_fpr[score] = odds * t / alarms**2
    area = sum(shares[s] * precision[s] for s in at)
    mean_recall = sum(shares[s] * of_recall[s] * at[s]["recall"] for s in at)
    mean_fpr = sum(shares[s] * of_fpr[s] * at[s]["fpr"] for s in at)
    found = []
    for row in rows:
        below = [s for s in at if s <= row.score]
        if row.pos > 0:
            seen = sum(shares[s] * of_recall[s] for s in below)
            found.append(precision[row.score] - area + seen - mean_recall)
        else:
            found.append(mean_fpr - sum(shares[s] * of_fpr[s] for s in below))
    return found


def _of_roc_auc(rows: list[Row], n_pos: Fraction, n_neg: Fraction) -> list[Fraction]:
    """The share of the other class that an example is ranked rightly against, less the mean."""

    def wins(above: Any, below: Any) -> Fraction:
        return Fraction(1, 2) if above == below else Fraction(int(above > below))

    area = sum(a.pos * b.neg * wins(a.score, b.score) for a in rows for b in rows) / (n_pos * n_neg)
    return [
        sum((b.neg * wins(row.score, b.score) for b in rows), Fraction(0)) / n_neg - area
        if row.pos > 0
        else sum((a.pos * wins(a.score, row.score) for a in rows), Fraction(0)) / n_pos - area
        for row in rows
    ]


def differentiated(name: str, group: oracle.Evidence, eta: Fraction) -> list[Fraction]:
    """The same by giving each row in turn a little more weight, and a little less."""
    rows = kept(group)
    step = min(row.pos + row.neg for row in rows) / 10**9
    found = []
    for i, row in enumerate(rows):
        ends = []
        for sign in (1, -1):
            more = [(sign * step, Fraction(0)), (Fraction(0), sign * step)][row.neg > 0]
            moved = [*rows[:i], Row(row.score, row.pos + more[0], row.neg + more[1]), *rows[i + 1 :]]
            ends.append(estimate(name, oracle.Evidence({}, list(map(tuple, moved))), eta))
        of_class = group.n_neg if row.neg > 0 else group.n_pos
        found.append((ends[0] - ends[1]) / (2 * step) * of_class)
    return found


def standard_error(
    name: str, rows: Sequence[Row], values: Sequence[Fraction], n: tuple[Fraction, Fraction]
) -> float | None:
    """Of an estimate with these influences, from so many examples a class."""
    variance = Fraction(0)
    for side, size in enumerate(n):
        mass = [row[1 + side] for row in rows]
        if size <= DDOF[name]:
            return None
        squares = sum(w * v * v for w, v in zip(mass, values, strict=True)) / sum(mass)
        variance += squares / (size - DDOF[name])
    return math.sqrt(variance)


# Intervals ------------------------------------------------------------------------------------


class Interval(NamedTuple):
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None


def interval(
    name: str, group: oracle.Evidence, eta: Fraction, confidence: float, *, weighted: bool
) -> Interval:
    """What an analytic summary tells of a metric beside its value."""
    n = sizes(group, weighted=weighted)
    value = estimate(name, group, eta)
    if value is None or 0 in n:
        return Interval()
    if name.startswith("precision_at_recall"):
        recall = float(name.partition("(")[2][:-1])
        return precision_at_recall(group, recall, float(value), eta, n, confidence)
    if name not in DDOF:
        return Interval()
    rows = kept(group)
    error = standard_error(name, rows, influences(name, group, eta), n)
    if error is None or value in (0, 1):
        return Interval(error)
    lowest = value
    if name == "average_precision":  # with half a false positive more at every threshold
        points = [(point["recall"], point["fpr"] + 1 / (2 * n[1])) for point in oracle.sweep_of(group)]
        lowest = min(value, oracle_areas.average_precision(points, eta))
    half = z_of(confidence) * error / float(value * (1 - value))
    return Interval(error, _expit(_logit(lowest) - half), _expit(_logit(value) + half))


def precision_at_recall(  # noqa: PLR0917
    group: oracle.Evidence,
    recall: float,
    value: float,
    eta: Fraction,
    n: tuple[Fraction, Fraction],
    confidence: float,
) -> Interval:
    """The logarithm of fpr moves with the negatives, and with where the positives put the threshold."""
    if eta in (0, 1):
        return Interval()
    n_pos, n_neg = map(float, n)
    points = oracle.sweep_of(group)
    z, usual = z_of(confidence), z_of(0.95)
    odds = float((1 - eta) / eta)

    def fpr_at(deviations: float) -> float:
        level = recall + deviations * math.sqrt(recall * (1 - recall) / n_pos)
        level = max(min(level, 1.0), 1 / n_pos)
        return float(next(p["fpr"] for p in points if p["recall"] >= level - 1e-12))

    def precision(fpr: float) -> float:
        return recall / (recall + odds * min(fpr, 1.0))

    less, fpr, more = fpr_at(-usual), fpr_at(0.0), fpr_at(usual)
    low, high = wilson(fpr, n_neg, z)
    if fpr == 0:
        return Interval(None, min(precision(wilson(more, n_neg, z)[1]), value), 1.0)
    spread = math.hypot(math.sqrt(fpr * (1 - fpr) / n_neg), (more - less) / (2 * usual))
    up = math.hypot(math.log(high / fpr), math.log(more / fpr) * z / usual)
    ends = [precision(fpr * math.exp(up)), 1.0]
    if less > 0:
        down = math.hypot(math.log(low / fpr), math.log(less / fpr) * z / usual)
        ends[1] = precision(fpr * math.exp(-down))
    error = value * (1 - value) * spread / fpr
    return Interval(error, min(ends[0], value), max(ends[1], value))


def wilson(rate: float, n: float, z: float) -> tuple[float, float]:
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return middle - half, min(middle + half, 1.0)


def _logit(value: Fraction) -> float:
    return math.log(value / (1 - value))


def _expit(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0
