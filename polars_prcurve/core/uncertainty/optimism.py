"""Optimism: how much the greatest value of a metric is too good, because it was looked for.

The threshold of the best value suits the sample at hand, its chance included. Where it is used later,
the metric is lower. In each bootstrap replicate the best threshold is found anew, and the value there
is compared with that of the same threshold in the sample. The mean of these differences is the
optimism, and the value less its optimism is the corrected one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from polars_prcurve.core.confidence.interval_input_columns import TargetRow
from polars_prcurve.core.confidence.interval_options import Intervals
from polars_prcurve.core.curves.operating_points import build_populations_of_points
from polars_prcurve.core.curves.targets import TARGET_NUMBER, Target
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.progress import show_share
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.metrics.curve_metrics_at_one_threshold import best
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.eta_table import EtaTable, check_result_columns
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.sweep_column_names import SWEEP_COLUMNS
from polars_prcurve.core.sweep.sweep_table import build_sweep, check_at_end, late_checks
from polars_prcurve.core.uncertainty.bootstrap import (
    Bootstrap,
    DrawnCounts,
    Sample,
    split_replicates,
    warn_of_dropped,
)

_N_ARRAYS = 16
"""Arrays of all cells and replicates that a metric takes: fewer replicates at once keep them small."""


def build_optimism_table(
    table: ResolvedTable,
    grid: EtaTable,
    targets: Sequence[Target],
    metrics: Sequence[PointMetric],
    interval_options: Intervals,
) -> pl.LazyFrame:
    """Return TargetRow.IS_MAXIMIZED and the OPTIMISM of each metric, by NUMBER and TARGET_NUMBER."""
    metric_by_target_number = {
        target_number: target.maximized
        for target_number, target in enumerate(targets)
        if target.maximized is not None
    }
    if not metric_by_target_number:
        raise PrcError(
            'pass maximize=, or leave method= out: method="bootstrap" corrects what was maximized'
        )
    grid = grid.require_exact('method="bootstrap"')
    check_result_columns(table, grid, ["eta", *SWEEP_COLUMNS])  # before anything is drawn
    score_table = cast("ScoreTable", table.require_example_counts())
    bootstrap = Bootstrap(
        score_table, [best(metric) for metric in metric_by_target_number.values()], interval_options
    )
    sweep = build_sweep(table)
    populations = build_populations_of_points(sweep.groups, grid, table)
    populations = check_at_end(table, populations.sort(Population.NUMBER), *late_checks(table, grid))
    collected_populations = bootstrap.collect_query(
        populations.select(Group.NUMBER, Population.NUMBER, "eta")
    )
    group_numbers = collected_populations[Group.NUMBER].unique().sort()
    samples = list(bootstrap.build_samples(sweep, [[group_number] for group_number in group_numbers]))
    optimism_rows = _measure_samples(
        samples, collected_populations, metric_by_target_number, metrics, interval_options
    )
    optimism_columns = [f"{TargetRow.OPTIMISM}{metric_number}" for metric_number in range(len(metrics))]
    dtypes: dict[str, Any] = {
        Population.NUMBER: collected_populations.schema[Population.NUMBER],
        TARGET_NUMBER: pl.Int64,
    }
    optimism_frame = pl.LazyFrame(
        optimism_rows, dtypes | dict.fromkeys(optimism_columns, pl.Float64), orient="row"
    )
    return optimism_frame.with_columns(
        pl.lit(True).alias(TargetRow.IS_MAXIMIZED), pl.col(optimism_columns).fill_nan(None)
    )


def _measure_samples(
    samples: Sequence[Sample],
    populations: pl.DataFrame,
    metric_by_target_number: Mapping[int, PointMetric],
    metrics: Sequence[PointMetric],
    interval_options: Intervals,
) -> list[list[float]]:
    """Return numbers of populations and targets, and the optimism of each metric; NaN if unknown."""
    n_replicates, optimism_rows, n_dropped = interval_options.resamples, [], 0
    # The seeds of `summary`, so that replicates of best(metric) are the same.
    seeds = np.random.SeedSequence(interval_options.seed).spawn(len(samples))
    populations_of_samples = populations.partition_by(Group.NUMBER, maintain_order=True)
    n_cells = n_replicates * sum(sum(sample.n_cells_of_curves) for sample in samples)
    with show_share("bootstrap", n_cells) as advance:
        for sample, seed, sample_populations in zip(samples, seeds, populations_of_samples, strict=True):
            etas = sample_populations["eta"].to_list()
            generators = list(map(np.random.default_rng, seed.spawn(2)))
            gap_blocks, sample_rates = [], find_rates(sample.counts)
            for n_drawn in split_replicates(n_replicates, _N_ARRAYS * sum(sample.n_cells_of_curves)):
                drawn_rates = find_rates(sample.draw(generators, n_drawn))
                block_gaps = [
                    compare_with_sample(drawn_rates, sample_rates, eta, metric, metrics)
                    for eta, metric in product(etas, metric_by_target_number.values())
                ]
                gap_blocks.append(block_gaps)
                advance(n_drawn * sum(sample.n_cells_of_curves))
            gaps = np.concatenate(gap_blocks, axis=1)  # axes: population and target, replicate, metric
            is_undefined = np.isnan(gaps)
            n_defined = (~is_undefined).sum(axis=1)
            with np.errstate(invalid="ignore"):
                mean_gaps = np.where(is_undefined, 0, gaps).sum(axis=1) / n_defined
            if min(sample.sizes) < 2 - 1e-9:  # one example does not show how much examples differ
                mean_gaps[:] = np.nan
            n_undefined = (n_replicates - n_defined)[~np.isnan(mean_gaps)]
            n_dropped = max(n_dropped, int(n_undefined.max(initial=0)))
            population_and_target_numbers = product(
                sample_populations[Population.NUMBER], metric_by_target_number
            )
            optimism_rows += [
                [*number_pair, *gap_list]
                for number_pair, gap_list in zip(
                    population_and_target_numbers, mean_gaps.tolist(), strict=True
                )
            ]
    warn_of_dropped(n_dropped, n_replicates)
    return optimism_rows


def find_rates(counts: DrawnCounts) -> DrawnCounts:
    """Return recall and fpr by row of each replicate, from the positives and negatives by row."""
    with np.errstate(all="ignore"):
        running_sums = [amounts.cumsum(axis=1, dtype=float) for amounts in counts]
        recall, fpr = (amounts / amounts[:, -1:] for amounts in running_sums)
    return recall, fpr


def compare_with_sample(
    drawn_rates: DrawnCounts,
    sample_rates: DrawnCounts,
    eta: float | None,
    maximized_metric: PointMetric,
    metrics: Sequence[PointMetric],
) -> NDArray[np.float64]:
    """Return each metric at the best row of each replicate, less its value at that row of the sample."""

    def evaluate(metric: PointMetric, tpr: Any, fpr: Any) -> NDArray[np.float64]:
        prevalence = metric.choose_eta(np.nan if eta is None else eta)  # undefined in an empty group
        return np.asarray(metric.from_rates(tpr, fpr, np.float64(prevalence)))

    sign = 1.0 if maximized_metric.higher_is_better() else -1.0
    with np.errstate(all="ignore"):
        values = sign * evaluate(maximized_metric, *drawn_rates)
        best_rows = np.where(np.isnan(values), -np.inf, values).argmax(axis=1)
        replicate_numbers = np.arange(len(values))
        best_points = [rate[replicate_numbers, best_rows] for rate in drawn_rates]
        sample_points = [rate[0, best_rows] for rate in sample_rates]
        gaps = [evaluate(metric, *best_points) - evaluate(metric, *sample_points) for metric in metrics]
    gap_array = np.stack(gaps, axis=1)
    gap_array[np.isnan(values).all(axis=1)] = np.nan
    return gap_array
