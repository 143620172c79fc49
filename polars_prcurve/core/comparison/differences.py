"""Differences between the models of a group: of curve metrics, or of point metrics at a target.

Errors of curve metrics are of examples that both models scored (`paired_errors`), or of a sample for
each model, where both add up in quadrature. That of a prevalence which is an estimate adds up, too.

Of point metrics the lower end of a - b is as far from it as the root of (a - low of a)**2 + (high of b
- b)**2, and the upper end likewise. There is no standard error, since the two distances differ. For
several pairs both distances are stretched by the ratio of normal quantiles.

Of models that share their examples both values err together: see `_add_correlation`. Of examples that
were drawn by strata it is not known how much both values share at given thresholds, and their errors are
taken as independent, which is wider.

Source: Zou and Donner 2008.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import polars as pl

from polars_prcurve.core.comparison import difference_tests, model_pairs, paired_errors
from polars_prcurve.core.comparison.model_pairs import BASE_GROUP, ETA_NUMBER, SIDES, A, B, Comparison
from polars_prcurve.core.comparison.paired_errors import AMOUNTS, BOTH, OF_ALL
from polars_prcurve.core.confidence import point_intervals
from polars_prcurve.core.confidence.interval_inputs import ETA_LOW, EtaError
from polars_prcurve.core.confidence.intervals import tell_doubts, z_value
from polars_prcurve.core.confidence.point_intervals import (
    MOVE_NAMES,
    combine_distances,
    measure_distances,
)
from polars_prcurve.core.curves.curve_segments import CurveSegments, build_curves, number_metrics
from polars_prcurve.core.curves.curve_table import long_columns, pick_by_number
from polars_prcurve.core.curves.operating_points import build_points_table
from polars_prcurve.core.curves.targets import Target, build_only_point_target, direction_sign
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.ground.group_joins import merge_zeros
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.value_checks import stop_if_broken
from polars_prcurve.core.inputs import input_tables as of_table
from polars_prcurve.core.inputs.input_tables import InputTable, RateTable, ScoreTable
from polars_prcurve.core.inputs.row_columns import Group, Row
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.metric_lookup import find_metrics
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.metrics.segment_columns import Segment
from polars_prcurve.core.prevalence.eta_grid import (
    check_result_columns,
    find_shared_eta,
    repeat_rows,
)
from polars_prcurve.core.prevalence.group_eta_columns import Pair
from polars_prcurve.core.sweep.grouped_rows import SweepTables, build_numbered_rows
from polars_prcurve.core.sweep.sweep_table import build_sweep
from polars_prcurve.core.uncertainty import analytic
from polars_prcurve.core.uncertainty.analytic import CAUTIOUS, EXTENDED, SLOPE, counts_unseen
from polars_prcurve.core.uncertainty.eta_error import ETA_ENDS, add_values_at_ends
from polars_prcurve.core.uncertainty.influence import CLASS_SIZE_COLUMNS, CLUSTER_COLUMNS, find_freedom
from polars_prcurve.core.uncertainty.summary_table import (
    add_bootstrap_intervals,
    check_negatives,
    plan_values,
)

# The place among equal prevalences, the number of a row, and that of a farthest pair.
_NUMBER, _ROW, _FARTHEST = (f"{RESERVED}{name}" for name in ("step", "row", "farthest"))


def build_compare_table(
    comparison: Comparison, metrics: Any, targets: Sequence[Target], *, worst: bool
) -> pl.LazyFrame:
    """Return the result of `compare`; with `worst`, of the best and the worst model of a group alone."""
    target = targets[0] if targets else None
    if isinstance(comparison.table, RateTable):
        if not comparison.table.has_counts:
            raise PrcError(
                'differences have intervals, and rates= holds no counts; pass sizes=("n_pos", "n_neg"), '
                "the numbers of examples behind the rates"
            )
        if target is not None and target.is_found_in_sample:
            raise PrcError(
                f"{comparison.table.argument}= holds points, and those that meet {target.criterion}= "
                "may be far apart; keep one row for each model and leave the target out, or pass "
                "threshold="
            )
        target = target or build_only_point_target(comparison.table)
    if target is not None:
        compared_metrics: Any = find_metrics("precision" if metrics is None else metrics, PointMetric)
    else:
        defaults = (
            "average_precision",
            *(["roc_auc"] if comparison.table.counts_negatives else []),
        )
        compared_metrics = find_metrics(
            defaults if metrics is None else metrics, CurveMetric, takes_target=True
        )
    if not comparison.table.counts_negatives:
        check_negatives(compared_metrics)
    depends_on_eta = any(
        source.depends_on_eta for source in (*compared_metrics, *([target] if target else []))
    )
    grid = comparison.grid.let_own_differ(depends_on_eta=depends_on_eta)
    differences = build_differences(
        comparison._replace(metrics=compared_metrics, target=target, grid=grid)
    )
    if not worst:
        return differences
    # Metrics without a direction have no best model, which is an error here.
    signs = {metric.name: direction_sign(metric) for metric in compared_metrics}
    return _choose_farthest(differences, comparison.table, signs)


def build_differences(comparison: Comparison) -> pl.LazyFrame:
    """Return `by` without Row.MODEL, eta, what the eta frame carries, and its columns."""
    eta, *other_columns = model_pairs.list_compare_columns(comparison.adjust)
    check_result_columns(comparison.table, comparison.grid, [eta, *other_columns])
    comparison.table.require_example_counts()
    subtract = subtract_curve_metrics if comparison.target is None else subtract_point_metrics
    if comparison.target is not None:
        comparison.grid.require_exact("a comparison at a target")
    elif comparison.certainty.method != "analytic":
        comparison.grid.require_exact('method="bootstrap"')
    keys = (*comparison.table.group_columns, eta, *comparison.grid.carried)
    return subtract(comparison).select(*keys, *other_columns)


def _choose_farthest(
    differences: pl.LazyFrame, table: InputTable, signs: Mapping[str, float]
) -> pl.LazyFrame:
    """Return the pair of the best and the worst model, as a and b, by group, prevalence and metric."""
    by, difference = [*table.group_columns, "eta", "metric", _NUMBER], pl.col("difference")
    falling = [name for name, sign in signs.items() if sign < 0]
    lead = pl.when(pl.col("metric").is_in(falling)).then(-difference).otherwise(difference)
    number = model_pairs.number_within([*by[:-1], "model_a", "model_b"])
    numbered = differences.with_row_index(_ROW).with_columns(number.alias(_NUMBER))
    # Polars 2.0 streams no `sort_by` within groups, so the first of the farthest pairs takes two steps.
    # Among equal pairs the first counts, and models without a value are neither best nor worst.
    distance = difference.abs().fill_null(-1.0)
    is_farthest = distance == distance.max().over(by)
    numbered = numbered.with_columns(pl.when(is_farthest).then(_ROW).alias(_FARTHEST))
    farthest_pairs = numbered.filter(pl.col(_ROW) == pl.col(_FARTHEST).min().over(by)).sort(_ROW)
    turned = {
        "model_a": pl.col("model_b"),
        "model_b": pl.col("model_a"),
        "difference": -difference,
        "low": merge_zeros(-pl.col("high")),
        "high": merge_zeros(-pl.col("low")),
    }
    is_behind = pl.when((lead < 0).fill_null(False))
    farthest_pairs = farthest_pairs.with_columns(
        is_behind.then(expression).otherwise(name).alias(name) for name, expression in turned.items()
    )
    return farthest_pairs.drop(_ROW, _NUMBER, _FARTHEST)


# Of curve metrics -------------------------------------------------------------------------------

_ROUNDING = 1e-11  # standard errors up to this share of the value are rounding


class _Models(NamedTuple):
    """The curves of all models, and the metrics by which they are compared."""

    comparison: Comparison
    table: ScoreTable
    sweep: SweepTables
    curves: CurveSegments
    pairs: pl.LazyFrame  # one row per model and prevalence
    named: dict[str, CurveMetric]  # the metrics by the names of their columns
    moved_metrics: dict[str, CurveMetric]
    """The metrics whose errors carry that of a prevalence, if it has one."""
    has_freedom: bool  # whether errors are from influences that are added up by unit

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
    family, named, has_freedom = [BASE_GROUP, ETA_NUMBER], models.named, models.has_freedom
    level = difference_tests.Level(comparison.certainty.level, comparison.adjust, family)
    if comparison.examples == "apart" or analytic_errors:
        differences = _carry_eta_errors(differences, models, level.confidence)
        differences = difference_tests.add_limits(differences, named, level, has_freedom=has_freedom)
    elif comparison.adjust is not None:
        differences = difference_tests.stretch_limits(differences, named, level)
    least_size = pl.min_horizontal(CLASS_SIZE_COLUMNS.values()).alias(difference_tests.LEAST_SIZE)
    differences = differences.with_columns(least_size)
    differences = difference_tests.add_flags(differences, named, level, has_freedom=has_freedom)
    long = repeat_rows(differences, len(named))
    long = long.sort(BASE_GROUP, ETA_NUMBER, Pair.COPY, *(side + Group.NUMBER for side in SIDES))
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
    at_thresholds = apart and by_formula and analytic.reads_rate_sizes(table, metrics)
    sweep = build_sweep(table, effective=by_formula, at_thresholds=at_thresholds)
    curves = build_curves(table, sweep, metrics, with_last=by_formula)
    pairs = model_pairs.number_pairs(curves.build_pairs(comparison.grid), table.group_columns)
    has_freedom = by_formula and table.sample.joins_rows
    moved_metrics = {
        name: metric
        for name, metric in named.items()
        if comparison.grid.uncertain and metric.depends_on_eta and metric.recipe.influence is not None
    }
    return _Models(comparison, table, sweep, curves, pairs, named, moved_metrics, has_freedom)


def _compute_values(models: _Models) -> pl.LazyFrame:
    """Return the metrics of each model, with errors if they are known without resampling; checked."""
    comparison, table, sweep, curves, pairs, named, moved_metrics, _ = models
    if comparison.certainty.method == "analytic":
        values = plan_values(table, sweep, curves, comparison.certainty.level)(pairs, named)
    else:
        values = curves.compute_values(pairs, named)
    if comparison.grid.uncertain:
        values = add_values_at_ends(values, pairs, moved_metrics, [""], curves)
    values = model_pairs.check_models(comparison, sweep, pairs, values)
    if comparison.grid.shared is not None:
        return values
    return values.with_columns(find_shared_eta([BASE_GROUP]))


def _carry_eta_errors(differences: pl.LazyFrame, models: _Models, confidence: float) -> pl.LazyFrame:
    """Add `<name>_` and then EtaError.STANDARD_ERROR, and add it to standard errors in quadrature."""
    changed = dict.fromkeys(models.name(difference_tests.ETA_ERROR), pl.lit(0.0))
    is_exact = pl.when(pl.col(ETA_LOW).is_null())
    for name in models.moved_metrics:
        error, middle = pl.col(f"{name}_standard_error"), pl.col(f"{name}_difference")
        at_ends = [pl.col(f"{name}_{end}_difference") for end in ETA_ENDS]
        # The prevalence is one and the same for both models. Its error is how far the difference moves
        # to the farther one of both ends of eta, over the quantile of its interval.
        farthest = pl.max_horizontal(measure_distances(middle, at_ends)) * (1 / z_value(confidence))
        wider_error = pl.when(error.is_not_null()).then(combine_distances([error, farthest]))
        changed[f"{name}_{difference_tests.ETA_ERROR}"] = is_exact.then(0.0).otherwise(farthest)
        changed[f"{name}_standard_error"] = is_exact.then(error).otherwise(wider_error)
    return differences.with_columns(**changed)


def _list_errors(models: _Models) -> dict[str, tuple[str, CurveMetric]]:
    """Return the values with errors, by name: the column of the error of a model, and the metric."""
    errors = {}
    for name, metric in models.named.items():
        # Where a value is at a bound, the error of average precision is 0, and that of others unknown.
        errors[name] = f"{name}_error" if counts_unseen(metric) else f"{name}_standard_error", metric
        if counts_unseen(metric):
            cautious = f"{name}_{CAUTIOUS}"
            errors[cautious] = f"{cautious}_error", metric.recipe.helpers[CAUTIOUS]
    return errors


def _subtract_apart(models: _Models, values: pl.LazyFrame) -> pl.LazyFrame:
    """Return differences of models that have a sample each; both errors add up in quadrature."""
    comparison = models.comparison
    if comparison.certainty.method != "analytic":
        metrics = list(models.named.values())
        values = add_bootstrap_intervals(
            models.table, metrics, comparison.certainty, models.sweep, values
        )
    errors = {name: error for name, (error, _) in _list_errors(models).items()}
    smaller = [*CLASS_SIZE_COLUMNS.values(), *(models.name("freedom") if models.has_freedom else [])]
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
    table, sample = models.table, models.table.sample
    errors = _list_errors(models)
    slopes = {n: f"{n}_{SLOPE}" for n, metric in models.named.items() if SLOPE in metric.recipe.helpers}
    # Both models have the class sizes of their examples.
    sizes = [
        *CLASS_SIZE_COLUMNS.values(),
        EtaError.VARIANCE,
        *(CLUSTER_COLUMNS if sample.joins_rows else ()),
    ]
    of_models = [error for error, _ in errors.values()] + list(slopes.values())
    differences = _join_values(models, values, list(errors), of_models, of_group=sizes)
    cells = paired_errors.count_cells(build_numbered_rows(table, models.sweep.groups, whole=True), table)
    metrics = {name: metric for name, (_, metric) in errors.items()}
    differences = paired_errors.add_pair_variances(
        differences, cells, models.curves, models.pairs, metrics, comparison=models.comparison
    )
    columns = {
        f"{name}_standard_error": analytic.find_standard_error(name, metric, sample)
        for name, (_, metric) in errors.items()
    }
    for name, slope in slopes.items():
        # The prevalence is one and the same, and moves both values.
        of_eta = (pl.col(A + slope) - pl.col(B + slope)) ** 2 * pl.col(EtaError.VARIANCE)
        for column in (f"{name}_standard_error", f"{name}_{CAUTIOUS}_standard_error"):
            columns[column] = (columns[column] ** 2 + of_eta).sqrt()
    if sample.joins_rows:
        for name, (_, metric) in errors.items():
            unknown = {f"{name}_freedom": pl.lit(None, dtype=pl.Float64)}
            columns |= unknown if metric.recipe.influence is None else find_freedom(name)
    return _take_larger_errors(models, differences.with_columns(**columns))


def _subtract_replicates(models: _Models, values: pl.LazyFrame) -> pl.LazyFrame:
    """Return differences of models that scored the same examples, with errors from replicates."""
    from polars_prcurve.core.uncertainty.bootstrap import Bootstrap

    bootstrap = Bootstrap(models.table, list(models.named.values()), models.comparison.certainty)
    differences = _join_values(models, values, list(models.named), flags=[])
    differences = paired_errors.add_bootstrap_errors(bootstrap, models.sweep, values, differences)
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
    names = [*names, *(f"{name}_{end}" for name in models.moved_metrics for end in ETA_ENDS)]
    flags = models.name("reliable") if flags is None else flags
    reasons = models.name("why") if flags else []
    unseen = [name for name, metric in models.named.items() if flags and counts_unseen(metric)]
    extended = [f"{name}{kind}" for name in unseen for kind in EXTENDED]
    model_columns = dict.fromkeys(
        [Row.MODEL, Group.NUMBER, Pair.NUMBER, *names, *also, *extended, *flags, *reasons]
    )
    keys = {**models.table.group_columns, ETA_NUMBER: pl.UInt32()}
    shared = [BASE_GROUP, "eta", Segment.ODDS, *models.comparison.grid.carried, *of_group]
    differences = model_pairs.join_sides(values, keys, list(model_columns), shared)
    return differences.with_columns(
        *model_pairs.name_models(wide=models.comparison.examples == "wide"),
        *((pl.col(A + name) - pl.col(B + name)).alias(f"{name}_difference") for name in names),
        *((pl.col(A + name) & pl.col(B + name)).alias(name) for name in flags),
        *(pl.coalesce(A + name, B + name).alias(name) for name in reasons),
    )


def _take_larger_errors(models: _Models, differences: pl.LazyFrame) -> pl.LazyFrame:
    """Add covariances, and make standard errors the larger one of themselves and the cautious one."""
    changed: dict[str, pl.Expr] = {}
    for name, metric in models.named.items():
        error, covariance = pl.col(f"{name}_standard_error"), pl.lit(0.0)
        if counts_unseen(metric) and models.comparison.examples != "apart":
            variances = sum((pl.col(f"{side}{name}_error") ** 2 for side in SIDES), pl.lit(0.0))
            covariance = (variances - error * error) / 2
        if counts_unseen(metric):
            error = pl.max_horizontal(error, pl.col(f"{name}_{CAUTIOUS}_standard_error"))
        # Equal models have an error of 0. Rounding would leave a tiny one, and with it a p-value.
        largest = pl.max_horizontal(A + name, B + name)
        exact = pl.when(error > _ROUNDING * largest).then(error).otherwise(error * 0)
        is_known = pl.col(f"{name}_difference").is_not_null()
        changed[f"{name}_standard_error"] = pl.when(is_known).then(exact)
        changed[f"{name}_{difference_tests.COVARIANCE}"] = covariance
    return differences.with_columns(**changed)


# Of point metrics, at one target ----------------------------------------------------------------

_METRIC = f"{RESERVED}metric_number"  # the place of a metric among those of the call
_BELOW = f"{RESERVED}below"  # the distance from a difference to its low end
_ABOVE = f"{RESERVED}above"  # that to its high end


def _check_has_intervals(comparison: Comparison) -> None:
    """Raise if no interval is known for the difference of a point metric between models."""
    sample = comparison.table.sample
    for metric in cast("Sequence[PointMetric]", comparison.metrics):
        of_curve = name_curve_metric(metric, comparison.target)
        if comparison.certainty.method != "analytic":
            raise PrcError(
                f"the difference of {metric.name} at a target has no bootstrap; "
                f'{of_curve or "leave out"} method="bootstrap"'
            )
        if sample.joins_rows and comparison.examples != "apart":
            raise PrcError(
                "paired differences at a target count discordant examples; leave out "
                f"{sample.word}=, or take each model by itself, by compare(model=, paired=False) "
                "of a long table" + (f'; or {of_curve} method="bootstrap"' if of_curve else "")
            )
        if sample.joins_rows and comparison.has_weights:
            raise PrcError(
                f"{sample.word}= has no interval of point metrics with weights; leave out weight=, or "
                "ask summary() for an area"
            )
        point_intervals.find_corners(metric)  # raises if the metric has no band


def name_curve_metric(metric: PointMetric, target: Target | None) -> str:
    """Return how to ask for the curve metric that a point metric at a target is; or an empty text."""
    curve_metrics = {
        ("precision", "recall"): "precision_at_recall",
        ("recall", "precision"): "recall_at_precision",
        ("recall", "fpr"): "recall_at_fpr",
    }
    if target is None or (metric.name, target.criterion) not in curve_metrics:
        return ""
    name = curve_metrics[metric.name, target.criterion]
    return f"leave out {target.criterion}=, and ask for metrics.{name}({target.value}) with"


def subtract_point_metrics(comparison: Comparison) -> pl.LazyFrame:
    """Return the rows of a comparison at a target, and more columns."""
    _check_has_intervals(comparison)
    metrics = cast("Sequence[PointMetric]", comparison.metrics)
    paired, moving = comparison.examples != "apart", cast("Target", comparison.target).is_found_in_sample
    step = {ETA_NUMBER: pl.UInt32(), _METRIC: pl.Int64()}
    level = difference_tests.Level(comparison.certainty.level, comparison.adjust, [BASE_GROUP, *step])
    by = comparison.table.group_columns
    points = _number_points(comparison, metrics, by, moving=moving)
    counts_eta = comparison.grid.may_hold_own and not of_table.is_field(comparison.table)
    moves = [move for source, move in MOVE_NAMES.items() if moving and (counts_eta or source != "eta")]
    model_columns = [
        Row.MODEL,
        Group.NUMBER,
        "value",
        "low",
        "high",
        "reliable",
        "why",
        EtaError.STANDARD_ERROR,
        *moves,
    ]
    # A model without examples may lack a prevalence.
    keys = {**by, **step, "eta": pl.Float64()}
    shared = [BASE_GROUP, *comparison.grid.carried, "metric"]
    groups = [side + Group.NUMBER for side in SIDES]
    pairs = model_pairs.join_sides(points, keys, model_columns, shared).sort(BASE_GROUP, *step, *groups)
    pairs = pairs.with_columns((pl.col(A + "value") - pl.col(B + "value")).alias("difference"))
    pairs = level.add_quantile(pairs, ["difference"])
    correlation = None
    # What two models share at given thresholds cancels out less where strata took away its larger part.
    if paired and (moving or comparison.table.sample.shares_errors):
        table, first = cast("ScoreTable", comparison.table), points.filter(pl.col(_METRIC) == 0)
        counts = paired_errors.count_discordant(table, first, by)
        pairs = pairs.join(counts, on=[*groups, ETA_NUMBER], how="left", maintain_order="left")
        sums = comparison.has_weights
        pairs = _add_correlation(pairs, metrics, moving=moving, sums=sums, counts_eta=counts_eta)
        correlation = pl.col(_CORRELATION)
    differences = _add_limits(pairs, level, correlation)
    if paired and not moving and not comparison.has_weights:
        differences = paired_errors.replace_weighted_sums(differences, metrics, _METRIC, level)
    return differences.with_columns(model_pairs.name_models(wide=comparison.examples == "wide"))


def _number_points(
    comparison: Comparison, metrics: Sequence[PointMetric], by: Iterable[str], *, moving: bool
) -> pl.LazyFrame:
    """Return the points of all models, numbered: Group.NUMBER by model, BASE_GROUP by `by` group."""
    table = comparison.table
    options = point_intervals.BandOptions(
        comparison.certainty.level,
        "wilson",
        "mover",
        moves="all" if moving else "none",
        shown_with="differences",
    )
    target = cast("Target", comparison.target)
    points = build_points_table(table, comparison.grid, [target], metrics, bands=options, long=True)
    number = pl.coalesce(  # `replace_strict` would not stream
        pl.when(pl.col("metric") == metric.name).then(pl.lit(i, dtype=pl.Int64))
        for i, metric in enumerate(metrics)
    )
    first = pl.col(Group.NUMBER).min()
    rows = points.with_row_index(Group.NUMBER).with_columns(
        model_pairs.number_within([*by, Row.MODEL, "metric"]).cast(pl.UInt32).alias(ETA_NUMBER),
        number.alias(_METRIC),
        first.over(*by, Row.MODEL),
        (first.over(*by) if by else pl.lit(0, dtype=pl.UInt32)).alias(BASE_GROUP),
    )
    if comparison.grid.shared is None:  # models of different prevalences are compared, too
        rows = rows.with_columns(find_shared_eta([BASE_GROUP]))
    if comparison.needs_pairs:
        rows = stop_if_broken(rows, [model_pairs.two_models_check()])
    if comparison.examples == "by id":
        rows = model_pairs.check_matching(cast("ScoreTable", table), rows)
    return rows.cache()  # each model is paired with others, and its thresholds are compared, too


def _add_limits(
    pairs: pl.LazyFrame, level: difference_tests.Level, correlation: pl.Expr | None = None
) -> pl.LazyFrame:
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
    is_known = pl.col("low").is_not_null() & pl.col("high").is_not_null()
    decisive = (difference.abs() >= 2 * stretch * towards_0) & (towards_0 > 0)
    resolved = difference_tests.is_resolved(pl.col("low"), pl.col("high"), pl.col("reliable"), decisive)
    return pairs.with_columns(
        reliable=pl.when(is_known).then("reliable"),
        why=pl.when(is_known & ~pl.col("reliable")).then(pl.coalesce(A + "why", B + "why")),
        resolved=pl.when(is_known).then(resolved),
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
# `paired_errors`: so every rate is inside 0 and 1 (Newcombe 1998). Examples count by their
# weights. Where thresholds move with the sample, the moves of a value are those of its band.

_CORRELATION = f"{RESERVED}correlation"  # of the values of both models
_AGREEMENT = {name: f"{RESERVED}agreement_{name}" for name in AMOUNTS}
"""The correlation, among examples of a class, of being flagged by either model."""
_RATES = {name: f"{RESERVED}{name}_rate" for name in AMOUNTS}
"""The rate of a class, half an example added."""
_MOVES = dict(zip(AMOUNTS, (MOVE_NAMES["recall"], MOVE_NAMES["fpr"]), strict=True))
"""How far the rate of a class moves the value of a model."""


def _add_correlation(
    pairs: pl.LazyFrame, metrics: Sequence[PointMetric], *, moving: bool, sums: bool, counts_eta: bool
) -> pl.LazyFrame:
    """Add _CORRELATION, that of the values of both models, to rows with the discordant examples."""
    rates, agreements = {}, {}
    for name in AMOUNTS:
        n_both = pl.col(BOTH + name)
        n = repeat_in_rows(pl.col(OF_ALL + name) + 1, n_both)
        for side in SIDES:
            rates[side + _RATES[name]] = (n_both + pl.col(side + name) + 0.5) / n
        a, b = (pl.col(side + _RATES[name]) for side in SIDES)
        # Of two indicators: (P(both) - a b) / sqrt(a (1 - a) b (1 - b)).
        shared = n_both / n - a * b
        agreements[_AGREEMENT[name]] = shared / ((a * (1 - a)) * (b * (1 - b))).sqrt()
    pairs = pairs.with_columns(**rates).with_columns(**agreements)
    if not moving:
        is_sum = paired_errors.is_weighted_sum
        unsummed_metrics = [metric if sums or not is_sum(metric) else None for metric in metrics]
        pairs = _add_moves(pairs, unsummed_metrics, counts_eta=counts_eta)
    agreement = {_MOVES[name]: pl.col(column) for name, column in _AGREEMENT.items()}
    agreement |= {MOVE_NAMES["eta"]: pl.lit(1.0)} if counts_eta else {}
    # With moves m and agreements g: sum of g m_A m_B, over the roots of the sums of m_A^2 and m_B^2.
    errors = [sum((pl.col(side + move) ** 2 for move in agreement), pl.lit(0.0)) for side in SIDES]
    shares = (weight * pl.col(A + move) * pl.col(B + move) for move, weight in agreement.items())
    correlation = sum(shares, pl.lit(0.0)) / (errors[0] * errors[1]).sqrt()
    # A value that no rate moves, such as precision at prevalence 1, shares no error.
    return pairs.with_columns(correlation.fill_nan(0.0).alias(_CORRELATION))


def _add_moves(
    pairs: pl.LazyFrame, metrics: Sequence[PointMetric | None], *, counts_eta: bool
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
        return pick_by_number(_METRIC, values, pl.lit(None, dtype=pl.Float64))

    eta, error_of_eta = pl.col("eta"), pl.col(A + EtaError.STANDARD_ERROR)
    ends: dict[str, pl.Expr] = {}
    moves: dict[str, pl.Expr] = {}
    for side in SIDES:
        middle = {name: pl.col(side + rate) for name, rate in _RATES.items()} | {"eta": eta}
        for name in AMOUNTS:
            variance = middle[name] * (1 - middle[name])
            error = (variance / repeat_in_rows(pl.col(OF_ALL + name) + 1, variance)).sqrt()
            ends |= {f"{side}{name}_{sign}": middle[name] + sign * error for sign in (-0.5, 0.5)}
            low, high = (
                evaluate(middle | {name: pl.col(f"{side}{name}_{sign}")}) for sign in (-0.5, 0.5)
            )
            moves[side + _MOVES[name]] = (high - low).abs()
        if counts_eta:
            # The logit of eta, less and plus half its error.
            etas = (1 / (1 + (sign * error_of_eta / 2).exp() / (eta / (1 - eta))) for sign in (1, -1))
            low, high = (evaluate(middle | {"eta": end}) for end in etas)
            moves[side + MOVE_NAMES["eta"]] = pl.when(error_of_eta > 0).then(high - low).otherwise(0.0)
    return pairs.with_columns(**ends).with_columns(**moves)
