"""Intervals under an uncertain prevalence, by their definition, in plain numbers."""

from __future__ import annotations

import math
from itertools import product
from statistics import NormalDist
from typing import Any, NamedTuple

from polars_prcurve import rate_interval
from polars_prcurve.metrics import PointMetric
from tests.support.oracle_errors import raise_end_of_recall


class Sample(NamedTuple):
    """What a band is computed from: counts, a prevalence with its ends, and the level."""

    tp_of: tuple[int, int]
    fp_of: tuple[int, int]
    eta: tuple[float, float, float]
    """The value, the low and the high end."""
    confidence: float
    interval: Any = "wilson"


def scale(value: float, bounds: tuple[float, float]) -> float:
    """Return the value on a scale without ends; what is within rounding of a bound is infinite."""
    low, high = bounds
    if math.isinf(low) and math.isinf(high):
        return value
    below = value - low if low == 0 or value - low > 1e-12 else 0.0
    above = high - value if high == 0 or high - value > 1e-12 else 0.0
    if math.isnan(value):
        return math.nan
    if math.isinf(high):
        return math.log(below) if below > 0 else -math.inf
    if math.isinf(low):
        return -math.log(above) if above > 0 else math.inf
    if below == 0 or above == 0:
        return math.inf if below > 0 else -math.inf
    return math.log(below / above)


def unscale(value: float, bounds: tuple[float, float]) -> float:
    """Return the value that `scale` takes to this."""
    low, high = bounds
    if math.isinf(low) and math.isinf(high):
        return value
    if math.isinf(high):
        return low + math.exp(value)
    if math.isinf(low):
        return high - math.exp(-value)
    return low if value < -700 else low + (high - low) / (1 + math.exp(-value))


def widened_band(metric: PointMetric, sample: Sample) -> tuple[float, float]:
    """Return the band of a point metric; NaN where the metric is undefined at an end."""
    t, f = (k / n for k, n in (sample.tp_of, sample.fp_of))
    ts, fs = (
        rate_interval(k, n, sample.confidence, sample.interval) for k, n in (sample.tp_of, sample.fp_of)
    )
    if sample.interval == "wilson":
        ts = (ts[0], raise_end_of_recall(*sample.tp_of, ts[1], sample.confidence))
    eta, low, high = sample.eta
    # Just inside 0 and 1, where each metric has its limit.
    etas = (high * 2.0**-69 if low == 0 else low, 1 - 2.0**-53 if high == 1 and low < 1 else high)
    value = metric(t, f, eta)
    # Net benefit is linear in both rates, and keeps its own scale.
    bounds = (-math.inf, math.inf) if metric.name.startswith("net_benefit") else metric.range
    middle = scale(value, bounds)
    if not math.isfinite(middle):
        corners = [metric(*corner) for corner in product(ts, fs, etas)]
        return pick_corners(metric, corners, value)
    moved = [[metric(a, f, eta) for a in ts], [metric(t, b, eta) for b in fs]]
    if metric.depends_on_eta:
        moved.append([metric(t, f, e) for e in etas])
    ends = []
    for sign in (-1, 1):
        squares = 0.0
        for values in moved:
            distances = [sign * (scale(x, bounds) - middle) for x in values]
            squares += math.nan if any(map(math.isnan, distances)) else max(0.0, *distances) ** 2
        ends.append(
            math.nan if math.isnan(squares) else unscale(middle + sign * math.sqrt(squares), bounds)
        )
    return ends[0], ends[1]


def pick_corners(metric: PointMetric, corners: list[float], value: float) -> tuple[float, float]:
    """Return the least and the greatest corner; NaN if the metric is undefined at both that decide."""
    # Corners in the order of recall, fpr, eta. A low recall and a high fpr are worst; a metric without
    # a direction rises with both rates.
    worst, best = corners[2:4], corners[4:6]
    directions = {
        "maximize": (worst, best),
        "minimize": (best, worst),
        "none": (corners[:2], corners[6:]),
    }
    least, greatest = directions[metric.direction]
    ends = []
    for found, outer in ((least, min), (greatest, max)):
        known = [x for x in found if not math.isnan(x)]
        ends.append(outer(value, *known) if known else math.nan)
    return ends[0], ends[1]


def widened_area(
    exact: dict[str, Any], at_ends: tuple[float, float], confidence: float
) -> tuple[float, float, float]:
    """Return low, high and error of an area, from its row at eta and its values at both ends of eta."""
    bounds = (0.0, 1.0)
    middle, low, high = (scale(exact[name], bounds) for name in ("value", "low", "high"))
    ends = [scale(value, bounds) for value in at_ends]
    below = math.hypot(middle - low, max(0.0, middle - min(ends)))
    above = math.hypot(high - middle, max(0.0, max(ends) - middle))
    z = -NormalDist().inv_cdf((1 - confidence) / 2)
    error = math.hypot(exact["standard_error"], (at_ends[1] - at_ends[0]) / (2 * z))
    return unscale(middle - below, bounds), unscale(middle + above, bounds), error


__all__ = ["Sample", "widened_area", "widened_band"]
