"""Differences of point metrics between models, at one target.

The lower end of a - b is as far from it as the root of (a - low of a)**2 + (high of b - b)**2, and the
upper end likewise. There is no standard error, since the two distances differ. For several pairs both
distances are stretched by the ratio of normal quantiles.

Of models that share their examples both values err together: see `_add_correlation`, and
`discordant_examples` for metrics that are weighted sums of both rates. Where the sample finds the
thresholds, they move with its errors: see `curves.row_search`. Of examples that were drawn by
strata it is not known how much both values share at given thresholds, and their errors are taken as
independent, which is wider.

Source: Zou and Donner 2008.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.comparison import discordant_examples, model_pairs
from polars_prcurve.comparison.difference_tests import Level, is_resolved
from polars_prcurve.comparison.discordant_examples import AMOUNTS, BOTH, OF_ALL
from polars_prcurve.comparison.model_pairs import BASE_GROUP, ETA_NUMBER, SIDES, A, B, Comparison
from polars_prcurve.confidence import point_intervals
from polars_prcurve.confidence.intervals import z_value
from polars_prcurve.confidence.point_intervals import MOVES, combine_distances
from polars_prcurve.curves.curve_table import pick_by_number
from polars_prcurve.curves.operating_points import build_points_table
from polars_prcurve.curves.targets import Target
from polars_prcurve.errors import PrcError
from polars_prcurve.float_bits import repeat_in_rows
from polars_prcurve.inputs.score_and_rate_tables import ScoreTable, is_clustered, is_field, is_stratified
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.prevalence.eta_argument import find_shared_eta
from polars_prcurve.query_guards import stop_if_broken

_METRIC = f"{c.RESERVED}metric_number"
_BELOW, _ABOVE = f"{c.RESERVED}below", f"{c.RESERVED}above"


def _check_has_intervals(comparison: Comparison) -> None:
    """Raise if no interval is known for the difference of a point metric between models."""
    clustered = is_clustered(comparison.table)
    for metric in cast("Sequence[PointMetric]", comparison.metrics):
        of_curve = name_curve_metric(metric, comparison.target)
        if comparison.certainty.method != "analytic":
            raise PrcError(
                f"the difference of {metric.name} at a target has no bootstrap; "
                f'{of_curve or "leave out"} method="bootstrap"'
            )
        if clustered and comparison.examples != "apart":
            raise PrcError(
                "paired differences at a target count discordant examples; leave out cluster=, or take "
                "each model by itself, by compare(model=, paired=False) of a long table"
                + (f'; or {of_curve} method="bootstrap"' if of_curve else "")
            )
        if clustered and comparison.has_weights:
            raise PrcError(
                "cluster= has no interval of point metrics with weights; leave out weight=, or ask "
                "summary() for an area"
            )
        point_intervals.find_corners(metric)  # raises if the metric has no band


def name_curve_metric(metric: PointMetric, target: Target | None) -> str:
    """Return how to ask for the curve metric that a point metric at a target is; or an empty text."""
    asked = {
        ("precision", "recall"): "precision_at_recall",
        ("recall", "precision"): "recall_at_precision",
        ("recall", "fpr"): "recall_at_fpr",
    }
    if target is None or (metric.name, target.criterion) not in asked:
        return ""
    name = asked[metric.name, target.criterion]
    return f"leave out {target.criterion}=, and ask for metrics.{name}({target.value}) with"


def subtract_point_metrics(comparison: Comparison) -> pl.LazyFrame:
    """Return the rows of a comparison at a target, and more columns."""
    _check_has_intervals(comparison)
    metrics = cast("Sequence[PointMetric]", comparison.metrics)
    paired, moving = comparison.examples != "apart", cast("Target", comparison.target).is_found_in_sample
    step = {ETA_NUMBER: pl.UInt32(), _METRIC: pl.Int64()}
    level = Level(comparison.certainty.level, comparison.adjust, [BASE_GROUP, *step])
    by = comparison.table.group_columns
    points = _number_points(comparison, metrics, by, moving=moving)
    counted = comparison.grid.may_hold_own and not is_field(comparison.table)
    moves = [move for source, move in MOVES.items() if moving and (counted or source != "eta")]
    own = [*(c.MODEL, c.GROUP, "value", "low", "high", "reliable", "why", c.ETA_ERROR), *moves]
    # A model without examples may lack a prevalence.
    keys = {**by, **step, "eta": pl.Float64()}
    shared = [BASE_GROUP, *comparison.grid.carried, "metric"]
    groups = [side + c.GROUP for side in SIDES]
    pairs = model_pairs.join_sides(points, keys, own, shared).sort(BASE_GROUP, *step, *groups)
    pairs = pairs.with_columns((pl.col(A + "value") - pl.col(B + "value")).alias("difference"))
    pairs = level.add_quantile(pairs, ["difference"])
    correlation = None
    # What two models share at given thresholds cancels out less where strata took away its larger part.
    if paired and (moving or not is_stratified(comparison.table)):
        table, first = cast("ScoreTable", comparison.table), points.filter(pl.col(_METRIC) == 0)
        counts = discordant_examples.count_discordant(table, first, by)
        pairs = pairs.join(counts, on=[*groups, ETA_NUMBER], how="left", maintain_order="left")
        sums = comparison.has_weights
        pairs = _add_correlation(pairs, metrics, moving=moving, sums=sums, counted=counted)
        correlation = pl.col(_CORRELATION)
    differences = _add_limits(pairs, level, correlation)
    if paired and not moving and not comparison.has_weights:
        differences = discordant_examples.replace_weighted_sums(differences, metrics, _METRIC, level)
    return differences.with_columns(model_pairs.name_models(wide=comparison.examples == "wide"))


def _number_points(
    comparison: Comparison, metrics: Sequence[PointMetric], by: Iterable[str], *, moving: bool
) -> pl.LazyFrame:
    """Return the points of all models, numbered: GROUP by model, BASE_GROUP by `by` group."""
    table = comparison.table
    options = point_intervals.BandOptions(
        comparison.certainty.level,
        "wilson",
        "mover",
        moves="all" if moving else "none",
        shown_with="differences",
        clustered=is_clustered(table),
        stratified=is_stratified(table),
    )
    target = cast("Target", comparison.target)
    points = build_points_table(table, comparison.grid, [target], metrics, bands=options, long=True)
    number = pl.coalesce(  # `replace_strict` would not stream
        pl.when(pl.col("metric") == metric.name).then(pl.lit(i, dtype=pl.Int64))
        for i, metric in enumerate(metrics)
    )
    first = pl.col(c.GROUP).min()
    rows = points.with_row_index(c.GROUP).with_columns(
        model_pairs.number_within([*by, c.MODEL, "metric"]).cast(pl.UInt32).alias(ETA_NUMBER),
        number.alias(_METRIC),
        first.over(*by, c.MODEL),
        (first.over(*by) if by else pl.lit(0, dtype=pl.UInt32)).alias(BASE_GROUP),
    )
    if comparison.grid.shared is None:  # models of different prevalences are compared, too
        rows = rows.with_columns(find_shared_eta([BASE_GROUP]))
    if comparison.needs_pairs:
        rows = stop_if_broken(rows, [model_pairs.two_models_check()])
    if comparison.examples == "by id":
        rows = model_pairs.check_matching(cast("ScoreTable", table), rows)
    return rows.cache()  # each model is paired with others, and its thresholds are compared, too


def _add_limits(pairs: pl.LazyFrame, level: Level, correlation: pl.Expr | None = None) -> pl.LazyFrame:
    """Add limits and verdicts to rows of both models, whose values may have a `correlation`."""
    value, low, high = ({s: pl.col(s + name) for s in SIDES} for name in ("value", "low", "high"))
    below = combine_distances([value[A] - low[A], high[B] - value[B]], correlation)
    above = combine_distances([high[A] - value[A], value[B] - low[B]], correlation)
    pairs = pairs.with_columns(below.alias(_BELOW), above.alias(_ABOVE))
    difference, z = pl.col("difference"), z_value(level.confidence)
    stretch = pl.lit(1.0) if level.adjust is None else level.deviations * (1 / z)
    towards_0 = pl.when(difference > 0).then(_BELOW).otherwise(_ABOVE)
    no_number = pl.lit(None, dtype=pl.Float64)
    pairs = pairs.with_columns(
        standard_error=no_number,
        p_value=no_number,
        p_adjusted=no_number,
        low=difference - pl.col(_BELOW) * stretch,
        high=difference + pl.col(_ABOVE) * stretch,
        reliable=pl.col(A + "reliable") & pl.col(B + "reliable"),
    )
    known = pl.col("low").is_not_null() & pl.col("high").is_not_null()
    decisive = (difference.abs() >= 2 * stretch * towards_0) & (towards_0 > 0)
    resolved = is_resolved(pl.col("low"), pl.col("high"), pl.col("reliable"), decisive)
    return pairs.with_columns(
        reliable=pl.when(known).then("reliable"),
        why=pl.when(known & ~pl.col("reliable")).then(pl.coalesce(A + "why", B + "why")),
        resolved=pl.when(known).then(resolved),
    )


# The correlation of the errors of two models ----------------------------------------------------

# The value of a metric is moved by the errors of recall and of fpr, which are independent. So the
# correlation of two values is a sum over both classes: the correlation of being flagged by either
# model, times the share that the class has in the error of either value. A prevalence that was counted
# is one for both models: its error has a share, too, with a correlation of 1. With d and e from both
# values to the ends of their intervals, the end of the difference is as far from it as the root of d**2
# + e**2 - 2 R d e, where R is this correlation.
#
# All of it is of rates with half an example added to what either model flags alone, as in
# `discordant_examples`: so every rate is inside 0 and 1 (Newcombe 1998). Examples count by their
# weights. Where thresholds move with the sample, the moves of a value are those of its band.

_CORRELATION = f"{c.RESERVED}correlation"
_AGREEMENT = {name: f"{c.RESERVED}agreement_{name}" for name in AMOUNTS}
"""The correlation, among examples of a class, of being flagged by either model."""
_RATES = {
    name: [f"{c.RESERVED}{name}_{place}" for place in ("rate", "less", "more")] for name in AMOUNTS
}  # the rate of a class, half an example added, and the ends of an interval of one error around it
_MOVES = dict(zip(AMOUNTS, (MOVES["recall"], MOVES["fpr"]), strict=True))
"""How far the rate of a class moves the value of a model."""


def _add_correlation(
    pairs: pl.LazyFrame, metrics: Sequence[PointMetric], *, moving: bool, sums: bool, counted: bool
) -> pl.LazyFrame:
    """Add _CORRELATION, that of the values of both models, to rows with the discordant examples."""
    rates, agreements = {}, {}
    for name in AMOUNTS:
        both = pl.col(BOTH + name)
        n = repeat_in_rows(pl.col(OF_ALL + name) + 1, both)
        for side in SIDES:
            rates[side + _RATES[name][0]] = (both + pl.col(side + name) + 0.5) / n
        a, b = (pl.col(side + _RATES[name][0]) for side in SIDES)
        # Of two indicators: (P(both) - a b) / sqrt(a (1 - a) b (1 - b)).
        shared = both / n - a * b
        agreements[_AGREEMENT[name]] = shared / ((a * (1 - a)) * (b * (1 - b))).sqrt()
    pairs = pairs.with_columns(**rates).with_columns(**agreements)
    if not moving:
        is_sum = discordant_examples.is_weighted_sum
        others = [metric if sums or not is_sum(metric) else None for metric in metrics]
        pairs = _add_moves(pairs, others, counted=counted)
    agreement = {_MOVES[name]: pl.col(column) for name, column in _AGREEMENT.items()}
    agreement |= {MOVES["eta"]: pl.lit(1.0)} if counted else {}
    # With moves m and agreements g: sum of g m_A m_B, over the roots of the sums of m_A^2 and m_B^2.
    errors = [sum((pl.col(side + move) ** 2 for move in agreement), pl.lit(0.0)) for side in SIDES]
    shares = (of * pl.col(A + move) * pl.col(B + move) for move, of in agreement.items())
    correlation = sum(shares, pl.lit(0.0)) / (errors[0] * errors[1]).sqrt()
    # A value that no rate moves, such as precision at prevalence 1, shares no error.
    return pairs.with_columns(correlation.fill_nan(0.0).alias(_CORRELATION))


def _add_moves(
    pairs: pl.LazyFrame, metrics: Sequence[PointMetric | None], *, counted: bool
) -> pl.LazyFrame:
    """Add how far one standard error of a rate, half to either side, moves values at a threshold."""
    eta, error_of_eta = pl.col("eta"), pl.col(A + c.ETA_ERROR)
    ends: dict[str, pl.Expr] = {}
    moves: dict[str, pl.Expr] = {}
    for side in SIDES:
        rates = {name: pl.col(side + _RATES[name][0]) for name in AMOUNTS}
        for name, rate in rates.items():
            variance, names = rate * (1 - rate), [side + end for end in _RATES[name][1:]]
            error = (variance / repeat_in_rows(pl.col(OF_ALL + name) + 1, variance)).sqrt()
            ends |= {end: rate + sign * error for end, sign in zip(names, (-0.5, 0.5), strict=True)}
            low, high = ([*(rates | {name: pl.col(end)}).values(), eta] for end in names)
            moves[side + _MOVES[name]] = _measure_moves(metrics, low, high).abs()
        if counted:
            # The logit of eta, less and plus half its error.
            odds = eta / (1 - eta)
            of_eta = (1 / (1 + (sign * error_of_eta / 2).exp() / odds) for sign in (1, -1))
            low, high = ([*rates.values(), end] for end in of_eta)
            moved = _measure_moves(metrics, low, high)
            moves[side + MOVES["eta"]] = pl.when(error_of_eta > 0).then(moved).otherwise(0.0)
    return pairs.with_columns(**ends).with_columns(**moves)


def _measure_moves(
    metrics: Sequence[PointMetric | None], low: Sequence[pl.Expr], high: Sequence[pl.Expr]
) -> pl.Expr:
    """Return how much the metric of a row grows, on its scale, from `low` rates and eta to `high`."""
    moves: list[pl.Expr | None] = []
    for metric in metrics:
        if metric is None:
            moves.append(None)
            continue
        bounds = point_intervals.scale_bounds(metric)
        first, last = (
            point_intervals.to_unbounded(metric.from_columns(*at), bounds) for at in (low, high)
        )
        moves.append(last - first)
    return pick_by_number(_METRIC, moves, pl.lit(None, dtype=pl.Float64))
