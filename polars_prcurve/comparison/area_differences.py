"""Differences of curve metrics between the models of a group.

Errors are of examples that both models scored (`paired_errors`), or of a sample for each model, where
both add up in quadrature. That of a prevalence which is an estimate adds up, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.comparison import difference_tests, model_pairs
from polars_prcurve.comparison.model_pairs import BASE_GROUP, ETA_NUMBER, SIDES, A, B, Comparison
from polars_prcurve.comparison.paired_errors import add_bootstrap_errors, add_pair_variances, count_cells
from polars_prcurve.confidence.intervals import (
    tell_doubts,
    z_value,
)
from polars_prcurve.confidence.point_intervals import combine_distances, measure_distances
from polars_prcurve.curves.curve_segments import CurveSegments, build_curves, number_metrics
from polars_prcurve.curves.curve_table import long_columns
from polars_prcurve.inputs.score_and_rate_tables import ScoreTable, is_clustered
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.prevalence.eta_argument import find_shared_eta
from polars_prcurve.sweep.group_table import SweepTables, build_numbered_rows
from polars_prcurve.sweep.sweep_table import build_sweep
from polars_prcurve.uncertainty import analytic
from polars_prcurve.uncertainty.cluster_errors import CLUSTER_COLUMNS, find_freedom
from polars_prcurve.uncertainty.eta_error import ETA_ENDS, add_values_at_ends
from polars_prcurve.uncertainty.influence import CLASS_SIZE_COLUMNS
from polars_prcurve.uncertainty.summary_table import add_bootstrap_intervals, plan_values
from polars_prcurve.uncertainty.unseen_in_areas import CAUTIOUS, EXTENDED, counts_unseen

_ROUNDING = 1e-11  # standard errors up to this share of the value are rounding


class _Models(NamedTuple):
    """The curves of all models, and the metrics by which they are compared."""

    of: Comparison
    table: ScoreTable
    sweep: SweepTables
    curves: CurveSegments
    pairs: pl.LazyFrame  # one row per model and prevalence
    named: dict[str, CurveMetric]  # the metrics by the names of their columns
    moved: dict[str, CurveMetric]  # the metrics whose errors carry that of a prevalence, if it has one
    clustered: bool  # whether errors are from influences that are added up by cluster

    def name(self, kind: str) -> list[str]:
        """Return the columns of one kind of all metrics."""
        return [f"{name}_{kind}" for name in self.named]


def subtract_curve_metrics(comparison: Comparison) -> pl.LazyFrame:
    """Return the rows of a comparison of curve metrics, and more columns."""
    models = _build_models(comparison)
    analytic_errors = comparison.certainty.method == "analytic"
    subtract = _subtract_paired if analytic_errors else _subtract_replicates
    subtract = _subtract_apart if comparison.examples == "apart" else subtract
    differences = subtract(models, _compute_values(models))
    family, named, clustered = [BASE_GROUP, ETA_NUMBER], models.named, models.clustered
    level = difference_tests.Level(comparison.certainty.level, comparison.adjust, family)
    if comparison.examples == "apart" or analytic_errors:
        differences = _carry_eta_errors(differences, models, level.confidence)
        differences = difference_tests.add_limits(differences, named, level, clustered=clustered)
    elif comparison.adjust is not None:
        differences = difference_tests.stretch_limits(differences, named, level)
    least = pl.min_horizontal(CLASS_SIZE_COLUMNS.values()).alias(difference_tests.LEAST_SIZE)
    differences = differences.with_columns(least)
    differences = difference_tests.add_flags(differences, named, level, clustered=clustered)
    long = differences.join(pl.LazyFrame({c.COPY: range(len(named))}), how="cross")
    long = long.sort(BASE_GROUP, ETA_NUMBER, c.COPY, *(side + c.GROUP for side in SIDES))
    kinds = set(model_pairs.list_compare_columns(comparison.adjust))
    kinds -= {"eta", "metric", "model_a", "model_b"}
    columns = {kind: [pl.col(name) for name in models.name(kind)] for kind in kinds}
    long = long.with_columns(long_columns(columns, [metric.name for metric in named.values()]))
    return long.with_columns(pl.col("eta").fill_nan(None))


def _build_models(comparison: Comparison) -> _Models:
    """Return the curves of all models; the sizes of their classes are those that errors read."""
    table = cast("ScoreTable", comparison.table)  # points have a target
    metrics = cast("Sequence[CurveMetric]", comparison.metrics)
    by_formula, apart = comparison.certainty.method == "analytic", comparison.examples == "apart"
    named = number_metrics(metrics)
    if not by_formula:
        named = {name: metric.change_recipe(helpers={}) for name, metric in named.items()}
    elif not apart:  # no paired error is known at a recall
        named = {name: metric.change_recipe(at_recall=None) for name, metric in named.items()}
    clusters = apart and by_formula and analytic.needs_cluster_rates(table, metrics)
    sweep = build_sweep(table, effective=by_formula, clusters=clusters)
    curves = build_curves(table, sweep, metrics, with_last=by_formula)
    pairs = model_pairs.number_pairs(curves.build_pairs(comparison.grid), table.group_columns)
    clustered = by_formula and is_clustered(comparison.table)
    moved = {
        name: metric
        for name, metric in named.items()
        if comparison.grid.uncertain and metric.depends_on_eta and metric.recipe.influence is not None
    }
    return _Models(comparison, table, sweep, curves, pairs, named, moved, clustered)


def _compute_values(models: _Models) -> pl.LazyFrame:
    """Return the metrics of each model, with errors if they are known without resampling; checked."""
    comparison, table, sweep, curves, pairs, named, moved, _ = models
    if comparison.certainty.method == "analytic":
        values = plan_values(table, sweep, curves, comparison.certainty.level)(pairs, named)
    else:
        values = curves.compute_values(pairs, named)
    if comparison.grid.uncertain:
        values = add_values_at_ends(
            values, pairs, moved, [""], sizes=curves.sizes, build_values=curves.compute_values
        )
    values = model_pairs.check_models(comparison, sweep, pairs, values)
    if comparison.grid.shared is not None:
        return values
    return values.with_columns(find_shared_eta([BASE_GROUP]))


def _carry_eta_errors(differences: pl.LazyFrame, models: _Models, confidence: float) -> pl.LazyFrame:
    """Add `<name>_` and then ETA_ERROR, and add it to standard errors in quadrature."""
    nothing = (pl.lit(0.0).alias(column) for column in models.name(difference_tests.ETA_ERROR))
    differences = differences.with_columns(nothing)
    for name in models.moved:
        error, middle = pl.col(f"{name}_standard_error"), pl.col(f"{name}_difference")
        at_ends = [pl.col(f"{name}_{end}_difference") for end in ETA_ENDS]
        # The prevalence is one and the same for both models. Its error is how far the difference moves
        # to the farther one of both ends of eta, over the quantile of its interval.
        farthest = pl.max_horizontal(measure_distances(middle, at_ends)) * (1 / z_value(confidence))
        both = pl.when(error.is_not_null()).then(combine_distances([error, farthest]))
        columns = {difference_tests.ETA_ERROR: (pl.lit(0.0), farthest), "standard_error": (error, both)}
        differences = differences.with_columns(
            pl.when(pl.col(c.ETA_LOW).is_null()).then(exact).otherwise(moved).alias(f"{name}_{kind}")
            for kind, (exact, moved) in columns.items()
        )
    return differences


def _list_errors(models: _Models) -> dict[str, tuple[str, CurveMetric]]:
    """Return the values with errors, by name: the column of the error of a model, and the metric."""
    found = {}
    for name, metric in models.named.items():
        # Where a value is at a bound, the error of average precision is 0, and that of others unknown.
        found[name] = f"{name}_error" if counts_unseen(metric) else f"{name}_standard_error", metric
        if counts_unseen(metric):
            cautious = f"{name}_{CAUTIOUS}"
            found[cautious] = f"{cautious}_error", metric.recipe.helpers[CAUTIOUS]
    return found


def _subtract_apart(models: _Models, values: pl.LazyFrame) -> pl.LazyFrame:
    """Return differences of models that have a sample each; both errors add up in quadrature."""
    comparison = models.of
    if comparison.certainty.method != "analytic":
        metrics = list(models.named.values())
        values = add_bootstrap_intervals(
            models.table, metrics, comparison.certainty, models.sweep, values
        )
    errors = {name: error for name, (error, _) in _list_errors(models).items()}
    smaller = [*CLASS_SIZE_COLUMNS.values(), *(models.name("freedom") if models.clustered else [])]
    differences = _join_values(models, values, list(errors), [*errors.values(), *smaller])
    differences = differences.with_columns(
        *(pl.min_horizontal(A + name, B + name).alias(name) for name in smaller),
        *(
            (pl.col(A + error) ** 2 + pl.col(B + error) ** 2).sqrt().alias(f"{name}_standard_error")
            for name, error in errors.items()
        ),
    )
    return _take_larger_errors(models, differences)


def _subtract_paired(models: _Models, values: pl.LazyFrame) -> pl.LazyFrame:
    """Return differences of models that scored the same examples, with errors from influences."""
    table, clustered = models.table, models.clustered
    errors = _list_errors(models)
    slope_of = {name: f"{name}_{analytic.SLOPE}" for name in models.named}
    slopes = {n: slope_of[n] for n, of in models.named.items() if analytic.SLOPE in of.recipe.helpers}
    # Both models have the class sizes of their examples.
    sizes = [*CLASS_SIZE_COLUMNS.values(), c.ETA_VARIANCE, *(CLUSTER_COLUMNS if clustered else ())]
    of_models = [error for error, _ in errors.values()] + list(slopes.values())
    differences = _join_values(models, values, list(errors), of_models, of_group=sizes)
    cells = count_cells(build_numbered_rows(table, models.sweep.groups, whole=True), table)
    metrics = {name: metric for name, (_, metric) in errors.items()}
    of_pairs = differences, cells, models.curves, models.pairs, metrics
    differences = add_pair_variances(*of_pairs, of=models.of)
    found = {
        f"{name}_standard_error": analytic.find_standard_error(name, metric, clustered=clustered)
        for name, (_, metric) in errors.items()
    }
    for name, slope in slopes.items():
        # The prevalence is one and the same, and moves both values.
        of_eta = (pl.col(A + slope) - pl.col(B + slope)) ** 2 * pl.col(c.ETA_VARIANCE)
        for of in (f"{name}_standard_error", f"{name}_{CAUTIOUS}_standard_error"):
            found[of] = (found[of] ** 2 + of_eta).sqrt()
    if clustered:
        for name, (_, metric) in errors.items():
            unknown = {f"{name}_freedom": pl.lit(None, dtype=pl.Float64)}
            found |= unknown if metric.recipe.influence is None else find_freedom(name)
    return _take_larger_errors(models, differences.with_columns(**found))


def _subtract_replicates(models: _Models, values: pl.LazyFrame) -> pl.LazyFrame:
    """Return differences of models that scored the same examples, with errors from replicates."""
    from polars_prcurve.uncertainty.bootstrap import Bootstrap

    bootstrap = Bootstrap(models.table, list(models.named.values()), models.of.certainty)
    differences = _join_values(models, values, list(models.named), flags=[])
    differences = add_bootstrap_errors(bootstrap, models.sweep, values, differences)
    flags: dict[str, pl.Expr] = {}
    for name, metric in models.named.items():
        doubts = [analytic.list_bootstrap_doubts(name, metric, side) for side in SIDES]
        either = {reason: holds | doubts[1][reason] for reason, holds in doubts[0].items()}
        flags[f"{name}_reliable"], flags[f"{name}_why"] = tell_doubts(either, pl.lit(True))
    return differences.with_columns(**flags)


def _join_values(
    models: _Models,
    values: pl.LazyFrame,
    names: Sequence[str],
    also: Sequence[str] = (),
    *,
    flags: Sequence[str] | None = None,
    of_group: Sequence[str] = (),
) -> pl.LazyFrame:
    """Return one row per model pair and prevalence, with `<name>_difference` of `names` and flags."""
    # Of prevalences that are estimates, the metrics at both ends of their intervals come along.
    names = [*names, *(f"{name}_{end}" for name in models.moved for end in ETA_ENDS)]
    flags = models.name("reliable") if flags is None else flags
    reasons = models.name("why") if flags else []
    unseen = [name for name, metric in models.named.items() if flags and counts_unseen(metric)]
    extended = [f"{name}{kind}" for name in unseen for kind in EXTENDED]
    own = dict.fromkeys([c.MODEL, c.GROUP, c.PAIR, *names, *also, *extended, *flags, *reasons])
    keys = {**models.table.group_columns, ETA_NUMBER: pl.UInt32()}
    shared = [BASE_GROUP, "eta", c.ODDS, *models.of.grid.carried, *of_group]
    joined = model_pairs.join_sides(values, keys, list(own), shared)
    return joined.with_columns(
        *model_pairs.name_models(wide=models.of.examples == "wide"),
        *((pl.col(A + name) - pl.col(B + name)).alias(f"{name}_difference") for name in names),
        *((pl.col(A + name) & pl.col(B + name)).alias(name) for name in flags),
        *(pl.coalesce(A + name, B + name).alias(name) for name in reasons),
    )


def _take_larger_errors(models: _Models, differences: pl.LazyFrame) -> pl.LazyFrame:
    """Add covariances, and make standard errors the larger one of themselves and the cautious one."""
    changed: dict[str, pl.Expr] = {}
    for name, metric in models.named.items():
        error, covariance = pl.col(f"{name}_standard_error"), pl.lit(0.0)
        if counts_unseen(metric) and models.of.examples != "apart":
            variances = sum((pl.col(f"{side}{name}_error") ** 2 for side in SIDES), pl.lit(0.0))
            covariance = (variances - error * error) / 2
        if counts_unseen(metric):
            error = pl.max_horizontal(error, pl.col(f"{name}_{CAUTIOUS}_standard_error"))
        # Equal models have an error of 0. Rounding would leave a tiny one, and with it a p-value.
        largest = pl.max_horizontal(A + name, B + name)
        exact = pl.when(error > _ROUNDING * largest).then(error).otherwise(error * 0)
        known = pl.col(f"{name}_difference").is_not_null()
        changed[f"{name}_standard_error"] = pl.when(known).then(exact)
        changed[f"{name}_{difference_tests.COVARIANCE}"] = covariance
    return differences.with_columns(**changed)
