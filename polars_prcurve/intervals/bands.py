"""Bands: intervals of point metrics at any prevalence, from intervals of recall and of fpr.

Recall and fpr come from independent samples, the positives and the negatives, and nearly every point
metric rises or falls with each of them throughout. Two bands follow from that:

    rectangle   Over all pairs of rates within both intervals, the metric is least in one corner and
                greatest in the opposite corner (B 12-13). If the interval of each rate has the square
                root of the level, the band has at least the level. It is too wide, since both rates are
                seldom wrong at once.
    mover       The distances from the estimate to the end of either interval are added in quadrature, on
                a scale where the metric is unbounded (Zou and Donner 2008). The band has the level it
                names. This is the default.

The threshold is taken as fixed. If it is chosen to reach a certain recall, the sample moves the
threshold too, and precision is less certain than the band says.

Sources: (B) Brabec et al. 2020; Zou and Donner 2008.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import polars as pl

from polars_prcurve.argument_kinds import read_choice
from polars_prcurve.column_names import N_NEG_EFFECTIVE, N_POS_EFFECTIVE, RESERVED
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.score_table import InputTable
from polars_prcurve.intervals.rates import (
    BETA_METHODS,
    RateMethod,
    check_confidence,
    check_rate_method,
    compute_limits,
)
from polars_prcurve.metrics.point_metric import PointMetric

BandKind: TypeAlias = Literal["mover", "rectangle"]
_LIMIT_COLUMNS = {
    "recall": (f"{RESERVED}recall_low", f"{RESERVED}recall_high"),
    "fpr": (f"{RESERVED}fpr_low", f"{RESERVED}fpr_high"),
}
_ROUNDING = 1e-12
"""A distance from a bound other than 0 that is smaller than this may be a rounding error."""
_SIZE_COLUMNS = {"recall": N_POS_EFFECTIVE, "fpr": N_NEG_EFFECTIVE}


@dataclass(frozen=True)
class BandOptions:
    """Options for bands: the level, the interval of a rate, and how two intervals make a band."""

    confidence: float
    interval: RateMethod
    band: BandKind

    def limits_by_name(self, rate: str, value: Any, size: Any) -> Iterable[tuple[str, Any]]:
        """Yield the low and high end of the interval of a rate, each with the name of its column."""
        level = math.sqrt(self.confidence) if self.band == "rectangle" else self.confidence
        return zip(
            _LIMIT_COLUMNS[rate], compute_limits(value * size, size, level, self.interval), strict=True
        )


def read_band_options(
    confidence: float | None, interval: RateMethod, band: BandKind, metrics: Iterable[PointMetric]
) -> BandOptions | None:
    """Return the options for bands, or None if `confidence` is None; raise if a metric has no band."""
    read_choice("band=", band, ("mover", "rectangle"))
    check_rate_method(interval, "interval=")
    if confidence is None:
        return None
    for metric in metrics:
        find_corners(metric)  # raises if the metric has no band
    return BandOptions(check_confidence(confidence), interval, band)


def with_bands(
    frame: pl.LazyFrame, metrics: Sequence[PointMetric], bands: BandOptions, table: InputTable
) -> pl.LazyFrame:
    """Add `<metric>_low` and `<metric>_high` to rows of recall, fpr, eta and the metrics."""
    if bands.interval in BETA_METHODS:
        rows = table.collect(frame, f'interval="{bands.interval}"')
        frame = rows.with_columns(
            pl.Series(name, end).fill_nan(None)
            for rate, size in _SIZE_COLUMNS.items()
            for name, end in bands.limits_by_name(rate, rows[rate].to_numpy(), rows[size].to_numpy())
        ).lazy()
    else:
        frame = frame.with_columns(
            end.fill_nan(None).alias(name)
            for rate, size in _SIZE_COLUMNS.items()
            # Adding 0 times a column makes a column of the size even in a table of one group. Otherwise
            # Polars may hold it as one number, and would multiply by its reciprocal.
            for name, end in bands.limits_by_name(rate, pl.col(rate), pl.col(size) + pl.col(rate) * 0.0)
        )
    for metric in metrics:
        frame = _with_band(frame, metric, bands.band)
    return frame


def find_corners(metric: PointMetric) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the ends of recall and fpr at which a metric is least, and those at which it is greatest.

    A low end is 0, a high end 1. Raise if the metric does not move one way with each rate.
    """
    if not metric.falls_with_fpr:
        raise PrcError(
            f"{metric.name} is not known to move one way with recall and with fpr, so there is no "
            "band from their intervals; a bootstrap has one"
        )
    least = int(metric.direction == "minimize"), int(metric.direction == "maximize")
    return least, (1 - least[0], 1 - least[1])


def _with_band(frame: pl.LazyFrame, metric: PointMetric, band: BandKind) -> pl.LazyFrame:
    """Add the band of one metric to rows that have the limits of recall and fpr."""
    eta, name = pl.col("eta"), metric.name

    def evaluate(recall: str, fpr: str) -> pl.Expr:
        return metric.from_columns(pl.col(recall), pl.col(fpr), eta)

    recalls, fprs = _LIMIT_COLUMNS["recall"], _LIMIT_COLUMNS["fpr"]
    ends = [evaluate(recalls[t], fprs[f]) for t, f in find_corners(metric)]
    if band == "mover":
        # Bind the values as columns first: Polars would compute each of them anew wherever it is used.
        names = [f"{RESERVED}{part}" for part in ("estimate", "low_t", "low_f", "high_t", "high_f")]
        parts = [evaluate("recall", "fpr")]
        for t, f in find_corners(metric):
            parts += [evaluate(recalls[t], "fpr"), evaluate("recall", fprs[f])]
        scaled = (
            _to_unbounded(part, metric.range).alias(n) for part, n in zip(parts, names, strict=True)
        )
        frame = frame.with_columns(scaled)
        estimate, *others = map(pl.col, names)
        low = estimate - _combine_distances(estimate, others[:2])
        high = estimate + _combine_distances(estimate, others[2:])
        # On this scale an estimate at a bound of the metric is infinite, and no distance from it is
        # defined. The corner takes the place of the end.
        ends = [
            pl.when(estimate.is_finite() & end.is_not_nan())
            .then(_from_unbounded(end, metric.range))
            .otherwise(corner)
            for corner, end in zip(ends, (low, high), strict=True)
        ]
    value, (low, high) = pl.col(name), (end.fill_nan(None) for end in ends)
    # Rounding must not put an end on the wrong side of the estimate.
    sides = {"low": (low, pl.min_horizontal), "high": (high, pl.max_horizontal)}
    return frame.with_columns(
        pl.when(value.is_not_null() & end.is_not_null()).then(outer(end, value)).alias(f"{name}_{side}")
        for side, (end, outer) in sides.items()
    )


def _combine_distances(estimate: pl.Expr, ends: Iterable[pl.Expr]) -> pl.Expr:
    """Return the root of the sum of squared distances from the estimate to two ends."""
    one, other = (estimate - end for end in ends)
    return (one * one + other * other).sqrt()


def _to_unbounded(value: pl.Expr, bounds: tuple[float, float]) -> pl.Expr:
    """Return the logit of a value between two bounds, or the log of its distance from the only bound."""
    low, high = bounds
    below, above = _drop_rounding(value - low, low), _drop_rounding(high - value, high)
    if math.isinf(high):
        return below.log()
    if math.isinf(low):
        return -above.log()
    return (below / above).log()


def _drop_rounding(distance: pl.Expr, bound: float) -> pl.Expr:
    """Return a distance from a bound, as 0 where it may be a rounding error.

    A bound of 0 is exact: no subtraction rounded the distance.
    """
    return distance if bound == 0 else pl.when(distance < _ROUNDING).then(0.0).otherwise(distance)


def _from_unbounded(value: pl.Expr, bounds: tuple[float, float]) -> pl.Expr:
    """Return the value between the bounds that `_to_unbounded` takes to `value`."""
    low, high = bounds
    if math.isinf(high):
        return low + value.exp()
    if math.isinf(low):
        return high - (-value).exp()
    return low + (high - low) / (1 + (-value).exp())
