"""Differences of curve metrics between models, with their errors.

Errors are of examples that both models scored (`add_pair_variances`), or of a sample for each model,
where both add up in quadrature. That of a prevalence which is an estimate adds up, too.

Source: DeLong et al. 1988 for ROC AUC; average precision has other influences in the same formula.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import polars as pl

from polars_prcurve.core.comparison import limits_and_p_values, model_pairs
from polars_prcurve.core.comparison import limits_of_average_precision_differences as ap_differences
from polars_prcurve.core.comparison.comparison_request import Comparison, list_compare_columns
from polars_prcurve.core.comparison.limits_and_p_values import COVARIANCE, ETA_ERROR, LEAST_SIZE
from polars_prcurve.core.comparison.limits_of_average_precision_differences import SAMPLE_ERROR
from polars_prcurve.core.comparison.model_pairs import BASE_GROUP, ETA_NUMBER, IS_ORDERED, SIDES, A, B
from polars_prcurve.core.comparison.significance_and_margin import SPARE
from polars_prcurve.core.confidence.doubts import DOUBT, find_first_doubt
from polars_prcurve.core.confidence.interval_input_columns import ETA_LOW, EtaError
from polars_prcurve.core.confidence.point_intervals import combine_distances, measure_distances
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.curves.curve_metric_values import CurveSegments, build_curves, number_metrics
from polars_prcurve.core.curves.long_tables import long_columns, pick_by_number
from polars_prcurve.core.ground.exact_arithmetic import square_integer, sum_shares, to_whole_shares
from polars_prcurve.core.ground.group_joins import join_groups
from polars_prcurve.core.ground.logit import to_logit
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.segment_column_names import Segment
from polars_prcurve.core.prevalence.eta_table import find_shared_eta, repeat_rows
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.rows_with_group_numbers import build_numbered_rows
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables
from polars_prcurve.core.sweep.sweep_table import build_sweep
from polars_prcurve.core.uncertainty import analytic_intervals
from polars_prcurve.core.uncertainty.analytic_intervals import SLOPE, CurvesWithErrors
from polars_prcurve.core.uncertainty.cluster_errors_of_curve_metrics import (
    CLUSTER_COLUMNS,
    add_up_clusters,
    find_freedom,
)
from polars_prcurve.core.uncertainty.doubts_of_curve_metrics import list_bootstrap_doubts
from polars_prcurve.core.uncertainty.eta_error import ETA_ENDS, add_values_at_ends
from polars_prcurve.core.uncertainty.influence import (
    CLASS_SIZE_COLUMNS,
    IS_TIED,
    PLACE,
    InfluenceTable,
    add_places,
    build_influences,
)
from polars_prcurve.core.uncertainty.summary_table import add_bootstrap_intervals
from polars_prcurve.core.uncertainty.unseen_examples import CAUTIOUS, EXTENDED, counts_unseen

if TYPE_CHECKING:
    from polars_prcurve.core.uncertainty.bootstrap import Bootstrap, ReplicateValues

_ROUNDING = 1e-11  # standard errors up to this share of the value are rounding


class _ModelCurves(NamedTuple):
    """The curves of all models, and the metrics by which they are compared."""

    comparison: Comparison
    table: ScoreTable
    sweep: SweepTables
    curves: CurveSegments
    populations: pl.LazyFrame  # one row per model and prevalence
    metrics_by_name: dict[str, CurveMetric]  # the metrics by the names of their columns
    moved_metrics_by_name: dict[str, CurveMetric]
    """The metrics whose errors carry that of a prevalence, if it has one."""
    has_freedom: bool  # whether errors are from influences that are added up by unit

    @property
    def may_rank_alike(self) -> bool:
        """Whether limits allow for models that rank alike: of one sample, whose rows no strata chose."""
        # Of rows that were drawn by ranges of one score, such limits called equal models different in
        # 9%.
        is_paired = self.comparison.pairing != "apart"
        return is_paired and not self.table.sample.knows_weights

    def name(self, ending: str) -> list[str]:
        """Return the columns of one kind of all metrics."""
        return [f"{name}_{ending}" for name in self.metrics_by_name]


def subtract_curve_metrics(comparison: Comparison) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return the metrics of each model as `number_metrics` names them, and the rows of a comparison.

    Both have more columns.
    """
    model_curves = _build_model_curves(comparison)
    model_values = _compute_values(model_curves)
    has_analytic_errors = comparison.interval_options.method == "analytic"
    subtract_models = _subtract_paired if has_analytic_errors else _subtract_replicates
    subtract_models = _subtract_apart if comparison.pairing == "apart" else subtract_models
    differences = subtract_models(model_curves, model_values)
    metrics_by_name, has_freedom = model_curves.metrics_by_name, model_curves.has_freedom
    adjusted_level = limits_and_p_values.AdjustedLevel(
        comparison.interval_options.level, comparison.adjust, [BASE_GROUP, ETA_NUMBER]
    )
    if comparison.pairing == "apart" or has_analytic_errors:
        differences = _carry_eta_errors(differences, model_curves, adjusted_level.confidence)
        differences = limits_and_p_values.add_limits_and_p_values(
            differences,
            metrics_by_name,
            adjusted_level,
            has_freedom=has_freedom,
            may_rank_alike=model_curves.may_rank_alike,
        )
    elif comparison.adjust is not None:
        differences = limits_and_p_values.stretch_limits(differences, metrics_by_name, adjusted_level)
    smaller_class_size = pl.min_horizontal(CLASS_SIZE_COLUMNS.values())
    differences = differences.with_columns(smaller_class_size.alias(LEAST_SIZE))
    differences = limits_and_p_values.add_doubts(differences, metrics_by_name)
    result_endings = {SPARE, *list_compare_columns(comparison.adjust)}
    result_endings -= {"eta", "metric", "model_a", "model_b", "significant"}
    exprs_by_ending = {
        ending: [pl.col(name) for name in model_curves.name(ending)] for ending in result_endings
    }
    metric_names = [metric.name for metric in metrics_by_name.values()]
    metric_rows = repeat_rows(differences, len(metric_names)).with_columns(
        pl.col("eta").fill_nan(None), *long_columns(exprs_by_ending, metric_names)
    )
    group_columns = (side + Group.NUMBER for side in SIDES)
    metric_rows = metric_rows.sort(BASE_GROUP, ETA_NUMBER, Population.COPY, *group_columns)
    return model_values.with_columns(pl.col("eta").fill_nan(None)), metric_rows


def _build_model_curves(comparison: Comparison) -> _ModelCurves:
    """Return the curves of all models; the sizes of their classes are those that errors read."""
    table = cast("ScoreTable", comparison.table)  # points have a target
    metrics = cast("Sequence[CurveMetric]", comparison.metrics)
    is_analytic = comparison.interval_options.method == "analytic"
    metrics_by_name = number_metrics(metrics)
    metrics_by_name = {
        name: metric.change_recipe(
            helpers=metric.recipe.helpers_by_pairs if is_analytic else {}, is_compared=True
        )
        for name, metric in metrics_by_name.items()
    }
    sweep = build_sweep(table, with_sizes=is_analytic)
    curves = build_curves(table, sweep, metrics, with_last_rows=is_analytic)
    populations = model_pairs.number_populations(
        curves.build_populations(comparison.grid), table.group_columns
    )
    has_freedom = is_analytic and table.sample.joins_rows
    moved_metrics_by_name = {
        name: metric
        for name, metric in metrics_by_name.items()
        if comparison.grid.is_uncertain and metric.depends_on_eta and metric.recipe.influence is not None
    }
    return _ModelCurves(
        comparison,
        table,
        sweep,
        curves,
        populations,
        metrics_by_name,
        moved_metrics_by_name,
        has_freedom,
    )


def _compute_values(model_curves: _ModelCurves) -> pl.LazyFrame:
    """Return the metrics of each model, with errors if they are known without resampling; checked."""
    comparison, table, sweep, curves, populations, metrics_by_name, moved_metrics_by_name, _ = (
        model_curves
    )
    if comparison.interval_options.method == "analytic":
        level = comparison.interval_options.level
        curves_with_errors = CurvesWithErrors.read(table, sweep, curves, level)
        model_values = curves_with_errors.compute_values(populations, metrics_by_name)
    else:
        model_values = curves.compute_values(populations, metrics_by_name)
    if comparison.grid.is_uncertain:
        model_values = add_values_at_ends(model_values, populations, moved_metrics_by_name, [""], curves)
    model_values = model_pairs.check_models(comparison, sweep, populations, model_values)
    if comparison.grid.sharing_groups is not None:
        return model_values
    return model_values.with_columns(find_shared_eta([BASE_GROUP]))


def _carry_eta_errors(
    differences: pl.LazyFrame, model_curves: _ModelCurves, confidence: float
) -> pl.LazyFrame:
    """Add `<name>_` and then EtaError.STANDARD_ERROR, and add it to standard errors in quadrature."""
    changed_exprs = dict.fromkeys(model_curves.name(ETA_ERROR), pl.lit(0.0))
    when_exact = pl.when(pl.col(ETA_LOW).is_null())
    for name in model_curves.moved_metrics_by_name:
        error, difference = pl.col(f"{name}_standard_error"), pl.col(f"{name}_difference")
        differences_at_ends = [pl.col(f"{name}_{end}_difference") for end in ETA_ENDS]
        # The prevalence is one and the same for both models. Its error is how far the difference moves
        # to the farther one of both ends of eta, over the quantile of its interval.
        farthest_move = pl.max_horizontal(measure_distances(difference, differences_at_ends)) * (
            1 / z_value(confidence)
        )
        wider_error = pl.when(error.is_not_null()).then(combine_distances([error, farthest_move]))
        changed_exprs[f"{name}_{ETA_ERROR}"] = when_exact.then(0.0).otherwise(farthest_move)
        changed_exprs[f"{name}_standard_error"] = when_exact.then(error).otherwise(wider_error)
    return differences.with_columns(**changed_exprs)


def _list_error_columns(model_curves: _ModelCurves) -> dict[str, tuple[str, CurveMetric]]:
    """Return the values with errors, by name: the column of the error of a model, and the metric."""
    error_and_metric_by_name = {}
    for name, metric in model_curves.metrics_by_name.items():
        # Where a value is at a bound, the error of average precision is 0, and that of others unknown.
        error_and_metric_by_name[name] = (
            f"{name}_error" if counts_unseen(metric) else f"{name}_standard_error",
            metric,
        )
        if counts_unseen(metric):
            cautious_name = f"{name}_{CAUTIOUS}"
            error_and_metric_by_name[cautious_name] = (
                f"{cautious_name}_error",
                metric.recipe.helpers[CAUTIOUS],
            )
    return error_and_metric_by_name


def _subtract_apart(model_curves: _ModelCurves, model_values: pl.LazyFrame) -> pl.LazyFrame:
    """Return differences of models that have a sample each; both errors add up in quadrature."""
    comparison = model_curves.comparison
    if comparison.interval_options.method != "analytic":
        metrics = list(model_curves.metrics_by_name.values())
        model_values = add_bootstrap_intervals(
            model_curves.table, metrics, comparison.interval_options, model_curves.sweep, model_values
        )
    error_column_by_name = {
        name: error_column for name, (error_column, _) in _list_error_columns(model_curves).items()
    }
    minimum_columns = [
        *CLASS_SIZE_COLUMNS.values(),
        *(model_curves.name("freedom") if model_curves.has_freedom else []),
    ]
    differences = _join_values(
        model_curves,
        model_values,
        list(error_column_by_name),
        [*error_column_by_name.values(), *minimum_columns],
    )
    differences = differences.with_columns(
        *(pl.min_horizontal(A + column, B + column).alias(column) for column in minimum_columns),
        *(
            (pl.col(A + error_column) ** 2 + pl.col(B + error_column) ** 2)
            .sqrt()
            .alias(f"{name}_standard_error")
            for name, error_column in error_column_by_name.items()
        ),
    )
    return _take_larger_errors(model_curves, differences)


def _subtract_paired(model_curves: _ModelCurves, model_values: pl.LazyFrame) -> pl.LazyFrame:
    """Return differences of models that scored the same examples, with errors from influences."""
    error_and_metric_by_name = _list_error_columns(model_curves)
    differences = _join_paired_values(model_curves, model_values, error_and_metric_by_name)
    error_exprs = {}
    for name, metric in model_curves.metrics_by_name.items():
        if not counts_unseen(metric):
            continue
        if model_curves.may_rank_alike:
            eta_variance = _find_eta_variance(model_curves, name)
            differences = ap_differences.add_logit_leads(differences, name, eta_variance)
        # The prevalence is one and the same, and moves both values.
        slope_a, slope_b = (pl.col(f"{side}{name}_{SLOPE}") for side in SIDES)
        eta_variance = (slope_a - slope_b) ** 2 * pl.col(EtaError.VARIANCE)
        for column in (f"{name}_standard_error", f"{name}_{CAUTIOUS}_standard_error"):
            error_exprs[column] = (pl.col(column) ** 2 + eta_variance).sqrt()
    if model_curves.table.sample.joins_rows:
        for name, (_, metric) in error_and_metric_by_name.items():
            null_freedom = {f"{name}_freedom": pl.lit(None, dtype=pl.Float64)}
            error_exprs |= null_freedom if metric.recipe.influence is None else find_freedom(name)
    return _take_larger_errors(model_curves, differences.with_columns(**error_exprs))


def _join_paired_values(
    model_curves: _ModelCurves,
    model_values: pl.LazyFrame,
    error_and_metric_by_name: Mapping[str, tuple[str, CurveMetric]],
) -> pl.LazyFrame:
    """Return differences with errors by chance alone, of themselves and of either model."""
    table, sample_kind = model_curves.table, model_curves.table.sample
    metrics_by_name = {name: metric for name, (_, metric) in error_and_metric_by_name.items()}
    sample_error_by_name = {
        name: analytic_intervals.find_standard_error(name, metric, sample_kind)
        for name, metric in metrics_by_name.items()
    }
    model_values = model_values.with_columns(
        error.alias(f"{name}_{SAMPLE_ERROR}") for name, error in sample_error_by_name.items()
    )
    model_columns = [
        *(error_column for error_column, _ in error_and_metric_by_name.values()),
        *(f"{name}_{SAMPLE_ERROR}" for name in error_and_metric_by_name),
        *(f"{name}_{SLOPE}" for name, metric in metrics_by_name.items() if counts_unseen(metric)),
    ]
    # Both models have the class sizes of their examples.
    size_columns = [
        *CLASS_SIZE_COLUMNS.values(),
        EtaError.VARIANCE,
        *(CLUSTER_COLUMNS if sample_kind.joins_rows else ()),
    ]
    differences = _join_values(
        model_curves,
        model_values,
        list(error_and_metric_by_name),
        model_columns,
        group_columns=size_columns,
    )
    example_rows = build_numbered_rows(table, model_curves.sweep.groups, as_integers=True)
    cells = share_out_examples(example_rows, table)
    differences = add_pair_variances(
        differences,
        cells,
        model_curves.curves,
        model_curves.populations,
        metrics_by_name,
        comparison=model_curves.comparison,
    )
    return differences.with_columns(
        error.alias(f"{name}_standard_error") for name, error in sample_error_by_name.items()
    )


def _find_eta_variance(model_curves: _ModelCurves, value_name: str) -> pl.Expr:
    """Return what the error of a counted or estimated eta adds to the variance of a gap of logits."""
    logit_a, logit_b = (to_logit(pl.col(side + value_name)) for side in SIDES)
    slope_a, slope_b = (
        pl.col(f"{side}{value_name}_{SLOPE}")
        / (pl.col(side + value_name) * (1 - pl.col(side + value_name)))
        for side in SIDES
    )
    variance = (slope_a - slope_b) ** 2 * pl.col(EtaError.VARIANCE)
    if value_name not in model_curves.moved_metrics_by_name:
        return variance
    gaps_at_ends = [
        to_logit(pl.col(f"{A}{value_name}_{end}")) - to_logit(pl.col(f"{B}{value_name}_{end}"))
        for end in ETA_ENDS
    ]
    farthest_move = pl.max_horizontal(measure_distances(logit_a - logit_b, gaps_at_ends))
    end_variance = (farthest_move * (1 / z_value(model_curves.comparison.interval_options.level))) ** 2
    return variance + pl.when(pl.col(ETA_LOW).is_null()).then(0.0).otherwise(end_variance)


def _subtract_replicates(model_curves: _ModelCurves, model_values: pl.LazyFrame) -> pl.LazyFrame:
    """Return differences of models that scored the same examples, with errors from replicates."""
    from polars_prcurve.core.uncertainty.bootstrap import Bootstrap

    bootstrap = Bootstrap(
        model_curves.table,
        list(model_curves.metrics_by_name.values()),
        model_curves.comparison.interval_options,
    )
    differences = _join_values(
        model_curves, model_values, list(model_curves.metrics_by_name), has_doubts=False
    )
    differences = add_bootstrap_errors(bootstrap, model_curves.sweep, model_values, differences)
    doubt_exprs: dict[str, pl.Expr] = {}
    for name, metric in model_curves.metrics_by_name.items():
        doubts_of_sides = [list_bootstrap_doubts(name, metric, side) for side in SIDES]
        pair_doubts = {
            reason: is_doubtful | doubts_of_sides[1][reason]
            for reason, is_doubtful in doubts_of_sides[0].items()
        }
        doubt_exprs[f"{name}_{DOUBT}"] = find_first_doubt(pair_doubts, pl.lit(True))
    return differences.with_columns(**doubt_exprs)


def _join_values(
    model_curves: _ModelCurves,
    model_values: pl.LazyFrame,
    value_names: Sequence[str],
    extra_columns: Sequence[str] = (),
    *,
    has_doubts: bool = True,
    group_columns: Sequence[str] = (),
) -> pl.LazyFrame:
    """Return one row per model pair and prevalence, with the difference of each value, and doubts."""
    # Of prevalences that are estimates, the metrics at both ends of their intervals come along.
    moved_metrics_by_name = model_curves.moved_metrics_by_name
    value_names = [
        *value_names,
        *(f"{name}_{end}" for name in moved_metrics_by_name for end in ETA_ENDS),
    ]
    metrics_by_name = model_curves.metrics_by_name if has_doubts else {}
    doubt_column_by_name = {name: f"{name}_{DOUBT}" for name in metrics_by_name}
    names_with_unseen = [name for name, metric in metrics_by_name.items() if counts_unseen(metric)]
    extended_names = [f"{name}{ending}" for name in names_with_unseen for ending in EXTENDED]
    model_columns = dict.fromkeys(
        [
            Row.MODEL,
            Group.NUMBER,
            Population.NUMBER,
            *value_names,
            *extra_columns,
            *extended_names,
            *doubt_column_by_name.values(),
        ]
    )
    key_dtypes = {**model_curves.table.group_columns, ETA_NUMBER: pl.UInt32()}
    shared_columns = [
        BASE_GROUP,
        "eta",
        Segment.ODDS,
        *model_curves.comparison.grid.carried_columns,
        *group_columns,
    ]
    differences = model_pairs.join_sides(model_values, key_dtypes, list(model_columns), shared_columns)
    return differences.with_columns(
        *model_pairs.name_models(is_wide=model_curves.comparison.pairing == "wide"),
        *((pl.col(A + name) - pl.col(B + name)).alias(f"{name}_difference") for name in value_names),
        *(
            model_pairs.join_doubts(doubt_column, name).alias(doubt_column)
            for name, doubt_column in doubt_column_by_name.items()
        ),
    )


def _take_larger_errors(model_curves: _ModelCurves, differences: pl.LazyFrame) -> pl.LazyFrame:
    """Add covariances, and make standard errors the larger one of themselves and the cautious one."""
    changed_exprs: dict[str, pl.Expr] = {}
    for name, metric in model_curves.metrics_by_name.items():
        error, covariance = pl.col(f"{name}_standard_error"), pl.lit(0.0)
        if counts_unseen(metric) and model_curves.comparison.pairing != "apart":
            sum_of_variances = sum((pl.col(f"{side}{name}_error") ** 2 for side in SIDES), pl.lit(0.0))
            covariance = (sum_of_variances - error * error) / 2
        if counts_unseen(metric):
            error = pl.max_horizontal(error, pl.col(f"{name}_{CAUTIOUS}_standard_error"))
        # Equal models have an error of 0. Rounding would leave a tiny one, and with it a p-value.
        larger_value = pl.max_horizontal(A + name, B + name)
        rounded_error = pl.when(error > _ROUNDING * larger_value).then(error).otherwise(error * 0)
        is_known = pl.col(f"{name}_difference").is_not_null()
        changed_exprs[f"{name}_standard_error"] = pl.when(is_known).then(rounded_error)
        changed_exprs[f"{name}_{COVARIANCE}"] = covariance
    return differences.with_columns(**changed_exprs)


# Errors of differences between models that scored the same examples ----------------------------

# What both models find easy or hard cancels out of the difference. The variance of that of a curve
# metric is that of differences of influences among the examples, and usually smaller than the sum of two
# variances. All negatives between two scores of positives have one influence, so there are fewer cells,
# examples of the same two influences, than examples where positives are rare.

_ROW_NUMBER = f"{RESERVED}row"  # the number of a row of a block of replicates
_CLASS_OF_KIND = {"pos": "pos", "neg": "neg", "gap": "neg"}
"""The kinds of influences of a PLACE, in their order, and the class of each."""
_INFLUENCE_NUMBER = f"{RESERVED}influence"  # number of an influence in its curve, by PLACE and by kind
_AMOUNT = f"{RESERVED}amount"  # what an example counts, or the examples of a cell
_SHARE = f"{RESERVED}share"  # of the examples of a class that a cell holds
_FIRST_GROUP, _LAST_GROUP = f"{RESERVED}first", f"{RESERVED}last"  # model of a group
_IS_POS = f"{RESERVED}is_pos"  # whether a cell holds positives
_POWERS_OF_ENDING = {
    False: {"pos": ("pos", 2), "neg": ("neg", 2)},
    True: {"of_clusters": ("pos", 2), "of_fourths": ("pos", 4)},
}
"""The sums of powers of differences that an error reads, of examples and of joined rows: by the ending
of its column the class of the scale that it is over, and the power."""


def share_out_examples(example_rows: pl.LazyFrame, table: ScoreTable) -> pl.LazyFrame:
    """Return one row per model pair and cell: examples of one class, with an influence in each model."""
    by, unit_columns = table.group_columns, table.sample.unit_columns
    amount = pl.col(Row.POS) + pl.col(Row.NEG)  # an example is of one class
    if table.has_squares and not unit_columns:
        amount = square_integer(amount, is_scaled=table.has_float_sums)
    kind_number = pl.when(pl.col(Row.POS) > 0).then(0).when(IS_TIED).then(1).otherwise(2)
    example_rows = add_places(example_rows).with_columns(
        amount.alias(_AMOUNT), _number_influence(kind_number)
    )
    example_dtypes = {**by, Row.EXAMPLE: example_rows.collect_schema()[Row.EXAMPLE]}
    # Model a comes before model b, so that a is not the last model of its group, and b not the first.
    end_exprs = {_FIRST_GROUP: pl.col(Group.NUMBER).min(), _LAST_GROUP: pl.col(Group.NUMBER).max()}
    example_rows = example_rows.with_columns(
        **{name: end_expr.over(*by) if by else end_expr for name, end_expr in end_exprs.items()}
    )
    sides_and_columns = ((A, (_AMOUNT, *unit_columns), _LAST_GROUP), (B, (), _FIRST_GROUP))
    rows_of_a, rows_of_b = (
        example_rows.filter(pl.col(Group.NUMBER) != pl.col(end_column)).select(
            *example_dtypes,
            *example_columns,
            *(pl.col(column).alias(side + column) for column in (Group.NUMBER, _INFLUENCE_NUMBER)),
        )
        for side, example_columns, end_column in sides_and_columns
    )
    # _SHARE is that of the class in the cell: of weights, of their squares. Where rows come in
    # clusters, a cell is of one cluster, and weights are not squared.
    example_pairs = join_groups(rows_of_a, rows_of_b, example_dtypes)
    example_pairs = example_pairs.filter(IS_ORDERED & (pl.col(_AMOUNT) > 0))
    model_columns, influence_columns = (
        [side + column for side in SIDES] for column in (Group.NUMBER, _INFLUENCE_NUMBER)
    )
    cell_key_columns = [*model_columns, *influence_columns, *unit_columns]
    cells = example_pairs.group_by(*cell_key_columns).agg(pl.col(_AMOUNT).sum())
    is_pos = pl.col(A + _INFLUENCE_NUMBER) % len(_CLASS_OF_KIND) == 0
    class_total = pl.col(_AMOUNT).sum().over(*model_columns, _IS_POS)
    return cells.with_columns(is_pos.alias(_IS_POS)).select(
        *cell_key_columns,
        _IS_POS,
        (pl.col(_AMOUNT).cast(pl.Float64) / class_total.cast(pl.Float64)).alias(_SHARE),
    )


def _number_influence(kind_number: pl.Expr) -> pl.Expr:
    """Return _INFLUENCE_NUMBER of a kind; narrow, since cells are grouped by two of them."""
    influence_number = pl.col(PLACE) * len(_CLASS_OF_KIND) + kind_number
    return influence_number.cast(pl.UInt32).alias(_INFLUENCE_NUMBER)


def add_pair_variances(
    differences: pl.LazyFrame,
    cells: pl.LazyFrame,
    curves: CurveSegments,
    populations: pl.LazyFrame,
    metrics_by_name: Mapping[str, CurveMetric],
    *,
    comparison: Comparison,
) -> pl.LazyFrame:
    """Add variances among examples, or sums over clusters, of differences of influences of `cells`."""
    table = comparison.table
    by, joins_rows = table.group_columns, table.sample.joins_rows
    for influence_table in build_influences(curves, populations, metrics_by_name, [ETA_NUMBER]):
        key_columns = [A + influence_table.key, B + Group.NUMBER]
        pair_totals = _sum_squared_gaps(cells, influence_table, key_columns, by, joins_rows=joins_rows)
        differences = differences.join(pair_totals, on=key_columns, how="left")
    return differences


def _sum_squared_gaps(
    cells: pl.LazyFrame,
    influence_table: InfluenceTable,
    key_columns: Sequence[str],
    by: Iterable[str],
    *,
    joins_rows: bool,
) -> pl.LazyFrame:
    """Return variances, or sums over clusters, by the key of model a and group of model b."""
    # Read for the scales and for the list, and Polars would compute it anew for each.
    influence_table = influence_table._replace(score_rows=influence_table.score_rows.cache())
    key_column, metric_names = influence_table.key, influence_table.names
    step_columns = [ETA_NUMBER] if key_column == Population.NUMBER else []
    influence_rows, scale_rows = _list_influences(
        influence_table, [*by, *step_columns], joins_rows=joins_rows
    )
    cell_pairs = cells
    # Model a brings a row for each prevalence; model b is joined at the same ones.
    for side, value_columns, shared_columns in (
        (A, [key_column, *metric_names], []),
        (B, metric_names, step_columns),
    ):
        side_columns = dict.fromkeys((Group.NUMBER, _INFLUENCE_NUMBER, *value_columns))
        side_rows = influence_rows.select(
            *step_columns, *(pl.col(name).alias(side + name) for name in side_columns)
        )
        place_columns = [side + name for name in (Group.NUMBER, _INFLUENCE_NUMBER)]
        cell_pairs = cell_pairs.join(side_rows, on=[*place_columns, *shared_columns])
    gap_exprs = {name: pl.col(A + name) - pl.col(B + name) for name in metric_names}
    share = pl.col(_SHARE)
    if joins_rows:  # the shares of both classes add up to 2
        term_and_scale_by_name = {name: (gap * share, pl.lit(2.0)) for name, gap in gap_exprs.items()}
        pair_totals = add_up_clusters(cell_pairs, key_columns, term_and_scale_by_name)
    else:
        square_exprs = {name: to_whole_shares(gap**2 * share) for name, gap in gap_exprs.items()}
        sum_exprs = {name: sum_shares(pl.col(name)) for name in metric_names}
        class_squares = cell_pairs.select(*key_columns, _IS_POS, **square_exprs)
        class_sums = class_squares.group_by(*key_columns, _IS_POS).agg(**sum_exprs)
        pair_totals = class_sums.group_by(key_columns).agg(
            pl.col(name).filter(is_member).sum().alias(f"{name}_{class_name}")
            for name in metric_names
            for class_name, is_member in (("pos", pl.col(_IS_POS)), ("neg", ~pl.col(_IS_POS)))
        )
    pair_totals = pair_totals.join(scale_rows, left_on=key_columns[0], right_on=key_column)
    total_exprs = (
        pl.col(f"{name}_{ending}") * pl.col(f"{name}_{class_name}_scale") ** power
        for name in metric_names
        for ending, (class_name, power) in _POWERS_OF_ENDING[joins_rows].items()
    )
    return pair_totals.select(*key_columns, *total_exprs)


def _list_influences(
    influence_table: InfluenceTable, scale_key_columns: Sequence[str], *, joins_rows: bool
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return one row per influence, with `<name>` over the scale of its class, and the scales by key."""
    scale_exprs, kind_exprs_of_name, key_column = {}, {}, influence_table.key
    for name in influence_table.names:
        # No difference between models exceeds the scale, a power of two, where these keys are equal.
        scale_column_by_class = {
            class_name: f"{name}_{class_name}_scale" for class_name in ("pos", "neg")
        }
        for scale_column in scale_column_by_class.values():
            scale = (
                pl.max_horizontal(*scale_column_by_class.values())
                if joins_rows
                else pl.col(scale_column)
            )
            largest_scale = scale.max().over(scale_key_columns) if scale_key_columns else scale.max()
            # Less their means, influences are at most twice as large, and differences four times.
            scale_exprs[scale_column] = 4 * largest_scale
        kind_exprs_of_name[name] = [
            pl.col(f"{name}_{kind}") / pl.col(scale_column_by_class[class_name])
            for kind, class_name in _CLASS_OF_KIND.items()
        ]
    scale_rows = (
        influence_table.score_rows.group_by(key_column, *scale_key_columns)
        .agg(pl.col(*scale_exprs).first())
        .select(key_column, **scale_exprs)
    )
    influence_rows = influence_table.score_rows.drop(*scale_exprs).join(scale_rows, on=key_column)
    influence_rows = repeat_rows(influence_rows, len(_CLASS_OF_KIND)).select(
        *dict.fromkeys((Group.NUMBER, key_column)),
        *((ETA_NUMBER,) if key_column == Population.NUMBER else ()),
        _number_influence(pl.col(Population.COPY)),
        *(
            pick_by_number(Population.COPY, kind_exprs, pl.lit(None)).alias(name)
            for name, kind_exprs in kind_exprs_of_name.items()
        ),
    )
    return influence_rows, scale_rows


# Errors from replicates -------------------------------------------------------------


def add_bootstrap_errors(
    bootstrap: Bootstrap, sweep: SweepTables, model_values: pl.LazyFrame, differences: pl.LazyFrame
) -> pl.LazyFrame:
    """Add the errors of differences, from replicates that all models share, and the class sizes."""

    def subtract_models(
        populations: pl.DataFrame, replicate_values: ReplicateValues
    ) -> tuple[dict[str, pl.Series], ReplicateValues]:
        """Return both numbers of each model pair in a block, and the differences of all values."""
        numbered_populations = populations.select(
            BASE_GROUP, ETA_NUMBER, Group.NUMBER, Population.NUMBER
        ).with_row_index(_ROW_NUMBER)
        model_pairs = numbered_populations.join(
            numbered_populations, on=[BASE_GROUP, ETA_NUMBER], suffix="_b"
        ).filter(pl.col(Group.NUMBER) < pl.col(f"{Group.NUMBER}_b"))
        row_numbers_of_a, row_numbers_of_b = (
            model_pairs[name].to_numpy() for name in (_ROW_NUMBER, f"{_ROW_NUMBER}_b")
        )
        key_series = {
            A + Population.NUMBER: model_pairs[Population.NUMBER],
            B + Population.NUMBER: model_pairs[f"{Population.NUMBER}_b"],
        }
        estimates, replicates, smaller_sizes = replicate_values
        gap_arrays = {
            "estimates": estimates[row_numbers_of_a] - estimates[row_numbers_of_b],
            "replicates": replicates[:, row_numbers_of_a] - replicates[:, row_numbers_of_b],
        }
        return key_series, replicate_values._replace(
            **gap_arrays, smaller_class_sizes=smaller_sizes[row_numbers_of_a]
        )

    _, error_rows, size_rows = bootstrap.measure(sweep, model_values, BASE_GROUP, subtract_models)
    differences = differences.join(
        error_rows, on=[side + Population.NUMBER for side in SIDES], how="left"
    )
    return differences.join(size_rows, on=BASE_GROUP, how="left")
