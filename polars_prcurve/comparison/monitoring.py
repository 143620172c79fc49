"""Watching a rate period by period: is it still as good as the reference?

cells of periods, cells of the reference -> one group after the other   value, interval, evidence, alarm

Of the probability `alpha` that there is ever a false alarm, a reference that was counted takes 4/5: the
series is tested against a bound that the true rate of the reference is below with at most that
probability. The series takes the rest, or all of it if the reference is a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import read_number, refuse_kind
from polars_prcurve.confidence import sequential_tests as tests
from polars_prcurve.confidence.sequential_tests import PeriodCells
from polars_prcurve.errors import PrcError, list_names
from polars_prcurve.metrics.point_metrics import precision

MONITOR_COLUMNS = (
    *("metric", "eta", "threshold", *c.CELLS, "value", "overall", "overall_low", "overall_high"),
    *("reference", "bound", "evidence", "needed", "alarm", "since"),
)
WATCHED = {"precision": ("tp", "fp"), "recall": ("tp", "fn"), "fpr": ("fp", "tn")}
"""The rates that can be watched: of which cells they are the first, among both."""
_OF_REFERENCE = 0.8
_REFERENCE = {name: f"{c.RESERVED}{name}_of_reference" for name in c.CELLS}


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

    @property
    def ratio_of_odds(self) -> float:
        """The factor from recall / fpr to the odds of precision."""
        assert self.eta is not None
        return self.eta / (1 - self.eta)

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
        hits, others = (getattr(cells, name) for name in WATCHED[self.metric])
        return hits, hits + others

    def find_interval(self, cells: PeriodCells) -> tuple[Any, Any]:
        """Return limits of the rate of all periods so far, which hold at all periods at once."""
        tp, fp, fn, tn = (np.cumsum(each) for each in cells)
        if self.eta is None:
            return tests.find_running_interval(*self.count(PeriodCells(tp, fp, fn, tn)), self.alpha)
        # Bonferroni: both hold with 1 - alpha. Precision rises with recall, and falls with fpr.
        recall = tests.find_running_interval(tp, tp + fn, self.alpha / 2)
        fpr = tests.find_running_interval(fp, fp + tn, self.alpha / 2)
        with np.errstate(invalid="ignore"):
            low, high = (precision.from_rates(recall[i], fpr[1 - i], self.eta) for i in (0, 1))
        return low, high

    def find_bound(self, of: PeriodCells | None) -> float:
        """Return what no rate is worse than that is as good as the reference; NaN if nothing tells."""
        if of is None:
            assert self.reference is not None
            return self.reference
        alpha = self.alpha * _OF_REFERENCE
        if self.eta is not None:
            # Precision is 1 / (1 + (fpr / recall) (1 - eta) / eta).
            return 1 / (1 + tests.bound_ratio(of, alpha) / self.ratio_of_odds)
        k, n = map(int, self.count(of))
        if self.metric == "fpr":
            return 1 - tests.bound_rate(n - k, n, alpha) if k < n else float("nan")
        return tests.bound_rate(k, n, alpha) if k > 0 else float("nan")

    def bet(self, cells: PeriodCells, of: PeriodCells | None, bound: float) -> NDArray[np.float64]:
        """Return the bets that the rate is worse than the bound, a row per period."""
        if self.eta is not None:
            before = PeriodCells(*(np.int64(0),) * 4) if of is None else of
            return tests.bet_on_precision(cells, before, self.ratio_of_odds * (1 - bound) / bound)
        k, n = self.count(cells)
        of_rate = (n - k, n, 1 - bound) if self.metric == "fpr" else (k, n, bound)
        return tests.bet_on_rate(*of_rate)


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
    missing = cells.filter(pl.col(time).is_null()).select(pl.sum_horizontal(c.CELLS).sum()).item()
    if missing:
        raise PrcError(f"time= holds null in {missing} row(s), which are of no period; leave them out")
    cells = cells.sort(*groups, time).select(*groups, time, "threshold", *c.CELLS)
    if reference is not None:
        cells = _join_reference(cells, groups, reference)
    parts = cells.partition_by(*groups, maintain_order=True) if groups and cells.height else [cells]
    found = pl.concat([watch_series(part, time, watch) for part in parts])
    eta = [] if watch.eta is None else [pl.lit(watch.eta, dtype=pl.Float64).alias("eta")]
    metric, _, *others = MONITOR_COLUMNS
    return found.select(*groups, time, pl.lit(watch.metric).alias(metric), *eta, *others)


def _join_reference(cells: pl.DataFrame, groups: Sequence[str], reference: pl.DataFrame) -> pl.DataFrame:
    """Add the cells of the reference to each row, under the names of _REFERENCE."""
    keys = reference.columns[: reference.columns.index("threshold")]
    if unknown := [name for name in keys if name not in groups]:
        raise PrcError(
            f"the reference= table has groups by {list_names(unknown)}, and the table has not; say "
            "by= for the table, or leave it out of the reference"
        )
    of = reference.select(*keys, *c.CELLS).rename(_REFERENCE)
    for name in keys:
        if of.schema[name] != cells.schema[name]:
            raise PrcError(
                f"group column {name!r} is {of.schema[name]} in the reference= table and "
                f"{cells.schema[name]} in the other; cast one to the other"
            )
    if keys:
        joined = cells.join(of, on=keys, how="left", nulls_equal=True, maintain_order="left")
    else:
        of = of if of.height else of.clear(1)
        joined = cells.join(of, how="cross", maintain_order="left")
    lacking = joined.filter(pl.col(_REFERENCE["tp"]).is_null())
    if lacking.height:
        shown = ", ".join(f"{name} {lacking[name][0]!r}" for name in keys) or "any group"
        raise PrcError(f"the reference= table has no rows of {shown}; add them, or leave that group out")
    return joined


def watch_series(part: pl.DataFrame, time: str, watch: Watch) -> pl.DataFrame:
    """Return one series with what is found: the value, the interval, the evidence and the alarm."""
    cells = PeriodCells(*(part[name].to_numpy().astype(np.int64) for name in c.CELLS))
    of = None
    if watch.reference is None and part.height:
        of = PeriodCells(*(np.int64(part[_REFERENCE[name]][0]) for name in c.CELLS))
    bound = watch.find_bound(of) if part.height else float("nan")
    known = not np.isnan(bound)
    evidence = tests.weigh_evidence(watch.bet(cells, of, bound)) if known else None
    values = np.full(part.height, np.nan) if evidence is None else evidence.values
    reached = np.flatnonzero(values >= watch.least_evidence)
    alarm = np.arange(part.height) >= (reached[0] if len(reached) else part.height)
    start = tests.find_start(evidence, int(reached[0])) if evidence is not None and len(reached) else 0
    low, high = watch.find_interval(cells)
    total = PeriodCells(*map(np.cumsum, cells))
    stated = watch.reference if of is None else float(watch.find_value(of))
    numbers: dict[str, Any] = {
        **{"value": watch.find_value(cells), "overall": watch.find_value(total)},
        **{"overall_low": low, "overall_high": high, "reference": stated, "bound": bound},
        **{"evidence": values, "needed": watch.least_evidence},
    }
    columns = {
        name: np.broadcast_to(np.asarray(value, dtype=np.float64), (part.height,))
        for name, value in numbers.items()
    }
    return part.with_columns(
        *(pl.Series(name, x, dtype=pl.Float64).fill_nan(None) for name, x in columns.items()),
        (pl.Series("alarm", alarm) if known else pl.lit(None, pl.Boolean).alias("alarm")),
    ).with_columns(since=pl.when("alarm").then(pl.col(time).get(start, null_on_oob=True)))
