"""Fields of several parts: what `eta=` makes of a table with parts, bands, and guarantees.

In a field recall and fpr are sums over parts, by prevalence eta_c and share s_c of each part,

    recall = sum s_c eta_c recall_c / eta        fpr = sum s_c (1 - eta_c) fpr_c / (1 - eta)

and eta = sum s_c eta_c. Let w_c be the weight of the rate r_c of part c, which has n_c examples of the
class. Then the variance of the rate R of the field is V = sum w_c**2 r_c (1 - r_c) / n_c, and the class
counts as R (1 - R) / V examples: the interval of R is that of as many. A part without a false positive
adds nothing to V, though, so V is at least what it would be if all parts had the rate R,
R (1 - R) sum w_c**2 / n_c. And no end is nearer to R than it is by one part alone at that end of its own
interval.

An interval for each part, with distances added in quadrature, is narrower on one side and wider on the
other: each leans towards one half, and what they lean adds up. With one false positive in each of 20
parts such intervals covered the true value in 88% of samples.

A prevalence of a part that is an estimate moves recall, fpr and eta at once. So far the metric moves, on
a scale where it is unbounded, and these distances are added in quadrature (Zou and Donner 2008).

Sources: Wilson 1927; Kish 1965 for effective sizes; Zou and Donner 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence import point_intervals
from polars_prcurve.core.confidence.band_options import LIMIT_COLUMNS, FixedBands
from polars_prcurve.core.confidence.interval_input_columns import UNCERTAIN_ETA_COLUMNS, EtaError
from polars_prcurve.core.confidence.rate_intervals import compute_beta_limits
from polars_prcurve.core.ground.exact_arithmetic import (
    repeat_in_rows,
    sum_shares,
    to_whole,
    to_whole_shares,
)
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.core.prevalence.population_column_names import Part
from polars_prcurve.core.sweep.sweep_table import PART, PART_COUNTS, build_part_counts

_ROW = f"{RESERVED}field_row"  # the number of a row of a field
_RATES = {"recall": f"{RESERVED}part_recall", "fpr": f"{RESERVED}part_fpr"}  # both rates of a part
_SIZES = {"recall": PART_COUNTS[1], "fpr": PART_COUNTS[3]}  # examples of a part that a rate is of
_SPREAD = f"{RESERVED}spread"  # what the column with the variance of a rate of a field begins with
_EVEN_SPREAD = f"{RESERVED}even_spread"  # the same, if all parts had the rate of the field
_FARTHEST = f"{RESERVED}farthest"  # with the distance to the end that one part alone explains
RATES_AT_ETAS = [
    (f"{RESERVED}recall_at_eta_{i}", f"{RESERVED}fpr_at_eta_{i}", f"{RESERVED}eta_at_eta_{i}")
    for i in (0, 1)
]
"""Both rates and the prevalence of the field where the prevalence of one part is at an end."""


def build_field_grid(field: ScoreTable) -> EtaTable:
    """Return the prevalences of fields, with their intervals if those of parts are estimates."""
    # Bands carry the error of each part, so the grid itself counts as exact.
    assert field.parts is not None
    own_etas = field.parts.etas.with_columns(pl.lit(None, dtype=pl.Float64).alias("eta"))
    carried_columns = UNCERTAIN_ETA_COLUMNS if field.parts.uncertain_eta else ()
    return EtaTable(own_etas, field.by, carried_columns, etas_per_group=1, own_eta_column=Part.FIELD_ETA)


def add_field_bands(
    points: pl.LazyFrame,
    metrics: Sequence[PointMetric],
    bands: FixedBands,
    table: ScoreTable,
    groups: pl.LazyFrame | None,
) -> pl.LazyFrame:
    """Add `<metric>_low` and `<metric>_high` to rows of recall, fpr, eta and the metrics of a field.

    The `by` columns are those of `groups`, or of the rows if there is no such table.
    """
    assert table.parts is not None
    bands = bands.carry_estimates() if table.parts.uncertain_eta else bands
    numbered_points = points.with_row_index(_ROW)
    field_points = points if groups is None else _join_group_columns(points, groups, table)
    part_rows = numbered_points.join(
        build_part_counts(table, field_points), on=[Group.NUMBER, Row.SCORE], nulls_equal=True
    )
    columns_by_rate = {rate: (column, _SIZES[rate]) for rate, column in _RATES.items()}
    part_rows = point_intervals.add_rate_limits(add_part_rates(part_rows), columns_by_rate, bands, table)
    sum_exprs = _list_spread_exprs()
    if table.parts.uncertain_eta:
        part_rows = add_moved_etas(part_rows)
        term_exprs = {end: (pl.col(Part.SHARE) * pl.col(end)).fill_null(0.0) for end in EtaError.LIMITS}
        sum_exprs += [sum_shares(to_whole_shares(term)).alias(end) for end, term in term_exprs.items()]
        for metric in metrics:
            # Sums of squared distances, below and above, over the prevalences of the parts.
            square_columns = point_intervals.name_eta_squares(metric)
            part_rows = _add_eta_squares(part_rows, metric, square_columns)
            sum_exprs += [add_squares(pl.col(name)).alias(name) for name in square_columns]
    numbered_points = numbered_points.drop(*point_intervals.SIZE_COLUMNS.values(), strict=False)
    numbered_points = numbered_points.join(
        part_rows.group_by(_ROW).agg(sum_exprs), on=_ROW, how="left", maintain_order="left"
    )
    numbered_points = _add_sizes_of_field(numbered_points)
    limit_rates = partial(_add_rate_limits_of_field, bands=bands, table=table)
    return point_intervals.add_bands_of_rows(
        limit_rates(numbered_points),
        metrics,
        bands,
        partial(point_intervals.add_ends, bands=bands, has_eta_squares=table.parts.uncertain_eta),
        limit_rates,
    )


def _join_group_columns(points: pl.LazyFrame, groups: pl.LazyFrame, table: ScoreTable) -> pl.LazyFrame:
    """Return the group and the score of each row, with the `by` columns."""
    group_columns = groups.select(*table.by, Group.NUMBER)
    return points.select(Group.NUMBER, Row.SCORE).join(group_columns, on=Group.NUMBER)


def _add_eta_squares(
    part_rows: pl.LazyFrame, metric: PointMetric, square_columns: tuple[str, str]
) -> pl.LazyFrame:
    """Add the squares of how far the prevalence of a part moves the metric, down and up."""
    # Values are columns before they are scaled: an expression that is used twice is computed twice.
    columns_by_value = {point_intervals.ESTIMATE: ("recall", "fpr", "eta")}
    columns_by_value |= {
        f"{RESERVED}scaled_at_eta_{end_number}": RATES_AT_ETAS[end_number] for end_number in (0, 1)
    }
    value_exprs = {
        name: point_intervals.evaluate_metric(metric, *argument_columns)
        for name, argument_columns in columns_by_value.items()
    }
    scale_value = partial(point_intervals.to_unbounded, bounds=point_intervals.scale_bounds(metric))
    scaled_value_exprs = {name: scale_value(pl.col(name)) for name in value_exprs}
    part_rows = part_rows.with_columns(**value_exprs).with_columns(**scaled_value_exprs)
    estimate, *end_value_exprs = map(pl.col, value_exprs)
    distance_exprs = point_intervals.measure_distances(estimate, end_value_exprs)
    column_distance_pairs = zip(square_columns, distance_exprs, strict=True)
    return part_rows.with_columns(
        **{name: distance * distance for name, distance in column_distance_pairs}
    )


def _list_spread_exprs() -> list[pl.Expr]:
    """Return the variance of both rates of a field, also if all parts had them, and FARTHEST."""
    part_share, part_eta = pl.col(Part.SHARE), pl.col(Part.ETA)
    field_eta = repeat_in_rows(pl.col("eta"), part_share)
    weight_by_rate = {
        "recall": part_share * part_eta / field_eta,
        "fpr": part_share * (1 - part_eta) / (1 - field_eta),
    }
    spread_exprs = []
    for rate_column, weight in weight_by_rate.items():
        part_rate, part_size = pl.col(_RATES[rate_column]), pl.col(_SIZES[rate_column])
        low_column, high_column = LIMIT_COLUMNS[rate_column]
        # A part without examples of a class has no weight in its rate.
        even_variance = (
            pl.when(part_size > 0).then((weight * weight / part_size).fill_nan(0.0)).otherwise(0.0)
        )
        part_variance = (even_variance * part_rate * (1 - part_rate)).fill_null(0.0)
        spread_exprs += [
            add_squares(part_variance).alias(_SPREAD + rate_column),
            add_squares(even_variance).alias(_EVEN_SPREAD + rate_column),
            (weight * (part_rate - pl.col(low_column))).max().alias(_FARTHEST + low_column),
            (weight * (pl.col(high_column) - part_rate)).max().alias(_FARTHEST + high_column),
        ]
    return spread_exprs


def _add_sizes_of_field(points: pl.LazyFrame) -> pl.LazyFrame:
    """Add the number of examples that each class counts as."""
    size_exprs = {}
    for rate_column, size_column in point_intervals.SIZE_COLUMNS.items():
        rate, even_variance = pl.col(rate_column), pl.col(_EVEN_SPREAD + rate_column)
        variance_of_one = rate * (1 - rate)
        # The variance of a rate r is r (1 - r) / m for m examples; no more than if all parts had it.
        variance_ratio = pl.max_horizontal(
            pl.col(_SPREAD + rate_column) / variance_of_one, even_variance
        )
        one_over_size = pl.when(variance_of_one > 0).then(variance_ratio).otherwise(even_variance)
        size_exprs[size_column] = 1 / one_over_size
    return points.with_columns(**size_exprs)


def _add_rate_limits_of_field(
    points: pl.LazyFrame, bands: FixedBands, table: ScoreTable
) -> pl.LazyFrame:
    """Add LIMIT_COLUMNS of the field, whose classes have their sizes."""
    columns_by_rate = {rate: (rate, size) for rate, size in point_intervals.SIZE_COLUMNS.items()}
    points = point_intervals.add_rate_limits(points, columns_by_rate, bands, table)
    limit_exprs = {}
    for rate_column, (low_column, high_column) in LIMIT_COLUMNS.items():
        part_low = pl.col(rate_column) - pl.col(_FARTHEST + low_column)
        part_high = pl.col(rate_column) + pl.col(_FARTHEST + high_column)
        limit_exprs[low_column] = pl.min_horizontal(low_column, part_low).clip(lower_bound=0.0)
        limit_exprs[high_column] = pl.max_horizontal(high_column, part_high).clip(upper_bound=1.0)
    return points.with_columns(**limit_exprs)


def add_part_rates(part_rows: pl.LazyFrame) -> pl.LazyFrame:
    """Add recall and fpr of each part to rows with PART_COUNTS; null without examples."""
    tp, n_pos, fp, n_neg = map(pl.col, PART_COUNTS)
    rate_exprs = zip(_RATES.values(), (tp / n_pos, fp / n_neg), strict=True)
    return part_rows.with_columns(rate.fill_nan(None).alias(name) for name, rate in rate_exprs)


def add_moved_etas(part_rows: pl.LazyFrame) -> pl.LazyFrame:
    """Add RATES_AT_ETAS to rows of fields and parts: with one eta at an end of its interval."""
    column_exprs = []
    for eta_end_column, (recall_column, fpr_column, eta_column) in zip(
        EtaError.LIMITS, RATES_AT_ETAS, strict=True
    ):
        eta_step = pl.col(Part.SHARE) * (pl.col(eta_end_column) - pl.col(Part.ETA))
        # With s more positives, all in part i: eta' = eta + s, eta' recall' = eta recall + s recall_i.
        moved_eta = pl.col("eta") + eta_step
        flagged_pos_share = pl.col("eta") * pl.col("recall") + eta_step * pl.col(_RATES["recall"])
        flagged_neg_share = (1 - pl.col("eta")) * pl.col("fpr") - eta_step * pl.col(_RATES["fpr"])
        moved_value_exprs = {
            recall_column: flagged_pos_share / moved_eta,
            fpr_column: flagged_neg_share / (1 - moved_eta),
            eta_column: moved_eta,
        }
        unmoved_columns = {recall_column: "recall", fpr_column: "fpr", eta_column: "eta"}
        column_exprs += [
            pl.when(eta_step == 0)
            .then(unmoved_columns[name])
            .otherwise(moved_value.clip(0.0, 1.0))
            .alias(name)
            for name, moved_value in moved_value_exprs.items()
        ]
    return part_rows.with_columns(column_exprs)


def add_squares(squared_distance: pl.Expr) -> pl.Expr:
    """Return the sum of squared distances, in which an infinite one is far beyond any other."""
    # Integers are added, so that the order of the parts changes no bit (see `exact_arithmetic`).
    finite_square = pl.when(squared_distance.is_finite()).then(
        squared_distance.clip(upper_bound=_MOST_SQUARE)
    )
    whole_square = to_whole(finite_square.otherwise(_INFINITE_SQUARE) * _SQUARE_SCALE)
    return whole_square.sum().cast(pl.Float64) * (1 / _SQUARE_SCALE)


# The exponential function of minus the root of an infinite square is 0.
_SQUARE_SCALE, _MOST_SQUARE, _INFINITE_SQUARE = 2.0**90, 2.0**32, 2.0**22


# Tests of guarantees ------------------------------------------------------------------------------

# The alerts of several parts have no binomial tail. A limit of a sum over parts is as far from it as the
# limits of the parts are from their rates, in quadrature (Zou and Donner 2008). Those of a part are
# one-sided, by Clopper and Pearson. A share of alerts adds the parts of both classes in the same way.
#
# Precision is at least a target where fpr / recall is at most a ratio, so its upper limit adds distances
# a second time: from both sums to that of their quotient. Npv is at least a target where fnr / tnr is.
# Both are tested along a run, whose start no label chooses: from the first row on at which the best
# labels that the examples above it could have would leave room. Limits of rates go one way with the
# threshold and need no run.


class RunColumns(NamedTuple):
    """The columns that a run of precision or of npv reads; limits are logarithms."""

    limit: str
    """The upper limit of ln(fpr / recall), or of ln(fnr / tnr) for npv; infinite if there is none."""
    is_long_enough: str  # whether the examples so far are at least an eighth of the class that is sought
    best: str
    """The least limit so far, had the examples of each row the best labels that they could have."""
    best_of_all: str  # the least of these at any row of the group


PRECISION_RUN, NPV_RUN = (
    RunColumns(
        limit=f"{RESERVED}field_{name}_limit",
        is_long_enough=f"{RESERVED}field_{name}_is_long_enough",
        best=f"{RESERVED}field_{name}_best",
        best_of_all=f"{RESERVED}field_{name}_best_of_all",
    )
    for name in ("precision", "npv")
)
"""The columns of both runs."""
FIELD_RECALL_LOW, FIELD_FPR_HIGH, FIELD_ALERTS_HIGH = (
    f"{RESERVED}field_{name}" for name in ("recall_low", "fpr_high", "alerts_high")
)
"""Limits of recall, of fpr, and of the share of alerts."""


def add_field_tests(
    sweep_rows: pl.LazyFrame, groups: pl.LazyFrame, alpha: float, table: ScoreTable
) -> pl.LazyFrame:
    """Add the columns above, whose limits err with `alpha`, to the rows of a sweep."""
    points = _join_group_columns(sweep_rows, groups, table)
    part_counts = table.collect(build_part_counts(table, points), "guarantee= with field()")
    # In order, so that sums do not depend on how the engine came by the rows.
    part_counts = part_counts.sort(Group.NUMBER, Row.SCORE, PART, descending=[False, True, False])
    # The best labels that the examples above a row could have: for precision the alerts are positives,
    # for npv all else is negative, as far as there are any in each part.
    tp, n_pos, fp, n_neg = map(pl.col, PART_COUNTS)
    n_alerts, n_silent = tp + fp, n_pos + n_neg - tp - fp
    best_tp, best_tn = pl.min_horizontal(n_alerts, n_pos), pl.min_horizontal(n_silent, n_neg)
    best_count_pairs = (best_tp, n_alerts - best_tp), (n_pos - (n_silent - best_tn), n_neg - best_tn)
    best_count_exprs = (
        dict(zip(PART_COUNTS[::2], count_pair, strict=True)) for count_pair in best_count_pairs
    )
    count_frames = [
        part_counts,
        *(part_counts.with_columns(**count_exprs) for count_exprs in best_count_exprs),
    ]
    limit_frame = _compute_limits(pl.concat(count_frames), alpha)
    n_points = limit_frame.height // 3
    limit_frame_by_run = {
        PRECISION_RUN: limit_frame[n_points : 2 * n_points],
        NPV_RUN: limit_frame[2 * n_points :],
    }
    test_frame = limit_frame[:n_points].with_columns(
        limits[run.limit].alias(run.best) for run, limits in limit_frame_by_run.items()
    )
    test_frame = test_frame.with_columns(
        *(
            pl.col(run.best).min().over(Group.NUMBER).alias(run.best_of_all)
            for run in limit_frame_by_run
        ),
        pl.col(PRECISION_RUN.best).cum_min().over(Group.NUMBER),
        pl.col(NPV_RUN.best).cum_min(reverse=True).over(Group.NUMBER),  # its run goes from low scores up
    )
    return sweep_rows.join(
        test_frame.lazy(), on=[Group.NUMBER, Row.SCORE], how="left", maintain_order="left"
    )


# Limits of sums over parts ---------------------------------------------------------------------

_SQUARES = ("tp_below", "tp_above"), ("fp_below", "fp_above")
"""Squared distances from the rate of a part to both limits, in shares of the field."""
_SHARES = pl.col(Part.SHARE) * pl.col(Part.ETA), pl.col(Part.SHARE) * (1 - pl.col(Part.ETA))
"""The shares of a part's positives and negatives in the whole population."""


def _compute_limits(part_counts: pl.DataFrame, alpha: float) -> pl.DataFrame:
    """Return a row per group and score: the limits of both runs, whether they are long, and of rates."""
    part_counts = _add_limit_squares(part_counts, alpha)
    term_exprs = _build_limit_terms()
    # Parts of a row rise. One that does not is of the next row, also at the seam of two tables, where
    # Group.NUMBER and Row.SCORE may be equal.
    is_first_part = (pl.col(PART) <= pl.col(PART).shift(1)).fill_null(False)
    for column in (Group.NUMBER, Row.SCORE):
        is_first_part |= pl.col(column).ne_missing(pl.col(column).shift(1))
    first_row_numbers = np.flatnonzero(part_counts.select(is_first_part).to_series().to_numpy())
    term_rows = part_counts.select(term.alias(column) for column, term in term_exprs.items())
    term_sums = [
        pl.Series(term_series.name, np.add.reduceat(term_series.to_numpy(), first_row_numbers))
        for term_series in term_rows
        if len(first_row_numbers)
    ]
    points = part_counts.select(Group.NUMBER, Row.SCORE)[first_row_numbers]
    points = points.with_columns(term_sums or [pl.lit(0.0).alias(column) for column in term_exprs])
    tp, fn, fp, tn, pos_share, neg_share = map(pl.col, ("tp", "fn", "fp", "tn", "pos", "neg"))
    # The limit of a sum is as far from it as those of its parts are, in quadrature.
    tp_distance, fp_distance = pl.col("tp_below").sqrt(), pl.col("fp_above").sqrt()
    tp_low, fp_high = tp - tp_distance, pl.min_horizontal(fp + fp_distance, neg_share)
    fn_high, tn_low = fn + tp_distance, tn - fp_distance
    limit_exprs = {
        PRECISION_RUN.limit: _limit_log_ratio(
            (fp / neg_share, fp_high / neg_share), (tp / pos_share, tp_low / pos_share)
        ),
        PRECISION_RUN.is_long_enough: pl.col("alerts") * 8 >= pl.col("n_pos"),
        NPV_RUN.limit: _limit_log_ratio(
            (fn / pos_share, fn_high / pos_share), (tn / neg_share, tn_low / neg_share)
        ),
        NPV_RUN.is_long_enough: pl.col("silent") * 8 >= pl.col("n_neg"),
        FIELD_RECALL_LOW: tp_low / pos_share,
        FIELD_FPR_HIGH: fp_high / neg_share,
        FIELD_ALERTS_HIGH: tp + fp + (pl.col("tp_above") + pl.col("fp_above")).sqrt(),
    }
    return points.select(Group.NUMBER, Row.SCORE, **limit_exprs)


def _build_limit_terms() -> dict[str, pl.Expr]:
    """Return what is added up over the parts of a row, by its name in the sum."""
    n_pos_flagged, n_pos, n_neg_flagged, n_neg = map(pl.col, PART_COUNTS)
    (recall, fpr), (pos_share, neg_share) = map(pl.col, _RATES.values()), _SHARES
    return {
        "alerts": n_pos_flagged + n_neg_flagged,
        "silent": n_pos - n_pos_flagged + n_neg - n_neg_flagged,
        "n_pos": n_pos,
        "n_neg": n_neg,
        "pos": pos_share,
        "neg": neg_share,
        "tp": pos_share * recall,
        "fn": pos_share * (1 - recall),
        "fp": neg_share * fpr,
        "tn": neg_share * (1 - fpr),
        **{name: pl.col(name) for name in (*_SQUARES[0], *_SQUARES[1])},
    }


def _add_limit_squares(part_counts: pl.DataFrame, alpha: float) -> pl.DataFrame:
    """Add both rates of each part, and the squared distances to their limits, to the counts of parts."""
    columns_of_classes = zip(
        PART_COUNTS[::2], PART_COUNTS[1::2], _RATES.values(), _SQUARES, _SHARES, strict=True
    )
    for hits_column, size_column, rate_column, square_columns, class_share in columns_of_classes:
        # A limit is the same wherever a part has the same count.
        distinct_counts = part_counts.select(hits_column, size_column).unique()
        limit_arrays = compute_beta_limits(
            distinct_counts[hits_column].to_numpy(),
            distinct_counts[size_column].to_numpy(),
            tail_probability=alpha,
            prior_hits=0.0,
        )
        class_rate = (pl.col(hits_column) / pl.col(size_column)).fill_nan(0.0).alias(rate_column)
        distinct_counts = distinct_counts.with_columns(
            class_rate, **dict(zip(square_columns, map(pl.Series, limit_arrays), strict=True))
        )
        part_counts = part_counts.join(
            distinct_counts, on=[hits_column, size_column], how="left", maintain_order="left"
        )
        # A part without examples of a class has no share of it.
        distance_exprs = {
            name: (pl.col(name) - pl.col(rate_column)).fill_nan(0.0) * class_share
            for name in square_columns
        }
        part_counts = part_counts.with_columns(
            (distance * distance).alias(name) for name, distance in distance_exprs.items()
        )
    return part_counts


def _limit_log_ratio(
    top_rate_and_high: tuple[pl.Expr, pl.Expr], bottom_rate_and_low: tuple[pl.Expr, pl.Expr]
) -> pl.Expr:
    """Return the upper limit of ln(top / bottom), each a rate, and its high or its low limit."""
    (top_rate, top_high), (bottom_rate, bottom_low) = top_rate_and_high, bottom_rate_and_low
    distance = ((top_high / top_rate).log() ** 2 + (bottom_rate / bottom_low).log() ** 2).sqrt()
    # The logarithm of 0 is infinitely far: then both rates are at their limits.
    limit_at_ends = (top_high / bottom_low).log()
    limit_off_zero = (top_rate / bottom_rate).log() + distance
    limit = pl.when(top_rate > 0).then(limit_off_zero).otherwise(limit_at_ends)
    return pl.when(bottom_low > 0).then(limit).otherwise(float("inf"))
