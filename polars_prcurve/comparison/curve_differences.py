"""Differences of curve metrics between the models of a group.

sweep of each model -> values        as in a summary
model pairs         -> differences   of values
                    -> errors        of examples that both models scored (paired_errors), or of a
                                     sample for each model, where both errors add up in quadrature; that
                                     of a prevalence which is an estimate adds up, too
                    -> verdicts      limits, p-values, and whether the sign is certain
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.comparison.comparison import Comparison, list_compare_columns
from polars_prcurve.comparison.model_checks import check_models
from polars_prcurve.comparison.model_pairs import (
    BASE_GROUP,
    ETA_NUMBER,
    SIDES,
    A,
    B,
    join_models,
    name_models,
    number_pairs,
)
from polars_prcurve.comparison.paired_errors import add_bootstrap_errors, add_pair_variances, count_cells
from polars_prcurve.comparison.verdicts import (
    LEAST_SIZE,
    P_VALUE,
    Level,
    add_flags,
    add_limits,
    has_cautious_value,
)
from polars_prcurve.confidence.bands import combine_distances, measure_distances
from polars_prcurve.confidence.rates import z_value
from polars_prcurve.curves.curve_table import long_columns
from polars_prcurve.curves.segment_sums import CurveSegments, build_curves, number_metrics
from polars_prcurve.inputs.score_table import ScoreTable
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.prevalence.eta_table import find_shared_eta
from polars_prcurve.sweep.group_table import SweepTables, build_numbered_rows
from polars_prcurve.sweep.sweep_table import build_sweep
from polars_prcurve.uncertainty.analytic import (
    build_helper_metrics,
    find_row_kind,
    find_standard_error,
    is_reliable_analytic,
    is_reliable_bootstrap,
    needs_cluster_rates,
)
from polars_prcurve.uncertainty.bootstrap import Bootstrap
from polars_prcurve.uncertainty.cluster_errors import (
    CLUSTER_COLUMNS,
    STUDENT_FREEDOM,
    count_cluster_cells,
    join_cluster_sizes,
    join_negatives_at_once,
)
from polars_prcurve.uncertainty.eta_error import ETA_ENDS, add_values_at_ends
from polars_prcurve.uncertainty.influence import CLASS_SIZE_COLUMNS
from polars_prcurve.uncertainty.summary_table import add_bootstrap_intervals, build_analytic_values

_PLAIN = "_plain_cautious"
_ROUNDING = 1e-11  # standard errors up to this share of the value are rounding


class _Models(NamedTuple):
    """The curves of all models, and the metrics by which they are compared."""

    of: Comparison
    table: ScoreTable
    sweep: SweepTables
    curves: CurveSegments
    pairs: pl.LazyFrame
    """One row per model and prevalence."""
    named: dict[str, CurveMetric]
    """The metrics by the names of their columns."""
    moved: dict[str, CurveMetric]
    """The metrics whose errors carry that of a prevalence, if it has one."""
    clustered: bool
    """Whether errors are from influences that are added up by cluster."""

    @property
    def metrics_with_errors(self) -> dict[str, CurveMetric]:
        """The metrics, and their cautious values, by name."""
        return self.named | {f"{n}_cautious": m for n, m in self.cautious.items()}

    @property
    def cautious(self) -> dict[str, CurveMetric]:
        """The cautious values of metrics that have one, by the name of the metric."""
        return {
            name: metric.recipe.helpers["cautious"]
            for name, metric in self.named.items()
            if has_cautious_value(metric)
        }

    @property
    def names_at_eta_ends(self) -> list[str]:
        """The columns of the metrics at both ends of prevalences that are estimates, if they are."""
        return [f"{name}_{end}" for name in self.moved for end in ETA_ENDS]

    def name(self, kind: str) -> list[str]:
        """Return the columns of one kind of all metrics."""
        return [f"{name}_{kind}" for name in self.named]


def subtract_curve_metrics(comparison: Comparison) -> pl.LazyFrame:
    """Return the rows of a comparison of curve metrics, with P_VALUE and more columns."""
    models = _build_models(comparison)
    analytic = comparison.certainty.method == "analytic"
    values = _compute_values(models)
    if comparison.examples == "apart":
        differences = _subtract_apart(models, values)
    else:
        subtract = _subtract_paired if analytic else _subtract_replicates
        differences = subtract(models, values)
    level = Level(
        comparison.certainty.level,
        comparison.adjust,
        [BASE_GROUP, ETA_NUMBER],
        pl.col(STUDENT_FREEDOM) if models.clustered else None,
    )
    if comparison.examples == "apart" or analytic:
        if models.moved:
            differences = _carry_eta_errors(differences, models.moved, level.confidence)
        differences = add_limits(differences, models.named, level)
    least = pl.min_horizontal(CLASS_SIZE_COLUMNS.values()).alias(LEAST_SIZE)
    differences = add_flags(differences.with_columns(least), models.named, level)
    # One row per metric
    long = differences.join(pl.LazyFrame({c.COPY: range(len(models.named))}), how="cross")
    long = long.sort(BASE_GROUP, ETA_NUMBER, c.COPY, *(side + c.GROUP for side in SIDES))
    kinds = set(list_compare_columns(comparison.adjust)) - {"eta", "metric", "model_a", "model_b"}
    columns = {kind: [pl.col(name) for name in models.name(kind)] for kind in (*kinds, P_VALUE)}
    long = long.with_columns(long_columns(columns, [metric.name for metric in models.named.values()]))
    return long.with_columns(pl.col("eta").fill_nan(None))


def _build_models(comparison: Comparison) -> _Models:
    """Return the curves of all models; the sizes of their classes are those that errors read."""
    table = cast("ScoreTable", comparison.table)  # points have a target
    metrics = cast("Sequence[CurveMetric]", comparison.metrics)
    analytic, apart = comparison.certainty.method == "analytic", comparison.examples == "apart"
    named = number_metrics(metrics)
    if not analytic:
        named = {name: metric.change_recipe(helpers={}) for name, metric in named.items()}
    clusters = apart and analytic and needs_cluster_rates(table, metrics)
    sweep = build_sweep(table, effective=analytic, clusters=clusters)
    curves = build_curves(table, sweep, metrics, with_last=analytic)
    pairs = number_pairs(curves.build_pairs(comparison.grid), table.group_columns)
    clustered = analytic and comparison.has_clusters
    if clustered and not apart:
        cells = count_cluster_cells(table, sweep)
        pairs = join_cluster_sizes(pairs, cells)
        pairs = join_negatives_at_once(pairs, cells, [BASE_GROUP, ETA_NUMBER])
    moved = {
        name: metric
        for name, metric in named.items()
        if comparison.grid.uncertain and metric.depends_on_eta and metric.recipe.influence is not None
    }
    return _Models(comparison, table, sweep, curves, pairs, named, moved, clustered)


def _compute_values(models: _Models) -> pl.LazyFrame:
    """Return the metrics of each model, with errors if the models have a sample each; checked."""
    comparison, table, sweep, curves, pairs, named, moved, clustered = models
    grid, apart = comparison.grid, comparison.examples == "apart"
    if apart and comparison.certainty.method == "analytic":
        values = build_analytic_values(
            curves,
            pairs,
            models.metrics_with_errors,
            confidence=comparison.certainty.level,
            rows=find_row_kind(table),
            cells=count_cluster_cells(table, sweep) if clustered else None,
        )
    else:
        of_clusters = curves.read_from_pairs(c.N_NEG_LOCAL) if clustered else curves
        values = of_clusters.compute_values(pairs, _add_helpers(named))
        if clustered:
            # Cautious values of rows that stand for themselves, which flags read. Those of clusters
            # decide about differences: see `cluster_errors`.
            plain = {f"{name}{_PLAIN}": metric for name, metric in models.cautious.items()}
            of_flags = curves.compute_values(pairs, plain)
            values = values.join(of_flags.select(c.PAIR, *plain), on=c.PAIR, how="left")
            curves = of_clusters
    if grid.uncertain:
        values = add_values_at_ends(
            values, pairs, moved, [""], sizes=curves.sizes, build_values=curves.compute_values
        )
    values = check_models(
        table,
        sweep,
        pairs,
        values,
        grid,
        count_examples=comparison.examples == "by id",
        needs_pairs=comparison.needs_pairs,
    )
    return values if grid.shared else values.with_columns(find_shared_eta([BASE_GROUP]))


def _add_helpers(named: Mapping[str, CurveMetric]) -> dict[str, CurveMetric]:
    """Return the metrics, and those that their errors and flags are computed from, by name."""
    measured = dict(named)
    for name, metric in named.items():
        if metric.recipe.influence is not None:
            measured |= build_helper_metrics(name, metric)
    return measured


def _carry_eta_errors(
    differences: pl.LazyFrame, moved: Mapping[str, CurveMetric], confidence: float
) -> pl.LazyFrame:
    """Add the error of prevalences that are estimates to standard errors, in quadrature.

    It is how far the difference moves to the farther one of both ends of eta, over the quantile of its
    interval: the prevalence is one and the same for both models.
    """
    z, changed = z_value(confidence), {}
    for name in moved:
        error, middle = pl.col(f"{name}_standard_error"), pl.col(f"{name}_difference")
        at_ends = [pl.col(f"{name}_{end}_difference") for end in ETA_ENDS]
        farthest = pl.max_horizontal(measure_distances(middle, at_ends)) * (1 / z)
        both = pl.when(error.is_not_null()).then(combine_distances([error, farthest]))
        changed[f"{name}_standard_error"] = (
            pl.when(pl.col(c.ETA_LOW).is_null()).then(error).otherwise(both)
        )
    return differences.with_columns(**changed)


def _subtract_apart(models: _Models, values: pl.LazyFrame) -> pl.LazyFrame:
    """Return differences of models that have a sample each; both errors add up in quadrature."""
    comparison = models.of
    if comparison.certainty.method != "analytic":
        bootstrap = Bootstrap(models.table, list(models.named.values()), comparison.certainty)
        values = add_bootstrap_intervals(bootstrap, models.sweep, values)
    names = list(models.metrics_with_errors)
    errors = [f"{name}_standard_error" for name in names]
    smaller = [*CLASS_SIZE_COLUMNS.values(), *([STUDENT_FREEDOM] if models.clustered else [])]
    differences = _join_values(models, values, names, [*errors, *smaller]).with_columns(
        *(pl.min_horizontal(A + name, B + name).alias(name) for name in smaller),
        *((pl.col(A + name) ** 2 + pl.col(B + name) ** 2).sqrt().alias(name) for name in errors),
    )
    return _take_larger_errors(models, differences)


def _subtract_paired(models: _Models, values: pl.LazyFrame) -> pl.LazyFrame:
    """Return differences of models that scored the same examples, with errors from influences."""
    table, named, clustered = models.table, models.named, models.clustered

    def read(column: str) -> pl.Expr:
        kind = "_cautious"
        of_flag = clustered and column.endswith(kind)
        return pl.col(column.removesuffix(kind) + _PLAIN if of_flag else column)

    # Without influences there is no error, and then no flag.
    values = values.with_columns(
        (
            pl.lit(None, dtype=pl.Boolean)
            if metric.recipe.influence is None
            else is_reliable_analytic(name, metric, read)
        ).alias(f"{name}_reliable")
        for name, metric in named.items()
    )
    sizes = [*CLASS_SIZE_COLUMNS.values(), c.N_POS_LEAST, c.N_NEG_LEAST]  # the same in both models
    sizes += CLUSTER_COLUMNS if clustered else ()
    differences = _join_values(models, values, list(_add_helpers(named)), of_group=sizes)
    differences = add_pair_variances(
        differences,
        count_cells(build_numbered_rows(table, models.sweep.groups, whole=True), table),
        models.curves.read_from_pairs(c.N_NEG_LOCAL) if clustered else models.curves,
        models.pairs,
        models.metrics_with_errors,
        by=table.group_columns,
        etas_per_group=models.of.grid.etas_per_group,
        clustered=clustered,
    )
    errors = {
        f"{name}_standard_error": find_standard_error(name, metric, clustered=clustered)
        for name, metric in models.metrics_with_errors.items()
    }
    return _take_larger_errors(models, differences.with_columns(**errors))


def _subtract_replicates(models: _Models, values: pl.LazyFrame) -> pl.LazyFrame:
    """Return differences of models that scored the same examples, with errors from replicates."""
    bootstrap = Bootstrap(models.table, list(models.named.values()), models.of.certainty)
    differences = _join_values(models, values, list(models.named), flags=[])
    differences = add_bootstrap_errors(bootstrap, models.sweep, values, differences)
    return differences.with_columns(
        (
            is_reliable_bootstrap(name, metric, lambda column: pl.col(A + column))
            & is_reliable_bootstrap(name, metric, lambda column: pl.col(B + column))
        ).alias(f"{name}_reliable")
        for name, metric in models.named.items()
    )


def _join_values(
    models: _Models,
    values: pl.LazyFrame,
    names: Sequence[str],
    also: Sequence[str] = (),
    *,
    flags: Sequence[str] | None = None,
    of_group: Sequence[str] = (),
) -> pl.LazyFrame:
    """Return one row per model pair, prevalence and group, with `<name>_difference` of `names`.

    Columns of either model, among them `also`, begin with A or B. `flags`, those of reliable intervals
    if left out, are true where both are. Those `of_group` are the same in both models.
    """
    names = [*names, *models.names_at_eta_ends]
    flags = models.name("reliable") if flags is None else flags
    carried = ["eta", c.ODDS, *models.of.grid.carried, *of_group]
    joined = join_models(
        values,
        models.table.group_columns,
        [c.PAIR, *names, *also, *flags],
        carried,
        {ETA_NUMBER: pl.UInt32()},
    )
    return joined.with_columns(
        *name_models(wide=models.of.examples == "wide"),
        *((pl.col(A + name) - pl.col(B + name)).alias(f"{name}_difference") for name in names),
        *((pl.col(A + name) & pl.col(B + name)).alias(name) for name in flags),
    )


def _take_larger_errors(models: _Models, differences: pl.LazyFrame) -> pl.LazyFrame:
    """Make each standard error the larger one of itself and that of its cautious value.

    It is null where the difference is, and 0 where it is nothing but rounding.
    """
    changed = {}
    for name in models.named:
        error = pl.col(f"{name}_standard_error")
        if name in models.cautious:
            cautious = pl.col(f"{name}_cautious_standard_error")
            both = error.is_not_null() & cautious.is_not_null()
            error = pl.when(both).then(pl.max_horizontal(error, cautious))
        # Equal models have an error of 0. Rounding would leave a tiny one, and with it a p-value.
        largest = pl.max_horizontal(A + name, B + name)
        exact = pl.when(error > _ROUNDING * largest).then(error).otherwise(error * 0)
        known = pl.col(f"{name}_difference").is_not_null()
        changed[f"{name}_standard_error"] = pl.when(known).then(exact)
    return differences.with_columns(**changed)
