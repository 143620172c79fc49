"""The bootstrap: errors of curve metrics, from their values in many replicates of the samples.

Errors are the standard deviation and the bias-corrected percentiles over the replicates. Polars draws no
random counts, so draws are NumPy arrays: the positives and negatives in each cell of each replicate.
Replicates times cells can exceed the memory: small samples are computed together in a block, and a large
one in several runs over its replicates.

Sources: Efron 1981; Efron and Tibshirani 1993, chapter 14; Davison and Hinkley 1997; Hesterberg 2015;
Harrell et al. 1996 for optimism.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from statistics import NormalDist
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from polars_prcurve.core.confidence.interval_options import Intervals
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.curves.curve_metric_values import CurveSegments, number_metrics
from polars_prcurve.core.curves.curve_segments import add_extents, build_hulls
from polars_prcurve.core.curves.metric_and_band_columns import build_metric_rows
from polars_prcurve.core.ground.errors import warn_caller
from polars_prcurve.core.ground.progress import show_share
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.inputs.sample_kinds import SampleKind
from polars_prcurve.core.metrics.curve_metric import CurveFacts, CurveMetric
from polars_prcurve.core.metrics.curve_metrics_at_one_threshold import find_none_as_zero
from polars_prcurve.core.metrics.segment_column_names import Segment
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.rows_with_group_numbers import build_numbered_rows
from polars_prcurve.core.sweep.sweep_column_names import Sweep
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables
from polars_prcurve.core.sweep.sweep_table import drop_inner_negatives
from polars_prcurve.core.uncertainty.influence import CLASS_SIZE_COLUMNS

# Numbers of a curve among those of a block, of a replicate, and of a sample.
_CURVE_NUMBER, _REPLICATE_NUMBER, _SAMPLE_NUMBER = (
    f"{RESERVED}{name}" for name in ("curve", "replicate", "sample")
)
_MAX_CELLS = 2_000_000  # cells times replicates that are in memory at once


class ReplicateValues(NamedTuple):
    """Estimates and their replicates, by row and metric; undefined is NaN."""

    estimates: NDArray[np.float64]
    replicates: NDArray[np.float64]  # axes: replicate, row, metric
    smaller_class_sizes: NDArray[np.float64]  # the number of examples in the smaller class, by row


class Bootstrap(NamedTuple):
    """A table to draw from, the metrics to compute, and the number of replicates."""

    table: ScoreTable
    metrics: Sequence[CurveMetric]
    interval_options: Intervals

    def collect_query(self, query: pl.LazyFrame) -> pl.DataFrame:
        """Run a query half way; raise for a LazyFrame."""
        return self.table.collect(query, 'method="bootstrap"')

    def build_samples(
        self, sweep: SweepTables, groups_of_samples: Sequence[Sequence[int]]
    ) -> Iterator[Sample]:
        """Yield one sample per item of `groups_of_samples`: the groups that are the sample's curves."""
        # By cell, or by unit if rows have weights, clusters or a part in several curves.
        sample_kind = self.table.sample
        is_by_unit = (
            self.table.is_weighted or sample_kind.joins_rows or Row.EXAMPLE in self.table.columns
        )
        sum_columns = (Sweep.CUM_POS, Sweep.CUM_NEG)
        if is_by_unit:
            rows = self.collect_query(build_numbered_rows(self.table, sweep.groups))
            # Sorted by all that distinguishes rows, a seed draws equal samples whatever the order of
            # rows.
            sort_columns = [Group.NUMBER, Row.SCORE, Row.POS, Row.NEG]
            rows = rows.sort(sort_columns, descending=[False, True, True, True], maintain_order=True)
        else:
            needs_inner_rows = any(metric.recipe.needs == "all" for metric in self.metrics)
            sweep_rows = sweep.rows if needs_inner_rows else drop_inner_negatives(sweep.rows)
            # Running sums go on from group to group, so differences to the row before are right.
            cell_rows = sweep_rows.select(
                Group.NUMBER,
                *(pl.col(column) - pl.col(column).shift(1, fill_value=0) for column in sum_columns),
            )
            rows = self.collect_query(cell_rows.cast(dict.fromkeys(sum_columns, pl.Int64)))
        # Rows and samples stand by rising Group.NUMBER; a sample may have no rows.
        last_group_numbers = [group_numbers[-1] for group_numbers in groups_of_samples]
        row_ends = np.searchsorted(rows[Group.NUMBER].to_numpy(), last_group_numbers, side="right")
        row_ranges = pairwise([0, *row_ends.tolist()])
        for (row_start, row_end), group_numbers in zip(row_ranges, groups_of_samples, strict=True):
            sample_rows = rows[row_start:row_end]
            if is_by_unit:
                yield Sample.read_units(sample_rows, group_numbers, sample_kind)
            else:
                yield Sample.read_cells(*(sample_rows[name].to_numpy() for name in sum_columns))

    def measure(
        self,
        sweep: SweepTables,
        population_values: pl.LazyFrame,
        key_column: str,
        read_block: Callable[
            [pl.DataFrame, ReplicateValues], tuple[dict[str, pl.Series], ReplicateValues]
        ],
    ) -> tuple[pl.DataFrame, pl.LazyFrame, pl.LazyFrame]:
        """Return the values, errors of what `read_block` makes of them, and sizes of samples by key."""
        populations = self.collect_query(population_values)
        group_rows = populations.select(Group.NUMBER, pl.col(key_column).alias(_SAMPLE_NUMBER)).unique()
        group_rows = group_rows.sort(Group.NUMBER)
        groups_of_samples = group_rows.group_by(_SAMPLE_NUMBER, maintain_order=True).agg(Group.NUMBER)
        samples = list(self.build_samples(sweep, groups_of_samples[Group.NUMBER].to_list()))
        error_rows = self.estimate_errors(
            read_block(*populations_and_values)
            for populations_and_values in self._compute_blocks(samples, populations)
        )
        dtypes = dict.fromkeys(CLASS_SIZE_COLUMNS.values(), pl.Float64)
        size_rows = pl.DataFrame([sample.sizes for sample in samples], schema=dtypes, orient="row")
        size_rows = size_rows.with_columns(groups_of_samples[_SAMPLE_NUMBER].alias(key_column))
        return populations, error_rows, size_rows.lazy()

    def _compute_blocks(
        self, samples: Sequence[Sample], populations: pl.DataFrame
    ) -> Iterator[tuple[pl.DataFrame, ReplicateValues]]:
        """Yield `populations` with the metrics of all replicates, a block of samples at a time."""
        # The curves of populations, by rising Group.NUMBER, are those of the samples in their order.
        n_replicates, first_curve_number = self.interval_options.resamples, 0
        # A seed for each sample and class: what a sample draws does not depend on its block.
        seeds = iter(np.random.SeedSequence(self.interval_options.seed).spawn(len(samples)))
        curve_number = pl.col(Group.NUMBER).rank("dense") - 1
        populations = populations.with_columns(curve_number.alias(_CURVE_NUMBER))
        if not samples:  # an empty block, from which the errors get their columns
            empty_values = np.empty((n_replicates, 0, len(self.metrics)))
            yield populations, ReplicateValues(empty_values[0], empty_values, np.empty(0))
        n_cells = n_replicates * sum(sum(sample.n_cells_of_curves) for sample in samples)
        with show_share("bootstrap", n_cells) as advance:
            for sample_block in _batch_samples(samples, n_replicates):
                n_curves_of_samples = [len(sample.n_cells_of_curves) for sample in sample_block]
                last_curve_number = first_curve_number + sum(n_curves_of_samples) - 1
                block_populations = populations.filter(
                    pl.col(_CURVE_NUMBER).is_between(first_curve_number, last_curve_number)
                ).with_columns(pl.col(_CURVE_NUMBER) - first_curve_number)
                block_seeds = [next(seeds) for _ in sample_block]
                replicates = self._draw_values(sample_block, block_seeds, block_populations, advance)
                value_frame = block_populations.select(*number_metrics(self.metrics))
                estimates = value_frame.fill_null(float("nan")).to_numpy()
                smaller_sizes = [min(sample.sizes) for sample in sample_block]
                sizes_of_curves = np.repeat(smaller_sizes, n_curves_of_samples)
                sizes_of_populations = sizes_of_curves[block_populations[_CURVE_NUMBER].to_numpy()]
                yield block_populations, ReplicateValues(estimates, replicates, sizes_of_populations)
                first_curve_number = last_curve_number + 1

    def _draw_values(
        self,
        sample_block: Sequence[Sample],
        block_seeds: Sequence[np.random.SeedSequence],
        block_populations: pl.DataFrame,
        advance: Callable[[int], None],
    ) -> NDArray[np.float64]:
        """Return the metrics of all replicates of some samples, by replicate, population and metric."""
        n_cells_of_curves = [n_cells for sample in sample_block for n_cells in sample.n_cells_of_curves]
        generators_of_samples = [list(map(np.random.default_rng, seed.spawn(2))) for seed in block_seeds]
        value_arrays = []
        for n_drawn in split_replicates(self.interval_options.resamples, sum(n_cells_of_curves)):
            drawn_counts = [
                sample.draw(generators, n_drawn)
                for sample, generators in zip(sample_block, generators_of_samples, strict=True)
            ]
            pos_counts, neg_counts = (
                np.concatenate(counts, axis=1) for counts in zip(*drawn_counts, strict=True)
            )
            curves = self._build_curves(pos_counts, neg_counts, n_cells_of_curves)
            value_arrays.append(
                self._compute_values(curves, block_populations, n_drawn, len(n_cells_of_curves))
            )
            advance(n_drawn * sum(n_cells_of_curves))
        return np.concatenate(value_arrays)

    def _build_curves(
        self,
        pos_counts: NDArray[np.float64],
        neg_counts: NDArray[np.float64],
        n_cells_of_curves: Sequence[int],
    ) -> CurveSegments:
        """Return the curves of replicates: curve i of r is number `r * (number of curves) + i`."""
        cell_ends = np.cumsum([0, *n_cells_of_curves])
        curve_of_cell = np.repeat(np.arange(len(n_cells_of_curves)), n_cells_of_curves)
        needs_rises_only = all(metric.recipe.needs == "rises" for metric in self.metrics)
        has_point = pos_counts > 0 if needs_rises_only else (pos_counts > 0) | (neg_counts > 0)
        replicate_numbers, cell_numbers = np.nonzero(has_point)
        group_numbers = replicate_numbers * len(n_cells_of_curves) + curve_of_cell[cell_numbers]
        point_arrays: dict[str, NDArray[Any]] = {Group.NUMBER: group_numbers.astype(np.uint32)}
        total_arrays: dict[str, NDArray[Any]] = {
            Group.NUMBER: np.arange(len(pos_counts) * len(n_cells_of_curves), dtype=np.uint32)
        }
        for drawn_amounts, rate_column, before_column, total_column in (
            (pos_counts, "recall", Segment.RECALL_BEFORE, Group.N_POS),
            (neg_counts, "fpr", Segment.FPR_BEFORE, Group.N_NEG),
        ):
            running_sums = np.empty_like(drawn_amounts)
            curve_totals = np.zeros((len(pos_counts), len(n_cells_of_curves)), drawn_amounts.dtype)
            for curve_number, (cell_start, cell_end) in enumerate(pairwise(cell_ends)):
                if cell_end > cell_start:
                    cell_slice = slice(cell_start, cell_end)
                    np.cumsum(drawn_amounts[:, cell_slice], axis=1, out=running_sums[:, cell_slice])
                    curve_totals[:, curve_number] = running_sums[:, cell_end - 1]
            sizes_of_points = curve_totals.ravel()[group_numbers]
            with np.errstate(invalid="ignore"):  # 0 / 0 where the replicate has none of the class
                point_arrays[rate_column] = running_sums[has_point] / sizes_of_points
                point_arrays[before_column] = (running_sums - drawn_amounts)[has_point] / sizes_of_points
            total_arrays[total_column] = np.where(curve_totals > 0, curve_totals, np.nan).ravel()
        segment_rows = add_extents(pl.LazyFrame(point_arrays).fill_nan(None), self.metrics)
        size_exprs = pl.col(Group.N_POS), pl.col(Group.N_NEG)
        has_pos, has_neg = (size.is_not_null() for size in size_exprs)
        return CurveSegments(
            pl.LazyFrame(total_arrays).fill_nan(None),
            build_hulls(self.table, segment_rows, self.metrics),
            size_exprs,
            CurveFacts(pl.col("eta"), has_pos, has_neg, pl.col(Segment.LEAST_FPR), *size_exprs),
            partial(build_metric_rows, None),
        )

    def _compute_values(
        self, curves: CurveSegments, populations: pl.DataFrame, n_replicates: int, n_curves: int
    ) -> NDArray[np.float64]:
        """Return the metrics of all replicates: an array of replicate, population and metric."""
        metrics_by_name = number_metrics([find_none_as_zero(metric) for metric in self.metrics])
        # Point metrics of replicates read rates alone; populations have the factors, too.
        curve_populations = populations.lazy().select(
            pl.col(_CURVE_NUMBER), "eta", Segment.ODDS, Population.POS_FACTOR, Population.NEG_FACTOR
        )
        replicate_rows = pl.LazyFrame(
            {_REPLICATE_NUMBER: range(n_replicates)}, schema={_REPLICATE_NUMBER: pl.UInt32}
        )
        group_number = pl.col(_REPLICATE_NUMBER) * n_curves + pl.col(_CURVE_NUMBER)
        all_populations = replicate_rows.join(
            curve_populations, how="cross", maintain_order="left_right"
        )
        all_populations = all_populations.with_row_index(Population.NUMBER).with_columns(
            group_number.cast(pl.UInt32).alias(Group.NUMBER)
        )
        all_populations = all_populations.join(curves.groups, on=Group.NUMBER, how="left")
        population_values = curves.compute_values(all_populations, metrics_by_name).sort(
            Population.NUMBER
        )
        value_rows = self.collect_query(population_values.select(*metrics_by_name)).fill_null(
            float("nan")
        )
        return value_rows.to_numpy().reshape(n_replicates, len(populations), len(metrics_by_name))

    def estimate_errors(
        self, blocks: Iterable[tuple[dict[str, pl.Series], ReplicateValues]]
    ) -> pl.LazyFrame:
        """Return keys with `<name>_standard_error`, `_low`, `_high`, and `_p_value` for 0."""
        n_replicates, error_frames, n_dropped = self.interval_options.resamples, [], 0
        for key_series, block_values in blocks:
            # One example does not show how much examples differ.
            estimates = np.where(
                block_values.smaller_class_sizes[:, None] < 2 - 1e-9, np.nan, block_values.estimates
            )
            replicates = block_values.replicates
            n_undefined = np.isnan(replicates).sum(axis=0)
            has_errors = ~np.isnan(estimates) & (n_undefined < n_replicates)
            n_dropped = max(n_dropped, int(n_undefined[has_errors].max(initial=0)))
            standard_errors = _measure_deviations(replicates)
            low, high, p_value = _correct_percentiles(block_values, self.interval_options.level)
            p_value[standard_errors == 0] = np.nan  # without spread there is no test
            arrays_by_kind = {
                "standard_error": standard_errors,
                "low": low,
                "high": high,
                "p_value": p_value,
            }
            error_arrays = {
                f"{name}_{kind}": np.where(np.isnan(estimates), np.nan, array)[:, metric_number]
                for kind, array in arrays_by_kind.items()
                for metric_number, name in enumerate(number_metrics(self.metrics))
            }
            error_frames.append(pl.DataFrame(key_series | error_arrays, nan_to_null=True))
        warn_of_dropped(n_dropped, n_replicates)
        return pl.concat(error_frames).lazy()


def _measure_deviations(replicates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard deviation of each column without its NaN: 0 of one value, NaN of none."""
    # NumPy warns of so few, and a filter of warnings would reach other threads.
    n_defined = (~np.isnan(replicates)).sum(axis=0)
    replicates = np.where(n_defined > 1, replicates, 0.0)
    with np.errstate(invalid="ignore"):  # of infinite values
        standard_deviations: NDArray[np.float64] = np.nanstd(replicates, axis=0, ddof=1)
    # The mean of equal values may be rounded, which would leave a tiny deviation.
    standard_deviations[np.nanmin(replicates, axis=0) == np.nanmax(replicates, axis=0)] = 0
    standard_deviations[n_defined == 0] = np.nan
    return standard_deviations


def warn_of_dropped(n_dropped: int, n_replicates: int) -> None:
    """Warn if a metric is undefined in some replicates."""
    if n_dropped > 0:
        warn_caller(
            f"a metric is undefined in up to {n_dropped} of {n_replicates} bootstrap replicates, such "
            "as those without a positive; intervals use the other replicates"
        )


def _correct_percentiles(
    block_values: ReplicateValues, confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return both ends of the bias-corrected percentile interval, and a p-value for 0 (Efron 1981)."""
    # A replicate holds some positives twice, and both copies stand above the same negatives. So
    # replicates of an area tend to lie above the estimate, which is not their median. Let z0 be the
    # normal quantile of the share of replicates below the estimate, and Phi the normal distribution
    # function. The ends are the replicates at the levels Phi(2 z0 - f z) and Phi(2 z0 + f z), where z
    # belongs to the confidence, and f widens the interval of few examples.
    estimates, replicates, smaller_class_sizes = block_values
    standard_normal = NormalDist()
    n_defined = np.maximum((~np.isnan(replicates)).sum(axis=0), 1)

    def find_quantile(value: NDArray[np.float64] | float) -> NDArray[np.float64]:
        half_ties = (replicates == value).sum(axis=0) / 2  # each counts half
        share_below = ((replicates < value).sum(axis=0) + half_ties) / n_defined
        # Quantiles of 0 and 1 are infinite.
        inner_share = share_below.clip(0.5 / n_defined, 1 - 0.5 / n_defined)
        return np.asarray(np.vectorize(standard_normal.inv_cdf, otypes=[float])(inner_share))

    find_levels = np.vectorize(standard_normal.cdf, otypes=[float])
    z0, z = find_quantile(estimates), z_value(confidence)
    # Percentiles are too narrow for few examples: they are further out in Student's distribution than in
    # the normal one, and the variance among replicates has the divisor n, not n - 1 (Hesterberg 2015).
    # Student's quantile over the normal one, at confidence 0.95, is a series in 1 / (n - 1) (Fisher and
    # Cornish 1960), which is poor below 6 examples.
    n_examples, z95 = np.maximum(smaller_class_sizes, 6.0), z_value(0.95)
    first_term, second_term = (z95**2 + 1) / 4, (5 * z95**4 + 16 * z95**2 + 3) / 96
    degrees = n_examples - 1
    quantile_ratio = 1 + first_term / degrees + second_term / degrees**2
    widening_factor = (quantile_ratio * np.sqrt(n_examples / degrees))[:, None]
    sorted_replicates = np.sort(replicates, axis=0)  # NaN last
    interval_ends = []
    for levels in (find_levels(2 * z0 - z * widening_factor), find_levels(2 * z0 + z * widening_factor)):
        # Number (n + 1) * level of n, counted here from 0 (Davison and Hinkley 1997, section 5.2).
        positions = (levels * (n_defined + 1) - 1).clip(0, n_defined - 1)
        lower_positions = np.floor(positions).astype(np.int64)
        neighbour_positions = (np.minimum(lower_positions + i, n_defined - 1)[None] for i in (0, 1))
        lower_values, upper_values = (
            np.take_along_axis(sorted_replicates, neighbour_position, axis=0)[0]
            for neighbour_position in neighbour_positions
        )
        interval_ends.append(
            lower_values + (positions - lower_positions) * (upper_values - lower_values)
        )
    # The p-value is 1 - confidence of the interval that ends at 0: solve the levels above for z.
    one_sided_p = find_levels((find_quantile(0.0) - 2 * z0) / widening_factor)
    low, high = np.minimum(interval_ends[0], estimates), np.maximum(interval_ends[1], estimates)
    return low, high, 2 * np.minimum(one_sided_p, 1 - one_sided_p)


def _batch_samples(samples: Sequence[Sample], n_replicates: int) -> list[list[Sample]]:
    """Return the samples in blocks of at most _MAX_CELLS cells in all replicates, or of one sample."""
    blocks: list[list[Sample]] = []
    n_cells_left = 0
    for sample in samples:
        n_cells = sum(sample.n_cells_of_curves) * n_replicates
        if n_cells > n_cells_left or not blocks:
            blocks.append([])
            n_cells_left = _MAX_CELLS
        blocks[-1].append(sample)
        n_cells_left -= n_cells
    return blocks


def split_replicates(n_replicates: int, n_cells: int) -> list[int]:
    """Return how many replicates to draw at a time, for at most _MAX_CELLS cells or one replicate."""
    n_at_once = max(1, _MAX_CELLS // max(1, n_cells))
    n_remaining = n_replicates % n_at_once
    return [n_at_once] * (n_replicates // n_at_once) + [n_remaining] * (n_remaining > 0)


# Resampling -------------------------------------------------------------------------------------

# A replicate draws as many examples as the sample has, with replacement, in units of rows that belong
# together. Of plain examples all of one class in a cell, a row of the sweep, are one unit that is drawn
# as often as it has examples, so that a million take as long as one. Of examples with weights, in
# clusters, or of several models, a unit is one example or one cluster. Each sample has its own two
# streams of random numbers, the first for positives or whole clusters, the second for negatives. So its
# replicates depend neither on the other samples of a block, nor on how many are drawn at once.

DrawnCounts: TypeAlias = tuple[NDArray[Any], NDArray[Any]]
"""Positives and negatives, each with a row per replicate and a column per cell."""


class Sample(NamedTuple):
    """Examples that are drawn together, of one or several curves, as rows of units and cells."""

    units_of_strata: Sequence[NDArray[np.int64]]
    """Numbers of units; one is replaced by units of its stratum only."""
    unit_sizes: NDArray[np.int64]  # as how many examples each unit is drawn
    unit_numbers: NDArray[np.int64]  # of each row; then its cell, and what it adds to both classes there
    cell_numbers: NDArray[np.int64]
    pos: NDArray[np.float64]
    neg: NDArray[np.float64]
    n_cells_of_curves: Sequence[int]
    """The number of cells of each curve, one curve after another."""

    @classmethod
    def read_cells(cls, pos: NDArray[np.int64], neg: NDArray[np.int64]) -> Sample:
        """Return one curve of plain examples, from the counts per cell; each class is a stratum."""
        unit_numbers, n_cells = np.arange(2 * len(pos)), len(pos)
        is_pos = unit_numbers < n_cells
        return cls(
            [unit_numbers[:n_cells], unit_numbers[n_cells:]],
            np.concatenate([pos, neg]),
            unit_numbers,
            np.where(is_pos, unit_numbers, unit_numbers - n_cells),
            is_pos.astype(float),
            (~is_pos).astype(float),
            [n_cells],
        )

    @classmethod
    def read_units(
        cls, rows: pl.DataFrame, group_numbers: Sequence[int], sample_kind: SampleKind
    ) -> Sample:
        """Return the sample of some rows, which come by group and falling score."""
        cell_number = pl.struct(Group.NUMBER, Row.SCORE).rle_id().alias("cell")
        candidate_columns = [*sample_kind.unit_columns, Row.EXAMPLE]
        unit_column = next((name for name in candidate_columns if name in rows.columns), None)
        unit_number = pl.int_range(pl.len())
        if unit_column is not None:
            unit_number = pl.col(unit_column).rank("dense") - 1
        rows = rows.with_columns(cell_number, unit_number.cast(pl.Int64).alias("unit"))
        cell_numbers, unit_numbers = (rows[name].cast(pl.Int64).to_numpy() for name in ("cell", "unit"))
        rows_of_groups = (rows.filter(pl.col(Group.NUMBER) == group) for group in group_numbers)
        n_cells_of_curves = [group_rows["cell"].n_unique() for group_rows in rows_of_groups]
        pos, neg = (rows[column].to_numpy() for column in (Row.POS, Row.NEG))
        # Classes keep their sizes, except in units of joined rows, which may hold both classes.
        class_masks = [np.ones(len(rows), dtype=bool)] if sample_kind.joins_rows else [pos > 0, neg > 0]
        units_of_strata = [np.unique(unit_numbers[mask]) for mask in class_masks]
        unit_sizes = np.ones(unit_numbers.max(initial=-1) + 1, dtype=np.int64)
        return cls(units_of_strata, unit_sizes, unit_numbers, cell_numbers, pos, neg, n_cells_of_curves)

    @property
    def sizes(self) -> tuple[float, float]:
        """The effective numbers of positives and of negatives that are drawn independently."""
        effective_sizes = []
        for row_amounts in (self.pos, self.neg):
            # As many equal amounts have a mean that varies as much: sum(w)**2 / sum(w**2).
            unit_amounts = np.bincount(self.unit_numbers, row_amounts)
            # Squares neither vanish nor overflow.
            unit_shares = unit_amounts / (unit_amounts.max(initial=0.0) or 1.0)
            share_sum, square_sum = (
                (self.unit_sizes * shares).sum() for shares in (unit_shares, unit_shares * unit_shares)
            )
            effective_sizes.append(float(share_sum**2 / (square_sum or 1.0)))
        return effective_sizes[0], effective_sizes[1]

    @property
    def counts(self) -> DrawnCounts:
        """The positives and negatives of the sample itself, as one row."""
        pos, neg = self._count_cells(self.unit_sizes)
        return pos[None], neg[None]

    def _count_cells(self, unit_draws: NDArray[np.int64]) -> list[NDArray[np.float64]]:
        """Return the positives and negatives in each cell, of units that are drawn so often."""
        row_draws, n_cells = unit_draws[self.unit_numbers], sum(self.n_cells_of_curves)
        return [
            np.bincount(self.cell_numbers, row_draws * amounts, n_cells)
            for amounts in (self.pos, self.neg)
        ]

    def draw(self, generators: Sequence[np.random.Generator], n_replicates: int) -> DrawnCounts:
        """Draw from where the generators stand."""
        counts = np.zeros((2, n_replicates, sum(self.n_cells_of_curves)))
        unit_draws = np.zeros_like(self.unit_sizes)
        for replicate_number in range(n_replicates):
            # Clusters are one stratum.
            for stratum_units, generator in zip(self.units_of_strata, generators, strict=False):
                unit_draws[stratum_units] = _draw_counts(generator, self.unit_sizes[stratum_units])
            counts[:, replicate_number] = self._count_cells(unit_draws)
        return counts[0], counts[1]


def _draw_counts(generator: np.random.Generator, unit_sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw as many examples as the units hold, with replacement; return how many of each unit."""
    n_examples = int(unit_sizes.sum())
    if n_examples > 3 * len(unit_sizes):  # faster than single examples where units hold many
        return generator.multinomial(n_examples, unit_sizes / n_examples)
    if n_examples == 0:
        return unit_sizes
    unit_of_example = np.repeat(np.arange(len(unit_sizes)), unit_sizes)
    drawn_units = unit_of_example[generator.integers(0, n_examples, n_examples)]
    return np.bincount(drawn_units, minlength=len(unit_sizes))
