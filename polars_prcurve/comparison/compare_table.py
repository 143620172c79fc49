"""Comparison: differences of curve metrics between the models of a group.

sweep of each model -> values        as in a summary
model pairs         -> differences   of values
                    -> errors        of examples that both models scored (paired_errors), or of a
                                     sample for each model, where both errors add up in quadrature; that
                                     of a prevalence which is an estimate adds up, too
                    -> verdicts      limits, p-values, and whether the sign is certain
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.comparison.model_checks import check_models
from polars_prcurve.comparison.model_pairs import (
    BASE_GROUP,
    ETA_NUMBER,
    SIDES,
    join_models,
    name_models,
    number_pairs,
    read_side,
    side_name,
)
from polars_prcurve.comparison.paired_errors import add_bootstrap_errors, add_pair_variances, count_cells
from polars_prcurve.comparison.verdicts import (
    LEAST_SIZE,
    P_VALUE,
    Adjust,
    Level,
    add_flags,
    add_limits,
    has_cautious_value,
)
from polars_prcurve.confidence.bands import combine_distances, measure_distances
from polars_prcurve.confidence.rates import z_value
from polars_prcurve.curves.curve_table import long_columns
from polars_prcurve.curves.segment_sums import CurveSegments, build_curves, number_metrics
from polars_prcurve.inputs.score_table import ScoreTable, is_clustered
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.prevalence.eta_table import EtaTable, find_shared_eta
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
from polars_prcurve.uncertainty.options import UncertaintyOptions
from polars_prcurve.uncertainty.summary_table import add_bootstrap_intervals, build_analytic_values

COMPARE_COLUMNS = (
    "eta",
    "metric",
    "model_a",
    "model_b",
    "difference",
    "standard_error",
    "low",
    "high",
    "p_value",
    "reliable",
    "resolved",
)

_PLAIN = "_plain_cautious"
_ROUNDING = 1e-11  # standard errors up to this share of the value are rounding

Examples: TypeAlias = Literal["wide", "by id", "apart"]
"""Which examples the models of a group share: those of a wide table, where each row is one; those of one
`id`; or none, because each model has a sample of its own."""


def list_compare_columns(adjust: Adjust) -> tuple[str, ...]:
    """Return the columns of a comparison, after `by`, without those that an eta frame carries."""
    after = COMPARE_COLUMNS.index("p_value") + 1
    adjusted = [] if adjust is None else ["p_adjusted"]
    return (*COMPARE_COLUMNS[:after], *adjusted, *COMPARE_COLUMNS[after:])


class Comparison(NamedTuple):
    """A table of several models per `by` group, and what to compare them by."""

    table: ScoreTable
    grid: EtaTable
    metrics: Sequence[CurveMetric]
    uncertainty: UncertaintyOptions
    examples: Examples
    adjust: Adjust = None
    """How levels are adjusted for several pairs of models."""
    needs_pairs: bool = True
    """Whether a table in which no group has two models is refused."""

    @property
    def analytic(self) -> bool:
        """Whether errors are from influences; otherwise they are from the bootstrap."""
        return self.uncertainty.method == "analytic"

    @property
    def adds_up_clusters(self) -> bool:
        """Whether errors are from influences that are added up by cluster."""
        return self.analytic and is_clustered(self.table)

    @property
    def metrics_by_column(self) -> dict[str, CurveMetric]:
        """The metrics by the names of their columns, with what their errors are computed from."""
        named = number_metrics(self.metrics)
        if self.analytic:
            return named
        return {name: metric.change_recipe(helpers={}) for name, metric in named.items()}

    @property
    def metrics_moved_by_eta(self) -> dict[str, CurveMetric]:
        """The metrics whose errors carry that of a prevalence, by name."""
        return {
            name: metric
            for name, metric in self.metrics_by_column.items()
            if metric.depends_on_eta and metric.recipe.influence is not None
        }

    @property
    def names_at_eta_ends(self) -> list[str]:
        """The columns of the metrics at both ends of prevalences that are estimates, if they are."""
        if not self.grid.uncertain:
            return []
        return [f"{name}_{end}" for name in self.metrics_moved_by_eta for end in ETA_ENDS]

    @property
    def metrics_with_errors(self) -> dict[str, CurveMetric]:
        """The metrics, and their cautious values, by name."""
        helpers = {
            f"{name}_cautious": metric.recipe.helpers["cautious"]
            for name, metric in self.metrics_by_column.items()
            if has_cautious_value(metric)
        }
        return self.metrics_by_column | helpers

    @property
    def all_metrics(self) -> dict[str, CurveMetric]:
        """The metrics, and those that their errors and flags are computed from, by name."""
        measured = self.metrics_by_column
        for name, metric in self.metrics_by_column.items():
            if metric.recipe.influence is not None:
                measured |= build_helper_metrics(name, metric)
        return measured


def build_compare_table(comparison: Comparison) -> pl.LazyFrame:
    """Return `by` without MODEL, eta, what the eta frame carries, its columns, and P_VALUE."""
    table, grid, named = comparison.table, comparison.grid, comparison.metrics_by_column
    apart, analytic = comparison.examples == "apart", comparison.analytic
    clusters = apart and analytic and needs_cluster_rates(table, comparison.metrics)
    sweep = build_sweep(table, effective=analytic, clusters=clusters)
    curves = build_curves(table, sweep, comparison.metrics, with_last=analytic)
    pairs = number_pairs(curves.build_pairs(grid), table.group_columns)
    if comparison.adds_up_clusters and not apart:
        cells = count_cluster_cells(table, sweep)
        pairs = join_cluster_sizes(pairs, cells)
        pairs = join_negatives_at_once(pairs, cells, [BASE_GROUP, ETA_NUMBER])
        of_flags = _compute_values_of_flags(comparison, curves, pairs)
        curves = curves.read_from_pairs(c.N_NEG_LOCAL)
        values = _compute_values(comparison, sweep, curves, pairs).join(of_flags, on=c.PAIR, how="left")
    else:
        values = _compute_values(comparison, sweep, curves, pairs)
    values = _add_values_at_eta_ends(comparison, curves, pairs, values)
    values = check_models(
        table,
        sweep,
        pairs,
        values,
        grid,
        count_examples=comparison.examples == "by id",
        needs_pairs=comparison.needs_pairs,
    )
    values = values if grid.shared else values.with_columns(find_shared_eta([BASE_GROUP]))
    if apart:
        differences = _subtract_apart(comparison, sweep, values)
    elif analytic:
        differences = _subtract_paired(comparison, sweep, curves, pairs, values)
    else:
        differences = _subtract_replicates(comparison, sweep, values)
    freedom = pl.col(STUDENT_FREEDOM) if comparison.adds_up_clusters else None
    level = Level(
        comparison.uncertainty.confidence, comparison.adjust, [BASE_GROUP, ETA_NUMBER], freedom
    )
    if apart or analytic:
        differences = add_limits(_carry_eta_errors(comparison, differences), named, level)
    least = pl.min_horizontal(CLASS_SIZE_COLUMNS.values()).alias(LEAST_SIZE)
    return _to_rows(comparison, add_flags(differences.with_columns(least), named, level))


def _compute_values(
    comparison: Comparison, sweep: SweepTables, curves: CurveSegments, pairs: pl.LazyFrame
) -> pl.LazyFrame:
    """Return the metrics of each model, with errors if the models have a sample each."""
    table, etas_per_group = comparison.table, comparison.grid.etas_per_group
    if comparison.examples != "apart" or not comparison.analytic:
        return curves.compute_values(pairs, comparison.all_metrics, etas_per_group=etas_per_group)
    return build_analytic_values(
        curves,
        pairs,
        comparison.metrics_with_errors,
        etas_per_group=etas_per_group,
        confidence=comparison.uncertainty.confidence,
        rows=find_row_kind(table),
        cells=count_cluster_cells(table, sweep) if comparison.adds_up_clusters else None,
    )


def _add_values_at_eta_ends(
    comparison: Comparison, curves: CurveSegments, pairs: pl.LazyFrame, values: pl.LazyFrame
) -> pl.LazyFrame:
    """Add the metrics of each model at both ends of prevalences, if these are estimates."""
    if not comparison.grid.uncertain:
        return values
    build = partial(curves.compute_values, etas_per_group=comparison.grid.etas_per_group)
    moved = comparison.metrics_moved_by_eta
    return add_values_at_ends(values, pairs, moved, [""], sizes=curves.sizes, build_values=build)


def _carry_eta_errors(comparison: Comparison, differences: pl.LazyFrame) -> pl.LazyFrame:
    """Add the error of prevalences that are estimates to standard errors, in quadrature.

    It is how far the difference moves to the farther one of both ends of eta, over the quantile of its
    interval: the prevalence is one and the same for both models.
    """
    if not comparison.grid.uncertain:
        return differences
    z, changed = z_value(comparison.uncertainty.confidence), {}
    for name in comparison.metrics_moved_by_eta:
        error, middle = pl.col(f"{name}_standard_error"), pl.col(f"{name}_difference")
        at_ends = [pl.col(f"{name}_{end}_difference") for end in ETA_ENDS]
        farthest = pl.max_horizontal(measure_distances(middle, at_ends)) * (1 / z)
        both = pl.when(error.is_not_null()).then(combine_distances([error, farthest]))
        changed[f"{name}_standard_error"] = (
            pl.when(pl.col(c.ETA_LOW).is_null()).then(error).otherwise(both)
        )
    return differences.with_columns(**changed)


def _compute_values_of_flags(
    comparison: Comparison, curves: CurveSegments, pairs: pl.LazyFrame
) -> pl.LazyFrame:
    """Return by PAIR the cautious values of rows that stand for themselves, which flags read.

    Those of clusters decide about differences: see `cluster_errors`.
    """
    plain = {
        f"{name}{_PLAIN}": metric.recipe.helpers["cautious"]
        for name, metric in comparison.metrics_by_column.items()
        if has_cautious_value(metric)
    }
    etas_per_group = comparison.grid.etas_per_group
    return curves.compute_values(pairs, plain, etas_per_group=etas_per_group).select(c.PAIR, *plain)


def _subtract_apart(comparison: Comparison, sweep: SweepTables, values: pl.LazyFrame) -> pl.LazyFrame:
    """Return differences of models that have a sample each; both errors add up in quadrature."""
    if not comparison.analytic:
        bootstrap = Bootstrap(comparison.table, comparison.metrics, comparison.uncertainty)
        values = add_bootstrap_intervals(bootstrap, sweep, values)
    names = list(comparison.metrics_with_errors)
    errors = [f"{name}_standard_error" for name in names]
    reliable = [f"{name}_reliable" for name in comparison.metrics_by_column]
    smaller = [*CLASS_SIZE_COLUMNS.values()]
    smaller += [STUDENT_FREEDOM] if comparison.adds_up_clusters else []
    differences = _join_values(
        comparison,
        values,
        [*names, *comparison.names_at_eta_ends],
        [*errors, *reliable, *smaller],
    )
    differences = differences.with_columns(
        pl.min_horizontal(read_side(side, name) for side in SIDES).alias(name) for name in smaller
    )
    differences = differences.with_columns(
        (read_side("a", error) ** 2 + read_side("b", error) ** 2).sqrt().alias(error) for error in errors
    )
    return _take_larger_errors(comparison, differences)


def _subtract_paired(
    comparison: Comparison,
    sweep: SweepTables,
    curves: CurveSegments,
    pairs: pl.LazyFrame,
    values: pl.LazyFrame,
) -> pl.LazyFrame:
    """Return differences of models that scored the same examples, with errors from influences."""
    table, measured = comparison.table, comparison.all_metrics

    def read(column: str) -> pl.Expr:
        kind = "_cautious"
        of_flag = comparison.adds_up_clusters and column.endswith(kind)
        return pl.col(column.removesuffix(kind) + _PLAIN if of_flag else column)

    # Without influences there is no error, and then no flag.
    values = values.with_columns(
        (
            pl.lit(None, dtype=pl.Boolean)
            if metric.recipe.influence is None
            else is_reliable_analytic(name, metric, read)
        ).alias(f"{name}_reliable")
        for name, metric in comparison.metrics_by_column.items()
    )
    reliable = [f"{name}_reliable" for name in comparison.metrics_by_column]
    sizes = [*CLASS_SIZE_COLUMNS.values(), c.N_POS_LEAST, c.N_NEG_LEAST]  # the same in both models
    sizes += CLUSTER_COLUMNS if comparison.adds_up_clusters else ()
    names = [*measured, *comparison.names_at_eta_ends]
    differences = _join_values(comparison, values, names, reliable, of_group=sizes)
    rows = build_numbered_rows(table, sweep.groups, whole=True)
    with_errors = comparison.metrics_with_errors
    differences = add_pair_variances(
        differences,
        count_cells(rows, table),
        curves,
        pairs,
        with_errors,
        by=table.group_columns,
        etas_per_group=comparison.grid.etas_per_group,
        clustered=comparison.adds_up_clusters,
    )
    differences = differences.with_columns(
        find_standard_error(name, metric, clustered=comparison.adds_up_clusters).alias(
            f"{name}_standard_error"
        )
        for name, metric in with_errors.items()
    )
    return _take_larger_errors(comparison, differences)


def _subtract_replicates(
    comparison: Comparison, sweep: SweepTables, values: pl.LazyFrame
) -> pl.LazyFrame:
    """Return differences of models that scored the same examples, with errors from replicates."""
    bootstrap = Bootstrap(comparison.table, comparison.metrics, comparison.uncertainty)
    differences = _join_values(comparison, values, list(comparison.metrics_by_column), [])
    differences = add_bootstrap_errors(bootstrap, sweep, values, differences)
    return differences.with_columns(
        pl.all_horizontal(
            is_reliable_bootstrap(name, metric, partial(read_side, side)) for side in SIDES
        ).alias(f"{name}_reliable")
        for name, metric in comparison.metrics_by_column.items()
    )


def _join_values(
    comparison: Comparison,
    values: pl.LazyFrame,
    names: Sequence[str],
    also: Sequence[str],
    *,
    of_group: Sequence[str] = (),
) -> pl.LazyFrame:
    """Return one row per model pair, prevalence and group, with `<name>_difference` of `names`.

    Columns of either model, among them `also`, are called by `side_name`. Those `of_group` are the same
    in both models.
    """
    carried = ["eta", c.ODDS, *comparison.grid.carried, *of_group]
    joined = join_models(values, comparison.table.group_columns, [*names, *also], carried)
    flags = [name for name in also if name.endswith("_reliable")]
    return joined.with_columns(
        *name_models(wide=comparison.examples == "wide"),
        *((read_side("a", name) - read_side("b", name)).alias(f"{name}_difference") for name in names),
        *((read_side("a", name) & read_side("b", name)).alias(name) for name in flags),
    )


def _take_larger_errors(comparison: Comparison, differences: pl.LazyFrame) -> pl.LazyFrame:
    """Make each standard error the larger one of itself and that of its cautious value.

    It is null where the difference is, and 0 where it is nothing but rounding.
    """
    changed = {}
    for name, metric in comparison.metrics_by_column.items():
        error = pl.col(f"{name}_standard_error")
        if has_cautious_value(metric):
            cautious = pl.col(f"{name}_cautious_standard_error")
            both = error.is_not_null() & cautious.is_not_null()
            error = pl.when(both).then(pl.max_horizontal(error, cautious))
        # Equal models have an error of 0. Rounding would leave a tiny one, and with it a p-value.
        largest = pl.max_horizontal(read_side(side, name) for side in SIDES)
        exact = pl.when(error > _ROUNDING * largest).then(error).otherwise(error * 0)
        known = pl.col(f"{name}_difference").is_not_null()
        changed[f"{name}_standard_error"] = pl.when(known).then(exact)
    return differences.with_columns(**changed)


def _to_rows(comparison: Comparison, differences: pl.LazyFrame) -> pl.LazyFrame:
    """Return one row per group, prevalence, metric and model pair, with the columns of the result."""
    named = comparison.metrics_by_column
    long = differences.join(pl.LazyFrame({c.COPY: range(len(named))}), how="cross")
    long = long.sort(BASE_GROUP, ETA_NUMBER, c.COPY, *(side_name(c.GROUP, side) for side in SIDES))
    eta, _, *others = (*list_compare_columns(comparison.adjust), P_VALUE)
    kinds = {
        kind: [pl.col(f"{name}_{kind}") for name in named]
        for kind in others
        if kind not in ("model_a", "model_b")
    }
    long = long.with_columns(long_columns(kinds, [metric.name for metric in comparison.metrics]))
    return long.with_columns(pl.col(eta).fill_nan(None)).select(
        *comparison.table.group_columns, eta, *comparison.grid.carried, "metric", *others
    )
