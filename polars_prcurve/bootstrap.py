"""The bootstrap: curve metrics of many replicates of the samples, and what they say of the error.

    samples -> draws        how many positives and negatives in each cell of each replicate
            -> curves       a replicate is a curve like any other, with the same metrics
            -> errors       standard error and bias-corrected percentiles over the replicates

Polars draws no random counts, so that this is done with arrays, in blocks that bound the memory.

Sources: Efron 1981; Efron and Tibshirani 1993.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from statistics import NormalDist
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from polars_prcurve.bands import Collect
from polars_prcurve.columns import (
    CLUSTER,
    EXAMPLE,
    FPR_BEFORE,
    GROUP,
    LEAST_FPR,
    N_NEG,
    N_POS,
    NEG,
    NEG_FACTOR,
    ODDS,
    PAIR,
    POS,
    POS_FACTOR,
    RECALL_BEFORE,
    RESERVED,
    RUN_NEG,
    RUN_POS,
    SCORE,
)
from polars_prcurve.curve import rows_of
from polars_prcurve.curve_metrics import Curve, CurveMetric
from polars_prcurve.curves import Curves, extents, numbered, with_hulls
from polars_prcurve.inputs import ScoreTable
from polars_prcurve.intervals import z_of
from polars_prcurve.resampling import Cells, Sample, Units
from polars_prcurve.sweep import Parts, numbered_rows, without_intermediate
from polars_prcurve.uncertainty import Uncertainty

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Block", "Bootstrap", "Estimates"]

_CURVE, _REPLICATE, _NUMBER = (f"{RESERVED}{name}" for name in ("curve", "replicate", "number"))
_CELLS = 2_000_000  # that are held at once


class Estimates(NamedTuple):
    """By row and metric; undefined is NaN."""

    values: NDArray[np.float64]
    replicates: NDArray[np.float64]
    """The same of each replicate, which is the first axis."""
    sizes: NDArray[np.float64]
    """Examples of the smaller class, by row."""


class Block(NamedTuple):
    """Some samples, with all their replicates."""

    pairs: pl.DataFrame
    """Their curves and prevalences."""
    estimates: Estimates
    """A row for each of them."""


class Bootstrap(NamedTuple):
    """What to draw, how often, and what of it to compute."""

    metrics: Sequence[CurveMetric]
    uncertainty: Uncertainty
    run: Collect

    def collected(self, query: pl.LazyFrame) -> pl.DataFrame:
        return self.run(query, 'method="bootstrap"')

    def samples(
        self, table: ScoreTable, found: Parts, groups: Sequence[Sequence[int]]
    ) -> Iterator[Sample]:
        """The examples of each sample, which is given by the groups that are its curves.

        Its cells, or its rows if they have weights, clusters or a part in several curves.
        """
        if table.weighted or {CLUSTER, EXAMPLE} & set(table.columns):
            rows = self.collected(numbered_rows(table, found.groups))
            # Also by what they add, so that which rows are drawn does not depend on their order.
            order = [GROUP, SCORE, POS, NEG]
            rows = rows.sort(order, descending=[False, True, True, True], maintain_order=True)
            for part, curves in _parts(rows, groups):
                yield _units(part, curves)
            return
        frame = found.rows
        if all(metric.needs != "all" for metric in self.metrics):
            frame = without_intermediate(frame)
        runs = {RUN_POS: POS, RUN_NEG: NEG}
        cells = frame.select(GROUP, *(pl.col(r) - pl.col(r).shift(1, fill_value=0) for r in runs))
        rows = self.collected(cells.cast(dict.fromkeys(runs, pl.Int64)))
        for part, _ in _parts(rows, groups):
            yield Cells(*(part[run].to_numpy() for run in runs))

    def blocks(self, samples: Iterable[Sample], pairs: pl.DataFrame) -> Iterator[Block]:
        """The metrics in each replicate, a few samples at a time.

        The curves of all samples are those of `pairs`, by rising GROUP, which hold the estimates.
        """
        import numpy as np

        samples = list(samples)
        n, first = self.uncertainty.n_resamples, 0
        seeds = iter(np.random.SeedSequence(self.uncertainty.seed).spawn(len(samples)))
        curve = pl.col(GROUP).rank("dense") - 1
        pairs = pairs.with_columns(curve.alias(_CURVE))
        if not samples:  # errors are to have their columns even so
            nothing = np.empty((n, 0, len(self.metrics)))
            yield Block(pairs, Estimates(nothing[0], nothing, np.empty(0)))
        with _progress(n * sum(sum(sample.lengths) for sample in samples)) as advance:
            for block in _blocks(samples, n):
                lengths = [length for sample in block for length in sample.lengths]
                streams = [list(map(np.random.default_rng, next(seeds).spawn(2))) for _ in block]
                drawing = list(zip(block, streams, strict=True))
                here = pairs.filter(pl.col(_CURVE).is_between(first, first + len(lengths) - 1))
                step = max(1, _CELLS // max(1, sum(lengths)))
                values = []
                for size in [*[step] * (n // step), *([n % step] if n % step else [])]:
                    drawn = [sample.draw(random, size) for sample, random in drawing]
                    pos, neg = (np.concatenate(side, axis=1) for side in zip(*drawn, strict=True))
                    curves = self._curves(pos, neg, lengths)
                    at_curves = here.with_columns((pl.col(_CURVE) - first).alias(GROUP))
                    values.append(self._values(curves, at_curves, size, len(lengths)))
                    advance(size * sum(lengths))
                estimates = here.select(*numbered(self.metrics)).fill_null(float("nan")).to_numpy()
                smaller = np.repeat([min(s.sizes) for s in block], [len(s.lengths) for s in block])
                sizes = smaller[(here[_CURVE] - first).to_numpy()]
                yield Block(here, Estimates(estimates, np.concatenate(values), sizes))
                first += len(lengths)

    def _curves(
        self, pos: NDArray[np.float64], neg: NDArray[np.float64], lengths: Sequence[int]
    ) -> Curves:
        """From what each replicate has in each cell, its curves, one after another."""
        import numpy as np

        curve = np.repeat(np.arange(len(lengths)), lengths)
        rises = all(metric.needs == "rises" for metric in self.metrics)
        kept = pos > 0 if rises else (pos > 0) | (neg > 0)
        replicate, cell = np.nonzero(kept)
        group = replicate * len(lengths) + curve[cell]
        points: dict[str, NDArray[Any]] = {GROUP: group.astype(np.uint32)}
        totals: dict[str, NDArray[Any]] = {GROUP: np.arange(len(pos) * len(lengths), dtype=np.uint32)}
        for amounts, rate, before, total in (
            (pos, "recall", RECALL_BEFORE, N_POS),
            (neg, "fpr", FPR_BEFORE, N_NEG),
        ):
            sums, n = _running(amounts, lengths)
            of = n.ravel()[group]
            with np.errstate(invalid="ignore"):
                points |= {rate: sums[kept] / of, before: (sums - amounts)[kept] / of}
            totals[total] = np.where(n > 0, n, np.nan).ravel()
        rows = extents(pl.LazyFrame(points).fill_nan(None), self.metrics)
        sizes = pl.col(N_POS), pl.col(N_NEG)
        has_pos, has_neg = (size.is_not_null() for size in sizes)
        return Curves(
            pl.LazyFrame(totals).fill_nan(None),
            with_hulls(rows, self.metrics, self.run),
            sizes,
            Curve(pl.col("eta"), has_pos, has_neg, pl.col(LEAST_FPR), *sizes),
            partial(rows_of, None),
        )

    def _values(
        self, curves: Curves, pairs: pl.DataFrame, replicates: int, n_curves: int
    ) -> NDArray[np.float64]:
        """The metrics by replicate, pair and metric."""
        named = numbered(self.metrics)
        each = pl.LazyFrame({_REPLICATE: range(replicates)}, schema={_REPLICATE: pl.UInt32})
        at = pairs.lazy().select(GROUP, "eta", ODDS, POS_FACTOR, NEG_FACTOR).with_row_index(_NUMBER)
        at = each.join(at, how="cross").with_columns(
            (pl.col(_REPLICATE) * n_curves + pl.col(GROUP)).cast(pl.UInt32).alias(GROUP),
            (pl.col(_REPLICATE) * len(pairs) + pl.col(_NUMBER)).cast(pl.UInt32).alias(PAIR),
        )
        at = at.drop(_REPLICATE, _NUMBER).join(curves.groups, on=GROUP, how="left")
        found = self.collected(curves.values(at, named).sort(PAIR).select(*named))
        return found.fill_null(float("nan")).to_numpy().reshape(replicates, len(pairs), len(named))

    def errors(self, blocks: Iterable[tuple[dict[str, pl.Series], Estimates]]) -> pl.LazyFrame:
        """What replicates, the first axis, tell of each estimate, beside the keys of its row.

        `<name>_standard_error`, `<name>_low`, `<name>_high`, and `<name>_p_value` for a value of 0.
        Replicates in which a metric is undefined are left out, with a warning that counts them.
        """
        import numpy as np

        n, tables, dropped = self.uncertainty.n_resamples, [], 0
        for keys, rows in blocks:
            estimates, values, _ = rows
            undefined = np.isnan(values).sum(axis=0)
            told = ~np.isnan(estimates) & (undefined < n)
            dropped = max(dropped, int(undefined[told].max(initial=0)))
            with warnings.catch_warnings(), np.errstate(invalid="ignore"):
                warnings.simplefilter("ignore", RuntimeWarning)  # where none is defined: NaN
                spread = np.nanstd(values, axis=0, ddof=1)
                spread[np.nanmin(values, axis=0) == np.nanmax(values, axis=0)] = 0
            low, high, p_value = _corrected(rows, self.uncertainty.confidence)
            p_value[spread == 0] = np.nan  # of no spread there is no test
            found = {"standard_error": spread, "low": low, "high": high, "p_value": p_value}
            columns = {
                f"{name}_{kind}": np.where(np.isnan(estimates), np.nan, numbers)[:, i]
                for kind, numbers in found.items()
                for i, name in enumerate(numbered(self.metrics))
            }
            tables.append(pl.DataFrame(keys | columns, nan_to_null=True))
        if dropped > 0:
            warnings.warn(
                f"up to {dropped} of {n} bootstrap replicates left a metric undefined, as those without "
                "a positive do; intervals are of the others",
                stacklevel=2,
            )
        return pl.concat(tables).lazy()


def _corrected(
    rows: Estimates, confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Bias-corrected percentiles, and the level at which one of them is 0 (Efron 1981).

    Replicates hold some positives twice, which lifts them above the estimate: it is not their median.
    With as many standard deviations as that is off, ends are taken from further down or up, and with
    few examples from further out (Hesterberg 2015). Where it is off by more than the interval is wide,
    the estimate itself is the end.
    """
    import numpy as np

    estimates, values, sizes = rows
    normal = NormalDist()
    known = np.maximum((~np.isnan(values)).sum(axis=0), 1)

    def below(limit: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """The normal quantile of the share of replicates below, ties by halves."""
        share = ((values < limit).sum(axis=0) + (values == limit).sum(axis=0) / 2) / known
        inside = share.clip(0.5 / known, 1 - 0.5 / known)
        return np.asarray(np.vectorize(normal.inv_cdf, otypes=[float])(inside))

    cdf = np.vectorize(normal.cdf, otypes=[float])
    off, z, further = below(estimates), z_of(confidence), _further(sizes)[:, None]
    ordered = np.sort(values, axis=0)  # NaN last
    ends = []
    for level in (cdf(2 * off - z * further), cdf(2 * off + z * further)):
        place = (level * (known + 1) - 1).clip(0, known - 1)  # Davison and Hinkley 1997, section 5.2
        lower = np.floor(place).astype(np.int64)
        at = [
            np.take_along_axis(ordered, np.minimum(number, known - 1)[None], axis=0)[0]
            for number in (lower, lower + 1)
        ]
        ends.append(at[0] + (place - lower) * (at[1] - at[0]))
    one_side = cdf((below(0.0) - 2 * off) / further)
    low, high = np.minimum(ends[0], estimates), np.maximum(ends[1], estimates)
    return low, high, 2 * np.minimum(one_side, 1 - one_side)


def _further(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much further out a quantile of Student's distribution is than the normal one, at 95 %, with
    what n / (n - 1) adds; of less than six examples as of so many."""
    import numpy as np

    n, z = np.maximum(sizes, 6.0), z_of(0.95)
    first, second = (z**2 + 1) / 4, (5 * z**4 + 16 * z**2 + 3) / 96  # Fisher and Cornish 1960
    return np.asarray((1 + first / (n - 1) + second / (n - 1) ** 2) * np.sqrt(n / (n - 1)))


def _blocks(samples: Sequence[Sample], n: int) -> Iterator[list[Sample]]:
    """As many samples as can be held at once, or one."""
    block: list[Sample] = []
    cells = 0
    for sample in samples:
        size = sum(sample.lengths) * n
        if block and cells + size > _CELLS:
            yield block
            block, cells = [], 0
        block.append(sample)
        cells += size
    if block:
        yield block


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    """A line on a terminal that says how far it is, once it has taken a second."""
    done, start = 0, monotonic()
    shown = False

    def advance(more: int) -> None:
        nonlocal done, shown
        done += more
        if sys.stderr.isatty() and monotonic() - start > 1:
            shown = True
            print(f"\rbootstrap: {done / total:4.0%}", end="", file=sys.stderr, flush=True)

    try:
        yield advance
    finally:
        if shown:
            print(file=sys.stderr)


def _running(
    amounts: NDArray[np.float64], lengths: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums along each curve, and to its end."""
    import numpy as np

    sums = np.empty_like(amounts)
    totals = np.zeros((len(amounts), len(lengths)), dtype=amounts.dtype)
    start = 0
    for curve, length in enumerate(lengths):
        if length > 0:
            np.cumsum(amounts[:, start : start + length], axis=1, out=sums[:, start : start + length])
            totals[:, curve] = sums[:, start + length - 1]
        start += length
    return sums, totals


def _units(rows: pl.DataFrame, groups: Sequence[int]) -> Units:
    """Rows in the order of groups and falling scores."""
    import numpy as np

    cell = pl.struct(GROUP, SCORE).rle_id().alias("cell")
    unit = next((name for name in (CLUSTER, EXAMPLE) if name in rows.columns), None)
    number = pl.int_range(pl.len()) if unit is None else pl.col(unit).rank("dense") - 1
    rows = rows.with_columns(cell, number.cast(pl.Int64).alias("unit"))
    cells, units = (rows[name].to_numpy().astype(np.int64) for name in ("cell", "unit"))
    lengths = [rows.filter(pl.col(GROUP) == group)["cell"].n_unique() for group in groups]
    pos, neg = (rows[side].to_numpy() for side in (POS, NEG))
    classes = [np.ones(len(rows), dtype=bool)] if unit == CLUSTER else [pos > 0, neg > 0]
    strata = [np.unique(units[positive]) for positive in classes]
    return Units(strata, units, cells, pos, neg, lengths)


def _parts(
    frame: pl.DataFrame, samples: Sequence[Sequence[int]]
) -> Iterator[tuple[pl.DataFrame, Sequence[int]]]:
    """The rows of each sample, in order; of some there may be none."""
    import numpy as np

    last = [groups[-1] for groups in samples]
    ends = np.searchsorted(frame[GROUP].to_numpy(), last, side="right")
    start = 0
    for groups, end in zip(samples, ends.tolist(), strict=True):
        yield frame[start:end], groups
        start = end
