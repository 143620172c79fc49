"""The summary: curve metrics of each group at each prevalence, in one pass over one sweep.

sweep -> curves     segments of all groups
      -> values     one row per group and prevalence, metrics and their errors side by side
      -> summary    one row per group, prevalence and metric
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import NormalDist
from typing import cast

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.confidence.certainty import Intervals
from polars_prcurve.confidence.chance import ABOVE_CHANCE, measure_chance
from polars_prcurve.confidence.estimates import tell_doubts
from polars_prcurve.curves.curve_table import long_columns
from polars_prcurve.curves.segment_sums import (
    CurveSegments,
    build_binormal_curves,
    build_curves,
    number_metrics,
)
from polars_prcurve.inputs.score_table import (
    InputTable,
    RateTable,
    ScoreTable,
    counts_negatives,
    has_unlike_examples,
    is_clustered,
    is_field,
)
from polars_prcurve.metrics.areas import roc_auc
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.normal_distribution import normal_from_student
from polars_prcurve.prevalence.eta_table import EtaTable
from polars_prcurve.sweep.group_table import SweepTables, class_counts
from polars_prcurve.sweep.sweep_table import build_sweep, check_at_end, late_checks
from polars_prcurve.uncertainty.analytic import (
    RowKind,
    analytic_interval,
    bind_ends,
    bind_errors,
    build_helper_metrics,
    find_row_kind,
    list_bootstrap_doubts,
    list_influenced,
    measure_eta_variance,
    needs_cluster_rates,
)
from polars_prcurve.uncertainty.bootstrap import Bootstrap
from polars_prcurve.uncertainty.cluster_errors import (
    compute_cluster_variances,
    count_cluster_cells,
    grow_unseen_shares,
    join_cluster_sizes,
)
from polars_prcurve.uncertainty.eta_error import build_shared_errors, carry_eta_errors
from polars_prcurve.uncertainty.influence import CLASS_SIZE_COLUMNS, build_influences, compute_variances
from polars_prcurve.uncertainty.part_errors import (
    PartCells,
    carry_part_eta_errors,
    compute_part_variances,
    count_part_cells,
)
from polars_prcurve.uncertainty.unseen_examples import counts_unseen

_LIMIT_COLUMNS = ("low", "high")
_ERROR_COLUMNS = ("standard_error", "low", "high", ABOVE_CHANCE, "reliable", "why")
_FEW = 10
_AREA = f"{c.RESERVED}area_of_chance"
"""The ROC AUC of rows that do not count alike, which is 1/2 by chance."""


def list_summary_columns(*, errors: bool, coarse: bool = False) -> tuple[str, ...]:
    """Return the columns of a summary, after `by`, without those that an eta frame carries."""
    more = _ERROR_COLUMNS if errors else _LIMIT_COLUMNS if coarse else ()
    return ("eta", "n_pos", "n_neg", "metric", "value", *more)


def build_summary_table(
    table: InputTable,
    grid: EtaTable,
    metrics: Sequence[CurveMetric],
    *,
    certainty: Intervals | None = None,
    smooth: bool = False,
    coarse: bool = False,
) -> pl.LazyFrame:
    """Return `by`, eta, what the eta frame carries, and the rest of `list_summary_columns`.

    With `smooth`, the metrics are those of a binormal model that is fitted to each group. With `coarse`,
    the limits of the metrics come along.
    """
    analytic = certainty is not None and certainty.method == "analytic"
    for option, given in (("smooth=", smooth), ('method="bootstrap"', certainty and not analytic)):
        grid = grid.require_exact(option) if given else grid
    named = number_metrics(metrics)
    needed = named | _name_limits(named) if coarse else named
    read = [*needed.values(), *(_name_limits(_list_doubtful(table, named)).values() if analytic else ())]
    ends_only = certainty is None and not smooth and all(metric.recipe.ends_only for metric in read)
    clusters = analytic and needs_cluster_rates(table, metrics)
    sweep = build_sweep(table, effective=analytic, clusters=clusters, ends_only=ends_only)
    if analytic and is_field(table):  # the parts read it, too
        sweep = sweep._replace(rows=sweep.rows.cache())
    if smooth and isinstance(table, ScoreTable):
        curves = build_binormal_curves(table, sweep)
    else:
        # Influences also need the negatives below all positives, which only the last row tells.
        curves = build_curves(table, sweep, read, with_last=analytic)
    pairs = curves.build_pairs(grid)
    checks = late_checks(table, grid)
    if certainty is not None and analytic:
        values = _build_values_with_errors(
            table, sweep, curves, pairs, named, uncertain=grid.uncertain, confidence=certainty.level
        )
    else:
        values = curves.compute_values(pairs, needed)
    if certainty is not None:
        values = _add_chance(values, table, curves, certainty.level)
    values = check_at_end(table, values.sort(c.PAIR), *checks)
    if certainty is not None and not analytic:
        examples = cast("ScoreTable", table)  # rates with confidence= were refused earlier
        bootstrap = Bootstrap(examples, metrics, certainty)
        values = add_bootstrap_intervals(bootstrap, sweep, values)
    values = values.with_columns(*class_counts(table), pl.col("eta").fill_nan(None))
    eta, *columns = list_summary_columns(errors=certainty is not None, coarse=coarse)
    long = _to_row_per_metric(values, named, columns[columns.index("value") :])
    return long.select(*table.by, eta, *grid.carried, *columns)


def _add_chance(
    values: pl.LazyFrame, table: InputTable, curves: CurveSegments, confidence: float
) -> pl.LazyFrame:
    """Add ABOVE_CHANCE to the values of each pair; null in fields, and where no error is known."""
    is_tested = not is_field(table) and counts_negatives(table)
    if is_tested and not has_unlike_examples(table):
        found = measure_chance(curves.segments[False], curves.groups, curves.sizes, confidence)
        return values.join(found, on=c.GROUP, how="left")
    above = pl.lit(None, dtype=pl.Boolean)
    if is_tested and f"{_AREA}_low" in (columns := values.collect_schema().names()):
        # A few heavy rows, or clusters, may carry the error, and then it is hardly known.
        n = pl.min_horizontal(c.N_POS_EFFECTIVE, c.N_NEG_EFFECTIVE)
        freedom = pl.col(f"{_AREA}_freedom") if f"{_AREA}_freedom" in columns else n - 1
        deviation = (pl.col(_AREA) - 0.5) / pl.col(f"{_AREA}_standard_error")
        deviation = normal_from_student(deviation, freedom)
        # An area of 1 or 0 has no standard error.
        above = pl.coalesce(deviation >= NormalDist().inv_cdf(confidence), pl.col(f"{_AREA}_low") > 0.5)
        above = (above & (n >= _FEW)).fill_null(False)
        above = pl.when(pl.col(_AREA).is_not_null()).then(above)
    return values.with_columns(above.alias(ABOVE_CHANCE))


def _to_row_per_metric(
    values: pl.LazyFrame, named: Mapping[str, CurveMetric], kinds: Sequence[str]
) -> pl.LazyFrame:
    """Return one row per pair and metric, in order, with `metric` and a column for each of `kinds`."""
    long = values.join(pl.LazyFrame({c.COPY: range(len(named))}), how="cross").sort(c.PAIR, c.COPY)
    columns = {kind: [pl.col(_name_column(name, kind)) for name in named] for kind in kinds}
    return long.with_columns(long_columns(columns, [metric.name for metric in named.values()]))


def _name_column(name: str, kind: str) -> str:
    """Return the column of a metric, or of its group, that becomes the column `kind`."""
    return name if kind == "value" else kind if kind == ABOVE_CHANCE else f"{name}_{kind}"


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


def _doubt_gaps(
    values: pl.LazyFrame, curves: CurveSegments, pairs: pl.LazyFrame, doubtful: Mapping[str, CurveMetric]
) -> pl.LazyFrame:
    """Set `<name>_reliable` to false where the gaps between points matter more than the sample does.

    That is so where the least and the greatest value, over all that may lie between the points, are
    further apart than half of the interval.
    """
    ends = _LIMIT_COLUMNS
    if not doubtful:
        return values
    limits = curves.compute_values(pairs, _name_limits(doubtful))
    names = {f"{name}_{end}": f"{c.RESERVED}{name}_limit_{end}" for name in doubtful for end in ends}
    values = values.join(limits.select(c.PAIR, *names).rename(names), on=c.PAIR, how="left")
    columns = []
    for name in doubtful:
        gap = pl.col(names[f"{name}_high"]) - pl.col(names[f"{name}_low"])
        half = (pl.col(f"{name}_high") - pl.col(f"{name}_low")) / 2
        is_coarse = (gap > half).fill_null(False) & pl.col(f"{name}_reliable")
        columns += [
            (pl.col(f"{name}_reliable") & ~is_coarse),
            pl.when(is_coarse).then(pl.lit("few points")).otherwise(f"{name}_why").alias(f"{name}_why"),
        ]
    return values.with_columns(columns)


def _build_values_with_errors(
    table: InputTable,
    sweep: SweepTables,
    curves: CurveSegments,
    pairs: pl.LazyFrame,
    named: Mapping[str, CurveMetric],
    *,
    uncertain: bool,
    confidence: float,
) -> pl.LazyFrame:
    """Return the metrics at each pair with their errors, which carry that of an uncertain eta.

    Where rows do not count alike, _AREA is among them.
    """
    named = {**named, **({_AREA: roc_auc} if has_unlike_examples(table) else {})}
    build = partial(
        build_analytic_values,
        curves,
        confidence=confidence,
        rows=find_row_kind(table),
        cells=count_cluster_cells(table, sweep) if is_clustered(table) else None,
        parts=count_part_cells(table, sweep) if is_field(table) else None,
    )
    values = build(pairs, named)
    if is_field(table):
        return carry_part_eta_errors(values, pairs, named, table, sweep, confidence=confidence)
    if uncertain:
        has_reference = c.ETA_REFERENCE in pairs.collect_schema()
        values = carry_eta_errors(
            values,
            pairs,
            named,
            sizes=curves.sizes,
            build_values=build,
            confidence=confidence,
            shared=build_shared_errors(curves, pairs, named) if has_reference else None,
        )
    doubtful = _list_doubtful(table, named)
    return _doubt_gaps(values, curves, pairs, doubtful)


def build_analytic_values(
    curves: CurveSegments,
    pairs: pl.LazyFrame,
    named: Mapping[str, CurveMetric],
    *,
    confidence: float,
    rows: RowKind = "independent",
    cells: pl.LazyFrame | None = None,
    parts: PartCells | None = None,
) -> pl.LazyFrame:
    """Return the metrics at each pair, and `<name>_standard_error`, `_low`, `_high`, `_reliable`.

    `rows` are of the kind of `find_row_kind`. If they come in clusters, `cells` are those of
    `count_cluster_cells`. Of fields, `parts` are those of `count_part_cells`.
    """
    rows = rows if parts is None else "in parts"
    if cells is not None:
        pairs = join_cluster_sizes(pairs, cells)
    of_eta = measure_eta_variance(clustered=cells is not None) if parts is None else pl.lit(0.0)
    missed = pl.lit(0.0) if curves.has_unscored else pl.col("eta")
    pairs = pairs.with_columns(of_eta.alias(c.ETA_VARIANCE), missed.alias(c.MISSED_PRECISION))
    helpers = (build_helper_metrics(name, metric, rows=rows) for name, metric in named.items())
    needed = {**named, **{helper: of for found in helpers for helper, of in found.items()}}
    variances = []
    for influences in build_influences(curves, pairs, list_influenced(named)):
        if parts is not None:
            found = compute_part_variances(parts, influences)
        else:
            found = compute_variances(influences)
        if cells is not None:
            found = found.join(compute_cluster_variances(cells, influences), on=influences.key)
        variances.append((influences.key, found))
    extended = [name for name, metric in named.items() if counts_unseen(metric)]
    if cells is not None and extended:
        (of_pairs,) = (found for key, found in variances if key == c.PAIR)
        joined = pairs.join(of_pairs, on=c.PAIR, how="left")
        pairs = joined.with_columns(grow_unseen_shares(extended[0])).select(
            pairs.collect_schema().names()
        )
        curves = curves.read_from_pairs(c.UNSEEN_SHARE)
    values = curves.compute_values(pairs, needed)
    for key, found in variances:
        values = values.join(found, on=key, how="left")
    # Bound as columns first: Polars computes an expression again for each use, and uses multiply.
    for bind in (bind_errors, bind_ends):
        values = values.with_columns(
            expr.alias(column)
            for name, metric in named.items()
            for column, expr in bind(name, metric, confidence, rows=rows).items()
        )
    return values.with_columns(
        expr.alias(f"{name}_{kind}")
        for name, metric in named.items()
        for kind, expr in analytic_interval(name, metric, confidence, rows=rows)._asdict().items()
    )


def add_bootstrap_intervals(
    bootstrap: Bootstrap, sweep: SweepTables, values: pl.LazyFrame
) -> pl.LazyFrame:
    """Add `<name>_standard_error`, `_low`, `_high`, `_reliable` to the metrics, from replicates."""
    collected = bootstrap.collect_query(values)
    groups = collected[c.GROUP].unique().sort()
    samples = list(bootstrap.build_samples(sweep, [[group] for group in groups]))
    blocks = bootstrap.compute_blocks(samples, collected)
    errors = bootstrap.estimate_errors(({c.PAIR: block.pairs[c.PAIR]}, block.values) for block in blocks)
    size_schema = dict.fromkeys(CLASS_SIZE_COLUMNS.values(), pl.Float64)
    sizes = pl.DataFrame([sample.sizes for sample in samples], schema=size_schema, orient="row")
    values = collected.lazy().join(errors, on=c.PAIR, how="left").sort(c.PAIR)
    values = values.join(sizes.with_columns(groups).lazy(), on=c.GROUP, maintain_order="left")
    return values.with_columns(
        flag.alias(f"{name}_{kind}")
        for name, metric in number_metrics(bootstrap.metrics).items()
        for kind, flag in zip(
            ("reliable", "why"),
            tell_doubts(list_bootstrap_doubts(name, metric), pl.col(f"{name}_low").is_not_null()),
            strict=True,
        )
    )
