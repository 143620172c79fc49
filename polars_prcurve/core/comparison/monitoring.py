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
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from polars_prcurve.core.confidence.doubts import DOUBT, doubt_missing_ends
from polars_prcurve.core.curves.operating_points import build_points_table
from polars_prcurve.core.curves.target_arguments import read_targets
from polars_prcurve.core.ground.argument_checks import refuse_kind
from polars_prcurve.core.ground.column_checks import is_missing
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import Floats
from polars_prcurve.core.ground.message_text import add_noun, list_names
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.share_texts import read_share
from polars_prcurve.core.inputs.group_column_checks import check_group_dtypes, check_group_names
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS
from polars_prcurve.core.metrics.point_formulas import precision
from polars_prcurve.core.metrics.segment_column_names import CELLS
from polars_prcurve.core.prevalence.eta_table import NEAREST_ETA, build_number_grid

Counts: TypeAlias = NDArray[np.int64]  # a number of examples per period

SINCE_COLUMNS = ("overall_since", "overall_since_low", "overall_since_high")
"""The rate of all rows since a fall likely began, and its interval."""
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
    *SINCE_COLUMNS,
    DOUBT,
)
"""The columns of `monitor`, after `by` and `time`."""
WATCHED = {"precision": ("tp", "fp"), "recall": ("tp", "fn"), "fpr": ("fp", "tn")}
"""The rates that can be watched: of which cells they are the first, among both."""
_REFERENCE_SHARE = 0.8
"""The share of alpha that the bound of a reference gets, whose error lasts for all periods."""
_REFERENCE_COLUMNS = {name: f"{RESERVED}{name}_of_reference" for name in CELLS}  # columns of its cells
FALLS = tuple(2.0 ** (step / 2) for step in range(-10, 3))
"""By how much log odds fall in a bet: from 0.03 to 2, so that falls of any size have one near."""
TILTS = tuple(sign * 2.0**power for sign in (-1, 1) for power in range(-9, 3))
"""The shifts of log odds that an interval is mixed over."""
_LARGEST_LOG = 700.0  # whose exponential is a float
_N_NODES = 20_001  # at which a density is summed, for a quantile to 1e-6 of its spread
_N_BISECTIONS = 60  # halvings of an interval of length 1, down to the digits of a float


class PeriodCells(NamedTuple):
    """The four counts at one threshold: arrays with a count for each period, or those of a table."""

    tp: Any
    fp: Any
    fn: Any
    tn: Any


@dataclass(frozen=True)
class Watch:
    """What is watched: a rate, with `eta` precision at that prevalence, and how sure an alarm is."""

    metric_name: str
    eta: float | None
    alpha: float  # the probability that there is ever a false alarm, at most
    reference_rate: float | None
    """What the rate is to be at least, or fpr at most; None if a table has it."""

    @property
    def least_evidence(self) -> float:
        """The evidence that makes an alarm."""
        # Ville 1939: a bet that is fair without a fall ever reaches 1 / alpha with at most alpha.
        alpha = self.alpha if self.reference_rate is not None else self.alpha * (1 - _REFERENCE_SHARE)
        return round(1 / alpha, 9)  # of 95%: 20, as 1 - 0.95 is not 0.05 to the last digit

    def find_value(self, cells: PeriodCells) -> Any:
        """Return the rate of each period; NaN where it is 0/0."""
        tp, fp, fn, tn = cells
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.eta is not None:
                return precision.from_rates(tp / (tp + fn), fp / (fp + tn), self.eta)
            n_hits, n_trials = self.count(cells)
            return n_hits / n_trials

    def count(self, cells: PeriodCells) -> tuple[Any, Any]:
        """Return what the rate counts, and among how many."""
        n_hits, n_misses = (getattr(cells, name) for name in WATCHED[self.metric_name])
        return n_hits, n_hits + n_misses

    def find_interval(self, running_cells: PeriodCells) -> tuple[Any, Any]:
        """Return limits of the rate of running counts, which hold at all periods at once."""
        tp, fp, fn, tn = running_cells
        if self.eta is None:
            return find_running_interval(*self.count(running_cells), self.alpha)
        # Bonferroni: both hold with 1 - alpha. Precision rises with recall, and falls with fpr.
        recall_limits = find_running_interval(tp, tp + fn, self.alpha / 2)
        fpr_limits = find_running_interval(fp, fp + tn, self.alpha / 2)
        with np.errstate(invalid="ignore"):
            low, high = (
                precision.from_rates(recall_limits[end_number], fpr_limits[1 - end_number], self.eta)
                for end_number in (0, 1)
            )
        return low, high

    def find_bound(self, reference_cells: PeriodCells | None) -> float:
        """Return the worst rate that is as good as the reference; NaN if there is no such rate."""
        if reference_cells is None:
            assert self.reference_rate is not None
            return self.reference_rate
        alpha = self.alpha * _REFERENCE_SHARE
        if self.eta is not None:
            # Precision is 1 / (1 + (fpr / recall) (1 - eta) / eta).
            return 1 / (1 + bound_ratio(reference_cells, alpha) / (self.eta / (1 - self.eta)))
        n_hits, n_trials = map(int, self.count(reference_cells))
        if self.metric_name == "fpr":
            return (
                1 - bound_rate(n_trials - n_hits, n_trials, alpha) if n_hits < n_trials else float("nan")
            )
        return bound_rate(n_hits, n_trials, alpha) if n_hits > 0 else float("nan")

    def bet(
        self, cells: PeriodCells, reference_cells: PeriodCells | None, bound: float
    ) -> NDArray[np.float64]:
        """Return the bets that the rate is worse than the bound, a row per period."""
        if self.eta is not None:
            earlier_cells = (
                PeriodCells(*(np.int64(0),) * 4) if reference_cells is None else reference_cells
            )
            return bet_on_precision(
                cells, earlier_cells, self.eta / (1 - self.eta) * (1 - bound) / bound
            )
        n_hits, n_trials = self.count(cells)
        if self.metric_name == "fpr":
            return bet_on_rate(n_trials - n_hits, n_trials, 1 - bound)
        return bet_on_rate(n_hits, n_trials, bound)


def count_cells_at_threshold(table: ResolvedTable, threshold: Any) -> pl.DataFrame:
    """Return the cells at the threshold, a row per group."""
    if table.count_dtype != pl.Int64:
        raise PrcError(
            "cast counts= to integers if they are numbers of examples, which monitor() needs; got floats"
        )
    check_group_names(table.by, MONITOR_COLUMNS)
    targets = read_targets(table, threshold=threshold)
    if len(targets) != 1:
        raise refuse_kind("threshold=", "one threshold, or a frame with one for each group", threshold)
    point_rows = build_points_table(table, build_number_grid([None], table), targets, [])
    collected_points = table.collect(point_rows, "monitor()")
    key_columns = list(table.by)
    if (
        collected_points.select(key_columns).is_duplicated().any()
        if key_columns
        else collected_points.height > 1
    ):
        raise PrcError("pass one threshold for each group to monitor(); the frame holds several")
    return collected_points.select(*key_columns, "threshold", *CELLS)


def read_watch(metric: Any, eta: float | None, confidence: float, reference: float | None) -> Watch:
    """Return what is watched; raise for what cannot be."""
    metric_name = getattr(metric, "name", metric)
    if isinstance(metric_name, str) and metric_name in CURVE_METRICS:
        # An area of few rows is biased, which adds up over many periods: no error could be kept.
        raise PrcError(
            f"pass precision, recall or fpr to monitor(), or compare two periods by {metric_name} with "
            "compare(paired=False)"
        )
    if not isinstance(metric_name, str) or metric_name not in WATCHED:
        raise refuse_kind("metrics=", "one of precision, recall and fpr per call", metric)
    if eta is not None and metric_name != "precision":
        raise PrcError(f"leave out eta=: {metric_name} does not depend on the prevalence")
    if eta is not None and not NEAREST_ETA <= eta <= 1 - NEAREST_ETA:
        raise PrcError(f"eta= must be from 1e-15 to 1 - 1e-15, where precision can fall; got {eta}")
    return Watch(metric_name, eta, 1 - confidence, reference)


def read_reference_rate(reference: object) -> float:
    """Return the rate that is to be kept; raise unless it can become worse, and has odds."""
    expected_phrase = (
        "a bound table with labels, such as prc(last_year), or a rate from 1e-15 to 1 - 1e-15"
    )
    return read_share(
        "reference=", reference, expected_phrase, lambda share: NEAREST_ETA <= share <= 1 - NEAREST_ETA
    )


def build_monitor_table(
    cell_rows: pl.DataFrame,
    time_column: str,
    watch: Watch,
    reference_rows: pl.DataFrame | None,
    adjust: Literal["all"] | None,
) -> pl.DataFrame:
    """Return the result of `monitor`, from the cells of each group and period, and of the reference."""
    key_columns = cell_rows.columns[: cell_rows.columns.index("threshold")]
    group_columns = [name for name in key_columns if name != time_column]
    _check_periods(cell_rows, time_column)
    cell_rows = cell_rows.sort(*group_columns, time_column).select(
        *group_columns, time_column, "threshold", *CELLS
    )
    if reference_rows is not None:
        cell_rows = _join_reference(cell_rows, group_columns, reference_rows)
    rows_of_series = (
        cell_rows.partition_by(*group_columns, maintain_order=True)
        if group_columns and cell_rows.height
        else [cell_rows]
    )
    if adjust == "all":  # Bonferroni: the errors of all groups add up to that of one
        watch = replace(watch, alpha=watch.alpha / len(rows_of_series))
    period_rows = pl.concat(
        [watch_series(series_rows, time_column, watch) for series_rows in rows_of_series]
    )
    eta_exprs = [] if watch.eta is None else [pl.lit(watch.eta, dtype=pl.Float64).alias("eta")]
    metric_column, _, *other_columns = MONITOR_COLUMNS
    doubt = doubt_missing_ends(pl.lit(None, dtype=pl.String), ["overall_low", "overall_high"])
    return period_rows.with_columns(doubt.alias(DOUBT)).select(
        *group_columns,
        time_column,
        pl.lit(watch.metric_name).alias(metric_column),
        *eta_exprs,
        *other_columns,
    )


def _check_periods(cell_rows: pl.DataFrame, time_column: str) -> None:
    """Raise for rows of no period, and for periods that are text in another order than people count."""
    periods = cell_rows[time_column]
    missing_rows = cell_rows.filter(is_missing(pl.col(time_column), periods.dtype))
    if n_missing := missing_rows.select(pl.sum_horizontal(CELLS).sum()).item():
        raise PrcError(
            f"time= holds null or NaN in {add_noun(n_missing, 'row')}; leave out rows that belong to no "
            "period"
        )
    if periods.dtype not in (pl.String, pl.Categorical):
        return
    for earlier_period, later_period in pairwise(periods.cast(pl.String).drop_nulls().unique().sort()):
        if _split_numbers(earlier_period) > _split_numbers(later_period):
            expr_text = (
                f"pl.col({time_column!r}).str.extract(r'([0-9]+)').cast(int).alias({time_column!r})"
            )
            raise PrcError(
                f"pass numbers or dates as time=, such as {expr_text}, or an Enum of the periods in "
                f"order: text sorts {earlier_period!r} before {later_period!r}"
            )


def _split_numbers(period: str) -> list[tuple[int, str]]:
    """Return what orders periods such as `week 9` and `week 10` as people do, by the size of numbers."""
    text_parts = re.split(r"0*([0-9]+)", period)  # every second part is a number: the longer, the larger
    return [
        (len(text_part) * (part_index % 2), text_part) for part_index, text_part in enumerate(text_parts)
    ]


def _join_reference(
    cell_rows: pl.DataFrame, group_columns: Sequence[str], reference_rows: pl.DataFrame
) -> pl.DataFrame:
    """Add the cells of the reference to each row, under the names of _REFERENCE_COLUMNS."""
    key_columns = reference_rows.columns[: reference_rows.columns.index("threshold")]
    if unknown_columns := [name for name in key_columns if name not in group_columns]:
        raise PrcError(
            "group both tables by the same columns: the reference= table is grouped by "
            f"{list_names(unknown_columns)}, and the other is not"
        )
    renamed_cells = reference_rows.select(*key_columns, *CELLS).rename(_REFERENCE_COLUMNS)
    key_dtypes = renamed_cells.select(key_columns).schema
    check_group_dtypes(key_dtypes, cell_rows.schema, "in the reference= table", "in the other")
    if key_columns:
        period_rows = cell_rows.join(
            renamed_cells, on=key_columns, how="left", nulls_equal=True, maintain_order="left"
        )
    else:
        renamed_cells = renamed_cells if renamed_cells.height else renamed_cells.clear(1)
        period_rows = cell_rows.join(renamed_cells, how="cross", maintain_order="left")
    lacking_rows = period_rows.filter(pl.col(_REFERENCE_COLUMNS["tp"]).is_null())
    if lacking_rows.height:
        group_text = (
            ", ".join(f"{name} {lacking_rows[name][0]!r}" for name in key_columns) or "any group"
        )
        raise PrcError(
            f"add rows of {group_text} to the reference= table, which has none, or leave that group out"
        )
    return period_rows


def watch_series(series_rows: pl.DataFrame, time_column: str, watch: Watch) -> pl.DataFrame:
    """Return one series with its results: the value, the interval, the evidence and the alarm."""
    cells = PeriodCells(*(series_rows[name].to_numpy().astype(np.int64) for name in CELLS))
    reference_cells = None
    if watch.reference_rate is None and series_rows.height:
        reference_cells = PeriodCells(
            *(np.int64(series_rows[_REFERENCE_COLUMNS[name]][0]) for name in CELLS)
        )
    bound = watch.find_bound(reference_cells) if series_rows.height else float("nan")
    has_bound = 0 < bound < 1  # precision at a prevalence near 1 may round to it
    evidence, log_products = np.full(series_rows.height, np.nan), np.empty((0, 0))
    if has_bound:
        evidence, log_products = weigh_evidence(watch.bet(cells, reference_cells, bound))
    alarm_period_numbers = np.flatnonzero(evidence >= watch.least_evidence)
    first_alarm_number = alarm_period_numbers[0] if len(alarm_period_numbers) else series_rows.height
    is_alarm = np.arange(series_rows.height) >= first_alarm_number
    start_period_number = find_start(log_products[: first_alarm_number + 1]) if is_alarm.any() else 0
    running_cells = PeriodCells(*map(np.cumsum, cells))
    low, high = watch.find_interval(running_cells)
    reference_rate = watch.find_value(reference_cells) if reference_cells else watch.reference_rate
    value_by_column: dict[str, Any] = {
        "value": watch.find_value(cells),
        "overall": watch.find_value(running_cells),
        "overall_low": low,
        "overall_high": high,
        "reference": reference_rate,
        "bound": bound,
        "evidence": evidence,
        "needed": watch.least_evidence,
        **measure_since(watch, cells, start_period_number, is_alarm),
    }
    result_series = (
        pl.Series(name, np.broadcast_to(np.asarray(value, dtype=np.float64), series_rows.height))
        for name, value in value_by_column.items()
    )
    return series_rows.with_columns(
        *(period_values.fill_nan(None) for period_values in result_series),
        (pl.Series("alarm", is_alarm) if has_bound else pl.lit(None, pl.Boolean).alias("alarm")),
    ).with_columns(
        since=pl.when("alarm").then(pl.col(time_column).get(start_period_number, null_on_oob=True))
    )


def measure_since(
    watch: Watch, cells: PeriodCells, start_period_number: int, is_alarm: NDArray[np.bool_]
) -> dict[str, Floats]:
    """Return the rate of all rows since a start, and its interval, from the alarm on; else NaN."""
    since_values = np.full((3, len(is_alarm)), np.nan)
    if is_alarm.any():
        since_cells = PeriodCells(*(np.cumsum(counts[start_period_number:]) for counts in cells))
        # Data choose the start. All the same at most 3% of intervals missed their mean in the period of
        # the alarm, and 0.5% in the last one, of 400 series of each of 23 kinds.
        since_values[:, start_period_number:] = (
            watch.find_value(since_cells),
            *watch.find_interval(since_cells),
        )
        since_values[:, ~is_alarm] = np.nan
    return dict(zip(SINCE_COLUMNS, since_values, strict=True))


# Tests that hold at every look -----------------------------------------------------------------


def bound_rate(n_hits: int, n_trials: int, alpha: float) -> float:
    """Return a bound that a rate is below with a probability of at most alpha, from k of n."""
    # The alpha quantile of Beta(k, n - k + 1) (Clopper and Pearson 1934), to 1e-6 of its spread.
    if n_hits == 0:
        return 0.0
    a, b = n_hits, n_trials - n_hits + 1
    # The density in log odds is smooth, and falls off as exp(-a |x|) and exp(-b |x|) at worst.
    half_range = 9 * math.sqrt(1 / a + 1 / b)
    x = math.log(a / b) + np.linspace(-half_range - 40 / a, half_range + 40 / b, _N_NODES)
    log_density = -a * np.logaddexp(0, -x) - b * np.logaddexp(0, x)
    mass_below = np.cumsum(np.exp(log_density - log_density.max()))
    mass_below -= np.exp(log_density - log_density.max()) / 2  # the mass below the middle of a step
    log_odds_at_quantile = np.interp(alpha, mass_below / mass_below[-1], x)
    return float(1 / (1 + np.exp(-log_odds_at_quantile)))


def bound_ratio(cells: PeriodCells, alpha: float) -> float:
    """Return a bound that fpr / recall is above with a probability of at most alpha; NaN without any."""
    tp, fp, fn, tn = map(int, cells)
    if tp * (fp + tn) == 0:
        return math.nan
    if fp == 0:  # which has no logarithm: both bounds at once
        return (1 - bound_rate(tn, tn, alpha / 2)) / bound_rate(tp, tp + fn, alpha / 2)
    # Distances of both bounds add up as squares, in logarithms (Zou and Donner 2008). As summed over all
    # draws of 30 to 2,000 positives, the probability was 0.04 at most at an alpha of 0.04.
    recall, fpr = tp / (tp + fn), fp / (fp + tn)
    recall_distance = math.log(recall / bound_rate(tp, tp + fn, alpha))
    fpr_distance = math.log((1 - bound_rate(tn, fp + tn, alpha)) / fpr)
    return fpr / recall * math.exp(math.hypot(recall_distance, fpr_distance))


def bet_on_rate(n_hits: Counts, n_trials: Counts, bound: float) -> Floats:
    """Return the log likelihood ratios of falls from a bound, for k of n in each period."""
    # The ratio at a rate p of at least the bound is expected to be at most 1, since it is linear in p.
    odds, falls = bound / (1 - bound), np.array(FALLS)
    gain_of_failure = np.log1p(odds) - np.log1p(odds * np.exp(-falls))  # of a failure
    return np.asarray(n_trials[:, None] * gain_of_failure - n_hits[:, None] * falls)


def bet_on_precision(cells: PeriodCells, counts_before: PeriodCells, fpr_per_recall: float) -> Floats:
    """Return the log likelihood ratios of falls of precision from that at this fpr over recall."""
    # A bet takes both rates as they were in earlier periods and in `earlier_cells`, with one of them
    # worse. It is made against the two rates without a fall that are nearest to it in the likelihood of
    # the period. Whatever rates without a fall are true, it is then not expected to gain: rates without
    # a fall are a convex set.
    earlier_counts = (
        np.cumsum(period_counts) - period_counts + start_count
        for period_counts, start_count in zip(cells, counts_before, strict=True)
    )
    tp, fp, fn, tn = (period_counts.astype(np.float64) for period_counts in earlier_counts)
    is_known = (tp + fn > 0) & (fp + tn > 0)
    recall, fpr = (tp + 0.5) / (tp + fn + 1), (fp + 0.5) / (fp + tn + 1)
    tp, fp, fn, tn = (np.asarray(period_counts, dtype=np.float64) for period_counts in cells)
    odds = fpr_per_recall * np.exp(FALLS)
    least_rate = 1e-6  # so that 1 minus a rate keeps ten digits
    worse_recall = np.clip(fpr[:, None] / odds, least_rate, 1 - least_rate)
    worse_fpr = np.clip(recall[:, None] * odds, least_rate, 1 - least_rate)
    recall = np.hstack([worse_recall, np.broadcast_to(recall[:, None], worse_recall.shape)])
    fpr = np.hstack([np.broadcast_to(fpr[:, None], worse_fpr.shape), worse_fpr])
    n_pos, n_neg = (tp + fn)[:, None], (fp + tn)[:, None]
    nearest_recall = find_nearest_recall(recall, fpr, n_pos, n_neg, fpr_per_recall)
    nearest_fpr = fpr_per_recall * nearest_recall
    bets = tp[:, None] * np.log(recall / nearest_recall) + fn[:, None] * (
        np.log1p(-recall) - np.log1p(-nearest_recall)
    )
    bets += fp[:, None] * np.log(fpr / nearest_fpr)
    bets += tn[:, None] * (np.log1p(-fpr) - np.log1p(-nearest_fpr))
    bets = np.where(fpr > fpr_per_recall * recall, bets, 0.0)  # clipped to what is no fall
    return np.where((is_known & (n_pos * n_neg > 0)[:, 0])[:, None], bets, 0.0)


def find_nearest_recall(
    recall: Floats, fpr: Floats, n_pos: Floats, n_neg: Floats, fpr_per_recall: float
) -> Floats:
    """Return the recall, with fpr in this ratio to it, under which rates are expected most likely."""
    # For the recall x, where n_pos (r ln x + (1 - r) ln(1 - x)) + n_neg (f ln c x + (1 - f) ln(1 - c x))
    # has the slope 0, with the rates r and f of a bet and c = fpr_per_recall. It is the root of a
    # quadratic equation (Miettinen and Nurminen 1985), as for a ratio of two risks.
    square_coefficient = fpr_per_recall * (n_pos + n_neg)
    linear_coefficient = n_pos * (1 + fpr_per_recall * recall) + n_neg * (fpr_per_recall + fpr)
    constant_coefficient = n_pos * recall + n_neg * fpr
    root = np.sqrt(np.maximum(linear_coefficient**2 - 4 * square_coefficient * constant_coefficient, 0))
    with np.errstate(invalid="ignore"):  # of periods without rows, which make no bet
        return np.asarray(
            np.minimum(
                2 * constant_coefficient / (linear_coefficient + root),
                (1 - 1e-12) * min(1, 1 / fpr_per_recall),
            )
        )


def weigh_evidence(bets: Floats) -> tuple[Floats, Floats]:
    """Return the evidence after each period, and logarithms of the running product of bets on a fall."""
    # The bets from each start v on have a share 1 / v(v + 1).
    period_numbers = np.arange(1, len(bets) + 1)
    log_products = np.cumsum(bets, axis=0)
    log_start_shares = -np.log(period_numbers * (period_numbers + 1.0))[:, None] - (log_products - bets)
    log_evidence_of_falls = np.logaddexp.accumulate(log_start_shares, axis=0) + log_products
    log_evidence = np.logaddexp.reduce(log_evidence_of_falls, axis=1) - math.log(bets.shape[1])
    # The shares of starts to come are kept as they are: those of all after t add up to 1 / (t + 1).
    log_evidence = np.logaddexp(log_evidence, -np.log(period_numbers + 1.0))
    return np.exp(np.minimum(log_evidence, _LARGEST_LOG)), log_products


def find_start(log_products: Floats) -> int:
    """Return the number of the period with which a fall likely began, of an alarm in the last one."""
    # The most likely start. Weighed as in the evidence, starts were 1.1 periods off on average in 60
    # kinds of series, 2.7 where the fall began in the 21st; like this 0.7 and 0.9.
    log_gains = log_products[-1] - np.vstack([np.zeros_like(log_products[:1]), log_products[:-1]])
    return int(np.argmax(np.logaddexp.reduce(log_gains, axis=1)))


def find_running_interval(n_hits: Counts, n_trials: Counts, alpha: float) -> tuple[Floats, Floats]:
    """Return limits of the mean rate so far, from running counts, which hold at all times at once."""
    # At a mean rate p the mixture of exp(tilt * k) / (1 - p + p exp(tilt))**n is expected to be at most
    # 1, and no more if rates vary about p. It is convex in p, and at most 1 where p is k / n, so the
    # rates at which it is below 1 / alpha are an interval.
    tilts = np.array(TILTS)

    def compute_log_mixture(p: Floats) -> Floats:
        log_terms = tilts * n_hits[:, None] - n_trials[:, None] * np.log1p(p[:, None] * np.expm1(tilts))
        return np.asarray(np.logaddexp.reduce(log_terms, axis=1) - math.log(len(tilts)))

    rates = np.where(n_trials > 0, n_hits / np.maximum(n_trials, 1), 0.5)
    interval_ends = []
    for outer_bound in (0.0, 1.0):
        inner_rates, outer_rates = rates.copy(), np.full(len(n_hits), outer_bound)
        for _ in range(_N_BISECTIONS):
            middle_rates = (inner_rates + outer_rates) / 2
            is_inside = compute_log_mixture(middle_rates) < -math.log(alpha)
            inner_rates = np.where(is_inside, middle_rates, inner_rates)
            outer_rates = np.where(is_inside, outer_rates, middle_rates)
        interval_ends.append(np.where(n_trials > 0, outer_rates, np.nan))
    return interval_ends[0], interval_ends[1]
