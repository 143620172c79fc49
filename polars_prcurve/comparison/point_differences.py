"""Differences of point metrics between models, at one target.

    operating point of each model -> value, low, high    as in `operating_points`
    model pairs                   -> differences         distances from values to ends of intervals add
                                                         up in quadrature, on either side
                                  -> verdicts            whether the sign is certain

The lower end of a - b is as far from it as the root of (a - low of a)**2 + (high of b - b)**2, and the
upper end likewise. There is no standard error, since the two distances differ. For several pairs both
distances are stretched by the ratio of normal quantiles.

Of models that share their examples both values err together: see `shared_errors`; and `paired_points`
for metrics that are weighted sums of both rates, which have a standard error at given thresholds. Where
the sample finds the thresholds, they move with its errors: see `curves.moving_band`.

Sources: Zou and Donner 2008; Holm 1979 for several pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.comparison.compare_table import Examples
from polars_prcurve.comparison.model_checks import check_matching, two_models_check
from polars_prcurve.comparison.model_pairs import (
    BASE_GROUP,
    SIDES,
    is_ordered_pair,
    name_models,
    number_within,
    read_side,
    side_name,
)
from polars_prcurve.comparison.paired_points import (
    STEP,
    count_discordant,
    replace_weighted_sums,
)
from polars_prcurve.comparison.shared_errors import CORRELATION, add_correlation
from polars_prcurve.comparison.verdicts import P_VALUE, Adjust, Level, is_resolved
from polars_prcurve.confidence.bands import (
    MOVES,
    NO_WEIGHTED_CLUSTERS,
    BandOptions,
    combine_distances,
    find_corners,
)
from polars_prcurve.confidence.rates import z_value
from polars_prcurve.curves.operating_points import build_points_table
from polars_prcurve.curves.targets import Target
from polars_prcurve.errors import PrcError
from polars_prcurve.group_numbers import join_groups
from polars_prcurve.inputs.score_table import InputTable, ScoreTable, is_clustered
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.normal_distribution import normal_cdf
from polars_prcurve.prevalence.eta_table import EtaTable, find_shared_eta
from polars_prcurve.query_checks import stop_if_broken
from polars_prcurve.uncertainty.options import UncertaintyOptions

_PLACE = f"{c.RESERVED}step"
"""The number of a prevalence and a metric among the rows of a model."""
_METRIC = f"{c.RESERVED}metric_number"
_BELOW, _ABOVE = f"{c.RESERVED}below", f"{c.RESERVED}above"


class PointComparison(NamedTuple):
    """A table of several models per `by` group, and what to compare their operating points by."""

    table: InputTable
    grid: EtaTable
    target: Target
    metrics: Sequence[PointMetric]
    confidence: float
    examples: Examples = "apart"
    adjust: Adjust = None
    """How levels are adjusted for several pairs of models."""
    needs_pairs: bool = True
    """Whether a table in which no group has two models is refused."""

    @property
    def moving(self) -> bool:
        """Whether thresholds are found in the sample, so that they move with it."""
        return self.target.is_found_in_sample

    @property
    def has_weights(self) -> bool:
        """Whether examples have weights, so that numbers of discordant ones tell no error of a sum."""
        return isinstance(self.table, ScoreTable) and self.table.has_squares


def check_has_point_intervals(
    table: InputTable,
    metric: PointMetric,
    target: Target | None,
    uncertainty: UncertaintyOptions,
    examples: Examples,
) -> None:
    """Raise if no interval is known for the difference of a point metric between models."""
    if uncertainty.method != "analytic":
        raise PrcError(
            f"the difference of {metric.name} at a target has no bootstrap; "
            f'{name_curve_metric(metric, target) or "leave out"} method="bootstrap"'
        )
    clustered, weighted = is_clustered(table), isinstance(table, ScoreTable) and table.has_squares
    if examples == "apart":
        if clustered and weighted:
            raise PrcError(NO_WEIGHTED_CLUSTERS)
    elif clustered:
        of_curve = name_curve_metric(metric, target)
        raise PrcError(
            "paired differences at a target count discordant examples; leave out cluster=, or take "
            "each model by itself, by compare(model=, paired=False) of a long table"
            + (f'; or {of_curve} method="bootstrap"' if of_curve else "")
        )
    find_corners(metric)  # raises if the metric has no band


def name_curve_metric(metric: PointMetric, target: Target | None) -> str:
    """Return how to ask for the curve metric that a point metric at a target is; or an empty text."""
    asked = {
        ("precision", "recall"): "precision_at_recall",
        ("recall", "precision"): "recall_at_precision",
        ("recall", "fpr"): "recall_at_fpr",
    }
    name = None if target is None else asked.get((metric.name, target.criterion))
    if target is None or name is None:
        return ""
    return f"leave out {target.criterion}=, and ask for metrics.{name}({target.value}) with"


def build_point_differences(comparison: PointComparison) -> pl.LazyFrame:
    """Return `by` without MODEL, eta, what the eta frame carries, and the rest of a comparison.

    The rows are as in `build_compare_table`; P_VALUE is one more column.
    """
    level = Level(comparison.confidence, comparison.adjust, [BASE_GROUP, _PLACE])
    rows = _number_points(comparison)
    pairs = level.add_quantile(_join_points(comparison, rows))
    correlation = None
    if comparison.examples != "apart":
        pairs = _join_discordant(comparison, rows, pairs)
        pairs = add_correlation(
            pairs, comparison.metrics, _METRIC, moving=comparison.moving, sums=comparison.has_weights
        )
        correlation = pl.col(CORRELATION)
    differences = _add_limits(pairs, level, correlation)
    if comparison.examples != "apart" and not comparison.moving and not comparison.has_weights:
        differences = replace_weighted_sums(differences, comparison.metrics, _METRIC, level)
    return differences.select(
        *comparison.table.group_columns,
        "eta",
        *comparison.grid.carried,
        "metric",
        *name_models(wide=comparison.examples == "wide"),
        "difference",
        "standard_error",
        "low",
        "high",
        "p_value",
        *([] if comparison.adjust is None else ["p_adjusted"]),
        "reliable",
        "resolved",
        P_VALUE,
    )


def _number_points(comparison: PointComparison) -> pl.LazyFrame:
    """Return the points of all models, numbered: GROUP by model, BASE_GROUP by `by` group."""
    table, by = comparison.table, comparison.table.group_columns
    bands = BandOptions(
        comparison.confidence,
        "wilson",
        "mover",
        moves="all" if comparison.moving else "none",
        shown_with="differences",
        clustered=is_clustered(table),
    )
    points = build_points_table(
        table,
        comparison.grid,
        [comparison.target],
        comparison.metrics,
        bands=bands,
        long=True,
    )
    n_metrics = len(comparison.metrics)
    rows = points.with_row_index(c.GROUP).with_columns(
        number_within([*by, c.MODEL]).alias(_PLACE),
        pl.col(c.GROUP).min().over(*by, c.MODEL),
        (pl.col(c.GROUP).min().over(*by) if by else pl.lit(0, dtype=pl.UInt32)).alias(BASE_GROUP),
    )
    rows = rows.with_columns(
        (pl.col(_PLACE) // n_metrics).alias(STEP), (pl.col(_PLACE) % n_metrics).alias(_METRIC)
    )
    if not comparison.grid.shared:  # models of different prevalences are compared, too
        rows = rows.with_columns(find_shared_eta([BASE_GROUP]))
    if comparison.needs_pairs:
        rows = stop_if_broken(rows, [two_models_check()])
    if comparison.examples == "by id":
        rows = check_matching(cast("ScoreTable", table), rows)
    return rows.cache()  # each model is paired with others, and its thresholds are compared, too


def _join_points(comparison: PointComparison, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return one row per group, prevalence, metric and pair of models, with the point of each model."""
    by = comparison.table.group_columns
    own = [c.MODEL, c.GROUP, "value", "low", "high", "reliable"]
    own += MOVES.values() if comparison.moving else ()
    of_both = [BASE_GROUP, STEP, _METRIC, *comparison.grid.carried, "metric"]
    a, b = (
        rows.select(*by, _PLACE, "eta", *also, *(pl.col(n).alias(side_name(n, side)) for n in own))
        for side, also in zip(SIDES, (of_both, []), strict=True)
    )
    keys = {**by, _PLACE: pl.Int64(), "eta": pl.Float64()}
    pairs = join_groups(a, b, keys).filter(is_ordered_pair())
    return pairs.sort(BASE_GROUP, _PLACE, *(side_name(c.GROUP, side) for side in SIDES))


def _join_discordant(
    comparison: PointComparison, rows: pl.LazyFrame, pairs: pl.LazyFrame
) -> pl.LazyFrame:
    """Add the numbers of examples that one model alone flags to pairs of models."""
    table = cast("ScoreTable", comparison.table)
    counts = count_discordant(table, rows.filter(pl.col(_METRIC) == 0), table.group_columns)
    on = [*(side_name(c.GROUP, side) for side in SIDES), STEP]
    return pairs.join(counts, on=on, how="left", maintain_order="left")


def _add_limits(pairs: pl.LazyFrame, level: Level, correlation: pl.Expr | None = None) -> pl.LazyFrame:
    """Add `difference`, `low`, `high`, P_VALUE, `reliable` and `resolved` to rows of both models.

    The `correlation` is that of both values, if the models share their examples.
    """
    value, low, high = ({s: read_side(s, name) for s in SIDES} for name in ("value", "low", "high"))
    below = combine_distances([value["a"] - low["a"], high["b"] - value["b"]], correlation)
    above = combine_distances([high["a"] - value["a"], value["b"] - low["b"]], correlation)
    pairs = pairs.with_columns(
        (value["a"] - value["b"]).alias("difference"), below.alias(_BELOW), above.alias(_ABOVE)
    )
    difference, z = pl.col("difference"), z_value(level.confidence)
    stretch = pl.lit(1.0) if level.adjust is None else level.deviations * (1 / z)
    towards_0 = pl.when(difference > 0).then(_BELOW).otherwise(_ABOVE)
    reliable = read_side("a", "reliable") & read_side("b", "reliable")
    errors = difference.abs() / towards_0 * z * pl.when(reliable).then(1.0).otherwise(0.5)
    no_number = pl.lit(None, dtype=pl.Float64)
    pairs = pairs.with_columns(
        standard_error=no_number,
        p_value=no_number,
        p_adjusted=no_number,
        low=difference - pl.col(_BELOW) * stretch,
        high=difference + pl.col(_ABOVE) * stretch,
        reliable=reliable,
        **{P_VALUE: pl.when(towards_0 > 0).then(2 * normal_cdf(-errors))},
    )
    known = pl.col("low").is_not_null() & pl.col("high").is_not_null()
    decisive = (difference.abs() >= 2 * stretch * towards_0) & (towards_0 > 0)
    resolved = is_resolved(pl.col("low"), pl.col("high"), pl.col("reliable"), decisive)
    return pairs.with_columns(
        reliable=pl.when(known).then("reliable"), resolved=pl.when(known).then(resolved)
    )
