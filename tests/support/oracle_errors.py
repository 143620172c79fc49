"""Standard errors and intervals of curve metrics by their definitions, row by row.

The influence of an example on a metric is how fast the metric moves if the class of the example is mixed
with more of it: the derivative along that mixture. It is computed twice here: `influences` uses the
closed forms, and `differentiate` takes differences of the metric itself in exact fractions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support import oracle, oracle_areas

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DDOF = {"average_precision": 0, "roc_auc": 1}
"""The metrics with influences, and the number that is subtracted from the number of examples."""


class Row(NamedTuple):
    """A row of a group: its score, and its contribution to either class."""

    score: Any
    pos: Fraction
    neg: Fraction


def list_rows(group: oracle.Group) -> list[Row]:
    """Return the rows of a group that weigh anything."""
    return [Row(*row) for row in group.rows if row[1] > 0 or row[2] > 0]


def z_value(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def effective_size(weights: Sequence[Fraction]) -> Fraction:
    """Return the number of equal weights whose mean has the same variance."""
    squares = sum((w * w for w in weights), Fraction(0))
    return sum(weights, Fraction(0)) ** 2 / squares if squares else Fraction(0)


def class_sizes(group: oracle.Group, *, weighted: bool) -> tuple[Fraction, Fraction]:
    """Return the effective numbers of positives and of negatives."""
    if not weighted:
        return group.n_pos, group.n_neg
    return effective_size([row.pos for row in list_rows(group)]), effective_size(
        [row.neg for row in list_rows(group)]
    )


def size_at(group: oracle.Group, side: int, threshold: Any, *, weighted: bool) -> Fraction:
    """Return how many examples of a class, 0 positives or 1 negatives, tell its rate at a threshold.

    Of weights w with the rate r that is r (1 - r) over the design-based variance: the squares of what
    the rows add, w (flagged - r), over the square of the total. On either side the class has at least
    the squares of one row of mean weight, that of both classes there. A rate of 0 or 1 has no variance:
    the class counts as its total over the mean weight of the rows of both classes on the empty side. If
    weights go by class, that is its own mean weight on the other side, times how many times as much the
    other class weighs on the empty side; this is taken if it is half as much again, or more.
    """
    rows = list_rows(group)
    total = sum((row[1 + side] for row in rows), Fraction(0))
    if not weighted:
        return Fraction(total)
    flagged = [row.score >= threshold for row in rows]
    mass = [row[1 + side] for row in rows]
    rate = sum((m for m, f in zip(mass, flagged, strict=True) if f), Fraction(0)) / total
    if 0 < rate < 1:
        squares = Fraction(0)
        for side_flagged in (True, False):
            here = [(row, m) for row, m, f in zip(rows, mass, flagged, strict=True) if f == side_flagged]
            mean = _mean_weight([row.pos + row.neg for row, _ in here])
            least = min(sum(m for _, m in here) * mean, mean * mean)
            squares += max(sum(m * m for _, m in here), least) * (side_flagged - rate) ** 2
        return rate * (1 - rate) * total**2 / squares
    empty = [row for row, f in zip(rows, flagged, strict=True) if f == (rate == 0)]
    others = [row for row, f in zip(rows, flagged, strict=True) if f != (rate == 0)]
    by_score = _mean_weight([row.pos + row.neg for row in empty or rows])
    by_class = _mean_weight([row[1 + side] for row in others])
    here, there = ([row[2 - side] for row in part] for part in (empty, others))
    if any(here) and any(there):
        by_class *= _mean_weight(here) / _mean_weight(there)
    return total / (by_class if by_class > by_score * Fraction(3, 2) else by_score)


def _mean_weight(weights: Sequence[Fraction]) -> Fraction:
    """Return the mean of weights as the rows behind a sum of weights see it."""
    return sum((w * w for w in weights), Fraction(0)) / sum(weights, Fraction(0))


def one_false_positive(
    group: oracle.Group, *, weighted: bool, unseen: Fraction = Fraction(1)
) -> dict[Any, Fraction]:
    """Return by how much one negative more, or `unseen` ones, raises fpr at each score.

    It weighs as much as the negatives at that score, or else at the next below with negatives, or above.
    """
    rows, found = list_rows(group), {}
    scores = sorted({row.score for row in rows if row.neg > 0})
    for score in {row.score for row in rows}:
        near = max((s for s in scores if s <= score), default=min(scores, default=None))
        weight = _mean_weight([row.neg for row in rows if row.score == near]) if weighted else 1
        found[score] = unseen * Fraction(weight) / group.n_neg
    return found


def cautious_average_precision(
    group: oracle.Group, eta: Fraction, *, weighted: bool, unseen: Fraction = Fraction(1)
) -> Fraction:
    """Return average precision with one false positive more, or `unseen` ones, at every threshold."""
    if eta in (0, 1):
        return eta
    more = one_false_positive(group, weighted=weighted, unseen=unseen)
    points = [
        (point["recall"], point["fpr"] + more[point["threshold"]]) for point in oracle.sweep_group(group)
    ]
    return Fraction(oracle_areas.average_precision(points, eta))


def unseen_share(group: oracle.Group, *, weighted: bool) -> Fraction:
    """Return what one positive more would be of all positives.

    It weighs what positives do on average, or all rows if that is more.
    """
    if not weighted:
        return 1 / (group.n_pos + 1)
    rows = list_rows(group)
    means = _mean_weight([row.pos + row.neg for row in rows]), _mean_weight([row.pos for row in rows])
    return max(means) / (group.n_pos + max(means))


class Extended(NamedTuple):
    """Average precision, and that of both extended curves, each with its standard error."""

    plain: tuple[float, float]
    least: tuple[float, float]
    most: tuple[float, float]
    jumps: tuple[float, float] = (math.nan, math.nan)
    """How far the unseen positive alone moves either extended curve."""

    def ends(self, z: float) -> tuple[float, float]:
        """Return both ends of the interval that reaches z errors to either side."""

        def measure(value: float, error: float) -> tuple[float, float]:
            return _logit(Fraction(value)), z * error / (value * (1 - value))

        least, least_reach = measure(*self.least)
        if self.plain[0] == 1:
            return _expit(least - least_reach), 1.0
        (plain, reach), (most, most_reach) = measure(*self.plain), measure(*self.most)
        distance = math.hypot(max(most - plain, 0), max(reach, most_reach))
        return _expit(min(least - least_reach, plain - reach)), _expit(plain + distance)


def cost_of_false_positives(group: oracle.Group, eta: Fraction, more: dict[Any, Fraction]) -> Fraction:
    """Return what `more` fpr at each score costs average precision, by the slope with it."""
    before, cost, odds = Fraction(0), Fraction(0), (1 - eta) / eta
    for point in oracle.sweep_group(group):
        step = odds * more[point["threshold"]]
        alerts = point["recall"] + odds * point["fpr"] + step
        cost += (point["recall"] - before) * point["recall"] * step / alerts**2
        before = point["recall"]
    return cost


def extend(
    group: oracle.Group,
    eta: Fraction,
    *,
    weighted: bool,
    counted: bool = False,
    unseen: Fraction = Fraction(1),
) -> Extended | None:
    """Return average precision as it is, with what may be missing below, and with a positive on top.

    Of false positives and of positives on top, `unseen` may be missing. If eta was `counted` in the
    group, errors carry that of its logit; None if no error is known.
    """
    n, rows = class_sizes(group, weighted=weighted), list_rows(group)
    more = one_false_positive(group, weighted=weighted, unseen=unseen)
    name, of_eta = "average_precision", Fraction(0)
    if counted:
        of_eta = slope_by_logit_eta(group, eta) ** 2 * (1 / n[0] + 1 / n[1])
    errors = []
    for curve in (None, more):
        error = standard_error(name, rows, influences(name, group, eta, curve), n, weighted=weighted)
        if error is None:
            return None
        errors.append(math.sqrt(error**2 + of_eta))
    if unseen < 1:
        parts = influences(name, group, eta, more)
        by_class = []
        for side in (0, 1):
            part = [x if row[1 + side] > 0 else Fraction(0) for x, row in zip(parts, rows, strict=True)]
            by_class.append(standard_error(name, rows, part, n, weighted=weighted) or 0.0)
        loss = float(cost_of_false_positives(group, eta, more))
        errors[1] = math.hypot(by_class[0], max(by_class[1], loss), math.sqrt(of_eta))
    missed = float(unseen_share(group, weighted=weighted))
    cautious = float(cautious_average_precision(group, eta, weighted=weighted, unseen=unseen))
    least = (1 - missed) * cautious + missed * float(eta)
    share = float(unseen) * missed / (1 - missed + float(unseen) * missed)
    before, hopeful, odds = Fraction(0), 0.0, float((1 - eta) / eta)
    for point in oracle.sweep_group(group):
        recall = share + (1 - share) * float(point["recall"])
        hopeful += float(point["recall"] - before) * recall / (recall + odds * float(point["fpr"]))
        before = point["recall"]
    most = share + (1 - share) * hopeful
    return Extended(
        (float(estimate(name, group, eta)), errors[0]),
        (least, math.hypot((1 - missed) * errors[1], missed * (least - float(eta)))),
        (most, math.hypot((1 - share) * errors[0], share * (1 - most))),
        (missed * (least - float(eta)), share * (1 - most)),
    )


def slope_by_logit_eta(group: oracle.Group, eta: Fraction) -> Fraction:
    """Return the derivative of average precision by logit(eta): p (1 - p), averaged over positives."""
    before, slope = Fraction(0), Fraction(0)
    for point in oracle.sweep_group(group):
        p = (
            point["recall"] / (point["recall"] + (1 - eta) / eta * point["fpr"])
            if point["recall"]
            else 0
        )
        slope += (point["recall"] - before) * p * (1 - p)
        before = point["recall"]
    return slope


def ddof(name: str) -> int:
    """Return the number to subtract from the number of examples; raise without an entry in DDOF."""
    if name not in DDOF:
        raise NotImplementedError(
            f"no influences for {name!r}: add its ddof to DDOF, and a case to influences(), in "
            "tests/support/oracle_errors.py"
        )
    return DDOF[name]


def estimate(name: str, group: oracle.Group, eta: Fraction) -> Any:
    return oracle_areas.value(name, oracle.sweep_group(group), eta)


# Influences -----------------------------------------------------------------------------------


def influences(
    name: str, group: oracle.Group, eta: Fraction, more_fpr: Mapping[Any, Fraction] | None = None
) -> list[Fraction]:
    """Return the influence of each of `list_rows`, by the closed forms.

    Those on average precision may be of a curve with `more_fpr`, by score.
    """
    ddof(name)  # raises for a metric without a closed form
    rows = list_rows(group)
    if name == "roc_auc":
        return _roc_auc_influences(rows, group.n_pos, group.n_neg)
    if eta in (0, 1):  # 0 and 1 whatever the sample
        return [Fraction(0)] * len(rows)
    odds = (1 - eta) / eta
    points = {row.score: oracle.count_at(group, row.score) for row in rows}
    shares, precision, by_recall, by_fpr = {}, {}, {}, {}  # and the derivatives of precision
    for score, point in points.items():
        t, f = point["recall"], point["fpr"] + (0 if more_fpr is None else more_fpr[score])
        alerts = t + odds * f
        shares[score] = sum((row.pos for row in rows if row.score == score), Fraction(0)) / group.n_pos
        precision[score] = t / alerts
        by_recall[score] = odds * f / alerts**2
        by_fpr[score] = odds * t / alerts**2
    area = sum(shares[s] * precision[s] for s in points)
    mean_recall = sum(shares[s] * by_recall[s] * points[s]["recall"] for s in points)
    mean_fpr = sum(shares[s] * by_fpr[s] * points[s]["fpr"] for s in points)
    values = []
    for row in rows:
        below = [s for s in points if s <= row.score]  # the thresholds at which this row is flagged
        if row.pos > 0:
            gained = sum(shares[s] * by_recall[s] for s in below)
            values.append(precision[row.score] - area + gained - mean_recall)
        else:
            values.append(mean_fpr - sum(shares[s] * by_fpr[s] for s in below))
    return values


def _roc_auc_influences(rows: list[Row], n_pos: Fraction, n_neg: Fraction) -> list[Fraction]:
    """Return the share of the other class against which a row is ranked correctly, minus the mean."""

    def wins(above: Any, below: Any) -> Fraction:
        return Fraction(1, 2) if above == below else Fraction(int(above > below))

    area = sum(a.pos * b.neg * wins(a.score, b.score) for a in rows for b in rows) / (n_pos * n_neg)
    return [
        sum((b.neg * wins(row.score, b.score) for b in rows), Fraction(0)) / n_neg - area
        if row.pos > 0
        else sum((a.pos * wins(a.score, row.score) for a in rows), Fraction(0)) / n_pos - area
        for row in rows
    ]


def differentiate(name: str, group: oracle.Group, eta: Fraction) -> list[Fraction]:
    """Return the influence of each of `list_rows`, by differences of the metric.

    Each row in turn gets a little more weight, and a little less.
    """
    rows = list_rows(group)
    step = min(row.pos + row.neg for row in rows) / 10**9
    values = []
    for i, row in enumerate(rows):
        ends = []
        for sign in (1, -1):
            more = [(sign * step, Fraction(0)), (Fraction(0), sign * step)][row.neg > 0]
            moved = [*rows[:i], Row(row.score, row.pos + more[0], row.neg + more[1]), *rows[i + 1 :]]
            ends.append(estimate(name, oracle.Group({}, list(map(tuple, moved))), eta))
        class_size = group.n_neg if row.neg > 0 else group.n_pos
        values.append((ends[0] - ends[1]) / (2 * step) * class_size)
    return values


def standard_error(
    name: str,
    rows: Sequence[Row],
    values: Sequence[Fraction],
    n: tuple[Fraction, Fraction],
    *,
    weighted: bool,
) -> float | None:
    """Return the standard error from the influences `values`, with n examples in each class.

    A sum of weighted values varies by the squares of their weights.
    """
    variance = Fraction(0)
    for side, size in enumerate(n):
        mass = [row[1 + side] ** (2 if weighted else 1) for row in rows]
        if size < 2 - 1e-12:  # one example does not tell how much examples differ
            return None
        squares = sum(w * v * v for w, v in zip(mass, values, strict=True)) / sum(mass)
        variance += squares / (size - ddof(name))
    return math.sqrt(variance)


# Intervals ------------------------------------------------------------------------------------


class Interval(NamedTuple):
    """A standard error and the limits of an interval; None where they are unknown."""

    standard_error: float | None = None
    low: float | None = None
    high: float | None = None


def interval(
    name: str,
    group: oracle.Group,
    eta: Fraction,
    confidence: float,
    *,
    weighted: bool,
    counted: bool = False,
) -> Interval:
    """Return the standard error and the interval that an analytic summary gives for a metric.

    Whether eta is the prevalence that was `counted` in the group decides if it has an error.
    """
    n = class_sizes(group, weighted=weighted)
    value = estimate(name, group, eta)
    if value is None or 0 in n or name not in DDOF:
        return Interval()
    rows = list_rows(group)
    error = standard_error(name, rows, influences(name, group, eta), n, weighted=weighted)
    if error is None:
        return Interval()
    if name == "roc_auc":
        return roc_auc(value, error, n, confidence)
    extended = None
    if eta not in (0, 1):
        half = Fraction(1, 2)
        extended = extend(group, eta, weighted=weighted, counted=counted, unseen=half)
    if extended is None:
        return Interval(error)
    return Interval(None if value == 1 else extended.plain[1], *extended.ends(z_value(confidence)))


def roc_auc(value: Fraction, error: float, n: tuple[Fraction, Fraction], confidence: float) -> Interval:
    """Return the interval on the logit scale, with half an example of each class at the worse place.

    An end is that of the area with them, or the plain one where that is farther away.
    """
    z = z_value(confidence)
    if value == 0:  # as that of reversed scores
        low, high = roc_auc(Fraction(1), error, n, confidence)[1:]
        assert low is not None
        assert high == 1
        return Interval(None, 0.0, 1 - low)
    low = min(_lower_end(value, error, n, z), 1.0 if value == 1 else _reach(value, error, -z))
    if value == 1:
        return Interval(None, low, 1.0)
    high = max(1 - _lower_end(1 - value, error, n, z), _reach(value, error, z))
    return Interval(error, low, high)


def _lower_end(value: Fraction, error: float, n: tuple[Fraction, Fraction], z: float) -> float:
    """Return the lower end from the area with half an example of each class on the wrong side."""
    shares = [size / (size + Fraction(1, 2)) for size in n]
    unseen = [(1 - share) * value for share in shares]
    with_halves = math.hypot(error * float(min(shares)), *map(float, unseen))
    return _reach(value * shares[0] * shares[1], with_halves, -z)


def _reach(value: Fraction, error: float, deviations: float) -> float:
    return _expit(_logit(value) + deviations * error / float(value * (1 - value)))


def wilson(rate: float, n: float, z: float) -> tuple[float, float]:
    """Return the ends of the Wilson interval of a rate."""
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def raise_end_of_recall(k: float, n: float, high: float, confidence: float) -> float:
    """Return the high end of Wilson's interval of recall in a band, raised where 1 to 3 are missed.

    There it is the recall at which so many or more are missed with a probability of 1 - confidence.
    """
    from scipy.special import gammaincinv

    missed, numbers = n - k, range(5)
    if missed >= 4 or n < 8:
        return high
    ends = [0.0, *(float(gammaincinv(number, 1 - confidence)) for number in numbers[1:4])]
    ends.append(wilson(4 / n, n, z_value(confidence))[0] * n)
    below = min(int(missed), 3)
    at_end = ends[below] + (ends[below + 1] - ends[below]) * (missed - below)
    return max(high, 1 - at_end / n)


def _logit(value: Fraction) -> float:
    return math.log(value / (1 - value))


def _expit(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0
