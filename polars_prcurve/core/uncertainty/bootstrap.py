"""The bootstrap: errors of curve metrics, from their values in many replicates of the samples.

Errors are the standard deviation and the bias-corrected percentiles over the replicates. Polars draws no
random counts, so draws are NumPy arrays: the positives and negatives in each cell of each replicate.
Replicates times cells can exceed the memory: small samples are computed together in a block, and a large
one in several runs over its replicates.

Sources: Efron 1981; Efron and Tibshirani 1993, chapter 14; Davison and Hinkley 1997; Hesterberg 2015;
Harrell et al. 1996 for optimism.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from statistics import NormalDist
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from polars_prcurve.core.confidence.interval_inputs import TargetRow
from polars_prcurve.core.confidence.intervals import Intervals, z_value
from polars_prcurve.core.curves.curve_segments import (
    CurveSegments,
    add_extents,
    build_hulls,
    number_metrics,
)
from polars_prcurve.core.curves.curve_table import build_metric_rows
from polars_prcurve.core.curves.operating_points import build_points_pairs
from polars_prcurve.core.curves.targets import TARGET_NUMBER, Target
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.progress import show_share
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.input_tables import InputTable, ScoreTable
from polars_prcurve.core.inputs.row_columns import Group, Row
from polars_prcurve.core.inputs.sample_kinds import SampleKind
from polars_prcurve.core.metrics.best_and_integrated import best
from polars_prcurve.core.metrics.curve_metric import CurveFacts, CurveMetric
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.metrics.segment_columns import Segment
from polars_prcurve.core.prevalence.eta_grid import EtaTable, check_result_columns
from polars_prcurve.core.prevalence.group_eta_columns import Pair
from polars_prcurve.core.sweep.grouped_rows import SweepTables, build_numbered_rows
from polars_prcurve.core.sweep.sweep_columns import SWEEP_COLUMNS, Sweep
from polars_prcurve.core.sweep.sweep_table import (
    build_sweep,
    check_at_end,
    drop_inner_negatives,
    late_checks,
)
from polars_prcurve.core.uncertainty.influence import CLASS_SIZE_COLUMNS

# Numbers of a curve among those of a block, of a replicate, and of a sample.
_CURVE, _REPLICATE, _SAMPLE = (f"{RESERVED}{name}" for name in ("curve", "replicate", "sample"))
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
    certainty: Intervals

    def collect_query(self, query: pl.LazyFrame) -> pl.DataFrame:
        """Run a query half way; raise for a LazyFrame."""
        return self.table.collect(query, 'method="bootstrap"')

    def build_samples(self, sweep: SweepTables, groups: Sequence[Sequence[int]]) -> Iterator[Sample]:
        """Yield one sample per item of `groups`, which lists the groups that are the sample's curves."""
        # By cell, or by unit if rows have weights, clusters or a part in several curves.
        sample = self.table.sample
        by_unit = self.table.weighted or sample.joins_rows or Row.EXAMPLE in self.table.columns
        sums = (Sweep.CUM_POS, Sweep.CUM_NEG)
        if by_unit:
            rows = self.collect_query(build_numbered_rows(self.table, sweep.groups))
            # Sorted by all that tells rows apart, a seed draws equal samples whatever the order of rows.
            order = [Group.NUMBER, Row.SCORE, Row.POS, Row.NEG]
            rows = rows.sort(order, descending=[False, True, True, True], maintain_order=True)
        else:
            is_whole = any(metric.recipe.needs == "all" for metric in self.metrics)
            frame = sweep.rows if is_whole else drop_inner_negatives(sweep.rows)
            # Running sums go on from group to group, so differences to the row before are right.
            cells = frame.select(
                Group.NUMBER, *(pl.col(n) - pl.col(n).shift(1, fill_value=0) for n in sums)
            )
            rows = self.collect_query(cells.cast(dict.fromkeys(sums, pl.Int64)))
        # Rows and samples stand by rising Group.NUMBER; a sample may have no rows.
        ends = np.searchsorted(
            rows[Group.NUMBER].to_numpy(), [numbers[-1] for numbers in groups], side="right"
        )
        for (start, end), numbers in zip(pairwise([0, *ends.tolist()]), groups, strict=True):
            part = rows[start:end]
            if by_unit:
                yield UnitSample.read(part, numbers, sample)
            else:
                yield CellSample(*(part[name].to_numpy() for name in sums))

    def measure(
        self,
        sweep: SweepTables,
        values: pl.LazyFrame,
        key: str,
        reader: Callable[[pl.DataFrame, ReplicateValues], tuple[dict[str, pl.Series], ReplicateValues]],
    ) -> tuple[pl.DataFrame, pl.LazyFrame, pl.LazyFrame]:
        """Return the values, errors of what the `reader` makes of them, and sizes of samples by key."""
        pairs = self.collect_query(values)
        numbers = pairs.select(Group.NUMBER, pl.col(key).alias(_SAMPLE)).unique().sort(Group.NUMBER)
        groups = numbers.group_by(_SAMPLE, maintain_order=True).agg(Group.NUMBER)
        samples = list(self.build_samples(sweep, groups[Group.NUMBER].to_list()))
        errors = self.estimate_errors(reader(*block) for block in self._compute_blocks(samples, pairs))
        schema = dict.fromkeys(CLASS_SIZE_COLUMNS.values(), pl.Float64)
        sizes = pl.DataFrame([sample.sizes for sample in samples], schema=schema, orient="row")
        return pairs, errors, sizes.with_columns(groups[_SAMPLE].alias(key)).lazy()

    def _compute_blocks(
        self, samples: Sequence[Sample], pairs: pl.DataFrame
    ) -> Iterator[tuple[pl.DataFrame, ReplicateValues]]:
        """Yield rows of `pairs` with the metrics of all replicates, a block of samples at a time."""
        # The curves of pairs, by rising Group.NUMBER, are those of the samples in their order.
        n, first = self.certainty.resamples, 0
        # A seed for each sample and class: what a sample draws does not depend on its block.
        seeds = iter(np.random.SeedSequence(self.certainty.seed).spawn(len(samples)))
        curve = pl.col(Group.NUMBER).rank("dense") - 1
        pairs = pairs.with_columns(curve.alias(_CURVE))
        if not samples:  # an empty block, from which the errors get their columns
            nothing = np.empty((n, 0, len(self.metrics)))
            yield pairs, ReplicateValues(nothing[0], nothing, np.empty(0))
        with show_share("bootstrap", n * sum(sum(sample.lengths) for sample in samples)) as advance:
            for block in _batch_samples(samples, n):
                lengths = [length for sample in block for length in sample.lengths]
                streams = [list(map(np.random.default_rng, next(seeds).spawn(2))) for _ in block]
                last = first + len(lengths) - 1
                block_pairs = pairs.filter(pl.col(_CURVE).is_between(first, last))
                block_pairs = block_pairs.with_columns(pl.col(_CURVE) - first)
                values = []
                for size in split_replicates(n, sum(lengths)):
                    counts = [s.draw(random, size) for s, random in zip(block, streams, strict=True)]
                    pos, neg = (np.concatenate(side, axis=1) for side in zip(*counts, strict=True))
                    curves = self._build_curves(pos, neg, lengths)
                    values.append(self._compute_values(curves, block_pairs, size, len(lengths)))
                    advance(size * sum(lengths))
                estimates = (
                    block_pairs.select(*number_metrics(self.metrics)).fill_null(float("nan")).to_numpy()
                )
                smaller = np.repeat([min(s.sizes) for s in block], [len(s.lengths) for s in block])
                sizes = smaller[block_pairs[_CURVE].to_numpy()]
                yield block_pairs, ReplicateValues(estimates, np.concatenate(values), sizes)
                first = last + 1

    def _build_curves(
        self, pos: NDArray[np.float64], neg: NDArray[np.float64], lengths: Sequence[int]
    ) -> CurveSegments:
        """Return the curves of replicates: curve i of r is group number `r * len(lengths) + i`."""
        ends = np.cumsum([0, *lengths])
        curve_of_cell = np.repeat(np.arange(len(lengths)), lengths)
        rises_only = all(metric.recipe.needs == "rises" for metric in self.metrics)
        is_row = pos > 0 if rises_only else (pos > 0) | (neg > 0)
        replicate, cell = np.nonzero(is_row)
        group = replicate * len(lengths) + curve_of_cell[cell]
        points: dict[str, NDArray[Any]] = {Group.NUMBER: group.astype(np.uint32)}
        totals: dict[str, NDArray[Any]] = {
            Group.NUMBER: np.arange(len(pos) * len(lengths), dtype=np.uint32)
        }
        for amounts, rate, before, total in (
            (pos, "recall", Segment.RECALL_BEFORE, Group.N_POS),
            (neg, "fpr", Segment.FPR_BEFORE, Group.N_NEG),
        ):
            sums, n = np.empty_like(amounts), np.zeros((len(pos), len(lengths)), amounts.dtype)
            for curve, (start, end) in enumerate(pairwise(ends)):
                if end > start:
                    np.cumsum(amounts[:, start:end], axis=1, out=sums[:, start:end])
                    n[:, curve] = sums[:, end - 1]
            class_size = n.ravel()[group]
            with np.errstate(invalid="ignore"):  # 0 / 0 where the replicate has none of the class
                rates = sums[is_row] / class_size, (sums - amounts)[is_row] / class_size
            points |= dict(zip((rate, before), rates, strict=True))
            totals[total] = np.where(n > 0, n, np.nan).ravel()
        rows = add_extents(pl.LazyFrame(points).fill_nan(None), self.metrics)
        sizes = pl.col(Group.N_POS), pl.col(Group.N_NEG)
        has_pos, has_neg = (size.is_not_null() for size in sizes)
        return CurveSegments(
            pl.LazyFrame(totals).fill_nan(None),
            build_hulls(self.table, rows, self.metrics),
            sizes,
            CurveFacts(pl.col("eta"), has_pos, has_neg, pl.col(Segment.LEAST_FPR), *sizes),
            partial(build_metric_rows, None),
        )

    def _compute_values(
        self, curves: CurveSegments, pairs: pl.DataFrame, replicates: int, n_curves: int
    ) -> NDArray[np.float64]:
        """Return the metrics of all replicates as an array with the axes replicate, pair and metric."""
        named = number_metrics(self.metrics)
        # Point metrics of replicates read rates alone; the factors are here because pairs have them.
        curve_pairs = pairs.lazy().select(
            pl.col(_CURVE), "eta", Segment.ODDS, Pair.POS_FACTOR, Pair.NEG_FACTOR
        )
        numbers = pl.LazyFrame({_REPLICATE: range(replicates)}, schema={_REPLICATE: pl.UInt32})
        group = (pl.col(_REPLICATE) * n_curves + pl.col(_CURVE)).cast(pl.UInt32).alias(Group.NUMBER)
        all_pairs = numbers.join(curve_pairs, how="cross", maintain_order="left_right").with_row_index(
            Pair.NUMBER
        )
        all_pairs = all_pairs.with_columns(group).join(curves.groups, on=Group.NUMBER, how="left")
        values = self.collect_query(
            curves.compute_values(all_pairs, named).sort(Pair.NUMBER).select(*named)
        )
        return values.fill_null(float("nan")).to_numpy().reshape(replicates, len(pairs), len(named))

    def estimate_errors(
        self, blocks: Iterable[tuple[dict[str, pl.Series], ReplicateValues]]
    ) -> pl.LazyFrame:
        """Return keys with `<name>_standard_error`, `_low`, `_high`, and `_p_value` for 0."""
        n, tables, n_dropped = self.certainty.resamples, [], 0
        for keys, rows in blocks:
            # One example does not tell how much examples differ.
            estimates = np.where(rows.smaller_class_sizes[:, None] < 2 - 1e-9, np.nan, rows.estimates)
            replicates = rows.replicates
            n_undefined = np.isnan(replicates).sum(axis=0)
            has_errors = ~np.isnan(estimates) & (n_undefined < n)
            n_dropped = max(n_dropped, int(n_undefined[has_errors].max(initial=0)))
            with warnings.catch_warnings(), np.errstate(invalid="ignore"):
                warnings.simplefilter("ignore", RuntimeWarning)  # NaN if no replicate is defined
                spread = np.nanstd(replicates, axis=0, ddof=1)
                # The mean of equal values may be rounded, which would leave a tiny deviation.
                spread[np.nanmin(replicates, axis=0) == np.nanmax(replicates, axis=0)] = 0
            low, high, p_value = _correct_percentiles(rows, self.certainty.level)
            p_value[spread == 0] = np.nan  # without spread there is no test
            errors = {"standard_error": spread, "low": low, "high": high, "p_value": p_value}
            columns = {
                f"{name}_{kind}": np.where(np.isnan(estimates), np.nan, numbers)[:, i]
                for kind, numbers in errors.items()
                for i, name in enumerate(number_metrics(self.metrics))
            }
            tables.append(pl.DataFrame(keys | columns, nan_to_null=True))
        warn_of_dropped(n_dropped, n)
        return pl.concat(tables).lazy()


def warn_of_dropped(n_dropped: int, n_replicates: int) -> None:
    """Warn if a metric is undefined in some replicates."""
    if n_dropped > 0:
        text = (
            f"a metric is undefined in up to {n_dropped} of {n_replicates} bootstrap replicates, such "
            "as those without a positive; intervals use the other replicates"
        )
        warnings.warn(text, stacklevel=3)


def _correct_percentiles(
    rows: ReplicateValues, confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return both ends of the bias-corrected percentile interval, and a p-value for 0 (Efron 1981)."""
    # A replicate holds some positives twice, and both copies stand above the same negatives. So
    # replicates of an area tend to lie above the estimate, which is not their median. Let z0 be the
    # normal quantile of the share of replicates below the estimate, and Phi the normal distribution
    # function. The ends are the replicates at the levels Phi(2 z0 - f z) and Phi(2 z0 + f z), where z
    # belongs to the confidence, and f widens the interval of few examples.
    estimates, replicates, sizes = rows
    normal = NormalDist()
    n_known = np.maximum((~np.isnan(replicates)).sum(axis=0), 1)

    def find_quantile(limit: NDArray[np.float64] | float) -> NDArray[np.float64]:
        ties = (replicates == limit).sum(axis=0) / 2  # each counts half
        share = ((replicates < limit).sum(axis=0) + ties) / n_known
        inside = share.clip(0.5 / n_known, 1 - 0.5 / n_known)  # quantiles of 0 and 1 are infinite
        return np.asarray(np.vectorize(normal.inv_cdf, otypes=[float])(inside))

    cdf = np.vectorize(normal.cdf, otypes=[float])
    z0, z = find_quantile(estimates), z_value(confidence)
    # Percentiles are too narrow for few examples: they are further out in Student's distribution than in
    # the normal one, and the variance among replicates has the divisor n, not n - 1 (Hesterberg 2015).
    # Student's quantile over the normal one, at confidence 0.95, is a series in 1 / (n - 1) (Fisher and
    # Cornish 1960), which is poor below 6 examples.
    n, z95 = np.maximum(sizes, 6.0), z_value(0.95)
    first, second = (z95**2 + 1) / 4, (5 * z95**4 + 16 * z95**2 + 3) / 96
    factor = ((1 + first / (n - 1) + second / (n - 1) ** 2) * np.sqrt(n / (n - 1)))[:, None]
    rising = np.sort(replicates, axis=0)  # NaN last
    ends = []
    for level in (cdf(2 * z0 - z * factor), cdf(2 * z0 + z * factor)):
        # Number (n + 1) * level of n, counted here from 0 (Davison and Hinkley 1997, section 5.2).
        place = (level * (n_known + 1) - 1).clip(0, n_known - 1)
        below = np.floor(place).astype(np.int64)
        nearest = (np.minimum(number, n_known - 1)[None] for number in (below, below + 1))
        start, end = (np.take_along_axis(rising, number, axis=0)[0] for number in nearest)
        ends.append(start + (place - below) * (end - start))
    # The p-value is 1 - confidence of the interval that ends at 0: solve the levels above for z.
    one_side = cdf((find_quantile(0.0) - 2 * z0) / factor)
    low, high = np.minimum(ends[0], estimates), np.maximum(ends[1], estimates)
    return low, high, 2 * np.minimum(one_side, 1 - one_side)


def _batch_samples(samples: Sequence[Sample], n_replicates: int) -> list[list[Sample]]:
    """Return the samples in blocks of at most _MAX_CELLS cells in all replicates, or of one sample."""
    blocks: list[list[Sample]] = []
    room = 0
    for sample in samples:
        size = sum(sample.lengths) * n_replicates
        if size > room or not blocks:
            blocks.append([])
            room = _MAX_CELLS
        blocks[-1].append(sample)
        room -= size
    return blocks


def split_replicates(n_replicates: int, n_cells: int) -> list[int]:
    """Return how many replicates to draw at a time, for at most _MAX_CELLS cells or one replicate."""
    step = max(1, _MAX_CELLS // max(1, n_cells))
    remainder = n_replicates % step
    return [step] * (n_replicates // step) + [remainder] * (remainder > 0)


# Resampling -------------------------------------------------------------------------------------

# A replicate draws as many examples as the sample has, with replacement: by cell, a row of the sweep, of
# plain examples, where a million take as long as one; or by unit, rows that belong together, of examples
# with weights, in clusters, or of several models. Each sample has its own two streams of random numbers,
# the first for positives or whole clusters, the second for negatives. So its replicates depend neither
# on the other samples of a block, nor on how many replicates are drawn at once.

DrawnCounts: TypeAlias = tuple[NDArray[Any], NDArray[Any]]
"""Positives and negatives, each with a row per replicate and a column per cell."""


class CellSample(NamedTuple):
    """One curve of plain examples, as counts per cell; each class is drawn on its own."""

    pos: NDArray[np.int64]
    neg: NDArray[np.int64]

    @property
    def lengths(self) -> Sequence[int]:
        """The number of cells of each curve."""
        return [len(self.pos)]

    @property
    def sizes(self) -> tuple[float, float]:
        """The effective numbers of positives and of negatives that are drawn independently."""
        return float(self.pos.sum()), float(self.neg.sum())

    @property
    def counts(self) -> DrawnCounts:
        """The positives and negatives of the sample itself, as one row."""
        return self.pos[None], self.neg[None]

    def draw(self, streams: Sequence[np.random.Generator], replicates: int) -> DrawnCounts:
        """Draw from where the streams stand."""
        pos, neg = (_draw_counts(s, n, replicates) for s, n in zip(streams, self[:2], strict=True))
        return pos, neg


class UnitSample(NamedTuple):
    """Rows of one or several curves, in units of rows that are drawn together; as `CellSample`."""

    strata: Sequence[NDArray[np.int64]]  # numbers of units; one is replaced by units of its stratum only
    unit: NDArray[np.int64]  # of each row; then its cell, and what it adds to both classes there
    cell: NDArray[np.int64]
    pos: NDArray[np.float64]
    neg: NDArray[np.float64]
    lengths: Sequence[int]

    @classmethod
    def read(cls, rows: pl.DataFrame, groups: Sequence[int], sample: SampleKind) -> UnitSample:
        """Return the sample of some rows, which come by group and falling score."""
        cell = pl.struct(Group.NUMBER, Row.SCORE).rle_id().alias("cell")
        unit_columns = [*sample.unit_columns, Row.EXAMPLE]
        by = next((name for name in unit_columns if name in rows.columns), None)
        number = pl.int_range(pl.len()) if by is None else pl.col(by).rank("dense") - 1
        rows = rows.with_columns(cell, number.cast(pl.Int64).alias("unit"))
        cells, units = (rows[name].to_numpy().astype(np.int64) for name in ("cell", "unit"))
        lengths = [rows.filter(pl.col(Group.NUMBER) == group)["cell"].n_unique() for group in groups]
        pos, neg = (rows[side].to_numpy() for side in (Row.POS, Row.NEG))
        # Classes keep their sizes, except in units of joined rows, which may hold both classes.
        classes = [np.ones(len(rows), dtype=bool)] if sample.joins_rows else [pos > 0, neg > 0]
        strata = [np.unique(units[members]) for members in classes]
        return cls(strata, units, cells, pos, neg, lengths)

    @property
    def sizes(self) -> tuple[float, float]:
        sizes = []
        for of_class in (self.pos, self.neg):
            # As many equal amounts have a mean that varies as much: sum(w)**2 / sum(w**2).
            amounts = np.bincount(self.unit, of_class)
            shares = amounts / (amounts.max(initial=0.0) or 1.0)  # squares neither vanish nor overflow
            sizes.append(float(shares.sum() ** 2 / ((shares * shares).sum() or 1.0)))
        return sizes[0], sizes[1]

    @property
    def counts(self) -> DrawnCounts:
        n_cells = sum(self.lengths)
        pos, neg = (np.bincount(self.cell, side, n_cells)[None] for side in (self.pos, self.neg))
        return pos, neg

    def draw(self, streams: Sequence[np.random.Generator], replicates: int) -> DrawnCounts:
        n_cells = sum(self.lengths)
        counts = np.zeros((2, replicates, n_cells))
        for replicate in range(replicates):
            times = np.zeros(sum(map(len, self.strata)), dtype=np.int64)
            for units, random in zip(self.strata, streams, strict=False):  # clusters: one stratum
                times[units] = _draw_counts(random, np.ones(len(units), dtype=np.int64), 1)[0]
            row_times = times[self.unit]
            for side, amounts in enumerate((self.pos, self.neg)):
                counts[side, replicate] = np.bincount(self.cell, row_times * amounts, n_cells)
        return counts[0], counts[1]


Sample: TypeAlias = CellSample | UnitSample
"""Examples that are drawn together; the cells of their curves, one curve after another."""


def _draw_counts(
    random: np.random.Generator, cells: NDArray[np.int64], replicates: int
) -> NDArray[np.int64]:
    """Draw as many examples as the cells hold, with replacement; return their counts per replicate."""
    total = int(cells.sum())
    if total > 3 * len(cells):  # faster than single examples where cells hold many
        return random.multinomial(total, cells / total, replicates)
    counts = np.zeros((replicates, len(cells)), dtype=np.int64)
    if total > 0:
        cell_of_example = np.repeat(np.arange(len(cells)), cells)
        for replicate in range(replicates):
            drawn_cells = cell_of_example[random.integers(0, total, total)]
            counts[replicate] = np.bincount(drawn_cells, minlength=len(cells))
    return counts


# Optimism --------------------------------------------------------------------------------------

# Optimism is by how much the greatest value of a metric is too good, because it was looked for.
#
# The threshold of the best value suits the sample at hand, its chance included. Where it is used later,
# the metric is lower. In each bootstrap replicate the best threshold is found anew, and the value there
# is compared with that of the same threshold in the sample. The mean of these differences is the
# optimism, and the value less its optimism is the corrected one.

_ARRAYS = 16
"""Arrays of all cells and replicates that a metric takes: fewer replicates at once keep them small."""


def build_optimism_table(
    table: InputTable,
    grid: EtaTable,
    targets: Sequence[Target],
    metrics: Sequence[PointMetric],
    certainty: Intervals,
) -> pl.LazyFrame:
    """Return TargetRow.IS_MAXIMIZED and the OPTIMISM of each metric, by NUMBER and TARGET_NUMBER."""
    maximized = {
        number: target.maximized for number, target in enumerate(targets) if target.maximized is not None
    }
    if not maximized:
        raise PrcError(
            'method="bootstrap" corrects what was maximized; pass maximize=, or leave method= out'
        )
    grid = grid.require_exact('method="bootstrap"')
    check_result_columns(table, grid, ["eta", *SWEEP_COLUMNS])  # before anything is drawn
    scores = cast("ScoreTable", table.require_example_counts())
    replicates = Bootstrap(scores, [best(m) for m in maximized.values()], certainty)
    sweep = build_sweep(table)
    pairs = build_points_pairs(sweep.groups, grid, table)
    pairs = check_at_end(table, pairs.sort(Pair.NUMBER), *late_checks(table, grid))
    collected_pairs = replicates.collect_query(pairs.select(Group.NUMBER, Pair.NUMBER, "eta"))
    groups = collected_pairs[Group.NUMBER].unique().sort()
    samples = list(replicates.build_samples(sweep, [[group] for group in groups]))
    rows = _measure_samples(samples, collected_pairs, maximized, metrics, certainty)
    names = [f"{TargetRow.OPTIMISM}{number}" for number in range(len(metrics))]
    schema: dict[str, Any] = {Pair.NUMBER: collected_pairs.schema[Pair.NUMBER], TARGET_NUMBER: pl.Int64}
    optimism = pl.LazyFrame(rows, schema | dict.fromkeys(names, pl.Float64), orient="row")
    return optimism.with_columns(
        pl.lit(True).alias(TargetRow.IS_MAXIMIZED), pl.col(names).fill_nan(None)
    )


def _measure_samples(
    samples: Sequence[Sample],
    pairs: pl.DataFrame,
    maximized: Mapping[int, PointMetric],
    metrics: Sequence[PointMetric],
    certainty: Intervals,
) -> list[list[float]]:
    """Return rows of Pair.NUMBER, number of a target, and optimism of each metric; NaN if unknown."""
    n, rows, n_dropped = certainty.resamples, [], 0
    # The seeds of `summary`, so that replicates of best(metric) are the same.
    seeds = np.random.SeedSequence(certainty.seed).spawn(len(samples))
    parts = pairs.partition_by(Group.NUMBER, maintain_order=True)
    with show_share("bootstrap", n * sum(sum(sample.lengths) for sample in samples)) as advance:
        for sample, seed, part in zip(samples, seeds, parts, strict=True):
            etas, streams = part["eta"].to_list(), list(map(np.random.default_rng, seed.spawn(2)))
            differences, of_sample = [], find_rates(sample.counts)
            for size in split_replicates(n, _ARRAYS * sum(sample.lengths)):
                drawn_rates = find_rates(sample.draw(streams, size))
                questions = product(etas, maximized.values())
                block_differences = [
                    compare_with_sample(drawn_rates, of_sample, *question, metrics)
                    for question in questions
                ]
                differences.append(block_differences)
                advance(size * sum(sample.lengths))
            gaps = np.concatenate(differences, axis=1)  # axes: pair and target, replicate, metric
            undefined = np.isnan(gaps)
            n_defined = (~undefined).sum(axis=1)
            with np.errstate(invalid="ignore"):
                means = np.where(undefined, 0, gaps).sum(axis=1) / n_defined
            if min(sample.sizes) < 2 - 1e-9:  # one example does not tell how much examples differ
                means[:] = np.nan
            n_dropped = max(n_dropped, int((n - n_defined)[~np.isnan(means)].max(initial=0)))
            keys = [[pair, number] for pair in part[Pair.NUMBER] for number in maximized]
            rows += [[*key, *mean] for key, mean in zip(keys, means.tolist(), strict=True)]
    warn_of_dropped(n_dropped, n)
    return rows


def find_rates(counts: DrawnCounts) -> DrawnCounts:
    """Return recall and fpr by row of each replicate, from the positives and negatives by row."""
    with np.errstate(all="ignore"):
        sums = [side.cumsum(axis=1, dtype=float) for side in counts]
        recall, fpr = (side / side[:, -1:] for side in sums)
    return recall, fpr


def compare_with_sample(
    drawn_rates: DrawnCounts,
    sample_rates: DrawnCounts,
    eta: float | None,
    maximized: PointMetric,
    metrics: Sequence[PointMetric],
) -> NDArray[np.float64]:
    """Return each metric at the best row of each replicate, less its value at that row of the sample."""

    def evaluate(metric: PointMetric, tpr: Any, fpr: Any) -> NDArray[np.float64]:
        prevalence = metric.choose_eta(np.nan if eta is None else eta)  # undefined in an empty group
        return np.asarray(metric.from_rates(tpr, fpr, np.float64(prevalence)))

    sign = 1.0 if maximized.higher_is_better() else -1.0
    with np.errstate(all="ignore"):
        values = sign * evaluate(maximized, *drawn_rates)
        best_row = np.where(np.isnan(values), -np.inf, values).argmax(axis=1)
        replicate = np.arange(len(values))
        best_points = [rate[replicate, best_row] for rate in drawn_rates]
        sample_points = [rate[0, best_row] for rate in sample_rates]
        gaps = [evaluate(metric, *best_points) - evaluate(metric, *sample_points) for metric in metrics]
    differences = np.stack(gaps, axis=1)
    differences[np.isnan(values).all(axis=1)] = np.nan
    return differences
