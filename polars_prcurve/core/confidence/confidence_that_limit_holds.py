"""Certainty: the level of the one-sided interval that ends at a limit, from the ends of a two-sided one.

Interval ends are about symmetric on the scale of arcsines of roots, on which a rate varies alike
wherever it lies (Anscombe 1948). So the deviate of a limit is that of an end, times the share of the
distance from the value to the end. At both ends, and at the value, it is exact.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.ground.normal_distribution import normal_cdf
from polars_prcurve.core.ground.reserved_prefix import RESERVED

CERTAINTY = "certainty"
"""The column with the one-sided confidence that a target is met; null where none is tested."""
_SCALED = {part: f"{RESERVED}{part}_beside_limit" for part in ("value", "low", "high", "limit")}
"""The columns of a value, the ends of its interval and its limit, scaled so that more is better."""


def scale_limit(
    value_name: str, limit: pl.Expr, *, is_upper: bool = False, unit: float | None = 1.0
) -> dict[str, pl.Expr]:
    """Return the columns that `measure_certainty` reads, of the value of `value_name` beside a limit.

    Values are shares of `unit`, or without a bound if that is None.
    """

    def scale(value: pl.Expr) -> pl.Expr:
        scaled_value = value.sqrt() if unit is None else (value / unit).clip(0, 1).sqrt().arcsin()
        return -scaled_value if is_upper else scaled_value

    endings = ("_high", "_low") if is_upper else ("_low", "_high")
    value_exprs = [*(pl.col(f"{value_name}{ending}") for ending in ("", *endings)), limit]
    return dict(zip(_SCALED.values(), map(scale, value_exprs), strict=True))


def measure_certainty(confidence: float, *, is_threshold_chosen: bool = False) -> pl.Expr:
    """Return the confidence that the value is on the right side of its limit in new data.

    If `is_threshold_chosen`, it was chosen for the limit: what the low end of the interval is farther
    away than the high one allows for that, and moves the value. Below one half it is then null: it has
    no relation to how often the limit is kept, as simulated in `benchmarks/experiments/certainties.py`.
    """
    value, low, high, limit = map(pl.col, _SCALED.values())
    shift = (value - low - (high - value)).clip(lower_bound=0.0) if is_threshold_chosen else 0.0
    distance_to_limit = value - limit - shift
    distance_to_end = pl.when(distance_to_limit > 0).then(value - low - shift).otherwise(high - value)
    deviate = pl.when(distance_to_limit == 0).then(0.0).otherwise(distance_to_limit / distance_to_end)
    certainty = normal_cdf(deviate * z_value(confidence)).fill_nan(None)
    return pl.when(certainty >= 0.5).then(certainty) if is_threshold_chosen else certainty
