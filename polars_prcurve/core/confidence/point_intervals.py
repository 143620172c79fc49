"""Bands: intervals of point metrics at any prevalence, from intervals of recall and of fpr.

Recall and fpr come from independent samples, the positives and the negatives, and nearly every point
metric rises or falls with each of them throughout. Three bands follow from that:

    mover         The distances from the estimate to the end of either interval are added in quadrature,
                  on a scale where the metric is unbounded (Zou and Donner 2008), and of net benefit,
                  which is linear in both rates, as they are. It has the level it names: the default.
    rectangle     Over all pairs of rates within both intervals, the metric is least in one corner and
                  greatest in the opposite corner (Brabec et al. 2020, 12-13). If the interval of each
                  rate has the square root of the level, the band has at least the level.
    simultaneous  The rectangle over intervals of a local level, which hold at all thresholds at once,
                  and so at a chosen one, too (Berk and Jones 1979). See `levels_for_all_thresholds`.

Where clusters of examples hold both classes, errors of recall and fpr have a correlation R. With the
distances a and b to the end of either interval, a**2 + b**2 - 2 R a b takes the place of a**2 + b**2: a
metric that rises with recall falls with fpr. Where prevalence has an interval, too, the distance to the
value at its ends is a third one: to the lower value for the low end of the band, since a metric may rise
or fall with it. At a prevalence that was counted in the table, other shares than recall and fpr take
their place; see `cohort_intervals`.

A threshold that meets a target, such as recall 0.8, moves with the rates. Then each end of a rate, or of
a prevalence, has the value where the target is met if it is there (`curves.thresholds_moved_by_sample`).
No distance is less than that of one example, or of the step of the curve there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import TypeAlias

import polars as pl

from polars_prcurve.core.confidence import cohort_intervals
from polars_prcurve.core.confidence.band_options import (
    LIMIT_COLUMNS,
    MOVE_NAMES,
    ChosenBands,
    FixedBands,
    ModelBands,
)
from polars_prcurve.core.confidence.cohort_intervals import ETA_CORRELATIONS
from polars_prcurve.core.confidence.estimates import add_eta_limits
from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize, EtaError, TargetRow
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.ground.query_guards import Check, stop_if_broken
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.student_distribution import student_quantile
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable
from polars_prcurve.core.metrics.point_metric import PointMetric, null_if_nan
from polars_prcurve.core.metrics.segment_column_names import CELLS

# Columns of recall and fpr where a target is met if a rate, or eta, is at an end of its interval
MOVED_RATES = {
    limit: {rate: f"{limit}_moves_{rate}" for rate in LIMIT_COLUMNS}
    for limits in (*LIMIT_COLUMNS.values(), EtaError.LIMITS)
    for limit in limits
}
STEP_COLUMNS = {rate: f"{RESERVED}step_of_{rate}" for rate in LIMIT_COLUMNS}
"""The steps of the rates beside a threshold that moves; see `curves.thresholds_moved_by_sample`."""
ESTIMATE = f"{RESERVED}estimate"  # the value of a metric, on the scale where distances are measured
_SUFFIX = "_value"  # what follows the name of a limit in the column of a metric there
# The least and the greatest value of a metric between the limits of all sources of error
_CORNER_COLUMNS = (f"{RESERVED}least", f"{RESERVED}greatest")
_ENDS = (f"{RESERVED}low_end", f"{RESERVED}high_end")
"""Both ends of a metric, before rounding is mended."""
# Those from shares, with a counted prevalence
_COUNTED_ENDS = (f"{RESERVED}counted_low", f"{RESERVED}counted_high")
_FARTHER_OF_SIDE = {"low": pl.min_horizontal, "high": pl.max_horizontal}
"""The function that takes the farther one of two ends, by the side on which they are."""
_RECALL_LIMITS, _FPR_LIMITS = LIMIT_COLUMNS.values()  # in the order of `find_corners`
EndsOfMetric: TypeAlias = Callable[[pl.LazyFrame, PointMetric], pl.LazyFrame]
"""A function that adds _ENDS of a metric to rows."""
MOST_LEVELS = 10
"""The most levels of score by which `sweep.prevalence_by_mixture` describes a reference."""
SLOPE_SCALE = "scale"
"""The field of EtaError.REFERENCE with a power of two that is above all sums of slopes."""
Common: TypeAlias = tuple[pl.Expr | None, Sequence[pl.Expr]]
"""The correlation of two errors, and what each of them shares with a third one, if there is one."""
SIZE_COLUMNS = {"recall": EffectiveSize.N_POS, "fpr": EffectiveSize.N_NEG}
"""The column with the number of examples that each rate counts as."""


def add_bands(
    points: pl.LazyFrame, metrics: Sequence[PointMetric], bands: FixedBands, table: ResolvedTable
) -> pl.LazyFrame:
    """Add `<metric>_low` and `<metric>_high` to rows of recall, fpr, eta and the metrics."""
    columns_by_rate = {
        rate_name: (rate_name, size_column) for rate_name, size_column in SIZE_COLUMNS.items()
    }
    correlation_columns: Collection[str] = ()
    if bands.counts_eta:
        points, columns_by_share, correlation_columns = _add_shares(points, metrics, bands, table)
        columns_by_rate |= columns_by_share
    if bands.sample.joins_rows:
        points = points.with_columns(
            **_lower_sizes([size_column for _, size_column in columns_by_rate.values()], bands)
        )
    points = add_limits_of_etas(points, bands)
    if "estimated" in bands.eta_kinds and EtaError.REFERENCE in points.collect_schema():
        points = _add_reference_correlations(points)
    needs_exact_eta = bands.band_kind != "mover" and any(metric.depends_on_eta for metric in metrics)
    if needs_exact_eta and EtaError.IS_OWN in points.collect_schema():
        eta_check = Check(pl.col(EtaError.IS_OWN).any(), (bands.tell_exact_eta(),))
        points = stop_if_broken(points, [eta_check])
    # The schema is read once: each metric makes the plan longer, and its schema dearer.
    has_eta_correlations = bands.has_eta_limits and ETA_CORRELATIONS["recall"] in points.collect_schema()
    add_ends_of_metric = partial(
        add_ends,
        bands=bands,
        has_eta_correlations=has_eta_correlations,
        correlation_columns=correlation_columns,
    )

    limit_rates = partial(
        _limit_rates_and_shares, columns_by_rate=columns_by_rate, bands=bands, table=table
    )

    def limit_moved_rates(points: pl.LazyFrame) -> pl.LazyFrame:
        return limit_rates(points.with_columns(**_measure_moved_shares(metrics, bands, table)))

    points = limit_rates(points)
    points = add_bands_of_rows(points, metrics, bands, add_ends_of_metric, limit_moved_rates)
    is_corrected = isinstance(bands, ChosenBands) and bands.corrected
    for metric_number, metric in enumerate(metrics if is_corrected else ()):
        points = _add_correction(points, metric, pl.col(f"{TargetRow.OPTIMISM}{metric_number}"))
    return points


def _limit_rates_and_shares(
    points: pl.LazyFrame,
    columns_by_rate: Mapping[str, tuple[str, str]],
    bands: FixedBands,
    table: ResolvedTable,
) -> pl.LazyFrame:
    """Add both ends of rates and of shares; without trials a share may be any."""
    points = add_rate_limits(points, columns_by_rate, bands, table)
    # The metric is undefined there, or does not move with the share.
    return points.with_columns(
        pl.col(f"{share_name}{end_suffix}").fill_nan(None).fill_null(value_if_null)
        for share_name in columns_by_rate
        if share_name not in SIZE_COLUMNS
        for end_suffix, value_if_null in (("_low", 0.0), ("_high", 1.0))
    )


def _lower_sizes(size_columns: Sequence[str], bands: FixedBands) -> dict[str, pl.Expr]:
    """Return sizes so low that normal quantiles give the widths of Student's distribution."""
    z = z_value(bands.rate_level)
    least_freedom = pl.min_horizontal(EffectiveSize.POS_FREEDOM, EffectiveSize.NEG_FREEDOM)
    freedom_of_size = dict.fromkeys(size_columns, least_freedom) | {
        EffectiveSize.N_POS: pl.col(EffectiveSize.POS_FREEDOM),
        EffectiveSize.N_NEG: pl.col(EffectiveSize.NEG_FREEDOM),
    }
    size_exprs = {
        size_column: pl.col(size_column)
        * z**2
        / student_quantile(z, repeat_in_rows(degrees_of_freedom, pl.col(size_column))) ** 2
        for size_column, degrees_of_freedom in freedom_of_size.items()
    }
    if bands.counts_eta:
        widening_factor = (student_quantile(z, least_freedom) * (1 / z)) ** 2
        size_exprs[EtaError.VARIANCE] = pl.col(EtaError.VARIANCE) * widening_factor
    return size_exprs


def _add_reference_correlations(points: pl.LazyFrame) -> pl.LazyFrame:
    """Add ETA_CORRELATIONS where the prevalence was estimated with the table itself."""
    correlation_exprs = {}
    for rate_name, class_name in (("recall", "pos"), ("fpr", "neg")):
        size, share = pl.col(SIZE_COLUMNS[rate_name]), pl.col(rate_name)
        inner_share = (share * size + 0.5) / (size + 1)  # a rate of 0 or 1 has an error, too
        correlation = sum_slopes(class_name, share) / (inner_share * (1 - inner_share)).sqrt()
        correlation_exprs[ETA_CORRELATIONS[rate_name]] = correlation.clip(-1.0, 1.0).fill_nan(0.0)
    return points.with_columns(**correlation_exprs)


def sum_slopes(class_name: str, share: pl.Expr) -> pl.Expr:
    """Return the sum of slopes over the examples of a class, from the highest score to a share of it."""
    # A level has the share of a class down to it, and a slope. The sum over the examples above a
    # threshold is linear in the rate within a level, so a rate alone determines it.
    reference_struct = pl.col(EtaError.REFERENCE).struct
    slope_sum = pl.lit(0.0)
    level_start = pl.lit(0.0)
    for level_number in range(MOST_LEVELS):
        level_end, slope = (
            reference_struct.field(f"{kind}_{class_name}_{level_number}") for kind in ("share", "slope")
        )
        slope_sum = slope_sum + (share.clip(level_start, level_end) - level_start) * slope
        level_start = level_end
    return slope_sum


def _add_shares(
    points: pl.LazyFrame, metrics: Sequence[PointMetric], bands: FixedBands, table: ResolvedTable
) -> tuple[pl.LazyFrame, dict[str, tuple[str, str]], Collection[str]]:
    """Return a frame with shares, their columns with those of sizes, and those of correlations."""
    moment_columns = bands.sample.moments
    if moment_columns and isinstance(bands, ModelBands):
        points = cohort_intervals.add_eta_correlations(points, table, moment_columns)
    share_exprs: dict[str, pl.Expr] = {}
    correlation_exprs: dict[str, pl.Expr] = {}
    columns_by_share: dict[str, tuple[str, str]] = {}
    for metric in metrics:
        cells_by_share = cohort_intervals.list_shares(metric)
        for share_name, share_cells in cells_by_share.items():
            size_name = f"{share_name}_size"
            share, size = cohort_intervals.measure_share(share_cells, table, moment_columns)
            columns_by_share[share_name] = share_name, size_name
            share_exprs |= {share_name: share, size_name: size}
        for first_name, second_name in combinations(cells_by_share, 2):
            cells_by_pair = {name: cells_by_share[name] for name in (first_name, second_name)}
            correlation = cohort_intervals.correlate_shares(cells_by_pair, moment_columns)
            if correlation is not None:
                correlation_column = cohort_intervals.name_correlation(first_name, second_name)
                correlation_exprs[correlation_column] = correlation
    points = points.with_columns(**share_exprs).with_columns(**correlation_exprs)
    return points, columns_by_share, correlation_exprs.keys()


def _measure_moved_shares(
    metrics: Sequence[PointMetric], bands: FixedBands, table: ResolvedTable
) -> dict[str, pl.Expr]:
    """Return the shares that metrics follow from, of cells that were moved; their sizes stay."""
    return {
        share_name: cohort_intervals.measure_share(share_cells, table, ())[0]
        for metric in (metrics if bands.counts_eta else ())
        for share_name, share_cells in cohort_intervals.list_shares(metric).items()
    }


def add_rate_limits(
    points: pl.LazyFrame,
    columns_by_rate: Mapping[str, tuple[str, str]],
    bands: FixedBands,
    table: ResolvedTable,
) -> pl.LazyFrame:
    """Add both ends of rates and shares, whose value and size have these columns; undefined is null."""
    if not bands.needs_numbers:
        rate_and_size = {
            value_column: (rate_name, pl.col(size_column))
            for rate_name, (value_column, size_column) in columns_by_rate.items()
        }
        return add_lazy_limits(points, rate_and_size, bands)
    point_frame = table.collect(points, bands.needs_numbers)
    for rate_name, (value_column, size_column) in columns_by_rate.items():
        # A rate is the same at every prevalence, and at every threshold between two of its examples.
        rates_and_sizes = point_frame.select(value_column, size_column).unique()
        rate_and_size_arrays = (column.to_numpy() for column in rates_and_sizes)
        limit_arrays = dict(bands.limits_by_name(rate_name, *rate_and_size_arrays))
        rates_and_sizes = rates_and_sizes.with_columns(
            pl.Series(limit_column, limit_values).fill_nan(None)
            for limit_column, limit_values in limit_arrays.items()
        )
        key_columns = [value_column, size_column]
        point_frame = point_frame.drop(limit_arrays, strict=False).join(
            rates_and_sizes, on=key_columns, how="left", nulls_equal=True, maintain_order="left"
        )
    return point_frame.lazy()


def add_lazy_limits(
    points: pl.LazyFrame, rate_and_size_by_column: Mapping[str, tuple[str, pl.Expr]], bands: FixedBands
) -> pl.LazyFrame:
    """Add both ends of rates of these columns, each with the rate that it is and its size."""
    # The optimizer takes time by the square of the length of an expression. So what an expression has
    # several times is bound first, and `null_if_nan` has its own twice.
    trial_exprs: dict[str, pl.Expr] = {}
    limit_exprs: dict[str, pl.Expr] = {}
    for value_column, (rate_name, size) in rate_and_size_by_column.items():
        rate, trials_column = pl.col(value_column), f"{RESERVED}trials_of_{value_column}"
        trial_exprs[trials_column] = repeat_in_rows(size, rate)
        limit_exprs |= bands.limits_by_name(rate_name, rate, pl.col(trials_column))
    points = points.with_columns(**trial_exprs).with_columns(**limit_exprs)
    return points.with_columns(pl.col(*limit_exprs).fill_nan(None)).drop(trial_exprs)


def find_corners(metric: PointMetric) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return which ends of both rates, 0 low and 1 high, make a metric least, and greatest; or raise."""
    if not metric.falls_with_fpr:
        raise PrcError(
            "pass monotone=True to metrics.point() if more recall and a lower fpr never make "
            f"{metric.name} worse, or pass metrics.best({metric.name}) to summary() with "
            "intervals(method='bootstrap'): otherwise there is no formula"
        )
    ends_at_least = int(metric.direction == "minimize"), int(metric.direction == "maximize")
    return ends_at_least, (1 - ends_at_least[0], 1 - ends_at_least[1])


def add_bands_of_rows(
    points: pl.LazyFrame,
    metrics: Sequence[PointMetric],
    bands: FixedBands,
    add_ends_of_metric: EndsOfMetric,
    limit_moved_rates: Callable[[pl.LazyFrame], pl.LazyFrame],
) -> pl.LazyFrame:
    """Add `<metric>_low` and `<metric>_high` to rows that have the limits of all sources of error.

    `limit_moved_rates` adds these limits anew where a choice moved the rates.
    """
    for metric in metrics:
        points = add_ends_of_metric(points, metric)
        value, ends = pl.col(metric.name), map(null_if_nan, map(pl.col, _ENDS))
        # Rounding must not put an end on the wrong side of the estimate.
        points = points.with_columns(
            pl.when(value.is_not_null() & end.is_not_null())
            .then(find_farther(end, value))
            .alias(f"{metric.name}_{side}")
            for end, (side, find_farther) in zip(ends, _FARTHER_OF_SIDE.items(), strict=True)
        )
    if isinstance(bands, ChosenBands) and bands.allows_for_choice:
        return _move_ends_by_choice(points, metrics, add_ends_of_metric, limit_moved_rates)
    return points


# Thresholds that the sample chose ---------------------------------------------------------------

# The lowest threshold that has a precision, an fpr or so many alerts has a positive on its row, or none
# would be gained there: that one is no evidence of what the threshold does. Without it, and with a
# negative in its place, the counts are (tp - 1, fp + 1), and the worse end of a metric is also that of
# these. Or it has a negative on its row: the low end of fpr is also that of fp - 1, and that of alerts,
# which both classes raise, of (tp - 1, fp - 1). The best value of a metric owes more to chance.
#
# The highest threshold of a recall r is on a positive, too. Its true recall is
# k / (P + 1) on average, for k of P positives: r examples less than k / P.

_CHOSEN_COLUMNS = ("recall", "fpr", *CELLS)  # what is moved while ends are computed elsewhere


def _move_ends_by_choice(
    points: pl.LazyFrame,
    metrics: Sequence[PointMetric],
    add_ends_of_metric: EndsOfMetric,
    limit_moved_rates: Callable[[pl.LazyFrame], pl.LazyFrame],
) -> pl.LazyFrame:
    """Move ends of metrics to where they are without the examples that a choice may owe to chance."""
    metrics_by_sign = {
        1: [metric for metric in metrics if metric.direction != "none"],
        -1: [metric for metric in metrics if metric.direction == "none" or _is_of_fpr(metric)],
    }
    column_names = points.collect_schema().names()
    copy_by_column = {name: f"{RESERVED}copy_{name}" for name in _CHOSEN_COLUMNS if name in column_names}
    points = points.with_columns(
        pl.col(name).alias(copy_column) for name, copy_column in copy_by_column.items()
    )
    for fpr_sign, moved_metrics in metrics_by_sign.items():
        if not moved_metrics:
            continue
        points = limit_moved_rates(points.with_columns(**_move_by_choice(fpr_sign, column_names)))
        for metric in moved_metrics:
            points = add_ends_of_metric(points, metric)
            is_minimized = metric.direction == "minimize"
            side = "high" if is_minimized == (fpr_sign > 0) else "low"
            side = "low" if metric.direction == "none" else side
            limit_column = f"{metric.name}_{side}"
            end = null_if_nan(pl.col(dict(zip(_FARTHER_OF_SIDE, _ENDS, strict=True))[side]))
            farther_end = _FARTHER_OF_SIDE[side](limit_column, end)
            points = points.with_columns(
                pl.when(pl.col(limit_column).is_not_null()).then(farther_end).alias(limit_column)
            )
        points = points.with_columns(
            pl.col(copy_column).alias(name) for name, copy_column in copy_by_column.items()
        )
    return points.drop(copy_by_column.values())


def _is_of_fpr(metric: PointMetric) -> bool:
    """Return whether a metric follows from fpr alone."""
    first_value, second_value = (
        metric.formula(*pos_cells, 2.1, 7.7) for pos_cells in ((1.0, 1.3), (3.0, 0.4))
    )
    return bool(first_value == second_value)


def _move_by_choice(fpr_sign: int, column_names: Collection[str]) -> dict[str, pl.Expr]:
    """Return rates and cells with fewer true positives, and more false ones or one less."""
    n_right, n_wrong = pl.col(TargetRow.N_RIGHT_BY_CHOICE), pl.col(TargetRow.N_WRONG_BY_CHOICE)
    n_wrong = n_wrong if fpr_sign > 0 else pl.when(n_right > 0).then(-1.0).otherwise(0.0)
    step_by_rate = {
        "recall": -n_right / pl.col(SIZE_COLUMNS["recall"]),
        "fpr": n_wrong / pl.col(SIZE_COLUMNS["fpr"]),
    }
    moved_exprs = {
        rate_name: (pl.col(rate_name) + step).clip(0.0, 1.0) for rate_name, step in step_by_rate.items()
    }
    if "tp" not in column_names:
        return moved_exprs
    for step, *cells in zip(step_by_rate.values(), ("tp", "fp"), ("fn", "tn"), strict=True):
        hits, misses = (pl.col(cell).cast(pl.Float64) for cell in cells)
        class_sum = hits + misses
        moved_hits = (hits + step * class_sum).clip(0.0, class_sum)
        moved_exprs |= dict(zip(cells, (moved_hits, misses + (hits - moved_hits)), strict=True))
    return moved_exprs


def name_eta_squares(metric: PointMetric) -> tuple[str, str]:
    """Return the columns of how far the prevalences of parts move a metric, squared: down, and up."""
    return f"{RESERVED}eta_below_{metric.name}", f"{RESERVED}eta_above_{metric.name}"


def add_ends(
    points: pl.LazyFrame,
    metric: PointMetric,
    bands: FixedBands,
    *,
    has_eta_squares: bool = False,  # whether eta is of parts, and rows have `name_eta_squares`
    has_eta_correlations: bool = False,  # whether rows have ETA_CORRELATIONS
    correlation_columns: Collection[str] = (),  # those of two shares of cells; others have none
) -> pl.LazyFrame:
    """Add _ENDS of a metric, from the limits of rates and of eta."""
    correlation = pl.col(EffectiveSize.RATE_CORRELATION) if bands.sample.correlates_rates else None
    common_errors = correlation, _list_eta_correlations(metric) if has_eta_correlations else []
    if isinstance(bands, ModelBands):
        return _add_moved_ends(points, metric, bands, common_errors)
    share_names = [*cohort_intervals.list_shares(metric)] if bands.counts_eta else []
    if not share_names or bands.eta_kinds != {"counted"}:
        points = _add_plain_ends(points, metric, bands, common_errors, has_eta_squares=has_eta_squares)
    if share_names:
        points = _add_counted_ends(points, metric, bands, share_names, correlation_columns)
    return points


def _add_plain_ends(
    points: pl.LazyFrame,
    metric: PointMetric,
    bands: FixedBands,
    common_errors: Common,
    *,
    has_eta_squares: bool,
) -> pl.LazyFrame:
    """Add the ends of a metric from those of rates, at a fixed threshold, and of eta."""
    eta_limits = EtaError.LIMITS if bands.has_eta_limits and metric.depends_on_eta else ()
    if bands.band_kind != "mover":
        return points.with_columns(**dict(zip(_ENDS, _find_range(metric, eta_limits), strict=True)))
    values_of_sources = [
        {limit_column: evaluate_metric(metric, limit_column, "fpr") for limit_column in _RECALL_LIMITS},
        {limit_column: evaluate_metric(metric, "recall", limit_column) for limit_column in _FPR_LIMITS},
    ]
    if eta_limits and not has_eta_squares:
        values_of_sources.append(
            {
                limit_column: evaluate_metric(metric, "recall", "fpr", limit_column)
                for limit_column in eta_limits
            }
        )
    rate_limits_of_ends = [[_RECALL_LIMITS[t], _FPR_LIMITS[f]] for t, f in find_corners(metric)]
    eta_distances = [[pl.col(name).sqrt() for name in name_eta_squares(metric)]]
    return _add_ends_from_values(
        points,
        metric,
        _ENDS,
        evaluate_metric(metric, "recall", "fpr"),
        values_of_sources,
        corner_values=_find_range(metric, eta_limits),
        rate_limits_of_ends=rate_limits_of_ends,
        common_errors=common_errors,
        other_distances=eta_distances if has_eta_squares else (),
    )


def _find_range(metric: PointMetric, eta_columns: Sequence[str]) -> list[pl.Expr]:
    """Return the least and the greatest value within the limits of both rates, at all of these eta."""
    least_values, greatest_values = (
        [
            evaluate_metric(metric, _RECALL_LIMITS[recall_end], _FPR_LIMITS[fpr_end], eta_column)
            for eta_column in eta_columns or ["eta"]
        ]
        for recall_end, fpr_end in find_corners(metric)
    )
    return [pl.min_horizontal(least_values), pl.max_horizontal(greatest_values)]


def _add_counted_ends(
    points: pl.LazyFrame,
    metric: PointMetric,
    bands: FixedBands,
    share_names: Sequence[str],
    correlation_columns: Collection[str],
) -> pl.LazyFrame:
    """Set the ends of a metric to those from its shares, where the prevalence was counted."""
    evaluate_at = partial(cohort_intervals.evaluate_shares, metric)
    share_estimates, share_lows, share_highs = (
        [pl.col(f"{share_name}{end}") for share_name in share_names] for end in ("", "_low", "_high")
    )
    if len(share_names) > 1:
        values_of_sources = [
            {
                f"{share_name}{end}": evaluate_at(
                    [*share_estimates[:i], limits[i], *share_estimates[i + 1 :]]
                )
                for end, limits in (("_low", share_lows), ("_high", share_highs))
            }
            for i, share_name in enumerate(share_names)
        ]
        common_errors = _correlate_shares(share_names, correlation_columns)
        corner_values, estimate = _find_range(metric, EtaError.LIMITS), evaluate_at(share_estimates)
        points = _add_ends_from_values(
            points,
            metric,
            _COUNTED_ENDS,
            estimate,
            values_of_sources,
            corner_values=corner_values,
            common_errors=common_errors,
        )
    else:
        low_end, high_end = map(evaluate_at, (share_lows, share_highs))
        points = points.with_columns(low_end.alias(_COUNTED_ENDS[0]), high_end.alias(_COUNTED_ENDS[1]))
    has_both = pl.col(EtaError.VARIANCE).is_finite()
    chosen_ends: list[pl.Expr] = [pl.when(has_both).then(end) for end in _COUNTED_ENDS]
    if bands.eta_kinds != {"counted"}:
        chosen_ends = [
            pl.when(EtaError.IS_OWN).then(end).otherwise(plain_end)
            for end, plain_end in zip(chosen_ends, _ENDS, strict=True)
        ]
    return points.with_columns(**dict(zip(_ENDS, chosen_ends, strict=True)))


def _correlate_shares(share_names: Sequence[str], correlation_columns: Collection[str]) -> Common:
    """Return the correlations of shares, as errors in a metric: with the signs of how it moves."""
    sign_by_share = {
        name: (pl.col(f"{name}_high{_SUFFIX}") - pl.col(f"{name}_low{_SUFFIX}")).sign()
        for name in share_names
    }
    first_correlation, *other_correlations = (
        pl.col(column).fill_null(0.0) * sign_by_share[first_name] * sign_by_share[second_name]
        if column in correlation_columns
        else None
        for first_name, second_name in combinations(share_names, 2)
        for column in [cohort_intervals.name_correlation(first_name, second_name)]
    )
    first_error = None if first_correlation is None else -first_correlation
    return first_error, [correlation for correlation in other_correlations if correlation is not None]


def _add_moved_ends(
    points: pl.LazyFrame, metric: PointMetric, bands: ModelBands, common_errors: Common
) -> pl.LazyFrame:
    """Add the ends of a metric where the threshold moves with the rates, and MOVE_NAMES."""
    rate_exprs = {name: pl.col(name) for name in (*LIMIT_COLUMNS, "eta")}
    rates_at_limit = {
        limit: rate_exprs | {rate_name: pl.col(column) for rate_name, column in moved_rates.items()}
        for limit, moved_rates in MOVED_RATES.items()
    }
    rates_of_sources = []  # of each source of error, the points to which it moves the estimate, by limit
    for rate_name, limits in LIMIT_COLUMNS.items():
        # Where either end of the rate moves the threshold, and a step less or more: that of one example
        # or of the curve, since a target is met between two rows.
        step = pl.max_horizontal(1 / pl.col(SIZE_COLUMNS[rate_name]), STEP_COLUMNS[rate_name])
        neighbour_by_side = {"less": pl.col(rate_name) - step, "more": pl.col(rate_name) + step}
        rates_by_neighbour = {
            f"{RESERVED}{rate_name}_{side}": rate_exprs | {rate_name: neighbour.clip(0.0, 1.0)}
            for side, neighbour in neighbour_by_side.items()
        }
        rates_of_sources.append({limit: rates_at_limit[limit] for limit in limits} | rates_by_neighbour)
    if bands.has_eta_limits:
        rates_of_sources.append(
            {end: rates_at_limit[end] | {"eta": pl.col(end)} for end in EtaError.LIMITS}
        )
    values_of_sources = [
        {limit: metric.from_columns(**moved_rates) for limit, moved_rates in rates_of_limit.items()}
        for rates_of_limit in rates_of_sources
    ]
    estimate = evaluate_metric(metric, "recall", "fpr")
    points = _add_ends_from_values(
        points, metric, _ENDS, estimate, values_of_sources, common_errors=common_errors
    )
    exprs_of_sources = [[pl.col(limit + _SUFFIX) for limit in limits] for limits in values_of_sources]
    move_exprs = [pl.max_horizontal(ends) - pl.min_horizontal(ends) for ends in exprs_of_sources[:2]]
    # Both models move one way, or they do not.
    move_exprs += [high - low for low, high in exprs_of_sources[2:]]
    named_moves = zip(MOVE_NAMES.values(), move_exprs, strict=False)
    return points.with_columns(
        move_expr.alias(f"{metric.name}_{name}") for name, move_expr in named_moves
    )


def _add_ends_from_values(
    points: pl.LazyFrame,
    metric: PointMetric,
    end_columns: tuple[str, str],
    estimate: pl.Expr,
    values_of_sources: Sequence[Mapping[str, pl.Expr]],
    *,
    corner_values: Sequence[pl.Expr] = (),
    rate_limits_of_ends: Sequence[Sequence[str]] = ((), ()),
    common_errors: Common,
    other_distances: Sequence[Sequence[pl.Expr]] = (),
) -> pl.LazyFrame:
    """Add both ends of a metric, from its values at the limits of each source of error, by limit."""
    value_by_column = {ESTIMATE: estimate}
    for value_by_limit in values_of_sources:
        value_by_column |= {limit + _SUFFIX: value for limit, value in value_by_limit.items()}
    # Bind the values as columns first: Polars would compute each of them anew wherever it is used.
    points, bounds = points.with_columns(**value_by_column), scale_bounds(metric)
    extreme_exprs = corner_values or [find(*value_by_column) for find in _FARTHER_OF_SIDE.values()]
    points = points.with_columns(
        to_unbounded(pl.col(*value_by_column), bounds).name.keep(),
        **dict(zip(_CORNER_COLUMNS, extreme_exprs, strict=True)),
    )
    # On the unbounded scale the distances to the values, and other ones, are added in quadrature.
    scaled_estimate = pl.col(ESTIMATE)
    distances_of_sources = [
        measure_distances(scaled_estimate, [pl.col(limit + _SUFFIX) for limit in value_by_limit])
        for value_by_limit in values_of_sources
    ]
    correlation, shared_errors = common_errors[0], common_errors[1] if len(values_of_sources) > 2 else ()
    distances_of_sides = zip(*distances_of_sources, *other_distances, strict=True)
    distance_below, distance_above = (
        combine_distances(side_distances, correlation, shared_errors)
        for side_distances in distances_of_sides
    )
    # On this scale an estimate at a bound of the metric is infinite, and no distance from it is defined:
    # the corner takes the place of the end. So it does where the metric is undefined at a limit.
    return points.with_columns(
        pl.when(
            scaled_estimate.is_finite() & scaled_end.is_not_nan(),
            *(pl.col(limit + _SUFFIX).is_not_null() for limit in rate_limits),
        )
        .then(from_unbounded(scaled_end, bounds))
        .otherwise(pl.col(corner_column))
        .alias(end_column)
        for end_column, corner_column, scaled_end, rate_limits in zip(
            end_columns,
            _CORNER_COLUMNS,
            (scaled_estimate - distance_below, scaled_estimate + distance_above),
            rate_limits_of_ends,
            strict=True,
        )
    )


def _list_eta_correlations(metric: PointMetric) -> list[pl.Expr]:
    """Return what errors of rates share with that of eta: above 0 if both move the metric one way."""
    value_at_low, value_at_high = (pl.col(limit + _SUFFIX) for limit in EtaError.LIMITS)
    recall_sign = -1.0 if metric.direction == "minimize" else 1.0
    names_and_signs = zip(ETA_CORRELATIONS.values(), (recall_sign, -recall_sign), strict=True)
    return [
        pl.col(correlation_column) * (value_at_high - value_at_low).sign() * sign
        for correlation_column, sign in names_and_signs
    ]


def evaluate_metric(
    metric: PointMetric, recall_column: str, fpr_column: str, eta_column: str = "eta"
) -> pl.Expr:
    """Return a metric at the rates and the prevalence of these columns."""
    return metric.from_columns(pl.col(recall_column), pl.col(fpr_column), pl.col(eta_column))


def scale_bounds(metric: PointMetric) -> tuple[float, float]:
    """Return the bounds of the scale of distances: none for a metric that is linear in the rates."""
    return (-math.inf, math.inf) if metric.is_linear else metric.range


def _add_correction(points: pl.LazyFrame, metric: PointMetric, optimism: pl.Expr) -> pl.LazyFrame:
    """Add `<metric>_corrected` where a metric was maximized, and move the band there, too."""
    # Both ends move as far as the value does, on the unbounded scale. A value at a bound is infinite
    # there: its band stays, and is widened to hold the corrected value. A corrected value that reaches
    # a bound has no band.
    metric_name, is_maximized = metric.name, pl.col(TargetRow.IS_MAXIMIZED).fill_null(False)
    value, corrected_value = pl.col(metric_name), pl.col(metric_name) - optimism
    bounds = scale_bounds(metric)
    scaled_value = to_unbounded(value, bounds)
    scaled_corrected = to_unbounded(corrected_value, bounds)
    changed_exprs = {f"{metric_name}_corrected": corrected_value}
    for side, find_farther in _FARTHER_OF_SIDE.items():
        limit = pl.col(f"{metric_name}_{side}")
        scaled_limit = to_unbounded(limit, bounds) + (scaled_corrected - scaled_value)
        shifted_limit = from_unbounded(scaled_limit, bounds)
        is_inside = corrected_value.is_between(*metric.range)
        farther_limit = find_farther(limit, corrected_value)
        limit_at_bound = pl.when(limit.is_not_null() & is_inside).then(farther_limit)
        limit_inside = pl.when(scaled_corrected.is_finite()).then(shifted_limit)
        new_limit = pl.when(scaled_value.is_infinite()).then(limit_at_bound).otherwise(limit_inside)
        changed_exprs[f"{metric_name}_{side}"] = pl.when(is_maximized).then(new_limit).otherwise(limit)
    return points.with_columns(**changed_exprs)


def add_limits_of_etas(points: pl.LazyFrame, bands: FixedBands) -> pl.LazyFrame:
    """Add EtaError.LIMITS to rows whose prevalence may be an estimate, or counted in the table."""
    is_estimated = "estimated" in bands.eta_kinds
    points = add_eta_limits(points) if is_estimated else points
    if not bands.counts_eta:
        return points
    other_columns = EtaError.LIMITS if is_estimated else ("eta", "eta")
    return cohort_intervals.add_counted_eta_limits(points, bands.confidence, other_columns)


def measure_distances(estimate: pl.Expr, values_at_ends: Sequence[pl.Expr]) -> tuple[pl.Expr, pl.Expr]:
    """Return how far values are below an estimate at most, and above it; 0 where none is."""
    distance_below = estimate - pl.min_horizontal(values_at_ends)
    distance_above = pl.max_horizontal(values_at_ends) - estimate
    return distance_below.clip(lower_bound=0.0), distance_above.clip(lower_bound=0.0)


def combine_distances(
    distances: Iterable[pl.Expr],
    correlation: pl.Expr | None = None,
    shared_errors: Iterable[pl.Expr] = (),
) -> pl.Expr:
    """Return the root of the sum of squares; the first two share errors with the last."""
    # The first two may be distances to ends of recall and of fpr whose errors have a `correlation`.
    first_distance, *other_distances = distances
    sum_of_squares = sum(
        (distance * distance for distance in other_distances), first_distance * first_distance
    )
    if correlation is not None:
        # A metric that has a band moves opposite ways with the two rates, so what they share cancels.
        sum_of_squares = sum_of_squares - 2 * correlation * first_distance * other_distances[0]
    for distance, shared_error in zip((first_distance, *other_distances), shared_errors, strict=False):
        sum_of_squares = sum_of_squares + 2 * shared_error * distance * other_distances[-1]
    return sum_of_squares.clip(lower_bound=0.0).sqrt()


def to_unbounded(value: pl.Expr, bounds: tuple[float, float]) -> pl.Expr:
    """Return the logit of a value between two bounds, or the log of its distance from the only one."""
    low_end, high_end = bounds
    if math.isinf(low_end) and math.isinf(high_end):
        return value
    # A distance below 1e-12 may be a rounding error, but not from 0, which no subtraction rounds.
    distance_below, distance_above = (
        distance if scale_end == 0 else pl.when(distance < 1e-12).then(0.0).otherwise(distance)
        for distance, scale_end in ((value - low_end, low_end), (high_end - value, high_end))
    )
    if math.isinf(high_end):
        return distance_below.log()
    if math.isinf(low_end):
        return -distance_above.log()
    return (distance_below / distance_above).log()


def from_unbounded(scaled_value: pl.Expr, bounds: tuple[float, float]) -> pl.Expr:
    """Return the value between the bounds that `to_unbounded` takes to `value`."""
    low_end, high_end = bounds
    if math.isinf(low_end) and math.isinf(high_end):
        return scaled_value
    if math.isinf(high_end):
        return low_end + scaled_value.exp()
    if math.isinf(low_end):
        return high_end - (-scaled_value).exp()
    return low_end + (high_end - low_end) / (1 + (-scaled_value).exp())
