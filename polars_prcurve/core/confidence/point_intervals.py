"""Bands: intervals of point metrics at any prevalence, from intervals of recall and of fpr.

Recall and fpr come from independent samples, the positives and the negatives, and nearly every point
metric rises or falls with each of them throughout. Three bands follow from that:

    mover         The distances from the estimate to the end of either interval are added in quadrature,
                  on a scale where the metric is unbounded (Zou and Donner 2008), and of net benefit,
                  which is linear in both rates, as they are. It has the level it names: the default.
    rectangle     Over all pairs of rates within both intervals, the metric is least in one corner and
                  greatest in the opposite corner (Brabec et al. 2020, 12-13). If the interval of each
                  rate has the square root of the level, the band has at least the level.
    simultaneous  The rectangle over intervals of a local level, which hold at all thresholds at once,
                  and so at a chosen one, too (Berk and Jones 1979). See `levels_for_all_thresholds`.

Where clusters of examples hold both classes, errors of recall and fpr have a correlation R. With the
distances a and b to the end of either interval, a**2 + b**2 - 2 R a b takes the place of a**2 + b**2: a
metric that rises with recall falls with fpr. Where prevalence has an interval, too, the distance to the
value at its ends is a third one: to the lower value for the low end of the band, since a metric may rise
or fall with it. At a prevalence that was counted in the table, other shares than recall and fpr take
their place; see `cohort_intervals`.

A threshold that meets a target, such as recall 0.8, moves with the rates. Then each end of a rate, or of
a prevalence, has the value where the target is met if it is there; see `curves.row_search`. No
distance is less than that of one example, or of the step of the curve there.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any, Literal, TypeAlias

import polars as pl

from polars_prcurve.core.confidence import cohort_intervals
from polars_prcurve.core.confidence.cohort_intervals import ETA_CORRELATIONS
from polars_prcurve.core.confidence.interval_inputs import EffectiveSize, EtaError, TargetRow
from polars_prcurve.core.confidence.intervals import (
    BETA_METHODS,
    Intervals,
    RateMethod,
    add_eta_limits,
    compute_limits,
    z_value,
)
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.ground.normal_distribution import student_quantile
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.value_checks import Check, stop_if_broken
from polars_prcurve.core.inputs.input_tables import InputTable
from polars_prcurve.core.inputs.sample_kinds import INDEPENDENT, SampleKind
from polars_prcurve.core.metrics.point_metric import PointMetric, null_if_nan

BandKind: TypeAlias = Literal["mover", "rectangle", "simultaneous"]
"""How intervals of both rates make a band."""
# The columns of both ends of the interval of each rate, in the order in which rates are read
LIMIT_COLUMNS = {
    "recall": (f"{RESERVED}recall_low", f"{RESERVED}recall_high"),
    "fpr": (f"{RESERVED}fpr_low", f"{RESERVED}fpr_high"),
}
# Columns of recall and fpr where a target is met if a rate, or eta, is at an end of its interval
MOVED_RATES = {
    limit: {rate: f"{limit}_moves_{rate}" for rate in LIMIT_COLUMNS}
    for limits in (*LIMIT_COLUMNS.values(), EtaError.LIMITS)
    for limit in limits
}
MOVES = {source: f"{RESERVED}moves_by_{source}" for source in (*LIMIT_COLUMNS, "eta")}
"""What follows the name of a metric in the columns of how far an interval moves its value."""
STEPS = {rate: f"{RESERVED}step_of_{rate}" for rate in LIMIT_COLUMNS}
"""The steps of the rates beside a threshold that moves; see `curves.row_search`."""
ESTIMATE = f"{RESERVED}estimate"  # the value of a metric, on the scale where distances are measured
_AT = "_value"  # what follows the name of a limit in the column of a metric there
# The least and the greatest value of a metric between the limits of all sources of error
_CORNERS = (f"{RESERVED}least", f"{RESERVED}greatest")
# The ends of a band, by what moves them
_MOVED = (f"{RESERVED}moved_low", f"{RESERVED}moved_high")  # rates that move the threshold, too
_COUNTED = (f"{RESERVED}counted_low", f"{RESERVED}counted_high")  # shares, with a counted prevalence
_PLAIN = (f"{RESERVED}plain_low", f"{RESERVED}plain_high")  # rates at a fixed threshold, and eta
_RECALLS, _FPRS = LIMIT_COLUMNS.values()  # in the order of `find_corners`
MOST_LEVELS = 10
"""The most levels of score by which `sweep.unlabelled_prevalence` describes a reference."""
SLOPE_SCALE = "scale"
"""The field of EtaError.REFERENCE with a power of two that is above all sums of slopes."""
Common: TypeAlias = tuple[pl.Expr | None, Sequence[pl.Expr]]
"""The correlation of two errors, and what each of them shares with a third one, if there is one."""
SIZE_COLUMNS = {"recall": EffectiveSize.N_POS, "fpr": EffectiveSize.N_NEG}
"""The column with the number of examples that each rate counts as."""


@dataclass(frozen=True)
class BandOptions:
    """Options for bands: the level, the interval of a rate, and how two intervals make a band."""

    confidence: float
    interval: RateMethod
    band: BandKind
    # The rows whose threshold moves with the rates, since the sample chose it. They have MOVED_RATES; if
    # they are some, TargetRow.IS_MOVING tells which. Rows of differences get MOVES.
    moves: Literal["none", "some", "all"] = "none"
    shown_with: Literal["curve", "points", "differences"] = "curve"
    corrected: bool = False  # whether rows have IS_MAXIMIZED and OPTIMISM, for `<metric>_corrected`
    sample: SampleKind = INDEPENDENT  # how the examples were drawn, as `fit_bands` takes from the table
    uncertain_eta: bool = False  # whether a prevalence may be an estimate: rows have ETA_LOW, ETA_HIGH
    # The rows whose prevalence was counted in the table. They have EtaError.VARIANCE, and if they are
    # some, IS_OWN tells which.
    own_eta: Literal["none", "some", "all"] = "none"

    @cached_property
    def counts_eta(self) -> bool:
        """Whether the prevalence of a row may have been counted in the table."""
        return self.own_eta != "none"

    @cached_property
    def has_eta_limits(self) -> bool:
        """Whether rows have EtaError.LIMITS."""
        return self.uncertain_eta or self.counts_eta

    @cached_property
    def moves_with_eta(self) -> bool:
        """Whether the prevalence of a row whose threshold moves has LIMITS, and moves it, too."""
        return self.counts_eta or (self.uncertain_eta and self.shown_with == "points")

    @cached_property
    def moving(self) -> bool:
        """Whether rows have MOVED_RATES."""
        return self.moves != "none"

    @cached_property
    def rate_level(self) -> float:
        """The level of the interval of a rate."""
        # Both rates hold at once with the product of their levels. In quadrature they need not.
        return self.confidence if self.band == "mover" else math.sqrt(self.confidence)

    @cached_property
    def needs_numbers(self) -> str:
        """The option that Polars has no expression for, or an empty text."""
        rate_option = f'rate="{self.interval}"' if self.interval in BETA_METHODS else ""
        return self.describe_band() if self.band == "simultaneous" else rate_option

    def describe_band(self) -> str:
        """Return how a user asks for the band."""
        return "simultaneous=True" if self.band == "simultaneous" else f'method="{self.band}"'

    def list_kinds(self) -> list[str]:
        """Return what is beside the value of a metric; of differences MOVES, if thresholds move."""
        kinds = [*(["corrected"] if self.corrected else []), "low", "high"]
        if self.moving and self.shown_with == "differences":
            kinds += [move for source, move in MOVES.items() if source != "eta" or self.counts_eta]
        return kinds

    def mark_uncertain_eta(self) -> BandOptions:
        """Return the options for prevalences that are estimates."""
        if self.band != "mover":
            raise PrcError(
                f"{self.describe_band()} works at an exact eta; pass the ends of its interval as two "
                'eta, or take the intervals of method="analytic", which carry the error of eta'
            )
        return replace(self, uncertain_eta=True)

    def mark_own_eta(
        self, metrics: Iterable[PointMetric], *, are_all: bool, is_known: bool
    ) -> BandOptions:
        """Return the options for prevalences of which some, or all, were counted in the table."""
        if self.band == "mover":
            return replace(self, own_eta="all" if are_all else "some")
        # If only the query knows which rows these are, they are checked when it runs.
        if is_known and any(metric.depends_on_eta for metric in metrics):
            raise PrcError(self.tell_exact_eta())
        return self

    def tell_exact_eta(self) -> str:
        """Return why the band has none at a prevalence that was counted."""
        return (
            f"{self.describe_band()} works at an exact eta, and the prevalence of this table was "
            'counted; pass eta= as a number, or take the intervals of method="analytic", which carry '
            "the error of the count"
        )

    def let_move(self, kinds: Collection[str]) -> BandOptions:
        """Return the options for rows whose threshold moves if their kind is "model": see IS_MOVING."""
        if self.interval != "wilson":
            raise PrcError(
                "an interval of the model at a target is known with Wilson's rates alone; leave out "
                "rate=, or pass the threshold itself as threshold="
            )
        return replace(self, moves="some" if {*kinds} - {"model"} else "all")

    def limits_by_name(self, rate: str, value: Any, size: Any) -> Iterable[tuple[str, Any]]:
        """Yield the low and high end of the interval of a rate, each with the name of its column."""
        if self.band == "simultaneous":
            from polars_prcurve.core.confidence.levels_for_all_thresholds import (
                compute_simultaneous_limits,
            )

            ends = compute_simultaneous_limits(value * size, size, self.rate_level)
        else:
            is_recall = rate == "recall"
            ends = compute_limits(
                value * size, size, self.rate_level, self.interval, of_recall=is_recall
            )
        return zip(LIMIT_COLUMNS.get(rate, (f"{rate}_low", f"{rate}_high")), ends, strict=True)


def read_bands(
    certainty: Intervals,
    metrics: Iterable[PointMetric],
    *,
    corrected: bool = False,
) -> BandOptions:
    """Return the options for bands of metrics; raise if a metric has no band."""
    for metric in metrics:
        find_corners(metric)  # raises if the metric has no band
    band: BandKind = "simultaneous" if certainty.simultaneous else "mover"
    band = "rectangle" if certainty.method == "rectangle" else band
    return BandOptions(certainty.level, certainty.rate, band, corrected=corrected)


def add_bands(
    frame: pl.LazyFrame, metrics: Sequence[PointMetric], bands: BandOptions, table: InputTable
) -> pl.LazyFrame:
    """Add `<metric>_low` and `<metric>_high` to rows of recall, fpr, eta and the metrics."""
    columns = {rate: (rate, size) for rate, size in SIZE_COLUMNS.items()}
    shares: dict[str, tuple[str, str]] = {}
    pairs: Collection[str] = ()
    if bands.counts_eta:
        frame, shares, pairs = _add_shares(frame, metrics, bands, table)
        columns |= shares
    if bands.sample.joins_rows:
        frame = frame.with_columns(**_lower_sizes([size for _, size in columns.values()], bands))
    frame = add_limits_of_etas(add_rate_limits(frame, columns, bands, table), bands)
    # A share of no example may be any: the metric is undefined, or does not move with it.
    frame = frame.with_columns(
        pl.col(f"{name}{end}").fill_nan(None).fill_null(default)
        for name in shares
        for end, default in (("", 0.5), ("_low", 0.0), ("_high", 1.0))
    )
    if bands.uncertain_eta and EtaError.REFERENCE in frame.collect_schema():
        frame = _add_reference_correlations(frame)
    needs_exact = bands.band != "mover" and any(metric.depends_on_eta for metric in metrics)
    if needs_exact and not bands.counts_eta and EtaError.IS_OWN in frame.collect_schema():
        check = Check(pl.col(EtaError.IS_OWN).any(), (bands.tell_exact_eta(),))
        frame = stop_if_broken(frame, [check])
    # The schema is read once: each metric makes the plan longer, and its schema dearer.
    shares_eta = bands.has_eta_limits and ETA_CORRELATIONS["recall"] in frame.collect_schema()
    for number, metric in enumerate(metrics):
        frame = add_band(frame, metric, bands, shares_eta=shares_eta, correlations=pairs)
        if bands.corrected:
            frame = _add_correction(frame, metric, pl.col(f"{TargetRow.OPTIMISM}{number}"))
    return frame


def _lower_sizes(sizes: Sequence[str], bands: BandOptions) -> dict[str, pl.Expr]:
    """Return sizes so low that normal quantiles give the widths of Student's distribution."""
    z = z_value(bands.rate_level)
    least = pl.min_horizontal(EffectiveSize.POS_FREEDOM, EffectiveSize.NEG_FREEDOM)
    freedom = dict.fromkeys(sizes, least) | {
        EffectiveSize.N_POS: pl.col(EffectiveSize.POS_FREEDOM),
        EffectiveSize.N_NEG: pl.col(EffectiveSize.NEG_FREEDOM),
    }
    columns = {
        size: pl.col(size) * z**2 / student_quantile(z, repeat_in_rows(degrees, pl.col(size))) ** 2
        for size, degrees in freedom.items()
    }
    if bands.counts_eta:
        widening = (student_quantile(z, least) * (1 / z)) ** 2
        columns[EtaError.VARIANCE] = pl.col(EtaError.VARIANCE) * widening
    return columns


def _add_reference_correlations(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Add ETA_CORRELATIONS where the prevalence was estimated with the table itself."""
    correlations = {}
    for rate, label in (("recall", "pos"), ("fpr", "neg")):
        n, share = pl.col(SIZE_COLUMNS[rate]), pl.col(rate)
        inner_share = (share * n + 0.5) / (n + 1)  # a rate of 0 or 1 has an error, too
        correlation = sum_slopes(label, share) / (inner_share * (1 - inner_share)).sqrt()
        correlations[ETA_CORRELATIONS[rate]] = correlation.clip(-1.0, 1.0).fill_nan(0.0)
    return frame.with_columns(**correlations)


def sum_slopes(label: str, share: pl.Expr) -> pl.Expr:
    """Return the sum of slopes over the examples of a class, from the highest score to a share of it."""
    # A level has the share of a class down to it, and a slope. The sum over the examples above a
    # threshold is linear in the rate within a level, so a rate alone tells it.
    reference, total, before = pl.col(EtaError.REFERENCE).struct, pl.lit(0.0), pl.lit(0.0)
    for level in range(MOST_LEVELS):
        end, slope = (reference.field(f"{kind}_{label}_{level}") for kind in ("share", "slope"))
        total, before = total + (share.clip(before, end) - before) * slope, end
    return total


def _add_shares(
    frame: pl.LazyFrame, metrics: Sequence[PointMetric], bands: BandOptions, table: InputTable
) -> tuple[pl.LazyFrame, dict[str, tuple[str, str]], Collection[str]]:
    """Return a frame with shares, their columns with those of sizes, and those of correlations."""
    moments = bands.sample.moments
    if moments and bands.moving:
        frame = cohort_intervals.add_eta_correlations(frame, table, moments)
    columns: dict[str, pl.Expr] = {}
    correlations: dict[str, pl.Expr] = {}
    shares: dict[str, tuple[str, str]] = {}
    for metric in metrics:
        metric_shares = cohort_intervals.list_shares(metric)
        for name, share in metric_shares.items():
            shares[name] = (name, f"{name}_size")
            columns |= dict(
                zip(shares[name], cohort_intervals.measure_share(share, table, moments), strict=True)
            )
        for a, b in combinations(metric_shares, 2):
            pair = metric_shares[a], metric_shares[b]
            correlation = cohort_intervals.correlate_shares(pair, table, moments)
            if correlation is not None:
                correlations[cohort_intervals.name_correlation(a, b)] = correlation
    return frame.with_columns(**columns, **correlations), shares, correlations.keys()


def add_rate_limits(
    frame: pl.LazyFrame, columns: Mapping[str, tuple[str, str]], bands: BandOptions, table: InputTable
) -> pl.LazyFrame:
    """Add both ends of rates and shares, of which `columns` name value and size; undefined is null."""
    if not bands.needs_numbers:
        return add_limits(frame, {v: (rate, pl.col(size)) for rate, (v, size) in columns.items()}, bands)
    rows = table.collect(frame, bands.needs_numbers)
    for rate, (value, size) in columns.items():
        # A rate is the same at every prevalence, and at every threshold between two of its examples.
        counts = rows.select(value, size).unique()
        ends = bands.limits_by_name(rate, counts[value].to_numpy(), counts[size].to_numpy())
        counts = counts.with_columns(pl.Series(name, end).fill_nan(None) for name, end in ends)
        rows = rows.join(counts, on=[value, size], how="left", nulls_equal=True, maintain_order="left")
    return rows.lazy()


def add_limits(
    frame: pl.LazyFrame, sizes: Mapping[str, tuple[str, pl.Expr]], bands: BandOptions
) -> pl.LazyFrame:
    """Add both ends of rates in the columns that `sizes` names, with the rate and the size of each."""
    # The optimizer takes time by the square of the length of an expression. So what an expression has
    # several times is bound first, and `null_if_nan` has its own twice.
    trials = {value: f"{RESERVED}trials_of_{value}" for value in sizes}
    frame = frame.with_columns(
        repeat_in_rows(size, pl.col(value)).alias(trials[value]) for value, (_, size) in sizes.items()
    )
    ends: dict[str, pl.Expr] = {}
    for value, (rate, _) in sizes.items():
        ends |= bands.limits_by_name(rate, pl.col(value), pl.col(trials[value]))
    return frame.with_columns(**ends).with_columns(pl.col(*ends).fill_nan(None)).drop(trials.values())


def find_corners(metric: PointMetric) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return which ends of both rates, 0 low and 1 high, make a metric least, and greatest; or raise."""
    if not metric.falls_with_fpr:
        raise PrcError(
            f"{metric.name} is not known to move one way with recall and with fpr, so there is no "
            "band from their intervals; a bootstrap has one"
        )
    least = int(metric.direction == "minimize"), int(metric.direction == "maximize")
    return least, (1 - least[0], 1 - least[1])


def add_band(
    frame: pl.LazyFrame,
    metric: PointMetric,
    bands: BandOptions,
    *,
    eta_squares: tuple[str, str] | None = None,  # squared distances below and above, if eta is of parts
    shares_eta: bool = False,  # whether rows have ETA_CORRELATIONS
    correlations: Collection[str] = (),  # columns of those of two shares of cells; others have none
) -> pl.LazyFrame:
    """Add the band of one metric to rows that have the limits of recall and fpr, and those of eta."""
    correlation = pl.col(EffectiveSize.RATE_CORRELATION) if bands.sample.correlates_rates else None
    common = correlation, _correlate_with_eta(metric) if shares_eta else []
    shares = [*cohort_intervals.list_shares(metric)] if bands.counts_eta else []
    own_eta = bands.own_eta if shares else "none"
    if bands.moving:
        frame = _add_moved_ends(frame, metric, bands, common)
    if shares and bands.moves != "all":
        frame = _add_counted_ends(frame, metric, shares, correlations)
    if "all" not in (bands.moves, own_eta):
        frame = _add_plain_ends(frame, metric, bands, common, eta_squares)
    ends = list(map(pl.col, _PLAIN))
    for rows, condition, columns in (
        (own_eta, EtaError.IS_OWN, _COUNTED),
        (bands.moves, TargetRow.IS_MOVING, _MOVED),
    ):
        if rows == "all":
            ends = list(map(pl.col, columns))
        elif rows == "some":
            pairs = zip(columns, ends, strict=True)
            ends = [pl.when(condition).then(column).otherwise(end) for column, end in pairs]
    value = pl.col(metric.name)
    low, high = map(null_if_nan, ends)
    # Rounding must not put an end on the wrong side of the estimate.
    sides = {"low": (low, pl.min_horizontal), "high": (high, pl.max_horizontal)}
    return frame.with_columns(
        pl.when(value.is_not_null() & end.is_not_null())
        .then(farther(end, value))
        .alias(f"{metric.name}_{side}")
        for side, (end, farther) in sides.items()
    )


def _add_plain_ends(
    frame: pl.LazyFrame,
    metric: PointMetric,
    bands: BandOptions,
    common: Common,
    eta_squares: tuple[str, str] | None,
) -> pl.LazyFrame:
    """Add the ends of a metric from those of rates, at a fixed threshold, and of eta."""
    etas = EtaError.LIMITS if bands.has_eta_limits and metric.depends_on_eta else ()
    if bands.band != "mover":
        return frame.with_columns(**dict(zip(_PLAIN, _find_extremes(metric, etas), strict=True)))
    values = [
        {end: evaluate_metric(metric, end, "fpr") for end in _RECALLS},
        {end: evaluate_metric(metric, "recall", end) for end in _FPRS},
    ]
    if etas and not eta_squares:
        values.append({eta: evaluate_metric(metric, "recall", "fpr", eta) for eta in etas})
    return _add_ends(
        frame,
        metric,
        _PLAIN,
        evaluate_metric(metric, "recall", "fpr"),
        values,
        corners=_find_extremes(metric, etas),
        common=common,
        other_distances=[[pl.col(name).sqrt() for name in eta_squares]] if eta_squares else [],
    )


def _find_extremes(metric: PointMetric, etas: Sequence[str]) -> list[pl.Expr]:
    """Return the least and the greatest value within the limits of both rates, at all `etas`."""
    least, greatest = (
        [evaluate_metric(metric, _RECALLS[t], _FPRS[f], eta) for eta in etas or ["eta"]]
        for t, f in find_corners(metric)
    )
    return [pl.min_horizontal(least), pl.max_horizontal(greatest)]


def _add_counted_ends(
    frame: pl.LazyFrame, metric: PointMetric, shares: Sequence[str], correlations: Collection[str]
) -> pl.LazyFrame:
    """Add the ends of a metric from those of its shares, where the prevalence was counted."""
    evaluate_at = partial(cohort_intervals.evaluate_shares, metric)
    estimates, lows, highs = (
        [pl.col(f"{share}{end}") for share in shares] for end in ("", "_low", "_high")
    )
    if len(shares) > 1:
        values = [
            {
                f"{share}{end}": evaluate_at([*estimates[:i], limits[i], *estimates[i + 1 :]])
                for end, limits in (("_low", lows), ("_high", highs))
            }
            for i, share in enumerate(shares)
        ]
        directions = {
            share: (pl.col(f"{share}_high{_AT}") - pl.col(f"{share}_low{_AT}")).sign()
            for share in shares
        }
        first, *others = (
            pl.col(name).fill_null(0.0) * directions[a] * directions[b] if name in correlations else None
            for a, b in combinations(shares, 2)
            for name in [cohort_intervals.name_correlation(a, b)]
        )
        common = None if first is None else -first, [other for other in others if other is not None]
        corners = _find_extremes(metric, EtaError.LIMITS)
        frame = _add_ends(
            frame, metric, _COUNTED, evaluate_at(estimates), values, corners=corners, common=common
        )
    else:
        frame = frame.with_columns(**dict(zip(_COUNTED, map(evaluate_at, (lows, highs)), strict=True)))
    has_both = pl.col(EtaError.VARIANCE).is_finite()
    return frame.with_columns(pl.when(has_both).then(end).alias(end) for end in _COUNTED)


def _add_moved_ends(
    frame: pl.LazyFrame, metric: PointMetric, bands: BandOptions, common: Common
) -> pl.LazyFrame:
    """Add the ends of a metric where the threshold moves with the rates, and MOVES."""
    point = {name: pl.col(name) for name in (*LIMIT_COLUMNS, "eta")}
    moved_points = {
        limit: point | {rate: pl.col(column) for rate, column in rates.items()}
        for limit, rates in MOVED_RATES.items()
    }
    sources = []  # of each source of error, the points to which it moves the estimate, by limit
    for rate, limits in LIMIT_COLUMNS.items():
        # Where either end of the rate moves the threshold, and a step less or more: that of one example
        # or of the curve, since a target is met between two rows.
        step = pl.max_horizontal(1 / pl.col(SIZE_COLUMNS[rate]), STEPS[rate])
        neighbours = {"less": pl.col(rate) - step, "more": pl.col(rate) + step}
        near_points = {
            f"{RESERVED}{rate}_{side}": point | {rate: neighbour.clip(0.0, 1.0)}
            for side, neighbour in neighbours.items()
        }
        sources.append({limit: moved_points[limit] for limit in limits} | near_points)
    if bands.moves_with_eta:
        sources.append({end: moved_points[end] | {"eta": pl.col(end)} for end in EtaError.LIMITS})
    values = [
        {limit: metric.from_columns(**rates) for limit, rates in points.items()} for points in sources
    ]
    estimate = evaluate_metric(metric, "recall", "fpr")
    frame = _add_ends(frame, metric, _MOVED, estimate, values, common=common)
    columns = [[pl.col(limit + _AT) for limit in limits] for limits in values]
    moves = [pl.max_horizontal(ends) - pl.min_horizontal(ends) for ends in columns[:2]]
    moves += [high - low for low, high in columns[2:]]  # both models move one way, or they do not
    move_of_name = zip(MOVES.values(), moves, strict=False)
    return frame.with_columns(move.alias(f"{metric.name}_{name}") for name, move in move_of_name)


def _add_ends(
    frame: pl.LazyFrame,
    metric: PointMetric,
    ends: tuple[str, str],
    estimate: pl.Expr,
    values: Sequence[Mapping[str, pl.Expr]],
    *,
    corners: Sequence[pl.Expr] = (),
    common: Common,
    other_distances: Sequence[Sequence[pl.Expr]] = (),
) -> pl.LazyFrame:
    """Add both `ends` of a metric, from its values at the limits of each source of error, by limit."""
    columns = {ESTIMATE: estimate}
    for source in values:
        columns |= {limit + _AT: value for limit, value in source.items()}
    # Bind the values as columns first: Polars would compute each of them anew wherever it is used.
    frame, bounds = frame.with_columns(**columns), scale_bounds(metric)
    extremes = corners or (pl.min_horizontal(*columns), pl.max_horizontal(*columns))
    frame = frame.with_columns(
        to_unbounded(pl.col(*columns), bounds).name.keep(), **dict(zip(_CORNERS, extremes, strict=True))
    )
    # On the unbounded scale the distances to the values, and other ones, are added in quadrature.
    middle = pl.col(ESTIMATE)
    distances = [
        measure_distances(middle, [pl.col(limit + _AT) for limit in source]) for source in values
    ]
    correlation, shared = common[0], common[1] if len(values) > 2 else ()
    sides = zip(*distances, *other_distances, strict=True)
    below, above = (combine_distances(side, correlation, shared) for side in sides)
    # On this scale an estimate at a bound of the metric is infinite, and no distance from it is defined:
    # the corner takes the place of the end.
    return frame.with_columns(
        pl.when(middle.is_finite() & end.is_not_nan())
        .then(from_unbounded(end, bounds))
        .otherwise(pl.col(corner))
        .alias(name)
        for name, corner, end in zip(ends, _CORNERS, (middle - below, middle + above), strict=True)
    )


def _correlate_with_eta(metric: PointMetric) -> list[pl.Expr]:
    """Return what errors of rates share with that of eta: above 0 if both move the metric one way."""
    low, high = (pl.col(limit + _AT) for limit in EtaError.LIMITS)
    recall_sign = -1.0 if metric.direction == "minimize" else 1.0
    signs = zip(ETA_CORRELATIONS.values(), (recall_sign, -recall_sign), strict=True)
    return [pl.col(name) * (high - low).sign() * sign for name, sign in signs]


def evaluate_metric(metric: PointMetric, recall: str, fpr: str, eta: str = "eta") -> pl.Expr:
    """Return a metric at the rates and the prevalence of these columns."""
    return metric.from_columns(pl.col(recall), pl.col(fpr), pl.col(eta))


def scale_bounds(metric: PointMetric) -> tuple[float, float]:
    """Return the bounds of the scale of distances: none for a metric that is linear in the rates."""
    return (-math.inf, math.inf) if metric.is_linear else metric.range


def _add_correction(frame: pl.LazyFrame, metric: PointMetric, optimism: pl.Expr) -> pl.LazyFrame:
    """Add `<metric>_corrected` where a metric was maximized, and move the band there, too."""
    # Both ends move as far as the value does, on the unbounded scale. A value at a bound is infinite
    # there: its band stays, and is widened to hold the corrected value. A corrected value that reaches
    # a bound has no band.
    name, is_maximized = metric.name, pl.col(TargetRow.IS_MAXIMIZED).fill_null(False)
    value, corrected = pl.col(name), pl.col(name) - optimism
    bounds = scale_bounds(metric)
    start, end = to_unbounded(value, bounds), to_unbounded(corrected, bounds)
    columns = {f"{name}_corrected": corrected}
    for side, farther in (("low", pl.min_horizontal), ("high", pl.max_horizontal)):
        limit = pl.col(f"{name}_{side}")
        shifted_limit = from_unbounded(to_unbounded(limit, bounds) + (end - start), bounds)
        is_inside = corrected.is_between(*metric.range)
        limit_at_bound = pl.when(limit.is_not_null() & is_inside).then(farther(limit, corrected))
        limit_inside = pl.when(end.is_finite()).then(shifted_limit)
        new_limit = pl.when(start.is_infinite()).then(limit_at_bound).otherwise(limit_inside)
        columns[f"{name}_{side}"] = pl.when(is_maximized).then(new_limit).otherwise(limit)
    return frame.with_columns(**columns)


def add_limits_of_etas(frame: pl.LazyFrame, bands: BandOptions) -> pl.LazyFrame:
    """Add EtaError.LIMITS to rows whose prevalence may be an estimate, or counted in the table."""
    frame = add_eta_limits(frame) if bands.uncertain_eta else frame
    if not bands.counts_eta:
        return frame
    others = EtaError.LIMITS if bands.uncertain_eta else ("eta", "eta")
    return cohort_intervals.add_counted_eta_limits(frame, bands.confidence, others)


def measure_distances(estimate: pl.Expr, at_ends: Sequence[pl.Expr]) -> tuple[pl.Expr, pl.Expr]:
    """Return how far values are below an estimate at most, and above it; 0 where none is."""
    below, above = estimate - pl.min_horizontal(at_ends), pl.max_horizontal(at_ends) - estimate
    return below.clip(lower_bound=0.0), above.clip(lower_bound=0.0)


def combine_distances(
    distances: Iterable[pl.Expr], correlation: pl.Expr | None = None, shared: Iterable[pl.Expr] = ()
) -> pl.Expr:
    """Return the root of the sum of squares; the first two have what is `shared` with the last."""
    # The first two may be distances to ends of recall and of fpr whose errors have a `correlation`.
    first, *others = distances
    squares = sum((distance * distance for distance in others), first * first)
    if correlation is not None:
        # A metric that has a band moves opposite ways with the two rates, so what they share cancels.
        squares = squares - 2 * correlation * first * others[0]
    for distance, common in zip((first, *others), shared, strict=False):
        squares = squares + 2 * common * distance * others[-1]
    return squares.clip(lower_bound=0.0).sqrt()


def to_unbounded(value: pl.Expr, bounds: tuple[float, float]) -> pl.Expr:
    """Return the logit of a value between two bounds, or the log of its distance from the only one."""
    low, high = bounds
    if math.isinf(low) and math.isinf(high):
        return value
    # A distance below 1e-12 may be a rounding error, but not from 0, which no subtraction rounds.
    below, above = (
        distance if bound == 0 else pl.when(distance < 1e-12).then(0.0).otherwise(distance)
        for distance, bound in ((value - low, low), (high - value, high))
    )
    if math.isinf(high):
        return below.log()
    if math.isinf(low):
        return -above.log()
    return (below / above).log()


def from_unbounded(value: pl.Expr, bounds: tuple[float, float]) -> pl.Expr:
    """Return the value between the bounds that `to_unbounded` takes to `value`."""
    low, high = bounds
    if math.isinf(low) and math.isinf(high):
        return value
    if math.isinf(high):
        return low + value.exp()
    if math.isinf(low):
        return high - (-value).exp()
    return low + (high - low) / (1 + (-value).exp())
