"""The summary: curve metrics of each group at each prevalence, in one pass over one sweep.

sweep -> curves     segments of all groups
      -> values     one row per group and prevalence, metrics and their errors side by side
      -> summary    one row per group, prevalence and metric
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import product
from statistics import NormalDist
from typing import cast

import polars as pl

from polars_prcurve.core.confidence.chance_test import ABOVE_CHANCE, measure_chance
from polars_prcurve.core.confidence.interval_inputs import EffectiveSize, EtaError
from polars_prcurve.core.confidence.intervals import Intervals, tell_doubts
from polars_prcurve.core.curves.curve_segments import (
    CurveSegments,
    build_binormal_curves,
    build_curves,
    number_metrics,
)
from polars_prcurve.core.curves.curve_table import long_columns
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.normal_distribution import normal_from_student
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs import input_tables as of_table
from polars_prcurve.core.inputs.input_columns import InputColumns
from polars_prcurve.core.inputs.input_tables import MANY, InputTable, RateTable, ScoreTable
from polars_prcurve.core.inputs.row_columns import Group
from polars_prcurve.core.inputs.sample_kinds import SampleKind
from polars_prcurve.core.inputs.table_reader import read_input
from polars_prcurve.core.metrics.areas import roc_auc
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.metrics.segment_columns import Unseen
from polars_prcurve.core.prevalence.eta_grid import (
    EtaTable,
    build_number_grid,
    check_result_columns,
    repeat_rows,
)
from polars_prcurve.core.prevalence.group_eta_columns import Pair
from polars_prcurve.core.sweep.grouped_rows import SweepTables, class_counts
from polars_prcurve.core.sweep.sweep_table import build_sweep, check_at_end, late_checks
from polars_prcurve.core.uncertainty import analytic, influence
from polars_prcurve.core.uncertainty.analytic import counts_unseen
from polars_prcurve.core.uncertainty.eta_error import (
    BuildValues,
    carry_eta_errors,
    carry_part_eta_errors,
)
from polars_prcurve.core.uncertainty.influence import build_influences, compute_variances

_LIMIT_COLUMNS = ("low", "high")  # what coarse=True adds
_ERROR_COLUMNS = ("standard_error", "low", "high", ABOVE_CHANCE, "reliable", "why")  # of intervals
_FEW = 10  # positives or negatives: with fewer an interval is unreliable
_AREA = f"{RESERVED}area_of_chance"
"""The ROC AUC of rows that do not count alike, which is 1/2 by chance."""


def _list_summary_columns(*, errors: bool, coarse: bool = False) -> tuple[str, ...]:
    """Return the columns of a summary, after `by`, without those that an eta frame carries."""
    interval_columns = _ERROR_COLUMNS if errors else _LIMIT_COLUMNS if coarse else ()
    return ("eta", "n_pos", "n_neg", "metric", "value", *interval_columns)


def build_summary_table(
    table: InputTable,
    grid: EtaTable,
    metrics: Sequence[CurveMetric],
    *,
    certainty: Intervals | None = None,
    smooth: bool = False,
    coarse: bool = False,
) -> pl.LazyFrame:
    """Return `by`, eta, what the eta frame carries, and the rest of `_list_summary_columns`."""
    by_formula = certainty is not None and certainty.method == "analytic"
    names = _list_summary_columns(errors=certainty is not None, coarse=coarse)
    check_result_columns(table, grid, names)
    for option, is_given in (("smooth=", smooth), ('method="bootstrap"', certainty and not by_formula)):
        grid = grid.require_exact(option) if is_given else grid
    named = number_metrics(metrics)
    needed_metrics = named | _name_limits(named) if coarse else named
    doubtful = _list_doubtful(table, named) if by_formula else {}
    metrics_read = [*needed_metrics.values(), *_name_limits(doubtful).values()]
    reads_ends = all(metric.recipe.ends_only for metric in metrics_read)
    ends_only = reads_ends and certainty is None and not smooth
    at_thresholds = by_formula and analytic.reads_rate_sizes(table, metrics)
    sweep = build_sweep(table, effective=by_formula, at_thresholds=at_thresholds, ends_only=ends_only)
    if by_formula and of_table.is_field(table):  # the parts read it, too
        sweep = sweep._replace(rows=sweep.rows.cache())
    if smooth and isinstance(table, ScoreTable):
        curves = build_binormal_curves(table, sweep)
    else:
        # Influences also need the negatives below all positives, which only the last row tells.
        curves = build_curves(table, sweep, metrics_read, with_last=by_formula)
    pairs, checks = curves.build_pairs(grid), late_checks(table, grid)
    if certainty is not None and by_formula:
        values = _build_values_with_errors(
            table, sweep, curves, pairs, named, confidence=certainty.level, uncertain=grid.uncertain
        )
    else:
        values = curves.compute_values(pairs, needed_metrics)
    if certainty is not None:
        values = _add_chance(values, table, curves, certainty.level)
    values = check_at_end(table, values.sort(Pair.NUMBER), *checks)
    if certainty is not None and not by_formula:  # rates with confidence= were refused earlier
        values = add_bootstrap_intervals(cast("ScoreTable", table), metrics, certainty, sweep, values)
    values = values.with_columns(*class_counts(table), pl.col("eta").fill_nan(None))
    columns = {kind: [pl.col(f"{name}_{kind}") for name in named] for kind in names[5:]}
    columns |= {"value": [pl.col(name) for name in named]}
    if certainty is not None:  # of the group
        columns[ABOVE_CHANCE] = [pl.col(ABOVE_CHANCE)] * len(named)
    long = repeat_rows(values, len(named)).sort(Pair.NUMBER, Pair.COPY)
    long = long.with_columns(long_columns(columns, [metric.name for metric in named.values()]))
    return long.select(*table.by, "eta", *grid.carried, *names[1:])


def _add_chance(
    values: pl.LazyFrame, table: InputTable, curves: CurveSegments, confidence: float
) -> pl.LazyFrame:
    """Add ABOVE_CHANCE to the values of each pair; null in fields, and where no error is known."""
    test = table.sample.chance_test if table.counts_negatives else None
    if test == "ranks":
        chances = measure_chance(curves.segments[False], curves.groups, curves.sizes, confidence)
        return values.join(chances, on=Group.NUMBER, how="left")
    above = pl.lit(None, dtype=pl.Boolean)
    if test == "area" and f"{_AREA}_low" in (columns := values.collect_schema().names()):
        # A few heavy rows, or clusters, may carry the error, and then it is hardly known.
        n = pl.min_horizontal(EffectiveSize.N_POS, EffectiveSize.N_NEG)
        freedom = pl.col(f"{_AREA}_freedom") if f"{_AREA}_freedom" in columns else n - 1
        deviation = (pl.col(_AREA) - 0.5) / pl.col(f"{_AREA}_standard_error")
        deviation = normal_from_student(deviation, freedom)
        # An area of 1 or 0 has no standard error.
        above = pl.coalesce(deviation >= NormalDist().inv_cdf(confidence), pl.col(f"{_AREA}_low") > 0.5)
        above = (above & (n >= _FEW)).fill_null(False)
        above = pl.when(pl.col(_AREA).is_not_null()).then(above)
    return values.with_columns(above.alias(ABOVE_CHANCE))


def _name_limits(named: Mapping[str, CurveMetric]) -> dict[str, CurveMetric]:
    """Return the limits of each metric, under its name with the end of their column."""
    return {
        f"{name}_{end}": limit
        for name, metric in named.items()
        for end, limit in zip(_LIMIT_COLUMNS, metric.build_limits(), strict=True)
    }


def _list_doubtful(table: InputTable, named: Mapping[str, CurveMetric]) -> dict[str, CurveMetric]:
    """Return the metrics of published points that depend on what lies between two points."""
    if not isinstance(table, RateTable):
        return {}
    return {name: metric for name, metric in named.items() if metric.recipe.limits is not None}


def _build_values_with_errors(
    table: InputTable,
    sweep: SweepTables,
    curves: CurveSegments,
    pairs: pl.LazyFrame,
    named: Mapping[str, CurveMetric],
    *,
    confidence: float,
    uncertain: bool,
) -> pl.LazyFrame:
    """Return the metrics, and _AREA if chance is tested by it, with errors that carry that of eta."""
    doubtful = _list_doubtful(table, named)
    named = {**named, **({_AREA: roc_auc} if table.sample.chance_test == "area" else {})}
    build = plan_values(table, sweep, curves, confidence)
    values = build(pairs, named)
    if of_table.is_field(table):
        at_pairs = values, pairs, named
        return carry_part_eta_errors(*at_pairs, table, sweep, confidence=confidence)
    if uncertain:
        of_curves = values, curves, pairs, named
        values = carry_eta_errors(*of_curves, build_values=build, confidence=confidence)
    if not doubtful:
        return values
    limits = curves.compute_values(pairs, _name_limits(doubtful))
    ends = product(doubtful, _LIMIT_COLUMNS)
    names = {f"{name}_{end}": f"{RESERVED}{name}_limit_{end}" for name, end in ends}
    values = values.join(limits.select(Pair.NUMBER, *names).rename(names), on=Pair.NUMBER, how="left")
    columns = []
    for name in doubtful:
        # The least and the greatest value, over all that may lie between the points, are further apart
        # than half of the interval: the gaps matter more than the sample does.
        gap = pl.col(names[f"{name}_high"]) - pl.col(names[f"{name}_low"])
        half = (pl.col(f"{name}_high") - pl.col(f"{name}_low")) / 2
        is_coarse = (gap > half).fill_null(False) & pl.col(f"{name}_reliable")
        columns += [
            (pl.col(f"{name}_reliable") & ~is_coarse),
            pl.when(is_coarse).then(pl.lit("few points")).otherwise(f"{name}_why").alias(f"{name}_why"),
        ]
    return values.with_columns(columns)


def plan_values(
    table: InputTable, sweep: SweepTables, curves: CurveSegments, confidence: float
) -> BuildValues:
    """Return a function from pairs and metrics to values with the columns of an `IntervalPlan`."""
    cells, parts = None, None
    if isinstance(table, ScoreTable) and table.sample.joins_rows:
        cells = influence.count_cluster_cells(table, sweep)
    if of_table.is_field(table):
        parts = influence.count_part_cells(table, sweep)
    return partial(
        _build_analytic_values,
        curves,
        confidence=confidence,
        sample=table.sample,
        cells=cells,
        parts=parts,
    )


def _build_analytic_values(
    curves: CurveSegments,
    pairs: pl.LazyFrame,
    named: Mapping[str, CurveMetric],
    *,
    confidence: float,
    sample: SampleKind,
    cells: pl.LazyFrame | None,
    parts: influence.PartCells | None,
) -> pl.LazyFrame:
    """Return the metrics at each pair with errors, of clusters by `cells`, of fields by `parts`."""
    # A prevalence that was counted in the table is as uncertain as both class sizes, and its error is
    # not correlated with those of recall and fpr: given the class sizes, either rate has the same mean.
    # One that was said is exact.
    if parts is not None:
        of_eta = pl.lit(0.0)
    else:
        of_eta = pl.col(EtaError.VARIANCE if cells is None else influence.CLUSTER_ETA_VARIANCE)
        of_eta = pl.when(EtaError.IS_OWN).then(of_eta).otherwise(0.0).fill_null(0.0)
    if cells is not None:
        pairs = influence.join_cluster_sizes(pairs, cells)
    missed = pl.lit(0.0) if curves.has_unscored else pl.col("eta")
    pairs = pairs.with_columns(of_eta.alias(EtaError.VARIANCE), missed.alias(Unseen.MISSED_PRECISION))
    variances = {}
    for influences in build_influences(curves, pairs, analytic.list_influenced(named)):
        if parts is None:
            key_variances = compute_variances(influences)
        else:
            key_variances = influence.compute_part_variances(parts, influences)
        if cells is not None:
            of_clusters = influence.compute_cluster_variances(cells, influences)
            key_variances = key_variances.join(of_clusters, on=influences.key)
        variances[influences.key] = key_variances
    extended = [name for name, metric in named.items() if counts_unseen(metric)]
    if cells is not None and extended:
        columns = pairs.collect_schema().names()
        pairs = pairs.join(variances[Pair.NUMBER], on=Pair.NUMBER, how="left")
        pairs = pairs.with_columns(influence.grow_unseen_shares(extended[0])).select(columns)
        curves = curves.read_from_pairs(Unseen.SHARE)
    plans = [analytic.plan_interval(name, metric, confidence, sample) for name, metric in named.items()]
    helpers = {name: helper for plan in plans for name, helper in plan.helpers.items()}
    values = curves.compute_values(pairs, {**named, **helpers})
    for key, key_variances in variances.items():
        values = values.join(key_variances, on=key, how="left")
    # Early steps first. The last ones of all metrics stand in one step.
    for number in (-3, -2, -1):
        steps = [plan.steps[number] for plan in plans if len(plan.steps) >= -number]
        values = values.with_columns(
            **{name: expression for step in steps for name, expression in step.items()}
        )
    return values


def add_bootstrap_intervals(
    table: ScoreTable,
    metrics: Sequence[CurveMetric],
    certainty: Intervals,
    sweep: SweepTables,
    values: pl.LazyFrame,
) -> pl.LazyFrame:
    """Add `<name>_standard_error`, `_low`, `_high`, `_reliable` to the metrics, from replicates."""
    from polars_prcurve.core.uncertainty.bootstrap import Bootstrap

    collected, errors, sizes = Bootstrap(table, metrics, certainty).measure(
        sweep,
        values,
        key=Group.NUMBER,
        reader=lambda pairs, values: ({Pair.NUMBER: pairs[Pair.NUMBER]}, values),
    )
    values = collected.lazy().join(errors, on=Pair.NUMBER, how="left").sort(Pair.NUMBER)
    values = values.join(sizes, on=Group.NUMBER, maintain_order="left")
    flags: dict[str, pl.Expr] = {}
    for name, metric in number_metrics(metrics).items():
        doubts = analytic.list_bootstrap_doubts(name, metric)
        reliability = tell_doubts(doubts, pl.col(f"{name}_low").is_not_null())
        flags[f"{name}_reliable"], flags[f"{name}_why"] = reliability
    return values.with_columns(**flags)


# Negatives that are not counted -------------------------------------------------------------------

# Which metrics need the number of negatives, and which follow from the rows that have a score, is found
# by trial: of a table with more negatives below all scores, precision and average precision stay, and
# specificity and ROC AUC change. So it is known of a user's own metric, too.

# Scores with labels, of which none is missing.
_SCORED = pl.DataFrame({"score": [9, 8, 7, 6, 5, 4, 3, 2], "label": [1, 0, 1, 1, 0, 0, 1, 0]})
_BELOW = (0, 50, MANY)  # numbers of negatives below all of them: none, some, and very many
_CELLS = pl.DataFrame(  # no lone number, which Polars would repeat in a query: none may run at import
    {"tp": [7.0] * 3, "fn": [3.0] * 3, "fp": [2.0] * 3, "tn": [float(n) for n in _BELOW]}
)


def check_negatives(metrics: Iterable[CurveMetric | PointMetric]) -> None:
    """Raise for a metric that needs the number of negatives, which is not known."""
    if refused := list(filter(needs_negatives, metrics)):
        raise PrcError(
            f"negatives are not counted, and {refused[0].name} needs their number; pass both numbers as "
            "below=, or metrics of what was found, such as precision, recall, f1 and average_precision"
        )


@lru_cache(maxsize=1000)
def needs_negatives(metric: CurveMetric | PointMetric) -> bool:
    """Return whether the value of a metric changes with the number of negatives below all scores."""
    if isinstance(metric, PointMetric):  # at equal alerts, among more and more negatives
        tp, fn, fp, tn = map(pl.col, _CELLS.columns)
        recall, fpr, eta = tp / (tp + fn), fp / (fp + tn), (tp + fn) / (tp + fn + fp + tn)
        value = metric.from_counts([tp, fn, fp, tn], (pl.lit(1.0), pl.lit(1.0)), (recall, fpr), eta)
        values = _CELLS.select(value=value)["value"].to_list()
    else:
        values = []
        for n_neg in _BELOW:
            table = read_input(_SCORED, InputColumns(below=(2, n_neg)), may_collect=True)
            summary = build_summary_table(table, build_number_grid([None], table), [metric])
            values.append(table.collect(summary, metric.name)["value"].item())
    if None in values:  # undefined with any number, as at a recall that is not found, it needs none
        return any(value is not None for value in values)
    return any(not math.isclose(values[0], x, rel_tol=1e-9) for x in values[1:])
