"""The correlation of the errors of two models, in point metrics of the same examples.

The value of a metric is moved by the errors of recall and of fpr, which are independent. So the
correlation of two values is a sum over both classes: the correlation of being flagged by either
model, times the share that the class has in the error of either value. A prevalence that was counted
is one for both models: its error has a share, too, with a correlation of 1. With d and e from both
values to the ends of their intervals, the end of the difference is as far from it as the root of d**2
+ e**2 - 2 R d e, where R is this correlation.

All of it is of rates with half an example added to what either model flags alone, as in
`paired_errors`: so every rate is inside 0 and 1 (Newcombe 1998). Examples count by their weights. Where
thresholds move with the sample, the moves of a value are those of its band.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from polars_prcurve.core.comparison import paired_errors
from polars_prcurve.core.comparison.model_pairs import METRIC_NUMBER, SIDES, A, B
from polars_prcurve.core.comparison.paired_errors import ALL_PREFIX, AMOUNTS, BOTH_PREFIX
from polars_prcurve.core.confidence import point_intervals
from polars_prcurve.core.confidence.band_kinds import MOVE_NAMES
from polars_prcurve.core.confidence.interval_input_columns import EtaError
from polars_prcurve.core.curves.long_tables import pick_by_number
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.metrics.point_metric import PointMetric

CORRELATION = f"{RESERVED}correlation"  # of the values of both models
_AGREEMENT_COLUMNS = {name: f"{RESERVED}agreement_{name}" for name in AMOUNTS}
"""The correlation, among examples of a class, of being flagged by either model."""
_RATE_COLUMNS = {name: f"{RESERVED}{name}_rate" for name in AMOUNTS}
"""The rate of a class, half an example added."""
_MOVE_COLUMNS = dict(zip(AMOUNTS, (MOVE_NAMES["recall"], MOVE_NAMES["fpr"]), strict=True))
"""How far the rate of a class moves the value of a model."""


def add_correlation(
    point_pairs: pl.LazyFrame,
    metrics: Sequence[PointMetric],
    *,
    has_moving_threshold: bool,
    has_weights: bool,
    has_counted_eta: bool,
) -> pl.LazyFrame:
    """Add CORRELATION, that of the values of both models, to rows with the discordant examples."""
    rate_exprs, agreement_exprs = {}, {}
    for class_name in AMOUNTS:
        n_both = pl.col(BOTH_PREFIX + class_name)
        n_examples = repeat_in_rows(pl.col(ALL_PREFIX + class_name) + 1, n_both)
        for side in SIDES:
            rate_exprs[side + _RATE_COLUMNS[class_name]] = (
                n_both + pl.col(side + class_name) + 0.5
            ) / n_examples
        rate_of_a, rate_of_b = (pl.col(side + _RATE_COLUMNS[class_name]) for side in SIDES)
        # Of two indicators: (P(both) - a b) / sqrt(a (1 - a) b (1 - b)).
        covariance = n_both / n_examples - rate_of_a * rate_of_b
        variance_product = (rate_of_a * (1 - rate_of_a)) * (rate_of_b * (1 - rate_of_b))
        agreement_exprs[_AGREEMENT_COLUMNS[class_name]] = covariance / variance_product.sqrt()
    point_pairs = point_pairs.with_columns(**rate_exprs).with_columns(**agreement_exprs)
    if not has_moving_threshold:
        is_sum = paired_errors.is_weighted_sum
        unsummed_metrics = [metric if has_weights or not is_sum(metric) else None for metric in metrics]
        point_pairs = _add_moves(point_pairs, unsummed_metrics, has_counted_eta=has_counted_eta)
    agreement_by_move_column = {
        _MOVE_COLUMNS[class_name]: pl.col(column) for class_name, column in _AGREEMENT_COLUMNS.items()
    }
    agreement_by_move_column |= {MOVE_NAMES["eta"]: pl.lit(1.0)} if has_counted_eta else {}
    # With moves m and agreements g: sum of g m_A m_B, over the roots of the sums of m_A^2 and m_B^2.
    error_squares = [
        sum((pl.col(side + move_column) ** 2 for move_column in agreement_by_move_column), pl.lit(0.0))
        for side in SIDES
    ]
    shared_error_exprs = (
        agreement * pl.col(A + move_column) * pl.col(B + move_column)
        for move_column, agreement in agreement_by_move_column.items()
    )
    correlation = sum(shared_error_exprs, pl.lit(0.0)) / (error_squares[0] * error_squares[1]).sqrt()
    # A value that no rate moves, such as precision at prevalence 1, shares no error.
    return point_pairs.with_columns(correlation.fill_nan(0.0).alias(CORRELATION))


def _add_moves(
    point_pairs: pl.LazyFrame, metrics: Sequence[PointMetric | None], *, has_counted_eta: bool
) -> pl.LazyFrame:
    """Add how far one standard error of a rate, half to either side, moves values at a threshold."""

    def evaluate(rates_and_eta: Mapping[str, pl.Expr]) -> pl.Expr:
        """Return the metric of a row on its scale, at these rates and prevalence."""
        values = (
            metric
            and point_intervals.to_unbounded(
                metric.from_columns(*rates_and_eta.values()), point_intervals.scale_bounds(metric)
            )
            for metric in metrics
        )
        return pick_by_number(METRIC_NUMBER, values, pl.lit(None, dtype=pl.Float64))

    eta, eta_error = pl.col("eta"), pl.col(A + EtaError.STANDARD_ERROR)
    end_exprs: dict[str, pl.Expr] = {}
    move_exprs: dict[str, pl.Expr] = {}
    for side in SIDES:
        estimate_by_name = {
            class_name: pl.col(side + rate_column) for class_name, rate_column in _RATE_COLUMNS.items()
        } | {"eta": eta}
        for class_name in AMOUNTS:
            variance = estimate_by_name[class_name] * (1 - estimate_by_name[class_name])
            error = (variance / repeat_in_rows(pl.col(ALL_PREFIX + class_name) + 1, variance)).sqrt()
            end_exprs |= {
                f"{side}{class_name}_{sign}": estimate_by_name[class_name] + sign * error
                for sign in (-0.5, 0.5)
            }
            low_value, high_value = (
                evaluate(estimate_by_name | {class_name: pl.col(f"{side}{class_name}_{sign}")})
                for sign in (-0.5, 0.5)
            )
            move_exprs[side + _MOVE_COLUMNS[class_name]] = (high_value - low_value).abs()
        if has_counted_eta:
            # The logit of eta, less and plus half its error.
            eta_ends = (1 / (1 + (sign * eta_error / 2).exp() / (eta / (1 - eta))) for sign in (1, -1))
            low_value, high_value = (
                evaluate(estimate_by_name | {"eta": eta_end}) for eta_end in eta_ends
            )
            move_exprs[side + MOVE_NAMES["eta"]] = (
                pl.when(eta_error > 0).then(high_value - low_value).otherwise(0.0)
            )
    return point_pairs.with_columns(**end_exprs).with_columns(**move_exprs)
