"""How far the values of two models at a target err together, if both flag the same examples.

    counts and discordant examples -> correlation    of being flagged, within a class
                                   -> moves          of either value by the error of either rate
                                   -> correlation    of both values

The value of a metric is moved by the errors of recall and of fpr, which are independent. So the
correlation of two values is a sum over both classes: the correlation of being flagged by either model,
times the share that the class has in the error of either value. A prevalence that was counted is one for
both models: its error has a share, too, with a correlation of 1. With d and e from both values to the
ends of their intervals, the end of the difference is as far from it as the root of
d**2 + e**2 - 2 R d e, where R is this correlation.

All of it is of rates with half an example added to what either model flags alone, as in
`paired_points`: so every rate is inside 0 and 1. Examples count by their weights. Where thresholds move
with the sample, the moves of a value are those of its band.

Sources: Zou and Donner 2008; Newcombe 1998 for differences of single rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.comparison.model_pairs import SIDES, A, B
from polars_prcurve.comparison.paired_points import AMOUNTS, BOTH, OF_ALL, is_weighted_sum
from polars_prcurve.confidence.bands import MOVES, scale_bounds, to_unbounded
from polars_prcurve.curves.curve_table import pick_by_number
from polars_prcurve.float_bits import repeat_in_rows
from polars_prcurve.metrics.point_metric import PointMetric

CORRELATION = f"{c.RESERVED}correlation"
"""The correlation of the values of both models at a target."""
_AGREEMENT = {name: f"{c.RESERVED}agreement_{name}" for name in AMOUNTS}
"""The correlation, among examples of a class, of being flagged by either model."""
_RATES = {
    name: [f"{c.RESERVED}{name}_{place}" for place in ("rate", "less", "more")] for name in AMOUNTS
}
"""The rate of a class, half an example added, and the ends of an interval of one error around it."""
_MOVES = dict(zip(AMOUNTS, (MOVES["recall"], MOVES["fpr"]), strict=True))
"""How far the rate of a class moves the value of a model."""


def add_correlation(
    pairs: pl.LazyFrame,
    metrics: Sequence[PointMetric],
    number: str,
    *,
    moving: bool,
    sums: bool,
    counted: bool,
) -> pl.LazyFrame:
    """Add CORRELATION, that of the values of both models, to rows with the discordant examples.

    `number` is the column with the number of the metric of a row. Of thresholds that are `moving`, the
    rows have MOVES. Weighted `sums` may be left null. Where a prevalence may be `counted`, rows have
    ETA_ERROR.
    """
    rates, agreements = {}, {}
    for name in AMOUNTS:
        both, n = pl.col(BOTH + name), pl.col(OF_ALL + name) + 1
        for side in SIDES:
            flagged = both + pl.col(side + name) + 0.5
            rates[side + _RATES[name][0]] = flagged / repeat_in_rows(n, flagged)
        a, b = (pl.col(side + _RATES[name][0]) for side in SIDES)
        shared = both / repeat_in_rows(n, both) - a * b
        agreements[_AGREEMENT[name]] = shared / ((a * (1 - a)) * (b * (1 - b))).sqrt()
    pairs = pairs.with_columns(**rates).with_columns(**agreements)
    if not moving:
        others = [metric if sums or not is_weighted_sum(metric) else None for metric in metrics]
        pairs = _add_moves(pairs, others, number)
        pairs = _add_eta_moves(pairs, others, number) if counted else pairs
    agreement = {_MOVES[name]: pl.col(column) for name, column in _AGREEMENT.items()}
    agreement |= {MOVES["eta"]: pl.lit(1.0)} if counted else {}
    errors = [sum((pl.col(side + move) ** 2 for move in agreement), pl.lit(0.0)) for side in SIDES]
    shares = (of * pl.col(A + move) * pl.col(B + move) for move, of in agreement.items())
    correlation = sum(shares, pl.lit(0.0)) / (errors[0] * errors[1]).sqrt()
    # A value that no rate moves, such as precision at prevalence 1, shares no error.
    return pairs.with_columns(correlation.fill_nan(0.0).alias(CORRELATION))


def _add_moves(pairs: pl.LazyFrame, metrics: Sequence[PointMetric | None], number: str) -> pl.LazyFrame:
    """Add how far the rates move the values at thresholds that were given; null without a metric.

    A rate moves by one standard error, half of it to either side, and the value on its unbounded scale.
    """
    ends: dict[str, pl.Expr] = {}
    for name, side in product(AMOUNTS, SIDES):
        rate, *names = (side + column for column in _RATES[name])
        variance = pl.col(rate) * (1 - pl.col(rate))
        error = (variance / repeat_in_rows(pl.col(OF_ALL + name) + 1, variance)).sqrt()
        ends |= {end: pl.col(rate) + sign * error for end, sign in zip(names, (-0.5, 0.5), strict=True)}
    moves = {}
    for name, side in product(AMOUNTS, SIDES):
        distances: list[pl.Expr | None] = []
        for metric in metrics:
            if metric is None:
                distances.append(None)
                continue
            values = []
            for end in _RATES[name][1:]:
                recall, fpr = (pl.col(side + (end if of == name else _RATES[of][0])) for of in AMOUNTS)
                value = metric.from_columns(recall, fpr, pl.col("eta"))
                values.append(to_unbounded(value, scale_bounds(metric)))
            distances.append((values[1] - values[0]).abs())
        no_number = pl.lit(None, dtype=pl.Float64)
        moves[side + _MOVES[name]] = pick_by_number(number, distances, no_number)
    return pairs.with_columns(**ends).with_columns(**moves)


def _add_eta_moves(
    pairs: pl.LazyFrame, metrics: Sequence[PointMetric | None], number: str
) -> pl.LazyFrame:
    """Add how far the error of a counted prevalence moves the values at thresholds that were given."""
    eta, half = pl.col("eta"), pl.col(A + c.ETA_ERROR) / 2
    odds = eta / (1 - eta)
    ends = [1 / (1 + (sign * half).exp() / odds) for sign in (1, -1)]
    moves = {}
    for side in SIDES:
        recall, fpr = (pl.col(side + _RATES[of][0]) for of in AMOUNTS)
        distances: list[pl.Expr | None] = []
        for metric in metrics:
            if metric is None:
                distances.append(None)
                continue
            low, high = (
                to_unbounded(metric.from_columns(recall, fpr, end), scale_bounds(metric)) for end in ends
            )
            distances.append(pl.when(pl.col(A + c.ETA_ERROR) > 0).then(high - low).otherwise(0.0))
        moved = pick_by_number(number, distances, pl.lit(None, dtype=pl.Float64))
        moves[side + MOVES["eta"]] = moved
    return pairs.with_columns(**moves)
