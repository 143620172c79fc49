"""Bands: intervals of point metrics at any prevalence, from intervals of recall and of fpr.

Both rates are those of independent samples, positives and negatives, and every metric of the registry
moves one way with each. So over the rectangle of both intervals it is least in one corner and
greatest in the opposite one (B 12-13): that band holds at least the level, if each rate's interval
holds its square root. It is too wide, since both rates are seldom wrong at once. The default adds
the distances from the estimate to both ends in quadrature, on a scale where the metric is unbounded
(Zou and Donner 2008), and has the level it names.

The threshold is taken as fixed. With the threshold that gives a certain recall the sample moves the
threshold, too, and precision is less certain.

Sources: (B) Brabec et al. 2020; Zou and Donner 2008.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import polars as pl

from polars_prcurve.columns import N_NEG_EFFECTIVE, N_POS_EFFECTIVE, RESERVED
from polars_prcurve.errors import PrcError
from polars_prcurve.intervals import EXACT, RateMethod, known_method, limits, one_confidence
from polars_prcurve.point_metrics import PointMetric

__all__ = ["Band", "Bands", "Collect", "corners", "read_bands", "with_bands"]

Band: TypeAlias = Literal["mover", "rectangle"]
Collect: TypeAlias = Callable[[pl.LazyFrame, str], pl.DataFrame]
"""What a door does with a query that has to be run before it goes on, and why it has to."""
_LIMITS = {
    "recall": (f"{RESERVED}recall_low", f"{RESERVED}recall_high"),
    "fpr": (f"{RESERVED}fpr_low", f"{RESERVED}fpr_high"),
}
_ROUNDING = 1e-12
_SIZES = {"recall": N_POS_EFFECTIVE, "fpr": N_NEG_EFFECTIVE}


@dataclass(frozen=True)
class Bands:
    """Which band is asked for."""

    confidence: float
    interval: RateMethod
    band: Band

    def limits(self, rate: str, value: Any, size: Any) -> Iterable[tuple[str, Any]]:
        """The ends of the interval of a rate, by name."""
        level = math.sqrt(self.confidence) if self.band == "rectangle" else self.confidence
        return zip(_LIMITS[rate], limits(value * size, size, level, self.interval), strict=True)


def read_bands(
    confidence: float | None, interval: RateMethod, band: Band, metrics: Iterable[PointMetric]
) -> Bands | None:
    """The band asked for, if there is one for all these metrics."""
    if band not in ("mover", "rectangle"):
        raise PrcError(f'band= is "mover" or "rectangle"; got {band!r}')
    known_method(interval)
    if confidence is None:
        return None
    for metric in metrics:
        corners(metric)  # raises where there are none
    return Bands(one_confidence(confidence), interval, band)


def with_bands(
    frame: pl.LazyFrame, metrics: Sequence[PointMetric], bands: Bands, collect: Collect
) -> pl.LazyFrame:
    """Add `<metric>_low` and `<metric>_high` to rows of recall, fpr, eta and the metrics."""
    if bands.interval in EXACT:
        found = collect(frame, f'interval="{bands.interval}"')
        frame = found.with_columns(
            pl.Series(name, end).fill_nan(None)
            for rate, size in _SIZES.items()
            for name, end in bands.limits(rate, found[rate].to_numpy(), found[size].to_numpy())
        ).lazy()
    else:
        frame = frame.with_columns(
            end.fill_nan(None).alias(name)
            for rate, size in _SIZES.items()
            # A column even if all are one number, by whose reciprocal Polars would multiply.
            for name, end in bands.limits(rate, pl.col(rate), pl.col(size) + pl.col(rate) * 0.0)
        )
    for metric in metrics:
        frame = _with_band(frame, metric, bands.band)
    return frame


def corners(metric: PointMetric) -> tuple[tuple[int, int], tuple[int, int]]:
    """Which end of recall and of fpr, 0 or 1, makes the metric least, and which greatest."""
    if not metric.falls_with_fpr:
        raise PrcError(
            f"{metric.name} is not known to move one way with recall and with fpr, so there is no "
            "band from their intervals; a bootstrap has one"
        )
    low = int(metric.direction == "minimize"), int(metric.direction == "maximize")
    return low, (1 - low[0], 1 - low[1])


def _with_band(frame: pl.LazyFrame, metric: PointMetric, band: Band) -> pl.LazyFrame:
    eta, name = pl.col("eta"), metric.name

    def at(recall: str, fpr: str) -> pl.Expr:
        return metric.of_columns(pl.col(recall), pl.col(fpr), eta)

    recalls, fprs = _LIMITS["recall"], _LIMITS["fpr"]
    ends = [at(recalls[t], fprs[f]) for t, f in corners(metric)]
    if band == "mover":
        # Bound step by step, since Polars would compute each mention anew.
        names = [f"{RESERVED}{part}" for part in ("estimate", "low_t", "low_f", "high_t", "high_f")]
        parts = [at("recall", "fpr")]
        for t, f in corners(metric):
            parts += [at(recalls[t], "fpr"), at("recall", fprs[f])]
        scaled = (_unbounded(part, metric.range).alias(n) for part, n in zip(parts, names, strict=True))
        frame = frame.with_columns(scaled)
        estimate, *others = map(pl.col, names)
        low = estimate - _distance(estimate, others[:2])
        high = estimate + _distance(estimate, others[2:])
        ends = [
            pl.when(estimate.is_finite() & end.is_not_nan())
            .then(_bounded(end, metric.range))
            .otherwise(corner)
            for corner, end in zip(ends, (low, high), strict=True)
        ]
    # Rounding may not take the ends past the estimate.
    value, (low, high) = pl.col(name), (end.fill_nan(None) for end in ends)
    held = {"low": (low, pl.min_horizontal), "high": (high, pl.max_horizontal)}
    return frame.with_columns(
        pl.when(value.is_not_null() & end.is_not_null()).then(past(end, value)).alias(f"{name}_{side}")
        for side, (end, past) in held.items()
    )


def _distance(estimate: pl.Expr, ends: Iterable[pl.Expr]) -> pl.Expr:
    one, other = (estimate - end for end in ends)
    return (one * one + other * other).sqrt()


def _unbounded(value: pl.Expr, bounds: tuple[float, float]) -> pl.Expr:
    """The logit of a value between two bounds, or the logarithm of its distance from the only one."""
    low, high = bounds
    below, above = _apart(value - low, low), _apart(high - value, high)
    if math.isinf(high):
        return below.log()
    if math.isinf(low):
        return -above.log()
    return (below / above).log()


def _apart(distance: pl.Expr, bound: float) -> pl.Expr:
    """A distance from a bound, and none where rounding may have made it."""
    return distance if bound == 0 else pl.when(distance < _ROUNDING).then(0.0).otherwise(distance)


def _bounded(value: pl.Expr, bounds: tuple[float, float]) -> pl.Expr:
    low, high = bounds
    if math.isinf(high):
        return low + value.exp()
    if math.isinf(low):
        return high - (-value).exp()
    return low + (high - low) / (1 + (-value).exp())
