"""Series of weeks: how often `monitor` is ever wrong, and how soon it finds a change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from polars_prcurve import prc
from polars_prcurve.core.comparison.monitoring import PeriodCells, Watch, weigh_evidence

from .experiment import ROUNDING, Row, experiment

WEEKS = 104
Z = float(stats.norm.isf(0.05))
CELLS = ("tp", "fp", "fn", "tn")
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Series:
    """Weeks with a rate of positives found, among positives or alerts, and one of negatives flagged."""

    metric: str
    rate: float
    """The rate before the change; for precision at a prevalence, recall."""
    sizes: tuple[int, int]
    """Rows a week and rows of the reference, 0 if that is a number; of negatives 50 times as many."""
    after: float | None = None
    """The rate from the week of the change on; None without a change."""
    week: int = 1
    fpr: tuple[float, float] = (0.0, 0.0)
    """The fpr before and after, for precision at a prevalence of 2%."""
    what: str = "as the reference"
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def eta(self) -> float | None:
        return 0.02 if self.fpr[0] else None

    def join_rates(self, recall: Any, fpr: Any) -> Any:
        """Return precision at the prevalence, or the rate alone."""
        return recall if self.eta is None else recall * 0.02 / (recall * 0.02 + fpr * 0.98)

    @property
    def values(self) -> tuple[float, float]:
        """What is watched, before and after."""
        after = self.rate if self.after is None else self.after
        return self.join_rates(self.rate, self.fpr[0]), self.join_rates(after, self.fpr[1])


def change(series: Series, *after: tuple[float, str]) -> Iterator[Series]:
    """Yield the series without a change, and with each change from week 1 and from week 27."""
    yield series
    for value, what in after:
        for week in (1, 27):
            yield replace(series, after=value, week=week, what=what)


def rise(series: Series, *after: tuple[float, str]) -> Iterator[Series]:
    """Yield the series without a change, and with each fpr from week 1 and from week 27."""
    yield series
    for value, what in after:
        for week in (1, 27):
            yield replace(series, after=series.rate, fpr=(series.fpr[0], value), week=week, what=what)


ALERTS, AT_ETA = Series("precision", 0.8, (200, 2_000)), (0.004, 0.004)
SERIES = [
    *change(ALERTS, (0.75, "5 points worse"), (0.7, "10 points worse")),
    *change(replace(ALERTS, sizes=(200, 500)), (0.75, "5 points worse"), (0.7, "10 points worse")),
    *change(replace(ALERTS, sizes=(200, 0)), (0.75, "5 points worse"), (0.7, "10 points worse")),
    *change(Series("precision", 0.5, (200, 2_000)), (0.45, "5 points worse"), (0.4, "10 points worse")),
    *change(Series("precision", 0.2, (200, 2_000)), (0.15, "5 points worse"), (0.1, "10 points worse")),
    *change(Series("recall", 0.8, (20, 300)), (0.75, "5 points worse"), (0.7, "10 points worse")),
    *change(Series("fpr", 0.03, (4_000, 20_000)), (0.035, "0.5 points worse"), (0.04, "1 point worse")),
    *rise(
        Series("precision", 0.8, (200, 2_000), fpr=AT_ETA),
        (0.00541, "5 points worse"),
        (0.00693, "10 points worse"),
    ),
    *rise(
        Series("precision", 0.8, (200, 500), fpr=AT_ETA),
        (0.00541, "5 points worse"),
        (0.00693, "10 points worse"),
    ),
    replace(ALERTS, sizes=(20, 300)),
    Series("precision", 0.99, (50, 200)),
    Series("fpr", 0.001, (2_000, 10_000)),
    replace(ALERTS, what="0 to 400 alerts a week", options={"uneven": True}),
    replace(ALERTS, what="better in some weeks", options={"better": 0.1}),
    Series("precision", 0.8, (200, 2_000), 0.6, fpr=(0.004, 0.003), what="recall and fpr fall"),
    Series("precision", 0.6, (200, 2_000), 0.8, fpr=(0.003, 0.004), what="recall and fpr rise"),
    Series("precision", 0.6, (20, 200), 0.8, fpr=(0.003, 0.004), what="recall and fpr rise"),
    replace(ALERTS, what="late labels, by week of the label", options={"late": "arrival"}),
    replace(ALERTS, what="late labels, added to old weeks", options={"late": "origin"}),
    replace(ALERTS, what="false alerts are labelled sooner", options={"late": "by label"}),
]


@experiment(SERIES, 400)
def measure_monitor(cell: Series, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Alarms within 104 weeks, beside those of a test of each week at 5%."""
    tp, others, rates = draw_weeks(cell, n_sets, rng)
    reference = draw_reference(cell, n_sets, rng)
    weeks = stack_cells(cell, tp, *others)
    looks = weeks.with_columns(look=pl.lit(WEEKS))
    if how := cell.options.get("late"):
        looks = pl.concat(delay_labels(cell, tp, others[0], how, rng))
    bound: Any = cell.values[0] if reference is None else prc(reference, cells=CELLS, by="set")
    found = prc(looks, cells=CELLS, by=["set", "look"]).monitor(
        "week", reference=bound, threshold=0, metrics=cell.metric, eta=cell.eta, columns="all"
    )
    alarms = found.select("set", "alarm", week=pl.min_horizontal("week", "look"))
    first = find_first(alarms.with_columns(pl.col("alarm").fill_null(value=False)))
    is_found = (first >= cell.week) & (first <= WEEKS)
    delay = np.where(is_found, first - cell.week + 1, WEEKS + 1)
    repeated = None if how else np.mean(test_each_week(cell, weeks, reference) <= WEEKS)
    row: Row = {"metric": cell.metric, "eta": cell.eta, "value": cell.values[0], "rows": cell.sizes[0]}
    row |= {"reference": cell.sizes[1], "weeks": cell.what, "after": cell.values[1], "from": cell.week}
    row |= {"alarm": np.mean(first <= WEEKS), "too_soon": np.mean(first < cell.week)}
    row |= {"either": None if cell.eta is None else watch_either(looks, bound)}
    row |= {f"weeks_{name}": find_quantile(delay, q) for name, q in (("median", 0.5), ("80", 0.8))}
    row |= {"repeated": repeated, "interval": hold_interval(cell, found, rates)}
    yield row


def draw_weeks(cell: Series, n_sets: int, rng: np.random.Generator) -> tuple[Counts, list[Counts], Any]:
    """Return the successes of each week, the other cells, and the true rates."""
    shape, n = (n_sets, WEEKS), cell.sizes[0]
    changed = np.arange(1, WEEKS + 1) >= cell.week
    after = cell.rate if cell.after is None else cell.after
    rate = np.broadcast_to(np.where(changed, after, cell.rate), shape)
    if "better" in cell.options:
        rate = rate + cell.options["better"] * (rng.random(shape) < 0.3)
    size = rng.integers(0, 2 * n + 1, shape) if "uneven" in cell.options else rng.poisson(n, shape)
    tp = rng.binomial(size, rate)
    others = [size - tp]
    fpr = np.broadcast_to(np.where(changed, cell.fpr[1], cell.fpr[0]), shape)
    if cell.eta is not None:
        negatives = rng.poisson(50 * n, shape)
        fp = rng.binomial(negatives, fpr)
        others += [fp, negatives - fp]
    return tp, others, (rate, fpr)


def draw_reference(cell: Series, n_sets: int, rng: np.random.Generator) -> pl.DataFrame | None:
    """Return the cells of a reference for each series; None if it is a number."""
    n = cell.sizes[1]
    if n == 0:
        return None
    tp = rng.binomial(n, cell.rate, (n_sets, 1))
    others = [n - tp]
    if cell.eta is not None:
        fp = rng.binomial(50 * n, cell.fpr[0], (n_sets, 1))
        others += [fp, 50 * n - fp]
    return stack_cells(cell, tp, *others).drop("week")


def stack_cells(cell: Series, k: Counts, rest: Counts, *negatives: Counts) -> pl.DataFrame:
    """Return a table with the four cells of each set and week; the others are 0."""
    sets, weeks = (each.ravel() for each in np.indices(k.shape))
    read = {"precision": ("tp", "fp"), "recall": ("tp", "fn"), "fpr": ("fp", "tn")}[cell.metric]
    names = ("tp", "fn", "fp", "tn") if cell.eta is not None else read
    counted = {n: each.ravel() for n, each in zip(names, (k, rest, *negatives), strict=True)}
    zero = np.zeros(k.size, dtype=np.int64)
    cells = {name: counted.get(name, zero) for name in CELLS}
    return pl.DataFrame({"set": sets, "week": weeks + 1, "score": zero, **cells})


def delay_labels(
    cell: Series, tp: Counts, fp: Counts, how: str, rng: np.random.Generator
) -> Iterator[pl.DataFrame]:
    """Yield the weeks as they are at a look: at the last one, or at each.

    A third of the labels is 1 to 8 weeks late. They count in the week of the label, or ("origin") in
    that of their row, so that old weeks look different at each look. "by label" has all positives 4
    weeks late.
    """
    if how == "by label":
        late = np.hstack([np.zeros_like(tp[:, :4]), tp[:, :-4]])
        yield stack_cells(cell, late, fp).with_columns(look=pl.lit(WEEKS))
        return
    # By set, week and delay.
    split = [rng.multinomial(each, [2 / 3] + [1 / 24] * 8) for each in (tp, fp)]
    if how == "arrival":
        arrived = [sum(_delay(each[:, :, d], d) for d in range(9)) for each in split]
        yield stack_cells(cell, *arrived).with_columns(look=pl.lit(WEEKS))
        return
    for look in range(1, WEEKS + 1):
        known = np.add.outer(np.arange(1, look + 1), np.arange(9)) <= look
        seen = [(each[:, :look] * known).sum(axis=2) for each in split]
        yield stack_cells(cell, *seen).with_columns(look=pl.lit(look))


def _delay(counts: Counts, weeks: int) -> Counts:
    """Return counts of each week so many weeks later."""
    none = np.zeros_like(counts[:, :weeks])
    return np.hstack([none, counts[:, : WEEKS - weeks]])


def watch_either(looks: pl.DataFrame, bound: Any) -> float:
    """Return how often recall or fpr is an alarm, each with half of the error."""
    table = prc(looks, cells=CELLS, by=["set", "look"])
    asked: dict[str, Any] = {"reference": bound, "threshold": 0, "confidence": 0.975}
    found = [table.monitor("week", metrics=rate, **asked) for rate in ("recall", "fpr")]
    alarms = pl.concat(each.select("set", "week", "alarm") for each in found)
    return float(np.mean(find_first(alarms) <= WEEKS))


def find_first(found: pl.DataFrame) -> Counts:
    """Return the first week with an alarm of each set, or a week after the last."""
    first = found.group_by("set").agg(pl.col("week").filter("alarm").min().fill_null(WEEKS + 1))
    return first.sort("set")["week"].to_numpy()


def test_each_week(cell: Series, weeks: pl.DataFrame, reference: pl.DataFrame | None) -> Counts:
    """Return the first week that is worse than the reference by a test of this week alone, at 5%."""
    frame = weeks.with_columns(value=_find_rate(cell), error=_find_error(cell))
    if reference is None:
        of = pl.DataFrame({"set": frame["set"].unique(), "stated": cell.values[0], "own_error": 0.0})
    else:
        of = reference.select("set", stated=_find_rate(cell), own_error=_find_error(cell))
    fall = pl.col("stated") - pl.col("value")
    fall = -fall if cell.metric == "fpr" else fall
    error = (pl.col("error") ** 2 + pl.col("own_error") ** 2).sqrt()
    frame = frame.join(of, on="set").with_columns(alarm=fall.fill_nan(0.0) > Z * error)
    return find_first(frame.with_columns(pl.col("alarm").fill_null(value=False)))


def _find_rate(cell: Series) -> pl.Expr:
    """Return the rate that is watched; as a logarithm of odds at a prevalence."""
    tp, fp, fn, tn = map(pl.col, CELLS)
    if cell.eta is not None:
        return (tp / (tp + fn)).log() - (fp / (fp + tn)).log()
    k, n = {"precision": (tp, tp + fp), "recall": (tp, tp + fn), "fpr": (fp, fp + tn)}[cell.metric]
    return k / n


def _find_error(cell: Series) -> pl.Expr:
    """Return the standard error of that."""
    tp, fp, fn, tn = map(pl.col, CELLS)
    if cell.eta is not None:
        return (fn / (tp * (tp + fn)) + tn / (fp * (fp + tn))).sqrt()
    k, rest = {"precision": (tp, fp), "recall": (tp, fn), "fpr": (fp, tn)}[cell.metric]
    return (k * rest / (k + rest) ** 3).sqrt()


def find_quantile(delay: Counts, share: float) -> int | None:
    """Return the weeks by which that share has an alarm; None if not within the series."""
    weeks = int(np.quantile(delay, share, method="higher"))
    return weeks if weeks <= WEEKS else None


def hold_interval(cell: Series, found: pl.DataFrame, rates: Any) -> float | None:
    """Return the share of series whose interval holds the mean rate so far in all weeks."""
    if "late" in cell.options:
        return None
    tp, fp, fn, tn = (found[name].to_numpy().reshape(rates[0].shape).astype(float) for name in CELLS)
    sizes = {"precision": tp + fp, "recall": tp + fn, "fpr": fp + tn}
    own = sizes["recall"] if cell.eta is not None else sizes[cell.metric]
    with np.errstate(invalid="ignore"):
        mean = np.cumsum(own * rates[0], 1) / np.cumsum(own, 1)
        fpr = np.cumsum(sizes["fpr"] * rates[1], 1) / np.cumsum(sizes["fpr"], 1)
    truth = cell.join_rates(mean, fpr).ravel()
    held = found.select(
        pl.col("set"),
        held=(pl.Series(truth) >= pl.col("overall_low") - ROUNDING)
        & (pl.Series(truth) <= pl.col("overall_high") + ROUNDING),
    )
    return float(str(held.group_by("set").agg(pl.col("held").all())["held"].mean()))


N_GROUPS = 12
GROUPS = [
    ALERTS,
    replace(ALERTS, sizes=(200, 0)),
    replace(ALERTS, sizes=(20, 300)),
    Series("precision", 0.99, (50, 200)),
    Series("recall", 0.8, (20, 300)),
    Series("fpr", 0.03, (4_000, 20_000)),
    Series("precision", 0.8, (200, 2_000), fpr=AT_ETA),
    replace(ALERTS, after=0.7, what="10 points worse in one group"),
    replace(ALERTS, after=0.75, what="5 points worse in one group"),
]


@experiment(GROUPS, 400)
def measure_monitored_groups(cell: Series, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Sets of 12 groups with any false alarm, at an error of 5% each, and of 5% in all."""
    sound, n_series = replace(cell, after=None), n_sets * N_GROUPS
    tp, others, _ = draw_weeks(sound, n_series, rng)
    n_fallen = int(cell.after is not None)
    if n_fallen:  # in the first group of each set
        fallen, fallen_others, _ = draw_weeks(cell, n_sets, rng)
        tp[::N_GROUPS], others[0][::N_GROUPS] = fallen, fallen_others[0]
    weeks = read_cells(stack_cells(cell, tp, *others), n_series)
    drawn_reference = draw_reference(sound, n_series, rng)
    reference = None if drawn_reference is None else read_cells(drawn_reference, n_series)
    row: Row = {"metric": cell.metric, "eta": cell.eta, "value": cell.values[0], "rows": cell.sizes[0]}
    row |= {"reference": cell.sizes[1], "weeks": cell.what}
    for name, alpha in {"each": 0.05, "all": 0.05 / N_GROUPS}.items():
        watch = Watch(cell.metric, cell.eta, alpha, None if reference else cell.values[0])
        first = np.array(
            [find_first_alarm(watch, number, weeks, reference) for number in range(n_series)]
        )
        first = first.reshape(n_sets, N_GROUPS)
        row[f"any_{name}"] = float(np.mean((first[:, n_fallen:] <= WEEKS).any(axis=1)))
        row[f"weeks_{name}"] = find_quantile(first[:, 0], 0.5) if n_fallen else None
    yield row


def read_cells(rows: pl.DataFrame, n_series: int) -> list[Counts]:
    """Return the four cells, a row per series."""
    return [rows[name].to_numpy().reshape(n_series, -1) for name in CELLS]


def find_first_alarm(
    watch: Watch, number: int, weeks: list[Counts], reference: list[Counts] | None
) -> int:
    """Return the first week with an alarm of a series, or a week after the last, as `monitor` does."""
    known = None if reference is None else PeriodCells(*(counts[number, 0] for counts in reference))
    bound = watch.find_bound(known)
    if np.isnan(bound):
        return WEEKS + 1
    bets = watch.bet(PeriodCells(*(counts[number] for counts in weeks)), known, bound)
    alarms = np.flatnonzero(weigh_evidence(bets)[0] >= watch.least_evidence)
    return int(alarms[0]) + 1 if len(alarms) else WEEKS + 1
