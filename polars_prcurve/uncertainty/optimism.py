"""Optimism: by how much the greatest value of a metric is too good, because it was looked for.

The threshold of the best value suits the sample at hand, its chance included. Where it is used later,
the metric is lower. In each bootstrap replicate the best threshold is found anew, and the value there
is compared with that of the same threshold in the sample. The mean of these differences is the optimism,
and the value less its optimism is the corrected one.

Source: Harrell et al. 1996.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from polars_prcurve import column_names as c
from polars_prcurve.confidence.intervals import Intervals
from polars_prcurve.curves.operating_points import build_points_pairs
from polars_prcurve.curves.targets import TARGET_NUMBER, Target
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.score_and_rate_tables import InputTable, ScoreTable
from polars_prcurve.metrics.best_and_integrated import best
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.prevalence.eta_argument import EtaTable
from polars_prcurve.progress import show_share
from polars_prcurve.sweep.sweep_table import build_sweep, check_at_end, late_checks
from polars_prcurve.uncertainty import bootstrap
from polars_prcurve.uncertainty.bootstrap import Bootstrap, DrawnCounts, Sample

_ARRAYS = 16
"""Arrays of all cells and replicates that a metric takes: fewer replicates at once keep them small."""


def build_optimism_table(
    table: InputTable,
    grid: EtaTable,
    targets: Sequence[Target],
    metrics: Sequence[PointMetric],
    certainty: Intervals,
) -> pl.LazyFrame:
    """Return IS_MAXIMIZED and the OPTIMISM of each metric, by PAIR and TARGET_NUMBER."""
    maximized = {
        number: target.maximized for number, target in enumerate(targets) if target.maximized is not None
    }
    if not maximized:
        raise PrcError(
            'method="bootstrap" corrects what was maximized; pass maximize=, or leave method= out'
        )
    grid = grid.require_exact('method="bootstrap"')
    scores = cast("ScoreTable", table.require_example_counts())
    replicates = Bootstrap(scores, [best(m) for m in maximized.values()], certainty)
    sweep = build_sweep(table)
    pairs = build_points_pairs(sweep.groups, grid, table)
    pairs = check_at_end(table, pairs.sort(c.PAIR), *late_checks(table, grid))
    found = replicates.collect_query(pairs.select(c.GROUP, c.PAIR, "eta"))
    groups = found[c.GROUP].unique().sort()
    samples = list(replicates.build_samples(sweep, [[group] for group in groups]))
    rows = _measure_samples(samples, found, maximized, metrics, certainty)
    names = [f"{c.OPTIMISM}{number}" for number in range(len(metrics))]
    schema: dict[str, Any] = {c.PAIR: found.schema[c.PAIR], TARGET_NUMBER: pl.Int64}
    every = pl.LazyFrame(rows, schema | dict.fromkeys(names, pl.Float64), orient="row")
    return every.with_columns(pl.lit(True).alias(c.IS_MAXIMIZED), pl.col(names).fill_nan(None))


def _measure_samples(
    samples: Sequence[Sample],
    pairs: pl.DataFrame,
    maximized: Mapping[int, PointMetric],
    metrics: Sequence[PointMetric],
    certainty: Intervals,
) -> list[list[float]]:
    """Return rows of PAIR, number of a target, and optimism of each metric; NaN if unknown."""
    n, rows, n_dropped = certainty.resamples, [], 0
    # The seeds of `summary`, so that replicates of best(metric) are the same.
    seeds = np.random.SeedSequence(certainty.seed).spawn(len(samples))
    parts = pairs.partition_by(c.GROUP, maintain_order=True)
    with show_share("bootstrap", n * sum(sum(sample.lengths) for sample in samples)) as advance:
        for sample, seed, part in zip(samples, seeds, parts, strict=True):
            etas, streams = part["eta"].to_list(), list(map(np.random.default_rng, seed.spawn(2)))
            differences, of_sample = [], find_rates(sample.counts)
            for size in bootstrap.split_replicates(n, _ARRAYS * sum(sample.lengths)):
                drawn = find_rates(sample.draw(streams, size))
                asked = product(etas, maximized.values())
                found = [compare_with_sample(drawn, of_sample, *of, metrics) for of in asked]
                differences.append(found)
                advance(size * sum(sample.lengths))
            every = np.concatenate(differences, axis=1)  # axes: pair and target, replicate, metric
            undefined = np.isnan(every)
            known = (~undefined).sum(axis=1)
            with np.errstate(invalid="ignore"):
                means = np.where(undefined, 0, every).sum(axis=1) / known
            if min(sample.sizes) < 2 - 1e-9:  # one example does not tell how much examples differ
                means[:] = np.nan
            n_dropped = max(n_dropped, int((n - known)[~np.isnan(means)].max(initial=0)))
            keys = [[pair, number] for pair in part[c.PAIR] for number in maximized]
            rows += [[*key, *mean] for key, mean in zip(keys, means.tolist(), strict=True)]
    bootstrap.warn_of_dropped(n_dropped, n)
    return rows


def find_rates(counts: DrawnCounts) -> DrawnCounts:
    """Return recall and fpr by row of each replicate, from the positives and negatives by row."""
    with np.errstate(all="ignore"):
        sums = [side.cumsum(axis=1, dtype=float) for side in counts]
        recall, fpr = (side / side[:, -1:] for side in sums)
    return recall, fpr


def compare_with_sample(
    drawn: DrawnCounts,
    of_sample: DrawnCounts,
    eta: float | None,
    maximized: PointMetric,
    metrics: Sequence[PointMetric],
) -> NDArray[np.float64]:
    """Return each metric at the best row of each replicate, less its value at that row of the sample."""

    def evaluate(metric: PointMetric, tpr: Any, fpr: Any) -> NDArray[np.float64]:
        at = metric.choose_eta(np.nan if eta is None else eta)  # undefined in an empty group
        return np.asarray(metric.from_rates(tpr, fpr, np.float64(at)))

    sign = 1.0 if maximized.higher_is_better() else -1.0
    with np.errstate(all="ignore"):
        values = sign * evaluate(maximized, *drawn)
        best_row = np.where(np.isnan(values), -np.inf, values).argmax(axis=1)
        replicate = np.arange(len(values))
        there = [rate[replicate, best_row] for rate in drawn]
        here = [rate[0, best_row] for rate in of_sample]
        found = [evaluate(metric, *there) - evaluate(metric, *here) for metric in metrics]
    differences = np.stack(found, axis=1)
    differences[np.isnan(values).all(axis=1)] = np.nan
    return differences
