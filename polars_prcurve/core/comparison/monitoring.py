"""Watching a rate period by period: is it still as good as the reference?

cells of periods, cells of the reference -> one group after the other   value, interval, evidence, alarm

Of the probability `alpha` that there is ever a false alarm, a reference that was counted takes 4/5: the
series is tested against a bound that the true rate of the reference is below with at most that
probability. The series takes the rest, or all of it if the reference is a number.

A test here holds at every look at once, however often one looks:

    counts of periods -> bets       the log likelihood ratio of each period, for falls of several sizes
                      -> evidence   their product from each start on, mixed over falls and over starts
    running counts    -> interval   of the mean rate so far

If nothing fell, no bet is expected to gain, so the evidence is a supermartingale that starts at 1: the
probability that it ever reaches `1 / alpha` is at most alpha (Ville 1939). Rates may differ from period
to period, and periods may have any number of rows.

Sources: Robbins 1970, mixtures; Howard, Ramdas, McAuliffe and Sekhon 2021, intervals at all times; Shin,
Ramdas and Rinaldo 2023, a mixture over starts; Turner, Ly and Gruenwald 2024, bets on two rates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from polars_prcurve.core.curves.operating_points import build_points_table
from polars_prcurve.core.curves.targets import read_targets
from polars_prcurve.core.ground.argument_checks import read_number, refuse_kind
from polars_prcurve.core.ground.errors import PrcError, list_names
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.column_reader import check_group_names
from polars_prcurve.core.inputs.input_tables import InputTable
from polars_prcurve.core.metrics.point_formulas import precision
from polars_prcurve.core.metrics.segment_columns import CELLS
from polars_prcurve.core.prevalence.eta_grid import build_number_grid

Floats: TypeAlias = NDArray[np.float64]  # a value per period, or per period and bet
Counts: TypeAlias = NDArray[np.int64]  # a number of examples per period

MONITOR_COLUMNS = (
    "metric",
    "eta",
    "threshold",
    *CELLS,
    "value",
    "overall",
    "overall_low",
    "overall_high",
    "reference",
    "bound",
    "evidence",
    "needed",
    "alarm",
    "since",
)
"""The columns of `monitor`, after `by` and `time`."""
WATCHED = {"precision": ("tp", "fp"), "recall": ("tp", "fn"), "fpr": ("fp", "tn")}
"""The rates that can be watched: of which cells they are the first, among both."""
_OF_REFERENCE = 0.8
"""The share of alpha that the bound of a reference gets, whose error lasts for all periods."""
_REFERENCE = {name: f"{RESERVED}{name}_of_reference" for name in CELLS}  # columns of its cells
FALLS = tuple(2.0 ** (step / 2) for step in range(-10, 3))
"""By how much log odds fall in a bet: from 0.03 to 2, so that falls of any size have one near."""
TILTS = tuple(sign * 2.0**power for sign in (-1, 1) for power in range(-9, 3))
"""The shifts of log odds that an interval is mixed over."""
_LARGEST = 700.0  # whose exponential is a float
_NODES = 20_001  # at which a density is summed, for a quantile to 1e-6 of its spread
_BISECTIONS = 60  # halvings of an interval of length 1, down to the digits of a float


class PeriodCells(NamedTuple):
    """The four counts at one threshold: arrays with a count for each period, or those of a table."""

    tp: Any
    fp: Any
    fn: Any
    tn: Any


@dataclass(frozen=True)
class Watch:
    """What is watched: a rate, with `eta` precision at that prevalence, and how sure an alarm is."""

    metric: str
    eta: float | None
    alpha: float  # the probability that there is ever a false alarm, at most
    reference: float | None  # what the rate is to be at least, or fpr at most; None if a table tells

    @property
    def least_evidence(self) -> float:
        """The evidence that makes an alarm."""
        # Ville 1939: a bet that is fair without a fall ever reaches 1 / alpha with at most alpha.
        return 1 / (self.alpha if self.reference is not None else self.alpha * (1 - _OF_REFERENCE))

    def find_value(self, cells: PeriodCells) -> Any:
        """Return the rate of each period; NaN where it is 0/0."""
        tp, fp, fn, tn = cells
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.eta is not None:
                return precision.from_rates(tp / (tp + fn), fp / (fp + tn), self.eta)
            k, n = self.count(cells)
            return k / n

    def count(self, cells: PeriodCells) -> tuple[Any, Any]:
        """Return what the rate counts, and among how many."""
        hits, misses = (getattr(cells, name) for name in WATCHED[self.metric])
        return hits, hits + misses

    def find_interval(self, total: PeriodCells) -> tuple[Any, Any]:
        """Return limits of the rate of running counts, which hold at all periods at once."""
        tp, fp, fn, tn = total
        if self.eta is None:
            return find_running_interval(*self.count(total), self.alpha)
        # Bonferroni: both hold with 1 - alpha. Precision rises with recall, and falls with fpr.
        recall = find_running_interval(tp, tp + fn, self.alpha / 2)
        fpr = find_running_interval(fp, fp + tn, self.alpha / 2)
        with np.errstate(invalid="ignore"):
            low, high = (precision.from_rates(recall[i], fpr[1 - i], self.eta) for i in (0, 1))
        return low, high

    def find_bound(self, reference_cells: PeriodCells | None) -> float:
        """Return what no rate is worse than that is as good as the reference; NaN if nothing tells."""
        if reference_cells is None:
            assert self.reference is not None
            return self.reference
        alpha = self.alpha * _OF_REFERENCE
        if self.eta is not None:
            # Precision is 1 / (1 + (fpr / recall) (1 - eta) / eta).
            return 1 / (1 + bound_ratio(reference_cells, alpha) / (self.eta / (1 - self.eta)))
        k, n = map(int, self.count(reference_cells))
        if self.metric == "fpr":
            return 1 - bound_rate(n - k, n, alpha) if k < n else float("nan")
        return bound_rate(k, n, alpha) if k > 0 else float("nan")

    def bet(
        self, cells: PeriodCells, reference_cells: PeriodCells | None, bound: float
    ) -> NDArray[np.float64]:
        """Return the bets that the rate is worse than the bound, a row per period."""
        if self.eta is not None:
            before = PeriodCells(*(np.int64(0),) * 4) if reference_cells is None else reference_cells
            return bet_on_precision(cells, before, self.eta / (1 - self.eta) * (1 - bound) / bound)
        k, n = self.count(cells)
        if self.metric == "fpr":
            return bet_on_rate(n - k, n, 1 - bound)
        return bet_on_rate(k, n, bound)


def count_cells(table: InputTable, threshold: Any) -> pl.DataFrame:
    """Return the cells at the threshold, a row per group."""
    if table.count_dtype != pl.Int64:
        raise PrcError(
            "monitor() takes numbers of examples, and counts= holds floats; cast them to integers if "
            "that is what they are"
        )
    check_group_names(table.by, MONITOR_COLUMNS)
    targets = read_targets(table, threshold=threshold)
    if len(targets) != 1:
        raise refuse_kind("threshold=", "one threshold, or a frame with one for each group", threshold)
    points = build_points_table(table, build_number_grid([None], table), targets, [])
    points_table = table.collect(points, "monitor()")
    keys = list(table.by)
    if points_table.select(keys).is_duplicated().any() if keys else points_table.height > 1:
        raise PrcError("monitor() takes one threshold for each group; the frame holds several")
    return points_table.select(*keys, "threshold", *CELLS)


def read_watch(metric: Any, eta: float | None, confidence: float, reference: float | None) -> Watch:
    """Return what is watched; raise for what cannot be."""
    name = getattr(metric, "name", metric)
    if not isinstance(name, str) or name not in WATCHED:
        raise refuse_kind("metrics=", "one of precision, recall and fpr, one a call", metric)
    if eta is not None and name != "precision":
        raise PrcError(f"{name} does not depend on the prevalence; leave out eta=")
    if eta is not None and not 0 < eta < 1:
        raise PrcError(f"eta= must lie between 0 and 1, where precision can fall; got {eta}")
    return Watch(name, eta, 1 - confidence, reference)


def read_reference_rate(reference: object) -> float:
    """Return the rate that is to be kept; raise unless it lies between 0 and 1."""
    expected = "a bound table with labels, such as prc(last_year), or a rate between 0 and 1"
    return read_number("reference=", reference, expected, lambda rate: 0 < rate < 1)


def build_monitor_table(
    cells: pl.DataFrame, time: str, watch: Watch, reference: pl.DataFrame | None
) -> pl.DataFrame:
    """Return the result of `monitor`, from the cells of each group and period, and of the reference."""
    keys = cells.columns[: cells.columns.index("threshold")]
    groups = [name for name in keys if name != time]
    missing = cells.filter(pl.col(time).is_null()).select(pl.sum_horizontal(CELLS).sum()).item()
    if missing:
        raise PrcError(f"time= holds null in {missing} row(s), which are of no period; leave them out")
    cells = cells.sort(*groups, time).select(*groups, time, "threshold", *CELLS)
    if reference is not None:
        cells = _join_reference(cells, groups, reference)
    parts = cells.partition_by(*groups, maintain_order=True) if groups and cells.height else [cells]
    series = pl.concat([watch_series(part, time, watch) for part in parts])
    eta = [] if watch.eta is None else [pl.lit(watch.eta, dtype=pl.Float64).alias("eta")]
    metric, _, *other_columns = MONITOR_COLUMNS
    return series.select(*groups, time, pl.lit(watch.metric).alias(metric), *eta, *other_columns)


def _join_reference(cells: pl.DataFrame, groups: Sequence[str], reference: pl.DataFrame) -> pl.DataFrame:
    """Add the cells of the reference to each row, under the names of _REFERENCE."""
    keys = reference.columns[: reference.columns.index("threshold")]
    if unknown := [name for name in keys if name not in groups]:
        raise PrcError(
            f"the reference= table has groups by {list_names(unknown)}, and the table has not; say "
            "by= for the table, or leave it out of the reference"
        )
    reference_cells = reference.select(*keys, *CELLS).rename(_REFERENCE)
    for name in keys:
        if reference_cells.schema[name] != cells.schema[name]:
            raise PrcError(
                f"group column {name!r} is {reference_cells.schema[name]} in the reference= table and "
                f"{cells.schema[name]} in the other; cast one to the other"
            )
    if keys:
        rows = cells.join(reference_cells, on=keys, how="left", nulls_equal=True, maintain_order="left")
    else:
        reference_cells = reference_cells if reference_cells.height else reference_cells.clear(1)
        rows = cells.join(reference_cells, how="cross", maintain_order="left")
    lacking = rows.filter(pl.col(_REFERENCE["tp"]).is_null())
    if lacking.height:
        group_text = ", ".join(f"{name} {lacking[name][0]!r}" for name in keys) or "any group"
        raise PrcError(
            f"the reference= table has no rows of {group_text}; add them, or leave that group out"
        )
    return rows


def watch_series(part: pl.DataFrame, time: str, watch: Watch) -> pl.DataFrame:
    """Return one series with what is found: the value, the interval, the evidence and the alarm."""
    cells = PeriodCells(*(part[name].to_numpy().astype(np.int64) for name in CELLS))
    reference_cells = None
    if watch.reference is None and part.height:
        reference_cells = PeriodCells(*(np.int64(part[_REFERENCE[name]][0]) for name in CELLS))
    bound = watch.find_bound(reference_cells) if part.height else float("nan")
    has_bound = not np.isnan(bound)
    values, logs = np.full(part.height, np.nan), np.empty((0, 0))
    if has_bound:
        values, logs = weigh_evidence(watch.bet(cells, reference_cells, bound))
    reached = np.flatnonzero(values >= watch.least_evidence)
    alarm = np.arange(part.height) >= (reached[0] if len(reached) else part.height)
    start = find_start(logs[: reached[0] + 1]) if len(reached) else 0
    total = PeriodCells(*map(np.cumsum, cells))
    low, high = watch.find_interval(total)
    reference_rate = watch.reference if reference_cells is None else watch.find_value(reference_cells)
    numbers: dict[str, Any] = {
        "value": watch.find_value(cells),
        "overall": watch.find_value(total),
        "overall_low": low,
        "overall_high": high,
        "reference": reference_rate,
        "bound": bound,
        "evidence": values,
        "needed": watch.least_evidence,
    }
    columns = (
        pl.Series(name, np.broadcast_to(np.asarray(value, dtype=np.float64), part.height))
        for name, value in numbers.items()
    )
    return part.with_columns(
        *(column.fill_nan(None) for column in columns),
        (pl.Series("alarm", alarm) if has_bound else pl.lit(None, pl.Boolean).alias("alarm")),
    ).with_columns(since=pl.when("alarm").then(pl.col(time).get(start, null_on_oob=True)))


# Tests that hold at every look -----------------------------------------------------------------


def bound_rate(k: int, n: int, alpha: float) -> float:
    """Return a bound that a rate is below with a probability of at most alpha, from k of n."""
    # The alpha quantile of Beta(k, n - k + 1) (Clopper and Pearson 1934), to 1e-6 of its spread.
    if k == 0:
        return 0.0
    a, b = k, n - k + 1
    # The density in log odds is smooth, and falls off as exp(-a |x|) and exp(-b |x|) at worst.
    spread = 9 * math.sqrt(1 / a + 1 / b)
    x = math.log(a / b) + np.linspace(-spread - 40 / a, spread + 40 / b, _NODES)
    density = -a * np.logaddexp(0, -x) - b * np.logaddexp(0, x)
    below = np.cumsum(np.exp(density - density.max()))
    below -= np.exp(density - density.max()) / 2  # the mass below the middle of a step
    place = np.interp(alpha, below / below[-1], x)
    return float(1 / (1 + np.exp(-place)))


def bound_ratio(cells: PeriodCells, alpha: float) -> float:
    """Return a bound that fpr / recall is above with a probability of at most alpha; NaN without any."""
    tp, fp, fn, tn = map(int, cells)
    if tp * (fp + tn) == 0:
        return math.nan
    if fp == 0:  # which has no logarithm: both bounds at once
        return (1 - bound_rate(tn, tn, alpha / 2)) / bound_rate(tp, tp + fn, alpha / 2)
    # Distances of both bounds add up as squares, in logarithms (Zou and Donner 2008). As summed over all
    # draws of 30 to 2 000 positives, the probability was 0.04 at most at an alpha of 0.04.
    recall, fpr = tp / (tp + fn), fp / (fp + tn)
    below = math.log(recall / bound_rate(tp, tp + fn, alpha))
    above = math.log((1 - bound_rate(tn, fp + tn, alpha)) / fpr)
    return fpr / recall * math.exp(math.hypot(below, above))


def bet_on_rate(k: Counts, n: Counts, bound: float) -> Floats:
    """Return the log likelihood ratios of falls from a bound, for k of n in each period."""
    # The ratio at a rate p of at least the bound is expected to be at most 1, since it is linear in p.
    odds, falls = bound / (1 - bound), np.array(FALLS)
    gain_of_failure = np.log1p(odds) - np.log1p(odds * np.exp(-falls))  # of a failure
    return np.asarray(n[:, None] * gain_of_failure - k[:, None] * falls)


def bet_on_precision(cells: PeriodCells, before: PeriodCells, ratio: float) -> Floats:
    """Return the log likelihood ratios of falls of precision from that at fpr / recall = `ratio`."""
    # A bet takes both rates as they were in earlier periods and in the counts `before`, with one of them
    # worse. It is made against the two rates without a fall that are nearest to it in the likelihood of
    # the period. Whatever rates without a fall are true, it is then not expected to gain: rates without
    # a fall are a convex set.
    earlier = (
        np.cumsum(period_counts) - period_counts + start
        for period_counts, start in zip(cells, before, strict=True)
    )
    tp, fp, fn, tn = (period_counts.astype(np.float64) for period_counts in earlier)
    is_known = (tp + fn > 0) & (fp + tn > 0)
    recall, fpr = (tp + 0.5) / (tp + fn + 1), (fp + 0.5) / (fp + tn + 1)
    tp, fp, fn, tn = (np.asarray(period_counts, dtype=np.float64) for period_counts in cells)
    odds = ratio * np.exp(FALLS)
    tiny = 1e-6  # so that 1 minus a rate keeps ten digits
    worse_recall = np.clip(fpr[:, None] / odds, tiny, 1 - tiny)
    worse_fpr = np.clip(recall[:, None] * odds, tiny, 1 - tiny)
    recall = np.hstack([worse_recall, np.broadcast_to(recall[:, None], worse_recall.shape)])
    fpr = np.hstack([np.broadcast_to(fpr[:, None], worse_fpr.shape), worse_fpr])
    n_pos, n_neg = (tp + fn)[:, None], (fp + tn)[:, None]
    near = find_nearest_recall(recall, fpr, n_pos, n_neg, ratio)
    near_fpr = ratio * near
    bets = tp[:, None] * np.log(recall / near) + fn[:, None] * (np.log1p(-recall) - np.log1p(-near))
    bets += fp[:, None] * np.log(fpr / near_fpr)
    bets += tn[:, None] * (np.log1p(-fpr) - np.log1p(-near_fpr))
    bets = np.where(fpr > ratio * recall, bets, 0.0)  # clipped to what is no fall
    return np.where((is_known & (n_pos * n_neg > 0)[:, 0])[:, None], bets, 0.0)


def find_nearest_recall(
    recall: Floats, fpr: Floats, n_pos: Floats, n_neg: Floats, ratio: float
) -> Floats:
    """Return the recall, with fpr `ratio` times that, under which rates are expected most likely."""
    # For the recall x, where n_pos (r ln x + (1 - r) ln(1 - x)) + n_neg (f ln c x + (1 - f) ln(1 - c x))
    # has the slope 0, with the rates r and f of a bet and c = ratio. It is the root of a quadratic
    # equation (Miettinen and Nurminen 1985), as for a ratio of two risks.
    square = ratio * (n_pos + n_neg)
    linear = n_pos * (1 + ratio * recall) + n_neg * (ratio + fpr)
    constant = n_pos * recall + n_neg * fpr
    root = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0))
    with np.errstate(invalid="ignore"):  # of periods without rows, which make no bet
        return np.asarray(np.minimum(2 * constant / (linear + root), (1 - 1e-12) * min(1, 1 / ratio)))


def weigh_evidence(bets: Floats) -> tuple[Floats, Floats]:
    """Return the evidence after each period, and logarithms of the running product of bets on a fall."""
    # The bets from each start v on have a share 1 / v(v + 1).
    number = np.arange(1, len(bets) + 1)
    logs = np.cumsum(bets, axis=0)
    starts = -np.log(number * (number + 1.0))[:, None] - (logs - bets)
    of_falls = np.logaddexp.accumulate(starts, axis=0) + logs
    mixed = np.logaddexp.reduce(of_falls, axis=1) - math.log(bets.shape[1])
    # The shares of starts to come are kept as they are: those of all after t add up to 1 / (t + 1).
    mixed = np.logaddexp(mixed, -np.log(number + 1.0))
    return np.exp(np.minimum(mixed, _LARGEST)), logs


def find_start(logs: Floats) -> int:
    """Return the number of the period with which a fall likely began, of an alarm in the last one."""
    from_start = logs[-1] - np.vstack([np.zeros_like(logs[:1]), logs[:-1]])
    number = np.arange(1, len(logs) + 1)
    return int(np.argmax(np.logaddexp.reduce(from_start, axis=1) - np.log(number * (number + 1.0))))


def find_running_interval(k: Counts, n: Counts, alpha: float) -> tuple[Floats, Floats]:
    """Return limits of the mean rate so far, from running counts, which hold at all times at once."""
    # At a mean rate p the mixture of exp(tilt * k) / (1 - p + p exp(tilt))**n is expected to be at most
    # 1, and no more if rates vary about p. It is convex in p, and at most 1 where p is k / n, so the
    # rates at which it is below 1 / alpha are an interval.
    tilts = np.array(TILTS)

    def log_mixture(p: Floats) -> Floats:
        terms = tilts * k[:, None] - n[:, None] * np.log1p(p[:, None] * np.expm1(tilts))
        return np.asarray(np.logaddexp.reduce(terms, axis=1) - math.log(len(tilts)))

    rates = np.where(n > 0, k / np.maximum(n, 1), 0.5)
    ends = []
    for outside in (0.0, 1.0):
        inner, outer = rates.copy(), np.full(len(k), outside)
        for _ in range(_BISECTIONS):
            middle = (inner + outer) / 2
            holds = log_mixture(middle) < -math.log(alpha)
            inner, outer = np.where(holds, middle, inner), np.where(holds, outer, middle)
        ends.append(np.where(n > 0, outer, np.nan))
    return ends[0], ends[1]
