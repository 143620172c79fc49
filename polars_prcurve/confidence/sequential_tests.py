"""Tests and intervals that hold at every look at once, however often one looks.

    counts of periods -> bets       the log likelihood ratio of each period, for falls of several sizes
                      -> evidence   their product from each start on, mixed over falls and over starts
    running counts    -> interval   of the mean rate so far

If nothing fell, no bet is expected to gain, so the evidence is a supermartingale that starts at 1: the
probability that it ever reaches `1 / alpha` is at most alpha (Ville 1939). Rates may differ from period
to period, and periods may have any number of rows.

Sources: Robbins 1970, mixtures; Howard, Ramdas, McAuliffe and Sekhon 2021, intervals at all times; Shin,
Ramdas and Rinaldo 2023, a mixture over starts; Turner, Ly and Gruenwald 2024, bets on two rates.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]

FALLS = tuple(2.0 ** (step / 2) for step in range(-10, 3))
"""By how much log odds fall in a bet: from 0.03 to 2, so that falls of any size have one near."""
TILTS = tuple(sign * 2.0**power for sign in (-1, 1) for power in range(-9, 3))
"""The shifts of log odds that an interval is mixed over."""
_LARGEST = 700.0  # whose exponential is a float
_NODES = 20_001
_BISECTIONS = 60


class PeriodCells(NamedTuple):
    """The four counts at one threshold: arrays with a count for each period, or those of a table."""

    tp: Any
    fp: Any
    fn: Any
    tn: Any


class SeriesEvidence(NamedTuple):
    """What a series tells of a fall."""

    values: Floats  # the evidence after each period; an alarm where it has reached what is needed
    logs: Floats  # logarithms of the running product of the bets on each fall, a row per period


def bound_rate(k: int, n: int, alpha: float) -> float:
    """Return a bound that a rate is below with a probability of at most alpha, from k of n."""
    # The alpha quantile of Beta(k, n - k + 1) (Clopper and Pearson 1934), to 1e-6 of its spread.
    if k == 0:
        return 0.0
    a, b = k, n - k + 1
    # The density in log odds is smooth, and falls off as exp(-a |x|) and exp(-b |x|) at worst.
    spread = 9 * math.sqrt(1 / a + 1 / b)
    x = math.log(a / b) + np.linspace(-spread - 40 / a, spread + 40 / b, _NODES)
    density = -a * np.logaddexp(0, -x) - b * np.logaddexp(0, x)
    below = np.cumsum(np.exp(density - density.max()))
    below -= np.exp(density - density.max()) / 2  # the mass below the middle of a step
    place = np.interp(alpha, below / below[-1], x)
    return float(1 / (1 + np.exp(-place)))


def bound_ratio(cells: PeriodCells, alpha: float) -> float:
    """Return a bound that fpr / recall is above with a probability of at most alpha; NaN without any."""
    tp, fp, fn, tn = map(int, cells)
    if tp * (fp + tn) == 0:
        return math.nan
    if fp == 0:  # which has no logarithm: both bounds at once
        return (1 - bound_rate(tn, tn, alpha / 2)) / bound_rate(tp, tp + fn, alpha / 2)
    # Distances of both bounds add up as squares, in logarithms (Zou and Donner 2008). As summed over all
    # draws of 30 to 2 000 positives, the probability was 0.04 at most at an alpha of 0.04.
    recall, fpr = tp / (tp + fn), fp / (fp + tn)
    below = math.log(recall / bound_rate(tp, tp + fn, alpha))
    above = math.log((1 - bound_rate(tn, fp + tn, alpha)) / fpr)
    return fpr / recall * math.exp(math.hypot(below, above))


def bet_on_rate(k: Counts, n: Counts, bound: float) -> Floats:
    """Return the log likelihood ratios of falls from a bound, for k of n in each period."""
    # The ratio at a rate p of at least the bound is expected to be at most 1, since it is linear in p.
    odds, falls = bound / (1 - bound), np.array(FALLS)
    rest = np.log1p(odds) - np.log1p(odds * np.exp(-falls))  # of a failure
    return np.asarray(n[:, None] * rest - k[:, None] * falls)


def bet_on_precision(cells: PeriodCells, before: PeriodCells, ratio: float) -> Floats:
    """Return the log likelihood ratios of falls of precision from that at fpr / recall = `ratio`."""
    # A bet takes both rates as they were in earlier periods and in the counts `before`, with one of them
    # worse. It is made against the two rates without a fall that are nearest to it in the likelihood of
    # the period. Whatever rates without a fall are true, it is then not expected to gain: rates without
    # a fall are a convex set.
    earlier = (np.cumsum(each) - each + start for each, start in zip(cells, before, strict=True))
    tp, fp, fn, tn = (each.astype(np.float64) for each in earlier)
    known = (tp + fn > 0) & (fp + tn > 0)
    recall, fpr = (tp + 0.5) / (tp + fn + 1), (fp + 0.5) / (fp + tn + 1)
    tp, fp, fn, tn = (np.asarray(each, dtype=np.float64) for each in cells)
    odds = ratio * np.exp(FALLS)
    tiny = 1e-6  # so that 1 minus a rate keeps ten digits
    worse_recall = np.clip(fpr[:, None] / odds, tiny, 1 - tiny)
    worse_fpr = np.clip(recall[:, None] * odds, tiny, 1 - tiny)
    recall = np.hstack([worse_recall, np.broadcast_to(recall[:, None], worse_recall.shape)])
    fpr = np.hstack([np.broadcast_to(fpr[:, None], worse_fpr.shape), worse_fpr])
    n_pos, n_neg = (tp + fn)[:, None], (fp + tn)[:, None]
    near = find_nearest_recall(recall, fpr, n_pos, n_neg, ratio)
    near_fpr = ratio * near
    bets = tp[:, None] * np.log(recall / near) + fn[:, None] * (np.log1p(-recall) - np.log1p(-near))
    bets += fp[:, None] * np.log(fpr / near_fpr)
    bets += tn[:, None] * (np.log1p(-fpr) - np.log1p(-near_fpr))
    bets = np.where(fpr > ratio * recall, bets, 0.0)  # clipped to what is no fall
    return np.where((known & (n_pos * n_neg > 0)[:, 0])[:, None], bets, 0.0)


def find_nearest_recall(
    recall: Floats, fpr: Floats, n_pos: Floats, n_neg: Floats, ratio: float
) -> Floats:
    """Return the recall, with fpr `ratio` times that, under which rates are expected most likely."""
    # For the recall x, where n_pos (r ln x + (1 - r) ln(1 - x)) + n_neg (f ln c x + (1 - f) ln(1 - c x))
    # has the slope 0, with the rates r and f of a bet and c = ratio. It is the root of a quadratic
    # equation (Miettinen and Nurminen 1985), as for a ratio of two risks.
    square = ratio * (n_pos + n_neg)
    linear = n_pos * (1 + ratio * recall) + n_neg * (ratio + fpr)
    constant = n_pos * recall + n_neg * fpr
    root = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0))
    with np.errstate(invalid="ignore"):  # of periods without rows, which make no bet
        return np.asarray(np.minimum(2 * constant / (linear + root), (1 - 1e-12) * min(1, 1 / ratio)))


def weigh_evidence(bets: Floats) -> SeriesEvidence:
    """Return the evidence after periods: bets from each start v on, with a share 1 / v(v + 1)."""
    number = np.arange(1, len(bets) + 1)
    logs = np.cumsum(bets, axis=0)
    starts = -np.log(number * (number + 1.0))[:, None] - (logs - bets)
    of_falls = np.logaddexp.accumulate(starts, axis=0) + logs
    mixed = np.logaddexp.reduce(of_falls, axis=1) - math.log(bets.shape[1])
    # The shares of starts to come are kept as they are: those of all after t add up to 1 / (t + 1).
    mixed = np.logaddexp(mixed, -np.log(number + 1.0))
    return SeriesEvidence(np.exp(np.minimum(mixed, _LARGEST)), logs)


def find_start(evidence: SeriesEvidence, alarm: int) -> int:
    """Return the number of the period with which a fall likely began, of an alarm in a later one."""
    logs = evidence.logs[: alarm + 1]
    from_start = logs[-1] - np.vstack([np.zeros_like(logs[:1]), logs[:-1]])
    number = np.arange(1, alarm + 2)
    return int(np.argmax(np.logaddexp.reduce(from_start, axis=1) - np.log(number * (number + 1.0))))


def find_running_interval(k: Counts, n: Counts, alpha: float) -> tuple[Floats, Floats]:
    """Return limits of the mean rate so far, from running counts, which hold at all times at once."""
    # At a mean rate p the mixture of exp(tilt * k) / (1 - p + p exp(tilt))**n is expected to be at most
    # 1, and no more if rates vary about p. It is convex in p, and at most 1 where p is k / n, so the
    # rates at which it is below 1 / alpha are an interval.
    tilts = np.array(TILTS)

    def log_mixture(p: Floats) -> Floats:
        terms = tilts * k[:, None] - n[:, None] * np.log1p(p[:, None] * np.expm1(tilts))
        return np.asarray(np.logaddexp.reduce(terms, axis=1) - math.log(len(tilts)))

    seen = np.where(n > 0, k / np.maximum(n, 1), 0.5)
    ends = []
    for outside in (0.0, 1.0):
        inner, outer = seen.copy(), np.full(len(k), outside)
        for _ in range(_BISECTIONS):
            middle = (inner + outer) / 2
            holds = log_mixture(middle) < -math.log(alpha)
            inner, outer = np.where(holds, middle, inner), np.where(holds, outer, middle)
        ends.append(np.where(n > 0, outer, np.nan))
    return ends[0], ends[1]
