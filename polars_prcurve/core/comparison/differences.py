"""Differences between the models of a group: of curve metrics, or of point metrics at a target.

Errors of curve metrics are of examples that both models scored (`paired_errors`), or of a sample for
each model, where both add up in quadrature. That of a prevalence which is an estimate adds up, too.

Of point metrics the lower end of a - b is as far from it as the root of (a - low of a)**2 + (high of b
- b)**2, and the upper end likewise. There is no standard error, since the two distances differ. For
several pairs both distances are stretched by the ratio of normal quantiles.

Of models that share their examples both values err together: see `_add_correlation`. Of examples that
were drawn by strata it is not known how much both values share at given thresholds, nor of those in
clusters at any: their errors are taken as independent, which is wider.

Source: Zou and Donner 2008.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import polars as pl

from polars_prcurve.core.comparison import average_precision_differences as ap_differences
from polars_prcurve.core.comparison import difference_limits, model_pairs, paired_errors
from polars_prcurve.core.comparison.average_precision_differences import SAMPLE_ERROR
from polars_prcurve.core.comparison.model_pairs import (
    BASE_GROUP,
    ETA_NUMBER,
    SIDES,
    A,
    B,
    Comparison,
)
from polars_prcurve.core.comparison.paired_errors import ALL_PREFIX, AMOUNTS, BOTH_PREFIX
from polars_prcurve.core.confidence import point_intervals
from polars_prcurve.core.confidence.bands_by_threshold_choice import (
    MOVE_NAMES,
    ComparedBands,
    ModelBands,
)
from polars_prcurve.core.confidence.doubts import DOUBT, doubt_missing_ends, find_first_doubt
from polars_prcurve.core.confidence.interval_input_columns import ETA_LOW, EtaError
from polars_prcurve.core.confidence.point_intervals import combine_distances, measure_distances
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.curves.curve_segments import CurveSegments, build_curves, number_metrics
from polars_prcurve.core.curves.curve_table import long_columns, pick_by_number
from polars_prcurve.core.curves.operating_points import build_points_table
from polars_prcurve.core.curves.targets import (
    ONLY_POINT,
    Target,
    build_target_of_metric,
    direction_sign,
    require_one_point,
)
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.ground.group_keys import merge_zeros
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.value_checks import stop_if_broken
from polars_prcurve.core.inputs import resolved_tables as of_table
from polars_prcurve.core.inputs.resolved_tables import RateTable, ResolvedTable, ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics import point_formulas
from polars_prcurve.core.metrics.curve_metric import AtTarget, CurveMetric
from polars_prcurve.core.metrics.metric_base import DECLARED_BY_NAME
from polars_prcurve.core.metrics.metric_lookup import find_metrics
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.metrics.segment_column_names import Segment
from polars_prcurve.core.prevalence.eta_table import check_result_columns, find_shared_eta, repeat_rows
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.sorted_group_rows import SweepTables, build_numbered_rows
from polars_prcurve.core.sweep.sweep_table import build_sweep
from polars_prcurve.core.uncertainty import analytic_intervals
from polars_prcurve.core.uncertainty.analytic_intervals import (
    CAUTIOUS,
    EXTENDED,
    SLOPE,
    counts_unseen,
)
from polars_prcurve.core.uncertainty.eta_error import ETA_ENDS, add_values_at_ends
from polars_prcurve.core.uncertainty.influence import CLASS_SIZE_COLUMNS, CLUSTER_COLUMNS, find_freedom
from polars_prcurve.core.uncertainty.metrics_at_targets import (
    has_intervals_at_targets,
    refuse_weighted_clusters,
    separate_targets,
)
from polars_prcurve.core.uncertainty.metrics_without_negatives import check_negatives
from polars_prcurve.core.uncertainty.summary_table import add_bootstrap_intervals, plan_values

# The place among equal prevalences, the number of a row, and that of a farthest pair.
_STEP_NUMBER, _ROW_NUMBER, _FARTHEST_ROW = (f"{RESERVED}{name}" for name in ("step", "row", "farthest"))


def build_compare_table(
    comparison: Comparison, metrics: Any, targets: Sequence[Target], *, worst: bool
) -> pl.LazyFrame:
    """Return the result of `compare`; with `worst`, of the best and the worst model of a group alone."""
    target = targets[0] if targets else None
    if isinstance(comparison.table, RateTable):
        if not comparison.table.has_counts:
            raise PrcError(
                'intervals of differences need counts, and rates= holds none; pass sizes=("n_pos", '
                '"n_neg"), the numbers of examples behind the rates'
            )
        if target is not None and target.is_found_in_sample:
            raise PrcError(
                f"{comparison.table.argument}= holds points, and those that meet {target.criterion}= "
                "may be far apart; keep one row for each model and leave the target out, or pass "
                "threshold="
            )
        target = target or ONLY_POINT
        remedy = "pass threshold=, if score= names the thresholds of the points"
        comparison = comparison._replace(table=require_one_point(comparison.table, [target], remedy))
    if target is not None:
        compared_metrics: Any = find_metrics("precision" if metrics is None else metrics, PointMetric)
    else:
        compared_metrics = find_compared_metrics(comparison.table, metrics)
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
    sign_of_metric = {metric.name: direction_sign(metric) for metric in compared_metrics}
    return _choose_farthest(differences, comparison.table, sign_of_metric)


def find_compared_metrics(table: ResolvedTable, metrics: Any) -> list[CurveMetric]:
    """Return the curve metrics that `metrics=` names, or by which models are compared without it."""
    default_metrics = ("average_precision", *(["roc_auc"] if table.counts_negatives else []))
    return find_metrics(default_metrics if metrics is None else metrics, CurveMetric, takes_target=True)


def build_differences(comparison: Comparison) -> pl.LazyFrame:
    """Return `by` without Row.MODEL, eta, what the eta frame carries, and its columns."""
    eta_column, *other_columns = model_pairs.list_compare_columns(comparison.adjust)
    check_result_columns(comparison.table, comparison.grid, [eta_column, *other_columns, "p_adjusted"])
    comparison.table.require_example_counts()
    parts = _separate_targets(comparison)
    if any(part.target is not None for part in parts):
        comparison.grid.require_exact("a comparison at a target")
    elif comparison.certainty.method != "analytic":
        comparison.grid.require_exact('method="bootstrap"')
    differences = [
        difference_limits.cut_to_range(
            subtract_curve_metrics(part) if part.target is None else subtract_point_metrics(part),
            part.metrics,
        )
        for part in parts
    ]
    key_columns = (*comparison.table.group_columns, eta_column, *comparison.grid.carried_columns)
    result_columns = (*key_columns, *other_columns)
    if len(parts) == 1:
        return differences[0].select(result_columns)
    # The parts number their groups in the same order, each in its own way.
    metric_names = [metric.name for metric in comparison.metrics]
    order = (
        pl.col(BASE_GROUP).ne_missing(pl.col(BASE_GROUP).shift(1)).cum_sum().alias(BASE_GROUP),
        pl.col(ETA_NUMBER),
        pl.col("metric").cast(pl.Enum(metric_names)).alias(_METRIC_NUMBER),
    )
    numbered_differences = (
        rows.with_row_index(_ROW_NUMBER).select(*result_columns, *order, _ROW_NUMBER)
        for rows in differences
    )
    order_columns = [BASE_GROUP, ETA_NUMBER, _METRIC_NUMBER, _ROW_NUMBER]
    return pl.concat(numbered_differences).sort(order_columns).select(result_columns)


def _separate_targets(comparison: Comparison) -> list[Comparison]:
    """Return the comparison of metrics of whole curves, and one for each target of those at targets.

    Precision at a recall is compared as precision is at the target of that recall.
    """
    if comparison.target is not None or not comparison.metrics:
        return [comparison]
    is_analytic = comparison.certainty.method == "analytic"
    split = separate_targets(
        {metric.name: cast("CurveMetric", metric) for metric in comparison.metrics},
        finds_rows=is_analytic and has_intervals_at_targets(comparison.table),
    )
    parts = [comparison._replace(metrics=[*split.others.values()])] if split.others else []
    metrics_of_target: dict[AtTarget, list[PointMetric]] = {}
    for name, metric in split.at_targets.items():
        at_target = cast("AtTarget", metric.recipe.at_target)
        target_key = at_target._replace(metric=point_formulas.recall)
        metrics_of_target.setdefault(target_key, []).append(at_target.metric.alias(name))
    return parts + [
        comparison._replace(metrics=metrics, target=build_target_of_metric(at_target, comparison.table))
        for at_target, metrics in metrics_of_target.items()
    ]


def _choose_farthest(
    differences: pl.LazyFrame, table: ResolvedTable, sign_of_metric: Mapping[str, float]
) -> pl.LazyFrame:
    """Return the pair of the best and the worst model, as a and b, by group, prevalence and metric."""
    key_columns, difference = [*table.group_columns, "eta", "metric", _STEP_NUMBER], pl.col("difference")
    falling_metrics = [name for name, sign in sign_of_metric.items() if sign < 0]
    lead = pl.when(pl.col("metric").is_in(falling_metrics)).then(-difference).otherwise(difference)
    step_number = model_pairs.number_within([*key_columns[:-1], "model_a", "model_b"])
    numbered_differences = differences.with_row_index(_ROW_NUMBER).with_columns(
        step_number.alias(_STEP_NUMBER)
    )
    # Polars 2.0 streams no `sort_by` within groups, so the first of the farthest pairs takes two steps.
    # Among equal pairs the first counts, and models without a value are neither best nor worst.
    distance = difference.abs().fill_null(-1.0)
    is_farthest = distance == distance.max().over(key_columns)
    numbered_differences = numbered_differences.with_columns(
        pl.when(is_farthest).then(_ROW_NUMBER).alias(_FARTHEST_ROW)
    )
    farthest_pairs = numbered_differences.filter(
        pl.col(_ROW_NUMBER) == pl.col(_FARTHEST_ROW).min().over(key_columns)
    ).sort(_ROW_NUMBER)
    turned_columns = {
        "model_a": pl.col("model_b"),
        "model_b": pl.col("model_a"),
        "difference": -difference,
        "low": merge_zeros(-pl.col("high")),
        "high": merge_zeros(-pl.col("low")),
    }
    when_behind = pl.when((lead < 0).fill_null(False))
    farthest_pairs = farthest_pairs.with_columns(
        when_behind.then(turned_column).otherwise(name).alias(name)
        for name, turned_column in turned_columns.items()
    )
    return farthest_pairs.drop(_ROW_NUMBER, _STEP_NUMBER, _FARTHEST_ROW)


# Of curve metrics -------------------------------------------------------------------------------

_ROUNDING = 1e-11  # standard errors up to this share of the value are rounding


class _Models(NamedTuple):
    """The curves of all models, and the metrics by which they are compared."""

    comparison: Comparison
    table: ScoreTable
    sweep: SweepTables
    curves: CurveSegments
    populations: pl.LazyFrame  # one row per model and prevalence
    metrics_by_name: dict[str, CurveMetric]  # the metrics by the names of their columns
    moved_metrics: dict[str, CurveMetric]
    """The metrics whose errors carry that of a prevalence, if it has one."""
    has_freedom: bool  # whether errors are from influences that are added up by unit

    @property
    def may_rank_alike(self) -> bool:
        """Whether limits allow for models that rank alike: of one sample, whose rows no strata chose."""
        # Of rows that were drawn by ranges of one score, such limits called equal models different in
        # 9%.
        is_paired = self.comparison.examples != "apart"
        return is_paired and not self.table.sample.knows_weights

    def name(self, kind: str) -> list[str]:
        """Return the columns of one kind of all metrics."""
        return [f"{name}_{kind}" for name in self.metrics_by_name]


def subtract_curve_metrics(comparison: Comparison) -> pl.LazyFrame:
    """Return the rows of a comparison of curve metrics, and more columns."""
    models = _build_models(comparison)
    has_analytic_errors = comparison.certainty.method == "analytic"
    subtract = _subtract_paired if has_analytic_errors else _subtract_replicates
    subtract = _subtract_apart if comparison.examples == "apart" else subtract
    differences = subtract(models, _compute_values(models))
    family_columns = [BASE_GROUP, ETA_NUMBER]
    metrics_by_name, has_freedom = models.metrics_by_name, models.has_freedom
    level = difference_limits.Level(comparison.certainty.level, comparison.adjust, family_columns)
    if comparison.examples == "apart" or has_analytic_errors:
        differences = _carry_eta_errors(differences, models, level.confidence)
        differences = difference_limits.add_limits(
            differences,
            metrics_by_name,
            level,
            has_freedom=has_freedom,
            may_rank_alike=models.may_rank_alike,
        )
    elif comparison.adjust is not None:
        differences = difference_limits.stretch_limits(differences, metrics_by_name, level)
    least_size = pl.min_horizontal(CLASS_SIZE_COLUMNS.values()).alias(difference_limits.LEAST_SIZE)
    differences = differences.with_columns(least_size)
    differences = difference_limits.add_flags(
        differences, metrics_by_name, level, has_freedom=has_freedom
    )
    kinds = set(model_pairs.list_compare_columns(comparison.adjust))
    kinds -= {"eta", "metric", "model_a", "model_b"}
    columns_by_kind = {kind: [pl.col(name) for name in models.name(kind)] for kind in kinds}
    labels = [metric.name for metric in metrics_by_name.values()]
    metric_rows = repeat_rows(differences, len(labels)).with_columns(
        pl.col("eta").fill_nan(None), *long_columns(columns_by_kind, labels)
    )
    model_groups = (side + Group.NUMBER for side in SIDES)
    return metric_rows.sort(BASE_GROUP, ETA_NUMBER, Population.COPY, *model_groups)


def _build_models(comparison: Comparison) -> _Models:
    """Return the curves of all models; the sizes of their classes are those that errors read."""
    table = cast("ScoreTable", comparison.table)  # points have a target
    metrics = cast("Sequence[CurveMetric]", comparison.metrics)
    is_analytic = comparison.certainty.method == "analytic"
    metrics_by_name = number_metrics(metrics)
    metrics_by_name = {
        name: metric.change_recipe(
            helpers=metric.recipe.helpers_of_pairs if is_analytic else {}, is_compared=True
        )
        for name, metric in metrics_by_name.items()
    }
    sweep = build_sweep(table, effective=is_analytic)
    curves = build_curves(table, sweep, metrics, with_last=is_analytic)
    populations = model_pairs.number_populations(
        curves.build_populations(comparison.grid), table.group_columns
    )
    has_freedom = is_analytic and table.sample.joins_rows
    moved_metrics = {
        name: metric
        for name, metric in metrics_by_name.items()
        if comparison.grid.is_uncertain and metric.depends_on_eta and metric.recipe.influence is not None
    }
    return _Models(
        comparison, table, sweep, curves, populations, metrics_by_name, moved_metrics, has_freedom
    )


def _compute_values(models: _Models) -> pl.LazyFrame:
    """Return the metrics of each model, with errors if they are known without resampling; checked."""
    comparison, table, sweep, curves, populations, metrics_by_name, moved_metrics, _ = models
    if comparison.certainty.method == "analytic":
        model_values = plan_values(table, sweep, curves, comparison.certainty.level)(
            populations, metrics_by_name
        )
    else:
        model_values = curves.compute_values(populations, metrics_by_name)
    if comparison.grid.is_uncertain:
        model_values = add_values_at_ends(model_values, populations, moved_metrics, [""], curves)
    model_values = model_pairs.check_models(comparison, sweep, populations, model_values)
    if comparison.grid.sharing_groups is not None:
        return model_values
    return model_values.with_columns(find_shared_eta([BASE_GROUP]))


def _carry_eta_errors(differences: pl.LazyFrame, models: _Models, confidence: float) -> pl.LazyFrame:
    """Add `<name>_` and then EtaError.STANDARD_ERROR, and add it to standard errors in quadrature."""
    changed_columns = dict.fromkeys(models.name(difference_limits.ETA_ERROR), pl.lit(0.0))
    when_exact = pl.when(pl.col(ETA_LOW).is_null())
    for name in models.moved_metrics:
        error, middle = pl.col(f"{name}_standard_error"), pl.col(f"{name}_difference")
        differences_at_ends = [pl.col(f"{name}_{end}_difference") for end in ETA_ENDS]
        # The prevalence is one and the same for both models. Its error is how far the difference moves
        # to the farther one of both ends of eta, over the quantile of its interval.
        farthest_move = pl.max_horizontal(measure_distances(middle, differences_at_ends)) * (
            1 / z_value(confidence)
        )
        wider_error = pl.when(error.is_not_null()).then(combine_distances([error, farthest_move]))
        changed_columns[f"{name}_{difference_limits.ETA_ERROR}"] = when_exact.then(0.0).otherwise(
            farthest_move
        )
        changed_columns[f"{name}_standard_error"] = when_exact.then(error).otherwise(wider_error)
    return differences.with_columns(**changed_columns)


def _list_errors(models: _Models) -> dict[str, tuple[str, CurveMetric]]:
    """Return the values with errors, by name: the column of the error of a model, and the metric."""
    error_sources = {}
    for name, metric in models.metrics_by_name.items():
        # Where a value is at a bound, the error of average precision is 0, and that of others unknown.
        error_sources[name] = (
            f"{name}_error" if counts_unseen(metric) else f"{name}_standard_error",
            metric,
        )
        if counts_unseen(metric):
            cautious_name = f"{name}_{CAUTIOUS}"
            error_sources[cautious_name] = f"{cautious_name}_error", metric.recipe.helpers[CAUTIOUS]
    return error_sources


def _subtract_apart(models: _Models, model_values: pl.LazyFrame) -> pl.LazyFrame:
    """Return differences of models that have a sample each; both errors add up in quadrature."""
    comparison = models.comparison
    if comparison.certainty.method != "analytic":
        metrics = list(models.metrics_by_name.values())
        model_values = add_bootstrap_intervals(
            models.table, metrics, comparison.certainty, models.sweep, model_values
        )
    error_columns = {name: error for name, (error, _) in _list_errors(models).items()}
    least_columns = [
        *CLASS_SIZE_COLUMNS.values(),
        *(models.name("freedom") if models.has_freedom else []),
    ]
    differences = _join_values(
        models, model_values, list(error_columns), [*error_columns.values(), *least_columns]
    )
    differences = differences.with_columns(
        *(pl.min_horizontal(A + column, B + column).alias(column) for column in least_columns),
        *(
            (pl.col(A + error) ** 2 + pl.col(B + error) ** 2).sqrt().alias(f"{name}_standard_error")
            for name, error in error_columns.items()
        ),
    )
    return _take_larger_errors(models, differences)


def _subtract_paired(models: _Models, model_values: pl.LazyFrame) -> pl.LazyFrame:
    """Return differences of models that scored the same examples, with errors from influences."""
    error_sources = _list_errors(models)
    differences = _join_paired_values(models, model_values, error_sources)
    error_columns = {}
    for name, metric in models.metrics_by_name.items():
        if not counts_unseen(metric):
            continue
        if models.may_rank_alike:
            eta_variance = _find_eta_variance(models, name)
            differences = ap_differences.add_leads(differences, name, eta_variance)
        # The prevalence is one and the same, and moves both values.
        slope_a, slope_b = (pl.col(f"{side}{name}_{SLOPE}") for side in SIDES)
        eta_variance = (slope_a - slope_b) ** 2 * pl.col(EtaError.VARIANCE)
        for column in (f"{name}_standard_error", f"{name}_{CAUTIOUS}_standard_error"):
            error_columns[column] = (pl.col(column) ** 2 + eta_variance).sqrt()
    if models.table.sample.joins_rows:
        for name, (_, metric) in error_sources.items():
            unknown_freedom = {f"{name}_freedom": pl.lit(None, dtype=pl.Float64)}
            error_columns |= unknown_freedom if metric.recipe.influence is None else find_freedom(name)
    return _take_larger_errors(models, differences.with_columns(**error_columns))


def _join_paired_values(
    models: _Models, model_values: pl.LazyFrame, error_sources: Mapping[str, tuple[str, CurveMetric]]
) -> pl.LazyFrame:
    """Return differences with errors by chance alone, of themselves and of either model."""
    table, sample = models.table, models.table.sample
    metrics_by_name = {name: metric for name, (_, metric) in error_sources.items()}
    sample_errors = {
        name: analytic_intervals.find_standard_error(name, metric, sample)
        for name, metric in metrics_by_name.items()
    }
    model_values = model_values.with_columns(
        error.alias(f"{name}_{SAMPLE_ERROR}") for name, error in sample_errors.items()
    )
    model_columns = [
        *(error_column for error_column, _ in error_sources.values()),
        *(f"{name}_{SAMPLE_ERROR}" for name in error_sources),
        *(f"{name}_{SLOPE}" for name, metric in metrics_by_name.items() if counts_unseen(metric)),
    ]
    # Both models have the class sizes of their examples.
    size_columns = [
        *CLASS_SIZE_COLUMNS.values(),
        EtaError.VARIANCE,
        *(CLUSTER_COLUMNS if sample.joins_rows else ()),
    ]
    differences = _join_values(
        models, model_values, list(error_sources), model_columns, group_columns=size_columns
    )
    cells = paired_errors.count_cells(build_numbered_rows(table, models.sweep.groups, whole=True), table)
    differences = paired_errors.add_pair_variances(
        differences,
        cells,
        models.curves,
        models.populations,
        metrics_by_name,
        comparison=models.comparison,
    )
    return differences.with_columns(
        error.alias(f"{name}_standard_error") for name, error in sample_errors.items()
    )


def _find_eta_variance(models: _Models, name: str) -> pl.Expr:
    """Return what the error of a counted or estimated eta adds to the variance of a gap of logits."""
    logit_a, logit_b = (analytic_intervals.to_logit(pl.col(side + name)) for side in SIDES)
    slope_a, slope_b = (
        pl.col(f"{side}{name}_{SLOPE}") / (pl.col(side + name) * (1 - pl.col(side + name)))
        for side in SIDES
    )
    variance = (slope_a - slope_b) ** 2 * pl.col(EtaError.VARIANCE)
    if name not in models.moved_metrics:
        return variance
    gaps_at_ends = [
        analytic_intervals.to_logit(pl.col(f"{A}{name}_{end}"))
        - analytic_intervals.to_logit(pl.col(f"{B}{name}_{end}"))
        for end in ETA_ENDS
    ]
    farthest_move = pl.max_horizontal(measure_distances(logit_a - logit_b, gaps_at_ends))
    end_variance = (farthest_move * (1 / z_value(models.comparison.certainty.level))) ** 2
    return variance + pl.when(pl.col(ETA_LOW).is_null()).then(0.0).otherwise(end_variance)


def _subtract_replicates(models: _Models, model_values: pl.LazyFrame) -> pl.LazyFrame:
    """Return differences of models that scored the same examples, with errors from replicates."""
    from polars_prcurve.core.uncertainty.bootstrap import Bootstrap

    bootstrap = Bootstrap(
        models.table, list(models.metrics_by_name.values()), models.comparison.certainty
    )
    differences = _join_values(models, model_values, list(models.metrics_by_name), has_doubts=False)
    differences = paired_errors.add_bootstrap_errors(bootstrap, models.sweep, model_values, differences)
    doubt_columns: dict[str, pl.Expr] = {}
    for name, metric in models.metrics_by_name.items():
        doubts_of_sides = [
            analytic_intervals.list_bootstrap_doubts(name, metric, side) for side in SIDES
        ]
        pair_doubts = {
            reason: is_doubtful | doubts_of_sides[1][reason]
            for reason, is_doubtful in doubts_of_sides[0].items()
        }
        doubt_columns[f"{name}_{DOUBT}"] = find_first_doubt(pair_doubts, pl.lit(True))
    return differences.with_columns(**doubt_columns)


def _join_values(
    models: _Models,
    model_values: pl.LazyFrame,
    value_names: Sequence[str],
    extra_columns: Sequence[str] = (),
    *,
    has_doubts: bool = True,
    group_columns: Sequence[str] = (),
) -> pl.LazyFrame:
    """Return one row per model pair and prevalence, with `<name>_difference` of `names` and doubts."""
    # Of prevalences that are estimates, the metrics at both ends of their intervals come along.
    value_names = [*value_names, *(f"{name}_{end}" for name in models.moved_metrics for end in ETA_ENDS)]
    doubt_of_name = {name: f"{name}_{DOUBT}" for name in models.metrics_by_name} if has_doubts else {}
    names_with_unseen = [
        name for name, metric in models.metrics_by_name.items() if has_doubts and counts_unseen(metric)
    ]
    extended_names = [f"{name}{ending}" for name in names_with_unseen for ending in EXTENDED]
    model_columns = dict.fromkeys(
        [
            Row.MODEL,
            Group.NUMBER,
            Population.NUMBER,
            *value_names,
            *extra_columns,
            *extended_names,
            *doubt_of_name.values(),
        ]
    )
    key_dtypes = {**models.table.group_columns, ETA_NUMBER: pl.UInt32()}
    shared_columns = [
        BASE_GROUP,
        "eta",
        Segment.ODDS,
        *models.comparison.grid.carried_columns,
        *group_columns,
    ]
    differences = model_pairs.join_sides(model_values, key_dtypes, list(model_columns), shared_columns)
    return differences.with_columns(
        *model_pairs.name_models(wide=models.comparison.examples == "wide"),
        *((pl.col(A + name) - pl.col(B + name)).alias(f"{name}_difference") for name in value_names),
        *(
            model_pairs.join_doubts(doubt_name, name).alias(doubt_name)
            for name, doubt_name in doubt_of_name.items()
        ),
    )


def _take_larger_errors(models: _Models, differences: pl.LazyFrame) -> pl.LazyFrame:
    """Add covariances, and make standard errors the larger one of themselves and the cautious one."""
    changed_columns: dict[str, pl.Expr] = {}
    for name, metric in models.metrics_by_name.items():
        error, covariance = pl.col(f"{name}_standard_error"), pl.lit(0.0)
        if counts_unseen(metric) and models.comparison.examples != "apart":
            sum_of_variances = sum((pl.col(f"{side}{name}_error") ** 2 for side in SIDES), pl.lit(0.0))
            covariance = (sum_of_variances - error * error) / 2
        if counts_unseen(metric):
            error = pl.max_horizontal(error, pl.col(f"{name}_{CAUTIOUS}_standard_error"))
        # Equal models have an error of 0. Rounding would leave a tiny one, and with it a p-value.
        larger_value = pl.max_horizontal(A + name, B + name)
        rounded_error = pl.when(error > _ROUNDING * larger_value).then(error).otherwise(error * 0)
        is_known = pl.col(f"{name}_difference").is_not_null()
        changed_columns[f"{name}_standard_error"] = pl.when(is_known).then(rounded_error)
        changed_columns[f"{name}_{difference_limits.COVARIANCE}"] = covariance
    return differences.with_columns(**changed_columns)


# Of point metrics, at one target ----------------------------------------------------------------

_METRIC_NUMBER = f"{RESERVED}metric_number"  # the place of a metric among those of the call
_DISTANCE_BELOW = f"{RESERVED}below"  # the distance from a difference to its low end
_DISTANCE_ABOVE = f"{RESERVED}above"  # that to its high end


def _check_has_intervals(comparison: Comparison) -> None:
    """Raise if no interval is known for the difference of a point metric between models."""
    refuse_weighted_clusters(comparison.table.sample)
    for metric in cast("Sequence[PointMetric]", comparison.metrics):
        curve_hint = name_curve_metric(metric, comparison.target)
        if comparison.certainty.method != "analytic":
            raise PrcError(
                f"the difference of {metric.name} at a target has no bootstrap; "
                f'{curve_hint or "leave out"} method="bootstrap"'
            )
        point_intervals.find_corners(metric)  # raises if the metric has no band


def name_curve_metric(metric: PointMetric, target: Target | None) -> str:
    """Return how to request the curve metric that a point metric at a target is; or an empty text."""
    curve_metric = "" if target is None else f"{metric.name}_at_{target.criterion}"
    if target is None or curve_metric not in DECLARED_BY_NAME:
        return ""
    arguments = f"{target.value}" + (", per" if target.criterion == "alerts" else "")
    return f"leave out {target.criterion}=, and pass metrics.{curve_metric}({arguments}) with"


def subtract_point_metrics(comparison: Comparison) -> pl.LazyFrame:
    """Return the rows of a comparison at a target, and more columns."""
    _check_has_intervals(comparison)
    metrics = cast("Sequence[PointMetric]", comparison.metrics)
    is_paired = comparison.examples != "apart" and not comparison.table.sample.joins_rows
    is_moving = cast("Target", comparison.target).is_found_in_sample
    step_dtypes = {ETA_NUMBER: pl.UInt32(), _METRIC_NUMBER: pl.Int64()}
    family_columns = [BASE_GROUP, *step_dtypes]
    level = difference_limits.Level(comparison.certainty.level, comparison.adjust, family_columns)
    by = comparison.table.group_columns
    point_rows = _number_points(comparison, metrics, by, is_moving=is_moving)
    has_counted_eta = comparison.grid.may_hold_own and not of_table.is_field(comparison.table)
    move_columns = [
        move_column
        for source, move_column in MOVE_NAMES.items()
        if is_moving and (has_counted_eta or source != "eta")
    ]
    side_groups = [side + Group.NUMBER for side in SIDES]
    point_pairs = _join_points(comparison, point_rows, step_dtypes, move_columns)
    point_pairs = point_pairs.sort(BASE_GROUP, *step_dtypes, *side_groups)
    point_pairs = level.add_quantile(point_pairs, ["difference"])
    correlation = None
    # What two models share at given thresholds cancels out less where strata took away its larger part.
    if is_paired and (is_moving or comparison.table.sample.shares_errors):
        table = cast("ScoreTable", comparison.table)
        first_metric_points = point_rows.filter(pl.col(_METRIC_NUMBER) == 0)
        discordant_counts = paired_errors.count_discordant(table, first_metric_points, by)
        point_pairs = point_pairs.join(
            discordant_counts, on=[*side_groups, ETA_NUMBER], how="left", maintain_order="left"
        )
        point_pairs = _add_correlation(
            point_pairs,
            metrics,
            is_moving=is_moving,
            has_weights=comparison.has_weights,
            has_counted_eta=has_counted_eta,
        )
        correlation = pl.col(_CORRELATION)
    differences = _add_limits(point_pairs, level, correlation)
    if is_paired and not is_moving and not comparison.has_weights:
        differences = paired_errors.replace_weighted_sums(differences, metrics, _METRIC_NUMBER, level)
    return differences.with_columns(model_pairs.name_models(wide=comparison.examples == "wide"))


def _join_points(
    comparison: Comparison,
    point_rows: pl.LazyFrame,
    step_dtypes: Mapping[str, pl.DataType],
    move_columns: Sequence[str],
) -> pl.LazyFrame:
    """Return the points of both models of each pair side by side, with their difference."""
    model_columns = [Row.MODEL, Group.NUMBER, "value", "low", "high", DOUBT]
    model_columns += [EtaError.STANDARD_ERROR, *move_columns]
    # A model without examples may lack a prevalence.
    key_dtypes = {**comparison.table.group_columns, **step_dtypes, "eta": pl.Float64()}
    shared_columns = [BASE_GROUP, *comparison.grid.carried_columns, "metric"]
    point_pairs = model_pairs.join_sides(point_rows, key_dtypes, model_columns, shared_columns)
    difference = pl.col(A + "value") - pl.col(B + "value")
    return point_pairs.with_columns(difference.alias("difference"))


def _number_points(
    comparison: Comparison, metrics: Sequence[PointMetric], by: Iterable[str], *, is_moving: bool
) -> pl.LazyFrame:
    """Return the points of all models, numbered: Group.NUMBER by model, BASE_GROUP by `by` group."""
    table = comparison.table
    bands = (ModelBands if is_moving else ComparedBands)(comparison.certainty.level, "wilson", "mover")
    target = cast("Target", comparison.target)
    points = build_points_table(table, comparison.grid, [target], metrics, bands=bands, long=True)
    metric_number = pl.coalesce(  # `replace_strict` would not stream
        pl.when(pl.col("metric") == metric.name).then(pl.lit(metric_place, dtype=pl.Int64))
        for metric_place, metric in enumerate(metrics)
    )
    first_number = pl.col(Group.NUMBER).min()
    numbered_points = points.with_row_index(Group.NUMBER).with_columns(
        model_pairs.number_within([*by, Row.MODEL, "metric"]).cast(pl.UInt32).alias(ETA_NUMBER),
        metric_number.alias(_METRIC_NUMBER),
        first_number.over(*by, Row.MODEL),
        (first_number.over(*by) if by else pl.lit(0, dtype=pl.UInt32)).alias(BASE_GROUP),
    )
    if comparison.grid.sharing_groups is None:  # models of different prevalences are compared, too
        numbered_points = numbered_points.with_columns(find_shared_eta([BASE_GROUP]))
    if comparison.needs_pairs:
        numbered_points = stop_if_broken(numbered_points, [model_pairs.two_models_check()])
    if comparison.examples == "by id":
        numbered_points = model_pairs.check_matching(cast("ScoreTable", table), numbered_points)
    # Each model is paired with others, and its thresholds are compared, too.
    return numbered_points.cache()


def _add_limits(
    point_pairs: pl.LazyFrame,
    level: difference_limits.Level,
    correlation: pl.Expr | None = None,
) -> pl.LazyFrame:
    """Add limits and verdicts to rows of both models, whose values may have a `correlation`."""
    value_of_side, low_of_side, high_of_side = (
        {side: pl.col(side + name) for side in SIDES} for name in ("value", "low", "high")
    )
    distance_below = combine_distances(
        [value_of_side[A] - low_of_side[A], high_of_side[B] - value_of_side[B]], correlation
    )
    distance_above = combine_distances(
        [high_of_side[A] - value_of_side[A], value_of_side[B] - low_of_side[B]], correlation
    )
    point_pairs = point_pairs.with_columns(
        distance_below.alias(_DISTANCE_BELOW), distance_above.alias(_DISTANCE_ABOVE)
    )
    difference, z = pl.col("difference"), z_value(level.confidence)
    stretch_factor = pl.lit(1.0) if level.adjust is None else level.n_deviations * (1 / z)
    distance_to_0 = pl.when(difference > 0).then(_DISTANCE_BELOW).otherwise(_DISTANCE_ABOVE)
    no_number = pl.lit(None, dtype=pl.Float64)
    point_pairs = point_pairs.with_columns(
        standard_error=no_number,
        p_value=no_number,
        p_adjusted=no_number,
        low=difference - pl.col(_DISTANCE_BELOW) * stretch_factor,
        high=difference + pl.col(_DISTANCE_ABOVE) * stretch_factor,
        doubt=model_pairs.join_doubts(DOUBT, "value"),
    )
    is_known = pl.col("low").is_not_null() & pl.col("high").is_not_null()
    is_decisive = (difference.abs() >= 2 * stretch_factor * distance_to_0) & (distance_to_0 > 0)
    is_certain = difference_limits.judge_sign(
        pl.col("low"), pl.col("high"), pl.col(DOUBT).is_null() | is_decisive
    )
    return point_pairs.with_columns(
        significant=pl.when(is_known).then(is_certain),
        doubt=doubt_missing_ends(DOUBT, ["low", "high"]),
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
_AGREEMENT_COLUMNS = {name: f"{RESERVED}agreement_{name}" for name in AMOUNTS}
"""The correlation, among examples of a class, of being flagged by either model."""
_RATE_COLUMNS = {name: f"{RESERVED}{name}_rate" for name in AMOUNTS}
"""The rate of a class, half an example added."""
_MOVE_COLUMNS = dict(zip(AMOUNTS, (MOVE_NAMES["recall"], MOVE_NAMES["fpr"]), strict=True))
"""How far the rate of a class moves the value of a model."""


def _add_correlation(
    point_pairs: pl.LazyFrame,
    metrics: Sequence[PointMetric],
    *,
    is_moving: bool,
    has_weights: bool,
    has_counted_eta: bool,
) -> pl.LazyFrame:
    """Add _CORRELATION, that of the values of both models, to rows with the discordant examples."""
    rate_columns, agreement_columns = {}, {}
    for name in AMOUNTS:
        n_both = pl.col(BOTH_PREFIX + name)
        n_examples = repeat_in_rows(pl.col(ALL_PREFIX + name) + 1, n_both)
        for side in SIDES:
            rate_columns[side + _RATE_COLUMNS[name]] = (n_both + pl.col(side + name) + 0.5) / n_examples
        rate_of_a, rate_of_b = (pl.col(side + _RATE_COLUMNS[name]) for side in SIDES)
        # Of two indicators: (P(both) - a b) / sqrt(a (1 - a) b (1 - b)).
        covariance = n_both / n_examples - rate_of_a * rate_of_b
        variances = (rate_of_a * (1 - rate_of_a)) * (rate_of_b * (1 - rate_of_b))
        agreement_columns[_AGREEMENT_COLUMNS[name]] = covariance / variances.sqrt()
    point_pairs = point_pairs.with_columns(**rate_columns).with_columns(**agreement_columns)
    if not is_moving:
        is_sum = paired_errors.is_weighted_sum
        unsummed_metrics = [metric if has_weights or not is_sum(metric) else None for metric in metrics]
        point_pairs = _add_moves(point_pairs, unsummed_metrics, has_counted_eta=has_counted_eta)
    agreement_of_move = {
        _MOVE_COLUMNS[name]: pl.col(column) for name, column in _AGREEMENT_COLUMNS.items()
    }
    agreement_of_move |= {MOVE_NAMES["eta"]: pl.lit(1.0)} if has_counted_eta else {}
    # With moves m and agreements g: sum of g m_A m_B, over the roots of the sums of m_A^2 and m_B^2.
    error_squares = [
        sum((pl.col(side + move_column) ** 2 for move_column in agreement_of_move), pl.lit(0.0))
        for side in SIDES
    ]
    shares = (
        agreement * pl.col(A + move_column) * pl.col(B + move_column)
        for move_column, agreement in agreement_of_move.items()
    )
    correlation = sum(shares, pl.lit(0.0)) / (error_squares[0] * error_squares[1]).sqrt()
    # A value that no rate moves, such as precision at prevalence 1, shares no error.
    return point_pairs.with_columns(correlation.fill_nan(0.0).alias(_CORRELATION))


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
        return pick_by_number(_METRIC_NUMBER, values, pl.lit(None, dtype=pl.Float64))

    eta, eta_error = pl.col("eta"), pl.col(A + EtaError.STANDARD_ERROR)
    end_columns: dict[str, pl.Expr] = {}
    move_columns: dict[str, pl.Expr] = {}
    for side in SIDES:
        middle_of_rate = {name: pl.col(side + rate) for name, rate in _RATE_COLUMNS.items()} | {
            "eta": eta
        }
        for name in AMOUNTS:
            variance = middle_of_rate[name] * (1 - middle_of_rate[name])
            error = (variance / repeat_in_rows(pl.col(ALL_PREFIX + name) + 1, variance)).sqrt()
            end_columns |= {
                f"{side}{name}_{sign}": middle_of_rate[name] + sign * error for sign in (-0.5, 0.5)
            }
            low_value, high_value = (
                evaluate(middle_of_rate | {name: pl.col(f"{side}{name}_{sign}")}) for sign in (-0.5, 0.5)
            )
            move_columns[side + _MOVE_COLUMNS[name]] = (high_value - low_value).abs()
        if has_counted_eta:
            # The logit of eta, less and plus half its error.
            etas = (1 / (1 + (sign * eta_error / 2).exp() / (eta / (1 - eta))) for sign in (1, -1))
            low_value, high_value = (
                evaluate(middle_of_rate | {"eta": end_of_eta}) for end_of_eta in etas
            )
            move_columns[side + MOVE_NAMES["eta"]] = (
                pl.when(eta_error > 0).then(high_value - low_value).otherwise(0.0)
            )
    return point_pairs.with_columns(**end_columns).with_columns(**move_columns)
